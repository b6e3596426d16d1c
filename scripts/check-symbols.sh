#!/bin/sh
# SPDX-License-Identifier: MIT
# Every global symbol of the libraries begins with clv_: in a static library whatever a linker can see, since it shares one
# namespace with other people's code; in a shared one whatever it exports. What no public header declares begins with clv_
# and the folder of its file, so that a name says where to look. Usage: [NM=nm] check-symbols.sh LIBRARY...
set -eu
[ $# -gt 0 ] || { echo "usage: check-symbols.sh LIBRARY..." >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
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
    [ "$total" -gt 0 ] || { echo "check-symbols.sh: $library has no symbols" >&2; exit 1; }
    if [ -s "$folder/wrong" ]; then
        echo "check-symbols.sh: $library: $(wc -l <"$folder/wrong") of $total global symbols are misnamed:" >&2
        head -10 "$folder/wrong" | sed 's/^/    /' >&2
        status=1
    else
        echo "  $(basename "$library"): $total global symbols, all clv_ and their folder"
    fi
done
exit $status
