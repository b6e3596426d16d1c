# shellcheck shell=bash disable=SC2154,SC2164 # check.sh sets root and folder, and set -e
# SPDX-License-Identifier: MIT
# The Python package, built and tested: for scripts/check.sh.

# find_python: $python, the first of these that has numpy and its own headers, which the package is built and tested with.
find_python()
{
    for python in ${PYTHON:-python3 /usr/bin/python3}; do
        "$python" - 2>/dev/null <<'END' && return
import os, sys, sysconfig, numpy
sys.exit( sys.version_info < ( 3, 11 ) or not os.path.exists( os.path.join( sysconfig.get_path( "include" ), "Python.h" ) ) )
END
    done
    skip "no Python 3.11 or later with its headers and numpy (scripts/setup.sh python installs it; PYTHON names another)"
}

# The package with a build's library: its wheel, the tests on it, and the tour of examples/. With the word `address`, as its sanitizer sees it. With `sdist`,
# the same from a source package that is unpacked elsewhere and compiled by itself. Usage: check.sh python BUILD [address|sdist]
check_python()
{
    [ $# -ge 1 ] || misused "BUILD [address|sdist]"
    build=$(cd "$1" && pwd)
    find_python
    warnings="-Wpedantic -Wshadow -Wconversion -Werror"
    mkdir "$folder/dist"
    backend=$root/bindings/python/backend.py
    export CLEAVE_LIBRARY=$build/libcleave.a CFLAGS="$warnings"
    before=""
    case ${2:-} in
    address)
        CFLAGS="$warnings -fsanitize=address"
        # The program is not ours: the sanitizer's library comes first by force, and Python's own leaks are not ours to tell.
        before="env LD_PRELOAD=$(${CC:-cc} -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc CLEAVE_TEST_SCALE=0.25"
        ;;
    sdist)
        unset CLEAVE_LIBRARY
        CFLAGS=-O1
        "$python" "$backend" sdist "$folder/dist" >"$folder/said" 2>&1 || fail "the sdist could not be made"
        tar -xzf "$folder"/dist/*.tar.gz -C "$folder"
        backend=$(echo "$folder"/cleave-*/backend.py)
        ;;
    esac
    "$python" "$backend" wheel "$folder/dist" >"$folder/said" 2>&1 || fail "the wheel could not be made"
    "$python" -m zipfile -e "$folder"/dist/*.whl "$folder/site"
    visible=$(nm -D --defined-only "$folder/site/cleave/_cleave.abi3.so" | awk '$3 !~ /asan/ { print $3 }')
    [ "$visible" = PyInit__cleave ] || fail "the extension shows more than its entry: $visible"
    # A scene of Python's for the lab, and its results for Python.
    if [ -z "$before" ] && [ -x "$build/cleave" ]; then
        export CLEAVE_PROGRAM=$build/cleave
    fi
    # shellcheck disable=SC2086 # a list of words
    (cd "$root/bindings/python/test" && PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$folder/site \
        CLEAVE_PYTHON_README=$root/bindings/python/README.md $before "$python" -X faulthandler -W error -m unittest -q test_cleave test_near) \
        >"$folder/said" 2>&1 || fail "its tests"
    # shellcheck disable=SC2086
    PYTHONPATH=$folder/site $before "$python" -W error "$root/examples/tour/tour.py" | diff "$root/examples/tour/expected.txt" - >&2 ||
        fail "examples/tour: '<' is expected.txt, '>' what was printed"
    echo "$(basename "$folder"/dist/*.whl), $("$python" --version), numpy $("$python" -c 'import numpy; print( numpy.__version__ )'): $(grep -o '^Ran [0-9]* tests' "$folder/said")"
}
