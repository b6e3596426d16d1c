// SPDX-License-Identifier: MIT
// A text that goes to a file or to standard output. It is opened before the work: a wrong path shall not
// cost an hour of measuring.
#pragma once

#include "lab/base/json.h"
#include "lab/base/output_file.h"
#include "lab/result/results.h"

typedef struct text_output
{
    const char* path; ///< "-" is standard output; NULL: the text is not wanted
    output_file file;
} text_output;

/// The same, for JSON: refused where the program was built without.
bool text_output_open_json( text_output* output, const char* path, lab_error* why );

/// The same; the document is freed.
bool text_output_write_json( text_output* output, json_value* document, lab_error* why );

/// Does the text go to the terminal, so that nothing else should?
bool text_output_is_stdout( const text_output* output );

/// Legal at any time; what was not written whole is gone.
void text_output_close( text_output* output );

// ---- Results for people: the table, and whether the runs over a scene agree.

/// Do all runs over the same scene and frames have the same hash? Each that does not gets a line on stderr.
bool results_check_agreement( const run_results* results );

typedef struct known_report
{
    uint32_t count;       ///< good runs whose hash the schedule says
    uint32_t other_count; ///< of these, with another one
} known_report;

/// Have the good runs the hash that their schedule says? Each that has not gets a line on stderr, and after
/// these one that tells how many.
known_report results_check_known( const run_results* results );

/// Did one fail? Running out of time does not count: the limit was set on purpose.
bool results_have_failed( const run_results* results );

// ---- Where results go: the table on the terminal, JSON and CSV files. Files are opened first: a wrong path
// shall not cost an hour of measuring.

typedef struct run_output
{
    const char* json; ///< path, "-" for standard output, or NULL
    const char* csv;
    bool counters; ///< print what the methods count too
    text_output json_file, csv_file;
} run_output;

/// json, csv and counters are set; the rest is zero.
bool run_output_open( run_output* output, lab_error* why );

/// Writes the files, then prints the table unless a file went to standard output. False if one cannot be
/// written.
bool run_output_write( run_output* output, const run_results* results, lab_error* why );

/// Legal at any time; what was not written whole is gone.
void run_output_close( run_output* output );
