// SPDX-License-Identifier: MIT
#include "lab/view/view_input.h"

#include "lab/base/text.h"
#include "lab/frame/pose_record.h"

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

static bool take_memory( view_input* input, lab_error* why )
{
    input->boxes = frame_source_boxes( &input->source, why );
    input->boxes_before = input->boxes != NULL ? frame_source_boxes( &input->source, why ) : NULL;
    if ( input->boxes_before == NULL )
    {
        return false;
    }
    if ( input->has_poses )
    {
        input->bodies = calloc( input->source.header.object_count, sizeof( body_state ) );
        return input->bodies != NULL ||
            lab_error_write( why, "%s: out of memory for its bodies", input->source.header.name );
    }
    return true;
}

bool view_input_open( view_input* input, const char* what, const char* frames, lab_error* why )
{
    *input = ( view_input ){ 0 };
    scene_spec spec;
    bool good =
        scene_spec_parse( what, &spec, why ) && scene_spec_open( &spec, BODIES, 0, 1, &input->source, why );
    if ( good && spec.path != NULL && text_ends_with( spec.path, POSE_FILE_ENDING ) )
    {
        input->has_poses = true;
        good = scene_reader_open( &input->poses, spec.path, why );
    }
    scene_spec_free( &spec );
    good = good && choose_frames( input, frames, why ) && take_memory( input, why );
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
    return frame_source_read( &input->source, frame, input->boxes, why ) &&
        ( !input->has_poses || scene_reader_read_bodies( &input->poses, frame, input->bodies, why ) );
}

void view_input_close( view_input* input )
{
    frame_source_close( &input->source );
    if ( input->has_poses )
    {
        scene_reader_close( &input->poses );
    }
    free( input->boxes );
    free( input->boxes_before );
    free( input->bodies );
    *input = ( view_input ){ 0 };
}
