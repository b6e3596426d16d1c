// SPDX-License-Identifier: MIT
// How long a space takes to be written to memory and read back. bench/snapshots.md has its output.
//
//   snapshots [COUNT]        default: 32000 boxes
//
// One thread. Cubes of a metre, one in 30 m³, which all move in every frame; and a pile of as many
// that rests, whose list the space follows. Times are minima of 50, in ms; a copy of as many bytes is
// what no snapshot can beat.
#include "base/timer.h"
#include "cleave/cleave.h"
#include "math/splitmix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    ROUNDS = 50,
    FRAMES = 40,
};

static void check( clv_result result )
{
    if ( result != CLV_OK )
    {
        fprintf( stderr, "snapshots: %s\n", clv_result_text( result ) );
        exit( 2 );
    }
}

static void* take( size_t count, size_t size )
{
    void* memory = calloc( count, size );
    if ( memory == NULL )
    {
        fprintf( stderr, "snapshots: out of memory\n" );
        exit( 2 );
    }
    return memory;
}

static clv_space* live( uint32_t count, bool moves )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space;
    math_random random = { 1 };
    clv_aabb* boxes = take( count, sizeof( clv_aabb ) );
    clv_id* ids = take( count, sizeof( clv_id ) );
    float side = (float)cbrt( ( moves ? 30.0 : 1.2 ) * count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        float x = (float)math_random_unit( &random ) * side, y = (float)math_random_unit( &random ) * side;
        float z = (float)math_random_unit( &random ) * side;
        boxes[i] = ( clv_aabb ){ { x, y, z }, { x + 1, y + 1, z + 1 } };
    }
    check( clv_space_create( &def, &space ) );
    check( clv_space_add( space, boxes, count, ids ) );
    for ( uint32_t frame = 0; frame < FRAMES; ++frame )
    {
        for ( uint32_t i = 0; i < count; i += moves ? 1 : 200 )
        {
            float by = ( (float)math_random_unit( &random ) - 0.5f ) * ( moves ? 0.5f : 0.01f );
            boxes[i].lower.x += by;
            boxes[i].upper.x += by;
        }
        check( clv_space_move( space, ids, boxes, count ) );
        check( clv_space_update( space ) );
    }
    free( boxes );
    free( ids );
    return space;
}

static void measure( const char* name, clv_space* space, clv_save_form form )
{
    size_t size = clv_space_save_size( space, form ), written = 0;
    uint8_t *bytes = take( size, 1 ), *copy = take( size, 1 );
    double save = 1e9, load = 1e9, plain = 1e9;
    clv_space_def def = clv_default_space_def();
    for ( int round = 0; round < ROUNDS; ++round )
    {
        clv_space* loaded = NULL;
        uint64_t begin = clv_base_clock_ns();
        check( clv_space_save( space, form, bytes, size, &written ) );
        uint64_t saved = clv_base_clock_ns();
        check( clv_space_load( &def, bytes, size, &loaded, NULL ) );
        uint64_t made = clv_base_clock_ns();
        memcpy( copy, bytes, size );
        uint64_t end = clv_base_clock_ns();
        clv_space_destroy( loaded );
        save = fmin( save, base_clock_ms( begin, saved ) );
        load = fmin( load, base_clock_ms( saved, made ) );
        plain = fmin( plain, base_clock_ms( made, end ) );
    }
    printf( "%-8s %-7s %8llu %8llu %10.2f %8.3f %8.3f %8.3f\n", name,
        form == CLV_SAVE_MEMORY ? "memory" : "disk",
        (unsigned long long)clv_space_stats( space ).object_count,
        (unsigned long long)clv_space_pairs( space ).count, (double)size / 1e6, save, load, plain );
    free( bytes );
    free( copy );
}

int main( int argc, char** argv )
{
    long count = argc > 1 ? strtol( argv[1], NULL, 10 ) : 32000;
    if ( count < 1 || count > 10000000 || argc > 2 )
    {
        fputs( "usage: snapshots [COUNT]   boxes, 1 to 10000000; default 32000\n", stderr );
        return 2;
    }
    printf( "world    form       boxes    pairs         MB  save ms  load ms  copy ms\n" );
    for ( int moves = 1; moves >= 0; --moves )
    {
        clv_space* space = live( (uint32_t)count, moves );
        measure( moves ? "moving" : "at rest", space, CLV_SAVE_MEMORY );
        measure( moves ? "moving" : "at rest", space, CLV_SAVE_DISK );
        clv_space_destroy( space );
    }
    return 0;
}
