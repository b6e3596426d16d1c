// SPDX-License-Identifier: MIT
// The reference: plain loops.
#include "simd/kernels.h"

#include "simd/cells.h"
#include "simd/query_lanes.h"

#include "simd/kernel_plain.h"

static bool are_good( const clv_aabb* boxes, uint32_t count )
{
    bool good = true;
    for ( uint32_t i = 0; i < count; ++i )
    {
        good &= clv_aabb_is_valid( boxes[i] );
    }
    return good;
}

static bool is_near( const float* face, const float* rest, float margin )
{
    bool near = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        near &= rest[axis] - margin <= face[axis] && face[axis] <= rest[axis] + margin;
    }
    return near;
}

static uint64_t find_strays( const clv_aabb* boxes, const simd_rest_box* rests, uint32_t count )
{
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const simd_rest_box* rest = &rests[i];
        bool rests_here = is_near( &boxes[i].lower.x, rest->lower, rest->margin ) &&
            is_near( &boxes[i].upper.x, rest->upper, rest->margin );
        bits |= (uint64_t)!rests_here << i;
    }
    return bits;
}

static uint64_t find_touching( const clv_aabb* boxes, const clv_pair* pairs, uint32_t count )
{
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        bits |= (uint64_t)clv_aabb_overlap( boxes[pairs[i].a], boxes[pairs[i].b] ) << i;
    }
    return bits;
}

const simd_kernels clv_simd_kernels_scalar = { CLV_ISA_SCALAR, test_block, are_good, find_strays,
    find_touching, &clv_simd_cells_scalar, &clv_simd_queries_scalar };
