#!/bin/sh
# SPDX-License-Identifier: MIT
# What bench/gpu_frames and scripts/device-towers.sh refuse: words that they do not know, and files that cannot be written, before
# anything is measured. Usage: check-gpu-bench.sh BUILD
set -eu
build=$(cd "${1:?usage: check-gpu-bench.sh BUILD}" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

fail()
{
    echo "check-gpu-bench.sh: $1" >&2
    exit 1
}

# refuses WORD COMMAND...: status 2, and one line on stderr that has the word.
refuses()
{
    word=$1
    shift
    status=0
    timeout 60 "$@" >"$folder/printed" 2>"$folder/said" || status=$?
    [ $status = 2 ] || fail "$*: exit $status"
    [ "$(wc -l <"$folder/said")" = 1 ] && grep -q -e "$word" "$folder/said" || fail "$*: $(cat "$folder/said")"
}

frames=$build/bench/gpu_frames
"$frames" --help | grep -q 'Scenes: tiles-512' || fail "no help"
refuses 'nonsense: no such flag' "$frames" --nonsense
refuses 'scene: needs a value' "$frames" --scene
refuses 'nonsense: no scene' "$frames" --scene nonsense
refuses 'threads: needs a number' "$frames" --threads x
refuses 'none/gpu.csv: cannot be written: No such file' "$frames" --csv "$folder/none/gpu.csv"
refuses nonsense "$root/scripts/device-towers.sh" "$build/cleave" nonsense "$folder/towers"
[ ! -e "$folder/towers/machine.txt" ] || fail "a device that is not there is in machine.txt"
refuses usage "$root/scripts/device-towers.sh" "$build/cleave"
if [ -w /dev/full ] && "$build/cleave" methods | grep -q '^Devices'; then
    refuses 'CSV file could not be written' "$frames" --scene tiles-512 --csv /dev/full
fi
echo "gpu_frames and device-towers.sh: clear refusals"
