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
    SAVE_STATE_BITS_ALL = 32767,
    SAVE_EXACT_BITS = SAVE_SHIFTED | SAVE_MOVED_KNOWN | SAVE_IS_BORROWED | SAVE_HAS_STATE ///< with that state
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

// Members that go both ways: of the def, of the space, of what queries see, each a bit; and numbers.
#define SAVE_DEF_FLAGS( X )                                                                                  \
    X( SAVE_SORTED, sorted )                                                                                 \
    X( SAVE_EVENTS, events )                                                                                 \
    X( SAVE_SKIP_STATIC, skip_static_pairs )                                                                 \
    X( SAVE_PAIR_DATA, pair_data )                                                                           \
    X( SAVE_DOUBLES, doubles )                                                                               \
    X( SAVE_FLAT, flat )
#define SAVE_STATE_FLAGS( X )                                                                                \
    X( SAVE_LIST_VALID, list_is_valid )                                                                      \
    X( SAVE_FILTERS_CHANGED, filters_changed )                                                               \
    X( SAVE_LAST_FAILED, last_failed )                                                                       \
    X( SAVE_DOUBLES_CHANGED, doubles_changed )                                                               \
    X( SAVE_SHIFTED, is_shifted )                                                                            \
    X( SAVE_RENEWED, objects.is_renewed )                                                                    \
    X( SAVE_MOTION_SET, objects.motion_is_set )                                                              \
    X( SAVE_MOTION_SPENT, objects.motion_is_spent )                                                          \
    X( SAVE_MEMBERS_CHANGED, objects.members_changed )                                                       \
    X( SAVE_MOVED_KNOWN, objects.moved_is_known )
#define SAVE_QUERY_FLAGS( X )                                                                                \
    X( SAVE_QUERY_HAS_BOXES, has_boxes )                                                                     \
    X( SAVE_QUERY_SEES_STORE, store_is_seen )                                                                \
    X( SAVE_QUERY_LOST, is_lost )                                                                            \
    X( SAVE_QUERY_GONE, may_be_gone )
#define SAVE_MEMBERS( X )                                                                                    \
    X( SAVE_SLOTS, uint32_t, objects.slot_count )                                                            \
    X( SAVE_LIVE, uint32_t, objects.live_count )                                                             \
    X( SAVE_FREE, uint32_t, objects.free_count )                                                             \
    X( SAVE_LIST_NUMBER, uint64_t, list_number )                                                             \
    X( SAVE_UPDATES, uint64_t, stats.update_count )                                                          \
    X( SAVE_PAIRS, uint64_t, stats.pair_count )                                                              \
    X( SAVE_CANDIDATES, uint64_t, stats.candidate_count )                                                    \
    X( SAVE_TESTS, uint64_t, stats.test_count )                                                              \
    X( SAVE_BEGUN, uint64_t, stats.begun_count )                                                             \
    X( SAVE_ENDED, uint64_t, stats.ended_count )

/// A walk over a space by one description, as base/parts_pass.h has it: part by part it is written, counted
/// or read. What is read from disk is checked as soon as it is there.
typedef struct save_walk
{
    base_pass pass;
    struct clv_space* space;
    bool is_in_memory;
    uint64_t numbers[SAVE_NUMBERS]; ///< known on both sides before the first of these parts
} save_walk;

static inline bool save_walk_has( const save_walk* walk, save_number number, uint64_t bit )
{
    return ( walk->numbers[number] & bit ) != 0;
}

/// From disk: another check of what was read is due.
static inline bool save_walk_checks( const save_walk* walk )
{
    return base_pass_reads( &walk->pass ) && !walk->is_in_memory && base_pass_is_good( &walk->pass );
}

/// Cxxx; all other parts behind them, up to the last.
void clv_space_save_pass_columns( save_walk* walk );
void clv_space_save_pass_rest( save_walk* walk );

/// What the memory form depends on: another build has another number, all but certainly.
uint64_t clv_space_save_build( void );

/// On disk, does this column of the store follow from others?
bool clv_space_save_is_derived( const object_store* store, const save_column* column );
