#!/bin/sh
# SPDX-License-Identifier: MIT
# A library's files compile as one translation unit, without a warning, with every compiler that is here, one for Windows too:
# no two of its files have a private function, type or constant of one name, nor one that Windows' headers take. The files for
# one instruction set stay units of their own, since each switches the compiler to it. Usage: check-one-unit.sh FILE...
set -eu
[ $# -gt 0 ] || { echo "usage: check-one-unit.sh FILE..." >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
for file in "$@"; do
    case $file in
    *_sse2.c | *_avx2.c | *_avx512.c | *_neon.c) ;;
    *) echo "#include \"$root/$file\"" ;;
    esac
done >"$folder/unit.c"
count=$(wc -l <"$folder/unit.c")
[ "$count" -gt 1 ] || { echo "check-one-unit.sh: $count files are no unit" >&2; exit 2; }

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
            echo "check-one-unit.sh: $compiler $level: $count files do not compile as one:" >&2
            grep -m 10 -E 'error' "$folder/log" | sed "s|$root/||g; s/^/    /" >&2 || cat "$folder/log" >&2
            exit 1
        }
    done
done
[ -n "$compilers" ] || { echo "check-one-unit.sh: no compiler is here; set CC" >&2; exit 2; }
echo "$count files in one unit, with$compilers"
