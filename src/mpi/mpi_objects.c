// SPDX-License-Identifier: MIT
// Objects that this process knows, by slot, and the calls that change those it owns.
#include "base/assertion.h"
#include "base/bits.h"
#include "base/finite.h"
#include "base/fp_mode.h"
#include "mpi_state.h"
#include "object/test_box.h"

#include <math.h>

// ---- columns

bool clv_mpi_columns_reserve( clv_mpi_space* space, uint32_t slot_end )
{
    mpi_columns* c = &space->columns;
    base_memory* memory = &space->memory;
    bool ok = base_array_extend( &c->ids, memory, slot_end ) &&
        base_array_extend( &c->locals, memory, slot_end ) &&
        base_array_extend( &c->boxes, memory, slot_end ) &&
        base_array_extend( &c->flags, memory, slot_end ) &&
        base_array_extend( &c->names, memory, slot_end ) && base_array_extend( &c->stamps, memory, slot_end );
    if ( ok && space->grows )
    {
        ok = base_array_extend( &c->givens, memory, slot_end ) &&
            base_array_extend( &c->rules, memory, slot_end ) &&
            base_array_extend( &c->motions, memory, slot_end );
    }
    if ( ok && space->remembers )
    {
        ok = base_array_extend( &c->befores, memory, slot_end ) &&
            base_array_extend( &c->filters, memory, slot_end ) &&
            base_array_extend( &c->filters_before, memory, slot_end );
    }
    return ok;
}

static clv_margin_rule usual_rule( const clv_mpi_space* space )
{
    const clv_space_def* def = &space->def.space;
    return ( clv_margin_rule ){ def->margin, def->margin_by_size, def->margin_by_speed };
}

clv_filter clv_mpi_filter_of( const clv_mpi_space* space, uint32_t slot )
{
    return space->remembers ? space->columns.filters.items[slot] : clv_default_filter();
}

// A slot gets a new owner of its own: nothing of the last one shows.
static void fill_slot( clv_mpi_space* space, clv_id local, uint64_t id, const clv_aabb* box, uint32_t flags )
{
    mpi_columns* c = &space->columns;
    CLV_ASSERT( local.index < c->ids.capacity && local.index < c->names.capacity );
    uint32_t slot = local.index;
    c->ids.items[slot] = id;
    c->locals.items[slot] = local;
    c->boxes.items[slot] = *box;
    c->flags.items[slot] = flags | MPI_LIVE;
    c->names.items[slot] = ( mpi_name ){ id, space->rank, false };
    c->stamps.items[slot] = 0;
    if ( space->grows )
    {
        c->givens.items[slot] = *box;
        c->rules.items[slot] = usual_rule( space );
        c->motions.items[slot] = ( clv_vec3 ){ 0, 0, 0 };
    }
    if ( space->remembers )
    {
        CLV_ASSERT( slot < c->befores.capacity && slot < c->filters_before.capacity );
        c->befores.items[slot] = *box;
        c->filters.items[slot] = clv_default_filter();
        c->filters_before.items[slot] = clv_default_filter();
    }
    if ( !mpi_has_berths( space ) || ( flags & MPI_OWN ) != 0 )
    {
        clv_mpi_ids_put( &space->ids, id, slot ); // nobody looks for a ghost in a berth
    }
}

static uint32_t slot_end_with( const clv_mpi_space* space, uint32_t count )
{
    uint64_t end = (uint64_t)clv_space_stats( space->inside ).slot_count + count;
    return end < CLV_MAX_OBJECTS ? (uint32_t)end : CLV_MAX_OBJECTS;
}

clv_result clv_mpi_objects_take( clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes,
    uint32_t count, uint32_t flags, uint32_t* slots )
{
    uint32_t slot_end = slot_end_with( space, count );
    base_memory* memory = &space->memory;
    bool is_own = ( flags & MPI_OWN ) != 0;
    if ( !clv_mpi_columns_reserve( space, slot_end ) || ( is_own && !clv_mpi_names_know( space ) ) ||
        !clv_mpi_ids_reserve( &space->ids, memory, space->ids.count + count ) ||
        !base_array_renew( &space->moved_ids, memory, count ) )
    {
        return clv_mpi_complain(
            space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for %u more objects", count );
    }
    clv_id* locals = space->moved_ids.items;
    clv_result result = clv_space_add( space->inside, boxes, count, locals );
    if ( result != CLV_OK )
    {
        clv_error inner = clv_space_error( space->inside );
        uint64_t id = inner.position < count ? ids[inner.position] : 0;
        return clv_mpi_complain( space, result, inner.position, id, "%s", inner.text );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( is_own || !mpi_has_berths( space ) )
        {
            clv_mpi_ids_fetch( &space->ids, ids[i + MPI_AHEAD < count ? i + MPI_AHEAD : i] );
        }
        fill_slot( space, locals[i], ids[i], &boxes[i], flags );
        if ( slots != NULL )
        {
            slots[i] = locals[i].index;
        }
    }
    space->slot_end = clv_space_stats( space->inside ).slot_count;
    CLV_ASSERT( space->slot_end <= slot_end ); // which is what columns were made for
    space->own_is_stale |= is_own;
    space->outer_is_known &= !is_own;
    space->moved_count += is_own ? count : 0;
    return CLV_OK;
}

void clv_mpi_slot_fetch( const clv_mpi_space* space, uint32_t slot )
{
    const mpi_columns* c = &space->columns;
    base_prefetch( &c->boxes.items[slot] );
    base_prefetch( &c->names.items[slot] );
}

// Once in 2^32 batches and updates the numbers begin anew, and no slot may still have one from the last time round.
uint32_t clv_mpi_next_stamp( clv_mpi_space* space )
{
    if ( space->stamp == UINT32_MAX )
    {
        for ( uint64_t slot = 0; slot < space->columns.stamps.capacity; ++slot )
        {
            space->columns.stamps.items[slot] = 0;
        }
        space->stamp = 0;
    }
    space->stamp += 1;
    CLV_ASSERT( space->stamp != 0 ); // the stamp of slots that nothing named yet
    return space->stamp;
}

// Ghosts in berths have none.
static void drop_name( clv_mpi_space* space, uint32_t slot )
{
    bool is_own = ( space->columns.flags.items[slot] & MPI_OWN ) != 0;
    if ( is_own || !mpi_has_berths( space ) )
    {
        clv_mpi_ids_drop_of( &space->ids, space->columns.ids.items[slot], slot );
    }
    space->own_is_stale |= is_own;
    space->outer_is_known &= !is_own;
}

void clv_mpi_objects_drop( clv_mpi_space* space, uint32_t slot )
{
    mpi_columns* c = &space->columns;
    CLV_ASSERT( slot < space->slot_end && ( c->flags.items[slot] & MPI_LIVE ) != 0 );
    clv_result result = clv_space_remove_one( space->inside, c->locals.items[slot] );
    CLV_ASSERT( result == CLV_OK );
    (void)result;
    drop_name( space, slot );
    c->flags.items[slot] = 0;
}

void clv_mpi_objects_drop_all( clv_mpi_space* space, const uint32_t* slots, uint64_t count )
{
    mpi_columns* c = &space->columns;
    CLV_ASSERT( count <= space->moved_ids.capacity );
    for ( uint64_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( i == 0 || slots[i - 1] < slots[i] ); // removing ascending ids needs no memory
        CLV_ASSERT( slots[i] < space->slot_end && ( c->flags.items[slots[i]] & MPI_LIVE ) != 0 );
        uint32_t slot = slots[i];
        clv_mpi_ids_fetch( &space->ids, c->ids.items[slots[i + MPI_AHEAD < count ? i + MPI_AHEAD : i]] );
        space->moved_ids.items[i] = c->locals.items[slot];
        drop_name( space, slot );
        c->flags.items[slot] = 0;
    }
    // Ascending ids need no memory.
    clv_result result = clv_space_remove( space->inside, space->moved_ids.items, (uint32_t)count );
    CLV_ASSERT( result == CLV_OK );
    (void)result;
}

bool clv_mpi_objects_list( clv_mpi_space* space )
{
    if ( !space->own_is_stale )
    {
        return true;
    }
    if ( !base_array_reserve( &space->own, &space->memory, space->slot_end ) )
    {
        return false;
    }
    uint64_t count = 0, rows = 0;
    uint32_t before = 0, any;
    for ( uint32_t slot = 0; slot < space->slot_end; ++slot )
    {
        if ( slot % MPI_BLOCK == 0 && slot + MPI_BLOCK <= space->slot_end &&
            ( mpi_flags_of( space->columns.flags.items + slot, &any ) & MPI_OWN ) != 0 )
        {
            for ( uint32_t i = 0; i < MPI_BLOCK; ++i )
            {
                space->own.items[count + i] = slot + i;
            }
            count += MPI_BLOCK;
            rows += 1 & ~before;
            before = 1;
            slot += MPI_BLOCK - 1;
            continue;
        }
        uint32_t flags = space->columns.flags.items[slot], is_live = ( flags & MPI_LIVE ) != 0;
        space->own.items[count] = slot;
        count += ( flags & MPI_OWN ) != 0;
        rows += is_live & ~before;
        before = is_live;
    }
    space->own.count = count;
    space->live_rows = rows;
    space->own_is_stale = false;
    return true;
}

void clv_mpi_objects_compact( clv_mpi_space* space )
{
    uint64_t count = 0;
    for ( uint64_t i = 0; i < space->own.count; ++i )
    {
        uint32_t slot = space->own.items[i];
        space->own.items[count] = slot;
        count += ( space->columns.flags.items[slot] & MPI_OWN ) != 0;
    }
    space->own.count = count;
    space->own_is_stale = false;
}

void clv_mpi_objects_grow( clv_mpi_space* space )
{
    mpi_columns* c = &space->columns;
    for ( uint64_t i = 0; space->grows && i < space->own.count; ++i )
    {
        uint32_t slot = space->own.items[i];
        clv_aabb box =
            object_test_box( c->givens.items[slot], false, c->rules.items[slot], c->motions.items[slot] );
        if ( memcmp( &box, &c->boxes.items[slot], sizeof( box ) ) != 0 )
        {
            c->boxes.items[slot] = box;
            c->flags.items[slot] |= MPI_MOVED;
            space->moved_count += 1;
            space->outer_is_known = false;
        }
    }
}

// ---- batches

// The slot of an own object. Batches tend to name the same objects in the same order as the last one, but for a few that came or
// went: the guess goes on behind the last object that was found by it.
static uint32_t slot_of( const clv_mpi_space* space, uint64_t id, uint64_t* next )
{
    enum
    {
        LOOK_AHEAD = 3
    };
    const mpi_columns* c = &space->columns;
    for ( uint64_t at = *next; at < space->guess.count && at < *next + LOOK_AHEAD; ++at )
    {
        uint32_t slot = space->guess.items[at];
        if ( slot < space->slot_end && c->ids.items[slot] == id && ( c->flags.items[slot] & MPI_OWN ) != 0 )
        {
            *next = at + 1;
            return slot;
        }
    }
    uint32_t slot = clv_mpi_ids_find( &space->ids, id );
    return slot != MPI_NONE && ( c->flags.items[slot] & MPI_OWN ) != 0 ? slot : MPI_NONE;
}

// The last batch is the guess for this one, unless it was a small one between large ones.
static void turn_batches( clv_mpi_space* space )
{
    if ( space->batch.count * 2 > space->guess.count )
    {
        base_u32_array other = space->guess;
        space->guess = space->batch;
        space->batch = other;
    }
    space->batch.count = 0;
}

// Slots of a batch into `batch`, each once.
static clv_result find_slots( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    turn_batches( space );
    if ( !base_array_renew( &space->batch, &space->memory, count ) || !clv_mpi_names_know( space ) )
    {
        return clv_mpi_complain(
            space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for a batch of %u", count );
    }
    uint32_t stamp = clv_mpi_next_stamp( space );
    uint64_t next = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = slot_of( space, ids[i], &next );
        if ( slot == MPI_NONE )
        {
            return clv_mpi_complain( space, CLV_BAD_ID, i, ids[i],
                "process %d does not own object %llu (entry %u)", space->rank, (unsigned long long)ids[i],
                i );
        }
        if ( space->columns.stamps.items[slot] == stamp )
        {
            return clv_mpi_complain( space, CLV_DUPLICATE_ID, i, ids[i],
                "process %d names object %llu twice in one batch (entry %u)", space->rank,
                (unsigned long long)ids[i], i );
        }
        CLV_ASSERT( slot < space->slot_end );
        space->columns.stamps.items[slot] = stamp;
        space->batch.items[i] = slot;
    }
    space->batch.count = count;
    return CLV_OK;
}

static void take_boxes( clv_mpi_space* space, const clv_aabb* boxes, uint32_t count )
{
    mpi_columns* c = &space->columns;
    clv_aabb* to = space->grows ? c->givens.items : c->boxes.items;
    CLV_ASSERT( space->batch.count == count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( i < space->batch.count );
        uint32_t slot = space->batch.items[i];
        to[slot] = boxes[i];
        c->flags.items[slot] |= space->grows ? 0 : (uint32_t)MPI_MOVED;
    }
    space->moved_count += space->grows ? 0 : count;
    space->outer_is_known = false;
}

static clv_result check_boxes(
    clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes, uint32_t count )
{
    bool are_good = true;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const clv_aabb* box = &boxes[i];
        are_good &= ( box->lower.x <= box->upper.x ) & ( box->lower.y <= box->upper.y ) &
            ( box->lower.z <= box->upper.z );
    }
    for ( uint32_t i = 0; !are_good && i < count; ++i )
    {
        if ( !clv_aabb_is_valid( boxes[i] ) )
        {
            return clv_mpi_complain( space, CLV_BAD_BOX, i, ids[i],
                "the box of object %llu on process %d (entry %u) has a NaN, or its lower corner above its upper",
                (unsigned long long)ids[i], space->rank, i );
        }
    }
    return CLV_OK;
}

// ---- adding

// In one batch, and among the objects this process knows. Ids that other processes have are the directory's matter.
static clv_result check_new_ids( clv_mpi_space* space, const uint64_t* ids, uint32_t count, mpi_ids* batch )
{
    if ( !clv_mpi_names_know( space ) || !clv_mpi_ids_reserve( batch, &space->memory, count ) )
    {
        return clv_mpi_complain(
            space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for a batch of %u", count );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t known = clv_mpi_ids_find( &space->ids, ids[i] );
        bool is_own = known != MPI_NONE && ( space->columns.flags.items[known] & MPI_OWN ) != 0;
        if ( is_own || clv_mpi_ids_find( batch, ids[i] ) != MPI_NONE )
        {
            return clv_mpi_complain( space, CLV_DUPLICATE_ID, i, ids[i],
                "process %d adds object %llu (entry %u), which is there already", space->rank,
                (unsigned long long)ids[i], i );
        }
        clv_mpi_ids_put( batch, ids[i], i );
    }
    return CLV_OK;
}

// A ghost under an id that is added anew belongs to an object that its owner has removed since.
static void drop_ghosts_of( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = clv_mpi_ids_find( &space->ids, ids[i] );
        if ( slot != MPI_NONE )
        {
            clv_mpi_objects_drop( space, slot );
        }
    }
}

static void drop_taken( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( clv_mpi_ids_find( &space->ids, ids[i] ) != MPI_NONE ); // it was just taken
        clv_mpi_objects_drop( space, clv_mpi_ids_find( &space->ids, ids[i] ) );
    }
}

// The complaint that made it necessary stays the one that is told.
static void take_back_ids( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    clv_mpi_error error = space->error;
    char text[sizeof( space->text )];
    memcpy( text, space->text, sizeof( text ) );
    if ( clv_mpi_directory_remove( space, ids, count ) != CLV_LOST )
    {
        space->error = error;
        memcpy( space->text, text, sizeof( text ) );
    }
}

static clv_result add_now( clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes, uint32_t count )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    mpi_ids batch = { 0 };
    clv_result result = check_boxes( space, ids, boxes, count );
    result = result == CLV_OK ? check_new_ids( space, ids, count, &batch ) : result;
    clv_mpi_ids_free( &batch, &space->memory );
    result = clv_mpi_agree( space, result );
    result = result == CLV_OK ? clv_mpi_directory_add( space, ids, count ) : result;
    if ( result != CLV_OK )
    {
        return result;
    }
    CLV_ASSERT( !space->names_are_lost && space->renamed.count == 0 ); // check_new_ids needed them
    drop_ghosts_of( space, ids, count );
    clv_result mine =
        count > 0 ? clv_mpi_objects_take( space, ids, boxes, count, MPI_OWN | MPI_MOVED, NULL ) : CLV_OK;
    bool is_taken = mine == CLV_OK && count > 0;
    // Room for what an update would otherwise have to ask for while it cannot go back.
    mine = mine == CLV_OK && !clv_mpi_objects_list( space )
        ? clv_mpi_complain( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for %u more objects", count )
        : mine;
    result = clv_mpi_agree( space, mine );
    if ( result != CLV_OK )
    {
        if ( is_taken )
        {
            drop_taken( space, ids, count );
            space->questions.must_refresh = true;
        }
        take_back_ids( space, ids, count );
        clv_mpi_objects_compact( space );
    }
    return result;
}

static clv_result move_now( clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes, uint32_t count )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    clv_result result = check_boxes( space, ids, boxes, count );
    bool are_all = result == CLV_OK && clv_mpi_are_all_own( space, ids, count ) &&
        base_array_renew( &space->outer, &space->memory, (uint64_t)count + 1 );
    result = result == CLV_OK && !are_all ? find_slots( space, ids, count ) : result;
    result = clv_mpi_agree( space, result );
    if ( result != CLV_OK )
    {
        return result;
    }
    if ( are_all )
    {
        clv_mpi_take_all_own( space, boxes );
    }
    else
    {
        take_boxes( space, boxes, count );
    }
    return CLV_OK;
}

static clv_result remove_now( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    clv_result result = clv_mpi_agree( space, find_slots( space, ids, count ) );
    result = result == CLV_OK ? clv_mpi_directory_remove( space, ids, count ) : result;
    if ( result != CLV_OK )
    {
        return result;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( ( space->columns.flags.items[space->batch.items[i]] & MPI_OWN ) != 0 );
        clv_mpi_objects_drop( space, space->batch.items[i] );
    }
    clv_mpi_objects_compact( space );
    return CLV_OK;
}

// ---- what objects carry

// Columns that somebody needs are needed by all: whoever has none yet makes them now, for what there is.
clv_result clv_mpi_objects_begin_growing( clv_mpi_space* space )
{
    if ( space->grows )
    {
        return CLV_OK;
    }
    space->grows = true;
    if ( !clv_mpi_columns_reserve( space, space->slot_end ) )
    {
        space->grows = false;
        return clv_mpi_complain(
            space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for margins and motions" );
    }
    for ( uint32_t slot = 0; slot < space->slot_end; ++slot )
    {
        space->columns.givens.items[slot] = space->columns.boxes.items[slot];
        space->columns.rules.items[slot] = usual_rule( space );
        space->columns.motions.items[slot] = ( clv_vec3 ){ 0, 0, 0 };
    }
    return CLV_OK;
}

clv_result clv_mpi_objects_remember( clv_mpi_space* space )
{
    if ( space->remembers )
    {
        return CLV_OK;
    }
    bool knows = clv_mpi_names_know( space ); // from now on ghosts are looked for too
    space->remembers = true;
    if ( !knows || !clv_mpi_columns_reserve( space, space->slot_end ) )
    {
        space->remembers = false;
        return clv_mpi_complain( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for filters" );
    }
    for ( uint32_t slot = 0; slot < space->slot_end; ++slot )
    {
        space->columns.befores.items[slot] = space->columns.boxes.items[slot];
        space->columns.filters.items[slot] = clv_default_filter();
        space->columns.filters_before.items[slot] = clv_default_filter();
    }
    space->must_tell_all = true;
    return CLV_OK;
}

static clv_result agree_to( clv_mpi_space* space, clv_result mine, clv_result ( *begin )( clv_mpi_space* ) )
{
    mpi_habits before = mpi_habits_of( space );
    clv_result result = clv_mpi_agree( space, mine == CLV_OK ? begin( space ) : mine );
    if ( result != CLV_OK )
    {
        mpi_habits_restore( space, before );
    }
    return result;
}

static clv_result set_filter_now(
    clv_mpi_space* space, const uint64_t* ids, const clv_filter* filters, uint32_t count )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    clv_result result = find_slots( space, ids, count );
    result = agree_to( space, result, clv_mpi_objects_remember );
    for ( uint32_t i = 0; result == CLV_OK && i < count; ++i )
    {
        CLV_ASSERT( i < space->batch.count );
        uint32_t slot = space->batch.items[i];
        space->columns.filters.items[slot] = filters[i];
        space->columns.flags.items[slot] |= MPI_CHANGED;
    }
    return result;
}

static clv_result set_static_now(
    clv_mpi_space* space, const uint64_t* ids, const bool* is_static, uint32_t count )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    clv_result result = find_slots( space, ids, count );
    result = agree_to( space, result, clv_mpi_objects_remember );
    for ( uint32_t i = 0; result == CLV_OK && i < count; ++i )
    {
        CLV_ASSERT( i < space->batch.count );
        uint32_t* flags = &space->columns.flags.items[space->batch.items[i]];
        *flags = ( *flags & ~(uint32_t)MPI_STATIC ) | MPI_CHANGED | ( is_static[i] ? MPI_STATIC : 0 );
    }
    return result;
}

static bool is_margin( float value )
{
    return isfinite( value ) && value >= 0;
}

static clv_result set_margin_rule_now(
    clv_mpi_space* space, const uint64_t* ids, const clv_margin_rule* rules, uint32_t count )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    clv_result result = find_slots( space, ids, count );
    for ( uint32_t i = 0; result == CLV_OK && i < count; ++i )
    {
        if ( !is_margin( rules[i].fixed ) || !is_margin( rules[i].by_size ) ||
            !is_margin( rules[i].by_speed ) )
        {
            result = clv_mpi_complain( space, CLV_BAD_ARGUMENT, i, ids[i],
                "the margin of object %llu on process %d (entry %u) is negative or not finite",
                (unsigned long long)ids[i], space->rank, i );
        }
    }
    result = agree_to( space, result, clv_mpi_objects_begin_growing );
    for ( uint32_t i = 0; result == CLV_OK && i < count; ++i )
    {
        CLV_ASSERT( i < space->batch.count );
        space->columns.rules.items[space->batch.items[i]] = rules[i];
    }
    return result;
}

static clv_result set_motion_now(
    clv_mpi_space* space, const uint64_t* ids, const clv_vec3* motions, uint32_t count )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    clv_result result = find_slots( space, ids, count );
    for ( uint32_t i = 0; result == CLV_OK && i < count; ++i )
    {
        if ( !base_is_finite_point( motions[i] ) )
        {
            result = clv_mpi_complain( space, CLV_BAD_ARGUMENT, i, ids[i],
                "the motion of object %llu on process %d (entry %u) is not finite",
                (unsigned long long)ids[i], space->rank, i );
        }
    }
    result = agree_to( space, result, clv_mpi_objects_begin_growing );
    for ( uint32_t i = 0; result == CLV_OK && i < count; ++i )
    {
        CLV_ASSERT( i < space->batch.count );
        space->columns.motions.items[space->batch.items[i]] = motions[i];
    }
    return result;
}

// ---- doors: floating-point modes of the caller's change nothing, and come back as they were

// What changed is seen by the next update; until then there is nothing to ask about.
static clv_result close_door( clv_mpi_space* space, base_fp_mode mode, clv_result result )
{
    space->has_changed |= result == CLV_OK;
    base_fp_leave( mode );
    return result;
}

clv_result clv_mpi_space_add(
    clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes, uint32_t count )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = add_now( space, ids, boxes, count );
    return close_door( space, mode, result );
}

clv_result clv_mpi_space_move(
    clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes, uint32_t count )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = move_now( space, ids, boxes, count );
    return close_door( space, mode, result );
}

clv_result clv_mpi_space_remove( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = remove_now( space, ids, count );
    return close_door( space, mode, result );
}

clv_result clv_mpi_space_set_filter(
    clv_mpi_space* space, const uint64_t* ids, const clv_filter* filters, uint32_t count )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = set_filter_now( space, ids, filters, count );
    return close_door( space, mode, result );
}

clv_result clv_mpi_space_set_static(
    clv_mpi_space* space, const uint64_t* ids, const bool* is_static, uint32_t count )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = set_static_now( space, ids, is_static, count );
    return close_door( space, mode, result );
}

clv_result clv_mpi_space_set_margin_rule(
    clv_mpi_space* space, const uint64_t* ids, const clv_margin_rule* rules, uint32_t count )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = set_margin_rule_now( space, ids, rules, count );
    return close_door( space, mode, result );
}

clv_result clv_mpi_space_set_motion(
    clv_mpi_space* space, const uint64_t* ids, const clv_vec3* motions, uint32_t count )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = set_motion_now( space, ids, motions, count );
    return close_door( space, mode, result );
}

uint32_t clv_mpi_space_object_count( const clv_mpi_space* space )
{
    return (uint32_t)space->own.count;
}

clv_result clv_mpi_space_object_at( const clv_mpi_space* space, uint32_t number, uint64_t* id, clv_aabb* box )
{
    if ( number >= space->own.count )
    {
        return CLV_BAD_ARGUMENT;
    }
    CLV_ASSERT( space->own.items[number] < space->slot_end );
    uint32_t slot = space->own.items[number];
    *id = space->columns.ids.items[slot];
    *box = space->grows ? space->columns.givens.items[slot] : space->columns.boxes.items[slot];
    return CLV_OK;
}
