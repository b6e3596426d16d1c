// SPDX-License-Identifier: MIT
// Boxes, 18-DOPs and spheres are compared by the pairs they report of bodies that do not touch, as in "Detecção de Colisão usando
// Sweep and Prune com k-DOPs em GPU" (COPPE 2021).
#include "lab/view/view_volumes.h"

#include <stdlib.h>

enum
{
    HULLS_MOST = 4096, // kinds of sides; more would be searched one by one for too long
};

bool view_volumes_open( view_volumes* volumes, uint32_t count )
{
    *volumes = ( view_volumes ){ .count = count };
    volumes->bodies = calloc( (size_t)count + 1, sizeof( view_body ) );
    return volumes->bodies != NULL;
}

void view_volumes_close( view_volumes* volumes )
{
    for ( uint32_t i = 0; i < volumes->hull_count; ++i )
    {
        clv_hull_destroy( volumes->hulls[i].hull );
    }
    free( volumes->hulls );
    free( volumes->bodies );
    free( volumes->bits );
    *volumes = ( view_volumes ){ 0 };
}

static clv_result add_hull( view_volumes* volumes, clv_vec3 half )
{
    uint32_t count = volumes->hull_count;
    view_hull* larger = realloc( volumes->hulls, ( count + 1 ) * sizeof( view_hull ) );
    if ( larger == NULL || count == HULLS_MOST )
    {
        volumes->hulls = larger != NULL ? larger : volumes->hulls;
        return CLV_OUT_OF_MEMORY;
    }
    volumes->hulls = larger;
    larger[count].half = half;
    clv_result result = clv_hull_create_truncated_octahedron( half, &larger[count].hull );
    volumes->hull_count += result == CLV_OK;
    return result;
}

// Most bodies have the sides of the one before: the search begins at the last hull.
static clv_result find_hull( view_volumes* volumes, clv_vec3 half, clv_shape* shape )
{
    for ( uint32_t i = volumes->hull_count; i > 0; --i )
    {
        clv_vec3 known = volumes->hulls[i - 1].half;
        if ( known.x == half.x && known.y == half.y && known.z == half.z )
        {
            *shape = clv_hull_shape( volumes->hulls[i - 1].hull );
            return CLV_OK;
        }
    }
    clv_result result = add_hull( volumes, half );
    if ( result == CLV_OK )
    {
        *shape = clv_hull_shape( volumes->hulls[volumes->hull_count - 1].hull );
    }
    return result;
}

clv_result view_volumes_place(
    view_volumes* volumes, view_shape shape, uint32_t index, const float half_sides[3], clv_transform at )
{
    view_body* body = &volumes->bodies[index];
    clv_vec3 half = { half_sides[0], half_sides[1], half_sides[2] };
    clv_result result = CLV_OK;
    body->shape = clv_box_shape( half );
    body->at = at;
    if ( shape == VIEW_OCTAHEDRA )
    {
        result = find_hull( volumes, half, &body->shape );
    }
    result = result == CLV_OK ? clv_shape_dop18( body->shape, at, &body->dop ) : result;
    return result == CLV_OK ? clv_shape_sphere( body->shape, at, &body->sphere ) : result;
}

// Volumes hold their bodies to the last bit: where they are apart so are the bodies, and need not be asked.
static uint8_t compare( const view_body* a, const view_body* b )
{
    uint32_t bits = 0;
    bits |= clv_dop18_overlap( &a->dop, &b->dop ) ? 0 : VIEW_DOPS_APART | VIEW_BODIES_APART;
    bits |= clv_sphere_overlap( a->sphere, b->sphere ) ? 0 : VIEW_SPHERES_APART | VIEW_BODIES_APART;
    bool touching = true;
    if ( bits == 0 && clv_shape_overlap( a->shape, a->at, b->shape, b->at, NULL, &touching ) == CLV_OK )
    {
        bits = touching ? 0 : VIEW_BODIES_APART;
    }
    return (uint8_t)bits;
}

const uint8_t* view_volumes_find( view_volumes* volumes, const clv_pair* pairs, uint64_t count )
{
    if ( count >= volumes->bit_capacity )
    {
        uint64_t wanted = count + count / 4 + 1;
        uint8_t* larger = realloc( volumes->bits, wanted );
        if ( larger == NULL )
        {
            return NULL;
        }
        volumes->bits = larger;
        volumes->bit_capacity = wanted;
    }
    for ( uint64_t i = 0; i < count; ++i )
    {
        volumes->bits[i] = compare( &volumes->bodies[pairs[i].a], &volumes->bodies[pairs[i].b] );
    }
    return volumes->bits;
}
