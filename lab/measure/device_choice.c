// SPDX-License-Identifier: MIT
#include "lab/measure/device_choice.h"

#include "cleave/gpu.h"

#include <stdio.h>
#include <string.h>

static const char s_setting[] = "gpu.device=";

bool device_is_of( const method* row )
{
    return strcmp( row->name, "gpu" ) == 0 || text_starts_with( row->name, "gpu-" );
}

// ---- looking

// What another process saw is kept: asking costs one.
typedef struct device_answer
{
    char* wish;
    device_seen seen;
} device_answer;

static device_looker* s_looker;
static device_answer* s_answers;
static uint32_t s_answer_count;

void device_look_by( device_looker* looker )
{
    s_looker = looker;
}

void device_look_here( const char* wish, device_seen* seen )
{
    clv_gpu_device device;
    *seen = ( device_seen ){ 0 };
    seen->is_found =
        clv_gpu_device_find( wish, &seen->index, seen->reason, sizeof( seen->reason ) ) == CLV_OK &&
        clv_gpu_device_at( seen->index, &device ) == CLV_OK;
    if ( seen->is_found )
    {
        seen->is_cpu = device.is_cpu;
        seen->name = device.name;
    }
}

static void look( const char* wish, device_seen* seen )
{
    if ( s_looker == NULL )
    {
        device_look_here( wish, seen );
        return;
    }
    for ( uint32_t index = 0; index < s_answer_count; ++index )
    {
        if ( strcmp( s_answers[index].wish, wish ) == 0 )
        {
            *seen = s_answers[index].seen;
            return;
        }
    }
    s_looker( wish, seen );
    *lab_list_next( s_answers, s_answer_count ) = ( device_answer ){ text_copy( wish ), *seen };
}

// What the settings name: the last one counts, as everywhere.
static void look_for_settings( const char* settings, device_seen* seen )
{
    char wish[16] = "";
    const char* at = settings != NULL ? strstr( settings, s_setting ) : NULL;
    while ( at != NULL )
    {
        const char* value = at + sizeof( s_setting ) - 1;
        size_t length = strcspn( value, "," );
        snprintf( wish, sizeof( wish ), "%.*s", length < 15 ? (int)length : 15, value );
        at = strstr( value, s_setting );
    }
    look( wish[0] == '-' ? "" : wish, seen );
}

// ---- asking

bool device_runs_unasked( void )
{
    device_seen seen;
    look( "", &seen );
    return seen.is_found && !seen.is_cpu;
}

bool device_is_usable( const char* settings, char* reason, size_t reason_size )
{
    device_seen seen;
    look_for_settings( settings, &seen );
    if ( !seen.is_found )
    {
        snprintf( reason, reason_size, "%s", seen.reason );
    }
    return seen.is_found;
}

const char* device_name_of( const char* settings )
{
    device_seen seen;
    look_for_settings( settings, &seen );
    return seen.is_found ? seen.name : NULL;
}

char* device_setting( const char* wish, lab_error* why )
{
    device_seen seen;
    look( wish, &seen );
    if ( !seen.is_found )
    {
        lab_error_write( why, "--device %s: %s; `cleave methods` tells which there are", wish, seen.reason );
        return NULL;
    }
    return text_format( "%s%u", s_setting, seen.index );
}
