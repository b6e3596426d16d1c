// SPDX-License-Identifier: MIT
// The rounds of a job, each a process of its own, as one result.
#pragma once

#include "lab/measure/timed_run.h"

/// Adds the passes of `next` to `sum` and sums up anew. If a round did not end well, or found other pairs, neither did
/// the sum. `next` is freed.
void run_merge( run_result* sum, run_result* next );
