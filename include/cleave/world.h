// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/space.h"

// Big worlds and flat ones.
//
// A float has 24 bits: at 10^9 metres neighbouring floats are 64 metres apart, and boxes of a metre would
// have to be rounded outwards to meet half a town. A space whose def says `doubles` keeps its boxes in double
// and decides every pair there: at 10^9 metres a double tells tenths of a micrometre apart.
//
//   clv_space_def def = clv_default_space_def();
//   def.doubles = true;
//   clv_space_create( &def, &space );
//   clv_space_add64( space, boxes, count, ids );    // then clv_space_move64 ->
//                                                   clv_space_update -> clv_space_pairs
//
// Everything else of space.h holds: ids, user data, filters, margins, events, order, limits, visits, workers,
// methods. Only boxes go in and out by calls of their own (clv_space_add_with takes all kinds):
// clv_space_add, clv_space_move, clv_space_get_box and clv_space_get_test_box answer CLV_UNSUPPORTED there,
// as those do in another space. Motions are those of clv_space_set_motion, in float, in every space.
// Questions are in world_query.h. docs/boxes.md tells how it works, and what it costs.

// ---- boxes in double

/// A point or a vector in double.
typedef struct clv_vec64
{
    double x, y, z;
} clv_vec64;

/// clv_aabb in double, 48 bytes, under the same rules: closed, lower <= upper on every axis, infinities are
/// legal, NaN is not.
typedef struct clv_aabb64
{
    clv_vec64 lower, upper;
} clv_aabb64;

/// Is this a box the library takes? False for NaN anywhere and for lower > upper.
static inline bool clv_aabb64_is_valid( clv_aabb64 box )
{
    return box.lower.x <= box.upper.x && box.lower.y <= box.upper.y && box.lower.z <= box.upper.z;
}

/// What a space of doubles answers for two boxes. Touching faces, edges and corners count.
static inline bool clv_aabb64_overlap( clv_aabb64 a, clv_aabb64 b )
{
    return a.lower.x <= b.upper.x && b.lower.x <= a.upper.x && // x
        a.lower.y <= b.upper.y && b.lower.y <= a.upper.y &&    // y
        a.lower.z <= b.upper.z && b.lower.z <= a.upper.z;      // z
}

/// The box moved outwards by `margin` on every side, in double. With a margin of 0 the box comes back bit by
/// bit.
static inline clv_aabb64 clv_aabb64_grow( clv_aabb64 box, double margin )
{
    if ( margin != 0.0 )
    {
        box.lower.x -= margin;
        box.lower.y -= margin;
        box.lower.z -= margin;
        box.upper.x += margin;
        box.upper.y += margin;
        box.upper.z += margin;
    }
    return box;
}

/// clv_space_add with boxes in double. CLV_UNSUPPORTED too, in a space whose def did not say `doubles`.
CLV_API clv_result clv_space_add64( clv_space* space, const clv_aabb64* boxes, uint32_t count, clv_id* ids );

/// clv_space_move with boxes in double, fastest in the order of their indices. CLV_UNSUPPORTED as above.
CLV_API clv_result clv_space_move64(
    clv_space* space, const clv_id* ids, const clv_aabb64* boxes, uint32_t count );

/// clv_space_move_all with boxes in double. CLV_UNSUPPORTED as above. Since 0.2.0.
CLV_API clv_result clv_space_move_all64( clv_space* space, const clv_aabb64* boxes, uint32_t count );

/// All three from memory of another shape; the last since 0.2.0. CLV_BAD_ARGUMENT too, for a stride below 24.
CLV_API clv_result clv_space_add_strided64(
    clv_space* space, clv_box_stream64 boxes, uint32_t count, clv_id* ids );
CLV_API clv_result clv_space_move_strided64(
    clv_space* space, const clv_id* ids, clv_box_stream64 boxes, uint32_t count );
CLV_API clv_result clv_space_move_all_strided64( clv_space* space, clv_box_stream64 boxes, uint32_t count );

/// One object at a time; each is the batch call with a count of 1.
CLV_API clv_result clv_space_add_one64( clv_space* space, clv_aabb64 box, clv_id* id );
CLV_API clv_result clv_space_move_one64( clv_space* space, clv_id id, clv_aabb64 box );

/// The box as it was given, without margin. CLV_BAD_ID and CLV_UNSUPPORTED leave *box untouched.
CLV_API clv_result clv_space_get_box64( const clv_space* space, clv_id id, clv_aabb64* box );

/// The box that the next update would test: grown by its margin, swept along its motion. In double all of it:
/// the margin of a rule is rounded up to a float as ever, faces less or plus the margin are rounded to the
/// nearest double, faces plus the motion outwards to one.
CLV_API clv_result clv_space_get_test_box64( const clv_space* space, clv_id id, clv_aabb64* box );

// ---- boxes of two axes
//
// A space whose def says `flat` has no z. Its boxes go in and out by the calls below, 16 bytes each; all else
// is as in space.h and as fast as two axes are. `doubles` and `flat` together are refused with CLV_BAD_DEF.

/// A point or a vector in the plane.
typedef struct clv_vec2
{
    float x, y;
} clv_vec2;

/// clv_aabb without z, 16 bytes, under the same rules.
typedef struct clv_aabb2
{
    clv_vec2 lower, upper;
} clv_aabb2;

/// Is this a box the library takes? False for NaN anywhere and for lower > upper.
static inline bool clv_aabb2_is_valid( clv_aabb2 box )
{
    return box.lower.x <= box.upper.x && box.lower.y <= box.upper.y;
}

/// What a flat space answers for two boxes. Touching edges and corners count.
static inline bool clv_aabb2_overlap( clv_aabb2 a, clv_aabb2 b )
{
    return a.lower.x <= b.upper.x && b.lower.x <= a.upper.x && // x
        a.lower.y <= b.upper.y && b.lower.y <= a.upper.y;      // y
}

/// clv_space_add with boxes of two axes. CLV_UNSUPPORTED too, in a space whose def did not say `flat`.
CLV_API clv_result clv_space_add2( clv_space* space, const clv_aabb2* boxes, uint32_t count, clv_id* ids );

/// clv_space_move with boxes of two axes, fastest in the order of their indices. CLV_UNSUPPORTED as above.
CLV_API clv_result clv_space_move2(
    clv_space* space, const clv_id* ids, const clv_aabb2* boxes, uint32_t count );

/// clv_space_move_all with boxes of two axes. CLV_UNSUPPORTED as above. Since 0.2.0.
CLV_API clv_result clv_space_move_all2( clv_space* space, const clv_aabb2* boxes, uint32_t count );

/// All three from memory of another shape; the last since 0.2.0. CLV_BAD_ARGUMENT too, for a stride below 8.
CLV_API clv_result clv_space_add_strided2(
    clv_space* space, clv_box_stream2 boxes, uint32_t count, clv_id* ids );
CLV_API clv_result clv_space_move_strided2(
    clv_space* space, const clv_id* ids, clv_box_stream2 boxes, uint32_t count );
CLV_API clv_result clv_space_move_all_strided2( clv_space* space, clv_box_stream2 boxes, uint32_t count );

/// One object at a time; each is the batch call with a count of 1.
CLV_API clv_result clv_space_add_one2( clv_space* space, clv_aabb2 box, clv_id* id );
CLV_API clv_result clv_space_move_one2( clv_space* space, clv_id id, clv_aabb2 box );

/// The box as it was given, without margin. CLV_BAD_ID and CLV_UNSUPPORTED leave *box untouched.
CLV_API clv_result clv_space_get_box2( const clv_space* space, clv_id id, clv_aabb2* box );

/// The box that the next update would test: grown by its margin, swept along its motion. The z of a motion is
/// ignored, and a margin by size is by the longer of two sides.
CLV_API clv_result clv_space_get_test_box2( const clv_space* space, clv_id id, clv_aabb2* box );

// ---- another origin

/// Makes the point `origin` the new 0: every box moves by -origin, in one call. A flat space ignores its z.
/// In a space of floats each face becomes (float)( (double)face - origin ), two roundings to nearest; in a
/// space of doubles face - origin, one. Infinite faces stay, margins are added anew, and the next update
/// finds the pairs of the boxes so moved. Views of the last update stay as they are.
///
/// A shift that rounds nothing changes no pair, as by whole numbers where all faces are multiples of 1/256:
/// then a list that still holds is kept, without a search, if nothing else has changed (from 256 objects on,
/// with methods that watch which boxes move), and there is no event. In a space of doubles the method sees no
/// change, and a world at rest stays at rest; in a space of floats all boxes are new to its next search.
///
/// CLV_BAD_ARGUMENT, and nothing moved: an origin that is not finite, or so far away that a finite face would
/// leave the floats, or the doubles, of the space; clv_space_error names the object. O(n).
CLV_API clv_result clv_space_shift_origin( clv_space* space, clv_vec64 origin );
