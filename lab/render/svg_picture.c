// SPDX-License-Identifier: MIT
#include "lab/base/byte_buffer.h"
#include "lab/base/output_file.h"
#include "lab/base/text.h"
#include "lab/render/picture_file.h"

#include <stdlib.h>
#include <string.h>

static void put( byte_buffer* out, char* text )
{
    byte_buffer_put( out, text, strlen( text ) );
    free( text );
}

static void put_face( byte_buffer* out, const picture_face* face )
{
    put( out, text_copy( "<path d=\"" ) );
    for ( uint32_t i = 0; i < face->count; ++i )
    {
        put( out,
            text_format(
                "%c%.1f %.1f", i == 0 ? 'M' : 'L', (double)face->corners[i].x, (double)face->corners[i].y ) );
    }
    put( out,
        text_format( "Z\" fill=\"#%02x%02x%02x\"", (unsigned)face->fill.red, (unsigned)face->fill.green,
            (unsigned)face->fill.blue ) );
    if ( face->fill.alpha < 1 )
    {
        put( out, text_format( " fill-opacity=\"%.2f\"", (double)face->fill.alpha ) );
    }
    if ( face->edge.alpha > 0 )
    {
        put( out,
            text_format( " stroke=\"#%02x%02x%02x\"", (unsigned)face->edge.red, (unsigned)face->edge.green,
                (unsigned)face->edge.blue ) );
    }
    put( out, text_copy( "/>\n" ) );
}

static void put_line( byte_buffer* out, const picture_line* line )
{
    put( out,
        text_format(
            "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#%02x%02x%02x\" stroke-opacity=\"%.2f\" stroke-width=\"%.1f\"/>\n",
            (double)line->ends[0].x, (double)line->ends[0].y, (double)line->ends[1].x,
            (double)line->ends[1].y, (unsigned)line->ink.red, (unsigned)line->ink.green,
            (unsigned)line->ink.blue, (double)line->ink.alpha, (double)line->width ) );
}

// Lines among faces come first: an SVG has no depth, and hidden ones are hidden by what is painted over them.
bool svg_picture_write( const char* path, picture* seen, lab_error* why )
{
    byte_buffer out = { 0 };
    uint32_t width = seen->camera.width, height = seen->camera.height;
    picture_sort( seen );
    put( &out,
        text_format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" height=\"%u\" stroke-width=\"0.6\" "
            "stroke-linejoin=\"round\">\n<rect width=\"%u\" height=\"%u\" fill=\"#%02x%02x%02x\"/>\n",
            (unsigned)width, (unsigned)height, (unsigned)width, (unsigned)height, (unsigned)width,
            (unsigned)height, (unsigned)seen->ground.red, (unsigned)seen->ground.green,
            (unsigned)seen->ground.blue ) );
    for ( int above = 0; above < 2; ++above )
    {
        for ( size_t i = 0; i < seen->line_count; ++i )
        {
            if ( seen->lines[i].is_above == ( above == 1 ) )
            {
                put_line( &out, &seen->lines[i] );
            }
        }
        for ( size_t i = 0; above == 0 && i < seen->face_count; ++i )
        {
            put_face( &out, &seen->faces[i] );
        }
    }
    put( &out, text_copy( "</svg>\n" ) );
    output_file file = { 0 };
    bool good = out.has_failed ? lab_error_write( why, "%s: out of memory", path )
                               : output_file_open( &file, path, why ) &&
            output_file_write( &file, out.bytes, out.count, why ) && output_file_commit( &file, why );
    byte_buffer_free( &out );
    return good;
}
