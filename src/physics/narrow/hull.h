// SPDX-License-Identifier: MIT
#pragma once

#include "base/array.h"
#include "cleave/narrow.h"
#include "math/vec3.h"

struct clv_hull
{
    base_memory memory;

    clv_vec3* vertices;
    uint32_t vertex_count;

    uint32_t* face_starts; // face_count + 1 of them
    uint32_t* face_corners;
    clv_plane* face_planes;
    uint32_t face_count;
    uint32_t corner_count;

    uint32_t* neighbour_starts; // vertex_count + 1
    uint32_t* neighbours;       // both ways: twice edge_count
    uint32_t edge_count;

    // What hill climbing walks: the edges of the triangles before they were joined to faces. A face is flat
    // to a tolerance only; over its diagonals the climb finds the true summit. The same as neighbours where
    // all points are, exactly, on one plane.
    uint32_t* climb_starts;
    uint32_t* climbs;
    uint32_t climb_count;

    uint32_t dimension;
    float radius;
};

/// ARRAY( member, how many )
#define HULL_ARRAYS( ARRAY )                                                                                 \
    ARRAY( vertices, hull->vertex_count )                                                                    \
    ARRAY( neighbour_starts, (uint64_t)hull->vertex_count + 1 )                                              \
    ARRAY( neighbours, 2 * (uint64_t)hull->edge_count )                                                      \
    ARRAY( climb_starts, (uint64_t)hull->vertex_count + 1 )                                                  \
    ARRAY( climbs, hull->climb_count )                                                                       \
    ARRAY( face_starts, (uint64_t)hull->face_count + 1 )                                                     \
    ARRAY( face_corners, hull->corner_count )                                                                \
    ARRAY( face_planes, hull->face_count )

/// No vertex is farther from the origin.
float clv_narrow_radius( const clv_vec3* vertices, uint32_t count );

/// Corners of faces and edges, as the builder leaves them.
typedef struct hull_triangle
{
    uint32_t corners[3];
    uint32_t across[3]; // the triangle over the edge corners[i] -> corners[i + 1]
} hull_triangle;

/// A closed surface of triangles, or less. Points are named by their position in the builder's input.
typedef struct hull_mesh
{
    uint32_t dimension;
    BASE_ARRAY( hull_triangle ) triangles; // dimension 3
    uint32_t triangle_count;
    base_u32_array ring; // dimension 2: counter-clockwise from `ring_normal`, with as much room and one more
                         // behind it; 1: both ends; 0: the point
    uint32_t ring_count;
    math_vec3 ring_normal;
} hull_mesh;

/// The surface of the smallest convex set around the points, all of them finite. False if memory ran out; the
/// mesh must be given back either way.
bool clv_narrow_hull_mesh_build(
    base_memory* memory, const clv_vec3* points, uint32_t count, hull_mesh* mesh );
void clv_narrow_hull_mesh_free( base_memory* memory, hull_mesh* mesh );

/// Fills in everything but `memory` from a mesh of dimension 3 whose triangles are joined to faces where flat
/// within `tolerance`. Points that turn out to be within faces, or, within `tolerance`, on edges or on other
/// points, are needless: then nothing is filled in, `redundant` is set for them, and *redundant_count tells
/// how many; none of them is farther than *loss, which is at most HULL_LOSS * tolerance, from the hull of the
/// rest. Two faces back to back make a hull of dimension 2. With `join` false every triangle is a face, and
/// no point is needless.
bool clv_narrow_hull_fill_solid( clv_hull* hull, const clv_vec3* points, uint32_t point_count,
    const hull_mesh* mesh, double tolerance, bool join, bool* redundant, uint32_t* redundant_count,
    double* loss );

#define HULL_LOSS 4.5

/// Edges between faces, seen from points. A point with two of them is on the way from one corner to another.
typedef struct hull_outline
{
    const clv_vec3* points;
    uint32_t point_count;
    const uint32_t* degree; // by point: edges that start there
    const uint32_t* links;  // by point, two each: where they lead, if there are two
    uint32_t* seen;         // by point: UINT32_MAX before and after
    uint32_t* path;         // room for a path: point_count + 1
    bool* redundant;        // by point
} hull_outline;

/// Sets `redundant` for points of degree 2 that are not farther than the tolerance from a segment between two
/// others that stay, and clears it for the others of degree 2. Returns how far the farthest is.
double clv_narrow_hull_outline_thin( const hull_outline* outline, double tolerance );

/// The same for the outline of a mesh of dimension 2, all of whose points are on one plane; the rest of
/// `redundant` is cleared. How many are needless is set in *redundant_count.
double clv_narrow_hull_ring_thin( const clv_vec3* points, uint32_t point_count, const hull_mesh* mesh,
    double tolerance, bool* redundant, uint32_t* redundant_count );

/// Is no point farther than the tolerance from the segment between two of them? Then `redundant` is set for
/// all others.
bool clv_narrow_hull_is_straight( const clv_vec3* points, uint32_t count, double tolerance, bool* redundant );

/// As clv_narrow_hull_fill_solid for the other dimensions, where nothing needs joining.
bool clv_narrow_hull_fill_flat( clv_hull* hull, const clv_vec3* points, const hull_mesh* mesh );

/// What is wrong with the hull, as a sentence, or NULL. Debug builds ask after every build.
const char* clv_narrow_hull_check( const clv_hull* hull );
