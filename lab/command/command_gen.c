// SPDX-License-Identifier: MIT
#include "cleave/types.h"
#include "lab/base/args.h"
#include "lab/base/output_file.h"
#include "lab/base/platform.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/frame/bake.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
        char advice[GENERATOR_ADVICE_ROOM];
        lab_error_write( why, "gen: unknown scene '%.100s'; %s, or a file FILE.scene", name,
            generator_advice( name, advice ) );
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

static lab_status bake( void* data, text_list* operands )
{
    const gen_flags* flags = data;
    const char* name = operands->items[0];
    progress_set_quiet( flags->quiet );
    bake_def def;
    recipe file_recipe;
    lab_error why;
    if ( !make_def( flags, name, &file_recipe, &def, &why ) || !bake_write( &def, flags->output, &why ) )
    {
        return lab_error_print( &why );
    }
    char objects[TEXT_SIZE_ROOM], bytes[TEXT_SIZE_ROOM];
    uint64_t size = 0;
    uint32_t object_count = generator_object_count( &def.scene );
    scene_file_bytes( object_count, def.frame_count, &size );
    printf( "%s: %s %s, %s objects, 1 + %" PRIu32 " frames from frame %" PRIu32 ", %s\n", flags->output, name,
        flags->type, text_size( object_count, objects ), def.frame_count, def.from,
        text_bytes( size, bytes ) );
    return LAB_DONE;
}

static const char* scene_notes( void )
{
    static char notes[8192]; // of all scenes, and of some that are to come
    size_t length = (size_t)snprintf( notes, sizeof( notes ), "Scenes:" );
    for ( uint32_t index = 0; index < generator_count() && length < sizeof( notes ); ++index )
    {
        const generator* scene = generator_at( index );
        char size[TEXT_SIZE_ROOM];
        int written = snprintf( notes + length, sizeof( notes ) - length, "\n  %-17s%s (to %s)", scene->name,
            scene->about, text_size( scene->bodies_most, size ) );
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
        { "--objects", 'n', ARGS_SIZE, &flags.body_count, "N",
            "bodies; 8k unless a scene file says otherwise", 1, GENERATOR_BODIES_MOST },
        { "--type", 0, ARGS_TEXT, &flags.type, "TYPE", "cubes or assorted", 0, 0 },
        { "--frames", 0, ARGS_COUNT, &flags.frame_count, "F", "frames to record after the first", 1,
            BAKE_FRAMES_MOST },
        { "--from", 0, ARGS_COUNT, &flags.from, "F0", "frame of the run to begin with", 0, BAKE_FRAMES_MOST },
        { "--seed", 0, ARGS_SEED, &flags.seed, "S",
            "same seed, same bytes; 1 unless a scene file says otherwise", 0, UINT64_MAX - 1 },
        { "--threads", 0, ARGS_COUNT, &flags.thread_count, "T",
            "threads; they change no byte (default as many as cores)", 1, CLV_MAX_WORKERS },
        { "--split", 0, ARGS_SWITCH, &flags.split, NULL, "cut each body in 8: objects = 8 N", 0, 0 },
        { "--output", 'o', ARGS_TEXT, &flags.output, "FILE", "the .aabbs file to write", 0, 0 },
        { "--report", 0, ARGS_TEXT, &flags.report, "OUT.csv",
            "what the simulation saw, frame by frame: contacts, penetration, energy, times", 0, 0 },
        { "--quiet", 'q', ARGS_SWITCH, &flags.quiet, NULL, "no progress", 0, 0 },
    };
    const args_words words[] = { { "--type", body_types }, { NULL, NULL } };
    const args_table table = {
        .command = "gen",
        .usage = "SCENE|FILE.scene [-n N] [--type TYPE] [--frames F] [--from F0] [flags] -o FILE",
        .about = "Bake a scene into a .aabbs file: frame F0 of the run as the initial one, then F more.",
        .notes = scene_notes(),
        .example = "  cleave gen brownian-free -n 32k --type assorted --frames 60 -o brownian.aabbs\n"
                   "  cleave gen freefall -n 8k --from 540 --frames 60 --report freefall.csv -o rest.aabbs",
        ARGS_FLAGS( list ),
        .words = words,
        .operand_name = "a SCENE or a .scene FILE",
        .operand_least = 1,
        .operand_most = 1,
    };
    return args_run( &table, argc, argv, bake, &flags );
}
