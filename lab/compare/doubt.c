// SPDX-License-Identifier: MIT
#include "lab/compare/doubt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Measuring itself makes a load of about one; two files of a quiet machine differ by no more.
#define LOAD_OF_OURS 1.0

static void doubt_machine( doubt* all, const json_value* a, const json_value* b )
{
    const char* cpu_a = json_as_text( json_get( a, "cpu" ) );
    const char* cpu_b = json_as_text( json_get( b, "cpu" ) );
    double cores_a = json_as_number( json_get( a, "cores" ) );
    double cores_b = json_as_number( json_get( b, "cores" ) );
    if ( cpu_a != NULL && cpu_b != NULL && strcmp( cpu_a, cpu_b ) != 0 )
    {
        snprintf( all->machine, sizeof( all->machine ), "A is from another processor than B: %.80s and %.80s",
            cpu_a, cpu_b );
    }
    else if ( cores_a > 0 && cores_b > 0 && cores_a != cores_b )
    {
        snprintf( all->machine, sizeof( all->machine ), "A had %.0f cores and B %.0f", cores_a, cores_b );
    }
}

// With more runnable processes than cores some of them wait; with fewer, memory and clock rate are still shared.
static bool is_crowded( double load, double cores )
{
    return load > cores + LOAD_OF_OURS / 2;
}

static void doubt_load( doubt* all, const json_value* a, const json_value* b )
{
    double load_a = json_as_number( json_get( a, "load" ) );
    double load_b = json_as_number( json_get( b, "load" ) );
    double cores_a = json_as_number( json_get( a, "cores" ) );
    double cores_b = json_as_number( json_get( b, "cores" ) );
    // Written so that what is missing, and so NaN, raises no doubt.
    bool is_other = fabs( load_a - load_b ) > LOAD_OF_OURS;
    if ( is_other || is_crowded( load_a, cores_a ) || is_crowded( load_b, cores_b ) )
    {
        char of_a[32] = "an unknown load", of_b[32] = "an unknown load";
        if ( load_a >= 0 )
        {
            snprintf( of_a, sizeof( of_a ), "a load of %.1f", load_a );
        }
        if ( load_b >= 0 )
        {
            snprintf( of_b, sizeof( of_b ), "a load of %.1f", load_b );
        }
        snprintf( all->load, sizeof( all->load ), "A was measured at %s and B at %s: others were at work",
            of_a, of_b );
    }
}

void doubt_find( doubt* all, const json_value* a, const json_value* b )
{
    *all = ( doubt ){ 0 };
    if ( a != NULL && b != NULL )
    {
        doubt_machine( all, a, b );
        doubt_load( all, a, b );
    }
}
