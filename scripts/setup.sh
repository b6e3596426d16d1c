#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages that a purpose needs, or only says which are missing.
# Usage: scripts/setup.sh [--check] PURPOSE...; `make setup FOR="PURPOSE..."` is the same.
# Needs apt-get and root, or sudo (which may ask for a password on a terminal). What will be installed is said
# before it is. With --check nothing is installed. Exit status 2: a package that cannot be done without is
# missing. Nothing is downloaded when everything is present. Needs nothing that a bare Debian lacks.
set -eu

check=no
if [ "${1:-}" = --check ]; then
    check=yes
    shift
fi
purposes=${*:-build}
need=""

# want PACKAGE TEST...: ask for PACKAGE unless the test succeeds.
want()
{
    package=$1
    shift
    "$@" >/dev/null 2>&1 || need="$need $package"
}

# wish PACKAGE TEST...: the same for an optional package.
wished=""
wish()
{
    package=$1
    shift
    "$@" >/dev/null 2>&1 || wished="$wished $package"
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

has_python_header()
{
    for python in ${PYTHON:-python3 /usr/bin/python3}; do
        [ -e "$("$python" -c 'import sysconfig; print( sysconfig.get_path( "include" ) )')/Python.h" ] && return
    done
    return 1
}

has_numpy()
{
    for python in ${PYTHON:-python3 /usr/bin/python3}; do
        "$python" -c 'import numpy' && return
    done
    return 1
}

# For `make python`: numpy is needed to run the package, not to build it.
want_python()
{
    want_build
    want python3 command -v python3
    want python3-dev has_python_header
    wish python3-numpy has_numpy
}

# OpenCL on the processor, for the tests of the GPU library; without it they are skipped, and say so.
has_opencl()
{
    ldconfig -p 2>/dev/null | grep -q libOpenCL.so.1 && ls /etc/OpenCL/vendors/*.icd
}

want_test()
{
    want_build
    wish python3-dev has_python_header # the Python package; without them its tests are skipped
    wish python3-numpy has_numpy
    wish mypy command -v mypy # its type hints
    wish pocl-opencl-icd has_opencl
    wish ocl-icd-libopencl1 has_opencl
    # Many processes; without them that library is not built, and its tests are not there.
    wish libopenmpi-dev command -v mpicc
    wish openmpi-bin command -v mpirun
    wish libtrilinos-zoltan-dev test -e /usr/include/trilinos/zoltan.h
    wish oclgrind command -v oclgrind # a device that watches every access; without it that test is skipped
    # Our space inside Bullet and FCL, the Rust crates, the single file for Windows; each is a test that is
    # skipped without its package.
    wish libbullet-dev test -e /usr/include/bullet/btBulletCollisionCommon.h
    wish libfcl-dev test -e /usr/include/fcl/fcl.h
    wish cargo command -v cargo
    wish gcc-mingw-w64-x86-64 command -v x86_64-w64-mingw32-gcc
    # A short look at the viewer's pages; skipped without them.
    wish nodejs command -v node
    wish chromium command -v chromium
    want libcmocka-dev has_cmocka
    want locales test -e /usr/share/i18n/locales/ps_AF # a decimal point of two bytes
    want git command -v git
    want python3 command -v python3 # the core as one file
    want clang command -v clang
    want libclang-rt-14-dev has_clang_runtime
    want g++ command -v c++
    want clang-format command -v clang-format
    want cppcheck command -v cppcheck
}

# The core as one file.
want_single()
{
    want_build
    want python3 command -v python3
}

want_rust()
{
    want_build
    want cargo command -v cargo
}

# For `make site`.
want_site()
{
    want make command -v make
    want python3 command -v python3
}

# For `make deb`.
want_deb()
{
    want_single
    want dpkg-dev command -v dpkg-buildpackage
    want debhelper command -v dh
    want fakeroot command -v fakeroot
    wish lintian command -v lintian
}

want_lint()
{
    want_test
    want clang-tidy command -v clang-tidy
}

want_coverage()
{
    want_test
}

# Libraries of other people to measure against; each is optional.
want_peers()
{
    want_build
    wish g++ command -v c++
    wish libbullet-dev test -e /usr/include/bullet/btBulletCollisionCommon.h
    wish libcgal-dev test -e /usr/include/CGAL/box_intersection_d.h
    wish libembree-dev test -e /usr/include/embree3/rtcore.h
    wish libnanoflann-dev test -e /usr/include/nanoflann.hpp
    wish libfcl-dev test -e /usr/include/fcl/fcl.h
    wish libode-dev test -e /usr/include/ode/ode.h
    wish libbox2d-dev test -e /usr/include/box2d/b2_broad_phase.h
}

# For scripts/other-machines.sh, which skips by name what is not there.
want_machines()
{
    want_build
    wish gcc-aarch64-linux-gnu command -v aarch64-linux-gnu-gcc
    wish libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/include/stdio.h
    wish gcc-s390x-linux-gnu command -v s390x-linux-gnu-gcc
    wish libc6-dev-s390x-cross test -e /usr/s390x-linux-gnu/include/stdio.h
    wish gcc-arm-linux-gnueabihf command -v arm-linux-gnueabihf-gcc
    wish libc6-dev-armhf-cross test -e /usr/arm-linux-gnueabihf/include/stdio.h
    wish gcc-mingw-w64-x86-64 command -v x86_64-w64-mingw32-gcc
    wish qemu-user command -v qemu-aarch64
}

# For the report's page: its packages are pinned in report/package-lock.json and come from npm.
want_report()
{
    want_test
    want nodejs command -v node
    want npm command -v npm
    want chromium command -v chromium
    want fonts-dejavu-core test -d /usr/share/fonts/truetype
    wish ffmpeg command -v ffmpeg # films of cleave render; 50 MB, and less than a browser
}

# For `make papers`: other people's libraries to compare with, and node for pages and pictures.
want_papers()
{
    want_build
    want_peers
    want nodejs command -v node # pages and pictures
}

# For `make instructions`.
want_instructions()
{
    want_build
    want valgrind command -v valgrind
}

# For `make fresh`, which makes a bare Debian to try the README's commands in.
want_fresh()
{
    wish mmdebstrap command -v mmdebstrap
    wish git command -v git
}

# For `make wasm` and its tests. Debian's emcc asks for acorn.
want_wasm()
{
    want_build
    want emscripten command -v emcc
    want node-acorn test -d /usr/share/nodejs/acorn
    want nodejs command -v node
}

has_npm_packages()
{
    [ "$report/node_modules/.package-lock.json" -nt "$report/package-lock.json" ]
}

install_npm_packages()
{
    echo "setup.sh: installing the npm packages of report/"
    npm --prefix "$report" ci --no-audit --no-fund >/dev/null 2>&1 ||
        fail "npm could not install the packages of report/; try: npm --prefix report ci"
}

fail()
{
    echo "setup.sh: $1" >&2
    exit 2
}

# As a list of words without duplicates, a space before each.
as_list()
{
    # shellcheck disable=SC2086 # a list of words
    printf '%s\n' $1 | sort -u | sed -n 's/^./ &/p' | tr -d '\n'
}

npm=no
for purpose in $purposes; do
    case $purpose in
    build | single | rust | deb | site | test | lint | coverage | machines | peers | papers | instructions | fresh | wasm | python) want_"$purpose" ;;
    report)
        want_report
        npm=yes
        ;;
    *)
        fail "unknown purpose '$purpose'; use build, single, rust, deb, site, test, lint, coverage, machines, peers, report, papers, instructions, fresh, wasm or python"
        ;;
    esac
done
need=$(as_list "$need")
wished=$(as_list "$wished")
report=$(dirname "$0")/../report

# What `make` calls: names what is missing, and how to get it.
name_missing()
{
    how="install: ./run setup FOR=\"$purposes\" (or: apt-get install$need$wished)"
    [ -z "$wished" ] || echo "setup.sh: without$wished: what needs it is skipped; $how"
    [ -z "$need" ] || fail "these Debian packages are missing:$need; $how"
    [ $npm = no ] || has_npm_packages ||
        fail "the npm packages of report/ are missing; install: ./run setup FOR=report (or: npm --prefix report ci)"
}

if [ $check = yes ]; then
    name_missing
    exit 0
fi

# cannot_install REASON: for packages that are needed.
cannot_install()
{
    echo "setup.sh: these Debian packages are missing:$need" >&2
    fail "cannot install them: $1"
}

# How to become root: nothing to do where we are, sudo where it needs no password or can ask for one.
# Otherwise the reason is in $no_root.
find_root()
{
    as_root=""
    no_root=""
    [ "$(id -u)" != 0 ] || return 0
    if ! command -v sudo >/dev/null 2>&1; then
        no_root="not root, and there is no sudo; as root: apt-get install$need"
    elif sudo -n true 2>/dev/null; then
        as_root="sudo -n"
    elif [ -t 0 ]; then
        as_root=sudo
    else
        no_root="sudo wants a password, and there is no terminal to ask on; try: sudo apt-get install$need"
    fi
}

# apt ARGUMENT...: without questions; its output is kept for the case that it fails.
apt()
{
    # shellcheck disable=SC2086 # two words, or none
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >"$output" 2>&1
}

install_needed()
{
    [ -z "$no_root" ] || cannot_install "$no_root"
    # A machine that never fetched the lists of packages has none; one that did long ago has old ones.
    # shellcheck disable=SC2086 # a list of words
    if ! apt install -y --no-install-recommends $need; then
        if ! apt update || ! apt install -y --no-install-recommends $need; then
            tail -n 20 "$output" >&2
            cannot_install "apt-get failed, see above"
        fi
    fi
}

# All at once; if that fails each by itself, so that one that cannot be had does not keep the others away.
# The time-out is for machines without a network.
install_wished()
{
    left=$wished
    if [ -z "$no_root" ]; then
        left=""
        set -- -o Acquire::Retries=0 -o Acquire::http::Timeout=20
        # shellcheck disable=SC2086 # a list of words
        if ! apt "$@" install -y --no-install-recommends $wished; then
            apt "$@" update || true
            for one in $wished; do
                apt "$@" install -y --no-install-recommends "$one" || left="$left $one"
            done
        fi
    fi
    [ -z "$left" ] || echo "setup.sh: without$left: what needs it is skipped"
}

if [ -n "$need$wished" ]; then
    if command -v apt-get >/dev/null 2>&1; then
        find_root
    else
        no_root="there is no apt-get here"
    fi
    [ -n "$no_root" ] || echo "setup.sh: installing with apt-get:$need$wished"
    output=$(mktemp)
    trap 'rm -f "$output"' EXIT
    [ -z "$need" ] || install_needed
    [ -z "$wished" ] || install_wished
fi
[ $npm = no ] || has_npm_packages || install_npm_packages
