// SPDX-License-Identifier: MIT
// `cleave bench --queries` and `cleave verify --queries`: the same questions to a space, to brute force and
// to other people's libraries, over the last frame of each scene.
#pragma once

#include "lab/base/args.h"
#include "lab/base/error.h"
#include "lab/frame/scene_list.h"
#include "lab/query/query_draw.h"

typedef struct query_bench_def
{
    const text_list* scenes;
    const size_list* sizes;
    const text_list* families; ///< words of query_families
    const text_list* methods;  ///< empty: all there are
    const size_list* threads;  ///< empty: 1
    const text_list* isas;     ///< empty: the best; "all"
    uint64_t query_count, pass_count, seed;
    bool thread_time;    ///< as --thread-time
    bool verify;         ///< nothing is timed; ours must equal brute force
    const char* json;    ///< path, "-" for standard output, or NULL
    const char* answers; ///< path of a text file with every query and its answer, or NULL
} query_bench_def;

#define QUERY_BENCH_COUNT 100000 ///< queries without --query-count
#define QUERY_VERIFY_COUNT 2000  ///< likewise, to verify

/// Prints the table and writes the files. LAB_DISAGREES if ours and brute force do, or ours among themselves;
/// what other people's libraries find otherwise is counted.
lab_status query_bench_run( const query_bench_def* def );
