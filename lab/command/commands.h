// SPDX-License-Identifier: MIT
// A command is one file and one line in the table of main.c. Each gets the words behind its name and answers
// with the program's exit status; "--help" among the words prints its help.
#pragma once

#include "lab/base/error.h"

lab_status command_bench( int argc, char** argv );
lab_status command_compare( int argc, char** argv );
lab_status command_floors( int argc, char** argv );
lab_status command_gen( int argc, char** argv );
lab_status command_info( int argc, char** argv );
lab_status command_look( int argc, char** argv ); ///< not in the help: `cleave run` starts it
lab_status command_methods( int argc, char** argv );
lab_status command_run( int argc, char** argv );
lab_status command_render( int argc, char** argv );
lab_status command_report( int argc, char** argv );
lab_status command_sim( int argc, char** argv );
lab_status command_split( int argc, char** argv );
lab_status command_tree( int argc, char** argv );
lab_status command_verify( int argc, char** argv );
lab_status command_view( int argc, char** argv );
lab_status command_worker( int argc, char** argv ); ///< not in the help: `cleave run` starts it
