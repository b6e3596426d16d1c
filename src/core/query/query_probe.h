// SPDX-License-Identifier: MIT
// An item of a list made ready for the walk: its box, its reach, and the shape in double where it has a test of its own.
#pragma once

#include "query/query_search.h"

#include <float.h>
#include <math.h>

/// A box on its way, in double: what is walked with where floats would overflow or vanish.
typedef struct query_sweep
{
    double lower[3], upper[3], motion[3];
} query_sweep;

/// One query, ready to go.
typedef struct query_probe
{
    const query_scene* scene;
    const clv_queries* list;
    const clv_filter* filter;
    uint32_t index;      ///< in the list
    clv_query_kind kind; ///< of three axes
    query_mode mode;

    clv_hit* hits; ///< all: as many as fit; nearest: by distance
    uint64_t room; ///< nearest: k
    uint64_t count;
    clv_hit best;      ///< any and closest
    float reach;       ///< of the query; a callback may lower it
    bool is_shortened; ///< one did
    bool is_done;      ///< nothing more is wanted

    double square; ///< of a distance
    query_capsule capsule;
    double motion[3];
    double end;      ///< of its times
    bool is_extreme; ///< too large or too small for the lanes: `sweep` is asked instead
    query_sweep sweep;
    query_turned_box turned;
    const clv_plane* planes;
    uint32_t plane_count;
    clv_half_planes half_planes; ///< in a flat space, in place of these
    bool is_flat;

    query_walk walk;
} query_probe;

/// Shapes with a test of their own are walked for so much longer, so that no rounding of the lanes loses what that test finds.
#define QUERY_WIDER 1.000002f
#define QUERY_EARLIER 0.999998f

static inline float query_wider( float reach )
{
    float more = reach > 0 ? reach * QUERY_WIDER + 1e-40f : 0;
    return more < FLT_MAX ? more : FLT_MAX;
}

static inline clv_hit query_no_hit( void )
{
    return ( clv_hit ){ CLV_NO_HIT, INFINITY };
}

/// The common case, in which nothing but boxes and slots counts.
static inline bool query_is_plain( const query_scene* scene, const clv_queries* list )
{
    return list->filters == NULL && list->callback == NULL && !scene->may_be_gone &&
        !( list->as_given && scene->given != NULL ) && scene->counts == NULL;
}

/// A box that moves: its faces are taken off those of the others.
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

/// A time is finite: what never is reached has infinite ones, and must not be within an infinite reach.
static inline float query_finite_reach( float max_t )
{
    return max_t < FLT_MAX ? max_t : FLT_MAX;
}

/// The latest time that counts, as a double: times that round to the reach are within it, also those that round to 0.
static inline double query_latest( const query_probe* probe )
{
    double end = probe->reach > 0 ? (double)query_wider( probe->reach ) : (double)FLT_TRUE_MIN;
    return end < probe->end ? end : probe->end;
}

/// Does the sweep meet a box within its time? Monotonic, and a little early and late.
bool clv_query_probe_sweep_meets( const query_probe* probe, const clv_aabb* box );

/// Query `index` of the list, at the root of the tree.
void clv_query_probe_start(
    query_probe* probe, const query_scene* scene, const clv_queries* list, uint32_t index, query_mode mode );

/// To be walked by the distance from a box, no farther than that.
void clv_query_probe_distance( query_probe* probe, clv_aabb box, float distance );
