// SPDX-License-Identifier: MIT
// Every way a scene file can be wrong that can be listed: each length, each flipped bit, hostile counts; what
// is no file at all; and writers that run into a full disk or Ctrl-C. Prints one line per kind.
#if !defined( _WIN32 )
#define _POSIX_C_SOURCE 200809L
#endif

#include "fuzz_bytes.h"
#include "lab/base/interrupt.h"
#include "lab/base/platform.h"
#include "lab/frame/scene_file.h"
#include "scene_judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined( _WIN32 )
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#endif

static uint8_t s_file[8192];

static void damage_lengths( const char* path )
{
    size_t size = scene_judge_make( s_file, 3, 2 );
    for ( size_t length = 0; length <= size + 64; ++length )
    {
        scene_judge_file( path, s_file, length );
    }
    printf( "  %zu lengths from 0 to %zu: only %zu is read\n", size + 65, size + 64, size );
}

static void damage_bits( const char* path )
{
    size_t size = scene_judge_make( s_file, 2, 1 );
    for ( size_t bit = 0; bit < 8 * size; ++bit )
    {
        s_file[bit / 8] ^= (uint8_t)( 1u << ( bit % 8 ) );
        scene_judge_file( path, s_file, size );
        s_file[bit / 8] ^= (uint8_t)( 1u << ( bit % 8 ) );
    }
    printf( "  %zu flipped bits: each is refused, or read and written as it is\n", 8 * size );
}

// Counts whose product overflows 64 bits once multiplied by 32, or is larger than any disk, or wraps to the
// true size.
static void damage_counts( const char* path )
{
    static const uint32_t odd[] = { 0, 1, 2, 3, 4, 0x10000u, 0x08000000u, 0x10000000u, 0x20000000u,
        0x40000000u, 0x7FFFFFFEu, 0x7FFFFFFFu, 0x80000000u, 0x80000001u, 0xFFFFFFFEu, 0xFFFFFFFFu };
    size_t odd_count = sizeof( odd ) / sizeof( odd[0] );
    for ( size_t i = 0; i < odd_count * odd_count; ++i )
    {
        size_t size = scene_judge_make( s_file, 2, 1 );
        for ( size_t byte = 0; byte < 4; ++byte )
        {
            s_file[256 + byte] = (uint8_t)( odd[i / odd_count] >> ( 8 * byte ) );
            s_file[260 + byte] = (uint8_t)( odd[i % odd_count] >> ( 8 * byte ) );
        }
        scene_judge_file( path, s_file, size );
    }
    uint64_t bytes = 7;
    FUZZ_CHECK(
        !scene_file_bytes( UINT32_MAX, UINT32_MAX, &bytes ) && bytes == 7, "a size that fits nowhere" );
    printf( "  %zu pairs of hostile counts: only the true one is believed\n", odd_count * odd_count );
}

static void refuse( const char* path, const char* words )
{
    scene_reader reader;
    lab_error why = { LAB_DONE, "" };
    FUZZ_CHECK( !scene_reader_open( &reader, path, &why ), "%s was opened", path );
    FUZZ_CHECK( strstr( why.text, path ) != NULL && strstr( why.text, words ) != NULL, "'%s' lacks '%s'",
        why.text, words );
    printf( "  %s\n", why.text );
}

static void count_entry( const char* name, platform_entry entry, void* user )
{
    (void)name;
    (void)entry;
    *(int*)user += 1;
}

static void check_empty( const char* folder )
{
    int count = 0;
    platform_list( folder, count_entry, &count );
    FUZZ_CHECK( count == 0, "%d files are left in %s", count, folder );
}

static scene_header small_header( uint32_t frame_count )
{
    return ( scene_header ){ .name = "damage",
        .type = "cubes",
        .object_count = 64,
        .frame_count = frame_count,
        .world = { { -1, -1, -1 }, { 1, 1, 1 } } };
}

// Frames until something goes wrong; the last words are in `why`.
static bool write_frames( const char* path, uint32_t frame_count, lab_error* why )
{
    static const clv_aabb boxes[64];
    scene_header header = small_header( frame_count );
    scene_writer writer;
    if ( !scene_writer_open( &writer, path, &header, why ) )
    {
        return false;
    }
    for ( uint32_t frame = 0; frame <= frame_count; ++frame )
    {
        if ( !scene_writer_put( &writer, boxes, why ) )
        {
            return false;
        }
    }
    return scene_writer_commit( &writer, why );
}

static void give_up_early( const char* folder )
{
    char path[600];
    snprintf( path, sizeof( path ), "%s/short.aabbs", folder );
    scene_header header = small_header( 2 );
    scene_writer writer;
    lab_error why = { LAB_DONE, "" };
    FUZZ_CHECK( scene_writer_open( &writer, path, &header, &why ), "%s", why.text );
    FUZZ_CHECK( !scene_writer_commit( &writer, &why ), "a file without its frames was put in place" );
    check_empty( folder );
    clv_aabb bad[64] = { 0 };
    bad[63].lower.y = 1;
    FUZZ_CHECK( scene_writer_open( &writer, path, &header, &why ), "%s", why.text );
    FUZZ_CHECK( !scene_writer_put( &writer, bad, &why ), "an inverted box was written" );
    check_empty( folder );
    printf( "  %s\n", why.text );
}

static void write_whole( const char* folder )
{
    char path[600];
    lab_error why = { LAB_DONE, "" };
    snprintf( path, sizeof( path ), "%s/missing.aabbs", folder );
    refuse( folder, "is a folder" );
    refuse( path, "cannot be opened" );
    FUZZ_CHECK( write_frames( path, 2, &why ), "%s", why.text );
    scene_reader reader;
    FUZZ_CHECK( scene_reader_open( &reader, path, &why ), "%s", why.text );
    scene_reader_close( &reader );
    remove( path );
}

#if !defined( _WIN32 )

static void refuse_what_is_no_file( const char* folder )
{
    char path[600];
    snprintf( path, sizeof( path ), "%s/pipe", folder );
    FUZZ_CHECK( mkfifo( path, 0600 ) == 0, "no pipe" );
    refuse( path, "pipe" );
    unlink( path );
    refuse( "/dev/zero", "device" );
    snprintf( path, sizeof( path ), "%s/secret.aabbs", folder );
    int file = open( path, O_CREAT | O_WRONLY, 0 );
    FUZZ_CHECK( file >= 0 && write( file, s_file, 304 ) == 304 && close( file ) == 0, "no secret" );
    if ( geteuid() != 0 ) // root reads files without read permission
    {
        refuse( path, "cannot be opened" );
    }
    unlink( path );
    snprintf( path, sizeof( path ), "%s/loop", folder );
    FUZZ_CHECK( symlink( path, path ) == 0, "no link" );
    refuse( path, "cannot be opened" );
    unlink( path );
    check_empty( folder );
}

// A sparse file as large as its header says, far above what memory holds: opening it costs nothing.
static void open_terabyte( const char* folder )
{
    char path[600];
    snprintf( path, sizeof( path ), "%s/large.aabbs", folder );
    scene_judge_make( s_file, 1, 1 );
    uint64_t objects = 1u << 30, size = 304 + 32 * objects * 33;
    for ( size_t byte = 0; byte < 4; ++byte )
    {
        s_file[256 + byte] = (uint8_t)( objects >> ( 8 * byte ) );
        s_file[260 + byte] = byte == 0 ? 32 : 0;
    }
    int file = open( path, O_CREAT | O_WRONLY, 0600 );
    FUZZ_CHECK( file >= 0 && write( file, s_file, 304 ) == 304, "no file" );
    if ( sizeof( off_t ) >= 8 && ftruncate( file, (off_t)size ) == 0 )
    {
        scene_reader reader;
        lab_error why = { LAB_DONE, "" };
        FUZZ_CHECK( scene_reader_open( &reader, path, &why ), "%s", why.text );
        FUZZ_CHECK( !scene_reader_read( &reader, 33, NULL, &why ), "a frame behind the last" );
        scene_reader_close( &reader );
        FUZZ_CHECK( ftruncate( file, (off_t)( size - 1 ) ) == 0, "cannot shorten" );
        refuse( path, "truncated" );
        // A file that lost its end while it was open.
        scene_judge_make( s_file, 2, 1 );
        FUZZ_CHECK( pwrite( file, s_file, 432, 0 ) == 432 && ftruncate( file, 432 ) == 0, "cannot rewrite" );
        FUZZ_CHECK( scene_reader_open( &reader, path, &why ), "%s", why.text );
        FUZZ_CHECK( ftruncate( file, 400 ) == 0, "cannot shorten" );
        clv_aabb boxes[2];
        FUZZ_CHECK(
            !scene_reader_read( &reader, 1, boxes, &why ) && strstr( why.text, "at byte 400" ) != NULL,
            "'%s'", why.text );
        printf( "  %s\n", why.text );
        scene_reader_close( &reader );
    }
    close( file );
    unlink( path );
}

// Bytes beyond the limit cannot be written, as on a full disk, for root too.
static void fill_disk( const char* folder )
{
    char path[600];
    snprintf( path, sizeof( path ), "%s/full.aabbs", folder );
    struct rlimit before, small = { 100000, 100000 };
    FUZZ_CHECK( getrlimit( RLIMIT_FSIZE, &before ) == 0, "no limits here" );
    small.rlim_max = before.rlim_max;
    FUZZ_CHECK( setrlimit( RLIMIT_FSIZE, &small ) == 0, "no limits here" );
    lab_error why = { LAB_DONE, "" };
    bool written = write_frames( path, 1000, &why );
    setrlimit( RLIMIT_FSIZE, &before );
    FUZZ_CHECK( !written && strstr( why.text, "cannot be written" ) != NULL, "'%s'", why.text );
    check_empty( folder );
    printf( "  %s\n", why.text );
#if defined( __linux__ )
    FUZZ_CHECK( !write_frames( "/dev/full", 1000, &why ), "a full device took it all" );
    printf( "  %s\n", why.text );
#endif
}

// A child writes without end; the signal must end it and what it wrote.
static void interrupt_writer( const char* folder, int number )
{
    char path[600];
    snprintf( path, sizeof( path ), "%s/endless.aabbs", folder );
    fflush( stdout );
    pid_t child = fork();
    FUZZ_CHECK( child >= 0, "no child" );
    if ( child == 0 )
    {
        interrupt_install();
        lab_error why;
        write_frames( path, 100000000, &why );
        _exit( 3 );
    }
    int count = 0, waited_ms = 0;
    for ( ; count == 0 && waited_ms < 20000; ++waited_ms )
    {
        nanosleep( &( struct timespec ){ 0, 1000000 }, NULL );
        platform_list( folder, count_entry, &count );
    }
    FUZZ_CHECK( count == 1, "the child writes nothing" );
    kill( child, number );
    int status = 0;
    waitpid( child, &status, 0 );
    FUZZ_CHECK(
        WIFEXITED( status ) && WEXITSTATUS( status ) == 128 + number, "the child ended with %d", status );
    check_empty( folder );
    printf( "  signal %d while writing: exit %d, nothing is left\n", number, 128 + number );
}

static void damage_by_system( const char* folder )
{
    signal( SIGXFSZ, SIG_IGN );
    refuse_what_is_no_file( folder );
    open_terabyte( folder );
    fill_disk( folder );
    interrupt_writer( folder, SIGINT );
    interrupt_writer( folder, SIGTERM );
    interrupt_writer( folder, SIGHUP );
}

#endif

int main( void )
{
    const char* path = scene_judge_path();
    damage_lengths( path );
    damage_bits( path );
    damage_counts( path );
    FUZZ_CHECK( platform_make_folder( path ), "%s: no folder", path );
    write_whole( path );
    give_up_early( path );
#if !defined( _WIN32 )
    damage_by_system( path );
#endif
    remove( path );
    printf( "scene-damage: every damaged file was refused, every good one read\n" );
    return 0;
}
