#!/bin/sh
# SPDX-License-Identifier: MIT
# A program pays for what it calls: README's, which asks for pairs alone, linked with -Wl,--gc-sections has nothing of the query
# tree or its kernels, and is no larger than so many bytes. Usage: [CC=cc] check-link.sh LIBRARY MOST
set -eu
library=${1:?usage: check-link.sh LIBRARY MOST}
most=${2:?usage: check-link.sh LIBRARY MOST}
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

link()
{
    "${CC:-cc}" -O2 -I"$root/include" "$root/examples/hello/hello.c" "$library" -Wl,--gc-sections "$@" -lm -lpthread
}

link -o "$folder/named"
link -s -o "$folder/stripped"
"$folder/stripped" | diff - "$root/examples/hello/expected.txt" >&2 ||
    { echo "check-link.sh: '<' is what README's program printed" >&2; exit 1; }
if nm "$folder/named" | grep -E ' (clv_simd_queries_|clv_query_(tree_build|tree_refit|search)|walk_)' >&2; then
    echo "check-link.sh: these came with README's program, which asks no questions" >&2
    exit 1
fi
size=$(wc -c <"$folder/stripped")
[ "$size" -le "$most" ] ||
    { echo "check-link.sh: README's program has $size bytes, of which $most are allowed; see nm --size-sort" >&2; exit 1; }
echo "  README's program: $size bytes of at most $most"
