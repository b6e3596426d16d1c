// SPDX-License-Identifier: MIT
#include "lab/run/worker_args.h"

#include <inttypes.h>
#include <stdlib.h>

static void add_pair( worker_args* args, const char* flag, const char* value )
{
    args->items[args->count++] = flag;
    args->items[args->count++] = value;
    args->items[args->count] = NULL;
}

static void add_owned( worker_args* args, const char* flag, char* text )
{
    text_list_add( &args->owned, text );
    free( text );
    add_pair( args, flag, args->owned.items[args->owned.count - 1] );
}

static void add_number( worker_args* args, const char* flag, uint64_t number )
{
    add_owned( args, flag, text_format( "%" PRIu64, number ) );
}

static void add_switch( worker_args* args, const char* flag, bool is_on )
{
    if ( is_on )
    {
        args->items[args->count++] = flag;
        args->items[args->count] = NULL;
    }
}

void worker_args_make( worker_args* args, const run_job* job )
{
    const run_terms* terms = &job->terms;
    *args = ( worker_args ){ .count = 0 };
    for ( uint32_t index = 0; index < plugin_named_count(); ++index )
    {
        add_pair( args, "--plugin", plugin_named_path( index ) );
    }
    add_switch( args, "worker", true );
    add_pair( args, "--method", job->spec.row->name );
    if ( job->spec.row->has_isa )
    {
        add_pair( args, "--isa", run_spec_variant( &job->spec ) );
    }
    if ( job->spec.settings != NULL )
    {
        add_pair( args, "--set", job->spec.settings );
    }
    add_number( args, "--objects", job->scene.body_count );
    add_number( args, "--threads", job->spec.thread_count );
    if ( terms->frame_count != ARGS_UNSET )
    {
        add_number( args, "--frames", terms->frame_count );
    }
    add_number( args, "--warmup", terms->warmup );
    add_number( args, "--repeat", terms->repeat );
    add_number( args, "--seed", terms->seed );
    add_number( args, "--memory-limit", terms->memory_limit_mib );
    add_owned( args, "--time-limit", text_format( "%.17g", terms->time_limit_s ) );
    add_pair( args, "--pin", terms->pin );
    add_switch( args, "--answer", true );
    add_switch( args, "--fat", job->spec.fat );
    add_switch( args, "--sorted", terms->sorted );
    add_switch( args, "--events", terms->events );
    add_switch( args, "--thread-time", terms->thread_time );
    add_switch( args, "--", true );
    add_switch( args, job->scene_text, true );
}

void worker_args_free( worker_args* args )
{
    text_list_free( &args->owned );
}
