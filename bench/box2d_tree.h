// SPDX-License-Identifier: MIT
// Box2D's broad phase, a tree of grown boxes, for bench/worlds.c. Built where Debian's libbox2d-dev is; linked into that program alone.
#pragma once

#include "cleave/world.h"

#ifdef __cplusplus
extern "C"
{
#endif

    typedef struct box2d_tree box2d_tree;

    box2d_tree* box2d_tree_open( const clv_aabb2* boxes, uint32_t count );
    void box2d_tree_close( box2d_tree* self );

    /// All boxes moved, then as Box2D does it: pairs of grown boxes, of those alone that left their grown box. Their number.
    uint64_t box2d_tree_step( box2d_tree* self, const clv_aabb2* boxes, uint32_t count );

    /// All boxes moved, then what a flat space gives: every touching pair, by one query per box. Their number.
    uint64_t box2d_tree_list( box2d_tree* self, const clv_aabb2* boxes, uint32_t count );

#ifdef __cplusplus
}
#endif
