#!/bin/sh
# SPDX-License-Identifier: MIT
# clang-format, cppcheck and clang-tidy over what git tracks. The exceptions and their reasons are in .clang-tidy,
# lab/.clang-tidy and scripts/cppcheck-exceptions.txt. Usage: lint.sh [--quick] [BUILD]; quick leaves clang-tidy out.
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
cppcheck --enable=warning,performance,portability --inline-suppr --std=c11 --quiet --error-exitcode=1 -j "$jobs" \
    -I include -I src/core -I src/methods -I src/physics -I src/gpu -I src/kdop -I . -D__SSE2__ '-D_Noreturn=__attribute__((noreturn))' \
    --suppressions-list=scripts/cppcheck-exceptions.txt src lab test/fuzz

[ $quick = no ] || exit 0
echo "== clang-tidy"
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
# One at a time: each folder has its own exceptions. Files of other machines and what only libFuzzer compiles have no
# command to look at.
git ls-files 'src/*.c' 'lab/*.c' 'test/*.c' | while read -r file; do
    grep -q "\"file\": \".*/$file\"" "$build/compile_commands.json" && echo "$file"
done | grep -v kernels_neon | xargs -P "$jobs" -n 1 clang-tidy -p "$build" --quiet
