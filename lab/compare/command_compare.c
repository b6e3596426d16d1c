// SPDX-License-Identifier: MIT
#include "lab/args.h"
#include "lab/commands.h"
#include "lab/compare/comparison.h"
#include "lab/text_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct compare_flags
{
    double bound_percent;
    bool all;
} compare_flags;

// ---- who was compared

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
    if ( load >= 0 )
    {
        printf( ", load %.1f", load );
    }
    printf( "\n" );
}

static void note_machines( const run_results* a, const run_results* b )
{
    if ( strcmp( machine_text( a, "cpu" ), machine_text( b, "cpu" ) ) != 0 )
    {
        complaint_note( "the files are from different processors: their times say little about the program" );
    }
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

// ---- the table

static void add_ms( text_table* table, const run_result* run )
{
    if ( run == NULL )
    {
        text_table_add( table, "-" );
    }
    else if ( run->status != RUN_OK )
    {
        text_table_add( table, "%s", run_status_name( run->status ) );
    }
    else
    {
        text_table_add( table,
            run->ms_median < 1         ? "%.4f"
                : run->ms_median < 100 ? "%.3f"
                                       : "%.1f",
            run->ms_median );
    }
}

static void add_row( text_table* table, const comparison_row* row )
{
    const run_result* run = row->a != NULL ? row->a : row->b;
    char size[TEXT_SIZE_ROOM];
    text_table_add( table, "%s", comparison_verdict_name( row->verdict ) );
    text_table_add( table, "%.100s %.60s", run->scene, run->type );
    text_table_add( table, "%s", text_size( run->object_count, size ) );
    text_table_add( table, "%.60s@%.20s", run->method, run->variant );
    text_table_add( table, "%" PRIu32, run->thread_count );
    text_table_add( table, "%.100s", run->settings != NULL ? run->settings : "" );
    add_ms( table, row->a );
    add_ms( table, row->b );
    if ( row->time.ratio > 0 )
    {
        text_table_add( table, "%.3f", row->time.ratio );
        text_table_add( table, "%.3f .. %.3f", row->time.low, row->time.high );
    }
    else
    {
        text_table_add( table, "-" );
        text_table_add( table, "-" );
    }
}

static bool is_worth_a_row( const comparison_row* row, bool all )
{
    return all || ( row->verdict != COMPARISON_SAME && row->verdict != COMPARISON_NEITHER );
}

static void print_table( const comparison* all, bool shows_all )
{
    text_table table;
    uint32_t shown = 0;
    text_table_begin(
        &table, "verdict|scene|>objects|method|>threads|settings|>A ms|>B ms|>B / A|>99 % of draws" );
    for ( uint32_t index = 0; index < all->count; ++index )
    {
        if ( is_worth_a_row( &all->rows[index], shows_all ) )
        {
            add_row( &table, &all->rows[index] );
            shown += 1;
        }
    }
    if ( shown > 0 )
    {
        printf( "\n" );
        text_table_print( &table, stdout );
        return;
    }
    text_list_free( &table.cells );
}

static void print_reasons( const comparison* all )
{
    for ( uint32_t index = 0; index < all->count; ++index )
    {
        const comparison_row* row = &all->rows[index];
        char a[RESULTS_HASH_ROOM], b[RESULTS_HASH_ROOM];
        if ( row->verdict == COMPARISON_OTHER_PAIRS )
        {
            printf( "OTHER PAIRS: %s@%s on %" PRIu32
                    " objects of %s: hash %s in A, %s in B; one of them is wrong\n",
                row->a->method, row->a->variant, row->a->object_count, row->a->scene,
                results_hash( row->a->pairs_hash, a ), results_hash( row->b->pairs_hash, b ) );
        }
        else if ( row->verdict == COMPARISON_BROKEN )
        {
            printf( "BROKEN: %s@%s on %" PRIu32 " objects of %s: %s: %s\n", row->b->method, row->b->variant,
                row->b->object_count, row->b->scene, run_status_name( row->b->status ), row->b->reason );
        }
    }
}

static void print_counts( const comparison* all, double bound_percent )
{
    const uint32_t* counts = all->counts;
    printf( "\n%" PRIu32 " compared: %" PRIu32 " the same within the noise, %" PRIu32 " faster, %" PRIu32
            " slower, %" PRIu32 " of them by more than %g %%",
        all->count - counts[COMPARISON_ONLY_A] - counts[COMPARISON_ONLY_B] - counts[COMPARISON_NEITHER],
        counts[COMPARISON_SAME], counts[COMPARISON_FASTER],
        counts[COMPARISON_SLOWER] + counts[COMPARISON_REGRESSED], counts[COMPARISON_REGRESSED],
        bound_percent );
    static const comparison_verdict others[] = { COMPARISON_OTHER_PAIRS, COMPARISON_BROKEN, COMPARISON_MENDED,
        COMPARISON_NEITHER, COMPARISON_ONLY_A, COMPARISON_ONLY_B };
    for ( size_t index = 0; index < sizeof( others ) / sizeof( others[0] ); ++index )
    {
        if ( counts[others[index]] > 0 )
        {
            printf( "; %" PRIu32 " %s", counts[others[index]], comparison_verdict_name( others[index] ) );
        }
    }
    printf( "\n" );
}

// ---- all together

static lab_status compare(
    const compare_flags* flags, const text_list* paths, run_results* a, run_results* b )
{
    complaint why;
    if ( !results_read_file( paths->items[0], a, &why ) || !results_read_file( paths->items[1], b, &why ) )
    {
        return complaint_print( &why );
    }
    comparison all;
    comparison_make( &all, a, b, flags->bound_percent );
    bool has_common = all.count > all.counts[COMPARISON_ONLY_A] + all.counts[COMPARISON_ONLY_B];
    if ( !has_common )
    {
        comparison_free( &all );
        return complain( "%s and %s: no run is in both; measure the same scenes, methods and frames twice",
            paths->items[0], paths->items[1] );
    }
    print_head( "A", paths->items[0], a );
    print_head( "B", paths->items[1], b );
    note_machines( a, b );
    if ( most_passes( a ) < 3 || most_passes( b ) < 3 )
    {
        complaint_note(
            "fewer than three passes tell little about the noise: measure with --repeat 3 or --rounds 5" );
    }
    print_table( &all, flags->all );
    print_reasons( &all );
    print_counts( &all, flags->bound_percent );
    lab_status status = comparison_is_bad( &all ) ? LAB_DISAGREES : LAB_DONE;
    comparison_free( &all );
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
            "bound, broke, or found other pairs; exit 2 if a file cannot be read. Runs in one file alone are listed.",
        .example = "  cleave run quick --rounds 5 --json before.json\n"
                   "  cleave run quick --rounds 5 --json after.json\n"
                   "  cleave compare before.json after.json --bound 3",
        .flags = list,
        .flag_count = sizeof( list ) / sizeof( list[0] ),
        .operand_name = "file of results",
        .operand_least = 2,
        .operand_most = 2,
    };
    complaint why;
    text_list operands = { 0 };
    run_results a = { 0 }, b = { 0 };
    args_answer answer = args_read( &table, argc, argv, &operands, &why );
    lab_status status = answer == ARGS_OK ? compare( &flags, &operands, &a, &b )
        : answer == ARGS_BAD              ? complaint_print( &why )
                                          : LAB_DONE;
    run_results_free( &a );
    run_results_free( &b );
    text_list_free( &operands );
    return status;
}
