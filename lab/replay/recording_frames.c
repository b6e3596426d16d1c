// SPDX-License-Identifier: MIT
#include "lab/replay/recording_frames.h"

#include "lab/base/text.h"
#include "lab/replay/replay.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

// A box in float; where there is no object it shrinks to the point where it was last.
static clv_aabb box_of( const clv_space* space, uint32_t slot, clv_aabb last )
{
    clv_id id = clv_space_id_at( space, slot );
    clv_aabb box;
    clv_aabb2 flat;
    clv_aabb64 wide;
    if ( clv_space_get_box( space, id, &box ) == CLV_OK )
    {
        return box;
    }
    if ( clv_space_get_box2( space, id, &flat ) == CLV_OK )
    {
        return ( clv_aabb ){ { flat.lower.x, flat.lower.y, 0 }, { flat.upper.x, flat.upper.y, 0 } };
    }
    if ( clv_space_get_box64( space, id, &wide ) == CLV_OK )
    {
        return ( clv_aabb ){ { (float)wide.lower.x, (float)wide.lower.y, (float)wide.lower.z },
            { (float)wide.upper.x, (float)wide.upper.y, (float)wide.upper.z } };
    }
    last.upper = last.lower;
    return last;
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
