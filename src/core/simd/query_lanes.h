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
//
// Where boxes are doubles the walks are in float too. A node's faces are floats as seen from a place of its
// own, its origin in double, rounded outwards; what is asked is seen from there as well, with room for
// rounding. So a walk passes what may count, at 10^9 metres as near 0, and what it comes to is decided in
// double, by the object's own box.
#pragma once

#include "base/bits.h"
#include "base/exact.h"
#include "cleave/geom.h"
#include "cleave/world.h"
#include "simd/kernels.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined( CLV_HAVE_SSE2 )
#include <emmintrin.h>
#endif

enum
{
    QUERY_LANES = 8,
    QUERY_DEPTH = 44, // nodes from the root down, at most: query/query_tree.c sees to it
    QUERY_STACK = QUERY_DEPTH * ( QUERY_LANES - 1 ) + 2, // so many wait at once, at most
    QUERY_FOUND = 256,       // objects that an overlap walk hands over at once, at most
    QUERY_NEAREST_MOST = 32, // neighbours of one query, where the kernel finds them
    QUERY_MAYBE = 32,        // that may be among them, until their boxes decide
};

#define QUERY_OBJECT 0x80000000u ///< bit of a child that is an object: the rest is its slot
#define QUERY_EMPTY                                                                                          \
    UINT32_MAX ///< child of an empty lane, whose box is inside out; reads as an object without a slot

/// Four cache lines. Of doubles, faces are as seen from `origin`.
typedef struct query_node
{
    float lower[3][QUERY_LANES];
    float upper[3][QUERY_LANES];
    uint32_t child[QUERY_LANES]; ///< a node, or an object
    union
    {
        /// lowest slot below it: of equals the lower slot comes first, so others need no look
        uint32_t least[QUERY_LANES];
        double origin[4]; ///< where boxes are doubles; the last is the lowest slot below the node
    };
} query_node;

static_assert( sizeof( query_node ) == 256, "four cache lines" );

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

/// One query of a list, and the nodes that wait for it.
typedef struct query_turn
{
    void* item;
    uint32_t top;
    query_stack stack;
} query_turn;

/// One node more of a query. False: there is none. `is_alone`: branches may be predicted, as no other query
/// is interleaved.
typedef bool query_step( const void* tree, query_turn* turn, bool is_alone );

/// A motion: what is subtracted from the near and the far face of an axis, which faces these are (as places
/// in a node), and one over the motion; infinity where nothing moves.
typedef struct query_cast
{
    float near_origin[4], far_origin[4]; ///< the last is not used
    float near_inverse[3],
        far_inverse[3]; ///< the latter a little more for shapes that have a test of their own
    uint32_t near_face[3], far_face[3];
    /// simd_queries.closest: in, the reach and UINT32_MAX; out, time and slot of the hit, if there is one
    uint64_t best;
} query_cast;

/// A motion in double. What is taken off the near and the far face of an axis, first the place, then how far
/// the shape goes beyond it; one over the motion; and which faces these are, as places in a node.
typedef struct query_cast64
{
    double near_place[3], far_place[3], near_more[3], far_more[3];
    double inverse[3], far_inverse[3]; ///< the latter a little more for shapes that have a test of their own
    uint32_t near_face[3], far_face[3];

    /// For the walk, in four lanes, whose last is not used: what is taken off in all, and by how much of its
    /// size and by what at least it is moved where it is seen from a node, with sign.
    double near_from[4], far_from[4];
    float outwards[4], least[4];
    bool is_point; ///< what is taken off is the same
} query_cast64;

typedef struct query_far
{
    const clv_aabb64* boxes; ///< objects' by slot, which decide
    clv_aabb64 box;
    query_cast64 cast;
} query_far;

/// The few nearest to a box. Lanes choose in float, what may be among them waits; then its own box decides,
/// in double.
typedef struct query_nearest
{
    clv_aabb box;              ///< where boxes are floats
    double lower[4], upper[4]; ///< or doubles; the last is not used
    uint32_t count, found;     ///< that are wanted, 1 .. QUERY_NEAREST_MOST, and that are decided
    union
    {
        double near[QUERY_NEAREST_MOST]; ///< of those found, in order: of floats they are floats
        /// Of floats where lanes are decided at once: distance and slot, ascending; at first QUERY_NONE_NEAR.
        _Alignas( 64 ) uint64_t keys[QUERY_NEAREST_MOST];
    };
    uint32_t slots[QUERY_NEAREST_MOST];
    double square;    ///< nothing farther counts, of floats
    double reach;     ///< of doubles
    float above;      ///< no squared distance above, as the lanes have it
    float band;       ///< of floats: squared distances from here on are too close to call
    float reach_time; ///< the distance between them
    uint32_t least;   ///< of those that are just there, only slots up to this count

    uint32_t maybe_count;                        ///< that wait
    uint32_t maybe[QUERY_MAYBE + QUERY_LANES];   ///< the node of each, times QUERY_LANES, and its lane
    float maybe_near[QUERY_MAYBE + QUERY_LANES]; ///< its squared distance, as the lanes have it, is no less
    /// Behind one register, in order: so many are no farther, as squares. At first infinite.
    _Alignas( 32 ) float bounds[QUERY_LANES + QUERY_NEAREST_MOST];
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
    const query_node* nodes;
    uint32_t top;         ///< entries that wait
    uint32_t node_count;  ///< looked at so far
    uint32_t found_count; ///< handed over by the last step

    clv_aabb box;         ///< overlap and distance
    query_cast cast;      ///< cast
    query_far far;        ///< where boxes are doubles: what the two above are, as seen from 0
    float reach;          ///< cast: nothing later counts; distance: no squared distance above
    uint32_t reach_least; ///< of those that are just at the reach, only slots up to this count; of doubles,
                          ///< where the reach is 0
    float reach_time;     ///< distance: the distance whose square `reach` is a little above
    float band;           ///< distance: and this one a little below

    uint32_t found[QUERY_FOUND];      ///< slots, or QUERY_EMPTY without its bit
    float found_near[QUERY_LANES];    ///< cast and distance
    uint32_t found_lane[QUERY_LANES]; ///< likewise
    const query_node* found_node;     ///< whose lanes these are
    query_stack stack;
} query_walk;

/// Floats of a lane are off by no more than a few 2^-24 of what they stand for; so much wider is what is
/// looked at.
#define QUERY_SLACK 1e-6

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

/// a > b ? a : b, as a compiler is not free to make a branch of it, which would be mispredicted.
static inline double query_greater( double a, double b )
{
#if defined( CLV_HAVE_SSE2 )
    return _mm_cvtsd_f64( _mm_max_sd( _mm_set_sd( a ), _mm_set_sd( b ) ) );
#else
    return a > b ? a : b;
#endif
}

/// Infinity less infinity is no gap.
static inline double query_gap( double a_lower, double a_upper, double b_lower, double b_upper )
{
    return query_greater( query_greater( a_lower - b_upper, b_lower - a_upper ), 0 );
}

/// Gaps of two boxes along the axes; the square of their distance.
static inline double query_gaps( const clv_aabb64* a, const clv_aabb64* b, double gaps[3] )
{
    gaps[0] = query_gap( a->lower.x, a->upper.x, b->lower.x, b->upper.x );
    gaps[1] = query_gap( a->lower.y, a->upper.y, b->lower.y, b->upper.y );
    gaps[2] = query_gap( a->lower.z, a->upper.z, b->lower.z, b->upper.z );
    return gaps[0] * gaps[0] + gaps[1] * gaps[1] + gaps[2] * gaps[2];
}

/// A float that is no less than a number that is not negative.
static inline float query_above_float( double number )
{
    double above = number * ( 1 + 0x1p-22 ) + 1e-40;
    return above < (double)FLT_MAX ? (float)above : INFINITY;
}

// ---- doubles as floats, as seen from the origin of a node
//
// Whatever the sizes: a difference of doubles is off by 2^-53 of what it is made of, a float by 2^-24 of
// itself or less than the least normal float; so much, and a little more, the faces are moved outwards, and
// what is asked.

#define QUERY_OUTWARDS 0x1.04p-24
#define QUERY_SUM_ROOM 0x1p-51 ///< what a sum of doubles may be off by, as a part of both
#define QUERY_LEAST 0x1p-100   ///< a size whose part is a normal float

/// What overlaps the box overlaps this one. Nearest floats do, since faces are rounded outwards.
static inline clv_aabb query_box_seen_from( const clv_aabb64* box, const double origin[3] )
{
    return ( clv_aabb ){ { (float)( box->lower.x - origin[0] ), (float)( box->lower.y - origin[1] ),
                             (float)( box->lower.z - origin[2] ) },
        { (float)( box->upper.x - origin[0] ), (float)( box->upper.y - origin[1] ),
            (float)( box->upper.z - origin[2] ) } };
}

/// No distance from it is longer.
static inline clv_aabb query_reach_seen_from( const clv_aabb64* box, const double origin[3] )
{
    clv_aabb seen = { { 0, 0, 0 }, { 0, 0, 0 } };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double lower = ( &box->lower.x )[axis] - origin[axis];
        double upper = ( &box->upper.x )[axis] - origin[axis];
        ( &seen.lower.x )[axis] = (float)( lower - ( fabs( lower ) + QUERY_LEAST ) * QUERY_OUTWARDS );
        ( &seen.upper.x )[axis] = (float)( upper + ( fabs( upper ) + QUERY_LEAST ) * QUERY_OUTWARDS );
    }
    return seen;
}

/// The same of four axes, of which the last is not used, and by how much a gap from there may be too short: a
/// face that has a gap is no larger than that and the place it is seen from.
typedef struct query_seen
{
    float lower[4], upper[4], room[4];
} query_seen;

static inline void query_nearest_seen_from(
    const query_nearest* query, const double origin[4], query_seen* seen )
{
    for ( int axis = 0; axis < 4; ++axis )
    {
        double lower = query->lower[axis] - origin[axis], upper = query->upper[axis] - origin[axis];
        float low = (float)( lower - ( fabs( lower ) + QUERY_LEAST ) * QUERY_OUTWARDS );
        float high = (float)( upper + ( fabs( upper ) + QUERY_LEAST ) * QUERY_OUTWARDS );
        float size = fabsf( low ) > fabsf( high ) ? fabsf( low ) : fabsf( high );
        seen->lower[axis] = low;
        seen->upper[axis] = high;
        seen->room[axis] = size * 0x1p-21f + 0x1p-120f;
    }
}

/// A face of a node, moved outwards; an infinite one stays, and so does what is beyond the floats.
static inline float query_face_below( double face, double origin )
{
    double from = face - origin, low = from - ( fabs( from ) + QUERY_LEAST ) * QUERY_OUTWARDS;
    return low < (double)FLT_MAX ? (float)low : FLT_MAX;
}

static inline float query_face_above( double face, double origin )
{
    return -query_face_below( -face, -origin );
}

/// What differs by more from a face may leave the floats: no origin is farther away, and for a motion such a
/// place is no number, which narrows no time.
#define QUERY_MOST_PLACE 0x1p100

static inline double query_far_place( double place )
{
    return fabs( place ) <= QUERY_MOST_PLACE ? place : (double)NAN;
}

/// No time of a motion is later than the one it begins with, or earlier than the one it ends with: first what
/// is the same for every node.
static inline void query_cast_open( query_cast64* from, query_cast* to )
{
    from->is_point = true;
    from->near_from[3] = from->far_from[3] = 0;
    from->outwards[3] = from->least[3] = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double near = from->near_place[axis], near_more = from->near_more[axis];
        double far = from->far_place[axis], far_more = from->far_more[axis];
        double way = from->near_face[axis] < from->far_face[axis] ? 1 : -1;
        double near_room = near_more != 0 ? fabs( near ) + fabs( near_more ) : 0;
        double far_room = far_more != 0 ? fabs( far ) + fabs( far_more ) : 0;
        from->near_from[axis] = query_far_place( near + near_more + way * QUERY_SUM_ROOM * near_room );
        from->far_from[axis] = query_far_place( far + far_more - way * QUERY_SUM_ROOM * far_room );
        from->is_point &= from->near_from[axis] == from->far_from[axis];
        from->outwards[axis] = (float)( way * 2 * QUERY_OUTWARDS ); // twice rounded
        from->least[axis] = (float)( way * 2 * (double)FLT_MIN );
        double size = fabs( from->inverse[axis] ) * ( 1 - 2 * QUERY_SLACK );
        double far_size = fabs( from->far_inverse[axis] ) * ( 1 + 2 * QUERY_SLACK );
        size = base_is_finite( size ) && size > (double)FLT_MAX ? (double)FLT_MAX : size;
        size = size < (double)FLT_MIN ? 0 : size;
        far_size = far_size < (double)FLT_MIN ? (double)FLT_MIN : far_size;
        to->near_inverse[axis] = (float)( way * size );
        to->far_inverse[axis] = (float)( way * far_size );
        to->near_face[axis] = from->near_face[axis];
        to->far_face[axis] = from->far_face[axis];
    }
}

/// And then from a node.
static inline void query_cast_seen_from( const query_cast64* from, const double origin[4], query_cast* to )
{
    float nears[4], fars[4]; // written at once: what is read might lie there
    for ( int axis = 0; axis < 4; ++axis )
    {
        float seen = (float)( from->near_from[axis] - origin[axis] );
        float slack = fabsf( seen ) * from->outwards[axis] + from->least[axis];
        nears[axis] = seen + slack;
        fars[axis] = seen - slack;
    }
    if ( !from->is_point )
    {
        for ( int axis = 0; axis < 4; ++axis )
        {
            float seen = (float)( from->far_from[axis] - origin[axis] );
            fars[axis] = seen - ( fabsf( seen ) * from->outwards[axis] + from->least[axis] );
        }
    }
    memcpy( to->near_origin, nears, sizeof( nears ) );
    memcpy( to->far_origin, fars, sizeof( fars ) );
}

/// Times at which a motion starts and ends to meet the sides of a box: is there one up to the reach, and the
/// first. This decides.
static inline bool query_cast_sides(
    const query_cast64* cast, const clv_aabb64* box, double reach, double* near )
{
    const double* faces = &box->lower.x;
    double from = 0, to = reach;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double near_face = faces[cast->near_face[axis] / QUERY_LANES];
        double far_face = faces[cast->far_face[axis] / QUERY_LANES];
        double first =
            ( ( near_face - cast->near_place[axis] ) - cast->near_more[axis] ) * cast->inverse[axis];
        double last =
            ( ( far_face - cast->far_place[axis] ) - cast->far_more[axis] ) * cast->far_inverse[axis];
        from = first > from ? first : from; // no number, 0 times infinity: on the edge of what does not move
        to = last < to ? last : to;
    }
    *near = from;
    return from <= to;
}

/// simd_queries.closest64: a box that moves.
typedef struct query_closest64
{
    query_cast64 exact; ///< without more than its places
    query_cast cast;    ///< as seen from a node
    double best;        ///< in: the reach, which is finite; out: the time
    uint32_t slot;      ///< in: UINT32_MAX; out: of the hit, if there is one
    uint32_t least;     ///< of what is at 0 only slots up to this count, where nothing later does
    float above;        ///< query_above_float( best )
} query_closest64;

/// A squared distance as the lanes have it, and a little more.
static inline float query_lane_reach( double square )
{
    double wide = square * ( 1 + 2 * QUERY_SLACK ) + 1e-40;
    return wide < (double)FLT_MAX ? (float)wide : INFINITY;
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
    void ( *nearest )(
        const query_node* nodes, const clv_aabb64* boxes, query_nearest* queries, uint32_t count );

    /// How many nodes a point takes a walk to, and how many objects it is in; `nodes` likewise.
    void ( *count )(
        const query_node* nodes, const float point[3], uint32_t* node_count, uint32_t* object_count );

    /// The hull of a node's boxes and its lowest slot, to a lane of the node above it.
    void ( *bound )( const query_node* node, query_node* above, uint32_t lane );

    /// As the first five where boxes are doubles: what is found overlaps the query's box; it may be met, or
    /// be as near; it is the first hit, or among the nearest.
    bool ( *overlap64 )( query_walk* walk );
    bool ( *cast64 )( query_walk* walk );
    bool ( *distance64 )( query_walk* walk );
    void ( *closest64 )(
        const query_node* nodes, const clv_aabb64* boxes, query_closest64* queries, uint32_t count );
    void ( *nearest64 )(
        const query_node* nodes, const clv_aabb64* boxes, query_nearest* queries, uint32_t count );
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
        double gap = query_gap( (double)( &a->lower.x )[axis], (double)( &a->upper.x )[axis],
            (double)( &b->lower.x )[axis], (double)( &b->upper.x )[axis] );
        sum += gap * gap;
    }
    return sum;
}

/// A squared distance as the lanes have it, and a little less.
static inline float query_lane_band( double square )
{
    return (float)( square * ( 1 - 4 * QUERY_SLACK ) );
}

/// The farthest of those that are wanted is so near: everything that follows from it.
static inline void query_nearest_shorten( query_nearest* query, double last, uint32_t slot )
{
    float above = query_lane_reach( last * last );
    query->above = above < query->above ? above : query->above;
    query->band = query_lane_band( last * last );
    query->reach_time = (float)last;
    query->reach = last;
    query->least = slot;
}

static inline clv_aabb query_lane_box( const query_node* node, uint32_t lane )
{
    clv_aabb box = { { node->lower[0][lane], node->lower[1][lane], node->lower[2][lane] },
        { node->upper[0][lane], node->upper[1][lane], node->upper[2][lane] } };
    return box;
}
