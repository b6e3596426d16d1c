#!/bin/sh
# SPDX-License-Identifier: MIT
# The hash of a scene's pairs on 1, 2, 3, 4, 7, 8 and 16 processes beside that of one core, as a table: mpi-hashes.sh BUILD [WHAT...]
# Without WHAT: the scenes of `cleave run demo`. COUNTS="1 2 3" asks for other numbers of processes, FRAMES=4 for fewer frames. Exit 1
# where two differ.
set -eu
build=$(cd "${1:?usage: mpi-hashes.sh BUILD [WHAT...]}" && pwd)
shift
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
counts=${COUNTS:-1 2 3 4 7 8 16}
frames=${FRAMES:+--frames $FRAMES}
if [ $# = 0 ]; then
    window=$(sed -n 's/^window *//p' "$root/lab/schedules/demo.schedule")
    for scene in $(sed -n 's/^scenes *//p' "$root/lab/schedules/demo.schedule"); do
        set -- "$@" "$scene:8k@$window"
    done
fi

hash_of()
{
    sed -n 's/.*"pairs_hash"[^0]*\(0x[0-9a-f]*\).*/\1/p' "$1"
}

echo "| scene | one core | processes | agree |"
echo "| --- | --- | --- | --- |"
status=0
for what in "$@"; do
    # shellcheck disable=SC2086 # none, or two words
    "$build/cleave" bench "$what" -m cleave --warmup 0 --repeat 1 -q $frames --json "$folder/one.json" >/dev/null
    one=$(hash_of "$folder/one.json")
    agree=yes
    for count in $counts; do
        # shellcheck disable=SC2086
        "$root/scripts/check-mpi.sh" "$build/cleave-mpi" "$count" bench "$what" --warmup 0 --repeat 1 $frames --json "$folder/many.json" >/dev/null
        many=$(hash_of "$folder/many.json")
        [ -n "$one" ] && [ "$many" = "$one" ] || { agree="no: $many on $count"; status=1; }
    done
    echo "| $what | \`$one\` | $(echo "$counts" | sed 's/ /, /g') | $agree |"
done
exit $status
