// SPDX-License-Identifier: MIT
// Margins on both sides. Every object has a reference box and a margin e of its own, and rests while each
// face of its box stays within e of the reference. Then its box contains its core (the reference shrunk by e)
// and lies in its fat box (grown by e). So two objects whose fat boxes are apart cannot touch, and two whose
// cores overlap must: only what lies between needs a test.
//
// All of this holds in float as computed: the faces of fat and core are the very numbers that the test for
// rest compares with.
#pragma once

#include "cleave/geom.h"
#include "simd/kernels.h"

/// How two objects at rest stand to each other.
typedef enum rest_class
{
    REST_APART,    ///< they cannot touch
    REST_MARGINAL, ///< they may
    REST_SURE,     ///< they do
} rest_class;

/// Fat box and core. A core may be inside out; the rule holds all the same.
typedef struct rest_zone
{
    clv_aabb fat, core;
} rest_zone;

static inline rest_zone rest_zone_of( const simd_rest_box* box )
{
    float e = box->margin;
    rest_zone zone = {
        { { box->lower[0] - e, box->lower[1] - e, box->lower[2] - e },
            { box->upper[0] + e, box->upper[1] + e, box->upper[2] + e } },
        { { box->lower[0] + e, box->lower[1] + e, box->lower[2] + e },
            { box->upper[0] - e, box->upper[1] - e, box->upper[2] - e } },
    };
    return zone;
}

static inline rest_class rest_classify( const rest_zone* a, const rest_zone* b )
{
    if ( !clv_aabb_overlap( a->fat, b->fat ) )
    {
        return REST_APART;
    }
    return clv_aabb_overlap( a->core, b->core ) ? REST_SURE : REST_MARGINAL;
}

/// Furthest that a face moved from one box to the other; infinite where a face became infinite or finite.
float clv_rest_shift( const clv_aabb* from, const clv_aabb* to );

/// The margin for an object that moves at `speed`, in shifts per update. Two objects of the same speed get
/// different ones if their salts differ, so that what sets out together is not refitted together.
float clv_rest_margin( const clv_aabb* box, float speed, uint32_t salt );

/// The margin as a part of the box's size.
float clv_rest_margin_part( const clv_aabb* box, float margin );

/// Would testing so many marginal pairs in every update cost more than searching?
static inline bool rest_is_too_marginal( uint32_t object_count, uint64_t sure_count, uint64_t marginal_count )
{
    return marginal_count > object_count / 8 + ( sure_count + marginal_count ) / 4;
}

static inline simd_rest_box rest_box_make( const clv_aabb* box, float margin )
{
    simd_rest_box rest = {
        { box->lower.x, box->lower.y, box->lower.z },
        margin,
        { box->upper.x, box->upper.y, box->upper.z },
        margin,
    };
    return rest;
}

static inline clv_aabb rest_box_reference( const simd_rest_box* rest )
{
    clv_aabb box = { { rest->lower[0], rest->lower[1], rest->lower[2] },
        { rest->upper[0], rest->upper[1], rest->upper[2] } };
    return box;
}
