#!/bin/sh
# SPDX-License-Identifier: MIT
# libFuzzer on each target of test/fuzz in turn. What it learns stays in build/fuzz/found-* and is where the next run starts; an input that
# stops it is named at the end. Usage: fuzz.sh SECONDS [TARGET...]; SECONDS are shared by the targets, all of them unless some are named.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
build=build/fuzz
jobs=${JOBS:-2}
# TARGET:SHARE:LENGTH; calls on a space have the most to be found, and get two shares of the time.
targets="space:2:1500 query:1:1500 world:1:1500 save:1:6000 scene:1:900"

is_wanted()
{
    wanted=$1
    shift
    [ $# -gt 0 ] || return 0
    for name in "$@"; do
        [ "$name" != "$wanted" ] || return 0
    done
    return 1
}

# run TARGET SECONDS LENGTH
run()
{
    mkdir -p "$build/found-$1" "$build/seeds-$1"
    cp test/fuzz/corpus/"$1"-* "$build/seeds-$1"
    echo "== fuzz-$1, $2 seconds"
    if ! "$build/test/fuzz/fuzz-$1" -max_total_time="$2" -max_len="$3" -print_final_stats=1 \
        -artifact_prefix="$build/stopped-$1-" "$build/found-$1" "$build/seeds-$1" >"$build/$1.log" 2>&1; then
        tail -40 "$build/$1.log" >&2
        echo "fuzz.sh: fuzz-$1 was stopped by $(ls -t "$build"/stopped-"$1"-* | head -1)" >&2
        echo "fuzz.sh: cut it down with -minimize_crash=1, fix, and keep it in test/fuzz/corpus with a line in its README" >&2
        exit 1
    fi
    grep -E '^(Done|stat::(number_of_executed|peak_rss))' "$build/$1.log"
    grep -E 'cov:' "$build/$1.log" | tail -1
}

chosen="" shares=0
for row in $targets; do
    name=${row%%:*} rest=${row#*:}
    if is_wanted "$name" "$@"; then
        chosen="$chosen $row" shares=$((shares + ${rest%%:*}))
    fi
done
[ -n "$chosen" ] || { echo "fuzz.sh: no such target: $*; there are: $targets" >&2; exit 2; }
cmake --preset fuzz >/dev/null
for row in $chosen; do
    cmake --build --preset fuzz -j "$jobs" --target "fuzz-${row%%:*}"
done
for row in $chosen; do
    rest=${row#*:}
    run "${row%%:*}" $((seconds * ${rest%%:*} / shares + 1)) "${rest#*:}"
done
