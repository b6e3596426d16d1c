// SPDX-License-Identifier: MIT
// All pairs of flat boxes by GEOS's STR-packed tree (Debian libgeos-dev), for bench/python.py, without Python
// around it. Usage: geos_tree FILE BOXES, raw floats min x, min y, max x, max y; prints the least ms of
// filling the tree and asking it for each box, and the pairs. GEOS wants a geometry for each box: they are
// made before the clock starts.
#include <geos_c.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum
{
    ROUNDS = 3,
    NODE_CAPACITY = 10 // GEOS's default, and shapely's
};

static void count_hit( void* item, void* hits )
{
    (void)item;
    *(size_t*)hits += 1;
}

// Each box is built into the tree at the first question. A pair is found from both sides,
// and each box finds itself.
static size_t search( GEOSContextHandle_t geos, GEOSGeometry** boxes, size_t count )
{
    GEOSSTRtree* tree = GEOSSTRtree_create_r( geos, NODE_CAPACITY );
    for ( size_t i = 0; i < count; ++i )
    {
        GEOSSTRtree_insert_r( geos, tree, boxes[i], boxes[i] );
    }
    size_t hits = 0;
    for ( size_t i = 0; i < count; ++i )
    {
        GEOSSTRtree_query_r( geos, tree, boxes[i], count_hit, &hits );
    }
    GEOSSTRtree_destroy_r( geos, tree );
    return ( hits - count ) / 2;
}

int main( int argc, char** argv )
{
    size_t count = argc == 3 ? strtoull( argv[2], NULL, 10 ) : 0;
    float( *corners )[4] = malloc( count * sizeof( *corners ) );
    GEOSGeometry** boxes = malloc( count * sizeof( *boxes ) );
    FILE* file = count > 0 ? fopen( argv[1], "rb" ) : NULL;
    if ( file == NULL || corners == NULL || boxes == NULL ||
        fread( corners, sizeof( *corners ), count, file ) != count )
    {
        fprintf( stderr, "usage: geos_tree FILE BOXES; FILE has that many boxes of four floats\n" );
        return 2;
    }
    fclose( file );
    GEOSContextHandle_t geos = GEOS_init_r();
    for ( size_t i = 0; i < count; ++i )
    {
        boxes[i] =
            GEOSGeom_createRectangle_r( geos, corners[i][0], corners[i][1], corners[i][2], corners[i][3] );
    }
    double least = 0;
    size_t pairs = 0;
    for ( int round = 0; round < ROUNDS; ++round )
    {
        clock_t begin = clock(); // of the processor, as in bench/python.py
        pairs = search( geos, boxes, count );
        double ms = (double)( clock() - begin ) * 1e3 / (double)CLOCKS_PER_SEC;
        least = round == 0 || ms < least ? ms : least;
    }
    printf( "%.3f %zu\n", least, pairs );
    for ( size_t i = 0; i < count; ++i )
    {
        GEOSGeom_destroy_r( geos, boxes[i] );
    }
    GEOS_finish_r( geos );
    free( boxes );
    free( corners );
    return 0;
}
