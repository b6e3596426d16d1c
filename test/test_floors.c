// SPDX-License-Identifier: MIT
// A method against the fastest of the others: floors are kept, only rise, and broken files are refused.
#include "lab/floors/floors.h"
#include "program.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define RESULTS "test_floors.json"
#define FLOORS "test_floors.csv"
#define COMMAND "floors " RESULTS " " FLOORS " "
#define HEADINGS "row,scene,type,objects,isa,rival,floor\n"
#define HASH "0x00000000000000aa"

// ---- making files

typedef struct made_run
{
    const char* part;
    const char* method;
    double ms;
    const char* status;
    const char* hash;
} made_run;

// Two passes of three frames: each has a hiccup in another frame, so that the least of each frame is `ms`.
static void write_run( FILE* file, const made_run* run )
{
    fprintf( file,
        "{\"scene\": \"s\", \"type\": \"cubes\", \"objects\": 1000, \"frames\": 3, \"method\": \"%s\", "
        "\"variant\": \"avx2\", \"threads\": 1, \"settings\": null, \"parts\": [\"%s\"], \"status\": \"%s\", "
        "\"reason\": \"because\"",
        run->method, run->part, run->status );
    if ( strcmp( run->status, "ok" ) == 0 )
    {
        fprintf( file,
            ", \"ms_median\": 99, \"ms_mean\": 99, \"ms_min\": 99, \"ms_p99\": 99, \"update_ms\": 1, "
            "\"search_ms\": 1, \"pairs_hash\": \"%s\", \"frame_ms\": [%g, %g, %g], "
            "\"pass_ms\": [[%g, 50, %g], [50, %g, 50]]",
            run->hash, run->ms, run->ms, 40 * run->ms, run->ms, 40 * run->ms, run->ms );
    }
    fprintf( file, "}" );
}

static void write_results_of( const char* machine, const made_run* runs, size_t count )
{
    FILE* file = fopen( RESULTS, "wb" );
    CHECK( file != NULL );
    fprintf( file, "{\"cleave\": \"0.1.0\", \"machine\": %s, \"runs\": [", machine );
    for ( size_t index = 0; index < count; ++index )
    {
        fprintf( file, index > 0 ? ",\n" : "" );
        write_run( file, &runs[index] );
    }
    fprintf( file, "]}\n" );
    fclose( file );
}

static void write_results( const made_run* runs, size_t count )
{
    write_results_of( "{}", runs, count );
}

static void write_text( const char* path, const char* text )
{
    FILE* file = fopen( path, "wb" );
    CHECK( file != NULL );
    fputs( text, file );
    fclose( file );
}

static void check_floors( const char* expected )
{
    char text[4096];
    FILE* file = fopen( FLOORS, "rb" );
    CHECK( file != NULL );
    size_t length = fread( text, 1, sizeof( text ) - 1, file );
    text[length] = '\0';
    fclose( file );
    CHECK_TEXT( text, expected );
}

// ---- claims

static void an_undercut_floor_fails( void )
{
    // The fastest other is three times as slow; the slowest frame of three does not count.
    const made_run runs[] = { { "p", "slow", 30, "ok", HASH }, { "p", "cleave", 1, "ok", HASH },
        { "p", "fast", 3, "ok", HASH } };
    write_results( runs, TEST_COUNT( runs ) );
    write_text( FLOORS, HEADINGS "p,s,cubes,1000,avx2,fast,2.9\n" );
    program_answer* answer = program_run( COMMAND );
    CHECK_EQUAL( answer->status, 0 );
    CHECK(
        program_said( answer, "above" ) && program_said( answer, "fast" ) && program_said( answer, "3.00" ) );
    write_text( FLOORS, HEADINGS "p,s,cubes,1000,avx2,fast,3.1\n" );
    answer = program_run( COMMAND );
    CHECK_EQUAL( answer->status, 1 );
    CHECK( program_said( answer, "BELOW" ) );
    CHECK_EQUAL( program_run( COMMAND "--raise" )->status, 1 );
    check_floors( HEADINGS "p,s,cubes,1000,avx2,fast,3.1\n" );
}

static void rows_are_told_apart_by_part( void )
{
    const made_run runs[] = { { "p", "cleave", 1, "ok", HASH }, { "p", "fast", 3, "ok", HASH },
        { "q", "cleave", 1, "ok", "0x00000000000000ab" }, { "q", "fast", 2, "ok", "0x00000000000000ab" } };
    write_results( runs, TEST_COUNT( runs ) );
    write_text( FLOORS, HEADINGS "p,s,cubes,1000,avx2,fast,2.5\nq,s,cubes,1000,avx2,fast,1.5\n" );
    CHECK_EQUAL( program_run( COMMAND )->status, 0 );
    write_text( FLOORS, HEADINGS "p,s,cubes,1000,avx2,fast,2.5\nq,s,cubes,1000,avx2,fast,2.5\n" );
    CHECK_EQUAL( program_run( COMMAND )->status, 1 );
}

static void floors_only_rise( void )
{
    const made_run runs[] = { { "p", "cleave", 1, "ok", HASH }, { "p", "fast", 10, "ok", HASH },
        { "q", "cleave", 1, "ok", HASH }, { "q", "fast", 10, "ok", HASH }, { "r", "cleave", 1, "ok", HASH },
        { "r", "fast", 4, "ok", HASH } };
    write_results( runs, TEST_COUNT( runs ) );
    write_text( FLOORS, "# ours\n" HEADINGS "p,s,cubes,1000,avx2,fast,7\nq,s,cubes,1000,avx2,fast,2\n" );
    program_answer* answer = program_run( COMMAND "--raise" );
    CHECK( answer->status == 0 && program_said( answer, "2 of 3 floors raised" ) );
    const char* raised =
        "# ours\n" HEADINGS
        "p,s,cubes,1000,avx2,fast,7\nq,s,cubes,1000,avx2,fast,6\nr,s,cubes,1000,avx2,fast,2.4\n";
    check_floors( raised );
    CHECK( program_said( program_run( COMMAND "--raise" ), "0 of 3 floors raised" ) );
    check_floors( raised );
    CHECK( program_said( program_run( COMMAND "--raise --share 80" ), "3 of 3 floors raised" ) );
    CHECK_EQUAL( program_run( COMMAND )->status, 0 );
}

static void noise_raises_no_floor( void )
{
    const made_run runs[] = { { "p", "cleave", 1, "ok", HASH }, { "p", "fast", 10, "ok", HASH } };
    write_results_of( "{\"cores\": 2, \"load\": 3.1}", runs, TEST_COUNT( runs ) );
    write_text( FLOORS, HEADINGS );
    program_answer* answer = program_run( COMMAND "--raise" );
    CHECK( answer->status == 2 && program_said( answer, "the load was 3.1 on 2 cores" ) );
    check_floors( HEADINGS );
    CHECK_EQUAL( program_run( COMMAND )->status, 0 );
    write_results_of( "{\"cores\": 2, \"load\": 2.9}", runs, TEST_COUNT( runs ) );
    CHECK_EQUAL( program_run( COMMAND "--raise" )->status, 0 );
    check_floors( HEADINGS "p,s,cubes,1000,avx2,fast,6\n" );
}

static void raised_floors_are_rounded_down( void )
{
    made_run runs[] = { { "p", "cleave", 1, "ok", HASH }, { "p", "fast", 0, "ok", HASH } };
    static const struct
    {
        double ms;
        const char* floor;
    } rows[] = { { 0.29, "0.29" }, { 0.999, "0.99" }, { 1.26, "1.2" }, { 29, "29" }, { 29.9, "29" },
        { 1290, "1200" } };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        char expected[256];
        remove( FLOORS );
        runs[1].ms = rows[row].ms;
        write_results( runs, TEST_COUNT( runs ) );
        CHECK_EQUAL( program_run( COMMAND "--raise --share 100" )->status, 0 ); // there was no file
        CHECK_EQUAL( program_run( COMMAND )->status, 0 );
        snprintf( expected, sizeof( expected ), "p,s,cubes,1000,avx2,fast,%s\n", rows[row].floor );
        floor_file floors;
        lab_error why = { LAB_DONE, "" };
        CHECK( floor_file_read( FLOORS, false, &floors, &why ) );
        CHECK_EQUAL( floors.count, 1 );
        CHECK( floors.comments.count > 0 && floors.rows[0].floor == strtod( rows[row].floor, NULL ) );
        floor_file_free( &floors );
    }
}

static void missing_libraries_are_named_and_no_failure( void )
{
    const made_run runs[] = { { "p", "cleave", 1, "ok", HASH }, { "p", "gone", 0, "unavailable", HASH },
        { "p", "slow", 30, "ok", HASH }, { "p", "late", 0, "timeout", HASH } };
    write_results( runs, TEST_COUNT( runs ) );
    write_text( FLOORS, HEADINGS "p,s,cubes,1000,avx2,gone,2\n" );
    program_answer* answer = program_run( COMMAND "--raise" );
    CHECK_EQUAL( answer->status, 0 );
    CHECK( program_said( answer, "not here: gone: because" ) );
    CHECK( program_said( answer, "timeout: late@avx2 on 1k of s cubes: because" ) );
    // Against the slow one alone any method looks fast.
    CHECK( program_said( answer, "0 of 1 floors raised" ) );
    check_floors( HEADINGS "p,s,cubes,1000,avx2,gone,2\n" );
    write_results( runs, 2 );
    answer = program_run( COMMAND );
    CHECK( answer->status == 0 && program_said( answer, "no rival" ) );
}

static void failures_and_other_pairs_fail( void )
{
    const made_run failed[] = { { "p", "cleave", 1, "failed", HASH }, { "p", "fast", 3, "ok", HASH } };
    const made_run other[] = { { "p", "cleave", 1, "ok", HASH },
        { "p", "fast", 3, "ok", "0x00000000000000ab" } };
    write_text( FLOORS, HEADINGS );
    write_results( failed, TEST_COUNT( failed ) );
    program_answer* answer = program_run( COMMAND );
    CHECK( answer->status == 1 && program_said( answer, "FAILED" ) );
    write_results( other, TEST_COUNT( other ) );
    answer = program_run( COMMAND "--raise" );
    CHECK( answer->status == 1 && program_said( answer, "OTHER PAIRS" ) );
    check_floors( HEADINGS );
    answer = program_run( COMMAND "--method unknown" );
    CHECK( answer->status == 2 && program_said( answer, "holds no run of unknown" ) );
}

static void broken_floors_are_refused( void )
{
    static const char* const rows[][2] = {
        { "", "holds no headings" },
        { "hello\n", FLOORS ":1: expected the headings" },
        { HEADINGS "p,s,cubes,1000,avx2,fast\n", FLOORS ":2: must have 7 cells" },
        { HEADINGS "p,s,cubes,1000,avx2,fast,1,2\n", FLOORS ":2: must have 7 cells" },
        { HEADINGS "\n# a\np,s,cubes,many,avx2,fast,1\n", FLOORS ":4: objects 'many'" },
        { HEADINGS "p,s,cubes,1000,avx2,fast,nan\n", FLOORS ":2: floor 'nan'" },
        { HEADINGS "p,s,cubes,1000,avx2,fast,-1\n", FLOORS ":2: floor '-1'" },
        { HEADINGS "p,s,cubes,1000,avx2,fast,1x\n", FLOORS ":2: floor '1x'" },
    };
    const made_run runs[] = { { "p", "cleave", 1, "ok", HASH }, { "p", "fast", 3, "ok", HASH } };
    write_results( runs, TEST_COUNT( runs ) );
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        test_where.note = rows[row][1];
        write_text( FLOORS, rows[row][0] );
        program_answer* answer = program_run( COMMAND "--raise" );
        CHECK_EQUAL( answer->status, 2 );
        CHECK( program_said( answer, rows[row][1] ) );
        check_floors( rows[row][0] );
    }
    char* line = malloc( 4000 );
    CHECK( line != NULL );
    memset( line, 'a', 3999 );
    line[3999] = '\0';
    write_text( FLOORS, line );
    free( line );
    CHECK( program_said( program_run( COMMAND ), ":1: expected the headings" ) );
    remove( FLOORS );
    CHECK_EQUAL( program_run( COMMAND )->status, 2 );
    CHECK_EQUAL( program_run( "floors " RESULTS )->status, 2 );
    CHECK_EQUAL( program_run( "floors no-such.json " FLOORS )->status, 2 );
}

int main( int argc, char** argv )
{
    lab_error why;
    if ( !results_have_json( &why ) )
    {
        printf( "skipped: %s\n", why.text );
        return 77;
    }
    const test_case cases[] = {
        TEST_CASE( an_undercut_floor_fails ),
        TEST_CASE( rows_are_told_apart_by_part ),
        TEST_CASE( floors_only_rise ),
        TEST_CASE( noise_raises_no_floor ),
        TEST_CASE( raised_floors_are_rounded_down ),
        TEST_CASE( missing_libraries_are_named_and_no_failure ),
        TEST_CASE( failures_and_other_pairs_fail ),
        TEST_CASE( broken_floors_are_refused ),
    };
    int status = test_run( "floors", cases, TEST_COUNT( cases ), argc, argv );
    remove( RESULTS );
    remove( FLOORS );
    return status;
}
