// SPDX-License-Identifier: MIT
// A command is a table of flags, a function, and one line in COMMANDS. Each gets the words
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

/// The commands, in the order of the help. Those without a sentence are started by `cleave run`, and in no
/// list.
#define COMMANDS( X )                                                                                        \
    X( methods, "list every algorithm, where it is from and what it can do" )                                \
    X( scenes, "list every scene and what it shows" )                                                        \
    X( gen, "bake a scene into a .aabbs file" )                                                              \
    X( split, "cut every body of a recorded scene in 8" )                                                    \
    X( info, "tell what is in a scene" )                                                                     \
    X( bench, "time methods on scenes" )                                                                     \
    X( run, "measure what a schedule asks for, each run in a process of its own" )                           \
    X( compare, "tell what became faster or slower between two results, beyond the noise" )                  \
    X( floors, "compare a method with the fastest other one, and fail below stored floors" )                 \
    X( verify, "compare every method's pairs with brute force" )                                             \
    X( replay, "play a recording of a program's calls, judge the answers, shrink it, write it as C" )        \
    X( report, "make one page of results, with tables and plots" )                                           \
    X( tree, "write a method's tree over one frame as JSON, to be drawn" )                                   \
    X( view, "make one page that plays a scene, with its pairs and its tree" )                               \
    X( render, "draw one frame of a scene as PNG or SVG, without a screen" )                                 \
    X( sim, "run the experiment with falling octahedra of the k-DOP paper" )                                 \
    X( completion, "print what makes a shell complete commands, flags and names" )                           \
    X( help, "print the help of a command, or its man page" )                                                \
    X( worker, NULL )

#define COMMANDS_DECLARE( name, about ) lab_status command_##name( int argc, char** argv );
COMMANDS( COMMANDS_DECLARE )
