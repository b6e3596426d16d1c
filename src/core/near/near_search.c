// SPDX-License-Identifier: MIT
// Every cell against itself and the cells behind it, in pieces of about as many points each; the pieces'
// pairs are joined in order.
#include "near/near_internal.h"

#include "base/assertion.h"

enum
{
    PIECE_POINTS = 1024
};

typedef struct near_job
{
    const clv_near* near;
    const near_call* call;
    bool thins; ///< something is excluded
    bool names; ///< pairs of points are wanted, not of ids
} near_job;

// ---- excluded

static bool is_listed( const clv_near* near, uint32_t a, uint32_t b )
{
    uint32_t least = a < b ? a : b, most = a < b ? b : a;
    uint32_t begin = near->excluded_starts.items[least], end = near->excluded_starts.items[least + 1];
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

uint64_t clv_near_thin(
    const clv_near* near, const near_call* call, clv_pair* pairs, uint64_t first, uint64_t count )
{
    const uint32_t* groups = call->points->groups;
    uint64_t kept = first;
    for ( uint64_t i = first; i < count; ++i )
    {
        uint32_t a = near_point_of( near, pairs[i].a ), b = near_point_of( near, pairs[i].b );
        bool is_out = groups != NULL && groups[a] == groups[b] && groups[a] != 0;
        is_out = is_out || ( near->excluded.count > 0 && is_listed( near, a, b ) );
        pairs[kept] = pairs[i];
        kept += !is_out;
    }
    return kept;
}

// ---- one cell

typedef struct near_cell_walk
{
    uint32_t at[3];            ///< of the cell, among all
    bool meets_images;         ///< some of those it meets are images, or itself is
    bool is_image;             ///< a cell of images: it meets cells of points alone
    uint32_t first[3], end[3]; ///< cells it may meet
} near_cell_walk;

// What is searched for one cell after the other.
typedef struct near_cell_search
{
    const near_job* job;
    clv_pair_sink* sink;
    simd_near_search search;
    uint32_t row; ///< first point of the cell
    bool meets_images;
    uint64_t tests;
} near_cell_search;

static void place_walk( const near_grid* grid, near_cell_walk* walk )
{
    walk->is_image = false;
    for ( int k = 0; k < 3; ++k )
    {
        walk->is_image = walk->is_image || walk->at[k] < grid->before[k] ||
            walk->at[k] >= grid->before[k] + grid->counts[k];
    }
    walk->meets_images = walk->is_image;
    for ( int k = 0; k < 3; ++k )
    {
        uint32_t least = walk->is_image ? grid->before[k] : 0;
        uint32_t most = walk->is_image ? grid->before[k] + grid->counts[k] : grid->sizes[k];
        uint32_t below = walk->at[k] > grid->layers[k] ? walk->at[k] - grid->layers[k] : 0;
        uint32_t above = walk->at[k] + grid->layers[k] + 1;
        walk->first[k] = below > least ? below : least;
        walk->end[k] = above < most ? above : most;
        walk->meets_images = walk->meets_images || walk->first[k] < grid->before[k] ||
            walk->end[k] > grid->before[k] + grid->counts[k];
    }
}

static void step_walk( const near_grid* grid, near_cell_walk* walk )
{
    for ( int k = 0; k < 3; ++k )
    {
        walk->at[k] += 1;
        if ( walk->at[k] < grid->sizes[k] )
        {
            return;
        }
        walk->at[k] = 0;
    }
}

// The rows of the search against its columns, until all is in the sink.
static clv_result drive( near_cell_search* at )
{
    const clv_near* near = at->job->near;
    simd_near_search* search = &at->search;
    clv_pair_sink* sink = at->sink;
    clv_result result = CLV_OK;
    search->row = at->row;
    search->column = 0;
    at->tests += (uint64_t)( search->row_end - at->row ) * search->column_count;
    bool is_done = search->column_count == 0;
    while ( !is_done && result == CLV_OK )
    {
        uint64_t before = sink->count;
        is_done =
            near->def.doubles ? near->kernels->find64( search, sink ) : near->kernels->find( search, sink );
        if ( at->job->thins )
        {
            sink->count = clv_near_thin( near, at->job->call, sink->pairs, before, sink->count );
        }
        if ( at->job->names && at->meets_images && sink->count > before )
        {
            clv_near_name( near, sink->pairs + before, sink->count - before, NULL );
        }
        result = is_done ? CLV_OK : sink->make_room( sink );
    }
    search->run_count = search->column_count = 0;
    search->is_own = false;
    return result;
}

// The points of these cells become columns; where there are too many at once, those so far are searched first.
static clv_result add_run( near_cell_search* at, uint32_t first_cell, uint32_t end_cell, bool is_own )
{
    simd_near_search* search = &at->search;
    const uint32_t* starts = at->job->near->starts.items;
    uint32_t begin = starts[first_cell], end = starts[end_cell];
    clv_result result = CLV_OK;
    while ( begin < end && result == CLV_OK )
    {
        if ( search->run_count == NEAR_RUNS || search->column_count == NEAR_COLUMNS )
        {
            result = drive( at );
        }
        uint32_t room = NEAR_COLUMNS - search->column_count;
        uint32_t count = end - begin < room ? end - begin : room;
        search->is_own = search->run_count == 0 ? is_own : search->is_own;
        search->runs[search->run_count++] = ( simd_near_run ){ begin, begin + count };
        search->column_count += count;
        begin += count;
    }
    return result;
}

static clv_result near_search_cell( near_cell_search* at, const near_cell_walk* walk, uint32_t cell )
{
    const clv_near* near = at->job->near;
    const near_grid* grid = &near->grid;
    at->row = near->starts.items[cell];
    at->search.row_end = near->starts.items[cell + 1];
    at->meets_images = walk->meets_images;
    // Images meet no point of their own row of cells: on the first axis they lie behind all of these.
    clv_result result =
        walk->is_image ? CLV_OK : add_run( at, cell, cell - walk->at[0] + walk->end[0], true );
    for ( uint32_t z = walk->at[2]; z < walk->end[2] && walk->first[0] < walk->end[0]; ++z )
    {
        uint32_t y = z > walk->at[2] ? walk->first[1] : walk->at[1] + 1;
        y = y > walk->first[1] ? y : walk->first[1];
        for ( ; y < walk->end[1] && z >= walk->first[2] && result == CLV_OK; ++y )
        {
            uint32_t line = ( z * grid->sizes[1] + y ) * grid->sizes[0];
            result = add_run( at, line + walk->first[0], line + walk->end[0], false );
        }
    }
    return result == CLV_OK ? drive( at ) : result;
}

// ---- pieces

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
    uint32_t items = near->point_count + near->image_count;
    uint32_t cell = piece == 0 ? 0 : first_cell( near, piece * PIECE_POINTS );
    uint32_t end = items - piece * PIECE_POINTS <= PIECE_POINTS
        ? grid->cell_count
        : first_cell( near, ( piece + 1 ) * PIECE_POINTS );
    size_t row = near_lane_row( items ) * near_number( near );
    near_cell_search at = { .job = job,
        .sink = sink,
        .search = { .x = near->lanes.items,
            .y = near->lanes.items + row,
            .z = near->lanes.items + 2 * row,
            .ids = near->ids.items,
            .limit = job->call->square } };
    near_cell_walk walk = { .at = { cell % grid->sizes[0], cell / grid->sizes[0] % grid->sizes[1],
                                cell / grid->sizes[0] / grid->sizes[1] } };
    clv_result result = CLV_OK;
    for ( ; cell < end && result == CLV_OK; ++cell, step_walk( grid, &walk ) )
    {
        if ( near->starts.items[cell] < near->starts.items[cell + 1] )
        {
            place_walk( grid, &walk );
            result = near_search_cell( &at, &walk, cell );
        }
    }
    *test_count += at.tests;
    return result;
}

clv_result clv_near_search( clv_near* near, const near_call* call, clv_pair_sink* sink )
{
    if ( !clv_near_grid_fill( near ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    near_job job = { near, call, call->points->groups != NULL || near->excluded.count > 0, !near->wants_ids };
    uint32_t items = near->point_count + near->image_count;
    uint32_t pieces = ( items + PIECE_POINTS - 1 ) / PIECE_POINTS;
    return clv_task_gather_run( &near->gather, &near->memory, &near->tasks, pieces, near_search_piece, &job,
        sink, &near->test_count );
}
