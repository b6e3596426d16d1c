// SPDX-License-Identifier: MIT
// Pieces' pairs are joined in order of piece, on any threads and in any number of chunks.
#include "support.h"
#include "task/gather.h"

#include <stdlib.h>

enum
{
    PIECES = 37,
    MOST = 40000, // pairs
};

typedef struct script
{
    uint32_t pairs_per_piece; // piece p puts p % 5 times as many
} script;

static clv_result put_numbers(
    uint32_t piece, uint32_t worker, clv_pair_sink* sink, uint64_t* test_count, void* context )
{
    (void)worker;
    const script* plan = context;
    uint32_t count = plan->pairs_per_piece * ( piece % 5 );
    clv_result result = CLV_OK;
    for ( uint32_t i = 0; i < count && result == CLV_OK; ++i )
    {
        result = clv_pair_sink_put( sink, piece, 1000 + i );
        *test_count += 1;
    }
    return result;
}

// A sink over a fixed array that refuses beyond a limit.
typedef struct fixed_sink
{
    clv_pair_sink sink;
    uint64_t limit;
} fixed_sink;

static clv_result refuse_beyond( clv_pair_sink* sink )
{
    fixed_sink* fixed = (fixed_sink*)sink;
    uint64_t capacity = sink->capacity + 1000;
    if ( sink->count > fixed->limit )
    {
        return CLV_TOO_MANY_PAIRS;
    }
    sink->capacity = capacity < MOST ? capacity : MOST;
    return CLV_OK;
}

static uint64_t expected_count( uint32_t pairs_per_piece )
{
    uint64_t count = 0;
    for ( uint32_t piece = 0; piece < PIECES; ++piece )
    {
        count += pairs_per_piece * ( piece % 5 );
    }
    return count;
}

static void check_joined( const clv_pair_sink* sink, uint32_t pairs_per_piece )
{
    uint64_t at = 0;
    CHECK_EQUAL( sink->count, expected_count( pairs_per_piece ) );
    for ( uint32_t piece = 0; piece < PIECES; ++piece )
    {
        for ( uint32_t i = 0; i < pairs_per_piece * ( piece % 5 ); ++i, ++at )
        {
            CHECK_EQUAL( sink->pairs[at].a, piece );
            CHECK_EQUAL( sink->pairs[at].b, 1000 + i );
        }
    }
}

static void pieces_are_joined_in_order_for_any_size( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    clv_pair* pairs = test_alloc( MOST, sizeof( clv_pair ) );
    for ( uint32_t workers = 1; workers <= 8; workers = workers * 2 + 1 )
    {
        task_runner tasks;
        CHECK( clv_task_runner_start( &tasks, workers, 0, ( clv_task_hooks ){ 0 }, &memory ) );
        task_gather gather = { 0 };
        // Up, so that chunks run out, and down again.
        static const uint32_t sizes[] = { 0, 1, 100, 300, 500, 449, 512, 7, 500 };
        for ( uint32_t i = 0; i < TEST_COUNT( sizes ); ++i )
        {
            script plan = { sizes[i] };
            fixed_sink out = { { .pairs = pairs, .make_room = refuse_beyond }, MOST };
            uint64_t test_count = 0;
            CHECK_OK( clv_task_gather_run(
                &gather, &memory, &tasks, PIECES, put_numbers, &plan, &out.sink, &test_count ) );
            check_joined( &out.sink, sizes[i] );
            CHECK_EQUAL( test_count, out.sink.count );
            // What each piece had, for planning, though it ran out of chunks and was run again.
            for ( uint32_t piece = 0; workers > 1 && piece < PIECES; ++piece )
            {
                CHECK_EQUAL( gather.pieces.items[piece].pair_count, sizes[i] * ( piece % 5 ) );
            }
        }
        clv_task_gather_release( &gather, &memory );
        clv_task_runner_stop( &tasks, &memory );
    }
    CHECK_EQUAL( memory.bytes, 0 );
    free( pairs );
}

static void a_refusing_sink_ends_the_joining( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    clv_pair* pairs = test_alloc( MOST, sizeof( clv_pair ) );
    for ( uint32_t workers = 1; workers <= 3; ++workers )
    {
        task_runner tasks;
        CHECK( clv_task_runner_start( &tasks, workers, 0, ( clv_task_hooks ){ 0 }, &memory ) );
        task_gather gather = { 0 };
        script plan = { 400 };
        fixed_sink out = { { .pairs = pairs, .make_room = refuse_beyond }, 3000 };
        uint64_t test_count = 0;
        CHECK_RESULT( clv_task_gather_run(
                          &gather, &memory, &tasks, PIECES, put_numbers, &plan, &out.sink, &test_count ),
            CLV_TOO_MANY_PAIRS );
        CHECK( out.sink.count > 3000 && out.sink.count < expected_count( 400 ) );
        clv_task_gather_release( &gather, &memory );
        clv_task_runner_stop( &tasks, &memory );
    }
    CHECK_EQUAL( memory.bytes, 0 );
    free( pairs );
}

static bool says_yes( void* context )
{
    (void)context;
    return true;
}

static bool says_no( void* context )
{
    (void)context;
    return false;
}

// Pieces in vain leave the sink as it was, whatever they found, and so do those for which there are too few
// chunks at once.
static void pieces_in_vain_put_nothing( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    clv_pair* pairs = test_alloc( MOST, sizeof( clv_pair ) );
    task_runner tasks;
    CHECK( clv_task_runner_start( &tasks, 3, 0, ( clv_task_hooks ){ 0 }, &memory ) );
    task_gather gather = { 0 };
    script plan = { 100 };
    fixed_sink out = { { .pairs = pairs, .make_room = refuse_beyond }, MOST };
    uint64_t test_count = 0;
    clv_result result = CLV_OUT_OF_MEMORY;
    CHECK( !clv_task_gather_try(
        &gather, &memory, &tasks, PIECES, put_numbers, says_no, &plan, &out.sink, &test_count, &result ) );
    CHECK_EQUAL( out.sink.count, 0 );
    CHECK_EQUAL( test_count, 0 );
    CHECK( clv_task_gather_try(
        &gather, &memory, &tasks, PIECES, put_numbers, says_yes, &plan, &out.sink, &test_count, &result ) );
    CHECK_OK( result );
    check_joined( &out.sink, 100 );
    CHECK_EQUAL( test_count, out.sink.count );
    gather.wanted_chunks = 1000000; // more than there may be
    CHECK( !clv_task_gather_try(
        &gather, &memory, &tasks, PIECES, put_numbers, says_yes, &plan, &out.sink, &test_count, &result ) );
    check_joined( &out.sink, 100 );
    clv_task_gather_release( &gather, &memory );
    clv_task_runner_stop( &tasks, &memory );
    CHECK_EQUAL( memory.bytes, 0 );
    free( pairs );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( pieces_are_joined_in_order_for_any_size ),
        TEST_CASE( a_refusing_sink_ends_the_joining ),
        TEST_CASE( pieces_in_vain_put_nothing ),
    };
    return test_run( "gather", cases, TEST_COUNT( cases ), argc, argv );
}
