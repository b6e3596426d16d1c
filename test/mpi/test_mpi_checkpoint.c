// SPDX-License-Identifier: MIT
// Checkpoints: what was saved goes on as if nothing had been, on any number of processes; files that are damaged, or made to look
// as if they were not, are refused by name with the space as it was; a save that fails leaves the last checkpoint whole. Started by mpirun with
// any number of processes, with a folder to write to.
// RLIMIT_FSIZE and truncate are POSIX's own.
#define _GNU_SOURCE

#include "mpi_checkpoint.h"
#include "mpi_mirror.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char s_path[512];

static void meet( void )
{
    MPI_Barrier( MPI_COMM_WORLD );
}

static mpi_way plain_way( void )
{
    mpi_way how = { .wide = 4, .workers = 1, .cutter = CLV_MPI_CUT_BISECTION, .method = "cleave" };
    return how;
}

// With something of everything: removed, added again under its id, dressed, moved since the last update.
static void make_busy( mpi_mirror* w )
{
    mpi_mirror_add( w, 150 );
    mpi_mirror_dress( w, 0 );
    mpi_mirror_update( w );
    mpi_mirror_move( w, 50, 2 );
    mpi_mirror_update( w );
    mpi_mirror_remove( w, 15 );
    mpi_mirror_add( w, 40 );
    mpi_mirror_move( w, 40, 3 );
    mpi_mirror_dress( w, 0 );
}

// ---- going on

static void a_saved_space_goes_on_with_any_number_of_processes( void )
{
    for ( int from = 1; from <= g_mpi_count; ++from )
    {
        for ( int to = 1; to <= g_mpi_count; ++to )
        {
            uint32_t number = (uint32_t)( from * 5 + to );
            snprintf( g_mpi_case, sizeof( g_mpi_case ), "saved by %d, loaded by %d", from, to );
            mpi_way how = plain_way();
            how.kind = number % 6;
            how.borrowed = number % 3 == 0;
            how.skips_static = number % 2 == 0;
            how.asks = number % 4 == 1;
            how.margin = number % 4 == 2 ? 0.2f : 0;
            mpi_mirror* w = mpi_mirror_open( &how, number, from );
            make_busy( w );
            mpi_mirror_dress( w, 1 + number % 3 );
            CHECK( mpi_mirror_save( w, s_path ) == CLV_OK );
            uint64_t updates = w->space != NULL ? clv_mpi_space_stats( w->space ).update_count : 0;
            MPI_Bcast( &updates, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD );
            mpi_mirror_restart( w, to );
            CHECK( mpi_mirror_load( w, s_path ) == CLV_OK );
            CHECK( w->space == NULL || clv_mpi_space_stats( w->space ).update_count == updates );
            CHECK( w->space == NULL || !clv_mpi_space_pairs( w->space ).valid );
            if ( number % 2 == 1 ) // saved again at once, before any update
            {
                CHECK( mpi_mirror_save( w, s_path ) == CLV_OK );
                mpi_mirror_restart( w, 1 + ( to + 1 ) % g_mpi_count );
                CHECK( mpi_mirror_load( w, s_path ) == CLV_OK );
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
        mpi_way how = plain_way();
        mpi_mirror* w = mpi_mirror_open( &how, 30 + at, g_mpi_count );
        make_busy( w );
        uint32_t failures = 0;
        for ( int i = 0; i < 4; ++i )
        {
            mpi_mirror_add( w, 20 );
            mpi_mirror_move( w, 30, 1 );
            failures += !mpi_mirror_try_update( w, i % g_mpi_count, at );
        }
        most = failures > most ? failures : most;
        CHECK( mpi_mirror_save( w, s_path ) == CLV_OK );
        mpi_mirror_restart( w, 1 + g_mpi_count / 2 );
        CHECK( mpi_mirror_load( w, s_path ) == CLV_OK );
        mpi_mirror_update( w );
        mpi_mirror_close( w );
    }
    CHECK( most > 2 );
}

// Borrowed objects come back to who had them, if there are as many processes.
static void borrowed_objects_come_back( void )
{
    mpi_test_case( "borrowed" );
    mpi_way how = plain_way();
    how.borrowed = true;
    mpi_mirror* w = mpi_mirror_open( &how, 8, g_mpi_count );
    make_busy( w );
    uint64_t before = 0, after = 0, id = 0;
    clv_aabb box;
    for ( uint32_t i = 0; i < clv_mpi_space_object_count( w->space ); ++i )
    {
        CHECK( clv_mpi_space_object_at( w->space, i, &id, &box ) == CLV_OK );
        before += clv_mpi_ids_mix( id );
    }
    CHECK( mpi_mirror_save( w, s_path ) == CLV_OK );
    mpi_mirror_restart( w, g_mpi_count );
    CHECK( mpi_mirror_load( w, s_path ) == CLV_OK );
    mpi_mirror_update( w );
    for ( uint32_t i = 0; i < clv_mpi_space_object_count( w->space ); ++i )
    {
        CHECK( clv_mpi_space_object_at( w->space, i, &id, &box ) == CLV_OK );
        after += clv_mpi_ids_mix( id );
    }
    CHECK( before == after );
    mpi_mirror_close( w );
}

// ---- files

static char* part_name( char name[600], uint32_t generation, int part )
{
    snprintf( name, 600, "%s.%c-%d", s_path, generation == 0 ? 'a' : 'b', part );
    return name;
}

static char* manifest_name( char name[600] )
{
    snprintf( name, 600, "%s.manifest", s_path );
    return name;
}

static uint8_t* read_file( const char* name, uint64_t* size )
{
    mpi_file file;
    CHECK( clv_mpi_file_open( &file, name ) && clv_mpi_file_size( &file, size ) );
    uint8_t* bytes = malloc( *size + 64 );
    CHECK( bytes != NULL && clv_mpi_file_read( &file, 0, bytes, *size ) );
    clv_mpi_file_close( &file );
    return bytes;
}

static void write_file( const char* name, const uint8_t* bytes, uint64_t size )
{
    FILE* file = fopen( name, "wb" );
    CHECK( file != NULL && fwrite( bytes, 1, size, file ) == size && fclose( file ) == 0 );
}

static bool is_there( const char* name )
{
    struct stat info;
    return stat( name, &info ) == 0;
}

// A checkpoint is refused, and says whose fault it is; the space stays empty.
static void refuse( mpi_mirror* w, const char* name, const char* word )
{
    meet();
    clv_result result = mpi_mirror_load( w, s_path );
    if ( w->space != NULL )
    {
        const char* text = mpi_mirror_text( w );
        const char* slash = strrchr( name, '/' );
        if ( result != CLV_FILE_FAILED || strstr( text, slash + 1 ) == NULL || strstr( text, word ) == NULL )
        {
            fprintf(
                stderr, "%s: result %d: %s (wanted %s, %s)\n", g_mpi_case, (int)result, text, name, word );
        }
        CHECK(
            result == CLV_FILE_FAILED && strstr( text, slash + 1 ) != NULL && strstr( text, word ) != NULL );
        CHECK( clv_mpi_space_object_count( w->space ) == 0 );
    }
    meet();
}

/// One damage after the other to one file, on process 0; the file is as it was in the end.
static void damage_bytes( mpi_mirror* w, const char* name, uint64_t step )
{
    uint64_t size = 0;
    uint8_t* bytes = read_file( name, &size );
    meet();
    for ( uint64_t at = 0; at < size; at += step )
    {
        snprintf( g_mpi_case, sizeof( g_mpi_case ), "byte %llu of %.100s", (unsigned long long)at, name );
        bytes[at] ^= (uint8_t)( 1u << at % 8 );
        if ( g_mpi_rank == 0 )
        {
            write_file( name, bytes, size );
        }
        refuse( w, name, "byte" );
        bytes[at] ^= (uint8_t)( 1u << at % 8 );
    }
    for ( uint64_t length = 0; length <= size + 8; length += length < 72 ? 9 : size / 4 + 1 )
    {
        if ( length == size )
        {
            continue;
        }
        snprintf(
            g_mpi_case, sizeof( g_mpi_case ), "%llu bytes of %.100s", (unsigned long long)length, name );
        memset( bytes + size, 0, 64 );
        if ( g_mpi_rank == 0 )
        {
            write_file( name, bytes, length );
        }
        refuse( w, name, "byte" );
    }
    snprintf( g_mpi_case, sizeof( g_mpi_case ), "missing: %.100s", name );
    if ( g_mpi_rank == 0 )
    {
        remove( name );
    }
    refuse( w, name, "No such file" );
    if ( g_mpi_rank == 0 )
    {
        write_file( name, bytes, size );
    }
    free( bytes );
    meet();
}

// Numbers in the manifest that cannot be, under a checksum that fits.
static void forge_manifest( mpi_mirror* w )
{
    char name[600];
    uint64_t size = 0;
    uint8_t* bytes = read_file( manifest_name( name ), &size );
    meet();
    const struct
    {
        uint64_t at, value;
        int width;
        const char* word;
    } forgeries[] = { { 8, 2, 4, "version" }, { 12, 99, 4, "settings" }, { 12, 1, 4, "settings" },
        { 28, 2, 4, "settings" }, { 24, UINT32_MAX, 4, "parts" }, { 24, 0, 4, "parts" }, { 32, 1, 8, "sums" },
        { 40, UINT64_MAX, 8, "sums" }, { 56, 16, 4, "" }, { 56, UINT32_MAX, 4, "" }, { 60, 1, 4, "settings" },
        { 64, 1u << 30, 8, "counts" }, { 64, UINT64_MAX, 8, "counts" },
        { 64, UINT64_C( 1 ) << 61, 8, "counts" }, { 72, UINT64_MAX, 8, "counts" },
        { 72, UINT64_C( 1 ) << 59, 8, "counts" }, { 80, UINT64_MAX, 8, "counts" }, { 16, 7, 8, "" },
        { 88, 7, 8, "" } };
    for ( size_t i = 0; i < sizeof( forgeries ) / sizeof( forgeries[0] ); ++i )
    {
        uint8_t* forged = malloc( size );
        memcpy( forged, bytes, size );
        snprintf( g_mpi_case, sizeof( g_mpi_case ), "forgery %u", (unsigned)i );
        if ( forgeries[i].width == 4 )
        {
            mpi_put_u32( forged + forgeries[i].at, (uint32_t)forgeries[i].value );
        }
        else
        {
            mpi_put_u64( forged + forgeries[i].at, forgeries[i].value );
        }
        mpi_put_u64( forged + size - 8, clv_mpi_file_sum( 0, forged, size - 8 ) );
        if ( g_mpi_rank == 0 )
        {
            write_file( name, forged, size );
        }
        // Of a payload or save that is another's it is the part that does not fit, unless sizes tell already.
        refuse( w, forgeries[i].at == 16 || forgeries[i].at == 88 ? "/world.a-0" : name, forgeries[i].word );
        free( forged );
    }
    if ( g_mpi_rank == 0 )
    {
        write_file( name, bytes, size );
    }
    free( bytes );
    meet();
}

// Bytes of the first part that no space writes, under checksums that fit.
static void forge_part( mpi_mirror* w, const mpi_manifest* manifest, const mpi_part* part )
{
    char name[600], whole[600];
    uint64_t size = 0;
    uint8_t* bytes = read_file( part_name( name, manifest->generation, 0 ), &size );
    meet();
    uint64_t record = manifest->kind.record_size, objects = part->object_count;
    uint64_t pairs_at =
        MPI_PART_HEADER + clv_mpi_section_size( objects, record, manifest->kind.block_records );
    CHECK( objects < manifest->kind.block_records && objects > 1 );
    for ( int which = 0; which < 8; ++which )
    {
        if ( which >= 5 && part->pair_count < 2 )
        {
            continue;
        }
        uint8_t* forged = malloc( size );
        memcpy( forged, bytes, size );
        uint8_t *first = forged + MPI_PART_HEADER, *second = first + record, *pair = forged + pairs_at;
        const char* words[] = { "NaN", "NaN", "twice", "flags", "NaN", "none", "none", "twice" };
        snprintf( g_mpi_case, sizeof( g_mpi_case ), "forged part %d", which );
        switch ( which )
        {
        case 0: mpi_put_float( second + 8, NAN ); break;
        case 1: mpi_put_float( second + 20, -INFINITY ); break;
        case 2: memcpy( second, first, 8 ); break;
        case 3: second[32] ^= 1; break;
        case 4: mpi_put_float( second + 40, NAN ); break;
        case 5: memcpy( pair + 8, pair, 8 ); break;
        case 6: mpi_put_float( pair + 16, NAN ); break;
        default: memcpy( pair + 32, pair, 32 ); break;
        }
        uint64_t object_bytes = objects * record, pair_bytes = size - pairs_at - 8;
        mpi_put_u64( first + object_bytes,
            clv_mpi_file_sum( clv_mpi_block_seed( &manifest->kind, 0, false, 0 ), first, object_bytes ) );
        if ( part->pair_count > 0 && part->pair_count < MPI_BLOCK_RECORDS )
        {
            mpi_put_u64( pair + pair_bytes,
                clv_mpi_file_sum( clv_mpi_block_seed( &manifest->kind, 0, true, 0 ), pair, pair_bytes ) );
        }
        if ( g_mpi_rank == 0 )
        {
            write_file( name, forged, size );
        }
        refuse( w, which == 2 || which == 7 ? manifest_name( whole ) : name, words[which] );
        free( forged );
    }
    if ( g_mpi_rank == 0 )
    {
        write_file( name, bytes, size );
    }
    free( bytes );
    meet();
}

static mpi_manifest look_at_manifest( mpi_part* first )
{
    char name[600];
    uint64_t size = 0, offset = 0;
    mpi_manifest manifest;
    uint8_t* bytes = read_file( manifest_name( name ), &size );
    CHECK( clv_mpi_manifest_read( bytes, size, &manifest, &offset ) == NULL );
    *first = clv_mpi_manifest_part( bytes, 0 );
    free( bytes );
    return manifest;
}

static void copy_file( const char* from, const char* to )
{
    uint64_t size = 0;
    uint8_t* bytes = read_file( from, &size );
    write_file( to, bytes, size );
    free( bytes );
}

static void files_that_are_not_as_written_are_refused( void )
{
    char name[600], other[600];
    mpi_way how = plain_way();
    mpi_mirror* w = mpi_mirror_open( &how, 3, g_mpi_count );
    make_busy( w );
    // Two saves: the second has parts "a" again once a third is made; one of the first is put among them.
    CHECK( mpi_mirror_save( w, s_path ) == CLV_OK );
    snprintf( other, sizeof( other ), "%s.kept", s_path );
    if ( g_mpi_rank == 0 )
    {
        copy_file( part_name( name, 0, g_mpi_count - 1 ), other );
    }
    CHECK( mpi_mirror_save( w, s_path ) == CLV_OK && mpi_mirror_save( w, s_path ) == CLV_OK );
    CHECK( is_there( part_name( name, 0, g_mpi_rank ) ) && !is_there( part_name( name, 1, g_mpi_rank ) ) );
    meet();
    mpi_part first;
    mpi_manifest manifest = look_at_manifest( &first );
    mpi_mirror_restart( w, g_mpi_count );
    damage_bytes( w, manifest_name( name ), 7 );
    damage_bytes( w, part_name( name, 0, g_mpi_count - 1 ), 331 );
    forge_manifest( w );
    forge_part( w, &manifest, &first );

    mpi_test_case( "another save" );
    uint64_t size = 0;
    part_name( name, 0, g_mpi_count - 1 );
    uint8_t* bytes = read_file( name, &size );
    meet();
    if ( g_mpi_rank == 0 )
    {
        copy_file( other, name );
        remove( other );
    }
    refuse( w, name, "another save" );
    if ( g_mpi_rank == 0 )
    {
        write_file( name, bytes, size );
    }
    free( bytes );
    // A def that does not fit.
    mpi_way another = how;
    another.borrowed = true; // and so without payload
    mpi_mirror* misfit = mpi_mirror_open( &another, 3, g_mpi_count );
    refuse( misfit, manifest_name( name ), "payload" );
    mpi_mirror_close( misfit );
    // After all that it is still what it was.
    mpi_test_case( "whole again" );
    meet();
    CHECK( mpi_mirror_load( w, s_path ) == CLV_OK );
    CHECK( mpi_mirror_load( w, s_path ) == CLV_BAD_ARGUMENT ); // there are objects now
    mpi_mirror_update( w );
    mpi_mirror_close( w );
}

static void a_space_without_events_cannot_tell_them_later( void )
{
    mpi_test_case( "events" );
    char name[600];
    mpi_way how = plain_way();
    how.is_quiet = true;
    mpi_mirror* w = mpi_mirror_open( &how, 3, g_mpi_count );
    make_busy( w );
    CHECK( mpi_mirror_save( w, s_path ) == CLV_OK );
    mpi_mirror_restart( w, 1 );
    CHECK( mpi_mirror_load( w, s_path ) == CLV_OK );
    mpi_mirror_update( w );
    mpi_mirror_close( w );
    how.is_quiet = false;
    w = mpi_mirror_open( &how, 3, g_mpi_count );
    refuse( w, manifest_name( name ), "events" );
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
    mpi_way how = plain_way();
    mpi_mirror* w = mpi_mirror_open( &how, 4, g_mpi_count );
    make_busy( w );
    CHECK( mpi_mirror_save( w, s_path ) == CLV_OK );
    mpi_part part;
    mpi_manifest manifest = look_at_manifest( &part );
    uint32_t next = 1 - manifest.generation;
    const uint64_t limits[] = { 0, 1, 60, 64, 4000, part.size / 2, part.size - 1 };
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
        clv_result result = mpi_mirror_save( w, s_path );
        limit_files( UINT64_MAX );
        if ( rank == 0 || limit < 64 )
        {
            CHECK( result == CLV_FILE_FAILED );
        }
        if ( result == CLV_OK ) // it was small enough after all
        {
            manifest = look_at_manifest( &part );
            next = 1 - manifest.generation;
            meet();
            continue;
        }
        clv_mpi_error error = clv_mpi_space_error( w->space );
        CHECK( error.code == CLV_FILE_FAILED && error.rank == rank );
        CHECK( strstr( error.text, part_name( name, next, rank ) + strlen( s_path ) ) != NULL );
        CHECK( strstr( error.text, "File too large" ) != NULL && strstr( error.text, "byte" ) != NULL );
        CHECK( !is_there( part_name( name, next, g_mpi_rank ) ) );
        strcat( name, ".new" );
        CHECK( !is_there( name ) );
        meet();
    }
    // What a job that was killed in the middle of a save left behind is written over.
    mpi_test_case( "left behind" );
    write_file( part_name( name, next, g_mpi_rank ), (const uint8_t*)"half a part", 11 );
    strcat( name, ".new" );
    write_file( name, (const uint8_t*)"less", 4 );
    CHECK( mpi_mirror_save( w, s_path ) == CLV_OK );
    CHECK( !is_there( name ) && !is_there( part_name( name, 1 - next, g_mpi_rank ) ) );
    next = 1 - next;
    meet();
    // A manifest that cannot be written, when all parts are.
    mpi_test_case( "no manifest" );
    char folder[700], inside[720];
    snprintf( folder, sizeof( folder ), "%s.new", manifest_name( name ) );
    snprintf( inside, sizeof( inside ), "%s/x", folder );
    if ( g_mpi_rank == 0 )
    {
        CHECK( mkdir( folder, 0755 ) == 0 && mkdir( inside, 0755 ) == 0 );
    }
    meet();
    CHECK( mpi_mirror_save( w, s_path ) == CLV_FILE_FAILED );
    CHECK( strstr( mpi_mirror_text( w ), ".manifest" ) != NULL &&
        strstr( mpi_mirror_text( w ), "exists" ) != NULL );
    CHECK( !is_there( part_name( name, next, g_mpi_rank ) ) );
    meet();
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
        snprintf( own, sizeof( own ), "%s-of-%d", s_path, g_mpi_rank );
        CHECK( mpi_mirror_save( w, own ) == CLV_FILE_FAILED );
        CHECK( strstr( mpi_mirror_text( w ), "one folder for all" ) != NULL );
        strcat( own, ".a-0" );
        own[strlen( own ) - 1] = (char)( '0' + g_mpi_rank );
        CHECK( !is_there( own ) );
    }
    mpi_mirror_restart( w, g_mpi_count );
    CHECK( mpi_mirror_load( w, s_path ) == CLV_OK );
    mpi_mirror_update( w );
    mpi_mirror_close( w );
}

// What lies there and is none of ours is not overwritten.
static void a_strangers_manifest_stays( void )
{
    mpi_test_case( "a stranger's" );
    char name[600];
    mpi_way how = plain_way();
    mpi_mirror* w = mpi_mirror_open( &how, 4, g_mpi_count );
    size_t length = strlen( s_path );
    snprintf( s_path + length, 16, "-other" );
    const char* text =
        "these are somebody's notes, more than a hundred bytes of them, and they are not a checkpoint at all, so leave them";
    if ( g_mpi_rank == 0 )
    {
        write_file( manifest_name( name ), (const uint8_t*)text, strlen( text ) );
    }
    meet();
    CHECK( mpi_mirror_save( w, s_path ) == CLV_FILE_FAILED );
    CHECK( strstr( mpi_mirror_text( w ), "no manifest" ) != NULL );
    uint64_t size = 0;
    uint8_t* bytes = read_file( manifest_name( name ), &size );
    CHECK( size == strlen( text ) && memcmp( bytes, text, size ) == 0 );
    free( bytes );
    meet();
    if ( g_mpi_rank == 0 )
    {
        remove( name );
    }
    s_path[length] = '\0';
    mpi_mirror_close( w );
}

// ---- memory that is not there

static void memory_that_one_lacks_fails_saves_and_loads( void )
{
    mpi_way how = plain_way();
    mpi_mirror* w = mpi_mirror_open( &how, 6, g_mpi_count );
    make_busy( w );
    mpi_mirror_dress( w, 2 );
    uint32_t failures = 0;
    bool is_good = false;
    for ( uint64_t at = 1; !is_good; ++at )
    {
        snprintf( g_mpi_case, sizeof( g_mpi_case ), "save, allocation %u", (unsigned)at );
        w->purse.refuse_at =
            g_mpi_rank == (int)at % g_mpi_count ? w->purse.count + at / (uint64_t)g_mpi_count + 1 : 0;
        clv_result result = mpi_mirror_save( w, s_path );
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
        clv_result result = mpi_mirror_load( w, s_path );
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
            CHECK( mpi_mirror_load( w, s_path ) == CLV_OK );
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
    mpi_save_kind kind = clv_mpi_save_kind( 1, MPI_SAVES_ALL, 0 );
    CHECK( kind.record_size == 128 && kind.block_records == 4096 );
    CHECK( clv_mpi_section_size( UINT64_C( 100000000 ), 128, 4096 ) == UINT64_C( 12800195320 ) );
    CHECK( clv_mpi_part_size( &kind, UINT64_C( 2147483647 ), 0 ) == UINT64_C( 274882101128 ) + 64 - 8 );
    kind = clv_mpi_save_kind( 1, 0, UINT32_MAX );
    CHECK( kind.record_size == UINT64_C( 4294967336 ) && kind.block_records == 1 );
    // What docs/mpi.md says of sums and of the order of bytes.
    uint8_t words[16] = { 0 };
    CHECK( clv_mpi_file_sum( 0, words, 8 ) == UINT64_C( 0xe220a8397b1dcdaf ) );
    CHECK( mpi_put_float( mpi_put_u64( words, UINT64_C( 0x1122334455667788 ) ), 1.0f ) == words + 12 );
    CHECK( memcmp( words, "\x88\x77\x66\x55\x44\x33\x22\x11\x00\x00\x80\x3f", 12 ) == 0 );
    uint8_t header[MPI_PART_HEADER];
    kind = clv_mpi_save_kind( 5, MPI_SAVES_EVENTS | MPI_SAVES_FILTERS, 0 );
    clv_mpi_part_header_write( header, &kind, 1, 3, &( mpi_part ){ 7, 9, 0, 0 } );
    CHECK( memcmp( header,
               "CLVMPART\x01\0\0\0\x03\0\0\0\x05\0\0\0\0\0\0\0\x01\0\0\0\x03\0\0\0\x07\0\0\0\0\0\0\0",
               40 ) == 0 );
    if ( g_mpi_rank != 0 )
    {
        return;
    }
    // A file with a hole of 5 GiB, and eight bytes behind it.
    char name[600];
    snprintf( name, sizeof( name ), "%s.sparse", s_path );
    write_file( name, (const uint8_t*)"begin", 5 );
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
        CHECK( clv_mpi_file_read( &file, far, bytes, 8 ) && memcmp( bytes, "behindit", 8 ) == 0 );
        CHECK(
            !clv_mpi_file_read( &file, far + 4, bytes, 8 ) && strstr( file.reason, "5368709124" ) != NULL );
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
        mpi_way how = plain_way();
        how.is_quiet = left % 2 == 1;
        mpi_mirror* w = mpi_mirror_open( &how, 9 + left, g_mpi_count );
        mpi_mirror_add( w, 100 );
        mpi_mirror_move( w, 100, 1 ); // number 1, which all objects keep
        mpi_mirror_update( w );
        w->space->stamp = UINT32_MAX - left;
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
    meet();
    remove( part_name( name, 0, g_mpi_rank ) );
    remove( part_name( name, 1, g_mpi_rank ) );
    if ( g_mpi_rank == 0 )
    {
        remove( manifest_name( name ) );
    }
}

// A disk that is really full: started by itself, on one of a few kilobytes. test_mpi_checkpoint FOLDER full
static void a_full_disk_is_said( void )
{
    mpi_test_case( "full disk" );
    mpi_way how = plain_way();
    mpi_mirror* w = mpi_mirror_open( &how, 5, g_mpi_count );
    mpi_mirror_add( w, 30 );
    mpi_mirror_update( w );
    CHECK( mpi_mirror_save( w, s_path ) == CLV_OK );
    uint64_t pairs = clv_mpi_space_stats( w->space ).all_pair_count;
    mpi_mirror_add( w, 270 );
    mpi_mirror_move( w, 100, 1 );
    CHECK( mpi_mirror_save( w, s_path ) == CLV_FILE_FAILED );
    CHECK( strstr( mpi_mirror_text( w ), "No space left" ) != NULL );
    mpi_mirror_update( w ); // the space itself is well
    mpi_mirror_close( w );
    // The checkpoint of before is whole.
    mpi_part part;
    mpi_manifest manifest = look_at_manifest( &part );
    CHECK( manifest.object_count == 30 && manifest.pair_count == pairs );
    CHECK( manifest.part_count == (uint32_t)g_mpi_count );
    if ( g_mpi_rank == 0 )
    {
        printf( "mpi checkpoint: a full disk is said, and the last checkpoint stays\n" );
    }
}

// ---- a process that is killed

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

// The last process is killed in the middle of an update. Where MPI lets the others live they hear of it within their limit of
// time, and the checkpoint can be loaded by a new job; else MPI ends the job, and says so. test_mpi_checkpoint FOLDER killed
static void a_killed_process_is_noticed( void )
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
    CHECK( clv_mpi_space_update( space ) == CLV_OK && clv_mpi_space_save( space, s_path ) == CLV_OK );
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
    CHECK(
        clv_mpi_space_save( space, s_path ) == CLV_LOST && clv_mpi_space_load( space, s_path ) == CLV_LOST );
    clv_mpi_space_destroy( space );
    printf( "killed: noticed on process %d\n", g_mpi_rank );
    fflush( stdout );
    _exit( 0 ); // MPI_Finalize would wait for the one that is gone
}

// Enough boxes that the workers of every process's space are needed, for the thread sanitizer to look at: with what one space lists, frame by
// frame, and over a checkpoint. test_mpi_checkpoint FOLDER workers
static void workers_of_each_process_do_not_meet( void )
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
            CHECK( clv_mpi_space_save( space, s_path ) == CLV_OK );
            clv_mpi_space_destroy( space );
            CHECK( clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) == CLV_OK );
            CHECK( clv_mpi_space_load( space, s_path ) == CLV_OK );
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

int main( int argc, char** argv )
{
    mpi_test_begin( &argc, &argv );
    CHECK( argc > 1 && strlen( argv[1] ) < 400 );
    snprintf( s_path, sizeof( s_path ), "%s/world", argv[1] );
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
    meet();
    files_that_are_not_as_written_are_refused();
    clean_up();
    meet();
    a_space_without_events_cannot_tell_them_later();
    a_save_that_fails_leaves_the_last_one_whole();
    a_strangers_manifest_stays();
    memory_that_one_lacks_fails_saves_and_loads();
    clean_up();
    meet();
    if ( g_mpi_rank == 0 )
    {
        printf( "mpi checkpoint: %d processes go on from every other number\n", g_mpi_count );
    }
    MPI_Finalize();
    return 0;
}
