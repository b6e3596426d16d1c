// SPDX-License-Identifier: MIT
#ifndef _WIN32
#define _POSIX_C_SOURCE 200809L // setenv
#endif
#include "heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct heard
{
    uint32_t count;
    clv_log_level level; ///< of the last line
    char line[512];
} heard;

static void hear( clv_log_level level, const char* line, void* user )
{
    heard* log = user;
    log->count += 1;
    log->level = level;
    snprintf( log->line, sizeof( log->line ), "%s", line );
}

static void check_refused( clv_space_def def, clv_result expected, const char* word )
{
    heard log = { 0 };
    heap hooks = { 0 };
    def.logger = ( clv_logger ){ hear, &log };
    if ( def.allocator.allocate == NULL && def.allocator.release == NULL )
    {
        def.allocator = heap_hooks( &hooks );
    }
    clv_space* space = (clv_space*)&log; // something that is not NULL
    CHECK_RESULT( clv_space_create( &def, &space ), expected );
    CHECK( space == NULL );
    CHECK( log.count > 0 );
    CHECK_EQUAL( log.level, CLV_LOG_ERROR );
    CHECK( strlen( log.line ) > 0 );
    for ( const char* c = log.line; *c != '\0'; ++c )
    {
        CHECK( (unsigned char)*c >= 32 && *c != 127 );
    }
    if ( strstr( log.line, word ) == NULL )
    {
        test_fail( __FILE__, __LINE__, "\"%s\" does not say \"%s\"", log.line, word );
    }
    CHECK_EQUAL( hooks.block_count, 0 );
}

static void the_default_def_makes_a_space( void )
{
    clv_space_def def = clv_default_space_def();
    CHECK_EQUAL( def.size, sizeof( clv_space_def ) );
    CHECK( def.cookie != 0 );
    CHECK_EQUAL( def.max_pairs, 0 );
    CHECK_EQUAL( def.worker_count, 1 );
    CHECK( def.margin == 0.0f && def.margin_by_size == 0.0f && def.margin_by_speed == 0.0f );
    CHECK( !def.sorted && !def.events && !def.skip_static_pairs && !def.stage_times );
    CHECK_EQUAL( def.isa, CLV_ISA_AUTO );
    CHECK( def.filter == NULL && def.allocator.allocate == NULL && def.logger.write == NULL );

    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK( clv_method_find( clv_space_method( space ) ) != NULL );
    CHECK( clv_space_isa( space ) != CLV_ISA_AUTO && clv_isa_is_supported( clv_space_isa( space ) ) );
    CHECK_RESULT( clv_space_error( space ).code, CLV_OK );
    CHECK( !clv_space_pairs( space ).valid );
    CHECK_EQUAL( clv_space_pairs( space ).count, 0 );
    CHECK_EQUAL( clv_space_object_count( space ), 0 );
    clv_space_destroy( space );
    clv_space_destroy( NULL );
}

static void every_variant_makes_a_space_and_says_which_it_is( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        test_variant variant = test_variant_at( i );
        clv_space* space = test_space_make( variant, NULL );
        CHECK_TEXT( clv_space_method( space ), variant.method->name );
        CHECK( variant.isa == CLV_ISA_AUTO || clv_space_isa( space ) == variant.isa );
        clv_space_destroy( space );
    }
}

static void a_def_without_its_default_function_is_refused( void )
{
    clv_space_def zeroed;
    memset( &zeroed, 0, sizeof( zeroed ) );
    clv_space* space = (clv_space*)&zeroed;
    CHECK_RESULT( clv_space_create( &zeroed, &space ), CLV_BAD_DEF );
    CHECK( space == NULL );

    // Nothing in such a def can be trusted, not even its logger.
    clv_space_def def;
    memset( &def, 0xA5, sizeof( def ) );
    CHECK_RESULT( clv_space_create( &def, &space ), CLV_BAD_DEF );
    CHECK( space == NULL );
    def = clv_default_space_def();
    def.cookie ^= 1;
    CHECK_RESULT( clv_space_create( &def, &space ), CLV_BAD_DEF );
    CHECK( space == NULL );
    def = clv_default_space_def();
    def.size = 0;
    CHECK_RESULT( clv_space_create( &def, &space ), CLV_BAD_DEF );
    CHECK( space == NULL );
}

static void unknown_methods_and_settings_are_refused_by_name( void )
{
    clv_space_def def = clv_default_space_def();
    def.method = "no-such-method";
    check_refused( def, CLV_BAD_DEF, "no-such-method" );
    def.method = "";
    check_refused( def, CLV_BAD_DEF, "method" );
    for ( uint32_t i = 0; i < clv_method_count(); ++i )
    {
        def.method = clv_method_at( i )->name;
        test_where.method = def.method;
        def.settings = "no.such=1";
        check_refused( def, CLV_BAD_DEF, "no.such" );
        def.settings = "rubbish";
        check_refused( def, CLV_BAD_DEF, "rubbish" );
    }
}

static void settings_out_of_range_are_refused_by_name( void )
{
    for ( uint32_t i = 0; i < clv_method_count(); ++i )
    {
        const clv_method* row = clv_method_at( i );
        test_where.method = row->name;
        for ( uint32_t p = 0; p < row->param_count; ++p )
        {
            char settings[128];
            clv_space_def def = clv_default_space_def();
            def.method = row->name;
            def.settings = settings;
            snprintf(
                settings, sizeof( settings ), "%s=%.17g", row->params[p].name, row->params[p].least - 1.0 );
            check_refused( def, CLV_BAD_DEF, row->params[p].name );
            snprintf( settings, sizeof( settings ), "%s=seven", row->params[p].name );
            check_refused( def, CLV_BAD_DEF, row->params[p].name );
        }
    }
}

static void bad_margins_are_refused( void )
{
    const float margins[] = { -1.0f, -1e-40f, NAN, INFINITY, -INFINITY };
    for ( size_t i = 0; i < TEST_COUNT( margins ); ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.margin = margins[i];
        test_where.frame = (uint32_t)i;
        check_refused( def, CLV_BAD_DEF, "margin" );
        def = clv_default_space_def();
        def.margin_by_size = margins[i];
        check_refused( def, CLV_BAD_DEF, "margin_by_size" );
        def = clv_default_space_def();
        def.margin_by_speed = margins[i];
        check_refused( def, CLV_BAD_DEF, "margin_by_speed" );
    }
}

static void impossible_numbers_of_workers_are_refused( void )
{
    const uint32_t counts[] = { 0, CLV_MAX_WORKERS + 1, UINT32_MAX };
    for ( size_t i = 0; i < TEST_COUNT( counts ); ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.worker_count = counts[i];
        test_where.frame = counts[i];
        check_refused( def, CLV_BAD_DEF, "worker_count" );
    }
}

static void impossible_times_to_spin_are_refused( void )
{
    const double times[] = { -1, -1e-300, NAN, INFINITY, CLV_MAX_SPIN_MS + 0.001 };
    for ( size_t i = 0; i < TEST_COUNT( times ); ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.worker_spin_ms = times[i];
        test_where.frame = (uint32_t)i;
        check_refused( def, CLV_BAD_DEF, "worker_spin_ms" );
    }
    clv_space_def def = clv_default_space_def();
    def.worker_count = 2;
    def.worker_spin_ms = CLV_MAX_SPIN_MS;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    clv_space_destroy( space ); // does not wait until its thread sleeps
}

static void methods_without_threads_work_on_the_callers( void )
{
    for ( uint32_t i = 0; i < clv_method_count(); ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.method = clv_method_at( i )->name;
        def.worker_count = 3;
        test_where.method = def.method;
        clv_space* space = NULL;
        CHECK_OK( clv_space_create( &def, &space ) );
        CHECK_EQUAL( clv_space_worker_count( space ), clv_method_at( i )->has_threads ? 3 : 1 );
        clv_space_destroy( space );
    }
}

static void instruction_sets_this_machine_lacks_are_unsupported( void )
{
    uint32_t lacking = 0;
    for ( int isa = 0; isa < CLV_ISA_COUNT; ++isa )
    {
        if ( !clv_isa_is_supported( (clv_isa)isa ) )
        {
            clv_space_def def = clv_default_space_def();
            def.isa = (clv_isa)isa;
            test_where.isa = (clv_isa)isa;
            check_refused( def, CLV_UNSUPPORTED, clv_isa_name( (clv_isa)isa ) );
            lacking += 1;
        }
    }
    CHECK( lacking > 0 ); // no machine has both AVX-512 and NEON
    clv_space_def def = clv_default_space_def();
    def.isa = (clv_isa)99;
    clv_space* space = NULL;
    clv_result result = clv_space_create( &def, &space );
    CHECK( result == CLV_BAD_DEF || result == CLV_UNSUPPORTED );
    CHECK( space == NULL );
}

static void half_an_allocator_is_refused( void )
{
    heap hooks = { 0 };
    clv_space_def def = clv_default_space_def();
    def.allocator = heap_hooks( &hooks );
    def.allocator.release = NULL;
    check_refused( def, CLV_BAD_DEF, "alloc" );
    def.allocator = heap_hooks( &hooks );
    def.allocator.allocate = NULL;
    check_refused( def, CLV_BAD_DEF, "alloc" );
    CHECK_EQUAL( hooks.allocate_count, 0 );
}

static void impossible_capacities_are_refused_without_harm( void )
{
    heap hooks = { 0 };
    clv_space_def def = clv_default_space_def();
    def.allocator = heap_hooks( &hooks );
    def.capacity = UINT32_MAX;
    clv_space* space = NULL;
    CHECK( clv_space_create( &def, &space ) != CLV_OK );
    CHECK( space == NULL );
    def.capacity = 0;
    def.pair_capacity = UINT64_MAX;
    CHECK( clv_space_create( &def, &space ) != CLV_OK );
    CHECK( space == NULL );
    CHECK_EQUAL( hooks.block_count, 0 );
}

static void the_def_is_copied( void )
{
    char settings[] = "";
    char name[64];
    snprintf( name, sizeof( name ), "%s", METHOD_DEFAULT );
    clv_space_def def = clv_default_space_def();
    def.method = name;
    def.settings = settings;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    memset( name, 'x', sizeof( name ) - 1 );
    memset( &def, 0xEE, sizeof( def ) );
    clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 1, 1, 1 ) };
    CHECK_OK( clv_space_add( space, boxes, 2, NULL ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 1 );
    CHECK( clv_method_find( clv_space_method( space ) ) != NULL );
    clv_space_destroy( space );
}

static void reserved_spaces_add_and_update_without_allocating_objects_anew( void )
{
    heap hooks = { 0 };
    clv_space_def def = clv_default_space_def();
    def.allocator = heap_hooks( &hooks );
    def.capacity = 1000;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    uint64_t before = hooks.allocate_count;
    clv_aabb boxes[1000];
    for ( uint32_t i = 0; i < 1000; ++i )
    {
        boxes[i] = test_cube( 3.0f * (float)i, 0, 0, 1 );
    }
    CHECK_OK( clv_space_add( space, boxes, 1000, NULL ) );
    CHECK_EQUAL( hooks.allocate_count, before );
    CHECK_OK( clv_space_add( space, boxes, 1000, NULL ) ); // the space still grows past it
    CHECK_EQUAL( clv_space_object_count( space ), 2000 );
    clv_space_destroy( space );
    CHECK_EQUAL( hooks.bytes, 0 );
}

static void set_isa_variable( const char* value )
{
#ifdef _WIN32
    _putenv_s( "CLEAVE_ISA", value != NULL ? value : "" );
#else
    CHECK( value != NULL ? setenv( "CLEAVE_ISA", value, 1 ) == 0 : unsetenv( "CLEAVE_ISA" ) == 0 );
#endif
}

// Every one of them, in every word that comes from elsewhere and is repeated in an error message.
static void control_characters_do_not_reach_the_logger( void )
{
    char kept[64];
    const char* before = getenv( "CLEAVE_ISA" );
    snprintf( kept, sizeof( kept ), "%s", before != NULL ? before : "" );
    for ( int code = 1; code < 256; ++code )
    {
        char name[] = "x?[31m\n\ty";
        name[1] = (char)code;
        char settings[32];
        snprintf( settings, sizeof( settings ), "%s=1", name );
        clv_space_def def = clv_default_space_def();
        def.method = name;
        check_refused( def, CLV_BAD_DEF, "[31m" );
        def.method = NULL;
        def.settings = settings;
        check_refused( def, CLV_BAD_DEF, code != ',' ? "[31m" : "x" );
        def.settings = NULL;
        set_isa_variable( name );
        check_refused( def, CLV_UNSUPPORTED, "[31m" );
        set_isa_variable( before != NULL ? kept : NULL );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( the_default_def_makes_a_space ),
        TEST_CASE( every_variant_makes_a_space_and_says_which_it_is ),
        TEST_CASE( a_def_without_its_default_function_is_refused ),
        TEST_CASE( unknown_methods_and_settings_are_refused_by_name ),
        TEST_CASE( settings_out_of_range_are_refused_by_name ),
        TEST_CASE( bad_margins_are_refused ),
        TEST_CASE( impossible_numbers_of_workers_are_refused ),
        TEST_CASE( impossible_times_to_spin_are_refused ),
        TEST_CASE( methods_without_threads_work_on_the_callers ),
        TEST_CASE( instruction_sets_this_machine_lacks_are_unsupported ),
        TEST_CASE( half_an_allocator_is_refused ),
        TEST_CASE( impossible_capacities_are_refused_without_harm ),
        TEST_CASE( the_def_is_copied ),
        TEST_CASE( control_characters_do_not_reach_the_logger ),
        TEST_CASE( reserved_spaces_add_and_update_without_allocating_objects_anew ),
    };
    return test_run( "def", cases, TEST_COUNT( cases ), argc, argv );
}
