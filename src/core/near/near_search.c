// SPDX-License-Identifier: MIT
// Every cell against itself and the cells behind it, in pieces of about as many points each; the pieces'
// pairs are joined in order. For lists that are full or by point it is against all cells around it: twice the
// tests, but the entries of a point come together, and none has to be carried to where another cell's are.
// Where an axis is periodic the cells behind the last are the first ones, shifted: one run of points has one
// shift, so the kernel adds one number to each of its positions.
#include "near/near_internal.h"

#include "base/assertion.h"

enum
{
    PIECE_POINTS = 1024,
    BLOCK_POINTS = 16, // cells along the first axis with so few points are searched together,
    BLOCK_CELLS = 16,  // so many at most: their columns are tested by all rows
    COMPACT_CELLS = 4  // around more cells in a line hardly a column is out of reach of all rows
};

typedef struct near_job
{
    const clv_near* near;
    const near_call* call;
    bool thins; ///< something is excluded
} near_job;

// ---- excluded

static bool is_listed( const clv_near* near, uint32_t a, uint32_t b )
{
    uint32_t least = a < b ? a : b, most = a < b ? b : a;
    uint32_t begin = near->excluded_starts.items[least], end = near->excluded_starts.items[least + 1];
    CLV_ASSERT( least < near->excluded_count && begin <= end && end <= near->excluded.count );
    while ( begin < end )
    {
        uint32_t middle = begin + ( end - begin ) / 2;
        uint32_t other = near->excluded.items[middle].b;
        if ( other == most )
        {
            return true;
        }
        begin = other < most ? middle + 1 : begin;
        end = other < most ? end : middle;
    }
    return false;
}

bool clv_near_is_excluded( const clv_near* near, const near_call* call, clv_pair pair )
{
    const uint32_t* groups = call->points->groups;
    CLV_ASSERT( call->points->count == near->point_count );
    uint32_t a = near_point_of( near, pair.a ), b = near_point_of( near, pair.b );
    bool is_out = groups != NULL && groups[a] == groups[b] && groups[a] != 0;
    return is_out || ( near->excluded.count > 0 && is_listed( near, a, b ) );
}

static void thin_pairs( const near_job* job, clv_pair_sink* sink, uint64_t before )
{
    uint64_t count = sink->count;
    sink->count = before;
    for ( uint64_t i = before; i < count; ++i )
    {
        clv_pair pair = sink->pairs[i];
        sink->pairs[sink->count] = pair;
        sink->count += !clv_near_is_excluded( job->near, job->call, pair );
    }
}

// ---- one cell

// What is searched for one cell after the other.
typedef struct near_cell_search
{
    const near_job* job;
    clv_pair_sink* sink;
    simd_near_search search;
    int64_t at[3];     ///< of the first cell
    int64_t wide;      ///< cells, all in one line
    uint32_t row;      ///< first point of the cells
    int64_t row_shift; ///< code of the shift that rows have
    uint64_t tests;
} near_cell_search;

// Cells of one line along the first axis, or along another axis: those within reach, unwrapped, where the
// axis is periodic, and those that there are otherwise.
typedef struct near_cell_range
{
    int64_t first, last;
} near_cell_range;

static near_cell_range cells_within_reach( const near_cell_search* at, int k, bool ahead )
{
    const clv_near* near = at->job->near;
    int64_t layers = near->grid.layers[k], count = near->grid.counts[k];
    CLV_ASSERT( at->at[k] >= 0 && at->at[k] < count );
    int64_t last = k == 0 ? at->at[0] + at->wide - 1 : at->at[k];
    near_cell_range span = { ahead ? at->at[k] : at->at[k] - layers, last + layers };
    if ( !near->frame.cell.periodic[k] )
    {
        span.first = span.first < 0 ? 0 : span.first;
        span.last = span.last < count ? span.last : count - 1;
    }
    return span;
}

// ---- entries

// The new rows are counted, without entries that are excluded, or that a half list has at the other point:
// the kernel leaves those out where ids are points.
static void take_rows( const near_cell_search* at, uint64_t before )
{
    const near_job* job = at->job;
    const clv_near* near = job->near;
    clv_pair_sink* sink = at->sink;
    clv_pair* pairs = sink->pairs;
    bool is_full = near->def.full || !near->wants_ids;
    uint64_t kept = before;
    for ( uint64_t i = before, next; i < sink->count; i = next )
    {
        next = near_row_end( pairs, i );
        clv_pair row = pairs[i];
        uint32_t point = near_point_of( near, row.a ), count = row.b;
        if ( job->thins || !is_full )
        {
            // Of a point's own images those count that are shifted up.
            uint32_t least = point + ( at->row_shift < 0 );
            const uint32_t* from = near_row_entries( pairs, i );
            uint32_t* to = near_row_entries( pairs, kept );
            count = 0;
            for ( uint32_t n = 0; n < row.b; ++n )
            {
                uint32_t id = from[n];
                to[count] = id;
                count += ( is_full || near_point_of( near, id ) >= least ) &&
                    !( job->thins && clv_near_is_excluded( near, job->call, ( clv_pair ){ row.a, id } ) );
            }
            pairs[kept] = ( clv_pair ){ row.a, count };
        }
        kept = count > 0 ? near_row_end( pairs, kept ) : kept;
        near->offsets.items[point + 2] += count;
    }
    sink->count = kept;
}

// ---- a cell's surroundings

// The shift that an unwrapped cell has along an axis of `count` cells.
static inline int32_t shift_of_cell( int64_t cell, int64_t count )
{
    return cell >= 0 && cell < count
        ? 0
        : (int32_t)( cell >= 0 ? cell / count : -( ( count - 1 - cell ) / count ) );
}

// `cells` further along the line, at most to its end.
static void step_cells( const near_grid* grid, int64_t at[3], int64_t cells )
{
    at[0] += cells;
    CLV_ASSERT( at[0] <= grid->counts[0] );
    for ( int k = 0; k < 2 && at[k] == grid->counts[k]; ++k )
    {
        at[k] = 0;
        at[k + 1] += 1;
    }
}

// The rows of the search against its columns, until all is in the sink.
static clv_result drive( near_cell_search* at )
{
    const clv_near* near = at->job->near;
    simd_near_search* search = &at->search;
    clv_pair_sink* sink = at->sink;
    clv_result result = CLV_OK;
    CLV_ASSERT( search->run_count <= NEAR_RUNS && search->column_count <= NEAR_COLUMNS );
    search->first_row = search->row = at->row;
    search->column = 0;
    at->tests += (uint64_t)( search->row_end - at->row ) * search->column_count;
    bool is_done = search->column_count == 0;
    while ( !is_done && result == CLV_OK )
    {
        uint64_t before = sink->count;
        is_done =
            near->def.doubles ? near->kernels->find64( search, sink ) : near->kernels->find( search, sink );
        if ( search->is_directed )
        {
            take_rows( at, before );
        }
        else if ( at->job->thins )
        {
            thin_pairs( at->job, sink, before );
        }
        result = is_done ? CLV_OK : sink->make_room( sink );
    }
    search->run_count = search->column_count = 0;
    search->is_own = false;
    return result;
}

// The points of these cells become columns; where there are too many at once, those so far are searched
// first.
static clv_result add_run(
    near_cell_search* at, uint32_t first_cell, uint32_t end_cell, bool is_own, const simd_near_run* moved )
{
    simd_near_search* search = &at->search;
    const uint32_t* starts = at->job->near->starts.items;
    uint32_t begin = starts[first_cell], end = starts[end_cell];
    CLV_ASSERT( first_cell <= end_cell && end_cell <= at->job->near->grid.cell_count );
    clv_result result = CLV_OK;
    while ( begin < end && result == CLV_OK )
    {
        if ( search->run_count == NEAR_RUNS || search->column_count == NEAR_COLUMNS )
        {
            result = drive( at );
        }
        uint32_t room = NEAR_COLUMNS - search->column_count;
        uint32_t count = end - begin < room ? end - begin : room;
        simd_near_run* run = &search->runs[search->run_count++];
        search->is_own = search->run_count == 1 ? is_own : search->is_own;
        *run = *moved;
        run->begin = begin;
        run->end = begin + count;
        CLV_ASSERT( count > 0 && run->end <= at->job->near->point_count );
        search->column_count += count;
        begin += count;
    }
    return result;
}

// The way and the ids of what is shifted, as near.h says: up.
static simd_near_run shifted_run( const clv_near* near, const int32_t shift[3], int64_t code )
{
    int32_t up[3];
    simd_near_run run = { .id_offset = 0 };
    for ( int k = 0; k < 3; ++k )
    {
        up[k] = code < 0 ? -shift[k] : shift[k];
    }
    near_offset( &near->frame, up, run.offset );
    for ( int axis = 0; axis < 3; ++axis )
    {
        run.offset[axis] = near_round( near, run.offset[axis] );
    }
    uint64_t times = (uint64_t)( code < 0 ? -code : code );
    CLV_ASSERT( times > 0 && ( !near->wants_ids || ( times + 1 ) * near->point_count <= UINT32_MAX ) );
    run.id_offset = near->wants_ids ? (uint32_t)( times * near->point_count ) : 0;
    return run;
}

// A run of cells that a shift moves. Where it moves them down, it is the rows that move up: those before,
// with another shift or none, are searched first.
static clv_result add_shifted(
    near_cell_search* at, uint32_t first_cell, uint32_t end_cell, const int32_t shift[3], int64_t code )
{
    const clv_near* near = at->job->near;
    simd_near_run run = shifted_run( near, shift, code ), rows = { .begin = 0 };
    simd_near_search* search = &at->search;
    clv_result result = CLV_OK;
    if ( code < 0 )
    {
        result = at->row_shift != code ? drive( at ) : CLV_OK;
        at->row_shift = code;
        search->least_step = 1;
        search->row_id_offset = run.id_offset;
        memcpy( search->row_offset, run.offset, sizeof( run.offset ) );
    }
    return result == CLV_OK ? add_run( at, first_cell, end_cell, false, code < 0 ? &rows : &run ) : result;
}

// The cells of one line from `span`, those whose shift goes up or is 0, or those whose shift goes down.
// shift[1] and [2] are the line's. True in *has_others if there are such of the other kind. Of the line that
// the rows are in only what is shifted: the rest is the run with the rows.
static clv_result add_line( near_cell_search* at, uint32_t line, bool is_own, near_cell_range span,
    int32_t shift[3], bool downwards, bool* has_others )
{
    static const simd_near_run unmoved = { .begin = 0 };
    const near_grid* grid = &at->job->near->grid;
    int64_t count = grid->counts[0];
    clv_result result = CLV_OK;
    if ( span.first >= 0 && span.last < count && ( shift[1] | shift[2] ) == 0 ) // the inside of a cell
    {
        uint32_t first = line + (uint32_t)span.first, end = line + (uint32_t)span.last + 1;
        return downwards || is_own || first >= end ? CLV_OK : add_run( at, first, end, false, &unmoved );
    }
    for ( int64_t x = span.first; x <= span.last && result == CLV_OK; )
    {
        shift[0] = shift_of_cell( x, count );
        int64_t last = ( shift[0] + 1 ) * count - 1, code = near_shift_code( grid, shift );
        last = last < span.last ? last : span.last;
        uint32_t first = line + (uint32_t)( x - shift[0] * count ), end = first + (uint32_t)( last - x + 1 );
        if ( ( code < 0 ) != downwards )
        {
            *has_others = true;
        }
        else if ( code == 0 )
        {
            result = is_own ? CLV_OK : add_run( at, first, end, false, &unmoved );
        }
        else
        {
            result = add_shifted( at, first, end, shift, code );
        }
        x = last + 1;
    }
    return result;
}

// The lines of cells behind that of the cell or on all sides of it, and what of its own line is shifted.
static clv_result add_lines( near_cell_search* at, bool downwards, bool* has_others )
{
    const near_grid* grid = &at->job->near->grid;
    int64_t wide = grid->counts[1], deep = grid->counts[2];
    bool ahead = !at->search.is_directed;
    near_cell_range row = cells_within_reach( at, 0, false ), planes = cells_within_reach( at, 2, ahead );
    clv_result result = CLV_OK;
    for ( int64_t z = planes.first; z <= planes.last && result == CLV_OK; ++z )
    {
        near_cell_range lines = cells_within_reach( at, 1, ahead && z == at->at[2] );
        int32_t shift[3] = { 0, 0, shift_of_cell( z, deep ) };
        int64_t plane = ( z - shift[2] * deep ) * wide;
        for ( int64_t y = lines.first; y <= lines.last && result == CLV_OK; ++y )
        {
            shift[1] = shift_of_cell( y, wide );
            bool is_own = z == at->at[2] && y == at->at[1];
            near_cell_range span = { is_own && ahead ? grid->counts[0] : row.first, row.last };
            uint32_t line = (uint32_t)( plane + y - shift[1] * wide ) * grid->counts[0];
            result = add_line( at, line, is_own, span, shift, downwards, has_others );
        }
    }
    return result;
}

static clv_result near_search_cell( near_cell_search* at, uint32_t cell )
{
    static const simd_near_run unmoved = { .begin = 0 };
    const clv_near* near = at->job->near;
    at->row = near->starts.items[cell];
    at->search.row_end = near->starts.items[cell + (uint32_t)at->wide];
    CLV_ASSERT( at->row < at->search.row_end && at->search.row_end <= near->point_count );
    at->search.row_id_offset = at->search.least_step = 0;
    at->search.is_compact = at->wide <= COMPACT_CELLS;
    at->row_shift = 0;
    memset( at->search.row_offset, 0, sizeof( at->search.row_offset ) );
    int64_t ahead = (int64_t)near->grid.counts[0] - at->at[0], reach = near->grid.layers[0];
    int64_t behind = !at->search.is_directed ? 0 : reach < at->at[0] ? reach : at->at[0];
    ahead = ahead < reach + at->wide ? ahead : reach + at->wide;
    bool has_others = false;
    clv_result result = add_run( at, cell - (uint32_t)behind, cell + (uint32_t)ahead, true, &unmoved );
    result = result == CLV_OK ? add_lines( at, false, &has_others ) : result;
    result = result == CLV_OK ? drive( at ) : result;
    if ( result == CLV_OK && has_others )
    {
        result = add_lines( at, true, &has_others );
        result = result == CLV_OK ? drive( at ) : result;
    }
    return result;
}

// ---- pieces

// How many cells from `cell` on are searched together: one, or more of the same line that have few points.
static int64_t block_of_cells( const near_cell_search* at, uint32_t cell, uint32_t end )
{
    const uint32_t* starts = at->job->near->starts.items;
    int64_t left = at->job->near->grid.counts[0] - at->at[0], wide = 1;
    left = left < end - cell ? left : end - cell;
    left = left < BLOCK_CELLS ? left : BLOCK_CELLS;
    while ( wide < left && starts[cell + wide + 1] - starts[cell] <= BLOCK_POINTS )
    {
        wide += 1;
    }
    return wide;
}

// The first cell that begins at point `start` or later.
static uint32_t first_cell( const clv_near* near, uint32_t start )
{
    uint32_t begin = 0, end = near->grid.cell_count;
    while ( begin < end )
    {
        uint32_t middle = begin + ( end - begin ) / 2;
        bool is_before = near->starts.items[middle] < start;
        begin = is_before ? middle + 1 : begin;
        end = is_before ? end : middle;
    }
    return begin;
}

static clv_result near_search_piece(
    uint32_t piece, uint32_t worker, clv_pair_sink* sink, uint64_t* test_count, void* context )
{
    (void)worker;
    const near_job* job = context;
    const clv_near* near = job->near;
    const near_grid* grid = &near->grid;
    uint32_t items = near->point_count;
    uint32_t cell = piece == 0 ? 0 : first_cell( near, piece * PIECE_POINTS );
    uint32_t end = items - piece * PIECE_POINTS <= PIECE_POINTS
        ? grid->cell_count
        : first_cell( near, ( piece + 1 ) * PIECE_POINTS );
    CLV_ASSERT( cell <= end && end <= grid->cell_count );
    size_t row = near_lane_row( items ) * near_number( near );
    near_cell_search at = { .job = job,
        .sink = sink,
        .search = { .x = near->lanes.items,
            .y = near->lanes.items + row,
            .z = near->lanes.items + 2 * row,
            .ids = near->ids.items,
            .limit = job->call->square,
            .is_directed = near_is_directed( near ),
            .is_lesser = near_is_directed( near ) && !near->def.full && !near->wants_ids } };
    at.at[0] = cell % grid->counts[0];
    at.at[1] = cell / grid->counts[0] % grid->counts[1];
    at.at[2] = cell / grid->counts[0] / grid->counts[1];
    uint32_t first = near->starts.items[cell];
    clv_result result = CLV_OK;
    for ( ; cell < end && result == CLV_OK; cell += (uint32_t)at.wide, step_cells( grid, at.at, at.wide ) )
    {
        at.wide = block_of_cells( &at, cell, end );
        if ( near->starts.items[cell] < near->starts.items[cell + at.wide] )
        {
            result = near_search_cell( &at, cell );
        }
    }
    // A piece that is called again counts anew.
    for ( uint32_t i = first; result != CLV_OK && at.search.is_directed && i < near->starts.items[end]; ++i )
    {
        near->offsets.items[near->ids.items[i] + 2] = 0;
    }
    *test_count += at.tests;
    return result;
}

clv_result clv_near_search( clv_near* near, const near_call* call, clv_pair_sink* sink )
{
    if ( !clv_near_grid_fill( near, call->has_cells ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    CLV_VALIDATE( clv_near_grid_check( near ) == NULL );
    near_job job = { near, call, call->points->groups != NULL || near->excluded.count > 0 };
    uint32_t pieces = ( near->point_count + PIECE_POINTS - 1 ) / PIECE_POINTS;
    near->pieces = task_worker_count( &near->tasks ) > 1 ? pieces : 1;
    near->gather.early = &clv_task_gather_early;
    return clv_task_gather_run( &near->gather, &near->memory, &near->tasks, pieces, near_search_piece, &job,
        sink, &near->test_count );
}
