// SPDX-License-Identifier: MIT
// Who must hear of what in an update, and what a letter says. A letter is a row of 64-bit words: the id, the test box, flags
// and owner; then, for who does not know the object yet, what it was before and its filters; then, for its next owner, all else.
#include "base/assertion.h"
#include "mpi_state.h"

enum
{
    SHORT_WORDS = 5,
    FULL_WORDS = 9, ///< more: box before, filter, filter before
    OWNED_WORDS = 7 ///< more: box as given, margin rule, motion; then the payload
};

static uint64_t payload_words( const clv_mpi_space* space )
{
    return ( (uint64_t)space->def.payload.size + 7 ) / 8;
}

uint64_t clv_mpi_record_words( const clv_mpi_space* space, uint32_t kind )
{
    return SHORT_WORDS + ( ( kind & RECORD_FULL ) != 0 ? (uint64_t)FULL_WORDS : 0 ) +
        ( ( kind & RECORD_OWNED ) != 0 ? OWNED_WORDS + payload_words( space ) : 0 );
}

// ---- who

static bool add_letter( clv_mpi_space* space, int32_t to, uint32_t slot, uint32_t kind )
{
    CLV_ASSERT( to >= 0 && to < space->process_count && to != space->rank );
    CLV_ASSERT( slot < space->slots.end && ( space->columns.flags.items[slot] & SLOT_OWN ) != 0 );
    if ( !base_array_reserve( &space->exchange.sends, &space->memory, space->exchange.sends.count + 1 ) )
    {
        return false;
    }
    space->exchange.sends.items[space->exchange.sends.count++] = ( mpi_send ){ to, slot, kind };
    return true;
}

// Those who knew the object after the last good update; nobody, where ghosts are made anew or nothing is remembered.
static uint32_t who_knew( clv_mpi_space* space, uint32_t slot )
{
    bool is_old = ( space->columns.flags.items[slot] & SLOT_OLD ) != 0;
    return space->modes.has_history && is_old
        ? clv_mpi_regions_reach( &space->partition.regions_before, &space->columns.befores.items[slot],
              space->exchange.ranks_before )
        : 0;
}

static uint32_t kind_for( const clv_mpi_space* space, uint32_t slot, bool is_known )
{
    uint32_t flags = space->columns.flags.items[slot];
    bool is_full = space->modes.has_history &&
        ( !is_known || space->modes.must_resend || ( flags & SLOT_CHANGED ) != 0 );
    return ( is_full ? RECORD_FULL : 0u ) | ( ( flags & SLOT_STATIC ) != 0 ? RECORD_STATIC : 0u ) |
        ( ( flags & SLOT_OLD ) != 0 ? RECORD_OLD : 0u ) |
        ( ( flags & SLOT_WAS_STATIC ) != 0 ? RECORD_WAS_STATIC : 0u );
}

// Letters about one own object that does not lie deep inside the region.
static bool address_one( clv_mpi_space* space, uint32_t slot )
{
    mpi_columns* c = &space->columns;
    uint32_t now =
        clv_mpi_regions_reach( &space->partition.regions, &c->boxes.items[slot], space->exchange.ranks );
    CLV_ASSERT( now > 0 && now <= (uint32_t)space->process_count ); // ranks[0] may become the owner
    uint32_t before = who_knew( space, slot );
    CLV_ASSERT( before <= (uint32_t)space->process_count );
    bool is_wide = now > space->def.wide || before > space->def.wide;
    // A box that lies at infinity alone has its middle elsewhere: then whoever it reaches first owns it.
    if ( !space->def.borrowed &&
        !mpi_is_among( space->exchange.ranks, now, c->identities.items[slot].owner ) )
    {
        c->identities.items[slot].owner = space->exchange.ranks[0];
        c->flags.items[slot] &= ~(uint32_t)SLOT_LEAVING;
        c->flags.items[slot] |= space->exchange.ranks[0] != space->rank ? (uint32_t)SLOT_LEAVING : 0;
    }
    int32_t owner = c->identities.items[slot].owner;
    CLV_ASSERT( owner >= 0 && owner < space->process_count );
    CLV_ASSERT( ( owner != space->rank ) == ( ( c->flags.items[slot] & SLOT_LEAVING ) != 0 ) );
    bool ok = true;
    if ( is_wide )
    {
        ok = base_array_reserve( &space->exchange.wide, &space->memory, space->exchange.wide.count + 1 );
        if ( ok )
        {
            space->exchange.wide.items[space->exchange.wide.count++] = slot;
        }
    }
    for ( uint32_t i = 0; ok && i < now; ++i )
    {
        int32_t to = space->exchange.ranks[i];
        bool is_owner = to == owner && owner != space->rank;
        if ( to != space->rank && ( !is_wide || is_owner ) )
        {
            uint32_t kind = kind_for( space, slot, mpi_is_among( space->exchange.ranks_before, before, to ) );
            ok = add_letter( space, to, slot, is_owner ? kind | RECORD_OWNED : kind );
        }
    }
    // A last word to those it does not reach any more: they must tell pairs that ended from pairs that others report now.
    for ( uint32_t i = 0; ok && !is_wide && space->def.space.events && i < before; ++i )
    {
        int32_t to = space->exchange.ranks_before[i];
        if ( to != space->rank && !mpi_is_among( space->exchange.ranks, now, to ) )
        {
            ok = add_letter( space, to, slot, kind_for( space, slot, true ) );
        }
    }
    return ok;
}

// Written where it changed alone: the names of objects deep inside are not touched from update to update.
static void note_inside( mpi_columns* c, uint32_t slot, bool is_inside )
{
    uint32_t flags = c->flags.items[slot];
    if ( ( ( flags & SLOT_INSIDE ) != 0 ) != is_inside )
    {
        c->flags.items[slot] = flags ^ SLOT_INSIDE;
        c->identities.items[slot].is_inside = is_inside;
    }
}

static bool was_inside( const clv_mpi_space* space, uint32_t slot, const clv_aabb* here_before )
{
    return !space->modes.has_history || ( space->columns.flags.items[slot] & SLOT_OLD ) == 0 ||
        mpi_box_encloses( here_before, &space->columns.befores.items[slot] );
}

// An own object: is there anything to tell of it? False: out of memory.
static bool look_at( clv_mpi_space* space, uint32_t slot, const clv_aabb* here, const clv_aabb* here_before )
{
    mpi_columns* c = &space->columns;
    CLV_ASSERT( slot < space->slots.end && ( c->flags.items[slot] & SLOT_OWN ) != 0 );
    bool is_inside = mpi_box_encloses( here, &c->boxes.items[slot] );
    note_inside( c, slot, is_inside );
    if ( is_inside && was_inside( space, slot, here_before ) )
    {
        return true;
    }
    if ( !space->def.borrowed )
    {
        int32_t owner =
            clv_mpi_regions_home( &space->partition.regions, clv_mpi_box_middle( &c->boxes.items[slot] ) );
        c->identities.items[slot].owner = owner;
        c->flags.items[slot] |= owner != space->rank ? (uint32_t)SLOT_LEAVING : 0;
    }
    return address_one( space, slot );
}

clv_result clv_mpi_select_receivers( clv_mpi_space* space )
{
    space->exchange.sends.count = 0;
    space->exchange.wide.count = 0;
    const clv_aabb here = clv_mpi_region_inner( &space->partition.regions.bounds[space->rank] );
    const clv_aabb here_before = clv_mpi_region_inner( &space->partition.regions_before.bounds[space->rank] );
    bool outer_will_do = space->slots.border_is_known && !space->modes.has_history && !space->stats.was_cut &&
        !space->modes.must_resend;
    const base_u32_array* slots = outer_will_do ? &space->slots.border : &space->slots.own;
    CLV_ASSERT( !space->slots.own_is_stale && slots->count <= space->slots.own.count );
    for ( uint64_t i = 0; i < slots->count; ++i )
    {
        if ( outer_will_do && i + PREFETCH_DISTANCE < slots->count )
        {
            clv_mpi_slot_fetch( space, slots->items[i + PREFETCH_DISTANCE] );
        }
        if ( !look_at( space, slots->items[i], &here, &here_before ) )
        {
            return clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for ghosts" );
        }
    }
    return CLV_OK;
}

// ---- what

uint64_t* clv_mpi_record_write( clv_mpi_space* space, uint32_t slot, uint32_t kind, uint64_t* at )
{
    const mpi_columns* c = &space->columns;
    CLV_ASSERT( slot < space->slots.end && ( c->flags.items[slot] & SLOT_OWN ) != 0 );
    CLV_ASSERT( ( kind & RECORD_FULL ) == 0 || space->modes.has_history );
    at[0] = c->ids.items[slot];
    memcpy( at + 1, &c->boxes.items[slot], sizeof( clv_aabb ) );
    at[4] = (uint64_t)kind << 32 | (uint32_t)c->identities.items[slot].owner;
    at += SHORT_WORDS;
    if ( ( kind & RECORD_FULL ) != 0 )
    {
        memcpy( at, &c->befores.items[slot], sizeof( clv_aabb ) );
        memcpy( at + 3, &c->filters.items[slot], sizeof( clv_filter ) );
        memcpy( at + 6, &c->filters_before.items[slot], sizeof( clv_filter ) );
        at += FULL_WORDS;
    }
    if ( ( kind & RECORD_OWNED ) != 0 )
    {
        memset( at, 0, ( OWNED_WORDS + payload_words( space ) ) * sizeof( uint64_t ) );
        memcpy( at, space->modes.has_margins ? &c->givens.items[slot] : &c->boxes.items[slot],
            sizeof( clv_aabb ) );
        if ( space->modes.has_margins )
        {
            memcpy( at + 3, &c->rules.items[slot], sizeof( clv_margin_rule ) );
            memcpy( at + 5, &c->motions.items[slot], sizeof( clv_vec3 ) );
        }
        at += OWNED_WORDS;
        if ( space->def.payload.size > 0 )
        {
            space->def.payload.pack( c->ids.items[slot], at, space->def.payload.user );
            at += payload_words( space );
        }
    }
    return at;
}

mpi_record clv_mpi_record_read( const clv_mpi_space* space, const uint64_t* at )
{
    mpi_record text = { .id = at[0], .kind = (uint32_t)( at[4] >> 32 ), .owner = (int32_t)(uint32_t)at[4] };
    memcpy( &text.box, at + 1, sizeof( clv_aabb ) );
    at += SHORT_WORDS;
    text.full = ( text.kind & RECORD_FULL ) != 0 ? at : NULL;
    at += text.full != NULL ? FULL_WORDS : 0;
    text.owned = ( text.kind & RECORD_OWNED ) != 0 ? at : NULL;
    at += text.owned != NULL ? OWNED_WORDS + payload_words( space ) : 0;
    text.payload = text.owned != NULL ? text.owned + OWNED_WORDS : NULL;
    text.end = at;
    return text;
}

// Into a slot that knows nothing of it yet, or that had it otherwise.
void clv_mpi_record_apply( clv_mpi_space* space, uint32_t slot, const mpi_record* text )
{
    mpi_columns* c = &space->columns;
    uint32_t* flags = &c->flags.items[slot];
    CLV_ASSERT( slot < space->slots.end && ( *flags & SLOT_LIVE ) != 0 );
    if ( memcmp( &c->boxes.items[slot], &text->box, sizeof( clv_aabb ) ) != 0 )
    {
        c->boxes.items[slot] = text->box;
        *flags |= SLOT_MOVED;
    }
    c->identities.items[slot].owner = text->owner;
    if ( space->modes.has_history && text->full != NULL )
    {
        memcpy( &c->befores.items[slot], text->full, sizeof( clv_aabb ) );
        memcpy( &c->filters.items[slot], text->full + 3, sizeof( clv_filter ) );
        memcpy( &c->filters_before.items[slot], text->full + 6, sizeof( clv_filter ) );
        *flags &= ~(uint32_t)( SLOT_STATIC | SLOT_WAS_STATIC | SLOT_OLD );
        *flags |= ( ( text->kind & RECORD_STATIC ) != 0 ? SLOT_STATIC : 0u ) |
            ( ( text->kind & RECORD_WAS_STATIC ) != 0 ? SLOT_WAS_STATIC : 0u ) |
            ( ( text->kind & RECORD_OLD ) != 0 ? SLOT_OLD : 0u ) | SLOT_CHANGED;
    }
    if ( text->owned != NULL && space->modes.has_margins )
    {
        memcpy( &c->givens.items[slot], text->owned, sizeof( clv_aabb ) );
        memcpy( &c->rules.items[slot], text->owned + 3, sizeof( clv_margin_rule ) );
        memcpy( &c->motions.items[slot], text->owned + 5, sizeof( clv_vec3 ) );
    }
    *flags |= text->owned != NULL ? (uint32_t)SLOT_ARRIVED : 0;
    c->stamps.items[slot] = space->slots.stamp;
}
