// SPDX-License-Identifier: MIT
// Moments in the life of a space that a table of scenes does not show: small spaces beside brute force, the
// worst frame of steady motion, many boxes added to a running space. bench/worst.md is made of its output.
//
//   space_moments [few|steady|burst]        default: all three
//
// Everything is done several times over, what is compared in turn, and of each moment the least counts: a
// busy machine can only make a moment longer.
#include "base/timer.h"
#include "cleave/cleave.h"
#include "math/splitmix.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 7
#define DENSITY 0.02

typedef struct swarm
{
    uint32_t count;
    double side;
    double ( *place )[3];
    double ( *speed )[3];
    clv_aabb* boxes;
    clv_id* ids;
} swarm;

static void* take( size_t count, size_t size )
{
    void* memory = calloc( count, size );
    if ( memory == NULL )
    {
        fprintf( stderr, "space_moments: out of memory\n" );
        exit( 2 );
    }
    return memory;
}

static void check( clv_result result, const char* what )
{
    if ( result != CLV_OK )
    {
        fprintf( stderr, "space_moments: %s: %s\n", what, clv_result_text( result ) );
        exit( 2 );
    }
}

static void write_boxes( swarm* all )
{
    for ( uint32_t i = 0; i < all->count; ++i )
    {
        const double* p = all->place[i];
        all->boxes[i] = ( clv_aabb ){ { (float)( p[0] - 0.5 ), (float)( p[1] - 0.5 ), (float)( p[2] - 0.5 ) },
            { (float)( p[0] + 0.5 ), (float)( p[1] + 0.5 ), (float)( p[2] + 0.5 ) } };
    }
}

// Unit cubes at Broadmark's density, flying.
static swarm make_swarm( uint32_t count, uint64_t seed )
{
    swarm all = { .count = count, .side = cbrt( count / DENSITY ) };
    all.place = take( count, sizeof( *all.place ) );
    all.speed = take( count, sizeof( *all.speed ) );
    all.boxes = take( count, sizeof( clv_aabb ) );
    all.ids = take( count, sizeof( clv_id ) );
    math_random random = math_random_seed( seed );
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            all.place[i][axis] = math_random_between( &random, -0.5, 0.5 ) * all.side;
            all.speed[i][axis] = math_random_between( &random, -0.02, 0.02 ) * all.side;
        }
    }
    write_boxes( &all );
    return all;
}

static void free_swarm( swarm* all )
{
    free( all->place );
    free( all->speed );
    free( all->boxes );
    free( all->ids );
}

static void step( swarm* all )
{
    for ( uint32_t i = 0; i < all->count; ++i )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            all->place[i][axis] += all->speed[i][axis];
            if ( fabs( all->place[i][axis] ) > 0.5 * all->side )
            {
                all->place[i][axis] -= 2 * all->speed[i][axis];
                all->speed[i][axis] = -all->speed[i][axis];
            }
        }
    }
    write_boxes( all );
}

static clv_space* make_space( const char* method, clv_isa isa, swarm* all )
{
    clv_space* space = NULL;
    clv_space_def def = clv_default_space_def();
    def.method = method;
    def.isa = isa;
    check( clv_space_create( &def, &space ), "creating a space" );
    check( clv_space_add( space, all->boxes, all->count, all->ids ), "adding" );
    check( clv_space_update( space ), "updating" );
    return space;
}

// Nanoseconds of one frame as a user pays it.
static double time_frame( clv_space* space, const swarm* all )
{
    uint64_t begin = clv_base_clock_ns();
    check( clv_space_move( space, all->ids, all->boxes, all->count ), "moving" );
    check( clv_space_update( space ), "updating" );
    return (double)( clv_base_clock_ns() - begin );
}

static double least( double a, double b )
{
    return a < b ? a : b;
}

static int compare_doubles( const void* left, const void* right )
{
    double a = *(const double*)left, b = *(const double*)right;
    return ( a > b ) - ( a < b );
}

// ---- small spaces

typedef struct rival
{
    const char* name;
    const char* method;
    clv_isa isa;
} rival;

#define FEW_FRAMES 400
#define RIVALS 3

// Of each frame the least over the rounds, then the median.
static void measure_few( uint32_t count, const rival* rivals, double medians[RIVALS] )
{
    double* frames = take( RIVALS * FEW_FRAMES, sizeof( double ) );
    for ( int round = 0; round < ROUNDS * 3; ++round )
    {
        for ( int i = 0; i < RIVALS; ++i )
        {
            swarm all = make_swarm( count, 1 );
            clv_space* space = make_space( rivals[i].method, rivals[i].isa, &all );
            for ( int frame = 0; frame < FEW_FRAMES; ++frame )
            {
                step( &all );
                double ns = time_frame( space, &all );
                double* best = &frames[i * FEW_FRAMES + frame];
                *best = round == 0 ? ns : least( *best, ns );
            }
            clv_space_destroy( space );
            free_swarm( &all );
        }
    }
    for ( int i = 0; i < RIVALS; ++i )
    {
        qsort( frames + i * FEW_FRAMES, FEW_FRAMES, sizeof( double ), compare_doubles );
        medians[i] = frames[i * FEW_FRAMES + FEW_FRAMES / 2];
    }
    free( frames );
}

static void few( void )
{
    static const uint32_t counts[] = { 1, 10, 30, 63, 100, 200, 300, 1000 };
    const bool has_avx2 = clv_isa_is_supported( CLV_ISA_AVX2 );
    const rival rivals[RIVALS] = { { "cleave", "cleave", CLV_ISA_AUTO },
        { "cleave", "cleave", has_avx2 ? CLV_ISA_AVX2 : CLV_ISA_AUTO },
        { "brute", "brute", has_avx2 ? CLV_ISA_AVX2 : CLV_ISA_AUTO } };
    const char* isa = has_avx2 ? "avx2" : "auto";
    printf( "## Small spaces\n\n| objects | `cleave`, ns | `cleave@%s` | `brute@%s` | difference |\n"
            "| --- | --- | --- | --- | --- |\n",
        isa, isa );
    for ( size_t row = 0; row < sizeof( counts ) / sizeof( counts[0] ); ++row )
    {
        double ns[RIVALS];
        measure_few( counts[row], rivals, ns );
        printf( "| %" PRIu32 " | %.0f | %.0f | %.0f | %+.0f |\n", counts[row], ns[0], ns[1], ns[2],
            ns[0] - ns[2] );
        fflush( stdout );
    }
    printf( "\n" );
}

// ---- steady motion

#define STEADY_FRAMES 100

static void measure_steady( uint32_t count )
{
    double frames[STEADY_FRAMES];
    for ( int round = 0; round < ROUNDS; ++round )
    {
        swarm all = make_swarm( count, 2 );
        clv_space* space = make_space( NULL, CLV_ISA_AUTO, &all );
        for ( int frame = 0; frame < STEADY_FRAMES; ++frame )
        {
            step( &all );
            double ns = time_frame( space, &all );
            frames[frame] = round == 0 ? ns : least( frames[frame], ns );
        }
        clv_space_destroy( space );
        free_swarm( &all );
    }
    qsort( frames, STEADY_FRAMES, sizeof( double ), compare_doubles );
    double median = frames[STEADY_FRAMES / 2], worst = frames[STEADY_FRAMES - 1];
    double p99 = frames[STEADY_FRAMES - 2];
    printf( "| %" PRIu32 " | %.4f | %.4f | %.4f | %.2f | %.2f |\n", count, median / 1e6, p99 / 1e6,
        worst / 1e6, p99 / median, worst / median );
    fflush( stdout );
}

static void steady( void )
{
    static const uint32_t counts[] = { 100, 1000, 8000, 32000, 128000 };
    printf(
        "## Steady motion, %d frames\n\n| objects | median ms | p99 | worst | p99 / median | worst / median |\n"
        "| --- | --- | --- | --- | --- | --- |\n",
        STEADY_FRAMES );
    for ( size_t row = 0; row < sizeof( counts ) / sizeof( counts[0] ); ++row )
    {
        measure_steady( counts[row] );
    }
    printf( "\n" );
}

// ---- many at once

typedef struct burst_times
{
    double before;   ///< a complete frame of the first half
    double add;      ///< adding the second half
    double update;   ///< the update after it
    double after;    ///< a complete frame of all
    double complete; ///< the update of a new space of all
    double remove;   ///< removing the second half, and the update after it
} burst_times;

static void keep( double* best, double ns, int round )
{
    *best = round == 0 ? ns : least( *best, ns );
}

static double since( uint64_t* begin )
{
    uint64_t now = clv_base_clock_ns();
    double ns = (double)( now - *begin );
    *begin = now;
    return ns;
}

static void burst_round( uint32_t half, burst_times* best, int round )
{
    swarm all = make_swarm( 2 * half, 3 );
    clv_space* space = NULL;
    clv_space_def def = clv_default_space_def();
    check( clv_space_create( &def, &space ), "creating a space" );
    all.count = half;
    check( clv_space_add( space, all.boxes, half, all.ids ), "adding" );
    for ( int frame = 0; frame < 10; ++frame )
    {
        step( &all );
        double ns = time_frame( space, &all );
        keep( &best->before, ns, round + frame );
    }
    all.count = 2 * half;
    write_boxes( &all );
    uint64_t begin = clv_base_clock_ns();
    check( clv_space_add( space, all.boxes + half, half, all.ids + half ), "adding" );
    keep( &best->add, since( &begin ), round );
    check( clv_space_update( space ), "updating" );
    keep( &best->update, since( &begin ), round );
    for ( int frame = 0; frame < 10; ++frame )
    {
        step( &all );
        keep( &best->after, time_frame( space, &all ), round + frame );
    }
    begin = clv_base_clock_ns();
    check( clv_space_remove( space, all.ids + half, half ), "removing" );
    check( clv_space_update( space ), "updating" );
    keep( &best->remove, since( &begin ), round );
    clv_space_destroy( space );
    check( clv_space_create( &def, &space ), "creating a space" );
    begin = clv_base_clock_ns();
    check( clv_space_add( space, all.boxes, all.count, all.ids ), "adding" );
    check( clv_space_update( space ), "updating" );
    keep( &best->complete, since( &begin ), round );
    clv_space_destroy( space );
    free_swarm( &all );
}

static void burst( void )
{
    static const uint32_t halves[] = { 1000, 10000, 100000 };
    printf(
        "## Many at once\n\n| running + added | frame before | add | update after | frame of all | (add + update) / frame of all "
        "| new space of all | remove + update |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n" );
    for ( size_t row = 0; row < sizeof( halves ) / sizeof( halves[0] ); ++row )
    {
        burst_times t = { 0 };
        for ( int round = 0; round < ROUNDS; ++round )
        {
            burst_round( halves[row], &t, round );
        }
        printf( "| %" PRIu32 " + %" PRIu32 " | %.3f | %.3f | %.3f | %.3f | %.2f | %.3f | %.3f |\n",
            halves[row], halves[row], t.before / 1e6, t.add / 1e6, t.update / 1e6, t.after / 1e6,
            ( t.add + t.update ) / t.after, t.complete / 1e6, t.remove / 1e6 );
        fflush( stdout );
    }
    printf( "\n" );
}

int main( int argc, char** argv )
{
    static const struct
    {
        const char* name;
        void ( *run )( void );
    } parts[] = { { "few", few }, { "steady", steady }, { "burst", burst } };
    bool is_known = argc < 2;
    for ( size_t part = 0; part < sizeof( parts ) / sizeof( parts[0] ); ++part )
    {
        if ( argc < 2 || strcmp( argv[1], parts[part].name ) == 0 )
        {
            is_known = true;
            parts[part].run();
        }
    }
    if ( !is_known || argc > 2 )
    {
        fprintf( stderr, "space_moments: unknown part '%s'; use few, steady or burst, or none for all\n",
            argv[argc - 1] );
        return 2;
    }
    return 0;
}
