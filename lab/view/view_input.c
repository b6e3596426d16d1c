// SPDX-License-Identifier: MIT
#include "lab/view/view_input.h"

#include "lab/base/text.h"
#include "lab/frame/scene_file.h"
#include "lab/measure/timed_run.h"
#include "lab/replay/recording.h"
#include "lab/replay/replay.h"
#include "lab/scene/generator.h"
#include "lab/view/view_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum
{
    BODIES = 8000, // of a scene whose size is not said
};

static bool parse_frame( const char* text, uint32_t* frame )
{
    uint64_t value = 0;
    if ( !text_parse_size( text, &value ) || value > INT32_MAX )
    {
        return false;
    }
    *frame = (uint32_t)value;
    return true;
}

static bool choose_frames( view_input* input, const char* frames, lab_error* why )
{
    input->first = 0;
    input->last = input->source.header.frame_count;
    if ( frames == NULL )
    {
        return true;
    }
    char* begin = text_copy( frames );
    char* colon = strchr( begin, ':' );
    char* end = colon != NULL ? colon + 1 : begin;
    if ( colon != NULL )
    {
        *colon = '\0';
    }
    bool good = ( *begin == '\0' && colon != NULL ) || parse_frame( begin, &input->first );
    good = good && ( ( *end == '\0' && colon != NULL ) || parse_frame( end, &input->last ) );
    free( begin );
    if ( !good )
    {
        return lab_error_write( why, "--frames: '%s' is no range; write A:B, such as 10:60", frames );
    }
    if ( input->first > input->last || input->last > input->source.header.frame_count )
    {
        return lab_error_write( why, "--frames: %s has no frames %s; use 0:%" PRIu32 " or part of it",
            input->source.header.name, frames, input->source.header.frame_count );
    }
    return true;
}

static void take_memory( view_input* input )
{
    input->boxes = frame_source_boxes( &input->source );
    input->boxes_before = frame_source_boxes( &input->source );
    input->bodies =
        input->has_poses ? lab_take( input->source.header.object_count, sizeof( body_state ) ) : NULL;
}

// ---- scenes that run

static bool open_running( view_input* input, const scene_spec* spec, lab_error* why )
{
    const generator* scene = spec->generator;
    bool is_tower = scene == generator_find( "tower" );
    if ( !is_tower && scene->step != recipe_run_step )
    {
        return lab_error_write( why,
            "--bodies: %s does not tell how its bodies are turned; leave it out to see their boxes",
            scene->name );
    }
    bake_def def = scene_spec_bake_def( spec, BODIES, 0, 1 );
    input->shape = is_tower ? VIEW_OCTAHEDRA : VIEW_BOXES;
    input->type = spec->type;
    input->is_running = input->has_poses = true;
    return frame_source_open_scene( &input->source, &def, why );
}

static void read_rotation( view_input* input, uint32_t index, body_state* body )
{
    clv_quat turn;
    clv_vec3 half = { 1, input->type == BODY_CUBES ? 1.0f : 3.0f, 1 };
    void* scene = frame_source_running( &input->source );
    if ( input->shape == VIEW_OCTAHEDRA )
    {
        turn = clv_shape_sim_transform( tower_sim( scene ), index ).rotation;
    }
    else
    {
        clv_rigid_body from = clv_rigid_get( recipe_run_rigid( scene ), index );
        turn = from.rotation;
        half = from.half;
    }
    const float q[4] = { turn.x, turn.y, turn.z, turn.w };
    for ( int part = 0; part < 4; ++part )
    {
        body->rotation[part] = (double)q[part];
    }
    memcpy( body->half_sides, &half, sizeof( body->half_sides ) );
}

static void read_bodies( view_input* input )
{
    for ( uint32_t i = 0; i < input->source.header.object_count; ++i )
    {
        const clv_aabb* box = &input->boxes[i];
        for ( int axis = 0; axis < 3; ++axis )
        {
            input->bodies[i].position[axis] =
                0.5 * ( (double)( &box->lower.x )[axis] + (double)( &box->upper.x )[axis] );
        }
        read_rotation( input, i, &input->bodies[i] );
    }
}

// ---- all of them

bool view_input_open( view_input* input, const view_input_def* def, lab_error* why )
{
    *input = ( view_input ){ 0 };
    scene_spec spec = { 0 };
    bool is_recording = recording_is_one( def->what );
    bool good = is_recording ? recording_frames_open( &input->source, def->what, why )
                             : scene_spec_parse( def->what, &spec, why );
    if ( good && def->wants_bodies && spec.generator != NULL )
    {
        good = open_running( input, &spec, why );
    }
    else
    {
        good = good && ( is_recording || scene_spec_open( &spec, BODIES, 0, 1, &input->source, why ) );
    }
    if ( good && spec.path != NULL && text_ends_with( spec.path, POSE_FILE_ENDING ) )
    {
        input->has_poses = input->has_file_poses = true;
        good = scene_reader_open( &input->poses, spec.path, why );
    }
    else if ( good && spec.path != NULL && def->wants_bodies )
    {
        good = lab_error_write( why,
            "--bodies: %s does not tell how its bodies are turned; give a .posrot file or a scene by name",
            spec.path );
    }
    scene_spec_free( &spec );
    good = good && choose_frames( input, def->frames, why );
    if ( good )
    {
        take_memory( input );
    }
    if ( !good )
    {
        view_input_close( input );
    }
    return good;
}

bool view_input_read( view_input* input, uint32_t frame, lab_error* why )
{
    clv_aabb* oldest = input->boxes_before;
    input->boxes_before = input->boxes;
    input->boxes = oldest;
    if ( !frame_source_read( &input->source, frame, input->boxes, why ) )
    {
        return false;
    }
    if ( input->is_running )
    {
        read_bodies( input );
    }
    return !input->has_file_poses || scene_reader_read_bodies( &input->poses, frame, input->bodies, why );
}

void view_input_close( view_input* input )
{
    frame_source_close( &input->source );
    if ( input->has_file_poses )
    {
        scene_reader_close( &input->poses );
    }
    free( input->boxes );
    free( input->boxes_before );
    free( input->bodies );
    *input = ( view_input ){ 0 };
}

// ---- pairs and tree

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

static bool move_on(
    view_search* search, clv_space* space, clv_id* ids, const clv_aabb* boxes, lab_error* why )
{
    clv_result result = run_feed( space, ids, boxes, search->object_count, !search->has_frames );
    if ( result == CLV_TOO_MANY_PAIRS )
    {
        return lab_error_write( why,
            "view: more than %d pairs in one frame; use fewer objects, or --no-pairs to leave them out",
            VIEW_PAIRS_MOST );
    }
    const char* text = clv_space_error( space ).text;
    return result == CLV_OK ||
        lab_error_write(
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
    if ( search->has_pairs && !move_on( search, search->pair_space, search->pair_ids, boxes, why ) )
    {
        return false;
    }
    if ( search->has_pairs )
    {
        compare_lists( search );
    }
    if ( search->tree_space != NULL && !move_on( search, search->tree_space, search->tree_ids, boxes, why ) )
    {
        return false;
    }
    search->has_frames = true;
    return true;
}

clv_pair_view view_search_pairs( const view_search* search )
{
    return search->has_pairs ? clv_space_pairs( search->pair_space ) : ( clv_pair_view ){ 0 };
}
