// SPDX-License-Identifier: MIT
// Bodies without physics: the common part of scenes whose bodies do not touch each other.
#pragma once

#include "lab/scene/generator.h"
#include "task/task.h"

typedef struct swarm swarm;

/// Fills in or changes body `index`. Called by many threads at once.
typedef void swarm_touch( const swarm* self, uint64_t index, body_state* body );

/// A body of an odd world: a point of the cube from -1 to 1, and one number more, which
/// likewise goes to and fro.
typedef struct odd_point
{
    uint64_t index;
    double at[4];
} odd_point;

/// What the bodies of a scene do. Members that are not named are 0 or NULL.
typedef struct swarm_law
{
    swarm_touch* start; ///< at frame 0; NULL: no bodies are kept, every frame is computed from the first
    swarm_touch* step;  ///< one frame on; NULL: the frame alone counts
    body_state ( *body_now )(
        const swarm* self, uint64_t index ); ///< in the swarm's frame; NULL: as it is kept
    bool is_variant;                         ///< of two scenes that differ in one thing

    // Of hard_worlds.c.
    swarm_touch* twist;                                             ///< what is wrong with a body
    clv_aabb ( *map )( const swarm* self, const odd_point* point ); ///< where in space a point of the cube is
    int dimensions;                                                 ///< of the map; 0: 3
    double decades;
} swarm_law;

struct swarm
{
    const swarm_law* law;
    generator_def def;
    base_memory memory;
    task_runner runner; ///< threads waiting for work
    uint64_t frame;
    body_state* bodies; ///< of the def's part; NULL where every frame is computed from the first
    uint32_t edge;      ///< bodies along an edge of a cube of all of them
    double side;        ///< of the world, in metres
    double wall;        ///< how far from the middle a centre may be
};

/// For the rows of the table; `world` is their own.
void* swarm_create( const generator* self, const generator_def* def );
void swarm_destroy( void* scene );
bool swarm_step( void* scene, lab_error* why );
void swarm_boxes( void* scene, clv_aabb* boxes );

#define SWARM( kind, label, text, most, reach, ... )                                                         \
    {                                                                                                        \
        .name = ( label ), .about = ( text ), .family = ( kind ), .version = 1, .bodies_most = ( most ),     \
        .has_parts = true, .swarm = &( const swarm_law ){ __VA_ARGS__ }, .create = swarm_create,             \
        .destroy = swarm_destroy, .world = ( reach ), .step = swarm_step, .boxes = swarm_boxes               \
    }

/// A cube about the middle.
clv_aabb swarm_cube( double half_side );

/// Sides of an odd world per body; hard_worlds.c.
double odd_world_side( uint32_t body_count, int dimensions );
clv_aabb odd_world_box( const swarm* self, uint64_t index );
