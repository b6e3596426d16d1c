// SPDX-License-Identifier: MIT
// Most worlds have few different filters: objects with the same one are a class, and a table says which
// classes may pair. A byte per object stays in the cache where a filter of 12 bytes does not.
#pragma once

#include "base/array.h"
#include "base/memory.h"
#include "cleave/types.h"
#include "object/filter_rule.h"

enum
{
    FILTER_CLASSES_MOST = 64, // bits of a row
};

/// What the objects themselves say of pairs.
typedef struct filter_columns
{
    const clv_filter* filters; ///< NULL: all may pair
    const uint8_t* statics;    ///< NULL: pairs of two static objects count
} filter_columns;

static inline bool filter_columns_allow( filter_columns by, uint32_t a, uint32_t b )
{
    bool may_pair = by.filters == NULL || object_filters_allow( &by.filters[a], &by.filters[b] );
    return may_pair & ( by.statics == NULL || ( by.statics[a] & by.statics[b] ) == 0 );
}

typedef struct filter_classes
{
    BASE_ARRAY( uint8_t ) of_slot;          ///< the class of each slot
    uint32_t count;                         ///< 0: not made since filters or members changed
    uint64_t waiting;                       ///< pairs that asked since then
    bool are_many;                          ///< more than FILTER_CLASSES_MOST, or no memory: ask the columns
    uint64_t may_pair[FILTER_CLASSES_MOST]; ///< bit b of row a: classes a and b may
} filter_classes;

/// False if there are too many different filters, or no memory.
bool clv_space_make_classes(
    filter_classes* classes, base_memory* memory, filter_columns by, uint32_t slot_count );

/// Filters or members changed.
static inline void filter_classes_forget( filter_classes* classes )
{
    classes->count = 0;
    classes->waiting = 0;
    classes->are_many = false;
}

static inline bool filter_classes_allow( const filter_classes* classes, clv_pair pair )
{
    return classes->may_pair[classes->of_slot.items[pair.a]] >> classes->of_slot.items[pair.b] & 1;
}
