// SPDX-License-Identifier: MIT
#include "lab/base/text_table.h"
#include "lab/compare/comparison.h"

#include <inttypes.h>
#include <stdio.h>

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

static void add_row( text_table* table, const comparison_row* row )
{
    const run_result* run = row->a != NULL ? row->a : row->b;
    char size[TEXT_SIZE_ROOM];
    text_table_add( table, "%s%s", comparison_verdict_name( row->verdict ), row->is_doubtful ? "?" : "" );
    text_table_style( table, style_of( row->verdict ) );
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
    text_table_leave_out( &table, "threads|99 % of draws|A ms|B ms|settings" );
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
    text_table_free( &table );
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
