// SPDX-License-Identifier: MIT
// Pictures one after the other as a GIF or MP4, by ffmpeg where that is installed.
#pragma once

#include "lab/base/output_file.h"

#include <stdint.h>
#include <stdio.h>

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
