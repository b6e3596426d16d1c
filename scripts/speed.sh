#!/bin/sh
# SPDX-License-Identifier: MIT
# How fast the default method is, and whether it became slower.
#   speed.sh floors CLEAVE FLOORS.csv [--raise]  beside other people's libraries, row by row, and the stored
#                                          floors: exit 1 below one. SPEED=full adds 128k and above, ISA=avx2
#                                          measures that instruction set
#   speed.sh count CLEAVE FOLDER           instructions per object and frame, under callgrind,
#                                          into FOLDER/instructions.csv
#   speed.sh compare STORED.csv NOW.csv    print before and now; exit 1 where one rose by more than BOUND (3)
#                                          %
#   speed.sh worst CLEAVE                  the schedule `worst`, and its table; exit 1 where methods
#                                          disagree or the goal is missed
#   speed.sh table RESULTS.csv             that table alone
#   speed.sh verify CLEAVE [N...]          the worlds that are no cube against brute force; without
#                                          sizes at 400, 4k and 32k
#   speed.sh cores CLEAVE OUT.md           frames of 1, 2, 4 ... workers, as many as there are cores, as a
#                                          page; SCENES="WHAT=FRAMES ..." for others
set -eu

complain()
{
    echo "speed.sh: $1" >&2
    exit 2
}

# ---- beside other people's libraries

floors()
{
    results=$(dirname "$1")/speed.json
    case "${SPEED:-short}" in
    short) schedules="speed" ;;
    full) schedules="speed speed-full" ;;
    *) complain "SPEED must be short or full, not '$SPEED'" ;;
    esac
    status=0
    # shellcheck disable=SC2086 # several words
    "$1" run $schedules ${ISA:+--isa "$ISA"} --json "$results" --restart >"$results.table" || status=$?
    # 1: some method failed or differs; the floors tell which, and whether it matters.
    [ $status -le 1 ] || exit $status
    cleave=$1 stored=$2
    shift 2
    "$cleave" floors "$results" "$stored" "$@"
}

# ---- instructions: a figure that a busy machine does not change

# Valgrind knows no AVX-512, so it is the AVX2 code that is counted: clv_space_move and
# clv_space_update, nothing else of the program. The same build and scene give the same count to the
# last digit; another compiler does not.
headings="scene,objects,frames,isa,compiler,instructions"

# count_scene NAME WHAT OBJECTS FRAMES: adds a row to $out. One untimed and one timed pass are counted, which
# differ by a few clock reads.
count_scene()
{
    passes=2
    "$cleave" info "$2" >/dev/null # bakes it, so that valgrind need not
    valgrind --tool=callgrind --callgrind-out-file="$folder/$1.callgrind" --toggle-collect=clv_space_move \
        --toggle-collect=clv_space_update "$cleave" bench "$2" -m cleave --isa avx2 --warmup 0 --repeat 1 \
        --json "$folder/$1.json" >"$folder/$1.log" 2>&1 ||
        complain "$1: the run under valgrind failed; see $folder/$1.log"
    total=$(sed -n 's/^totals: //p' "$folder/$1.callgrind")
    [ "${total:-0}" -gt 0 ] || complain "$1: nothing was counted; is $cleave stripped of its symbols?"
    compiler=$(sed -n 's/.*"compiler":[[:space:]]*"\([^"]*\)".*/\1/p' "$folder/$1.json" | tr ',' ' ')
    awk -v total="$total" -v name="$1" -v objects="$3" -v frames="$4" -v passes=$passes -v compiler="$compiler" \
        'BEGIN { printf "%s,%d,%d,avx2,%s,%.2f\n", name, objects, frames, compiler,
                 total / objects / frames / passes }' >>"$out"
    tail -n 1 "$out"
}

count()
{
    cleave=$1
    folder=$2
    command -v valgrind >/dev/null 2>&1 || complain "valgrind is missing (Debian: valgrind)"
    "$cleave" methods --json >/dev/null 2>&1 || complain "$cleave was built without JSON (Debian: libcjson-dev)"
    mkdir -p "$folder"
    out="$folder/instructions.csv"
    echo "$headings" >"$out"
    count_scene flying brownian-free:32k@0+10 32000 10
    count_scene whirling gravity:8k@90+10 8000 10
    count_scene trembling jitter:32k@0+40 32000 40
    count_scene few brownian-free:100@0+60 100 60
}

compare()
{
    for file in "$1" "$2"; do
        [ -r "$file" ] || complain "$file: cannot be read; \`make instructions-store\` writes the stored one"
        [ "$(grep -v '^#' "$file" | head -n 1)" = "$headings" ] || complain "$file: expected the headings $headings"
    done
    awk -F, -v bound="${BOUND:-3}" '
        /^#/ { next }
        $1 == "scene" { file += 1; next }
        NF != 6 || $6 + 0 <= 0 {
            printf "speed.sh: %s:%d: expected six cells and a count above 0\n", FILENAME, FNR >"/dev/stderr"
            broken = 1
            exit 2
        }
        { key = $1 "," $2 "," $3 "," $4 }
        file == 1 { stored[key] = $6; compiler[key] = $5; next }
        !( key in stored ) { printf "%-12s %-28s %10s -> %9.2f  not stored yet\n", $1, $5, "-", $6; next }
        compiler[key] != $5 {
            printf "%-12s %-28s %10.2f -> %9.2f  not compared: stored with %s\n", $1, $5, stored[key], $6, compiler[key]
            seen[key] = 1
            next
        }
        {
            seen[key] = 1
            change = 100 * ( $6 / stored[key] - 1 )
            more = change > bound + 1e-9
            verdict = more ? "MORE" : change < -bound ? "fewer: store it" : ""
            worse += more
            printf "%-12s %-28s %10.2f -> %9.2f  %+7.2f %%  %s\n", $1, $5, stored[key], $6, change, verdict
        }
        END {
            if ( broken ) exit 2
            for ( key in stored ) if ( !( key in seen ) ) { printf "%s: stored, and not counted now\n", key; worse += 1 }
            if ( worse ) { printf "%d scenes take over %g %% more instructions per object and frame, or are missing\n", worse, bound; exit 1 }
        }' "$1" "$2"
}

# ---- scenes that hurt against ordinary ones with as many boxes and pairs

# An ordinary scene of N boxes and P pairs takes what brownian-free of N takes, and for every pair it has
# more what a pair more costs in freefall:32k. The goal is at most LIMIT (3) times that. Of all frames of
# all passes the least counts; where all boxes move together the mean, on both sides, since there some
# frames are harder than others. `crossing` has no goal: every cut copies most of its boxes, and
# docs/engine.md tells what bound is left.
moving="two-sizes row-flying row-stretching sheet-flying self-similar" # all boxes together, or in a knot that moves

table()
{
    [ -r "$1" ] || complain "$1: cannot be read; \`speed.sh worst CLEAVE\` writes it"
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
                print "speed.sh: needs cleave on brownian-free and on freefall of the same size" >"/dev/stderr"
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
                    printf "speed.sh: no brownian-free of %d boxes to compare with\n", n >"/dev/stderr"
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

worst()
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
        # Enough frames for the engine to change its mind about a world; the largest once, and where all
        # move until they have jumped.
        frames=14
        [ "$size" != 32k ] || frames=2
        # shellcheck disable=SC2086 # lists of words
        verify_scenes "$program" "$size" "$frames" $odd_worlds
        # shellcheck disable=SC2086
        [ "$frames" = 14 ] || verify_scenes "$program" "$size" 6 $moving
    done
}

# ---- workers

# cores_table [--spin] WHAT=FRAMES...: a row for each world, a column for each number of workers.
cores_table()
{
    spin=
    [ "$1" != --spin ] || { spin=$1 && shift; }
    printf '| world |'
    for threads in $crews; do printf ' %s |' "$threads"; done
    printf '\n| --- |'
    for threads in $crews; do printf ' --- |'; done
    printf '\n'
    for world in "$@"; do
        "$cleave" bench "${world%=*}" -m cleave --frames "${world#*=}" --threads "$(echo "$crews" | tr ' ' ,)" \
            ${spin:+"$spin"} --warmup 1 --repeat $((${world#*=} < 12 ? 4 : 1)) --quiet >"$said" || { cat "$said" >&2; complain "${world%=*} failed"; }
        awk -v world="${world%=*}" '
            $3 == "cleave" { cells = cells " " $6 " (" $8 ") |"; rows += 1 }
            END { if ( !rows ) exit 1; printf "| `%s` |%s\n", world, cells }' "$said" ||
            complain "${world%=*}: no row of results"
    done
}

cores()
{
    cleave=$1 out=$2
    most=$(getconf _NPROCESSORS_ONLN)
    crews=1
    threads=2
    while [ $threads -le "$most" ] && [ $threads -le 64 ]; do
        crews="$crews $threads"
        threads=$((threads * 2))
    done
    worlds=${SCENES:-brownian-free:8k=200 brownian-free:32k=200 jitter:32k=200 freefall:32k@250=100 brownian-free:128k=60 brownian-free:1m=16 brownian-free:4m=6 brownian-free:8m=4}
    said=$(mktemp)
    {
        # shellcheck disable=SC2016 # names of commands
        printf '# Frames of several workers\n\nWritten by `make cores`: milliseconds a frame, median (minimum), %s cores, %s, %s. What it tells: [engine.md](engine.md#cores).\n' \
            "$most" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)" "$(date +%Y-%m-%d)"
        printf '\n## Workers that sleep between updates\n\n'
        # shellcheck disable=SC2086 # a list of words
        cores_table $worlds
        printf '\n## Workers that look for the next call meanwhile\n\n'
        # shellcheck disable=SC2086
        cores_table --spin $worlds
        if [ -x "$(dirname "$cleave")/bench/workers" ] && [ "$most" -gt 1 ]; then
            printf '\n## Job by job\n\n'
            "$(dirname "$cleave")/bench/workers" --workers "${crews##* }" --spin 20 --meet ${SCENES:+--frames 20} 32000 128000
            [ -n "${SCENES:-}" ] || "$(dirname "$cleave")/bench/workers" --workers "${crews##* }" --spin 20 --frames 24 1000000
        fi
    } >"$out.part"
    rm -f "$said"
    mv "$out.part" "$out"
}

step=${1:-}
case "$step" in
floors) usage="CLEAVE FLOORS.csv [--raise]" least=2 ;;
count) usage="CLEAVE FOLDER" least=2 ;;
compare) usage="STORED.csv NOW.csv" least=2 ;;
worst) usage="CLEAVE" least=1 ;;
table) usage="RESULTS.csv" least=1 ;;
verify) usage="CLEAVE [N...]" least=1 ;;
cores) usage="CLEAVE OUT.md" least=2 ;;
*) complain "unknown step '$step'; use floors, count, compare, worst, table, verify or cores" ;;
esac
shift
[ $# -ge $least ] || complain "usage: speed.sh $step $usage"
"$step" "$@"
