// SPDX-License-Identifier: MIT
#include "lab/result/output.h"

#include "lab/base/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool text_output_is_stdout( const text_output* output )
{
    return output->path != NULL && strcmp( output->path, "-" ) == 0;
}

static bool text_output_open( text_output* output, const char* path, lab_error* why )
{
    *output = ( text_output ){ .path = path };
    return path == NULL || text_output_is_stdout( output ) || output_file_open( &output->file, path, why );
}

bool text_output_open_json( text_output* output, const char* path, lab_error* why )
{
    *output = ( text_output ){ .path = path };
    return path == NULL || ( json_is_here( why ) && text_output_open( output, path, why ) );
}

// All of it; then the file is whole.
static bool text_output_write( text_output* output, const char* text, lab_error* why )
{
    if ( text_output_is_stdout( output ) )
    {
        return fputs( text, stdout ) >= 0 || lab_error_write( why, "standard output cannot be written" );
    }
    return output_file_write( &output->file, text, strlen( text ), why ) &&
        output_file_commit( &output->file, why );
}

bool text_output_write_json( text_output* output, json_value* document, lab_error* why )
{
    char* text = json_text( document );
    bool good = text_output_write( output, text, why );
    free( text );
    return good;
}

void text_output_close( text_output* output )
{
    output_file_abandon( &output->file );
}

// ---- results table

#define UNKNOWN "\xE2\x80\x93" // an en dash: not measured, which differs from 0
#define PLUS_MINUS "\xC2\xB1"

// ---- showing

static int ms_digits( double ms )
{
    return ms < 1 ? 4 : ms < 100 ? 3 : 1;
}

static void add_ms( text_table* table, double ms )
{
    text_table_add( table, "%.*f", ms_digits( ms ), ms );
}

// With as many digits as the median it belongs to.
static void add_spread( text_table* table, const run_result* run )
{
    if ( isnan( run->ms_spread ) )
    {
        text_table_add( table, UNKNOWN );
        return;
    }
    text_table_add( table, PLUS_MINUS " %.*f", ms_digits( run->ms_median ), run->ms_spread );
}

static void add_stage( text_table* table, const run_result* run, double ms )
{
    if ( run->is_opaque || isnan( ms ) )
    {
        text_table_add( table, UNKNOWN );
        return;
    }
    add_ms( table, ms );
}

// Of the runs over one scene that ended well.
typedef struct scene_medians
{
    double fastest, slowest;
    uint32_t count;
} scene_medians;

static scene_medians medians_of( const run_results* results, uint32_t scene_index )
{
    scene_medians all = { 0 };
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        if ( run->scene_index == scene_index && run->status == RUN_OK )
        {
            double ms = run->ms_median;
            all.slowest = ms > all.slowest ? ms : all.slowest;
            all.fastest = all.count == 0 || ms < all.fastest ? ms : all.fastest;
            all.count += 1;
        }
    }
    return all;
}

// Columns that are there only where a run has something to show in them.
typedef struct table_columns
{
    bool settings, spread;
} table_columns;

static table_columns columns_of( const run_results* results )
{
    table_columns found = { 0 };
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        found.settings = found.settings || run->settings != NULL;
        found.spread = found.spread || ( run->status == RUN_OK && !isnan( run->ms_spread ) );
    }
    return found;
}

static void add_unknown( text_table* table, const run_result* run, uint32_t count )
{
    text_table_add( table, "%s", run_status_name( run->status ) );
    text_table_style( table, TERMINAL_BAD );
    for ( uint32_t cell = 0; cell < count; ++cell )
    {
        text_table_add( table, UNKNOWN );
    }
}

static void add_run(
    text_table* table, const run_result* run, const scene_medians* medians, table_columns columns )
{
    bool is_cubes = strcmp( run->type, body_type_name( BODY_CUBES ) ) == 0;
    text_table_add_cells( table, "%s%s%s\t%s\t%s\t%s\t%" PRIu32, run->scene, is_cubes ? "" : " ",
        is_cubes ? "" : run->type, text_size( run->object_count ).text, run->method, run->variant,
        run->thread_count );
    if ( columns.settings )
    {
        text_table_add( table, "%.100s", run->settings != NULL ? run->settings : "" );
    }
    if ( run->status != RUN_OK )
    {
        add_unknown( table, run, columns.spread ? 11 : 10 );
        return;
    }
    add_ms( table, run->ms_median );
    if ( columns.spread )
    {
        add_spread( table, run );
    }
    add_ms( table, run->ms_mean );
    add_ms( table, run->ms_min );
    add_ms( table, run->ms_p99 );
    add_stage( table, run, run->update_ms );
    add_stage( table, run, run->search_ms );
    text_table_add( table, "%" PRIu64, run->pairs_last );
    if ( run->is_opaque )
    {
        text_table_add( table, UNKNOWN );
    }
    else
    {
        text_table_add( table, "%" PRIu64, run->tests );
    }
    text_table_add_cells( table, "%s\t%s\t%.1f", text_bytes( run->memory_bytes ).text,
        results_hash( run->pairs_hash ).text, run->ms_median > 0 ? medians->slowest / run->ms_median : 1.0 );
    if ( medians->count > 1 && run->ms_median == medians->fastest )
    {
        text_table_style_row( table, TERMINAL_GOOD );
    }
}

static bool is_told( const run_results* results, uint32_t end, const char* reason, const char* name )
{
    for ( uint32_t index = 0; index < end; ++index )
    {
        const run_result* run = &results->items[index];
        if ( run->status == RUN_UNAVAILABLE && strcmp( run->reason, reason ) == 0 &&
            ( name == NULL || strcmp( run->method, name ) == 0 ) )
        {
            return true;
        }
    }
    return false;
}

// Methods that cannot run here, once each and a line per reason, however many scenes there are.
static void print_missing( const run_results* results )
{
    for ( uint32_t first = 0; first < results->count; ++first )
    {
        const char* reason = results->items[first].reason;
        if ( results->items[first].status != RUN_UNAVAILABLE || is_told( results, first, reason, NULL ) )
        {
            continue;
        }
        const char* before = "not available: ";
        for ( uint32_t index = first; index < results->count; ++index )
        {
            const run_result* run = &results->items[index];
            if ( run->status == RUN_UNAVAILABLE && strcmp( run->reason, reason ) == 0 &&
                !is_told( results, index, reason, run->method ) )
            {
                printf( "%s%s", before, run->method );
                before = ", ";
            }
        }
        printf( ": %s\n", reason );
    }
}

// Every run, a line for each that did not end well, and one for each reason why methods
// cannot run here, on stdout.
static void results_print( const run_results* results )
{
    text_table table;
    table_columns columns = columns_of( results );
    char headings[256];
    snprintf( headings, sizeof( headings ),
        "scene|>objects|method|variant|>threads|%s>median ms|%s>mean|>min|>p99|>update|>search|"
        ">pairs|>tests|>memory|hash|>× slowest",
        columns.settings ? "settings|" : "", columns.spread ? ">spread|" : "" );
    text_table_begin( &table, headings );
    text_table_leave_out(
        &table, "hash|p99|min|mean|update|search|tests|memory|threads|variant|settings|spread" );
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        if ( run->status != RUN_UNAVAILABLE )
        {
            scene_medians medians = medians_of( results, run->scene_index );
            add_run( &table, run, &medians, columns );
        }
    }
    text_table_print( &table, stdout );
    print_missing( results );
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        if ( run->status != RUN_OK && run->status != RUN_UNAVAILABLE )
        {
            printf( "%s: %s@%s on %s objects of %s: %s\n", run_status_name( run->status ), run->method,
                run->variant, text_size( run->object_count ).text, run->scene, run->reason );
        }
    }
}

// What did not happen is left out; the files have it all.
static void results_print_counters( const run_results* results )
{
    text_table table;
    text_table_begin( &table, "scene|>objects|method|variant|>threads|counter|>per frame" );
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        for ( uint32_t counter = 0; run->status == RUN_OK && counter < run->counter_count; ++counter )
        {
            if ( run->counters[counter].value == 0 )
            {
                continue;
            }
            text_table_add_cells( &table, "%s\t%s\t%s\t%s\t%" PRIu32 "\t%s\t%.10g", run->scene,
                text_size( run->object_count ).text, run->method, run->variant, run->thread_count,
                run->counters[counter].name, run->counters[counter].value );
        }
    }
    printf( "\n" );
    text_table_print( &table, stdout );
}

// ---- judging

// The first good run of a scene is compared with all others of it. True if none differs.
bool results_check_agreement( const run_results* results )
{
    bool agree = true;
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        const run_result* first = NULL;
        for ( uint32_t other = 0; other < index && first == NULL; ++other )
        {
            const run_result* candidate = &results->items[other];
            bool is_like = candidate->scene_index == run->scene_index && !candidate->fat;
            first = is_like && candidate->status == RUN_OK ? candidate : NULL;
        }
        if ( run->status == RUN_OK && !run->fat && first != NULL && first->pairs_hash != run->pairs_hash )
        {
            lab_fail( "RESULTS DISAGREE on %s, %" PRIu32 " objects: %s@%s has hash 0x%016" PRIx64
                      ", %s@%s has 0x%016" PRIx64 "; `cleave verify` finds the pair",
                run->scene, run->object_count, first->method, first->variant, first->pairs_hash, run->method,
                run->variant, run->pairs_hash );
            agree = false;
        }
    }
    return agree;
}

known_report results_check_known( const run_results* results )
{
    known_report report = { 0 };
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        if ( run->status != RUN_OK || run->known == NULL )
        {
            continue;
        }
        report.count += 1;
        if ( strcmp( results_hash( run->pairs_hash ).text, run->known ) != 0 )
        {
            report.other_count += 1;
            lab_fail( "NOT AS KNOWN: %s, %" PRIu32 " objects: %s@%s has hash %s, known is %s", run->scene,
                run->object_count, run->method, run->variant, results_hash( run->pairs_hash ).text,
                run->known );
        }
    }
    if ( report.other_count > 0 )
    {
        lab_fail( "%" PRIu32 " of %" PRIu32
                  " hashes are not as known; `cleave verify SCENE` tells whether the pairs are "
                  "wrong or the scene is another one here",
            report.other_count, report.count );
    }
    return report;
}

bool results_have_failed( const run_results* results )
{
    bool failed = false;
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        failed = failed || results->items[index].status == RUN_FAILED;
    }
    return failed;
}

// ---- run output

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
    // After the files, since a reader that closes the pipe ends the program; and even if writing them failed,
    // so that a full disk costs the files alone.
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
