// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/query.h"
#include "cleave/world.h"

// Questions to flat worlds and big ones (world.h). All that query.h says of what is seen, of exactness,
// failure, threads and order holds here too. Items are of types of their own, and a list of them has a kind
// of its own: a flat space takes the kinds that end in 2, a space of doubles those that end in 64, any other
// space those of query.h. CLV_UNSUPPORTED for a list of another kind than the space's. clv_space_query_pairs
// and clv_space_refresh are the same for all; both spaces must be of one kind.

// ---- two axes
//
// The calls of query.h, from clv_space_query_all to clv_space_query_visit, with these items. The arithmetic
// is that of the item of three axes, with z left out.

/// clv_sphere in the plane.
typedef struct clv_circle
{
    clv_vec2 center;
    float radius;
} clv_circle;

/// clv_neighbourhood in the plane.
typedef struct clv_neighbourhood2
{
    clv_aabb2 box;
    float distance;
} clv_neighbourhood2;

/// clv_capsule in the plane.
typedef struct clv_capsule2
{
    clv_vec2 a, b;
    float radius;
} clv_capsule2;

/// clv_oriented_box in the plane. `turn` is where its first side points, as ( cos, sin ) of the angle and of
/// any length; zero: not turned.
typedef struct clv_oriented_box2
{
    clv_vec2 center, half_size, turn;
} clv_oriented_box2;

/// dot( normal, p ) <= offset, as clv_plane.
typedef struct clv_half_plane
{
    clv_vec2 normal;
    float offset;
} clv_half_plane;

/// clv_half_spaces in the plane.
typedef struct clv_half_planes
{
    const clv_half_plane* planes; ///< normals finite, of any length
    uint32_t count;
} clv_half_planes;

/// clv_ray in the plane.
typedef struct clv_ray2
{
    clv_vec2 origin, direction;
    float max_t;
} clv_ray2;

/// clv_box_cast in the plane.
typedef struct clv_box_cast2
{
    clv_aabb2 box;
    clv_vec2 motion;
    float max_t;
} clv_box_cast2;

/// clv_sphere_cast in the plane.
typedef struct clv_circle_cast
{
    clv_circle circle;
    clv_vec2 motion;
    float max_t;
} clv_circle_cast;

/// clv_capsule_cast in the plane.
typedef struct clv_capsule_cast2
{
    clv_capsule2 capsule;
    clv_vec2 motion;
    float max_t;
} clv_capsule_cast2;

static inline clv_queries clv_query_points2( const clv_vec2* points, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_POINT2, count );
    queries.points2 = points;
    return queries;
}

static inline clv_queries clv_query_boxes2( const clv_aabb2* boxes, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_BOX2, count );
    queries.boxes2 = boxes;
    return queries;
}

static inline clv_queries clv_query_circles( const clv_circle* circles, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_CIRCLE, count );
    queries.circles = circles;
    return queries;
}

static inline clv_queries clv_query_neighbourhoods2( const clv_neighbourhood2* around, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_NEIGHBOURHOOD2, count );
    queries.neighbourhoods2 = around;
    return queries;
}

static inline clv_queries clv_query_capsules2( const clv_capsule2* capsules, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_CAPSULE2, count );
    queries.capsules2 = capsules;
    return queries;
}

static inline clv_queries clv_query_oriented_boxes2( const clv_oriented_box2* boxes, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_ORIENTED_BOX2, count );
    queries.oriented_boxes2 = boxes;
    return queries;
}

static inline clv_queries clv_query_half_planes( const clv_half_planes* regions, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_HALF_PLANES, count );
    queries.half_planes = regions;
    return queries;
}

static inline clv_queries clv_query_rays2( const clv_ray2* rays, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_RAY2, count );
    queries.rays2 = rays;
    return queries;
}

static inline clv_queries clv_query_box_casts2( const clv_box_cast2* casts, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_BOX_CAST2, count );
    queries.box_casts2 = casts;
    return queries;
}

static inline clv_queries clv_query_circle_casts( const clv_circle_cast* casts, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_CIRCLE_CAST, count );
    queries.circle_casts = casts;
    return queries;
}

static inline clv_queries clv_query_capsule_casts2( const clv_capsule_cast2* casts, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_CAPSULE_CAST2, count );
    queries.capsule_casts2 = casts;
    return queries;
}

/// The way from a to b as a ray: t is 0 at a, 1 at b. b - a is rounded to float.
static inline clv_ray2 clv_segment2( clv_vec2 a, clv_vec2 b )
{
    clv_ray2 ray = { a, { b.x - a.x, b.y - a.y }, 1.0f };
    return ray;
}

// ---- doubles
//
// Items, times and distances are doubles, and so the calls are others: clv_space_query_all64 to
// clv_space_query_visit64. Exactness is that of query.h with double in place of float: a time of impact at
// 10^9 metres is as good as doubles are there. Shapes with a centre or a start are computed relative to it,
// so what lies near the query is as exact as near 0.
//
// The coordinates, motions and radii of capsules, of sphere and capsule casts and of oriented boxes, and the
// normals and origins of half-spaces, are 1e150 at most, CLV_BAD_ARGUMENT otherwise; these shapes do not
// reach a box that is 1e150 or more away, but for half-spaces, which see faces that are farther as if they
// were at 1e150. Motions of sphere and capsule casts below 1e-300 count as 0; what the box around a capsule
// or a cast, larger by a billionth, does not meet on its way is not met.

/// clv_plane in double.
typedef struct clv_plane64
{
    clv_vec64 normal;
    double offset;
} clv_plane64;

/// clv_sphere in double. As a neighbourhood of its centre.
typedef struct clv_sphere64
{
    clv_vec64 center;
    double radius;
} clv_sphere64;

/// clv_neighbourhood in double. Found is what has sqrt( x * x + y * y + z * z ) <= distance, where x, y, z
/// are the gaps between the two boxes on the axes; each step rounded, and none overflows or underflows on the
/// way.
typedef struct clv_neighbourhood64
{
    clv_aabb64 box;
    double distance;
} clv_neighbourhood64;

/// clv_capsule in double. From `a`: faces and b count less a, without rounding where that would decide.
typedef struct clv_capsule64
{
    clv_vec64 a, b;
    double radius;
} clv_capsule64;

/// clv_oriented_box in double. From its centre.
typedef struct clv_oriented_box64
{
    clv_vec64 center, half_size;
    clv_quat rotation; ///< of any length; zero: not turned
} clv_oriented_box64;

/// clv_half_spaces in double, and from a place of the caller's: dot( normal, p - origin ) <= offset. A
/// frustum's is its eye.
typedef struct clv_half_spaces64
{
    clv_vec64 origin;
    const clv_plane64* planes; ///< normals finite, of any length
    uint32_t count;
} clv_half_spaces64;

/// clv_ray in double; an infinite max_t is DBL_MAX.
typedef struct clv_ray64
{
    clv_vec64 origin, direction;
    double max_t;
} clv_ray64;

/// clv_box_cast in double.
typedef struct clv_box_cast64
{
    clv_aabb64 box;
    clv_vec64 motion;
    double max_t;
} clv_box_cast64;

/// clv_sphere_cast in double. From its centre; the time is not rounded any more. At that time the distance is
/// the radius but for 1e-12 of the distance at the start, and for a rounding of the time.
typedef struct clv_sphere_cast64
{
    clv_sphere64 sphere;
    clv_vec64 motion;
    double max_t;
} clv_sphere_cast64;

/// clv_capsule_cast in double. From `a`. Of any length, also of 1e15 radii and without a radius: a place on
/// its line is off by 1e-28 of its distance from a at most.
typedef struct clv_capsule_cast64
{
    clv_capsule64 capsule;
    clv_vec64 motion;
    double max_t;
} clv_capsule_cast64;

/// clv_query_callback in double.
typedef bool clv_query_callback64(
    const clv_space* space, uint32_t query, clv_hit64 hit, double* reach, void* user );

/// clv_queries in double: lists of kinds that end in 64.
typedef struct clv_queries64
{
    clv_query_kind kind;
    uint32_t count;
    union ///< `count` items of the kind's type, one behind the other
    {
        const clv_vec64* points;
        const clv_aabb64* boxes;
        const clv_sphere64* spheres;
        const clv_neighbourhood64* neighbourhoods;
        const clv_capsule64* capsules;
        const clv_oriented_box64* oriented_boxes;
        const clv_half_spaces64* half_spaces;
        const clv_ray64* rays;
        const clv_box_cast64* box_casts;
        const clv_sphere_cast64* sphere_casts;
        const clv_capsule_cast64* capsule_casts;
    };
    const clv_filter* filters;
    bool filter_each;
    bool as_given;
    clv_query_callback64* callback;
    void* user;
} clv_queries64;

/// A list of that kind without its items, for the functions below.
static inline clv_queries64 clv_query_list64( clv_query_kind kind, uint32_t count )
{
    clv_queries64 queries = { kind, count, { CLV_NULL }, CLV_NULL, false, false, CLV_NULL, CLV_NULL };
    return queries;
}

static inline clv_queries64 clv_query_points64( const clv_vec64* points, uint32_t count )
{
    clv_queries64 queries = clv_query_list64( CLV_QUERY_POINT64, count );
    queries.points = points;
    return queries;
}

static inline clv_queries64 clv_query_boxes64( const clv_aabb64* boxes, uint32_t count )
{
    clv_queries64 queries = clv_query_list64( CLV_QUERY_BOX64, count );
    queries.boxes = boxes;
    return queries;
}

static inline clv_queries64 clv_query_spheres64( const clv_sphere64* spheres, uint32_t count )
{
    clv_queries64 queries = clv_query_list64( CLV_QUERY_SPHERE64, count );
    queries.spheres = spheres;
    return queries;
}

static inline clv_queries64 clv_query_neighbourhoods64( const clv_neighbourhood64* around, uint32_t count )
{
    clv_queries64 queries = clv_query_list64( CLV_QUERY_NEIGHBOURHOOD64, count );
    queries.neighbourhoods = around;
    return queries;
}

static inline clv_queries64 clv_query_capsules64( const clv_capsule64* capsules, uint32_t count )
{
    clv_queries64 queries = clv_query_list64( CLV_QUERY_CAPSULE64, count );
    queries.capsules = capsules;
    return queries;
}

static inline clv_queries64 clv_query_oriented_boxes64( const clv_oriented_box64* boxes, uint32_t count )
{
    clv_queries64 queries = clv_query_list64( CLV_QUERY_ORIENTED_BOX64, count );
    queries.oriented_boxes = boxes;
    return queries;
}

static inline clv_queries64 clv_query_half_spaces64( const clv_half_spaces64* regions, uint32_t count )
{
    clv_queries64 queries = clv_query_list64( CLV_QUERY_HALF_SPACES64, count );
    queries.half_spaces = regions;
    return queries;
}

static inline clv_queries64 clv_query_rays64( const clv_ray64* rays, uint32_t count )
{
    clv_queries64 queries = clv_query_list64( CLV_QUERY_RAY64, count );
    queries.rays = rays;
    return queries;
}

static inline clv_queries64 clv_query_box_casts64( const clv_box_cast64* casts, uint32_t count )
{
    clv_queries64 queries = clv_query_list64( CLV_QUERY_BOX_CAST64, count );
    queries.box_casts = casts;
    return queries;
}

static inline clv_queries64 clv_query_sphere_casts64( const clv_sphere_cast64* casts, uint32_t count )
{
    clv_queries64 queries = clv_query_list64( CLV_QUERY_SPHERE_CAST64, count );
    queries.sphere_casts = casts;
    return queries;
}

static inline clv_queries64 clv_query_capsule_casts64( const clv_capsule_cast64* casts, uint32_t count )
{
    clv_queries64 queries = clv_query_list64( CLV_QUERY_CAPSULE_CAST64, count );
    queries.capsule_casts = casts;
    return queries;
}

/// The way from a to b as a ray: t is 0 at a, 1 at b. b - a is rounded.
static inline clv_ray64 clv_segment64( clv_vec64 a, clv_vec64 b )
{
    clv_ray64 ray = { a, { b.x - a.x, b.y - a.y, b.z - a.z }, 1.0 };
    return ray;
}

/// clv_query_lists in double.
typedef struct clv_query_lists64
{
    uint64_t* offsets; ///< room for one more than there are queries; may be NULL for one query
    clv_hit64* hits;   ///< may be NULL with a capacity of 0, to count
    uint64_t capacity; ///< of hits
    uint64_t count;    ///< out: hits that there are
    uint32_t position; ///< out: of the first bad query
} clv_query_lists64;

/// clv_query_visitor in double.
typedef bool clv_query_visitor64( uint32_t query, const clv_hit64* hits, uint64_t count, void* user );

/// clv_space_query_all in a space of doubles, with kinds that end in 64; likewise below.
CLV_API clv_result clv_space_query_all64(
    const clv_space* space, const clv_queries64* queries, clv_query_lists64* lists );

/// clv_space_query_any.
CLV_API clv_result clv_space_query_any64(
    const clv_space* space, const clv_queries64* queries, clv_hit64* hits, uint32_t* position );

/// clv_space_query_closest.
CLV_API clv_result clv_space_query_closest64(
    const clv_space* space, const clv_queries64* queries, clv_hit64* hits, uint32_t* position );

/// clv_space_query_nearest; distances are equal as doubles.
CLV_API clv_result clv_space_query_nearest64( const clv_space* space, const clv_queries64* queries,
    uint32_t k, double max_distance, clv_hit64* hits, uint32_t* position );

/// clv_space_query_visit.
CLV_API clv_result clv_space_query_visit64( const clv_space* space, const clv_queries64* queries,
    clv_query_visitor64* visitor, void* user, uint32_t* position );
