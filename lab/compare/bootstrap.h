// SPDX-License-Identifier: MIT
// How much longer one run took than another, and how sure that is: Efron's bootstrap (Bootstrap methods, Annals of
// Statistics 1979) over passes and frames. Of each frame the median over the passes is taken, so that a hiccup in one pass
// does not count; frames are drawn in pairs, since both runs saw the same boxes; passes are drawn for each run by itself,
// since their noise has nothing to do with each other.
#pragma once

#include "lab/measure/timed_run.h"

typedef struct bootstrap_ratio
{
    double ratio;     ///< time of b over time of a, both summed over the frames' medians
    double low, high; ///< 99 % of the draws lie between
} bootstrap_ratio;

/// Both ran well, over the same frames. The same draws every time.
bootstrap_ratio bootstrap_compare( const run_result* a, const run_result* b );
