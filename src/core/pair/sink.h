// SPDX-License-Identifier: MIT
// Where a method puts the pairs it finds. What happens to them (a list that grows, a visitor, filters on the way) is
// the business of whoever made the sink.
#pragma once

#include "cleave/types.h"

#include <string.h>

/// A kernel writes a batch of up to this many pairs without asking again, so it asks while fewer fit.
#define PAIR_SINK_ROOM 64

typedef struct pair_sink
{
    clv_pair* pairs;
    uint64_t count;    ///< pairs waiting at the front of `pairs`
    uint64_t capacity; ///< count <= capacity

    /// After CLV_OK at least PAIR_SINK_ROOM more pairs fit; pairs, count and capacity may all have changed.
    clv_result ( *make_room )( struct pair_sink* sink );

    /// For methods whose list outlives the update; either may be NULL, and then so much as has to be put.
    /// The pairs of the last good update, in the same order: true if they are still there, and nothing needs to be put.
    bool ( *keep )( struct pair_sink* sink );
    /// These pairs, which stay as they are until the method is called again: true if they may stay where they are.
    bool ( *borrow )( struct pair_sink* sink, const clv_pair* pairs, uint64_t count );
} pair_sink;

static inline bool pair_sink_is_full( const pair_sink* sink )
{
    return sink->capacity - sink->count < PAIR_SINK_ROOM;
}

/// For methods that find pairs one by one.
static inline clv_result pair_sink_put( pair_sink* sink, uint32_t slot_a, uint32_t slot_b )
{
    if ( pair_sink_is_full( sink ) )
    {
        clv_result result = sink->make_room( sink );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    clv_pair pair = { slot_a < slot_b ? slot_a : slot_b, slot_a < slot_b ? slot_b : slot_a };
    sink->pairs[sink->count++] = pair;
    return CLV_OK;
}

static inline bool pair_sink_keep( pair_sink* sink )
{
    return sink->keep != NULL && sink->keep( sink );
}

/// For methods that have a list already.
static inline clv_result pair_sink_put_all( pair_sink* sink, const clv_pair* pairs, uint64_t count )
{
    while ( count > 0 )
    {
        if ( sink->count == sink->capacity )
        {
            clv_result result = sink->make_room( sink );
            if ( result != CLV_OK )
            {
                return result;
            }
        }
        uint64_t room = sink->capacity - sink->count;
        uint64_t part = count < room ? count : room;
        memcpy( sink->pairs + sink->count, pairs, (size_t)part * sizeof( clv_pair ) );
        sink->count += part;
        pairs += part;
        count -= part;
    }
    return CLV_OK;
}

/// For methods that keep it until they are called again.
static inline clv_result pair_sink_lend( pair_sink* sink, const clv_pair* pairs, uint64_t count )
{
    return sink->borrow != NULL && sink->borrow( sink, pairs, count )
        ? CLV_OK
        : pair_sink_put_all( sink, pairs, count );
}
