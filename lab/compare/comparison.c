// SPDX-License-Identifier: MIT
#include "lab/compare/comparison.h"

#include <stdlib.h>
#include <string.h>

const char* comparison_verdict_name( comparison_verdict verdict )
{
    static const char* const names[] = { "same", "faster", "slower", "REGRESSED", "BROKEN", "mended",
        "OTHER PAIRS", "neither", "only in A", "only in B" };
    return names[verdict];
}

static bool is_same_text( const char* a, const char* b )
{
    return strcmp( a != NULL ? a : "", b != NULL ? b : "" ) == 0;
}

static bool is_same_run( const run_result* a, const run_result* b )
{
    return a->object_count == b->object_count && a->frame_count == b->frame_count &&
        a->thread_count == b->thread_count && a->sorted == b->sorted && a->events == b->events &&
        a->fat == b->fat && a->thread_time == b->thread_time && is_same_text( a->method, b->method ) &&
        is_same_text( a->variant, b->variant ) && is_same_text( a->settings, b->settings ) &&
        strcmp( a->scene, b->scene ) == 0 && strcmp( a->type, b->type ) == 0;
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
        ( all->doubts.machine[0] != '\0' || ( all->doubts.load[0] != '\0' && !row->a->thread_time ) );
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
