// SPDX-License-Identifier: MIT
// Scenes that users meet and broad phases stumble over.
#include "lab/scene/recipe_run.h"

static recipe falling( const char* name )
{
    recipe scene = recipe_default( name );
    scene.gravity = RECIPE_DOWN;
    scene.gravity_amount = 0.0981;
    scene.gravity_by_world = true;
    return scene;
}

static recipe flying( const char* name )
{
    recipe scene = recipe_default( name );
    scene.kick_share = 0.01;
    return scene;
}

/// A plate that more bodies touch than any list of neighbours expects.
static void* create_giant( const generator_def* def )
{
    recipe scene = falling( "giant" );
    scene.groups[0] = ( recipe_group ){ .count = 1,
        .shape = RECIPE_BOX,
        .sides = { 0.8, 0.05, 0.8 },
        .sides_by_world = true,
        .is_static = true,
        .place = RECIPE_CENTER };
    scene.groups[1] = ( recipe_group ){ .share = -1, .shape = RECIPE_TYPE };
    scene.group_count = 2;
    return recipe_run_create( &scene, def );
}

/// All at the origin: every pair overlaps. They fly apart for half a second before they feel each other.
static void* create_spot( const generator_def* def )
{
    recipe scene = falling( "spot" );
    scene.reach = 0;
    scene.contacts_from = 15;
    return recipe_run_create( &scene, def );
}

/// Houses of half a metre to eight, about as far apart; two in a hundred bodies fall among them and are kicked about.
static void* create_city( const generator_def* def )
{
    recipe scene = flying( "city" );
    scene.density = 2e-5;
    scene.region = RECIPE_SLAB;
    scene.reach = 0.05;
    scene.speed_law = RECIPE_SPEED_RANGE;
    scene.speed = 20;
    scene.speed_by_world = false;
    scene.gravity = RECIPE_DOWN;
    scene.gravity_amount = 9.81;
    scene.groups[0] = ( recipe_group ){ .share = 0.02, .shape = RECIPE_TYPE };
    scene.groups[1] = ( recipe_group ){
        .share = -1, .shape = RECIPE_RANDOM, .sides = { 0.5, 8.0 }, .is_static = true, .place = RECIPE_STREET
    };
    scene.group_count = 2;
    return recipe_run_create( &scene, def );
}

static void* create_crowd( const generator_def* def )
{
    recipe scene = flying( "crowd" );
    scene.teleport_share = 0.05;
    return recipe_run_create( &scene, def );
}

static void* create_swarm( const generator_def* def )
{
    recipe scene = flying( "swarm" );
    scene.origin[0] = scene.origin[1] = scene.origin[2] = 1e6;
    return recipe_run_create( &scene, def );
}

static void* create_churn( const generator_def* def )
{
    recipe scene = flying( "churn" );
    scene.churn_share = 0.01;
    return recipe_run_create( &scene, def );
}

#define HARD_SCENE( noun, text, most )                                                                       \
    .name = #noun, .about = ( text ), .family = FAMILY_HARD, .version = 1, .bodies_most = ( most ),          \
    .create = create_##noun, RECIPE_RUN_FUNCTIONS

const generator generator_giant = { HARD_SCENE(
    giant, "one huge plate among many small bodies", GENERATOR_SIMULATED_MOST ) };
const generator generator_spot = { HARD_SCENE( spot, "all created at one spot and released", 16000 ) };
const generator generator_city = { HARD_SCENE(
    city, "static houses, few movers", GENERATOR_SIMULATED_MOST ) };
const generator generator_crowd = { HARD_SCENE(
    crowd, "one in twenty is teleported each frame", GENERATOR_SIMULATED_MOST ) };
const generator generator_swarm = { HARD_SCENE(
    swarm, "brownian, a million metres from the origin", GENERATOR_SIMULATED_MOST ) };
const generator generator_churn = {
    HARD_SCENE( churn, "one in a hundred dies and is born anew each frame", GENERATOR_SIMULATED_MOST ),
    .reborn = recipe_run_reborn,
};
