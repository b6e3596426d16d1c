#!/bin/sh
# SPDX-License-Identifier: MIT
# The version, from its one place: the three CLV_VERSION_ lines of include/cleave/base.h. CMake, the Python
# package, the single file and the site read them; files that must carry a copy are listed below.
# Usage: version.sh                prints it
#        version.sh check          every copy says the same
#        version.sh copies         names base.h and the files with copies
#        version.sh set X.Y.Z      writes base.h and every copy but CHANGELOG.md and the Debian changelog,
#                                  whose text has to be written
# Exit status: 0 done; 1 copies differ, each is named; 2 called wrongly.
set -eu
cd "$(dirname "$0")/.."
header=include/cleave/base.h

# FILE, how much of the version it has (full or minor, X.Y), and the words around it; {} is the version.
copies()
{
    cat <<'END'
bindings/js/package.json|full|  "version": "{}",
bindings/rust/cleave/Cargo.toml|full|version = "{}"
bindings/rust/cleave-sys/Cargo.toml|full|version = "{}"
packaging/vcpkg/vcpkg.json|full|  "version": "{}",
packaging/debian/control|minor|Package: libcleave{}
packaging/debian/control|minor|libcleave{} (= ${binary:Version})
packaging/README.md|minor|Debian: `libcleave{}`
docs/guide.md|minor|libcleave{}_*.deb
docs/guide.md|minor|remove -y libcleave{} cleave
bench/python.md|full|cleave-{}-cp311
test/docs/exceptions.txt|full|cleave-{}-cp311
docs/use-it.md|minor|find_package( cleave {} REQUIRED )
docs/use-it.md|minor|`find_package( cleave {} )` follows the same rule
CHANGELOG.md|full|## {}
packaging/debian/changelog|full|cleave ({}-
END
    for file in examples/*/CMakeLists.txt; do
        ! grep -q 'find_package( cleave' "$file" || echo "$file|minor|find_package( cleave {} "
    done
}

read_version()
{
    sed -n 's/^#define CLV_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$header" | paste -sd .
}

# $wanted and $pattern of the copy "$file|$kind|$words".
prepare()
{
    wanted=$version
    number='[0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*'
    if [ "$kind" = minor ]; then
        wanted=${version%.*}
        number='[0-9][0-9]*\.[0-9][0-9]*'
    fi
    pattern=$(printf '%s' "$words" | sed 's/[][\\.*^$/]/\\&/g')
    before=${pattern%%\{\}*}
    after=${pattern#*\{\}}
}

check_all()
{
    copies | {
        status=0
        [ -e "packaging/debian/libcleave${version%.*}.install" ] || {
            echo "version.sh: packaging/debian has no libcleave${version%.*}.install" >&2
            status=1
        }
        while IFS='|' read -r file kind words; do
            prepare
            found=$(sed -n "s/.*$before\($number\)$after.*/\1/p" "$file" 2>/dev/null | head -n 1)
            [ "$found" = "$wanted" ] || {
                echo "version.sh: $file says '$found' and not $wanted, where it has '$words'" >&2
                status=1
            }
        done
        [ $status != 0 ] || echo "version.sh: $version everywhere"
        exit $status
    }
}

set_all()
{
    i=1
    for name in MAJOR MINOR PATCH; do
        sed -i "s/^#define CLV_VERSION_$name .*/#define CLV_VERSION_$name $(echo "$version" | cut -d . -f $i)/" "$header"
        i=$((i + 1))
    done
    for file in packaging/debian/libcleave[0-9]*.install; do
        [ "$file" = "packaging/debian/libcleave${version%.*}.install" ] || mv "$file" "packaging/debian/libcleave${version%.*}.install"
    done
    copies | while IFS='|' read -r file kind words; do
        prepare
        case $file in
        CHANGELOG.md | packaging/debian/changelog) echo "version.sh: $file: a section for $version is yours to write" ;;
        *) sed -i "s/$before$number$after/$(printf '%s' "$before" | sed 's/\\//g')$wanted$(printf '%s' "$after" | sed 's/\\//g')/" "$file" ;;
        esac
    done
}

case "${1:-}" in
'') read_version ;;
copies)
    printf '%s\n' "$header" packaging/debian/libcleave[0-9]*.install
    copies | cut -d '|' -f 1
    ;;
check)
    version=$(read_version)
    check_all
    ;;
set)
    version=${2:-}
    echo "$version" | grep -qxE '[0-9]+\.[0-9]+\.[0-9]+' || { echo "usage: version.sh set X.Y.Z" >&2; exit 2; }
    set_all
    ;;
*)
    echo "usage: version.sh [check | copies | set X.Y.Z]" >&2
    exit 2
    ;;
esac
