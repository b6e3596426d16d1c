// SPDX-License-Identifier: MIT
// The methods this process knows: the core's own two, and those that were registered. Only pointers: rows
// live as long as the program.
#include "method/method.h"

#include "base/assertion.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum
{
    OWN_ROWS = 2,
};

static const clv_method* s_registered[CLV_METHODS_MOST - OWN_ROWS];
static uint32_t s_registered_count;
static char s_error[160];

uint32_t clv_method_count( void )
{
    return OWN_ROWS + s_registered_count;
}

static const clv_method* row_at( uint32_t index, const clv_method* first )
{
    CLV_ASSERT( index < clv_method_count() );
    return index == 0 ? first : index == 1 ? &clv_method_brute : s_registered[index - OWN_ROWS];
}

static const clv_method* find_row( const char* name, const clv_method* first )
{
    for ( uint32_t i = 0; i < clv_method_count() && name != NULL; ++i )
    {
        const clv_method* row = row_at( i, first );
        if ( strcmp( row->name, name ) == 0 )
        {
            return row;
        }
    }
    return NULL;
}

const clv_method* clv_method_at( uint32_t index )
{
    return index < clv_method_count() ? row_at( index, &clv_method_cleave ) : NULL;
}

const clv_method* clv_method_find( const char* name )
{
    return find_row( name, &clv_method_cleave );
}

const clv_method* clv_method_find_bare( const char* name )
{
    return find_row( name, &clv_method_cleave_bare );
}

const char* clv_method_error( void )
{
    return s_error;
}

// Always false.
static bool refuse_row( const char* format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( s_error, sizeof( s_error ), format, arguments );
    va_end( arguments );
    return false;
}

// Size and version first: nothing else can be read before these are right.
static bool check_layout( const clv_method* row )
{
    if ( row == NULL )
    {
        return refuse_row( "the method is NULL" );
    }
    if ( row->size != sizeof( clv_method ) || row->version != CLV_METHOD_VERSION )
    {
        return refuse_row( "a method of version %u and %u bytes; this library takes version %u and %u bytes",
            row->version, row->size, CLV_METHOD_VERSION, (uint32_t)sizeof( clv_method ) );
    }
    return true;
}

// Names stand in tables, file names, CSV and in front of '@' and ','.
static bool is_name( const char* name )
{
    size_t length = name != NULL ? strlen( name ) : 0;
    return length > 0 && length <= CLV_METHOD_NAME_MOST &&
        strspn( name, "abcdefghijklmnopqrstuvwxyz0123456789-_." ) == length;
}

static bool check_texts( const clv_method* row )
{
    if ( !is_name( row->name ) )
    {
        return refuse_row(
            "a method's name must be 1 to %d of a-z, 0-9, '-', '_' and '.'", CLV_METHOD_NAME_MOST );
    }
    if ( clv_method_find( row->name ) != NULL )
    {
        return refuse_row( "there is a method %s already", row->name );
    }
    if ( row->family == NULL || row->source == NULL || row->licence == NULL || row->time_cost == NULL ||
        row->space_cost == NULL )
    {
        return refuse_row(
            "method %s: family, source, licence, time_cost and space_cost must be texts", row->name );
    }
    return true;
}

static bool check_functions( const clv_method* row )
{
    if ( row->missing == NULL && ( row->create == NULL || row->destroy == NULL || row->update == NULL ) )
    {
        return refuse_row( "method %s: create, destroy and update must not be NULL", row->name );
    }
    return true;
}

static bool is_param( const clv_method_param* param )
{
    return param->name != NULL && param->name[0] != '\0' && strpbrk( param->name, "=," ) == NULL &&
        param->help != NULL && param->least <= param->value && param->value <= param->most;
}

static bool check_params( const clv_method* row )
{
    if ( row->param_count > CLV_METHOD_PARAMS || ( row->param_count > 0 && row->params == NULL ) )
    {
        return refuse_row( "method %s: %u parameters, of at most %d", row->name,
            row->params != NULL ? row->param_count : 0, CLV_METHOD_PARAMS );
    }
    for ( uint32_t i = 0; i < row->param_count; ++i )
    {
        if ( !is_param( &row->params[i] ) )
        {
            return refuse_row(
                "method %s: parameter %u lacks a name or help, or its default is out of its range", row->name,
                i );
        }
    }
    return true;
}

clv_result clv_method_register( const clv_method* row )
{
    if ( !check_layout( row ) || !check_texts( row ) || !check_functions( row ) || !check_params( row ) )
    {
        return CLV_BAD_ARGUMENT;
    }
    if ( clv_method_count() == CLV_METHODS_MOST )
    {
        refuse_row( "method %s is one too many: %d are known", row->name, CLV_METHODS_MOST );
        return CLV_BAD_ARGUMENT;
    }
    CLV_ASSERT( s_registered_count < CLV_METHODS_MOST - OWN_ROWS && clv_method_find( row->name ) == NULL );
    s_registered[s_registered_count++] = row;
    s_error[0] = '\0';
    return CLV_OK;
}
