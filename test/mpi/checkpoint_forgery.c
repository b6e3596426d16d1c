// SPDX-License-Identifier: MIT
// Bytes changed, files cut off, too long, missing, folders or of another save; numbers that cannot be, under
// checksums that fit. Every one is refused by name with the space as it was.
// mkdir is POSIX's own.
#define _GNU_SOURCE

#include "checkpoint_forgery.h"

#include "checkpoint_files.h"
#include "fuzz/fuzz_parts.h"

#include <math.h>
#include <sys/stat.h>

/// One damage after the other to one file, on process 0; the file is as it was in the end.
static void damage_bytes( mpi_mirror* w, const char* name, uint64_t step )
{
    uint64_t size = 0;
    uint8_t* bytes = checkpoint_read_file( name, &size );
    checkpoint_meet();
    for ( uint64_t at = 0; at < size; at += step )
    {
        snprintf( g_mpi_case, sizeof( g_mpi_case ), "byte %llu of %.100s", (unsigned long long)at, name );
        bytes[at] ^= (uint8_t)( 1u << at % 8 );
        if ( g_mpi_rank == 0 )
        {
            checkpoint_write_file( name, bytes, size );
        }
        checkpoint_refuse( w, name, "byte" );
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
            checkpoint_write_file( name, bytes, length );
        }
        checkpoint_refuse( w, name, "byte" );
    }
    snprintf( g_mpi_case, sizeof( g_mpi_case ), "missing: %.100s", name );
    if ( g_mpi_rank == 0 )
    {
        remove( name );
    }
    checkpoint_refuse( w, name, "No such file" );
    snprintf( g_mpi_case, sizeof( g_mpi_case ), "a folder: %.100s", name );
    if ( g_mpi_rank == 0 )
    {
        CHECK( mkdir( name, 0700 ) == 0 );
    }
    checkpoint_refuse( w, name, "Is a directory" );
    if ( g_mpi_rank == 0 )
    {
        remove( name );
        checkpoint_write_file( name, bytes, size );
    }
    free( bytes );
    checkpoint_meet();
}

// Numbers in the manifest that cannot be, under checksums that fit.
static void forge_manifest( mpi_mirror* w )
{
    char name[600];
    uint64_t size = 0;
    uint8_t* bytes = checkpoint_read_file( checkpoint_manifest_name( name ), &size );
    checkpoint_meet();
    const uint64_t settings = MANIFEST_SETTINGS_AT, parts = settings + base_part_bytes( 32 ), huge = 1u << 30;
    const struct
    {
        uint64_t at, value;
        const char* word;
        bool of_part; // only the part's size or stamp tells that the manifest lies
    } forgeries[] = {
        { 12, 2, "version 2", false },
        { 24, 7, "another save", true },
        { settings, 99, "settings", false },
        { settings, 1, "settings", false },
        { settings, UINT64_C( 3 ) << 32 | 3, "settings", false },
        { settings + 8, 16, "payload", false },
        { settings + 8, UINT64_MAX, "settings", false },
        { settings + 16, 2, "settings", false },
        { parts - 16, 0, "", false }, // its own length
        { parts - 16, 24, "", false },
        { parts, huge, "is cut off", true },
        { parts, 1, "is longer", true },
        { parts, UINT64_MAX, "counts", false },
        { parts, UINT64_C( 1 ) << 61, "counts", false },
        { parts + 8, UINT64_MAX, "counts", false },
        { parts + 8, huge, "is cut off", true },
    };
    for ( size_t i = 0; i < sizeof( forgeries ) / sizeof( forgeries[0] ); ++i )
    {
        uint8_t* forged = malloc( size );
        memcpy( forged, bytes, size );
        snprintf( g_mpi_case, sizeof( g_mpi_case ), "forgery %u", (unsigned)i );
        if ( forgeries[i].at == 12 )
        {
            base_put_u32( forged + 12, (uint32_t)forgeries[i].value );
        }
        else
        {
            base_put_u64( forged + forgeries[i].at, forgeries[i].value );
        }
        fuzz_mend_parts( forged, size, "CKPM" );
        if ( g_mpi_rank == 0 )
        {
            checkpoint_write_file( name, forged, size );
        }
        checkpoint_refuse( w, forgeries[i].of_part ? "/world.a-" : name, forgeries[i].word );
        free( forged );
    }
    if ( g_mpi_rank == 0 )
    {
        checkpoint_write_file( name, bytes, size );
    }
    free( bytes );
    checkpoint_meet();
}

// Bytes of the first part that no space writes, under checksums that fit.
static void forge_part( mpi_mirror* w, const mpi_manifest* manifest, const mpi_part* part )
{
    char name[600], whole[600];
    uint64_t size = 0;
    uint8_t* bytes = checkpoint_read_file( checkpoint_part_name( name, manifest->generation, 0 ), &size );
    checkpoint_meet();
    mpi_section objects = clv_mpi_section( &manifest->kind, part, false );
    mpi_section pairs = clv_mpi_section( &manifest->kind, part, true );
    CHECK( objects.count < objects.chunk_records && objects.count > 1 );
    const char* words[] = { "NaN", "NaN", "twice", "flags", "NaN", "another part", "expected", "invalid pair",
        "invalid pair", "twice" };
    for ( int which = 0; which < (int)( sizeof( words ) / sizeof( words[0] ) ); ++which )
    {
        if ( which >= 7 && part->pair_count < 2 )
        {
            continue;
        }
        uint8_t* forged = malloc( size );
        memcpy( forged, bytes, size );
        uint8_t* first = forged + clv_mpi_record_offset( &objects, 0 );
        uint8_t* second = forged + clv_mpi_record_offset( &objects, 1 );
        uint8_t* pair = forged + clv_mpi_record_offset( &pairs, 0 );
        const float nan = NAN, below_all = -INFINITY;
        snprintf( g_mpi_case, sizeof( g_mpi_case ), "forged part %d", which );
        switch ( which )
        {
        case 0: clv_base_copy_ordered( second + 8, &nan, 1, 4 ); break;
        case 1: clv_base_copy_ordered( second + 20, &below_all, 1, 4 ); break;
        case 2: memcpy( second, first, 8 ); break;
        case 3: second[32] ^= 1; break;
        case 4: clv_base_copy_ordered( second + 40, &nan, 1, 4 ); break;
        case 5: memcpy( forged + objects.begin, "PAIR", 4 ); break;
        case 6: base_put_u64( forged + objects.begin + 8, objects.record_size ); break;
        case 7: memcpy( pair + 8, pair, 8 ); break;
        case 8: clv_base_copy_ordered( pair + 16, &nan, 1, 4 ); break;
        default: memcpy( pair + 32, pair, 32 ); break;
        }
        fuzz_mend_parts( forged, size, "CKPP" );
        if ( g_mpi_rank == 0 )
        {
            checkpoint_write_file( name, forged, size );
        }
        checkpoint_refuse(
            w, which == 2 || which == 9 ? checkpoint_manifest_name( whole ) : name, words[which] );
        free( forged );
    }
    if ( g_mpi_rank == 0 )
    {
        checkpoint_write_file( name, bytes, size );
    }
    free( bytes );
    checkpoint_meet();
}

static void copy_file( const char* from, const char* to )
{
    uint64_t size = 0;
    uint8_t* bytes = checkpoint_read_file( from, &size );
    checkpoint_write_file( to, bytes, size );
    free( bytes );
}

void files_that_are_not_as_written_are_refused( void )
{
    char name[600], other[600];
    mpi_way how = checkpoint_way();
    mpi_mirror* w = mpi_mirror_open( &how, 3, g_mpi_count );
    checkpoint_make_busy( w );
    // Two saves: the second has parts "a" again once a third is made; one of the first is put among them.
    CHECK( mpi_mirror_save( w, g_checkpoint_path ) == CLV_OK );
    snprintf( other, sizeof( other ), "%s.kept", g_checkpoint_path );
    if ( g_mpi_rank == 0 )
    {
        copy_file( checkpoint_part_name( name, 0, g_mpi_count - 1 ), other );
    }
    CHECK( mpi_mirror_save( w, g_checkpoint_path ) == CLV_OK &&
        mpi_mirror_save( w, g_checkpoint_path ) == CLV_OK );
    CHECK( checkpoint_is_there( checkpoint_part_name( name, 0, g_mpi_rank ) ) &&
        !checkpoint_is_there( checkpoint_part_name( name, 1, g_mpi_rank ) ) );
    checkpoint_meet();
    mpi_part first;
    mpi_manifest manifest = checkpoint_look_at_manifest( &first );
    mpi_mirror_restart( w, g_mpi_count );
    damage_bytes( w, checkpoint_manifest_name( name ), 7 );
    damage_bytes( w, checkpoint_part_name( name, 0, g_mpi_count - 1 ), 331 );
    forge_manifest( w );
    forge_part( w, &manifest, &first );

    mpi_test_case( "another save" );
    uint64_t size = 0;
    checkpoint_part_name( name, 0, g_mpi_count - 1 );
    uint8_t* bytes = checkpoint_read_file( name, &size );
    checkpoint_meet();
    if ( g_mpi_rank == 0 )
    {
        copy_file( other, name );
        remove( other );
    }
    checkpoint_refuse( w, name, "another save" );
    if ( g_mpi_rank == 0 )
    {
        checkpoint_write_file( name, bytes, size );
    }
    free( bytes );
    // A def that does not fit.
    mpi_way another = how;
    another.borrowed = true; // and so without payload
    mpi_mirror* misfit = mpi_mirror_open( &another, 3, g_mpi_count );
    checkpoint_refuse( misfit, checkpoint_manifest_name( name ), "payload" );
    mpi_mirror_close( misfit );
    // After all that it is still what it was.
    mpi_test_case( "whole again" );
    checkpoint_meet();
    CHECK( mpi_mirror_load( w, g_checkpoint_path ) == CLV_OK );
    CHECK( mpi_mirror_load( w, g_checkpoint_path ) == CLV_BAD_ARGUMENT ); // there are objects now
    mpi_mirror_update( w );
    mpi_mirror_close( w );
}
