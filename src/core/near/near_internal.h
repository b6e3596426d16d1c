// SPDX-License-Identifier: MIT
// Lists of near points. The way of a point: near.c checks the call, near_frame.c has the cell's geometry,
// near_points.c wraps each point, near_grid.c sorts them into grid cells, near_search.c has the kernels find
// pairs there, across periodic faces too; near_boxes.c does so by a space of boxes where grid cells are no
// good, with the images that near_points.c makes; near_list.c makes of the pairs what the caller asked for.
#pragma once

#include "base/array.h"
#include "base/assertion.h"
#include "base/bits.h"
#include "cleave/near.h"
#include "cleave/world.h"
#include "pair/list.h"
#include "simd/near_lanes.h"
#include "task/gather.h"

/// A point as it is sorted, in float and in double. Points come first, by number, then images.
typedef struct near_record
{
    float at[3];
    uint32_t id;
} near_record;

typedef struct near_record64
{
    double at[3];
    uint64_t id;
} near_record64;

/// A copy of a point across periodic faces; the first number of `shift` that is not 0 is positive. Its id is
/// the number of points plus its own.
typedef struct near_image
{
    uint32_t point;
    int32_t shift[3];
} near_image;

/// How points lie in the cell: edges in double, completed by unit vectors across them where the cell is open.
typedef struct near_frame
{
    clv_near_cell cell;
    bool is_periodic;     ///< on some axis
    bool is_diagonal;     ///< every edge lies along its own axis
    double edges[3][3];   ///< all three, independent
    double inverse[3][3]; ///< s[k] = p * inverse[k]
    double volume;        ///< of the cell; its area or length where it is open along one axis or two
    double heights[3];    ///< thickness of the cell across each axis
    double slack;         ///< how far rounding may move a wrapped point or an image, at most
} near_frame;

/// Cells over the points. Where an axis is periodic they fill the edge exactly, and the cell behind the last
/// one is the first, shifted by one.
typedef struct near_grid
{
    uint32_t counts[3];
    uint32_t layers[3]; ///< cells that a reach spans
    int32_t shifts[3];  ///< of a cell within reach, at most; 0 where the axis is open
    double lower[3];    ///< where the first cell begins, in s
    double factor[3];   ///< cells per s
    double last[3];     ///< counts - 1
    uint32_t cell_count;
} near_grid;

/// One call, as long as it lasts.
typedef struct near_call
{
    const clv_near_points* points;
    const void* positions;
    const void* radii;
    double limit;     ///< cutoff + skin, exact in T
    double square;    ///< of the greatest limit, in T
    bool is_uniform;  ///< all radii are equal, so all limits are
    bool has_cells;   ///< near_points_wrap finds them
    double reach[3];  ///< no pair is further apart across each axis of the cell, however T rounds
    double parts[3];  ///< of the cell's thickness
    double box_reach; ///< nor on any coordinate axis, beyond the two radii
    double lower[3];  ///< least and greatest s of all points
    double upper[3];
} near_call;

typedef BASE_ARRAY( int32_t ) near_shift_array;
typedef BASE_ARRAY( char ) near_byte_array;

struct clv_near
{
    base_memory memory;
    clv_near_def def;
    task_runner tasks;
    const simd_near* kernels;
    clv_isa isa;
    bool is_busy; ///< inside a visitor

    near_frame frame;
    near_grid grid;
    near_byte_array records;         ///< near_record or near_record64, by id
    near_byte_array placed;          ///< of points, by cell
    base_u32_array cells;            ///< by point
    base_u32_array starts;           ///< by cell: its first point; one more behind the last
    base_u32_array counts;           ///< of each piece, by cell
    near_byte_array lanes;           ///< x, y and z by cell
    base_u32_array ids;              ///< likewise
    near_shift_array wraps;          ///< three by point, where shifts are wanted
    BASE_ARRAY( near_image ) images; ///< where boxes are searched
    base_u64_array piece_images;     ///< of each piece of points, as all three
    BASE_ARRAY( double ) piece_bounds;
    base_u32_array piece_bad;
    near_byte_array boxes; ///< clv_aabb or clv_aabb64

    pair_list excluded; ///< sorted, each once, a < b
    base_u32_array excluded_starts;
    uint32_t excluded_count; ///< points that excluded_starts is for

    task_gather gather;
    uint32_t pieces; ///< of the search that made the pairs, if they are in `gather` one by one; else 1
    uint32_t image_count;
    uint32_t point_count;
    bool wants_ids; ///< pairs are found as ids, of which shifts are told later
    uint64_t test_count;
    uint64_t made_count;

    pair_list pairs;         ///< as found: pairs, or rows (near_is_directed)
    uint64_t entry_count;    ///< of the list; while it is made, no more than that
    near_shift_array shifts; ///< beside it, where it is the list
    pair_list sides;         ///< with `full` and not by point
    base_u64_array offsets;
    base_u32_array indices;
    near_shift_array entry_shifts;
    near_byte_array squared;
    near_byte_array vectors;
    bool is_valid;

    // What the list was made of, for a skin.
    near_byte_array old_positions; ///< T, packed
    near_byte_array old_radii;
    base_u32_array old_groups;
    double old_limit; ///< the greatest of any two points
    bool had_radii, had_groups, had_cell;
    bool may_keep;

    clv_error error;
    char text[192];
};

#define NEAR_PIECE 4096 ///< points that are read, wrapped, moved or compared together

static inline uint32_t near_piece_count( uint32_t count )
{
    return ( count + NEAR_PIECE - 1 ) / NEAR_PIECE;
}

/// The points of one piece.
static inline uint32_t near_piece_begin( uint32_t piece )
{
    return piece * NEAR_PIECE;
}

static inline uint32_t near_piece_end( uint32_t piece, uint32_t count )
{
    uint32_t begin = near_piece_begin( piece );
    CLV_ASSERT( begin < count );
    return count - begin < NEAR_PIECE ? count : begin + NEAR_PIECE;
}

static inline uint32_t near_axes( const clv_near* near )
{
    return near->def.flat ? 2 : 3;
}

static inline size_t near_number( const clv_near* near )
{
    return near->def.doubles ? sizeof( double ) : sizeof( float );
}

static inline near_record* near_records( const clv_near* near )
{
    return (near_record*)(void*)near->records.items;
}

static inline near_record64* near_records64( const clv_near* near )
{
    return (near_record64*)(void*)near->records.items;
}

static inline size_t near_record_size( const clv_near* near )
{
    return near->def.doubles ? sizeof( near_record64 ) : sizeof( near_record );
}

/// Numbers from the beginning of one axis's array to the next: a multiple of a cache line, and room behind.
static inline size_t near_lane_row( uint32_t items )
{
    return ( (size_t)items + 2 * NEAR_LANES - 1 ) / NEAR_LANES * NEAR_LANES;
}

/// Point i as given, in double; the third number of a flat one is 0.
static inline void near_read( const clv_near* near, const near_call* call, uint32_t i, double out[3] )
{
    const char* from = (const char*)call->positions + (size_t)i * call->points->stride;
    if ( near->def.doubles )
    {
        out[2] = 0;
        memcpy( out, from, near_axes( near ) * sizeof( double ) );
    }
    else
    {
        float at[3] = { 0, 0, 0 };
        memcpy( at, from, near_axes( near ) * sizeof( float ) );
        out[0] = at[0], out[1] = at[1], out[2] = at[2];
    }
}

static inline double near_radius( const clv_near* near, const near_call* call, uint32_t i )
{
    return call->radii == NULL ? 0
        : near->def.doubles    ? ( (const double*)call->radii )[i]
                               : (double)( (const float*)call->radii )[i];
}

/// Are entries wanted at each point? Then they are found in rows, as near_lanes.h has them, and counted in
/// `offsets`, two further than the point. A point may have several rows.
static inline bool near_is_directed( const clv_near* near )
{
    return near->def.full || near->def.by_point;
}

/// Each pair once.
static inline uint64_t near_pair_count( const clv_near* near )
{
    return near->entry_count / ( near->def.full ? 2 : 1 );
}

/// Where a point or an image is: wrapped, in T.
static inline void near_place( const clv_near* near, uint32_t id, double out[3] )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        out[axis] = near->def.doubles ? near_records64( near )[id].at[axis]
                                      : (double)near_records( near )[id].at[axis];
    }
}

/// `value` rounded to T.
static inline double near_round( const clv_near* near, double value )
{
    return near->def.doubles ? value : (double)(float)value;
}

/// The image behind an id, or the point itself with a shift of 0. Grid cells have no images: there the id of
/// an image is that of its point, and the number of points times a code of its shift.
near_image clv_near_image_of( const clv_near* near, uint32_t id );

/// Positive where the first number of a shift that is not 0 is.
static inline int64_t near_shift_code( const near_grid* grid, const int32_t shift[3] )
{
    int64_t wide = 2 * (int64_t)grid->shifts[1] + 1, deep = 2 * (int64_t)grid->shifts[2] + 1;
    return ( shift[0] * wide + shift[1] ) * deep + shift[2];
}

static inline uint32_t near_point_of( const clv_near* near, uint32_t id )
{
    return id < near->point_count ? id : clv_near_image_of( near, id ).point;
}

/// Takes the message; the result is `code`.
clv_result clv_near_fail( clv_near* near, clv_result code, uint32_t position, const char* format, ... );

// ---- near_frame.c

clv_result clv_near_frame_make( clv_near* near, const clv_near_cell* cell, near_frame* frame );

/// How far rounding to T may move wrapped points and images across each axis, for points whose coordinates
/// are at most `most`.
void clv_near_frame_slack( const near_frame* frame, const double most[3], double epsilon, double slack[3] );

/// Where p lies along the edges.
static inline void near_fractions( const near_frame* frame, const double p[3], double s[3] )
{
    for ( int k = 0; k < 3; ++k )
    {
        s[k] = p[0] * frame->inverse[k][0] + p[1] * frame->inverse[k][1] + p[2] * frame->inverse[k][2];
    }
}

/// The way that a shift moves.
static inline void near_offset( const near_frame* frame, const int32_t shift[3], double out[3] )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        out[axis] = shift[0] * frame->edges[0][axis] + shift[1] * frame->edges[1][axis] +
            shift[2] * frame->edges[2][axis];
    }
}

// ---- near_points.c

/// Checks all points and radii; finds the extent and the reach.
clv_result clv_near_points_measure( clv_near* near, near_call* call );
/// Records of all points, wrapped; their grid cells too where the frame is diagonal and the grid planned.
clv_result clv_near_points_wrap( clv_near* near, near_call* call );
/// Records of the images that the points need, behind those of the points.
clv_result clv_near_points_images( clv_near* near, near_call* call );

// ---- near_grid.c

/// False where cells would be too many or too large: then boxes are searched.
bool clv_near_grid_plan( const clv_near* near, const near_call* call, near_grid* grid );
/// Sorts the points; `has_cells`: `cells` has been filled.
bool clv_near_grid_fill( clv_near* near, bool has_cells );

static inline uint32_t near_cell_along( const near_grid* grid, int k, double s )
{
    double cell = ( s - grid->lower[k] ) * grid->factor[k];
    cell = cell < grid->last[k] ? cell : grid->last[k];
    cell = cell > 0 ? cell : 0;
    return (uint32_t)(int32_t)cell;
}

/// The grid cell of a place, from its fractions. Written out: compilers leave loops of three as they are.
static inline uint32_t near_cell_of( const near_grid* grid, double x, double y, double z )
{
    uint32_t line = near_cell_along( grid, 2, z ) * grid->counts[1] + near_cell_along( grid, 1, y );
    return line * grid->counts[0] + near_cell_along( grid, 0, x );
}

// ---- near_check.c: the first sentence that is not true, or NULL

/// Of points in their cells.
const char* clv_near_grid_check( const clv_near* near );

/// Of a list that was just made; `square` of the greatest limit.
const char* clv_near_list_check( const clv_near* near, double square );

// ---- near_search.c, near_boxes.c: all pairs of ids, a < b, images with images left out; or all rows

clv_result clv_near_search( clv_near* near, const near_call* call, clv_pair_sink* sink );
clv_result clv_near_search_boxes( clv_near* near, near_call* call, clv_pair_sink* sink );

/// By the caller; a pair of ids.
bool clv_near_is_excluded( const clv_near* near, const near_call* call, clv_pair pair );

// ---- near_list.c

/// Are shifts told, or needed for distances?
bool clv_near_wants_shifts( const clv_near* near );
/// Half pairs of ids become pairs of points and shifts (three each; NULL: not wanted).
void clv_near_name( const clv_near* near, clv_pair* pairs, uint64_t count, int32_t* shifts );

/// Entries to be measured: their points are `step` apart.
typedef struct near_entries
{
    const uint32_t *a, *b;
    size_t step_a, step_b;
    const int32_t* shifts; ///< NULL: all 0
    uint64_t count;
    uint64_t left; ///< at least `count`: those up to the end of the list
} near_entries;

static inline near_entries near_pair_entries( const clv_pair* pairs, const int32_t* shifts, uint64_t count )
{
    return ( near_entries ){ &pairs->a, &pairs->b, 2, 2, shifts, count, count };
}

/// Squared distances and vectors of entries, in T; each may be NULL.
void clv_near_measure_entries( const clv_near* near, near_entries entries, void* squared, void* vectors );
/// How many entries were found, and where those of each point go; then from the pairs to the caller's form.
void clv_near_list_count( clv_near* near );
clv_result clv_near_list_make( clv_near* near );
clv_near_view clv_near_list_view( const clv_near* near );
bool clv_near_list_remember( clv_near* near, const near_call* call );
bool clv_near_list_may_stay( clv_near* near, const near_call* call );
/// Distances of a kept list, of the points now.
void clv_near_list_refresh( clv_near* near, const near_call* call );
