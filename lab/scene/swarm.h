// SPDX-License-Identifier: MIT
// Bodies without physics: the common part of scenes whose bodies do not touch each other.
#pragma once

#include "lab/base/parallel.h"
#include "lab/scene/generator.h"

typedef struct swarm swarm;

/// Body `index` as it is in the swarm's frame. Called by many threads at once.
typedef body_state swarm_body( const swarm* self, uint64_t index );

/// A scene's first member, so that its functions can stand in a generator's row.
struct swarm
{
    generator_def def;
    parallel_crew crew;
    uint64_t frame;
    body_state* bodies; ///< of the def's part; NULL where every frame is computed from the first
    swarm_body* body_now;
};

/// A zeroed scene of so many bytes that begins with its swarm, or NULL if out of memory.
void* swarm_create( size_t scene_size, const generator_def* def, bool keeps_bodies, swarm_body* body_now );
void swarm_destroy( void* scene );

/// Body `index` of the whole scene, where bodies are kept.
static inline body_state* swarm_body_at( const swarm* self, uint64_t index )
{
    return &self->bodies[index - self->def.part_first];
}

/// generator.step where only the frame counts.
bool swarm_step( void* scene, lab_error* why );

/// generator.boxes.
void swarm_boxes( void* scene, clv_aabb* boxes );

/// The same for scenes that make boxes their own way: `write( begin, end, user )` over the bodies there are.
void swarm_for_each_with( swarm* self, parallel_stretch* stretch, void* user );

/// A cube about the middle.
clv_aabb swarm_cube( double half_side );
