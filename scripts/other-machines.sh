#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the library and the program for machines we do not have, and runs them where an emulator can: the
# fuzz corpus and random inputs against the model, damaged files, and scenes that one machine writes and
# another reads. Usage: other-machines.sh [FOLDER]. What is not installed is skipped by name.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
builds=${1:-$root/build/other}
jobs=${JOBS:-2}
random_inputs=${RANDOM_INPUTS:-60}
mkdir -p "$builds"
skipped=""
failed=""

skip()
{
    echo "== $1: SKIPPED: $2"
    skipped="$skipped $1"
}

# compile NAME: library, program, fuzzers.
compile()
{
    cmake -S "$root" -B "$builds/$1" -DCMAKE_TOOLCHAIN_FILE="$root/cmake/toolchains/$1.cmake" \
        -DCMAKE_BUILD_TYPE=Release -DCLEAVE_WERROR=ON -DCLEAVE_TESTS=OFF >"$builds/$1.log" 2>&1 &&
        cmake --build "$builds/$1" -j "$jobs" >>"$builds/$1.log" 2>&1 || { tail -30 "$builds/$1.log"; return 1; }
}

# Two machines and one scene: each reads what the other wrote, and both find the same pairs in it.
exchange()
{
    native=$builds/native/cleave
    "$@" "$builds/$name/cleave" gen brownian-free -n 500 --frames 4 --seed 7 -o "$builds/$name.theirs.aabbs" >/dev/null
    "$native" gen brownian-free -n 500 --frames 4 --seed 7 -o "$builds/$name.ours.aabbs" >/dev/null
    for file in theirs ours; do
        "$native" info "$builds/$name.$file.aabbs" >"$builds/$name.$file.here"
        "$@" "$builds/$name/cleave" info "$builds/$name.$file.aabbs" >"$builds/$name.$file.there"
        diff "$builds/$name.$file.here" "$builds/$name.$file.there"
        "$@" "$builds/$name/cleave" verify "$builds/$name.$file.aabbs" >/dev/null
    done
    if cmp -s "$builds/$name.theirs.aabbs" "$builds/$name.ours.aabbs"; then
        echo "   scenes: read both ways; same seed, same bytes as here"
    else
        echo "   scenes: read both ways; same seed, other bytes than here"
    fi
}

run_there()
{
    set -e
    "$@" "$builds/$name/cleave" methods | sed -n '1,2s/^/   /p'
    "$@" "$builds/$name/test/fuzz/fuzz-replay" space --random 0 "$random_inputs" "$root"/test/fuzz/corpus/space-*
    "$@" "$builds/$name/test/fuzz/fuzz-replay" query --random 0 "$random_inputs" "$root"/test/fuzz/corpus/query-*
    "$@" "$builds/$name/test/fuzz/fuzz-replay" near --random 0 "$random_inputs"
    "$@" "$builds/$name/test/fuzz/fuzz-replay" save --random 0 "$random_inputs" "$root"/test/fuzz/corpus/save-*
    # Every instruction set that it has, against brute force.
    "$@" "$builds/$name/cleave" verify brownian-free:300 equal:100 needles:300 far:300 --query-count 60 \
        --queries rays,boxes,spheres,nearest,casts >"$builds/$name.queries"
    echo "   queries: $(grep -c neon "$builds/$name.queries" || true) rows of NEON kernels, all as brute force has it"
    "$@" "$builds/$name/test/fuzz/fuzz-replay" scene --random 0 200 "$root"/test/fuzz/corpus/scene-*
    "$@" "$builds/$name/test/fuzz/scene-damage" | tail -1
    exchange "$@"
}

# machine NAME COMPILER EMULATOR WHAT
machine()
{
    name=$1
    command -v "$2" >/dev/null 2>&1 || { skip "$name" "$2 is not installed"; return; }
    echo "== $name: $4"
    compile "$name" || { failed="$failed $name"; return; }
    # Kernels that only this machine has, too.
    if [ -n "$3" ]; then
        NM="${2%-gcc}-nm" "$root/scripts/check.sh" symbols "$builds/$name"/libcleave*.a || failed="$failed $name"
    fi
    if [ -z "$3" ]; then
        echo "   compiles: library, program, fuzzers"
        return
    fi
    command -v "$3" >/dev/null 2>&1 || { skip "$name" "compiles, but $3 is not installed to run it"; return; }
    (run_there "$3" -L "/usr/${2%-gcc}") || failed="$failed $name"
}

cmake -S "$root" -B "$builds/native" -DCMAKE_BUILD_TYPE=Release -DCLEAVE_TESTS=OFF -DCLEAVE_FUZZ=OFF >"$builds/native.log" 2>&1
cmake --build "$builds/native" -j "$jobs" >>"$builds/native.log" 2>&1

machine aarch64 aarch64-linux-gnu-gcc qemu-aarch64 "64-bit ARM, NEON kernels"
machine s390x s390x-linux-gnu-gcc qemu-s390x "big-endian"
machine armhf arm-linux-gnueabihf-gcc qemu-arm "32-bit"
machine mingw x86_64-w64-mingw32-gcc "" "Windows"

[ -z "$skipped" ] || echo "other-machines.sh: skipped:$skipped (make setup FOR=machines installs what is missing)"
[ -z "$failed" ] || { echo "other-machines.sh: FAILED:$failed" >&2; exit 1; }
echo "other-machines.sh: all that could be built and run is as it must be"
