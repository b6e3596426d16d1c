// SPDX-License-Identifier: MIT
#include "lab/base/args.h"

#include "cleave/space.h"
#include "lab/base/loopback.h"
#include "lab/base/output_file.h"
#include "lab/base/platform.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/frame/scene_list.h"
#include "lab/measure/timed_run.h"
#include "lab/view/view_page.h"
#include "space/instrument.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_PORT "none" // --serve was not given
#define ANY_PORT "any" // it was, without a number

typedef struct view_flags
{
    view_page_def page;
    const char* output;
    const char* serve;
    bool no_pairs, no_times, quiet;
} view_flags;

// `--serve` may stand alone: then the word "any" is put behind it. `words` has room for as many again.
static int complete_serve( int argc, char** argv, char** words )
{
    static char any[] = ANY_PORT;
    int count = 0;
    for ( int i = 0; i < argc; ++i )
    {
        words[count++] = argv[i];
        bool has_number = i + 1 < argc && argv[i + 1][0] >= '0' && argv[i + 1][0] <= '9' &&
            strspn( argv[i + 1], "0123456789" ) == strlen( argv[i + 1] );
        if ( strcmp( argv[i], "--serve" ) == 0 && !has_number )
        {
            words[count++] = any;
        }
    }
    return count;
}

static bool check_words( const view_flags* flags, uint16_t* port, lab_error* why )
{
    bool serves = strcmp( flags->serve, NO_PORT ) != 0;
    if ( flags->output == NULL && !serves )
    {
        return lab_error_write( why, "view: needs -o FILE.html, the page to write, or --serve" );
    }
    if ( flags->output != NULL && serves && platform_look( flags->output ).kind == PLATFORM_OTHER )
    {
        return lab_error_write( why,
            "view: -o %s is a pipe or a device, which --serve cannot read again; name a file, or leave -o out",
            flags->output );
    }
    *port = 0;
    if ( serves && strcmp( flags->serve, ANY_PORT ) != 0 )
    {
        uint64_t number = 0;
        if ( !text_parse_size( flags->serve, &number ) || number < 1 || number > 65535 )
        {
            return lab_error_write( why,
                "view: --serve: '%s' is no port; use 1 to 65535, or no number for any that is free",
                flags->serve );
        }
        *port = (uint16_t)number;
    }
    return true;
}

// Without -o the page lies in a file without a name while it is served.
static bool open_page( const view_flags* flags, output_file* file, lab_error* why )
{
    return flags->output != NULL ? output_file_open( file, flags->output, why )
                                 : output_file_open_private( file, why );
}

static bool write_page( const view_flags* flags, output_file* file, lab_error* why )
{
    view_page_summary summary;
    if ( !open_page( flags, file, why ) || !view_page_write( file, &flags->page, &summary, why ) )
    {
        return false;
    }
    printf( "%s%s%s %s, %s objects, %" PRIu32 " frames, %s\n", flags->output != NULL ? flags->output : "",
        flags->output != NULL ? ": " : "", summary.name, summary.type, text_size( summary.object_count ).text,
        summary.frame_count, text_bytes( summary.page_bytes ).text );
    return true;
}

// A page that was committed under its name is read from there.
static bool serve( loopback* server, const view_flags* flags, FILE* page, lab_error* why )
{
    FILE* kept = flags->output != NULL ? platform_open( flags->output ) : NULL;
    if ( flags->output != NULL && kept == NULL )
    {
        return lab_error_write( why, "%s: cannot be read again to be served", flags->output );
    }
    printf( "http://127.0.0.1:%u/ for browsers on this machine; Ctrl-C ends it\n", (unsigned)server->port );
    fflush( stdout );
    bool good = loopback_serve( server, kept != NULL ? kept : page, 0, why );
    if ( kept != NULL )
    {
        fclose( kept );
    }
    return good;
}

static bool view( void* user, text_list* operands, lab_error* why )
{
    view_flags* flags = user;
    uint16_t port = 0;
    progress_set_quiet( flags->quiet );
    if ( !check_words( flags, &port, why ) )
    {
        return false;
    }
    flags->page.input.what = operands->items[0];
    flags->page.has_pairs = !flags->no_pairs;
    flags->page.has_times = !flags->no_times;
    bool serves = strcmp( flags->serve, NO_PORT ) != 0;
    output_file page = { 0 };
    loopback server = { 0 };
    // A port that is taken is said before the work.
    bool good = ( !serves || loopback_open( &server, port, why ) ) && write_page( flags, &page, why ) &&
        ( !serves || serve( &server, flags, page.stream, why ) );
    output_file_abandon( &page );
    loopback_close( &server );
    return good;
}

lab_status command_view( int argc, char** argv )
{
    view_flags flags = { .page = { .tree_method = "kd" }, .serve = NO_PORT };
    const args_flag list[] = {
        ARGS_ROW_OUTPUT( &flags.output, "FILE", "the page to write" ),
        ARGS_ROW_TEXT(
            "--frames", &flags.page.input.frames, "A:B", "these alone (default all); 0 is the initial one" ),
        ARGS_ROW_TEXT( "--serve", &flags.serve, "[PORT]",
            "serve the page on 127.0.0.1 until Ctrl-C; without -o it is not kept" ),
        ARGS_ROW_SWITCH( "--bodies", &flags.page.input.wants_bodies,
            "run the scene to know how its bodies are turned; .posrot files tell" ),
        ARGS_ROW_TEXT( "--tree", &flags.page.tree_method, "METHOD",
            "whose tree is shown: kd, kd-paper, one of their kin, or ray-kd" ),
        ARGS_ROW_SETTINGS( &flags.page.tree_settings, "its parameters, such as kd.leaf=64" ),
        ARGS_ROW_SWITCH( "--no-pairs", &flags.no_pairs,
            "neither pairs nor a tree: for scenes in which nearly everything touches" ),
        ARGS_ROW_SWITCH(
            "--no-times", &flags.no_times, "no times of the search: the same scene makes the same bytes" ),
        ARGS_ROW_QUIET( &flags.quiet ),
    };
    const args_table table = {
        .command = "view",
        .usage =
            "FILE.aabbs|FILE.posrot|SCENE[:N][:type][@from+frames] [--frames A:B] -o FILE.html|--serve [PORT]",
        .about =
            "Make one page that plays a scene: its boxes, their pairs, the tree over them. It opens from disk and asks\n"
            "the network for nothing.",
        .notes =
            "Boxes are rounded to a sixty-fourth of their typical side for the page; the pairs are those of the\n"
            "boxes as they are. Bodies of a .posrot file are shown turned as they are. `?` in the page lists its keys.",
        .example = "  cleave view freefall:2k@100+60 -o view.html\n"
                   "  cleave view gravity:2k@100+60 --frames 0:30 --set kd.leaf=64 --serve",
        ARGS_FLAGS( list ),
        ARGS_ONE_OPERAND( "a WHAT" ),
    };
    char** words = lab_take( 2 * (uint64_t)argc + 1, sizeof( char* ) );
    lab_status status = args_run( &table, complete_serve( argc, argv, words ), words, view, &flags );
    free( words );
    return status;
}

// ---- The tree that a method keeps, as of one frame, with the boxes it holds: for
// scripts/tree_picture.py and for looking at.

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

static bool write_tree_file( void* data, text_list* operands, lab_error* why )
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
    return args_run( &table, argc, argv, write_tree_file, &flags );
}
