// SPDX-License-Identifier: MIT
// The overlaps of regions on any number of axes: streamed segment trees, after Zomorodian and Edelsbrunner,
// "Fast software for box intersections", Symposium on Computational Geometry 2000, on ranks in place of
// coordinates, so that no two ends are alike.
//
// Of two intervals that overlap, one holds the beginning of the other, and only one. So on the last axis we
// look for (host, guest) with the guest's beginning inside the host: a segment tree over the guests'
// beginnings. Hosts that reach across a whole node hold every guest that begins there; for these the axis
// is settled, and the next one is looked at, either way round. On axis 0 both lists are in order, and what a
// host holds is a run of guests: all of them pairs, nothing is tried in vain. The tree is never built; its
// nodes are lists on a stack.
#include "match/match_search.h"

#include "base/assertion.h"

#include <string.h>

enum
{
    MATCH_BUCKETS = 256,
};

// Where in the stack a list of places lies, ascending: regions in the order of axis 0.
typedef struct match_list
{
    uint64_t first;
    uint32_t count;
} match_list;

static clv_result match_axis(
    match_search* search, match_list hosts, match_list guests, match_reach node, uint32_t axis );

// ---- pairs

static clv_result show_pairs( match_search* search )
{
    uint32_t count = search->waiting;
    search->waiting = 0;
    search->visited += count;
    return count == 0 || search->visitor( search->pairs, count, search->user ) ? CLV_OK : CLV_STOPPED;
}

// Of two sets the first one's index comes first; each list holds regions of one set.
static clv_result put_match( match_search* search, uint32_t place_a, uint32_t place_b )
{
    uint32_t a = search->world->order.items[place_a], b = search->world->order.items[place_b];
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    CLV_ASSERT( low < high && search->waiting < MATCH_CHUNK );
    search->pairs[search->waiting++] =
        ( clv_pair ){ low, search->is_between ? high - search->first_count : high };
    return search->waiting == MATCH_CHUNK ? show_pairs( search ) : CLV_OK;
}

// ---- lists

static bool grow_stack( match_search* search, uint64_t more )
{
    void* stack = search->stack;
    bool ok = clv_base_memory_reserve( search->memory, &stack, &search->stack_capacity, search->stack_count,
        search->stack_count + more, sizeof( uint32_t ) );
    search->stack = stack;
    return ok;
}

static match_reach reach_in( const match_search* search, match_list list, uint32_t index, uint32_t axis )
{
    CLV_ASSERT( index < list.count && list.first + list.count <= search->stack_count );
    return match_reach_of( search->world, search->stack[list.first + index] )[axis];
}

// Which regions of a list a new one takes.
typedef enum match_choice
{
    MATCH_ACROSS,  ///< reach across the node
    MATCH_PARTLY,  ///< reach into it, and not across
    MATCH_BEGIN_IN ///< begin in it
} match_choice;

static bool is_chosen( match_reach reach, match_reach node, match_reach parent, match_choice choice )
{
    bool is_across = reach.begin <= node.begin && node.end <= reach.end;
    bool was_across = reach.begin <= parent.begin && parent.end <= reach.end;
    switch ( choice )
    {
    case MATCH_ACROSS: return is_across;
    case MATCH_PARTLY: return !was_across && reach.begin < node.end && node.begin < reach.end;
    default: return node.begin <= reach.begin && reach.begin < node.end;
    }
}

// A part of a list, in the same order, on top of the stack. There is room for all of it.
static match_list choose_part( match_search* search, match_list list, uint32_t axis, match_reach node,
    match_reach parent, match_choice choice )
{
    match_list part = { search->stack_count, 0 };
    for ( uint32_t i = 0; i < list.count; ++i )
    {
        search->stack[part.first + part.count] = search->stack[list.first + i];
        part.count += is_chosen( reach_in( search, list, i, axis ), node, parent, choice );
    }
    search->stack_count += part.count;
    CLV_ASSERT( search->stack_count <= search->stack_capacity );
    return part;
}

// ---- the search

// The guest begins in the host on the axis, and they overlap below it, but for axis 0, which a sweep has
// settled. No short cuts: a branch on each comparison mispredicts.
static bool is_match( const match_reach* host, const match_reach* guest, uint32_t axis )
{
    bool matches = ( host[axis].begin < guest[axis].begin ) & ( guest[axis].begin < host[axis].end );
    for ( uint32_t i = 1; i < axis; ++i )
    {
        matches &= ( host[i].begin < guest[i].end ) & ( guest[i].begin < host[i].end );
    }
    return matches;
}

// Few of them: both lists are in the order of axis 0, and are swept together along it. A place is where a
// region begins.
static clv_result sweep_few( match_search* search, match_list hosts, match_list guests, uint32_t axis )
{
    clv_result result = CLV_OK;
    uint32_t h = 0, g = 0;
    while ( h < hosts.count && g < guests.count && result == CLV_OK )
    {
        uint32_t host = search->stack[hosts.first + h], guest = search->stack[guests.first + g];
        bool is_host = host < guest;
        uint32_t place = is_host ? host : guest, i = is_host ? g : h;
        uint32_t count = is_host ? guests.count : hosts.count, first = i;
        const uint32_t* others = search->stack + ( is_host ? guests.first : hosts.first );
        const match_reach* own = match_reach_of( search->world, place );
        for ( ; i < count && others[i] < own->end && result == CLV_OK; ++i )
        {
            const match_reach* other = match_reach_of( search->world, others[i] );
            if ( is_match( is_host ? own : other, is_host ? other : own, axis ) )
            {
                result = put_match( search, place, others[i] );
            }
        }
        search->test_count += i - first;
        h += is_host;
        g += !is_host;
    }
    return result;
}

// Axis 0: both lists begin in order, so what a host holds is a run of guests, and runs begin in order too.
static clv_result match_runs( match_search* search, match_list hosts, match_list guests )
{
    clv_result result = CLV_OK;
    uint32_t run = 0;
    for ( uint32_t h = 0; h < hosts.count; ++h )
    {
        match_reach host = reach_in( search, hosts, h, 0 );
        while ( run < guests.count && reach_in( search, guests, run, 0 ).begin <= host.begin )
        {
            run += 1;
        }
        for ( uint32_t g = run; g < guests.count && result == CLV_OK; ++g )
        {
            if ( reach_in( search, guests, g, 0 ).begin >= host.end )
            {
                break;
            }
            search->test_count += 1;
            result = put_match( search, search->stack[hosts.first + h], search->stack[guests.first + g] );
        }
    }
    return result;
}

// A rank that about as many guests begin below as not: counted in buckets, and again in a bucket that has too
// many. Some begin on either side, since no two begin alike.
static uint32_t split_guests( const match_search* search, match_list guests, match_reach node, uint32_t axis )
{
    uint32_t begin = node.begin, end = node.end, below = 0;
    for ( ;; )
    {
        uint32_t counts[MATCH_BUCKETS] = { 0 };
        uint32_t width = ( end - begin + MATCH_BUCKETS - 1 ) / MATCH_BUCKETS;
        for ( uint32_t i = 0; i < guests.count; ++i )
        {
            uint32_t at = reach_in( search, guests, i, axis ).begin;
            if ( begin <= at && at < end )
            {
                counts[( at - begin ) / width] += 1;
            }
        }
        uint32_t bucket = 0, before = below;
        while ( before + counts[bucket] <= guests.count / 2 )
        {
            before += counts[bucket++];
        }
        CLV_ASSERT( bucket < MATCH_BUCKETS );
        uint32_t start = begin + bucket * width;
        if ( width == 1 || ( before > 0 && counts[bucket] <= guests.count / 4 ) )
        {
            return start;
        }
        begin = start;
        end = start + width < end ? start + width : end;
        below = before;
    }
}

static clv_result match_half( match_search* search, match_list hosts, match_list guests, match_reach parent,
    match_reach half, uint32_t axis )
{
    uint64_t before = search->stack_count;
    if ( !grow_stack( search, (uint64_t)hosts.count + guests.count + 1 ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    match_list some_hosts = choose_part( search, hosts, axis, half, parent, MATCH_PARTLY );
    match_list some_guests = choose_part( search, guests, axis, half, parent, MATCH_BEGIN_IN );
    clv_result result = match_axis( search, some_hosts, some_guests, half, axis );
    search->stack_count = before;
    return result;
}

// Hosts that reach across the node hold every guest in it: on to the next axis, either way round.
static clv_result match_across(
    match_search* search, match_list hosts, match_list guests, match_reach node, uint32_t axis )
{
    uint64_t before = search->stack_count;
    if ( !grow_stack( search, (uint64_t)hosts.count + 1 ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    match_list across = choose_part( search, hosts, axis, node, node, MATCH_ACROSS );
    const match_reach all = { 0, search->world->count };
    clv_result result = match_axis( search, across, guests, all, axis - 1 );
    result = result == CLV_OK ? match_axis( search, guests, across, all, axis - 1 ) : result;
    search->stack_count = before;
    return result;
}

// Every host and guest with the guest's beginning inside the host on this axis, and overlapping on those
// below it. Guests begin in the node; on the axes above nothing is left to be asked. As deep as axes times
// the logarithm of the guests.
static clv_result match_axis(
    match_search* search, match_list hosts, match_list guests, match_reach node, uint32_t axis )
{
    if ( hosts.count == 0 || guests.count == 0 )
    {
        return CLV_OK;
    }
    if ( axis == 0 )
    {
        return match_runs( search, hosts, guests );
    }
    if ( hosts.count <= search->few || guests.count <= search->few )
    {
        return sweep_few( search, hosts, guests, axis );
    }
    clv_result result = match_across( search, hosts, guests, node, axis );
    if ( result != CLV_OK )
    {
        return result;
    }
    uint32_t middle = split_guests( search, guests, node, axis );
    CLV_ASSERT( node.begin < middle && middle < node.end );
    match_reach lower = { node.begin, middle }, upper = { middle, node.end };
    result = match_half( search, hosts, guests, node, lower, axis );
    return result == CLV_OK ? match_half( search, hosts, guests, node, upper, axis ) : result;
}

// The regions of one set, in the order of axis 0. There is room.
static match_list list_set( match_search* search, bool is_second )
{
    match_list set = { search->stack_count, 0 };
    for ( uint32_t rank = 0; rank < search->world->count; ++rank )
    {
        search->stack[set.first + set.count] = rank;
        set.count += ( search->world->order.items[rank] >= search->first_count ) == is_second;
    }
    search->stack_count += set.count;
    return set;
}

clv_result clv_match_run( match_search* search )
{
    const match_world* world = search->world;
    uint32_t last_axis = world->axis_count - 1;
    if ( world->count < 2 )
    {
        return CLV_OK;
    }
    if ( !grow_stack( search, (uint64_t)world->count + 1 ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    const match_reach whole = { 0, world->count };
    match_list first = list_set( search, false );
    if ( !search->is_between )
    {
        clv_result result = match_axis( search, first, first, whole, last_axis );
        return result == CLV_OK ? show_pairs( search ) : result;
    }
    match_list second = list_set( search, true );
    clv_result result = match_axis( search, first, second, whole, last_axis );
    result = result == CLV_OK ? match_axis( search, second, first, whole, last_axis ) : result;
    return result == CLV_OK ? show_pairs( search ) : result;
}
