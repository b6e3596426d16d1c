// SPDX-License-Identifier: MIT
// Laying a grid alone: entries counted and placed by one worker and by slabs, looked at by the checker; and
// the checker by what it says when something is spoilt.
#include "engine/block.h"
#include "engine/corner.h"
#include "engine/segments.h"
#include "simd/kernels.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum
{
    BOXES = 3000,
    SLOT_STEP = 3, // every third slot has a box, so that they lie in several chunks
    SLOTS = BOXES * SLOT_STEP,
    ENTRIES = BOXES * CELL_ENTRIES_PER_BOX + CELL_SLACK,
    CELLS = BOXES / CELL_BOXES_PER_CELL + 1,
    SLABS = 3,
};

// A grid in one worker's memory.
typedef struct laid
{
    base_memory memory;
    clv_aabb boxes[SLOTS];
    uint32_t live[BOXES];
    cell_record records[BOXES];
    cell_scratch scratch;
    cell_counters counters;
    cell_job job;
    cell_layout layout;
} laid;

static laid s_laid;

// `count` boxes, of which only slots and before bits are known: the grid is to be chosen.
static laid* open_crowd( test_crowd crowd, uint32_t count, uint64_t seed )
{
    laid* l = &s_laid;
    test_random random = test_random_make( seed );
    test_where.seed = seed;
    memset( l, 0, sizeof( *l ) );
    l->memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    for ( uint32_t i = 0; i < count; ++i )
    {
        l->live[i] = i * SLOT_STEP;
        l->boxes[l->live[i]] = test_crowd_box( crowd, count, &random );
        uint64_t before = test_random_chance( &random, 10 ) ? test_random_below( &random, 8 ) : 0;
        l->records[i] = ( cell_record ){ before << 24, cell_name( l->live[i], 0 ) };
    }
    CHECK( clv_engine_cell_scratch_reserve_cells( &l->scratch, &l->memory, CELLS, CELLS, CELLS ) );
    CHECK( clv_engine_cell_scratch_reserve_entries( &l->scratch, &l->memory, cell_layout_most( count ) ) );
    l->job = ( cell_job ){ .kernels = clv_simd_kernels_for( clv_isa_best() )->cells,
        .boxes = l->boxes,
        .exact = l->boxes,
        .cut = l->boxes,
        .records = l->records,
        .count = count,
        .entries = l->scratch.entries,
        .starts = l->scratch.starts,
        .region_low = { -1e30f, -1e30f, -1e30f },
        .region_high = { 1e30f, 1e30f, 1e30f },
        .scratch = &l->scratch,
        .counters = &l->counters };
    return l;
}

static void close_crowd( laid* l )
{
    clv_engine_cell_scratch_release( &l->scratch, &l->memory );
    CHECK_EQUAL( l->memory.bytes, 0 );
}

static void place_all( laid* l )
{
    cell_job* job = &l->job;
    uint32_t cells = cell_grid_count( &job->grid );
    cell_share all = cell_share_all( job );
    all.by_slot = true;
    job->starts[0] = 0;
    CHECK_EQUAL( clv_engine_cell_sum_starts( job->starts + 1, cells ), l->layout.entry_count );
    clv_engine_cell_place_entries( job, &all, job->starts + 1, l->layout.entry_count );
}

static const char* ask( const laid* l )
{
    cell_share all = cell_share_all( &l->job );
    return clv_engine_cell_check( &l->job, &all );
}

static void every_crowd_is_laid_as_the_checker_says( void )
{
    for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
    {
        for ( uint32_t count = 2; count <= BOXES; count = count * 3 - 1 )
        {
            laid* l = open_crowd( (test_crowd)crowd, count, 100 * (uint64_t)crowd + count );
            l->layout = clv_engine_cell_lay_alone( &l->job );
            CHECK( l->layout.entry_count >= count );
            CHECK( l->layout.entry_count <= count * CELL_ENTRIES_PER_BOX );
            place_all( l );
            CHECK_TEXT( ask( l ) == NULL ? "" : ask( l ), "" );
            close_crowd( l );
        }
    }
}

// Records in any grid, whether it is worth it or not.
static void lay_in( laid* l, cell_grid grid )
{
    l->job.grid = grid;
    clv_engine_cell_requantise( &l->job, &grid, l->records, l->job.count );
    l->layout = clv_engine_cell_lay_alone( &l->job );
}

static void a_given_grid_is_kept_where_it_fits( void )
{
    laid* l = open_crowd( TEST_CROWD_SPREAD, BOXES, 1 );
    cell_extent extent = clv_engine_cell_measure_job( &l->job );
    cell_grid grid = clv_engine_cell_grid_choose( BOXES, &extent );
    lay_in( l, grid );
    CHECK( memcmp( &l->job.grid, &grid, sizeof( grid ) ) == 0 );
    place_all( l );
    CHECK( ask( l ) == NULL );
    close_crowd( l );
}

static void a_grid_of_too_many_entries_is_made_coarser( void )
{
    laid* l = open_crowd( TEST_CROWD_SPREAD, BOXES, 2 );
    for ( uint32_t i = 0; i < BOXES; ++i )
    {
        clv_aabb* box = &l->boxes[l->live[i]];
        box->upper.x = box->lower.x + 20;
    }
    cell_extent extent = clv_engine_cell_measure_job( &l->job );
    float width = extent.high[0] - extent.low[0];
    cell_grid grid = { { extent.low[0], extent.low[1], extent.low[2] },
        { CELL_STEPS * 60 / width, CELL_STEPS / 100.0f, CELL_STEPS / 100.0f }, { 60, 1, 1 } };
    lay_in( l, grid );
    CHECK( l->job.grid.dims[0] < 60 );
    CHECK( l->layout.entry_count <= BOXES * CELL_ENTRIES_PER_BOX );
    place_all( l );
    CHECK( ask( l ) == NULL );
    close_crowd( l );
}

static void a_crowd_in_one_cell_is_looked_at_alone( void )
{
    laid* l = open_crowd( TEST_CROWD_SPREAD, BOXES, 3 );
    cell_grid grid = { { -5000, -300, -300 }, { 1, 1, 1 }, { 40, 3, 3 } }; // cells of 256 m
    lay_in( l, grid );
    CHECK( l->job.grid.scale[0] > 10 );
    CHECK( l->layout.fullest < BOXES / 2 );
    place_all( l );
    CHECK( ask( l ) == NULL );
    close_crowd( l );
}

static void records_made_again_keep_what_they_began_before( void )
{
    laid* l = open_crowd( TEST_CROWD_MIXED, BOXES, 4 );
    uint32_t before[BOXES];
    for ( uint32_t i = 0; i < BOXES; ++i )
    {
        before[i] = cell_before( &l->records[i] );
    }
    cell_grid grid = { { -3, -3, -3 }, { 100, 200, 300 }, { 5, 6, 7 } };
    const scaling s = scaling_of( &grid );
    clv_engine_cell_requantise( &l->job, &grid, l->records, BOXES );
    for ( uint32_t i = 0; i < BOXES; ++i )
    {
        cell_words words = cell_words_of( &l->boxes[l->live[i]], &s );
        cell_key key = cell_words_key( &words, &s );
        CHECK_EQUAL( cell_before( &l->records[i] ), before[i] );
        CHECK_EQUAL( cell_slot( &l->records[i] ), l->live[i] );
        CHECK_EQUAL( cell_first( &l->records[i] ), key.cell );
        CHECK_EQUAL( cell_class( &l->records[i] ), key.kind );
    }
    close_crowd( l );
}

// ---- slabs

typedef struct slab_case
{
    uint8_t slab_of_cell[CELLS];
    cell_segment segments[2][SLABS]; ///< of two pieces
    cell_record records[2 * SLABS * BOXES];
    cell_entry entries[ENTRIES];
    uint32_t counts[CELLS], starts[CELLS + 1], kinds[8 * CELLS];
} slab_case;

static slab_case s_slabs;

static void scatter_pieces( laid* l, uint32_t piece_end )
{
    clv_method_input input = { .boxes = l->boxes, .live = l->live, .live_count = l->job.count };
    for ( uint32_t piece = 0; piece < 2; ++piece )
    {
        for ( uint32_t slab = 0; slab < SLABS; ++slab )
        {
            s_slabs.segments[piece][slab] = ( cell_segment ){ ( piece * SLABS + slab ) * BOXES, 0, BOXES, 0 };
        }
        slab_work work = { l->job.kernels, &input, &l->job.grid, piece == 0 ? 0 : piece_end,
            piece == 0 ? piece_end : l->job.count, s_slabs.slab_of_cell, SLABS, s_slabs.segments[piece],
            s_slabs.records };
        clv_engine_slab_scatter( &work );
    }
}

// A slab counted and placed for itself: its cells hold what they hold where one worker places all.
static void compare_slab( laid* l, uint32_t slab, uint32_t first, uint32_t last )
{
    cell_share share = { s_slabs.records, &s_slabs.segments[0][slab], SLABS, 2, true, first, last };
    CHECK( clv_engine_cell_count_entries( &l->job, &share, s_slabs.kinds, s_slabs.counts ) );
    memcpy( s_slabs.starts + first + 1, s_slabs.counts + first, ( last - first ) * sizeof( uint32_t ) );
    s_slabs.starts[first] = 0;
    uint32_t sum = clv_engine_cell_sum_starts( s_slabs.starts + first + 1, last - first );
    cell_job job = l->job;
    job.entries = s_slabs.entries;
    job.starts = s_slabs.starts;
    clv_engine_cell_place_entries( &job, &share, s_slabs.starts + 1, sum );
    CHECK( clv_engine_cell_check( &job, &share ) == NULL );
    uint32_t count = s_slabs.starts[last];
    CHECK_EQUAL( count, l->job.starts[last] - l->job.starts[first] );
    CHECK(
        memcmp( s_slabs.entries, l->job.entries + l->job.starts[first], count * sizeof( cell_entry ) ) == 0 );
}

static void slabs_hold_what_one_worker_places( void )
{
    static const test_crowd crowds[] = { TEST_CROWD_SPREAD, TEST_CROWD_MIXED, TEST_CROWD_BARS,
        TEST_CROWD_FLAT };
    for ( uint32_t c = 0; c < TEST_COUNT( crowds ); ++c )
    {
        laid* l = open_crowd( crowds[c], BOXES, 7 );
        for ( uint32_t i = 0; i < BOXES; ++i )
        {
            l->records[i].code = 0; // slabs are of one block, where no box began before
        }
        l->layout = clv_engine_cell_lay_alone( &l->job );
        place_all( l );
        const cell_grid* grid = &l->job.grid;
        uint32_t rows = grid->dims[1] * grid->dims[2], width = grid->dims[0], cuts[SLABS + 1];
        for ( uint32_t slab = 0; slab <= SLABS; ++slab )
        {
            cuts[slab] = rows * slab / SLABS * width;
        }
        for ( uint32_t slab = 0; slab < SLABS; ++slab )
        {
            memset( s_slabs.slab_of_cell + cuts[slab], (int)slab, cuts[slab + 1] - cuts[slab] );
        }
        scatter_pieces( l, ( CELL_CHUNK + SLOT_STEP - 1 ) / SLOT_STEP ); // pieces are whole chunks of slots
        for ( uint32_t slab = 0; slab < SLABS; ++slab )
        {
            if ( cuts[slab] < cuts[slab + 1] )
            {
                compare_slab( l, slab, cuts[slab], cuts[slab + 1] );
            }
        }
        close_crowd( l );
    }
}

// ---- the checker

/// `place` holds `value` for as long as the checker looks; it must complain in these words, and be content
/// afterwards.
#define SPOIL( place, value, words )                                                                         \
    do                                                                                                       \
    {                                                                                                        \
        char kept_[sizeof( place )];                                                                         \
        memcpy( kept_, &( place ), sizeof( place ) );                                                        \
        ( place ) = ( value );                                                                               \
        CHECK( ask( l ) != NULL );                                                                           \
        CHECK_TEXT( ask( l ), words );                                                                       \
        memcpy( &( place ), kept_, sizeof( place ) );                                                        \
        CHECK( ask( l ) == NULL );                                                                           \
    } while ( 0 )

static void the_checker_sees_what_is_spoilt( void )
{
    static const char twice[] =
        "a box lies in a cell twice and another not at all, or a pair has no home or two";
    static const char count[] = "the entry count of a cell differs from the number of boxes reaching it";
    laid* l = open_crowd( TEST_CROWD_SPREAD, BOXES, 9 );
    l->layout = clv_engine_cell_lay_alone( &l->job );
    place_all( l );
    CHECK( ask( l ) == NULL );
    uint32_t cell = cell_grid_count( &l->job.grid ) / 2;
    cell_entry* entries = l->job.entries + l->job.starts[cell];
    CHECK( l->job.starts[cell + 1] - l->job.starts[cell] >= 2 );
    cell_entry* first = &l->job.entries[l->job.starts[0]];
    CHECK( l->job.starts[1] > l->job.starts[0] );
    SPOIL( l->job.starts[cell], l->job.starts[cell] + 1, count );
    SPOIL( l->job.starts[cell + 1], 0, count );
    SPOIL( entries[0].code, entries[0].code ^ 1, "a code does not hold its box" );
    SPOIL( entries[0].code, entries[0].code ^ (uint64_t)0x80 << 48, "a code does not hold its box" );
    SPOIL( entries[0], entries[1], twice );
    SPOIL( first->code, first->code ^ (uint64_t)1 << 24, twice );
    SPOIL( entries[0], *first, "an entry lies in a cell that its box does not reach" );
    uint32_t reached = 0; // an entry of a box that begins before its cell
    while ( cell_before( &l->job.entries[reached] ) == 0 ||
        cell_before( &l->records[cell_slot( &l->job.entries[reached] ) / SLOT_STEP] ) != 0 )
    {
        reached += 1;
    }
    SPOIL( l->job.entries[reached].code, l->job.entries[reached].code & ~( (uint64_t)7 << 24 ),
        "an entry does not know that its box began before its cell" );
    close_crowd( l );
}

// ---- corners

static void corners_are_the_cells_of_a_class( void )
{
    cell_grid grid = { { 0, 0, 0 }, { 1, 1, 1 }, { 5, 7, 3 } };
    corner_cells near = corner_cells_of( &grid );
    for ( uint32_t kind = 0; kind < 8; ++kind )
    {
        uint32_t axes = ( kind & 1 ) + ( kind >> 1 & 1 ) + ( kind >> 2 );
        CHECK_EQUAL( near.count[kind], 1u << axes );
        CHECK_EQUAL( near.corner[kind][0], 0 );
        for ( uint32_t k = 0; k < near.count[kind]; ++k )
        {
            uint32_t corner = near.corner[kind][k];
            CHECK_EQUAL( corner & ~kind, 0 );
            CHECK_EQUAL( near.offset[corner], cell_at( &grid, corner & 1, corner >> 1 & 1, corner >> 2 ) );
        }
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( corners_are_the_cells_of_a_class ),
        TEST_CASE( every_crowd_is_laid_as_the_checker_says ),
        TEST_CASE( a_given_grid_is_kept_where_it_fits ),
        TEST_CASE( a_grid_of_too_many_entries_is_made_coarser ),
        TEST_CASE( a_crowd_in_one_cell_is_looked_at_alone ),
        TEST_CASE( records_made_again_keep_what_they_began_before ),
        TEST_CASE( slabs_hold_what_one_worker_places ),
        TEST_CASE( the_checker_sees_what_is_spoilt ),
    };
    return test_run( "engine_lay", cases, TEST_COUNT( cases ), argc, argv );
}
