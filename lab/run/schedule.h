// SPDX-License-Identifier: MIT
// What is to be measured, as a small text: scenes × sizes × types × methods × threads × instruction sets ×
// swept parameters, in parts. docs/lab.md lists the words.
#pragma once

#include "lab/measure/timed_run.h"

#define SCHEDULE_NAME_ROOM ARGS_NAME_ROOM

/// How a run is measured, and what it may take.
typedef struct run_terms
{
    uint64_t frame_count; ///< the first of the window; ARGS_UNSET: all
    uint64_t warmup, repeat;
    uint64_t rounds; ///< processes per run, interleaved with those of the other methods on the scene
    run_switches switches;
    double time_limit_s;       ///< 0: none
    uint64_t memory_limit_mib; ///< 0: none
    double ladder_s;           ///< larger sizes are left out after a mean above this; 0: never
    uint64_t seed;
    char pin[SCHEDULE_NAME_ROOM]; ///< "no", "yes" or cores such as "2,3"
} run_terms;

run_terms run_terms_default( void );

/// The flags of `cleave worker` that say the terms of one run, each with its value.
void run_terms_words( const run_terms* terms, text_list* words );

typedef struct schedule_part
{
    char name[SCHEDULE_NAME_ROOM];
    text_list scenes;                ///< as `cleave bench` takes them; empty: brownian-free
    size_list sizes;                 ///< for those that name none; empty: 8k
    text_list types;                 ///< likewise; empty: cubes
    char window[SCHEDULE_NAME_ROOM]; ///< "150+60", for scenes without one; empty: none
    text_list known; ///< the pairs_hash that every run of the part must have; empty: not known
    run_wish wish;
    run_terms terms;
} schedule_part;

/// The flags for the settings of a part, which they set, as a command takes them: 'b' bench and run, 'v'
/// verify, 'w' worker. Returns their number.
#define SCHEDULE_FLAGS_MOST 24
uint32_t schedule_flags( schedule_part* part, char command, args_flag flags[SCHEDULE_FLAGS_MOST] );

/// What flags set in `said` replaces what the part has: given[i] tells of flag i of schedule_flags.
void schedule_part_replace( schedule_part* part, const schedule_part* said, const bool* given );

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

/// Reads a schedule's text. `name` is what error messages begin with, and the name of a part that is not
/// named. False names the line and what to do; the schedule is then empty.
bool schedule_parse( const char* name, const char* text, schedule* plan, lab_error* why );

/// By name, one of those the program carries, or by path: anything with a slash or ending in .schedule.
bool schedule_open( const char* name, schedule* plan, lab_error* why );

/// The schedules the program carries: names by index, NULL beyond the last; a text by name, NULL with an
/// error that has the name that was meant.
const char* schedule_carried_name( uint32_t index );
const char* schedule_carried_text( const char* name, lab_error* why );
