#!/bin/sh
# SPDX-License-Identifier: MIT
# The programs of docs/mpi.md: each prints what the page says behind it, on any number of processes.
# Usage: check-mpi-docs.sh LIBRARY...: the libraries to link, in their order. By $MPICC, or mpicc; exit 77 where there is none.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
mpicc=${MPICC:-mpicc}
command -v "$mpicc" >/dev/null || { echo "check-mpi-docs.sh: SKIPPED: no $mpicc here (Debian: libopenmpi-dev)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
page=$root/docs/mpi.md

# Blocks of C to 1.c, 2.c, ..., and what is said to be printed behind each to 1.said, ...
awk -v folder="$folder" '
    /^```c$/ { count += 1; inside = 1; next }
    /^```$/ { inside = 0; next }
    inside { print > ( folder "/" count ".c" ) }
    !inside && /it prints `/ { sub( /.*it prints `/, "" ); sub( /`.*/, "" ); print > ( folder "/" count ".said" ) }
' "$page"
programs=0
for program in "$folder"/*.c; do
    name=${program%.c}
    [ -f "$name.said" ] || { echo "check-mpi-docs.sh: the page does not say what its program prints" >&2; exit 1; }
    "$mpicc" -std=c17 -O1 -I"$root/include" -o "$name" "$program" "$@" -lm -lpthread
    for count in 1 3; do
        "$root/scripts/check-mpi.sh" "$name" $count >"$name.printed"
        diff "$name.said" "$name.printed" >&2 || { echo "check-mpi-docs.sh: not what docs/mpi.md says" >&2; exit 1; }
    done
    programs=$((programs + 1))
done
[ "$programs" -gt 1 ] || { echo "check-mpi-docs.sh: only $programs programs on the page" >&2; exit 1; }
echo "docs/mpi.md: $programs programs print what it says"
