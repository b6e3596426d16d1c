// SPDX-License-Identifier: MIT
// The default engine's kernels: every instruction set against the scalar set, which is written for itself,
// record by record and pair by pair: random boxes and bytes, those at the ends of their range, every tail,
// and what lies behind the last.
#include "base/memory.h"
#include "engine/cell.h"
#include "simd/kernels.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum
{
    BOXES = 200,
    MOST = 200, // entries of a cell
    PAIRS = MOST * MOST,
};

static base_memory s_memory;

// For every other instruction set of this machine.
static void for_each_set( void ( *body )( const simd_cells* cells ) )
{
    for ( int isa = CLV_ISA_SSE2; isa < CLV_ISA_COUNT; ++isa )
    {
        const simd_kernels* kernels = clv_simd_kernels_for( (clv_isa)isa );
        if ( kernels != NULL )
        {
            test_where.isa = (clv_isa)isa;
            body( kernels->cells );
        }
    }
}

// ---- records

static cell_grid random_grid( test_random* random )
{
    cell_grid grid;
    for ( int axis = 0; axis < 3; ++axis )
    {
        grid.origin[axis] = test_random_between( random, -2, 2 );
        grid.dims[axis] = 1 + test_random_below( random, axis == 0 ? CELL_GRID_SIDE : 20 );
        grid.scale[axis] = CELL_STEPS * test_random_between( random, 0.5f, 4 );
    }
    return grid;
}

// A face somewhere, at the very border of a cell, beyond the grid, or at infinity.
static float random_face( const cell_grid* grid, int axis, test_random* random )
{
    uint32_t kind = test_random_below( random, 10 );
    float width = (float)grid->dims[axis] * CELL_STEPS / grid->scale[axis];
    float step = 1 / grid->scale[axis] * (float)test_random_below( random, grid->dims[axis] * CELL_STEPS );
    return kind == 0 ? ( test_random_chance( random, 50 ) ? -INFINITY : INFINITY )
        : kind == 1  ? grid->origin[axis]
        : kind == 2  ? grid->origin[axis] + width
        : kind < 6   ? grid->origin[axis] + step
                     : grid->origin[axis] + test_random_between( random, -0.2f, 1.2f ) * width;
}

static void random_boxes( const cell_grid* grid, clv_aabb* boxes, uint32_t count, test_random* random )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        bool is_small = test_random_chance( random, 60 );
        for ( int axis = 0; axis < 3; ++axis )
        {
            float a = random_face( grid, axis, random ), b = random_face( grid, axis, random );
            b = is_small ? a + test_random_between( random, 0, 0.4f ) : b;
            ( &boxes[i].lower.x )[axis] = a < b ? a : b;
            ( &boxes[i].upper.x )[axis] = a < b ? b : a;
        }
    }
}

typedef struct record_case
{
    clv_aabb boxes[BOXES];
    uint32_t slots[BOXES];
    scaling scales[3];
} record_case;

static record_case s_case;

static void make_case( test_random* random )
{
    for ( int i = 0; i < 3; ++i )
    {
        cell_grid grid = random_grid( random );
        s_case.scales[i] = scaling_of( &grid );
        random_boxes( &grid, s_case.boxes, BOXES, random ); // of the last
    }
    for ( uint32_t i = 0; i < BOXES; ++i )
    {
        s_case.slots[i] = test_random_below( random, BOXES );
    }
}

static void compare_records( const simd_cells* cells, const cell_boxes* some )
{
    cell_record expected[BOXES + 1], actual[BOXES + 1];
    const simd_cells* scalar = &clv_simd_cells_scalar;
    memset( expected, 0xA5, sizeof( expected ) );
    memset( actual, 0xA5, sizeof( actual ) );
    scalar->make_records( some, &s_case.scales[2], expected );
    cells->make_records( some, &s_case.scales[2], actual );
    for ( uint32_t i = 0; i <= some->count; ++i ) // and nothing behind the last
    {
        CHECK_EQUAL( actual[i].code, expected[i].code );
        CHECK_EQUAL( actual[i].name, expected[i].name );
    }
}

// Full and half empty, where a line begins and where none does, from stale contents: the records of the boxes
// that are there, and nothing behind the room of a tray.
static void compare_trays( const simd_cells* cells, uint32_t first, uint32_t count )
{
    enum
    {
        ROOM = CELL_TRAY + 8
    };
    _Alignas( 64 ) cell_record actual[ROOM];
    cell_record expected[CELL_TRAY];
    cell_tray tray;
    memset( &tray, 0xA5, sizeof( tray ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        tray.items[i].box = s_case.boxes[first + i];
        tray.items[i].slot = s_case.slots[first + i];
        tray.items[i].before = ( first + i ) % 8 << 24;
    }
    for ( uint32_t turn = 0; turn < 8; ++turn )
    {
        uint32_t at = turn % 4;
        memset( actual, 0xA5, sizeof( actual ) );
        clv_simd_cells_scalar.empty_tray( &tray, count, &s_case.scales[2], expected, true );
        cells->empty_tray( &tray, count, &s_case.scales[2], actual + at, turn < 4 );
        cells->finish_streams();
        for ( uint32_t i = 0; i < count; ++i )
        {
            CHECK_EQUAL( actual[at + i].code, expected[i].code );
            CHECK_EQUAL( actual[at + i].name, expected[i].name );
            CHECK_EQUAL( cell_slot( &expected[i] ), s_case.slots[first + i] );
            CHECK_EQUAL( cell_before( &expected[i] ), ( first + i ) % 8 );
        }
        for ( uint32_t i = 0; i < ROOM; ++i )
        {
            bool is_aside = i < at || i >= at + CELL_TRAY;
            CHECK( !is_aside || actual[i].code == UINT64_C( 0xA5A5A5A5A5A5A5A5 ) );
        }
    }
}

static void compare_boxes( const simd_cells* cells )
{
    for ( uint64_t seed = 1; seed <= test_scaled( 40 ); ++seed )
    {
        test_random random = test_random_make( seed );
        test_where.seed = seed;
        make_case( &random );
        for ( uint32_t count = 0; count <= 70; ++count )
        {
            uint32_t first = test_random_below( &random, BOXES - 70 );
            cell_boxes row = { s_case.boxes, NULL, first, count },
                       list = { s_case.boxes, s_case.slots, first, count };
            compare_records( cells, &row );
            compare_records( cells, &list );
            compare_trays( cells, first, count % ( CELL_TRAY + 1 ) );
        }
    }
}

static void records_are_those_of_the_scalar_set( void )
{
    for_each_set( compare_boxes );
}

// Worked out by hand: cells of 1 m from 0 on, 4 x 2 x 1 of them.
static void a_record_says_where_its_box_is( void )
{
    cell_grid grid = { { 0, 0, 0 }, { CELL_STEPS, CELL_STEPS, CELL_STEPS }, { 4, 2, 1 } };
    const scaling s = scaling_of( &grid );
    const clv_aabb boxes[4] = {
        { { 1.5f, 0.25f, 0 }, { 1.75f, 0.5f, 0.5f } },   // in one cell
        { { 0.5f, 0.5f, 0.5f }, { 1.5f, 1.5f, 0.75f } }, // in two along x and y
        { { 0.5f, 0, 0 }, { 2.5f, 0.5f, 0.5f } },        // in three along x
        { { -9, -9, -9 }, { INFINITY, -8, 9 } },         // beyond the grid
    };
    cell_record out[4];
    cell_boxes all = { boxes, NULL, 0, 4 };
    clv_simd_cells_scalar.make_records( &all, &s, out );
    CHECK_EQUAL( out[0].code, UINT64_C( 0x008080C000004080 ) );
    CHECK_EQUAL( out[0].name, cell_name( 0, 1 ) );
    CHECK_EQUAL( out[1].code, UINT64_C( 0x03C0808000808080 ) );
    CHECK_EQUAL( out[1].name, cell_name( 1, 0 ) );
    CHECK_EQUAL( cell_class( &out[2] ), CELL_WIDE );
    CHECK_EQUAL( out[3].code, UINT64_C( 0x08FF00FF00000000 ) );
    CHECK_EQUAL( out[3].name, cell_name( 3, 0 ) );
}

// ---- the pairs of a cell

typedef struct pair_log
{
    clv_pair_sink sink; // first: make_room gets no other address
    clv_pair pairs[PAIRS + CLV_PAIR_SINK_ROOM];
    uint64_t limit;
} pair_log;

// A little more each time, up to the limit.
static clv_result make_room( clv_pair_sink* sink )
{
    pair_log* log = (pair_log*)(void*)sink;
    if ( sink->count + CLV_PAIR_SINK_ROOM > log->limit )
    {
        return CLV_TOO_MANY_PAIRS;
    }
    sink->capacity = sink->count + CLV_PAIR_SINK_ROOM;
    return CLV_OK;
}

static pair_log s_logs[2];
static cell_entry s_entries[MOST + CELL_SLACK];
static clv_aabb s_exact[MOST];

static uint8_t random_byte( test_random* random )
{
    static const uint8_t ends[] = { 0, 0, 1, 127, 128, 254, 255, 255 };
    return test_random_chance( random, 40 ) ? ends[test_random_below( random, 8 )]
                                            : (uint8_t)test_random_below( random, 256 );
}

static void random_entries( uint32_t count, test_random* random )
{
    uint32_t size = test_random_below( random, 3 ); // from hardly a hit to nearly all
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint64_t code = (uint64_t)( test_random_chance( random, 50 ) ? test_random_below( random, 8 ) : 0 )
            << 24;
        code |= (uint64_t)test_random_below( random, 8 )
            << 56; // an entry keeps its class, which means nothing
        for ( int axis = 0; axis < 3; ++axis )
        {
            uint32_t a = random_byte( random );
            uint32_t b = size == 0 ? a + test_random_below( random, 20 ) : random_byte( random );
            b = b > 255 ? 255 : b;
            code |= (uint64_t)( a < b ? a : b ) << ( 8 * axis ) |
                (uint64_t)( a < b ? b : a ) << ( 32 + 8 * axis );
        }
        s_entries[i] =
            ( cell_entry ){ code, cell_name( ( i * 7919 + 13 ) % MOST, test_random_below( random, 99 ) ) };
        s_exact[i] = test_cube( test_random_between( random, 0, 2 ), test_random_between( random, 0, 2 ), 0,
            test_random_between( random, 0, 1 ) );
    }
    for ( uint32_t i = count; i < MOST + CELL_SLACK; ++i )
    {
        s_entries[i] = ( cell_entry ){ UINT64_C( 0x00FFFFFF00000000 ), 0 }; // meets all others
    }
}

typedef struct outcome
{
    clv_result result;
    cell_counters counters;
    uint32_t tie_count;
} outcome;

// In order of their lowers on an axis, and without the bits that entries of one cell alone do not have.
static void sort_entries( uint32_t count, uint32_t axis )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        cell_entry entry = s_entries[i];
        entry.code &= ~( UINT64_C( 7 ) << 24 );
        uint32_t at = i;
        for ( ; at > 0 &&
              (uint8_t)( s_entries[at - 1].code >> ( 8 * axis ) ) > (uint8_t)( entry.code >> ( 8 * axis ) );
              --at )
        {
            s_entries[at] = s_entries[at - 1];
        }
        s_entries[at] = entry;
    }
}

// On which axis the entries are in order; -1: no kernel is told of an order.
static int32_t s_sorted_axis = -1;

// The same cell several times, so that ties become so many that they are settled on the way.
static outcome search_times(
    const simd_cells* cells, uint32_t count, uint32_t times, uint64_t limit, pair_log* log )
{
    outcome out = { CLV_OK, { 0 }, 0 };
    log->sink = ( clv_pair_sink ){ .pairs = log->pairs, .make_room = make_room };
    log->limit = limit;
    cell_search search = { s_exact, &log->sink, clv_base_memory_take( &s_memory, 8 * ( MOST + 120 ), 1 ),
        clv_base_memory_take( &s_memory, MOST + 120, 4 ),
        clv_base_memory_take( &s_memory, CELL_TIES + 64, 8 ), 0, &out.counters, s_sorted_axis };
    memset( search.lanes, 0, 8 * ( MOST + 120 ) );
    memset( search.slots, 0, 4 * ( MOST + 120 ) );
    for ( uint32_t i = 0; i < times && out.result == CLV_OK; ++i )
    {
        out.result = cells->search_cell( &search, s_entries, count );
    }
    out.tie_count = search.tie_count;
    out.result = out.result == CLV_OK ? cells->settle_ties( &search ) : out.result;
    clv_base_memory_give( &s_memory, search.lanes, 8 * ( MOST + 120 ), 1 );
    clv_base_memory_give( &s_memory, search.slots, MOST + 120, 4 );
    clv_base_memory_give( &s_memory, search.ties, CELL_TIES + 64, 8 );
    return out;
}

static void compare_cell( const simd_cells* cells, uint32_t count, uint32_t times )
{
    outcome expected = search_times( &clv_simd_cells_scalar, count, times, PAIRS, &s_logs[0] );
    outcome actual = search_times( cells, count, times, PAIRS, &s_logs[1] );
    CHECK_EQUAL( actual.result, expected.result );
    if ( expected.result != CLV_OK )
    {
        return;
    }
    CHECK_EQUAL( actual.tie_count, expected.tie_count );
    CHECK( memcmp( &actual.counters, &expected.counters, sizeof( actual.counters ) ) == 0 );
    CHECK_EQUAL( s_logs[1].sink.count, s_logs[0].sink.count );
    for ( uint64_t i = 0; i < s_logs[0].sink.count; ++i )
    {
        CHECK_EQUAL( s_logs[1].pairs[i].a, s_logs[0].pairs[i].a );
        CHECK_EQUAL( s_logs[1].pairs[i].b, s_logs[0].pairs[i].b );
    }
}

static void compare_cells( const simd_cells* cells )
{
    for ( uint32_t count = 2; count <= MOST; ++count )
    {
        for ( uint64_t seed = 1; seed <= test_scaled( 8 ); ++seed )
        {
            test_random random = test_random_make( seed * 1000 + count );
            test_where.seed = seed * 1000 + count;
            random_entries( count, &random );
            compare_cell( cells, count, 1 + ( count + (uint32_t)seed ) % 4 );
        }
    }
}

static void a_cell_has_the_scalar_pairs_in_their_order( void )
{
    for_each_set( compare_cells );
}

// Words of rows and lanes that are passed over hold no pair, and the others are in the order of a cell.
static void compare_sorted( const simd_cells* cells )
{
    for ( uint32_t count = 2; count <= MOST; ++count )
    {
        uint32_t axis = count % 3;
        test_random random = test_random_make( 77 + count );
        test_where.seed = 77 + count;
        random_entries( count, &random );
        sort_entries( count, axis );
        s_sorted_axis = (int32_t)axis;
        compare_cell( cells, count, 1 + count % 4 );
        outcome sorted = search_times( cells, count, 1, PAIRS, &s_logs[0] );
        s_sorted_axis = -1;
        outcome plain = search_times( cells, count, 1, PAIRS, &s_logs[1] );
        CHECK_EQUAL( sorted.counters.candidate_count, plain.counters.candidate_count );
        CHECK( sorted.counters.test_count <= (uint64_t)count * ( count - 1 ) / 2 );
        CHECK_EQUAL( s_logs[0].sink.count, s_logs[1].sink.count );
        CHECK( memcmp( s_logs[0].pairs, s_logs[1].pairs,
                   (size_t)s_logs[1].sink.count * sizeof( clv_pair ) ) == 0 );
    }
}

static void a_cell_in_order_has_the_pairs_of_any_other( void )
{
    compare_sorted( &clv_simd_cells_scalar );
    for_each_set( compare_sorted );
}

static uint8_t byte_of( uint64_t code, int index )
{
    return (uint8_t)( code >> ( 8 * index ) );
}

// What cells.h says, for one pair.
static bool is_candidate( uint32_t a, uint32_t b, bool* is_tie )
{
    uint64_t p = s_entries[a].code, q = s_entries[b].code;
    bool meets = ( byte_of( p, 3 ) & byte_of( q, 3 ) ) == 0;
    *is_tie = false;
    for ( int axis = 0; axis < 3; ++axis )
    {
        meets = meets && byte_of( p, axis ) <= byte_of( q, axis + 4 ) &&
            byte_of( q, axis ) <= byte_of( p, axis + 4 );
        *is_tie = *is_tie || byte_of( p, axis ) == byte_of( q, axis + 4 ) ||
            byte_of( q, axis ) == byte_of( p, axis + 4 );
    }
    return meets;
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

static void the_scalar_set_finds_what_bytes_and_floats_say( void )
{
    for ( uint32_t count = 2; count <= MOST; ++count )
    {
        test_random random = test_random_make( count );
        random_entries( count, &random );
        uint64_t pairs = 0, candidates = 0, ties = 0, sum = 0, found = 0;
        for ( uint32_t a = 0; a < count; ++a )
        {
            for ( uint32_t b = a + 1; b < count; ++b )
            {
                bool is_tie;
                bool meets = is_candidate( a, b, &is_tie );
                uint32_t slots[2] = { cell_slot( &s_entries[a] ), cell_slot( &s_entries[b] ) };
                bool counts = meets && ( !is_tie || touch( &s_exact[slots[0]], &s_exact[slots[1]] ) );
                candidates += meets;
                ties += meets && is_tie;
                pairs += counts;
                sum += counts ? test_mix( slots[0] ) ^ test_mix( slots[1] ) : 0;
            }
        }
        outcome out = search_times( &clv_simd_cells_scalar, count, 1, PAIRS, &s_logs[0] );
        for ( uint64_t i = 0; i < s_logs[0].sink.count; ++i )
        {
            CHECK( s_logs[0].pairs[i].a < s_logs[0].pairs[i].b );
            found += test_mix( s_logs[0].pairs[i].a ) ^ test_mix( s_logs[0].pairs[i].b );
        }
        CHECK_OK( out.result );
        CHECK_EQUAL( s_logs[0].sink.count, pairs );
        CHECK_EQUAL( found, sum );
        CHECK_EQUAL( out.counters.candidate_count, candidates );
        CHECK_EQUAL( out.counters.tie_count, ties );
        CHECK_EQUAL( out.counters.failed_count, candidates - pairs );
    }
}

static void stop_early( const simd_cells* cells )
{
    test_random random = test_random_make( 5 );
    random_entries( MOST, &random );
    outcome whole = search_times( cells, MOST, 1, PAIRS, &s_logs[0] );
    CHECK_OK( whole.result );
    CHECK( s_logs[0].sink.count > 500 );
    for ( uint64_t limit = CLV_PAIR_SINK_ROOM; limit + CLV_PAIR_SINK_ROOM < s_logs[0].sink.count;
          limit += 37 )
    {
        CHECK_RESULT( search_times( cells, MOST, 1, limit, &s_logs[1] ).result, CLV_TOO_MANY_PAIRS );
        CHECK( s_logs[1].sink.count <= limit );
        CHECK( memcmp( s_logs[0].pairs, s_logs[1].pairs,
                   (size_t)s_logs[1].sink.count * sizeof( clv_pair ) ) == 0 );
    }
}

static void a_sink_that_will_have_no_more_ends_a_cell( void )
{
    stop_early( &clv_simd_cells_scalar );
    for_each_set( stop_early );
}

int main( int argc, char** argv )
{
    s_memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    const test_case cases[] = {
        TEST_CASE( a_record_says_where_its_box_is ),
        TEST_CASE( records_are_those_of_the_scalar_set ),
        TEST_CASE( the_scalar_set_finds_what_bytes_and_floats_say ),
        TEST_CASE( a_cell_has_the_scalar_pairs_in_their_order ),
        TEST_CASE( a_cell_in_order_has_the_pairs_of_any_other ),
        TEST_CASE( a_sink_that_will_have_no_more_ends_a_cell ),
    };
    return test_run( "engine_cells", cases, TEST_COUNT( cases ), argc, argv );
}
