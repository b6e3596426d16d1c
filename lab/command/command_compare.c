// SPDX-License-Identifier: MIT
#include "lab/base/args.h"
#include "lab/command/commands.h"
#include "lab/compare/comparison.h"

#include <inttypes.h>
#include <stdio.h>

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

static lab_status compare(
    const compare_flags* flags, const text_list* paths, run_results* a, run_results* b )
{
    lab_error why;
    if ( !results_read_file( paths->items[0], a, &why ) || !results_read_file( paths->items[1], b, &why ) )
    {
        return lab_error_print( &why );
    }
    comparison all;
    comparison_make( &all, a, b, flags->bound_percent );
    bool has_common = all.count > all.counts[COMPARISON_ONLY_A] + all.counts[COMPARISON_ONLY_B];
    if ( !has_common )
    {
        comparison_free( &all );
        return lab_fail( "%s and %s: no run is in both; measure the same scenes, methods and frames twice",
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
    lab_status status = comparison_is_bad( &all ) ? LAB_DISAGREES : LAB_DONE;
    comparison_free( &all );
    return status;
}

static lab_status run( void* flags, text_list* operands )
{
    run_results a = { 0 }, b = { 0 };
    lab_status status = compare( flags, operands, &a, &b );
    run_results_free( &a );
    run_results_free( &b );
    return status;
}

lab_status command_compare( int argc, char** argv )
{
    compare_flags flags = { .bound_percent = 5 };
    const args_flag list[] = {
        { "--bound", 0, ARGS_NUMBER, &flags.bound_percent, "PERCENT",
            "slower by more is a regression (default 5)", 0, 1000000 },
        { "--all", 0, ARGS_SWITCH, &flags.all, NULL, "show what stayed the same too", 0, 0 },
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
    return args_run( &table, argc, argv, run, &flags );
}
