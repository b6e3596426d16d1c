// SPDX-License-Identifier: MIT
// A hundred million pairs, streamed: clv_space_visit hands them over in chunks and keeps none, so the program
// needs memory for a million boxes and not for the pairs. Here each pair is counted for both of its boxes; a
// program of yours would write it to a file, a socket or a sum. The visitor can stop the stream at any chunk.
//
// Usage: streaming [PAIRS]       about so many; default: 100000000
#include <cleave/cleave.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum
{
    PAIRS_PER_BOX = 100,
    CHECKED_COUNT = 20 // boxes whose neighbours are counted by brute force too
};

typedef struct stream
{
    uint32_t* degrees; // how many boxes each one touches
    uint64_t pair_count, limit;
    size_t largest_chunk;
} stream;

static bool take_pairs( const clv_pair* pairs, size_t count, void* user )
{
    stream* s = user;
    for ( size_t i = 0; i < count; ++i )
    {
        s->degrees[pairs[i].a] += 1;
        s->degrees[pairs[i].b] += 1;
    }
    s->pair_count += count;
    s->largest_chunk = count > s->largest_chunk ? count : s->largest_chunk;
    return s->pair_count < s->limit;
}

// The same numbers everywhere: whole-number arithmetic, and a division by a power of 2.
static float random_place( uint64_t* state, uint32_t edge )
{
    *state = *state * UINT64_C( 6364136223846793005 ) + UINT64_C( 1442695040888963407 );
    return (float)( ( *state >> 40 ) * edge / 1024 ) / 16384;
}

// Boxes of edge 3, one per unit of volume: each touches about 6^3 = 216 others, which is 108 pairs per box,
// fewer at the border.
static void fill( clv_aabb* boxes, uint32_t count )
{
    uint32_t edge = 1;
    while ( (uint64_t)edge * edge * edge < count )
    {
        edge += 1;
    }
    uint64_t state = 1;
    for ( uint32_t i = 0; i < count; ++i )
    {
        float x = random_place( &state, edge ), y = random_place( &state, edge ),
              z = random_place( &state, edge );
        boxes[i] = ( clv_aabb ){ { x, y, z }, { x + 3, y + 3, z + 3 } };
    }
}

static bool degrees_are_right( const clv_aabb* boxes, uint32_t count, const uint32_t* degrees )
{
    for ( uint32_t k = 0; k < CHECKED_COUNT; ++k )
    {
        uint32_t i = (uint32_t)( (uint64_t)count * k / CHECKED_COUNT ), degree = 0;
        for ( uint32_t j = 0; j < count; ++j )
        {
            degree += j != i && clv_aabb_overlap( boxes[i], boxes[j] );
        }
        if ( degree != degrees[i] )
        {
            return false;
        }
    }
    return true;
}

static int run( clv_space* space, clv_aabb* boxes, uint32_t* degrees, uint32_t count, bool shows_time )
{
    fill( boxes, count );
    stream all = { degrees, 0, UINT64_MAX, 0 };
    clock_t begin = clock();
    if ( clv_space_add( space, boxes, count, NULL ) != CLV_OK ||
        clv_space_visit( space, take_pairs, &all ) != CLV_OK )
    {
        fprintf( stderr, "streaming: %s\n", clv_space_error( space ).text );
        return 1;
    }
    double seconds = (double)( clock() - begin ) / CLOCKS_PER_SEC;
    uint64_t sum = 0;
    uint32_t most = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        sum += degrees[i];
        most = degrees[i] > most ? degrees[i] : most;
    }
    size_t held = clv_space_stats( space ).memory_peak_bytes;
    printf(
        "%u boxes, %llu pairs, at most %u at one box\n", count, (unsigned long long)all.pair_count, most );
    printf( "every pair came to both of its boxes: %s\n", sum == 2 * all.pair_count ? "yes" : "no" );
    printf( "%d boxes touch as many as by brute force: %s\n", CHECKED_COUNT,
        degrees_are_right( boxes, count, degrees ) ? "yes" : "no" );
    printf( "the space held less than a fifth of what a list of the pairs takes: %s\n",
        held < all.pair_count * sizeof( clv_pair ) / 5 ? "yes" : "no" );
    if ( shows_time )
    {
        printf( "%.2f s, %.1f ns per pair; %zu MB held, a list takes %llu; chunks of %zu pairs\n", seconds,
            1e9 * seconds / (double)all.pair_count, held >> 20,
            (unsigned long long)( all.pair_count * sizeof( clv_pair ) >> 20 ), all.largest_chunk );
    }

    // A consumer that has enough says so.
    stream first = { degrees, 0, 1000, 0 };
    clv_result result = clv_space_visit( space, take_pairs, &first );
    printf( "enough after the first chunk with 1000: %s\n",
        result == CLV_STOPPED && first.pair_count < 1000 + first.largest_chunk ? "stopped" : "not stopped" );
    return 0;
}

int main( int argc, char** argv )
{
    long long wanted = argc > 1 ? atoll( argv[1] ) : 100000000;
    if ( wanted < 100000 || wanted > 10000000000 )
    {
        fprintf( stderr, "streaming: PAIRS is from 100000 to 10000000000\n" );
        return 2;
    }
    uint32_t count = (uint32_t)( wanted / PAIRS_PER_BOX );
    clv_space_def def = clv_default_space_def();
    def.capacity = count;
    clv_space* space = NULL;
    clv_aabb* boxes = malloc( count * sizeof( *boxes ) );
    uint32_t* degrees = calloc( count, sizeof( *degrees ) );
    int status = 1;
    if ( boxes != NULL && degrees != NULL && clv_space_create( &def, &space ) == CLV_OK )
    {
        status = run( space, boxes, degrees, count, argc <= 1 );
    }
    clv_space_destroy( space );
    free( degrees );
    free( boxes );
    return status;
}
