// SPDX-License-Identifier: MIT
// A character controller on casts: an upright capsule walks through a small level of boxes. Each frame it is
// cast along the way it wants to go, stops short of what it meets, and slides along that. What is low enough
// it steps onto; what is under it carries it. The level is searched by clv_space_query_closest and nothing
// else.
//
// Usage: walker
#include <cleave/cleave.h>

#include <math.h>
#include <stdio.h>

enum
{
    MOST_FRAMES = 6000, // 60 per second
    SLIDES = 4,         // surfaces that one move may be turned by: two walls and a floor, and one to spare
    BOXES = 15
};

// Metres and seconds. The capsule's line is from 0.3 to 1.5 above its feet.
static const float s_radius = 0.3f, s_height = 1.8f, s_gap = 0.01f, s_step_height = 0.35f;
static const float s_speed = 3, s_gravity = 10, s_frame = 1.0f / 60;

// A surface whose normal points up by less is a wall. Round feet meet the edge of a stair at a slant, and
// shall stand on it.
static const float s_least_up = 0.1f;

// y is up. Lower and upper corners.
static const clv_aabb s_level[BOXES] = {
    { { -20, -1, -20 }, { 20, 0, 20 } },         // the ground
    { { -6, 0, -3 }, { 6, 3, -2.5f } },          // a wall along x
    { { 6, 0, -3 }, { 6.5f, 3, 3 } },            // and one along z, which makes a corner
    { { 2, 0, 3 }, { 3, 0.3f, 6 } },             // stairs of 0.3
    { { 1, 0, 3 }, { 2, 0.6f, 6 } },             //
    { { 0, 0, 3 }, { 1, 0.9f, 6 } },             //
    { { -4, 0, 3 }, { 0, 1.2f, 6 } },            // up to a platform with an edge
    { { -8, 0, 3 }, { -7.5f, 0.5f, 6 } },        // a curb too high to step onto
    { { -7, 1.5f, 0 }, { -6.5f, 1.7f, 2 } },     // a beam too low to walk under
    { { -12, 0, -3 }, { -11.7f, 0.3f, -2.7f } }, // a post to step onto, or to slip past
    { { -12, 0, -6 }, { -9, 3, -5.5f } },        // an alley
    { { -12, 0, -4.6f }, { -9, 3, -4.1f } },     // 0.9 wide; the capsule takes 0.6
    { { -16, 0, -6 }, { -13, 3, -5.5f } },       // and one
    { { -16, 0, -5 }, { -13, 3, -4.1f } },       // 0.5 wide: too narrow
    { { -16, 2.2f, -8 }, { -9, 2.4f, -3 } },     // a roof over both
};

// Where it goes, one after the other. It gives up on a place after a second and a half without getting
// nearer.
static const float s_places[][2] = { { 5, -2.6f }, { 5.9f, 2 }, { 4, 4.5f }, { -3, 4.5f }, { -9, 4.5f },
    { -9, 1 }, { -5, 1 }, { -11.85f, -1 }, { -11.85f, -3.5f }, { -8, -5 }, { -12.5f, -5 }, { -17, -5 } };

typedef struct walker
{
    clv_space* space;
    clv_vec3 feet;
    float fall; // metres per second downwards
    bool on_ground;
    bool failed;
} walker;

// What a cast met: where it faces, and how high its box is.
typedef struct surface
{
    clv_vec3 normal;
    float top;
} surface;

static clv_vec3 plus( clv_vec3 a, clv_vec3 b, float factor )
{
    clv_vec3 sum = { a.x + b.x * factor, a.y + b.y * factor, a.z + b.z * factor };
    return sum;
}

static float dot( clv_vec3 a, clv_vec3 b )
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static clv_capsule capsule_at( clv_vec3 feet )
{
    clv_capsule capsule = { feet, feet, s_radius };
    capsule.a.y += s_radius;
    capsule.b.y += s_height - s_radius;
    return capsule;
}

// From the nearest point of the box to the nearest point of the capsule's line, which is upright. Length 1.
static clv_vec3 normal_of( clv_aabb box, clv_capsule c )
{
    clv_vec3 n = { 0, 0, 0 };
    n.x = c.a.x < box.lower.x ? c.a.x - box.lower.x : c.a.x > box.upper.x ? c.a.x - box.upper.x : 0;
    n.y = c.b.y < box.lower.y ? c.b.y - box.lower.y : c.a.y > box.upper.y ? c.a.y - box.upper.y : 0;
    n.z = c.a.z < box.lower.z ? c.a.z - box.lower.z : c.a.z > box.upper.z ? c.a.z - box.upper.z : 0;
    float length = sqrtf( dot( n, n ) );
    clv_vec3 up = { 0, 1, 0 };
    return length > 0 ? plus( ( clv_vec3 ){ 0, 0, 0 }, n, 1 / length ) : up;
}

// How far of `motion` the capsule gets, from 0 to 1, and the surface that stops it. It stops a gap short of
// it.
static float cast( walker* w, clv_vec3 feet, clv_vec3 motion, surface* met )
{
    float length = sqrtf( dot( motion, motion ) );
    *met = ( surface ){ { 0, 0, 0 }, 0 };
    if ( length == 0 )
    {
        return 1;
    }
    clv_capsule_cast one = { capsule_at( feet ), motion, 1 + s_gap / length };
    clv_queries queries = clv_query_capsule_casts( &one, 1 );
    clv_hit hit;
    if ( clv_space_query_closest( w->space, &queries, &hit, NULL ) != CLV_OK )
    {
        w->failed = true;
        return 0;
    }
    if ( hit.index == CLV_NO_HIT )
    {
        return 1;
    }
    met->normal = normal_of( s_level[hit.index], capsule_at( plus( feet, motion, hit.t ) ) );
    met->top = s_level[hit.index].upper.y;
    float part = hit.t - s_gap / length;
    return part < 0 ? 0 : part < 1 ? part : 1;
}

// Goes along `motion`, and along what it meets: the part of the motion into a surface is taken away. A wall
// counts as upright, or else the edge of one would be climbed, or slip under, by pushing against it.
static clv_vec3 slide( walker* w, clv_vec3 feet, clv_vec3 motion )
{
    clv_vec3 wanted = motion;
    for ( int i = 0; i < SLIDES && dot( motion, wanted ) > 0; ++i )
    {
        surface met;
        float part = cast( w, feet, motion, &met );
        feet = plus( feet, motion, part );
        if ( part >= 1 )
        {
            break;
        }
        motion = plus( motion, motion, -part );
        clv_vec3 normal = met.normal;
        if ( normal.y < s_least_up )
        {
            float flat = sqrtf( normal.x * normal.x + normal.z * normal.z );
            normal.y = flat > 0 ? 0 : normal.y;
            normal = flat > 0 ? plus( ( clv_vec3 ){ 0, 0, 0 }, normal, 1 / flat ) : normal;
        }
        motion = plus( motion, normal, -dot( motion, normal ) );
    }
    return feet;
}

// Down as far as `most`. True if it came to stand on something no higher than `highest`.
static bool drop( walker* w, clv_vec3* feet, float most, float highest )
{
    clv_vec3 down = { 0, -most, 0 };
    surface met;
    float part = cast( w, *feet, down, &met );
    *feet = plus( *feet, down, part );
    return part < 1 && met.normal.y >= s_least_up && met.top <= highest;
}

// Up, along and down again: taken only if that gets farther than along the ground, and ends on a step low
// enough. Round feet find hold on the edge of a higher one too.
static clv_vec3 step_over( walker* w, clv_vec3 motion, clv_vec3 plain )
{
    clv_vec3 up = { 0, s_step_height, 0 };
    surface met;
    clv_vec3 high = plus( w->feet, up, cast( w, w->feet, up, &met ) );
    clv_vec3 there = slide( w, high, motion );
    bool stands = drop( w, &there, high.y - w->feet.y + s_gap, w->feet.y + s_step_height );
    clv_vec3 gain = plus( there, plain, -1 );
    gain.y = 0;
    return stands && dot( gain, motion ) > 1e-5f ? there : plain;
}

static void walk( walker* w, float x, float z )
{
    clv_vec3 wish = { x - w->feet.x, 0, z - w->feet.z };
    float length = sqrtf( dot( wish, wish ) ), way = s_speed * s_frame;
    clv_vec3 motion = plus( ( clv_vec3 ){ 0, 0, 0 }, wish, length > way ? way / length : 1 );
    clv_vec3 plain = slide( w, w->feet, motion );
    w->feet = w->on_ground ? step_over( w, motion, plain ) : plain;

    // What it stood on may go down by a step; beyond that it falls.
    w->fall = w->on_ground ? 0 : w->fall + s_gravity * s_frame;
    clv_vec3 below = w->feet;
    if ( drop( w, &below, w->on_ground ? s_step_height + s_gap : w->fall * s_frame, INFINITY ) )
    {
        w->on_ground = true;
        w->feet = below;
    }
    else
    {
        w->feet = w->on_ground ? w->feet : below;
        w->on_ground = false;
    }
}

static bool is_inside_a_box( const walker* w )
{
    clv_capsule capsule = capsule_at( w->feet );
    clv_queries queries = clv_query_capsules( &capsule, 1 );
    clv_hit hit;
    return clv_space_query_any( w->space, &queries, &hit, NULL ) != CLV_OK || hit.index != CLV_NO_HIT;
}

// `since` counts frames that brought it no nearer to the place.
static void run( walker* w )
{
    int place = 0, place_count = (int)( sizeof( s_places ) / sizeof( s_places[0] ) );
    int frame = 0, since = 0;
    float nearest = INFINITY;
    bool was_inside = false, has_fallen = false;
    for ( ; place < place_count && frame < MOST_FRAMES && !w->failed; ++frame )
    {
        walk( w, s_places[place][0], s_places[place][1] );
        was_inside = was_inside || is_inside_a_box( w );
        has_fallen = has_fallen || !w->on_ground;
        float distance = hypotf( w->feet.x - s_places[place][0], w->feet.z - s_places[place][1] );
        since = distance < nearest - 0.001f ? 0 : since + 1;
        nearest = distance < nearest ? distance : nearest;
        if ( distance < 0.05f || since > 90 )
        {
            printf( "%4.1f s to (%5.1f, %4.1f): %s at (%5.1f, %3.1f, %4.1f)%s\n", (double)( frame + 1 ) / 60,
                (double)s_places[place][0], (double)s_places[place][1], since > 90 ? "stopped" : "there",
                (double)w->feet.x, (double)w->feet.y, (double)w->feet.z, has_fallen ? ", after a fall" : "" );
            place += 1;
            since = 0;
            nearest = INFINITY;
            has_fallen = false;
        }
    }
    printf( "never inside a box: %s\n", was_inside ? "no" : "yes" );
}

int main( void )
{
    walker w = { .feet = { 0, 1, 0 } };
    clv_space_def def = clv_default_space_def();
    bool good = clv_space_create( &def, &w.space ) == CLV_OK &&
        clv_space_add( w.space, s_level, BOXES, NULL ) == CLV_OK && clv_space_refresh( w.space ) == CLV_OK;
    if ( good )
    {
        run( &w );
    }
    clv_space_destroy( w.space );
    return good && !w.failed ? 0 : 1;
}
