// SPDX-License-Identifier: MIT
// Scenes for methods that remember: bodies spread evenly, flying through each other as in brownian-free, but not all the
// time. In rest-and-motion everything moves for some frames, rests for some, and then one body in a hundred moves: each
// change is a switch between ways of detecting. In mostly-rest one body in a hundred moves, always the same ones.
#include "lab/generator.h"
#include "lab/parallel.h"
#include "lab/random.h"

#include <stdlib.h>

#define DENSITY 0.02 // volume of the bodies over that of the world
#define SPEED 0.75   // sides per second
#define FRAME_SECONDS ( 1.0 / 30.0 )
#define PHASE_FRAMES                                                                                         \
    4           // motion, rest, a few; the first frames are at rest, since that is where a method may err
#define FEW 100 // one in so many

#define PURPOSE_START 0

typedef struct restless
{
    generator_def def;
    parallel_crew crew;
    double side;
    double wall; // how far from the middle a centre may be
    uint64_t frame;
    bool always_few; // mostly-rest
    body_state* bodies;
} restless;

typedef struct boxes_job
{
    const restless* scene;
    clv_aabb* boxes;
} boxes_job;

static void start_bodies( uint64_t begin, uint64_t end, void* user )
{
    restless* scene = user;
    for ( uint64_t index = begin; index < end; ++index )
    {
        body_state* body = &scene->bodies[index];
        random_stream start = random_stream_make( scene->def.seed, index, PURPOSE_START );
        for ( int axis = 0; axis < 3; ++axis )
        {
            body->position[axis] = ( 2 * random_unit( &start ) - 1 ) * scene->wall;
            body->rotation[axis] = 0;
            body->spin[axis] = 0;
        }
        body->rotation[3] = 1;
        random_ball( &start, SPEED * scene->side, body->velocity );
        body_half_sides( scene->def.type, scene->def.seed, index, body->half_sides );
    }
}

static void* create( const generator_def* def, bool always_few )
{
    restless* scene = calloc( 1, sizeof( restless ) );
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
    scene->always_few = always_few;
    scene->side = body_cube_root( (double)def->body_count / DENSITY );
    // A hair inside, so that a centre computed back from rounded boxes is inside too.
    scene->wall = 0.5 * scene->side * ( 1 - 1e-6 );
    parallel_for( &scene->crew, def->body_count, start_bodies, scene );
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
    float half = (float)( 0.5 * scene->side );
    clv_aabb box = { { -half, -half, -half }, { half, half, half } };
    return box;
}

static bool moves( const restless* scene, uint64_t index )
{
    uint64_t phase = scene->frame / PHASE_FRAMES % 3;
    bool is_one_of_few = index % FEW == 0;
    return scene->always_few ? is_one_of_few : phase == 1 || ( phase == 2 && is_one_of_few );
}

static void step_bodies( uint64_t begin, uint64_t end, void* user )
{
    restless* scene = user;
    for ( uint64_t index = begin; index < end; ++index )
    {
        body_state* body = &scene->bodies[index];
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

static bool step( void* state, complaint* why )
{
    (void)why;
    restless* scene = state;
    parallel_for( &scene->crew, scene->def.body_count, step_bodies, scene );
    scene->frame += 1;
    return true;
}

static void write_boxes( uint64_t begin, uint64_t end, void* user )
{
    boxes_job* job = user;
    for ( uint64_t index = begin; index < end; ++index )
    {
        if ( job->scene->def.split )
        {
            body_split_boxes( &job->scene->bodies[index], job->boxes + BODY_SPLIT * index );
        }
        else
        {
            job->boxes[index] = body_box( &job->scene->bodies[index] );
        }
    }
}

static void boxes( void* state, clv_aabb* result )
{
    restless* scene = state;
    boxes_job job = { scene, result };
    parallel_for( &scene->crew, scene->def.body_count, write_boxes, &job );
}

static void destroy( void* state )
{
    restless* scene = state;
    if ( scene != NULL )
    {
        parallel_crew_stop( &scene->crew );
        free( scene->bodies );
        free( scene );
    }
}

const generator generator_rest_and_motion = {
    .name = "rest-and-motion",
    .about = "all bodies rest, all fly, one in a hundred flies: four frames of each in turn",
    .version = 1,
    .bodies_most = GENERATOR_BODIES_MOST,
    .create = create_rest_and_motion,
    .destroy = destroy,
    .world = world,
    .step = step,
    .boxes = boxes,
};

const generator generator_mostly_rest = {
    .name = "mostly-rest",
    .about = "one body in a hundred flies, the others rest",
    .version = 1,
    .bodies_most = GENERATOR_BODIES_MOST,
    .create = create_mostly_rest,
    .destroy = destroy,
    .world = world,
    .step = step,
    .boxes = boxes,
};
