// SPDX-License-Identifier: MIT
#include "lab/base/args.h"
#include "lab/command/commands.h"

#include <string.h>

// In the order of the help. Those without a sentence are started by `cleave run`, and in no list.
static const command_row table[] = {
    { "methods", "list every algorithm, where it is from and what it can do", command_methods },
    { "scenes", "list every scene and what it shows", command_scenes },
    { "gen", "bake a scene into a .aabbs file", command_gen },
    { "split", "cut every body of a recorded scene in 8", command_split },
    { "info", "tell what is in a scene", command_info },
    { "bench", "time methods on scenes", command_bench },
    { "run", "measure what a schedule asks for, each run in a process of its own", command_run },
    { "compare", "tell what became faster or slower between two results, beyond the noise", command_compare },
    { "floors", "tell how many times as fast as the fastest other a method is, and fail below stored floors",
        command_floors },
    { "verify", "compare every method's pairs with brute force", command_verify },
    { "report", "make one page of results, with tables and plots", command_report },
    { "tree", "write a method's tree over one frame as JSON, to be drawn", command_tree },
    { "view", "make one page that plays a scene, with its pairs and its tree", command_view },
    { "render", "draw one frame of a scene as PNG or SVG, without a screen", command_render },
    { "sim", "run the experiment with falling octahedra of the k-DOP paper", command_sim },
    { "completion", "print what makes a shell complete commands, flags and names", command_completion },
    { "help", "print the help of a command, or its man page", command_help },
    { "worker", NULL, command_worker },
};

const command_row* command_at( uint32_t index )
{
    bool is_there = index < sizeof( table ) / sizeof( table[0] ) && table[index].about != NULL;
    return is_there ? &table[index] : NULL;
}

const command_row* command_find( const char* name, lab_error* why )
{
    text_guess guess = text_guess_begin( name );
    for ( size_t index = 0; index < sizeof( table ) / sizeof( table[0] ); ++index )
    {
        if ( strcmp( name, table[index].name ) == 0 )
        {
            return &table[index];
        }
        text_guess_try( &guess, table[index].about != NULL ? table[index].name : "" );
    }
    for ( uint32_t index = 0; index < args_program_flag_count; ++index )
    {
        text_guess_try( &guess, args_program_flags[index].name );
    }
    lab_error_write( why, "unknown %s '%.100s'; %s`cleave --help` lists the commands",
        name[0] == '-' ? "flag" : "command", name, text_guess_say( &guess ) );
    return NULL;
}
