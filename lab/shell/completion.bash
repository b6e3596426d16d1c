# Words of a list, or some of them with commas between, or files.
_cleave_fill()
{
    local kind=$1 words=_cleave_$2 cur=$3 before=''
    case $kind in
    file)
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        compopt -o filenames 2>/dev/null
        ;;
    word) mapfile -t COMPREPLY < <(compgen -W "${!words}" -- "$cur") ;;
    words)
        before=${cur%"${cur##*,}"}
        mapfile -t COMPREPLY < <(compgen -P "$before" -W "${!words}" -- "${cur##*,}")
        ;;
    either)
        mapfile -t COMPREPLY < <(compgen -W "${!words}" -- "$cur"; compgen -f -- "$cur")
        compopt -o filenames 2>/dev/null
        ;;
    esac
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
}

_cleave()
{
    local cur=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]} command='' flag='' value='' skips='' word i
    COMPREPLY=()
    for (( i = 1; i < COMP_CWORD; ++i )); do
        word=${COMP_WORDS[i]}
        if [[ -n $skips ]]; then
            [[ $word == '=' ]] || skips=
        elif [[ $word == -* ]]; then
            value=$(_cleave_value '' "$word")
            skips=${value#none}
        else
            command=$word
            break
        fi
    done
    flag=$last
    case $cur in '=' | ':' | '@') last=$cur cur='' ;; esac
    case $last in
    '=')
        [[ $flag != '=' ]] || flag=${COMP_WORDS[COMP_CWORD - 2]}
        value=$(_cleave_value "$command" "$flag")
        [[ -z $value ]] || _cleave_fill $value "$cur"
        return
        ;;
    ':') _cleave_fill word type "$cur"; return ;;
    '@') _cleave_fill word I "$cur"; return ;;
    esac
    value=$(_cleave_value "$command" "$flag")
    if [[ -n $value && $value != none ]]; then
        _cleave_fill $value "$cur"
    elif [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_cleave_flags "$command")" -- "$cur")
    elif [[ -z $command ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$_cleave_commands" -- "$cur")
    else
        _cleave_fill $(_cleave_operand "$command") "$cur"
    fi
}
complete -F _cleave cleave
