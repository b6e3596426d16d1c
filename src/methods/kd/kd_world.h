// SPDX-License-Identifier: MIT
// What the tree takes for the world: the region of its root, beyond which lie the far outliers, and the size
// of a usual object. Both stay as they are until the crowd has changed, so that nothing depends on one
// frame's chance.
#pragma once

#include "kd/kd_tree.h"

typedef struct kd_world
{
    float lower[3], upper[3];
    float side;              ///< of a usual box: the median of the finite ones' mean sides, or their mean
    bool is_endless;         ///< all finite boxes belong inside: there is no crowd to be far from
    uint32_t measured_count; ///< objects when it was measured; 0: never
} kd_world;

/// Is it time to measure? When the number of objects has doubled or halved since, or `far_count` finite boxes
/// lie outside, more than can be called outliers.
bool clv_kd_world_is_stale( const kd_world* world, uint32_t live_count, uint32_t far_count );

kd_world clv_kd_world_measure( const clv_method_input* input );

/// As the papers have it: no end to the root's region, and the mean side of all finite boxes.
kd_world clv_kd_world_measure_published( const clv_method_input* input );
