// SPDX-License-Identifier: MIT
// Everything a command is to measure, one job per scene, method and parameter, in the order it is done.
#pragma once

#include "lab/frame/scene_list.h"
#include "lab/measure/machine.h"
#include "lab/measure/timed_run.h"
#include "lab/run/schedule.h"

typedef struct run_job
{
    char* scene_text; ///< WHAT, with type and window
    scene_item scene;
    run_spec spec;
    run_terms terms;
    text_list parts;      ///< of the schedule; several where parts ask for the same
    uint32_t scene_index; ///< jobs over the same scene and frames share it
    char* key;            ///< everything the result depends on but the round; what --resume goes by
    char* limits;         ///< what a run that did not end well depends on besides
    char* ladder;         ///< jobs that differ in size alone share it
    char* known;          ///< the pairs_hash it must have, as text; NULL: not known
    const char* program;  ///< another build of the program that does it, or NULL
} run_job;

/// Zero-initialised is empty.
typedef struct run_plan
{
    run_job* items;
    uint32_t count;
    /// path of another build that does every job too, in turn with this one; set before adding
    const char* against;
} run_plan;

/// Adds the jobs of a part: scenes, types, sizes upwards, methods. A job that is in the plan
/// already gets the part's name too and is done once. False for unknown names, sizes out of range
/// and files that are not there.
bool run_plan_add( run_plan* plan, const schedule_part* part, lab_error* why );
void run_plan_free( run_plan* plan );

/// The bodies or objects of a job's scene, as far as that is known before it is opened; 0 for a file.
uint32_t run_job_bodies( const run_job* job );

/// What its scene holds, and takes to bake.
estimate_scene run_job_scene( const run_job* job );

/// Roughly how long it takes: all passes and rounds, as far as its limits let it. `scene` is its scene's.
double run_job_estimate_s( const run_job* job, const estimate_scene* scene );

/// The program and the machine, in a word: runs of another build or CPU are not to be mixed.
/// Lives as long as the program.
const char* run_plan_program( void );

/// The words behind `cleave` that make a worker do a job and nothing else.
void worker_words( const run_job* job, text_list* words );

// ---- The rounds of a job, each a process of its own, as one result.

/// Adds the passes of `next` to `sum` and sums up anew. If a round did not end well, or found other pairs,
/// neither did the sum. `next` is freed.
void run_merge( run_result* sum, run_result* next );
