// SPDX-License-Identifier: MIT
// Broadmark's Brownian scene without contacts, so that it can be as large as memory: bodies fly through each
// other, bounce off the walls, spin, and each frame the next hundredth of them is kicked to a new velocity.
// World, start and kicks as in Serpa and Rodrigues, "Flexible Use of Temporal and Spatial Reasoning for Fast
// and Scalable CPU Broad-Phase Collision Detection Using KD-Trees", Computer Graphics Forum 38 (2019).
#include "lab/base/random.h"
#include "lab/scene/swarm.h"

#define DENSITY 0.02           // volume of the bodies over that of the world
#define START_RADIUS 0.45      // of the side
#define SPEED 0.75             // sides per second
#define SPIN 6.283185307179586 // radians per second, at most
#define FRAME_SECONDS ( 1.0 / 30.0 )
#define KICKED 100 // one in so many per frame

// What numbers are drawn for; kicks count on from PURPOSE_KICK.
#define PURPOSE_START 0
#define PURPOSE_SPIN 1
#define PURPOSE_KICK 2

typedef struct brownian_free
{
    swarm swarm;
    double side;
    double wall; // how far from the middle a centre may be
} brownian_free;

static void start_bodies( uint64_t begin, uint64_t end, void* user )
{
    brownian_free* scene = user;
    for ( uint64_t index = begin; index < end; ++index )
    {
        body_state* body = swarm_body_at( &scene->swarm, index );
        random_stream start = random_stream_make( scene->swarm.def.seed, index, PURPOSE_START );
        random_ball( &start, START_RADIUS * scene->side, body->position );
        random_ball( &start, SPEED * scene->side, body->velocity );
        random_stream turn = random_stream_make( scene->swarm.def.seed, index, PURPOSE_SPIN );
        double spin[3];
        random_ball( &turn, SPIN, spin );
        for ( int axis = 0; axis < 3; ++axis )
        {
            body->spin[axis] = (float)spin[axis];
            body->rotation[axis] = 0;
        }
        body->rotation[3] = 1;
        body_half_sides( scene->swarm.def.type, scene->swarm.def.seed, index, body->half_sides );
    }
}

static void* create( const generator_def* def )
{
    brownian_free* scene = swarm_create( sizeof( brownian_free ), def, true, swarm_kept_body );
    if ( scene == NULL )
    {
        return NULL;
    }
    scene->side = body_cube_root( (double)def->body_count / DENSITY );
    // A hair inside, so that a centre computed back from rounded boxes is inside too.
    scene->wall = 0.5 * scene->side * ( 1 - 1e-6 );
    swarm_for_each( &scene->swarm, start_bodies );
    return scene;
}

static clv_aabb world( const void* state )
{
    const brownian_free* scene = state;
    return swarm_cube( 0.5 * scene->side );
}

// Is it this body's turn to be kicked? The kicked ones are `count` in a row from `first` on, wrapping.
static bool is_kicked( uint64_t index, uint64_t first, uint64_t count, uint64_t body_count )
{
    uint64_t behind = index >= first ? index - first : index + body_count - first;
    return behind < count;
}

static void bounce( body_state* body, int axis, double wall )
{
    double side = body->position[axis] > 0 ? 1 : -1;
    double reflected = side * 2 * wall - body->position[axis];
    // A fast body in a tiny world could be thrown out at the other side.
    body->position[axis] = reflected > wall ? wall : reflected < -wall ? -wall : reflected;
    body->velocity[axis] = -body->velocity[axis];
}

static void step_bodies( uint64_t begin, uint64_t end, void* user )
{
    brownian_free* scene = user;
    uint64_t body_count = scene->swarm.def.body_count;
    uint64_t kicked_count = ( body_count + KICKED - 1 ) / KICKED;
    uint64_t kicked_first = scene->swarm.frame % body_count * kicked_count % body_count;
    for ( uint64_t index = begin; index < end; ++index )
    {
        body_state* body = swarm_body_at( &scene->swarm, index );
        if ( is_kicked( index, kicked_first, kicked_count, body_count ) )
        {
            random_stream kick =
                random_stream_make( scene->swarm.def.seed, index, PURPOSE_KICK + scene->swarm.frame );
            random_ball( &kick, SPEED * scene->side, body->velocity );
        }
        for ( int axis = 0; axis < 3; ++axis )
        {
            body->position[axis] += body->velocity[axis] * FRAME_SECONDS;
            if ( body->position[axis] > scene->wall || body->position[axis] < -scene->wall )
            {
                bounce( body, axis, scene->wall );
            }
        }
        body_turn( body, FRAME_SECONDS );
    }
}

static bool step( void* state, lab_error* why )
{
    brownian_free* scene = state;
    swarm_for_each( &scene->swarm, step_bodies );
    return swarm_step( state, why );
}

const generator generator_brownian_free = {
    .name = "brownian-free",
    .about = "bodies fly through each other, bounce off the walls and are kicked now and then",
    .family = FAMILY_FREE,
    .version = 1,
    .bodies_most = GENERATOR_BODIES_MOST,
    .has_parts = true,
    .create = create,
    .destroy = swarm_destroy,
    .world = world,
    .step = step,
    .boxes = swarm_boxes,
};
