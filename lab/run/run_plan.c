// SPDX-License-Identifier: MIT
#include "lab/run/run_plan.h"

#include "cleave/base.h"
#include "lab/base/platform.h"
#include "lab/measure/plugin.h"
#include "lab/run/run_child.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- which program

// FNV-1a, 64 bits: the version alone would not tell two builds of a day's work apart.
static uint64_t hash_bytes( uint64_t hash, const void* data, size_t size )
{
    const unsigned char* bytes = data;
    for ( size_t index = 0; index < size; ++index )
    {
        hash = ( hash ^ bytes[index] ) * UINT64_C( 0x100000001b3 );
    }
    return hash;
}

static void name_program( const char* path, char* name, size_t size )
{
    machine_facts facts = machine_look();
    uint64_t hash = hash_bytes( UINT64_C( 0xcbf29ce484222325 ), facts.cpu, strlen( facts.cpu ) );
    FILE* file = platform_open( path );
    static char buffer[1 << 16];
    for ( size_t got = 1; file != NULL && got > 0; )
    {
        got = fread( buffer, 1, sizeof( buffer ), file );
        hash = hash_bytes( hash, buffer, got );
    }
    if ( file != NULL )
    {
        fclose( file );
    }
    snprintf( name, size, "%s-%08" PRIx32, clv_version_text(), (uint32_t)( hash ^ hash >> 32 ) );
}

const char* run_plan_program( void )
{
    static char name[64] = "";
    if ( name[0] == '\0' )
    {
        name_program( CHILD_PROGRAM, name, sizeof( name ) );
    }
    return name;
}

// The fingerprint of another build, marked as such, since it may be a copy of this one. A
// plan has at most one such.
static char* other_program( const char* path )
{
    static char name[64] = "";
    static const char* named = NULL;
    if ( named != path )
    {
        name_program( path, name, sizeof( name ) );
        named = path;
    }
    return text_format( "against %s %s", name, path );
}

// ---- scenes

static bool names_type( const char* text, size_t length )
{
    for ( size_t index = 0; index + 1 < length; ++index )
    {
        if ( text[index] == ':' && !( text[index + 1] >= '0' && text[index + 1] <= '9' ) )
        {
            return true;
        }
    }
    return false;
}

// "freefall:8k" of type assorted in the window 150+60: "freefall:8k:assorted@150+60".
static char* complete_scene( const char* text, const char* type, const char* window )
{
    size_t length = strcspn( text, "@" );
    const char* said = text[length] == '@' ? text + length + 1 : window;
    bool has_type = names_type( text, length );
    return text_format( "%.*s%s%s%s%s", (int)length, text, has_type ? "" : ":", has_type ? "" : type,
        said[0] != '\0' ? "@" : "", said );
}

uint32_t run_job_bodies( const run_job* job )
{
    const scene_spec* scene = &job->scene.spec;
    return scene->generator == NULL ? 0 : scene->body_count != 0 ? scene->body_count : job->scene.body_count;
}

estimate_scene run_job_scene( const run_job* job )
{
    uint32_t frames = job->terms.frame_count != ARGS_UNSET ? (uint32_t)job->terms.frame_count : 0;
    return estimate_scene_spec( &job->scene.spec, job->scene.body_count, frames, job->terms.seed );
}

double run_job_estimate_s( const run_job* job, const estimate_scene* scene )
{
    const run_terms* terms = &job->terms;
    double frames = terms->frame_count < scene->frame_count ? (double)terms->frame_count : scene->frame_count;
    double passes = (double)( terms->warmup > 0 ? terms->warmup : 1 ) + (double)terms->repeat;
    double round_s = estimate_frame_s( &job->spec, scene->object_count ) * frames * passes;
    round_s = terms->time_limit_s > 0 && round_s > terms->time_limit_s ? terms->time_limit_s : round_s;
    return round_s * (double)terms->rounds;
}

// ---- keys

static char* scene_key( const run_job* job )
{
    const scene_spec* scene = &job->scene.spec;
    char frames[32] = "all";
    if ( job->terms.frame_count != ARGS_UNSET )
    {
        snprintf( frames, sizeof( frames ), "%" PRIu64, job->terms.frame_count );
    }
    if ( scene->generator == NULL )
    {
        platform_entry entry = platform_look( scene->path );
        return text_format( "%s (%" PRIu64 " bytes of %" PRId64 "), %s frames", scene->path, entry.size,
            entry.modified_s, frames );
    }
    return text_format( "%s of %" PRIu32 " version %" PRIu32 ", seed %" PRIu64 ", %s frames", job->scene_text,
        run_job_bodies( job ), scene->generator->version, job->terms.seed, frames );
}

static char* spec_key( const run_spec* spec )
{
    return text_format( "%s@%s, threads %" PRIu32 ", %s%s", spec->row->name, run_spec_variant( spec ),
        spec->thread_count, spec->settings != NULL ? spec->settings : "default", spec->fat ? ", fat" : "" );
}

// Scene and type without the size, and the method: the same for all sizes of one ladder.
static char* ladder_key( const run_job* job, const char* spec )
{
    const scene_spec* scene = &job->scene.spec;
    const char* program = job->program != NULL ? job->program : "";
    if ( scene->generator == NULL )
    {
        return text_format( "%s | %s | %s", scene->path, spec, program );
    }
    return text_format( "%s:%s@%" PRIu32 "+%" PRIu32 " | %s | %s", scene->generator->name,
        body_type_name( scene->type ), scene->from, scene->frame_count, spec, program );
}

static void name_job( run_job* job )
{
    const run_terms* terms = &job->terms;
    char* scene = scene_key( job );
    char* spec = spec_key( &job->spec );
    char* program = job->program != NULL ? other_program( job->program ) : text_copy( run_plan_program() );
    char switches[128] = "";
    for ( uint32_t index = 0; index < RUN_SWITCH_COUNT; ++index )
    {
        bool is_on = run_switch_is_on( &terms->switches, index );
        size_t length = strlen( switches );
        snprintf( switches + length, sizeof( switches ) - length, "%s%s", is_on ? ", " : "",
            is_on ? run_switch_list[index].key : "" );
    }
    job->key =
        text_format( "%s | %s | warmup %" PRIu64 ", repeat %" PRIu64 ", rounds %" PRIu64 "%s, pin %s | %s",
            scene, spec, terms->warmup, terms->repeat, terms->rounds, switches, terms->pin, program );
    job->limits = text_format( "%g s, %" PRIu64 " MiB", terms->time_limit_s, terms->memory_limit_mib );
    job->ladder = ladder_key( job, spec );
    free( scene );
    free( spec );
    free( program );
}

// ---- jobs

static void job_free( run_job* job )
{
    free( job->scene_text );
    scene_spec_free( &job->scene.spec );
    free( job->spec.settings );
    text_list_free( &job->parts );
    free( job->key );
    free( job->limits );
    free( job->ladder );
    free( job->known );
}

static bool is_same_scene( const run_job* a, const run_job* b )
{
    return strcmp( a->scene_text, b->scene_text ) == 0 && run_job_bodies( a ) == run_job_bodies( b ) &&
        a->terms.seed == b->terms.seed && a->terms.frame_count == b->terms.frame_count;
}

static void add_job( run_plan* plan, run_job job, const char* part )
{
    job.scene_index = plan->count > 0 ? plan->items[plan->count - 1].scene_index + 1 : 0;
    for ( uint32_t index = 0; index < plan->count; ++index )
    {
        run_job* known = &plan->items[index];
        if ( strcmp( known->key, job.key ) == 0 )
        {
            text_list_add( &known->parts, part );
            if ( known->known == NULL )
            {
                known->known = job.known;
                job.known = NULL;
            }
            job_free( &job );
            return;
        }
        job.scene_index = is_same_scene( known, &job ) ? known->scene_index : job.scene_index;
    }
    text_list_add( &job.parts, part );
    *lab_list_next( plan->items, plan->count ) = job;
}

static void add_one( run_plan* plan, const schedule_part* part, const char* scene_text,
    const scene_item* scene, const run_spec* spec, const char* program )
{
    run_job job = { .scene_text = text_copy( scene_text ),
        .scene = *scene,
        .spec = *spec,
        .terms = part->terms,
        .program = program };
    lab_error unread;
    scene_spec_parse( scene_text, &job.scene.spec, &unread ); // has been parsed once and was good
    job.spec.settings = spec->settings != NULL ? text_copy( spec->settings ) : NULL;
    job.known = part->known.count > 0 && !spec->fat ? text_copy( part->known.items[0] ) : NULL;
    name_job( &job );
    add_job( plan, job, part->name );
}

static void add_specs( run_plan* plan, const schedule_part* part, const char* scene_text,
    const scene_item* scene, const run_spec_list* specs )
{
    for ( uint32_t index = 0; index < specs->count; ++index )
    {
        add_one( plan, part, scene_text, scene, &specs->items[index], NULL );
        if ( plan->against != NULL )
        {
            add_one( plan, part, scene_text, scene, &specs->items[index], plan->against );
        }
    }
}

static int compare_sizes( const void* left, const void* right )
{
    uint64_t a = *(const uint64_t*)left;
    uint64_t b = *(const uint64_t*)right;
    return ( a > b ) - ( a < b );
}

// One WHAT of one type: once per size.
static bool add_sizes(
    run_plan* plan, const schedule_part* part, const char* text, const run_spec_list* specs, lab_error* why )
{
    text_list texts = { 0 };
    scene_list scenes = { 0 };
    text_list_add( &texts, text );
    bool good = scene_list_make( &scenes, &texts, &part->sizes, why );
    for ( uint32_t index = 0; good && index < scenes.count; ++index )
    {
        add_specs( plan, part, text, &scenes.items[index], specs );
    }
    scene_list_free( &scenes );
    text_list_free( &texts );
    return good;
}

// One WHAT, of every type that the part names.
static bool add_scene(
    run_plan* plan, const schedule_part* part, const char* text, const run_spec_list* specs, lab_error* why )
{
    scene_spec scene;
    if ( !scene_spec_parse( text, &scene, why ) )
    {
        return false;
    }
    bool is_file = scene.generator == NULL;
    scene_spec_free( &scene );
    if ( is_file )
    {
        return add_sizes( plan, part, text, specs, why );
    }
    bool good = true;
    uint32_t type_count = part->types.count > 0 ? part->types.count : 1;
    for ( uint32_t index = 0; good && index < type_count; ++index )
    {
        const char* type = part->types.count > 0 ? part->types.items[index] : body_type_name( BODY_CUBES );
        char* complete = complete_scene( text, type, part->window );
        good = add_sizes( plan, part, complete, specs, why );
        free( complete );
    }
    return good;
}

bool run_plan_add( run_plan* plan, const schedule_part* part, lab_error* why )
{
    run_spec_list specs = { 0 };
    pin_wish pin;
    if ( !pin_parse( part->terms.pin, &pin ) )
    {
        return lab_error_write( why, "--pin '%s': " PIN_FORM, part->terms.pin );
    }
    if ( part->sizes.count > 1 )
    {
        qsort( part->sizes.items, part->sizes.count, sizeof( uint64_t ), compare_sizes );
    }
    bool is_several = part->scenes.count > 1 || part->sizes.count > 1 || part->types.count > 1;
    if ( part->known.count > 0 && is_several )
    {
        return lab_error_write(
            why, "a known hash is that of one scene, size and type; make a part of each" );
    }
    bool good = run_spec_list_make( &specs, &part->wish, false, why );
    for ( uint32_t index = 0; good && index < part->scenes.count; ++index )
    {
        good = add_scene( plan, part, part->scenes.items[index], &specs, why );
    }
    if ( good && part->scenes.count == 0 )
    {
        good = add_scene( plan, part, generator_at( 0 )->name, &specs, why );
    }
    run_spec_list_free( &specs );
    return good;
}

void run_plan_free( run_plan* plan )
{
    for ( uint32_t index = 0; index < plan->count; ++index )
    {
        job_free( &plan->items[index] );
    }
    free( plan->items );
    *plan = ( run_plan ){ 0 };
}

// ---- worker words

static void add_words( text_list* words, const char* flag, char* value )
{
    text_list_add( words, flag );
    text_list_add( words, value );
    free( value );
}

void worker_words( const run_job* job, text_list* words )
{
    for ( uint32_t index = 0; index < plugin_named_count(); ++index )
    {
        add_words( words, "--plugin", text_copy( plugin_named_path( index ) ) );
    }
    text_list_add( words, "worker" );
    add_words( words, "--method", text_copy( job->spec.row->name ) );
    if ( job->spec.row->has_isa )
    {
        add_words( words, "--isa", text_copy( run_spec_variant( &job->spec ) ) );
    }
    if ( job->spec.settings != NULL )
    {
        add_words( words, "--set", text_copy( job->spec.settings ) );
    }
    add_words( words, "--objects", text_format( "%" PRIu32, job->scene.body_count ) );
    add_words( words, "--threads", text_format( "%" PRIu32, job->spec.thread_count ) );
    if ( job->spec.fat )
    {
        text_list_add( words, "--fat" );
    }
    run_terms_words( &job->terms, words );
    text_list_add( words, "--answer" );
    text_list_add( words, "--" );
    text_list_add( words, job->scene_text );
}

// ---- run merge

static void take_failure( run_result* sum, const run_result* next )
{
    sum->status = next->status;
    snprintf( sum->reason, sizeof( sum->reason ), "%s", next->reason );
}

static void add_passes( run_result* sum, const run_result* next )
{
    size_t frames = sum->frame_count;
    size_t before = frames * sum->pass_count;
    size_t more = frames * next->pass_count;
    sum->pass_ms = lab_grow( sum->pass_ms, before + more + 1, sizeof( double ) );
    memcpy( sum->pass_ms + before, next->pass_ms, more * sizeof( double ) );
    sum->pass_count += next->pass_count;
    sum->memory_bytes = next->memory_bytes > sum->memory_bytes ? next->memory_bytes : sum->memory_bytes;
    if ( !run_result_summarise( sum ) )
    {
        lab_out_of_memory();
    }
}

static bool has_passes( const run_result* run )
{
    bool has_stages = run->frame_update_ms != NULL && run->frame_search_ms != NULL;
    return run->pass_ms != NULL && run->pass_count > 0 && run->frame_ms != NULL &&
        ( has_stages || run->is_opaque );
}

void run_merge( run_result* sum, run_result* next )
{
    if ( sum->status == RUN_OK && next->status != RUN_OK )
    {
        take_failure( sum, next );
    }
    else if ( sum->status == RUN_OK &&
        ( sum->pairs_hash != next->pairs_hash || sum->frame_count != next->frame_count ) )
    {
        sum->status = RUN_FAILED;
        snprintf( sum->reason, sizeof( sum->reason ),
            "two rounds found other pairs: hash 0x%016" PRIx64 " against 0x%016" PRIx64, next->pairs_hash,
            sum->pairs_hash );
    }
    else if ( sum->status == RUN_OK && has_passes( sum ) && has_passes( next ) )
    {
        add_passes( sum, next );
    }
    run_result_free( next );
}
