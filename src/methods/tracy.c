// SPDX-License-Identifier: MIT
// Tracy, Buss and Woods, Efficient Large-Scale Sweep and Prune Methods with AABB Insertion and Removal
// (2009): a grid whose cells keep sorted lists of ends on three axes. Boxes enter and leave cells as they
// move, come and go; inside a cell a list is almost sorted from the last frame, and a swap tells of a pair
// that began. The paper cuts long lists into segments of 64 ends so that an insertion moves little; here all
// lists are stretches of one array, which is laid out anew for each frame: ends get new keys then anyway, and
// boxes that come are merged in on the way. That merge, all that segments could save, is 1 to 4 % of the
// method's instructions (bench/methods.md). One set of pairs for all cells is kept and tested for those that
// ended, so the number of cells in which a pair meets is not counted.
#include "method/method.h"

#include "base/assertion.h"
#include "base/bit_set.h"
#include "grid/grid_cells.h"
#include "grid/grid_lists.h"
#include "pair/table.h"
#include "task/gather.h"

#include <stdio.h>
#include <string.h>

enum
{
    TRACY_PARAM_CELL,
    TRACY_PARAM_SWAPS,
    TRACY_PARAM_COUNT
};

static const clv_method_param s_tracy_params[TRACY_PARAM_COUNT] = {
    { "tracy.cell", 16, 1, 1000000, false, "objects per cell, on average, when the grid is laid out" },
    { "tracy.swaps", 4, 0, 1000000000, false, "swaps per end and frame above which a cell is sorted afresh" },
};

enum
{
    PIECES = 256,       // at most
    CELL_OVERFULL = 16, // times the wanted population: time for another grid, ...
    GRID_LIFE = 16,     // ... unless the last one is younger than this
};

typedef struct tracy
{
    const method_context* context;
    const simd_method_kernels* kernels;
    grid_cells cells;
    grid_lists lists[2];
    uint32_t now; // which of the two is this frame's
    grid_large large;
    task_gather gather;
    base_keyed_array* scratch; // by worker
    uint32_t worker_count;
    base_u64_array kept; // slots that are alive and in the cells, as a set
    pair_table table;
    uint32_t laid_out_for; // objects when the grid was chosen
    uint32_t grid_age;
    uint32_t piece_count;
    const clv_aabb* boxes; // during an update
    bool is_sound;
} tracy;

// Everything but what create took: the next update lays out a new grid.
static void shrink_tracy( void* state )
{
    tracy* self = state;
    base_memory* memory = self->context->memory;
    for ( uint32_t i = 0; i < self->worker_count; ++i )
    {
        base_array_free( &self->scratch[i], memory );
    }
    clv_task_gather_release( &self->gather, memory );
    clv_grid_large_release( &self->large, memory );
    clv_grid_cells_release( &self->cells, memory );
    clv_grid_lists_release( &self->lists[0], memory );
    clv_grid_lists_release( &self->lists[1], memory );
    base_array_free( &self->kept, memory );
    clv_pair_table_free( &self->table, memory );
    self->is_sound = false;
}

static void end_tracy( void* state )
{
    tracy* self = state;
    shrink_tracy( self );
    clv_base_memory_give(
        self->context->memory, self->scratch, self->worker_count, sizeof( base_keyed_array ) );
}

static bool begin_tracy( void* state, int variant )
{
    (void)variant;
    tracy* self = state;
    uint32_t count = task_worker_count( self->context->tasks );
    self->kernels = clv_simd_method_kernels_for( self->context->isa );
    self->scratch = clv_base_memory_take( self->context->memory, count, sizeof( base_keyed_array ) );
    if ( self->scratch == NULL )
    {
        return false;
    }
    self->worker_count = count;
    memset( self->scratch, 0, count * sizeof( base_keyed_array ) );
    return true;
}

METHOD_CREATE( create_tracy, tracy, begin_tracy, end_tracy, 0 )
METHOD_DESTROY( destroy_tracy, tracy, end_tracy )

// ---- cells

static bool wants_new_grid( const tracy* self, uint32_t count )
{
    bool is_far_off = count / 2 > self->laid_out_for || count < self->laid_out_for / 2;
    double overfull = CELL_OVERFULL * self->context->params[TRACY_PARAM_CELL];
    return !self->is_sound || is_far_off || ( self->grid_age >= GRID_LIFE && self->cells.fullest > overfull );
}

// Enters the boxes into the grid of the last frame, or into a new one with empty lists to begin with.
static clv_result enter_cells( tracy* self, const clv_method_input* input )
{
    base_memory* memory = self->context->memory;
    task_runner* tasks = self->context->tasks;
    bool is_new = wants_new_grid( self, input->live_count );
    if ( is_new )
    {
        self->cells.lattice = clv_grid_lattice_choose( input, self->context->params[TRACY_PARAM_CELL], 3 );
        self->laid_out_for = input->live_count;
        self->grid_age = 0;
        clv_pair_table_clear( &self->table );
    }
    self->is_sound = false;
    clv_result result = clv_grid_cells_enter( &self->cells, memory, tasks, input );
    if ( result != CLV_OK )
    {
        return result;
    }
    self->grid_age += self->grid_age < GRID_LIFE;
    if ( is_new && !clv_grid_lists_lay_out_empty( &self->lists[self->now], memory, &self->cells ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    self->now = 1 - self->now;
    bool ok = clv_grid_lists_lay_out( &self->lists[self->now], memory, &self->cells, input ) &&
        clv_grid_large_load( &self->large, memory, &self->cells, input );
    return ok ? CLV_OK : CLV_OUT_OF_MEMORY;
}

static bool reserve_scratch( tracy* self )
{
    bool ok = true;
    for ( uint32_t i = 0; i < self->worker_count && ok; ++i )
    {
        ok =
            base_array_reserve( &self->scratch[i], self->context->memory, (uint64_t)self->cells.fullest * 4 );
    }
    return ok;
}

static clv_result make_cells(
    uint32_t piece, uint32_t worker, clv_pair_sink* sink, uint64_t* test_count, void* context )
{
    const tracy* self = context;
    grid_lists_job job = {
        .before = &self->lists[1 - self->now],
        .now = &self->lists[self->now],
        .cells = &self->cells,
        .boxes = self->boxes,
        .scratch = self->scratch[worker].items,
        .swaps_per_end = self->context->params[TRACY_PARAM_SWAPS],
    };
    uint32_t end = clv_grid_cells_part( &self->cells, piece + 1, self->piece_count );
    clv_result result = CLV_OK;
    for ( uint32_t cell = clv_grid_cells_part( &self->cells, piece, self->piece_count );
          cell < end && result == CLV_OK; ++cell )
    {
        result = clv_grid_lists_make_cell( &job, cell, sink, test_count );
    }
    return result;
}

// ---- pairs

// Pairs of the last frame that still overlap. Large boxes are in no cell, so their pairs are not in the set.
static bool cull( tracy* self, const clv_method_input* input )
{
    uint64_t words = base_bits_words( input->slot_count );
    if ( !base_array_reserve( &self->kept, self->context->memory, words ) )
    {
        return false;
    }
    bool all = input->live_count == input->slot_count && self->cells.large_count == 0;
    if ( !all )
    {
        memset( self->kept.items, 0, (size_t)words * sizeof( uint64_t ) );
        for ( uint32_t i = 0; i < input->live_count; ++i )
        {
            uint32_t slot = clv_method_live_slot( input, i );
            base_bits_put( self->kept.items, slot, !grid_span_is_large( &self->cells.spans.items[i] ) );
        }
    }
    clv_pair_table_cull( &self->table, input->boxes, all ? NULL : self->kept.items );
    return true;
}

// Pairs that began go into the set, and those that are new there to the sink.
static clv_result find_begun( tracy* self, clv_pair_sink* sink, uint64_t* test_count )
{
    pair_table_sink begun;
    clv_pair_table_sink_open( &begun, &self->table, self->context->memory, sink );
    uint32_t cell_count = self->cells.lattice.cell_count;
    self->piece_count = cell_count < PIECES ? cell_count : PIECES;
    clv_result result = clv_task_gather_run( &self->gather, self->context->memory, self->context->tasks,
        self->piece_count, make_cells, self, &begun.sink, test_count );
    return result == CLV_OK ? clv_pair_table_sink_flush( &begun ) : result;
}

static clv_result search_large(
    uint32_t piece, uint32_t worker, clv_pair_sink* sink, uint64_t* test_count, void* context )
{
    (void)worker;
    const tracy* self = context;
    return clv_grid_large_search( &self->large, self->kernels, piece, sink, test_count );
}

static clv_result update_tracy(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    tracy* self = state;
    method_stopwatch watch = method_stopwatch_start( self->context );
    self->boxes = input->boxes;
    self->is_sound &= !input->last_failed;
    clv_result result = enter_cells( self, input );
    result = result == CLV_OK && !reserve_scratch( self ) ? CLV_OUT_OF_MEMORY : result;
    counters->update_ms = method_stopwatch_lap( &watch );
    result = result == CLV_OK && !cull( self, input ) ? CLV_OUT_OF_MEMORY : result;
    counters->clean_ms = method_stopwatch_lap( &watch );
    if ( result == CLV_OK )
    {
        result = clv_pair_sink_put_all( sink, self->table.list.items, self->table.list.count );
    }
    result = result == CLV_OK ? find_begun( self, sink, &counters->test_count ) : result;
    self->is_sound = result == CLV_OK;
    CLV_VALIDATE( clv_pair_table_check( &self->table ) == NULL );
    if ( result == CLV_OK )
    {
        result = clv_task_gather_run( &self->gather, self->context->memory, self->context->tasks,
            self->large.piece_count, search_large, self, sink, &counters->test_count );
    }
    counters->search_ms = method_stopwatch_lap( &watch );
    return result;
}

static bool check_tracy( void* state, char* text, size_t text_size )
{
    const tracy* self = state;
    const char* broken = self->is_sound ? clv_pair_table_check( &self->table ) : NULL;
    snprintf( text, text_size, "tracy: %s", broken != NULL ? broken : "" );
    return broken == NULL;
}

const clv_method clv_methods_tracy = {
    METHOD_OWN,
    .name = "tracy",
    .family = "grid",
    .source = "Tracy, Buss and Woods 2009",
    .time_cost = "O(n + s)",
    .space_cost = "O(n + k)",
    .remarks = "insertion sort per cell, t objects per cell",
    .has_threads = true,
    .is_temporal = true,
    .params = s_tracy_params,
    .param_count = TRACY_PARAM_COUNT,
    .create = create_tracy,
    .destroy = destroy_tracy,
    .update = update_tracy,
    .shrink = shrink_tracy,
    .check = check_tracy,
};
