// SPDX-License-Identifier: MIT
// A question in double made ready for the walk, as query_probe.h has it for floats.
#pragma once

#include "query/query_wide.h"

#include <float.h>
#include <math.h>

/// Shapes that have a test of their own are walked as boxes that are so much larger, and times so much longer, than any rounding of that test.
#define QUERY_WIDE_ROOM 1e-9

/// A node that waits, and from where on it counts.
typedef struct query_wide_entry
{
    double near;
    uint32_t node, least;
} query_wide_entry;

/// What a lane is asked.
typedef enum query_wide_look
{
    WIDE_OVERLAP,
    WIDE_CAST,
    WIDE_DISTANCE,
    WIDE_PLANES,
    WIDE_TURNED,
} query_wide_look;

/// One query, ready to go.
typedef struct query_wide_probe
{
    const query_scene* scene;
    const clv_queries* list;
    const clv_filter* filter;
    uint32_t index;
    clv_query_kind kind; ///< of floats
    query_mode mode;
    query_wide_look look;

    clv_hit64* hits; ///< all: as many as fit; nearest: by distance
    uint64_t room, count;
    clv_hit64 best;
    double reach;
    uint32_t reach_least; ///< of those just at the reach only slots up to this count
    bool is_shortened, is_done;

    clv_aabb64 box;      ///< overlap and distance
    double origin[3];    ///< of shapes that are looked at from there
    query_capsule round; ///< as given: its test looks from its beginning itself
    query_turned_box turned;
    const clv_plane64* planes;
    uint32_t plane_count;

    // Cast: what is taken off the near and the far face of an axis, first the place, then how far the shape goes beyond it.
    double motion[3];
    double near_place[3], far_place[3], near_more[3], far_more[3];
    double near_inverse[3], far_inverse[3];
    bool is_forward[3];

    uint32_t top;
    query_wide_entry stack[QUERY_STACK];
} query_wide_probe;

static inline clv_hit64 query_no_hit64( void )
{
    return ( clv_hit64 ){ CLV_NO_HIT, INFINITY };
}

/// Are lanes' times and distances those of the objects?
static inline bool query_wide_is_exact( const query_wide_probe* p )
{
    return p->look == WIDE_DISTANCE || p->kind == CLV_QUERY_RAY || p->kind == CLV_QUERY_BOX_CAST;
}

/// How far casts are looked for: a little more where the lanes' times are only bounds.
static inline double query_wide_cast_reach( const query_wide_probe* p )
{
    double more =
        ( p->kind == CLV_QUERY_CAPSULE ? 1 + 2 * QUERY_WIDE_ROOM : p->reach ) * ( 1 + QUERY_WIDE_ROOM );
    return query_wide_is_exact( p ) ? p->reach : more < DBL_MAX ? more : DBL_MAX;
}

/// Query `index` of the list, at the root of the tree.
void clv_query_wide_probe_start(
    query_wide_probe* p, const query_scene* scene, const clv_queries* list, uint32_t index, query_mode mode );

/// To be walked by the distance from a box, no farther than that.
void clv_query_wide_probe_distance( query_wide_probe* p, clv_aabb64 box, double distance );
