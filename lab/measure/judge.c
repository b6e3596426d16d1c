// SPDX-License-Identifier: MIT
#include "lab/measure/judge.h"

#include "cleave/space.h"
#include "lab/base/platform.h"
#include "lab/base/random.h"
#include "lab/measure/timed_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The judge is the plainest code there is, as long as it is fast enough.
#define SCALAR_JUDGE_MOST 16000

// ---- which method

bool judge_is_brute( const run_spec* judge )
{
    return strcmp( judge->row->name, "brute" ) == 0;
}

bool judge_make( const char* wish, uint32_t object_count, run_spec_list* judge, lab_error* why )
{
    *judge = ( run_spec_list ){ 0 };
    if ( wish == NULL || strcmp( wish, "brute" ) == 0 )
    {
        clv_isa isa = object_count <= SCALAR_JUDGE_MOST ? CLV_ISA_SCALAR : clv_isa_best();
        *lab_list_next( judge->items, judge->count ) =
            ( run_spec ){ .row = clv_method_find( "brute" ), .isa = isa, .thread_count = 1 };
        return true;
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

// The boxes nearest to one of them: as dense as the scene is there, in place of a few from
// everywhere that touch nothing.
static clv_aabb* take_near( const clv_aabb* boxes, uint32_t count, uint32_t centre, uint32_t* taken )
{
    near_box* order = lab_take( count, sizeof( near_box ) );
    *taken = count < JUDGE_SAMPLE ? count : JUDGE_SAMPLE;
    clv_aabb* crowd = lab_take( *taken, sizeof( clv_aabb ) );
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
    clv_space_def def = clv_default_space_def();
    run_spec_apply( spec, &def );
    def.capacity = count;
    clv_result result = clv_space_create( &def, &space );
    result = result == CLV_OK ? run_feed( space, NULL, boxes, count, true ) : result;
    if ( result == CLV_OK )
    {
        clv_pair_view view = clv_space_pairs( space );
        verdict_list_set( list, view.pairs, view.count );
        verdict_list_sort( list );
    }
    clv_space_destroy( space );
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
    bool good = compare( judge, crowd, near_count, frame, why );
    free( crowd );
    return good;
}

// ---- verdict

static uint64_t pair_key( clv_pair pair )
{
    return (uint64_t)pair.a << 32 | pair.b;
}

// Room for `count` pairs; what was there need not survive.
static void make_room( verdict_list* list, uint64_t count )
{
    if ( count > list->capacity )
    {
        free( list->items );
        *list = ( verdict_list ){ .capacity = count + count / 2 };
        list->items = lab_take( list->capacity, sizeof( clv_pair ) );
    }
    list->count = count;
}

void verdict_list_set( verdict_list* list, const clv_pair* pairs, uint64_t count )
{
    make_room( list, count );
    if ( count > 0 )
    {
        memcpy( list->items, pairs, (size_t)count * sizeof( clv_pair ) );
    }
}

void verdict_list_set_ids( verdict_list* list, const clv_id_pair* pairs, uint64_t count )
{
    make_room( list, count );
    for ( uint64_t index = 0; index < count; ++index )
    {
        list->items[index] = ( clv_pair ){ pairs[index].a.index, pairs[index].b.index };
    }
}

void verdict_list_add( verdict_list* list, clv_pair pair )
{
    if ( list->count == list->capacity )
    {
        list->capacity = 2 * list->capacity + 1024;
        list->items = lab_grow( list->items, list->capacity, sizeof( clv_pair ) );
    }
    list->items[list->count++] = pair;
}

void verdict_list_free( verdict_list* list )
{
    free( list->items );
    *list = ( verdict_list ){ 0 };
}

static int compare_pairs( const void* left, const void* right )
{
    uint64_t a = pair_key( *(const clv_pair*)left );
    uint64_t b = pair_key( *(const clv_pair*)right );
    return ( a > b ) - ( a < b );
}

void verdict_list_sort( verdict_list* list )
{
    if ( list->count > 1 )
    {
        qsort( list->items, (size_t)list->count, sizeof( clv_pair ), compare_pairs );
    }
}

void verdict_list_subtract( verdict_list* result, const verdict_list* list, const verdict_list* other )
{
    make_room( result, list->count );
    result->count = 0;
    uint64_t at = 0;
    for ( uint64_t index = 0; index < list->count; ++index )
    {
        uint64_t key = pair_key( list->items[index] );
        while ( at < other->count && pair_key( other->items[at] ) < key )
        {
            at += 1;
        }
        if ( at == other->count || pair_key( other->items[at] ) != key )
        {
            result->items[result->count++] = list->items[index];
        }
    }
}

const char* verdict_fault_text( verdict_fault fault )
{
    switch ( fault )
    {
    case VERDICT_FINE: return "is right";
    case VERDICT_MISSING: return "is missing";
    case VERDICT_EXTRA: return "is extra";
    case VERDICT_DUPLICATED: return "is reported more than once";
    case VERDICT_MISORDERED: return "is not written as a < b";
    case VERDICT_NOWHERE: return "names an index that no object has";
    }
    return "";
}

void verdict_print_box( uint32_t index, clv_aabb box )
{
    printf( "  box %" PRIu32 ": %.9g %.9g %.9g to %.9g %.9g %.9g\n", index, (double)box.lower.x,
        (double)box.lower.y, (double)box.lower.z, (double)box.upper.x, (double)box.upper.y,
        (double)box.upper.z );
}

static void note( verdict_difference* difference, verdict_fault fault, clv_pair pair )
{
    difference->missing_count += fault == VERDICT_MISSING ? 1 : 0;
    difference->duplicate_count += fault == VERDICT_DUPLICATED ? 1 : 0;
    difference->extra_count += fault != VERDICT_MISSING && fault != VERDICT_DUPLICATED ? 1 : 0;
    if ( difference->fault == VERDICT_FINE )
    {
        difference->fault = fault;
        difference->pair = pair;
    }
}

static verdict_fault fault_of_unexpected( const verdict_list* found, uint64_t at, uint32_t object_count )
{
    clv_pair pair = found->items[at];
    if ( pair.a >= object_count || pair.b >= object_count )
    {
        return VERDICT_NOWHERE;
    }
    if ( pair.a >= pair.b )
    {
        return VERDICT_MISORDERED;
    }
    return at > 0 && pair_key( found->items[at - 1] ) == pair_key( pair ) ? VERDICT_DUPLICATED
                                                                          : VERDICT_EXTRA;
}

verdict_difference verdict_compare(
    const verdict_list* expected, const verdict_list* found, uint32_t object_count )
{
    verdict_difference difference = { 0 };
    uint64_t i = 0;
    uint64_t j = 0;
    while ( i < expected->count || j < found->count )
    {
        uint64_t wanted = i < expected->count ? pair_key( expected->items[i] ) : UINT64_MAX;
        uint64_t given = j < found->count ? pair_key( found->items[j] ) : UINT64_MAX;
        if ( i < expected->count && j < found->count && wanted == given )
        {
            i += 1;
            j += 1;
        }
        else if ( j == found->count || ( i < expected->count && wanted < given ) )
        {
            note( &difference, VERDICT_MISSING, expected->items[i++] );
        }
        else
        {
            note( &difference, fault_of_unexpected( found, j, object_count ), found->items[j] );
            j += 1;
        }
    }
    return difference;
}

// ---- frame hash

uint64_t frame_hash_pairs( const clv_pair* pairs, uint64_t count, uint64_t frame )
{
    uint64_t sum = 0;
    for ( uint64_t index = 0; index < count; ++index )
    {
        sum += random_mix( pair_key( pairs[index] ) );
    }
    return sum * ( 2 * frame + 1 );
}

uint64_t frame_hash_order( const clv_pair* pairs, uint64_t count )
{
    uint64_t hash = count;
    for ( uint64_t index = 0; index < count; ++index )
    {
        hash = random_mix( hash ^ pair_key( pairs[index] ) );
    }
    return hash;
}
