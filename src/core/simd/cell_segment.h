// SPDX-License-Identifier: MIT
// Room for records whose number is not known beforehand.
#pragma once

#include "simd/cell_entry.h"

/// Some records, one behind the other.
typedef struct cell_segment
{
    uint32_t first;
    uint32_t count; ///< what is beyond the capacity is only counted
    uint32_t capacity;
    uint32_t last_count; ///< of the update before
} cell_segment;

/// A record to a segment, where there is room; counted in any case.
static inline void segment_put( cell_segment* segment, cell_record* out, cell_record record )
{
    if ( segment->count < segment->capacity )
    {
        out[segment->first + segment->count] = record;
    }
    segment->count += 1;
}

/// The same without a branch, and nothing at all where it does not go there.
static inline void segment_put_if( cell_segment* segment, cell_record* out, cell_record record, bool goes )
{
    cell_record aside;
    uint32_t count = segment->count;
    bool has_room = goes & ( count < segment->capacity );
    *( has_room ? &out[segment->first + count] : &aside ) = record;
    segment->count = count + goes;
}
