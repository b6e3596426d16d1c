// SPDX-License-Identifier: MIT
#include "rest/marginal.h"

#include "base/assertion.h"

#include <string.h>

#define MOST_MARGINAL ( (uint32_t)1 << 30 ) // a link names a pair and one of its sides

void clv_rest_marginal_init( rest_marginal* set, base_memory* memory )
{
    *set = ( rest_marginal ){ .memory = memory };
}

BASE_COLD void clv_rest_marginal_release( rest_marginal* set )
{
    base_memory* memory = set->memory;
    base_array_free( &set->pairs, memory );
    base_array_free( &set->places, memory );
    base_array_free( &set->touching, memory );
    base_array_free( &set->tested, memory );
    base_array_free( &set->links, memory );
    base_array_free( &set->heads, memory );
    clv_rest_marginal_init( set, memory );
}

bool clv_rest_marginal_reserve( rest_marginal* set, uint32_t slot_count )
{
    return base_array_extend( &set->heads, set->memory, 2 * (uint64_t)slot_count );
}

// The array of pairs grows last: its capacity is what is asked for. Bits are set one by one, and the others
// read along: they are zero at first. There are links only once there are chains.
static bool grow_marginal( rest_marginal* set, uint64_t wanted )
{
    uint64_t words = wanted / 64 + 1;
    set->places.count = set->count;
    set->pairs.count = set->count;
    set->links.count = set->is_linked ? 4 * (uint64_t)set->count : 0;
    return base_array_reserve( &set->places, set->memory, wanted ) &&
        base_array_extend( &set->touching, set->memory, words ) &&
        base_array_extend( &set->tested, set->memory, words ) &&
        ( !set->is_linked || base_array_reserve( &set->links, set->memory, 4 * wanted ) ) &&
        base_array_reserve( &set->pairs, set->memory, wanted );
}

bool clv_rest_marginal_clear( rest_marginal* set, uint64_t expected )
{
    set->count = 0;
    set->is_linked = false;
    return expected <= set->pairs.capacity || expected > MOST_MARGINAL || grow_marginal( set, expected );
}

// As many at once as there are bits in a word; those behind them stay zero.
bool clv_rest_marginal_append( rest_marginal* set, const clv_pair* pairs, uint32_t count )
{
    uint64_t all = (uint64_t)set->count + count;
    CLV_ASSERT( !set->is_linked );
    if ( all > MOST_MARGINAL ||
        ( all > set->pairs.capacity && !grow_marginal( set, all + set->count / 2 + 64 ) ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        rest_marginal_set_touching( set, set->count + i, false );
        set->pairs.items[set->count + i] = pairs[i];
    }
    set->count = (uint32_t)all;
    return true;
}

// ---- chains

// A link is 1 + 2 * number + side, or 0. The pair's own links of a side are next and previous.

static uint32_t link_of( uint32_t number, uint32_t side )
{
    return 1 + 2 * number + side;
}

static uint32_t slot_of( const rest_marginal* set, uint32_t number, uint32_t side )
{
    return side == 0 ? set->pairs.items[number].a : set->pairs.items[number].b;
}

static uint32_t* next_of( rest_marginal* set, uint32_t link )
{
    return &set->links.items[2 * (size_t)( link - 1 )];
}

static uint32_t* previous_of( rest_marginal* set, uint32_t link )
{
    return &set->links.items[2 * (size_t)( link - 1 ) + 1];
}

static void link_pair( rest_marginal* set, uint32_t number, uint32_t side )
{
    CLV_ASSERT( number < set->count && 2 * (size_t)slot_of( set, number, side ) + 1 < set->heads.capacity );
    uint32_t* head = &set->heads.items[2 * (size_t)slot_of( set, number, side )];
    uint32_t link = link_of( number, side );
    CLV_ASSERT( head[0] == 0 || *previous_of( set, head[0] ) == 0 );
    *next_of( set, link ) = head[0];
    *previous_of( set, link ) = 0;
    if ( head[0] != 0 )
    {
        *previous_of( set, head[0] ) = link;
    }
    head[0] = link;
    head[1] += 1;
}

// The links on both sides of `link` get these values in its place.
static void lead_to(
    rest_marginal* set, uint32_t link, uint32_t slot, uint32_t next_link, uint32_t previous_link )
{
    uint32_t next = *next_of( set, link );
    uint32_t previous = *previous_of( set, link );
    CLV_ASSERT( next == 0 || *previous_of( set, next ) == link );
    CLV_ASSERT( previous != 0 || set->heads.items[2 * (size_t)slot] == link );
    if ( next != 0 )
    {
        *previous_of( set, next ) = previous_link;
    }
    *( previous != 0 ? next_of( set, previous ) : &set->heads.items[2 * (size_t)slot] ) = next_link;
}

static void unchain( rest_marginal* set, uint32_t number, uint32_t side )
{
    uint32_t link = link_of( number, side );
    uint32_t slot = slot_of( set, number, side );
    CLV_ASSERT( rest_marginal_degree( set, slot ) > 0 );
    lead_to( set, link, slot, *next_of( set, link ), *previous_of( set, link ) );
    set->heads.items[2 * (size_t)slot + 1] -= 1;
}

// The pair `from` takes the number `to`, which is free.
static void renumber( rest_marginal* set, uint32_t from, uint32_t to )
{
    CLV_ASSERT( to < from && from < set->pairs.capacity );
    for ( uint32_t side = 0; side < 2; ++side )
    {
        uint32_t link = link_of( to, side );
        lead_to( set, link_of( from, side ), slot_of( set, from, side ), link, link );
        *next_of( set, link ) = *next_of( set, link_of( from, side ) );
        *previous_of( set, link ) = *previous_of( set, link_of( from, side ) );
    }
    set->pairs.items[to] = set->pairs.items[from];
    set->places.items[to] = set->places.items[from];
    rest_marginal_set_touching( set, to, rest_marginal_is_touching( set, from ) );
}

bool clv_rest_marginal_link( rest_marginal* set )
{
    if ( set->is_linked )
    {
        return true;
    }
    set->links.count = 0;
    if ( !base_array_reserve( &set->links, set->memory, 4 * set->pairs.capacity ) )
    {
        return false;
    }
    if ( set->heads.capacity > 0 )
    {
        memset( set->heads.items, 0, (size_t)set->heads.capacity * sizeof( uint32_t ) );
    }
    for ( uint32_t number = 0; number < set->count; ++number )
    {
        link_pair( set, number, 0 );
        link_pair( set, number, 1 );
    }
    set->is_linked = true;
    return true;
}

bool clv_rest_marginal_add( rest_marginal* set, clv_pair pair )
{
    CLV_ASSERT( pair.a < pair.b && set->is_linked );
    if ( set->count >= MOST_MARGINAL ||
        ( set->count == set->pairs.capacity &&
            !grow_marginal( set, (uint64_t)set->count + set->count / 2 + 64 ) ) )
    {
        return false;
    }
    uint32_t number = set->count++;
    CLV_ASSERT( number < set->pairs.capacity && 4 * (uint64_t)number + 3 < set->links.capacity );
    set->pairs.items[number] = pair;
    rest_marginal_set_touching( set, number, false );
    link_pair( set, number, 0 );
    link_pair( set, number, 1 );
    return true;
}

void clv_rest_marginal_drop( rest_marginal* set, uint32_t number )
{
    CLV_ASSERT( number < set->count && set->is_linked );
    unchain( set, number, 0 );
    unchain( set, number, 1 );
    set->count -= 1;
    if ( number != set->count )
    {
        renumber( set, set->count, number );
    }
}

static uint32_t number_of( uint32_t link )
{
    return link != 0 ? ( link - 1 ) / 2 : REST_NO_PAIR;
}

uint32_t clv_rest_marginal_first( const rest_marginal* set, uint32_t slot )
{
    return number_of( set->heads.items[2 * (size_t)slot] );
}

uint32_t clv_rest_marginal_next( const rest_marginal* set, uint32_t number, uint32_t slot )
{
    CLV_ASSERT( set->pairs.items[number].a == slot || set->pairs.items[number].b == slot );
    return number_of( set->links.items[4 * (size_t)number + ( set->pairs.items[number].a == slot ? 0 : 2 )] );
}

uint32_t clv_rest_marginal_find( const rest_marginal* set, clv_pair pair )
{
    bool is_a = rest_marginal_degree( set, pair.a ) <= rest_marginal_degree( set, pair.b );
    uint32_t slot = is_a ? pair.a : pair.b;
    uint32_t number = clv_rest_marginal_first( set, slot );
    while ( number != REST_NO_PAIR &&
        ( set->pairs.items[number].a != pair.a || set->pairs.items[number].b != pair.b ) )
    {
        number = clv_rest_marginal_next( set, number, slot );
    }
    return number;
}

// ---- checking

const char* clv_rest_marginal_check( const rest_marginal* set, uint32_t slot_count )
{
    uint64_t sum = 0;
    if ( !set->is_linked )
    {
        return NULL;
    }
    for ( uint32_t slot = 0; slot < slot_count; ++slot )
    {
        uint32_t degree = 0;
        for ( uint32_t i = clv_rest_marginal_first( set, slot ); i != REST_NO_PAIR && degree <= set->count;
              i = clv_rest_marginal_next( set, i, slot ) )
        {
            degree += 1;
            if ( set->pairs.items[i].a != slot && set->pairs.items[i].b != slot )
            {
                return "a chain of marginal pairs leads to a pair of other objects";
            }
        }
        if ( degree != rest_marginal_degree( set, slot ) )
        {
            return "a chain of marginal pairs is longer or shorter than it says";
        }
        sum += degree;
    }
    for ( uint32_t i = 0; i < set->count; ++i )
    {
        if ( clv_rest_marginal_find( set, set->pairs.items[i] ) != i )
        {
            return "a marginal pair is not found, or twice there";
        }
    }
    return sum == 2 * (uint64_t)set->count ? NULL : "chains and marginal pairs differ in number";
}
