// SPDX-License-Identifier: MIT
// Results for people: the table, and whether the runs over a scene agree.
#pragma once

#include "lab/result/results.h"

/// Every run, a line for each that did not end well, and one for each reason why methods cannot run here, on stdout.
void results_print( const run_results* results );

/// What the methods count, per frame, on stdout.
void results_print_counters( const run_results* results );

/// Do all runs over the same scene and frames have the same hash? Each that does not gets a line on stderr.
bool results_check_agreement( const run_results* results );

/// Did one fail? Running out of time does not count: the limit was set on purpose.
bool results_have_failed( const run_results* results );
