// SPDX-License-Identifier: MIT
// Pictures one after the other as a GIF or MP4, by ffmpeg where that is installed.
#pragma once

#include "lab/base/error.h"

#include <stdint.h>
#include <stdio.h>

/// Zero-initialised is closed.
typedef struct film
{
    FILE* pipe;
    size_t picture_bytes;
} film;

/// Starts ffmpeg. False where it is not installed.
bool film_open( film* self, const char* path, uint32_t width, uint32_t height, lab_error* why );

/// Three bytes a pixel.
bool film_put( film* self, const uint8_t* pixels, lab_error* why );

/// False if ffmpeg was not content.
bool film_close( film* self, lab_error* why );
