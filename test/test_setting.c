// SPDX-License-Identifier: MIT
// "family.name=value,…" as methods read it. A row of our own has the parameters, whatever the table's rows
// have.
#define _POSIX_C_SOURCE 200809L // setenv

#include "base/number.h"
#include "support.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const clv_method_param s_params[] = {
    { .name = "own.leaf", .value = 256, .least = 1, .most = 4096, .whole = true, .help = "objects per leaf" },
    { .name = "own.share", .value = 0.5, .least = -1, .most = 1, .whole = false, .help = "a share" },
};
static const clv_method s_row = { .name = "own", .params = s_params, .param_count = 2 };

typedef struct good_setting
{
    const char* text;
    double leaf, share;
} good_setting;

static void settings_are_read_and_the_rest_keep_their_defaults( void )
{
    static const good_setting rows[] = {
        { NULL, 256, 0.5 },
        { "", 256, 0.5 },
        { "own.leaf=8", 8, 0.5 },
        { "own.share=0.25,own.leaf=4096", 4096, 0.25 },
        { "own.share=-.5", 256, -0.5 },
        { "own.share=+1.", 256, 1 },
        { "own.leaf=007,", 7, 0.5 },
        { "own.leaf=3,own.leaf=4", 4, 0.5 },
    };
    for ( size_t i = 0; i < TEST_COUNT( rows ); ++i )
    {
        double values[CLV_METHOD_PARAMS] = { 0 };
        char text[192] = "";
        test_where.note = rows[i].text;
        CHECK( clv_method_parse_settings( &s_row, rows[i].text, values, text, sizeof( text ) ) );
        CHECK( values[0] == rows[i].leaf );
        CHECK( values[1] == rows[i].share );
    }
}

typedef struct bad_setting
{
    const char* text;
    const char* says;
} bad_setting;

static void a_bad_setting_is_named_with_what_it_takes( void )
{
    static const bad_setting rows[] = {
        { "own.leaf", "method own has no setting 'own.leaf'" },
        { "own.lea=1", "method own has no setting 'own.lea=1'" },
        { "kd.leaf=1", "method own has no setting 'kd.leaf=1'" },
        { "=1", "method own has no setting '=1'" },
        { ",own.leaf=1", "method own has no setting ''" },
        { "own.leaf=0", "setting 'own.leaf=0': own.leaf takes a whole number from 1 to 4096" },
        { "own.leaf=4097", "setting 'own.leaf=4097': own.leaf takes a whole number from 1 to 4096" },
        { "own.leaf=1.5", "setting 'own.leaf=1.5': own.leaf takes a whole number from 1 to 4096" },
        { "own.leaf=", "setting 'own.leaf=': own.leaf takes a whole number from 1 to 4096" },
        { "own.leaf=.", "setting 'own.leaf=.': own.leaf takes a whole number from 1 to 4096" },
        { "own.leaf=8x", "setting 'own.leaf=8x': own.leaf takes a whole number from 1 to 4096" },
        { "own.leaf=-8", "setting 'own.leaf=-8': own.leaf takes a whole number from 1 to 4096" },
        { "own.share=nan", "setting 'own.share=nan': own.share takes a number from -1 to 1" },
        { "own.share=1.01", "setting 'own.share=1.01': own.share takes a number from -1 to 1" },
        { "own.leaf=9,own.share=2", "setting 'own.share=2': own.share takes a number from -1 to 1" },
    };
    for ( size_t i = 0; i < TEST_COUNT( rows ); ++i )
    {
        double values[CLV_METHOD_PARAMS] = { 0 };
        char text[192] = "";
        test_where.note = rows[i].text;
        CHECK( !clv_method_parse_settings( &s_row, rows[i].text, values, text, sizeof( text ) ) );
        CHECK_TEXT( text, rows[i].says );
    }
}

// Every row of the table: its own defaults are values it would take, and are taken by name.
static void every_method_takes_its_own_defaults( void )
{
    for ( uint32_t index = 0; index < clv_method_count(); ++index )
    {
        const clv_method* row = clv_method_at( index );
        CHECK( row->param_count <= CLV_METHOD_PARAMS );
        for ( uint32_t i = 0; i < row->param_count; ++i )
        {
            const clv_method_param* param = &row->params[i];
            double values[CLV_METHOD_PARAMS];
            char setting[96], text[192];
            test_where.note = param->name;
            snprintf( setting, sizeof( setting ), "%s=%.9f", param->name, param->value );
            CHECK( param->least <= param->value && param->value <= param->most );
            CHECK( clv_method_parse_settings( row, setting, values, text, sizeof( text ) ) );
            CHECK( values[i] >= param->least && values[i] <= param->most );
        }
    }
}

// ---- numbers

#if defined( TEST_INCLUDE )

// A line of the table in types.h for each of them: "//   cleave.few   24   …".
static void the_header_tells_the_parameters_of_the_default_method( void )
{
    FILE* file = fopen( TEST_INCLUDE "/types.h", "rb" );
    CHECK( file != NULL );
    const clv_method* row = clv_method_find( METHOD_DEFAULT );
    uint32_t found = 0;
    char line[400];
    while ( fgets( line, sizeof( line ), file ) != NULL )
    {
        char name[40];
        double value = 0;
        if ( sscanf( line, "// cleave.%39s %lf", name, &value ) != 2 )
        {
            continue;
        }
        test_where.note = name;
        CHECK( found < row->param_count );
        CHECK_TEXT( row->params[found].name + strlen( "cleave." ), name );
        CHECK( row->params[found].value == value );
        found += 1;
    }
    fclose( file );
    CHECK_EQUAL( found, row->param_count );
}

#endif

static void numbers_are_read_as_strtod_does( void )
{
    static const char* const texts[] = { "0", "-0", "1.", ".5", "+.25", "-12.5e-3", "1e400", "-1e400",
        "1e-400", "4.9e-324", "2.2250738585072011e-308", "1.7976931348623159e308", "9007199254740993", "0.1",
        "1e+5", "1e99999999999999999", "1e-99999999999999999", "1e", "1e+", "1ex", "1.5.2", "", ".", "-",
        "e5", "+-1", " 1", "0x10", "inf", "nan", "1,5" };
    for ( size_t i = 0; i < TEST_COUNT( texts ); ++i )
    {
        double expected = 77, value = 77;
        const char* at = texts[i] + ( texts[i][0] == '-' || texts[i][0] == '+' );
        size_t span = strspn( at, "0123456789." );
        char* end = (char*)(uintptr_t)texts[i];
        if ( span > 0 && texts[i][1] != 'x' ) // strtod takes more: blanks, words and hexadecimals
        {
            double read = strtod( texts[i], &end );
            expected = end != texts[i] ? read : expected;
        }
        test_where.note = texts[i];
        CHECK( clv_base_read_number( texts[i], &value ) == end || texts[i][1] == 'x' );
        CHECK( memcmp( &value, &expected, sizeof( value ) ) == 0 || texts[i][1] == 'x' );
    }
    test_random random = test_random_make( 8 );
    for ( uint32_t i = 0; i < 20000; ++i )
    {
        uint64_t bits = test_random_next( &random );
        double number, value = 77;
        memcpy( &number, &bits, sizeof( number ) );
        char text[64], words[32];
        snprintf( text, sizeof( text ), "%.*g", (int)( i % 20 ) + 1, number );
        if ( text[strspn( text, "+-.e0123456789" )] != '\0' )
        {
            continue; // nan, inf
        }
        CHECK( clv_base_read_number( text, &value ) == text + strlen( text ) );
        CHECK( value == strtod( text, NULL ) );
        char expected[32];
        snprintf( expected, sizeof( expected ), "%g", number );
        clv_base_write_number( number, words, sizeof( words ) );
        CHECK_TEXT( words, expected );
    }
}

static void a_number_of_too_many_digits_is_refused( void )
{
    char text[100];
    memset( text, '1', sizeof( text ) );
    text[65] = '\0';
    double value = 77;
    CHECK( clv_base_read_number( text, &value ) == text && value == 77 );
    text[64] = '\0';
    CHECK( clv_base_read_number( text, &value ) == text + 64 && value > 1e63 );
}

#if !defined( _WIN32 )

// A locale by name; made here, from what Debian's package `locales` brings, where it is not installed.
static bool enter_locale( const char* name )
{
    if ( setlocale( LC_ALL, name ) != NULL )
    {
        return true;
    }
    char command[300];
    snprintf( command, sizeof( command ),
        "mkdir -p test_locales && localedef -i %s -f UTF-8 test_locales/%s.UTF-8 >/dev/null 2>&1", name,
        name );
    if ( system( command ) == -1 ) // localedef answers 1 for warnings, too: what counts is what it made
    {
        return false;
    }
    setenv( "LOCPATH", "test_locales", 1 );
    snprintf( command, sizeof( command ), "%s.UTF-8", name );
    return setlocale( LC_ALL, command ) != NULL;
}

// A comma, and a point of two bytes. The locale is that of the whole process, so it is put back at once.
static void no_locale_changes_a_setting( void )
{
    static const char* const names[] = { "de_DE", "ps_AF" };
    for ( size_t i = 0; i < TEST_COUNT( names ); ++i )
    {
        if ( !enter_locale( names[i] ) )
        {
            printf( "no locale %s here, nor the means to make it (Debian: locales)\n", names[i] );
            continue;
        }
        char point[8];
        snprintf( point, sizeof( point ), "%s", localeconv()->decimal_point );
        double good[CLV_METHOD_PARAMS] = { 0 }, bad[CLV_METHOD_PARAMS] = { 0 };
        char text[192] = "", says[192] = "";
        bool is_read =
            clv_method_parse_settings( &s_row, "own.share=-0.75,own.leaf=8", good, text, sizeof( text ) );
        static const clv_method_param half = { .name = "own.half", .value = 0.5, .least = 0.25, .most = 1.5 };
        static const clv_method row = { .name = "own", .params = &half, .param_count = 1 };
        bool is_refused = !clv_method_parse_settings( &row, "own.half=2", bad, says, sizeof( says ) );
        clv_rigid_def def = clv_default_rigid_def();
        clv_rigid* world = NULL;
        bool is_made = clv_rigid_create( &def, &world ) == CLV_OK;
        bool is_step = is_made && clv_rigid_step( world, -0.5f, 3 ) == CLV_OK;
        char step[192] = "";
        snprintf( step, sizeof( step ), "%s", is_made ? clv_rigid_error( world ).text : "" );
        clv_rigid_destroy( world );
        setlocale( LC_ALL, "C" );
        test_where.note = names[i];
        CHECK( strcmp( point, "." ) != 0 );
        CHECK( is_made && !is_step );
        CHECK_TEXT( step, "step: needs seconds > 0 and at least 1 substep, not -0.5 and 3" );
        CHECK( is_read && good[1] == -0.75 && good[0] == 8 );
        CHECK( is_refused );
        CHECK_TEXT( says, "setting 'own.half=2': own.half takes a number from 0.25 to 1.5" );
    }
}

static void keep_line( clv_log_level level, const char* line, void* user )
{
    CHECK_EQUAL( level, CLV_LOG_ERROR );
    snprintf( user, 192, "%s", line );
}

static void an_unknown_instruction_set_in_the_environment_is_refused( void )
{
    char line[192] = "";
    clv_space* space = NULL;
    clv_space_def def = clv_default_space_def();
    def.logger = ( clv_logger ){ keep_line, line };
    const char* before = getenv( "CLEAVE_ISA" );
    char* kept = before != NULL ? test_copy( before, strlen( before ) + 1, 1 ) : NULL;
    setenv( "CLEAVE_ISA", "mmx", 1 );
    clv_result result = clv_space_create( &def, &space );
    if ( kept != NULL )
    {
        setenv( "CLEAVE_ISA", kept, 1 );
    }
    else
    {
        unsetenv( "CLEAVE_ISA" );
    }
    free( kept );
    CHECK_RESULT( result, CLV_UNSUPPORTED );
    CHECK( space == NULL );
    CHECK( strstr( line, "CLEAVE_ISA=mmx: no such instruction set" ) == line );
}

#endif

int main( int argc, char** argv )
{
    static const test_case cases[] = {
        TEST_CASE( settings_are_read_and_the_rest_keep_their_defaults ),
        TEST_CASE( a_bad_setting_is_named_with_what_it_takes ),
        TEST_CASE( every_method_takes_its_own_defaults ),
#if defined( TEST_INCLUDE )
        TEST_CASE( the_header_tells_the_parameters_of_the_default_method ),
#endif
        TEST_CASE( numbers_are_read_as_strtod_does ),
        TEST_CASE( a_number_of_too_many_digits_is_refused ),
#if !defined( _WIN32 )
        TEST_CASE( no_locale_changes_a_setting ),
        TEST_CASE( an_unknown_instruction_set_in_the_environment_is_refused ),
#endif
    };
    return test_run( "setting", cases, TEST_COUNT( cases ), argc, argv );
}
