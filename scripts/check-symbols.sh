#!/bin/sh
# SPDX-License-Identifier: MIT
# Every global symbol of the libraries begins with clv_: in a static library whatever a linker can see, since it shares one
# namespace with other people's code; in a shared one whatever it exports. Usage: check-symbols.sh LIBRARY...
set -eu
[ $# -gt 0 ] || { echo "usage: check-symbols.sh LIBRARY..." >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
status=0

for library in "$@"; do
    case $library in
    *.a) nm -g --defined-only "$library" ;;
    *) nm -D --defined-only "$library" ;;
    esac >"$folder/nm"
    # What compilers and sanitizers add is not ours; the names of a static library's members are no symbols.
    awk 'NF == 3 { print $3 }' "$folder/nm" | sed 's/@.*//' |
        grep -v -E '^(__asan|__ubsan|__tsan|__msan|__sanitizer|__odr_asan|__start_|__stop_|_init$|_fini$)' |
        sort -u >"$folder/all"
    grep -v '^clv_' "$folder/all" >"$folder/other" || true
    total=$(wc -l <"$folder/all")
    others=$(wc -l <"$folder/other")
    [ "$total" -gt 0 ] || { echo "check-symbols.sh: $library has no symbols" >&2; exit 1; }
    if [ "$others" -gt 0 ]; then
        echo "check-symbols.sh: $library: $others of $total global symbols do not begin with clv_:" >&2
        head -10 "$folder/other" | sed 's/^/    /' >&2
        status=1
    else
        echo "  $(basename "$library"): $total global symbols, all clv_"
    fi
done
exit $status
