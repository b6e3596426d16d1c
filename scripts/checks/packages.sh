# shellcheck shell=bash disable=SC2154,SC2164 # check.sh sets root and folder, and set -e
# SPDX-License-Identifier: MIT
# What is handed out: for scripts/check.sh.

# One version everywhere; and the check notices a copy that differs, as does `set` all of
# them. Usage: check.sh version
check_version()
{
    "$root/packaging/version.sh" check || fail "the copies of the version differ"
    "$root/packaging/version.sh" copies | sort -u >"$folder/copies"
    mkdir "$folder/tree"
    while IFS= read -r file; do
        mkdir -p "$folder/tree/$(dirname "$file")"
        cp "$root/$file" "$folder/tree/$file"
    done <"$folder/copies"
    cd "$folder/tree"
    mkdir -p packaging
    cp "$root/packaging/version.sh" packaging/
    packaging/version.sh set 7.8.9 >/dev/null
    [ "$(packaging/version.sh)" = 7.8.9 ] || fail "version.sh set 7.8.9 wrote $(packaging/version.sh)"
    sed -i 's/^## [0-9.]*/## 7.8.9/' CHANGELOG.md
    expect 1 "packaging/debian/changelog says '$("$root/packaging/version.sh")' and not 7.8.9" packaging/version.sh check
    sed -i 's/^cleave ([0-9.]*-/cleave (7.8.9-/' packaging/debian/changelog
    expect 0 "7.8.9 everywhere" packaging/version.sh check
    expect 2 "usage" packaging/version.sh set 7.8
    echo "check.sh version: $(wc -l <"$folder/copies") files say $("$root/packaging/version.sh")"
}

# The interface of the libraries as they were built, beside that of the last release: what is missing, changed
# or new is written down. And the comparison notices each of these where it is not. Usage: check.sh interface
# compare|new|release LIBRARY=HEADER,... -- COMPILER FLAG... `new` writes packaging/interface/new.txt,
# `release` the list of a release.
check_interface()
{
    [ $# -ge 4 ] || misused "compare|new|release LIBRARY=HEADER,... -- COMPILER FLAG..."
    need python3 single
    what=$1
    shift
    status=0
    python3 -B "$root/packaging/interface.py" list "$root/include/cleave" "$@" >"$folder/list" || status=$?
    [ $status = 0 ] || exit $status
    python3 -B "$root/packaging/interface.py" "$what" "$folder/list" || fail "what the libraries have is not what was written down"
    [ "$what" = compare ] || return 0
    sed '/^function clv_space_add /d' "$folder/list" >"$folder/changed"
    expect 1 "function clv_space_add is missing" python3 -B "$root/packaging/interface.py" compare "$folder/changed"
    sed 's/^member clv_pair.b 4 4 /member clv_pair.b 8 4 /' "$folder/list" >"$folder/changed"
    expect 1 "member clv_pair.b is now 8 4 uint32_t; " python3 -B "$root/packaging/interface.py" compare "$folder/changed"
    sed 's/^default clv_space_def.worker_count .*/default clv_space_def.worker_count 2/' "$folder/list" >"$folder/changed"
    expect 1 "default clv_space_def.worker_count is now 2; " python3 -B "$root/packaging/interface.py" compare "$folder/changed"
    { cat "$folder/list" && echo "function clv_unheard_of cleave: void ( void )"; } >"$folder/changed"
    expect 1 "clv_unheard_of is new and not in packaging/interface/new.txt" python3 -B "$root/packaging/interface.py" compare "$folder/changed"
    expect 1 "clv_unheard_of has no line 'Since" python3 -B "$root/packaging/interface.py" compare "$folder/changed"
}

# `make dist`: the same bytes twice, sums that hold, and README's program from the unpacked tarball and from
# the two files. Usage: check.sh dist SINGLE, the folder of `make single`
check_dist()
{
    [ $# -eq 1 ] || misused "SINGLE"
    git -C "$root" -c safe.directory='*' rev-parse HEAD >/dev/null 2>&1 || skip "this is not a clone"
    single=$(cd "$1" && pwd)
    version=$("$root/packaging/version.sh")
    "$root/packaging/dist.sh" "$single" "$folder/dist" >/dev/null
    # Another time, another mask for new files: the same bytes.
    (umask 077 && "$root/packaging/dist.sh" "$single" "$folder/again" >/dev/null)
    diff "$folder/dist/SHA256SUMS" "$folder/again/SHA256SUMS" >&2 || fail "two runs gave different files"
    (cd "$folder/dist" && sha256sum -c --quiet SHA256SUMS) || fail "SHA256SUMS does not hold"
    tar -xf "$folder/dist/cleave-$version.tar.gz" -C "$folder"
    cd "$folder/cleave-$version"
    find . -type f -o -type l | wc -l >"$folder/unpacked"
    git -C "$root" -c safe.directory='*' ls-files | wc -l | diff - "$folder/unpacked" >&2 || fail "the tarball has not the files that git tracks"
    { cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCLEAVE_LAB=OFF -DCLEAVE_TESTS=OFF -DCLEAVE_FUZZ=OFF -DCLEAVE_SHARED=OFF -DCLEAVE_MPI=OFF &&
        cmake --build build -j 2 --target cleave_static; } >"$folder/said" 2>&1 || fail "the unpacked tarball does not build"
    cp examples/hello/hello.c .
    compile=$(sed -n 's/.*`\(cc [^`]*\)`.*/\1/p' README.md | head -n 1)
    sh -c "$compile" || fail "README's program does not compile against the unpacked tarball"
    ./hello | diff examples/hello/expected.txt - >&2 || fail "'<' is what README's program prints, '>' what it printed"
    # Where git itself is missing a clone still has its folder.
    rm hello hello.c
    mkdir .git
    echo x >.git/config
    SOURCE_DATE_EPOCH=1 packaging/dist.sh "$single" "$folder/third" >/dev/null || fail "the unpacked tarball makes no tarball"
    tar -tf "$folder/third/cleave-$version.tar.gz" | wc -l | diff - "$folder/unpacked" >&2 || fail "that tarball has other files"
    echo "check.sh dist: $(wc -c <"$folder/dist/cleave-$version.tar.gz") bytes, the same twice; README's program runs"
}

# `make site`: it is built, every address and anchor on it leads somewhere, and the check of that notices what
# does not. The program on its first page is README's, and so are its figures. Usage: check.sh site
check_site()
{
    need python3 single
    cd "$root"
    python3 -B site/build.py "$folder/site" >"$folder/said" 2>&1 || fail "make site failed"
    expect 0 " 0 of them wrong" python3 -B site/build.py --check "$folder/site"
    cat "$folder/said"
    for text in 'view/playground.html' '0 touches 1' 'docs/guide.html#python'; do
        grep -qF "$text" "$folder/site/index.html" || fail "the first page does not have $text"
    done
    awk '/^```c$/ { inside = 1; next } inside && /^```/ { exit } inside' README.md >"$folder/readme.c"
    awk '/^```c$/ { inside = 1; next } inside && /^```/ { exit } inside' site/front.md | cmp -s - "$folder/readme.c" ||
        fail "the program of site/front.md is not README's"
    figures=$(awk -F ' *\\| *' '/^\| `cleave`, the default/ { printf "%s ms, beside ", $5 } /^\| Embree/ { print $5 }' README.md)
    grep -qF "$figures (Embree)" "$folder/site/index.html" || fail "the first page does not have README's figures: $figures"
    # Every function of the headers is in the reference, and so in the search.
    sed -n 's/^CLV_API.*[ *]\(clv_[a-z0-9_]*\)(.*/\1/p' include/cleave/*.h | sort -u >"$folder/functions"
    while IFS= read -r name; do
        grep -qF "\"$name\"" "$folder/site/search.json.js" || fail "the reference does not have $name"
    done <"$folder/functions"
    [ "$(wc -l <"$folder/functions")" -gt 100 ] || fail "the headers declare too few functions to be true"
    rm "$folder/site/docs/hello.html"
    expect 1 "docs/hello.html is not there" python3 -B site/build.py --check "$folder/site"
    echo '<p><a href="#nowhere">x</a><img src="https://example.org/x.png"></p>' >>"$folder/site/pages.html"
    expect 1 "nothing there is #nowhere" python3 -B site/build.py --check "$folder/site"
    expect 1 "pages.html: fetches https://example.org/x.png" python3 -B site/build.py --check "$folder/site"
}

# The texts that other tools read: valid as far as can be seen without the tools. Usage: check.sh recipes
check_recipes()
{
    need python3 single
    cd "$root"
    python3 -m json.tool packaging/vcpkg/vcpkg.json >"$folder/said" || fail "vcpkg.json is no JSON"
    python3 -c 'import ast, sys; ast.parse( open( sys.argv[1] ).read() )' packaging/conan/conanfile.py || fail "conanfile.py is no Python"
    # Settings that CMakeLists.txt does not have would be ignored.
    grep -ohE '\-DCLEAVE_[A-Z]+' packaging/vcpkg/portfile.cmake packaging/debian/rules | sort -u | sed 's/-D//' >"$folder/settings"
    while IFS= read -r setting; do
        grep -qE "(option|set)\( $setting " CMakeLists.txt cmake/*.cmake || fail "there is no setting $setting"
    done <"$folder/settings"
    # The commands of the workflows are targets.
    make -pnq help 2>/dev/null | sed -n 's/^\.PHONY: //p' | tr ' ' '\n' >"$folder/targets"
    sed -n 's/.*run: \.\/run \([a-z-]*\).*/\1/p' .github/workflows/*.yml | sort -u >"$folder/called"
    [ -s "$folder/called" ] || fail "the workflows call no target"
    while IFS= read -r target; do
        grep -qx -- "$target" "$folder/targets" || fail "a workflow calls ./run $target, which is no target"
    done <"$folder/called"
    echo "check.sh recipes: $(paste -sd ' ' "$folder/called")"
}

# find_python: $python, the first of these that has numpy and its own headers, which the package
# is built and tested with.
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

# The package with a build's library: its wheel, the tests on it, and the tour of examples/. With the word
# `address`, as its sanitizer sees it. With `sdist`, the same from a source package that is unpacked
# elsewhere and compiled by itself. With `types`, its type hints instead of the tests: mypy finds nothing to
# say about them, and stubtest no difference between _cleave.pyi and the compiled module. Usage: check.sh
# python BUILD [address|sdist|types]
check_python()
{
    [ $# -ge 1 ] || misused "BUILD [address|sdist|types]"
    build=$(cd "$1" && pwd)
    if [ "${2:-}" = types ]; then
        need mypy test
        need stubtest test
        PYTHON=$(sed -n '1s/^#! *//p' "$(command -v mypy)") # it looks at the numpy of its own Python
    fi
    find_python
    warnings="-Wpedantic -Wshadow -Wconversion -Werror"
    mkdir "$folder/dist"
    backend=$root/bindings/python/backend.py
    export CLEAVE_LIBRARY=$build/libcleave.a CFLAGS="$warnings"
    before=""
    case ${2:-} in
    address)
        CFLAGS="$warnings -fsanitize=address"
        # The program is not ours: the sanitizer's library comes first by force, and Python's own
        # leaks are not ours to tell.
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
    if [ "${2:-}" = types ]; then
        cd "$folder/site"
        mypy --strict --cache-dir "$folder/cache" cleave >"$folder/said" 2>&1 || fail "mypy --strict"
        PYTHONPATH=$folder/site stubtest cleave._cleave >"$folder/said" 2>&1 || fail "stubtest: _cleave.pyi is not what the module has"
        echo "the hints hold by $(mypy --version)"
        return
    fi
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
