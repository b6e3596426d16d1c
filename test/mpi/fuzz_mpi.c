// SPDX-License-Identifier: MIT
// Lives of random steps on 1 to all processes, each step mirrored by brute force in one space. Usage:
// fuzz_mpi SEED SECONDS: lives from that seed on until the time is over, at least one. A life that fails
// names its seed and step; `fuzz_mpi SEED 0` lives it again, and with CLEAVE_RECORD=FILE what the spaces of
// the processes are asked goes to FILE, FILE.1, … until a checkpoint is loaded. A third number is a step at
// which every life fails, to see what happens then. mkdtemp is POSIX's own.
#define _GNU_SOURCE

#include "mpi_mirror.h"

#include <unistd.h>

enum
{
    STEPS = 40
};

static mpi_way way_of( mpi_dice* d )
{
    static const char* const methods[] = { "cleave", "cleave", "brute" };
    mpi_way how = { .kind = (mpi_crowd)mpi_dice_below( d, WORLD_CROWDS ),
        .borrowed = mpi_dice_below( d, 3 ) == 0,
        .is_quiet = mpi_dice_below( d, 5 ) < 2,
        .skips_static = mpi_dice_below( d, 3 ) == 0,
        .asks = mpi_dice_below( d, 3 ) == 0,
        .trusts = mpi_dice_below( d, 4 ) == 0,
        .refuses = mpi_dice_below( d, 3 ) == 0,
        .wide = 1 + mpi_dice_below( d, 5 ),
        .workers = 1 + mpi_dice_below( d, 2 ),
        .cutter = mpi_dice_below( d, 2 ) == 0 ? CLV_MPI_CUT_AUTO : CLV_MPI_CUT_BISECTION,
        .margin = mpi_dice_below( d, 3 ) == 0 ? 0.2f : 0,
        .method = methods[mpi_dice_below( d, 3 )] };
    // Ghosts of which nothing is remembered stay such only while no columns are set.
    how.is_plain = how.is_quiet && mpi_dice_below( d, 3 ) != 0;
    how.asks &= !how.is_plain;
    how.margin = how.is_plain ? 0 : how.margin;
    return how;
}

static int some_processes( mpi_mirror* w )
{
    return 1 + (int)mpi_dice_below( &w->dice, (uint32_t)g_mpi_count );
}

static int some_rank( mpi_mirror* w )
{
    return (int)mpi_dice_below( &w->dice, (uint32_t)w->active_count );
}

// Saved, ended, and loaded by another number of processes; sometimes memory fails on the way, and it is done
// again.
static void restart( mpi_mirror* w, const char* path )
{
    if ( mpi_dice_below( &w->dice, 3 ) == 0 )
    {
        int refused = some_rank( w );
        uint64_t at = 1 + mpi_dice_below( &w->dice, 4 );
        w->purse.refuse_at = g_mpi_rank == refused ? w->purse.count + at : 0;
        clv_result result = mpi_mirror_save( w, path );
        w->purse.refuse_at = 0;
        CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
    }
    CHECK( mpi_mirror_save( w, path ) == CLV_OK );
    if ( mpi_dice_below( &w->dice, 4 ) == 0 )
    {
        return; // it was not needed
    }
    mpi_mirror_restart( w, some_processes( w ) );
    int refused = some_rank( w );
    uint64_t at = 1 + mpi_dice_below( &w->dice, 60 );
    w->purse.refuse_at =
        mpi_dice_below( &w->dice, 2 ) == 0 && g_mpi_rank == refused ? w->purse.count + at : 0;
    clv_result result = mpi_mirror_load( w, path );
    w->purse.refuse_at = 0;
    CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
    if ( result != CLV_OK )
    {
        CHECK( w->space == NULL || clv_mpi_space_object_count( w->space ) == 0 );
        CHECK( mpi_mirror_load( w, path ) == CLV_OK );
    }
    clv_mpi_hit_view view; // what is loaded can be asked about after an update
    CHECK( w->space == NULL || clv_mpi_space_query_all( w->space, NULL, &view ) == CLV_STALE );
}

// What is refused changes nothing.
static void ask_for_nonsense( mpi_mirror* w )
{
    uint64_t id = 3;
    clv_aabb box = { { 1, 0, 0 }, { 0, 1, 1 } };
    int bad = some_rank( w );
    uint32_t which = mpi_dice_below( &w->dice, 3 );
    clv_result result = w->space == NULL ? CLV_OK
        : which == 0                     ? clv_mpi_space_add( w->space, &id, &box, g_mpi_rank == bad )
        : which == 1                     ? clv_mpi_space_remove( w->space, &id, g_mpi_rank == bad )
                                         : clv_mpi_space_load( w->space, "/no/such/checkpoint" );
    result = mpi_mirror_agree( result, w->space != NULL );
    CHECK( result == ( which == 0 ? CLV_BAD_BOX : which == 1 ? CLV_BAD_ID : result ) );
    CHECK( result == CLV_FILE_FAILED || result == CLV_BAD_ARGUMENT || which != 2 );
}

static void step( mpi_mirror* w, const char* path )
{
    uint32_t dice = mpi_dice_below( &w->dice, 20 );
    switch ( dice )
    {
    case 0:
    case 1: mpi_mirror_add( w, 1 + mpi_dice_below( &w->dice, 60 ) ); break;
    case 2: mpi_mirror_remove( w, mpi_dice_below( &w->dice, 40 ) ); break;
    case 3: mpi_mirror_remove( w, mpi_dice_below( &w->dice, 4 ) == 0 ? 100 : 5 ); break;
    case 4:
    case 5: mpi_mirror_move( w, 100, 0.5f ); break;
    case 6: mpi_mirror_move( w, 20, 6 ); break;
    case 7: mpi_mirror_move( w, 80, 30 ); break; // far: space is cut anew
    case 8:
    case 9:
        if ( w->how.is_plain )
        {
            mpi_mirror_move( w, 100, 0.5f );
            mpi_mirror_update( w );
        }
        else
        {
            mpi_mirror_dress( w, mpi_dice_below( &w->dice, 4 ) );
        }
        break;
    case 10:
    case 11:
    {
        int rank = some_rank( w );
        mpi_mirror_try_update( w, rank, 1 + mpi_dice_below( &w->dice, 12 ) );
        break;
    }
    case 12:
    case 13: restart( w, path ); break;
    case 14: ask_for_nonsense( w ); break;
    case 15: mpi_mirror_ask( w ); break;
    default:
        mpi_mirror_update( w );
        mpi_mirror_ask( w );
        break;
    }
}

static void live( uint64_t seed, const char* path, uint32_t failing_step )
{
    mpi_dice dice = { seed };
    mpi_way how = way_of( &dice );
    mpi_mirror* w =
        mpi_mirror_open( &how, seed * 77 + 5, 1 + (int)mpi_dice_below( &dice, (uint32_t)g_mpi_count ) );
    mpi_mirror_add( w, 120 );
    for ( uint32_t i = 0; i < STEPS; ++i )
    {
        snprintf( g_mpi_case, sizeof( g_mpi_case ), "seed %llu, step %u, kind %u%s%s",
            (unsigned long long)seed, i, (unsigned)how.kind, how.borrowed ? ", borrowed" : "",
            how.is_quiet ? ", quiet" : "" );
        CHECK( i != failing_step );
        step( w, path );
    }
    mpi_mirror_update( w );
    mpi_mirror_close( w );
}

// The folder is process 0's to make and to take away.
static void open_folder( char folder[64] )
{
    snprintf( folder, 64, "/tmp/cleave-fuzz-XXXXXX" );
    bool ok = g_mpi_rank != 0 || mkdtemp( folder ) != NULL;
    CHECK( ok );
    MPI_Bcast( folder, 64, MPI_CHAR, 0, MPI_COMM_WORLD );
}

static void close_folder( const char* path )
{
    char name[128];
    for ( int i = 0; g_mpi_rank == 0 && i < 2 * g_mpi_count; ++i )
    {
        snprintf( name, sizeof( name ), "%s.%c-%d", path, i % 2 == 0 ? 'a' : 'b', i / 2 );
        remove( name );
    }
    if ( g_mpi_rank == 0 )
    {
        snprintf( name, sizeof( name ), "%s.manifest", path );
        remove( name );
    }
}

int main( int argc, char** argv )
{
    mpi_test_begin( &argc, &argv );
    uint64_t seed = argc > 1 ? strtoull( argv[1], NULL, 10 ) : 1, lives = 0;
    double seconds = argc > 2 ? strtod( argv[2], NULL ) : 0, start = MPI_Wtime();
    uint32_t failing_step = argc > 3 ? (uint32_t)strtoul( argv[3], NULL, 10 ) : STEPS;
    char folder[64], path[80];
    open_folder( folder );
    snprintf( path, sizeof( path ), "%s/world", folder );
    int goes_on = 1;
    while ( goes_on )
    {
        live( seed + lives, path, failing_step );
        lives += 1;
        goes_on = MPI_Wtime() - start < seconds;
        MPI_Bcast( &goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD );
    }
    MPI_Barrier( MPI_COMM_WORLD );
    close_folder( path );
    if ( g_mpi_rank == 0 )
    {
        CHECK( rmdir( folder ) == 0 ); // nothing else was left behind
        printf(
            "fuzz_mpi: %llu lives of %d steps from seed %llu on up to %d processes, all as in one space\n",
            (unsigned long long)lives, STEPS, (unsigned long long)seed, g_mpi_count );
    }
    MPI_Finalize();
    return 0;
}
