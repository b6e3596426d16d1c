// SPDX-License-Identifier: MIT
// What the files of the WebAssembly module share. Only numbers and addresses cross its border: arrays are
// written into its memory by ../memory.js, and answers that are several numbers go to arrays of doubles.
#pragma once

#include "cleave/cleave.h"

#include <emscripten.h>

/// A function of ../memory.js. Exceptions never pass through the module: the JavaScript side catches what a
/// callback throws, answers false from then on, and throws it again once the call into the module has
/// returned.
#define FROM_JS( name ) __attribute__( ( import_module( "cleave" ), import_name( name ) ) )

FROM_JS( "filter_pair" ) extern int js_filter_pair( uint32_t filter, uint32_t a, uint32_t b );
FROM_JS( "visit_pairs" ) extern int js_visit_pairs( const clv_pair* pairs, uint32_t count );
FROM_JS( "visit_hits" ) extern int js_visit_hits( uint32_t query, const void* hits, uint32_t count );
FROM_JS( "visit_near" ) extern int js_visit_near( const double* view );

/// Whether the hit counts; *reach may be lowered.
FROM_JS( "ask_hit" ) extern int js_ask_hit( uint32_t query, uint32_t index, double t, double* reach );

/// What the boxes of a space are made of, as index.js numbers it. Kinds of questions are numbered 32 apart
/// likewise.
typedef enum world
{
    WORLD_SOLID = 0,
    WORLD_FLAT = 1,
    WORLD_DOUBLE = 2,
} world;

/// Keeps the last error line for js_line: for calls that have no object to ask.
void js_keep_line( clv_log_level level, const char* line, void* user );
void js_forget_line( void );

/// Writes code, position, index, generation and pair count; -1 where there is no position.
void js_write_error( clv_error error, double* out );

/// Threads of the page: see workers.c. Zero for one worker, and where the module has no threads.
clv_task_hooks js_task_hooks( uint32_t worker_count );

/// A clv_pair_visitor whose pairs go to js_visit_pairs.
bool js_pass_pairs( const clv_pair* pairs, size_t count, void* user );
