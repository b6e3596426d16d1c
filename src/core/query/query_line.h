// SPDX-License-Identifier: MIT
// A line and a box where doubles are too few: a line so long that the rounding of a place on it is as large as the distance that is asked
// for. The same as query_shape.c has in double, from the numbers as given and in about 104 bits; some twenty times as slow.
#pragma once

#include "query/query_shape.h"

/// As clv_query_capsule_meets64 and clv_query_capsule_cast64.
bool clv_query_line_meets( const query_capsule* capsule, const clv_aabb64* box );
bool clv_query_line_cast(
    const query_capsule* capsule, const double motion[3], double end, const clv_aabb64* box, double* time );
