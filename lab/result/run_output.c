// SPDX-License-Identifier: MIT
#include "lab/result/run_output.h"

#include "lab/result/results_table.h"

#include <stdlib.h>
#include <string.h>

bool run_output_open( run_output* output, lab_error* why )
{
    if ( output->json != NULL && output->csv != NULL && strcmp( output->json, output->csv ) == 0 )
    {
        return lab_error_write(
            why, "--json and --csv both name '%s'; each needs a file of its own", output->json );
    }
    return text_output_open_json( &output->json_file, output->json, why ) &&
        text_output_open( &output->csv_file, output->csv, why );
}

bool run_output_write( run_output* output, const run_results* results, lab_error* why )
{
    bool good = true;
    if ( output->json != NULL )
    {
        char* text = results_json( results, why );
        good = text != NULL && text_output_write( &output->json_file, text, why );
        free( text );
    }
    if ( good && output->csv != NULL )
    {
        char* text = results_csv( results );
        good = text_output_write( &output->csv_file, text, why );
        free( text );
    }
    // After the files, since a reader that closes the pipe ends the program; and even if writing them failed, so that a full disk
    // costs the files alone.
    if ( !text_output_is_stdout( &output->json_file ) && !text_output_is_stdout( &output->csv_file ) )
    {
        results_print( results );
        if ( output->counters )
        {
            results_print_counters( results );
        }
        fflush( stdout );
    }
    return good;
}

void run_output_close( run_output* output )
{
    text_output_close( &output->json_file );
    text_output_close( &output->csv_file );
}
