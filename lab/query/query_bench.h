// SPDX-License-Identifier: MIT
// What `cleave bench` and `cleave verify` can do in place of pairs, over the last frame of each scene: put
// questions (--queries) to a space, to brute force and to other people's libraries; or list the points that
// the boxes' centres are within a cutoff (--near).
#pragma once

#include "lab/frame/scene_list.h"
#include "lab/query/query_trial.h"
#include "lab/run/schedule.h"

typedef struct ask_def
{
    const schedule_part* part; ///< scenes, sizes, methods, instruction sets, threads, passes, seed
    const args_table* table;   ///< of the command, its `given` filled in
    double near_cutoff;        ///< negative: no near points
    bool periodic;             ///< near points in the scene's world, again and again
    text_list queries;         ///< words of query_families; none: no questions
    uint64_t query_count;      ///< of each family
    bool verify;               ///< nothing is timed; ours must equal brute force
    const char* json;          ///< path, "-" for standard output, or NULL
    const char* answers;       ///< path of a text file with every query and its answer, or NULL
} ask_def;

ask_def ask_def_make( const schedule_part* part, uint64_t query_count );

/// Rows of a table of flags; `verb` is what the command does with answers.
#define ASK_FLAGS( ask, verb )                                                                               \
    ARGS_ROW_RANGE( "--near", ARGS_NUMBER, &( ask ).near_cutoff, "CUTOFF",                                   \
        verb " pairs of the boxes' centres within this distance, in the last frame", 0, 0x1p62 ),            \
        ARGS_ROW_SWITCH( "--periodic", &( ask ).periodic, "with --near: the world repeats on all sides" ),   \
        ARGS_ROW_WORDS( "--queries", ARGS_TEXTS, &( ask ).queries, "KIND,…", query_families,                 \
            verb " questions, not pairs: rays, boxes, spheres, nearest, casts" ),                            \
        ARGS_ROW_RANGE( "--query-count", ARGS_COUNT, &( ask ).query_count, "Q", "so many of each kind", 1,   \
            UINT64_C( 100000000 ) )

bool ask_is_wanted( const ask_def* def );

/// Prints the table and writes the files. Disagrees if ours and brute force do, or ours among themselves;
/// what other people's libraries find otherwise is counted.
bool ask_run( const ask_def* def, lab_error* why );

/// The same for --near: prints a line for each scene, instruction set and number of workers. Disagrees where
/// a list differs from brute force, whose first difference is named, or has another order than the one
/// before.
bool near_bench_run( const ask_def* def, lab_error* why );

/// Is it among those asked for, and here? Without --isa: the best, or all to verify.
bool ask_takes_isa( const ask_def* def, clv_isa isa );

/// The boxes of a scene's last frame, to free; NULL with what is wrong.
clv_aabb* ask_last_frame( const ask_def* def, const scene_item* item, scene_header* header, lab_error* why );
