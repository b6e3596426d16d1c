// SPDX-License-Identifier: MIT
// Boxes, frame by frame, as a file in Broadmark's form that `cleave view` plays: docs/lab.md. For examples.
#pragma once

#include <cleave/cleave.h>

#include <stdio.h>
#include <string.h>

/// A file for so many frames of so many boxes, or NULL, and a line on stderr.
static inline FILE* scene_open( const char* path, const char* name, int boxes, int frames, float size )
{
    FILE* file = fopen( path, "wb" );
    if ( file == NULL )
    {
        perror( path );
        return NULL;
    }
    char names[2][128] = { "", "boxes" };
    snprintf( names[0], sizeof( names[0] ), "%s", name );
    int32_t counts[4] = { boxes, frames - 1, 0, 0 }; // the first frame is not counted
    float world[8] = { 0, 0, 0, 0, size, size, size, 0 };
    fwrite( names, sizeof( names ), 1, file );
    fwrite( counts, sizeof( counts ), 1, file );
    fwrite( world, sizeof( world ), 1, file );
    return file;
}

/// The next box: a cube around a place.
static inline void scene_put( FILE* file, double x, double y, double z, double side )
{
    float half = (float)side / 2, at[3] = { (float)x, (float)y, (float)z };
    float box[8] = { at[0] - half, at[1] - half, at[2] - half, 0, at[0] + half, at[1] + half, at[2] + half,
        0 };
    fwrite( box, sizeof( box ), 1, file );
}

/// False if any of it could not be written; a line on stderr says so. NULL is legal.
static inline bool scene_close( FILE* file, const char* path )
{
    bool good = file == NULL || ferror( file ) == 0;
    good = ( file == NULL || fclose( file ) == 0 ) && good;
    if ( !good )
    {
        perror( path );
    }
    return good;
}
