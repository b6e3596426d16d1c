// SPDX-License-Identifier: MIT
#include "method/methods.h"

#include "base/number.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const method* const s_methods[] = {
#define METHOD( file, row ) &method_##row,
#include "method/table.def"
#undef METHOD
};

#define OWN_COUNT ( (uint32_t)( sizeof( s_methods ) / sizeof( s_methods[0] ) ) )

static const method* s_guests[METHOD_GUESTS];
static uint32_t s_guest_count;

uint32_t method_count( void )
{
    return OWN_COUNT + s_guest_count;
}

const method* method_at( uint32_t index )
{
    return index < OWN_COUNT ? s_methods[index] : s_guests[index - OWN_COUNT];
}

const method* method_find( const char* name )
{
    for ( uint32_t i = 0; i < method_count(); ++i )
    {
        if ( strcmp( method_at( i )->name, name ) == 0 )
        {
            return method_at( i );
        }
    }
    return NULL;
}

bool method_register( const method* row )
{
    if ( s_guest_count == METHOD_GUESTS || method_find( row->name ) != NULL )
    {
        return false;
    }
    s_guests[s_guest_count++] = row;
    return true;
}

static const method_param* find_param( const method* row, const char* name, size_t length, uint32_t* index )
{
    for ( uint32_t i = 0; i < row->param_count; ++i )
    {
        const char* known = row->params[i].name;
        if ( strlen( known ) == length && memcmp( known, name, length ) == 0 )
        {
            *index = i;
            return &row->params[i];
        }
    }
    return NULL;
}

static bool take_setting(
    const method* row, const char* item, size_t length, double* values, char* text, size_t size )
{
    const char* equals = memchr( item, '=', length );
    uint32_t index = 0;
    const method_param* param =
        equals != NULL ? find_param( row, item, (size_t)( equals - item ), &index ) : NULL;
    if ( param == NULL )
    {
        snprintf( text, size, "method %s has no setting '%.*s'", row->name, (int)length, item );
        return false;
    }
    double value = 0;
    const char* end = base_read_number( equals + 1, &value );
    bool is_number = end == item + length && end > equals + 1;
    if ( !is_number || value < param->least || value > param->most ||
        ( param->whole && value != floor( value ) ) )
    {
        char least[32], most[32];
        base_write_number( param->least, least, sizeof( least ) );
        base_write_number( param->most, most, sizeof( most ) );
        snprintf( text, size, "setting '%.*s': %s takes %s from %s to %s", (int)length, item, param->name,
            param->whole ? "a whole number" : "a number", least, most );
        return false;
    }
    values[index] = value;
    return true;
}

bool method_parse_settings(
    const method* row, const char* settings, double values[METHOD_PARAMS], char* text, size_t text_size )
{
    for ( uint32_t i = 0; i < row->param_count; ++i )
    {
        values[i] = row->params[i].value;
    }
    const char* item = settings != NULL ? settings : "";
    while ( *item != '\0' )
    {
        size_t length = strcspn( item, "," );
        if ( !take_setting( row, item, length, values, text, text_size ) )
        {
            return false;
        }
        item += length;
        item += *item == ',';
    }
    return true;
}
