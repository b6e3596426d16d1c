// SPDX-License-Identifier: MIT
// Broadmark's settings come in, its results go out, and what went out comes in again.
#define _POSIX_C_SOURCE 200809L
#include "lab/base/json.h"
#include "lab/broadmark/broadmark.h"
#include "program.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTINGS "test_broadmark_settings.json"
#define OUTPUT "test_broadmark_output.json"
#define SCENE "test_broadmark.aabbs"
#define FRAMES 4

static void write_settings( const char* algorithm, const char* more )
{
    FILE* file = fopen( SETTINGS, "wb" );
    CHECK( file != NULL );
    fprintf( file,
        "{\"m_inputScene\": \"" SCENE "\", \"m_outputLog\": \"" OUTPUT "\", \"m_algorithm\": \"%s\", "
        "\"m_margin\": {\"x\": 0.01, \"y\": 0.01, \"z\": 0.01}%s}",
        algorithm, more );
    fclose( file );
}

static void write_text( const char* path, const char* text )
{
    FILE* file = fopen( path, "wb" );
    CHECK( file != NULL );
    fputs( text, file );
    fclose( file );
}

static json_value* read_output( const char* path )
{
    lab_error why = { LAB_DONE, "" };
    json_value* root = json_file_read( path, &why );
    CHECK_TEXT( root != NULL ? "" : why.text, "" );
    return root;
}

static void bake( void )
{
    CHECK_EQUAL( program_run( "gen brownian-free -n 300 --frames 4 -o " SCENE )->status, 0 );
}

static double number_at( const json_value* object, const char* key )
{
    return json_as_number( json_get( object, key ) );
}

static void check_frames( const json_value* root )
{
    uint32_t count = 0;
    for ( const json_value* frame = json_first( json_get( root, "Frames" ) ); frame != NULL;
          frame = json_next( frame ) )
    {
        double sum = number_at( frame, "UpdateObjects" ) + number_at( frame, "CleanCache" ) +
            number_at( frame, "UpdateStructures" ) + number_at( frame, "SearchOverlaps" );
        CHECK( number_at( frame, "Total" ) > 0 && number_at( frame, "Total" ) < 60 );
        CHECK( fabs( sum - number_at( frame, "Total" ) ) < 1e-12 );
        CHECK( number_at( frame, "UpdateObjects" ) >= 0 && number_at( frame, "SearchOverlaps" ) >= 0 );
        count += 1;
    }
    CHECK_EQUAL( count, FRAMES );
}

// ---- in and out

static void settings_in_results_out_and_in_again( void )
{
    if ( !clv_isa_is_supported( CLV_ISA_AVX2 ) )
    {
        return; // Broadmark's KD is an AVX program
    }
    bake();
    write_settings( "KD", ", \"m_KD_ObjectsPerLeaf\": 64, \"mine\": [1, null, \"x\"]" );
    CHECK_EQUAL( program_run( "run " SETTINGS " -q" )->status, 0 );
    json_value* root = read_output( OUTPUT );
    const json_value* settings = json_get( root, "Settings" );
    CHECK_TEXT( json_as_text( json_get( settings, "m_algorithm" ) ), "KD" );
    CHECK_TEXT( json_as_text( json_get( settings, "m_inputScene" ) ), SCENE );
    CHECK( number_at( settings, "m_numberOfObjects" ) == 300 &&
        number_at( settings, "m_KD_ObjectsPerLeaf" ) == 64 );
    CHECK( number_at( json_get( settings, "m_margin" ), "y" ) == 0.01 &&
        json_is_array( json_get( settings, "mine" ) ) );
    check_frames( root );
    const json_value* own = json_get( root, "Cleave" );
    CHECK_TEXT( json_as_text( json_get( own, "settings" ) ), "kd.leaf=64" );
    char hash[64];
    snprintf( hash, sizeof( hash ), "%s", json_as_text( json_get( own, "pairs_hash" ) ) );
    json_free( root );
    // The results as settings: the same run once more.
    CHECK( rename( OUTPUT, SETTINGS ) == 0 );
    CHECK_EQUAL( program_run( "run " SETTINGS " -q" )->status, 0 );
    root = read_output( OUTPUT );
    CHECK_TEXT( json_as_text( json_get( json_get( root, "Cleave" ), "pairs_hash" ) ), hash );
    check_frames( root );
    json_free( root );
}

static void every_name_is_a_method_of_ours( void )
{
    static const char* const rows[][3] = {
        { "BF", "brute@scalar", "1" },
        { "BF_SSE_Parallel", "brute@sse2", "3" },
        { "BF_AVX", "brute@avx2", "1" },
        { "SAP", "sap@scalar", "1" },
        { "SAP_AVX_Parallel", "sap@avx2", "3" },
        { "Grid_3D", "grid@scalar", "1" },
        { "Grid_3D_SAP_Parallel", "grid-sap@scalar", "3" },
        { "Grid_2D_SAP", "grid-sap@scalar", "1" },
        { "Tracy", "tracy@plain", "1" },
        { "Tracy_Parallel", "tracy@plain", "3" },
        { "KD", "kd-paper@avx2", "1" },
    };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        schedule wanted = { 0 };
        broadmark_files files = { 0 };
        run_spec_list specs;
        lab_error why = { LAB_DONE, "" };
        write_settings( rows[row][0], ", \"m_numThreads\": 3, \"m_Grid_ObjectsPerCell\": 50" );
        test_where.note = rows[row][0];
        CHECK( broadmark_files_add( &files, SETTINGS, &wanted, &why ) );
        CHECK_EQUAL( wanted.part_count, 1 );
        CHECK( run_spec_list_make( &specs, &wanted.parts[0].wish, false, &why ) );
        CHECK_EQUAL( specs.count, 1 );
        const run_spec* spec = &specs.items[0];
        char text[64];
        snprintf( text, sizeof( text ), "%s@%s", spec->row->name, run_spec_variant( spec ) );
        CHECK_TEXT( text, rows[row][1] );
        CHECK_EQUAL( spec->thread_count, strtoul( rows[row][2], NULL, 10 ) );
        bool is_grid = strncmp( spec->row->name, "grid", 4 ) == 0;
        CHECK( is_grid == ( spec->settings != NULL && strstr( spec->settings, "grid.cell=50" ) != NULL ) );
        // And back.
        CHECK_TEXT( broadmark_name_of(
                        spec->row->name, run_spec_variant( spec ), spec->thread_count, spec->settings ),
            rows[row][0] );
        run_spec_list_free( &specs );
        broadmark_files_free( &files );
        schedule_free( &wanted );
    }
    CHECK_TEXT( broadmark_name_of( "kd-rebuilt", "avx2", 1, NULL ), "kd-rebuilt" );
    CHECK_TEXT( broadmark_name_of( "kd", "avx2", 1, NULL ), "kd" ); // ours is another algorithm by now
}

// Which value of `name` a settings file asks for; 0 if none.
static double wanted_setting( const char* algorithm, const char* more, const char* name )
{
    schedule wanted = { 0 };
    broadmark_files files = { 0 };
    lab_error why = { LAB_DONE, "" };
    write_settings( algorithm, more );
    CHECK( broadmark_files_add( &files, SETTINGS, &wanted, &why ) );
    double value = 0;
    const text_list* list = &wanted.parts[0].wish.settings;
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        size_t length = strlen( name );
        bool is_it = strncmp( list->items[index], name, length ) == 0 && list->items[index][length] == '=';
        value = is_it ? strtod( list->items[index] + length + 1, NULL ) : value;
    }
    broadmark_files_free( &files );
    schedule_free( &wanted );
    return value;
}

static void what_the_settings_do_not_say_is_broadmarks_default( void )
{
    CHECK( wanted_setting( "KD", "", "kd.leaf" ) == 512 );
    CHECK( wanted_setting( "Grid_3D", "", "grid.cell" ) == 200 );
    CHECK( wanted_setting( "Grid_2D_SAP", "", "grid.cell" ) == 200 );
    CHECK( wanted_setting( "Tracy", "", "tracy.cell" ) == 200 );
    CHECK( wanted_setting( "KD", ", \"m_KD_ObjectsPerLeaf\": null", "kd.leaf" ) == 512 );
    CHECK( wanted_setting( "KD", ", \"m_KD_ObjectsPerLeaf\": 100", "kd.leaf" ) == 100 );
    CHECK( wanted_setting( "SAP", "", "grid.cell" ) == 0 && wanted_setting( "SAP", "", "kd.leaf" ) == 0 );
    // And the results say so.
    bake();
    write_settings( "Grid_3D", "" );
    CHECK_EQUAL( program_run( "run " SETTINGS " -q" )->status, 0 );
    json_value* root = read_output( OUTPUT );
    const json_value* settings = json_get( root, "Settings" );
    CHECK( number_at( settings, "m_Grid_ObjectsPerCell" ) == 200 &&
        number_at( settings, "m_Tracy_ObjectsPerCell" ) == 200 &&
        number_at( settings, "m_KD_ObjectsPerLeaf" ) == 512 && number_at( settings, "m_numThreads" ) == 4 &&
        number_at( settings, "m_GPUSap_KernelType" ) == 5 );
    CHECK_TEXT( json_as_text( json_get( settings, "m_algorithm_prettyName" ) ), "Grid_3D" );
    CHECK_TEXT( json_as_text( json_get( json_get( root, "Cleave" ), "settings" ) ), "grid.cell=200" );
    json_free( root );
}

static void scenes_are_found_beside_the_settings( void )
{
    mkdir( "test_broadmark_folder", 0777 );
    bake();
    CHECK( rename( SCENE, "test_broadmark_folder/scene.aabbs" ) == 0 );
    write_text( "test_broadmark_folder/s.json",
        "{\"m_inputScene\": \".\\\\scene.aabbs\", \"m_outputLog\": \"" OUTPUT
        "\", \"m_algorithm\": \"SAP\"}" );
    remove( OUTPUT );
    CHECK_EQUAL( program_run( "run test_broadmark_folder/s.json -q" )->status, 0 );
    json_free( read_output( OUTPUT ) );
    remove( "test_broadmark_folder/scene.aabbs" );
    CHECK_EQUAL( program_run( "run test_broadmark_folder/s.json -q" )->status, 2 );
    remove( "test_broadmark_folder/s.json" );
    rmdir( "test_broadmark_folder" );
}

static double sum_of( const json_value* root, const char* stage )
{
    double sum = 0;
    for ( const json_value* frame = json_first( json_get( root, "Frames" ) ); frame != NULL;
          frame = json_next( frame ) )
    {
        sum += number_at( frame, stage );
    }
    return sum;
}

static void cleaning_time_is_told_for_methods_that_clean( void )
{
    bake();
    write_settings( "Tracy", "" ); // keeps pairs from frame to frame
    CHECK_EQUAL( program_run( "run " SETTINGS " -q" )->status, 0 );
    json_value* root = read_output( OUTPUT );
    check_frames( root );
    CHECK( sum_of( root, "CleanCache" ) > 0 && sum_of( root, "UpdateStructures" ) > 0 );
    json_free( root );
    write_settings( "SAP", "" ); // keeps none
    CHECK_EQUAL( program_run( "run " SETTINGS " -q" )->status, 0 );
    root = read_output( OUTPUT );
    CHECK( sum_of( root, "CleanCache" ) == 0 && sum_of( root, "SearchOverlaps" ) > 0 );
    json_free( root );
}

static double usual_value( const char* name, const char* param )
{
    const clv_method* row = clv_method_find( name );
    for ( uint32_t index = 0; index < row->param_count; ++index )
    {
        if ( strcmp( row->params[index].name, param ) == 0 )
        {
            return row->params[index].value;
        }
    }
    return -1;
}

static void any_run_is_written_in_that_form( void )
{
    bake();
    program_answer* answer =
        program_run( "run quick --only flying -n 300 -m sap@scalar,grid@scalar,kd-rebuilt@scalar --frames 4 "
                     "--set kd.leaf=32 -q --broadmark-out test_broadmark_folder" );
    CHECK_EQUAL( answer->status, 0 );
    const char* first = "test_broadmark_folder/brownian-free-cubes-300-sap@scalar-1.json";
    const char* plain = "test_broadmark_folder/brownian-free-cubes-300-grid@scalar-1.json";
    const char* second = "test_broadmark_folder/brownian-free-cubes-300-kd-rebuilt@scalar-1-kd.leaf=32.json";
    json_value* root = read_output( first );
    check_frames( root );
    CHECK( json_get( json_get( root, "Settings" ), "m_KD_ObjectsPerLeaf" ) == NULL );
    CHECK_TEXT( json_as_text( json_get( json_get( root, "Settings" ), "m_algorithm" ) ), "SAP" );
    json_free( root );
    root = read_output( plain ); // our default, since Broadmark's would be another
    CHECK( number_at( json_get( root, "Settings" ), "m_Grid_ObjectsPerCell" ) ==
        usual_value( "grid", "grid.cell" ) );
    json_free( root );
    root = read_output( second );
    CHECK_TEXT( json_as_text( json_get( json_get( root, "Settings" ), "m_algorithm_prettyName" ) ),
        "kd-rebuilt@scalar" );
    CHECK( number_at( json_get( root, "Settings" ), "m_KD_ObjectsPerLeaf" ) == 32 );
    json_free( root );
    remove( first );
    remove( plain );
    remove( second );
    rmdir( "test_broadmark_folder" );
}

// ---- refusing

static void bad_settings_are_refused( void )
{
    static const char* const rows[][2] = {
        { "", "is empty" },
        { "{", "not JSON" },
        { "[]", "\"m_inputScene\" must be a text" },
        { "{\"m_inputScene\": 7}", "\"m_inputScene\" must be a text" },
        { "{\"m_inputScene\": \"" SCENE "\"}", "\"m_outputLog\" must be a text" },
        { "{\"m_inputScene\": \"" SCENE "\", \"m_outputLog\": \"o.json\"}",
            "\"m_algorithm\" must be a text" },
        { "{\"m_inputScene\": \"" SCENE "\", \"m_outputLog\": \"o.json\", \"m_algorithm\": \"sap\"}",
            "'sap' is unknown; there are BF, BF_SSE" },
        { "{\"m_inputScene\": \"" SCENE
          "\", \"m_outputLog\": \"o.json\", \"m_algorithm\": \"SAP_Parallel\", \"m_numThreads\": 0}",
            "\"m_numThreads\" must be a number from 1" },
        { "{\"m_inputScene\": \"" SCENE
          "\", \"m_outputLog\": \"o.json\", \"m_algorithm\": \"KD\", \"m_KD_ObjectsPerLeaf\": \"many\"}",
            "\"m_KD_ObjectsPerLeaf\" must be a number" },
        { "{\"m_inputScene\": \"no-such.aabbs\", \"m_outputLog\": \"o.json\", \"m_algorithm\": \"SAP\"}",
            "no-such.aabbs" },
        { "{\"m_inputScene\": \"" SCENE "\", \"m_outputLog\": \"no/such/o.json\", \"m_algorithm\": \"SAP\"}",
            "no/such/o.json" },
    };
    bake();
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        write_text( SETTINGS, rows[row][0] );
        program_answer* answer = program_run( "run " SETTINGS " -q" );
        test_where.note = rows[row][0];
        CHECK_EQUAL( answer->status, 2 );
        if ( strstr( answer->errors, rows[row][1] ) == NULL )
        {
            CHECK_TEXT( answer->errors, rows[row][1] );
        }
    }
}

static void a_run_that_fails_leaves_old_results_alone( void )
{
    bake();
    write_settings( "BF", "" );
    write_text( OUTPUT, "old" );
    program_answer* answer = program_run( "run " SETTINGS " -q --time-limit 1e-9" );
    CHECK( answer->status == 1 && program_said( answer, OUTPUT " was not written" ) );
    char text[8] = "";
    FILE* file = fopen( OUTPUT, "rb" );
    CHECK( file != NULL && fread( text, 1, 7, file ) == 3 );
    fclose( file );
    CHECK_TEXT( text, "old" );
}

int main( int argc, char** argv )
{
    lab_error why;
    if ( !results_have_json( &why ) )
    {
        printf( "skipped: %s\n", why.text );
        return 77;
    }
    setenv( "CLEAVE_CACHE", "test_broadmark_cache", 1 );
    const test_case cases[] = {
        TEST_CASE( settings_in_results_out_and_in_again ),
        TEST_CASE( every_name_is_a_method_of_ours ),
        TEST_CASE( what_the_settings_do_not_say_is_broadmarks_default ),
        TEST_CASE( scenes_are_found_beside_the_settings ),
        TEST_CASE( cleaning_time_is_told_for_methods_that_clean ),
        TEST_CASE( any_run_is_written_in_that_form ),
        TEST_CASE( bad_settings_are_refused ),
        TEST_CASE( a_run_that_fails_leaves_old_results_alone ),
    };
    int status = test_run( "broadmark", cases, TEST_COUNT( cases ), argc, argv );
    remove( SETTINGS );
    remove( OUTPUT );
    remove( SCENE );
    return status;
}
