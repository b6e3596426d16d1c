// SPDX-License-Identifier: MIT
#include "lab/view/view_search.h"

#include "lab/measure/timed_run.h"
#include "lab/view/view_page.h"

#include <stdlib.h>
#include <string.h>

// One method, with the settings it is to have.
static bool choose_method( view_search* search, const view_search_def* def, lab_error* why )
{
    run_wish wish = { 0 };
    text_list_add( &wish.names, def->tree_method );
    for ( uint32_t i = 0; def->tree_settings != NULL && i < def->tree_settings->count; ++i )
    {
        text_list_add( &wish.settings, def->tree_settings->items[i] );
    }
    bool good = run_spec_list_make( &search->tree_specs, &wish, false, why );
    run_wish_free( &wish );
    if ( !good )
    {
        return false;
    }
    char reason[512];
    if ( !run_spec_is_available( &search->tree_specs.items[0], reason, sizeof( reason ) ) )
    {
        return lab_error_write( why, "view: %s cannot run here: %s", def->tree_method, reason );
    }
    return search->tree_specs.items[0].row->dump != NULL ||
        lab_error_write( why,
            "view: %s keeps no tree that can be drawn; use kd, kd-complete, kd-incremental, kd-rebuilt, the same of "
            "kd-paper, or ray-kd",
            def->tree_method );
}

static bool create_spaces( view_search* search, lab_error* why )
{
    clv_space_def def = clv_default_space_def();
    def.sorted = true;
    def.stage_times = true;
    def.max_pairs = VIEW_PAIRS_MOST;
    def.capacity = search->object_count;
    def.logger = run_reason_logger( search->reason );
    clv_result result = search->has_pairs ? clv_space_create( &def, &search->pair_space ) : CLV_OK;
    if ( result == CLV_OK && search->tree_specs.count > 0 )
    {
        clv_space_def tree = clv_default_space_def();
        run_spec_apply( &search->tree_specs.items[0], &tree );
        tree.logger = def.logger;
        tree.max_pairs = VIEW_PAIRS_MOST;
        result = clv_space_create( &tree, &search->tree_space );
    }
    return result == CLV_OK ||
        lab_error_write(
            why, "view: %s", search->reason[0] != '\0' ? search->reason : clv_result_text( result ) );
}

bool view_search_open(
    view_search* search, uint32_t object_count, const view_search_def* def, lab_error* why )
{
    *search = ( view_search ){ .object_count = object_count, .has_pairs = def->has_pairs };
    search->pair_ids = calloc( object_count, sizeof( clv_id ) );
    search->tree_ids = calloc( object_count, sizeof( clv_id ) );
    bool good = search->pair_ids != NULL && search->tree_ids != NULL;
    good = good || lab_error_write( why, "view: out of memory" );
    good = good && ( def->tree_method == NULL || !def->has_pairs || choose_method( search, def, why ) );
    good = good && create_spaces( search, why );
    if ( !good )
    {
        view_search_close( search );
    }
    return good;
}

void view_search_close( view_search* search )
{
    clv_space_destroy( search->pair_space );
    clv_space_destroy( search->tree_space );
    run_spec_list_free( &search->tree_specs );
    free( search->pair_ids );
    free( search->tree_ids );
    free( search->last );
    free( search->begun );
    free( search->ended );
    *search = ( view_search ){ 0 };
}

static void* reserve( void* items, size_t item_size, uint64_t* capacity, uint64_t count )
{
    if ( count <= *capacity && items != NULL )
    {
        return items;
    }
    uint64_t wanted = count + count / 4 + 1;
    void* larger = realloc( items, wanted * item_size );
    *capacity = larger != NULL ? wanted : *capacity;
    return larger;
}

// Room for the lists of an update. What cannot grow stays as it was.
static bool reserve_lists( view_search* search, uint64_t now_count )
{
    clv_pair* begun = reserve( search->begun, sizeof( clv_pair ), &search->begun_capacity, now_count );
    search->begun = begun != NULL ? begun : search->begun;
    uint32_t* ended =
        reserve( search->ended, sizeof( uint32_t ), &search->ended_capacity, search->last_count );
    search->ended = ended != NULL ? ended : search->ended;
    clv_pair* last = reserve( search->last, sizeof( clv_pair ), &search->last_capacity, now_count );
    search->last = last != NULL ? last : search->last;
    return begun != NULL && ended != NULL && last != NULL;
}

static clv_result move_on( view_search* search, clv_space* space, clv_id* ids, const clv_aabb* boxes )
{
    clv_result result = search->has_frames ? clv_space_move( space, ids, boxes, search->object_count )
                                           : clv_space_add( space, boxes, search->object_count, ids );
    return result == CLV_OK ? clv_space_update( space ) : result;
}

static bool fail( const clv_space* space, clv_result result, lab_error* why )
{
    if ( result == CLV_TOO_MANY_PAIRS )
    {
        return lab_error_write( why,
            "view: more than %d pairs in one frame; use fewer objects, or --no-pairs to leave them out",
            VIEW_PAIRS_MOST );
    }
    const char* text = clv_space_error( space ).text;
    return lab_error_write(
        why, "view: %s", text != NULL && text[0] != '\0' ? text : clv_result_text( result ) );
}

static bool compare_lists( view_search* search )
{
    clv_pair_view now = clv_space_pairs( search->pair_space );
    if ( !reserve_lists( search, now.count ) )
    {
        return false;
    }
    search->begun_count =
        view_coder_without( now.pairs, now.count, search->last, search->last_count, search->begun, NULL );
    search->ended_count =
        view_coder_without( search->last, search->last_count, now.pairs, now.count, NULL, search->ended );
    if ( now.count > 0 )
    {
        memcpy( search->last, now.pairs, now.count * sizeof( clv_pair ) );
    }
    search->last_count = now.count;
    return true;
}

bool view_search_update( view_search* search, const clv_aabb* boxes, lab_error* why )
{
    if ( search->has_pairs )
    {
        clv_result result = move_on( search, search->pair_space, search->pair_ids, boxes );
        if ( result != CLV_OK )
        {
            return fail( search->pair_space, result, why );
        }
        if ( !compare_lists( search ) )
        {
            return lab_error_write( why, "view: out of memory for the pairs" );
        }
    }
    if ( search->tree_space != NULL )
    {
        clv_result result = move_on( search, search->tree_space, search->tree_ids, boxes );
        if ( result != CLV_OK )
        {
            return fail( search->tree_space, result, why );
        }
    }
    search->has_frames = true;
    return true;
}

clv_pair_view view_search_pairs( const view_search* search )
{
    return search->has_pairs ? clv_space_pairs( search->pair_space ) : ( clv_pair_view ){ 0 };
}
