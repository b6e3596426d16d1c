// SPDX-License-Identifier: MIT
// Objects that this process knows, own ones and ghosts, by their slot in the space inside: columns, lists of
// lists of slots, and their boxes.
#include "base/assertion.h"
#include "base/bits.h"
#include "mpi_state.h"
#include "object/test_box.h"

#include <stddef.h>

// ---- columns

typedef enum column_use
{
    USED_ALWAYS,
    USED_WITH_MARGINS,
    USED_WITH_HISTORY
} column_use;

/// A column is a BASE_ARRAY of its own type; what is done to all of them goes by this table.
typedef struct column
{
    size_t offset; ///< in mpi_columns
    size_t item_size;
    column_use use;
} column;

typedef BASE_ARRAY( char ) column_array;

#define COLUMN( name, use )                                                                                  \
    {                                                                                                        \
        offsetof( mpi_columns, name ), sizeof( *( (mpi_columns*)NULL )->name.items ), use                    \
    }

static const column s_columns[] = {
    COLUMN( ids, USED_ALWAYS ),
    COLUMN( locals, USED_ALWAYS ),
    COLUMN( boxes, USED_ALWAYS ),
    COLUMN( flags, USED_ALWAYS ),
    COLUMN( identities, USED_ALWAYS ),
    COLUMN( stamps, USED_ALWAYS ),
    COLUMN( givens, USED_WITH_MARGINS ),
    COLUMN( rules, USED_WITH_MARGINS ),
    COLUMN( motions, USED_WITH_MARGINS ),
    COLUMN( befores, USED_WITH_HISTORY ),
    COLUMN( filters, USED_WITH_HISTORY ),
    COLUMN( filters_before, USED_WITH_HISTORY ),
};

enum
{
    COLUMN_COUNT = sizeof( s_columns ) / sizeof( s_columns[0] )
};

static void* column_of( mpi_columns* columns, size_t i )
{
    return (char*)columns + s_columns[i].offset; // an array begins with its items
}

static uint64_t* capacity_of( mpi_columns* columns, size_t i )
{
    return (uint64_t*)(void*)( (char*)column_of( columns, i ) + offsetof( column_array, capacity ) );
}

static bool is_used( const clv_mpi_space* space, size_t i )
{
    return s_columns[i].use == USED_ALWAYS ||
        ( s_columns[i].use == USED_WITH_MARGINS && space->modes.has_margins ) ||
        ( s_columns[i].use == USED_WITH_HISTORY && space->modes.has_history );
}

// Slots below `slot_end` fit every column in use. False: out of memory.
static bool reserve_columns( clv_mpi_space* space, uint32_t slot_end )
{
    bool ok = true;
    for ( size_t i = 0; ok && i < COLUMN_COUNT; ++i )
    {
        uint64_t* capacity = capacity_of( &space->columns, i );
        ok = !is_used( space, i ) ||
            base_array_grow( &space->memory, column_of( &space->columns, i ), capacity, *capacity, slot_end,
                s_columns[i].item_size, true );
    }
    return ok;
}

void clv_mpi_columns_free( clv_mpi_space* space )
{
    for ( size_t i = 0; i < COLUMN_COUNT; ++i )
    {
        clv_base_memory_give( &space->memory, base_array_items( column_of( &space->columns, i ) ),
            *capacity_of( &space->columns, i ), s_columns[i].item_size );
    }
    space->columns = ( mpi_columns ){ 0 };
}

// ---- slots

static void begin_margins( clv_mpi_space* space, uint32_t slot )
{
    mpi_columns* c = &space->columns;
    const clv_space_def* def = &space->def.space;
    c->givens.items[slot] = c->boxes.items[slot];
    c->rules.items[slot] = ( clv_margin_rule ){ def->margin, def->margin_by_size, def->margin_by_speed };
    c->motions.items[slot] = ( clv_vec3 ){ 0, 0, 0 };
}

static void begin_history( clv_mpi_space* space, uint32_t slot )
{
    mpi_columns* c = &space->columns;
    CLV_ASSERT( slot < c->befores.capacity && slot < c->filters_before.capacity );
    c->befores.items[slot] = c->boxes.items[slot];
    c->filters.items[slot] = clv_default_filter();
    c->filters_before.items[slot] = clv_default_filter();
}

// A slot gets a new object: nothing of the last one is left.
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
    space->slots.ids_are_slots &= id == slot;
    if ( space->modes.has_margins )
    {
        begin_margins( space, slot );
    }
    if ( space->modes.has_history )
    {
        begin_history( space, slot );
    }
    if ( !mpi_ghosts_are_anonymous( space ) || ( flags & SLOT_OWN ) != 0 )
    {
        clv_mpi_ids_put( &space->lookup.table, id, slot ); // anonymous ghosts are not looked up
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
    if ( !reserve_columns( space, slot_end ) || ( is_own && !clv_mpi_lookup_update( space ) ) ||
        !clv_mpi_ids_reserve( &space->lookup.table, memory, space->lookup.table.count + count ) ||
        !base_array_renew( &space->slots.moved_ids, memory, count ) )
    {
        return clv_mpi_reserved( space, false, "more objects" );
    }
    clv_id* locals = space->slots.moved_ids.items;
    clv_result result = clv_space_add( space->inside, boxes, count, locals );
    if ( result != CLV_OK )
    {
        clv_error inner = clv_space_error( space->inside );
        uint64_t id = inner.position < count ? ids[inner.position] : 0;
        return clv_mpi_fail_at( space, result, inner.position, id, "%s", inner.text );
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
    space->slots.has_news = true;
    return CLV_OK;
}

void clv_mpi_slot_fetch( const clv_mpi_space* space, uint32_t slot )
{
    const mpi_columns* c = &space->columns;
    base_prefetch( &c->boxes.items[slot] );
    base_prefetch( &c->identities.items[slot] );
}

// After 2^32 batches and updates stamps begin anew: no slot may keep an old one.
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
    CLV_ASSERT( space->slots.stamp != 0 ); // the stamp of slots that no batch named yet
    return space->slots.stamp;
}

static void drop_id( clv_mpi_space* space, uint32_t slot )
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
    drop_id( space, slot );
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
        drop_id( space, slot );
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
        uint32_t is_own = ( space->columns.flags.items[slot] & SLOT_OWN ) != 0;
        space->slots.own.items[count] = slot;
        count += is_own;
        rows += is_own & ~before;
        before = is_own;
    }
    space->slots.own.count = count;
    space->slots.own_rows = rows;
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

void clv_mpi_boxes_fetch( clv_mpi_space* space )
{
    mpi_columns* c = &space->columns;
    for ( uint64_t i = 0; space->slots.boxes_are_lent && i < space->slots.own.count; ++i )
    {
        uint32_t slot = space->slots.own.items[i];
        if ( ( c->flags.items[slot] & ( SLOT_OWN | SLOT_MOVED ) ) == SLOT_OWN )
        {
            clv_result result =
                clv_space_get_box( space->inside, c->locals.items[slot], &c->boxes.items[slot] );
            CLV_ASSERT( result == CLV_OK );
            (void)result;
        }
    }
    space->slots.boxes_are_lent = false;
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

// ---- what the space inside is told

// Moves what moved_ids and moved_boxes list; and those of a list of slots that are flagged SLOT_MOVED, which
// the two have room for.
static clv_result move_listed( clv_mpi_space* space, uint64_t count )
{
    CLV_ASSERT( count <= space->slots.moved_ids.capacity && count <= space->slots.moved_boxes.capacity );
    return clv_space_move(
        space->inside, space->slots.moved_ids.items, space->slots.moved_boxes.items, (uint32_t)count );
}

clv_result clv_mpi_move_flagged( clv_mpi_space* space, const base_u32_array* slots )
{
    const mpi_columns* c = &space->columns;
    uint64_t count = 0;
    CLV_ASSERT( slots->count <= space->slots.moved_ids.capacity );
    for ( uint64_t i = 0; i < slots->count; ++i )
    {
        CLV_ASSERT( slots->items[i] < space->slots.end );
        uint32_t slot = slots->items[i];
        space->slots.moved_ids.items[count] = c->locals.items[slot];
        space->slots.moved_boxes.items[count] = c->boxes.items[slot];
        count += ( c->flags.items[slot] & SLOT_MOVED ) != 0;
    }
    return move_listed( space, count );
}

clv_result clv_mpi_objects_set_inner(
    const clv_mpi_space* space, clv_space* inside, clv_id id, uint32_t slot )
{
    bool is_static = ( space->columns.flags.items[slot] & SLOT_STATIC ) != 0;
    clv_result result = clv_space_set_filter( inside, &id, &space->columns.filters.items[slot], 1 );
    return result == CLV_OK ? clv_space_set_static( inside, &id, &is_static, 1 ) : result;
}

// ---- modes

// A mode that one process needs is needed by all: columns are made for the slots there are.
static clv_result keep(
    clv_mpi_space* space, bool* mode, void ( *begin )( clv_mpi_space*, uint32_t slot ), const char* what )
{
    clv_mpi_boxes_fetch( space );
    *mode = true;
    if ( !reserve_columns( space, space->slots.end ) )
    {
        *mode = false;
        return clv_mpi_reserved( space, false, what );
    }
    for ( uint32_t slot = 0; slot < space->slots.end; ++slot )
    {
        begin( space, slot );
    }
    return CLV_OK;
}

clv_result clv_mpi_objects_keep_margins( clv_mpi_space* space )
{
    bool* mode = &space->modes.has_margins;
    return *mode ? CLV_OK : keep( space, mode, begin_margins, "margins and motions" );
}

clv_result clv_mpi_objects_keep_history( clv_mpi_space* space )
{
    bool* mode = &space->modes.has_history;
    if ( *mode )
    {
        return CLV_OK;
    }
    // From now on ghosts are looked up too.
    clv_result result = clv_mpi_reserved( space, clv_mpi_lookup_update( space ), "filters" );
    result = result == CLV_OK ? keep( space, mode, begin_history, "filters" ) : result;
    space->modes.must_resend |= result == CLV_OK;
    return result;
}

// ---- packing

// Where many objects left, as after the first cut, own ones lie scattered among other slots, and all that
// goes by rows is slow. Then they get the first slots of a new space inside; anonymous ghosts come again with
// the records of this update. It costs a few updates and is seldom needed.

// Own slots ascend, so that an item never takes the place of one that is still to be moved.
static void take_packed( clv_mpi_space* space )
{
    mpi_slots* s = &space->slots;
    for ( size_t k = 0; k < COLUMN_COUNT; ++k )
    {
        size_t size = s_columns[k].item_size;
        char* items = base_array_items( column_of( &space->columns, k ) );
        for ( uint32_t i = 0; is_used( space, k ) && i < s->own.count; ++i )
        {
            CLV_ASSERT( s->own.items[i] >= i && s->own.items[i] < s->end );
            memmove( items + i * size, items + s->own.items[i] * size, size );
        }
    }
    memcpy( space->columns.locals.items, s->moved_ids.items, s->own.count * sizeof( clv_id ) );
    for ( uint32_t slot = (uint32_t)s->own.count; slot < s->end; ++slot )
    {
        space->columns.flags.items[slot] = 0;
    }
    for ( uint32_t i = 0; i < s->own.count; ++i )
    {
        CLV_ASSERT( s->moved_ids.items[i].index == i ); // a new space gives out its slots in order
        s->own.items[i] = i;
    }
    s->end = (uint32_t)s->own.count;
    s->own_rows = 1;
    s->moved_count = 0; // the new space inside has all boxes
    s->border_is_known = s->ids_are_slots = false;
    space->lookup.batch.count = space->lookup.previous_batch.count = 0;
    space->lookup.changes.count = 0;
    space->lookup.is_stale = true;
    CLV_VALIDATE( clv_mpi_objects_check( space ) == NULL );
}

void clv_mpi_pack_slots( clv_mpi_space* space )
{
    enum
    {
        FEW = 64,      ///< objects that are not worth it
        LONG_ROW = 12, ///< objects in a row that are long enough
        PATIENCE = 32  ///< updates from one time to the next, unless space was cut
    };
    mpi_slots* s = &space->slots;
    uint64_t now = space->stats.update_count;
    bool may_be_due = s->packed_at == 0 || now >= s->packed_at + PATIENCE || space->stats_before.was_cut;
    if ( !may_be_due || !mpi_ghosts_are_anonymous( space ) || s->own.count < FEW ||
        s->own_rows <= s->own.count / LONG_ROW )
    {
        return;
    }
    clv_mpi_boxes_fetch( space );
    clv_space* other = NULL;
    bool ok = base_array_renew( &s->moved_ids, &space->memory, s->own.count ) &&
        base_array_renew( &s->moved_boxes, &space->memory, s->own.count ) &&
        clv_mpi_open_inside( space, &other ) == CLV_OK;
    for ( uint64_t i = 0; ok && i < s->own.count; ++i )
    {
        s->moved_boxes.items[i] = space->columns.boxes.items[s->own.items[i]];
    }
    if ( ok &&
        clv_space_add( other, s->moved_boxes.items, (uint32_t)s->own.count, s->moved_ids.items ) == CLV_OK )
    {
        clv_space* before = space->inside;
        space->inside = other;
        other = before;
        take_packed( space );
        s->packed_at = now + 1;
    }
    clv_space_destroy( other ); // without memory the old slots stay, only slower
}
