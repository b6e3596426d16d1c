// SPDX-License-Identifier: MIT
#include "lab/query/query_bench.h"

#include "cleave/cleave.h"
#include "lab/base/terminal.h"
#include "lab/measure/plugin.h"
#include "lab/measure/run_spec.h"
#include "lab/query/query_trial.h"
#include "lab/result/output.h"
#include "lab/result/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the methods that are queried

typedef struct known_library
{
    const char* name;
    const char* module; // NULL: our own
    const char* package;
    uint32_t families;
} known_library;

#define TREE_FAMILIES ( 1u << QUERY_FAMILY_RAYS | 1u << QUERY_FAMILY_BOXES | 1u << QUERY_FAMILY_SPHERES )

static const known_library s_libraries[] = {
    { "cleave", NULL, NULL, ( 1u << QUERY_FAMILY_COUNT ) - 1 },
    { "brute", NULL, NULL, ( 1u << QUERY_FAMILY_COUNT ) - 1 },
    { "embree", "query_embree", "libembree-dev", 1u << QUERY_FAMILY_RAYS },
    { "bullet-dbvt", "query_bullet", "libbullet-dev", TREE_FAMILIES },
    { "box2d", "query_box2d", "libbox2d-dev", TREE_FAMILIES },
    { "fcl", "query_fcl", "libfcl-dev", 1u << QUERY_FAMILY_BOXES | 1u << QUERY_FAMILY_SPHERES },
    { "nanoflann", "query_nanoflann", "libnanoflann-dev", 1u << QUERY_FAMILY_NEAREST },
};

enum
{
    LIBRARY_COUNT = sizeof( s_libraries ) / sizeof( s_libraries[0] ),
    REASON_ROOM = 512,
    BRUTE_TESTS = 20000000, // a bench leaves brute force out where it would need more, unless it was named
};

static bool is_named( const text_list* names, const char* name )
{
    return names->count == 0 || text_list_has( names, name );
}

static bool check_name( const char* name, lab_error* why )
{
    text_list known = { 0 };
    char advice[256];
    for ( int i = 0; i < LIBRARY_COUNT; ++i )
    {
        text_list_add( &known, s_libraries[i].name );
    }
    bool is_known = text_list_has( &known, name );
    text_advice( advice, sizeof( advice ), name, &known, "use", " or " );
    return is_known ||
        lab_error_write( why, "--queries: no method called '%.40s' answers them; %s", name, advice );
}

static bool check_names( const query_bench_def* def, lab_error* why )
{
    bool good = true;
    for ( uint32_t i = 0; good && i < def->methods->count; ++i )
    {
        good = check_name( def->methods->items[i], why );
    }
    for ( uint32_t i = 0; good && i < def->isas->count; ++i )
    {
        good = run_isa_check( def->isas->items[i], true, why );
    }
    return good;
}

static const query_peer* find_peer( const known_library* library, char reason[REASON_ROOM] )
{
    typedef const query_peer* peer_entry( void );
    plugin_function* found =
        peer_modules_find( library->module, library->package, QUERY_PEER_SYMBOL, reason, REASON_ROOM );
    return found != NULL ? ( (peer_entry*)found )() : NULL;
}

// ---- one scene

typedef struct query_report
{
    const query_bench_def* def;
    text_table table;
    json_value* runs;
    text_output json;
    output_file answers;
    bool all_agree;
} query_report;

typedef struct query_scene_state
{
    const scene_item* scene;
    clv_aabb* boxes;
    uint32_t object_count;
    query_draw draw;
    query_answers first; // of the first library that answered: the others are held against it
    const char* first_name;
} query_scene_state;

static void add_number( text_table* table, double value )
{
    bool is_known = value - value == 0;
    text_table_add( table, is_known ? ( value < 10 ? "%.2f" : "%.0f" ) : "-", value );
}

// What a library answered, and how fast.
typedef struct query_row
{
    const char* name;
    const char* variant;
    uint32_t threads, differing;
    query_times times;
    double found; ///< per query
    uint64_t hash;
} query_row;

static void add_row( query_report* report, const query_scene_state* scene, const query_row* row )
{
    text_table* table = &report->table;
    text_table_add_cells( table, "%s\t%s\t%s\t%s\t%" PRIu32, scene->scene->label,
        query_family_name( scene->draw.family ), row->name, row->variant, row->threads );
    add_number( table, row->times.build_ms );
    add_number( table, row->times.refit_ms );
    add_number( table, row->times.single_ns );
    add_number( table, row->times.batched_ns );
    text_table_add_cells( table, "%.2f\t%" PRIu32 "\t0x%016" PRIx64, row->found, row->differing, row->hash );
}

static void add_json(
    query_report* report, const query_scene_state* scene, const query_row* row, bool batched )
{
    double ns = batched ? row->times.batched_ns : row->times.single_ns;
    if ( report->runs == NULL || !( ns - ns == 0 ) )
    {
        return;
    }
    char hash[RESULTS_HASH_ROOM];
    json_value* run = json_object();
    json_put_text( run, "scene", scene->scene->label );
    json_put_count( run, "objects", scene->object_count );
    json_put_text( run, "method", row->name );
    json_put_text( run, "variant", row->variant );
    json_put_count( run, "threads", batched ? row->threads : 1 );
    json_put_text( run, "query", query_family_name( scene->draw.family ) );
    json_put_count( run, "queries", scene->draw.count );
    json_put_bool( run, "batched", batched );
    json_put_number( run, "queries_per_second", 1e9 / ns );
    json_put_number( run, "build_ms", row->times.build_ms );
    json_put_number( run, "refit_ms", row->times.refit_ms );
    json_put_number( run, "found_per_query", row->found );
    json_put_count( run, "differing", row->differing );
    json_put_text( run, "answers_hash", results_hash( row->hash, hash ) );
    json_put_text( run, "status", "ok" );
    json_put( report->runs, NULL, run );
}

static void print_item( FILE* stream, const query_draw* draw, uint32_t i )
{
    // Every item is floats and nothing else.
    size_t size = query_family_item_size( draw->family ) / sizeof( float );
    const float* numbers = (const float*)draw->items + size * i;
    fprintf( stream, "%s %" PRIu32 ":", query_family_name( draw->family ), i );
    for ( size_t j = 0; j < size; ++j )
    {
        fprintf( stream, " %.9g", (double)numbers[j] );
    }
}

static bool write_answers( query_report* report, const query_scene_state* scene, lab_error* why )
{
    if ( report->answers.stream == NULL )
    {
        return true;
    }
    FILE* stream = report->answers.stream;
    fprintf( stream, "# %s, by %s: query, its numbers, then slot and t of each hit\n", scene->scene->label,
        scene->first_name );
    for ( uint32_t i = 0; i < scene->first.count; ++i )
    {
        print_item( stream, &scene->draw, i );
        fprintf( stream, " ->" );
        for ( uint64_t j = scene->first.offsets[i]; j < scene->first.offsets[i + 1]; ++j )
        {
            clv_hit hit = scene->first.hits[j];
            fprintf( stream, " %" PRIu32 " %.9g", hit.index, (double)hit.t );
        }
        fputc( '\n', stream );
    }
    return ferror( stream ) == 0 || lab_error_write( why, "%s cannot be written", report->def->answers );
}

// The answers of all methods beside the first one's. Ours must be the same; theirs may round otherwise.
static void settle( query_report* report, query_scene_state* scene, const char* name, bool is_ours,
    const char* variant, uint32_t threads, const query_times* times, query_answers* answers )
{
    uint32_t differing = 0, first = 0;
    if ( scene->first_name != NULL )
    {
        differing = query_answers_differ( &scene->first, answers, &first );
    }
    if ( differing > 0 && is_ours )
    {
        report->all_agree = false;
        printf( "%s@%s and %s differ: ", name, variant, scene->first_name );
        print_item( stdout, &scene->draw, first );
        putchar( '\n' );
    }
    const query_row row = { name, variant, threads, differing, *times,
        (double)answers->offsets[answers->count] / answers->count, query_answers_hash( answers ) };
    add_row( report, scene, &row );
    add_json( report, scene, &row, false );
    add_json( report, scene, &row, true );
    if ( scene->first_name == NULL )
    {
        scene->first = *answers;
        scene->first_name = name;
        return;
    }
    query_answers_free( answers );
}

static bool ask_cleave( query_report* report, query_scene_state* scene, lab_error* why )
{
    const query_bench_def* def = report->def;
    for ( int isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
    {
        bool is_wanted = def->isas->count == 0 ? isa == (int)clv_isa_best()
                                               : clv_isa_is_supported( (clv_isa)isa ) &&
                ( is_named( def->isas, "all" ) || is_named( def->isas, clv_isa_name( (clv_isa)isa ) ) );
        uint32_t thread_kinds = def->threads->count > 0 ? def->threads->count : 1;
        for ( uint32_t t = 0; t < thread_kinds && is_wanted; ++t )
        {
            query_world_def world = { scene->boxes, scene->object_count,
                def->threads->count > 0 ? (uint32_t)def->threads->items[t] : 1,
                def->verify ? 1 : (uint32_t)def->pass_count, (clv_isa)isa, def->thread_time };
            query_answers answers = { 0 };
            query_times times;
            if ( !query_trial_cleave( &world, &scene->draw, &answers, &times, why ) )
            {
                return false;
            }
            settle( report, scene, "cleave", true, clv_isa_name( (clv_isa)isa ), world.thread_count, &times,
                &answers );
        }
    }
    return true;
}

static void ask_brute( query_report* report, query_scene_state* scene )
{
    const query_bench_def* def = report->def;
    double tests = (double)scene->object_count * scene->draw.count;
    if ( !def->verify && def->methods->count == 0 && tests > BRUTE_TESTS )
    {
        return;
    }
    query_world_def world = { scene->boxes, scene->object_count, 1, 1, CLV_ISA_AUTO, def->thread_time };
    query_answers answers = { 0 };
    query_times times;
    query_trial_brute( &world, &scene->draw, &answers, &times );
    settle( report, scene, "brute", true, "plain", 1, &times, &answers );
}

static bool ask_peer(
    query_report* report, query_scene_state* scene, const known_library* library, lab_error* why )
{
    char reason[REASON_ROOM] = "";
    const query_peer* peer = find_peer( library, reason );
    if ( peer == NULL )
    {
        return report->def->methods->count == 0 || lab_error_write( why, "%s: %s", library->name, reason );
    }
    query_world_def world = { scene->boxes, scene->object_count, 1, (uint32_t)report->def->pass_count,
        CLV_ISA_AUTO, report->def->thread_time };
    query_answers answers = { 0 };
    query_times times;
    if ( !query_trial_peer( peer, &world, &scene->draw, &answers, &times, why ) )
    {
        return false;
    }
    settle( report, scene, library->name, false, "plain", 1, &times, &answers );
    return true;
}

static bool ask_libraries( query_report* report, query_scene_state* scene, lab_error* why )
{
    bool good = true;
    for ( int i = 0; i < LIBRARY_COUNT && good; ++i )
    {
        const known_library* library = &s_libraries[i];
        bool answers = ( library->families >> scene->draw.family & 1 ) != 0;
        bool is_judge = report->def->verify && i < 2; // both of them, whatever else was named
        if ( !answers || !( is_judge || is_named( report->def->methods, library->name ) ) )
        {
            continue;
        }
        if ( i == 1 )
        {
            ask_brute( report, scene );
            continue;
        }
        good = i == 0 ? ask_cleave( report, scene, why ) : ask_peer( report, scene, library, why );
    }
    return good && ( scene->first_name == NULL || write_answers( report, scene, why ) );
}

static bool ask_families( query_report* report, query_scene_state* scene, lab_error* why )
{
    bool good = true;
    for ( uint32_t i = 0; i < report->def->families->count && good; ++i )
    {
        query_family family = (query_family)choice_value( query_families, report->def->families->items[i] );
        query_draw_make( &scene->draw, family, scene->boxes, scene->object_count,
            (uint32_t)report->def->query_count, report->def->seed );
        good = scene->draw.count == 0 || ask_libraries( report, scene, why );
        query_draw_free( &scene->draw );
        query_answers_free( &scene->first );
        scene->first_name = NULL;
    }
    return good;
}

static bool ask_scene( query_report* report, const scene_item* item, lab_error* why )
{
    frame_source source = { 0 };
    query_scene_state scene = { .scene = item };
    bool good = scene_spec_open( &item->spec, item->body_count, 0, report->def->seed, &source, why );
    scene.boxes = good ? frame_source_boxes( &source ) : NULL;
    good = good && frame_source_read( &source, source.header.frame_count, scene.boxes, why );
    if ( good )
    {
        scene.object_count = source.header.object_count;
        good = ask_families( report, &scene, why );
    }
    frame_source_close( &source );
    free( scene.boxes );
    return good;
}

// ---- all of them

static bool write_json( query_report* report, lab_error* why )
{
    json_value* runs = report->runs;
    report->runs = NULL;
    return runs == NULL || text_output_write_json( &report->json, results_document( runs, NULL ), why );
}

// Everything that may be wrong with what was asked for, before anything takes time or is printed.
static bool open_report( query_report* report, scene_list* scenes, lab_error* why )
{
    const query_bench_def* def = report->def;
    bool good = check_names( def, why ) && scene_list_make( scenes, def->scenes, def->sizes, why ) &&
        text_output_open_json( &report->json, def->json, why ) &&
        ( def->answers == NULL || output_file_open( &report->answers, def->answers, why ) );
    report->runs = good && def->json != NULL ? json_array() : NULL;
    return good;
}

static bool ask_all( query_report* report, const scene_list* scenes, lab_error* why )
{
    bool good = true;
    text_table_begin( &report->table,
        "scene|query|method|variant|>threads|>build ms|>refit ms|>single ns|>batched ns|>found|>differ|hash" );
    text_table_leave_out( &report->table, "hash|variant|threads" );
    for ( uint32_t i = 0; i < scenes->count && good; ++i )
    {
        good = ask_scene( report, &scenes->items[i], why );
    }
    text_table_print( &report->table, text_output_is_stdout( &report->json ) ? stderr : stdout );
    return good;
}

lab_status query_bench_run( const query_bench_def* def )
{
    lab_error why;
    scene_list scenes = { 0 };
    query_report report = { .def = def, .all_agree = true };
    bool good = open_report( &report, &scenes, &why ) && ask_all( &report, &scenes, &why ) &&
        write_json( &report, &why ) &&
        ( report.answers.stream == NULL || output_file_commit( &report.answers, &why ) );
    scene_list_free( &scenes );
    output_file_abandon( &report.answers );
    text_output_close( &report.json );
    json_free( report.runs );
    return !good ? lab_error_print( &why ) : report.all_agree ? LAB_DONE : LAB_DISAGREES;
}
