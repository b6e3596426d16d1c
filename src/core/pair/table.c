// SPDX-License-Identifier: MIT
#include "pair/table.h"

#include "base/assertion.h"
#include "base/bit_set.h"

void clv_pair_table_free( pair_table* table, base_memory* memory )
{
    base_array_free( &table->list, memory );
    clv_pair_keys_free( &table->keys, memory );
}

void clv_pair_table_clear( pair_table* table )
{
    table->list.count = 0;
    clv_pair_keys_clear( &table->keys );
}

bool clv_pair_table_add( pair_table* table, base_memory* memory, uint32_t slot_a, uint32_t slot_b )
{
    CLV_ASSERT( slot_a != slot_b );
    pair_list* list = &table->list;
    if ( !clv_pair_keys_make_room( &table->keys, memory ) )
    {
        return false;
    }
    clv_pair pair = { slot_a < slot_b ? slot_a : slot_b, slot_a < slot_b ? slot_b : slot_a };
    uint64_t key = base_pair_key( pair );
    uint64_t place = pair_keys_find( &table->keys, key );
    if ( table->keys.places[place] == key )
    {
        return true;
    }
    if ( list->count == list->capacity &&
        !base_array_reserve( list, memory, list->count + BASE_LEAST_PLACES ) )
    {
        return false;
    }
    table->keys.places[place] = key;
    table->keys.count += 1;
    list->items[list->count++] = pair;
    CLV_ASSERT( list->count == table->keys.count );
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
static void forget_key( pair_keys* keys, uint64_t key )
{
    uint64_t mask = keys->capacity - 1, *places = keys->places;
    uint64_t gap = pair_keys_find( keys, key );
    CLV_ASSERT( places[gap] == key );
    for ( uint64_t place = ( gap + 1 ) & mask; places[place] != 0; place = ( place + 1 ) & mask )
    {
        uint64_t home = base_pair_home( places[place], keys->capacity );
        if ( ( ( place - home ) & mask ) >= ( ( place - gap ) & mask ) )
        {
            places[gap] = places[place];
            gap = place;
        }
    }
    places[gap] = 0;
    keys->count -= 1;
}

void clv_pair_table_cull( pair_table* table, const clv_aabb* boxes, const uint64_t* live )
{
    uint64_t kept = 0;
    pair_list* list = &table->list;
    for ( uint64_t i = 0; i < list->count; ++i )
    {
        clv_pair pair = list->items[i];
        CLV_ASSERT( pair.a < pair.b );
        bool lives = live == NULL || base_bits_has_both( live, pair.a, pair.b );
        if ( lives && clv_aabb_overlap( boxes[pair.a], boxes[pair.b] ) )
        {
            list->items[kept++] = pair;
        }
        else
        {
            forget_key( &table->keys, base_pair_key( pair ) );
        }
    }
    list->count = kept;
}

const char* clv_pair_table_check( const pair_table* table )
{
    uint64_t used = 0;
    for ( uint64_t i = 0; i < table->keys.capacity; ++i )
    {
        used += table->keys.places[i] != 0;
    }
    if ( used != table->list.count || used != table->keys.count )
    {
        return "the pair table holds more or fewer keys than its list has pairs";
    }
    for ( uint64_t i = 0; i < table->list.count; ++i )
    {
        uint64_t key = base_pair_key( table->list.items[i] );
        if ( table->keys.places[pair_keys_find( &table->keys, key )] != key )
        {
            return "a pair of the list is not found in its table";
        }
    }
    return NULL;
}
