#!/bin/sh
# SPDX-License-Identifier: MIT
# clang-format, cppcheck and clang-tidy over what git tracks. The exceptions and their reasons are in
# .clang-tidy, lab/.clang-tidy and below. Usage: lint.sh [--quick] [BUILD]; quick leaves clang-tidy out.
set -eu
cd "$(dirname "$0")/.."
quick=no
if [ "${1:-}" = --quick ]; then
    quick=yes
    shift
fi
build=${1:-build/lint}
jobs=${JOBS:-2}

echo "== clang-format"
git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | grep -v '^extern/' | xargs clang-format --dry-run --Werror

echo "== cppcheck"
# x, y and z lie side by side and are walked as an array of three; base.h's layouts are frozen
set -- --suppress=objectIndex
# the allocator keeps the block's true start in the bytes right before the data
set -- "$@" --suppress=pointerSize:src/core/base/memory.c
# one block for six rows of floats and one of slots, all four bytes wide
set -- "$@" --suppress=invalidPointerCast:src/core/simd/box_lanes.c
# does not see that a compound literal took the pointer
set -- "$@" --suppress=memleak:lab/measure/judge.c
# asked with one job only: a struct whose address is passed to be filled in counts as read
set -- "$@" --suppress=ctuuninitvar
cppcheck --enable=warning,performance,portability --inline-suppr --std=c11 --quiet --error-exitcode=1 -j "$jobs" \
    -I include -I src/core -I src/methods -I src/physics -I src/gpu -I src/kdop -I . -D__SSE2__ '-D_Noreturn=__attribute__((noreturn))' \
    "$@" src lab test/fuzz

[ $quick = no ] || exit 0
echo "== clang-tidy"
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
# One at a time: each folder has its own exceptions. Files of other machines and what only libFuzzer compiles
# have no command to look at.
git ls-files 'src/*.c' 'lab/*.c' 'test/*.c' | while read -r file; do
    grep -q "\"file\": \".*/$file\"" "$build/compile_commands.json" && echo "$file"
done | grep -v kernels_neon | xargs -P "$jobs" -n 1 clang-tidy -p "$build" --quiet
