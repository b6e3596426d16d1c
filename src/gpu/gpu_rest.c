// SPDX-License-Identifier: MIT
// Worlds that mostly rest: only boxes that changed are searched for, and other pairs are carried over;
// kernels/rest.cl tells how. Here: when that is tried. A frame that searches all counts changed boxes in a
// sample; where they were few twice in a row, the frame after compares and enters. A frame that finds too
// many, or for which it does not do, is searched whole when it is waited for; twice within a few frames, and
// comparing ends for a while. Before too many have left their cells these are laid anew, in a frame that
// searches all.
#include "base/assertion.h"
#include "gpu_state.h"

#include <math.h>

enum
{
    // One box in so many may change and all be searched for alone; five eighths of that for it to begin,
    // since a sample tells. On an H200 with one in fifty it takes two thirds of the time of a search of all
    // where boxes are sparse.
    CHANGED_PART = 50,
    // More for each pair per box: all the others are carried over, and one that changed meets as many more.
    PAIRS_PART = 5,
    FULL_CELLS = 8,       // squares of what cells hold, per box, where larger ones may do
    ORDER_LEAST = 100000, // boxes whose order is kept for this alone
    CALM_MOST = 2,        // frames in a row before it begins,
    BUSY_MOST = 2,        // and before it ends,
    LASTS_LEAST = 8,      // unless there were so many good ones in between
    LEFT_TESTS = 4,       // per box of the world, of those that left their cells with each other,
    LEFT_LEAST = 65536,   // and some for small worlds
    TRY_AGAIN = 64,       // updates after which it is tried again,
    PAUSE_MOST = 4096,    // and after which at the latest
    GROUP_PAIRS = GPU_GROUP * REST_CARRIED, // that one group carries over at a time
    GROUP_BOXES = GPU_GROUP / REST_LANES,   // that one group searches for, as a rule
    CARRY_MOST = 2048,  // groups that carry over, and go on with as many pairs where there are more,
    GROUPS_MOST = 8192, // and that search
};

// Pairs of a list that is carried over; 16 GB.
#define LIST_MOST ( UINT32_C( 1 ) << 31 )

static uint32_t changed_part( const clv_gpu* gpu, uint64_t pairs, uint32_t count )
{
    uint64_t more = count > 0 ? pairs * PAIRS_PART / count : 0;
    uint32_t part = CHANGED_PART + (uint32_t)( more < 1000 ? more : 1000 );
    return gpu->grid_wish.rest_part > 0 ? gpu->grid_wish.rest_part : part;
}

// Of a small world all may change: it is not worth a rule.
static uint32_t changed_most( const clv_gpu* gpu, uint64_t pairs, uint32_t count )
{
    return count / changed_part( gpu, pairs, count ) + 64;
}

// Boxes that may have left their cells: each meets all others. Never fewer than a search of all bears, whose
// list it is too.
static uint32_t left_most( const clv_gpu* gpu, uint32_t count )
{
    double most = sqrt( (double)LEFT_TESTS * count + LEFT_LEAST );
    uint32_t least = gpu->grid.moved_most;
    CLV_ASSERT( least <= GPU_LEFT_MOST );
    return most >= GPU_LEFT_MOST ? GPU_LEFT_MOST : most < least ? least : (uint32_t)most;
}

bool clv_gpu_rest_is_chained( const clv_gpu* gpu, const gpu_frame* frame )
{
    uint32_t last_slot = gpu_last_slot( frame );
    CLV_ASSERT( last_slot < GPU_SLOTS && gpu->rest.slot <= GPU_SLOTS );
    return gpu->rest.slot == last_slot + 1 && gpu->rest.count == frame->count;
}

static void begin_anew( gpu_rest_state* rest )
{
    rest->slot = 0;
    rest->tracks = false;
    rest->calm_count = 0;
    rest->busy_count = 0;
    rest->frame_count = 0;
    rest->lays_anew = false;
}

void clv_gpu_rest_forget( clv_gpu* gpu )
{
    begin_anew( &gpu->rest );
    gpu->grid.is_planned = gpu->grid.is_planned && !gpu->rest.wants_order; // cells as they would be without
    gpu->rest.wants_order = false;
}

// Cells of twice the boxes' size and with slack, as for sparse ones: who moves shall not leave his at once,
// and few look into them.
gpu_grid_wish clv_gpu_rest_plan( clv_gpu* gpu )
{
    gpu_grid_wish wish = gpu->grid_wish;
    begin_anew( &gpu->rest );
    gpu->rest.tracks = gpu->rest.wants_order;
    if ( gpu->rest.wants_order )
    {
        wish.keeps = 1;
        wish.reach_x = 1;
        for ( int axis = 0; axis < 3; ++axis )
        {
            wish.factors[axis] = 1.8;
        }
    }
    return wish;
}

clv_result clv_gpu_rest_sample( clv_gpu* gpu, gpu_frame* frame )
{
    gpu_rest_state* rest = &gpu->rest;
    uint32_t last_slot = gpu_last_slot( frame );
    uint64_t groups = ( (uint64_t)frame->count + GPU_GROUP - 1 ) / GPU_GROUP;
    groups = ( groups + SAMPLED_OF_PLACED - 1 ) / SAMPLED_OF_PLACED;
    frame->is_sampled = rest->sample_slot == last_slot + 1 && rest->sample_count == frame->count;
    rest->sample_slot = frame->slot + 1;
    rest->sample_count = frame->count;
    return clv_gpu_reserve( gpu, &gpu->buffers.sampled, groups * GPU_GROUP * sizeof( clv_aabb ) );
}

// ---- lists

uint64_t clv_gpu_rest_begin( clv_gpu* gpu, bool is_before )
{
    gpu_rest_state* rest = &gpu->rest;
    gpu_buffers* b = &gpu->buffers;
    uint64_t before = gpu->events.room_before;
    if ( clv_gpu_rest_is_chained( gpu, &gpu->frame ) && !is_before )
    {
        uint64_t room = gpu->pair_room;
        gpu_swap( &b->pairs, &b->pairs_kept );
        gpu->pair_room = rest->kept_room;
        rest->kept_room = room;
    }
    CLV_ASSERT( gpu->pair_room == 0 || gpu_holds( &b->pairs, gpu->pair_room, sizeof( clv_pair ) ) );
    CLV_ASSERT( rest->kept_room == 0 || gpu_holds( &b->pairs_kept, rest->kept_room, sizeof( clv_pair ) ) );
    rest->source = is_before ? b->pairs_before.memory : b->pairs_kept.memory;
    rest->source_room = is_before ? before : rest->kept_room;
    uint64_t most = gpu->pair_room > before ? gpu->pair_room : before;
    return most > rest->kept_room ? most : rest->kept_room;
}

// ---- one frame

static clv_result reserve( clv_gpu* gpu, uint32_t count )
{
    gpu_buffers* b = &gpu->buffers;
    uint64_t groups = ( (uint64_t)count + GPU_GROUP - 1 ) / GPU_GROUP;
    clv_result result = clv_gpu_reserve( gpu, &b->boxes_before, (uint64_t)count * sizeof( clv_aabb ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->where, (uint64_t)count * sizeof( uint32_t ) ) );
    uint64_t changed = changed_most( gpu, 0, count ); // whatever pairs come
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->changed, changed * sizeof( uint32_t ) ) );
    return result == CLV_OK ? clv_gpu_reserve( gpu, &b->changed_bits, groups * GPU_GROUP / 8 ) : result;
}

clv_result clv_gpu_rest_enter( clv_gpu* gpu, const gpu_frame* frame )
{
    gpu_buffers* b = &gpu->buffers;
    gpu_rest_state* rest = &gpu->rest;
    if ( rest->slot != 0 &&
        rest->slot != frame->slot + 1 ) // boxes came or went: who does that may do it again
    {
        clv_gpu_rest_forget( gpu );
    }
    rest->tracks = ( rest->tracks || gpu->grid_wish.rests > 0 ) && gpu->grid_wish.rests >= 0 &&
        !gpu->has_no_room_to_rest;
    rest->slot = 0;
    if ( !rest->tracks )
    {
        return CLV_OK;
    }
    clv_result result = reserve( gpu, frame->count );
    if ( result != CLV_OK )
    {
        return result;
    }
    CLV_ASSERT( gpu->grid.keeps && gpu_holds( &b->kept, 2 * (uint64_t)frame->count, 8 ) );
    CLV_ASSERT( gpu_holds( &b->boxes_before, frame->count, sizeof( clv_aabb ) ) );
    rest->slot = frame->slot + 1;
    rest->count = frame->count;
    return GPU_LAUNCH( gpu, GPU_KERNEL_rest_enter, frame->count, frame->boxes, b->boxes_before, frame->count,
        b->kept, b->where, b->slots, frame->slot, gpu->grid.moved_most );
}

clv_result clv_gpu_rest_compare( clv_gpu* gpu, gpu_frame* frame )
{
    gpu_buffers* b = &gpu->buffers;
    uint32_t next_slot = ( frame->slot + 1 ) % GPU_SLOTS;
    uint32_t last_slot = gpu_last_slot( frame );
    uint32_t most = changed_most( gpu, gpu->rest.last_pairs, frame->count );
    uint32_t left = left_most( gpu, frame->count );
    CLV_ASSERT( gpu->rest.tracks && gpu->rest.count == frame->count );
    CLV_ASSERT( gpu_holds( &b->boxes_before, frame->count, sizeof( clv_aabb ) ) );
    CLV_ASSERT( gpu_holds( &b->where, frame->count, sizeof( uint32_t ) ) );
    CLV_ASSERT( gpu_holds( &b->changed, most, sizeof( uint32_t ) ) );
    CLV_ASSERT( gpu_holds( &b->movers, left, sizeof( uint32_t ) ) );
    CLV_ASSERT( gpu_holds( &b->changed_bits, frame->count / 8, 1 ) );
    frame->rests = true;
    gpu->rest.frame_count += 1;
    gpu->rest.slot = frame->slot + 1;
    return GPU_LAUNCH( gpu, GPU_KERNEL_rest_compare, frame->count, frame->boxes, b->boxes_before,
        frame->count, b->grid_plan, b->where, b->records, b->movers, b->changed, b->changed_bits, b->slots,
        frame->slot, last_slot, next_slot, gpu->grid.moved_most, left, most );
}

// As many groups as the last waited frame would have kept busy, and half as many again: items go on where
// there is more.
static uint32_t groups_for( uint64_t number, uint32_t each, uint32_t most )
{
    uint64_t groups = ( number + number / 2 ) / each + 4;
    return groups < most ? (uint32_t)groups : most;
}

clv_result clv_gpu_rest_find( clv_gpu* gpu, const gpu_frame* frame )
{
    gpu_buffers* b = &gpu->buffers;
    const gpu_rest_state* rest = &gpu->rest;
    uint32_t last_slot = gpu_last_slot( frame );
    uint32_t left = left_most( gpu, frame->count );
    CLV_ASSERT( frame->rests && rest->slot == frame->slot + 1 );
    CLV_ASSERT( rest->source != NULL && gpu_holds( &b->pairs, gpu->pair_room, sizeof( clv_pair ) ) );
    // Items step over the list in 32 bits, and past its end.
    uint32_t room = rest->source_room < LIST_MOST ? (uint32_t)rest->source_room : LIST_MOST;
    uint32_t capacity = (uint32_t)gpu->pair_room;
    uint32_t counts_tests = gpu->def.count_tests ? 1 : 0;
    uint32_t most = changed_most( gpu, gpu->rest.last_pairs, frame->count );
    uint32_t work_most = frame->count / 4 + 64; // sixteens of rows
    uint32_t carry_groups = groups_for( rest->last_pairs, GROUP_PAIRS, CARRY_MOST );
    uint64_t slices = ( (uint64_t)rest->last_left + REST_SLICE - 1 ) / REST_SLICE;
    uint32_t groups =
        carry_groups + groups_for( rest->last_changed + rest->last_left * slices, GROUP_BOXES, GROUPS_MOST );
    return GPU_LAUNCH( gpu, GPU_KERNEL_rest_find, (uint64_t)groups * GPU_GROUP, b->records, frame->count,
        b->starts, b->grid_plan, b->movers, b->changed, b->changed_bits, rest->source, room, carry_groups,
        b->slots, frame->slot, last_slot, left, most, work_most, b->pairs, capacity, counts_tests );
}

// ---- when

static uint32_t sampled_count( uint32_t count, uint32_t part )
{
    uint32_t groups = ( count + GPU_GROUP - 1 ) / GPU_GROUP;
    CLV_ASSERT( part > 0 );
    uint32_t sampled = ( groups + part - 1 ) / part * GPU_GROUP;
    return sampled < count ? sampled : count;
}

// Searched whole: did few change?
static void look_for_calm( clv_gpu* gpu, const gpu_counters* counters )
{
    gpu_rest_state* rest = &gpu->rest;
    uint32_t least = gpu->grid_wish.rest_least > 0 ? gpu->grid_wish.rest_least : ORDER_LEAST;
    bool keeps = gpu->grid.keeps;
    bool was_seen =
        keeps ? counters->moved_count != UINT32_MAX : gpu->frame.is_sampled && gpu->frame.count >= least;
    uint32_t sampled = sampled_count( gpu->frame.count, keeps ? SAMPLED_GROUPS : SAMPLED_OF_PLACED );
    bool is_calm = was_seen &&
        (uint64_t)counters->changed_count * 8 * changed_part( gpu, rest->last_pairs, gpu->frame.count ) <
            (uint64_t)sampled * 5 &&
        gpu->stats.update_count >= rest->try_at && gpu->grid_wish.rests >= 0 && !gpu->has_no_room_to_rest &&
        gpu->counters.pair_count <=
            clv_gpu_list_most( gpu ) / ( 4 * sizeof( clv_pair ) ); // there will be two lists
    rest->calm_count = is_calm ? rest->calm_count + 1 : 0;
    if ( was_seen )
    {
        rest->last_changed = counters->changed_count * ( gpu->frame.count / ( sampled > 0 ? sampled : 1 ) );
    }
    bool begins = rest->calm_count >= CALM_MOST;
    rest->began_at = begins ? gpu->stats.update_count : rest->began_at;
    rest->tracks = rest->tracks || ( begins && keeps );
    // The next frame is planned with an order, unless one has just been given up or the larger cells would
    // hold too much.
    if ( begins && !keeps && gpu->grid_wish.keeps == 0 && gpu->stats.update_count >= gpu->grid.calm_at &&
        gpu->grid.cell_squares / FULL_CELLS <= gpu->frame.count )
    {
        rest->wants_order = true;
        gpu->grid.is_planned = false;
    }
}

// Longer each time, where it never lasts: movers that travel fast have cells laid anew all the time, though
// they are few.
static void pause_for_a_while( gpu_rest_state* rest, uint64_t update )
{
    bool was_short = update - rest->began_at < 4 * TRY_AGAIN;
    uint32_t longer = rest->pause * 4 < PAUSE_MOST ? rest->pause * 4 : PAUSE_MOST;
    rest->pause = was_short && rest->pause > 0 ? longer : TRY_AGAIN;
    rest->try_at = update + rest->pause;
}

void clv_gpu_rest_review( clv_gpu* gpu, const gpu_counters* counters, bool was_compared, bool was_done )
{
    gpu_rest_state* rest = &gpu->rest;
    CLV_ASSERT( was_compared || !was_done );
    rest->last_pairs = gpu->counters.pair_count;
    if ( !was_compared )
    {
        look_for_calm( gpu, counters );
        return;
    }
    rest->last_changed = counters->changed_count;
    rest->last_left = counters->moved_count;
    gpu->stats.rest_count += was_done ? 1 : 0;
    // In time: frames in a queue would all be lost from the one on that has too many.
    rest->lays_anew = was_done && counters->moved_count > left_most( gpu, gpu->frame.count ) / 2;
    bool has_lasted = rest->frame_count >= LASTS_LEAST;
    bool was_busy = !was_done || ( rest->lays_anew && !has_lasted );
    rest->busy_count = was_busy ? rest->busy_count + 1 : has_lasted ? 0 : rest->busy_count;
    rest->frame_count = was_done && !rest->lays_anew ? rest->frame_count : 0;
    if ( rest->busy_count >= BUSY_MOST && gpu->grid_wish.rests <= 0 )
    {
        clv_gpu_rest_forget( gpu );
        pause_for_a_while( rest, gpu->stats.update_count );
    }
}
