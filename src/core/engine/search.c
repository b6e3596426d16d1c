// SPDX-License-Identifier: MIT
// The cells of a grid, one after the other, each by a kernel. A crowded cell gets a grid of its own; in
// worlds where most pairs are ties a cell's boxes are seen at a finer scale first.
#include "engine/cell.h"

#include "base/assertion.h"

#include <string.h>

enum
{
    BLUR_SAMPLES = 16,
    BLUR_WORTH =
        1024, // entries of a cell times pairs of the sample from which a finer scale saves more than it costs
};

// How deep the next grid would lie in others, and where its share of the scratch begins.
typedef struct nesting
{
    uint32_t depth;
    cell_entry* entries;
    uint32_t* starts;
    cell_record* records;
} nesting;

static cell_search search_of( const cell_job* job, clv_pair_sink* sink )
{
    const cell_scratch* scratch = job->scratch;
    return ( cell_search ){ job->exact, sink, scratch->lanes, scratch->slots, scratch->ties, 0, job->counters,
        -1 };
}

static clv_result settle( const cell_job* job, cell_search* search, clv_result result )
{
    return result == CLV_OK && search->tie_count > 0 ? job->kernels->settle_ties( search ) : result;
}

// Where a cell lies in its grid.
typedef struct cell_place
{
    uint32_t at[3];
} cell_place;

static cell_place place_of( const cell_grid* grid, uint32_t cell )
{
    return ( cell_place ){ { cell % grid->dims[0], cell / grid->dims[0] % grid->dims[1],
        cell / grid->dims[0] / grid->dims[1] } };
}

clv_result clv_engine_cell_search_entries(
    const cell_job* job, cell_search* search, const cell_entry* entries, uint32_t count )
{
    search->counters->cell_count += 1;
    search->counters->entry_count += count;
    search->counters->test_count += (uint64_t)count * ( count - 1 ) / 2;
    return job->kernels->search_cell( search, entries, count );
}

static clv_result search_grid( cell_job* job, cell_search* search, cell_layout layout, nesting inner );

// A crowded cell: its boxes get a grid of their own and are told what they have begun before.
static clv_result search_inner(
    const cell_job* outer, cell_search* search, uint32_t cell, const cell_entry* entries, nesting inner )
{
    const cell_grid* grid = &outer->grid;
    cell_place place = place_of( grid, cell );
    CLV_ASSERT( inner.depth < CELL_DEPTH );
    CLV_ASSERT( inner.entries >= entries ); // behind those of the grid around it
    cell_job job = *outer;
    job.records = inner.records;
    job.count = outer->starts[cell + 1] - outer->starts[cell];
    job.grid = ( cell_grid ){ .dims = { 0, 0, 0 } };
    memcpy( inner.records, entries, job.count * sizeof( cell_record ) );
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint32_t at = place.at[axis];
        float side = CELL_STEPS / grid->scale[axis];
        // The border cells hold everything outside, too; the grid clips what the boxes do not reach.
        job.region_low[axis] = at == 0 ? outer->region_low[axis] : grid->origin[axis] + (float)at * side;
        job.region_high[axis] = at + 1 == grid->dims[axis] ? outer->region_high[axis]
                                                           : grid->origin[axis] + (float)( at + 1 ) * side;
    }
    job.entries = inner.entries;
    job.starts = inner.starts;
    cell_layout layout = clv_engine_cell_lay_alone( &job );
    inner.records += job.count;
    inner.depth += 1;
    return search_grid( &job, search, layout, inner );
}

// Do so many boxes begin at the same 256th of a cell that its bytes hardly tell them apart?
static bool is_blurred( const cell_entry* entries, uint32_t count )
{
    uint32_t begins[BLUR_SAMPLES], alike = 0;
    for ( uint32_t i = 0; i < BLUR_SAMPLES; ++i )
    {
        begins[i] = (uint32_t)entries[(uint64_t)i * count / BLUR_SAMPLES].code & 0xFFFFFF;
        for ( uint32_t j = 0; j < i; ++j )
        {
            alike += begins[i] == begins[j];
        }
    }
    return (uint64_t)alike * count >= BLUR_WORTH;
}

// Is a cell better cut by planes, and its parts seen at a scale of their own, than tested as it is?
static bool is_to_cut( const cell_job* job, const cell_entry* entries, uint32_t count )
{
    uint32_t least = job->is_sharpened ? CELL_SHARPEN : CELL_BLUR;
    return count > CELL_OVERFULL || ( count >= least && is_blurred( entries, count ) );
}

// The cells [first, last), where all entries are placed.
static clv_result search_range(
    const cell_job* job, cell_search* search, uint32_t first, uint32_t last, nesting inner )
{
    clv_result result = CLV_OK;
    for ( uint32_t cell = first; cell < last && result == CLV_OK; ++cell )
    {
        CLV_ASSERT( job->starts[cell] <= job->starts[cell + 1] );
        cell_entry* entries = job->entries + job->starts[cell];
        uint32_t count = job->starts[cell + 1] - job->starts[cell];
        if ( count < 2 )
        {
            continue;
        }
        if ( count > CELL_OVERFULL && count <= job->count / 2 && inner.depth < CELL_DEPTH )
        {
            result = search_inner( job, search, cell, entries, inner );
            continue;
        }
        result = is_to_cut( job, entries, count )
            ? clv_engine_cell_cut( job, search, entries, count )
            : clv_engine_cell_search_entries( job, search, entries, count );
    }
    return result;
}

// A grid that one worker laid: counts are in starts[cell + 1], where the next place of `cell` is while it is
// filled.
static clv_result search_grid( cell_job* job, cell_search* search, cell_layout layout, nesting inner )
{
    uint32_t cell_count = cell_grid_count( &job->grid );
    cell_share all = cell_share_all( job );
    job->starts[0] = 0;
    clv_engine_cell_sum_starts( job->starts + 1, cell_count );
    clv_engine_cell_place_entries( job, &all, job->starts + 1, layout.entry_count );
    CLV_ASSERT( job->starts[cell_count] == layout.entry_count );
    CLV_VALIDATE( clv_engine_cell_check( job, &all ) == NULL );
    memset( job->entries + layout.entry_count, 0, CELL_SLACK * sizeof( cell_entry ) );
    inner.entries += layout.entry_count + CELL_SLACK;
    inner.starts += cell_count + 1;
    return search_range( job, search, 0, cell_count, inner );
}

clv_result clv_engine_cell_search_block( cell_job* job, clv_pair_sink* sink )
{
    const cell_scratch* scratch = job->scratch;
    job->entries = scratch->entries;
    job->starts = scratch->starts;
    if ( job->count < 2 )
    {
        return CLV_OK;
    }
    if ( cell_grid_count( &job->grid ) > cell_count_most( job->count ) )
    {
        job->grid.dims[0] = 0; // it was chosen for more boxes than came
    }
    cell_layout layout = clv_engine_cell_lay_alone( job );
    nesting inner = { 0, scratch->entries, scratch->starts, scratch->records };
    cell_search search = search_of( job, sink );
    clv_result result = search_grid( job, &search, layout, inner );
    result = settle( job, &search, result );
    CLV_ASSERT( result != CLV_OK || search.tie_count == 0 );
    return result;
}

// Pairs to come, if the rest of the grid is like what was searched of it.
static uint64_t expected_pairs( const clv_pair_sink* sink, uint32_t cell, uint32_t cell_count )
{
    return (uint64_t)( (double)sink->count * ( cell_count - cell ) / ( cell > 0 ? cell : 1 ) );
}

// Ties are settled row by row of cells, so that the order of pairs does not depend on which rows are asked
// for.
clv_result clv_engine_cell_search_rows(
    const cell_job* job, uint32_t first, uint32_t last, clv_pair_sink* sink )
{
    const cell_scratch* scratch = job->scratch;
    const uint32_t width = job->grid.dims[0];
    nesting inner = { 0, scratch->entries, scratch->starts, scratch->records };
    CLV_ASSERT( first % width == 0 && last % width == 0 );
    CLV_ASSERT( first <= last && last <= cell_grid_count( &job->grid ) );
    if ( job->entries == scratch->entries ) // inner grids lie behind
    {
        inner.entries += job->starts[last] + CELL_SLACK;
        inner.starts += last + 1;
    }
    cell_search search = search_of( job, sink );
    clv_result result = CLV_OK;
    for ( uint32_t cell = first; cell < last && result == CLV_OK; cell += width )
    {
        sink->expected = expected_pairs( sink, cell, cell_grid_count( &job->grid ) );
        result = search_range( job, &search, cell, cell + width, inner );
        result = settle( job, &search, result );
    }
    return result;
}
