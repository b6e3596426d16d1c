// SPDX-License-Identifier: MIT
#include "lab/frame/frame_stats.h"

#include "base/bits.h"

#include <math.h>

#define STATIC_SHARE_OF_SIDE 0.01

// The six faces as numbers: lower x y z, upper x y z.
static void faces_of( const clv_aabb* box, double faces[6] )
{
    faces[0] = (double)box->lower.x, faces[1] = (double)box->lower.y, faces[2] = (double)box->lower.z;
    faces[3] = (double)box->upper.x, faces[4] = (double)box->upper.y, faces[5] = (double)box->upper.z;
}

static bool is_static( const clv_aabb* before, const clv_aabb* after )
{
    double old_faces[6], new_faces[6];
    faces_of( before, old_faces );
    faces_of( after, new_faces );
    double sum = 0;
    int finite_count = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double side = old_faces[axis + 3] - old_faces[axis];
        if ( base_is_finite( side ) )
        {
            sum += side;
            finite_count += 1;
        }
    }
    double allowed = finite_count > 0 ? STATIC_SHARE_OF_SIDE * sum / finite_count : 0;
    for ( int face = 0; face < 6; ++face )
    {
        // An infinite face that stays has moved by nothing, not by NaN.
        if ( new_faces[face] != old_faces[face] && !( fabs( new_faces[face] - old_faces[face] ) <= allowed ) )
        {
            return false;
        }
    }
    return true;
}

double frame_static_share( const clv_aabb* before, const clv_aabb* after, uint32_t count )
{
    uint32_t static_count = 0;
    for ( uint32_t index = 0; index < count; ++index )
    {
        static_count += is_static( &before[index], &after[index] ) ? 1 : 0;
    }
    return count > 0 ? (double)static_count / (double)count : 0;
}

frame_stats frame_stats_of( const clv_aabb* boxes, uint32_t count, clv_aabb world )
{
    frame_stats stats = { .size_min = INFINITY, .size_max = 0 };
    double bounds[6];
    faces_of( &world, bounds );
    double sum = 0;
    uint64_t finite_count = 0;
    for ( uint32_t index = 0; index < count; ++index )
    {
        double faces[6];
        faces_of( &boxes[index], faces );
        bool is_inside = true;
        for ( int axis = 0; axis < 3; ++axis )
        {
            double side = faces[axis + 3] - faces[axis];
            double centre =
                0.5 * ( faces[axis] + faces[axis + 3] ); // NaN for a whole axis: neither in nor out
            stats.size_min = side < stats.size_min ? side : stats.size_min;
            stats.size_max = side > stats.size_max ? side : stats.size_max;
            is_inside = is_inside && !( centre < bounds[axis] ) && !( centre > bounds[axis + 3] );
            sum += base_is_finite( side ) ? side : 0;
            finite_count += base_is_finite( side ) ? 1 : 0;
        }
        stats.outside_world += is_inside ? 0 : 1;
    }
    stats.size_mean = finite_count > 0 ? sum / (double)finite_count : 0;
    return stats;
}
