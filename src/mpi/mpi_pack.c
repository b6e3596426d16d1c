// SPDX-License-Identifier: MIT
// Own objects in a row. Where many left, as after the first cut, the others stand scattered among free slots, and all
// that is done by rows is slow: then the space inside is made anew, own objects first. It costs a few updates and happens seldom.
#include "base/assertion.h"
#include "mpi_check.h"
#include "mpi_state.h"

/// What is made before anything changes.
typedef struct packing
{
    clv_space* inside;
    uint32_t* order; ///< old slots: own ones, then ghosts
    clv_id* locals;
    char* spare; ///< room for the widest column
    uint32_t count;
    uint64_t capacity;
} packing;

static void list_order( const clv_mpi_space* space, packing* p )
{
    const uint32_t* flags = space->columns.flags.items;
    uint32_t count = 0;
    for ( uint64_t i = 0; i < space->slots.own.count; ++i )
    {
        p->order[count++] = space->slots.own.items[i];
    }
    for ( uint32_t slot = 0; slot < space->slots.end; ++slot )
    {
        if ( ( flags[slot] & ( SLOT_LIVE | SLOT_OWN ) ) == SLOT_LIVE )
        {
            p->order[count++] = slot;
        }
    }
    p->count = count;
    CLV_ASSERT( p->count <= p->capacity && p->count == clv_space_object_count( space->inside ) );
}

// Items of a column, in the new order, into `spare`.
static void gather( const packing* p, const void* column, size_t size )
{
    for ( uint32_t i = 0; i < p->count; ++i )
    {
        CLV_ASSERT( p->order[i] < p->capacity );
        memcpy( p->spare + i * size, (const char*)column + p->order[i] * size, size );
    }
}

static void permute( const packing* p, void* column, size_t size )
{
    gather( p, column, size );
    memcpy( column, p->spare, p->count * size );
}

static bool add_all( clv_mpi_space* space, packing* p )
{
    const mpi_columns* c = &space->columns;
    gather( p, c->boxes.items, sizeof( clv_aabb ) );
    bool ok = clv_mpi_open_inside( space, &p->inside ) == CLV_OK &&
        clv_space_add( p->inside, (const clv_aabb*)(const void*)p->spare, p->count, p->locals ) == CLV_OK;
    for ( uint32_t i = 0; ok && i < p->count; ++i )
    {
        ok = p->locals[i].index == i;
    }
    for ( uint32_t i = 0; ok && space->modes.has_history && i < p->count; ++i )
    {
        bool is_static = ( c->flags.items[p->order[i]] & SLOT_STATIC ) != 0;
        ok = clv_space_set_filter( p->inside, &p->locals[i], &c->filters.items[p->order[i]], 1 ) == CLV_OK &&
            clv_space_set_static( p->inside, &p->locals[i], &is_static, 1 ) == CLV_OK;
    }
    return ok;
}

static void take_order( clv_mpi_space* space, packing* p )
{
    mpi_columns* c = &space->columns;
    CLV_ASSERT( space->slots.own.count <= p->count && p->count <= space->slots.end );
    permute( p, c->ids.items, sizeof( *c->ids.items ) );
    permute( p, c->boxes.items, sizeof( *c->boxes.items ) );
    permute( p, c->flags.items, sizeof( *c->flags.items ) );
    permute( p, c->identities.items, sizeof( *c->identities.items ) );
    permute( p, c->stamps.items, sizeof( *c->stamps.items ) );
    if ( space->modes.has_margins )
    {
        permute( p, c->givens.items, sizeof( *c->givens.items ) );
        permute( p, c->rules.items, sizeof( *c->rules.items ) );
        permute( p, c->motions.items, sizeof( *c->motions.items ) );
    }
    if ( space->modes.has_history )
    {
        permute( p, c->befores.items, sizeof( *c->befores.items ) );
        permute( p, c->filters.items, sizeof( *c->filters.items ) );
        permute( p, c->filters_before.items, sizeof( *c->filters_before.items ) );
    }
    memcpy( c->locals.items, p->locals, p->count * sizeof( clv_id ) );
    for ( uint32_t slot = p->count; slot < space->slots.end; ++slot )
    {
        c->flags.items[slot] = 0;
    }
    for ( uint32_t slot = 0; !mpi_ghosts_are_anonymous( space ) && slot < p->count; ++slot )
    {
        clv_mpi_ids_put( &space->lookup.table, c->ids.items[slot], slot );
    }
    for ( uint32_t i = 0; i < space->slots.own.count; ++i )
    {
        CLV_ASSERT( ( c->flags.items[i] & SLOT_OWN ) != 0 ); // they come first
        space->slots.own.items[i] = i;
    }
    space->slots.end = p->count;
    space->lookup.batch.count = space->lookup.previous_batch.count = 0;
    space->slots.moved_count = 0; // it has all boxes as they are
    space->slots.border_is_known = false;
    if ( mpi_ghosts_are_anonymous( space ) )
    {
        clv_mpi_lookup_invalidate( space );
    }
    clv_space* before = space->inside;
    space->inside = p->inside;
    p->inside = before;
    CLV_ASSERT( space->slots.end == clv_space_stats( space->inside ).slot_count );
}

void clv_mpi_pack_slots( clv_mpi_space* space )
{
    enum
    {
        WIDEST = 32,   ///< bytes of an item of a column, at most
        FEW = 64,      ///< objects that are not worth it
        LONG_ROW = 12, ///< objects in a row that are long enough
        PATIENCE = 32  ///< updates from one time to the next, unless space was cut
    };
    uint64_t now = space->stats.update_count;
    bool may_be_due = space->slots.packed_at == 0 || now >= space->slots.packed_at + PATIENCE ||
        space->stats_before.was_cut;
    if ( !may_be_due || space->slots.own.count < FEW ||
        space->slots.live_rows <= space->slots.own.count / LONG_ROW )
    {
        return;
    }
    base_memory* memory = &space->memory;
    packing p = { .capacity = space->slots.end };
    p.order = clv_base_memory_take( memory, p.capacity, sizeof( uint32_t ) );
    p.locals = clv_base_memory_take( memory, p.capacity, sizeof( clv_id ) );
    p.spare = clv_base_memory_take( memory, p.capacity, WIDEST );
    if ( p.order != NULL && p.locals != NULL && p.spare != NULL )
    {
        list_order( space, &p );
        if ( add_all( space, &p ) )
        {
            take_order( space, &p );
            CLV_VALIDATE( clv_mpi_objects_check( space ) == NULL );
            space->slots.live_rows = 1;
            space->slots.packed_at = now + 1;
        }
    }
    // Without memory everything is as it was, only slower.
    clv_space_destroy( p.inside );
    clv_base_memory_give( memory, p.order, p.capacity, sizeof( uint32_t ) );
    clv_base_memory_give( memory, p.locals, p.capacity, sizeof( clv_id ) );
    clv_base_memory_give( memory, p.spare, p.capacity, WIDEST );
}
