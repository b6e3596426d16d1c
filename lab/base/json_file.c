// SPDX-License-Identifier: MIT
#include "lab/base/json_file.h"

#include "lab/base/file_kind.h"
#include "lab/base/platform.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Some hundred thousand runs; more is another kind of file given by mistake.
#define JSON_FILE_MOST ( (uint64_t)1 << 30 )

// The bytes with a zero behind them, to free. `size` is what the file system said; a file that changed meanwhile is
// refused.
static char* read_whole( const char* path, size_t size, lab_error* why )
{
    errno = 0;
    FILE* stream = platform_open( path );
    if ( stream == NULL )
    {
        lab_error_write( why, "%s: cannot be read: %s", path, strerror( errno ) );
        return NULL;
    }
    char* text = malloc( size + 1 );
    if ( text == NULL )
    {
        fclose( stream );
        lab_error_write( why, "%s: out of memory: its %" PRIu64 " bytes do not fit", path, (uint64_t)size );
        return NULL;
    }
    size_t got = fread( text, 1, size, stream );
    bool is_whole = got == size && fgetc( stream ) == EOF && !ferror( stream );
    fclose( stream );
    if ( !is_whole )
    {
        free( text );
        lab_error_write( why,
            "%s: cannot be read beyond byte %" PRIu64 "; check the disk, or whether it is being written",
            path, (uint64_t)got );
        return NULL;
    }
    text[size] = '\0';
    return text;
}

static bool is_readable( const char* path, platform_entry entry, lab_error* why )
{
    switch ( entry.kind )
    {
    case PLATFORM_MISSING:
        return lab_error_write(
            why, "%s: cannot be read: %s", path, strerror( errno != 0 ? errno : ENOENT ) );
    case PLATFORM_FOLDER: return lab_error_write( why, "%s: is a folder; name a file", path );
    case PLATFORM_OTHER:
        return lab_error_write( why, "%s: is a pipe or device; save it to a file first", path );
    case PLATFORM_FILE: break;
    }
    if ( entry.size > JSON_FILE_MOST )
    {
        return lab_error_write( why, "%s: is larger than 1 GiB; name a JSON file", path );
    }
    return entry.size > 0 || lab_error_write( why, "%s: at byte 0: is empty, not JSON", path );
}

json_value* json_file_read( const char* path, lab_error* why )
{
    errno = 0;
    platform_entry entry = platform_look( path );
    if ( !json_is_here( why ) || !is_readable( path, entry, why ) )
    {
        return NULL;
    }
    char* text = read_whole( path, (size_t)entry.size, why );
    if ( text == NULL )
    {
        return NULL;
    }
    size_t bad_offset = 0;
    json_value* value = json_parse( text, (size_t)entry.size, &bad_offset );
    if ( value == NULL && file_kind_check( path, ".json", why ) )
    {
        lab_error_write( why, "%s: at byte %" PRIu64 ": is not JSON; it may be cut off or damaged", path,
            (uint64_t)bad_offset );
    }
    free( text );
    return value;
}
