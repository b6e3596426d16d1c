// SPDX-License-Identifier: MIT
#include "lab/frame/scene_list.h"

#include "lab/base/output_file.h"
#include "lab/base/platform.h"
#include "lab/base/text.h"
#include "lab/frame/frame_source.h"
#include "lab/frame/scene_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- scene spec

#define FORM "write scene:N:type@from+frames, such as brownian-free:32k:cubes@150+60"

// The scene whose name `text` begins with, up to its end, a colon or an @; *rest is what follows.
static const generator* find_scene( const char* text, const char** rest )
{
    for ( uint32_t index = 0; index < generator_count(); ++index )
    {
        const generator* scene = generator_at( index );
        size_t length = strlen( scene->name );
        if ( strncmp( text, scene->name, length ) == 0 &&
            ( text[length] == '\0' || text[length] == ':' || text[length] == '@' ) )
        {
            *rest = text + length;
            return scene;
        }
    }
    return NULL;
}

// A part up to the next separator, as a string to free; *rest moves there.
static char* take_part( const char** rest, const char* separators )
{
    size_t length = strcspn( *rest, separators );
    char* part = text_copy( *rest );
    part[length] = '\0';
    *rest += length;
    return part;
}

static bool parse_number( const char* whole, const char* part, const char* meaning, uint64_t least,
    uint64_t most, uint32_t* value, lab_error* why )
{
    uint64_t size = 0;
    if ( !text_parse_size( part, &size ) )
    {
        return lab_error_write( why, "%s: the %s '%s' is no number; " FORM, whole, meaning, part );
    }
    if ( size < least || size > most )
    {
        return lab_error_write( why, "%s: the %s %s is out of range; use %" PRIu64 " to %" PRIu64, whole,
            meaning, part, least, most );
    }
    *value = (uint32_t)size;
    return true;
}

// One part behind a colon: a size if it begins with a digit, a type otherwise.
static bool parse_colon_part(
    const char* whole, const char* part, scene_spec* spec, bool* has_type, lab_error* why )
{
    if ( part[0] >= '0' && part[0] <= '9' )
    {
        if ( spec->body_count != 0 || *has_type )
        {
            return lab_error_write( why, "%s: the size '%s' is at the wrong place; " FORM, whole, part );
        }
        return parse_number(
            whole, part, "number of objects", 1, spec->generator->bodies_most, &spec->body_count, why );
    }
    if ( *has_type || !body_type_from_name( part, &spec->type ) )
    {
        return lab_error_write(
            why, "%s: '%s' is no type of objects; %s", whole, part, choice_advice( body_types, part ).text );
    }
    *has_type = true;
    return true;
}

static bool parse_window( const char* whole, const char* rest, scene_spec* spec, lab_error* why )
{
    char* from = take_part( &rest, "+" );
    bool good = parse_number( whole, from, "first frame", 0, BAKE_FRAMES_MOST, &spec->from, why );
    free( from );
    if ( good && *rest == '+' )
    {
        good =
            parse_number( whole, rest + 1, "number of frames", 1, BAKE_FRAMES_MOST, &spec->frame_count, why );
    }
    return good;
}

static bool parse_scene( const char* text, const char* rest, scene_spec* spec, lab_error* why )
{
    bool has_type = false;
    while ( *rest == ':' )
    {
        rest += 1;
        char* part = take_part( &rest, ":@" );
        bool good = parse_colon_part( text, part, spec, &has_type, why );
        free( part );
        if ( !good )
        {
            return false;
        }
    }
    return *rest == '\0' || parse_window( text, rest + 1, spec, why );
}

static bool fail_unknown( const char* text, lab_error* why )
{
    const char* rest = text;
    char* name = take_part( &rest, ":@" );
    lab_error_write( why, "%.100s: no such file, and no scene '%.60s'; %s (`cleave scenes` tells of each)",
        text, name, generator_advice( name ).text );
    free( name );
    return false;
}

bool scene_spec_parse( const char* text, scene_spec* spec, lab_error* why )
{
    *spec = ( scene_spec ){ 0 };
    const char* rest = NULL;
    spec->generator = find_scene( text, &rest );
    if ( spec->generator != NULL )
    {
        return parse_scene( text, rest, spec, why );
    }
    bool has_poses = text_ends_with( text, POSE_FILE_ENDING );
    if ( !has_poses && !file_kind_check( text, ".aabbs", why ) )
    {
        return false;
    }
    bool looks_like_file = strpbrk( text, "/\\" ) != NULL || text_ends_with( text, ".aabbs" ) || has_poses;
    if ( !looks_like_file && platform_look( text ).kind == PLATFORM_MISSING )
    {
        return fail_unknown( text, why );
    }
    spec->path = text_copy( text );
    return true;
}

void scene_spec_free( scene_spec* spec )
{
    free( spec->path );
    *spec = ( scene_spec ){ 0 };
}

// Few frames of a small scene are cut from the usual recording, so that the cache keeps one file and not one
// per wish.
#define SMALL_SCENE_BYTES ( UINT64_C( 256 ) << 20 )

static uint32_t frames_to_bake( uint32_t body_count, uint32_t frames_wanted )
{
    uint64_t bytes = 0;
    bool is_small = scene_file_bytes( body_count, GENERATOR_FRAMES, &bytes ) && bytes <= SMALL_SCENE_BYTES;
    bool takes_usual = frames_wanted == 0 || ( frames_wanted < GENERATOR_FRAMES && is_small );
    return takes_usual ? GENERATOR_FRAMES : frames_wanted;
}

bake_def scene_spec_bake_def(
    const scene_spec* spec, uint32_t body_count, uint32_t frames_wanted, uint64_t seed )
{
    uint32_t bodies = spec->body_count != 0 ? spec->body_count : body_count;
    uint32_t frames = spec->frame_count != 0 ? spec->frame_count : frames_to_bake( bodies, frames_wanted );
    bake_def def = {
        .generator = spec->generator,
        .scene = { .body_count = bodies,
            .type = spec->type,
            .seed = seed,
            .thread_count = platform_core_count() },
        .from = spec->from,
        .frame_count = frames,
    };
    return def;
}

bool scene_spec_open( const scene_spec* spec, uint32_t body_count, uint32_t frames_wanted, uint64_t seed,
    frame_source* source, lab_error* why )
{
    if ( spec->generator == NULL )
    {
        return frame_source_open_file( source, spec->path, why );
    }
    bake_def def = scene_spec_bake_def( spec, body_count, frames_wanted, seed );
    return bake_cache_open( source, &def, why );
}

bool scene_spec_open_text( const char* text, frame_source* source, lab_error* why )
{
    scene_spec spec;
    bool good = scene_spec_parse( text, &spec, why ) &&
        scene_spec_open( &spec, SCENE_LIST_BODIES, 0, 1, source, why );
    scene_spec_free( &spec );
    return good;
}

// ---- scene list

static void label_item( scene_item* item )
{
    const scene_spec* spec = &item->spec;
    if ( spec->generator != NULL )
    {
        snprintf( item->label, sizeof( item->label ), "%.24s:%.23s:%s", spec->generator->name,
            text_size( spec->body_count != 0 ? spec->body_count : item->body_count ).text,
            body_type_name( spec->type ) );
        return;
    }
    snprintf( item->label, sizeof( item->label ), "%.60s", text_base_name( spec->path ) );
}

static void add( scene_list* list, const char* text, uint32_t body_count )
{
    scene_item* item = lab_list_next( list->items, list->count );
    *item = ( scene_item ){ .body_count = body_count };
    lab_error unread;
    scene_spec_parse( text, &item->spec, &unread ); // has been parsed once and was good
    label_item( item );
}

// Looks at a file now, so that a typing error in the last WHAT does not cost an hour.
static bool check_scene( const char* text, bool* needs_size, lab_error* why )
{
    scene_spec spec;
    frame_source source = { 0 };
    bool good = scene_spec_parse( text, &spec, why );
    *needs_size = good && spec.generator != NULL && spec.body_count == 0;
    if ( good && spec.generator == NULL )
    {
        good = frame_source_open_file( &source, spec.path, why );
        frame_source_close( &source );
    }
    scene_spec_free( &spec );
    return good;
}

static bool check_size( const scene_item* item, const char* text, lab_error* why )
{
    const generator* scene = item->spec.generator;
    return scene == NULL || item->body_count <= scene->bodies_most ||
        lab_error_write( why, "%s: %" PRIu32 " objects are more than the %" PRIu32 " it can have", text,
            item->body_count, scene->bodies_most );
}

static bool add_scene( scene_list* list, const char* text, const size_list* sizes, lab_error* why )
{
    bool needs_size = false;
    if ( !check_scene( text, &needs_size, why ) )
    {
        return false;
    }
    if ( !needs_size || sizes->count == 0 )
    {
        add( list, text, SCENE_LIST_BODIES );
        return true;
    }
    for ( uint32_t index = 0; index < sizes->count; ++index )
    {
        add( list, text, (uint32_t)sizes->items[index] );
        if ( !check_size( &list->items[list->count - 1], text, why ) )
        {
            return false;
        }
    }
    return true;
}

bool scene_list_make( scene_list* list, const text_list* texts, const size_list* sizes, lab_error* why )
{
    *list = ( scene_list ){ 0 };
    bool good = true;
    for ( uint32_t index = 0; good && index < texts->count; ++index )
    {
        good = add_scene( list, texts->items[index], sizes, why );
    }
    if ( texts->count == 0 )
    {
        good = add_scene( list, generator_at( 0 )->name, sizes, why );
    }
    if ( !good )
    {
        scene_list_free( list );
    }
    return good;
}

void scene_list_free( scene_list* list )
{
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        scene_spec_free( &list->items[index].spec );
    }
    free( list->items );
    *list = ( scene_list ){ 0 };
}
