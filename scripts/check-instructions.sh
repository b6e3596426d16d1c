#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of what `make instructions` compares, on files made up here. Usage: check-instructions.sh
set -eu
script=$(dirname "$0")/instructions.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
headings="scene,objects,frames,isa,compiler,instructions"

# file NAME ROW...
file()
{
    name=$1
    shift
    { echo "$headings"; printf '%s\n' "$@"; } >"$folder/$name"
}

# expect STATUS TEXT: compare stored with now.
expect()
{
    status=0
    "$script" compare "$folder/stored" "$folder/now" >"$folder/said" 2>&1 || status=$?
    if [ "$status" != "$1" ] || ! grep -q -- "$2" "$folder/said"; then
        echo "check-instructions.sh: expected status $1 and '$2', got $status and:" >&2
        cat "$folder/said" >&2
        exit 1
    fi
}

file stored a,8000,10,avx2,gcc,100.00 b,100,60,avx2,gcc,50.00
file now a,8000,10,avx2,gcc,103.00 b,100,60,avx2,gcc,50.00
expect 0 '100.00 ->    103.00    +3.00 %'
file now a,8000,10,avx2,gcc,103.20 b,100,60,avx2,gcc,50.00
expect 1 'MORE'
expect 1 '1 scenes take over 3 % more'
BOUND=5 expect 0 '+3.20 %'
file now a,8000,10,avx2,gcc,90.00 b,100,60,avx2,gcc,50.00
expect 0 'fewer: store it'
file now a,8000,10,avx2,clang,900.00 b,100,60,avx2,gcc,50.00
expect 0 'not compared: stored with gcc'
file now a,8000,10,avx2,gcc,100.00
expect 1 'b,100,60,avx2: stored, and not counted now'
file now a,8000,10,avx2,gcc,100.00 b,100,60,avx2,gcc,50.00 c,1,1,avx2,gcc,1
expect 0 'not stored yet'
file now a,8000,10,avx2,gcc
expect 2 'now:2: expected six cells'
file now a,8000,10,avx2,gcc,many
expect 2 'now:2: expected six cells'
echo hello >"$folder/now"
expect 2 'expected the headings'
rm "$folder/now"
expect 2 'cannot be read'
status=0
"$script" nonsense 2>/dev/null || status=$?
[ $status = 2 ] || { echo "check-instructions.sh: an unknown step must end with 2" >&2; exit 1; }
echo "instructions.sh compares as it should"
