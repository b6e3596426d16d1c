// SPDX-License-Identifier: MIT
// Memory that one process lacks: the call ends on all of them, and the next one is as good as if nothing had
// been. Started by mpirun with any number of processes.
#include "mpi_support.h"

#include <math.h>

static void memory_that_one_lacks_ends_the_call_on_all( void )
{
    mpi_test_case( "memory" );
    uint32_t failures = 0;
    for ( uint64_t refused = 1; refused < 400; refused += refused < 60 ? 3 : 29 )
    {
        mpi_purse m = { .count = 0 };
        clv_mpi_def def = clv_default_mpi_def();
        def.space.events = true;
        def.space.allocator = mpi_purse_allocator( &m );
        def.time_limit = 60;
        def.cutter = CLV_MPI_CUT_BISECTION;
        clv_mpi_space* space = NULL;
        CHECK_OK( space, clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) );
        clv_space* judge = NULL;
        clv_space_def judge_def = clv_default_space_def();
        CHECK( clv_space_create( &judge_def, &judge ) == CLV_OK );
        mpi_dice d = { refused };
        enum
        {
            N = 60
        };
        uint64_t ids[N], own_ids[N];
        clv_aabb boxes[N], own_boxes[N];
        uint32_t own = 0;
        for ( uint32_t i = 0; i < N; ++i )
        {
            ids[i] = i;
            boxes[i] = mpi_cube( mpi_dice_between( &d, 0, 5 ), mpi_dice_between( &d, 0, 5 ),
                mpi_dice_between( &d, 0, 5 ), 0.6f );
            if ( i % (uint32_t)g_mpi_count == (uint32_t)g_mpi_rank )
            {
                own_ids[own] = ids[i];
                own_boxes[own++] = boxes[i];
            }
        }
        m.refuse_at = g_mpi_rank == g_mpi_count - 1 ? m.count + refused : 0;
        clv_result result = CLV_OUT_OF_MEMORY;
        for ( int attempt = 0; attempt < 2 && result != CLV_OK; ++attempt )
        {
            result = clv_mpi_space_add( space, own_ids, own_boxes, own );
            CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
            failures += result != CLV_OK;
            m.refuse_at = result != CLV_OK ? 0 : m.refuse_at;
        }
        CHECK( result == CLV_OK );
        CHECK( clv_space_add( judge, boxes, N, NULL ) == CLV_OK && clv_space_update( judge ) == CLV_OK );
        for ( int update = 0; update < 2; ++update )
        {
            result = clv_mpi_space_update( space );
            if ( result != CLV_OK )
            {
                CHECK( result == CLV_OUT_OF_MEMORY && clv_mpi_space_error( space ).rank == g_mpi_count - 1 );
                CHECK( !clv_mpi_space_pairs( space ).valid );
                failures += 1;
                m.refuse_at = 0;
                CHECK_OK( space, clv_mpi_space_update( space ) );
            }
            CHECK( clv_mpi_space_stats( space ).all_pair_count == clv_space_pairs( judge ).count );
        }
        clv_mpi_space_destroy( space );
        clv_space_destroy( judge );
    }
    CHECK( failures > 10 );
}

enum
{
    CROWD = 600
};

// A crowd that is drawn together towards one side.
static clv_aabb crowd_box( uint64_t id, int phase )
{
    mpi_dice d = { 77 + id };
    float x = mpi_dice_between( &d, 0, 12 ), y = mpi_dice_between( &d, 0, 12 ),
          z = mpi_dice_between( &d, 0, 12 );
    return mpi_cube( powf( x / 12, 1 + 0.5f * (float)phase ) * 12, y, z, 0.5f );
}

// All own objects, in rows, to where they are in a phase.
static void move_crowd( clv_mpi_space* space, clv_space* judge, const clv_id* names, int phase )
{
    uint64_t ids[CROWD];
    clv_aabb boxes[CROWD];
    uint32_t count = clv_mpi_space_object_count( space );
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_mpi_space_object_at( space, i, &ids[i], &boxes[i] );
        boxes[i] = crowd_box( ids[i], phase );
    }
    CHECK_OK( space, clv_mpi_space_move( space, ids, boxes, count ) );
    for ( uint64_t id = 0; id < CROWD; ++id )
    {
        boxes[id] = crowd_box( id, phase );
    }
    CHECK( clv_space_move( judge, names, boxes, CROWD ) == CLV_OK && clv_space_update( judge ) == CLV_OK );
}

// Space was cut anew, and then memory was refused: the regions are new in the next update too, though that
// one cuts nothing.
static void a_cut_that_failed_later_is_remembered( void )
{
    mpi_test_case( "a cut that failed" );
    uint32_t failures = 0;
    for ( uint64_t refused = 1; refused < 40; refused += 1 )
    {
        mpi_purse m = { .count = 0 };
        clv_mpi_def def = clv_default_mpi_def();
        def.space.allocator = mpi_purse_allocator( &m );
        def.cutter = CLV_MPI_CUT_BISECTION;
        clv_mpi_space* space = NULL;
        CHECK_OK( space, clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) );
        clv_space* judge = NULL;
        clv_space_def judge_def = clv_default_space_def();
        CHECK( clv_space_create( &judge_def, &judge ) == CLV_OK );
        clv_id names[CROWD];
        uint64_t ids[CROWD];
        clv_aabb boxes[CROWD];
        for ( uint64_t id = 0; id < CROWD; ++id )
        {
            ids[id] = id;
            boxes[id] = crowd_box( id, 0 );
        }
        // All with the last one, so that the first has no room yet.
        CHECK( clv_space_add( judge, boxes, CROWD, names ) == CLV_OK );
        CHECK_OK( space, clv_mpi_space_add( space, ids, boxes, g_mpi_rank == g_mpi_count - 1 ? CROWD : 0 ) );
        CHECK_OK( space, clv_mpi_space_update( space ) );
        bool was_due = false;
        // Balanced twice, then drawn together; cut when that is seen.
        for ( int update = 0; update < 5; ++update )
        {
            move_crowd( space, judge, names, update < 2 ? 0 : 6 );
            bool is_due = clv_mpi_space_stats( space ).will_cut;
            m.refuse_at = is_due && g_mpi_rank == 0 ? m.count + refused : 0;
            was_due |= is_due;
            clv_result result = clv_mpi_space_update( space );
            failures += result != CLV_OK;
            m.refuse_at = 0;
            result = result == CLV_OK ? result : clv_mpi_space_update( space );
            CHECK_OK( space, result );
            CHECK( clv_mpi_space_stats( space ).all_pair_count == clv_space_pairs( judge ).count );
        }
        CHECK( g_mpi_count < 3 || was_due );
        clv_mpi_space_destroy( space );
        clv_space_destroy( judge );
    }
    CHECK( g_mpi_count < 3 || failures > 3 );
}

int main( int argc, char** argv )
{
    mpi_test_begin( &argc, &argv );
    memory_that_one_lacks_ends_the_call_on_all();
    a_cut_that_failed_later_is_remembered();
    if ( g_mpi_rank == 0 )
    {
        printf( "mpi: memory that one of %d lacks\n", g_mpi_count );
    }
    MPI_Finalize();
    return 0;
}
