// SPDX-License-Identifier: MIT
// Box2D's broad phase, a tree of grown boxes, for bench/worlds.c and world_queries.c. Built where Debian's
// libbox2d-dev is; linked into these alone.
#pragma once

#include "cleave/world_query.h"

#ifdef __cplusplus
extern "C"
{
#endif

    typedef struct box2d_tree box2d_tree;

    box2d_tree* box2d_tree_open( const clv_aabb2* boxes, uint32_t count );
    void box2d_tree_close( box2d_tree* self );

    /// All boxes moved, then as Box2D does it: pairs of grown boxes, of those alone that left their grown
    /// box. Their number.
    uint64_t box2d_tree_step( box2d_tree* self, const clv_aabb2* boxes, uint32_t count );

    /// All boxes moved, then what a flat space gives: every touching pair, by one query per box. Their
    /// number.
    uint64_t box2d_tree_list( box2d_tree* self, const clv_aabb2* boxes, uint32_t count );

    /// The first box that each ray meets, up to t = 1, to hits (UINT32_MAX: none).
    void box2d_tree_cast( box2d_tree* self, const clv_ray2* rays, uint32_t count, uint32_t* hits );

    /// How many boxes touch these, all together.
    uint64_t box2d_tree_overlap( box2d_tree* self, const clv_aabb2* boxes, uint32_t count );

#ifdef __cplusplus
}
#endif
