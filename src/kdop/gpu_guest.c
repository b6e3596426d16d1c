// SPDX-License-Identifier: MIT
// What libcleave-gpu is told of bodies: kernels, their text, and what to call.
#include "gpu_bodies.h"

#include "dop.h"

#include <string.h>

// Made from kernels/*.cl and core/solid/*.h by cmake/kernels.cmake: an array kernel_text_NAME for each, a
// zero behind it.
#include "kdop_kernel_texts.inc"

static const gpu_kernel_row s_body_kernels[] = {
#define GPU_BODY_KERNEL_ROW( name, program ) { #name, GPU_PROGRAM_##program },
    GPU_BODY_KERNELS( GPU_BODY_KERNEL_ROW )
#undef GPU_BODY_KERNEL_ROW
};

static const char* const s_body_programs[] = { "volume", "narrow", "match" };

static void give_text( uint32_t program, const char* parts[GPU_TEXT_PARTS] )
{
    static const char* const s_parts[][GPU_TEXT_PARTS - 3] = {
        { kernel_text_solid_math, kernel_text_solid, kernel_text_volume, "", "", "" },
        { kernel_text_solid_math, kernel_text_solid, kernel_text_core, kernel_text_solid_gjk,
            kernel_text_solid_epa, kernel_text_narrow },
        { kernel_text_solid_math, kernel_text_solid, kernel_text_solid_polar, kernel_text_solid_match,
            kernel_text_match, "" },
    };
    parts[2] = kernel_text_gpu_body_layout;
    for ( int i = 3; i < GPU_TEXT_PARTS; ++i )
    {
        parts[i] = s_parts[program][i - 3];
    }
}

const char* clv_gpu_bodies_check( const gpu_bodies* bodies )
{
    uint64_t vertices = 0, moved = 0;
    for ( uint32_t i = 0; i < bodies->hull_count; ++i )
    {
        const uint32_t* row = bodies->rows + 4 * (size_t)i;
        if ( row[0] != vertices || row[1] == 0 )
        {
            return "a hull does not begin where the one before ends, or has no vertices";
        }
        vertices += row[1];
    }
    for ( uint32_t i = 0; i < bodies->body_count; ++i )
    {
        if ( bodies->hulls[i] >= bodies->hull_count )
        {
            return "a body has a hull that does not exist";
        }
        moved += bodies->rows[4 * (size_t)bodies->hulls[i] + 1];
    }
    return vertices != bodies->vertex_count || moved != bodies->moved_count
        ? "there are other vertices than those of the hulls and bodies"
        : NULL;
}

static const char* check_guest( const clv_gpu* gpu, uint64_t* device_bytes )
{
    const gpu_bodies* bodies = gpu_bodies_of( gpu );
    bool are_whole = true;
#define CHECK_BODY_BUFFER( name )                                                                            \
    are_whole = are_whole && ( bodies->on.name.memory != NULL ) == ( bodies->on.name.bytes > 0 );            \
    *device_bytes += bodies->on.name.bytes;
    GPU_BODY_BUFFERS( CHECK_BODY_BUFFER )
#undef CHECK_BODY_BUFFER
    return !are_whole ? "a buffer of bodies has bytes without memory, or memory without bytes"
        : bodies->has_volumes && !bodies->is_there ? "volumes are there without their bodies"
        : bodies->has_volumes && bodies->body_count > 0 &&
            !gpu_holds( &bodies->on.volumes, bodies->body_count, clv_volume_bytes( bodies->kind ) )
        ? "there are fewer volumes than bodies"
        : NULL;
}

static void leave( clv_gpu* gpu )
{
    clv_gpu_bodies_free( gpu );
    clv_base_memory_give( &gpu->memory, gpu->guest_state, 1, sizeof( gpu_bodies ) );
    gpu->guest_state = NULL;
    gpu->guest = NULL;
}

static const gpu_guest s_guest = {
    .kernels = s_body_kernels,
    .programs = s_body_programs,
    .text = give_text,
    .prepare = clv_gpu_volumes_prepare,
    .find = clv_gpu_volumes_find,
    .release = clv_gpu_bodies_release,
    .leave = leave,
    .check = check_guest,
};

gpu_bodies* clv_gpu_bodies_open( clv_gpu* gpu )
{
    if ( gpu->guest == NULL )
    {
        gpu->guest_state = clv_base_memory_take( &gpu->memory, 1, sizeof( gpu_bodies ) );
        if ( gpu->guest_state == NULL )
        {
            clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "no memory for bodies" );
            return NULL;
        }
        memset( gpu->guest_state, 0, sizeof( gpu_bodies ) );
        gpu->guest = &s_guest;
    }
    return gpu->guest_state;
}
