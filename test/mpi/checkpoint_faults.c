// SPDX-License-Identifier: MIT
// SIGKILL and _exit are POSIX's own.
#define _GNU_SOURCE

#include "checkpoint_faults.h"

#include "checkpoint_files.h"

#include <signal.h>
#include <unistd.h>

// A disk that is really full: started by itself, on one of a few kilobytes. test_mpi_checkpoint FOLDER full
void a_full_disk_is_said( void )
{
    mpi_test_case( "full disk" );
    mpi_way how = checkpoint_way();
    mpi_mirror* w = mpi_mirror_open( &how, 5, g_mpi_count );
    mpi_mirror_add( w, 30 );
    mpi_mirror_update( w );
    CHECK( mpi_mirror_save( w, g_checkpoint_path ) == CLV_OK );
    uint64_t pairs = clv_mpi_space_stats( w->space ).all_pair_count;
    mpi_mirror_add( w, 270 );
    mpi_mirror_move( w, 100, 1 );
    CHECK( mpi_mirror_save( w, g_checkpoint_path ) == CLV_FILE_FAILED );
    CHECK( strstr( mpi_mirror_text( w ), "No space left" ) != NULL );
    mpi_mirror_update( w ); // the space itself is well
    mpi_mirror_close( w );
    // The checkpoint of before is whole.
    mpi_part part;
    mpi_manifest manifest = checkpoint_look_at_manifest( &part );
    CHECK( manifest.object_count == 30 && manifest.pair_count == pairs );
    CHECK( manifest.part_count == (uint32_t)g_mpi_count );
    if ( g_mpi_rank == 0 )
    {
        printf( "mpi checkpoint: a full disk is said, and the last checkpoint stays\n" );
    }
}

static int s_dying = -1;

// Asked in the middle of a search: no time to say good-bye.
static bool die_or_accept( uint64_t a, uint64_t b, void* user )
{
    (void)a;
    (void)b;
    (void)user;
    if ( s_dying == g_mpi_rank )
    {
        raise( SIGKILL );
    }
    return true;
}

// The last process is killed in the middle of an update. Where MPI lets the others live they hear of it
// within their limit of time, and the checkpoint can be loaded by a new job; else MPI ends the job, and says
// so. test_mpi_checkpoint FOLDER killed
void a_killed_process_is_noticed( void )
{
    mpi_test_case( "killed" );
    enum
    {
        N = 20
    };
    uint64_t ids[64 * N];
    clv_aabb boxes[64 * N];
    for ( int i = 0; i < N; ++i )
    {
        float x = (float)( g_mpi_rank * N + i );
        ids[i] = (uint64_t)( g_mpi_rank * N + i );
        boxes[i] = ( clv_aabb ){ { x, 0, 0 }, { x + 1, 1, 1 } };
    }
    clv_mpi_def def = clv_default_mpi_def();
    def.space.events = true;
    def.filter = die_or_accept;
    clv_mpi_space* space = NULL;
    CHECK( clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) == CLV_OK );
    CHECK( clv_mpi_space_add( space, ids, boxes, N ) == CLV_OK );
    CHECK(
        clv_mpi_space_update( space ) == CLV_OK && clv_mpi_space_save( space, g_checkpoint_path ) == CLV_OK );
    // Longer boxes make new pairs, which are asked about.
    for ( uint32_t i = 0; i < clv_mpi_space_object_count( space ); ++i )
    {
        CHECK( clv_mpi_space_object_at( space, i, &ids[i], &boxes[i] ) == CLV_OK );
        boxes[i].upper.x += 2;
    }
    CHECK( clv_mpi_space_move( space, ids, boxes, clv_mpi_space_object_count( space ) ) == CLV_OK );
    s_dying = g_mpi_count - 1;
    space->def.time_limit = 1; // only now: a busy machine may take longer for what comes before
    clv_result result = clv_mpi_space_update( space );
    CHECK( result == CLV_LOST && clv_mpi_space_error( space ).code == CLV_LOST );
    CHECK( clv_mpi_space_save( space, g_checkpoint_path ) == CLV_LOST &&
        clv_mpi_space_load( space, g_checkpoint_path ) == CLV_LOST );
    clv_mpi_space_destroy( space );
    printf( "killed: noticed on process %d\n", g_mpi_rank );
    fflush( stdout );
    _exit( 0 ); // MPI_Finalize would wait for the one that is gone
}

// Enough boxes that the workers of every process's space are needed, for the thread sanitizer to look at:
// with what one space lists, frame by frame, and over a checkpoint. test_mpi_checkpoint FOLDER workers
void workers_of_each_process_do_not_meet( void )
{
    mpi_test_case( "workers" );
    enum
    {
        N = 12000
    };
    static uint64_t ids[N];
    static clv_aabb boxes[N], own[N];
    clv_mpi_def def = clv_default_mpi_def();
    def.space.worker_count = 3;
    def.space.events = true;
    clv_mpi_space* space = NULL;
    clv_space* judge = NULL;
    clv_space_def judge_def = clv_default_space_def();
    CHECK( clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) == CLV_OK );
    CHECK( clv_space_create( &judge_def, &judge ) == CLV_OK );
    mpi_dice dice = { 3 };
    for ( uint32_t i = 0; i < N; ++i )
    {
        float x = mpi_dice_between( &dice, 0, 40 ), y = mpi_dice_between( &dice, 0, 40 );
        float z = mpi_dice_between( &dice, 0, 40 );
        boxes[i] = ( clv_aabb ){ { x, y, z }, { x + 1, y + 1, z + 1 } };
        ids[i] = i;
    }
    uint32_t first = N / (uint32_t)g_mpi_count * (uint32_t)g_mpi_rank;
    uint32_t end = g_mpi_rank + 1 == g_mpi_count ? N : first + N / (uint32_t)g_mpi_count;
    CHECK( clv_mpi_space_add( space, ids + first, boxes + first, end - first ) == CLV_OK );
    static clv_id judge_ids[N];
    CHECK( clv_space_add( judge, boxes, N, judge_ids ) == CLV_OK );
    for ( uint32_t frame = 0; frame < 4; ++frame )
    {
        CHECK( clv_mpi_space_update( space ) == CLV_OK && clv_space_update( judge ) == CLV_OK );
        CHECK( clv_mpi_space_stats( space ).all_pair_count == clv_space_pairs( judge ).count );
        if ( frame == 1 )
        {
            CHECK( clv_mpi_space_save( space, g_checkpoint_path ) == CLV_OK );
            clv_mpi_space_destroy( space );
            CHECK( clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) == CLV_OK );
            CHECK( clv_mpi_space_load( space, g_checkpoint_path ) == CLV_OK );
        }
        for ( uint32_t i = 0; i < N; ++i )
        {
            float step = mpi_dice_between( &dice, -0.5f, 0.5f );
            boxes[i].lower.x += step;
            boxes[i].upper.x += step;
        }
        uint32_t count = clv_mpi_space_object_count( space );
        for ( uint32_t i = 0; i < count; ++i )
        {
            clv_aabb box;
            CHECK( clv_mpi_space_object_at( space, i, &ids[i], &box ) == CLV_OK );
            own[i] = boxes[ids[i]];
        }
        CHECK( clv_mpi_space_move( space, ids, own, count ) == CLV_OK );
        CHECK( clv_space_move( judge, judge_ids, boxes, N ) == CLV_OK );
    }
    clv_mpi_space_destroy( space );
    clv_space_destroy( judge );
    if ( g_mpi_rank == 0 )
    {
        printf( "mpi: workers of %d processes do not meet\n", g_mpi_count );
    }
}
