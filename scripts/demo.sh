#!/bin/sh
# SPDX-License-Identifier: MIT
# The lab in two minutes: bake FreeFall, Brownian and Gravity, run every method on them, show that all agree, print the
# table, and write the page. Usage: demo.sh [CLEAVE]; results and page stay in the folder demo beside the program.
set -eu
cleave=${1:-build/cleave}
folder=$(dirname "$cleave")/demo
mkdir -p "$folder"

echo "== three scenes of Broadmark's, 8000 bodies each, from frame 120 of the run; baked once and kept"
for scene in freefall brownian gravity; do
    echo "$scene"
    "$cleave" info "$scene:8k@120+12"
done
echo
echo "== every method and instruction set against brute force, frame by frame"
"$cleave" verify freefall:1k@120+12 --frames 5
echo
echo "== the race: same boxes, same pairs, milliseconds per frame; each run in a process of its own"
status=0
"$cleave" run demo --json "$folder/results.json" --restart || status=$?
if [ $status -ge 2 ]; then # 1: a run failed or differs, which the page shows
    exit $status
fi
echo
"$cleave" report "$folder/results.json" -o "$folder/report.html"
echo
[ $status = 0 ] && echo "Every run of every method found the same pairs. Open the page, it needs no network:"
[ $status = 0 ] || echo "NOT ALL RUNS AGREE, or one failed: see above, and the page:"
echo "  $folder/report.html"
exit $status
