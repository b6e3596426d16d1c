// SPDX-License-Identifier: MIT
// Rows of cells on the device; kernels/grid.cl tells how. A plan serves until what the cells hold has grown
// much beyond what they held when it was made, which the kernels count anyway.
#include "base/assertion.h"
#include "gpu_grid_plan.h"
#include "gpu_state.h"

#include <string.h>

enum
{
    STRETCH = 8 * GPU_GROUP, // entries that one group adds up, at most, but for longer rows
    LARGE_MOST = 512,        // boxes that fit no level: each is tested against all
    SQUARES_PER_BOX = 96,    // beyond, the tree does better
    ASK_AGAIN = 256,         // updates after which a refused grid is tried once more
    MOVED_LEAST = 64,        // boxes that may leave their cells before the order is made anew: one of 2,048,
    MOVED_MOST = 4096,       // within these bounds; each asks nine rows, and all the others that left
    MOVED_PART = 2048,
    ANEW_MOST = 4,                  // frames in a row whose order is made anew before it is no longer kept
    RELAY_ITEMS = 4096 * GPU_GROUP, // that lay all records anew, where that is needed
    MOVER_GROUPS = 64,              // that test those against each other, at most
    REFUSED_REST = 64, // updates before an order is wanted again, after cells with one were refused
};

_Static_assert( GPU_LEFT_MOST >= (uint32_t)MOVED_MOST, "both have the same list" );
_Static_assert( sizeof( gpu_grid_plan ) == 32 + GRID_LEVELS * 40, "no padding" );

static clv_result reserve( clv_gpu* gpu, uint32_t count, uint32_t entry_count )
{
    gpu_buffers* b = &gpu->buffers;
    uint64_t table = (uint64_t)entry_count * sizeof( uint32_t );
    CLV_ASSERT( count > 0 && entry_count > 0 );
    uint64_t halves = gpu->grid.keeps ? 2 * (uint64_t)count : count;
    clv_result result = clv_gpu_reserve( gpu, &b->counts, table );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->starts, table ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->places, (uint64_t)count * 8 ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->records, halves * 32 ) );
    result = result == CLV_OK && gpu->grid.keeps ? clv_gpu_reserve( gpu, &b->kept, halves * 8 ) : result;
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->movers, GPU_LEFT_MOST * sizeof( uint32_t ) ) );
    return result == CLV_OK ? clv_gpu_reserve( gpu, &b->grid_plan, sizeof( gpu_grid_plan ) ) : result;
}

static uint32_t moved_most( const gpu_grid_wish* wish, uint32_t count )
{
    uint32_t part = wish->moved_most > 0 ? wish->moved_most : count / MOVED_PART;
    uint32_t least = wish->moved_most > 0 ? 0 : MOVED_LEAST;
    return part < least ? least : part > MOVED_MOST ? MOVED_MOST : part;
}

static clv_result make_plan( clv_gpu* gpu, const gpu_frame* frame )
{
    gpu_sample sample;
    clv_result result = clv_gpu_sample_open( gpu, frame, &sample );
    gpu_grid_wish wish = clv_gpu_rest_plan( gpu );
    if ( result != CLV_OK )
    {
        return result;
    }
    gpu_grid_state* grid = &gpu->grid;
    gpu_grid_plan plan = clv_gpu_grid_plan_make(
        sample.boxes, sample.count, frame->count, &wish, sample.room, &grid->row_count, &grid->keeps );
    clv_gpu_sample_close( gpu, &sample );
    CLV_ASSERT( plan.level_count >= 1 && plan.level_count <= GRID_LEVELS && grid->row_count > 0 );
    CLV_ASSERT( (uint64_t)grid->row_count * plan.pitch <= UINT32_MAX );
    grid->pitch = plan.pitch;
    grid->level_count = plan.level_count;
    grid->entry_count = grid->row_count * plan.pitch;
    grid->count = frame->count;
    grid->kept_slot = 0;
    grid->anew_count = 0;
    grid->keeps = grid->keeps && gpu->stats.update_count >= grid->calm_at;
    gpu->rest.wants_order = gpu->rest.wants_order && grid->keeps;
    grid->moved_most = moved_most( &gpu->grid_wish, frame->count );
    grid->asked_at = gpu->stats.update_count;
    result = reserve( gpu, frame->count, grid->entry_count );
    GPU_THEN( result, clv_gpu_write( gpu, gpu->buffers.grid_plan.memory, 0, &plan, sizeof( plan ), true ) );
    return result == CLV_OK ? clv_gpu_fill( gpu, gpu->buffers.counts.memory, grid->entry_count, 0 ) : result;
}

clv_result clv_gpu_grid_add_up( clv_gpu* gpu, const gpu_table* table, uint32_t slot, uint32_t moved_most )
{
    uint32_t rows = STRETCH / table->pitch > 1 ? STRETCH / table->pitch : 1;
    uint32_t stretch = rows * table->pitch;
    uint32_t entry_count = table->row_count * table->pitch;
    CLV_ASSERT( gpu_holds( table->counts, entry_count, sizeof( uint32_t ) ) );
    CLV_ASSERT( gpu_holds( table->starts, entry_count, sizeof( uint32_t ) ) );
    uint32_t groups = ( table->row_count + rows - 1 ) / rows;
    gpu_kernel_id kernel = stretch <= STRETCH ? GPU_KERNEL_grid_scan : GPU_KERNEL_grid_scan_long;
    return GPU_LAUNCH( gpu, kernel, (uint64_t)groups * GPU_GROUP, *table->counts, *table->starts, entry_count,
        stretch, *table->slots, slot, moved_most );
}

static clv_result add_up( clv_gpu* gpu, const gpu_frame* frame )
{
    gpu_buffers* b = &gpu->buffers;
    const gpu_grid_state* grid = &gpu->grid;
    CLV_ASSERT( grid->entry_count == grid->row_count * grid->pitch );
    gpu_table table = { &b->counts, &b->starts, &b->slots, grid->row_count, grid->pitch };
    return clv_gpu_grid_add_up( gpu, &table, frame->slot, grid->moved_most );
}

// ---- all anew

static clv_result place_all( clv_gpu* gpu, gpu_frame* frame )
{
    gpu_buffers* b = &gpu->buffers;
    clv_result result = clv_gpu_rest_sample( gpu, frame );
    if ( result != CLV_OK )
    {
        return result;
    }
    uint32_t has_sample = frame->is_sampled ? 1 : 0;
    uint32_t next_slot = ( frame->slot + 1 ) % GPU_SLOTS;
    CLV_ASSERT( !gpu->grid.keeps && gpu_holds( &b->places, frame->count, 8 ) );
    CLV_ASSERT( gpu_holds( &b->records, frame->count, 32 ) );
    gpu->grid.kept_slot = 0;
    result = GPU_LAUNCH( gpu, GPU_KERNEL_grid_place, frame->count, frame->boxes, frame->count, b->grid_plan,
        b->counts, b->places, b->slots, frame->slot, next_slot, b->sampled, has_sample );
    GPU_THEN( result, add_up( gpu, frame ) );
    GPU_THEN( result,
        GPU_LAUNCH( gpu, GPU_KERNEL_grid_put, frame->count, frame->boxes, frame->count, b->places, b->starts,
            b->records ) );
    return result;
}

// ---- with the order kept

// Boxes into their records, and who left his cell. An order is kept from the frame just before, of as many
// boxes: its slot tells where the records lie.
static clv_result refresh( clv_gpu* gpu, const gpu_frame* frame )
{
    gpu_buffers* b = &gpu->buffers;
    gpu_grid_state* grid = &gpu->grid;
    uint32_t next_slot = ( frame->slot + 1 ) % GPU_SLOTS;
    uint32_t last_slot = gpu_last_slot( frame );
    last_slot = grid->kept_slot == last_slot + 1 && grid->kept_count == frame->count ? last_slot : UINT32_MAX;
    CLV_ASSERT( grid->keeps && gpu_holds( &b->kept, 2 * (uint64_t)frame->count, 8 ) );
    CLV_ASSERT( gpu_holds( &b->records, 2 * (uint64_t)frame->count, 32 ) );
    CLV_ASSERT( gpu_holds( &b->movers, grid->moved_most, sizeof( uint32_t ) ) );
    grid->kept_slot = frame->slot + 1;
    grid->kept_count = frame->count;
    return GPU_LAUNCH( gpu, GPU_KERNEL_grid_refresh, frame->count, frame->boxes, frame->count, b->grid_plan,
        b->kept, b->records, b->movers, b->slots, frame->slot, last_slot, next_slot, grid->moved_most );
}

// Whether it is needed is the device's to say.
static clv_result lay_anew( clv_gpu* gpu, const gpu_frame* frame )
{
    gpu_buffers* b = &gpu->buffers;
    const gpu_grid_state* grid = &gpu->grid;
    uint32_t most = gpu->grid_wish.relay_items > 0 ? gpu->grid_wish.relay_items : RELAY_ITEMS;
    uint32_t items = frame->count < most ? frame->count : most;
    CLV_ASSERT( grid->keeps && gpu_holds( &b->places, frame->count, 8 ) );
    clv_result result = GPU_LAUNCH( gpu, GPU_KERNEL_grid_count, items, frame->count, b->grid_plan, b->records,
        b->counts, b->places, b->slots, frame->slot, grid->moved_most );
    GPU_THEN( result, add_up( gpu, frame ) );
    GPU_THEN( result,
        GPU_LAUNCH( gpu, GPU_KERNEL_grid_scatter, items, frame->count, b->places, b->starts, b->records,
            b->kept, b->slots, frame->slot, grid->moved_most ) );
    return result;
}

static clv_result lay_out( clv_gpu* gpu, gpu_frame* frame )
{
    if ( !gpu->grid.keeps )
    {
        return place_all( gpu, frame );
    }
    if ( gpu->rest.lays_anew ) // nothing is kept
    {
        gpu->rest.lays_anew = false;
        gpu->rest.slot = 0;
        gpu->grid.kept_slot = 0;
    }
    if ( gpu->rest.tracks && clv_gpu_rest_is_chained( gpu, frame ) )
    {
        gpu->grid.kept_slot = frame->slot + 1;
        return clv_gpu_rest_compare( gpu, frame );
    }
    clv_result result = refresh( gpu, frame );
    GPU_THEN( result, lay_anew( gpu, frame ) );
    return result == CLV_OK ? clv_gpu_rest_enter( gpu, frame ) : result;
}

static bool is_bad( const gpu_counters* counters, uint32_t count )
{
    return counters->large_count > LARGE_MOST || counters->cell_squares / SQUARES_PER_BOX > count;
}

// A new plan is looked at before it is searched: a world that does not suit it would take minutes.
static clv_result try_plan( clv_gpu* gpu, gpu_frame* frame )
{
    gpu_counters counters;
    clv_result result = make_plan( gpu, frame );
    GPU_THEN( result, lay_out( gpu, frame ) );
    GPU_THEN( result, clv_gpu_read_counters( gpu, frame, &counters ) );
    if ( result != CLV_OK )
    {
        return result;
    }
    gpu->grid.cell_squares = counters.cell_squares;
    gpu->grid.large_count = counters.large_count;
    gpu->grid.is_refused = is_bad( &counters, frame->count );
    gpu->grid.is_planned = !gpu->grid.is_refused;
    gpu->grid.kept_slot = gpu->grid.is_refused ? 0 : gpu->grid.kept_slot;
    if ( gpu->grid.is_refused &&
        gpu->rest.wants_order ) // the plain cells are smaller, and may do: the next frame tries them
    {
        clv_gpu_rest_forget( gpu );
        gpu->rest.try_at = gpu->stats.update_count + REFUSED_REST;
        gpu->grid.is_refused = false;
        return CLV_UNSUPPORTED;
    }
    return gpu->grid.is_refused ? CLV_UNSUPPORTED : CLV_OK;
}

// Planned for half as many, or for twice as many?
static bool is_other_count( uint32_t planned, uint32_t count )
{
    return count > planned + planned / 2 || count < planned / 2;
}

clv_result clv_gpu_grid_prepare( clv_gpu* gpu, gpu_frame* frame )
{
    gpu_grid_state* grid = &gpu->grid;
    CLV_ASSERT( frame->count > 0 && !frame->rests );
    bool is_other = is_other_count( grid->count, frame->count );
    frame->unit_count = frame->count;
    gpu->stats.cell_count = 0;
    if ( grid->is_refused && !is_other && gpu->stats.update_count < grid->asked_at + ASK_AGAIN )
    {
        return CLV_UNSUPPORTED;
    }
    clv_result result = CLV_OK;
    bool is_calm = !grid->keeps && grid->calm_at > 0 && gpu->stats.update_count >= grid->calm_at;
    grid->calm_at = is_calm ? 0 : grid->calm_at;
    if ( grid->is_planned && !is_other && !is_calm )
    {
        result = reserve( gpu, frame->count, grid->entry_count );
        GPU_THEN( result, lay_out( gpu, frame ) );
    }
    else
    {
        result = try_plan( gpu, frame );
    }
    gpu->stats.cell_count = grid->entry_count;
    gpu->stats.level_count = grid->level_count;
    return result;
}

void clv_gpu_grid_review( clv_gpu* gpu, gpu_counters* counters )
{
    gpu_grid_state* grid = &gpu->grid;
    if ( gpu->frame.rests || counters->moved_count <= grid->moved_most ) // all others lie as they lay
    {
        grid->anew_count = 0;
        counters->cell_squares = grid->cell_squares;
        counters->large_count = gpu->frame.count - counters->kept_count;
    }
    else
    {
        gpu->stats.order_count += 1;
        // Only where the frame before did so too: those of one that only compared may have left in many
        // frames, and where every fourth lays all anew the ones that are waited for may be just these.
        grid->anew_count += grid->keeps && counters->work > 0 ? 1 : 0;
    }
    if ( grid->anew_count > ANEW_MOST ) // no box stays in its place: then without an order
    {
        grid->calm_at = gpu->stats.update_count + ASK_AGAIN;
        grid->is_planned = false;
    }
    bool has_grown = counters->cell_squares > 2 * grid->cell_squares + grid->count ||
        counters->large_count > 2 * grid->large_count + 32;
    grid->is_planned = grid->is_planned && !has_grown;
}

// Enough for 32 tests per item where as many left their cells as may.
static uint32_t groups_of_movers( uint32_t moved_most )
{
    uint32_t groups = moved_most * moved_most / ( 32 * GPU_GROUP );
    return groups < 1 ? 1 : groups > MOVER_GROUPS ? MOVER_GROUPS : groups;
}

// The slot as a frame's whose boxes are in their records: who left his cell is told as one that searches all
// tells it.
static clv_result restate( clv_gpu* gpu )
{
    const gpu_counters kept = {
        .bad = gpu->counters.bad,
        .moved_count = gpu->counters.moved_count,
        .side = gpu->counters.side,
        .kept_count = gpu->counters.kept_count,
    };
    return clv_gpu_write_counters( gpu, &kept );
}

clv_result clv_gpu_grid_finish( clv_gpu* gpu )
{
    gpu_frame* frame = &gpu->frame;
    CLV_ASSERT( frame->rests && gpu->grid.keeps );
    frame->rests = false;
    gpu->stats.search_count += 1;
    gpu->ahead.count = 0;
    clv_result result = restate( gpu );
    GPU_THEN( result, lay_anew( gpu, frame ) );
    GPU_THEN( result, clv_gpu_rest_enter( gpu, frame ) );
    GPU_THEN( result, clv_gpu_grid_find( gpu, frame, 0, frame->unit_count ) );
    return result == CLV_OK ? clv_gpu_read_counters( gpu, frame, &gpu->counters ) : result;
}

clv_result clv_gpu_grid_find( clv_gpu* gpu, const gpu_frame* frame, uint32_t first, uint32_t end )
{
    if ( frame->rests )
    {
        return clv_gpu_rest_find( gpu, frame );
    }
    gpu_buffers* b = &gpu->buffers;
    uint32_t capacity = (uint32_t)gpu->pair_room;
    uint32_t counts_tests = gpu->def.count_tests ? 1 : 0;
    CLV_ASSERT( gpu_may_find( gpu, frame, first, end ) );
    CLV_ASSERT( gpu_holds( &b->records, gpu->grid.keeps ? 2 * (uint64_t)frame->count : frame->count, 32 ) );
    CLV_ASSERT( gpu_holds( &b->starts, gpu->grid.entry_count, sizeof( uint32_t ) ) );
    uint32_t mover_groups =
        first == 0 && gpu->grid.keeps ? groups_of_movers( gpu->grid.moved_most ) : 0; // once
    uint64_t items = (uint64_t)end - first + (uint64_t)mover_groups * GPU_GROUP;
    return GPU_LAUNCH( gpu, GPU_KERNEL_grid_find, items, b->records, frame->count, first, end, b->starts,
        b->grid_plan, b->movers, mover_groups, b->slots, frame->slot, gpu->grid.moved_most, b->pairs,
        capacity, counts_tests );
}
