// SPDX-License-Identifier: MIT
// A build of the tree on its way: objects are listed, put in order along the curve and cut where it costs
// least (query_sort.c), made into nodes, and hulls go upwards (query_tree.c).
//
// The curve goes through the middles of boxes, as in C. Lauterbach et al., "Fast BVH construction on GPUs"
// (2009), with keys that halve the longest side first, as in M. Vinkler et al., "Extended Morton codes for
// high performance bounding volume hierarchy construction" (2017). In four lanes where there are some, whose
// last is never looked at; the same bits.
#pragma once

#include "base/assertion.h"
#include "base/radix_sort.h"
#include "query/query_tree.h"
#include "simd/kernels.h"

#include <float.h>

#ifdef CLV_HAVE_SSE2
#include <emmintrin.h>
#endif

// ---- the curve

enum
{
    QUERY_KEY_BITS = 27,  ///< of a place on the curve, at most
    QUERY_AXIS_BITS = 12, ///< of one axis, at most
};

/// Bits of an axis' number, spread to where they belong in the key.
typedef struct query_curve
{
    float low[4], scale[4];
    float most[4]; ///< cell
    uint32_t bits[3];
    uint32_t spread[3][QUERY_AXIS_BITS];
} query_curve;

/// By table: a loop over bits would cost more than all the rest.
typedef struct query_curve_tables
{
    query_curve c;
    uint32_t spread[3][1 << QUERY_AXIS_BITS];
} query_curve_tables;

/// From the lowest to the highest middle, with that many bits.
void clv_query_curve_plan(
    query_curve_tables* t, const float low[3], const float high[3], uint32_t bit_count );

/// The middle of a side, or the end that it has.
static inline float query_middle( float lower, float upper )
{
    float sum = lower * 0.5f + upper * 0.5f;
    if ( sum - sum == 0 )
    {
        return sum;
    }
    float end = lower - lower == 0 ? lower : upper;
    return end - end == 0 ? end : 0.0f;
}

static inline void query_box_middle( const clv_aabb* box, float center[4] )
{
#ifdef CLV_HAVE_SSE2
    const __m128 half = _mm_set1_ps( 0.5f );
    __m128 lower = _mm_loadu_ps( &box->lower.x ), upper = _mm_loadu_ps( &box->lower.z );
    upper = _mm_shuffle_ps( upper, upper, _MM_SHUFFLE( 3, 3, 2, 1 ) );
    __m128 sum = _mm_add_ps( _mm_mul_ps( lower, half ), _mm_mul_ps( upper, half ) );
    _mm_storeu_ps( center, sum );
    __m128 is_finite = _mm_cmpeq_ps( _mm_sub_ps( sum, sum ), _mm_setzero_ps() );
    if ( ( _mm_movemask_ps( is_finite ) & 7 ) == 7 )
    {
        return;
    }
#endif
    for ( int axis = 0; axis < 3; ++axis )
    {
        center[axis] = query_middle( ( &box->lower.x )[axis], ( &box->upper.x )[axis] );
    }
}

static inline float query_longest_side( const clv_aabb* box )
{
    float x = box->upper.x - box->lower.x, y = box->upper.y - box->lower.y, z = box->upper.z - box->lower.z;
    float side = x > y ? x : y;
    return side > z ? side : z;
}

static inline uint32_t query_curve_key( const query_curve_tables* t, const float center[4] )
{
    int32_t cells[4];
#ifdef CLV_HAVE_SSE2
    __m128 at = _mm_sub_ps( _mm_loadu_ps( center ), _mm_loadu_ps( t->c.low ) );
    at = _mm_max_ps( _mm_mul_ps( at, _mm_loadu_ps( t->c.scale ) ), _mm_setzero_ps() );
    _mm_storeu_si128( (__m128i*)cells, _mm_cvttps_epi32( _mm_min_ps( at, _mm_loadu_ps( t->c.most ) ) ) );
#else
    for ( int axis = 0; axis < 3; ++axis )
    {
        float at = ( center[axis] - t->c.low[axis] ) * t->c.scale[axis];
        at = at > 0 ? at : 0;
        at = at < t->c.most[axis] ? at : t->c.most[axis];
        cells[axis] = (int32_t)at;
    }
#endif
    CLV_ASSERT( (uint32_t)cells[0] < 1u << t->c.bits[0] );
    CLV_ASSERT( (uint32_t)cells[1] < 1u << t->c.bits[1] );
    CLV_ASSERT( (uint32_t)cells[2] < 1u << t->c.bits[2] );
    return t->spread[0][cells[0]] | t->spread[1][cells[1]] | t->spread[2][cells[2]];
}

// ---- a build

typedef struct query_build
{
    query_tree* tree;
    const query_boxes* from;
    const simd_queries* kernels;
    base_memory* memory;
    base_keyed* keys;
    base_keyed* more_keys;
    uint32_t count;
    float typical; ///< side
    query_curve_tables* tables;
    query_node empty;
} query_build;

/// All objects, by slot, into the keys; how many they are.
uint32_t clv_query_list_objects( query_build* b );

/// The tree's items, in order along the curve, by all workers.
void clv_query_sort_items( query_build* b, task_runner* tasks );

/// Items that one key could not tell apart: keys of their own, by their own extent. All in one place: they
/// stay as they are, by slot.
void clv_query_sort_again( query_build* b, uint32_t first, uint32_t end );

/// An empty lane, which no walk meets.
static inline void query_clear_lane( query_node* node, uint32_t lane )
{
    const float infinite = (float)( FLT_MAX * 2.0 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        node->lower[axis][lane] = infinite;
        node->upper[axis][lane] = -infinite;
    }
    node->child[lane] = QUERY_EMPTY;
    node->least[lane] = QUERY_EMPTY;
}

static inline void query_set_lane( query_node* node, uint32_t lane, const float* lower, const float* upper )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        node->lower[axis][lane] = lower[axis];
        node->upper[axis][lane] = upper[axis];
    }
}

// ---- nodes of doubles

typedef struct query_far_tree
{
    query_node* nodes;
    const query_tree* tree;
    const clv_aabb64* boxes;
    const query_boxes* from;
    const simd_queries* kernels;
} query_far_tree;

/// A node's lanes, after those of the nodes below it.
void clv_query_bring_far( const query_far_tree* f, uint32_t index );

// ---- where items in order are cut in two

enum
{
    QUERY_SWEPT = 64, ///< items up to which every cut is tried
};

/// The cut of at most QUERY_SWEPT items that costs least. Few are put in another order before: their keys are
/// of no more use.
uint32_t clv_query_cut_sweep( query_item* items, uint32_t first, uint32_t end );

/// Where the highest bit that differs changes; the first and the last key differ.
uint32_t clv_query_cut_bit( const query_item* items, uint32_t first, uint32_t end );
