// SPDX-License-Identifier: MIT
// What the library answers, as text: the same under whatever flags it was compiled. scripts/check.sh flags
// builds it under many and compares. Its own sums are exact, so that no flag changes what it asks. A line
// depends on pair sets, orders and bits of bodies, not on the instruction sets at hand.
#include <cleave/cleave.h>
#include <cleave/methods.h>
#include <cleave/physics.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    FRAMES = 24,
    MOST = 20000
};

static clv_aabb s_boxes[MOST];
static clv_id s_ids[MOST];

static void must( bool fine, const char* what )
{
    if ( !fine )
    {
        printf( "probe: %s\n", what );
        exit( 1 );
    }
}

// splitmix64 (Vigna): no library's random numbers, which differ from machine to machine.
static uint64_t mix( uint64_t z )
{
    z += 0x9E3779B97F4A7C15u;
    z = ( z ^ z >> 30 ) * 0xBF58476D1CE4E5B9u;
    z = ( z ^ z >> 27 ) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

// Steps of 1/256, which floats hold exactly: no rounding happens here whatever the compiler does.
static float step( uint64_t* state, uint32_t most )
{
    *state += 1;
    return (float)( mix( *state ) % ( most * 256 ) ) / 256;
}

static clv_aabb random_box( uint64_t* state, uint32_t world )
{
    clv_aabb box;
    float* lower = &box.lower.x;
    float* upper = &box.upper.x;
    for ( int axis = 0; axis < 3; ++axis )
    {
        lower[axis] = step( state, world );
        upper[axis] = lower[axis] + step( state, 2 );
    }
    return box;
}

// A denormal by its bits: linked with -ffast-math this program flushes what it computes to zero, and the
// library must not.
static float tiny( uint32_t bits )
{
    float value;
    memcpy( &value, &bits, sizeof( value ) );
    return value;
}

// Infinite floors and walls, denormals and far corners are where careless flags go wrong.
static void make_boxes( uint32_t count, uint64_t seed, uint32_t world )
{
    uint64_t state = seed << 32;
    for ( uint32_t i = 0; i < count; ++i )
    {
        s_boxes[i] = random_box( &state, world );
        if ( i % 499 == 1 )
        {
            s_boxes[i].lower.y = -INFINITY;
        }
        if ( i % 499 == 2 )
        {
            s_boxes[i].upper.x = FLT_MAX;
        }
        if ( i % 97 == 3 ) // between 0 and the smallest normal number
        {
            float low = tiny( 1 + i % 7 ), high = tiny( 2 + 2 * ( i % 7 ) );
            s_boxes[i].lower = ( clv_vec3 ){ low, low, low };
            s_boxes[i].upper = ( clv_vec3 ){ high, high, high };
        }
    }
}

// Most rest from the eighth frame on, so that the search for what moved is asked as well.
static void move_boxes( uint32_t count, uint64_t frame )
{
    uint64_t state = frame << 40;
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( i % 97 == 3 || ( frame >= 8 && i % 64 != frame % 64 ) )
        {
            continue;
        }
        float* corner = &s_boxes[i].lower.x;
        for ( int k = 0; k < 3 && isfinite( corner[k] ); ++k )
        {
            float by = step( &state, 1 ) - 0.5f;
            corner[k] += by;
            corner[k + 3] += by;
        }
    }
}

static uint64_t list_hash( clv_pair_view view, uint64_t frame )
{
    uint64_t hash = 0;
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        hash += mix( (uint64_t)view.pairs[i].a << 32 | view.pairs[i].b ) * ( 2 * frame + 1 );
    }
    return hash;
}

static uint64_t run_space( const char* method, clv_isa isa, uint32_t workers, uint32_t count, uint32_t world )
{
    clv_space_def def = clv_default_space_def();
    def.method = method;
    def.isa = isa;
    def.worker_count = workers;
    clv_space* space;
    must( clv_space_create( &def, &space ) == CLV_OK, "a space" );
    make_boxes( count, 7, world );
    must( clv_space_add( space, s_boxes, count, s_ids ) == CLV_OK, "boxes added" );
    uint64_t hash = 0;
    for ( uint64_t frame = 0; frame < FRAMES; ++frame )
    {
        must( clv_space_update( space ) == CLV_OK, "an update" );
        hash += list_hash( clv_space_pairs( space ), frame );
        move_boxes( count, frame + 1 );
        must( clv_space_move( space, s_ids, s_boxes, count ) == CLV_OK, "boxes moved" );
    }
    clv_aabb nan = { { NAN, 0, 0 }, { 1, 1, 1 } };
    must( clv_space_add_one( space, nan, s_ids ) == CLV_BAD_BOX, "a NaN refused" );
    clv_space_destroy( space );
    return hash;
}

// Every method and instruction set against brute force by the plainest code.
static void print_methods( void )
{
    static const char* const names[] = { "cleave", "kd", "sap", "grid", "isap", "bvh-d", "segment-tree",
        "tracy" };
    uint64_t expected = run_space( "brute", CLV_ISA_SCALAR, 1, 1500, 24 );
    printf( "brute 0x%016llx\n", (unsigned long long)expected );
    for ( size_t i = 0; i < sizeof( names ) / sizeof( names[0] ); ++i )
    {
        for ( int isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
        {
            if ( clv_isa_is_supported( (clv_isa)isa ) )
            {
                uint64_t hash = run_space( names[i], (clv_isa)isa, 1, 1500, 24 );
                if ( hash != expected )
                {
                    printf( "%s %s 0x%016llx\n", names[i], clv_isa_name( (clv_isa)isa ),
                        (unsigned long long)hash );
                }
            }
        }
    }
    printf( "workers 0x%016llx\n", (unsigned long long)run_space( NULL, CLV_ISA_AUTO, 3, MOST, 64 ) );
}

static uint64_t bits_hash( uint64_t hash, const void* data, size_t size )
{
    for ( size_t at = 0; at + 4 <= size; at += 4 )
    {
        uint32_t word;
        memcpy( &word, (const char*)data + at, 4 );
        hash = mix( hash ^ word );
    }
    return hash;
}

// Bodies that fall on each other: every bit depends on every rounding before it.
static void print_bodies( void )
{
    clv_rigid_def def = clv_default_rigid_def();
    def.walls = ( clv_aabb ){ { -4, 0, -4 }, { 4, INFINITY, 4 } };
    clv_rigid* world;
    must( clv_rigid_create( &def, &world ) == CLV_OK, "a world" );
    for ( int i = 0; i < 60; ++i )
    {
        clv_rigid_body body = clv_default_rigid_body();
        body.position =
            ( clv_vec3 ){ (float)( i % 3 ) * 1.125f - 1, (float)i * 0.75f + 1, (float)( i % 2 ) * 0.875f };
        must( clv_rigid_add( world, &body, 1 ) == CLV_OK, "a body" );
    }
    uint64_t hash = 0;
    for ( int frame = 0; frame < 90; ++frame )
    {
        must( clv_rigid_step( world, 1.0f / 60, 4 ) == CLV_OK, "a step" );
    }
    for ( uint32_t i = 0; i < clv_rigid_body_count( world ); ++i )
    {
        clv_rigid_body body = clv_rigid_get( world, i );
        hash = bits_hash( hash, &body.position, sizeof( body.position ) );
    }
    printf( "bodies 0x%016llx\n", (unsigned long long)hash );
    clv_rigid_destroy( world );
}

// Points nearly on a plane: which side they are on is decided exactly, or not at all.
static void print_hulls( void )
{
    clv_vec3 points[200];
    uint64_t state = 3;
    for ( int i = 0; i < 200; ++i )
    {
        points[i] = ( clv_vec3 ){ step( &state, 4 ), step( &state, 4 ), 0 };
        points[i].z = points[i].x * 0.375f + points[i].y * 0.75f + ( i % 8 == 0 ? step( &state, 1 ) : 0 );
    }
    clv_hull_def def = clv_default_hull_def();
    def.points = points;
    def.point_count = 200;
    clv_hull* hull;
    must( clv_hull_create( &def, &hull ) == CLV_OK, "a hull" );
    clv_hull_view view = clv_hull_get_view( hull );
    uint64_t hash = bits_hash( 0, view.vertices, view.vertex_count * sizeof( clv_vec3 ) );
    for ( int i = 0; i < 50; ++i )
    {
        clv_contact contact;
        clv_transform at = clv_transform_at( (float)i * 0.125f, (float)i * 0.0625f, 0.25f );
        must( clv_shape_contact( clv_hull_shape( hull ), clv_identity_transform(), clv_hull_shape( hull ), at,
                  NULL, &contact ) == CLV_OK,
            "a contact" );
        if ( contact.touching )
        {
            hash = bits_hash( hash, &contact.depth, sizeof( contact.depth ) );
            hash = bits_hash( hash, &contact.normal, sizeof( contact.normal ) );
        }
    }
    printf( "hull of %u corners 0x%016llx\n", view.vertex_count, (unsigned long long)hash );
    clv_hull_destroy( hull );
}

int main( void )
{
    clv_methods_register();
    print_methods();
    print_bodies();
    print_hulls();
    return 0;
}
