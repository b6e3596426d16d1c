// SPDX-License-Identifier: MIT
// Worlds that are no cube: on a floor, on a line, without an end, over many orders of magnitude. Bodies fly
// straight through each other and bounce off the walls of a unit cube; what differs is the map that says
// where in space a point of that cube is, and how large a box there. So any frame is computed from the first.
// Sizes are such that a box meets a few others, however many there are.
#include "lab/base/random.h"
#include "lab/scene/swarm.h"

#include <math.h>

#define FRAME_WAY 0.01 // of the cube, in a frame, at most
#define FLOOR_DENSITY 0.1
#define SPACE_DENSITY 0.02
#define LINE_DENSITY 0.2
#define FLOORS_APART 50.0
#define STEP_RISE 0.5
#define STEP_BODIES 400   // to a step of the staircase
#define WALL_SHARE 1000   // one body in so many is a wall
#define HALF_SHARE 16     // one body in so many has no end to one side
#define HALF_SPACES 16    // and so many are half of all space, but for a part of it
#define NEEDLE_SHARE 0.25 // of the world's side
#define TINY 1e-43        // a metre, in the world of denormals
#define SMALL_SIDE 0.013  // metres: every second box of two sizes,
#define SMALL_CUBE 3.25   // all of them in a corner so wide;
#define LARGE_APART 5.02  // the large ones are about so far apart
#define ROW_STEP 2.0      // metres from one box of a row to the next
#define SHEET_ROWS 20     // side by side
#define FLY_SHARE 0.2     // of its length a row flies in a frame,
#define FLY_FRAMES 16     // so many frames before it turns
#define STRETCH 1.2       // times as long in every frame, likewise
#define OCTAVES 20.0      // of the self-similar world,
#define OUTERMOST 1e3     // metres: its largest distance from the middle
#define JUMP 1e3          // metres, on every axis, there or back every fourth frame
#define LN_2 0.6931471805599453

#define PURPOSE_START 0

// ---- maps

static clv_aabb box_about( double x, double y, double z, double half )
{
    return ( clv_aabb ){ { (float)( x - half ), (float)( y - half ), (float)( z - half ) },
        { (float)( x + half ), (float)( y + half ), (float)( z + half ) } };
}

static clv_aabb map_flat( const swarm* world, const odd_point* p )
{
    double half = 0.5 * world->side;
    return box_about( half * p->at[0], 0, half * p->at[1], 0.5 );
}

static clv_aabb map_slab( const swarm* world, const odd_point* p )
{
    double half = 0.5 * world->side;
    return box_about( half * p->at[0], 0.25 * p->at[2], half * p->at[1], 0.5 );
}

static clv_aabb map_line( const swarm* world, const odd_point* p )
{
    return box_about( 0, 0, 0.5 * world->side * p->at[0], 0.5 );
}

static clv_aabb map_diagonal( const swarm* world, const odd_point* p )
{
    double along = 0.3 * world->side * p->at[0];
    return box_about( along + p->at[1], along + p->at[2], along + p->at[3], 0.5 );
}

static clv_aabb map_floors( const swarm* world, const odd_point* p )
{
    double half = 0.36 * world->side;
    return box_about( half * p->at[0], FLOORS_APART * (double)( p->index % 2 ), half * p->at[1], 0.5 );
}

static clv_aabb map_staircase( const swarm* world, const odd_point* p )
{
    double half = 0.5 * world->side;
    uint64_t steps = 2 + world->def.body_count / STEP_BODIES;
    uint64_t step = (uint64_t)( 0.5 * ( p->at[0] + 1 ) * (double)steps );
    return box_about( half * p->at[0], STEP_RISE * (double)step, half * p->at[1], 0.5 );
}

// The point's direction from the middle, on a sphere whose surface is as large as the floor.
static clv_aabb map_shell( const swarm* world, const odd_point* p )
{
    const double* at = p->at;
    double length = sqrt( at[0] * at[0] + at[1] * at[1] + at[2] * at[2] );
    double radius = 0.28 * world->side / ( length > 1e-3 ? length : 1e-3 );
    return box_about( radius * at[0], radius * at[1], radius * at[2], 0.5 );
}

static clv_aabb map_walled( const swarm* world, const odd_point* p )
{
    clv_aabb box = map_flat( world, p );
    if ( p->index % WALL_SHARE == 0 )
    {
        box.lower.y = -INFINITY;
        box.upper.y = INFINITY;
        bool is_along_x = p->index / WALL_SHARE % 2 == 0;
        *( is_along_x ? &box.lower.x : &box.lower.z ) = -INFINITY;
        *( is_along_x ? &box.upper.x : &box.upper.z ) = INFINITY;
    }
    return box;
}

static clv_aabb map_endless( const swarm* world, const odd_point* p )
{
    clv_aabb box = map_flat( world, p );
    box.lower.y = -INFINITY;
    box.upper.y = INFINITY;
    return box;
}

static clv_aabb map_even( const swarm* world, const odd_point* p )
{
    double half = 0.5 * world->side;
    return box_about( half * p->at[0], half * p->at[1], half * p->at[2], 0.5 );
}

// Half of all space where x is above some value, near the end of the world: few boxes meet it, and
// all such meet each other.
static clv_aabb half_space( const swarm* world, const odd_point* p )
{
    float from = (float)( world->side * ( 0.49 + 0.005 * p->at[0] ) );
    return ( clv_aabb ){ { from, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
}

static clv_aabb map_half_spaces( const swarm* world, const odd_point* p )
{
    clv_aabb box = map_even( world, p );
    if ( p->index < HALF_SPACES )
    {
        return half_space( world, p );
    }
    if ( p->index % HALF_SHARE == 0 )
    {
        uint64_t kind = p->index / HALF_SHARE % 6;
        float* corner = kind < 3 ? &box.lower.x : &box.upper.x;
        corner[kind % 3] = kind < 3 ? -INFINITY : INFINITY;
    }
    return box;
}

// As many boxes at each order of magnitude as at any other; a box is the larger the farther out it is.
static clv_aabb map_decades( const swarm* world, const odd_point* p )
{
    double distance = body_exponential( 2.302585092994046 * 0.5 * world->law->decades * p->at[3] );
    double half = distance * 0.4 * body_cube_root( world->law->decades / world->def.body_count );
    return box_about( distance * p->at[0], distance * p->at[1], distance * p->at[2], half );
}

static clv_aabb map_denormal( const swarm* world, const odd_point* p )
{
    double half = 0.5 * world->side * TINY;
    return box_about( half * p->at[0], half * p->at[1], half * p->at[2], 0.5 * TINY );
}

// Each along one of three axes. The thinner the more there are, so that each crosses a few.
static clv_aabb map_crossing( const swarm* world, const odd_point* p )
{
    double length = NEEDLE_SHARE * world->side, half = 0.5 * ( world->side - length );
    double thick = 0.5 * world->side * world->side / ( length * world->def.body_count );
    clv_aabb box =
        box_about( half * p->at[0], half * p->at[1], half * p->at[2], 0.5 * thick * world->side / length );
    uint64_t along = p->index % 3;
    ( &box.lower.x )[along] -= (float)( 0.5 * length );
    ( &box.upper.x )[along] += (float)( 0.5 * length );
    return box;
}

// ---- maps that move all boxes together

// 0 1 … FLY_FRAMES … 1 0 1 …
static double to_and_fro( const swarm* world )
{
    uint64_t phase = world->frame % ( 2 * FLY_FRAMES );
    return (double)( phase <= FLY_FRAMES ? phase : 2 * FLY_FRAMES - phase );
}

// Large boxes all over the world, small ones in a part of it no wider than a few large ones.
static clv_aabb map_two_sizes( const swarm* world, const odd_point* p )
{
    double half = 0.5 * LARGE_APART * body_cube_root( world->def.body_count );
    if ( p->index % 2 == 0 )
    {
        return box_about( half * p->at[0], half * p->at[1], half * p->at[2], 0.5 );
    }
    double small = 0.5 * SMALL_CUBE, middle = small - half;
    return box_about(
        middle + small * p->at[0], middle + small * p->at[1], middle + small * p->at[2], 0.5 * SMALL_SIDE );
}

// Along x in order of their numbers, each a little off its place.
static clv_aabb map_row_flying( const swarm* world, const odd_point* p )
{
    double length = ROW_STEP * world->def.body_count, fly = FLY_SHARE * length * to_and_fro( world );
    return box_about( ROW_STEP * ( (double)p->index + p->at[0] ) + fly, 0.1 * p->at[1], 0.1 * p->at[2], 0.5 );
}

static double power( double base, double whole )
{
    double product = 1;
    for ( ; whole >= 1; --whole )
    {
        product *= base;
    }
    return product;
}

static clv_aabb map_row_stretching( const swarm* world, const odd_point* p )
{
    double step = ROW_STEP * power( STRETCH, to_and_fro( world ) );
    return box_about( step * ( (double)p->index + p->at[0] ), 0.1 * p->at[1], 0.1 * p->at[2], 0.5 );
}

// Rows side by side, one after the other.
static clv_aabb map_sheet_flying( const swarm* world, const odd_point* p )
{
    double count = world->def.body_count, length = ROW_STEP * count / SHEET_ROWS;
    double fly = FLY_SHARE * length * to_and_fro( world );
    return box_about( ROW_STEP * ( (double)( p->index / SHEET_ROWS ) + p->at[0] ) + fly, 0.1 * p->at[2],
        ROW_STEP * ( (double)( p->index % SHEET_ROWS ) + p->at[1] ), 0.5 );
}

// The same picture at every scale about one point. That point jumps, and is the origin for half of the time.
static clv_aabb map_self_similar( const swarm* world, const odd_point* p )
{
    double distance = OUTERMOST * body_exponential( 0.5 * LN_2 * OCTAVES * ( p->at[3] - 1 ) );
    double half = 0.2 * distance * body_cube_root( OCTAVES / world->def.body_count );
    double off = world->frame / 4 % 2 == 0 ? 0 : JUMP;
    return box_about( off + distance * p->at[0], off + distance * p->at[1], off + distance * p->at[2], half );
}

// ---- a scene

clv_aabb odd_world_box( const swarm* world, uint64_t index )
{
    odd_point point = { .index = index };
    random_stream start = random_stream_make( world->def.seed, index, PURPOSE_START );
    for ( int axis = 0; axis < 4; ++axis )
    {
        double at = 2 * random_unit( &start ) - 1, way = FRAME_WAY * ( 2 * random_unit( &start ) - 1 );
        point.at[axis] = body_bounce( at + way * (double)world->frame, 1 );
    }
    // cppcheck-suppress returnDanglingLifetime ; a box holds no pointer
    return world->law->map( world, &point );
}

static double reach_of( const swarm* world )
{
    double row = ROW_STEP * world->def.body_count;
    const struct
    {
        clv_aabb ( *map )( const swarm* self, const odd_point* point );
        double reach;
    } reaches[] = { { map_decades, 2 * body_exponential( 2.302585092994046 * 0.5 * world->law->decades ) },
        { map_denormal, world->side * TINY },
        { map_two_sizes, LARGE_APART * body_cube_root( world->def.body_count ) },
        { map_row_flying, row * ( 1.1 + FLY_SHARE * FLY_FRAMES ) },
        { map_row_stretching, 1.1 * row * power( STRETCH, FLY_FRAMES ) },
        { map_sheet_flying, row / SHEET_ROWS * ( 1.1 + FLY_SHARE * FLY_FRAMES ) + ROW_STEP * SHEET_ROWS },
        { map_self_similar, JUMP + 2 * OUTERMOST } };
    for ( size_t k = 0; k < sizeof( reaches ) / sizeof( reaches[0] ); ++k )
    {
        if ( world->law->map == reaches[k].map )
        {
            return reaches[k].reach;
        }
    }
    return world->side + FLOORS_APART;
}

static clv_aabb odd_world( const void* state )
{
    return swarm_cube( reach_of( state ) );
}

// Unit boxes on a floor, on a line or in space, of a density that does not depend on how many there are.
double odd_world_side( uint32_t count, int dimensions )
{
    return dimensions == 1 ? count / LINE_DENSITY
        : dimensions == 2  ? sqrt( count / FLOOR_DENSITY )
                           : body_cube_root( count / SPACE_DENSITY );
}

// ---- Scenes that broad phases stumble over, without physics: each is brownian-free with one thing
// gone wrong. Bodies fly straight through each other and bounce off the walls, so that any frame is
// computed from the first.

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

#define PURPOSE_SHAPE 1
#define PURPOSE_TELEPORT 2 // counts on by frames

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

static void twist_huge( const swarm* scene, uint64_t index, body_state* body )
{
    if ( index == scene->def.body_count / 2 )
    {
        double side = HUGE_SHARE * scene->side;
        set_sides( body, side, side, side );
        // It moves too, a little.
        set_position( body, 0.001 * body->position[0], 0.001 * body->position[1], 0.001 * body->position[2] );
    }
}

/// Cubes are all equal; assorted bodies have one centre. It is where body 0 of an ordinary scene would be.
static void twist_equal( const swarm* scene, uint64_t index, body_state* body )
{
    (void)index;
    random_stream start = random_stream_make( scene->def.seed, 0, PURPOSE_START );
    random_ball( &start, START_RADIUS * scene->side, body->position );
    body->position[0] += (double)scene->frame * FRAME_SECONDS;
}

static void twist_needles( const swarm* scene, uint64_t index, body_state* body )
{
    double sides[3] = { 1, 1, 1 };
    random_stream shape = random_stream_make( scene->def.seed, index, PURPOSE_SHAPE );
    uint64_t axis = random_bits( &shape ) % 3;
    double length = index % 3 == 1 ? NEEDLE_LENGTH : PLATE_LENGTH;
    for ( uint64_t other = 0; index % 3 != 0 && other < 3; ++other )
    {
        // A needle is long on one axis, a plate thin on one.
        sides[other] = ( other == axis ) == ( index % 3 == 1 ) ? length : THICKNESS;
    }
    set_sides( body, sides[0], sides[1], sides[2] );
}

static void twist_lognormal( const swarm* scene, uint64_t index, body_state* body )
{
    random_stream shape = random_stream_make( scene->def.seed, index, PURPOSE_SHAPE );
    double normal = -6; // the sum of twelve
    for ( int draw = 0; draw < 12; ++draw )
    {
        normal += random_unit( &shape );
    }
    double side = LOG_MEDIAN * body_exponential( LOG_SPREAD * normal );
    set_sides( body, side, side, side );
}

static void twist_outlier( const swarm* scene, uint64_t index, body_state* body )
{
    if ( index == scene->def.body_count / 2 )
    {
        set_position(
            body, OUTLIER_DISTANCE, OUTLIER_DISTANCE + 100 * (double)scene->frame, -OUTLIER_DISTANCE );
    }
}

static void twist_far( const swarm* scene, uint64_t index, body_state* body )
{
    (void)scene;
    (void)index;
    for ( int axis = 0; axis < 3; ++axis )
    {
        body->position[axis] += FAR_DISTANCE;
    }
}

static void twist_teleport( const swarm* scene, uint64_t index, body_state* body )
{
    random_stream place = random_stream_make( scene->def.seed, index, PURPOSE_TELEPORT + scene->frame );
    random_ball( &place, START_RADIUS * scene->side, body->position );
}

static void twist_growing( const swarm* scene, uint64_t index, body_state* body )
{
    (void)index;
    uint64_t frame = scene->frame < GROWING_FRAMES ? scene->frame : GROWING_FRAMES;
    double side = body_cube_root( 1 + ( GROWING_VOLUME - 1 ) * (double)frame / GROWING_FRAMES );
    for ( int axis = 0; axis < 3; ++axis )
    {
        body->half_sides[axis] *= (float)side;
    }
}

static void twist_cluster( const swarm* scene, uint64_t index, body_state* body )
{
    (void)scene;
    for ( int axis = 0; axis < 3 && index % CLUSTER_OUTSIDE == 0; ++axis )
    {
        body->position[axis] *= CLUSTER_SPREAD;
    }
}

// ---- a scene

static body_state body_now( const swarm* scene, uint64_t index )
{
    body_state body = { .rotation = { 0, 0, 0, 1 } };
    random_stream start = random_stream_make( scene->def.seed, index, PURPOSE_START );
    random_ball( &start, START_RADIUS * scene->side, body.position );
    random_ball( &start, SPEED * scene->side, body.velocity );
    body_half_sides( scene->def.type, scene->def.seed, index, body.half_sides );
    double seconds = (double)scene->frame * FRAME_SECONDS;
    for ( int axis = 0; axis < 3; ++axis )
    {
        body.position[axis] = body_bounce( body.position[axis] + body.velocity[axis] * seconds, scene->wall );
    }
    scene->law->twist( scene, index, &body );
    return body;
}

static clv_aabb worst_world( const void* state )
{
    const swarm* scene = state;
    bool is_far = scene->law->twist == twist_far;
    double half = 0.5 * scene->side;
    double reach = scene->law->twist == twist_outlier ? 1.1 * OUTLIER_DISTANCE
        : scene->law->twist == twist_cluster          ? CLUSTER_SPREAD * half
                                                      : half + ( is_far ? 2 : 0 );
    float lower = (float)( ( is_far ? FAR_DISTANCE : 0 ) - reach );
    float upper = (float)( ( is_far ? FAR_DISTANCE : 0 ) + reach );
    clv_aabb box = { { lower, lower, lower }, { upper, upper, upper } };
    return box;
}

// ---- the table's rows

#define MANY GENERATOR_BODIES_MOST
#define WORST( label, text, most, wrong )                                                                    \
    SWARM( FAMILY_WORST, label, text, most, worst_world, .body_now = body_now, .twist = wrong )
#define ODD( label, text, ... ) SWARM( FAMILY_ODD, label, text, MANY, odd_world, __VA_ARGS__ )

static const generator rows[] = {
    WORST( "huge", "one body of nine tenths of the world among small ones", MANY, twist_huge ),
    WORST( "equal", "all boxes the same, or about one centre: every pair overlaps", 40000, twist_equal ),
    WORST( "needles", "a third needles, a third plates, along the axes", MANY, twist_needles ),
    WORST( "lognormal", "sides of log-normal sizes: few large, many small", MANY, twist_lognormal ),
    WORST( "outlier", "one body a million kilometres away", MANY, twist_outlier ),
    WORST( "far", "all ten thousand kilometres away, where floats are metres", MANY, twist_far ),
    WORST( "teleport", "all elsewhere in every frame", MANY, twist_teleport ),
    WORST( "growing", "bodies grow until each touches two hundred", MANY, twist_growing ),
    WORST( "cluster", "three in four in a thousandth of the world's width", MANY, twist_cluster ),
    ODD( "flat", "all on one floor, of one height", .map = map_flat, .dimensions = 2 ),
    ODD( "slab", "nearly flat: heights differ by half a box", .map = map_slab, .dimensions = 2 ),
    ODD( "line", "all on one line along an axis", .map = map_line, .dimensions = 1 ),
    ODD( "diagonal", "all near one line that lies along no axis", .map = map_diagonal, .dimensions = 1 ),
    ODD( "floors", "two floors with nothing between them", .map = map_floors, .dimensions = 2 ),
    ODD( "staircase", "many floors, each a step above the last", .map = map_staircase, .dimensions = 2 ),
    ODD( "shell", "on the surface of a sphere", .map = map_shell, .dimensions = 2 ),
    ODD( "walled", "one floor and infinite walls", .map = map_walled, .dimensions = 2 ),
    ODD( "endless", "all infinite on one axis", .map = map_endless, .dimensions = 2 ),
    ODD( "half-spaces", "one in sixteen without an end to one side, and half-spaces", .map = map_half_spaces,
        .dimensions = 3 ),
    ODD( "decades-4", "distances log-uniform over four orders of magnitude", .map = map_decades,
        .dimensions = 3, .decades = 4 ),
    ODD( "decades-6", "distances log-uniform over six orders of magnitude", .map = map_decades,
        .dimensions = 3, .decades = 6 ),
    ODD( "decades-12", "distances log-uniform over twelve orders of magnitude", .map = map_decades,
        .dimensions = 3, .decades = 12 ),
    ODD( "denormal", "a world of denormal numbers", .map = map_denormal, .dimensions = 3 ),
    ODD( "crossing", "long needles along three axes that cross", .map = map_crossing, .dimensions = 3 ),
    ODD( "two-sizes", "every second box tiny, all of these in one corner", .map = map_two_sizes,
        .dimensions = 3 ),
    ODD( "row-flying", "a row that flies by a fifth of its length per frame", .map = map_row_flying,
        .dimensions = 1 ),
    ODD( "row-stretching", "a row that becomes a fifth longer per frame", .map = map_row_stretching,
        .dimensions = 1 ),
    ODD( "sheet-flying", "a sheet that flies by a fifth of its width per frame", .map = map_sheet_flying,
        .dimensions = 2 ),
    ODD( "self-similar", "sizes by distance from a point that jumps by a kilometre", .map = map_self_similar,
        .dimensions = 3 ),
};

const generator_rows generator_hard = { rows, sizeof( rows ) / sizeof( rows[0] ) };
