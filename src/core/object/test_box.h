// SPDX-License-Identifier: MIT
// From the box as given to the box that is tested: grown by a margin, swept along a motion. cleave/types.h has the definition.
#pragma once

#include "cleave/types.h"

/// Metres around a box that follow from the rule, the box as given and its motion. Finite.
float clv_object_margin( clv_margin_rule rule, clv_aabb given, clv_vec3 motion );

/// The hull of the box and of the box moved, faces rounded outwards. A motion of 0 on an axis leaves that axis bit by bit.
clv_aabb clv_object_sweep( clv_aabb box, clv_vec3 motion );

static inline clv_aabb object_test_box( clv_aabb given, clv_margin_rule rule, clv_vec3 motion )
{
    return clv_object_sweep( clv_aabb_grow( given, clv_object_margin( rule, given, motion ) ), motion );
}
