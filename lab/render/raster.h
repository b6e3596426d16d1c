// SPDX-License-Identifier: MIT
// A picture as pixels: a depth for each, nine samples a pixel.
#pragma once

#include "lab/render/picture.h"

/// Three bytes a pixel, rows from the top, to free; NULL if out of memory. Sorts the faces.
uint8_t* raster_draw( picture* seen );
