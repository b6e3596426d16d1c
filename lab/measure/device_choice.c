// SPDX-License-Identifier: MIT
#include "lab/measure/device_choice.h"

#include "cleave/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char s_setting[] = "gpu.device=";

bool device_is_of( const method* row )
{
    return strcmp( row->name, "gpu" ) == 0 || text_starts_with( row->name, "gpu-" );
}

bool device_runs_unasked( void )
{
    uint32_t index = 0;
    clv_gpu_device device;
    return clv_gpu_device_find( NULL, &index, NULL, 0 ) == CLV_OK &&
        clv_gpu_device_at( index, &device ) == CLV_OK && !device.is_cpu;
}

// What the settings name: the last one counts, as everywhere. False, with the reason, if it cannot be used.
static bool find( const char* settings, uint32_t* index, char* reason, size_t reason_size )
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
    const char* named = wish[0] == '-' || wish[0] == '\0' ? NULL : wish;
    return clv_gpu_device_find( named, index, reason, reason_size ) == CLV_OK;
}

bool device_is_usable( const char* settings, char* reason, size_t reason_size )
{
    uint32_t index = 0;
    return find( settings, &index, reason, reason_size );
}

const char* device_name_of( const char* settings )
{
    uint32_t index = 0;
    clv_gpu_device device;
    bool good = find( settings, &index, NULL, 0 ) && clv_gpu_device_at( index, &device ) == CLV_OK;
    return good ? device.name : NULL;
}

char* device_setting( const char* wish, lab_error* why )
{
    uint32_t index = 0;
    char reason[256] = "";
    if ( clv_gpu_device_find( wish, &index, reason, sizeof( reason ) ) != CLV_OK )
    {
        lab_error_write( why, "--device %s: %s; `cleave methods` lists them", wish, reason );
        return NULL;
    }
    return text_format( "%s%u", s_setting, index );
}
