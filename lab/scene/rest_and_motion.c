// SPDX-License-Identifier: MIT
// Scenes for methods that remember: bodies spread evenly, flying through each other as in brownian-free, but not all the
// time. In rest-and-motion everything moves for some frames, rests for some, and then one body in a hundred moves: each
// change is a switch between ways of detecting. In mostly-rest one body in a hundred moves, always the same ones.
#include "lab/base/random.h"
#include "lab/scene/swarm.h"

#define DENSITY 0.02 // volume of the bodies over that of the world
#define SPEED 0.75   // sides per second
#define FRAME_SECONDS ( 1.0 / 30.0 )
#define PHASE_FRAMES                                                                                         \
    4           // motion, rest, a few; the first frames are at rest, since that is where a method may err
#define FEW 100 // one in so many

#define PURPOSE_START 0

typedef struct restless
{
    swarm swarm;
    double side;
    double wall;     // how far from the middle a centre may be
    bool always_few; // mostly-rest
} restless;

static void start_bodies( uint64_t begin, uint64_t end, void* user )
{
    restless* scene = user;
    for ( uint64_t index = begin; index < end; ++index )
    {
        body_state* body = swarm_body_at( &scene->swarm, index );
        random_stream start = random_stream_make( scene->swarm.def.seed, index, PURPOSE_START );
        for ( int axis = 0; axis < 3; ++axis )
        {
            body->position[axis] = ( 2 * random_unit( &start ) - 1 ) * scene->wall;
            body->rotation[axis] = 0;
            body->spin[axis] = 0;
        }
        body->rotation[3] = 1;
        random_ball( &start, SPEED * scene->side, body->velocity );
        body_half_sides( scene->swarm.def.type, scene->swarm.def.seed, index, body->half_sides );
    }
}

static void* create( const generator_def* def, bool always_few )
{
    restless* scene = swarm_create( sizeof( restless ), def, true, swarm_kept_body );
    if ( scene == NULL )
    {
        return NULL;
    }
    scene->always_few = always_few;
    scene->side = body_cube_root( (double)def->body_count / DENSITY );
    // A hair inside, so that a centre computed back from rounded boxes is inside too.
    scene->wall = 0.5 * scene->side * ( 1 - 1e-6 );
    swarm_for_each( &scene->swarm, start_bodies );
    return scene;
}

static void* create_rest_and_motion( const generator_def* def )
{
    return create( def, false );
}

static void* create_mostly_rest( const generator_def* def )
{
    return create( def, true );
}

static clv_aabb world( const void* state )
{
    const restless* scene = state;
    return swarm_cube( 0.5 * scene->side );
}

static bool moves( const restless* scene, uint64_t index )
{
    uint64_t phase = scene->swarm.frame / PHASE_FRAMES % 3;
    bool is_one_of_few = index % FEW == 0;
    return scene->always_few ? is_one_of_few : phase == 1 || ( phase == 2 && is_one_of_few );
}

static void step_bodies( uint64_t begin, uint64_t end, void* user )
{
    restless* scene = user;
    for ( uint64_t index = begin; index < end; ++index )
    {
        body_state* body = swarm_body_at( &scene->swarm, index );
        for ( int axis = 0; axis < 3 && moves( scene, index ); ++axis )
        {
            double position = body->position[axis] + body->velocity[axis] * FRAME_SECONDS;
            if ( position > scene->wall || position < -scene->wall )
            {
                body->velocity[axis] = -body->velocity[axis];
                position = position > 0 ? scene->wall : -scene->wall;
            }
            body->position[axis] = position;
        }
    }
}

static bool step( void* state, lab_error* why )
{
    restless* scene = state;
    swarm_for_each( &scene->swarm, step_bodies );
    return swarm_step( state, why );
}

const generator generator_rest_and_motion = {
    .name = "rest-and-motion",
    .about = "all bodies rest, all fly, one in a hundred flies: four frames of each in turn",
    .family = FAMILY_FREE,
    .version = 1,
    .bodies_most = GENERATOR_BODIES_MOST,
    .has_parts = true,
    .create = create_rest_and_motion,
    .destroy = swarm_destroy,
    .world = world,
    .step = step,
    .boxes = swarm_boxes,
};

const generator generator_mostly_rest = {
    .name = "mostly-rest",
    .about = "one body in a hundred flies, the others rest",
    .family = FAMILY_FREE,
    .version = 1,
    .bodies_most = GENERATOR_BODIES_MOST,
    .has_parts = true,
    .create = create_mostly_rest,
    .destroy = swarm_destroy,
    .world = world,
    .step = step,
    .boxes = swarm_boxes,
};
