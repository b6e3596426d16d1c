// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Ids: they name objects until these are removed.

/// Names an object of a space until that object is removed. Passed by value; means nothing to another space.
/// In a new or cleared space the first N boxes get the indices 0 .. N-1. Indices of removed objects are used
/// again with another generation, so an id that outlived its object is recognised, not misread.
typedef struct clv_id
{
    uint32_t index;      ///< slot in the space; what pairs are made of
    uint32_t generation; ///< 0 in the null id
} clv_id;

static inline clv_id clv_null_id( void )
{
    clv_id id = { 0, 0 };
    return id;
}

static inline bool clv_id_is_null( clv_id id )
{
    return id.generation == 0;
}

static inline bool clv_id_equals( clv_id a, clv_id b )
{
    return a.index == b.index && a.generation == b.generation;
}
