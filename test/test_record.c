// SPDX-License-Identifier: MIT
// Recordings: what is written, read and played again, on other methods too; sinks that fail, files
// that are cut or damaged.
#include "cleave/methods.h"
#include "cleave/record.h"
#include "fuzz/fuzz_parts.h"
#include "lab/replay/replay.h"
#include "support.h"
#include "task/background.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- a sink in memory, with room for so many bytes

typedef struct memory_sink
{
    uint8_t* bytes;
    size_t count, room;
} memory_sink;

static bool put( const void* bytes, size_t count, void* user )
{
    memory_sink* sink = user;
    if ( count > sink->room - sink->count )
    {
        return false;
    }
    memcpy( sink->bytes + sink->count, bytes, count );
    sink->count += count;
    return true;
}

static memory_sink make_sink( size_t room )
{
    return ( memory_sink ){ malloc( room > 0 ? room : 1 ), 0, room };
}

static clv_recorder* record( clv_space* space, memory_sink* sink, bool has_thread )
{
    clv_recorder_def def = clv_default_recorder_def();
    clv_recorder* recorder = NULL;
    def.put = put;
    def.put_user = sink;
    def.has_thread = has_thread;
    return clv_recorder_create( &def, space, &recorder ) == CLV_OK ? recorder : NULL;
}

// ---- a world with a bit of everything

enum
{
    BOXES = 300,
    FRAMES = 12,
    SINK_ROOM = 8 << 20,
};

static uint32_t next_random( uint32_t* seed )
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static clv_aabb random_box( uint32_t* seed )
{
    float at[3], side = 0.2f + (float)( next_random( seed ) % 100 ) / 100.0f;
    for ( int i = 0; i < 3; ++i )
    {
        at[i] = (float)( next_random( seed ) % 1000 ) / 100.0f;
    }
    return ( clv_aabb ){ { at[0], at[1], at[2] }, { at[0] + side, at[1] + side, at[2] + side } };
}

static bool even_pairs( const clv_space* space, clv_pair pair, void* user )
{
    (void)space;
    (void)user;
    return ( pair.a + pair.b ) % 3 != 0;
}

static bool count_even( const clv_space* space, uint32_t query, clv_hit hit, float* reach, void* user )
{
    (void)space;
    (void)query;
    (void)user;
    *reach = *reach * 0.9f;
    return hit.index % 2 == 0;
}

static bool stop_soon( const clv_pair* pairs, size_t count, void* user )
{
    (void)pairs;
    (void)count;
    (void)user;
    return false;
}

static bool see_hits( uint32_t query, const clv_hit* hits, uint64_t count, void* user )
{
    (void)hits;
    (void)count;
    (void)user;
    return query < 2;
}

static void ask( const clv_space* space, uint32_t* seed )
{
    clv_aabb boxes[4];
    clv_ray rays[4];
    clv_hit hits[64];
    uint64_t offsets[5];
    for ( int i = 0; i < 4; ++i )
    {
        boxes[i] = random_box( seed );
        rays[i] = ( clv_ray ){ boxes[i].lower, { 1, 0.5f, 0.25f }, 20.0f };
    }
    clv_plane planes[2] = { { { 1, 0, 0 }, 5 }, { { 0, 1, 0 }, 5 } };
    clv_half_spaces corner = { planes, 2 };
    const clv_filter filter = { 1, 1, 0 };
    clv_queries queries = clv_query_boxes( boxes, 4 );
    clv_query_lists lists = { offsets, hits, 64, 0, 0 };
    clv_space_query_all( space, &queries, &lists );
    lists.capacity = 1;
    queries.filters = &filter;
    clv_space_query_all( space, &queries, &lists );
    clv_space_query_nearest( space, &queries, 3, 100.0f, hits, NULL );
    clv_space_query_visit( space, &queries, see_hits, NULL, NULL );
    queries = clv_query_rays( rays, 4 );
    clv_space_query_any( space, &queries, hits, NULL );
    queries.callback = count_even;
    clv_space_query_closest( space, &queries, hits, NULL );
    rays[2].max_t = NAN;
    clv_space_query_closest( space, &queries, hits, NULL );
    queries = clv_query_half_spaces( &corner, 1 );
    lists = ( clv_query_lists ){ NULL, hits, 64, 0, 0 };
    clv_space_query_all( space, &queries, &lists );
    // Those in double have a place too.
    clv_hit64 hits64[64];
    const clv_plane64 planes64[3] = { { { 1, 0, 0 }, 5 }, { { 0, 1, 0 }, 3 }, { { 0, 0, -1 }, 2 } };
    const clv_half_spaces64 corners[3] = { { { 3, 0.1, -1 }, planes64, 2 }, { { 0, 0, 0 }, NULL, 0 },
        { { -1, 0.7, 1e9 }, planes64 + 2, 1 } };
    clv_queries64 queries64 = clv_query_half_spaces64( corners, 3 );
    clv_query_lists64 lists64 = { offsets, hits64, 64, 0, 0 };
    clv_space_query_all64( space, &queries64, &lists64 );
}

static void live( clv_space* space, uint32_t seed, bool asks )
{
    clv_aabb boxes[BOXES], few[8];
    clv_id ids[BOXES], more[8];
    clv_vec3 motions[8];
    uint64_t words[8];
    float margins[8];
    clv_filter filters[8];
    bool is_static[8];
    for ( int i = 0; i < BOXES; ++i )
    {
        boxes[i] = random_box( &seed );
    }
    clv_space_add( space, boxes, BOXES, ids );
    for ( int frame = 0; frame < FRAMES; ++frame )
    {
        for ( int i = 0; i < 8; ++i )
        {
            few[i] = random_box( &seed );
            motions[i] = ( clv_vec3 ){ 0.1f * (float)i, 0, 0.05f };
            words[i] = UINT64_C( 0xDEADBEEF00000000 ) + seed;
            margins[i] = 0.01f * (float)i;
            filters[i] = ( clv_filter ){ 1u << i % 3, UINT64_MAX, i % 5 - 2 };
            is_static[i] = i % 2 == 0;
        }
        clv_space_move_strided(
            space, ids + 8, ( clv_box_stream ){ &few[0].lower.x, &few[0].upper.x, sizeof( clv_aabb ) }, 8 );
        clv_space_set_motion( space, ids, motions, 8 );
        clv_space_set_user_data( space, ids, words, 8 );
        clv_space_set_margin( space, ids + frame, margins, 8 );
        clv_space_set_filter( space, ids + frame, filters, 8 );
        clv_space_set_static( space, ids, is_static, 8 );
        clv_space_refilter( space, ids, 3 );
        clv_add_def with = clv_default_add_def();
        with.boxes = few;
        with.user_data = words;
        with.motions = motions;
        clv_space_add_with( space, &with, 8, more );
        clv_space_move_one( space, ( clv_id ){ 7, 99 }, few[0] ); // refused
        clv_space_update( space );
        if ( asks )
        {
            ask( space, &seed );
        }
        clv_space_remove( space, more, 8 );
        for ( int i = 0; i < BOXES && frame % 2 == 1; ++i )
        {
            boxes[i] = random_box( &seed );
        }
        CHECK( clv_space_move_all( space, boxes, BOXES ) == CLV_OK );
        CHECK( clv_space_move_all( space, boxes, 0 ) == CLV_BAD_ARGUMENT ); // refused, and not recorded
        clv_space_shift_origin( space, ( clv_vec64 ){ 0.5, 0, 0 } );
        clv_space_shrink( space );
        clv_space_refresh( space );
        clv_space_update( space );
    }
    clv_space_clear( space );
    clv_space_add( space, boxes, 5, NULL );
    clv_space_update( space );
}

static clv_space_def world_def( void )
{
    clv_space_def def = clv_default_space_def();
    def.events = true;
    def.margin = 0.02f;
    def.filter = even_pairs;
    def.settings = "cleave.few=0";
    return def;
}

static void play(
    const memory_sink* sink, const char* method, uint32_t workers, clv_isa isa, bool with_order )
{
    recording source;
    lab_error why;
    replay_report report;
    replay_def def = { .as = clv_default_space_def(),
        .twin = replay_brute(),
        .with_twin = true,
        .with_answers = true,
        .with_order = with_order };
    def.as.method = method;
    def.as.worker_count = workers;
    def.as.isa = isa;
    CHECK( recording_parse( "sink", sink->bytes, sink->count, &source, &why ) );
    def.as.settings = strcmp( method, source.method ) == 0 ? source.settings : NULL;
    CHECK( replay_run( &source, &def, &report, &why ) );
    if ( report.differs )
    {
        printf( "%s: call %llu: %s\n", method, (unsigned long long)report.call, report.what );
    }
    CHECK( !report.differs && report.played == source.call_count && report.compared == report.played );
    recording_free( &source );
}

static void record_world( memory_sink* sink, bool has_thread )
{
    clv_space_def def = world_def();
    clv_space* space = NULL;
    *sink = make_sink( SINK_ROOM );
    CHECK( clv_space_create( &def, &space ) == CLV_OK );
    clv_recorder* recorder = record( space, sink, has_thread );
    CHECK( recorder != NULL );
    live( space, 1, true );
    CHECK(
        clv_recorder_status( recorder ).code == CLV_OK && clv_recorder_status( recorder ).call_count > 100 );
    clv_space_destroy( space ); // before the recorder, which is legal
    CHECK( clv_recorder_close( recorder ) == CLV_OK );
}

static void a_recording_plays_on_every_method( void )
{
    memory_sink sink;
    record_world( &sink, false );
    play( &sink, "cleave", 1, CLV_ISA_AUTO, true );
    play( &sink, "cleave", 4, CLV_ISA_AUTO, true );
    play( &sink, "cleave", 1, CLV_ISA_SCALAR, true );
    play( &sink, "brute", 1, CLV_ISA_AUTO, false );
    play( &sink, "sap", 1, CLV_ISA_AUTO, false );
    play( &sink, "kd", 1, CLV_ISA_AUTO, false );
    free( sink.bytes );
}

static void a_thread_writes_the_same_bytes( void )
{
    memory_sink one, other;
    record_world( &one, false );
    record_world( &other, true );
    CHECK( one.count == other.count && memcmp( one.bytes, other.bytes, one.count ) == 0 );
    free( one.bytes );
    free( other.bytes );
}

static void a_visit_that_stops_is_played( void )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    memory_sink sink = make_sink( SINK_ROOM );
    clv_aabb boxes[BOXES];
    uint32_t seed = 3;
    for ( int i = 0; i < BOXES; ++i )
    {
        boxes[i] = random_box( &seed );
    }
    CHECK( clv_space_create( &def, &space ) == CLV_OK );
    clv_recorder* recorder = record( space, &sink, false );
    CHECK( clv_space_add( space, boxes, BOXES, NULL ) == CLV_OK );
    CHECK( clv_space_visit( space, stop_soon, NULL ) == CLV_STOPPED );
    CHECK( clv_recorder_close( recorder ) == CLV_OK );
    CHECK( clv_space_update( space ) == CLV_OK ); // goes on without
    clv_space_destroy( space );
    play( &sink, "cleave", 1, CLV_ISA_AUTO, true );
    free( sink.bytes );
}

static void doubles_and_flat_worlds_are_recorded( void )
{
    clv_aabb64 wide[40];
    clv_aabb2 flat[40];
    uint32_t seed = 5;
    for ( int kind = 0; kind < 2; ++kind )
    {
        clv_space_def def = clv_default_space_def();
        clv_space* space = NULL;
        memory_sink sink = make_sink( SINK_ROOM );
        clv_id ids[40];
        def.doubles = kind == 0;
        def.flat = kind == 1;
        CHECK( clv_space_create( &def, &space ) == CLV_OK );
        clv_recorder* recorder = record( space, &sink, kind == 1 );
        for ( int frame = 0; frame < 4; ++frame )
        {
            for ( int i = 0; i < 40; ++i )
            {
                clv_aabb box = random_box( &seed );
                flat[i] = ( clv_aabb2 ){ { box.lower.x, box.lower.y }, { box.upper.x, box.upper.y } };
                wide[i] =
                    ( clv_aabb64 ){ { (double)box.lower.x + 1e9, (double)box.lower.y, (double)box.lower.z },
                        { (double)box.upper.x + 1e9, (double)box.upper.y, (double)box.upper.z } };
            }
            clv_result result = kind == 0 ? ( frame == 0 ? clv_space_add64( space, wide, 40, ids )
                                                         : clv_space_move64( space, ids, wide, 40 ) )
                                          : ( frame == 0 ? clv_space_add2( space, flat, 40, ids )
                                                         : clv_space_move2( space, ids, flat, 40 ) );
            CHECK( result == CLV_OK && clv_space_update( space ) == CLV_OK );
            wide[3] = wide[4];
            flat[3] = flat[4];
            result =
                kind == 0 ? clv_space_move_all64( space, wide, 40 ) : clv_space_move_all2( space, flat, 40 );
            CHECK( result == CLV_OK && clv_space_update( space ) == CLV_OK );
            clv_hit64 hits[40];
            clv_queries64 queries = clv_query_boxes64( wide, 40 );
            clv_space_query_any64( space, &queries, hits, NULL );
        }
        CHECK( clv_recorder_close( recorder ) == CLV_OK );
        clv_space_destroy( space );
        play( &sink, "cleave", 1, CLV_ISA_AUTO, true );
        free( sink.bytes );
    }
}

static void batches_take_a_tenth_more_than_was_handed_over( void )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    memory_sink sink = make_sink( SINK_ROOM );
    clv_aabb boxes[64];
    clv_id ids[64];
    uint32_t seed = 9;
    for ( int i = 0; i < 64; ++i )
    {
        boxes[i] = random_box( &seed );
    }
    CHECK( clv_space_create( &def, &space ) == CLV_OK );
    clv_recorder* recorder = record( space, &sink, false );
    CHECK( clv_space_add( space, boxes, 64, ids ) == CLV_OK );
    uint64_t handed = sizeof( boxes );
    for ( int i = 0; i < 1000; ++i )
    {
        CHECK( clv_space_move( space, ids, boxes, 64 ) == CLV_OK );
        handed += sizeof( boxes ) + sizeof( ids );
    }
    CHECK( clv_recorder_close( recorder ) == CLV_OK );
    CHECK( (double)sink.count <= 1.1 * (double)handed );
    clv_space_destroy( space );
    free( sink.bytes );
}

// Every other box of an array, ids in any order, a column beside: more than a buffer of the recorder's holds.
static void live_large( clv_space* space )
{
    enum
    {
        MANY = 20000
    };
    clv_aabb* boxes = malloc( 2 * MANY * sizeof( clv_aabb ) );
    clv_id* ids = malloc( MANY * sizeof( clv_id ) );
    uint64_t* words = malloc( MANY * sizeof( uint64_t ) );
    clv_filter* filters = malloc( MANY * sizeof( clv_filter ) );
    uint32_t seed = 11;
    for ( uint32_t i = 0; i < 2 * MANY; ++i )
    {
        boxes[i] = random_box( &seed );
        boxes[i].lower.z += (float)( i / 20 );
        boxes[i].upper.z += (float)( i / 20 );
        words[i / 2] = i * UINT64_C( 0x9E3779B97F4A7C15 );
        filters[i / 2] = ( clv_filter ){ 1u << i % 5, UINT64_MAX, 0 };
    }
    CHECK( clv_space_add( space, boxes, MANY, ids ) == CLV_OK );
    CHECK( clv_space_move( space, ids, boxes, MANY ) == CLV_OK && clv_space_update( space ) == CLV_OK );
    for ( uint32_t i = 0; i < MANY; ++i )
    {
        uint32_t j = i * 7919 % MANY;
        clv_id id = ids[i];
        ids[i] = ids[j];
        ids[j] = id;
    }
    clv_box_stream stream = { &boxes[1].lower.x, &boxes[1].upper.x, 2 * sizeof( clv_aabb ) };
    CHECK( clv_space_move_strided( space, ids, stream, MANY ) == CLV_OK );
    CHECK( clv_space_set_user_data( space, ids, words, MANY ) == CLV_OK );
    CHECK( clv_space_set_filter( space, ids, filters, MANY ) == CLV_OK );
    CHECK( clv_space_update( space ) == CLV_OK );
    free( boxes );
    free( ids );
    free( words );
    free( filters );
}

static void a_batch_larger_than_a_buffer_goes_through_in_pieces( void )
{
    memory_sink sinks[2];
    for ( int has_thread = 0; has_thread < 2; ++has_thread )
    {
        clv_space_def def = clv_default_space_def();
        clv_space* space = NULL;
        sinks[has_thread] = make_sink( SINK_ROOM );
        CHECK( clv_space_create( &def, &space ) == CLV_OK );
        clv_recorder* recorder = record( space, &sinks[has_thread], has_thread != 0 );
        live_large( space );
        CHECK( clv_recorder_status( recorder ).byte_count > 2000000 );
        CHECK( clv_recorder_close( recorder ) == CLV_OK );
        clv_space_destroy( space );
    }
    CHECK( sinks[0].count == sinks[1].count );
    CHECK( memcmp( sinks[0].bytes, sinks[1].bytes, sinks[0].count ) == 0 );
    play( &sinks[0], "cleave", 1, CLV_ISA_AUTO, true );
    free( sinks[0].bytes );
    free( sinks[1].bytes );
}

// A thread that asks while others do, and the recorder's own has many buffers to write.
static void ask_often( void* context )
{
    uint32_t seed = 17;
    for ( int i = 0; i < 20; ++i )
    {
        ask( context, &seed );
    }
}

static void questions_of_many_threads_are_recorded_whole( void )
{
    enum
    {
        ASKERS = 3
    };
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    clv_recorder* recorder = NULL;
    memory_sink sink = make_sink( SINK_ROOM );
    clv_recorder_def how = clv_default_recorder_def();
    how.put = put;
    how.put_user = &sink;
    how.has_thread = true;
    how.writes_each = true;
    CHECK( clv_space_create( &def, &space ) == CLV_OK );
    CHECK( clv_recorder_create( &how, space, &recorder ) == CLV_OK );
    live( space, 1, false );
    task_background askers[ASKERS];
    for ( int i = 0; i < ASKERS; ++i )
    {
        clv_task_background_init( &askers[i] );
        CHECK( clv_task_background_start( &askers[i], ask_often, space ) );
    }
    for ( int i = 0; i < ASKERS; ++i )
    {
        clv_task_background_join( &askers[i] );
        clv_task_background_done( &askers[i] );
    }
    CHECK( clv_recorder_close( recorder ) == CLV_OK );
    clv_space_destroy( space );
    play( &sink, "cleave", 1, CLV_ISA_AUTO, true );
    free( sink.bytes );
}

// ---- what fails

typedef struct log_lines
{
    int count;
} log_lines;

static void note_line( clv_log_level level, const char* line, void* user )
{
    log_lines* lines = user;
    (void)level;
    lines->count += strstr( line, "the recording ended" ) != NULL;
}

static void a_full_disk_ends_the_recording_alone( void )
{
    for ( int has_thread = 0; has_thread < 2; ++has_thread )
    {
        for ( size_t room = 0; room < 60000; room += 7000 )
        {
            clv_space_def def = world_def();
            clv_space* space = NULL;
            memory_sink sink = make_sink( room );
            log_lines lines = { 0 };
            clv_recorder_def how = clv_default_recorder_def();
            clv_recorder* recorder = NULL;
            how.put = put;
            how.put_user = &sink;
            how.has_thread = has_thread != 0;
            how.writes_each = true;
            how.logger = ( clv_logger ){ note_line, &lines };
            CHECK( clv_space_create( &def, &space ) == CLV_OK );
            clv_result result = clv_recorder_create( &how, space, &recorder );
            CHECK( result == ( room == 0 ? CLV_FILE_FAILED : CLV_OK ) );
            live( space, 1, true );
            CHECK( clv_space_stats( space ).update_count == 2 * FRAMES + 1 );
            if ( recorder != NULL )
            {
                bool is_told = clv_recorder_status( recorder ).code == CLV_FILE_FAILED && lines.count == 1;
                CHECK( is_told ||
                    has_thread != 0 ); // of a thread's failure the next call may be the first to know
                CHECK( clv_recorder_close( recorder ) == CLV_FILE_FAILED && lines.count == 1 );
                recording source;
                lab_error why;
                CHECK( recording_parse( "sink", sink.bytes, sink.count, &source, &why ) && source.is_cut );
                recording_free( &source );
            }
            clv_space_destroy( space );
            free( sink.bytes );
        }
    }
}

// Slots in a row, one of them of another generation.
static void ids_that_are_no_row_are_played_as_they_were( void )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    memory_sink sink = make_sink( SINK_ROOM );
    CHECK( clv_space_create( &def, &space ) == CLV_OK );
    clv_recorder* recorder = record( space, &sink, false );
    clv_aabb boxes[3] = { { { 0, 0, 0 }, { 1, 1, 1 } }, { { 2, 0, 0 }, { 3, 1, 1 } },
        { { 4, 0, 0 }, { 5, 1, 1 } } };
    clv_id ids[3];
    CHECK( clv_space_add( space, boxes, 3, ids ) == CLV_OK );
    CHECK( clv_space_remove_one( space, ids[1] ) == CLV_OK );
    CHECK( clv_space_add_one( space, boxes[1], &ids[1] ) == CLV_OK && ids[1].index == 1 );
    CHECK( ids[1].generation != ids[0].generation );
    CHECK( clv_space_move( space, ids, boxes, 3 ) == CLV_OK && clv_space_update( space ) == CLV_OK );
    CHECK( clv_recorder_close( recorder ) == CLV_OK );
    clv_space_destroy( space );
    play( &sink, "cleave", 1, CLV_ISA_AUTO, true );
    free( sink.bytes );
}

static void a_row_of_ids_does_not_wrap_around( void )
{
    clv_id ids[100];
    for ( uint32_t i = 0; i < 100; ++i )
    {
        ids[i] = ( clv_id ){ 7 + i, 3 };
    }
    CHECK( clv_record_is_row( ids, 100 ) && clv_record_is_row( ids, 2 ) && !clv_record_is_row( ids, 1 ) );
    for ( uint32_t i = 0; i < 100; ++i )
    {
        ids[i].generation = 4;
        CHECK( !clv_record_is_row( ids, 100 ) );
        ids[i] = ( clv_id ){ ids[i].index + 1, 3 };
        CHECK( !clv_record_is_row( ids, 100 ) );
        ids[i].index -= 1;
    }
    const clv_id around[2] = { { UINT32_MAX, 3 }, { 0, 4 } };
    CHECK( !clv_record_is_row( around, 2 ) );
}

static void the_order_of_pairs_is_in_their_hash( void )
{
    const clv_pair pairs[2] = { { 1, 2 }, { 3, 4 } }, turned[2] = { { 3, 4 }, { 1, 2 } };
    record_hash a = { 0 }, b = { 0 };
    clv_record_hash_pairs( &a, pairs, 2 );
    clv_record_hash_pairs( &b, turned, 2 );
    CHECK( a.count == 2 && a.count == b.count && a.set == b.set && a.order != b.order );
    record_hash one = { 0 };
    for ( uint32_t i = 0; i < 2; ++i )
    {
        record_hash_add( &one, (uint64_t)pairs[i].a << 32 | pairs[i].b );
    }
    CHECK( one.count == a.count && one.set == a.set && one.order == a.order );
    clv_record_hash_pairs( &a, turned, 2 ); // as a visitor sees them, some at a time
    record_hash_add( &one, (uint64_t)3 << 32 | 4 );
    record_hash_add( &one, (uint64_t)1 << 32 | 2 );
    CHECK( one.count == a.count && one.set == a.set && one.order == a.order );
}

static void cut_and_damaged_files_are_refused( void )
{
    memory_sink sink;
    recording source;
    lab_error why;
    record_world( &sink, false );
    for ( size_t size = 0; size < sink.count; size += 1 + sink.count / 400 )
    {
        if ( recording_parse( "cut", sink.bytes, size, &source, &why ) )
        {
            CHECK( source.is_cut && source.cut_offset <= size );
            recording_free( &source );
        }
        else
        {
            CHECK( strstr( why.text, "at byte" ) != NULL || strstr( why.text, "no settings" ) != NULL );
        }
    }
    for ( size_t at = 0; at < sink.count; at += 1 + sink.count / 1000 )
    {
        sink.bytes[at] ^= 0x41;
        CHECK( !recording_parse( "damaged", sink.bytes, sink.count, &source, &why ) );
        CHECK( strstr( why.text, "at byte" ) != NULL );
        sink.bytes[at] ^= 0x41;
    }
    free( sink.bytes );
}

// A row of ids is two numbers and a count, which could be anything.
static void a_row_of_ids_is_no_longer_than_there_are_objects( void )
{
    memory_sink sink = make_sink( SINK_ROOM );
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    CHECK( clv_space_create( &def, &space ) == CLV_OK );
    clv_recorder* recorder = record( space, &sink, false );
    clv_aabb boxes[3] = { { { 0, 0, 0 }, { 1, 1, 1 } }, { { 2, 0, 0 }, { 3, 1, 1 } },
        { { 4, 0, 0 }, { 5, 1, 1 } } };
    clv_id ids[3];
    CHECK( clv_space_add( space, boxes, 3, ids ) == CLV_OK && clv_space_remove( space, ids, 3 ) == CLV_OK );
    CHECK( clv_recorder_close( recorder ) == CLV_OK );
    clv_space_destroy( space );
    recording source;
    lab_error why;
    CHECK( recording_parse( "whole", sink.bytes, sink.count, &source, &why ) && source.call_count == 2 );
    recording_free( &source );
    uint32_t changed = 0;
    for ( size_t at = 0; at + RECORD_HEAD_BYTES <= sink.count; ++at )
    {
        uint8_t* head = sink.bytes + at;
        if ( head[8] == RECORD_CALL && head[9] == SPACE_CALL_REMOVE && base_get_u32( head + 12 ) == 3 )
        {
            base_put_u32( head + 12, UINT32_MAX );
            changed += 1;
        }
    }
    CHECK( changed == 1 );
    fuzz_mend_parts( sink.bytes, sink.count, "RECO" );
    CHECK( !recording_parse( "hostile", sink.bytes, sink.count, &source, &why ) );
    CHECK( strstr( why.text, "longer than there are objects" ) != NULL );
    free( sink.bytes );
}

static void a_recorder_says_what_it_cannot_do( void )
{
    clv_space_def def = clv_default_space_def();
    clv_recorder_def how = clv_default_recorder_def();
    clv_space* space = NULL;
    clv_recorder* recorder = NULL;
    memory_sink sink = make_sink( SINK_ROOM );
    CHECK( clv_space_create( &def, &space ) == CLV_OK );
    CHECK( clv_recorder_create( &how, space, &recorder ) == CLV_BAD_DEF ); // neither path nor put
    how.path = "no/such/folder/file";
    CHECK( clv_recorder_create( &how, space, &recorder ) == CLV_FILE_FAILED && recorder == NULL );
    how.put = put;
    CHECK( clv_recorder_create( &how, space, &recorder ) == CLV_BAD_DEF ); // both
    how.path = NULL;
    how.put_user = &sink;
    how.cookie = 1;
    CHECK( clv_recorder_create( &how, space, &recorder ) == CLV_BAD_DEF );
    clv_recorder* first = record( space, &sink, false );
    CHECK( first != NULL && record( space, &sink, false ) == NULL ); // one at a time
    CHECK( clv_recorder_close( first ) == CLV_OK && clv_recorder_close( NULL ) == CLV_OK );
    clv_space_destroy( space );
    free( sink.bytes );
}

static void a_limit_of_bytes_holds( void )
{
    clv_space_def def = world_def();
    clv_space* space = NULL;
    memory_sink sink = make_sink( SINK_ROOM );
    clv_recorder_def how = clv_default_recorder_def();
    clv_recorder* recorder = NULL;
    how.put = put;
    how.put_user = &sink;
    how.writes_each = true;
    how.most_bytes = 20000;
    CHECK( clv_space_create( &def, &space ) == CLV_OK );
    CHECK( clv_recorder_create( &how, space, &recorder ) == CLV_OK );
    live( space, 1, false );
    CHECK( clv_recorder_status( recorder ).code == CLV_FILE_FAILED );
    CHECK( strstr( clv_recorder_status( recorder ).text, "most_bytes" ) != NULL );
    CHECK( clv_recorder_close( recorder ) == CLV_FILE_FAILED && sink.count <= 20000 );
    clv_space_destroy( space );
    free( sink.bytes );
}

// ---- a wrong answer, and what becomes of it

static void a_wrong_answer_is_found_and_shrunk( void )
{
    memory_sink sink;
    recording source, small;
    lab_error why;
    replay_report report;
    record_world( &sink, false );
    CHECK( recording_parse( "sink", sink.bytes, sink.count, &source, &why ) );
    replay_def def = { .as = clv_default_space_def(), .twin = replay_brute(), .with_answers = true };
    def.as.method = "sap";
    uint64_t wrong = 0;
    while ( source.calls[wrong].call.kind != SPACE_CALL_UPDATE || wrong < 40 )
    {
        wrong += 1;
    }
    source.calls[wrong].answer.words[1] ^= 1;
    CHECK( replay_run( &source, &def, &report, &why ) );
    CHECK( report.differs && report.call == wrong && strstr( report.what, "set of pairs" ) != NULL );
    // Brute force agrees with the method, so there is nothing to shrink.
    CHECK( !recording_shrink( &source, &def.as, &small, &why ) && strstr( why.text, "nothing" ) != NULL );
    recording_free( &source );
    free( sink.bytes );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_recording_plays_on_every_method ),
        TEST_CASE( a_thread_writes_the_same_bytes ),
        TEST_CASE( a_visit_that_stops_is_played ),
        TEST_CASE( doubles_and_flat_worlds_are_recorded ),
        TEST_CASE( batches_take_a_tenth_more_than_was_handed_over ),
        TEST_CASE( a_batch_larger_than_a_buffer_goes_through_in_pieces ),
        TEST_CASE( questions_of_many_threads_are_recorded_whole ),
        TEST_CASE( a_full_disk_ends_the_recording_alone ),
        TEST_CASE( ids_that_are_no_row_are_played_as_they_were ),
        TEST_CASE( a_row_of_ids_does_not_wrap_around ),
        TEST_CASE( the_order_of_pairs_is_in_their_hash ),
        TEST_CASE( cut_and_damaged_files_are_refused ),
        TEST_CASE( a_row_of_ids_is_no_longer_than_there_are_objects ),
        TEST_CASE( a_recorder_says_what_it_cannot_do ),
        TEST_CASE( a_limit_of_bytes_holds ),
        TEST_CASE( a_wrong_answer_is_found_and_shrunk ),
    };
    clv_methods_register();
    return test_run( "record", cases, TEST_COUNT( cases ), argc, argv );
}
