// SPDX-License-Identifier: MIT
// How many rounds GJK and EPA take over random pairs, beside what the k-DOP paper reports for its own
// (section 3.6), and how long; then the two ways to find an extreme point against the size of the hull.
// bench/narrow.md is made of its output.
//
//   narrow_rounds [PAIRS]        default 10,000,000
#include "base/timer.h"
#include "math/splitmix.h"
#include "narrow/contact.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_ROUNDS 300

typedef struct histogram
{
    uint64_t counts[MOST_ROUNDS];
    uint64_t total, sum;
    uint32_t most;
} histogram;

static void histogram_add( histogram* h, uint32_t rounds )
{
    rounds = rounds < MOST_ROUNDS ? rounds : MOST_ROUNDS - 1;
    h->counts[rounds] += 1;
    h->total += 1;
    h->sum += rounds;
    h->most = rounds > h->most ? rounds : h->most;
}

static double histogram_mean( const histogram* h )
{
    return h->total > 0 ? (double)h->sum / (double)h->total : 0.0;
}

static clv_hull* make_hull( const char* name )
{
    clv_vec3 size = { 1, 1, 1 };
    clv_hull* hull = NULL;
    clv_result result = name[0] == 't' ? clv_hull_create_truncated_octahedron( size, &hull )
                                       : clv_hull_create_rhombicuboctahedron( size, &hull );
    if ( result != CLV_OK )
    {
        fprintf( stderr, "narrow_rounds: the %s could not be built: %s\n", name, clv_result_text( result ) );
        exit( 2 );
    }
    return hull;
}

// A pair a broad phase with spheres would let through: b's centre anywhere in the ball that touches.
static void place( math_random* random, const clv_hull* hull, math_pose* a, math_pose* b )
{
    double reach = 2.0 * (double)hull->radius;
    math_vec3 offset;
    do
    {
        offset = math_make( math_random_between( random, -reach, reach ),
            math_random_between( random, -reach, reach ), math_random_between( random, -reach, reach ) );
    } while ( math_length( offset ) > reach );
    a->rotation = math_quat_matrix( math_random_rotation( random ) );
    b->rotation = math_quat_matrix( math_random_rotation( random ) );
    a->position = math_make( 0, 0, 0 );
    b->position = offset;
}

// The same pair as a simulation meets it: just touching, at most a twentieth of the size deep.
static void make_shallow( math_random* random, const narrow_contact* contact, narrow_core* b )
{
    double out = contact->depth - math_random_between( random, 0, 0.1 );
    b->pose.position = math_add_scaled( b->pose.position, contact->normal, out );
}

static void print_histogram( const char* title, const histogram* h )
{
    printf( "\n%s: %" PRIu64
            " searches, mean %.2f, most %u\n\n| rounds | searches | share |\n| ---: | ---: | ---: |\n",
        title, h->total, histogram_mean( h ), h->most );
    for ( uint32_t i = 0; i <= h->most; ++i )
    {
        if ( h->counts[i] > 0 )
        {
            double share = 100.0 * (double)h->counts[i] / (double)h->total;
            printf( "| %u | %" PRIu64 " | %.4f %% |\n", i, h->counts[i], share );
        }
    }
}

static void count_rounds( const char* name, uint64_t pair_count )
{
    static histogram overlap, distance, expansion, shallow;
    overlap = distance = expansion = shallow = ( histogram ){ 0 };
    clv_hull* hull = make_hull( name );
    clv_shape shape = clv_hull_shape( hull );
    math_random random = math_random_seed( 2021 );
    uint64_t failed = 0, begin = clv_base_clock_ns();
    for ( uint64_t i = 0; i < pair_count; ++i )
    {
        math_pose pose_a, pose_b;
        place( &random, hull, &pose_a, &pose_b );
        narrow_core a = narrow_core_make( shape, &pose_a ), b = narrow_core_make( shape, &pose_b );
        narrow_gjk g;
        narrow_gjk_search( &a, &b, 0.0, false, NULL, &g );
        histogram_add( &distance, g.round_count );
        failed += g.converged ? 0 : 1;
        narrow_contact contact;
        clv_narrow_find_contact( &a, 0.0, &b, 0.0, NULL, &contact );
        histogram_add( &overlap, contact.gjk_round_count );
        if ( contact.touching )
        {
            histogram_add( &expansion, contact.epa_round_count );
            failed += contact.converged ? 0 : 1;
            make_shallow( &random, &contact, &b );
            clv_narrow_find_contact( &a, 0.0, &b, 0.0, NULL, &contact );
            if ( contact.touching )
            {
                histogram_add( &shallow, contact.epa_round_count );
                failed += contact.converged ? 0 : 1;
            }
        }
    }
    double seconds = (double)( clv_base_clock_ns() - begin ) * 1e-9;
    printf( "\n## %s, %" PRIu64 " pairs, %.1f s\n", name, pair_count, seconds );
    printf( "\n%" PRIu64 " touch; %" PRIu64 " searches ended without an answer.\n", expansion.total, failed );
    print_histogram( "GJK, do they touch", &overlap );
    print_histogram( "GJK, how far apart", &distance );
    print_histogram( "EPA, any depth", &expansion );
    print_histogram( "EPA, at most 0.1 deep", &shallow );
    clv_hull_destroy( hull );
}

// ---- extreme points

static clv_hull* make_ball( uint32_t point_count )
{
    math_random random = math_random_seed( point_count );
    clv_vec3* points = malloc( point_count * sizeof( clv_vec3 ) );
    clv_hull* hull = NULL;
    if ( points != NULL )
    {
        for ( uint32_t i = 0; i < point_count; ++i )
        {
            points[i] = math_narrow( math_random_direction( &random ) );
        }
        clv_hull_def def = clv_default_hull_def();
        def.points = points;
        def.point_count = point_count;
        if ( clv_hull_create( &def, &hull ) != CLV_OK )
        {
            hull = NULL;
        }
    }
    free( points );
    return hull;
}

// Directions as a search asks them: each near the one before.
static double time_support( const clv_hull* hull, bool climb, uint32_t* sum )
{
    enum
    {
        REPEATS = 100000
    };
    math_random random = math_random_seed( 7 );
    static math_vec3 directions[1024];
    math_vec3 direction = { 1, 0, 0 };
    for ( int i = 0; i < 1024; ++i )
    {
        direction =
            math_normalize( math_add_scaled( direction, math_random_direction( &random ), 0.7 ), direction );
        directions[i] = direction;
    }
    uint64_t best = UINT64_MAX;
    for ( int pass = 0; pass < 12; ++pass )
    {
        uint32_t last = 0;
        uint64_t begin = clv_base_clock_ns();
        for ( int i = 0; i < REPEATS; ++i )
        {
            math_vec3 d = directions[i & 1023];
            last = climb ? clv_narrow_support_climb( hull, d, last ) : clv_narrow_support_brute( hull, d );
            *sum += last;
        }
        uint64_t spent = clv_base_clock_ns() - begin;
        best = spent < best ? spent : best;
    }
    return (double)best / ( REPEATS );
}

static void compare_support( void )
{
    const uint32_t sizes[] = { 8, 16, 24, 32, 48, 64, 96, 128, 256, 1024 };
    uint32_t sum = 0;
    printf(
        "\n## Extreme points\n\n| vertices | looking at all, ns | climbing, ns |\n| ---: | ---: | ---: |\n" );
    for ( size_t i = 0; i < sizeof( sizes ) / sizeof( sizes[0] ); ++i )
    {
        clv_hull* hull = make_ball( sizes[i] );
        if ( hull != NULL )
        {
            double brute = time_support( hull, false, &sum ), climb = time_support( hull, true, &sum );
            printf( "| %u | %.0f | %.0f |\n", hull->vertex_count, brute, climb );
        }
        clv_hull_destroy( hull );
    }
    printf( "\n(checksum %u)\n", sum );
}

int main( int argc, char** argv )
{
    uint64_t pair_count = 10000000;
    if ( argc > 1 )
    {
        char* end = NULL;
        pair_count = strtoull( argv[1], &end, 10 );
        if ( *end != '\0' || pair_count == 0 || argc > 2 )
        {
            fprintf( stderr,
                "narrow_rounds: '%s' is no number of pairs; use a whole number such as 10000000\n", argv[1] );
            return 2;
        }
    }
    printf( "The k-DOP paper, section 3.6, 10 million runs: GJK mean 4, most 17; EPA mean 3, most 29.\n" );
    count_rounds( "truncated octahedron", pair_count );
    count_rounds( "rhombicuboctahedron", pair_count );
    compare_support();
    return 0;
}
