// SPDX-License-Identifier: MIT
// 5,000 balls in a box: which may be pairs (filters), what began and ended (events), what will soon be near
// (margins), and balls that come and go every frame (ids and slots).
//
// Red and blue balls bounce off each other and off the walls. Ghosts bounce off walls alone. Comets are fast,
// so each has a margin as wide as it flies in a frame: it is seen near a ball before it hits it. All lengths
// are multiples of 1/1024 and all sums exact, so every machine prints the same.
#include <cleave/cleave.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    BALL_COUNT = 5000,
    FRAME_COUNT = 120,
    CHANGE_COUNT = 25, // balls that go, and as many that come, every frame
    WALL_COUNT = 6,
    SLOT_COUNT = WALL_COUNT + BALL_COUNT
};

#define WORLD 24.0f // metres from wall to wall

// Categories: a bit each. A mask has the categories that an object meets; both must agree.
enum
{
    WALL = 1,
    BALL = 2,
    GHOST = 4
};

typedef struct ball
{
    clv_id id;
    clv_vec3 position, velocity; // metres, metres per frame
    float radius, margin;
    bool is_ghost;
} ball;

// By slot: a pair's numbers are places in this table. The first six are the walls.
static ball s_balls[SLOT_COUNT];
static uint64_t s_random = 1;

static uint32_t random_below( uint32_t most )
{
    s_random = s_random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)( s_random >> 33 ) % most;
}

// A multiple of 1/1024 between 0 and `most` metres.
static float random_length( uint32_t most )
{
    return (float)random_below( most * 1024 ) / 1024;
}

static void check( const clv_space* space, clv_result result )
{
    if ( result != CLV_OK )
    {
        fprintf( stderr, "%s: %s\n", clv_result_name( result ), clv_space_error( space ).text );
        exit( 1 );
    }
}

static clv_aabb box_of( const ball* b )
{
    clv_vec3 p = b->position;
    float r = b->radius;
    clv_aabb box = { { p.x - r, p.y - r, p.z - r }, { p.x + r, p.y + r, p.z + r } };
    return box;
}

// Everything outside: six half-spaces. Infinite boxes are boxes like others.
static void add_walls( clv_space* space )
{
    clv_aabb walls[WALL_COUNT];
    clv_id ids[WALL_COUNT];
    clv_filter filters[WALL_COUNT];
    bool is_static[WALL_COUNT];
    for ( int i = 0; i < WALL_COUNT; ++i )
    {
        clv_aabb everything = { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
        walls[i] = everything;
        float* lower = &walls[i].lower.x;
        float* upper = &walls[i].upper.x;
        if ( i < 3 )
        {
            upper[i] = 0;
        }
        else
        {
            lower[i - 3] = WORLD;
        }
        filters[i] = clv_default_filter();
        filters[i].category = WALL;
        filters[i].mask = BALL | GHOST; // not WALL: corners where walls meet are no pairs
        is_static[i] = true;
    }
    check( space, clv_space_add( space, walls, WALL_COUNT, ids ) );
    check( space, clv_space_set_filter( space, ids, filters, WALL_COUNT ) );
    check( space, clv_space_set_static( space, ids, is_static, WALL_COUNT ) );
}

static ball random_ball( void )
{
    ball b;
    memset( &b, 0, sizeof( b ) );
    bool is_comet = random_below( 100 ) == 0;
    uint32_t speed = is_comet ? 512 : 64; // 1/1024 metres per frame
    float* position = &b.position.x;
    float* velocity = &b.velocity.x;
    for ( int axis = 0; axis < 3; ++axis )
    {
        position[axis] = 0.5f + random_length( (uint32_t)WORLD - 1 );
        velocity[axis] = ( (float)random_below( 2 * speed + 1 ) - (float)speed ) / 1024;
    }
    b.margin = is_comet ? 0.5f : 0;
    b.radius = 0.25f + (float)random_below( 256 ) / 1024;
    b.is_ghost = random_below( 10 ) == 0;
    return b;
}

// New objects start with the default filter and the def's margin, also in a slot that another had before.
static void add_balls( clv_space* space, uint32_t count )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        ball b = random_ball();
        clv_filter filter = clv_default_filter();
        filter.category = b.is_ghost ? GHOST : BALL;
        filter.mask = b.is_ghost ? WALL : WALL | BALL;
        check( space, clv_space_add_one( space, box_of( &b ), &b.id ) );
        check( space, clv_space_set_filter( space, &b.id, &filter, 1 ) );
        if ( b.margin > 0 )
        {
            check( space, clv_space_set_margin( space, &b.id, &b.margin, 1 ) );
        }
        s_balls[b.id.index] = b; // the slot is ours until we remove the id
    }
}

static void remove_balls( clv_space* space, uint32_t count )
{
    clv_id ids[CHANGE_COUNT];
    for ( uint32_t i = 0; i < count; ++i )
    {
        ball* b = &s_balls[WALL_COUNT + random_below( BALL_COUNT )];
        while ( clv_id_is_null( b->id ) ) // chosen a moment ago
        {
            b = b + 1 < s_balls + SLOT_COUNT ? b + 1 : s_balls + WALL_COUNT;
        }
        ids[i] = b->id;
        b->id = clv_null_id();
    }
    check( space, clv_space_remove( space, ids, count ) );
}

// All at once, in the order of the slots: the quickest way to hand over boxes.
static void move_balls( clv_space* space )
{
    static clv_id ids[BALL_COUNT];
    static clv_aabb boxes[BALL_COUNT];
    for ( int i = 0; i < BALL_COUNT; ++i )
    {
        ball* b = &s_balls[WALL_COUNT + i];
        b->position.x += b->velocity.x;
        b->position.y += b->velocity.y;
        b->position.z += b->velocity.z;
        ids[i] = b->id;
        boxes[i] = box_of( b ); // without the margin, which the space adds itself
    }
    check( space, clv_space_move( space, ids, boxes, BALL_COUNT ) );
}

// Back from wall 0 to 5; only a ball that flies into it turns, so that none is caught behind it.
static void bounce_off_wall( ball* b, uint32_t wall )
{
    float* velocity = &b->velocity.x;
    float v = velocity[wall % 3];
    velocity[wall % 3] = wall < 3 ? fabsf( v ) : -fabsf( v );
}

static float dot( clv_vec3 a, clv_vec3 b )
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static clv_vec3 minus( clv_vec3 a, clv_vec3 b )
{
    clv_vec3 difference = { a.x - b.x, a.y - b.y, a.z - b.z };
    return difference;
}

// Equal masses exchange their velocities, if they fly towards each other.
static bool balls_hit( ball* a, ball* b )
{
    clv_vec3 between = minus( b->position, a->position );
    float reach = a->radius + b->radius;
    if ( dot( between, between ) > reach * reach || dot( between, minus( b->velocity, a->velocity ) ) >= 0 )
    {
        return false;
    }
    clv_vec3 velocity = a->velocity;
    a->velocity = b->velocity;
    b->velocity = velocity;
    return true;
}

typedef struct tally
{
    uint64_t near, hits, wall_hits;
} tally;

// The list is of boxes, grown by their margins: near, not yet touching. Spheres are asked here.
static tally answer_pairs( clv_pair_view view )
{
    tally sum = { view.count, 0, 0 };
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        clv_pair pair = view.pairs[i]; // a < b, so a wall comes first
        if ( pair.a < WALL_COUNT )
        {
            bounce_off_wall( &s_balls[pair.b], pair.a );
            sum.wall_hits += 1;
        }
        else
        {
            sum.hits += balls_hit( &s_balls[pair.a], &s_balls[pair.b] );
        }
    }
    return sum;
}

int main( void )
{
    clv_space_def def = clv_default_space_def();
    def.capacity = SLOT_COUNT;
    def.events = true;
    def.sorted = true; // velocities are exchanged in the order of the list
    clv_space* space;
    if ( clv_space_create( &def, &space ) != CLV_OK )
    {
        return 1;
    }
    add_walls( space );
    add_balls( space, BALL_COUNT );
    uint64_t begun = 0, ended = 0, gone = 0;
    for ( int frame = 1; frame <= FRAME_COUNT; ++frame )
    {
        check( space, clv_space_update( space ) );
        clv_event_view events = clv_space_events( space );
        begun += events.begun_count;
        ended += events.ended_count;
        for ( uint64_t i = 0; i < events.ended_count; ++i ) // events name ids, since an object may be gone
        {
            gone += !clv_space_contains( space, events.ended[i].a ) ||
                !clv_space_contains( space, events.ended[i].b );
        }
        tally sum = answer_pairs( clv_space_pairs( space ) ); // before the next update: then the view is dead
        if ( frame % 30 == 0 )
        {
            printf( "frame %3d: %u balls, %llu near, %llu hit, %llu at walls\n", frame,
                clv_space_object_count( space ) - WALL_COUNT, (unsigned long long)sum.near,
                (unsigned long long)sum.hits, (unsigned long long)sum.wall_hits );
        }
        move_balls( space );
        remove_balls( space, CHANGE_COUNT );
        add_balls( space, CHANGE_COUNT );
    }
    printf( "%llu pairs began, %llu ended, %llu of these because a ball had gone\n",
        (unsigned long long)begun, (unsigned long long)ended, (unsigned long long)gone );
    clv_space_destroy( space );
    return 0;
}
