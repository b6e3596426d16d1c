// SPDX-License-Identifier: MIT
#include "lab/floors/race.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char* race_verdict_name( race_verdict verdict )
{
    static const char* const names[] = { "above", "BELOW", "no floor yet", "no rival", "OTHER PAIRS",
        "FAILED" };
    return names[verdict];
}

// The first part of the schedule that asked for it; bench knows none.
static const char* part_of( const run_result* run )
{
    const char* part = json_as_text( json_first( json_get( run->json, "parts" ) ) );
    return part != NULL ? part : "bench";
}

static bool is_same_text( const char* a, const char* b )
{
    return strcmp( a != NULL ? a : "", b != NULL ? b : "" ) == 0;
}

// Same boxes, same terms, same part: parts may look at different windows of one scene.
static bool is_same_row( const run_result* a, const run_result* b )
{
    return a->object_count == b->object_count && a->frame_count == b->frame_count && a->sorted == b->sorted &&
        a->events == b->events && a->thread_time == b->thread_time && strcmp( a->scene, b->scene ) == 0 &&
        strcmp( a->type, b->type ) == 0 && strcmp( part_of( a ), part_of( b ) ) == 0;
}

// Half the frames took at most that. Not the mean: a space that comes to rest searches for some frames before it does.
static double time_of( const run_result* run )
{
    if ( run->frame_ms == NULL || run->frame_count == 0 )
    {
        return run->ms_median;
    }
    double* least = lab_take( run->frame_count, sizeof( double ) );
    memcpy( least, run->frame_ms, run->frame_count * sizeof( double ) );
    double median = run_median( least, run->frame_count );
    free( least );
    return median;
}

// ---- the fastest

// True if all that ended found the pairs of ours.
static bool find_rival( race_row* row, const run_results* results )
{
    bool agree = true;
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* other = &results->items[index];
        if ( is_same_text( other->method, row->ours->method ) || other->status != RUN_OK ||
            !is_same_row( row->ours, other ) )
        {
            continue;
        }
        agree = agree && ( other->fat || other->pairs_hash == row->ours->pairs_hash );
        double ms = time_of( other );
        if ( row->rival == NULL || ms < row->rival_ms )
        {
            row->rival = other;
            row->rival_ms = ms;
        }
    }
    return agree;
}

static race_verdict judge( race_row* row, const run_results* results, floor_file* floors )
{
    const floor_row* stored = floor_file_find( floors, row->part, row->ours );
    row->floor = stored != NULL ? stored->floor : 0;
    if ( row->ours->status != RUN_OK )
    {
        return RACE_FAILED;
    }
    row->ours_ms = time_of( row->ours );
    bool agree = find_rival( row, results );
    if ( row->rival == NULL )
    {
        return RACE_NO_RIVAL;
    }
    // A measured time of 0 must not be divided by.
    row->ratio = row->rival_ms / ( row->ours_ms > 1e-9 ? row->ours_ms : 1e-9 );
    return !agree                 ? RACE_OTHER_PAIRS
        : row->floor <= 0         ? RACE_NO_FLOOR
        : row->ratio < row->floor ? RACE_BELOW
                                  : RACE_ABOVE;
}

void race_make( race* all, const run_results* results, const char* name, floor_file* floors )
{
    *all = ( race ){ 0 };
    all->rows = lab_take( results->count, sizeof( race_row ) );
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        if ( is_same_text( run->method, name ) )
        {
            race_row* row = &all->rows[all->count++];
            row->part = part_of( run );
            row->ours = run;
            row->verdict = judge( row, results, floors );
            all->counts[row->verdict] += 1;
        }
    }
}

void race_free( race* all )
{
    free( all->rows );
    *all = ( race ){ 0 };
}

bool race_is_bad( const race* all )
{
    return all->counts[RACE_BELOW] + all->counts[RACE_OTHER_PAIRS] + all->counts[RACE_FAILED] > 0;
}

// ---- raising

// Two digits are all a noisy machine knows; downwards, so that the same run passes.
static double round_down( double value )
{
    double unit = 0.01;
    while ( value >= 100 * unit )
    {
        unit *= 10;
    }
    double units = floor( value / unit * ( 1 + 1e-12 ) );
    return unit < 1 ? units / floor( 1 / unit + 0.5 ) : units * unit; // 0.29, not 0.28999999999999998
}

static bool has_ended( const run_results* results, const race_row* row, const char* name )
{
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        if ( run->status == RUN_OK && is_same_text( run->method, name ) && is_same_row( row->ours, run ) )
        {
            return true;
        }
    }
    return false;
}

static bool raise_row( const race_row* row, const run_results* results, double share, floor_file* floors )
{
    double floor = round_down( share * row->ratio );
    floor_row* stored = floor_file_find( floors, row->part, row->ours );
    bool is_like_before =
        stored == NULL || stored->rival[0] == '\0' || has_ended( results, row, stored->rival );
    if ( floor <= row->floor || !is_like_before )
    {
        return false;
    }
    stored = stored != NULL ? stored : floor_file_add( floors, row->part, row->ours );
    free( stored->rival );
    stored->rival = text_copy( row->rival->method );
    stored->floor = floor;
    return true;
}

uint32_t race_raise( const race* all, const run_results* results, double share, floor_file* floors )
{
    uint32_t raised = 0;
    for ( uint32_t index = 0; index < all->count; ++index )
    {
        const race_row* row = &all->rows[index];
        bool is_good = row->verdict == RACE_ABOVE || row->verdict == RACE_NO_FLOOR;
        raised += is_good && raise_row( row, results, share, floors ) ? 1 : 0;
    }
    return raised;
}
