#!/bin/sh
# SPDX-License-Identifier: MIT
# The papers' runs on a machine that has nothing but a shell: no compiler, no packages, no node.
#
#   scripts/papers/bare.sh pack FOLDER [GRADE [HAVE]]  here: the program, its modules and libraries, the
#                                                      plan, into FOLDER; with HAVE, folders of results, only
#                                                      what these lack (plan.mjs)
#   scripts/papers/bare.sh run SECONDS FOLDER OUT      there: as much of the plan as fits, then
#                                                      OUT/papers.tar.gz
#   node scripts/papers/papers.mjs --from RESULTS      here again: the pages, from the unpacked tar
#   scripts/papers/bare.sh towers PROGRAM DEVICE FOLDER [FRAMES]   where the device is: the
#       k-DOP paper's towers on it
#
# The same `run` again goes on where the last one stopped, as long as FOLDER-work is there; several tars may
# be brought together. First all cores bake, for half of the time at most (BAKE_S); then runs of several
# threads; then runs on one, each on a core of its own whose second thread is idle. That second thread is
# looked for by measuring, since a virtual machine may not tell. In the last ALONE_S seconds the plan's
# `alone` runs are done by themselves: they tell what the lanes cost each other. SIMS_ASIDE=1 sets the last
# core aside from the beginning for `sim` lines, two at a time.
set -u
say() { echo "bare.sh: $*" >&2; }
fail() { say "$*"; exit 2; }
now() { date +%s; }

# ---- here

pack()
{
    folder=${1:?usage: bare.sh pack FOLDER [GRADE [HAVE]]}
    root=$(cd "$(dirname "$0")/../.." && pwd)
    program=${CLEAVE:-$root/build/cleave}
    [ -x "$program" ] || fail "$program: build it first"
    rm -rf "$folder" && mkdir -p "$folder/peers" "$folder/lib"
    cp "$program" "$folder/cleave"
    for module in bullet cgal; do
        [ ! -f "$(dirname "$program")/peers/$module.so" ] || cp "$(dirname "$program")/peers/$module.so" "$folder/peers/"
    done
    # Everything but the C library itself, which must fit the machine's kernel and loader.
    ldd "$folder/cleave" "$folder"/peers/*.so 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
        grep -Ev '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' | sort -u | while read -r library; do cp -L "$library" "$folder/lib/"; done
    if [ -n "${3:-}" ]; then
        node "$root/scripts/papers/plan.mjs" "$program" "${2:-full}" "$3" ${WANTED:+"$WANTED"} > "$folder/plan.txt"
    else
        node -e 'import(process.argv[1]).then(m => process.stdout.write(m.planText(process.argv[2])))' "$root/scripts/papers/plan.mjs" "${2:-full}" > "$folder/plan.txt"
    fi || fail "the plan cannot be written; is node there?"
    node -e 'import(process.argv[1]).then(m => process.stdout.write(m.cutSchedule()))' "$root/scripts/papers/plan.mjs" > "$folder/cuts.schedule"
    cp "$0" "$folder/bare.sh"
    du -sh "$folder" >&2
}

# ---- there

# The cores that are one each of their kind: a second thread of a core would share it.
# CORES names them instead.
physical_cores()
{
    if [ -n "${CORES:-}" ]; then
        echo "$CORES" | tr ' ' '\n'
        return
    fi
    for file in /sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list; do
        [ -r "$file" ] && sed 's/[,-].*//' "$file"
    done | sort -nu
}

on_cores() # CORES COMMAND…: pinned where that can be done
{
    cores=$1
    shift
    if [ -n "$cores" ] && command -v taskset >/dev/null 2>&1; then taskset -c "$cores" "$@"; else "$@"; fi
}

left() { echo $((deadline - $(now))); }

is_ready() # NEEDS
{
    [ "$1" = - ] && return 0
    for need in $(echo "$1" | tr , ' '); do [ -e "$work/baked/$need" ] || return 1; done
}

# One line of the plan. What was cut off is begun again by the next `run`.
do_piece() # KIND NAME CORES WORDS…
{
    kind=$1 name=$2 cores=$3
    shift 3
    started=$(now)
    seconds=$(left)
    [ "$seconds" -gt 1 ] || return 3
    # In the foreground: a process group of its own would make it one of the others that --others looks for.
    case $kind in
    bake) timeout --foreground -s KILL "$seconds" "$program" run "$@" --bake --bake-threads "$bake_threads" -q >"$work/log/$name.txt" 2>&1 ;;
    cut) # every body of a run cut in eight: a file that the plan's schedule of cuts names
        timeout --foreground -s KILL "$seconds" "$program" gen "$@" --threads "$bake_threads" -q -o "$work/cuts/part-$name.aabbs" >"$work/log/$name.txt" 2>&1 &&
            mv "$work/cuts/part-$name.aabbs" "$work/cuts/$name.aabbs"
        ;;
    solo) on_cores "$cores" timeout --foreground -s KILL "$seconds" "$program" run "$@" --bake --bake-threads 1 -q >"$work/log/$name.txt" 2>&1 ;;
    sim)
        on_cores "$cores" timeout --foreground -s KILL "$seconds" "$program" sim "$@" --csv "$work/results/$name.part" >"$work/log/$name.txt" 2>&1 &&
            mv "$work/results/$name.part" "$work/results/$name"
        ;;
    *)
        if [ "$kind" = wide ]; then set -- "$@" --threads "$wide_threads"; fi
        on_cores "$cores" "$program" run "$@" --json "$work/results/$name.json" --resume --budget "$seconds" --others 5 --others-wait 20 -q \
            >"$work/log/$name.txt" 2>&1
        ;;
    esac
    status=$?
    echo "$kind $name ended with $status after $(($(now) - started)) s, $(left) s left" >>"$work/journal.txt"
    return $status
}

# Takes pieces of some kinds, first come first served, until none is left or the time is
# up; none after TAKE_UNTIL.
lane() # KINDS CORES [TAKE_UNTIL]
{
    kinds=$1 cores=$2 take_until=${3:-$deadline}
    while [ "$(left)" -gt 2 ] && [ "$(now)" -lt "$take_until" ]; do
        is_waiting=no
        is_taken=no
        while IFS="$tab" read -r kind name needs words least_s <&3; do
            case " $kinds " in *" $kind "*) ;; *) continue ;; esac
            if [ -e "$work/done/$kind-$name" ] || [ -e "$work/claim/$kind-$name" ]; then continue; fi
            # A line that says how long it takes is not begun in vain.
            [ "${least_s:-0}" -le "$(left)" ] || continue
            if ! is_ready "$needs"; then
                is_waiting=yes
                continue
            fi
            mkdir "$work/claim/$kind-$name" 2>/dev/null || continue
            is_taken=yes
            # shellcheck disable=SC2086
            do_piece "$kind" "$name" "$cores" $words
            status=$?
            # 1: a run failed or disagreed, which the results tell; 3: cut off.
            if [ $status -le 1 ]; then
                : >"$work/done/$kind-$name"
            fi
            # Whoever needs a scene that could not be baked bakes it himself, or says why not.
            case $kind in bake | cut | solo) if [ $status = 0 ] || [ "$(left)" -gt 2 ]; then : >"$work/baked/$name"; fi ;; esac
            break
        done 3<"$folder/plan.txt"
        if [ $is_taken = no ]; then
            # A scene is on its way while a process bakes it; what no process bakes any
            # more is for the next call.
            if [ $is_waiting = no ] || [ "$kinds" = alone ] || { [ -e "$work/is-baked" ] && [ -e "$work/is-solo-done" ]; }; then return 0; fi
            sleep 1
        fi
    done
}

machine()
{
    date -u
    uname -srm
    echo "cores: $(nproc), of which own: $(echo "$own_cores" | wc -w)$twins; lanes: $lane_count; wide: $wide_threads threads; bakers: $baker_count of $bake_threads threads"
    grep -m1 'model name' /proc/cpuinfo
    grep -m1 MemTotal /proc/meminfo
    cat /proc/loadavg
}

# Milliseconds of a loop on a core, the least of three.
busy_ms() # CORE
{
    for _ in 1 2 3; do
        # shellcheck disable=SC2016
        on_cores "$1" sh -c 's=$(date +%s%N); i=0; while [ $i -lt 150000 ]; do i=$((i + 1)); done; e=$(date +%s%N); echo $(((e - s) / 1000000))' 2>/dev/null
    done | sort -n | head -1
}

# Do two cores slow each other down by a fifth? Then they are two threads of one.
are_twins() # CORE CORE
{
    command -v taskset >/dev/null 2>&1 || return 1
    alone_ms=$(busy_ms "$1")
    on_cores "$2" timeout -s KILL 3 sh -c 'while :; do :; done' 2>/dev/null &
    other=$!
    sleep 0.2
    both_ms=$(busy_ms "$1")
    wait $other 2>/dev/null
    [ "${alone_ms:-0}" -gt 0 ] 2>/dev/null && [ "$both_ms" -gt $((alone_ms * 6 / 5)) ]
}

# One core of each pair of twins: every second one, the first half, or all.
cores_apart() # CORES…
{
    count=$#
    if [ $count -lt 4 ]; then
        echo "$@"
        return
    fi
    middle=$(echo "$@" | cut -d' ' -f$((count / 2 + 1)))
    if are_twins "$1" "$2"; then
        while [ $# -gt 1 ]; do
            echo "$1"
            shift 2
        done
    elif are_twins "$1" "$middle"; then
        while [ $# -gt $((count / 2)) ]; do
            echo "$1"
            shift
        done
    else
        echo "$@"
    fi
}

share_out()
{
    # shellcheck disable=SC2046
    set -- $(physical_cores)
    [ $# -gt 0 ] || set -- 0
    core_count=$#
    for core in "$@"; do last_core=$core; done
    own_cores=$(cores_apart "$@" | tr '\n' ' ')
    own_count=$(echo "$own_cores" | wc -w)
    twins=$([ "$own_count" -lt $core_count ] && echo ", the others are their second threads")
    bake_threads=${BAKE_THREADS:-$((core_count >= 8 ? 4 : 1))}
    baker_count=$((core_count > bake_threads ? core_count / bake_threads : 1))
    wide_threads=$((own_count >= 4 ? 4 : own_count >= 2 ? 2 : 1))
    lane_count=0
    lane_cores=""
    for core in $own_cores; do
        if [ $lane_count -lt "${LANES:-$own_count}" ]; then
            lane_cores="$lane_cores $core"
            lane_count=$((lane_count + 1))
        fi
    done
}

is_solo_left()
{
    while IFS="$tab" read -r kind name _; do
        case " $solo_kinds " in *" $kind "*) [ -e "$work/done/$kind-$name" ] || return 0 ;; esac
    done <"$folder/plan.txt"
    return 1
}

# Scenes of one thread go on beside what follows, on the last core and its second thread, where
# then nothing is measured.
bake_solo()
{
    last_own=${lane_cores##* }
    if [ "$lane_count" -gt 1 ]; then
        lane_cores=${lane_cores% *}
        lane_count=$((lane_count - 1))
    fi
    (
        lane "$solo_kinds" "$last_own,$last_core" &
        lane "$solo_kinds" "$last_own,$last_core" &
        wait
        : >"$work/is-solo-done"
    ) &
    solo=$!
}

bake_all()
{
    until_when=$(($(now) + ${BAKE_S:-$((seconds / 2))}))
    index=0
    bakers=""
    while [ $index -lt "$baker_count" ]; do
        lane "bake cut" "" $until_when &
        bakers="$bakers $!"
        index=$((index + 1))
    done
    # shellcheck disable=SC2086
    wait $bakers
    : >"$work/is-baked"
}

# Runs on one thread, a lane per core; what the GPU does on one of them first.
lanes_on() # FIRST-KIND CORES…
{
    also=$1
    shift
    lanes=""
    for core in "$@"; do
        {
            [ -z "$also" ] || lane "$also" "$core"
            lane "run sim" "$core"
        } &
        lanes="$lanes $!"
        also=""
    done
    # shellcheck disable=SC2086
    wait $lanes
}

# Runs of several threads on as many cores, then these are lanes too.
lanes_after_wide() # CORES…
{
    lane wide "$(echo "$@" | tr ' ' ,)"
    lanes_on "" "$@"
}

run_lanes()
{
    # shellcheck disable=SC2086
    set -- $lane_cores
    wide_cores=""
    if [ $# -gt "$wide_threads" ]; then
        while [ "$(echo "$wide_cores" | wc -w)" -lt "$wide_threads" ]; do
            wide_cores="$wide_cores $1"
            shift
        done
        # shellcheck disable=SC2086
        lanes_after_wide $wide_cores &
        after_wide=$!
        lanes_on gpu "$@"
        wait $after_wide
    else
        lane wide "$(echo "$@" | tr ' ' ,)"
        lanes_on gpu "$@"
    fi
}

run()
{
    seconds=${1:?usage: bare.sh run SECONDS FOLDER OUT}
    folder=$(cd "${2:?usage: bare.sh run SECONDS FOLDER OUT}" && pwd)
    mkdir -p "${3:?usage: bare.sh run SECONDS FOLDER OUT}" || fail "$3 cannot be written"
    out=$(cd "$3" && pwd)
    tab=$(printf '\t')
    work=${WORK:-$folder-work} # beside it: who sends FOLDER again replaces it
    deadline=$(($(now) + seconds - 12)) # for the tar
    program=$folder/cleave
    export LD_LIBRARY_PATH="$folder/lib" CLEAVE_PEERS="$folder/peers" CLEAVE_CACHE="$work/cache" CLEAVE_CACHE_LIMIT="${CLEAVE_CACHE_LIMIT:-50000}"
    mkdir -p "$work/results" "$work/log" "$work/baked" "$work/done" "$work/cache" "$work/cuts" || fail "$work cannot be written"
    rm -rf "$work/claim" && mkdir "$work/claim"
    [ ! -f "$folder/cuts.schedule" ] || cp "$folder/cuts.schedule" "$work/"
    cd "$work" || fail "$work cannot be entered" # the schedule of cuts names files in the folder cuts
    "$program" methods --json >"$work/results/methods.json" || fail "$program does not run here"
    share_out
    machine >>"$work/machine.txt"
    say "$lane_count lanes on cores$lane_cores$twins; $baker_count bakers of $bake_threads threads; $seconds s"

    rm -f "$work/is-baked" "$work/is-solo-done"
    last=$deadline
    grep -q "^alone$tab" "$folder/plan.txt" && deadline=$((deadline - ${ALONE_S:-0}))
    solo=""
    solo_kinds="solo${SIMS_ASIDE:+ sim}"
    if is_solo_left; then bake_solo; else : >"$work/is-solo-done"; fi
    bake_all
    run_lanes
    [ -z "$solo" ] || wait $solo
    deadline=$last
    lane alone "${lane_cores##* }"
    pack_results
    say "$(find "$work/done" -type f | wc -l) of $(grep -c . "$folder/plan.txt") lines of the plan are done"
}

pack_results()
{
    cp "$work/machine.txt" "$work/journal.txt" "$folder/plan.txt" "$work/results/" 2>/dev/null
    cat "$work"/log/*.txt >"$work/results/log.txt" 2>/dev/null
    (cd "$work/results" && rm -f ./*.part && tar czf "$out/papers.tar.gz.part" ./*) && mv "$out/papers.tar.gz.part" "$out/papers.tar.gz"
    ls -la "$out" >&2
}

# ---- towers on a device

# The six towers of the k-DOP paper: into FOLDER one CSV per tower as `cleave sim tower` has it, towers.csv (a
# row per tower: tables 5.1 to 5.3 and the stages), stages.csv (means of each 100 frames: figures 5.6 to
# 5.23), and machine.txt, which names the device and the day. DEVICE "-": the CPU. A tower whose CSV is there
# already is not run again. The pages draw from these (runs.mjs).
towers()
(
    set -e
    program=${1:-}
    device=${2:-}
    folder=${3:-}
    [ -n "$folder" ] || fail "usage: bare.sh towers PROGRAM DEVICE FOLDER [FRAMES]"
    frames=${4:-7000}
    mkdir -p "$folder"
    if [ "$device" != - ] && [ ! -s "$folder/machine.txt" ]; then
        name=$("$program" methods --json | awk -F'"' -v wanted="$device" '
            /"devices"/ { is_on = 1; count = -1 }
            is_on && $2 == "name" { name = $4; ++count }
            is_on && $2 == "driver" && (wanted == count "" || index(tolower(name), tolower(wanted))) { print name ", driver " $4; exit }')
        # One that is not there must not be in the file of the run after this one.
        [ -n "$name" ] || { echo "bare.sh: no device is called '$device'; \`cleave methods\` lists them" >&2; exit 2; }
        echo "$name; $(date -u +%Y-%m-%d)" >"$folder/machine.txt"
    fi
    # Columns of the CSV by name, so that new ones do no harm.
    # shellcheck disable=SC2016 # awk's words
    columns='function find(name, i) { for (i = 1; i <= NF; ++i) if ($i == name) return i; print "no column " name >"/dev/stderr"; exit 1 }
    BEGIN { split("candidate_pairs false_positives floor_pairs volume_ms sweep_ms narrow_ms match_ms frame_ms axis_ms project_ms sort_ms prune_ms", names, " ") }
    FNR == 1 { for (k = 1; k <= 12; ++k) at[k] = find(names[k]); next }'
    {
        printf 'volume,scale,frames,pairs,pairs_most,pairs_and_floor,pairs_and_floor_most,false_positives,frame_ms,volume_ms,sweep_ms,narrow_ms,match_ms,axis_ms,project_ms,sort_ms,prune_ms\n'
        for scale in 1,1,1 1,3,1; do
            for volume in 18-dop aabb sphere; do
                name=$volume-$(echo "$scale" | tr , x)
                if [ ! -s "$folder/$name.csv" ]; then
                    if [ "$device" = - ]; then set --; else set -- --device "$device"; fi
                    "$program" sim tower "$@" -q --volume "$volume" --scale "$scale" --frames "$frames" --csv "$folder/$name.csv" >"$folder/$name.txt"
                fi
                awk -F, -v volume="$volume" -v scale="$(echo "$scale" | tr , x)" "$columns"'
                    { n += 1; all = $at[1] + $at[3]; sum_all += all; if (all > most_all) most_all = all; if ($at[1] > most) most = $at[1]
                      for (k = 1; k <= 12; ++k) sum[k] += $at[k] }
                    END { printf "%s,%s,%d,%.1f,%d,%.1f,%d,%.1f", volume, scale, n, sum[1] / n, most, sum_all / n, most_all, sum[2] / n
                          printf ",%.4f", sum[8] / n
                          for (k = 4; k <= 7; ++k) printf ",%.4f", sum[k] / n
                          for (k = 9; k <= 12; ++k) printf ",%.5f", sum[k] / n
                          printf "\n" }' "$folder/$name.csv"
            done
        done
    } >"$folder/towers.csv.new"
    mv "$folder/towers.csv.new" "$folder/towers.csv"
    {
        printf 'volume,scale,frame,candidate_pairs,false_positives,floor_pairs,volume_ms,sweep_ms,narrow_ms,match_ms,frame_ms,axis_ms,project_ms,sort_ms,prune_ms\n'
        for name in "$folder"/*-1x?x1.csv; do
            base=$(basename "$name" .csv)
            awk -F, -v volume="${base%-*}" -v scale="${base##*-}" "$columns"'
                { n += 1; for (k = 1; k <= 12; ++k) sum[k] += $at[k] }
                n == 100 { printf "%s,%s,%d", volume, scale, $1; for (k = 1; k <= 12; ++k) { printf ",%.5g", sum[k] / n; sum[k] = 0 }; printf "\n"; n = 0 }' "$name"
        done
    } >"$folder/stages.csv"
    cat "$folder/towers.csv"
)

case ${1:-} in
pack | run | towers) command=$1; shift; $command "$@" ;;
*) fail "usage: bare.sh pack FOLDER [GRADE [HAVE]] | bare.sh run SECONDS FOLDER OUT | bare.sh towers PROGRAM DEVICE FOLDER [FRAMES]" ;;
esac
