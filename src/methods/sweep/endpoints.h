// SPDX-License-Identifier: MIT
// Sorted lists of the boxes' ends along an axis that survive the frame: Baraff's (1992) coherence,
// I-COLLIDE's (1995) insertion sort. A beginning that passes an ending on its way down is the only way two
// boxes can come to overlap on the axis.
#pragma once

#include "base/bits.h"
#include "base/radix_sort.h"
#include "pair/sink.h"

/// An end: `key` orders like the coordinate, `value` tells whose, with SWEEP_UPPER for the upper one. Equal
/// coordinates put lower ends first, so that touching boxes overlap.
#define SWEEP_UPPER 0x80000000u

static inline uint32_t sweep_owner( base_keyed end )
{
    return end.value & ~SWEEP_UPPER;
}

/// -0 and +0 are one place: adding +0 turns the first into the second.
static inline uint32_t sweep_key( float value )
{
    return base_float_order( value + 0.0f );
}

static inline base_keyed sweep_end_of( const clv_aabb* box, int axis, uint32_t value )
{
    const clv_vec3* corner = ( value & SWEEP_UPPER ) != 0 ? &box->upper : &box->lower;
    return ( base_keyed ){ sweep_key( ( &corner->x )[axis] ), value };
}

static inline uint64_t sweep_rank( base_keyed end )
{
    return ( (uint64_t)end.key << 32 ) | end.value;
}

/// What a sort did, and may do.
typedef struct sweep_effort
{
    uint64_t swaps_left; ///< the sort gives up when it would need more
    uint64_t test_count;
} sweep_effort;

typedef enum sweep_sort_outcome
{
    SWEEP_SORTED,
    SWEEP_GAVE_UP, ///< too many swaps; the list is a permutation of itself, pairs may be missing
    SWEEP_FAILED,  ///< the sink refused; likewise
} sweep_sort_outcome;

/// Insertion sort of an almost sorted list of ends with their new keys. Pairs that began to overlap on this
/// axis and overlap altogether go into the sink, perhaps together with pairs that overlapped before; *result
/// is the sink's answer.
sweep_sort_outcome clv_sweep_sort_ends( base_keyed* ends, uint32_t count, const clv_aabb* boxes,
    sweep_effort* effort, pair_sink* sink, clv_result* result );
