#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of the table that `make worst` prints, on results made up here. Usage: check-worst.sh
set -eu
script=$(dirname "$0")/worst.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
headings="scene,type,objects,frames,method,variant,threads,settings,sorted,events,ms_median,ms_mean,ms_min,ms_p99,update_ms,search_ms,pairs_last,pairs_hash,tests,memory_bytes,status,reason"

# row SCENE OBJECTS METHOD MS PAIRS [STATUS]
row()
{
    echo "\"$1\",\"cubes\",$2,5,$3,avx2,1,\"\",0,0,99,99,$4,99,0,0,$5,0x00000000000000aa,0,0,${6:-ok},\"a, b\""
}

ordinary()
{
    echo "$headings"
    row brownian-free 32000 cleave 1 5000
    row freefall 32000 cleave 2 105000 # a pair more costs 10 ns
    row brownian-free 1000 cleave 0.1 100
}

# expect STATUS TEXT: of the results on stdin.
expect()
{
    status=0
    cat >"$folder/results.csv"
    "$script" table "$folder/results.csv" >"$folder/said" 2>&1 || status=$?
    if [ "$status" != "$1" ] || ! grep -qF -- "$2" "$folder/said"; then
        echo "check-worst.sh: expected status $1 and '$2', got $status and:" >&2
        cat "$folder/said" >&2
        exit 1
    fi
}

{ ordinary; row huge 1000 cleave 0.29 100; row huge 1000 kd 7 100; } |
    expect 0 '| huge cubes | 1000 | 0.1 | 0.290 | 0.100 | 2.90 | kd |'
{ ordinary; row huge 1000 cleave 0.31 100; } | expect 1 '3.10 **over**'
{ ordinary; row crossing 1000 cleave 0.31 100; } | expect 0 '| 3.10 |' # has no goal
{ ordinary; row huge 1000 cleave 0.31 100; } | LIMIT=4 expect 0 '| 3.10 |'
{ ordinary; row huge 1000 cleave 2.2 100100; } | expect 0 '| 1.100 | 2.00 |' # pairs count
{ ordinary; row huge 1000 cleave 0.2 0; } | expect 0 '| 0.100 | 2.00 |'      # fewer pairs are no excuse, nor a burden
{ ordinary; row huge 1000 cleave 0.1 100 timeout; } | expect 1 'huge of 1000: cleave ended with timeout'
{ ordinary; row huge 2000 cleave 0.1 100; } | expect 2 'no brownian-free of 2000 boxes'
{ echo "$headings"; row huge 1000 cleave 0.1 100; } | expect 2 'needs cleave on brownian-free and on freefall'
rm "$folder/results.csv"
status=0
"$script" table "$folder/results.csv" 2>/dev/null || status=$?
[ $status = 2 ] || { echo "check-worst.sh: a missing file must end with 2" >&2; exit 1; }
echo "worst.sh tells what is over"
