// SPDX-License-Identifier: MIT
#include "lab/frame/scene_list.h"

#include "lab/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void label_item( scene_item* item )
{
    const what_spec* what = &item->what;
    char size[TEXT_SIZE_ROOM];
    if ( what->generator != NULL )
    {
        snprintf( item->label, sizeof( item->label ), "%.24s:%s:%s", what->generator->name,
            text_size( what->body_count != 0 ? what->body_count : item->body_count, size ),
            body_type_name( what->type ) );
        return;
    }
    const char* name = what->path;
    for ( const char* c = what->path; *c != '\0'; ++c )
    {
        name = ( *c == '/' || *c == '\\' ) && c[1] != '\0' ? c + 1 : name;
    }
    snprintf( item->label, sizeof( item->label ), "%.60s", name );
}

static void add( scene_list* list, const char* text, uint32_t body_count )
{
    scene_item* items = realloc( list->items, ( (size_t)list->count + 1 ) * sizeof( scene_item ) );
    if ( items == NULL )
    {
        complaint_out_of_memory();
    }
    list->items = items;
    scene_item* item = &list->items[list->count++];
    *item = ( scene_item ){ .body_count = body_count };
    complaint unread;
    what_parse( text, &item->what, &unread ); // has been parsed once and was good
    label_item( item );
}

// Looks at a file now, so that a typing error in the last WHAT does not cost an hour.
static bool check_what( const char* text, bool* needs_size, complaint* why )
{
    what_spec what;
    frame_source source = { 0 };
    bool good = what_parse( text, &what, why );
    *needs_size = good && what.generator != NULL && what.body_count == 0;
    if ( good && what.generator == NULL )
    {
        good = frame_source_open_file( &source, what.path, why );
        frame_source_close( &source );
    }
    what_free( &what );
    return good;
}

static bool add_what( scene_list* list, const char* text, const size_list* sizes, complaint* why )
{
    bool needs_size = false;
    if ( !check_what( text, &needs_size, why ) )
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
    }
    return true;
}

bool scene_list_make( scene_list* list, const text_list* whats, const size_list* sizes, complaint* why )
{
    *list = ( scene_list ){ 0 };
    bool good = true;
    for ( uint32_t index = 0; good && index < whats->count; ++index )
    {
        good = add_what( list, whats->items[index], sizes, why );
    }
    if ( whats->count == 0 )
    {
        good = add_what( list, generator_brownian_free.name, sizes, why );
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
        what_free( &list->items[index].what );
    }
    free( list->items );
    *list = ( scene_list ){ 0 };
}
