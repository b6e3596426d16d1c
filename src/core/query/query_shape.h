// SPDX-License-Identifier: MIT
// Shapes against one box, in double: what decides where a box of the shape only chooses. Nothing but + - * /
// and square root, each rounded as IEEE 754 has it, in this order: the same bits everywhere.
#pragma once

#include "base/bits.h"
#include "base/exact.h"
#include "cleave/world.h"
#include "simd/query_lanes.h"

#include <math.h>
#include <stdint.h>

/// What these shapes may measure, and how far they reach: squares and sums of such are doubles. Larger than
/// any float.
#define QUERY_MOST 1e150

/// dot( normal, p ) <= offset.
typedef struct query_plane
{
    double normal[3];
    double offset;
} query_plane;

/// A line from a to b with everything that is as near as `radius`.
typedef struct query_capsule
{
    double a[3], b[3];
    double radius;
} query_capsule;

/// As seen from its centre: boxes are tested less it, which loses nothing nearby.
typedef struct query_turned_box
{
    query_plane faces[6];
    double half[3];
    double axes[3][3]; ///< of length 1
    double reach[3];   ///< half its own box
} query_turned_box;

/// The same box in double.
static inline clv_aabb64 query_widen( const clv_aabb* box )
{
    return ( clv_aabb64 ){ { (double)box->lower.x, (double)box->lower.y, (double)box->lower.z },
        { (double)box->upper.x, (double)box->upper.y, (double)box->upper.z } };
}

/// The box from a place: faces less its coordinates, which is exact nearby. Infinite ones stay.
static inline clv_aabb64 query_box_from( const clv_aabb64* box, const double origin[3] )
{
    return ( clv_aabb64 ){
        { box->lower.x - origin[0], box->lower.y - origin[1], box->lower.z - origin[2] },
        { box->upper.x - origin[0], box->upper.y - origin[1], box->upper.z - origin[2] },
    };
}

// ---- planes and turned boxes

/// Finite faces no farther than the shapes reach, so that no product of theirs is infinite. Those of floats
/// never are.
static inline double query_near_face( double face )
{
    double near = face < -QUERY_MOST ? -QUERY_MOST : face > QUERY_MOST ? QUERY_MOST : face;
    return base_is_finite( face ) ? near : face;
}

static inline clv_aabb64 query_near_faces( const clv_aabb64* box )
{
    return ( clv_aabb64 ){
        { query_near_face( box->lower.x ), query_near_face( box->lower.y ), query_near_face( box->lower.z ) },
        { query_near_face( box->upper.x ), query_near_face( box->upper.y ), query_near_face( box->upper.z ) }
    };
}

/// The least dot product of the normal with a place in the box. Endless sides count only where the normal
/// sees them. Monotonic.
static inline double query_least_dot( const double normal[3], const clv_aabb64* box )
{
    double least = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double face = normal[axis] > 0 ? ( &box->lower.x )[axis] : ( &box->upper.x )[axis];
        least += normal[axis] != 0 ? normal[axis] * face : 0;
    }
    return least;
}

/// Turned by that quaternion, of any length; zero: not at all.
query_turned_box clv_query_turn( const double half[3], const double rotation[4] );

/// The separating axis test. First the axes of both boxes, which is monotonic and so does for nodes too; then
/// those of the edges. `from` is the box less the turned one's centre.
bool clv_query_turned_box_faces_meet( const query_turned_box* turned, const clv_aabb64* from );
bool clv_query_turned_box_edges_meet( const query_turned_box* turned, const clv_aabb64* from );

// ---- a line

/// Is the line as near to the box as the radius?
bool clv_query_capsule_meets( const query_capsule* capsule, const clv_aabb64* box );

/// The first time of 0 .. end at which the capsule, moved by that many times `motion`, is so near. False if
/// there is none. By Newton's method on the distance, which is convex: from the left, never beyond the true
/// time by more than rounding.
bool clv_query_capsule_cast(
    const query_capsule* capsule, const double motion[3], double end, const clv_aabb64* box, double* time );

/// The same where the rounding of doubles would decide: in twice the bits.
bool clv_query_line_meets( const query_capsule* capsule, const clv_aabb64* box );
bool clv_query_line_cast(
    const query_capsule* capsule, const double motion[3], double end, const clv_aabb64* box, double* time );
