# shellcheck shell=bash disable=SC2154,SC2164 # check.sh sets root and folder, and set -e
# SPDX-License-Identifier: MIT
# The library as strangers install and build it: for scripts/check.sh.

# programs_of PAGE NAME [cpp]: the programs in C, or C++, of a page (blocks with a main) as NAME.c, NAME-2.c,
# … in $folder, and beside each, as .expected, what the page says it prints: in backquotes right behind, or in
# the next block. $programs: their names.
programs_of()
{
    programs=$(awk -v to="$folder" -v page="$2" -v language="${3:-c}" '
        /^```/ {
            fence = !fence
            if ( fence ) { c = $0 == "```" language; text = ""; next }
            if ( c && text ~ /int main\(/ )
            {
                name = page ( ++count > 1 ? "-" count : "" ); base = to "/" name; waits = 1
                printf "%s", text >( base "." language ); print name
            }
            else if ( waits ) { printf "%s", text >( base ".expected" ); waits = 0 }
            next
        }
        fence { text = text $0 "\n" }
        !fence && waits && match( $0, /prints `[^`]*`/ ) {
            print substr( $0, RSTART + 8, RLENGTH - 9 ) >( base ".expected" ); waits = 0
        }' "$1")
    [ -n "$programs" ] || fail "$1 has no program in ${3:-c}"
    for program in $programs; do
        [ -s "$folder/$program.expected" ] ||
            fail "$1 does not say what its program $program prints"
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
        fail "examples/hello/hello.c is not the README's program"
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
            fail "$what: the program of $page failed"
        if ! diff "$folder/$program.expected" "$folder/printed" >&2; then
            fail "$what: '<' is what $page says, '>' what was printed"
        fi
    done
    echo "  $what"
}

# by_cmake NAME TARGET LINES...: a project with these lines, the block of docs/use-it.md that has NAME, and
# the pages' programs, linked with that target. Nothing else of a project that is added is built.
by_cmake()
{
    name=$1
    target=$2
    shift 2
    rm -rf "${folder:?}/$name"
    mkdir -p "$folder/$name/third_party"
    ln -s "$root" "$folder/$name/third_party/cleave"
    block=$(awk -v name="$name" '/^```cmake$/ { inside = 1; text = ""; next } /^```$/ && inside { inside = 0; if ( index( text, name ) ) printf "%s", text }
        inside { text = text $0 "\n" }' "$root/docs/use-it.md" | sed "s|GIT_REPOSITORY <.*> GIT_TAG <.*> )|SOURCE_DIR \"$root\" )|")
    [ -n "$block" ] || fail "docs/use-it.md has no block with $name"
    {
        echo 'cmake_minimum_required( VERSION 3.16 )'
        echo 'project( stranger LANGUAGES C )'
        echo 'add_executable( game ../README.c )'
        printf '%s\n' "$@" "$block"
        for program in $names; do
            echo "add_executable( hello_$program ../$program.c )"
            echo "target_link_libraries( hello_$program PRIVATE $target )"
        done
    } >"$folder/$name/CMakeLists.txt"
    if ! { cmake -S "$folder/$name" -B "$folder/$name/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$stage" &&
        cmake --build "$folder/$name/build" -j 2 --target game $(printf 'hello_%s ' $names); } >"$folder/said" 2>&1; then
        fail "$name, $target: does not configure or build"
    fi
    compare "$name, $target" "$folder/$name/build"
}

# own_project EXAMPLE SETTINGS...: an example's own CMakeLists.txt.
own_project()
{
    example=$1
    shift
    rm -rf "$folder/own"
    if ! { cmake -S "$root/examples/$example" -B "$folder/own" "$@" && cmake --build "$folder/own" -j 2; } >"$folder/said" 2>&1; then
        fail "examples/$example: does not configure or build"
    fi
    # One whose other library is not installed says so and builds nothing.
    if [ ! -x "$folder/own/$example" ] && grep '^-- .* not found' "$folder/said"; then
        return 0
    fi
    check_example "$example" "$folder/own/$example"
}

# An example prints what its expected.txt says. Usage: check.sh example NAME PROGRAM
check_example()
{
    [ $# -eq 2 ] || misused "NAME PROGRAM"
    case $1 in
    streaming) arguments=1000000 ;; # of a hundred million
    *) arguments="" ;;
    esac
    # shellcheck disable=SC2086 # a list of words
    "$2" $arguments | diff "$root/examples/$1/expected.txt" - >&2 ||
        fail "examples/$1: '<' is expected.txt, '>' what was printed"
}

own_projects()
{
    for project in "$root"/examples/*/CMakeLists.txt; do
        program=$(basename "$(dirname "$project")")
        ! grep -q 'LANGUAGES.*CXX' "$project" || command -v c++ >/dev/null 2>&1 || continue
        own_project "$program" -DCMAKE_PREFIX_PATH="$stage"
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
        ${MPICC:+-DMPI_C_COMPILER="$MPICC"} "$@" >"$folder/said" 2>&1 &&
        cmake --build "$folder/$name/build" >>"$folder/said" 2>&1
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
        stranger three && "$folder/three/build/three" || fail "find_package of all libraries$kind: does not build or run"
    done
    echo 'find_package( cleave REQUIRED COMPONENTS methods cheese )' >>"$folder/three/CMakeLists.txt"
    ! stranger three ||
        fail "a component that does not exist was found"
    # shellcheck disable=SC2046 # lists of words
    $cc "$folder/three.c" -o "$folder/three/shared" $(pkg-config --cflags --libs cleave-methods cleave-physics cleave-gpu)
    LD_LIBRARY_PATH="$libdir" "$folder/three/shared"
    # shellcheck disable=SC2046
    $cc -static "$folder/three.c" -o "$folder/three/static" $(pkg-config --static --cflags --libs cleave-methods cleave-physics cleave-gpu)
    "$folder/three/static"
    echo "  methods, physics and gpu, find_package and pkg-config, static and shared"
}

# The first program of docs/mpi.md on one process, which needs no mpirun, where the library was built with an
# MPI.
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
        stranger many || fail "find_package of cleave::mpi$kind: does not build"
        "$folder/many/build/many" | diff "$folder/many.expected" - >&2
    done
    ! stranger many -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON && grep -q 'component mpi: no MPI for C' "$folder/said" ||
        fail "where there is no MPI, find_package does not say so"
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

# install.sh refuses, says why, and leaves the prefix as it was.
refuses()
{
    find "$2" | sort >"$folder/before"
    status=0
    "$root/scripts/install.sh" install "$build" "$2" >"$folder/said" 2>&1 || status=$?
    [ $status = 2 ] && grep -q "$3" "$folder/said" || fail "$1: not refused with '$3'"
    find "$2" | sort | diff "$folder/before" - >&2 || fail "$1: the prefix is not as it was"
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
    [ ! -e "$folder/shared_prefix/include/cleave/old.h" ] || fail "a second install keeps what only the first one had"
    "$root/scripts/install.sh" uninstall "$folder/shared_prefix" >/dev/null
    find "$folder/shared_prefix" | sort | diff "$folder/before" - >&2 || fail "uninstalling leaves or takes what '>' and '<' show"
    mkdir -p "$folder/shared_prefix/share/cleave"
    echo ../before >"$folder/shared_prefix/share/cleave/installed.txt"
    ! "$root/scripts/install.sh" uninstall "$folder/shared_prefix" >/dev/null 2>&1 && [ -e "$folder/before" ] ||
        fail "uninstalling follows a list that leads out of the prefix"
    echo "  removed without a trace"
}

# Installs a build into a folder of its own and uses it as a stranger would: the pages' programs and the
# examples by find_package, pkg-config, FetchContent and add_subdirectory, static and shared, and by plain cc
# over the sources; the examples' own projects too. Installing is all or nothing, and uninstalling leaves
# nothing behind. Usage: check.sh install BUILD
check_install()
{
    [ $# -ge 1 ] || misused "BUILD"
    build=$(cd "$1" && pwd)
    cc=${CC:-cc}

    stage=$folder/stage
    "$root/scripts/install.sh" install "$build" "$stage" >/dev/null
    "$root/scripts/check.sh" docs --links "$stage/share/doc/cleave"
    all_or_nothing
    removed_without_a_trace
    version=$("$root/packaging/version.sh")

    [ -s "$stage/share/doc/cleave/LICENSE" ] || fail "no licence was installed"
    echo "installed $(find "$stage" -type f | wc -l) files, version $version"
    names=""
    for page in README.md docs/hello.md docs/pairs.md docs/boxes.md docs/queries.md docs/matching.md docs/near.md docs/other-engines.md; do
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
        by_cmake find_package $target
    done
    by_pkg_config
    all_three
    if pkg-config --exists cleave-mpi; then
        over_processes
    fi
    # As Debug: whether it is found and linked is the question here, and how it is optimised
    # that of the check flags.
    debug='set( CMAKE_BUILD_TYPE Debug )'
    by_cmake FetchContent cleave::cleave "$debug"
    by_cmake add_subdirectory cleave::shared "$debug" "set( CLEAVE_SHARED ON )"
    by_plain_cc
    own_projects
    if [ -x "$stage/bin/cleave" ]; then
        "$stage/bin/cleave" --version
    fi
}

# Of one set of flags, $name.
flags_fail()
{
    echo "check.sh flags: $name: $1" >&2
    [ ! -s "$folder/$name.log" ] || grep -m 10 -E 'error|warning|undefined' "$folder/$name.log" >&2 || tail -10 "$folder/$name.log" >&2
    exit 1
}

flags_skip()
{
    echo "  $name: SKIPPED: $1"
    skipped="$skipped $name"
}

# same_answers PROGRAM: it prints what the reference does. A CPU without the instructions asked
# for ends it with SIGILL.
same_answers()
{
    status=0
    "$1" >"$folder/$name.printed" 2>&1 || status=$?
    [ $status != 132 ] || { flags_skip "compiles; this CPU cannot run it"; return; }
    diff "$folder/expected" "$folder/$name.printed" >"$folder/$name.log" ||
        { cat "$folder/$name.log" >&2; flags_fail "'<' is what the library answers, '>' what it answers under these flags"; }
    echo "  $name"
}

# project SETTINGS...: the stranger's project, configured with these.
project()
{
    cmake -S "$root/test/flags" -B "$folder/$name" -G "Unix Makefiles" "$@" >"$folder/$name.log" 2>&1 ||
        flags_fail "does not configure"
    cmake --build "$folder/$name" -j "$jobs" >>"$folder/$name.log" 2>&1 || flags_fail "does not compile"
    ! grep -q 'warning:' "$folder/$name.log" || flags_fail "warns"
    same_answers "$folder/$name/probe"
}

# plain COMPILER FLAGS...: every source on one command line, as docs/use-it.md has it.
plain()
{
    # shellcheck disable=SC2046 # a list of files
    "$@" -I"$root/include" -I"$root/src/core" -I"$root/src/methods" -I"$root/src/physics" $(find "$root/src/core" "$root/src/methods" "$root/src/physics" -name '*.c') "$root/test/flags/probe.c" -o "$folder/$name" \
        -lm -pthread >"$folder/$name.log" 2>&1 || flags_fail "does not compile"
    [ ! -s "$folder/$name.log" ] || flags_fail "warns"
    same_answers "$folder/$name"
}

# Compiled by hand with -ffast-math or a part of it, every file says what is wrong.
refuses_fast_math()
{
    for flag in -ffast-math -Ofast -ffinite-math-only; do
        # Of src/gpu no answer depends on the host's floats.
        find "$root/src/core" "$root/src/methods" "$root/src/physics" -name '*.c' | while read -r file; do
            ! ${CC:-cc} $flag -fsyntax-only -I"$root/include" -I"$root/src/core" -I"$root/src/methods" -I"$root/src/physics" "$file" >"$folder/$name.log" 2>&1 &&
                grep -q 'Cleave needs floats as IEEE 754 has them' "$folder/$name.log" ||
                flags_fail "$file compiles with $flag"
        done || exit 1
    done
    echo "  $name"
}

# `make install` builds what it installs, warnings are warnings, and the licence comes along.
install_alone()
{
    make -C "$root" BUILD="$folder/$name" PREFIX="$folder/prefix" JOBS="$jobs" install >"$folder/$name.log" 2>&1 ||
        flags_fail "make install failed"
    ! find "$folder/$name" -name 'test_*' -type f | grep -q . || flags_fail "tests were built"
    ! grep -rq --include=flags.make -- -Werror "$folder/$name" || flags_fail "warnings are errors"
    [ -s "$folder/prefix/share/doc/cleave/LICENSE" ] || flags_fail "no licence was installed"
    "$folder/prefix/bin/cleave" --version >/dev/null || flags_fail "the program does not run"
    echo "  $name"
}

has()
{
    command -v "$1" >/dev/null 2>&1 || { flags_skip "$1 is not installed"; return 1; }
}

# The compiler takes the flag, and can link with it?
takes()
{
    echo 'int main( void ) { return 0; }' >"$folder/try.c"
    "$@" "$folder/try.c" -o "$folder/try" >/dev/null 2>&1 || { flags_skip "$* cannot be had here"; return 1; }
}

# The names of all cases are the words before the parentheses here.
run_case()
{
    name=$1
    case $name in
    v4) takes "${CC:-cc}" -march=x86-64-v4 && project $release -DCMAKE_C_FLAGS=-march=x86-64-v4 ;;
    careless)
        # No build type, and everything on that the rest of the project wants.
        project -DCMAKE_UNITY_BUILD=ON -DBUILD_SHARED_LIBS=ON
        grep -q -- ' -O3' "$folder/$name/cleave/CMakeFiles/cleave_shared.dir/flags.make" || flags_fail "is not optimised"
        ldd "$folder/$name/probe" | grep -q libcleave || flags_fail "BUILD_SHARED_LIBS is on, and the program has no libcleave.so"
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
        grep -q -- ' -O3' "$folder/$name/cleave/CMakeFiles/cleave_static.dir/flags.make" || flags_fail "is not optimised"
        ;;
    shared)
        project $release -DBUILD_SHARED_LIBS=ON
        ldd "$folder/$name/probe" | grep -q libcleave || flags_fail "BUILD_SHARED_LIBS is on, and the program has no libcleave.so"
        ;;
    clang) has clang && project $release -DCMAKE_C_COMPILER=clang ;;
    clang-v4) has clang && project $release -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS=-march=x86-64-v4 ;;
    clang-fast) has clang && project -DCMAKE_C_COMPILER=clang '-DCMAKE_C_FLAGS=-Ofast -march=native' ;;
    clang-o0) has clang && project -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS=-O0 ;;
    plain) plain "${CC:-cc}" -O2 -Wall -Wextra ;;
    plain-native) takes "${CC:-cc}" -march=native && plain "${CC:-cc}" -O2 -march=native ;;
    plain-clang) has clang && plain clang -O2 -march=native -Wall -Wextra ;;
    plain-scalar) plain "${CC:-cc}" -O1 -DCLV_SCALAR_ONLY ;;
    refuses) refuses_fast_math ;;
    install) install_alone ;;
    *)
        echo "check.sh flags: there is no case $name" >&2
        exit 2
        ;;
    esac || [ "${skipped% "$name"}" != "$skipped" ] || exit 1
    rm -rf "${folder:?}/$name"
}

# Builds the library under flags that people use, most of them as a folder of a stranger's project
# (test/flags), and runs a program that must print there what it prints with BUILD's library. Usage: check.sh
# flags BUILD [CASE...] Without cases: all of them. What this machine cannot build or run is skipped by name.
check_flags()
{
    [ $# -ge 1 ] || misused "BUILD [CASE...]"
    build=$(cd "$1" && pwd)
    shift
    jobs=${JOBS:-2}
    skipped=""

    release=-DCMAKE_BUILD_TYPE=Release

    ${CC:-cc} -std=c17 -O1 -I"$root/include" "$root/test/flags/probe.c" \
        "$build/libcleave-methods.a" "$build/libcleave-physics.a" "$build/libcleave.a" -o "$folder/reference" -lm -pthread
    "$folder/reference" >"$folder/expected"
    # shellcheck disable=SC2046 # a list of words
    [ $# -gt 0 ] || set -- $(sed -n '/^run_case()/,/^}/s/^    \([a-z0-9-]*\)).*/\1/p' "$root/scripts/checks/install.sh")
    for name in "$@"; do
        run_case "$name"
    done
    echo "check.sh flags: as everywhere else under $# sets of flags${skipped:+, less$skipped}"
}

# block FENCE: the lines of the one block with that fence.
block()
{
    awk -v fence="$(printf '```%s' "$1")" '
        inside && /^```$/ { inside = 0 }
        inside { print; found = 1 }
        $0 == fence { inside = 1 }
        END { exit !found }' "$page"
}

# Follow docs/adding-a-method.md to the letter, outside the tree: install BUILD into a folder of its own,
# put the page's C file into an empty one, and run the lines of the page's sh block there. Usage:
# check.sh adding-a-method BUILD
check_adding_a_method()
{
    [ $# -ge 1 ] || misused "BUILD"
    build=$(cd "$1" && pwd)
    page=$root/docs/adding-a-method.md

    stage=$folder/stage
    mkdir "$folder/work"
    cmake --install "$build" --prefix "$stage" >"$folder/said" 2>&1 || fail "the build cannot be installed"
    PATH=$stage/bin:$PATH
    PKG_CONFIG_PATH=$(dirname "$(find "$stage" -name cleave.pc)")
    CLEAVE_CACHE=$folder/cache
    export PATH PKG_CONFIG_PATH CLEAVE_CACHE

    cd "$folder/work"
    file=$(sed -n 's/^```c \(.*\)$/\1/p' "$page")
    [ -n "$file" ] || fail "$page names no C file"
    block "c $file" >"$file"
    block sh >steps.sh
    sh -eu steps.sh >"$folder/said" 2>&1 || fail "a step of $page failed"

    # Warnings are for whoever writes one, not for the page's reader; and it is C++ too,
    # but for its initializers.
    cc -std=c17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only -I"$stage/include" "$file" 2>"$folder/said" ||
        fail "$file warns"
    name=$(sed -n 's/^    \.name = "\(.*\)",$/\1/p' "$file")
    cleave --plugin "./${file%.c}.so" methods | grep -q "^$name " || fail "cleave methods does not list $name"
    cleave methods | grep -q "^$name " && fail "cleave lists $name without the plug-in"
    ! nm -D --undefined-only "${file%.c}.so" | grep clv_ >"$folder/said" || fail "the plug-in needs a library of ours"
    echo "check.sh adding-a-method: $name is one file, needs one header, and is right"
}

# link_hello FLAG...: README's program with $library, without what it does not call.
link_hello()
{
    "${CC:-cc}" -O2 -I"$root/include" "$root/examples/hello/hello.c" "$library" -Wl,--gc-sections "$@" -lm -lpthread
}

# A program pays for what it calls: README's, which asks for pairs alone, linked with -Wl,--gc-sections has
# nothing of the query tree or its kernels, nor checkers of the default method, and is no larger than so many
# bytes. Usage: [CC=cc] check.sh link LIBRARY MOST
check_link()
{
    [ $# -ge 2 ] || misused "LIBRARY MOST"
    library=$1
    most=$2
    link_hello -o "$folder/named"
    link_hello -s -o "$folder/stripped"
    "$folder/stripped" | diff - "$root/examples/hello/expected.txt" >&2 || fail "'<' is what README's program printed"
    ! nm "$folder/named" | grep -E ' (clv_simd_queries_|clv_query_(tree_|search)|walk_|clv_rest_world_check)' >"$folder/said" ||
        fail "these came with README's program, which does not need them"
    size=$(wc -c <"$folder/stripped")
    [ "$size" -le "$most" ] || fail "README's program has $size bytes, of which $most are allowed; see nm --size-sort"
    echo "  README's program: $size bytes of at most $most"
}

# The core as one header and one source file: without a warning by every compiler that is here, README's
# program with it prints what it promises, and both are small enough to be sent; with the word mingw by that
# compiler alone, which is skipped where it is not installed. Usage: check.sh single FOLDER [mingw]
check_single()
{
    [ $# -gt 0 ] || misused "FOLDER [mingw]"
    single=$1
    if [ "${2:-}" = mingw ]; then
        need x86_64-w64-mingw32-gcc test
        set -- x86_64-w64-mingw32-gcc
    else
        set -- "${CC:-cc}" gcc clang
    fi
    size=$(cat "$single/cleave.h" "$single/cleave.c" | wc -c)
    [ "$size" -le 1200000 ] || fail "both files have $size bytes, of which 1200000 are allowed"
    sed 's|<cleave/cleave.h>|"cleave.h"|' "$root/examples/hello/hello.c" >"$folder/hello.c"
    compilers=""
    for compiler in "$@"; do
        command -v "$compiler" >/dev/null 2>&1 || continue
        place=$(readlink -f "$(command -v "$compiler")") # cc is most often one of the others
        case " $compilers " in *" $place "*) continue ;; esac
        compilers="$compilers $place"
        "$compiler" -O1 -Wall -Wextra -Werror -I"$single" "$folder/hello.c" "$single/cleave.c" -o "$folder/hello.exe" -lm -pthread \
            2>"$folder/said" || fail "$compiler cannot compile it, or warns"
        case $compiler in *mingw*) continue ;; esac # no Windows here to run it
        "$folder/hello.exe" | diff - "$root/examples/hello/expected.txt" >&2 || fail "'<' is what README's program printed, by $compiler"
    done
    "${CXX:-c++}" -fsyntax-only -x c++ -std=c++17 -Wall -Wextra -Werror -include "$single/cleave.h" /dev/null 2>"$folder/said" ||
        fail "cleave.h is no C++"
    ! grep -nE '^ *# *include *"' "$single/cleave.h" >"$folder/said" || fail "cleave.h needs these too"
    [ "$(grep -cE '^ *# *include *"' "$single/cleave.c")" = 1 ] || fail "cleave.c includes more than cleave.h"
    echo "  $size bytes, with$compilers"
}

# blocks_of PAGE: its blocks of code as $folder/blocks/N, and a line N, LINE, FENCE for each in $folder/list.
blocks_of()
{
    rm -rf "$folder/blocks" "$folder/list"
    mkdir "$folder/blocks"
    awk -v folder="$folder" '
        /^```/ && inside { inside = 0; next }
        /^```/ { inside = 1; file = folder "/blocks/" ++count; print count, FNR, substr( $0, 4 ) >( folder "/list" ); next }
        inside { print >file }' "$1"
    touch "$folder/list"
}

# snippet: $block, whose fence says that it is in $language, compiles. Whole files, which include ours by <>,
# stand as they are, fragments in a function behind test/docs/fragments.h.
snippet()
{
    set -- -Wall -Wextra -Wno-unused -Werror -fsyntax-only -I"$root/include" -I"$root/test/docs"
    case $language in
    c) set -- "${CC:-cc}" -std=c17 "$@" ;;
    cpp) set -- "${CXX:-c++}" -std=c++17 "$@" -I"$root/bindings/bullet" -I"$root/bindings/fcl" -isystem "$bullet" -isystem "$eigen" ;;
    esac
    if grep -q '^#include <' "$block"; then
        cp "$block" "$folder/snippet.$language"
    else
        {
            case $language$(grep -o 'cleave_manager' "$block" | head -n 1) in
            cppcleave_manager) echo '#include "cleave_manager.h"' ;; # FCL's alone
            cpp) printf '#include "fragments.h"\n#include "cleave_broadphase.h"\n' ;;
            *) echo '#include "fragments.h"' ;;
            esac
            echo 'void fragment( void )'
            echo '{'
            echo "#line $line \"$page\""
            sed '/^#include/d' "$block"
            echo '}'
        } >"$folder/snippet.$language"
    fi
    "$@" "$folder/snippet.$language" 2>"$folder/said" || fail "$page:$line: does not compile"
    compiled=$((compiled + 1))
}

# runs LANGUAGE PAGE LIBRARY...: the page's programs print what it says.
runs()
{
    language=$1
    page=$2
    shift 2
    programs_of "$root/$page" "$(basename "$page" .md)" "$language"
    for program in $programs; do
        case $language in c) compile="${CC:-cc} -std=c17" ;; cpp) compile="${CXX:-c++} -std=c++17" ;; esac
        $compile -I"$root/include" "$folder/$program.$language" "$@" -o "$folder/$program" -lm -pthread
        "$folder/$program" | diff "$folder/$program.expected" - >&2 || fail "'<' is what $page says, '>' what its program printed"
    done
}

# Every block of C and C++ on the pages compiles, but those marked as sketches, which are in the languages of
# engines that are not in Debian. Programs that no other check runs are run here: those of docs/physics.md,
# docs/use-it.md and report/README.md. (install runs those of the other pages, gpu-docs and mpi-docs theirs;
# Python's, Rust's and JavaScript's pages are tested by their own tools.) What needs Bullet, FCL, an MPI or
# node is left out by name where that is missing. Usage: check.sh snippets BUILD
check_snippets()
{
    [ $# -eq 1 ] || misused "BUILD"
    build=$(cd "$1" && pwd)
    cd "$root"
    bullet=/usr/include/bullet
    eigen=/usr/include/eigen3
    compiled=0
    left=""
    runs c docs/physics.md "$build/libcleave-physics.a" "$build/libcleave.a"
    runs cpp docs/use-it.md "$build/libcleave.a"
    git ls-files '*.md' 2>/dev/null >"$folder/pages" || find . -name '*.md' ! -path './build*' ! -path '*/node_modules/*' >"$folder/pages"
    while IFS= read -r page; do
        blocks_of "$page"
        while read -r number line language rest; do
            block=$folder/blocks/$number
            case "$language $rest" in
            'cpp sketch' | 'rust sketch')
                [ "$page" = docs/other-engines.md ] || fail "$page:$line: a sketch; only docs/other-engines.md has these"
                continue
                ;;
            c\ * | cpp\ *) ;;
            *) continue ;;
            esac
            if grep -q 'cleave_broadphase' "$block" && [ ! -e "$bullet/btBulletDynamicsCommon.h" ]; then
                left="$left $page:$line (libbullet-dev)"
            elif grep -q 'cleave_manager' "$block" && [ ! -e /usr/include/fcl/fcl.h ]; then
                left="$left $page:$line (libfcl-dev)"
            elif grep -q 'clv_mpi_' "$block"; then
                if command -v mpicc >/dev/null 2>&1; then
                    CC=mpicc snippet
                else
                    left="$left $page:$line (libopenmpi-dev)"
                fi
            else
                snippet
            fi
        done <"$folder/list"
    done <"$folder/pages"
    [ "$compiled" -gt 30 ] || fail "only $compiled blocks were found"
    if command -v node >/dev/null 2>&1; then
        blocks_of report/README.md
        number=$(awk '$3 == "js" { print $1; exit }' "$folder/list")
        (cd report && sed "s|'radar.svg'|'$folder/radar.svg'|" "$folder/blocks/$number" | node --input-type=module -) >"$folder/said" 2>&1 &&
            grep -q '<svg' "$folder/radar.svg" || fail "the program of report/README.md writes no picture"
    else
        left="$left report/README.md (nodejs)"
    fi
    echo "  $compiled blocks of C and C++ compile${left:+; left out:$left}"
}
