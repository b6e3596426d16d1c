// SPDX-License-Identifier: MIT
// Results for scripts: JSON (by cJSON, where the build has it) and CSV.
#pragma once

#include "lab/output_file.h"
#include "lab/timed_run.h"

typedef struct run_results
{
    run_result* items;
    uint32_t count;
} run_results;

/// The next result of the list, zeroed.
run_result* run_results_add( run_results* results );
void run_results_free( run_results* results );

/// Was the program built with JSON? If not, the complaint says what to do.
bool results_have_json( complaint* why );

/// The results as text, to free. NULL with a complaint.
char* results_json( const run_results* results, complaint* why );
char* results_csv( const run_results* results );

/// The contract's form of a pairs_hash. Returns `buffer`.
#define RESULTS_HASH_ROOM 20
char* results_hash( uint64_t hash, char buffer[RESULTS_HASH_ROOM] );
