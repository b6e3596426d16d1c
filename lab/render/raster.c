// SPDX-License-Identifier: MIT
#include "lab/render/raster.h"

#include <math.h>
#include <stdlib.h>

enum
{
    SAMPLES = 3, // per pixel and axis
};

typedef struct raster
{
    int32_t width, height; // samples
    uint8_t* colours;
    float* depths;
} raster;

static void blend( raster* self, size_t at, picture_ink ink )
{
    const uint8_t parts[3] = { ink.red, ink.green, ink.blue };
    for ( int i = 0; i < 3; ++i )
    {
        float old = self->colours[3 * at + (size_t)i];
        self->colours[3 * at + (size_t)i] = (uint8_t)( old + ( parts[i] - old ) * ink.alpha + 0.5f );
    }
}

static int32_t clamp( float value, int32_t most )
{
    return value < 0 ? 0 : value > (float)most ? most : (int32_t)value;
}

// Twice the area of a, b, c, with a sign.
static float area( picture_point a, picture_point b, float x, float y )
{
    return ( b.x - a.x ) * ( y - a.y ) - ( b.y - a.y ) * ( x - a.x );
}

static void draw_triangle( raster* self, picture_point a, picture_point b, picture_point c, picture_ink ink )
{
    float whole = area( a, b, c.x, c.y );
    if ( whole == 0 )
    {
        return;
    }
    int32_t left = clamp( floorf( fminf( a.x, fminf( b.x, c.x ) ) ), self->width - 1 );
    int32_t right = clamp( ceilf( fmaxf( a.x, fmaxf( b.x, c.x ) ) ), self->width - 1 );
    int32_t top = clamp( floorf( fminf( a.y, fminf( b.y, c.y ) ) ), self->height - 1 );
    int32_t bottom = clamp( ceilf( fmaxf( a.y, fmaxf( b.y, c.y ) ) ), self->height - 1 );
    for ( int32_t y = top; y <= bottom; ++y )
    {
        for ( int32_t x = left; x <= right; ++x )
        {
            float px = (float)x + 0.5f, py = (float)y + 0.5f;
            float u = area( b, c, px, py ) / whole, v = area( c, a, px, py ) / whole, w = 1 - u - v;
            if ( u < 0 || v < 0 || w < 0 )
            {
                continue;
            }
            float depth = u * a.depth + v * b.depth + w * c.depth;
            size_t at = (size_t)y * (size_t)self->width + (size_t)x;
            if ( depth < self->depths[at] )
            {
                blend( self, at, ink );
                self->depths[at] = ink.alpha >= 1 ? depth : self->depths[at];
            }
        }
    }
}

static picture_point enlarge( picture_point p )
{
    return ( picture_point ){ p.x * SAMPLES, p.y * SAMPLES, p.depth };
}

// A square pen, moved in steps of a sample. What lies a hair behind a face counts as on it.
static void draw_line(
    raster* self, picture_point from, picture_point to, picture_ink ink, float width, bool is_above )
{
    const float hair = 2e-4f;
    from = enlarge( from );
    to = enlarge( to );
    float reach = fmaxf( fabsf( to.x - from.x ), fabsf( to.y - from.y ) );
    int32_t pen = (int32_t)( width * SAMPLES + 0.5f ),
            steps = (int32_t)fminf( reach, 4.0f * (float)( self->width + self->height ) );
    bool is_flat =
        fabsf( to.x - from.x ) >= fabsf( to.y - from.y ); // the pen is a column, or a row: no sample twice
    for ( int32_t i = 0; i <= steps; ++i )
    {
        float t = steps > 0 ? (float)i / (float)steps : 0;
        float depth = from.depth + t * ( to.depth - from.depth ) - hair;
        for ( int32_t k = 0; k < pen; ++k )
        {
            float off = (float)k - 0.5f * (float)( pen - 1 );
            float px = from.x + t * ( to.x - from.x ) + ( is_flat ? 0 : off ),
                  py = from.y + t * ( to.y - from.y ) + ( is_flat ? off : 0 );
            if ( px < 0 || py < 0 || px >= (float)self->width || py >= (float)self->height )
            {
                continue;
            }
            size_t at = (size_t)py * (size_t)self->width + (size_t)px;
            if ( is_above || depth < self->depths[at] )
            {
                blend( self, at, ink );
            }
        }
    }
}

static void draw_face( raster* self, const picture_face* face )
{
    for ( uint32_t i = 2; i < face->count; ++i )
    {
        draw_triangle( self, enlarge( face->corners[0] ), enlarge( face->corners[i - 1] ),
            enlarge( face->corners[i] ), face->fill );
    }
    for ( uint32_t i = 0; face->edge.alpha > 0 && i < face->count; ++i )
    {
        draw_line( self, face->corners[i], face->corners[( i + 1 ) % face->count], face->edge, 0.7f, false );
    }
}

// Solid faces, lines among them, what shows through from far to near, lines above all.
static void draw_all( raster* self, const picture* seen )
{
    for ( size_t i = 0; i < seen->face_count; ++i )
    {
        if ( seen->faces[i].fill.alpha >= 1 )
        {
            draw_face( self, &seen->faces[i] );
        }
    }
    for ( int above = 0; above < 2; ++above )
    {
        for ( size_t i = 0; i < seen->line_count; ++i )
        {
            const picture_line* line = &seen->lines[i];
            if ( line->is_above == ( above == 1 ) )
            {
                draw_line( self, line->ends[0], line->ends[1], line->ink, line->width, line->is_above );
            }
        }
        for ( size_t i = 0; above == 0 && i < seen->face_count; ++i )
        {
            if ( seen->faces[i].fill.alpha < 1 )
            {
                draw_face( self, &seen->faces[i] );
            }
        }
    }
}

static uint8_t* shrink( const raster* self, uint32_t width, uint32_t height )
{
    uint8_t* pixels = malloc( (size_t)3 * width * height );
    for ( size_t at = 0; pixels != NULL && at < (size_t)3 * width * height; ++at )
    {
        size_t part = at % 3, x = at / 3 % width, y = at / 3 / width;
        uint32_t sum = 0;
        for ( size_t sample = 0; sample < SAMPLES * SAMPLES; ++sample )
        {
            size_t row = SAMPLES * y + sample / SAMPLES, column = SAMPLES * x + sample % SAMPLES;
            sum += self->colours[3 * ( row * (size_t)self->width + column ) + part];
        }
        pixels[at] = (uint8_t)( ( sum + SAMPLES * SAMPLES / 2 ) / ( SAMPLES * SAMPLES ) );
    }
    return pixels;
}

uint8_t* raster_draw( picture* seen )
{
    raster self = { .width = (int32_t)seen->camera.width * SAMPLES,
        .height = (int32_t)seen->camera.height * SAMPLES };
    size_t count = (size_t)self.width * (size_t)self.height;
    self.colours = malloc( 3 * count );
    self.depths = malloc( count * sizeof( float ) );
    uint8_t* pixels = NULL;
    if ( self.colours != NULL && self.depths != NULL )
    {
        for ( size_t at = 0; at < count; ++at )
        {
            self.colours[3 * at] = seen->ground.red;
            self.colours[3 * at + 1] = seen->ground.green;
            self.colours[3 * at + 2] = seen->ground.blue;
            self.depths[at] = 1;
        }
        picture_sort( seen );
        draw_all( &self, seen );
        pixels = shrink( &self, seen->camera.width, seen->camera.height );
    }
    free( self.colours );
    free( self.depths );
    return pixels;
}
