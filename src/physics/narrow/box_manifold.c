// SPDX-License-Identifier: MIT
// The axis of least penetration (box_axes.c), then the incident face clipped by the sides of the reference
// face (Sutherland and Hodgman, 1974), or the closest points of two edges.
// All of it happens in the frame of one of the boxes, so nothing is lost far from the world's origin.
#include "narrow/box_manifold.h"

#include "base/assertion.h"
#include "narrow/box_axes.h"

#include <math.h>
#include <stddef.h>

// Eight is the most a quadrilateral clipped by four lines can have.
#define CLIP_POINTS 8

/// A corner of the incident face, clipped. u and v run along the reference face, w away from it.
typedef struct clip_point
{
    float u, v, w;
    uint16_t feature;
    /// what the edge to the next point lies on: 0-3 the incident face's edges, 4-7 a clip line
    uint16_t edge;
} clip_point;

/// The same seen from the second box.
static narrow_relation turned( const narrow_relation* r )
{
    narrow_relation t;
    for ( int i = 0; i < 3; ++i )
    {
        t.half_a[i] = r->half_b[i];
        t.half_b[i] = r->half_a[i];
        float sum = 0.0f;
        for ( int j = 0; j < 3; ++j )
        {
            t.rotation[i][j] = r->rotation[j][i];
            sum += r->rotation[j][i] * r->offset[j];
        }
        t.offset[i] = -sum;
    }
    return t;
}

/// Where four corners of the second box, given in its own frame, lie along an axis of the first.
static math_lanes corners_along( const narrow_relation* r, int axis, const math_lanes corners[3] )
{
    const float* row = r->rotation[axis];
    math_lanes sum = math_lanes_add( math_lanes_mul( math_lanes_set( row[0] ), corners[0] ),
        math_lanes_mul( math_lanes_set( row[1] ), corners[1] ) );
    sum = math_lanes_add( sum, math_lanes_mul( math_lanes_set( row[2] ), corners[2] ) );
    return math_lanes_add( math_lanes_set( r->offset[axis] ), sum );
}

/// The face of the second box that looks most against the reference face, as a polygon.
/// Returns the features' high bits.
static uint32_t incident_face(
    const narrow_relation* r, int axis, float sign, clip_point polygon[CLIP_POINTS] )
{
    int face = 0;
    for ( int j = 1; j < 3; ++j )
    {
        face = narrow_abs( r->rotation[axis][j] ) > narrow_abs( r->rotation[axis][face] ) ? j : face;
    }
    const int u_axis = ( axis + 1 ) % 3, v_axis = ( axis + 2 ) % 3;
    const int p = ( face + 1 ) % 3, q = ( face + 2 ) % 3;
    float u[4], v[4], w[4];
    float outward = sign * r->rotation[axis][face] > 0.0f ? -r->half_b[face] : r->half_b[face];

    // All four corners at once, in lanes.
    static const float corner_p[4] = { 1.0f, -1.0f, -1.0f, 1.0f };
    static const float corner_q[4] = { 1.0f, 1.0f, -1.0f, -1.0f };
    math_lanes b[3];
    b[face] = math_lanes_set( outward );
    b[p] = math_lanes_mul( math_lanes_load( corner_p ), math_lanes_set( r->half_b[p] ) );
    b[q] = math_lanes_mul( math_lanes_load( corner_q ), math_lanes_set( r->half_b[q] ) );
    math_lanes_store( u, corners_along( r, u_axis, b ) );
    math_lanes_store( v, corners_along( r, v_axis, b ) );
    math_lanes_store( w,
        math_lanes_sub( math_lanes_mul( math_lanes_set( sign ), corners_along( r, axis, b ) ),
            math_lanes_set( r->half_a[axis] ) ) );
    for ( uint32_t k = 0; k < 4; ++k )
    {
        polygon[k] = ( clip_point ){ u[k], v[k], w[k], (uint16_t)k, (uint16_t)k };
    }
    return (uint32_t)face | ( outward < 0.0f ? 4u : 0u );
}

/// Where the edge from p to q crosses a clip line, given how far each lies outside it.
static clip_point crossing(
    const clip_point* p, const clip_point* q, float out_p, float out_q, uint32_t line )
{
    float t = out_p / ( out_p - out_q );
    uint32_t feature = ( p->edge < 4 ? 4u + p->edge * 4u : 20u + ( p->edge - 4u ) * 4u ) + line;
    clip_point c = { p->u + t * ( q->u - p->u ), p->v + t * ( q->v - p->v ), p->w + t * ( q->w - p->w ),
        (uint16_t)feature, p->edge };
    return c;
}

/// Keep what lies within `reach` of 0 on one side of u or v. Lines 0, 1 bound u above and below; 2, 3 bound
/// v. `points` are the ones to clip, and `spare` has room for what is left of them; they change places if any
/// point had to go.
static uint32_t clip( clip_point** points, clip_point** spare, uint32_t count, uint32_t line, float reach )
{
    clip_point* in = *points;
    clip_point* out = *spare;
    float sign = ( line & 1 ) == 0 ? 1.0f : -1.0f;
    float outside[CLIP_POINTS + 1]; // how far each lies beyond the line; the first once more at the end
    CLV_ASSERT( count <= CLIP_POINTS );
    bool any = false;
    for ( uint32_t k = 0; k < count; ++k )
    {
        outside[k] = sign * ( line < 2 ? in[k].u : in[k].v ) - reach;
        any |= !( outside[k] <= 0.0f );
    }
    if ( !any )
    {
        return count;
    }
    outside[count] = outside[0];
    uint32_t kept = 0;
    for ( uint32_t k = 0; k < count; ++k )
    {
        const clip_point* p = &in[k];
        bool stays = outside[k] <= 0.0f;
        if ( stays && kept < CLIP_POINTS )
        {
            out[kept++] = *p;
        }
        if ( stays != ( outside[k + 1] <= 0.0f ) && kept < CLIP_POINTS )
        {
            const clip_point* q = &in[k + 1 < count ? k + 1 : 0];
            out[kept] = crossing( p, q, outside[k], outside[k + 1], line );
            out[kept].edge =
                stays ? (uint16_t)( 4 + line ) : p->edge; // leaving: the next edge runs along the line
            kept += 1;
        }
    }
    *points = out;
    *spare = in;
    return kept;
}

static float triangle_area( const clip_point* a, const clip_point* b, const clip_point* c )
{
    return ( b->u - a->u ) * ( c->v - a->v ) - ( b->v - a->v ) * ( c->u - a->u );
}

/// Four points that keep the deepest one and most of the area: deepest, farthest from it, then the largest
/// triangle on either side.
static void reduce( clip_point* points, uint32_t count )
{
    uint32_t chosen[4] = { 0, 0, 0, 0 };
    CLV_ASSERT( count > NARROW_MANIFOLD_POINTS && count <= CLIP_POINTS );
    for ( uint32_t k = 1; k < count; ++k )
    {
        chosen[0] = points[k].w < points[chosen[0]].w ? k : chosen[0];
    }
    float best = -1.0f;
    for ( uint32_t k = 0; k < count; ++k )
    {
        float du = points[k].u - points[chosen[0]].u, dv = points[k].v - points[chosen[0]].v;
        float square = du * du + dv * dv;
        if ( k != chosen[0] && square > best )
        {
            best = square;
            chosen[1] = k;
        }
    }
    for ( uint32_t side = 0; side < 2; ++side )
    {
        best = -INFINITY;
        for ( uint32_t k = 0; k < count; ++k )
        {
            float area = triangle_area( &points[chosen[0]], &points[chosen[1]], &points[k] );
            area = side == 0 ? area : -area;
            bool taken = k == chosen[0] || k == chosen[1] || ( side == 1 && k == chosen[2] );
            if ( !taken && area > best )
            {
                best = area;
                chosen[2 + side] = k;
            }
        }
    }
    clip_point four[4] = { points[chosen[0]], points[chosen[1]], points[chosen[2]], points[chosen[3]] };
    for ( uint32_t k = 0; k < 4; ++k )
    {
        points[k] = four[k];
    }
}

/// Contact points on the face `axis` of the first box of `r`, in that box's frame, into one of the two rooms.
static clip_point* face_points( const narrow_relation* r, int axis, float sign, float margin,
    clip_point rooms[2][CLIP_POINTS], uint32_t* count )
{
    clip_point *points = rooms[0], *spare = rooms[1];
    uint32_t high = incident_face( r, axis, sign, points );
    float reach_u = r->half_a[( axis + 1 ) % 3], reach_v = r->half_a[( axis + 2 ) % 3];
    uint32_t left = clip( &points, &spare, 4, 0, reach_u );
    left = clip( &points, &spare, left, 1, reach_u );
    left = clip( &points, &spare, left, 2, reach_v );
    left = clip( &points, &spare, left, 3, reach_v );

    uint32_t kept = 0;
    for ( uint32_t k = 0; k < left; ++k )
    {
        if ( points[k].w <= margin )
        {
            points[kept] = points[k];
            points[kept].feature |= (uint16_t)( high << 6 );
            kept += 1;
        }
    }
    if ( kept > NARROW_MANIFOLD_POINTS )
    {
        reduce( points, kept );
        kept = NARROW_MANIFOLD_POINTS;
    }
    *count = kept;
    return points;
}

static clv_vec3 to_world( const narrow_box* box, const float local[3] )
{
    const float( *m )[3] = box->axes;
    return ( clv_vec3 ){ m[0][0] * local[0] + m[1][0] * local[1] + m[2][0] * local[2],
        m[0][1] * local[0] + m[1][1] * local[1] + m[2][1] * local[2],
        m[0][2] * local[0] + m[1][2] * local[1] + m[2][2] * local[2] };
}

/// `reference` is the box whose face it is, `flip` tells that it is the second box of the pair.
static void face_manifold( const narrow_relation* r, const narrow_box* reference, int axis, bool flip,
    clv_vec3 shift, float margin, narrow_manifold* manifold )
{
    clip_point rooms[2][CLIP_POINTS];
    float sign = r->offset[axis] < 0.0f ? -1.0f : 1.0f;
    const clip_point* points = face_points( r, axis, sign, margin, rooms, &manifold->count );
    float out = flip ? -sign : sign;
    const float* n = reference->axes[axis];
    manifold->normal = ( clv_vec3 ){ out * n[0], out * n[1], out * n[2] };

    uint32_t high = ( (uint32_t)axis | ( flip ? 4u : 0u ) | ( sign < 0.0f ? 8u : 0u ) ) << 9;
    for ( uint32_t k = 0; k < manifold->count; ++k )
    {
        float local[3];
        local[axis] = sign * ( r->half_a[axis] + 0.5f * points[k].w );
        local[( axis + 1 ) % 3] = points[k].u;
        local[( axis + 2 ) % 3] = points[k].v;
        clv_vec3 world = to_world( reference, local );
        narrow_point* point = &manifold->points[k];
        point->offset = ( clv_vec3 ){ world.x + shift.x, world.y + shift.y, world.z + shift.z };
        point->separation = points[k].w;
        point->feature = points[k].feature | high;
    }
}

static float clamp_to( float x, float reach )
{
    return x < -reach ? -reach : x > reach ? reach : x;
}

/// One point midway between the closest points of the two edges.
static void edge_manifold(
    const narrow_relation* r, const narrow_box* a, const narrow_axis* best, narrow_manifold* manifold )
{
    const float* n = best->normal;
    float on_a[3], on_b[3], direction[3];
    uint32_t feature = ( 1u << 13 ) | (uint32_t)( best->i * 3 + best->j );
    for ( int k = 0; k < 3; ++k )
    {
        on_a[k] = k == best->i ? 0.0f : n[k] < 0.0f ? -r->half_a[k] : r->half_a[k];
        feature |= k != best->i && n[k] < 0.0f ? 16u << k : 0u;
        on_b[k] = r->offset[k];
        direction[k] = r->rotation[k][best->j];
    }
    for ( int k = 0; k < 3; ++k )
    {
        float column[3] = { r->rotation[0][k], r->rotation[1][k], r->rotation[2][k] };
        bool back = narrow_dot( n, column ) > 0.0f;
        float reach = k == best->j ? 0.0f : back ? -r->half_b[k] : r->half_b[k];
        feature |= k != best->j && back ? 128u << k : 0u;
        for ( int axis = 0; axis < 3; ++axis )
        {
            on_b[axis] += reach * column[axis];
        }
    }

    // Lines on_a + s e_i and on_b + t direction; parallel ones never get here.
    float d[3] = { on_b[0] - on_a[0], on_b[1] - on_a[1], on_b[2] - on_a[2] };
    float c = direction[best->i], along_a = d[best->i], along_b = narrow_dot( d, direction );
    float t = ( c * along_a - along_b ) / ( 1.0f - c * c );
    t = clamp_to( t, r->half_b[best->j] );
    float s = clamp_to( along_a + t * c, r->half_a[best->i] );
    on_a[best->i] += s;
    float middle[3];
    for ( int k = 0; k < 3; ++k )
    {
        middle[k] = 0.5f * ( on_a[k] + on_b[k] + t * direction[k] );
    }
    manifold->normal = to_world( a, n );
    manifold->count = 1;
    manifold->points[0] = ( narrow_point ){ to_world( a, middle ), best->separation, feature };
}

static uint32_t make_manifold( const narrow_box* a, const narrow_box* b, float margin,
    const narrow_relation* r, const narrow_axis* best, narrow_manifold* manifold )
{
    if ( best->kind == NARROW_EDGES )
    {
        edge_manifold( r, a, best, manifold );
    }
    else if ( best->kind == NARROW_FACE_A )
    {
        face_manifold( r, a, best->i, false, ( clv_vec3 ){ 0.0f, 0.0f, 0.0f }, margin, manifold );
    }
    else
    {
        narrow_relation seen_from_b = turned( r );
        clv_vec3 shift = { b->center.x - a->center.x, b->center.y - a->center.y, b->center.z - a->center.z };
        face_manifold( &seen_from_b, b, best->j, true, shift, margin, manifold );
    }
    CLV_ASSERT( manifold->count <= NARROW_MANIFOLD_POINTS );
    return manifold->count;
}

uint32_t clv_narrow_box_boxes(
    const narrow_pairs* pairs, uint32_t count, narrow_manifold manifolds[MATH_LANES] )
{
    CLV_ASSERT( count <= MATH_LANES );
    narrow_relation r[MATH_LANES];
    narrow_axis best[MATH_LANES];
    uint32_t found = clv_narrow_find_axes( pairs, r, best ), met = 0;
    for ( uint32_t l = 0; l < count; ++l )
    {
        manifolds[l].count = 0;
        if ( ( found >> l & 1u ) != 0 &&
            make_manifold( pairs->a[l], pairs->b[l], pairs->margin[l], &r[l], &best[l], &manifolds[l] ) > 0 )
        {
            met |= 1u << l;
        }
    }
    return met;
}

uint32_t clv_narrow_box_plane(
    const narrow_box* box, clv_vec3 normal, float offset, float margin, narrow_manifold* manifold )
{
    CLV_ASSERT( box != NULL && manifold != NULL && margin >= 0.0f );
    const float n[3] = { normal.x, normal.y, normal.z };
    const float half[3] = { box->half.x, box->half.y, box->half.z };
    const float center[3] = { box->center.x, box->center.y, box->center.z };
    float down[3], reach = 0.0f;
    int face = 0;
    for ( int j = 0; j < 3; ++j )
    {
        down[j] = narrow_dot( n, box->axes[j] );
        reach += half[j] * narrow_abs( down[j] );
        face = narrow_abs( down[j] ) > narrow_abs( down[face] ) ? j : face;
    }
    float height = narrow_dot( n, center ) - offset;
    manifold->count = 0;
    manifold->normal = ( clv_vec3 ){ -normal.x, -normal.y, -normal.z };
    if ( height - reach > margin )
    {
        return 0;
    }

    // The corners of the face that looks into the solid; the deepest corner of the box is one of them.
    const int p = ( face + 1 ) % 3, q = ( face + 2 ) % 3;
    for ( uint32_t k = 0; k < 4; ++k )
    {
        float local[3];
        local[face] = down[face] > 0.0f ? -half[face] : half[face];
        local[p] = k == 0 || k == 3 ? half[p] : -half[p];
        local[q] = k < 2 ? half[q] : -half[q];
        float separation = height + narrow_dot( down, local );
        if ( separation <= margin )
        {
            clv_vec3 corner = to_world( box, local );
            narrow_point* point = &manifold->points[manifold->count++];
            point->offset = ( clv_vec3 ){ corner.x - 0.5f * separation * n[0],
                corner.y - 0.5f * separation * n[1], corner.z - 0.5f * separation * n[2] };
            point->separation = separation;
            point->feature = k | (uint32_t)face << 2 | ( down[face] > 0.0f ? 16u : 0u );
        }
    }
    return manifold->count;
}
