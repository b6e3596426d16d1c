// SPDX-License-Identifier: MIT
#pragma once

#include "cell/cell.h"

/// How a record's eight words become bytes; words 3 and 7 hold no coordinate and stay 0.
typedef struct scaling
{
    float origin[8], scale[8], most[8];
} scaling;

/// The cells of a box's lower and upper corner: x, y and z as fields of 16 bits.
typedef struct cell_span
{
    uint64_t first, last;
} cell_span;
