#!/bin/sh
# SPDX-License-Identifier: MIT
# The man pages that the programs make of their help: one per command, every flag and example of the help in it, and nothing that a
# reader of man pages stumbles over (`man --warnings`, where man is). Usage: check-man.sh CLEAVE [CLEAVE-MPI]
set -eu
cleave=${1:?usage: check-man.sh CLEAVE [CLEAVE-MPI]}
mpi=${2:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export CLEAVE_OPENCL=none CLEAVE_PEERS=none LC_ALL=C.UTF-8 MANWIDTH=78

fail()
{
    echo "check-man.sh: $1" >&2
    exit 1
}

# As a line without the spaces that a formatter adds.
joined()
{
    tr '\n' ' ' | tr -s ' '
}

# show PAGE: its text, from man or groff; status 77 where neither is. Minimized systems have a man that shows nothing.
show()
{
    if man --version >/dev/null 2>&1; then
        man --warnings --no-hyphenation --no-justification -l "$1" 2>"$folder/warnings"
    elif command -v groff >/dev/null 2>&1; then
        groff -man -ww -Tutf8 -P-c "$1" 2>"$folder/warnings"
    else
        return 77
    fi
}

# What stands in the help must stand in the page: names of flags, their sentences, the example.
check_page()
{
    page=$1
    help=$2
    [ -s "$page" ] || fail "$page was not written"
    LC_ALL=C grep -n '[^ -~]' "$page" && fail "$page: is not ASCII"
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'SEE ALSO'; do
        grep -qx "\.SH $section" "$page" || fail "$page: has no section $section"
    done
    grep -q '^\.TH "CLEAVE[A-Z-]*" 1 ' "$page" || fail "$page: has no .TH line"
    status=0
    show "$page" >"$folder/text" || status=$?
    if [ $status = 77 ]; then
        formats=no
        return 0
    fi
    [ $status = 0 ] || fail "$page: cannot be shown"
    [ ! -s "$folder/warnings" ] || fail "$page: $(cat "$folder/warnings")"
    joined <"$folder/text" >"$folder/line"
    sed -n -e 's/…/.../g' -e 's/`//g' -e '/^Flags:/,/^$/s/^ *\(-.*[^ ]\)   *\([^ ].*\)$/\2/p' -e '/^Example/,$s/^  //p' "$help" >"$folder/said"
    [ -s "$folder/said" ] || fail "$help: no flag and no example found"
    while IFS= read -r text; do
        grep -qF -- "$(printf '%s' "$text" | joined)" "$folder/line" || fail "$page: does not say: $text"
    done <"$folder/said"
}

formats=yes
count=0
"$cleave" help --man -o "$folder/man1"
"$cleave" help >"$folder/help"
check_page "$folder/man1/cleave.1" "$folder/help"
for command in $(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  .*/\1/p' "$folder/help"); do
    "$cleave" "$command" --help >"$folder/help.$command"
    check_page "$folder/man1/cleave-$command.1" "$folder/help.$command"
    "$cleave" help --man "$command" | cmp -s - "$folder/man1/cleave-$command.1" || fail "help --man $command differs from its file"
    count=$((count + 1))
done
[ $count -ge 15 ] || fail "only $count commands were found in the help"
[ "$(find "$folder/man1" -name '*.1' | wc -l)" = $((count + 1)) ] || fail "there are pages of no command"
if [ -n "$mpi" ]; then
    "$mpi" help --man -o "$folder/man1"
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$mpi" --help >"$folder/help.mpi"
    check_page "$folder/man1/cleave-mpi.1" "$folder/help.mpi"
fi
# A folder that cannot be is said, and no page of nothing.
status=0
"$cleave" help --man -o /dev/null/x 2>"$folder/said" || status=$?
[ $status = 2 ] || fail "help --man -o /dev/null/x: exit $status"
[ $formats = yes ] || echo "check-man.sh: neither man nor groff is here: only the structure was looked at"
echo "check-man.sh: $count commands have a page that says what their help says"
