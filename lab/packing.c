// SPDX-License-Identifier: MIT
// Scenes of things that have come to rest: bodies packed as in a heap, each touching a few others. In jitter every one of
// them trembles about its place, as solvers make them; in settling one in fifty also wanders to and fro.
#include "lab/generator.h"
#include "lab/parallel.h"
#include "lab/random.h"

#include <stdlib.h>

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
    generator_def def;
    parallel_crew crew;
    uint32_t side; // bodies along an edge
    uint64_t frame;
    bool wanders;
    body_state* bodies;
} packing;

typedef struct boxes_job
{
    const packing* scene;
    clv_aabb* boxes;
} boxes_job;

static void start_bodies( uint64_t begin, uint64_t end, void* user )
{
    packing* scene = user;
    for ( uint64_t index = begin; index < end; ++index )
    {
        body_state* body = &scene->bodies[index];
        random_stream start = random_stream_make( scene->def.seed, index, PURPOSE_START );
        // Neighbours in space are no neighbours in memory, as after a fall; the factor has no divisor in common with a
        // number of bodies below it.
        uint64_t place = index * 2147483647u % scene->def.body_count;
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
        body_half_sides( scene->def.type, scene->def.seed, index, body->half_sides );
    }
}

static void* create( const generator_def* def, bool wanders )
{
    packing* scene = calloc( 1, sizeof( packing ) );
    if ( scene == NULL )
    {
        return NULL;
    }
    scene->bodies = calloc( def->body_count, sizeof( body_state ) );
    if ( scene->bodies == NULL )
    {
        free( scene );
        return NULL;
    }
    parallel_crew_start( &scene->crew, def->thread_count );
    scene->def = *def;
    scene->wanders = wanders;
    scene->side = 1;
    while ( (uint64_t)scene->side * scene->side * scene->side < def->body_count )
    {
        scene->side += 1;
    }
    parallel_for( &scene->crew, def->body_count, start_bodies, scene );
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
    float half = (float)( 0.5 * SPACING * (double)scene->side + REACH + 1 );
    clv_aabb box = { { -half, -half, -half }, { half, half, half } };
    return box;
}

static bool step( void* state, complaint* why )
{
    (void)why;
    packing* scene = state;
    scene->frame += 1;
    return true;
}

// To and fro between -REACH and REACH, at an even pace.
static double wander( double way )
{
    double turn = way / ( 4 * REACH ) + 0.25;
    turn -= (double)(int64_t)turn - ( turn < 0 ? 1 : 0 );
    return turn < 0.5 ? 4 * REACH * turn - REACH : 3 * REACH - 4 * REACH * turn;
}

static body_state body_now( const packing* scene, uint64_t index )
{
    body_state body = scene->bodies[index];
    bool wanders = scene->wanders && index % WANDERERS == 0;
    random_stream tremor = random_stream_make( scene->def.seed, index, 1 + scene->frame );
    for ( int axis = 0; axis < 3; ++axis )
    {
        body.position[axis] += ( 2 * random_unit( &tremor ) - 1 ) * TREMOR;
        body.position[axis] += wanders ? wander( body.velocity[axis] * (double)scene->frame ) : 0;
    }
    return body;
}

static void write_boxes( uint64_t begin, uint64_t end, void* user )
{
    boxes_job* job = user;
    for ( uint64_t index = begin; index < end; ++index )
    {
        body_state body = body_now( job->scene, index );
        if ( job->scene->def.split )
        {
            body_split_boxes( &body, job->boxes + BODY_SPLIT * index );
        }
        else
        {
            job->boxes[index] = body_box( &body );
        }
    }
}

static void boxes( void* state, clv_aabb* result )
{
    packing* scene = state;
    boxes_job job = { scene, result };
    parallel_for( &scene->crew, scene->def.body_count, write_boxes, &job );
}

static void destroy( void* state )
{
    packing* scene = state;
    if ( scene != NULL )
    {
        parallel_crew_stop( &scene->crew );
        free( scene->bodies );
        free( scene );
    }
}

const generator generator_jitter = {
    .name = "jitter",
    .about = "a packed heap at rest that trembles by a ten-thousandth of a side",
    .version = 1,
    .bodies_most = GENERATOR_BODIES_MOST,
    .create = create_jitter,
    .destroy = destroy,
    .world = world,
    .step = step,
    .boxes = boxes,
};

const generator generator_settling = {
    .name = "settling",
    .about = "the same, and one body in fifty still moves",
    .version = 1,
    .bodies_most = GENERATOR_BODIES_MOST,
    .create = create_settling,
    .destroy = destroy,
    .world = world,
    .step = step,
    .boxes = boxes,
};
