// SPDX-License-Identifier: MIT
// A typed array that grows through a space's memory. Zeroed it is empty and owns nothing. The macros take a
// pointer to the array and evaluate it more than once; those that may fail are of type bool, and false means
// out of memory.
#pragma once

#include "base/memory.h"

#include <string.h>

/// `typedef BASE_ARRAY( clv_pair ) pair_list;`
#define BASE_ARRAY( type )                                                                                   \
    struct                                                                                                   \
    {                                                                                                        \
        type* items;                                                                                         \
        uint64_t count;    /* of those that are in use, where the array counts them itself */                \
        uint64_t capacity; /* items that fit */                                                              \
    }

typedef BASE_ARRAY( uint32_t ) base_u32_array;
typedef BASE_ARRAY( uint64_t ) base_u64_array;

/// At least `needed` items fit, growing by half so that appending stays cheap; the first `count` survive.
/// After false the array is as it was.
#define base_array_reserve( array, memory, needed )                                                          \
    base_array_grow( memory, &( array )->items, &( array )->capacity, ( array )->count, needed,              \
        sizeof( *( array )->items ), false )

/// For tables by slot, which have no count: all that is in it survives, and what is new is zero.
#define base_array_extend( array, memory, needed )                                                           \
    base_array_grow( memory, &( array )->items, &( array )->capacity, ( array )->capacity, needed,           \
        sizeof( *( array )->items ), true )

/// For what is made anew each time: clv_base_memory_renew.
#define base_array_renew( array, memory, needed )                                                            \
    base_array_replace( memory, &( array )->items, &( array )->capacity, needed, sizeof( *( array )->items ) )

/// Capacity down to `count`.
#define base_array_shrink( array, memory )                                                                   \
    base_array_fit(                                                                                          \
        memory, &( array )->items, &( array )->capacity, ( array )->count, sizeof( *( array )->items ) )

/// Back to an empty array.
#define base_array_free( array, memory )                                                                     \
    ( clv_base_memory_give( memory, ( array )->items, ( array )->capacity, sizeof( *( array )->items ) ),    \
        ( array )->items = NULL, ( array )->count = 0, ( array )->capacity = 0, (void)0 )

// What the macros call. `items` is where the array keeps its pointer, whatever that points to: it is copied,
// since a void* is another type, and all of them are as long.

static inline void* base_array_items( const void* items )
{
    void* data;
    memcpy( &data, items, sizeof( data ) );
    return data;
}

static inline bool base_array_grow( base_memory* memory, void* items, uint64_t* capacity, uint64_t kept,
    uint64_t needed, size_t item_size, bool zeroes )
{
    uint64_t before = *capacity;
    if ( needed <= before )
    {
        return true;
    }
    void* data = base_array_items( items );
    bool ok = clv_base_memory_reserve( memory, &data, capacity, kept, needed, item_size );
    if ( ok && zeroes )
    {
        memset( (char*)data + before * item_size, 0, (size_t)( *capacity - before ) * item_size );
    }
    memcpy( items, &data, sizeof( data ) );
    return ok;
}

static inline bool base_array_replace(
    base_memory* memory, void* items, uint64_t* capacity, uint64_t needed, size_t item_size )
{
    void* data = base_array_items( items );
    bool ok = clv_base_memory_renew( memory, &data, capacity, needed, item_size );
    memcpy( items, &data, sizeof( data ) );
    return ok;
}

static inline bool base_array_fit(
    base_memory* memory, void* items, uint64_t* capacity, uint64_t count, size_t item_size )
{
    void* data = base_array_items( items );
    bool ok = clv_base_memory_resize( memory, &data, capacity, count, count, item_size );
    memcpy( items, &data, sizeof( data ) );
    return ok;
}
