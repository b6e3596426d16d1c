// SPDX-License-Identifier: MIT
// How two boxes lie to each other, and the axis along which they overlap least.
#pragma once

#include "narrow/box_manifold.h"

/// How the second box lies in the frame of the first.
typedef struct narrow_relation
{
    float rotation[3][3]; ///< rotation[i][j] = a_i . b_j
    float offset[3];      ///< centre of the second
    float half_a[3], half_b[3];
} narrow_relation;

typedef enum narrow_axis_kind
{
    NARROW_FACE_A,
    NARROW_FACE_B,
    NARROW_EDGES,
} narrow_axis_kind;

typedef struct narrow_axis
{
    narrow_axis_kind kind;
    int i, j; ///< axis of a, axis of b; for a face only its own counts
    float separation;
    float normal[3]; ///< in a's frame, from a to b; for NARROW_EDGES only
} narrow_axis;

static inline float narrow_abs( float x )
{
    return fabsf( x );
}

static inline float narrow_dot( const float a[3], const float b[3] )
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// How the boxes of each pair lie to each other, and the axis of least penetration. Bit l: pair l has one; no
/// axis separates its boxes by more than the margin.
uint32_t clv_narrow_find_axes(
    const narrow_pairs* pairs, narrow_relation r[MATH_LANES], narrow_axis best[MATH_LANES] );
