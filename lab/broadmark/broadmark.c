// SPDX-License-Identifier: MIT
#include "lab/broadmark/broadmark.h"

#include "lab/base/json.h"
#include "lab/base/platform.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Its plain variants are compiled without SIMD by hand, its KD tests eight boxes at a time.
#define SIX( prefix, method )                                                                                \
    { prefix, method, "scalar", false, NULL }, { prefix "_SSE", method, "sse2", false, NULL },               \
        { prefix "_AVX", method, "avx2", false, NULL },                                                      \
        { prefix "_Parallel", method, "scalar", true, NULL },                                                \
        { prefix "_SSE_Parallel", method, "sse2", true, NULL },                                              \
    {                                                                                                        \
        prefix "_AVX_Parallel", method, "avx2", true, NULL                                                   \
    }

#define FOUR( prefix, setting )                                                                              \
    { prefix, "grid", "scalar", false, setting }, { prefix "_SAP", "grid-sap", "scalar", false, setting },   \
        { prefix "_Parallel", "grid", "scalar", true, setting },                                             \
    {                                                                                                        \
        prefix "_SAP_Parallel", "grid-sap", "scalar", true, setting                                          \
    }

static const broadmark_name names[] = {
    SIX( "BF", "brute" ),
    SIX( "SAP", "sap" ),
    FOUR( "Grid_3D", NULL ),
    FOUR( "Grid_2D", "grid.axes=2" ),
    { "AxisSweep", "bullet-axissweep", NULL, false, NULL },
    { "DBVT F", "bullet-dbvt-f", NULL, false, NULL },
    { "DBVT D", "bullet-dbvt-d", NULL, false, NULL },
    { "CGAL", "cgal", NULL, false, NULL },
    { "Tracy", "tracy", NULL, false, NULL },
    { "Tracy_Parallel", "tracy", NULL, true, NULL },
    { "KD", "kd-paper", "avx2", false, NULL },
    { "GPU_Grid", "gpu-grid", NULL, false, NULL },
    { "GPU_LBVH", "gpu-lbvh", NULL, false, NULL },
    { "GPU_SAP", "gpu-sap", NULL, false, NULL },
};

#define NAME_COUNT ( sizeof( names ) / sizeof( names[0] ) )

static const broadmark_param params[] = {
    { "m_Grid_ObjectsPerCell", "grid.cell", 200 },
    { "m_Tracy_ObjectsPerCell", "tracy.cell", 200 },
    { "m_KD_ObjectsPerLeaf", "kd.leaf", 512 },
};

#define PARAM_COUNT ( sizeof( params ) / sizeof( params[0] ) )

// NULL if Broadmark has no such algorithm.
static const broadmark_name* broadmark_find( const char* name )
{
    for ( size_t index = 0; index < NAME_COUNT; ++index )
    {
        if ( strcmp( names[index].name, name ) == 0 )
        {
            return &names[index];
        }
    }
    return NULL;
}

const char* broadmark_name_of(
    const char* method_name, const char* variant, uint32_t thread_count, const char* settings )
{
    bool is_flat = settings != NULL && strstr( settings, "grid.axes=2" ) != NULL;
    for ( size_t index = 0; index < NAME_COUNT; ++index )
    {
        const broadmark_name* known = &names[index];
        if ( strcmp( known->method, method_name ) == 0 &&
            ( known->isa == NULL || strcmp( known->isa, variant ) == 0 ) &&
            known->has_threads == ( thread_count > 1 ) && is_flat == ( known->setting != NULL ) )
        {
            return known->name;
        }
    }
    return method_name;
}

// What to write behind "'name' is unknown; ": "did you mean BF? there are BF, BF_SSE, …", those that can be
// asked for.
static text_long broadmark_advice( const char* name )
{
    text_list known = { 0 };
    for ( size_t index = 0; index < NAME_COUNT; ++index )
    {
        if ( clv_method_find( names[index].method ) != NULL )
        {
            text_list_add( &known, names[index].name );
        }
    }
    return text_advice( name, known, "there are", ", " );
}

// ---- broadmark settings

// Broadmark's defaults; those of cells and leaves are above.
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
    return lab_error_write( why, "%.150s: \"m_algorithm\" '%.60s' is %s; %s", file->path, name,
        broadmark_find( name ) != NULL ? "not here" : "unknown", broadmark_advice( name ).text );
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

// Objects per cell or leaf, if the method knows such a thing: what the file says, else
// what Broadmark takes then.
static bool read_params( const broadmark_file* file, schedule_part* part, lab_error* why )
{
    run_spec spec = { .row = clv_method_find( part->wish.names.items[0] ) };
    for ( size_t index = 0; index < PARAM_COUNT; ++index )
    {
        const broadmark_param* param = &params[index];
        double value = param->usual;
        if ( !count_member( file, param->key, 1e6, &value, why ) )
        {
            return false;
        }
        if ( run_spec_knows( &spec, param->setting, strlen( param->setting ) ) )
        {
            char* setting = text_format( "%s=%s", param->setting, range_text( value ).text );
            text_list_add( &part->wish.settings, setting );
            free( setting );
        }
    }
    return true;
}

// ---- all together

static void replace_number( json_value* settings, const char* key, double value )
{
    json_value* holder = json_object();
    json_put_number( holder, key, value );
    json_replace( settings, key, json_copy( json_get( holder, key ) ) );
    json_free( holder );
}

static void fill_number( json_value* settings, const char* key, double usual )
{
    if ( json_is_null( json_get( settings, key ) ) )
    {
        replace_number( settings, key, usual );
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
    for ( size_t index = 0; index < PARAM_COUNT; ++index )
    {
        fill_number( settings, params[index].key, params[index].usual );
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

// ---- Broadmark's results: settings, and per frame the seconds of its stages. Ours are three, measured
// in a pass of their own; what is left of the frame is handing over the boxes. A method that keeps no
// pairs has no cache to clean.

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

// The value a run had: what its settings say, else the method's own default; NaN if the
// method has no such parameter.
static double param_value( const run_result* run, const char* name )
{
    size_t length = strlen( name );
    const char* place = run->settings != NULL ? strstr( run->settings, name ) : NULL;
    if ( place != NULL && place[length] == '=' )
    {
        return strtod( place + length + 1, NULL );
    }
    const clv_method* row = clv_method_find( run->method );
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
    for ( size_t index = 0; index < PARAM_COUNT; ++index )
    {
        const broadmark_param* param = &params[index];
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
    json_value* own = json_object();
    json_put_text( own, "method", run->method );
    json_put_text( own, "variant", run->variant );
    json_put_text( own, "settings", run->settings );
    json_put_count( own, "pairs_last", run->pairs_last );
    json_put_text( own, "pairs_hash", results_hash( run->pairs_hash ).text );
    return own;
}

// The text of a results file, to free; `settings` may be NULL: then they are made from the run.
static char* results_text( const run_result* run, const json_value* settings, const char* output )
{
    json_value* said = settings != NULL ? json_copy( settings ) : made_settings( run, output );
    json_value* root = json_object();
    json_value* frames = json_array();
    replace_number( said, "m_numberOfObjects", run->object_count );
    json_put( root, "Settings", said );
    for ( uint32_t index = 0; index < run->frame_count; ++index )
    {
        json_put( frames, NULL, frame_value( run, index ) );
    }
    json_put( root, "Frames", frames );
    json_put( root, "Cleave", own_value( run ) );
    return json_text( root );
}

// ---- files

static bool write_file( const run_result* run, const json_value* settings, const char* path, lab_error* why )
{
    char* text = results_text( run, settings, path );
    bool good = output_file_put( path, text, strlen( text ), why );
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

bool broadmark_files_write( const broadmark_files* files, const run_results* results, lab_error* why )
{
    for ( uint32_t index = 0; index < files->count; ++index )
    {
        const broadmark_file* file = &files->items[index];
        for ( uint32_t run = 0; run < results->count; ++run )
        {
            const run_result* result = &results->items[run];
            if ( result->parts == NULL || !text_list_has( result->parts, file->part ) )
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
