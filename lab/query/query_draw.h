// SPDX-License-Identifier: MIT
// Queries of one family, drawn by seed from a scene's objects: the same on every machine.
#pragma once

#include "lab/base/error.h"
#include "lab/base/text.h"
#include "peers/query_peer.h"

typedef struct query_draw
{
    query_family family;
    uint32_t count;
    void* items; ///< of the family's type
} query_draw;

extern const choice query_families[]; ///< "rays", "boxes", "spheres", "nearest", "casts": query_family
const char* query_family_name( query_family family );
size_t query_family_item_size( query_family family );

/// Rays and casts start about an object's size from a random object, with directions uniform over the sphere;
/// boxes and spheres are objects, or as large, shifted by up to twice their size.
void query_draw_make( query_draw* draw, query_family family, const clv_aabb* boxes, uint32_t object_count,
    uint32_t count, uint64_t seed );
void query_draw_free( query_draw* draw );

/// The list that a space is asked; starts at `first`.
clv_queries query_draw_list( const query_draw* draw, uint32_t first, uint32_t count );
