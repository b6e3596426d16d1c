#!/bin/sh
# SPDX-License-Identifier: MIT
# What goes wrong over processes: checkpoints (test_mpi_checkpoint), a disk that is full, a process that is killed in the middle of an
# update. Usage: check-mpi-faults.sh TEST COUNTS [all|workers]; without `all` only the checkpoints, as for the address sanitizer; with
# `workers` only spaces of several workers, as for the thread sanitizer.
set -eu
program=${1:?usage: check-mpi-faults.sh TEST COUNTS [all|workers]}
counts=${2:?usage: check-mpi-faults.sh TEST COUNTS [all|workers]}
what=${3:-}
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

fail()
{
    echo "check-mpi-faults.sh: $1" >&2
    [ ! -f "$folder/said" ] || cat "$folder/said" >&2
    exit 1
}

if [ "$what" = workers ]; then
    "$root/scripts/check-mpi.sh" "$program" "$counts" "$folder" workers
else
    "$root/scripts/check-mpi.sh" "$program" "$counts" "$folder"
fi
[ -z "$(ls -A "$folder")" ] || fail "left behind: $(ls -A "$folder")"
[ "$what" = all ] || exit 0

# A disk of 40 kB, where one can be had: in a name space of our own, so that it goes by itself.
mkdir "$folder/disk"
if unshare -rm mount -t tmpfs -o size=40k tmpfs "$folder/disk" 2>/dev/null; then
    unshare -rm sh -c 'mount -t tmpfs -o size=40k tmpfs "$1" && "$2/scripts/check-mpi.sh" "$3" 3 "$1" full' \
        sh "$folder/disk" "$root" "$program" >"$folder/said" 2>&1 || fail "a full disk"
    cat "$folder/said"
else
    echo "mpi checkpoint: SKIPPED a full disk: no name space to mount one in"
fi

# Killed in the middle of an update. Left to itself Open MPI ends the job and names the process; told to go on, the others are told
# by the space. Neither may hang.
status=0
mkdir "$folder/killed"
"$root/scripts/check-mpi.sh" "$program" 3 "$folder/killed" killed >"$folder/said" 2>&1 || status=$?
[ $status != 0 ] && [ $status != 124 ] || fail "a killed process: exit $status"
grep -q -E 'signal 9|noticed on process' "$folder/said" || fail "a killed process: not a word"
if "${MPIRUN:-mpirun}" --version 2>/dev/null | grep -q -E 'Open ?(MPI|RTE)\) 4'; then
    rm -f "$folder/killed"/*
    OMPI_MCA_orte_enable_recovery=1 "$root/scripts/check-mpi.sh" "$program" 3 "$folder/killed" killed >"$folder/said" 2>&1 || true
    [ "$(grep -c 'noticed on process' "$folder/said")" -ge 2 ] || fail "a killed process: not noticed by the others"
fi
[ -f "$folder/killed/world.manifest" ] || fail "the checkpoint of a killed job is gone"
echo "mpi: a killed process ends the job with a word, or is noticed"
