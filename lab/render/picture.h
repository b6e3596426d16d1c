// SPDX-License-Identifier: MIT
// What a picture is made of, as seen by a camera: faces and lines in pixels, with their depth. It is
// drawn as pixels or as SVG.
#pragma once

#include "cleave/geom.h"
#include "lab/base/error.h"
#include "lab/base/output_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PICTURE_CORNERS 6 ///< of a face, at most

typedef struct picture_ink
{
    uint8_t red, green, blue;
    float alpha; ///< 1: nothing shows through
} picture_ink;

/// Pixels from the upper left corner; depth grows away from the eye.
typedef struct picture_point
{
    float x, y, depth;
} picture_point;

typedef struct picture_face
{
    picture_point corners[PICTURE_CORNERS];
    uint32_t count;
    picture_ink fill, edge; ///< an edge of alpha 0 is not drawn
    float distance;         ///< of its middle
} picture_face;

typedef struct picture_line
{
    picture_point ends[2];
    picture_ink ink;
    float width;   ///< pixels
    bool is_above; ///< not hidden by faces
} picture_line;

/// An eye that goes round a point; y is up. The same as view/src/camera.js.
typedef struct picture_camera
{
    double eye[3], right[3], up[3], back[3];
    double distance, radius, near, far, scale; ///< scale: pixels per unit at distance 1
    uint32_t width, height;
} picture_camera;

/// Zero-initialised is empty.
typedef struct picture
{
    picture_camera camera;
    picture_ink ground;
    picture_face* faces;
    picture_line* lines;
    size_t face_count, line_count;
} picture;

void picture_cross( const double a[3], const double b[3], double out[3] );

/// Looks at a box so that it fills the picture; angles in radians, zoom 2 shows half as much.
picture_camera picture_camera_make(
    clv_aabb box, double yaw, double pitch, double zoom, uint32_t width, uint32_t height );

/// A face by its corners, three numbers each. One that reaches behind the eye is left out.
void picture_add_face(
    picture* self, const double ( *corners )[3], uint32_t count, picture_ink fill, picture_ink edge );
void picture_add_line(
    picture* self, const double from[3], const double to[3], picture_ink ink, float width, bool is_above );

void picture_free( picture* self );

// ---- A picture as pixels: a depth for each, nine samples a pixel.

/// Three bytes a pixel, rows from the top, to free. Sorts the faces.
uint8_t* raster_draw( picture* seen );

// ---- Pixels as a PNG file (RFC 2083), and a picture as an SVG file.

/// Three bytes a pixel, rows from the top; whole or not at all.
bool png_file_write(
    const char* path, const uint8_t* pixels, uint32_t width, uint32_t height, lab_error* why );

/// Faces from far to near, then lines. Sorts the faces.
bool svg_picture_write( const char* path, picture* seen, lab_error* why );

// ---- Films, by ffmpeg.

/// Zero-initialised is closed.
typedef struct film
{
    FILE* pipe;
    output_file target;
    size_t picture_bytes;
} film;

/// Starts ffmpeg. False where it is not installed, and for a target that cannot be written.
bool film_open( film* self, const char* path, uint32_t width, uint32_t height, lab_error* why );

/// Three bytes a pixel.
bool film_put( film* self, const uint8_t* pixels, lab_error* why );

/// The target appears if all pictures were put (`is_whole`) and ffmpeg was content; else it stays as it was.
bool film_close( film* self, bool is_whole, lab_error* why );
