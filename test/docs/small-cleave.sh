#!/bin/sh
# SPDX-License-Identifier: MIT
# Stands in for build/cleave where the pages' commands are tried: the same words with small numbers, so that a
# page that speaks of a million boxes takes a moment. $SMALL_CLEAVE is the program.
set -eu
command=${1:-}
case $command in gen | info | bench | run | verify | tree | sim | view | render) ;; *) exec "$SMALL_CLEAVE" "$@" ;; esac
shift

# scene:32k:assorted@150+60 becomes scene:300:assorted@2+3.
small_scene()
{
    printf '%s\n' "$1" | sed -e 's/:[0-9][0-9]*[km]\{0,1\}/:300/' -e 's/@[0-9]*/@2/' -e 's/+[0-9]*/+3/'
}

sizes=no
frames=no
count=$#
flag=""
while [ "$count" -gt 0 ]; do
    word=$1
    shift
    count=$((count - 1))
    case $flag in
    -n | --objects) word=300 ;;
    --frames) case $command in view | render) word=0:2 ;; *) word=3 ;; esac ;;
    --frame | --from) word=2 ;;
    --repeat | --rounds) word=1 ;;
    --isa) word=all ;; # the page's machine may have others
    *)
        case $word in
        *.aabbs | *.json | *.csv | *.html | */*) ;;
        *:[0-9]* | *@[0-9]*) word=$(small_scene "$word") ;;
        esac
        ;;
    esac
    case $word in
    -n | --objects) sizes=yes ;;
    --frames) frames=yes ;;
    esac
    flag=$word
    set -- "$@" "$word"
done
case $command in
run)
    case "$* " in
    settings.json' '* | *'--list '* | *'--show '*) ;; # Broadmark's settings say for themselves
    *) set -- "$@" -n 300 --frames 3 --warmup 0 --repeat 1 --rounds 1 ;;
    esac
    ;;
bench) [ $sizes = yes ] || set -- "$@" -n 300 ;;
sim) [ $frames = yes ] || set -- "$@" --frames 20 ;;
esac
exec "$SMALL_CLEAVE" "$command" "$@"
