// SPDX-License-Identifier: MIT
// Points sorted into cells that are as thick as a pair can reach: those of a cell lie one behind the other,
// by number, and so do those of neighbouring cells along the first axis.
#include "near/near_internal.h"

#include "base/assertion.h"

#include <math.h>

enum
{
    MOST_PER_AXIS = 1 << 20,
    FEW = 512,           // points that may share a cell much larger than needed
    CELLS_PER_POINT = 8, // more than that would cost more than the points themselves
    LEAST_CELLS = 4096,
    ROUNDS = 64,
    CLOSE_ROUNDS = 4, // cells twice as thick as a reach: where points crowd there, many of them are pairs
    MOST_PIECES = 16, // each has a count per cell
    CELL_RANGE = 4096 // cells whose counts are summed together
};

// ---- planned

// The least and greatest s on open axes of a cell that is periodic on others.
static void measure_open_axes( const clv_near* near, double lower[3], double upper[3] )
{
    for ( uint32_t i = 0; i < near->point_count; ++i )
    {
        double p[3], s[3];
        near_place( near, i, p );
        near_fractions( &near->frame, p, s );
        for ( int k = 0; k < 3; ++k )
        {
            lower[k] = i == 0 || s[k] < lower[k] ? s[k] : lower[k];
            upper[k] = i == 0 || s[k] > upper[k] ? s[k] : upper[k];
        }
    }
}

// Along axis k, cells `part` times as thick as a reach, or more.
static double plan_axis(
    const clv_near* near, near_grid* grid, int k, double lower, double upper, double width, double part )
{
    double most = 1;
    if ( near->frame.cell.periodic[k] )
    {
        most = floor( 1 / ( width * part ) );
        most = most < 1 ? 1 : most > MOST_PER_AXIS ? MOST_PER_AXIS : most;
        grid->lower[k] = 0;
        grid->factor[k] = most;
        double layers = ceil( width * most );
        CLV_ASSERT( layers <= MOST_PER_AXIS ); // a limit that reaches further was refused
        grid->layers[k] = (uint32_t)layers;
    }
    else
    {
        double least = ( upper - lower ) / MOST_PER_AXIS, thick = width * part > least ? width * part : least;
        grid->lower[k] = lower;
        // Two points far apart may have a difference that is infinite, or a width that is not a number.
        bool is_wide = base_is_finite( upper - lower ) && thick > 0;
        most = is_wide ? floor( ( upper - lower ) / thick ) + 1 : 1;
        grid->factor[k] = is_wide ? 1 / thick : 0;
        if ( !base_is_finite( grid->factor[k] ) )
        {
            most = 1;
            grid->factor[k] = 0;
        }
        double layers = is_wide ? ceil( width / thick ) : 1;
        grid->layers[k] = layers >= 1 ? (uint32_t)layers : 1;
    }
    grid->counts[k] = (uint32_t)most;
    grid->last[k] = most - 1;
    grid->shifts[k] = near->frame.cell.periodic[k]
        ? (int32_t)( ( grid->layers[k] + grid->counts[k] - 1 ) / grid->counts[k] )
        : 0;
    CLV_ASSERT( grid->counts[k] > 0 && grid->layers[k] > 0 );
    return most;
}

// Pairs whose shifts are told later have ids, which must fit 32 bits.
static bool ids_fit( const clv_near* near, const near_grid* grid )
{
    int64_t most = near_shift_code( grid, grid->shifts ) + 1;
    return !near->wants_ids || (uint64_t)most * near->point_count <= UINT32_MAX;
}

bool clv_near_grid_plan( const clv_near* near, const near_call* call, near_grid* grid )
{
    CLV_ASSERT( near->point_count > 0 && call->is_uniform );
    double lower[3], upper[3];
    bool is_close = false;
    memcpy( lower, call->lower, sizeof( lower ) );
    memcpy( upper, call->upper, sizeof( upper ) );
    const bool* periodic = near->frame.cell.periodic;
    if ( near->frame.is_periodic && !( periodic[0] && periodic[1] && periodic[2] ) &&
        !near->frame.is_diagonal )
    {
        measure_open_axes( near, lower, upper );
    }
    double most = (double)CELLS_PER_POINT * near->point_count + LEAST_CELLS;
    double size = 2 * most;
    for ( int round = 0; round < ROUNDS && size > most; ++round )
    {
        size = 1;
        for ( int k = 0; k < 3; ++k )
        {
            // First half a reach along the rows, then a whole one, then all three a quarter more each time.
            double part = round == 0 && k == 0 ? 0.5 : pow( 1.25, round > 1 ? round - 1 : 0 );
            size *= plan_axis( near, grid, k, lower[k], upper[k], call->parts[k], part );
        }
        is_close = round <= CLOSE_ROUNDS;
    }
    grid->cell_count = size <= most ? (uint32_t)size : 0;
    return size <= most && ( is_close || near->point_count <= FEW ) && ids_fit( near, grid );
}

// ---- filled

typedef struct near_fill_job
{
    clv_near* near;
    uint32_t items;  ///< points
    uint32_t pieces; ///< that count and place
} near_fill_job;

static void cell_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const near_fill_job* job = context;
    const clv_near* near = job->near;
    uint32_t end = near_piece_end( piece, job->items );
    for ( uint32_t i = near_piece_begin( piece ); i < end; ++i )
    {
        double p[3], s[3];
        near_place( near, i, p );
        near_fractions( &near->frame, p, s );
        near->cells.items[i] = near_cell_of( &near->grid, s[0], s[1], s[2] );
        CLV_ASSERT( near->cells.items[i] < near->grid.cell_count );
    }
}

static uint32_t share_begin( const near_fill_job* job, uint32_t piece )
{
    CLV_ASSERT( piece <= job->pieces );
    return (uint32_t)( (uint64_t)job->items * piece / job->pieces );
}

static void count_share( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const near_fill_job* job = context;
    const clv_near* near = job->near;
    uint32_t* counts = near->counts.items + (size_t)piece * near->grid.cell_count;
    memset( counts, 0, near->grid.cell_count * sizeof( uint32_t ) );
    for ( uint32_t i = share_begin( job, piece ); i < share_begin( job, piece + 1 ); ++i )
    {
        CLV_ASSERT( near->cells.items[i] < near->grid.cell_count );
        counts[near->cells.items[i]] += 1;
    }
}

// The sum of the counts of a range of cells, which `counts` has room for behind those of all shares.
static void sum_range( uint32_t span, uint32_t worker, void* context )
{
    (void)worker;
    const near_fill_job* job = context;
    const clv_near* near = job->near;
    uint32_t cells = near->grid.cell_count, begin = span * CELL_RANGE, sum = 0;
    uint32_t end = cells - begin < CELL_RANGE ? cells : begin + CELL_RANGE;
    for ( uint32_t piece = 0; piece < job->pieces; ++piece )
    {
        for ( uint32_t cell = begin; cell < end; ++cell )
        {
            sum += near->counts.items[(size_t)piece * cells + cell];
        }
    }
    near->counts.items[(size_t)job->pieces * cells + span] = sum;
}

// Counts become places: by cell, and in a cell by share.
static void place_range( uint32_t span, uint32_t worker, void* context )
{
    (void)worker;
    const near_fill_job* job = context;
    const clv_near* near = job->near;
    uint32_t cells = near->grid.cell_count, begin = span * CELL_RANGE;
    uint32_t end = cells - begin < CELL_RANGE ? cells : begin + CELL_RANGE;
    uint32_t sum = near->counts.items[(size_t)job->pieces * cells + span];
    for ( uint32_t cell = begin; cell < end; ++cell )
    {
        near->starts.items[cell] = sum;
        for ( uint32_t piece = 0; piece < job->pieces; ++piece )
        {
            uint32_t* count = &near->counts.items[(size_t)piece * cells + cell];
            uint32_t here = *count;
            *count = sum;
            sum += here;
        }
    }
}

static void near_sum_counts( near_fill_job* job, uint32_t ranges )
{
    clv_near* near = job->near;
    uint32_t cells = near->grid.cell_count, sum = 0;
    uint32_t* sums = near->counts.items + (size_t)job->pieces * cells;
    clv_task_run( &near->tasks, sum_range, ranges, job );
    for ( uint32_t span = 0; span < ranges; ++span )
    {
        uint32_t here = sums[span];
        sums[span] = sum;
        sum += here;
    }
    clv_task_run( &near->tasks, place_range, ranges, job );
    near->starts.items[cells] = sum;
    CLV_ASSERT( sum == job->items );
}

static void place_share( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const near_fill_job* job = context;
    const clv_near* near = job->near;
    uint32_t* places = near->counts.items + (size_t)piece * near->grid.cell_count;
    const uint32_t* cells = near->cells.items;
    uint32_t begin = share_begin( job, piece ), end = share_begin( job, piece + 1 );
    if ( near->def.doubles )
    {
        near_record64* out = (near_record64*)(void*)near->placed.items;
        for ( uint32_t i = begin; i < end; ++i )
        {
            out[places[cells[i]]++] = near_records64( near )[i];
        }
    }
    else
    {
        near_record* out = (near_record*)(void*)near->placed.items;
        for ( uint32_t i = begin; i < end; ++i )
        {
            out[places[cells[i]]++] = near_records( near )[i];
        }
    }
}

// Records become arrays by axis, which registers are loaded from.
#define SPREAD( number, record )                                                                             \
    {                                                                                                        \
        const record* from = (const record*)(const void*)near->placed.items;                                 \
        size_t row = near_lane_row( job->items );                                                            \
        number* to = (number*)(void*)near->lanes.items;                                                      \
        for ( uint32_t i = begin; i < end; ++i )                                                             \
        {                                                                                                    \
            CLV_ASSERT( from[i].id < job->items );                                                           \
            to[i] = from[i].at[0];                                                                           \
            to[row + i] = from[i].at[1];                                                                     \
            to[2 * row + i] = from[i].at[2];                                                                 \
            near->ids.items[i] = (uint32_t)from[i].id;                                                       \
        }                                                                                                    \
    }

static void spread_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const near_fill_job* job = context;
    const clv_near* near = job->near;
    uint32_t begin = near_piece_begin( piece ), end = near_piece_end( piece, job->items );
    if ( near->def.doubles )
        SPREAD( double, near_record64 )
    else
        SPREAD( float, near_record )
}

bool clv_near_grid_fill( clv_near* near, bool has_cells )
{
    CLV_ASSERT( near->point_count > 0 && near->grid.cell_count > 0 );
    near_fill_job job = { near, near->point_count, 1 };
    uint32_t workers = task_worker_count( &near->tasks );
    job.pieces =
        workers > 1 && job.items > 4 * NEAR_PIECE ? ( workers < MOST_PIECES ? workers : MOST_PIECES ) : 1;
    uint64_t cells = near->grid.cell_count;
    uint32_t ranges = (uint32_t)( ( cells + CELL_RANGE - 1 ) / CELL_RANGE );
    uint64_t lanes = 3 * near_lane_row( job.items ) * near_number( near );
    base_memory* memory = &near->memory;
    if ( !base_array_reserve( &near->cells, memory, job.items ) ||
        !base_array_reserve( &near->starts, memory, cells + 1 ) ||
        !base_array_reserve( &near->counts, memory, cells * job.pieces + ranges ) ||
        !base_array_reserve( &near->placed, memory, job.items * (uint64_t)near_record_size( near ) ) ||
        !base_array_reserve( &near->lanes, memory, lanes ) ||
        !base_array_reserve( &near->ids, memory, near_lane_row( job.items ) ) )
    {
        return false;
    }
    // Behind the last point registers read what does not count, but is memory all the same.
    size_t row = near_lane_row( job.items ), number = near_number( near );
    for ( size_t axis = 0; axis < 3; ++axis )
    {
        memset( near->lanes.items + ( axis * row + job.items ) * number, 0, ( row - job.items ) * number );
    }
    CLV_ASSERT( row >= (size_t)job.items + NEAR_LANES );
    memset( near->ids.items + job.items, 0, ( row - job.items ) * sizeof( uint32_t ) );
    uint32_t pieces = near_piece_count( job.items );
    if ( !has_cells )
    {
        clv_task_run( &near->tasks, cell_piece, pieces, &job );
    }
    clv_task_run( &near->tasks, count_share, job.pieces, &job );
    near_sum_counts( &job, ranges );
    clv_task_run( &near->tasks, place_share, job.pieces, &job );
    clv_task_run( &near->tasks, spread_piece, pieces, &job );
    return true;
}
