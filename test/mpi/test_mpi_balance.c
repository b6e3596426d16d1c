// SPDX-License-Identifier: MIT
// Who does how much, when space is cut anew, and how many objects a cut moves. All by counters, so that every
// run comes out the same.
#include "mpi_support.h"

#include <math.h>

enum
{
    MOST = 6000
};

typedef clv_aabb world_box( uint64_t id, uint32_t frame );

/// What became of a world over its updates; the same on all processes.
typedef struct outcome
{
    uint64_t cuts;     ///< with the first one
    uint64_t left;     ///< objects that changed their owner when space was cut, the first cut aside
    double imbalance;  ///< after the last update
    uint64_t pairs;    ///< likewise
    uint32_t last_cut; ///< the update that cut last
} outcome;

static void take_frame( clv_mpi_space* space, world_box* box_of, uint32_t frame )
{
    static uint64_t ids[MOST];
    static clv_aabb boxes[MOST];
    uint32_t count = clv_mpi_space_object_count( space );
    for ( uint32_t i = 0; i < count; ++i )
    {
        CHECK( clv_mpi_space_object_at( space, i, &ids[i], &boxes[i] ) == CLV_OK );
        boxes[i] = box_of( ids[i], frame );
    }
    CHECK_OK( space, clv_mpi_space_move( space, ids, boxes, count ) );
}

static outcome run( world_box* box_of, uint64_t object_count, uint32_t updates )
{
    clv_mpi_def def = clv_default_mpi_def();
    def.cutter = CLV_MPI_CUT_BISECTION;
    clv_mpi_space* space = NULL;
    outcome all = { 0 };
    CHECK_OK( space, clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) );
    static uint64_t ids[MOST];
    static clv_aabb boxes[MOST];
    uint32_t count = 0;
    for ( uint64_t id = (uint64_t)g_mpi_rank; id < object_count; id += (uint64_t)g_mpi_count )
    {
        ids[count] = id;
        boxes[count++] = box_of( id, 0 );
    }
    CHECK_OK( space, clv_mpi_space_add( space, ids, boxes, count ) );
    for ( uint32_t update = 0; update < updates; ++update )
    {
        take_frame( space, box_of, update );
        CHECK_OK( space, clv_mpi_space_update( space ) );
        clv_mpi_stats stats = clv_mpi_space_stats( space );
        uint64_t left = stats.was_cut && update > 0 ? stats.left_count : 0, sum = 0;
        MPI_Allreduce( &left, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD );
        all = ( outcome ){ stats.cut_count, all.left + sum, stats.imbalance, stats.all_pair_count,
            stats.was_cut ? update : all.last_cut };
    }
    clv_mpi_space_destroy( space );
    return all;
}

// Nothing rests: what does is not searched, and then there is less to count.
static float shake( uint32_t frame )
{
    return frame % 2 == 0 ? 0 : 0.01f;
}

static float dice_of( uint64_t id, uint64_t axis )
{
    mpi_dice d = { id * 3 + axis + 1 };
    mpi_dice_next( &d );
    return mpi_dice_between( &d, 0, 1 );
}

// ---- worlds

enum
{
    HALVES = 4000,
    HEAP = 20
};

// Half of them alone, one behind the other along x; the others beyond, in heaps of twenty that all touch.
static clv_aabb half_in_heaps( uint64_t id, uint32_t frame )
{
    uint64_t half = HALVES / 2, at = id < half ? id : id - half;
    float x = id < half ? (float)at : (float)( half + at / HEAP * HEAP ) + (float)( at % HEAP ) * 0.01f;
    return mpi_cube( x, shake( frame ), 0, 0.3f );
}

static clv_aabb all_in_one_spot( uint64_t id, uint32_t frame )
{
    (void)id;
    return mpi_cube( shake( frame ), 0, 0, 1 );
}

static clv_aabb all_in_line( uint64_t id, uint32_t frame )
{
    return mpi_cube( (float)id, shake( frame ), 0, 0.3f );
}

// Every other one is without an end along x.
static clv_aabb half_without_end( uint64_t id, uint32_t frame )
{
    clv_aabb box = mpi_cube( (float)id, (float)id + shake( frame ), 0, 0.3f );
    if ( id % 2 == 0 )
    {
        box.lower.x = -INFINITY;
        box.upper.x = INFINITY;
    }
    return box;
}

// A room that is longest along x at first, and along z later, by a hair; then a corner of it fills with
// touching boxes.
static clv_aabb room_that_fills( uint64_t id, uint32_t frame )
{
    bool is_late = frame > 2;
    float x = dice_of( id, 0 ) * ( is_late ? 98.0f : 102.0f ), y = dice_of( id, 1 ) * 100.0f,
          z = dice_of( id, 2 ) * ( is_late ? 102.0f : 98.0f );
    if ( is_late && x > 60 && id % 8 != 0 )
    {
        y = (float)( (int)( y / 25 ) * 25 );
        z = (float)( (int)( z / 25 ) * 25 );
    }
    return mpi_cube( x + shake( frame ), y, z, 1 );
}

// ---- claims

static void objects_weigh_what_they_take( void )
{
    mpi_test_case( "half in heaps" );
    outcome all = run( half_in_heaps, HALVES, 12 );
    CHECK( all.pairs == (uint64_t)HALVES / 2 / HEAP * ( HEAP * ( HEAP - 1 ) / 2 ) );
    // The first cut knows nothing. One that does is enough.
    CHECK( g_mpi_count == 1 || ( all.cuts == 2 && all.imbalance < 0.1 ) );
}

static void what_cannot_be_shared_out_is_not_cut_for_ever( void )
{
    mpi_test_case( "one spot" );
    outcome all = run( all_in_one_spot, 200, 64 );
    CHECK( all.pairs == 200 * 199 / 2 );
    CHECK( all.cuts <= 9 );
    mpi_test_case( "half without an end" );
    all = run( half_without_end, 400, 40 );
    CHECK( all.cuts <= 9 );
}

static void what_is_even_is_left_alone( void )
{
    mpi_test_case( "in line" );
    outcome all = run( all_in_line, 3000, 20 );
    CHECK( all.cuts <= 1 && all.imbalance < 0.1 && all.left == 0 );
}

static void a_cut_moves_no_more_than_it_must( void )
{
    mpi_test_case( "a room that fills" );
    outcome all = run( room_that_fills, MOST, 12 );
    CHECK( g_mpi_count == 1 || ( all.cuts > 1 && all.last_cut > 2 ) );
    CHECK( all.left < MOST / 3 );
}

int main( int argc, char** argv )
{
    mpi_test_begin( &argc, &argv );
    objects_weigh_what_they_take();
    what_cannot_be_shared_out_is_not_cut_for_ever();
    what_is_even_is_left_alone();
    a_cut_moves_no_more_than_it_must();
    if ( g_mpi_rank == 0 )
    {
        printf( "mpi: balance of %d\n", g_mpi_count );
    }
    MPI_Finalize();
    return 0;
}
