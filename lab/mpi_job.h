// SPDX-License-Identifier: MIT
// One life of the program `cleave-mpi`: what it was asked for, and how its processes stay of one mind.
#pragma once

#include "cleave/mpi.h"
#include "lab/base/args.h"
#include "lab/measure/run_spec.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct job_options
{
    char command; ///< the first letter of bench, verify, gen, net or plan
    bool is_borrowed, by_time, is_alone, is_scattered, splits, is_quiet;
    const char *what, *method, *settings, *device, *json, *output, *type, *checkpoint, *resume;
    uint64_t frames, from, threads;
    uint64_t warmup, repeat; ///< of a bench with a checkpoint 0 and 1: there is one life to go on with
    uint64_t seed, bodies, processes, sample, every;
    clv_mpi_cutter cutter;
} job_options;

typedef struct job
{
    const job_options* o;
    int rank, process_count; ///< of all processes
    MPI_Comm comm;           ///< processes that share a world: all, or with --alone each its own
    int share, share_count;  ///< this process's place in `comm`
    run_spec_list methods;   ///< of bench and verify: one
    lab_error why;
} job;

/// False names what is wrong with the words behind the program's name.
bool job_parse( int argc, char** argv, job_options* o, lab_error* why );

/// Calls `use` with what --help prints; the texts do not outlive that.
void job_help( args_visitor* use, void* user );

/// For bench and verify: the method, its settings, threads and device, as `cleave bench` reads them. The caller frees j->methods.
/// False names what is wrong.
bool job_find_method( job* j );

/// True if it is true on all processes. Else all get the error of the first process that has one. Collective.
bool job_agree( job* j, bool ok );

/// Sums over all processes. Collective.
uint64_t job_sum( uint64_t value );

/// Objects number .. first of process `share` + 1, cut evenly.
static inline uint32_t job_part_first( uint32_t count, int share, int share_count )
{
    return (uint32_t)( (uint64_t)count * (uint64_t)share / (uint64_t)share_count );
}

// The commands. False with j->why.

bool job_bench( job* j );
bool job_verify( job* j );
bool job_gen( job* j );
bool job_net( job* j );
bool job_plan( job* j );
