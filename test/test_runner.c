// SPDX-License-Identifier: MIT
// A run that crashes, hangs or eats the memory ends alone and says why; what is done outlives Ctrl-C and kill
// -9.
#define _POSIX_C_SOURCE 200809L
#include "lab/base/json.h"
#include "lab/result/results.h"
#include "lab/run/live.h"
#include "program.h"
#include "support.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SCHEDULE "test_runner.schedule"
#define JSON "test_runner.json"
#define JOURNAL JSON ".journal"
#define PAGE "test_runner.html"
#define RUN "run " SCHEDULE " --json " JSON " "

static void write_file( const char* path, const char* text )
{
    FILE* file = fopen( path, "wb" );
    CHECK( file != NULL );
    fputs( text, file );
    fclose( file );
}

static bool exists( const char* path )
{
    return access( path, F_OK ) == 0;
}

static void begin( const char* schedule )
{
    remove( JSON );
    remove( JOURNAL );
    write_file( SCHEDULE, schedule );
}

static run_results read_results( void )
{
    run_results results;
    lab_error why = { LAB_DONE, "" };
    bool good = results_read_file( JSON, &results, &why );
    CHECK_TEXT( good ? "" : why.text, "" );
    return results;
}

static const run_result* find( const run_results* results, const char* name, uint32_t objects )
{
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        if ( strcmp( run->method, name ) == 0 && run->object_count == objects )
        {
            return run;
        }
    }
    test_where.note = name;
    CHECK( false );
    return NULL;
}

static void check_run( const run_results* results, const char* name, run_status status, const char* reason )
{
    const run_result* run = find( results, name, 1000 );
    test_where.note = name;
    CHECK_TEXT( run_status_name( run->status ), run_status_name( status ) );
    if ( strstr( run->reason, reason ) == NULL )
    {
        CHECK_TEXT( run->reason, reason );
    }
}

// ---- bad methods

static void bad_runs_end_alone( void )
{
    begin( "sizes 1k\nframes 3\nrepeat 1\ntime-limit 1\nmemory-limit 200\n"
           "methods sap bad-crash brute bad-abort bad-hang bad-eat bad-eat-shared bad-leave bad-vanish kd "
           "gpu-bad-reserve bad-heir\n" );
    program_answer* answer = program_run( RUN );
    CHECK_EQUAL( answer->status, 1 );
    run_results results = read_results();
    CHECK_EQUAL( results.count, 12 );
    check_run( &results, "bad-crash", RUN_FAILED, "crashed by SIGSEGV" );
    check_run( &results, "bad-abort", RUN_FAILED, "crashed by SIGABRT" );
    check_run( &results, "bad-abort", RUN_FAILED, "the very last words" );
    check_run( &results, "bad-hang", RUN_TIMEOUT, "within a frame" );
    check_run( &results, "bad-eat", RUN_FAILED, "memory" );
    check_run( &results, "bad-eat-shared", RUN_FAILED, "over the memory limit of 200.0 MiB" );
    // Where there is no device it is not available; a limit must not keep it from one.
    CHECK( find( &results, "gpu-bad-reserve", 1000 )->status != RUN_FAILED );
    // 5: something that a module did to the program itself has reached the process it started.
    check_run( &results, "bad-heir", RUN_FAILED, "ended with status 4" );
    check_run( &results, "bad-leave", RUN_FAILED, "ended with status 3" );
    check_run( &results, "bad-vanish", RUN_FAILED, "without an answer" );
    const run_result* sap = find( &results, "sap", 1000 );
    const run_result* kd = find( &results, "kd", 1000 );
    CHECK(
        sap->status == RUN_OK && kd->status == RUN_OK && find( &results, "brute", 1000 )->status == RUN_OK );
    CHECK( sap->pairs_hash == kd->pairs_hash && sap->pairs_hash != 0 && sap->pass_count == 1 );
    CHECK( sap->frame_static != NULL && sap->frame_update_ms != NULL );
    CHECK( program_said( answer, "failed: bad-crash" ) && program_said( answer, "timeout: bad-hang" ) );
    run_results_free( &results );
}

static void orphans_of_a_run_are_not_waited_for( void )
{
    struct timespec from, to;
    clock_gettime( CLOCK_MONOTONIC, &from );
    begin( "sizes 1k\nframes 3\nrepeat 1\nmethods bad-orphan\n" );
    CHECK_EQUAL( program_run( RUN )->status, 1 );
    clock_gettime( CLOCK_MONOTONIC, &to );
    CHECK( to.tv_sec - from.tv_sec < 30 ); // of 40 that it sleeps
    run_results results = read_results();
    check_run( &results, "bad-orphan", RUN_FAILED, "ended with status 6" );
    run_results_free( &results );
}

// Drivers are asked in a child process first: one that crashes costs the methods on a device, and nothing
// else.
static void a_driver_that_crashes_ends_alone( void )
{
    const char* before = getenv( "CLEAVE_OPENCL" );
    char* kept = before != NULL ? strdup( before ) : NULL;
    setenv( "CLEAVE_OPENCL", TEST_BAD_OPENCL, 1 );
    setenv( "BAD_OPENCL", "abort@clGetPlatformIDs", 1 );
    setenv( "FAKE_OPENCL_VERSION", "of this test", 1 ); // no other was ever opened
    begin( "sizes 1k\nframes 3\nrepeat 1\nmethods sap gpu-grid\n" );
    program_answer* answer = program_run( RUN );
    CHECK_EQUAL( answer->status, 0 );
    run_results results = read_results();
    CHECK_EQUAL( results.count, 2 );
    check_run( &results, "sap", RUN_OK, "" );
    check_run( &results, "gpu-grid", RUN_UNAVAILABLE, "it died of SIGABRT in clGetPlatformIDs" );
    run_results_free( &results );
    // All methods there are: those on a device are left out.
    begin( "sizes 100\nframes 1\nrepeat 1\n" );
    answer = program_run( "run " SCHEDULE " --dry-run" );
    CHECK_EQUAL( answer->status, 0 );
    CHECK( program_said( answer, "sap@" ) && !program_said( answer, "gpu-grid" ) );
    // Named on the command line, with a device or without, it is an error at once.
    answer = program_run( "run " SCHEDULE " -m gpu-grid" );
    CHECK_EQUAL( answer->status, 2 );
    CHECK( program_said( answer, "-m: gpu-grid cannot run here: the OpenCL library " TEST_BAD_OPENCL ) );
    answer = program_run( "run " SCHEDULE " -m gpu-grid --device 0" );
    CHECK_EQUAL( answer->status, 2 );
    CHECK( program_said( answer, "--device 0: the OpenCL library " TEST_BAD_OPENCL " is left out" ) );
    answer = program_run( "bench -n 100 --frames 1 -m gpu-grid --isolate -q" );
    CHECK_EQUAL( answer->status, 2 );
    CHECK( program_said( answer, "it died of SIGABRT in clGetPlatformIDs" ) );
    // The list names it, and what was printed last.
    answer = program_run( "methods" );
    CHECK_EQUAL( answer->status, 0 );
    CHECK(
        program_said( answer, "No device for the methods on a GPU: the OpenCL library " TEST_BAD_OPENCL ) );
    CHECK( program_said( answer, "it printed last: \"the last words of Bad\"" ) );
    answer = program_run( "methods --json" );
    CHECK_EQUAL( answer->status, 0 );
    CHECK( program_said( answer, "drivers_left_out" ) && program_said( answer, "SIGABRT" ) );
    // One that dies when it is opened has a row, and cannot be used.
    setenv( "BAD_OPENCL", "crash@clCreateContext", 1 );
    answer = program_run( "methods" );
    CHECK_EQUAL( answer->status, 0 );
    CHECK( program_said(
        answer, "Device 0 cannot be used: opened in a child process, its driver died of SIGSEGV" ) );
    answer = program_run( "bench -n 100 --frames 1 -m gpu-grid -q" );
    CHECK_EQUAL( answer->status, 2 );
    CHECK( program_said( answer, "died of SIGSEGV in clCreateContext" ) );
    unsetenv( "BAD_OPENCL" );
    unsetenv( "FAKE_OPENCL_VERSION" );
    kept != NULL ? setenv( "CLEAVE_OPENCL", kept, 1 ) : unsetenv( "CLEAVE_OPENCL" );
    free( kept );
}

static void wrong_answers_are_noticed( void )
{
    begin( "sizes 1k\nframes 3\nrepeat 1\nmethods sap bad-blind\n" );
    program_answer* answer = program_run( RUN );
    CHECK_EQUAL( answer->status, 1 );
    CHECK( program_said( answer, "RESULTS DISAGREE on brownian-free, 1000 objects" ) );
}

// Another judge than brute force is compared with it, in every frame, and does not judge itself.
static void a_judge_is_compared_with_brute_force( void )
{
    program_answer* answer =
        program_run( "verify brownian-free:9k -m sap@scalar --frames 1 --judge cleave --events -q" );
    CHECK_EQUAL( answer->status, 0 );
    CHECK( program_said( answer, "judged by cleave@" ) );
    CHECK( program_said( answer,
        "1 runs compared with cleave, pair by pair, with begun and ended pairs; in every frame it" ) );
    answer = program_run( "verify brownian-free:500 -m sap@scalar --frames 1 --judge bad-blind -q" );
    CHECK_EQUAL( answer->status, 1 );
    CHECK( program_said(
        answer, "bad-blind may not judge: frame 0: on 500 boxes it has not brute force's pairs (" ) );
    answer = program_run( "verify brownian-free:500 -m bad-blind --frames 1 --judge sap -q" );
    CHECK_EQUAL( answer->status, 1 );
    CHECK( program_said( answer, "NOT ALL AGREE: 1 runs compared with sap" ) );
    answer = program_run( "verify brownian-free:500 -m sap --frames 1 --judge sap -q" );
    CHECK_EQUAL( answer->status, 1 );
    CHECK( program_said( answer, "it is the judge" ) );
    CHECK( program_said( answer, "Nothing was checked" ) );
}

static void a_time_limit_between_frames_tells_the_frame( void )
{
    // Frames far below the limit, however slow the build, and far more of them than it allows.
    begin( "sizes 300\nframes 60\nrepeat 5000\nmethods brute@scalar\ntime-limit 0.3\n" );
    program_answer* answer = program_run( RUN );
    CHECK_EQUAL( answer->status, 0 );
    run_results results = read_results();
    CHECK_EQUAL( results.count, 1 );
    CHECK( results.items[0].status == RUN_TIMEOUT &&
        strstr( results.items[0].reason, "over 0.3 s in frame " ) != NULL );
    run_results_free( &results );
}

static void ladders_end_after_what_is_too_slow( void )
{
    begin( "sizes 1k 2k 4k\nframes 2\nrepeat 1\nladder 1e-9\nmethods sap bad-crash bad-blind\n" );
    program_run( RUN );
    run_results results = read_results();
    CHECK_EQUAL( results.count, 3 ); // 1k of each
    run_results_free( &results );
    begin( "sizes 1k 2k 4k\nframes 2\nrepeat 1\nladder 100\nmethods sap bad-crash\n" );
    program_run( RUN );
    results = read_results();
    CHECK_EQUAL( results.count, 3 + 1 );
    run_results_free( &results );
}

// ---- rounds

static void rounds_add_their_passes( void )
{
    begin( "sizes 1k\nframes 3\nrepeat 2\nrounds 3\nmethods sap kd\n" );
    CHECK_EQUAL( program_run( RUN )->status, 0 );
    run_results results = read_results();
    CHECK_EQUAL( results.count, 2 );
    for ( uint32_t index = 0; index < 2; ++index )
    {
        const run_result* run = &results.items[index];
        double least = run->pass_ms[0];
        CHECK_EQUAL( run->pass_count, 6 );
        for ( uint32_t pass = 0; pass < 6; ++pass )
        {
            least = run->pass_ms[pass * 3] < least ? run->pass_ms[pass * 3] : least;
        }
        CHECK( run->frame_ms[0] == least );
    }
    CHECK( find( &results, "kd", 1000 )->counter_count > 0 ); // what the worker counted came along
    run_results_free( &results );
}

static void read_text( const char* path, char* text, size_t room )
{
    FILE* file = fopen( path, "rb" );
    CHECK( file != NULL );
    text[fread( text, 1, room - 1, file )] = '\0';
    fclose( file );
}

// The page of a run that goes on is there too, and renews itself; the last one does not.
static void the_table_is_a_page_too( void )
{
    static char text[1 << 16];
    begin(
        "sizes 200 300\nrepeat 1\nwarmup 0\nframes 2\npart a\nscenes brownian-free\nmethods cleave sap\n" );
    remove( PAGE );
    CHECK_EQUAL( program_run( RUN "-q --page " PAGE )->status, 0 );
    read_text( PAGE, text, sizeof( text ) );
    CHECK( strstr( text, "<b>4 of 4</b> runs; nothing runs any more" ) != NULL );
    CHECK( strstr( text, "<td>brownian-free:300:cubes sap@" ) != NULL &&
        strstr( text, "location.reload" ) == NULL );
    live_page page;
    run_result run = { .status = RUN_FAILED };
    live_page_begin( &page, PAGE );
    live_page_add( &page, "<script>&", &run, "signal <11>", false );
    live_page_write( &page, 1, 7, "kd & kin", ", 3 min left", false );
    live_page_end( &page );
    read_text( PAGE, text, sizeof( text ) );
    CHECK( strstr( text, "&lt;script&gt;&amp;</td><td colspan=\"6\">failed: signal &lt;11&gt;" ) != NULL );
    CHECK( strstr( text, "<b>1 of 7</b> runs; now kd &amp; kin, 3 min left" ) != NULL &&
        strstr( text, "location.reload" ) != NULL );
    program_answer* answer = program_run( RUN "--restart --page no/such/" PAGE );
    CHECK( answer->status == 2 && program_said( answer, "no/such/" PAGE ) );
    remove( PAGE );
}

static void bench_gives_the_same_pairs_in_either_way( void )
{
    text_short hashes[2];
    for ( int way = 0; way < 2; ++way )
    {
        CHECK_EQUAL( program_run( way == 0 ? "bench -n 2k -m sap --frames 3 --json " JSON
                                           : "bench -n 2k -m sap --frames 3 --isolate --json " JSON )
                         ->status,
            0 );
        run_results results = read_results();
        hashes[way] = results_hash( results.items[0].pairs_hash );
        run_results_free( &results );
    }
    CHECK_TEXT( hashes[0].text, hashes[1].text );
}

// ---- two builds

static void two_builds_are_measured_in_turn( void )
{
    begin( "sizes 1k\nframes 3\nrepeat 1\nrounds 3\nmethods sap kd\n" );
    program_answer* answer = program_run( RUN "--against " TEST_PROGRAM " --bound 1000000" );
    CHECK_EQUAL( answer->status, 0 );
    CHECK( program_said( answer, "2 compared" ) && program_said( answer, "kd@" ) &&
        program_said( answer, "(against)" ) );
    run_results results = read_results();
    CHECK_EQUAL( results.count, 2 ); // ours alone
    CHECK_EQUAL( results.items[0].pass_count, 3 );
    run_results_free( &results );
    // A build that cannot run a thing does not spoil ours.
    answer = program_run( RUN "--against /bin/false --restart" );
    CHECK( answer->status == 0 && program_said( answer, "mended" ) &&
        program_said( answer, "ended with status 1" ) );
    CHECK_EQUAL( program_run( RUN "--against no-such-program" )->status, 2 );
    CHECK_EQUAL( program_run( RUN "--in-process --against " TEST_PROGRAM )->status, 2 );
}

// ---- resuming

#define LONG_SCHEDULE                                                                                        \
    "sizes 1k 2k\nframes 20\nrepeat 3\nrounds 2\nmethods sap kd grid bvh-f bvh-d segment-tree isap tracy\n"

static uint32_t line_count( const char* path )
{
    FILE* file = fopen( path, "rb" );
    uint32_t count = 0;
    for ( int c = file != NULL ? fgetc( file ) : EOF; c != EOF; c = fgetc( file ) )
    {
        count += c == '\n' ? 1 : 0;
    }
    if ( file != NULL )
    {
        fclose( file );
    }
    return count;
}

// Starts the long schedule and ends it once some of its 32 rounds are in the journal.
static int run_half( const char* flags, uint32_t lines, int signal_number )
{
    char line[256];
    snprintf( line, sizeof( line ), RUN "%s", flags );
    int process = program_start( line );
    const struct timespec moment = { 0, 1000000 };
    for ( int wait = 0; wait < 60000 && line_count( JOURNAL ) < lines; ++wait )
    {
        nanosleep( &moment, NULL );
    }
    return program_end( process, signal_number );
}

static void check_whole( const run_results* results )
{
    CHECK_EQUAL( results->count, 16 );
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        CHECK( results->items[index].status == RUN_OK );
        CHECK_EQUAL( results->items[index].pass_count, 6 );
        for ( uint32_t other = 0; other < index; ++other )
        {
            CHECK( strcmp( results->items[index].key, results->items[other].key ) != 0 );
        }
    }
}

static void a_killed_run_is_resumed( void )
{
    begin( LONG_SCHEDULE );
    CHECK_EQUAL( run_half( "", 12, SIGKILL ), 128 + SIGKILL );
    CHECK( exists( JOURNAL ) && !exists( JSON ) );
    uint32_t kept = line_count( JOURNAL );
    CHECK_EQUAL( program_run( RUN )->status, 2 ); // it would be a pity to lose these
    CHECK_EQUAL( line_count( JOURNAL ), kept );
    // Killed in the middle of a line, and once more.
    FILE* file = fopen( JOURNAL, "ab" );
    fputs( "{\"key\": \"half a l", file );
    fclose( file );
    CHECK_EQUAL( run_half( "--resume", 20, SIGKILL ), 128 + SIGKILL );
    program_answer* answer = program_run( RUN "--resume" );
    CHECK_EQUAL( answer->status, 0 );
    CHECK( program_said( answer, "  kept" ) );
    CHECK( !exists( JOURNAL ) );
    run_results results = read_results();
    check_whole( &results );
    run_results_free( &results );
}

static void an_interrupted_run_says_how_to_go_on( void )
{
    begin( LONG_SCHEDULE );
    CHECK_EQUAL( run_half( "", 6, SIGINT ), 1 );
    char text[4096] = "";
    FILE* file = fopen( program_error_file(), "rb" );
    CHECK( file != NULL );
    text[fread( text, 1, sizeof( text ) - 1, file )] = '\0';
    fclose( file );
    remove( program_error_file() );
    CHECK( strstr( text, JOURNAL ) != NULL && strstr( text, "--resume" ) != NULL );
    CHECK( exists( JOURNAL ) );
    run_results results = { 0 };
    if ( exists( JSON ) )
    {
        results = read_results(); // whole jobs alone: --resume believes them
        CHECK( results.count > 0 && results.items[0].pass_count == 6 );
        run_results_free( &results );
    }
    CHECK_EQUAL( program_run( RUN "--resume -q" )->status, 0 );
    results = read_results();
    check_whole( &results );
    run_results_free( &results );
}

static void complete_results_are_taken_over( void )
{
    begin( "sizes 1k\nframes 3\nmethods sap\n" );
    CHECK_EQUAL( program_run( RUN )->status, 0 );
    run_results first = read_results();
    CHECK_EQUAL( program_run( RUN "--resume -m sap,kd" )->status, 0 );
    run_results second = read_results();
    CHECK_EQUAL( second.count, 2 );
    CHECK( first.items[0].ms_mean == second.items[0].ms_mean ); // not measured again
    CHECK_TEXT( first.items[0].key, second.items[0].key );
    // Another repeat is another measurement; a limit is none.
    CHECK_EQUAL( program_run( RUN "--resume --time-limit 99 --memory-limit 4000" )->status, 0 );
    run_results third = read_results();
    CHECK( third.count == 1 && third.items[0].ms_mean == first.items[0].ms_mean );
    program_answer* answer = program_run( RUN "--resume --repeat 2" );
    CHECK( answer->status == 0 && !program_said( answer, "kept" ) );
    run_results_free( &first );
    run_results_free( &second );
    run_results_free( &third );
}

static void failed_runs_are_done_again_under_other_limits( void )
{
    begin( "sizes 1k\nframes 3\nmethods bad-leave\n" );
    CHECK_EQUAL( program_run( RUN )->status, 1 );
    program_answer* answer = program_run( RUN "--resume" );
    CHECK( answer->status == 1 && program_said( answer, "kept" ) );
    answer = program_run( RUN "--resume --time-limit 7" );
    CHECK( answer->status == 1 && !program_said( answer, "kept" ) );
}

// ---- pieces

// As many pieces as it takes; each leaves what it has done, and the last takes the journal away. On a machine
// with much else to do no run may fit into the first ones, so they become longer.
static void a_schedule_is_done_in_pieces( void )
{
    begin( LONG_SCHEDULE );
    int status = 3;
    uint32_t pieces = 0;
    for ( ; status == 3 && pieces < 200; ++pieces )
    {
        char command[sizeof( RUN ) + 64];
        snprintf( command, sizeof( command ), RUN "-q --resume --budget %.1f", 0.4 + 0.1 * pieces );
        program_answer* answer = program_run( command );
        status = answer->status;
        CHECK( status == 0 ||
            ( status == 3 && exists( JOURNAL ) && program_said( answer, "--resume goes on" ) ) );
    }
    CHECK_EQUAL( status, 0 );
    CHECK( !exists( JOURNAL ) );
    run_results results = read_results();
    check_whole( &results );
    run_results_free( &results );
}

// A run that does not fit is cut off and is no failure: it is done by a piece that has the time.
static void a_run_beyond_the_budget_is_not_a_timeout( void )
{
    begin( "sizes 1k\nframes 3\nmethods bad-hang\ntime-limit 2\n" );
    program_answer* answer = program_run( RUN "-q --budget 0.5" );
    CHECK_EQUAL( answer->status, 3 );
    CHECK( exists( JOURNAL ) );
    run_results results = read_results();
    CHECK_EQUAL( results.count, 0 );
    run_results_free( &results );
    CHECK_EQUAL( program_run( RUN "-q --resume --budget 60" )->status, 0 );
    results = read_results();
    CHECK( results.count == 1 && results.items[0].status == RUN_TIMEOUT );
    run_results_free( &results );
}

// Each run says when it was and what others used; whatever that is, waiting for it ends.
static void a_run_tells_the_day_and_the_others( void )
{
    begin( "sizes 1k\nframes 3\nmethods sap\n" );
    CHECK_EQUAL( program_run( RUN "-q --others 0.001 --others-wait 1" )->status, 0 );
    run_results results = read_results();
    const json_value* run = results.items[0].json;
    const char* day = json_as_text( json_get( run, "date" ) );
    CHECK( day != NULL && strlen( day ) == 10 && day[4] == '-' && day[7] == '-' );
    double share = json_as_number( json_get( run, "others" ) );
    CHECK( share >= 0 && share <= 1 );
    CHECK( json_as_number( json_get( run, "waited_s" ) ) >= 0 );
    run_results_free( &results );
    CHECK_EQUAL( program_run( RUN "-q --resume" )->status, 0 );
    results = read_results();
    CHECK( json_get( results.items[0].json, "others" ) != NULL ); // kept with the run
    run_results_free( &results );
}

#define RECORDED( from, frames ) "freefall-v1-cubes-n200-from" from "-frames" frames "-seed1.aabbs"

// Windows of a run that is recorded already are cut from it, and hold what a recording of their own would.
static void windows_are_cut_from_a_longer_recording( void )
{
    static const char window[] = "bench freefall:200@%s -m sap --repeat 1 --warmup 0 -q --json " JSON;
    uint64_t hashes[2];
    for ( uint32_t is_cut = 0; is_cut < 2; ++is_cut )
    {
        setenv( "CLEAVE_CACHE", is_cut ? "test_runner_cut" : "test_runner_own", 1 );
        char line[256];
        snprintf( line, sizeof( line ), window, is_cut ? "2+9" : "5+4" );
        CHECK_EQUAL( program_run( line )->status, 0 );
        snprintf( line, sizeof( line ), window, "5+4" );
        CHECK_EQUAL( program_run( line )->status, 0 );
        run_results results = read_results();
        CHECK_EQUAL( results.items[0].frame_count, 4 );
        hashes[is_cut] = results.items[0].pairs_hash;
        run_results_free( &results );
    }
    CHECK( hashes[0] == hashes[1] );
    CHECK( exists( "test_runner_own/" RECORDED( "5", "4" ) ) );
    CHECK( exists( "test_runner_cut/" RECORDED( "2", "9" ) ) &&
        !exists( "test_runner_cut/" RECORDED( "5", "4" ) ) );
    remove( "test_runner_own/" RECORDED( "5", "4" ) );
    remove( "test_runner_cut/" RECORDED( "2", "9" ) );
    setenv( "CLEAVE_CACHE", "test_runner_cache", 1 );
}

// So many that a table of eight files would not hold them; the papers' schedules have twelve.
static void many_windows_are_baked_together( void )
{
    begin(
        "scenes freefall:50@0+1 freefall:50@1+1 freefall:50@2+1 freefall:50@3+1 freefall:50@4+1 freefall:50@5+1 "
        "freefall:50@6+1 freefall:50@7+1 freefall:50@8+1 freefall:50@9+1 freefall:50@10+1 freefall:50@11+1\n"
        "methods sap\n" );
    CHECK_EQUAL( program_run( RUN "-q --bake" )->status, 0 );
}

// --bake writes each window, from one simulation, and does no run.
static void windows_of_a_run_are_baked_together( void )
{
    begin( "scenes freefall:200@5+4 freefall:200@8+3 freefall:200@5+4\nmethods sap\nrepeat 1\nwarmup 0\n" );
    uint64_t hashes[2][2];
    for ( uint32_t is_together = 0; is_together < 2; ++is_together )
    {
        setenv( "CLEAVE_CACHE", "test_runner_own", 1 );
        CHECK_EQUAL( !is_together || program_run( RUN "-q --bake" )->status == 0, 1 );
        bool are_there = exists( "test_runner_own/" RECORDED( "5", "4" ) ) &&
            exists( "test_runner_own/" RECORDED( "8", "3" ) );
        CHECK_EQUAL( are_there, is_together );
        CHECK_EQUAL( program_run( RUN "-q --restart" )->status, 0 );
        run_results results = read_results();
        CHECK_EQUAL( results.count, 2 );
        hashes[is_together][0] = results.items[0].pairs_hash;
        hashes[is_together][1] = results.items[1].pairs_hash;
        run_results_free( &results );
        remove( "test_runner_own/" RECORDED( "5", "4" ) );
        remove( "test_runner_own/" RECORDED( "8", "3" ) );
    }
    CHECK( hashes[0][0] == hashes[1][0] && hashes[0][1] == hashes[1][1] );
    begin( "scenes freefall:200@0+2 brownian-free:200@0+2 brownian:200@0+2\nmethods sap\n" );
    CHECK_EQUAL( program_run( RUN "-q --scenes brownian" )->status, 0 );
    run_results chosen = read_results();
    CHECK( chosen.count == 1 && strcmp( chosen.items[0].scene, "brownian" ) == 0 );
    run_results_free( &chosen );
    setenv( "CLEAVE_CACHE", "test_runner_cache", 1 );
}

// ---- bad usage

static void bad_usage_is_told( void )
{
    static const char* const rows[][2] = {
        { "run", "needs a SCHEDULE" },
        { "run nosuch", "no schedule 'nosuch'" },
        { "run nosuch.schedule", "nosuch.schedule: cannot be read" },
        { RUN "-m nosuch", "part test_runner: -m: unknown method 'nosuch'" },
        { RUN "--pin x", "--pin 'x'" },
        { RUN "--only nosuch", "no part of what is to be run is called 'nosuch'" },
        { RUN "--scenes gravity", "no scene of what is to be run is called 'gravity'" },
        { RUN "--resume --restart", "give one" },
        { RUN "--others 101", "--others '101'" },
        { "run " SCHEDULE " --resume", "--json OUT" },
        { "run " SCHEDULE " --json no/such/folder/x.json", "no/such/folder/x.json" },
        { "run " SCHEDULE " --json .", "is a folder" },
        { "run " SCHEDULE " --repeat 0", "--repeat 0 is out of range" },
        { "run quick --show --nosuch", "unknown flag --nosuch" },
        { "run nosuch --show", "no schedule 'nosuch'; there are demo, quick" },
        { "bench -n 1k -m sap --memory-limit 5", "--isolate" },
        { "worker", "needs a WHAT" },
        { "worker brownian-free", "takes one method" },
    };
    begin( "sizes 1k\nframes 2\nmethods sap\n" );
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        program_answer* answer = program_run( rows[row][0] );
        CHECK_EQUAL( answer->status, 2 );
        if ( !program_said( answer, rows[row][1] ) )
        {
            CHECK_TEXT( answer->errors, rows[row][1] );
        }
        const char* end = strchr( answer->errors, '\n' );
        CHECK( end != NULL && end[1] == '\0' ); // one line
    }
}

static void schedules_are_listed_and_shown( void )
{
    program_answer* answer = program_run( "run --list" );
    CHECK( answer->status == 0 && program_said( answer, "quick" ) && program_said( answer, "full" ) );
    answer = program_run( "run quick --show" );
    CHECK( answer->status == 0 && program_said( answer, "about " ) );
    begin( "sizes 1k 2k\nmethods sap kd\n" );
    answer = program_run( "run " SCHEDULE " --dry-run" );
    CHECK( answer->status == 0 && program_said( answer, "4 runs" ) && !exists( JSON ) );
}

int main( int argc, char** argv )
{
    lab_error why;
    if ( !results_have_json( &why ) )
    {
        printf( "skipped: %s\n", why.text );
        return 77;
    }
    setenv( "CLEAVE_PEERS", TEST_BAD_PEERS, 1 );
    setenv( "CLEAVE_CACHE", "test_runner_cache", 1 );
    const test_case cases[] = {
        TEST_CASE( bad_runs_end_alone ),
        TEST_CASE( orphans_of_a_run_are_not_waited_for ),
        TEST_CASE( a_driver_that_crashes_ends_alone ),
        TEST_CASE( wrong_answers_are_noticed ),
        TEST_CASE( a_judge_is_compared_with_brute_force ),
        TEST_CASE( a_time_limit_between_frames_tells_the_frame ),
        TEST_CASE( ladders_end_after_what_is_too_slow ),
        TEST_CASE( rounds_add_their_passes ),
        TEST_CASE( bench_gives_the_same_pairs_in_either_way ),
        TEST_CASE( two_builds_are_measured_in_turn ),
        TEST_CASE( a_killed_run_is_resumed ),
        TEST_CASE( an_interrupted_run_says_how_to_go_on ),
        TEST_CASE( complete_results_are_taken_over ),
        TEST_CASE( failed_runs_are_done_again_under_other_limits ),
        TEST_CASE( a_schedule_is_done_in_pieces ),
        TEST_CASE( a_run_beyond_the_budget_is_not_a_timeout ),
        TEST_CASE( a_run_tells_the_day_and_the_others ),
        TEST_CASE( windows_are_cut_from_a_longer_recording ),
        TEST_CASE( many_windows_are_baked_together ),
        TEST_CASE( windows_of_a_run_are_baked_together ),
        TEST_CASE( the_table_is_a_page_too ),
        TEST_CASE( bad_usage_is_told ),
        TEST_CASE( schedules_are_listed_and_shown ),
    };
    int status = test_run( "runner", cases, TEST_COUNT( cases ), argc, argv );
    remove( SCHEDULE );
    remove( JSON );
    remove( program_error_file() );
    return status;
}
