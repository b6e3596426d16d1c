#!/bin/sh
# SPDX-License-Identifier: MIT
# `make dist`: what a release ships, in FOLDER: cleave-VERSION.tar.gz, the two files of `make single`, and
# SHA256SUMS of all three. The tarball has the files that git tracks, as they are now, by name, with the time
# of the last commit and no owner: the same tree gives the same bytes. In an unpacked tarball, where there is
# no git, it has every file outside build/ and .git/ and the time is SOURCE_DATE_EPOCH. Usage: dist.sh SINGLE
# FOLDER; SINGLE has cleave.h and cleave.c
set -eu
[ $# = 2 ] || { echo "usage: dist.sh SINGLE FOLDER" >&2; exit 2; }
single=$(cd "$1" && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
name=cleave-$(packaging/version.sh)
list=$(mktemp)
trap 'rm -f "$list"' EXIT

if git -c safe.directory='*' rev-parse HEAD >/dev/null 2>&1; then
    git -c safe.directory='*' ls-files >"$list"
    epoch=$(git -c safe.directory='*' log -1 --format=%ct)
    [ -z "$(git -c safe.directory='*' status --porcelain --untracked-files=no)" ] ||
        echo "dist.sh: note: the tarball has changes that are not committed"
else
    find . -type f ! -path './build/*' ! -path './.git/*' ! -path '*/node_modules/*' | sed 's|^\./||' >"$list"
    epoch=${SOURCE_DATE_EPOCH:?dist.sh: no git here, so SOURCE_DATE_EPOCH has to say the time of the files}
fi
LC_ALL=C sort -o "$list" "$list"
rm -f "$folder"/cleave-*.tar.gz "$folder/cleave.h" "$folder/cleave.c" "$folder/SHA256SUMS"
tar --create --file="$folder/$name.tar" --no-recursion --transform="s|^|$name/|S" --mtime="@$epoch" --owner=0 --group=0 --numeric-owner \
    --mode='u+rw,go=rX' --format=ustar --files-from="$list"
gzip -9 -n "$folder/$name.tar"
cp "$single/cleave.h" "$single/cleave.c" "$folder/"
(cd "$folder" && sha256sum "$name.tar.gz" cleave.h cleave.c >SHA256SUMS && cat SHA256SUMS)
