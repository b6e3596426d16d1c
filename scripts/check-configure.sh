#!/bin/sh
# SPDX-License-Identifier: MIT
# What only the tests need is not needed to configure the rest, a build that insists on them says what is missing, and one
# folder can be switched between the two. Usage: check-configure.sh [SOURCE]
set -eu
source=$(cd "${1:-$(dirname "$0")/..}" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
cd "$source"

fail()
{
    echo "check-configure.sh: $1" >&2
    tail -n 20 "$folder/said" >&2
    exit 1
}

# configure FOLDER FLAG...
configure()
{
    into=$folder/$1
    shift
    cmake -S "$source" -B "$into" -DCLEAVE_PEERS=OFF -DCLEAVE_FUZZ=OFF "$@" >"$folder/said" 2>&1
}

# What a machine without cmocka finds: nothing, where it would lie.
hidden="-DCMOCKA_INCLUDE=CMOCKA_INCLUDE-NOTFOUND -DCMOCKA_LIBRARY=CMOCKA_LIBRARY-NOTFOUND -DCMAKE_FIND_LIBRARY_PREFIXES=hidden
    -DCMAKE_IGNORE_PATH=$(printf '%s;' /usr/include /usr/local/include)"

# shellcheck disable=SC2086 # several words
configure without $hidden || fail "without cmocka the program cannot be configured"
grep -q 'cmocka not found.*left out' "$folder/said" || fail "without cmocka nothing says that the tests are left out"
# shellcheck disable=SC2086
! configure without $hidden -DCLEAVE_TESTS=ON || fail "tests that were asked for are left out without an error"
grep -q 'libcmocka-dev' "$folder/said" || fail "the error does not name the package that is missing"

tests_of()
{
    ctest --test-dir "$folder/$1" -N | sed -n 's/^Total Tests: //p'
}

for step in OFF ON OFF ON; do
    configure both -DCLEAVE_TESTS=$step || fail "CLEAVE_TESTS=$step cannot be configured where the other was before"
    case $step in
    OFF) [ "$(tests_of both)" = 0 ] || fail "CLEAVE_TESTS=OFF leaves $(tests_of both) tests" ;;
    ON) [ "$(tests_of both)" -gt 50 ] || fail "CLEAVE_TESTS=ON has only $(tests_of both) tests" ;;
    esac
done
# A C++ compiler that was missing last time, and is there now.
if command -v c++ >/dev/null 2>&1; then
    configure late -DCLEAVE_TESTS=OFF -DCLEAVE_PEERS=ON -DCMAKE_CXX_COMPILER=CMAKE_CXX_COMPILER-NOTFOUND ||
        fail "cannot be configured after a time without a C++ compiler"
    ! grep -q 'peers are left out' "$folder/said" || fail "a C++ compiler installed since the last time is not found"
fi
echo "check-configure.sh: configures with and without what the tests need, to and fro"
