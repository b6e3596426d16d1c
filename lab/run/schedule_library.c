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

const char* schedule_carried_text( uint32_t index )
{
    return index < schedule_text_count ? schedule_texts[index].text : NULL;
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
    const char* names[64];
    char list[512] = "";
    size_t count = 0;
    for ( ; count < schedule_text_count && count < 64; ++count )
    {
        names[count] = schedule_texts[count].name;
        size_t length = strlen( list );
        snprintf( list + length, sizeof( list ) - length, "%s%s", count > 0 ? ", " : "", names[count] );
    }
    const char* closest = text_closest( name, names, count );
    return lab_error_write( why, "run: no schedule '%s'; %s%s%sthere are %s, or name a .schedule file", name,
        closest != NULL ? "did you mean " : "", closest != NULL ? closest : "", closest != NULL ? "? " : "",
        list );
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
    for ( uint32_t index = 0; index < schedule_text_count; ++index )
    {
        if ( strcmp( schedule_texts[index].name, name ) == 0 )
        {
            return schedule_parse( name, schedule_texts[index].text, plan, why );
        }
    }
    return fail_name( name, why );
}
