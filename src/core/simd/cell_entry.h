// SPDX-License-Identifier: MIT
// A box in six bytes: what the kernels of the default engine make of boxes, and what they test.
#pragma once

#include "cleave/types.h"

/// A box in six bytes, and whose it is. Lower x y z and upper x y z, bytes 0 to 2 and 4 to 6 of the code, are 256ths of a cell,
/// rounded down, so that what touches stays touching. Byte 3 has a bit for each axis on which the box begins before, where
/// another cell or block sees its beginning. The slot is the lower half of the name.
///
/// An entry is a box in one of its cells, relative to that. A record is a box on its way there: lower relative to its first
/// cell, whose number is the upper half of the name, upper to its last; byte 7 is its class, a bit for each axis on which there is
/// a second cell, or CELL_WIDE where it spans more than two.
typedef struct cell_entry
{
    uint64_t code;
    uint64_t name;
} cell_entry;

typedef cell_entry cell_record;

enum
{
    CELL_WIDE = 8,    // the class of a box that spans more than two cells on some axis
    CELL_STEPS = 256, // positions inside a cell
    CELL_TIES = 1024, // collected before they are tested in float
    CELL_SLACK = 64,  // entries read past the last
};

static inline uint64_t cell_name( uint32_t slot, uint32_t cell )
{
    return slot | (uint64_t)cell << 32;
}

static inline uint32_t cell_slot( const cell_entry* entry )
{
    return (uint32_t)entry->name;
}

static inline uint32_t cell_first( const cell_record* record )
{
    return (uint32_t)( record->name >> 32 );
}

static inline uint32_t cell_class( const cell_record* record )
{
    return (uint32_t)( record->code >> 56 );
}

static inline uint32_t cell_before( const cell_entry* entry )
{
    return (uint32_t)( entry->code >> 24 ) & 7;
}
