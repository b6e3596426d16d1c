// SPDX-License-Identifier: MIT
#include "lab/measure/machine.h"

#include "cleave/types.h"
#include "lab/base/platform.h"

#include <stdio.h>
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
