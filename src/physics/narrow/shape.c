// SPDX-License-Identifier: MIT
// Contacts in double, and the public queries: check, widen, ask, narrow.
#include "base/assertion.h"
#include "base/finite.h"
#include "base/fp_mode.h"
#include "narrow/bound.h"
#include "narrow/contact.h"

// ---- in double

void clv_narrow_find_contact( narrow_core* a, double radius_a, narrow_core* b, double radius_b,
    clv_pair_cache* cache, narrow_contact* contact )
{
    narrow_contact_find( a, radius_a, b, radius_b, EPA_VERTICES, cache, contact );
}

void clv_narrow_find_plane_contact( narrow_core* a, double radius, clv_plane plane, narrow_contact* contact )
{
    math_vec3 up = math_normalize( math_widen( plane.normal ), math_make( 0, 1, 0 ) );
    uint32_t index;
    math_vec3 lowest = clv_narrow_core_support( a, math_neg( up ), &index );
    lowest = math_add_scaled( lowest, up, -radius );
    double depth = (double)plane.offset - math_dot( up, lowest );
    contact->gjk_round_count = contact->epa_round_count = 0;
    contact->touching = depth >= 0.0;
    if ( contact->touching )
    {
        contact->converged = true;
        contact->depth = depth;
        contact->normal = math_neg( up );
        contact->point_a = lowest;
        contact->point_b = math_add_scaled( lowest, up, depth );
    }
}

// ---- the public queries

static bool is_size( float value )
{
    return value >= 0.0f && isfinite( value );
}

static bool is_shape( const clv_shape* given )
{
    clv_shape shape = *given;
    bool good = is_size( shape.radius );
    switch ( shape.kind )
    {
    case CLV_SHAPE_SPHERE: break;
    case CLV_SHAPE_BOX:
        good = good && is_size( shape.half_size.x ) && is_size( shape.half_size.y ) &&
            is_size( shape.half_size.z );
        break;
    case CLV_SHAPE_HULL: good = good && shape.hull != NULL; break;
    default: good = false; break;
    }
    return good;
}

clv_result clv_shape_check( clv_shape shape )
{
    base_fp_mode mode = base_fp_enter();
    base_fp_settle( &shape );
    clv_result result = is_shape( &shape ) ? CLV_OK : CLV_BAD_ARGUMENT;
    base_fp_settle( &result );
    base_fp_leave( mode );
    return result;
}

bool clv_narrow_is_transform( clv_transform t )
{
    return base_is_finite_point( t.position ) && isfinite( t.rotation.x ) && isfinite( t.rotation.y ) &&
        isfinite( t.rotation.z ) && isfinite( t.rotation.w );
}

// One or two placed shapes, as handed over; settled before they are looked at. Of one shape b is a once more.
typedef struct query
{
    clv_shape a, b;
    clv_transform at_a, at_b;
    clv_plane plane;
    clv_pair_cache* cache;
    narrow_maker* make;
    void* answer;
} query;

// False: there is no answer to this query.
typedef bool query_answer( const query* q );

static bool is_query( const query* q )
{
    return is_shape( &q->a ) && is_shape( &q->b ) && clv_narrow_is_transform( q->at_a ) &&
        clv_narrow_is_transform( q->at_b ) && base_is_finite_point( q->plane.normal ) &&
        isfinite( q->plane.offset );
}

static clv_result ask( query q, query_answer* answer )
{
    CLV_ASSERT( q.answer != NULL );
    base_fp_mode mode = base_fp_enter();
    base_fp_settle( &q );
    bool good = is_query( &q ) && answer( &q );
    base_fp_settle( &good );
    base_fp_leave( mode );
    return good ? CLV_OK : CLV_BAD_ARGUMENT;
}

static narrow_core make_core( clv_shape shape, clv_transform at )
{
    math_pose pose = math_pose_widen( at );
    return narrow_core_make( shape, &pose );
}

// A point of both shapes, from four vertices around the origin, which narrow_simplex_reduce leaves without
// weights: each weighs as much as the volume the origin has with the other three.
static math_vec3 common_point( const narrow_core* a, const narrow_simplex* simplex )
{
    const narrow_vertex* v = simplex->vertices;
    CLV_ASSERT( simplex->count == 4 );
    math_vec3 o = v[0].w;
    math_vec3 p = math_sub( v[1].w, o ), q = math_sub( v[2].w, o ), r = math_sub( v[3].w, o );
    math_vec3 qr = math_cross( q, r );
    double volume = math_dot( p, qr );
    double weights[4] = { 0, -math_dot( o, qr ) / volume, -math_dot( p, math_cross( o, r ) ) / volume,
        -math_dot( p, math_cross( q, o ) ) / volume };
    weights[0] = 1.0 - weights[1] - weights[2] - weights[3];
    math_vec3 sum = { 0, 0, 0 };
    for ( int i = 0; i < 4; ++i )
    {
        sum = math_add_scaled( sum, clv_narrow_core_point( a, v[i].index_a ), weights[i] );
    }
    return sum;
}

static bool find_distance( const query* q )
{
    clv_distance* distance = q->answer;
    narrow_core core_a = make_core( q->a, q->at_a ), core_b = make_core( q->b, q->at_b );
    double radius_a = (double)q->a.radius, radius_b = (double)q->b.radius;
    narrow_gjk g;
    narrow_gjk_search( &core_a, &core_b, radius_a + radius_b, false, q->cache, &g );
    math_vec3 on_a, on_b, normal = { 0, 0, 0 };
    bool touching = g.touching || g.distance <= radius_a + radius_b;
    if ( g.simplex.count == 4 )
    {
        on_a = on_b = common_point( &core_a, &g.simplex );
    }
    else
    {
        narrow_simplex_witness( &core_a, &core_b, &g.simplex, &on_a, &on_b );
    }
    if ( !g.touching )
    {
        // Skins that overlap have the point between the cores in common that is as far into a's as it may be.
        normal = math_scale( g.nearest, -1.0 / g.distance );
        on_a = math_add_scaled( on_a, normal, touching ? math_min( radius_a, g.distance ) : radius_a );
        on_b = touching ? on_a : math_add_scaled( on_b, normal, -radius_b );
    }
    distance->touching = touching;
    distance->converged = g.converged;
    distance->distance = touching ? 0.0f : (float)( g.distance - ( radius_a + radius_b ) );
    distance->normal = touching ? ( clv_vec3 ){ 0, 0, 0 } : math_narrow( normal );
    distance->point_a = math_narrow( on_a );
    distance->point_b = math_narrow( on_b );
    distance->round_count = g.round_count;
    return true;
}

clv_result clv_shape_distance( clv_shape a, clv_transform at_a, clv_shape b, clv_transform at_b,
    clv_pair_cache* cache, clv_distance* distance )
{
    return ask( ( query ){ a, b, at_a, at_b, .cache = cache, .answer = distance }, find_distance );
}

static bool find_overlap( const query* q )
{
    narrow_core core_a = make_core( q->a, q->at_a ), core_b = make_core( q->b, q->at_b );
    double skins = (double)q->a.radius + (double)q->b.radius;
    narrow_gjk g;
    narrow_gjk_search( &core_a, &core_b, skins, true, q->cache, &g );
    *(bool*)q->answer = g.touching || g.distance <= skins;
    return true;
}

clv_result clv_shape_overlap(
    clv_shape a, clv_transform at_a, clv_shape b, clv_transform at_b, clv_pair_cache* cache, bool* touching )
{
    return ask( ( query ){ a, b, at_a, at_b, .cache = cache, .answer = touching }, find_overlap );
}

static void narrow_result( const narrow_contact* found, clv_contact* contact )
{
    *contact = ( clv_contact ){ 0 };
    contact->touching = found->touching;
    contact->gjk_round_count = found->gjk_round_count;
    if ( found->touching )
    {
        contact->converged = found->converged;
        contact->depth = (float)found->depth;
        contact->normal = math_narrow( found->normal );
        contact->point_a = math_narrow( found->point_a );
        contact->point_b = math_narrow( found->point_b );
        contact->epa_round_count = found->epa_round_count;
    }
}

static bool find_contact( const query* q )
{
    narrow_core core_a = make_core( q->a, q->at_a ), core_b = make_core( q->b, q->at_b );
    narrow_contact found;
    clv_narrow_find_contact( &core_a, (double)q->a.radius, &core_b, (double)q->b.radius, q->cache, &found );
    narrow_result( &found, q->answer );
    return true;
}

clv_result clv_shape_contact( clv_shape a, clv_transform at_a, clv_shape b, clv_transform at_b,
    clv_pair_cache* cache, clv_contact* contact )
{
    return ask( ( query ){ a, b, at_a, at_b, .cache = cache, .answer = contact }, find_contact );
}

static bool find_plane_contact( const query* q )
{
    narrow_core core = make_core( q->a, q->at_a );
    narrow_contact found;
    clv_narrow_find_plane_contact( &core, (double)q->a.radius, q->plane, &found );
    narrow_result( &found, q->answer );
    return true;
}

clv_result clv_shape_plane_contact( clv_shape a, clv_transform at_a, clv_plane plane, clv_contact* contact )
{
    return ask( ( query ){ a, a, at_a, at_a, .plane = plane, .answer = contact }, find_plane_contact );
}

// Of a direction that is none there is no farthest point.
static bool find_support( const query* q )
{
    clv_vec3 direction = q->plane.normal;
    if ( direction.x == 0.0f && direction.y == 0.0f && direction.z == 0.0f )
    {
        return false;
    }
    narrow_core core = make_core( q->a, q->at_a );
    math_vec3 unit = math_normalize( math_widen( direction ), math_make( 0, 1, 0 ) );
    uint32_t index;
    math_vec3 farthest = clv_narrow_core_support( &core, unit, &index );
    *(clv_vec3*)q->answer = math_narrow( math_add_scaled( farthest, unit, (double)q->a.radius ) );
    return true;
}

clv_result clv_shape_support( clv_shape shape, clv_transform at, clv_vec3 direction, clv_vec3* point )
{
    return ask(
        ( query ){ shape, shape, at, at, .plane = { direction, 0.0f }, .answer = point }, find_support );
}

// ---- boxes, and other volumes

static bool make_volume( const query* q )
{
    narrow_core core = make_core( q->a, q->at_a );
    q->make( &core, (double)q->a.radius, q->answer );
    return true;
}

clv_result clv_narrow_around( clv_shape shape, clv_transform at, narrow_maker* make, void* volume )
{
    return ask( ( query ){ shape, shape, at, at, .make = make, .answer = volume }, make_volume );
}

static void make_aabb( const narrow_core* core, double radius, void* aabb )
{
    *(clv_aabb*)aabb = clv_narrow_core_aabb( core, radius );
}

clv_result clv_shape_aabb( clv_shape shape, clv_transform at, clv_aabb* aabb )
{
    return clv_narrow_around( shape, at, make_aabb, aabb );
}
