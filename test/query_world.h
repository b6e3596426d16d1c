// SPDX-License-Identifier: MIT
// A space and a plain list of what queries should see of it; every question asked of both.
#pragma once

#include "support.h"

enum
{
    QUERY_WORLD_MOST = 4200,
};

typedef struct query_world
{
    clv_space* space;
    uint32_t count; ///< slots
    uint32_t gone_count;
    test_random random;
    test_crowd crowd;
    bool has_margins, has_filters;

    // By slot: now, and as of the last update.
    clv_id ids[QUERY_WORLD_MOST];
    clv_aabb given[QUERY_WORLD_MOST];
    float margins[QUERY_WORLD_MOST];
    clv_filter filters[QUERY_WORLD_MOST];
    bool is_there[QUERY_WORLD_MOST];
    clv_aabb seen_box[QUERY_WORLD_MOST], seen_given[QUERY_WORLD_MOST];
    bool is_seen[QUERY_WORLD_MOST]; ///< there at the update, and not removed since
} query_world;

/// On the heap: it is large. The space is made by the def.
query_world* query_world_make( const clv_space_def* def, test_crowd crowd, uint32_t count, uint64_t seed );
void query_world_free( query_world* world );

/// Brings the list up to what an update or a refresh shows; call it with one of these.
void query_world_see( query_world* world );

/// Some objects move, some go, some come; the space is told, and not updated.
void query_world_change( query_world* world );

/// One object moves, a little or to anywhere, goes, comes or gets another margin; likewise.
void query_world_change_one( query_world* world );

void query_world_set_margins( query_world* world );
void query_world_set_filters( query_world* world );

/// One item of any kind, near the objects as a rule; `chance` odd ones too.
typedef union query_item_any
{
    clv_vec3 point;
    clv_aabb box;
    clv_sphere sphere;
    clv_neighbourhood around;
    clv_capsule capsule;
    clv_oriented_box turned;
    clv_half_spaces half_spaces;
    clv_ray ray;
    clv_box_cast box_cast;
    clv_sphere_cast sphere_cast;
    clv_capsule_cast capsule_cast;
} query_item_any;

enum
{
    QUERY_KINDS = CLV_QUERY_CAPSULE_CAST,
    QUERY_ITEM_PLANES = 6,
};

/// Planes of half-spaces are written to `planes`, QUERY_ITEM_PLANES of them.
query_item_any query_world_item( query_world* world, clv_query_kind kind, clv_plane* planes );

/// How many bytes an item of that kind has.
size_t query_item_size( clv_query_kind kind );

/// All hits by slot, by brute force; the count.
uint32_t query_world_all( const query_world* world, clv_query_kind kind, const query_item_any* item,
    const clv_filter* filter, bool as_given, clv_hit* hits );

/// The k nearest, by brute force, CLV_NO_HIT behind them.
void query_world_nearest( const query_world* world, clv_aabb box, uint32_t k, float most,
    const clv_filter* filter, bool as_given, clv_hit* hits );

/// Asks everything there is about `count` random queries of each kind, and compares.
void query_world_check( query_world* world, uint32_t count );
