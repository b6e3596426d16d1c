// SPDX-License-Identifier: MIT
// A command is a table of flags, a function, and one line in the table of command_help.c. Each gets the words
// behind its name and answers with the program's exit status; "--help" among the words prints its help.
#pragma once

#include "lab/base/error.h"

#include <stdint.h>
#include <stdio.h>

typedef struct command_row
{
    const char* name;
    const char* about; ///< in the list of commands; NULL: in none
    lab_status ( *run )( int argc, char** argv );
} command_row;

/// Those of the help, in its order; NULL beyond the last.
const command_row* command_at( uint32_t index );

/// By name, those that are in no list too. NULL with the one that was meant.
const command_row* command_find( const char* name, lab_error* why );

/// What `cleave --help` prints.
void command_help_print( FILE* stream );

lab_status command_bench( int argc, char** argv );
lab_status command_compare( int argc, char** argv );
lab_status command_completion( int argc, char** argv );
lab_status command_floors( int argc, char** argv );
lab_status command_gen( int argc, char** argv );
lab_status command_help( int argc, char** argv );
lab_status command_info( int argc, char** argv );
lab_status command_methods( int argc, char** argv );
lab_status command_run( int argc, char** argv );
lab_status command_render( int argc, char** argv );
lab_status command_replay( int argc, char** argv );
lab_status command_report( int argc, char** argv );
lab_status command_scenes( int argc, char** argv );
lab_status command_sim( int argc, char** argv );
lab_status command_split( int argc, char** argv );
lab_status command_tree( int argc, char** argv );
lab_status command_verify( int argc, char** argv );
lab_status command_view( int argc, char** argv );
lab_status command_worker( int argc, char** argv ); ///< not in the help: `cleave run` starts it
