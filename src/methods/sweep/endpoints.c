// SPDX-License-Identifier: MIT
#include "sweep/endpoints.h"

// Moves an upper end down: boxes it passes can only end to overlap.
static uint32_t sink_upper( base_keyed* ends, uint32_t at )
{
    base_keyed end = ends[at];
    uint64_t rank = sweep_rank( end );
    for ( ; at > 0 && sweep_rank( ends[at - 1] ) > rank; --at )
    {
        ends[at] = ends[at - 1];
    }
    ends[at] = end;
    return at;
}

// Moves a lower end down; every upper end it passes may belong to a new pair.
static uint32_t sink_lower( base_keyed* ends, uint32_t at, const clv_aabb* boxes, sweep_effort* effort,
    pair_sink* sink, clv_result* result )
{
    base_keyed end = ends[at];
    uint64_t rank = sweep_rank( end );
    clv_aabb box = boxes[sweep_owner( end )];
    for ( ; at > 0 && sweep_rank( ends[at - 1] ) > rank; --at )
    {
        base_keyed passed = ends[at - 1];
        ends[at] = passed;
        if ( ( passed.value & SWEEP_UPPER ) != 0 )
        {
            effort->test_count += 1;
            if ( clv_aabb_overlap( box, boxes[sweep_owner( passed )] ) && *result == CLV_OK )
            {
                *result = clv_pair_sink_put( sink, end.value, sweep_owner( passed ) );
            }
        }
    }
    ends[at] = end;
    return at;
}

sweep_sort_outcome clv_sweep_sort_ends( base_keyed* ends, uint32_t count, const clv_aabb* boxes,
    sweep_effort* effort, pair_sink* sink, clv_result* result )
{
    *result = CLV_OK;
    for ( uint32_t i = 1; i < count; ++i )
    {
        if ( sweep_rank( ends[i - 1] ) <= sweep_rank( ends[i] ) )
        {
            continue;
        }
        uint32_t place = ( ends[i].value & SWEEP_UPPER ) != 0
            ? sink_upper( ends, i )
            : sink_lower( ends, i, boxes, effort, sink, result );
        uint64_t swaps = i - place;
        if ( *result != CLV_OK )
        {
            return SWEEP_FAILED;
        }
        if ( swaps > effort->swaps_left )
        {
            return SWEEP_GAVE_UP;
        }
        effort->swaps_left -= swaps;
    }
    return SWEEP_SORTED;
}
