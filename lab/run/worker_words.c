// SPDX-License-Identifier: MIT
#include "lab/run/worker_words.h"

#include <inttypes.h>
#include <stdlib.h>

static void add_pair( worker_words* words, const char* flag, const char* value )
{
    words->items[words->count++] = flag;
    words->items[words->count++] = value;
    words->items[words->count] = NULL;
}

static void add_owned( worker_words* words, const char* flag, char* text )
{
    text_list_add( &words->owned, text );
    free( text );
    add_pair( words, flag, words->owned.items[words->owned.count - 1] );
}

static void add_number( worker_words* words, const char* flag, uint64_t number )
{
    add_owned( words, flag, text_format( "%" PRIu64, number ) );
}

static void add_switch( worker_words* words, const char* flag, bool is_on )
{
    if ( is_on )
    {
        words->items[words->count++] = flag;
        words->items[words->count] = NULL;
    }
}

void worker_words_make( worker_words* words, const run_job* job )
{
    const run_terms* terms = &job->terms;
    *words = ( worker_words ){ .items = { "worker" }, .count = 1 };
    add_pair( words, "--method", job->spec.row->name );
    if ( job->spec.row->has_isa )
    {
        add_pair( words, "--isa", run_spec_variant( &job->spec ) );
    }
    if ( job->spec.settings != NULL )
    {
        add_pair( words, "--set", job->spec.settings );
    }
    add_number( words, "--objects", job->scene.body_count );
    add_number( words, "--threads", job->spec.thread_count );
    if ( terms->frame_count != ARGS_UNSET )
    {
        add_number( words, "--frames", terms->frame_count );
    }
    add_number( words, "--warmup", terms->warmup );
    add_number( words, "--repeat", terms->repeat );
    add_number( words, "--seed", terms->seed );
    add_number( words, "--memory-limit", terms->memory_limit_mib );
    add_owned( words, "--time-limit", text_format( "%.17g", terms->time_limit_s ) );
    add_pair( words, "--pin", terms->pin );
    add_switch( words, "--answer", true );
    add_switch( words, "--fat", job->spec.fat );
    add_switch( words, "--sorted", terms->sorted );
    add_switch( words, "--events", terms->events );
    add_switch( words, "--thread-time", terms->thread_time );
    add_switch( words, "--", true );
    add_switch( words, job->scene_text, true );
}

void worker_words_free( worker_words* words )
{
    text_list_free( &words->owned );
}
