// SPDX-License-Identifier: MIT
// A word of the caller's per pair that lives as long as the pair. Lists come in any order, so words follow by
// a table; they lie beside the pairs, so that the caller reads and writes them without a call.
#include "space/space_internal.h"

#include "base/assertion.h"

static void swap_words( clv_space* space )
{
    pair_list list = space->list;
    base_u64_array words = space->words;
    space->list = space->last_list;
    space->words = space->last_words;
    space->last_list = list;
    space->last_words = words;
}

// After a failed update the last good list stands aside already.
void clv_space_words_begin( clv_space* space )
{
    if ( space->def.pair_data && space->list_is_valid )
    {
        CLV_ASSERT( space->words.count == space->list.count );
        swap_words( space );
    }
}

void clv_space_words_keep( clv_space* space )
{
    if ( space->def.pair_data )
    {
        swap_words( space );
    }
}

static bool is_of_newcomers( const object_store* objects, clv_pair pair )
{
    const uint8_t* renewed = objects->columns[OBJECT_RENEWED];
    return renewed != NULL && ( renewed[pair.a] | renewed[pair.b] ) != 0;
}

bool clv_space_words_carry( clv_space* space )
{
    if ( !space->def.pair_data )
    {
        return true;
    }
    CLV_ASSERT( space->last_words.count == space->last_list.count );
    const pair_word_table* table = &space->word_table;
    space->words.count = 0;
    if ( !clv_pair_words_fill(
             &space->word_table, &space->memory, &space->last_list, space->last_words.items ) ||
        !base_array_reserve( &space->words, &space->memory, space->list.count ) )
    {
        return false;
    }
    for ( uint64_t i = 0; i < space->list.count; ++i )
    {
        clv_pair pair = space->list.items[i];
        bool is_same = !is_of_newcomers( &space->objects, pair );
        space->words.items[i] = is_same ? clv_pair_words_get( table, pair ) : 0;
    }
    space->words.count = space->list.count;
    return true;
}

bool clv_space_words_end( clv_space* space )
{
    if ( !space->def.pair_data )
    {
        return true;
    }
    base_u64_array* words = &space->ended_words;
    words->count = 0;
    if ( !base_array_reserve( words, &space->memory, space->ended.count ) )
    {
        return false;
    }
    for ( ; words->count < space->ended.count; ++words->count )
    {
        clv_id_pair ids = space->ended.items[words->count];
        clv_pair pair = { ids.a.index, ids.b.index };
        CLV_ASSERT( pair.a < pair.b && pair.b < space->objects.slot_count );
        words->items[words->count] = clv_pair_words_get( &space->word_table, pair );
    }
    return true;
}

void clv_space_words_clear( clv_space* space )
{
    space->words.count = 0;
    space->last_list.count = 0;
    space->last_words.count = 0;
}
