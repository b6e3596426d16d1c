// SPDX-License-Identifier: MIT
// Names and sentences: version, results, instruction sets.
#if !defined( _WIN32 ) && !defined( _POSIX_C_SOURCE )
#define _POSIX_C_SOURCE 200809L // setenv
#endif

#include "support.h"

#include <stdlib.h>
#include <string.h>

static void version_text_is_the_headers( void )
{
    char expected[64];
    snprintf(
        expected, sizeof( expected ), "%d.%d.%d", CLV_VERSION_MAJOR, CLV_VERSION_MINOR, CLV_VERSION_PATCH );
    CHECK_TEXT( clv_version_text(), expected );
}

static void results_are_called_what_the_header_calls_them( void )
{
    const char* names[] = { "CLV_OK", "CLV_BAD_DEF", "CLV_BAD_ARGUMENT", "CLV_BAD_BOX", "CLV_BAD_ID",
        "CLV_DUPLICATE_ID", "CLV_OUT_OF_MEMORY", "CLV_TOO_MANY_PAIRS", "CLV_TOO_MANY_OBJECTS",
        "CLV_UNSUPPORTED", "CLV_STOPPED", "CLV_BUSY", "CLV_NO_ROOM", "CLV_STALE", "CLV_DEVICE_FAILED",
        "CLV_LOST", "CLV_FILE_FAILED" };
    for ( size_t i = 0; i < TEST_COUNT( names ); ++i )
    {
        CHECK_TEXT( clv_result_name( (clv_result)i ), names[i] );
    }
}

static void results_have_a_sentence_each( void )
{
    for ( int i = 0; i <= CLV_FILE_FAILED; ++i )
    {
        const char* text = clv_result_text( (clv_result)i );
        CHECK( text != NULL && strlen( text ) > 1 );
        CHECK( strchr( text, '\n' ) == NULL );
        for ( int other = 0; other < i; ++other )
        {
            CHECK( strcmp( text, clv_result_text( (clv_result)other ) ) != 0 );
        }
    }
}

static void numbers_that_are_no_result_have_a_name_too( void )
{
    const int numbers[] = { CLV_FILE_FAILED + 1, 1000, 0x7FFFFFFF };
    for ( size_t i = 0; i < TEST_COUNT( numbers ); ++i )
    {
        const char* name = clv_result_name( (clv_result)numbers[i] );
        const char* text = clv_result_text( (clv_result)numbers[i] );
        CHECK( name != NULL && strlen( name ) > 0 );
        CHECK( text != NULL && strlen( text ) > 0 );
    }
}

static void instruction_sets_and_their_names_are_inverse( void )
{
    const char* names[CLV_ISA_COUNT] = { "auto", "scalar", "sse2", "avx2", "avx512", "neon" };
    for ( int i = 0; i < CLV_ISA_COUNT; ++i )
    {
        CHECK_TEXT( clv_isa_name( (clv_isa)i ), names[i] );
        clv_isa isa = (clv_isa)99;
        CHECK( clv_isa_from_name( names[i], &isa ) );
        CHECK_EQUAL( isa, i );
    }
    CHECK_TEXT( clv_isa_name( (clv_isa)CLV_ISA_COUNT ), "unknown" );
    CHECK_TEXT( clv_isa_name( (clv_isa)1000 ), "unknown" );
}

static void unknown_names_leave_the_instruction_set_untouched( void )
{
    const char* names[] = { "", "SSE2", "avx", "avx2 ", " avx2", "unknown", "avx5120", "scala" };
    for ( size_t i = 0; i < TEST_COUNT( names ); ++i )
    {
        test_where.note = names[i];
        clv_isa isa = CLV_ISA_NEON;
        CHECK( !clv_isa_from_name( names[i], &isa ) );
        CHECK_EQUAL( isa, CLV_ISA_NEON );
    }
}

static void auto_and_scalar_are_always_supported( void )
{
    CHECK( clv_isa_is_supported( CLV_ISA_AUTO ) );
    CHECK( clv_isa_is_supported( CLV_ISA_SCALAR ) );
    CHECK( !clv_isa_is_supported( (clv_isa)CLV_ISA_COUNT ) );
    CHECK( !clv_isa_is_supported( (clv_isa)1000 ) );
    CHECK( clv_isa_best() != CLV_ISA_AUTO );
    CHECK( clv_isa_is_supported( clv_isa_best() ) );
#if defined( __x86_64__ ) || defined( _M_X64 )
    CHECK( !clv_isa_is_supported( CLV_ISA_NEON ) );
    for ( int isa = CLV_ISA_SSE2; isa <= CLV_ISA_AVX512; ++isa )
    {
        CHECK( !clv_isa_is_supported( (clv_isa)isa ) || isa <= (int)clv_isa_best() );
    }
#endif
}

static void set_environment( const char* name, const char* value )
{
#if defined( _WIN32 )
    _putenv_s( name, value != NULL ? value : "" );
#else
    CHECK( value != NULL ? setenv( name, value, 1 ) == 0 : unsetenv( name ) == 0 );
#endif
}

static clv_isa isa_of_default_space( void )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    clv_isa isa = clv_space_isa( space );
    clv_space_destroy( space );
    return isa;
}

static void the_environment_chooses_for_auto( void )
{
    for ( int isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
    {
        if ( clv_isa_is_supported( (clv_isa)isa ) )
        {
            set_environment( "CLEAVE_ISA", clv_isa_name( (clv_isa)isa ) );
            CHECK_EQUAL( isa_of_default_space(), isa );
        }
    }
    set_environment( "CLEAVE_ISA", "auto" );
    CHECK_EQUAL( isa_of_default_space(), clv_isa_best() );
    set_environment( "CLEAVE_ISA", NULL );
    CHECK_EQUAL( isa_of_default_space(), clv_isa_best() );
}

static void the_def_wins_over_the_environment( void )
{
    set_environment( "CLEAVE_ISA", clv_isa_name( clv_isa_best() ) );
    clv_space_def def = clv_default_space_def();
    def.isa = CLV_ISA_SCALAR;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_EQUAL( clv_space_isa( space ), CLV_ISA_SCALAR );
    clv_space_destroy( space );
    set_environment( "CLEAVE_ISA", NULL );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( version_text_is_the_headers ),
        TEST_CASE( results_are_called_what_the_header_calls_them ),
        TEST_CASE( results_have_a_sentence_each ),
        TEST_CASE( numbers_that_are_no_result_have_a_name_too ),
        TEST_CASE( instruction_sets_and_their_names_are_inverse ),
        TEST_CASE( unknown_names_leave_the_instruction_set_untouched ),
        TEST_CASE( auto_and_scalar_are_always_supported ),
        TEST_CASE( the_environment_chooses_for_auto ),
        TEST_CASE( the_def_wins_over_the_environment ),
    };
    return test_run( "text", cases, TEST_COUNT( cases ), argc, argv );
}
