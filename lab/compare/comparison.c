// SPDX-License-Identifier: MIT
#include "lab/compare/comparison.h"

#include "lab/base/random.h"
#include "lab/base/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- bootstrap

#define DRAW_COUNT 1000
#define OUTSIDE_PERCENT 0.5 // on either side

// The passes of a run; older results have the least of each frame alone.
typedef struct sample
{
    const double* ms;
    uint32_t pass_count;
} sample;

static sample sample_of( const run_result* run )
{
    bool has_passes = run->pass_ms != NULL && run->pass_count > 0;
    sample made = { has_passes ? run->pass_ms : run->frame_ms, has_passes ? run->pass_count : 1 };
    return made;
}

// splitmix64, from a fixed seed: the same files give the same verdict.
static uint32_t draw( uint64_t* state, uint32_t below )
{
    uint64_t drawn = random_mix( *state );
    *state += UINT64_C( 0x9E3779B97F4A7C15 );
    return (uint32_t)( drawn % below );
}

typedef struct draws
{
    uint32_t frame_count;
    uint64_t random;
    uint32_t* frames; ///< drawn
    uint32_t* passes; ///< drawn, for one run at a time
    double* scratch;  ///< of one frame, over the passes
    double ratios[DRAW_COUNT];
} draws;

// Sum over the drawn frames of the median over the drawn passes.
static double sum_medians( const draws* all, const sample* run )
{
    double sum = 0;
    for ( uint32_t index = 0; index < all->frame_count; ++index )
    {
        for ( uint32_t pass = 0; pass < run->pass_count; ++pass )
        {
            all->scratch[pass] = run->ms[(size_t)all->passes[pass] * all->frame_count + all->frames[index]];
        }
        sum += run_median( all->scratch, run->pass_count );
    }
    return sum;
}

static double draw_sum( draws* all, const sample* run )
{
    for ( uint32_t pass = 0; pass < run->pass_count; ++pass )
    {
        all->passes[pass] = draw( &all->random, run->pass_count );
    }
    return sum_medians( all, run );
}

static double plain_sum( draws* all, const sample* run )
{
    for ( uint32_t pass = 0; pass < run->pass_count; ++pass )
    {
        all->passes[pass] = pass;
    }
    return sum_medians( all, run );
}

// A measured time of 0 must not be divided by.
static double ratio_of( double a, double b )
{
    return a > 0 ? b / a : b > 0 ? 1e9 : 1;
}

static void draw_all( draws* all, const sample* a, const sample* b )
{
    for ( uint32_t round = 0; round < DRAW_COUNT; ++round )
    {
        for ( uint32_t index = 0; index < all->frame_count; ++index )
        {
            all->frames[index] = draw( &all->random, all->frame_count );
        }
        double sum_a = draw_sum( all, a );
        all->ratios[round] = ratio_of( sum_a, draw_sum( all, b ) );
    }
}

bootstrap_ratio bootstrap_compare( const run_result* a, const run_result* b )
{
    sample sample_a = sample_of( a ), sample_b = sample_of( b );
    uint32_t most = sample_a.pass_count > sample_b.pass_count ? sample_a.pass_count : sample_b.pass_count;
    draws* all = lab_take( 1, sizeof( draws ) );
    uint32_t* indices = lab_take( (uint64_t)a->frame_count + most, sizeof( uint32_t ) );
    double* scratch = lab_take( most, sizeof( double ) );
    *all = ( draws ){ .frame_count = a->frame_count,
        .random = 1,
        .frames = indices,
        .passes = indices + a->frame_count,
        .scratch = scratch };
    for ( uint32_t index = 0; index < all->frame_count; ++index )
    {
        all->frames[index] = index;
    }
    double sum_a = plain_sum( all, &sample_a );
    bootstrap_ratio answer = { .ratio = ratio_of( sum_a, plain_sum( all, &sample_b ) ) };
    draw_all( all, &sample_a, &sample_b );
    answer.low = run_percentile( all->ratios, DRAW_COUNT, OUTSIDE_PERCENT );
    answer.high = run_percentile( all->ratios, DRAW_COUNT, 100 - OUTSIDE_PERCENT );
    free( scratch );
    free( indices );
    free( all );
    return answer;
}

// ---- doubt

// Measuring itself makes a load of about one; two files of a quiet machine differ by no more.
#define LOAD_OF_OURS 1.0

static void doubt_machine( doubt* all, const json_value* a, const json_value* b )
{
    const char* cpu_a = json_as_text( json_get( a, "cpu" ) );
    const char* cpu_b = json_as_text( json_get( b, "cpu" ) );
    double cores_a = json_as_number( json_get( a, "cores" ) );
    double cores_b = json_as_number( json_get( b, "cores" ) );
    if ( cpu_a != NULL && cpu_b != NULL && strcmp( cpu_a, cpu_b ) != 0 )
    {
        snprintf( all->machine, sizeof( all->machine ), "A is from another processor than B: %.80s and %.80s",
            cpu_a, cpu_b );
    }
    else if ( cores_a > 0 && cores_b > 0 && cores_a != cores_b )
    {
        snprintf( all->machine, sizeof( all->machine ), "A had %.0f cores and B %.0f", cores_a, cores_b );
    }
}

// With more runnable processes than cores some of them wait; with fewer, memory and clock rate are still
// shared.
static bool is_crowded( double load, double cores )
{
    return load > cores + LOAD_OF_OURS / 2;
}

static void doubt_load( doubt* all, const json_value* a, const json_value* b )
{
    double load_a = json_as_number( json_get( a, "load" ) );
    double load_b = json_as_number( json_get( b, "load" ) );
    double cores_a = json_as_number( json_get( a, "cores" ) );
    double cores_b = json_as_number( json_get( b, "cores" ) );
    // Written so that what is missing, and so NaN, raises no doubt.
    bool is_other = fabs( load_a - load_b ) > LOAD_OF_OURS;
    if ( is_other || is_crowded( load_a, cores_a ) || is_crowded( load_b, cores_b ) )
    {
        char of_a[32] = "an unknown load", of_b[32] = "an unknown load";
        if ( load_a >= 0 )
        {
            snprintf( of_a, sizeof( of_a ), "a load of %.1f", load_a );
        }
        if ( load_b >= 0 )
        {
            snprintf( of_b, sizeof( of_b ), "a load of %.1f", load_b );
        }
        snprintf( all->load, sizeof( all->load ), "A was measured at %s and B at %s: others were at work",
            of_a, of_b );
    }
}

// Of the "machine" of two files of results; NULL, or members that are missing, give no reason.
static void doubt_find( doubt* all, const json_value* a, const json_value* b )
{
    *all = ( doubt ){ 0 };
    if ( a != NULL && b != NULL )
    {
        doubt_machine( all, a, b );
        doubt_load( all, a, b );
    }
}

// ---- comparison

// "same", "faster", …
static const char* comparison_verdict_name( comparison_verdict verdict )
{
    static const char* const names[] = { "same", "faster", "slower", "REGRESSED", "BROKEN", "mended",
        "OTHER PAIRS", "neither", "only in A", "only in B" };
    return names[verdict];
}

static bool is_same_run( const run_result* a, const run_result* b )
{
    return run_is_like( a, b ) && a->thread_count == b->thread_count && a->fat == b->fat &&
        text_is_same( a->method, b->method ) && text_is_same( a->variant, b->variant ) &&
        text_is_same( a->settings, b->settings );
}

static bool has_times( const run_result* run )
{
    return run->frame_count > 0 &&
        ( run->frame_ms != NULL || ( run->pass_ms != NULL && run->pass_count > 0 ) );
}

static comparison_verdict judge_time( const bootstrap_ratio* time, double bound_percent )
{
    if ( time->high < 1 )
    {
        return COMPARISON_FASTER;
    }
    if ( time->low > 1 )
    {
        return time->ratio > 1 + bound_percent / 100 ? COMPARISON_REGRESSED : COMPARISON_SLOWER;
    }
    return COMPARISON_SAME;
}

static void judge( comparison_row* row, double bound_percent )
{
    bool a_ok = row->a->status == RUN_OK && has_times( row->a );
    bool b_ok = row->b->status == RUN_OK && has_times( row->b );
    bool is_missing = row->a->status == RUN_UNAVAILABLE || row->b->status == RUN_UNAVAILABLE;
    if ( a_ok && b_ok )
    {
        row->time = bootstrap_compare( row->a, row->b );
        row->verdict = row->a->pairs_hash != row->b->pairs_hash ? COMPARISON_OTHER_PAIRS
                                                                : judge_time( &row->time, bound_percent );
        return;
    }
    row->verdict = is_missing || a_ok == b_ok ? COMPARISON_NEITHER
        : a_ok                                ? COMPARISON_BROKEN
                                              : COMPARISON_MENDED;
}

// Pairs, crashes and what is missing are no matter of a busy machine.
static bool is_doubtful( const comparison* all, const comparison_row* row )
{
    bool is_of_time = row->verdict == COMPARISON_SAME || row->verdict == COMPARISON_FASTER ||
        row->verdict == COMPARISON_SLOWER || row->verdict == COMPARISON_REGRESSED;
    return is_of_time &&
        ( all->doubts.machine[0] != '\0' ||
            ( all->doubts.load[0] != '\0' && !row->a->switches.thread_time ) );
}

static comparison_row* add_row( comparison* all, const run_result* a, const run_result* b )
{
    comparison_row* row = lab_list_next( all->rows, all->count );
    *row = ( comparison_row ){ .a = a, .b = b, .verdict = b == NULL ? COMPARISON_ONLY_A : COMPARISON_ONLY_B };
    return row;
}

// The first run of b like it that is not paired yet; a run may occur twice.
static const run_result* take_like( const run_result* run, const run_results* b, bool* is_taken )
{
    for ( uint32_t index = 0; index < b->count; ++index )
    {
        if ( !is_taken[index] && is_same_run( run, &b->items[index] ) )
        {
            is_taken[index] = true;
            return &b->items[index];
        }
    }
    return NULL;
}

// Trouble first, then by how much it changed, and otherwise as it stood.
static int compare_rows( const void* left, const void* right )
{
    static const int weights[COMPARISON_VERDICTS] = { 7, 6, 3, 2, 1, 5, 0, 8, 9, 10 };
    const comparison_row* x = left;
    const comparison_row* y = right;
    int by_weight = weights[x->verdict] - weights[y->verdict];
    if ( by_weight != 0 )
    {
        return by_weight;
    }
    double change_x = x->verdict == COMPARISON_FASTER ? -x->time.ratio : x->time.ratio;
    double change_y = y->verdict == COMPARISON_FASTER ? -y->time.ratio : y->time.ratio;
    if ( change_x != change_y )
    {
        return change_x < change_y ? 1 : -1;
    }
    const run_result* run_x = x->a != NULL ? x->a : x->b;
    const run_result* run_y = y->a != NULL ? y->a : y->b;
    return ( run_x > run_y ) - ( run_x < run_y );
}

void comparison_make( comparison* all, const run_results* a, const run_results* b, double bound_percent )
{
    *all = ( comparison ){ 0 };
    doubt_find( &all->doubts, a->machine, b->machine );
    bool* is_taken = lab_take( b->count, sizeof( bool ) );
    for ( uint32_t index = 0; index < a->count; ++index )
    {
        const run_result* like = take_like( &a->items[index], b, is_taken );
        comparison_row* row = add_row( all, &a->items[index], like );
        if ( like != NULL )
        {
            judge( row, bound_percent );
            row->is_doubtful = is_doubtful( all, row );
            all->doubtful_count += row->is_doubtful ? 1 : 0;
        }
    }
    for ( uint32_t index = 0; index < b->count; ++index )
    {
        if ( !is_taken[index] )
        {
            add_row( all, NULL, &b->items[index] );
        }
    }
    free( is_taken );
    for ( uint32_t index = 0; index < all->count; ++index )
    {
        all->counts[all->rows[index].verdict] += 1;
    }
    if ( all->count > 1 )
    {
        qsort( all->rows, all->count, sizeof( comparison_row ), compare_rows );
    }
}

void comparison_free( comparison* all )
{
    free( all->rows );
    *all = ( comparison ){ 0 };
}

bool comparison_is_bad( const comparison* all )
{
    return all->counts[COMPARISON_REGRESSED] + all->counts[COMPARISON_BROKEN] +
        all->counts[COMPARISON_OTHER_PAIRS] >
        0;
}

// ---- comparison print

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

static terminal_style style_of( comparison_verdict verdict )
{
    switch ( verdict )
    {
    case COMPARISON_FASTER:
    case COMPARISON_MENDED: return TERMINAL_GOOD;
    case COMPARISON_SLOWER: return TERMINAL_NOTE;
    case COMPARISON_REGRESSED:
    case COMPARISON_BROKEN:
    case COMPARISON_OTHER_PAIRS: return TERMINAL_BAD;
    default: return TERMINAL_PLAIN;
    }
}

static void add_printed_row( text_table* table, const comparison_row* row )
{
    const run_result* run = row->a != NULL ? row->a : row->b;
    text_table_add( table, "%s%s", comparison_verdict_name( row->verdict ), row->is_doubtful ? "?" : "" );
    text_table_style( table, style_of( row->verdict ) );
    text_table_add_cells( table, "%.100s %.60s\t%s\t%.60s@%.20s\t%" PRIu32 "\t%.100s", run->scene, run->type,
        text_size( run->object_count ).text, run->method, run->variant, run->thread_count,
        run->settings != NULL ? run->settings : "" );
    add_ms( table, row->a );
    add_ms( table, row->b );
    text_table_add_cells( table, row->time.ratio > 0 ? "%.3f\t%.3f .. %.3f" : "-\t-", row->time.ratio,
        row->time.low, row->time.high );
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
    text_table_leave_out( &table, "threads|99 % of draws|A ms|B ms|settings" );
    for ( uint32_t index = 0; index < all->count; ++index )
    {
        if ( is_worth_a_row( &all->rows[index], shows_all ) )
        {
            add_printed_row( &table, &all->rows[index] );
            shown += 1;
        }
    }
    if ( shown > 0 )
    {
        printf( "\n" );
        text_table_print( &table, stdout );
        return;
    }
    text_table_free( &table );
}

static void print_reasons( const comparison* all )
{
    for ( uint32_t index = 0; index < all->count; ++index )
    {
        const comparison_row* row = &all->rows[index];
        if ( row->verdict == COMPARISON_OTHER_PAIRS )
        {
            printf( "OTHER PAIRS: %s@%s on %" PRIu32
                    " objects of %s: hash %s in A, %s in B; one of them is wrong\n",
                row->a->method, row->a->variant, row->a->object_count, row->a->scene,
                results_hash( row->a->pairs_hash ).text, results_hash( row->b->pairs_hash ).text );
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

// In words, and what to do about it.
static void print_doubts( const comparison* all )
{
    if ( all->doubtful_count == 0 )
    {
        return;
    }
    const char* machine = all->doubts.machine;
    const char* load = all->doubts.load;
    printf(
        "DOUBTFUL, marked ?: %s%s%s.\nThe times may say more about that than about the program: measure both again on one "
        "quiet machine,\nor in turn with `cleave run SCHEDULE --rounds 5 --against PROGRAM`.\n",
        machine, machine[0] != '\0' && load[0] != '\0' ? "; " : "", load );
}

void comparison_print( const comparison* all, bool shows_all, double bound_percent )
{
    print_table( all, shows_all );
    print_reasons( all );
    print_counts( all, bound_percent );
    print_doubts( all );
}
