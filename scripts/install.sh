#!/bin/sh
# SPDX-License-Identifier: MIT
# `make install` and `make uninstall`. All files are installed, or none: they are copied beside their
# places under another name first, and only when every copy is there are they renamed. What was installed,
# and which folders were made for it, is listed in PREFIX/share/cleave/installed.txt; `uninstall` removes
# just that, and a later install removes what it no longer has. Usage: install.sh install BUILD PREFIX
# [DESTDIR], or install.sh uninstall PREFIX [DESTDIR] Exit status: 0 done; 2 it cannot be done, with the
# reason, and nothing has changed.
set -eu
umask 022
list=share/cleave/installed.txt
ending=.cleave-new
work=""

fail()
{
    echo "install.sh: $1" >&2
    exit 2
}

# Until the first rename whatever was made is taken back, whether a copy failed or the user interrupted.
take_back()
{
    status=$?
    trap - EXIT
    if [ -n "$work" ]; then
        if [ -e "$work/copied" ]; then
            while IFS= read -r file; do
                rm -f "$target/$file$ending"
            done <"$work/copied"
            remove_folders "$work/made"
        fi
        rm -rf "$work"
    fi
    exit $status
}

# remove_folders LIST: the innermost first; one that others use too is not empty, and stays.
remove_folders()
{
    sort -r "$1" | while IFS= read -r folder; do
        rmdir "$target/${folder#.}" 2>/dev/null || true
    done
}

# Files of LIST; what leads out of the prefix was not written by us.
remove_files()
{
    while IFS= read -r file; do
        case /$file/ in *//* | */../*) fail "$target/$list names '$file', which is not below the prefix; nothing was removed" ;; esac
    done <"$1"
    while IFS= read -r file; do
        rm -f "$target/$file" || fail "cannot remove $target/$file"
    done <"$1"
}

# make_folders FILE: those above it that are not there yet, one by one so that it is known which were made.
make_folders()
{
    folder=""
    rest=$1
    while [ "$rest" != "${rest#*/}" ]; do
        folder=$folder${folder:+/}${rest%%/*}
        rest=${rest#*/}
        [ ! -d "$target/$folder" ] || continue
        mkdir "$target/$folder" 2>"$work/error" || fail "cannot make $target/$folder: $(reason); nothing was installed"
        echo "$folder" >>"$work/made"
    done
}

# What a system command said, without its name.
reason()
{
    sed -n '1s/.*: //p' "$work/error"
}

# The list that an earlier install left: files first, then folders, which end in a slash.
read_list()
{
    : >"$work/old_files"
    : >"$work/old_folders"
    if [ -e "$target/$list" ]; then
        grep -v '/$' "$target/$list" >"$work/old_files" || true
        sed -n 's|/$||p' "$target/$list" >"$work/old_folders"
    fi
}

# Programs find shared libraries at once. Only for the running system, where it is ours to say.
refresh_loader()
{
    if [ -z "$destdir" ] && [ "$(id -u)" = 0 ] && command -v ldconfig >/dev/null 2>&1; then
        ldconfig 2>/dev/null || true
    fi
}

install_all()
{
    DESTDIR='' cmake --install "$build" --prefix "$work/stage" >"$work/log" 2>&1 || {
        tail -n 20 "$work/log" >&2
        fail "cmake --install failed; nothing was installed"
    }
    mkdir -p "$work/stage/${list%/*}"
    : >"$work/stage/$list"
    (cd "$work/stage" && find . ! -type d | sed 's|^\./||' | sort) >"$work/files"
    read_list
    : >"$work/made"
    : >"$work/copied"
    if [ ! -d "$target" ]; then
        mkdir -p "$target" 2>"$work/error" || fail "cannot make $target: $(reason); nothing was installed"
        echo . >>"$work/made"
    fi
    while IFS= read -r file; do
        make_folders "$file"
        [ ! -d "$target/$file" ] || fail "$target/$file is a folder; nothing was installed"
        echo "$file" >>"$work/copied"
        cp -Pp "$work/stage/$file" "$target/$file$ending" 2>"$work/error" ||
            fail "cannot write $target/$file: $(reason); nothing was installed"
    done <"$work/files"
    sort -u "$work/made" "$work/old_folders" | sed 's|$|/|' | cat "$work/files" - >"$target/$list$ending" 2>"$work/error" ||
        fail "cannot write $target/$list: $(reason); nothing was installed"
    mv "$work/copied" "$work/all" # from here on there is no way back, and none is needed
    while IFS= read -r file; do
        mv -f "$target/$file$ending" "$target/$file" || fail "cannot rename $target/$file$ending; install again"
    done <"$work/all"
    sort "$work/files" >"$work/sorted"
    sort "$work/old_files" | comm -23 - "$work/sorted" >"$work/gone"
    remove_files "$work/gone"
    refresh_loader
    echo "installed $(wc -l <"$work/files") files below $target; make uninstall${prefix_words:+ $prefix_words} removes them"
}

uninstall_all()
{
    [ -e "$target/$list" ] || fail "nothing to remove: there is no $target/$list, which make install leaves"
    [ -w "$target" ] || fail "cannot remove anything from $target: permission denied"
    read_list
    remove_files "$work/old_files"
    remove_folders "$work/old_folders"
    refresh_loader
    echo "removed $(wc -l <"$work/old_files") files from $target"
}

what=${1:?usage: install.sh install BUILD PREFIX [DESTDIR], or install.sh uninstall PREFIX [DESTDIR]}
shift
if [ "$what" = install ]; then
    build=$1
    shift
fi
prefix=$1
destdir=${2:-}
target=$destdir$prefix
prefix_words="PREFIX=$prefix${destdir:+ DESTDIR=$destdir}"
trap take_back EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
work=$(mktemp -d)
case $what in
install) install_all ;;
uninstall) uninstall_all ;;
*) fail "unknown word '$what'; use install or uninstall" ;;
esac
