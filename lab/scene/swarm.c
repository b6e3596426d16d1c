// SPDX-License-Identifier: MIT
#include "lab/scene/swarm.h"

#include "lab/base/random.h"

#include <stdlib.h>

#define DENSITY 0.02 // volume of the bodies over that of the world

// Bodies of one piece of work: long enough to outweigh handing it over, short enough that threads end
// together. The same for any number of threads.
#define PIECE_BODIES 8192

/// Bodies begin .. end by their numbers in the whole scene. Different pieces must not write the same data.
typedef void swarm_piece( uint64_t begin, uint64_t end, void* user );

typedef struct swarm_loop
{
    const swarm* swarm;
    swarm_piece* piece;
    void* user;
} swarm_loop;

static void run_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const swarm_loop* loop = context;
    uint64_t first = loop->swarm->def.part_first, count = generator_part_count( &loop->swarm->def );
    uint64_t begin = (uint64_t)index * PIECE_BODIES;
    uint64_t end = begin + PIECE_BODIES < count ? begin + PIECE_BODIES : count;
    loop->piece( first + begin, first + end, loop->user );
}

// `piece( begin, end, user )` over all bodies, or those of the def's part.
static void for_each_part( swarm* self, swarm_piece* piece, void* user )
{
    swarm_loop loop = { self, piece, user };
    uint64_t count = generator_part_count( &self->def );
    clv_task_run(
        &self->runner, run_piece, (uint32_t)( ( count + PIECE_BODIES - 1 ) / PIECE_BODIES ), &loop );
}

// `thread_count` threads, the caller's included; the caller's alone where they cannot be had.
static void start_threads( swarm* self, uint32_t thread_count )
{
    self->memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    uint32_t worker_count = thread_count < CLV_MAX_WORKERS ? thread_count : CLV_MAX_WORKERS;
    if ( worker_count > 1 &&
        !clv_task_runner_start( &self->runner, worker_count, 0, ( clv_task_hooks ){ 0 }, &self->memory ) )
    {
        self->runner = ( task_runner ){ 0 };
    }
}

typedef struct touch_job
{
    swarm* swarm;
    swarm_touch* touch;
} touch_job;

static void touch_bodies( uint64_t begin, uint64_t end, void* user )
{
    const touch_job* job = user;
    for ( uint64_t index = begin; index < end; ++index )
    {
        job->touch( job->swarm, index, &job->swarm->bodies[index - job->swarm->def.part_first] );
    }
}

static void touch_all( swarm* self, swarm_touch* touch )
{
    touch_job job = { self, touch };
    for_each_part( self, touch_bodies, &job );
}

void* swarm_create( const generator* row, const generator_def* def )
{
    const swarm_law* law = row->swarm;
    swarm* self = lab_take( 1, sizeof( swarm ) );
    self->bodies = law->start != NULL ? lab_take( generator_part_count( def ), sizeof( body_state ) ) : NULL;
    self->law = law;
    self->def = *def;
    self->side = law->dimensions != 0 ? odd_world_side( def->body_count, law->dimensions )
                                      : body_cube_root( (double)def->body_count / DENSITY );
    // A hair inside, so that a centre computed back from rounded boxes is inside too.
    self->wall = 0.5 * self->side * ( 1 - 1e-6 );
    self->edge = 1;
    while ( (uint64_t)self->edge * self->edge * self->edge < def->body_count )
    {
        self->edge += 1;
    }
    start_threads( self, def->thread_count );
    if ( law->start != NULL )
    {
        touch_all( self, law->start );
    }
    return self;
}

void swarm_destroy( void* scene )
{
    swarm* self = scene;
    clv_task_runner_stop( &self->runner, &self->memory );
    free( self->bodies );
    free( self );
}

bool swarm_step( void* scene, lab_error* why )
{
    (void)why;
    swarm* self = scene;
    if ( self->law->step != NULL )
    {
        touch_all( self, self->law->step );
    }
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
    const swarm* self = job->swarm;
    for ( uint64_t index = begin; index < end; ++index )
    {
        uint64_t at = index - self->def.part_first;
        if ( self->law->map != NULL )
        {
            body_write_box( odd_world_box( self, index ), self->def.split, at, job->boxes );
            continue;
        }
        body_state body = self->law->body_now != NULL ? self->law->body_now( self, index ) : self->bodies[at];
        body_write( &body, self->def.split, at, job->boxes );
    }
}

void swarm_boxes( void* scene, clv_aabb* boxes )
{
    swarm* self = scene;
    boxes_job job = { self, boxes };
    for_each_part( self, write_boxes, &job );
}

clv_aabb swarm_cube( double half_side )
{
    float half = (float)half_side;
    return ( clv_aabb ){ { -half, -half, -half }, { half, half, half } };
}

static clv_aabb free_world( const void* state )
{
    const swarm* self = state;
    return swarm_cube( 0.5 * self->side );
}

static void set_unturned( body_state* body )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        body->rotation[axis] = 0;
        body->spin[axis] = 0;
    }
    body->rotation[3] = 1;
}

// ---- Broadmark's Brownian scene without contacts, so that it can be as large as memory: bodies fly
// through each other, bounce off the walls, spin, and each frame the next hundredth of them is kicked to
// a new velocity. World, start and kicks as in Serpa and Rodrigues, "Flexible Use of Temporal and
// Spatial Reasoning for Fast and Scalable CPU Broad-Phase Collision Detection Using KD-Trees", Computer
// Graphics Forum 38 (2019).

#define START_RADIUS 0.45      // of the side
#define SPEED 0.75             // sides per second
#define SPIN 6.283185307179586 // radians per second, at most
#define FRAME_SECONDS ( 1.0 / 30.0 )
#define KICKED 100 // one in so many per frame

// What numbers are drawn for; kicks count on from PURPOSE_KICK.
#define PURPOSE_START 0
#define PURPOSE_SPIN 1
#define PURPOSE_KICK 2

static void start_flying( const swarm* self, uint64_t index, body_state* body )
{
    random_stream start = random_stream_make( self->def.seed, index, PURPOSE_START );
    random_ball( &start, START_RADIUS * self->side, body->position );
    random_ball( &start, SPEED * self->side, body->velocity );
    random_stream turn = random_stream_make( self->def.seed, index, PURPOSE_SPIN );
    double spin[3];
    random_ball( &turn, SPIN, spin );
    set_unturned( body );
    for ( int axis = 0; axis < 3; ++axis )
    {
        body->spin[axis] = (float)spin[axis];
    }
    body_half_sides( self->def.type, self->def.seed, index, body->half_sides );
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

static void fly( const swarm* self, uint64_t index, body_state* body )
{
    uint64_t body_count = self->def.body_count;
    uint64_t kicked_count = ( body_count + KICKED - 1 ) / KICKED;
    uint64_t kicked_first = self->frame % body_count * kicked_count % body_count;
    if ( is_kicked( index, kicked_first, kicked_count, body_count ) )
    {
        random_stream kick = random_stream_make( self->def.seed, index, PURPOSE_KICK + self->frame );
        random_ball( &kick, SPEED * self->side, body->velocity );
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        body->position[axis] += body->velocity[axis] * FRAME_SECONDS;
        if ( body->position[axis] > self->wall || body->position[axis] < -self->wall )
        {
            bounce( body, axis, self->wall );
        }
    }
    body_turn( body, FRAME_SECONDS );
}

// ---- Scenes for methods that remember: bodies spread evenly, flying through each other as in brownian-free,
// but not all the time. In rest-and-motion everything moves for some frames, rests for some, and then one
// body in a hundred moves: each change is a switch between ways of detecting. In mostly-rest one body in a
// hundred moves, always the same ones.

#define PHASE_FRAMES                                                                                         \
    4           // motion, rest, a few; the first frames are at rest, since that is where a method may err
#define FEW 100 // one in so many

static void start_resting( const swarm* self, uint64_t index, body_state* body )
{
    random_stream start = random_stream_make( self->def.seed, index, PURPOSE_START );
    set_unturned( body );
    for ( int axis = 0; axis < 3; ++axis )
    {
        body->position[axis] = ( 2 * random_unit( &start ) - 1 ) * self->wall;
    }
    random_ball( &start, SPEED * self->side, body->velocity );
    body_half_sides( self->def.type, self->def.seed, index, body->half_sides );
}

static bool moves( const swarm* self, uint64_t index )
{
    uint64_t phase = self->frame / PHASE_FRAMES % 3;
    bool is_one_of_few = index % FEW == 0;
    return self->law->is_variant ? is_one_of_few : phase == 1 || ( phase == 2 && is_one_of_few );
}

static void move_some( const swarm* self, uint64_t index, body_state* body )
{
    for ( int axis = 0; axis < 3 && moves( self, index ); ++axis )
    {
        double position = body->position[axis] + body->velocity[axis] * FRAME_SECONDS;
        if ( position > self->wall || position < -self->wall )
        {
            body->velocity[axis] = -body->velocity[axis];
            position = position > 0 ? self->wall : -self->wall;
        }
        body->position[axis] = position;
    }
}

// ---- Scenes of things that have come to rest: bodies packed as in a heap, each touching a few others.
// In jitter every one of them trembles about its place, as solvers make them; in settling one in fifty
// also wanders to and fro.

#define SPACING 0.98      // sides from centre to centre: neighbours overlap a little or not quite
#define SCATTER 0.05      // sides that a centre may be off its place
#define TREMOR 1e-4       // sides that it trembles
#define REACH 0.3         // sides that a wanderer goes from its place
#define SPEED_LEAST 0.002 // sides per frame
#define SPEED_MOST 0.02
#define WANDERERS 50 // one in so many

static void start_packed( const swarm* self, uint64_t index, body_state* body )
{
    random_stream start = random_stream_make( self->def.seed, index, PURPOSE_START );
    // Neighbours in space are no neighbours in memory, as after a fall; the factor has no divisor in common
    // with a number of bodies below it.
    uint64_t place = index * 2147483647u % self->def.body_count;
    uint32_t side = self->edge;
    set_unturned( body );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double cell = (double)( place % side ) - 0.5 * ( (double)side - 1 );
        place /= side;
        body->position[axis] = cell * SPACING + ( 2 * random_unit( &start ) - 1 ) * SCATTER;
    }
    random_ball( &start, 1, body->velocity );
    double speed = SPEED_LEAST + ( SPEED_MOST - SPEED_LEAST ) * random_unit( &start );
    for ( int axis = 0; axis < 3; ++axis )
    {
        body->velocity[axis] *= speed;
    }
    body_half_sides( self->def.type, self->def.seed, index, body->half_sides );
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
    body_state body = self->bodies[index - self->def.part_first];
    bool wanders = self->law->is_variant && index % WANDERERS == 0;
    random_stream tremor = random_stream_make( self->def.seed, index, 1 + self->frame );
    for ( int axis = 0; axis < 3; ++axis )
    {
        body.position[axis] += ( 2 * random_unit( &tremor ) - 1 ) * TREMOR;
        body.position[axis] += wanders ? wander( body.velocity[axis] * (double)self->frame ) : 0;
    }
    return body;
}

static clv_aabb packed_world( const void* state )
{
    const swarm* self = state;
    return swarm_cube( 0.5 * SPACING * (double)self->edge + REACH + 1 );
}

// ---- the table's rows

#define MANY GENERATOR_BODIES_MOST

static const generator rows[] = {
    SWARM( FAMILY_FREE, "brownian-free",
        "bodies fly through each other, bounce off the walls and are kicked now and then", MANY, free_world,
        .start = start_flying, .step = fly ),
    SWARM( FAMILY_FREE, "rest-and-motion",
        "all bodies rest, all fly, one in a hundred flies: four frames of each in turn", MANY, free_world,
        .start = start_resting, .step = move_some ),
    SWARM( FAMILY_FREE, "mostly-rest", "one body in a hundred flies, the others rest", MANY, free_world,
        .start = start_resting, .step = move_some, .is_variant = true ),
    SWARM( FAMILY_PACKED, "jitter", "a packed heap at rest that trembles by a ten-thousandth of a side", MANY,
        packed_world, .start = start_packed, .body_now = body_now ),
    SWARM( FAMILY_PACKED, "settling", "jitter, and one body in fifty still moves", MANY, packed_world,
        .start = start_packed, .body_now = body_now, .is_variant = true ),
};

const generator_rows generator_moving = { rows, sizeof( rows ) / sizeof( rows[0] ) };
