// SPDX-License-Identifier: MIT
// Are questions in floats questions, of two axes or three? query_wide_check.c has those in double.
#include "query/query_search.h"

#include "base/assertion.h"

#include <string.h>

static bool is_real( float value )
{
    return value - value == 0;
}

static bool are_real( clv_vec3 v )
{
    return is_real( v.x ) && is_real( v.y ) && is_real( v.z );
}

static bool is_length( float value )
{
    return value >= 0;
}

static clv_result verdict( bool is_good )
{
    return is_good ? CLV_OK : CLV_BAD_ARGUMENT;
}

static bool is_capsule( const clv_capsule* c )
{
    return are_real( c->a ) && are_real( c->b ) && is_real( c->radius ) && is_length( c->radius );
}

static bool is_sphere( const clv_sphere* s )
{
    return are_real( s->center ) && is_length( s->radius );
}

static bool are_half_spaces( const clv_half_spaces* h )
{
    for ( uint32_t i = 0; i < h->count; ++i )
    {
        float offset = h->planes[i].offset;
        if ( !are_real( h->planes[i].normal ) || offset != offset )
        {
            return false;
        }
    }
    return true;
}

static clv_result check_box_cast( const clv_box_cast* cast )
{
    if ( !clv_aabb_is_valid( cast->box ) )
    {
        return CLV_BAD_BOX;
    }
    return verdict( are_real( cast->box.lower ) && are_real( cast->box.upper ) && are_real( cast->motion ) &&
        is_length( cast->max_t ) );
}

static clv_result check_oriented_box( const clv_oriented_box* box )
{
    const clv_quat* q = &box->rotation;
    return verdict( are_real( box->center ) && are_real( box->half_size ) && is_length( box->half_size.x ) &&
        is_length( box->half_size.y ) && is_length( box->half_size.z ) && is_real( q->x ) &&
        is_real( q->y ) && is_real( q->z ) && is_real( q->w ) );
}

static bool are_half_planes( const clv_half_planes* h )
{
    for ( uint32_t i = 0; i < h->count; ++i )
    {
        float offset = h->planes[i].offset;
        if ( !is_real( h->planes[i].normal.x ) || !is_real( h->planes[i].normal.y ) || offset != offset )
        {
            return false;
        }
    }
    return true;
}

static clv_result check_flat_item( const clv_queries* list, uint32_t index )
{
    query_raised raised;
    memset( &raised, 0, sizeof( raised ) );
    clv_query_kind kind = clv_query_raise( list, index, &raised );
    clv_queries one = clv_query_list( kind, &raised.item, 1 );
    return kind == CLV_QUERY_HALF_SPACES ? verdict( are_half_planes( &raised.half_planes ) )
                                         : clv_query_check_item( &one, 0 );
}

clv_result clv_query_check_item( const clv_queries* list, uint32_t index )
{
    CLV_ASSERT( index < list->count );
    if ( query_is_flat( list->kind ) )
    {
        return check_flat_item( list, index );
    }
    switch ( list->kind )
    {
    case CLV_QUERY_POINT:
    {
        clv_vec3 p = ( (const clv_vec3*)list->items )[index];
        return verdict( p.x == p.x && p.y == p.y && p.z == p.z );
    }
    case CLV_QUERY_BOX:
        return clv_aabb_is_valid( ( (const clv_aabb*)list->items )[index] ) ? CLV_OK : CLV_BAD_BOX;
    case CLV_QUERY_SPHERE: return verdict( is_sphere( &( (const clv_sphere*)list->items )[index] ) );
    case CLV_QUERY_NEIGHBOURHOOD:
    {
        const clv_neighbourhood* around = &( (const clv_neighbourhood*)list->items )[index];
        return !clv_aabb_is_valid( around->box ) ? CLV_BAD_BOX : verdict( is_length( around->distance ) );
    }
    case CLV_QUERY_CAPSULE: return verdict( is_capsule( &( (const clv_capsule*)list->items )[index] ) );
    case CLV_QUERY_ORIENTED_BOX:
        return check_oriented_box( &( (const clv_oriented_box*)list->items )[index] );
    case CLV_QUERY_HALF_SPACES:
        return verdict( are_half_spaces( &( (const clv_half_spaces*)list->items )[index] ) );
    case CLV_QUERY_RAY:
    {
        const clv_ray* ray = &( (const clv_ray*)list->items )[index];
        return verdict( are_real( ray->origin ) && are_real( ray->direction ) && is_length( ray->max_t ) );
    }
    case CLV_QUERY_BOX_CAST: return check_box_cast( &( (const clv_box_cast*)list->items )[index] );
    case CLV_QUERY_SPHERE_CAST:
    {
        const clv_sphere_cast* cast = &( (const clv_sphere_cast*)list->items )[index];
        return verdict( is_sphere( &cast->sphere ) && is_real( cast->sphere.radius ) &&
            are_real( cast->motion ) && is_length( cast->max_t ) );
    }
    case CLV_QUERY_CAPSULE_CAST:
    {
        const clv_capsule_cast* cast = &( (const clv_capsule_cast*)list->items )[index];
        return verdict(
            is_capsule( &cast->capsule ) && are_real( cast->motion ) && is_length( cast->max_t ) );
    }
    default: return CLV_BAD_ARGUMENT;
    }
}

bool clv_query_mode_fits( clv_query_kind kind, query_mode mode )
{
    kind = query_is_flat( kind ) ? (clv_query_kind)( (uint32_t)kind - QUERY_FLAT ) : kind;
    switch ( mode )
    {
    case QUERY_CLOSEST: return kind >= CLV_QUERY_RAY && kind <= CLV_QUERY_CAPSULE_CAST;
    case QUERY_NEAREST: return kind == CLV_QUERY_POINT || kind == CLV_QUERY_BOX;
    default: return kind >= CLV_QUERY_POINT && kind <= CLV_QUERY_CAPSULE_CAST;
    }
}
