# shellcheck shell=bash disable=SC2154,SC2164 # check.sh sets root and folder, and set -e
# SPDX-License-Identifier: MIT
# What runs over processes: for scripts/check.sh. Skipped where there is no mpirun.

# Open MPI asks twice before it starts anything for root, as in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# need_mpirun: $MPIRUN must be that of the MPI the programs were linked with.
need_mpirun()
{
    command -v "${MPIRUN:-mpirun}" >/dev/null || skip "no ${MPIRUN:-mpirun} here (Debian: openmpi-bin)"
}

# run_on COUNT PROGRAM [ARGUMENT...]: on one machine, with or without a network; more
# processes than cores take turns.
run_on()
{
    local count=$1
    shift
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none \
        timeout -k 10 "${TEST_SECONDS:-300}" "${MPIRUN:-mpirun}" -n "$count" "$@"
}

# on COUNT WORD...: cleave-mpi of $build.
on()
{
    local count=$1
    shift
    run_on "$count" "$build/cleave-mpi" "$@"
}

# A test over processes, with each number of processes in turn, on however few cores. Usage: check.sh mpi
# PROGRAM COUNTS [ARGUMENT...]
check_mpi()
{
    [ $# -ge 2 ] || misused "PROGRAM COUNTS [ARGUMENT...]"
    local program=$1 count counts=$2
    shift 2
    need_mpirun
    for count in $counts; do
        run_on "$count" "$program" "$@"
    done
}

# fuzz_mpi with each number of processes in turn; what stops it is lived again with its calls recorded,
# in FILE of process 0, FILE.1 of process 1 and so on. Usage: check.sh mpi-fuzz PROGRAM COUNTS SEED
# SECONDS FILE [ARGUMENT...]
check_mpi_fuzz()
{
    [ $# -ge 5 ] || misused "PROGRAM COUNTS SEED SECONDS FILE [ARGUMENT...]"
    local program=$1 count counts=$2 seed=$3 seconds=$4 file=$5 found
    shift 5
    need_mpirun
    rm -f "$file" "$file".[0-9]*
    for count in $counts; do
        if run_on "$count" "$program" "$seed" "$seconds" "$@" >"$folder/said" 2>&1; then
            cat "$folder/said"
            continue
        fi
        found=$(sed -n 's/.*: seed \([0-9]*\), step .*/\1/p' "$folder/said" | head -n 1)
        # One that crashed named no seed: all lives up to it, of which the last is kept.
        CLEAVE_RECORD=$file run_on "$count" "$program" "${found:-$seed}" "$([ -n "$found" ] && echo 0 || echo "$seconds")" "$@" >/dev/null 2>&1 || true
        [ -s "$file" ] || fail "stopped on $count processes, and is not recorded"
        fail "seed ${found:-unknown} on $count processes is recorded in $file and, for each further process, $file.1, ...; docs/replay.md"
    done
}

# What goes wrong over processes: checkpoints (test_mpi_checkpoint), a disk that is full, a process that
# is killed in the middle of an update. Usage: check.sh mpi-faults TEST COUNTS [all|workers]; without
# `all` only the checkpoints, as for the address sanitizer; with `workers` only spaces of several workers,
# as for the thread sanitizer.
check_mpi_faults()
{
    [ $# -ge 2 ] || misused "TEST COUNTS [all|workers]"
    program=$1
    counts=$2
    what=${3:-}

    if [ "$what" = workers ]; then
        check_mpi "$program" "$counts" "$folder" workers
    else
        check_mpi "$program" "$counts" "$folder"
    fi
    [ -z "$(ls -A "$folder")" ] || fail "left behind: $(ls -A "$folder")"
    [ "$what" = all ] || exit 0

    # A disk of 40 kB, where one can be had: in a name space of our own, so that it goes by itself.
    mkdir "$folder/disk"
    if unshare -rm mount -t tmpfs -o size=40k tmpfs "$folder/disk" 2>/dev/null; then
        unshare -rm sh -c 'mount -t tmpfs -o size=40k tmpfs "$1" && "$2/scripts/check.sh" mpi "$3" 3 "$1" full' \
            sh "$folder/disk" "$root" "$program" >"$folder/said" 2>&1 || fail "a full disk"
        cat "$folder/said"
    else
        echo "mpi checkpoint: SKIPPED a full disk: no name space to mount one in"
    fi

    # Killed in the middle of an update. Left to itself Open MPI ends the job and names the process; told to
    # go on, the others are told by the space. Neither may hang.
    status=0
    mkdir "$folder/killed"
    run_on 3 "$program" "$folder/killed" killed >"$folder/said" 2>&1 || status=$?
    [ $status != 0 ] && [ $status != 124 ] || fail "a killed process: exit $status"
    grep -q -E 'signal 9|noticed on process' "$folder/said" || fail "a killed process: not a word"
    if "${MPIRUN:-mpirun}" --version 2>/dev/null | grep -q -E 'Open ?(MPI|RTE)\) 4'; then
        rm -f "$folder/killed"/*
        OMPI_MCA_orte_enable_recovery=1 run_on 3 "$program" "$folder/killed" killed >"$folder/said" 2>&1 || true
        [ "$(grep -c 'noticed on process' "$folder/said")" -ge 2 ] || fail "a killed process: not noticed by the others"
    fi
    [ -f "$folder/killed/world.manifest" ] || fail "the checkpoint of a killed job is gone"
    echo "mpi: a killed process ends the job with a word, or is noticed"
}

# Methods that lie: verify says in which frame, which pair, whose objects, and how many in all, and ends with
# 1.
lies()
{
    status=0
    said=$1
    shift
    "$@" >"$folder/said" 2>&1 || status=$?
    [ $status = 1 ] || fail "$*: exit $status: $(cat "$folder/said")"
    grep -q -E "cleave-mpi: frame [1-4]: pair [0-9]+-[0-9]+ is $said" "$folder/said" || fail "$*: $(cat "$folder/said")"
}

# refuses PATTERN WORD...: cleave-mpi says that once, and ends with 2, on $processes processes.
refuses()
{
    word=$1
    shift
    status=0
    if [ $processes = 1 ]; then # alone it needs no mpirun, which is slow where a program fails
        "$build/cleave-mpi" "$@" >"$folder/said" 2>&1 || status=$?
    else
        on $processes "$@" >"$folder/said" 2>&1 || status=$?
    fi
    [ $status = 2 ] || fail "$*: exit $status"
    [ "$(grep -c -e "cleave-mpi: .*$word" "$folder/said")" = 1 ] || fail "$*: $(cat "$folder/said")"
}

# The program cleave-mpi: the hash of one process on several, verify, files written and read in parts, and
# what it refuses. Usage: check.sh mpi-program BUILD
check_mpi_program()
{
    [ $# -ge 1 ] || misused "BUILD"
    build=$(cd "$1" && pwd)
    export CLEAVE_CACHE="${CLEAVE_CACHE:-$build/test/cache}"

    need_mpirun
    on 1 --help >"$folder/help" || fail "no help"
    grep -q 'mpirun -n P cleave-mpi' "$folder/help" || fail "no help"
    for scene in brownian-free:3k 'freefall:1k@60+4'; do
        "$build/cleave" bench "$scene" -m cleave --frames 4 --warmup 0 --repeat 1 -q --json "$folder/one.json" >/dev/null
        one=$(hash_of "$folder/one.json")
        [ -n "$one" ] || fail "$scene: no hash of one process"
        for count in 1 3; do
            on $count bench "$scene" --frames 4 --warmup 0 --repeat 1 --json "$folder/many.json" >/dev/null
            many=$(hash_of "$folder/many.json")
            [ "$one" = "$many" ] || fail "$scene: $many on $count processes, $one on one"
            for member in processes imbalance ghosts bytes_sent per_process search_ms; do
                grep -q "\"$member\"" "$folder/many.json" || fail "no $member in the JSON"
            done
        done
        for flags in --borrowed --by-time --scattered; do
            on 2 bench "$scene" --frames 4 --warmup 0 --repeat 1 $flags --json "$folder/many.json" >/dev/null
            [ "$(hash_of "$folder/many.json")" = "$one" ] || fail "$scene: another hash with $flags"
        done
        "$build/cleave" report "$folder/one.json" "$folder/many.json" -o "$folder/page.html" >/dev/null || fail "report does not read the JSON"
        on 2 verify "$scene" --frames 4 -q >"$folder/said" || fail "$scene: verify fails"
        grep -q 'agree with brute.*frames 0 to 4, [1-9][0-9]* pairs' "$folder/said" || fail "$scene: verify says $(cat "$folder/said")"
    done

    on 2 bench brownian-free:1k --alone --frames 2 --warmup 0 --repeat 1 --json "$folder/many.json" >/dev/null || fail "--alone"
    grep -q '"ghosts":[[:space:]]*0,' "$folder/many.json" || fail "worlds alone have ghosts"
    on 3 net --repeat 1 --json "$folder/net.json" >/dev/null || fail "net"
    grep -q '"alpha_us":[[:space:]]*[0-9]' "$folder/net.json" || fail "no alpha_us"
    "$build/cleave-mpi" bench --help | grep -q 'mpirun -n P' || fail "bench --help"
    [ "$("$build/cleave-mpi" --version)" = "$("$build/cleave" --version | sed 's/cleave/cleave-mpi/')" ] || fail "--version"
    # A method without instruction sets is called as `cleave bench` calls it, so that a
    # report puts both into one row.
    "$build/cleave-mpi" bench brownian-free:300 -m tracy --frames 1 --warmup 0 --repeat 1 --json "$folder/plain.json" >/dev/null
    grep -q '"variant":[[:space:]]*"plain"' "$folder/plain.json" || fail "tracy has no variants"

    # Methods on a GPU, where there is a device: the same hash, and the JSON names the device.
    if "$build/cleave" methods | grep -q '^Devices'; then
        on 2 verify brownian-free:1k -m gpu-grid --frames 2 >"$folder/said" || fail "gpu-grid: $(cat "$folder/said")"
        on 2 bench brownian-free:1k -m gpu --device 0 --set gpu.few=100 --frames 2 --warmup 0 --repeat 1 --json "$folder/gpu.json" >/dev/null || fail "gpu on device 0"
        "$build/cleave" bench brownian-free:1k -m cleave --frames 2 --warmup 0 --repeat 1 -q --json "$folder/one.json" >/dev/null
        [ "$(hash_of "$folder/gpu.json")" = "$(hash_of "$folder/one.json")" ] || fail "another hash on a device"
        grep -q '"settings":[[:space:]]*"gpu.few=100,gpu.device=0"' "$folder/gpu.json" || fail "--device is not in the settings"
        grep -q '"device":[[:space:]]*"[^"]' "$folder/gpu.json" || fail "the JSON names no device"
    else
        echo "check.sh mpi-program: SKIPPED methods on a GPU: no OpenCL device here (Debian: pocl-opencl-icd)"
    fi

    plugins=$build/test/plugins
    if [ -f "$plugins/forgets.so" ]; then
        owned="[0-9]+ is process [0-2]'s, [0-9]+ process [0-2]'s"
        lies "missing \\($owned\\); in all [1-9][0-9]* missing, 0 extra" on 3 --plugin "$plugins/forgets.so" verify brownian-free:1k -m plugged --frames 4 \
            --record "$folder/found.clvrec"
        # The recording is of one space, with the judge's answers: the method lies there too,
        # and brute force does not.
        expect 1 pair "$build/cleave" --plugin "$plugins/forgets.so" replay "$folder/found.clvrec"
        expect 0 "" "$build/cleave" replay "$folder/found.clvrec" -m brute
        lies "extra \\($owned\\); in all 0 missing, 1 extra" "$build/cleave-mpi" --plugin "$plugins/invents.so" verify brownian-free:300 -m plugged --frames 4
    fi

    # A file that several processes write is the one that one core writes, whoever has no body at all
    # included; and it is read in ranges.
    "$build/cleave" gen brownian-free -n 2001 --type assorted --from 2 --frames 3 --split -q -o "$folder/one.aabbs" >/dev/null
    for count in 1 3 4; do
        on $count gen brownian-free -n 2001 --type assorted --from 2 --frames 3 --split -o "$folder/many.aabbs" >/dev/null
        cmp "$folder/one.aabbs" "$folder/many.aabbs" || fail "gen on $count processes writes other bytes"
    done
    on 3 verify "$folder/many.aabbs" >"$folder/said" || fail "verify of a file fails"
    "$build/cleave" gen jitter -n 2 --frames 1 -q -o "$folder/one.aabbs" >/dev/null
    on 4 gen jitter -n 2 --frames 1 -o "$folder/many.aabbs" >/dev/null
    cmp "$folder/one.aabbs" "$folder/many.aabbs" || fail "gen of fewer bodies than processes writes other bytes"

    # A plan counts what a run sends, to the byte, as long as the cut is the same one.
    for scene in brownian-free:20k walled:8k; do
        on 4 bench "$scene" --frames 3 --warmup 0 --repeat 1 --cutter bisection --json "$folder/many.json" >/dev/null
        on 2 plan "$scene" --frames 3 -P 4 --json "$folder/plan.json" >/dev/null
        for member in ghosts bytes_sent; do
            ran=$(sed -n "s/^\t\t\t\"$member\":\t*\([0-9]*\).*/\1/p" "$folder/many.json")
            planned=$(sed -n "s/.*\"$member\":\t*\([0-9]*\).*/\1/p" "$folder/plan.json")
            [ -n "$ran" ] && [ "$ran" = "$planned" ] || fail "$scene: $ran $member, planned $planned"
        done
    done
    on 1 plan brownian-free:1000m --sample 20k -P 64 >"$folder/said" || fail "plan of a sample fails"
    grep -q '1000m objects on 64 processes.*sample of 20k' "$folder/said" || fail "plan says: $(cat "$folder/said")"

    # What is wrong is said once, by name, and ends the program with 2. One process is enough where all of
    # them read the same words.
    processes=1
    processes=2
    refuses nonsense bench nonsense:1k
    processes=1
    refuses WHAT bench
    refuses "-m: no method of our own is called 'nonsense'" bench brownian-free:1k -m nonsense
    refuses "-m: no method of our own is called 'spa'; did you mean sap?" bench brownian-free:1k -m spa
    refuses "unknown scene 'flatt'; did you mean flat?" gen flatt -o "$folder/none.aabbs"
    refuses "there is no 'zoltn'; did you mean zoltan?" bench brownian-free:1k --cutter zoltn
    refuses "'cub' is no type of objects; did you mean cubes?" gen flat --type cub -o "$folder/none.aabbs"
    refuses 'plugin: .*none.so' --plugin "$folder/none.so" bench brownian-free:1k
    refuses 'net takes no WHAT' net brownian-free:1k
    refuses 'has no -n; a WHAT such as' bench brownian-free -n 1k
    refuses '--device 0: method cleave runs on none' bench brownian-free:1k --device 0
    refuses '--device nonsense: .*which there are' bench brownian-free:1k -m gpu --device nonsense
    CLEAVE_OPENCL=none
    export CLEAVE_OPENCL
    refuses '-m: gpu cannot run here: CLEAVE_OPENCL=none' bench brownian-free:1k -m gpu
    refuses '--device 0: CLEAVE_OPENCL=none keeps OpenCL away; .*which there are' verify brownian-free:1k -m gpu --device 0
    unset CLEAVE_OPENCL
    # OpenCL without a device. A loader that is told of no driver, which is what Debian's does.
    OCL_ICD_VENDORS=$folder/none/
    export OCL_ICD_VENDORS
    refuses '-m: gpu cannot run here: .*OpenCL' bench brownian-free:1k -m gpu
    unset OCL_ICD_VENDORS
    refuses '-m: .*several methods' bench brownian-free:1k -m cleave,sap
    refuses '-m: no method of our own .*bullet-dbvt-f' bench brownian-free:1k -m bullet-dbvt-f
    refuses "--set: no method among those chosen knows 'foo'" bench brownian-free:1k --set foo=1
    refuses "--set: cleave: setting 'cleave.few=x'" bench brownian-free:1k --set cleave.few=x
    refuses "unknown command 'bnech'; did you mean bench" bnech brownian-free:1k
    refuses 'unknown flag --frame; did you mean --frames' bench brownian-free:1k --frame 3
    refuses "frames 'x' is no number" bench brownian-free:1k --frames=x
    refuses 'json needs a value: --json OUT' bench brownian-free:1k --json --frames 2
    refuses 'json needs a OUT that is not empty' bench brownian-free:1k --json ""
    refuses 'plugin comes before the command' bench brownian-free:1k --plugin none.so
    refuses "-m: sap@all: unknown instruction set 'all'" bench brownian-free:1k -m sap@all
    refuses 'borrowed takes no value' bench brownian-free:1k --borrowed=yes
    refuses 'gen needs a SCENE' gen -o "$folder/none.aabbs"
    refuses frames verify brownian-free:1k --frames many
    refuses colour verify brownian-free:1k --colour red
    refuses repeat verify brownian-free:1k --repeat 2
    refuses touch gen freefall -o "$folder/none.aabbs"
    refuses 'needs -o' gen flat
    refuses 'needs -P' plan flat:1k
    refuses sample plan freefall:1k --sample 10 -P 4
    head -c 400 "$folder/many.aabbs" >"$folder/short.aabbs"
    processes=2
    refuses 'short.aabbs: at byte 400: the file ends' bench "$folder/short.aabbs"
    # A path that cannot be written is said before anything else is done, or looked at.
    refuses 'none/one.json' net --json "$folder/none/one.json"
    ! grep -q alpha "$folder/said" || fail "net measures before it opens its file"
    processes=1
    for command in bench plan; do
        refuses 'none/one.json' $command nonsense:1k $([ $command = bench ] || echo -P 4) --json "$folder/none/one.json"
    done
    # A disk that fills up half-way: all end, with the offset, and no file is left. A small one of our
    # own, where we may have it.
    mkdir "$folder/disk"
    if unshare -rm mount -t tmpfs -o size=128k tmpfs "$folder/disk" 2>/dev/null; then
        status=0
        unshare -rm sh -c 'disk=$1 && mount -t tmpfs -o size=128k tmpfs "$disk" && shift && "$@"; status=$?; ls "$disk"; exit $status' sh \
            "$folder/disk" "$root/scripts/check.sh" mpi "$build/cleave-mpi" 3 gen flat -n 4000 --frames 2 -o "$folder/disk/full.aabbs" \
            >"$folder/said" 2>&1 || status=$?
        [ $status = 2 ] || fail "a full disk: exit $status: $(cat "$folder/said")"
        grep -q 'cleave-mpi: .*full.aabbs: at byte [0-9]*: cannot be written: No space' "$folder/said" || fail "full disk: $(cat "$folder/said")"
        ! grep -q '^full' "$folder/said" || fail "a full disk leaves $(cat "$folder/said")"
    else
        echo "check.sh mpi-program: SKIPPED a full disk: no small one may be had here"
    fi
    # In a folder of its own, with the MPI that it needs.
    if [ -n "$(find /usr/lib -type d -name openmpi3 2>/dev/null | head -n 1)" ] && ldd "$build/cleave-mpi" | grep -q 'libmpi\.so'; then
        "$root/scripts/mpi.sh" bundle "$folder/bundle" "$build/cleave-mpi"
        env -i PATH=/usr/bin:/bin "$folder/bundle/mpi" -n 2 --oversubscribe --bind-to none "$folder/bundle/cleave-mpi" verify flat:500 --frames 1 >"$folder/said" ||
            fail "the bundle does not run: $(cat "$folder/said")"
    fi
    echo "cleave-mpi: one hash, and clear refusals"
}

# descendants PID: the processes that it started, and those that these did, in their order.
descendants()
{
    local child
    for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null || true); do
        echo "$child"
        descendants "$child"
    done
}

# first_process PID: of the processes of cleave-mpi that this one started; nothing where there is none.
first_process()
{
    local process
    for process in $(descendants "$1"); do
        [ "$(cat "/proc/$process/comm" 2>/dev/null)" != cleave-mpi ] || { echo "$process"; return; }
    done
}

# Jobs killed at any moment, one process of them, and each taken up from its checkpoint by another number of
# processes, to the hash of a job in one go; for so many seconds. Usage: check.sh mpi-kills BUILD SECONDS
check_mpi_kills()
{
    [ $# -eq 2 ] || misused "BUILD SECONDS"
    build=$(cd "$1" && pwd)
    export CLEAVE_CACHE="${CLEAVE_CACHE:-$build/test/cache}"
    local end=$(($(date +%s) + $2)) killed=0 resumed=0 scene=brownian:2k frames=60 job chosen whole rest status
    need_mpirun
    [ -r "/proc/$$/task/$$/children" ] || skip "no /proc to find processes in"
    on 2 bench $scene --frames $frames --warmup 0 --repeat 1 --json "$folder/whole.json" >"$folder/said" 2>&1 || fail "a run in one go: exit $?"
    whole=$(hash_of "$folder/whole.json")
    while [ "$(date +%s)" -lt $end ]; do
        rm -f "$folder"/job.* "$folder/rest.json"
        on $((2 + RANDOM % 3)) bench $scene --frames $frames --checkpoint "$folder/job" --every 1 >"$folder/said" 2>&1 &
        job=$!
        while kill -0 $job 2>/dev/null && [ -z "$(first_process $job)" ]; do sleep 0.01; done
        sleep "$((RANDOM % 2)).$((RANDOM % 10))$((RANDOM % 10))"
        chosen=$(for process in $(descendants $job); do
            [ "$(cat "/proc/$process/comm" 2>/dev/null)" != cleave-mpi ] || echo "$process"
        done | shuf -n 1)
        [ -z "$chosen" ] || kill -9 "$chosen" 2>/dev/null || true
        status=0
        wait $job || status=$?
        [ $status = 0 ] || killed=$((killed + 1))
        [ -f "$folder/job.manifest" ] || continue # before the first save
        on $((1 + RANDOM % 4)) bench $scene --frames $frames --resume "$folder/job" --json "$folder/rest.json" >"$folder/said" 2>&1 ||
            fail "no going on: $(cat "$folder/said")"
        if [ -f "$folder/rest.json" ]; then
            rest=$(hash_of "$folder/rest.json")
        else # after the last frame
            rest=$(grep -o "$whole" "$folder/said" | head -1)
        fi
        [ "$rest" = "$whole" ] || fail "$rest after a kill, $whole in one go"
        resumed=$((resumed + 1))
    done
    echo "mpi-kills: $killed jobs killed, $resumed taken up again, each to the hash of a job in one go"
}

# What is wrong is said once, by name, and ends the program with 2; without mpirun, which takes two
# seconds to end after that.
resume_refuses()
{
    word=$1
    shift
    status=0
    timeout 60 "$build/cleave-mpi" bench "$@" >"$folder/said" 2>&1 || status=$?
    [ $status = 2 ] || fail "$*: exit $status"
    [ "$(grep -c "cleave-mpi: .*$word" "$folder/said")" = 1 ] || fail "$*: not refused with $word"
}

# A job that is killed in the middle goes on from its checkpoint, on another number of processes, to the hash
# of a job in one go; and what cleave-mpi bench refuses to go on from. Usage: check.sh mpi-resume BUILD
check_mpi_resume()
{
    [ $# -ge 1 ] || misused "BUILD"
    build=$(cd "$1" && pwd)
    export CLEAVE_CACHE="${CLEAVE_CACHE:-$build/test/cache}"
    scene=brownian:2k
    frames=60

    need_mpirun
    on 2 bench $scene --frames $frames --warmup 0 --repeat 1 --json "$folder/whole.json" >"$folder/said" 2>&1 || fail "a run in one go: exit $?"
    whole=$(hash_of "$folder/whole.json")

    # Killed as soon as there is a checkpoint.
    killed=no
    if [ -r /proc/self/task/self/children ] || [ -r "/proc/$$/task/$$/children" ]; then
        for attempt in 1 2 3; do
            rm -f "$folder"/job.*
            on 3 bench $scene --frames $frames --checkpoint "$folder/job" --every 1 \
                >"$folder/said" 2>&1 &
            job=$!
            while kill -0 $job 2>/dev/null && [ ! -f "$folder/job.manifest" ]; do sleep 0.01; done
            first=$(first_process $job)
            [ -z "$first" ] || kill -9 "$first" 2>/dev/null || true
            status=0
            wait $job || status=$?
            [ $status = 0 ] || { killed=yes; break; }
        done
    fi
    if [ $killed = no ]; then # too quick to be killed, or no /proc: one that ends in the middle
        on 3 bench $scene --frames 20 --checkpoint "$folder/job" >"$folder/said" 2>&1 || fail "a run to frame 20"
    fi
    [ -f "$folder/job.manifest" ] || fail "the job left no checkpoint"
    count=4
    on $count bench $scene --frames $frames --resume "$folder/job" --json "$folder/rest.json" >"$folder/said" 2>&1 ||
        fail "no going on with $count processes"
    rest=$(hash_of "$folder/rest.json")
    [ -n "$whole" ] && [ "$whole" = "$rest" ] || fail "$rest on $count processes, $whole in one go"
    at=$(sed -n 's/.*"resumed_at"[^0-9]*\([0-9]*\).*/\1/p' "$folder/rest.json")

    [ "${at:-0}" -gt 0 ] || fail "it began anew instead of going on"

    # Interrupted: it says how to go on.
    "$build/cleave-mpi" bench brownian-free:20k --frames 1000 --checkpoint "$folder/long" --every 1 >"$folder/said" 2>&1 &
    job=$!
    for tick in $(seq 3000); do [ ! -f "$folder/long.b-0" ] || break; sleep 0.01; done # the second one, so that the first is done
    kill -TERM $job
    status=0
    wait $job || status=$?
    [ $status = 143 ] || fail "SIGTERM: exit $status"
    grep -q "interrupted; frames up to [0-9]* are saved: go on with --resume $folder/long" "$folder/said" || fail "SIGTERM: no word of the checkpoint"
    timeout 60 "$build/cleave-mpi" bench brownian-free:20k --frames 1 --resume "$folder/long" >"$folder/said" 2>&1 || grep -q "was saved after frame" "$folder/said" ||
        fail "nothing to go on from after SIGTERM"

    # A checkpoint of the last frame: nothing is left, which is no failure, and no file
    # without times is written.
    timeout 60 "$build/cleave-mpi" bench brownian-free:300 --frames 2 \
        --checkpoint "$folder/whole" --json "$folder/done.json" >"$folder/said" 2>&1 || fail "a short run"
    timeout 60 "$build/cleave-mpi" bench brownian-free:300 --frames 2 \
        --resume "$folder/whole" --json "$folder/again.json" >"$folder/said" 2>&1 || fail "going on from the last frame"
    grep -q "after frame 2, the last; nothing is left.*$(hash_of "$folder/done.json")" "$folder/said" || fail "the last frame is not told"
    [ ! -e "$folder/again.json" ] || fail "a file without times"

    resume_refuses "nothing.bench: cannot be opened: No such file" $scene --resume "$folder/nothing"
    resume_refuses "job.bench: is of brownian:2k" $scene --seed 2 --resume "$folder/job"
    resume_refuses "one pass" $scene --checkpoint "$folder/other" --repeat 2
    resume_refuses "one pass" $scene --resume "$folder/job" --warmup 0
    resume_refuses "alone" $scene --alone --checkpoint "$folder/other"
    resume_refuses "No such file" $scene --checkpoint "$folder/none/job" --frames 1
    # The notes of a larger scene beside a checkpoint of this one, as a job leaves them that
    # is killed between the two.
    cp "$folder/job.bench" "$folder/notes"
    timeout 60 "$build/cleave-mpi" bench brownian-free:3k --frames 1 \
        --checkpoint "$folder/larger" >"$folder/said" 2>&1 || fail "a larger scene"
    cp "$folder/larger.bench" "$folder/job.bench"
    resume_refuses "has 2000 objects, brownian-free:3k has 3000" brownian-free:3k --resume "$folder/job"
    sed 's/^frame /frame 0/' "$folder/notes" >"$folder/job.bench"
    resume_refuses "job.bench: checksum mismatch" $scene --resume "$folder/job"
    head -c 60 "$folder/notes" >"$folder/job.bench"
    resume_refuses "job.bench: is not what bench" $scene --resume "$folder/job"
    cp "$folder/notes" "$folder/job.bench"
    # Frames that are done already, notes of an earlier save, and paths without a name.
    resume_refuses "frames 1: .*whole was saved after frame 2 already" brownian-free:300 --frames 1 --resume "$folder/whole"
    timeout 60 "$build/cleave-mpi" bench brownian-free:300 --frames 1 \
        --checkpoint "$folder/early" >"$folder/said" 2>&1 || fail "one frame"
    cp "$folder/early.bench" "$folder/whole.bench"
    resume_refuses "whole.bench: is not of this checkpoint: it knows frames 0 and 1, .* after frame 2" brownian-free:300 --resume "$folder/whole"
    # A first save that fails leaves nothing, its notes included.
    mkdir -p "$folder/bad.a-0.new/in-the-way"
    resume_refuses "frame 1: .*bad.a-0: cannot be made" brownian-free:300 --frames 1 --checkpoint "$folder/bad"
    [ ! -e "$folder/bad.bench" ] || fail "notes without a checkpoint"
    resume_refuses "checkpoint $folder/: is a folder; name a file" $scene --checkpoint "$folder/"
    resume_refuses "checkpoint needs a PATH that is not empty" $scene --checkpoint ""
    for part in "$folder"/job.[ab]-0; do # of a save that the kill cut off there may be some that no manifest names
        printf 'x' | dd of="$part" bs=1 seek=100 conv=notrunc 2>/dev/null
    done
    resume_refuses "job\.[ab]-0: checksum mismatch" $scene --resume "$folder/job"
    echo "cleave-mpi: a job $([ $killed = yes ] && echo killed || echo ended) after frame $at goes on to the same hash"
}

# The programs of docs/mpi.md: each prints what the page says behind it, on any number of processes.
# Usage: check.sh mpi-docs LIBRARY...: the libraries to link, in their order. By $MPICC, or mpicc.
check_mpi_docs()
{
    mpicc=${MPICC:-mpicc}
    command -v "$mpicc" >/dev/null || skip "no $mpicc here (Debian: libopenmpi-dev)"
    page=$root/docs/mpi.md

    # Blocks of C to 1.c, 2.c, ..., and what is said to be printed behind each to 1.said, ...
    awk -v folder="$folder" '
        /^```c$/ { count += 1; inside = 1; next }
        /^```$/ { inside = 0; next }
        inside { print > ( folder "/" count ".c" ) }
        !inside && /it prints `/ { sub( /.*it prints `/, "" ); sub( /`.*/, "" ); print > ( folder "/" count ".said" ) }
    ' "$page"
    programs=0
    for program in "$folder"/*.c; do
        name=${program%.c}
        [ -f "$name.said" ] || fail "the page does not say what its program prints"
        "$mpicc" -std=c17 -O1 -I"$root/include" -o "$name" "$program" "$@" -lm -lpthread
        for count in 1 3; do
            run_on $count "$name" >"$name.printed"
            diff "$name.said" "$name.printed" >&2 || fail "not what docs/mpi.md says"
        done
        programs=$((programs + 1))
    done
    [ "$programs" -gt 1 ] || fail "only $programs programs on the page"
    echo "docs/mpi.md: $programs programs print what it says"
}
