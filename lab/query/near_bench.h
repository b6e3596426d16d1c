// SPDX-License-Identifier: MIT
// `cleave bench --near` and `cleave verify --near`: the centres of the boxes of each scene's last frame as
// points, listed within a cutoff; timed, or compared with brute force on every instruction set.
#pragma once

#include "lab/base/args.h"
#include "lab/frame/scene_list.h"

typedef struct near_bench_def
{
    const text_list* scenes;
    const size_list* sizes;
    const size_list* threads; ///< none: 1
    const text_list* isas;    ///< none: the best, or all to verify
    double cutoff;
    bool is_periodic; ///< in the scene's world
    bool verify;
    uint64_t pass_count, seed;
} near_bench_def;

/// Of a table whose `given` is filled in: false names the first flag given that --near does not heed.
bool near_flags_check( const args_table* table, lab_error* why );

/// Prints a line for each scene, instruction set and number of workers. LAB_DISAGREES where a list differs
/// from brute force, whose first difference is named, or has another order than the one before.
lab_status near_bench_run( const near_bench_def* def );
