// SPDX-License-Identifier: MIT
#include "query/query_flat.h"

#include "base/assertion.h"

#include <math.h>
#include <string.h>

static const float HALF_WAY = 0.5f; // between 0 and 1, where all flat boxes are

static clv_vec3 raise_point( clv_vec2 p )
{
    return ( clv_vec3 ){ p.x, p.y, HALF_WAY };
}

static clv_vec3 raise_way( clv_vec2 v )
{
    return ( clv_vec3 ){ v.x, v.y, 0 };
}

static clv_aabb raise_area( clv_aabb2 box )
{
    return ( clv_aabb ){ raise_point( box.lower ), raise_point( box.upper ) };
}

static clv_capsule raise_capsule( clv_capsule2 c )
{
    return ( clv_capsule ){ raise_point( c.a ), raise_point( c.b ), c.radius };
}

// The quaternion of half the angle, of any length: tan( a / 2 ) = sin / ( 1 + cos ) = ( 1 - cos ) / sin, whichever does not cancel.
static void raise_turn( clv_vec2 turn, double frame[4] )
{
    double c = (double)turn.x, s = (double)turn.y, length = sqrt( c * c + s * s );
    frame[0] = frame[1] = 0;
    frame[2] = c < 0 ? length - c : s;
    frame[3] = c < 0 ? s : length + c;
}

static clv_oriented_box raise_turned( clv_oriented_box2 box, double frame[4] )
{
    raise_turn( box.turn, frame );
    return ( clv_oriented_box ){ raise_point( box.center ), raise_way( box.half_size ),
        { 0, 0, box.turn.y, box.turn.x } };
}

clv_query_kind clv_query_raise( const clv_queries* list, uint32_t index, query_raised* raised )
{
    const void* items = list->items;
    clv_query_kind kind = (clv_query_kind)( (uint32_t)list->kind & 31u );
    CLV_ASSERT( query_is_flat( list->kind ) );
    CLV_ASSERT( index < list->count );
    switch ( kind )
    {
    case CLV_QUERY_POINT: raised->item.point = raise_point( ( (const clv_vec2*)items )[index] ); break;
    case CLV_QUERY_BOX: raised->item.box = raise_area( ( (const clv_aabb2*)items )[index] ); break;
    case CLV_QUERY_SPHERE:
    {
        clv_circle c = ( (const clv_circle*)items )[index];
        raised->item.sphere = ( clv_sphere ){ raise_point( c.center ), c.radius };
        break;
    }
    case CLV_QUERY_NEIGHBOURHOOD:
    {
        clv_neighbourhood2 n = ( (const clv_neighbourhood2*)items )[index];
        raised->item.around = ( clv_neighbourhood ){ raise_area( n.box ), n.distance };
        break;
    }
    case CLV_QUERY_CAPSULE:
        raised->item.capsule = raise_capsule( ( (const clv_capsule2*)items )[index] );
        break;
    case CLV_QUERY_ORIENTED_BOX:
        raised->item.turned = raise_turned( ( (const clv_oriented_box2*)items )[index], raised->frame );
        break;
    case CLV_QUERY_HALF_SPACES:
        raised->half_planes = ( (const clv_half_planes*)items )[index];
        raised->item.half_spaces = ( clv_half_spaces ){ NULL, 0 };
        break;
    case CLV_QUERY_RAY:
    {
        clv_ray2 r = ( (const clv_ray2*)items )[index];
        raised->item.ray = ( clv_ray ){ raise_point( r.origin ), raise_way( r.direction ), r.max_t };
        break;
    }
    case CLV_QUERY_BOX_CAST:
    {
        clv_box_cast2 c = ( (const clv_box_cast2*)items )[index];
        raised->item.box_cast = ( clv_box_cast ){ raise_area( c.box ), raise_way( c.motion ), c.max_t };
        break;
    }
    case CLV_QUERY_SPHERE_CAST:
    {
        clv_circle_cast c = ( (const clv_circle_cast*)items )[index];
        raised->item.sphere_cast = ( clv_sphere_cast ){ { raise_point( c.circle.center ), c.circle.radius },
            raise_way( c.motion ), c.max_t };
        break;
    }
    default:
    {
        CLV_ASSERT( kind == CLV_QUERY_CAPSULE_CAST );
        clv_capsule_cast2 c = ( (const clv_capsule_cast2*)items )[index];
        raised->item.capsule_cast =
            ( clv_capsule_cast ){ raise_capsule( c.capsule ), raise_way( c.motion ), c.max_t };
        break;
    }
    }
    return kind;
}
