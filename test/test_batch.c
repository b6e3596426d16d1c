// SPDX-License-Identifier: MIT
// Batches are all or nothing: a table of bad input for every call that takes a batch. Each refusal must name
// its code, position and id, and leave the space as a twin that never heard of it.
#include "heap.h"
#include "space/space_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    OBJECTS = 24, // on stage, after some came and went
    BATCH = 8,
};

typedef struct stage
{
    clv_space* space;
    clv_id ids[OBJECTS]; ///< alive
    clv_id stale;        ///< removed; its slot is used again
    clv_id vacant;       ///< removed; its slot is free
} stage;

static clv_aabb stage_box( uint32_t i )
{
    return test_cube( (float)( i % 5 ), (float)( i % 3 ), (float)( i % 4 ), 0.6f );
}

// The same calls each time, so that two stages are twins.
static void stage_open( stage* set, test_variant variant )
{
    clv_space_def def = clv_default_space_def();
    def.events = true;
    def.margin = 0.01f;
    set->space = test_space_make( variant, &def );
    clv_aabb boxes[OBJECTS + 1];
    clv_id ids[OBJECTS + 1];
    for ( uint32_t i = 0; i <= OBJECTS; ++i )
    {
        boxes[i] = stage_box( i );
    }
    CHECK_OK( clv_space_add( set->space, boxes, OBJECTS + 1, ids ) );
    CHECK_OK( clv_space_update( set->space ) );
    set->stale = ids[3];
    CHECK_OK( clv_space_remove_one( set->space, set->stale ) );
    CHECK_OK( clv_space_add_one( set->space, stage_box( 3 ), &ids[3] ) );
    CHECK_EQUAL( ids[3].index, set->stale.index );
    set->vacant = ids[OBJECTS];
    CHECK_OK( clv_space_remove_one( set->space, set->vacant ) );
    memcpy( set->ids, ids, sizeof( set->ids ) );

    const float margin = 0.5f;
    const clv_filter filter = { 3, 7, 0 };
    const bool is_static = true;
    const uint64_t value = 42;
    CHECK_OK( clv_space_set_margin( set->space, &ids[1], &margin, 1 ) );
    CHECK_OK( clv_space_set_filter( set->space, &ids[2], &filter, 1 ) );
    CHECK_OK( clv_space_set_static( set->space, &ids[4], &is_static, 1 ) );
    CHECK_OK( clv_space_set_user_data( set->space, &ids[5], &value, 1 ) );
    CHECK_OK( clv_space_update( set->space ) );
    CHECK( clv_space_pairs( set->space ).count > 0 );
    // And changes that wait for the next update.
    CHECK_OK( clv_space_move_one( set->space, ids[6], test_cube( 2, 2, 2, 1 ) ) );
}

// ---- one bad call and all that must hold after it

typedef enum call_kind
{
    CALL_ADD,
    CALL_ADD_STRIDED,
    CALL_MOVE,
    CALL_MOVE_STRIDED,
    CALL_REMOVE,
    CALL_USER_DATA,
    CALL_MARGIN,
    CALL_FILTER,
    CALL_REFILTER,
    CALL_STATIC,
    CALL_RULE,
    CALL_MOTION,
    CALL_KINDS
} call_kind;

static const char* const s_call_names[CALL_KINDS] = { "add", "add_strided", "move", "move_strided", "remove",
    "set_user_data", "set_margin", "set_filter", "refilter", "set_static", "set_margin_rule", "set_motion" };

typedef struct batch
{
    clv_id ids[BATCH];
    clv_aabb boxes[BATCH];
    float margins[BATCH];
    uint64_t values[BATCH];
    clv_filter filters[BATCH];
    bool statics[BATCH];
    clv_margin_rule rules[BATCH];
    clv_vec3 motions[BATCH];
    size_t stride;
} batch;

// A batch that would change every object it names. Ids descend, so that no fast path hides a check.
static batch good_batch( const stage* set, bool ascending )
{
    batch all = { .stride = sizeof( clv_aabb ) };
    for ( uint32_t i = 0; i < BATCH; ++i )
    {
        all.ids[i] = set->ids[ascending ? 2 * i : 2 * ( BATCH - i )];
        all.boxes[i] = test_cube( 50.0f + (float)i, 0, 0, 2 );
        all.margins[i] = 2.0f;
        all.values[i] = 1000 + i;
        all.filters[i] = ( clv_filter ){ 2, 4, -1 };
        all.statics[i] = true;
        all.rules[i] = ( clv_margin_rule ){ 1, 2, 3 };
        all.motions[i] = ( clv_vec3 ){ 0, 7, -8 };
    }
    return all;
}

static bool takes_ids( call_kind kind )
{
    return kind != CALL_ADD && kind != CALL_ADD_STRIDED;
}

static bool takes_boxes( call_kind kind )
{
    return kind <= CALL_MOVE_STRIDED;
}

static clv_result make_call( clv_space* space, call_kind kind, const batch* all, clv_id* new_ids )
{
    const clv_box_stream stream = { &all->boxes[0].lower.x, &all->boxes[0].upper.x, all->stride };
    switch ( kind )
    {
    case CALL_ADD: return clv_space_add( space, all->boxes, BATCH, new_ids );
    case CALL_ADD_STRIDED: return clv_space_add_strided( space, stream, BATCH, new_ids );
    case CALL_MOVE: return clv_space_move( space, all->ids, all->boxes, BATCH );
    case CALL_MOVE_STRIDED: return clv_space_move_strided( space, all->ids, stream, BATCH );
    case CALL_REMOVE: return clv_space_remove( space, all->ids, BATCH );
    case CALL_USER_DATA: return clv_space_set_user_data( space, all->ids, all->values, BATCH );
    case CALL_MARGIN: return clv_space_set_margin( space, all->ids, all->margins, BATCH );
    case CALL_FILTER: return clv_space_set_filter( space, all->ids, all->filters, BATCH );
    case CALL_REFILTER: return clv_space_refilter( space, all->ids, BATCH );
    case CALL_RULE: return clv_space_set_margin_rule( space, all->ids, all->rules, BATCH );
    case CALL_MOTION: return clv_space_set_motion( space, all->ids, all->motions, BATCH );
    default: return clv_space_set_static( space, all->ids, all->statics, BATCH );
    }
}

static void check_error( const stage* set, clv_result code, uint32_t position, clv_id id )
{
    clv_error error = clv_space_error( set->space );
    CHECK_RESULT( error.code, code );
    CHECK_EQUAL( error.position, position );
    CHECK_EQUAL( error.id.index, id.index );
    CHECK_EQUAL( error.id.generation, id.generation );
    CHECK( error.text != NULL && strlen( error.text ) > 8 && strchr( error.text, '\n' ) == NULL );
    if ( position != UINT32_MAX )
    {
        // The sentence tells people where to look.
        char digits[16];
        snprintf( digits, sizeof( digits ), "%u", position );
        CHECK( strstr( error.text, digits ) != NULL );
    }
}

static void check_refused(
    stage* set, call_kind kind, const batch* all, clv_result code, uint32_t position, clv_id id )
{
    test_where.note = s_call_names[kind];
    test_snapshot before = test_snapshot_take( set->space );
    clv_id new_ids[BATCH];
    memset( new_ids, 0xAB, sizeof( new_ids ) );
    CHECK_RESULT( make_call( set->space, kind, all, new_ids ), code );
    check_error( set, code, position, id );
    test_snapshot_check( &before, set->space );
    test_snapshot_free( &before );
    for ( uint32_t i = 0; i < BATCH; ++i )
    {
        CHECK_EQUAL( new_ids[i].index, 0xABABABABu );
    }
    test_where.note = NULL;
}

// After all refusals: a good batch and an update, exactly as on the twin.
static void check_twin( stage* set, test_variant variant )
{
    stage twin;
    stage_open( &twin, variant );
    batch all = good_batch( set, false );
    clv_id ids[2][BATCH];
    CHECK_OK( make_call( set->space, CALL_ADD, &all, ids[0] ) );
    CHECK_OK( make_call( twin.space, CALL_ADD, &all, ids[1] ) );
    CHECK( memcmp( ids[0], ids[1], sizeof( ids[0] ) ) == 0 );
    CHECK_RESULT( clv_space_error( set->space ).code, CLV_OK );
    CHECK_OK( make_call( set->space, CALL_MOVE, &all, NULL ) );
    CHECK_OK( make_call( twin.space, CALL_MOVE, &all, NULL ) );
    for ( uint32_t round = 0; round < 2; ++round )
    {
        CHECK_OK( clv_space_update( set->space ) );
        CHECK_OK( clv_space_update( twin.space ) );
        test_snapshot expected = test_snapshot_take( twin.space );
        test_snapshot_check( &expected, set->space );
        test_snapshot_free( &expected );
    }
    clv_space_destroy( twin.space );
}

// Runs one table of refusals on every variant.
static void on_every_variant( void ( *refuse )( stage* set ) )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        test_variant variant = test_variant_at( i );
        stage set;
        stage_open( &set, variant );
        refuse( &set );
        check_twin( &set, variant );
        clv_space_destroy( set.space );
    }
}

// ---- bad boxes

static float* face_of( clv_aabb* box, uint32_t face )
{
    float* const faces[6] = { &box->lower.x, &box->lower.y, &box->lower.z, &box->upper.x, &box->upper.y,
        &box->upper.z };
    return faces[face];
}

static void refuse_boxes( stage* set )
{
    for ( int kind = 0; takes_boxes( (call_kind)kind ); ++kind )
    {
        for ( uint32_t face = 0; face < 6; ++face )
        {
            for ( uint32_t position = 0; position < BATCH; ++position )
            {
                test_where.frame = face * 100 + position;
                batch all = good_batch( set, position % 2 == 0 );
                clv_id id = takes_ids( (call_kind)kind ) ? all.ids[position] : clv_null_id();
                *face_of( &all.boxes[position], face ) = NAN;
                check_refused( set, (call_kind)kind, &all, CLV_BAD_BOX, position, id );
                all.boxes[position] = test_cube( 0, 0, 0, 1 );
                // Inverted on one axis, by the whole range or by the smallest step there is.
                *face_of( &all.boxes[position], face ) = face < 3 ? nextafterf( 1.0f, 2.0f ) : -INFINITY;
                check_refused( set, (call_kind)kind, &all, CLV_BAD_BOX, position, id );
            }
        }
        batch all = good_batch( set, true );
        all.boxes[5] = test_box( 0, 0, 0, -FLT_TRUE_MIN, 0, 0 );
        clv_id id = takes_ids( (call_kind)kind ) ? all.ids[5] : clv_null_id();
        check_refused( set, (call_kind)kind, &all, CLV_BAD_BOX, 5, id );
    }
}

static void bad_boxes_are_refused_with_their_position( void )
{
    on_every_variant( refuse_boxes );
}

static void refuse_single_boxes( stage* set )
{
    test_snapshot before = test_snapshot_take( set->space );
    clv_id id = { 7, 7 };
    CHECK_RESULT( clv_space_add_one( set->space, test_box( 0, NAN, 0, 1, 1, 1 ), &id ), CLV_BAD_BOX );
    check_error( set, CLV_BAD_BOX, 0, clv_null_id() );
    CHECK( id.index == 7 && id.generation == 7 );
    CHECK_RESULT( clv_space_move_one( set->space, set->ids[2], test_box( 0, 2, 0, 1, 1, 1 ) ), CLV_BAD_BOX );
    check_error( set, CLV_BAD_BOX, 0, set->ids[2] );
    CHECK_RESULT( clv_space_move_one( set->space, set->stale, test_cube( 0, 0, 0, 1 ) ), CLV_BAD_ID );
    check_error( set, CLV_BAD_ID, 0, set->stale );
    CHECK_RESULT( clv_space_remove_one( set->space, set->vacant ), CLV_BAD_ID );
    check_error( set, CLV_BAD_ID, 0, set->vacant );
    test_snapshot_check( &before, set->space );
    test_snapshot_free( &before );
}

static void single_calls_refuse_like_batches( void )
{
    on_every_variant( refuse_single_boxes );
}

// ---- bad ids

static void refuse_ids( stage* set )
{
    clv_id forged = set->ids[7];
    forged.generation += 1;
    clv_id older = set->ids[3]; // its slot was used before
    older.generation -= 1;
    const clv_id bad[] = { set->stale, set->vacant, clv_null_id(), { set->ids[4].index, 0 }, forged, older,
        { OBJECTS + 100, 1 }, { UINT32_MAX, 1 }, { UINT32_MAX, UINT32_MAX }, { CLV_MAX_OBJECTS, 1 },
        { set->ids[0].index, UINT32_MAX } };
    for ( int kind = CALL_MOVE; kind < CALL_KINDS; ++kind )
    {
        for ( uint32_t i = 0; i < TEST_COUNT( bad ); ++i )
        {
            for ( uint32_t position = 0; position < BATCH; ++position )
            {
                test_where.frame = i * 100 + position;
                batch all = good_batch( set, position % 2 == 0 );
                all.ids[position] = bad[i];
                check_refused( set, (call_kind)kind, &all, CLV_BAD_ID, position, bad[i] );
            }
        }
    }
}

static void bad_ids_are_refused_with_their_position( void )
{
    on_every_variant( refuse_ids );
}

static void refuse_duplicates( stage* set )
{
    for ( int kind = CALL_MOVE; kind < CALL_KINDS; ++kind )
    {
        for ( uint32_t second = 1; second < BATCH; ++second )
        {
            for ( uint32_t first = 0; first < second; ++first )
            {
                for ( uint32_t ascending = 0; ascending < 2; ++ascending )
                {
                    test_where.frame = first * 100 + second;
                    batch all = good_batch( set, ascending != 0 );
                    all.ids[second] = all.ids[first];
                    check_refused( set, (call_kind)kind, &all, CLV_DUPLICATE_ID, second, all.ids[second] );
                }
            }
        }
    }
}

static void the_same_id_twice_is_refused_with_the_second_position( void )
{
    on_every_variant( refuse_duplicates );
}

// ---- several faults in one batch

static void refuse_mixtures( stage* set )
{
    batch all = good_batch( set, true );
    all.boxes[2].lower.x = NAN;
    all.ids[5] = set->stale;
    check_refused( set, CALL_MOVE, &all, CLV_BAD_BOX, 2, all.ids[2] );

    all = good_batch( set, false );
    all.ids[2] = set->stale;
    all.boxes[5].lower.x = NAN;
    check_refused( set, CALL_MOVE, &all, CLV_BAD_ID, 2, set->stale );

    all = good_batch( set, false );
    all.ids[4] = all.ids[1];
    all.boxes[3].upper.z = NAN;
    check_refused( set, CALL_MOVE, &all, CLV_BAD_BOX, 3, all.ids[3] );

    all = good_batch( set, true );
    all.ids[3] = all.ids[1];
    all.ids[6] = clv_null_id();
    all.boxes[7].upper.z = NAN;
    check_refused( set, CALL_MOVE, &all, CLV_DUPLICATE_ID, 3, all.ids[3] );
    check_refused( set, CALL_REMOVE, &all, CLV_DUPLICATE_ID, 3, all.ids[3] );

    all = good_batch( set, true );
    all.margins[6] = -1.0f;
    all.ids[2] = set->vacant;
    check_refused( set, CALL_MARGIN, &all, CLV_BAD_ID, 2, set->vacant );
    all = good_batch( set, true );
    all.margins[1] = -1.0f;
    all.ids[2] = set->vacant;
    check_refused( set, CALL_MARGIN, &all, CLV_BAD_ARGUMENT, 1, all.ids[1] );

    all = good_batch( set, true );
    all.motions[6].y = NAN;
    all.rules[1].by_size = -1;
    all.ids[2] = set->vacant;
    check_refused( set, CALL_MOTION, &all, CLV_BAD_ID, 2, set->vacant );
    check_refused( set, CALL_RULE, &all, CLV_BAD_ARGUMENT, 1, all.ids[1] );
    all.motions[1].z = INFINITY;
    check_refused( set, CALL_MOTION, &all, CLV_BAD_ARGUMENT, 1, all.ids[1] );
}

static void of_several_faults_the_first_is_named( void )
{
    on_every_variant( refuse_mixtures );
}

// ---- bad arguments

static void refuse_arguments( stage* set )
{
    const float margins[] = { NAN, -1.0f, -FLT_TRUE_MIN, INFINITY, -INFINITY };
    for ( uint32_t i = 0; i < TEST_COUNT( margins ); ++i )
    {
        for ( uint32_t position = 0; position < BATCH; ++position )
        {
            test_where.frame = i * 100 + position;
            batch all = good_batch( set, position % 2 == 0 );
            all.margins[position] = margins[i];
            check_refused( set, CALL_MARGIN, &all, CLV_BAD_ARGUMENT, position, all.ids[position] );
            float* part = &all.rules[position].fixed + i % 3;
            *part = margins[i];
            check_refused( set, CALL_RULE, &all, CLV_BAD_ARGUMENT, position, all.ids[position] );
        }
    }
    const float ways[] = { NAN, INFINITY, -INFINITY };
    for ( uint32_t position = 0; position < BATCH; ++position )
    {
        test_where.frame = position;
        batch all = good_batch( set, position % 2 == 0 );
        float* part = &all.motions[position].x + position % 3;
        *part = ways[position / 3 % 3];
        check_refused( set, CALL_MOTION, &all, CLV_BAD_ARGUMENT, position, all.ids[position] );
    }
    const size_t strides[] = { 0, 1, 4, 11 };
    for ( uint32_t i = 0; i < TEST_COUNT( strides ); ++i )
    {
        test_where.frame = i;
        batch all = good_batch( set, true );
        all.stride = strides[i];
        check_refused( set, CALL_ADD_STRIDED, &all, CLV_BAD_ARGUMENT, UINT32_MAX, clv_null_id() );
        check_refused( set, CALL_MOVE_STRIDED, &all, CLV_BAD_ARGUMENT, UINT32_MAX, clv_null_id() );
    }
}

static void bad_margins_and_strides_are_refused( void )
{
    on_every_variant( refuse_arguments );
}

static void refuse_too_many( stage* set )
{
    test_snapshot before = test_snapshot_take( set->space );
    clv_aabb box = test_cube( 0, 0, 0, 1 );
    CHECK_RESULT( clv_space_add( set->space, &box, UINT32_MAX, NULL ), CLV_TOO_MANY_OBJECTS );
    check_error( set, CLV_TOO_MANY_OBJECTS, UINT32_MAX, clv_null_id() );
    CHECK_RESULT(
        clv_space_add( set->space, &box, CLV_MAX_OBJECTS - OBJECTS + 1, NULL ), CLV_TOO_MANY_OBJECTS );
    test_snapshot_check( &before, set->space );
    test_snapshot_free( &before );
}

static void more_objects_than_fit_are_refused_before_they_are_read( void )
{
    on_every_variant( refuse_too_many );
}

// ---- nothing

static void do_nothing( stage* set )
{
    test_snapshot before = test_snapshot_take( set->space );
    uint64_t allocation_count = before.stats.allocation_count;
    const clv_box_stream nothing = { NULL, NULL, sizeof( clv_aabb ) };
    CHECK_OK( clv_space_add( set->space, NULL, 0, NULL ) );
    CHECK_OK( clv_space_add_strided( set->space, nothing, 0, NULL ) );
    CHECK_OK( clv_space_move( set->space, NULL, NULL, 0 ) );
    CHECK_OK( clv_space_move_strided( set->space, NULL, nothing, 0 ) );
    CHECK_OK( clv_space_remove( set->space, NULL, 0 ) );
    CHECK_OK( clv_space_set_user_data( set->space, NULL, NULL, 0 ) );
    CHECK_OK( clv_space_set_margin( set->space, NULL, NULL, 0 ) );
    CHECK_OK( clv_space_set_filter( set->space, NULL, NULL, 0 ) );
    CHECK_OK( clv_space_refilter( set->space, NULL, 0 ) );
    CHECK_OK( clv_space_set_static( set->space, NULL, NULL, 0 ) );
    CHECK_OK( clv_space_set_margin_rule( set->space, NULL, NULL, 0 ) );
    CHECK_OK( clv_space_set_motion( set->space, NULL, NULL, 0 ) );
    test_snapshot_check( &before, set->space );
    CHECK_EQUAL( clv_space_stats( set->space ).allocation_count, allocation_count );
    test_snapshot_free( &before );
}

static void a_count_of_nothing_is_legal_and_does_nothing( void )
{
    on_every_variant( do_nothing );
}

static void a_count_of_nothing_takes_no_memory( void )
{
    heap hooks = { 0 };
    clv_space_def def = clv_default_space_def();
    def.allocator = heap_hooks( &hooks );
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    uint64_t allocate_count = hooks.allocate_count;
    CHECK_OK( clv_space_add( space, NULL, 0, NULL ) );
    CHECK_OK( clv_space_move( space, NULL, NULL, 0 ) );
    CHECK_OK( clv_space_set_user_data( space, NULL, NULL, 0 ) );
    CHECK_OK( clv_space_set_margin( space, NULL, NULL, 0 ) );
    CHECK_OK( clv_space_set_filter( space, NULL, NULL, 0 ) );
    CHECK_OK( clv_space_set_static( space, NULL, NULL, 0 ) );
    CHECK_OK( clv_space_set_margin_rule( space, NULL, NULL, 0 ) );
    CHECK_OK( clv_space_set_motion( space, NULL, NULL, 0 ) );
    CHECK_EQUAL( hooks.allocate_count, allocate_count );
    clv_space_destroy( space );
}

// ---- large batches, which are checked in groups

enum
{
    CROWD = 300,
    CROWD_WAYS = 8,
    STRIDE = 8 // floats from one padded box to the next
};

typedef enum crowd_kind
{
    CROWD_RECORDS,
    CROWD_STRIDED,
    CROWD_FLAT,
    CROWD_DOUBLES,
    CROWD_MARGINS,
    CROWD_KINDS
} crowd_kind;

typedef struct crowd
{
    clv_space* space;
    crowd_kind kind;
    clv_id ids[CROWD];
    clv_id stale;          ///< removed; its slot is used again
    clv_aabb boxes[CROWD]; ///< as they should be in the space
} crowd;

static clv_aabb2 flat_of( clv_aabb box )
{
    return ( clv_aabb2 ){ { box.lower.x, box.lower.y }, { box.upper.x, box.upper.y } };
}

static clv_aabb64 double_of( clv_aabb box )
{
    return ( clv_aabb64 ){ { (double)box.lower.x, (double)box.lower.y, (double)box.lower.z },
        { (double)box.upper.x, (double)box.upper.y, (double)box.upper.z } };
}

static clv_result crowd_add( crowd* c, uint32_t i )
{
    clv_aabb box = c->boxes[i];
    return c->kind == CROWD_FLAT   ? clv_space_add_one2( c->space, flat_of( box ), &c->ids[i] )
        : c->kind == CROWD_DOUBLES ? clv_space_add_one64( c->space, double_of( box ), &c->ids[i] )
                                   : clv_space_add_one( c->space, box, &c->ids[i] );
}

// Margins are too small for another pair.
static void crowd_open( crowd* c, crowd_kind kind, const char* settings )
{
    clv_space_def def = clv_default_space_def();
    def.flat = kind == CROWD_FLAT;
    def.doubles = kind == CROWD_DOUBLES;
    def.margin = kind == CROWD_MARGINS ? 0.25f : 0;
    def.settings = settings;
    c->kind = kind;
    CHECK_OK( clv_space_create( &def, &c->space ) );
    for ( uint32_t i = 0; i < CROWD; ++i )
    {
        c->boxes[i] = test_cube( 3 * (float)i, 0, 0, 1 );
        CHECK_OK( crowd_add( c, i ) );
    }
    c->stale = c->ids[CROWD / 2];
    CHECK_OK( clv_space_remove_one( c->space, c->stale ) );
    CHECK_OK( crowd_add( c, CROWD / 2 ) );
    CHECK_OK( clv_space_update( c->space ) );
}

static clv_result crowd_move( crowd* c, const clv_id* ids, const clv_aabb* boxes, uint32_t count )
{
    float padded[CROWD * STRIDE];
    clv_aabb2 flat[CROWD];
    clv_aabb64 doubles[CROWD];
    for ( uint32_t i = 0; i < count; ++i )
    {
        doubles[i] = double_of( boxes[i] );
        memcpy( padded + i * STRIDE, &boxes[i].lower, sizeof( clv_vec3 ) );
        memcpy( padded + i * STRIDE + 4, &boxes[i].upper, sizeof( clv_vec3 ) );
        flat[i] = flat_of( boxes[i] );
    }
    clv_box_stream stream = { padded, padded + 4, STRIDE * sizeof( float ) };
    return c->kind == CROWD_STRIDED ? clv_space_move_strided( c->space, ids, stream, count )
        : c->kind == CROWD_DOUBLES  ? clv_space_move64( c->space, ids, doubles, count )
        : c->kind == CROWD_FLAT     ? clv_space_move2( c->space, ids, flat, count )
                                    : clv_space_move( c->space, ids, boxes, count );
}

static void crowd_check_boxes( const crowd* c )
{
    for ( uint32_t i = 0; i < CROWD; ++i )
    {
        clv_aabb box = c->boxes[i];
        clv_aabb2 flat = flat_of( box ), flat_now = { { 0, 0 }, { 0, 0 } };
        clv_aabb now = box;
        clv_aabb64 wide = double_of( box ), wide_now = wide;
        CHECK_OK( c->kind == CROWD_FLAT    ? clv_space_get_box2( c->space, c->ids[i], &flat_now )
                : c->kind == CROWD_DOUBLES ? clv_space_get_box64( c->space, c->ids[i], &wide_now )
                                           : clv_space_get_box( c->space, c->ids[i], &now ) );
        CHECK( memcmp( &now, &box, sizeof( box ) ) == 0 );
        CHECK( memcmp( &wide_now, &wide, sizeof( wide ) ) == 0 );
        CHECK( c->kind != CROWD_FLAT || memcmp( &flat_now, &flat, sizeof( flat ) ) == 0 );
    }
}

// The sixteen of a group, backwards but for the first and the last.
static uint32_t crowd_turned( uint32_t i )
{
    uint32_t group = i / 16 * 16, at = i % 16;
    return at == 0 || at == 15 || group + 15 >= CROWD ? i : group + 15 - at;
}

// Two of three objects, or all of them, in ascending order, backwards or in steps of 7; every eleventh, which
// are far from each other; or all, those in the middle of each group backwards.
static uint32_t crowd_choose( const crowd* c, uint32_t way, clv_id* ids, clv_aabb* boxes )
{
    uint32_t count = 0;
    for ( uint32_t i = 0; i < CROWD; ++i )
    {
        uint32_t object = way == 2 || way == 3 ? CROWD - 1 - i
            : way == 4 || way == 5             ? 7 * i % CROWD
            : way == 7                         ? crowd_turned( i )
                                               : i;
        bool is_in = way == 6 ? object % 11 == 0 : way % 2 == 0 || way == 7 || object % 3 != 1;
        if ( is_in )
        {
            ids[count] = c->ids[object];
            boxes[count++] = test_cube( 3 * (float)object, 5, 0, 1 );
        }
    }
    return count;
}

static void crowd_refuses(
    crowd* c, const clv_id* ids, const clv_aabb* boxes, uint32_t count, clv_result code, uint32_t position )
{
    CHECK_EQUAL( crowd_move( c, ids, boxes, count ), code );
    CHECK_EQUAL( clv_space_error( c->space ).position, position );
    crowd_check_boxes( c );
}

static void large_batches_name_what_is_bad_in_them( void )
{
    crowd* c = test_alloc( 1, sizeof( crowd ) );
    for ( int kind = 0; kind < CROWD_KINDS; ++kind )
    {
        crowd_open( c, (crowd_kind)kind, NULL );
        for ( uint32_t way = 0; way < CROWD_WAYS; ++way )
        {
            clv_id ids[CROWD];
            clv_aabb boxes[CROWD];
            uint32_t count = crowd_choose( c, way, ids, boxes );
            for ( uint32_t at = 1; at < count; at += 7 )
            {
                clv_id good = ids[at];
                clv_aabb box = boxes[at];
                ids[at] = c->stale;
                crowd_refuses( c, ids, boxes, count, CLV_BAD_ID, at );
                ids[at] = ( clv_id ){ good.index, good.generation + 2 };
                crowd_refuses( c, ids, boxes, count, CLV_BAD_ID, at );
                ids[at] = ( clv_id ){ CROWD, 1 };
                crowd_refuses( c, ids, boxes, count, CLV_BAD_ID, at );
                ids[at] = ids[at - 1];
                crowd_refuses( c, ids, boxes, count, CLV_DUPLICATE_ID, at );
                ids[at] = good;
                ( &boxes[at].upper.x )[kind == CROWD_FLAT ? at % 2 : at % 3] = NAN;
                crowd_refuses( c, ids, boxes, count, CLV_BAD_BOX, at );
                boxes[at] = box;
            }
        }
        clv_space_destroy( c->space );
    }
    free( c );
}

// Followed at rest, where only boxes that are marked as moved are looked at.
static void large_batches_in_any_order_take_every_box( void )
{
    static const char* const settings[] = { NULL, "cleave.rest=1,cleave.rest_least=0" };
    crowd* c = test_alloc( 1, sizeof( crowd ) );
    for ( uint32_t i = 0; i < 2 * CROWD_KINDS; ++i )
    {
        crowd_open( c, (crowd_kind)( i % CROWD_KINDS ), settings[i / CROWD_KINDS] );
        for ( uint32_t way = 0; way < 2 * CROWD_WAYS; ++way )
        {
            clv_id ids[CROWD];
            clv_aabb boxes[CROWD];
            uint32_t count = crowd_choose( c, way % CROWD_WAYS, ids, boxes );
            for ( uint32_t k = 0; k < count; ++k )
            {
                // Side by side in steps of 3, or in pairs that overlap.
                float x = 3 * (float)( way % 2 == 0 ? ids[k].index : ids[k].index / 2 );
                boxes[k] = c->boxes[ids[k].index] = test_cube( x, (float)way, 0, 1 );
            }
            CHECK_OK( crowd_move( c, ids, boxes, count ) );
            CHECK_OK( clv_space_update( c->space ) );
            crowd_check_boxes( c );
            uint64_t expected = 0;
            for ( uint32_t a = 0; a < CROWD; ++a )
            {
                for ( uint32_t b = 0; b < a; ++b )
                {
                    expected += clv_aabb_overlap( c->boxes[a], c->boxes[b] );
                }
            }
            CHECK_EQUAL( clv_space_pairs( c->space ).count, expected );
        }
        clv_space_destroy( c->space );
    }
    free( c );
}

// What is tested is the box as given grown by its object's margin, as clv_aabb_grow does it; of a margin of
// 0, the box bit by bit, minus zeros too.
static void large_batches_are_grown_by_their_margins( void )
{
    crowd* c = test_alloc( 1, sizeof( crowd ) );
    crowd_open( c, CROWD_MARGINS, NULL );
    for ( uint32_t i = 0; i < CROWD; ++i )
    {
        float margin = i % 3 == 0 ? 0.0f : i % 3 == 1 ? -0.0f : 0.1f * (float)i;
        CHECK_OK( clv_space_set_margin( c->space, &c->ids[i], &margin, 1 ) );
        c->boxes[i] = test_box( -0.0f, 1e-30f, -INFINITY, -0.0f, 1 + 0.1f * (float)i, 3e38f );
    }
    CHECK_OK( crowd_move( c, c->ids, c->boxes, CROWD ) );
    for ( uint32_t i = 0; i < CROWD; ++i )
    {
        clv_aabb now, grown = clv_aabb_grow( c->boxes[i], i % 3 == 2 ? 0.1f * (float)i : 0.0f );
        CHECK_OK( clv_space_get_test_box( c->space, c->ids[i], &now ) );
        CHECK( memcmp( &now, &grown, sizeof( now ) ) == 0 );
        now = object_boxes( &c->space->objects )[c->ids[i].index];
        CHECK( memcmp( &now, &grown, sizeof( now ) ) == 0 );
    }
    clv_space_destroy( c->space );
    free( c );
}

static void the_error_is_about_the_last_call( void )
{
    stage set;
    stage_open( &set, test_variant_at( 0 ) );
    CHECK_RESULT( clv_space_remove_one( set.space, set.stale ), CLV_BAD_ID );
    CHECK_RESULT( clv_space_error( set.space ).code, CLV_BAD_ID );
    CHECK_OK( clv_space_move_one( set.space, set.ids[0], test_cube( 0, 0, 0, 1 ) ) );
    clv_error error = clv_space_error( set.space );
    CHECK_RESULT( error.code, CLV_OK );
    CHECK_EQUAL( error.position, UINT32_MAX );
    CHECK( clv_id_is_null( error.id ) );
    CHECK( error.text != NULL );
    clv_space_destroy( set.space );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( bad_boxes_are_refused_with_their_position ),
        TEST_CASE( single_calls_refuse_like_batches ),
        TEST_CASE( bad_ids_are_refused_with_their_position ),
        TEST_CASE( the_same_id_twice_is_refused_with_the_second_position ),
        TEST_CASE( of_several_faults_the_first_is_named ),
        TEST_CASE( bad_margins_and_strides_are_refused ),
        TEST_CASE( more_objects_than_fit_are_refused_before_they_are_read ),
        TEST_CASE( a_count_of_nothing_is_legal_and_does_nothing ),
        TEST_CASE( a_count_of_nothing_takes_no_memory ),
        TEST_CASE( large_batches_name_what_is_bad_in_them ),
        TEST_CASE( large_batches_in_any_order_take_every_box ),
        TEST_CASE( large_batches_are_grown_by_their_margins ),
        TEST_CASE( the_error_is_about_the_last_call ),
    };
    return test_run( "batch", cases, TEST_COUNT( cases ), argc, argv );
}
