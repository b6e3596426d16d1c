// SPDX-License-Identifier: MIT
// Where two oriented boxes touch, or a box and a plane: up to four points with a common normal.
#pragma once

#include <stdint.h>

#include "cleave/geom.h"
#include "math/lanes.h"

/// Most points of a manifold. A clipped face has up to eight; the four that span it carry any load the eight
/// could.
#define NARROW_MANIFOLD_POINTS 4

typedef struct narrow_box
{
    clv_vec3 center;
    clv_vec3 half;    ///< half the sides, along the box's own axes; each >= 0
    float axes[3][3]; ///< axes[j] is the box's axis j as a unit vector in the world
} narrow_box;

typedef struct narrow_point
{
    clv_vec3 offset;  ///< from the first box's centre, in world axes; midway between the two surfaces
    float separation; ///< along the normal; negative where the boxes penetrate
    uint32_t feature; ///< the same for the same pair of features in the next frame, to carry impulses over
} narrow_point;

typedef struct narrow_manifold
{
    clv_vec3 normal; ///< unit, from the first body to the second
    uint32_t count;  ///< 0: farther apart than the margin
    narrow_point points[NARROW_MANIFOLD_POINTS];
} narrow_manifold;

/// Pairs a[l], b[l] that are looked at side by side, and how far apart they may be. All lanes must name
/// boxes.
typedef struct narrow_pairs
{
    const narrow_box* a[MATH_LANES];
    const narrow_box* b[MATH_LANES];
    float margin[MATH_LANES];
} narrow_pairs;

/// How pairs move meanwhile: b against a, in world axes.
typedef struct narrow_ways
{
    float x[MATH_LANES], y[MATH_LANES], z[MATH_LANES];
    float slack[MATH_LANES]; ///< how far apart they may still be then
} narrow_ways;

/// Bit l: no axis of a face separates pair l by more than its margin; or, if `ways` is not NULL, by more than
/// the slack and what they close in on each other along that axis. Cheap, and nearly all pairs that do not
/// touch fail it.
uint32_t clv_narrow_near_pairs( const narrow_pairs* pairs, const narrow_ways* ways );

/// For the first `count` lanes the points of a and b that are at most their margin apart along the axis of
/// least penetration (15 candidates). Face axes win over edge axes, and a's over b's, unless clearly worse: a
/// box at rest keeps its features. Bit l: manifolds[l] has points.
uint32_t clv_narrow_box_boxes(
    const narrow_pairs* pairs, uint32_t count, narrow_manifold manifolds[MATH_LANES] );

/// The same for a box and the solid half-space dot( normal, x ) <= offset; the manifold's normal points from
/// the box into the solid, that is -normal. Returns the count.
uint32_t clv_narrow_box_plane(
    const narrow_box* box, clv_vec3 normal, float offset, float margin, narrow_manifold* manifold );
