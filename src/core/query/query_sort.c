// SPDX-License-Identifier: MIT
// Objects in the order of the curve, large ones apart as in M. Vinkler et al., "Extended Morton codes for high performance bounding volume
// hierarchy construction" (2017).
#include "query/query_build.h"

#include "base/assertion.h"

#include "base/bits.h"
#include "simd/have.h"

#include <float.h>
#include <string.h>

#ifdef CLV_HAVE_SSE2
#include <emmintrin.h>
#endif

enum
{
    CLASS_COUNT = 16, // of sizes, above the bits of the place
    SIZE_SAMPLES = 255,
    GATHER_ITEMS = 8192,
};

// A typical side: the median of a sample, by insertion.
static float find_typical( const query_build* b )
{
    float sides[SIZE_SAMPLES] = { 0 };
    uint32_t wanted = b->count < SIZE_SAMPLES ? b->count : SIZE_SAMPLES, have = 0;
    for ( uint32_t i = 0; i < wanted; ++i )
    {
        uint32_t slot = b->keys[base_sample( i, wanted, b->count )].value;
        float side = query_longest_side( &b->from->boxes[slot] );
        uint32_t at = have++;
        for ( ; at > 0 && sides[at - 1] > side; --at )
        {
            sides[at] = sides[at - 1];
        }
        sides[at] = side;
    }
    CLV_ASSERT( have > 0 && have <= SIZE_SAMPLES );
    return sides[have / 2];
}

// Objects much larger than most have a subtree of their own: among small ones each would make a node as large as itself.
static uint32_t size_class( float side, float typical )
{
    uint32_t class = 0;
    if ( side - side != 0 ) // without end
    {
        return CLASS_COUNT - 1;
    }
    for ( float most = typical * 4; side > most && class < CLASS_COUNT - 2; most *= 8 )
    {
        class += 1;
    }
    return class;
}

uint32_t clv_query_list_objects( query_build* b )
{
    uint32_t count = 0;
    for ( uint32_t slot = 0; slot < b->from->slot_count; ++slot )
    {
        b->keys[count] = ( base_keyed ){ 0, slot };
        count += b->from->generations[slot] & 1;
    }
    CLV_ASSERT( count == b->from->live_count );
    return count;
}

static void find_centers( const query_build* b, float low[3], float high[3] )
{
    CLV_ASSERT( b->count > 0 ); // or low is above high
    float least[4] = { FLT_MAX, FLT_MAX, FLT_MAX, 0 }, most[4] = { -FLT_MAX, -FLT_MAX, -FLT_MAX, 0 };
#ifdef CLV_HAVE_SSE2
    __m128 lowest = _mm_loadu_ps( least ), highest = _mm_loadu_ps( most );
#endif
    for ( uint32_t i = 0; i < b->count; ++i )
    {
        float center[4];
        query_box_middle( &b->from->boxes[b->keys[i].value], center );
#ifdef CLV_HAVE_SSE2
        lowest = _mm_min_ps( _mm_loadu_ps( center ), lowest );
        highest = _mm_max_ps( _mm_loadu_ps( center ), highest );
#else
        for ( int axis = 0; axis < 3; ++axis )
        {
            least[axis] = center[axis] < least[axis] ? center[axis] : least[axis];
            most[axis] = center[axis] > most[axis] ? center[axis] : most[axis];
        }
#endif
    }
#ifdef CLV_HAVE_SSE2
    _mm_storeu_ps( least, lowest );
    _mm_storeu_ps( most, highest );
#endif
    memcpy( low, least, sizeof( float ) * 3 );
    memcpy( high, most, sizeof( float ) * 3 );
}

static uint32_t bits_for( uint32_t count )
{
    uint32_t bits = base_bit_width( count ) + 6;
    return bits < QUERY_KEY_BITS ? bits : QUERY_KEY_BITS;
}

static void set_keys( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    query_build* b = context;
    uint32_t first = piece * GATHER_ITEMS;
    uint32_t end = b->count - first < GATHER_ITEMS ? b->count : first + GATHER_ITEMS;
    uint32_t class_shift = bits_for( b->count );
    CLV_ASSERT( first < end && end <= b->count );
    for ( uint32_t i = first; i < end; ++i )
    {
        const clv_aabb* box = &b->from->boxes[b->keys[i].value];
        float center[4];
        query_box_middle( box, center );
        b->keys[i].key = size_class( query_longest_side( box ), b->typical ) << class_shift |
            query_curve_key( b->tables, center );
        CLV_ASSERT( b->keys[i].key >> class_shift < CLASS_COUNT );
    }
}

static void gather_items( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const query_build* b = context;
    uint32_t first = piece * GATHER_ITEMS;
    uint32_t end = b->count - first < GATHER_ITEMS ? b->count : first + GATHER_ITEMS;
    for ( uint32_t i = first; i < end; ++i )
    {
        query_item* item = &b->tree->items[i];
        CLV_ASSERT( b->keys[i].value < b->from->slot_count );
        const clv_aabb* box = &b->from->boxes[b->keys[i].value];
        memcpy( item->lower, &box->lower, sizeof( item->lower ) );
        memcpy( item->upper, &box->upper, sizeof( item->upper ) );
        item->slot = b->keys[i].value;
        item->key = b->keys[i].key;
    }
}

void clv_query_sort_again( query_build* b, uint32_t first, uint32_t end )
{
    query_item* items = b->tree->items;
    CLV_ASSERT( first < end && end <= b->count );
    float low[3] = { FLT_MAX, FLT_MAX, FLT_MAX }, high[3] = { -FLT_MAX, -FLT_MAX, -FLT_MAX };
    for ( uint32_t i = first; i < end; ++i )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            float center = query_middle( items[i].lower[axis], items[i].upper[axis] );
            low[axis] = center < low[axis] ? center : low[axis];
            high[axis] = center > high[axis] ? center : high[axis];
        }
    }
    uint32_t count = end - first;
    clv_query_curve_plan( b->tables, low, high, bits_for( count ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const query_item* item = &items[first + i];
        float center[4] = { 0, 0, 0, 0 };
        for ( int axis = 0; axis < 3; ++axis )
        {
            center[axis] = query_middle( item->lower[axis], item->upper[axis] );
        }
        b->keys[i] = ( base_keyed ){ query_curve_key( b->tables, center ), item->slot };
    }
    const base_keyed* sorted = clv_base_sort_keyed( b->keys, b->more_keys, count );
    CLV_ASSERT( sorted[0].key <= sorted[count - 1].key );
    for ( uint32_t i = 0; i < count; ++i )
    {
        query_item* item = &items[first + i];
        const clv_aabb* box = &b->from->boxes[sorted[i].value];
        memcpy( item->lower, &box->lower, sizeof( item->lower ) );
        memcpy( item->upper, &box->upper, sizeof( item->upper ) );
        item->slot = sorted[i].value;
        item->key = sorted[i].key;
    }
}

void clv_query_sort_items( query_build* b, task_runner* tasks )
{
    float low[3], high[3];
    find_centers( b, low, high );
    b->typical = find_typical( b );
    clv_query_curve_plan( b->tables, low, high, bits_for( b->count ) );
    uint32_t pieces = ( b->count + GATHER_ITEMS - 1 ) / GATHER_ITEMS;
    clv_task_run( tasks, set_keys, pieces, b );
    base_keyed* sorted = clv_base_sort_keyed( b->keys, b->more_keys, b->count );
    b->more_keys = sorted == b->keys ? b->more_keys : b->keys;
    b->keys = sorted;
    CLV_ASSERT( b->keys != b->more_keys && b->keys[0].key <= b->keys[b->count - 1].key );
    clv_task_run( tasks, gather_items, pieces, b );
}
