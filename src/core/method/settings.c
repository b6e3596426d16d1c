// SPDX-License-Identifier: MIT
#include "method/method.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const clv_method_param* find_param(
    const clv_method* row, const char* name, size_t length, uint32_t* index )
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
    const clv_method* row, const char* item, size_t length, double* values, char* text, size_t size )
{
    const char* equals = memchr( item, '=', length );
    uint32_t index = 0;
    const clv_method_param* param =
        equals != NULL ? find_param( row, item, (size_t)( equals - item ), &index ) : NULL;
    if ( param == NULL )
    {
        snprintf( text, size, "method %s has no setting '%.*s'", row->name, (int)length, item );
        return false;
    }
    double value = 0;
    const char* end = clv_base_read_number( equals + 1, &value );
    bool is_number = end == item + length && end > equals + 1;
    if ( !is_number || value < param->least || value > param->most ||
        ( param->whole && value != floor( value ) ) )
    {
        char least[32], most[32];
        clv_base_write_number( param->least, least, sizeof( least ) );
        clv_base_write_number( param->most, most, sizeof( most ) );
        snprintf( text, size, "setting '%.*s': %s takes %s from %s to %s", (int)length, item, param->name,
            param->whole ? "a whole number" : "a number", least, most );
        return false;
    }
    CLV_ASSERT( index < row->param_count && row->param_count <= CLV_METHOD_PARAMS );
    values[index] = value;
    return true;
}

BASE_COLD bool clv_method_parse_settings( const clv_method* row, const char* settings,
    double values[CLV_METHOD_PARAMS], char* text, size_t text_size )
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
