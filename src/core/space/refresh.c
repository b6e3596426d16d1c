// SPDX-License-Identifier: MIT
// What queries need brought up to date without a search for pairs.
#include "space/space_internal.h"

#include "base/assertion.h"

clv_result clv_space_refresh( clv_space* space )
{
    CLV_ASSERT( space != NULL );
    if ( !SPACE_ENTER( space, .kind = SPACE_CALL_REFRESH ) )
    {
        return CLV_BUSY;
    }
    query_state* state = &space->query;
    clv_space_will_change( space, space->objects.motion_is_spent );
    clv_space_drop_motions( space );
    // Doubles: a map that tells the boxes apart makes a better tree. Without memory for one the last one
    // serves.
    if ( !space_fit( space ) )
    {
        space->in_vain_count = 0;
    }
    CLV_ASSERT( !space->objects.motion_is_spent );
    clv_query_state_renew( state );
    clv_result result = clv_query_state_prepare(
        state, &space->objects, clv_simd_queries_for( space->kernels->isa ), &space->memory, &space->tasks );
    return clv_space_leave( space,
        result == CLV_OK
            ? clv_space_succeed( space )
            : clv_space_fail( space, result, UINT32_MAX, clv_null_id(),
                  "out of memory for what queries need of %u objects", space->objects.live_count ) );
}
