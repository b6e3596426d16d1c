// SPDX-License-Identifier: MIT
// The public side of hulls: checks, the solids with names, and the rounds of building that leave out needless
// points.
#include "narrow/hull.h"

#include "base/assertion.h"
#include "base/finite.h"
#include "base/fp_mode.h"
#include "base/refusal.h"
#include <stdio.h>
#include <string.h>

#define HULL_COOKIE 0x4855434Cu // "LCUH"
#define TOLERANCE 0x1p-20 // of the largest coordinate: a few roundings of the floats that made the points
#define ROUNDS 8
#define MOST_LOST 9.5e-6 // of the diameter; 1e-5 is promised

clv_hull_def clv_default_hull_def( void )
{
    clv_hull_def def = { 0 };
    def.size = sizeof( clv_hull_def );
    def.cookie = HULL_COOKIE;
    return def;
}

static clv_result check_hull_def( const clv_hull_def* def )
{
    if ( def->cookie != HULL_COOKIE || def->size < sizeof( clv_hull_def ) )
    {
        return base_refuse(
            &def->logger, CLV_BAD_DEF, "clv_hull_create: the def was not made by clv_default_hull_def" );
    }
    if ( ( def->allocator.allocate == NULL ) != ( def->allocator.release == NULL ) )
    {
        return base_refuse( &def->logger, CLV_BAD_DEF,
            "clv_hull_create: the allocator has one hook of two; set both, or none" );
    }
    if ( def->point_count == 0 || def->points == NULL || def->point_count > CLV_MAX_OBJECTS / 8 )
    {
        return base_refuse( &def->logger, CLV_BAD_ARGUMENT,
            "clv_hull_create: no points, or more than 2^28; a hull needs at least one" );
    }
    for ( uint32_t i = 0; i < def->point_count; ++i )
    {
        if ( !base_is_finite_point( def->points[i] ) )
        {
            char line[160];
            snprintf( line, sizeof( line ),
                "clv_hull_create: point %u is NaN or infinite; leave it out or mend it", (unsigned)i );
            return base_refuse( &def->logger, CLV_BAD_ARGUMENT, line );
        }
    }
    return CLV_OK;
}

typedef struct hull_limits
{
    double tolerance; // how flat faces are
    double left;      // how much farther from the hull points may come to lie
} hull_limits;

// Points far from the origin have been rounded by more than their cloud may lose.
static hull_limits find_limits( const clv_vec3* points, uint32_t count )
{
    math_vec3 lower = math_widen( points[0] ), upper = lower;
    double largest = 0.0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        math_vec3 p = math_widen( points[i] );
        largest = math_max( largest, math_largest( p ) );
        lower = math_make( math_min( lower.x, p.x ), math_min( lower.y, p.y ), math_min( lower.z, p.z ) );
        upper = math_make( math_max( upper.x, p.x ), math_max( upper.y, p.y ), math_max( upper.z, p.z ) );
    }
    double side = math_largest( math_sub( upper, lower ) ); // not above the diameter
    return ( hull_limits ){ TOLERANCE * math_min( largest, 0.5 * side ), MOST_LOST * side };
}

// Those that are needed close up.
static uint32_t leave_out( clv_vec3* points, uint32_t count, const bool* redundant )
{
    uint32_t kept = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        points[kept] = points[i];
        kept += redundant[i] ? 0 : 1;
    }
    return kept;
}

// One round: mesh, faces; or fewer points for the next round.
static clv_result build_round( clv_hull* hull, clv_vec3* points, uint32_t* count, hull_limits* allowed,
    bool join, bool* redundant, bool* again )
{
    hull_mesh mesh;
    uint32_t needless = 0;
    double loss = 0.0;
    join = join && HULL_LOSS * allowed->tolerance <= allowed->left;
    bool ok = clv_narrow_hull_mesh_build( &hull->memory, points, *count, &mesh );
    if ( ok && mesh.dimension == 3 )
    {
        ok = clv_narrow_hull_fill_solid(
            hull, points, *count, &mesh, allowed->tolerance, join, redundant, &needless, &loss );
    }
    else if ( ok )
    {
        if ( join && mesh.dimension == 2 )
        {
            loss =
                clv_narrow_hull_ring_thin( points, *count, &mesh, allowed->tolerance, redundant, &needless );
        }
        ok = needless > 0 || clv_narrow_hull_fill_flat( hull, points, &mesh );
    }
    clv_narrow_hull_mesh_free( &hull->memory, &mesh );
    *again = ok && needless > 0;
    *count = *again ? leave_out( points, *count, redundant ) : *count;
    allowed->left -= loss;
    return ok ? CLV_OK : CLV_OUT_OF_MEMORY;
}

static clv_result build( clv_hull* hull, const clv_hull_def* def )
{
    uint32_t count = def->point_count;
    clv_vec3* points = clv_base_memory_take( &hull->memory, count, sizeof( clv_vec3 ) );
    bool* redundant = clv_base_memory_take( &hull->memory, count, sizeof( bool ) );
    clv_result result = points != NULL && redundant != NULL ? CLV_OK : CLV_OUT_OF_MEMORY;
    if ( result == CLV_OK )
    {
        memcpy( points, def->points, count * sizeof( clv_vec3 ) );
    }

    // Leaving out a corner can bare another. After a few rounds, or when as much is lost as may be, faces
    // stay as they are, in triangles; then no corner has fewer than three and the last round fills in.
    hull_limits allowed = find_limits( def->points, count );
    if ( result == CLV_OK && clv_narrow_hull_is_straight( points, count, allowed.tolerance, redundant ) )
    {
        count = leave_out( points, count, redundant );
    }
    bool again = true;
    for ( int round = 0; result == CLV_OK && again; ++round )
    {
        result = build_round( hull, points, &count, &allowed, round < ROUNDS, redundant, &again );
    }
    clv_base_memory_give( &hull->memory, points, def->point_count, sizeof( clv_vec3 ) );
    clv_base_memory_give( &hull->memory, redundant, def->point_count, sizeof( bool ) );
    return result;
}

static clv_result create_hull( const clv_hull_def* def, clv_hull** hull )
{
    clv_result result = check_hull_def( def );
    if ( result != CLV_OK )
    {
        return result;
    }

    base_memory memory = clv_base_memory_make( def->allocator );
    clv_hull* made = clv_base_memory_take( &memory, 1, sizeof( clv_hull ) );
    if ( made == NULL )
    {
        return base_refuse( &def->logger, CLV_OUT_OF_MEMORY, "clv_hull_create: out of memory" );
    }
    memset( made, 0, sizeof( *made ) );
    made->memory = memory;
    result = build( made, def );
    if ( result != CLV_OK )
    {
        clv_hull_destroy( made );
        return base_refuse( &def->logger, result, "clv_hull_create: out of memory" );
    }
    CLV_VALIDATE( clv_narrow_hull_check( made ) == NULL );
    *hull = made;
    return CLV_OK;
}

clv_result clv_hull_create( const clv_hull_def* def, clv_hull** hull )
{
    CLV_ASSERT( def != NULL && hull != NULL );
    *hull = NULL;
    base_fp_mode mode = base_fp_enter();
    clv_result result = create_hull( def, hull );
    base_fp_leave( mode );
    return result;
}

void clv_hull_destroy( clv_hull* hull )
{
    if ( hull == NULL )
    {
        return;
    }
    base_memory* memory = &hull->memory;
#define GIVE( member, count ) clv_base_memory_give( memory, hull->member, count, sizeof( *hull->member ) );
    HULL_ARRAYS( GIVE )
#undef GIVE
    base_memory own = *memory; // the counters live inside what is given back
    clv_base_memory_give( &own, hull, 1, sizeof( clv_hull ) );
}

clv_hull_view clv_hull_get_view( const clv_hull* hull )
{
    CLV_ASSERT( hull != NULL );
    clv_hull_view view = { hull->vertices, hull->face_starts, hull->face_corners, hull->face_planes,
        hull->neighbour_starts, hull->neighbours, hull->vertex_count, hull->edge_count, hull->face_count,
        hull->dimension, hull->radius };
    return view;
}

// ---- solids with names

static clv_result create_scaled(
    const clv_vec3* unit_points, uint32_t count, clv_vec3 half_size, clv_hull** hull )
{
    clv_vec3 points[24];
    if ( !( half_size.x > 0.0f && half_size.y > 0.0f && half_size.z > 0.0f ) ||
        !base_is_finite_point( half_size ) )
    {
        return CLV_BAD_ARGUMENT;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        points[i].x = unit_points[i].x * half_size.x;
        points[i].y = unit_points[i].y * half_size.y;
        points[i].z = unit_points[i].z * half_size.z;
    }
    clv_hull_def def = clv_default_hull_def();
    def.points = points;
    def.point_count = count;
    return clv_hull_create( &def, hull );
}

static clv_result create_from(
    const clv_vec3* unit_points, uint32_t count, clv_vec3 half_size, clv_hull** hull )
{
    CLV_ASSERT( hull != NULL );
    *hull = NULL;
    base_fp_mode mode = base_fp_enter();
    base_fp_settle( &half_size );
    clv_result result = create_scaled( unit_points, count, half_size, hull );
    base_fp_leave( mode );
    return result;
}

clv_result clv_hull_create_box( clv_vec3 half_size, clv_hull** hull )
{
    clv_vec3 points[8];
    for ( int i = 0; i < 8; ++i )
    {
        points[i].x = i & 1 ? 1.0f : -1.0f;
        points[i].y = i & 2 ? 1.0f : -1.0f;
        points[i].z = i & 4 ? 1.0f : -1.0f;
    }
    return create_from( points, 8, half_size, hull );
}

clv_result clv_hull_create_truncated_octahedron( clv_vec3 half_size, clv_hull** hull )
{
    // All orders and signs of ( 0, 1/2, 1 ).
    clv_vec3 points[24];
    uint32_t count = 0;
    for ( int zero = 0; zero < 3; ++zero )
    {
        for ( int i = 0; i < 8; ++i )
        {
            float p[3];
            p[zero] = 0.0f;
            p[( zero + 1 ) % 3] = ( i & 1 ? 1.0f : -1.0f ) * ( i & 4 ? 1.0f : 0.5f );
            p[( zero + 2 ) % 3] = ( i & 2 ? 1.0f : -1.0f ) * ( i & 4 ? 0.5f : 1.0f );
            points[count++] = ( clv_vec3 ){ p[0], p[1], p[2] };
        }
    }
    return create_from( points, count, half_size, hull );
}

clv_result clv_hull_create_rhombicuboctahedron( clv_vec3 half_size, clv_hull** hull )
{
    // All orders and signs of ( a, a, 1 ) with a = sqrt( 2 ) - 1.
    const float a = 0.41421356237f;
    clv_vec3 points[24];
    uint32_t count = 0;
    for ( int one = 0; one < 3; ++one )
    {
        for ( int i = 0; i < 8; ++i )
        {
            float p[3];
            p[one] = i & 1 ? 1.0f : -1.0f;
            p[( one + 1 ) % 3] = i & 2 ? a : -a;
            p[( one + 2 ) % 3] = i & 4 ? a : -a;
            points[count++] = ( clv_vec3 ){ p[0], p[1], p[2] };
        }
    }
    return create_from( points, count, half_size, hull );
}

// ---- checking

static bool has_neighbour( const clv_hull* hull, uint32_t from, uint32_t to )
{
    for ( uint32_t i = hull->neighbour_starts[from]; i < hull->neighbour_starts[from + 1]; ++i )
    {
        if ( hull->neighbours[i] == to )
        {
            return true;
        }
    }
    return false;
}

static const char* check_face( const clv_hull* hull, uint32_t face, double slack )
{
    uint32_t start = hull->face_starts[face], end = hull->face_starts[face + 1];
    if ( end < start + 3 )
    {
        return "a face has fewer than three corners";
    }
    for ( uint32_t i = start; i < end; ++i )
    {
        uint32_t to = hull->face_corners[i + 1 < end ? i + 1 : start];
        if ( !has_neighbour( hull, hull->face_corners[i], to ) )
        {
            return "two corners in a row are not neighbours";
        }
    }
    math_vec3 normal = math_widen( hull->face_planes[face].normal );
    if ( math_abs( math_length( normal ) - 1.0 ) > 1e-6 )
    {
        return "a normal is not of length 1";
    }
    for ( uint32_t v = 0; v < hull->vertex_count; ++v )
    {
        double height =
            math_dot( normal, math_widen( hull->vertices[v] ) ) - (double)hull->face_planes[face].offset;
        if ( height > slack )
        {
            return "a vertex is outside of a face";
        }
    }
    return NULL;
}

const char* clv_narrow_hull_check( const clv_hull* hull )
{
    if ( hull->dimension == 3 && hull->vertex_count + hull->face_count != hull->edge_count + 2 )
    {
        return "Euler's formula does not hold";
    }
    double largest = 0.0;
    for ( uint32_t v = 0; v < hull->vertex_count; ++v )
    {
        largest = math_max( largest, math_largest( math_widen( hull->vertices[v] ) ) );
        uint32_t degree = hull->neighbour_starts[v + 1] - hull->neighbour_starts[v];
        if ( degree < hull->dimension )
        {
            return "a vertex has too few neighbours";
        }
        for ( uint32_t i = hull->neighbour_starts[v]; i < hull->neighbour_starts[v + 1]; ++i )
        {
            if ( !has_neighbour( hull, hull->neighbours[i], v ) )
            {
                return "a neighbour does not know of it";
            }
        }
        if ( math_length( math_widen( hull->vertices[v] ) ) > (double)hull->radius )
        {
            return "a vertex is beyond the radius";
        }
    }
    double slack = 4.0 * largest * TOLERANCE + 0x1p-149; // offsets are floats too
    for ( uint32_t face = 0; face < hull->face_count; ++face )
    {
        const char* wrong = check_face( hull, face, slack );
        if ( wrong != NULL )
        {
            return wrong;
        }
    }
    return NULL;
}
