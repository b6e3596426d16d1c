// SPDX-License-Identifier: MIT
// The way of a frame: boxes to the device, a way chosen, its search put into the queue, its counters read,
// and whatever the list had no room for searched again.
#include "gpu_state.h"

#include "base/assertion.h"
#include "base/fp_mode.h"

#include <string.h>

enum
{
    COOKIE = 0x47505531,
    FEW = 4096,            // up to so many boxes every pair is tested: measured on the H200
    TILE_PAIRS = 256 * 32, // pairs that one unit of the tiles may give
    MOVER_PAIRS = 64 * 63 / 2,
};

// ---- defs

clv_gpu_def clv_default_gpu_def( void )
{
    clv_gpu_def def = {
        .size = sizeof( clv_gpu_def ),
        .cookie = COOKIE,
        .few = FEW,
        .pair_capacity = 1 << 16,
        .event_capacity = 1 << 12,
        .axis_frames = 32,
        .cache = true,
    };
    return def;
}

static const char* why_bad( const clv_gpu_def* def )
{
    return def->cookie != COOKIE || def->size != sizeof( clv_gpu_def ) ? "start from clv_default_gpu_def()"
        : (unsigned)def->way > CLV_GPU_LBVH                            ? "def.way is not a clv_gpu_way"
        : def->axis_frames == 0                                        ? "axis_frames is 0"
        : ( def->allocator.allocate == NULL ) != ( def->allocator.release == NULL )
        ? "an allocator has both functions or none"
        : NULL;
}

static clv_result refuse_def( const clv_gpu_def* def, clv_result result, const char* text )
{
    bool may_tell = def->cookie == COOKIE && def->size == sizeof( clv_gpu_def ) && def->logger.write != NULL;
    if ( may_tell )
    {
        def->logger.write( CLV_LOG_ERROR, text, def->logger.user );
    }
    return result;
}

static clv_result create( const clv_gpu_def* def, uint32_t index, const clv_gpu* beside, clv_gpu** gpu )
{
    base_memory memory = clv_base_memory_make( def->allocator );
    clv_gpu* self = clv_base_memory_take( &memory, 1, sizeof( clv_gpu ) );
    if ( self == NULL )
    {
        return refuse_def( def, CLV_OUT_OF_MEMORY, clv_result_text( CLV_OUT_OF_MEMORY ) );
    }
    CLV_ASSERT( beside == NULL || ( beside->is_open && beside->queue == def->queue ) );
    memset( self, 0, sizeof( *self ) );
    self->memory = memory;
    self->def = *def;
    self->def.device = NULL; // the caller's text may die
    self->device_index = index;
    self->beside = beside;
    clv_result result = clv_gpu_open( self );
    if ( result != CLV_OK )
    {
        clv_gpu_destroy( self );
        return result;
    }
    *gpu = self;
    return CLV_OK;
}

clv_result clv_gpu_create( const clv_gpu_def* def, clv_gpu** gpu )
{
    CLV_ASSERT( def != NULL && gpu != NULL );
    char text[512] = "";
    uint32_t index = 0;
    *gpu = NULL;
    if ( why_bad( def ) != NULL )
    {
        return refuse_def( def, CLV_BAD_DEF, why_bad( def ) );
    }
    clv_result result = def->queue != NULL
        ? CLV_OK
        : clv_gpu_device_choose( def->device, def->cache, &index, text, sizeof( text ) );
    if ( result != CLV_OK )
    {
        return refuse_def( def, result == CLV_BAD_ARGUMENT ? CLV_BAD_DEF : result, text );
    }
    return create( def, index, NULL, gpu );
}

clv_result clv_gpu_create_beside( const clv_gpu* other, const clv_gpu_def* def, clv_gpu** gpu )
{
    *gpu = NULL;
    return create( def, other->device_index, other, gpu );
}

void clv_gpu_destroy( clv_gpu* gpu )
{
    if ( gpu == NULL )
    {
        return;
    }
    while ( gpu->taken != NULL )
    {
        clv_gpu_host_give( gpu, gpu->taken->data );
    }
    clv_gpu_close( gpu );
    if ( gpu->guest != NULL )
    {
        gpu->guest->leave( gpu );
    }
    base_memory memory = gpu->memory; // it lies in what is given back
    clv_base_memory_give( &memory, gpu, 1, sizeof( clv_gpu ) );
    CLV_ASSERT( memory.bytes == 0 );
}

// ---- counters

clv_result clv_gpu_read_slot( clv_gpu* gpu, const gpu_buffer* slots, uint32_t slot, gpu_counters* counters )
{
    CLV_ASSERT( gpu_holds( slots, (uint64_t)slot + 1, sizeof( uint32_t[SLOT_WORDS] ) ) );
    uint32_t words[SLOT_WORDS];
    clv_result result = clv_gpu_read( gpu, slots->memory, slot * sizeof( words ), words, sizeof( words ) );
    if ( result == CLV_OK )
    {
        *counters = ( gpu_counters ){
            .pair_count = words[SLOT_PAIRS] | (uint64_t)words[SLOT_PAIRS + 1] << 32,
            .test_count = words[SLOT_TESTS] | (uint64_t)words[SLOT_TESTS + 1] << 32,
            .cell_squares = words[SLOT_CELLS] | (uint64_t)words[SLOT_CELLS + 1] << 32,
            .placed_count = words[SLOT_PLACED],
            .large_count = words[SLOT_LARGE],
            .bad = words[SLOT_BAD],
            .moved_count = words[SLOT_MOVED],
            .side = words[SLOT_SIDE],
            .kept_count = words[SLOT_KEPT],
            .carry_count = words[SLOT_CARRY],
            .left_count = words[SLOT_LEFT],
            .changed_count = words[SLOT_CHANGED],
            .work = words[SLOT_WORK],
        };
    }
    return result;
}

clv_result clv_gpu_read_counters( clv_gpu* gpu, const gpu_frame* frame, gpu_counters* counters )
{
    CLV_ASSERT( frame->slot < GPU_SLOTS );
    clv_result result = clv_gpu_read_slot( gpu, &gpu->buffers.slots, frame->slot, counters );
    if ( result == CLV_OK && frame->rests )
    {
        counters->moved_count += counters->carry_count + counters->left_count;
    }
    return result;
}

clv_result clv_gpu_write_counters( clv_gpu* gpu, const gpu_counters* counters )
{
    CLV_ASSERT( gpu->frame.slot < GPU_SLOTS && counters->pair_count + counters->test_count == 0 );
    const uint32_t words[SLOT_WORDS] = {
        [SLOT_CELLS] = (uint32_t)counters->cell_squares,
        [SLOT_CELLS + 1] = (uint32_t)( counters->cell_squares >> 32 ),
        [SLOT_PLACED] = counters->placed_count,
        [SLOT_LARGE] = counters->large_count,
        [SLOT_BAD] = counters->bad,
        [SLOT_MOVED] = counters->moved_count,
        [SLOT_SIDE] = counters->side,
        [SLOT_KEPT] = counters->kept_count,
    };
    return clv_gpu_write(
        gpu, gpu->buffers.slots.memory, gpu->frame.slot * sizeof( words ), words, sizeof( words ), true );
}

// Before a search is done once more: pairs and tests from 0; what the preparation counted stays.
static clv_result reset_counters( clv_gpu* gpu )
{
    CLV_ASSERT( !gpu->frame.rests ); // resting frames have other words in their slot
    gpu_counters kept = gpu->counters;
    kept.pair_count = kept.test_count = 0;
    kept.bad = 0;
    kept.large_count = gpu->frame.way == CLV_GPU_SAP ? 0 : kept.large_count; // that list is the search's own
    return clv_gpu_write_counters( gpu, &kept );
}

// Where no kernel does it.
static clv_result clear_next_slot( clv_gpu* gpu )
{
    static const uint32_t s_zeros[SLOT_WORDS];
    CLV_ASSERT( gpu->next_slot < GPU_SLOTS && gpu->buffers.slots.memory != NULL );
    return clv_gpu_write( gpu, gpu->buffers.slots.memory, gpu->next_slot * sizeof( s_zeros ), s_zeros,
        sizeof( s_zeros ), false );
}

// ---- one search

static clv_result prepare_way( clv_gpu* gpu, gpu_frame* frame )
{
    clv_result result = CLV_UNSUPPORTED;
    clv_gpu_way way = gpu->def.way;
    if ( gpu->is_guests )
    {
        frame->way = GPU_WAY_GUEST;
        return gpu->guest->prepare( gpu, frame );
    }
    if ( way == CLV_GPU_TILES || ( way == CLV_GPU_AUTO && frame->count <= gpu->def.few ) )
    {
        frame->way = CLV_GPU_TILES;
        return clv_gpu_tiles_prepare( gpu, frame );
    }
    if ( way == CLV_GPU_SAP )
    {
        frame->way = CLV_GPU_SAP;
        return clv_gpu_sap_prepare( gpu, frame );
    }
    if ( way != CLV_GPU_LBVH )
    {
        frame->way = CLV_GPU_GRID;
        result = clv_gpu_grid_prepare( gpu, frame );
    }
    if ( result == CLV_UNSUPPORTED )
    {
        frame->way = CLV_GPU_LBVH;
        result = clv_gpu_tree_prepare( gpu, frame );
    }
    return result;
}

// Plans are made of floats on the host; whatever modes the caller has, they raise nothing.
static clv_result prepare( clv_gpu* gpu, gpu_frame* frame )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = prepare_way( gpu, frame );
    base_fp_leave( mode );
    return result;
}

static clv_result find( clv_gpu* gpu, uint32_t first, uint32_t end )
{
    const gpu_frame* frame = &gpu->frame;
    CLV_ASSERT( gpu_may_find( gpu, frame, first, end ) );
    gpu->stats.search_count += 1;
    gpu->ahead.count = 0;
    return frame->way == CLV_GPU_TILES ? clv_gpu_tiles_find( gpu, frame, first, end )
        : frame->way == CLV_GPU_GRID   ? clv_gpu_grid_find( gpu, frame, first, end )
        : frame->way == CLV_GPU_SAP    ? clv_gpu_sap_find( gpu, frame, first, end )
        : frame->way == GPU_WAY_GUEST  ? gpu->guest->find( gpu, frame, first, end )
                                       : clv_gpu_tree_find( gpu, frame, first, end );
}

// Kernels are told in 32 bits how many fit.
static clv_result reserve_pairs( clv_gpu* gpu, uint64_t count )
{
    count = count < UINT32_MAX ? count : UINT32_MAX;
    if ( gpu->buffers.pairs.memory != NULL && gpu->pair_room >= count )
    {
        return CLV_OK;
    }
    gpu->pair_room = 0;
    clv_result result = clv_gpu_reserve( gpu, &gpu->buffers.pairs, count * sizeof( clv_pair ) );
    gpu->pair_room = result == CLV_OK ? count : 0;
    CLV_ASSERT( result != CLV_OK || gpu_holds( &gpu->buffers.pairs, count, sizeof( clv_pair ) ) );
    return result;
}

// The next update begins anew: on a device opened again where this one failed, and with all of its memory
// where that lacked. The list that events go on from stays on a device that still answers.
clv_result clv_gpu_end_failed( clv_gpu* gpu, clv_result result )
{
    CLV_ASSERT( result != CLV_OK );
    clv_gpu_events_begin( gpu ); // where nothing had begun yet: events go on from the last good update
    gpu->has_list = false;
    gpu->is_pending = false;
    gpu->stats.pair_count = 0;
    // What resting takes is a luxury: where it may have been too much, the next try does without.
    gpu->has_no_room_to_rest = gpu->has_no_room_to_rest ||
        ( result == CLV_OUT_OF_MEMORY && ( gpu->rest.tracks || gpu->rest.wants_order ) );
    clv_gpu_rest_forget( gpu );
    if ( result == CLV_DEVICE_FAILED || gpu->queue == NULL )
    {
        clv_gpu_close( gpu );
    }
    else if ( result == CLV_OUT_OF_MEMORY )
    {
        clv_gpu_empty( gpu );
    }
    CLV_VALIDATE( clv_gpu_frame_check( gpu ) == NULL );
    return result;
}

// Bad boxes are found by the device, which reads them all anyway.
static clv_result check_boxes( clv_gpu* gpu, const gpu_frame* frame )
{
    CLV_ASSERT( frame->boxes != NULL && frame->count > 0 );
    return GPU_LAUNCH( gpu, GPU_KERNEL_check_boxes, frame->count, frame->boxes, frame->count,
        gpu->buffers.slots, frame->slot );
}

// What is kept from frame to frame is found by the slot of the frame before, and slots come round: one of
// another kind ends it.
static void end_chains( clv_gpu* gpu )
{
    gpu->grid.kept_slot = 0;
    gpu->rest.slot = 0;
    gpu->rest.sample_slot = 0;
}

// What the caller asked for the first list to take, as far as the device has it.
static uint64_t first_room( const clv_gpu* gpu )
{
    uint64_t most = clv_gpu_list_most( gpu ) / sizeof( clv_pair );
    return gpu->def.pair_capacity < most ? gpu->def.pair_capacity : most;
}

// An update that was refused leaves the device open, and the counters of the next one were not cleared.
static clv_result give_up( clv_gpu* gpu, clv_result result )
{
    clv_gpu_end_failed( gpu, result );
    clv_result cleared = gpu->buffers.slots.memory != NULL ? clear_next_slot( gpu ) : CLV_OK;
    return cleared == CLV_OK ? result : clv_gpu_end_failed( gpu, cleared );
}

static clv_result begin( clv_gpu* gpu, cl_mem boxes, uint32_t count, bool is_checked )
{
    CLV_ASSERT( gpu->is_open && gpu->queue != NULL && gpu->buffers.slots.memory != NULL );
    CLV_ASSERT( count <= CLV_MAX_OBJECTS && ( boxes != NULL || count == 0 ) );
    bool is_before = clv_gpu_events_begin( gpu );
    gpu->has_list = false;
    gpu->is_piecewise = false;
    gpu->is_chunked = false;
    gpu->stats.pair_count = 0;
    gpu->frame = ( gpu_frame ){ .boxes = boxes, .count = count, .slot = gpu->next_slot };
    if ( count < ( is_checked ? 1 : 2 ) )
    {
        gpu->frame.way = gpu->def.way == CLV_GPU_AUTO ? CLV_GPU_TILES : gpu->def.way;
        gpu->is_pending = true;
        end_chains( gpu );
        return CLV_OK;
    }
    gpu->next_slot = ( gpu->next_slot + 1 ) % GPU_SLOTS;
    uint64_t room = clv_gpu_rest_begin( gpu, is_before );
    clv_result result = reserve_pairs( gpu, room > 0 ? room : first_room( gpu ) );
    result = result == CLV_OK && is_checked ? check_boxes( gpu, &gpu->frame ) : result;
    gpu->is_chunked = count > clv_gpu_chunk_most( gpu ) && !gpu->is_guests; // that may be no boxes
    if ( result == CLV_OK && gpu->is_chunked )
    {
        gpu->frame.unit_count = 1;
        result = clear_next_slot( gpu ); // the search is the wait's
    }
    else if ( result == CLV_OK )
    {
        result = prepare( gpu, &gpu->frame );
        CLV_ASSERT( result != CLV_OK ||
            gpu->frame.unit_count > 0 ); // by which a wait knows that there is something to read
        GPU_THEN( result, find( gpu, 0, gpu->frame.unit_count ) );
    }
    if ( gpu->is_chunked || gpu->frame.way != CLV_GPU_GRID )
    {
        end_chains( gpu );
    }
    gpu->is_pending = result == CLV_OK;
    CLV_VALIDATE( result != CLV_OK || clv_gpu_frame_check( gpu ) == NULL );
    return result == CLV_OK ? result : give_up( gpu, result );
}

// ---- lists that were cut

uint64_t clv_gpu_list_most( const clv_gpu* gpu )
{
    uint64_t most = gpu->def.memory_most > 0 ? gpu->def.memory_most : gpu->device->facts.memory_bytes / 4;
    return most < gpu->device->allocation_most ? most : gpu->device->allocation_most;
}

// Pairs that one unit may give, so that pieces of one unit always fit. With the grid's first come those among
// the boxes that left their cells, which are at most 64, or one of 2,048 up to 4,096.
static uint64_t unit_pairs( const gpu_frame* frame )
{
    return frame->way == CLV_GPU_TILES ? TILE_PAIRS
        : frame->way == CLV_GPU_GRID   ? 2 * (uint64_t)frame->count + MOVER_PAIRS
                                       : frame->count;
}

static clv_result find_all( clv_gpu* gpu )
{
    if ( gpu->frame.rests ) // more may have left their cells than a search of all takes
    {
        return clv_gpu_grid_finish( gpu );
    }
    clv_result result = reset_counters( gpu );
    GPU_THEN( result, find( gpu, 0, gpu->frame.unit_count ) );
    return result == CLV_OK ? clv_gpu_read_counters( gpu, &gpu->frame, &gpu->counters ) : result;
}

// Room for all pairs and a quarter more where the device has it, and searched again; otherwise they will come
// in pieces.
static clv_result search_again( clv_gpu* gpu )
{
    uint64_t total = gpu->counters.pair_count;
    CLV_ASSERT( total > gpu->pair_room );
    uint64_t bytes = ( total + total / 4 ) * sizeof( clv_pair );
    bool fits = total * sizeof( clv_pair ) <= clv_gpu_list_most( gpu ) && total < UINT32_MAX;
    if ( fits )
    {
        bytes = bytes < clv_gpu_list_most( gpu ) ? bytes : total * sizeof( clv_pair );
        clv_result result = reserve_pairs( gpu, bytes / sizeof( clv_pair ) );
        CLV_ASSERT( result != CLV_OK || gpu->pair_room >= total ); // a second search is the last
        return result == CLV_OK ? find_all( gpu ) : result;
    }
    uint64_t room = clv_gpu_list_most( gpu ) / sizeof( clv_pair );
    room = room > unit_pairs( &gpu->frame ) ? room : unit_pairs( &gpu->frame );
    clv_result result = gpu->frame.rests ? clv_gpu_grid_finish( gpu ) : CLV_OK;
    gpu->is_piecewise = true;
    clv_gpu_rest_forget( gpu );
    return result == CLV_OK ? reserve_pairs( gpu, room ) : result;
}

static void keep_stats( clv_gpu* gpu )
{
    CLV_ASSERT( gpu->is_pending && !gpu->has_list );
    CLV_ASSERT( !gpu->is_chunked || gpu->is_piecewise );
    CLV_ASSERT( gpu->is_piecewise || gpu->counters.pair_count <= gpu->pair_room );
    gpu->has_list = true;
    gpu->is_pending = false;
    gpu->stats.way = gpu->frame.way == GPU_WAY_GUEST ? CLV_GPU_SAP : gpu->frame.way;
    gpu->stats.pair_count = gpu->counters.pair_count;
    gpu->stats.test_count = gpu->frame.way == CLV_GPU_TILES && gpu->frame.count > 0 && !gpu->is_chunked
        ? (uint64_t)gpu->frame.count * ( gpu->frame.count - 1 ) / 2
        : gpu->counters.test_count;
    gpu->stats.large_count = gpu->counters.large_count;
    gpu->stats.piece_count = 1;
    gpu->stats.update_count += 1;
    gpu->stats.device_bytes = gpu->device_bytes + ( gpu->inner != NULL ? gpu->inner->device_bytes : 0 );
}

// A frame that could not be searched for what changed alone is searched whole now.
static clv_result review_grid( clv_gpu* gpu )
{
    CLV_ASSERT( gpu->frame.way == CLV_GPU_GRID && !gpu->is_chunked );
    bool was_compared = gpu->frame.rests;
    bool is_done = was_compared && ( gpu->counters.work & WORK_UNDONE ) == 0;
    gpu_counters seen = gpu->counters;
    clv_result result = was_compared && !is_done && seen.bad == 0 ? clv_gpu_grid_finish( gpu ) : CLV_OK;
    if ( result == CLV_OK )
    {
        clv_gpu_grid_review( gpu, &gpu->counters );
        clv_gpu_rest_review( gpu, &seen, was_compared, is_done );
    }
    return result;
}

clv_result clv_gpu_wait( clv_gpu* gpu )
{
    CLV_ASSERT( gpu != NULL );
    gpu->error[0] = '\0';
    if ( !gpu->is_pending )
    {
        return CLV_OK;
    }
    CLV_ASSERT( gpu->is_open && !gpu->has_list );
    clv_result result = gpu->frame.unit_count == 0 ? CLV_OK : clv_gpu_fetch_ahead( gpu );
    gpu->counters = ( gpu_counters ){ 0 };
    result = result == CLV_OK && gpu->frame.unit_count > 0
        ? clv_gpu_read_counters( gpu, &gpu->frame, &gpu->counters )
        : result;
    bool is_grid = gpu->frame.way == CLV_GPU_GRID && gpu->frame.unit_count > 0 && !gpu->is_chunked;
    if ( result == CLV_OK && is_grid )
    {
        result = review_grid( gpu );
    }
    if ( result == CLV_OK && gpu->counters.bad != 0 )
    {
        clv_gpu_end_failed( gpu, CLV_BAD_BOX );
        return clv_gpu_fail( gpu, CLV_BAD_BOX, "box %u has a NaN, or its lower corner above its upper",
            UINT32_MAX - gpu->counters.bad );
    }
    if ( result == CLV_OK && gpu->is_chunked )
    {
        result = clv_gpu_chunks_count( gpu );
    }
    else if ( result == CLV_OK && gpu->counters.pair_count > gpu->pair_room )
    {
        uint64_t total = gpu->counters.pair_count;
        result = search_again( gpu );
        if ( result == CLV_OK && gpu->counters.pair_count != total )
        {
            result = clv_gpu_fail( gpu, CLV_DEVICE_FAILED,
                "%s found %llu pairs, and then %llu: boxes changed during the search, or the device is faulty",
                gpu->device->facts.name, (unsigned long long)total,
                (unsigned long long)gpu->counters.pair_count );
        }
    }
    result = result == CLV_OK && gpu->def.events ? clv_gpu_events_find( gpu ) : result;
    if ( result != CLV_OK )
    {
        return clv_gpu_end_failed( gpu, result );
    }
    keep_stats( gpu );
    CLV_VALIDATE( clv_gpu_frame_check( gpu ) == NULL );
    return CLV_OK;
}

// ---- updates

static clv_result refuse_count( clv_gpu* gpu, uint32_t count )
{
    clv_gpu_end_failed( gpu, CLV_TOO_MANY_OBJECTS );
    return clv_gpu_fail( gpu, CLV_TOO_MANY_OBJECTS, "%u boxes are more than %u", count, CLV_MAX_OBJECTS );
}

clv_result clv_gpu_enqueue( clv_gpu* gpu, void* buffer, uint32_t count )
{
    CLV_ASSERT( gpu != NULL && ( buffer != NULL || count == 0 ) );
    gpu->error[0] = '\0';
    if ( count > CLV_MAX_OBJECTS )
    {
        return refuse_count( gpu, count );
    }
    clv_result result = clv_gpu_open( gpu );
    return result == CLV_OK ? begin( gpu, buffer, count, false ) : result;
}

clv_result clv_gpu_guest_search( clv_gpu* gpu, cl_mem memory, uint32_t count )
{
    CLV_ASSERT( gpu->guest != NULL && ( memory != NULL || count == 0 ) );
    gpu->is_guests = true;
    clv_result result = begin( gpu, memory, count, false );
    gpu->is_guests = false;
    return result == CLV_OK ? clv_gpu_wait( gpu ) : result;
}

clv_result clv_gpu_update_buffer( clv_gpu* gpu, void* buffer, uint32_t count )
{
    clv_result result = clv_gpu_enqueue( gpu, buffer, count );
    return result == CLV_OK ? clv_gpu_wait( gpu ) : result;
}

// ---- boxes of the host. They stay as they are there until the update is done.

clv_result clv_gpu_send_boxes( clv_gpu* gpu, const clv_aabb* boxes, uint32_t count )
{
    uint64_t bytes = (uint64_t)count * sizeof( clv_aabb );
    gpu->staged_count = 0;
    clv_result result = clv_gpu_reserve( gpu, &gpu->buffers.boxes, bytes );
    if ( result == CLV_OK && count > 0 )
    {
        result = clv_gpu_write( gpu, gpu->buffers.boxes.memory, 0, boxes, (size_t)bytes, false );
    }
    gpu->staged_count = result == CLV_OK ? count : 0;
    return result == CLV_OK ? result : clv_gpu_end_failed( gpu, result );
}

static clv_result search_sent( clv_gpu* gpu, uint32_t count, bool is_checked )
{
    gpu->error[0] = '\0';
    CLV_ASSERT( gpu->staged_count == count && gpu_holds( &gpu->buffers.boxes, count, sizeof( clv_aabb ) ) );
    clv_result result = begin( gpu, gpu->buffers.boxes.memory, count, is_checked );
    return result == CLV_OK ? clv_gpu_wait( gpu ) : result;
}

// From memory that the device reads by itself.
static clv_result update_from( clv_gpu* gpu, const clv_aabb* boxes, uint32_t count )
{
    clv_result result = clv_gpu_send_boxes( gpu, boxes, count );
    return result == CLV_OK ? search_sent( gpu, count, true ) : result;
}

clv_result clv_gpu_stage( clv_gpu* gpu, uint32_t count, clv_aabb** boxes )
{
    clv_result result = clv_gpu_open( gpu );
    GPU_THEN( result, clv_gpu_host_reserve( gpu, &gpu->upload, (size_t)count * sizeof( clv_aabb ) ) );
    *boxes = gpu->upload.data;
    return result == CLV_OK ? result : clv_gpu_end_failed( gpu, result );
}

clv_result clv_gpu_send_staged( clv_gpu* gpu, uint32_t count )
{
    CLV_ASSERT( gpu->upload.bytes / sizeof( clv_aabb ) >= count ); // clv_gpu_stage made room
    return clv_gpu_send_boxes( gpu, gpu->upload.data, count );
}

clv_result clv_gpu_stage_changes( clv_gpu* gpu, uint32_t count, gpu_change** changes )
{
    CLV_ASSERT( gpu->is_open && count <= gpu->staged_count );
    clv_result result = clv_gpu_host_reserve( gpu, &gpu->upload, (size_t)count * sizeof( gpu_change ) );
    *changes = gpu->upload.data;
    return result == CLV_OK ? result : clv_gpu_end_failed( gpu, result );
}

clv_result clv_gpu_send_changes( clv_gpu* gpu, uint32_t count )
{
    gpu_buffers* b = &gpu->buffers;
    uint64_t bytes = (uint64_t)count * sizeof( gpu_change );
    CLV_ASSERT( count > 0 && count <= gpu->staged_count && gpu->upload.bytes >= bytes );
    clv_result result = clv_gpu_reserve( gpu, &b->changes, bytes );
    GPU_THEN( result, clv_gpu_write( gpu, b->changes.memory, 0, gpu->upload.data, (size_t)bytes, false ) );
    GPU_THEN( result, GPU_LAUNCH( gpu, GPU_KERNEL_patch_boxes, count, b->changes, count, b->boxes ) );
    return result == CLV_OK ? result : clv_gpu_end_failed( gpu, result );
}

clv_result clv_gpu_search_staged( clv_gpu* gpu, uint32_t count )
{
    return search_sent( gpu, count, false );
}

static bool is_taken( const clv_gpu* gpu, const clv_aabb* boxes, uint32_t count )
{
    uintptr_t begin_at = (uintptr_t)boxes;
    uintptr_t end_at = begin_at + (uintptr_t)count * sizeof( clv_aabb );
    for ( const gpu_host_block* block = gpu->taken; block != NULL; block = block->next )
    {
        uintptr_t first = (uintptr_t)block->data;
        if ( begin_at >= first && end_at <= first + block->bytes )
        {
            return true;
        }
    }
    return false;
}

clv_result clv_gpu_update( clv_gpu* gpu, const clv_aabb* boxes, uint32_t count )
{
    CLV_ASSERT( gpu != NULL && ( boxes != NULL || count == 0 ) );
    gpu->error[0] = '\0';
    if ( count > CLV_MAX_OBJECTS )
    {
        return refuse_count( gpu, count );
    }
    if ( gpu->is_open && is_taken( gpu, boxes, count ) )
    {
        clv_result opened = clv_gpu_open( gpu ); // it may have been emptied
        return opened == CLV_OK ? update_from( gpu, boxes, count ) : opened;
    }
    clv_aabb* staged = NULL;
    clv_result result = clv_gpu_stage( gpu, count, &staged );
    if ( result != CLV_OK )
    {
        return result;
    }
    if ( count > 0 )
    {
        memcpy( staged, boxes, (size_t)count * sizeof( clv_aabb ) );
    }
    return update_from( gpu, staged, count );
}

// ---- pairs

uint64_t clv_gpu_pair_count( const clv_gpu* gpu )
{
    return gpu->has_list ? gpu->counters.pair_count : 0;
}

void* clv_gpu_pair_buffer( const clv_gpu* gpu )
{
    return gpu->has_list && !gpu->is_piecewise ? gpu->buffers.pairs.memory : NULL;
}

// Units [*first, …) as far as the buffer reaches: halved until they fit.
static clv_result find_piece( clv_gpu* gpu, uint32_t first, uint32_t* step, gpu_counters* counters )
{
    for ( ;; )
    {
        CLV_ASSERT( *step > 0 && first < gpu->frame.unit_count );
        uint32_t end = gpu->frame.unit_count - first > *step ? first + *step : gpu->frame.unit_count;
        clv_result result = reset_counters( gpu );
        GPU_THEN( result, find( gpu, first, end ) );
        GPU_THEN( result, clv_gpu_read_counters( gpu, &gpu->frame, counters ) );
        if ( result != CLV_OK || counters->pair_count <= gpu->pair_room )
        {
            return result;
        }
        if ( *step == 1 )
        {
            return clv_gpu_fail( gpu, CLV_DEVICE_FAILED, "%s found %llu pairs where there can be %llu",
                gpu->device->facts.name, (unsigned long long)counters->pair_count,
                (unsigned long long)unit_pairs( &gpu->frame ) );
        }
        *step /= 2;
    }
}

static clv_result show_pieces( clv_gpu* gpu, clv_pair_visitor* visit, void* user )
{
    uint32_t step = gpu->frame.unit_count;
    CLV_ASSERT( gpu->is_piecewise && !gpu->is_chunked && gpu->pair_room >= unit_pairs( &gpu->frame ) );
    uint64_t seen = 0;
    clv_result result = CLV_OK;
    gpu->stats.piece_count = 0;
    for ( uint32_t first = 0; first < gpu->frame.unit_count && result == CLV_OK; )
    {
        gpu_counters counters = { 0 };
        result = find_piece( gpu, first, &step, &counters );
        GPU_THEN(
            result, clv_gpu_show_list( gpu, gpu->buffers.pairs.memory, counters.pair_count, visit, user ) );
        seen += counters.pair_count;
        first += gpu->frame.unit_count - first > step ? step : gpu->frame.unit_count - first;
        gpu->stats.piece_count += 1;
    }
    if ( result == CLV_OK && seen != gpu->counters.pair_count )
    {
        result = clv_gpu_fail( gpu, CLV_DEVICE_FAILED, "%llu pairs came in pieces of what were %llu",
            (unsigned long long)seen, (unsigned long long)gpu->counters.pair_count );
    }
    return result;
}

clv_result clv_gpu_read_pairs( clv_gpu* gpu, clv_pair_visitor* visit, void* user )
{
    CLV_ASSERT( gpu != NULL && visit != NULL );
    gpu->error[0] = '\0';
    if ( !gpu->has_list )
    {
        return CLV_OK;
    }
    CLV_ASSERT( !gpu->is_pending );
    clv_result result = gpu->is_chunked ? clv_gpu_chunks_read( gpu, visit, user )
        : gpu->is_piecewise
        ? show_pieces( gpu, visit, user )
        : clv_gpu_show_list( gpu, gpu->buffers.pairs.memory, gpu->counters.pair_count, visit, user );
    return result == CLV_OK || result == CLV_STOPPED ? result : clv_gpu_end_failed( gpu, result );
}

// ---- telling

clv_gpu_stats clv_gpu_get_stats( const clv_gpu* gpu )
{
    return gpu->stats;
}

const char* clv_gpu_error( const clv_gpu* gpu )
{
    return gpu->error;
}

clv_gpu_device clv_gpu_device_of( const clv_gpu* gpu )
{
    return gpu->device->facts;
}

void* clv_gpu_context( const clv_gpu* gpu )
{
    return gpu->context;
}

void* clv_gpu_queue( const clv_gpu* gpu )
{
    return gpu->queue;
}
