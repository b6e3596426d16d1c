// SPDX-License-Identifier: MIT
// Cells of the grid, for those who lay boxes into them and search them (grid.cl) and for those who search
// only what changed (rest.cl).

#define LEVELS_MOST 8
#define LEVEL_SHIFT 29
#define CELL_MASK 0x1FFFFFFFu
#define NO_CELL 0xFFFFFFFFu
#define NO_SLOT 0xFFFFFFFFu
#define ALL_MOVED 0xFFFFFFFFu
#define IS_MOVER 0x80000000u // indices have 31 bits

typedef struct grid_level
{
    float scale_x, scale_y, scale_z; // cells per unit
    float last_x, last_y, last_z;    // number of the last cell
    uint rows_y;                     // cells along y
    uint first_row;
    uint reach_x;
    uint unused;
} grid_level;

typedef struct grid_plan
{
    float origin_x, origin_y, origin_z;
    uint level_count;
    uint pitch; // entries of a row: its cells and its end, for the longest row
    float slack_x, slack_y, slack_z;
    grid_level levels[LEVELS_MOST];
} grid_plan;

// Monotonic in `value`, infinities included.
inline uint cell_at( float value, float origin, float scale, float last )
{
    return (uint)fmin( fmax( ( value - origin ) * scale, 0.0f ), last );
}

typedef struct cell_place
{
    uint x, y, z;
} cell_place;

inline cell_place place_of( __constant const grid_plan* plan, uint level, float x, float y, float z )
{
    __constant const grid_level* l = &plan->levels[level];
    cell_place place = {
        cell_at( x, plan->origin_x, l->scale_x, l->last_x ),
        cell_at( y, plan->origin_y, l->scale_y, l->last_y ),
        cell_at( z, plan->origin_z, l->scale_z, l->last_z ),
    };
    return place;
}

// The last cells that a box must be looked for in, and that it must look in.
inline cell_place last_of( __constant const grid_plan* plan, uint level, float4 upper )
{
    return place_of( plan, level, upper.x + plan->slack_x, upper.y + plan->slack_y, upper.z + plan->slack_z );
}

// A cell's number taken apart.
inline cell_place cell_place_of( __constant const grid_plan* plan, uint cell )
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
inline int may_stay( __constant const grid_plan* plan, uint cell, float4 lower, float4 upper )
{
    uint level = cell >> LEVEL_SHIFT;
    cell_place own = cell_place_of( plan, cell );
    cell_place first = last_of( plan, level, lower );
    return own.x <= first.x && own.y <= first.y && own.z <= first.z &&
        is_within( own, last_of( plan, level, upper ), plan->levels[level].reach_x );
}
