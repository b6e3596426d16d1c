// SPDX-License-Identifier: MIT
#include "oracle.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void oracle_open( oracle* world, const clv_space_def* def, oracle_accept* accept )
{
    memset( world, 0, sizeof( *world ) );
    world->margin = def->margin;
    world->by_size = def->margin_by_size;
    world->by_speed = def->margin_by_speed;
    world->sorted = def->sorted;
    world->events = def->events;
    world->skip_static_pairs = def->skip_static_pairs;
    world->accept = accept;
}

void oracle_close( oracle* world )
{
    free( world->objects );
    free( world->pairs );
    free( world->id_pairs );
    free( world->begun );
    free( world->ended );
    free( world->begun_user );
    free( world->ended_user );
    free( world->gone );
    memset( world, 0, sizeof( *world ) );
}

// ---- objects

static void make_slot( oracle* world, uint32_t slot )
{
    if ( slot >= world->slot_capacity )
    {
        uint32_t capacity = slot + slot / 2 + 16;
        oracle_object* fresh = test_alloc( capacity, sizeof( *fresh ) );
        if ( world->slot_count > 0 )
        {
            memcpy( fresh, world->objects, world->slot_count * sizeof( *fresh ) );
        }
        free( world->objects );
        world->objects = fresh;
        world->slot_capacity = capacity;
    }
    // Slots are handed out without gaps.
    CHECK( slot <= world->slot_count );
    world->slot_count = slot == world->slot_count ? slot + 1 : world->slot_count;
}

void oracle_add( oracle* world, clv_id id, clv_aabb box )
{
    CHECK( !clv_id_is_null( id ) );
    make_slot( world, id.index );
    oracle_object* object = &world->objects[id.index];
    CHECK( !object->alive );
    CHECK( id.generation > object->id.generation );
    *object = ( oracle_object ){
        .alive = true,
        .id = id,
        .box = box,
        .margin = world->margin,
        .by_size = world->by_size,
        .by_speed = world->by_speed,
        .filter = { 1, UINT64_MAX, 0 },
    };
    world->object_count += 1;
}

oracle_object* oracle_find( oracle* world, clv_id id )
{
    CHECK( id.index < world->slot_count );
    oracle_object* object = &world->objects[id.index];
    CHECK( object->alive && object->id.generation == id.generation );
    return object;
}

static void note_gone( oracle* world, const oracle_object* object )
{
    if ( world->gone_count == world->gone_capacity )
    {
        world->gone_capacity = world->gone_capacity * 2 + 16;
        world->gone = realloc( world->gone, world->gone_capacity * sizeof( oracle_gone ) );
        CHECK( world->gone != NULL );
    }
    world->gone[world->gone_count++] = ( oracle_gone ){ object->id, object->user_data };
}

// Carried now by a living object, or when it went by another one.
static uint64_t data_of( const oracle* world, clv_id id )
{
    const oracle_object* object = &world->objects[id.index];
    if ( object->alive && clv_id_equals( object->id, id ) )
    {
        return object->user_data;
    }
    for ( uint32_t i = 0; i < world->gone_count; ++i )
    {
        if ( clv_id_equals( world->gone[i].id, id ) )
        {
            return world->gone[i].user_data;
        }
    }
    test_fail( __FILE__, __LINE__, "%u.%u is neither here nor gone", id.index, id.generation );
    return 0;
}

static void list_data( const oracle* world, const clv_id_pair* events, uint64_t count, clv_user_pair** data )
{
    free( *data );
    *data = test_alloc( (size_t)count, sizeof( clv_user_pair ) );
    for ( uint64_t i = 0; i < count; ++i )
    {
        ( *data )[i] = ( clv_user_pair ){ data_of( world, events[i].a ), data_of( world, events[i].b ) };
    }
}

void oracle_remove( oracle* world, clv_id id )
{
    note_gone( world, oracle_find( world, id ) );
    oracle_find( world, id )->alive = false;
    world->object_count -= 1;
}

void oracle_clear( oracle* world )
{
    for ( uint32_t slot = 0; slot < world->slot_count; ++slot )
    {
        world->objects[slot].alive = false;
    }
    world->object_count = 0;
    world->pair_count = 0;
    world->set_hash = 0;
    world->begun_count = 0;
    world->ended_count = 0;
    world->gone_count = 0;
}

clv_id oracle_pick( const oracle* world, test_random* random )
{
    CHECK( world->object_count > 0 );
    uint32_t slot = test_random_below( random, world->slot_count );
    while ( !world->objects[slot].alive )
    {
        slot = slot + 1 < world->slot_count ? slot + 1 : 0;
    }
    return world->objects[slot].id;
}

uint32_t oracle_pick_some( const oracle* world, uint32_t count, clv_id* ids, test_random* random )
{
    clv_id* living = test_alloc( world->object_count, sizeof( clv_id ) );
    uint32_t living_count = 0;
    for ( uint32_t slot = 0; slot < world->slot_count; ++slot )
    {
        if ( world->objects[slot].alive )
        {
            living[living_count++] = world->objects[slot].id;
        }
    }
    uint32_t picked = count < living_count ? count : living_count;
    for ( uint32_t i = 0; i < picked; ++i )
    {
        uint32_t other = i + test_random_below( random, living_count - i );
        ids[i] = living[other];
        living[other] = living[i];
    }
    free( living );
    return picked;
}

// ---- pairs

// Columns, so that the judge can afford some thousands of boxes.
typedef struct bounds
{
    float lower[3], upper[3];
} bounds;

// What the header says about margins, with the processor's own rounding upwards. What is volatile is computed
// here and now.
static float margin_of( const oracle_object* object, const bounds* given )
{
    if ( object->by_size == 0 && object->by_speed == 0 )
    {
        return object->margin;
    }
    double size = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        if ( !isinf( given->lower[axis] ) && !isinf( given->upper[axis] ) )
        {
            size = fmax( size, (double)given->upper[axis] - (double)given->lower[axis] );
        }
    }
    double x = object->motion.x, y = object->motion.y, z = object->motion.z;
    volatile double margin = (double)object->margin + (double)object->by_size * size +
        (double)object->by_speed * sqrt( x * x + y * y + z * z );
    fesetround( FE_UPWARD );
    volatile float rounded = (float)margin;
    fesetround( FE_TONEAREST );
    return fminf( rounded, FLT_MAX );
}

static float sum_rounded( float a, float b, int mode )
{
    volatile float first = a, second = b;
    fesetround( mode );
    volatile float sum = first + second;
    fesetround( FE_TONEAREST );
    return sum;
}

static bounds test_bounds( const oracle_object* object )
{
    const clv_aabb* box = &object->box;
    bounds grown = { { box->lower.x, box->lower.y, box->lower.z },
        { box->upper.x, box->upper.y, box->upper.z } };
    const float motion[3] = { object->motion.x, object->motion.y, object->motion.z };
    float margin = margin_of( object, &grown );
    for ( int axis = 0; axis < 3; ++axis )
    {
        grown.lower[axis] = grown.lower[axis] - margin;
        grown.upper[axis] = grown.upper[axis] + margin;
        if ( motion[axis] != 0 )
        {
            float lower = sum_rounded( grown.lower[axis], motion[axis], FE_DOWNWARD );
            float upper = sum_rounded( grown.upper[axis], motion[axis], FE_UPWARD );
            grown.lower[axis] = fminf( lower, grown.lower[axis] );
            grown.upper[axis] = fmaxf( upper, grown.upper[axis] );
        }
    }
    return grown;
}

clv_aabb oracle_test_box( const oracle_object* object )
{
    bounds own = test_bounds( object );
    return test_box( own.lower[0], own.lower[1], own.lower[2], own.upper[0], own.upper[1], own.upper[2] );
}

static bool bounds_touch( const bounds* a, const bounds* b )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        // Apart on one axis is apart.
        if ( a->upper[axis] < b->lower[axis] || b->upper[axis] < a->lower[axis] )
        {
            return false;
        }
    }
    return true;
}

static bool filters_agree( const oracle* world, const oracle_object* a, const oracle_object* b )
{
    if ( world->skip_static_pairs && a->is_static && b->is_static )
    {
        return false;
    }
    if ( a->filter.group != 0 && a->filter.group == b->filter.group )
    {
        if ( a->filter.group < 0 )
        {
            return false;
        }
    }
    else if ( ( a->filter.category & b->filter.mask ) == 0 || ( b->filter.category & a->filter.mask ) == 0 )
    {
        return false;
    }
    return world->accept == NULL || world->accept( a->user_data, b->user_data );
}

typedef struct pair_array
{
    clv_pair* pairs;
    uint64_t count, capacity;
} pair_array;

static void append_pair( pair_array* array, clv_pair pair )
{
    if ( array->count == array->capacity )
    {
        array->capacity = array->capacity * 2 + 64;
        array->pairs = realloc( array->pairs, (size_t)array->capacity * sizeof( clv_pair ) );
        CHECK( array->pairs != NULL );
    }
    array->pairs[array->count++] = pair;
}

static void find_pairs( oracle* world, pair_array* found )
{
    bounds* grown = test_alloc( world->slot_count, sizeof( bounds ) );
    for ( uint32_t slot = 0; slot < world->slot_count; ++slot )
    {
        grown[slot] = test_bounds( &world->objects[slot] );
    }
    world->candidate_count = 0;
    for ( uint32_t a = 0; a < world->slot_count; ++a )
    {
        for ( uint32_t b = a + 1; world->objects[a].alive && b < world->slot_count; ++b )
        {
            if ( !bounds_touch( &grown[a], &grown[b] ) || !world->objects[b].alive )
            {
                continue;
            }
            world->candidate_count += 1;
            if ( filters_agree( world, &world->objects[a], &world->objects[b] ) )
            {
                append_pair( found, ( clv_pair ){ a, b } );
            }
        }
    }
    free( grown );
}

static int compare_id_pairs( clv_id_pair p, clv_id_pair q )
{
    uint32_t left[4] = { p.a.index, p.b.index, p.a.generation, p.b.generation };
    uint32_t right[4] = { q.a.index, q.b.index, q.a.generation, q.b.generation };
    for ( int i = 0; i < 4; ++i )
    {
        if ( left[i] != right[i] )
        {
            return left[i] < right[i] ? -1 : 1;
        }
    }
    return 0;
}

// What is in `from` and not in `without`; both sorted.
static uint64_t subtract( const clv_id_pair* from, uint64_t from_count, const clv_id_pair* without,
    uint64_t without_count, clv_id_pair** result )
{
    free( *result );
    *result = test_alloc( (size_t)from_count, sizeof( clv_id_pair ) );
    uint64_t count = 0;
    uint64_t other = 0;
    for ( uint64_t i = 0; i < from_count; ++i )
    {
        while ( other < without_count && compare_id_pairs( without[other], from[i] ) < 0 )
        {
            other += 1;
        }
        if ( other == without_count || compare_id_pairs( without[other], from[i] ) != 0 )
        {
            ( *result )[count++] = from[i];
        }
    }
    return count;
}

void oracle_update( oracle* world )
{
    pair_array found = { NULL, 0, 0 };
    find_pairs( world, &found );
    clv_id_pair* id_pairs = test_alloc( (size_t)found.count, sizeof( clv_id_pair ) );
    for ( uint64_t i = 0; i < found.count; ++i )
    {
        clv_pair pair = found.pairs[i];
        id_pairs[i] = ( clv_id_pair ){ world->objects[pair.a].id, world->objects[pair.b].id };
    }
    world->begun_count = subtract( id_pairs, found.count, world->id_pairs, world->pair_count, &world->begun );
    world->ended_count = subtract( world->id_pairs, world->pair_count, id_pairs, found.count, &world->ended );
    if ( world->events )
    {
        list_data( world, world->begun, world->begun_count, &world->begun_user );
        list_data( world, world->ended, world->ended_count, &world->ended_user );
    }
    world->gone_count = 0;
    free( world->pairs );
    free( world->id_pairs );
    world->pairs = found.pairs;
    world->id_pairs = id_pairs;
    world->pair_count = found.count;
    world->set_hash = test_set_hash( world->pairs, world->pair_count );
    world->update_count += 1;
    for ( uint32_t slot = 0; slot < world->slot_count; ++slot )
    {
        world->objects[slot].motion = ( clv_vec3 ){ 0, 0, 0 };
    }
}

// ---- judging

static void check_same_pairs( const oracle* world, const clv_pair* pairs, uint64_t count )
{
    uint64_t common = count < world->pair_count ? count : world->pair_count;
    for ( uint64_t i = 0; i <= common; ++i )
    {
        bool have = i < count;
        bool want = i < world->pair_count;
        if ( have && want && pairs[i].a == world->pairs[i].a && pairs[i].b == world->pairs[i].b )
        {
            continue;
        }
        if ( want && ( !have || test_pair_less( world->pairs[i], pairs[i] ) ) )
        {
            test_fail( __FILE__, __LINE__, "pair (%u, %u) is missing; %llu pairs instead of %llu",
                world->pairs[i].a, world->pairs[i].b, (unsigned long long)count,
                (unsigned long long)world->pair_count );
        }
        if ( have )
        {
            test_fail( __FILE__, __LINE__, "pair (%u, %u) is %s; %llu pairs instead of %llu", pairs[i].a,
                pairs[i].b, i > 0 && !test_pair_less( pairs[i - 1], pairs[i] ) ? "there twice" : "too many",
                (unsigned long long)count, (unsigned long long)world->pair_count );
        }
    }
}

static void check_events( const char* kind, const clv_id_pair* actual, uint64_t actual_count,
    const clv_id_pair* expected, uint64_t expected_count )
{
    for ( uint64_t i = 0; i < actual_count && i < expected_count; ++i )
    {
        if ( compare_id_pairs( actual[i], expected[i] ) != 0 )
        {
            test_fail( __FILE__, __LINE__, "%s[%llu] is (%u.%u, %u.%u), not (%u.%u, %u.%u)", kind,
                (unsigned long long)i, actual[i].a.index, actual[i].a.generation, actual[i].b.index,
                actual[i].b.generation, expected[i].a.index, expected[i].a.generation, expected[i].b.index,
                expected[i].b.generation );
        }
    }
    if ( actual_count != expected_count )
    {
        test_fail( __FILE__, __LINE__, "%llu pairs %s, not %llu", (unsigned long long)actual_count, kind,
            (unsigned long long)expected_count );
    }
}

// No list stands for zeros.
static void check_data(
    const char* kind, const clv_user_pair* actual, const clv_user_pair* expected, uint64_t count )
{
    const clv_user_pair zero = { 0, 0 };
    for ( uint64_t i = 0; i < count; ++i )
    {
        clv_user_pair got = actual != NULL ? actual[i] : zero;
        if ( got.a != expected[i].a || got.b != expected[i].b )
        {
            test_fail( __FILE__, __LINE__, "user data of %s[%llu] is (%llu, %llu), not (%llu, %llu)", kind,
                (unsigned long long)i, (unsigned long long)got.a, (unsigned long long)got.b,
                (unsigned long long)expected[i].a, (unsigned long long)expected[i].b );
        }
    }
}

static void check_stats( const oracle* world, const clv_space* space )
{
    clv_stats stats = clv_space_stats( space );
    CHECK_EQUAL( stats.object_count, world->object_count );
    CHECK_EQUAL( stats.pair_count, world->pair_count );
    CHECK_EQUAL( stats.begun_count, world->events ? world->begun_count : 0 );
    CHECK_EQUAL( stats.ended_count, world->events ? world->ended_count : 0 );
    CHECK_EQUAL( stats.update_count, world->update_count );
    if ( !world->skip_static_pairs )
    {
        CHECK_EQUAL( stats.candidate_count, world->candidate_count );
    }
}

// The sums of as many mixed pairs are equal: so are the sets. Sorting, to name the pair, is for those that
// differ.
static void check_pairs( const oracle* world, clv_pair_view view )
{
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        CHECK( view.pairs[i].a < view.pairs[i].b );
    }
    if ( world->sorted )
    {
        check_same_pairs( world, view.pairs, view.count );
    }
    else if ( view.count != world->pair_count || test_set_hash( view.pairs, view.count ) != world->set_hash )
    {
        clv_pair* sorted = test_copy( view.pairs, (size_t)view.count, sizeof( clv_pair ) );
        qsort( sorted, (size_t)view.count, sizeof( clv_pair ), test_pair_compare );
        check_same_pairs( world, sorted, view.count );
        free( sorted );
        test_fail( __FILE__, __LINE__, "pairs and their hash do not agree about being the right ones" );
    }
}

void oracle_check( const oracle* world, const clv_space* space )
{
    clv_pair_view view = clv_space_pairs( space );
    CHECK( view.valid );
    check_pairs( world, view );

    clv_event_view events = clv_space_events( space );
    check_events(
        "begun", events.begun, events.begun_count, world->begun, world->events ? world->begun_count : 0 );
    check_events(
        "ended", events.ended, events.ended_count, world->ended, world->events ? world->ended_count : 0 );
    check_data( "begun", events.begun_user, world->begun_user, events.begun_count );
    check_data( "ended", events.ended_user, world->ended_user, events.ended_count );
    check_stats( world, space );
}

static void check_extent( const oracle_object* object, const clv_space* space )
{
    clv_margin_rule rule;
    clv_vec3 motion;
    clv_aabb box, expected = oracle_test_box( object );
    CHECK_OK( clv_space_get_margin_rule( space, object->id, &rule ) );
    CHECK_OK( clv_space_get_motion( space, object->id, &motion ) );
    CHECK_OK( clv_space_get_test_box( space, object->id, &box ) );
    CHECK( rule.fixed == object->margin && rule.by_size == object->by_size );
    CHECK( rule.by_speed == object->by_speed );
    CHECK( motion.x == object->motion.x && motion.y == object->motion.y && motion.z == object->motion.z );
    CHECK( box.lower.x == expected.lower.x && box.upper.x == expected.upper.x );
    CHECK( box.lower.y == expected.lower.y && box.upper.y == expected.upper.y );
    CHECK( box.lower.z == expected.lower.z && box.upper.z == expected.upper.z );
}

void oracle_check_objects( const oracle* world, const clv_space* space )
{
    CHECK_EQUAL( clv_space_object_count( space ), world->object_count );
    for ( uint32_t slot = 0; slot < world->slot_count; ++slot )
    {
        const oracle_object* object = &world->objects[slot];
        CHECK_EQUAL( clv_space_contains( space, object->id ), object->alive );
        CHECK( clv_id_equals( clv_space_id_at( space, slot ), object->alive ? object->id : clv_null_id() ) );
        if ( !object->alive )
        {
            continue;
        }
        clv_aabb box;
        float margin;
        clv_filter filter;
        bool is_static;
        uint64_t user_data;
        CHECK_OK( clv_space_get_box( space, object->id, &box ) );
        CHECK_OK( clv_space_get_margin( space, object->id, &margin ) );
        CHECK_OK( clv_space_get_filter( space, object->id, &filter ) );
        CHECK_OK( clv_space_get_static( space, object->id, &is_static ) );
        CHECK_OK( clv_space_get_user_data( space, object->id, &user_data ) );
        CHECK( memcmp( &box, &object->box, sizeof( box ) ) == 0 );
        CHECK( memcmp( &margin, &object->margin, sizeof( margin ) ) == 0 );
        check_extent( object, space );
        CHECK_EQUAL( filter.category, object->filter.category );
        CHECK_EQUAL( filter.mask, object->filter.mask );
        CHECK_EQUAL( filter.group, object->filter.group );
        CHECK_EQUAL( is_static, object->is_static );
        CHECK_EQUAL( user_data, object->user_data );
        clv_user_data_view all = clv_space_user_data( space );
        CHECK( all.count == 0 || all.count == clv_space_stats( space ).slot_count );
        CHECK_EQUAL( all.count > 0 ? all.values[slot] : 0, object->user_data );
    }
    CHECK( clv_id_is_null( clv_space_id_at( space, world->slot_count ) ) );
    CHECK( clv_id_is_null( clv_space_id_at( space, UINT32_MAX ) ) );
}
