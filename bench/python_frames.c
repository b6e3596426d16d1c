// SPDX-License-Identifier: MIT
// What bench/python.py measures, in C: the same boxes from a file, as raw floats, frame after frame.
// Usage: python_frames FILE BOXES FRAMES [doubles]; prints the least ms of a frame: all boxes moved in a
// space that is kept, and one shot (a space made, filled, updated and destroyed).
#include <cleave/cleave.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Of the processor, as in bench/python.py: other programs do not count. All is done by one thread.
static double now_ms( void )
{
    return (double)clock() * 1e3 / (double)CLOCKS_PER_SEC;
}

static double least( const double* values, uint32_t count )
{
    double found = values[0];
    for ( uint32_t i = 1; i < count; ++i )
    {
        found = values[i] < found ? values[i] : found;
    }
    return found;
}

static void check( clv_result result )
{
    if ( result != CLV_OK )
    {
        fprintf( stderr, "python_frames: %s\n", clv_result_text( result ) );
        exit( 1 );
    }
}

typedef struct run
{
    const char* boxes; // of all frames
    size_t frame_size; // bytes
    uint32_t box_count;
    bool doubles;
    clv_id* ids;
} run;

static clv_space* make( const run* r )
{
    clv_space_def def = clv_default_space_def();
    def.doubles = r->doubles;
    def.capacity = r->box_count;
    clv_space* space;
    check( clv_space_create( &def, &space ) );
    return space;
}

static void add( const run* r, clv_space* space, uint32_t frame )
{
    const void* boxes = r->boxes + frame * r->frame_size;
    check( r->doubles ? clv_space_add64( space, boxes, r->box_count, r->ids )
                      : clv_space_add( space, boxes, r->box_count, r->ids ) );
}

static void move( const run* r, clv_space* space, uint32_t frame )
{
    const void* boxes = r->boxes + frame * r->frame_size;
    check( r->doubles ? clv_space_move64( space, r->ids, boxes, r->box_count )
                      : clv_space_move( space, r->ids, boxes, r->box_count ) );
}

int main( int argc, char** argv )
{
    if ( argc < 4 )
    {
        fprintf( stderr, "usage: python_frames FILE BOXES FRAMES [doubles]\n" );
        return 2;
    }
    bool doubles = argc > 4 && strcmp( argv[4], "doubles" ) == 0;
    uint32_t box_count = (uint32_t)strtoul( argv[2], NULL, 10 );
    uint32_t frame_count = (uint32_t)strtoul( argv[3], NULL, 10 );
    if ( box_count == 0 || frame_count < 2 )
    {
        fprintf( stderr, "python_frames: at least one box and two frames are needed\n" );
        return 2;
    }
    run r = { NULL, box_count * ( doubles ? sizeof( clv_aabb64 ) : sizeof( clv_aabb ) ), box_count, doubles,
        NULL };
    char* boxes = malloc( r.frame_size * frame_count );
    double* times = calloc( 2 * frame_count, sizeof( double ) );
    r.ids = malloc( box_count * sizeof( clv_id ) );
    FILE* file = fopen( argv[1], "rb" );
    if ( boxes == NULL || times == NULL || r.ids == NULL || file == NULL ||
        fread( boxes, r.frame_size, frame_count, file ) != frame_count )
    {
        fprintf( stderr, "python_frames: %s cannot be read\n", argv[1] );
        return 1;
    }
    fclose( file );
    r.boxes = boxes;

    uint64_t pair_count = 0;
    clv_space* space = make( &r );
    add( &r, space, 0 );
    check( clv_space_update( space ) );
    for ( uint32_t frame = 1; frame < frame_count; ++frame ) // the first would move nothing
    {
        double start = now_ms();
        move( &r, space, frame );
        check( clv_space_update( space ) );
        pair_count += clv_space_pairs( space ).count;
        times[frame] = now_ms() - start;
    }
    clv_space_destroy( space );
    for ( uint32_t frame = 0; frame < frame_count; ++frame )
    {
        double start = now_ms();
        clv_space* once = make( &r );
        add( &r, once, frame );
        check( clv_space_update( once ) );
        pair_count += clv_space_pairs( once ).count;
        clv_space_destroy( once );
        times[frame_count + frame] = now_ms() - start;
    }
    printf( "%.4f %.4f %llu\n", least( times + 1, frame_count - 1 ),
        least( times + frame_count, frame_count ), (unsigned long long)pair_count );
    free( boxes );
    free( times );
    free( r.ids );
    return 0;
}
