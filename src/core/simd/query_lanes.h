// SPDX-License-Identifier: MIT
// What queries walk over: nodes of eight boxes, by axis, so that one instruction looks at a face of each. The
// walks are the kernels; one set per instruction set, as in kernels.h. Three of them go from node to node,
// nearest first, until they come upon objects, and hand these over: who they are, whether they count and what
// that does to the reach is plain C, query/. Two do the whole of what is asked most, where every object
// counts: the first hit, and the few nearest. These take lists and go through several at a time in turn, for
// what one of them waits for, a node or a sum, is time for the others.
//
// All of it is float arithmetic that is monotonic in the box: a box inside another never comes out nearer,
// and never passes where the other fails. So what holds for an object holds for every node above it, and
// nothing can be lost on the way down.
#pragma once

#include "base/exact.h"
#include "cleave/geom.h"
#include "cleave/world.h"
#include "simd/have.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum
{
    QUERY_LANES = 8,
    QUERY_DEPTH = 44, // nodes from the root down, at most: query/query_tree.c sees to it
    QUERY_STACK = QUERY_DEPTH * ( QUERY_LANES - 1 ) + 2, // so many wait at once, at most
    QUERY_FOUND = 256,       // objects that an overlap walk hands over at once, at most
    QUERY_NEAREST_MOST = 32, // neighbours of one query, where the kernel finds them
};

/// Keys that are loaded at once are better not in two cache lines.
#define EIGHT_KEYS _Alignas( 64 )

#define QUERY_OBJECT 0x80000000u ///< bit of a child that is an object: the rest is its slot
#define QUERY_EMPTY                                                                                          \
    UINT32_MAX ///< child of an empty lane, whose box is inside out; reads as an object without a slot

/// Four cache lines.
typedef struct query_node
{
    float lower[3][QUERY_LANES];
    float upper[3][QUERY_LANES];
    uint32_t child[QUERY_LANES]; ///< a node, or an object
    uint32_t least
        [QUERY_LANES]; ///< lowest slot below it: of equals the lower slot comes first, so others need no look
} query_node;

static_assert( sizeof( query_node ) == 256, "four cache lines" );

/// As query_node; seven cache lines.
typedef struct query_node64
{
    double lower[3][QUERY_LANES];
    double upper[3][QUERY_LANES];
    uint32_t child[QUERY_LANES];
    uint32_t least[QUERY_LANES];
} query_node64;

/// What is nearer comes first, of equals what has the lowest slot: one number to compare, without a branch.
/// Times and squared distances are not negative, so their bits are in order as they are.
static inline uint64_t query_key( float near, uint32_t least )
{
    uint32_t bits;
    memcpy( &bits, &near, sizeof( bits ) );
    return (uint64_t)bits << 32 | least;
}

static inline float query_key_near( uint64_t key )
{
    uint32_t bits = (uint32_t)( key >> 32 );
    float near;
    memcpy( &near, &bits, sizeof( near ) );
    return near;
}

/// Nodes that wait, the next one last. Eight are written at once, so there is room for as many behind the
/// last.
typedef struct query_stack
{
    float near[QUERY_STACK + 2 * QUERY_LANES];
    uint32_t node[QUERY_STACK + 2 * QUERY_LANES];
} query_stack;

/// A motion: what is subtracted from the near and the far face of an axis, which faces these are (as places
/// in a node), and one over the motion; infinity where nothing moves.
typedef struct query_cast
{
    float near_origin[3], far_origin[3];
    float near_inverse[3],
        far_inverse[3]; ///< the latter a little more for shapes that have a test of their own
    uint32_t near_face[3], far_face[3];
    /// simd_queries.closest: in, the reach and UINT32_MAX; out, time and slot of the hit, if there is one
    uint64_t best;
} query_cast;

/// The few nearest to a box.
typedef struct query_nearest
{
    EIGHT_KEYS uint64_t
        keys[QUERY_NEAREST_MOST]; ///< distance and slot, ascending; at first all QUERY_NONE_NEAR
    clv_aabb box;
    uint32_t count;       ///< of keys that are wanted, 1 .. QUERY_NEAREST_MOST
    double square;        ///< nothing farther counts
    float reach;          ///< no squared distance above, as the lanes have it
    float band;           ///< squared distances from here on are too close to call
    float reach_time;     ///< the distance between them
    uint32_t reach_least; ///< of those that are just there, only slots up to this count
} query_nearest;

#define QUERY_NONE_NEAR 0x7F800000FFFFFFFFu ///< infinitely far, no slot

static inline uint32_t query_least_slot( const uint32_t slots[QUERY_LANES] )
{
    uint32_t least = slots[0];
    for ( uint32_t i = 1; i < QUERY_LANES; ++i )
    {
        least = slots[i] < least ? slots[i] : least;
    }
    return least;
}

/// The lowest slot below a node.
static inline uint32_t query_node_least( const query_node* node )
{
    return query_least_slot( node->least );
}

/// What is needed to call what is too close to call in float.
typedef struct query_late
{
    const clv_aabb* box;
    float band, time;
    uint32_t least;
} query_late;

/// One query under way.
typedef struct query_walk
{
    union
    {
        const query_node* nodes;
        const query_node64* nodes64;
    };
    uint32_t top;         ///< entries that wait
    uint32_t node_count;  ///< looked at so far
    uint32_t found_count; ///< handed over by the last step

    union
    {
        clv_aabb box;     ///< overlap and distance
        clv_aabb64 box64; ///< overlap64
    };
    query_cast cast;      ///< cast
    float reach;          ///< cast: nothing later counts; distance: no squared distance above
    uint32_t reach_least; ///< of those that are just at the reach, only slots up to this count
    float reach_time;     ///< distance: the distance whose square `reach` is a little above
    float band;           ///< distance: and this one a little below

    uint32_t found[QUERY_FOUND];      ///< slots, or QUERY_EMPTY without its bit
    float found_near[QUERY_LANES];    ///< cast and distance
    uint32_t found_lane[QUERY_LANES]; ///< likewise
    const query_node* found_node;     ///< whose lanes these are
    query_stack stack;
} query_walk;

// ---- two boxes in double

/// Length of these gaps as if exponents had no end: the largest is brought near 1 where its square would
/// leave the doubles.
double clv_simd_scaled_length( double x, double y, double z );

/// Neither so large nor so small that it may have left the doubles.
static inline bool query_is_square( double square )
{
    return square > 1e-280 && square < 1e280;
}

/// Of these gaps; `square` is x * x + y * y + z * z.
static inline double query_length( double square, double x, double y, double z )
{
    return query_is_square( square ) ? sqrt( square ) : clv_simd_scaled_length( x, y, z );
}

/// Infinity less infinity is no gap.
static inline double query_gap( double a_lower, double a_upper, double b_lower, double b_upper )
{
    double below = b_lower - a_upper, above = a_lower - b_upper;
    double gap = above > below ? above : below;
    return gap > 0 ? gap : 0;
}

/// Gaps of two boxes along the axes; the square of their distance.
static inline double query_gaps( const clv_aabb64* a, const clv_aabb64* b, double gaps[3] )
{
    gaps[0] = query_gap( a->lower.x, a->upper.x, b->lower.x, b->upper.x );
    gaps[1] = query_gap( a->lower.y, a->upper.y, b->lower.y, b->upper.y );
    gaps[2] = query_gap( a->lower.z, a->upper.z, b->lower.z, b->upper.z );
    return gaps[0] * gaps[0] + gaps[1] * gaps[1] + gaps[2] * gaps[2];
}

static inline clv_aabb64 query_lane_box64( const query_node64* node, uint32_t lane )
{
    return ( clv_aabb64 ){ { node->lower[0][lane], node->lower[1][lane], node->lower[2][lane] },
        { node->upper[0][lane], node->upper[1][lane], node->upper[2][lane] } };
}

/// The distance of a lane, of which `square` is the square.
static inline double query_lane_length(
    const clv_aabb64* box, const query_node64* node, uint32_t lane, double square )
{
    if ( query_is_square( square ) )
    {
        return sqrt( square );
    }
    const clv_aabb64 other = query_lane_box64( node, lane );
    double gaps[3];
    square = query_gaps( box, &other, gaps );
    return query_length( square, gaps[0], gaps[1], gaps[2] );
}

/// A motion in double: what is taken off the near and the far face of an axis, first the place, then how far
/// the shape goes beyond it; and which faces these are, as places in a node.
typedef struct query_cast64
{
    double near_place[3], far_place[3], near_more[3], far_more[3];
    double near_inverse[3], far_inverse[3];
    uint32_t near_face[3], far_face[3];
} query_cast64;

/// Of a number that is not negative, a float that no lower float of it (QUERY_LOWER) is above.
#define QUERY_LOWER ( 1 - 0x1p-22 )

static inline float query_above_float( double number )
{
    double above = number * ( 1 + 0x1p-22 ) + 1e-40;
    return above < (double)FLT_MAX ? (float)above : INFINITY;
}

/// simd_queries.closest64: a box that moves.
typedef struct query_closest64
{
    query_cast64 cast; ///< without more than its places
    double best;       ///< in: the reach, which is finite; out: the time
    uint32_t slot;     ///< in: UINT32_MAX; out: of the hit, if there is one
    float above;       ///< query_above_float( best )
} query_closest64;

/// simd_queries.nearest64: the few nearest to a box.
typedef struct query_nearest64
{
    clv_aabb64 box;
    double near[QUERY_NEAREST_MOST];    ///< in order; at first all infinite
    uint32_t slots[QUERY_NEAREST_MOST]; ///< at first all UINT32_MAX
    uint32_t count;                     ///< of those that are wanted, 1 .. QUERY_NEAREST_MOST
    double reach;                       ///< nothing farther counts
    uint32_t least;                     ///< of those just at the reach, only slots up to this count
    double limit, band; ///< squares above are beyond the reach; from `band` on it takes a root to tell
    float above;        ///< query_above_float( limit )
} query_nearest64;

/// A square beyond which the root is beyond the reach, whatever is rounded: most lanes need no root then.
static inline double query_square_limit( double reach )
{
    return reach > 1e-130 && reach < 1e130 ? reach * reach * ( 1 + 1e-12 ) : INFINITY;
}

static inline void query_nearest_reach64( query_nearest64* query, double reach, uint32_t least )
{
    query->reach = reach;
    query->least = least;
    query->limit = query_square_limit( reach );
    query->band = query->limit < INFINITY ? reach * reach * ( 1 - 1e-12 ) : 0;
    query->above = query_above_float( query->limit );
}

/// As query_nearest_shorten.
static inline void query_nearest_shorten64( query_nearest64* query )
{
    uint32_t last = query->count - 1;
    if ( query->slots[last] != UINT32_MAX )
    {
        query_nearest_reach64( query, query->near[last], query->slots[last] );
    }
}

typedef struct simd_queries
{
    /// Go on until QUERY_FOUND - QUERY_LANES objects or more overlap the query's box, or all have been seen.
    /// False: there is no more after these.
    bool ( *overlap )( query_walk* walk );

    /// Go on until a node has objects that the motion meets within reach; at most QUERY_LANES. False: none is
    /// left.
    bool ( *cast )( query_walk* walk );

    /// The same for objects whose squared distance from the query's box is at most `reach`.
    bool ( *distance )( query_walk* walk );

    /// The first hit of each motion, where every object counts. `nodes` has at least one.
    void ( *closest )( const query_node* nodes, query_cast* casts, uint32_t count );

    /// The nearest to each box, likewise.
    void ( *nearest )( const query_node* nodes, query_nearest* queries, uint32_t count );

    /// How many nodes a point takes a walk to, and how many objects it is in; `nodes` likewise.
    void ( *count )(
        const query_node* nodes, const float point[3], uint32_t* node_count, uint32_t* object_count );

    /// The hull of a node's boxes and its lowest slot, to a lane of the node above it.
    void ( *bound )( const query_node* node, query_node* above, uint32_t lane );

    /// In double, of one node: the lanes that overlap the box; those that the motion meets up to the reach,
    /// and the times of all; those whose squared distance is at most `limit`, and the squares of all.
    uint32_t ( *look_overlap64 )( const clv_aabb64* box, const query_node64* node );
    uint32_t ( *look_cast64 )(
        const query_cast64* cast, const query_node64* node, double reach, double near[QUERY_LANES] );
    uint32_t ( *look_distance64 )(
        const clv_aabb64* box, const query_node64* node, double limit, double squares[QUERY_LANES] );

    /// And as overlap, closest and nearest.
    bool ( *overlap64 )( query_walk* walk );
    void ( *closest64 )( const query_node64* nodes, query_closest64* queries, uint32_t count );
    void ( *nearest64 )( const query_node64* nodes, query_nearest64* queries, uint32_t count );
} simd_queries;

/// Chosen by clv_simd_queries_for, simd/kernels.h.
extern const simd_queries clv_simd_queries_scalar;
extern const simd_queries clv_simd_queries_sse2;
extern const simd_queries clv_simd_queries_avx2;
extern const simd_queries clv_simd_queries_avx512;
extern const simd_queries clv_simd_queries_neon;

/// Times that a motion starts and ends with. The scalar twin of one lane: what counts for boxes as they were
/// given.
static inline bool query_cast_box( const query_cast* cast, const clv_aabb* box, float reach, float* near )
{
    const float* lower = &box->lower.x;
    const float* upper = &box->upper.x;
    float from = 0, to = reach;
    for ( int axis = 0; axis < 3; ++axis )
    {
        bool is_forward = cast->near_face[axis] < cast->far_face[axis];
        float first = ( ( is_forward ? lower[axis] : upper[axis] ) - cast->near_origin[axis] ) *
            cast->near_inverse[axis];
        float last =
            ( ( is_forward ? upper[axis] : lower[axis] ) - cast->far_origin[axis] ) * cast->far_inverse[axis];
        from = first > from ? first : from;
        to = last < to ? last : to;
    }
    *near = from;
    return from <= to;
}

/// Squared distance of two boxes in double; what decides, wherever the lanes only choose.
static inline double query_gap_squared( const clv_aabb* a, const clv_aabb* b )
{
    double sum = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double below = (double)( &b->lower.x )[axis] - (double)( &a->upper.x )[axis];
        double above = (double)( &a->lower.x )[axis] - (double)( &b->upper.x )[axis];
        // Written so that compilers make no branches of it. Infinity less infinity is no gap.
        double gap = above > below ? above : below;
        gap = gap > 0 ? gap : 0;
        sum += gap * gap;
    }
    return sum;
}

/// Floats of a lane are off by no more than a few 2^-24 of what they stand for; so much wider is what is
/// looked at.
#define QUERY_SLACK 1e-6

/// A squared distance as the lanes have it, and a little more.
static inline float query_lane_reach( double square )
{
    double wide = square * ( 1 + 2 * QUERY_SLACK ) + 1e-40;
    return wide < (double)FLT_MAX ? (float)wide : INFINITY;
}

/// And a little less.
static inline float query_lane_band( double square )
{
    return (float)( square * ( 1 - 4 * QUERY_SLACK ) );
}

/// The farthest that still counts has changed: everything that follows from it.
static inline void query_nearest_shorten( query_nearest* query )
{
    uint64_t last = query->keys[query->count - 1];
    if ( last != QUERY_NONE_NEAR )
    {
        float time = query_key_near( last );
        double square = (double)time * (double)time;
        query->reach = query_lane_reach( square );
        query->band = query_lane_band( square );
        query->reach_time = time;
        query->reach_least = (uint32_t)last;
    }
}

static inline clv_aabb query_lane_box( const query_node* node, uint32_t lane )
{
    clv_aabb box = { { node->lower[0][lane], node->lower[1][lane], node->lower[2][lane] },
        { node->upper[0][lane], node->upper[1][lane], node->upper[2][lane] } };
    return box;
}
