// SPDX-License-Identifier: MIT
// Broadmark's results: settings, and per frame the seconds of its stages. Ours are three, measured in a pass of their own;
// what is left of the frame is handing over the boxes. A method that keeps no pairs has no cache to clean.
#include "lab/base/platform.h"
#include "lab/broadmark/broadmark_files.h"
#include "lab/broadmark/broadmark_names.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double at( const double* values, uint32_t index )
{
    return values != NULL ? values[index] / 1e3 : 0;
}

static json_value* frame_value( const run_result* run, uint32_t index )
{
    double total = at( run->frame_ms, index );
    double clean = at( run->frame_clean_ms, index );
    double update = at( run->frame_update_ms, index );
    double search = at( run->frame_search_ms, index );
    // The stages are from another pass; they must fit into this one, and rounding leaves nothing below 0.
    bool is_over = update + search > total;
    double scale = is_over ? total / ( update + search ) : 1;
    json_value* frame = json_object();
    json_put_number( frame, "Total", total );
    json_put_number( frame, "UpdateObjects", is_over ? 0 : total - ( update + search ) );
    json_put_number( frame, "CleanCache", scale * clean );
    json_put_number( frame, "UpdateStructures", scale * ( update - clean ) );
    json_put_number( frame, "SearchOverlaps", scale * search );
    return frame;
}

// The value a run had: what its settings say, else the method's own default; NaN if the method has no such parameter.
static double param_value( const run_result* run, const char* name )
{
    size_t length = strlen( name );
    const char* place = run->settings != NULL ? strstr( run->settings, name ) : NULL;
    if ( place != NULL && place[length] == '=' )
    {
        return strtod( place + length + 1, NULL );
    }
    const method* row = clv_method_find( run->method );
    for ( uint32_t index = 0; row != NULL && index < row->param_count; ++index )
    {
        if ( strcmp( row->params[index].name, name ) == 0 )
        {
            return row->params[index].value;
        }
    }
    return NAN;
}

// Also where it is a default: ours are others than Broadmark's, which the same file would mean without them.
static void put_params( json_value* settings, const run_result* run )
{
    for ( uint32_t index = 0; broadmark_param_at( index ) != NULL; ++index )
    {
        const broadmark_param* param = broadmark_param_at( index );
        double value = param_value( run, param->setting );
        if ( value == value )
        {
            json_put_number( settings, param->key, value );
        }
    }
}

static json_value* made_settings( const run_result* run, const char* output )
{
    json_value* settings = json_object();
    char* pretty = text_format( "%s@%s", run->method, run->variant );
    json_put_text( settings, "m_inputScene", run->scene );
    json_put_text( settings, "m_outputLog", output );
    json_put_text( settings, "m_algorithm",
        broadmark_name_of( run->method, run->variant, run->thread_count, run->settings ) );
    json_put_text( settings, "m_algorithm_prettyName", pretty );
    json_put_count( settings, "m_numThreads", run->thread_count );
    put_params( settings, run );
    free( pretty );
    return settings;
}

// Without these a wrong answer would look fast.
static json_value* own_value( const run_result* run )
{
    char hash[RESULTS_HASH_ROOM];
    json_value* own = json_object();
    json_put_text( own, "method", run->method );
    json_put_text( own, "variant", run->variant );
    json_put_text( own, "settings", run->settings );
    json_put_count( own, "pairs_last", run->pairs_last );
    json_put_text( own, "pairs_hash", results_hash( run->pairs_hash, hash ) );
    return own;
}

// The text of a results file, to free; `settings` may be NULL: then they are made from the run. NULL with an error.
static char* results_text(
    const run_result* run, const json_value* settings, const char* output, lab_error* why )
{
    json_value* said = settings != NULL ? json_copy( settings ) : made_settings( run, output );
    json_value* root = json_object();
    json_value* frames = json_array();
    json_value* objects = json_object();
    json_put_count( objects, "count", run->object_count );
    json_replace( said, "m_numberOfObjects", json_copy( json_get( objects, "count" ) ) );
    json_free( objects );
    json_put( root, "Settings", said );
    for ( uint32_t index = 0; index < run->frame_count; ++index )
    {
        json_put( frames, NULL, frame_value( run, index ) );
    }
    json_put( root, "Frames", frames );
    json_put( root, "Cleave", own_value( run ) );
    char* text = json_text( root );
    if ( text == NULL )
    {
        lab_error_write( why, "%s: out of memory", output );
    }
    return text;
}

// ---- files

static bool write_file( const run_result* run, const json_value* settings, const char* path, lab_error* why )
{
    output_file file = { 0 };
    char* text = results_text( run, settings, path, why );
    bool good = text != NULL && output_file_open( &file, path, why ) &&
        output_file_write( &file, text, strlen( text ), why ) && output_file_commit( &file, why );
    free( text );
    return good;
}

bool broadmark_files_check( const broadmark_files* files, lab_error* why )
{
    for ( uint32_t index = 0; index < files->count; ++index )
    {
        output_file file = { 0 };
        if ( !output_file_open( &file, files->items[index].output, why ) )
        {
            return false;
        }
        output_file_abandon( &file );
    }
    return true;
}

static bool is_of_part( const run_result* run, const char* part )
{
    for ( uint32_t index = 0; run->parts != NULL && index < run->parts->count; ++index )
    {
        if ( strcmp( run->parts->items[index], part ) == 0 )
        {
            return true;
        }
    }
    return false;
}

bool broadmark_files_write( const broadmark_files* files, const run_results* results, lab_error* why )
{
    for ( uint32_t index = 0; index < files->count; ++index )
    {
        const broadmark_file* file = &files->items[index];
        for ( uint32_t run = 0; run < results->count; ++run )
        {
            const run_result* result = &results->items[run];
            if ( !is_of_part( result, file->part ) )
            {
                continue;
            }
            if ( result->status != RUN_OK )
            {
                return lab_error_write( why, "%s: %s: %s; %s was not written", file->path,
                    run_status_name( result->status ), result->reason, file->output );
            }
            if ( !write_file( result, file->settings, file->output, why ) )
            {
                return false;
            }
        }
    }
    return true;
}

// A name that tells the run, of letters every file system takes.
static char* name_file( const char* folder, const run_result* run )
{
    char* name = text_format( "%.64s-%.32s-%" PRIu32 "-%s@%s-%" PRIu32 "%s%s", run->scene, run->type,
        run->object_count, run->method, run->variant, run->thread_count, run->settings != NULL ? "-" : "",
        run->settings != NULL ? run->settings : "" );
    for ( char* c = name; *c != '\0'; ++c )
    {
        *c = strchr( "/\\:*?\"<>| ", *c ) != NULL || (unsigned char)*c < 32 ? '_' : *c;
    }
    char* path = text_format( "%s/%s.json", folder, name );
    free( name );
    return path;
}

bool broadmark_write_all( const char* folder, const run_results* results, lab_error* why )
{
    errno = 0;
    if ( !platform_make_folder( folder ) )
    {
        return lab_error_write( why, "%s: cannot be made: %s", folder, strerror( errno ) );
    }
    bool good = true;
    for ( uint32_t index = 0; good && index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        char* path = name_file( folder, run );
        good = run->status != RUN_OK || write_file( run, NULL, path, why );
        free( path );
    }
    return good;
}
