// SPDX-License-Identifier: MIT
// Runs inputs through a target without libFuzzer, on any machine: files, or a number of random byte strings.
// A random string that stops the program can be written to a file by its number.
#define _POSIX_C_SOURCE 200809L // setenv

#include "fuzz_bytes.h"
#include "fuzz_target.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !defined( _WIN32 )
#include <unistd.h>
#endif

#define MOST_BYTES 65536

#define RECORDING "stopped.clvrec"

static char s_now[256]; // what is being run, for the last words
static char s_number[24];
static char* s_again[] = { NULL, NULL, "--random", s_number, "1",
    NULL }; // this program with that input alone

// The same input once more, its calls recorded (recorded.h).
static void record_again( void )
{
#if !defined( _WIN32 )
    if ( getenv( "CLEAVE_RECORD" ) != NULL )
    {
        fprintf( stderr,
            "fuzz-replay: %s: its calls; `cleave replay FILE --judge --shrink OUT --c OUT.c` makes them a test\n",
            getenv( "CLEAVE_RECORD" ) );
        return;
    }
    setenv( "CLEAVE_RECORD", RECORDING, 1 );
    signal( SIGABRT, SIG_DFL );
    sigset_t all;
    sigfillset( &all );
    sigprocmask( SIG_UNBLOCK, &all, NULL ); // the handler's own signal is blocked, and would stay so
    execv( s_again[0], s_again );
#endif
}

static void tell_input( int number )
{
    // Not safe in a handler by the letter of the standard; the program ends here anyway, and the name is
    // worth it.
    fprintf( stderr, "fuzz-replay: stopped in %s\n", s_now ); // NOLINT(bugprone-signal-handler)
    record_again();
    signal( number, SIG_DFL );
    raise( number );
}

static size_t make_random( uint64_t seed, uint8_t* data, size_t most )
{
    uint64_t state = fuzz_mix( seed );
    size_t size = (size_t)( state % most );
    for ( size_t i = 0; i < size; ++i )
    {
        state = fuzz_mix( state );
        data[i] = (uint8_t)( state >> 32 );
    }
    return size;
}

static int run_file( fuzz_target* target, const char* path, uint8_t* data )
{
    FILE* file = fopen( path, "rb" );
    if ( file == NULL )
    {
        fprintf( stderr, "fuzz-replay: %s: cannot be opened\n", path );
        return 2;
    }
    size_t size = fread( data, 1, MOST_BYTES, file );
    fclose( file );
    snprintf( s_now, sizeof( s_now ), "%s", path );
    s_again[2] = s_now;
    s_again[3] = NULL;
    target( data, size );
    return 0;
}

static void run_random( fuzz_target* target, uint64_t first, uint64_t count, uint8_t* data, size_t most )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint64_t number = first + i;
        snprintf( s_now, sizeof( s_now ), "random input %llu", (unsigned long long)number );
        snprintf( s_number, sizeof( s_number ), "%llu", (unsigned long long)number );
        s_again[2] = "--random";
        s_again[3] = s_number;
        target( data, make_random( number, data, most ) );
    }
}

// One to four words or bytes of the file become others, and one copy in four ends early.
static size_t make_damaged( uint64_t seed, uint8_t* data, size_t size )
{
    static const uint32_t odd[] = { 0, 1, 2, 255, 65535, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu };
    uint64_t state = fuzz_mix( seed );
    for ( uint64_t changes = 1 + state % 4; changes > 0; --changes )
    {
        state = fuzz_mix( state );
        size_t at = (size_t)( state % size );
        uint32_t word = odd[( state >> 40 ) % ( sizeof( odd ) / sizeof( odd[0] ) )];
        if ( ( state >> 60 ) < 8 && at + sizeof( word ) <= size )
        {
            memcpy( data + ( at & ~(size_t)3 ), &word, sizeof( word ) );
        }
        else
        {
            data[at] = (uint8_t)( state >> 32 );
        }
    }
    return ( state >> 56 ) % 4 == 0 ? (size_t)( state >> 20 ) % size : size;
}

static int run_damaged( fuzz_target* target, const char* path, uint64_t count, uint8_t* data )
{
    static uint8_t whole[MOST_BYTES];
    FILE* file = fopen( path, "rb" );
    size_t size = file != NULL ? fread( whole, 1, MOST_BYTES, file ) : 0;
    if ( file != NULL )
    {
        fclose( file );
    }
    for ( uint64_t i = 0; i < count && size > 0; ++i )
    {
        snprintf( s_now, sizeof( s_now ), "%s, damaged copy %llu", path, (unsigned long long)i );
        memcpy( data, whole, size );
        target( data, make_damaged( i, data, size ) );
    }
    return size > 0 ? 0 : 2;
}

static int usage( void )
{
    fputs(
        "usage: fuzz-replay space|query|world|near|save|record|scene [--random FIRST COUNT] [--damaged COUNT FILE] [--write NUMBER FILE] [FILE...]\n"
        "  --random FIRST COUNT  run the random inputs FIRST .. FIRST + COUNT - 1\n"
        "  --damaged COUNT FILE  run so many damaged copies of FILE\n"
        "  --write NUMBER FILE   write random input NUMBER to FILE\n"
        "An input of space, query or world that stops the program is run once more, and its calls are written to\n"
        "stopped.clvrec, those of the second space to stopped.clvrec.1: docs/replay.md.\n"
        "example: fuzz-replay space --random 0 500 test/fuzz/corpus/space-*\n",
        stderr );
    return 2;
}

static int write_random( uint64_t number, const char* path, uint8_t* data, size_t most )
{
    size_t size = make_random( number, data, most );
    FILE* file = fopen( path, "wb" );
    if ( file == NULL || fwrite( data, 1, size, file ) != size || fclose( file ) != 0 )
    {
        fprintf( stderr, "fuzz-replay: %s: cannot be written\n", path );
        return 2;
    }
    return 0;
}

static fuzz_target* find_target( const char* name )
{
    if ( strcmp( name, "space" ) == 0 )
    {
        return fuzz_space;
    }
    if ( strcmp( name, "query" ) == 0 )
    {
        return fuzz_query;
    }
    if ( strcmp( name, "world" ) == 0 )
    {
        return fuzz_world;
    }
    if ( strcmp( name, "near" ) == 0 )
    {
        return fuzz_near;
    }
    if ( strcmp( name, "save" ) == 0 )
    {
        return fuzz_save;
    }
#ifdef FUZZ_WITH_LAB
    if ( strcmp( name, "record" ) == 0 )
    {
        return fuzz_record;
    }
    if ( strcmp( name, "scene" ) == 0 )
    {
        return fuzz_scene;
    }
#endif
    return NULL;
}

int main( int argc, char** argv )
{
    static uint8_t data[MOST_BYTES];
    fuzz_target* target = argc > 1 ? find_target( argv[1] ) : NULL;
    if ( target == NULL )
    {
        return usage();
    }
    s_again[0] = argv[0];
    s_again[1] = argv[1];
    signal( SIGABRT, tell_input );
    signal( SIGSEGV, tell_input );
    size_t most = 1500;
    uint64_t runs = 0;
    int status = 0;
    for ( int i = 2; i < argc && status == 0; ++i )
    {
        if ( strcmp( argv[i], "--random" ) == 0 && i + 2 < argc )
        {
            uint64_t count = strtoull( argv[i + 2], NULL, 10 );
            run_random( target, strtoull( argv[i + 1], NULL, 10 ), count, data, most );
            runs += count;
            i += 2;
        }
        else if ( strcmp( argv[i], "--damaged" ) == 0 && i + 2 < argc )
        {
            uint64_t count = strtoull( argv[i + 1], NULL, 10 );
            status = run_damaged( target, argv[i + 2], count, data );
            runs += count;
            i += 2;
        }
        else if ( strcmp( argv[i], "--write" ) == 0 && i + 2 < argc )
        {
            status = write_random( strtoull( argv[i + 1], NULL, 10 ), argv[i + 2], data, most );
            i += 2;
        }
        else
        {
            status = argv[i][0] == '-' && argv[i][1] == '-' ? usage() : run_file( target, argv[i], data );
            runs += 1;
        }
    }
    if ( status == 0 )
    {
        printf( "fuzz-replay: %s: %llu inputs, all as they must be\n", argv[1], (unsigned long long)runs );
    }
    return status;
}
