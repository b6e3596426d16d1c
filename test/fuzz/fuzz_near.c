// SPDX-License-Identifier: MIT
// Any bytes as points, radii, groups and a cell: every instruction set answers the same, a list equals brute
// force, and a list that a skin keeps lacks no pair within the cutoff.
#include "fuzz_bytes.h"
#include "fuzz_heap.h"
#include "fuzz_target.h"
#include "near_world.h"

#include <math.h>
#include <stdlib.h>

enum
{
    FEW = 24,
    MOST_PAIRS = 20000,
    MOST_BYTES = 1 << 24, // of one block: a tiny cell has as many images as memory holds
};

_Noreturn void near_world_fail( const char* file, int line, const char* what, const near_world* world )
{
    fuzz_fail( file, line, what, "instruction set %d, %u workers, %u points", (int)world->def.isa,
        world->def.worker_count, world->count );
}

// Finite and at least 0 more often than not.
static double take_length( fuzz_bytes* bytes )
{
    uint8_t byte = fuzz_take_byte( bytes );
    return byte < 240 ? (double)( byte % 40 ) / 8 : (double)fuzz_take_float( bytes );
}

// A float, or a double beside one.
static double take_number( fuzz_bytes* bytes, bool is_far )
{
    double value = (double)fuzz_take_float( bytes );
    if ( is_far )
    {
        value += ldexp( (double)fuzz_take_byte( bytes ) - 128, -52 + fuzz_take_byte( bytes ) % 64 );
    }
    return value;
}

static void take_cell( near_world* world, fuzz_bytes* bytes )
{
    uint8_t form = fuzz_take_byte( bytes );
    world->has_cell = ( form & 7 ) != 0;
    if ( !world->has_cell )
    {
        return;
    }
    for ( int k = 0; k < 3; ++k )
    {
        world->cell.periodic[k] = ( ( form >> k ) & 1 ) != 0;
        for ( int axis = 0; axis < 3 && ( form & 8 ) != 0; ++axis )
        {
            world->cell.edges[k][axis] = take_number( bytes, ( form & 16 ) != 0 );
        }
        if ( ( form & 32 ) == 0 )
        {
            world->cell.edges[k][k] = 1 + take_length( bytes );
        }
    }
}

static void take_points( near_world* world, fuzz_bytes* bytes, bool is_far )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        double at[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = take_number( bytes, is_far );
        }
        near_world_set( world, i, at[0], at[1], at[2] );
        if ( world->has_radii )
        {
            world->radii64[i] = take_length( bytes );
            world->radii[i] = (float)world->radii64[i];
        }
        world->groups[i] = world->has_groups ? fuzz_take_byte( bytes ) % 4 : 0;
    }
}

static void take_excluded( near_world* world, fuzz_bytes* bytes )
{
    uint32_t count = fuzz_take_byte( bytes ) % 8;
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_pair pair = { fuzz_take_byte( bytes ) % ( FEW + 1 ), fuzz_take_byte( bytes ) % FEW };
        if ( pair.a != pair.b )
        {
            world->excluded[world->excluded_count++] = pair;
        }
    }
}

// Pairs of a list of its own, without a skin; UINT64_MAX if there is none.
static uint64_t count_within( const near_world* world )
{
    near_world* other = malloc( sizeof( near_world ) );
    FUZZ_CHECK( other != NULL, "no memory" );
    *other = *world;
    other->def.skin = 0;
    clv_near* near = near_world_make( other );
    clv_near_points points = near_world_points( other );
    clv_result result = clv_near_update( near, &points, NULL );
    uint64_t count = result == CLV_OK ? clv_near_list( near ).count : UINT64_MAX;
    clv_near_destroy( near );
    free( other );
    return count;
}

static double limit_of( const near_world* world, uint32_t a, uint32_t b )
{
    if ( world->def.doubles )
    {
        double sum = world->has_radii ? world->radii64[a] + world->radii64[b] : 0;
        return sum + world->def.cutoff;
    }
    float sum = world->has_radii ? world->radii[a] + world->radii[b] : 0;
    return (double)( sum + (float)world->def.cutoff );
}

// Entries of a kept list that are within the cutoff now.
static uint64_t count_kept( const near_world* world, const clv_near_view* view )
{
    uint64_t count = 0;
    for ( uint64_t i = 0; i < view->count; ++i )
    {
        double limit = limit_of( world, view->pairs[i].a, view->pairs[i].b );
        double square = world->def.doubles ? limit * limit : (double)( (float)limit * (float)limit );
        double now = world->def.doubles ? view->squared64[i] : (double)view->squared[i];
        count += now <= square;
    }
    return count;
}

// Points tremble; in open space, where nothing is wrapped anew, the list that was kept is exact.
static void tremble( near_world* world, fuzz_bytes* bytes )
{
    world->has_cell = false;
    world->def.full = world->def.by_point = false;
    world->def.squared = true;
    clv_near* near = near_world_make( world );
    clv_near_points points = near_world_points( world );
    bool is_new = false;
    clv_result result = clv_near_update( near, &points, &is_new );
    for ( int step = 0; step < 4 && result == CLV_OK && bytes->left > 0; ++step )
    {
        for ( uint32_t i = 0; i < world->count; ++i )
        {
            double at[3] = { 0, 0, 0 };
            for ( uint32_t axis = 0; axis < ( world->def.flat ? 2u : 3u ); ++axis )
            {
                double way = ( (double)fuzz_take_byte( bytes ) - 128 ) / 256 * world->def.skin;
                at[axis] = world->xyz64[i * world->stride + axis] + way;
            }
            near_world_set( world, i, at[0], at[1], at[2] );
        }
        result = clv_near_update( near, &points, &is_new );
        if ( result == CLV_OK && !is_new )
        {
            clv_near_view view = clv_near_list( near );
            uint64_t kept = count_kept( world, &view ), within = count_within( world );
            FUZZ_CHECK( kept == within || within == UINT64_MAX, "%llu entries of a kept list, %llu pairs",
                (unsigned long long)kept, (unsigned long long)within );
        }
    }
    clv_near_destroy( near );
}

static bool is_good_def( const near_world* world )
{
    clv_near* near = NULL;
    clv_result result = clv_near_create( &world->def, &near );
    FUZZ_CHECK( ( result == CLV_OK ) == ( near != NULL ), "result %d", (int)result );
    clv_near_destroy( near );
    return near != NULL;
}

void fuzz_near( const uint8_t* data, size_t size )
{
    fuzz_bytes bytes = { data, size };
    uint8_t form = fuzz_take_byte( &bytes ), more = fuzz_take_byte( &bytes );
    near_world* world = near_world_new( ( form & 1 ) != 0, ( form & 2 ) != 0, take_length( &bytes ) );
    FUZZ_CHECK( world != NULL, "no memory" );
    world->most_work = 3e5;
    world->def.full = ( form & 4 ) != 0;
    world->def.by_point = ( form & 8 ) != 0;
    world->def.shifts = ( form & 16 ) != 0;
    world->def.squared = ( form & 32 ) != 0;
    world->def.vectors = ( form & 64 ) != 0;
    world->has_radii = ( form & 128 ) != 0;
    world->has_groups = ( more & 1 ) != 0;
    world->stride += ( more >> 1 ) & 1;
    world->def.skin = ( more & 4 ) != 0 ? take_length( &bytes ) : 0;
    world->def.max_pairs = MOST_PAIRS;
    fuzz_heap heap = { .most_size = MOST_BYTES };
    world->def.allocator = fuzz_heap_hooks( &heap );
    world->count = fuzz_take_byte( &bytes ) % FEW;
    take_cell( world, &bytes );
    take_points( world, &bytes, ( more & 8 ) != 0 );
    take_excluded( world, &bytes );
    if ( is_good_def( world ) )
    {
        clv_result result = near_world_check( world );
        FUZZ_CHECK( result == CLV_OK || result == CLV_BAD_ARGUMENT || result == CLV_TOO_MANY_PAIRS ||
                result == CLV_TOO_MANY_OBJECTS || result == CLV_OUT_OF_MEMORY,
            "result %d", (int)result );
        if ( world->def.skin > 0 )
        {
            tremble( world, &bytes );
        }
    }
    FUZZ_CHECK( heap.bytes == 0, "%zu bytes were kept", heap.bytes );
    free( world );
}
