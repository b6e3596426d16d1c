// SPDX-License-Identifier: MIT
// Points in: checked and measured, wrapped into the cell, and, for boxes, copied across its periodic faces as
// far as a pair can reach.
//
// Loops over all points are inline functions of the points' type and axes, called with constants: one text,
// compiled once for each type.
#include "near/near_internal.h"

#include "base/assertion.h"

#include <float.h>
#include <math.h>

enum
{
    SKEWED_IMAGES = 100000, // more in whole cells, a thousand times those within reach, are refused
    SKEWED_WASTE = 1000,
    WRAPS = 4 // a point that rounding puts on the other face goes back, and rounding could put it here again
};

// One call over pieces of NEAR_PIECE points.
typedef struct point_job
{
    clv_near* near;
    near_call* call;
    double* lower; ///< three by piece
    double* upper;
    uint32_t* bad; ///< first bad point of each piece; UINT32_MAX: none
} point_job;

// ---- measured

// As near_read, of constants.
static BASE_INLINE void read_point( const char* from, bool doubles, uint32_t axes, double out[3] )
{
    out[2] = 0;
    if ( doubles )
    {
        memcpy( out, from, axes * sizeof( double ) );
    }
    else
    {
        float at[3] = { 0, 0, 0 };
        memcpy( at, from, axes * sizeof( float ) );
        out[0] = at[0], out[1] = at[1], out[2] = at[2];
    }
}

// A NaN or an infinity makes *zero NaN for good.
static BASE_INLINE void widen_bounds( double p, double* lower, double* upper, double* zero )
{
    *lower = p < *lower ? p : *lower;
    *upper = p > *upper ? p : *upper;
    *zero += p * 0;
}

// Widens the bounds; false if a point is not finite.
static BASE_INLINE bool measure_points(
    const char* from, size_t stride, uint32_t count, bool doubles, uint32_t axes, double bounds[6] )
{
    double lower[3], upper[3], zero[3] = { 0, 0, 0 };
    memcpy( lower, bounds, sizeof( lower ) );
    memcpy( upper, bounds + 3, sizeof( upper ) );
    for ( uint32_t i = 0; i < count; ++i, from += stride )
    {
        double p[3];
        read_point( from, doubles, axes, p );
        widen_bounds( p[0], &lower[0], &upper[0], &zero[0] );
        widen_bounds( p[1], &lower[1], &upper[1], &zero[1] );
        widen_bounds( p[2], &lower[2], &upper[2], &zero[2] );
    }
    memcpy( bounds, lower, sizeof( lower ) );
    memcpy( bounds + 3, upper, sizeof( upper ) );
    return zero[0] + zero[1] + zero[2] == 0;
}

static void measure_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const point_job* job = context;
    const clv_near* near = job->near;
    double bounds[6] = { DBL_MAX, DBL_MAX, DBL_MAX, -DBL_MAX, -DBL_MAX, -DBL_MAX };
    uint32_t begin = near_piece_begin( piece ), end = near_piece_end( piece, near->point_count );
    size_t stride = job->call->points->stride;
    const char* from = (const char*)job->call->positions + begin * stride;
    bool is_good = near->def.doubles ? near->def.flat
            ? measure_points( from, stride, end - begin, true, 2, bounds )
            : measure_points( from, stride, end - begin, true, 3, bounds )
        : near->def.flat ? measure_points( from, stride, end - begin, false, 2, bounds )
                                     : measure_points( from, stride, end - begin, false, 3, bounds );
    memcpy( job->lower + 3 * (size_t)piece, bounds, 3 * sizeof( double ) );
    memcpy( job->upper + 3 * (size_t)piece, bounds + 3, 3 * sizeof( double ) );
    job->bad[piece] = UINT32_MAX;
    for ( uint32_t i = begin; !is_good && job->bad[piece] == UINT32_MAX; ++i )
    {
        double p[3];
        CLV_ASSERT( i < end );
        near_read( near, job->call, i, p );
        job->bad[piece] =
            base_is_finite( p[0] ) && base_is_finite( p[1] ) && base_is_finite( p[2] ) ? UINT32_MAX : i;
    }
}

static clv_result check_radii( clv_near* near, near_call* call, double* most )
{
    for ( uint32_t i = 0; call->radii != NULL && i < near->point_count; ++i )
    {
        double radius = near_radius( near, call, i );
        if ( !( radius >= 0 ) || !base_is_finite( radius ) )
        {
            return clv_near_fail( near, CLV_BAD_ARGUMENT, i,
                "the radius of point %u is %g: not finite, or below 0", i, radius );
        }
        *most = radius > *most ? radius : *most;
        call->is_uniform = call->is_uniform && radius == near_radius( near, call, 0 );
    }
    return CLV_OK;
}

// About as many cells as a ball of that radius holds along the periodic axes.
static double count_in_ball( const near_frame* frame, double radius )
{
    static const double balls[4] = { 1, 2, 3.1415926535897932, 4.1887902047863910 };
    int axes = 0;
    double cells = 1 / frame->volume;
    for ( int k = 0; k < 3; ++k )
    {
        axes += frame->cell.periodic[k];
        cells *= frame->cell.periodic[k] ? radius : 1;
    }
    return cells * balls[axes];
}

// Images are looked for in whole cells along the edges. Those of a very skewed cell are needles, and nearly
// all images in so many of them are far away.
static clv_result check_images( clv_near* near, const near_call* call, double limit )
{
    double images = 1; // of each point in whole cells within reach, seen from both sides
    for ( int k = 0; k < 3; ++k )
    {
        images *= near->frame.cell.periodic[k] ? 2 * floor( call->parts[k] ) + 1 : 1;
    }
    double half = floor( images / 2 ) * near->point_count;
    if ( half + near->point_count > CLV_MAX_OBJECTS )
    {
        return clv_near_fail( near, CLV_TOO_MANY_OBJECTS, UINT32_MAX,
            "%u points have %.0f images within a limit of %g, together more than CLV_MAX_OBJECTS",
            near->point_count, half, limit );
    }
    double within = count_in_ball( &near->frame, limit ) + 1;
    if ( images > SKEWED_IMAGES && images > SKEWED_WASTE * within )
    {
        return clv_near_fail( near, CLV_BAD_ARGUMENT, UINT32_MAX,
            "the cell is too skewed: %.0f images of each point would be looked at, about %.0f lie within %g; "
            "describe the same lattice by shorter edges",
            images, within, limit );
    }
    return CLV_OK;
}

// The greatest difference on one axis whose square, as T rounds it, is not above the limit's.
static clv_result find_reach( clv_near* near, near_call* call, double most_radius )
{
    double cutoff =
        near_round( near, near_round( near, near->def.cutoff ) + near_round( near, near->def.skin ) );
    call->limit = cutoff;
    double limit = near_round( near, near_round( near, most_radius + most_radius ) + cutoff );
    double square = near_round( near, limit * limit );
    call->square = square;
    if ( !base_is_finite( square ) )
    {
        return clv_near_fail( near, CLV_BAD_ARGUMENT, UINT32_MAX,
            "a limit of %g is too large: its square is no finite %s", limit,
            near->def.doubles ? "double" : "float" );
    }
    double above =
        near->def.doubles ? nextafter( square, INFINITY ) : (double)nextafterf( (float)square, INFINITY );
    above = base_is_finite( above ) ? above : square;
    double reach = sqrt( above ) * ( 1 + 1e-6 ), most[3], slack[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        most[axis] = fmax( fabs( call->lower[axis] ), fabs( call->upper[axis] ) );
    }
    clv_near_frame_slack( &near->frame, most, near->def.doubles ? DBL_EPSILON : (double)FLT_EPSILON, slack );
    call->box_reach = reach - 2 * most_radius;
    near->frame.slack = fmax( fmax( slack[0], slack[1] ), slack[2] );
    for ( int k = 0; k < 3; ++k )
    {
        call->reach[k] = reach + slack[k];
        CLV_ASSERT( call->reach[k] >= reach && near->frame.heights[k] > 0 );
        call->parts[k] = call->reach[k] / near->frame.heights[k];
        if ( near->frame.cell.periodic[k] && call->reach[k] > 1e5 * near->frame.heights[k] )
        {
            return clv_near_fail( near, CLV_TOO_MANY_OBJECTS, UINT32_MAX,
                "a limit of %g reaches over more than 100,000 cells of thickness %g", limit,
                near->frame.heights[k] );
        }
    }
    return check_images( near, call, limit );
}

clv_result clv_near_points_measure( clv_near* near, near_call* call )
{
    double most_radius = 0;
    CLV_ASSERT( near->point_count == 0 || call->positions != NULL );
    call->is_uniform = true;
    clv_result result = check_radii( near, call, &most_radius );
    if ( result != CLV_OK || near->point_count == 0 )
    {
        return result;
    }
    uint32_t pieces = near_piece_count( near->point_count );
    if ( !base_array_reserve( &near->piece_bounds, &near->memory, 6 * (uint64_t)pieces ) ||
        !base_array_reserve( &near->piece_bad, &near->memory, pieces ) )
    {
        return clv_near_fail(
            near, CLV_OUT_OF_MEMORY, UINT32_MAX, "out of memory to measure %u points", near->point_count );
    }
    double* lower = near->piece_bounds.items;
    point_job job = { near, call, lower, lower + 3 * (size_t)pieces, near->piece_bad.items };
    clv_task_run( &near->tasks, measure_piece, pieces, &job );
    memcpy( call->lower, job.lower, sizeof( call->lower ) );
    memcpy( call->upper, job.upper, sizeof( call->upper ) );
    uint32_t bad = UINT32_MAX;
    for ( uint32_t i = 0; i < pieces; ++i )
    {
        bad = job.bad[i] < bad ? job.bad[i] : bad;
        for ( int axis = 0; axis < 3; ++axis )
        {
            call->lower[axis] = fmin( call->lower[axis], job.lower[3 * (size_t)i + (size_t)axis] );
            call->upper[axis] = fmax( call->upper[axis], job.upper[3 * (size_t)i + (size_t)axis] );
        }
    }
    if ( bad != UINT32_MAX )
    {
        double p[3];
        near_read( near, call, bad, p );
        return clv_near_fail(
            near, CLV_BAD_ARGUMENT, bad, "point %u is (%g, %g, %g): not finite", bad, p[0], p[1], p[2] );
    }
    return find_reach( near, call, most_radius );
}

// ---- wrapped

static void store_record( const clv_near* near, uint32_t id, const double at[3] )
{
    if ( near->def.doubles )
    {
        near_records64( near )[id] = ( near_record64 ){ { at[0], at[1], at[2] }, id };
    }
    else
    {
        near_records( near )[id] = ( near_record ){ { (float)at[0], (float)at[1], (float)at[2] }, id };
    }
}

// `q` into the cell, `s` its fractions there, `wrap` the cells it came from. False if that is too far.
static bool wrap_point( const clv_near* near, double q[3], double s[3], int32_t wrap[3] )
{
    const near_frame* frame = &near->frame;
    wrap[0] = wrap[1] = wrap[2] = 0;
    for ( int round = 0; round < WRAPS; ++round )
    {
        int32_t step[3] = { 0, 0, 0 };
        bool is_inside = true;
        near_fractions( frame, q, s );
        for ( int k = 0; k < 3; ++k )
        {
            if ( frame->cell.periodic[k] && !( s[k] >= 0 && s[k] < 1 ) )
            {
                double whole = floor( s[k] );
                if ( !( fabs( whole + wrap[k] ) < 0x1p30 ) )
                {
                    return false;
                }
                step[k] = (int32_t)whole;
                wrap[k] += step[k];
                is_inside = is_inside && step[k] == 0;
            }
        }
        if ( is_inside )
        {
            return true;
        }
        double offset[3];
        near_offset( frame, step, offset );
        for ( int axis = 0; axis < 3; ++axis )
        {
            q[axis] = near_round( near, q[axis] - offset[axis] );
        }
    }
    near_fractions( frame, q, s );
    return true;
}

// Records of points, wraps where they are wanted, and grid cells where `cells` is not NULL. The first point
// that is too far away, or UINT32_MAX. In the cell already is the usual case, and the short one.
static BASE_INLINE uint32_t wrap_points(
    clv_near* near, const near_call* call, uint32_t begin, uint32_t end, bool doubles, uint32_t axes )
{
    const near_frame frame = near->frame; // copies, which no store to the arrays below can change
    const near_grid grid = near->grid;
    double lower[3], upper[3];
    for ( int k = 0; k < 3; ++k )
    {
        lower[k] = frame.cell.periodic[k] ? 0 : -INFINITY;
        upper[k] = frame.cell.periodic[k] ? 1 : INFINITY;
    }
    size_t stride = call->points->stride;
    const char* from = (const char*)call->positions + begin * stride;
    int32_t* wraps = near->wraps.count > 0 ? near->wraps.items : NULL;
    uint32_t* cells = call->has_cells ? near->cells.items : NULL;
    near_record* records = near_records( near );
    near_record64* records64 = near_records64( near );
    for ( uint32_t i = begin; i < end; ++i, from += stride )
    {
        double p[3];
        read_point( from, doubles, axes, p );
        double x = p[0] * frame.inverse[0][0], y = p[1] * frame.inverse[1][1], z = p[2] * frame.inverse[2][2];
        bool is_inside = ( x >= lower[0] ) & ( x < upper[0] ) & ( y >= lower[1] ) & ( y < upper[1] ) &
            ( z >= lower[2] ) & ( z < upper[2] ) & frame.is_diagonal;
        if ( !is_inside && frame.is_periodic )
        {
            // Numbers of its own, so that the others stay in registers.
            double q[3] = { p[0], p[1], p[2] }, s[3];
            int32_t wrap[3];
            if ( !wrap_point( near, q, s, wrap ) )
            {
                return i;
            }
            p[0] = q[0], p[1] = q[1], p[2] = q[2];
            x = s[0], y = s[1], z = s[2];
            if ( wraps != NULL )
            {
                memcpy( wraps + 3 * (size_t)i, wrap, sizeof( wrap ) );
            }
        }
        else if ( wraps != NULL )
        {
            memset( wraps + 3 * (size_t)i, 0, 3 * sizeof( int32_t ) );
        }
        if ( doubles )
        {
            records64[i] = ( near_record64 ){ { p[0], p[1], p[2] }, i };
        }
        else
        {
            records[i] = ( near_record ){ { (float)p[0], (float)p[1], (float)p[2] }, i };
        }
        if ( cells != NULL )
        {
            cells[i] = near_cell_of( &grid, x, y, z );
            CLV_ASSERT( cells[i] < grid.cell_count );
        }
    }
    return UINT32_MAX;
}

static void wrap_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const point_job* job = context;
    clv_near* near = job->near;
    uint32_t begin = near_piece_begin( piece ), end = near_piece_end( piece, near->point_count );
    job->bad[piece] = near->def.doubles ? near->def.flat ? wrap_points( near, job->call, begin, end, true, 2 )
                                                         : wrap_points( near, job->call, begin, end, true, 3 )
        : near->def.flat ? wrap_points( near, job->call, begin, end, false, 2 )
                                        : wrap_points( near, job->call, begin, end, false, 3 );
}

// ---- images

// Along axis k, the shifts that bring a point at fraction s to within reach of the cell.
static inline void shift_range(
    const near_frame* frame, double part, double s, int k, int32_t* first, int32_t* last )
{
    if ( !frame->cell.periodic[k] )
    {
        *first = *last = 0;
    }
    else if ( part < 0.9 && s > -0.05 && s < 1.05 ) // all but tiny cells: no call of floor
    {
        *first = -( part + s >= 1 );
        *last = s <= part;
    }
    else
    {
        *first = (int32_t)ceil( -part - s );
        *last = (int32_t)floor( 1 + part - s );
    }
}

// How many images a point has, and what shifts they have on each axis.
static uint64_t count_images(
    const near_frame* frame, const double parts[3], const double s[3], int32_t first[3], int32_t last[3] )
{
    for ( int k = 0; k < 3; ++k )
    {
        shift_range( frame, parts[k], s[k], k, &first[k], &last[k] );
    }
    uint64_t deep = (uint64_t)( last[2] - first[2] ) + 1;
    uint64_t wide = (uint64_t)( last[1] - first[1] ) + 1;
    return (uint64_t)last[0] * wide * deep + (uint64_t)last[1] * deep + (uint64_t)last[2];
}

// The images of a point, by shift; their number.
static uint64_t make_images(
    const near_frame* frame, const double parts[3], const double s[3], uint32_t point, near_image* out )
{
    int32_t first[3], last[3];
    uint64_t expected = count_images( frame, parts, s, first, last ), count = 0;
    for ( int32_t x = 0; x <= last[0] && expected > 0; ++x ) // below 0 none is positive
    {
        for ( int32_t y = x > 0 ? first[1] : 0; y <= last[1]; ++y )
        {
            for ( int32_t z = x > 0 || y > 0 ? first[2] : 1; z <= last[2]; ++z )
            {
                out[count++] = ( near_image ){ point, { x, y, z } };
            }
        }
    }
    CLV_ASSERT( count == expected );
    return count;
}

static inline uint64_t near_count_images( const clv_near* near, const near_call* call, uint32_t point )
{
    double p[3], s[3];
    int32_t first[3], last[3];
    near_place( near, point, p );
    near_fractions( &near->frame, p, s );
    return count_images( &near->frame, call->parts, s, first, last );
}

static void count_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const point_job* job = context;
    uint64_t images = 0;
    for ( uint32_t i = near_piece_begin( piece ); i < near_piece_end( piece, job->near->point_count ); ++i )
    {
        images += near_count_images( job->near, job->call, i );
    }
    job->near->piece_images.items[piece] = images;
}

static void image_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const point_job* job = context;
    clv_near* near = job->near;
    uint64_t next = near->piece_images.items[piece];
    uint32_t end = near_piece_end( piece, near->point_count );
    for ( uint32_t i = near_piece_begin( piece ); i < end; ++i )
    {
        double p[3], s[3];
        near_place( near, i, p );
        near_fractions( &near->frame, p, s );
        uint64_t count = make_images( &near->frame, job->call->parts, s, i, near->images.items + next );
        for ( uint64_t n = next; n < next + count; ++n )
        {
            double offset[3], at[3];
            near_offset( &near->frame, near->images.items[n].shift, offset );
            for ( int axis = 0; axis < 3; ++axis )
            {
                at[axis] = near_round( near, p[axis] + near_round( near, offset[axis] ) );
            }
            store_record( near, near->point_count + (uint32_t)n, at );
        }
        next += count;
        CLV_ASSERT( next <= near->image_count );
    }
}

// Where the images of each piece begin, and their number.
static uint64_t sum_images( clv_near* near, uint32_t pieces )
{
    uint64_t sum = 0;
    for ( uint32_t i = 0; i < pieces; ++i )
    {
        uint64_t count = near->piece_images.items[i];
        near->piece_images.items[i] = sum;
        sum += count;
    }
    return sum;
}

clv_result clv_near_points_images( clv_near* near, near_call* call )
{
    uint32_t pieces = near_piece_count( near->point_count );
    near->image_count = 0;
    if ( !near->frame.is_periodic || pieces == 0 )
    {
        return CLV_OK;
    }
    if ( !base_array_reserve( &near->piece_images, &near->memory, pieces ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    point_job job = { near, call, NULL, NULL, NULL };
    clv_task_run( &near->tasks, count_piece, pieces, &job );
    uint64_t images = sum_images( near, pieces ), all = images + near->point_count;
    if ( all > CLV_MAX_OBJECTS )
    {
        return CLV_TOO_MANY_OBJECTS;
    }
    near->images.count = 0;
    near->records.count = near->point_count * near_record_size( near );
    if ( images > 0 &&
        ( !base_array_renew( &near->images, &near->memory, images ) ||
            !base_array_reserve( &near->records, &near->memory, all * near_record_size( near ) ) ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    near->image_count = (uint32_t)images;
    if ( images > 0 )
    {
        clv_task_run( &near->tasks, image_piece, pieces, &job );
    }
    return CLV_OK;
}

// ---- all of it

clv_result clv_near_points_wrap( clv_near* near, near_call* call )
{
    uint32_t pieces = near_piece_count( near->point_count );
    uint64_t wraps =
        near->frame.is_periodic && clv_near_wants_shifts( near ) ? 3 * (uint64_t)near->point_count : 0;
    near->image_count = 0;
    near->records.count = 0;
    if ( pieces == 0 )
    {
        return CLV_OK;
    }
    call->has_cells = near->grid.cell_count > 0 && near->frame.is_diagonal;
    if ( !base_array_reserve( &near->piece_bad, &near->memory, pieces ) ||
        !base_array_reserve(
            &near->records, &near->memory, near->point_count * (uint64_t)near_record_size( near ) ) ||
        !base_array_reserve( &near->wraps, &near->memory, wraps ) ||
        !base_array_reserve( &near->cells, &near->memory, call->has_cells ? near->point_count : 0 ) )
    {
        return clv_near_fail(
            near, CLV_OUT_OF_MEMORY, UINT32_MAX, "out of memory for %u points", near->point_count );
    }
    near->wraps.count = wraps;
    point_job job = { near, call, NULL, NULL, near->piece_bad.items };
    clv_task_run( &near->tasks, wrap_piece, pieces, &job );
    for ( uint32_t i = 0; i < pieces; ++i )
    {
        CLV_ASSERT( job.bad[i] == UINT32_MAX || job.bad[i] < near->point_count );
        if ( job.bad[i] != UINT32_MAX )
        {
            return clv_near_fail( near, CLV_BAD_ARGUMENT, job.bad[i],
                "point %u is more than 2^30 cells away from the first", job.bad[i] );
        }
    }
    return CLV_OK;
}
