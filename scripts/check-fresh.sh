#!/bin/sh
# SPDX-License-Identifier: MIT
# The README's commands on a machine that has nothing: a bare Debian 12 in a folder (mmdebstrap, this
# machine's own apt sources), a clean clone of HEAD in it, and there the first command as the README spells
# it, the README's program, and `make install`, that program against what was installed, and `make uninstall`.
# Usage: check-fresh.sh guide: every way of docs/guide.md instead, one after the other; $WAYS is a pattern of
# the headings to try, all if it is empty.
#        check-fresh.sh [test|test-full [WORD...]]; with `test` the README's test command follows, with
#        these words behind it; with
# `test-full` also what the README's test-full adds to it, so that every test has run once.
# Nothing of it may leave a file in the clone that git would show.
# Exit status: 0 all is as it must be; 1 it is not; 77 cannot be tried here, with the reason. The
# log stays in build/fresh.
set -eu
cd "$(dirname "$0")/.."
what=${1:-first}
release=bookworm
logs=$PWD/build/fresh
log=$logs/$what.log
work=""

say()
{
    echo "check-fresh.sh: $1"
}

cannot()
{
    say "NOT RUN: $1"
    exit 77
}

fail()
{
    say "FAILED: $1" >&2
    exit 1
}

# The mounts are in a namespace of their own, which goes with its last process;
# --one-file-system in case one did not.
clean_up()
{
    status=$?
    trap - EXIT
    if [ -n "$work" ]; then
        rm -rf --one-file-system "$work"
    fi
    exit $status
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The README's command for demo or test, without the comment behind it.
readme_command()
{
    awk -v target="$1" '
        /^```/ { inside = !inside; next }
        inside && $2 == target && ( $1 == "./run" || $1 == "make" ) { sub( / *#.*/, "" ); print; exit }' README.md
}

readme_program()
{
    awk '/^```c$/ { inside = 1; next } inside && /^```/ { exit } inside { print }' README.md
}

# What the README says that its program prints, and how it is compiled.
readme_promise()
{
    sed -n 's/^prints `\([^`]*\)`.*/\1/p' README.md | head -n 1
}

readme_compile()
{
    sed -n 's/.*`\(cc [^`]*\)`.*/\1/p' README.md | head -n 1
}

# The files of this machine's sources that speak of that release, keys and options in them.
sources()
{
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
        if [ -r "$file" ] && grep -v '^[[:space:]]*#' "$file" | grep -qw "$release"; then
            echo "$file"
        fi
    done
}

# What apt needs to reach them: proxies, certificates, how often to try; not this machine's other habits.
apt_options()
{
    apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-|Retries|ForceIPv|AllowInsecure|AllowWeak)[^ ]* ".+";$' || true
}

# Keys and passwords, before anything is fetched.
carry_apt_files()
{
    for file in auth.conf auth.conf.d trusted.gpg trusted.gpg.d keyrings mirrors; do
        [ ! -e "/etc/apt/$file" ] || cp -a "/etc/apt/$file" "$1/etc/apt/"
    done
    folders=/usr/share/keyrings
    # shellcheck disable=SC2046 # a list of words
    ! grep -qs 'https:' $(sources) /etc/apt/mirrors/* || folders="$folders /usr/share/ca-certificates /etc/ssl/certs"
    for folder in $folders; do
        [ -d "$folder" ] || continue
        mkdir -p "$1$folder"
        cp -a "$folder/." "$1$folder/"
    done
}

make_root()
{
    say "making a bare Debian 12: about a minute"
    files=$(sources)
    [ -n "$files" ] || cannot "this machine's apt sources have no Debian 12 ($release)"
    apt_options >"$work/apt.conf"
    # shellcheck disable=SC2086 # a list of words
    mmdebstrap --variant=apt --aptopt="$work/apt.conf" \
        --setup-hook="\"$PWD/scripts/check-fresh.sh\" --carry-apt-files \"\$1\"" \
        "$release" "$work/root" $files >>"$log" 2>&1 || {
        tail -n 5 "$log"
        cannot "mmdebstrap could not make a bare root; $log tells more"
    }
    for file in resolv.conf hosts; do
        [ ! -e "/etc/$file" ] || cp -L "/etc/$file" "$work/root/etc/$file"
    done
    printf '#!/bin/sh\nexit 101\n' >"$work/root/usr/sbin/policy-rc.d" # no daemon of a package is started
    chmod +x "$work/root/usr/sbin/policy-rc.d"
}

# inside COMMAND: in the bare root, in the clone, with nothing of this machine's environment but the way out.
inside()
{
    # shellcheck disable=SC2016 # for the other shell
    unshare --mount --pid --fork --kill-child --propagation private sh -eu -c '
        mount -t proc proc "$1/proc"
        mount -t sysfs -o ro sysfs "$1/sys"
        mkdir -p "$1/dev/shm" "$1/dev/pts"
        mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
        exec chroot "$1" /usr/bin/env -i HOME=/root TERM=dumb COLUMNS=80 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
            ${no_proxy:+no_proxy="$no_proxy"} /bin/sh -c "cd /cleave && $2"
    ' sh "$work/root" "$1" </dev/null
}

copy_clone()
{
    git -c safe.directory="$PWD" clone --quiet --no-hardlinks . "$work/root/cleave"
    chown -R 0:0 "$work/root/cleave" # git refuses to work in another user's folder
    git -C "$work/root/cleave" remote remove origin
}

# step NAME COMMAND: its output goes to the log, and to $work/said for what follows.
step()
{
    say "\$ $2"
    echo "\$ $2" >>"$log"
    begin=$(date +%s)
    { inside "$2" 2>&1 || echo $? >"$work/status"; } | tee -a "$log" >"$work/said"
    end_step "$1"
}

# The same for a command that takes long: its output is shown as it comes.
long_step()
{
    say "\$ $2"
    echo "\$ $2" >>"$log"
    begin=$(date +%s)
    { inside "$2" 2>&1 || echo $? >"$work/status"; } | tee -a "$log"
    : >"$work/said"
    end_step "$1"
}

end_step()
{
    if [ -e "$work/status" ]; then
        tail -n 40 "$work/said"
        fail "$1 ended with $(cat "$work/status"); $log has all of it"
    fi
    say "$1: $(($(date +%s) - begin)) s"
}

# Without the right to install packages a user is told which are missing, and why they were not installed.
check_without_root()
{
    echo "\$ $1 (as an ordinary user, without sudo)" >>"$log"
    chmod -R a+rX "$work/root/cleave"
    status=0
    inside "setpriv --reuid 65534 --regid 65534 --clear-groups $1" >"$work/said" 2>&1 || status=$?
    cat "$work/said" >>"$log"
    [ $status = 2 ] || fail "without root or sudo the first command ended with $status, not 2"
    grep -q 'missing:.* make' "$work/said" && grep -q 'not root' "$work/said" ||
        fail "without root or sudo the first command does not say what is missing and why"
    say "without root or sudo: what is missing is named, and why"
}

# No target of make but `setup` installs anything: `make test` names what is missing and the
# command that installs it.
check_make_installs_nothing()
{
    status=0
    inside "make test" >"$work/said" 2>&1 || status=$?
    cat "$work/said" >>"$log"
    [ $status = 2 ] && grep -q 'missing:.* libcmocka-dev.*install: ./run setup' "$work/said" ||
        fail "make test without its packages does not name them and the command that installs them"
    say "make test without its packages: they are named, none is installed"
}

# prints_promise NAME COMMAND
prints_promise()
{
    step "$1" "$2"
    [ "$(cat "$work/said")" = "$promise" ] || fail "the README's program, $1, prints '$(cat "$work/said")', not '$promise'"
}

check_program()
{
    readme_program >"$work/root/cleave/hello.c"
    promise=$(readme_promise)
    compile=$(readme_compile)
    [ -s "$work/root/cleave/hello.c" ] && [ -n "$promise" ] && [ -n "$compile" ] ||
        fail "README.md has no program, or does not say how it is compiled and what it prints"
    prints_promise "the README's program" "$compile && ./hello"
    rm "$work/root/cleave/hello"
    say "it prints '$promise', as promised"
}

# As a stranger: install, build the README's program against it in three ways, and remove it all.
check_install()
{
    (cd "$work/root/usr/local" && find . | sort) >"$work/before"
    mkdir "$work/root/stranger"
    mv "$work/root/cleave/hello.c" "$work/root/stranger/"
    step "make install" "make install"
    prints_promise "by pkg-config" 'cd /stranger && cc hello.c -o by-pkg-config $(pkg-config --cflags --libs cleave) && ./by-pkg-config'
    prints_promise "by plain cc" 'cd /stranger && cc hello.c -o by-cc -lcleave -lm -pthread && ./by-cc'
    cp "$work/root/cleave/examples/hello/CMakeLists.txt" "$work/root/stranger/"
    prints_promise "by CMake" 'cd /stranger && { cmake -S . -B build && cmake --build build; } >log 2>&1 && ./build/hello || cat log'
    step "the installed program" "cleave --version"
    step "make uninstall" "make uninstall"
    (cd "$work/root/usr/local" && find . | sort) | diff "$work/before" - >&2 || fail "make uninstall leaves what diff shows"
    say "installed, used in three ways and removed without a trace"
}

check_clean()
{
    left=$(git -c safe.directory='*' -C "$work/root/cleave" status --porcelain)
    [ -z "$left" ] || fail "these files were left in the source tree: $left"
}

# guide_ways: the headings of docs/guide.md that have a block of commands.
guide_ways()
{
    awk '/^## / { way = substr( $0, 4 ) } /^```shell$/ { print way }' docs/guide.md
}

# guide_way HEADING: its commands.
guide_way()
{
    awk -v way="$1" '/^## / { here = substr( $0, 4 ) == way } /^```/ { inside = $0 == "```shell" && here; next } inside' docs/guide.md
}

# Each way ends by printing what README's program prints. With all ways in turn the packages of those before
# are there; $WAYS tries one in a root without them.
check_guide()
{
    promise=$(readme_promise)
    tried=""
    inside "apt-get update" >>"$log" 2>&1 || cannot "apt-get update fails in the bare root"
    guide_ways >"$work/ways"
    [ -s "$work/ways" ] || fail "docs/guide.md has no way"
    while IFS= read -r way; do
        printf '%s\n' "$way" | grep -qE "${WAYS:-.}" || continue
        guide_way "$way" >"$work/root/way.sh"
        step "$way" "export DEBIAN_FRONTEND=noninteractive && sh -eu /way.sh"
        [ "$(tail -n 1 "$work/said")" = "$promise" ] || grep -qx "$promise" "$work/said" ||
            fail "$way: does not print '$promise', but '$(tail -n 1 "$work/said")'"
        tried="$tried, $way"
    done <"$work/ways"
    [ -n "$tried" ] || fail "no way of docs/guide.md matches '$WAYS'"
    check_clean
    say "carried out in a bare Debian 12:${tried#,}; $log has every line" | tee -a "$log"
}

if [ "$what" = --carry-apt-files ]; then # mmdebstrap's hook
    carry_apt_files "$2"
    exit 0
fi
case $what in first | test | test-full | guide) ;; *)
    say "unknown word '$what'; use test, test-full, guide, or nothing" >&2
    exit 2
    ;;
esac
first=$(readme_command demo)
test=$(readme_command test)
full=$(readme_command test-full)
[ -n "$first" ] && [ -n "$test" ] && [ -n "$full" ] || fail "README.md does not have the commands demo, test and test-full"
[ $# -lt 2 ] || { shift && test="$test $*"; }
[ "$(id -u)" = 0 ] || cannot "needs root, to make a root of its own"
for tool in mmdebstrap git apt-get unshare chroot; do
    command -v $tool >/dev/null 2>&1 || cannot "$tool is not installed"
done
unshare --mount --pid --fork true 2>/dev/null || cannot "this machine lets no one mount, not even root"
git -c safe.directory="$PWD" rev-parse HEAD >/dev/null 2>&1 || cannot "this is not a clone: there is no HEAD to try"

mkdir -p "$logs"
: >"$log"
work=$(mktemp -d)
chmod 755 "$work"
make_root
copy_clone
[ -z "$(git -c safe.directory="$PWD" status --porcelain)" ] || say "note: HEAD is tried, without what is not committed"
if [ "$what" = guide ]; then
    check_guide
    exit 0
fi
check_without_root "$first"
step "the README's first command" "$first"
cat "$work/said"
check_make_installs_nothing
check_program
check_install
check_clean
if [ "$what" != first ]; then
    long_step "the README's test command" "$test"
    check_clean
fi
if [ "$what" = test-full ]; then
    long_step "what $full adds to it" "./run test-further"
    check_clean
fi
say "all is as it must be in a bare Debian 12; $log has every line"
