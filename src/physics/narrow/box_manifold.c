// SPDX-License-Identifier: MIT
// Separating axes of two boxes (Gottschalk, Lin, Manocha, "OBBTree", 1996), then the incident face clipped by the
// sides of the reference face (Sutherland and Hodgman, 1974), or the closest points of two edges.
// All of it happens in the frame of one of the boxes, so nothing is lost far from the world's origin.
#include "narrow/box_manifold.h"

#include "base/assertion.h"

#include <math.h>
#include <stddef.h>

// Edge axes shorter than this come from nearly parallel edges and say nothing a face axis does not.
#define SHORTEST_EDGE_AXIS 1e-3f

// Eight is the most a quadrilateral clipped by four lines can have.
#define CLIP_POINTS 8

/// How the second box lies in the frame of the first.
typedef struct box_relation
{
    float rotation[3][3]; ///< rotation[i][j] = a_i . b_j
    float offset[3];      ///< centre of the second
    float half_a[3], half_b[3];
} box_relation;

typedef enum axis_kind
{
    FACE_A,
    FACE_B,
    EDGES,
} axis_kind;

typedef struct best_axis
{
    axis_kind kind;
    int i, j; ///< axis of a, axis of b; for a face only its own counts
    float separation;
    float normal[3]; ///< in a's frame, from a to b; for EDGES only
} best_axis;

/// A corner of the incident face, clipped. u and v run along the reference face, w away from it.
typedef struct clip_point
{
    float u, v, w;
    uint32_t feature;
    uint32_t
        edge; ///< what the edge to the next point lies on: 0-3 the incident face's edges, 4-7 a clip line
} clip_point;

static float absolute( float x )
{
    return x < 0.0f ? -x : x;
}

static float dot3( const float a[3], const float b[3] )
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static box_relation relate( const narrow_box* a, const narrow_box* b )
{
    const float d[3] = { b->center.x - a->center.x, b->center.y - a->center.y, b->center.z - a->center.z };
    box_relation r = { .half_a = { a->half.x, a->half.y, a->half.z },
        .half_b = { b->half.x, b->half.y, b->half.z } };
    for ( int i = 0; i < 3; ++i )
    {
        r.offset[i] = dot3( a->axes[i], d );
        for ( int j = 0; j < 3; ++j )
        {
            r.rotation[i][j] = dot3( a->axes[i], b->axes[j] );
        }
    }
    return r;
}

/// The same seen from the second box.
static box_relation turned( const box_relation* r )
{
    box_relation t;
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

/// Best face of the first box: the axis on which the second is farthest out.
static float face_separation( const box_relation* r, int* axis )
{
    float best = -INFINITY;
    for ( int i = 0; i < 3; ++i )
    {
        const float* row = r->rotation[i];
        float reach = r->half_a[i] + r->half_b[0] * absolute( row[0] ) + r->half_b[1] * absolute( row[1] ) +
            r->half_b[2] * absolute( row[2] );
        float separation = absolute( r->offset[i] ) - reach;
        if ( separation > best )
        {
            best = separation;
            *axis = i;
        }
    }
    return best;
}

/// Best face of the second, without the cost of turning the frame.
static float face_separation_b( const box_relation* r, int* axis )
{
    float best = -INFINITY;
    for ( int j = 0; j < 3; ++j )
    {
        float r0 = r->rotation[0][j], r1 = r->rotation[1][j], r2 = r->rotation[2][j];
        float reach = r->half_b[j] + r->half_a[0] * absolute( r0 ) + r->half_a[1] * absolute( r1 ) +
            r->half_a[2] * absolute( r2 );
        float separation = absolute( r->offset[0] * r0 + r->offset[1] * r1 + r->offset[2] * r2 ) - reach;
        if ( separation > best )
        {
            best = separation;
            *axis = j;
        }
    }
    return best;
}

/// Separation along a_i x b_j, times the length of that axis.
static float edge_separation( const box_relation* r, int i, int j, float* along )
{
    const int i1 = ( i + 1 ) % 3, i2 = ( i + 2 ) % 3, j1 = ( j + 1 ) % 3, j2 = ( j + 2 ) % 3;
    const float c1 = r->rotation[i1][j], c2 = r->rotation[i2][j];
    // e_i x c = ( 0 at i, -c2 at i1, c1 at i2 )
    *along = c1 * r->offset[i2] - c2 * r->offset[i1];
    float reach_a = r->half_a[i1] * absolute( c2 ) + r->half_a[i2] * absolute( c1 );
    float reach_b =
        r->half_b[j1] * absolute( r->rotation[i][j2] ) + r->half_b[j2] * absolute( r->rotation[i][j1] );
    return absolute( *along ) - reach_a - reach_b;
}

static void set_edge_normal( const box_relation* r, best_axis* best, float along, float inverse_length )
{
    const int i1 = ( best->i + 1 ) % 3, i2 = ( best->i + 2 ) % 3;
    float s = along < 0.0f ? -inverse_length : inverse_length;
    best->normal[best->i] = 0.0f;
    best->normal[i1] = -r->rotation[i2][best->j] * s;
    best->normal[i2] = r->rotation[i1][best->j] * s;
}

/// False as soon as one axis separates the boxes by more than the margin.
static bool find_axis( const box_relation* r, float margin, best_axis* best )
{
    int axis_a = 0, axis_b = 0;
    float face_a = face_separation( r, &axis_a );
    if ( face_a > margin )
    {
        return false;
    }
    float face_b = face_separation_b( r, &axis_b );
    if ( face_b > margin )
    {
        return false;
    }

    // A tie must not be decided by the last bit: the first box keeps it within a thousandth of the smaller sides.
    float least_a = r->half_a[0] < r->half_a[1] ? r->half_a[0] : r->half_a[1];
    float least_b = r->half_b[0] < r->half_b[1] ? r->half_b[0] : r->half_b[1];
    least_a = least_a < r->half_a[2] ? least_a : r->half_a[2];
    least_b = least_b < r->half_b[2] ? least_b : r->half_b[2];
    float tolerance = 2e-3f * ( least_a < least_b ? least_a : least_b );
    bool use_b = face_b > face_a + tolerance;
    *best = ( best_axis ){ use_b ? FACE_B : FACE_A, axis_a, axis_b, use_b ? face_b : face_a, { 0 } };

    // An edge contact has one point where a face has four, so it must be the better axis by a clear measure.
    float face = best->separation;
    float to_beat = ( face < 0.0f ? 0.95f * face : face ) + 5.0f * tolerance;
    for ( int i = 0; i < 3; ++i )
    {
        for ( int j = 0; j < 3; ++j )
        {
            float square = 1.0f - r->rotation[i][j] * r->rotation[i][j];
            if ( square < SHORTEST_EDGE_AXIS * SHORTEST_EDGE_AXIS )
            {
                continue;
            }
            float along;
            float scaled = edge_separation( r, i, j, &along );
            // Most axes lose without a root: the length is below 1, so dividing by it makes a negative value more so.
            if ( scaled < 0.0f && scaled <= to_beat )
            {
                continue;
            }
            float inverse_length = 1.0f / sqrtf( square );
            float separation = scaled * inverse_length;
            if ( separation > margin )
            {
                return false;
            }
            if ( separation > to_beat )
            {
                to_beat = separation;
                *best = ( best_axis ){ EDGES, i, j, separation, { 0 } };
                set_edge_normal( r, best, along, inverse_length );
            }
        }
    }
    return true;
}

/// The face of the second box that looks most against the reference face, as a polygon.
/// Returns the features' high bits.
static uint32_t incident_face( const box_relation* r, int axis, float sign, clip_point polygon[CLIP_POINTS] )
{
    int face = 0;
    for ( int j = 1; j < 3; ++j )
    {
        face = absolute( r->rotation[axis][j] ) > absolute( r->rotation[axis][face] ) ? j : face;
    }
    const int u_axis = ( axis + 1 ) % 3, v_axis = ( axis + 2 ) % 3;
    const int p = ( face + 1 ) % 3, q = ( face + 2 ) % 3;
    float outward = sign * r->rotation[axis][face] > 0.0f ? -r->half_b[face] : r->half_b[face];

    static const float corner_p[4] = { 1.0f, -1.0f, -1.0f, 1.0f };
    static const float corner_q[4] = { 1.0f, 1.0f, -1.0f, -1.0f };
    for ( uint32_t k = 0; k < 4; ++k )
    {
        float b[3];
        b[face] = outward;
        b[p] = corner_p[k] * r->half_b[p];
        b[q] = corner_q[k] * r->half_b[q];
        polygon[k].u = r->offset[u_axis] + dot3( r->rotation[u_axis], b );
        polygon[k].v = r->offset[v_axis] + dot3( r->rotation[v_axis], b );
        polygon[k].w = sign * ( r->offset[axis] + dot3( r->rotation[axis], b ) ) - r->half_a[axis];
        polygon[k].feature = k;
        polygon[k].edge = k;
    }
    return (uint32_t)face | ( outward < 0.0f ? 4u : 0u );
}

/// Where the edge from p to q crosses a clip line, given how far each lies outside it.
static clip_point crossing(
    const clip_point* p, const clip_point* q, float out_p, float out_q, uint32_t line )
{
    float t = out_p / ( out_p - out_q );
    clip_point c = { p->u + t * ( q->u - p->u ), p->v + t * ( q->v - p->v ), p->w + t * ( q->w - p->w ),
        ( p->edge < 4 ? 4 + p->edge * 4 : 20 + ( p->edge - 4 ) * 4 ) + line, p->edge };
    return c;
}

/// Keep what lies within `reach` of 0 on one side of u or v. Lines 0, 1 bound u above and below; 2, 3 bound v.
static uint32_t clip(
    const clip_point* in, uint32_t count, uint32_t line, float reach, clip_point out[CLIP_POINTS] )
{
    uint32_t kept = 0;
    float sign = ( line & 1 ) == 0 ? 1.0f : -1.0f;
    for ( uint32_t k = 0; k < count; ++k )
    {
        const clip_point* p = &in[k];
        const clip_point* q = &in[k + 1 < count ? k + 1 : 0];
        float out_p = sign * ( line < 2 ? p->u : p->v ) - reach;
        float out_q = sign * ( line < 2 ? q->u : q->v ) - reach;
        if ( out_p <= 0.0f && kept < CLIP_POINTS )
        {
            out[kept++] = *p;
        }
        if ( ( out_p <= 0.0f ) != ( out_q <= 0.0f ) && kept < CLIP_POINTS )
        {
            clip_point c = crossing( p, q, out_p, out_q, line );
            c.edge = out_p <= 0.0f ? 4 + line : c.edge; // leaving: the next edge runs along the line
            out[kept++] = c;
        }
    }
    return kept;
}

static float triangle_area( const clip_point* a, const clip_point* b, const clip_point* c )
{
    return ( b->u - a->u ) * ( c->v - a->v ) - ( b->v - a->v ) * ( c->u - a->u );
}

/// Four points that keep the deepest one and most of the area: deepest, farthest from it, then the largest triangle
/// on either side.
static void reduce( clip_point* points, uint32_t count )
{
    uint32_t chosen[4] = { 0, 0, 0, 0 };
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

/// Contact points on the face `axis` of the first box of `r`, in that box's frame. Returns how many.
static uint32_t face_points(
    const box_relation* r, int axis, float sign, float margin, clip_point points[CLIP_POINTS] )
{
    clip_point other[CLIP_POINTS];
    uint32_t high = incident_face( r, axis, sign, points );
    float reach_u = r->half_a[( axis + 1 ) % 3], reach_v = r->half_a[( axis + 2 ) % 3];
    uint32_t count = clip( points, 4, 0, reach_u, other );
    count = clip( other, count, 1, reach_u, points );
    count = clip( points, count, 2, reach_v, other );
    count = clip( other, count, 3, reach_v, points );

    uint32_t kept = 0;
    for ( uint32_t k = 0; k < count; ++k )
    {
        if ( points[k].w <= margin )
        {
            points[kept] = points[k];
            points[kept].feature |= high << 6;
            kept += 1;
        }
    }
    if ( kept > NARROW_MANIFOLD_POINTS )
    {
        reduce( points, kept );
        kept = NARROW_MANIFOLD_POINTS;
    }
    return kept;
}

static clv_vec3 to_world( const narrow_box* box, const float local[3] )
{
    const float( *m )[3] = box->axes;
    return ( clv_vec3 ){ m[0][0] * local[0] + m[1][0] * local[1] + m[2][0] * local[2],
        m[0][1] * local[0] + m[1][1] * local[1] + m[2][1] * local[2],
        m[0][2] * local[0] + m[1][2] * local[1] + m[2][2] * local[2] };
}

/// `reference` is the box whose face it is, `flip` tells that it is the second box of the pair.
static void face_manifold( const box_relation* r, const narrow_box* reference, int axis, bool flip,
    clv_vec3 shift, float margin, narrow_manifold* manifold )
{
    clip_point points[CLIP_POINTS];
    float sign = r->offset[axis] < 0.0f ? -1.0f : 1.0f;
    manifold->count = face_points( r, axis, sign, margin, points );
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
    const box_relation* r, const narrow_box* a, const best_axis* best, narrow_manifold* manifold )
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
        bool back = dot3( n, column ) > 0.0f;
        float reach = k == best->j ? 0.0f : back ? -r->half_b[k] : r->half_b[k];
        feature |= k != best->j && back ? 128u << k : 0u;
        for ( int axis = 0; axis < 3; ++axis )
        {
            on_b[axis] += reach * column[axis];
        }
    }

    // Lines on_a + s e_i and on_b + t direction; parallel ones never get here.
    float d[3] = { on_b[0] - on_a[0], on_b[1] - on_a[1], on_b[2] - on_a[2] };
    float c = direction[best->i], along_a = d[best->i], along_b = dot3( d, direction );
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

uint32_t clv_narrow_box_box(
    const narrow_box* a, const narrow_box* b, float margin, narrow_manifold* manifold )
{
    CLV_ASSERT( a != NULL && b != NULL && manifold != NULL && margin >= 0.0f );
    box_relation r = relate( a, b );
    best_axis best;
    manifold->count = 0;
    if ( !find_axis( &r, margin, &best ) )
    {
        return 0;
    }
    if ( best.kind == EDGES )
    {
        edge_manifold( &r, a, &best, manifold );
    }
    else if ( best.kind == FACE_A )
    {
        face_manifold( &r, a, best.i, false, ( clv_vec3 ){ 0.0f, 0.0f, 0.0f }, margin, manifold );
    }
    else
    {
        box_relation seen_from_b = turned( &r );
        clv_vec3 shift = { b->center.x - a->center.x, b->center.y - a->center.y, b->center.z - a->center.z };
        face_manifold( &seen_from_b, b, best.j, true, shift, margin, manifold );
    }
    return manifold->count;
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
        down[j] = dot3( n, box->axes[j] );
        reach += half[j] * absolute( down[j] );
        face = absolute( down[j] ) > absolute( down[face] ) ? j : face;
    }
    float height = dot3( n, center ) - offset;
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
        float separation = height + dot3( down, local );
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
