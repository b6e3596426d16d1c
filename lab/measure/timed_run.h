// SPDX-License-Identifier: MIT
// One method over one scene, timed. What is timed is a frame as a user pays it: handing over all boxes, or
// those that changed, updating, finding all pairs into one list; reading frames is not. Every pass starts
// from a fresh space with frame 0 added.
#pragma once

#include "lab/base/json.h"
#include "lab/frame/frame_source.h"
#include "lab/measure/run_spec.h"

/// What is done, and timed, besides a plain list of pairs of all boxes. Each is a word of schedules, a flag,
/// a part of the key of a run, and a member of results.
typedef struct run_switches
{
    bool sorted;      ///< have the list sorted too
    bool events;      ///< have begun and ended pairs too
    bool thread_time; ///< the calling thread's processor time instead of the wall's
    bool changed;     ///< hand over only the boxes that changed since the frame before
    bool spin;        ///< workers look for the next frame for up to RUN_SPIN_MS instead of going to sleep
} run_switches;

typedef struct run_switch
{
    const char* member; ///< in results
    const char* key;    ///< in the key of a run
    size_t offset;      ///< in run_switches
} run_switch;

#define RUN_SPIN_MS 20

#define RUN_SWITCH_COUNT 5
extern const run_switch run_switch_list[RUN_SWITCH_COUNT];

/// A frame into a space: the first is added, which tells the ids, later ones are moved. Then its pairs.
clv_result run_feed( clv_space* space, clv_id* ids, const clv_aabb* boxes, uint32_t count, bool is_first );

bool run_switch_is_on( const run_switches* all, uint32_t index );
bool run_switches_are_same( const run_switches* a, const run_switches* b );

typedef struct run_options
{
    uint32_t frame_count; ///< frames 1 .. frame_count of the scene
    uint32_t warmup;      ///< untimed passes; the first of them (or one more if 0) collects the stage times
    uint32_t repeat;      ///< timed passes, at least 1
    run_switches switches;
    double time_limit_s; ///< of one run, untimed parts included; 0: none
} run_options;

typedef enum run_status
{
    RUN_OK,
    RUN_UNAVAILABLE,
    RUN_FAILED,
    RUN_TIMEOUT,
} run_status;

/// "ok", "unavailable", "failed", "timeout".
const char* run_status_name( run_status status );

/// Times in milliseconds; meaningless unless the status is RUN_OK.
typedef struct run_result
{
    char scene[SCENE_NAME_ROOM];
    char type[SCENE_NAME_ROOM];
    uint32_t scene_index; ///< results over the same scene and frames share it
    uint32_t object_count;
    uint32_t frame_count;
    const char* method;
    const char* variant;
    const char* settings; ///< NULL if none; belongs to the spec
    const char* device;   ///< it ran on; NULL for methods that run on none
    uint32_t thread_count;
    run_switches switches;
    /// of the boxes, handed over per frame on average; of no meaning unless switches.changed
    double changed_share;
    bool fat; ///< pairs of grown boxes: not to be compared with others

    double ms_median, ms_mean, ms_min, ms_p99; ///< over all timed frames of all passes
    double ms_spread; ///< how far the median of a pass is from ms_median at most; NaN if there was one pass
    double update_ms, search_ms; ///< medians over the frames of the stage pass; update with cleaning
    double* frame_ms;            ///< per frame the least over the passes; to free
    double* frame_static;        ///< per frame; to free
    double* frame_update_ms;     ///< per frame of the stage pass, NULL where not known; to free
    double* frame_search_ms;     ///< likewise
    double* frame_clean_ms; ///< likewise: the part of frame_update_ms that went to pairs kept from before
    double* pass_ms;        ///< pass by pass, frame by frame; to free
    uint32_t pass_count;
    uint64_t pairs_last;
    uint64_t pairs_hash;
    uint64_t tests;              ///< box against box, in the last frame
    bool is_opaque;              ///< tests and stages are not known: other people's code
    clv_method_figure* counters; ///< what the method tells, per frame of the stage pass on average; to free
    uint32_t counter_count;
    size_t memory_bytes;

    run_status status;
    char reason[512]; ///< for every status but RUN_OK

    // Where it is from; NULL where it was not asked for.
    const text_list* parts; ///< of the schedule
    const char* key;        ///< what --resume knows it by
    const char* limits;
    const char* known; ///< the pairs_hash that the schedule says it has
    bool is_against;   ///< by the other build that this one is measured against
    /// as it was read, with members this struct does not know; texts above may point into it; to free
    json_value* json;
} run_result;

/// Over the same frames of the same scene, with the same switches?
bool run_is_like( const run_result* a, const run_result* b );

/// Fills all but frame_static; the counters' names live as long as the program. False only if the
/// scene could not be read.
bool run_method( frame_source* source, const run_spec* spec, const run_options* options, run_result* result,
    lab_error* why );
void run_result_free( run_result* result );

/// Fills frame_ms and the figures over all frames from pass_ms, frame_update_ms and frame_search_ms, which
/// must be there, frame_ms with room; the stages only if they are known. False if out of memory.
bool run_result_summarise( run_result* result );

/// Method, variant, settings, scene and terms of a run that is yet to be measured.
void run_result_begin( run_result* result, const run_spec* spec, const run_options* options );

/// A logger that keeps the last error as a reason of up to 256 characters.
clv_logger run_reason_logger( char reason[256] );

/// For qsort.
int run_compare_doubles( const void* left, const void* right );

/// Median of `count` > 0 values, and the smallest value that at least `percent` % of them do not exceed. Both
/// sort.
double run_median( double* values, size_t count );
double run_percentile( double* values, size_t count, double percent );

/// run_result.ms_spread of times that stand pass by pass, frame by frame; `scratch` has room for a pass.
double run_spread(
    const double* pass_ms, size_t frame_count, size_t pass_count, double median, double* scratch );
