// SPDX-License-Identifier: MIT
#include "lab/measure/range.h"

#include "lab/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void number_list_add( number_list* list, double value )
{
    *lab_list_next( list->items, list->count ) = value;
}

void number_list_free( number_list* list )
{
    free( list->items );
    *list = ( number_list ){ 0 };
}

char* range_text( double value, char buffer[RANGE_TEXT_ROOM] )
{
    snprintf( buffer, RANGE_TEXT_ROOM, "%.12g", value );
    return buffer;
}

// A size such as 8k, or a plain number such as 0.25.
static bool read_number( const char* text, double* value )
{
    uint64_t size = 0;
    if ( text_parse_size( text, &size ) )
    {
        *value = (double)size;
        return true;
    }
    char* end = NULL;
    *value = strtod( text, &end );
    return end != text && *end == '\0' && *value - *value == 0;
}

// "x10" or "+0.1"; without a step the numbers double.
static bool read_step( const char* text, bool* multiplies, double* step )
{
    if ( text == NULL )
    {
        *multiplies = true;
        *step = 2;
        return true;
    }
    *multiplies = text[0] == 'x';
    bool is_step = ( *multiplies || text[0] == '+' ) && read_number( text + 1, step );
    return is_step && ( *multiplies ? *step > 1 : *step > 0 );
}

static bool add_steps( number_list* list, double low, double high, bool multiplies, double step )
{
    // A hair of room, so that ten steps of 0.1 arrive at 1.
    double end = high + 1e-9 * fabs( high );
    for ( uint32_t index = 0; index < RANGE_MOST; ++index )
    {
        double value = multiplies ? low * pow( step, index ) : low + step * index;
        if ( value > end )
        {
            return true;
        }
        number_list_add( list, value );
    }
    return false;
}

static bool add_range( number_list* list, char* low_text, char* dots, char* message, size_t message_size )
{
    double low = 0, high = 0, step = 0;
    bool multiplies = false;
    char* colon = strchr( dots, ':' );
    *dots = '\0';
    if ( colon != NULL )
    {
        *colon++ = '\0';
    }
    if ( !read_number( low_text, &low ) || !read_number( dots + 2, &high ) )
    {
        snprintf( message, message_size, "both ends must be numbers, such as 32..4096" );
        return false;
    }
    if ( !read_step( colon, &multiplies, &step ) )
    {
        snprintf( message, message_size, "the step '%s' must be such as x4 or +100", colon );
        return false;
    }
    if ( high < low || ( multiplies && low <= 0 ) )
    {
        snprintf( message, message_size, "a range goes upwards%s", multiplies ? " from above zero" : "" );
        return false;
    }
    if ( !add_steps( list, low, high, multiplies, step ) )
    {
        snprintf( message, message_size, "these are more than %d values; take larger steps", RANGE_MOST );
        return false;
    }
    return true;
}

bool range_add( number_list* list, const char* word, char* message, size_t message_size )
{
    char* text = text_copy( word );
    char* dots = strstr( text, ".." );
    double value = 0;
    bool good = true;
    if ( dots != NULL )
    {
        good = add_range( list, text, dots, message, message_size );
    }
    else if ( read_number( text, &value ) )
    {
        number_list_add( list, value );
    }
    else
    {
        snprintf(
            message, message_size, "a number, or a range such as 32..4096, 10..1000:x10 or 0.1..0.5:+0.1" );
        good = false;
    }
    free( text );
    return good;
}
