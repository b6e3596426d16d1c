#!/bin/sh
# SPDX-License-Identifier: MIT
# The program of docs/gpu.md prints what the page says behind it, and without OpenCL says why it does not.
# Usage: check-gpu-docs.sh CC LIBRARY...: the libraries to link, in their order. Exit 77 where there is no device.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cc=${1:?usage: check-gpu-docs.sh CC LIBRARY...}
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# The first block of C, and what is said to be printed behind it.
awk -v folder="$folder" '
    /^```c$/ && !count { count = 1; inside = 1; next }
    /^```$/ { inside = 0; next }
    inside { print > ( folder "/gpu.c" ) }
    count && !inside && /^prints `/ { sub( /^prints `/, "" ); sub( /`.*/, "" ); print > ( folder "/said" ); exit }
' "$root/docs/gpu.md"
grep -q 'int main' "$folder/gpu.c" || { echo "check-gpu-docs.sh: the page begins with no program" >&2; exit 1; }
"$cc" -std=c17 -Wall -Wextra -Werror -I"$root/include" -o "$folder/gpu" "$folder/gpu.c" "$@" -lm -lpthread -ldl
status=0
CLEAVE_OPENCL=none "$folder/gpu" >"$folder/printed" 2>"$folder/why" || status=$?
[ $status = 1 ] || { echo "check-gpu-docs.sh: exit $status without OpenCL" >&2; exit 1; }
grep -q 'CLEAVE_OPENCL=none' "$folder/why" || { echo "check-gpu-docs.sh: no reason without OpenCL" >&2; exit 1; }
"$folder/gpu" >"$folder/printed" 2>"$folder/why" || {
    grep -q -i 'no OpenCL\|no device\|is left out' "$folder/why" || { cat "$folder/why" >&2; exit 1; }
    echo "check-gpu-docs.sh: SKIPPED: $(cat "$folder/why")"
    exit 77
}
diff "$folder/said" "$folder/printed" >&2 || { echo "check-gpu-docs.sh: not what docs/gpu.md says" >&2; exit 1; }
echo "docs/gpu.md: its program prints what it says"
