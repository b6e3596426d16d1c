// SPDX-License-Identifier: MIT
// The default engine's search of one block alone, and of a world that was filled: every pair that touches,
// once, where it has its home. And what clv_engine_check says of a world in which something is spoilt.
#include "engine/engine_internal.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum
{
    BOXES = 3000,
    PAIRS = 1 << 20,
};

static clv_aabb s_boxes[BOXES + 8];
static uint32_t s_before[BOXES];

// ---- pairs

typedef struct pair_log
{
    clv_pair_sink sink; // first: make_room gets no other address
    clv_pair pairs[PAIRS];
} pair_log;

static pair_log s_log;

static clv_result make_room( clv_pair_sink* sink )
{
    CHECK( sink->count + CLV_PAIR_SINK_ROOM <= PAIRS );
    sink->capacity = sink->count + CLV_PAIR_SINK_ROOM;
    return CLV_OK;
}

static clv_pair_sink* open_log( void )
{
    s_log.sink = ( clv_pair_sink ){ .pairs = s_log.pairs, .make_room = make_room };
    return &s_log.sink;
}

static bool touch( const clv_aabb* a, const clv_aabb* b )
{
    bool all = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        all = all && ( &a->lower.x )[axis] <= ( &b->upper.x )[axis] &&
            ( &b->lower.x )[axis] <= ( &a->upper.x )[axis];
    }
    return all;
}

// A set's hash, whatever the order; a pair that is there twice counts twice.
static uint64_t pair_hash( uint32_t a, uint32_t b )
{
    return test_mix( (uint64_t)a << 32 | b );
}

// Those that touch and have their home here.
static uint64_t expected_pairs( uint32_t count, uint64_t* hash )
{
    uint64_t found = 0;
    *hash = 0;
    for ( uint32_t a = 0; a < count; ++a )
    {
        for ( uint32_t b = a + 1; b < count; ++b )
        {
            bool is_pair = ( s_before[a] & s_before[b] ) == 0 && touch( &s_boxes[a], &s_boxes[b] );
            found += is_pair;
            *hash += is_pair ? pair_hash( a, b ) : 0;
        }
    }
    return found;
}

static void check_log( uint32_t count )
{
    uint64_t expected_hash, hash = 0;
    uint64_t expected = expected_pairs( count, &expected_hash );
    for ( uint64_t i = 0; i < s_log.sink.count; ++i )
    {
        CHECK( s_log.pairs[i].a < s_log.pairs[i].b );
        hash += pair_hash( s_log.pairs[i].a, s_log.pairs[i].b );
    }
    CHECK_EQUAL( s_log.sink.count, expected );
    CHECK_EQUAL( hash, expected_hash );
}

static void fill_crowd( test_crowd crowd, uint32_t count, uint64_t seed )
{
    test_random random = test_random_make( seed );
    test_where.seed = seed;
    memset( s_before, 0, sizeof( s_before ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        s_boxes[i] = test_crowd_box( crowd, count, &random );
    }
}

// ---- one block

typedef struct block_case
{
    base_memory memory;
    cell_record records[BOXES];
    cell_scratch scratch;
    cell_counters counters;
} block_case;

static block_case s_block;

static void search_block( clv_isa isa, uint32_t count, bool is_sharpened )
{
    block_case* b = &s_block;
    memset( b, 0, sizeof( *b ) );
    b->memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    test_where.isa = isa;
    for ( uint32_t i = 0; i < count; ++i )
    {
        b->records[i] = ( cell_record ){ (uint64_t)s_before[i] << 24, cell_name( i, 0 ) };
    }
    uint32_t cells = cell_count_most( count );
    CHECK( clv_engine_cell_scratch_reserve_cells( &b->scratch, &b->memory, cells, cells, cells ) );
    CHECK( clv_engine_cell_scratch_reserve_entries( &b->scratch, &b->memory, cell_layout_most( count ) ) );
    cell_job job = { .kernels = clv_simd_kernels_for( isa )->cells,
        .boxes = s_boxes,
        .exact = s_boxes,
        .cut = s_boxes,
        .records = b->records,
        .count = count,
        .region_low = { -100, -100, -100 },
        .region_high = { 1e30f, 1e30f, 1e30f },
        .is_sharpened = is_sharpened,
        .scratch = &b->scratch,
        .counters = &b->counters };
    CHECK_OK( clv_engine_cell_search_block( &job, open_log() ) );
    CHECK_EQUAL( b->counters.candidate_count - b->counters.failed_count, s_log.sink.count );
    clv_engine_cell_scratch_release( &b->scratch, &b->memory );
    CHECK_EQUAL( b->memory.bytes, 0 );
}

static void a_block_finds_every_pair_once( void )
{
    for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
    {
        for ( uint32_t count = 1; count < BOXES; count = count * 4 + 3 )
        {
            fill_crowd( (test_crowd)crowd, count, 50 * (uint64_t)crowd + count );
            search_block( clv_isa_best(), count, false );
            check_log( count );
            search_block( clv_isa_best(), count, true );
            check_log( count );
        }
    }
}

// Boxes that begin before the block reach in from beyond its rim; two that do so on the same axis meet
// elsewhere.
static void a_block_leaves_others_their_pairs( void )
{
    static const test_crowd crowds[] = { TEST_CROWD_SPREAD, TEST_CROWD_SIZES, TEST_CROWD_FUNNEL };
    for ( uint32_t crowd = 0; crowd < TEST_COUNT( crowds ); ++crowd )
    {
        fill_crowd( crowds[crowd], BOXES, 5 );
        test_random random = test_random_make( 6 );
        for ( uint32_t i = 0; i < BOXES; ++i )
        {
            s_before[i] = test_random_chance( &random, 30 ) ? test_random_below( &random, 8 ) : 0;
            for ( int axis = 0; axis < 3; ++axis )
            {
                float* lower = &s_boxes[i].lower.x + axis;
                *lower = ( s_before[i] >> axis & 1 ) != 0 ? -1e6f : *lower;
            }
        }
        search_block( clv_isa_best(), BOXES, crowd == 2 );
        check_log( BOXES );
    }
}

// Cells as wide as the large boxes, of which one has half of all boxes; and one in which distances are of
// seven orders of magnitude.
static void a_cell_that_no_grid_divides_is_cut( void )
{
    static const test_crowd crowds[] = { TEST_CROWD_SIZES, TEST_CROWD_FUNNEL };
    for ( uint32_t crowd = 0; crowd < TEST_COUNT( crowds ); ++crowd )
    {
        fill_crowd( crowds[crowd], BOXES, 8 );
        search_block( clv_isa_best(), BOXES, false );
        check_log( BOXES );
        CHECK( s_block.counters.test_count < (uint64_t)BOXES * 250 );
        CHECK( s_block.counters.failed_count < (uint64_t)BOXES * 8 );
    }
}

// So many in one place, beside others far apart, that grids lie within grids.
static void crowded_cells_have_grids_of_their_own( void )
{
    test_random random = test_random_make( 7 );
    memset( s_before, 0, sizeof( s_before ) );
    for ( uint32_t i = 0; i < BOXES; ++i )
    {
        float wide = i % 5 < 3 ? 100 : i % 5 == 3 ? 1 : 0.01f; // three fifths far apart, two in knots
        float x = test_random_between( &random, 0, wide ), y = test_random_between( &random, 0, wide );
        float z = test_random_between( &random, 0, wide );
        s_boxes[i] = test_cube( x, y, z, 0.0004f * wide );
    }
    search_block( clv_isa_best(), BOXES, false );
    check_log( BOXES );
    // Without them two fifths of all meet each other.
    CHECK( s_block.counters.test_count < (uint64_t)BOXES * BOXES / 40 );
}

static void every_instruction_set_finds_the_same_order( void )
{
    for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
    {
        fill_crowd( (test_crowd)crowd, 1200, 9 );
        search_block( CLV_ISA_SCALAR, 1200, crowd % 2 == 0 );
        uint64_t expected = test_order_hash( s_log.pairs, s_log.sink.count );
        for ( int isa = CLV_ISA_SCALAR + 1; isa < CLV_ISA_COUNT; ++isa )
        {
            if ( clv_isa_is_supported( (clv_isa)isa ) )
            {
                search_block( (clv_isa)isa, 1200, crowd % 2 == 0 );
                CHECK_EQUAL( test_order_hash( s_log.pairs, s_log.sink.count ), expected );
            }
        }
    }
}

// ---- a world

typedef struct world_case
{
    base_memory memory;
    task_runner tasks;
    clv_engine world;
    clv_method_input input;
} world_case;

static void open_world_with(
    world_case* w, uint32_t count, uint32_t workers, uint32_t block_boxes, uint32_t strip_boxes )
{
    w->memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    w->tasks = ( task_runner ){ 0 };
    CHECK( clv_task_runner_start( &w->tasks, workers, 0, ( clv_task_hooks ){ 0 }, &w->memory ) );
    clv_engine_init( &w->world, &w->memory, clv_simd_kernels_for( clv_isa_best() ), &w->tasks, block_boxes, 0,
        strip_boxes );
    w->input = ( clv_method_input ){ .boxes = s_boxes, .live_count = count };
    CHECK( clv_engine_fill( &w->world, &w->input ) );
}

static void open_world( world_case* w, uint32_t count, uint32_t workers, uint32_t block_boxes )
{
    open_world_with( w, count, workers, block_boxes, 0 );
}

static const char* ask( world_case* w )
{
    clv_method_input seen = { .boxes = w->world.boxes, .live_count = w->input.live_count };
    return clv_engine_check( &w->world, &seen );
}

static void close_world( world_case* w )
{
    uint64_t tests = 0;
    CHECK( ask( w ) == NULL );
    CHECK_OK( clv_engine_search( &w->world, open_log(), &tests ) );
    check_log( w->input.live_count );
    clv_engine_release( &w->world );
    clv_task_runner_stop( &w->tasks, &w->memory );
    CHECK_EQUAL( w->memory.bytes, 0 );
}

static void every_world_is_filled_as_the_checker_says( void )
{
    static const uint32_t counts[] = { 2, 300, 1000, BOXES };
    for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
    {
        for ( uint32_t i = 0; i < 8; ++i )
        {
            world_case w;
            uint32_t count = counts[i % 4];
            fill_crowd( (test_crowd)crowd, count, 70 + count );
            open_world( &w, count, i < 4 ? 1 : 3, crowd % 2 == 0 ? 16 : 8192 );
            CHECK_TEXT( ask( &w ) == NULL ? "" : ask( &w ), "" );
            close_world( &w );
        }
    }
}

/// `place` holds `value` for as long as the checker looks; it must complain in these words, and be content
/// afterwards.
#define SPOIL( place, value, words )                                                                         \
    do                                                                                                       \
    {                                                                                                        \
        char kept_[sizeof( place )];                                                                         \
        memcpy( kept_, &( place ), sizeof( place ) );                                                        \
        ( place ) = ( value );                                                                               \
        CHECK( ask( &w ) != NULL );                                                                          \
        CHECK_TEXT( ask( &w ), words );                                                                      \
        memcpy( &( place ), kept_, sizeof( place ) );                                                        \
        CHECK( ask( &w ) == NULL );                                                                          \
    } while ( 0 )

static void the_checker_sees_a_spoilt_grid( void )
{
    world_case w;
    fill_crowd( TEST_CROWD_SPREAD, BOXES, 1 );
    open_world( &w, BOXES, 1, 8192 );
    CHECK_EQUAL( w.world.slabs.count, 1 );
    cell_record* record = &w.world.records.items[1234];
    static const char room[] = "a cell was given other room than the boxes that reach it need";
    SPOIL( record->code, record->code ^ 0x10, "a record is not that of its box" );
    SPOIL( record->name, record->name + ( UINT64_C( 1 ) << 32 ), "a record is not that of its box" );
    SPOIL( record->code, record->code ^ (uint64_t)2 << 24,
        "a record does not know where its box began, so a pair has no home or two" );
    SPOIL( w.world.starts.items[3], w.world.starts.items[3] + 1, room );
    SPOIL( w.world.slabs.rows[0], 1, "the slabs are not all rows of the grid" );
    close_world( &w );
}

static void the_checker_sees_a_spoilt_strip( void )
{
    world_case w;
    fill_crowd( TEST_CROWD_SPREAD, 700, 4 );
    open_world_with( &w, 700, 1, 8192, 2048 );
    CHECK( w.world.strip_axis >= 0 );
    cell_entry* entry = &w.world.scratches.items[0].entries[350];
    SPOIL( entry->code, entry->code ^ 0x10, "a record is not that of its box" );
    SPOIL( entry[0], entry[1], "a box is in the strip twice and another not at all" );
    SPOIL( entry[0], w.world.scratches.items[0].entries[699], "a strip is not in order" );
    close_world( &w );
}

// One cell of so many boxes is right for any crowd, and chosen for those that it serves.
static void a_strip_is_chosen_where_it_pays( void )
{
    static const uint32_t counts[] = { 128, 129, 700, 2048, 2049 };
    for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
    {
        for ( uint32_t i = 0; i < TEST_COUNT( counts ); ++i )
        {
            world_case w;
            fill_crowd( (test_crowd)crowd, counts[i], 90 + counts[i] );
            open_world_with( &w, counts[i], 1, 8192, 2048 );
            CHECK( w.world.strip_axis < 0 || ( counts[i] > 128 && counts[i] <= 2048 ) );
            CHECK( crowd != TEST_CROWD_SPREAD || counts[i] != 700 || w.world.strip_axis >= 0 );
            close_world( &w );
        }
    }
}

// Half of them at one spot and half at another: in bytes of all space those at a spot are alike.
static void a_crowd_that_one_cell_blurs_is_no_strip( void )
{
    world_case w;
    for ( uint32_t i = 0; i < 1000; ++i )
    {
        float x = (float)i, spot = (float)( i % 2 * 1000 ) + (float)( i % 97 ) * 0.01f;
        s_boxes[i] = ( clv_aabb ){ { x, spot, spot }, { x + 40, spot + 0.005f, spot + 0.005f } };
    }
    open_world_with( &w, 1000, 1, 8192, 2048 );
    CHECK_EQUAL( w.world.strip_axis, -1 );
    close_world( &w );
}

static void the_checker_sees_spoilt_slabs( void )
{
    world_case w;
    fill_crowd( TEST_CROWD_SPREAD, BOXES, 2 );
    open_world( &w, BOXES, 3, 8192 );
    CHECK( w.world.slabs.count > 1 );
    cell_segment* segment = &w.world.segments.list.items[1];
    SPOIL( segment->count, segment->count - 1,
        "the record count of a slab differs from the number of boxes reaching it" );
    SPOIL( segment->capacity, segment->count - 1, "a segment holds more records than it has room for" );
    cell_record* record = &w.world.segments.records.items[segment->first];
    SPOIL( record->code, record->code ^ 1, "a record is not that of its box" );
    close_world( &w );
}

static void the_checker_sees_spoilt_blocks( void )
{
    world_case w;
    fill_crowd( TEST_CROWD_SPREAD, BOXES, 3 );
    open_world( &w, BOXES, 1, 64 );
    CHECK( w.world.plan.block_count > 8 );
    cell_segment* segment = &w.world.segments.list.items[3];
    cell_record* record = &w.world.segments.records.items[segment->first];
    static const char home[] = "a record does not know where its box began, so a pair has no home or two";
    SPOIL( segment->count, segment->count - 1,
        "the record count of a block differs from the number of boxes reaching it" );
    SPOIL( record->code, record->code ^ (uint64_t)1 << 24, home );
    SPOIL( record->code, record->code ^ (uint64_t)1 << 40, "a record is not that of its box" );
    SPOIL( w.world.plan.map.items[0], (uint16_t)( w.world.plan.map.items[0] + 1 ),
        "the map sends a coarse cell to a block that does not have it" );
    close_world( &w );
}

// One more update of a world: how many boxes that do not touch had to be told apart in float.
static uint64_t update_world( world_case* w )
{
    uint64_t tests = 0;
    CHECK( clv_engine_fill( &w->world, &w->input ) );
    CHECK_OK( clv_engine_search( &w->world, open_log(), &tests ) );
    check_log( w->input.live_count );
    return clv_engine_counters( &w->world ).failed_count;
}

// A fifth of a world leaves for a place far beyond the plan's grids, where all of them look alike, and stays
// there: the same update has a plan of its own.
static void a_plan_that_was_outgrown_is_made_anew_at_once( void )
{
    world_case w;
    fill_crowd( TEST_CROWD_SPREAD, BOXES, 4 );
    open_world( &w, BOXES, 1, 64 );
    CHECK( w.world.plan.block_count > 8 );
    update_world( &w );
    CHECK_EQUAL( w.world.plan_age, 2 );
    for ( uint32_t i = 0; i < BOXES; i += 5 )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            ( &s_boxes[i].lower.x )[axis] += 100;
            ( &s_boxes[i].upper.x )[axis] += 100;
        }
    }
    CHECK( update_world( &w ) < BOXES );
    CHECK_EQUAL( w.world.plan_age, 1 );
    CHECK( w.world.axes.sharp_left == 0 );
    CHECK( update_world( &w ) < BOXES );
    CHECK_EQUAL( w.world.plan_age, 2 );
    close_world( &w );
}

// A row of boxes that flies by a fifth of its length in every update: cells and blocks at the border fill up,
// and no update is slower than the first.
static void a_row_that_flies_is_no_slower( void )
{
    static const uint32_t blocks[] = { 8192, 32 }; // one grid, and many
    for ( uint32_t i = 0; i < TEST_COUNT( blocks ); ++i )
    {
        world_case w;
        test_random random = test_random_make( 10 );
        memset( s_before, 0, sizeof( s_before ) );
        for ( uint32_t k = 0; k < BOXES; ++k )
        {
            s_boxes[k] = test_cube( test_random_between( &random, 0, BOXES ), 0, 0, 0.5f );
        }
        open_world( &w, BOXES, 1, blocks[i] );
        update_world( &w );
        uint64_t first = clv_engine_counters( &w.world ).test_count;
        for ( uint32_t update = 0; update < 12; ++update )
        {
            for ( uint32_t k = 0; k < BOXES; ++k )
            {
                s_boxes[k].lower.x += 0.2f * BOXES;
                s_boxes[k].upper.x += 0.2f * BOXES;
            }
            CHECK( update_world( &w ) < BOXES );
            CHECK( clv_engine_counters( &w.world ).test_count < 2 * first );
        }
        close_world( &w );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_block_finds_every_pair_once ),
        TEST_CASE( a_block_leaves_others_their_pairs ),
        TEST_CASE( crowded_cells_have_grids_of_their_own ),
        TEST_CASE( a_cell_that_no_grid_divides_is_cut ),
        TEST_CASE( every_instruction_set_finds_the_same_order ),
        TEST_CASE( every_world_is_filled_as_the_checker_says ),
        TEST_CASE( the_checker_sees_a_spoilt_grid ),
        TEST_CASE( the_checker_sees_a_spoilt_strip ),
        TEST_CASE( a_strip_is_chosen_where_it_pays ),
        TEST_CASE( a_crowd_that_one_cell_blurs_is_no_strip ),
        TEST_CASE( the_checker_sees_spoilt_slabs ),
        TEST_CASE( the_checker_sees_spoilt_blocks ),
        TEST_CASE( a_plan_that_was_outgrown_is_made_anew_at_once ),
        TEST_CASE( a_row_that_flies_is_no_slower ),
    };
    return test_run( "engine_search", cases, TEST_COUNT( cases ), argc, argv );
}
