#!/bin/sh
# SPDX-License-Identifier: MIT
# A fault is planted by hand in a copy of the engine, found by `cleave verify`, written as a recording, shrunk and turned into a failing
# C program, by commands alone; without the fault the same program is fine. docs/replay.md tells it with what it prints.
# Usage: story.sh [FOLDER]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$root/build/story}
jobs=${JOBS:-2}
rm -rf "$folder/source"
mkdir -p "$folder/source"
(cd "$root" && git ls-files -z | xargs -0 cp --parents -t "$folder/source" 2>/dev/null) || true

fail()
{
    echo "story.sh: $*" >&2
    exit 1
}

# build: the program and the library, from the copy.
build()
{
    cmake -S "$folder/source" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" -DCLEAVE_PEERS=OFF \
        -DCLEAVE_SHARED=OFF -DCLEAVE_INSTALL=OFF -DCLEAVE_WERROR=OFF -DCLEAVE_TESTS=OFF >"$folder/log" 2>&1 &&
        cmake --build "$folder/build" -j "$jobs" --target cleave >"$folder/log" 2>&1 || {
        tail -20 "$folder/log" >&2
        fail "the copy does not build"
    }
}

# compile: the C program against the public headers and the library.
compile()
{
    "${CC:-cc}" -I "$folder/source/include" "$folder/small.c" "$folder/build/libcleave.a" -lm -pthread -o "$folder/small" ||
        fail "the C program does not compile"
}

# The fault: pairs whose boxes tie in the cells' rough numbers are forgotten before they are looked at closely.
fault='s/search->tie_count += count - sure;/(void)0;/'
file=$folder/source/src/core/simd/cell_body.h
cp "$file" "$folder/right"
sed -i "$fault" "$file"
! cmp -s "$file" "$folder/right" || fail "the place of the fault is gone"
build
cleave=$folder/build/cleave

status=0
"$cleave" verify brownian-free:500 -m cleave --frames 20 --record "$folder/found.clvrec" -q || status=$?
[ $status = 1 ] || fail "verify did not notice"
status=0
"$cleave" replay "$folder/found.clvrec" --shrink "$folder/small.clvrec" --c "$folder/small.c" -q || status=$?
[ $status = 1 ] || fail "replay did not notice"
status=0
"$cleave" replay "$folder/small.clvrec" -q || status=$?
[ $status = 1 ] || fail "the shrunk recording is fine"
boxes=$(sed -n '/static const clv_aabb boxes/,/};/p' "$folder/small.c" | grep -c '{ {') || true
[ "$boxes" -le 10 ] || fail "$boxes boxes are left"
compile
status=0
"$folder/small" || status=$?
[ $status = 1 ] || fail "the C program does not fail"

cp "$folder/right" "$file"
build
compile
"$folder/small" || fail "without the fault the C program still fails"
"$cleave" replay "$folder/small.clvrec" -q || fail "without the fault the recording still differs"
