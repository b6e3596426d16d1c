// SPDX-License-Identifier: MIT
#include "lab/scene/recipe.h"

#include "lab/base/text.h"

#include <stdio.h>
#include <string.h>

recipe recipe_default( const char* name )
{
    recipe scene;
    memset( &scene, 0, sizeof( scene ) );
    snprintf( scene.name, sizeof( scene.name ), "%s", name );
    scene.density = 0.02;
    scene.frame_seconds = 1.0 / 30.0;
    scene.substeps = 4;
    scene.region = RECIPE_BALL;
    scene.reach = 0.45;
    scene.speed_law = RECIPE_SPEED_BALL;
    scene.speed = 0.75;
    scene.speed_by_world = true;
    scene.gravity_period = 6.2;
    scene.friction = 0.6;
    scene.sleep = true;
    return scene;
}

bool recipe_is_path( const char* text )
{
    return text_ends_with( text, ".scene" );
}

static uint32_t rounded_share( double share, uint32_t body_count )
{
    double wanted = share * (double)body_count + 0.5;
    return wanted < (double)body_count ? (uint32_t)wanted : body_count;
}

void recipe_group_range(
    const recipe* scene, uint32_t index, uint32_t body_count, uint32_t* begin, uint32_t* end )
{
    // Groups come in the order they are listed; the rest fills what the others leave.
    uint32_t sizes[RECIPE_GROUPS_MOST] = { 0 };
    uint32_t left = body_count;
    uint32_t rest = scene->group_count - 1; // unless a group asks for the rest, the last one takes it
    for ( uint32_t i = 0; i < scene->group_count; ++i )
    {
        const recipe_group* group = &scene->groups[i];
        uint32_t wanted = group->share < 0 ? 0
            : group->share > 0             ? rounded_share( group->share, body_count )
                                           : group->count;
        rest = group->share < 0 ? i : rest;
        sizes[i] = wanted < left ? wanted : left;
        left -= sizes[i];
    }
    sizes[rest] += left;
    *begin = 0;
    for ( uint32_t i = 0; i < index; ++i )
    {
        *begin += sizes[i];
    }
    *end = *begin + sizes[index];
}
