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
        base_array_extend( &c->identities, memory, slot_end ) &&
        base_array_extend( &c->stamps, memory, slot_end );
    if ( ok && space->modes.has_margins )
    {
        ok = base_array_extend( &c->givens, memory, slot_end ) &&
            base_array_extend( &c->rules, memory, slot_end ) &&
            base_array_extend( &c->motions, memory, slot_end );
    }
    if ( ok && space->modes.has_history )
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
    return space->modes.has_history ? space->columns.filters.items[slot] : clv_default_filter();
}

// A slot gets a new owner of its own: nothing of the last one shows.
static void fill_slot( clv_mpi_space* space, clv_id local, uint64_t id, const clv_aabb* box, uint32_t flags )
{
    mpi_columns* c = &space->columns;
    CLV_ASSERT( local.index < c->ids.capacity && local.index < c->identities.capacity );
    uint32_t slot = local.index;
    c->ids.items[slot] = id;
    c->locals.items[slot] = local;
    c->boxes.items[slot] = *box;
    c->flags.items[slot] = flags | SLOT_LIVE;
    c->identities.items[slot] = ( mpi_identity ){ id, space->rank, false };
    c->stamps.items[slot] = 0;
    if ( space->modes.has_margins )
    {
        c->givens.items[slot] = *box;
        c->rules.items[slot] = usual_rule( space );
        c->motions.items[slot] = ( clv_vec3 ){ 0, 0, 0 };
    }
    if ( space->modes.has_history )
    {
        CLV_ASSERT( slot < c->befores.capacity && slot < c->filters_before.capacity );
        c->befores.items[slot] = *box;
        c->filters.items[slot] = clv_default_filter();
        c->filters_before.items[slot] = clv_default_filter();
    }
    if ( !mpi_ghosts_are_anonymous( space ) || ( flags & SLOT_OWN ) != 0 )
    {
        clv_mpi_ids_put( &space->lookup.table, id, slot ); // nobody looks for a ghost in a berth
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
    bool is_own = ( flags & SLOT_OWN ) != 0;
    if ( !clv_mpi_columns_reserve( space, slot_end ) || ( is_own && !clv_mpi_lookup_update( space ) ) ||
        !clv_mpi_ids_reserve( &space->lookup.table, memory, space->lookup.table.count + count ) ||
        !base_array_renew( &space->slots.moved_ids, memory, count ) )
    {
        return clv_mpi_fail(
            space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for %u more objects", count );
    }
    clv_id* locals = space->slots.moved_ids.items;
    clv_result result = clv_space_add( space->inside, boxes, count, locals );
    if ( result != CLV_OK )
    {
        clv_error inner = clv_space_error( space->inside );
        uint64_t id = inner.position < count ? ids[inner.position] : 0;
        return clv_mpi_fail( space, result, inner.position, id, "%s", inner.text );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( is_own || !mpi_ghosts_are_anonymous( space ) )
        {
            clv_mpi_ids_fetch(
                &space->lookup.table, ids[i + PREFETCH_DISTANCE < count ? i + PREFETCH_DISTANCE : i] );
        }
        fill_slot( space, locals[i], ids[i], &boxes[i], flags );
        if ( slots != NULL )
        {
            slots[i] = locals[i].index;
        }
    }
    space->slots.end = clv_space_stats( space->inside ).slot_count;
    CLV_ASSERT( space->slots.end <= slot_end ); // which is what columns were made for
    space->slots.own_is_stale |= is_own;
    space->slots.border_is_known &= !is_own;
    space->slots.moved_count += is_own ? count : 0;
    return CLV_OK;
}

void clv_mpi_slot_fetch( const clv_mpi_space* space, uint32_t slot )
{
    const mpi_columns* c = &space->columns;
    base_prefetch( &c->boxes.items[slot] );
    base_prefetch( &c->identities.items[slot] );
}

// Once in 2^32 batches and updates the numbers begin anew, and no slot may still have one from the last time round.
uint32_t clv_mpi_next_stamp( clv_mpi_space* space )
{
    if ( space->slots.stamp == UINT32_MAX )
    {
        for ( uint64_t slot = 0; slot < space->columns.stamps.capacity; ++slot )
        {
            space->columns.stamps.items[slot] = 0;
        }
        space->slots.stamp = 0;
    }
    space->slots.stamp += 1;
    CLV_ASSERT( space->slots.stamp != 0 ); // the stamp of slots that nothing named yet
    return space->slots.stamp;
}

// Ghosts in berths have none.
static void drop_name( clv_mpi_space* space, uint32_t slot )
{
    bool is_own = ( space->columns.flags.items[slot] & SLOT_OWN ) != 0;
    if ( is_own || !mpi_ghosts_are_anonymous( space ) )
    {
        clv_mpi_ids_drop_of( &space->lookup.table, space->columns.ids.items[slot], slot );
    }
    space->slots.own_is_stale |= is_own;
    space->slots.border_is_known &= !is_own;
}

void clv_mpi_objects_drop( clv_mpi_space* space, uint32_t slot )
{
    mpi_columns* c = &space->columns;
    CLV_ASSERT( slot < space->slots.end && ( c->flags.items[slot] & SLOT_LIVE ) != 0 );
    clv_result result = clv_space_remove_one( space->inside, c->locals.items[slot] );
    CLV_ASSERT( result == CLV_OK );
    (void)result;
    drop_name( space, slot );
    c->flags.items[slot] = 0;
}

void clv_mpi_objects_drop_all( clv_mpi_space* space, const uint32_t* slots, uint64_t count )
{
    mpi_columns* c = &space->columns;
    CLV_ASSERT( count <= space->slots.moved_ids.capacity );
    for ( uint64_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( i == 0 || slots[i - 1] < slots[i] ); // removing ascending ids needs no memory
        CLV_ASSERT( slots[i] < space->slots.end && ( c->flags.items[slots[i]] & SLOT_LIVE ) != 0 );
        uint32_t slot = slots[i];
        clv_mpi_ids_fetch( &space->lookup.table,
            c->ids.items[slots[i + PREFETCH_DISTANCE < count ? i + PREFETCH_DISTANCE : i]] );
        space->slots.moved_ids.items[i] = c->locals.items[slot];
        drop_name( space, slot );
        c->flags.items[slot] = 0;
    }
    // Ascending ids need no memory.
    clv_result result = clv_space_remove( space->inside, space->slots.moved_ids.items, (uint32_t)count );
    CLV_ASSERT( result == CLV_OK );
    (void)result;
}

bool clv_mpi_objects_list_own( clv_mpi_space* space )
{
    if ( !space->slots.own_is_stale )
    {
        return true;
    }
    if ( !base_array_reserve( &space->slots.own, &space->memory, space->slots.end ) )
    {
        return false;
    }
    uint64_t count = 0, rows = 0;
    uint32_t before = 0, any;
    for ( uint32_t slot = 0; slot < space->slots.end; ++slot )
    {
        if ( slot % SLOT_GROUP == 0 && slot + SLOT_GROUP <= space->slots.end &&
            ( mpi_group_flags( space->columns.flags.items + slot, &any ) & SLOT_OWN ) != 0 )
        {
            for ( uint32_t i = 0; i < SLOT_GROUP; ++i )
            {
                space->slots.own.items[count + i] = slot + i;
            }
            count += SLOT_GROUP;
            rows += 1 & ~before;
            before = 1;
            slot += SLOT_GROUP - 1;
            continue;
        }
        uint32_t flags = space->columns.flags.items[slot], is_live = ( flags & SLOT_LIVE ) != 0;
        space->slots.own.items[count] = slot;
        count += ( flags & SLOT_OWN ) != 0;
        rows += is_live & ~before;
        before = is_live;
    }
    space->slots.own.count = count;
    space->slots.live_rows = rows;
    space->slots.own_is_stale = false;
    return true;
}

void clv_mpi_objects_compact_own( clv_mpi_space* space )
{
    uint64_t count = 0;
    for ( uint64_t i = 0; i < space->slots.own.count; ++i )
    {
        uint32_t slot = space->slots.own.items[i];
        space->slots.own.items[count] = slot;
        count += ( space->columns.flags.items[slot] & SLOT_OWN ) != 0;
    }
    space->slots.own.count = count;
    space->slots.own_is_stale = false;
}

void clv_mpi_objects_apply_margins( clv_mpi_space* space )
{
    mpi_columns* c = &space->columns;
    for ( uint64_t i = 0; space->modes.has_margins && i < space->slots.own.count; ++i )
    {
        uint32_t slot = space->slots.own.items[i];
        clv_aabb box =
            object_test_box( c->givens.items[slot], false, c->rules.items[slot], c->motions.items[slot] );
        if ( memcmp( &box, &c->boxes.items[slot], sizeof( box ) ) != 0 )
        {
            c->boxes.items[slot] = box;
            c->flags.items[slot] |= SLOT_MOVED;
            space->slots.moved_count += 1;
            space->slots.border_is_known = false;
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
    for ( uint64_t at = *next; at < space->lookup.previous_batch.count && at < *next + LOOK_AHEAD; ++at )
    {
        uint32_t slot = space->lookup.previous_batch.items[at];
        if ( slot < space->slots.end && c->ids.items[slot] == id && ( c->flags.items[slot] & SLOT_OWN ) != 0 )
        {
            *next = at + 1;
            return slot;
        }
    }
    uint32_t slot = clv_mpi_ids_find( &space->lookup.table, id );
    return slot != SLOT_NONE && ( c->flags.items[slot] & SLOT_OWN ) != 0 ? slot : SLOT_NONE;
}

// The last batch is the guess for this one, unless it was a small one between large ones.
static void turn_batches( clv_mpi_space* space )
{
    if ( space->lookup.batch.count * 2 > space->lookup.previous_batch.count )
    {
        base_u32_array other = space->lookup.previous_batch;
        space->lookup.previous_batch = space->lookup.batch;
        space->lookup.batch = other;
    }
    space->lookup.batch.count = 0;
}

// Slots of a batch into `batch`, each once.
static clv_result find_slots( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    turn_batches( space );
    if ( !base_array_renew( &space->lookup.batch, &space->memory, count ) || !clv_mpi_lookup_update( space ) )
    {
        return clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for a batch of %u", count );
    }
    uint32_t stamp = clv_mpi_next_stamp( space );
    uint64_t next = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = slot_of( space, ids[i], &next );
        if ( slot == SLOT_NONE )
        {
            return clv_mpi_fail( space, CLV_BAD_ID, i, ids[i],
                "process %d does not own object %llu (entry %u)", space->rank, (unsigned long long)ids[i],
                i );
        }
        if ( space->columns.stamps.items[slot] == stamp )
        {
            return clv_mpi_fail( space, CLV_DUPLICATE_ID, i, ids[i],
                "process %d names object %llu twice in one batch (entry %u)", space->rank,
                (unsigned long long)ids[i], i );
        }
        CLV_ASSERT( slot < space->slots.end );
        space->columns.stamps.items[slot] = stamp;
        space->lookup.batch.items[i] = slot;
    }
    space->lookup.batch.count = count;
    return CLV_OK;
}

static void take_boxes( clv_mpi_space* space, const clv_aabb* boxes, uint32_t count )
{
    mpi_columns* c = &space->columns;
    clv_aabb* to = space->modes.has_margins ? c->givens.items : c->boxes.items;
    CLV_ASSERT( space->lookup.batch.count == count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( i < space->lookup.batch.count );
        uint32_t slot = space->lookup.batch.items[i];
        to[slot] = boxes[i];
        c->flags.items[slot] |= space->modes.has_margins ? 0 : (uint32_t)SLOT_MOVED;
    }
    space->slots.moved_count += space->modes.has_margins ? 0 : count;
    space->slots.border_is_known = false;
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
            return clv_mpi_fail( space, CLV_BAD_BOX, i, ids[i],
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
    if ( !clv_mpi_lookup_update( space ) || !clv_mpi_ids_reserve( batch, &space->memory, count ) )
    {
        return clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for a batch of %u", count );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t known = clv_mpi_ids_find( &space->lookup.table, ids[i] );
        bool is_own = known != SLOT_NONE && ( space->columns.flags.items[known] & SLOT_OWN ) != 0;
        if ( is_own || clv_mpi_ids_find( batch, ids[i] ) != SLOT_NONE )
        {
            return clv_mpi_fail( space, CLV_DUPLICATE_ID, i, ids[i],
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
        uint32_t slot = clv_mpi_ids_find( &space->lookup.table, ids[i] );
        if ( slot != SLOT_NONE )
        {
            clv_mpi_objects_drop( space, slot );
        }
    }
}

static void drop_taken( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( clv_mpi_ids_find( &space->lookup.table, ids[i] ) != SLOT_NONE ); // it was just taken
        clv_mpi_objects_drop( space, clv_mpi_ids_find( &space->lookup.table, ids[i] ) );
    }
}

// The complaint that made it necessary stays the one that is told.
static void take_back_ids( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    clv_mpi_error error = space->error;
    char text[sizeof( space->error_text )];
    memcpy( text, space->error_text, sizeof( text ) );
    if ( clv_mpi_directory_remove( space, ids, count ) != CLV_LOST )
    {
        space->error = error;
        memcpy( space->error_text, text, sizeof( text ) );
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
    CLV_ASSERT( !space->lookup.is_stale && space->lookup.changes.count == 0 ); // check_new_ids needed them
    drop_ghosts_of( space, ids, count );
    clv_result mine =
        count > 0 ? clv_mpi_objects_take( space, ids, boxes, count, SLOT_OWN | SLOT_MOVED, NULL ) : CLV_OK;
    bool is_taken = mine == CLV_OK && count > 0;
    // Room for what an update would otherwise have to ask for while it cannot go back.
    mine = mine == CLV_OK && !clv_mpi_objects_list_own( space )
        ? clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for %u more objects", count )
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
        clv_mpi_objects_compact_own( space );
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
        base_array_renew( &space->slots.border, &space->memory, (uint64_t)count + 1 );
    result = result == CLV_OK && !are_all ? find_slots( space, ids, count ) : result;
    result = clv_mpi_agree( space, result );
    if ( result != CLV_OK )
    {
        return result;
    }
    if ( are_all )
    {
        clv_mpi_move_all_own( space, boxes );
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
        CLV_ASSERT( ( space->columns.flags.items[space->lookup.batch.items[i]] & SLOT_OWN ) != 0 );
        clv_mpi_objects_drop( space, space->lookup.batch.items[i] );
    }
    clv_mpi_objects_compact_own( space );
    return CLV_OK;
}

// ---- what objects carry

// Columns that somebody needs are needed by all: whoever has none yet makes them now, for what there is.
clv_result clv_mpi_objects_keep_margins( clv_mpi_space* space )
{
    if ( space->modes.has_margins )
    {
        return CLV_OK;
    }
    space->modes.has_margins = true;
    if ( !clv_mpi_columns_reserve( space, space->slots.end ) )
    {
        space->modes.has_margins = false;
        return clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for margins and motions" );
    }
    for ( uint32_t slot = 0; slot < space->slots.end; ++slot )
    {
        space->columns.givens.items[slot] = space->columns.boxes.items[slot];
        space->columns.rules.items[slot] = usual_rule( space );
        space->columns.motions.items[slot] = ( clv_vec3 ){ 0, 0, 0 };
    }
    return CLV_OK;
}

clv_result clv_mpi_objects_keep_history( clv_mpi_space* space )
{
    if ( space->modes.has_history )
    {
        return CLV_OK;
    }
    bool knows = clv_mpi_lookup_update( space ); // from now on ghosts are looked for too
    space->modes.has_history = true;
    if ( !knows || !clv_mpi_columns_reserve( space, space->slots.end ) )
    {
        space->modes.has_history = false;
        return clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for filters" );
    }
    for ( uint32_t slot = 0; slot < space->slots.end; ++slot )
    {
        space->columns.befores.items[slot] = space->columns.boxes.items[slot];
        space->columns.filters.items[slot] = clv_default_filter();
        space->columns.filters_before.items[slot] = clv_default_filter();
    }
    space->modes.must_resend = true;
    return CLV_OK;
}

static clv_result agree_to( clv_mpi_space* space, clv_result mine, clv_result ( *begin )( clv_mpi_space* ) )
{
    mpi_modes before = space->modes;
    clv_result result = clv_mpi_agree( space, mine == CLV_OK ? begin( space ) : mine );
    if ( result != CLV_OK )
    {
        space->modes = before;
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
    result = agree_to( space, result, clv_mpi_objects_keep_history );
    for ( uint32_t i = 0; result == CLV_OK && i < count; ++i )
    {
        CLV_ASSERT( i < space->lookup.batch.count );
        uint32_t slot = space->lookup.batch.items[i];
        space->columns.filters.items[slot] = filters[i];
        space->columns.flags.items[slot] |= SLOT_CHANGED;
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
    result = agree_to( space, result, clv_mpi_objects_keep_history );
    for ( uint32_t i = 0; result == CLV_OK && i < count; ++i )
    {
        CLV_ASSERT( i < space->lookup.batch.count );
        uint32_t* flags = &space->columns.flags.items[space->lookup.batch.items[i]];
        *flags = ( *flags & ~(uint32_t)SLOT_STATIC ) | SLOT_CHANGED | ( is_static[i] ? SLOT_STATIC : 0 );
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
            result = clv_mpi_fail( space, CLV_BAD_ARGUMENT, i, ids[i],
                "the margin of object %llu on process %d (entry %u) is negative or not finite",
                (unsigned long long)ids[i], space->rank, i );
        }
    }
    result = agree_to( space, result, clv_mpi_objects_keep_margins );
    for ( uint32_t i = 0; result == CLV_OK && i < count; ++i )
    {
        CLV_ASSERT( i < space->lookup.batch.count );
        space->columns.rules.items[space->lookup.batch.items[i]] = rules[i];
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
            result = clv_mpi_fail( space, CLV_BAD_ARGUMENT, i, ids[i],
                "the motion of object %llu on process %d (entry %u) is not finite",
                (unsigned long long)ids[i], space->rank, i );
        }
    }
    result = agree_to( space, result, clv_mpi_objects_keep_margins );
    for ( uint32_t i = 0; result == CLV_OK && i < count; ++i )
    {
        CLV_ASSERT( i < space->lookup.batch.count );
        space->columns.motions.items[space->lookup.batch.items[i]] = motions[i];
    }
    return result;
}

// ---- doors: floating-point modes of the caller's change nothing, and come back as they were

// What changed is seen by the next update; until then there is nothing to ask about.
static clv_result close_door( clv_mpi_space* space, base_fp_mode mode, clv_result result )
{
    space->pairs.objects_changed |= result == CLV_OK;
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
    return (uint32_t)space->slots.own.count;
}

clv_result clv_mpi_space_object_at( const clv_mpi_space* space, uint32_t number, uint64_t* id, clv_aabb* box )
{
    if ( number >= space->slots.own.count )
    {
        return CLV_BAD_ARGUMENT;
    }
    CLV_ASSERT( space->slots.own.items[number] < space->slots.end );
    uint32_t slot = space->slots.own.items[number];
    *id = space->columns.ids.items[slot];
    *box = space->modes.has_margins ? space->columns.givens.items[slot] : space->columns.boxes.items[slot];
    return CLV_OK;
}
