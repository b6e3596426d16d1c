// SPDX-License-Identifier: MIT
// Two sets of results, run by run.
#pragma once

#include "lab/measure/timed_run.h"
#include "lab/result/results.h"

// ---- How much longer one run took than another, and how sure that is: Efron's bootstrap (Bootstrap methods,
// Annals of Statistics 1979) over passes and frames. Of each frame the median over the passes is taken, so
// that a hiccup in one pass does not count; frames are drawn in pairs, since both runs saw the same boxes;
// passes are drawn for each run by itself, since their noise has nothing to do with each other.

typedef struct bootstrap_ratio
{
    double ratio;     ///< time of b over time of a, both summed over the frames' medians
    double low, high; ///< 99 % of the draws lie between
} bootstrap_ratio;

/// Both ran well, over the same frames. The same draws every time.
bootstrap_ratio bootstrap_compare( const run_result* a, const run_result* b );

// ---- Reasons not to believe a comparison of times: the machines differ, or one of them was busy. What other
// people's processes cost is in the times and looks like a change of the program.

#define DOUBT_ROOM 256

/// A sentence each, or "".
typedef struct doubt
{
    char machine[DOUBT_ROOM]; ///< another processor, or another number of cores
    char load[DOUBT_ROOM];    ///< others were at work; does not touch times of the thread's processor
} doubt;

typedef enum comparison_verdict
{
    COMPARISON_SAME, ///< within the noise
    COMPARISON_FASTER,
    COMPARISON_SLOWER,    ///< beyond the noise, yet within the bound
    COMPARISON_REGRESSED, ///< beyond the bound too
    COMPARISON_BROKEN,    ///< ran well before and does not now
    COMPARISON_MENDED,
    COMPARISON_OTHER_PAIRS, ///< the hashes differ
    COMPARISON_NEITHER,     ///< ran well in neither, or is not available in one
    COMPARISON_ONLY_A,
    COMPARISON_ONLY_B,
    COMPARISON_VERDICTS
} comparison_verdict;

typedef struct comparison_row
{
    const run_result* a; ///< NULL: only in b
    const run_result* b;
    bootstrap_ratio time; ///< where both ran well
    comparison_verdict verdict;
    bool is_doubtful; ///< the verdict is about time, and there is a reason not to believe the times
} comparison_row;

/// Zero-initialised is empty.
typedef struct comparison
{
    comparison_row* rows; ///< what changed most comes first
    uint32_t count;
    uint32_t counts[COMPARISON_VERDICTS];
    doubt doubts;
    uint32_t doubtful_count;
} comparison;

/// Runs are the same if scene, type, objects, frames, method, variant, threads, settings and switches are.
/// `bound_percent`: slower by more is a regression. The results must outlive the comparison.
void comparison_make( comparison* all, const run_results* a, const run_results* b, double bound_percent );
void comparison_free( comparison* all );

/// The table, the reasons of what is wrong, and a sentence, on stdout.
void comparison_print( const comparison* all, bool shows_all, double bound_percent );

/// A regression, doubtful ones too, a run that broke, or other pairs.
bool comparison_is_bad( const comparison* all );
