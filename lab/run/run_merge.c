// SPDX-License-Identifier: MIT
#include "lab/run/run_merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_failure( run_result* sum, const run_result* next )
{
    sum->status = next->status;
    snprintf( sum->reason, sizeof( sum->reason ), "%s", next->reason );
}

static void add_passes( run_result* sum, const run_result* next )
{
    size_t frames = sum->frame_count;
    size_t before = frames * sum->pass_count;
    size_t more = frames * next->pass_count;
    sum->pass_ms = lab_grow( sum->pass_ms, before + more + 1, sizeof( double ) );
    memcpy( sum->pass_ms + before, next->pass_ms, more * sizeof( double ) );
    sum->pass_count += next->pass_count;
    sum->memory_bytes = next->memory_bytes > sum->memory_bytes ? next->memory_bytes : sum->memory_bytes;
    if ( !run_result_summarise( sum ) )
    {
        lab_out_of_memory();
    }
}

static bool has_passes( const run_result* run )
{
    bool has_stages = run->frame_update_ms != NULL && run->frame_search_ms != NULL;
    return run->pass_ms != NULL && run->pass_count > 0 && run->frame_ms != NULL &&
        ( has_stages || run->is_opaque );
}

void run_merge( run_result* sum, run_result* next )
{
    if ( sum->status == RUN_OK && next->status != RUN_OK )
    {
        take_failure( sum, next );
    }
    else if ( sum->status == RUN_OK &&
        ( sum->pairs_hash != next->pairs_hash || sum->frame_count != next->frame_count ) )
    {
        sum->status = RUN_FAILED;
        snprintf( sum->reason, sizeof( sum->reason ),
            "two rounds found other pairs: hash 0x%016" PRIx64 " against 0x%016" PRIx64, next->pairs_hash,
            sum->pairs_hash );
    }
    else if ( sum->status == RUN_OK && has_passes( sum ) && has_passes( next ) )
    {
        add_passes( sum, next );
    }
    run_result_free( next );
}
