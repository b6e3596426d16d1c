// SPDX-License-Identifier: MIT
#include "lab/frame/scene_list.h"

#include "lab/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void label_item( scene_item* item )
{
    const scene_spec* spec = &item->spec;
    char size[TEXT_SIZE_ROOM];
    if ( spec->generator != NULL )
    {
        snprintf( item->label, sizeof( item->label ), "%.24s:%s:%s", spec->generator->name,
            text_size( spec->body_count != 0 ? spec->body_count : item->body_count, size ),
            body_type_name( spec->type ) );
        return;
    }
    const char* name = spec->path;
    for ( const char* c = spec->path; *c != '\0'; ++c )
    {
        name = ( *c == '/' || *c == '\\' ) && c[1] != '\0' ? c + 1 : name;
    }
    snprintf( item->label, sizeof( item->label ), "%.60s", name );
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
        good = add_scene( list, generator_brownian_free.name, sizes, why );
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
