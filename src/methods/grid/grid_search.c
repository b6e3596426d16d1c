// SPDX-License-Identifier: MIT
#include "grid/grid_search.h"

#include "base/bits.h"
#include "sweep/axis.h"

enum
{
    CELL_PIECES = 256, // at most
    LOCAL = 1024,      // pairs a sweep finds before they are sifted
};

bool clv_grid_search_init( grid_search* search, base_memory* memory, const simd_method_kernels* kernels,
    task_runner* tasks, grid_rules rules )
{
    *search = ( grid_search ){ .memory = memory, .kernels = kernels, .tasks = tasks, .rules = rules };
    search->worker_count = task_worker_count( tasks );
    search->scratch = clv_base_memory_take( memory, search->worker_count, sizeof( grid_scratch ) );
    search->worker_count = search->scratch != NULL ? search->worker_count : 0;
    for ( uint32_t i = 0; i < search->worker_count; ++i )
    {
        search->scratch[i] = ( grid_scratch ){ 0 };
    }
    return search->scratch != NULL;
}

void clv_grid_search_shrink( grid_search* search )
{
    base_memory* memory = search->memory;
    clv_grid_cells_release( &search->cells, memory );
    clv_task_gather_release( &search->gather, memory );
    clv_grid_large_release( &search->large, memory );
    for ( uint32_t i = 0; i < search->worker_count; ++i )
    {
        grid_scratch* scratch = &search->scratch[i];
        clv_simd_box_lanes_release( &scratch->lanes, memory );
        base_array_free( &scratch->keys, memory );
    }
}

void clv_grid_search_free( grid_search* search )
{
    clv_grid_search_shrink( search );
    clv_base_memory_give( search->memory, search->scratch, search->worker_count, sizeof( grid_scratch ) );
}

static bool reserve_cell_scratch( grid_search* search )
{
    bool ok = true;
    for ( uint32_t i = 0; i < search->worker_count && ok; ++i )
    {
        grid_scratch* scratch = &search->scratch[i];
        ok = clv_simd_box_lanes_reserve( &scratch->lanes, search->memory, search->cells.fullest ) &&
            ( !search->rules.sweeps ||
                base_array_reserve( &scratch->keys, search->memory, (uint64_t)search->cells.fullest * 2 ) );
    }
    return ok;
}

clv_result clv_grid_search_build( grid_search* search, const clv_method_input* input )
{
    const grid_rules* rules = &search->rules;
    grid_cells* cells = &search->cells;
    search->input = input;
    clv_result result = clv_grid_cells_build(
        cells, search->memory, search->tasks, input, rules->objects_per_cell, rules->dimensions );
    if ( result != CLV_OK )
    {
        return result;
    }
    if ( !reserve_cell_scratch( search ) ||
        !clv_grid_large_load( &search->large, search->memory, cells, input ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    uint32_t cell_count = cells->lattice.cell_count;
    search->cell_piece_count = cell_count < CELL_PIECES ? cell_count : CELL_PIECES;
    if ( rules->sweeps )
    {
        // Columns of a flat grid are long in the direction it leaves alone.
        search->sweep_axis =
            cells->lattice.uncut_axis >= 0 ? cells->lattice.uncut_axis : clv_sweep_choose_axis( input );
    }
    return CLV_OK;
}

// ---- in a cell

static clv_result test_groups( const grid_search* search, const simd_boxes* boxes, uint32_t row_begin,
    uint32_t row_end, uint32_t column_begin, uint32_t column_end, clv_pair_sink* sink )
{
    simd_cursor cursor = { row_begin, 0 };
    clv_result result = CLV_OK;
    PAIR_SINK_DRIVE(
        result, sink, search->kernels->test_block( boxes, row_end, column_begin, column_end, &cursor, sink ) )
    return result;
}

// Groups with no bit in common, besides those with group 0: first row group, column groups from and to.
static const uint8_t s_blocks[][3] = { { 1, 2, 3 }, { 1, 4, 5 }, { 1, 6, 7 }, { 2, 4, 6 }, { 3, 4, 5 } };

// All against all, group by group.
static clv_result test_cell( const grid_search* search, grid_scratch* scratch, const uint32_t* starts,
    clv_pair_sink* sink, uint64_t* test_count )
{
    uint32_t first = starts[0];
    uint32_t count = starts[GRID_GROUPS] - first;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = search->cells.entries.items[first + i];
        simd_box_lanes_set( &scratch->lanes.boxes, i, &search->input->boxes[slot], slot, 0 );
    }
    clv_simd_box_lanes_finish( &scratch->lanes, count );
    const simd_boxes* boxes = &scratch->lanes.boxes;
    uint32_t home = starts[1] - first;
    clv_result result = test_groups( search, boxes, 0, home, 0, count, sink );
    *test_count += (uint64_t)home * ( count - home ) + (uint64_t)home * ( home > 0 ? home - 1 : 0 ) / 2;
    for ( size_t i = 0; i < sizeof( s_blocks ) / sizeof( s_blocks[0] ) && result == CLV_OK; ++i )
    {
        const uint8_t* block = s_blocks[i];
        uint32_t rows = starts[block[0] + 1] - starts[block[0]];
        uint32_t columns = starts[block[2]] - starts[block[1]];
        if ( rows > 0 && columns > 0 )
        {
            result = test_groups( search, boxes, starts[block[0]] - first, starts[block[0] + 1] - first,
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
    while ( starts[group + 1] <= entry )
    {
        group += 1;
    }
    return group;
}

// A sweep finds pairs of places in the cell's order, with the group in the low bits. Those that belong to
// this cell go to the sink as slots.
static clv_result sift_pairs(
    const grid_search* search, const clv_pair* found, uint64_t count, clv_pair_sink* sink )
{
    clv_result result = CLV_OK;
    for ( uint64_t i = 0; i < count && result == CLV_OK; ++i )
    {
        if ( ( found[i].a & found[i].b & ( GRID_GROUPS - 1 ) ) == 0 )
        {
            result = clv_pair_sink_put( sink, search->cells.entries.items[found[i].a / GRID_GROUPS],
                search->cells.entries.items[found[i].b / GRID_GROUPS] );
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
    const grid_search* search, grid_scratch* scratch, const uint32_t* starts, uint32_t first, uint32_t count )
{
    int axis = search->sweep_axis;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const clv_aabb* box = &search->input->boxes[search->cells.entries.items[first + i]];
        scratch->keys.items[i] = ( base_keyed ){ base_float_order( ( &box->lower.x )[axis] ), i };
    }
    const base_keyed* sorted = clv_base_sort_keyed( scratch->keys.items, scratch->keys.items + count, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t entry = first + sorted[i].value;
        const clv_aabb* box = &search->input->boxes[search->cells.entries.items[entry]];
        uint32_t tag = entry * GRID_GROUPS + group_of( starts, entry );
        simd_box_lanes_set( &scratch->lanes.boxes, i, box, tag, axis );
    }
    clv_simd_box_lanes_finish( &scratch->lanes, count );
}

static clv_result sweep_cell( const grid_search* search, grid_scratch* scratch, const uint32_t* starts,
    clv_pair_sink* sink, uint64_t* test_count )
{
    load_sorted_cell( search, scratch, starts, starts[0], starts[GRID_GROUPS] - starts[0] );
    clv_pair found[LOCAL];
    clv_pair_sink local = { found, 0, LOCAL, refuse_room, NULL, NULL, 0 };
    simd_cursor cursor = { 0, 0 };
    clv_result result = CLV_OK;
    bool done = false;
    while ( !done && result == CLV_OK )
    {
        done = search->kernels->sweep( &scratch->lanes.boxes, &cursor, &local, test_count );
        result = sift_pairs( search, found, local.count, sink );
        local.count = 0;
    }
    return result;
}

// ---- all cells

static clv_result search_cells( const grid_search* search, uint32_t part, grid_scratch* scratch,
    clv_pair_sink* sink, uint64_t* test_count )
{
    const grid_cells* cells = &search->cells;
    uint32_t end = clv_grid_cells_part( cells, part + 1, search->cell_piece_count );
    clv_result result = CLV_OK;
    for ( uint32_t cell = clv_grid_cells_part( cells, part, search->cell_piece_count );
          cell < end && result == CLV_OK; ++cell )
    {
        const uint32_t* starts = cells->starts.items + (uint64_t)cell * GRID_GROUPS;
        if ( starts[GRID_GROUPS] - starts[0] >= 2 )
        {
            result = search->rules.sweeps ? sweep_cell( search, scratch, starts, sink, test_count )
                                          : test_cell( search, scratch, starts, sink, test_count );
        }
    }
    return result;
}

static clv_result search_grid_piece(
    uint32_t piece, uint32_t worker, clv_pair_sink* sink, uint64_t* test_count, void* context )
{
    const grid_search* search = context;
    if ( piece >= search->large.piece_count )
    {
        return search_cells(
            search, piece - search->large.piece_count, &search->scratch[worker], sink, test_count );
    }
    return clv_grid_large_search( &search->large, search->kernels, piece, sink, test_count );
}

clv_result clv_grid_search_run( grid_search* search, clv_pair_sink* sink, uint64_t* test_count )
{
    return clv_task_gather_run( &search->gather, search->memory, search->tasks,
        search->large.piece_count + search->cell_piece_count, search_grid_piece, search, sink, test_count );
}
