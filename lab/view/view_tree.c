// SPDX-License-Identifier: MIT
#include "lab/view/view_tree.h"

#include "space/instrument.h"

#include <stdlib.h>
#include <string.h>

// The method's text, with a zero behind it; it is as long as last time more often than not.
static bool fetch_text( clv_space* space, byte_buffer* room )
{
    size_t length = clv_space_dump( space, (char*)room->bytes, room->capacity );
    if ( length + 1 > room->capacity )
    {
        byte_buffer_clear( room );
        for ( size_t i = 0; i < length + length / 8 + 1 && !room->has_failed; i += 4096 )
        {
            static const uint8_t zeros[4096];
            byte_buffer_put( room, zeros, sizeof( zeros ) );
        }
        if ( room->has_failed )
        {
            return false;
        }
        length = clv_space_dump( space, (char*)room->bytes, room->capacity );
    }
    room->count = length;
    room->bytes[length < room->capacity ? length : room->capacity - 1] = 0;
    return true;
}

// kd_dump.c writes one line per node, and the axis of those that have one before their objects.
static void put_node( const char* line, const char* end, const view_scale* scale, byte_buffer* out )
{
    static const char axis_word[] = "\"axis\": ", plane_word[] = "\"plane\": ";
    const char* axis_at = strstr( line, axis_word );
    const char* plane_at = axis_at != NULL && axis_at < end ? strstr( axis_at, plane_word ) : NULL;
    if ( plane_at == NULL || plane_at >= end )
    {
        byte_buffer_put_byte( out, VIEW_TREE_LEAF );
        return;
    }
    int axis = atoi( axis_at + strlen( axis_word ) ) % 3;
    double plane = strtod( plane_at + strlen( plane_word ), NULL );
    byte_buffer_put_byte( out, (uint8_t)axis );
    byte_buffer_put_difference( out, view_scale_place( scale, plane, axis ) );
}

bool view_tree_put( clv_space* space, const view_scale* scale, byte_buffer* text_room, byte_buffer* out )
{
    static const char node_word[] = "{ \"node\": ";
    if ( !fetch_text( space, text_room ) )
    {
        return false;
    }
    const char* text = (const char*)text_room->bytes;
    uint32_t count = 0;
    for ( const char* at = strstr( text, node_word ); at != NULL; at = strstr( at + 1, node_word ) )
    {
        count += 1;
    }
    byte_buffer_put_count( out, count );
    for ( const char* at = strstr( text, node_word ); at != NULL; )
    {
        const char* next = strstr( at + 1, node_word );
        put_node( at, next != NULL ? next : text + text_room->count, scale, out );
        at = next;
    }
    return !out->has_failed;
}
