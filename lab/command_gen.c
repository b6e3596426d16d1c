// SPDX-License-Identifier: MIT
#include "cleave/types.h"
#include "lab/args.h"
#include "lab/bake.h"
#include "lab/commands.h"
#include "lab/platform.h"
#include "lab/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct gen_flags
{
    uint64_t body_count, frame_count, from, seed, thread_count;
    const char* type;
    const char* output;
    bool split, quiet;
} gen_flags;

static bool make_def( const gen_flags* flags, const char* name, bake_def* def, complaint* why )
{
    const generator* scene = generator_find( name );
    if ( scene == NULL )
    {
        const char* names[32];
        uint32_t count = 0;
        for ( ; count < generator_count() && count < 32; ++count )
        {
            names[count] = generator_at( count )->name;
        }
        const char* closest = text_closest( name, names, count );
        return complaint_write( why, "gen: unknown scene '%s'; %s%s%sscenes are %s", name,
            closest != NULL ? "did you mean " : "", closest != NULL ? closest : "",
            closest != NULL ? "? " : "", generator_names() );
    }
    *def = ( bake_def ){
        .generator = scene, .from = (uint32_t)flags->from, .frame_count = (uint32_t)flags->frame_count
    };
    def->scene = ( generator_def ){ (uint32_t)flags->body_count, BODY_CUBES, flags->seed, flags->split,
        (uint32_t)flags->thread_count };
    if ( !body_type_from_name( flags->type, &def->scene.type ) )
    {
        return complaint_write(
            why, "gen: --type '%s' is no type of objects; use cubes or assorted", flags->type );
    }
    if ( flags->body_count > scene->bodies_most )
    {
        return complaint_write( why, "gen: -n %" PRIu64 " is more than %s can have; use %" PRIu32 " at most",
            flags->body_count, name, scene->bodies_most );
    }
    if ( flags->output == NULL )
    {
        return complaint_write( why, "gen: needs -o FILE, the .aabbs file to write" );
    }
    return true;
}

static lab_status bake( const gen_flags* flags, const char* name )
{
    bake_def def;
    complaint why;
    if ( !make_def( flags, name, &def, &why ) || !bake_write( &def, flags->output, &why ) )
    {
        return complaint_print( &why );
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
    static char notes[1024];
    size_t length = (size_t)snprintf( notes, sizeof( notes ), "Scenes:" );
    for ( uint32_t index = 0; index < generator_count() && length < sizeof( notes ); ++index )
    {
        const generator* scene = generator_at( index );
        char size[TEXT_SIZE_ROOM];
        int written = snprintf( notes + length, sizeof( notes ) - length, "\n  %-16s%s (to %s)", scene->name,
            scene->about, text_size( scene->bodies_most, size ) );
        length += written > 0 ? (size_t)written : 0;
    }
    return notes;
}

lab_status command_gen( int argc, char** argv )
{
    gen_flags flags = {
        .body_count = 8000, .frame_count = GENERATOR_FRAMES, .seed = 1, .thread_count = 1, .type = "cubes"
    };
    flags.thread_count = platform_core_count();
    const args_flag list[] = {
        { "--objects", 'n', ARGS_SIZE, &flags.body_count, "N", "bodies", 1, GENERATOR_BODIES_MOST },
        { "--type", 0, ARGS_TEXT, &flags.type, "TYPE", "cubes or assorted", 0, 0 },
        { "--frames", 0, ARGS_SIZE, &flags.frame_count, "F", "frames to record after the first", 1,
            BAKE_FRAMES_MOST },
        { "--from", 0, ARGS_SIZE, &flags.from, "F0", "frame of the run to begin with", 0, BAKE_FRAMES_MOST },
        { "--seed", 0, ARGS_SIZE, &flags.seed, "S", "same seed, same bytes", 0, UINT64_MAX },
        { "--threads", 0, ARGS_SIZE, &flags.thread_count, "T", "threads; they change no byte", 1,
            CLV_MAX_WORKERS },
        { "--split", 0, ARGS_SWITCH, &flags.split, NULL, "cut each body in 8: objects = 8 N", 0, 0 },
        { "--output", 'o', ARGS_TEXT, &flags.output, "FILE", "the .aabbs file to write", 0, 0 },
        { "--quiet", 'q', ARGS_SWITCH, &flags.quiet, NULL, "no progress", 0, 0 },
    };
    const args_table table = {
        .command = "gen",
        .usage = "SCENE [-n N] [--type cubes|assorted] [--frames F] [--from F0] [--seed S] "
                 "[--threads T] [--split] -o FILE",
        .about = "Bake a scene into a .aabbs file: frame F0 of the run as the initial one, then F more.",
        .notes = scene_notes(),
        .example = "  cleave gen brownian-free -n 32k --type assorted --frames 60 -o brownian.aabbs",
        .flags = list,
        .flag_count = sizeof( list ) / sizeof( list[0] ),
        .operand_name = "SCENE",
        .operand_least = 1,
        .operand_most = 1,
    };
    complaint why;
    text_list operands = { 0 };
    args_answer answer = args_read( &table, argc, argv, &operands, &why );
    lab_status status = LAB_DONE;
    if ( answer == ARGS_BAD )
    {
        status = complaint_print( &why );
    }
    else if ( answer == ARGS_OK )
    {
        progress_set_quiet( flags.quiet );
        status = bake( &flags, operands.items[0] );
    }
    text_list_free( &operands );
    return status;
}
