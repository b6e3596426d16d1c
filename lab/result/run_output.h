// SPDX-License-Identifier: MIT
// Where results go: the table on the terminal, JSON and CSV files. Files are opened first: a wrong path shall not cost an
// hour of measuring.
#pragma once

#include "lab/result/results.h"
#include "lab/result/text_output.h"

typedef struct run_output
{
    const char* json; ///< path, "-" for standard output, or NULL
    const char* csv;
    bool counters; ///< print what the methods count too
    text_output json_file, csv_file;
} run_output;

/// json, csv and counters are set; the rest is zero.
bool run_output_open( run_output* output, lab_error* why );

/// Writes the files, then prints the table unless a file went to standard output. False if one cannot be written.
bool run_output_write( run_output* output, const run_results* results, lab_error* why );

/// Legal at any time; what was not written whole is gone.
void run_output_close( run_output* output );
