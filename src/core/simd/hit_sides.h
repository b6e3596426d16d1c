// SPDX-License-Identifier: MIT
#pragma once

#include "simd/cell_entry.h"

enum
{
    HITS_MOST = 64 * 64, // of 64 rows in 64 lanes
    HITS_AT_ONCE = 48    // whole registers may be written where pairs go, of which a sink has room for 64
};

/// 64 entries of a cell: what they are, their bytes by lane, and their slots.
typedef struct hit_side
{
    const cell_entry* entries;
    const uint8_t* bytes;
    const uint32_t* slots;
} hit_side;

/// Which lanes each of up to 64 rows may touch; rows without any are left out.
typedef struct row_hits
{
    uint32_t count;
    uint8_t rows[64];
    uint64_t lanes[64];
} row_hits;

/// Rows and lanes that were tested against each other.
typedef struct hit_sides
{
    hit_side rows, lanes;
    size_t stride; ///< of the bytes: from one coordinate to the next
} hit_sides;

/// All hits by their numbers, and how far they have become pairs. Whole registers may be written behind the last.
typedef struct hit_walk
{
    uint32_t at;
    uint8_t rows[HITS_MOST + 64];
    uint8_t lanes[HITS_MOST + 64];
} hit_walk;
