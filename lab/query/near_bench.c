// SPDX-License-Identifier: MIT
#include "lab/query/near_bench.h"

#include "base/timer.h"
#include "cleave/near.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

static uint64_t hash_list( const clv_near_view* list )
{
    uint64_t hash = 0;
    for ( uint64_t i = 0; i < list->count; ++i )
    {
        hash += mix( (uint64_t)list->pairs[i].a << 32 | list->pairs[i].b );
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

// Every pair and the images next to it: enough where no edge is below twice the cutoff.
static uint64_t judge_hash( const near_scene* scene, uint64_t* count )
{
    float limit = (float)scene->def->cutoff * (float)scene->def->cutoff, edges[3] = { 0, 0, 0 };
    float* at = malloc( scene->count * 3 * sizeof( float ) + 1 );
    uint64_t hash = 0;
    *count = 0;
    for ( int k = 0; k < 3 && scene->def->is_periodic; ++k )
    {
        edges[k] = (float)scene->cell.edges[k][k];
    }
    for ( uint64_t i = 0; at != NULL && i < 3 * (uint64_t)scene->count; ++i )
    {
        at[i] = wrapped(
            (double)scene->positions[i], scene->def->is_periodic ? scene->cell.edges[i % 3][i % 3] : 0 );
    }
    int reach = scene->def->is_periodic ? 1 : 0;
    for ( uint32_t a = 0; at != NULL && a < scene->count; ++a )
    {
        for ( uint32_t b = a + 1; b < scene->count; ++b )
        {
            for ( int shift = 0; shift < ( reach ? 27 : 1 ); ++shift )
            {
                int s[3] = { ( shift + 13 ) % 27 / 9 - reach, ( shift + 13 ) % 9 / 3 - reach,
                    ( shift + 13 ) % 3 - reach };
                s[0] = reach ? s[0] : 0, s[1] = reach ? s[1] : 0, s[2] = reach ? s[2] : 0;
                bool is_down = s[0] != 0 ? s[0] < 0 : s[1] != 0 ? s[1] < 0 : s[2] < 0;
                const float *p = at + 3 * (size_t)( is_down ? b : a ),
                            *q = at + 3 * (size_t)( is_down ? a : b );
                float d[3];
                for ( int k = 0; k < 3; ++k )
                {
                    int way = is_down ? -s[k] : s[k];
                    float image = way == 0 ? q[k] : q[k] + (float)way * edges[k];
                    d[k] = image - p[k];
                }
                bool is_near = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= limit;
                hash += is_near ? mix( (uint64_t)a << 32 | b ) : 0;
                *count += is_near;
            }
        }
    }
    free( at );
    return hash;
}

static bool list_scene(
    const near_scene* scene, clv_isa isa, uint64_t* hash, uint64_t* count, double* best_ns, lab_error* why )
{
    clv_near_def def = clv_default_near_def();
    def.cutoff = scene->def->cutoff;
    def.isa = isa;
    clv_near* near = NULL;
    if ( clv_near_create( &def, &near ) != CLV_OK )
    {
        lab_error_write(
            why, "--near %g: a cutoff is finite, at least 0, and its square is a float", def.cutoff );
        return false;
    }
    clv_near_points points = points_of( scene );
    clv_result result = CLV_OK;
    *best_ns = 0;
    for ( uint64_t pass = 0; pass < scene->def->pass_count + 1 && result == CLV_OK;
          ++pass ) // the first warms up
    {
        uint64_t before = clv_base_clock_ns();
        result = clv_near_update( near, &points, NULL );
        double ns = (double)( clv_base_clock_ns() - before );
        *best_ns = pass <= 1 || ns < *best_ns ? ns : *best_ns;
    }
    if ( result != CLV_OK )
    {
        lab_error_write( why, "%s: %s", scene->label, clv_near_error( near ).text );
    }
    clv_near_view list = clv_near_list( near );
    *hash = hash_list( &list );
    *count = list.count;
    clv_near_destroy( near );
    return result == CLV_OK;
}

static lab_status time_scene( const near_scene* scene, lab_error* why )
{
    uint64_t hash, count;
    double ns;
    if ( !list_scene( scene, CLV_ISA_AUTO, &hash, &count, &ns, why ) )
    {
        return lab_error_print( why );
    }
    double points = scene->count > 0 ? (double)scene->count : 1;
    printf( "%-32s %10u points %12" PRIu64 " pairs %8.2f ms %8.1f ns per point  0x%016" PRIx64 "\n",
        scene->label, scene->count, count, ns / 1e6, ns / points, hash );
    return LAB_DONE;
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
    uint64_t expected_count, expected = judge_hash( scene, &expected_count );
    lab_status status = LAB_DONE;
    for ( int isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
    {
        uint64_t hash, count;
        double ns;
        if ( !clv_isa_is_supported( (clv_isa)isa ) )
        {
            continue;
        }
        if ( !list_scene( scene, (clv_isa)isa, &hash, &count, &ns, why ) )
        {
            return lab_error_print( why );
        }
        bool is_same = hash == expected && count == expected_count;
        printf( "%-32s %-8s %12" PRIu64 " pairs, brute force %12" PRIu64 ": %s\n", scene->label,
            clv_isa_name( (clv_isa)isa ), count, expected_count, is_same ? "the same" : "they differ" );
        status = is_same ? status : LAB_DISAGREES;
    }
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
                                         : time_scene( &scene, &why );
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

lab_status near_bench_run( const near_bench_def* def )
{
    lab_error why;
    scene_list scenes = { 0 };
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
