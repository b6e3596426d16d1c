# shellcheck shell=bash disable=SC2154,SC2164 # check.sh sets root and folder, and set -e
# SPDX-License-Identifier: MIT
# Rules of the source and of what is built from it: for scripts/check.sh.

# Do includes point one way? Reads the order of the folders from src/LAYERS and fails where an #include "…"
# points against it, where a folder is not in it or it names one that is not there, and where src/README.md or
# lab/README.md shows another order. Usage: check.sh layers [ROOT]
check_layers()
{
    cd "${1:-$root}"
    [ -r src/LAYERS ] || { echo "check.sh layers: src/LAYERS: cannot be read" >&2; exit 2; }

    find include src lab peers -name build -prune -o -type f \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.def' -o -name '*.inc' \) -print |
        sort >"$folder/files"
    # FILE:LINE:PATH, for each include in quotation marks.
    xargs grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' /dev/null <"$folder/files" |
        sed -E 's/^([^:]*:[0-9]+:).*include[[:space:]]*"([^"]*)".*/\1\2/' >"$folder/includes"

    awk -v files="$folder/files" -v includes="$folder/includes" '
    function wrong( text ) { print "check.sh layers: " text; wrong_count += 1 }

    # The folder a file lies in, as LIBRARY/FOLDER; LIBRARY/ for a file beside the folders;
    # "" if it is of no library.
    function home_of( file,    name, rest )
    {
        if ( file ~ /^include\// )
            return "include/"
        for ( name in place )
        {
            if ( index( file, place[name] "/" ) == 1 )
            {
                rest = substr( file, length( place[name] ) + 2 )
                return name "/" ( rest ~ /\// ? substr( rest, 1, index( rest, "/" ) - 1 ) : "" )
            }
        }
        return ""
    }

    # The file that an include line means: as written below a folder that includes start from, or
    # beside the including file.
    function target_of( from, path,    i, beside, found )
    {
        beside = from
        sub( /[^\/]*$/, "", beside )
        if ( ( beside path ) in is_file )
            return beside path
        found = path in is_file ? path : ""
        for ( i = 1; i <= start_count; ++i )
        {
            if ( ( starts[i] path ) in is_file )
            {
                if ( found != "" )
                    wrong( path " may mean " found " or " starts[i] path "; give one of them another name" )
                found = starts[i] path
            }
        }
        return found
    }

    function library_of( home ) { return substr( home, 1, index( home, "/" ) - 1 ) }

    function check( where, from, to,    a, b )
    {
        a = library_of( from )
        b = library_of( to )
        if ( from == to || b == "include" )
            return
        if ( a == "include" )
            wrong( where ": a public header includes what is not public" )
        else if ( a == b ? ( rank[to] <= rank[from] || from == a "/" ) && to != b "/" : ( a, b ) in stands_on )
            return
        else if ( ( from, to ) in except )
            used[from, to] = 1
        else if ( a == b )
            wrong( where ": " from " may not include " to ", which comes after it in src/LAYERS" )
        else
            wrong( where ": " from " may not include " to ": " a " does not stand on " b )
    }

    # The order that a page shows: NAME/ at the margin of a block, its folders indented below.
    function check_page( page, names,    line, library, shown, expected, i )
    {
        library = ""
        shown = ""
        while ( ( getline line < page ) > 0 )
        {
            if ( line ~ /^[a-z]+\/$/ )
                library = substr( line, 1, length( line ) - 1 )
            else if ( line !~ /^ +[a-z_]+\/ / )
                library = line ~ /^ / ? library : ""
            else if ( library != "" )
            {
                sub( /^ +/, "", line )
                sub( /\/.*/, "", line )
                shown = shown " " library "/" line
            }
        }
        close( page )
        expected = ""
        for ( i = 1; i <= folder_count; ++i )
            if ( index( names, " " library_of( folders[i] ) " " ) > 0 )
                expected = expected " " folders[i]
        if ( shown != expected )
            wrong( page " shows another order than src/LAYERS:\n  page:  " shown "\n  LAYERS:" expected )
    }

    /^[ \t]*(#|$)/ { next }
    $1 == "except" { except[$2, $3] = FNR; next }
    /^[^ \t]/ {
        library = $1
        place[library] = $2
        sub( /:$/, "", place[library] )
        for ( i = 3; i <= NF; ++i )
        {
            if ( !( $i in place ) )
                wrong( "src/LAYERS:" FNR ": " library " stands on " $i ", which is not above it" )
            stands_on[library, $i] = 1
        }
        next
    }
    {
        folders[++folder_count] = library "/" $1
        rank[library "/" $1] = folder_count
    }

    END {
        starts[++start_count] = "include/"
        starts[++start_count] = "src/core/"
        starts[++start_count] = "src/methods/"
        starts[++start_count] = "src/physics/"
        starts[++start_count] = "src/gpu/"
        starts[++start_count] = "src/mpi/"
        starts[++start_count] = "src/kdop/"
        while ( ( getline file < files ) > 0 )
        {
            is_file[file] = 1
            home = home_of( file )
            if ( home == "" )
                wrong( file ": lies in no library of src/LAYERS" )
            else if ( home !~ /\/$/ && !( home in rank ) && !( home in is_told ) )
            {
                wrong( home ": this folder is not in src/LAYERS" )
                is_told[home] = 1
            }
            is_inhabited[home] = 1
        }
        for ( i = 1; i <= folder_count; ++i )
            if ( !( folders[i] in is_inhabited ) )
                wrong( "src/LAYERS names " folders[i] ", and there is no such folder" )

        while ( ( getline line < includes ) > 0 )
        {
            split( line, part, ":" )
            target = target_of( part[1], part[3] )
            include_count += 1
            if ( target != "" ) # others are made by the build or come with the system
                check( part[1] ":" part[2], home_of( part[1] ), home_of( target ) )
        }
        check_page( "src/README.md", " core methods physics " )
        check_page( "lab/README.md", " lab " )
        for ( pair in except )
            if ( !( pair in used ) )
            {
                split( pair, ends, SUBSEP )
                print "check.sh layers: warning: src/LAYERS:" except[pair] ": " ends[1] " no longer includes " ends[2] "; delete the exception"
            }
        if ( wrong_count > 0 )
            exit 1
        print "check.sh layers: " include_count " includes point one way through " folder_count " folders"
    }' src/LAYERS >"$folder/said" || { cat "$folder/said" >&2; exit 1; }
    cat "$folder/said"
}

# Has every comment that is alone on its line at most 110 columns? Those behind code and examples of Rust's
# are not looked at. Usage: check.sh comments [ROOT]
check_comments()
{
    cd "${1:-$root}"
    export LC_ALL=C.UTF-8 # columns, not bytes
    find . \( -name .git -o -name 'build*' -o -name node_modules -o -name extern -o -path ./bench/results \) -prune -o -type f \
        \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.hpp' -o -name '*.cl' -o -name '*.def' -o -name '*.inc' -o -name '*.js' -o -name '*.mjs' \
        -o -name '*.ts' -o -name '*.rs' -o -name '*.py' -o -name '*.pyi' -o -name '*.sh' -o -name '*.cmake' -o -name '*.toml' -o -name '*.yml' \
        -o -name CMakeLists.txt -o -name Makefile -o -name LAYERS -o -name run -o -name '.clang-*' \) -print | sort >"$folder/files"
    xargs grep -nE '^.{111,}$' /dev/null <"$folder/files" |
        grep -E '^[^:]*:[0-9]+:[[:space:]]*(//|/\*|\* |# |#: )' |
        grep -vE ':[0-9]+:[[:space:]]*//!.*[;{}],?$|shellcheck |cppcheck-suppress' >"$folder/said" || true
    [ ! -s "$folder/said" ] || fail "$(wc -l <"$folder/said") comments have more than 110 columns; the above are the last of them"
    echo "check.sh comments: none of $(wc -l <"$folder/files") files has a comment of more than 110 columns"
}

# Every global symbol of the libraries begins with clv_: in a static library whatever a linker can see, since
# it shares one namespace with other people's code; in a shared one whatever it exports. What no public header
# declares begins with clv_ and the folder of its file, so that a name says where to look. Usage: [NM=nm]
# check.sh symbols LIBRARY...
check_symbols()
{
    [ $# -gt 0 ] || misused "LIBRARY..."
    status=0

    # A file's name is unique in the tree, so a member of a library has one folder.
    find "$root/src" -name '*.c' | sed 's|.*/\([^/]*\)/\([^/]*\)$|\2 \1|' >"$folder/places"
    cat "$root"/include/cleave/*.h | grep -o 'clv_[a-z0-9_]*' | sort -u >"$folder/public"

    for library in "$@"; do
        # MEMBER SYMBOL, the member being the file that it was compiled from; shared libraries have none.
        case $library in
        *.a) "${NM:-nm}" -A -g --defined-only "$library" | awk 'NF == 3 { split( $1, part, ":" ); print part[2], $3 }' ;;
        *) "${NM:-nm}" -D --defined-only "$library" | awk 'NF == 3 { print "-", $3 }' ;;
        esac | sed 's/@.*//; s/\.o / /; s/\.obj / /' |
            # What compilers and sanitizers add is not ours.
            grep -v -E ' (__asan|__ubsan|__tsan|__msan|__sanitizer|__odr_asan|__start_|__stop_|_init$|_fini$)' |
            sort -u >"$folder/all"
        awk -v places="$folder/places" -v public="$folder/public" '
            BEGIN {
                while ( ( getline line <places ) > 0 ) { split( line, word, " " ); place[word[1]] = word[2] }
                while ( ( getline line <public ) > 0 ) { known[line] = 1 }
            }
            $2 !~ /^clv_/ { print $2 " (" $1 ") does not begin with clv_"; next }
            $1 != "-" && !( $2 in known ) && index( $2, "clv_" place[$1] "_" ) != 1 {
                print $2 " (" place[$1] "/" $1 ") does not begin with clv_" place[$1] "_"
            }' "$folder/all" >"$folder/wrong"
        total=$(wc -l <"$folder/all")
        [ "$total" -gt 0 ] || fail "$library has no symbols"
        if [ -s "$folder/wrong" ]; then
            echo "check.sh symbols: $library: $(wc -l <"$folder/wrong") of $total global symbols are misnamed:" >&2
            head -10 "$folder/wrong" | sed 's/^/    /' >&2
            status=1
        else
            echo "  $(basename "$library"): $total global symbols, all clv_ and their folder"
        fi
    done
    exit $status
}

# A shared library exports the functions its headers declare and nothing else. Usage: check.sh exports LIBRARY
# HEADER... Headers by name, as they lie in include/cleave: "space types".
check_exports()
{
    [ $# -ge 1 ] || misused "LIBRARY HEADER..."
    library=$1
    shift

    nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' |
        grep -v -E '^(__asan|__ubsan|__tsan|__msan|__sanitizer|__start_|__stop_|_init$|_fini$)' |
        sort >"$folder/exported"
    # A declaration may take several lines: join them, then cut at each semicolon.
    for header in "$@"; do
        cat "$root/include/cleave/$header.h"
    done | grep -v '^#' | tr '\n' ' ' | tr ';' '\n' |
        sed -n 's/.*CLV_API[^(]*[ *]\(clv_[a-z0-9_]*\)(.*/\1/p' | sort -u >"$folder/declared"
    diff "$folder/declared" "$folder/exported" >"$folder/said" ||
        fail "$library: '<' is declared and not exported, '>' the other way round"
    soname=$(readelf -d "$library" 2>/dev/null | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
    echo "$(wc -l <"$folder/exported") functions exported, all declared, all clv_; soname $soname"
}

# A library's files compile as one translation unit, without a warning, with every compiler that is here, one
# for Windows too: no two of its files have a private function, type or constant of one name, nor one that
# Windows' headers take. The files for one instruction set stay units of their own, since each switches the
# compiler to it. Usage: check.sh one-unit FILE...
check_one_unit()
{
    [ $# -gt 0 ] || misused "FILE..."
    for file in "$@"; do
        case $file in
        *_sse2.c | *_avx2.c | *_avx512.c | *_neon.c) ;;
        *) echo "#include \"$root/$file\"" ;;
        esac
    done >"$folder/unit.c"
    count=$(wc -l <"$folder/unit.c")
    [ "$count" -gt 1 ] || misused "FILE...: $count files are no unit"

    compilers=""
    for compiler in "${CC:-cc}" gcc clang x86_64-w64-mingw32-gcc; do
        command -v "$compiler" >/dev/null 2>&1 || continue
        # cc is most often one of the others.
        place=$(readlink -f "$(command -v "$compiler")")
        case " $compilers " in *" $place "*) continue ;; esac
        compilers="$compilers $place"
        for level in -O0 "-fsyntax-only -DNDEBUG"; do
            # shellcheck disable=SC2086 # two flags
            "$compiler" -std=c17 $level -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
                -Wmissing-prototypes -Werror -I"$root/include" -I"$root/src/core" -I"$root/src/methods" -I"$root/src/physics" \
                -c "$folder/unit.c" -o "$folder/unit.o" 2>"$folder/log" || {
                grep -m 10 -E 'error' "$folder/log" | sed "s|$root/||g; s/^/    /" >"$folder/said" || cp "$folder/log" "$folder/said"
                fail "$compiler $level: $count files do not compile as one"
            }
        done
    done
    [ -n "$compilers" ] || { echo "check.sh one-unit: no compiler is here; set CC" >&2; exit 2; }
    echo "$count files in one unit, with$compilers"
}

# configure FOLDER FLAG...
configure()
{
    into=$folder/$1
    shift
    cmake -S "$root" -B "$into" -DCLEAVE_PEERS=OFF -DCLEAVE_FUZZ=OFF "$@" >"$folder/said" 2>&1
}

tests_of()
{
    ctest --test-dir "$folder/$1" -N | sed -n 's/^Total Tests: //p'
}

# What only the tests need is not needed to configure the rest, a build that insists on them says what is
# missing, and one folder can be switched between the two. Usage: check.sh configure
check_configure()
{
    cd "$root"

    # What a machine without cmocka finds: nothing, where it would lie.
    hidden="-DCMOCKA_INCLUDE=CMOCKA_INCLUDE-NOTFOUND -DCMOCKA_LIBRARY=CMOCKA_LIBRARY-NOTFOUND -DCMAKE_FIND_LIBRARY_PREFIXES=hidden
        -DCMAKE_IGNORE_PATH=$(printf '%s;' /usr/include /usr/local/include)"

    # shellcheck disable=SC2086 # several words
    configure without $hidden || fail "without cmocka the program cannot be configured"
    grep -q 'cmocka not found.*left out' "$folder/said" || fail "without cmocka nothing says that the tests are left out"
    # shellcheck disable=SC2086
    ! configure without $hidden -DCLEAVE_TESTS=ON || fail "tests that were asked for are left out without an error"
    grep -q 'libcmocka-dev' "$folder/said" || fail "the error does not name the package that is missing"

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
    echo "check.sh configure: configures with and without what the tests need, to and fro"
}

# cleave.hpp and the C headers below it, with the warnings that C++ programs turn on, by every C++ compiler
# here and by the standards that differ for it; then the program of docs/use-it.md, which prints what the page
# says, and each C++ example. Usage: check.sh cpp LIBRARY
check_cpp()
{
    [ $# -eq 1 ] || misused "LIBRARY"
    printf '#include <cleave/%s>\n' cleave.hpp gpu.h methods.h physics.h method.h >"$folder/headers.cpp"
    awk '/^```cpp$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/docs/use-it.md" >"$folder/page.cpp"
    sed -n 's/^prints `\(.*\)` in C++.*/\1/p' "$root/docs/use-it.md" >"$folder/page.expected"
    cp "$root/examples/sight/sight.cpp" "$folder/sight.cpp"
    cp "$root/examples/sight/expected.txt" "$folder/sight.expected"
    compilers=""
    for compiler in g++ clang++; do
        ! command -v $compiler >/dev/null 2>&1 || compilers="$compilers $compiler"
    done
    [ -n "$compilers" ] || skip "neither g++ nor clang++ is installed"
    warnings="-Wall -Wextra -Wpedantic -Wold-style-cast -Wconversion -Wsign-conversion -Wshadow -Werror"
    for compiler in $compilers; do
        for standard in 17 20; do
            # shellcheck disable=SC2086 # lists of words
            $compiler -std=c++$standard $warnings -I"$root/include" -fsyntax-only "$folder/headers.cpp" "$root/test/cpp/test_cpp.cpp" ||
                fail "$compiler -std=c++$standard warns"
        done
        for program in page sight; do
            [ -s "$folder/$program.expected" ] || fail "docs/use-it.md does not say what its program prints"
            # shellcheck disable=SC2086
            $compiler -std=c++17 $warnings -I"$root/include" "$folder/$program.cpp" -o "$folder/$program" "$1" -lm -pthread ||
                fail "$compiler does not compile the program $program"
            "$folder/$program" | diff "$folder/$program.expected" - >&2 ||
                fail "$program: '<' is what is said, '>' what was printed"
        done
    done
    echo "cleave.hpp: no warning from$compilers, and its programs print what is said"
}
