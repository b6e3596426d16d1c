#!/bin/sh
# SPDX-License-Identifier: MIT
# The papers' runs on a machine that has nothing but a shell: no compiler, no packages, no node.
#
#   scripts/papers/bare.sh pack FOLDER [GRADE [HAVE]]  here: the program, its modules and libraries, the plan, into FOLDER;
#                                                      with HAVE, folders of results, only what these lack (missing.mjs)
#   scripts/papers/bare.sh run SECONDS FOLDER OUT      there: as much of the plan as fits, then OUT/papers.tar.gz
#   node scripts/papers/papers.mjs --from RESULTS      here again: the pages, from the unpacked tar
#
# The same `run` again goes on where the last one stopped, as long as FOLDER-work is there; several tars may be brought together.
# Scenes are baked on one half of the cores while runs go on the other, each on a core of its own; `calm` runs, of many objects, and
# runs of several threads begin when the baking is done. What the lanes cost is measured: the plan's `alone` runs are done by
# themselves, in the last ALONE_S seconds, or at the start of a later `run`.
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
        node "$root/scripts/papers/missing.mjs" "$program" "${2:-full}" "$3" ${WANTED:+"$WANTED"} > "$folder/plan.txt"
    else
        node -e 'import(process.argv[1]).then(m => process.stdout.write(m.planText(process.argv[2])))' "$root/scripts/papers/grades.mjs" "${2:-full}" > "$folder/plan.txt"
    fi || fail "the plan cannot be written; is node there?"
    cp "$0" "$folder/bare.sh"
    du -sh "$folder" >&2
}

# ---- there

# The cores that are one each of their kind: a second thread of a core would share it.
physical_cores()
{
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

is_ready() # KIND NEEDS
{
    if [ "$1" = calm ] && [ ! -e "$work/is-calm" ]; then return 1; fi
    [ "$2" = - ] && return 0
    for need in $(echo "$2" | tr , ' '); do [ -e "$work/baked/$need" ] || return 1; done
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
    sim)
        on_cores "$cores" timeout --foreground -s KILL "$seconds" "$program" sim "$@" --csv "$work/results/$name.part" >"$work/log/$name.txt" 2>&1 &&
            mv "$work/results/$name.part" "$work/results/$name"
        ;;
    *)
        if [ "$kind" = wide ]; then set -- "$@" --threads "$wide_threads"; fi
        on_cores "$cores" "$program" run "$@" --json "$work/results/$name.json" --resume --budget "$seconds" --others 10 --others-wait 20 -q \
            >"$work/log/$name.txt" 2>&1
        ;;
    esac
    status=$?
    echo "$kind $name ended with $status after $(($(now) - started)) s, $(left) s left" >>"$work/journal.txt"
    return $status
}

# Takes pieces of some kinds, first come first served, until none is left or the time is up; with MOST, so many at most.
lane() # KINDS CORES [MOST]
{
    kinds=$1 cores=$2 most=${3:-100000}
    while [ "$(left)" -gt 2 ] && [ "$most" -gt 0 ]; do
        is_waiting=no
        is_taken=no
        while IFS="$tab" read -r kind name needs words <&3; do
            case " $kinds " in *" $kind "*) ;; *) continue ;; esac
            if [ -e "$work/done/$kind-$name" ] || [ -e "$work/claim/$kind-$name" ]; then continue; fi
            if ! is_ready "$kind" "$needs"; then
                is_waiting=yes
                continue
            fi
            mkdir "$work/claim/$kind-$name" 2>/dev/null || continue
            is_taken=yes
            most=$((most - 1))
            # shellcheck disable=SC2086
            do_piece "$kind" "$name" "$cores" $words
            status=$?
            # 1: a run failed or disagreed, which the results tell; 3: cut off.
            if [ $status -le 1 ]; then
                : >"$work/done/$kind-$name"
            fi
            # Whoever needs a scene that could not be baked bakes it himself, or says why not.
            if [ "$kind" = bake ] && { [ $status = 0 ] || [ "$(left)" -gt 2 ]; }; then : >"$work/baked/$name"; fi
            break
        done 3<"$folder/plan.txt"
        if [ $is_taken = no ]; then
            if [ $is_waiting = no ] || [ "$kinds" = alone ]; then return 0; fi
            sleep 1
        fi
    done
}

machine()
{
    date -u
    uname -srm
    echo "cores: $(nproc), of which physical: $(physical_cores | wc -l); lanes: $lane_count; wide: $wide_threads threads; bakers: $baker_count of $bake_threads threads"
    grep -m1 'model name' /proc/cpuinfo
    grep -m1 MemTotal /proc/meminfo
    cat /proc/loadavg
}

# Lanes on the first half of the cores, bakers on the others.
share_out()
{
    # shellcheck disable=SC2046
    set -- $(physical_cores)
    [ $# -gt 0 ] || set -- 0
    core_count=$#
    lane_count=${LANES:-$((core_count >= 12 ? 7 : core_count >= 4 ? core_count / 2 : 1))}
    bake_threads=$((core_count >= 12 ? 3 : 1))
    baker_count=$(((core_count - lane_count) / bake_threads))
    [ "$baker_count" -gt 0 ] || baker_count=1
    wide_threads=$((core_count >= 8 ? 4 : core_count >= 2 ? 2 : 1))
    lane_cores="" other_cores=""
    for core in "$@"; do
        if [ "$(echo "$lane_cores" | wc -w)" -lt "$lane_count" ]; then lane_cores="$lane_cores $core"; else other_cores="$other_cores $core"; fi
    done
    [ -n "$other_cores" ] || other_cores=$lane_cores
}

bake_all()
{
    joined=$(echo "$other_cores" | tr -s ' ' , | sed 's/^,//; s/,$//')
    index=0
    bakers=""
    while [ $index -lt "$baker_count" ]; do
        # The bakers' own threads find a core among these.
        on_lane bake "$joined" &
        bakers="$bakers $!"
        index=$((index + 1))
    done
    # shellcheck disable=SC2086
    wait $bakers
    : >"$work/is-calm"
    [ "$(left)" -gt 5 ] || return
    # Their cores are free now: runs of several threads, as many at a time as fit.
    wides=""
    # shellcheck disable=SC2086
    set -- $other_cores
    while [ $# -ge "$wide_threads" ]; do
        cores=$1
        shift
        taken=1
        while [ $taken -lt "$wide_threads" ]; do
            cores=$cores,$1
            shift
            taken=$((taken + 1))
        done
        lane wide "$cores" &
        wides="$wides $!"
    done
    # shellcheck disable=SC2086
    wait $wides
    lane gpu "${other_cores##* }"
    # Nothing is baked any more, so a few more lanes disturb nobody; of `calm` runs only two, which need the memory.
    more=""
    also=calm
    # shellcheck disable=SC2086
    set -- $other_cores
    while [ $# -ge 2 ]; do
        lane "run $also sim" "$1" &
        more="$more $!"
        [ "$(echo "$more" | wc -w)" -lt 2 ] || also=""
        shift 2
    done
    # shellcheck disable=SC2086
    wait $more
}

# A bake is pinned as a whole: taskset for the shell's children.
on_lane()
{
    if command -v taskset >/dev/null 2>&1; then taskset -cp "$2" "$(sh -c 'echo $PPID')" >/dev/null 2>&1; fi
    lane "$1" ""
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
    mkdir -p "$work/results" "$work/log" "$work/baked" "$work/done" "$work/cache" || fail "$work cannot be written"
    rm -rf "$work/claim" && mkdir "$work/claim"
    "$program" methods --json >"$work/results/methods.json" || fail "$program does not run here"
    share_out
    machine >>"$work/machine.txt"
    say "$lane_count lanes on cores$lane_cores, $baker_count bakers of $bake_threads threads on$other_cores, $seconds s"

    rm -f "$work/is-calm"
    lane alone "${lane_cores##* }" # only where its scene is there from an earlier call
    last=$deadline
    grep -q "^alone$tab" "$folder/plan.txt" && deadline=$((deadline - ${ALONE_S:-0}))
    bake_all &
    others=$!
    lanes=""
    for core in $lane_cores; do
        # A simulation while nothing is baked yet, then what is measured, then more of them.
        { lane sim "$core" 1; lane "run calm" "$core"; lane sim "$core"; } &
        lanes="$lanes $!"
    done
    # shellcheck disable=SC2086
    wait $lanes $others
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

case ${1:-} in
pack | run) command=$1; shift; $command "$@" ;;
*) fail "usage: bare.sh pack FOLDER [GRADE [HAVE]] | bare.sh run SECONDS FOLDER OUT" ;;
esac
