// SPDX-License-Identifier: MIT
// What callers change: objects added, removed and moved, and what they carry.
#include "base/assertion.h"
#include "base/finite.h"
#include "base/fp_mode.h"
#include "mpi_state.h"

#include <stddef.h>

// ---- batches

// The slot of an own object. Batches tend to name the same objects in the same order as the previous one, but
// for a few that came or went: the search goes on in it behind the last object that was found there.
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

// The last batch is the previous one now, unless it was a small one between large ones.
static void swap_batches( clv_mpi_space* space )
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
    swap_batches( space );
    if ( !base_array_renew( &space->lookup.batch, &space->memory, count ) || !clv_mpi_lookup_update( space ) )
    {
        return clv_mpi_reserved( space, false, "a batch" );
    }
    uint32_t stamp = clv_mpi_next_stamp( space );
    uint64_t next = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = slot_of( space, ids[i], &next );
        if ( slot == SLOT_NONE )
        {
            return clv_mpi_fail_at( space, CLV_BAD_ID, i, ids[i],
                "process %d does not own object %llu (entry %u)", space->rank, (unsigned long long)ids[i],
                i );
        }
        if ( space->columns.stamps.items[slot] == stamp )
        {
            return clv_mpi_fail_at( space, CLV_DUPLICATE_ID, i, ids[i],
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
            return clv_mpi_fail_at( space, CLV_BAD_BOX, i, ids[i],
                "the box of object %llu on process %d (entry %u) has a NaN, or its lower corner above its upper",
                (unsigned long long)ids[i], space->rank, i );
        }
    }
    return CLV_OK;
}

// ---- adding

// In one batch, and among the objects this process knows. The directory knows the ids of other processes.
static clv_result check_new_ids( clv_mpi_space* space, const uint64_t* ids, uint32_t count, mpi_ids* batch )
{
    if ( !clv_mpi_lookup_update( space ) || !clv_mpi_ids_reserve( batch, &space->memory, count ) )
    {
        return clv_mpi_reserved( space, false, "a batch" );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t known = clv_mpi_ids_find( &space->lookup.table, ids[i] );
        bool is_own = known != SLOT_NONE && ( space->columns.flags.items[known] & SLOT_OWN ) != 0;
        if ( is_own || clv_mpi_ids_find( batch, ids[i] ) != SLOT_NONE )
        {
            return clv_mpi_fail_at( space, CLV_DUPLICATE_ID, i, ids[i],
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

// The error that made it necessary stays the one that is reported.
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
    clv_result mine = count > 0 ? clv_mpi_objects_take( space, ids, boxes, count, SLOT_OWN, NULL ) : CLV_OK;
    bool is_taken = mine == CLV_OK && count > 0;
    // Room for the list now: an update could not go back for want of it.
    mine =
        mine == CLV_OK ? clv_mpi_reserved( space, clv_mpi_objects_list_own( space ), "more objects" ) : mine;
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

// ---- moving and removing

// Most callers hand over all own objects in one call in every frame, in the order of clv_mpi_space_object_at:
// comparing the ids tells. Their boxes are taken a run at a time, which is in the cache while it is looked at
// and while the space inside takes it. Those that do not lie inside the region are listed, so that only these
// are looked at for other processes; the space inside alone keeps the others.

static bool are_all_own( const clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    const mpi_slots* s = &space->slots;
    if ( s->own_is_stale || count != s->own.count )
    {
        return false;
    }
    uint64_t different = 0;
    for ( uint32_t i = 0; s->ids_are_slots && i < count; ++i )
    {
        different |= s->own.items[i] ^ ids[i];
    }
    for ( uint32_t i = 0; !s->ids_are_slots && i < count; ++i )
    {
        different |= space->columns.ids.items[s->own.items[i]] ^ ids[i];
    }
    return different == 0;
}

// What the space inside has no memory for now waits for the update.
static void move_inside( clv_mpi_space* space, const uint32_t* slots, const clv_aabb* boxes, uint32_t count )
{
    mpi_columns* c = &space->columns;
    clv_id* ids = space->slots.moved_ids.items;
    CLV_ASSERT( count <= space->slots.moved_ids.capacity );
    for ( uint32_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( slots[i] < space->slots.end );
        ids[i] = c->locals.items[slots[i]];
    }
    if ( clv_space_move( space->inside, ids, boxes, count ) == CLV_OK )
    {
        for ( uint32_t i = 0; space->slots.moved_count > 0 && i < count; ++i )
        {
            c->flags.items[slots[i]] &= ~(uint32_t)SLOT_MOVED; // a box that waited is older
        }
        return;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        c->boxes.items[slots[i]] = boxes[i];
        c->flags.items[slots[i]] |= SLOT_MOVED;
    }
    space->slots.moved_count += count;
    space->slots.has_news = true;
}

// The numbers of own objects that do not lie inside the region, or did not, into `border`; in the same pass
// boxes are checked, so that a bad one, which is seldom, is looked for afterwards.
static bool list_border( clv_mpi_space* space, const clv_aabb* boxes, uint32_t count )
{
    const clv_aabb here = clv_mpi_region_inner( &space->partition.regions.bounds[space->rank] );
    const uint32_t *own = space->slots.own.items, *flags = space->columns.flags.items;
    uint32_t* border = space->slots.border.items;
    uint64_t outer = 0;
    bool are_good = true;
    CLV_ASSERT( count < space->slots.border.capacity ); // one is written before it counts
    for ( uint32_t i = 0; i < count; ++i )
    {
        const clv_aabb* box = &boxes[i];
        are_good &= ( box->lower.x <= box->upper.x ) & ( box->lower.y <= box->upper.y ) &
            ( box->lower.z <= box->upper.z );
        border[outer] = i;
        outer += !mpi_box_encloses( &here, box ) | ( ( flags[own[i]] & SLOT_INSIDE ) == 0 );
    }
    space->slots.border.count = outer;
    space->slots.border_is_known = false; // until the boxes are taken
    return are_good;
}

static void move_all_own( clv_mpi_space* space, const clv_aabb* boxes, uint32_t count )
{
    enum
    {
        RUN = 4096
    };
    mpi_slots* s = &space->slots;
    for ( uint64_t i = 0; i < s->border.count; ++i )
    {
        uint32_t number = s->border.items[i], slot = s->own.items[number];
        CLV_ASSERT( number < count && slot < s->end );
        space->columns.boxes.items[slot] = boxes[number];
        s->border.items[i] = slot;
    }
    // Workers share one large batch.
    uint32_t step = clv_space_worker_count( space->inside ) > 1 ? count : RUN;
    for ( uint32_t first = 0; first < count; first += step )
    {
        uint32_t some = count - first < step ? count - first : step;
        move_inside( space, s->own.items + first, boxes + first, some );
    }
    s->border_is_known = s->boxes_are_lent = true;
}

// Boxes as given, or where the space inside has others for them.
static void take_boxes( clv_mpi_space* space, const uint32_t* slots, const clv_aabb* boxes, uint32_t count )
{
    mpi_columns* c = &space->columns;
    clv_aabb* to = space->modes.has_margins ? c->givens.items : c->boxes.items;
    for ( uint32_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( slots[i] < space->slots.end );
        to[slots[i]] = boxes[i];
    }
    if ( !space->modes.has_margins )
    {
        move_inside( space, slots, boxes, count );
        space->slots.border_is_known = false;
    }
}

// One process agrees with itself, and no region ends: the space inside checks the boxes and takes them.
static clv_result move_alone(
    clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes, uint32_t count )
{
    CLV_ASSERT( count == space->slots.own.count && count == clv_space_object_count( space->inside ) );
    clv_result result = clv_space_move_all( space->inside, boxes, count );
    space->slots.boxes_are_lent |= result == CLV_OK;
    clv_result fault = result == CLV_BAD_BOX ? check_boxes( space, ids, boxes, count ) : CLV_OK;
    return clv_mpi_agree( space, fault != CLV_OK ? fault : clv_mpi_inner_result( space, result ) );
}

static clv_result move_now( clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes, uint32_t count )
{
    mpi_slots* s = &space->slots;
    bool are_all = are_all_own( space, ids, count );
    bool keeps = space->modes.has_margins || space->modes.has_history;
    if ( are_all && !keeps && space->process_count == 1 && s->moved_count == 0 )
    {
        return move_alone( space, ids, boxes, count );
    }
    bool fits = base_array_renew( &s->moved_ids, &space->memory, count ) &&
        base_array_renew( &s->border, &space->memory, (uint64_t)count + 1 );
    bool are_good = fits && are_all && !keeps && list_border( space, boxes, count );
    clv_result result = are_good ? CLV_OK : check_boxes( space, ids, boxes, count );
    result = result == CLV_OK ? clv_mpi_reserved( space, fits, "a batch" ) : result;
    result = result == CLV_OK && !are_all ? find_slots( space, ids, count ) : result;
    result = clv_mpi_agree( space, result );
    if ( result == CLV_OK && are_all && !keeps )
    {
        move_all_own( space, boxes, count );
    }
    else if ( result == CLV_OK )
    {
        take_boxes( space, are_all ? s->own.items : space->lookup.batch.items, boxes, count );
    }
    return result;
}

static clv_result remove_now( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
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

/// One kind of setting: a column, or a bit of the flags.
typedef struct setting
{
    clv_result ( *begin )( clv_mpi_space* ); ///< columns, where they were not needed so far
    bool ( *is_valid )( const void* item );  ///< NULL: always
    size_t column;                           ///< where its array is in mpi_columns
    size_t item_size;
    uint32_t bit;            ///< of the flags, for items that are bools; 0: a column
    uint32_t change;         ///< bit that tells of it
    const char *noun, *rule; ///< for errors
} setting;

static void apply( mpi_columns* c, const setting* s, uint32_t slot, const void* item )
{
    uint32_t* flags = &c->flags.items[slot];
    CLV_ASSERT( slot < c->flags.capacity && ( *flags & SLOT_OWN ) != 0 );
    *flags |= s->change;
    if ( s->bit != 0 )
    {
        *flags = ( *flags & ~s->bit ) | ( *(const bool*)item ? s->bit : 0 );
    }
    else
    {
        char* items = base_array_items( (const char*)c + s->column ); // an array begins with its items
        memcpy( items + slot * s->item_size, item, s->item_size );
    }
}

static clv_result set_now(
    clv_mpi_space* space, const uint64_t* ids, const void* items, uint32_t count, const setting* s )
{
    const char* item = items;
    clv_result mine = find_slots( space, ids, count );
    for ( uint32_t i = 0; s->is_valid != NULL && mine == CLV_OK && i < count; ++i )
    {
        if ( !s->is_valid( item + i * s->item_size ) )
        {
            mine = clv_mpi_fail_at( space, CLV_BAD_ARGUMENT, i, ids[i],
                "the %s of object %llu on process %d (entry %u) is %s", s->noun, (unsigned long long)ids[i],
                space->rank, i, s->rule );
        }
    }
    mpi_modes before = space->modes;
    clv_result result = clv_mpi_agree( space, mine == CLV_OK ? s->begin( space ) : mine );
    if ( result != CLV_OK )
    {
        space->modes = before;
        return result;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( i < space->lookup.batch.count );
        apply( &space->columns, s, space->lookup.batch.items[i], item + i * s->item_size );
    }
    return CLV_OK;
}

static bool is_margin_rule( const void* item )
{
    return mpi_is_margin_rule( item );
}

static bool is_motion( const void* item )
{
    return base_is_finite_point( *(const clv_vec3*)item );
}

static const setting s_filter = { .begin = clv_mpi_objects_keep_history,
    .column = offsetof( mpi_columns, filters ),
    .item_size = sizeof( clv_filter ),
    .change = SLOT_CHANGED };
static const setting s_static = { .begin = clv_mpi_objects_keep_history,
    .item_size = sizeof( bool ),
    .bit = SLOT_STATIC,
    .change = SLOT_CHANGED };
static const setting s_margin_rule = { .begin = clv_mpi_objects_keep_margins,
    .is_valid = is_margin_rule,
    .column = offsetof( mpi_columns, rules ),
    .item_size = sizeof( clv_margin_rule ),
    .noun = "margin",
    .rule = "negative or not finite" };
static const setting s_motion = { .begin = clv_mpi_objects_keep_margins,
    .is_valid = is_motion,
    .column = offsetof( mpi_columns, motions ),
    .item_size = sizeof( clv_vec3 ),
    .noun = "motion",
    .rule = "not finite" };

// ---- the interface: floating-point modes of the caller change nothing, and are restored

// The next update sees what changed; until then queries are refused.
static clv_result finish_call( clv_mpi_space* space, base_fp_mode mode, clv_result result )
{
    space->pairs.objects_changed |= result == CLV_OK;
    base_fp_leave( mode );
    return result;
}

clv_result clv_mpi_space_add(
    clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes, uint32_t count )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = space->is_lost ? CLV_LOST : add_now( space, ids, boxes, count );
    return finish_call( space, mode, result );
}

clv_result clv_mpi_space_move(
    clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes, uint32_t count )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = space->is_lost ? CLV_LOST : move_now( space, ids, boxes, count );
    return finish_call( space, mode, result );
}

clv_result clv_mpi_space_remove( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = space->is_lost ? CLV_LOST : remove_now( space, ids, count );
    return finish_call( space, mode, result );
}

static clv_result set_each(
    clv_mpi_space* space, const uint64_t* ids, const void* items, uint32_t count, const setting* s )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = space->is_lost ? CLV_LOST : set_now( space, ids, items, count, s );
    return finish_call( space, mode, result );
}

clv_result clv_mpi_space_set_filter(
    clv_mpi_space* space, const uint64_t* ids, const clv_filter* filters, uint32_t count )
{
    return set_each( space, ids, filters, count, &s_filter );
}

clv_result clv_mpi_space_set_static(
    clv_mpi_space* space, const uint64_t* ids, const bool* is_static, uint32_t count )
{
    return set_each( space, ids, is_static, count, &s_static );
}

clv_result clv_mpi_space_set_margin_rule(
    clv_mpi_space* space, const uint64_t* ids, const clv_margin_rule* rules, uint32_t count )
{
    return set_each( space, ids, rules, count, &s_margin_rule );
}

clv_result clv_mpi_space_set_motion(
    clv_mpi_space* space, const uint64_t* ids, const clv_vec3* motions, uint32_t count )
{
    return set_each( space, ids, motions, count, &s_motion );
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
    const mpi_columns* c = &space->columns;
    uint32_t slot = space->slots.own.items[number];
    CLV_ASSERT( slot < space->slots.end );
    *id = c->ids.items[slot];
    *box = space->modes.has_margins ? c->givens.items[slot] : c->boxes.items[slot];
    return space->slots.boxes_are_lent && ( c->flags.items[slot] & SLOT_MOVED ) == 0
        ? clv_space_get_box( space->inside, c->locals.items[slot], box )
        : CLV_OK;
}
