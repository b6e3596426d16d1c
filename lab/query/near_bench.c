// SPDX-License-Identifier: MIT
#include "lab/query/near_bench.h"

#include "base/timer.h"
#include "cleave/near.h"
#include "lab/measure/run_spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The points of a scene.
typedef struct near_scene
{
    const near_bench_def* def;
    const char* label;
    uint32_t count;
    float* positions;
    clv_near_cell cell;
} near_scene;

static uint64_t mix( uint64_t z )
{
    z += UINT64_C( 0x9E3779B97F4A7C15 );
    z = ( z ^ z >> 30 ) * UINT64_C( 0xBF58476D1CE4E5B9 );
    z = ( z ^ z >> 27 ) * UINT64_C( 0x94D049BB133111EB );
    return z ^ z >> 31;
}

// A set of pairs has a sum of these, an order a chain of them.
static uint64_t hash_list( const clv_near_view* list, uint64_t* order )
{
    uint64_t hash = 0;
    *order = 0;
    for ( uint64_t i = 0; i < list->count; ++i )
    {
        uint64_t one = mix( (uint64_t)list->pairs[i].a << 32 | list->pairs[i].b );
        hash += one;
        *order = mix( *order ^ one );
    }
    return hash;
}

static clv_near_points points_of( const near_scene* scene )
{
    clv_near_points points = {
        .positions = scene->positions, .stride = 3 * sizeof( float ), .count = scene->count
    };
    points.cell = scene->def->is_periodic ? &scene->cell : NULL;
    return points;
}

// Points within the world, in float: wrapped as near.h says, each coordinate on its own.
static float wrapped( double value, double edge )
{
    float now = (float)value;
    for ( int round = 0; round < 4 && edge > 0; ++round )
    {
        double part = (double)now * ( 1 / edge );
        if ( part >= 0 && part < 1 )
        {
            break;
        }
        double whole = part < 0 ? -(double)(int64_t)( -part ) - 1 : (double)(int64_t)part;
        now = (float)( (double)now - whole * edge );
    }
    return now;
}

// The distance of b's image by a shift from a, as near.h computes it: from the point that is shifted up.
static bool is_near( const float* a, const float* b, const int s[3], const float edges[3], float limit )
{
    bool is_down = s[0] != 0 ? s[0] < 0 : s[1] != 0 ? s[1] < 0 : s[2] < 0;
    const float *p = is_down ? b : a, *q = is_down ? a : b;
    float d[3];
    for ( int k = 0; k < 3; ++k )
    {
        int way = is_down ? -s[k] : s[k];
        float image = way == 0 ? q[k] : q[k] + (float)way * edges[k];
        d[k] = image - p[k];
    }
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= limit;
}

// Pairs as numbers that sort by the first point and then the second; one that is listed
// twice stands here twice.
typedef struct pair_numbers
{
    uint64_t* items;
    uint64_t count, capacity;
} pair_numbers;

static bool numbers_add( pair_numbers* list, uint32_t a, uint32_t b )
{
    if ( list->count == list->capacity )
    {
        uint64_t capacity = 2 * list->capacity + 1024;
        uint64_t* larger = realloc( list->items, capacity * sizeof( uint64_t ) );
        if ( larger == NULL )
        {
            return false;
        }
        list->items = larger;
        list->capacity = capacity;
    }
    list->items[list->count++] = (uint64_t)a << 32 | b;
    return true;
}

// Every pair and the images next to it: enough where no edge is below twice the cutoff. In ascending order.
static bool judge( const near_scene* scene, pair_numbers* found )
{
    bool is_periodic = scene->def->is_periodic;
    float limit = (float)scene->def->cutoff * (float)scene->def->cutoff, edges[3] = { 0, 0, 0 };
    float* at = malloc( scene->count * 3 * sizeof( float ) + 1 );
    bool good = at != NULL;
    for ( uint64_t i = 0; good && i < 3 * (uint64_t)scene->count; ++i )
    {
        double edge = is_periodic ? scene->cell.edges[i % 3][i % 3] : 0;
        edges[i % 3] = (float)edge;
        at[i] = wrapped( (double)scene->positions[i], edge );
    }
    for ( uint32_t a = 0; good && a < scene->count; ++a )
    {
        for ( uint32_t b = a + 1; good && b < scene->count; ++b )
        {
            for ( int shift = is_periodic ? 0 : 13; good && shift < ( is_periodic ? 27 : 14 ); ++shift )
            {
                const int s[3] = { shift / 9 - 1, shift % 9 / 3 - 1, shift % 3 - 1 };
                good = !is_near( at + 3 * (size_t)a, at + 3 * (size_t)b, s, edges, limit ) ||
                    numbers_add( found, a, b );
            }
        }
    }
    free( at );
    return good;
}

// One way of listing: an instruction set and a number of workers; and what came of it.
typedef struct near_trial
{
    clv_isa isa;
    uint32_t workers;
    uint64_t hash, order, count;
    double best_ns;
    pair_numbers* pairs; // NULL: they are not wanted
} near_trial;

static bool list_scene( const near_scene* scene, near_trial* trial, lab_error* why )
{
    clv_near_def def = clv_default_near_def();
    def.cutoff = scene->def->cutoff;
    def.isa = trial->isa;
    def.worker_count = trial->workers;
    clv_near* near = NULL;
    clv_result result = clv_near_create( &def, &near );
    if ( result == CLV_BAD_DEF )
    {
        return lab_error_write(
            why, "--near %g: a cutoff is finite, at least 0, and its square is a float", def.cutoff );
    }
    if ( result != CLV_OK )
    {
        return lab_error_write( why, "--near: %s", clv_result_text( result ) );
    }
    clv_near_points points = points_of( scene );
    for ( uint64_t pass = 0; pass < scene->def->pass_count + 1 && result == CLV_OK;
          ++pass ) // the first warms up
    {
        uint64_t before = clv_base_clock_ns();
        result = clv_near_update( near, &points, NULL );
        double ns = (double)( clv_base_clock_ns() - before );
        trial->best_ns = pass <= 1 || ns < trial->best_ns ? ns : trial->best_ns;
    }
    clv_near_view list = clv_near_list( near );
    bool good =
        result == CLV_OK || lab_error_write( why, "%s: %s", scene->label, clv_near_error( near ).text );
    trial->hash = hash_list( &list, &trial->order );
    trial->count = list.count;
    for ( uint64_t i = 0; good && trial->pairs != NULL && i < list.count; ++i )
    {
        good = numbers_add( trial->pairs, list.pairs[i].a, list.pairs[i].b ) ||
            lab_error_write( why, "%s: out of memory for the pairs", scene->label );
    }
    clv_near_destroy( near );
    return good;
}

static int compare_numbers( const void* a, const void* b )
{
    uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
    return x < y ? -1 : x > y;
}

// The first pair that only one of the two has; both are sorted.
static void print_difference(
    const near_scene* scene, const pair_numbers* ours, const pair_numbers* expected )
{
    uint64_t i = 0;
    while ( i < ours->count && i < expected->count && ours->items[i] == expected->items[i] )
    {
        ++i;
    }
    bool is_ours = i < ours->count && ( i == expected->count || ours->items[i] < expected->items[i] );
    uint64_t pair = is_ours ? ours->items[i] : expected->items[i];
    const float* a = scene->positions + 3 * (size_t)( pair >> 32 );
    const float* b = scene->positions + 3 * (size_t)( pair & UINT32_MAX );
    printf( "    first difference: %" PRIu64 " at (%.9g, %.9g, %.9g) and %" PRIu64
            " at (%.9g, %.9g, %.9g): only %s\n",
        pair >> 32, (double)a[0], (double)a[1], (double)a[2], pair & UINT32_MAX, (double)b[0], (double)b[1],
        (double)b[2], is_ours ? "in the list" : "by brute force" );
}

static lab_status time_trial( const near_scene* scene, near_trial* trial, lab_error* why )
{
    if ( !list_scene( scene, trial, why ) )
    {
        return lab_error_print( why );
    }
    double points = scene->count > 0 ? (double)scene->count : 1;
    printf( "%-32s %-8s %3u %10u points %12" PRIu64 " pairs %8.2f ms %8.1f ns per point  0x%016" PRIx64 "\n",
        scene->label, clv_isa_name( trial->isa ), trial->workers, scene->count, trial->count,
        trial->best_ns / 1e6, trial->best_ns / points, trial->hash );
    return LAB_DONE;
}

static lab_status verify_trial(
    const near_scene* scene, near_trial* trial, const pair_numbers* expected, uint64_t order, lab_error* why )
{
    pair_numbers ours = { 0 };
    trial->pairs = &ours;
    lab_status status = LAB_DONE;
    if ( !list_scene( scene, trial, why ) )
    {
        status = lab_error_print( why );
    }
    else
    {
        if ( ours.count > 1 )
        {
            qsort( ours.items, ours.count, sizeof( uint64_t ), compare_numbers );
        }
        bool are_pairs = ours.count == expected->count &&
            ( ours.count == 0 ||
                memcmp( ours.items, expected->items, ours.count * sizeof( uint64_t ) ) == 0 );
        bool is_order = order == 0 || trial->order == order;
        printf( "%-32s %-8s %3u %12" PRIu64 " pairs, brute force %12" PRIu64 ": %s\n", scene->label,
            clv_isa_name( trial->isa ), trial->workers, ours.count, expected->count,
            !are_pairs      ? "they differ"
                : !is_order ? "the same in another order than above"
                            : "the same" );
        if ( !are_pairs )
        {
            print_difference( scene, &ours, expected );
        }
        status = are_pairs && is_order ? LAB_DONE : LAB_DISAGREES;
    }
    free( ours.items );
    trial->pairs = NULL;
    return status;
}

static bool is_wanted( const near_bench_def* def, clv_isa isa )
{
    bool is_named = def->isas->count == 0
        ? def->verify || isa == clv_isa_best()
        : text_list_has( def->isas, "all" ) || text_list_has( def->isas, clv_isa_name( isa ) );
    return is_named && clv_isa_is_supported( isa );
}

// On every instruction set and number of workers that is asked for.
static lab_status run_trials( const near_scene* scene, const pair_numbers* expected, lab_error* why )
{
    const near_bench_def* def = scene->def;
    lab_status status = LAB_DONE;
    uint64_t order = 0;
    for ( int isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
    {
        uint32_t kinds = def->threads->count > 0 ? def->threads->count : 1;
        for ( uint32_t t = 0; t < kinds && is_wanted( def, (clv_isa)isa ) && status != LAB_BAD_INPUT; ++t )
        {
            uint32_t workers = def->threads->count > 0 ? (uint32_t)def->threads->items[t] : 1;
            near_trial trial = { .isa = (clv_isa)isa, .workers = workers };
            lab_status one = expected != NULL ? verify_trial( scene, &trial, expected, order, why )
                                              : time_trial( scene, &trial, why );
            status = one != LAB_DONE ? one : status;
            order = order == 0 ? trial.order : order;
        }
    }
    return status;
}

static lab_status verify_scene( const near_scene* scene, lab_error* why )
{
    for ( int k = 0; k < 3 && scene->def->is_periodic; ++k )
    {
        if ( scene->cell.edges[k][k] < 2 * scene->def->cutoff )
        {
            return lab_fail(
                "verify: --near with --periodic needs a world of at least twice the cutoff on each axis" );
        }
    }
    pair_numbers expected = { 0 };
    lab_status status = judge( scene, &expected ) ? run_trials( scene, &expected, why )
                                                  : lab_fail( "out of memory for the pairs of brute force" );
    free( expected.items );
    return status;
}

static lab_status run_scene( const near_bench_def* def, const scene_item* item )
{
    lab_error why;
    frame_source source = { 0 };
    near_scene scene = { .def = def, .label = item->label };
    bool good = scene_spec_open( &item->spec, item->body_count, 0, def->seed, &source, &why );
    clv_aabb* boxes = good ? frame_source_boxes( &source ) : NULL;
    good = good && frame_source_read( &source, source.header.frame_count, boxes, &why );
    lab_status status = LAB_DONE;
    if ( good )
    {
        scene.count = source.header.object_count;
        scene.positions = malloc( scene.count * 3 * sizeof( float ) + 1 );
        const float *lower = &source.header.world.lower.x, *upper = &source.header.world.upper.x;
        for ( int k = 0; k < 3; ++k )
        {
            scene.cell.edges[k][k] = (double)upper[k] - (double)lower[k];
            scene.cell.periodic[k] = true;
        }
        for ( uint32_t i = 0; scene.positions != NULL && i < scene.count; ++i )
        {
            for ( int k = 0; k < 3; ++k )
            {
                scene.positions[3 * (size_t)i + (size_t)k] =
                    (float)( ( (double)( &boxes[i].lower.x )[k] + (double)( &boxes[i].upper.x )[k] ) / 2 );
            }
        }
        status = scene.positions == NULL ? lab_fail( "out of memory for the points" )
            : def->verify                ? verify_scene( &scene, &why )
                                         : run_trials( &scene, NULL, &why );
        free( scene.positions );
    }
    else
    {
        status = lab_error_print( &why );
    }
    free( boxes );
    frame_source_close( &source );
    return status;
}

bool near_flags_check( const args_table* table, lab_error* why )
{
    static const char* const taken[] = { "--near", "--periodic", "--objects", "--isa", "--threads",
        "--repeat", "--seed", "--quiet" };
    for ( uint32_t i = 0; i < table->flag_count; ++i )
    {
        bool is_taken = !table->given[i];
        for ( size_t k = 0; k < sizeof( taken ) / sizeof( taken[0] ) && !is_taken; ++k )
        {
            is_taken = strcmp( taken[k], table->flags[i].name ) == 0;
        }
        if ( !is_taken )
        {
            return lab_error_write(
                why, "%s: %s does not go with --near", table->command, table->flags[i].name );
        }
    }
    return true;
}

lab_status near_bench_run( const near_bench_def* def )
{
    lab_error why;
    scene_list scenes = { 0 };
    for ( uint32_t i = 0; i < def->isas->count; ++i )
    {
        clv_isa isa;
        const char* name = def->isas->items[i];
        if ( !run_isa_check( name, true, &why ) )
        {
            return lab_error_print( &why );
        }
        if ( clv_isa_from_name( name, &isa ) && !clv_isa_is_supported( isa ) )
        {
            return lab_fail( "--isa %s: this machine does not have it", name );
        }
    }
    if ( !scene_list_make( &scenes, def->scenes, def->sizes, &why ) )
    {
        return lab_error_print( &why );
    }
    lab_status status = LAB_DONE;
    for ( uint32_t i = 0; i < scenes.count && status != LAB_BAD_INPUT; ++i )
    {
        lab_status one = run_scene( def, &scenes.items[i] );
        status = one != LAB_DONE ? one : status;
    }
    scene_list_free( &scenes );
    return status;
}
