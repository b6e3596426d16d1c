// SPDX-License-Identifier: MIT
// Every cell of a uniform grid by brute force, or by sweep and prune; the grid is made anew for every update.
// "Grid" of Broadmark's Table I, without its duplicates: a pair belongs to the cell where it begins.
#include "method/method.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "base/radix_sort.h"
#include "grid/grid_cells.h"
#include "sweep/axis.h"
#include "task/gather.h"

enum
{
    GRID_PARAM_CELL,
    GRID_PARAM_AXES,
    GRID_PARAM_COUNT
};

#define GRID_PARAMS( cell )                                                                                  \
    {                                                                                                        \
        { "grid.cell", cell, 1, 1000000, false, "objects per cell, on average" },                            \
            { "grid.axes", 3, 2, 3, true, "axes that are cut: 3, or the 2 longest" },                        \
    }

static const clv_method_param s_grid_params[GRID_PARAM_COUNT] = GRID_PARAMS( 24 );
static const clv_method_param s_grid_sap_params[GRID_PARAM_COUNT] = GRID_PARAMS( 64 );

enum
{
    CELL_PIECES = 256, // at most
    LOCAL = 1024,      // pairs a sweep finds before they are sifted
};

// What a worker fills for the cell at hand.
typedef struct grid_scratch
{
    simd_box_lanes lanes;
    base_keyed_array keys; // sweeps only: two in one
} grid_scratch;

typedef struct grid
{
    const method_context* context;
    const simd_method_kernels* kernels;
    bool sweeps; // in a cell; else all against all
    grid_cells cells;
    task_gather gather;
    grid_scratch* scratch; // by worker
    uint32_t worker_count;
    grid_large large;
    const clv_method_input* input; // of the update
    int sweep_axis;
    uint32_t cell_piece_count;
} grid;

static bool begin_grid( void* state, int sweeps )
{
    grid* self = state;
    self->kernels = clv_simd_method_kernels_for( self->context->isa );
    self->sweeps = sweeps != 0;
    uint32_t count = task_worker_count( self->context->tasks );
    self->scratch = clv_base_memory_take( self->context->memory, count, sizeof( grid_scratch ) );
    self->worker_count = self->scratch != NULL ? count : 0;
    for ( uint32_t i = 0; i < self->worker_count; ++i )
    {
        self->scratch[i] = ( grid_scratch ){ 0 };
    }
    return self->scratch != NULL;
}

// All memory but what begin took.
static void shrink_grid( void* state )
{
    grid* self = state;
    base_memory* memory = self->context->memory;
    clv_grid_cells_release( &self->cells, memory );
    clv_task_gather_release( &self->gather, memory );
    clv_grid_large_release( &self->large, memory );
    for ( uint32_t i = 0; i < self->worker_count; ++i )
    {
        clv_simd_box_lanes_release( &self->scratch[i].lanes, memory );
        base_array_free( &self->scratch[i].keys, memory );
    }
}

static void end_grid( void* state )
{
    grid* self = state;
    shrink_grid( self );
    clv_base_memory_give( self->context->memory, self->scratch, self->worker_count, sizeof( grid_scratch ) );
}

METHOD_CREATE( create_plain_grid, grid, begin_grid, end_grid, false )
METHOD_CREATE( create_swept_grid, grid, begin_grid, end_grid, true )
METHOD_DESTROY( destroy_grid, grid, end_grid )

static bool reserve_cell_scratch( grid* self )
{
    base_memory* memory = self->context->memory;
    bool ok = true;
    for ( uint32_t i = 0; i < self->worker_count && ok; ++i )
    {
        grid_scratch* scratch = &self->scratch[i];
        ok = clv_simd_box_lanes_reserve( &scratch->lanes, memory, self->cells.fullest ) &&
            ( !self->sweeps ||
                base_array_reserve( &scratch->keys, memory, (uint64_t)self->cells.fullest * 2 ) );
    }
    return ok;
}

static clv_result build_cells( grid* self, const clv_method_input* input )
{
    const double* params = self->context->params;
    grid_cells* cells = &self->cells;
    self->input = input;
    cells->lattice = clv_grid_lattice_choose( input, params[GRID_PARAM_CELL], (int)params[GRID_PARAM_AXES] );
    clv_result result = clv_grid_cells_enter( cells, self->context->memory, self->context->tasks, input );
    if ( result != CLV_OK )
    {
        return result;
    }
    if ( !reserve_cell_scratch( self ) ||
        !clv_grid_large_load( &self->large, self->context->memory, cells, input ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    uint32_t cell_count = cells->lattice.cell_count;
    self->cell_piece_count = cell_count < CELL_PIECES ? cell_count : CELL_PIECES;
    if ( self->sweeps )
    {
        // Columns of a flat grid are long in the direction it leaves alone.
        self->sweep_axis =
            cells->lattice.uncut_axis >= 0 ? cells->lattice.uncut_axis : clv_sweep_choose_axis( input );
    }
    return CLV_OK;
}

// ---- in a cell

static clv_result test_groups( const grid* self, const simd_boxes* boxes, uint32_t row_begin,
    uint32_t row_end, uint32_t column_begin, uint32_t column_end, clv_pair_sink* sink )
{
    simd_cursor cursor = { row_begin, 0 };
    clv_result result = CLV_OK;
    PAIR_SINK_DRIVE(
        result, sink, self->kernels->test_block( boxes, row_end, column_begin, column_end, &cursor, sink ) )
    return result;
}

// Groups with no bit in common, besides those with group 0: first row group, column groups from and to.
static const uint8_t s_blocks[][3] = { { 1, 2, 3 }, { 1, 4, 5 }, { 1, 6, 7 }, { 2, 4, 6 }, { 3, 4, 5 } };

// All against all, group by group.
static clv_result test_cell( const grid* self, grid_scratch* scratch, const uint32_t* starts,
    clv_pair_sink* sink, uint64_t* test_count )
{
    uint32_t first = starts[0];
    uint32_t count = starts[GRID_GROUPS] - first;
    CLV_ASSERT( count <= self->cells.fullest );
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = self->cells.entries.items[first + i];
        simd_box_lanes_set( &scratch->lanes.boxes, i, &self->input->boxes[slot], slot, 0 );
    }
    clv_simd_box_lanes_finish( &scratch->lanes, count );
    const simd_boxes* boxes = &scratch->lanes.boxes;
    uint32_t home = starts[1] - first;
    clv_result result = test_groups( self, boxes, 0, home, 0, count, sink );
    *test_count += (uint64_t)home * ( count - home ) + (uint64_t)home * ( home > 0 ? home - 1 : 0 ) / 2;
    for ( size_t i = 0; i < sizeof( s_blocks ) / sizeof( s_blocks[0] ) && result == CLV_OK; ++i )
    {
        const uint8_t* block = s_blocks[i];
        uint32_t rows = starts[block[0] + 1] - starts[block[0]];
        uint32_t columns = starts[block[2]] - starts[block[1]];
        if ( rows > 0 && columns > 0 )
        {
            result = test_groups( self, boxes, starts[block[0]] - first, starts[block[0] + 1] - first,
                starts[block[1]] - first, starts[block[2]] - first, sink );
            *test_count += (uint64_t)rows * columns;
        }
    }
    return result;
}

// Group of a cell's entry.
static uint32_t group_of( const uint32_t* starts, uint32_t entry )
{
    uint32_t group = 0;
    CLV_ASSERT( starts[0] <= entry && entry < starts[GRID_GROUPS] );
    while ( starts[group + 1] <= entry )
    {
        group += 1;
    }
    return group;
}

// A sweep finds pairs of places in the cell's order, with the group in the low bits. Those that belong to
// this cell go to the sink as slots.
static clv_result sift_pairs( const grid* self, const clv_pair* found, uint64_t count, clv_pair_sink* sink )
{
    clv_result result = CLV_OK;
    for ( uint64_t i = 0; i < count && result == CLV_OK; ++i )
    {
        if ( ( found[i].a & found[i].b & ( GRID_GROUPS - 1 ) ) == 0 )
        {
            result = clv_pair_sink_put( sink, self->cells.entries.items[found[i].a / GRID_GROUPS],
                self->cells.entries.items[found[i].b / GRID_GROUPS] );
        }
    }
    return result;
}

// For a sink that its owner empties.
static clv_result refuse_room( clv_pair_sink* sink )
{
    (void)sink;
    return CLV_OUT_OF_MEMORY;
}

static void load_sorted_cell(
    const grid* self, grid_scratch* scratch, const uint32_t* starts, uint32_t first, uint32_t count )
{
    int axis = self->sweep_axis;
    CLV_ASSERT( 2 * (uint64_t)count <= scratch->keys.capacity );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const clv_aabb* box = &self->input->boxes[self->cells.entries.items[first + i]];
        scratch->keys.items[i] = ( base_keyed ){ base_float_order( ( &box->lower.x )[axis] ), i };
    }
    const base_keyed* sorted = clv_base_sort_keyed( scratch->keys.items, scratch->keys.items + count, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t entry = first + sorted[i].value;
        const clv_aabb* box = &self->input->boxes[self->cells.entries.items[entry]];
        uint32_t tag = entry * GRID_GROUPS + group_of( starts, entry );
        simd_box_lanes_set( &scratch->lanes.boxes, i, box, tag, axis );
    }
    clv_simd_box_lanes_finish( &scratch->lanes, count );
}

static clv_result sweep_cell( const grid* self, grid_scratch* scratch, const uint32_t* starts,
    clv_pair_sink* sink, uint64_t* test_count )
{
    load_sorted_cell( self, scratch, starts, starts[0], starts[GRID_GROUPS] - starts[0] );
    clv_pair found[LOCAL];
    clv_pair_sink local = { found, 0, LOCAL, refuse_room, NULL, NULL, 0 };
    simd_cursor cursor = { 0, 0 };
    clv_result result = CLV_OK;
    bool done = false;
    while ( !done && result == CLV_OK )
    {
        done = self->kernels->sweep( &scratch->lanes.boxes, &cursor, &local, test_count );
        result = sift_pairs( self, found, local.count, sink );
        local.count = 0;
    }
    return result;
}

// ---- all cells

static clv_result search_cells(
    const grid* self, uint32_t part, grid_scratch* scratch, clv_pair_sink* sink, uint64_t* test_count )
{
    const grid_cells* cells = &self->cells;
    uint32_t end = clv_grid_cells_part( cells, part + 1, self->cell_piece_count );
    clv_result result = CLV_OK;
    for ( uint32_t cell = clv_grid_cells_part( cells, part, self->cell_piece_count );
          cell < end && result == CLV_OK; ++cell )
    {
        const uint32_t* starts = cells->starts.items + (uint64_t)cell * GRID_GROUPS;
        if ( starts[GRID_GROUPS] - starts[0] >= 2 )
        {
            result = self->sweeps ? sweep_cell( self, scratch, starts, sink, test_count )
                                  : test_cell( self, scratch, starts, sink, test_count );
        }
    }
    return result;
}

static clv_result search_grid_piece(
    uint32_t piece, uint32_t worker, clv_pair_sink* sink, uint64_t* test_count, void* context )
{
    const grid* self = context;
    if ( piece >= self->large.piece_count )
    {
        return search_cells(
            self, piece - self->large.piece_count, &self->scratch[worker], sink, test_count );
    }
    return clv_grid_large_search( &self->large, self->kernels, piece, sink, test_count );
}

static clv_result update_grid(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    grid* self = state;
    method_stopwatch watch = method_stopwatch_start( self->context );
    clv_result result = build_cells( self, input );
    counters->update_ms = method_stopwatch_lap( &watch );
    if ( result == CLV_OK )
    {
        result = clv_task_gather_run( &self->gather, self->context->memory, self->context->tasks,
            self->large.piece_count + self->cell_piece_count, search_grid_piece, self, sink,
            &counters->test_count );
        counters->search_ms = method_stopwatch_lap( &watch );
    }
    return result;
}

#define GRID_ROW( row_name, cost, about, row_params, make )                                                  \
    {                                                                                                        \
        METHOD_OWN, .name = ( row_name ), .family = "grid",                                                  \
                    .source = "Broadmark (Serpa and Rodrigues 2019), Table I", .time_cost = ( cost ),        \
                    .space_cost = "O(n)", .remarks = ( about ), .has_isa = true, .has_threads = true,        \
                    .params = ( row_params ), .param_count = GRID_PARAM_COUNT, .create = ( make ),           \
                    .destroy = destroy_grid, .update = update_grid, .shrink = shrink_grid,                   \
    }

const clv_method clv_methods_grid = GRID_ROW(
    "grid", "O(n t)", "t objects per cell, all against all in each", s_grid_params, create_plain_grid );
const clv_method clv_methods_grid_sap = GRID_ROW(
    "grid-sap", "O(n t^(2/3))", "t objects per cell, swept in each", s_grid_sap_params, create_swept_grid );
