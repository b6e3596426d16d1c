// SPDX-License-Identifier: MIT
// One search under way, and the seven forms of a question: a row of a table says how each is checked, walked
// and decided, and nothing else asks for the form. The walk is in float and never decides too little
// (simd/query_lanes.h): its boxes, times and distances have room for whatever is rounded, there and in the
// test that decides. That test is the row's own, in the arithmetic of the question.
#pragma once

#include "query/query_search.h"

typedef struct query_rule query_rule;

typedef struct query_search
{
    const query_scene* scene;
    const query_list* list;
    const clv_filter* filter;
    uint32_t index; ///< in the list
    query_mode mode;
    query_probe probe;
    const query_rule* rule; ///< of the probe's form; of the nearest to a box, of a distance

    void* hits;    ///< clv_hit or clv_hit64; all: as many as fit; nearest: by distance
    uint64_t room; ///< nearest: k
    uint64_t count;
    clv_hit64 best;    ///< any and closest
    double reach;      ///< of the query; a callback may lower it. Of floats it is one
    bool is_shortened; ///< a callback did
    bool is_done;      ///< nothing more is wanted

    bool is_given;   ///< boxes without their margins decide
    bool is_settled; ///< what the walk hands over counts, and its time is right
    bool is_choosy;  ///< not every object may be wanted
    bool asks;       ///< the caller is asked about each
    double square;   ///< floats: of the distance
    double end;      ///< of the times of a cast
    query_turned_box turned;
    query_walk walk;
} query_search;

/// Over which lanes a search goes: one of the walks of simd_queries, or node by node in plain C.
typedef enum query_way
{
    QUERY_BY_OVERLAP,
    QUERY_BY_DISTANCE,
    QUERY_BY_CAST,
    QUERY_BY_PLANES,
} query_way;

/// What there is to know of a form.
struct query_rule
{
    query_way way;
    bool is_settled, is_settled64; ///< the walk decides, of floats and of doubles

    /// Is that a question? Corners are in order already.
    bool ( *is_good )( const query_probe* p );

    /// How far it looks, and what its walk and its test need.
    void ( *start )( query_search* s );

    /// The reach is another one: the walk's follows. NULL: it has none.
    void ( *shorten )( query_search* s );

    /// The one test that decides. *t is 0 beforehand.
    bool ( *meets )( const query_search* s, const clv_aabb64* box, double* t );
};

extern const query_rule clv_query_rules[QUERY_ROUND_CAST + 1];

/// Is part of the box on the inner side of every plane? Each for itself: a box beyond a corner may pass.
bool clv_query_planes_meet( const query_probe* p, const clv_aabb64* box );

/// How far the walk of a motion in double goes: only a moving shape meets anything later than at once.
static inline float query_far_reach( const query_cast64* cast, double reach )
{
    bool moves = base_is_finite( cast->inverse[0] ) || base_is_finite( cast->inverse[1] ) ||
        base_is_finite( cast->inverse[2] );
    return query_above_float( moves ? reach : 0 );
}

/// At the root of the tree; what is looked for is the caller's to set.
static inline void query_walk_open( query_walk* walk, const query_scene* scene )
{
    walk->nodes = scene->boxes64 != NULL ? scene->tree64->nodes : scene->tree->nodes;
    walk->far.boxes = scene->boxes64;
    walk->top = scene->tree->node_count > 0 ? 1 : 0;
    walk->node_count = walk->found_count = 0;
    walk->stack.near[0] = 0;
    walk->stack.node[0] = 0;
    walk->reach = INFINITY;
    walk->reach_least = UINT32_MAX;
}

/// Numbers of a probe that was floats.
static inline clv_vec3 query_floats( const double* v )
{
    return ( clv_vec3 ){ (float)v[0], (float)v[1], (float)v[2] };
}

/// A box that moves, in float: its faces are taken off those of the others.
static inline void query_set_cast( query_cast* cast, clv_aabb box, clv_vec3 motion )
{
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        float d = ( &motion.x )[axis];
        float lower = ( &box.lower.x )[axis], upper = ( &box.upper.x )[axis];
        uint32_t lower_face = axis * QUERY_LANES, upper_face = ( 3 + axis ) * QUERY_LANES;
        cast->near_inverse[axis] = cast->far_inverse[axis] = d == 0 ? INFINITY : 1.0f / d;
        cast->near_face[axis] = d < 0 ? upper_face : lower_face;
        cast->far_face[axis] = d < 0 ? lower_face : upper_face;
        cast->near_origin[axis] = d < 0 ? lower : upper;
        cast->far_origin[axis] = d < 0 ? upper : lower;
    }
}

/// The same in double.
void clv_query_set_cast64(
    query_cast64* cast, const double* lower, const double* upper, const double* motion );
