#!/bin/bash
# SPDX-License-Identifier: MIT
# What bash completes with the script of `cleave completion bash`, word by word; and whether zsh and fish can read theirs, where
# they are. Usage: check-completion.sh CLEAVE
set -u
cleave=${1:?usage: check-completion.sh CLEAVE}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export CLEAVE_OPENCL=none CLEAVE_PEERS=none

fail()
{
    echo "check-completion.sh: $1" >&2
    exit 1
}

"$cleave" completion bash >"$folder/cleave.bash" || fail "no script for bash"
# shellcheck disable=SC1091 # made above
source "$folder/cleave.bash" || fail "bash cannot read its script"
[ "$(complete -p cleave)" = "complete -F _cleave cleave" ] || fail "bash does not call _cleave for cleave"

# expect "WORDS…" "LINE": what COMPREPLY holds for that line, cut as bash cuts it, at = : and @ too; "+word" must be among others.
expect()
{
    local line=$2 word
    line=${line//=/ = }
    line=${line//:/ : }
    line=${line//@/ @ }
    read -ra COMP_WORDS <<<"$line"
    [[ $line != *' ' ]] || COMP_WORDS+=( '' )
    COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
    COMPREPLY=()
    _cleave cleave "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>"$folder/errors"
    [ ! -s "$folder/errors" ] || fail "$2: $(cat "$folder/errors")"
    if [[ $1 == +* ]]; then
        for word in ${1#+}; do
            [[ " ${COMPREPLY[*]} " == *" $word "* ]] || fail "'$2' offers '${COMPREPLY[*]}', and no $word"
        done
    else
        [ "${COMPREPLY[*]}" = "$1" ] || fail "'$2' offers '${COMPREPLY[*]}', not '$1'"
    fi
}

# Commands and the program's flags.
expect 'bench' 'cleave be'
expect '+methods scenes gen bench verify completion help' 'cleave '
expect '--version' 'cleave --v'
expect 'auto always' 'cleave --ansi a'
expect 'bench' 'cleave --ansi never be'
expect 'bench' 'cleave --plugin=my.so be'
# Flags.
expect '--frames' 'cleave bench --fr'
expect '--overlay' 'cleave render x --ov'
expect '+--isa --set --json --help' 'cleave bench --'
# Methods, instruction sets, parameters, words of a flag; after = and behind commas.
expect 'sap segment-tree' 'cleave bench -m s'
expect 'sap,grid sap,grid-sap' 'cleave bench --methods sap,gr'
expect '+kd bullet-dbvt-f gpu' 'cleave verify --judge '
expect 'avx2 avx512' 'cleave bench --isa av'
expect 'avx2 avx512' 'cleave bench --isa=av'
expect '+scalar all' 'cleave bench --isa='
expect 'sse2,avx2 sse2,avx512' 'cleave bench --isa sse2,av'
expect 'avx2 avx512' 'cleave bench -m sap@av'
expect 'kd.leaf=' 'cleave bench --set kd.l'
expect '' 'cleave bench --set kd.leaf=2'
expect 'static speed size' 'cleave render x --colour s'
expect 'pairs,tree' 'cleave render x --overlay pairs,t'
expect 'rays' 'cleave verify --queries r'
# Scenes, their types, schedules, experiments, commands, shells; files.
expect 'gravity' 'cleave bench grav'
expect 'gravity growing' 'cleave gen gr'
expect 'gravity' 'cleave info grav'
expect 'assorted' 'cleave bench gravity:8k:a'
expect 'gravity' 'cleave run full --scenes grav'
expect 'quick' 'cleave run qu'
expect 'tower' 'cleave sim t'
expect 'report render' 'cleave help re'
expect 'fish' 'cleave completion f'
touch "$folder/results.json"
expect "$folder/results.json" "cleave report $folder/res"
expect "$folder/results.json" "cleave bench --json $folder/res"
touch "$folder/with space.json"
COMP_WORDS=( cleave report "$folder/with" ) COMP_CWORD=2
_cleave
[ "${#COMPREPLY[@]} ${COMPREPLY[0]}" = "1 $folder/with space.json" ] || fail "a file with a space is '${COMPREPLY[*]}'"
# Nothing where nothing is known.
expect '' 'cleave methods x'
expect '' 'cleave bench --frames 1'
expect '' 'cleave nonsense --x'

# Every command and flag of the help is in each script.
for shell in bash zsh fish; do
    "$cleave" completion $shell -o "$folder/script.$shell" || fail "no script for $shell"
    for command in $("$cleave" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  .*/\1/p'); do
        grep -q -- "$command" "$folder/script.$shell" || fail "$shell: no $command"
        for flag in $("$cleave" "$command" --help | sed -n '/^Flags:/,/^$/s/^  \(-., \|    \)--\([a-z-]*\).*/\2/p'); do
            grep -q -- "$flag" "$folder/script.$shell" || fail "$shell: no --$flag of $command"
        done
    done
done
bash -n "$folder/script.bash" || fail "bash cannot read its script"
for shell in zsh fish; do
    if command -v $shell >/dev/null 2>&1; then
        $shell -n "$folder/script.$shell" || fail "$shell cannot read its script"
    else
        echo "check-completion.sh: $shell is not here: its script was not read"
    fi
done
if command -v fish >/dev/null 2>&1; then
    said=$(HOME=$folder fish -c "source $folder/script.fish; complete -C 'cleave bench --isa=sse2,avx5'" | cut -f1)
    [ "$said" = "--isa=sse2,avx512" ] || fail "fish offers '$said'"
fi
echo "check-completion.sh: commands, flags and names are completed"
