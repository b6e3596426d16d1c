// SPDX-License-Identifier: MIT
#include "simd/box_lanes.h"

#include "base/assertion.h"

#include <math.h>

enum
{
    LANE_ROWS = 7
};

// Whole steps of the widest kernel, and one more: a kernel may look one step past the last entry.
static uint64_t padded( uint64_t count )
{
    return ( count + KERNEL_LANES - 1 ) / KERNEL_LANES * KERNEL_LANES + KERNEL_LANES;
}

bool clv_simd_box_lanes_reserve( simd_box_lanes* lanes, base_memory* memory, uint32_t count )
{
    if ( padded( count ) <= lanes->capacity )
    {
        return true;
    }
    uint64_t wanted = padded( (uint64_t)count + count / 2 );
    float* block = clv_base_memory_take( memory, wanted, LANE_ROWS * sizeof( float ) );
    if ( block == NULL )
    {
        wanted = padded( count );
        block = clv_base_memory_take( memory, wanted, LANE_ROWS * sizeof( float ) );
    }
    if ( block == NULL )
    {
        return false;
    }
    clv_simd_box_lanes_release( lanes, memory );
    lanes->block = block;
    lanes->capacity = wanted;
    for ( int axis = 0; axis < 3; ++axis )
    {
        lanes->boxes.lower[axis] = block + wanted * (uint64_t)axis;
        lanes->boxes.upper[axis] = block + wanted * (uint64_t)( 3 + axis );
    }
    lanes->boxes.slots = (uint32_t*)( block + wanted * 6 );
    return true;
}

void clv_simd_box_lanes_release( simd_box_lanes* lanes, base_memory* memory )
{
    clv_base_memory_give( memory, lanes->block, lanes->capacity, LANE_ROWS * sizeof( float ) );
    *lanes = ( simd_box_lanes ){ 0 };
}

void clv_simd_box_lanes_finish( simd_box_lanes* lanes, uint32_t count )
{
    uint64_t end = padded( count );
    CLV_ASSERT( end <= lanes->capacity );
    lanes->boxes.count = count;
    for ( int axis = 0; axis < 3; ++axis )
    {
        for ( uint64_t i = count; i < end; ++i )
        {
            lanes->boxes.lower[axis][i] = NAN;
            lanes->boxes.upper[axis][i] = NAN;
        }
    }
    for ( uint64_t i = count; i < end; ++i )
    {
        lanes->boxes.slots[i] = 0;
    }
}
