// SPDX-License-Identifier: MIT
// Two sets of results, run by run.
#pragma once

#include "lab/compare/bootstrap.h"
#include "lab/compare/doubt.h"
#include "lab/result/results.h"

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

/// "same", "faster", …
const char* comparison_verdict_name( comparison_verdict verdict );

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

/// Runs are the same if scene, type, objects, frames, method, variant, threads, settings, order and events are.
/// `bound_percent`: slower by more is a regression. The results must outlive the comparison.
void comparison_make( comparison* all, const run_results* a, const run_results* b, double bound_percent );
void comparison_free( comparison* all );

/// The table, the reasons of what is wrong, and a sentence, on stdout.
void comparison_print( const comparison* all, bool shows_all, double bound_percent );

/// A regression, doubtful ones too, a run that broke, or other pairs.
bool comparison_is_bad( const comparison* all );
