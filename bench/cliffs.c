// SPDX-License-Identifier: MIT
// Looks for cliffs: random worlds of many kinds, on each of which the default engine is timed beside `sap` and `kd-rebuilt`. Where it
// is much slower than the better of the two, the world is told, by seed, so that it can be looked at again.
//
//   cliffs [WORLDS [SEED [KIND]]]       default: 500 worlds from seed 1, of all kinds
//
// Times are of the processor, the least of several updates in which every box moves a little. All methods have to find as many pairs.
#define _POSIX_C_SOURCE 200809L

#include "cleave/cleave.h"
#include "cleave/methods.h"
#include "math/splitmix.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum
{
    COUNT_MOST = 60000,
    UPDATES = 5,
    KEPT = 12 // worst worlds told
};

typedef struct world
{
    uint64_t seed;
    int kind;
    uint32_t count;
    double pairs_per_box;
    double ratio;
    double ms[3];
} world;

typedef void world_maker( math_random* random, clv_aabb* boxes, uint32_t count );

static double between( math_random* random, double low, double high )
{
    return math_random_between( random, low, high );
}

static double log_between( math_random* random, double low, double high )
{
    return exp( between( random, log( low ), log( high ) ) );
}

// Of this process alone: others may be at work.
static double cpu_ms( void )
{
    struct timespec now;
    clock_gettime( CLOCK_PROCESS_CPUTIME_ID, &now );
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void put( clv_aabb* box, const double at[3], const double half[3] )
{
    float* lower = &box->lower.x;
    float* upper = &box->upper.x;
    for ( int axis = 0; axis < 3; ++axis )
    {
        lower[axis] = (float)( at[axis] - half[axis] );
        upper[axis] = (float)( at[axis] + half[axis] );
    }
}

// Unit cubes in a box of these proportions, with about `neighbours` in reach of each.
static void fill( math_random* random, clv_aabb* boxes, uint32_t count, const double shape[3] )
{
    double neighbours = log_between( random, 0.05, 8 ), volume = count * 8 / neighbours;
    double scale = cbrt( volume / ( shape[0] * shape[1] * shape[2] ) );
    double wide[3];
    // An axis that is thinner than a box counts as one box thick.
    for ( int pass = 0; pass < 3; ++pass )
    {
        int thick = 0;
        double product = 1;
        for ( int axis = 0; axis < 3; ++axis )
        {
            bool is_thin = shape[axis] * scale < 2;
            thick += !is_thin;
            product *= is_thin ? 2 : shape[axis];
        }
        scale = thick > 0 ? pow( volume / product, 1.0 / thick ) : 1;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        wide[axis] = shape[axis] * scale;
    }
    double flatness = between( random, 0, 1 ) < 0.5 ? 1 : 0; // all on one floor, or each at its height
    for ( uint32_t i = 0; i < count; ++i )
    {
        double at[3], half[3] = { 0.5, 0.5, 0.5 };
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = between( random, -0.5, 0.5 ) *
                ( wide[axis] < 1 ? wide[axis] * ( 1 - flatness ) : wide[axis] );
        }
        put( &boxes[i], at, half );
    }
}

static void make_even( math_random* random, clv_aabb* boxes, uint32_t count )
{
    double shape[3] = { 1, log_between( random, 0.1, 1 ), log_between( random, 0.1, 1 ) };
    fill( random, boxes, count, shape );
}

static void make_flat( math_random* random, clv_aabb* boxes, uint32_t count )
{
    double shape[3] = { 1, log_between( random, 0.02, 1 ), 1e-9 };
    fill( random, boxes, count, shape );
}

static void make_slab( math_random* random, clv_aabb* boxes, uint32_t count )
{
    double shape[3] = { log_between( random, 0.1, 1 ), 1, log_between( random, 1e-4, 0.05 ) };
    fill( random, boxes, count, shape );
}

static void make_line( math_random* random, clv_aabb* boxes, uint32_t count )
{
    double shape[3] = { log_between( random, 1e-9, 1e-3 ), 1e-9, 1 };
    fill( random, boxes, count, shape );
}

// Along a straight line through space, of some thickness.
static void make_diagonal( math_random* random, clv_aabb* boxes, uint32_t count )
{
    double length = count * log_between( random, 0.2, 4 ), thick = log_between( random, 0.01, 20 );
    double way[3] = { 1, between( random, -1, 1 ), between( random, -1, 1 ) };
    for ( uint32_t i = 0; i < count; ++i )
    {
        double along = between( random, 0, length ), at[3], half[3] = { 0.5, 0.5, 0.5 };
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = along * way[axis] + between( random, -thick, thick );
        }
        put( &boxes[i], at, half );
    }
}

static void make_floors( math_random* random, clv_aabb* boxes, uint32_t count )
{
    uint32_t floors = 2 + (uint32_t)between( random, 0, 6 );
    double apart = log_between( random, 3, 3000 ),
           side = sqrt( count * log_between( random, 0.5, 20 ) / floors );
    for ( uint32_t i = 0; i < count; ++i )
    {
        double at[3] = { between( random, 0, side ), i % floors * apart, between( random, 0, side ) };
        double half[3] = { 0.5, 0.5, 0.5 };
        put( &boxes[i], at, half );
    }
}

static void make_staircase( math_random* random, clv_aabb* boxes, uint32_t count )
{
    uint32_t steps = 3 + (uint32_t)between( random, 0, 200 );
    double width = sqrt( count * log_between( random, 0.5, 20 ) );
    double depth = width / steps, rise = log_between( random, 0.2, 20 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t step = i % steps;
        double at[3] = { ( step + between( random, 0, 1 ) ) * depth, between( random, 0, width ),
            step * rise };
        double half[3] = { 0.5, 0.5, 0.5 };
        put( &boxes[i], at, half );
    }
}

static void make_shell( math_random* random, clv_aabb* boxes, uint32_t count )
{
    double radius = sqrt( count * log_between( random, 0.05, 3 ) );
    double squash = log_between( random, 0.01, 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        double way[3], length = 0;
        do
        {
            length = 0;
            for ( int axis = 0; axis < 3; ++axis )
            {
                way[axis] = between( random, -1, 1 );
                length += way[axis] * way[axis];
            }
        } while ( length > 1 || length < 1e-3 );
        double at[3], half[3] = { 0.5, 0.5, 0.5 };
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = way[axis] / sqrt( length ) * radius * ( axis == 2 ? squash : 1 );
        }
        put( &boxes[i], at, half );
    }
}

static void make_endless( math_random* random, clv_aabb* boxes, uint32_t count )
{
    make_flat( random, boxes, count );
    int axis = (int)between( random, 0, 3 );
    bool is_thin = axis == 2;
    double low_share = between( random, 0, 1 ), high_share = between( random, 0, 1 );
    bool is_all = between( random, 0, 1 ) < 0.4;
    for ( uint32_t i = 0; i < count; ++i )
    {
        // On a wide axis an endless box meets a row of others: only so many are.
        double share = is_thin ? 1 : 2.0 / sqrt( count );
        if ( !is_thin && between( random, 0, 1 ) > share )
        {
            continue;
        }
        float* lower = &boxes[i].lower.x;
        float* upper = &boxes[i].upper.x;
        lower[axis] = is_all || between( random, 0, 1 ) < low_share ? -INFINITY : lower[axis];
        upper[axis] = is_all || between( random, 0, 1 ) < high_share ? INFINITY : upper[axis];
    }
}

// Distances from the middle that are log-uniform, and sizes that go with them.
static void make_decades( math_random* random, clv_aabb* boxes, uint32_t count )
{
    double decades = between( random, 2, 14 ), smallest = pow( 10, -between( random, 0, decades ) );
    double share = cbrt( log_between( random, 0.05, 5 ) * decades / count );
    bool is_sized = between( random, 0, 1 ) < 0.8;
    for ( uint32_t i = 0; i < count; ++i )
    {
        double distance = smallest * pow( 10, between( random, 0, decades ) ), at[3], half[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = distance * between( random, -1, 1 );
            half[axis] = is_sized ? 0.5 * share * distance : 1e-3 * smallest / count;
        }
        put( &boxes[i], at, half );
    }
}

static void make_denormal( math_random* random, clv_aabb* boxes, uint32_t count )
{
    double scale = log_between( random, 1e-44, 1e-30 );
    double shape[3] = { 1, log_between( random, 0.1, 1 ), log_between( random, 0.1, 1 ) };
    fill( random, boxes, count, shape );
    for ( uint32_t i = 0; i < count; ++i )
    {
        float* corner = &boxes[i].lower.x;
        for ( int k = 0; k < 6; ++k )
        {
            corner[k] = (float)( corner[k] * scale );
        }
    }
}

// Thin boxes along the axes, as long as the world or a part of it.
static void make_needles( math_random* random, clv_aabb* boxes, uint32_t count )
{
    double side = cbrt( count / 0.02 ), length = side * log_between( random, 0.02, 1 );
    double thick = log_between( random, 0.05, 2 ) * side * side / ( (double)count * length );
    uint32_t kinds = 1 + (uint32_t)between( random, 0, 3 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        double at[3], half[3];
        uint32_t along = (uint32_t)between( random, 0, kinds );
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            at[axis] = between( random, -0.5, 0.5 ) * ( axis == along ? side - length : side );
            half[axis] = 0.5 * ( axis == along ? length : thick );
        }
        put( &boxes[i], at, half );
    }
}

// Crowds of crowds.
static void make_crowds( math_random* random, clv_aabb* boxes, uint32_t count )
{
    uint32_t crowds = 1 + (uint32_t)between( random, 0, 20 );
    double centre[20][3], spread[20];
    double apart = log_between( random, 1, 1e5 );
    for ( uint32_t k = 0; k < crowds; ++k )
    {
        spread[k] = log_between( random, 0.02, 1 ) * cbrt( count / 0.02 );
        for ( int axis = 0; axis < 3; ++axis )
        {
            centre[k][axis] = between( random, -apart, apart );
        }
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        double at[3], half[3] = { 0.5, 0.5, 0.5 };
        uint32_t k = (uint32_t)between( random, 0, crowds );
        for ( int axis = 0; axis < 3; ++axis )
        {
            half[axis] = 0.5 * fmin( 1, spread[k] / cbrt( count / crowds / 0.1 ) );
            at[axis] = centre[k][axis] + between( random, -spread[k], spread[k] );
        }
        put( &boxes[i], at, half );
    }
}

static void make_sizes( math_random* random, clv_aabb* boxes, uint32_t count )
{
    double spread = between( random, 0.5, 3 );
    make_even( random, boxes, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        double size = exp( spread * ( between( random, -1, 1 ) + between( random, -1, 1 ) - 1 ) );
        float* lower = &boxes[i].lower.x;
        float* upper = &boxes[i].upper.x;
        for ( int axis = 0; axis < 3; ++axis )
        {
            double middle = 0.5 * ( (double)lower[axis] + upper[axis] );
            lower[axis] = (float)( middle - 0.5 * size );
            upper[axis] = (float)( middle + 0.5 * size );
        }
    }
}

static const struct
{
    const char* name;
    world_maker* make;
} s_kinds[] = { { "even", make_even }, { "flat", make_flat }, { "slab", make_slab }, { "line", make_line },
    { "diagonal", make_diagonal }, { "floors", make_floors }, { "staircase", make_staircase },
    { "shell", make_shell }, { "endless", make_endless }, { "decades", make_decades },
    { "denormal", make_denormal }, { "needles", make_needles }, { "crowds", make_crowds },
    { "sizes", make_sizes } };

enum
{
    KINDS = sizeof( s_kinds ) / sizeof( s_kinds[0] )
};

static void check( clv_result result, const char* what )
{
    if ( result != CLV_OK )
    {
        fprintf( stderr, "cliffs: %s: %s\n", what, clv_result_text( result ) );
        exit( 2 );
    }
}

// Every box a little to the side and back, so that nothing rests; the same pairs but for a few.
static void nudge( clv_aabb* boxes, uint32_t count, bool forth )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        float* corner = &boxes[i].lower.x;
        for ( int k = 0; k < 6; ++k )
        {
            corner[k] = forth ? nextafterf( corner[k], INFINITY ) : nextafterf( corner[k], -INFINITY );
        }
    }
}

static double time_method(
    const char* method, clv_aabb* boxes, uint32_t count, double limit, uint64_t* pairs )
{
    clv_space_def def = clv_default_space_def();
    def.method = method;
    def.settings = strcmp( method, "cleave" ) == 0 ? "cleave.rest=0" : NULL;
    clv_space* space;
    clv_id* ids = malloc( count * sizeof( clv_id ) );
    check( ids == NULL ? CLV_OUT_OF_MEMORY : CLV_OK, "ids" );
    check( clv_space_create( &def, &space ), method );
    check( clv_space_add( space, boxes, count, ids ), method );
    double least = 1e300;
    for ( int update = 0; update < UPDATES; ++update )
    {
        nudge( boxes, count, update % 2 == 0 );
        double start = cpu_ms();
        check( clv_space_move( space, ids, boxes, count ), method );
        check( clv_space_update( space ), method );
        double ms = cpu_ms() - start;
        least = ms < least ? ms : least;
        *pairs = clv_space_pairs( space ).count;
        if ( update > 0 && ms > limit )
        {
            nudge( boxes, count, update % 2 != 0 );
            break;
        }
    }
    clv_space_destroy( space );
    free( ids );
    return least;
}

static void run_world( world* w, clv_aabb* boxes )
{
    static const char* const methods[3] = { "sap", "kd-rebuilt", "cleave" };
    math_random random = math_random_seed( w->seed );
    w->count = (uint32_t)log_between( &random, 300, COUNT_MOST );
    s_kinds[w->kind].make( &random, boxes, w->count );
    uint64_t pairs[3] = { 0 };
    for ( int i = 0; i < 3; ++i )
    {
        w->ms[i] = time_method( methods[i], boxes, w->count, i == 2 ? 1e9 : 200, &pairs[i] );
    }
    if ( pairs[0] != pairs[2] || pairs[1] != pairs[2] )
    {
        fprintf( stderr, "cliffs: seed %" PRIu64 " (%s): pairs %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
            w->seed, s_kinds[w->kind].name, pairs[0], pairs[1], pairs[2] );
    }
    w->pairs_per_box = (double)pairs[2] / w->count;
    w->ratio = w->ms[2] / fmin( w->ms[0], w->ms[1] );
}

static int by_ratio( const void* a, const void* b )
{
    double x = ( (const world*)a )->ratio, y = ( (const world*)b )->ratio;
    return ( x < y ) - ( x > y );
}

int main( int argc, char** argv )
{
    clv_methods_register();
    uint32_t clv_engine_count = argc > 1 ? (uint32_t)strtoul( argv[1], NULL, 10 ) : 500;
    uint64_t seed = argc > 2 ? strtoull( argv[2], NULL, 10 ) : 1;
    const char* only = argc > 3 ? argv[3] : NULL;
    world* worlds = calloc( clv_engine_count + 1, sizeof( world ) );
    clv_aabb* boxes = calloc( COUNT_MOST + 1, sizeof( clv_aabb ) );
    if ( worlds == NULL || boxes == NULL )
    {
        return 2;
    }
    uint32_t slower[KINDS] = { 0 }, cliffs[KINDS] = { 0 }, seen[KINDS] = { 0 };
    double worst[KINDS] = { 0 };
    for ( uint32_t i = 0; i < clv_engine_count; ++i )
    {
        world* w = &worlds[i];
        w->seed = seed + i;
        w->kind = (int)( w->seed % KINDS );
        for ( int kind = 0; only != NULL && kind < KINDS; ++kind )
        {
            w->kind = strcmp( s_kinds[kind].name, only ) == 0 ? kind : w->kind;
        }
        run_world( w, boxes );
        seen[w->kind] += 1;
        slower[w->kind] += w->ratio > 1;
        cliffs[w->kind] += w->ratio > 3;
        worst[w->kind] = fmax( worst[w->kind], w->ratio );
    }
    printf( "%-10s %6s %7s %7s %8s\n", "kind", "worlds", "slower", "over 3x", "worst" );
    for ( int kind = 0; kind < KINDS; ++kind )
    {
        if ( seen[kind] > 0 )
        {
            printf( "%-10s %6u %7u %7u %8.2f\n", s_kinds[kind].name, seen[kind], slower[kind], cliffs[kind],
                worst[kind] );
        }
    }
    qsort( worlds, clv_engine_count, sizeof( world ), by_ratio );
    printf( "\n%-10s %8s %8s %11s %9s %9s %9s %7s\n", "kind", "seed", "boxes", "pairs/box", "sap",
        "kd-rebuilt", "cleave", "ratio" );
    for ( uint32_t i = 0; i < KEPT && i < clv_engine_count; ++i )
    {
        const world* w = &worlds[i];
        printf( "%-10s %8" PRIu64 " %8u %11.3g %9.3f %9.3f %9.3f %7.2f\n", s_kinds[w->kind].name, w->seed,
            w->count, w->pairs_per_box, w->ms[0], w->ms[1], w->ms[2], w->ratio );
    }
    free( worlds );
    free( boxes );
    return 0;
}
