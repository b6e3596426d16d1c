// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "lab/measure/machine.h"

#include "base/timer.h"
#include "cleave/types.h"
#include "lab/base/interrupt.h"
#include "lab/base/platform.h"
#include "lab/base/terminal.h"
#include "lab/frame/frame_source.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined( __x86_64__ ) || defined( __i386__ )
#include <cpuid.h>
#endif

// CMake defines it; a compiler run by hand does not.
#if !defined( LAB_COMPILER_FLAGS )
#define LAB_COMPILER_FLAGS "unknown"
#endif

static void trim( char* text )
{
    size_t start = strspn( text, " \t" );
    memmove( text, text + start, strlen( text + start ) + 1 );
    size_t length = strlen( text );
    while ( length > 0 && strchr( " \t\r\n", text[length - 1] ) != NULL )
    {
        text[--length] = '\0';
    }
}

#if defined( __x86_64__ ) || defined( __i386__ )

// The brand string: three leaves of 16 characters.
static void look_at_cpu( char* name, size_t size )
{
    unsigned registers[12];
    char brand[sizeof( registers ) + 1] = "";
    for ( unsigned leaf = 0; leaf < 3; ++leaf )
    {
        unsigned* four = registers + (size_t)4 * leaf;
        if ( __get_cpuid( 0x80000002u + leaf, four, four + 1, four + 2, four + 3 ) == 0 )
        {
            return;
        }
    }
    memcpy( brand, registers, sizeof( registers ) );
    trim( brand );
    if ( brand[0] != '\0' )
    {
        snprintf( name, size, "%s", brand );
    }
}

#else

static void look_at_cpu( char* name, size_t size )
{
    FILE* file = fopen( "/proc/cpuinfo", "r" );
    char line[256];
    while ( file != NULL && fgets( line, sizeof( line ), file ) != NULL )
    {
        char* colon = strchr( line, ':' );
        bool is_name = strncmp( line, "model name", 10 ) == 0 || strncmp( line, "cpu\t", 4 ) == 0 ||
            strncmp( line, "Hardware", 8 ) == 0 || strncmp( line, "CPU part", 8 ) == 0;
        if ( colon != NULL && is_name )
        {
            trim( colon + 1 );
            snprintf( name, size, "%s%s", line[0] == 'C' ? "ARM part " : "", colon + 1 );
            break;
        }
    }
    if ( file != NULL )
    {
        fclose( file );
    }
}

#endif

// Asked once: later our own work is what loads the machine.
static double load_at_start( void )
{
    static double load = -1;
    load = load < 0 && load == load ? platform_load() : load;
    return load;
}

machine_facts machine_look( void )
{
    machine_facts facts = { .cpu = "unknown" };
    look_at_cpu( facts.cpu, sizeof( facts.cpu ) );
    facts.core_count = platform_core_count();
    facts.isa = clv_isa_name( clv_isa_best() );
    facts.flags = LAB_COMPILER_FLAGS;
    facts.system = platform_name();
    facts.load = load_at_start();
#if defined( __clang__ )
    snprintf( facts.compiler, sizeof( facts.compiler ), "clang %d.%d", __clang_major__, __clang_minor__ );
#elif defined( __GNUC__ )
    snprintf( facts.compiler, sizeof( facts.compiler ), "gcc %d.%d", __GNUC__, __GNUC_MINOR__ );
#elif defined( _MSC_VER )
    snprintf( facts.compiler, sizeof( facts.compiler ), "msvc %d", _MSC_VER );
#else
    snprintf( facts.compiler, sizeof( facts.compiler ), "unknown" );
#endif
    return facts;
}

// ---- others

#if defined( __linux__ )

#include "lab/base/platform.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Ticks since the machine and its processes began; they count in the same unit.
typedef struct tick_counts
{
    uint64_t all, busy; ///< of all processors
    uint64_t own;       ///< of this process group, those that have ended included
} tick_counts;

static bool read_line( const char* path, char* line, size_t size )
{
    FILE* file = fopen( path, "r" );
    bool good = file != NULL && fgets( line, (int)size, file ) != NULL;
    if ( file != NULL )
    {
        fclose( file );
    }
    return good;
}

static bool count_machine( tick_counts* counts )
{
    char line[256];
    uint64_t user, nice, system, idle, wait, hard, soft, stolen;
    if ( !read_line( "/proc/stat", line, sizeof( line ) ) ||
        sscanf( line,
            "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
            " %" SCNu64,
            &user, &nice, &system, &idle, &wait, &hard, &soft, &stolen ) != 8 )
    {
        return false;
    }
    counts->busy = user + nice + system + hard + soft + stolen;
    counts->all = counts->busy + idle + wait;
    return true;
}

// /proc/PID/stat: what follows the name, which may hold anything, is state, parent, group, then 9 fields that
// are not needed here, and the ticks in user mode, in the kernel, and both of children that have ended.
static void count_process( const char* name, platform_entry entry, void* user )
{
    tick_counts* counts = user;
    char path[64], line[1024];
    if ( entry.kind != PLATFORM_FOLDER || strspn( name, "0123456789" ) != strlen( name ) )
    {
        return;
    }
    snprintf( path, sizeof( path ), "/proc/%.20s/stat", name );
    const char* rest = read_line( path, line, sizeof( line ) ) ? strrchr( line, ')' ) : NULL;
    long group = 0;
    uint64_t ticks[4] = { 0 };
    bool is_read = rest != NULL &&
        sscanf( rest + 1,
            " %*c %*d %ld %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
            &group, &ticks[0], &ticks[1], &ticks[2], &ticks[3] ) == 5;
    if ( is_read && group == (long)getpgrp() )
    {
        counts->own += ticks[0] + ticks[1] + ticks[2] + ticks[3];
    }
}

static bool count_ticks( tick_counts* counts )
{
    *counts = ( tick_counts ){ 0 };
    return count_machine( counts ) && platform_list( "/proc", count_process, counts );
}

static void sleep_for( double seconds )
{
    double whole = floor( seconds );
    struct timespec time = { (time_t)whole, (long)( ( seconds - whole ) * 1e9 ) };
    nanosleep( &time, NULL );
}

// Share of all processors, 0 to 1, that processes outside this one's process group used during the next
// `seconds`, time stolen by a hypervisor included. NaN where it is not known (systems without /proc).
static double others_share( double seconds )
{
    tick_counts before, after;
    if ( !count_ticks( &before ) )
    {
        return NAN;
    }
    sleep_for( seconds );
    if ( !count_ticks( &after ) || after.all <= before.all )
    {
        return NAN;
    }
    double busy = (double)after.busy - (double)before.busy;
    double own = (double)after.own - (double)before.own;
    double share = ( busy - ( own > 0 ? own : 0 ) ) / (double)( after.all - before.all );
    return share > 0 ? share : 0; // ticks are coarse
}

#else

static double others_share( double seconds )
{
    (void)seconds;
    return NAN;
}

#endif

// Long enough for a tick to be a small share, short enough to be done before every scene.
#define LOOK_S 0.5

others_seen others_wait( double most, double wait_s )
{
    others_seen seen = { 0 };
    uint64_t begin = clv_base_clock_ns();
    for ( ;; )
    {
        double look_s = seen.waited_s > 0 ? 4 * LOOK_S : LOOK_S;
        seen.share = others_share( look_s );
        if ( !( seen.share > most ) || seen.waited_s >= wait_s || interrupt_raised() )
        {
            return seen;
        }
        seen.waited_s = (double)( clv_base_clock_ns() - begin ) / 1e9;
    }
}

// ---- estimate

// Seconds per box and frame, measured at 32k moving cubes on one core.
#define OURS_S 1.2e-7   // with kernels
#define PLAIN_S 1e-6    // without
#define THEIRS_S 4e-6   // other people's, on the mean
#define TEST_S 1.5e-10  // box against box, by a kernel
#define SCALAR_S 3e-9   // without
#define SCALAR_FACTOR 8 // of the other methods
#define BAKE_S 1e-7     // a body that only flies
#define PHYSICS_S 1.5e-6

double estimate_frame_s( const run_spec* spec, uint32_t object_count )
{
    char unread[64];
    if ( !run_spec_is_available( spec, unread, sizeof( unread ) ) )
    {
        return 0;
    }
    const clv_method* row = spec->row;
    double n = (double)object_count;
    bool is_scalar = strcmp( run_spec_variant( spec ), "scalar" ) == 0;
    double test_s = is_scalar ? SCALAR_S : TEST_S;
    if ( strcmp( row->name, "brute" ) == 0 )
    {
        return 0.5 * n * n * test_s;
    }
    double box_s = row->is_opaque ? THEIRS_S
        : !row->has_isa           ? PLAIN_S
        : is_scalar               ? SCALAR_FACTOR * OURS_S
                                  : OURS_S;
    // A sweep along one axis tests what lies in a slice of the world.
    double sweep_s = strcmp( row->name, "sap" ) == 0 ? pow( n, 5.0 / 3.0 ) * test_s : 0;
    return n * box_s + sweep_s;
}

static estimate_scene look_at_file( const char* path )
{
    estimate_scene scene = { 0 };
    frame_source source = { 0 };
    lab_error unread;
    if ( frame_source_open_file( &source, path, &unread ) )
    {
        scene.object_count = source.header.object_count;
        scene.frame_count = source.header.frame_count;
        frame_source_close( &source );
    }
    return scene;
}

estimate_scene estimate_scene_spec(
    const scene_spec* spec, uint32_t body_count, uint32_t frames_wanted, uint64_t seed )
{
    if ( spec->generator == NULL )
    {
        return look_at_file( spec->path );
    }
    bake_def def = scene_spec_bake_def( spec, body_count, frames_wanted, seed );
    estimate_scene scene = { .object_count = generator_object_count( &def.scene ),
        .frame_count = def.frame_count };
    if ( !bake_cache_holds( &def ) )
    {
        double body_s = spec->generator->report != NULL ? PHYSICS_S : BAKE_S;
        scene.bake_s = body_s * (double)def.scene.body_count * ( (double)def.from + (double)def.frame_count );
        scene_file_bytes( scene.object_count, scene.frame_count, &scene.bake_bytes );
    }
    return scene;
}

text_short estimate_text( double seconds )
{
    text_short shown;
    char time[32];
    progress_format_time( seconds, time, sizeof( time ) );
    snprintf( shown.text, sizeof( shown.text ), "%s%s", seconds < 1 ? "under a second" : "about ",
        seconds < 1 ? "" : time );
    return shown;
}
