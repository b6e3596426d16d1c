#!/bin/sh
# SPDX-License-Identifier: MIT
# Make sure that what a target needs is installed. Usage: scripts/setup.sh PURPOSE, one of those below.
# A missing Debian package is installed if apt-get is there and we are root or may sudo (which may ask for a password on a
# terminal); otherwise it is named. Nothing is downloaded when everything is present. Needs nothing that a bare Debian lacks.
set -eu

need=""

# want PACKAGE TEST...: ask for PACKAGE unless the test succeeds.
want()
{
    package=$1
    shift
    "$@" >/dev/null 2>&1 || need="$need $package"
}

# wish PACKAGE TEST...: the same for what is done without where it cannot be installed.
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

# OpenCL on the processor, for the tests of the GPU library; without it they are skipped, and say so.
has_opencl()
{
    ldconfig -p 2>/dev/null | grep -q libOpenCL.so.1 && ls /etc/OpenCL/vendors/*.icd
}

want_test()
{
    want_build
    wish pocl-opencl-icd has_opencl
    wish ocl-icd-libopencl1 has_opencl
    # Many processes; without them that library is not built, and its tests are not there.
    wish libopenmpi-dev command -v mpicc
    wish openmpi-bin command -v mpirun
    wish libtrilinos-zoltan-dev test -e /usr/include/trilinos/zoltan.h
    wish oclgrind command -v oclgrind # a device that watches every access; without it that test is skipped
    # A short look at the viewer's pages; skipped without them.
    wish nodejs command -v node
    wish chromium command -v chromium
    want libcmocka-dev has_cmocka
    want locales test -e /usr/share/i18n/locales/ps_AF # a decimal point of two bytes
    want git command -v git
    want clang command -v clang
    want libclang-rt-14-dev has_clang_runtime
    want g++ command -v c++
    want clang-format command -v clang-format
    want cppcheck command -v cppcheck
}

want_lint()
{
    want_test
    want clang-tidy command -v clang-tidy
}

want_coverage()
{
    want_test
    want python3 command -v python3
}

# Libraries of other people to measure against; each is optional.
want_peers()
{
    want_build
    want g++ command -v c++
    want libbullet-dev test -e /usr/include/bullet/btBulletCollisionCommon.h
    want libcgal-dev test -e /usr/include/CGAL/box_intersection_d.h
    want libembree-dev test -e /usr/include/embree3/rtcore.h
    want libnanoflann-dev test -e /usr/include/nanoflann.hpp
    want libfcl-dev test -e /usr/include/fcl/fcl.h
    want libode-dev test -e /usr/include/ode/ode.h
    want libbox2d-dev test -e /usr/include/box2d/b2_broad_phase.h
}

# For scripts/other-machines.sh, which skips by name what is not there.
want_machines()
{
    want_build
    want gcc-aarch64-linux-gnu command -v aarch64-linux-gnu-gcc
    want libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/include/stdio.h
    want gcc-s390x-linux-gnu command -v s390x-linux-gnu-gcc
    want libc6-dev-s390x-cross test -e /usr/s390x-linux-gnu/include/stdio.h
    want gcc-arm-linux-gnueabihf command -v arm-linux-gnueabihf-gcc
    want libc6-dev-armhf-cross test -e /usr/arm-linux-gnueabihf/include/stdio.h
    want gcc-mingw-w64-x86-64 command -v x86_64-w64-mingw32-gcc
    want qemu-user command -v qemu-aarch64
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
    want nodejs command -v node
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
    want mmdebstrap command -v mmdebstrap
    want git command -v git
}

# For `make wasm` and its tests. Debian's emcc asks for acorn.
want_wasm()
{
    want_build
    want emscripten command -v emcc
    want node-acorn test -d /usr/share/nodejs/acorn
    want nodejs command -v node
}

install_report_packages()
{
    folder=$(dirname "$0")/../report
    [ -e "$folder/node_modules/.package-lock.json" ] &&
        [ "$folder/node_modules/.package-lock.json" -nt "$folder/package-lock.json" ] && return
    echo "setup.sh: installing the npm packages of report/"
    if ! npm --prefix "$folder" ci --no-audit --no-fund >/dev/null 2>&1; then
        echo "setup.sh: npm could not install the packages of report/; try: npm --prefix report ci" >&2
        exit 2
    fi
}

case "${1:-build}" in
build) want_build ;;
test) want_test ;;
lint) want_lint ;;
coverage) want_coverage ;;
machines) want_machines ;;
peers) want_peers ;;
report) want_report ;;
papers) want_papers ;;
instructions) want_instructions ;;
fresh) want_fresh ;;
wasm) want_wasm ;;
trust)
    want_lint
    want_coverage
    want_machines
    ;;
*)
    echo "setup.sh: unknown purpose '$1'; use build, test, lint, coverage, machines, peers, report, papers, instructions, fresh, wasm or trust" >&2
    exit 2
    ;;
esac

# Says why packages have to be installed by somebody else, and which.
cannot_install()
{
    echo "setup.sh: these Debian packages are missing:$need" >&2
    echo "setup.sh: cannot install them: $1" >&2
    exit 2
}

# How to become root: nothing where we are, sudo where it needs no password or can ask for one.
find_root()
{
    as_root=""
    [ "$(id -u)" != 0 ] || return 0
    command -v sudo >/dev/null 2>&1 ||
        cannot_install "not root, and there is no sudo; as root: apt-get install$need"
    if sudo -n true 2>/dev/null; then
        as_root="sudo -n"
    elif [ -t 0 ]; then
        as_root=sudo
    else
        cannot_install "sudo wants a password, and there is no terminal to ask on; try: sudo apt-get install$need"
    fi
}

# apt ARGUMENT...: without questions; what it says is kept for the case that it fails.
apt()
{
    # shellcheck disable=SC2086 # two words, or none
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >"$said" 2>&1
}

install_debian_packages()
{
    # shellcheck disable=SC2086 # a list of words
    need=$(printf '%s\n' $need | sort -u | sed 's/^/ /' | tr -d '\n')
    command -v apt-get >/dev/null 2>&1 || cannot_install "there is no apt-get here"
    find_root
    echo "setup.sh: installing$need"
    said=$(mktemp)
    trap 'rm -f "$said"' EXIT
    # A machine that never asked what there is has no lists; one that did long ago has old ones.
    # shellcheck disable=SC2086 # a list of words
    if ! apt install -y --no-install-recommends $need; then
        if ! apt update || ! apt install -y --no-install-recommends $need; then
            tail -n 20 "$said" >&2
            cannot_install "apt-get failed, see above"
        fi
    fi
}

[ -z "$need" ] || install_debian_packages

# wish ARGUMENT...: without questions, and without waiting for a network that is not there.
wish()
{
    DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=0 -o Acquire::http::Timeout=20 "$@" >/dev/null 2>&1
}

# All at once, or, where one cannot be had, each by itself: the others shall not be without for its sake.
install_wishes()
{
    left=$wished
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
        left=""
        # shellcheck disable=SC2086 # a list of words
        if ! wish install -y --no-install-recommends $wished; then
            wish update || true
            for one in $wished; do
                wish install -y --no-install-recommends "$one" || left="$left $one"
            done
        fi
    fi
    [ -z "$left" ] || echo "setup.sh: without$left, what needs it is skipped"
}

[ -z "$wished" ] || install_wishes
[ "${1:-build}" != report ] || install_report_packages
