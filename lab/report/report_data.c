// SPDX-License-Identifier: MIT
#include "lab/report/report_data.h"

#include "lab/base/json_file.h"
#include "lab/result/results.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* base_name( const char* path )
{
    const char* name = path;
    for ( const char* c = path; *c != '\0'; ++c )
    {
        if ( ( *c == '/' || *c == '\\' ) && c[1] != '\0' )
        {
            name = c + 1;
        }
    }
    return name;
}

// The folder only where two files share a name: pages are shown to others.
static const char* shown_name( const text_list* paths, uint32_t index )
{
    const char* name = base_name( paths->items[index] );
    for ( uint32_t other = 0; other < paths->count; ++other )
    {
        if ( other != index && strcmp( base_name( paths->items[other] ), name ) == 0 )
        {
            return paths->items[index];
        }
    }
    return name;
}

// A checked copy of a run, without what no plot shows: every pass of a long schedule would be most of the page.
static json_value* page_run( const json_value* value, const char* name, lab_error* why )
{
    run_result run;
    json_value* kept = NULL;
    if ( results_read_run( json_copy( value ), name, &run, why ) )
    {
        kept = run.json;
        run.json = NULL;
        json_replace( kept, "pass_ms", json_array() );
    }
    run_result_free( &run );
    return kept;
}

// ---- devices

// Which runs are wanted, and what was met.
typedef struct device_wish
{
    const char* name; // NULL: all
    uint32_t met;     // runs on such a device
    char others[256]; // names of the other ones
} device_wish;

static bool has_text( const char* text, const char* part )
{
    for ( ; *text != '\0'; ++text )
    {
        size_t i = 0;
        while ( part[i] != '\0' && tolower( (unsigned char)text[i] ) == tolower( (unsigned char)part[i] ) )
        {
            i += 1;
        }
        if ( part[i] == '\0' )
        {
            return true;
        }
    }
    return false;
}

// Runs on no device stay: they are what the others are compared with.
static bool is_wanted( device_wish* wish, const json_value* run )
{
    const json_value* value = json_get( run, "device" );
    const char* device = value != NULL ? json_as_text( value ) : NULL;
    if ( wish->name == NULL || device == NULL || device[0] == '\0' )
    {
        return true;
    }
    bool is_met = has_text( device, wish->name );
    wish->met += is_met ? 1 : 0;
    size_t used = strlen( wish->others );
    if ( !is_met && strstr( wish->others, device ) == NULL )
    {
        snprintf( wish->others + used, sizeof( wish->others ) - used, "%s%s", used > 0 ? ", " : "", device );
    }
    return is_met;
}

// ---- files

static json_value* page_runs(
    const char* path, const json_value* runs, device_wish* wish, uint32_t* count, lab_error* why )
{
    json_value* list = json_array();
    uint32_t index = 0;
    for ( const json_value* value = json_first( runs ); value != NULL; value = json_next( value ) )
    {
        char* name = text_format( "%s: runs[%" PRIu32 "]", path, index++ );
        json_value* run = page_run( value, name, why );
        free( name );
        if ( run == NULL )
        {
            json_free( list );
            return NULL;
        }
        if ( is_wanted( wish, run ) )
        {
            json_put( list, NULL, run );
            *count += 1;
        }
        else
        {
            json_free( run );
        }
    }
    return list;
}

static json_value* page_results(
    const char* path, const json_value* root, device_wish* wish, uint32_t* count, lab_error* why )
{
    const json_value* runs = json_get( root, "runs" );
    if ( !json_is_array( runs ) )
    {
        lab_error_write( why,
            "%s: holds no \"runs\"; name a file that `cleave run --json` or `bench --json` wrote", path );
        return NULL;
    }
    json_value* list = page_runs( path, runs, wish, count, why );
    if ( list == NULL )
    {
        return NULL;
    }
    const json_value* machine = json_get( root, "machine" );
    json_value* results = json_object();
    json_put_text( results, "cleave", json_as_text( json_get( root, "cleave" ) ) );
    json_put( results, "machine", json_is_object( machine ) ? json_copy( machine ) : json_object() );
    json_put( results, "runs", list );
    return results;
}

static bool add_file( json_value* files, const text_list* paths, uint32_t index, device_wish* wish,
    uint32_t* count, lab_error* why )
{
    const char* path = paths->items[index];
    json_value* root = json_file_read( path, why );
    json_value* results = root != NULL ? page_results( path, root, wish, count, why ) : NULL;
    json_free( root );
    if ( results == NULL )
    {
        return false;
    }
    json_value* file = json_object();
    json_put_text( file, "name", shown_name( paths, index ) );
    json_put( file, "results", results );
    json_put( files, NULL, file );
    return true;
}

static bool device_was_met( const device_wish* wish, lab_error* why )
{
    return wish->name == NULL || wish->met > 0 ||
        lab_error_write( why, "--device %s: no run was on such a device; %s%s", wish->name,
            wish->others[0] != '\0' ? "there are " : "none was on a GPU at all", wish->others );
}

bool report_data_read( report_data* data, const text_list* paths, const char* device, lab_error* why )
{
    device_wish wish = { .name = device };
    *data = ( report_data ){ 0 };
    if ( !json_is_here( why ) )
    {
        return false;
    }
    json_value* files = json_array();
    for ( uint32_t index = 0; index < paths->count; ++index )
    {
        if ( !add_file( files, paths, index, &wish, &data->run_count, why ) )
        {
            json_free( files );
            return false;
        }
    }
    if ( !device_was_met( &wish, why ) )
    {
        json_free( files );
        return false;
    }
    json_value* root = json_object();
    json_put( root, "files", files );
    char* line = json_line( root );
    data->json = line != NULL ? report_data_escape( line ) : NULL;
    free( line );
    return data->json != NULL || lab_error_write( why, "report: out of memory: use fewer results" );
}

void report_data_free( report_data* data )
{
    free( data->json );
    *data = ( report_data ){ 0 };
}

// U+2028 and U+2029 are E2 80 A8 and E2 80 A9 in UTF-8.
static bool is_line_separator( const char* at )
{
    return (unsigned char)at[0] == 0xE2 && (unsigned char)at[1] == 0x80 &&
        ( (unsigned char)at[2] & 0xFE ) == 0xA8;
}

// JSON has these inside strings alone, where an escape means the same.
char* report_data_escape( const char* json )
{
    char* text = malloc( 6 * strlen( json ) + 1 );
    if ( text == NULL )
    {
        return NULL;
    }
    char* end = text;
    for ( const char* c = json; *c != '\0'; ++c )
    {
        if ( *c == '<' )
        {
            memcpy( end, "\\u003c", 6 );
            end += 6;
        }
        else if ( is_line_separator( c ) )
        {
            memcpy( end, (unsigned char)c[2] == 0xA8 ? "\\u2028" : "\\u2029", 6 );
            end += 6;
            c += 2;
        }
        else
        {
            *end++ = *c;
        }
    }
    *end = '\0';
    return text;
}
