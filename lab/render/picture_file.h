// SPDX-License-Identifier: MIT
// Pixels as a PNG file (RFC 2083), and a picture as an SVG file.
#pragma once

#include "lab/base/error.h"
#include "lab/render/picture.h"

/// Three bytes a pixel, rows from the top; whole or not at all.
bool png_file_write(
    const char* path, const uint8_t* pixels, uint32_t width, uint32_t height, lab_error* why );

/// Faces from far to near, then lines. Sorts the faces.
bool svg_picture_write( const char* path, picture* seen, lab_error* why );
