// SPDX-License-Identifier: MIT
// Space in half-open regions, one per process: a tree of cuts. A point with coordinate < `at` lies left of a
// cut, any other right.
#pragma once

#include "base/array.h"
#include "cleave/mpi.h"

#include <math.h>

typedef struct mpi_cut
{
    float at;
    int32_t axis;
    int32_t left, right; ///< a cut, or a process written as ~rank
} mpi_cut;

typedef struct mpi_regions
{
    BASE_ARRAY( mpi_cut ) cuts;
    int32_t root; ///< a cut, or ~rank where there is one process
    int32_t* stack;
    clv_mpi_region* bounds;     ///< by rank
    clv_mpi_region* cut_bounds; ///< by cut: what it cuts
    int32_t process_count;
} mpi_regions;

/// False: out of memory.
bool clv_mpi_regions_open( mpi_regions* regions, base_memory* memory, int32_t process_count );
void clv_mpi_regions_close( mpi_regions* regions, base_memory* memory );

/// Takes over the cuts of another one of as many processes.
void clv_mpi_regions_copy( mpi_regions* to, const mpi_regions* from );

/// After the cuts were written, parents before children and the root first: the bounds.
void clv_mpi_regions_finish( mpi_regions* regions );

/// The process whose region holds the point.
int32_t clv_mpi_regions_home( const mpi_regions* regions, clv_vec3 point );

/// Every process whose region a closed box touches, ascending from left to right; at most `process_count`.
uint32_t clv_mpi_regions_reach( const mpi_regions* regions, const clv_aabb* box, int32_t* ranks );

/// The point of a box that decides on its owner: the middle, clamped to finite floats.
clv_vec3 clv_mpi_box_middle( const clv_aabb* box );

static inline float mpi_on_axis( clv_vec3 point, int32_t axis )
{
    return axis == 0 ? point.x : axis == 1 ? point.y : point.z;
}

static inline bool mpi_region_holds( const clv_mpi_region* region, clv_vec3 point )
{
    return point.x >= region->lower.x && point.y >= region->lower.y && point.z >= region->lower.z &&
        ( point.x < region->upper.x || region->upper.x == INFINITY ) &&
        ( point.y < region->upper.y || region->upper.y == INFINITY ) &&
        ( point.z < region->upper.z || region->upper.z == INFINITY );
}

/// The closed box of the floats that a region holds, so that a loop over many boxes has six plain comparisons
/// each.
clv_aabb clv_mpi_region_inner( const clv_mpi_region* region );

static inline bool mpi_box_encloses( const clv_aabb* outer, const clv_aabb* box )
{
    // Without branches: most answers are yes, but not where the border is.
    return ( box->lower.x >= outer->lower.x ) & ( box->lower.y >= outer->lower.y ) &
        ( box->lower.z >= outer->lower.z ) & ( box->upper.x <= outer->upper.x ) &
        ( box->upper.y <= outer->upper.y ) & ( box->upper.z <= outer->upper.z );
}

/// Any of the box, which is closed.
static inline bool mpi_region_reached( const clv_mpi_region* region, const clv_aabb* box )
{
    return box->upper.x >= region->lower.x && box->upper.y >= region->lower.y &&
        box->upper.z >= region->lower.z &&
        ( box->lower.x < region->upper.x || region->upper.x == INFINITY ) &&
        ( box->lower.y < region->upper.y || region->upper.y == INFINITY ) &&
        ( box->lower.z < region->upper.z || region->upper.z == INFINITY );
}

/// The lower corner of what two boxes share: the process whose region holds it reports the pair.
static inline clv_vec3 mpi_overlap_corner( const clv_aabb* a, const clv_aabb* b )
{
    clv_vec3 corner = { a->lower.x > b->lower.x ? a->lower.x : b->lower.x,
        a->lower.y > b->lower.y ? a->lower.y : b->lower.y,
        a->lower.z > b->lower.z ? a->lower.z : b->lower.z };
    return corner;
}

static inline bool mpi_is_among( const int32_t* ranks, uint32_t count, int32_t rank )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( ranks[i] == rank )
        {
            return true;
        }
    }
    return false;
}
