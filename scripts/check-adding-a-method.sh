#!/bin/sh
# SPDX-License-Identifier: MIT
# Follow docs/adding-a-method.md to the letter, outside the tree: install BUILD into a folder of its own, put the page's C file
# into an empty one, and run the lines of the page's sh block there. Usage: scripts/check-adding-a-method.sh BUILD
set -eu
build=$(cd "${1:?usage: check-adding-a-method.sh BUILD}" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
page=$root/docs/adding-a-method.md
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

# block FENCE: the lines of the one block with that fence.
block()
{
    awk -v fence="$(printf '```%s' "$1")" '
        inside && /^```$/ { inside = 0 }
        inside { print; found = 1 }
        $0 == fence { inside = 1 }
        END { exit !found }' "$page"
}

fail()
{
    [ ! -s "$folder/log" ] || tail -30 "$folder/log" >&2
    echo "check-adding-a-method: $1" >&2
    exit 1
}

stage=$folder/stage
mkdir "$folder/work"
cmake --install "$build" --prefix "$stage" >"$folder/log" 2>&1 || fail "the build cannot be installed"
PATH=$stage/bin:$PATH
PKG_CONFIG_PATH=$(dirname "$(find "$stage" -name cleave.pc)")
CLEAVE_CACHE=$folder/cache
export PATH PKG_CONFIG_PATH CLEAVE_CACHE

cd "$folder/work"
file=$(sed -n 's/^```c \(.*\)$/\1/p' "$page")
[ -n "$file" ] || fail "$page names no C file"
block "c $file" >"$file"
block sh >steps.sh
sh -eu steps.sh >"$folder/log" 2>&1 || fail "a step of $page failed"

# Warnings are for whoever writes one, not for the page's reader; and it is C++ too, but for its initializers.
cc -std=c17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only -I"$stage/include" "$file" 2>"$folder/log" ||
    fail "$file warns"
name=$(sed -n 's/^    \.name = "\(.*\)",$/\1/p' "$file")
cleave --plugin "./${file%.c}.so" methods | grep -q "^$name " || fail "cleave methods does not list $name"
cleave methods | grep -q "^$name " && fail "cleave lists $name without the plug-in"
! nm -D --undefined-only "${file%.c}.so" | grep clv_ >"$folder/log" || fail "the plug-in needs a library of ours"
echo "check-adding-a-method: $name is one file, needs one header, and is right"
