// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/transform.h"
#include "cleave/types.h"

// Questions to a space: what overlaps this shape, what does this ray hit first, which are the eight nearest?
// Make a list of queries of one kind (clv_query_rays, clv_query_boxes, …), then ask: clv_space_query_all,
// _any, _closest, _nearest, _visit. One query is a list of one; for the common ones there are short forms at
// the end. docs/queries.md has a program for each.
//
// What is seen. The boxes as of the last good update, visit or refresh. Objects added since are not seen,
// objects moved since are seen where they were, objects removed since are never returned. Boxes are those
// that make pairs, grown by their margins; `as_given` asks about the boxes as the caller gave them. Infinite
// and flat boxes are boxes like others. All is closed, as pairs are: touching counts. Filters and user data
// are those of now.
//
// Exactness. Each kind says below which arithmetic decides; every instruction set and number of workers gives
// the same answer, bit by bit. The structure only leaves out boxes that cannot be hits.
//
// Failure. Every query of a list is checked before the first is asked: CLV_BAD_ARGUMENT for a NaN, a negative
// radius, reach or distance, an infinity where a kind says finite, a kind that a question has no meaning for;
// CLV_BAD_BOX for a box. Then *position, if it is not NULL, is that of the first bad query, and nothing was
// written. CLV_OUT_OF_MEMORY if the structure could not be made. CLV_STALE for the first query of a space if
// its boxes were changed since the last update: query, or call clv_space_refresh, before you move them.
// CLV_UNSUPPORTED for a list that is not of the space's kind: spaces of doubles and flat ones (world.h) have
// kinds of their own, in world_query.h. CLV_BUSY from inside a call that changes the space. Before the first
// update there is nothing to find, which is no failure. These calls take a const space, and clv_space_error
// does not tell of them.
//
// Threads. All but clv_space_refresh take a const space: any number of threads may ask at once between
// updates. The first to ask after an update brings the structure up to date while the others wait; call
// clv_space_refresh to choose the moment. A list of 256 queries or more is shared among the space's workers;
// if another thread has these just now, or there is a callback, the calling thread does it alone. The answer
// is the same.
//
// Cost. The structure takes about 60 bytes per object beside a copy of the boxes, 5 more where few change,
// and nothing before the first question. It is refitted after an update that moved objects, and built anew
// after one that added many, or once a sample shows that questions would visit too many nodes: they visit
// at most about twice those of a new structure, whatever has moved and however large some boxes are
// (bench/queries.md: 32,000 boxes are built in about 2 ms and refitted in 0.4 on one core). Where at most one
// object in 160 was added, removed or moved, only these cost time: 2 µs each, and 2 more for a build after
// every n / 16 of them. Once a question was asked, the first change after an update without queries copies
// the boxes that changed, or all of them where many did. A query costs O(log n + what it finds) in all but
// contrived worlds.

/// An object that was found.
typedef struct clv_hit
{
    uint32_t index; ///< its slot, as in pairs; CLV_NO_HIT where there is none
    float t;        ///< time of impact of a ray or cast, distance of a sphere or neighbour, else 0
} clv_hit;

#define CLV_NO_HIT UINT32_MAX

/// The same in a space of doubles (world_query.h).
typedef struct clv_hit64
{
    uint32_t index;
    double t;
} clv_hit64;

// ---- what is asked

/// From `origin`, `max_t` times along `direction`, which need not be of length 1. Finite but for max_t, which
/// may be infinite and then is FLT_MAX.
/// Hits are at t = 0 .. max_t; one that starts inside hits at 0; a direction of 0 is a point. For each axis
/// that moves, in float, rounded after each step: times (face - origin) * (1 / direction); hit if the last
/// entry is not after the first exit. A difference or an inverse beyond the floats is infinite, and such a
/// time is never reached.
typedef struct clv_ray
{
    clv_vec3 origin, direction;
    float max_t;
} clv_ray;

/// A box that moves by `motion` times 0 .. max_t. As a ray, with the faces of both boxes subtracted.
typedef struct clv_box_cast
{
    clv_aabb box; ///< finite
    clv_vec3 motion;
    float max_t;
} clv_box_cast;

/// All points no farther than `radius` from the line between a and b, which may be one point. In double, as
/// seen from a; where the rounding of a place on the line would decide, in twice the bits: it is off by 1e-28
/// of its distance from a at most.
typedef struct clv_capsule
{
    clv_vec3 a, b; ///< finite
    float radius;  ///< finite
} clv_capsule;

/// A sphere that moves. In double, by Newton's method; the time is then rounded to float. Any finite motion
/// and place will do, also denormal ones and those next to FLT_MAX. At the time the distance is the radius
/// but for 1e-12 of the distance at the start.
typedef struct clv_sphere_cast
{
    clv_sphere sphere; ///< finite
    clv_vec3 motion;
    float max_t;
} clv_sphere_cast;

/// A capsule that moves. As a sphere, of any length; places on its line are as good as those of a
/// clv_capsule.
typedef struct clv_capsule_cast
{
    clv_capsule capsule;
    clv_vec3 motion;
    float max_t;
} clv_capsule_cast;

/// A box turned about its centre. Finite. Separating axes in double, as seen from the centre, from the floats
/// as given; axes of edges parallel within 1e-6 are left out.
typedef struct clv_oriented_box
{
    clv_vec3 center, half_size;
    clv_quat rotation; ///< of any length; zero: not turned
} clv_oriented_box;

/// What lies on the inner side of every plane: dot( normal, p ) <= offset. A frustum has six. A box is found
/// if each plane for itself has part of it inside, so one just beyond a corner of the planes may be found
/// too, as is usual. In double. No planes at all: everything.
typedef struct clv_half_spaces
{
    const clv_plane* planes; ///< normals finite, of any length
    uint32_t count;
} clv_half_spaces;

/// What is no farther than `distance` from a box. In double, by squares; both may be infinite.
typedef struct clv_neighbourhood
{
    clv_aabb box;
    float distance;
} clv_neighbourhood;

typedef enum clv_query_kind
{
    CLV_QUERY_POINT = 1,         ///< clv_vec3
    CLV_QUERY_BOX = 2,           ///< clv_aabb
    CLV_QUERY_SPHERE = 3,        ///< clv_sphere; as a neighbourhood of its centre
    CLV_QUERY_NEIGHBOURHOOD = 4, ///< clv_neighbourhood
    CLV_QUERY_CAPSULE = 5,       ///< clv_capsule
    CLV_QUERY_ORIENTED_BOX = 6,  ///< clv_oriented_box
    CLV_QUERY_HALF_SPACES = 7,   ///< clv_half_spaces
    CLV_QUERY_RAY = 8,           ///< clv_ray
    CLV_QUERY_BOX_CAST = 9,      ///< clv_box_cast
    CLV_QUERY_SPHERE_CAST = 10,  ///< clv_sphere_cast
    CLV_QUERY_CAPSULE_CAST = 11, ///< clv_capsule_cast

    // Of flat spaces, in the same order; cleave/world_query.h has the types.
    CLV_QUERY_POINT2 = 33,         ///< clv_vec2
    CLV_QUERY_BOX2 = 34,           ///< clv_aabb2
    CLV_QUERY_CIRCLE = 35,         ///< clv_circle
    CLV_QUERY_NEIGHBOURHOOD2 = 36, ///< clv_neighbourhood2
    CLV_QUERY_CAPSULE2 = 37,       ///< clv_capsule2
    CLV_QUERY_ORIENTED_BOX2 = 38,  ///< clv_oriented_box2
    CLV_QUERY_HALF_PLANES = 39,    ///< clv_half_planes
    CLV_QUERY_RAY2 = 40,           ///< clv_ray2
    CLV_QUERY_BOX_CAST2 = 41,      ///< clv_box_cast2
    CLV_QUERY_CIRCLE_CAST = 42,    ///< clv_circle_cast
    CLV_QUERY_CAPSULE_CAST2 = 43,  ///< clv_capsule_cast2

    // Of spaces of doubles, likewise.
    CLV_QUERY_POINT64 = 65,         ///< clv_vec64
    CLV_QUERY_BOX64 = 66,           ///< clv_aabb64
    CLV_QUERY_SPHERE64 = 67,        ///< clv_sphere64
    CLV_QUERY_NEIGHBOURHOOD64 = 68, ///< clv_neighbourhood64
    CLV_QUERY_CAPSULE64 = 69,       ///< clv_capsule64
    CLV_QUERY_ORIENTED_BOX64 = 70,  ///< clv_oriented_box64
    CLV_QUERY_HALF_SPACES64 = 71,   ///< clv_half_spaces64
    CLV_QUERY_RAY64 = 72,           ///< clv_ray64
    CLV_QUERY_BOX_CAST64 = 73,      ///< clv_box_cast64
    CLV_QUERY_SPHERE_CAST64 = 74,   ///< clv_sphere_cast64
    CLV_QUERY_CAPSULE_CAST64 = 75,  ///< clv_capsule_cast64
} clv_query_kind;

/// Asked about each object that was found and passed the filter, in an order that depends on the calls alone
/// and is not the order of the answer. True: it counts. *reach is how far the query still looks, in the unit
/// of hit.t; lower it to shorten a ray on the way (0 or less: nothing beyond what is at 0). It may ask the
/// same space. With a callback one thread does all the work.
typedef bool clv_query_callback(
    const clv_space* space, uint32_t query, clv_hit hit, float* reach, void* user );

/// Queries of one kind. Made by the functions below, then changed where wanted; the arrays are the caller's
/// and only read.
typedef struct clv_queries
{
    clv_query_kind kind;
    uint32_t count;
    union ///< `count` items of the kind's type, one behind the other
    {
        const clv_vec3* points;
        const clv_aabb* boxes;
        const clv_sphere* spheres;
        const clv_neighbourhood* neighbourhoods;
        const clv_capsule* capsules;
        const clv_oriented_box* oriented_boxes;
        const clv_half_spaces* half_spaces;
        const clv_ray* rays;
        const clv_box_cast* box_casts;
        const clv_sphere_cast* sphere_casts;
        const clv_capsule_cast* capsule_casts;

        // Of flat spaces.
        const struct clv_vec2* points2;
        const struct clv_aabb2* boxes2;
        const struct clv_circle* circles;
        const struct clv_neighbourhood2* neighbourhoods2;
        const struct clv_capsule2* capsules2;
        const struct clv_oriented_box2* oriented_boxes2;
        const struct clv_half_planes* half_planes;
        const struct clv_ray2* rays2;
        const struct clv_box_cast2* box_casts2;
        const struct clv_circle_cast* circle_casts;
        const struct clv_capsule_cast2* capsule_casts2;
    };
    const clv_filter* filters;    ///< of the query, as for pairs; NULL: everything counts
    bool filter_each;             ///< filters[i] belongs to query i; otherwise filters[0] to all
    bool as_given;                ///< boxes without their margins
    clv_query_callback* callback; ///< NULL: everything counts
    void* user;                   ///< handed to it
} clv_queries;

/// A list of that kind without its items, for the functions below.
static inline clv_queries clv_query_list( clv_query_kind kind, uint32_t count )
{
    clv_queries queries = { kind, count, { CLV_NULL }, CLV_NULL, false, false, CLV_NULL, CLV_NULL };
    return queries;
}

static inline clv_queries clv_query_points( const clv_vec3* points, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_POINT, count );
    queries.points = points;
    return queries;
}

static inline clv_queries clv_query_boxes( const clv_aabb* boxes, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_BOX, count );
    queries.boxes = boxes;
    return queries;
}

static inline clv_queries clv_query_spheres( const clv_sphere* spheres, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_SPHERE, count );
    queries.spheres = spheres;
    return queries;
}

static inline clv_queries clv_query_neighbourhoods( const clv_neighbourhood* around, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_NEIGHBOURHOOD, count );
    queries.neighbourhoods = around;
    return queries;
}

static inline clv_queries clv_query_capsules( const clv_capsule* capsules, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_CAPSULE, count );
    queries.capsules = capsules;
    return queries;
}

static inline clv_queries clv_query_oriented_boxes( const clv_oriented_box* boxes, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_ORIENTED_BOX, count );
    queries.oriented_boxes = boxes;
    return queries;
}

static inline clv_queries clv_query_half_spaces( const clv_half_spaces* regions, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_HALF_SPACES, count );
    queries.half_spaces = regions;
    return queries;
}

static inline clv_queries clv_query_rays( const clv_ray* rays, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_RAY, count );
    queries.rays = rays;
    return queries;
}

static inline clv_queries clv_query_box_casts( const clv_box_cast* casts, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_BOX_CAST, count );
    queries.box_casts = casts;
    return queries;
}

static inline clv_queries clv_query_sphere_casts( const clv_sphere_cast* casts, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_SPHERE_CAST, count );
    queries.sphere_casts = casts;
    return queries;
}

static inline clv_queries clv_query_capsule_casts( const clv_capsule_cast* casts, uint32_t count )
{
    clv_queries queries = clv_query_list( CLV_QUERY_CAPSULE_CAST, count );
    queries.capsule_casts = casts;
    return queries;
}

/// The way from a to b as a ray: t is 0 at a, 1 at b. b - a is rounded to float.
static inline clv_ray clv_segment( clv_vec3 a, clv_vec3 b )
{
    clv_ray ray = { a, { b.x - a.x, b.y - a.y, b.z - a.z }, 1.0f };
    return ray;
}

// ---- asking

/// Where the hits of a list of queries go: those of query i are hits[offsets[i]] .. hits[offsets[i + 1] - 1].
typedef struct clv_query_lists
{
    uint64_t* offsets; ///< room for one more than there are queries; may be NULL for one query
    clv_hit* hits;     ///< may be NULL with a capacity of 0, to count
    uint64_t capacity; ///< of hits
    uint64_t count;    ///< out: hits that there are
    uint32_t position; ///< out: of the first bad query
} clv_query_lists;

/// Everything that each query finds, by slot. CLV_NO_ROOM if there are more hits than capacity: count and
/// offsets are right even so, hits are not; take more room and ask again. With a callback that shortens the
/// reach: what counted and is within the reach in the end.
CLV_API clv_result clv_space_query_all(
    const clv_space* space, const clv_queries* queries, clv_query_lists* lists );

/// One of what each query finds, or CLV_NO_HIT, to hits[i]: whichever comes first, which depends on the calls
/// alone. Cheapest.
CLV_API clv_result clv_space_query_any(
    const clv_space* space, const clv_queries* queries, clv_hit* hits, uint32_t* position );

/// What each ray or cast meets first, of equal times the lowest slot, to hits[i]. Rays and casts only.
CLV_API clv_result clv_space_query_closest(
    const clv_space* space, const clv_queries* queries, clv_hit* hits, uint32_t* position );

/// The k objects nearest to each point or box, none farther than max_distance, which may be infinite; of
/// equal distances (as floats) the lower slots. Those of query i at hits[i * k], nearest first; where there
/// are fewer, the rest is CLV_NO_HIT. Distance 0 inside. In double, then rounded to float. CLV_BAD_ARGUMENT
/// for other kinds. O(k) more per object that comes near.
CLV_API clv_result clv_space_query_nearest( const clv_space* space, const clv_queries* queries, uint32_t k,
    float max_distance, clv_hit* hits, uint32_t* position );

/// Receives all hits of one query, by slot, on the calling thread; the array dies when it returns. False:
/// stop.
typedef bool clv_query_visitor( uint32_t query, const clv_hit* hits, uint64_t count, void* user );

/// As clv_space_query_all without arrays of the caller's: one query after the other, on the calling thread,
/// also those that find nothing. CLV_STOPPED if the visitor said so; CLV_OUT_OF_MEMORY if the hits of one
/// query do not fit, after those before.
CLV_API clv_result clv_space_query_visit( const clv_space* space, const clv_queries* queries,
    clv_query_visitor* visitor, void* user, uint32_t* position );

/// Every pair of an object of one space and an object of another whose boxes touch and whose filters agree:
/// `a` is a slot of `first`, `b` of `second`, sorted by (a, b). Each as of its own last update. `count` is
/// how many there are; CLV_NO_ROOM if that is more than capacity, then pairs holds none. The same space
/// twice: every object with itself, and each pair both ways. (A space and an array of boxes:
/// clv_query_boxes.) Costs a box query per object of `first`, so put the smaller one there; from 256 of them
/// on the workers of `second` share it.
CLV_API clv_result clv_space_query_pairs( const clv_space* first, const clv_space* second, bool as_given,
    clv_pair* pairs, uint64_t capacity, uint64_t* count );

/// From here on queries see the boxes as they are now, without a search for pairs, and find the structure
/// ready. For programs that only query, and to choose the moment of that work. Pairs and events are left as
/// they are. CLV_OUT_OF_MEMORY: the next question tries again.
CLV_API clv_result clv_space_refresh( clv_space* space );

// ---- one question, without filters

/// What the ray meets first; false if nothing, or if the call failed.
static inline bool clv_space_cast_ray( const clv_space* space, clv_ray ray, clv_hit* hit )
{
    clv_queries queries = clv_query_rays( &ray, 1 );
    return clv_space_query_closest( space, &queries, hit, CLV_NULL ) == CLV_OK && hit->index != CLV_NO_HIT;
}

/// Is there anything on the way from a to b?
static inline bool clv_space_is_blocked( const clv_space* space, clv_vec3 a, clv_vec3 b )
{
    clv_ray ray = clv_segment( a, b );
    clv_queries queries = clv_query_rays( &ray, 1 );
    clv_hit hit;
    return clv_space_query_any( space, &queries, &hit, CLV_NULL ) == CLV_OK && hit.index != CLV_NO_HIT;
}

/// What touches the box, by slot. *count is how many; CLV_NO_ROOM if that is more than capacity.
static inline clv_result clv_space_overlap_box(
    const clv_space* space, clv_aabb box, clv_hit* hits, uint64_t capacity, uint64_t* count )
{
    clv_queries queries = clv_query_boxes( &box, 1 );
    clv_query_lists lists = { CLV_NULL, hits, capacity, 0, 0 };
    clv_result result = clv_space_query_all( space, &queries, &lists );
    *count = lists.count;
    return result;
}

/// The k nearest to a point, nearest first, at any distance.
static inline clv_result clv_space_nearest(
    const clv_space* space, clv_vec3 point, uint32_t k, float max_distance, clv_hit* hits )
{
    clv_queries queries = clv_query_points( &point, 1 );
    return clv_space_query_nearest( space, &queries, k, max_distance, hits, CLV_NULL );
}
