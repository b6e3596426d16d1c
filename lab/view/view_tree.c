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
static int find_plane( const char* line, const char* end, double* plane )
{
    static const char axis_word[] = "\"axis\": ", plane_word[] = "\"plane\": ";
    const char* axis_at = strstr( line, axis_word );
    const char* plane_at = axis_at != NULL && axis_at < end ? strstr( axis_at, plane_word ) : NULL;
    if ( plane_at == NULL || plane_at >= end )
    {
        return VIEW_TREE_LEAF;
    }
    *plane = strtod( plane_at + strlen( plane_word ), NULL );
    return atoi( axis_at + strlen( axis_word ) ) % 3;
}

static const char s_node_word[] = "{ \"node\": ";

static uint32_t count_nodes( const char* text )
{
    uint32_t count = 0;
    for ( const char* at = strstr( text, s_node_word ); at != NULL; at = strstr( at + 1, s_node_word ) )
    {
        count += 1;
    }
    return count;
}

bool view_tree_put( clv_space* space, const view_scale* scale, byte_buffer* text_room, byte_buffer* out )
{
    if ( !fetch_text( space, text_room ) )
    {
        return false;
    }
    const char* text = (const char*)text_room->bytes;
    byte_buffer_put_count( out, count_nodes( text ) );
    for ( const char* at = strstr( text, s_node_word ); at != NULL; )
    {
        const char* next = strstr( at + 1, s_node_word );
        double plane = 0;
        int axis = find_plane( at, next != NULL ? next : text + text_room->count, &plane );
        byte_buffer_put_byte( out, (uint8_t)axis );
        if ( axis != VIEW_TREE_LEAF )
        {
            byte_buffer_put_difference( out, view_scale_place( scale, plane, axis ) );
        }
        at = next;
    }
    return !out->has_failed;
}

// ---- as arrays

// The right child of an inner node stands behind everything below its left one.
static uint32_t link_rights( view_planes* planes, uint32_t node )
{
    if ( node >= planes->count )
    {
        return planes->count;
    }
    if ( planes->axes[node] == VIEW_TREE_LEAF )
    {
        return node + 1;
    }
    planes->rights[node] = link_rights( planes, node + 1 );
    return link_rights( planes, planes->rights[node] );
}

bool view_planes_read( view_planes* planes, clv_space* space )
{
    byte_buffer room = { 0 };
    *planes = ( view_planes ){ 0 };
    bool good = fetch_text( space, &room );
    const char* text = good ? (const char*)room.bytes : "";
    uint32_t count = count_nodes( text ), at = 0;
    planes->axes = calloc( count + 1, 1 );
    planes->planes = calloc( count + 1, sizeof( double ) );
    planes->rights = calloc( count + 1, sizeof( uint32_t ) );
    good = good && planes->axes != NULL && planes->planes != NULL && planes->rights != NULL;
    for ( const char* line = good ? strstr( text, s_node_word ) : NULL; line != NULL; ++at )
    {
        const char* next = strstr( line + 1, s_node_word );
        planes->axes[at] =
            (uint8_t)find_plane( line, next != NULL ? next : text + room.count, &planes->planes[at] );
        line = next;
    }
    planes->count = good ? count : 0;
    link_rights( planes, 0 );
    byte_buffer_free( &room );
    return good;
}

void view_planes_free( view_planes* planes )
{
    free( planes->axes );
    free( planes->planes );
    free( planes->rights );
    *planes = ( view_planes ){ 0 };
}

uint32_t view_planes_node( const view_planes* planes, const clv_aabb* box )
{
    uint32_t node = 0;
    while ( node < planes->count && planes->axes[node] != VIEW_TREE_LEAF )
    {
        int axis = planes->axes[node];
        if ( (double)( &box->upper.x )[axis] < planes->planes[node] )
        {
            node += 1;
        }
        else if ( (double)( &box->lower.x )[axis] >= planes->planes[node] )
        {
            node = planes->rights[node];
        }
        else
        {
            break;
        }
    }
    return node;
}
