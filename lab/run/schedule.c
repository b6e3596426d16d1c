// SPDX-License-Identifier: MIT
#include "lab/run/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

run_terms run_terms_default( void )
{
    run_terms terms = { .frame_count = ARGS_UNSET,
        .warmup = 1,
        .repeat = 3,
        .rounds = 1,
        .time_limit_s = 600,
        .seed = 1,
        .pin = "no" };
    return terms;
}

static text_list copy_texts( const text_list* list )
{
    text_list copy = { 0 };
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        text_list_add( &copy, list->items[index] );
    }
    return copy;
}

static size_list copy_sizes( const size_list* list )
{
    size_list copy = { 0 };
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        size_list_add( &copy, list->items[index] );
    }
    return copy;
}

static schedule_part copy_part( const schedule_part* from )
{
    schedule_part copy = *from;
    copy.scenes = copy_texts( &from->scenes );
    copy.sizes = copy_sizes( &from->sizes );
    copy.types = copy_texts( &from->types );
    copy.wish.names = copy_texts( &from->wish.names );
    copy.wish.isas = copy_texts( &from->wish.isas );
    copy.wish.threads = copy_sizes( &from->wish.threads );
    copy.wish.settings = copy_texts( &from->wish.settings );
    copy.wish.sweeps = copy_texts( &from->wish.sweeps );
    copy.wish.without = copy_texts( &from->wish.without );
    return copy;
}

schedule_part* schedule_add_part( schedule* plan, const schedule_part* from, const char* name )
{
    // `from` may be one of the parts that move.
    schedule_part made = { .terms = run_terms_default() };
    if ( from != NULL )
    {
        made = copy_part( from );
    }
    schedule_part* part = lab_list_next( plan->parts, plan->part_count );
    *part = made;
    snprintf( part->name, sizeof( part->name ), "%s", name );
    return part;
}

void schedule_part_free( schedule_part* part )
{
    text_list_free( &part->scenes );
    size_list_free( &part->sizes );
    text_list_free( &part->types );
    run_wish_free( &part->wish );
}

void schedule_free( schedule* plan )
{
    for ( uint32_t index = 0; index < plan->part_count; ++index )
    {
        schedule_part_free( &plan->parts[index] );
    }
    free( plan->parts );
    *plan = ( schedule ){ 0 };
}
