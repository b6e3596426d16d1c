// SPDX-License-Identifier: MIT
// The order of a frame's responses. On the CPU they come one after the other, pair by pair, round by round,
// and each finds its bodies as those before left them. Two that have no body in common may as well come at
// once: a task's level is one more than the highest of the tasks before it that have a body in common with
// it, so that levels one after the other, each all at once, end where the CPU ends.
#pragma once

#include "base/array.h"
#include "cleave/types.h"

typedef struct gpu_schedule
{
    /// level by level: a pair's number, or behind them a body's against the floor; the last round is marked
    base_u32_array tasks;
    base_u32_array starts; ///< of levels among the tasks, one more behind
    uint32_t level_count;
    base_u32_array levels;      ///< by task in the CPU's order
    base_u32_array body_levels; ///< by body: the last task so far
} gpu_schedule;

typedef struct gpu_schedule_input
{
    const clv_pair* pairs; ///< sorted
    uint32_t pair_count;
    const uint32_t* reaches; ///< by body, whether it may touch the floor; NULL: none
    uint32_t body_count;
    uint32_t round_count;
} gpu_schedule_input;

/// False if memory ran out.
bool clv_gpu_schedule_make( gpu_schedule* schedule, base_memory* memory, const gpu_schedule_input* input );

void clv_gpu_schedule_free( gpu_schedule* schedule, base_memory* memory );

/// The first sentence that is not true, or NULL: each response of each round has its place, and no body two
/// in one level. `body_levels` is used to count in.
const char* clv_gpu_schedule_check( const gpu_schedule* schedule, const gpu_schedule_input* input );
