// SPDX-License-Identifier: MIT
// How many times as fast as the fastest of the others each row must stay, in a file that
// people read: bench/floors.csv.
#pragma once

#include "lab/result/results.h"

typedef struct floor_row
{
    char* part; ///< of the schedule: tells apart two windows of one scene
    char* scene;
    char* type;
    uint32_t object_count;
    char* variant; ///< instruction set of ours
    char* rival;   ///< the fastest of the others when the floor was set
    double floor;
} floor_row;

/// Zero-initialised is empty.
typedef struct floor_file
{
    text_list comments; ///< lines that begin with #; they stay at the head
    floor_row* rows;
    uint32_t count;
} floor_file;

/// A file that is not there is an empty one if `may_be_missing`. False names file, line and what was
/// expected.
bool floor_file_read( const char* path, bool may_be_missing, floor_file* file, lab_error* why );
bool floor_file_write( const char* path, const floor_file* file, lab_error* why );
void floor_file_free( floor_file* file );

// ---- One method against all others in a set of results: per row of scene, size and instruction set the
// fastest other, how many times as fast ours is, and whether that is above its floor.

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

/// A row for each run of the method `name`. Of each frame the least over the passes counts, on both
/// sides, so that a busy machine hurts neither; a run's time is the median of these. Results and
/// floors must outlive the race.
void race_make( race* all, const run_results* results, const char* name, floor_file* floors );
void race_free( race* all );

/// An undercut floor, a failure, or other pairs.
bool race_is_bad( const race* all );

/// Sets floors to `share` of what was measured, where that is more than is stored; never lowers one. A row
/// keeps its floor where the rival it was set against did not end this time: against slower ones any method
/// looks fast. Returns how many rose.
uint32_t race_raise( const race* all, const run_results* results, double share, floor_file* floors );

/// The table, the methods that are missing and why, and a sentence, on stdout.
void race_print( const race* all, const run_results* results, const char* name );
