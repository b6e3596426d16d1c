// SPDX-License-Identifier: MIT
// For fish 3.0 and later: one line per flag.
#include "lab/shell/completion.h"

#include <string.h>

static const char s_functions[] =
    "# Is this the command on the line? '' where none is there yet.\n"
    "function __cleave_is\n"
    "    set -l words (commandline -opc)\n"
    "    set -l skips no\n"
    "    for word in $words[2..-1]\n"
    "        if test $skips = yes\n"
    "            set skips no\n"
    "            continue\n"
    "        end\n"
    "        switch $word\n"
    "            case --plugin --ansi\n"
    "                set skips yes\n"
    "            case '-*'\n"
    "            case '*'\n"
    "                test \"$word\" = \"$argv[1]\"\n"
    "                return\n"
    "        end\n"
    "    end\n"
    "    test -z \"$argv[1]\"\n"
    "end\n\n"
    "# Some words of a list, with commas between.\n"
    "function __cleave_words\n"
    "    set -l token (string replace -r '^--[a-z-]+=' '' -- (commandline -ct))\n"
    "    set -l before (string match -r '^.*,' -- $token)\n"
    "    for word in ($argv[1])\n"
    "        echo \"$before$word\"\n"
    "    end\n"
    "end\n\n";

static void write_quoted( const char* text, FILE* stream )
{
    fputc( '\'', stream );
    for ( const char* c = text; *c != '\0'; ++c )
    {
        fprintf( stream, "%s%c", *c == '\'' || *c == '\\' ? "\\" : "", *c );
    }
    fputc( '\'', stream );
}

// Flags of `complete` that tell what follows.
static void write_value(
    const completion_model* model, completion_value value, bool is_operand, FILE* stream )
{
    const char* list = value.list < model->list_count ? model->lists[value.list].name : "";
    const char* needs = is_operand ? "" : " -r";
    switch ( value.kind )
    {
    case COMPLETION_NONE: break;
    case COMPLETION_ANY: fprintf( stream, "%s -f", needs ); break;
    case COMPLETION_FILE: fprintf( stream, "%s -F", needs ); break;
    case COMPLETION_WORD: fprintf( stream, "%s -f -a '(__cleave_%s)'", needs, list ); break;
    case COMPLETION_WORDS: fprintf( stream, "%s -f -a '(__cleave_words __cleave_%s)'", needs, list ); break;
    case COMPLETION_WORD_OR_FILE: fprintf( stream, "%s -F -a '(__cleave_%s)'", needs, list ); break;
    }
}

static void write_flag(
    const completion_model* model, const char* command, const completion_flag* flag, FILE* stream )
{
    fprintf( stream, "complete -c cleave -n \"__cleave_is '%s'\" -l %s", command, flag->name + 2 );
    if ( flag->letter != 0 )
    {
        fprintf( stream, " -s %c", flag->letter );
    }
    write_value( model, flag->value, false, stream );
    fputs( " -d ", stream );
    write_quoted( flag->help, stream );
    fputc( '\n', stream );
}

void completion_fish( const completion_model* model, FILE* stream )
{
    fputs( "# fish completion for cleave; `cleave completion fish` prints it.\n", stream );
    fputs( s_functions, stream );
    for ( uint32_t index = 0; index < model->list_count; ++index )
    {
        const completion_list* list = &model->lists[index];
        fprintf( stream, "function __cleave_%s\n    string split ' ' '", list->name );
        for ( uint32_t word = 0; word < list->words.count; ++word )
        {
            fprintf( stream, "%s%s", word > 0 ? " " : "", list->words.items[word] );
        }
        fputs( "'\nend\n", stream );
    }
    fputs( "\ncomplete -c cleave -f\n", stream );
    for ( uint32_t index = 0; index < model->command_count; ++index )
    {
        const completion_command* command = &model->commands[index];
        if ( index > 0 )
        {
            fprintf( stream, "complete -c cleave -n \"__cleave_is ''\" -a %s -d ", command->name );
            write_quoted( command->about, stream );
            fputc( '\n', stream );
        }
        for ( uint32_t flag = 0; flag < command->flag_count; ++flag )
        {
            write_flag( model, command->name, &command->flags[flag], stream );
        }
        if ( index > 0 )
        {
            fprintf( stream, "complete -c cleave -n \"__cleave_is '%s'\" -l help -s h -d 'print the help'\n",
                command->name );
        }
        if ( index > 0 && command->operand.kind != COMPLETION_NONE )
        {
            fprintf( stream, "complete -c cleave -n \"__cleave_is '%s'\"", command->name );
            write_value( model, command->operand, true, stream );
            fputc( '\n', stream );
        }
    }
}
