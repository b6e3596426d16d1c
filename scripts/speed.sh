#!/bin/sh
# SPDX-License-Identifier: MIT
# The default method beside other people's libraries, row by row, and the stored floors: exit 1 below one.
# Usage: speed.sh CLEAVE FLOORS.csv [--raise]; SPEED=full adds 128k and above, ISA=avx2 measures that instruction set.
set -eu
cleave=${1:?usage: speed.sh CLEAVE FLOORS.csv [--raise]}
floors=${2:?usage: speed.sh CLEAVE FLOORS.csv [--raise]}
shift 2
results=$(dirname "$cleave")/speed.json

case "${SPEED:-short}" in
short) schedules="speed" ;;
full) schedules="speed speed-full" ;;
*)
    echo "speed.sh: SPEED must be short or full, not '$SPEED'" >&2
    exit 2
    ;;
esac

status=0
# shellcheck disable=SC2086 # several words
"$cleave" run $schedules ${ISA:+--isa "$ISA"} --json "$results" --restart >"$results.table" || status=$?
# 1: some method failed or differs; the floors tell which, and whether it matters.
[ $status -le 1 ] || exit $status
"$cleave" floors "$results" "$floors" "$@"
