// SPDX-License-Identifier: MIT
// The functions a generator of a physical scene is made of.
#pragma once

#include "lab/scene/generator.h"

/// The scene at frame 0; NULL if out of memory. Both are copied.
void* recipe_run_create( const recipe* scene, const generator_def* def );

/// Everything but create.
void recipe_run_destroy( void* state );
clv_aabb recipe_run_world( const void* state );
bool recipe_run_step( void* state, lab_error* why );
void recipe_run_boxes( void* state, clv_aabb* boxes );
clv_rigid_report recipe_run_report( const void* state );
uint32_t recipe_run_reborn( const void* state, const uint32_t** bodies );

/// The bodies behind the boxes, for who wants to see or push them; lives as long as the scene.
clv_rigid* recipe_run_rigid( void* state );

/// For the rows of the table.
#define RECIPE_RUN_FUNCTIONS                                                                                 \
    .destroy = recipe_run_destroy, .world = recipe_run_world, .step = recipe_run_step,                       \
    .boxes = recipe_run_boxes, .report = recipe_run_report
