// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "lab/measure/others.h"

#include "base/timer.h"
#include "lab/base/interrupt.h"

#include <math.h>
#include <stdint.h>

#if defined( __linux__ )

#include "lab/base/platform.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Ticks since the machine and its processes began; they count in the same unit.
typedef struct tick_counts
{
    uint64_t all, busy; ///< of all processors
    uint64_t own;       ///< of this process group, those that have ended included
} tick_counts;

static bool read_line( const char* path, char* line, size_t size )
{
    FILE* file = fopen( path, "r" );
    bool good = file != NULL && fgets( line, (int)size, file ) != NULL;
    if ( file != NULL )
    {
        fclose( file );
    }
    return good;
}

static bool count_machine( tick_counts* counts )
{
    char line[256];
    uint64_t user, nice, system, idle, wait, hard, soft, stolen;
    if ( !read_line( "/proc/stat", line, sizeof( line ) ) ||
        sscanf( line,
            "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
            " %" SCNu64,
            &user, &nice, &system, &idle, &wait, &hard, &soft, &stolen ) != 8 )
    {
        return false;
    }
    counts->busy = user + nice + system + hard + soft + stolen;
    counts->all = counts->busy + idle + wait;
    return true;
}

// /proc/PID/stat: what follows the name, which may hold anything, is state, parent, group, then 9 fields nobody needs here,
// and the ticks in user mode, in the kernel, and both of children that have ended.
static void count_process( const char* name, platform_entry entry, void* user )
{
    tick_counts* counts = user;
    char path[64], line[1024];
    if ( entry.kind != PLATFORM_FOLDER || strspn( name, "0123456789" ) != strlen( name ) )
    {
        return;
    }
    snprintf( path, sizeof( path ), "/proc/%.20s/stat", name );
    const char* rest = read_line( path, line, sizeof( line ) ) ? strrchr( line, ')' ) : NULL;
    long group = 0;
    uint64_t ticks[4] = { 0 };
    bool is_read = rest != NULL &&
        sscanf( rest + 1,
            " %*c %*d %ld %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
            &group, &ticks[0], &ticks[1], &ticks[2], &ticks[3] ) == 5;
    if ( is_read && group == (long)getpgrp() )
    {
        counts->own += ticks[0] + ticks[1] + ticks[2] + ticks[3];
    }
}

static bool count_ticks( tick_counts* counts )
{
    *counts = ( tick_counts ){ 0 };
    return count_machine( counts ) && platform_list( "/proc", count_process, counts );
}

static void sleep_for( double seconds )
{
    double whole = floor( seconds );
    struct timespec time = { (time_t)whole, (long)( ( seconds - whole ) * 1e9 ) };
    nanosleep( &time, NULL );
}

double others_share( double seconds )
{
    tick_counts before, after;
    if ( !count_ticks( &before ) )
    {
        return NAN;
    }
    sleep_for( seconds );
    if ( !count_ticks( &after ) || after.all <= before.all )
    {
        return NAN;
    }
    double busy = (double)after.busy - (double)before.busy;
    double own = (double)after.own - (double)before.own;
    double share = ( busy - ( own > 0 ? own : 0 ) ) / (double)( after.all - before.all );
    return share > 0 ? share : 0; // ticks are coarse
}

#else

double others_share( double seconds )
{
    (void)seconds;
    return NAN;
}

#endif

// Long enough for a tick to be a small share, short enough to be done before every scene.
#define LOOK_S 0.5

others_seen others_wait( double most, double wait_s )
{
    others_seen seen = { 0 };
    uint64_t begin = clv_base_clock_ns();
    for ( ;; )
    {
        double look_s = seen.waited_s > 0 ? 4 * LOOK_S : LOOK_S;
        seen.share = others_share( look_s );
        if ( !( seen.share > most ) || seen.waited_s >= wait_s || interrupt_raised() )
        {
            return seen;
        }
        seen.waited_s = (double)( clv_base_clock_ns() - begin ) / 1e9;
    }
}
