#!/bin/sh
# SPDX-License-Identifier: MIT
# The library as WebAssembly, and the JavaScript around it, in a folder that npm can pack.
#   wasm.sh build FOLDER          FOLDER/js from bindings/js, cleave.wasm among it
#   wasm.sh playground FOLDER [--check]
#                                 view/playground.html with a new engine, from view/engine and the lab's scenes; or, is it the one that
#                                 is there?
#   wasm.sh test FOLDER CLEAVE LIBRARIES
#                                 its tests in node, against the program and the static libraries in that folder
# Exit status 77, which ctest calls skipped, where emscripten or node is missing.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
action=${1:?usage: wasm.sh build|playground|test FOLDER ...}
folder=${2:?usage: wasm.sh build|playground|test FOLDER ...}

need()
{
    command -v "$1" >/dev/null 2>&1 || { echo "wasm.sh: skipped: no $1 here (scripts/setup.sh wasm installs it)"; exit 77; }
}

# The static libraries, as WebAssembly.
build_library()
{
    need emcc
    need node
    # Debian's emcc looks for acorn in node's modules, which node itself does not find there.
    export NODE_PATH="${NODE_PATH:-/usr/share/nodejs}"
    mkdir -p "$folder"
    emcmake cmake -S "$root" -B "$folder/library" -DCMAKE_BUILD_TYPE=Release -DCLEAVE_LAB=OFF -DCLEAVE_TESTS=OFF \
        -DCLEAVE_FUZZ=OFF -DCLEAVE_SHARED=OFF -DCLEAVE_INSTALL=OFF -DCLEAVE_PEERS=OFF -DCLEAVE_WERROR=ON >"$folder/log" 2>&1 &&
        cmake --build "$folder/library" -j "${JOBS:-2}" --target cleave_static cleave_methods_static cleave_physics_static >>"$folder/log" 2>&1 || {
        tail -30 "$folder/log" >&2
        exit 1
    }
}

build()
{
    build_library
    rm -rf "$folder/js"
    mkdir -p "$folder/js"
    cp -r "$root/bindings/js/index.js" "$root/bindings/js/index.d.ts" "$root/bindings/js/package.json" \
        "$root/bindings/js/README.md" "$root/bindings/js/test" "$root/LICENSE" "$folder/js"
    # Without an entry and standing alone: four functions of the host are all that it asks for, and index.js has them.
    emcc -std=c17 -O3 -Wall -Wextra -Werror -I"$root/include" "$root/bindings/js/src/module.c" \
        "$folder/library/libcleave-methods.a" "$folder/library/libcleave.a" -sSTANDALONE_WASM --no-entry \
        -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sEXPORTED_FUNCTIONS=_malloc,_free -o "$folder/js/cleave.wasm"
    echo "wasm.sh: $folder/js: cleave.wasm of $(wc -c <"$folder/js/cleave.wasm") bytes, index.js, index.d.ts, README.md"
}

# With the scenes of the lab in it, and what the viewer draws of trees and cells.
build_playground()
{
    build_library
    cd "$root" # paths in the module are relative, so that it is the same wherever it is made
    emcc -std=c17 -O3 -ffp-contract=off -msimd128 -msse2 -Wall -Wextra -Werror -I. -Iinclude -Isrc/core -Isrc/methods -Isrc/physics -Isrc/kdop \
        view/engine/playground.c src/kdop/dop.c src/kdop/obb.c src/kdop/principal_axis.c src/kdop/volume_sweep.c src/kdop/soft_match.c src/kdop/shape_sim.c lab/scene/body.c lab/scene/recipe.c \
        lab/scene/tower.c lab/base/random.c lab/base/text.c lab/base/bytes.c \
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
    cd "$folder/js"
    CLEAVE=$cleave NATIVE=$folder/native node --test test/
}

case $action in
build) build ;;
playground) build_playground "$@" ;;
test) run_tests "$@" ;;
*) echo "wasm.sh: build, playground or test, not '$action'" >&2; exit 2 ;;
esac
