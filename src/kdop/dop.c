// SPDX-License-Identifier: MIT
// Polytopes between 3, 7, 9 or 13 pairs of parallel planes: Klosowski, Held, Mitchell, Sowizral, Zikan,
// "Efficient collision detection using bounding volume hierarchies of k-DOPs" (1998), whose 6-, 14-, 18- and
// 26-DOPs these are.
#include "dop.h"

#include "base/assertion.h"
#include "narrow/bound.h"

// Square root of 3, rounded up: the length of an axis through corners.
#define CORNER_LENGTH 1.7320508075688774

// All axes there are. A kind has the first three, those through edges, those through corners, or both.
static const clv_vec3 s_axes[VOLUME_DOP_AXES_MOST] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 1, 0 },
    { 1, -1, 0 }, { 1, 0, 1 }, { 1, 0, -1 }, { 0, 1, 1 }, { 0, 1, -1 }, { 1, 1, 1 }, { 1, 1, -1 },
    { 1, -1, 1 }, { -1, 1, 1 } };

clv_dop_kind clv_volume_axes_of( clv_volume_kind kind )
{
    static const uint8_t s_axes_of[] = {
        [CLV_VOLUME_AABB] = CLV_DOP_6,
        [CLV_VOLUME_DOP18] = CLV_DOP_18,
        [CLV_VOLUME_SPHERE] = CLV_DOP_18,
        [CLV_VOLUME_DOP6] = CLV_DOP_6,
        [CLV_VOLUME_DOP14] = CLV_DOP_14,
        [CLV_VOLUME_DOP26] = CLV_DOP_26,
        [CLV_VOLUME_OBB] = CLV_DOP_6,
    };
    return (clv_dop_kind)( (unsigned)kind < sizeof( s_axes_of ) ? s_axes_of[kind] : 0 );
}

size_t clv_volume_bytes( clv_volume_kind kind )
{
    return kind == CLV_VOLUME_SPHERE ? sizeof( clv_sphere )
        : kind == CLV_VOLUME_OBB     ? sizeof( clv_obb )
                                     : (size_t)clv_volume_axes_of( kind ) * sizeof( float );
}

// A 14-DOP has no axes through edges: its fourth is the tenth of all.
static uint32_t number_of( clv_dop_kind kind, uint32_t index )
{
    return kind == CLV_DOP_14 && index >= 3 ? index + 6 : index;
}

clv_vec3 clv_dop_axis( clv_dop_kind kind, uint32_t index )
{
    CLV_ASSERT( index < (uint32_t)kind / 2 && index < VOLUME_DOP_AXES_MOST );
    return s_axes[number_of( kind, index )];
}

double clv_volume_dop_axis_length( clv_dop_kind kind, uint32_t index )
{
    uint32_t number = number_of( kind, index );
    return number < 3 ? 1.0 : number < 9 ? VOLUME_DIAGONAL : CORNER_LENGTH;
}

// How far a point lies along every axis of a kind.
static void measure( clv_dop_kind kind, math_vec3 p, double heights[VOLUME_DOP_AXES_MOST] )
{
    uint32_t count = 3;
    heights[0] = p.x, heights[1] = p.y, heights[2] = p.z;
    if ( kind == CLV_DOP_18 || kind == CLV_DOP_26 )
    {
        heights[3] = p.x + p.y, heights[4] = p.x - p.y, heights[5] = p.x + p.z;
        heights[6] = p.x - p.z, heights[7] = p.y + p.z, heights[8] = p.y - p.z;
        count = 9;
    }
    if ( kind == CLV_DOP_14 || kind == CLV_DOP_26 )
    {
        double sum = p.x + p.y, difference = p.x - p.y;
        heights[count] = sum + p.z, heights[count + 1] = sum - p.z;
        heights[count + 2] = difference + p.z, heights[count + 3] = p.z - difference;
    }
}

// Adding up three numbers rounds twice, and the exact sum may lie on the other side of a float. One step of a
// double at the size of the numbers covers it; sums of two that end in a float are exact enough as they are.
static double slack_of( clv_dop_kind kind, uint32_t axis, double largest )
{
    return number_of( kind, axis ) < 9 ? 0.0 : largest * 0x1p-50;
}

void clv_volume_core_dop( const narrow_core* core, double radius, clv_dop_kind kind, float* ends )
{
    double lower[VOLUME_DOP_AXES_MOST] = { 0 }, upper[VOLUME_DOP_AXES_MOST] = { 0 };
    uint32_t axis_count = (uint32_t)kind / 2;
    uint32_t count = clv_narrow_core_point_count( core ); // at least one
    double largest = 0.0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        math_vec3 p = clv_narrow_core_point( core, i );
        double heights[VOLUME_DOP_AXES_MOST];
        measure( kind, p, heights );
        largest = math_max( largest, math_largest( p ) );
        for ( uint32_t axis = 0; axis < axis_count; ++axis )
        {
            lower[axis] = i == 0 ? heights[axis] : math_min( lower[axis], heights[axis] );
            upper[axis] = i == 0 ? heights[axis] : math_max( upper[axis], heights[axis] );
        }
    }
    for ( uint32_t axis = 0; axis < axis_count; ++axis )
    {
        double skin = radius * clv_volume_dop_axis_length( kind, axis ) + slack_of( kind, axis, largest );
        ends[axis] = clv_narrow_round_down( lower[axis] - skin );
        ends[axis_count + axis] = clv_narrow_round_up( upper[axis] + skin );
    }
}

// ---- the paper's own kinds

clv_sphere clv_volume_core_sphere( const narrow_core* core, double radius )
{
    double reach = core->kind == CLV_SHAPE_BOX ? math_length( core->half_size ) : narrow_core_extent( core );
    clv_vec3 center = math_narrow( core->pose.position );
    // A pose that is not a float's loses a little when the center becomes one.
    double off = math_length( math_sub( math_widen( center ), core->pose.position ) );
    clv_sphere sphere = { center, clv_narrow_round_up( ( reach + off + radius ) * ( 1.0 + 0x1p-50 ) ) };
    return sphere;
}

static void make_dop18( const narrow_core* core, double radius, void* dop )
{
    clv_volume_core_dop( core, radius, CLV_DOP_18, dop ); // laid out alike
}

clv_result clv_shape_dop18( clv_shape shape, clv_transform at, clv_dop18* dop )
{
    return clv_narrow_around( shape, at, make_dop18, dop );
}

static void make_sphere( const narrow_core* core, double radius, void* sphere )
{
    *(clv_sphere*)sphere = clv_volume_core_sphere( core, radius );
}

clv_result clv_shape_sphere( clv_shape shape, clv_transform at, clv_sphere* sphere )
{
    return clv_narrow_around( shape, at, make_sphere, sphere );
}
