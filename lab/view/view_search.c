// SPDX-License-Identifier: MIT
#include "lab/view/view_search.h"

#include "lab/measure/timed_run.h"
#include "lab/view/view_page.h"

#include <stdlib.h>
#include <string.h>

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
    search->pair_ids = lab_take( object_count, sizeof( clv_id ) );
    search->tree_ids = lab_take( object_count, sizeof( clv_id ) );
    bool good = ( def->tree_method == NULL || !def->has_pairs ||
        run_spec_tree( &search->tree_specs, "view", def->tree_method, def->tree_settings, why ) );
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
    *capacity = count + count / 4 + 1;
    return lab_grow( items, *capacity, item_size );
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

static void compare_lists( view_search* search )
{
    clv_pair_view now = clv_space_pairs( search->pair_space );
    search->begun = reserve( search->begun, sizeof( clv_pair ), &search->begun_capacity, now.count );
    search->ended = reserve( search->ended, sizeof( uint32_t ), &search->ended_capacity, search->last_count );
    search->last = reserve( search->last, sizeof( clv_pair ), &search->last_capacity, now.count );
    search->begun_count =
        view_coder_without( now.pairs, now.count, search->last, search->last_count, search->begun, NULL );
    search->ended_count =
        view_coder_without( search->last, search->last_count, now.pairs, now.count, NULL, search->ended );
    if ( now.count > 0 )
    {
        memcpy( search->last, now.pairs, now.count * sizeof( clv_pair ) );
    }
    search->last_count = now.count;
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
        compare_lists( search );
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
