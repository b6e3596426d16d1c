// SPDX-License-Identifier: MIT
#include "pair/words.h"

#include "base/assertion.h"
#include "base/pair_key.h"

// The entry with that key, or the empty one where it belongs.
static pair_word* find_word( const pair_word_table* table, uint64_t key )
{
    CLV_ASSERT( table->entries.count < table->places && table->places <= table->entries.capacity );
    uint64_t at = base_pair_home( key, table->places );
    while ( table->entries.items[at].key != 0 && table->entries.items[at].key != key )
    {
        at = ( at + 1 ) & ( table->places - 1 );
    }
    return &table->entries.items[at];
}

static uint64_t count_words( const uint64_t* words, uint64_t count )
{
    uint64_t used = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        used += words[i] != 0;
    }
    return used;
}

// Twice as many places as words at least. Of a larger table only so much is used, or clearing it would cost
// more than filling.
static bool make_word_room( pair_word_table* table, base_memory* memory, uint64_t count )
{
    uint64_t places = BASE_LEAST_PLACES;
    while ( places < 2 * count )
    {
        places *= 2;
    }
    table->places = 0;
    if ( !base_array_renew( &table->entries, memory, places ) )
    {
        return false;
    }
    table->places = places;
    memset( table->entries.items, 0, (size_t)places * sizeof( pair_word ) );
    return true;
}

bool clv_pair_words_fill(
    pair_word_table* table, base_memory* memory, const pair_list* list, const uint64_t* words )
{
    uint64_t count = count_words( words, list->count );
    table->entries.count = 0;
    if ( count == 0 )
    {
        return true;
    }
    if ( !make_word_room( table, memory, count ) )
    {
        return false;
    }
    for ( uint64_t i = 0; i < list->count; ++i )
    {
        if ( words[i] != 0 )
        {
            uint64_t key = base_pair_key( list->items[i] );
            pair_word* word = find_word( table, key );
            CLV_ASSERT( word->key == 0 ); // each pair is once in the list
            *word = ( pair_word ){ key, words[i] };
        }
    }
    table->entries.count = count;
    return true;
}

uint64_t clv_pair_words_get( const pair_word_table* table, clv_pair pair )
{
    return table->entries.count > 0 ? find_word( table, base_pair_key( pair ) )->word : 0;
}
