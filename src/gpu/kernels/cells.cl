// SPDX-License-Identifier: MIT
// Cells of the grid, for those who lay boxes into them and search them (grid.cl) and for those who search
// only what changed (rest.cl).

#define LEVEL_SHIFT 29
#define CELL_MASK 0x1FFFFFFFu
#define NO_CELL 0xFFFFFFFFu
#define NO_SLOT 0xFFFFFFFFu
#define ALL_MOVED 0xFFFFFFFFu
#define IS_MOVER 0x80000000u // indices have 31 bits

// Monotonic in `value`, infinities included.
inline uint cell_at( float value, float origin, float scale, float last )
{
    return (uint)fmin( fmax( ( value - origin ) * scale, 0.0f ), last );
}

typedef struct cell_place
{
    uint x, y, z;
} cell_place;

inline cell_place place_of( __constant const gpu_grid_plan* plan, uint level, float x, float y, float z )
{
    __constant const gpu_grid_level* l = &plan->levels[level];
    cell_place place = {
        cell_at( x, plan->origin[0], l->scale[0], l->last[0] ),
        cell_at( y, plan->origin[1], l->scale[1], l->last[1] ),
        cell_at( z, plan->origin[2], l->scale[2], l->last[2] ),
    };
    return place;
}

// The last cells that a box must be looked for in, and that it must look in.
inline cell_place last_of( __constant const gpu_grid_plan* plan, uint level, float4 upper )
{
    return place_of( plan, level, upper.x + plan->slack[0], upper.y + plan->slack[1], upper.z + plan->slack[2] );
}

// A cell's number taken apart.
inline cell_place cell_place_of( __constant const gpu_grid_plan* plan, uint cell )
{
    uint entry = cell & CELL_MASK;
    uint row = entry / plan->pitch;
    uint first = row - plan->levels[cell >> LEVEL_SHIFT].first_row;
    uint rows_y = plan->levels[cell >> LEVEL_SHIFT].rows_y;
    cell_place place = { entry - row * plan->pitch, first % rows_y, first / rows_y };
    return place;
}

inline int is_within( cell_place own, cell_place last, uint reach_x )
{
    return last.x <= own.x + reach_x && last.y <= own.y + 1 && last.z <= own.z + 1;
}

// ---- the frame's state, from its slot

inline int is_laid_anew( __global const uint* counters, uint moved_most )
{
    return counters[SLOT_MOVED] > moved_most;
}

// May a box stay in the cell it lies in? That of kernels/grid.cl, which tells why.
inline int may_stay( __constant const gpu_grid_plan* plan, uint cell, float4 lower, float4 upper )
{
    uint level = cell >> LEVEL_SHIFT;
    cell_place own = cell_place_of( plan, cell );
    cell_place first = last_of( plan, level, lower );
    return own.x <= first.x && own.y <= first.y && own.z <= first.z &&
        is_within( own, last_of( plan, level, upper ), plan->levels[level].reach_x );
}
