// SPDX-License-Identifier: MIT
#include "lab/view/view_input.h"

#include "lab/base/interrupt.h"
#include "lab/base/text.h"
#include "lab/frame/scene_file.h"
#include "lab/replay/recording.h"
#include "lab/replay/recording_frames.h"
#include "lab/scene/generator.h"

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

static bool start_scene( view_input* input, lab_error* why )
{
    const generator* scene = input->def.generator;
    if ( input->running != NULL )
    {
        scene->destroy( input->running );
    }
    input->running_frame = 0;
    input->running = scene->create( scene, &input->def.scene );
    return input->running != NULL ||
        lab_error_write( why, "%s: out of memory; use fewer bodies", scene->name );
}

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
    input->def = scene_spec_bake_def( spec, BODIES, 0, 1 );
    input->shape = is_tower ? VIEW_OCTAHEDRA : VIEW_BOXES;
    input->has_poses = true;
    if ( !start_scene( input, why ) )
    {
        return false;
    }
    input->source.header = bake_header( &input->def, scene->world( input->running ) );
    return true;
}

static void read_rotation( view_input* input, uint32_t index, body_state* body )
{
    clv_quat turn;
    clv_vec3 half = { 1, input->def.scene.type == BODY_CUBES ? 1.0f : 3.0f, 1 };
    if ( input->shape == VIEW_OCTAHEDRA )
    {
        turn = clv_shape_sim_transform( tower_sim( input->running ), index ).rotation;
    }
    else
    {
        clv_rigid_body from = clv_rigid_get( recipe_run_rigid( input->running ), index );
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

static bool read_running( view_input* input, uint32_t frame, lab_error* why )
{
    const generator* scene = input->def.generator;
    uint64_t wanted = (uint64_t)input->def.from + frame;
    if ( input->running_frame > wanted && !start_scene( input, why ) )
    {
        return false;
    }
    for ( ; input->running_frame < wanted; ++input->running_frame )
    {
        if ( interrupt_raised() )
        {
            return lab_error_interrupted( why );
        }
        if ( !scene->step( input->running, why ) )
        {
            return false;
        }
    }
    scene->boxes( input->running, input->boxes );
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
    return true;
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
    if ( input->running != NULL )
    {
        return read_running( input, frame, why );
    }
    return frame_source_read( &input->source, frame, input->boxes, why ) &&
        ( !input->has_poses || scene_reader_read_bodies( &input->poses, frame, input->bodies, why ) );
}

void view_input_close( view_input* input )
{
    if ( input->running != NULL )
    {
        input->def.generator->destroy( input->running );
    }
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
