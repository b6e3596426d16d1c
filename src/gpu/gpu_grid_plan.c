// SPDX-License-Identifier: MIT
#include "gpu_grid_plan.h"
#include "base/assertion.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Entries of the table per box, at most: beyond, clearing and adding up cost more than finer cells save. A
// table that leaves the device's cache costs more still.
static const double s_entries_per_box = 4;
static const double s_entries_cached = 8e6;
static const double s_entries_least = 4096;
static const double s_entries_most = 400e6; // cells have 29 bits

// Fewer boxes are scattered in the cache, and an order that is kept costs a launch more. Measured on the
// H200.
#define KEEPS_LEAST 400000

static int compare_floats( const void* a, const void* b )
{
    float x = *(const float*)a;
    float y = *(const float*)b;
    return ( x > y ) - ( x < y );
}

static float lower_of( const clv_aabb* box, int axis )
{
    return axis == 0 ? box->lower.x : axis == 1 ? box->lower.y : box->lower.z;
}

static float upper_of( const clv_aabb* box, int axis )
{
    return axis == 0 ? box->upper.x : axis == 1 ? box->upper.y : box->upper.z;
}

// Infinite boxes, and those so far away that differences overflow, count for nothing.
static bool is_tame( const clv_aabb* box )
{
    bool good = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        good = good && lower_of( box, axis ) > -1e37f && upper_of( box, axis ) < 1e37f;
    }
    return good;
}

gpu_spread clv_gpu_spread_of( const clv_aabb* sample, uint32_t sample_count, int axis, float* scratch )
{
    gpu_spread spread = { 0 };
    float* places = scratch;
    float* sides = scratch + sample_count;
    uint32_t count = 0;
    for ( uint32_t i = 0; i < sample_count; ++i )
    {
        if ( is_tame( &sample[i] ) )
        {
            places[count] = lower_of( &sample[i], axis );
            sides[count++] = upper_of( &sample[i], axis ) - lower_of( &sample[i], axis );
        }
    }
    if ( count == 0 )
    {
        return spread;
    }
    CLV_ASSERT( count <= sample_count ); // the room of each half of `scratch`
    qsort( places, count, sizeof( float ), compare_floats );
    qsort( sides, count, sizeof( float ), compare_floats );
    uint32_t edge = count / 50;
    float low = places[edge];
    float high = places[count - 1 - edge];
    // What lies beyond the outermost fiftieth is still meant, if it is about as dense.
    float beyond = ( high - low ) * 0.05f;
    spread.least = places[0] > low - beyond ? places[0] : low - beyond;
    spread.most = places[count - 1] < high + beyond ? places[count - 1] : high + beyond;
    CLV_ASSERT( spread.least <= spread.most );
    spread.median_side = sides[count / 2];
    spread.large_side = sides[count - 1 - count / 20];
    spread.most_side = sides[count - 1];
    return spread;
}

// ---- cells

typedef struct grid_measure
{
    gpu_spread spreads[3];
    double spans[3]; // of the world
    double sides[3]; // boxes that the finest level is for
    uint32_t level_count;
} grid_measure;

static grid_measure measure( const clv_aabb* sample, uint32_t sample_count, float* scratch )
{
    grid_measure m = { .level_count = 1 };
    double ratio = 1;
    for ( int axis = 0; axis < 3; ++axis )
    {
        gpu_spread* spread = &m.spreads[axis];
        *spread = clv_gpu_spread_of( sample, sample_count, axis, scratch );
        double typical = spread->median_side > 0 ? (double)spread->median_side : (double)spread->large_side;
        ratio = typical > 0 && (double)spread->most_side / typical > ratio
            ? (double)spread->most_side / typical
            : ratio;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        const gpu_spread* spread = &m.spreads[axis];
        // Of one size, more or less: one level for all. Otherwise the finest is for the smaller half.
        m.sides[axis] = ratio <= 4 ? (double)spread->most_side : (double)spread->median_side * 1.25;
        m.spans[axis] = (double)spread->most - (double)spread->least;
        // Points have no side: a thousandth of the world does as well.
        double least = m.spans[axis] > 0 ? m.spans[axis] * 1e-3 : 1;
        m.sides[axis] = m.sides[axis] > 0 ? m.sides[axis] : least;
    }
    while ( ratio > 4 && m.level_count < GRID_LEVELS && pow( 4, m.level_count - 1 ) * 1.25 < ratio )
    {
        m.level_count += 1;
    }
    CLV_ASSERT( m.level_count >= 1 && m.level_count <= GRID_LEVELS );
    return m;
}

// Sides of a cell in sides of a box. Sparse worlds want cells of twice the box, since then half of all boxes
// stay within one layer of cells; dense ones want fewer boxes in each, most of all along the rows. Measured
// on the H200.
static void choose_factors(
    const grid_measure* m, uint32_t count, double factors[3], uint32_t* reach_x, bool* keeps )
{
    double fill = count;
    for ( int axis = 0; axis < 3; ++axis )
    {
        fill *= m->sides[axis] / ( m->spans[axis] + m->sides[axis] );
    }
    *keeps = fill < 0.12 && count >= KEEPS_LEAST;
    double factor = *keeps ? 1.8 : fill < 0.12 ? 2.2 : fill < 0.35 ? 1.4 : 1.05;
    factors[1] = factor;
    factors[2] = factor;
    factors[0] = factor;
    *reach_x = 1;
    if ( fill >= 0.35 )
    {
        factors[0] = 0.53;
        *reach_x = 2;
    }
}

static double cells_along( double span, double side )
{
    double cells = floor( span / side ) + 1;
    return cells < 1 ? 1 : cells > 1e6 ? 1e6 : cells;
}

// Entries of a row: its cells and its end, rounded up so that four entries are aligned for the scan.
static uint32_t pitch_of( double cells )
{
    return ( (uint32_t)cells + 8 ) / 8 * 8;
}

static double entries_of( const double spans[3], const double cells[3] )
{
    return pitch_of( cells_along( spans[0], cells[0] ) ) * cells_along( spans[1], cells[1] ) *
        cells_along( spans[2], cells[2] );
}

static float float_between( double value, double least, double most )
{
    return (float)( value < least ? least : value > most ? most : value );
}

static double reach_of( int axis, uint32_t reach_x )
{
    return axis == 0 ? reach_x : 1;
}

// Half of what a cell has beyond a box, since boxes go up as well as down: then a box at either end of its
// cell may move that far. More than a third of a side is not worth the rows that are looked at in vain.
static double slack_of( double cell, double side, double wish )
{
    double most = wish > 0 ? wish : wish < 0 ? 0 : 0.3;
    double slack = ( cell - side ) / 2;
    return slack < 0 ? 0 : slack < most * side ? slack : most * side;
}

gpu_grid_plan clv_gpu_grid_plan_make( const clv_aabb* sample, uint32_t sample_count, uint32_t count,
    const gpu_grid_wish* wish, float* scratch, uint32_t* row_count, bool* keeps )
{
    gpu_grid_plan plan = { 0 };
    grid_measure m = measure( sample, sample_count, scratch );
    double cells[3];
    uint32_t reach_x = 1;
    choose_factors( &m, count, cells, &reach_x, keeps );
    *keeps = wish->keeps != 0 ? wish->keeps > 0 : *keeps;
    if ( wish->reach_x > 0 )
    {
        memcpy( cells, wish->factors, sizeof( cells ) );
        reach_x = wish->reach_x;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        cells[axis] *= m.sides[axis];
        plan.origin[axis] = m.spreads[axis].least;
    }
    double most = s_entries_per_box * count;
    // What is kept in order finds its entries nearby.
    most = most < s_entries_cached || *keeps ? most : s_entries_cached;
    most = wish->entries_per_box > 0 ? wish->entries_per_box * count : most < count ? count : most;
    most = most < s_entries_least ? s_entries_least : most > s_entries_most ? s_entries_most : most;
    while ( entries_of( m.spans, cells ) > most )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            cells[axis] *= 1.05;
        }
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        plan.slack[axis] = !*keeps
            ? 0
            : (float)slack_of( cells[axis] * reach_of( axis, reach_x ), m.sides[axis], wish->slack );
    }
    plan.level_count = m.level_count;
    plan.pitch = pitch_of( cells_along( m.spans[0], cells[0] ) );
    *row_count = 0;
    for ( uint32_t level = 0; level < m.level_count; ++level )
    {
        gpu_grid_level* l = &plan.levels[level];
        double numbers[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            double side = cells[axis] * pow( 4, level );
            numbers[axis] = cells_along( m.spans[axis], side );
            l->scale[axis] = float_between( 1 / side, (double)FLT_MIN, 1e37 );
            l->last[axis] = (float)( numbers[axis] - 1 );
        }
        CLV_ASSERT( numbers[0] <= (double)plan.pitch - 1 ); // a row has an end too
        l->rows_y = (uint32_t)numbers[1];
        l->first_row = *row_count;
        l->reach_x = reach_x;
        *row_count += (uint32_t)( numbers[1] * numbers[2] );
    }
    CLV_ASSERT( plan.pitch % 8 == 0 && *row_count > 0 );
    CLV_ASSERT( (uint64_t)*row_count * plan.pitch < UINT64_C( 1 ) << 29 ); // cells have 29 bits
    return plan;
}
