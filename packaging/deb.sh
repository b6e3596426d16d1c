#!/bin/sh
# SPDX-License-Identifier: MIT
# `make deb`: Debian packages from the tarball of `make dist`, as a maintainer would build them: unpacked,
# with packaging/debian as its debian folder. Usage: deb.sh DIST FOLDER; the packages are in FOLDER. Lintian,
# where it is installed, must find no error.
set -eu
[ $# = 2 ] || { echo "usage: deb.sh DIST FOLDER" >&2; exit 2; }
for tool in dpkg-buildpackage dh; do
    command -v $tool >/dev/null 2>&1 || { echo "deb.sh: $tool is not installed (scripts/setup.sh deb installs it)" >&2; exit 77; }
done
dist=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
version=$(packaging/version.sh)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
rm -rf "$folder/cleave-$version" "$folder"/*.deb "$folder"/cleave_*
cp "$dist/cleave-$version.tar.gz" "$folder/cleave_$version.orig.tar.gz"
tar -xf "$folder/cleave_$version.orig.tar.gz" -C "$folder"
cp -r "$folder/cleave-$version/packaging/debian" "$folder/cleave-$version/debian"
(cd "$folder/cleave-$version" && DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-parallel=${JOBS:-2}}" dpkg-buildpackage -us -uc) >"$folder/log" 2>&1 || {
    tail -n 30 "$folder/log" >&2
    echo "deb.sh: dpkg-buildpackage failed; $folder/log has all of it" >&2
    exit 1
}
if command -v lintian >/dev/null 2>&1; then
    lintian --allow-root --fail-on error "$folder/cleave_${version}"-*.changes
else
    echo "deb.sh: without lintian, which is not installed: the packages were not looked at"
fi
rm -rf "$folder/cleave-$version"
ls "$folder"/*.deb
