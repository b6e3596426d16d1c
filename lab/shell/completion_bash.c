// SPDX-License-Identifier: MIT
// For bash 4.1 and later, without the functions of the package bash-completion.
#include "lab/shell/completion.h"

#include <string.h>

// Takes a command, a flag or a name, and fills COMPREPLY. Readline breaks words at = : and @ too, so that the parts of --isa=avx2,
// gravity:8k and sap@avx2 come one by one.
static const char s_functions[] =
    "# Words of a list, or some of them with commas between, or files.\n"
    "_cleave_fill()\n"
    "{\n"
    "    local kind=$1 words=_cleave_$2 cur=$3 before=''\n"
    "    case $kind in\n"
    "    file)\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        ;;\n"
    "    word) mapfile -t COMPREPLY < <(compgen -W \"${!words}\" -- \"$cur\") ;;\n"
    "    words)\n"
    "        before=${cur%\"${cur##*,}\"}\n"
    "        mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"${!words}\" -- \"${cur##*,}\")\n"
    "        ;;\n"
    "    either)\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"${!words}\" -- \"$cur\"; compgen -f -- \"$cur\")\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        ;;\n"
    "    esac\n"
    "    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null\n"
    "}\n"
    "\n"
    "_cleave()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]} command='' flag='' value='' skips='' word i\n"
    "    COMPREPLY=()\n"
    "    for (( i = 1; i < COMP_CWORD; ++i )); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if [[ -n $skips ]]; then\n"
    "            [[ $word == '=' ]] || skips=\n"
    "        elif [[ $word == -* ]]; then\n"
    "            value=$(_cleave_value '' \"$word\")\n"
    "            skips=${value#none}\n"
    "        else\n"
    "            command=$word\n"
    "            break\n"
    "        fi\n"
    "    done\n"
    "    flag=$last\n"
    "    case $cur in '=' | ':' | '@') last=$cur cur='' ;; esac\n"
    "    case $last in\n"
    "    '=')\n"
    "        [[ $flag != '=' ]] || flag=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "        value=$(_cleave_value \"$command\" \"$flag\")\n"
    "        [[ -z $value ]] || _cleave_fill $value \"$cur\"\n"
    "        return\n"
    "        ;;\n"
    "    ':') _cleave_fill word type \"$cur\"; return ;;\n"
    "    '@') _cleave_fill word I \"$cur\"; return ;;\n"
    "    esac\n"
    "    value=$(_cleave_value \"$command\" \"$flag\")\n"
    "    if [[ -n $value && $value != none ]]; then\n"
    "        _cleave_fill $value \"$cur\"\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$(_cleave_flags \"$command\")\" -- \"$cur\")\n"
    "    elif [[ -z $command ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$_cleave_commands\" -- \"$cur\")\n"
    "    else\n"
    "        _cleave_fill $(_cleave_operand \"$command\") \"$cur\"\n"
    "    fi\n"
    "}\n"
    "complete -F _cleave cleave\n";

static void write_words( const text_list* words, FILE* stream )
{
    for ( uint32_t index = 0; index < words->count; ++index )
    {
        fprintf( stream, "%s%s", index > 0 ? " " : "", words->items[index] );
    }
}

// What _cleave_fill takes: a kind and the name of a list.
static void write_value( const completion_model* model, completion_value value, FILE* stream )
{
    static const char* const kinds[] = { "none", "any", "file", "word", "words", "either" };
    bool has_list = value.kind == COMPLETION_WORD || value.kind == COMPLETION_WORDS ||
        value.kind == COMPLETION_WORD_OR_FILE;
    fprintf( stream, "echo '%s %s' ;;\n", kinds[value.kind], has_list ? model->lists[value.list].name : "-" );
}

static void write_flags( const completion_model* model, FILE* stream )
{
    fputs( "\n_cleave_flags()\n{\n    case $1 in\n", stream );
    for ( uint32_t index = 0; index < model->command_count; ++index )
    {
        const completion_command* command = &model->commands[index];
        fprintf( stream, "    '%s') echo '", command->name );
        for ( uint32_t flag = 0; flag < command->flag_count; ++flag )
        {
            fprintf( stream, "%s ", command->flags[flag].name );
        }
        fprintf( stream, "%s' ;;\n", index > 0 ? "--help" : "" );
    }
    fputs( "    esac\n}\n", stream );
}

static void write_values( const completion_model* model, FILE* stream )
{
    fputs( "\n# What a flag takes: a kind and a list; nothing for what is no flag.\n"
           "_cleave_value()\n{\n    case \"$1 $2\" in\n",
        stream );
    for ( uint32_t index = 0; index < model->command_count; ++index )
    {
        const completion_command* command = &model->commands[index];
        for ( uint32_t at = 0; at < command->flag_count; ++at )
        {
            const completion_flag* flag = &command->flags[at];
            fprintf( stream, "    '%s %s'", command->name, flag->name );
            if ( flag->letter != 0 )
            {
                fprintf( stream, " | '%s -%c'", command->name, flag->letter );
            }
            fputs( ") ", stream );
            if ( flag->value.kind == COMPLETION_NONE )
            {
                fputs( "echo none ;;\n", stream );
                continue;
            }
            write_value( model, flag->value, stream );
        }
    }
    fputs( "    esac\n}\n", stream );
}

static void write_operands( const completion_model* model, FILE* stream )
{
    fputs( "\n_cleave_operand()\n{\n    case $1 in\n", stream );
    for ( uint32_t index = 1; index < model->command_count; ++index )
    {
        fprintf( stream, "    %s) ", model->commands[index].name );
        write_value( model, model->commands[index].operand, stream );
    }
    fputs( "    *) echo 'none -' ;;\n    esac\n}\n\n", stream );
}

void completion_bash( const completion_model* model, FILE* stream )
{
    fputs( "# bash completion for cleave; `cleave completion bash` prints it.\n_cleave_commands='", stream );
    for ( uint32_t index = 1; index < model->command_count; ++index )
    {
        fprintf( stream, "%s%s", index > 1 ? " " : "", model->commands[index].name );
    }
    fputs( "'\n", stream );
    for ( uint32_t index = 0; index < model->list_count; ++index )
    {
        fprintf( stream, "_cleave_%s='", model->lists[index].name );
        write_words( &model->lists[index].words, stream );
        fputs( "'\n", stream );
    }
    write_flags( model, stream );
    write_values( model, stream );
    write_operands( model, stream );
    fputs( s_functions, stream );
}
