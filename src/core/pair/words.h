// SPDX-License-Identifier: MIT
// Words of the caller's by pair, those that are not 0: a hash table with open addressing, filled anew for
// each list.
#pragma once

#include "pair/list.h"

typedef struct pair_word
{
    uint64_t key; ///< base_pair_key, never 0; 0 where empty
    uint64_t word;
} pair_word;

typedef struct pair_word_table
{
    BASE_ARRAY( pair_word ) entries; ///< `count` of them are words
    uint64_t places; ///< a power of two of the entries that is in use, at most half of them with a word
} pair_word_table;

/// Forget what is there and take the words that lie beside a list. False if out of memory; then the table is
/// empty.
bool clv_pair_words_fill(
    pair_word_table* table, base_memory* memory, const pair_list* list, const uint64_t* words );

/// The word of a pair, 0 if it has none.
uint64_t clv_pair_words_get( const pair_word_table* table, clv_pair pair );
