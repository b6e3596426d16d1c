// SPDX-License-Identifier: MIT
#include "gpu_state.h"

// ---- buffers

// Room for `count` items, which need no buffer where there are none.
static bool has_room( const gpu_buffer* buffer, uint64_t count, uint64_t item_bytes )
{
    return count == 0 || gpu_holds( buffer, count, item_bytes );
}

static const char* check_buffers( const clv_gpu* gpu )
{
    uint64_t sum = 0;
    bool are_whole = true;
#define CHECK_BUFFER( name )                                                                                 \
    are_whole = are_whole && ( gpu->buffers.name.memory != NULL ) == ( gpu->buffers.name.bytes > 0 );        \
    sum += gpu->buffers.name.bytes;
    GPU_BUFFERS( CHECK_BUFFER )
#undef CHECK_BUFFER
    const char* guests = gpu->guest != NULL ? gpu->guest->check( gpu, &sum ) : NULL;
    return guests != NULL         ? guests
        : !are_whole              ? "a buffer has bytes without memory, or memory without bytes"
        : sum > gpu->device_bytes ? "the buffers have more bytes than device_bytes says"
        : !gpu->is_open && ( sum > 0 || gpu->queue != NULL || gpu->context != NULL )
        ? "a device that is closed has memory, a queue or a context"
        : NULL;
}

// ---- lists

static const char* check_lists( const clv_gpu* gpu )
{
    const gpu_buffers* b = &gpu->buffers;
    return gpu->has_list && gpu->is_pending ? "there is a list while a frame is under way"
        : gpu->frame.slot >= GPU_SLOTS || gpu->next_slot >= GPU_SLOTS ? "there is no such slot of counters"
        : !has_room( &b->pairs, gpu->pair_room, sizeof( clv_pair ) )  ? "the list has less memory than room"
        : !has_room( &b->pairs_kept, gpu->rest.kept_room, sizeof( clv_pair ) )
        ? "the list that is kept has less memory than room"
        : gpu->has_list && gpu->is_chunked && !gpu->is_piecewise ? "boxes in blocks have a whole list"
        : gpu->has_list && !gpu->is_piecewise && gpu->counters.pair_count > gpu->pair_room
        ? "a whole list has more pairs than room"
        : gpu->ahead.count > gpu->download.bytes / sizeof( clv_pair )
        ? "more pairs were sent for than the host has room for"
        : NULL;
}

static bool is_table( uint32_t mask, const gpu_buffer* table )
{
    return ( mask & ( mask + 1 ) ) == 0 && gpu_holds( table, (uint64_t)mask + 1, sizeof( uint32_t ) );
}

static const char* check_events( const clv_gpu* gpu )
{
    const gpu_events* events = &gpu->events;
    const gpu_buffers* b = &gpu->buffers;
    return !has_room( &b->begun, events->rooms[0], sizeof( clv_pair ) ) ||
            !has_room( &b->ended, events->rooms[1], sizeof( clv_pair ) )
        ? "begun or ended pairs have less memory than room"
        : !has_room( &b->pairs_before, events->room_before, sizeof( clv_pair ) ) ||
            ( events->has_before && events->count_before > events->room_before )
        ? "the list before has less memory than room, or more pairs"
        : ( gpu->has_list && gpu->def.events && !is_table( events->mask, &b->pair_table ) ) ||
            ( events->has_before && !is_table( events->mask_before, &b->pair_table_before ) )
        ? "a table of pairs has another size than its mask"
        : NULL;
}

// ---- plans

static const char* check_grid( const clv_gpu* gpu )
{
    const gpu_grid_state* grid = &gpu->grid;
    const gpu_buffers* b = &gpu->buffers;
    uint64_t records = ( grid->keeps ? 2 : 1 ) * (uint64_t)gpu->frame.count;
    bool was_searched =
        gpu->has_list && gpu->frame.way == CLV_GPU_GRID && gpu->frame.unit_count > 0 && !gpu->is_chunked;
    if ( grid->kept_slot > GPU_SLOTS || grid->moved_most > GPU_LEFT_MOST )
    {
        return "an order is kept from no slot, or more boxes may leave their cells than are listed";
    }
    if ( grid->is_planned &&
        ( grid->level_count == 0 || grid->level_count > GRID_LEVELS ||
            grid->entry_count != grid->row_count * grid->pitch ) )
    {
        return "a grid has no level, or other entries than its rows";
    }
    if ( grid->is_planned &&
        ( !has_room( &b->counts, grid->entry_count, sizeof( uint32_t ) ) ||
            !has_room( &b->starts, grid->entry_count, sizeof( uint32_t ) ) ) )
    {
        return "the tables of a grid are shorter than its entries";
    }
    return was_searched && !has_room( &b->records, records, 32 ) ? "a grid has fewer records than boxes"
                                                                 : NULL;
}

static const char* check_other_plans( const clv_gpu* gpu )
{
    const gpu_sap_state* sap = &gpu->sap;
    const gpu_tree_state* tree = &gpu->tree;
    uint32_t axes = 1u << sap->axes[0] % 3 | 1u << sap->axes[1] % 3 | 1u << sap->axes[2] % 3;
    return sap->is_planned && ( axes != 7 || sap->sort_axis > AXIS_FREE )
        ? "a sweep is planned along an axis twice"
        : tree->is_planned && tree->count > 1 && ( tree->top == 0 || tree->node_count == 0 )
        ? "a tree is planned without nodes"
        : gpu->has_list && gpu->frame.way == CLV_GPU_LBVH && gpu->frame.unit_count > 0 && !gpu->is_chunked &&
            ( tree->count != gpu->frame.count || !has_room( &gpu->buffers.nodes, tree->node_count, 32 ) )
        ? "a tree was searched that is not that of the frame's boxes"
        : NULL;
}

// ---- rest

static const char* check_rest( const clv_gpu* gpu )
{
    const gpu_rest_state* rest = &gpu->rest;
    const gpu_buffers* b = &gpu->buffers;
    return rest->slot > GPU_SLOTS || rest->sample_slot > GPU_SLOTS ? "resting goes on from no slot"
        : rest->slot != 0 && !rest->tracks         ? "boxes were compared while none are to be"
        : rest->tracks && gpu->has_no_room_to_rest ? "boxes are compared though there is no room for that"
        : rest->slot != 0 &&
            ( !has_room( &b->boxes_before, rest->count, sizeof( clv_aabb ) ) ||
                !has_room( &b->where, rest->count, sizeof( uint32_t ) ) )
        ? "there are fewer boxes to compare with than were compared"
        : rest->wants_order && gpu->grid.is_planned && !gpu->grid.keeps
        ? "resting wants an order that the grid does not keep"
        : NULL;
}

const char* clv_gpu_frame_check( const clv_gpu* gpu )
{
    const char* message = check_buffers( gpu );
    message = message == NULL ? check_lists( gpu ) : message;
    message = message == NULL ? check_events( gpu ) : message;
    message = message == NULL ? check_grid( gpu ) : message;
    message = message == NULL ? check_other_plans( gpu ) : message;
    return message == NULL ? check_rest( gpu ) : message;
}
