// SPDX-License-Identifier: MIT
// `cleave bench --near` and `cleave verify --near`: the centres of the boxes of each scene's last frame as points, listed within a
// cutoff; timed, or compared with brute force on every instruction set.
#pragma once

#include "lab/base/error.h"
#include "lab/frame/scene_list.h"

typedef struct near_bench_def
{
    const text_list* scenes;
    const size_list* sizes;
    double cutoff;
    bool is_periodic; ///< in the scene's world
    bool verify;
    uint64_t pass_count, seed;
} near_bench_def;

/// Prints a line for each scene, type and instruction set. LAB_DISAGREES where a list differs from brute force.
lab_status near_bench_run( const near_bench_def* def );
