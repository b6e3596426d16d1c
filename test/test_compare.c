// SPDX-License-Identifier: MIT
// Two results are told apart beyond the noise and not within it; broken files are refused with what is wrong
// in them.
#include "lab/compare/comparison.h"
#include "program.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILE_A "test_compare_a.json"
#define FILE_B "test_compare_b.json"
#define COMPARE "compare " FILE_A " " FILE_B " "

// ---- making results

typedef struct recipe_of_run
{
    const char* method;
    double factor; ///< times as long as the others
    double noise;  ///< share by which passes differ
    const char* hash;
    const char* status;
} recipe_of_run;

#define HASH "0x00000000000000aa"
#define FRAMES 40

static void write_passes( FILE* file, const recipe_of_run* run, uint32_t passes, test_random* random )
{
    fprintf( file, "\"pass_ms\": [" );
    for ( uint32_t pass = 0; pass < passes; ++pass )
    {
        // Noise of a whole pass, and a little of each frame.
        double mood = 1 + run->noise * (double)test_random_between( random, -1, 1 );
        fprintf( file, "%s[", pass > 0 ? "," : "" );
        for ( uint32_t frame = 0; frame < FRAMES; ++frame )
        {
            double ms = ( 1 + 0.5 * sin( frame ) ) * run->factor * mood *
                ( 1 + 0.1 * run->noise * (double)test_random_between( random, -1, 1 ) );
            fprintf( file, "%s%.6f", frame > 0 ? "," : "", ms );
        }
        fprintf( file, "]" );
    }
    fprintf( file, "]" );
}

static void write_run( FILE* file, const recipe_of_run* run, uint32_t passes, test_random* random )
{
    fprintf( file,
        "{\"scene\": \"s\", \"type\": \"cubes\", \"objects\": 1000, \"frames\": %d, \"method\": \"%s\", "
        "\"variant\": \"avx2\", \"threads\": 1, \"settings\": null, \"status\": \"%s\", \"reason\": \"because\"",
        FRAMES, run->method, run->status );
    if ( strcmp( run->status, "ok" ) == 0 )
    {
        fprintf( file,
            ", \"ms_median\": %g, \"ms_mean\": 1, \"ms_min\": 1, \"ms_p99\": 1, \"update_ms\": 1, "
            "\"search_ms\": 1, \"pairs_hash\": \"%s\", ",
            run->factor, run->hash );
        write_passes( file, run, passes, random );
    }
    fprintf( file, "}" );
}

static void write_results( const char* path, const recipe_of_run* runs, size_t count, uint64_t seed )
{
    test_random random = test_random_make( seed );
    FILE* file = fopen( path, "wb" );
    CHECK( file != NULL );
    fprintf( file, "{\"cleave\": \"0.1.0\", \"machine\": {\"cpu\": \"c\"}, \"runs\": [" );
    for ( size_t index = 0; index < count; ++index )
    {
        fprintf( file, index > 0 ? ",\n" : "" );
        write_run( file, &runs[index], 5, &random );
    }
    fprintf( file, "]}\n" );
    fclose( file );
}

static void write_text( const char* path, const char* text )
{
    FILE* file = fopen( path, "wb" );
    CHECK( file != NULL );
    fputs( text, file );
    fclose( file );
}

static comparison_verdict verdict_of(
    const recipe_of_run* a, const recipe_of_run* b, double bound, uint64_t seed )
{
    run_results results_a, results_b;
    lab_error why = { LAB_DONE, "" };
    comparison all;
    write_results( FILE_A, a, 1, seed );
    write_results( FILE_B, b, 1, seed + 1000 );
    CHECK( results_read_file( FILE_A, &results_a, &why ) && results_read_file( FILE_B, &results_b, &why ) );
    comparison_make( &all, &results_a, &results_b, bound );
    CHECK_EQUAL( all.count, 1 );
    comparison_verdict verdict = all.rows[0].verdict;
    CHECK_EQUAL( all.counts[verdict], 1 );
    CHECK( all.rows[0].time.low <= all.rows[0].time.high );
    comparison_free( &all );
    run_results_free( &results_a );
    run_results_free( &results_b );
    return verdict;
}

// ---- verdicts

static void changes_beyond_the_noise_are_told( void )
{
    recipe_of_run before = { "m", 1, 0.03, HASH, "ok" };
    recipe_of_run slower = { "m", 1.2, 0.03, HASH, "ok" };
    recipe_of_run faster = { "m", 0.8, 0.03, HASH, "ok" };
    for ( uint64_t seed = 1; seed <= 20; ++seed )
    {
        test_where.seed = seed;
        CHECK_EQUAL( verdict_of( &before, &slower, 5, seed ), COMPARISON_REGRESSED );
        CHECK_EQUAL( verdict_of( &before, &slower, 50, seed ), COMPARISON_SLOWER );
        CHECK_EQUAL( verdict_of( &before, &faster, 5, seed ), COMPARISON_FASTER );
    }
}

static void noise_is_no_change( void )
{
    recipe_of_run quiet = { "m", 1, 0.02, HASH, "ok" };
    recipe_of_run loud = { "m", 1.01, 0.3, HASH, "ok" };
    uint32_t alarms = 0;
    for ( uint64_t seed = 1; seed <= 50; ++seed )
    {
        alarms += verdict_of( &quiet, &quiet, 5, seed ) == COMPARISON_REGRESSED ? 1 : 0;
        alarms += verdict_of( &loud, &loud, 5, seed ) == COMPARISON_REGRESSED ? 1 : 0;
        alarms += verdict_of( &quiet, &loud, 5, seed ) == COMPARISON_REGRESSED ? 1 : 0;
    }
    // Five passes of a very noisy run may all be slow by chance, but seldom.
    CHECK( alarms <= 7 );
}

static void the_same_file_is_the_same( void )
{
    recipe_of_run run = { "m", 1, 0.1, HASH, "ok" };
    write_results( FILE_A, &run, 1, 7 );
    program_answer* answer = program_run( "compare " FILE_A " " FILE_A " --all" );
    CHECK( answer->status == 0 && program_said( answer, "1 the same within the noise" ) );
    CHECK( program_said( answer, "1.000" ) );
}

static void one_hiccup_does_not_count( void )
{
    recipe_of_run run = { "m", 1, 0.01, HASH, "ok" };
    run_results a, b;
    lab_error why = { LAB_DONE, "" };
    write_results( FILE_A, &run, 1, 3 );
    CHECK( results_read_file( FILE_A, &a, &why ) && results_read_file( FILE_A, &b, &why ) );
    for ( uint32_t frame = 0; frame < 10; ++frame )
    {
        b.items[0].pass_ms[frame] *= 1000; // in one pass of five
    }
    bootstrap_ratio time = bootstrap_compare( &a.items[0], &b.items[0] );
    CHECK( time.ratio < 1.02 && time.low < 1.02 );
    bootstrap_ratio again = bootstrap_compare( &a.items[0], &b.items[0] );
    CHECK( time.low == again.low && time.high == again.high ); // the same draws
    run_results_free( &a );
    run_results_free( &b );
}

static void old_files_without_passes_are_compared( void )
{
    const char* text =
        "{\"runs\": [{\"scene\": \"s\", \"type\": \"cubes\", \"objects\": 9, \"frames\": 3, \"method\": \"m\", "
        "\"variant\": \"v\", \"threads\": 1, \"status\": \"ok\", \"ms_median\": 1, \"ms_mean\": 1, "
        "\"ms_min\": 1, \"ms_p99\": 1, \"update_ms\": 0, \"search_ms\": 1, \"pairs_hash\": \"" HASH "\", "
        "\"frame_ms\": [1, 2, %d]}]}";
    char buffer[1024];
    snprintf( buffer, sizeof( buffer ), text, 3 );
    write_text( FILE_A, buffer );
    CHECK_EQUAL( program_run( "compare " FILE_A " " FILE_A )->status, 0 );
    snprintf( buffer, sizeof( buffer ), text, 300 );
    write_text( FILE_B, buffer );
    program_answer* answer = program_run( COMPARE );
    CHECK(
        answer->status == 0 && program_said( answer, "fewer than three passes" ) ); // one frame may be chance
}

// ---- the command

static void the_status_tells_the_worst( void )
{
    const struct
    {
        recipe_of_run b;
        int status;
        const char* said;
    } rows[] = {
        { { "m", 1.0, 0.01, HASH, "ok" }, 0, "1 the same" },
        { { "m", 0.5, 0.01, HASH, "ok" }, 0, "1 faster" },
        { { "m", 1.5, 0.01, HASH, "ok" }, 1, "REGRESSED" },
        { { "m", 1.0, 0.01, "0x00000000000000ab", "ok" }, 1, "OTHER PAIRS" },
        { { "m", 1.0, 0.01, HASH, "failed" }, 1, "BROKEN: m@avx2 on 1000 objects of s: failed: because" },
        { { "m", 1.0, 0.01, HASH, "timeout" }, 1, "BROKEN" },
        { { "m", 1.0, 0.01, HASH, "unavailable" }, 0, "1 neither" },
    };
    recipe_of_run a = { "m", 1, 0.01, HASH, "ok" };
    write_results( FILE_A, &a, 1, 1 );
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        write_results( FILE_B, &rows[row].b, 1, 2 );
        program_answer* answer = program_run( COMPARE );
        test_where.note = rows[row].said;
        CHECK_EQUAL( answer->status, rows[row].status );
        CHECK( program_said( answer, rows[row].said ) );
    }
    write_results( FILE_B, &rows[2].b, 1, 2 );
    CHECK_EQUAL( program_run( COMPARE "--bound 80" )->status, 0 );
    recipe_of_run broken = { "m", 1, 0.01, HASH, "failed" };
    write_results( FILE_B, &a, 1, 2 );
    write_results( FILE_A, &broken, 1, 2 );
    program_answer* answer = program_run( COMPARE );
    CHECK( answer->status == 0 && program_said( answer, "mended" ) );
}

static void runs_in_one_file_alone_are_listed( void )
{
    recipe_of_run a[] = { { "both", 1, 0.01, HASH, "ok" }, { "old", 1, 0.01, HASH, "ok" } };
    recipe_of_run b[] = { { "new", 1, 0.01, HASH, "ok" }, { "both", 1, 0.01, HASH, "ok" } };
    write_results( FILE_A, a, 2, 1 );
    write_results( FILE_B, b, 2, 1 );
    program_answer* answer = program_run( COMPARE );
    CHECK_EQUAL( answer->status, 0 );
    CHECK( program_said( answer, "only in A  s cubes" ) && program_said( answer, "only in B  s cubes" ) );
    CHECK( program_said( answer, "1 compared" ) && program_said( answer, "1 only in A; 1 only in B" ) );
    write_results( FILE_B, b, 1, 1 );
    answer = program_run( COMPARE );
    CHECK( answer->status == 2 && program_said( answer, "no run is in both" ) );
}

// ---- doubts

static void write_machine( const char* path, const char* machine, double factor )
{
    recipe_of_run run = { "m", factor, 0.01, HASH, "ok" };
    test_random random = test_random_make( 5 );
    FILE* file = fopen( path, "wb" );
    CHECK( file != NULL );
    fprintf( file, "{\"cleave\": \"0.1.0\", \"machine\": {%s}, \"runs\": [", machine );
    write_run( file, &run, 5, &random );
    fprintf( file, "]}\n" );
    fclose( file );
}

static void times_of_a_busy_machine_are_doubted( void )
{
    static const struct
    {
        const char *a, *b;
        const char* said; ///< NULL: no doubt
    } rows[] = {
        { "\"cores\": 2, \"load\": 1.0", "\"cores\": 2, \"load\": 6.6",
            "A was measured at a load of 1.0 and B at a load of 6.6" },
        { "\"cores\": 2, \"load\": 5", "\"cores\": 2, \"load\": 5", "others were at work" },
        { "\"cores\": 16, \"load\": 1", "\"cores\": 16, \"load\": 4", "others were at work" },
        { "\"cores\": 16", "\"cores\": 16, \"load\": 40", "A was measured at an unknown load" },
        { "\"cpu\": \"x\"", "\"cpu\": \"y\"", "another processor than B: x and y" },
        { "\"cpu\": \"x\", \"cores\": 2", "\"cpu\": \"x\", \"cores\": 4", "A had 2 cores and B 4" },
        { "\"cores\": 2, \"load\": 0.1", "\"cores\": 2, \"load\": 1.1", NULL },
        { "\"cores\": 16, \"load\": 14", "\"cores\": 16, \"load\": 15", NULL },
        { "\"cpu\": \"x\"", "", NULL },
    };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        write_machine( FILE_A, rows[row].a, 1 );
        write_machine( FILE_B, rows[row].b, 2.35 );
        program_answer* answer = program_run( COMPARE );
        test_where.note = rows[row].b;
        CHECK_EQUAL( answer->status, 1 ); // it may be real
        CHECK( program_said( answer, "REGRESSED" ) );
        CHECK( program_said( answer, "REGRESSED?" ) == ( rows[row].said != NULL ) );
        CHECK( program_said( answer, "DOUBTFUL" ) == ( rows[row].said != NULL ) );
        CHECK( rows[row].said == NULL || program_said( answer, rows[row].said ) );
    }
}

// ---- bad files

#define GOOD_FRONT                                                                                           \
    "\"scene\": \"s\", \"type\": \"t\", \"objects\": 1, \"frames\": 2, \"method\": \"m\", \"variant\": \"v\", \"threads\": 1"
#define GOOD_TIMES                                                                                           \
    "\"status\": \"ok\", \"ms_median\": 1, \"ms_mean\": 1, \"ms_min\": 1, \"ms_p99\": 1, \"update_ms\": 1, \"search_ms\": 1"

static void broken_files_are_refused( void )
{
    static const char* const rows[][2] = {
        { "", "is empty" },
        { "{", "not JSON" },
        { "[]", "holds no \"runs\"" },
        { "7", "holds no \"runs\"" },
        { "{\"runs\": {}}", "holds no \"runs\"" },
        { "{\"runs\": [7]}", "runs[0]: must be an object" },
        { "{\"runs\": [{}]}", "runs[0]: \"scene\" must be a text" },
        { "{\"runs\": [{" GOOD_FRONT "}]}", "\"status\" must be a text" },
        { "{\"runs\": [{" GOOD_FRONT ", \"status\": \"fine\"}]}", "\"status\" must be ok" },
        { "{\"runs\": [{" GOOD_FRONT ", \"status\": \"ok\"}]}", "\"ms_median\" must be a number" },
        { "{\"runs\": [{" GOOD_FRONT ", " GOOD_TIMES "}]}", "\"pairs_hash\" must be 0x" },
        { "{\"runs\": [{" GOOD_FRONT ", " GOOD_TIMES ", \"pairs_hash\": \"0xg000000000000000\"}]}",
            "\"pairs_hash\"" },
        { "{\"runs\": [{" GOOD_FRONT ", " GOOD_TIMES ", \"pairs_hash\": \"" HASH "\", \"frame_ms\": [1]}]}",
            "\"frame_ms\" must hold a number per frame" },
        { "{\"runs\": [{" GOOD_FRONT ", " GOOD_TIMES ", \"pairs_hash\": \"" HASH
          "\", \"frame_ms\": [1, -2]}]}",
            "\"frame_ms\" must hold numbers" },
        { "{\"runs\": [{" GOOD_FRONT ", " GOOD_TIMES ", \"pairs_hash\": \"" HASH
          "\", \"pass_ms\": [[1, 2], [1]]}]}",
            "\"pass_ms\" must hold" },
        { "{\"runs\": [{" GOOD_FRONT ", " GOOD_TIMES ", \"pairs_hash\": \"" HASH
          "\", \"counters\": {\"a\": null}}]}",
            "\"counters\" must hold numbers" },
        { "{\"runs\": [{\"scene\": \"s\", \"type\": \"t\", \"objects\": 1e99, \"method\": \"m\", \"variant\": \"v\"}]}",
            "\"objects\" must be a whole number" },
        { "{\"runs\": [{\"scene\": \"s\", \"type\": \"t\", \"objects\": 1, \"frames\": 0.5, \"method\": \"m\", "
          "\"variant\": \"v\"}]}",
            "\"frames\" must be a whole number" },
        { "{\"runs\": [{" GOOD_FRONT ", \"status\": \"ok\", \"ms_median\": -1}]}", "\"ms_median\"" },
    };
    recipe_of_run good = { "m", 1, 0.01, HASH, "ok" };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        // Read without the program too, so that sanitizers see it.
        run_results results;
        lab_error why = { LAB_DONE, "" };
        write_text( FILE_B, rows[row][0] );
        test_where.note = rows[row][0];
        CHECK( !results_read_file( FILE_B, &results, &why ) );
        CHECK( results.count == 0 && strstr( why.text, FILE_B ) != NULL );
        if ( strstr( why.text, rows[row][1] ) == NULL )
        {
            CHECK_TEXT( why.text, rows[row][1] );
        }
    }
    write_results( FILE_A, &good, 1, 1 );
    CHECK_EQUAL( program_run( COMPARE )->status, 2 );
    CHECK_EQUAL( program_run( "compare " FILE_A " no-such.json" )->status, 2 );
    CHECK_EQUAL( program_run( "compare " FILE_A )->status, 2 );
    CHECK_EQUAL( program_run( "compare " FILE_A " " FILE_A " --bound x" )->status, 2 );
}

static void absurd_files_do_no_harm( void )
{
    // Frames that are not there, and no frames at all.
    write_text( FILE_A,
        "{\"runs\": [{\"scene\": \"s\", \"type\": \"t\", \"objects\": 1, \"frames\": 4294967295, \"method\": \"m\", "
        "\"variant\": \"v\", \"threads\": 1, " GOOD_TIMES ", \"pairs_hash\": \"" HASH "\"}]}" );
    CHECK_EQUAL( program_run( "compare " FILE_A " " FILE_A )->status, 0 );
    write_text( FILE_A,
        "{\"runs\": [{\"scene\": \"s\", \"type\": \"t\", \"objects\": 1, \"frames\": 0, \"method\": \"m\", "
        "\"variant\": \"v\", \"threads\": 1, " GOOD_TIMES ", \"pairs_hash\": \"" HASH
        "\", \"pass_ms\": [[], []]}]}" );
    CHECK_EQUAL( program_run( "compare " FILE_A " " FILE_A )->status, 0 );
    // All zero: the clock saw nothing.
    write_text( FILE_A,
        "{\"runs\": [{" GOOD_FRONT ", " GOOD_TIMES ", \"pairs_hash\": \"" HASH
        "\", \"pass_ms\": [[0, 0], [0, 0], [0, 0]]}]}" );
    CHECK_EQUAL( program_run( "compare " FILE_A " " FILE_A )->status, 0 );
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
        TEST_CASE( changes_beyond_the_noise_are_told ),
        TEST_CASE( noise_is_no_change ),
        TEST_CASE( the_same_file_is_the_same ),
        TEST_CASE( one_hiccup_does_not_count ),
        TEST_CASE( old_files_without_passes_are_compared ),
        TEST_CASE( the_status_tells_the_worst ),
        TEST_CASE( runs_in_one_file_alone_are_listed ),
        TEST_CASE( times_of_a_busy_machine_are_doubted ),
        TEST_CASE( broken_files_are_refused ),
        TEST_CASE( absurd_files_do_no_harm ),
    };
    int status = test_run( "compare", cases, TEST_COUNT( cases ), argc, argv );
    remove( FILE_A );
    remove( FILE_B );
    return status;
}
