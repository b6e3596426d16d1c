// SPDX-License-Identifier: MIT
// Snapshots. Two spaces live the same life; one of them is written down and read back again and again, the
// other never. Nothing a caller can see may tell them apart.
#include "base/parts.h"
#include "cleave/world.h"
#include "fuzz/fuzz_parts.h"
#include "heap.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum
{
    MOST = 900, // objects
};

typedef enum box_kind
{
    FLOATS,
    DOUBLES,
    FLAT,
    KINDS
} box_kind;

typedef struct twins
{
    clv_space* plain;  ///< never saved
    clv_space* copied; ///< read back now and then
    clv_space_def def;
    box_kind kind;
    test_random random;
    clv_id ids[MOST]; ///< alive, in no order
    clv_aabb boxes[MOST];
    uint32_t count;
    uint64_t asked; ///< calls of the filter
    uint32_t saves;
    bool any_order; ///< it was on disk
} twins;

static bool is_wanted( const clv_space* space, clv_pair pair, void* user )
{
    (void)space;
    uint64_t* asked = user;
    *asked += 1;
    return ( pair.a * 7 + pair.b ) % 5 != 0;
}

static clv_aabb64 wide_box( clv_aabb b )
{
    return (
        clv_aabb64 ){ { b.lower.x + 1e9, b.lower.y, b.lower.z }, { b.upper.x + 1e9, b.upper.y, b.upper.z } };
}

static clv_aabb2 flat_box( clv_aabb b )
{
    return ( clv_aabb2 ){ { b.lower.x, b.lower.y }, { b.upper.x, b.upper.y } };
}

static clv_result add_boxes(
    const twins* t, clv_space* space, const clv_aabb* boxes, uint32_t count, clv_id* ids )
{
    static clv_aabb64 wide[MOST];
    static clv_aabb2 flat[MOST];
    for ( uint32_t i = 0; i < count; ++i )
    {
        wide[i] = wide_box( boxes[i] );
        flat[i] = flat_box( boxes[i] );
    }
    return t->kind == DOUBLES ? clv_space_add64( space, wide, count, ids )
        : t->kind == FLAT     ? clv_space_add2( space, flat, count, ids )
                              : clv_space_add( space, boxes, count, ids );
}

static clv_result move_boxes(
    const twins* t, clv_space* space, const clv_id* ids, const clv_aabb* boxes, uint32_t count )
{
    static clv_aabb64 wide[MOST];
    static clv_aabb2 flat[MOST];
    for ( uint32_t i = 0; i < count; ++i )
    {
        wide[i] = wide_box( boxes[i] );
        flat[i] = flat_box( boxes[i] );
    }
    return t->kind == DOUBLES ? clv_space_move64( space, ids, wide, count )
        : t->kind == FLAT     ? clv_space_move2( space, ids, flat, count )
                              : clv_space_move( space, ids, boxes, count );
}

// ---- saved and loaded

static uint8_t* save_bytes( const clv_space* space, clv_save_form form, size_t* size )
{
    size_t room = clv_space_save_size( space, form );
    uint8_t* bytes = test_alloc( room, 1 ); // exactly as much: sanitizers see the rest
    CHECK_OK( clv_space_save( space, form, bytes, room, size ) );
    CHECK_EQUAL( *size, room );
    return bytes;
}

static clv_space* load_bytes( const clv_space_def* def, const uint8_t* bytes, size_t size )
{
    clv_space* space = NULL;
    clv_load_error error;
    clv_result result = clv_space_load( def, bytes, size, &space, &error );
    if ( result != CLV_OK )
    {
        test_fail( __FILE__, __LINE__, "load: %s: %s", clv_result_name( result ), error.text );
    }
    return space;
}

// The def of a loader: hooks and callbacks, and nothing else.
static clv_space_def loader_def( const clv_space_def* def, uint32_t worker_count )
{
    clv_space_def other = clv_default_space_def();
    other.filter = def->filter;
    other.filter_user = def->filter_user;
    other.worker_count = worker_count;
    return other;
}

// For spaces that are not of floats.
static void compare_boxes( const clv_space* a, const clv_space* b )
{
    CHECK_EQUAL( clv_space_stats( a ).slot_count, clv_space_stats( b ).slot_count );
    for ( uint32_t slot = 0; slot < clv_space_stats( a ).slot_count; ++slot )
    {
        clv_id id = clv_space_id_at( a, slot );
        CHECK( clv_id_equals( id, clv_space_id_at( b, slot ) ) );
        clv_aabb64 wide[2] = { 0 };
        clv_aabb2 flat[2] = { 0 };
        clv_vec3 motions[2] = { 0 };
        CHECK_EQUAL( clv_space_get_box64( a, id, &wide[0] ), clv_space_get_box64( b, id, &wide[1] ) );
        CHECK_EQUAL( clv_space_get_box2( a, id, &flat[0] ), clv_space_get_box2( b, id, &flat[1] ) );
        CHECK_EQUAL( clv_space_get_motion( a, id, &motions[0] ), clv_space_get_motion( b, id, &motions[1] ) );
        CHECK( memcmp( &wide[0], &wide[1], sizeof( wide[0] ) ) == 0 );
        CHECK( memcmp( &flat[0], &flat[1], sizeof( flat[0] ) ) == 0 );
        CHECK( memcmp( &motions[0], &motions[1], sizeof( motions[0] ) ) == 0 );
    }
}

static void save_and_load( twins* t, clv_save_form form )
{
    size_t size;
    uint8_t* bytes = save_bytes( t->copied, form, &size );
    clv_space_def def = loader_def( &t->def, 1 + test_random_below( &t->random, 3 ) );
    clv_space* loaded = load_bytes( &def, bytes, size );
    if ( t->kind == FLOATS )
    {
        test_snapshot before = test_snapshot_take( t->copied );
        test_snapshot_check( &before, loaded );
        test_snapshot_free( &before );
    }
    else
    {
        compare_boxes( t->copied, loaded );
    }
    free( bytes );
    clv_space_destroy( t->copied );
    t->copied = loaded;
    t->saves += 1;
    t->any_order |= form == CLV_SAVE_DISK;
}

// ---- what happens

#define BOTH( call_plain, call_copied ) CHECK_EQUAL( call_plain, call_copied )

static clv_aabb next_box( twins* t )
{
    float x = test_random_between( &t->random, 0, 12 ), y = test_random_between( &t->random, 0, 12 );
    float z = test_random_between( &t->random, 0, 6 ), half = test_random_between( &t->random, 0.1f, 0.7f );
    return test_cube( x, y, z, half );
}

static void births( twins* t, uint32_t most )
{
    clv_id ids[2][MOST];
    uint32_t count = test_random_below( &t->random, most + 1 );
    count = count < MOST - t->count ? count : MOST - t->count;
    clv_aabb* boxes = t->boxes + t->count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        boxes[i] = next_box( t );
    }
    CHECK_OK( add_boxes( t, t->plain, boxes, count, ids[0] ) );
    CHECK_OK( add_boxes( t, t->copied, boxes, count, ids[1] ) );
    CHECK( count == 0 || memcmp( ids[0], ids[1], count * sizeof( clv_id ) ) == 0 );
    if ( count > 0 )
    {
        memcpy( t->ids + t->count, ids[0], count * sizeof( clv_id ) );
    }
    t->count += count;
}

static void deaths( twins* t )
{
    uint32_t count = test_random_below( &t->random, t->count / 6 + 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t at = test_random_below( &t->random, t->count );
        BOTH( clv_space_remove_one( t->plain, t->ids[at] ), clv_space_remove_one( t->copied, t->ids[at] ) );
        t->count -= 1;
        t->ids[at] = t->ids[t->count];
        t->boxes[at] = t->boxes[t->count];
    }
}

static void moves( twins* t, uint32_t percent )
{
    static clv_id ids[MOST];
    static clv_aabb boxes[MOST];
    uint32_t count = 0;
    for ( uint32_t i = 0; i < t->count; ++i )
    {
        if ( test_random_chance( &t->random, percent ) )
        {
            float by = test_random_between( &t->random, -0.2f, 0.2f );
            t->boxes[i].lower.x += by;
            t->boxes[i].upper.x += by;
            ids[count] = t->ids[i];
            boxes[count++] = t->boxes[i];
        }
    }
    BOTH( move_boxes( t, t->plain, ids, boxes, count ), move_boxes( t, t->copied, ids, boxes, count ) );
}

static void carry_something( twins* t )
{
    clv_id id = t->ids[test_random_below( &t->random, t->count )];
    float margin = test_random_between( &t->random, 0, 0.3f );
    clv_margin_rule rule = { margin, 0.1f, 0.5f };
    clv_vec3 motion = { margin * 5, -margin, t->kind == FLAT ? 0 : margin };
    clv_filter filter = { 1u << test_random_below( &t->random, 3 ), 3 + test_random_below( &t->random, 5 ),
        (int32_t)test_random_below( &t->random, 3 ) - 1 };
    uint64_t data = test_random_next( &t->random );
    bool is_static = test_random_chance( &t->random, 50 );
    switch ( test_random_below( &t->random, 7 ) )
    {
    case 0:
        BOTH( clv_space_set_margin( t->plain, &id, &margin, 1 ),
            clv_space_set_margin( t->copied, &id, &margin, 1 ) );
        break;
    case 1:
        BOTH( clv_space_set_motion( t->plain, &id, &motion, 1 ),
            clv_space_set_motion( t->copied, &id, &motion, 1 ) );
        break;
    case 2:
        BOTH( clv_space_set_filter( t->plain, &id, &filter, 1 ),
            clv_space_set_filter( t->copied, &id, &filter, 1 ) );
        break;
    case 3:
        BOTH( clv_space_set_user_data( t->plain, &id, &data, 1 ),
            clv_space_set_user_data( t->copied, &id, &data, 1 ) );
        break;
    case 4:
        BOTH( clv_space_set_static( t->plain, &id, &is_static, 1 ),
            clv_space_set_static( t->copied, &id, &is_static, 1 ) );
        break;
    case 5:
        BOTH( clv_space_set_margin_rule( t->plain, &id, &rule, 1 ),
            clv_space_set_margin_rule( t->copied, &id, &rule, 1 ) );
        break;
    default: BOTH( clv_space_refilter( t->plain, &id, 1 ), clv_space_refilter( t->copied, &id, 1 ) ); break;
    }
}

// One box over all others: more pairs than max_pairs, so the update fails.
static void fail_once( twins* t )
{
    clv_aabb all = test_box( -100, -100, -100, 100, 100, 100 );
    clv_id id, other;
    CHECK_OK( add_boxes( t, t->plain, &all, 1, &id ) );
    CHECK_OK( add_boxes( t, t->copied, &all, 1, &other ) );
    CHECK( clv_id_equals( id, other ) );
    clv_result result = clv_space_update( t->plain );
    BOTH( result, clv_space_update( t->copied ) );
    save_and_load( t, CLV_SAVE_MEMORY );
    CHECK_OK( clv_space_remove_one( t->plain, id ) );
    CHECK_OK( clv_space_remove_one( t->copied, id ) );
}

static void write_words( twins* t )
{
    clv_pair_view a = clv_space_pairs( t->plain ), b = clv_space_pairs( t->copied );
    for ( uint64_t i = 0; t->def.pair_data && i < a.count; i += 3 )
    {
        a.data[i] = b.data[i] = test_random_next( &t->random );
    }
}

static void compare_views( const twins* t )
{
    clv_pair_view a = clv_space_pairs( t->plain ), b = clv_space_pairs( t->copied );
    clv_event_view e = clv_space_events( t->plain ), f = clv_space_events( t->copied );
    CHECK_EQUAL( a.valid, b.valid );
    CHECK_EQUAL( a.count, b.count );
    CHECK_EQUAL( a.number, b.number );
    CHECK_EQUAL( test_order_hash( a.pairs, a.count ), test_order_hash( b.pairs, b.count ) );
    CHECK( a.count == 0 || !t->def.pair_data || memcmp( a.data, b.data, a.count * 8 ) == 0 );
    CHECK_EQUAL( e.begun_count, f.begun_count );
    CHECK_EQUAL( e.ended_count, f.ended_count );
    CHECK( e.begun_count == 0 || memcmp( e.begun, f.begun, e.begun_count * sizeof( clv_id_pair ) ) == 0 );
    CHECK( e.ended_count == 0 || memcmp( e.ended, f.ended, e.ended_count * sizeof( clv_id_pair ) ) == 0 );
    CHECK( e.begun_count == 0 || ( e.begun_user != NULL ) == ( f.begun_user != NULL ) );
    CHECK( e.ended_user == NULL || e.ended_count == 0 ||
        memcmp( e.ended_user, f.ended_user, e.ended_count * sizeof( clv_user_pair ) ) == 0 );
    CHECK( e.ended_data == NULL || e.ended_count == 0 ||
        memcmp( e.ended_data, f.ended_data, e.ended_count * 8 ) == 0 );
    CHECK_EQUAL( clv_space_stats( t->plain ).test_count, clv_space_stats( t->copied ).test_count );
    CHECK_EQUAL( clv_space_stats( t->plain ).candidate_count, clv_space_stats( t->copied ).candidate_count );
}

// What queries see is a matter of the last good update, and of what was asked before.
static uint64_t ask( const twins* t, const clv_space* space, clv_aabb box, clv_result* result )
{
    clv_hit hits[MOST];
    clv_hit64 hits64[MOST];
    clv_aabb2 flat = flat_box( box );
    clv_aabb64 wide = wide_box( box );
    clv_queries queries = t->kind == FLAT ? clv_query_boxes2( &flat, 1 ) : clv_query_boxes( &box, 1 );
    clv_queries64 queries64 = clv_query_boxes64( &wide, 1 );
    clv_query_lists lists = { .hits = hits, .capacity = MOST };
    clv_query_lists64 lists64 = { .hits = hits64, .capacity = MOST };
    uint64_t hash = 0;
    *result = t->kind == DOUBLES ? clv_space_query_all64( space, &queries64, &lists64 )
                                 : clv_space_query_all( space, &queries, &lists );
    uint64_t count = t->kind == DOUBLES ? lists64.count : lists.count;
    for ( uint64_t i = 0; *result == CLV_OK && i < count; ++i )
    {
        hash = hash * 31 + ( t->kind == DOUBLES ? hits64[i].index : hits[i].index );
    }
    return hash + count;
}

static void compare_queries( twins* t )
{
    clv_aabb box = next_box( t );
    clv_result a, b;
    uint64_t hash = ask( t, t->plain, box, &a ), other = ask( t, t->copied, box, &b );
    CHECK_EQUAL( a, b );
    CHECK_EQUAL( hash, other );
}

static bool count_pairs( const clv_pair* pairs, size_t count, void* user )
{
    uint64_t* hash = user;
    *hash = *hash * 31 + test_order_hash( pairs, count );
    return true;
}

static void rare_things( twins* t )
{
    uint64_t hashes[2] = { 0, 0 };
    clv_vec64 by = { 1, 2, t->kind == FLAT ? 0 : 0.5 };
    switch ( test_random_below( &t->random, 8 ) )
    {
    case 0: BOTH( clv_space_shift_origin( t->plain, by ), clv_space_shift_origin( t->copied, by ) ); break;
    case 1: BOTH( clv_space_shrink( t->plain ), clv_space_shrink( t->copied ) ); break;
    case 2:
        BOTH( clv_space_visit( t->plain, count_pairs, &hashes[0] ),
            clv_space_visit( t->copied, count_pairs, &hashes[1] ) );
        CHECK( t->any_order || hashes[0] == hashes[1] );
        break;
    case 3:
        if ( test_random_chance( &t->random, 20 ) )
        {
            clv_space_clear( t->plain );
            clv_space_clear( t->copied );
            t->count = 0;
            births( t, MOST / 2 );
        }
        break;
    case 4: fail_once( t ); break;
    case 5: BOTH( clv_space_refresh( t->plain ), clv_space_refresh( t->copied ) ); break;
    default: compare_queries( t ); break;
    }
}

static twins* begin_twins( uint64_t seed )
{
    twins* t = test_alloc( 1, sizeof( twins ) );
    memset( t, 0, sizeof( *t ) );
    static const char* const settings[] = { NULL, "cleave.few=0,cleave.block=8,cleave.rest=0,cleave.strip=0",
        "cleave.few=0,cleave.rest=1,cleave.rest_least=0",
        "cleave.few=4,cleave.rest_least=0,cleave.alone=0,cleave.strip=0",
        "cleave.few=0,cleave.block=8,cleave.alone=0,cleave.rest_least=64" };
    t->random = test_random_make( seed );
    t->kind = (box_kind)( seed % KINDS );
    t->def = clv_default_space_def();
    t->def.settings = settings[seed / 3 % 5];
    t->def.doubles = t->kind == DOUBLES;
    t->def.flat = t->kind == FLAT;
    t->def.sorted = test_random_chance( &t->random, 25 );
    t->def.events = test_random_chance( &t->random, 50 );
    t->def.pair_data = test_random_chance( &t->random, 40 );
    t->def.skip_static_pairs = test_random_chance( &t->random, 40 );
    t->def.margin = test_random_chance( &t->random, 30 ) ? 0.05f : 0;
    t->def.margin_by_speed = test_random_chance( &t->random, 15 ) ? 0.5f : 0;
    t->def.max_pairs = test_random_chance( &t->random, 40 ) ? 3 * MOST : 0;
    t->def.worker_count = 1 + (uint32_t)seed / 5 % 3;
    t->def.filter = test_random_chance( &t->random, 30 ) ? is_wanted : NULL;
    t->def.filter_user = &t->asked;
    CHECK_OK( clv_space_create( &t->def, &t->plain ) );
    CHECK_OK( clv_space_create( &t->def, &t->copied ) );
    return t;
}

static void end_twins( twins* t )
{
    clv_space_destroy( t->plain );
    clv_space_destroy( t->copied );
    free( t );
}

static void live_a_frame( twins* t, uint32_t frame, uint32_t motion )
{
    test_where.frame = frame;
    if ( test_random_chance( &t->random, 30 ) )
    {
        births( t, frame == 0 ? MOST : 20 );
    }
    if ( test_random_chance( &t->random, 20 ) )
    {
        deaths( t );
    }
    moves( t, motion );
    for ( uint32_t i = test_random_below( &t->random, 4 ); i > 1 && t->count > 0; --i )
    {
        carry_something( t );
    }
    if ( test_random_chance( &t->random, 20 ) )
    {
        rare_things( t );
    }
}

static void a_loaded_space_goes_on_as_the_saved_one( void )
{
    for ( uint64_t seed = 0; seed < test_scaled( 150 ); ++seed )
    {
        test_where.seed = seed;
        twins* t = begin_twins( seed );
        uint32_t motion = seed % 2 == 0 ? 3 : 60; // rests, or moves
        births( t, MOST );
        for ( uint32_t frame = 0; frame < 60; ++frame )
        {
            live_a_frame( t, frame, frame % 20 > 15 ? 100 - motion : motion );
            if ( test_random_chance( &t->random, 25 ) )
            {
                save_and_load( t, CLV_SAVE_MEMORY ); // with changes that no update has seen
            }
            t->asked = 0;
            clv_result result = clv_space_update( t->plain );
            uint64_t asked = t->asked;
            t->asked = 0;
            BOTH( result, clv_space_update( t->copied ) );
            CHECK_EQUAL( asked, t->asked );
            compare_views( t );
            write_words( t );
            if ( test_random_chance( &t->random, 25 ) )
            {
                save_and_load( t, CLV_SAVE_MEMORY );
                compare_views( t );
            }
        }
        CHECK( t->saves > 5 );
        end_twins( t );
    }
}

// From disk the order may be another; sets, events and ids are not.
static void a_space_from_disk_has_the_same_sets_events_and_ids( void )
{
    for ( uint64_t seed = 0; seed < test_scaled( 90 ); ++seed )
    {
        test_where.seed = seed;
        twins* t = begin_twins( seed );
        births( t, MOST );
        for ( uint32_t frame = 0; frame < 25; ++frame )
        {
            live_a_frame( t, frame, seed % 2 == 0 ? 3 : 60 );
            save_and_load( t, test_random_chance( &t->random, 60 ) ? CLV_SAVE_DISK : CLV_SAVE_MEMORY );
            BOTH( clv_space_update( t->plain ), clv_space_update( t->copied ) );
            clv_pair_view a = clv_space_pairs( t->plain ), b = clv_space_pairs( t->copied );
            clv_event_view e = clv_space_events( t->plain ), f = clv_space_events( t->copied );
            CHECK_EQUAL( a.count, b.count );
            CHECK_EQUAL( test_set_hash( a.pairs, a.count ), test_set_hash( b.pairs, b.count ) );
            CHECK( e.begun_count == f.begun_count && e.ended_count == f.ended_count );
            CHECK( e.begun_count == 0 ||
                memcmp( e.begun, f.begun, e.begun_count * sizeof( clv_id_pair ) ) == 0 );
            CHECK( e.ended_count == 0 ||
                memcmp( e.ended, f.ended, e.ended_count * sizeof( clv_id_pair ) ) == 0 );
        }
        end_twins( t );
    }
}

// ---- places

typedef struct place
{
    uint8_t* bytes;
    size_t size, most;
} place;

static bool put_bytes_in( const void* bytes, size_t size, void* user )
{
    place* p = user;
    if ( size > p->most - p->size )
    {
        return false;
    }
    memcpy( p->bytes + p->size, bytes, size );
    p->size += size;
    return true;
}

static void memory_and_sinks_get_the_same_bytes( void )
{
    twins* t = begin_twins( 7 );
    births( t, MOST );
    CHECK_OK( clv_space_update( t->plain ) );
    for ( int form = CLV_SAVE_MEMORY; form <= CLV_SAVE_DISK; ++form )
    {
        size_t size, needed;
        uint8_t* bytes = save_bytes( t->plain, (clv_save_form)form, &size );
        place p = { test_alloc( size, 1 ), 0, size };
        CHECK_OK( clv_space_save_to( t->plain, (clv_save_form)form, put_bytes_in, &p ) );
        CHECK( p.size == size && memcmp( p.bytes, bytes, size ) == 0 );
        p.size = 0;
        p.most = size / 2;
        CHECK_RESULT( clv_space_save_to( t->plain, (clv_save_form)form, put_bytes_in, &p ), CLV_STOPPED );
        CHECK_RESULT(
            clv_space_save( t->plain, (clv_save_form)form, p.bytes, size - 1, &needed ), CLV_NO_ROOM );
        CHECK_EQUAL( needed, size );
        free( p.bytes );
        free( bytes );
    }
    end_twins( t );
}

// ---- bad bytes

static uint8_t* small_file( clv_save_form form, size_t* size, clv_space_def* def )
{
    uint64_t asked = 0;
    clv_space* space = NULL;
    *def = clv_default_space_def();
    def->events = def->pair_data = def->sorted = true;
    def->filter = is_wanted;
    def->filter_user = &asked;
    CHECK_OK( clv_space_create( def, &space ) );
    clv_id ids[6];
    clv_aabb boxes[6];
    for ( uint32_t i = 0; i < 6; ++i )
    {
        boxes[i] = test_cube( (float)i, 0, 0, 0.6f );
    }
    CHECK_OK( clv_space_add( space, boxes, 6, ids ) );
    CHECK_OK( clv_space_update( space ) );
    float margin = 0.5f;
    clv_filter filter = clv_default_filter();
    uint64_t data = 9;
    CHECK_OK( clv_space_set_margin( space, ids, &margin, 1 ) );
    CHECK_OK( clv_space_set_filter( space, ids, &filter, 1 ) );
    CHECK_OK( clv_space_set_user_data( space, ids, &data, 1 ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_OK( clv_space_remove( space, ids + 2, 2 ) );
    uint8_t* bytes = save_bytes( space, form, size );
    clv_space_destroy( space );
    return bytes;
}

// Found by fuzzing: the offset was that of a number behind the end of the file.
static void numbers_that_are_missing_are_refused_where_they_end( void )
{
    enum
    {
        NUMBERS_BEGIN = BASE_PARTS_HEADER_BYTES + BASE_PART_HEAD_BYTES
    };
    const uint64_t numbers[2] = { 0, 0 };
    for ( uint64_t count = 0; count <= 2; ++count )
    {
        uint8_t bytes[256];
        base_parts_writer writer = { .memory = bytes, .capacity = sizeof( bytes ) };
        clv_base_parts_begin( &writer, BASE_TAG( 'S', 'N', 'A', 'P' ), 1, 0, 0 );
        clv_base_part_write( &writer, BASE_TAG( 'S', 'P', 'A', 'C' ), numbers, count, 8 );
        CHECK( clv_base_parts_end( &writer ) );
        clv_space_def def = clv_default_space_def();
        clv_space* space = NULL;
        clv_load_error error;
        CHECK_RESULT( clv_space_load( &def, bytes, writer.offset, &space, &error ), CLV_FILE_FAILED );
        CHECK_EQUAL( error.offset, NUMBERS_BEGIN + 8 * count );
    }
}

static void every_changed_byte_and_every_cut_is_refused( void )
{
    for ( int form = CLV_SAVE_MEMORY; form <= CLV_SAVE_DISK; ++form )
    {
        clv_space_def def;
        size_t size;
        uint8_t* bytes = small_file( (clv_save_form)form, &size, &def );
        clv_space* space = NULL;
        clv_load_error error;
        // The state of the default method is long: of memory one byte in seven.
        for ( size_t i = 0; i < size; i += form == CLV_SAVE_MEMORY ? 7 : 1 )
        {
            bytes[i] ^= 0x41;
            test_where.seed = i;
            CHECK_RESULT( clv_space_load( &def, bytes, size, &space, &error ), CLV_FILE_FAILED );
            CHECK( space == NULL && error.offset <= size && error.text[0] != '\0' );
            bytes[i] ^= 0x41;
        }
        for ( size_t cut = 0; cut < size; cut += form == CLV_SAVE_MEMORY ? 7 : 1 )
        {
            uint8_t* part = test_copy( bytes, cut, 1 );
            CHECK_RESULT( clv_space_load( &def, part, cut, &space, &error ), CLV_FILE_FAILED );
            CHECK( space == NULL && error.offset <= cut );
            free( part );
        }
        space = load_bytes( &def, bytes, size );
        CHECK_OK( clv_space_update( space ) );
        clv_space_destroy( space );
        free( bytes );
    }
}

// Of the objects of small_file, whatever else the file says.
static void check_loaded_boxes( const clv_space* space )
{
    for ( uint32_t i = 0; i < 6; ++i )
    {
        clv_aabb box;
        clv_result result = clv_space_get_box( space, ( clv_id ){ i, 1 }, &box );
        CHECK( result != CLV_OK || clv_aabb_is_valid( box ) );
    }
}

// Sums as they should be, values as they should not: every word of the file in turn gets some others.
static void wrong_values_with_right_sums_do_no_harm( void )
{
    static const uint32_t values[] = { 0, 1, 2, 5, 6, 0x7F800000u, 0x7FC00000u, 0xFF800000u, 0x7FFFFFFFu,
        0x80000000u, UINT32_MAX };
    clv_space_def def;
    size_t size;
    uint8_t* bytes = small_file( CLV_SAVE_DISK, &size, &def );
    uint32_t loaded = 0, refused = 0;
    uint64_t asked;
    def.filter_user = &asked;
    for ( size_t at = 0; at + 4 <= size; at += 4 )
    {
        for ( size_t i = 0; i < TEST_COUNT( values ); ++i )
        {
            uint8_t* wrong = test_copy( bytes, size, 1 );
            base_put_u32( wrong + at, values[i] );
            fuzz_mend_parts( wrong, size, "SNAP" );
            clv_space* space = NULL;
            clv_load_error error;
            test_where.seed = at;
            clv_result result = clv_space_load( &def, wrong, size, &space, &error );
            if ( result == CLV_OK )
            {
                check_loaded_boxes( space );
                clv_result updated = clv_space_update( space );
                CHECK( updated == CLV_OK || updated == CLV_TOO_MANY_PAIRS );
                clv_id id;
                CHECK_OK( clv_space_add_one( space, test_cube( 0, 0, 0, 1 ), &id ) );
                updated = clv_space_update( space );
                CHECK( updated == CLV_OK || updated == CLV_TOO_MANY_PAIRS );
                loaded += 1;
            }
            else
            {
                CHECK( space == NULL && error.text[0] != '\0' );
                refused += 1;
            }
            clv_space_destroy( space );
            free( wrong );
        }
    }
    CHECK( loaded > 100 && refused > 1000 );
    free( bytes );
}

static void a_snapshot_needs_the_callback_that_it_had( void )
{
    clv_space_def def;
    size_t size;
    clv_space* space = NULL;
    clv_load_error error;
    uint8_t* bytes = small_file( CLV_SAVE_DISK, &size, &def );
    def.filter = NULL;
    CHECK_RESULT( clv_space_load( &def, bytes, size, &space, &error ), CLV_BAD_DEF );
    CHECK_TEXT( error.text, "the space had a filter callback: def.filter must be set" );
    CHECK( space == NULL && error.offset == UINT64_MAX );
    def.cookie = 0;
    CHECK_RESULT( clv_space_load( &def, bytes, size, &space, NULL ), CLV_BAD_DEF );
    free( bytes );
}

static void without_memory_nothing_is_left( void )
{
    for ( int form = CLV_SAVE_MEMORY; form <= CLV_SAVE_DISK; ++form )
    {
        size_t size;
        twins* t = begin_twins( 12 + (uint64_t)form );
        births( t, 100 );
        CHECK_OK( clv_space_update( t->plain ) );
        uint8_t* bytes = save_bytes( t->plain, (clv_save_form)form, &size );
        clv_space_def def = loader_def( &t->def, 1 );
        clv_result result = CLV_OUT_OF_MEMORY;
        for ( uint64_t refused = 1; result != CLV_OK; ++refused )
        {
            heap small = { .refuse_from = refused, .refuse_count = 1 };
            def.allocator = heap_hooks( &small );
            clv_space* space = NULL;
            clv_load_error error;
            result = clv_space_load( &def, bytes, size, &space, &error );
            CHECK( result == CLV_OK || ( result == CLV_OUT_OF_MEMORY && space == NULL && small.bytes == 0 ) );
            clv_space_destroy( space );
            CHECK_EQUAL( small.bytes, 0 );
        }
        free( bytes );
        end_twins( t );
    }
}

// Their structure is made anew: the same sets, and sorted lists alike.
static void other_methods_find_the_same_sets( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        test_variant variant = test_variant_at( i );
        if ( !test_variant_is_usual( variant ) )
        {
            continue;
        }
        test_variant_enter( variant );
        clv_space* space = test_space_make( variant, NULL );
        test_random random = test_random_make( 3 );
        clv_aabb boxes[200];
        clv_id ids[200];
        for ( uint32_t k = 0; k < 200; ++k )
        {
            boxes[k] = test_crowd_box( TEST_CROWD_SPREAD, 200, &random );
        }
        CHECK_OK( clv_space_add( space, boxes, 200, ids ) );
        for ( uint32_t frame = 0; frame < 6; ++frame )
        {
            CHECK_OK( clv_space_move( space, ids, boxes, 200 ) );
            CHECK_OK( clv_space_update( space ) );
            clv_pair_view view = clv_space_pairs( space );
            uint64_t hash = test_set_hash( view.pairs, view.count ), count = view.count;
            size_t size;
            uint8_t* bytes = save_bytes( space, (clv_save_form)( frame % 2 ), &size );
            clv_space_def def = clv_default_space_def();
            clv_space* loaded = load_bytes( &def, bytes, size );
            CHECK_TEXT( clv_space_method( loaded ), variant.method->name );
            CHECK_OK( clv_space_update( loaded ) );
            view = clv_space_pairs( loaded );
            CHECK_EQUAL( view.count, count );
            CHECK_EQUAL( test_set_hash( view.pairs, view.count ), hash );
            clv_space_destroy( space );
            free( bytes );
            space = loaded;
            for ( uint32_t k = 0; k < 200; ++k )
            {
                boxes[k] = test_crowd_step( TEST_CROWD_SPREAD, boxes[k], &random );
            }
        }
        clv_space_destroy( space );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_loaded_space_goes_on_as_the_saved_one ),
        TEST_CASE( a_space_from_disk_has_the_same_sets_events_and_ids ),
        TEST_CASE( memory_and_sinks_get_the_same_bytes ),
        TEST_CASE( numbers_that_are_missing_are_refused_where_they_end ),
        TEST_CASE( every_changed_byte_and_every_cut_is_refused ),
        TEST_CASE( wrong_values_with_right_sums_do_no_harm ),
        TEST_CASE( a_snapshot_needs_the_callback_that_it_had ),
        TEST_CASE( without_memory_nothing_is_left ),
        TEST_CASE( other_methods_find_the_same_sets ),
    };
    return test_run( "save", cases, TEST_COUNT( cases ), argc, argv );
}
