// SPDX-License-Identifier: MIT
// Results for scripts: JSON (by cJSON, where the build has it) and CSV.
#pragma once

#include "lab/base/output_file.h"
#include "lab/measure/timed_run.h"

typedef struct run_results
{
    run_result* items;
    uint32_t count;

    // Of a file that was read; else NULL.
    json_value* machine;
    char* version; ///< of the program that wrote it
} run_results;

/// The next result of the list, zeroed.
run_result* run_results_add( run_results* results );
void run_results_free( run_results* results );

/// Was the program built with JSON? If not, the error says what to do.
bool results_have_json( lab_error* why );

/// One run as JSON, to json_free or put somewhere: what the struct knows, then what else
/// stood where it was read.
json_value* results_run_json( const run_result* run );

/// The inverse: takes `value` over into run->json, whatever the answer. False names the member that is wrong
/// and how; `name` is what the error begins with.
bool results_read_run( json_value* value, const char* name, run_result* run, lab_error* why );

/// All runs of a results file.
bool results_read_file( const char* path, run_results* results, lab_error* why );

/// A results file of these runs, an array that it takes over. `gpu` is the device that one of
/// them used; NULL: none did.
json_value* results_document( json_value* runs, const char* gpu );

/// The results as text, to free. NULL with an error.
char* results_json( const run_results* results, lab_error* why );
char* results_csv( const run_results* results );

/// The contract's form of a pairs_hash.
text_short results_hash( uint64_t hash );
