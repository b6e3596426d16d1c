// SPDX-License-Identifier: MIT
// From the pairs inside to those that this process reports; what began and what ended; and the whole list on
// one process. A pair belongs to the region with the lower corner of the two boxes' overlap, which both boxes
// reach, so its process knows both and no other one reports it.
//
// Events. A pair that is new here may have been another process's before, and one that is missing here may be
// another's now. Both are decided without asking: of every object known here the box and filter of the last
// update came along, and objects that left said where they went.
#include "base/assertion.h"
#include "base/bits.h"
#include "base/heap_sort.h"
#include "mpi_state.h"
#include "object/filter_rule.h"

// ---- which pairs

static bool is_ours( const clv_mpi_space* space, clv_pair pair )
{
    const mpi_columns* c = &space->columns;
    if ( space->process_count == 1 ||
        ( c->identities.items[pair.a].is_inside | c->identities.items[pair.b].is_inside ) != 0 )
    {
        return true; // so is the overlap
    }
    clv_vec3 corner = mpi_overlap_corner( &c->boxes.items[pair.a], &c->boxes.items[pair.b] );
    return mpi_region_holds( &space->partition.regions.bounds[space->rank], corner );
}

static mpi_found found_of( const clv_mpi_space* space, clv_pair pair )
{
    uint64_t a = space->columns.identities.items[pair.a].id, b = space->columns.identities.items[pair.b].id;
    return a < b ? ( mpi_found ){ a, b, pair.a, pair.b } : ( mpi_found ){ b, a, pair.b, pair.a };
}

static clv_result find_ours( clv_mpi_space* space )
{
    clv_pair_view view = clv_space_pairs( space->inside );
    CLV_ASSERT( view.valid ); // of the search that was just made
    space->pairs.found.count = 0;
    if ( !base_array_renew( &space->pairs.found, &space->memory, view.count ) )
    {
        return clv_mpi_reserved( space, false, "pairs" );
    }
    uint64_t count = 0;
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        CLV_ASSERT( view.pairs[i].a < space->slots.end && view.pairs[i].b < space->slots.end );
        if ( is_ours( space, view.pairs[i] ) )
        {
            space->pairs.found.items[count++] = found_of( space, view.pairs[i] );
        }
    }
    space->pairs.found.count = count;
    return CLV_OK;
}

// ---- in order

static bool comes_first( const mpi_found* x, const mpi_found* y )
{
    return x->a != y->a ? x->a < y->a : x->b <= y->b;
}

static void merge( const mpi_found* from, mpi_found* to, uint64_t begin, uint64_t middle, uint64_t end )
{
    uint64_t left = begin, right = middle;
    for ( uint64_t i = begin; i < end; ++i )
    {
        bool takes_left = left < middle && ( right >= end || comes_first( &from[left], &from[right] ) );
        to[i] = takes_left ? from[left++] : from[right++];
    }
    CLV_ASSERT( left == middle && right == end );
}

// Merging from the bottom up: no recursion, and n log n whatever the order.
clv_result clv_mpi_sort_found( clv_mpi_space* space, mpi_found_list* list )
{
    uint64_t count = list->count;
    if ( !base_array_renew( &space->pairs.found_scratch, &space->memory, list->capacity ) )
    {
        return clv_mpi_reserved( space, false, "sorting pairs" );
    }
    CLV_ASSERT( count <= list->capacity && count <= space->pairs.found_scratch.capacity );
    for ( uint64_t width = 1; width < count; width *= 2 )
    {
        for ( uint64_t begin = 0; begin < count; begin += 2 * width )
        {
            uint64_t middle = begin + width < count ? begin + width : count;
            uint64_t end = middle + width < count ? middle + width : count;
            merge( list->items, space->pairs.found_scratch.items, begin, middle, end );
        }
        mpi_found_list other = space->pairs.found_scratch;
        space->pairs.found_scratch = *list;
        *list = other;
        list->count = count;
    }
    return CLV_OK;
}

// ---- events

static bool filters_agree(
    const clv_mpi_space* space, const clv_filter* a, const clv_filter* b, bool both_static )
{
    return object_filters_allow( a, b ) && !( space->def.space.skip_static_pairs && both_static );
}

// Was this pair, which is listed now, one after the last good update, wherever it was reported?
static bool was_pair( const clv_mpi_space* space, const mpi_found* pair )
{
    const mpi_columns* c = &space->columns;
    uint32_t a = pair->slot_a, b = pair->slot_b;
    uint32_t both = c->flags.items[a] & c->flags.items[b];
    return ( both & SLOT_OLD ) != 0 && clv_aabb_overlap( c->befores.items[a], c->befores.items[b] ) &&
        filters_agree( space, &c->filters_before.items[a], &c->filters_before.items[b],
            ( both & SLOT_WAS_STATIC ) != 0 );
}

// Is this pair, which was listed here, still one, wherever it is reported?
static bool still_pair(
    const clv_mpi_space* space, const mpi_found* pair, int32_t* owner_a, int32_t* owner_b )
{
    const mpi_columns* c = &space->columns;
    uint32_t a = clv_mpi_ids_find( &space->lookup.table, pair->a ),
             b = clv_mpi_ids_find( &space->lookup.table, pair->b );
    *owner_a = a != SLOT_NONE ? c->identities.items[a].owner : -1;
    *owner_b = b != SLOT_NONE ? c->identities.items[b].owner : -1;
    if ( a == SLOT_NONE || b == SLOT_NONE )
    {
        return false;
    }
    uint32_t both = c->flags.items[a] & c->flags.items[b];
    return ( both & SLOT_OLD ) != 0 && clv_aabb_overlap( c->boxes.items[a], c->boxes.items[b] ) &&
        filters_agree( space, &c->filters.items[a], &c->filters.items[b], ( both & SLOT_STATIC ) != 0 );
}

static bool add_event(
    clv_mpi_space* space, mpi_pair_list* list, const mpi_found* pair, int32_t owner_a, int32_t owner_b )
{
    CLV_ASSERT( pair->a <= pair->b );
    if ( !base_array_reserve( list, &space->memory, list->count + 1 ) )
    {
        return false;
    }
    list->items[list->count++] = ( clv_mpi_pair ){ pair->a, pair->b, owner_a, owner_b };
    return true;
}

static bool add_begun( clv_mpi_space* space, const mpi_found* pair )
{
    const mpi_identity* names = space->columns.identities.items;
    return was_pair( space, pair ) ||
        add_event( space, &space->pairs.begun, pair, names[pair->slot_a].owner, names[pair->slot_b].owner );
}

static bool add_ended( clv_mpi_space* space, const mpi_found* pair )
{
    int32_t owner_a = -1, owner_b = -1;
    return still_pair( space, pair, &owner_a, &owner_b ) ||
        add_event( space, &space->pairs.ended, pair, owner_a, owner_b );
}

// An object that was removed and added again under its id is another one: its pairs ended, and begin.
static bool is_another( const clv_mpi_space* space, const mpi_found* pair )
{
    const uint32_t* flags = space->columns.flags.items;
    return ( flags[pair->slot_a] & flags[pair->slot_b] & SLOT_OLD ) == 0;
}

static clv_result compare_lists( clv_mpi_space* space )
{
    const mpi_found_list *now = &space->pairs.found, *before = &space->pairs.found_before;
    uint64_t i = 0, j = 0;
    bool ok = true;
    while ( ok && ( i < now->count || j < before->count ) )
    {
        const mpi_found* fresh = i < now->count ? &now->items[i] : NULL;
        const mpi_found* old = j < before->count ? &before->items[j] : NULL;
        bool is_same = fresh != NULL && old != NULL && fresh->a == old->a && fresh->b == old->b;
        if ( is_same )
        {
            ok = !is_another( space, fresh ) || ( add_begun( space, fresh ) && add_ended( space, old ) );
            i += 1;
            j += 1;
        }
        else if ( old == NULL || ( fresh != NULL && comes_first( fresh, old ) ) )
        {
            ok = add_begun( space, fresh );
            i += 1;
        }
        else
        {
            ok = add_ended( space, old );
            j += 1;
        }
    }
    return clv_mpi_reserved( space, ok, "begun and ended pairs" );
}

// ---- the list

static clv_result reserve_pairs( clv_mpi_space* space, uint64_t count )
{
    space->pairs.list.count = 0;
    return clv_mpi_reserved( space, base_array_renew( &space->pairs.list, &space->memory, count ), "pairs" );
}

// From those that were found and brought into order.
static clv_result write_found( clv_mpi_space* space )
{
    const mpi_identity* names = space->columns.identities.items;
    clv_result result = reserve_pairs( space, space->pairs.found.count );
    uint64_t count = result == CLV_OK ? space->pairs.found.count : 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        const mpi_found* pair = &space->pairs.found.items[i];
        CLV_ASSERT( pair->slot_a < space->slots.end && pair->slot_b < space->slots.end );
        space->pairs.list.items[i] =
            ( clv_mpi_pair ){ pair->a, pair->b, names[pair->slot_a].owner, names[pair->slot_b].owner };
    }
    space->pairs.list.count = count;
    return result;
}

static clv_mpi_pair* write_pair( const clv_mpi_space* space, clv_pair pair, clv_mpi_pair* to )
{
    const mpi_identity *a = &space->columns.identities.items[pair.a],
                       *b = &space->columns.identities.items[pair.b];
    bool is_swapped = a->id > b->id;
    const mpi_identity *first = is_swapped ? b : a, *second = is_swapped ? a : b;
    *to = ( clv_mpi_pair ){ first->id, second->id, first->owner, second->owner };
    return to + ( ( a->is_inside | b->is_inside ) != 0 || is_ours( space, pair ) );
}

enum
{
    AHEAD = 32 ///< pairs whose identities, or ids, are prefetched
};

// One process owns everything and reports every pair: ids are all there is to look up, in half the memory.
static void write_alone( clv_mpi_space* space, const clv_pair* pairs, uint64_t count )
{
    const uint64_t* ids = space->columns.ids.items;
    clv_mpi_pair* to = space->pairs.list.items;
    for ( uint64_t i = 0; space->slots.ids_are_slots && i < count; ++i )
    {
        CLV_ASSERT( pairs[i].a < pairs[i].b && pairs[i].b < space->slots.end );
        to[i] = ( clv_mpi_pair ){ pairs[i].a, pairs[i].b, 0, 0 };
    }
    for ( uint64_t i = 0; !space->slots.ids_are_slots && i < count; ++i )
    {
        const clv_pair* next = &pairs[i + AHEAD < count ? i + AHEAD : i];
        CLV_ASSERT( pairs[i].a < space->slots.end && pairs[i].b < space->slots.end );
        base_prefetch( &ids[next->a] );
        base_prefetch( &ids[next->b] );
        uint64_t a = ids[pairs[i].a], b = ids[pairs[i].b];
        to[i] = ( clv_mpi_pair ){ a < b ? a : b, a < b ? b : a, 0, 0 };
    }
    space->pairs.list.count = count;
}

// Straight from the pairs inside: neither an order nor events are wanted.
static clv_result write_pairs( clv_mpi_space* space )
{
    clv_pair_view view = clv_space_pairs( space->inside );
    CLV_ASSERT( view.valid );
    clv_result result = reserve_pairs( space, view.count );
    if ( result != CLV_OK )
    {
        return result;
    }
    if ( space->process_count == 1 )
    {
        write_alone( space, view.pairs, view.count );
        return CLV_OK;
    }
    const mpi_identity* identities = space->columns.identities.items;
    clv_mpi_pair* to = space->pairs.list.items;
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        const clv_pair* ahead = &view.pairs[i + AHEAD < view.count ? i + AHEAD : i];
        base_prefetch( &identities[ahead->a] );
        base_prefetch( &identities[ahead->b] );
        to = write_pair( space, view.pairs[i], to );
    }
    space->pairs.list.count = (uint64_t)( to - space->pairs.list.items );
    CLV_ASSERT( space->pairs.list.count <= view.count );
    return CLV_OK;
}

clv_result clv_mpi_list( clv_mpi_space* space )
{
    space->pairs.begun.count = space->pairs.ended.count = 0;
    clv_result result = CLV_OK;
    if ( space->def.space.sorted || space->def.space.events )
    {
        result = find_ours( space );
        result = result == CLV_OK ? clv_mpi_sort_found( space, &space->pairs.found ) : result;
        result = result == CLV_OK && space->def.space.events ? compare_lists( space ) : result;
        result = result == CLV_OK ? write_found( space ) : result;
    }
    else
    {
        result = write_pairs( space );
    }
    CLV_VALIDATE( result != CLV_OK || clv_mpi_pairs_check( space ) == NULL );
    return result;
}

// ---- the whole list on one process, for files and comparisons: not for every update

static int compare_pairs( const void* one, const void* other )
{
    const clv_mpi_pair *x = one, *y = other;
    return x->a != y->a ? ( x->a < y->a ? -1 : 1 ) : x->b != y->b ? ( x->b < y->b ? -1 : 1 ) : 0;
}

clv_result clv_mpi_space_gather( clv_mpi_space* space, int32_t root, clv_mpi_pair_view* view )
{
    *view = ( clv_mpi_pair_view ){ NULL, 0, false };
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    enum
    {
        PAIR_WORDS = sizeof( clv_mpi_pair ) / sizeof( uint64_t )
    };
    clv_result mine = root < 0 || root >= space->process_count
        ? clv_mpi_fail( space, CLV_BAD_ARGUMENT, "there is no process %d", root )
        : !space->pairs.is_valid
        ? clv_mpi_fail( space, CLV_STALE, "there is no list: the last update failed, or there was none" )
        : CLV_OK;
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        space->exchange.send_words[r] = r == root && mine == CLV_OK ? (int)space->pairs.list.count : 0;
        space->exchange.send_starts[r] = 0;
    }
    base_u64_array* all = &space->pairs.gathered;
    clv_result result = clv_mpi_deliver(
        space, mine, (const uint64_t*)(const void*)space->pairs.list.items, all, PAIR_WORDS, "pairs" );
    if ( result == CLV_OK && space->rank == root )
    {
        const clv_mpi_pair* pairs = (const clv_mpi_pair*)(const void*)all->items;
        uint64_t count = all->count / PAIR_WORDS;
        CLV_ASSERT( count * PAIR_WORDS == all->count && count >= space->pairs.list.count );
        if ( count > 0 )
        {
            clv_base_heap_sort( all->items, (size_t)count, sizeof( clv_mpi_pair ), compare_pairs );
        }
        *view = ( clv_mpi_pair_view ){ pairs, count, true };
    }
    return result;
}
