// SPDX-License-Identifier: MIT
#include "lab/base/args.h"
#include "lab/base/interrupt.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/render/picture.h"
#include "lab/render/render_scene.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREES_YAW 36
#define DEGREES_PITCH 24

typedef struct render_flags
{
    view_input_def input;
    const char* output;
    const char* size;
    const char* colour;
    const char* tree_method;
    const char* region;
    text_list overlays, settings;
    uint64_t frame;
    double yaw, pitch, zoom;
    bool is_dark, quiet;
} render_flags;

/// Everything while it lasts.
typedef struct render_work
{
    const render_flags* flags;
    render_look look;
    uint32_t width, height;
    view_input input;
    view_search search;
    view_cells cells;
    clv_aabb seen; ///< by the first picture; a film does not jump
    bool has_seen;
} render_work;

static bool parse_size( const char* text, render_work* work, lab_error* why )
{
    unsigned width = 0, height = 0;
    char rest = 0;
    if ( sscanf( text, "%5ux%5u%c", &width, &height, &rest ) != 2 || width < 16 || height < 16 ||
        width > 8192 || height > 8192 )
    {
        return lab_error_write(
            why, "render: --size: '%s' is no size; write WxH, 16 to 8192 each, such as 1280x800", text );
    }
    work->width = width;
    work->height = height;
    return true;
}

static const choice colours[] = { { "touching", RENDER_TOUCHING }, { "static", RENDER_STATIC },
    { "speed", RENDER_SPEED }, { "size", RENDER_SIZE }, { "node", RENDER_NODE }, { NULL, 0 } };

enum
{
    OVERLAY_BOXES,
    OVERLAY_PAIRS,
    OVERLAY_TREE,
    OVERLAY_CELLS,
    OVERLAY_DOPS,
    OVERLAY_SPHERES,
};

static const choice overlays[] = { { "boxes", OVERLAY_BOXES }, { "pairs", OVERLAY_PAIRS },
    { "tree", OVERLAY_TREE }, { "cells", OVERLAY_CELLS }, { "18-dop", OVERLAY_DOPS },
    { "sphere", OVERLAY_SPHERES }, { NULL, 0 } };

static void set_overlays( const text_list* list, render_look* look )
{
    bool* const flags[] = { &look->has_boxes, &look->has_pairs, &look->has_tree, &look->has_cells,
        &look->has_dops, &look->has_spheres };
    for ( uint32_t i = 0; i < list->count; ++i )
    {
        *flags[choice_value( overlays, list->items[i] )] = true;
    }
}

// What fills the picture, by the user; finite and not empty.
static bool parse_region( const char* text, clv_aabb* box, lab_error* why )
{
    float v[6];
    char rest = 0;
    bool good = sscanf( text, "%f,%f,%f,%f,%f,%f%c", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &rest ) == 6;
    for ( int axis = 0; good && axis < 3; ++axis )
    {
        good = isfinite( v[axis] ) && isfinite( v[axis + 3] ) && v[axis] < v[axis + 3];
    }
    memcpy( box, v, good ? sizeof( v ) : 0 );
    return good ||
        lab_error_write( why,
            "render: --region: '%s' is no box; write its lower and upper corner, such as -5,0,-5,5,10,5",
            text );
}

static bool is_film( const char* path )
{
    return text_ends_with( path, ".gif" ) || text_ends_with( path, ".mp4" );
}

static bool check_words( render_work* work, lab_error* why )
{
    const render_flags* flags = work->flags;
    if ( flags->output == NULL )
    {
        return lab_error_write(
            why, "render: needs -o FILE, ending in .png or .svg, or in .gif or .mp4 with --frames" );
    }
    if ( !text_ends_with( flags->output, ".png" ) && !text_ends_with( flags->output, ".svg" ) &&
        !is_film( flags->output ) )
    {
        return lab_error_write(
            why, "render: -o %s: pictures end in .png or .svg, films in .gif or .mp4", flags->output );
    }
    if ( ( flags->input.frames != NULL ) != is_film( flags->output ) )
    {
        return lab_error_write( why,
            is_film( flags->output )
                ? "render: -o %s is a film: say which with --frames A:B"
                : "render: --frames A:B makes a film, and %s is one picture: use --frame F",
            flags->output );
    }
    work->look.is_dark = flags->is_dark;
    work->has_seen = flags->region != NULL;
    work->look.colour = (render_colour)choice_value( colours, flags->colour );
    set_overlays( &flags->overlays, &work->look );
    return parse_size( flags->size, work, why ) &&
        ( flags->region == NULL || parse_region( flags->region, &work->seen, why ) );
}

static bool open_work( render_work* work, lab_error* why )
{
    const render_flags* flags = work->flags;
    if ( !check_words( work, why ) || !view_input_open( &work->input, &flags->input, why ) )
    {
        return false;
    }
    if ( ( work->look.has_dops || work->look.has_spheres ) && !work->input.has_poses )
    {
        return lab_error_write( why,
            "render: --overlay 18-dop and sphere need bodies: a .posrot file, or --bodies with a scene by name" );
    }
    uint32_t last = work->input.source.header.frame_count;
    if ( flags->frame != ARGS_UNSET && flags->frame > last )
    {
        return lab_error_write( why, "render: %s has no frame %" PRIu64 "; use 0 to %" PRIu32,
            flags->input.what, flags->frame, last );
    }
    bool needs_tree = work->look.has_tree || work->look.colour == RENDER_NODE;
    view_search_def search = { needs_tree ? flags->tree_method : NULL, &flags->settings, true };
    view_cells_open( &work->cells );
    return view_search_open( &work->search, work->input.source.header.object_count, &search, why );
}

static void close_work( render_work* work )
{
    view_search_close( &work->search );
    view_cells_close( &work->cells );
    view_input_close( &work->input );
}

// A frame as a picture; the one before it is read too, for speeds.
static bool draw( render_work* work, uint32_t frame, picture* out, lab_error* why )
{
    const render_flags* flags = work->flags;
    if ( ( frame > 0 && !work->search.has_frames && !view_input_read( &work->input, frame - 1, why ) ) ||
        !view_input_read( &work->input, frame, why ) ||
        ( frame == 0 && !view_input_read( &work->input, frame, why ) ) ||
        !view_search_update( &work->search, work->input.boxes, why ) )
    {
        return false;
    }
    work->seen = work->has_seen ? work->seen : render_scene_box( &work->input );
    work->has_seen = true;
    const double degree = 0.017453292519943295;
    *out = ( picture ){ .camera = picture_camera_make( work->seen, flags->yaw * degree, flags->pitch * degree,
                            flags->zoom, work->width, work->height ) };
    render_source source = { &work->input, &work->search, &work->cells, work->seen };
    render_scene( out, &source, &work->look );
    return true;
}

static bool write_one( render_work* work, lab_error* why )
{
    const render_flags* flags = work->flags;
    picture seen = { 0 };
    uint32_t frame =
        flags->frame == ARGS_UNSET ? work->input.source.header.frame_count : (uint32_t)flags->frame;
    // A tree that follows its objects is another than one that is built for them.
    for ( uint32_t before = 0; work->search.tree_space != NULL && before + 1 < frame; ++before )
    {
        if ( !view_input_read( &work->input, before, why ) ||
            !view_search_update( &work->search, work->input.boxes, why ) )
        {
            return false;
        }
    }
    bool good = draw( work, frame, &seen, why );
    if ( good && text_ends_with( flags->output, ".svg" ) )
    {
        good = svg_picture_write( flags->output, &seen, why );
    }
    else if ( good )
    {
        uint8_t* pixels = raster_draw( &seen );
        good = png_file_write( flags->output, pixels, work->width, work->height, why );
        free( pixels );
    }
    if ( good )
    {
        clv_pair_view pairs = view_search_pairs( &work->search );
        printf( "%s: %s, frame %" PRIu32 ", %" PRIu32 " objects, %" PRIu64 " pairs, %ux%u\n", flags->output,
            work->input.source.header.name, frame, work->input.source.header.object_count, pairs.count,
            (unsigned)work->width, (unsigned)work->height );
    }
    picture_free( &seen );
    return good;
}

static bool write_film( render_work* work, lab_error* why )
{
    film out = { 0 };
    progress_bar bar;
    uint32_t count = work->input.last - work->input.first + 1;
    bool good = film_open( &out, work->flags->output, work->width, work->height, why );
    progress_begin( &bar, "render", "frames", count );
    for ( uint32_t i = 0; good && i < count; ++i )
    {
        picture seen = { 0 };
        good = interrupt_raised() ? lab_error_interrupted( why )
                                  : draw( work, work->input.first + i, &seen, why );
        uint8_t* pixels = good ? raster_draw( &seen ) : NULL;
        good = good && film_put( &out, pixels, why );
        free( pixels );
        picture_free( &seen );
        progress_show( &bar, i + 1 );
    }
    progress_end( &bar );
    lab_error ignored;
    good = film_close( &out, good, good ? why : &ignored );
    if ( good )
    {
        printf( "%s: %s, %" PRIu32 " frames\n", work->flags->output, work->input.source.header.name, count );
    }
    return good;
}

static bool render( void* user, text_list* operands, lab_error* why )
{
    render_flags* flags = user;
    flags->input.what = operands->items[0];
    progress_set_quiet( flags->quiet );
    if ( flags->zoom < 0.01 )
    {
        return lab_error_write( why, "render: --zoom: use 0.01 to 100" );
    }
    render_work work = { .flags = flags };
    bool good = open_work( &work, why ) &&
        ( is_film( flags->output ) ? write_film( &work, why ) : write_one( &work, why ) );
    close_work( &work );
    return good;
}

lab_status command_render( int argc, char** argv )
{
    render_flags flags = { .size = "1280x800",
        .colour = "touching",
        .tree_method = "kd",
        .frame = ARGS_UNSET,
        .yaw = DEGREES_YAW,
        .pitch = DEGREES_PITCH,
        .zoom = 1 };
    const args_flag list[] = {
        ARGS_ROW_OUTPUT(
            &flags.output, "FILE", "the picture to write: .png or .svg; .gif or .mp4 with --frames" ),
        ARGS_ROW_RANGE( "--frame", ARGS_COUNT, &flags.frame, "F",
            "frame to draw (default the last); 0 is the initial one", 0, INT32_MAX ),
        ARGS_ROW_TEXT( "--frames", &flags.input.frames, "A:B", "a film of these, where ffmpeg is installed" ),
        ARGS_ROW_TEXT( "--size", &flags.size, "WxH", "pixels" ),
        ARGS_ROW_WORDS(
            "--colour", ARGS_TEXT, &flags.colour, "BY", colours, "touching, static, speed, size or node" ),
        ARGS_ROW_WORDS( "--overlay", ARGS_TEXTS, &flags.overlays, "O,…", overlays,
            "boxes, pairs, tree, cells, 18-dop, sphere" ),
        ARGS_ROW_SWITCH( "--bodies", &flags.input.wants_bodies,
            "run the scene to know how its bodies are turned; .posrot files tell" ),
        ARGS_ROW_TEXT( "--tree", &flags.tree_method, "METHOD",
            "whose tree is shown: kd, kd-paper, one of their kin, or ray-kd" ),
        ARGS_ROW_SETTINGS( &flags.settings, "its parameters, such as kd.leaf=64" ),
        ARGS_ROW_TEXT( "--region", &flags.region, "BOX",
            "what fills the picture: lower x,y,z and upper x,y,z (default the world)" ),
        ARGS_ROW_RANGE( "--yaw", ARGS_NUMBER, &flags.yaw, "DEGREES", "round the scene", 0, 360 ),
        ARGS_ROW_RANGE( "--pitch", ARGS_NUMBER, &flags.pitch, "DEGREES", "from above", 0, 89 ),
        ARGS_ROW_RANGE( "--zoom", ARGS_NUMBER, &flags.zoom, "Z", "2 shows half as much", 0, 100 ),
        ARGS_ROW_SWITCH( "--dark", &flags.is_dark, "on a dark ground" ),
        ARGS_ROW_QUIET( &flags.quiet ),
    };
    const args_table table = {
        .command = "render",
        .usage = "FILE.aabbs|FILE.posrot|SCENE[:N][:type][@from+frames] [--frame F] -o FILE.png|FILE.svg",
        .about =
            "Draw one frame of a scene, without a screen: its boxes or bodies, and their pairs, tree or cells over them.",
        .notes = "Colours are those of `cleave view`. An SVG is for scenes of some thousand boxes.",
        .example = "  cleave render freefall:2k@60+60 --frame 60 -o heap.png\n"
                   "  cleave render tower:60@0+200 --bodies --overlay 18-dop -o tower.svg",
        ARGS_FLAGS( list ),
        ARGS_ONE_OPERAND( "a WHAT" ),
    };
    return args_run( &table, argc, argv, render, &flags );
}
