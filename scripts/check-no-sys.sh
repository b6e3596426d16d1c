#!/bin/sh
# SPDX-License-Identifier: MIT
# PoCL aborts where /sys is empty, as in some containers and chroots. In such a place, made here by a mount namespace, `cleave methods` must
# name the driver and list everything else, and a method on the CPU must run. Usage: check-no-sys.sh CLEAVE. Status 77: there is no
# PoCL here, or no namespace may be made.
set -eu
cleave=${1:?usage: check-no-sys.sh CLEAVE}
"$cleave" methods | grep -q 'Portable Computing Language' || { echo "skipped: no PoCL here"; exit 77; }
hide='mount -t tmpfs none /sys && exec "$@"'
if unshare -m sh -c "$hide" sh true 2>/dev/null; then
    flags=-m
elif unshare -Urm sh -c "$hide" sh true 2>/dev/null; then
    flags=-Urm
else
    echo "skipped: no mount namespace may be made here"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

without_sys()
{
    unshare $flags sh -c "$hide" sh "$cleave" "$@" >"$folder/said" 2>"$folder/errors" || {
        echo "check-no-sys.sh: cleave $* ended with status $?: $(tail -n 1 "$folder/errors")" >&2
        exit 1
    }
}

without_sys methods
grep -q '^cleave ' "$folder/said" || { echo "check-no-sys.sh: methods are not listed" >&2; exit 1; }
grep 'No device .*pocl.*is left out: .* died of SIGABRT' "$folder/said" || {
    echo "check-no-sys.sh: PoCL is not named as a driver that died; did it learn to live without /sys?" >&2
    grep -i device "$folder/said" >&2
    exit 1
}
[ ! -s "$folder/errors" ] || { echo "check-no-sys.sh: a driver's words came through: $(cat "$folder/errors")" >&2; exit 1; }
without_sys verify brownian-free:500 -m sap --frames 2 -q
echo "without /sys: PoCL is named and left out, and the rest runs"
