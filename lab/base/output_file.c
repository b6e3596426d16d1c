// SPDX-License-Identifier: MIT
#include "lab/base/output_file.h"

#include "lab/base/interrupt.h"
#include "lab/base/platform.h"
#include "lab/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char* system_reason( void )
{
    return errno != 0 ? strerror( errno ) : "unknown reason";
}

static bool open_in_place( output_file* file, lab_error* why )
{
    file->stream = platform_overwrite( file->path );
    if ( file->stream == NULL )
    {
        lab_error_write( why, "%s: cannot be written: %s", file->path, system_reason() );
        output_file_abandon( file );
        return false;
    }
    return true;
}

bool output_file_open( output_file* file, const char* path, lab_error* why )
{
    *file = ( output_file ){ 0 };
    platform_kind kind = platform_look( path ).kind;
    if ( kind == PLATFORM_FOLDER )
    {
        return lab_error_write( why, "%s: is a folder; name a file to write", path );
    }
    if ( kind == PLATFORM_FILE && !platform_is_writable( path ) )
    {
        return lab_error_write( why, "%s: exists and may not be written: %s", path, system_reason() );
    }
    file->path = kind == PLATFORM_FILE ? platform_resolve( path ) : text_copy( path );
    errno = 0;
    if ( kind == PLATFORM_OTHER )
    {
        return open_in_place( file, why );
    }
    file->temporary = text_format( "%s.%" PRIu64 ".tmp", file->path, platform_process_id() );
    // Guarded before it exists, so that no moment is left in which Ctrl-C would leave it behind.
    if ( !interrupt_guard( file->temporary ) )
    {
        lab_error_write( why, "%s: too many files are being written at once", path );
        free( file->temporary );
        file->temporary = NULL;
        output_file_abandon( file );
        return false;
    }
    platform_remove( file->temporary ); // of an earlier process with our number, killed without notice
    errno = 0;
    file->stream = platform_create( file->temporary );
    if ( file->stream == NULL )
    {
        lab_error_write( why, "%s: cannot be created: %s; choose a folder that exists and may be written",
            path, system_reason() );
        output_file_abandon( file );
        return false;
    }
    return true;
}

bool output_file_open_private( output_file* file, lab_error* why )
{
    const char* folder = getenv( "TMPDIR" );
    folder = folder != NULL && folder[0] != '\0' ? folder : "/tmp";
    *file = ( output_file ){ .path = text_copy( folder ), .is_private = true };
    errno = 0;
    file->stream = platform_create_private( folder );
    if ( file->stream == NULL )
    {
        lab_error_write( why,
            "%s: no temporary file can be made there: %s; set TMPDIR to a folder that may be written",
            file->path, system_reason() );
        output_file_abandon( file );
        return false;
    }
    return true;
}

static bool fail( output_file* file, lab_error* why )
{
    lab_error_write( why,
        "%s: at byte %" PRIu64 ": cannot be written: %s; nothing was kept, make room and try again",
        file->path, file->bytes, system_reason() );
    output_file_abandon( file );
    return false;
}

bool output_file_write( output_file* file, const void* data, size_t size, lab_error* why )
{
    if ( interrupt_raised() )
    {
        output_file_abandon( file );
        return lab_error_interrupted( why );
    }
    errno = 0;
    size_t written = fwrite( data, 1, size, file->stream );
    file->bytes += written;
    return written == size || fail( file, why );
}

bool output_file_format( output_file* file, lab_error* why, const char* format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    char* text = text_format_list( format, arguments );
    va_end( arguments );
    bool good = output_file_write( file, text, strlen( text ), why );
    free( text );
    return good;
}

bool output_file_commit( output_file* file, lab_error* why )
{
    errno = 0;
    if ( fflush( file->stream ) != 0 )
    {
        return fail( file, why );
    }
    if ( file->is_private )
    {
        return platform_seek( file->stream, 0 ) || fail( file, why );
    }
    FILE* stream = file->stream;
    file->stream = NULL;
    if ( fclose( stream ) != 0 )
    {
        return fail( file, why );
    }
    if ( file->temporary != NULL && !platform_replace( file->temporary, file->path ) )
    {
        lab_error_write( why, "%s: cannot be put in place: %s", file->path, system_reason() );
        output_file_abandon( file );
        return false;
    }
    if ( file->temporary != NULL )
    {
        interrupt_release( file->temporary );
        free( file->temporary );
        file->temporary = NULL;
    }
    output_file_abandon( file );
    return true;
}

bool output_file_put( const char* path, const void* data, size_t size, lab_error* why )
{
    output_file file = { 0 };
    return output_file_open( &file, path, why ) && output_file_write( &file, data, size, why ) &&
        output_file_commit( &file, why );
}

bool output_file_print(
    const char* path, void ( *write )( FILE* stream, const void* user ), const void* user, lab_error* why )
{
    if ( path == NULL )
    {
        write( stdout, user );
        return fflush( stdout ) == 0 || lab_error_write( why, "standard output: cannot be written" );
    }
    output_file file = { 0 };
    if ( !output_file_open( &file, path, why ) )
    {
        return false;
    }
    write( file.stream, user );
    return output_file_commit( &file, why );
}

void output_file_abandon( output_file* file )
{
    if ( file->stream != NULL )
    {
        fclose( file->stream );
    }
    if ( file->temporary != NULL )
    {
        platform_remove( file->temporary );
        interrupt_release( file->temporary );
        free( file->temporary );
    }
    free( file->path );
    *file = ( output_file ){ 0 };
}

// ---- file kind

typedef struct file_kind
{
    const char* ending;
    const char* is;
    const char* advice; ///< with the path for %s
} file_kind;

static const file_kind kinds[] = {
    { ".aabbs", "a baked scene", "`cleave bench %s`, verify and info take it" },
    { ".posrot", "a recording of positions and rotations",
        "`cleave bench %s`, verify, info and split take it" },
    { ".scene", "the recipe of a scene, not yet baked", "bake it first: cleave gen %s -o NAME.aabbs" },
    { ".schedule", "a schedule", "`cleave run %s` takes it" },
    { ".json", "JSON", "`cleave report %s -o NAME.html`, compare and floors take results" },
    { ".csv", "a table for other programs", "ours read what --json writes beside %s" },
    { ".journal", "of a run that was not finished", "the same `cleave run` with --resume goes on with %s" },
};

bool file_kind_check( const char* path, const char* wanted, lab_error* why )
{
    for ( size_t index = 0; index < sizeof( kinds ) / sizeof( kinds[0] ); ++index )
    {
        const file_kind* kind = &kinds[index];
        if ( !text_ends_with( path, kind->ending ) || strcmp( kind->ending, wanted ) == 0 ||
            platform_look( path ).kind != PLATFORM_FILE )
        {
            continue;
        }
        const char* place = strstr( kind->advice, "%s" );
        return lab_error_write( why, "%.300s: is %s; %.*s%.300s%s", path, kind->is,
            (int)( place - kind->advice ), kind->advice, path, place + 2 );
    }
    return true;
}
