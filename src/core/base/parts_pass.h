// SPDX-License-Identifier: MIT
// One description for both ways: a structure names its members once, and a pass over it writes them as parts,
// counts their bytes, or reads them back. For state that is read by the program that wrote it: lengths are
// checked, values are the owner's to check.
#pragma once

#include "base/array.h"
#include "base/parts.h"

/// Set `writer`, or `reader` and `memory`.
typedef struct base_pass
{
    base_parts_writer* writer;
    base_parts_reader* reader;
    base_memory* memory;
    bool is_out_of_memory;
} base_pass;

static inline bool base_pass_reads( const base_pass* pass )
{
    return pass->reader != NULL;
}

/// Nothing went wrong so far.
static inline bool base_pass_is_good( const base_pass* pass )
{
    return !pass->is_out_of_memory && ( pass->reader == NULL || !pass->reader->failed );
}

/// A part of `length` bytes, made of the pieces in between. A read that fails leaves zeros.
void clv_base_pass_begin( base_pass* pass, uint32_t tag, uint64_t length );
void clv_base_pass_bytes( base_pass* pass, void* bytes, uint64_t size );
void clv_base_pass_ordered( base_pass* pass, void* numbers, uint64_t count, uint32_t unit );
void clv_base_pass_end( base_pass* pass );

/// A part of `count` numbers of `unit` bytes.
void clv_base_pass_numbers( base_pass* pass, uint32_t tag, void* numbers, uint64_t count, uint32_t unit );

/// An array of items of `unit`-byte numbers: its first `count` items, and as many are there after reading.
#define base_pass_array( pass, tag, array, unit )                                                            \
    clv_base_pass_items( pass, tag, &( array )->items, &( array )->capacity, &( array )->count,              \
        sizeof( *( array )->items ), unit )

/// One without a count: `used` items, known on both sides. After reading there is room for `room` of them,
/// and what is behind those in use is zero.
#define base_pass_table( pass, tag, array, used, room, unit )                                                \
    clv_base_pass_table(                                                                                     \
        pass, tag, &( array )->items, &( array )->capacity, used, room, sizeof( *( array )->items ), unit )

// What the macros call; `items` is where the array keeps its pointer.
void clv_base_pass_items( base_pass* pass, uint32_t tag, void* items, uint64_t* capacity, uint64_t* count,
    size_t item_size, uint32_t unit );
void clv_base_pass_table( base_pass* pass, uint32_t tag, void* items, uint64_t* capacity, uint64_t used,
    uint64_t room, size_t item_size, uint32_t unit );

/// Members of a struct `s` in one part: LIST( X ) has an X( member ) for each.
#define BASE_PASS_SIZE( member ) +sizeof( s->member )
#define BASE_PASS_MEMBER( member ) clv_base_pass_bytes( pass, &s->member, sizeof( s->member ) );
#define BASE_PASS_MEMBERS( pass, tag, LIST )                                                                 \
    clv_base_pass_begin( pass, tag, 0 LIST( BASE_PASS_SIZE ) );                                              \
    LIST( BASE_PASS_MEMBER )                                                                                 \
    clv_base_pass_end( pass )
