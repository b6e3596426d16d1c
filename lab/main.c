// SPDX-License-Identifier: MIT
// The program `cleave`: scenes, measurements and checks around the library.
#define _POSIX_C_SOURCE 200809L
#include "cleave/base.h"
#include "cleave/gpu.h"
#include "cleave/methods.h"
#include "lab/base/args.h"
#include "lab/base/interrupt.h"
#include "lab/base/platform.h"
#include "lab/command/commands.h"
#include "lab/measure/peer_modules.h"
#include "lab/measure/plugin.h"
#include "lab/run/run_child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct command
{
    const char* name;
    const char* about;
    lab_status ( *run )( int argc, char** argv );
} command;

static const command table[] = {
    { "methods", "list every algorithm, where it is from and what it can do", command_methods },
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
    { "sim", "run the experiment with falling octahedra of paper 003", command_sim },
};

#define COMMAND_COUNT ( sizeof( table ) / sizeof( table[0] ) )

static const command* find_command( const char* name )
{
    for ( size_t index = 0; index < COMMAND_COUNT; ++index )
    {
        if ( strcmp( name, table[index].name ) == 0 )
        {
            return &table[index];
        }
    }
    return NULL;
}

static void print_help( FILE* stream )
{
    fprintf( stream,
        "Usage: cleave [--plugin FILE]… COMMAND [flags]\n\n"
        "Boxes in, every overlapping pair out: scenes, measurements and checks around the Cleave library.\n\n"
        "Commands:\n" );
    for ( size_t index = 0; index < COMMAND_COUNT; ++index )
    {
        fprintf( stream, "  %-10s%s\n", table[index].name, table[index].about );
    }
    fprintf( stream, "  %-10s%s\n", "help", "print the help of a command: cleave help bench" );
    fprintf( stream,
        "\nFlags:\n  --help    print this\n  --version print the version\n"
        "  --plugin FILE  load methods from a shared object, then run the command; may be repeated\n"
        "\nExit status: 0 done; 1 a check failed or results disagree; 2 bad usage or bad input; 3 `run --budget`: some is left.\n"
        "\nExample:\n  cleave bench brownian-free -n 1k,8k -m brute,sap\n" );
}

static lab_status fail_command( const char* name )
{
    const char* names[COMMAND_COUNT + 4];
    for ( size_t index = 0; index < COMMAND_COUNT; ++index )
    {
        names[index] = table[index].name;
    }
    names[COMMAND_COUNT] = "help";
    names[COMMAND_COUNT + 1] = "--help";
    names[COMMAND_COUNT + 2] = "--version";
    names[COMMAND_COUNT + 3] = "--plugin";
    const char* closest = text_closest( name, names, COMMAND_COUNT + 4 );
    const char* kind = name[0] == '-' ? "flag" : "command";
    if ( closest != NULL )
    {
        return lab_fail( "unknown %s '%s'; did you mean %s?", kind, name, closest );
    }
    return lab_fail( "unknown %s '%s'; `cleave --help` lists the commands", kind, name );
}

static lab_status run_help( int argc, char** argv )
{
    if ( argc == 0 || args_is_help( argv[0] ) )
    {
        print_help( stdout );
        return LAB_DONE;
    }
    const command* wanted = find_command( argv[0] );
    if ( wanted == NULL )
    {
        return fail_command( argv[0] );
    }
    char help[] = "--help";
    char* words[] = { help, NULL };
    return wanted->run( 1, words );
}

static lab_status run( int argc, char** argv )
{
    if ( argc < 2 )
    {
        print_help( stderr );
        return LAB_BAD_INPUT;
    }
    const char* name = argv[1];
    if ( args_is_help( name ) || strcmp( name, "help" ) == 0 )
    {
        return run_help( argc - 2, argv + 2 );
    }
    if ( strcmp( name, "--version" ) == 0 || strcmp( name, "-V" ) == 0 )
    {
        printf( "cleave %s\n", clv_version_text() );
        return LAB_DONE;
    }
    if ( strcmp( name, "worker" ) == 0 )
    {
        return command_worker( argc - 2, argv + 2 );
    }
    if ( strcmp( name, "look" ) == 0 )
    {
        return command_look( argc - 2, argv + 2 );
    }
    const command* wanted = find_command( name );
    return wanted != NULL ? wanted->run( argc - 2, argv + 2 ) : fail_command( name );
}

int main( int argc, char** argv )
{
    platform_open_streams(); // before anything else opens a file
    interrupt_install();
    child_keep_environment();
    clv_methods_register(); // the first to come: every name is free
#ifdef LAB_SANITIZED
    setenv( "CLEAVE_OPENCL", "none", 0 );
#endif
    clv_gpu_register();
    peer_modules_load();
    lab_error why;
    lab_status status = plugin_load_words( &argc, &argv, &why ) ? run( argc, argv ) : lab_error_print( &why );
    errno = 0;
    // A full disk behind `cleave … > file` must not look like success.
    if ( fflush( stdout ) != 0 || ferror( stdout ) )
    {
        lab_fail( "standard output: cannot be written: %s",
            errno != 0 ? strerror( errno ) : "an earlier write failed" );
        return status != LAB_DONE ? (int)status : LAB_BAD_INPUT;
    }
    return (int)status;
}
