// SPDX-License-Identifier: MIT
// What is going on, on stderr: on a terminal the last rows of the table, what runs now and the time left, redrawn in
// place; otherwise a line per run.
#pragma once

#include "lab/measure/timed_run.h"
#include "lab/run/live_page.h"

#define LIVE_ROWS 8

typedef struct live_table
{
    bool is_on, is_terminal;
    uint32_t total, done;
    double weight_total, weight_done; ///< a guess of the work, in seconds
    uint64_t begin_ns, run_begin_ns, drawn_ns;
    char label[128]; ///< what runs now
    char rows[LIVE_ROWS][256];
    uint32_t row_count;
    uint32_t line_count; ///< on the screen now
    live_page page;      ///< the same as a page, where one is asked for
} live_table;

/// `page`: a file to write the table to as well, or NULL.
void live_begin( live_table* live, bool is_on, uint32_t total, double weight_total, const char* page );
void live_start( live_table* live, const char* label );
void live_tick( live_table* live ); ///< redraws, a few times a second at most

/// One run more is done, or known from before.
void live_finish( live_table* live, const run_result* run, const char* label, double weight, bool is_kept );

/// Runs left out.
void live_skip( live_table* live, const char* label, const char* why, double weight );

/// Takes everything off the screen, so that something else can be shown there.
void live_clear( live_table* live );

/// Everything is done, or cannot go on: takes all off the screen, and the page says so.
void live_end( live_table* live );
