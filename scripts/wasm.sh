#!/bin/sh
# SPDX-License-Identifier: MIT
# The library as WebAssembly, and the JavaScript around it, in a folder that npm can pack.
#   wasm.sh build FOLDER          FOLDER/js from bindings/js, cleave.wasm among it
#   wasm.sh playground FOLDER [--check]
#                                 view/playground.html with a new engine, from view/engine and the lab's
#                                 scenes; or, is it the one that
#                                 is there?
#   wasm.sh test FOLDER CLEAVE LIBRARIES
#                                 its tests in node, against the program and the static
#                                 libraries in that folder
# Exit status 77, which ctest calls skipped, where emscripten or node is missing.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
action=${1:?usage: wasm.sh build|playground|test FOLDER ...}
folder=${2:?usage: wasm.sh build|playground|test FOLDER ...}
atomics="-matomics -mbulk-memory"

need()
{
    command -v "$1" >/dev/null 2>&1 || { echo "wasm.sh: skipped: no $1 here (scripts/setup.sh wasm installs it)"; exit 77; }
}

# The static libraries, as WebAssembly: in $folder/library, or with atomics in $folder/library-threads.
#   build_library FOLDER [FLAGS]
build_library()
{
    library=$1
    flags=${2:-}
    need emcc
    need node
    # Debian's emcc looks for acorn in node's modules, which node itself does not find there.
    export NODE_PATH="${NODE_PATH:-/usr/share/nodejs}"
    mkdir -p "$folder"
    emcmake cmake -S "$root" -B "$library" -DCMAKE_C_FLAGS="$flags" -DCMAKE_BUILD_TYPE=Release -DCLEAVE_LAB=OFF -DCLEAVE_TESTS=OFF \
        -DCLEAVE_FUZZ=OFF -DCLEAVE_SHARED=OFF -DCLEAVE_INSTALL=OFF -DCLEAVE_PEERS=OFF -DCLEAVE_WERROR=ON >"$folder/log" 2>&1 &&
        cmake --build "$library" -j "${JOBS:-2}" --target cleave_static cleave_methods_static cleave_physics_static >>"$folder/log" 2>&1 || {
        tail -30 "$folder/log" >&2
        exit 1
    }
}

# Without an entry and standing alone: the few functions that it asks of its host are in memory.js. emcc does
# not know them, so it may not insist on knowing all; a missing one would fail every test.
#   link_module LIBRARY OUTPUT FLAGS...
link_module()
{
    from=$1
    to=$2
    shift 2
    (cd "$root/bindings/js/src" && emcc -std=c17 -O3 -Wall -Wextra -Werror -I"$root/include" module.c questions.c points.c workers.c \
        "$from/libcleave-methods.a" "$from/libcleave.a" -sSTANDALONE_WASM --no-entry -sALLOW_MEMORY_GROWTH \
        -sERROR_ON_UNDEFINED_SYMBOLS=0 -sWARN_ON_UNDEFINED_SYMBOLS=0 -sEXPORTED_FUNCTIONS=_malloc,_free "$@" -o "$to")
}

build()
{
    build_library "$folder/library"
    build_library "$folder/library-threads" "$atomics"
    rm -rf "$folder/js"
    mkdir -p "$folder/js"
    cp -r "$root"/bindings/js/*.js "$root"/bindings/js/*.mjs "$root/bindings/js/index.d.ts" "$root/bindings/js/README.md" "$root/bindings/js/test" "$root/LICENSE" "$folder/js"
    node "$root/bindings/js/package.mjs" "${CLEAVE_REPOSITORY:-$(git -C "$root" remote get-url origin 2>/dev/null)}" >"$folder/js/package.json"
    link_module "$folder/library" "$folder/js/cleave.wasm" -sMAXIMUM_MEMORY=4GB
    # Debian's emcc has no threads in a module that stands alone, and its own need its JavaScript: so the
    # module has a shared memory and atomics alone, and threads.js makes the threads. The C library
    # beside it is the one without threads, since only the calling thread takes memory; that is why
    # features are not compared.
    link_module "$folder/library-threads" "$folder/js/cleave-threads.wasm" $atomics -sINITIAL_MEMORY=16MB -sMAXIMUM_MEMORY=2GB \
        -sIMPORTED_MEMORY -Wl,--shared-memory,--no-check-features,--export=__wasm_init_tls
    echo "wasm.sh: $folder/js: cleave.wasm of $(wc -c <"$folder/js/cleave.wasm") bytes, cleave-threads.wasm of" \
        "$(wc -c <"$folder/js/cleave-threads.wasm"), $(cd "$folder/js" && echo *.js), index.d.ts, README.md"
}

# With the scenes of the lab in it, and what the viewer draws of trees and cells.
build_playground()
{
    build_library "$folder/library"
    cd "$root" # paths in the module are relative, so that it is the same wherever it is made
    # Without assertions, as the libraries are: a failing one would print, and the module
    # has nothing to print to.
    emcc -std=c17 -O3 -DNDEBUG -ffp-contract=off -msimd128 -msse2 -Wall -Wextra -Werror -I. -Iinclude -Isrc/core -Isrc/methods -Isrc/physics -Isrc/kdop \
        view/engine/playground.c src/kdop/dop.c src/kdop/obb.c src/kdop/principal_axis.c src/kdop/volume_sweep.c src/kdop/soft_match.c src/kdop/shape_sim.c \
        lab/scene/body.c lab/scene/recipe.c lab/scene/recipe_text.c lab/scene/tower.c lab/base/random.c lab/base/text.c lab/base/bytes.c \
        lab/view/view_overlay.c "$folder/library/libcleave-physics.a" "$folder/library/libcleave-methods.a" \
        "$folder/library/libcleave.a" -sSTANDALONE_WASM --no-entry -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=2GB \
        -sEXPORTED_FUNCTIONS=_malloc,_free -o "$folder/playground.wasm"
    [ -d report/node_modules/esbuild ] || { echo "wasm.sh: skipped: report/node_modules is not there (scripts/setup.sh report installs it)"; exit 77; }
    ENGINE_COMPILER=$(emcc --version | sed -n '1s/.*) \([0-9.]*\).*/\1/p') node view/build.mjs "$folder/playground.wasm" ${3:+"$3"}
}

run_tests()
{
    cleave=${3:?usage: wasm.sh test FOLDER CLEAVE LIBRARIES}
    libraries=${4:?usage: wasm.sh test FOLDER CLEAVE LIBRARIES}
    build
    "${CC:-cc}" -std=c17 -O2 -I"$root/include" "$root/bindings/js/test/native.c" "$libraries/libcleave-methods.a" \
        "$libraries/libcleave.a" -lm -lpthread -o "$folder/native"
    # page.test.mjs opens Chromium with the driver of report/, and is skipped where one of them is missing.
    cd "$folder/js"
    CLEAVE=$cleave NATIVE=$folder/native DRIVER=$root/report/package.json GUIDE=$root/docs/guide.md node --test test/*.test.mjs
}

case $action in
build) build ;;
playground) build_playground "$@" ;;
test) run_tests "$@" ;;
*) echo "wasm.sh: build, playground or test, not '$action'" >&2; exit 2 ;;
esac
