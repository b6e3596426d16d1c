// SPDX-License-Identifier: MIT
// The table of methods, their settings, and each method alone, below the space: boxes by slot in, pairs out.
#include "heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the table

static void rows_are_complete_and_named_once( void )
{
    CHECK( clv_method_count() > 0 );
    for ( uint32_t i = 0; i < clv_method_count(); ++i )
    {
        const clv_method* row = clv_method_at( i );
        CHECK( row != NULL && row->name != NULL && strlen( row->name ) > 0 );
        test_where.method = row->name;
        CHECK( row->family != NULL && row->source != NULL && row->licence != NULL );
        CHECK( row->time_cost != NULL && row->space_cost != NULL );
        CHECK( row->remarks == NULL || strlen( row->remarks ) > 0 );
        CHECK( row->create != NULL && row->destroy != NULL && row->update != NULL );
        CHECK( row->param_count <= CLV_METHOD_PARAMS );
        CHECK( clv_method_find( row->name ) == row );
    }
    CHECK( clv_method_find( METHOD_DEFAULT ) != NULL );
    CHECK( clv_method_find( "no-such-method" ) == NULL );
    CHECK( clv_method_find( "" ) == NULL );
}

static void params_have_defaults_within_their_range( void )
{
    for ( uint32_t i = 0; i < clv_method_count(); ++i )
    {
        const clv_method* row = clv_method_at( i );
        test_where.method = row->name;
        for ( uint32_t p = 0; p < row->param_count; ++p )
        {
            const clv_method_param* param = &row->params[p];
            test_where.note = param->name;
            CHECK( strchr( param->name, '.' ) != NULL );
            CHECK( param->least <= param->value && param->value <= param->most );
            CHECK( !param->whole || param->value == floor( param->value ) );
            CHECK( param->help != NULL && strlen( param->help ) > 0 );
        }
    }
}

static void check_setting( const clv_method* row, uint32_t param, double value, bool fine )
{
    char settings[128];
    snprintf( settings, sizeof( settings ), "%s=%.17g", row->params[param].name, value );
    double values[CLV_METHOD_PARAMS];
    char text[256] = "";
    test_where.note = settings;
    bool parsed = clv_method_parse_settings( row, settings, values, text, sizeof( text ) );
    test_where.note = NULL;
    CHECK_EQUAL( parsed, fine );
    CHECK( fine ? values[param] == value : strstr( text, row->params[param].name ) != NULL );
}

static void settings_are_taken_within_their_range_and_refused_outside( void )
{
    for ( uint32_t i = 0; i < clv_method_count(); ++i )
    {
        const clv_method* row = clv_method_at( i );
        test_where.method = row->name;
        for ( uint32_t p = 0; p < row->param_count; ++p )
        {
            const clv_method_param* param = &row->params[p];
            check_setting( row, p, param->value, true );
            check_setting( row, p, param->least, true );
            check_setting( row, p, param->most, true );
            check_setting( row, p, param->least - 1.0, false );
            check_setting( row, p, param->most * 2.0 + 1.0, false );
            check_setting( row, p, NAN, false );
            check_setting( row, p, INFINITY, false );
            if ( param->whole )
            {
                check_setting( row, p, param->least + 0.5, false );
            }
        }
    }
}

static void malformed_settings_are_refused_with_a_sentence( void )
{
    const char* malformed[] = { "x", "=", "=1", "no.such=1", "no.such=", ",", "no.such", "a=b=c", "\n",
        "kd.leaf=1,,", "....=0x", "no.such=1,no.such=2" };
    for ( uint32_t i = 0; i < clv_method_count(); ++i )
    {
        const clv_method* row = clv_method_at( i );
        test_where.method = row->name;
        double values[CLV_METHOD_PARAMS];
        char text[256] = "";
        CHECK( clv_method_parse_settings( row, NULL, values, text, sizeof( text ) ) );
        for ( uint32_t p = 0; p < row->param_count; ++p )
        {
            CHECK( values[p] == row->params[p].value );
        }
        for ( size_t m = 0; m < TEST_COUNT( malformed ); ++m )
        {
            test_where.note = malformed[m];
            text[0] = '\0';
            CHECK( !clv_method_parse_settings( row, malformed[m], values, text, sizeof( text ) ) );
            CHECK( strlen( text ) > 0 );
        }
        test_where.note = NULL;
    }
}

// ---- a method alone

// A sink that never has more room than it must, moves at every call, and refuses when told.
typedef struct narrow_sink
{
    clv_pair_sink sink;
    clv_pair* all;
    uint64_t all_count, all_capacity;
    uint64_t refuse_after; ///< pairs
} narrow_sink;

static void narrow_drain( narrow_sink* narrow )
{
    if ( narrow->all_count + narrow->sink.count > narrow->all_capacity )
    {
        narrow->all_capacity = 2 * narrow->all_capacity + narrow->sink.count;
        narrow->all = realloc( narrow->all, (size_t)narrow->all_capacity * sizeof( clv_pair ) );
        CHECK( narrow->all != NULL );
    }
    for ( uint64_t i = 0; i < narrow->sink.count; ++i )
    {
        narrow->all[narrow->all_count++] = narrow->sink.pairs[i];
    }
    narrow->sink.count = 0;
}

static clv_result narrow_make_room( clv_pair_sink* sink )
{
    narrow_sink* narrow = (narrow_sink*)sink; // its first member
    CHECK( sink->count <= sink->capacity );
    narrow_drain( narrow );
    if ( narrow->all_count > narrow->refuse_after )
    {
        return CLV_TOO_MANY_PAIRS;
    }
    free( sink->pairs );
    sink->capacity = CLV_PAIR_SINK_ROOM;
    sink->pairs = test_alloc( CLV_PAIR_SINK_ROOM, sizeof( clv_pair ) );
    return CLV_OK;
}

static void narrow_open( narrow_sink* narrow, uint64_t refuse_after )
{
    memset( narrow, 0, sizeof( *narrow ) );
    narrow->sink.make_room = narrow_make_room;
    narrow->refuse_after = refuse_after;
}

static void narrow_close( narrow_sink* narrow )
{
    free( narrow->sink.pairs );
    free( narrow->all );
}

enum
{
    SLOTS = 300,
};

typedef struct slots
{
    clv_aabb boxes[SLOTS];
    bool alive[SLOTS];
    uint32_t live[SLOTS];
    uint32_t live_count;
} slots;

// Some slots die, some come back; the dead hold NaN, which must not be read and fails every comparison.
static bool slots_change( slots* world, test_random* random, bool with_holes )
{
    bool changed = false;
    world->live_count = 0;
    for ( uint32_t slot = 0; slot < SLOTS; ++slot )
    {
        bool was = world->alive[slot];
        world->alive[slot] =
            !with_holes || ( was ? !test_random_chance( random, 10 ) : test_random_chance( random, 40 ) );
        changed = changed || was != world->alive[slot];
        world->boxes[slot] = world->alive[slot] ? test_crowd_box( TEST_CROWD_MIXED, SLOTS, random )
                                                : test_box( NAN, NAN, NAN, NAN, NAN, NAN );
        if ( world->alive[slot] )
        {
            world->live[world->live_count++] = slot;
        }
    }
    return changed;
}

static uint64_t slots_pair_hash( const slots* world, uint64_t* count )
{
    uint64_t hash = 0;
    *count = 0;
    for ( uint32_t i = 0; i < world->live_count; ++i )
    {
        for ( uint32_t j = i + 1; j < world->live_count; ++j )
        {
            clv_pair pair = { world->live[i], world->live[j] };
            if ( clv_aabb_overlap( world->boxes[pair.a], world->boxes[pair.b] ) )
            {
                hash += test_set_hash( &pair, 1 );
                *count += 1;
            }
        }
    }
    return hash;
}

static void check_state( const clv_method* row, void* state )
{
    char text[256] = "";
    if ( row->check != NULL && !row->check( state, text, sizeof( text ) ) )
    {
        test_fail( __FILE__, __LINE__, "invariant broken: %s", text );
    }
}

static clv_result update_once( const clv_method* row, void* state, const slots* world, bool changed,
    uint64_t refuse_after, narrow_sink* narrow )
{
    bool whole = world->live_count == SLOTS;
    clv_method_input input = { sizeof( clv_method_input ), world->boxes, whole ? NULL : world->live,
        world->live_count, SLOTS, changed, NULL, false, UINT64_MAX };
    clv_method_counters counters = { 0 };
    narrow_open( narrow, refuse_after );
    clv_result result = row->update( state, &input, &narrow->sink, &counters );
    narrow_drain( narrow );
    return result;
}

static void check_update( const clv_method* row, void* state, const slots* world, bool changed )
{
    narrow_sink narrow;
    CHECK_OK( update_once( row, state, world, changed, UINT64_MAX, &narrow ) );
    check_state( row, state );
    uint64_t expected_count;
    uint64_t expected = slots_pair_hash( world, &expected_count );
    for ( uint64_t i = 0; i < narrow.all_count; ++i )
    {
        CHECK( narrow.all[i].a < narrow.all[i].b );
    }
    CHECK_EQUAL( narrow.all_count, expected_count );
    CHECK_EQUAL( test_set_hash( narrow.all, narrow.all_count ), expected );
    narrow_close( &narrow );
}

static uint32_t reasons; // of the method at work; the tests do not ask

static clv_method_context make_context( test_variant variant, base_memory* memory, task_runner* tasks )
{
    CHECK( clv_task_runner_start( tasks, variant.worker_count, 0, ( clv_task_hooks ){ 0 }, memory ) );
    clv_isa isa = variant.isa != CLV_ISA_AUTO ? variant.isa : CLV_ISA_SCALAR;
    clv_method_context context = clv_method_host_context( memory, tasks, isa, &reasons );
    CHECK( clv_method_parse_settings( variant.method, NULL, context.params, NULL, 0 ) );
    return context;
}

static void methods_fill_a_narrow_sink_and_survive_its_refusal( void )
{
    for ( uint32_t v = 0; v < test_variant_count(); ++v )
    {
        test_variant variant = test_variant_at( v );
        test_variant_enter( variant );
        heap hooks = { 0 };
        base_memory memory = clv_base_memory_make( heap_hooks( &hooks ) );
        task_runner tasks = { 0 };
        clv_method_context context = make_context( variant, &memory, &tasks );
        void* state = variant.method->create( &context );
        CHECK( state != NULL );

        test_random random = test_random_make( 3 );
        slots world = { .live_count = 0 };
        for ( uint32_t frame = 0; frame < 24; ++frame )
        {
            test_where.frame = frame;
            bool changed = slots_change( &world, &random, frame % 8 >= 4 );
            if ( frame % 3 == 1 )
            {
                narrow_sink narrow;
                CHECK_RESULT(
                    update_once( variant.method, state, &world, changed, 70, &narrow ), CLV_TOO_MANY_PAIRS );
                narrow_close( &narrow );
                check_state( variant.method, state );
            }
            if ( frame % 5 == 4 && variant.method->shrink != NULL )
            {
                variant.method->shrink( state );
                check_state( variant.method, state );
            }
            check_update( variant.method, state, &world, changed );
        }
        variant.method->destroy( state );
        clv_task_runner_stop( &tasks, &memory );
        CHECK_EQUAL( hooks.block_count, 0 );
    }
}

// ---- the door

static clv_method a_row( const char* name )
{
    clv_method row = *clv_method_find( "brute" );
    row.name = name;
    return row;
}

static void check_refused( const clv_method* row, const char* reason )
{
    uint32_t count = clv_method_count();
    CHECK_RESULT( clv_method_register( row ), CLV_BAD_ARGUMENT );
    if ( strstr( clv_method_error(), reason ) == NULL )
    {
        test_fail( __FILE__, __LINE__, "'%s' does not say '%s'", clv_method_error(), reason );
    }
    CHECK_EQUAL( clv_method_count(), count );
}

static void invalid_rows_are_refused_with_a_reason( void )
{
    clv_method row = a_row( "brute" );
    check_refused( NULL, "NULL" );
    check_refused( &row, "there is a method brute already" );
    static const char* const names[] = { NULL, "", "two words", "a,b", "sap@avx2", "Upper", "line\n",
        "a-name-of-more-letters-than-any-table-has-room-for" };
    for ( size_t i = 0; i < TEST_COUNT( names ); ++i )
    {
        row = a_row( names[i] );
        check_refused( &row, "name must be" );
    }
    row = a_row( "new" );
    row.size -= 8;
    check_refused( &row, "bytes" );
    row = a_row( "new" );
    row.version += 1;
    check_refused( &row, "a method of version 2" );
    row = a_row( "new" );
    row.licence = NULL;
    check_refused( &row, "must be texts" );
    row = a_row( "new" );
    row.update = NULL;
    check_refused( &row, "must not be NULL" );
    CHECK( clv_method_find( "new" ) == NULL );
}

static void invalid_parameters_are_refused_too( void )
{
    static const clv_method_param bad[] = {
        { NULL, 1, 0, 2, false, "no name" },
        { "a=b", 1, 0, 2, false, "no name either" },
        { "new.p", 1, 0, 2, false, NULL },
        { "new.p", 3, 0, 2, false, "out of range" },
        { "new.p", (double)NAN, 0, 2, false, "no number" },
    };
    clv_method row = a_row( "new" );
    for ( size_t i = 0; i < TEST_COUNT( bad ); ++i )
    {
        row.params = &bad[i];
        row.param_count = 1;
        check_refused( &row, "parameter 0" );
    }
    row.param_count = CLV_METHOD_PARAMS + 1;
    check_refused( &row, "of at most 16" );
    row.params = NULL;
    row.param_count = 1;
    check_refused( &row, "parameters" );
}

static void a_registered_row_is_found_and_used( void )
{
    static clv_method row;
    static clv_method absent;
    row = a_row( "test-brute" );
    uint32_t count = clv_method_count();
    CHECK_OK( clv_method_register( &row ) );
    CHECK_TEXT( clv_method_error(), "" );
    CHECK( clv_method_count() == count + 1 && clv_method_at( count ) == &row );
    CHECK( clv_method_at( count + 1 ) == NULL && clv_method_find( "test-brute" ) == &row );
    check_refused( &row, "already" );
    clv_space_def def = clv_default_space_def();
    def.method = "test-brute";
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_TEXT( clv_space_method( space ), "test-brute" );
    clv_space_destroy( space );

    absent = ( clv_method ){ sizeof( clv_method ), CLV_METHOD_VERSION, .name = "test-absent", .family = "-",
        .source = "-", .licence = "-", .time_cost = "-", .space_cost = "-", .missing = "not installed" };
    CHECK_OK( clv_method_register( &absent ) );
    def.method = "test-absent";
    CHECK_RESULT( clv_space_create( &def, &space ), CLV_UNSUPPORTED );
    CHECK_OK( clv_methods_register() ); // again
    CHECK_EQUAL( clv_method_count(), count + 2 );
}

// The very last: nothing can be registered after it.
static void a_full_list_takes_no_more( void )
{
    static clv_method rows[CLV_METHODS_MOST];
    static char names[CLV_METHODS_MOST][16];
    uint32_t count = clv_method_count();
    for ( uint32_t i = count; i <= CLV_METHODS_MOST; ++i )
    {
        clv_method* row = &rows[i - count];
        snprintf( names[i - count], sizeof( names[0] ), "test-%u", i );
        *row = a_row( names[i - count] );
        if ( i < CLV_METHODS_MOST )
        {
            CHECK_OK( clv_method_register( row ) );
            continue;
        }
        check_refused( row, "one too many" );
    }
    CHECK( clv_method_find( names[0] ) == &rows[0] );
    CHECK_OK( clv_methods_register() ); // all known
}

static void what_a_method_charges_is_the_spaces( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    task_runner tasks = { 0 };
    clv_method_context context = clv_method_host_context( &memory, &tasks, CLV_ISA_SCALAR, &reasons );
    void* user = context.account.user;
    void* data = context.memory.allocate( 100, 64, context.memory.user );
    CHECK( data != NULL && context.account.held( user ) == 100 );
    context.account.charge( 1000, user );
    CHECK_EQUAL( context.account.held( user ), 1100 );
    context.account.charge( -5000, user ); // more than was charged
    CHECK_EQUAL( context.account.held( user ), 100 );
    CHECK_EQUAL( memory.peak_bytes, 1100 );
    context.memory.release( data, 100, 64, context.memory.user );
    CHECK_EQUAL( context.account.held( user ), 0 );
    CHECK( context.memory.allocate( 100, 4096, context.memory.user ) == NULL ); // no such alignment
    context.logger.write( CLV_LOG_INFO, "to nowhere", context.logger.user );
}

static void count_call( void* data )
{
    *(int*)data += 1;
}

static void a_watched_block_is_told_before_it_goes( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    task_runner tasks = { 0 };
    clv_method_context context = clv_method_host_context( &memory, &tasks, CLV_ISA_SCALAR, &reasons );
    const clv_method_watch* watch = &context.watch;
    void *block = NULL, *other = NULL;
    uint64_t capacity = 0, other_capacity = 0;
    int calls = 0;
    CHECK( clv_base_memory_reserve( &memory, &block, &capacity, 0, 10, 8 ) );
    CHECK( clv_base_memory_reserve( &memory, &other, &other_capacity, 0, 10, 8 ) );
    watch->set( block, count_call, &calls, watch->user );
    CHECK( clv_base_memory_resize( &memory, &other, &other_capacity, 0, 0, 8 ) );
    CHECK_EQUAL( calls, 0 );
    CHECK( clv_base_memory_resize( &memory, &block, &capacity, 5, 20, 8 ) );
    CHECK_EQUAL( calls, 1 );
    watch->set( block, count_call, &calls, watch->user );
    watch->set( NULL, NULL, NULL, watch->user );
    CHECK( clv_base_memory_resize( &memory, &block, &capacity, 0, 0, 8 ) );
    CHECK_EQUAL( calls, 1 );
    CHECK_EQUAL( memory.bytes, 0 );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( rows_are_complete_and_named_once ),
        TEST_CASE( params_have_defaults_within_their_range ),
        TEST_CASE( settings_are_taken_within_their_range_and_refused_outside ),
        TEST_CASE( malformed_settings_are_refused_with_a_sentence ),
        TEST_CASE( methods_fill_a_narrow_sink_and_survive_its_refusal ),
        TEST_CASE( invalid_rows_are_refused_with_a_reason ),
        TEST_CASE( invalid_parameters_are_refused_too ),
        TEST_CASE( what_a_method_charges_is_the_spaces ),
        TEST_CASE( a_watched_block_is_told_before_it_goes ),
        TEST_CASE( a_registered_row_is_found_and_used ), // it adds rows
        TEST_CASE( a_full_list_takes_no_more ),
    };
    return test_run( "method", cases, TEST_COUNT( cases ), argc, argv );
}
