// SPDX-License-Identifier: MIT
// Works through a plan: each job in a process of its own, or here where that is asked for. A crash, a hang or
// too much memory ends the job it is in, with a reason, and the rest goes on.
#pragma once

#include "lab/result/results.h"
#include "lab/run/journal.h"
#include "lab/run/run_plan.h"

/// What to do with the runs that are done when a signal ends the rest; lab/base/interrupt.h.
typedef void runner_on_stop( run_results* done, uint32_t total, void* user );

typedef struct runner_options
{
    bool in_process;         ///< for debuggers and profilers, and where the system cannot do otherwise
    bool is_live;            ///< show the live table
    bool is_quiet;           ///< show nothing at all
    const char* page;        ///< a file to write the live table to, as a page that renews itself; NULL: none
    bool whole_only;         ///< a job counts as done with its last round only: the journal has the others
    double budget_s;         ///< no run begins, and none goes on, after so many seconds; 0: any time
    double others_most;      ///< wait while others use a larger share of the processors; 0: do not look
    double others_wait_s;    ///< at most so long in all: a machine that is never quiet is measured as it is
    runner_on_stop* on_stop; ///< NULL: nothing
    void* on_stop_user;
} runner_options;

typedef struct runner_report
{
    uint32_t kept;     ///< known from the journal
    uint32_t left_out; ///< by the ladder rule
    uint32_t undone;   ///< because the time was up
} runner_report;

/// Results in the order of the plan, without those left out. False if a scene or the journal failed; what
/// was done before is there all the same. With an on_stop, the stop action is held on return: write the
/// results, then stop_action_end.
bool runner_run( const run_plan* plan, const runner_options* options, journal* log, run_results* results,
    runner_report* report, lab_error* why );

/// The terms of a job over a scene of that many frames.
run_options runner_terms( const run_terms* terms, uint32_t available );
