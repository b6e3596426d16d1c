// SPDX-License-Identifier: MIT
#include "lab/result/results.h"

#include "cleave/base.h"
#include "lab/base/bytes.h"
#include "lab/base/json.h"
#include "lab/base/text.h"
#include "lab/measure/machine.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

run_result* run_results_add( run_results* results )
{
    run_result* result = lab_list_next( results->items, results->count );
    *result = ( run_result ){ 0 };
    return result;
}

void run_results_free( run_results* results )
{
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        run_result_free( &results->items[index] );
    }
    free( results->items );
    json_free( results->machine );
    free( results->version );
    *results = ( run_results ){ 0 };
}

text_short results_hash( uint64_t hash )
{
    text_short shown;
    snprintf( shown.text, sizeof( shown.text ), "0x%016" PRIx64, hash );
    return shown;
}

// ---- JSON

bool results_have_json( lab_error* why )
{
    return json_is_here( why );
}

static json_value* machine_value( const char* gpu )
{
    machine_facts facts = machine_look();
    json_value* value = json_object();
    json_put_text( value, "cpu", facts.cpu );
    json_put_count( value, "cores", facts.core_count );
    json_put_text( value, "isa", facts.isa );
    json_put_text( value, "compiler", facts.compiler );
    json_put_text( value, "flags", facts.flags );
    json_put_text( value, "system", facts.system );
    json_put_number( value, "load", floor( facts.load * 100 + 0.5 ) / 100 ); // as uptime shows it
    json_put_text( value, "gpu", gpu );
    return value;
}

// A clock that counts nanoseconds has six decimals of a millisecond; NaN, and so null, for runs without
// times.
static double shown_ms( const run_result* run, double ms )
{
    return run->status == RUN_OK ? floor( ms * 1e6 + 0.5 ) / 1e6 : NAN;
}

static json_value* list_value( const double* values, uint32_t count, double scale )
{
    json_value* list = json_array();
    for ( uint32_t index = 0; values != NULL && index < count; ++index )
    {
        json_put_number( list, NULL, floor( values[index] * scale + 0.5 ) / scale );
    }
    return list;
}

// What a method does inside; null where it is not known.
static double inside( const run_result* run, double figure )
{
    return run->status == RUN_OK && !run->is_opaque ? figure : NAN;
}

static void put_stage( json_value* value, const char* key, const run_result* run, const double* frames )
{
    if ( run->is_opaque )
    {
        json_put_text( value, key, NULL );
        return;
    }
    json_put( value, key, list_value( run->status == RUN_OK ? frames : NULL, run->frame_count, 1e6 ) );
}

// One list per timed pass.
static json_value* passes_value( const run_result* run )
{
    json_value* list = json_array();
    for ( uint32_t pass = 0; run->status == RUN_OK && pass < run->pass_count; ++pass )
    {
        const double* frames = run->pass_ms + (size_t)pass * run->frame_count;
        json_put( list, NULL, list_value( frames, run->frame_count, 1e6 ) );
    }
    return list;
}

// Sums of whole numbers over frames: three decimals are enough.
static json_value* counters_value( const run_result* run )
{
    json_value* value = json_object();
    for ( uint32_t index = 0; run->status == RUN_OK && index < run->counter_count; ++index )
    {
        double mean = floor( run->counters[index].value * 1e3 + 0.5 ) / 1e3;
        json_put_number( value, run->counters[index].name, mean );
    }
    return value;
}

static void put_measures( json_value* value, const run_result* run )
{
    bool is_ok = run->status == RUN_OK;
    json_put_number( value, "ms_median", shown_ms( run, run->ms_median ) );
    json_put_number( value, "ms_mean", shown_ms( run, run->ms_mean ) );
    json_put_number( value, "ms_min", shown_ms( run, run->ms_min ) );
    json_put_number( value, "ms_p99", shown_ms( run, run->ms_p99 ) );
    json_put_number( value, "ms_spread", shown_ms( run, run->ms_spread ) );
    json_put_number( value, "update_ms", inside( run, shown_ms( run, run->update_ms ) ) );
    json_put_number( value, "search_ms", inside( run, shown_ms( run, run->search_ms ) ) );
    json_put_number( value, "pairs_last", is_ok ? (double)run->pairs_last : NAN );
    json_put_text( value, "pairs_hash", is_ok ? results_hash( run->pairs_hash ).text : NULL );
    json_put( value, "frame_ms", list_value( is_ok ? run->frame_ms : NULL, run->frame_count, 1e6 ) );
    json_put( value, "frame_static", list_value( run->frame_static, run->frame_count, 1e6 ) );
    put_stage( value, "frame_update_ms", run, run->frame_update_ms );
    put_stage( value, "frame_search_ms", run, run->frame_search_ms );
    put_stage( value, "frame_clean_ms", run, run->frame_clean_ms );
    json_put( value, "pass_ms", passes_value( run ) );
    json_put_number( value, "tests", inside( run, (double)run->tests ) );
    json_put( value, "counters", counters_value( run ) );
    json_put_number( value, "memory_bytes", is_ok ? (double)run->memory_bytes : NAN );
}

static void put_origin( json_value* value, const run_result* run )
{
    if ( run->known != NULL )
    {
        json_put_text( value, "known_hash", run->known );
    }
    if ( run->parts != NULL )
    {
        json_value* parts = json_array();
        for ( uint32_t index = 0; index < run->parts->count; ++index )
        {
            json_put_text( parts, NULL, run->parts->items[index] );
        }
        json_put( value, "parts", parts );
    }
    if ( run->key != NULL )
    {
        json_put_text( value, "key", run->key );
        json_put_text( value, "limits", run->limits );
    }
}

static json_value* known_members( const run_result* run )
{
    json_value* value = json_object();
    json_put_text( value, "scene", run->scene );
    json_put_text( value, "type", run->type );
    json_put_count( value, "objects", run->object_count );
    json_put_count( value, "frames", run->frame_count );
    json_put_text( value, "method", run->method );
    json_put_text( value, "variant", run->variant );
    json_put_count( value, "threads", run->thread_count );
    json_put_text( value, "settings", run->settings );
    for ( uint32_t index = 0; index < RUN_SWITCH_COUNT; ++index )
    {
        json_put_bool( value, run_switch_list[index].member, run_switch_is_on( &run->switches, index ) );
    }
    if ( run->switches.changed )
    {
        json_put_number( value, "changed_share", run->status == RUN_OK ? run->changed_share : NAN );
    }
    put_measures( value, run );
    if ( run->device != NULL )
    {
        json_put_text( value, "device", run->device );
    }
    json_put_bool( value, "fat", run->fat );
    json_put_text( value, "status", run_status_name( run->status ) );
    if ( run->status != RUN_OK )
    {
        json_put_text( value, "reason", run->reason );
    }
    put_origin( value, run );
    return value;
}

json_value* results_run_json( const run_result* run )
{
    json_value* value = known_members( run );
    for ( const json_value* more = json_first( run->json ); more != NULL; more = json_next( more ) )
    {
        if ( json_get( value, json_key( more ) ) == NULL )
        {
            json_put( value, json_key( more ), json_copy( more ) );
        }
    }
    // Last: a run that was read tells its device there, and not in the struct.
    if ( json_get( value, "device" ) == NULL )
    {
        json_put_text( value, "device", NULL );
    }
    return value;
}

json_value* results_document( json_value* runs, const char* gpu )
{
    json_value* root = json_object();
    json_put_text( root, "cleave", clv_version_text() );
    json_put( root, "machine", machine_value( gpu ) );
    json_put( root, "runs", runs );
    return root;
}

char* results_json( const run_results* results, lab_error* why )
{
    if ( !json_is_here( why ) )
    {
        return NULL;
    }
    json_value* runs = json_array();
    const char* gpu = NULL;
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        gpu = gpu == NULL ? run->device : gpu;
        json_put( runs, NULL, results_run_json( run ) );
    }
    return json_text( results_document( runs, gpu ) );
}

// ---- CSV

// A field in quotes, with quotes doubled, and a comma; names come from files.
static void put_quoted( byte_buffer* out, const char* text, const char* end )
{
    byte_buffer_put_byte( out, '"' );
    for ( const char* c = text; *c != '\0'; ++c )
    {
        byte_buffer_print( out, *c == '"' ? "\"%c" : "%c", *c );
    }
    byte_buffer_print( out, "\"%s", end );
}

static void put_csv_measures( byte_buffer* out, const run_result* run )
{
    if ( run->status != RUN_OK )
    {
        byte_buffer_print( out, ",,,,,,,,,," );
        return;
    }
    byte_buffer_print( out, "%.6f,%.6f,%.6f,%.6f,", run->ms_median, run->ms_mean, run->ms_min, run->ms_p99 );
    char tests[24] = "";
    if ( !run->is_opaque )
    {
        byte_buffer_print( out, "%.6f,%.6f", run->update_ms, run->search_ms );
        snprintf( tests, sizeof( tests ), "%" PRIu64, run->tests );
    }
    byte_buffer_print( out, "%s,%" PRIu64 ",0x%016" PRIx64 ",%s,%" PRIu64 ",", run->is_opaque ? "," : "",
        run->pairs_last, run->pairs_hash, tests, (uint64_t)run->memory_bytes );
}

static void put_csv_row( byte_buffer* out, const run_result* run )
{
    put_quoted( out, run->scene, "," );
    put_quoted( out, run->type, "," );
    byte_buffer_print( out, "%" PRIu32 ",%" PRIu32 ",%s,%s,%" PRIu32 ",", run->object_count, run->frame_count,
        run->method, run->variant, run->thread_count );
    put_quoted( out, run->settings != NULL ? run->settings : "", "," );
    byte_buffer_print( out, "%d,%d,", run->switches.sorted ? 1 : 0, run->switches.events ? 1 : 0 );
    put_csv_measures( out, run );
    byte_buffer_print( out, "%s,", run_status_name( run->status ) );
    put_quoted( out, run->status != RUN_OK ? run->reason : "", "\n" );
}

char* results_csv( const run_results* results )
{
    byte_buffer out = { 0 };
    byte_buffer_print( &out,
        "scene,type,objects,frames,method,variant,threads,settings,sorted,events,ms_median,ms_mean,ms_min,ms_p99,"
        "update_ms,search_ms,pairs_last,pairs_hash,tests,memory_bytes,status,reason\n" );
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        put_csv_row( &out, &results->items[index] );
    }
    byte_buffer_put_byte( &out, 0 );
    return (char*)out.bytes;
}

// ---- Results as they were written, by this program or an older one: members may be missing, of the wrong
// kind or absurd, and then a sentence says which.

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
    run->counters = count > 0 ? lab_take( count, sizeof( clv_method_figure ) ) : NULL;
    for ( const json_value* item = json_first( counters ); count > 0 && item != NULL;
          item = json_next( item ) )
    {
        double number = json_as_number( item );
        if ( number - number != 0 )
        {
            return fail_member( reader, "counters", "must hold numbers" );
        }
        run->counters[run->counter_count++] = ( clv_method_figure ){ json_key( item ), number };
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
    for ( uint32_t index = 0; index < RUN_SWITCH_COUNT; ++index )
    {
        const run_switch* known = &run_switch_list[index];
        *(bool*)( (char*)&run->switches + known->offset ) =
            json_as_bool( json_get( reader->value, known->member ) );
    }
    run->changed_share = json_as_number( json_get( reader->value, "changed_share" ) );
    run->fat = json_as_bool( json_get( reader->value, "fat" ) );
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
