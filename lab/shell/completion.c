// SPDX-License-Identifier: MIT
#include "lab/shell/completion.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- lists of words

static bool is_same( const text_list* a, const text_list* b )
{
    bool same = a->count == b->count;
    for ( uint32_t index = 0; same && index < a->count; ++index )
    {
        same = strcmp( a->items[index], b->items[index] ) == 0;
    }
    return same;
}

// Letters and digits, which every shell takes for a name.
static char* plain_name( const char* text )
{
    char* name = text_copy( text + strspn( text, "-" ) );
    for ( char* c = name; *c != '\0'; ++c )
    {
        *c = isalnum( (unsigned char)*c ) ? *c : '_';
    }
    return name;
}

// Its index; commands that take the same words share a list. The words are taken over.
static uint32_t add_list( completion_model* model, const char* name, text_list* words )
{
    for ( uint32_t index = 0; index < model->list_count; ++index )
    {
        if ( is_same( &model->lists[index].words, words ) )
        {
            text_list_free( words );
            return index;
        }
    }
    // Other words under a name that there is: the names must differ.
    char* plain = plain_name( name );
    for ( uint32_t index = 0; index < model->list_count; ++index )
    {
        if ( strcmp( model->lists[index].name, plain ) == 0 )
        {
            char* longer = text_format( "%s_%u", plain, model->list_count );
            free( plain );
            plain = longer;
        }
    }
    *lab_list_next( model->lists, model->list_count ) = ( completion_list ){ plain, *words };
    return model->list_count - 1;
}

static void add_choices( text_list* words, const choice* choices )
{
    for ( ; choices->word != NULL; ++choices )
    {
        text_list_add( words, choices->word );
    }
}

// ---- values

// "METHOD,…" and "[PORT]" without what says how many; to free.
static char* bare_value( const char* value_name )
{
    char* bare = text_copy( value_name + ( value_name[0] == '[' ? 1 : 0 ) );
    bare[strcspn( bare, ",]" )] = '\0';
    return bare;
}

static bool is_file( const char* value )
{
    static const char* const names[] = { "FILE", "OUT", "DIR", "FOLDER", "PROGRAM", "PATH" };
    for ( size_t index = 0; index < sizeof( names ) / sizeof( names[0] ); ++index )
    {
        if ( text_starts_with( value, names[index] ) )
        {
            return true;
        }
    }
    return false;
}

static completion_value value_of( completion_model* model, const args_flag* flag, completion_words* words )
{
    const choice* choices = flag->choices;
    bool is_list = flag->kind == ARGS_TEXTS;
    text_list found = { 0 };
    completion_value value = { COMPLETION_ANY, 0 };
    char* bare = flag->value_name != NULL ? bare_value( flag->value_name ) : text_copy( "" );
    if ( flag->kind == ARGS_SWITCH )
    {
        value.kind = COMPLETION_NONE;
    }
    else if ( choices != NULL )
    {
        add_choices( &found, choices );
        value = ( completion_value ){ is_list ? COMPLETION_WORDS : COMPLETION_WORD,
            add_list( model, flag->name, &found ) };
    }
    else if ( words( bare, &found ) )
    {
        value = ( completion_value ){ is_list ? COMPLETION_WORDS : COMPLETION_WORD,
            add_list( model, bare, &found ) };
    }
    else if ( is_file( bare ) )
    {
        value.kind = COMPLETION_FILE;
    }
    free( bare );
    return value;
}

// The next name in "a FILE or a SCENE", to free; NULL if there is none. *rest moves past it.
static char* next_name( const char** rest )
{
    const char* start = *rest;
    while ( *start != '\0' && !( isupper( (unsigned char)start[0] ) && isupper( (unsigned char)start[1] ) ) )
    {
        start += 1;
    }
    size_t length = strcspn( start, " ,." );
    *rest = start + length;
    return length > 0 ? text_format( "%.*s", (int)length, start ) : NULL;
}

// What operands are, and the name of that; of several names the first whose words are known.
static completion_value operand_of(
    completion_model* model, const args_table* table, completion_words* words, char** shown )
{
    text_list found = { 0 };
    completion_value value = { table->operand_name != NULL ? COMPLETION_FILE : COMPLETION_NONE, 0 };
    const char* rest = table->operand_name != NULL ? table->operand_name : "";
    *shown = table->operand_name != NULL ? text_copy( "FILE" ) : NULL;
    for ( char* name = next_name( &rest ); name != NULL; name = next_name( &rest ) )
    {
        bool is_choice = table->operand_choices != NULL;
        if ( value.kind == COMPLETION_FILE && is_choice )
        {
            add_choices( &found, table->operand_choices );
        }
        if ( value.kind == COMPLETION_FILE && ( is_choice || words( name, &found ) ) )
        {
            bool is_word = is_choice || strcmp( name, "COMMAND" ) == 0;
            value = ( completion_value ){ is_word ? COMPLETION_WORD : COMPLETION_WORD_OR_FILE,
                add_list( model, name, &found ) };
            free( *shown );
            *shown = text_copy( name );
        }
        free( name );
    }
    return value;
}

// ---- commands

void completion_add( completion_model* model, const char* name, const char* about, const args_table* table,
    completion_words* words )
{
    completion_command made = { .name = name, .about = about };
    made.operand = operand_of( model, table, words, &made.operand_name );
    for ( uint32_t index = 0; index < table->flag_count; ++index )
    {
        const args_flag* flag = &table->flags[index];
        *lab_list_next( made.flags, made.flag_count ) =
            ( completion_flag ){ *flag, args_flag_help( flag ), value_of( model, flag, words ) };
    }
    *lab_list_next( model->commands, model->command_count ) = made;
}

void completion_free( completion_model* model )
{
    for ( uint32_t index = 0; index < model->command_count; ++index )
    {
        completion_command* command = &model->commands[index];
        for ( uint32_t flag = 0; flag < command->flag_count; ++flag )
        {
            free( command->flags[flag].help );
        }
        free( command->flags );
        free( command->operand_name );
    }
    for ( uint32_t index = 0; index < model->list_count; ++index )
    {
        free( model->lists[index].name );
        text_list_free( &model->lists[index].words );
    }
    free( model->commands );
    free( model->lists );
    *model = ( completion_model ){ 0 };
}

// ---- For bash 4.1 and later, without the functions of the package bash-completion.

// Takes a command, a flag or a name, and fills COMPREPLY. Readline breaks words at = : and @ too, so that the
// parts of --isa=avx2, gravity:8k and sap@avx2 come one by one.

static void write_words( const text_list* words, FILE* stream )
{
    for ( uint32_t index = 0; index < words->count; ++index )
    {
        fprintf( stream, "%s%s", index > 0 ? " " : "", words->items[index] );
    }
}

// What _cleave_fill takes: a kind and the name of a list.
static void write_bash_value( const completion_model* model, completion_value value, FILE* stream )
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
            fprintf( stream, "%s ", command->flags[flag].flag.name );
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
            fprintf( stream, "    '%s %s'", command->name, flag->flag.name );
            if ( flag->flag.letter != 0 )
            {
                fprintf( stream, " | '%s -%c'", command->name, flag->flag.letter );
            }
            fputs( ") ", stream );
            if ( flag->value.kind == COMPLETION_NONE )
            {
                fputs( "echo none ;;\n", stream );
                continue;
            }
            write_bash_value( model, flag->value, stream );
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
        write_bash_value( model, model->commands[index].operand, stream );
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
    fputs( carried_find( "lab/shell/completion.bash" )->text, stream );
}

// ---- For zsh's own completion system: one call of _arguments per command.

// Inside '…' of a specification, where [ ] and : have a meaning of their own.
static void write_zsh_quoted( const char* text, const char* special, FILE* stream )
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

static void write_zsh_flag( const completion_model* model, const completion_flag* flag, FILE* stream )
{
    bool has_value = flag->value.kind != COMPLETION_NONE;
    fputs( "            ", stream );
    if ( flag->flag.letter != 0 )
    {
        fprintf( stream, "'(-%c %s)'{-%c%s,%s%s}", flag->flag.letter, flag->flag.name, flag->flag.letter,
            has_value ? "+" : "", flag->flag.name, has_value ? "=" : "" );
    }
    else
    {
        fprintf( stream, "%s%s", flag->flag.name, has_value ? "=" : "" );
    }
    fputs( "'[", stream );
    write_zsh_quoted( flag->help, "[]:\\", stream );
    fputs( "]", stream );
    if ( has_value )
    {
        fputs( ":", stream );
        write_zsh_quoted( flag->flag.value_name, "[]:\\", stream );
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
        write_zsh_flag( model, &command->flags[flag], stream );
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

static void write_lists( const completion_model* model, FILE* stream )
{
    fputs( "    local -A _cleave_lists=(\n", stream );
    for ( uint32_t index = 0; index < model->list_count; ++index )
    {
        const completion_list* list = &model->lists[index];
        fprintf( stream, "        %s '", list->name );
        write_words( &list->words, stream );
        fputs( "'\n", stream );
    }
    fputs( "    )\n    local -a commands=(\n", stream );
    for ( uint32_t index = 1; index < model->command_count; ++index )
    {
        fprintf( stream, "        '%s:", model->commands[index].name );
        write_zsh_quoted( model->commands[index].about, ":\\", stream );
        fputs( "'\n", stream );
    }
    fputs( "    )\n", stream );
}

void completion_zsh( const completion_model* model, FILE* stream )
{
    fputs( carried_find( "lab/shell/completion.zsh" )->text, stream );
    fputs( "_cleave()\n{\n    local curcontext=$curcontext state line\n    local -A opt_args\n", stream );
    write_lists( model, stream );
    fputs( "    _arguments -C \\\n", stream );
    for ( uint32_t flag = 0; flag < model->commands[0].flag_count; ++flag )
    {
        write_zsh_flag( model, &model->commands[0].flags[flag], stream );
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

// ---- For fish 3.0 and later: one line per flag.

static void write_fish_quoted( const char* text, FILE* stream )
{
    fputc( '\'', stream );
    for ( const char* c = text; *c != '\0'; ++c )
    {
        fprintf( stream, "%s%c", *c == '\'' || *c == '\\' ? "\\" : "", *c );
    }
    fputc( '\'', stream );
}

// Flags of `complete` that tell what follows.
static void write_fish_value(
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

static void write_fish_flag(
    const completion_model* model, const char* command, const completion_flag* flag, FILE* stream )
{
    fprintf( stream, "complete -c cleave -n \"__cleave_is '%s'\" -l %s", command, flag->flag.name + 2 );
    if ( flag->flag.letter != 0 )
    {
        fprintf( stream, " -s %c", flag->flag.letter );
    }
    write_fish_value( model, flag->value, false, stream );
    fputs( " -d ", stream );
    write_fish_quoted( flag->help, stream );
    fputc( '\n', stream );
}

void completion_fish( const completion_model* model, FILE* stream )
{
    fputs( "# fish completion for cleave; `cleave completion fish` prints it.\n", stream );
    fputs( carried_find( "lab/shell/completion.fish" )->text, stream );
    for ( uint32_t index = 0; index < model->list_count; ++index )
    {
        const completion_list* list = &model->lists[index];
        fprintf( stream, "function __cleave_%s\n    string split ' ' '", list->name );
        write_words( &list->words, stream );
        fputs( "'\nend\n", stream );
    }
    fputs( "\ncomplete -c cleave -f\n", stream );
    for ( uint32_t index = 0; index < model->command_count; ++index )
    {
        const completion_command* command = &model->commands[index];
        if ( index > 0 )
        {
            fprintf( stream, "complete -c cleave -n \"__cleave_is ''\" -a %s -d ", command->name );
            write_fish_quoted( command->about, stream );
            fputc( '\n', stream );
        }
        for ( uint32_t flag = 0; flag < command->flag_count; ++flag )
        {
            write_fish_flag( model, command->name, &command->flags[flag], stream );
        }
        if ( index > 0 )
        {
            fprintf( stream, "complete -c cleave -n \"__cleave_is '%s'\" -l help -s h -d 'print the help'\n",
                command->name );
        }
        if ( index > 0 && command->operand.kind != COMPLETION_NONE )
        {
            fprintf( stream, "complete -c cleave -n \"__cleave_is '%s'\"", command->name );
            write_fish_value( model, command->operand, true, stream );
            fputc( '\n', stream );
        }
    }
}
