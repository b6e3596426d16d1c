// SPDX-License-Identifier: MIT
// Which of the pairs of boxes are false: bodies, or tighter volumes around them, that do not touch.
#pragma once

#include "cleave/types.h"
#include "cleave/volume.h"
#include "lab/view/view_input.h"

/// Bits of a pair whose boxes touch. A pair without one is true.
enum
{
    VIEW_DOPS_APART = 1,    ///< the 18-DOPs around the bodies do not touch
    VIEW_SPHERES_APART = 2, ///< nor the spheres around their middles
    VIEW_BODIES_APART = 4,  ///< nor the bodies themselves; set where one of the others is
};

/// A body as the narrow phase takes it.
typedef struct view_body
{
    clv_shape shape;
    clv_transform at;
    clv_dop18 dop;
    clv_sphere sphere;
} view_body;

typedef struct view_hull
{
    clv_hull* hull;
    clv_vec3 half;
} view_hull;

/// Zero-initialised is closed.
typedef struct view_volumes
{
    view_body* bodies;
    uint32_t count;
    view_hull* hulls; ///< of bodies that are no boxes, one for all of the same sides
    uint32_t hull_count;
    uint8_t* bits; ///< of the pairs of view_volumes_find
    uint64_t bit_capacity;
} view_volumes;

/// Room for `count` bodies. False if out of memory; then nothing is kept.
bool view_volumes_open( view_volumes* volumes, uint32_t count );
void view_volumes_close( view_volumes* volumes );

/// A body of a frame. CLV_BAD_ARGUMENT for sides or a place that no body can have, CLV_OUT_OF_MEMORY.
clv_result view_volumes_place(
    view_volumes* volumes, view_shape shape, uint32_t index, const float half_sides[3], clv_transform at );

/// Bits of each pair; they live until the next call. NULL if out of memory.
const uint8_t* view_volumes_find( view_volumes* volumes, const clv_pair* pairs, uint64_t count );
