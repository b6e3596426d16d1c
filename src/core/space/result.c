// SPDX-License-Identifier: MIT
// Result codes and their words, and how a space remembers the last one.
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <stdarg.h>
#include <stdio.h>

#define QUOTED( x ) #x
#define VERSION_TEXT( major, minor, patch ) QUOTED( major ) "." QUOTED( minor ) "." QUOTED( patch )

typedef struct wording
{
    const char* name;
    const char* text;
} wording;

static const wording s_wordings[] = {
    [CLV_OK] = { "CLV_OK", "all is well" },
    [CLV_BAD_DEF] = { "CLV_BAD_DEF", "the def is incomplete or holds a value out of range" },
    [CLV_BAD_ARGUMENT] = { "CLV_BAD_ARGUMENT", "an argument is out of range" },
    [CLV_BAD_BOX] = { "CLV_BAD_BOX", "a box has a NaN, or its lower corner above its upper" },
    [CLV_BAD_ID] = { "CLV_BAD_ID", "an id is null, stale, or of another space" },
    [CLV_DUPLICATE_ID] = { "CLV_DUPLICATE_ID", "an object is named twice in one batch" },
    [CLV_OUT_OF_MEMORY] = { "CLV_OUT_OF_MEMORY", "the allocator had no memory left" },
    [CLV_TOO_MANY_PAIRS] = { "CLV_TOO_MANY_PAIRS", "there are more pairs than max_pairs allows" },
    [CLV_TOO_MANY_OBJECTS] = { "CLV_TOO_MANY_OBJECTS", "a space holds at most CLV_MAX_OBJECTS objects" },
    [CLV_UNSUPPORTED] = { "CLV_UNSUPPORTED", "this machine, or this def, cannot do that" },
    [CLV_STOPPED] = { "CLV_STOPPED", "the visitor asked to stop" },
    [CLV_BUSY] = { "CLV_BUSY", "a callback or hook called the space it was called by" },
    [CLV_NO_ROOM] = { "CLV_NO_ROOM", "the array is too small for what was found" },
    [CLV_STALE] = { "CLV_STALE", "first query after a change: update or refresh first" },
    [CLV_DEVICE_FAILED] = { "CLV_DEVICE_FAILED", "a device or its driver failed" },
    [CLV_LOST] = { "CLV_LOST", "another process did not answer, or MPI failed" },
    [CLV_FILE_FAILED] = { "CLV_FILE_FAILED", "a file could not be written or read, or is damaged" },
};

static const wording* wording_of( clv_result result )
{
    static const wording unknown = { "unknown", "not a result of this library" };
    size_t count = sizeof( s_wordings ) / sizeof( s_wordings[0] );
    return (unsigned)result < count ? &s_wordings[result] : &unknown;
}

const char* clv_result_name( clv_result result )
{
    return wording_of( result )->name;
}

const char* clv_result_text( clv_result result )
{
    return wording_of( result )->text;
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

bool clv_space_enter( clv_space* space )
{
    bool is_read = atomic_load_explicit( &space->query.reader_count, memory_order_relaxed ) > 0;
    if ( !space->is_busy && !is_read )
    {
        space->is_busy = true;
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
    space->is_busy = false;
    space->lists_are_busy = false;
    if ( space->tap != NULL )
    {
        space->tap->end( space->tap, space, result );
    }
    return result;
}

BASE_COLD clv_result clv_space_fail(
    clv_space* space, clv_result code, uint32_t position, clv_id id, const char* format, ... )
{
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
