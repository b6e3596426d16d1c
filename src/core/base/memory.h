// SPDX-License-Identifier: MIT
// Every byte of a space comes through here: the caller's hooks, counted.
#pragma once

#include "base/exact.h"
#include "cleave/base.h"

typedef struct base_memory
{
    clv_allocator hooks;
    size_t bytes; ///< taken here and not given back, and charged
    size_t peak_bytes;
    size_t charged_bytes;
    uint64_t allocation_count;
    const void* watched; ///< a block, NULL: none; before it is given back `gone( gone_data )` is called, once
    void ( *gone )( void* data );
    void* gone_data;
} base_memory;

/// Rows of data start on a cache line, and a 512-bit load on a multiple of its size.
#define BASE_ALIGNMENT 64

/// Zero hooks mean the C library's.
base_memory clv_base_memory_make( clv_allocator hooks );

/// NULL if the hook had none, or if count * item_size does not fit a size_t. A count of 0 gives NULL too.
void* clv_base_memory_take( base_memory* memory, uint64_t count, size_t item_size );

/// `count` and `item_size` as they were taken. NULL is legal.
void clv_base_memory_give( base_memory* memory, void* data, uint64_t count, size_t item_size );

/// Bytes that were taken elsewhere and count all the same; negative: no longer. `bytes` never falls below
/// what was taken here.
void clv_base_memory_charge( base_memory* memory, int64_t bytes );

/// A growable array: `*data` holds `*capacity` items, of which the first `kept` survive. After true at least
/// `needed` fit (growing by half, so that appending stays cheap); after false nothing changed.
bool clv_base_memory_reserve(
    base_memory* memory, void** data, uint64_t* capacity, uint64_t kept, uint64_t needed, size_t item_size );

/// The same with exactly `capacity_wanted` items, for shrinking. 0 gives everything back.
bool clv_base_memory_resize( base_memory* memory, void** data, uint64_t* capacity, uint64_t kept,
    uint64_t capacity_wanted, size_t item_size );

/// For what is made anew each time: room for at least `needed` items, and an eighth more if there was not.
/// What was in them is lost. The old memory is given back first, so there is never twice as much; after false
/// there is none at all.
bool clv_base_memory_renew(
    base_memory* memory, void** data, uint64_t* capacity, uint64_t needed, size_t item_size );
