// SPDX-License-Identifier: MIT
#include "lab/base/args.h"
#include "lab/base/output_file.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/frame/scene_file.h"
#include "lab/frame/splitter.h"

#include <inttypes.h>
#include <stdio.h>

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

static lab_status split( void* data, text_list* operands )
{
    const split_flags* flags = data;
    const char* input = operands->items[0];
    progress_set_quiet( flags->quiet );
    const splitter_def def = { .input = input, .output = flags->output, .keep_size = flags->keep_size };
    scene_header header;
    lab_error why;
    if ( !check_words( flags, input, &why ) || !splitter_write( &def, &header, &why ) )
    {
        return lab_error_print( &why );
    }
    char objects[TEXT_SIZE_ROOM], bytes[TEXT_SIZE_ROOM];
    uint64_t size = 0;
    scene_file_bytes( header.object_count, header.frame_count, &size );
    printf( "%s: %s %s, %s objects, 1 + %" PRIu32 " frames, %s\n", flags->output, header.name, header.type,
        text_size( header.object_count, objects ), header.frame_count, text_bytes( size, bytes ) );
    return LAB_DONE;
}

lab_status command_split( int argc, char** argv )
{
    split_flags flags = { 0 };
    const args_flag list[] = {
        { "--output", 'o', ARGS_TEXT, &flags.output, "FILE", "the .aabbs file to write", 0, 0 },
        { "--keep-size", 0, ARGS_SWITCH, &flags.keep_size, NULL,
            "pieces as large as the bodies were, in a world of twice the side, as Broadmark does", 0, 0 },
        { "--quiet", 'q', ARGS_SWITCH, &flags.quiet, NULL, "no progress", 0, 0 },
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
        .operand_name = "a .posrot or .aabbs FILE",
        .operand_least = 1,
        .operand_most = 1,
    };
    return args_run( &table, argc, argv, split, &flags );
}
