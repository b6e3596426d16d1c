// SPDX-License-Identifier: MIT
#ifndef _WIN32
#define _POSIX_C_SOURCE 200809L
#endif
#include "lab/render/film.h"

#include "lab/base/text.h"

#include <stdlib.h>

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
