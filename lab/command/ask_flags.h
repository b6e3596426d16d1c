// SPDX-License-Identifier: MIT
// What `cleave bench` and `cleave verify` can do instead of pairs: ask questions, or list near points.
#pragma once

#include "lab/query/near_bench.h"
#include "lab/run/schedule.h"

typedef struct ask_flags
{
    double near_cutoff; ///< negative: no near points
    bool periodic;
    text_list queries; ///< families; none: no questions
    uint64_t query_count;
} ask_flags;

/// Rows of a table of flags; `verb` is what the command does with answers.
#define ASK_FLAGS( flags, verb )                                                                             \
    { "--near", 0, ARGS_NUMBER, &( flags )->near_cutoff, "CUTOFF",                                           \
        verb " pairs of the boxes' centres within this distance, in the last frame", 0, 0x1p62 },            \
        { "--periodic", 0, ARGS_SWITCH, &( flags )->periodic, NULL,                                          \
            "with --near: the world repeats on all sides", 0, 0 },                                           \
        { "--queries", 0, ARGS_TEXTS, &( flags )->queries, "KIND,…",                                         \
            verb " questions, not pairs: rays, boxes, spheres, nearest, casts", 0, 0 },                      \
    {                                                                                                        \
        "--query-count", 0, ARGS_COUNT, &( flags )->query_count, "Q", "so many of each kind", 1,             \
            UINT64_C( 100000000 )                                                                            \
    }

/// Does what --near says, into *status, or reports a --periodic without it. False: neither was given.
bool ask_flags_run_near( const ask_flags* flags, const args_table* table, const schedule_part* part,
    const text_list* scenes, bool verify, lab_status* status );
