// SPDX-License-Identifier: MIT
#include "lab/run/journal.h"

#include "lab/base/json.h"
#include "lab/base/platform.h"
#include "lab/base/text.h"
#include "lab/run/run_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// About two years of runs. A larger file is no journal.
#define JOURNAL_BYTES_MOST ( (uint64_t)1 << 32 )

static void remember( journal* log, const char* key, const char* limits, json_value* run )
{
    *lab_list_next( log->entries, log->entry_count ) =
        ( journal_entry ){ text_copy( key ), text_copy( limits != NULL ? limits : "" ), run };
}

// ---- reading

static void remember_line( journal* log, char* line, size_t length )
{
    size_t bad_offset = 0;
    line[length] = '\0';
    json_value* value = json_parse( line, length, &bad_offset );
    const char* key = json_as_text( json_get( value, "key" ) );
    const json_value* run = json_get( value, "run" );
    if ( key != NULL && json_is_object( run ) )
    {
        remember( log, key, json_as_text( json_get( value, "limits" ) ), json_copy( run ) );
    }
    json_free( value );
}

static void remember_lines( journal* log, char* text, size_t length )
{
    for ( char* start = text; start < text + length; )
    {
        size_t left = (size_t)( text + length - start );
        char* end = memchr( start, '\n', left );
        if ( end == NULL )
        {
            return; // cut short in the middle of a write
        }
        remember_line( log, start, (size_t)( end - start ) );
        start = end + 1;
    }
}

static bool read_journal( journal* log, lab_error* why )
{
    platform_entry entry = platform_look( log->path );
    if ( entry.kind != PLATFORM_FILE || entry.size > JOURNAL_BYTES_MOST )
    {
        return entry.kind == PLATFORM_MISSING ||
            lab_error_write( why, "%s: is no journal of `cleave run`; move it away", log->path );
    }
    char* text = NULL;
    uint64_t length = 0;
    bool good = platform_read( log->path, &text, &length ) ||
        lab_error_write( why, "%s: cannot be read: %s", log->path, strerror( errno ) );
    if ( good )
    {
        remember_lines( log, text, (size_t)length );
    }
    free( text );
    return good;
}

// Results of an earlier, complete run: those that carry a key.
static bool read_results( journal* log, const char* target, lab_error* why )
{
    if ( platform_look( target ).kind != PLATFORM_FILE || !text_ends_with( target, ".json" ) )
    {
        return true;
    }
    json_value* root = json_file_read( target, why );
    const json_value* runs = json_get( root, "runs" );
    for ( const json_value* run = json_first( runs ); run != NULL; run = json_next( run ) )
    {
        const char* key = json_as_text( json_get( run, "key" ) );
        if ( key != NULL )
        {
            remember( log, key, json_as_text( json_get( run, "limits" ) ), json_copy( run ) );
        }
    }
    json_free( root );
    return root != NULL;
}

// ---- opening

static bool open_file( journal* log, lab_error* why )
{
    errno = 0;
    log->file = fopen( log->path, "ab" );
    if ( log->file == NULL )
    {
        return lab_error_write( why, "%s: cannot be written: %s; choose a folder that may be written",
            log->path, strerror( errno ) );
    }
    // A newline first: the file may end with a line that was cut short.
    return fputs( "\n", log->file ) >= 0 && fflush( log->file ) == 0;
}

static void note_strangers( const journal* log )
{
    uint32_t count = 0;
    for ( uint32_t index = 0; index < log->entry_count; ++index )
    {
        const char* key = log->entries[index].key;
        count += strstr( key, run_plan_program() ) == NULL && strstr( key, "| against " ) == NULL ? 1 : 0;
    }
    if ( count > 0 )
    {
        lab_note( "%u of the runs kept are of another build or machine and will be done again", count );
    }
}

bool journal_open( journal* log, const char* target, journal_way way, lab_error* why )
{
    *log = ( journal ){ 0 };
    log->path = text_format( "%s.journal", target );
    if ( way == JOURNAL_NEW && platform_look( log->path ).kind != PLATFORM_MISSING )
    {
        lab_error_write( why,
            "%s: is of a run that was not finished; add --resume to go on with it or --restart to drop it",
            log->path );
        journal_close( log, false );
        return false;
    }
    if ( way == JOURNAL_RESTART )
    {
        platform_remove( log->path );
    }
    bool good =
        ( way != JOURNAL_RESUME || ( read_journal( log, why ) && read_results( log, target, why ) ) ) &&
        open_file( log, why );
    if ( !good )
    {
        journal_close( log, false );
        return false;
    }
    note_strangers( log );
    return true;
}

// ---- use

static bool is_ok( const json_value* run )
{
    const char* status = json_as_text( json_get( run, "status" ) );
    return status != NULL && strcmp( status, run_status_name( RUN_OK ) ) == 0;
}

const json_value* journal_find( const journal* log, const char* key, const char* limits )
{
    for ( uint32_t index = log->entry_count; index > 0; --index )
    {
        const journal_entry* entry = &log->entries[index - 1];
        if ( strcmp( entry->key, key ) == 0 &&
            ( is_ok( entry->run ) || strcmp( entry->limits, limits ) == 0 ) )
        {
            return entry->run;
        }
    }
    return NULL;
}

bool journal_add( journal* log, const char* key, const char* limits, json_value* run, lab_error* why )
{
    if ( log->file == NULL )
    {
        json_free( run );
        return true;
    }
    json_value* record = json_object();
    json_put_text( record, "key", key );
    json_put_text( record, "limits", limits );
    json_put( record, "run", json_copy( run ) );
    remember( log, key, limits, run );
    char* line = json_line( record );
    errno = 0;
    bool good = fprintf( log->file, "%s\n", line ) > 0 && fflush( log->file ) == 0;
    free( line );
    return good ||
        lab_error_write( why, "%s: cannot be written: %s; make room and add --resume to go on", log->path,
            system_reason() );
}

void journal_close( journal* log, bool is_complete )
{
    if ( log->file != NULL )
    {
        fclose( log->file );
    }
    if ( log->path != NULL && log->file != NULL && is_complete )
    {
        platform_remove( log->path );
    }
    for ( uint32_t index = 0; index < log->entry_count; ++index )
    {
        free( log->entries[index].key );
        free( log->entries[index].limits );
        json_free( log->entries[index].run );
    }
    free( log->entries );
    free( log->path );
    *log = ( journal ){ 0 };
}
