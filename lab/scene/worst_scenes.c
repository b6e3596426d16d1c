// SPDX-License-Identifier: MIT
// Scenes that broad phases stumble over, without physics: each is brownian-free with one thing gone wrong. Bodies fly
// straight through each other and bounce off the walls, so that any frame is computed from the first.
#include "lab/base/random.h"
#include "lab/scene/swarm.h"

#define DENSITY 0.02      // bodies per cubic metre
#define START_RADIUS 0.45 // of the side
#define SPEED 0.75        // sides per second
#define FRAME_SECONDS ( 1.0 / 30.0 )

#define HUGE_SHARE 0.9     // of the side, one body
#define NEEDLE_LENGTH 20.0 // metres; a third of the bodies
#define PLATE_LENGTH 6.0   // another third
#define THICKNESS 0.05     // of both
#define LOG_SPREAD 1.0 // standard deviation of the logarithm of a side: one in 700 is twenty times the median
#define LOG_MEDIAN 0.5 // metres
#define OUTLIER_DISTANCE 1e9  // metres
#define FAR_DISTANCE 1e7      // metres: floats are whole metres there
#define GROWING_FRAMES 30     // until
#define GROWING_VOLUME 1300.0 // times the first: 100 pairs to a body
#define CLUSTER_SPREAD 1000.0 // times as far apart are those outside
#define CLUSTER_OUTSIDE 4     // one in so many

#define PURPOSE_START 0
#define PURPOSE_SHAPE 1
#define PURPOSE_TELEPORT 2 // counts on by frames

typedef struct worst_scene worst_scene;

/// What is wrong: changes body `index` of an ordinary scene, as it is in the scene's frame. Called for every body and frame.
typedef void worst_twist( const worst_scene* scene, uint64_t index, body_state* body );

struct worst_scene
{
    swarm swarm;
    double side;
    double wall;  ///< how far from the middle a centre may be
    double reach; ///< half the world
    worst_twist* twist;
};

// ---- what goes wrong

static void set_sides( body_state* body, double x, double y, double z )
{
    body->half_sides[0] = (float)( 0.5 * x );
    body->half_sides[1] = (float)( 0.5 * y );
    body->half_sides[2] = (float)( 0.5 * z );
}

static void set_position( body_state* body, double x, double y, double z )
{
    body->position[0] = x;
    body->position[1] = y;
    body->position[2] = z;
}

static void twist_huge( const worst_scene* scene, uint64_t index, body_state* body )
{
    if ( index == scene->swarm.def.body_count / 2 )
    {
        double side = HUGE_SHARE * scene->side;
        set_sides( body, side, side, side );
        // It moves too, a little.
        set_position( body, 0.001 * body->position[0], 0.001 * body->position[1], 0.001 * body->position[2] );
    }
}

/// Cubes are all equal; assorted bodies have one centre. It is where body 0 of an ordinary scene would be.
static void twist_equal( const worst_scene* scene, uint64_t index, body_state* body )
{
    (void)index;
    random_stream start = random_stream_make( scene->swarm.def.seed, 0, PURPOSE_START );
    random_ball( &start, START_RADIUS * scene->side, body->position );
    body->position[0] += (double)scene->swarm.frame * FRAME_SECONDS;
}

static void twist_needles( const worst_scene* scene, uint64_t index, body_state* body )
{
    double sides[3] = { 1, 1, 1 };
    random_stream shape = random_stream_make( scene->swarm.def.seed, index, PURPOSE_SHAPE );
    uint64_t axis = random_bits( &shape ) % 3;
    double length = index % 3 == 1 ? NEEDLE_LENGTH : PLATE_LENGTH;
    for ( uint64_t other = 0; index % 3 != 0 && other < 3; ++other )
    {
        // A needle is long on one axis, a plate thin on one.
        sides[other] = ( other == axis ) == ( index % 3 == 1 ) ? length : THICKNESS;
    }
    set_sides( body, sides[0], sides[1], sides[2] );
}

static void twist_lognormal( const worst_scene* scene, uint64_t index, body_state* body )
{
    random_stream shape = random_stream_make( scene->swarm.def.seed, index, PURPOSE_SHAPE );
    double normal = -6; // the sum of twelve
    for ( int draw = 0; draw < 12; ++draw )
    {
        normal += random_unit( &shape );
    }
    double side = LOG_MEDIAN * body_exponential( LOG_SPREAD * normal );
    set_sides( body, side, side, side );
}

static void twist_outlier( const worst_scene* scene, uint64_t index, body_state* body )
{
    if ( index == scene->swarm.def.body_count / 2 )
    {
        set_position(
            body, OUTLIER_DISTANCE, OUTLIER_DISTANCE + 100 * (double)scene->swarm.frame, -OUTLIER_DISTANCE );
    }
}

static void twist_far( const worst_scene* scene, uint64_t index, body_state* body )
{
    (void)scene;
    (void)index;
    for ( int axis = 0; axis < 3; ++axis )
    {
        body->position[axis] += FAR_DISTANCE;
    }
}

static void twist_teleport( const worst_scene* scene, uint64_t index, body_state* body )
{
    random_stream place =
        random_stream_make( scene->swarm.def.seed, index, PURPOSE_TELEPORT + scene->swarm.frame );
    random_ball( &place, START_RADIUS * scene->side, body->position );
}

static void twist_growing( const worst_scene* scene, uint64_t index, body_state* body )
{
    (void)index;
    uint64_t frame = scene->swarm.frame < GROWING_FRAMES ? scene->swarm.frame : GROWING_FRAMES;
    double side = body_cube_root( 1 + ( GROWING_VOLUME - 1 ) * (double)frame / GROWING_FRAMES );
    for ( int axis = 0; axis < 3; ++axis )
    {
        body->half_sides[axis] *= (float)side;
    }
}

static void twist_cluster( const worst_scene* scene, uint64_t index, body_state* body )
{
    (void)scene;
    for ( int axis = 0; axis < 3 && index % CLUSTER_OUTSIDE == 0; ++axis )
    {
        body->position[axis] *= CLUSTER_SPREAD;
    }
}

// ---- a scene

static body_state body_now( const swarm* self, uint64_t index )
{
    const worst_scene* scene = (const worst_scene*)self; // its first member
    body_state body = { .rotation = { 0, 0, 0, 1 } };
    random_stream start = random_stream_make( scene->swarm.def.seed, index, PURPOSE_START );
    random_ball( &start, START_RADIUS * scene->side, body.position );
    random_ball( &start, SPEED * scene->side, body.velocity );
    body_half_sides( scene->swarm.def.type, scene->swarm.def.seed, index, body.half_sides );
    double seconds = (double)scene->swarm.frame * FRAME_SECONDS;
    for ( int axis = 0; axis < 3; ++axis )
    {
        body.position[axis] = body_bounce( body.position[axis] + body.velocity[axis] * seconds, scene->wall );
    }
    scene->twist( scene, index, &body );
    return body;
}

static worst_scene* create( const generator_def* def, worst_twist* twist )
{
    worst_scene* scene = swarm_create( sizeof( worst_scene ), def, false, body_now );
    if ( scene == NULL )
    {
        return NULL;
    }
    scene->side = body_cube_root( (double)def->body_count / DENSITY );
    scene->wall = 0.5 * scene->side * ( 1 - 1e-6 );
    scene->reach = 0.5 * scene->side;
    scene->twist = twist;
    return scene;
}

static clv_aabb world( const void* state )
{
    const worst_scene* scene = state;
    bool is_far = scene->twist == twist_far;
    double reach = scene->twist == twist_outlier ? 1.1 * OUTLIER_DISTANCE
        : scene->twist == twist_cluster          ? CLUSTER_SPREAD * scene->reach
                                                 : scene->reach + ( is_far ? 2 : 0 );
    float lower = (float)( ( is_far ? FAR_DISTANCE : 0 ) - reach );
    float upper = (float)( ( is_far ? FAR_DISTANCE : 0 ) + reach );
    clv_aabb box = { { lower, lower, lower }, { upper, upper, upper } };
    return box;
}

// ---- the table's rows

#define WORST_SCENE( noun, text, most )                                                                      \
    static void* create_##noun( const generator_def* def )                                                   \
    {                                                                                                        \
        return create( def, twist_##noun );                                                                  \
    }                                                                                                        \
    const generator generator_##noun = { .name = #noun,                                                      \
        .about = ( text ),                                                                                   \
        .family = FAMILY_WORST,                                                                              \
        .version = 1,                                                                                        \
        .bodies_most = ( most ),                                                                             \
        .has_parts = true,                                                                                   \
        .create = create_##noun,                                                                             \
        .destroy = swarm_destroy,                                                                            \
        .world = world,                                                                                      \
        .step = swarm_step,                                                                                  \
        .boxes = swarm_boxes }

WORST_SCENE( huge, "one body of nine tenths of the world among small ones", GENERATOR_BODIES_MOST );
WORST_SCENE( equal, "all boxes the same, or about one centre: every pair overlaps", 40000 );
WORST_SCENE( needles, "a third needles, a third plates, along the axes", GENERATOR_BODIES_MOST );
WORST_SCENE( lognormal, "sides of log-normal sizes: few large, many small", GENERATOR_BODIES_MOST );
WORST_SCENE( outlier, "one body a million kilometres away", GENERATOR_BODIES_MOST );
WORST_SCENE( far, "all ten thousand kilometres away, where floats are metres", GENERATOR_BODIES_MOST );
WORST_SCENE( teleport, "all elsewhere in every frame", GENERATOR_BODIES_MOST );
WORST_SCENE( growing, "bodies grow until each touches two hundred", GENERATOR_BODIES_MOST );
WORST_SCENE( cluster, "three in four in a thousandth of the world's width", GENERATOR_BODIES_MOST );
