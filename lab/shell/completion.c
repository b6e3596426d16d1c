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

static completion_value value_of(
    completion_model* model, const args_table* table, const args_flag* flag, completion_words* words )
{
    const choice* choices = args_choices( table, flag );
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
    completion_command made = { .name = text_copy( name ), .about = text_copy( about ) };
    made.operand = operand_of( model, table, words, &made.operand_name );
    for ( uint32_t index = 0; index < table->flag_count; ++index )
    {
        const args_flag* flag = &table->flags[index];
        *lab_list_next( made.flags, made.flag_count ) = ( completion_flag ){
            .name = text_copy( flag->name ),
            .letter = flag->letter,
            .help = args_flag_help( flag ),
            .value_name = flag->value_name != NULL ? text_copy( flag->value_name ) : NULL,
            .value = value_of( model, table, flag, words ),
        };
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
            free( command->flags[flag].name );
            free( command->flags[flag].help );
            free( command->flags[flag].value_name );
        }
        free( command->flags );
        free( command->name );
        free( command->about );
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
