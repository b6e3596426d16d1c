// SPDX-License-Identifier: MIT
// The program `cleave`: scenes, measurements and checks around the library.
#define _POSIX_C_SOURCE 200809L
#include "cleave/base.h"
#include "cleave/gpu.h"
#include "cleave/methods.h"
#include "lab/base/args.h"
#include "lab/base/interrupt.h"
#include "lab/base/platform.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/measure/plugin.h"
#include "lab/run/run_child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lab_status run( int argc, char** argv )
{
    if ( argc < 2 )
    {
        command_help_print( stderr );
        return LAB_BAD_INPUT;
    }
    const char* name = argv[1];
    if ( args_is_help( name ) )
    {
        command_help_print( stdout );
        return LAB_DONE;
    }
    if ( strcmp( name, "--version" ) == 0 || strcmp( name, "-V" ) == 0 )
    {
        printf( "cleave %s\n", clv_version_text() );
        return LAB_DONE;
    }
    lab_error why;
    const command_row* wanted = command_find( name, &why );
    return wanted != NULL ? wanted->run( argc - 2, argv + 2 ) : lab_error_print( &why );
}

// The program's own flags, in any order.
static bool load_words( int* argc, char*** argv, lab_error* why )
{
    int before = 0;
    do
    {
        before = *argc;
        if ( !terminal_load_words( argc, argv, why ) || !plugin_load_words( argc, argv, why ) )
        {
            return false;
        }
    } while ( *argc < before );
    return true;
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
    lab_status status = load_words( &argc, &argv, &why ) ? run( argc, argv ) : lab_error_print( &why );
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
