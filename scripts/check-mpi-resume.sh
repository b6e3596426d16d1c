#!/bin/sh
# SPDX-License-Identifier: MIT
# A job that is killed in the middle goes on from its checkpoint, on another number of processes, to the hash of a job in one go; and
# what cleave-mpi bench refuses to go on from. Usage: check-mpi-resume.sh BUILD
set -eu
build=$(cd "${1:?usage: check-mpi-resume.sh BUILD}" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
export CLEAVE_CACHE="${CLEAVE_CACHE:-$build/test/cache}"
scene=brownian:2k
frames=60

fail()
{
    echo "check-mpi-resume.sh: $1" >&2
    [ ! -f "$folder/said" ] || cat "$folder/said" >&2
    exit 1
}

hash_of()
{
    sed -n 's/.*"pairs_hash"[^0]*\(0x[0-9a-f]*\).*/\1/p' "$1"
}

on()
{
    "$root/scripts/check-mpi.sh" "$build/cleave-mpi" "$@"
}

# children PID...: processes that these started.
children()
{
    for parent in "$@"; do
        cat "/proc/$parent/task/$parent/children" 2>/dev/null || true
    done
}

status=0
on 2 bench $scene --frames $frames --warmup 0 --repeat 1 --json "$folder/whole.json" >"$folder/said" 2>&1 || status=$?
[ $status != 77 ] || { cat "$folder/said"; exit 77; }
[ $status = 0 ] || fail "a run in one go: exit $status"
whole=$(hash_of "$folder/whole.json")

# Killed as soon as there is a checkpoint: the script's sh starts timeout, that mpirun, and that the processes.
killed=no
if [ -r /proc/self/task/self/children ] || [ -r "/proc/$$/task/$$/children" ]; then
    for attempt in 1 2 3; do
        rm -f "$folder"/job.*
        "$root/scripts/check-mpi.sh" "$build/cleave-mpi" 3 bench $scene --frames $frames --checkpoint "$folder/job" --every 1 \
            >"$folder/said" 2>&1 &
        job=$!
        while kill -0 $job 2>/dev/null && [ ! -f "$folder/job.manifest" ]; do sleep 0.01; done
        first=$(children $(children $(children $job)) | awk '{ print $1 }')
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

# A checkpoint of the last frame: nothing is left, which is no failure, and no file without times is written.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 "$build/cleave-mpi" bench brownian-free:300 --frames 2 \
    --checkpoint "$folder/whole" --json "$folder/done.json" >"$folder/said" 2>&1 || fail "a short run"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 "$build/cleave-mpi" bench brownian-free:300 --frames 2 \
    --resume "$folder/whole" --json "$folder/again.json" >"$folder/said" 2>&1 || fail "going on from the last frame"
grep -q "after frame 2, the last; nothing is left.*$(hash_of "$folder/done.json")" "$folder/said" || fail "the last frame is not told"
[ ! -e "$folder/again.json" ] || fail "a file without times"

# What is wrong is said once, by name, and ends the program with 2; without mpirun, which takes two seconds to end after that.
refuses()
{
    word=$1
    shift
    status=0
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 "$build/cleave-mpi" bench "$@" >"$folder/said" 2>&1 || status=$?
    [ $status = 2 ] || fail "$*: exit $status"
    [ "$(grep -c "cleave-mpi: .*$word" "$folder/said")" = 1 ] || fail "$*: not refused with $word"
}
refuses "nothing.bench: cannot be opened: No such file" $scene --resume "$folder/nothing"
refuses "job.bench: is of brownian:2k" $scene --seed 2 --resume "$folder/job"
refuses "one pass" $scene --checkpoint "$folder/other" --repeat 2
refuses "one pass" $scene --resume "$folder/job" --warmup 0
refuses "alone" $scene --alone --checkpoint "$folder/other"
refuses "No such file" $scene --checkpoint "$folder/none/job" --frames 1
# The notes of a larger scene beside a checkpoint of this one, as a job leaves them that is killed between the two.
cp "$folder/job.bench" "$folder/notes"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 "$build/cleave-mpi" bench brownian-free:3k --frames 1 \
    --checkpoint "$folder/larger" >"$folder/said" 2>&1 || fail "a larger scene"
cp "$folder/larger.bench" "$folder/job.bench"
refuses "has 2000 objects, brownian-free:3k has 3000" brownian-free:3k --resume "$folder/job"
sed 's/^frame /frame 0/' "$folder/notes" >"$folder/job.bench"
refuses "job.bench: checksum mismatch" $scene --resume "$folder/job"
head -c 60 "$folder/notes" >"$folder/job.bench"
refuses "job.bench: is not what bench" $scene --resume "$folder/job"
cp "$folder/notes" "$folder/job.bench"
# Frames that are done already, notes of an earlier save, and paths without a name.
refuses "frames 1: .*whole was saved after frame 2 already" brownian-free:300 --frames 1 --resume "$folder/whole"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 "$build/cleave-mpi" bench brownian-free:300 --frames 1 \
    --checkpoint "$folder/early" >"$folder/said" 2>&1 || fail "one frame"
cp "$folder/early.bench" "$folder/whole.bench"
refuses "whole.bench: is not of this checkpoint: it knows frames 0 and 1, .* after frame 2" brownian-free:300 --resume "$folder/whole"
# A first save that fails leaves nothing, its notes included.
mkdir -p "$folder/bad.a-0.new/in-the-way"
refuses "frame 1: .*bad.a-0: cannot be made" brownian-free:300 --frames 1 --checkpoint "$folder/bad"
[ ! -e "$folder/bad.bench" ] || fail "notes without a checkpoint"
refuses "checkpoint $folder/: is a folder; name a file" $scene --checkpoint "$folder/"
refuses "checkpoint needs a value that is not empty" $scene --checkpoint ""
for part in "$folder"/job.[ab]-0; do # of a save that the kill cut off there may be some that no manifest names
    printf 'x' | dd of="$part" bs=1 seek=100 conv=notrunc 2>/dev/null
done
refuses "job\.[ab]-0: checksum mismatch" $scene --resume "$folder/job"
echo "cleave-mpi: a job $([ $killed = yes ] && echo killed || echo ended) after frame $at goes on to the same hash"
