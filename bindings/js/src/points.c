// SPDX-License-Identifier: MIT
// What needs no space: cleave/near.h and match.h for ../points.js.
#include "binding.h"
#include "cleave/match.h"
#include "cleave/near.h"

#include <string.h>

// Numbers of a def, in the order of NEAR in ../points.js.
enum
{
    NEAR_CUTOFF,
    NEAR_SKIN,
    NEAR_DOUBLES,
    NEAR_FLAT,
    NEAR_FULL,
    NEAR_BY_POINT,
    NEAR_SQUARED,
    NEAR_VECTORS,
    NEAR_SHIFTS,
    NEAR_MAX_PAIRS,
    NEAR_WORKERS,
};

/// NULL if it cannot be made; then out[0] is why, and js_line the sentence.
EMSCRIPTEN_KEEPALIVE clv_near* js_near_create( const double* numbers, double* out )
{
    clv_near_def def = clv_default_near_def();
    def.cutoff = numbers[NEAR_CUTOFF];
    def.skin = numbers[NEAR_SKIN];
    def.doubles = numbers[NEAR_DOUBLES] != 0.0;
    def.flat = numbers[NEAR_FLAT] != 0.0;
    def.full = numbers[NEAR_FULL] != 0.0;
    def.by_point = numbers[NEAR_BY_POINT] != 0.0;
    def.squared = numbers[NEAR_SQUARED] != 0.0;
    def.vectors = numbers[NEAR_VECTORS] != 0.0;
    def.shifts = numbers[NEAR_SHIFTS] != 0.0;
    def.max_pairs = (uint64_t)numbers[NEAR_MAX_PAIRS];
    def.worker_count = (uint32_t)numbers[NEAR_WORKERS];
    def.tasks = js_task_hooks( def.worker_count );
    def.logger.write = js_keep_line;
    js_forget_line();
    clv_near* near = NULL;
    out[0] = clv_near_create( &def, &near );
    return near;
}

EMSCRIPTEN_KEEPALIVE void js_near_destroy( clv_near* near )
{
    clv_near_destroy( near );
}

EMSCRIPTEN_KEEPALIVE const char* js_near_error( const clv_near* near, double* out )
{
    clv_error error = clv_near_error( near );
    js_write_error( error, out );
    return error.text;
}

EMSCRIPTEN_KEEPALIVE int js_near_exclude( clv_near* near, const clv_pair* pairs, uint32_t count )
{
    return clv_near_exclude( near, pairs, count );
}

// Where ../points.js finds the arrays of a view: their count and addresses, 0 for those that are not there.
static void write_view( const clv_near_view* view, double* out )
{
    const void* squared = view->squared != NULL ? (const void*)view->squared : view->squared64;
    const void* vectors = view->vectors != NULL ? (const void*)view->vectors : view->vectors64;
    const void* arrays[] = { view->pairs, view->offsets, view->indices, squared, vectors, view->shifts };
    out[0] = (double)view->count;
    for ( uint32_t i = 0; i < 6; ++i )
    {
        out[1 + i] = (double)(uintptr_t)arrays[i];
    }
}

// Points of the def's type; radii, groups and cell may be NULL. Nine numbers of a cell, then three that are
// not 0 where that edge is periodic.
static clv_near_points make_points( int is_double, int is_flat, const void* positions, uint32_t count,
    const void* radii, const uint32_t* groups, const double* numbers, clv_near_cell* cell )
{
    clv_near_points points;
    memset( &points, 0, sizeof( points ) );
    points.positions = is_double ? NULL : positions;
    points.positions64 = is_double ? positions : NULL;
    points.stride = ( is_double ? sizeof( double ) : sizeof( float ) ) * ( is_flat ? 2 : 3 );
    points.count = count;
    points.radii = is_double ? NULL : radii;
    points.radii64 = is_double ? radii : NULL;
    points.groups = groups;
    if ( numbers != NULL )
    {
        memcpy( cell->edges, numbers, sizeof( cell->edges ) );
        for ( int axis = 0; axis < 3; ++axis )
        {
            cell->periodic[axis] = numbers[9 + axis] != 0.0;
        }
        points.cell = cell;
    }
    return points;
}

static bool visit_near( const clv_near_view* view, void* user )
{
    (void)user;
    double numbers[7];
    write_view( view, numbers );
    return js_visit_near( numbers ) != 0;
}

/// The view of the list to out, and whether it is new to out[7]. With `visits` to js_visit_near in place of a
/// list.
EMSCRIPTEN_KEEPALIVE int js_near_update( clv_near* near, int visits, int is_double, int is_flat,
    const void* positions, uint32_t count, const void* radii, const uint32_t* groups,
    const double* cell_numbers, double* out )
{
    clv_near_cell cell;
    clv_near_points points =
        make_points( is_double, is_flat, positions, count, radii, groups, cell_numbers, &cell );
    if ( visits )
    {
        return clv_near_visit( near, &points, visit_near, NULL );
    }
    bool is_new = false;
    clv_result result = clv_near_update( near, &points, &is_new );
    clv_near_view view = clv_near_list( near );
    write_view( &view, out );
    out[7] = is_new;
    return result;
}

// ---- regions

/// Regions side by side, lower corner and upper. Pairs go to js_visit_pairs; with `others` between the two.
/// The error to out, js_line its sentence.
EMSCRIPTEN_KEEPALIVE int js_match( uint32_t axes, const double* regions, uint32_t count, const double* others,
    uint32_t other_count, double* out )
{
    clv_match_def def = clv_default_match_def();
    def.axis_count = axes;
    def.logger.write = js_keep_line;
    js_forget_line();
    clv_error error;
    memset( &error, 0, sizeof( error ) );
    error.position = UINT32_MAX;
    size_t stride = 2 * axes * sizeof( double );
    clv_regions first = { regions, regions + axes, stride, count };
    clv_regions second = { others, others + axes, stride, other_count };
    clv_result result = others == NULL
        ? clv_match_regions( &def, first, js_pass_pairs, NULL, &error )
        : clv_match_between( &def, first, second, js_pass_pairs, NULL, &error );
    error.code = result;
    js_write_error( error, out );
    return result;
}
