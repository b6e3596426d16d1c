// SPDX-License-Identifier: MIT
// The C library's pairs of a scene, for scenes.test.mjs to hold its own against: for each frame their number and a hash of
// the list in its order. Usage: native FILE.aabbs METHOD
#include "cleave/cleave.h"
#include "cleave/methods.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    HEADER_BYTES = 304,
    BOX_FLOATS = 8
};

static void stop( const char* what )
{
    fprintf( stderr, "native: %s\n", what );
    exit( 2 );
}

static uint32_t hash_list( clv_pair_view view )
{
    uint32_t hash = 2166136261u;
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        hash = ( hash ^ view.pairs[i].a ) * 16777619u;
        hash = ( hash ^ view.pairs[i].b ) * 16777619u;
    }
    return hash;
}

int main( int argc, char** argv )
{
    FILE* file = argc == 3 ? fopen( argv[1], "rb" ) : NULL;
    unsigned char header[HEADER_BYTES];
    if ( file == NULL || fread( header, 1, HEADER_BYTES, file ) != HEADER_BYTES )
    {
        stop( "usage: native FILE.aabbs METHOD" );
    }
    // Little-endian like the machines that have emscripten.
    const int32_t* sizes = (const int32_t*)(const void*)( header + 256 );
    uint32_t count = (uint32_t)sizes[0];
    float* floats = malloc( count * BOX_FLOATS * sizeof( float ) );
    clv_id* ids = malloc( count * sizeof( clv_id ) );
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    def.method = argv[2];
    if ( floats == NULL || ids == NULL || clv_methods_register() != CLV_OK ||
        clv_space_create( &def, &space ) != CLV_OK )
    {
        stop( "no such method, or no memory" );
    }
    clv_box_stream boxes = { floats, floats + 4, BOX_FLOATS * sizeof( float ) };
    for ( int32_t frame = 0; frame <= sizes[1]; ++frame )
    {
        if ( fread( floats, BOX_FLOATS * sizeof( float ), count, file ) != count )
        {
            stop( "the file ends early" );
        }
        clv_result result = frame == 0 ? clv_space_add_strided( space, boxes, count, ids )
                                       : clv_space_move_strided( space, ids, boxes, count );
        if ( result != CLV_OK || clv_space_update( space ) != CLV_OK )
        {
            stop( clv_space_error( space ).text );
        }
        clv_pair_view view = clv_space_pairs( space );
        printf( "%" PRIu64 " %" PRIu32 "\n", view.count, hash_list( view ) );
    }
    clv_space_destroy( space );
    free( ids );
    free( floats );
    fclose( file );
    return 0;
}
