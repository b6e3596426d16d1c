#!/bin/sh
# SPDX-License-Identifier: MIT
# The program cleave-mpi: the hash of one process on several, verify, files written and read in parts, and what it refuses.
# Usage: check-mpi-program.sh BUILD
set -eu
build=$(cd "${1:?usage: check-mpi-program.sh BUILD}" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
export CLEAVE_CACHE="${CLEAVE_CACHE:-$build/test/cache}"

fail()
{
    echo "check-mpi-program.sh: $1" >&2
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

status=0
on 1 --help >"$folder/help" || status=$?
[ $status != 77 ] || { cat "$folder/help"; exit 77; }
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
# A method without instruction sets is called as `cleave bench` calls it, so that a report puts both into one row.
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
    echo "check-mpi-program.sh: SKIPPED methods on a GPU: no OpenCL device here (Debian: pocl-opencl-icd)"
fi

# Methods that lie: verify says in which frame, which pair, whose objects, and how many in all, and ends with 1.
lies()
{
    status=0
    said=$1
    shift
    "$@" >"$folder/said" 2>&1 || status=$?
    [ $status = 1 ] || fail "$*: exit $status: $(cat "$folder/said")"
    grep -q -E "cleave-mpi: frame [1-4]: pair [0-9]+-[0-9]+ is $said" "$folder/said" || fail "$*: $(cat "$folder/said")"
}
plugins=$build/test/plugins
if [ -f "$plugins/forgets.so" ]; then
    owned="[0-9]+ is process [0-2]'s, [0-9]+ process [0-2]'s"
    lies "missing \\($owned\\); in all [1-9][0-9]* missing, 0 extra" on 3 --plugin "$plugins/forgets.so" verify brownian-free:1k -m plugged --frames 4
    lies "extra \\($owned\\); in all 0 missing, 1 extra" "$build/cleave-mpi" --plugin "$plugins/invents.so" verify brownian-free:300 -m plugged --frames 4
fi

# A file that several processes write is the one that one core writes, whoever has no body at all included; and it is read in ranges.
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

# What is wrong is said once, by name, and ends the program with 2. One process is enough where all of them read the same words.
processes=1
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
refuses "frames: 'x' is no number" bench brownian-free:1k --frames=x
refuses 'json needs a value$' bench brownian-free:1k --json --frames 2
refuses 'json needs a value that is not empty' bench brownian-free:1k --json ""
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
# A disk that fills up half-way: all end, with the offset, and no file is left. A small one of our own, where we may have it.
mkdir "$folder/disk"
if unshare -rm mount -t tmpfs -o size=128k tmpfs "$folder/disk" 2>/dev/null; then
    status=0
    unshare -rm sh -c 'disk=$1 && mount -t tmpfs -o size=128k tmpfs "$disk" && shift && "$@"; status=$?; ls "$disk"; exit $status' sh \
        "$folder/disk" "$root/scripts/check-mpi.sh" "$build/cleave-mpi" 3 gen flat -n 4000 --frames 2 -o "$folder/disk/full.aabbs" \
        >"$folder/said" 2>&1 || status=$?
    [ $status = 2 ] || fail "a full disk: exit $status: $(cat "$folder/said")"
    grep -q 'cleave-mpi: .*full.aabbs: at byte [0-9]*: cannot be written: No space' "$folder/said" || fail "full disk: $(cat "$folder/said")"
    ! grep -q '^full' "$folder/said" || fail "a full disk leaves $(cat "$folder/said")"
else
    echo "check-mpi-program.sh: SKIPPED a full disk: no small one may be had here"
fi
# In a folder of its own, with the MPI that it needs.
if [ -n "$(find /usr/lib -type d -name openmpi3 2>/dev/null | head -n 1)" ] && ldd "$build/cleave-mpi" | grep -q 'libmpi\.so'; then
    "$root/scripts/mpi-bundle.sh" "$folder/bundle" "$build/cleave-mpi"
    env -i PATH=/usr/bin:/bin "$folder/bundle/mpi" -n 2 --oversubscribe --bind-to none "$folder/bundle/cleave-mpi" verify flat:500 --frames 1 >"$folder/said" ||
        fail "the bundle does not run: $(cat "$folder/said")"
fi
echo "cleave-mpi: one hash, and clear refusals"
