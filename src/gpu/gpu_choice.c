// SPDX-License-Identifier: MIT
// Which device a name or a number means, and which is the fastest.
#include "gpu_device.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static clv_result refuse( clv_result result, char* text, size_t size, const char* format, ... )
{
    if ( text != NULL && size > 0 )
    {
        va_list values;
        va_start( values, format );
        vsnprintf( text, size, format, values );
        va_end( values );
    }
    return result;
}

// Units times clock: crude, and right between a card and what is on the board. Any GPU before any CPU.
static uint64_t speed_of( const clv_gpu_device* device )
{
    uint64_t speed = (uint64_t)device->unit_count * ( device->clock_mhz + 1 );
    return device->unusable != NULL ? 0 : speed + ( device->is_cpu ? 1 : UINT64_C( 1 ) << 62 );
}

static clv_gpu_device device_at( uint32_t index )
{
    clv_gpu_device device = { 0 };
    clv_gpu_device_at( index, &device );
    return device;
}

// Of those that can be opened: the next fastest where one cannot.
static clv_result find_fastest( bool keeps, uint32_t* index, char* text, size_t size )
{
    uint32_t count = clv_gpu_device_count();
    for ( uint32_t tries = 0; tries < count; ++tries )
    {
        uint64_t best = 0;
        uint32_t fastest = 0;
        for ( uint32_t i = 0; i < count; ++i )
        {
            clv_gpu_device device = device_at( i );
            uint64_t speed = speed_of( &device );
            fastest = speed > best ? i : fastest;
            best = speed > best ? speed : best;
        }
        if ( best > 0 && clv_gpu_device_prove( fastest, keeps ) )
        {
            *index = fastest;
            return CLV_OK;
        }
    }
    clv_gpu_device first = device_at( 0 );
    return refuse(
        CLV_UNSUPPORTED, text, size, "no OpenCL device can be used: %s: %s", first.name, first.unusable );
}

static bool contains( const char* text, const char* part )
{
    size_t length = strlen( part );
    for ( ; *text != '\0'; ++text )
    {
        size_t i = 0;
        while ( i < length && tolower( (unsigned char)text[i] ) == tolower( (unsigned char)part[i] ) )
        {
            i += 1;
        }
        if ( i == length )
        {
            return true;
        }
    }
    return false;
}

static clv_result find_named( const char* wish, uint32_t* index, char* text, size_t size )
{
    uint32_t device_count = clv_gpu_device_count();
    uint32_t found = UINT32_MAX;
    uint32_t count = 0;
    for ( uint32_t i = 0; i < device_count; ++i )
    {
        clv_gpu_device device = device_at( i );
        if ( strcmp( device.name, wish ) == 0 )
        {
            *index = i;
            return CLV_OK;
        }
        if ( contains( device.name, wish ) || contains( device.platform, wish ) )
        {
            found = i;
            count += 1;
        }
    }
    if ( count == 1 )
    {
        *index = found;
        return CLV_OK;
    }
    return count > 1
        ? refuse( CLV_BAD_ARGUMENT, text, size, "'%.80s' means %u devices; give a number from 0 to %u", wish,
              count, device_count - 1 )
        : refuse( CLV_BAD_ARGUMENT, text, size, "no device is called '%.80s'; %s is %s", wish,
              device_count == 1 ? "the only one" : "the first", device_at( 0 ).name );
}

clv_result clv_gpu_device_choose(
    const char* wish, bool keeps, uint32_t* index, char* text, size_t text_size )
{
    uint32_t count = clv_gpu_device_count();
    if ( count == 0 )
    {
        return refuse( CLV_UNSUPPORTED, text, text_size, "%s", clv_gpu_missing() );
    }
    if ( wish == NULL || wish[0] == '\0' )
    {
        return find_fastest( keeps, index, text, text_size );
    }
    uint32_t found = UINT32_MAX;
    char* end = NULL;
    unsigned long number = strtoul( wish, &end, 10 );
    if ( isdigit( (unsigned char)wish[0] ) && *end == '\0' )
    {
        if ( number >= count )
        {
            return refuse( CLV_BAD_ARGUMENT, text, text_size, "there is no device %.20s; the last is %u",
                wish, count - 1 );
        }
        found = (uint32_t)number;
    }
    else
    {
        clv_result result = find_named( wish, &found, text, text_size );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    if ( !clv_gpu_device_prove( found, keeps ) )
    {
        clv_gpu_device device = device_at( found );
        return refuse( CLV_UNSUPPORTED, text, text_size, "device %u, %s, cannot be used: %s", found,
            device.name, device.unusable );
    }
    *index = found;
    return CLV_OK;
}

clv_result clv_gpu_device_find( const char* wish, uint32_t* index, char* text, size_t text_size )
{
    return clv_gpu_device_choose( wish, true, index, text, text_size );
}
