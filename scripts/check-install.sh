#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs a build into a folder of its own and uses it as a stranger would: the hello program found by find_package, by
# pkg-config and by add_subdirectory, static and shared. Usage: check-install.sh BUILD
set -eu
build=$(cd "${1:?usage: check-install.sh BUILD}" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
cc=${CC:-cc}

# The first C program of a page, and what the page says it prints: in backquotes right behind, or in the next block.
first_program()
{
    awk -v program="$2" -v output="$3" '
        /^```/ { fence = !fence; if ( fence ) { block += 1; if ( $0 == "```c" && !at ) at = block } next }
        fence && block == at { print >program }
        fence && block == at + 1 && at && !said { print >output }
        !fence && at && block == at && match( $0, /prints `[^`]*`/ ) {
            print substr( $0, RSTART + 8, RLENGTH - 9 ) >output; said = 1
        }' "$1"
    [ -s "$2" ] && [ -s "$3" ] || { echo "check-install.sh: $1 has no C program, or does not say what it prints" >&2; exit 1; }
}

# compare WHAT PROGRAM: the program prints what the page says.
compare()
{
    what=$1
    shift
    "$@" >"$folder/printed" || { echo "check-install.sh: $what: the program failed" >&2; exit 1; }
    if ! diff "$folder/expected" "$folder/printed" >&2; then
        echo "check-install.sh: $what: '<' is what $page says, '>' what was printed" >&2
        exit 1
    fi
    echo "  $what"
}

by_cmake()
{
    name=$1
    target=$2
    shift 2
    mkdir -p "$folder/$name"
    {
        echo 'cmake_minimum_required( VERSION 3.16 )'
        echo 'project( stranger LANGUAGES C )'
        printf '%s\n' "$@"
        echo 'add_executable( hello ../hello.c )'
        echo "target_link_libraries( hello PRIVATE $target )"
    } >"$folder/$name/CMakeLists.txt"
    if ! { cmake -S "$folder/$name" -B "$folder/$name/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$stage" &&
        cmake --build "$folder/$name/build" -j 2; } >"$folder/log" 2>&1; then
        tail -20 "$folder/log" >&2
        exit 1
    fi
    compare "$page: $name, $target" "$folder/$name/build/hello"
}

by_pkg_config()
{
    PKG_CONFIG_PATH=$(dirname "$(find "$stage" -name cleave.pc)")
    export PKG_CONFIG_PATH
    libdir=$(pkg-config --variable=libdir cleave)
    # shellcheck disable=SC2046 # lists of words
    $cc "$folder/hello.c" -o "$folder/hello-shared" $(pkg-config --cflags --libs cleave)
    compare "$page: pkg-config, shared" env LD_LIBRARY_PATH="$libdir" "$folder/hello-shared"
    # shellcheck disable=SC2046
    $cc -static "$folder/hello.c" -o "$folder/hello-static" $(pkg-config --static --cflags --libs cleave)
    compare "$page: pkg-config, static" "$folder/hello-static"
}

stage=$folder/stage
cmake --install "$build" --prefix "$stage" >/dev/null
version=$(sed -n 's/^project( cleave VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
header_version=$(sed -n 's/^#define CLV_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$root/include/cleave/base.h" | paste -sd .)
[ "$version" = "$header_version" ] ||
    { echo "check-install.sh: CMakeLists.txt says $version, base.h $header_version" >&2; exit 1; }

echo "installed $(find "$stage" -type f | wc -l) files, version $version"
for page in README.md docs/hello.md; do
    [ -e "$root/$page" ] || continue
    rm -rf "$folder/find_package" "$folder/add_subdirectory" "$folder/expected" "$folder/hello.c"
    first_program "$root/$page" "$folder/hello.c" "$folder/expected"
    for target in cleave::cleave cleave::static cleave::shared; do
        rm -rf "$folder/find_package"
        by_cmake find_package $target "find_package( cleave $version REQUIRED )"
    done
    by_pkg_config
    by_cmake add_subdirectory cleave::cleave "add_subdirectory( \"$root\" cleave )"
    rm -rf "$folder/add_subdirectory"
    by_cmake add_subdirectory cleave::shared "set( CLEAVE_SHARED ON )" "add_subdirectory( \"$root\" cleave )"
done
if [ -x "$stage/bin/cleave" ]; then
    "$stage/bin/cleave" --version
fi
