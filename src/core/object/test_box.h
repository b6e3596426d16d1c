// SPDX-License-Identifier: MIT
// From the box as given to the box that is tested: grown by a margin, swept along a motion. cleave/types.h
// has the definition.
#pragma once

#include "base/bits.h"
#include "cleave/world.h"

/// May it be a margin, or a part of one?
static inline bool object_is_margin( float value )
{
    return value >= 0 && base_is_finite( (double)value );
}

/// The longest side that has a length; of a flat box, on two axes.
double clv_object_size( const clv_aabb* box, bool is_flat );
double clv_object_size64( const clv_aabb64* box );

/// Metres around a box that follow from the rule, the size of the box as given and its motion. Finite.
float clv_object_margin( clv_margin_rule rule, double size, clv_vec3 motion );

/// The hull of the box and of the box moved, faces rounded outwards. A motion of 0 on an axis leaves that
/// axis bit by bit.
clv_aabb clv_object_sweep( clv_aabb box, clv_vec3 motion );
clv_aabb64 clv_object_sweep64( clv_aabb64 box, clv_vec3 motion );

static inline clv_aabb object_test_box( clv_aabb given, bool is_flat, clv_margin_rule rule, clv_vec3 motion )
{
    float margin = clv_object_margin( rule, clv_object_size( &given, is_flat ), motion );
    return clv_object_sweep( clv_aabb_grow( given, margin ), motion );
}

static inline clv_aabb64 object_test_box64( clv_aabb64 given, clv_margin_rule rule, clv_vec3 motion )
{
    double margin = (double)clv_object_margin( rule, clv_object_size64( &given ), motion );
    return clv_object_sweep64( clv_aabb64_grow( given, margin ), motion );
}
