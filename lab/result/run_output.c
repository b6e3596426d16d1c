// SPDX-License-Identifier: MIT
#include "lab/result/run_output.h"

#include "lab/result/results_table.h"

#include <stdlib.h>
#include <string.h>

static bool is_stdout( const char* path )
{
    return path != NULL && strcmp( path, "-" ) == 0;
}

static bool open_one( output_file* file, const char* path, lab_error* why )
{
    return path == NULL || is_stdout( path ) || output_file_open( file, path, why );
}

static bool write_one( output_file* file, const char* path, const char* text, lab_error* why )
{
    if ( is_stdout( path ) )
    {
        fputs( text, stdout );
        return true;
    }
    return output_file_write( file, text, strlen( text ), why ) && output_file_commit( file, why );
}

bool run_output_open( run_output* output, lab_error* why )
{
    if ( output->json != NULL && output->csv != NULL && strcmp( output->json, output->csv ) == 0 )
    {
        return lab_error_write(
            why, "--json and --csv both name '%s'; each needs a file of its own", output->json );
    }
    return ( output->json == NULL || results_have_json( why ) ) &&
        open_one( &output->json_file, output->json, why ) && open_one( &output->csv_file, output->csv, why );
}

bool run_output_write( run_output* output, const run_results* results, lab_error* why )
{
    bool good = true;
    if ( output->json != NULL )
    {
        char* text = results_json( results, why );
        good = text != NULL && write_one( &output->json_file, output->json, text, why );
        free( text );
    }
    if ( good && output->csv != NULL )
    {
        char* text = results_csv( results );
        good = write_one( &output->csv_file, output->csv, text, why );
        free( text );
    }
    // After the files, since a reader that closes the pipe ends the program; and even if writing them failed, so that a full disk
    // costs the files alone.
    if ( !is_stdout( output->json ) && !is_stdout( output->csv ) )
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
    output_file_abandon( &output->json_file );
    output_file_abandon( &output->csv_file );
}
