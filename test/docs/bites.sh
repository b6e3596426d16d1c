#!/bin/sh
# SPDX-License-Identifier: MIT
# Does scripts/check.sh docs notice? A page with one untrue thing of each kind, and one where all is
# true. Usage: bites.sh CLEAVE
set -eu
cleave=${1:?usage: bites.sh CLEAVE}
check=$(cd "$(dirname "$0")/../.." && pwd)/scripts/check.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# expect STATUS TEXT: of the page on stdin.
expect()
{
    cat >"$folder/page.md"
    status=0
    "$check" docs "$cleave" "$folder/page.md" >"$folder/said" 2>&1 || status=$?
    if [ "$status" != "$1" ] || ! grep -qF -- "$2" "$folder/said"; then
        echo "bites.sh: expected status $1 and '$2', got $status and:" >&2
        cat "$folder/said" >&2
        exit 1
    fi
}

block()
{
    printf '```%s\n%s\n```\n' "$1" "$2"
}

block sh 'build/cleave bench brownian-free:1k -m sap --frames 2 # quick' | expect 0 'commands run'
block sh 'build/cleave bench brownian-free:1k -m sip' | expect 1 'no method is called sip'
block sh 'build/cleave bench brownian-free:1k -m sap --speed' | expect 1 'cleave bench knows no --speed'
block sh 'build/cleave bench brownian-free:1k -m kd --set kd.leef=3' | expect 1 'no parameter is called kd.leef'
block sh 'build/cleave beach brownian-free' | expect 1 'cleave has no command beach'
block sh 'build/cleave run quickest' | expect 1 'no schedule is called quickest'
block sh 'build/cleave compare before.json after.json' | expect 1 'fails when it is run'
block sh './run dome' | expect 1 'make has no target dome'
block sh 'make speed SPEEED=full' | expect 1 'make knows no variable SPEEED'
block '' 'make demo' | expect 1 'not marked sh'
echo 'See `make everything`.' | expect 1 'make has no target everything'
echo 'See `cleave bench --fast`.' | expect 1 'cleave bench knows no --fast'
echo 'See `--fast`.' | expect 1 'knows no --fast'
echo 'See `src/core/space/spice.c`.' | expect 1 'there is no src/core/space/spice.c'
echo 'See [there](nowhere.md).' | expect 1 'links to nowhere.md'
echo 'See `make test`, `src/core/space/space.c`, `cleave bench --json OUT`.' | expect 0 'commands run'

# links STATUS TEXT: of the folder of pages as it is now.
links()
{
    status=0
    "$check" docs --links "$folder/pages" >"$folder/said" 2>&1 || status=$?
    if [ "$status" != "$1" ] || ! grep -qF -- "$2" "$folder/said"; then
        echo "bites.sh: --links: expected status $1 and '$2', got $status and:" >&2
        cat "$folder/said" >&2
        exit 1
    fi
}

# page FILE TEXT
page()
{
    mkdir -p "$(dirname "$folder/pages/$1")"
    printf '%s\n' "$2" >"$folder/pages/$1"
}

links 2 'no such folder'
mkdir "$folder/pages"
links 1 'there is no page in it'
page picture.svg ''
page docs/there.md '# It is `here`, and more'
page README.md '# Read
[![a picture](picture.svg)](docs) [there](docs/there.md#it-is-here-and-more) [above](#read) [elsewhere](https://example.org/none)'
links 0 '2 pages under'
page docs/other.md '[up](../README.md#read)'
links 0 '3 pages under'
page docs/other.md '[out](../../page.md)'
links 1 'docs/other.md:1: links to ../../page.md, which leads out of the folder'
page docs/other.md '[gone](gone.md)'
links 1 'docs/other.md:1: links to gone.md, which is not there'
page docs/other.md '[no such heading](there.md#there)'
links 1 'no heading there is #there'

echo "bites.sh: what is not so is noticed"
