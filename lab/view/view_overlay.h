// SPDX-License-Identifier: MIT
// Coordinates as whole numbers, for looking at: a sixty-fourth of the typical side of a box is one step.
#pragma once

#include "cleave/geom.h"
#include "cleave/space.h"
#include "cleave/types.h"
#include "engine/engine.h"
#include "lab/base/bytes.h"
#include "lab/view/view_input.h"
#include "volume.h"

#include <stdint.h>

/// In place of an infinite coordinate; no finite one comes near.
#define VIEW_INFINITE ( INT32_C( 1 ) << 28 )

typedef struct view_scale
{
    double origin[3];
    double step; ///< metres, the same on all axes
} view_scale;

/// By the boxes of one frame. Steps grow in worlds that are very large for their boxes.
view_scale view_scale_choose( const clv_aabb* boxes, uint32_t count );

/// The nearest whole number of steps; what lies too far out is put at the edge, infinities at VIEW_INFINITE.
int32_t view_scale_place( const view_scale* scale, double value, int axis );

// ---- The cells in which the default engine would look for the pairs of a frame, to be drawn.

/// Zero-initialised is closed.
typedef struct view_cells
{
    base_memory memory;
    task_runner tasks;
    clv_engine engine;
    bool is_open;
} view_cells;

/// Has none for fewer boxes than the engine is used for.
void view_cells_open( view_cells* cells );
void view_cells_close( view_cells* cells );

/// The grids that the engine would lay over these boxes, `*count` of them; they live until the next
/// call. None where none could be drawn: few boxes, or axes that are not to scale. NULL, with no
/// grids, if out of memory too.
const cell_grid* view_cells_find(
    view_cells* cells, const clv_aabb* boxes, uint32_t box_count, uint32_t* count );

/// "[[ox,oy,oz,sx,sy,sz,nx,ny,nz],…]", origin, sides and number of the cells of each grid, as a string to
/// free. "[]" where there are none. NULL if out of memory.
char* view_cells_text( view_cells* cells, const clv_aabb* boxes, uint32_t count );

// ---- The planes of a method's tree over a frame, to be drawn.

enum
{
    VIEW_TREE_LEAF = 3, ///< in place of an axis
};

/// What a space's method keeps, in preorder: the number of nodes, then for each its axis, and
/// behind one that is no leaf its plane in steps of the scale. No nodes from methods that keep no
/// tree. False if out of memory.
void view_tree_put( clv_space* space, const view_scale* scale, byte_buffer* out );

/// The same as arrays. Zero-initialised is empty.
typedef struct view_planes
{
    uint8_t* axes;    ///< or VIEW_TREE_LEAF
    double* planes;   ///< of inner nodes
    uint32_t* rights; ///< their right child; the left one is next
    uint32_t count;
} view_planes;

/// False if out of memory.
void view_planes_read( view_planes* planes, clv_space* space );
void view_planes_free( view_planes* planes );

/// The node that owns a box, by the rule of docs/kd.md.
uint32_t view_planes_node( const view_planes* planes, const clv_aabb* box );

// ---- Which of the pairs of boxes are false: bodies, or tighter volumes around them, that do not touch.

/// Bits of a pair whose boxes touch. A pair without one is true.
enum
{
    VIEW_DOPS_APART = 1,    ///< the 18-DOPs around the bodies do not touch
    VIEW_SPHERES_APART = 2, ///< nor the spheres around their middles
    VIEW_BODIES_APART = 4,  ///< nor the bodies themselves; set where one of the others is
};

/// A body as the narrow phase takes it.
typedef struct view_body
{
    clv_shape shape;
    clv_transform at;
    clv_dop18 dop;
    clv_sphere sphere;
} view_body;

typedef struct view_hull
{
    clv_hull* hull;
    clv_vec3 half;
} view_hull;

/// Zero-initialised is closed.
typedef struct view_volumes
{
    view_body* bodies;
    uint32_t count;
    view_hull* hulls; ///< of bodies that are no boxes, one for all of the same sides
    uint32_t hull_count;
    uint8_t* bits; ///< of the pairs of view_volumes_find
    uint64_t bit_capacity;
} view_volumes;

/// Room for `count` bodies.
void view_volumes_open( view_volumes* volumes, uint32_t count );
void view_volumes_close( view_volumes* volumes );

/// A body of a frame. CLV_BAD_ARGUMENT for sides or a place that no body can have, CLV_OUT_OF_MEMORY.
clv_result view_volumes_place(
    view_volumes* volumes, view_shape shape, uint32_t index, const float half_sides[3], clv_transform at );

/// Bits of each pair; they live until the next call. NULL if out of memory.
const uint8_t* view_volumes_find( view_volumes* volumes, const clv_pair* pairs, uint64_t count );
