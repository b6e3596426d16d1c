// SPDX-License-Identifier: MIT
// What is done so far, run by run, beside the results to come: a line of JSON each, written as soon as the
// run has ended, so that neither Ctrl-C nor kill -9 nor a power cut costs more than the run they hit. A last
// line that was cut short is ignored.
#pragma once

#include "lab/result/results.h"

#include <stdio.h>

typedef struct journal_entry
{
    char* key;
    char* limits;
    json_value* run;
} journal_entry;

/// Zero-initialised remembers nothing and writes nothing.
typedef struct journal
{
    char* path;
    FILE* file;
    journal_entry* entries;
    uint32_t entry_count;
} journal;

typedef enum journal_way
{
    JOURNAL_NEW,     ///< an error if there is one already
    JOURNAL_RESUME,  ///< go on with it, if there is one
    JOURNAL_RESTART, ///< throw it away
} journal_way;

/// The journal of results to be written to `target`. With JOURNAL_RESUME results that are complete already
/// count too, by the keys they carry.
bool journal_open( journal* log, const char* target, journal_way way, lab_error* why );

/// The run of that key, or NULL. One that did not end well counts only under the same limits.
const json_value* journal_find( const journal* log, const char* key, const char* limits );

/// Remembers the run and writes it down. Takes `run` over.
bool journal_add( journal* log, const char* key, const char* limits, json_value* run, lab_error* why );

/// Closes; `is_complete`: the results are written, so the file goes.
void journal_close( journal* log, bool is_complete );
