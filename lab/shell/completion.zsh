#compdef cleave
# zsh completion for cleave; `cleave completion zsh` prints it.

# One word of a list; some with commas between; a word or a file. A word that ends in = has more to come.
_cleave_word()
{
    compadd "${@[1,-2]}" - ${=_cleave_lists[${@[-1]}]}
}
_cleave_words()
{
    local -a known=( ${=_cleave_lists[${@[-1]}]} )
    compset -P '*,'
    if [[ $known[1] == *= ]]; then
        compadd -S '' - $known
    else
        compadd -qS , - $known
    fi
}
_cleave_either()
{
    _cleave_word "$@"
    _files
}

