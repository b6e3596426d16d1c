#!/bin/sh
# SPDX-License-Identifier: MIT
# Lines and branches of src/ that the unit tests and the fuzz corpus reach. Fails below 95 % of the lines or 90 % of the
# branches; what is left is explained in CONTRIBUTING.md. Usage: coverage.sh [BUILD]
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/coverage}
jobs=${JOBS:-2}
cmake --preset coverage -B "$build" >/dev/null
cmake --build "$build" -j "$jobs" >"$build/build.log" 2>&1 || { tail -30 "$build/build.log" >&2; exit 1; }
find "$build" -name '*.gcda' -delete
# Without optimisation: a share of the random cases reaches the same lines. What runs no code of this build is left out.
CLEAVE_TEST_SCALE=${CLEAVE_TEST_SCALE:-0.25} ctest --test-dir "$build" -j "$jobs" -LE 'long|report|install' \
    --output-on-failure >"$build/tests.log" 2>&1 || { tail -40 "$build/tests.log" >&2; exit 1; }
status=0
scripts/coverage.py "$build" || status=$?
echo "files and what they miss: $build/lines.txt, $build/branches.txt"
exit $status
