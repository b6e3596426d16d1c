// SPDX-License-Identifier: MIT
// Fewer and fewer: whole stretches of calls, objects and entries are left out, half of them first, and what
// still differs from brute force goes on (Zeller and Hildebrandt, Simplifying and Isolating
// Failure-Inducing Input, 2002).
#include "lab/base/terminal.h"
#include "lab/base/text.h"
#include "lab/replay/replay.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct shrinking
{
    const clv_space_def* as;
    recording base; ///< all of it; what callbacks said stays here
    recording now;  ///< the smallest that differs so far
    uint64_t trials;
    progress_bar bar;
} shrinking;

// ---- a recording without some of it

// The entries of a batch that stay.
static void copy_entries(
    const recorded_call* from, const uint8_t* keeps, recorded_call* call, recording* out )
{
    uint32_t kept = 0, count = from->call.count;
    clv_id* ids = recording_take( out, count, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        ids[kept] = from->call.ids[i];
        kept += keeps[i];
    }
    call->call.ids = ids;
    call->call.count = kept;
    for ( uint32_t column = 0; column < SPACE_COLUMN_COUNT; ++column )
    {
        const char* data = record_column_of( &from->call.with, column );
        size_t size = (size_t)clv_record_columns[column].unit * clv_record_columns[column].units;
        char* copy = data != NULL ? recording_take( out, count, size ) : NULL;
        for ( uint32_t i = 0, at = 0; i < count && data != NULL; ++i )
        {
            if ( keeps[i] )
            {
                memcpy( copy + size * at++, data + size * i, size );
            }
        }
        record_set_column( &call->call.with, column, copy );
    }
}

static bool is_batch( const recorded_call* call )
{
    space_call_form form = clv_record_kind( call->call.kind )->form;
    return form == SPACE_ABOUT_NEW || form == SPACE_ABOUT_OBJECTS;
}

// What is cut: calls, objects or entries of batches. Bit arrays would save nothing here.
typedef enum cut_kind
{
    CUT_CALLS,
    CUT_OBJECTS,
    CUT_ENTRIES,
} cut_kind;

static uint64_t object_count_of( const recording* source )
{
    uint64_t most = 0;
    for ( uint64_t c = 0; c < source->call_count; ++c )
    {
        const space_call* call = &source->calls[c].call;
        bool is_new = clv_record_kind( call->kind )->form == SPACE_ABOUT_NEW;
        for ( uint32_t i = 0; i < call->count && is_new; ++i )
        {
            most = call->ids[i].index >= most ? call->ids[i].index + (uint64_t)1 : most;
        }
    }
    return most;
}

// Entries that may go alone: an object that is added stays as long as it is an object.
static uint32_t loose_entries( const recorded_call* call )
{
    return clv_record_kind( call->call.kind )->form == SPACE_ABOUT_OBJECTS ? call->call.count : 0;
}

static uint64_t entry_count_of( const recording* source )
{
    uint64_t count = 0;
    for ( uint64_t c = 0; c < source->call_count; ++c )
    {
        count += loose_entries( &source->calls[c] );
    }
    return count;
}

// Which entries of a batch stay; `first` is the number of its first loose entry.
static uint8_t* choose_entries(
    const recorded_call* call, cut_kind kind, const uint8_t* keeps, uint64_t keep_count, uint64_t first )
{
    uint8_t* stay = lab_take( call->call.count, 1 );
    for ( uint32_t i = 0; i < call->call.count; ++i )
    {
        clv_id id = call->call.ids[i];
        bool is_object = id.generation == PLAYER_OBJECT;
        stay[i] = kind == CUT_OBJECTS ? !is_object || ( id.index < keep_count && keeps[id.index] )
            : kind == CUT_ENTRIES && loose_entries( call ) > 0 ? keeps[first + i]
                                                               : 1;
    }
    return stay;
}

// `keeps` says of each part whether it stays; NULL: all do.
static void copy_without(
    const recording* source, cut_kind kind, const uint8_t* keeps, uint64_t keep_count, recording* out )
{
    uint64_t entry = 0;
    recording_copy_head( source, out );
    for ( uint64_t c = 0; c < source->call_count; ++c )
    {
        const recorded_call* from = &source->calls[c];
        recorded_call call = *from;
        if ( kind == CUT_CALLS && keeps != NULL && !keeps[c] )
        {
            continue;
        }
        if ( is_batch( from ) && from->call.count > 0 )
        {
            uint8_t* stay = choose_entries( from, kind, keeps, keep_count, entry );
            copy_entries( from, stay, &call, out );
            free( stay );
            entry += loose_entries( from );
            if ( call.call.count == 0 )
            {
                continue;
            }
        }
        call.counted = lab_take( from->counted_count, sizeof( space_counted ) );
        if ( from->counted_count > 0 )
        {
            memcpy( call.counted, from->counted, (size_t)from->counted_count * sizeof( space_counted ) );
        }
        *lab_list_next( out->calls, out->call_count ) = call;
    }
}

// ---- does it still differ?

static bool still_differs( shrinking* shrink, const recording* candidate )
{
    lab_error why;
    replay_report report;
    replay_def def = { .as = *shrink->as, .twin = replay_brute(), .is_numbered = true, .with_twin = true };
    def.as.settings = candidate->settings[0] != '\0' ? candidate->settings : shrink->as->settings;
    shrink->trials += 1;
    progress_show( &shrink->bar, shrink->trials );
    return replay_run( candidate, &def, &report, &why ) && report.differs;
}

static bool try_without( shrinking* shrink, cut_kind kind, const uint8_t* keeps, uint64_t count )
{
    recording candidate;
    copy_without( &shrink->now, kind, keeps, count, &candidate );
    bool differs = still_differs( shrink, &candidate );
    if ( differs )
    {
        recording_free( &shrink->now );
        shrink->now = candidate;
    }
    else
    {
        recording_free( &candidate );
    }
    return differs;
}

static uint64_t part_count( const shrinking* shrink, cut_kind kind )
{
    return kind == CUT_CALLS  ? shrink->now.call_count
        : kind == CUT_OBJECTS ? object_count_of( &shrink->now )
                              : entry_count_of( &shrink->now );
}

// Pieces of half the parts, then of a quarter, … of one. True if anything could be left out.
static bool cut_parts( shrinking* shrink, cut_kind kind )
{
    bool any = false;
    uint64_t count = part_count( shrink, kind );
    for ( uint64_t piece = count / 2 > 0 ? count / 2 : 1; count > 0; piece /= 2 )
    {
        for ( uint64_t first = 0; first < count; )
        {
            uint8_t* keeps = lab_take( count, 1 );
            memset( keeps, 1, (size_t)count );
            uint64_t end = first + piece < count ? first + piece : count;
            memset( keeps + first, 0, (size_t)( end - first ) );
            bool is_cut = try_without( shrink, kind, keeps, count );
            free( keeps );
            any = any || is_cut;
            // Numbers of objects stay, those of calls and entries close up.
            first = is_cut && kind != CUT_OBJECTS ? first : end;
            count = is_cut ? part_count( shrink, kind ) : count;
        }
        if ( piece == 1 )
        {
            break;
        }
    }
    return any;
}

// Objects that no add brings any more leave gaps among the numbers; without gaps there is less to try.
static void close_gaps( shrinking* shrink )
{
    uint64_t count = object_count_of( &shrink->now );
    uint32_t* names = lab_take( count, sizeof( uint32_t ) );
    uint32_t next = 0;
    memset( names, 0xFF, (size_t)count * sizeof( uint32_t ) );
    for ( uint64_t c = 0; c < shrink->now.call_count; ++c )
    {
        recorded_call* call = &shrink->now.calls[c];
        bool is_new = clv_record_kind( call->call.kind )->form == SPACE_ABOUT_NEW;
        clv_id* ids =
            is_batch( call ) ? recording_take( &shrink->now, call->call.count, sizeof( clv_id ) ) : NULL;
        for ( uint32_t i = 0; ids != NULL && i < call->call.count; ++i )
        {
            ids[i] = call->call.ids[i];
            if ( is_new )
            {
                names[ids[i].index] = next++;
            }
            if ( ids[i].generation == PLAYER_OBJECT )
            {
                ids[i].index = ids[i].index < count ? names[ids[i].index] : UINT32_MAX;
            }
        }
        call->call.ids = ids != NULL ? ids : call->call.ids;
    }
    free( names );
}

// Below a few objects the default method searches by brute force itself: then none could be left out.
static void try_setting( shrinking* shrink, const char* setting )
{
    char before[sizeof( shrink->now.settings )];
    memcpy( before, shrink->now.settings, sizeof( before ) );
    size_t length = strlen( before );
    snprintf(
        shrink->now.settings + length, sizeof( before ) - length, "%s%s", length > 0 ? "," : "", setting );
    if ( strcmp( shrink->now.method, "cleave" ) != 0 || !still_differs( shrink, &shrink->now ) )
    {
        memcpy( shrink->now.settings, before, sizeof( before ) );
    }
}

static bool first_difference(
    const recording* source, const clv_space_def* as, uint64_t* call, lab_error* why )
{
    replay_report report;
    replay_def def = { .as = *as, .twin = replay_brute(), .with_twin = true, .shows_progress = true };
    if ( !replay_run( source, &def, &report, why ) )
    {
        return false;
    }
    *call = report.call;
    return report.differs ||
        lab_error_write(
            why, "replay: --shrink: %s answers as brute force does, so nothing is to be shrunk", as->method );
}

bool recording_shrink( const recording* source, const clv_space_def* as, recording* out, lab_error* why )
{
    shrinking shrink = { .as = as };
    uint64_t last = 0;
    if ( !first_difference( source, as, &last, why ) ||
        !recording_number_objects( source, last, &shrink.base, why ) )
    {
        return false;
    }
    copy_without( &shrink.base, CUT_CALLS, NULL, 0, &shrink.now );
    snprintf( shrink.now.method, sizeof( shrink.now.method ), "%s", as->method );
    snprintf(
        shrink.now.settings, sizeof( shrink.now.settings ), "%s", as->settings != NULL ? as->settings : "" );
    progress_begin( &shrink.bar, "shrink", "trials", 0 );
    if ( !still_differs( &shrink, &shrink.now ) )
    {
        progress_end( &shrink.bar );
        recording_free( &shrink.now );
        recording_free( &shrink.base );
        return lab_error_write(
            why, "replay: --shrink: without the calls that were refused nothing differs" );
    }
    try_setting( &shrink, "cleave.few=0" );
    for ( bool any = true; any; )
    {
        any = cut_parts( &shrink, CUT_CALLS );
        any = cut_parts( &shrink, CUT_OBJECTS ) || any;
        close_gaps( &shrink );
        any = cut_parts( &shrink, CUT_ENTRIES ) || any;
    }
    progress_end( &shrink.bar );
    *out = shrink.now;
    for ( uint64_t i = 0; i < shrink.base.block_count; ++i )
    {
        *lab_list_next( out->blocks, out->block_count ) = shrink.base.blocks[i];
    }
    shrink.base.block_count = 0;
    recording_free( &shrink.base );
    return true;
}
