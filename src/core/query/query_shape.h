// SPDX-License-Identifier: MIT
// Shapes against one box, in double: what decides where a box of the shape only chooses. Nothing but + - * / and square root,
// each rounded as IEEE 754 has it, in this order: the same bits everywhere.
#pragma once

#include "base/exact.h"
#include "cleave/world.h"

#include <stdint.h>

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

/// All but the centre is as seen from the centre: boxes are tested less it, which loses nothing nearby.
typedef struct query_turned_box
{
    query_plane faces[6];
    double center[3], half[3];
    double axes[3][3]; ///< of length 1
    double reach[3];   ///< half its own box
} query_turned_box;

/// The same box in double.
static inline clv_aabb64 query_widen( const clv_aabb* box )
{
    return ( clv_aabb64 ){ { (double)box->lower.x, (double)box->lower.y, (double)box->lower.z },
        { (double)box->upper.x, (double)box->upper.y, (double)box->upper.z } };
}

/// The least dot product of the normal with a place in the box. Endless sides count only where the normal sees them.
static inline double query_least_dot( double x, double y, double z, const clv_aabb* box )
{
    double least = x > 0 ? x * (double)box->lower.x : x < 0 ? x * (double)box->upper.x : 0;
    least += y > 0 ? y * (double)box->lower.y : y < 0 ? y * (double)box->upper.y : 0;
    least += z > 0 ? z * (double)box->lower.z : z < 0 ? z * (double)box->upper.z : 0;
    return least;
}

/// Is part of the box on the inner side of every plane? (Each for itself: a box beyond a corner of them may pass.) Monotonic.
static inline bool query_half_spaces_meet( const clv_plane* planes, uint32_t count, const clv_aabb* box )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_vec3 n = planes[i].normal;
        if ( query_least_dot( (double)n.x, (double)n.y, (double)n.z, box ) > (double)planes[i].offset )
        {
            return false;
        }
    }
    return true;
}

/// Turned by that quaternion, of any length; zero: not at all.
query_turned_box clv_query_turn( const double center[3], const double half[3], const double rotation[4] );
query_turned_box clv_query_turned_box( clv_vec3 center, clv_vec3 half, const float rotation[4] );

/// The separating axis test. First the axes of both boxes, which is monotonic and so does for nodes too; then those of the edges.
/// `from` is the box less the turned one's centre.
bool clv_query_turned_box_faces_meet( const query_turned_box* turned, const clv_aabb64* from );
bool clv_query_turned_box_edges_meet( const query_turned_box* turned, const clv_aabb64* from );

/// A box of floats less the centre, and all of the test.
clv_aabb64 clv_query_turned_box_from( const query_turned_box* turned, const clv_aabb* box );
bool clv_query_turned_box_meets( const query_turned_box* turned, const clv_aabb* box );

/// The same shape's own box, rounded outwards to floats: it chooses, and does not decide.
clv_aabb clv_query_turned_box_bound( const query_turned_box* turned );

/// What follows is for boxes of floats and, the same to the bit where both have the box, for boxes of doubles.

/// Is the line as near to the box as the radius?
bool clv_query_capsule_meets( const query_capsule* capsule, const clv_aabb* box );
bool clv_query_capsule_meets64( const query_capsule* capsule, const clv_aabb64* box );

/// The first time of 0 .. end at which the capsule, moved by that many times `motion`, is so near. False if there is none. By
/// Newton's method on the distance, which is convex: from the left, never beyond the true time by more than rounding.
bool clv_query_capsule_cast(
    const query_capsule* capsule, const double motion[3], double end, const clv_aabb* box, double* time );
bool clv_query_capsule_cast64(
    const query_capsule* capsule, const double motion[3], double end, const clv_aabb64* box, double* time );
