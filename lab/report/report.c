// SPDX-License-Identifier: MIT
#if !defined( _WIN32 )
#define _POSIX_C_SOURCE 200809L
#endif
#include "lab/report/report.h"

#include "lab/base/bytes.h"
#include "lab/base/json.h"
#include "lab/base/output_file.h"
#include "lab/result/results.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- paths, which belong to this machine: pages are shown to others

char* report_data_file_name( const text_list* paths, uint32_t index )
{
    const char* name = text_base_name( paths->items[index] );
    uint32_t before = 0, all = 0;
    for ( uint32_t other = 0; other < paths->count; ++other )
    {
        bool is_same = strcmp( text_base_name( paths->items[other] ), name ) == 0;
        all += is_same ? 1 : 0;
        before += is_same && other < index ? 1 : 0;
    }
    return all > 1 ? text_format( "%s (%" PRIu32 ")", name, before + 1 ) : text_copy( name );
}

static bool is_separator( char c )
{
    return c == '/' || c == '\\';
}

static bool is_drive( const char* at )
{
    return isalpha( (unsigned char)at[0] ) != 0 && at[1] == ':' && is_separator( at[2] );
}

// Behind what a path stands in messages, lists and flags: a word's beginning, "=", or "-I" and its like.
static bool may_begin( const char* text, const char* at )
{
    static const char before[] = " \t\"'`(=,;:[";
    return at == text || strchr( before, at[-1] ) != NULL ||
        ( at - text >= 2 && at[-2] == '-' && isalpha( (unsigned char)at[-1] ) != 0 );
}

// The path that begins here up to its end, or NULL. One without a folder, as "/2", gives nothing away.
static const char* path_end( const char* text, const char* at )
{
    const char* start = is_drive( at ) ? at + 2 : at;
    start += start[0] == '~' ? 1 : 0;
    start += strspn( start, "." ) < 3 ? strspn( start, "." ) : 0;
    if ( !may_begin( text, at ) || !is_separator( start[0] ) || is_separator( start[1] ) )
    {
        return NULL;
    }
    const char* end = start + strcspn( start, " \t\r\n\"'`)=,;:|<>]" );
    for ( const char* c = start + 1; c < end; ++c )
    {
        if ( is_separator( *c ) || start != at )
        {
            return end;
        }
    }
    return NULL;
}

char* report_data_without_folders( const char* text )
{
    static const char left_out[] = "\xE2\x80\xA6/"; // an ellipsis
    byte_buffer out = { 0 };
    for ( const char* at = text; *at != '\0'; )
    {
        const char* end = path_end( text, at );
        if ( end == NULL )
        {
            byte_buffer_put_byte( &out, (uint8_t)*at++ );
            continue;
        }
        const char* name = end;
        while ( name > at + 1 && ( !is_separator( name[-1] ) || name == end ) )
        {
            name -= 1;
        }
        byte_buffer_put( &out, left_out, sizeof( left_out ) - 1 );
        byte_buffer_put( &out, name, (size_t)( end - name ) );
        at = end;
    }
    byte_buffer_put_byte( &out, 0 );
    return (char*)out.bytes;
}

static bool is_one_of( const char* key, const char* const* keys )
{
    for ( ; *keys != NULL; ++keys )
    {
        if ( strcmp( key, *keys ) == 0 )
        {
            return true;
        }
    }
    return false;
}

// A copy for the page: without `left_out`, and with no folder in a text unless it is one of `names`.
static json_value* page_members(
    const json_value* object, const char* const* left_out, const char* const* names )
{
    json_value* kept = json_object();
    for ( const json_value* member = json_first( object ); member != NULL; member = json_next( member ) )
    {
        const char* key = json_key( member );
        const char* text = json_as_text( member );
        if ( is_one_of( key, left_out ) )
        {
            continue;
        }
        if ( text != NULL && !is_one_of( key, names ) )
        {
            char* shown = report_data_without_folders( text );
            json_put_text( kept, key, shown );
            free( shown );
        }
        else
        {
            json_put( kept, key, json_copy( member ) );
        }
    }
    return kept;
}

// A checked copy of a run, without what no plot shows: every pass of a long schedule would be most of the
// page, and what a run was called in a journal names files.
static json_value* page_run( const json_value* value, const char* name, lab_error* why )
{
    static const char* const left_out[] = { "pass_ms", "key", "limits", NULL };
    static const char* const names[] = { "scene", "type", "method", NULL };
    run_result run;
    json_value* kept = NULL;
    if ( results_read_run( json_copy( value ), name, &run, why ) )
    {
        kept = page_members( run.json, left_out, names );
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
    const char* device = json_as_text( json_get( run, "device" ) );
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
    static const char* const none[] = { NULL };
    const json_value* machine = json_get( root, "machine" );
    json_value* results = json_object();
    json_put_text( results, "cleave", json_as_text( json_get( root, "cleave" ) ) );
    json_put(
        results, "machine", json_is_object( machine ) ? page_members( machine, none, none ) : json_object() );
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
    char* name = report_data_file_name( paths, index );
    json_put_text( file, "name", name );
    free( name );
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
    data->json = report_data_escape( line );
    free( line );
    return true;
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
    char* text = lab_take( 6 * (uint64_t)strlen( json ) + 1, 1 );
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

// ---- report page

// report/build.mjs sees to it that this stands in the page once.
#define RESULTS_MARK "/*RESULTS*/"

bool report_page_write( const char* path, const char* json, lab_error* why )
{
    const carried_file* carried = carried_find( "report/page.html" );
    const char* page = carried->text;
    const char* mark = strstr( page, RESULTS_MARK );
    if ( mark == NULL )
    {
        return lab_error_write(
            why, "report: the page in this program has no place for results; build it again" );
    }
    const char* rest = mark + strlen( RESULTS_MARK );
    output_file file;
    return output_file_open( &file, path, why ) &&
        output_file_write( &file, page, (size_t)( mark - page ), why ) &&
        output_file_write( &file, json, strlen( json ), why ) &&
        output_file_write( &file, rest, carried->size - (size_t)( rest - page ), why ) &&
        output_file_commit( &file, why );
}

// ---- svg export

#if defined( _WIN32 )
#include <process.h>
#else
#include <spawn.h>
#include <sys/wait.h>
extern char** environ;
#endif

// Takes the script out of the page and lets it draw. No spaces and no double quotes, which
// Windows would take apart.
static const char loader[] =
    "(0,eval)(require('fs').readFileSync(process.argv[1],'utf8').split('<script\\x20id=\\x22bundle\\x22>')[1]"
    ".split('</script>')[0]);cleaveReport.writeSvgFiles(require('fs'),process.argv[1],process.argv[2])";

// The shell's status for a program that is not there; some systems find that out only in the child.
#define NOT_FOUND 127

#if defined( _WIN32 )

static int run_node( char* const* words )
{
    errno = 0;
    intptr_t status = _spawnvp( _P_WAIT, words[0], (const char* const*)words );
    return status < 0 && errno == ENOENT ? NOT_FOUND : (int)status;
}

// Glued together with spaces by the C library, taken apart again by node's.
static char* quoted_word( const char* word )
{
    return text_format( "\"%s\"", word );
}

#else

static int run_node( char* const* words )
{
    pid_t child = 0;
    int error = posix_spawnp( &child, words[0], NULL, NULL, words, environ );
    if ( error != 0 )
    {
        return error == ENOENT ? NOT_FOUND : -1;
    }
    int status = 0;
    while ( waitpid( child, &status, 0 ) < 0 )
    {
        if ( errno != EINTR )
        {
            return -1;
        }
    }
    return WIFEXITED( status ) ? WEXITSTATUS( status ) : -1;
}

static char* quoted_word( const char* word )
{
    return text_copy( word );
}

#endif

bool svg_export( const char* page_path, const char* folder, lab_error* why )
{
    char* script = text_copy( loader );
    char* page = quoted_word( page_path );
    char* target = quoted_word( folder );
    char node[] = "node", evaluate[] = "-e", end_of_flags[] = "--";
    char* words[] = { node, evaluate, script, end_of_flags, page, target, NULL };
    int status = run_node( words );
    free( script );
    free( page );
    free( target );
    if ( status == NOT_FOUND )
    {
        return lab_error_write( why,
            "--svg: node was not found; install it (Debian: nodejs), or save plots by their SVG buttons in %s",
            page_path );
    }
    return status == 0 ||
        lab_error_write( why, "--svg: node could not write the plots of %s to %s", page_path, folder );
}
