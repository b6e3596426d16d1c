// SPDX-License-Identifier: MIT
// Bodies on the device, their bounding volumes, and sweep-and-prune over those: the broad phase of "Detecção
// de Colisão usando Sweep and Prune com k-DOPs em GPU" (COPPE 2021), sections 3.2 to 3.5; kernels/volume.cl
// tells how.
#include "gpu_bodies.h"

#include "base/assertion.h"
#include "base/finite.h"
#include "base/fp_mode.h"
#include "dop.h"
#include "narrow/bound.h"
#include "principal_axis.h"

#include <string.h>

enum
{
    MOMENT_GROUPS = 32,
    MOMENTS = 10,
    FIRST_AXIS = 1, // y, as clv_default_volume_sweep_def has it
};

// ---- what the caller told

static clv_result check_hull( clv_gpu* gpu, const clv_gpu_hull* hull, uint32_t index )
{
    if ( hull->vertices == NULL || hull->vertex_count == 0 )
    {
        return clv_gpu_fail( gpu, CLV_BAD_ARGUMENT, "clv_gpu_set_bodies: hull %u has no vertices", index );
    }
    for ( uint32_t i = 0; i < hull->vertex_count; ++i )
    {
        if ( !base_is_finite_point( hull->vertices[i] ) )
        {
            return clv_gpu_fail(
                gpu, CLV_BAD_ARGUMENT, "clv_gpu_set_bodies: vertex %u of hull %u is not finite", i, index );
        }
    }
    return CLV_OK;
}

static clv_result check_bodies(
    clv_gpu* gpu, const clv_gpu_hull* hulls, uint32_t hull_count, const uint32_t* hull_of, uint32_t count )
{
    uint64_t vertex_sum = 0;
    uint64_t moved_sum = 0;
    if ( count > CLV_MAX_OBJECTS )
    {
        return clv_gpu_fail( gpu, CLV_TOO_MANY_OBJECTS, "clv_gpu_set_bodies: %u bodies are more than %u",
            count, CLV_MAX_OBJECTS );
    }
    for ( uint32_t i = 0; i < hull_count; ++i )
    {
        clv_result result = check_hull( gpu, &hulls[i], i );
        if ( result != CLV_OK )
        {
            return result;
        }
        vertex_sum += hulls[i].vertex_count;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t hull = hull_of != NULL ? hull_of[i] : 0;
        if ( hull >= hull_count )
        {
            return clv_gpu_fail( gpu, CLV_BAD_ARGUMENT,
                "clv_gpu_set_bodies: body %u has hull %u, and there are %u", i, hull, hull_count );
        }
        moved_sum += hulls[hull].vertex_count;
    }
    if ( vertex_sum > UINT32_MAX / 4 || moved_sum > UINT32_MAX / 4 )
    {
        return clv_gpu_fail( gpu, CLV_TOO_MANY_OBJECTS, "clv_gpu_set_bodies: %llu vertices are more than %u",
            (unsigned long long)( vertex_sum > moved_sum ? vertex_sum : moved_sum ), UINT32_MAX / 4 );
    }
    return CLV_OK;
}

static void fill_hulls( gpu_bodies* bodies, const clv_gpu_hull* hulls )
{
    uint32_t first = 0;
    for ( uint32_t i = 0; i < bodies->hull_count; ++i )
    {
        uint32_t* row = bodies->rows + (size_t)i * HULL_WORDS;
        float radius = clv_narrow_radius( hulls[i].vertices, hulls[i].vertex_count );
        row[0] = first;
        row[1] = hulls[i].vertex_count;
        memcpy( &row[2], &radius, sizeof( radius ) );
        row[3] = 0;
        CLV_ASSERT( first + hulls[i].vertex_count <= bodies->vertex_count );
        memcpy( bodies->vertices + 3 * (size_t)first, hulls[i].vertices,
            hulls[i].vertex_count * sizeof( clv_vec3 ) );
        first += hulls[i].vertex_count;
    }
    CLV_ASSERT( first == bodies->vertex_count );
}

void clv_gpu_bodies_free( clv_gpu* gpu )
{
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    clv_base_memory_give( &gpu->memory, bodies->vertices, bodies->vertex_count, 3 * sizeof( float ) );
    clv_base_memory_give( &gpu->memory, bodies->rows, bodies->hull_count, HULL_WORDS * sizeof( uint32_t ) );
    clv_base_memory_give( &gpu->memory, bodies->hulls, bodies->body_count, sizeof( uint32_t ) );
    bodies->vertices = NULL;
    bodies->rows = NULL;
    bodies->hulls = NULL;
    bodies->hull_count = bodies->vertex_count = bodies->body_count = bodies->moved_count = 0;
    bodies->is_there = bodies->has_volumes = false;
}

// The new ones, before the old are given back.
static bool take_bodies( clv_gpu* gpu, gpu_bodies* made )
{
    made->vertices = clv_base_memory_take( &gpu->memory, made->vertex_count, 3 * sizeof( float ) );
    made->rows = clv_base_memory_take( &gpu->memory, made->hull_count, HULL_WORDS * sizeof( uint32_t ) );
    made->hulls = clv_base_memory_take( &gpu->memory, made->body_count, sizeof( uint32_t ) );
    if ( ( made->vertices == NULL && made->vertex_count > 0 ) ||
        ( made->rows == NULL && made->hull_count > 0 ) || ( made->hulls == NULL && made->body_count > 0 ) )
    {
        clv_base_memory_give( &gpu->memory, made->vertices, made->vertex_count, 3 * sizeof( float ) );
        clv_base_memory_give( &gpu->memory, made->rows, made->hull_count, HULL_WORDS * sizeof( uint32_t ) );
        clv_base_memory_give( &gpu->memory, made->hulls, made->body_count, sizeof( uint32_t ) );
        return false;
    }
    return true;
}

static clv_result set_bodies(
    clv_gpu* gpu, const clv_gpu_hull* hulls, uint32_t hull_count, const uint32_t* hull_of, uint32_t count )
{
    clv_result result = check_bodies( gpu, hulls, hull_count, hull_of, count );
    if ( result != CLV_OK )
    {
        return result;
    }
    gpu_bodies made = { .hull_count = hull_count, .body_count = count, .axis = FIRST_AXIS };
    for ( uint32_t i = 0; i < hull_count; ++i )
    {
        made.vertex_count += hulls[i].vertex_count;
    }
    if ( !take_bodies( gpu, &made ) )
    {
        return clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "clv_gpu_set_bodies: no memory for %u bodies", count );
    }
    fill_hulls( &made, hulls );
    for ( uint32_t i = 0; i < count; ++i )
    {
        made.hulls[i] = hull_of != NULL ? hull_of[i] : 0;
        made.moved_count += hulls[made.hulls[i]].vertex_count;
    }
    made.on = gpu_bodies_of( gpu )->on; // kept, and written anew
    made.number = gpu_bodies_of( gpu )->number + 1;
    made.polytope_room = gpu_bodies_of( gpu )->polytope_room;
    clv_gpu_bodies_free( gpu );
    *gpu_bodies_of( gpu ) = made;
    CLV_VALIDATE( clv_gpu_bodies_check( gpu_bodies_of( gpu ) ) == NULL );
    return CLV_OK;
}

clv_result clv_gpu_set_bodies(
    clv_gpu* gpu, const clv_gpu_hull* hulls, uint32_t hull_count, const uint32_t* hull_of, uint32_t count )
{
    CLV_ASSERT( gpu != NULL && ( hulls != NULL || hull_count == 0 ) );
    gpu->error[0] = '\0';
    if ( clv_gpu_bodies_open( gpu ) == NULL )
    {
        return CLV_OUT_OF_MEMORY;
    }
    base_fp_mode mode = base_fp_enter();
    clv_result result = set_bodies( gpu, hulls, hull_count, hull_of, count );
    base_fp_leave( mode );
    return result;
}

// ---- to the device

// A buffer of exactly what is at `data`; nothing is written where there is nothing.
clv_result clv_gpu_send( clv_gpu* gpu, gpu_buffer* buffer, const void* data, uint64_t bytes )
{
    clv_result result = clv_gpu_reserve( gpu, buffer, bytes );
    return result == CLV_OK && bytes > 0 ? clv_gpu_write( gpu, buffer->memory, 0, data, (size_t)bytes, true )
                                         : result;
}

// Where each body's vertices lie among those moved, and what each of these is made of.
static void fill_places( const gpu_bodies* bodies, uint32_t* starts, uint32_t* sources )
{
    uint32_t at = 0;
    for ( uint32_t i = 0; i < bodies->body_count; ++i )
    {
        const uint32_t* row = bodies->rows + (size_t)bodies->hulls[i] * HULL_WORDS;
        CLV_ASSERT( bodies->hulls[i] < bodies->hull_count && row[0] + row[1] <= bodies->vertex_count );
        starts[i] = at;
        for ( uint32_t k = 0; k < row[1]; ++k, ++at )
        {
            sources[2 * (size_t)at] = i;
            sources[2 * (size_t)at + 1] = row[0] + k;
        }
    }
    starts[bodies->body_count] = at;
    CLV_ASSERT( at == bodies->moved_count );
}

static clv_result send_places( clv_gpu* gpu )
{
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    uint64_t start_count = (uint64_t)bodies->body_count + 1;
    uint64_t word_count = start_count + 2 * (uint64_t)bodies->moved_count;
    uint32_t* words = clv_base_memory_take( &gpu->memory, word_count, sizeof( uint32_t ) );
    if ( words == NULL )
    {
        return clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "no memory to place %u vertices", bodies->moved_count );
    }
    fill_places( bodies, words, words + start_count );
    clv_result result = clv_gpu_send( gpu, &bodies->on.starts, words, start_count * sizeof( uint32_t ) );
    GPU_THEN( result,
        clv_gpu_send( gpu, &bodies->on.sources, words + start_count,
            ( word_count - start_count ) * sizeof( uint32_t ) ) );
    clv_base_memory_give( &gpu->memory, words, word_count, sizeof( uint32_t ) );
    return result;
}

clv_result clv_gpu_bodies_send( clv_gpu* gpu )
{
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    uint64_t n = bodies->body_count;
    if ( bodies->is_there )
    {
        return CLV_OK;
    }
    if ( !gpu->device->has_doubles )
    {
        return clv_gpu_fail(
            gpu, CLV_UNSUPPORTED, "%s has no doubles, and bodies need them", gpu->device->facts.name );
    }
    clv_result result = send_places( gpu );
    GPU_THEN( result,
        clv_gpu_send(
            gpu, &bodies->on.vertices, bodies->vertices, bodies->vertex_count * 3 * sizeof( float ) ) );
    GPU_THEN( result,
        clv_gpu_send( gpu, &bodies->on.rows, bodies->rows,
            bodies->hull_count * (uint64_t)HULL_WORDS * sizeof( uint32_t ) ) );
    GPU_THEN( result, clv_gpu_send( gpu, &bodies->on.hulls, bodies->hulls, n * sizeof( uint32_t ) ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &bodies->on.poses, n * POSE_DOUBLES * sizeof( double ) ) );
    GPU_THEN( result,
        clv_gpu_reserve( gpu, &bodies->on.moved, (uint64_t)bodies->moved_count * 3 * sizeof( double ) ) );
    bodies->is_there = result == CLV_OK;
    return result;
}

void clv_gpu_bodies_release( clv_gpu* gpu )
{
    gpu_bodies* bodies = gpu_bodies_of( gpu );
#define GPU_BODY_BUFFER_RELEASE( name ) clv_gpu_release( gpu, &bodies->on.name );
    GPU_BODY_BUFFERS( GPU_BODY_BUFFER_RELEASE )
#undef GPU_BODY_BUFFER_RELEASE
    bodies->is_there = bodies->has_volumes = false;
    bodies->owner = NULL;
}

// ---- volumes

static clv_result move_vertices( clv_gpu* gpu )
{
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    CLV_ASSERT(
        bodies->is_there && gpu_holds( &bodies->on.moved, bodies->moved_count, 3 * sizeof( double ) ) );
    CLV_ASSERT( gpu_holds( &bodies->on.sources, bodies->moved_count, 2 * sizeof( uint32_t ) ) );
    return GPU_LAUNCH( gpu, GPU_KERNEL_move_vertices, bodies->moved_count, bodies->on.poses,
        bodies->on.sources, bodies->moved_count, bodies->on.vertices, bodies->on.moved );
}

static clv_result wrap_vertices( clv_gpu* gpu, gpu_kernel_id kernel, uint64_t item_count )
{
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    CLV_ASSERT( gpu_holds( &bodies->on.starts, (uint64_t)bodies->body_count + 1, sizeof( uint32_t ) ) );
    clv_result result = move_vertices( gpu );
    GPU_THEN( result,
        GPU_LAUNCH( gpu, kernel, item_count, bodies->on.moved, bodies->on.starts, bodies->body_count,
            bodies->on.volumes ) );
    return result;
}

clv_result clv_gpu_volumes_build( clv_gpu* gpu, clv_volume_kind kind )
{
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    uint64_t n = bodies->body_count;
    CLV_ASSERT( bodies->is_there && n > 0 );
    bodies->has_volumes = false;
    clv_result result = clv_gpu_reserve( gpu, &bodies->on.volumes, n * clv_volume_bytes( kind ) );
    if ( result == CLV_OK && kind == CLV_VOLUME_SPHERE )
    {
        result = GPU_LAUNCH( gpu, GPU_KERNEL_volume_spheres, n, bodies->on.poses, bodies->on.hulls,
            bodies->on.rows, bodies->body_count, bodies->on.volumes );
    }
    else if ( result == CLV_OK )
    {
        result = kind == CLV_VOLUME_AABB
            ? wrap_vertices( gpu, GPU_KERNEL_volume_aabbs, n )
            : wrap_vertices( gpu, GPU_KERNEL_volume_dops, n * CLV_DOP_AXIS_COUNT );
    }
    bodies->axis = kind == CLV_VOLUME_AABB && bodies->axis > 2 ? FIRST_AXIS : bodies->axis;
    bodies->kind = kind;
    bodies->has_volumes = result == CLV_OK;
    return result;
}

// ---- the axis

clv_result clv_gpu_volumes_axis( clv_gpu* gpu, uint32_t period )
{
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    double partial[MOMENT_GROUPS * MOMENTS];
    double sums[MOMENTS] = { 0 };
    double direction[3];
    uint32_t kind = (uint32_t)bodies->kind;
    if ( period == 0 || bodies->until_axis > 0 || bodies->body_count < 2 )
    {
        bodies->until_axis -= bodies->until_axis > 0 ? 1 : 0;
        return CLV_OK;
    }
    bodies->until_axis = period - 1;
    gpu->stats.plan_count += 1;
    clv_result result = clv_gpu_reserve( gpu, &bodies->on.moments, sizeof( partial ) );
    GPU_THEN( result,
        GPU_LAUNCH( gpu, GPU_KERNEL_volume_moments, (uint64_t)MOMENT_GROUPS * GPU_GROUP, bodies->on.volumes,
            kind, bodies->body_count, bodies->on.moments ) );
    GPU_THEN( result, clv_gpu_read( gpu, bodies->on.moments.memory, 0, partial, sizeof( partial ) ) );
    if ( result != CLV_OK )
    {
        return result;
    }
    base_fp_mode mode = base_fp_enter();
    for ( int i = 0; i < MOMENT_GROUPS * MOMENTS; ++i )
    {
        sums[i % MOMENTS] += partial[i];
    }
    if ( clv_gpu_direction_by_moments( sums, direction ) )
    {
        bodies->axis = clv_volume_nearest_axis( math_make( direction[0], direction[1], direction[2] ),
            bodies->kind == CLV_VOLUME_AABB ? CLV_DOP_6 : CLV_DOP_18 );
    }
    base_fp_leave( mode );
    return CLV_OK;
}

// ---- the sweep

clv_result clv_gpu_volumes_prepare( clv_gpu* gpu, gpu_frame* frame )
{
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    gpu_buffers* b = &gpu->buffers;
    uint32_t next_slot = ( frame->slot + 1 ) % GPU_SLOTS;
    uint32_t kind = (uint32_t)bodies->kind;
    uint64_t bytes = (uint64_t)frame->count * 2 * sizeof( float );
    frame->unit_count = frame->count;
    gpu->stats.cell_count = 0;
    gpu->stats.level_count = 0;
    gpu->stats.axis = bodies->axis;
    clv_result result = clv_gpu_sort_reserve( gpu, frame->count );
    GPU_THEN( result, clv_gpu_reserve( gpu, &bodies->on.intervals, bytes ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &bodies->on.sorted, bytes ) );
    GPU_THEN( result,
        GPU_LAUNCH( gpu, GPU_KERNEL_volume_keys, frame->count, frame->boxes, kind, bodies->axis, frame->count,
            b->keys, b->values, bodies->on.intervals, b->slots, next_slot ) );
    GPU_THEN( result, clv_gpu_sort( gpu, frame->count, 0, 32 ) );
    if ( result != CLV_OK )
    {
        return result;
    }
    CLV_ASSERT( gpu_holds( &bodies->on.intervals, frame->count, 2 * sizeof( float ) ) );
    CLV_ASSERT( gpu_holds( &bodies->on.sorted, frame->count, 2 * sizeof( float ) ) );
    return GPU_LAUNCH( gpu, GPU_KERNEL_volume_gather, frame->count, bodies->on.intervals, frame->count,
        b->values, bodies->on.sorted );
}

clv_result clv_gpu_volumes_find( clv_gpu* gpu, const gpu_frame* frame, uint32_t first, uint32_t end )
{
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    gpu_buffers* b = &gpu->buffers;
    uint32_t kind = (uint32_t)bodies->kind;
    uint32_t capacity = (uint32_t)gpu->pair_room;
    CLV_ASSERT( gpu_may_find( gpu, frame, first, end ) && frame->count == bodies->body_count );
    uint32_t counts_tests = gpu->def.count_tests ? 1 : 0;
    return GPU_LAUNCH( gpu, GPU_KERNEL_volume_find, end - first, frame->boxes, kind, frame->count, first, end,
        b->values, bodies->on.sorted, b->slots, frame->slot, b->pairs, capacity, counts_tests );
}

// ---- one update

clv_result clv_gpu_volumes_search( clv_gpu* gpu )
{
    const gpu_bodies* bodies = gpu_bodies_of( gpu );
    CLV_ASSERT( bodies->body_count == 0 || bodies->has_volumes );
    CLV_ASSERT( bodies->body_count == 0 ||
        gpu_holds( &bodies->on.volumes, bodies->body_count, clv_volume_bytes( bodies->kind ) ) );
    return clv_gpu_guest_search( gpu, bodies->on.volumes.memory, bodies->body_count );
}

clv_result clv_gpu_check_transforms( clv_gpu* gpu, const clv_transform* at, const char* caller )
{
    for ( uint32_t i = 0; i < gpu_bodies_of( gpu )->body_count; ++i )
    {
        if ( !clv_narrow_is_transform( at[i] ) )
        {
            return clv_gpu_fail(
                gpu, CLV_BAD_ARGUMENT, "%s: the transform of body %u is not finite", caller, i );
        }
    }
    return CLV_OK;
}
