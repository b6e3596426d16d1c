// SPDX-License-Identifier: MIT
// What a long command still does when it is told to stop: write down what is finished. It runs at once, on a thread of its
// own, while the work goes on: a signal handler may not open files, and the work may not return for minutes.
#pragma once

#include <stdbool.h>

typedef void stop_action( void* user );

/// From now on the first SIGINT, SIGTERM or SIGHUP runs `action`, removes guarded files and ends the program with status 1; a
/// second one ends it as if there were no action. Where no thread can be had, the first one does too.
void stop_action_begin( stop_action* action, void* user );

/// Between these two the action does not start: for changing the data that it reads. Hold does not return once the action
/// runs. Not nested.
void stop_action_hold( void );
void stop_action_resume( void );

/// No action any more, because its work is done; resumes if it was held.
void stop_action_end( void );

/// For the signal handler: true if the action will run and end the program.
bool stop_action_ask( void );
