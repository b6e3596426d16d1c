#!/bin/sh
# SPDX-License-Identifier: MIT
# The lab in two minutes: bake FreeFall, Brownian and Gravity, run every method on them, show that all agree,
# print a short table, and write the page. Usage: demo.sh [CLEAVE]; results, page and every line in full stay
# in the folder demo beside the program. demo.sh --table RESULTS.csv prints the table alone.
set -eu

# Of the CSV of `cleave run demo`, for 80 columns: a method per line, of each scene the largest size. A method
# that was too slow for it has a dash; what could not run at all is one line per library, below.
table()
{
    awk -F, '
        { gsub( /"/, "" ) } # no text of ours has a comma but the reason, which is last
        FNR == 1 { for ( i = 1; i <= NF; ++i ) at[$i] = i; next }
        {
            scene = $at["scene"]; size = $at["objects"] + 0; method = $at["method"]; status = $at["status"]
            if ( !( scene in seen ) ) { seen[scene] = 1; scenes[++scene_count] = scene }
            if ( status == "ok" ) {
                if ( !( method in ran ) ) { ran[method] = 1; methods[++method_count] = method }
                ms[scene, size, method] = $at["ms_median"]
                if ( size > largest[scene] ) largest[scene] = size
                next
            }
            reason = $at["reason"]
            for ( i = at["reason"] + 1; i <= NF; ++i ) reason = reason "," $i
            if ( status != "unavailable" ) { print "  " status ": " method " on " size " of " scene ": " reason; next }
            if ( !( reason in whom ) ) { reasons[++reason_count] = reason; whom[reason] = "" }
            if ( !( ( reason, method ) in named ) ) { named[reason, method] = 1; whom[reason] = whom[reason] ( whom[reason] == "" ? "" : ", " ) method }
        }
        function cell( value, base ) {
            if ( value == "" ) return sprintf( "%10s %7s", "-", "" )
            return sprintf( "%10.3f %6.1fx", value, base > 0 ? value / base : 0 )
        }
        END {
            printf "  %-17s", "ms per frame"
            for ( s = 1; s <= scene_count; ++s ) printf " %18s", scenes[s] ":" largest[scenes[s]] / 1000 "k"
            print ""
            for ( m = 1; m <= method_count; ++m ) {
                printf "  %-17s", methods[m]
                for ( s = 1; s <= scene_count; ++s ) {
                    value = ms[scenes[s], largest[scenes[s]], methods[m]]
                    printf " %s", cell( value, ms[scenes[s], largest[scenes[s]], methods[1]] )
                }
                print ""
            }
            if ( reason_count > 0 ) print "\nOther people\047s, not here; `./run demo PEERS=yes` installs and shows them:"
            for ( r = 1; r <= reason_count; ++r ) {
                package = reasons[r]
                if ( !sub( /.*Debian.s /, "", package ) ) package = reasons[r]
                sub( /[ );,].*/, "", package )
                printf "  %-14s %s\n", package, whom[reasons[r]]
            }
        }' "$1"
}

if [ "${1:-}" = --table ]; then
    table "${2:?usage: demo.sh --table RESULTS.csv}"
    exit
fi
cleave=${1:-build/cleave}
folder=$(dirname "$cleave")/demo
mkdir -p "$folder"
scenes="freefall brownian gravity"

# On a terminal a table that grows and goes tells how long it takes; in a log it would be hundreds of lines.
quiet=""
exec 3>&2
if [ ! -t 2 ]; then
    quiet=-q
    exec 3>"$folder/progress.log"
fi

give_up()
{
    [ -t 2 ] || cat "$folder/progress.log" >&2
    exit "$1"
}

# number KEY FILE: what stands there in the JSON of `cleave info`.
number()
{
    sed -n "s/^[[:space:]]*\"$1\":[[:space:]]*\([-+.0-9e]*\).*/\1/p" "$2"
}

echo "Three scenes of Broadmark's: 8000 cubes each, a dozen frames from frame 120 on."
echo "Baking them takes half a minute the first time; they are kept."
for scene in $scenes; do
    "$cleave" info "$scene:8k@120+12" --json >"$folder/$scene.json" 2>&3 || give_up $?
    printf '  %-9s %5.2f pairs per cube, %3.0f %% of the cubes at rest\n' "$scene" \
        "$(number pairs_per_object "$folder/$scene.json")" \
        "$(number static_share "$folder/$scene.json" | awk '{ print 100 * $1 }')"
done

echo
echo "Every method and instruction set against brute force, frame by frame:"
status=0
"$cleave" verify freefall:1k@120+12 --frames 5 >"$folder/verify.txt" 2>&3 || status=$?
[ $status = 0 ] || { cat "$folder/verify.txt" && give_up $status; }
echo "  $(tail -n 1 "$folder/verify.txt")"

echo
echo "The race: the default and how many times as long the others take."
status=0
# shellcheck disable=SC2086 # no word, or one
"$cleave" run demo $quiet --json "$folder/results.json" --csv "$folder/results.csv" --restart >"$folder/table.txt" \
    2>&3 || status=$?
[ $status -le 1 ] || give_up $status # 1: a run failed or differs, which the page shows
table "$folder/results.csv"

echo
echo "A million rays into the last frame of FreeFall:"
"$cleave" bench freefall:8k@120+12 --queries rays --query-count 1000000 -m cleave --repeat 1 >"$folder/rays.txt" 2>&3 ||
    give_up $?
awk 'NR == 2 {
    printf "  structure ready in %s ms; %.2f million rays a second one by one, %.2f in one call; %.0f %% hit\n",
        $6, 1000 / $8, 1000 / $9, 100 * $10
}' "$folder/rays.txt"

"$cleave" report "$folder/results.json" -o "$folder/report.html" >/dev/null
echo
if [ $status = 0 ]; then
    echo "Every run of every method found the same pairs."
else
    echo "NOT ALL RUNS AGREE, or one failed; $folder/table.txt tells which."
fi
# The playground is as it stands in the repository: library, physics and scenes as WebAssembly in one page.
cp "$(dirname "$0")/../view/playground.html" "$folder/playground.html"
echo "Two pages, which open from disk:"
echo "  $folder/report.html       every size and plot"
echo "  $folder/playground.html   scenes up to 32,000 bodies, live: two methods side by side, bodies to drag and throw"
exit $status
