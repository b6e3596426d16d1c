// SPDX-License-Identifier: MIT
#include "lab/scene/swarm.h"

#include "lab/base/random.h"

#include <stdlib.h>

void* swarm_create( size_t scene_size, const generator_def* def, bool keeps_bodies, swarm_body* body_now )
{
    swarm* self = calloc( 1, scene_size );
    if ( self == NULL )
    {
        return NULL;
    }
    self->bodies = keeps_bodies ? calloc( generator_part_count( def ), sizeof( body_state ) ) : NULL;
    if ( keeps_bodies && self->bodies == NULL )
    {
        free( self );
        return NULL;
    }
    self->def = *def;
    self->body_now = body_now;
    parallel_crew_start( &self->crew, def->thread_count );
    return self;
}

void swarm_destroy( void* scene )
{
    swarm* self = scene;
    if ( self != NULL )
    {
        parallel_crew_stop( &self->crew );
        free( self->bodies );
        free( self );
    }
}

typedef struct part_job
{
    parallel_stretch* stretch;
    void* user;
    uint64_t first;
} part_job;

static void do_part( uint64_t begin, uint64_t end, void* user )
{
    const part_job* job = user;
    job->stretch( job->first + begin, job->first + end, job->user );
}

void swarm_for_each_with( swarm* self, parallel_stretch* stretch, void* user )
{
    part_job job = { stretch, user, self->def.part_first };
    parallel_for( &self->crew, generator_part_count( &self->def ), do_part, &job );
}

// Run `stretch( begin, end, scene )` over all bodies, or those of the def's part, by their numbers in the whole scene.
static void swarm_for_each( swarm* self, parallel_stretch* stretch )
{
    swarm_for_each_with( self, stretch, self );
}

// body_now where bodies are kept as they are.
static body_state swarm_kept_body( const swarm* self, uint64_t index )
{
    return *swarm_body_at( self, index );
}

bool swarm_step( void* scene, lab_error* why )
{
    (void)why;
    swarm* self = scene;
    self->frame += 1;
    return true;
}

typedef struct boxes_job
{
    const swarm* swarm;
    clv_aabb* boxes;
} boxes_job;

static void write_boxes( uint64_t begin, uint64_t end, void* user )
{
    const boxes_job* job = user;
    for ( uint64_t index = begin; index < end; ++index )
    {
        body_state body = job->swarm->body_now( job->swarm, index );
        uint64_t at = index - job->swarm->def.part_first;
        if ( job->swarm->def.split )
        {
            body_split_boxes( &body, job->boxes + BODY_SPLIT * at );
        }
        else
        {
            job->boxes[at] = body_box( &body );
        }
    }
}

void swarm_boxes( void* scene, clv_aabb* boxes )
{
    swarm* self = scene;
    boxes_job job = { self, boxes };
    swarm_for_each_with( self, write_boxes, &job );
}

clv_aabb swarm_cube( double half_side )
{
    float half = (float)half_side;
    return ( clv_aabb ){ { -half, -half, -half }, { half, half, half } };
}

// ---- Broadmark's Brownian scene without contacts, so that it can be as large as memory: bodies fly through each
// other, bounce off the walls, spin, and each frame the next hundredth of them is kicked to a new velocity.
// World, start and kicks as in Serpa and Rodrigues, "Flexible Use of Temporal and Spatial Reasoning for Fast
// and Scalable CPU Broad-Phase Collision Detection Using KD-Trees", Computer Graphics Forum 38 (2019).

#define DENSITY 0.02           // volume of the bodies over that of the brownian_free_world
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

static void brownian_free_start_bodies( uint64_t begin, uint64_t end, void* user )
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

static void* brownian_free_create( const generator_def* def )
{
    brownian_free* scene = swarm_create( sizeof( brownian_free ), def, true, swarm_kept_body );
    if ( scene == NULL )
    {
        return NULL;
    }
    scene->side = body_cube_root( (double)def->body_count / DENSITY );
    // A hair inside, so that a centre computed back from rounded boxes is inside too.
    scene->wall = 0.5 * scene->side * ( 1 - 1e-6 );
    swarm_for_each( &scene->swarm, brownian_free_start_bodies );
    return scene;
}

static clv_aabb brownian_free_world( const void* state )
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
    // A fast body in a tiny brownian_free_world could be thrown out at the other side.
    body->position[axis] = reflected > wall ? wall : reflected < -wall ? -wall : reflected;
    body->velocity[axis] = -body->velocity[axis];
}

static void brownian_free_step_bodies( uint64_t begin, uint64_t end, void* user )
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

static bool brownian_free_step( void* state, lab_error* why )
{
    brownian_free* scene = state;
    swarm_for_each( &scene->swarm, brownian_free_step_bodies );
    return swarm_step( state, why );
}

const generator generator_brownian_free = {
    .name = "brownian-free",
    .about = "bodies fly through each other, bounce off the walls and are kicked now and then",
    .family = FAMILY_FREE,
    .version = 1,
    .bodies_most = GENERATOR_BODIES_MOST,
    .has_parts = true,
    .create = brownian_free_create,
    .destroy = swarm_destroy,
    .world = brownian_free_world,
    .step = brownian_free_step,
    .boxes = swarm_boxes,
};

// ---- Scenes for methods that remember: bodies spread evenly, flying through each other as in brownian-free, but not all the
// time. In rest-and-motion everything moves for some frames, rests for some, and then one body in a hundred moves: each
// change is a switch between ways of detecting. In mostly-rest one body in a hundred moves, always the same ones.

#define PHASE_FRAMES                                                                                         \
    4           // motion, rest, a few; the first frames are at rest, since that is where a method may err
#define FEW 100 // one in so many

typedef struct restless
{
    swarm swarm;
    double side;
    double wall;     // how far from the middle a centre may be
    bool always_few; // mostly-rest
} restless;

static void rest_and_motion_start_bodies( uint64_t begin, uint64_t end, void* user )
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

static void* rest_and_motion_create( const generator_def* def, bool always_few )
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
    swarm_for_each( &scene->swarm, rest_and_motion_start_bodies );
    return scene;
}

static void* create_rest_and_motion( const generator_def* def )
{
    return rest_and_motion_create( def, false );
}

static void* create_mostly_rest( const generator_def* def )
{
    return rest_and_motion_create( def, true );
}

static clv_aabb rest_and_motion_world( const void* state )
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

static void rest_and_motion_step_bodies( uint64_t begin, uint64_t end, void* user )
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

static bool rest_and_motion_step( void* state, lab_error* why )
{
    restless* scene = state;
    swarm_for_each( &scene->swarm, rest_and_motion_step_bodies );
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
    .world = rest_and_motion_world,
    .step = rest_and_motion_step,
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
    .world = rest_and_motion_world,
    .step = rest_and_motion_step,
    .boxes = swarm_boxes,
};

// ---- Scenes of things that have come to rest: bodies packed as in a heap, each touching a few others. In jitter every one of
// them trembles about its place, as solvers make them; in settling one in fifty also wanders to and fro.

#define SPACING 0.98      // sides from centre to centre: neighbours overlap a little or not quite
#define SCATTER 0.05      // sides that a centre may be off its place
#define TREMOR 1e-4       // sides that it trembles
#define REACH 0.3         // sides that a wanderer goes from its place
#define SPEED_LEAST 0.002 // sides per frame
#define SPEED_MOST 0.02
#define WANDERERS 50 // one in so many

typedef struct packing
{
    swarm swarm;
    uint32_t side; // bodies along an edge
    bool wanders;
} packing;

static void packing_start_bodies( uint64_t begin, uint64_t end, void* user )
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

static void* packing_create( const generator_def* def, bool wanders )
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
    swarm_for_each( &scene->swarm, packing_start_bodies );
    return scene;
}

static void* create_jitter( const generator_def* def )
{
    return packing_create( def, false );
}

static void* create_settling( const generator_def* def )
{
    return packing_create( def, true );
}

static clv_aabb packing_world( const void* state )
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
    .world = packing_world,
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
    .world = packing_world,
    .step = swarm_step,
    .boxes = swarm_boxes,
};
