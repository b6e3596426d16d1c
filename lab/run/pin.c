// SPDX-License-Identifier: MIT
#if defined( __linux__ )
#define _GNU_SOURCE
#include <sched.h>
#endif

#include "lab/run/pin.h"

#include "base/bit_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_core( const char** text, uint32_t* core )
{
    char* end = NULL;
    if ( **text < '0' || **text > '9' )
    {
        return false;
    }
    unsigned long value = strtoul( *text, &end, 10 );
    *text = end;
    *core = (uint32_t)value;
    return value < PIN_CORES_MOST;
}

static bool parse_cores( const char* text, pin_wish* wish )
{
    while ( true )
    {
        uint32_t first = 0, last = 0;
        if ( !read_core( &text, &first ) )
        {
            return false;
        }
        last = first;
        if ( *text == '-' )
        {
            ++text;
            if ( !read_core( &text, &last ) || last < first )
            {
                return false;
            }
        }
        for ( uint32_t core = first; core <= last; ++core )
        {
            base_bits_add( wish->cores, core );
        }
        if ( *text != ',' )
        {
            return *text == '\0';
        }
        ++text;
    }
}

bool pin_parse( const char* text, pin_wish* wish )
{
    *wish = ( pin_wish ){ 0 };
    if ( strcmp( text, "no" ) == 0 )
    {
        return true;
    }
    wish->is_on = true;
    if ( strcmp( text, "yes" ) == 0 )
    {
        return true;
    }
    wish->is_chosen = true;
    return parse_cores( text, wish );
}

#if defined( __linux__ )

// The last cores that are ours: the first ones serve most interrupts.
static void choose_cores( const cpu_set_t* allowed, uint32_t count, cpu_set_t* chosen )
{
    for ( int core = CPU_SETSIZE - 1; core >= 0 && count > 0; --core )
    {
        if ( CPU_ISSET( (size_t)core, allowed ) )
        {
            CPU_SET( (size_t)core, chosen );
            count -= 1;
        }
    }
}

bool pin_apply( const pin_wish* wish, uint32_t thread_count, char* reason, size_t reason_size )
{
    cpu_set_t allowed, chosen;
    CPU_ZERO( &allowed );
    CPU_ZERO( &chosen );
    if ( !wish->is_on )
    {
        return true;
    }
    if ( !wish->is_chosen && sched_getaffinity( 0, sizeof( allowed ), &allowed ) == 0 )
    {
        choose_cores( &allowed, thread_count, &chosen );
    }
    for ( uint32_t core = 0; core < PIN_CORES_MOST && core < CPU_SETSIZE; ++core )
    {
        if ( base_bits_has( wish->cores, core ) )
        {
            CPU_SET( core, &chosen );
        }
    }
    errno = 0;
    if ( sched_setaffinity( 0, sizeof( chosen ), &chosen ) != 0 )
    {
        snprintf( reason, reason_size, "cannot be pinned to these cores: %s", strerror( errno ) );
        return false;
    }
    return true;
}

#else

bool pin_apply( const pin_wish* wish, uint32_t thread_count, char* reason, size_t reason_size )
{
    (void)thread_count;
    if ( wish->is_on )
    {
        snprintf(
            reason, reason_size, "pinning to cores is known to this program on Linux only; leave pin out" );
        return false;
    }
    return true;
}

#endif
