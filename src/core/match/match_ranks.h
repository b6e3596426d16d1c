// SPDX-License-Identifier: MIT
// Regions by rank: on each axis the lower ends of all regions, sorted, become the whole numbers 0, 1, 2 …, no
// two alike, and an upper end the number of lower ends at or below it. So a region reaches from its rank to
// before its end, and two overlap where each begins before the other's end: no ties, no infinities, and
// exact.
#pragma once

#include "base/memory.h"
#include "base/radix_sort.h"
#include "cleave/match.h"

/// The ends of one region on one axis: begin < end.
typedef struct match_reach
{
    uint32_t begin, end;
} match_reach;

typedef struct match_world
{
    uint32_t axis_count;
    uint32_t count; ///< of regions, those of a second set behind the first
    BASE_ARRAY( match_reach )
    reaches;                     ///< by place, axis_count each: a list in order of place reads them in order
    base_u32_array order;        ///< regions by place, which is the rank on axis 0
    base_u32_array places;       ///< by region
    base_keyed_array sorts;      ///< room to rank in: two halves of a sort,
    BASE_ARRAY( uint64_t ) keys; ///< lower ends by region, then upper ends
} match_world;

static inline const match_reach* match_reach_of( const match_world* world, uint32_t at )
{
    return world->reaches.items + (size_t)at * world->axis_count;
}

/// Ranks of two sets, the second of which may be empty, in a zeroed world or one that ranked others before:
/// its room is used again. False if out of memory.
bool clv_match_rank(
    match_world* world, const clv_regions sets[2], uint32_t axis_count, base_memory* memory );
void clv_match_free( match_world* world, base_memory* memory );

/// The coordinate of a region of either set.
static inline double match_coordinate(
    const clv_regions sets[2], uint32_t region, uint32_t axis, bool is_upper )
{
    const clv_regions* set = &sets[region >= sets[0].count];
    uint32_t index = region >= sets[0].count ? region - sets[0].count : region;
    const double* corners = is_upper ? set->upper : set->lower;
    return corners[set->stride / sizeof( double ) * index + axis];
}
