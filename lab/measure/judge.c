// SPDX-License-Identifier: MIT
#include "lab/measure/judge.h"

#include "cleave/space.h"
#include "lab/base/platform.h"
#include "lab/measure/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The judge is the plainest code there is, as long as it is fast enough.
#define SCALAR_JUDGE_MOST 16000

// ---- who

bool judge_is_brute( const run_spec* judge )
{
    return strcmp( judge->row->name, "brute" ) == 0;
}

static bool make_brute( uint32_t object_count, run_spec_list* judge, lab_error* why )
{
    clv_isa isa = object_count <= SCALAR_JUDGE_MOST ? CLV_ISA_SCALAR : clv_isa_best();
    judge->items = calloc( 1, sizeof( run_spec ) );
    if ( judge->items == NULL )
    {
        return lab_error_write( why, "verify: out of memory" );
    }
    judge->count = 1;
    judge->items[0] = ( run_spec ){ .row = clv_method_find( "brute" ), .isa = isa, .thread_count = 1 };
    return true;
}

bool judge_make( const char* wish, uint32_t object_count, run_spec_list* judge, lab_error* why )
{
    *judge = ( run_spec_list ){ 0 };
    if ( wish == NULL || strcmp( wish, "brute" ) == 0 )
    {
        return make_brute( object_count, judge, why );
    }
    char* name = text_format( "%s", wish );
    uint64_t cores = platform_core_count();
    run_wish chosen = { .names = { &name, 1 }, .threads = { &cores, 1 }, .must_run = true };
    lab_error reason;
    bool good = run_spec_list_make( judge, &chosen, false, &reason );
    free( name );
    if ( !good )
    {
        const char* text = strncmp( reason.text, "-m: ", 4 ) == 0 ? reason.text + 4 : reason.text;
        return lab_error_write( why, "--judge: %s", text );
    }
    return judge->count == 1 ||
        lab_error_write( why, "--judge: '%s' means %" PRIu32 " methods; it takes one", wish, judge->count );
}

// ---- whether it may

typedef struct near_box
{
    float distance;
    uint32_t index;
} near_box;

static int compare_near( const void* a, const void* b )
{
    const near_box* x = a;
    const near_box* y = b;
    return x->distance != y->distance ? ( x->distance > y->distance ) - ( x->distance < y->distance )
                                      : ( x->index > y->index ) - ( x->index < y->index );
}

// Of the lower corners, along the axis where they differ most; what is not a number lies furthest.
static float distance_of( clv_vec3 a, clv_vec3 b )
{
    float x = fabsf( a.x - b.x );
    float y = fabsf( a.y - b.y );
    float z = fabsf( a.z - b.z );
    float most = x > y ? x : y;
    most = most > z ? most : z;
    return most >= 0 ? most : INFINITY;
}

// The boxes nearest to one of them: as dense as the scene is there, in place of a few of every place that meet nobody.
static clv_aabb* take_near( const clv_aabb* boxes, uint32_t count, uint32_t centre, uint32_t* taken )
{
    near_box* order = malloc( count * sizeof( near_box ) );
    *taken = count < JUDGE_SAMPLE ? count : JUDGE_SAMPLE;
    clv_aabb* crowd = malloc( ( *taken + 1 ) * sizeof( clv_aabb ) );
    if ( order == NULL || crowd == NULL )
    {
        free( order );
        free( crowd );
        return NULL;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        order[i] = ( near_box ){ distance_of( boxes[i].lower, boxes[centre].lower ), i };
    }
    qsort( order, count, sizeof( near_box ), compare_near );
    for ( uint32_t i = 0; i < *taken; ++i )
    {
        crowd[i] = boxes[order[i].index];
    }
    free( order );
    return crowd;
}

static clv_result find_pairs(
    const run_spec* spec, const clv_aabb* boxes, uint32_t count, verdict_list* list )
{
    clv_space* space = NULL;
    clv_id* ids = malloc( ( count + 1 ) * sizeof( clv_id ) );
    clv_space_def def = clv_default_space_def();
    run_spec_apply( spec, &def );
    def.capacity = count;
    clv_result result = ids != NULL ? clv_space_create( &def, &space ) : CLV_OUT_OF_MEMORY;
    result = result == CLV_OK ? clv_space_add( space, boxes, count, ids ) : result;
    result = result == CLV_OK ? clv_space_update( space ) : result;
    if ( result == CLV_OK )
    {
        clv_pair_view view = clv_space_pairs( space );
        result = verdict_list_set( list, view.pairs, view.count ) ? CLV_OK : CLV_OUT_OF_MEMORY;
        verdict_list_sort( list );
    }
    clv_space_destroy( space );
    free( ids );
    return result;
}

static bool compare(
    const run_spec* judge, const clv_aabb* boxes, uint32_t count, uint32_t frame, lab_error* why )
{
    run_spec brute = { .row = clv_method_find( "brute" ), .isa = CLV_ISA_SCALAR, .thread_count = 1 };
    verdict_list expected = { 0 };
    verdict_list found = { 0 };
    clv_result result = find_pairs( &brute, boxes, count, &expected );
    result = result == CLV_OK ? find_pairs( judge, boxes, count, &found ) : result;
    bool good = result == CLV_OK ||
        lab_error_write( why, "verify: frame %" PRIu32 ": the judge %s failed: %s", frame, judge->row->name,
            clv_result_text( result ) );
    verdict_difference difference = { 0 };
    if ( good )
    {
        difference = verdict_compare( &expected, &found, count );
    }
    if ( good && difference.fault != VERDICT_FINE )
    {
        good = lab_error_write( why,
            "verify: %s may not judge: frame %" PRIu32 ": on %" PRIu32
            " boxes it has not brute force's pairs (%" PRIu64 " missing, %" PRIu64 " extra, %" PRIu64
            " duplicated)",
            judge->row->name, frame, count, difference.missing_count, difference.extra_count,
            difference.duplicate_count );
        why->status = LAB_DISAGREES;
    }
    verdict_list_free( &expected );
    verdict_list_free( &found );
    return good;
}

bool judge_stands(
    const run_spec* judge, const clv_aabb* boxes, uint32_t count, uint32_t frame, lab_error* why )
{
    if ( judge_is_brute( judge ) || count == 0 )
    {
        return true;
    }
    uint32_t near_count = 0;
    clv_aabb* crowd = take_near( boxes, count, frame % count, &near_count );
    if ( crowd == NULL )
    {
        return lab_error_write( why, "verify: out of memory for %" PRIu32 " boxes", count );
    }
    bool good = compare( judge, crowd, near_count, frame, why );
    free( crowd );
    return good;
}
