#!/bin/sh
# SPDX-License-Identifier: MIT
# A shared library exports the functions its headers declare and nothing else. Usage: check-exports.sh LIBRARY HEADER...
# Headers by name, as they lie in include/cleave: "space types".
set -eu
library=${1:?usage: check-exports.sh LIBRARY HEADER...}
shift
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' |
    grep -v -E '^(__asan|__ubsan|__tsan|__msan|__sanitizer|__start_|__stop_|_init$|_fini$)' |
    sort >"$folder/exported"
# A declaration may take several lines: join them, then cut at each semicolon.
for header in "$@"; do
    cat "$root/include/cleave/$header.h"
done | grep -v '^#' | tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*CLV_API[^(]*[ *]\(clv_[a-z0-9_]*\)(.*/\1/p' | sort -u >"$folder/declared"
if ! diff "$folder/declared" "$folder/exported" >"$folder/difference"; then
    echo "check-exports.sh: $library: '<' is declared and not exported, '>' the other way round:" >&2
    cat "$folder/difference" >&2
    exit 1
fi
soname=$(readelf -d "$library" 2>/dev/null | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
echo "$(wc -l <"$folder/exported") functions exported, all declared, all clv_; soname $soname"
