// SPDX-License-Identifier: MIT
#include "pair/table.h"

#include "base/assertion.h"
#include "base/bit_set.h"
#include "base/pair_key.h"

#include <string.h>

void clv_pair_table_free( pair_table* table, base_memory* memory )
{
    base_array_free( &table->list, memory );
    clv_base_memory_give( memory, table->keys, table->capacity, sizeof( uint64_t ) );
    *table = ( pair_table ){ 0 };
}

void clv_pair_table_clear( pair_table* table )
{
    table->list.count = 0;
    if ( table->capacity > 0 )
    {
        memset( table->keys, 0, (size_t)table->capacity * sizeof( uint64_t ) );
    }
}

// The place of a key, or the empty one where it would go.
static uint64_t find_place( const pair_table* table, uint64_t key )
{
    uint64_t place = base_pair_home( key, table->capacity );
    while ( table->keys[place] != 0 && table->keys[place] != key )
    {
        place = ( place + 1 ) & ( table->capacity - 1 );
    }
    return place;
}

static bool grow_table( pair_table* table, base_memory* memory )
{
    uint64_t capacity = table->capacity > 0 ? table->capacity * 2 : BASE_LEAST_PLACES;
    uint64_t* keys = clv_base_memory_take( memory, capacity, sizeof( uint64_t ) );
    if ( keys == NULL )
    {
        return false;
    }
    memset( keys, 0, (size_t)capacity * sizeof( uint64_t ) );
    clv_base_memory_give( memory, table->keys, table->capacity, sizeof( uint64_t ) );
    table->keys = keys;
    table->capacity = capacity;
    for ( uint64_t i = 0; i < table->list.count; ++i )
    {
        uint64_t key = base_pair_key( table->list.items[i] );
        table->keys[find_place( table, key )] = key;
    }
    return true;
}

bool clv_pair_table_add( pair_table* table, base_memory* memory, uint32_t slot_a, uint32_t slot_b )
{
    CLV_ASSERT( slot_a != slot_b );
    pair_list* list = &table->list;
    if ( ( list->count + 1 ) * 2 > table->capacity && !grow_table( table, memory ) )
    {
        return false;
    }
    clv_pair pair = { slot_a < slot_b ? slot_a : slot_b, slot_a < slot_b ? slot_b : slot_a };
    uint64_t key = base_pair_key( pair );
    uint64_t place = find_place( table, key );
    if ( table->keys[place] == key )
    {
        return true;
    }
    if ( list->count == list->capacity &&
        !base_array_reserve( list, memory, list->count + BASE_LEAST_PLACES ) )
    {
        return false;
    }
    table->keys[place] = key;
    list->items[list->count++] = pair;
    return true;
}

clv_result clv_pair_table_sink_flush( pair_table_sink* out )
{
    pair_list* list = &out->table->list;
    uint64_t known = list->count;
    bool ok = true;
    for ( uint64_t i = 0; i < out->sink.count && ok; ++i )
    {
        ok = clv_pair_table_add( out->table, out->memory, out->pairs[i].a, out->pairs[i].b );
    }
    out->sink.count = 0;
    if ( !ok )
    {
        return CLV_OUT_OF_MEMORY;
    }
    return out->target != NULL && list->count > known
        ? clv_pair_sink_put_all( out->target, list->items + known, list->count - known )
        : CLV_OK;
}

static clv_result make_table_room( clv_pair_sink* sink )
{
    return clv_pair_table_sink_flush( (pair_table_sink*)sink );
}

void clv_pair_table_sink_open(
    pair_table_sink* out, pair_table* table, base_memory* memory, clv_pair_sink* target )
{
    out->sink = ( clv_pair_sink ){
        .pairs = out->pairs,
        .capacity = sizeof( out->pairs ) / sizeof( out->pairs[0] ),
        .make_room = make_table_room,
    };
    out->table = table;
    out->memory = memory;
    out->target = target;
}

// Knuth's deletion for linear probing: a key that was displaced past the gap moves into it.
static void forget_key( pair_table* table, uint64_t key )
{
    uint64_t mask = table->capacity - 1;
    uint64_t gap = find_place( table, key );
    CLV_ASSERT( table->keys[gap] == key );
    for ( uint64_t place = ( gap + 1 ) & mask; table->keys[place] != 0; place = ( place + 1 ) & mask )
    {
        uint64_t home = base_pair_home( table->keys[place], table->capacity );
        if ( ( ( place - home ) & mask ) >= ( ( place - gap ) & mask ) )
        {
            table->keys[gap] = table->keys[place];
            gap = place;
        }
    }
    table->keys[gap] = 0;
}

void clv_pair_table_cull( pair_table* table, const clv_aabb* boxes, const uint64_t* live )
{
    uint64_t kept = 0;
    pair_list* list = &table->list;
    for ( uint64_t i = 0; i < list->count; ++i )
    {
        clv_pair pair = list->items[i];
        bool lives = live == NULL || base_bits_has_both( live, pair.a, pair.b );
        if ( lives && clv_aabb_overlap( boxes[pair.a], boxes[pair.b] ) )
        {
            list->items[kept++] = pair;
        }
        else
        {
            forget_key( table, base_pair_key( pair ) );
        }
    }
    list->count = kept;
}

const char* clv_pair_table_check( const pair_table* table )
{
    uint64_t used = 0;
    for ( uint64_t i = 0; i < table->capacity; ++i )
    {
        used += table->keys[i] != 0;
    }
    if ( used != table->list.count )
    {
        return "the pair table holds more or fewer keys than its list has pairs";
    }
    for ( uint64_t i = 0; i < table->list.count; ++i )
    {
        uint64_t key = base_pair_key( table->list.items[i] );
        if ( table->keys[find_place( table, key )] != key )
        {
            return "a pair of the list is not found in its table";
        }
    }
    return NULL;
}
