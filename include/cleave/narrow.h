// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/transform.h"
#include "cleave/types.h"

// The narrow phase: takes two convex shapes and answers whether they touch, how far apart they are, or how
// deep they overlap and where. It takes what a broad phase let through: clv_space_pairs.
//
// Shapes and transforms are float, the work between is done in double. No call allocates but
// clv_hull_create*. Nothing here keeps state between calls except the caches callers hand over, so any number
// of threads may ask at once. The same calls give the same answers, bit by bit, with every compiler and on
// every machine. Closed, as everywhere in the library: shapes that only just touch do touch.

// ---- hulls

/// A convex polyhedron: vertices, flat faces, and the neighbours of each vertex. Never changes, so shapes and
/// threads share it.
typedef struct clv_hull clv_hull;

/// What to build a hull from. Start from clv_default_hull_def.
typedef struct clv_hull_def
{
    uint32_t size;           ///< sizeof( clv_hull_def ), set by the default function
    uint32_t cookie;         ///< proof that the default function was called
    const clv_vec3* points;  ///< in any order; duplicates and inner points are allowed; not kept
    uint32_t point_count;    ///< at least 1
    clv_allocator allocator; ///< zero: the C library's
    clv_logger logger;       ///< zero: silence
} clv_hull_def;

CLV_API clv_hull_def clv_default_hull_def( void );

/// The smallest convex polyhedron around the points. Which points are on its surface is decided exactly; then
/// neighbouring triangles that are flat to 2^-20 of the largest coordinate (of half the longest side of the
/// points' box, where that is less) become one face, and points that are corners of nothing by that measure
/// are left out. Every given point lies within 1e-5 of the cloud's diameter of the hull, also if the cloud is
/// nearly flat or straight or far from the origin. Points on one plane, line or spot, exactly or by that
/// measure, are no error: the hull has the dimension 2, 1 or 0 and works in every query. CLV_BAD_ARGUMENT for
/// no points, and for NaN or infinity among them (the logger gets the position); CLV_BAD_DEF,
/// CLV_OUT_OF_MEMORY. Then *hull is NULL.
CLV_API clv_result clv_hull_create( const clv_hull_def* def, clv_hull** hull );

/// Solids around the origin that reach to `half_size` along each axis; all three must be finite and > 0.
/// Truncated octahedron: 24 vertices, 14 faces. Rhombicuboctahedron: 24 vertices, 26 faces. Unequal sizes
/// stretch them.
CLV_API clv_result clv_hull_create_box( clv_vec3 half_size, clv_hull** hull );
CLV_API clv_result clv_hull_create_truncated_octahedron( clv_vec3 half_size, clv_hull** hull );
CLV_API clv_result clv_hull_create_rhombicuboctahedron( clv_vec3 half_size, clv_hull** hull );

/// No shape may use it any more. NULL is legal.
CLV_API void clv_hull_destroy( clv_hull* hull );

/// What a hull is made of. Owns nothing; lives as long as the hull.
/// Face f has the corners face_corners[face_starts[f]] .. [face_starts[f + 1] - 1], counter-clockwise from
/// outside. Vertex v has the neighbours neighbours[neighbour_starts[v]] .. , one for each edge, ascending. A
/// hull of dimension 2 has two faces back to back; of dimension 1, two vertices and an edge; of 0, a vertex.
typedef struct clv_hull_view
{
    const clv_vec3* vertices; ///< some of the points: in their order for a solid, around a polygon
    const uint32_t* face_starts;
    const uint32_t* face_corners;
    const clv_plane* face_planes;
    const uint32_t* neighbour_starts;
    const uint32_t* neighbours;
    uint32_t vertex_count;
    uint32_t edge_count;
    uint32_t face_count;
    uint32_t dimension; ///< 3 for a solid
    float radius;       ///< no vertex is farther from the hull's own origin
} clv_hull_view;

CLV_API clv_hull_view clv_hull_get_view( const clv_hull* hull );

// ---- shapes

typedef enum clv_shape_kind
{
    CLV_SHAPE_SPHERE = 0, ///< the core is a point
    CLV_SHAPE_BOX = 1,
    CLV_SHAPE_HULL = 2,
} clv_shape_kind;

/// A core and a skin: everything within `radius` of the core, around the shape's own origin. Passed by value.
/// A segment hull with a radius is a capsule; a box with one has round edges.
typedef struct clv_shape
{
    clv_shape_kind kind;
    float radius;         ///< finite, >= 0
    clv_vec3 half_size;   ///< of a box; finite, >= 0
    const clv_hull* hull; ///< of a hull; must outlive the shape
} clv_shape;

static inline clv_shape clv_sphere_shape( float radius )
{
    clv_shape shape = { CLV_SHAPE_SPHERE, radius, { 0.0f, 0.0f, 0.0f }, CLV_NULL };
    return shape;
}

static inline clv_shape clv_box_shape( clv_vec3 half_size )
{
    clv_shape shape = { CLV_SHAPE_BOX, 0.0f, half_size, CLV_NULL };
    return shape;
}

static inline clv_shape clv_hull_shape( const clv_hull* hull )
{
    clv_shape shape = { CLV_SHAPE_HULL, 0.0f, { 0.0f, 0.0f, 0.0f }, hull };
    return shape;
}

/// CLV_OK, or CLV_BAD_ARGUMENT for a kind that is none, a size or radius that is negative or not finite, or
/// no hull where one belongs. Every query asks this of its shapes, and finite numbers of its transforms.
CLV_API clv_result clv_shape_check( clv_shape shape );

// ---- queries

/// Where the last search between two shapes ended. Zero it before the first query, then hand it in again
/// while the same two shapes, in the same order, move a little: the search starts where it ended and takes
/// fewer rounds. The answer stays the same up to rounding. May be NULL. One cache belongs to one pair and one
/// thread.
typedef struct clv_pair_cache
{
    uint32_t count; ///< 0: nothing known
    uint32_t a[4], b[4];
} clv_pair_cache;

/// The nearest points of two shapes.
typedef struct clv_distance
{
    bool touching;        ///< then distance is 0 and the points are some common point
    bool converged;       ///< false: the search ran out of rounds, `distance` is an upper bound
    float distance;       ///< metres between the surfaces
    clv_vec3 point_a;     ///< on a, in world coordinates
    clv_vec3 point_b;     ///< on b
    clv_vec3 normal;      ///< unit, from a to b; zero where they touch
    uint32_t round_count; ///< points of the difference that were looked at (GJK)
} clv_distance;

/// How far apart are they? Overlapping shapes are at distance 0; ask clv_shape_contact how deep.
CLV_API clv_result clv_shape_distance( clv_shape a, clv_transform at_a, clv_shape b, clv_transform at_b,
    clv_pair_cache* cache, clv_distance* distance );

/// Do they touch? Quicker than the distance: it ends at the first plane found between them.
CLV_API clv_result clv_shape_overlap(
    clv_shape a, clv_transform at_a, clv_shape b, clv_transform at_b, clv_pair_cache* cache, bool* touching );

/// How two shapes overlap: the shortest move that parts them.
typedef struct clv_contact
{
    bool touching;    ///< false: nothing else is set but gjk_round_count
    bool converged;   ///< false: `depth` parts the shapes all right, but a shorter move may exist
    float depth;      ///< metres, >= 0
    clv_vec3 normal;  ///< unit; moving b by depth * normal (or a the other way) leaves them just touching
    clv_vec3 point_a; ///< the point of a deepest in b, and
    clv_vec3 point_b; ///< that of b deepest in a: point_a - point_b = depth * normal
    uint32_t gjk_round_count; ///< points looked at to find that they touch
    uint32_t epa_round_count; ///< points looked at to find how
} clv_contact;

CLV_API clv_result clv_shape_contact( clv_shape a, clv_transform at_a, clv_shape b, clv_transform at_b,
    clv_pair_cache* cache, clv_contact* contact );

/// A shape against everything below a plane (a floor): one extreme point and no search. The shape is a, the
/// half-space b, so the normal is that of the plane turned round, and point_b is on the plane.
CLV_API clv_result clv_shape_plane_contact(
    clv_shape a, clv_transform at_a, clv_plane plane, clv_contact* contact );

/// The point of the shape farthest in a direction (world coordinates, any length but 0), on its skin.
CLV_API clv_result clv_shape_support(
    clv_shape shape, clv_transform at, clv_vec3 direction, clv_vec3* point );

/// The box around a shape that stands somewhere, for a space: rounded outwards, so that it contains the shape
/// to the last bit. CLV_BAD_ARGUMENT for a shape or transform that the narrow phase would refuse.
CLV_API clv_result clv_shape_aabb( clv_shape shape, clv_transform at, clv_aabb* aabb );
