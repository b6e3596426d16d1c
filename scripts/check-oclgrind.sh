#!/bin/sh
# SPDX-License-Identifier: MIT
# Small worlds through every kernel under Oclgrind, which knows each byte that a work item touches: no access outside a buffer, no
# race, no call that OpenCL refuses. Usage: check-oclgrind.sh TEST... Status 77: it is not installed.
set -eu
command -v oclgrind >/dev/null 2>&1 || { echo "skipped: no oclgrind here; make setup FOR=test installs it"; exit 77; }
# Debian keeps its library beside the loader of drivers, and the program loads what CLEAVE_OPENCL names.
library=""
for place in /usr/lib/oclgrind /usr/lib/*/oclgrind /usr/local/lib; do
    [ ! -e "$place/liboclgrind-rt.so" ] || library=$place/liboclgrind-rt.so
done
[ -n "$library" ] || { echo "skipped: oclgrind is here, and its liboclgrind-rt.so is not"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
said=$folder/said
# Its count of local memory is that of all kernels of a file together, which no device would ask for. No --log: every context would
# begin that file anew.
for program in "$@"; do
    status=0
    CLEAVE_OPENCL=$library XDG_CACHE_HOME=$folder oclgrind --data-races --check-api --local-mem-size 131072 --max-errors 20 \
        "$program" small_ >"$said" 2>&1 || status=$?
    grep -q 'RUN.*small_' "$said" || { cat "$said"; echo "check-oclgrind.sh: nothing was run" >&2; exit 1; }
    if [ $status -ne 0 ] || grep -qE 'data race|Invalid|Oclgrind -|divergence' "$said"; then
        cat "$said"
        echo "check-oclgrind.sh: status $status, and what is said above" >&2
        exit 1
    fi
    grep PASSED "$said"
done
