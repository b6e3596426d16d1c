#!/bin/sh
# SPDX-License-Identifier: MIT
# Follow docs/adding-a-method.md to the letter in a copy of the tree. Usage: scripts/check-adding-a-method.sh [SOURCE]
# A code block whose fence names a C file becomes that file, one that names table.def is appended to it, and the lines of
# the sh block are run.
set -eu
source=$(cd "${1:-$(dirname "$0")/..}" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT INT TERM

cd "$source"
tar cf - --exclude=./build --exclude=./.git . | (cd "$copy" && tar xf -)
cd "$copy"
page=docs/adding-a-method.md

# block LANGUAGE FILE: the lines of the one block with that fence.
block()
{
    awk -v fence="$(printf '```%s%s' "$1" "${2:+ $2}")" '
        inside && /^```$/ { inside = 0 }
        inside { print; found = 1 }
        $0 == fence { inside = 1 }
        END { exit !found }' "$page"
}

file=$(sed -n 's/^```c \(.*\)$/\1/p' "$page")
[ -n "$file" ] && [ ! -e "$file" ] || {
    echo "check-adding-a-method: $page names no new C file" >&2
    exit 1
}
block c "$file" >"$file"
block text src/core/method/table.def >>src/core/method/table.def
block sh "" >steps.sh

# The page's steps, without what has nothing to do with them.
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-2}"
sed -i 's/^cmake -S \. -B build$/& -DCLEAVE_TESTS=OFF -DCLEAVE_FUZZ=OFF -DCLEAVE_PEERS=OFF -DCLEAVE_SHARED=OFF/' steps.sh
CLEAVE_CACHE="$copy/cache" sh -eu steps.sh >log.txt 2>&1 || {
    tail -30 log.txt >&2
    echo "check-adding-a-method: a step of $page failed" >&2
    exit 1
}
name=$(sed -n 's/^    \.name = "\(.*\)",$/\1/p' "$file")
build/cleave methods | grep -q "^$name " || {
    echo "check-adding-a-method: cleave methods does not list $name" >&2
    exit 1
}
git --version >/dev/null 2>&1 && [ -e "$source/.git" ] && {
    changed=$(cd "$source" && git ls-files | while read -r f; do cmp -s "$f" "$copy/$f" || echo "$f"; done)
    [ "$changed" = "src/core/method/table.def" ] || {
        echo "check-adding-a-method: more than one file had to be changed: $changed" >&2
        exit 1
    }
}
echo "check-adding-a-method: $name is one file and one line, and right"
