// SPDX-License-Identifier: MIT
// What a snapshot looks like: a file of base/parts.h. Both forms have these parts in this order; those in
// brackets only where they say.
//
//   SPAC  u64[]: save_numbers, the sizes and states of everything
//   METH  the method's name, a zero, its settings, a zero
//   GENS  u32 per slot: generations
//   [FREE u32: free slots, the next to be used first; on disk]
//   Cxxx  one part per column in use, by slot; see save_columns. Of columns that follow from
//         others nothing is on disk.
//   LIST, WORD, LSRT, BEGN, ENDD, BUSR, EUSR, EWRD, LLST, LWRD  the last list and its words, the sorted list
//         that events compare with, events and what they carry, the last good list while none is valid
//   DECI  u64: answers of the filter callback; in memory the table itself
//   Qxxx  columns as queries see them, if those are others
//   [MOVD u64: slots that moved since the last good update, in memory]
//   [the map of a space of doubles, the state of the default method: in memory, as the machine has them]
#pragma once

#include "base/parts_pass.h"
#include "object/store.h"

enum
{
    SAVE_VERSION = 1, ///< of both forms
    SAVE_COLUMNS = 14,
    SAVE_LISTS = 10,
};

#define SAVE_KIND_DISK BASE_TAG( 'S', 'N', 'A', 'P' )
#define SAVE_KIND_MEMORY BASE_TAG( 'S', 'N', 'M', 'M' )

#define SAVE_NUMBERS_TAG BASE_TAG( 'S', 'P', 'A', 'C' )
#define SAVE_METHOD_TAG BASE_TAG( 'M', 'E', 'T', 'H' )
#define SAVE_GENERATION_TAG BASE_TAG( 'G', 'E', 'N', 'S' )
#define SAVE_FREE_TAG BASE_TAG( 'F', 'R', 'E', 'E' )
#define SAVE_LIST_TAG BASE_TAG( 'L', 'I', 'S', 'T' )
#define SAVE_WORDS_TAG BASE_TAG( 'W', 'O', 'R', 'D' )
#define SAVE_SORTED_TAG BASE_TAG( 'L', 'S', 'R', 'T' )
#define SAVE_BEGUN_TAG BASE_TAG( 'B', 'E', 'G', 'N' )
#define SAVE_ENDED_TAG BASE_TAG( 'E', 'N', 'D', 'D' )
#define SAVE_BEGUN_USER_TAG BASE_TAG( 'B', 'U', 'S', 'R' )
#define SAVE_ENDED_USER_TAG BASE_TAG( 'E', 'U', 'S', 'R' )
#define SAVE_ENDED_WORDS_TAG BASE_TAG( 'E', 'W', 'R', 'D' )
#define SAVE_LAST_LIST_TAG BASE_TAG( 'L', 'L', 'S', 'T' )
#define SAVE_LAST_WORDS_TAG BASE_TAG( 'L', 'W', 'R', 'D' )
#define SAVE_DECISIONS_TAG BASE_TAG( 'D', 'E', 'C', 'I' )
#define SAVE_MOVED_TAG BASE_TAG( 'M', 'O', 'V', 'D' )

/// A column that is written as one part: `count` numbers of `unit` bytes for each slot.
typedef struct save_column
{
    object_column column;
    uint32_t tag;
    uint8_t unit, count;
    bool is_derived; ///< on disk it follows from the others
} save_column;

/// Their bits in SAVE_COLUMN_BITS are their places in this table, which only grows. Filters (category, mask,
/// group and a zero) and data of the removed are written by functions of their own.
extern const save_column clv_space_save_columns[SAVE_COLUMNS];

/// Part SPAC. New numbers are added at the end; a file with fewer has 0 for the others.
typedef enum save_number
{
    SAVE_BUILD,       ///< in memory: the build it is for
    SAVE_DEF_BITS,    ///< save_def_bit
    SAVE_STATE_BITS,  ///< save_state_bit
    SAVE_COLUMN_BITS, ///< places in clv_space_save_columns
    SAVE_MAX_PAIRS,   ///< of the def
    SAVE_MARGIN,      ///< of the def, the bits of the float
    SAVE_BY_SIZE,     ///< likewise
    SAVE_BY_SPEED,    ///< likewise
    SAVE_SLOTS,       ///< slots
    SAVE_LIVE,        ///< objects
    SAVE_FREE,        ///< free slots
    SAVE_FIRST_FREE,  ///< in memory: top of their stack, which lies in their boxes
    SAVE_LIST_NUMBER, ///< of the view
    SAVE_BORROWED,    ///< in memory: pairs of the list that the default method lends
    SAVE_UPDATES,     ///< statistics
    SAVE_PAIRS,       ///< likewise
    SAVE_CANDIDATES,  ///< likewise
    SAVE_TESTS,       ///< likewise
    SAVE_BEGUN,       ///< likewise
    SAVE_ENDED,       ///< likewise
    SAVE_QUERY_BITS,  ///< save_query_bit
    SAVE_QUERY_SLOTS, ///< of what queries see, if that is a copy
    SAVE_QUERY_LIVE,  ///< likewise
    SAVE_DECISIONS,   ///< in memory: how many of the table's places are in use
    SAVE_NUMBERS
} save_number;

typedef enum save_def_bit
{
    SAVE_SORTED = 1,
    SAVE_EVENTS = 2,
    SAVE_SKIP_STATIC = 4,
    SAVE_PAIR_DATA = 8,
    SAVE_DOUBLES = 16,
    SAVE_FLAT = 32,
    SAVE_FILTER = 64, ///< a callback
    SAVE_DEF_BITS_ALL = 127
} save_def_bit;

typedef enum save_state_bit
{
    SAVE_LIST_VALID = 1,
    SAVE_FILTERS_CHANGED = 2,
    SAVE_LAST_FAILED = 4,
    SAVE_DOUBLES_CHANGED = 8,
    SAVE_SHIFTED = 16,
    SAVE_RENEWED = 32,
    SAVE_MOTION_SET = 64,
    SAVE_MOTION_SPENT = 128,
    SAVE_MEMBERS_CHANGED = 256,
    SAVE_MOVED_KNOWN = 512,
    SAVE_BEGUN_USER = 1024, ///< there is room for user data of events, also where there are none
    SAVE_ENDED_USER = 2048,
    SAVE_ENDED_WORDS = 4096,
    SAVE_IS_BORROWED = 8192, ///< in memory: the list is the default method's
    SAVE_HAS_STATE = 16384,  ///< in memory: the default method's state follows
    SAVE_STATE_BITS_ALL = 32767
} save_state_bit;

typedef enum save_query_bit
{
    SAVE_QUERY_USED = 1,
    SAVE_QUERY_HAS_BOXES = 2,
    SAVE_QUERY_SEES_STORE = 4,
    SAVE_QUERY_LOST = 8,
    SAVE_QUERY_GONE = 16,
    SAVE_QUERY_COPIED = 32, ///< and the copy follows
    SAVE_QUERY_COLUMN = 64, ///< the first of a bit per column of the copy
} save_query_bit;

/// What the memory form depends on: another build has another number, all but certainly.
uint64_t clv_space_save_build( void );

/// On disk, does this column of the store follow from others?
bool clv_space_save_is_derived( const object_store* store, const save_column* column );

struct clv_space;

/// A space of doubles: how the method sees it. In memory only.
void clv_space_save_pass_far( struct clv_space* space, base_pass* pass );

/// A column of what queries see, by its place in query_state.copies, and how it is written.
typedef struct save_shape
{
    uint32_t tag;
    uint32_t unit, count;
} save_shape;

static inline save_shape save_query_shape( int copy )
{
    static const save_shape shapes[] = {
        [OBJECT_BOX] = { BASE_TAG( 'Q', 'B', 'O', 'X' ), 4, 6 },
        [OBJECT_GENERATION] = { BASE_TAG( 'Q', 'G', 'E', 'N' ), 4, 1 },
        [OBJECT_GIVEN_BOX] = { BASE_TAG( 'Q', 'G', 'I', 'V' ), 4, 6 },
        [OBJECT_BOX64] = { BASE_TAG( 'Q', 'B', '6', '4' ), 8, 6 },
        [OBJECT_GIVEN_BOX64] = { BASE_TAG( 'Q', 'G', '6', '4' ), 8, 6 },
    };
    return shapes[copy];
}
