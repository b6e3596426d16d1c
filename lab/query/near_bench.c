// SPDX-License-Identifier: MIT
#include "base/timer.h"
#include "cleave/near.h"
#include "lab/base/random.h"
#include "lab/measure/judge.h"
#include "lab/query/query_bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The points of a scene.
typedef struct near_scene
{
    const ask_def* def;
    const char* label;
    uint32_t count;
    float* positions;
    clv_near_cell cell;
} near_scene;

// A set of pairs has a sum of these, an order a chain of them.
static uint64_t hash_list( const clv_near_view* list, uint64_t* order )
{
    uint64_t hash = 0;
    *order = 0;
    for ( uint64_t i = 0; i < list->count; ++i )
    {
        uint64_t one = random_mix( (uint64_t)list->pairs[i].a << 32 | list->pairs[i].b );
        hash += one;
        *order = random_mix( *order ^ one );
    }
    return hash;
}

static clv_near_points points_of( const near_scene* scene )
{
    clv_near_points points = {
        .positions = scene->positions, .stride = 3 * sizeof( float ), .count = scene->count
    };
    points.cell = scene->def->periodic ? &scene->cell : NULL;
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

// Every pair and the images next to it: enough where no edge is below twice the cutoff. In ascending order;
// a pair that is near by two images stands there twice.
static void judge( const near_scene* scene, verdict_list* found )
{
    bool is_periodic = scene->def->periodic;
    float limit = (float)scene->def->near_cutoff * (float)scene->def->near_cutoff, edges[3] = { 0, 0, 0 };
    float* at = lab_take( scene->count, 3 * sizeof( float ) );
    for ( uint64_t i = 0; i < 3 * (uint64_t)scene->count; ++i )
    {
        double edge = is_periodic ? scene->cell.edges[i % 3][i % 3] : 0;
        edges[i % 3] = (float)edge;
        at[i] = wrapped( (double)scene->positions[i], edge );
    }
    for ( uint32_t a = 0; a < scene->count; ++a )
    {
        for ( uint32_t b = a + 1; b < scene->count; ++b )
        {
            for ( int shift = is_periodic ? 0 : 13; shift < ( is_periodic ? 27 : 14 ); ++shift )
            {
                const int s[3] = { shift / 9 - 1, shift % 9 / 3 - 1, shift % 3 - 1 };
                if ( is_near( at + 3 * (size_t)a, at + 3 * (size_t)b, s, edges, limit ) )
                {
                    verdict_list_add( found, ( clv_pair ){ a, b } );
                }
            }
        }
    }
    free( at );
}

// One way of listing: an instruction set and a number of workers; and what came of it.
typedef struct near_trial
{
    clv_isa isa;
    uint32_t workers;
    uint64_t hash, order, count;
    double best_ns;
    verdict_list* pairs; // NULL: they are not wanted
} near_trial;

static bool list_scene( const near_scene* scene, near_trial* trial, lab_error* why )
{
    clv_near_def def = clv_default_near_def();
    def.cutoff = scene->def->near_cutoff;
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
    // The first pass warms up.
    for ( uint64_t pass = 0; pass < scene->def->part->terms.repeat + 1 && result == CLV_OK; ++pass )
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
        verdict_list_add( trial->pairs, ( clv_pair ){ list.pairs[i].a, list.pairs[i].b } );
    }
    clv_near_destroy( near );
    return good;
}

static bool time_trial( const near_scene* scene, near_trial* trial, lab_error* why )
{
    if ( !list_scene( scene, trial, why ) )
    {
        return false;
    }
    double points = scene->count > 0 ? (double)scene->count : 1;
    printf( "%-32s %-8s %3u %10u points %12" PRIu64 " pairs %8.2f ms %8.1f ns per point  0x%016" PRIx64 "\n",
        scene->label, clv_isa_name( trial->isa ), trial->workers, scene->count, trial->count,
        trial->best_ns / 1e6, trial->best_ns / points, trial->hash );
    return true;
}

static void print_difference( const near_scene* scene, verdict_difference difference )
{
    const float* a = scene->positions + 3 * (size_t)difference.pair.a;
    const float* b = scene->positions + 3 * (size_t)difference.pair.b;
    printf( "    first difference: %" PRIu32 " at (%.9g, %.9g, %.9g) and %" PRIu32
            " at (%.9g, %.9g, %.9g): only %s\n",
        difference.pair.a, (double)a[0], (double)a[1], (double)a[2], difference.pair.b, (double)b[0],
        (double)b[1], (double)b[2], difference.fault == VERDICT_MISSING ? "by brute force" : "in the list" );
}

// Also false, and disagrees, where the pairs are the same in another order than above (0: not known).
static bool verify_trial(
    const near_scene* scene, near_trial* trial, const verdict_list* expected, uint64_t order, lab_error* why )
{
    verdict_list ours = { 0 };
    trial->pairs = &ours;
    bool good = list_scene( scene, trial, why );
    if ( good )
    {
        verdict_list_sort( &ours );
        verdict_difference difference = verdict_compare( expected, &ours, scene->count );
        bool are_pairs = difference.fault == VERDICT_FINE;
        bool is_order = order == 0 || trial->order == order;
        printf( "%-32s %-8s %3u %12" PRIu64 " pairs, brute force %12" PRIu64 ": %s\n", scene->label,
            clv_isa_name( trial->isa ), trial->workers, ours.count, expected->count,
            !are_pairs      ? "they differ"
                : !is_order ? "the same in another order than above"
                            : "the same" );
        if ( !are_pairs )
        {
            print_difference( scene, difference );
        }
        good = ( are_pairs && is_order ) || lab_error_disagrees( why );
    }
    verdict_list_free( &ours );
    trial->pairs = NULL;
    return good;
}

// On every instruction set and number of workers that is asked for; those that differ do not end it.
static bool run_trials( const near_scene* scene, const verdict_list* expected, lab_error* why )
{
    const size_list* threads = &scene->def->part->wish.threads;
    bool good = true, agree = true;
    uint64_t order = 0;
    for ( int isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
    {
        uint32_t kinds = threads->count > 0 ? threads->count : 1;
        for ( uint32_t t = 0; t < kinds && good && ask_takes_isa( scene->def, (clv_isa)isa ); ++t )
        {
            uint32_t workers = threads->count > 0 ? (uint32_t)threads->items[t] : 1;
            near_trial trial = { .isa = (clv_isa)isa, .workers = workers };
            bool is_fine = expected != NULL ? verify_trial( scene, &trial, expected, order, why )
                                            : time_trial( scene, &trial, why );
            good = is_fine || why->status == LAB_DISAGREES;
            agree = agree && is_fine;
            order = order == 0 ? trial.order : order;
        }
    }
    return good && ( agree || lab_error_disagrees( why ) );
}

static bool verify_scene( const near_scene* scene, lab_error* why )
{
    for ( int k = 0; k < 3 && scene->def->periodic; ++k )
    {
        if ( scene->cell.edges[k][k] < 2 * scene->def->near_cutoff )
        {
            return lab_error_write( why,
                "verify: --near with --periodic needs a world of at least twice the cutoff on each axis" );
        }
    }
    verdict_list expected = { 0 };
    judge( scene, &expected );
    bool good = run_trials( scene, &expected, why );
    verdict_list_free( &expected );
    return good;
}

static bool run_scene( const ask_def* def, const scene_item* item, lab_error* why )
{
    scene_header header;
    clv_aabb* boxes = ask_last_frame( def, item, &header, why );
    if ( boxes == NULL )
    {
        return false;
    }
    near_scene scene = { .def = def, .label = item->label, .count = header.object_count };
    scene.positions = lab_take( scene.count, 3 * sizeof( float ) );
    for ( int k = 0; k < 3; ++k )
    {
        scene.cell.edges[k][k] = (double)( &header.world.upper.x )[k] - (double)( &header.world.lower.x )[k];
        scene.cell.periodic[k] = true;
        for ( uint32_t i = 0; i < scene.count; ++i )
        {
            scene.positions[3 * (size_t)i + (size_t)k] =
                (float)( ( (double)( &boxes[i].lower.x )[k] + (double)( &boxes[i].upper.x )[k] ) / 2 );
        }
    }
    bool good = def->verify ? verify_scene( &scene, why ) : run_trials( &scene, NULL, why );
    free( scene.positions );
    free( boxes );
    return good;
}

// Names the first flag given that --near does not heed.
static bool check_flags( const args_table* table, lab_error* why )
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

static bool check_isas( const text_list* isas, lab_error* why )
{
    bool good = true;
    for ( uint32_t i = 0; good && i < isas->count; ++i )
    {
        clv_isa isa;
        const char* name = isas->items[i];
        good = run_isa_check( name, true, why ) &&
            ( !clv_isa_from_name( name, &isa ) || clv_isa_is_supported( isa ) ||
                lab_error_write( why, "--isa %s: this machine does not have it", name ) );
    }
    return good;
}

bool near_bench_run( const ask_def* def, lab_error* why )
{
    scene_list scenes = { 0 };
    bool agree = true,
         good = check_flags( def->table, why ) && check_isas( &def->part->wish.isas, why ) &&
        scene_list_make( &scenes, &def->part->scenes, &def->part->sizes, why );
    for ( uint32_t i = 0; good && i < scenes.count; ++i )
    {
        bool is_fine = run_scene( def, &scenes.items[i], why );
        good = is_fine || why->status == LAB_DISAGREES;
        agree = agree && is_fine;
    }
    scene_list_free( &scenes );
    return good && ( agree || lab_error_disagrees( why ) );
}
