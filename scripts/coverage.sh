#!/bin/sh
# SPDX-License-Identifier: MIT
# Lines and branches of src/ that the unit tests and the fuzz corpus reach. Fails below 95 % of the lines or 90 % of the
# branches; what is left is explained in docs/coverage.md. Usage: coverage.sh [BUILD]
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/coverage}
jobs=${JOBS:-2}
cmake --preset coverage -B "$build" >/dev/null
cmake --build "$build" -j "$jobs" >"$build/build.log" 2>&1 || { tail -30 "$build/build.log" >&2; exit 1; }
find "$build" -name '*.gcda' -delete
# Without optimisation: a share of the random cases reaches the same lines.
CLEAVE_TEST_SCALE=${CLEAVE_TEST_SCALE:-0.25} ctest --test-dir "$build" -j "$jobs" -LE long --output-on-failure >"$build/tests.log" 2>&1 || { tail -40 "$build/tests.log" >&2; exit 1; }
gcovr --root . --object-directory "$build" --filter src/ --exclude-throw-branches --print-summary --txt "$build/lines.txt" \
    --fail-under-line 95 --fail-under-branch 90 >"$build/summary.txt" || status=$?
gcovr --root . --object-directory "$build" --filter src/ --exclude-throw-branches --branches --txt "$build/branches.txt"
awk '$4 != "100%" || /TOTAL/' "$build/lines.txt" | sed -n '/^File/,$p'
cat "$build/summary.txt"
echo "files and missing lines: $build/lines.txt, branches: $build/branches.txt"
exit "${status:-0}"
