// SPDX-License-Identifier: MIT
// A hundred million pairs of points through a visitor, in less memory than a list of them would take. The
// points are a lattice that repeats on all sides, so each has as many neighbours as whole numbers say.
#include "heap.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum
{
    SIDE = 120,
    POINTS = SIDE * SIDE * SIDE,
    NEIGHBOURS = 122, // lattice points within 3 of one, and 708 is the sum of their squared distances
    SQUARES = 708
};

typedef struct stream_notes
{
    uint32_t* degrees;
    uint64_t count;
    double squares;
} stream_notes;

static bool note_entries( const clv_near_view* entries, void* user )
{
    stream_notes* notes = user;
    notes->count += entries->count;
    for ( uint64_t i = 0; i < entries->count; ++i )
    {
        notes->degrees[entries->pairs[i].a] += 1;
        notes->degrees[entries->pairs[i].b] += 1;
        notes->squares += (double)entries->squared[i]; // whole numbers
    }
    return true;
}

static float* make_lattice( void )
{
    float* xyz = test_alloc( 3 * (size_t)POINTS, sizeof( float ) );
    test_random random = test_random_make( 4 );
    for ( uint32_t i = 0; i < POINTS; ++i )
    {
        uint32_t other = test_random_below( &random, i + 1 ); // in random order
        float* to = xyz + 3 * (size_t)other;
        memcpy( xyz + 3 * (size_t)i, to, 3 * sizeof( float ) );
        to[0] = (float)( i % SIDE );
        to[1] = (float)( i / SIDE % SIDE );
        to[2] = (float)( i / SIDE / SIDE );
    }
    return xyz;
}

static void stream( const float* xyz, uint32_t workers )
{
    heap memory = { 0 };
    clv_near_def def = clv_default_near_def();
    def.cutoff = 3;
    def.squared = true;
    def.worker_count = test_where.worker_count = workers;
    def.allocator = heap_hooks( &memory );
    clv_near* near = NULL;
    CHECK_OK( clv_near_create( &def, &near ) );
    clv_near_cell cell = { { { SIDE, 0, 0 }, { 0, SIDE, 0 }, { 0, 0, SIDE } }, { true, true, true } };
    clv_near_points points = { .positions = xyz, .stride = 12, .count = POINTS, .cell = &cell };
    stream_notes notes = { .degrees = test_alloc( POINTS, sizeof( uint32_t ) ) };
    memset( notes.degrees, 0, POINTS * sizeof( uint32_t ) );
    CHECK_OK( clv_near_visit( near, &points, note_entries, &notes ) );
    CHECK_EQUAL( notes.count, (uint64_t)POINTS * NEIGHBOURS / 2 );
    CHECK( notes.squares == (double)POINTS * SQUARES / 2 );
    for ( uint32_t i = 0; i < POINTS; ++i )
    {
        CHECK_EQUAL( notes.degrees[i], NEIGHBOURS );
    }
    CHECK( memory.peak_bytes < notes.count * sizeof( clv_pair ) / 3 );
    clv_near_destroy( near );
    free( notes.degrees );
}

static void a_hundred_million_pairs_are_streamed( void )
{
    float* xyz = make_lattice();
    stream( xyz, 1 );
    stream( xyz, 3 );
    free( xyz );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_hundred_million_pairs_are_streamed ),
    };
    return test_run( "near_stream", cases, TEST_COUNT( cases ), argc, argv );
}
