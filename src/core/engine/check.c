// SPDX-License-Identifier: MIT
// What is true of an engine that was filled, and of cells that were placed, box by box and with none of the
// code that made them but the scale. The first sentence that is not true is returned. For debug builds and
// tests: it takes several times as long as what it looks at.
#include "engine/engine_internal.h"

#include <string.h>

enum
{
    TALLY_COUNT, // words of a cell's share of scratch->kinds, which is free here
    TALLY_SUM,
    TALLY_WORDS = 8,
};

// A hash of a slot and what is said about it.
static uint32_t mix( uint32_t slot, uint64_t code )
{
    uint64_t mixed = ( code ^ (uint64_t)slot << 24 ) * UINT64_C( 0x9E3779B97F4A7C15 );
    mixed = ( mixed ^ mixed >> 29 ^ slot ) * UINT64_C( 0xBF58476D1CE4E5B9 );
    return (uint32_t)( mixed >> 32 );
}

// A box in a cell at `at`, as its entry should be: without the class, which entries do not need.
static uint64_t code_in( const cell_words* words, const uint32_t at[3], uint32_t before )
{
    uint64_t code = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        int32_t begin = (int32_t)( at[axis] * CELL_STEPS );
        int32_t lower = words->lower[axis] - begin, upper = words->upper[axis] - begin;
        before |= (uint32_t)( lower < 0 ) << axis;
        code |= (uint64_t)( lower < 0 ? 0 : lower ) << ( 8 * axis );
        code |= (uint64_t)( upper > 255 ? 255 : upper ) << ( 32 + 8 * axis );
    }
    return code | (uint64_t)before << 24;
}

static uint64_t without_class( uint64_t code )
{
    return code & UINT64_C( 0x00FFFFFFFFFFFFFF );
}

// The cells of one box, one after the other.
typedef struct cell_walk
{
    uint32_t first[3], last[3], at[3];
} cell_walk;

static cell_walk walk_begin( const cell_words* words )
{
    cell_walk walk;
    for ( int axis = 0; axis < 3; ++axis )
    {
        walk.first[axis] = walk.at[axis] = words->lower[axis] / CELL_STEPS;
        walk.last[axis] = words->upper[axis] / CELL_STEPS;
    }
    return walk;
}

static bool walk_next( cell_walk* walk )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        if ( walk->at[axis]++ < walk->last[axis] )
        {
            return true;
        }
        walk->at[axis] = walk->first[axis];
    }
    return false;
}

static bool share_has( const cell_share* share, uint32_t cell )
{
    return share->first_cell <= cell && cell < share->last_cell;
}

// ---- cells

// Which boxes should be in which cell of a share, by its records.
static void tally_records( const cell_job* job, const cell_share* share, const scaling* s, uint32_t* tallies )
{
    memset( tallies, 0, (size_t)( share->last_cell - share->first_cell ) * TALLY_WORDS * sizeof( uint32_t ) );
    for ( uint32_t i = 0; i < cell_segment_count( share ); ++i )
    {
        cell_segment segment = cell_segment_at( share, i );
        for ( uint32_t k = 0; k < segment.count; ++k )
        {
            const cell_record* record = &share->records[segment.first + k];
            cell_words words = cell_words_of( &job->boxes[cell_slot( record )], s );
            cell_walk walk = walk_begin( &words );
            do
            {
                uint32_t cell = cell_at( &job->grid, walk.at[0], walk.at[1], walk.at[2] );
                if ( share_has( share, cell ) )
                {
                    uint32_t* tally = tallies + (size_t)( cell - share->first_cell ) * TALLY_WORDS;
                    tally[TALLY_COUNT] += 1;
                    tally[TALLY_SUM] +=
                        mix( cell_slot( record ), code_in( &words, walk.at, cell_before( record ) ) );
                }
            } while ( walk_next( &walk ) );
        }
    }
}

// An entry alone, whatever others there are.
static const char* check_entry(
    const cell_job* job, const scaling* s, const uint32_t at[3], const cell_entry* entry )
{
    cell_words words = cell_words_of( &job->boxes[cell_slot( entry )], s );
    for ( int axis = 0; axis < 3; ++axis )
    {
        if ( words.lower[axis] / CELL_STEPS > at[axis] || words.upper[axis] / CELL_STEPS < at[axis] )
        {
            return "an entry lies in a cell that its box does not reach";
        }
    }
    uint64_t expected = code_in( &words, at, 0 ), bits = (uint64_t)7 << 24;
    if ( ( expected & ~bits ) != ( without_class( entry->code ) & ~bits ) )
    {
        return "a code does not hold its box";
    }
    return ( expected & ~entry->code & bits ) != 0
        ? "an entry does not know that its box began before its cell"
        : NULL;
}

static const char* check_cell( const cell_job* job, const scaling* s, uint32_t cell, const uint32_t* tally )
{
    uint32_t begin = job->starts[cell], end = job->starts[cell + 1], sum = 0;
    const cell_grid* grid = &job->grid;
    uint32_t at[3] = { cell % grid->dims[0], cell / grid->dims[0] % grid->dims[1],
        cell / grid->dims[0] / grid->dims[1] };
    if ( end < begin || end - begin != tally[TALLY_COUNT] )
    {
        return "the entry count of a cell differs from the number of boxes reaching it";
    }
    for ( uint32_t i = begin; i < end; ++i )
    {
        const char* message = check_entry( job, s, at, &job->entries[i] );
        if ( message != NULL )
        {
            return message;
        }
        sum += mix( cell_slot( &job->entries[i] ), without_class( job->entries[i].code ) );
    }
    return sum != tally[TALLY_SUM]
        ? "a box lies in a cell twice and another not at all, or a pair has no home or two"
        : NULL;
}

const char* clv_engine_cell_check( const cell_job* job, const cell_share* share )
{
    const scaling s = scaling_of( &job->grid );
    uint32_t* tallies = job->scratch->kinds;
    tally_records( job, share, &s, tallies );
    const char* message = NULL;
    for ( uint32_t cell = share->first_cell; cell < share->last_cell && message == NULL; ++cell )
    {
        message = check_cell( job, &s, cell, tallies + (size_t)( cell - share->first_cell ) * TALLY_WORDS );
    }
    return message;
}

// ---- records

static const char* check_record(
    const clv_aabb* boxes, const scaling* s, uint32_t before, const cell_record* record )
{
    uint32_t slot = cell_slot( record );
    cell_words words = cell_words_of( &boxes[slot], s );
    cell_key key = cell_words_key( &words, s );
    if ( cell_before( record ) != before )
    {
        return "a record does not know where its box began, so a pair has no home or two";
    }
    bool is_same =
        record->code == ( cell_words_code( &words ) | (uint64_t)before << 24 | (uint64_t)key.kind << 56 ) &&
        record->name == cell_name( slot, key.cell );
    return is_same ? NULL : "a record is not that of its box";
}

static const char* check_share( const clv_engine* engine, const cell_share* share, uint32_t expected )
{
    const scaling s = scaling_of( &engine->flat.grid );
    uint32_t count = 0;
    for ( uint32_t i = 0; i < cell_segment_count( share ); ++i )
    {
        cell_segment segment = cell_segment_at( share, i );
        if ( segment.count > segment.capacity )
        {
            return "a segment holds more records than it has room for";
        }
        for ( uint32_t k = 0; k < segment.count; ++k )
        {
            const char* message = check_record( engine->boxes, &s, 0, &share->records[segment.first + k] );
            if ( message != NULL )
            {
                return message;
            }
        }
        count += segment.count;
    }
    return count == expected ? NULL
                             : "the record count of a slab differs from the number of boxes reaching it";
}

// ---- one grid

// How many boxes reach each cell and each slab.
static void count_reached(
    const clv_engine* engine, const clv_method_input* input, uint32_t* cells, uint32_t* slabs )
{
    const cell_grid* grid = &engine->flat.grid;
    const scaling s = scaling_of( grid );
    memset( cells, 0, cell_grid_count( grid ) * sizeof( uint32_t ) );
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        cell_words words = cell_words_of( &input->boxes[clv_method_live_slot( input, i )], &s );
        cell_walk walk = walk_begin( &words );
        bool reached[ENGINE_SLABS] = { false };
        do
        {
            uint32_t row = walk.at[2] * grid->dims[1] + walk.at[1], slab = 0;
            while ( row >= engine->slabs.rows[slab + 1] )
            {
                slab += 1;
            }
            slabs[slab] += !reached[slab];
            reached[slab] = true;
            cells[row * grid->dims[0] + walk.at[0]] += 1;
        } while ( walk_next( &walk ) );
    }
}

static const char* check_flat( clv_engine* engine, const clv_method_input* input )
{
    const engine_slabs* slabs = &engine->slabs;
    uint32_t expected[ENGINE_SLABS] = { 0 };
    uint32_t cell_count = cell_grid_count( &engine->flat.grid );
    if ( slabs->rows[0] != 0 || slabs->rows[slabs->count] * engine->flat.grid.dims[0] != cell_count )
    {
        return "the slabs are not all rows of the grid";
    }
    bool is_placed = engine->flat.entries != NULL; // one cell, and no scratch to count in
    uint32_t one_cell[1];
    uint32_t* counts = is_placed ? one_cell : engine->scratches.items[0].starts;
    count_reached( engine, input, counts, expected );
    for ( uint32_t cell = 0; cell < cell_count && !engine->is_trusted; ++cell )
    {
        if ( engine->starts.items[cell + 1] - engine->starts.items[cell] != counts[cell] )
        {
            return "a cell was given other room than the boxes that reach it need";
        }
    }
    const char* message = NULL;
    for ( uint32_t slab = 0; slab < slabs->count && message == NULL; ++slab )
    {
        cell_share share = clv_engine_share_of( engine, slab );
        message = check_share( engine, &share, expected[slab] );
    }
    return message;
}

// ---- a strip

static const char* check_strip( const clv_engine* engine, const clv_method_input* input )
{
    const scaling s = scaling_of( &engine->flat.grid );
    const cell_entry* entries = engine->scratches.items[0].entries;
    const uint32_t shift = 8 * (uint32_t)engine->strip_axis;
    uint32_t sum = 0;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        const char* message = check_record( engine->boxes, &s, 0, &entries[i] );
        if ( message != NULL )
        {
            return message;
        }
        if ( i > 0 && (uint8_t)( entries[i - 1].code >> shift ) > (uint8_t)( entries[i].code >> shift ) )
        {
            return "a strip is not in order";
        }
        sum += mix( cell_slot( &entries[i] ), 0 ) - mix( clv_method_live_slot( input, i ), 0 );
    }
    return sum == 0 ? NULL : "a box is in the strip twice and another not at all";
}

// ---- blocks

static bool leaf_has( const block_leaf* leaf, const uint32_t first[3], const uint32_t last[3] )
{
    bool has = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        has = has && first[axis] <= cell_field( leaf->last, axis ) &&
            last[axis] >= cell_field( leaf->first, axis );
    }
    return has;
}

static const char* check_map( const block_plan* plan )
{
    const cell_grid* grid = &plan->grid;
    for ( uint32_t cell = 0; cell < cell_grid_count( grid ); ++cell )
    {
        uint32_t at[3] = { cell % grid->dims[0], cell / grid->dims[0] % grid->dims[1],
            cell / grid->dims[0] / grid->dims[1] };
        if ( plan->map.items[cell] >= plan->block_count ||
            !leaf_has( &plan->leaves.items[plan->map.items[cell]], at, at ) )
        {
            return "the map sends a coarse cell to a block that does not have it";
        }
    }
    return NULL;
}

// How many boxes reach each block: the blocks of their coarse cells, each once, known by the last box that
// was counted there.
static void count_in_blocks(
    const block_plan* plan, const clv_method_input* input, uint32_t* counts, uint32_t* last )
{
    const scaling s = scaling_of( &plan->grid );
    memset( counts, 0, plan->block_count * sizeof( uint32_t ) );
    memset( last, 0, plan->block_count * sizeof( uint32_t ) );
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        cell_words words = cell_words_of( &input->boxes[clv_method_live_slot( input, i )], &s );
        cell_walk walk = walk_begin( &words );
        do
        {
            uint32_t block = plan->map.items[cell_at( &plan->grid, walk.at[0], walk.at[1], walk.at[2] )];
            counts[block] += last[block] != i + 1;
            last[block] = i + 1;
        } while ( walk_next( &walk ) );
    }
}

static uint32_t begun_before(
    const block_plan* plan, const scaling* coarse, const clv_aabb* box, uint32_t block )
{
    cell_words words = cell_words_of( box, coarse );
    uint32_t before = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint32_t first = cell_field( plan->leaves.items[block].first, axis );
        before |= (uint32_t)( words.lower[axis] / CELL_STEPS < first ) << axis;
    }
    return before;
}

static const char* check_block( const clv_engine* engine, uint32_t block, uint32_t expected )
{
    const engine_segments* segments = &engine->segments;
    const scaling coarse = scaling_of( &engine->plan.grid ),
                  s = scaling_of( &engine->plan.grids.items[block] );
    uint32_t count = 0;
    for ( uint32_t piece = 0; piece < segments->piece_count; ++piece )
    {
        const cell_segment* segment = &segments->list.items[(size_t)piece * segments->target_count + block];
        for ( uint32_t k = 0; k < segment->count; ++k )
        {
            const cell_record* record = &segments->records.items[segment->first + k];
            uint32_t before =
                begun_before( &engine->plan, &coarse, &engine->boxes[cell_slot( record )], block );
            const char* message = check_record( engine->boxes, &s, before, record );
            if ( message != NULL )
            {
                return message;
            }
        }
        count += segment->count;
    }
    return count == expected ? NULL
                             : "the record count of a block differs from the number of boxes reaching it";
}

static const char* check_blocks( const clv_engine* engine, const clv_method_input* input )
{
    const block_plan* plan = &engine->plan;
    uint32_t* counts = plan->tallies.items; // not needed until grids are chosen again
    const char* message = check_map( plan );
    count_in_blocks( plan, input, counts, counts + plan->block_count );
    for ( uint32_t block = 0; block < plan->block_count && message == NULL; ++block )
    {
        message = check_block( engine, block, counts[block] );
    }
    return message;
}

const char* clv_engine_check( clv_engine* engine, const clv_method_input* input )
{
    return engine->plan.block_count > 0 ? check_blocks( engine, input )
        : engine->strip_axis >= 0       ? check_strip( engine, input )
                                        : check_flat( engine, input );
}
