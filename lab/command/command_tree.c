// SPDX-License-Identifier: MIT
// The tree that a method keeps, as of one frame, with the boxes it holds: for
// scripts/tree_picture.py and for looking at.
#include "cleave/space.h"
#include "lab/base/args.h"
#include "lab/base/output_file.h"
#include "lab/command/commands.h"
#include "lab/frame/scene_list.h"
#include "lab/measure/timed_run.h"
#include "space/instrument.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct tree_flags
{
    const char* method;
    text_list settings;
    uint64_t frame;
    const char* output;
} tree_flags;

// Everything while it lasts.
typedef struct tree_state
{
    frame_source source;
    run_spec_list specs;
    uint32_t frame;
    clv_aabb* boxes;
    clv_id* ids;
    clv_space* space;
} tree_state;

static void release( tree_state* state )
{
    clv_space_destroy( state->space );
    free( state->boxes );
    free( state->ids );
    frame_source_close( &state->source );
    run_spec_list_free( &state->specs );
}

static bool open_scene( tree_state* state, const tree_flags* flags, const char* text, lab_error* why )
{
    if ( !scene_spec_open_text( text, &state->source, why ) )
    {
        return false;
    }
    uint32_t last = state->source.header.frame_count;
    state->frame = flags->frame == ARGS_UNSET ? last : (uint32_t)flags->frame;
    if ( state->frame > last )
    {
        return lab_error_write(
            why, "tree: %s has no frame %" PRIu32 "; use 0 to %" PRIu32, text, state->frame, last );
    }
    state->boxes = frame_source_boxes( &state->source );
    state->ids = lab_take( state->source.header.object_count, sizeof( clv_id ) );
    return true;
}

// From frame 0 on: a tree that follows its objects is another than one that is built for them.
static bool follow_frames( tree_state* state, lab_error* why )
{
    char reason[256] = "";
    uint32_t object_count = state->source.header.object_count;
    clv_space_def def = clv_default_space_def();
    run_spec_apply( &state->specs.items[0], &def );
    def.logger = run_reason_logger( reason );
    clv_result result = clv_space_create( &def, &state->space );
    for ( uint32_t frame = 0; result == CLV_OK && frame <= state->frame; ++frame )
    {
        if ( !frame_source_read( &state->source, frame, state->boxes, why ) )
        {
            return false;
        }
        result = run_feed( state->space, state->ids, state->boxes, object_count, frame == 0 );
    }
    if ( result != CLV_OK )
    {
        return lab_error_write( why, "tree: %s failed: %s", state->specs.items[0].row->name,
            reason[0] != '\0' ? reason : clv_result_text( result ) );
    }
    return true;
}

// JSON has no infinity; the largest number does for a picture.
static double shown( float value )
{
    return isinf( value ) ? (double)( value > 0 ? 3.4e38f : -3.4e38f ) : (double)value;
}

static bool write_boxes( const tree_state* state, output_file* file, lab_error* why )
{
    bool good = true;
    for ( uint32_t index = 0; good && index < state->source.header.object_count; ++index )
    {
        const clv_aabb* box = &state->boxes[index];
        good = output_file_format( file, why, "%s    [%.9g, %.9g, %.9g, %.9g, %.9g, %.9g]",
            index > 0 ? ",\n" : "", shown( box->lower.x ), shown( box->lower.y ), shown( box->lower.z ),
            shown( box->upper.x ), shown( box->upper.y ), shown( box->upper.z ) );
    }
    return good;
}

static bool write_tree( const tree_state* state, output_file* file, lab_error* why )
{
    size_t length = clv_space_dump( state->space, NULL, 0 );
    char* tree = lab_take( length + 1, 1 );
    clv_space_dump( state->space, tree, length + 1 );
    bool good = output_file_format( file, why,
                    "{ \"method\": \"%s\", \"frame\": %" PRIu32 ",\n  \"tree\": %s,  \"boxes\": [\n",
                    state->specs.items[0].row->name, state->frame, tree ) &&
        write_boxes( state, file, why ) && output_file_format( file, why, "\n  ] }\n" );
    free( tree );
    return good;
}

static bool run( void* data, text_list* operands, lab_error* why )
{
    const tree_flags* flags = data;
    if ( flags->output == NULL )
    {
        return lab_error_write( why, "tree: -o FILE is missing; say where to write the tree" );
    }
    tree_state state = { .frame = 0 };
    output_file file = { 0 };
    bool good = run_spec_tree( &state.specs, "tree", flags->method, &flags->settings, why ) &&
        open_scene( &state, flags, operands->items[0], why ) &&
        output_file_open( &file, flags->output, why ) && follow_frames( &state, why ) &&
        write_tree( &state, &file, why ) && output_file_commit( &file, why );
    output_file_abandon( &file );
    release( &state );
    return good;
}

lab_status command_tree( int argc, char** argv )
{
    tree_flags flags = { .method = "kd", .frame = ARGS_UNSET };
    const args_flag list[] = {
        ARGS_ROW_METHOD( &flags.method, "kd, kd-paper, one of their kin, or ray-kd" ),
        ARGS_ROW_SETTINGS( &flags.settings, "parameters of the method, such as kd.leaf=256" ),
        ARGS_ROW_RANGE( "--frame", ARGS_COUNT, &flags.frame, "F",
            "frame to stop at (default the last); 0 is the initial one", 0, INT32_MAX ),
        ARGS_ROW_OUTPUT( &flags.output, "FILE", "where to write it" ),
    };
    const args_table table = {
        .command = "tree",
        .usage = "WHAT [-m METHOD] [--frame F] [--set P=V,…] -o FILE",
        .about =
            "Follow a scene to a frame and write the method's tree as JSON: its nodes in preorder with depth,\n"
            "region, plane and objects, and the boxes of that frame. scripts/tree_picture.py draws it.",
        .example = "  cleave tree brownian-free:2k@0+5 --set kd.leaf=64 -o tree.json",
        ARGS_FLAGS( list ),
        ARGS_ONE_OPERAND( "a WHAT" ),
    };
    return args_run( &table, argc, argv, run, &flags );
}
