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
    return space->renamed.count + more <= space->own.count / 4 + 64;
}

void clv_mpi_names_forget( clv_mpi_space* space )
{
    space->renamed.count = 0;
    space->names_are_lost = true;
}

static void write_down( clv_mpi_space* space, const uint32_t* slots, uint64_t count, bool have_come )
{
    CLV_ASSERT( space->renamed.count + count <= space->renamed.capacity );
    for ( uint64_t i = 0; i < count; ++i )
    {
        space->renamed.items[space->renamed.count++] =
            ( mpi_renamed ){ space->columns.ids.items[slots[i]], slots[i], have_come };
    }
}

void clv_mpi_names_note( clv_mpi_space* space, const uint32_t* left, uint64_t left_count,
    const uint32_t* came, uint64_t came_count )
{
    uint64_t more = left_count + came_count;
    if ( space->names_are_lost || more == 0 )
    {
        return;
    }
    if ( !is_worth_it( space, more ) ||
        !base_array_reserve( &space->renamed, &space->memory, space->renamed.count + more ) )
    {
        clv_mpi_names_forget( space );
        return;
    }
    write_down( space, left, left_count, false );
    write_down( space, came, came_count, true );
}

static void take_notes( clv_mpi_space* space )
{
    const mpi_renamed* notes = space->renamed.items;
    uint64_t count = space->renamed.count;
    for ( uint64_t i = 0; i < count; ++i )
    {
        clv_mpi_ids_fetch( &space->ids, notes[i + MPI_AHEAD < count ? i + MPI_AHEAD : i].id );
        if ( notes[i].has_come )
        {
            clv_mpi_ids_put( &space->ids, notes[i].id, notes[i].slot );
        }
        else
        {
            clv_mpi_ids_drop_of( &space->ids, notes[i].id, notes[i].slot );
        }
    }
    space->renamed.count = 0;
}

static void name_all( clv_mpi_space* space )
{
    const uint64_t* ids = space->columns.ids.items;
    clv_mpi_ids_clear( &space->ids );
    for ( uint32_t slot = 0; slot < space->slot_end; ++slot )
    {
        uint32_t ahead = slot + MPI_AHEAD < space->slot_end ? slot + MPI_AHEAD : slot;
        clv_mpi_ids_fetch( &space->ids, ids[ahead] );
        if ( ( space->columns.flags.items[slot] & MPI_OWN ) != 0 )
        {
            clv_mpi_ids_put( &space->ids, ids[slot], slot );
        }
    }
    space->names_are_lost = false;
}

bool clv_mpi_names_know( clv_mpi_space* space )
{
    if ( !space->names_are_lost && space->renamed.count == 0 )
    {
        return true;
    }
    uint64_t most = space->ids.count + space->renamed.count;
    most = most > space->own.count ? most : space->own.count;
    if ( !clv_mpi_ids_reserve( &space->ids, &space->memory, most ) )
    {
        return false;
    }
    if ( space->names_are_lost )
    {
        name_all( space );
    }
    else
    {
        take_notes( space );
    }
    CLV_ASSERT( !space->names_are_lost && space->renamed.count == 0 );
    CLV_VALIDATE( clv_mpi_names_check( space ) == NULL );
    return true;
}
