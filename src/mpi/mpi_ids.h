// SPDX-License-Identifier: MIT
// From the caller's 64-bit ids to numbers of ours: open addressing, linear probing, no tombstones.
#pragma once

#include "base/array.h"

#define SLOT_NONE UINT32_MAX

typedef struct mpi_ids
{
    BASE_ARRAY( uint64_t ) keys;
    BASE_ARRAY( uint32_t ) values; ///< SLOT_NONE: an empty place
    uint32_t place_bits;           ///< places are 1 << place_bits, once there are some
    uint64_t count;
} mpi_ids;

uint64_t clv_mpi_ids_mix( uint64_t id );

/// Room for so many keys without another allocation. False: out of memory, and as it was.
bool clv_mpi_ids_reserve( mpi_ids* ids, base_memory* memory, uint64_t count );

/// Where a key would stand is fetched: whoever looks many up asks a few ahead.
void clv_mpi_ids_fetch( const mpi_ids* ids, uint64_t key );

/// SLOT_NONE if the key is not there.
uint32_t clv_mpi_ids_find( const mpi_ids* ids, uint64_t key );

/// Sets a key that may be there; room was reserved.
void clv_mpi_ids_put( mpi_ids* ids, uint64_t key, uint32_t value );

/// Of a key that is not there: nothing.
void clv_mpi_ids_drop( mpi_ids* ids, uint64_t key );

/// Only if that is its value.
void clv_mpi_ids_drop_of( mpi_ids* ids, uint64_t key, uint32_t value );

/// No keys, and the room as it was.
void clv_mpi_ids_clear( mpi_ids* ids );

void clv_mpi_ids_free( mpi_ids* ids, base_memory* memory );
