// SPDX-License-Identifier: MIT
// Scenes of things that have come to rest: bodies packed as in a heap, each touching a few others. In jitter every one of
// them trembles about its place, as solvers make them; in settling one in fifty also wanders to and fro.
#include "lab/base/random.h"
#include "lab/scene/swarm.h"

#define SPACING 0.98      // sides from centre to centre: neighbours overlap a little or not quite
#define SCATTER 0.05      // sides that a centre may be off its place
#define TREMOR 1e-4       // sides that it trembles
#define REACH 0.3         // sides that a wanderer goes from its place
#define SPEED_LEAST 0.002 // sides per frame
#define SPEED_MOST 0.02
#define WANDERERS 50 // one in so many

#define PURPOSE_START 0 // and 1 + frame for the tremor

typedef struct packing
{
    swarm swarm;
    uint32_t side; // bodies along an edge
    bool wanders;
} packing;

static void start_bodies( uint64_t begin, uint64_t end, void* user )
{
    packing* scene = user;
    for ( uint64_t index = begin; index < end; ++index )
    {
        body_state* body = swarm_body_at( &scene->swarm, index );
        random_stream start = random_stream_make( scene->swarm.def.seed, index, PURPOSE_START );
        // Neighbours in space are no neighbours in memory, as after a fall; the factor has no divisor in common with a
        // number of bodies below it.
        uint64_t place = index * 2147483647u % scene->swarm.def.body_count;
        for ( int axis = 0; axis < 3; ++axis )
        {
            double cell = (double)( place % scene->side ) - 0.5 * ( (double)scene->side - 1 );
            place /= scene->side;
            body->position[axis] = cell * SPACING + ( 2 * random_unit( &start ) - 1 ) * SCATTER;
            body->rotation[axis] = 0;
            body->spin[axis] = 0;
        }
        body->rotation[3] = 1;
        random_ball( &start, 1, body->velocity );
        double speed = SPEED_LEAST + ( SPEED_MOST - SPEED_LEAST ) * random_unit( &start );
        for ( int axis = 0; axis < 3; ++axis )
        {
            body->velocity[axis] *= speed;
        }
        body_half_sides( scene->swarm.def.type, scene->swarm.def.seed, index, body->half_sides );
    }
}

// To and fro between -REACH and REACH, at an even pace.
static double wander( double way )
{
    double turn = way / ( 4 * REACH ) + 0.25;
    turn -= (double)(int64_t)turn - ( turn < 0 ? 1 : 0 );
    return turn < 0.5 ? 4 * REACH * turn - REACH : 3 * REACH - 4 * REACH * turn;
}

static body_state body_now( const swarm* self, uint64_t index )
{
    const packing* scene = (const packing*)self; // its first member
    body_state body = *swarm_body_at( &scene->swarm, index );
    bool wanders = scene->wanders && index % WANDERERS == 0;
    random_stream tremor = random_stream_make( scene->swarm.def.seed, index, 1 + scene->swarm.frame );
    for ( int axis = 0; axis < 3; ++axis )
    {
        body.position[axis] += ( 2 * random_unit( &tremor ) - 1 ) * TREMOR;
        body.position[axis] += wanders ? wander( body.velocity[axis] * (double)scene->swarm.frame ) : 0;
    }
    return body;
}

static void* create( const generator_def* def, bool wanders )
{
    packing* scene = swarm_create( sizeof( packing ), def, true, body_now );
    if ( scene == NULL )
    {
        return NULL;
    }
    scene->wanders = wanders;
    scene->side = 1;
    while ( (uint64_t)scene->side * scene->side * scene->side < def->body_count )
    {
        scene->side += 1;
    }
    swarm_for_each( &scene->swarm, start_bodies );
    return scene;
}

static void* create_jitter( const generator_def* def )
{
    return create( def, false );
}

static void* create_settling( const generator_def* def )
{
    return create( def, true );
}

static clv_aabb world( const void* state )
{
    const packing* scene = state;
    return swarm_cube( 0.5 * SPACING * (double)scene->side + REACH + 1 );
}

const generator generator_jitter = {
    .name = "jitter",
    .about = "a packed heap at rest that trembles by a ten-thousandth of a side",
    .family = FAMILY_PACKED,
    .version = 1,
    .bodies_most = GENERATOR_BODIES_MOST,
    .has_parts = true,
    .create = create_jitter,
    .destroy = swarm_destroy,
    .world = world,
    .step = swarm_step,
    .boxes = swarm_boxes,
};

const generator generator_settling = {
    .name = "settling",
    .about = "jitter, and one body in fifty still moves",
    .family = FAMILY_PACKED,
    .version = 1,
    .bodies_most = GENERATOR_BODIES_MOST,
    .has_parts = true,
    .create = create_settling,
    .destroy = swarm_destroy,
    .world = world,
    .step = swarm_step,
    .boxes = swarm_boxes,
};
