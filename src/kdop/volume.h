// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/narrow.h"

// Bounding volumes around shapes, the three kinds of the k-DOP paper (Amaral, COPPE 2021) and some more, and
// a sweep-and-prune over any one of them: that paper's broad phase, on the CPU. For boxes alone clv_space is
// the faster answer by far; this is for comparing volumes, and for scenes whose bodies fill their boxes
// badly.
//
// Boxes are those of clv_shape_aabb (narrow.h). Volumes are rounded outwards, so they contain the shape as
// placed, to the last bit, and closed, so that touching counts. One thread owns a sweep.

#define CLV_DOP_AXIS_COUNT 9

/// A polytope between nine pairs of parallel planes: lower[i] <= dot( axis i, p ) <= upper[i]. Axes 0 to 2
/// are x, y and z, axes 3 to 8 the diagonals x + y, x - y, x + z, x - z, y + z, y - z, none of them brought
/// to length 1.
typedef struct clv_dop18
{
    float lower[CLV_DOP_AXIS_COUNT], upper[CLV_DOP_AXIS_COUNT];
} clv_dop18;

static inline bool clv_dop18_overlap( const clv_dop18* a, const clv_dop18* b )
{
    for ( int i = 0; i < CLV_DOP_AXIS_COUNT; ++i )
    {
        if ( a->lower[i] > b->upper[i] || b->lower[i] > a->upper[i] )
        {
            return false;
        }
    }
    return true;
}

/// Decided in double: touching spheres with coordinates of up to 26 bits touch exactly.
static inline bool clv_sphere_overlap( clv_sphere a, clv_sphere b )
{
    double x = CLV_CAST( double, a.center.x ) - CLV_CAST( double, b.center.x );
    double y = CLV_CAST( double, a.center.y ) - CLV_CAST( double, b.center.y );
    double z = CLV_CAST( double, a.center.z ) - CLV_CAST( double, b.center.z );
    double reach = CLV_CAST( double, a.radius ) + CLV_CAST( double, b.radius );
    return x * x + y * y + z * z <= reach * reach;
}

/// The volumes around a shape that stands somewhere. CLV_BAD_ARGUMENT for a shape or transform the narrow
/// phase would refuse. The sphere's center is the shape's own origin, as in the paper: it needs no vertex
/// when the body turns.
clv_result clv_shape_dop18( clv_shape shape, clv_transform at, clv_dop18* dop );
clv_result clv_shape_sphere( clv_shape shape, clv_transform at, clv_sphere* sphere );

// ---- more kinds, to compare these with

/// Polytopes between k / 2 pairs of parallel planes: 6 the faces of a box, 14 the corners' as well, 18 the
/// edges' as well, 26 all of them.
typedef enum clv_dop_kind
{
    CLV_DOP_6 = 6,
    CLV_DOP_14 = 14,
    CLV_DOP_18 = 18,
    CLV_DOP_26 = 26,
} clv_dop_kind;

#define CLV_DOP_ENDS_MOST 26

/// Axis `index` of a kind, below kind / 2: x, y, z; then for 18 and 26 the six of a clv_dop18; then for 14
/// and 26 x + y + z, x + y - z, x - y + z, -x + y + z. None of them is brought to length 1.
clv_vec3 clv_dop_axis( clv_dop_kind kind, uint32_t index );

/// Of two k-DOPs, each `kind` floats: the lower ends along its axes, then the upper ones. A clv_aabb is laid
/// out like a 6-DOP, a clv_dop18 like an 18-DOP.
static inline bool clv_dop_overlap( clv_dop_kind kind, const float* a, const float* b )
{
    int count = CLV_CAST( int, kind ) / 2;
    for ( int i = 0; i < count; ++i )
    {
        if ( a[i] > b[count + i] || b[i] > a[count + i] )
        {
            return false;
        }
    }
    return true;
}

/// A box that is turned: every point p with | dot( axes[i], p - center ) | <= half_size[i]. The axes are of
/// length 1 and at right angles, as far as floats go.
typedef struct clv_obb
{
    clv_vec3 center;
    clv_vec3 axes[3];
    clv_vec3 half_size;
} clv_obb;

/// Along the shape's own axes, or for a hull along those of its vertices' spread where that box is smaller.
clv_result clv_shape_obb( clv_shape shape, clv_transform at, clv_obb* obb );

// ---- sweep and prune

typedef enum clv_volume_kind
{
    CLV_VOLUME_AABB = 0,
    CLV_VOLUME_DOP18 = 1,
    CLV_VOLUME_SPHERE = 2,
    // Not in the paper.
    CLV_VOLUME_DOP6 = 3, ///< the boxes once more, as k-DOPs
    CLV_VOLUME_DOP14 = 4,
    CLV_VOLUME_DOP26 = 5,
    CLV_VOLUME_OBB = 6, ///< turned boxes, by separating axes
} clv_volume_kind;

/// Sorts volumes along one axis and tests those that overlap on it. Every few updates a principal component
/// analysis of the centers picks the axis along which they are spread most.
typedef struct clv_volume_sweep clv_volume_sweep;

/// Settings, copied on create. Start from clv_default_volume_sweep_def.
typedef struct clv_volume_sweep_def
{
    uint32_t size;           ///< sizeof( clv_volume_sweep_def ), set by the default function
    uint32_t cookie;         ///< proof that the default function was called
    uint32_t pca_period;     ///< updates between choices of axis; default 30; 0: never, `first_axis` stays
    uint32_t first_axis;     ///< below CLV_DOP_AXIS_COUNT, and below 3 for boxes; default 1: y
    clv_allocator allocator; ///< zero: the C library's
    clv_logger logger;       ///< zero: silence
} clv_volume_sweep_def;

clv_volume_sweep_def clv_default_volume_sweep_def( void );

/// CLV_BAD_DEF or CLV_OUT_OF_MEMORY leave *sweep NULL.
clv_result clv_volume_sweep_create( const clv_volume_sweep_def* def, clv_volume_sweep** sweep );

/// NULL is legal.
void clv_volume_sweep_destroy( clv_volume_sweep* sweep );

/// Find every pair of overlapping volumes, by position in the array: clv_aabb, clv_sphere, clv_obb, or as
/// many floats per k-DOP as it has ends, as clv_dop_overlap has them. Boxes, turned or not, are swept along
/// x, y or z, k-DOPs along any of their axes, spheres along those of an 18-DOP. The count may change from
/// update to update, and so may the kind of volume. CLV_BAD_BOX for NaN, lower > upper, a radius or half size
/// below 0, axes of a turned box that are not of length 1 and at right angles (to 4e-6), and a kind that is
/// none; CLV_OUT_OF_MEMORY. Then the pairs are none.
clv_result clv_volume_sweep_run(
    clv_volume_sweep* sweep, clv_volume_kind kind, const void* volumes, uint32_t count );

/// Each pair once, a < b, in an order that depends on the volumes and the axis alone. Dies at the next
/// update.
clv_pair_view clv_volume_sweep_pairs( const clv_volume_sweep* sweep );

/// What the last update did.
typedef struct clv_volume_sweep_stats
{
    uint32_t axis;       ///< it swept along, of the kind's; boxes' are a 6-DOP's, spheres' an 18-DOP's
    uint64_t test_count; ///< volumes that overlapped on that axis and were tested on the others
    double axis_ms;      ///< choosing the axis; 0 in most updates
    double project_ms;   ///< lower ends along the axis
    double sort_ms;      ///< these in ascending order
    double prune_ms;     ///< sweeping and testing
} clv_volume_sweep_stats;

clv_volume_sweep_stats clv_volume_sweep_get_stats( const clv_volume_sweep* sweep );
