// SPDX-License-Identifier: MIT
// What was measured: two results beside each other, results beside stored floors, and as a page.
#include "lab/base/args.h"
#include "lab/base/output_file.h"
#include "lab/base/platform.h"
#include "lab/command/commands.h"
#include "lab/compare/comparison.h"
#include "lab/floors/floors.h"
#include "lab/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// ---- compare

typedef struct compare_flags
{
    double bound_percent;
    bool all;
} compare_flags;

// ---- the two builds

static const char* machine_text( const run_results* results, const char* key )
{
    const char* text = json_as_text( json_get( results->machine, key ) );
    return text != NULL ? text : "unknown";
}

static void print_head( const char* label, const char* path, const run_results* results )
{
    double load = json_as_number( json_get( results->machine, "load" ) );
    printf( "%s  %s: %" PRIu32 " runs of cleave %s on %s, %s", label, path, results->count,
        results->version != NULL ? results->version : "unknown", machine_text( results, "cpu" ),
        machine_text( results, "compiler" ) );
    double cores = json_as_number( json_get( results->machine, "cores" ) );
    if ( cores > 0 )
    {
        printf( ", %.0f cores", cores );
    }
    if ( load >= 0 )
    {
        printf( ", load %.1f", load );
    }
    printf( "\n" );
}

static uint32_t most_passes( const run_results* results )
{
    uint32_t most = 0;
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        most = results->items[index].pass_count > most ? results->items[index].pass_count : most;
    }
    return most;
}

// ---- all together

static bool compare(
    const compare_flags* flags, const text_list* paths, run_results* a, run_results* b, lab_error* why )
{
    if ( !results_read_file( paths->items[0], a, why ) || !results_read_file( paths->items[1], b, why ) )
    {
        return false;
    }
    comparison all;
    comparison_make( &all, a, b, flags->bound_percent );
    bool has_common = all.count > all.counts[COMPARISON_ONLY_A] + all.counts[COMPARISON_ONLY_B];
    if ( !has_common )
    {
        comparison_free( &all );
        return lab_error_write( why,
            "%s and %s: no run is in both; measure the same scenes, methods and frames twice",
            paths->items[0], paths->items[1] );
    }
    print_head( "A", paths->items[0], a );
    print_head( "B", paths->items[1], b );
    if ( most_passes( a ) < 3 || most_passes( b ) < 3 )
    {
        lab_note(
            "fewer than three passes tell little about the noise: measure with --repeat 3 or --rounds 5" );
    }
    comparison_print( &all, flags->all, flags->bound_percent );
    bool good = !comparison_is_bad( &all ) || lab_error_disagrees( why );
    comparison_free( &all );
    return good;
}

static bool compare_run( void* flags, text_list* operands, lab_error* why )
{
    run_results a = { 0 }, b = { 0 };
    bool good = compare( flags, operands, &a, &b, why );
    run_results_free( &a );
    run_results_free( &b );
    return good;
}

lab_status command_compare( int argc, char** argv )
{
    compare_flags flags = { .bound_percent = 5 };
    const args_flag list[] = {
        ARGS_ROW_RANGE( "--bound", ARGS_NUMBER, &flags.bound_percent, "PERCENT",
            "slower by more is a regression (default 5)", 0, 1000000 ),
        ARGS_ROW_SWITCH( "--all", &flags.all, "show what stayed the same too" ),
    };
    const args_table table = {
        .command = "compare",
        .usage = "A.json B.json [--bound PERCENT]",
        .about = "Tell what became faster or slower from A to B beyond the noise.",
        .notes =
            "Of each frame the median over the passes counts. 1000 times passes and frames are drawn anew, with a\n"
            "fixed seed; a run is slower if 99 % of these draws say so. Exit 1 if one became slower than the\n"
            "bound, broke, or found other pairs; exit 2 if a file cannot be read. Runs in one file alone are listed.\n"
            "Where the files are from other processors, or the machine was busy when one of them was made (its load is\n"
            "above its cores, or the loads differ by more than 1), verdicts about time are marked ? and a sentence says\n"
            "why. A doubtful regression still exits with 1: measure again, or in turn with `cleave run --against`.",
        .example = "  cleave run quick --rounds 5 --json before.json\n"
                   "  cleave run quick --rounds 5 --json after.json\n"
                   "  cleave compare before.json after.json --bound 3",
        ARGS_FLAGS( list ),
        .operand_name = "two files of results, A.json and B.json",
        .operand_least = 2,
        .operand_most = 2,
    };
    return args_run( &table, argc, argv, compare_run, &flags );
}

// ---- floors

typedef struct floors_flags
{
    const char* method;
    double share_percent;
    bool raise;
} floors_flags;

// How busy the machine was when the results were begun, per core. What rose on noise never sinks again.
#define LOAD_MOST 1.5

static bool was_quiet( const run_results* results, const char* path, lab_error* why )
{
    double load = json_as_number( json_get( results->machine, "load" ) );
    double cores = json_as_number( json_get( results->machine, "cores" ) );
    if ( !( load > LOAD_MOST * ( cores >= 1 ? cores : 1 ) ) )
    {
        return true;
    }
    return lab_error_write( why,
        "%s: the load was %.1f on %.0f cores; floors never sink again, so measure on a quiet machine to raise them",
        path, load, cores );
}

static bool raise_floors( const floors_flags* flags, const race* all, const run_results* results,
    const char* path, floor_file* floors, lab_error* why )
{
    uint32_t raised = race_raise( all, results, flags->share_percent / 100, floors );
    if ( raised > 0 && !floor_file_write( path, floors, why ) )
    {
        return false;
    }
    printf( "%s: %" PRIu32 " of %" PRIu32 " floors raised to %g %% of what was measured\n", path, raised,
        all->count, flags->share_percent );
    return true;
}

static bool fail_method( const char* path, const char* name, const run_results* results, lab_error* why )
{
    text_guess guess = text_guess_begin( name );
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        text_guess_try( &guess, results->items[index].method );
    }
    return lab_error_write( why,
        "%s: holds no run of %s; %smeasure it beside others, or name another with --method", path, name,
        text_guess_say( &guess ) );
}

static bool judge( const floors_flags* flags, const text_list* paths, run_results* results,
    floor_file* floors, lab_error* why )
{
    const char* path = paths->items[1];
    if ( !results_read_file( paths->items[0], results, why ) ||
        !floor_file_read( path, flags->raise, floors, why ) ||
        ( flags->raise && !was_quiet( results, paths->items[0], why ) ) )
    {
        return false;
    }
    race all;
    race_make( &all, results, flags->method, floors );
    if ( all.count == 0 )
    {
        race_free( &all );
        return fail_method( paths->items[0], flags->method, results, why );
    }
    race_print( &all, results, flags->method );
    bool good = ( !flags->raise || raise_floors( flags, &all, results, path, floors, why ) ) &&
        ( !race_is_bad( &all ) || lab_error_disagrees( why ) );
    race_free( &all );
    return good;
}

static bool floors_run( void* flags, text_list* operands, lab_error* why )
{
    run_results results = { 0 };
    floor_file floors = { 0 };
    bool good = judge( flags, operands, &results, &floors, why );
    floor_file_free( &floors );
    run_results_free( &results );
    return good;
}

lab_status command_floors( int argc, char** argv )
{
    floors_flags flags = { .method = "cleave", .share_percent = 60 };
    const args_flag list[] = {
        ARGS_ROW_METHOD( &flags.method, "whose floors the file holds" ),
        ARGS_ROW_SWITCH( "--raise", &flags.raise, "store what was measured where it is higher" ),
        ARGS_ROW_RANGE( "--share", ARGS_NUMBER, &flags.share_percent, "PERCENT",
            "of the measured ratio a raised floor is (default 60)", 0, 100 ),
    };
    const args_table table = {
        .command = "floors",
        .usage = "RESULTS.json FLOORS.csv [--raise] [--share PERCENT]",
        .about =
            "Compare a method with the fastest other one of each row, and that ratio with stored floors.",
        .notes =
            "A row is a part of the schedule, a scene, a type, a size and an instruction set. Exit 1 if a floor is\n"
            "undercut, the method failed, or another found other pairs. Others that are missing or gave up are\n"
            "named and are no failure. --raise writes the file, and never lowers a floor.",
        .example = "  cleave run speed --json speed.json\n"
                   "  cleave floors speed.json bench/floors.csv",
        ARGS_FLAGS( list ),
        .operand_name = "a RESULTS.json and a FLOORS.csv",
        .operand_least = 2,
        .operand_most = 2,
    };
    return args_run( &table, argc, argv, floors_run, &flags );
}

// ---- report

typedef struct report_flags
{
    const char* output;
    const char* svg_folder;
    const char* device; // of runs on a GPU; NULL: every one
} report_flags;

static bool make_folder( const char* folder, lab_error* why )
{
    errno = 0;
    return platform_make_folder( folder ) ||
        lab_error_write(
            why, "%s: cannot be made a folder: %s; name another for --svg", folder, system_reason() );
}

static bool write_plots( const report_flags* flags, const char* page_path, lab_error* why )
{
    if ( flags->svg_folder == NULL )
    {
        return true;
    }
    // What the child prints must not come before what stands in our buffer.
    fflush( stdout );
    return svg_export( page_path, flags->svg_folder, why );
}

// The page does not say where files are.
static void tell_names( const text_list* paths )
{
    for ( uint32_t index = 0; index < paths->count; ++index )
    {
        char* name = report_data_file_name( paths, index );
        if ( !text_ends_with( paths->items[index], name ) )
        {
            lab_note( "%s is called %s on the page", paths->items[index], name );
        }
        free( name );
    }
}

static bool report( void* user, text_list* paths, lab_error* why )
{
    const report_flags* flags = user;
    report_data data;
    if ( flags->output == NULL && flags->svg_folder == NULL )
    {
        return lab_error_write(
            why, "report: where to? name a page with -o report.html, or a folder with --svg plots" );
    }
    if ( !report_data_read( &data, paths, flags->device, why ) )
    {
        return false;
    }
    // The script that draws the plots is in the page, so there is one even if only plots are wanted.
    char* page_path = flags->output != NULL ? text_copy( flags->output )
                                            : text_format( "%s/report.html", flags->svg_folder );
    bool good = ( flags->svg_folder == NULL || make_folder( flags->svg_folder, why ) ) &&
        report_page_write( page_path, data.json, why );
    if ( good )
    {
        printf( "%s: %" PRIu32 " run%s of %" PRIu32 " file%s\n", page_path, data.run_count,
            data.run_count == 1 ? "" : "s", paths->count, paths->count == 1 ? "" : "s" );
        tell_names( paths );
        good = write_plots( flags, page_path, why );
    }
    free( page_path );
    report_data_free( &data );
    return good;
}

lab_status command_report( int argc, char** argv )
{
    report_flags flags = { 0 };
    const args_flag list[] = {
        ARGS_ROW_OUTPUT( &flags.output, "FILE", "the page to write" ),
        ARGS_ROW_TEXT( "--svg", &flags.svg_folder, "DIR",
            "write every plot as an SVG file too (needs node); without -o the page is DIR/report.html" ),
        ARGS_ROW_TEXT( "--device", &flags.device, "NAME",
            "of runs on a GPU only those on a device with NAME in its name (default all)" ),
    };
    const args_table table = {
        .command = "report",
        .usage = "RESULTS.json… -o FILE.html [--svg DIR] [--device NAME]",
        .about =
            "Make one page of results: sortable tables, time against size, all scenes at once, the spread over\n"
            "frames and the course of a run, stages, memory, parameters, whether hashes agree, failures, machine.\n"
            "The page needs nothing but itself: it opens from disk, without a network. Several files are merged.",
        .notes =
            "RESULTS are files that `cleave bench --json`, `cleave run --json` and `cleave-mpi bench --json` write.",
        .example = "  cleave bench brownian-free -n 1k,4k,16k -m cleave,kd,sap --json results.json\n"
                   "  cleave report results.json -o report.html",
        ARGS_FLAGS( list ),
        .operand_name = "a RESULTS.json",
        .operand_least = 1,
        .operand_most = UINT32_MAX,
    };
    return args_run( &table, argc, argv, report, &flags );
}
