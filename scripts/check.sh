#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The checks that are no C program; most are tests of ctest. Usage: check.sh NAME [ARGUMENT...]; check.sh
# alone lists the names. A check is the function check_NAME of one of the files in checks/, where its
# arguments are told. It runs by itself in a process, with $root, the repository, and $folder, an empty folder
# that is removed at the end. Exit status: 0 passed; 1 failed, with the reason on stderr; 2 called wrongly; 77
# skipped, with the reason.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
check=${1:-}

list_checks()
{
    cat <<'END'
source: layers comments symbols exports one-unit configure cpp
install: install example flags adding-a-method link single snippets
programs: man completion demo instructions worst suite story lives-replayed
packages: version interface dist recipes site python
pages: docs report view site-page papers studies
gpu: kernels oclgrind gpu-docs gpu-bench no-sys
mpi: mpi mpi-fuzz mpi-faults mpi-program mpi-resume mpi-kills mpi-docs
END
}

# fail REASON: after what the last command said, where that was kept in $folder/said.
fail()
{
    [ ! -s "$folder/said" ] || tail -n 40 "$folder/said" >&2
    echo "check.sh $check: $1" >&2
    exit 1
}

skip()
{
    echo "check.sh $check: SKIPPED: $1"
    exit 77
}

# misused WORDS: the arguments that the check takes.
misused()
{
    echo "usage: check.sh $check $1" >&2
    exit 2
}

# need PROGRAM PURPOSE: skips where it is not installed; a purpose of scripts/setup.sh.
need()
{
    command -v "$1" >/dev/null 2>&1 || skip "$1 is not installed (scripts/setup.sh $2 installs it)"
}

# expect STATUS TEXT COMMAND...: it ends with that status and says that text.
expect()
{
    local status=0 wanted=$1 text=$2
    shift 2
    "$@" >"$folder/said" 2>&1 || status=$?
    [ "$status" = "$wanted" ] && grep -qF -e "$text" "$folder/said" && return
    fail "$*: expected status $wanted and '$text', got $status and the above"
}

# Of the JSON that `cleave bench` and `cleave-mpi bench` write.
hash_of()
{
    sed -n 's/.*"pairs_hash"[^0]*\(0x[0-9a-f]*\).*/\1/p' "$1"
}

file=$(list_checks | awk -v name="$check" '{ for ( i = 2; i <= NF; ++i ) if ( $i == name ) print substr( $1, 1, length( $1 ) - 1 ) }')
if [ -z "$file" ]; then
    [ -z "$check" ] || echo "check.sh: there is no check '$check'" >&2
    { echo "usage: check.sh NAME [ARGUMENT...]"; list_checks | sed 's/^/  /'; } >&2
    exit 2
fi
shift
folder=$(mktemp -d)
# shellcheck disable=SC2064 # the folder as it is now
trap "rm -rf '$folder'" EXIT
trap 'exit 130' INT TERM
# shellcheck disable=SC1090 # one of checks/
. "$root/scripts/checks/$file.sh"
"check_$(echo "$check" | tr - _)" "$@"
