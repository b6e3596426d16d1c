// SPDX-License-Identifier: MIT
#include "lab/base/progress.h"

#include "base/timer.h"
#include "lab/base/platform.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define SECOND_NS UINT64_C( 1000000000 )
#define FIRST_NS ( SECOND_NS / 2 )
#define TERMINAL_STEP_NS ( SECOND_NS / 10 )
#define LINE_STEP_NS ( 5 * SECOND_NS )

static bool is_quiet = false;
static atomic_bool is_over = false;
static atomic_bool is_line_dirty = false;

void progress_set_quiet( bool quiet )
{
    is_quiet = quiet;
}

void progress_clear_line( void )
{
    if ( is_line_dirty )
    {
        fputs( "\r\033[K", stderr );
        is_line_dirty = false;
    }
}

void progress_end_all( void )
{
    is_over = true;
    progress_clear_line();
}

bool progress_is_over( void )
{
    return is_over;
}

void progress_begin( progress_bar* bar, const char* label, const char* unit, uint64_t total )
{
    snprintf( bar->label, sizeof( bar->label ), "%s", label );
    bar->unit = unit;
    bar->total = total;
    bar->begin_ns = clv_base_clock_ns();
    bar->is_terminal = platform_is_terminal( stderr );
    bar->shown_ns = bar->begin_ns;
}

void progress_format_time( double seconds, char* buffer, size_t size )
{
    if ( seconds < 100 )
    {
        snprintf( buffer, size, "%.0f s", seconds );
    }
    else if ( seconds < 6000 )
    {
        snprintf( buffer, size, "%.0f min", seconds / 60 );
    }
    else
    {
        snprintf( buffer, size, "%.1f h", seconds / 3600 );
    }
}

static void format_state( const progress_bar* bar, uint64_t done, uint64_t now, char* buffer, size_t size )
{
    double elapsed = (double)( now - bar->begin_ns ) / 1e9;
    double rate = elapsed > 0 ? (double)done / elapsed : 0;
    char left[32] = "?";
    if ( rate > 0 )
    {
        progress_format_time( (double)( bar->total - done ) / rate, left, sizeof( left ) );
    }
    snprintf( buffer, size, "%" PRIu64 "/%" PRIu64 " %s, %.3g/s, %s left", done, bar->total, bar->unit, rate,
        left );
}

static void draw_bar( const progress_bar* bar, uint64_t done, const char* state )
{
    enum
    {
        BAR_MOST = 30
    };
    size_t columns = platform_columns();
    size_t taken = strlen( bar->label ) + strlen( state ) + 5;
    size_t width = columns > taken + 5 ? columns - taken : 0;
    width = width < BAR_MOST ? width : BAR_MOST;
    char cells[BAR_MOST + 1];
    size_t filled = bar->total > 0 ? (size_t)( (double)width * (double)done / (double)bar->total ) : width;
    for ( size_t index = 0; index < width; ++index )
    {
        cells[index] = index < filled ? '#' : '.';
    }
    cells[width] = '\0';
    char line[256];
    snprintf( line, sizeof( line ), "%s [%s] %s", bar->label, cells, state );
    // A line that wraps could not be taken back.
    if ( columns > 1 && columns - 1 < sizeof( line ) )
    {
        line[columns - 1] = '\0';
    }
    fprintf( stderr, "\r\033[K%s", line );
    fflush( stderr );
    is_line_dirty = true;
}

void progress_show( progress_bar* bar, uint64_t done )
{
    uint64_t now = clv_base_clock_ns();
    uint64_t step = bar->is_terminal ? TERMINAL_STEP_NS : LINE_STEP_NS;
    if ( is_quiet || is_over || now - bar->begin_ns < FIRST_NS || now - bar->shown_ns < step )
    {
        return;
    }
    bar->shown_ns = now;
    done = done < bar->total ? done : bar->total;
    char state[128];
    format_state( bar, done, now, state, sizeof( state ) );
    if ( bar->is_terminal )
    {
        draw_bar( bar, done, state );
    }
    else
    {
        fprintf( stderr, "%s: %s\n", bar->label, state );
    }
}

void progress_end( progress_bar* bar )
{
    (void)bar;
    progress_clear_line();
}
