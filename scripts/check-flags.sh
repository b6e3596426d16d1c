#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the library under flags that people use, most of them as a folder of a stranger's project (test/flags), and runs a
# program that must print there what it prints with BUILD's library. Usage: check-flags.sh BUILD [CASE...]
# Without cases: all of them. What this machine cannot build or run is skipped by name.
set -eu
build=$(cd "${1:?usage: check-flags.sh BUILD [CASE...]}" && pwd)
shift
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
jobs=${JOBS:-2}
skipped=""

fail()
{
    echo "check-flags.sh: $name: $1" >&2
    [ ! -s "$folder/$name.log" ] || grep -m 10 -E 'error|warning|undefined' "$folder/$name.log" >&2 || tail -10 "$folder/$name.log" >&2
    exit 1
}

skip()
{
    echo "  $name: SKIPPED: $1"
    skipped="$skipped $name"
}

# compare PROGRAM: it prints what the reference does. A CPU without the instructions asked for ends it with SIGILL.
compare()
{
    status=0
    "$1" >"$folder/$name.printed" 2>&1 || status=$?
    [ $status != 132 ] || { skip "compiles; this CPU cannot run it"; return; }
    diff "$folder/expected" "$folder/$name.printed" >"$folder/$name.log" ||
        { cat "$folder/$name.log" >&2; fail "'<' is what the library answers, '>' what it answers under these flags"; }
    echo "  $name"
}

# project SETTINGS...: the stranger's project, configured with these.
project()
{
    cmake -S "$root/test/flags" -B "$folder/$name" -G "Unix Makefiles" "$@" >"$folder/$name.log" 2>&1 ||
        fail "does not configure"
    cmake --build "$folder/$name" -j "$jobs" >>"$folder/$name.log" 2>&1 || fail "does not compile"
    ! grep -q 'warning:' "$folder/$name.log" || fail "warns"
    compare "$folder/$name/probe"
}

# plain COMPILER FLAGS...: every source on one command line, as docs/use-it.md has it.
plain()
{
    # shellcheck disable=SC2046 # a list of files
    "$@" -I"$root/include" -I"$root/src/core" -I"$root/src/methods" -I"$root/src/physics" $(find "$root/src/core" "$root/src/methods" "$root/src/physics" -name '*.c') "$root/test/flags/probe.c" -o "$folder/$name" \
        -lm -pthread >"$folder/$name.log" 2>&1 || fail "does not compile"
    [ ! -s "$folder/$name.log" ] || fail "warns"
    compare "$folder/$name"
}

# Compiled by hand with -ffast-math or a part of it, every file says what is wrong.
refuses()
{
    for flag in -ffast-math -Ofast -ffinite-math-only; do
        # Of src/gpu no answer depends on the host's floats.
        find "$root/src/core" "$root/src/methods" "$root/src/physics" -name '*.c' | while read -r file; do
            ! ${CC:-cc} $flag -fsyntax-only -I"$root/include" -I"$root/src/core" -I"$root/src/methods" -I"$root/src/physics" "$file" >"$folder/$name.log" 2>&1 &&
                grep -q 'Cleave needs floats as IEEE 754 has them' "$folder/$name.log" ||
                fail "$file compiles with $flag"
        done || exit 1
    done
    echo "  $name"
}

# `make install` builds what it installs, warnings are warnings, and the licence comes along.
install_alone()
{
    make -C "$root" BUILD="$folder/$name" PREFIX="$folder/prefix" JOBS="$jobs" install >"$folder/$name.log" 2>&1 ||
        fail "make install failed"
    ! find "$folder/$name" -name 'test_*' -type f | grep -q . || fail "tests were built"
    ! grep -rq --include=flags.make -- -Werror "$folder/$name" || fail "warnings are errors"
    [ -s "$folder/prefix/share/doc/cleave/LICENSE" ] || fail "no licence was installed"
    "$folder/prefix/bin/cleave" --version >/dev/null || fail "the program does not run"
    echo "  $name"
}

has()
{
    command -v "$1" >/dev/null 2>&1 || { skip "$1 is not installed"; return 1; }
}

# The compiler takes the flag, and can link with it?
takes()
{
    echo 'int main( void ) { return 0; }' >"$folder/try.c"
    "$@" "$folder/try.c" -o "$folder/try" >/dev/null 2>&1 || { skip "$* cannot be had here"; return 1; }
}

release=-DCMAKE_BUILD_TYPE=Release

# The names of all cases are the words before the parentheses here.
run_case()
{
    name=$1
    case $name in
    v4) takes "${CC:-cc}" -march=x86-64-v4 && project $release -DCMAKE_C_FLAGS=-march=x86-64-v4 ;;
    careless)
        # No build type, and everything on that the rest of the project wants.
        project -DCMAKE_UNITY_BUILD=ON -DBUILD_SHARED_LIBS=ON
        grep -q -- ' -O3' "$folder/$name/cleave/CMakeFiles/cleave_shared.dir/flags.make" || fail "is not optimised"
        ldd "$folder/$name/probe" | grep -q libcleave || fail "BUILD_SHARED_LIBS is on, and the program has no libcleave.so"
        ;;
    unity) project $release -DCMAKE_UNITY_BUILD=ON ;;
    fast-math) project $release -DCMAKE_C_FLAGS=-ffast-math ;;
    native) takes "${CC:-cc}" -march=native && project $release -DCMAKE_C_FLAGS=-march=native ;;
    haswell) takes "${CC:-cc}" -march=haswell && project $release -DCMAKE_C_FLAGS=-march=haswell ;;
    m32) takes "${CC:-cc}" -m32 && project $release -DCMAKE_C_FLAGS=-m32 ;;
    ofast) project '-DCMAKE_C_FLAGS=-Ofast -march=native' ;;
    finite) project $release -DCMAKE_C_FLAGS=-ffinite-math-only ;;
    unsafe) project $release '-DCMAKE_C_FLAGS=-funsafe-math-optimizations -ffp-contract=fast' ;;
    associative) project $release '-DCMAKE_C_FLAGS=-fassociative-math -fno-signed-zeros -fno-trapping-math' ;;
    contract) project $release '-DCMAKE_C_FLAGS=-ffp-contract=fast -march=native' ;;
    o0) project '-DCMAKE_C_FLAGS=-O0 -Wall -Wextra -Werror' ;;
    lto) project $release -DCMAKE_C_FLAGS_RELEASE=-O3 -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON ;;
    gnu17) project $release '-DCMAKE_C_FLAGS=-std=gnu17 -march=native' -DCMAKE_C_EXTENSIONS=ON ;;
    debug) project -DCMAKE_BUILD_TYPE=Debug ;;
    no-type)
        # A forgotten build type must not make the library eight times slower.
        project
        grep -q -- ' -O3' "$folder/$name/cleave/CMakeFiles/cleave_static.dir/flags.make" || fail "is not optimised"
        ;;
    shared)
        project $release -DBUILD_SHARED_LIBS=ON
        ldd "$folder/$name/probe" | grep -q libcleave || fail "BUILD_SHARED_LIBS is on, and the program has no libcleave.so"
        ;;
    clang) has clang && project $release -DCMAKE_C_COMPILER=clang ;;
    clang-v4) has clang && project $release -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS=-march=x86-64-v4 ;;
    clang-fast) has clang && project -DCMAKE_C_COMPILER=clang '-DCMAKE_C_FLAGS=-Ofast -march=native' ;;
    clang-o0) has clang && project -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS=-O0 ;;
    plain) plain "${CC:-cc}" -O2 -Wall -Wextra ;;
    plain-native) takes "${CC:-cc}" -march=native && plain "${CC:-cc}" -O2 -march=native ;;
    plain-clang) has clang && plain clang -O2 -march=native -Wall -Wextra ;;
    plain-scalar) plain "${CC:-cc}" -O1 -DCLV_SCALAR_ONLY ;;
    refuses) refuses ;;
    install) install_alone ;;
    *)
        echo "check-flags.sh: there is no case $name" >&2
        exit 2
        ;;
    esac || [ "${skipped% "$name"}" != "$skipped" ] || exit 1
    rm -rf "${folder:?}/$name"
}

${CC:-cc} -std=c17 -O1 -I"$root/include" "$root/test/flags/probe.c" \
    "$build/libcleave-methods.a" "$build/libcleave-physics.a" "$build/libcleave.a" -o "$folder/reference" -lm -pthread
"$folder/reference" >"$folder/expected"
# shellcheck disable=SC2046 # a list of words
[ $# -gt 0 ] || set -- $(sed -n 's/^    \([a-z0-9-]*\)).*/\1/p' "$0")
for name in "$@"; do
    run_case "$name"
done
echo "check-flags.sh: as everywhere else under $# sets of flags${skipped:+, less$skipped}"
