// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/geom.h"

// Rotations, and places in space.

/// A rotation as a quaternion; w is the real part. Calls that take one bring it to length 1 first, so a
/// little drift does no harm; the zero quaternion counts as no rotation.
typedef struct clv_quat
{
    float x, y, z, w;
} clv_quat;

/// Where a body stands: its own coordinates are turned, then moved. Sizes belong to shapes, not to
/// transforms.
typedef struct clv_transform
{
    clv_vec3 position;
    clv_quat rotation;
} clv_transform;

static inline clv_transform clv_identity_transform( void )
{
    clv_transform transform = { { 0.0f, 0.0f, 0.0f }, { 0.0f, 0.0f, 0.0f, 1.0f } };
    return transform;
}

/// Moved, not turned.
static inline clv_transform clv_transform_at( float x, float y, float z )
{
    clv_transform transform = { { x, y, z }, { 0.0f, 0.0f, 0.0f, 1.0f } };
    return transform;
}
