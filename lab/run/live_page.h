// SPDX-License-Identifier: MIT
// The live table as a page that renews itself: written anew, whole each time, when a run begins or ends. It needs no server: a browser that has
// it open loads it again from disk.
#pragma once

#include "lab/base/byte_buffer.h"
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

/// Writes the page, twice a second at most: so many of all are done, this runs now, "12 min" are left or nothing is known. `is_over`: it renews itself no more.
void live_page_write(
    live_page* page, uint32_t done, uint32_t total, const char* label, const char* left, bool is_over );
void live_page_end( live_page* page );
