// SPDX-License-Identifier: MIT
// "family.name=value,…" as methods read it. A row of our own has the parameters, whatever the table's rows have.
#define _POSIX_C_SOURCE 200809L // setenv

#include "support.h"

#include <stdlib.h>
#include <string.h>

static const method_param s_params[] = {
    { .name = "own.leaf", .value = 256, .least = 1, .most = 4096, .whole = true, .help = "objects per leaf" },
    { .name = "own.share", .value = 0.5, .least = -1, .most = 1, .whole = false, .help = "a share" },
};
static const method s_row = { .name = "own", .params = s_params, .param_count = 2 };

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
        double values[METHOD_PARAMS] = { 0 };
        char text[192] = "";
        test_where.note = rows[i].text;
        CHECK( method_parse_settings( &s_row, rows[i].text, values, text, sizeof( text ) ) );
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
        double values[METHOD_PARAMS] = { 0 };
        char text[192] = "";
        test_where.note = rows[i].text;
        CHECK( !method_parse_settings( &s_row, rows[i].text, values, text, sizeof( text ) ) );
        CHECK_TEXT( text, rows[i].says );
    }
}

// Every row of the table: its own defaults are values it would take, and are taken by name.
static void every_method_takes_its_own_defaults( void )
{
    for ( uint32_t index = 0; index < method_count(); ++index )
    {
        const method* row = method_at( index );
        CHECK( row->param_count <= METHOD_PARAMS );
        for ( uint32_t i = 0; i < row->param_count; ++i )
        {
            const method_param* param = &row->params[i];
            double values[METHOD_PARAMS];
            char setting[96], text[192];
            test_where.note = param->name;
            snprintf( setting, sizeof( setting ), "%s=%.9f", param->name, param->value );
            CHECK( param->least <= param->value && param->value <= param->most );
            CHECK( method_parse_settings( row, setting, values, text, sizeof( text ) ) );
            CHECK( values[i] >= param->least && values[i] <= param->most );
        }
    }
}

#if !defined( _WIN32 )

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
#if !defined( _WIN32 )
        TEST_CASE( an_unknown_instruction_set_in_the_environment_is_refused ),
#endif
    };
    return test_run( "setting", cases, TEST_COUNT( cases ), argc, argv );
}
