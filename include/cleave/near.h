// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/types.h"

// Points within reach: all pairs of points that are closer than a cutoff, for particles, atoms, crowds.
// Since 0.2.0.
//
//   clv_near_def def = clv_default_near_def();
//   def.cutoff = 2.5;
//   clv_near_create( &def, &near );
//   clv_near_points points = { .positions = xyz, .stride = 12, .count = n };
//   clv_near_update( near, &points, NULL );       // each step
//   clv_near_view list = clv_near_list( near );   // list.pairs[0 .. list.count)
//
// Exactly: T is float, or double where the def says `doubles`; every operation is rounded to T. Points a and
// b are a pair if dx * dx + dy * dy + dz * dz <= limit * limit, from left to right, where dx = b.x - a.x, and
// limit = cutoff + skin, or ( radius a + radius b ) + ( cutoff + skin ) where points have radii. Closed: a
// distance equal to the limit counts. Flat points have z = 0.
//
// In a periodic cell a point p is first wrapped: s = p * inverse of the cell, w = floor( s ) on periodic axes
// and 0 on others, and where w is not 0, q = p - w * cell, in double and then rounded to T, until w is 0. The
// image of b by a shift S is q.x + ( S * cell ).x, the product in double and rounded to T; dx = image of b
// minus q of a, where the first number of S that is not 0 is positive. The other direction, -S, has the same
// distance and the opposite vector. Points meet all images within the limit, their own too, so a cell may be
// as small as it likes.
//
// Order: a function of the arguments alone; the same for every worker_count and instruction set.

/// Keeps what one list needs from step to step. One thread owns it; several may have one each.
typedef struct clv_near clv_near;

/// A cell of three edges, from the origin. Edges of axes that are not periodic are not read.
typedef struct clv_near_cell
{
    double edges[3][3]; ///< edges[0] is the first edge as x, y, z
    bool periodic[3];   ///< along each edge
} clv_near_cell;

/// Settings, copied on create. Start from clv_default_near_def and change what you need.
typedef struct clv_near_def
{
    uint32_t size;   ///< sizeof( clv_near_def ), set by the default function
    uint32_t cookie; ///< proof that the default function was called
    double cutoff;   ///< finite, >= 0; used as T
    double skin; ///< finite, >= 0: pairs up to cutoff + skin are listed, and the list is kept while it may be
    bool doubles;            ///< points, radii and distances in double
    bool flat;               ///< points of two numbers
    bool full;               ///< each pair from both sides; else once
    bool by_point;           ///< as offsets and indices; else as pairs
    bool squared;            ///< squared distances beside the list
    bool vectors;            ///< vectors from the first point to the second
    bool shifts;             ///< cell shifts of the second point
    uint64_t max_pairs;      ///< an update that finds more fails with CLV_TOO_MANY_PAIRS; 0: no limit
    clv_isa isa;             ///< instruction set; CLV_ISA_AUTO unless you compare
    uint32_t worker_count;   ///< threads that may share a large call, the caller's included; 1: no other
    clv_task_hooks tasks;    ///< zero: threads of our own, where worker_count asks for them
    clv_allocator allocator; ///< zero: the C library's
    clv_logger logger;       ///< zero: silence
} clv_near_def;

CLV_API clv_near_def clv_default_near_def( void );

/// CLV_BAD_DEF, CLV_UNSUPPORTED (instruction set) or CLV_OUT_OF_MEMORY leave *near NULL.
CLV_API clv_result clv_near_create( const clv_near_def* def, clv_near** near );

/// NULL is legal.
CLV_API void clv_near_destroy( clv_near* near );

/// The points of one call; nothing of it is kept. All zero but for positions, stride and count is legal.
typedef struct clv_near_points
{
    const float* positions;    ///< point i begins i * stride bytes further; any alignment,
    const double* positions64; ///< or this where the def says `doubles`; the other NULL
    size_t stride;             ///< bytes, at least those of one point
    uint32_t count;            ///< at most CLV_MAX_OBJECTS
    const float* radii;        ///< one after the other; finite, >= 0; NULL: all 0
    const double* radii64;     ///< or this
    /// two points of one group other than 0 are no pair, nor are their images; NULL: none
    const uint32_t* groups;
    const clv_near_cell* cell; ///< NULL: open space
} clv_near_points;

/// Pairs that are never listed, nor any of their images: bonds. In any order, as often as you like; replaces
/// those of the last call, and the next update makes the list anew. CLV_BAD_ARGUMENT with the position of a
/// pair of one point with itself; CLV_OUT_OF_MEMORY. Indices beyond the points are ignored.
CLV_API clv_result clv_near_exclude( clv_near* near, const clv_pair* pairs, uint64_t count );

/// List the pairs. With a skin the last list is kept, its order and shifts too, while the same number of
/// points, in the same cell with the same radii and groups, each lie within half the skin of where they were
/// when it was made; its distances and vectors are those of the points now. *is_new (may be NULL) tells
/// whether it was made anew. CLV_BAD_ARGUMENT: with the position of a point that is NaN, infinite, or too far
/// from the cell for a shift of 31 bits, or of a radius that is negative or not finite; without one for a
/// stride, a count, a cell that is singular, not finite, or so skewed that it has more than 100,000 images of
/// a point around the limit and a thousand times as many as within it (the same lattice has shorter edges), a
/// limit whose square T cannot hold. These leave the last list as it was. CLV_OUT_OF_MEMORY,
/// CLV_TOO_MANY_PAIRS, CLV_TOO_MANY_OBJECTS (points and images beyond CLV_MAX_OBJECTS): there is no list
/// then.
CLV_API clv_result clv_near_update( clv_near* near, const clv_near_points* points, bool* is_new );

/// The list of the last update. Owns nothing; dies at the next update, visit or destroy.
typedef struct clv_near_view
{
    uint64_t count; ///< entries
    /// a < b, or a = b for a point and its image; with `full` by ascending a; NULL with by_point
    const clv_pair* pairs;
    /// neighbours of point i: entries from offsets[i] up to offsets[i + 1]; with by_point
    const uint64_t* offsets;
    /// the second point of each entry; with by_point. Half lists have them at the lesser point
    const uint32_t* indices;
    const float* squared;    ///< where the def asks for them, and the points are floats
    const double* squared64; ///< or doubles
    const float* vectors;    ///< three for each entry, likewise
    const double* vectors64;
    /// three for each entry: the vector is b + shift * cell - a, of the points as given
    const int32_t* shifts;
    uint32_t point_count;
    bool valid; ///< false before the first update, after a failed one that says so, and after a visit
} clv_near_view;

CLV_API clv_near_view clv_near_list( const clv_near* near );

/// The same without a list, for more pairs than memory holds: the visitor sees entries in chunks, in the
/// order of the list of an update, as pairs, with squared distances, vectors and shifts where the def asks
/// for them. The view's arrays die when it returns; false stops (CLV_STOPPED). A skin counts as part of the
/// cutoff. CLV_UNSUPPORTED with `full` or `by_point`, which need the list.
typedef bool clv_near_visitor( const clv_near_view* entries, void* user );
CLV_API clv_result clv_near_visit(
    clv_near* near, const clv_near_points* points, clv_near_visitor* visitor, void* user );

/// What the last call that can fail answered, in detail. The text lives until the next such call.
CLV_API clv_error clv_near_error( const clv_near* near );

/// Counters of the last update or visit.
typedef struct clv_near_stats
{
    uint64_t pair_count; ///< before `full` doubles them
    uint64_t test_count; ///< pairs of points in cells, or boxes, near each other
    uint32_t point_count;
    uint32_t image_count;      ///< copies of points across periodic faces, made where boxes were searched
    uint32_t cell_count;       ///< of the grid; 0 where boxes were searched
    uint64_t made_count;       ///< lists made anew so far; the other updates kept one
    size_t memory_bytes;       ///< held now
    uint64_t allocation_count; ///< calls of the allocate hook so far
} clv_near_stats;

CLV_API clv_near_stats clv_near_get_stats( const clv_near* near );
