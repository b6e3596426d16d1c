// SPDX-License-Identifier: MIT
// The scenes of "Detecção de Colisão Broad Phase com RAY KD-Tree" (2015), section 4: a cube of 100 m, 1/120 s per frame,
// speeds of 0 to 100 m/s, gravity 9.81. `--type cubes` is the paper's uniform set, `--type assorted` its varied one; the
// paper does not tell the sizes, so they are Broadmark's. How many particles are fed per frame it calls "a small part":
// one in a hundred, as Broadmark does.
#include "lab/scene/recipe_run.h"

static recipe ray_recipe( const char* name )
{
    recipe scene = recipe_default( name );
    scene.density = 0;
    scene.side = 100;
    scene.frame_seconds = 1.0 / 120.0;
    scene.substeps = 2;
    scene.region = RECIPE_CUBE;
    scene.reach = 0.49;
    scene.speed_law = RECIPE_SPEED_RANGE;
    scene.speed = 100;
    scene.speed_by_world = false;
    scene.gravity = RECIPE_DOWN;
    scene.gravity_amount = 9.81;
    return scene;
}

static void* create_freefall( const generator_def* def )
{
    recipe scene = ray_recipe( "ray-freefall" );
    return recipe_run_create( &scene, def );
}

static void* create_particles( const generator_def* def )
{
    recipe scene = ray_recipe( "ray-particles" );
    scene.kick_share = 0.01;
    return recipe_run_create( &scene, def );
}

const generator generator_ray_freefall = {
    .name = "ray-freefall",
    .about = "free fall of the RAY KD-tree paper: 100 m cube, 1/120 s",
    .family = FAMILY_RAY_KD,
    .version = 1,
    .bodies_most = 400000,
    .create = create_freefall,
    RECIPE_RUN_FUNCTIONS,
};

const generator generator_ray_particles = {
    .name = "ray-particles",
    .about = "particles of the RAY KD-tree paper, some kicked each frame",
    .family = FAMILY_RAY_KD,
    .version = 1,
    .bodies_most = 400000,
    .create = create_particles,
    RECIPE_RUN_FUNCTIONS,
};
