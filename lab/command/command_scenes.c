// SPDX-License-Identifier: MIT
// What scenes there are and what is in them; scenes baked into files, and files cut.
#include "cleave/space.h"
#include "cleave/types.h"
#include "lab/base/args.h"
#include "lab/base/json.h"
#include "lab/base/output_file.h"
#include "lab/base/platform.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/frame/bake.h"
#include "lab/frame/frame_source.h"
#include "lab/frame/scene_file.h"
#include "lab/frame/scene_list.h"
#include "lab/measure/timed_run.h"
#include "lab/scene/generator.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- scenes

typedef struct scenes_flags
{
    text_list families; ///< none: all
    bool json;
} scenes_flags;

static bool is_wanted( const scenes_flags* flags, const generator* scene )
{
    bool wanted = flags->families.count == 0;
    for ( uint32_t index = 0; index < flags->families.count; ++index )
    {
        wanted =
            wanted || choice_value( generator_families, flags->families.items[index] ) == (int)scene->family;
    }
    return wanted;
}

static bool print_table( const scenes_flags* flags )
{
    text_table table;
    text_table_begin( &table, "scene|family|>objects|contacts|what it shows" );
    text_table_leave_out( &table, "family" );
    for ( uint32_t index = 0; index < generator_count(); ++index )
    {
        const generator* scene = generator_at( index );
        if ( is_wanted( flags, scene ) )
        {
            text_table_add_cells( &table, "%s\t%s\tto %s\t%s\t%s", scene->name,
                generator_families[scene->family].word, text_size( scene->bodies_most ).text,
                scene->has_parts ? "-" : "yes", scene->about );
        }
    }
    text_table_print( &table, stdout );
    return true;
}

static json_value* scene_value( const generator* scene )
{
    json_value* value = json_object();
    json_value* types = json_array();
    json_put_text( value, "name", scene->name );
    json_put_text( value, "family", generator_families[scene->family].word );
    json_put_text( value, "about", scene->about );
    json_put_count( value, "objects_most", scene->bodies_most );
    json_put_bool( value, "contacts", !scene->has_parts );
    for ( const choice* type = body_types; type->word != NULL; ++type )
    {
        json_put_text( types, NULL, type->word );
    }
    json_put( value, "types", types );
    return value;
}

static bool scenes_print_json( const scenes_flags* flags, lab_error* why )
{
    json_value* root = json_object();
    json_value* list = json_array();
    for ( uint32_t index = 0; index < generator_count(); ++index )
    {
        if ( is_wanted( flags, generator_at( index ) ) )
        {
            json_put( list, NULL, scene_value( generator_at( index ) ) );
        }
    }
    json_put( root, "scenes", list );
    return json_print( root, why );
}

static bool scenes_show( void* data, text_list* operands, lab_error* why )
{
    (void)operands;
    const scenes_flags* flags = data;
    return flags->json ? scenes_print_json( flags, why ) : print_table( flags );
}

lab_status command_scenes( int argc, char** argv )
{
    scenes_flags flags = { 0 };
    const args_flag list[] = {
        ARGS_ROW_WORDS( "--family", ARGS_TEXTS, &flags.families, "FAMILY,…", generator_families,
            "these alone: free, packed, broadmark, ray-kd, k-dop, hard, worst, odd (default all)" ),
        ARGS_ROW_SWITCH( "--json", &flags.json, "print JSON" ),
    };
    const args_table table = {
        .command = "scenes",
        .usage = "[--family FAMILY,…] [--json]",
        .about =
            "List every scene: what it shows, how many objects it can have, and whether its bodies touch and push\n"
            "each other (contacts) or pass through each other.",
        .notes =
            "Families: free (bodies fly), packed (side by side, at rest), broadmark (Broadmark's three), ray-kd and k-dop (of the\n"
            "papers of these names), hard (scenes that hurt, with contacts), worst (without), odd (worlds that are no cube).\n"
            "`cleave gen` bakes a scene into a file; bench, verify, view and others take it as a WHAT, such as\n"
            "gravity:32k:assorted@150+60: size, type (cubes or assorted), first frame and number of frames.\n"
            "docs/lab.md tells what each is made of, and how to write one's own.",
        .example = "  cleave scenes\n  cleave scenes --family broadmark,odd --json",
        ARGS_FLAGS( list ),
    };
    return args_run( &table, argc, argv, scenes_show, &flags );
}

// ---- gen

typedef struct gen_flags
{
    uint64_t body_count, frame_count, from, seed, thread_count;
    const char* type;
    const char* output;
    const char* report;
    bool split, quiet;
} gen_flags;

/// Unless the flags or a scene file say otherwise.
#define BODIES 8000
#define SEED 1

static const generator* find_scene( const char* name, recipe* file_recipe, lab_error* why )
{
    if ( recipe_is_path( name ) )
    {
        return recipe_read( name, file_recipe, why ) ? &generator_recipe : NULL;
    }
    const generator* scene = generator_find( name );
    if ( scene == NULL && file_kind_check( name, ".scene", why ) )
    {
        lab_error_write( why, "gen: unknown scene '%.100s'; %s, or a file FILE.scene", name,
            generator_advice( name ).text );
    }
    return scene;
}

/// A flag, else what the scene file says, else the default.
static uint64_t choose( uint64_t flag, uint64_t file, uint64_t usual )
{
    return flag != ARGS_UNSET ? flag : file != 0 ? file : usual;
}

static bool make_def(
    const gen_flags* flags, const char* name, recipe* file_recipe, bake_def* def, lab_error* why )
{
    *file_recipe = ( recipe ){ .name = "" };
    const generator* scene = find_scene( name, file_recipe, why );
    if ( scene == NULL )
    {
        return false;
    }
    uint64_t body_count = choose( flags->body_count, file_recipe->body_count, BODIES );
    *def = ( bake_def ){ .generator = scene,
        .from = (uint32_t)flags->from,
        .frame_count = (uint32_t)flags->frame_count,
        .report = flags->report };
    def->scene = ( generator_def ){ .body_count = (uint32_t)body_count,
        .seed = choose( flags->seed, file_recipe->seed, SEED ),
        .split = flags->split,
        .thread_count = (uint32_t)choose( flags->thread_count, 0, platform_core_count() ),
        .recipe = scene == &generator_recipe ? file_recipe : NULL };
    def->scene.type = (body_type)choice_value( body_types, flags->type );
    if ( body_count > scene->bodies_most )
    {
        return lab_error_write( why, "gen: -n %" PRIu64 " is more than %s can have; use %" PRIu32 " at most",
            body_count, name, scene->bodies_most );
    }
    if ( flags->split && body_count > INT32_MAX / BODY_SPLIT )
    {
        return lab_error_write( why,
            "gen: --split makes 8 objects of each of %" PRIu64
            " bodies, and a file has %d at most; use -n %d",
            body_count, INT32_MAX, INT32_MAX / BODY_SPLIT );
    }
    if ( flags->output == NULL )
    {
        return lab_error_write( why, "gen: needs -o FILE, the .aabbs file to write" );
    }
    return true;
}

static bool bake( void* data, text_list* operands, lab_error* why )
{
    const gen_flags* flags = data;
    const char* name = operands->items[0];
    progress_set_quiet( flags->quiet );
    bake_def def;
    recipe file_recipe;
    if ( !make_def( flags, name, &file_recipe, &def, why ) || !bake_write( &def, flags->output, why ) )
    {
        return false;
    }
    uint64_t size = 0;
    uint32_t object_count = generator_object_count( &def.scene );
    scene_file_bytes( object_count, def.frame_count, &size );
    printf( "%s: %s %s, %s objects, 1 + %" PRIu32 " frames from frame %" PRIu32 ", %s\n", flags->output, name,
        flags->type, text_size( object_count ).text, def.frame_count, def.from, text_bytes( size ).text );
    return true;
}

static const char* scene_notes( void )
{
    static char notes[8192]; // of all scenes, and of some that are to come
    size_t length = (size_t)snprintf( notes, sizeof( notes ), "Scenes:" );
    for ( uint32_t index = 0; index < generator_count() && length < sizeof( notes ); ++index )
    {
        const generator* scene = generator_at( index );
        int written = snprintf( notes + length, sizeof( notes ) - length, "\n  %-17s%s (to %s)", scene->name,
            scene->about, text_size( scene->bodies_most ).text );
        length += written > 0 ? (size_t)written : 0;
    }
    return notes;
}

lab_status command_gen( int argc, char** argv )
{
    gen_flags flags = { .body_count = ARGS_UNSET,
        .frame_count = GENERATOR_FRAMES,
        .seed = ARGS_UNSET,
        .thread_count = ARGS_UNSET,
        .type = "cubes" };
    const args_flag list[] = {
        ARGS_ROW( "--objects", 'n', ARGS_SIZE, &flags.body_count, "N",
            "bodies; 8k unless a scene file says otherwise", 1, GENERATOR_BODIES_MOST ),
        ARGS_ROW_WORDS( "--type", ARGS_TEXT, &flags.type, "TYPE", body_types, "cubes or assorted" ),
        ARGS_ROW_RANGE( "--frames", ARGS_COUNT, &flags.frame_count, "F", "frames to record after the first",
            1, BAKE_FRAMES_MOST ),
        ARGS_ROW_RANGE(
            "--from", ARGS_COUNT, &flags.from, "F0", "frame of the run to begin with", 0, BAKE_FRAMES_MOST ),
        ARGS_ROW_RANGE( "--seed", ARGS_SEED, &flags.seed, "S",
            "same seed, same bytes; 1 unless a scene file says otherwise", 0, UINT64_MAX - 1 ),
        ARGS_ROW_RANGE( "--threads", ARGS_COUNT, &flags.thread_count, "T",
            "threads; they change no byte (default as many as cores)", 1, CLV_MAX_WORKERS ),
        ARGS_ROW_SWITCH( "--split", &flags.split, "cut each body in 8: objects = 8 N" ),
        ARGS_ROW_OUTPUT( &flags.output, "FILE", "the .aabbs file to write" ),
        ARGS_ROW_TEXT( "--report", &flags.report, "OUT.csv",
            "what the simulation saw, frame by frame: contacts, penetration, energy, times" ),
        ARGS_ROW_QUIET( &flags.quiet ),
    };
    const args_table table = {
        .command = "gen",
        .usage = "SCENE|FILE.scene [-n N] [--type TYPE] [--frames F] [--from F0] [flags] -o FILE",
        .about = "Bake a scene into a .aabbs file: frame F0 of the run as the initial one, then F more.",
        .notes = scene_notes(),
        .example = "  cleave gen brownian-free -n 32k --type assorted --frames 60 -o brownian.aabbs\n"
                   "  cleave gen freefall -n 8k --from 540 --frames 60 --report freefall.csv -o rest.aabbs",
        ARGS_FLAGS( list ),
        ARGS_ONE_OPERAND( "a SCENE or a .scene FILE" ),
    };
    return args_run( &table, argc, argv, bake, &flags );
}

// ---- split

typedef struct split_flags
{
    const char* output;
    bool keep_size, quiet;
} split_flags;

static bool check_words( const split_flags* flags, const char* input, lab_error* why )
{
    if ( flags->output == NULL )
    {
        return lab_error_write( why, "split: needs -o FILE, the .aabbs file to write" );
    }
    if ( text_ends_with( flags->output, POSE_FILE_ENDING ) )
    {
        return lab_error_write( why,
            "split: -o %s: boxes are written, not positions; give it a name that ends in .aabbs",
            flags->output );
    }
    return text_ends_with( input, POSE_FILE_ENDING ) || file_kind_check( input, ".aabbs", why );
}

static bool split( void* data, text_list* operands, lab_error* why )
{
    const split_flags* flags = data;
    const char* input = operands->items[0];
    progress_set_quiet( flags->quiet );
    const splitter_def def = { .input = input, .output = flags->output, .keep_size = flags->keep_size };
    scene_header header;
    if ( !check_words( flags, input, why ) || !splitter_write( &def, &header, why ) )
    {
        return false;
    }
    uint64_t size = 0;
    scene_file_bytes( header.object_count, header.frame_count, &size );
    printf( "%s: %s %s, %s objects, 1 + %" PRIu32 " frames, %s\n", flags->output, header.name, header.type,
        text_size( header.object_count ).text, header.frame_count, text_bytes( size ).text );
    return true;
}

lab_status command_split( int argc, char** argv )
{
    split_flags flags = { 0 };
    const args_flag list[] = {
        ARGS_ROW_OUTPUT( &flags.output, "FILE", "the .aabbs file to write" ),
        ARGS_ROW_SWITCH( "--keep-size", &flags.keep_size,
            "pieces as large as the bodies were, in a world of twice the side, as Broadmark does" ),
        ARGS_ROW_QUIET( &flags.quiet ),
    };
    const args_table table = {
        .command = "split",
        .usage = "FILE.posrot|FILE.aabbs [--keep-size] -o FILE",
        .about =
            "Cut every body of a recorded scene in 8, frame by frame, and write the boxes around the pieces.",
        .notes =
            "Bodies of a .posrot file (Broadmark's recording of positions and rotations) are cut along their own\n"
            "axes. A .aabbs file does not tell how the bodies in its boxes are turned: there the boxes are cut, and\n"
            "pieces of a body that is turned lie a little further apart than they would. The pieces of object i are\n"
            "8 i to 8 i + 7; piece k lies on the upper side of axis j if bit j of k is set.",
        .example = "  cleave split freefall.posrot -o freefall-1m.aabbs\n"
                   "  cleave split freefall.aabbs --keep-size -o freefall-1m.aabbs",
        ARGS_FLAGS( list ),
        ARGS_ONE_OPERAND( "a .posrot or .aabbs FILE" ),
    };
    return args_run( &table, argc, argv, split, &flags );
}

// ---- info

typedef struct info_flags
{
    uint64_t frame;
    bool json, check;
} info_flags;

typedef struct scene_facts
{
    scene_header header;
    uint64_t bytes;
    uint32_t frame;
    frame_stats stats;
    double static_share; // NaN for frame 0, which has none before it
    uint64_t pair_count;
} scene_facts;

static bool count_pairs( const clv_aabb* boxes, const scene_header* header, uint64_t* count, lab_error* why )
{
    char reason[256] = "";
    clv_space* space = NULL;
    clv_space_def def = clv_default_space_def();
    def.capacity = header->object_count;
    def.logger = run_reason_logger( reason );
    clv_result result = clv_space_create( &def, &space );
    result = result == CLV_OK ? run_feed( space, NULL, boxes, header->object_count, true ) : result;
    *count = result == CLV_OK ? clv_space_pairs( space ).count : 0;
    clv_space_destroy( space );
    return result == CLV_OK ||
        lab_error_write( why, "%s: finding the pairs failed: %s", header->name,
            reason[0] != '\0' ? reason : clv_result_text( result ) );
}

// Reads and so checks every frame.
static bool check_frames( frame_source* source, clv_aabb* boxes, lab_error* why )
{
    progress_bar bar;
    bool good = true;
    progress_begin( &bar, "checking", "frames", (uint64_t)source->header.frame_count + 1 );
    for ( uint64_t frame = 0; good && frame <= source->header.frame_count; ++frame )
    {
        good = frame_source_read( source, (uint32_t)frame, boxes, why );
        progress_show( &bar, frame + 1 );
    }
    progress_end( &bar );
    return good;
}

static bool look_at_frame(
    frame_source* source, clv_aabb* before, clv_aabb* boxes, scene_facts* facts, lab_error* why )
{
    if ( facts->frame > 0 && !frame_source_read( source, facts->frame - 1, before, why ) )
    {
        return false;
    }
    if ( !frame_source_read( source, facts->frame, boxes, why ) )
    {
        return false;
    }
    uint32_t object_count = facts->header.object_count;
    facts->static_share = facts->frame > 0 ? frame_static_share( before, boxes, object_count ) : NAN;
    facts->stats = frame_stats_of( boxes, object_count, facts->header.world );
    return count_pairs( boxes, &facts->header, &facts->pair_count, why );
}

static bool look( const char* text, const info_flags* flags, scene_facts* facts, lab_error* why )
{
    frame_source source = { 0 };
    bool good = scene_spec_open_text( text, &source, why );
    if ( !good )
    {
        return false;
    }
    facts->header = source.header;
    facts->frame = flags->frame == ARGS_UNSET ? source.header.frame_count : (uint32_t)flags->frame;
    scene_file_bytes( source.header.object_count, source.header.frame_count, &facts->bytes );
    if ( facts->frame > source.header.frame_count )
    {
        good = lab_error_write( why, "info: %s has no frame %" PRIu32 "; use 0 to %" PRIu32, text,
            facts->frame, source.header.frame_count );
    }
    clv_aabb* boxes = frame_source_boxes( &source );
    clv_aabb* before = frame_source_boxes( &source );
    good = good && ( !flags->check || check_frames( &source, boxes, why ) ) &&
        look_at_frame( &source, before, boxes, facts, why );
    free( boxes );
    free( before );
    frame_source_close( &source );
    return good;
}

static bool print_text( const scene_facts* facts, bool is_checked )
{
    const scene_header* header = &facts->header;
    const clv_aabb* world = &header->world;
    printf( "scene             %s\n", header->name );
    printf( "type              %s\n", header->type );
    printf( "objects           %s (%" PRIu32 ")\n", text_size( header->object_count ).text,
        header->object_count );
    printf( "frames            1 + %" PRIu32 "%s\n", header->frame_count,
        is_checked ? ", all read and checked" : "" );
    printf( "size              %s (%" PRIu64 " bytes)\n", text_bytes( facts->bytes ).text, facts->bytes );
    printf( "world             %g %g %g to %g %g %g\n", (double)world->lower.x, (double)world->lower.y,
        (double)world->lower.z, (double)world->upper.x, (double)world->upper.y, (double)world->upper.z );
    printf( "\nframe             %" PRIu32 "\n", facts->frame );
    printf( "sides             %.4g to %.4g, mean %.4g\n", facts->stats.size_min, facts->stats.size_max,
        facts->stats.size_mean );
    if ( facts->frame > 0 )
    {
        printf( "static            %.2f %% of the objects, against frame %" PRIu32 "\n",
            100 * facts->static_share, facts->frame - 1 );
    }
    else
    {
        printf( "static            - (frame 0 has none before it)\n" );
    }
    printf( "pairs             %" PRIu64 ", %.4g per object\n", facts->pair_count,
        (double)facts->pair_count / (double)header->object_count );
    printf( "outside the world %" PRIu32 " centres\n", facts->stats.outside_world );
    return true;
}

static json_value* corner_value( clv_vec3 corner )
{
    json_value* value = json_array();
    json_put_number( value, NULL, (double)corner.x );
    json_put_number( value, NULL, (double)corner.y );
    json_put_number( value, NULL, (double)corner.z );
    return value;
}

static bool info_print_json( const scene_facts* facts, lab_error* why )
{
    const scene_header* header = &facts->header;
    json_value* value = json_object();
    json_value* world = json_object();
    json_put_text( value, "scene", header->name );
    json_put_text( value, "type", header->type );
    json_put_count( value, "objects", header->object_count );
    json_put_count( value, "frames", header->frame_count );
    json_put_count( value, "bytes", facts->bytes );
    json_put( world, "lower", corner_value( header->world.lower ) );
    json_put( world, "upper", corner_value( header->world.upper ) );
    json_put( value, "world", world );
    json_put_count( value, "frame", facts->frame );
    json_put_number( value, "static_share", facts->static_share );
    json_put_count( value, "pairs", facts->pair_count );
    json_put_number( value, "pairs_per_object", (double)facts->pair_count / (double)header->object_count );
    json_put_count( value, "outside_world", facts->stats.outside_world );
    json_put_number( value, "size_min", facts->stats.size_min );
    json_put_number( value, "size_max", facts->stats.size_max );
    json_put_number( value, "size_mean", facts->stats.size_mean );
    return json_print( value, why );
}

static bool info_show( void* data, text_list* operands, lab_error* why )
{
    const info_flags* flags = data;
    scene_facts facts = { 0 };
    return ( !flags->json || json_is_here( why ) ) && look( operands->items[0], flags, &facts, why ) &&
        ( flags->json ? info_print_json( &facts, why ) : print_text( &facts, flags->check ) );
}

lab_status command_info( int argc, char** argv )
{
    info_flags flags = { .frame = ARGS_UNSET };
    const args_flag list[] = {
        ARGS_ROW_RANGE( "--frame", ARGS_COUNT, &flags.frame, "F", "frame to look at; 0 is the initial one", 0,
            INT32_MAX ),
        ARGS_ROW_SWITCH( "--check", &flags.check, "read every frame, so that any damage is found" ),
        ARGS_ROW_SWITCH( "--json", &flags.json, "print JSON" ),
    };
    const args_table table = {
        .command = "info",
        .usage = "FILE [--frame F] [--check] [--json]",
        .about =
            "Tell what is in a scene: header, world, frames, sizes; and of one frame (the last unless told) the\n"
            "share of static objects, none of whose faces moved by more than 1 % of the object's mean side since\n"
            "the frame before, the pairs per object, and the centres outside the world.\n"
            "FILE may be scene:N:type@from+frames too.",
        .example = "  cleave info brownian.aabbs --frame 30",
        ARGS_FLAGS( list ),
        ARGS_ONE_OPERAND( "a FILE or a SCENE" ),
    };
    return args_run( &table, argc, argv, info_show, &flags );
}
