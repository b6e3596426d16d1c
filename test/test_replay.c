// SPDX-License-Identifier: MIT
// `cleave replay`, `view` and `render` of recordings, as users start them: what they say, and how they end.
#include "cleave/cleave.h"
#include "fuzz/fuzz_parts.h"
#include "program.h"
#include "record/record.h"
#include "support.h"

#include <string.h>

#define GOOD "test_replay_good.clvrec"
#define WRONG "test_replay_wrong.clvrec"
#define CUT "test_replay_cut.clvrec"
#define HOSTILE "test_replay_hostile.clvrec"
#define NOTHING "test_replay_nothing.clvrec"
#define SMALL "test_replay_small.clvrec"

enum
{
    BOXES = 30,
    FRAMES = 3,
    // The calls: add, update; then in every frame move, update.
    LAST_UPDATE = 1 + 2 * FRAMES,
};

static uint8_t s_bytes[1 << 16];
static size_t s_size;

static void write_file( const char* path, const void* bytes, size_t size )
{
    FILE* file = fopen( path, "wb" );
    CHECK( file != NULL && fwrite( bytes, 1, size, file ) == size && fclose( file ) == 0 );
}

static void record_world( void )
{
    test_random random = test_random_make( 3 );
    clv_space_def def = clv_default_space_def();
    clv_recorder_def how = clv_default_recorder_def();
    clv_space* space = NULL;
    clv_recorder* recorder = NULL;
    clv_aabb boxes[BOXES];
    clv_id ids[BOXES];
    how.path = GOOD;
    how.writes_each = true; // a part for each call, as of a program that crashes
    CHECK( clv_space_create( &def, &space ) == CLV_OK );
    CHECK( clv_recorder_create( &how, space, &recorder ) == CLV_OK );
    for ( int frame = 0; frame <= FRAMES; ++frame )
    {
        for ( int i = 0; i < BOXES; ++i )
        {
            float x = test_random_between( &random, 0, 4 ), y = test_random_between( &random, 0, 4 );
            boxes[i] = ( clv_aabb ){ { x, y, 0 }, { x + 1, y + 1, 1 } };
        }
        clv_result result = frame == 0 ? clv_space_add( space, boxes, BOXES, ids )
                                       : clv_space_move( space, ids, boxes, BOXES );
        CHECK( result == CLV_OK && clv_space_update( space ) == CLV_OK );
    }
    CHECK( clv_recorder_close( recorder ) == CLV_OK );
    clv_space_destroy( space );
    FILE* file = fopen( GOOD, "rb" );
    CHECK( file != NULL );
    s_size = fread( s_bytes, 1, sizeof( s_bytes ), file );
    CHECK( s_size > 0 && s_size < sizeof( s_bytes ) && fclose( file ) == 0 );
}

// The head of the answer to a call, in s_bytes.
static size_t answer_of( uint64_t number )
{
    for ( size_t at = 0; at + RECORD_HEAD_BYTES + 8 <= s_size; ++at )
    {
        const uint8_t* head = s_bytes + at;
        bool is_answer = base_get_u64( head ) == 8 + 8 * RECORD_MOST_WORDS && head[8] == RECORD_ANSWER &&
            head[10] == RECORD_MOST_WORDS;
        if ( is_answer && base_get_u64( head + RECORD_HEAD_BYTES ) == number )
        {
            return at;
        }
    }
    CHECK( false );
    return 0;
}

static void try_program( const char* words, int status, const char* said )
{
    program_answer* answer = program_run( words );
    if ( answer->status != status || !program_said( answer, said ) )
    {
        printf( "%s: status %d\n%s%s", words, answer->status, answer->out, answer->errors );
    }
    CHECK( answer->status == status && program_said( answer, said ) );
}

static void a_recording_is_played_and_shown( void )
{
    record_world();
    try_program( "replay " GOOD, 0, "8 calls on cleave@" );
    try_program( "replay " GOOD " -m sap --judge", 0, "all answers as recorded and those of brute force" );
    try_program( "replay " GOOD " --isa scalar --threads 3", 0, "all answers as recorded" );
    try_program( "view " GOOD " -o test_replay.html", 0, "30 objects, 4 frames" );
    try_program( "render " GOOD " -o test_replay.png", 0, "frame 3, 30 objects" );
    try_program( "replay " GOOD " -m nosuch", 2, "nosuch" );
    try_program( "replay " NOTHING, 2, NOTHING );
    remove( "test_replay.html" );
    remove( "test_replay.png" );
}

static void the_first_answer_that_differs_is_named( void )
{
    record_world();
    size_t at = answer_of( LAST_UPDATE );
    s_bytes[at + RECORD_HEAD_BYTES + 8 + 8] ^= 1; // the second word, the set of pairs
    fuzz_mend_parts( s_bytes, s_size, "RECO" );
    write_file( WRONG, s_bytes, s_size );
    try_program( "replay " WRONG, 1, "call 7, clv_space_update, differs from the recording: set of pairs" );
    try_program( "replay " WRONG " -m brute", 1, "call 7, clv_space_update" );
    // Nothing that brute force agrees with can be shrunk, and no file is left.
    try_program( "replay " WRONG " --shrink " SMALL, 2, "nothing" );
    CHECK( fopen( SMALL, "rb" ) == NULL );
    // An earlier one, which is then the first.
    at = answer_of( LAST_UPDATE - 2 );
    s_bytes[at + RECORD_HEAD_BYTES + 8] += 1;
    fuzz_mend_parts( s_bytes, s_size, "RECO" );
    write_file( WRONG, s_bytes, s_size );
    try_program(
        "replay " WRONG, 1, "call 5, clv_space_update, differs from the recording: number of pairs" );
}

static void a_recording_that_ends_early_is_played_up_to_there( void )
{
    record_world();
    size_t size = answer_of( LAST_UPDATE ) + 20;
    write_file( CUT, s_bytes, size );
    try_program( "replay " CUT, 2, "ends early, at byte" );
    try_program( "replay " CUT, 2, "the 8 calls before were played" );
    try_program(
        "view " CUT " -o test_replay.html", 0, "30 objects, 4 frames" ); // the last answer is missing
    write_file( CUT, s_bytes, 20 );
    try_program( "replay " CUT, 2, "at byte 20: the file ends too early" );
    try_program( "view " CUT " -o test_replay.html", 2, CUT );
    try_program( "render " CUT " -o test_replay.png", 2, CUT );
    remove( "test_replay.html" );
}

static void a_damaged_or_hostile_recording_is_refused_with_the_offset( void )
{
    static const char* const commands[] = { "replay", "view -o test_replay.html",
        "render -o test_replay.png" };
    char words[120], where[60];
    remove( "test_replay.html" );
    remove( "test_replay.png" );
    for ( uint32_t i = 0; i < TEST_COUNT( commands ); ++i )
    {
        record_world();
        size_t at = answer_of( LAST_UPDATE );
        snprintf( words, sizeof( words ), "%s " HOSTILE, commands[i] );
        s_bytes[at] ^= 1; // the checksum does not fit
        write_file( HOSTILE, s_bytes, s_size );
        try_program( words, 2, HOSTILE ": at byte " );

        s_bytes[at] ^= 1;
        s_bytes[at + 7] = 0x7F; // a length beyond any file, with a checksum that fits
        fuzz_mend_parts( s_bytes, s_size, "RECO" );
        write_file( HOSTILE, s_bytes, s_size );
        snprintf( where, sizeof( where ), HOSTILE ": at byte %zu: ", at );
        try_program( words, 2, where );
        try_program( words, 2, "a record is longer than the part it is in" );

        s_bytes[at + 7] = 0;
        s_bytes[at + 8] = 9; // no such type of record
        fuzz_mend_parts( s_bytes, s_size, "RECO" );
        write_file( HOSTILE, s_bytes, s_size );
        snprintf( where, sizeof( where ), HOSTILE ": at byte %zu: ", at + 8 );
        try_program( words, 2, where );
    }
    CHECK( fopen( "test_replay.html", "rb" ) == NULL && fopen( "test_replay.png", "rb" ) == NULL );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_recording_is_played_and_shown ),
        TEST_CASE( the_first_answer_that_differs_is_named ),
        TEST_CASE( a_recording_that_ends_early_is_played_up_to_there ),
        TEST_CASE( a_damaged_or_hostile_recording_is_refused_with_the_offset ),
    };
    int result = test_run( "replay", cases, TEST_COUNT( cases ), argc, argv );
    remove( GOOD );
    remove( WRONG );
    remove( CUT );
    remove( HOSTILE );
    return result;
}
