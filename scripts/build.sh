#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds a configured folder and says how far it is: one line that is rewritten on a terminal, a line per
# quarter otherwise. What compilers say comes through as it is; V=1 shows every command. Usage: build.sh
# FOLDER [what `cmake --build` takes]
set -eu
folder=${1:?usage: build.sh FOLDER [what cmake --build takes]}
shift

# Only the outer make is quiet; cmake hands these flags on to its own.
unset MAKEFLAGS MAKELEVEL MFLAGS

if [ "${V:-0}" != 0 ]; then
    exec cmake --build "$folder" --verbose "$@"
fi

status_file=$(mktemp)
trap 'rm -f "$status_file"' EXIT
trap 'exit 130' INT TERM

# Makefiles say "[ 42%] Building C object ...", and "[100%] Built target ..." even where nothing was to do.
progress()
{
    shown=0
    compiled=no
    while IFS= read -r line; do
        case $line in
        '['*'%] Built target '*) continue ;;
        '['*'%] '*)
            percent=${line%%%*}
            percent=${percent##*[!0-9]}
            compiled=yes
            if [ -t 1 ]; then
                printf '\rbuilding %s: %s %% ' "$folder" "$percent"
            elif [ "$percent" -ge $((shown + 25)) ]; then
                shown=$((percent / 25 * 25))
                echo "building $folder: $shown %"
            fi
            ;;
        'Consolidate compiler generated dependencies of target '*) ;;
        'Scanning dependencies of target '*) ;;
        *) printf '%s\n' "$line" ;;
        esac
    done
    if [ $compiled = yes ] && [ -t 1 ]; then
        echo
    fi
}

{
    status=0
    cmake --build "$folder" "$@" || status=$?
    echo $status >"$status_file"
} | progress
exit "$(cat "$status_file")"
