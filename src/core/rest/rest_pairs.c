// SPDX-License-Identifier: MIT
#include "rest/rest_pairs.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <string.h>

#define MOST_PAIRS ( (uint64_t)1 << 31 ) // places are 32 bits, with one to spare
#define EXPECTED_MARGINAL 8              // for so many pairs there is room for a marginal one at first

void clv_rest_pairs_init( rest_pairs* pairs, base_memory* memory )
{
    *pairs = ( rest_pairs ){ .memory = memory };
    clv_rest_marginal_init( &pairs->marginal, memory );
}

BASE_COLD void clv_rest_pairs_release( rest_pairs* pairs )
{
    base_memory* memory = pairs->memory;
    base_array_free( &pairs->list, memory );
    clv_rest_marginal_release( &pairs->marginal );
    base_array_free( &pairs->numbers, memory );
    base_array_free( &pairs->heads, memory );
    base_array_free( &pairs->nexts, memory );
    clv_rest_pairs_init( pairs, memory );
}

bool clv_rest_pairs_reserve( rest_pairs* pairs, uint32_t slot_count )
{
    return clv_rest_marginal_reserve( &pairs->marginal, slot_count ) &&
        base_array_extend( &pairs->heads, pairs->memory, slot_count );
}

bool clv_rest_pairs_begin( rest_pairs* pairs, uint32_t slot_count, uint64_t pair_count, uint64_t most )
{
    pairs->most = most;
    pairs->list.count = 0;
    pairs->sure_count = 0;
    pairs->is_chained = false;
    pairs->change_count += 1;
    return clv_rest_pairs_reserve( pairs, slot_count ) &&
        clv_rest_marginal_clear( &pairs->marginal, pair_count / EXPECTED_MARGINAL ) &&
        base_array_reserve( &pairs->list, pairs->memory, pair_count < most ? pair_count : most );
}

static clv_pair pair_of( uint32_t slot_a, uint32_t slot_b )
{
    clv_pair pair = { slot_a < slot_b ? slot_a : slot_b, slot_a < slot_b ? slot_b : slot_a };
    return pair;
}

// ---- chains of sure pairs

// A pair is in the chain of one of its two objects, whichever has fewer there at first sight: so an object
// that touches all others owns nothing. A search for a pair walks both chains at once and ends when the
// shorter one does.

static void chain_pair( rest_pairs* pairs, uint32_t place )
{
    CLV_ASSERT( place < pairs->sure_count && place < pairs->nexts.capacity );
    clv_pair pair = pairs->list.items[place];
    uint32_t a = pairs->heads.items[pair.a], b = pairs->heads.items[pair.b];
    while ( a != 0 && b != 0 )
    {
        a = pairs->nexts.items[a - 1];
        b = pairs->nexts.items[b - 1];
    }
    uint32_t* head = &pairs->heads.items[a == 0 ? pair.a : pair.b];
    pairs->nexts.items[place] = *head;
    *head = place + 1;
}

// The link that leads to a place, which is there.
static uint32_t* find_link( rest_pairs* pairs, clv_pair pair, uint32_t place )
{
    uint32_t* a = &pairs->heads.items[pair.a];
    uint32_t* b = &pairs->heads.items[pair.b];
    for ( ;; )
    {
        CLV_ASSERT( *a != 0 || *b != 0 );
        pairs->step_count += 1;
        if ( *a == place + 1 )
        {
            return a;
        }
        if ( *b == place + 1 )
        {
            return b;
        }
        a = *a != 0 ? &pairs->nexts.items[*a - 1] : a;
        b = *b != 0 ? &pairs->nexts.items[*b - 1] : b;
    }
}

static bool is_at( const rest_pairs* pairs, uint32_t link, clv_pair pair )
{
    return link != 0 && pairs->list.items[link - 1].a == pair.a && pairs->list.items[link - 1].b == pair.b;
}

// The link that leads to a pair, or NULL.
static uint32_t* find_pair( rest_pairs* pairs, clv_pair pair )
{
    uint32_t* a = &pairs->heads.items[pair.a];
    uint32_t* b = &pairs->heads.items[pair.b];
    while ( *a != 0 || *b != 0 )
    {
        pairs->step_count += 1;
        if ( is_at( pairs, *a, pair ) )
        {
            return a;
        }
        if ( is_at( pairs, *b, pair ) )
        {
            return b;
        }
        a = *a != 0 ? &pairs->nexts.items[*a - 1] : a;
        b = *b != 0 ? &pairs->nexts.items[*b - 1] : b;
    }
    return NULL;
}

// All pairs at once: each goes to the object that is in fewer of them. Until then heads count pairs, and
// nexts name owners.
static void chain_all( rest_pairs* pairs )
{
    uint32_t* heads = pairs->heads.items;
    uint32_t* nexts = pairs->nexts.items;
    const clv_pair* list = pairs->list.items;
    memset( heads, 0, (size_t)pairs->heads.capacity * sizeof( uint32_t ) );
    for ( uint64_t place = 0; place < pairs->sure_count; ++place )
    {
        heads[list[place].a] += 1;
        heads[list[place].b] += 1;
    }
    for ( uint64_t place = 0; place < pairs->sure_count; ++place )
    {
        nexts[place] = heads[list[place].a] <= heads[list[place].b] ? list[place].a : list[place].b;
    }
    memset( heads, 0, (size_t)pairs->heads.capacity * sizeof( uint32_t ) );
    for ( uint64_t place = 0; place < pairs->sure_count; ++place )
    {
        uint32_t owner = nexts[place];
        CLV_ASSERT( owner < pairs->heads.capacity && heads[owner] <= place );
        nexts[place] = heads[owner];
        heads[owner] = (uint32_t)place + 1;
    }
}

static bool make_chains( rest_pairs* pairs )
{
    if ( !base_array_extend( &pairs->nexts, pairs->memory, pairs->sure_count + 1 ) )
    {
        return false;
    }
    if ( !pairs->is_chained )
    {
        chain_all( pairs );
        pairs->is_chained = true;
    }
    return true;
}

// ---- the list

static bool reserve_list( rest_pairs* pairs )
{
    pair_list* list = &pairs->list;
    return list->count < MOST_PAIRS &&
        ( list->count < list->capacity || base_array_reserve( list, pairs->memory, list->count + 64 ) );
}

// Enough for all marginal pairs there is room for.
static bool reserve_numbers( rest_pairs* pairs )
{
    rest_marginal* marginal = &pairs->marginal;
    if ( marginal->pairs.capacity <= pairs->numbers.capacity )
    {
        return true;
    }
    uint64_t capacity = 64;
    while ( capacity < marginal->pairs.capacity )
    {
        capacity *= 2;
    }
    uint32_t* numbers = clv_base_memory_take( pairs->memory, capacity, sizeof( uint32_t ) );
    if ( numbers == NULL )
    {
        return false;
    }
    base_array_free( &pairs->numbers, pairs->memory );
    pairs->numbers.items = numbers;
    pairs->numbers.capacity = capacity;
    for ( uint32_t i = 0; i < marginal->count; ++i )
    {
        if ( rest_marginal_is_touching( marginal, i ) )
        {
            numbers[marginal->places.items[i] & ( capacity - 1 )] = i;
        }
    }
    return true;
}

static uint32_t* number_at( rest_pairs* pairs, uint64_t place )
{
    CLV_ASSERT( place >= pairs->sure_count ); // marginal ones alone have numbers
    return &pairs->numbers.items[place & ( pairs->numbers.capacity - 1 )];
}

// A marginal pair in the list goes to another place.
static void shift_marginal( rest_pairs* pairs, uint64_t from, uint64_t to )
{
    uint32_t number = *number_at( pairs, from );
    CLV_ASSERT( number < pairs->marginal.count && pairs->marginal.places.items[number] == from );
    pairs->list.items[to] = pairs->list.items[from];
    *number_at( pairs, to ) = number;
    pairs->marginal.places.items[number] = (uint32_t)to;
}

static bool append_sure( rest_pairs* pairs, clv_pair pair )
{
    pair_list* list = &pairs->list;
    if ( !reserve_list( pairs ) || ( pairs->is_chained && !make_chains( pairs ) ) )
    {
        return false;
    }
    uint64_t place = pairs->sure_count;
    if ( list->count > place )
    {
        shift_marginal( pairs, place, list->count );
    }
    CLV_ASSERT( list->count < list->capacity );
    list->items[place] = pair;
    list->count += 1;
    pairs->sure_count += 1;
    pairs->change_count += 1;
    if ( pairs->is_chained )
    {
        chain_pair( pairs, (uint32_t)place );
    }
    return true;
}

// The last sure pair takes the place of the one that goes, the last of all the place of that one.
static void remove_sure( rest_pairs* pairs, uint32_t* link )
{
    pair_list* list = &pairs->list;
    uint32_t place = *link - 1;
    uint32_t last = (uint32_t)pairs->sure_count - 1;
    CLV_ASSERT( pairs->is_chained && place <= last );
    *link = pairs->nexts.items[place];
    if ( place != last )
    {
        *find_link( pairs, list->items[last], last ) = place + 1;
        pairs->nexts.items[place] = pairs->nexts.items[last];
        list->items[place] = list->items[last];
    }
    pairs->sure_count -= 1;
    list->count -= 1;
    if ( list->count > pairs->sure_count )
    {
        shift_marginal( pairs, list->count, last );
    }
    pairs->change_count += 1;
}

static bool append_marginal( rest_pairs* pairs, uint32_t number )
{
    pair_list* list = &pairs->list;
    if ( !reserve_list( pairs ) || !reserve_numbers( pairs ) )
    {
        return false;
    }
    CLV_ASSERT( !rest_marginal_is_touching( &pairs->marginal, number ) );
    list->items[list->count] = pairs->marginal.pairs.items[number];
    *number_at( pairs, list->count ) = number;
    pairs->marginal.places.items[number] = (uint32_t)list->count;
    rest_marginal_set_touching( &pairs->marginal, number, true );
    list->count += 1;
    pairs->change_count += 1;
    return true;
}

static void remove_marginal( rest_pairs* pairs, uint32_t number )
{
    uint32_t place = pairs->marginal.places.items[number];
    CLV_ASSERT( place >= pairs->sure_count && place < pairs->list.count );
    pairs->list.count -= 1;
    if ( place != pairs->list.count )
    {
        shift_marginal( pairs, pairs->list.count, place );
    }
    rest_marginal_set_touching( &pairs->marginal, number, false );
    pairs->change_count += 1;
}

bool clv_rest_pairs_turn( rest_pairs* pairs, uint32_t number, bool touches )
{
    CLV_ASSERT( number < pairs->marginal.count );
    if ( rest_marginal_is_touching( &pairs->marginal, number ) == touches )
    {
        return true;
    }
    if ( touches )
    {
        return append_marginal( pairs, number );
    }
    remove_marginal( pairs, number );
    return true;
}

// ---- changes

static void drop_marginal( rest_pairs* pairs, uint32_t number )
{
    rest_marginal* marginal = &pairs->marginal;
    if ( rest_marginal_is_touching( marginal, number ) )
    {
        remove_marginal( pairs, number );
    }
    clv_rest_marginal_drop( marginal, number );
    if ( number < marginal->count && rest_marginal_is_touching( marginal, number ) )
    {
        *number_at( pairs, marginal->places.items[number] ) = number; // another one now
    }
}

static bool change_sure( rest_pairs* pairs, clv_pair pair, rest_class to )
{
    if ( !make_chains( pairs ) )
    {
        return false;
    }
    uint32_t* link = find_pair( pairs, pair );
    CLV_ASSERT( link != NULL );
    remove_sure( pairs, link );
    return to == REST_APART ||
        ( clv_rest_marginal_add( &pairs->marginal, pair ) &&
            append_marginal( pairs, pairs->marginal.count - 1 ) );
}

static bool change_marginal( rest_pairs* pairs, clv_pair pair, rest_class to )
{
    uint32_t number = clv_rest_marginal_find( &pairs->marginal, pair );
    CLV_ASSERT( number != REST_NO_PAIR );
    drop_marginal( pairs, number );
    return to == REST_APART || append_sure( pairs, pair );
}

bool clv_rest_pairs_change(
    rest_pairs* pairs, uint32_t slot_a, uint32_t slot_b, rest_class from, rest_class to )
{
    clv_pair pair = pair_of( slot_a, slot_b );
    CLV_ASSERT( from != to );
    CLV_ASSERT( pair.a < pair.b && pair.b < pairs->heads.capacity );
    if ( !clv_rest_marginal_link( &pairs->marginal ) )
    {
        return false;
    }
    if ( from == REST_APART )
    {
        if ( pairs->sure_count + pairs->marginal.count >= pairs->most )
        {
            return false;
        }
        return to == REST_SURE ? append_sure( pairs, pair ) : clv_rest_marginal_add( &pairs->marginal, pair );
    }
    return from == REST_SURE ? change_sure( pairs, pair, to ) : change_marginal( pairs, pair, to );
}

bool clv_rest_pairs_add(
    rest_pairs* pairs, const clv_pair* sure, uint64_t sure_count, const clv_pair* marginal, uint32_t count )
{
    pair_list* list = &pairs->list;
    CLV_ASSERT( list->count == pairs->sure_count && !pairs->is_chained );
    uint64_t all = list->count + sure_count;
    if ( all + pairs->marginal.count + count > pairs->most || all > MOST_PAIRS ||
        ( all > list->capacity && !base_array_reserve( list, pairs->memory, all ) ) )
    {
        return false;
    }
    CLV_ASSERT( all <= list->capacity );
    if ( sure_count > 0 ) // or there may be no list yet
    {
        memcpy( list->items + list->count, sure, (size_t)sure_count * sizeof( clv_pair ) );
    }
    list->count = all;
    pairs->sure_count = all;
    pairs->change_count += sure_count;
    return clv_rest_marginal_append( &pairs->marginal, marginal, count );
}

bool clv_rest_pairs_add_touching( rest_pairs* pairs )
{
    rest_marginal* marginal = &pairs->marginal;
    pair_list* list = &pairs->list;
    uint64_t all = list->count;
    CLV_ASSERT( list->count == pairs->sure_count );
    for ( uint64_t word = 0; word < base_bits_words( marginal->count ); ++word )
    {
        uint64_t left = marginal->count - word * 64;
        all +=
            base_bit_count( marginal->tested.items[word] & base_bits_low( left < 64 ? (uint32_t)left : 64 ) );
    }
    if ( all > MOST_PAIRS || !base_array_reserve( list, pairs->memory, all ) || !reserve_numbers( pairs ) )
    {
        return false;
    }
    for ( uint32_t number = 0; number < marginal->count; ++number )
    {
        bool touches = base_bits_has( marginal->tested.items, number );
        rest_marginal_set_touching( marginal, number, touches );
        if ( touches )
        {
            list->items[list->count] = marginal->pairs.items[number];
            *number_at( pairs, list->count ) = number;
            marginal->places.items[number] = (uint32_t)list->count++;
        }
    }
    pairs->change_count += list->count - pairs->sure_count;
    return true;
}

bool clv_rest_pairs_restore( rest_pairs* pairs, uint32_t slot_count )
{
    return clv_rest_pairs_reserve( pairs, slot_count ) && reserve_numbers( pairs );
}

// ---- checking

static const char* check_chains( const rest_pairs* pairs, uint32_t slot_count )
{
    uint64_t sum = 0;
    for ( uint32_t slot = 0; slot < slot_count; ++slot )
    {
        for ( uint32_t link = pairs->heads.items[slot]; link != 0; link = pairs->nexts.items[link - 1] )
        {
            sum += 1;
            if ( link > pairs->sure_count || sum > pairs->sure_count )
            {
                return "a chain leads out of the sure pairs";
            }
            clv_pair pair = pairs->list.items[link - 1];
            if ( pair.a != slot && pair.b != slot )
            {
                return "a chain leads to a pair of other objects";
            }
        }
    }
    return sum == pairs->sure_count ? NULL : "chains and sure pairs differ in number";
}

BASE_COLD const char* clv_rest_pairs_check( const rest_pairs* pairs, uint32_t slot_count )
{
    const rest_marginal* marginal = &pairs->marginal;
    const char* broken = clv_rest_marginal_check( marginal, slot_count );
    uint64_t touching = 0;
    for ( uint32_t i = 0; i < marginal->count && broken == NULL; ++i )
    {
        if ( !rest_marginal_is_touching( marginal, i ) )
        {
            continue;
        }
        uint64_t place = marginal->places.items[i];
        touching += 1;
        bool is_there = place >= pairs->sure_count && place < pairs->list.count &&
            pairs->list.items[place].a == marginal->pairs.items[i].a &&
            pairs->list.items[place].b == marginal->pairs.items[i].b &&
            pairs->numbers.items[place & ( pairs->numbers.capacity - 1 )] == i;
        broken = is_there ? NULL : "a marginal pair is not where it says in the list";
    }
    if ( broken == NULL && pairs->sure_count + touching != pairs->list.count )
    {
        return "sure pairs and marginal ones that touch do not make up the list";
    }
    return broken != NULL || !pairs->is_chained ? broken : check_chains( pairs, slot_count );
}
