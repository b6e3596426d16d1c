// SPDX-License-Identifier: MIT
// Where schedules come from: those of lab/schedules are compiled in, so that they are found wherever the program is
// installed and whatever folder it runs in; anything else is a file.
#include "lab/base/file_kind.h"
#include "lab/base/platform.h"
#include "lab/run/schedule.h"
#include "lab/run/schedule_texts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEDULE_BYTES_MOST ( (uint64_t)1 << 20 )

const char* schedule_carried_name( uint32_t index )
{
    return index < schedule_text_count ? schedule_texts[index].name : NULL;
}

static char* read_text( const char* path, lab_error* why )
{
    platform_entry entry = platform_look( path );
    bool is_file = entry.kind == PLATFORM_FILE || entry.kind == PLATFORM_MISSING;
    if ( !is_file || entry.size > SCHEDULE_BYTES_MOST )
    {
        lab_error_write( why, "%s: is no schedule; name a text file of at most 1 MiB", path );
        return NULL;
    }
    errno = 0;
    FILE* file = platform_open( path );
    if ( file == NULL )
    {
        lab_error_write( why, "%s: cannot be read: %s", path, strerror( errno ) );
        return NULL;
    }
    char* text = lab_take( (uint64_t)entry.size + 1, 1 );
    size_t length = fread( text, 1, (size_t)entry.size, file );
    fclose( file );
    if ( strlen( text ) != length )
    {
        lab_error_write(
            why, "%s: byte %" PRIu64 ": is no text; name a schedule", path, (uint64_t)strlen( text ) );
        free( text );
        return NULL;
    }
    return text;
}

static bool fail_name( const char* name, lab_error* why )
{
    char list[512] = "";
    text_guess guess = text_guess_begin( name );
    for ( uint32_t index = 0; index < schedule_text_count; ++index )
    {
        size_t length = strlen( list );
        text_guess_try( &guess, schedule_texts[index].name );
        snprintf( list + length, sizeof( list ) - length, "%s%s", index > 0 ? ", " : "",
            schedule_texts[index].name );
    }
    return lab_error_write( why, "run: no schedule '%.200s'; %sthere are %s, or name a .schedule file", name,
        text_guess_say( &guess ), list );
}

const char* schedule_carried_text( const char* name, lab_error* why )
{
    for ( uint32_t index = 0; index < schedule_text_count; ++index )
    {
        if ( strcmp( name, schedule_texts[index].name ) == 0 )
        {
            return schedule_texts[index].text;
        }
    }
    fail_name( name, why );
    return NULL;
}

bool schedule_open( const char* name, schedule* plan, lab_error* why )
{
    *plan = ( schedule ){ 0 };
    if ( !file_kind_check( name, ".schedule", why ) )
    {
        return false;
    }
    bool is_path = strpbrk( name, "/\\" ) != NULL || text_ends_with( name, ".schedule" );
    if ( is_path )
    {
        char* text = read_text( name, why );
        bool good = text != NULL && schedule_parse( name, text, plan, why );
        free( text );
        return good;
    }
    const char* carried = schedule_carried_text( name, why );
    return carried != NULL && schedule_parse( name, carried, plan, why );
}
