// SPDX-License-Identifier: MIT
// What programs that measure begin with: they stop where something fails, and count the thread's own time.
// BENCH_NAME is the program's, from CMakeLists.txt.
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline void check( bool ok, const char* what )
{
    if ( !ok )
    {
        fprintf( stderr, BENCH_NAME ": %s failed\n", what );
        exit( 2 );
    }
}

static inline void* take( size_t count, size_t size )
{
    void* memory = calloc( count, size );
    check( memory != NULL, "taking memory" );
    return memory;
}

// Of this thread alone: others may be at work.
static inline double cpu_ms( void )
{
    struct timespec now;
    clock_gettime( CLOCK_THREAD_CPUTIME_ID, &now );
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}
