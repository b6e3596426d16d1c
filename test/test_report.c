// SPDX-License-Identifier: MIT
// `cleave report`: what goes into the page comes out of it again, whatever the names; what is no results is
// refused by name, and then no page is left behind. Without cJSON the program says so and ends with 77:
// skipped.
#include "lab/base/json.h"
#include "lab/base/platform.h"
#include "lab/command/commands.h"
#include "lab/report/report.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define RESULTS "test_report.json"
#define OTHER "test_report_other.json"
#define PAGE "test_report.html"
#define OPENING "<script id=\"results\" type=\"application/json\">"

// As `bench --json` writes it, short.
static char* run_text( const char* scene, const char* name, uint32_t objects )
{
    return text_format(
        "{\"scene\":\"%s\",\"type\":\"cubes\",\"objects\":%u,\"frames\":2,\"method\":\"%s\",\"variant\":\"scalar\","
        "\"threads\":1,\"settings\":null,\"ms_median\":1.5,\"ms_mean\":1.5,\"ms_min\":1,\"ms_p99\":2,\"update_ms\":0.5,"
        "\"search_ms\":1,\"pairs_last\":3,\"pairs_hash\":\"0x00000000000000aa\",\"frame_ms\":[1,2],"
        "\"frame_static\":[0,0.5],\"pass_ms\":[[1,2],[1,2]],\"tests\":4,\"memory_bytes\":100,\"fat\":false,"
        "\"status\":\"ok\"}",
        scene, objects, name );
}

static void write_file( const char* path, const char* text )
{
    FILE* stream = fopen( path, "wb" );
    CHECK( stream != NULL );
    CHECK( fputs( text, stream ) >= 0 );
    CHECK( fclose( stream ) == 0 );
}

static void write_results( const char* path, const char* runs )
{
    char* text = text_format( "{\"cleave\":\"0.1.0\",\"machine\":{\"cpu\":\"x\"},\"runs\":[%s]}\n", runs );
    write_file( path, text );
    free( text );
}

static char* read_file( const char* path )
{
    FILE* stream = fopen( path, "rb" );
    CHECK( stream != NULL );
    CHECK( fseek( stream, 0, SEEK_END ) == 0 );
    long size = ftell( stream );
    CHECK( size > 0 && fseek( stream, 0, SEEK_SET ) == 0 );
    char* text = calloc( (size_t)size + 1, 1 );
    CHECK( text != NULL && fread( text, 1, (size_t)size, stream ) == (size_t)size );
    fclose( stream );
    return text;
}

static bool exists( const char* path )
{
    FILE* stream = fopen( path, "rb" );
    return stream != NULL && fclose( stream ) == 0;
}

static lab_status report( const char* first, const char* second )
{
    char words[4][64] = { "-o", PAGE, "", "" };
    snprintf( words[2], sizeof( words[2] ), "%s", first );
    snprintf( words[3], sizeof( words[3] ), "%s", second != NULL ? second : "" );
    char* list[] = { words[0], words[1], words[2], words[3], NULL };
    return command_report( second != NULL ? 4 : 3, list );
}

static uint32_t count_of( const char* text, const char* part )
{
    uint32_t count = 0;
    for ( const char* at = strstr( text, part ); at != NULL; at = strstr( at + 1, part ) )
    {
        ++count;
    }
    return count;
}

// What the page's script reads: from the opening of its element to the first thing that ends it.
static json_value* results_in( const char* page )
{
    const char* begin = strstr( page, OPENING );
    CHECK( begin != NULL );
    begin += strlen( OPENING );
    const char* end = strstr( begin, "</script" );
    CHECK( end != NULL );
    char* text = text_format( "%.*s", (int)( end - begin ), begin );
    size_t bad_offset = 0;
    json_value* value = json_parse( text, strlen( text ), &bad_offset );
    CHECK( value != NULL );
    free( text );
    return value;
}

static const json_value* runs_of( const json_value* file )
{
    return json_get( json_get( file, "results" ), "runs" );
}

static uint32_t run_count( const json_value* root )
{
    uint32_t count = 0;
    for ( const json_value* file = json_first( json_get( root, "files" ) ); file != NULL;
          file = json_next( file ) )
    {
        for ( const json_value* run = json_first( runs_of( file ) ); run != NULL; run = json_next( run ) )
        {
            ++count;
        }
    }
    return count;
}

static json_value* page_results( const char* first, const char* second )
{
    remove( PAGE );
    CHECK_EQUAL( report( first, second ), LAB_DONE );
    char* page = read_file( PAGE );
    json_value* root = results_in( page );
    free( page );
    CHECK( remove( PAGE ) == 0 );
    return root;
}

static void the_page_has_one_place_for_results( void )
{
    const char* page = carried_find( "report/page.html" )->text;
    CHECK_EQUAL( strlen( page ), carried_find( "report/page.html" )->size );
    CHECK_EQUAL( count_of( page, OPENING "/*RESULTS*/</script>" ), 1 );
    CHECK_EQUAL( count_of( page, "/*RESULTS*/" ), 1 );
}

static void the_page_loads_nothing_from_elsewhere( void )
{
    const char* page = carried_find( "report/page.html" )->text;
    CHECK_EQUAL( count_of( page, "default-src 'none'" ), 1 );
    CHECK_EQUAL(
        count_of( page, "<script src" ) + count_of( page, "<link" ) + count_of( page, "@import" ), 0 );
}

static void the_licence_of_the_plots_is_in_the_page( void )
{
    const char* page = carried_find( "report/page.html" )->text;
    CHECK( strstr( page, "Apache License" ) != NULL );
    CHECK( strstr( page, "==== zrender ====" ) != NULL );
}

static void one_run_goes_in_and_comes_out( void )
{
    char* run = run_text( "city", "kd", 100 );
    write_results( RESULTS, run );
    free( run );
    json_value* root = page_results( RESULTS, NULL );
    const json_value* file = json_first( json_get( root, "files" ) );
    CHECK_TEXT( json_as_text( json_get( file, "name" ) ), RESULTS );
    const json_value* only = json_first( runs_of( file ) );
    CHECK_TEXT( json_as_text( json_get( only, "scene" ) ), "city" );
    CHECK( json_as_number( json_get( only, "ms_median" ) ) == 1.5 );
    CHECK_EQUAL( run_count( root ), 1 );
    json_free( root );
}

static void no_runs_make_a_page_too( void )
{
    write_results( RESULTS, "" );
    json_value* root = page_results( RESULTS, NULL );
    CHECK_EQUAL( run_count( root ), 0 );
    json_free( root );
}

static void five_hundred_runs_are_all_there( void )
{
    char* runs = run_text( "s", "m", 1 );
    for ( uint32_t index = 1; index < 500; ++index )
    {
        char* run = run_text( "s", "m", index + 1 );
        char* longer = text_format( "%s,%s", runs, run );
        free( runs );
        free( run );
        runs = longer;
    }
    write_results( RESULTS, runs );
    free( runs );
    json_value* root = page_results( RESULTS, NULL );
    CHECK_EQUAL( run_count( root ), 500 );
    json_free( root );
}

static void files_are_merged_in_their_order( void )
{
    char* run = run_text( "a", "kd", 1 );
    write_results( RESULTS, run );
    free( run );
    run = run_text( "b", "kd", 1 );
    write_results( OTHER, run );
    free( run );
    json_value* root = page_results( RESULTS, OTHER );
    const json_value* first = json_first( json_get( root, "files" ) );
    CHECK_TEXT( json_as_text( json_get( json_first( runs_of( first ) ), "scene" ) ), "a" );
    CHECK_TEXT( json_as_text( json_get( json_first( runs_of( json_next( first ) ) ), "scene" ) ), "b" );
    json_free( root );
}

static void texts_lose_folders_and_nothing_else( void )
{
    static const char* const rows[][2] = {
        { "no a.so in /home/me/peers or /opt/x/../peers; b",
            "no a.so in \xE2\x80\xA6/peers or \xE2\x80\xA6/peers; b" },
        { "/home/me/x.aabbs: no such file", "\xE2\x80\xA6/x.aabbs: no such file" },
        { "-O2 -I/home/me/include -ffile-prefix-map=/home/me=.",
            "-O2 -I\xE2\x80\xA6/include -ffile-prefix-map=\xE2\x80\xA6/me=." },
        { "~/secret ./here/x ../there/x", "\xE2\x80\xA6/secret \xE2\x80\xA6/x \xE2\x80\xA6/x" },
        { "C:\\Users\\me\\x.json (D:/a/b)", "\xE2\x80\xA6/x.json (\xE2\x80\xA6/b)" },
        { "/home/me/peers/", "\xE2\x80\xA6/peers/" },
        { "12 GB/s, and/or, 1 / 2, 1 /2, n/a", "12 GB/s, and/or, 1 / 2, 1 /2, n/a" },
        { "see https://example.org/a/b", "see https://example.org/a/b" },
        { "</script><img/x/y> \\ / ... .../", "</script><img/x/y> \\ / ... .../" },
        { "", "" },
    };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        test_where.note = rows[row][0];
        char* text = report_data_without_folders( rows[row][0] );
        CHECK_TEXT( text, rows[row][1] );
        free( text );
    }
}

static void no_folder_of_this_machine_is_in_the_page( void )
{
    char* run = run_text( "a", "kd", 1 );
    run[strlen( run ) - 1] = '\0'; // its closing brace
    char* text = text_format(
        "{\"cleave\":\"0.1.0\",\"machine\":{\"cpu\":\"x\",\"flags\":\"-I/home/me/include\"},\"runs\":[%s,"
        "\"key\":\"/home/me/a.aabbs (9 bytes), all frames | kd\",\"limits\":\"0 s\",\"reason\":\"no kd.so in /home/me/peers\"}]}",
        run );
    write_file( RESULTS, text );
    free( run );
    free( text );
    CHECK( platform_make_folder( "test_report_folder" ) );
    char* copy = read_file( RESULTS );
    write_file( "test_report_folder/" RESULTS, copy );
    free( copy );
    json_value* root = page_results( RESULTS, "test_report_folder/" RESULTS );
    const json_value* first = json_first( json_get( root, "files" ) );
    CHECK_TEXT( json_as_text( json_get( first, "name" ) ), RESULTS " (1)" );
    CHECK_TEXT( json_as_text( json_get( json_next( first ), "name" ) ), RESULTS " (2)" );
    CHECK_TEXT( json_as_text( json_get( json_first( runs_of( first ) ), "reason" ) ),
        "no kd.so in \xE2\x80\xA6/peers" );
    char* line = json_line( root );
    CHECK( strstr( line, "/home" ) == NULL && strstr( line, "test_report_folder" ) == NULL );
    CHECK( strstr( line, "\"key\"" ) == NULL && strstr( line, "\"limits\"" ) == NULL );
    free( line );
    CHECK( remove( "test_report_folder/" RESULTS ) == 0 );
    remove( "test_report_folder" );
}

static void hostile_names_stay_names( void )
{
    // In JSON as it stands in the file, and what it means.
    const char* rows[][2] = {
        { "</script><script>alert(1)</script>", "</script><script>alert(1)</script>" },
        { "<!-- <script>", "<!-- <script>" },
        { "]]>&lt;img src=x onerror=alert(1)>", "]]>&lt;img src=x onerror=alert(1)>" },
        { "line\xE2\x80\xA8paragraph\xE2\x80\xA9", "line\xE2\x80\xA8paragraph\xE2\x80\xA9" },
        { "/*RESULTS*/", "/*RESULTS*/" },
        { "quote\\\" slash\\\\ tab\\t", "quote\" slash\\ tab\t" },
        { "%s%n$&$1", "%s%n$&$1" },
        { "\xE2\x80", "\xE2\x80" },
    };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        test_where.note = rows[row][0];
        char* run = run_text( rows[row][0], rows[row][0], 5 );
        write_results( RESULTS, run );
        free( run );
        json_value* root = page_results( RESULTS, NULL );
        const json_value* only = json_first( runs_of( json_first( json_get( root, "files" ) ) ) );
        CHECK_TEXT( json_as_text( json_get( only, "scene" ) ), rows[row][1] );
        CHECK_TEXT( json_as_text( json_get( only, "method" ) ), rows[row][1] );
        json_free( root );
    }
}

static void escaped_text_has_no_way_out_of_a_script( void )
{
    char* text =
        report_data_escape( "[\"<a\",\"\xE2\x80\xA8\",\"\xE2\x80\xA9\",\"\xE2\x80\xAA\",\"\xE2\x80\"]" );
    CHECK_TEXT( text, "[\"\\u003ca\",\"\\u2028\",\"\\u2029\",\"\xE2\x80\xAA\",\"\xE2\x80\"]" );
    free( text );
}

static void invalid_results_are_refused_by_name( void )
{
    const char* rows[] = { "", "{", "[]", "{}", "{\"runs\":{}}", "{\"runs\":[1]}",
        "{\"runs\":[{\"scene\":\"a\"}]}", "{\"runs\":[{\"scene\":1}]}", "not json" };
    char* good = run_text( "a", "kd", 1 );
    write_results( OTHER, good );
    free( good );
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        test_where.note = rows[row];
        write_file( RESULTS, rows[row] );
        remove( PAGE );
        report_data data;
        lab_error why = { 0 };
        char path[] = RESULTS;
        char* items[] = { path };
        text_list paths = { items, 1 };
        CHECK( !report_data_read( &data, &paths, NULL, &why ) );
        CHECK( strncmp( why.text, RESULTS ": ", strlen( RESULTS ) + 2 ) == 0 );
        CHECK_EQUAL( report( OTHER, RESULTS ), LAB_BAD_INPUT );
        CHECK( !exists( PAGE ) );
    }
    CHECK( remove( RESULTS ) == 0 );
    CHECK_EQUAL( report( RESULTS, NULL ), LAB_BAD_INPUT );
    CHECK( !exists( PAGE ) );
}

static void a_page_that_is_there_stays_when_results_are_bad( void )
{
    write_file( PAGE, "before" );
    write_file( RESULTS, "{" );
    CHECK_EQUAL( report( RESULTS, NULL ), LAB_BAD_INPUT );
    char* page = read_file( PAGE );
    CHECK_TEXT( page, "before" );
    free( page );
}

static void a_page_needs_a_place( void )
{
    write_results( RESULTS, "" );
    char words[][32] = { RESULTS, "-o", "nowhere/page.html" };
    char* list[] = { words[0], words[1], words[2], NULL };
    CHECK_EQUAL( command_report( 1, list ), LAB_BAD_INPUT );
    CHECK_EQUAL( command_report( 3, list ), LAB_BAD_INPUT );
    CHECK_EQUAL( command_report( 0, list ), LAB_BAD_INPUT );
}

// Of runs on a GPU only those on the device that is asked for; those on none stay.
static void runs_of_one_device_are_shown( void )
{
    static const char* const devices[] = { "null", "\"Card A 100\"", "\"Card B\"" };
    char* runs = text_copy( "" );
    for ( size_t k = 0; k < TEST_COUNT( devices ); ++k )
    {
        char* run = run_text( "brownian-free", k == 0 ? "sap" : "gpu-grid", 1000 );
        run[strlen( run ) - 1] = '\0'; // its closing brace
        char* more = text_format( "%s%s%s,\"device\":%s}", runs, k > 0 ? "," : "", run, devices[k] );
        free( runs );
        free( run );
        runs = more;
    }
    write_results( RESULTS, runs );
    free( runs );
    char path[] = RESULTS;
    char* items[] = { path };
    const text_list paths = { items, 1 };
    report_data data;
    lab_error why = { LAB_DONE, "" };
    CHECK( report_data_read( &data, &paths, NULL, &why ) );
    CHECK_EQUAL( data.run_count, 3 );
    report_data_free( &data );
    CHECK( report_data_read( &data, &paths, "card a", &why ) );
    CHECK_EQUAL( data.run_count, 2 );
    CHECK( strstr( data.json, "Card A 100" ) != NULL && strstr( data.json, "Card B" ) == NULL );
    CHECK( strstr( data.json, "\"sap\"" ) != NULL );
    report_data_free( &data );
    CHECK( !report_data_read( &data, &paths, "H200", &why ) );
    CHECK_TEXT( why.text, "--device H200: no run was on such a device; there are Card A 100, Card B" );
    char* run = run_text( "brownian-free", "sap", 1000 );
    write_results( RESULTS, run );
    free( run );
    CHECK( !report_data_read( &data, &paths, "H200", &why ) );
    CHECK_TEXT( why.text, "--device H200: no run was on such a device; none was on a GPU at all" );
    remove( RESULTS );
}

int main( int argc, char** argv )
{
    lab_error why;
    if ( !json_is_here( &why ) )
    {
        printf( "%s\n", why.text );
        return 77;
    }
    const test_case cases[] = {
        TEST_CASE( runs_of_one_device_are_shown ),
        TEST_CASE( the_page_has_one_place_for_results ),
        TEST_CASE( the_page_loads_nothing_from_elsewhere ),
        TEST_CASE( the_licence_of_the_plots_is_in_the_page ),
        TEST_CASE( one_run_goes_in_and_comes_out ),
        TEST_CASE( no_runs_make_a_page_too ),
        TEST_CASE( five_hundred_runs_are_all_there ),
        TEST_CASE( files_are_merged_in_their_order ),
        TEST_CASE( texts_lose_folders_and_nothing_else ),
        TEST_CASE( no_folder_of_this_machine_is_in_the_page ),
        TEST_CASE( hostile_names_stay_names ),
        TEST_CASE( escaped_text_has_no_way_out_of_a_script ),
        TEST_CASE( invalid_results_are_refused_by_name ),
        TEST_CASE( a_page_that_is_there_stays_when_results_are_bad ),
        TEST_CASE( a_page_needs_a_place ),
    };
    int status = test_run( "report", cases, TEST_COUNT( cases ), argc, argv );
    remove( RESULTS );
    remove( OTHER );
    remove( PAGE );
    return status;
}
