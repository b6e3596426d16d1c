// SPDX-License-Identifier: MIT
// Separating axes of two boxes (Gottschalk, Lin, Manocha, "OBBTree", 1996), in the frame of the first.
#include "narrow/box_axes.h"

#include "base/assertion.h"
#include <math.h>
#include <stddef.h>

// Edge axes shorter than this come from nearly parallel edges and say nothing a face axis does not.
#define SHORTEST_EDGE_AXIS 1e-3f

static void set_edge_normal( const narrow_relation* r, narrow_axis* best, float along, float inverse_length )
{
    const int i1 = ( best->i + 1 ) % 3, i2 = ( best->i + 2 ) % 3;
    float s = along < 0.0f ? -inverse_length : inverse_length;
    best->normal[best->i] = 0.0f;
    best->normal[i1] = -r->rotation[i2][best->j] * s;
    best->normal[i2] = r->rotation[i1][best->j] * s;
}

_Static_assert( sizeof( narrow_box ) == 15 * sizeof( float ), "read as rows of four" );

typedef struct lane_box
{
    math_lanes center[3], half[3], axes[3][3];
} lane_box;

/// narrow_relation in lanes, with what is needed more than once of it.
typedef struct lane_relation
{
    math_lanes rotation[3][3], steepness[3][3]; ///< and without its sign
    math_lanes offset[3];
    math_lanes half_a[3], half_b[3];
} lane_relation;

/// The best face of either box: the axis on which the other is farthest out.
typedef struct lane_faces
{
    math_lanes a, b;           ///< separation
    math_lanes axis_a, axis_b; ///< number of the axis
} lane_faces;

static lane_box load_boxes( const narrow_box* const from[MATH_LANES] )
{
    math_lanes rows[4][MATH_LANES];
    for ( uint32_t l = 0; l < MATH_LANES; ++l )
    {
        const float* box = (const float*)from[l];
        rows[0][l] = math_lanes_load( box );
        rows[1][l] = math_lanes_load( box + 4 );
        rows[2][l] = math_lanes_load( box + 8 );
        rows[3][l] =
            math_lanes_load( box + 11 ); // the last row overlaps the one before it, not the box's end
    }
    for ( int k = 0; k < 4; ++k )
    {
        math_lanes_transpose( rows[k] );
    }
    lane_box to = {
        { rows[0][0], rows[0][1], rows[0][2] },
        { rows[0][3], rows[1][0], rows[1][1] },
        { { rows[1][2], rows[1][3], rows[2][0] }, { rows[2][1], rows[2][2], rows[2][3] },
            { rows[3][1], rows[3][2], rows[3][3] } },
    };
    return to;
}

static math_lanes lane_dot( const math_lanes a[3], const math_lanes b[3] )
{
    return math_lanes_add( math_lanes_add( math_lanes_mul( a[0], b[0] ), math_lanes_mul( a[1], b[1] ) ),
        math_lanes_mul( a[2], b[2] ) );
}

static lane_relation relate_lanes( const lane_box* a, const lane_box* b )
{
    lane_relation r;
    math_lanes d[3];
    for ( int i = 0; i < 3; ++i )
    {
        d[i] = math_lanes_sub( b->center[i], a->center[i] );
        r.half_a[i] = a->half[i];
        r.half_b[i] = b->half[i];
    }
    for ( int i = 0; i < 3; ++i )
    {
        r.offset[i] = lane_dot( a->axes[i], d );
        for ( int j = 0; j < 3; ++j )
        {
            r.rotation[i][j] = lane_dot( a->axes[i], b->axes[j] );
            r.steepness[i][j] = math_lanes_abs( r.rotation[i][j] );
        }
    }
    return r;
}

/// half + one |x| + two |y| + three |z|, and how far `along` is beyond that.
static math_lanes beyond(
    math_lanes along, math_lanes half, const math_lanes halves[3], math_lanes x, math_lanes y, math_lanes z )
{
    math_lanes reach = math_lanes_add( half, math_lanes_mul( halves[0], x ) );
    reach = math_lanes_add( reach, math_lanes_mul( halves[1], y ) );
    reach = math_lanes_add( reach, math_lanes_mul( halves[2], z ) );
    return math_lanes_sub( math_lanes_abs( along ), reach );
}

static void take_better( math_lanes separation, int axis, math_lanes* best, math_lanes* best_axis )
{
    math_mask better = math_lanes_greater( separation, *best );
    *best = math_lanes_select( better, separation, *best );
    *best_axis = math_lanes_select( better, math_lanes_set( (float)axis ), *best_axis );
}

static lane_faces find_faces( const lane_relation* r )
{
    const math_lanes none = math_lanes_set( -INFINITY ), first = math_lanes_set( 0.0f );
    lane_faces faces = { none, none, first, first };
    for ( int k = 0; k < 3; ++k )
    {
        const math_lanes* row = r->steepness[k];
        math_lanes out = beyond( r->offset[k], r->half_a[k], r->half_b, row[0], row[1], row[2] );
        take_better( out, k, &faces.a, &faces.axis_a );

        const math_lanes column[3] = { r->rotation[0][k], r->rotation[1][k], r->rotation[2][k] };
        out = beyond( lane_dot( r->offset, column ), r->half_b[k], r->half_a, r->steepness[0][k],
            r->steepness[1][k], r->steepness[2][k] );
        take_better( out, k, &faces.b, &faces.axis_b );
    }
    return faces;
}

static math_mask are_apart( const lane_faces* faces, math_lanes margin )
{
    return math_mask_or( math_lanes_greater( faces->a, margin ), math_lanes_greater( faces->b, margin ) );
}

/// What remains of a separation along an axis once the way is gone. `along` tells on which side the second
/// box is.
static math_lanes remaining( math_lanes separation, math_lanes along, math_lanes way )
{
    const math_lanes zero = math_lanes_set( 0.0f );
    math_lanes closing = math_lanes_if_greater( zero, along, way, math_lanes_negate( way ) );
    return math_lanes_sub( separation, math_lanes_max( closing, zero ) );
}

/// Pairs that are more than `slack` apart along the axis of a face even after they have gone `way`, which is
/// in the frame of the first box.
static math_mask stay_apart( const lane_relation* r, const math_lanes way[3], math_lanes slack )
{
    math_mask apart = math_lanes_greater( slack, slack );
    for ( int k = 0; k < 3; ++k )
    {
        const math_lanes* row = r->steepness[k];
        math_lanes out = beyond( r->offset[k], r->half_a[k], r->half_b, row[0], row[1], row[2] );
        apart = math_mask_or( apart, math_lanes_greater( remaining( out, r->offset[k], way[k] ), slack ) );

        const math_lanes column[3] = { r->rotation[0][k], r->rotation[1][k], r->rotation[2][k] };
        math_lanes along = lane_dot( r->offset, column );
        out = beyond(
            along, r->half_b[k], r->half_a, r->steepness[0][k], r->steepness[1][k], r->steepness[2][k] );
        apart = math_mask_or(
            apart, math_lanes_greater( remaining( out, along, lane_dot( way, column ) ), slack ) );
    }
    return apart;
}

uint32_t clv_narrow_near_pairs( const narrow_pairs* pairs, const narrow_ways* ways )
{
    lane_box a = load_boxes( pairs->a ), b = load_boxes( pairs->b );
    lane_relation r = relate_lanes( &a, &b );
    if ( ways == NULL )
    {
        lane_faces faces = find_faces( &r );
        return math_mask_bits( math_mask_not( are_apart( &faces, math_lanes_load( pairs->margin ) ) ) );
    }
    const math_lanes world[3] = { math_lanes_load( ways->x ), math_lanes_load( ways->y ),
        math_lanes_load( ways->z ) };
    const math_lanes way[3] = { lane_dot( a.axes[0], world ), lane_dot( a.axes[1], world ),
        lane_dot( a.axes[2], world ) };
    return math_mask_bits( math_mask_not( stay_apart( &r, way, math_lanes_load( ways->slack ) ) ) );
}

/// The best edge axis so far, if it beats the faces.
typedef struct lane_edge
{
    math_lanes to_beat;
    math_lanes number; ///< 3 i + j; -1: a face is better
    math_lanes along, inverse_length;
    math_mask apart;
} lane_edge;

static void try_edge( const lane_relation* r, int i, int j, math_lanes margin, lane_edge* best )
{
    const math_lanes one = math_lanes_set( 1.0f ), zero = math_lanes_set( 0.0f );
    const int i1 = ( i + 1 ) % 3, i2 = ( i + 2 ) % 3, j1 = ( j + 1 ) % 3, j2 = ( j + 2 ) % 3;
    math_lanes square = math_lanes_sub( one, math_lanes_mul( r->rotation[i][j], r->rotation[i][j] ) );
    math_lanes along = math_lanes_sub( math_lanes_mul( r->rotation[i1][j], r->offset[i2] ),
        math_lanes_mul( r->rotation[i2][j], r->offset[i1] ) );
    math_lanes reach_a = math_lanes_add( math_lanes_mul( r->half_a[i1], r->steepness[i2][j] ),
        math_lanes_mul( r->half_a[i2], r->steepness[i1][j] ) );
    math_lanes reach_b = math_lanes_add( math_lanes_mul( r->half_b[j1], r->steepness[i][j2] ),
        math_lanes_mul( r->half_b[j2], r->steepness[i][j1] ) );
    math_lanes scaled = math_lanes_sub( math_lanes_sub( math_lanes_abs( along ), reach_a ), reach_b );

    // Most axes lose without a root: the length is below 1, so dividing by it makes a negative value more so.
    math_mask parallel =
        math_lanes_greater( math_lanes_set( SHORTEST_EDGE_AXIS * SHORTEST_EDGE_AXIS ), square );
    math_mask loses = math_mask_and(
        math_lanes_greater( zero, scaled ), math_mask_not( math_lanes_greater( scaled, best->to_beat ) ) );
    math_mask counts = math_mask_not( math_mask_or( parallel, loses ) );
    if ( math_mask_bits( counts ) == 0 )
    {
        return;
    }
    math_lanes inverse_length = math_lanes_div( one, math_lanes_sqrt( square ) );
    math_lanes separation = math_lanes_mul( scaled, inverse_length );
    best->apart =
        math_mask_or( best->apart, math_mask_and( counts, math_lanes_greater( separation, margin ) ) );
    math_mask better = math_mask_and( counts, math_lanes_greater( separation, best->to_beat ) );
    best->to_beat = math_lanes_select( better, separation, best->to_beat );
    best->number = math_lanes_select( better, math_lanes_set( (float)( 3 * i + j ) ), best->number );
    best->along = math_lanes_select( better, along, best->along );
    best->inverse_length = math_lanes_select( better, inverse_length, best->inverse_length );
}

static math_lanes least_half( const math_lanes half[3] )
{
    return math_lanes_min( math_lanes_min( half[0], half[1] ), half[2] );
}

_Static_assert(
    sizeof( narrow_relation ) == 18 * sizeof( float ), "written as four rows of four, and two numbers" );

static void unpack_relation( const lane_relation* from, narrow_relation to[MATH_LANES] )
{
    math_lanes rows[4][4] = {
        { from->rotation[0][0], from->rotation[0][1], from->rotation[0][2], from->rotation[1][0] },
        { from->rotation[1][1], from->rotation[1][2], from->rotation[2][0], from->rotation[2][1] },
        { from->rotation[2][2], from->offset[0], from->offset[1], from->offset[2] },
        { from->half_a[0], from->half_a[1], from->half_a[2], from->half_b[0] },
    };
    float last[2][MATH_LANES];
    math_lanes_store( last[0], from->half_b[1] );
    math_lanes_store( last[1], from->half_b[2] );
    for ( int k = 0; k < 4; ++k )
    {
        math_lanes_transpose( rows[k] );
    }
    for ( uint32_t l = 0; l < MATH_LANES; ++l )
    {
        float* out = (float*)&to[l];
        for ( int k = 0; k < 4; ++k )
        {
            math_lanes_store( out + 4 * k, rows[k][l] );
        }
        out[16] = last[0][l];
        out[17] = last[1][l];
    }
}

/// What find_faces and try_edge left, lane by lane.
static void unpack_axes( const lane_faces* faces, math_lanes face, uint32_t use_b, const lane_edge* edge,
    const narrow_relation r[MATH_LANES], narrow_axis best[MATH_LANES] )
{
    float axis_a[MATH_LANES], axis_b[MATH_LANES], separation[MATH_LANES];
    float number[MATH_LANES], beaten[MATH_LANES], along[MATH_LANES], inverse_length[MATH_LANES];
    math_lanes_store( axis_a, faces->axis_a );
    math_lanes_store( axis_b, faces->axis_b );
    math_lanes_store( separation, face );
    math_lanes_store( number, edge->number );
    math_lanes_store( beaten, edge->to_beat );
    math_lanes_store( along, edge->along );
    math_lanes_store( inverse_length, edge->inverse_length );
    for ( uint32_t l = 0; l < MATH_LANES; ++l )
    {
        if ( number[l] < 0.0f )
        {
            narrow_axis_kind kind = ( use_b >> l & 1u ) != 0 ? NARROW_FACE_B : NARROW_FACE_A;
            best[l] = ( narrow_axis ){ kind, (int)axis_a[l], (int)axis_b[l], separation[l], { 0 } };
        }
        else
        {
            int edges = (int)number[l];
            CLV_ASSERT( edges < 9 && inverse_length[l] > 0.0f );
            best[l] = ( narrow_axis ){ NARROW_EDGES, edges / 3, edges % 3, beaten[l], { 0 } };
            set_edge_normal( &r[l], &best[l], along[l], inverse_length[l] );
        }
    }
}

uint32_t clv_narrow_find_axes(
    const narrow_pairs* pairs, narrow_relation r[MATH_LANES], narrow_axis best[MATH_LANES] )
{
    const math_lanes zero = math_lanes_set( 0.0f ), margin = math_lanes_load( pairs->margin );
    lane_box a = load_boxes( pairs->a ), b = load_boxes( pairs->b );
    lane_relation lanes = relate_lanes( &a, &b );
    lane_faces faces = find_faces( &lanes );
    math_lanes least = math_lanes_min( least_half( lanes.half_a ), least_half( lanes.half_b ) );
    // A tie must not be decided by the last bit: the first box keeps it within a thousandth of the smaller
    // sides.
    math_lanes tolerance = math_lanes_mul( math_lanes_set( 2e-3f ), least );
    math_mask use_b = math_lanes_greater( faces.b, math_lanes_add( faces.a, tolerance ) );
    math_lanes face = math_lanes_select( use_b, faces.b, faces.a );
    // An edge contact has one point where a face has four, so it must be the better axis by a clear measure.
    math_lanes shorter = math_lanes_mul( math_lanes_set( 0.95f ), face );
    lane_edge edge = {
        .to_beat = math_lanes_add( math_lanes_if_greater( zero, face, shorter, face ),
            math_lanes_mul( math_lanes_set( 5.0f ), tolerance ) ),
        .number = math_lanes_set( -1.0f ),
        .along = zero,
        .inverse_length = zero,
        .apart = are_apart( &faces, margin ),
    };
    for ( int i = 0; i < 3; ++i )
    {
        for ( int j = 0; j < 3; ++j )
        {
            try_edge( &lanes, i, j, margin, &edge );
        }
    }
    uint32_t found = math_mask_bits( math_mask_not( edge.apart ) );
    if ( found != 0 )
    {
        unpack_relation( &lanes, r );
        unpack_axes( &faces, face, math_mask_bits( use_b ), &edge, r, best );
    }
    return found;
}
