// SPDX-License-Identifier: MIT
// A large world in which next to nothing moves: what a frame costs when all boxes are handed over, and when
// only those that moved are. Processor time of the one thread, so that a busy machine disturbs less.
// bench/engine.md has its output.
//
//   movers [OBJECTS [MOVERS [SETTINGS]]]        default 1000000 100, such as cleave.rest=0
#include "cleave/cleave.h"
#include "math/splitmix.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum
{
    FRAMES = 200,
    TURN = 40 // frames after which all movers turn back
};

#define SPACING 0.98f
#define SCATTER 0.05
#define SPEED 0.01 // sides per frame at most, along each axis

typedef struct world
{
    clv_space* space;
    clv_aabb* boxes;
    clv_id* ids;
    uint32_t count;
    uint32_t mover_count;
    clv_id* mover_ids;
    clv_aabb* mover_boxes;
    float ( *speeds )[3];
} world;

static void* take( size_t count, size_t size )
{
    void* data = calloc( count, size );
    if ( data == NULL )
    {
        fprintf( stderr, "movers: out of memory; ask for fewer objects\n" );
        exit( 2 );
    }
    return data;
}

static void check( clv_result result )
{
    if ( result != CLV_OK )
    {
        fprintf( stderr, "movers: %s\n", clv_result_text( result ) );
        exit( 2 );
    }
}

static double now_ms( void )
{
#ifdef CLOCK_THREAD_CPUTIME_ID
    struct timespec time;
    clock_gettime( CLOCK_THREAD_CPUTIME_ID, &time );
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
#else
    return (double)clock() * 1e3 / CLOCKS_PER_SEC;
#endif
}

static void build( world* w, const char* settings )
{
    clv_space_def def = clv_default_space_def();
    def.settings = settings;
    check( clv_space_create( &def, &w->space ) );
    w->boxes = take( w->count, sizeof( clv_aabb ) );
    w->ids = take( w->count, sizeof( clv_id ) );
    w->mover_ids = take( w->mover_count, sizeof( clv_id ) );
    w->mover_boxes = take( w->mover_count, sizeof( clv_aabb ) );
    w->speeds = take( w->mover_count, sizeof( *w->speeds ) );
    uint32_t side = 1;
    while ( (uint64_t)side * side * side < w->count )
    {
        side += 1;
    }
    math_random random = math_random_seed( 1 );
    for ( uint32_t i = 0; i < w->count; ++i )
    {
        uint64_t place = (uint64_t)i * 2147483647u % w->count; // neighbours in space are none in memory
        for ( int axis = 0; axis < 3; ++axis )
        {
            float middle =
                (float)( place % side ) * SPACING + (float)math_random_between( &random, -SCATTER, SCATTER );
            ( &w->boxes[i].lower.x )[axis] = middle - 0.5f;
            ( &w->boxes[i].upper.x )[axis] = middle + 0.5f;
            place /= side;
        }
    }
    check( clv_space_add( w->space, w->boxes, w->count, w->ids ) );
    for ( uint32_t i = 0; i < w->mover_count; ++i )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            w->speeds[i][axis] = (float)math_random_between( &random, -SPEED, SPEED );
        }
    }
}

static void step( world* w, int frame )
{
    for ( uint32_t i = 0; i < w->mover_count; ++i )
    {
        uint32_t slot = (uint32_t)( (uint64_t)i * w->count / w->mover_count );
        for ( int axis = 0; axis < 3; ++axis )
        {
            w->speeds[i][axis] = frame % TURN == TURN - 1 ? -w->speeds[i][axis] : w->speeds[i][axis];
            ( &w->boxes[slot].lower.x )[axis] += w->speeds[i][axis];
            ( &w->boxes[slot].upper.x )[axis] += w->speeds[i][axis];
        }
        w->mover_ids[i] = w->ids[slot];
        w->mover_boxes[i] = w->boxes[slot];
    }
}

static int compare( const void* a, const void* b )
{
    double x = *(const double*)a, y = *(const double*)b;
    return ( x > y ) - ( x < y );
}

static void run( world* w, bool movers_alone )
{
    double times[FRAMES];
    for ( int frame = 0; frame < FRAMES; ++frame )
    {
        step( w, frame );
        double begin = now_ms();
        check( movers_alone ? clv_space_move( w->space, w->mover_ids, w->mover_boxes, w->mover_count )
                            : clv_space_move( w->space, w->ids, w->boxes, w->count ) );
        check( clv_space_update( w->space ) );
        times[frame] = now_ms() - begin;
    }
    qsort( times, FRAMES, sizeof( double ), compare );
    printf( "%-22s min %.4f  median %.4f  worst %.3f ms, %" PRIu64 " pairs\n",
        movers_alone ? "movers handed over" : "all boxes handed over", times[0], times[FRAMES / 2],
        times[FRAMES - 1], clv_space_pairs( w->space ).count );
}

int main( int argc, char** argv )
{
    world w = { .count = argc > 1 ? (uint32_t)strtoul( argv[1], NULL, 10 ) : 1000000,
        .mover_count = argc > 2 ? (uint32_t)strtoul( argv[2], NULL, 10 ) : 100 };
    if ( w.count == 0 || w.mover_count == 0 || w.mover_count > w.count )
    {
        fprintf( stderr, "movers: OBJECTS and MOVERS must be at least 1, and MOVERS no more than OBJECTS\n" );
        return 2;
    }
    build( &w, argc > 3 ? argv[3] : NULL );
    run( &w, false );
    run( &w, true );
    printf( "memory %.1f bytes per object and 8 per pair\n",
        ( (double)clv_space_stats( w.space ).memory_bytes - 8.0 * (double)clv_space_pairs( w.space ).count ) /
            w.count );
    clv_space_destroy( w.space );
    free( w.boxes );
    free( w.ids );
    free( w.mover_ids );
    free( w.mover_boxes );
    free( w.speeds );
    return 0;
}
