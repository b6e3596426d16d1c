// SPDX-License-Identifier: MIT
// Where a sample of boxes is, how large they are, and how well cells along each axis tell them apart. Plain
// C, in the order of the boxes: every instruction set must choose the same grid.
#include "engine/cell.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum
{
    BINS = CELL_GRID_SIDE,
    JOINT_LEVEL = 2, // two axes are looked at together in 4 x 4 cells
    JOINT_SIDE = 1 << JOINT_LEVEL,
    JOINT_BINS = BINS / JOINT_SIDE,
    NARROWINGS = 12,
    MEASURE_LEAST = 64,
};

// One axis of the sample.
typedef struct axis_view
{
    const clv_aabb* samples;
    uint32_t count;
    int axis;
} axis_view;

static float lower_of( const axis_view* view, uint32_t index )
{
    return ( &view->samples[index].lower.x )[view->axis];
}

static float upper_of( const axis_view* view, uint32_t index )
{
    return ( &view->samples[index].upper.x )[view->axis];
}

// A finite number; `otherwise` if it is none at all.
static float clamped( float value, float otherwise )
{
    return value > FLT_MAX ? FLT_MAX : value < -FLT_MAX ? -FLT_MAX : value == value ? value : otherwise;
}

// Bounds of the faces within the region; a face at infinity, or beyond the region, says nothing about where
// boxes are.
static void measure_bounds( const axis_view* view, float* low, float* high )
{
    float least = INFINITY, most = -INFINITY;
    for ( uint32_t i = 0; i < view->count; ++i )
    {
        float lower = lower_of( view, i ), upper = upper_of( view, i );
        float from = lower > -INFINITY ? lower : upper, to = upper < INFINITY ? upper : lower;
        least = from < least ? from : least;
        most = to > most ? to : most;
    }
    // A region of huge blocks may itself be beyond the floats.
    *low = clamped( *low, -FLT_MAX );
    *high = clamped( *high, FLT_MAX );
    // Otherwise all are infinite on both sides, and any region serves.
    bool has_faces = least < INFINITY && most > -INFINITY;
    *low = has_faces && least > *low ? least : *low;
    *high = has_faces && most < *high ? most : has_faces ? *high : *low;
    // Boxes may all lie on one side of their region, or have no width; a grid needs none there either.
    *high = *high > *low ? *high : *low;
}

// The mean, where nothing counts as wider than the bounds.
static float measure_size( const axis_view* view, float low, float high )
{
    float cap = high - low, sum = 0;
    for ( uint32_t i = 0; i < view->count; ++i )
    {
        float size = upper_of( view, i ) - lower_of( view, i );
        sum += size < cap ? size : cap;
    }
    return sum / (float)view->count;
}

// Values beyond the ends count to the first and the last.
static uint8_t bin_of( float value, float low, double scale )
{
    double at = value > low ? ( (double)value - (double)low ) * scale : 0; // not infinity times 0
    return (uint8_t)( at < BINS - 1 ? at : BINS - 1 );
}

// In which of BINS parts of the bounds each box begins. Returns the fullest.
static uint32_t fill_bins( const axis_view* view, float low, float high, uint8_t* bins, uint32_t* counts )
{
    uint32_t fullest = 0;
    double width = (double)high - (double)low;
    double scale = width > 0 ? BINS / width : 0;
    memset( counts, 0, BINS * sizeof( uint32_t ) );
    for ( uint32_t i = 0; i < view->count; ++i )
    {
        bins[i] = bin_of( lower_of( view, i ), low, scale );
        counts[bins[i]] += 1;
        fullest = counts[bins[i]] > counts[fullest] ? bins[i] : fullest;
    }
    return fullest;
}

// Of all ordered pairs, the part that shares a cell where each cell is 2^shift bins wide.
static float share_of_bins( const uint32_t* counts, uint32_t count, uint32_t shift )
{
    float met = 0;
    for ( uint32_t first = 0; first < BINS; first += 1u << shift )
    {
        uint32_t here = 0;
        for ( uint32_t i = 0; i < 1u << shift; ++i )
        {
            here += counts[first + i];
        }
        met += (float)here * ( (float)here - 1 );
    }
    float least = (float)( 1u << shift ) / BINS; // a small sample may miss itself
    float share = count > 1 ? met / ( (float)count * ( (float)count - 1 ) ) : 1;
    return share > least ? share : least;
}

// Where most of the boxes crowd into one bin, because the bounds are far too wide for them, look at that bin
// alone, if that tells more of them apart; the others are clamped to its ends.
static void narrow_bounds(
    const axis_view* view, float* low, float* high, float* size, uint8_t* bins, uint32_t* counts )
{
    uint32_t fullest = fill_bins( view, *low, *high, bins, counts );
    for ( int round = 0; round < NARROWINGS && counts[fullest] > view->count / 2; ++round )
    {
        float side = ( *high - *low ) / BINS;
        float from = *low + (float)fullest * side, to = *low + (float)( fullest + 1 ) * side;
        uint32_t narrow_counts[BINS];
        uint32_t next = fill_bins( view, from, to, bins, narrow_counts );
        if ( !( to > from ) ||
            share_of_bins( narrow_counts, view->count, 0 ) > 0.7f * share_of_bins( counts, view->count, 0 ) )
        {
            fill_bins( view, *low, *high, bins, counts );
            return;
        }
        memcpy( counts, narrow_counts, sizeof( narrow_counts ) );
        fullest = next;
        *low = from;
        *high = to;
        *size = measure_size( view, from, to );
    }
}

// How much more often two boxes share a cell of two axes than these say, each for itself.
static float measure_joint( const uint8_t* a_bins, const uint8_t* b_bins, uint32_t count, float expected )
{
    uint32_t counts[JOINT_SIDE * JOINT_SIDE] = { 0 };
    for ( uint32_t i = 0; i < count; ++i )
    {
        counts[a_bins[i] / JOINT_BINS * JOINT_SIDE + b_bins[i] / JOINT_BINS] += 1;
    }
    float met = 0;
    for ( uint32_t cell = 0; cell < JOINT_SIDE * JOINT_SIDE; ++cell )
    {
        met += (float)counts[cell] * ( (float)counts[cell] - 1 );
    }
    expected *= (float)count * ( (float)count - 1 );
    return met > expected ? met / expected : 1;
}

// Needles along different axes are long on one each, large boxes on all at once: so products are measured,
// too.
static void measure_products( const clv_aabb* samples, uint32_t count, cell_extent* extent )
{
    float sum[4] = { 0, 0, 0, 0 };
    for ( uint32_t i = 0; i < count; ++i )
    {
        float part[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            float width = extent->high[axis] - extent->low[axis];
            float size = ( &samples[i].upper.x )[axis] - ( &samples[i].lower.x )[axis];
            part[axis] = size < width ? size / width : 1;
        }
        sum[0] += part[1] * part[2];
        sum[1] += part[2] * part[0];
        sum[2] += part[0] * part[1];
        sum[3] += part[0] * part[1] * part[2];
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        extent->area[axis] = sum[axis] / (float)count;
    }
    extent->volume = sum[3] / (float)count;
}

BASE_COLD cell_extent clv_engine_cell_measure_alone(
    const clv_aabb* samples, uint32_t count, const float region_low[3], const float region_high[3] )
{
    cell_extent extent = { .joint = { 1, 1, 1 } };
    for ( int axis = 0; axis < 3; ++axis )
    {
        const axis_view view = { samples, count, axis };
        extent.low[axis] = region_low[axis];
        extent.high[axis] = region_high[axis];
        measure_bounds( &view, &extent.low[axis], &extent.high[axis] );
    }
    return extent;
}

BASE_COLD cell_extent clv_engine_cell_measure(
    const clv_aabb* samples, uint32_t count, const float region_low[3], const float region_high[3] )
{
    cell_extent extent;
    uint8_t bins[3][CELL_SAMPLES];
    CLV_ASSERT( count > 0 && count <= CELL_SAMPLES );
    for ( int axis = 0; axis < 3; ++axis )
    {
        const axis_view view = { samples, count, axis };
        uint32_t counts[BINS];
        float low = region_low[axis], high = region_high[axis];
        measure_bounds( &view, &low, &high );
        float size = measure_size( &view, low, high );
        narrow_bounds( &view, &low, &high, &size, bins[axis], counts );
        for ( uint32_t level = 0; level < CELL_LEVELS; ++level )
        {
            extent.share[axis][level] = share_of_bins( counts, count, CELL_LEVELS - 1 - level );
        }
        extent.low[axis] = low;
        extent.high[axis] = high;
        extent.size[axis] = size;
        CLV_ASSERT( low <= high );
        CLV_ASSERT( !( size < 0 ) ); // NaN where all lie at infinity: one layer of cells
        CLV_ASSERT( extent.share[axis][0] <= 1 );
    }
    measure_products( samples, count, &extent );
    for ( int axis = 0; axis < 3; ++axis )
    {
        int a = ( axis + 1 ) % 3, b = ( axis + 2 ) % 3;
        float expected = extent.share[a][JOINT_LEVEL] * extent.share[b][JOINT_LEVEL];
        extent.joint[axis] = measure_joint( bins[a], bins[b], count, expected );
    }
    return extent;
}

float clv_engine_cell_measure_rest( const float* values, uint32_t count, float low, float high, float size )
{
    uint32_t counts[BINS] = { 0 };
    double width = (double)high - (double)low;
    double scale = width > 0 ? BINS / width : 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        counts[bin_of( values[i], low, scale )] += 1;
    }
    float least = 1;
    for ( uint32_t level = 1; level < CELL_LEVELS && width > 0; ++level )
    {
        float copies = 1 + size * (float)( 1u << level ) / (float)width;
        float rest = share_of_bins( counts, count, CELL_LEVELS - 1 - level ) * copies * copies;
        least = rest < least ? rest : least;
    }
    return least;
}

cell_extent clv_engine_cell_measure_job( const cell_job* job )
{
    clv_aabb samples[CELL_SAMPLES];
    uint32_t count = job->count / 4 < CELL_SAMPLES ? job->count / 4 : CELL_SAMPLES;
    count = count > MEASURE_LEAST ? count : job->count < MEASURE_LEAST ? job->count : MEASURE_LEAST;
    CLV_ASSERT( count <= job->count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        samples[i] = job->boxes[cell_slot( &job->records[base_sample( i, count, job->count )] )];
    }
    return clv_engine_cell_measure( samples, count, job->region_low, job->region_high );
}
