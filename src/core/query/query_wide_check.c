// SPDX-License-Identifier: MIT
// Are questions in double questions? As clv_query_check_item has it for floats.
#include "query/query_wide.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <math.h>

static bool is_place( clv_vec64 v )
{
    return base_is_finite( v.x ) && base_is_finite( v.y ) && base_is_finite( v.z );
}

// Small enough to be squared and summed up.
static bool is_modest( double value )
{
    return fabs( value ) <= QUERY_WIDE_MOST;
}

static bool is_modest_place( clv_vec64 v )
{
    return is_modest( v.x ) && is_modest( v.y ) && is_modest( v.z );
}

static bool is_size( double value )
{
    return value >= 0 && is_modest( value );
}

static clv_result answer( bool is_good )
{
    return is_good ? CLV_OK : CLV_BAD_ARGUMENT;
}

static bool is_capsule64( const clv_capsule64* c )
{
    return is_modest_place( c->a ) && is_modest_place( c->b ) && is_size( c->radius );
}

static clv_result check_box_cast64( const clv_box_cast64* cast )
{
    if ( !clv_aabb64_is_valid( cast->box ) )
    {
        return CLV_BAD_BOX;
    }
    return answer( is_place( cast->box.lower ) && is_place( cast->box.upper ) && is_place( cast->motion ) &&
        cast->max_t >= 0 );
}

static clv_result check_turned64( const clv_oriented_box64* box )
{
    const clv_quat* q = &box->rotation;
    const clv_vec64 turn = { (double)q->x, (double)q->y, (double)q->z };
    return answer( is_modest_place( box->center ) && is_size( box->half_size.x ) &&
        is_size( box->half_size.y ) && is_size( box->half_size.z ) && is_place( turn ) &&
        base_is_finite( (double)q->w ) );
}

static clv_result check_half_spaces64( const clv_half_spaces64* h )
{
    bool is_good = is_modest_place( h->origin );
    for ( uint32_t i = 0; i < h->count && is_good; ++i )
    {
        is_good = is_modest_place( h->planes[i].normal ) && h->planes[i].offset == h->planes[i].offset;
    }
    return answer( is_good );
}

static clv_result check_round64( clv_query_kind kind, const void* items, uint32_t index )
{
    if ( kind == CLV_QUERY_CAPSULE64 )
    {
        return answer( is_capsule64( &( (const clv_capsule64*)items )[index] ) );
    }
    if ( kind == CLV_QUERY_SPHERE_CAST64 )
    {
        const clv_sphere_cast64* cast = &( (const clv_sphere_cast64*)items )[index];
        return answer( is_modest_place( cast->sphere.center ) && is_size( cast->sphere.radius ) &&
            is_modest_place( cast->motion ) && cast->max_t >= 0 );
    }
    const clv_capsule_cast64* cast = &( (const clv_capsule_cast64*)items )[index];
    return answer( is_capsule64( &cast->capsule ) && is_modest_place( cast->motion ) && cast->max_t >= 0 );
}

clv_result clv_query_wide_check_item( const clv_queries* list, uint32_t index )
{
    const void* items = list->items;
    CLV_ASSERT( index < list->count );
    switch ( list->kind )
    {
    case CLV_QUERY_POINT64:
    {
        clv_vec64 p = ( (const clv_vec64*)items )[index];
        return answer( p.x == p.x && p.y == p.y && p.z == p.z );
    }
    case CLV_QUERY_BOX64:
        return clv_aabb64_is_valid( ( (const clv_aabb64*)items )[index] ) ? CLV_OK : CLV_BAD_BOX;
    case CLV_QUERY_SPHERE64:
    {
        const clv_sphere64* s = &( (const clv_sphere64*)items )[index];
        return answer( is_place( s->center ) && s->radius >= 0 );
    }
    case CLV_QUERY_NEIGHBOURHOOD64:
    {
        const clv_neighbourhood64* n = &( (const clv_neighbourhood64*)items )[index];
        return clv_aabb64_is_valid( n->box ) ? answer( n->distance >= 0 ) : CLV_BAD_BOX;
    }
    case CLV_QUERY_ORIENTED_BOX64: return check_turned64( &( (const clv_oriented_box64*)items )[index] );
    case CLV_QUERY_HALF_SPACES64: return check_half_spaces64( &( (const clv_half_spaces64*)items )[index] );
    case CLV_QUERY_RAY64:
    {
        const clv_ray64* r = &( (const clv_ray64*)items )[index];
        return answer( is_place( r->origin ) && is_place( r->direction ) && r->max_t >= 0 );
    }
    case CLV_QUERY_BOX_CAST64: return check_box_cast64( &( (const clv_box_cast64*)items )[index] );
    case CLV_QUERY_CAPSULE64:
    case CLV_QUERY_SPHERE_CAST64:
    case CLV_QUERY_CAPSULE_CAST64: return check_round64( list->kind, items, index );
    default: return CLV_BAD_ARGUMENT;
    }
}

bool clv_query_wide_mode_fits( clv_query_kind kind, query_mode mode )
{
    return query_is_wide( kind ) &&
        clv_query_mode_fits( (clv_query_kind)( (uint32_t)kind - QUERY_WIDE ), mode );
}
