// SPDX-License-Identifier: MIT
#include "lab/replay/replay.h"

#include "cleave/record.h"
#include "lab/base/terminal.h"
#include "lab/base/text.h"
#include "space/space_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

clv_space_def replay_brute( void )
{
    clv_space_def def = clv_default_space_def();
    def.method = "brute";
    return def;
}

// ---- which pair it is

static void keep_boxes( const clv_space* space, clv_pair pair, clv_aabb boxes[2] )
{
    boxes[0] = player_box( space, clv_space_id_at( space, pair.a ), ( clv_aabb ){ 0 } );
    boxes[1] = player_box( space, clv_space_id_at( space, pair.b ), ( clv_aabb ){ 0 } );
}

static void compare_lists( const replay_player* tested, const replay_player* twin, replay_report* report )
{
    verdict_list expected = { 0 }, found = { 0 };
    clv_pair_view right = clv_space_pairs( twin->space ), seen = clv_space_pairs( tested->space );
    verdict_list_set( &expected, right.pairs, right.count );
    verdict_list_set( &found, seen.pairs, seen.count );
    verdict_list_sort( &expected );
    verdict_list_sort( &found );
    report->pair = verdict_compare( &expected, &found, UINT32_MAX );
    report->has_pair = report->pair.fault != VERDICT_FINE;
    keep_boxes( twin->space, report->pair.pair, report->boxes );
    verdict_list_free( &expected );
    verdict_list_free( &found );
}

// ---- one after the other

typedef struct replay_state
{
    const recording* source;
    const replay_def* def;
    replay_player tested, twin;
    replay_report* report;
} replay_state;

static void differ( replay_state* state, uint64_t index, bool by_twin )
{
    state->report->differs = true;
    state->report->by_twin = by_twin;
    state->report->call = index;
}

static bool play_one( replay_state* state, uint64_t index, lab_error* why )
{
    const recorded_call* call = &state->source->calls[index];
    const replay_def* def = state->def;
    replay_report* report = state->report;
    record_answer found, right;
    if ( !player_can_play( call ) )
    {
        report->skipped += 1;
        return true;
    }
    if ( !player_play( &state->tested, call, &found, why ) ||
        ( def->with_twin && !player_play( &state->twin, call, &right, why ) ) )
    {
        return false;
    }
    report->played += 1;
    bool is_told = def->with_answers && call->has_answer;
    report->compared += is_told || def->with_twin;
    if ( is_told &&
        answers_differ( call, &call->answer, &found, def->with_order, report->what, sizeof( report->what ) ) )
    {
        differ( state, index, false );
    }
    else if ( def->with_twin &&
        answers_differ( call, &right, &found, false, report->what, sizeof( report->what ) ) )
    {
        differ( state, index, true );
    }
    else if ( is_told && state->tested.asked_unknown )
    {
        snprintf( report->what, sizeof( report->what ),
            "a callback was asked about objects that it was not asked about when this was recorded" );
        differ( state, index, false );
    }
    if ( report->differs && def->with_twin && call->call.kind == SPACE_CALL_UPDATE )
    {
        compare_lists( &state->tested, &state->twin, report );
    }
    return true;
}

static bool play_all( replay_state* state, lab_error* why )
{
    progress_bar bar;
    uint64_t count = state->source->call_count;
    bool good = true;
    if ( state->def->shows_progress )
    {
        progress_begin( &bar, "replay", "calls", count );
    }
    for ( uint64_t i = 0; i < count && good && !state->report->differs; ++i )
    {
        good = play_one( state, i, why );
        if ( state->def->shows_progress )
        {
            progress_show( &bar, i + 1 );
        }
    }
    if ( state->def->shows_progress )
    {
        progress_end( &bar );
    }
    return good;
}

bool replay_run( const recording* source, const replay_def* def, replay_report* report, lab_error* why )
{
    replay_state state = { .source = source, .def = def, .report = report };
    memset( report, 0, sizeof( *report ) );
    bool good = player_begin( &state.tested, source, &def->as, def->is_numbered, why ) &&
        ( !def->with_twin || player_begin( &state.twin, source, &def->twin, def->is_numbered, why ) ) &&
        play_all( &state, why );
    player_end( &state.tested );
    player_end( &state.twin );
    return good;
}

// ---- numbered objects

// What a slot's object is called, while calls are copied.
typedef struct numbering
{
    uint32_t* numbers; ///< by slot
    uint64_t room;
    uint32_t count; ///< of objects so far
} numbering;

static void number_new( numbering* all, clv_id made, clv_id* name )
{
    while ( all->room <= made.index )
    {
        *lab_list_next( all->numbers, all->room ) = UINT32_MAX;
    }
    all->numbers[made.index] = all->count;
    *name = ( clv_id ){ all->count++, PLAYER_OBJECT };
}

static uint32_t number_of( const numbering* all, uint32_t slot )
{
    return slot < all->room ? all->numbers[slot] : UINT32_MAX;
}

// Before the call is made: who its ids name.
static void number_ids(
    const numbering* all, const replay_player* player, recorded_call* call, recording* out )
{
    clv_id* ids = recording_take( out, call->call.count, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < call->call.count; ++i )
    {
        clv_id id = call->call.ids[i];
        ids[i] = clv_space_contains( player->space, id )
            ? ( clv_id ){ number_of( all, id.index ), PLAYER_OBJECT }
            : id;
    }
    call->call.ids = ids;
}

static void number_answers(
    const numbering* all, const recorded_call* from, recorded_call* call, recording* out )
{
    clv_pair* decided = recording_take( out, from->decided_count, sizeof( clv_pair ) );
    for ( uint64_t i = 0; i < from->decided_count; ++i )
    {
        decided[i] =
            ( clv_pair ){ number_of( all, from->decided[i].a ), number_of( all, from->decided[i].b ) };
    }
    call->decided = decided;
    call->counted = lab_take( from->counted_count, sizeof( space_counted ) );
    for ( uint64_t i = 0; i < from->counted_count; ++i )
    {
        call->counted[i] = from->counted[i];
        call->counted[i].slot = number_of( all, from->counted[i].slot );
    }
}

// Plays a call and copies it with numbers for ids. Those that were refused are left out: they changed
// nothing.
static bool copy_numbered(
    replay_player* player, numbering* all, const recorded_call* from, recording* out, lab_error* why )
{
    recorded_call call = *from;
    record_answer answer;
    space_call_form form = clv_record_kind( call.call.kind )->form;
    call.wants_ids = true;
    if ( form == SPACE_ABOUT_OBJECTS )
    {
        number_ids( all, player, &call, out );
    }
    recorded_call with_ids = *from;
    with_ids.wants_ids = true;
    if ( !player_play( player, &with_ids, &answer, why ) )
    {
        return false;
    }
    if ( form == SPACE_ABOUT_NEW )
    {
        clv_id* names = recording_take( out, call.call.count, sizeof( clv_id ) );
        for ( uint32_t i = 0; i < call.call.count && answer.result == CLV_OK; ++i )
        {
            number_new( all, player->made[i], &names[i] );
        }
        call.call.ids = names;
    }
    if ( answer.result == CLV_OK || answer.result == CLV_STOPPED || form >= SPACE_ABOUT_PAIRS )
    {
        number_answers( all, from, &call, out );
        *lab_list_next( out->calls, out->call_count ) = call;
    }
    return true;
}

void recording_copy_head( const recording* source, recording* out )
{
    memset( out, 0, sizeof( *out ) );
    out->def = source->def;
    memcpy( out->method, source->method, sizeof( out->method ) );
    memcpy( out->settings, source->settings, sizeof( out->settings ) );
    out->has_filter = source->has_filter;
}

bool recording_number_objects( const recording* source, uint64_t last, recording* out, lab_error* why )
{
    replay_player player;
    numbering all = { 0 };
    clv_space_def brute = replay_brute();
    recording_copy_head( source, out );
    bool good = player_begin( &player, source, &brute, false, why );
    for ( uint64_t i = 0; i < source->call_count && i <= last && good; ++i )
    {
        good = !player_can_play( &source->calls[i] ) ||
            copy_numbered( &player, &all, &source->calls[i], out, why );
    }
    player_end( &player );
    free( all.numbers );
    return good;
}

// ---- written down again

bool recording_write( const recording* source, const char* path, lab_error* why )
{
    replay_player player;
    clv_space_def brute = replay_brute();
    clv_recorder_def def = clv_default_recorder_def();
    clv_recorder* recorder = NULL;
    record_answer answer;
    def.path = path;
    bool good = player_begin( &player, source, &brute, true, why );
    if ( good )
    {
        player.space->tap = NULL; // the recorder listens in the player's place
        clv_result result =
            clv_record_create_as( &def, player.space, source->method, source->settings, &recorder );
        good = result == CLV_OK || lab_error_write( why, "%s: %s", path, clv_result_text( result ) );
    }
    for ( uint64_t i = 0; i < source->call_count && good; ++i )
    {
        good = player_play( &player, &source->calls[i], &answer, why );
    }
    clv_result closed = clv_recorder_close( recorder );
    if ( good && closed != CLV_OK )
    {
        good = lab_error_write( why, "%s: %s", path, clv_result_text( closed ) );
    }
    player_end( &player );
    return good;
}

// ---- frames

// A recording that is being gone through, without its searches.
typedef struct frames_state
{
    recording source;
    replay_player player;
    bool is_open;
    uint64_t next; ///< call
    uint32_t done; ///< frames so far
    clv_aabb* boxes;
    uint32_t slot_count;
} frames_state;

static bool is_update( const recorded_call* call )
{
    return call->call.kind == SPACE_CALL_UPDATE || call->call.kind == SPACE_CALL_VISIT;
}

static bool restart( frames_state* state, lab_error* why )
{
    clv_space_def def = clv_default_space_def();
    def.method = "brute";
    player_end( &state->player );
    state->next = 0;
    state->done = 0;
    return player_begin( &state->player, &state->source, &def, false, why );
}

// Calls up to the next update, which is not made.
static bool go_on( frames_state* state, lab_error* why )
{
    record_answer answer;
    bool good = true;
    while (
        good && state->next < state->source.call_count && !is_update( &state->source.calls[state->next] ) )
    {
        const recorded_call* call = &state->source.calls[state->next++];
        bool asks = clv_record_kind( call->call.kind )->form >= SPACE_ABOUT_PAIRS;
        good = asks || !player_can_play( call ) || player_play( &state->player, call, &answer, why );
    }
    state->next += 1;
    state->done += 1;
    return good;
}

// Where there is no object its box shrinks to the point where it was last.
static clv_aabb box_of( const clv_space* space, uint32_t slot, clv_aabb last )
{
    last.upper = last.lower;
    return player_box( space, clv_space_id_at( space, slot ), last );
}

static bool read_frame( void* data, uint32_t frame, clv_aabb* boxes, lab_error* why )
{
    frames_state* state = data;
    bool good = frame + 1 >= state->done || restart( state, why );
    while ( good && state->done <= frame )
    {
        good = go_on( state, why );
        for ( uint32_t i = 0; i < state->slot_count && good; ++i )
        {
            state->boxes[i] = box_of( state->player.space, i, state->boxes[i] );
        }
    }
    if ( good )
    {
        memcpy( boxes, state->boxes, state->slot_count * sizeof( clv_aabb ) );
    }
    return good;
}

static void close_frames( void* data )
{
    frames_state* state = data;
    player_end( &state->player );
    recording_free( &state->source );
    free( state->boxes );
    free( state );
}

static void widen( clv_aabb* world, clv_aabb box )
{
    float* lower = &world->lower.x;
    float* upper = &world->upper.x;
    const float* from = &box.lower.x;
    const float* to = &box.upper.x;
    for ( int axis = 0; axis < 3; ++axis )
    {
        lower[axis] = isfinite( from[axis] ) ? fminf( lower[axis], from[axis] ) : lower[axis];
        upper[axis] = isfinite( to[axis] ) ? fmaxf( upper[axis], to[axis] ) : upper[axis];
    }
}

// How many frames and objects there are, and where.
static bool survey( frames_state* state, scene_header* header, lab_error* why )
{
    uint64_t updates = 0;
    for ( uint64_t i = 0; i < state->source.call_count; ++i )
    {
        updates += is_update( &state->source.calls[i] );
    }
    header->world = ( clv_aabb ){ { FLT_MAX, FLT_MAX, FLT_MAX }, { -FLT_MAX, -FLT_MAX, -FLT_MAX } };
    bool good = restart( state, why );
    while ( good && state->done < updates )
    {
        good = go_on( state, why );
        uint32_t slots = clv_space_stats( state->player.space ).slot_count;
        for ( uint32_t i = 0; i < slots; ++i )
        {
            clv_id id = clv_space_id_at( state->player.space, i );
            if ( !clv_id_is_null( id ) )
            {
                widen( &header->world, box_of( state->player.space, i, ( clv_aabb ){ 0 } ) );
            }
        }
        state->slot_count = slots > state->slot_count ? slots : state->slot_count;
    }
    if ( good && ( updates < 2 || state->slot_count == 0 || updates > INT32_MAX ) )
    {
        return lab_error_write( why, "a recording to look at needs objects and two updates" );
    }
    header->object_count = state->slot_count;
    header->frame_count = (uint32_t)updates - 1;
    return good;
}

bool recording_frames_open( frame_source* source, const char* path, lab_error* why )
{
    frames_state* state = lab_take( 1, sizeof( frames_state ) );
    memset( source, 0, sizeof( *source ) );
    bool good = recording_read( path, &state->source, why ) && survey( state, &source->header, why ) &&
        restart( state, why );
    if ( !good )
    {
        close_frames( state );
        return false;
    }
    snprintf( source->header.name, sizeof( source->header.name ), "%.100s", text_base_name( path ) );
    snprintf( source->header.type, sizeof( source->header.type ), "recording" );
    state->boxes = lab_take( state->slot_count, sizeof( clv_aabb ) );
    for ( uint32_t i = 0; i < state->slot_count; ++i )
    {
        state->boxes[i].lower = state->boxes[i].upper = source->header.world.lower;
    }
    source->state = state;
    source->read = read_frame;
    source->close = close_frames;
    return true;
}
