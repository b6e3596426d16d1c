// SPDX-License-Identifier: MIT
#include "lab/base/json_file.h"
#include "lab/base/platform.h"
#include "lab/broadmark/broadmark_files.h"
#include "lab/broadmark/broadmark_names.h"
#include "lab/measure/range.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Broadmark's defaults; those of cells and leaves are in broadmark_names.c.
#define USUAL_THREADS 4
#define USUAL_MARGIN 0.01
#define USUAL_GPU_KERNEL 5

bool broadmark_is_settings( const char* path )
{
    return text_ends_with( path, ".json" );
}

// ---- members

static const char* text_member( const broadmark_file* file, const char* key, lab_error* why )
{
    const char* text = json_as_text( json_get( file->settings, key ) );
    if ( text == NULL || text[0] == '\0' )
    {
        lab_error_write( why,
            "%s: \"%s\" must be a text; Broadmark's settings have m_inputScene, m_outputLog and m_algorithm",
            file->path, key );
        return NULL;
    }
    return text;
}

// A whole number above 0; *number stays if the member is missing.
static bool count_member(
    const broadmark_file* file, const char* key, double most, double* number, lab_error* why )
{
    const json_value* value = json_get( file->settings, key );
    double count = json_as_number( value );
    if ( json_is_null( value ) )
    {
        return true;
    }
    *number = count;
    return ( count >= 1 && count <= most ) ||
        lab_error_write( why, "%s: \"%s\" must be a number from 1 to %.10g", file->path, key, most );
}

// ---- the scene

static char* with_slashes( const char* path )
{
    char* copy = text_copy( path );
    for ( char* c = copy; *c != '\0'; ++c )
    {
        *c = *c == '\\' ? '/' : *c;
    }
    return copy;
}

// As Broadmark takes it, from where we are; else with Windows' separators turned; else beside the settings.
static char* find_scene( const char* settings_path, const char* scene )
{
    const char* slash = strrchr( settings_path, '/' );
    int length = slash != NULL ? (int)( slash - settings_path ) + 1 : 0;
    char* turned = with_slashes( scene );
    char* candidates[] = { text_copy( scene ), text_copy( turned ),
        text_format( "%.*s%s", length, settings_path, turned ) };
    free( turned );
    char* found = NULL;
    for ( size_t index = 0; index < sizeof( candidates ) / sizeof( candidates[0] ); ++index )
    {
        bool is_there = found == NULL && platform_look( candidates[index] ).kind == PLATFORM_FILE;
        found = is_there ? text_copy( candidates[index] ) : found;
        free( candidates[index] );
    }
    return found != NULL ? found : text_copy( scene );
}

// ---- the method

static bool fail_algorithm( const broadmark_file* file, const char* name, lab_error* why )
{
    char advice[BROADMARK_ADVICE_ROOM];
    return lab_error_write( why, "%.150s: \"m_algorithm\" '%.60s' is %s; %s", file->path, name,
        broadmark_find( name ) != NULL ? "not here" : "unknown", broadmark_advice( name, advice ) );
}

static bool read_method( const broadmark_file* file, schedule_part* part, lab_error* why )
{
    const char* name = text_member( file, "m_algorithm", why );
    const broadmark_name* known = name != NULL ? broadmark_find( name ) : NULL;
    if ( name == NULL )
    {
        return false;
    }
    if ( known == NULL || clv_method_find( known->method ) == NULL )
    {
        return fail_algorithm( file, name, why );
    }
    double thread_count = USUAL_THREADS;
    if ( !count_member( file, "m_numThreads", CLV_MAX_WORKERS, &thread_count, why ) )
    {
        return false;
    }
    text_list_add( &part->wish.names, known->method );
    if ( known->isa != NULL )
    {
        text_list_add( &part->wish.isas, known->isa );
    }
    size_list_add( &part->wish.threads, known->has_threads ? (uint64_t)thread_count : 1 );
    if ( known->setting != NULL )
    {
        text_list_add( &part->wish.settings, known->setting );
    }
    return true;
}

// Objects per cell or leaf, if the method knows such a thing: what the file says, else what Broadmark takes then.
static bool read_params( const broadmark_file* file, schedule_part* part, lab_error* why )
{
    run_spec spec = { .row = clv_method_find( part->wish.names.items[0] ) };
    for ( uint32_t index = 0; broadmark_param_at( index ) != NULL; ++index )
    {
        const broadmark_param* param = broadmark_param_at( index );
        double value = param->usual;
        if ( !count_member( file, param->key, 1e6, &value, why ) )
        {
            return false;
        }
        if ( run_spec_knows( &spec, param->setting, strlen( param->setting ) ) )
        {
            char number[RANGE_TEXT_ROOM];
            char* setting = text_format( "%s=%s", param->setting, range_text( value, number ) );
            text_list_add( &part->wish.settings, setting );
            free( setting );
        }
    }
    return true;
}

// ---- all together

static void fill_number( json_value* settings, const char* key, double usual )
{
    if ( json_is_null( json_get( settings, key ) ) )
    {
        json_value* holder = json_object();
        json_put_number( holder, key, usual );
        json_replace( settings, key, json_copy( json_get( holder, key ) ) );
        json_free( holder );
    }
}

// Broadmark's results repeat every setting, also those that the file left to their defaults.
static void fill_settings( broadmark_file* file )
{
    json_value* settings = file->settings;
    if ( json_is_null( json_get( settings, "m_algorithm_prettyName" ) ) )
    {
        json_replace( settings, "m_algorithm_prettyName", json_copy( json_get( settings, "m_algorithm" ) ) );
    }
    if ( json_is_null( json_get( settings, "m_margin" ) ) )
    {
        json_value* margin = json_object();
        json_put_number( margin, "x", USUAL_MARGIN );
        json_put_number( margin, "y", USUAL_MARGIN );
        json_put_number( margin, "z", USUAL_MARGIN );
        json_replace( settings, "m_margin", margin );
    }
    fill_number( settings, "m_numThreads", USUAL_THREADS );
    for ( uint32_t index = 0; broadmark_param_at( index ) != NULL; ++index )
    {
        fill_number( settings, broadmark_param_at( index )->key, broadmark_param_at( index )->usual );
    }
    fill_number( settings, "m_GPUSap_KernelType", USUAL_GPU_KERNEL );
}

static bool read_settings( broadmark_file* file, schedule* wanted, lab_error* why )
{
    const char* scene = text_member( file, "m_inputScene", why );
    const char* output = scene != NULL ? text_member( file, "m_outputLog", why ) : NULL;
    if ( output == NULL )
    {
        return false;
    }
    file->output = with_slashes( output );
    schedule_part* part = schedule_add_part( wanted, NULL, file->part );
    char* found = find_scene( file->path, scene );
    text_list_add( &part->scenes, found );
    free( found );
    part->terms.warmup = 0;
    part->terms.repeat = 1;
    if ( !read_method( file, part, why ) || !read_params( file, part, why ) )
    {
        return false;
    }
    fill_settings( file );
    return true;
}

bool broadmark_files_add( broadmark_files* files, const char* path, schedule* wanted, lab_error* why )
{
    json_value* root = json_file_read( path, why );
    if ( root == NULL )
    {
        return false;
    }
    broadmark_file* file = lab_list_next( files->items, files->count );
    const json_value* inner = json_get( root, "Settings" );
    *file = ( broadmark_file ){ .path = text_copy( path ),
        .settings = json_copy( inner != NULL ? inner : root ) };
    snprintf( file->part, sizeof( file->part ), "broadmark-%" PRIu32, files->count );
    json_free( root );
    return read_settings( file, wanted, why );
}

void broadmark_files_free( broadmark_files* files )
{
    for ( uint32_t index = 0; index < files->count; ++index )
    {
        free( files->items[index].path );
        free( files->items[index].output );
        json_free( files->items[index].settings );
    }
    free( files->items );
    *files = ( broadmark_files ){ 0 };
}
