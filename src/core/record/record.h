// SPDX-License-Identifier: MIT
// What a recording is made of. The file is a container (base/parts.h) of kind "RECO":
//
//   "DEF."  the settings of the space, in words of 8 bytes in the order of RECORD_FIELDS; then its method and
//           its settings, two texts that end in a zero
//   "CALL"  records, whole ones; as many parts as there are
//
// A record is a head and a body, all of it little-endian, nothing aligned:
//
//      0   8  bytes of the body
//      8   1  type: RECORD_CALL, RECORD_DECIDED, RECORD_COUNTED, RECORD_ANSWER
//      9   1  of a call its kind (SPACE_CALLS); of an answer its clv_result
//     10   2  bits
//     12   4  count
//
//   call      bits: a column each (SPACE_COLUMNS), RECORD_IDS, RECORD_ROW, RECORD_MADE; count: entries. The
//             body has ids, then the columns. Ids that are a row, { i, g }, { i + 1, g }, …, are told by the
//             first alone. clv_space_shift_origin has three doubles; queries a record_query, then their
//             items, then filters; clv_space_query_pairs as_given and capacity, 8 bytes each.
//   decided   what the filter callback answered: the call's number (8), then pairs (8
//             each), then a byte for each
//   counted   what a query's callback answered: the call's number, query and slot (4 each), reach
//             (a double), yes or no (8)
//   answer    count: the position of clv_space_error, or of the bad query. The call's number, then words:
//             hashes, as RECORD_WORDS names them. Calls are numbered from 0 on; only queries of several
//             threads are answered in another order than asked.
#pragma once

#include "base/parts.h"
#include "cleave/record.h"
#include "space/call.h"

#include <string.h>

enum
{
    RECORD_VERSION = 1,
    RECORD_HEAD_BYTES = 16,
    RECORD_QUERY_BYTES = 32,
    RECORD_COUNTED_BYTES = 32,
    RECORD_MOST_WORDS = 5,
};

#define RECORD_FILE BASE_TAG( 'R', 'E', 'C', 'O' )
#define RECORD_PART_DEF BASE_TAG( 'D', 'E', 'F', '.' )
#define RECORD_PART_CALLS BASE_TAG( 'C', 'A', 'L', 'L' )

typedef enum record_type
{
    RECORD_CALL = 1,
    RECORD_DECIDED = 2,
    RECORD_COUNTED = 3,
    RECORD_ANSWER = 4,
} record_type;

enum
{
    RECORD_IDS = 1 << 13,
    RECORD_ROW = 1 << 14,
    RECORD_MADE = 1 << 15,
};

/// Bits of a list of queries.
enum
{
    RECORD_FILTERS = 1,
    RECORD_FILTER_EACH = 2,
    RECORD_AS_GIVEN = 4,
    RECORD_CALLBACK = 8,
    RECORD_OFFSETS = 16,
};

/// The settings that are kept, as words; floats as the bits of a double. New ones are added at the end.
#define RECORD_FIELDS( FIELD )                                                                               \
    FIELD( capacity, uint32_t, WHOLE )                                                                       \
    FIELD( pair_capacity, uint64_t, WHOLE )                                                                  \
    FIELD( max_pairs, uint64_t, WHOLE )                                                                      \
    FIELD( sorted, bool, WHOLE )                                                                             \
    FIELD( events, bool, WHOLE )                                                                             \
    FIELD( skip_static_pairs, bool, WHOLE )                                                                  \
    FIELD( pair_data, bool, WHOLE )                                                                          \
    FIELD( doubles, bool, WHOLE )                                                                            \
    FIELD( flat, bool, WHOLE )                                                                               \
    FIELD( isa, clv_isa, WHOLE )                                                                             \
    FIELD( worker_count, uint32_t, WHOLE )                                                                   \
    FIELD( margin, float, REAL )                                                                             \
    FIELD( margin_by_size, float, REAL )                                                                     \
    FIELD( margin_by_speed, float, REAL )

#define RECORD_FIELD_COUNT_ONE( name, type, sort ) +1
enum
{
    RECORD_FIELD_COUNT = 0 RECORD_FIELDS( RECORD_FIELD_COUNT_ONE ),
    RECORD_DEF_WORDS =
        RECORD_FIELD_COUNT + 2, ///< and whether there is a filter callback, and whether order is told
};
#undef RECORD_FIELD_COUNT_ONE

/// A column: where it stands in a clv_add_def, and its numbers.
typedef struct record_column
{
    const char* name;
    const char* type;
    size_t member;
    uint32_t unit, units;
} record_column;

extern const record_column clv_record_columns[SPACE_COLUMN_COUNT];

static inline const void* record_column_of( const clv_add_def* with, space_column column )
{
    const void* data;
    memcpy( &data, (const char*)with + clv_record_columns[column].member, sizeof( data ) );
    return data;
}

static inline void record_set_column( clv_add_def* with, space_column column, const void* data )
{
    memcpy( (char*)with + clv_record_columns[column].member, &data, sizeof( data ) );
}

/// A kind of call, for people and for tables.
typedef struct record_kind
{
    const char* name;
    const char* call; ///< as C, with the members of a space_call
    space_call_form form;
} record_kind;

/// NULL for a number that is no kind.
const record_kind* clv_record_kind( uint32_t kind );

/// Numbers of an item of a query, and their bytes; false for what is no kind. Half-spaces have so many for
/// each plane, and beside them a count and, in double, a place.
typedef struct record_items
{
    uint32_t unit, units;
    bool has_planes, has_places;
} record_items;

bool clv_record_items( uint32_t query_kind, record_items* items );

/// { i, g }, { i + 1, g }, … as the ids of a batch of all objects are, as a rule.
bool clv_record_is_row( const clv_id* ids, uint32_t count );

/// A recording whose answers come from a judge, such as brute force, for another method: `method` and
/// `settings` are the ones that it shall be played with, and the order of pairs is not told.
clv_result clv_record_create_as( const clv_recorder_def* def, clv_space* space, const char* method,
    const char* settings, clv_recorder** recorder );

// ---- answers

/// Words, in an order and as a set: the sum of their mixes, each times an odd number that tells its place.
typedef struct record_hash
{
    uint64_t count, set, order;
} record_hash;

static inline uint64_t record_mix( uint64_t z )
{
    z *= 0x9E3779B97F4A7C15u;
    z = ( z ^ z >> 32 ) * 0xBF58476D1CE4E5B9u;
    return z ^ z >> 29;
}

static inline void record_hash_add( record_hash* hash, uint64_t word )
{
    uint64_t mixed = record_mix( word + 1 );
    hash->set += mixed;
    hash->order += mixed * ( 2 * hash->count + 1 );
    hash->count += 1;
}

void clv_record_hash_pairs( record_hash* hash, const clv_pair* pairs, uint64_t count );

typedef struct record_answer
{
    clv_result result;
    uint32_t position;
    uint32_t word_count;
    uint64_t words[RECORD_MOST_WORDS];
} record_answer;

/// What the words of an answer are: of new objects their ids; of pairs how many, as a set, in order, begun,
/// ended; of queries how many hits, and the hits. NULL where there is none.
const char* clv_record_word( space_call_form form, uint32_t word );

/// Does a word depend on more than the set of pairs, so that it is promised for one method alone?
bool clv_record_word_is_order( uint32_t kind, uint32_t word );

/// The answer of a call that changes the space, right after it; `shown` is what a visitor saw.
record_answer clv_record_answer(
    const clv_space* space, const space_call* call, clv_result result, const record_hash* shown );

/// What a visitor of queries sees, kept in the job; and the answer of a call that asks.
void clv_record_see( struct query_job* job, uint32_t query, const void* hits, uint64_t count );
record_answer clv_record_query_answer( const space_call* call, clv_result result );
