// SPDX-License-Identifier: MIT
// The experiment of the k-DOP paper as a scene: a tower of truncated octahedra at (0, 10 i, 0) falls on a
// floor (docs/physics.md). Cubes: as they are; assorted: stretched to (1, 3, 1), the paper's two sets.
#include "lab/scene/generator.h"

#include "math/quat.h"
#include "math/splitmix.h"

#include <math.h>
#include <stdlib.h>

#define SPACING 10.0f // from one body to the next
#define SPREAD 3.0f   // half a side of the world, per root of the number of bodies: they end in one layer

typedef struct tower
{
    generator_def def;
    clv_hull* hull;
    clv_shape_sim* sim;
} tower;

void tower_destroy( void* state )
{
    tower* scene = state;
    clv_shape_sim_destroy( scene->sim );
    clv_hull_destroy( scene->hull );
    free( scene );
}

static bool build( tower* scene )
{
    clv_vec3 half = { 1, scene->def.type == BODY_CUBES ? 1.0f : 3.0f, 1 };
    clv_shape_sim_def def = clv_default_shape_sim_def();
    bool good = clv_hull_create_truncated_octahedron( half, &scene->hull ) == CLV_OK &&
        clv_shape_sim_create( &def, &scene->sim ) == CLV_OK;
    // As `cleave sim tower` does it, so that a seed means the same heap.
    math_random random = math_random_seed( scene->def.seed );
    for ( uint32_t i = 1; good && i <= scene->def.body_count; ++i )
    {
        clv_transform at = clv_transform_at( 0, SPACING * (float)i, 0 );
        at.rotation = math_quat_narrow( math_random_rotation( &random ) );
        good = clv_shape_sim_add( scene->sim, scene->hull, at ) == CLV_OK;
    }
    return good;
}

void* tower_create( const generator* self, const generator_def* def )
{
    (void)self;
    tower* scene = lab_take( 1, sizeof( tower ) );
    scene->def = *def;
    if ( !build( scene ) )
    {
        tower_destroy( scene );
        return NULL;
    }
    return scene;
}

clv_aabb tower_world( const void* state )
{
    const tower* scene = state;
    float half = SPREAD * sqrtf( (float)scene->def.body_count ) + SPACING;
    clv_aabb box = { { -half, 0, -half }, { half, SPACING * (float)( scene->def.body_count + 1 ), half } };
    return box;
}

bool tower_step( void* state, lab_error* why )
{
    tower* scene = state;
    return clv_shape_sim_step( scene->sim ) == CLV_OK || lab_error_write( why, "tower: out of memory" );
}

void tower_boxes( void* state, clv_aabb* result )
{
    tower* scene = state;
    clv_shape shape = clv_hull_shape( scene->hull );
    for ( uint32_t body = 0; body < scene->def.body_count; ++body )
    {
        clv_aabb box = { { 0, 0, 0 }, { 0, 0, 0 } };
        clv_shape_aabb(
            shape, clv_shape_sim_transform( scene->sim, body ), &box ); // of a good hull: cannot fail
        body_write_box( box, scene->def.split, body, result );
    }
}

const clv_shape_sim* tower_sim( const void* state )
{
    const tower* scene = state;
    return scene->sim;
}
