// SPDX-License-Identifier: MIT
// Results as they were written, by this program or an older one: members may be missing, of the wrong kind or absurd, and
// then a sentence says which.
#include "lab/base/json_file.h"
#include "lab/result/results.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run_reader
{
    const json_value* value;
    const char* name;
    lab_error* why;
} run_reader;

static bool fail_member( const run_reader* reader, const char* key, const char* message )
{
    return lab_error_write( reader->why, "%s: \"%s\" %s", reader->name, key, message );
}

static bool read_text( const run_reader* reader, const char* key, const char** text )
{
    *text = json_as_text( json_get( reader->value, key ) );
    return *text != NULL || fail_member( reader, key, "must be a text" );
}

static bool read_count( const run_reader* reader, const char* key, uint32_t* count )
{
    double number = json_as_number( json_get( reader->value, key ) );
    bool is_count = number >= 0 && number <= (double)UINT32_MAX && number == (double)(uint32_t)number;
    *count = is_count ? (uint32_t)number : 0;
    return is_count || fail_member( reader, key, "must be a whole number" );
}

static bool read_ms( const run_reader* reader, const char* key, double* ms )
{
    *ms = json_as_number( json_get( reader->value, key ) );
    return *ms >= 0 || fail_member( reader, key, "must be a number of milliseconds" );
}

// Null where it is not known.
static bool read_stage( const run_reader* reader, const char* key, double* ms )
{
    return json_is_null( json_get( reader->value, key ) ) || read_ms( reader, key, ms );
}

static double number_or_0( const run_reader* reader, const char* key )
{
    double number = json_as_number( json_get( reader->value, key ) );
    return number >= 0 && number < 1.8e19 ? number : 0;
}

static bool read_hash( const run_reader* reader, uint64_t* hash )
{
    const char* text = json_as_text( json_get( reader->value, "pairs_hash" ) );
    char* end = NULL;
    bool is_hash = text != NULL && strlen( text ) == 18 && strncmp( text, "0x", 2 ) == 0;
    *hash = is_hash ? strtoull( text, &end, 16 ) : 0;
    return ( is_hash && *end == '\0' ) || fail_member( reader, "pairs_hash", "must be 0x and 16 hex digits" );
}

static uint32_t child_count( const json_value* list )
{
    uint32_t count = 0;
    for ( const json_value* item = json_first( list ); item != NULL; item = json_next( item ) )
    {
        count += 1;
    }
    return count;
}

// The numbers of `list` behind those of `values`. False if one is none.
static bool copy_numbers( const json_value* list, double* values )
{
    for ( const json_value* item = json_first( list ); item != NULL; item = json_next( item ) )
    {
        double number = json_as_number( item );
        if ( !( number >= 0 ) )
        {
            return false;
        }
        *values++ = number;
    }
    return true;
}

// A number per frame; NULL where older files have no such list.
static bool read_frames( const run_reader* reader, const char* key, uint32_t frame_count, double** values )
{
    const json_value* list = json_get( reader->value, key );
    if ( json_is_null( list ) || json_first( list ) == NULL )
    {
        return true;
    }
    if ( !json_is_array( list ) || child_count( list ) != frame_count )
    {
        return fail_member( reader, key, "must hold a number per frame" );
    }
    *values = lab_take( frame_count, sizeof( double ) );
    return copy_numbers( list, *values ) || fail_member( reader, key, "must hold numbers of 0 and above" );
}

static bool read_passes( const run_reader* reader, run_result* run )
{
    const json_value* passes = json_get( reader->value, "pass_ms" );
    if ( json_is_null( passes ) )
    {
        return true;
    }
    uint32_t count = json_is_array( passes ) ? child_count( passes ) : 0;
    run->pass_ms = lab_take( (uint64_t)count * run->frame_count, sizeof( double ) );
    for ( const json_value* pass = json_first( passes ); pass != NULL; pass = json_next( pass ) )
    {
        double* values = run->pass_ms + (size_t)run->pass_count * run->frame_count;
        if ( !json_is_array( pass ) || child_count( pass ) != run->frame_count ||
            !copy_numbers( pass, values ) )
        {
            return fail_member( reader, "pass_ms", "must hold a list of times per pass, one for each frame" );
        }
        run->pass_count += 1;
    }
    return true;
}

static bool read_status( const run_reader* reader, run_result* run )
{
    const char* text = NULL;
    if ( !read_text( reader, "status", &text ) )
    {
        return false;
    }
    for ( int status = RUN_OK; status <= RUN_TIMEOUT; ++status )
    {
        if ( strcmp( text, run_status_name( (run_status)status ) ) == 0 )
        {
            run->status = (run_status)status;
            const char* reason = json_as_text( json_get( reader->value, "reason" ) );
            snprintf( run->reason, sizeof( run->reason ), "%s", reason != NULL ? reason : "" );
            return true;
        }
    }
    return fail_member( reader, "status", "must be ok, unavailable, failed or timeout" );
}

// Their names stay where they are, in the JSON the result keeps.
static bool read_counters( const run_reader* reader, run_result* run )
{
    const json_value* counters = json_get( reader->value, "counters" );
    uint32_t count = json_is_object( counters ) ? child_count( counters ) : 0;
    run->counters = count > 0 ? lab_take( count, sizeof( method_figure ) ) : NULL;
    for ( const json_value* item = json_first( counters ); count > 0 && item != NULL;
          item = json_next( item ) )
    {
        double number = json_as_number( item );
        if ( number - number != 0 )
        {
            return fail_member( reader, "counters", "must hold numbers" );
        }
        run->counters[run->counter_count++] = ( method_figure ){ json_key( item ), number };
    }
    return true;
}

static bool read_measures( const run_reader* reader, run_result* run )
{
    run->tests = (uint64_t)number_or_0( reader, "tests" );
    run->is_opaque = json_is_null( json_get( reader->value, "update_ms" ) );
    run->memory_bytes = (size_t)number_or_0( reader, "memory_bytes" );
    run->pairs_last = (uint64_t)number_or_0( reader, "pairs_last" );
    run->ms_spread = json_as_number( json_get( reader->value, "ms_spread" ) ); // NaN in older files
    return read_ms( reader, "ms_median", &run->ms_median ) && read_ms( reader, "ms_mean", &run->ms_mean ) &&
        read_ms( reader, "ms_min", &run->ms_min ) && read_ms( reader, "ms_p99", &run->ms_p99 ) &&
        read_stage( reader, "update_ms", &run->update_ms ) &&
        read_stage( reader, "search_ms", &run->search_ms ) && read_hash( reader, &run->pairs_hash ) &&
        read_frames( reader, "frame_ms", run->frame_count, &run->frame_ms ) &&
        read_frames( reader, "frame_static", run->frame_count, &run->frame_static ) &&
        read_frames( reader, "frame_update_ms", run->frame_count, &run->frame_update_ms ) &&
        read_frames( reader, "frame_search_ms", run->frame_count, &run->frame_search_ms ) &&
        read_frames( reader, "frame_clean_ms", run->frame_count, &run->frame_clean_ms ) &&
        read_passes( reader, run ) && read_counters( reader, run );
}

static bool read_members( const run_reader* reader, run_result* run )
{
    const char* scene = NULL;
    const char* type = NULL;
    if ( !json_is_object( reader->value ) )
    {
        return lab_error_write( reader->why, "%s: must be an object", reader->name );
    }
    if ( !read_text( reader, "scene", &scene ) || !read_text( reader, "type", &type ) ||
        !read_text( reader, "method", &run->method ) || !read_text( reader, "variant", &run->variant ) ||
        !read_count( reader, "objects", &run->object_count ) ||
        !read_count( reader, "frames", &run->frame_count ) ||
        !read_count( reader, "threads", &run->thread_count ) || !read_status( reader, run ) )
    {
        return false;
    }
    snprintf( run->scene, sizeof( run->scene ), "%s", scene );
    snprintf( run->type, sizeof( run->type ), "%s", type );
    run->settings = json_as_text( json_get( reader->value, "settings" ) );
    run->sorted = json_as_bool( json_get( reader->value, "sorted" ) );
    run->events = json_as_bool( json_get( reader->value, "events" ) );
    run->fat = json_as_bool( json_get( reader->value, "fat" ) );
    run->thread_time = json_as_bool( json_get( reader->value, "thread_time" ) );
    run->key = json_as_text( json_get( reader->value, "key" ) );
    run->limits = json_as_text( json_get( reader->value, "limits" ) );
    return run->status != RUN_OK || read_measures( reader, run );
}

bool results_read_run( json_value* value, const char* name, run_result* run, lab_error* why )
{
    run_reader reader = { value, name, why };
    *run = ( run_result ){ 0 };
    run->json = value;
    return read_members( &reader, run );
}

static bool read_runs( const char* path, const json_value* runs, run_results* results, lab_error* why )
{
    bool good = true;
    uint32_t index = 0;
    for ( const json_value* value = json_first( runs ); good && value != NULL; value = json_next( value ) )
    {
        char* name = text_format( "%s: runs[%" PRIu32 "]", path, index++ );
        good = results_read_run( json_copy( value ), name, run_results_add( results ), why );
        free( name );
    }
    return good;
}

bool results_read_file( const char* path, run_results* results, lab_error* why )
{
    *results = ( run_results ){ 0 };
    json_value* root = json_file_read( path, why );
    if ( root == NULL )
    {
        return false;
    }
    const json_value* runs = json_get( root, "runs" );
    const json_value* machine = json_get( root, "machine" );
    const char* version = json_as_text( json_get( root, "cleave" ) );
    results->machine = json_is_object( machine ) ? json_copy( machine ) : NULL;
    results->version = version != NULL ? text_copy( version ) : NULL;
    bool good = json_is_array( runs )
        ? read_runs( path, runs, results, why )
        : lab_error_write( why,
              "%s: holds no \"runs\"; name a file that `cleave run --json` or `bench --json` wrote", path );
    json_free( root );
    if ( !good )
    {
        run_results_free( results );
    }
    return good;
}
