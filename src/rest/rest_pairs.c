// SPDX-License-Identifier: MIT
#include "rest/rest_pairs.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <string.h>

enum
{
    LEAST_INDEX = 1024,
    AHEAD = 16 // pairs whose places in the index are asked for before they are used
};

#define MOST_PAIRS ( (uint64_t)1 << 30 ) // what an entry of the index can tell apart

void rest_pairs_init( rest_pairs* pairs, base_memory* memory )
{
    *pairs = ( rest_pairs ){ .memory = memory };
}

void rest_pairs_release( rest_pairs* pairs )
{
    base_memory* memory = pairs->memory;
    pair_list_free( &pairs->list, memory );
    base_memory_give( memory, pairs->marginal, pairs->marginal_capacity, sizeof( clv_pair ) );
    base_memory_give( memory, pairs->places, pairs->place_capacity, sizeof( uint32_t ) );
    base_memory_give( memory, pairs->touching, pairs->touching_capacity, sizeof( uint64_t ) );
    base_memory_give( memory, pairs->tested, pairs->tested_capacity, sizeof( uint64_t ) );
    base_memory_give( memory, pairs->degrees, pairs->degree_capacity, sizeof( uint32_t ) );
    base_memory_give( memory, pairs->index, pairs->index_capacity, sizeof( uint32_t ) );
    rest_pairs_init( pairs, memory );
}

bool rest_pairs_reserve( rest_pairs* pairs, uint32_t slot_count )
{
    uint64_t before = pairs->degree_capacity;
    void* degrees = pairs->degrees;
    bool ok = base_memory_reserve(
        pairs->memory, &degrees, &pairs->degree_capacity, before, slot_count, sizeof( uint32_t ) );
    pairs->degrees = degrees;
    if ( pairs->degree_capacity > before )
    {
        memset(
            pairs->degrees + before, 0, (size_t)( pairs->degree_capacity - before ) * sizeof( uint32_t ) );
    }
    return ok;
}

bool rest_pairs_begin( rest_pairs* pairs, uint32_t slot_count )
{
    pairs->list.count = 0;
    pairs->marginal_count = 0;
    pairs->index_is_made = false;
    pairs->change_count += 1;
    if ( pairs->degree_capacity > 0 )
    {
        memset( pairs->degrees, 0, (size_t)pairs->degree_capacity * sizeof( uint32_t ) );
    }
    return rest_pairs_reserve( pairs, slot_count );
}

static clv_pair pair_of( uint32_t slot_a, uint32_t slot_b )
{
    clv_pair pair = { slot_a < slot_b ? slot_a : slot_b, slot_a < slot_b ? slot_b : slot_a };
    return pair;
}

// ---- the index ---------------------------------------------------------------------------------------------------

static uint32_t entry_of_place( uint32_t place )
{
    return 1 + 2 * place;
}

static uint32_t entry_of_marginal( uint32_t number )
{
    return 2 + 2 * number;
}

static bool is_marginal( uint32_t entry )
{
    return ( entry & 1 ) == 0;
}

static uint32_t number_of( uint32_t entry )
{
    return ( entry - 1 ) >> 1;
}

static clv_pair pair_at( const rest_pairs* pairs, uint32_t entry )
{
    return is_marginal( entry ) ? pairs->marginal[number_of( entry )] : pairs->list.pairs[number_of( entry )];
}

// Fibonacci hashing with the high half folded in, as in pair/table.c.
static uint64_t home_of( const rest_pairs* pairs, clv_pair pair )
{
    uint64_t key = ( ( (uint64_t)pair.a << 32 ) | pair.b ) * 0x9E3779B97F4A7C15u;
    return ( key ^ ( key >> 32 ) ) & ( pairs->index_capacity - 1 );
}

// Where the pair stands, or the empty place where it would.
static uint64_t find( const rest_pairs* pairs, clv_pair pair )
{
    uint64_t at = home_of( pairs, pair );
    while ( pairs->index[at] != 0 )
    {
        clv_pair other = pair_at( pairs, pairs->index[at] );
        if ( other.a == pair.a && other.b == pair.b )
        {
            break;
        }
        at = ( at + 1 ) & ( pairs->index_capacity - 1 );
    }
    return at;
}

// For a pair that is not there: nobody else needs to be read.
static void put_new( rest_pairs* pairs, clv_pair pair, uint32_t entry )
{
    uint64_t at = home_of( pairs, pair );
    while ( pairs->index[at] != 0 )
    {
        at = ( at + 1 ) & ( pairs->index_capacity - 1 );
    }
    pairs->index[at] = entry;
    pairs->index_count += 1;
}

// Sure pairs first; what marginal ones there are takes the place of their entries in the list afterwards.
static void fill_index( rest_pairs* pairs )
{
    const pair_list* list = &pairs->list;
    memset( pairs->index, 0, (size_t)pairs->index_capacity * sizeof( uint32_t ) );
    pairs->index_count = 0;
    for ( uint64_t i = 0; i < list->count; ++i )
    {
        uint64_t later = i + AHEAD < list->count ? i + AHEAD : i;
        base_prefetch( &pairs->index[home_of( pairs, list->pairs[later] )] );
        put_new( pairs, list->pairs[i], entry_of_place( (uint32_t)i ) );
    }
    for ( uint32_t i = 0; i < pairs->marginal_count; ++i )
    {
        uint64_t at = find( pairs, pairs->marginal[i] );
        pairs->index_count += pairs->index[at] == 0;
        pairs->index[at] = entry_of_marginal( i );
    }
}

static uint64_t pair_total( const rest_pairs* pairs )
{
    return pairs->list.count + pairs->marginal_count;
}

// At most two thirds full for one more pair; when it is made, at most a half.
static bool make_index( rest_pairs* pairs )
{
    if ( pairs->index_is_made && ( pairs->index_count + 1 ) * 3 <= pairs->index_capacity * 2 )
    {
        return true;
    }
    uint64_t capacity = LEAST_INDEX;
    while ( capacity < 2 * pair_total( pairs ) + 2 )
    {
        capacity *= 2;
    }
    if ( capacity > pairs->index_capacity )
    {
        uint32_t* index = base_memory_take( pairs->memory, capacity, sizeof( uint32_t ) );
        if ( index == NULL )
        {
            return false;
        }
        base_memory_give( pairs->memory, pairs->index, pairs->index_capacity, sizeof( uint32_t ) );
        pairs->index = index;
        pairs->index_capacity = capacity;
    }
    fill_index( pairs );
    pairs->index_is_made = true;
    return true;
}

// Knuth's deletion for linear probing: whoever could not get home because of the gap moves into it.
static void forget_entry( rest_pairs* pairs, uint64_t gap )
{
    uint64_t mask = pairs->index_capacity - 1;
    for ( uint64_t at = ( gap + 1 ) & mask; pairs->index[at] != 0; at = ( at + 1 ) & mask )
    {
        uint64_t home = home_of( pairs, pair_at( pairs, pairs->index[at] ) );
        if ( ( ( at - home ) & mask ) >= ( ( at - gap ) & mask ) )
        {
            pairs->index[gap] = pairs->index[at];
            gap = at;
        }
    }
    pairs->index[gap] = 0;
    pairs->index_count -= 1;
}

// ---- the list ----------------------------------------------------------------------------------------------------

static bool append( rest_pairs* pairs, clv_pair pair )
{
    pair_list* list = &pairs->list;
    if ( list->count >= MOST_PAIRS ||
        ( list->count == list->capacity && !pair_list_reserve( list, pairs->memory, list->count + 64 ) ) )
    {
        return false;
    }
    list->pairs[list->count++] = pair;
    pairs->change_count += 1;
    return true;
}

// The last pair takes the place of the one that goes. Whoever holds the place's number is told.
static void take_out( rest_pairs* pairs, uint32_t place )
{
    pair_list* list = &pairs->list;
    uint32_t last = (uint32_t)list->count - 1;
    if ( place != last )
    {
        uint64_t at = find( pairs, list->pairs[last] );
        CLV_ASSERT( pairs->index[at] != 0 );
        if ( is_marginal( pairs->index[at] ) )
        {
            pairs->places[number_of( pairs->index[at] )] = place;
        }
        else
        {
            pairs->index[at] = entry_of_place( place );
        }
        list->pairs[place] = list->pairs[last];
    }
    list->count -= 1;
    pairs->change_count += 1;
}

// ---- marginal pairs ----------------------------------------------------------------------------------------------

// The array of pairs grows last: its capacity is what is asked for.
static bool reserve_marginal( rest_pairs* pairs, uint64_t count )
{
    base_memory* memory = pairs->memory;
    uint64_t kept = pairs->marginal_count;
    uint64_t wanted = count + count / 2;
    uint64_t words = wanted / 64 + 1;
    uint64_t words_before = pairs->touching_capacity;
    void* marginal = pairs->marginal;
    void* places = pairs->places;
    void* touching = pairs->touching;
    void* tested = pairs->tested;
    bool ok =
        base_memory_reserve( memory, &places, &pairs->place_capacity, kept, wanted, sizeof( uint32_t ) ) &&
        base_memory_reserve(
            memory, &touching, &pairs->touching_capacity, words_before, words, sizeof( uint64_t ) ) &&
        base_memory_reserve( memory, &tested, &pairs->tested_capacity, 0, words, sizeof( uint64_t ) ) &&
        base_memory_resize( memory, &marginal, &pairs->marginal_capacity, kept, wanted, sizeof( clv_pair ) );
    pairs->marginal = marginal;
    pairs->places = places;
    pairs->touching = touching;
    pairs->tested = tested;
    if ( pairs->touching_capacity > words_before ) // bits are set one by one, and the others read along
    {
        uint64_t fresh = pairs->touching_capacity - words_before;
        memset( pairs->touching + words_before, 0, (size_t)fresh * sizeof( uint64_t ) );
    }
    return ok;
}

static void set_touching( rest_pairs* pairs, uint32_t number, bool touches )
{
    uint64_t bit = (uint64_t)1 << ( number & 63 );
    uint64_t* word = &pairs->touching[number >> 6];
    *word = touches ? *word | bit : *word & ~bit;
}

static bool add_marginal( rest_pairs* pairs, clv_pair pair )
{
    uint32_t number = pairs->marginal_count;
    if ( number >= MOST_PAIRS ||
        ( number >= pairs->marginal_capacity && !reserve_marginal( pairs, (uint64_t)number + 64 ) ) )
    {
        return false;
    }
    pairs->marginal[number] = pair;
    set_touching( pairs, number, false );
    pairs->marginal_count += 1;
    pairs->degrees[pair.a] += 1;
    pairs->degrees[pair.b] += 1;
    return true;
}

// The last marginal pair takes the number of the one that goes, whose entry in the index is gone or another already.
static void drop_marginal( rest_pairs* pairs, uint32_t number )
{
    clv_pair gone = pairs->marginal[number];
    uint32_t last = pairs->marginal_count - 1;
    pairs->degrees[gone.a] -= 1;
    pairs->degrees[gone.b] -= 1;
    if ( number != last )
    {
        uint64_t at = find( pairs, pairs->marginal[last] );
        CLV_ASSERT( pairs->index[at] == entry_of_marginal( last ) );
        pairs->index[at] = entry_of_marginal( number );
        pairs->marginal[number] = pairs->marginal[last];
        pairs->places[number] = pairs->places[last];
        set_touching( pairs, number, rest_pairs_is_touching( pairs, last ) );
    }
    pairs->marginal_count -= 1;
}

uint32_t rest_pairs_find_marginal( rest_pairs* pairs, uint32_t slot_a, uint32_t slot_b )
{
    if ( !make_index( pairs ) )
    {
        return UINT32_MAX;
    }
    uint32_t entry = pairs->index[find( pairs, pair_of( slot_a, slot_b ) )];
    CLV_ASSERT( entry != 0 && is_marginal( entry ) );
    return number_of( entry );
}

bool rest_pairs_turn( rest_pairs* pairs, uint32_t number, bool touches )
{
    if ( rest_pairs_is_touching( pairs, number ) == touches )
    {
        return true;
    }
    if ( touches )
    {
        if ( !append( pairs, pairs->marginal[number] ) )
        {
            return false;
        }
        pairs->places[number] = (uint32_t)pairs->list.count - 1;
    }
    else
    {
        if ( !make_index( pairs ) )
        {
            return false;
        }
        take_out( pairs, pairs->places[number] );
    }
    set_touching( pairs, number, touches );
    return true;
}

// ---- changes -----------------------------------------------------------------------------------------------------

static bool begin_pair( rest_pairs* pairs, clv_pair pair, rest_class to )
{
    bool is_sure = to == REST_SURE;
    if ( is_sure ? !append( pairs, pair ) : !add_marginal( pairs, pair ) )
    {
        return false;
    }
    if ( pairs->index_is_made )
    {
        put_new( pairs, pair,
            is_sure ? entry_of_place( (uint32_t)pairs->list.count - 1 )
                    : entry_of_marginal( pairs->marginal_count - 1 ) );
    }
    return true;
}

static bool sure_to_marginal( rest_pairs* pairs, clv_pair pair, uint64_t at )
{
    uint32_t place = number_of( pairs->index[at] );
    if ( !add_marginal( pairs, pair ) )
    {
        return false;
    }
    uint32_t number = pairs->marginal_count - 1;
    pairs->places[number] = place;
    set_touching( pairs, number, true );
    pairs->index[at] = entry_of_marginal( number );
    return true;
}

static bool marginal_to_sure( rest_pairs* pairs, uint64_t at )
{
    uint32_t number = number_of( pairs->index[at] );
    if ( !rest_pairs_turn( pairs, number, true ) )
    {
        return false;
    }
    pairs->index[at] = entry_of_place( pairs->places[number] );
    drop_marginal( pairs, number );
    return true;
}

static void end_pair( rest_pairs* pairs, uint64_t at )
{
    uint32_t entry = pairs->index[at];
    uint32_t number = number_of( entry );
    if ( !is_marginal( entry ) )
    {
        forget_entry( pairs, at );
        take_out( pairs, number );
        return;
    }
    bool touches = rest_pairs_is_touching( pairs, number );
    forget_entry( pairs, at );
    if ( touches )
    {
        take_out( pairs, pairs->places[number] );
    }
    drop_marginal( pairs, number );
}

bool rest_pairs_change( rest_pairs* pairs, uint32_t slot_a, uint32_t slot_b, rest_class from, rest_class to )
{
    clv_pair pair = pair_of( slot_a, slot_b );
    CLV_ASSERT( from != to );
    if ( from == REST_APART )
    {
        return ( !pairs->index_is_made || make_index( pairs ) ) && begin_pair( pairs, pair, to );
    }
    if ( !make_index( pairs ) )
    {
        return false;
    }
    uint64_t at = find( pairs, pair );
    CLV_ASSERT( pairs->index[at] != 0 && is_marginal( pairs->index[at] ) == ( from == REST_MARGINAL ) );
    if ( to == REST_APART )
    {
        end_pair( pairs, at );
        return true;
    }
    return to == REST_MARGINAL ? sure_to_marginal( pairs, pair, at ) : marginal_to_sure( pairs, at );
}

uint64_t rest_pairs_sure_count( const rest_pairs* pairs )
{
    uint64_t touching = 0;
    for ( uint32_t i = 0; i < pairs->marginal_count; ++i )
    {
        touching += rest_pairs_is_touching( pairs, i );
    }
    return pairs->list.count - touching;
}

// ---- checking ----------------------------------------------------------------------------------------------------

const char* rest_pairs_check( const rest_pairs* pairs )
{
    uint32_t touching = 0;
    for ( uint32_t i = 0; i < pairs->marginal_count; ++i )
    {
        clv_pair pair = pairs->marginal[i];
        if ( rest_pairs_is_touching( pairs, i ) )
        {
            touching += 1;
            clv_pair listed = pairs->places[i] < pairs->list.count ? pairs->list.pairs[pairs->places[i]]
                                                                   : ( clv_pair ){ 0, 0 };
            if ( listed.a != pair.a || listed.b != pair.b )
            {
                return "a marginal pair is not where it says in the list";
            }
        }
        if ( pairs->index_is_made && pairs->index[find( pairs, pair )] != entry_of_marginal( i ) )
        {
            return "the index does not lead to a marginal pair";
        }
    }
    uint32_t sure = 0;
    for ( uint32_t i = 0; i < pairs->list.count && pairs->index_is_made; ++i )
    {
        uint32_t entry = pairs->index[find( pairs, pairs->list.pairs[i] )];
        if ( entry == 0 || ( !is_marginal( entry ) && number_of( entry ) != i ) )
        {
            return "the index does not lead to a pair of the list";
        }
        sure += !is_marginal( entry );
    }
    if ( pairs->index_is_made &&
        ( sure + touching != pairs->list.count ||
            pairs->index_count != (uint64_t)sure + pairs->marginal_count ) )
    {
        return "the list, the marginal pairs and the index differ in number";
    }
    return NULL;
}
