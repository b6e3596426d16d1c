#!/bin/sh
# SPDX-License-Identifier: MIT
# Make sure that what a target needs is installed. Usage: scripts/setup.sh build|test|trust
# A missing Debian package is installed if we are root (or may sudo without a password) and apt-get is there;
# otherwise it is named. Nothing is downloaded when everything is present.
set -eu

need=""

# want PACKAGE TEST...: ask for PACKAGE unless the test succeeds.
want()
{
    package=$1
    shift
    "$@" >/dev/null 2>&1 || need="$need $package"
}

has_header()
{
    echo "#include <$1>" | ${CC:-cc} -E - >/dev/null 2>&1
}

# cmocka.h wants others before it.
has_cmocka()
{
    [ -e /usr/include/cmocka.h ] || [ -e /usr/local/include/cmocka.h ] || pkg-config --exists cmocka
}

has_clang_runtime()
{
    object=$(mktemp) &&
        echo 'int main( void ) { return 0; }' | clang -x c - -fsanitize=undefined,fuzzer-no-link -o "$object"
    status=$?
    rm -f "$object"
    return $status
}

want_build()
{
    want gcc command -v cc
    want libc6-dev has_header stdio.h
    want make command -v make
    want cmake command -v cmake
    want pkg-config command -v pkg-config
    want libcjson-dev has_header cjson/cJSON.h
}

want_test()
{
    want_build
    want libcmocka-dev has_cmocka
    want clang command -v clang
    want libclang-rt-14-dev has_clang_runtime
    want g++ command -v c++
}

case "${1:-build}" in
build) want_build ;;
test) want_test ;;
*)
    echo "setup.sh: unknown purpose '$1'; use build or test" >&2
    exit 2
    ;;
esac

[ -z "$need" ] && exit 0

as_root=""
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        as_root="sudo -n"
    else
        echo "setup.sh: these packages are missing, please install them:$need" >&2
        exit 2
    fi
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "setup.sh: these packages are missing (names as in Debian 12), please install them:$need" >&2
    exit 2
fi
echo "setup.sh: installing$need"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of words
if ! $as_root apt-get install -y --no-install-recommends $need >/dev/null 2>&1; then
    $as_root apt-get update -q >/dev/null
    $as_root apt-get install -y --no-install-recommends $need >/dev/null
fi
