// SPDX-License-Identifier: MIT
// Handles that cannot lie: who a pair of slots was when it was found, whoever lives there now.
#include "space/space_internal.h"

#include "base/assertion.h"

// The object that was in the slot at the last good update, if it lives.
static clv_id id_since( const object_store* objects, uint32_t slot )
{
    const uint8_t* renewed = objects->columns[OBJECT_RENEWED];
    clv_id id = { slot, object_generations( objects )[slot] };
    bool is_gone = ( id.generation & 1 ) == 0 || ( renewed != NULL && renewed[slot] != 0 );
    return is_gone ? clv_null_id() : id;
}

clv_result clv_space_pair_ids(
    const clv_space* space, clv_pair_view view, uint64_t first, uint64_t count, clv_id_pair* ids )
{
    CLV_ASSERT( space != NULL && ( count == 0 || ids != NULL ) );
    // By its number, before a pair is read: what a dead view points to may be gone.
    clv_pair_view own = clv_space_pairs( space );
    if ( !own.valid || view.number != own.number || first > own.count || count > own.count - first )
    {
        return CLV_BAD_ARGUMENT;
    }
    for ( uint64_t i = 0; i < count; ++i )
    {
        clv_pair pair = own.pairs[first + i];
        ids[i] = ( clv_id_pair ){ id_since( &space->objects, pair.a ), id_since( &space->objects, pair.b ) };
    }
    return CLV_OK;
}

clv_user_data_view clv_space_user_data( const clv_space* space )
{
    const uint64_t* values = space->objects.columns[OBJECT_USER_DATA];
    return ( clv_user_data_view ){ values, values != NULL ? space->objects.slot_count : 0 };
}
