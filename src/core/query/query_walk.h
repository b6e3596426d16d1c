// SPDX-License-Identifier: MIT
// One search under way, and what its walk asks of boxes. A walk never decides too little: its boxes, times
// and distances have room for whatever is rounded, and each test is monotonic, so that what holds for an
// object holds for every node above it. In float that is simd/query_lanes.h; in double it is over hulls in
// double, node by node (simd/query_body64.h; planes here), or over those of floats where a question of floats
// is too large or too small for the lanes, or has planes. What has a middle or a beginning is looked at from
// there: differences of doubles are exact nearby.
#pragma once

#include "query/query_search.h"

#include <float.h>
#include <math.h>

/// Shapes with a test of their own are walked for so much longer in float, so that no rounding of the lanes
/// loses what that test finds.
#define QUERY_WIDER 1.000002f
#define QUERY_EARLIER 0.999998f

/// The same in double: boxes are so much larger and times so much longer than any rounding of that test.
#define QUERY_ROOM 1e-9

/// Nodes that wait, the next one last, and from where on they count.
typedef struct query_stack64
{
    uint32_t top;
    struct query_entry64
    {
        double near;
        uint32_t node, least;
    } entries[QUERY_STACK];
} query_stack64;

typedef struct query_search
{
    const query_scene* scene;
    const query_list* list;
    const clv_filter* filter;
    uint32_t index; ///< in the list
    query_mode mode;
    query_probe probe; ///< the nearest to a box: by its distance

    void* hits;    ///< clv_hit or clv_hit64; all: as many as fit; nearest: by distance
    uint64_t room; ///< nearest: k
    uint64_t count;
    clv_hit64 best;       ///< any and closest
    double reach;         ///< of the query; a callback may lower it. Of floats it is one
    uint32_t reach_least; ///< of those just at the reach only slots up to this count
    bool is_shortened;    ///< a callback did
    bool is_done;         ///< nothing more is wanted

    bool is_given;   ///< boxes without their margins decide
    bool is_settled; ///< what the walk hands over counts, and its time is right
    bool is_choosy;  ///< not every object may be wanted
    bool asks;       ///< the caller is asked about each
    double square;   ///< floats: of the distance
    double end;      ///< floats: of the times of a round cast
    query_turned_box turned;

    bool is_by_lanes; ///< walked in float
    query_cast64 cast;
    union
    {
        query_walk lanes;
        query_stack64 doubles;
    } walk;
} query_search;

/// A walk is made ready: at the root of the tree.
void clv_query_walk_start( query_search* s );

/// The same of a walk in float alone; what it looks for is the caller's to set.
static inline void query_walk_open( query_walk* walk, const query_tree* tree )
{
    walk->nodes = tree->nodes;
    walk->top = tree->node_count > 0 ? 1 : 0;
    walk->node_count = walk->found_count = 0;
    walk->stack.near[0] = 0;
    walk->stack.node[0] = 0;
    walk->reach = INFINITY;
    walk->reach_least = UINT32_MAX;
}

static inline float query_wider( float reach )
{
    float more = reach > 0 ? reach * QUERY_WIDER + 1e-40f : 0;
    return more < FLT_MAX ? more : FLT_MAX;
}

/// Of a round cast of floats: the latest time that counts. Times that round to the reach are within it, also
/// those that round to 0.
static inline double query_latest( const query_search* s )
{
    double end = s->reach > 0 ? (double)query_wider( (float)s->reach ) : (double)FLT_TRUE_MIN;
    return end < s->end ? end : s->end;
}

/// Numbers of a probe that was floats.
static inline clv_vec3 query_floats( const double* v )
{
    return ( clv_vec3 ){ (float)v[0], (float)v[1], (float)v[2] };
}

/// A box that moves, in float: its faces are taken off those of the others.
static inline void query_set_cast( query_cast* cast, clv_aabb box, clv_vec3 motion, float stretch )
{
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        float d = ( &motion.x )[axis];
        float lower = ( &box.lower.x )[axis], upper = ( &box.upper.x )[axis];
        uint32_t lower_face = axis * QUERY_LANES, upper_face = ( 3 + axis ) * QUERY_LANES;
        cast->near_inverse[axis] = d == 0 ? INFINITY : 1.0f / d;
        cast->far_inverse[axis] = cast->near_inverse[axis] * stretch;
        cast->near_face[axis] = d < 0 ? upper_face : lower_face;
        cast->far_face[axis] = d < 0 ? lower_face : upper_face;
        cast->near_origin[axis] = d < 0 ? lower : upper;
        cast->far_origin[axis] = d < 0 ? upper : lower;
    }
}

/// The same in double.
static inline void query_set_cast64(
    query_cast64* cast, const double lower[3], const double upper[3], const double d[3] )
{
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        uint32_t lower_face = axis * QUERY_LANES, upper_face = ( 3 + axis ) * QUERY_LANES;
        cast->near_face[axis] = d[axis] < 0 ? upper_face : lower_face;
        cast->far_face[axis] = d[axis] < 0 ? lower_face : upper_face;
        cast->near_place[axis] = d[axis] < 0 ? lower[axis] : upper[axis];
        cast->far_place[axis] = d[axis] < 0 ? upper[axis] : lower[axis];
        cast->near_more[axis] = cast->far_more[axis] = 0;
        cast->near_inverse[axis] = cast->far_inverse[axis] = d[axis] == 0 ? INFINITY : 1.0 / d[axis];
    }
}

// ---- what a box in double is asked

/// How far casts are looked for: a little more where the walk's times are only bounds.
static inline double query_cast_reach( const query_search* s )
{
    if ( s->probe.form == QUERY_CAST )
    {
        return s->reach;
    }
    double reach = s->probe.form == QUERY_CAPSULE ? 1 + 2 * QUERY_ROOM
        : s->probe.is_double                      ? s->reach
                                                  : query_latest( s );
    double more = reach * ( 1 + QUERY_ROOM );
    return more < DBL_MAX ? more : DBL_MAX;
}

/// Times at which a motion starts and ends to meet the sides of a box: is there one up to the reach, and the
/// first.
static inline bool query_cast_sides(
    const query_cast64* cast, const clv_aabb64* box, double reach, double* near )
{
    const double *lower = &box->lower.x, *upper = &box->upper.x;
    double from = 0, to = reach;
    for ( int axis = 0; axis < 3; ++axis )
    {
        bool is_forward = cast->near_face[axis] < cast->far_face[axis];
        double near_face = is_forward ? lower[axis] : upper[axis];
        double far_face = is_forward ? upper[axis] : lower[axis];
        double first =
            ( ( near_face - cast->near_place[axis] ) - cast->near_more[axis] ) * cast->near_inverse[axis];
        double last =
            ( ( far_face - cast->far_place[axis] ) - cast->far_more[axis] ) * cast->far_inverse[axis];
        from = first > from ? first : from; // no number, 0 times infinity: on the edge of what does not move
        to = last < to ? last : to;
    }
    *near = from;
    return from <= to;
}

/// Is part of the box, seen from the probe's origin, on the inner side of every plane? Each for itself: a box
/// beyond a corner may pass.
static inline bool query_planes_meet( const query_probe* p, const clv_aabb64* from )
{
    const clv_aabb64 near = p->is_double ? query_near_faces( from ) : *from;
    for ( uint32_t i = 0; i < p->plane_count; ++i )
    {
        const query_plane plane = query_plane_at( p, i );
        if ( query_least_dot( plane.normal, &near ) > plane.offset )
        {
            return false;
        }
    }
    return true;
}

// ---- what the lanes of a node in double are asked: as one box would be, to the bit

static inline uint32_t query_look_distance(
    const query_search* s, const query_node64* node, double near[QUERY_LANES] )
{
    double squares[QUERY_LANES];
    uint32_t passed =
        s->scene->kernels->look_distance64( &s->probe.box, node, query_square_limit( s->reach ), squares );
    for ( uint32_t left = passed; left != 0; left &= left - 1 )
    {
        uint32_t lane = base_lowest_bit( left );
        near[lane] = query_lane_length( &s->probe.box, node, lane, squares[lane] );
        passed &= near[lane] <= s->reach ? UINT32_MAX : ~( 1u << lane );
    }
    return passed;
}

static inline uint32_t query_look_planes( const query_search* s, const query_node64* node )
{
    uint32_t passed = 0;
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        if ( node->child[lane] == QUERY_EMPTY )
        {
            continue;
        }
        clv_aabb64 box = query_lane_box64( node, lane );
        clv_aabb64 from = query_box_from( &box, s->probe.a );
        bool is_in = s->probe.form == QUERY_PLANES ? query_planes_meet( &s->probe, &from )
                                                   : clv_query_turned_box_faces_meet( &s->turned, &from );
        passed |= (uint32_t)is_in << lane;
    }
    return passed;
}

/// Which lanes of a node the search may meet, as bits; where it has times or distances, those of these lanes.
static inline uint32_t query_look_at(
    const query_search* s, const query_node64* node, double near[QUERY_LANES] )
{
    switch ( s->probe.form )
    {
    case QUERY_OVERLAP: return s->scene->kernels->look_overlap64( &s->probe.box, node );
    case QUERY_DISTANCE: return query_look_distance( s, node, near );
    case QUERY_TURNED:
    case QUERY_PLANES: return query_look_planes( s, node );
    default: return s->scene->kernels->look_cast64( &s->cast, node, query_cast_reach( s ), near );
    }
}
