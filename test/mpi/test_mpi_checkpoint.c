// SPDX-License-Identifier: MIT
// Checkpoints: what was saved goes on as if nothing had been, on any number of processes; files that are
// damaged, or made to look as if they were not, are refused (checkpoint_forgery.c); a save that fails leaves
// the last checkpoint whole. Started by mpirun with any number of processes, with a folder to write to; with
// a word behind it one of checkpoint_faults.c. RLIMIT_FSIZE and truncate are POSIX's own.
#define _GNU_SOURCE

#include "checkpoint_faults.h"
#include "checkpoint_files.h"
#include "checkpoint_forgery.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- going on

static void a_saved_space_goes_on_with_any_number_of_processes( void )
{
    for ( int from = 1; from <= g_mpi_count; ++from )
    {
        for ( int to = 1; to <= g_mpi_count; ++to )
        {
            uint32_t number = (uint32_t)( from * 5 + to );
            snprintf( g_mpi_case, sizeof( g_mpi_case ), "saved by %d, loaded by %d", from, to );
            mpi_way how = checkpoint_way();
            how.kind = (mpi_crowd)( number % WORLD_CROWDS );
            how.borrowed = number % 3 == 0;
            how.skips_static = number % 2 == 0;
            how.asks = number % 4 == 1;
            how.margin = number % 4 == 2 ? 0.2f : 0;
            mpi_mirror* w = mpi_mirror_open( &how, number, from );
            checkpoint_make_busy( w );
            mpi_mirror_dress( w, 1 + number % 3 );
            CHECK( mpi_mirror_save( w, g_checkpoint_path ) == CLV_OK );
            uint64_t updates = w->space != NULL ? clv_mpi_space_stats( w->space ).update_count : 0;
            MPI_Bcast( &updates, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD );
            mpi_mirror_restart( w, to );
            CHECK( mpi_mirror_load( w, g_checkpoint_path ) == CLV_OK );
            CHECK( w->space == NULL || clv_mpi_space_stats( w->space ).update_count == updates );
            CHECK( w->space == NULL || !clv_mpi_space_pairs( w->space ).valid );
            if ( number % 2 == 1 ) // saved again at once, before any update
            {
                CHECK( mpi_mirror_save( w, g_checkpoint_path ) == CLV_OK );
                mpi_mirror_restart( w, 1 + ( to + 1 ) % g_mpi_count );
                CHECK( mpi_mirror_load( w, g_checkpoint_path ) == CLV_OK );
            }
            mpi_mirror_update( w );
            mpi_mirror_move( w, 30, 3 );
            mpi_mirror_update( w );
            mpi_mirror_close( w );
        }
    }
}

// Two updates that fail forget all ghosts, and with them where pairs were, but for what is kept for this.
static void a_space_whose_updates_failed_can_be_saved( void )
{
    mpi_test_case( "saved after failures" );
    uint32_t most = 0;
    for ( uint64_t at = 1; at < 5; ++at )
    {
        mpi_way how = checkpoint_way();
        mpi_mirror* w = mpi_mirror_open( &how, 30 + at, g_mpi_count );
        checkpoint_make_busy( w );
        uint32_t failures = 0;
        for ( int i = 0; i < 4; ++i )
        {
            mpi_mirror_add( w, 20 );
            mpi_mirror_move( w, 30, 1 );
            failures += !mpi_mirror_try_update( w, i % g_mpi_count, at );
        }
        most = failures > most ? failures : most;
        CHECK( mpi_mirror_save( w, g_checkpoint_path ) == CLV_OK );
        mpi_mirror_restart( w, 1 + g_mpi_count / 2 );
        CHECK( mpi_mirror_load( w, g_checkpoint_path ) == CLV_OK );
        mpi_mirror_update( w );
        mpi_mirror_close( w );
    }
    CHECK( most > 2 );
}

// Borrowed objects come back to who had them, if there are as many processes.
static void borrowed_objects_come_back( void )
{
    mpi_test_case( "borrowed" );
    mpi_way how = checkpoint_way();
    how.borrowed = true;
    mpi_mirror* w = mpi_mirror_open( &how, 8, g_mpi_count );
    checkpoint_make_busy( w );
    uint64_t before = 0, after = 0, id = 0;
    clv_aabb box;
    for ( uint32_t i = 0; i < clv_mpi_space_object_count( w->space ); ++i )
    {
        CHECK( clv_mpi_space_object_at( w->space, i, &id, &box ) == CLV_OK );
        before += clv_mpi_ids_mix( id );
    }
    CHECK( mpi_mirror_save( w, g_checkpoint_path ) == CLV_OK );
    mpi_mirror_restart( w, g_mpi_count );
    CHECK( mpi_mirror_load( w, g_checkpoint_path ) == CLV_OK );
    mpi_mirror_update( w );
    for ( uint32_t i = 0; i < clv_mpi_space_object_count( w->space ); ++i )
    {
        CHECK( clv_mpi_space_object_at( w->space, i, &id, &box ) == CLV_OK );
        after += clv_mpi_ids_mix( id );
    }
    CHECK( before == after );
    mpi_mirror_close( w );
}

static void a_space_without_events_cannot_tell_them_later( void )
{
    mpi_test_case( "events" );
    char name[600];
    mpi_way how = checkpoint_way();
    how.is_quiet = true;
    mpi_mirror* w = mpi_mirror_open( &how, 3, g_mpi_count );
    checkpoint_make_busy( w );
    CHECK( mpi_mirror_save( w, g_checkpoint_path ) == CLV_OK );
    mpi_mirror_restart( w, 1 );
    CHECK( mpi_mirror_load( w, g_checkpoint_path ) == CLV_OK );
    mpi_mirror_update( w );
    mpi_mirror_close( w );
    how.is_quiet = false;
    w = mpi_mirror_open( &how, 3, g_mpi_count );
    checkpoint_refuse( w, checkpoint_manifest_name( name ), "events" );
    mpi_mirror_close( w );
}

// ---- saves that fail

static void limit_files( uint64_t bytes )
{
    struct rlimit limit;
    CHECK( getrlimit( RLIMIT_FSIZE, &limit ) == 0 );
    limit.rlim_cur = bytes == UINT64_MAX ? limit.rlim_max : (rlim_t)bytes;
    CHECK( setrlimit( RLIMIT_FSIZE, &limit ) == 0 );
}

// A disk that is full, on one process: as EFBIG here, and as ENOSPC where the test is given such a disk.
static void a_save_that_fails_leaves_the_last_one_whole( void )
{
    signal( SIGXFSZ, SIG_IGN );
    char name[600];
    mpi_way how = checkpoint_way();
    mpi_mirror* w = mpi_mirror_open( &how, 4, g_mpi_count );
    checkpoint_make_busy( w );
    CHECK( mpi_mirror_save( w, g_checkpoint_path ) == CLV_OK );
    mpi_part part;
    mpi_manifest manifest = checkpoint_look_at_manifest( &part );
    uint32_t next = 1 - manifest.generation;
    uint64_t whole = clv_mpi_section( &manifest.kind, &part, true ).end + base_part_bytes( 0 );
    const uint64_t limits[] = { 0, 1, 60, 64, 4000, whole / 2, whole - 1 };
    for ( size_t i = 0; i < 2 * sizeof( limits ) / sizeof( limits[0] ); ++i )
    {
        int rank = i % 2 == 0 ? 0 : g_mpi_count - 1;
        snprintf(
            g_mpi_case, sizeof( g_mpi_case ), "disk full on process %d, limit %u", rank, (unsigned)i / 2 );
        // The last process's part may be smaller than the first one's.
        uint64_t limit = rank == 0 ? limits[i / 2] : limits[i / 2] / 4;
        if ( g_mpi_rank == rank )
        {
            limit_files( limit );
        }
        clv_result result = mpi_mirror_save( w, g_checkpoint_path );
        limit_files( UINT64_MAX );
        if ( rank == 0 || limit < 64 )
        {
            CHECK( result == CLV_FILE_FAILED );
        }
        if ( result == CLV_OK ) // it was small enough after all
        {
            manifest = checkpoint_look_at_manifest( &part );
            next = 1 - manifest.generation;
            checkpoint_meet();
            continue;
        }
        clv_mpi_error error = clv_mpi_space_error( w->space );
        CHECK( error.code == CLV_FILE_FAILED && error.rank == rank );
        CHECK( strstr( error.text, checkpoint_part_name( name, next, rank ) + strlen( g_checkpoint_path ) ) !=
            NULL );
        CHECK( strstr( error.text, "File too large" ) != NULL && strstr( error.text, "byte" ) != NULL );
        CHECK( !checkpoint_is_there( checkpoint_part_name( name, next, g_mpi_rank ) ) );
        strcat( name, ".new" );
        CHECK( !checkpoint_is_there( name ) );
        checkpoint_meet();
    }
    // What a job that was killed in the middle of a save left behind is written over.
    mpi_test_case( "left behind" );
    checkpoint_write_file(
        checkpoint_part_name( name, next, g_mpi_rank ), (const uint8_t*)"half a part", 11 );
    strcat( name, ".new" );
    checkpoint_write_file( name, (const uint8_t*)"less", 4 );
    CHECK( mpi_mirror_save( w, g_checkpoint_path ) == CLV_OK );
    CHECK( !checkpoint_is_there( name ) &&
        !checkpoint_is_there( checkpoint_part_name( name, 1 - next, g_mpi_rank ) ) );
    next = 1 - next;
    checkpoint_meet();
    // A manifest that cannot be written, when all parts are.
    mpi_test_case( "no manifest" );
    char folder[700], inside[720];
    snprintf( folder, sizeof( folder ), "%s.new", checkpoint_manifest_name( name ) );
    snprintf( inside, sizeof( inside ), "%s/x", folder );
    if ( g_mpi_rank == 0 )
    {
        CHECK( mkdir( folder, 0755 ) == 0 && mkdir( inside, 0755 ) == 0 );
    }
    checkpoint_meet();
    CHECK( mpi_mirror_save( w, g_checkpoint_path ) == CLV_FILE_FAILED );
    CHECK( strstr( mpi_mirror_text( w ), ".manifest" ) != NULL &&
        strstr( mpi_mirror_text( w ), "exists" ) != NULL );
    CHECK( !checkpoint_is_there( checkpoint_part_name( name, next, g_mpi_rank ) ) );
    checkpoint_meet();
    if ( g_mpi_rank == 0 )
    {
        CHECK( rmdir( inside ) == 0 && rmdir( folder ) == 0 );
    }
    CHECK( mpi_mirror_save( w, "/no/such/folder/world" ) == CLV_FILE_FAILED );
    CHECK( strstr( mpi_mirror_text( w ), "No such file" ) != NULL );
    CHECK( mpi_mirror_save( w, "" ) == CLV_BAD_ARGUMENT );
    // As on machines that share no disk: each process has a place of its own.
    if ( g_mpi_count > 1 )
    {
        char own[640];
        snprintf( own, sizeof( own ), "%s-of-%d", g_checkpoint_path, g_mpi_rank );
        CHECK( mpi_mirror_save( w, own ) == CLV_FILE_FAILED );
        CHECK( strstr( mpi_mirror_text( w ), "one folder for all" ) != NULL );
        strcat( own, ".a-0" );
        own[strlen( own ) - 1] = (char)( '0' + g_mpi_rank );
        CHECK( !checkpoint_is_there( own ) );
    }
    mpi_mirror_restart( w, g_mpi_count );
    CHECK( mpi_mirror_load( w, g_checkpoint_path ) == CLV_OK );
    mpi_mirror_update( w );
    mpi_mirror_close( w );
}

// What lies there and is none of ours, or of the format of 0.1, is not overwritten.
static void a_strangers_manifest_stays( void )
{
    char name[600];
    mpi_way how = checkpoint_way();
    mpi_mirror* w = mpi_mirror_open( &how, 4, g_mpi_count );
    size_t length = strlen( g_checkpoint_path );
    snprintf( g_checkpoint_path + length, 16, "-other" );
    checkpoint_manifest_name( name );
    const struct
    {
        const char *text, *word;
        uint64_t size;
    } cases[] = {
        { "these are notes of another kind, and not a checkpoint at all, so leave them", "not written by",
            75 },
        { "notes", "no manifest", 5 },
        // What 0.1 wrote for one process without objects.
        { "CLVMANIF\1\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "made by Cleave 0.1;",
            40 },
    };
    for ( size_t i = 0; i < sizeof( cases ) / sizeof( cases[0] ); ++i )
    {
        snprintf( g_mpi_case, sizeof( g_mpi_case ), "a stranger's %u", (unsigned)i );
        if ( g_mpi_rank == 0 )
        {
            checkpoint_write_file( name, (const uint8_t*)cases[i].text, cases[i].size );
        }
        checkpoint_meet();
        CHECK( mpi_mirror_save( w, g_checkpoint_path ) == CLV_FILE_FAILED );
        CHECK( strstr( mpi_mirror_text( w ), cases[i].word ) != NULL );
        checkpoint_refuse( w, name, cases[i].word );
        uint64_t size = 0;
        uint8_t* bytes = checkpoint_read_file( name, &size );
        CHECK( size == cases[i].size && memcmp( bytes, cases[i].text, size ) == 0 );
        free( bytes );
        checkpoint_meet();
    }
    if ( g_mpi_rank == 0 )
    {
        remove( name );
    }
    g_checkpoint_path[length] = '\0';
    mpi_mirror_close( w );
}

// ---- memory that is not there

static void memory_that_one_lacks_fails_saves_and_loads( void )
{
    mpi_way how = checkpoint_way();
    mpi_mirror* w = mpi_mirror_open( &how, 6, g_mpi_count );
    checkpoint_make_busy( w );
    mpi_mirror_dress( w, 2 );
    uint32_t failures = 0;
    bool is_good = false;
    for ( uint64_t at = 1; !is_good; ++at )
    {
        snprintf( g_mpi_case, sizeof( g_mpi_case ), "save, allocation %u", (unsigned)at );
        w->purse.refuse_at =
            g_mpi_rank == (int)at % g_mpi_count ? w->purse.count + at / (uint64_t)g_mpi_count + 1 : 0;
        clv_result result = mpi_mirror_save( w, g_checkpoint_path );
        w->purse.refuse_at = 0;
        CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
        failures += result != CLV_OK;
        is_good = result == CLV_OK && (int)at % g_mpi_count == 0;
    }
    CHECK( failures > 0 );
    failures = 0;
    is_good = false;
    for ( uint64_t at = 1; !is_good; ++at )
    {
        snprintf( g_mpi_case, sizeof( g_mpi_case ), "load, allocation %u", (unsigned)at );
        mpi_mirror_restart( w, g_mpi_count );
        w->purse.refuse_at =
            g_mpi_rank == (int)at % g_mpi_count ? w->purse.count + at / (uint64_t)g_mpi_count + 1 : 0;
        clv_result result = mpi_mirror_load( w, g_checkpoint_path );
        w->purse.refuse_at = 0;
        CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
        failures += result != CLV_OK;
        CHECK( result == CLV_OK || clv_mpi_space_object_count( w->space ) == 0 );
        is_good = result == CLV_OK && (int)at % g_mpi_count == 0;
        if ( result != CLV_OK && at % 7 == 0 )
        {
            CHECK( clv_mpi_space_update( w->space ) == CLV_OK );
            CHECK( clv_mpi_space_stats( w->space ).all_pair_count == 0 );
            clv_vec3 point = { 0, 0, 0 };
            clv_queries list = clv_query_points( &point, 1 );
            list.as_given = true; // refused where there are margins, which the load would have brought
            clv_mpi_hit hit;
            CHECK( clv_mpi_space_query_any( w->space, &list, &hit ) == CLV_OK && hit.owner < 0 );
        }
        if ( result != CLV_OK )
        {
            CHECK( mpi_mirror_load( w, g_checkpoint_path ) == CLV_OK );
        }
    }
    CHECK( failures > 10 );
    mpi_mirror_update( w );
    mpi_mirror_close( w );
}

// ---- numbers

static void sizes_and_offsets_have_64_bits( void )
{
    mpi_test_case( "sizes" );
    mpi_save_kind kind = clv_mpi_save_kind( 1, SAVES_ALL, 0 );
    CHECK( kind.record_size == 128 && kind.chunk_records == 4096 );
    // 524288 chunks of objects, each with 32 bytes around it, and one of pairs.
    mpi_part part = { UINT64_C( 2147483647 ), 1 };
    mpi_section pairs = clv_mpi_section( &kind, &part, true );
    CHECK( pairs.first_chunk == 524288 && pairs.begin == UINT64_C( 274877906816 ) + 16777216 + 40 );
    CHECK( pairs.end == pairs.begin + 64 && clv_mpi_record_offset( &pairs, 0 ) == pairs.begin + 24 );
    mpi_section objects = clv_mpi_section( &kind, &part, false );
    CHECK( clv_mpi_record_offset( &objects, 4097 ) == 40 + UINT64_C( 128 ) * 4097 + 32 + 24 );
    CHECK( clv_mpi_chunk_count( &objects, 0 ) == 4096 &&
        clv_mpi_chunk_count( &objects, UINT64_C( 524287 ) * 4096 ) == 4095 );
    kind = clv_mpi_save_kind( 1, 0, UINT32_MAX );
    CHECK( kind.record_size == UINT64_C( 4294967336 ) && kind.chunk_records == 1 );
    // What docs/mpi.md says of records.
    kind = clv_mpi_save_kind( 5, 0, 0 );
    uint8_t record[40] = { 0 };
    mpi_saved_object object = {
        .id = UINT64_C( 0x1122334455667788 ), .box = { { 1, 0, 0 }, { 2, 0, 0 } }, .flags = 4
    };
    CHECK( clv_mpi_code_object( record, true, &kind, &object ) == record + 40 );
    CHECK( memcmp( record, "\x88\x77\x66\x55\x44\x33\x22\x11\x00\x00\x80\x3f", 12 ) == 0 &&
        record[23] == 0x40 && record[32] == 4 );
    if ( g_mpi_rank != 0 )
    {
        return;
    }
    // A file with a hole of 5 GiB, and eight bytes behind it.
    char name[600];
    snprintf( name, sizeof( name ), "%s.sparse", g_checkpoint_path );
    checkpoint_write_file( name, (const uint8_t*)"begin", 5 );
    uint64_t far = UINT64_C( 5 ) << 30, size = 0;
    uint8_t bytes[8];
    FILE* stream = fopen( name, "r+b" );
    bool fits = stream != NULL && fseeko( stream, (off_t)far, SEEK_SET ) == 0 &&
        fwrite( "behindit", 1, 8, stream ) == 8;
    fits = stream != NULL && fclose( stream ) == 0 && fits;
    mpi_file file;
    if ( fits ) // some file systems have no such files
    {
        CHECK( clv_mpi_file_open( &file, name ) && clv_mpi_file_size( &file, &size ) && size == far + 8 );
        CHECK( clv_mpi_file_read( far, bytes, 8, &file ) && memcmp( bytes, "behindit", 8 ) == 0 );
        CHECK(
            !clv_mpi_file_read( far + 4, bytes, 8, &file ) && strstr( file.reason, "5368709124" ) != NULL );
        clv_mpi_file_close( &file );
    }
    remove( name );
}

// After 2^32 batches and updates the numbers that tell them apart begin anew; nothing is named twice by that.
static void numbers_of_batches_may_wrap( void )
{
    mpi_test_case( "stamps" );
    for ( uint32_t left = 0; left < 6; ++left )
    {
        mpi_way how = checkpoint_way();
        how.is_quiet = left % 2 == 1;
        mpi_mirror* w = mpi_mirror_open( &how, 9 + left, g_mpi_count );
        mpi_mirror_add( w, 100 );
        mpi_mirror_move( w, 100, 1 );
        mpi_mirror_update( w );
        for ( uint64_t slot = 0; slot < w->space->columns.stamps.capacity; ++slot )
        {
            w->space->columns.stamps.items[slot] =
                1 + (uint32_t)slot % 6; // numbers of the first batches, which come again
        }
        w->space->slots.stamp = UINT32_MAX - left;
        for ( uint32_t i = 0; i < 6; ++i )
        {
            mpi_mirror_add( w, 5 );
            mpi_mirror_move( w, 100, 2 );
            mpi_mirror_update( w );
        }
        mpi_mirror_close( w );
    }
}

static void clean_up( void )
{
    char name[600];
    checkpoint_meet();
    remove( checkpoint_part_name( name, 0, g_mpi_rank ) );
    remove( checkpoint_part_name( name, 1, g_mpi_rank ) );
    if ( g_mpi_rank == 0 )
    {
        remove( checkpoint_manifest_name( name ) );
    }
}

int main( int argc, char** argv )
{
    mpi_test_begin( &argc, &argv );
    CHECK( argc > 1 && strlen( argv[1] ) < 400 );
    snprintf( g_checkpoint_path, sizeof( g_checkpoint_path ), "%s/world", argv[1] );
    if ( argc > 2 && strcmp( argv[2], "full" ) == 0 )
    {
        a_full_disk_is_said();
        MPI_Finalize();
        return 0;
    }
    if ( argc > 2 && strcmp( argv[2], "workers" ) == 0 )
    {
        workers_of_each_process_do_not_meet();
        clean_up();
        MPI_Finalize();
        return 0;
    }
    if ( argc > 2 && strcmp( argv[2], "killed" ) == 0 )
    {
        a_killed_process_is_noticed();
    }
    sizes_and_offsets_have_64_bits();
    numbers_of_batches_may_wrap();
    a_saved_space_goes_on_with_any_number_of_processes();
    a_space_whose_updates_failed_can_be_saved();
    borrowed_objects_come_back();
    clean_up();
    checkpoint_meet();
    files_that_are_not_as_written_are_refused();
    clean_up();
    checkpoint_meet();
    a_space_without_events_cannot_tell_them_later();
    a_save_that_fails_leaves_the_last_one_whole();
    a_strangers_manifest_stays();
    memory_that_one_lacks_fails_saves_and_loads();
    clean_up();
    checkpoint_meet();
    if ( g_mpi_rank == 0 )
    {
        printf( "mpi checkpoint: %d processes go on from every other number\n", g_mpi_count );
    }
    MPI_Finalize();
    return 0;
}
