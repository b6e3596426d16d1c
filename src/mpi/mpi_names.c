// SPDX-License-Identifier: MIT
// Which slot an id has. Where ghosts have berths only own objects are looked for, and callers who hand over all of them at once never
// look: so who left and who came is written down, and brought into the table of ids when somebody asks. Who asks after every
// update pays for what changed since; who never does, for nothing but the note.
#include "base/assertion.h"
#include "mpi_check.h"
#include "mpi_state.h"

// Notes that are worth more than the table are thrown away: it is made anew then.
static bool is_worth_it( const clv_mpi_space* space, uint64_t more )
{
    return space->lookup.changes.count + more <= space->slots.own.count / 4 + 64;
}

void clv_mpi_lookup_invalidate( clv_mpi_space* space )
{
    space->lookup.changes.count = 0;
    space->lookup.is_stale = true;
}

static void write_down( clv_mpi_space* space, const uint32_t* slots, uint64_t count, bool have_come )
{
    CLV_ASSERT( space->lookup.changes.count + count <= space->lookup.changes.capacity );
    for ( uint64_t i = 0; i < count; ++i )
    {
        space->lookup.changes.items[space->lookup.changes.count++] =
            ( mpi_id_change ){ space->columns.ids.items[slots[i]], slots[i], have_come };
    }
}

void clv_mpi_lookup_log( clv_mpi_space* space, const uint32_t* left, uint64_t left_count,
    const uint32_t* came, uint64_t came_count )
{
    uint64_t more = left_count + came_count;
    if ( space->lookup.is_stale || more == 0 )
    {
        return;
    }
    if ( !is_worth_it( space, more ) ||
        !base_array_reserve( &space->lookup.changes, &space->memory, space->lookup.changes.count + more ) )
    {
        clv_mpi_lookup_invalidate( space );
        return;
    }
    write_down( space, left, left_count, false );
    write_down( space, came, came_count, true );
}

static void take_notes( clv_mpi_space* space )
{
    const mpi_id_change* notes = space->lookup.changes.items;
    uint64_t count = space->lookup.changes.count;
    for ( uint64_t i = 0; i < count; ++i )
    {
        clv_mpi_ids_fetch(
            &space->lookup.table, notes[i + PREFETCH_DISTANCE < count ? i + PREFETCH_DISTANCE : i].id );
        if ( notes[i].is_added )
        {
            clv_mpi_ids_put( &space->lookup.table, notes[i].id, notes[i].slot );
        }
        else
        {
            clv_mpi_ids_drop_of( &space->lookup.table, notes[i].id, notes[i].slot );
        }
    }
    space->lookup.changes.count = 0;
}

static void name_all( clv_mpi_space* space )
{
    const uint64_t* ids = space->columns.ids.items;
    clv_mpi_ids_clear( &space->lookup.table );
    for ( uint32_t slot = 0; slot < space->slots.end; ++slot )
    {
        uint32_t ahead = slot + PREFETCH_DISTANCE < space->slots.end ? slot + PREFETCH_DISTANCE : slot;
        clv_mpi_ids_fetch( &space->lookup.table, ids[ahead] );
        if ( ( space->columns.flags.items[slot] & SLOT_OWN ) != 0 )
        {
            clv_mpi_ids_put( &space->lookup.table, ids[slot], slot );
        }
    }
    space->lookup.is_stale = false;
}

bool clv_mpi_lookup_update( clv_mpi_space* space )
{
    if ( !space->lookup.is_stale && space->lookup.changes.count == 0 )
    {
        return true;
    }
    uint64_t most = space->lookup.table.count + space->lookup.changes.count;
    most = most > space->slots.own.count ? most : space->slots.own.count;
    if ( !clv_mpi_ids_reserve( &space->lookup.table, &space->memory, most ) )
    {
        return false;
    }
    if ( space->lookup.is_stale )
    {
        name_all( space );
    }
    else
    {
        take_notes( space );
    }
    CLV_ASSERT( !space->lookup.is_stale && space->lookup.changes.count == 0 );
    CLV_VALIDATE( clv_mpi_lookup_check( space ) == NULL );
    return true;
}
