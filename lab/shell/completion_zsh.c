// SPDX-License-Identifier: MIT
// For zsh's own completion system: one call of _arguments per command.
#include "lab/shell/completion.h"

#include <string.h>

// Inside '…' of a specification, where [ ] and : have a meaning of their own.
static void write_quoted( const char* text, const char* special, FILE* stream )
{
    for ( const char* c = text; *c != '\0'; ++c )
    {
        if ( *c == '\'' )
        {
            fputs( "'\\''", stream );
            continue;
        }
        fprintf( stream, "%s%c", strchr( special, *c ) != NULL ? "\\" : "", *c );
    }
}

static void write_action( const completion_model* model, completion_value value, FILE* stream )
{
    const char* list = value.list < model->list_count ? model->lists[value.list].name : "";
    switch ( value.kind )
    {
    case COMPLETION_NONE:
    case COMPLETION_ANY: fputs( " ", stream ); break;
    case COMPLETION_FILE: fputs( "_files", stream ); break;
    case COMPLETION_WORD: fprintf( stream, "_cleave_word %s", list ); break;
    case COMPLETION_WORDS: fprintf( stream, "_cleave_words %s", list ); break;
    case COMPLETION_WORD_OR_FILE: fprintf( stream, "_cleave_either %s", list ); break;
    }
}

static void write_flag( const completion_model* model, const completion_flag* flag, FILE* stream )
{
    bool has_value = flag->value.kind != COMPLETION_NONE;
    fputs( "            ", stream );
    if ( flag->letter != 0 )
    {
        fprintf( stream, "'(-%c %s)'{-%c%s,%s%s}", flag->letter, flag->name, flag->letter,
            has_value ? "+" : "", flag->name, has_value ? "=" : "" );
    }
    else
    {
        fprintf( stream, "%s%s", flag->name, has_value ? "=" : "" );
    }
    fputs( "'[", stream );
    write_quoted( flag->help, "[]:\\", stream );
    fputs( "]", stream );
    if ( has_value )
    {
        fputs( ":", stream );
        write_quoted( flag->value_name, "[]:\\", stream );
        fputs( ":", stream );
        write_action( model, flag->value, stream );
    }
    fputs( "' \\\n", stream );
}

static void write_command( const completion_model* model, const completion_command* command, FILE* stream )
{
    fprintf( stream, "        %s)\n            _arguments \\\n", command->name );
    for ( uint32_t flag = 0; flag < command->flag_count; ++flag )
    {
        write_flag( model, &command->flags[flag], stream );
    }
    fputs( "            '(-h --help)'{-h,--help}'[print the help]'", stream );
    if ( command->operand_name != NULL )
    {
        fprintf( stream, " \\\n            '*:%s:", command->operand_name );
        write_action( model, command->operand, stream );
        fputs( "'", stream );
    }
    fputs( " ;;\n", stream );
}

// Helpers see the lists: what is local in zsh is seen by the functions called from there.
static const char s_functions[] =
    "#compdef cleave\n# zsh completion for cleave; `cleave completion zsh` prints it.\n\n"
    "# One word of a list; some with commas between; a word or a file. A word that ends in = has more to come.\n"
    "_cleave_word()\n{\n    compadd \"${@[1,-2]}\" - ${=_cleave_lists[${@[-1]}]}\n}\n"
    "_cleave_words()\n{\n    local -a known=( ${=_cleave_lists[${@[-1]}]} )\n    compset -P '*,'\n"
    "    if [[ $known[1] == *= ]]; then\n        compadd -S '' - $known\n    else\n"
    "        compadd -qS , - $known\n    fi\n}\n"
    "_cleave_either()\n{\n    _cleave_word \"$@\"\n    _files\n}\n\n";

static void write_lists( const completion_model* model, FILE* stream )
{
    fputs( "    local -A _cleave_lists=(\n", stream );
    for ( uint32_t index = 0; index < model->list_count; ++index )
    {
        const completion_list* list = &model->lists[index];
        fprintf( stream, "        %s '", list->name );
        for ( uint32_t word = 0; word < list->words.count; ++word )
        {
            fprintf( stream, "%s%s", word > 0 ? " " : "", list->words.items[word] );
        }
        fputs( "'\n", stream );
    }
    fputs( "    )\n    local -a commands=(\n", stream );
    for ( uint32_t index = 1; index < model->command_count; ++index )
    {
        fprintf( stream, "        '%s:", model->commands[index].name );
        write_quoted( model->commands[index].about, ":\\", stream );
        fputs( "'\n", stream );
    }
    fputs( "    )\n", stream );
}

void completion_zsh( const completion_model* model, FILE* stream )
{
    fputs( s_functions, stream );
    fputs( "_cleave()\n{\n    local curcontext=$curcontext state line\n    local -A opt_args\n", stream );
    write_lists( model, stream );
    fputs( "    _arguments -C \\\n", stream );
    for ( uint32_t flag = 0; flag < model->commands[0].flag_count; ++flag )
    {
        write_flag( model, &model->commands[0].flags[flag], stream );
    }
    fputs( "            '1:command:->command' '*::argument:->argument'\n"
           "    case $state in\n    command) _describe command commands ;;\n    argument)\n"
           "        case $words[1] in\n",
        stream );
    for ( uint32_t index = 1; index < model->command_count; ++index )
    {
        write_command( model, &model->commands[index], stream );
    }
    fputs( "        esac ;;\n    esac\n}\n\n_cleave \"$@\"\n", stream );
}
