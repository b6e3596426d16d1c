// SPDX-License-Identifier: MIT
// Rows of cells, cut into slabs of about equal weight: what one worker of several counts, and then places and
// searches at one go.
#include "engine/engine_internal.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <string.h>

enum
{
    SLAB_SAMPLES = 1024, // boxes looked at to cut slabs of equal weight
    GRID_ROWS = CELL_GRID_SIDE * CELL_GRID_SIDE,
    SLABS_PER_WORKER = 2,
    LINE_RECORDS = BASE_ALIGNMENT / sizeof( cell_record ),
};

static uint32_t cell_along( const cell_grid* grid, int axis, float lower )
{
    float at = ( lower - grid->origin[axis] ) * grid->scale[axis] / CELL_STEPS;
    float most = (float)( grid->dims[axis] - 1 );
    at = at > 0 ? at : 0;
    return (uint32_t)( at < most ? at : most );
}

// Cut rows into slabs of about equal weight. Any cut is right; a bad one is only slow.
static void cut_rows( engine_slabs* slabs, const cell_grid* grid, const uint64_t* weights, uint64_t total )
{
    uint32_t row_count = grid->dims[1] * grid->dims[2];
    memcpy( slabs->dims, grid->dims, sizeof( slabs->dims ) );
    slabs->count = 0;
    uint64_t seen = 0;
    for ( uint32_t row = 0; row < row_count; ++row )
    {
        if ( seen * slabs->wanted >= slabs->count * total && slabs->count < slabs->wanted )
        {
            slabs->rows[slabs->count++] = row;
        }
        seen += weights[row];
    }
    slabs->rows[slabs->count] = row_count;
    CLV_ASSERT( slabs->count <= slabs->wanted );
}

static void cut_by_sample( engine_slabs* slabs, const cell_grid* grid, const clv_method_input* input )
{
    uint64_t counts[GRID_ROWS] = { 0 };
    uint32_t total = 0;
    uint32_t step = input->live_count / SLAB_SAMPLES + 1;
    for ( uint32_t first = 0; first < input->live_count && slabs->wanted > 1; first += step, ++total )
    {
        uint32_t sample = base_sample_step( first, step, input->live_count );
        const clv_aabb* box = &input->boxes[clv_method_live_slot( input, sample )];
        counts[cell_along( grid, 2, box->lower.z ) * grid->dims[1] + cell_along( grid, 1, box->lower.y )] +=
            1;
    }
    cut_rows( slabs, grid, counts, total );
}

// The last update's slabs, where its grid was like this one: a sample is many trips to memory, all by one
// worker.
void clv_engine_cut_slabs( clv_engine* engine, const clv_method_input* input, uint32_t workers )
{
    const cell_grid* grid = &engine->flat.grid;
    const engine_slabs* last = &engine->next_slabs;
    uint32_t wanted = workers > 1 ? SLABS_PER_WORKER * workers : 1;
    wanted = wanted < ENGINE_SLABS ? wanted : ENGINE_SLABS;
    if ( wanted == last->wanted && memcmp( last->dims, grid->dims, sizeof( last->dims ) ) == 0 )
    {
        engine->slabs = *last;
    }
    else
    {
        engine->slabs.wanted = wanted;
        cut_by_sample( &engine->slabs, grid, input );
    }
    CLV_ASSERT( engine->slabs.count > 0 && engine->slabs.rows[0] == 0 );
    CLV_ASSERT( engine->slabs.rows[engine->slabs.count] == grid->dims[1] * grid->dims[2] );
}

// What a cell of so many entries costs, about: they are placed, and each is tested against the others, 64 at
// once.
static uint64_t weight_of( uint32_t entries )
{
    return (uint64_t)entries * ( 4 + entries / 64 );
}

// Are the slabs about equally heavy?
static bool slabs_are_even( const engine_slabs* slabs, const uint64_t* weights, uint64_t total )
{
    uint64_t most = 0;
    for ( uint32_t slab = 0; slab < slabs->count; ++slab )
    {
        uint64_t weight = 0;
        for ( uint32_t row = slabs->rows[slab]; row < slabs->rows[slab + 1]; ++row )
        {
            weight += weights[row];
        }
        most = weight > most ? weight : most;
    }
    return 4 * most * slabs->count <= 5 * total;
}

// Slabs for the next update, by the entries of this one: kept while within 25 % of even, and chosen anew with
// a new grid, since others need other segments.
void clv_engine_remember_slabs( clv_engine* engine )
{
    const cell_grid* grid = &engine->flat.grid;
    uint64_t weights[GRID_ROWS];
    uint64_t total = 0;
    uint32_t row_count = grid->dims[1] * grid->dims[2], width = grid->dims[0];
    engine->next_slabs = engine->slabs;
    if ( engine->slabs.wanted == 1 || engine->grid_age > 1 )
    {
        return;
    }
    for ( uint32_t row = 0; row < row_count; ++row )
    {
        weights[row] = 0;
        for ( uint32_t cell = row * width; cell < ( row + 1 ) * width; ++cell )
        {
            weights[row] += weight_of( engine->starts.items[cell + 1] - engine->starts.items[cell] );
        }
        total += weights[row];
    }
    if ( !slabs_are_even( &engine->slabs, weights, total ) )
    {
        cut_rows( &engine->next_slabs, grid, weights, total );
    }
}

cell_share clv_engine_share_of( const clv_engine* engine, uint32_t slab )
{
    uint32_t width = engine->flat.grid.dims[0];
    const engine_slabs* slabs = &engine->slabs;
    CLV_ASSERT( slab < slabs->count );
    uint32_t first = slabs->rows[slab] * width, last = slabs->rows[slab + 1] * width;
    if ( slabs->count == 1 )
    {
        return ( cell_share ){ engine->records.items, NULL, 0, engine->flat.count, true, first, last };
    }
    const engine_segments* segments = &engine->segments;
    return ( cell_share ){ segments->records.items, segments->list.items + slab, segments->target_count,
        segments->piece_count, true, first, last };
}

bool clv_engine_reserve_slabs( clv_engine* engine, uint32_t workers )
{
    engine_slab_room* room = &engine->slab_room;
    const engine_segments* segments = &engine->segments;
    if ( room->layout_number != segments->layout_number )
    {
        room->most = 0;
        for ( uint32_t slab = 0; slab < segments->target_count; ++slab )
        {
            uint64_t sum = 0;
            for ( uint32_t piece = 0; piece < segments->piece_count; ++piece )
            {
                sum += segments->list.items[(size_t)piece * segments->target_count + slab].capacity;
            }
            room->most = sum > room->most ? sum : room->most;
        }
        // No two workers write to one line of memory.
        room->most = ( room->most + LINE_RECORDS - 1 ) / LINE_RECORDS * LINE_RECORDS;
        room->layout_number = segments->layout_number;
    }
    return base_array_renew( &engine->records, engine->memory, room->most * workers );
}

cell_share clv_engine_bring_slab( const clv_engine* engine, uint32_t slab, uint32_t worker )
{
    cell_record* records = engine->records.items + engine->slab_room.most * worker;
    cell_share share = clv_engine_share_of( engine, slab );
    share.records = records;
    share.segments = NULL;
    share.count = clv_engine_segments_bring( &engine->segments, slab, records );
    CLV_ASSERT( share.count <= engine->slab_room.most );
    return share;
}
