// SPDX-License-Identifier: MIT
#include "method_settings.h"

#include "base/assertion.h"

#include <stdio.h>
#include <string.h>

enum
{
    CHOICES_MOST = 5,
    SIZE_LEAST = 10,
    SMALL = 8
};

// Choices change how pairs are found. A method that is asked for fat pairs finds others, so that is none.
static bool is_choice( const clv_method_param* param )
{
    const char* dot = strrchr( param->name, '.' );
    return param->whole && param->most - param->least < CHOICES_MOST &&
        ( dot == NULL || strcmp( dot, ".fat" ) != 0 );
}

static uint32_t other_values( const clv_method_param* param )
{
    return is_choice( param ) ? (uint32_t)( param->most - param->least ) : 0;
}

uint32_t method_settings_count( const clv_method* row )
{
    uint32_t count = 2;
    for ( uint32_t i = 0; i < row->param_count; ++i )
    {
        count += other_values( &row->params[i] );
    }
    return count;
}

// The values of a choice but its default, by number.
static double other_value( const clv_method_param* param, uint32_t number )
{
    double value = param->least + number;
    return value >= param->value ? value + 1 : value;
}

static size_t add( char* text, size_t length, size_t size, const char* name, double value )
{
    int written = snprintf( text + length, size - length, "%s%s=%g", length > 0 ? "," : "", name, value );
    CLV_ASSERT( written > 0 && (size_t)written < size - length );
    return length + (size_t)written;
}

void method_settings_write( const clv_method* row, uint32_t index, char* text, size_t size )
{
    size_t length = 0;
    text[0] = '\0';
    uint32_t choice = index - 2; // of the first two none is the one
    for ( uint32_t i = 0; i < row->param_count && index > 0; ++i )
    {
        const clv_method_param* param = &row->params[i];
        if ( param->value >= SIZE_LEAST )
        {
            length = add( text, length, size, param->name, param->least > SMALL ? param->least : SMALL );
        }
        if ( index > 1 && choice < other_values( param ) )
        {
            length = add( text, length, size, param->name, other_value( param, choice ) );
            choice = UINT32_MAX;
        }
        else if ( index > 1 && choice != UINT32_MAX )
        {
            choice -= other_values( param );
        }
    }
}
