#!/bin/sh
# SPDX-License-Identifier: MIT
# The program, not its parts: damaged files, no files, a full disk, Ctrl-C. Each error is one line with the
# file's name and exit status 2, and nothing is left behind. Usage: hostile_cli.sh PROGRAM
set -eu
cleave=${1:?usage: hostile_cli.sh PROGRAM}
folder=$(mktemp -d)
mounted=no
finish()
{
    [ $mounted = no ] || umount "$folder/disk"
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM

fail()
{
    echo "hostile_cli.sh: $1" >&2
    exit 1
}

# refuse WHAT FILE COMMAND...: exit 2, one line, the file named.
refuse()
{
    what=$1
    file=$2
    shift 2
    status=0
    "$cleave" "$@" >"$folder/out" 2>"$folder/err" </dev/null || status=$?
    [ $status = 2 ] || fail "$what: exit status $status, not 2: $(head -3 "$folder/err")"
    [ "$(wc -l <"$folder/err")" = 1 ] || fail "$what: not one line: $(cat "$folder/err")"
    grep -qF "$file" "$folder/err" || fail "$what: $file is not named: $(cat "$folder/err")"
    echo "  $what"
}

cd "$folder"
"$cleave" gen brownian-free -n 100 --frames 3 -o good.aabbs >/dev/null
for command in info verify bench; do
    head -c 1000 good.aabbs >short.aabbs
    refuse "$command of a truncated file" short.aabbs $command short.aabbs
    cp good.aabbs long.aabbs && printf x >>long.aabbs
    refuse "$command of a file too long" long.aabbs $command long.aabbs
    : >empty.aabbs
    refuse "$command of an empty file" empty.aabbs $command empty.aabbs
    mkdir -p folder.aabbs
    refuse "$command of a folder" folder.aabbs $command folder.aabbs
    [ -p pipe.aabbs ] || mkfifo pipe.aabbs
    refuse "$command of a pipe" pipe.aabbs $command pipe.aabbs
    refuse "$command of nothing" missing.aabbs $command missing.aabbs
done
# 2147483647 objects, 2147483647 frames: no disk holds that.
{
    head -c 256 good.aabbs
    printf '\377\377\377\177\377\377\377\177'
    tail -c +265 good.aabbs
} >huge.aabbs
refuse "counts beyond any disk" huge.aabbs info huge.aabbs
{
    head -c 304 good.aabbs
    printf '\000\000\300\177' # NaN
    tail -c +309 good.aabbs
} >nan.aabbs
refuse "a NaN in frame 0" nan.aabbs verify nan.aabbs
refuse "a target in a folder that is not there" nowhere gen brownian-free -n 10 -o nowhere/out.aabbs
refuse "a target that is a folder" folder.aabbs gen brownian-free -n 10 -o folder.aabbs

refuse "a split of a truncated scene" short.aabbs split short.aabbs -q -o split.aabbs
refuse "a split of a NaN" nan.aabbs split nan.aabbs -q -o split.aabbs
refuse "a split of a folder" folder.aabbs split folder.aabbs -q -o split.aabbs
refuse "a split of a pipe" pipe.aabbs split pipe.aabbs -q -o split.aabbs
cp good.aabbs boxes.posrot
refuse "boxes in place of positions" boxes.posrot info boxes.posrot
[ ! -e split.aabbs ] || fail "a refused split left a file"

cp good.aabbs scene.schedule
refuse "a schedule that is a scene" scene.schedule run scene.schedule
mkdir folder.schedule && mkfifo pipe.schedule
refuse "a schedule that is a folder" folder.schedule run folder.schedule
refuse "a schedule that is a pipe" pipe.schedule run pipe.schedule
refuse "a schedule that is not there" missing.schedule run missing.schedule

# Without cJSON there are no results to report.
results=no
if "$cleave" methods --json >/dev/null 2>&1; then
    results=yes
    "$cleave" bench good.aabbs -m sap --repeat 1 -q --json good.json >/dev/null
    head -c 100 good.json >short.json
    refuse "report of truncated results" short.json report good.json short.json -o page.html
    refuse "report of a scene" good.aabbs report good.aabbs -o page.html
    refuse "report of a folder" folder.aabbs report folder.aabbs -o page.html
    refuse "report of a pipe" pipe.aabbs report pipe.aabbs -o page.html
    refuse "report of nothing" missing.json report missing.json -o page.html
    [ ! -e page.html ] || fail "a refused report left a page"
    refuse "a comparison with truncated results" short.json compare good.json short.json
    refuse "a comparison with a scene" good.aabbs compare good.json good.aabbs
    refuse "a comparison with a folder" folder.aabbs compare folder.aabbs good.json
    refuse "a comparison with a pipe" pipe.aabbs compare good.json pipe.aabbs
    refuse "a comparison with nothing" missing.json compare missing.json good.json
    refuse "results in place of Broadmark's settings" good.json run good.json
    refuse "truncated settings" short.json run short.json
    cleave_as_is=$cleave
    cleave=$folder/without_node
    printf '#!/bin/sh\nPATH=/nowhere exec "%s" "$@"\n' "$cleave_as_is" >"$cleave"
    chmod +x "$cleave"
    refuse "plots without node" node report good.json --svg plots
    cleave=$cleave_as_is
fi

mkdir disk
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=1m none disk 2>/dev/null; then
    mounted=yes
    refuse "a full disk" disk/out.aabbs gen brownian-free -n 1000 --frames 100 -o disk/out.aabbs
    [ -z "$(ls -A disk)" ] || fail "a full disk: left behind: $(ls -A disk)"
    if [ $results = yes ]; then
        head -c 600000 /dev/zero >disk/filler
        refuse "a page on a full disk" disk/page.html report good.json -o disk/page.html
        [ "$(ls -A disk)" = filler ] || fail "a page on a full disk: left behind: $(ls -A disk)"
    fi
else
    refuse "a full device (no small disk can be mounted here)" /dev/full gen brownian-free -n 1000 -o /dev/full
fi

mkdir work
cp good.aabbs work/out.aabbs
# A background job of a plain shell ignores SIGINT; env from coreutils can undo that, and timeout sends it.
status=0
timeout --foreground -s INT 1 env --default-signal=INT "$cleave" gen brownian-free -n 8k --frames 100000 -o work/out.aabbs \
    >/dev/null 2>&1 || status=$?
[ $status = 124 ] || [ $status = 130 ] || fail "Ctrl-C: exit status $status"
[ "$(ls -A work)" = out.aabbs ] || fail "Ctrl-C: left behind: $(ls -A work)"
cmp -s good.aabbs work/out.aabbs || fail "Ctrl-C: the old file changed"
echo "  Ctrl-C while writing"
echo "hostile_cli.sh: all refused, nothing left behind"
