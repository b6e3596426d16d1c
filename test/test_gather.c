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

// A sink over a fixed array that refuses beyond a limit, as a list does, and is not asked again then.
typedef struct fixed_sink
{
    clv_pair_sink sink;
    uint64_t limit;
    bool has_refused;
} fixed_sink;

static clv_result refuse_beyond( clv_pair_sink* sink )
{
    fixed_sink* fixed = (fixed_sink*)sink;
    uint64_t capacity = sink->capacity + 1000, most = fixed->limit + CLV_PAIR_SINK_ROOM;
    CHECK( !fixed->has_refused );
    if ( sink->count > fixed->limit )
    {
        fixed->has_refused = true;
        return CLV_TOO_MANY_PAIRS;
    }
    most = most < MOST ? most : MOST;
    sink->capacity = capacity < most ? capacity : most;
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
        // Up, so that chunks run out, and down again; then joined early, and where there is room from the
        // beginning, for some of them or for all.
        static const uint32_t sizes[] = { 0, 1, 100, 300, 500, 449, 512, 7, 500 };
        for ( uint32_t i = 0; i < 4 * TEST_COUNT( sizes ); ++i )
        {
            static const uint32_t rooms[] = { 0, 0, MOST / 3, MOST };
            uint32_t size = sizes[i % TEST_COUNT( sizes )], way = i / TEST_COUNT( sizes );
            gather.early = way > 0 ? &clv_task_gather_early : NULL;
            script plan = { size };
            fixed_sink out = { { .pairs = pairs, .capacity = rooms[way], .make_room = refuse_beyond }, MOST,
                false };
            uint64_t test_count = 0;
            CHECK_OK( clv_task_gather_run(
                &gather, &memory, &tasks, PIECES, put_numbers, &plan, &out.sink, &test_count ) );
            check_joined( &out.sink, size );
            CHECK_EQUAL( test_count, out.sink.count );
            // What each piece had, for planning, though it ran out of chunks and was run again.
            for ( uint32_t piece = 0; workers > 1 && piece < PIECES; ++piece )
            {
                CHECK_EQUAL( gather.pieces.items[piece].pair_count, size * ( piece % 5 ) );
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
    for ( uint32_t run = 0; run < 6; ++run )
    {
        task_runner tasks;
        CHECK( clv_task_runner_start( &tasks, run % 3 + 1, 0, ( clv_task_hooks ){ 0 }, &memory ) );
        task_gather gather = { .early = run >= 3 ? &clv_task_gather_early : NULL };
        script plan = { 400 };
        fixed_sink out = { { .pairs = pairs, .make_room = refuse_beyond }, 3000, false };
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
    fixed_sink out = { { .pairs = pairs, .make_room = refuse_beyond }, MOST, false };
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

// Workers that come one after the other, and know whether a piece is searched by one of them.
static bool s_is_worker;

static void run_in_turn( clv_task* piece, uint32_t count, void* data, void* user )
{
    const uint32_t* workers = user;
    s_is_worker = true;
    for ( uint32_t i = 0; i < count; ++i )
    {
        piece( i, i % *workers, data );
    }
    s_is_worker = false;
}

enum
{
    CROWD_PIECES = 400,
    CROWD_PAIRS = 5000, // of a piece, about: ten chunks
    VISITED = 1024,
};

typedef struct crowd
{
    const task_gather* gather;
    uint32_t alone_count; ///< pieces that no worker searched
    uint32_t count;       ///< searches begun
} crowd;

static clv_result put_crowd(
    uint32_t piece, uint32_t worker, clv_pair_sink* sink, uint64_t* test_count, void* context )
{
    (void)worker;
    crowd* seen = context;
    clv_result result = CLV_OK;
    CHECK( seen->gather->is_alone != s_is_worker ); // or a worker would take memory
    seen->alone_count += !s_is_worker;
    seen->count += 1;
    for ( uint32_t i = 0; i < CROWD_PAIRS + piece && result == CLV_OK; ++i )
    {
        result = clv_pair_sink_put( sink, piece, 1000 + i );
        *test_count += 1;
    }
    return result;
}

static uint64_t crowd_pairs( void )
{
    return (uint64_t)CROWD_PIECES * CROWD_PAIRS + CROWD_PIECES * ( CROWD_PIECES - 1 ) / 2;
}

// The next pair in order of piece.
typedef struct crowd_place
{
    uint32_t piece, at;
    uint64_t count;
} crowd_place;

static void check_crowd( crowd_place* place, const clv_pair* pairs, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        CHECK_EQUAL( pairs[i].a, place->piece < 1000 + place->at ? place->piece : 1000 + place->at );
        place->at += 1;
        if ( place->at == CROWD_PAIRS + place->piece )
        {
            place->at = 0;
            place->piece += 1;
        }
    }
    place->count += count;
}

// A list, as that of a space.
typedef struct growing_sink
{
    clv_pair_sink sink;
    BASE_ARRAY( clv_pair ) list;
    base_memory* memory;
} growing_sink;

static clv_result grow( clv_pair_sink* sink )
{
    growing_sink* out = (growing_sink*)sink;
    out->list.count = sink->count;
    uint64_t wanted = sink->count + sink->expected + CLV_PAIR_SINK_ROOM;
    CHECK( base_array_reserve( &out->list, out->memory, wanted ) );
    sink->pairs = out->list.items;
    sink->capacity = out->list.capacity;
    return CLV_OK;
}

// A first run knows nothing of its pairs, and yet none of its pieces is left to the calling thread.
static void a_fresh_list_leaves_no_piece_to_one_thread( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    for ( uint32_t workers = 2; workers <= 16; workers *= 2 )
    {
        task_runner tasks;
        CHECK( clv_task_runner_start(
            &tasks, workers, 0, ( clv_task_hooks ){ run_in_turn, &workers }, &memory ) );
        task_gather gather = { 0 };
        for ( uint32_t run = 0; run < 6; ++run )
        {
            gather.early = run >= 3 ? &clv_task_gather_early : NULL;
            crowd seen = { &gather, 0, 0 };
            growing_sink out = { { .make_room = grow }, { 0 }, &memory };
            uint64_t test_count = 0;
            CHECK_OK( clv_task_gather_run(
                &gather, &memory, &tasks, CROWD_PIECES, put_crowd, &seen, &out.sink, &test_count ) );
            CHECK_EQUAL( seen.alone_count, 0 );
            CHECK( seen.count < CROWD_PIECES + CROWD_PIECES / 4 );
            CHECK_EQUAL( test_count, crowd_pairs() );
            crowd_place place = { 0, 0, 0 };
            check_crowd( &place, out.sink.pairs, out.sink.count );
            CHECK_EQUAL( place.count, crowd_pairs() );
            base_array_free( &out.list, &memory );
        }
        clv_task_gather_release( &gather, &memory );
        clv_task_runner_stop( &tasks, &memory );
    }
    CHECK_EQUAL( memory.bytes, 0 );
}

// A visitor: what it has seen is gone. It may stop, and is not asked again then.
typedef struct visitor_sink
{
    clv_pair_sink sink;
    crowd_place place;
    uint64_t most; ///< pairs that it wants
    bool has_stopped;
} visitor_sink;

static clv_result visit( clv_pair_sink* sink )
{
    visitor_sink* visitor = (visitor_sink*)sink;
    CHECK( !visitor->has_stopped );
    check_crowd( &visitor->place, sink->pairs, sink->count );
    sink->count = 0;
    visitor->has_stopped = visitor->place.count > visitor->most;
    return visitor->has_stopped ? CLV_STOPPED : CLV_OK;
}

// Nor does a visitor leave most of its pieces to one thread, and chunks do not become the list it has not.
static void a_visitor_bounds_memory_and_has_all_workers( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    clv_pair* pairs = test_alloc( VISITED, sizeof( clv_pair ) );
    uint32_t workers = 16;
    task_runner tasks;
    CHECK(
        clv_task_runner_start( &tasks, workers, 0, ( clv_task_hooks ){ run_in_turn, &workers }, &memory ) );
    task_gather gather = { 0 };
    static const uint64_t wanted[] = { UINT64_MAX, UINT64_MAX, 0, 300000, 1900000 };
    for ( uint32_t run = 0; run < 2 * TEST_COUNT( wanted ); ++run )
    {
        uint64_t most = wanted[run % TEST_COUNT( wanted )];
        gather.early = run >= TEST_COUNT( wanted ) ? &clv_task_gather_early : NULL;
        crowd seen = { &gather, 0, 0 };
        visitor_sink out = { { .pairs = pairs, .capacity = VISITED, .make_room = visit }, { 0, 0, 0 }, most,
            false };
        uint64_t test_count = 0;
        clv_result result = clv_task_gather_run(
            &gather, &memory, &tasks, CROWD_PIECES, put_crowd, &seen, &out.sink, &test_count );
        CHECK_RESULT( result, most == UINT64_MAX ? CLV_OK : CLV_STOPPED );
        CHECK( seen.alone_count < CROWD_PIECES / 16 );
        CHECK( gather.chunks.capacity * sizeof( task_chunk ) < crowd_pairs() * sizeof( clv_pair ) / 3 );
        if ( most == UINT64_MAX )
        {
            CHECK_OK( visit( &out.sink ) );
            CHECK_EQUAL( out.place.count, crowd_pairs() );
            CHECK_EQUAL( test_count, crowd_pairs() );
        }
    }
    clv_task_gather_release( &gather, &memory );
    clv_task_runner_stop( &tasks, &memory );
    CHECK_EQUAL( memory.bytes, 0 );
    free( pairs );
}

// A list with room from the frame before, and how far it must have come when a piece begins.
typedef struct early_list
{
    clv_pair* pairs;
    uint32_t begun; ///< pieces
} early_list;

static clv_result put_behind(
    uint32_t piece, uint32_t worker, clv_pair_sink* sink, uint64_t* test_count, void* context )
{
    early_list* list = context;
    CHECK_EQUAL( piece, list->begun++ );
    CHECK( piece == 0 || list->pairs[1000 * piece - 1].b == 1999 );
    for ( uint32_t i = 0; i < 1000; ++i )
    {
        CHECK_OK( clv_pair_sink_put( sink, piece, 1000 + i ) );
    }
    (void)worker;
    *test_count += 1000;
    return CLV_OK;
}

// Workers that come one after the other: then the place of a piece is known when it has been found. Two
// chunks are enough for all of them.
static void a_piece_is_joined_before_the_next_begins( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    clv_pair* pairs = test_alloc( MOST, sizeof( clv_pair ) );
    uint32_t workers = 1;
    clv_task_hooks hooks = { run_in_turn, &workers };
    task_runner tasks;
    CHECK( clv_task_runner_start( &tasks, 2, 0, hooks, &memory ) );
    task_gather gather = { .early = &clv_task_gather_early, .wanted_chunks = 1 };
    for ( uint32_t run = 0; run < 3; ++run )
    {
        memset( pairs, 0, MOST * sizeof( clv_pair ) );
        early_list list = { pairs, 0 };
        fixed_sink out = { { .pairs = pairs, .capacity = MOST, .make_room = refuse_beyond }, MOST, false };
        uint64_t test_count = 0;
        CHECK_OK( clv_task_gather_run(
            &gather, &memory, &tasks, PIECES, put_behind, &list, &out.sink, &test_count ) );
        CHECK_EQUAL( list.begun, PIECES );
        CHECK_EQUAL( out.sink.count, 1000 * PIECES );
        CHECK_EQUAL( test_count, 1000 * PIECES );
        gather.wanted_chunks = 1;
    }
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
        TEST_CASE( a_fresh_list_leaves_no_piece_to_one_thread ),
        TEST_CASE( a_visitor_bounds_memory_and_has_all_workers ),
        TEST_CASE( a_piece_is_joined_before_the_next_begins ),
    };
    return test_run( "gather", cases, TEST_COUNT( cases ), argc, argv );
}
