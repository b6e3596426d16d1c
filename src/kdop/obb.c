// SPDX-License-Identifier: MIT
// Oriented boxes and the test by separating axes: Gottschalk, Lin, Manocha, "OBBTree: a hierarchical
// structure for rapid interference detection" (SIGGRAPH 1996).
#include "obb.h"

#include "narrow/bound.h"
#include "solid/solid_polar.h"

// Axes are floats, so they are neither of length 1 nor at right angles to the last digit; products of two may
// be off by this.
#define AXIS_ERROR 4e-6
// The planes of such a box are crossed a little outside of where the axes, taken as exact, put its corners:
// at most this share of its half sides' sum. No axis parts two boxes that are nearer.
#define CORNER_SLACK 2e-5
// What a float's rounding of an axis moves a point by, as a share of its distance from the center; twice as
// much for safety.
#define NARROWED 1.2e-7
// Edges whose directions are nearer than this, squared, have no axis of their own: those of the faces part
// what they could.
#define PARALLEL 1e-10

// ---- around a shape

static volume_own_box box_along( const narrow_core* core, const math_mat3* axes )
{
    volume_own_box own = { *axes, { 0, 0, 0 }, { 0, 0, 0 } };
    uint32_t count = clv_narrow_core_point_count( core );
    for ( int axis = 0; axis < 3; ++axis )
    {
        math_vec3 along = math_column( axes, axis );
        double lower = HUGE_VAL, upper = -HUGE_VAL;
        for ( uint32_t i = 0; i < count; ++i )
        {
            double at = math_dot( along, clv_narrow_core_point( core, i ) );
            lower = math_min( lower, at ), upper = math_max( upper, at );
        }
        own.center = math_add_scaled( own.center, along, 0.5 * ( lower + upper ) );
        ( &own.half_size.x )[axis] = 0.5 * ( upper - lower );
    }
    return own;
}

static math_mat3 spread_axes( const narrow_core* core )
{
    uint32_t count = clv_narrow_core_point_count( core );
    math_vec3 sum = { 0, 0, 0 };
    for ( uint32_t i = 0; i < count; ++i )
    {
        sum = math_add( sum, clv_narrow_core_point( core, i ) );
    }
    math_vec3 mean = math_scale( sum, 1.0 / (double)count );
    math_mat3 spread = { { { 0 } } };
    for ( uint32_t i = 0; i < count; ++i )
    {
        math_vec3 p = math_sub( clv_narrow_core_point( core, i ), mean );
        math_add_outer( &spread, p, p );
    }
    math_eigen eigen = math_eigen_symmetric( &spread );
    return eigen.converged ? eigen.vectors : math_identity();
}

static double bulk( const volume_own_box* own )
{
    return own->half_size.x * own->half_size.y * own->half_size.z;
}

volume_own_box clv_volume_own_box_make( const narrow_core* core )
{
    narrow_core unplaced = *core;
    unplaced.pose = ( math_pose ){ math_identity(), { 0, 0, 0 } };
    math_mat3 plain = math_identity();
    volume_own_box own = box_along( &unplaced, &plain );
    if ( core->kind == CLV_SHAPE_HULL )
    {
        math_mat3 axes = spread_axes( &unplaced );
        volume_own_box turned = box_along( &unplaced, &axes );
        // Not for a hair: a symmetric body's spread has any axes.
        own = bulk( &turned ) < 0.99 * bulk( &own ) ? turned : own;
    }
    return own;
}

volume_own_box clv_volume_own_box_along( const narrow_core* core, const math_mat3* axes )
{
    narrow_core unplaced = *core;
    unplaced.pose = ( math_pose ){ math_identity(), { 0, 0, 0 } };
    return box_along( &unplaced, axes );
}

clv_obb clv_volume_core_obb( const narrow_core* core, double radius, const volume_own_box* own )
{
    clv_obb obb = { 0 };
    math_vec3 center = math_pose_apply( &core->pose, own->center );
    obb.center = math_narrow( center );
    double off = math_length( math_sub( math_widen( obb.center ), center ) );
    double reach = own->half_size.x + own->half_size.y + own->half_size.z + radius;
    // What is lost: the center's rounding, the axes', and that of the doubles on the way, which grows with
    // the distance from the origin.
    double lost = off + NARROWED * reach + 0x1p-48 * ( reach + math_largest( center ) );
    for ( int i = 0; i < 3; ++i )
    {
        obb.axes[i] = math_narrow( math_apply( &core->pose.rotation, math_column( &own->axes, i ) ) );
        ( &obb.half_size.x )[i] = clv_narrow_round_up( ( &own->half_size.x )[i] + radius + lost );
    }
    return obb;
}

static void make_obb( const narrow_core* core, double radius, void* obb )
{
    volume_own_box own = clv_volume_own_box_make( core );
    *(clv_obb*)obb = clv_volume_core_obb( core, radius, &own );
}

clv_result clv_shape_obb( clv_shape shape, clv_transform at, clv_obb* obb )
{
    return clv_narrow_around( shape, at, make_obb, obb );
}

// ---- two of them

bool clv_volume_obb_is_good( const clv_obb* obb )
{
    if ( !isfinite( obb->center.x ) || !isfinite( obb->center.y ) || !isfinite( obb->center.z ) ||
        !( obb->half_size.x >= 0.0f && obb->half_size.y >= 0.0f && obb->half_size.z >= 0.0f ) )
    {
        return false;
    }
    for ( int i = 0; i < 9; ++i )
    {
        double product = math_dot( math_widen( obb->axes[i / 3] ), math_widen( obb->axes[i % 3] ) );
        double expected = i / 3 == i % 3 ? 1.0 : 0.0;
        if ( !( math_abs( product - expected ) <= AXIS_ERROR ) )
        {
            return false;
        }
    }
    return true;
}

typedef struct wide_obb
{
    math_vec3 center, axes[3];
    double half[3], slack;
} wide_obb;

static wide_obb widen( const clv_obb* obb )
{
    wide_obb w = { .center = math_widen( obb->center ) };
    for ( int i = 0; i < 3; ++i )
    {
        w.axes[i] = math_widen( obb->axes[i] );
        w.half[i] = (double)( &obb->half_size.x )[i];
    }
    w.slack = CORNER_SLACK * ( w.half[0] + w.half[1] + w.half[2] );
    return w;
}

// How far it reaches from its center along a direction of that length. Not a number, or infinite, if it has
// no end.
static double reach_along( const wide_obb* w, math_vec3 direction, double length )
{
    return w->half[0] * math_abs( math_dot( w->axes[0], direction ) ) +
        w->half[1] * math_abs( math_dot( w->axes[1], direction ) ) +
        w->half[2] * math_abs( math_dot( w->axes[2], direction ) ) + w->slack * length;
}

static void interval( const wide_obb* w, uint32_t axis, float* lower, float* upper )
{
    static const math_vec3 axes[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    double reach = reach_along( w, axes[axis], 1.0 );
    double at = ( &w->center.x )[axis];
    bool ends = reach < HUGE_VAL; // false for NaN too
    *lower = ends ? clv_narrow_round_down( at - reach ) : -HUGE_VALF;
    *upper = ends ? clv_narrow_round_up( at + reach ) : HUGE_VALF;
}

void clv_volume_obb_interval( const clv_obb* obb, uint32_t axis, float* lower, float* upper )
{
    wide_obb w = widen( obb );
    interval( &w, axis, lower, upper );
}

// Comparisons with NaN are false: what has no end is parted from nothing.
static bool parts(
    const wide_obb* a, const wide_obb* b, math_vec3 between, math_vec3 direction, double length )
{
    double reach = reach_along( a, direction, length ) + reach_along( b, direction, length );
    return math_abs( math_dot( between, direction ) ) > reach;
}

bool clv_volume_obb_overlap( const clv_obb* a, const clv_obb* b )
{
    wide_obb wa = widen( a ), wb = widen( b );
    // First along x, y and z, as a sweep does: so a sweep along one of them never parts what this test joins.
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        float lower_a, upper_a, lower_b, upper_b;
        interval( &wa, axis, &lower_a, &upper_a );
        interval( &wb, axis, &lower_b, &upper_b );
        if ( lower_a > upper_b || lower_b > upper_a )
        {
            return false;
        }
    }
    math_vec3 between = math_sub( wb.center, wa.center );
    for ( int i = 0; i < 3; ++i )
    {
        if ( parts( &wa, &wb, between, wa.axes[i], 1.0 ) || parts( &wa, &wb, between, wb.axes[i], 1.0 ) )
        {
            return false;
        }
    }
    for ( int i = 0; i < 9; ++i )
    {
        math_vec3 edge = math_cross( wa.axes[i / 3], wb.axes[i % 3] );
        double squared = math_length_squared( edge );
        if ( squared > PARALLEL && parts( &wa, &wb, between, edge, sqrt( squared ) ) )
        {
            return false;
        }
    }
    return true;
}
