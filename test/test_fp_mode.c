// SPDX-License-Identifier: MIT
// The caller's floating-point modes change no answer and are left as found.
#include "physics_script.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <string.h>

#if defined( __SSE2__ ) || defined( _M_X64 )
#include <xmmintrin.h>
#define HAS_CSR 1
#else
#define HAS_CSR 0
#endif

typedef struct fp_mode
{
    const char* name;
    int rounding;
    bool flush; ///< results and operands that are denormal count as zero
} fp_mode;

static const fp_mode s_modes[] = {
    { "round to nearest", FE_TONEAREST, false },
    { "round upward", FE_UPWARD, false },
    { "round downward", FE_DOWNWARD, false },
    { "round toward zero", FE_TOWARDZERO, false },
#if HAS_CSR
    { "flush to zero, denormals are zero", FE_TONEAREST, true },
    { "flush to zero, round upward", FE_UPWARD, true },
#endif
};

static void enter_mode( const fp_mode* mode )
{
    fesetround( mode->rounding );
#if HAS_CSR
    _mm_setcsr( ( _mm_getcsr() & ~0x8040u ) | ( mode->flush ? 0x8040u : 0 ) );
#endif
}

// Everything but the exception flags.
static uint32_t modes_now( void )
{
    uint32_t modes = (uint32_t)fegetround();
#if HAS_CSR
    modes ^= ( _mm_getcsr() & ~0x3Fu ) << 8;
#endif
    return modes;
}

static void leave_mode( void )
{
    static const fp_mode plain = { "plain", FE_TONEAREST, false };
    enter_mode( &plain );
}

static void check_modes( uint32_t expected, const char* call )
{
    uint32_t modes = modes_now();
    if ( modes != expected )
    {
        leave_mode();
        test_fail( __FILE__, __LINE__, "%s left the modes at %x, not %x", call, modes, expected );
    }
}

// One step of the script; its result is noted, its modes checked, and the checks wait until the modes are
// plain again.
typedef struct outcome
{
    clv_result results[24];
    uint32_t count;
    uint64_t hashes[4];
} outcome;

static bool count_pairs( const clv_pair* pairs, size_t count, void* user )
{
    uint64_t* hash = user;
    *hash += test_set_hash( pairs, count );
    return true;
}

#define STEP( call )                                                                                         \
    do                                                                                                       \
    {                                                                                                        \
        seen->results[seen->count++] = ( call );                                                             \
        check_modes( expected, #call );                                                                      \
    } while ( 0 )

enum
{
    OBJECTS = 12,
};

static void make_boxes( clv_aabb boxes[OBJECTS] )
{
    float tiny = FLT_TRUE_MIN;
    // A row of denormal gaps: with denormals read as zero they would all touch.
    for ( uint32_t i = 0; i < OBJECTS - 4; ++i )
    {
        float at = (float)( 4 * i ) * tiny;
        boxes[i] = test_box( at, at, at, at + tiny, at + tiny, at + tiny );
    }
    boxes[OBJECTS - 4] = test_box( 100, 0, 0, 101, 1, 1 );
    boxes[OBJECTS - 3] =
        test_box( nextafterf( 101.0f, 102.0f ), 0, 0, 102, 1, 1 ); // rounding up would close this
    boxes[OBJECTS - 2] = test_box( 200, 0, 0, 200, 0, 0 );
    boxes[OBJECTS - 1] = test_box( 200, tiny, 0, 200, 1, 1 );
}

static void run_script( clv_space* space, const clv_aabb* boxes, uint32_t expected, outcome* seen )
{
    clv_id ids[OBJECTS];
    STEP( clv_space_add( space, boxes, OBJECTS, ids ) );
    STEP( clv_space_update( space ) );
    clv_pair_view view = clv_space_pairs( space );
    seen->hashes[0] = test_order_hash( view.pairs, view.count );

    // Margins: one that rounds away, and denormal ones that close some gaps of the row and not others.
    const float margins[3] = { 1e-10f, FLT_TRUE_MIN, 2 * FLT_TRUE_MIN };
    const clv_id owners[3] = { ids[OBJECTS - 4], ids[1], ids[2] };
    STEP( clv_space_set_margin( space, owners, margins, 3 ) );
    STEP( clv_space_update( space ) );
    view = clv_space_pairs( space );
    seen->hashes[1] = test_order_hash( view.pairs, view.count );
    STEP( clv_space_move( space, ids, boxes, OBJECTS ) );
    STEP( clv_space_update( space ) );
    view = clv_space_pairs( space );
    seen->hashes[2] = test_order_hash( view.pairs, view.count );

    // Inverted by a denormal, and a margin below zero by one: bad in every mode.
    clv_aabb inverted = test_box( FLT_TRUE_MIN, 0, 0, 0, 1, 1 );
    const float negative = -FLT_TRUE_MIN;
    STEP( clv_space_add_one( space, inverted, NULL ) );
    STEP( clv_space_move_one( space, ids[0], inverted ) );
    STEP( clv_space_set_margin( space, ids, &negative, 1 ) );
    STEP( clv_space_remove_one( space, ( clv_id ){ 99, 99 } ) );
    STEP( clv_space_visit( space, count_pairs, &seen->hashes[3] ) );
    STEP( clv_space_remove( space, ids, 2 ) );
    STEP( clv_space_update( space ) );
    STEP( clv_space_shrink( space ) );
    clv_space_clear( space );
    check_modes( expected, "clv_space_clear" );
}

static outcome run_in_mode( test_variant variant, const fp_mode* mode )
{
    outcome seen = { .count = 0 };
    clv_space_def def = clv_default_space_def();
    test_variant_enter( variant );
    def.method = variant.method->name;
    def.isa = variant.isa;
    def.worker_count = variant.worker_count;
    clv_aabb boxes[OBJECTS];
    make_boxes( boxes ); // in the plain modes: the numbers themselves must be the same
    clv_space* space = NULL;
    enter_mode( mode );
    uint32_t expected = modes_now();
    seen.results[seen.count++] = clv_space_create( &def, &space );
    check_modes( expected, "clv_space_create" );
    if ( space != NULL )
    {
        run_script( space, boxes, expected, &seen );
        clv_space_destroy( space );
        check_modes( expected, "clv_space_destroy" );
    }
    leave_mode();
    return seen;
}

static void no_mode_changes_an_answer_or_is_changed( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        outcome plain = run_in_mode( test_variant_at( i ), &s_modes[0] );
        for ( size_t mode = 0; mode < TEST_COUNT( s_modes ); ++mode )
        {
            test_where.note = s_modes[mode].name;
            outcome seen = run_in_mode( test_variant_at( i ), &s_modes[mode] );
            CHECK_EQUAL( seen.count, plain.count );
            for ( uint32_t step = 0; step < seen.count; ++step )
            {
                test_where.frame = step;
                CHECK_RESULT( seen.results[step], plain.results[step] );
            }
            CHECK( memcmp( seen.hashes, plain.hashes, sizeof( seen.hashes ) ) == 0 );
        }
        test_where.note = NULL;
    }
}

// That the plain answers are the right ones, written out.
static void the_plain_answers_are_right( void )
{
    outcome plain = run_in_mode( test_variant_at( 0 ), &s_modes[0] );
    const clv_result expected[] = { CLV_OK, CLV_OK, CLV_OK, CLV_OK, CLV_OK, CLV_OK, CLV_OK, CLV_BAD_BOX,
        CLV_BAD_BOX, CLV_BAD_ARGUMENT, CLV_BAD_ID, CLV_OK, CLV_OK, CLV_OK, CLV_OK };
    CHECK_EQUAL( plain.count, TEST_COUNT( expected ) );
    for ( uint32_t step = 0; step < plain.count; ++step )
    {
        test_where.frame = step;
        CHECK_RESULT( plain.results[step], expected[step] );
    }
    CHECK_EQUAL( plain.hashes[0], test_order_hash( NULL, 0 ) ); // no two touch
    const clv_pair closed = { 1, 2 }; // one step and two close the gap of three; every other gap stays open
    CHECK_EQUAL( plain.hashes[1], test_order_hash( &closed, 1 ) );
    CHECK_EQUAL( plain.hashes[2], test_order_hash( &closed, 1 ) );
    CHECK_EQUAL( plain.hashes[3], test_set_hash( &closed, 1 ) );
}

// ---- crowds: trees that split and blocks that overflow, on boxes of every kind

enum
{
    CROWD = 300,
    FRAMES = 4,
};

static uint64_t hash_crowd(
    test_variant variant, test_crowd crowd, const char* settings, const fp_mode* mode )
{
    clv_space_def def = clv_default_space_def();
    def.settings = settings;
    clv_space* space = test_space_make( variant, &def );
    test_random random = test_random_make( crowd );
    clv_aabb boxes[CROWD];
    clv_id ids[CROWD];
    for ( uint32_t i = 0; i < CROWD; ++i )
    {
        boxes[i] = test_crowd_box( crowd, CROWD, &random );
    }
    CHECK_OK( clv_space_add( space, boxes, CROWD, ids ) );
    uint64_t hash = 0;
    for ( uint32_t frame = 0; frame < FRAMES; ++frame )
    {
        enter_mode( mode );
        clv_result moved = clv_space_move( space, ids, boxes, CROWD );
        clv_result updated = clv_space_update( space );
        leave_mode();
        test_where.frame = frame;
        CHECK_OK( moved );
        CHECK_OK( updated );
        clv_pair_view view = clv_space_pairs( space );
        hash = test_mix( hash ^ test_order_hash( view.pairs, view.count ) );
        for ( uint32_t i = 0; i < CROWD; ++i )
        {
            // A part rests, so that what is remembered is used too.
            boxes[i] = i % 3 == 0 ? boxes[i] : test_crowd_step( crowd, boxes[i], &random );
        }
    }
    clv_space_destroy( space );
    return hash;
}

static void no_mode_changes_a_crowd( void )
{
    for ( uint32_t i = 0; i < test_variant_count() * TEST_CROWD_COUNT; ++i )
    {
        test_variant variant = test_variant_at( i / TEST_CROWD_COUNT );
        test_crowd crowd = (test_crowd)( i % TEST_CROWD_COUNT );
        uint64_t expected = hash_crowd( variant, crowd, test_small, &s_modes[0] );
        for ( size_t mode = 1; mode < TEST_COUNT( s_modes ); ++mode )
        {
            test_where.note = s_modes[mode].name;
            test_where.seed = crowd;
            CHECK_EQUAL( hash_crowd( variant, crowd, test_small, &s_modes[mode] ), expected );
        }
    }
}

// ---- everything beside the space

typedef struct guard
{
    const fp_mode* mode;
} guard;

static void guard_enter( script_run* l )
{
    enter_mode( ( (const guard*)l->user )->mode );
}

static void guard_leave( script_run* l, const char* call )
{
    uint32_t seen = modes_now();
    enter_mode( ( (const guard*)l->user )->mode );
    uint32_t expected = modes_now();
    leave_mode();
    if ( seen != expected )
    {
        test_fail( __FILE__, __LINE__, "%s left the modes at %x, not %x", call, seen, expected );
    }
}

static void no_mode_changes_hulls_sweeps_and_simulations( void )
{
    for ( uint32_t i = 0; i < physics_script_count; ++i )
    {
        script_run plain = { 0 };
        physics_script_play( &plain, &physics_scripts[i] );
        for ( size_t mode = 1; mode < TEST_COUNT( s_modes ); ++mode )
        {
            guard user = { &s_modes[mode] };
            script_run other = { .enter = guard_enter, .leave = guard_leave, .user = &user };
            test_where.seed = mode;
            physics_script_play( &other, &physics_scripts[i] );
            CHECK_EQUAL( other.hash, plain.hash );
        }
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( no_mode_changes_an_answer_or_is_changed ),
        TEST_CASE( the_plain_answers_are_right ),
        TEST_CASE( no_mode_changes_a_crowd ),
        TEST_CASE( no_mode_changes_hulls_sweeps_and_simulations ),
    };
    return test_run( "fp mode", cases, TEST_COUNT( cases ), argc, argv );
}
