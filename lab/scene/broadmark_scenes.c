// SPDX-License-Identifier: MIT
// Broadmark's three scenes with contacts: nearly static, uniform, and fully dynamic.
// Serpa and Rodrigues, "Flexible Use of Temporal and Spatial Reasoning for Fast and Scalable CPU Broad-Phase Collision
// Detection Using KD-Trees", Computer Graphics Forum 38 (2019), section 5.
#include "lab/scene/recipe_run.h"

#define GRAVITY 0.0981 // sides per second squared

static void* create_freefall( const generator_def* def )
{
    recipe scene = recipe_default( "freefall" );
    scene.gravity = RECIPE_DOWN;
    scene.gravity_amount = GRAVITY;
    scene.gravity_by_world = true;
    return recipe_run_create( &scene, def );
}

static void* create_brownian( const generator_def* def )
{
    recipe scene = recipe_default( "brownian" );
    scene.kick_share = 0.01;
    return recipe_run_create( &scene, def );
}

static void* create_gravity( const generator_def* def )
{
    recipe scene = recipe_default( "gravity" );
    scene.gravity = RECIPE_TURNING;
    scene.gravity_amount = 4 * GRAVITY;
    scene.gravity_by_world = true;
    scene.sleep = false;
    return recipe_run_create( &scene, def );
}

const generator generator_freefall = {
    .name = "freefall",
    .about = "bodies fall, pile up and come to rest",
    .family = FAMILY_BROADMARK,
    .version = 1,
    .bodies_most = GENERATOR_SIMULATED_MOST,
    .create = create_freefall,
    RECIPE_RUN_FUNCTIONS,
};

const generator generator_brownian = {
    .name = "brownian",
    .about = "no gravity; bodies collide, and one in a hundred is kicked each frame",
    .family = FAMILY_BROADMARK,
    .version = 1,
    .bodies_most = GENERATOR_SIMULATED_MOST,
    .create = create_brownian,
    RECIPE_RUN_FUNCTIONS,
};

const generator generator_gravity = {
    .name = "gravity",
    .about = "gravity turns and throws the heap from wall to wall",
    .family = FAMILY_BROADMARK,
    .version = 1,
    .bodies_most = GENERATOR_SIMULATED_MOST,
    .create = create_gravity,
    RECIPE_RUN_FUNCTIONS,
};
