// SPDX-License-Identifier: MIT
// Loops over objects on the library's own threads. Stretches are the same for any number of threads.
#pragma once

#include "task/task.h"

/// Threads waiting for work. Must stay where it is between start and stop.
typedef struct parallel_crew
{
    base_memory memory;
    task_runner runner;
} parallel_crew;

/// `thread_count` threads, the caller's included; the caller's alone where they cannot be had.
void parallel_crew_start( parallel_crew* crew, uint32_t thread_count );
void parallel_crew_stop( parallel_crew* crew );

/// Part of a loop: indices begin .. end. Different stretches must not write the same data.
typedef void parallel_stretch( uint64_t begin, uint64_t end, void* user );

/// Runs `stretch` over 0 .. count and returns when all is done.
void parallel_for( parallel_crew* crew, uint64_t count, parallel_stretch* stretch, void* user );
