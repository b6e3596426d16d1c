// SPDX-License-Identifier: MIT
#include "lab/measure/sweep.h"

#include "lab/measure/range.h"

#include <stdlib.h>
#include <string.h>

typedef struct sweep
{
    char* name;
    number_list values;
} sweep;

static void append( run_spec_list* list, const run_spec* spec, const char* name, double value )
{
    run_spec* made = lab_list_next( list->items, list->count );
    *made = *spec;
    made->settings = spec->settings != NULL ? text_copy( spec->settings ) : NULL;
    if ( name != NULL )
    {
        char number[RANGE_TEXT_ROOM];
        char* setting = text_format( "%s=%s", name, range_text( value, number ) );
        run_spec_add_setting( made, setting );
        free( setting );
    }
}

static bool multiply( run_spec_list* list, const sweep* parameter, lab_error* why )
{
    run_spec_list wider = { 0 };
    bool is_known = false;
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        const run_spec* spec = &list->items[index];
        if ( !run_spec_knows( spec, parameter->name, strlen( parameter->name ) ) )
        {
            append( &wider, spec, NULL, 0 );
            continue;
        }
        is_known = true;
        for ( uint32_t value = 0; value < parameter->values.count; ++value )
        {
            append( &wider, spec, parameter->name, parameter->values.items[value] );
        }
    }
    if ( !is_known )
    {
        run_spec_list_free( &wider );
        return run_param_fail( "sweep", parameter->name, list, why );
    }
    run_spec_list_free( list );
    *list = wider;
    return true;
}

// The values of one item; `values` may be "32..4096" or, from a schedule, "32,64".
static bool add_values( sweep* parameter, const char* item, const char* values, lab_error* why )
{
    text_list words = { 0 };
    char reason[128] = "there must be values between the commas";
    bool good = text_list_add_split( &words, values );
    for ( uint32_t index = 0; good && index < words.count; ++index )
    {
        good = range_add( &parameter->values, words.items[index], reason, sizeof( reason ) );
    }
    text_list_free( &words );
    return good || lab_error_write( why, "sweep: '%s': %s", item, reason );
}

// Reads items from *next on, up to the next one that begins a sweep of its own.
static bool read_sweep( sweep* parameter, const text_list* items, uint32_t* next, lab_error* why )
{
    const char* item = items->items[*next];
    const char* equals = strchr( item, '=' );
    if ( equals == NULL || equals == item )
    {
        return lab_error_write(
            why, "sweep: '%s' is none; write name=values, such as kd.leaf=32..4096 or kd.leaf=64,256", item );
    }
    parameter->name = text_copy( item );
    parameter->name[equals - item] = '\0';
    bool good = add_values( parameter, item, equals + 1, why );
    for ( *next += 1; good && *next < items->count && strchr( items->items[*next], '=' ) == NULL; *next += 1 )
    {
        good = add_values( parameter, items->items[*next], items->items[*next], why );
    }
    return good;
}

bool sweep_expand( run_spec_list* list, const text_list* sweeps, lab_error* why )
{
    bool good = true;
    for ( uint32_t next = 0; good && next < sweeps->count; )
    {
        sweep parameter = { 0 };
        good = read_sweep( &parameter, sweeps, &next, why ) && parameter.name != NULL &&
            multiply( list, &parameter, why );
        number_list_free( &parameter.values );
        free( parameter.name );
    }
    return good;
}
