// SPDX-License-Identifier: MIT
// Every allocation of a scripted life refused in turn: no crash, no leak, the space as it was, and the same
// call works once memory is back.
#include "heap.h"
#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    OBJECTS = 90,
    MORE = 270, // with small limits enough for many blocks
    SETTINGS = 512,
    UPDATES = 8
};

// What an update answered, in numbers that do not depend on the order of the list.
typedef struct answer
{
    uint64_t pairs, begun, ended, candidates, updates;
    uint64_t words; ///< of pairs that last and of those that ended
} answer;

typedef struct script
{
    heap hooks;
    clv_space_def def;
    clv_space* space;
    oracle world;
    char settings[SETTINGS];
    clv_id ids[OBJECTS + MORE];
    bool has_extras; ///< motions, margins by rule and pair data
    uint64_t failure_count;
    uint64_t visited_hash;
    answer answers[UPDATES]; ///< of the updates so far
    uint32_t answer_count;
    const answer* expected; ///< of a life without refusals; NULL: this is that life, and the oracle judges it
} script;

static bool accept_by_index( const clv_space* space, clv_pair pair, void* user )
{
    (void)space;
    (void)user;
    return ( pair.a + pair.b ) % 7 != 0;
}

// What no estimate expects: a crowd ever denser towards a corner, and some long boxes through all of it, so
// that trees become deep and their searches carry more than there is.
static clv_aabb odd_place( uint32_t i )
{
    float at = ldexpf( 1.0f, -(int)( i % 120 ) );
    return i % 16 == 1 ? test_box( -20, -0.01f * (float)( i % 99 ), -20, 20, 0.5f, 20 )
                       : test_cube( 8 + at, at, at, at * 0.125f );
}

static clv_aabb place( uint32_t i, uint32_t frame )
{
    test_random random = test_random_make( i * 31 + frame );
    bool is_odd = i >= OBJECTS && i % 4 < 3;
    return is_odd ? odd_place( i )
                  : test_crowd_box( i % 9 == 0 ? TEST_CROWD_MIXED : TEST_CROWD_SPREAD, OBJECTS, &random );
}

static bool visit( const clv_pair* pairs, size_t count, void* user )
{
    script* play = user;
    play->visited_hash += test_set_hash( pairs, count );
    return true;
}

// ---- the calls of the script; each answers what the library did

typedef clv_result script_call( script* play );

static clv_result call_add( script* play )
{
    clv_aabb boxes[OBJECTS];
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        boxes[i] = place( i, 0 );
    }
    return clv_space_add( play->space, boxes, OBJECTS, play->ids );
}

static clv_result call_add_more( script* play )
{
    clv_aabb boxes[MORE];
    for ( uint32_t i = 0; i < MORE; ++i )
    {
        boxes[i] = place( OBJECTS + i, 0 );
    }
    return clv_space_add( play->space, boxes, MORE, play->ids + OBJECTS );
}

static clv_result call_move( script* play )
{
    clv_aabb boxes[OBJECTS];
    clv_id ids[OBJECTS];
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        boxes[i] = place( i, 1 );
        ids[i] = play->ids[( i * 7 ) % OBJECTS]; // in no order
    }
    return clv_space_move( play->space, ids, boxes, OBJECTS );
}

static clv_result call_remove( script* play )
{
    return clv_space_remove( play->space, play->ids + 10, 20 );
}

static clv_result call_crowd( script* play )
{
    clv_aabb boxes[OBJECTS - 30];
    for ( uint32_t i = 0; i < OBJECTS - 30; ++i )
    {
        boxes[i] = test_cube( 0.001f * (float)i, 0, 0, 1 );
    }
    return clv_space_move( play->space, play->ids + 30, boxes, OBJECTS - 30 );
}

// So few that a tree is asked about them alone.
static clv_result call_nudge( script* play )
{
    clv_aabb boxes[3];
    for ( uint32_t i = 0; i < 3; ++i )
    {
        boxes[i] = place( i, 2 );
    }
    return clv_space_move( play->space, play->ids, boxes, 3 );
}

static clv_result call_margin( script* play )
{
    const float margins[3] = { 0.5f, 0.25f, 1.0f };
    return clv_space_set_margin( play->space, play->ids, margins, 3 );
}

static const clv_vec3 s_motions[3] = { { 3, 0, 0 }, { 0, -20, 1 }, { 0.1f, 0.2f, 0.3f } };
static const clv_margin_rule s_rules[3] = { { 0, 0.5f, 0 }, { 0.25f, 0, 1 }, { 0.5f, 0, 0 } };

static clv_result call_motion( script* play )
{
    return clv_space_set_motion( play->space, play->ids, s_motions, 3 );
}

static clv_result call_rule( script* play )
{
    return clv_space_set_margin_rule( play->space, play->ids + 1, s_rules, 3 );
}

static void note_rule( script* play, clv_id id, clv_margin_rule rule )
{
    oracle_object* object = oracle_find( &play->world, id );
    object->margin = rule.fixed;
    object->by_size = rule.by_size;
    object->by_speed = rule.by_speed;
}

static clv_result call_filter( script* play )
{
    const clv_filter filters[3] = { { 1, 1, 0 }, { 1, 0, 0 }, { 1, 0, 3 } };
    return clv_space_set_filter( play->space, play->ids + 3, filters, 3 );
}

static clv_result call_static( script* play )
{
    const bool hints[3] = { true, true, true };
    return clv_space_set_static( play->space, play->ids + 5, hints, 3 );
}

static clv_result call_user_data( script* play )
{
    const uint64_t values[3] = { 1, 2, 3 };
    return clv_space_set_user_data( play->space, play->ids + 7, values, 3 );
}

static clv_result call_refilter( script* play )
{
    return clv_space_refilter( play->space, play->ids, 9 );
}

static clv_result call_shrink( script* play )
{
    return clv_space_shrink( play->space );
}

static clv_result call_update( script* play )
{
    return clv_space_update( play->space );
}

static clv_result call_visit( script* play )
{
    play->visited_hash = 0;
    return clv_space_visit( play->space, visit, play );
}

// ---- and what the oracle thinks of them

static void note_added( script* play, uint32_t first, uint32_t count )
{
    for ( uint32_t i = first; i < first + count; ++i )
    {
        oracle_add( &play->world, play->ids[i], place( i, 0 ) );
    }
}

static void note_boxes_moved( script* play )
{
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        oracle_find( &play->world, play->ids[( i * 7 ) % OBJECTS] )->box = place( i, 1 );
    }
}

static void note_rest( script* play, script_call* call )
{
    static const float margins[3] = { 0.5f, 0.25f, 1.0f };
    static const clv_filter filters[3] = { { 1, 1, 0 }, { 1, 0, 0 }, { 1, 0, 3 } };
    for ( uint32_t i = 0; i < 3; ++i )
    {
        if ( call == call_margin )
        {
            note_rule( play, play->ids[i], ( clv_margin_rule ){ margins[i], 0, 0 } );
        }
        else if ( call == call_motion )
        {
            oracle_find( &play->world, play->ids[i] )->motion = s_motions[i];
        }
        else if ( call == call_rule )
        {
            note_rule( play, play->ids[1 + i], s_rules[i] );
        }
        else if ( call == call_filter )
        {
            oracle_find( &play->world, play->ids[3 + i] )->filter = filters[i];
        }
        else if ( call == call_static )
        {
            oracle_find( &play->world, play->ids[5 + i] )->is_static = true;
        }
        else if ( call == call_user_data )
        {
            oracle_find( &play->world, play->ids[7 + i] )->user_data = i + 1;
        }
    }
}

static void note_crowd( script* play )
{
    for ( uint32_t i = 0; i < OBJECTS - 30; ++i )
    {
        oracle_find( &play->world, play->ids[30 + i] )->box = test_cube( 0.001f * (float)i, 0, 0, 1 );
    }
}

static void note( script* play, script_call* call )
{
    if ( call == call_add )
    {
        note_added( play, 0, OBJECTS );
    }
    else if ( call == call_add_more )
    {
        note_added( play, OBJECTS, MORE );
    }
    else if ( call == call_move )
    {
        note_boxes_moved( play );
    }
    else if ( call == call_nudge )
    {
        for ( uint32_t i = 0; i < 3; ++i )
        {
            oracle_find( &play->world, play->ids[i] )->box = place( i, 2 );
        }
    }
    else if ( call == call_crowd )
    {
        note_crowd( play );
    }
    else if ( call == call_visit )
    {
        play->world.update_count += 1;
    }
    else if ( call == call_remove )
    {
        for ( uint32_t i = 10; i < 30; ++i )
        {
            oracle_remove( &play->world, play->ids[i] );
        }
    }
    else
    {
        note_rest( play, call );
    }
}

// The oracle has no callback; what the library's drops is dropped here, and the difference compared by hand.
static void check_pairs( const script* play )
{
    const oracle* world = &play->world;
    uint64_t expected = 0;
    for ( uint64_t i = 0; i < world->pair_count; ++i )
    {
        clv_pair pair = world->pairs[i];
        expected +=
            play->def.filter == NULL || accept_by_index( NULL, pair, NULL ) ? test_set_hash( &pair, 1 ) : 0;
    }
    clv_pair_view view = clv_space_pairs( play->space );
    CHECK( view.valid );
    CHECK_EQUAL( test_set_hash( view.pairs, view.count ), expected );
}

// ---- the play

static void check_failed_call( script* play, script_call* call, const test_snapshot* before )
{
    clv_error error = clv_space_error( play->space );
    CHECK_RESULT( error.code, CLV_OUT_OF_MEMORY );
    CHECK( error.text != NULL && strlen( error.text ) > 8 );
    if ( call == call_update || call == call_visit )
    {
        CHECK( !clv_space_pairs( play->space ).valid );
        CHECK_EQUAL( clv_space_pairs( play->space ).count, 0 );
        CHECK_EQUAL( clv_space_events( play->space ).begun_count, 0 );
        test_snapshot_check_objects( before, play->space );
    }
    else
    {
        test_snapshot_check( before, play->space );
    }
    CHECK_EQUAL( clv_space_stats( play->space ).memory_bytes, play->hooks.bytes );
}

static uint64_t hash_events( const clv_id_pair* events, uint64_t count )
{
    uint64_t hash = count;
    for ( uint64_t i = 0; i < count; ++i )
    {
        hash = test_mix( hash ^ ( ( (uint64_t)events[i].a.index << 32 ) | events[i].a.generation ) );
        hash = test_mix( hash ^ ( ( (uint64_t)events[i].b.index << 32 ) | events[i].b.generation ) );
    }
    return hash;
}

// Each pair's word tells of all the lists it was in.
static uint64_t hash_words( const script* play )
{
    uint64_t hash = 0;
    clv_pair_view view = clv_space_pairs( play->space );
    clv_event_view events = clv_space_events( play->space );
    for ( uint64_t i = 0; play->def.pair_data && i < view.count; ++i )
    {
        view.data[i] = test_mix( view.data[i] + play->answer_count );
        hash += test_mix( view.data[i] ^ test_set_hash( &view.pairs[i], 1 ) );
    }
    for ( uint64_t i = 0; play->def.pair_data && i < events.ended_count; ++i )
    {
        hash = test_mix( hash ^ events.ended_data[i] );
    }
    return hash;
}

static answer answer_of( const script* play )
{
    clv_pair_view view = clv_space_pairs( play->space );
    clv_event_view events = clv_space_events( play->space );
    clv_stats stats = clv_space_stats( play->space );
    return ( answer ){
        .pairs = test_mix( test_set_hash( view.pairs, view.count ) ^ view.count ) + view.valid,
        .begun = hash_events( events.begun, events.begun_count ),
        .ended = hash_events( events.ended, events.ended_count ),
        .candidates = play->def.skip_static_pairs ? 0 : stats.candidate_count,
        .updates = stats.update_count,
        .words = hash_words( play ),
    };
}

static void judge_update( script* play )
{
    oracle_update( &play->world );
    if ( play->def.filter == NULL )
    {
        oracle_check( &play->world, play->space );
    }
    check_pairs( play );
}

static void compare_update( const script* play, answer got )
{
    answer want = play->expected[play->answer_count];
    CHECK_EQUAL( got.pairs, want.pairs );
    CHECK_EQUAL( got.begun, want.begun );
    CHECK_EQUAL( got.ended, want.ended );
    CHECK_EQUAL( got.candidates, want.candidates );
    CHECK_EQUAL( got.updates, want.updates );
    CHECK_EQUAL( got.words, want.words );
}

static void look_at_update( script* play )
{
    answer got = answer_of( play );
    CHECK( play->answer_count < UPDATES );
    if ( play->expected != NULL )
    {
        compare_update( play, got );
    }
    else
    {
        judge_update( play );
    }
    play->answers[play->answer_count++] = got;
}

// Until it works. A call may ask for memory twice and be refused both times, but not for ever.
static void play_call( script* play, script_call* call, const char* name )
{
    test_where.note = name;
    test_snapshot before = test_snapshot_take( play->space );
    clv_result result = CLV_OUT_OF_MEMORY;
    for ( uint32_t attempt = 0; attempt < 2 && result != CLV_OK; ++attempt )
    {
        result = call( play );
        if ( result != CLV_OK )
        {
            CHECK_RESULT( result, CLV_OUT_OF_MEMORY );
            CHECK( play->hooks.refused_count > 0 );
            check_failed_call( play, call, &before );
            play->failure_count += 1;
            heap_heal( &play->hooks );
        }
    }
    test_snapshot_free( &before );
    CHECK_OK( result );
    if ( play->expected == NULL )
    {
        note( play, call );
    }
    if ( call == call_update )
    {
        look_at_update( play );
    }
    test_where.note = NULL;
}

static void play_create( script* play )
{
    clv_result result = clv_space_create( &play->def, &play->space );
    if ( result != CLV_OK )
    {
        CHECK_RESULT( result, CLV_OUT_OF_MEMORY );
        CHECK( play->space == NULL );
        CHECK_EQUAL( play->hooks.bytes, 0 );
        play->failure_count += 1;
        heap_heal( &play->hooks );
        CHECK_OK( clv_space_create( &play->def, &play->space ) );
    }
}

static void play_script( script* play )
{
#define PLAY( call ) play_call( play, call, #call )
    PLAY( call_add );
    PLAY( call_update );
    if ( play->has_extras )
    {
        PLAY( call_motion );
    }
    PLAY( call_margin );
    PLAY( call_filter );
    PLAY( call_static );
    PLAY( call_user_data );
    PLAY( call_move );
    PLAY( call_update );
    PLAY( call_remove );
    PLAY( call_update );
    PLAY( call_add_more );
    if ( play->has_extras )
    {
        PLAY( call_motion ); // after an update that swept
        PLAY( call_rule );
    }
    PLAY( call_refilter );
    PLAY( call_update );
    PLAY( call_nudge );
    PLAY( call_update );
    PLAY( call_shrink );
    PLAY( call_crowd );
    PLAY( call_update );
    bool can_visit = !play->def.sorted && !play->def.events;
    if ( can_visit )
    {
        PLAY( call_visit );
    }
    PLAY( call_shrink );
    PLAY( call_update );
#undef PLAY
    clv_pair_view view = clv_space_pairs( play->space ); // nothing has moved since the visit
    CHECK( !can_visit || play->visited_hash == test_set_hash( view.pairs, view.count ) );
}

// One way to live: options of the space by bits, and the method's settings.
typedef struct way
{
    test_variant variant;
    uint32_t bits;
    uint32_t choice;
    bool persistent;
} way;

static void open_play( script* play, const way* w )
{
    play->def = clv_default_space_def();
    play->def.sorted = ( w->bits & 1 ) != 0;
    play->def.events = ( w->bits & 2 ) != 0;
    // These are the space's business alone, so one method is enough.
    play->has_extras = w->variant.method == clv_method_at( 0 );
    play->def.pair_data = play->def.events && play->has_extras;
    play->def.filter = ( w->bits & 4 ) != 0 ? accept_by_index : NULL;
    play->def.skip_static_pairs = ( w->bits & 8 ) != 0;
    play->def.method = w->variant.method->name;
    play->def.isa = w->variant.isa;
    play->def.worker_count = w->variant.worker_count;
    method_settings_write( w->variant.method, w->choice, play->settings, SETTINGS );
    play->def.settings = play->settings;
    play->def.allocator = heap_hooks( &play->hooks );
    test_variant_enter( w->variant );
    oracle_open( &play->world, &play->def, NULL );
}

// True if the script came to its end before the refused allocation was asked for; 0 refuses none and fills in
// `answers`.
static bool play_with_refusal( const way* w, uint64_t refuse_from, answer* answers )
{
    script* play = test_alloc( 1, sizeof( script ) );
    open_play( play, w );
    play->hooks.refuse_from = refuse_from;
    play->hooks.refuse_count = refuse_from == 0 ? 0 : w->persistent ? UINT64_MAX : 1;
    play->expected = refuse_from == 0 ? NULL : answers;
    play_create( play );
    play_script( play );
    bool ended = play->hooks.refused_count == 0;
    if ( refuse_from == 0 )
    {
        memcpy( answers, play->answers, sizeof( play->answers ) );
    }
    clv_space_destroy( play->space );
    CHECK_EQUAL( play->hooks.bytes, 0 );
    CHECK_EQUAL( play->hooks.block_count, 0 );
    oracle_close( &play->world );
    free( play );
    return ended;
}

// Every allocation; every fifth, others in the next way, for rows that only choose otherwise among the code
// of another; with a small CLEAVE_TEST_SCALE every eleventh.
static void check_all_refusals( const way* w )
{
    static uint32_t turn = 0;
    uint32_t stride = test_scaled( 12 ) < 12 ? 11 : test_method_is_kin( w->variant.method ) ? 5 : 1;
    answer answers[UPDATES];
    CHECK( play_with_refusal( w, 0, answers ) );
    uint64_t refuse_from = 1 + turn++ % stride;
    while ( !play_with_refusal( w, refuse_from, answers ) )
    {
        refuse_from += stride;
        test_where.seed = refuse_from;
        test_where.frame = w->bits;
        CHECK( refuse_from < 5000 );
    }
    CHECK( refuse_from > stride ); // the script does allocate: at least one was refused
}

// Options are the space's, so every mixture of the four goes to the first method, and none or all of them to
// the others.
static void refuse_options( test_variant variant, bool persistent )
{
    bool is_mixed = variant.method == clv_method_at( 0 ) && !persistent;
    for ( uint32_t bits = 0; bits < 16; bits += is_mixed ? 1 : 15 )
    {
        check_all_refusals( &( way ){ variant, bits, 0, persistent } );
    }
}

// Limits and choices are the method's, so it gets them all, without options or with all of them in turn; a
// refusal that lasts is met with small limits.
static void refuse_settings( test_variant variant, bool persistent )
{
    uint32_t count = persistent ? 2 : method_settings_count( variant.method );
    for ( uint32_t choice = 1; choice < count; ++choice )
    {
        uint32_t bits = ( ( choice & 1 ) != 0 ) == persistent ? 15 : 0;
        check_all_refusals( &( way ){ variant, bits, choice, persistent } );
    }
}

static void refuse_on_every_method( bool persistent )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        test_variant variant = test_variant_at( i );
        if ( test_variant_is_usual( variant ) ) // kernels allocate nothing
        {
            refuse_options( variant, persistent );
            refuse_settings( variant, persistent );
        }
        else if ( variant.worker_count == 2 && !persistent ) // workers have memory of their own
        {
            refuse_settings( variant, false );
        }
    }
}

static void any_one_refused_allocation_is_survived( void )
{
    refuse_on_every_method( false );
}

static void any_lasting_refusal_is_survived( void )
{
    refuse_on_every_method( true );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( any_one_refused_allocation_is_survived ),
        TEST_CASE( any_lasting_refusal_is_survived ),
    };
    return test_run( "out of memory", cases, TEST_COUNT( cases ), argc, argv );
}
