// SPDX-License-Identifier: MIT
// One method against all others in a set of results: per row of scene, size and instruction set the fastest other, how many
// times as fast ours is, and whether that is above its floor.
#pragma once

#include "lab/floors/floor_file.h"

typedef enum race_verdict
{
    RACE_ABOVE,
    RACE_BELOW,       ///< the floor is undercut
    RACE_NO_FLOOR,    ///< none is stored yet
    RACE_NO_RIVAL,    ///< no other method finished this row
    RACE_OTHER_PAIRS, ///< a rival found others
    RACE_FAILED,      ///< ours did not end well
    RACE_VERDICTS
} race_verdict;

/// "above", "BELOW", …
const char* race_verdict_name( race_verdict verdict );

typedef struct race_row
{
    const char* part;
    const run_result* ours;
    const run_result* rival; ///< NULL: none ended well
    double ours_ms, rival_ms;
    double ratio; ///< rival's time over ours; 0 without a rival
    double floor; ///< 0: none
    race_verdict verdict;
} race_row;

/// Zero-initialised is empty.
typedef struct race
{
    race_row* rows;
    uint32_t count;
    uint32_t counts[RACE_VERDICTS];
} race;

/// A row for each run of the method `name`. Of each frame the least over the passes counts, on both sides, so that a busy machine
/// hurts neither; a run's time is the median of these. Results and floors must outlive the race.
void race_make( race* all, const run_results* results, const char* name, floor_file* floors );
void race_free( race* all );

/// An undercut floor, a failure, or other pairs.
bool race_is_bad( const race* all );

/// Sets floors to `share` of what was measured, where that is more than is stored; never lowers one. A row keeps its floor
/// where the rival it was set against did not end this time: against slower ones anybody looks fast. Returns how many rose.
uint32_t race_raise( const race* all, const run_results* results, double share, floor_file* floors );

/// The table, the methods that are missing and why, and a sentence, on stdout.
void race_print( const race* all, const run_results* results, const char* name );
