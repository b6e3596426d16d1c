// SPDX-License-Identifier: MIT
// Result codes and their words, and how a space remembers the last one.
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#define QUOTED( x ) #x
#define VERSION_TEXT( major, minor, patch ) QUOTED( major ) "." QUOTED( minor ) "." QUOTED( patch )

// row( code, text )
// clang-format off
#define RESULTS( row )                                                                                       \
    row( CLV_OK, "all is well" )                                                                             \
    row( CLV_BAD_DEF, "the def is incomplete or holds a value out of range" )                                \
    row( CLV_BAD_ARGUMENT, "an argument is out of range" )                                                   \
    row( CLV_BAD_BOX, "a box has a NaN, or its lower corner above its upper" )                               \
    row( CLV_BAD_ID, "an id is null, stale, or of another space" )                                           \
    row( CLV_DUPLICATE_ID, "an object is named twice in one batch" )                                         \
    row( CLV_OUT_OF_MEMORY, "the allocator had no memory left" )                                             \
    row( CLV_TOO_MANY_PAIRS, "there are more pairs than max_pairs allows" )                                  \
    row( CLV_TOO_MANY_OBJECTS, "a space holds at most CLV_MAX_OBJECTS objects" )                             \
    row( CLV_UNSUPPORTED, "this machine, or this def, cannot do that" )                                      \
    row( CLV_STOPPED, "the visitor asked to stop" )                                                          \
    row( CLV_BUSY, "a callback or hook called the space it was called by" )                                  \
    row( CLV_NO_ROOM, "the array is too small for what was found" )                                          \
    row( CLV_STALE, "first query after a change: update or refresh first" )                                  \
    row( CLV_DEVICE_FAILED, "a device or its driver failed" )                                                \
    row( CLV_LOST, "another process did not answer, or MPI failed" )                                         \
    row( CLV_FILE_FAILED, "a file could not be written or read, or is damaged" )
// clang-format on

#define NAME_OF( code, text ) [code] = #code,
#define TEXT_OF( code, text ) [code] = text,
#define CHECK_FIT( code, text )                                                                              \
    static_assert(                                                                                           \
        sizeof( #code ) <= sizeof( s_result_names[0] ) && sizeof( text ) <= sizeof( s_result_texts[0] ),     \
        "room for " #code );

// Texts and not pointers to them, which a program that is loaded anywhere would have to relocate; names apart
// from texts, since few programs need both.
static const char s_result_names[][24] = { RESULTS( NAME_OF ) };
static const char s_result_texts[][56] = { RESULTS( TEXT_OF ) };
RESULTS( CHECK_FIT )

const char* clv_result_name( clv_result result )
{
    return (unsigned)result < sizeof( s_result_names ) / sizeof( s_result_names[0] ) ? s_result_names[result]
                                                                                     : "unknown";
}

const char* clv_result_text( clv_result result )
{
    return (unsigned)result < sizeof( s_result_texts ) / sizeof( s_result_texts[0] )
        ? s_result_texts[result]
        : "not a result of this library";
}

const char* clv_version_text( void )
{
    return VERSION_TEXT( CLV_VERSION_MAJOR, CLV_VERSION_MINOR, CLV_VERSION_PATCH );
}

// Lines name methods, settings and variables of the environment, which others wrote: a newline among them
// must not make two lines of one, nor an escape sequence colour the terminal.
static void copy_plain( char* to, size_t size, const char* line )
{
    snprintf( to, size, "%s", line );
    for ( char* c = to; *c != '\0'; ++c )
    {
        if ( (unsigned char)*c < 32 || *c == 127 )
        {
            *c = '?';
        }
    }
}

void clv_space_log( const clv_logger* logger, clv_log_level level, const char* line )
{
    char plain[256];
    if ( logger->write != NULL )
    {
        copy_plain( plain, sizeof( plain ), line );
        logger->write( level, plain, logger->user );
    }
}

bool clv_space_enter( clv_space* space, const space_call* call )
{
    bool is_read = atomic_load_explicit( &space->query.reader_count, memory_order_relaxed ) > 0;
    if ( !space->is_busy && !is_read )
    {
        space->is_busy = true;
        space->mode = base_fp_enter();
        if ( call != NULL )
        {
            space->tap->begin( space->tap, space, call );
        }
        return true;
    }
    if ( !space->is_refusing ) // or it is the assert hook that calls, and would be called again without end
    {
        space->is_refusing = true;
        bool called_from_its_own_callback_or_hook = space->is_busy || is_read;
        CLV_ASSERT( !called_from_its_own_callback_or_hook );
        (void)called_from_its_own_callback_or_hook;
        space->is_refusing = false;
    }
    return false;
}

clv_result clv_space_leave( clv_space* space, clv_result result )
{
    CLV_ASSERT( space->is_busy );
    space->is_busy = false;
    space->lists_are_busy = false;
    if ( space->tap != NULL )
    {
        space->tap->end( space->tap, space, result );
    }
    base_fp_leave( space->mode );
    return result;
}

BASE_COLD clv_result clv_space_fail(
    clv_space* space, clv_result code, uint32_t position, clv_id id, const char* format, ... )
{
    CLV_ASSERT( code != CLV_OK );
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( space->error_text, sizeof( space->error_text ), format, arguments );
    va_end( arguments );
    space->error = ( clv_error ){ code, position, id, 0, NULL };
    clv_space_log( &space->def.logger, CLV_LOG_ERROR, space->error_text );
    return code;
}

clv_result clv_space_succeed( clv_space* space )
{
    space->error = ( clv_error ){ CLV_OK, UINT32_MAX, { 0, 0 }, 0, NULL };
    space->error_text[0] = '\0';
    return CLV_OK;
}

clv_error clv_space_error( const clv_space* space )
{
    clv_error error = space->error;
    error.text = space->error_text;
    return error;
}
