#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs a build into a folder of its own and uses it as a stranger would: the pages' programs and the examples by
# find_package, pkg-config, FetchContent and add_subdirectory, static and shared, and by plain cc over the sources; the
# examples' own projects too. Installing is all or nothing, and uninstalling leaves nothing behind. Usage: check-install.sh BUILD
set -eu
build=$(cd "${1:?usage: check-install.sh BUILD}" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
cc=${CC:-cc}

# programs_of PAGE NAME: the C programs of a page (blocks with a main) as NAME.c, NAME-2.c, … in $folder, and beside each, as .expected,
# what the page says it prints: in backquotes right behind, or in the next block. $programs: their names.
programs_of()
{
    programs=$(awk -v to="$folder" -v page="$2" '
        /^```/ {
            fence = !fence
            if ( fence ) { c = $0 == "```c"; text = ""; next }
            if ( c && text ~ /int main\(/ )
            {
                name = page ( ++count > 1 ? "-" count : "" ); base = to "/" name; waits = 1
                printf "%s", text >( base ".c" ); print name
            }
            else if ( waits ) { printf "%s", text >( base ".expected" ); waits = 0 }
            next
        }
        fence { text = text $0 "\n" }
        !fence && waits && match( $0, /prints `[^`]*`/ ) {
            print substr( $0, RSTART + 8, RLENGTH - 9 ) >( base ".expected" ); waits = 0
        }' "$1")
    [ -n "$programs" ] || { echo "check-install.sh: $1 has no C program" >&2; exit 1; }
    for program in $programs; do
        [ -s "$folder/$program.expected" ] ||
            { echo "check-install.sh: $1 does not say what its program $program prints" >&2; exit 1; }
    done
}

# An example and what it prints, as it lies beside it.
example()
{
    cp "$root/examples/$1/$1.c" "$folder/$1.c"
    cp "$root/examples/$1/expected.txt" "$folder/$1.expected"
    echo "examples/$1" >"$folder/$1.page"
    names="$names $1"
}

# The first example is the README's program, to the letter.
same_program()
{
    lines=$(wc -l <"$folder/README.c")
    tail -n "$lines" "$root/examples/hello/hello.c" | cmp -s - "$folder/README.c" ||
        { echo "check-install.sh: examples/hello/hello.c is not the README's program" >&2; exit 1; }
}

# compare WHAT FOLDER [COMMAND...]: the programs there, started by the command, print what their pages say.
compare()
{
    what=$1
    programs=$2
    shift 2
    for program in $names; do
        page=$(cat "$folder/$program.page")
        "$@" "$programs/hello_$program" >"$folder/printed" ||
            { echo "check-install.sh: $what: the program of $page failed" >&2; exit 1; }
        if ! diff "$folder/$program.expected" "$folder/printed" >&2; then
            echo "check-install.sh: $what: '<' is what $page says, '>' what was printed" >&2
            exit 1
        fi
    done
    echo "  $what"
}

# by_cmake NAME TARGET LINES...: a project with these lines and the pages' programs, linked with that target. Nothing else
# of a project that is added is built.
by_cmake()
{
    name=$1
    target=$2
    shift 2
    rm -rf "${folder:?}/$name"
    mkdir -p "$folder/$name"
    {
        echo 'cmake_minimum_required( VERSION 3.16 )'
        echo 'project( stranger LANGUAGES C )'
        printf '%s\n' "$@"
        for program in $names; do
            echo "add_executable( hello_$program ../$program.c )"
            echo "target_link_libraries( hello_$program PRIVATE $target )"
        done
    } >"$folder/$name/CMakeLists.txt"
    if ! { cmake -S "$folder/$name" -B "$folder/$name/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$stage" &&
        cmake --build "$folder/$name/build" -j 2 --target $(printf 'hello_%s ' $names); } >"$folder/log" 2>&1; then
        tail -20 "$folder/log" >&2
        exit 1
    fi
    compare "$name, $target" "$folder/$name/build"
}

# own_project EXAMPLE SETTINGS...: an example's own CMakeLists.txt.
own_project()
{
    example=$1
    shift
    rm -rf "$folder/own"
    if ! { cmake -S "$root/examples/$example" -B "$folder/own" "$@" && cmake --build "$folder/own" -j 2; } >"$folder/log" 2>&1; then
        tail -20 "$folder/log" >&2
        exit 1
    fi
    "$folder/own/$example" | diff "$root/examples/$example/expected.txt" - >&2 ||
        { echo "check-install.sh: examples/$example: '<' is expected.txt, '>' what was printed" >&2; exit 1; }
}

own_projects()
{
    for program in hello balls jobs; do
        own_project $program -DCMAKE_PREFIX_PATH="$stage"
    done
    echo "  the examples' own projects, installed library"
    own_project balls -DCMAKE_DISABLE_FIND_PACKAGE_cleave=ON -DCMAKE_BUILD_TYPE=Debug
    echo "  the examples' own projects, this repository"
}

# As docs/use-it.md has it, but compiled once for all programs and without -O2.
by_plain_cc()
{
    mkdir "$folder/plain"
    # shellcheck disable=SC2046 # a list of files
    (cd "$folder/plain" && $cc -std=c17 -I"$root/include" -I"$root/src/core" -I"$root/src/methods" -I"$root/src/physics" -c $(find "$root/src/core" "$root/src/methods" "$root/src/physics" -name '*.c'))
    for program in $names; do
        $cc -std=c17 -I"$root/include" "$folder/$program.c" "$folder"/plain/*.o -o "$folder/plain/hello_$program" -lm -pthread
    done
    compare "plain $cc" "$folder/plain"
}

# stranger NAME SETTINGS...: configures and builds the project $folder/NAME.
stranger()
{
    name=$1
    shift
    rm -rf "${folder:?}/$name/build"
    cmake -S "$folder/$name" -B "$folder/$name/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$stage" \
        ${MPICC:+-DMPI_C_COMPILER="$MPICC"} "$@" >"$folder/log" 2>&1 &&
        cmake --build "$folder/$name/build" >>"$folder/log" 2>&1
}

# A program that uses all the libraries, found as components and by their .pc files, static and shared.
all_three()
{
    cp "$root/test/compile/three.c" "$folder/three.c"
    for kind in "" -static -shared; do
        mkdir -p "$folder/three"
        {
            echo 'cmake_minimum_required( VERSION 3.16 )'
            echo 'project( stranger LANGUAGES C )'
            echo "find_package( cleave $version REQUIRED COMPONENTS methods physics gpu )"
            echo 'add_executable( three ../three.c )'
            echo "target_link_libraries( three PRIVATE cleave::methods$kind cleave::physics$kind cleave::gpu$kind )"
        } >"$folder/three/CMakeLists.txt"
        stranger three && "$folder/three/build/three" || { tail -20 "$folder/log" >&2; exit 1; }
    done
    echo 'find_package( cleave REQUIRED COMPONENTS methods cheese )' >>"$folder/three/CMakeLists.txt"
    ! stranger three ||
        { echo "check-install.sh: a component that does not exist was found" >&2; exit 1; }
    # shellcheck disable=SC2046 # lists of words
    $cc "$folder/three.c" -o "$folder/three/shared" $(pkg-config --cflags --libs cleave-methods cleave-physics cleave-gpu)
    LD_LIBRARY_PATH="$libdir" "$folder/three/shared"
    # shellcheck disable=SC2046
    $cc -static "$folder/three.c" -o "$folder/three/static" $(pkg-config --static --cflags --libs cleave-methods cleave-physics cleave-gpu)
    "$folder/three/static"
    echo "  methods, physics and gpu, find_package and pkg-config, static and shared"
}

# The first program of docs/mpi.md on one process, which needs no mpirun, where the library was built with an MPI.
over_processes()
{
    programs_of "$root/docs/mpi.md" many
    mkdir "$folder/many"
    for kind in "" -static -shared; do
        {
            echo 'cmake_minimum_required( VERSION 3.16 )'
            echo 'project( stranger LANGUAGES C )'
            echo "find_package( cleave $version REQUIRED COMPONENTS mpi )"
            echo 'add_executable( many ../many.c )'
            echo "target_link_libraries( many PRIVATE cleave::mpi$kind )"
        } >"$folder/many/CMakeLists.txt"
        stranger many || { tail -20 "$folder/log" >&2; exit 1; }
        "$folder/many/build/many" | diff "$folder/many.expected" - >&2
    done
    ! stranger many -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON && grep -q 'component mpi: no MPI for C' "$folder/log" ||
        { echo "check-install.sh: where there is no MPI, find_package does not say so" >&2; exit 1; }
    mpicc=${MPICC:-mpicc}
    # shellcheck disable=SC2046 # lists of words
    "$mpicc" "$folder/many.c" -o "$folder/many/shared" $(pkg-config --cflags --libs cleave-mpi)
    LD_LIBRARY_PATH="$libdir" "$folder/many/shared" | diff "$folder/many.expected" - >&2
    # Of ours the static libraries alone: MPI itself has none in Debian.
    mkdir "$folder/many/lib"
    cp "$libdir"/*.a "$folder/many/lib"
    # shellcheck disable=SC2046
    "$mpicc" "$folder/many.c" -o "$folder/many/static" -L"$folder/many/lib" \
        $(pkg-config --static --cflags --libs cleave-mpi | sed "s|-L$libdir||g")
    "$folder/many/static" | diff "$folder/many.expected" - >&2
    [ ! -x "$stage/bin/cleave" ] || "$stage/bin/cleave-mpi" --version
    echo "  mpi, find_package and pkg-config, static and shared"
}

by_pkg_config()
{
    PKG_CONFIG_PATH=$(dirname "$(find "$stage" -name cleave.pc)")
    export PKG_CONFIG_PATH
    libdir=$(pkg-config --variable=libdir cleave)
    mkdir "$folder/shared" "$folder/static"
    for program in $names; do
        # shellcheck disable=SC2046 # lists of words
        $cc "$folder/$program.c" -pthread -o "$folder/shared/hello_$program" $(pkg-config --cflags --libs cleave)
        # shellcheck disable=SC2046
        $cc -static "$folder/$program.c" -pthread -o "$folder/static/hello_$program" $(pkg-config --static --cflags --libs cleave)
    done
    compare "pkg-config, shared" "$folder/shared" env LD_LIBRARY_PATH="$libdir"
    compare "pkg-config, static" "$folder/static"
}

wrong()
{
    echo "check-install.sh: $1" >&2
    exit 1
}

# install.sh refuses, says why, and leaves the prefix as it was.
refuses()
{
    find "$2" | sort >"$folder/before"
    status=0
    "$root/scripts/install.sh" install "$build" "$2" >"$folder/log" 2>&1 || status=$?
    [ $status = 2 ] && grep -q "$3" "$folder/log" || { cat "$folder/log" >&2; wrong "$1: not refused with '$3'"; }
    find "$2" | sort | diff "$folder/before" - >&2 || wrong "$1: the prefix is not as it was"
}

# The last file to be copied cannot be: all others are taken back, and so are the folders made for them.
all_or_nothing()
{
    mkdir -p "$folder/half/share/doc/cleave/view/playground.html"
    refuses "a folder where a file belongs" "$folder/half" 'playground.html is a folder; nothing was installed'
    rm -r "$folder/half/share"
    echo >"$folder/half/lib"
    refuses "a file where a folder belongs" "$folder/half" 'cannot make .*/lib: .*; nothing was installed'
    echo "  all or nothing"
}

# Files of others stay; those of an earlier install that are no longer installed go.
removed_without_a_trace()
{
    mkdir -p "$folder/shared_prefix/lib"
    echo >"$folder/shared_prefix/lib/libother.a"
    find "$folder/shared_prefix" | sort >"$folder/before"
    "$root/scripts/install.sh" install "$build" "$folder/shared_prefix" >/dev/null
    echo >"$folder/shared_prefix/include/cleave/old.h"
    echo include/cleave/old.h >>"$folder/shared_prefix/share/cleave/installed.txt"
    "$root/scripts/install.sh" install "$build" "$folder/shared_prefix" >/dev/null
    [ ! -e "$folder/shared_prefix/include/cleave/old.h" ] || wrong "a second install keeps what only the first one had"
    "$root/scripts/install.sh" uninstall "$folder/shared_prefix" >/dev/null
    find "$folder/shared_prefix" | sort | diff "$folder/before" - >&2 || wrong "uninstalling leaves or takes what '>' and '<' show"
    mkdir -p "$folder/shared_prefix/share/cleave"
    echo ../before >"$folder/shared_prefix/share/cleave/installed.txt"
    ! "$root/scripts/install.sh" uninstall "$folder/shared_prefix" >/dev/null 2>&1 && [ -e "$folder/before" ] ||
        wrong "uninstalling follows a list that leads out of the prefix"
    echo "  removed without a trace"
}

stage=$folder/stage
"$root/scripts/install.sh" install "$build" "$stage" >/dev/null
"$root/scripts/check-docs.sh" --links "$stage/share/doc/cleave"
all_or_nothing
removed_without_a_trace
version=$(sed -n 's/^project( cleave VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
header_version=$(sed -n 's/^#define CLV_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$root/include/cleave/base.h" | paste -sd .)
[ "$version" = "$header_version" ] ||
    { echo "check-install.sh: CMakeLists.txt says $version, base.h $header_version" >&2; exit 1; }

[ -s "$stage/share/doc/cleave/LICENSE" ] || { echo "check-install.sh: no licence was installed" >&2; exit 1; }
echo "installed $(find "$stage" -type f | wc -l) files, version $version"
names=""
for page in README.md docs/hello.md docs/pairs.md docs/boxes.md docs/queries.md docs/matching.md; do
    programs_of "$root/$page" "$(basename "$page" .md)"
    for program in $programs; do
        echo "$page" >"$folder/$program.page"
        names="$names $program"
    done
done
same_program
example balls
example jobs
for target in cleave::cleave cleave::static cleave::shared; do
    by_cmake find_package $target "find_package( cleave $version REQUIRED )"
done
by_pkg_config
all_three
if pkg-config --exists cleave-mpi; then
    over_processes
fi
# As Debug: whether it is found and linked is the question here, and how it is optimised that of check-flags.sh.
debug='set( CMAKE_BUILD_TYPE Debug )'
by_cmake FetchContent cleave::cleave "$debug" "include( FetchContent )" "FetchContent_Declare( cleave SOURCE_DIR \"$root\" )" \
    "FetchContent_MakeAvailable( cleave )"
by_cmake add_subdirectory cleave::shared "$debug" "set( CLEAVE_SHARED ON )" "add_subdirectory( \"$root\" cleave )"
by_plain_cc
own_projects
if [ -x "$stage/bin/cleave" ]; then
    "$stage/bin/cleave" --version
fi
