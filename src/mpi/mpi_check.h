// SPDX-License-Identifier: MIT
// What is true of the structures of a space over processes, looked at with as little as possible of the code that made them. Each
// function returns the first sentence that is not true, or NULL. For debug builds and tests; local, so that no process waits.
#pragma once

#include "mpi_state.h"

/// The tree of cuts, the bounds that follow from it, and that points belong to one region each. Points are taken at the corners of at
/// most CHECKED_REGIONS regions, evenly spread over the ranks: with more processes every point costs as many comparisons.
const char* clv_mpi_regions_check( const mpi_regions* regions );

enum
{
    CHECKED_REGIONS = 64
};

/// A table of ids alone: every key is found, once.
const char* clv_mpi_ids_check( const mpi_ids* ids );

/// Ids that this process watches over are its to watch.
const char* clv_mpi_directory_check( const clv_mpi_space* space );

/// Between ids and slots, where the table of ids is up to date: each object that can be looked up has its id, and each id its object.
const char* clv_mpi_lookup_check( const clv_mpi_space* space );

/// Slots, their columns, the space inside and the list of own objects.
const char* clv_mpi_objects_check( const clv_mpi_space* space );

/// After letters came: ghosts are those that were counted, lie in slots that the space inside has, and know whether they lie inside.
const char* clv_mpi_ghosts_check( const clv_mpi_space* space );

/// After a search: the pairs that this process reports, and what began and ended.
const char* clv_mpi_pairs_check( const clv_mpi_space* space );

/// All that holds after a good update: regions, objects, names, directory.
const char* clv_mpi_space_check( const clv_mpi_space* space );
