// SPDX-License-Identifier: MIT
// What is to be measured, as a small text: scenes × sizes × types × methods × threads × instruction sets × swept
// parameters, in parts. docs/lab.md lists the words.
#pragma once

#include "lab/measure/run_spec.h"

#define SCHEDULE_NAME_ROOM 64

/// How a run is measured, and what it may take.
typedef struct run_terms
{
    uint64_t frame_count; ///< the first of the window; ARGS_UNSET: all
    uint64_t warmup, repeat;
    uint64_t rounds; ///< processes per run, interleaved with those of the other methods on the scene
    bool sorted, events, thread_time;
    double time_limit_s;       ///< 0: none
    uint64_t memory_limit_mib; ///< 0: none
    double ladder_s;           ///< larger sizes are left out after a mean above this; 0: never
    uint64_t seed;
    char pin[SCHEDULE_NAME_ROOM]; ///< "no", "yes" or cores such as "2,3"
} run_terms;

run_terms run_terms_default( void );

typedef struct schedule_part
{
    char name[SCHEDULE_NAME_ROOM];
    text_list scenes;                ///< as `cleave bench` takes them; empty: brownian-free
    size_list sizes;                 ///< for those that name none; empty: 8k
    text_list types;                 ///< likewise; empty: cubes
    char window[SCHEDULE_NAME_ROOM]; ///< "150+60", for scenes without one; empty: none
    run_wish wish;
    run_terms terms;
} schedule_part;

/// Zero-initialised is empty.
typedef struct schedule
{
    char name[SCHEDULE_NAME_ROOM];
    char about[256];
    schedule_part* parts;
    uint32_t part_count;
} schedule;

/// The next part: a copy of `from`, or of the defaults where that is NULL.
schedule_part* schedule_add_part( schedule* plan, const schedule_part* from, const char* name );
void schedule_part_free( schedule_part* part );
void schedule_free( schedule* plan );

/// Reads a schedule's text. `name` is what error messages begin with, and the name of a part that is not named. False names
/// the line and what to do; the schedule is then empty.
bool schedule_parse( const char* name, const char* text, schedule* plan, lab_error* why );

/// By name, one of those the program carries, or by path: anything with a slash or ending in .schedule.
bool schedule_open( const char* name, schedule* plan, lab_error* why );

/// The schedules the program carries: names by index, NULL beyond the last; a text by name, NULL with an error that has the
/// name that was meant.
const char* schedule_carried_name( uint32_t index );
const char* schedule_carried_text( const char* name, lab_error* why );
