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

// A device that was looked for. The library has a child process ask its driver: none is loaded into this one before a run needs it.
typedef struct device_seen
{
    bool is_found;
    uint32_t index;
    clv_gpu_device device;
    char reason[640]; // unless it was found
} device_seen;

static void look( const char* wish, device_seen* seen )
{
    *seen = ( device_seen ){ 0 };
    seen->is_found =
        clv_gpu_device_find( wish, &seen->index, seen->reason, sizeof( seen->reason ) ) == CLV_OK &&
        clv_gpu_device_at( seen->index, &seen->device ) == CLV_OK;
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
    return seen.is_found && !seen.device.is_cpu;
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
    return seen.is_found ? seen.device.name : NULL;
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
