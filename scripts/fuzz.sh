#!/bin/sh
# SPDX-License-Identifier: MIT
# libFuzzer on calls (two fifths of the time), on questions, on worlds of doubles and flat ones, and on scene files. What it learns stays in build/fuzz/found-* and is
# where the next run starts; an input that stops it is named at the end. Usage: fuzz.sh SECONDS
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
build=build/fuzz
jobs=${JOBS:-2}
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "$jobs" --target fuzz-space fuzz-query fuzz-world fuzz-scene

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

run space $((seconds * 2 / 5 + 1)) 1500
run query $((seconds / 5 + 1)) 1500
run world $((seconds / 5 + 1)) 1500
run scene $((seconds / 5 + 1)) 900
