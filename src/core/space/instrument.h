// SPDX-License-Identifier: MIT
// What the method behind a space tells about its last update. For the lab; not among the library's exports.
#pragma once

#include "cleave/space.h"
#include "method/method.h"

/// The method's figures: the first `capacity` are written, the number there are is returned. 0 from methods
/// that tell nothing.
uint32_t clv_space_report( const clv_space* space, clv_method_figure* figures, uint32_t capacity );

/// The method's structure as JSON; as snprintf, the length without the zero. 0 where there is nothing to
/// draw.
size_t clv_space_dump( clv_space* space, char* text, size_t text_size );
