// SPDX-License-Identifier: MIT
#ifndef _WIN32
#define _POSIX_C_SOURCE 200809L
#endif
#include "lab/render/picture.h"

#include "lab/base/bytes.h"
#include "lab/base/output_file.h"
#include "lab/base/text.h"

#include <math.h>
#include <stdlib.h>

#define FIELD 0.72 // radians from top to bottom

static void normalise( double v[3] )
{
    double length = sqrt( v[0] * v[0] + v[1] * v[1] + v[2] * v[2] );
    for ( int axis = 0; axis < 3; ++axis )
    {
        v[axis] /= length > 0 ? length : 1;
    }
}

void picture_cross( const double a[3], const double b[3], double out[3] )
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

picture_camera picture_camera_make(
    clv_aabb box, double yaw, double pitch, double zoom, uint32_t width, uint32_t height )
{
    picture_camera camera = { .width = width, .height = height };
    const double up[3] = { 0, 1, 0 };
    double target[3], square = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double lower = (double)( &box.lower.x )[axis], upper = (double)( &box.upper.x )[axis];
        target[axis] = 0.5 * ( lower + upper );
        square += 0.25 * ( upper - lower ) * ( upper - lower );
    }
    double aspect = (double)width / height;
    camera.radius = fmax( sqrt( square ), 1e-9 );
    camera.distance = 1.02 * camera.radius / sin( 0.5 * FIELD ) / fmin( 1, fmax( aspect, 0.55 ) ) / zoom;
    camera.back[0] = cos( pitch ) * sin( yaw );
    camera.back[1] = sin( pitch );
    camera.back[2] = cos( pitch ) * cos( yaw );
    for ( int axis = 0; axis < 3; ++axis )
    {
        camera.eye[axis] = target[axis] + camera.distance * camera.back[axis];
    }
    picture_cross( up, camera.back, camera.right );
    normalise( camera.right );
    picture_cross( camera.back, camera.right, camera.up );
    camera.far = camera.distance + 4 * camera.radius;
    camera.near = fmax( camera.distance - 3 * camera.radius, 0.02 * camera.distance );
    camera.scale = 0.5 * height / tan( 0.5 * FIELD );
    return camera;
}

// False behind the eye.
static bool project( const picture_camera* camera, const double p[3], picture_point* out )
{
    double seen[3] = { 0, 0, 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double d = p[axis] - camera->eye[axis];
        seen[0] += d * camera->right[axis];
        seen[1] += d * camera->up[axis];
        seen[2] -= d * camera->back[axis];
    }
    if ( seen[2] < camera->near )
    {
        return false;
    }
    // The inverse of the distance is linear on the screen; it is turned round, so that it
    // grows away from the eye.
    *out = ( picture_point ){ (float)( 0.5 * camera->width + camera->scale * seen[0] / seen[2] ),
        (float)( 0.5 * camera->height - camera->scale * seen[1] / seen[2] ),
        (float)( 1 - camera->near / seen[2] ) };
    return true;
}

void picture_add_face(
    picture* self, const double ( *corners )[3], uint32_t count, picture_ink fill, picture_ink edge )
{
    picture_face face = { .count = count, .fill = fill, .edge = edge };
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( !project( &self->camera, corners[i], &face.corners[i] ) )
        {
            return;
        }
        face.distance += face.corners[i].depth / (float)count;
    }
    *lab_list_next( self->faces, self->face_count ) = face;
}

void picture_add_line(
    picture* self, const double from[3], const double to[3], picture_ink ink, float width, bool is_above )
{
    picture_line line = { .ink = ink, .width = width, .is_above = is_above };
    if ( project( &self->camera, from, &line.ends[0] ) && project( &self->camera, to, &line.ends[1] ) )
    {
        *lab_list_next( self->lines, self->line_count ) = line;
    }
}

static int compare_faces( const void* a, const void* b )
{
    float one = ( (const picture_face*)a )->distance, two = ( (const picture_face*)b )->distance;
    return ( one < two ) - ( one > two );
}

// Faces from far to near.
static void picture_sort( picture* self )
{
    if ( self->face_count > 1 )
    {
        qsort( self->faces, self->face_count, sizeof( picture_face ), compare_faces );
    }
}

void picture_free( picture* self )
{
    free( self->faces );
    free( self->lines );
    *self = ( picture ){ 0 };
}

// ---- raster

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
    uint8_t* pixels = lab_take( (uint64_t)3 * width * height, 1 );
    for ( size_t at = 0; at < (size_t)3 * width * height; ++at )
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
    self.colours = lab_take( count, 3 );
    self.depths = lab_take( count, sizeof( float ) );
    for ( size_t at = 0; at < count; ++at )
    {
        self.colours[3 * at] = seen->ground.red;
        self.colours[3 * at + 1] = seen->ground.green;
        self.colours[3 * at + 2] = seen->ground.blue;
        self.depths[at] = 1;
    }
    picture_sort( seen );
    draw_all( &self, seen );
    uint8_t* pixels = shrink( &self, seen->camera.width, seen->camera.height );
    free( self.colours );
    free( self.depths );
    return pixels;
}

// ---- T. Boutell, "PNG (Portable Network Graphics) Specification", RFC 2083 (1997).

enum
{
    FILTER_UP = 2, // the byte above is taken off: even ground becomes zeros
};

static uint32_t crc_of( const uint8_t* bytes, size_t count )
{
    uint32_t crc = UINT32_MAX;
    for ( size_t i = 0; i < count; ++i )
    {
        crc ^= bytes[i];
        for ( int bit = 0; bit < 8; ++bit )
        {
            crc = crc >> 1 ^ ( ( crc & 1 ) != 0 ? 0xEDB88320u : 0 );
        }
    }
    return ~crc;
}

static uint32_t adler_of( const uint8_t* bytes, size_t count )
{
    uint32_t a = 1, b = 0;
    for ( size_t i = 0; i < count; ++i )
    {
        a = ( a + bytes[i] ) % 65521;
        b = ( b + a ) % 65521;
    }
    return b << 16 | a;
}

static void put_word( byte_buffer* out, uint32_t word )
{
    const uint8_t bytes[4] = { (uint8_t)( word >> 24 ), (uint8_t)( word >> 16 ), (uint8_t)( word >> 8 ),
        (uint8_t)word };
    byte_buffer_put( out, bytes, 4 );
}

static void put_chunk( byte_buffer* out, const char* kind, const byte_buffer* data )
{
    put_word( out, (uint32_t)data->count );
    size_t begin = out->count;
    byte_buffer_put( out, kind, 4 );
    byte_buffer_put( out, data->bytes, data->count );
    put_word( out, crc_of( out->bytes + begin, out->count - begin ) );
}

static void put_rows( byte_buffer* out, const uint8_t* pixels, uint32_t width, uint32_t height )
{
    size_t row = (size_t)3 * width;
    for ( uint32_t y = 0; y < height; ++y )
    {
        byte_buffer_put_byte( out, FILTER_UP );
        for ( size_t i = 0; i < row; ++i )
        {
            uint8_t above = y > 0 ? pixels[( y - 1 ) * row + i] : 0;
            byte_buffer_put_byte( out, (uint8_t)( pixels[y * row + i] - above ) );
        }
    }
}

bool png_file_write(
    const char* path, const uint8_t* pixels, uint32_t width, uint32_t height, lab_error* why )
{
    static const uint8_t signature[8] = { 137, 'P', 'N', 'G', 13, 10, 26, 10 };
    static const uint8_t kind[5] = { 8, 2, 0, 0, 0 }; // eight bits, red green blue, not interlaced
    static const uint8_t zlib_head[2] = { 0x78, 0x01 };
    byte_buffer rows = { 0 }, chunk = { 0 }, out = { 0 };
    put_rows( &rows, pixels, width, height );
    byte_buffer_put( &out, signature, sizeof( signature ) );
    put_word( &chunk, width );
    put_word( &chunk, height );
    byte_buffer_put( &chunk, kind, sizeof( kind ) );
    put_chunk( &out, "IHDR", &chunk );
    byte_buffer_clear( &chunk );
    byte_buffer_put( &chunk, zlib_head, sizeof( zlib_head ) );
    deflate_append( &chunk, rows.bytes, rows.count );
    put_word( &chunk, adler_of( rows.bytes, rows.count ) );
    put_chunk( &out, "IDAT", &chunk );
    byte_buffer_clear( &chunk );
    put_chunk( &out, "IEND", &chunk );
    bool good = output_file_put( path, out.bytes, out.count, why );
    byte_buffer_free( &rows );
    byte_buffer_free( &chunk );
    byte_buffer_free( &out );
    return good;
}

// ---- svg picture

static void put_face( byte_buffer* out, const picture_face* face )
{
    byte_buffer_print( out, "<path d=\"" );
    for ( uint32_t i = 0; i < face->count; ++i )
    {
        byte_buffer_print(
            out, "%c%.1f %.1f", i == 0 ? 'M' : 'L', (double)face->corners[i].x, (double)face->corners[i].y );
    }
    byte_buffer_print( out, "Z\" fill=\"#%02x%02x%02x\"", (unsigned)face->fill.red,
        (unsigned)face->fill.green, (unsigned)face->fill.blue );
    if ( face->fill.alpha < 1 )
    {
        byte_buffer_print( out, " fill-opacity=\"%.2f\"", (double)face->fill.alpha );
    }
    if ( face->edge.alpha > 0 )
    {
        byte_buffer_print( out, " stroke=\"#%02x%02x%02x\"", (unsigned)face->edge.red,
            (unsigned)face->edge.green, (unsigned)face->edge.blue );
    }
    byte_buffer_print( out, "/>\n" );
}

static void put_line( byte_buffer* out, const picture_line* line )
{
    byte_buffer_print( out,
        "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#%02x%02x%02x\" stroke-opacity=\"%.2f\" stroke-width=\"%.1f\"/>\n",
        (double)line->ends[0].x, (double)line->ends[0].y, (double)line->ends[1].x, (double)line->ends[1].y,
        (unsigned)line->ink.red, (unsigned)line->ink.green, (unsigned)line->ink.blue, (double)line->ink.alpha,
        (double)line->width );
}

// Lines among faces come first: an SVG has no depth, and hidden ones are hidden by what is painted over them.
bool svg_picture_write( const char* path, picture* seen, lab_error* why )
{
    byte_buffer out = { 0 };
    uint32_t width = seen->camera.width, height = seen->camera.height;
    picture_sort( seen );
    byte_buffer_print( &out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" height=\"%u\" stroke-width=\"0.6\" "
        "stroke-linejoin=\"round\">\n<rect width=\"%u\" height=\"%u\" fill=\"#%02x%02x%02x\"/>\n",
        (unsigned)width, (unsigned)height, (unsigned)width, (unsigned)height, (unsigned)width,
        (unsigned)height, (unsigned)seen->ground.red, (unsigned)seen->ground.green,
        (unsigned)seen->ground.blue );
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
    byte_buffer_print( &out, "</svg>\n" );
    bool good = output_file_put( path, out.bytes, out.count, why );
    byte_buffer_free( &out );
    return good;
}

// ---- films

#ifdef _WIN32

bool film_open( film* self, const char* path, uint32_t width, uint32_t height, lab_error* why )
{
    (void)width;
    (void)height;
    *self = ( film ){ 0 };
    return lab_error_write( why, "render: %s: films are not made on Windows; use -o FILE.png", path );
}

bool film_put( film* self, const uint8_t* pixels, lab_error* why )
{
    (void)self;
    (void)pixels;
    (void)why;
    return false;
}

bool film_close( film* self, bool is_whole, lab_error* why )
{
    (void)self;
    (void)is_whole;
    (void)why;
    return false;
}

#else

#include <signal.h>

/// 'it'\''s' for the shell, to free.
static char* quote( const char* text )
{
    char* out = text_copy( "'" );
    for ( ; *text != '\0'; ++text )
    {
        char* longer = *text == '\'' ? text_format( "%s'\\''", out ) : text_format( "%s%c", out, *text );
        free( out );
        out = longer;
    }
    char* whole = text_format( "%s'", out );
    free( out );
    return whole;
}

bool film_open( film* self, const char* path, uint32_t width, uint32_t height, lab_error* why )
{
    *self = ( film ){ .picture_bytes = (size_t)3 * width * height };
    if ( system( "command -v ffmpeg >/dev/null 2>&1" ) != 0 )
    {
        return lab_error_write( why,
            "render: %s needs ffmpeg, which is not installed (Debian: ffmpeg); use -o FILE.png for one frame",
            path );
    }
    if ( !output_file_open( &self->target, path, why ) )
    {
        return false;
    }
    bool is_gif = text_ends_with( path, ".gif" );
    char* target = quote( self->target.temporary != NULL ? self->target.temporary : path );
    // "file:", or a name with a colon would be a protocol, and one that begins with a dash an option.
    char* line =
        text_format( "ffmpeg -loglevel error -y -f rawvideo -pix_fmt rgb24 -s %ux%u -r %u -i - %s file:%s",
            (unsigned)width, (unsigned)height, is_gif ? 20u : 30u,
            is_gif ? "-vf 'split[a][b];[a]palettegen=max_colors=128[p];[b][p]paletteuse' -f gif"
                   : "-vf 'pad=ceil(iw/2)*2:ceil(ih/2)*2' -pix_fmt yuv420p -f mp4",
            target );
    signal( SIGPIPE, SIG_IGN ); // an ffmpeg that ends early is an error with a sentence, not a signal
    self->pipe = popen( line, "w" );
    free( line );
    free( target );
    if ( self->pipe == NULL )
    {
        output_file_abandon( &self->target );
        return lab_error_write( why, "render: ffmpeg cannot be started" );
    }
    return true;
}

bool film_put( film* self, const uint8_t* pixels, lab_error* why )
{
    return fwrite( pixels, 1, self->picture_bytes, self->pipe ) == self->picture_bytes ||
        lab_error_write( why, "render: ffmpeg ended early; see above" );
}

bool film_close( film* self, bool is_whole, lab_error* why )
{
    bool is_content = self->pipe == NULL || pclose( self->pipe ) == 0;
    bool good = is_whole && ( is_content || lab_error_write( why, "render: ffmpeg failed; see above" ) );
    if ( good && self->pipe != NULL )
    {
        good = output_file_commit( &self->target, why );
    }
    else
    {
        output_file_abandon( &self->target );
    }
    *self = ( film ){ 0 };
    return good;
}

#endif
