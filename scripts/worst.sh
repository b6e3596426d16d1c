#!/bin/sh
# SPDX-License-Identifier: MIT
# Scenes that hurt against ordinary ones with as many boxes and pairs. Usage:
#   worst.sh run CLEAVE          run the schedule `worst`, print the table; exit 1 where methods disagree or the goal is missed
#   worst.sh table RESULTS.csv   the table alone
#   worst.sh verify CLEAVE [N…]  the worlds that are no cube against brute force; without sizes at 400, 4k and 32k
# An ordinary scene of N boxes and P pairs takes what brownian-free of N takes, and for every pair it has more what a pair
# more costs in freefall:32k. The goal is at most LIMIT (3) times that. Of all frames of all passes the least counts; where all boxes move
# together the mean, on both sides, since there some frames are harder than others.
# `crossing` has no goal: every cut copies most of its boxes, and docs/engine.md tells what bound is left.
set -eu
moving="two-sizes row-flying row-stretching sheet-flying self-similar" # all boxes together, or in a knot that moves

complain()
{
    echo "worst.sh: $1" >&2
    exit 2
}

table()
{
    [ -r "$1" ] || complain "$1: cannot be read; \`worst.sh run CLEAVE\` writes it"
    awk -F, -v limit="${LIMIT:-3}" -v moving=" $moving " '
        { gsub( /"/, "" ) } # no text of ours has a comma but the reason, which is last
        FNR == 1 { for ( i = 1; i <= NF; ++i ) at[$i] = i; next }
        $at["method"] != "cleave" {
            if ( $at["status"] == "ok" ) others[$at["scene"] " " $at["type"] " " $at["objects"]] = others[$at["scene"] " " $at["type"] " " $at["objects"]] " " $at["method"]
            next
        }
        $at["status"] != "ok" { printf "%s of %d: cleave ended with %s\n", $at["scene"], $at["objects"], $at["status"]; bad += 1; next }
        {
            n = $at["objects"]; ms = $at["ms_min"]; pairs = $at["pairs_last"]
            if ( $at["scene"] == "brownian-free" ) {
                ordinary[n] = ms; ordinary_mean[n] = $at["ms_mean"]; ordinary_pairs[n] = pairs
                next
            }
            if ( $at["scene"] == "freefall" ) { dense = ms; dense_pairs = pairs; dense_n = n; next }
            count += 1
            name[count] = $at["scene"] " " $at["type"]; objects[count] = n; found[count] = pairs
            by_mean[count] = index( moving, " " $at["scene"] " " ) > 0
            times[count] = by_mean[count] ? $at["ms_mean"] : ms
        }
        END {
            if ( !( dense_n in ordinary ) || dense_pairs <= ordinary_pairs[dense_n] ) {
                print "worst.sh: needs cleave on brownian-free and on freefall of the same size" >"/dev/stderr"
                exit 2
            }
            cost = ( dense - ordinary[dense_n] ) / ( dense_pairs - ordinary_pairs[dense_n] )
            printf "A pair more costs %.2f ns: freefall %.3f ms and %d pairs, brownian-free %.3f ms and %d pairs\n\n",
                1e6 * cost, dense, dense_pairs, ordinary[dense_n], ordinary_pairs[dense_n]
            print "| scene | objects | pairs per object | ms | ordinary ms | times | agrees with |"
            print "| --- | --- | --- | --- | --- | --- | --- |"
            for ( i = 1; i <= count; ++i ) {
                n = objects[i]
                if ( !( n in ordinary ) ) {
                    printf "worst.sh: no brownian-free of %d boxes to compare with\n", n >"/dev/stderr"
                    exit 2
                }
                extra = found[i] > ordinary_pairs[n] ? found[i] - ordinary_pairs[n] : 0
                expected = ( by_mean[i] ? ordinary_mean[n] : ordinary[n] ) + cost * extra
                times_as_long = times[i] / expected
                over = times_as_long > limit && name[i] !~ /^crossing /
                bad += over
                printf "| %s | %d | %.3g | %.3f | %.3f | %.2f%s | %s |\n", name[i], n, found[i] / n, times[i], expected,
                    times_as_long, over ? " **over**" : "", substr( others[name[i] " " n], 2 )
            }
            if ( bad ) { printf "\n%d rows over %g times, or not ended\n", bad, limit; exit 1 }
        }' "$1"
}

run()
{
    results=$(dirname "$1")/worst
    status=0
    "$1" run worst --csv "$results.csv" --json "$results.json" --restart >"$results.table" || status=$?
    [ $status -le 1 ] || exit $status
    [ $status = 0 ] || grep -iE "disagree|differ|failed|timeout" "$results.table" || true
    table "$results.csv"
    exit $status
}

# verify_scenes CLEAVE SIZE FRAMES SCENE…
verify_scenes()
{
    cleave=$1 size=$2 frames=$3
    shift 3
    whats=""
    for scene in "$@"; do
        whats="$whats $scene:$size@0+14"
    done
    said=$(mktemp)
    # shellcheck disable=SC2086 # a list of words
    "$cleave" verify $whats -m cleave,sap,kd --threads 1,3 --frames "$frames" >"$said" ||
        { status=$?; cat "$said"; rm -f "$said"; exit $status; }
    tail -n 1 "$said"
    rm -f "$said"
}

verify()
{
    program=$1
    shift
    [ $# -gt 0 ] || set -- 400 4k 32k
    odd_worlds=$("$program" scenes --family odd | awk 'NR > 1 { print $1 }')
    [ -n "$odd_worlds" ] || complain "$program lists no odd worlds"
    for size in "$@"; do
        # Enough frames for the engine to change its mind about a world; the largest once, and where all move until they have jumped.
        frames=14
        [ "$size" != 32k ] || frames=2
        # shellcheck disable=SC2086 # lists of words
        verify_scenes "$program" "$size" "$frames" $odd_worlds
        # shellcheck disable=SC2086
        [ "$frames" = 14 ] || verify_scenes "$program" "$size" 6 $moving
    done
}

case "${1:-}" in
verify)
    shift
    verify "${@:?usage: worst.sh verify CLEAVE [N…]}"
    ;;
run) run "${2:?usage: worst.sh run CLEAVE}" ;;
table) table "${2:?usage: worst.sh table RESULTS.csv}" ;;
*) complain "unknown step '${1:-}'; use run, table or verify" ;;
esac
