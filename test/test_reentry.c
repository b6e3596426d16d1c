// SPDX-License-Identifier: MIT
// Callbacks and hooks that call the space they are called by: every call that would change it is refused and
// touches nothing, from any of them; reading is defined where the header allows it.
#include "heap.h"

#include <stdlib.h>
#include <string.h>

enum
{
    BOXES = 200,
    CALLS = 21
};

typedef enum caller
{
    BY_FILTER,
    BY_VISITOR,
    BY_LOGGER,
    BY_ALLOCATE,
    BY_RELEASE,
    BY_TASKS,
    BY_ASSERT,
    CALLERS
} caller;

typedef struct intruder
{
    heap memory;
    clv_allocator hooks; ///< of that heap
    clv_space* space;    ///< NULL: leave it alone
    clv_id ids[BOXES];
    clv_aabb boxes[BOXES];
    caller who;
    bool is_inside;
    uint32_t attempts[CALLERS];
    uint32_t openings; ///< calls that led to the assert hook's
    uint32_t refusals; ///< asserted
} intruder;

static bool see_nothing( const clv_pair* pairs, size_t count, void* user )
{
    (void)pairs;
    (void)count;
    (void)user;
    CHECK( false ); // nothing is done, so nothing is called
    return true;
}

static clv_result change( intruder* it, uint32_t call )
{
    clv_space* space = it->space;
    uint64_t value = 7;
    float margin = 1;
    bool is_static = true;
    clv_margin_rule rule = { 1, 1, 1 };
    clv_add_def def = clv_default_add_def();
    def.boxes = it->boxes;
    clv_filter filter = { 1, 0, 0 };
    clv_id id = { 77, 77 };
    clv_box_stream stream = { &it->boxes[0].lower.x, &it->boxes[0].upper.x, sizeof( clv_aabb ) };
    switch ( call )
    {
    case 0: return clv_space_add( space, it->boxes, 2, NULL );
    case 1: return clv_space_add_strided( space, stream, BOXES, NULL );
    case 2: return clv_space_move( space, it->ids, it->boxes + 1, 2 );
    case 3: return clv_space_move_strided( space, it->ids + 1, stream, 1 );
    case 4: return clv_space_remove( space, it->ids, BOXES );
    case 5: return clv_space_add_one( space, it->boxes[0], &id );
    case 6: return clv_space_move_one( space, it->ids[0], it->boxes[1] );
    case 7: return clv_space_remove_one( space, it->ids[0] );
    case 8: return clv_space_set_user_data( space, it->ids, &value, 1 );
    case 9: return clv_space_set_margin( space, it->ids, &margin, 1 );
    case 10: return clv_space_set_filter( space, it->ids, &filter, 1 );
    case 11: return clv_space_refilter( space, it->ids, BOXES );
    case 12: return clv_space_set_static( space, it->ids, &is_static, 1 );
    case 13: return clv_space_update( space );
    case 14: return clv_space_visit( space, see_nothing, NULL );
    case 15: return clv_space_set_motion( space, it->ids, &it->boxes[0].lower, 1 );
    case 16: return clv_space_set_margin_rule( space, it->ids, &rule, 1 );
    case 17: return clv_space_add_with( space, &def, 2, NULL );
    case 18: return clv_space_shrink( space );
    case 19: return clv_space_move_all( space, it->boxes, BOXES );
    default: return clv_space_refresh( space );
    }
}

// Everything there is, from inside.
static void intrude( intruder* it, caller who )
{
    if ( it->space == NULL || it->is_inside || it->who != who )
    {
        return;
    }
    it->is_inside = true;
    it->attempts[who] += 1;
    clv_result code = clv_space_error( it->space ).code;
    for ( uint32_t call = 0; call < CALLS; ++call )
    {
        CHECK_RESULT( change( it, call ), CLV_BUSY );
    }
    clv_space_clear( it->space );
    clv_space_destroy( it->space );
    CHECK_EQUAL( clv_space_error( it->space ).code, code );
    it->is_inside = false;
}

static void read_all( const intruder* it, bool makes_lists )
{
    const clv_space* space = it->space;
    clv_pair_view view = clv_space_pairs( space );
    clv_event_view events = clv_space_events( space );
    if ( makes_lists )
    {
        CHECK( !view.valid && view.count == 0 && view.pairs == NULL );
        CHECK( events.begun_count == 0 && events.ended_count == 0 );
        clv_stats stats = clv_space_stats( space );
        CHECK( stats.pair_count == 0 && stats.candidate_count == 0 && stats.test_count == 0 );
    }
    CHECK_EQUAL( clv_space_stats( space ).object_count, clv_space_object_count( space ) );
    for ( uint32_t i = 0; i < clv_space_object_count( space ); ++i )
    {
        clv_aabb box;
        CHECK_OK( clv_space_get_box( space, it->ids[i], &box ) );
        CHECK( memcmp( &box, &it->boxes[i], sizeof( box ) ) == 0 );
        CHECK( clv_id_equals( clv_space_id_at( space, it->ids[i].index ), it->ids[i] ) );
    }
}

static bool filter( const clv_space* space, clv_pair pair, void* user )
{
    intruder* it = user;
    if ( it->space != NULL && pair.a % 16 == 0 )
    {
        CHECK( space == it->space );
        read_all( it, true );
        intrude( it, BY_FILTER );
        if ( it->who == BY_ASSERT ) // a call has to be refused for it to be called
        {
            it->openings += 1;
            clv_space_clear( it->space );
        }
    }
    return pair.a % 2 == 0;
}

static bool visitor( const clv_pair* pairs, size_t count, void* user )
{
    intruder* it = user;
    uint64_t hash = test_order_hash( pairs, count );
    if ( it->space != NULL )
    {
        read_all( it, true );
        intrude( it, BY_VISITOR );
    }
    CHECK_EQUAL( test_order_hash( pairs, count ), hash );
    return true;
}

static void logger( clv_log_level level, const char* line, void* user )
{
    (void)level;
    intruder* it = user;
    if ( it->space != NULL )
    {
        CHECK( strlen( line ) > 0 );
        read_all( it, false );
        intrude( it, BY_LOGGER );
    }
}

static void* allocate( size_t size, size_t alignment, void* user )
{
    intruder* it = user;
    intrude( it, BY_ALLOCATE );
    return it->hooks.allocate( size, alignment, it->hooks.user );
}

static void release( void* memory, size_t size, size_t alignment, void* user )
{
    intruder* it = user;
    intrude( it, BY_RELEASE );
    it->hooks.release( memory, size, alignment, it->hooks.user );
}

static void run( clv_task* task, uint32_t count, void* context, void* user )
{
    intrude( user, BY_TASKS );
    for ( uint32_t i = 0; i < count; ++i )
    {
        task( i, i % 2, context );
    }
}

static bool assert_hook( const char* condition, const char* file, int line, void* user )
{
    (void)file;
    (void)line;
    intruder* it = user;
    if ( strstr( condition, "called_from_its_own_callback_or_hook" ) == NULL )
    {
        test_fail( __FILE__, __LINE__, "asserted %s", condition );
    }
    it->refusals += 1;
    if ( it->who == BY_ASSERT && it->space != NULL )
    {
        it->attempts[BY_ASSERT] += 1;
        // and the callback is not called again
        CHECK_RESULT( clv_space_remove( it->space, it->ids, 2 ), CLV_BUSY );
    }
    return false;
}

static clv_space_def intruders_def( intruder* it, uint32_t kind )
{
    clv_space_def def = clv_default_space_def();
    it->hooks = heap_hooks( &it->memory );
    def.allocator = ( clv_allocator ){ allocate, release, it };
    def.logger = ( clv_logger ){ logger, it };
    def.tasks = ( clv_task_hooks ){ run, it };
    def.filter = filter;
    def.filter_user = it;
    def.sorted = kind == 1;
    def.events = kind == 2;
    def.settings = test_small;
    return def;
}

// One life with calls from inside, the same as without.
static uint64_t play( intruder* it, test_variant variant, uint32_t kind )
{
    clv_space_def def = intruders_def( it, kind );
    clv_space* space = test_space_make( variant, &def );
    test_random random = test_random_make( 5 );
    for ( uint32_t i = 0; i < BOXES; ++i )
    {
        it->boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, BOXES, &random );
    }
    CHECK_OK( clv_space_add( space, it->boxes, BOXES, it->ids ) );
    it->space = it->who < CALLERS ? space : NULL;
    uint64_t hash = 0;
    for ( uint32_t frame = 0; frame < 6; ++frame )
    {
        test_where.frame = frame;
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        CHECK( view.valid && view.count > 20 );
        hash = test_mix( hash ^ test_order_hash( view.pairs, view.count ) );
        if ( kind == 0 )
        {
            CHECK_OK( clv_space_visit( space, visitor, it ) );
        }
        // Refused, so that the logger is called; then a step for all callers.
        CHECK_RESULT( clv_space_remove_one( space, clv_null_id() ), CLV_BAD_ID );
        for ( uint32_t i = 0; i < BOXES; ++i )
        {
            it->boxes[i] = test_crowd_step( TEST_CROWD_SPREAD, it->boxes[i], &random );
        }
        CHECK_OK( clv_space_move( space, it->ids, it->boxes, BOXES ) );
        uint64_t values[BOXES] = { 0 };
        CHECK_OK( clv_space_set_user_data( space, it->ids, values, BOXES ) );
        CHECK_OK( clv_space_shrink( space ) );
    }
    test_snapshot after = test_snapshot_take( space );
    hash = test_mix( hash ^ after.stats.object_count ^ after.stats.update_count << 32 );
    test_snapshot_free( &after );
    it->is_inside = true; // no more reading of what goes
    clv_space_destroy( space );
    it->space = NULL;
    CHECK_EQUAL( it->memory.bytes, 0 );
    return hash;
}

static void calls_from_inside_are_refused( void )
{
    uint32_t attempts[CALLERS] = { 0 };
    for ( uint32_t i = 0; i < test_variant_count() * 3; ++i )
    {
        test_variant variant = test_variant_at( i / 3 );
        uint64_t expected = 0;
        for ( int who = CALLERS; who >= 0; --who )
        {
            intruder* it = test_alloc( 1, sizeof( intruder ) );
            memset( it, 0, sizeof( *it ) );
            it->who = (caller)who;
            clv_set_assert_hook( assert_hook, it );
            uint64_t hash = play( it, variant, i % 3 );
            clv_set_assert_hook( NULL, NULL );
            expected = who == CALLERS ? hash : expected;
            CHECK_EQUAL( hash, expected );
            uint32_t sum = 0;
            for ( uint32_t k = 0; k < CALLERS; ++k )
            {
                attempts[k] += it->attempts[k];
                sum += k != BY_ASSERT ? it->attempts[k] : 0;
            }
#ifdef NDEBUG
            CHECK_EQUAL( it->refusals, 0 );
#else
            CHECK_EQUAL( it->refusals, sum * ( CALLS + 2 ) + it->openings );
            CHECK_EQUAL( it->attempts[BY_ASSERT], it->openings );
#endif
            free( it );
        }
    }
    for ( uint32_t k = 0; k < BY_ASSERT; ++k )
    {
        CHECK( attempts[k] > 0 );
    }
}

// In the middle of being destroyed, and while it is made.
static void a_space_that_comes_or_goes_takes_no_calls( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        intruder* it = test_alloc( 1, sizeof( intruder ) );
        memset( it, 0, sizeof( *it ) );
        clv_set_assert_hook( assert_hook, it );
        clv_space_def def = intruders_def( it, 0 );
        clv_space* space = test_space_make( test_variant_at( i ), &def );
        CHECK_OK( clv_space_add_one( space, test_cube( 0, 0, 0, 1 ), NULL ) );
        CHECK_OK( clv_space_update( space ) );
        it->who = BY_RELEASE;
        it->space = space;
        clv_space_destroy( space );
        clv_set_assert_hook( NULL, NULL );
        CHECK( it->attempts[BY_RELEASE] > 0 );
        CHECK_EQUAL( it->memory.bytes, 0 );
        free( it );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( calls_from_inside_are_refused ),
        TEST_CASE( a_space_that_comes_or_goes_takes_no_calls ),
    };
    return test_run( "reentry", cases, TEST_COUNT( cases ), argc, argv );
}
