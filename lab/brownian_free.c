// SPDX-License-Identifier: MIT
// Broadmark's Brownian scene without contacts, so that it can be as large as memory: bodies fly through each
// other, bounce off the walls, spin, and each frame the next hundredth of them is kicked to a new velocity.
// World, start and kicks as in Serpa and Rodrigues, "Flexible Use of Temporal and Spatial Reasoning for Fast
// and Scalable CPU Broad-Phase Collision Detection Using KD-Trees", Computer Graphics Forum 38 (2019).
#include "lab/generator.h"
#include "lab/parallel.h"
#include "lab/random.h"

#include <stdlib.h>

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
    generator_def def;
    parallel_crew crew;
    double side;
    double wall; // how far from the middle a centre may be
    uint64_t frame;
    body_state* bodies;
} brownian_free;

typedef struct boxes_job
{
    const brownian_free* scene;
    clv_aabb* boxes;
} boxes_job;

static void start_bodies( uint64_t begin, uint64_t end, void* user )
{
    brownian_free* scene = user;
    for ( uint64_t index = begin; index < end; ++index )
    {
        body_state* body = &scene->bodies[index];
        random_stream start = random_stream_make( scene->def.seed, index, PURPOSE_START );
        random_ball( &start, START_RADIUS * scene->side, body->position );
        random_ball( &start, SPEED * scene->side, body->velocity );
        random_stream turn = random_stream_make( scene->def.seed, index, PURPOSE_SPIN );
        double spin[3];
        random_ball( &turn, SPIN, spin );
        for ( int axis = 0; axis < 3; ++axis )
        {
            body->spin[axis] = (float)spin[axis];
            body->rotation[axis] = 0;
        }
        body->rotation[3] = 1;
        body_half_sides( scene->def.type, scene->def.seed, index, body->half_sides );
    }
}

static void* create( const generator_def* def )
{
    brownian_free* scene = calloc( 1, sizeof( brownian_free ) );
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
    scene->side = body_cube_root( (double)def->body_count / DENSITY );
    // A hair inside, so that a centre computed back from rounded boxes is inside too.
    scene->wall = 0.5 * scene->side * ( 1 - 1e-6 );
    scene->frame = 0;
    parallel_for( &scene->crew, def->body_count, start_bodies, scene );
    return scene;
}

static clv_aabb world( const void* state )
{
    const brownian_free* scene = state;
    float half = (float)( 0.5 * scene->side );
    clv_aabb box = { { -half, -half, -half }, { half, half, half } };
    return box;
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
    uint64_t body_count = scene->def.body_count;
    uint64_t kicked_count = ( body_count + KICKED - 1 ) / KICKED;
    uint64_t kicked_first = scene->frame % body_count * kicked_count % body_count;
    for ( uint64_t index = begin; index < end; ++index )
    {
        body_state* body = &scene->bodies[index];
        if ( is_kicked( index, kicked_first, kicked_count, body_count ) )
        {
            random_stream kick = random_stream_make( scene->def.seed, index, PURPOSE_KICK + scene->frame );
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

static bool step( void* state, complaint* why )
{
    (void)why;
    brownian_free* scene = state;
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
    brownian_free* scene = state;
    boxes_job job = { scene, result };
    parallel_for( &scene->crew, scene->def.body_count, write_boxes, &job );
}

static void destroy( void* state )
{
    brownian_free* scene = state;
    if ( scene != NULL )
    {
        parallel_crew_stop( &scene->crew );
        free( scene->bodies );
        free( scene );
    }
}

const generator generator_brownian_free = {
    .name = "brownian-free",
    .about = "bodies fly through each other, bounce off the walls and are kicked now and then",
    .version = 1,
    .bodies_most = GENERATOR_BODIES_MOST,
    .create = create,
    .destroy = destroy,
    .world = world,
    .step = step,
    .boxes = boxes,
};
