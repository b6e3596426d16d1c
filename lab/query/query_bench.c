// SPDX-License-Identifier: MIT
#include "lab/query/query_bench.h"

#include "lab/base/terminal.h"
#include "lab/measure/plugin.h"
#include "lab/measure/run_spec.h"
#include "lab/result/output.h"
#include "lab/result/results.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

static const char* library_name( uint32_t index )
{
    return index < LIBRARY_COUNT ? s_libraries[index].name : NULL;
}

static bool check_name( const char* name, lab_error* why )
{
    text_list known = text_list_of( library_name );
    bool is_known = text_list_has( &known, name );
    text_long advice = text_advice( name, known, "use", " or " );
    return is_known ||
        lab_error_write( why, "--queries: no method called '%.40s' answers them; %s", name, advice.text );
}

static bool check_names( const ask_def* def, lab_error* why )
{
    const run_wish* wish = &def->part->wish;
    bool good = true;
    for ( uint32_t i = 0; good && i < wish->names.count; ++i )
    {
        good = check_name( wish->names.items[i], why );
    }
    for ( uint32_t i = 0; good && i < wish->isas.count; ++i )
    {
        good = run_isa_check( wish->isas.items[i], true, why );
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
    const ask_def* def;
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
    json_put_text( run, "answers_hash", results_hash( row->hash ).text );
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

static query_world_def world_of(
    const query_report* report, const query_scene_state* scene, uint32_t thread_count, clv_isa isa )
{
    const run_terms* terms = &report->def->part->terms;
    uint32_t passes = report->def->verify ? 1 : (uint32_t)terms->repeat;
    return ( query_world_def ){ scene->boxes, scene->object_count, thread_count, passes, isa,
        terms->switches.thread_time };
}

static bool ask_cleave( query_report* report, query_scene_state* scene, lab_error* why )
{
    const size_list* threads = &report->def->part->wish.threads;
    for ( int isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
    {
        uint32_t thread_kinds = threads->count > 0 ? threads->count : 1;
        for ( uint32_t t = 0; t < thread_kinds && ask_takes_isa( report->def, (clv_isa)isa ); ++t )
        {
            query_world_def world =
                world_of( report, scene, threads->count > 0 ? (uint32_t)threads->items[t] : 1, (clv_isa)isa );
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
    const ask_def* def = report->def;
    double tests = (double)scene->object_count * scene->draw.count;
    if ( !def->verify && def->part->wish.names.count == 0 && tests > BRUTE_TESTS )
    {
        return;
    }
    query_world_def world = world_of( report, scene, 1, CLV_ISA_AUTO );
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
        return report->def->part->wish.names.count == 0 ||
            lab_error_write( why, "%s: %s", library->name, reason );
    }
    query_world_def world = world_of( report, scene, 1, CLV_ISA_AUTO );
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
        if ( !answers || !( is_judge || is_named( &report->def->part->wish.names, library->name ) ) )
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
    const ask_def* def = report->def;
    for ( uint32_t i = 0; i < def->queries.count && good; ++i )
    {
        query_family family = (query_family)choice_value( query_families, def->queries.items[i] );
        query_draw_make( &scene->draw, family, scene->boxes, scene->object_count, (uint32_t)def->query_count,
            def->part->terms.seed );
        good = scene->draw.count == 0 || ask_libraries( report, scene, why );
        query_draw_free( &scene->draw );
        query_answers_free( &scene->first );
        scene->first_name = NULL;
    }
    return good;
}

static bool ask_scene( query_report* report, const scene_item* item, lab_error* why )
{
    scene_header header;
    query_scene_state scene = { .scene = item, .boxes = ask_last_frame( report->def, item, &header, why ) };
    scene.object_count = scene.boxes != NULL ? header.object_count : 0;
    bool good = scene.boxes != NULL && ask_families( report, &scene, why );
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
    const ask_def* def = report->def;
    bool good = check_names( def, why ) &&
        scene_list_make( scenes, &def->part->scenes, &def->part->sizes, why ) &&
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

static bool query_bench_run( const ask_def* def, lab_error* why )
{
    scene_list scenes = { 0 };
    query_report report = { .def = def, .all_agree = true };
    bool good = open_report( &report, &scenes, why ) && ask_all( &report, &scenes, why ) &&
        write_json( &report, why ) &&
        ( report.answers.stream == NULL || output_file_commit( &report.answers, why ) );
    scene_list_free( &scenes );
    output_file_abandon( &report.answers );
    text_output_close( &report.json );
    json_free( report.runs );
    return good && ( report.all_agree || lab_error_disagrees( why ) );
}

// ---- in place of pairs

ask_def ask_def_make( const schedule_part* part, uint64_t query_count )
{
    return ( ask_def ){ .part = part, .near_cutoff = -1, .query_count = query_count };
}

bool ask_takes_isa( const ask_def* def, clv_isa isa )
{
    const text_list* isas = &def->part->wish.isas;
    bool is_named = isas->count == 0
        ? def->verify || isa == clv_isa_best()
        : text_list_has( isas, "all" ) || text_list_has( isas, clv_isa_name( isa ) );
    return is_named && clv_isa_is_supported( isa );
}

clv_aabb* ask_last_frame( const ask_def* def, const scene_item* item, scene_header* header, lab_error* why )
{
    frame_source source = { 0 };
    if ( !scene_spec_open( &item->spec, item->body_count, 0, def->part->terms.seed, &source, why ) )
    {
        return NULL;
    }
    clv_aabb* boxes = frame_source_boxes( &source );
    *header = source.header;
    if ( !frame_source_read( &source, header->frame_count, boxes, why ) )
    {
        free( boxes );
        boxes = NULL;
    }
    frame_source_close( &source );
    return boxes;
}

bool ask_is_wanted( const ask_def* def )
{
    return def->near_cutoff >= 0 || def->periodic || def->queries.count > 0;
}

bool ask_run( const ask_def* def, lab_error* why )
{
    if ( def->near_cutoff < 0 && def->periodic )
    {
        return lab_error_write( why, "%s: --periodic needs --near", def->table->command );
    }
    if ( def->near_cutoff < 0 && def->part->terms.switches.changed )
    {
        return lab_error_write(
            why, "bench: --changed is for pairs; questions are put to one frame, handed over whole" );
    }
    return def->near_cutoff >= 0 ? near_bench_run( def, why ) : query_bench_run( def, why );
}
