// SPDX-License-Identifier: MIT
#include "lab/query/query_draw.h"

#include "lab/base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const choice query_families[] = { { "rays", QUERY_FAMILY_RAYS }, { "boxes", QUERY_FAMILY_BOXES },
    { "spheres", QUERY_FAMILY_SPHERES }, { "nearest", QUERY_FAMILY_NEAREST }, { "casts", QUERY_FAMILY_CASTS },
    { NULL, 0 } };
static const size_t s_item_sizes[QUERY_FAMILY_COUNT] = { sizeof( clv_ray ), sizeof( clv_aabb ),
    sizeof( clv_sphere ), sizeof( clv_vec3 ), sizeof( clv_sphere_cast ) };

const char* query_family_name( query_family family )
{
    return query_families[family].word;
}

size_t query_family_item_size( query_family family )
{
    return s_item_sizes[family];
}

// An object to ask about: its middle and its side. Endless ones count as 1.
typedef struct subject
{
    double middle[3];
    double side;
    clv_aabb box;
} subject;

static subject pick( const clv_aabb* boxes, uint32_t count, random_stream* random )
{
    subject s = { .side = 0 };
    s.box = boxes[(uint32_t)( random_unit( random ) * count )];
    for ( int axis = 0; axis < 3; ++axis )
    {
        double lower = (double)( &s.box.lower.x )[axis], upper = (double)( &s.box.upper.x )[axis];
        double middle = ( lower + upper ) * 0.5, side = upper - lower;
        s.middle[axis] = middle - middle == 0 ? middle : 0;
        s.side += ( side - side == 0 ? side : 1 ) / 3;
    }
    return s;
}

static clv_vec3 near_by( const subject* s, double reach, random_stream* random )
{
    clv_vec3 at = { 0, 0, 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        ( &at.x )[axis] = (float)( s->middle[axis] + ( 2 * random_unit( random ) - 1 ) * reach * s->side );
    }
    return at;
}

static clv_vec3 direction( random_stream* random )
{
    double p[3] = { 0, 0, 0 }, square = 0;
    while ( !( square > 1e-6 ) )
    {
        random_ball( random, 1, p );
        square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    }
    double length = sqrt( square );
    clv_vec3 d = { (float)( p[0] / length ), (float)( p[1] / length ), (float)( p[2] / length ) };
    return d;
}

static clv_aabb shifted( const subject* s, random_stream* random )
{
    clv_aabb box = s->box;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float shift = (float)( ( 2 * random_unit( random ) - 1 ) * 2 * s->side );
        ( &box.lower.x )[axis] += shift;
        ( &box.upper.x )[axis] += shift;
    }
    return box;
}

void query_draw_make( query_draw* draw, query_family family, const clv_aabb* boxes, uint32_t object_count,
    uint32_t count, uint64_t seed )
{
    *draw = ( query_draw ){ family, object_count > 0 ? count : 0, NULL };
    draw->items = lab_take( count, s_item_sizes[family] );
    for ( uint32_t i = 0; i < draw->count; ++i )
    {
        random_stream random = random_stream_make( seed, i, 0x7175657279u + (uint64_t)family );
        subject s = pick( boxes, object_count, &random );
        float radius = (float)( s.side * 0.5 );
        switch ( family )
        {
        case QUERY_FAMILY_BOXES: ( (clv_aabb*)draw->items )[i] = shifted( &s, &random ); break;
        case QUERY_FAMILY_SPHERES:
            ( (clv_sphere*)draw->items )[i] = ( clv_sphere ){ near_by( &s, 2, &random ), radius };
            break;
        case QUERY_FAMILY_NEAREST: ( (clv_vec3*)draw->items )[i] = near_by( &s, 1, &random ); break;
        case QUERY_FAMILY_CASTS:
        {
            clv_vec3 at = near_by( &s, 1, &random );
            ( (clv_sphere_cast*)draw->items )[i] =
                ( clv_sphere_cast ){ { at, radius }, direction( &random ), INFINITY };
            break;
        }
        default:
        {
            clv_vec3 at = near_by( &s, 1, &random );
            ( (clv_ray*)draw->items )[i] = ( clv_ray ){ at, direction( &random ), INFINITY };
            break;
        }
        }
    }
}

void query_draw_free( query_draw* draw )
{
    free( draw->items );
    draw->items = NULL;
}

clv_queries query_draw_list( const query_draw* draw, uint32_t first, uint32_t count )
{
    static const clv_query_kind kinds[QUERY_FAMILY_COUNT] = { CLV_QUERY_RAY, CLV_QUERY_BOX, CLV_QUERY_SPHERE,
        CLV_QUERY_POINT, CLV_QUERY_SPHERE_CAST };
    const char* items = draw->items;
    clv_queries queries = clv_query_list( kinds[draw->family], count );
    queries.points = (const clv_vec3*)(const void*)( items +
        first * query_family_item_size( draw->family ) ); // any kind's
    return queries;
}
