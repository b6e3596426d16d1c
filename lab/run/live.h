// SPDX-License-Identifier: MIT
// The live table as a page that renews itself: written anew, whole each time, when a run begins or ends. It
// needs no server: a browser that has it open loads it again from disk.
#pragma once

#include "lab/base/bytes.h"
#include "lab/measure/timed_run.h"

/// Zero-initialised is none.
typedef struct live_page
{
    const char* path;    ///< NULL: none
    byte_buffer rows;    ///< HTML, the oldest first
    bool has_failed;     ///< it could not be written once: then no more
    uint64_t written_ns; ///< when last
} live_page;

void live_page_begin( live_page* page, const char* path );

/// A row for a run that ended, or was left out (`run` NULL, `why` says why).
void live_page_add(
    live_page* page, const char* label, const run_result* run, const char* why, bool is_kept );

/// Writes the page, twice a second at most: so many of all are done, this runs now, "12 min" are left or
/// nothing is known. `is_over`: it renews itself no more.
void live_page_write(
    live_page* page, uint32_t done, uint32_t total, const char* label, const char* left, bool is_over );
void live_page_end( live_page* page );

// ---- What is going on, on stderr: on a terminal the last rows of the table, what runs now and the time
// left, redrawn in place; otherwise a line per run.

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
