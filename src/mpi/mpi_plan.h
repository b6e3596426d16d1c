// SPDX-License-Identifier: MIT
// Space cut for more processes than there are, and what a steady update of theirs would send: counted, not sent. For programs that plan;
// no part of the library's interface.
#pragma once

#include "mpi_regions.h"

/// What one process of the plan has and sends in one update.
typedef struct mpi_plan_process
{
    uint64_t own, ghosts; ///< objects, and boxes that others send to it
    uint64_t going;       ///< own ones that leave for another process
    uint64_t letters;     ///< to one process each
    uint64_t wide;        ///< own boxes that go to all at once
    uint64_t bytes;       ///< of what it sends
} mpi_plan_process;

/// Zero-initialised is closed.
typedef struct mpi_plan
{
    base_memory memory;
    mpi_regions regions;
    int32_t process_count;
    uint32_t wide; ///< boxes that reach more regions than this go to all at once
    mpi_plan_process* shares;
    int32_t* ranks;
    uint64_t* links; ///< a bit per sender and receiver; NULL beyond PLAN_LINKS_MOST processes
} mpi_plan;

#define PLAN_LINKS_MOST 16384

/// Cuts space by our own bisection as the first update does, every object alike, for the boxes of all processes of `comm`, at most
/// `process_count` of them. Collective; the same answer everywhere. CLV_OUT_OF_MEMORY, CLV_LOST leave it closed.
clv_result clv_mpi_plan_open(
    mpi_plan* plan, MPI_Comm comm, int32_t process_count, const clv_aabb* boxes, uint64_t count );
void clv_mpi_plan_close( mpi_plan* plan );

/// Adds what boxes that were at `before` in the last update cost in the next.
void clv_mpi_plan_count( mpi_plan* plan, const clv_aabb* before, const clv_aabb* now, uint64_t count );

/// Sums over the processes of `comm`. Collective.
void clv_mpi_plan_sum( mpi_plan* plan, MPI_Comm comm );

/// Processes that send to a process, itself aside; 0 where links are not kept.
uint32_t clv_mpi_plan_neighbours( const mpi_plan* plan, int32_t process );
