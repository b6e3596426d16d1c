// SPDX-License-Identifier: MIT
// Every instruction set's kernels against a plain loop and against the scalar table: same pairs, same order,
// same counts, whatever the number of boxes and wherever a full sink interrupts.
#include "base/memory.h"
#include "simd/method_kernels.h"
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- boxes by axis, padded with NaN exactly as far as kernels.h allows them to read

static base_memory s_memory;

// Behind what may be read either nothing, so that a sanitizer sees a read, or boxes that touch everything, so
// that the pairs show it.
enum
{
    GUARD = 64,
};

static bool s_guarded;

static uint64_t padded( uint32_t count )
{
    return ( (uint64_t)count + KERNEL_LANES - 1 ) / KERNEL_LANES * KERNEL_LANES + KERNEL_LANES;
}

static uint64_t row_size( uint32_t count )
{
    return padded( count ) + ( s_guarded ? GUARD : 0 );
}

static float* take_row( uint32_t count, float guard )
{
    float* row = clv_base_memory_take( &s_memory, row_size( count ), sizeof( float ) );
    CHECK( row != NULL );
    for ( uint64_t i = 0; i < row_size( count ); ++i )
    {
        row[i] = i < padded( count ) ? NAN : guard;
    }
    return row;
}

static simd_boxes lanes_make( uint32_t count )
{
    simd_boxes boxes = { .count = count };
    for ( int axis = 0; axis < 3; ++axis )
    {
        boxes.lower[axis] = take_row( count, -INFINITY );
        boxes.upper[axis] = take_row( count, INFINITY );
    }
    boxes.slots = clv_base_memory_take( &s_memory, row_size( count ), sizeof( uint32_t ) );
    memset( boxes.slots, 0xFF, (size_t)row_size( count ) * sizeof( uint32_t ) );
    return boxes;
}

static void lanes_free( simd_boxes* boxes )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        clv_base_memory_give( &s_memory, boxes->lower[axis], row_size( boxes->count ), sizeof( float ) );
        clv_base_memory_give( &s_memory, boxes->upper[axis], row_size( boxes->count ), sizeof( float ) );
    }
    clv_base_memory_give( &s_memory, boxes->slots, row_size( boxes->count ), sizeof( uint32_t ) );
}

static void lanes_set( simd_boxes* boxes, uint32_t index, clv_aabb box, uint32_t slot )
{
    boxes->lower[0][index] = box.lower.x;
    boxes->lower[1][index] = box.lower.y;
    boxes->lower[2][index] = box.lower.z;
    boxes->upper[0][index] = box.upper.x;
    boxes->upper[1][index] = box.upper.y;
    boxes->upper[2][index] = box.upper.z;
    boxes->slots[index] = slot;
}

static int compare_lower_x( const void* a, const void* b )
{
    const clv_aabb* first = a;
    const clv_aabb* second = b;
    return first->lower.x < second->lower.x ? -1 : first->lower.x > second->lower.x;
}

// A crowd sorted by lower x, with slots in no order at all.
static simd_boxes lanes_crowd( test_crowd crowd, uint32_t count, uint64_t seed )
{
    test_random random = test_random_make( seed );
    clv_aabb* records = test_alloc( count, sizeof( clv_aabb ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        records[i] = test_crowd_box( crowd, count, &random );
    }
    qsort( records, count, sizeof( clv_aabb ), compare_lower_x );
    simd_boxes boxes = lanes_make( count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        lanes_set( &boxes, i, records[i], ( i * 2654435761u ) % 1000003u );
    }
    free( records );
    return boxes;
}

// ---- plain loops

typedef struct found
{
    clv_pair* pairs;
    uint64_t count, capacity;
    uint64_t test_count;
} found;

static void found_put( found* all, clv_pair pair )
{
    if ( all->count == all->capacity )
    {
        all->capacity = all->capacity * 2 + 64;
        all->pairs = realloc( all->pairs, (size_t)all->capacity * sizeof( clv_pair ) );
        CHECK( all->pairs != NULL );
    }
    all->pairs[all->count++] = pair;
}

static bool rows_overlap( const simd_boxes* boxes, uint32_t i, uint32_t j )
{
    bool apart = false;
    for ( int axis = 0; axis < 3; ++axis )
    {
        apart = apart || boxes->upper[axis][i] < boxes->lower[axis][j] ||
            boxes->upper[axis][j] < boxes->lower[axis][i];
    }
    return !apart;
}

static found loop_block(
    const simd_boxes* boxes, uint32_t row, uint32_t row_end, uint32_t begin, uint32_t end )
{
    found all = { 0 };
    for ( ; row < row_end; ++row )
    {
        for ( uint32_t column = row + 1 > begin ? row + 1 : begin; column < end; ++column )
        {
            if ( rows_overlap( boxes, row, column ) )
            {
                uint32_t a = boxes->slots[row];
                uint32_t b = boxes->slots[column];
                found_put( &all, ( clv_pair ){ a < b ? a : b, a < b ? b : a } );
            }
        }
    }
    return all;
}

// ---- kernels, interrupted as often as the sink is full

static clv_result no_room( clv_pair_sink* sink )
{
    (void)sink;
    return CLV_OUT_OF_MEMORY;
}

enum
{
    SINK_CAPACITY_MOST = 4096,
};

typedef struct interrupted
{
    clv_pair pairs[SINK_CAPACITY_MOST];
    clv_pair_sink sink;
    found all;
} interrupted;

static void drain( interrupted* run )
{
    CHECK( run->sink.count <= run->sink.capacity );
    for ( uint64_t i = 0; i < run->sink.count; ++i )
    {
        found_put( &run->all, run->pairs[i] );
    }
    run->sink.count = 0;
}

static void interrupted_open( interrupted* run, uint32_t capacity )
{
    memset( run, 0, sizeof( *run ) );
    run->sink = ( clv_pair_sink ){ .pairs = run->pairs, .capacity = capacity, .make_room = no_room };
}

// A full sink must have stopped the kernel, and the cursor must have moved: otherwise it would never end.
static void check_progress( const interrupted* run, simd_cursor before, simd_cursor after )
{
    CHECK( clv_pair_sink_is_full( &run->sink ) );
    CHECK( after.row > before.row || ( after.row == before.row && after.column > before.column ) );
}

typedef bool block_kernel( const simd_boxes* boxes, uint32_t row_end, uint32_t column_begin,
    uint32_t column_end, simd_cursor* cursor, clv_pair_sink* sink );

static found kernel_block( block_kernel* kernel, const simd_boxes* boxes, uint32_t row, uint32_t row_end,
    uint32_t begin, uint32_t end, uint32_t capacity )
{
    interrupted* run = test_alloc( 1, sizeof( *run ) );
    interrupted_open( run, capacity );
    simd_cursor cursor = { row, 0 };
    simd_cursor before = cursor;
    while ( !kernel( boxes, row_end, begin, end, &cursor, &run->sink ) )
    {
        check_progress( run, before, cursor );
        before = cursor;
        drain( run );
    }
    drain( run );
    found all = run->all;
    free( run );
    return all;
}

static found kernel_sweep( const simd_method_kernels* kernels, const simd_boxes* boxes, uint32_t capacity )
{
    interrupted* run = test_alloc( 1, sizeof( *run ) );
    interrupted_open( run, capacity );
    simd_cursor cursor = { 0, 0 };
    simd_cursor before = cursor;
    uint64_t test_count = 0;
    while ( !kernels->sweep( boxes, &cursor, &run->sink, &test_count ) )
    {
        check_progress( run, before, cursor );
        before = cursor;
        drain( run );
    }
    drain( run );
    found all = run->all;
    all.test_count = test_count;
    free( run );
    return all;
}

static void check_found( found actual, const found* expected )
{
    for ( uint64_t i = 0; i < actual.count && i < expected->count; ++i )
    {
        if ( actual.pairs[i].a != expected->pairs[i].a || actual.pairs[i].b != expected->pairs[i].b )
        {
            test_fail( __FILE__, __LINE__, "pair %llu is (%u, %u), not (%u, %u)", (unsigned long long)i,
                actual.pairs[i].a, actual.pairs[i].b, expected->pairs[i].a, expected->pairs[i].b );
        }
    }
    CHECK_EQUAL( actual.count, expected->count );
    CHECK_EQUAL( actual.test_count, expected->test_count );
    free( actual.pairs );
}

static const uint32_t s_capacities[] = { 64, 65, 71, 79, 80, 100, 128, SINK_CAPACITY_MOST };

// Each instruction set in turn, or NULL at the end.
static const simd_method_kernels* next_kernels( int* isa )
{
    while ( ++*isa < CLV_ISA_COUNT )
    {
        if ( *isa != CLV_ISA_AUTO && clv_isa_is_supported( (clv_isa)*isa ) )
        {
            const simd_method_kernels* kernels = clv_simd_method_kernels_for( (clv_isa)*isa );
            CHECK( kernels != NULL );
            test_where.isa = (clv_isa)*isa;
            CHECK_EQUAL( kernels->isa, *isa );
            return kernels;
        }
    }
    return NULL;
}

static void check_block(
    const simd_boxes* boxes, uint32_t row, uint32_t row_end, uint32_t begin, uint32_t end )
{
    found expected = loop_block( boxes, row, row_end, begin, end );
    int isa = 0;
    for ( const simd_method_kernels* kernels; ( kernels = next_kernels( &isa ) ) != NULL; )
    {
        for ( size_t i = 0; i < TEST_COUNT( s_capacities ); ++i )
        {
            block_kernel* of_core = clv_simd_kernels_for( kernels->isa )->test_block;
            check_found(
                kernel_block( of_core, boxes, row, row_end, begin, end, s_capacities[i] ), &expected );
            check_found(
                kernel_block( kernels->test_block, boxes, row, row_end, begin, end, s_capacities[i] ),
                &expected );
        }
    }
    free( expected.pairs );
}

static void check_sweep( const simd_boxes* boxes )
{
    // Sorted by lower x, row by row, ascending: the sweep's order is the plain loop's.
    found expected = loop_block( boxes, 0, boxes->count, 0, boxes->count );
    found scalar = kernel_sweep( clv_simd_method_kernels_for( CLV_ISA_SCALAR ), boxes, SINK_CAPACITY_MOST );
    expected.test_count = scalar.test_count;
    CHECK( scalar.test_count >= scalar.count );
    CHECK( scalar.test_count <= (uint64_t)boxes->count * boxes->count );
    check_found( scalar, &expected );
    int isa = 0;
    for ( const simd_method_kernels* kernels; ( kernels = next_kernels( &isa ) ) != NULL; )
    {
        for ( size_t i = 0; i < TEST_COUNT( s_capacities ); ++i )
        {
            check_found( kernel_sweep( kernels, boxes, s_capacities[i] ), &expected );
        }
    }
    free( expected.pairs );
}

// ---- claims

static void check_every_count_to_70( void )
{
    for ( uint32_t count = 0; count <= 70; ++count )
    {
        for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
        {
            test_where.seed = count * 100 + (uint32_t)crowd;
            simd_boxes boxes = lanes_crowd( (test_crowd)crowd, count, test_where.seed );
            check_block( &boxes, 0, count, 0, count );
            check_sweep( &boxes );
            lanes_free( &boxes );
        }
    }
}

static void blocks_and_sweeps_agree_at_every_count_to_70( void )
{
    check_every_count_to_70();
}

static void kernels_read_no_further_than_the_padding( void )
{
    s_guarded = true;
    check_every_count_to_70();
    s_guarded = false;
}

static void blocks_agree_on_random_ranges( void )
{
    simd_boxes boxes = lanes_crowd( TEST_CROWD_LATTICE, 200, 5 );
    for ( uint32_t seed = 1; seed <= 400; ++seed )
    {
        test_where.seed = seed;
        test_random random = test_random_make( seed );
        uint32_t row = test_random_below( &random, 201 );
        uint32_t row_end = row + test_random_below( &random, 201 - row );
        uint32_t begin = test_random_below( &random, 201 );
        uint32_t end = begin + test_random_below( &random, 201 - begin );
        check_block( &boxes, row, row_end, begin, end );
    }
    lanes_free( &boxes );
}

static void kernels_agree_where_everything_overlaps( void )
{
    for ( uint32_t count = 60; count <= 70; ++count )
    {
        simd_boxes boxes = lanes_make( count );
        for ( uint32_t i = 0; i < count; ++i )
        {
            lanes_set( &boxes, i, test_cube( 0, 0, 0, 1 ), count - i );
        }
        test_where.seed = count;
        check_block( &boxes, 0, count, 0, count );
        check_sweep( &boxes );
        lanes_free( &boxes );
    }
}

static void kernels_agree_on_some_hundred_boxes( void )
{
    for ( uint32_t seed = 1; seed <= 64; ++seed )
    {
        test_where.seed = seed;
        simd_boxes boxes = lanes_crowd( (test_crowd)( seed % TEST_CROWD_COUNT ), 150 + seed * 5, seed );
        check_sweep( &boxes );
        check_block( &boxes, 0, boxes.count, 0, boxes.count );
        lanes_free( &boxes );
    }
}

// One box against one other in each lane and on each of six faces: touching holds, one float further does
// not.
static void every_lane_compares_closed_on_every_face( void )
{
    for ( uint32_t lane = 1; lane <= 2 * KERNEL_LANES; ++lane )
    {
        for ( int face = 0; face < 12; ++face )
        {
            simd_boxes boxes = lanes_make( lane + 1 );
            for ( uint32_t i = 1; i < lane; ++i )
            {
                lanes_set( &boxes, i, test_cube( 500.0f, 500.0f, 500.0f, 1.0f ), i );
            }
            lanes_set( &boxes, 0, test_cube( 0, 0, 0, 1.0f ), 0 );
            lanes_set( &boxes, lane, test_cube( 0, 0, 0, 1.0f ), lane );
            int axis = face % 3;
            bool above = face / 3 % 2 == 1;
            bool apart = face >= 6;
            float touch = above ? 1.0f : -1.0f;
            float edge = apart ? nextafterf( touch, above ? 2.0f : -2.0f ) : touch;
            boxes.lower[axis][lane] = above ? edge : edge - 1.0f;
            boxes.upper[axis][lane] = above ? edge + 1.0f : edge;
            test_where.seed = lane;
            test_where.frame = (uint32_t)face;
            found expected = loop_block( &boxes, 0, 1, lane, lane + 1 );
            CHECK_EQUAL( expected.count, apart ? 0 : 1 );
            free( expected.pairs );
            check_block( &boxes, 0, lane + 1, 0, lane + 1 );
            lanes_free( &boxes );
        }
    }
}

static void unsupported_sets_have_no_kernels( void )
{
    for ( int isa = 0; isa < CLV_ISA_COUNT; ++isa )
    {
        test_where.isa = (clv_isa)isa;
        bool expected = isa != CLV_ISA_AUTO && clv_isa_is_supported( (clv_isa)isa );
        CHECK_EQUAL( isa != CLV_ISA_AUTO && clv_simd_kernels_for( (clv_isa)isa ) != NULL, expected );
        CHECK_EQUAL( isa != CLV_ISA_AUTO && clv_simd_method_kernels_for( (clv_isa)isa ) != NULL, expected );
    }
}

int main( int argc, char** argv )
{
    s_memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    const test_case cases[] = {
        TEST_CASE( blocks_and_sweeps_agree_at_every_count_to_70 ),
        TEST_CASE( kernels_read_no_further_than_the_padding ),
        TEST_CASE( blocks_agree_on_random_ranges ),
        TEST_CASE( kernels_agree_where_everything_overlaps ),
        TEST_CASE( kernels_agree_on_some_hundred_boxes ),
        TEST_CASE( every_lane_compares_closed_on_every_face ),
        TEST_CASE( unsupported_sets_have_no_kernels ),
    };
    return test_run( "kernels", cases, TEST_COUNT( cases ), argc, argv );
}
