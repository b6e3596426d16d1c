#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of the demo's table, on results made up here: 80 columns, one line per method, and what is missing once per library.
# Usage: check-demo.sh
set -eu
scripts=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# row SCENE OBJECTS METHOD MS [STATUS REASON]
row()
{
    echo "\"$1\",\"cubes\",$2,$3,$4,${5:-ok},\"${6:-}\""
}

{
    echo "scene,type,objects,method,ms_median,status,reason"
    for scene in freefall brownian gravity; do
        for size in 1000 8000; do
            row $scene $size cleave 0.25
            row $scene $size bullet-axissweep 1234.567
            for method in ode-hash ode-sap; do
                row $scene $size $method "" unavailable "not built (needs a C++ compiler, and Debian's libode-dev)"
            done
            row $scene $size fcl "" unavailable "not built (needs a C++ compiler, and Debian's libfcl-dev)"
        done
        row $scene 1000 brute 3
    done
    row gravity 8000 tracy "" failed "it fell, and broke"
} >"$folder/results.csv"
awk -F, -f "$scripts/demo.awk" "$folder/results.csv" >"$folder/said"

# expect COUNT PATTERN: so many lines have it.
expect()
{
    [ "$(grep -c -- "$2" "$folder/said")" = "$1" ] && return
    echo "check-demo.sh: expected $1 lines with '$2' in:" >&2
    cat "$folder/said" >&2
    exit 1
}

expect 0 '.\{81\}'
expect 1 'freefall:8k  *brownian:8k  *gravity:8k'
expect 1 '^  cleave  *0.250    1.0x .*0.250    1.0x$'
expect 1 '^  bullet-axissweep  *1234.567 4938.3x'
expect 1 '^  brute  *-  *-  *-'
expect 1 '^  libode-dev  *ode-hash, ode-sap$'
expect 1 '^  libfcl-dev  *fcl$'
expect 1 'PEERS=yes'
expect 1 'failed: tracy on 8000 of gravity: it fell, and broke$'
echo "check-demo.sh: short, and nothing left out"
