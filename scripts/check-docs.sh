#!/bin/sh
# SPDX-License-Identifier: MIT
# Tries what the pages say. Every command of a block marked sh is run, page by page, in a folder that looks like this one, with
# small numbers (test/docs/small-cleave.sh); test/docs/exceptions.txt has those that are run otherwise or not at all. Targets
# of make are looked up, not made. In the text, every `make target`, `cleave command --flag`, `--flag`, `folder/file` and link
# must be there. Usage: check-docs.sh CLEAVE [--long | PAGE...]; --long runs what is marked long, alone.
#        check-docs.sh --links FOLDER: of the pages under FOLDER, such as those that were installed, the links alone; each must lead to a
#        file under that folder.
set -eu
usage="usage: check-docs.sh CLEAVE [--long | PAGE...], or check-docs.sh --links FOLDER"
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
touch "$work/wrong" "$work/used"

wrong()
{
    echo "$where: $1" >>"$work/wrong"
}

# ---- links

# check_link TARGET, of $page, in the folder that the pages' names begin in; `within`: a folder that it may not leave, or "".
check_link()
{
    file=${1%%#*}
    case $1 in *#*) anchor=${1#*#} ;; *) anchor="" ;; esac
    path=$(dirname "$page")/$file
    [ -n "$file" ] || path=$page
    [ -e "$path" ] || { wrong "links to $1, which is not there"; return 0; }
    if [ -n "$within" ]; then
        if [ -d "$path" ]; then folder=$path; else folder=$(dirname "$path"); fi
        case $(cd "$folder" && pwd -P)/ in "$within"/*) ;; *) wrong "links to $1, which leads out of the folder" ;; esac
    fi
    case $path in *.md) ;; *) return 0 ;; esac
    [ -z "$anchor" ] || awk -f "$root/test/docs/extract.awk" "$path" | grep -q "^heading	[0-9]*	$anchor\$" ||
        wrong "links to $1, and no heading there is #$anchor"
}

finish()
{
    if [ -s "$work/wrong" ]; then
        cat "$work/wrong" >&2
        echo "check-docs.sh: $(wc -l <"$work/wrong") things on the pages are not so" >&2
        exit 1
    fi
    echo "check-docs.sh: $(wc -l <"$work/pages") pages$1"
}

check_folder()
{
    cd "$1"
    within=$(pwd -P)
    find . -name '*.md' | sort >"$work/pages"
    [ -s "$work/pages" ] || { echo "check-docs.sh: --links $1: there is no page in it" >&2; exit 1; }
    tab=$(printf '\t')
    while IFS= read -r page; do
        page=${page#./}
        awk -f "$root/test/docs/extract.awk" "$page" >"$work/found"
        while IFS="$tab" read -r kind line text; do
            where=$page:$line
            [ "$kind" != link ] || check_link "$text"
        done <"$work/found"
    done <"$work/pages"
    finish " under $1: every link leads to a file there"
}

if [ "${1:-}" = --links ]; then
    [ $# -eq 2 ] || { echo "$usage" >&2; exit 2; }
    [ -d "$2" ] || { echo "check-docs.sh: --links $2: no such folder" >&2; exit 2; }
    check_folder "$2"
    exit 0
fi

cleave=${1:?$usage}
cleave=$(cd "$(dirname "$cleave")" && pwd)/$(basename "$cleave")
build=$(dirname "$cleave")
mode=quick
shift
if [ "${1:-}" = --long ]; then
    mode=--long
    shift
fi
cd "$root"
within=""
exceptions=$root/test/docs/exceptions.txt
export CLEAVE_CACHE="${CLEAVE_CACHE:-$build/test/cache}"
# Open MPI asks twice before it starts anything for root; more processes than cores take turns.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1

# ---- what there is

"$cleave" methods >"$work/methods"
"$cleave" run --list >"$work/schedules"
make -pnq help 2>/dev/null | sed -n 's/^\.PHONY: //p' | tr ' ' '\n' >"$work/targets"

help_of()
{
    [ -e "$work/help.$1" ] || "$cleave" "$1" --help >"$work/help.$1" 2>/dev/null || rm -f "$work/help.$1"
    [ -e "$work/help.$1" ]
}

for command in $("$cleave" help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    [ "$command" = help ] || help_of "$command" || { echo "check-docs.sh: cleave $command has no help" >&2; exit 1; }
done
"$cleave" help | cat - "$work"/help.* >"$work/flags"
# cleave-mpi's too, whether it was built or not.
sed -n 's/^ *{ "\(-[-a-zA-Z]*\)", .*/ \1 /p' lab/mpi_job.c >>"$work/flags"
# And those of the benchmark of bench/gpu.md.
sed -n 's/^ *{ "\(--[-a-z]*\)", .*/ \1 /p' bench/gpu_frames.c >>"$work/flags"

# exception COMMAND: what the table says about it, or nothing.
exception()
{
    awk -v command="$1" '
        /^#/ || /^$/ { next }
        /^[^ ]/ { found = $0 == command; next }
        found { sub( /^ +/, "" ); print; exit }' "$exceptions"
}

# ---- words

# Words such as N, OUT.csv, FILE and "…" stand for something else.
is_placeholder()
{
    case $1 in *…* | *...* | '$'* | [A-Z] | [A-Z]* | '<'*) return 0 ;; esac
    return 1
}

# each_of LIST CHECK: CHECK for each of a,b,c.
each_of()
{
    for item in $(printf '%s\n' "$1" | tr ',' ' '); do
        is_placeholder "$item" || "$2" "$item"
    done
}

check_method()
{
    grep -q "^${1%@*} " "$work/methods" || wrong "no method is called ${1%@*}"
}

check_parameter()
{
    case $1 in *=*) ;; *) return 0 ;; esac # another value of the one before
    grep -q "^${1%%=*} " "$work/methods" || wrong "no parameter is called ${1%%=*}"
}

check_schedule()
{
    case $1 in
    *.json | mine.schedule) return 0 ;; # made by the page itself
    *.schedule) [ -e "$1" ] || wrong "there is no $1" ;;
    *) grep -q "^$1 " "$work/schedules" || wrong "no schedule is called $1" ;;
    esac
}

check_flag()
{
    grep -qE -- "(^|[ ,])$1([ ,]|\$)" "$2" || [ "$1" = --help ] || wrong "$3 knows no $1"
}

check_make()
{
    shift
    for word in "$@"; do
        is_placeholder "$word" && case $word in *=*) ;; *) continue ;; esac
        case $word in
        *=*) [ "${word%%=*}" = V ] || grep -q "^${word%%=*} ?=" Makefile || wrong "make knows no variable ${word%%=*}" ;;
        *) grep -qx -- "$word" "$work/targets" || wrong "make has no target $word" ;;
        esac
    done
}

check_cleave()
{
    shift
    case ${1:-help} in help | --version | --help) return 0 ;; esac
    is_placeholder "$1" && return 0
    help_of "$1" || { wrong "cleave has no command $1"; return 0; }
    command=$1
    shift
    flag=""
    for word in "$@"; do
        case $word in
        '>' | '>'*) break ;;
        --*) check_flag "$word" "$work/help.$command" "cleave $command" ;;
        -[a-z]) check_flag "$word" "$work/help.$command" "cleave $command" ;;
        *)
            case $command$flag in
            *-m | *--methods | *--without) each_of "$word" check_method ;;
            *--set | *--sweep) each_of "$word" check_parameter ;;
            run) is_placeholder "$word" || check_schedule "$word" ;;
            esac
            [ -z "$flag" ] || word=""
            ;;
        esac
        case $word in
        --resume | --restart | --list | --show | --dry-run | --counters | --quiet | -q | --json=*) flag="" ;;
        -*) flag=$word ;;
        *) flag="" ;;
        esac
    done
}

# A line of several commands is looked at one by one.
check_words()
{
    printf '%s\n' "$1" | sed -e 's/ && /\n/g' -e 's/; do /\n/g' -e 's/; done/\n/g' -e 's/ || /\n/g' -e 's/; /\n/g' >"$work/parts"
    while IFS= read -r part; do
        set -f
        # shellcheck disable=SC2086 # words
        set -- $part
        set +f
        case ${1:-} in
        make | ./run) check_make "$@" ;;
        cleave | build/cleave) check_cleave "$@" ;;
        scripts/* | bench/*) [ -x "$1" ] || wrong "there is no program $1" ;;
        build/bench/*) [ -e "bench/${1##*/}.c" ] || wrong "there is no bench/${1##*/}.c to build $1 from" ;;
        esac
    done <"$work/parts"
}

# `folder/file`: from here, from the page, or from where code and results lie.
check_path()
{
    for from in . "$(dirname "$page")" src src/core src/methods src/physics src/gpu include bench report; do
        # shellcheck disable=SC2086 # may be a pattern
        ls -d "$from"/$1 >/dev/null 2>&1 && return 0
    done
    wrong "there is no $1"
}

check_span()
{
    case $(exception "$1") in word:*)
        echo "$1" >>"$work/used"
        return 0
        ;;
    esac
    case $1 in
    make' '* | ./run' '* | cleave' '[a-z]* | build/cleave' '*) check_words "$1" ;;
    --[a-z]*) check_flag "${1%%[ =]*}" "$work/flags" "no command of cleave" ;;
    '-m '*) each_of "${1#-m }" check_method ;;
    build/* | *' '* | *[!A-Za-z0-9_./*-]*) ;;
    scripts/* | docs/* | lab/* | test/* | peers/* | cmake/* | include/* | src/* | bench/*) check_path "$1" ;;
    [a-z]*/*.[ch] | [a-z]*/*.md) check_path "$1" ;;
    esac
}

# ---- commands

# A tree like this one, with a build of its own.
make_tree()
{
    mkdir -p "$1/build/bench"
    for entry in "$root"/*; do
        [ "$entry" = "$root/build" ] || ln -s "$entry" "$1/"
    done
    ln -s "$root/test/docs/small-cleave.sh" "$1/build/cleave"
    [ ! -x "$build/cleave-mpi" ] || ln -s "$build/cleave-mpi" "$1/build/cleave-mpi"
}

run_page()
{
    make_tree "$work/tree"
    (cd "$work/tree" && SMALL_CLEAVE=$cleave timeout 500 sh -eu "$work/steps") >"$work/said" 2>&1 </dev/null || {
        where="$page: $(sed -n 's/^== //p' "$work/said" | tail -n 1)"
        wrong "fails when it is run: $(tail -n 3 "$work/said" | tr '\n' ' ')"
    }
    rm -rf "$work/tree"
}

# Targets of make are looked up; what is long belongs to another run.
take_command()
{
    what=$(exception "$1")
    [ -z "$what" ] || echo "$1" >>"$work/used"
    case $what in
    '=> '*) instead=${what#=> } ;;
    'needs: '*)
        instead=$1
        command -v "${what#needs: }" >/dev/null 2>&1 || {
            echo "check-docs.sh: left out, there is no ${what#needs: } here: $1"
            return 0
        }
        ;;
    'not: '* | 'elsewhere: '*) return 0 ;;
    'long: '*)
        [ "$mode" != --long ] || echo "$1" | sed "s|build/bench|$build/bench|; s|--build build|--build $build|" >>"$work/long"
        return 0
        ;;
    '') instead=$1 ;;
    *)
        wrong "test/docs/exceptions.txt: what is '$what'?"
        return 0
        ;;
    esac
    case $1 in
    make | make' '* | ./run' '*) ;;
    *) printf "echo '== %s'\n%s\n" "$(printf '%s' "$1" | tr -d "'")" "$instead" >>"$work/steps" ;;
    esac
}

look_at()
{
    : >"$work/steps"
    awk -f test/docs/extract.awk "$page" >"$work/found"
    tab=$(printf '\t')
    while IFS="$tab" read -r kind line text; do
        where=$page:$line
        case $kind in
        command)
            case $(exception "$text") in elsewhere:*) ;; *) check_words "$text" ;; esac
            take_command "$text"
            ;;
        bare) wrong "looks like a command, in a block that is not marked sh: $text" ;;
        span) check_span "$text" ;;
        link) check_link "$text" ;;
        esac
    done <"$work/found"
    [ ! -s "$work/steps" ] || [ "$mode" = --long ] || run_page
}

# CHANGELOG.md tells of what was.
if [ $# -gt 0 ]; then
    printf '%s\n' "$@"
else
    find . -name '*.md' ! -path './build*' ! -path '*/node_modules/*' ! -name CHANGELOG.md | sort
fi >"$work/pages"
while IFS= read -r page; do
    page=${page#./}
    look_at
done <"$work/pages"

# Papers have names; their numbers are those of our files.
while IFS= read -r page; do
    where=$page
    numbers=$(grep -noiE '\bpapers? 00[0-9]|\[00[0-9]\]' "$page" | head -n 1 || true)
    [ -z "$numbers" ] || wrong "calls a paper by its number: $numbers"
done <"$work/pages"

# A scene that its page does not tell of.
for scene in $("$cleave" scenes | awk 'NR > 1 { print $1 }'); do
    where=docs/lab.md
    grep -qF "\`$scene\`" docs/lab.md || wrong "says nothing of the scene $scene"
done

where=test/docs/exceptions.txt
[ $# -gt 0 ] || grep '^[^# ]' "$exceptions" | while IFS= read -r command; do
    grep -qxF -- "$command" "$work/used" || wrong "no page says: $command"
done

if [ "$mode" = --long ]; then
    cmake --build "$build" --target space_moments >"$work/said" 2>&1 || wrong "space_moments cannot be built"
    while IFS= read -r command; do
        where=long
        small=$(echo "$command" | sed 's/ 10000000$/ 1000/')
        sh -eu -c "$small" >"$work/said" 2>&1 || wrong "$small fails: $(tail -n 3 "$work/said" | tr '\n' ' ')"
    done <"$work/long"
fi

finish ": what they name is there, and their commands run"
