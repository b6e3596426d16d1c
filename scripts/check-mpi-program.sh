#!/bin/sh
# SPDX-License-Identifier: MIT
# The program cleave-mpi: the hash of one process on several, verify, and what it refuses. Usage: check-mpi-program.sh BUILD
set -eu
build=$(cd "${1:?usage: check-mpi-program.sh BUILD}" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
export CLEAVE_CACHE="${CLEAVE_CACHE:-$build/test/cache}"

fail()
{
    echo "check-mpi-program.sh: $1" >&2
    exit 1
}

hash_of()
{
    sed -n 's/.*"pairs_hash"[^0]*\(0x[0-9a-f]*\).*/\1/p' "$1"
}

on()
{
    "$root/scripts/check-mpi.sh" "$build/cleave-mpi" "$@"
}

status=0
on 1 --help >"$folder/help" || status=$?
[ $status != 77 ] || { cat "$folder/help"; exit 77; }
grep -q 'cleave-mpi bench|verify' "$folder/help" || fail "no help"
for scene in brownian-free:3k 'freefall:1k@60+4'; do
    "$build/cleave" bench "$scene" -m cleave --frames 4 --warmup 0 --repeat 1 -q --json "$folder/one.json" >/dev/null
    one=$(hash_of "$folder/one.json")
    [ -n "$one" ] || fail "$scene: no hash of one process"
    for count in 1 3; do
        on $count bench "$scene" --frames 4 --warmup 0 --repeat 1 --json "$folder/many.json" >/dev/null
        many=$(hash_of "$folder/many.json")
        [ "$one" = "$many" ] || fail "$scene: $many on $count processes, $one on one"
        for member in processes imbalance ghosts bytes_sent; do
            grep -q "\"$member\"" "$folder/many.json" || fail "no $member in the JSON"
        done
    done
    on 2 verify "$scene" --frames 4 >"$folder/said" || fail "$scene: verify fails"
    grep -q 'agree with brute' "$folder/said" || fail "$scene: verify does not say who judged"
done

# What is wrong is said once, by name, and ends the program with 2.
refuses()
{
    word=$1
    shift
    status=0
    on 2 "$@" >"$folder/said" 2>&1 || status=$?
    [ $status = 2 ] || fail "$*: exit $status"
    [ "$(grep -c "cleave-mpi: .*$word" "$folder/said")" = 1 ] || fail "$*: $(cat "$folder/said")"
}
refuses nonsense bench nonsense:1k
refuses WHAT bench
refuses frames verify brownian-free:1k --frames many
refuses colour verify brownian-free:1k --colour red
echo "cleave-mpi: one hash, and clear refusals"
