// SPDX-License-Identifier: MIT
// The tower of the k-DOP paper as a scene: where its boxes begin, that they fall and land, and what split and
// type mean.
#include "lab/scene/generator.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum
{
    BODIES = 12,
};

static void run( const generator_def* def, uint32_t frames, clv_aabb* boxes )
{
    lab_error why;
    void* state = generator_find( "tower" )->create( generator_find( "tower" ), def );
    CHECK( state != NULL );
    for ( uint32_t frame = 0; frame < frames; ++frame )
    {
        CHECK( generator_find( "tower" )->step( state, &why ) );
    }
    generator_find( "tower" )->boxes( state, boxes );
    generator_find( "tower" )->destroy( state );
}

static generator_def tower_of( body_type type )
{
    return ( generator_def ){ .body_count = BODIES, .type = type, .seed = 1, .thread_count = 1 };
}

static void bodies_begin_ten_apart( void )
{
    clv_aabb boxes[BODIES];
    generator_def def = tower_of( BODY_CUBES );
    run( &def, 0, boxes );
    for ( uint32_t i = 0; i < BODIES; ++i )
    {
        CHECK( fabsf( 0.5f * ( boxes[i].lower.y + boxes[i].upper.y ) - 10.0f * (float)( i + 1 ) ) < 1e-4f );
        CHECK( fabsf( boxes[i].lower.x + boxes[i].upper.x ) < 1e-4f );
        CHECK( boxes[i].upper.y - boxes[i].lower.y < 2.3f && boxes[i].upper.y - boxes[i].lower.y > 1.7f );
    }
}

static void all_land_within_the_world( void )
{
    clv_aabb boxes[BODIES];
    generator_def def = tower_of( BODY_CUBES );
    run( &def, 900, boxes );
    void* state = generator_find( "tower" )->create( generator_find( "tower" ), &def );
    clv_aabb world = generator_find( "tower" )->world( state );
    generator_find( "tower" )->destroy( state );
    for ( uint32_t i = 0; i < BODIES; ++i )
    {
        CHECK( boxes[i].lower.y > -0.5f && boxes[i].upper.y < 10 );
        CHECK( boxes[i].lower.x > world.lower.x && boxes[i].upper.x < world.upper.x );
        CHECK( boxes[i].lower.z > world.lower.z && boxes[i].upper.z < world.upper.z );
    }
}

static void assorted_is_stretched( void )
{
    clv_aabb boxes[BODIES];
    generator_def def = tower_of( BODY_ASSORTED );
    run( &def, 0, boxes );
    float longest = 0;
    for ( uint32_t i = 0; i < BODIES; ++i )
    {
        float height = boxes[i].upper.y - boxes[i].lower.y;
        longest = height > longest ? height : longest;
    }
    CHECK( longest > 3 && longest < 6.1f );
}

static void split_parts_fill_the_box( void )
{
    clv_aabb whole[BODIES], parts[BODIES * BODY_SPLIT];
    generator_def def = tower_of( BODY_CUBES );
    run( &def, 50, whole );
    def.split = true;
    run( &def, 50, parts );
    for ( uint32_t i = 0; i < BODIES; ++i )
    {
        const clv_aabb* first = &parts[i * BODY_SPLIT];
        const clv_aabb* last = &parts[i * BODY_SPLIT + BODY_SPLIT - 1];
        CHECK( memcmp( &first->lower, &whole[i].lower, sizeof( clv_vec3 ) ) == 0 );
        CHECK( memcmp( &last->upper, &whole[i].upper, sizeof( clv_vec3 ) ) == 0 );
        CHECK( first->upper.x == last->lower.x && first->upper.y == last->lower.y &&
            first->upper.z == last->lower.z );
        CHECK( first->upper.x > first->lower.x && last->upper.z > last->lower.z );
    }
}

static void each_seed_makes_another_heap( void )
{
    clv_aabb once[BODIES], again[BODIES], other[BODIES];
    generator_def def = tower_of( BODY_CUBES );
    run( &def, 200, once );
    run( &def, 200, again );
    def.seed = 2;
    run( &def, 200, other );
    CHECK( memcmp( once, again, sizeof( once ) ) == 0 );
    CHECK( memcmp( once, other, sizeof( once ) ) != 0 );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( bodies_begin_ten_apart ),
        TEST_CASE( all_land_within_the_world ),
        TEST_CASE( assorted_is_stretched ),
        TEST_CASE( split_parts_fill_the_box ),
        TEST_CASE( each_seed_makes_another_heap ),
    };
    return test_run( "tower", cases, TEST_COUNT( cases ), argc, argv );
}
