// SPDX-License-Identifier: MIT
// Manifolds against answers one can work out, and random boxes against projections onto all 15 axes in double
// precision.
#include "narrow/box_axes.h"
#include "support.h"

#include <math.h>
#include <string.h>

#define HALF_ROOT 0.70710678f

static narrow_box box_at( float x, float y, float z, float half )
{
    narrow_box box = { { x, y, z }, { half, half, half }, { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
    return box;
}

// One pair: all lanes have it.
static uint32_t box_box( const narrow_box* a, const narrow_box* b, float margin, narrow_manifold* manifold )
{
    const narrow_pairs pairs = { { a, a, a, a }, { b, b, b, b }, { margin, margin, margin, margin } };
    narrow_manifold manifolds[MATH_LANES];
    clv_narrow_box_boxes( &pairs, 1, manifolds );
    *manifold = manifolds[0];
    return manifold->count;
}

static bool is_near( float a, float b )
{
    return fabsf( a - b ) < 1e-5f;
}

static float deepest( const narrow_manifold* manifold )
{
    float least = INFINITY;
    for ( uint32_t k = 0; k < manifold->count; ++k )
    {
        least = fminf( least, manifold->points[k].separation );
    }
    return least;
}

static void faces_that_overlap_meet_in_four_points( void )
{
    narrow_box a = box_at( 0, 0, 0, 0.5f ), b = box_at( 0.9f, 0, 0, 0.5f );
    narrow_manifold m;
    CHECK_EQUAL( box_box( &a, &b, 0.0f, &m ), 4 );
    CHECK( is_near( m.normal.x, 1 ) && is_near( m.normal.y, 0 ) && is_near( m.normal.z, 0 ) );
    for ( uint32_t k = 0; k < 4; ++k )
    {
        CHECK( is_near( m.points[k].separation, -0.1f ) );
        CHECK( is_near( m.points[k].offset.x, 0.45f ) ); // midway between the faces
        CHECK( is_near( fabsf( m.points[k].offset.y ), 0.5f ) &&
            is_near( fabsf( m.points[k].offset.z ), 0.5f ) );
        for ( uint32_t i = 0; i < k; ++i )
        {
            CHECK( m.points[i].feature != m.points[k].feature );
        }
    }
}

static void touching_faces_have_separation_zero( void )
{
    narrow_box a = box_at( 0, 0, 0, 0.5f ), b = box_at( 0, -1, 0, 0.5f );
    narrow_manifold m;
    CHECK_EQUAL( box_box( &a, &b, 0.0f, &m ), 4 );
    CHECK( is_near( m.normal.y, -1 ) && is_near( deepest( &m ), 0 ) );
}

static void the_margin_decides_about_gaps( void )
{
    narrow_box a = box_at( 0, 0, 0, 0.5f ), b = box_at( 0, 0, 1.25f, 0.5f );
    narrow_manifold m;
    CHECK_EQUAL( box_box( &a, &b, 0.2f, &m ), 0 );
    CHECK_EQUAL( box_box( &a, &b, 0.3f, &m ), 4 );
    CHECK( is_near( deepest( &m ), 0.25f ) );
}

static void a_small_face_on_a_large_one_keeps_its_corners( void )
{
    narrow_box a = box_at( 0, 0, 0, 2 ), b = box_at( 0.5f, 2.45f, -0.5f, 0.5f );
    narrow_manifold m;
    CHECK_EQUAL( box_box( &a, &b, 0.0f, &m ), 4 );
    for ( uint32_t k = 0; k < 4; ++k )
    {
        CHECK( is_near( fabsf( m.points[k].offset.x - 0.5f ), 0.5f ) );
        CHECK( is_near( fabsf( m.points[k].offset.z + 0.5f ), 0.5f ) );
        CHECK( is_near( m.points[k].separation, -0.05f ) );
    }
}

static void crossed_ridges_meet_in_one_point( void )
{
    narrow_box a = box_at( 0, 0, 0, 0.5f ), b = box_at( 0.1f, 2 * HALF_ROOT - 0.05f, 0.2f, 0.5f );
    narrow_box about_z = { a.center, a.half,
        { { HALF_ROOT, HALF_ROOT, 0 }, { -HALF_ROOT, HALF_ROOT, 0 }, { 0, 0, 1 } } };
    narrow_box about_x = { b.center, b.half,
        { { 1, 0, 0 }, { 0, HALF_ROOT, HALF_ROOT }, { 0, -HALF_ROOT, HALF_ROOT } } };
    narrow_manifold m;
    CHECK_EQUAL( box_box( &about_z, &about_x, 0.0f, &m ), 1 );
    CHECK( is_near( m.normal.y, 1 ) );
    CHECK( is_near( m.points[0].separation, -0.05f ) );
    CHECK( is_near( m.points[0].offset.x, 0 ) );
    CHECK( is_near( m.points[0].offset.y, HALF_ROOT - 0.025f ) );
    CHECK( is_near( m.points[0].offset.z, 0.2f ) );
}

static void a_box_on_a_plane_stands_on_its_four_corners( void )
{
    narrow_box box = box_at( 3, 0.48f, -2, 0.5f );
    narrow_manifold m;
    clv_vec3 up = { 0, 1, 0 };
    CHECK_EQUAL( clv_narrow_box_plane( &box, up, 0.0f, 0.0f, &m ), 4 );
    CHECK( is_near( m.normal.y, -1 ) );
    for ( uint32_t k = 0; k < 4; ++k )
    {
        CHECK( is_near( m.points[k].separation, -0.02f ) );
        CHECK( is_near( m.points[k].offset.y, -0.49f ) );
    }
    CHECK_EQUAL( clv_narrow_box_plane( &box, up, -0.5f, 0.1f, &m ), 0 );
    CHECK_EQUAL( clv_narrow_box_plane( &box, up, -0.1f, 0.1f, &m ), 4 );
}

static void a_tilted_box_on_a_plane_stands_on_its_edge( void )
{
    narrow_box box = { { 0, HALF_ROOT - 0.01f, 0 }, { 0.5f, 0.5f, 0.5f },
        { { HALF_ROOT, HALF_ROOT, 0 }, { -HALF_ROOT, HALF_ROOT, 0 }, { 0, 0, 1 } } };
    narrow_manifold m;
    clv_vec3 up = { 0, 1, 0 };
    CHECK_EQUAL( clv_narrow_box_plane( &box, up, 0.0f, 0.0f, &m ), 2 );
    CHECK( is_near( deepest( &m ), -0.01f ) );
}

// ---- random boxes

static narrow_box random_box( test_random* random, float spread )
{
    float q[4], length = 0;
    for ( int k = 0; k < 4; ++k )
    {
        q[k] = test_random_between( random, -1, 1 );
        length += q[k] * q[k];
    }
    length = sqrtf( length );
    float x = q[0] / length, y = q[1] / length, z = q[2] / length, w = q[3] / length;
    narrow_box box = { { test_random_between( random, -spread, spread ),
                           test_random_between( random, -spread, spread ),
                           test_random_between( random, -spread, spread ) },
        { test_random_between( random, 0.1f, 1.5f ), test_random_between( random, 0.1f, 1.5f ),
            test_random_between( random, 0.1f, 1.5f ) },
        { { 1 - 2 * ( y * y + z * z ), 2 * ( x * y + w * z ), 2 * ( x * z - w * y ) },
            { 2 * ( x * y - w * z ), 1 - 2 * ( x * x + z * z ), 2 * ( y * z + w * x ) },
            { 2 * ( x * z + w * y ), 2 * ( y * z - w * x ), 1 - 2 * ( x * x + y * y ) } } };
    return box;
}

typedef struct interval
{
    double least, most;
} interval;

/// All eight corners onto an axis.
static interval project( const narrow_box* box, const double axis[3] )
{
    interval range = { INFINITY, -INFINITY };
    const double half[3] = { (double)box->half.x, (double)box->half.y, (double)box->half.z };
    const double center[3] = { (double)box->center.x, (double)box->center.y, (double)box->center.z };
    for ( int corner = 0; corner < 8; ++corner )
    {
        double sum = 0;
        for ( int i = 0; i < 3; ++i )
        {
            double p = center[i];
            for ( int j = 0; j < 3; ++j )
            {
                p += ( corner >> j & 1 ? half[j] : -half[j] ) * (double)box->axes[j][i];
            }
            sum += p * axis[i];
        }
        range.least = fmin( range.least, sum );
        range.most = fmax( range.most, sum );
    }
    return range;
}

/// How far apart they are along an axis of any length, either way; -INFINITY for no axis at all.
static double gap_along( const narrow_box* a, const narrow_box* b, const double axis[3] )
{
    double length = sqrt( axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2] );
    if ( length < 1e-4 )
    {
        return -INFINITY;
    }
    interval ra = project( a, axis ), rb = project( b, axis );
    return fmax( ra.least - rb.most, rb.least - ra.most ) / length;
}

static double gap_of_all_axes( const narrow_box* a, const narrow_box* b )
{
    double best = -INFINITY;
    for ( int i = 0; i < 3; ++i )
    {
        const double ai[3] = { (double)a->axes[i][0], (double)a->axes[i][1], (double)a->axes[i][2] };
        const double bi[3] = { (double)b->axes[i][0], (double)b->axes[i][1], (double)b->axes[i][2] };
        best = fmax( best, fmax( gap_along( a, b, ai ), gap_along( a, b, bi ) ) );
        for ( int j = 0; j < 3; ++j )
        {
            const double bj[3] = { (double)b->axes[j][0], (double)b->axes[j][1], (double)b->axes[j][2] };
            const double cross[3] = { ai[1] * bj[2] - ai[2] * bj[1], ai[2] * bj[0] - ai[0] * bj[2],
                ai[0] * bj[1] - ai[1] * bj[0] };
            best = fmax( best, gap_along( a, b, cross ) );
        }
    }
    return best;
}

/// The gap along the manifold's own normal, from a to b.
static double gap_along_normal( const narrow_box* a, const narrow_box* b, clv_vec3 normal )
{
    const double axis[3] = { (double)normal.x, (double)normal.y, (double)normal.z };
    return project( b, axis ).least - project( a, axis ).most;
}

static void check_hit( const narrow_box* a, const narrow_box* b, const narrow_manifold* m, double gap )
{
    const double n[3] = { (double)m->normal.x, (double)m->normal.y, (double)m->normal.z };
    CHECK( fabs( n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1 ) < 1e-4 );
    double along = gap_along_normal( a, b, m->normal );
    CHECK( along <= gap + 1e-4 );
    // Faces are preferred within 5 % and a hundredth of the smallest half side.
    CHECK( along >= 1.06 * gap - 0.02 );
    for ( uint32_t k = 0; k < m->count; ++k )
    {
        CHECK( (double)m->points[k].separation >= along - 1e-4 );
        CHECK( (double)m->points[k].separation <= 1e-4 );
    }
}

static void random_boxes_agree_with_all_fifteen_axes( void )
{
    test_random random = test_random_make( 11 );
    uint32_t hits = 0, misses = 0, edges = 0;
    uint32_t count = test_scaled( 200000 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        test_where.seed = i;
        narrow_box a = random_box( &random, 1.2f ), b = random_box( &random, 1.2f );
        double gap = gap_of_all_axes( &a, &b );
        narrow_manifold m;
        uint32_t points = box_box( &a, &b, 0.0f, &m );
        if ( gap > 1e-4 )
        {
            CHECK_EQUAL( points, 0 );
            misses += 1;
        }
        else if ( gap < -1e-4 )
        {
            CHECK( points >= 1 && points <= NARROW_MANIFOLD_POINTS );
            check_hit( &a, &b, &m, gap );
            hits += 1;
            edges += points == 1 ? 1u : 0u;
        }
    }
    CHECK( hits > count / 10 && misses > count / 10 && edges > count / 100 );
}

static void swapping_the_boxes_turns_the_normal( void )
{
    test_random random = test_random_make( 12 );
    for ( uint32_t i = 0; i < 20000; ++i )
    {
        test_where.seed = i;
        narrow_box a = random_box( &random, 1 ), b = random_box( &random, 1 );
        narrow_manifold ab, ba;
        uint32_t hit = box_box( &a, &b, 0.0f, &ab ), back = box_box( &b, &a, 0.0f, &ba );
        CHECK( ( hit > 0 ) == ( back > 0 ) );
        if ( hit > 0 )
        {
            // The same axis, or one of the ties that the preference for faces of the first box decides.
            double there = gap_along_normal( &a, &b, ab.normal ),
                   home = gap_along_normal( &b, &a, ba.normal );
            CHECK( fabs( there - home ) < 0.02 + 0.06 * fabs( there ) );
        }
    }
}

static bool same_bits( const narrow_manifold* a, const narrow_manifold* b )
{
    return a->count == b->count && memcmp( &a->normal, &b->normal, sizeof( a->normal ) ) == 0 &&
        memcmp( a->points, b->points, a->count * sizeof( a->points[0] ) ) == 0;
}

/// Any two boxes, or one that stands square to the other: its edges are parallel, and ties are decided.
static void random_pair( test_random* random, narrow_box* a, narrow_box* b )
{
    *a = random_box( random, 1.2f );
    *b = random_box( random, 1.2f );
    if ( test_random_below( random, 4 ) == 0 )
    {
        memcpy( b->axes, a->axes, sizeof( a->axes ) );
        b->half = a->half;
    }
}

// ---- one pair at a time, in plain floats: what the lanes must give

#define SHORTEST_EDGE_AXIS 1e-3f

static narrow_relation relate( const narrow_box* a, const narrow_box* b )
{
    const float d[3] = { b->center.x - a->center.x, b->center.y - a->center.y, b->center.z - a->center.z };
    narrow_relation r = { .half_a = { a->half.x, a->half.y, a->half.z },
        .half_b = { b->half.x, b->half.y, b->half.z } };
    for ( int i = 0; i < 3; ++i )
    {
        r.offset[i] = narrow_dot( a->axes[i], d );
        for ( int j = 0; j < 3; ++j )
        {
            r.rotation[i][j] = narrow_dot( a->axes[i], b->axes[j] );
        }
    }
    return r;
}

/// Best face of the first box: the axis on which the second is farthest out.
static float face_separation( const narrow_relation* r, int* axis )
{
    float best = -INFINITY;
    for ( int i = 0; i < 3; ++i )
    {
        const float* row = r->rotation[i];
        float reach = r->half_a[i] + r->half_b[0] * narrow_abs( row[0] ) +
            r->half_b[1] * narrow_abs( row[1] ) + r->half_b[2] * narrow_abs( row[2] );
        float separation = narrow_abs( r->offset[i] ) - reach;
        if ( separation > best )
        {
            best = separation;
            *axis = i;
        }
    }
    return best;
}

/// Best face of the second, without the cost of turning the frame.
static float face_separation_b( const narrow_relation* r, int* axis )
{
    float best = -INFINITY;
    for ( int j = 0; j < 3; ++j )
    {
        float r0 = r->rotation[0][j], r1 = r->rotation[1][j], r2 = r->rotation[2][j];
        float reach = r->half_b[j] + r->half_a[0] * narrow_abs( r0 ) + r->half_a[1] * narrow_abs( r1 ) +
            r->half_a[2] * narrow_abs( r2 );
        float separation = narrow_abs( r->offset[0] * r0 + r->offset[1] * r1 + r->offset[2] * r2 ) - reach;
        if ( separation > best )
        {
            best = separation;
            *axis = j;
        }
    }
    return best;
}

/// Separation along a_i x b_j, times the length of that axis.
static float edge_separation( const narrow_relation* r, int i, int j, float* along )
{
    const int i1 = ( i + 1 ) % 3, i2 = ( i + 2 ) % 3, j1 = ( j + 1 ) % 3, j2 = ( j + 2 ) % 3;
    const float c1 = r->rotation[i1][j], c2 = r->rotation[i2][j];
    // e_i x c = ( 0 at i, -c2 at i1, c1 at i2 )
    *along = c1 * r->offset[i2] - c2 * r->offset[i1];
    float reach_a = r->half_a[i1] * narrow_abs( c2 ) + r->half_a[i2] * narrow_abs( c1 );
    float reach_b =
        r->half_b[j1] * narrow_abs( r->rotation[i][j2] ) + r->half_b[j2] * narrow_abs( r->rotation[i][j1] );
    return narrow_abs( *along ) - reach_a - reach_b;
}

static void set_edge_normal( const narrow_relation* r, narrow_axis* best, float along, float inverse_length )
{
    const int i1 = ( best->i + 1 ) % 3, i2 = ( best->i + 2 ) % 3;
    float s = along < 0.0f ? -inverse_length : inverse_length;
    best->normal[best->i] = 0.0f;
    best->normal[i1] = -r->rotation[i2][best->j] * s;
    best->normal[i2] = r->rotation[i1][best->j] * s;
}

static bool find_axis( const narrow_relation* r, float margin, narrow_axis* best )
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

    // A tie must not be decided by the last bit: the first box keeps it within a thousandth of the smaller
    // sides.
    float least_a = r->half_a[0] < r->half_a[1] ? r->half_a[0] : r->half_a[1];
    float least_b = r->half_b[0] < r->half_b[1] ? r->half_b[0] : r->half_b[1];
    least_a = least_a < r->half_a[2] ? least_a : r->half_a[2];
    least_b = least_b < r->half_b[2] ? least_b : r->half_b[2];
    float tolerance = 2e-3f * ( least_a < least_b ? least_a : least_b );
    bool use_b = face_b > face_a + tolerance;
    *best = ( narrow_axis ){ use_b ? NARROW_FACE_B : NARROW_FACE_A, axis_a, axis_b, use_b ? face_b : face_a,
        { 0 } };

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
            // Most axes lose without a root: the length is below 1, so dividing by it makes a negative value
            // more so.
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
                *best = ( narrow_axis ){ NARROW_EDGES, i, j, separation, { 0 } };
                set_edge_normal( r, best, along, inverse_length );
            }
        }
    }
    return true;
}

static bool same_axis( const narrow_axis* a, const narrow_axis* b )
{
    return a->kind == b->kind && a->i == b->i && a->j == b->j &&
        memcmp( &a->separation, &b->separation, sizeof( float ) ) == 0 &&
        memcmp( a->normal, b->normal, sizeof( a->normal ) ) == 0;
}

static void four_axes_at_once_have_the_bits_of_each( void )
{
    test_random random = test_random_make( 15 );
    uint32_t kinds[3] = { 0 }, apart = 0, count = test_scaled( 50000 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        test_where.seed = i;
        narrow_box a[MATH_LANES], b[MATH_LANES];
        narrow_pairs pairs;
        for ( uint32_t l = 0; l < MATH_LANES; ++l )
        {
            random_pair( &random, &a[l], &b[l] );
            pairs.a[l] = &a[l];
            pairs.b[l] = &b[l];
            pairs.margin[l] = i % 2 == 0 ? 0.0f : test_random_between( &random, 0, 0.5f );
        }
        narrow_relation four[MATH_LANES];
        narrow_axis best[MATH_LANES];
        uint32_t found = clv_narrow_find_axes( &pairs, four, best );
        for ( uint32_t l = 0; l < MATH_LANES; ++l )
        {
            narrow_relation one = relate( &a[l], &b[l] );
            narrow_axis axis;
            bool has_axis = find_axis( &one, pairs.margin[l], &axis );
            CHECK( has_axis == ( ( found >> l & 1u ) != 0 ) );
            CHECK( found == 0 || memcmp( &one, &four[l], sizeof( one ) ) == 0 );
            CHECK( !has_axis || same_axis( &axis, &best[l] ) );
            apart += has_axis ? 0u : 1u;
            if ( has_axis )
            {
                kinds[axis.kind] += 1;
            }
        }
    }
    CHECK( kinds[0] > count / 10 && kinds[1] > count / 10 && kinds[2] > count / 100 && apart > count / 10 );
}

static void four_pairs_at_once_have_the_bits_of_each( void )
{
    test_random random = test_random_make( 13 );
    uint32_t hits = 0, apart = 0, far = 0, count = test_scaled( 50000 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        test_where.seed = i;
        narrow_box a[MATH_LANES], b[MATH_LANES];
        narrow_pairs pairs;
        for ( uint32_t l = 0; l < MATH_LANES; ++l )
        {
            random_pair( &random, &a[l], &b[l] );
            pairs.a[l] = &a[l];
            pairs.b[l] = &b[l];
            pairs.margin[l] = i % 2 == 0 ? 0.0f : test_random_between( &random, 0, 0.5f );
        }
        narrow_manifold four[MATH_LANES];
        uint32_t lanes = 1 + i % MATH_LANES;
        uint32_t near = clv_narrow_near_pairs( &pairs, NULL ),
                 met = clv_narrow_box_boxes( &pairs, lanes, four );
        CHECK_EQUAL( met >> lanes, 0 );
        for ( uint32_t l = 0; l < lanes; ++l )
        {
            narrow_manifold one;
            bool hit = box_box( &a[l], &b[l], pairs.margin[l], &one ) > 0, close = near >> l & 1u;
            CHECK( hit == ( ( met >> l & 1u ) != 0 ) && ( close || !hit ) );
            CHECK( !hit || same_bits( &one, &four[l] ) );
            hits += hit ? 1u : 0u;
            apart += hit ? 0u : 1u;
            far += close ? 0u : 1u;
        }
    }
    CHECK( hits > count / 10 && apart > count / 10 && far > apart / 2 );
}

/// Does b touch a somewhere on its way?
static bool meets_on_its_way( const narrow_box* a, narrow_box b, clv_vec3 way )
{
    const clv_vec3 start = b.center;
    bool meets = false;
    for ( int k = 0; k <= 8 && !meets; ++k )
    {
        float t = (float)k / 8;
        b.center = ( clv_vec3 ){ start.x + t * way.x, start.y + t * way.y, start.z + t * way.z };
        narrow_manifold m;
        meets = box_box( a, &b, 0.0f, &m ) > 0;
    }
    return meets;
}

static void boxes_that_meet_on_the_way_are_near( void )
{
    test_random random = test_random_make( 14 );
    uint32_t meet = 0, near_count = 0, far_count = 0, count = test_scaled( 10000 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        test_where.seed = i;
        narrow_box a[MATH_LANES], b[MATH_LANES];
        narrow_pairs pairs;
        narrow_ways ways, none = { .slack = { 0 } };
        for ( uint32_t l = 0; l < MATH_LANES; ++l )
        {
            a[l] = random_box( &random, 1.5f );
            b[l] = random_box( &random, 1.5f );
            pairs.a[l] = &a[l];
            pairs.b[l] = &b[l];
            pairs.margin[l] = 0;
            ways.x[l] = test_random_between( &random, -1, 1 );
            ways.y[l] = test_random_between( &random, -1, 1 );
            ways.z[l] = test_random_between( &random, -1, 1 );
            ways.slack[l] = 1e-4f;
        }
        CHECK_EQUAL( clv_narrow_near_pairs( &pairs, &none ), clv_narrow_near_pairs( &pairs, NULL ) );
        uint32_t near = clv_narrow_near_pairs( &pairs, &ways );
        for ( uint32_t l = 0; l < MATH_LANES; ++l )
        {
            bool meets = meets_on_its_way( &a[l], b[l], ( clv_vec3 ){ ways.x[l], ways.y[l], ways.z[l] } );
            CHECK( !meets || ( near >> l & 1u ) != 0 );
            meet += meets ? 1u : 0u;
            near_count += near >> l & 1u;
            far_count += 1u - ( near >> l & 1u );
        }
    }
    CHECK( meet > count / 2 && far_count > count / 2 && near_count < meet + meet / 3 );
}

// Resting boxes tremble; impulses find their points again only if the features stay.
static void features_survive_a_tremble( void )
{
    narrow_box a = box_at( 0, 0, 0, 0.5f ), b = box_at( 0.2f, 0.99f, 0.1f, 0.5f );
    narrow_manifold before, after;
    CHECK_EQUAL( box_box( &a, &b, 0.0f, &before ), 4 );
    b.center.x += 1e-3f;
    b.center.y -= 1e-3f;
    CHECK_EQUAL( box_box( &a, &b, 0.0f, &after ), 4 );
    for ( uint32_t k = 0; k < 4; ++k )
    {
        CHECK_EQUAL( before.points[k].feature, after.points[k].feature );
    }
}

static void nothing_is_lost_far_from_the_origin( void )
{
    narrow_box a = box_at( 1e6f, 0, -1e6f, 0.5f ), b = box_at( 1e6f, 0.875f, -1e6f, 0.5f );
    narrow_manifold m;
    CHECK_EQUAL( box_box( &a, &b, 0.0f, &m ), 4 );
    CHECK( is_near( deepest( &m ), -0.125f ) );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( faces_that_overlap_meet_in_four_points ),
        TEST_CASE( touching_faces_have_separation_zero ),
        TEST_CASE( the_margin_decides_about_gaps ),
        TEST_CASE( a_small_face_on_a_large_one_keeps_its_corners ),
        TEST_CASE( crossed_ridges_meet_in_one_point ),
        TEST_CASE( a_box_on_a_plane_stands_on_its_four_corners ),
        TEST_CASE( a_tilted_box_on_a_plane_stands_on_its_edge ),
        TEST_CASE( random_boxes_agree_with_all_fifteen_axes ),
        TEST_CASE( swapping_the_boxes_turns_the_normal ),
        TEST_CASE( four_axes_at_once_have_the_bits_of_each ),
        TEST_CASE( four_pairs_at_once_have_the_bits_of_each ),
        TEST_CASE( boxes_that_meet_on_the_way_are_near ),
        TEST_CASE( features_survive_a_tremble ),
        TEST_CASE( nothing_is_lost_far_from_the_origin ),
    };
    return test_run( "box_manifold", cases, TEST_COUNT( cases ), argc, argv );
}
