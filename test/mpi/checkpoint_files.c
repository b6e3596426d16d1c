// SPDX-License-Identifier: MIT
// Read and written by the library's own calls, so that a file is what the space sees. stat is POSIX's own.
#define _GNU_SOURCE

#include "checkpoint_files.h"

#include <sys/stat.h>

char g_checkpoint_path[512];

void checkpoint_meet( void )
{
    MPI_Barrier( MPI_COMM_WORLD );
}

mpi_way checkpoint_way( void )
{
    mpi_way how = { .wide = 4, .workers = 1, .cutter = CLV_MPI_CUT_BISECTION, .method = "cleave" };
    return how;
}

void checkpoint_make_busy( mpi_mirror* w )
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

char* checkpoint_part_name( char name[600], uint32_t generation, int part )
{
    snprintf( name, 600, "%s.%c-%d", g_checkpoint_path, generation == 0 ? 'a' : 'b', part );
    return name;
}

char* checkpoint_manifest_name( char name[600] )
{
    snprintf( name, 600, "%s.manifest", g_checkpoint_path );
    return name;
}

uint8_t* checkpoint_read_file( const char* name, uint64_t* size )
{
    mpi_file file;
    CHECK( clv_mpi_file_open( &file, name ) && clv_mpi_file_size( &file, size ) );
    uint8_t* bytes = malloc( *size + 64 );
    CHECK( bytes != NULL && clv_mpi_file_read( 0, bytes, *size, &file ) );
    clv_mpi_file_close( &file );
    return bytes;
}

void checkpoint_write_file( const char* name, const uint8_t* bytes, uint64_t size )
{
    FILE* file = fopen( name, "wb" );
    CHECK( file != NULL && fwrite( bytes, 1, size, file ) == size && fclose( file ) == 0 );
}

bool checkpoint_is_there( const char* name )
{
    struct stat info;
    return stat( name, &info ) == 0;
}

void checkpoint_refuse( mpi_mirror* w, const char* name, const char* word )
{
    checkpoint_meet();
    clv_result result = mpi_mirror_load( w, g_checkpoint_path );
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
    checkpoint_meet();
}

mpi_manifest checkpoint_look_at_manifest( mpi_part* first )
{
    char name[600];
    mpi_manifest manifest;
    base_parts_reader reader = { 0 };
    uint8_t* bytes = checkpoint_read_file( checkpoint_manifest_name( name ), &reader.size );
    reader.memory = bytes;
    CHECK( clv_mpi_manifest_read( &reader, &manifest ) );
    *first = clv_mpi_manifest_part( &manifest, 0 );
    manifest.parts = NULL;
    free( bytes );
    return manifest;
}
