// SPDX-License-Identifier: MIT
// Recordings of tests. With CLEAVE_RECORD=FILE in the environment the calls on a space go to FILE, or to
// FILE.PART for all parts but 0, each written before it is made: what stops the program is in it. The last
// space of a part is kept. docs/replay.md tells what can be done with the file.
#pragma once

#include "cleave/cleave.h"

#include <stdio.h>
#include <stdlib.h>

enum
{
    RECORDED_PARTS = 16
};

static clv_recorder* recorded[RECORDED_PARTS];

static void recorded_end( void )
{
    for ( int part = 0; part < RECORDED_PARTS; ++part )
    {
        clv_recorder_close( recorded[part] );
        recorded[part] = NULL;
    }
}

/// `space` is new. Without the variable nothing happens.
static inline void recorded_begin( clv_space* space, unsigned part )
{
    static bool will_end = false;
    const char* file = getenv( "CLEAVE_RECORD" );
    if ( file == NULL || part >= RECORDED_PARTS )
    {
        return;
    }
    clv_recorder_close( recorded[part] );
    recorded[part] = NULL;
    if ( !will_end )
    {
        will_end = atexit( recorded_end ) == 0;
    }
    char path[1024];
    snprintf( path, sizeof( path ), part == 0 ? "%s" : "%s.%u", file, part );
    clv_recorder_def def = clv_default_recorder_def();
    def.path = path;
    def.writes_each = true;
    clv_result result = clv_recorder_create( &def, space, &recorded[part] );
    if ( result != CLV_OK )
    {
        fprintf( stderr, "%s: %s\n", path, clv_result_text( result ) );
    }
}
