// SPDX-License-Identifier: MIT
// How far long work has come, on stderr: a bar with rate and time left on a terminal, a plain line now and
// then otherwise. Work that ends within half a second shows nothing.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct progress_bar
{
    char label[64];
    const char* unit; ///< "frames"; alive as long as the bar
    uint64_t total;
    uint64_t begin_ns;
    uint64_t shown_ns; ///< when a line was last written
    bool is_terminal;
} progress_bar;

void progress_begin( progress_bar* bar, const char* label, const char* unit, uint64_t total );

/// `done` of the total so far. Cheap enough to call a thousand times a second.
void progress_show( progress_bar* bar, uint64_t done );

/// Takes the bar away.
void progress_end( progress_bar* bar );

/// True: nothing is shown from now on.
void progress_set_quiet( bool quiet );

/// Takes the bar away and shows nothing ever after, whatever the work that goes on says; from any thread.
void progress_end_all( void );
bool progress_is_over( void );

/// Takes a bar off the terminal's line, so that another message can stand there.
void progress_clear_line( void );

/// "12 s", "3 min", "1.5 h".
void progress_format_time( double seconds, char* buffer, size_t size );
