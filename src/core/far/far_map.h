// SPDX-License-Identifier: MIT
// Doubles as floats, so that an engine of floats finds the pairs of boxes in double. On each axis a map that
// never descends: a <= b gives map( a ) <= map( b ), so boxes that touch still touch, and only pairs that do
// not may be found in vain; the space decides each in double. How many those are is the map's quality, never
// the answer's.
#pragma once

#include "base/memory.h"
#include "cleave/world.h"

enum
{
    FAR_FACES = 16, // faces of the boxes in a cell of an axis, and its width in the map
};

/// One axis. Without cells: the distance from the origin, rounded to float. With cells: each has its own
/// origin, its lower end, and holds about as many faces as any other, so it is as wide as any other in the
/// map.
typedef struct far_axis
{
    double origin;
    double* ends; ///< of the cells, ascending, cell_count + 1 of them
    uint64_t end_capacity;
    uint32_t cell_count; ///< 0: no cells
} far_axis;

typedef struct far_map
{
    far_axis axes[3];
} far_map;

/// The float of a coordinate. `hint` is any float: if it is what a neighbour was mapped to the answer comes
/// sooner.
float clv_far_axis_at( const far_axis* axis, double value, float hint );

/// The box of floats. `hint` is what the box, or one near it, was mapped to before.
clv_aabb clv_far_map_box( const far_map* map, const clv_aabb64* box, const clv_aabb* hint );

/// Many boxes. `mapped` holds the hints, unless the map is plain, and then what the boxes are mapped to.
void clv_far_map_boxes( const far_map* map, const clv_aabb64* boxes, clv_aabb* mapped, uint32_t count );

/// Distances from an origin alone: no hint is needed.
static inline bool far_map_is_plain( const far_map* map )
{
    return ( map->axes[0].cell_count | map->axes[1].cell_count | map->axes[2].cell_count ) == 0;
}

/// Distances from an origin, in place of cells.
void clv_far_map_set_origin( far_map* map, clv_vec64 origin );

/// The boxes a map is made for.
typedef struct far_crowd
{
    const clv_aabb64* boxes; ///< by slot
    const uint32_t* live;    ///< slots that count; NULL: all below count
    uint32_t count;
} far_crowd;

static inline uint32_t far_crowd_slot( const far_crowd* crowd, uint32_t index )
{
    return crowd->live != NULL ? crowd->live[index] : index;
}

/// Cells with FAR_FACES faces each on every axis, by sorting them all. False if out of memory, with the map
/// as it was.
bool clv_far_map_set_cells( far_map* map, const far_crowd* crowd, base_memory* memory );

void clv_far_map_free( far_map* map, base_memory* memory );
