// SPDX-License-Identifier: MIT
#include "gpu_fixture.h"
#include "gpu_state.h"

#include <stdlib.h>
#include <string.h>

// Of more pairs one in so many is looked at, with its neighbour, that about as many are.
#define CHECKED_PAIRS ( UINT64_C( 1 ) << 16 )

const char* gpu_test_check_pairs(
    const clv_pair* pairs, uint64_t count, uint32_t count_of_boxes, bool is_sorted )
{
    uint64_t step = count / CHECKED_PAIRS + 1;
    for ( uint64_t i = 0; i < count; i += step )
    {
        if ( pairs[i].a >= pairs[i].b )
        {
            return "a pair does not have the lower number first";
        }
        if ( pairs[i].b >= count_of_boxes )
        {
            return "a pair has a number that no box has";
        }
        bool is_after = i == 0 || pairs[i - 1].a < pairs[i].a ||
            ( pairs[i - 1].a == pairs[i].a && pairs[i - 1].b < pairs[i].b );
        if ( is_sorted && !is_after )
        {
            return "pairs that are to be sorted are not, or one is there twice";
        }
    }
    return NULL;
}

bool gpu_test_is_skipped( void )
{
    uint32_t index = 0;
    char text[256] = "";
    if ( clv_gpu_device_find( NULL, &index, text, sizeof( text ) ) == CLV_OK )
    {
        return false;
    }
    printf( "skipped: %s\n", text );
    return true;
}

static void print_line( clv_log_level level, const char* line, void* user )
{
    (void)user;
    if ( level == CLV_LOG_ERROR )
    {
        printf( "gpu: %s\n", line );
    }
}

clv_gpu* gpu_test_make( clv_gpu_way way )
{
    clv_gpu_def def = clv_default_gpu_def();
    clv_gpu* gpu = NULL;
    def.way = way;
    def.logger.write = print_line;
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    return gpu;
}

static int compare_pairs( const void* a, const void* b )
{
    const clv_pair* x = a;
    const clv_pair* y = b;
    return x->a != y->a ? ( x->a > y->a ) - ( x->a < y->a ) : ( x->b > y->b ) - ( x->b < y->b );
}

typedef struct pair_room
{
    clv_pair* pairs;
    uint64_t count, capacity;
} pair_room;

static bool keep_pairs( const clv_pair* pairs, size_t count, void* user )
{
    pair_room* room = user;
    CHECK( room->count + count <= room->capacity );
    memcpy( room->pairs + room->count, pairs, count * sizeof( clv_pair ) );
    room->count += count;
    return true;
}

typedef clv_result pair_reader( clv_gpu* gpu, clv_pair_visitor* visit, void* user );

// Of numbers below `end`, and each once.
static clv_pair* read_sorted(
    clv_gpu* gpu, pair_reader* read, uint64_t capacity, uint32_t end, uint64_t* count )
{
    pair_room room = { NULL, 0, capacity };
    room.pairs = malloc( ( room.capacity + 1 ) * sizeof( clv_pair ) );
    CHECK_OK( read( gpu, keep_pairs, &room ) );
    CHECK_EQUAL( room.count, room.capacity );
    CHECK( gpu_test_check_pairs( room.pairs, room.count, end, false ) == NULL );
    qsort( room.pairs, room.count, sizeof( clv_pair ), compare_pairs );
    CHECK( gpu_test_check_pairs( room.pairs, room.count, end, true ) == NULL );
    *count = room.count;
    return room.pairs;
}

clv_pair* gpu_test_pairs( clv_gpu* gpu, uint64_t* count )
{
    return read_sorted( gpu, clv_gpu_read_pairs, clv_gpu_pair_count( gpu ), gpu->frame.count, count );
}

clv_pair* gpu_test_begun( clv_gpu* gpu, uint64_t* count )
{
    return read_sorted( gpu, clv_gpu_read_begun, clv_gpu_begun_count( gpu ), gpu->frame.count, count );
}

clv_pair* gpu_test_ended( clv_gpu* gpu, uint64_t* count )
{
    // Boxes of the update before, which may have had more.
    return read_sorted( gpu, clv_gpu_read_ended, clv_gpu_ended_count( gpu ), CLV_MAX_OBJECTS, count );
}

clv_pair* gpu_test_brute( const clv_aabb* boxes, uint32_t count, uint64_t* pair_count )
{
    uint64_t capacity = 1024;
    uint64_t found = 0;
    clv_pair* pairs = malloc( capacity * sizeof( clv_pair ) );
    for ( uint32_t a = 0; a < count; ++a )
    {
        for ( uint32_t b = a + 1; b < count; ++b )
        {
            if ( clv_aabb_overlap( boxes[a], boxes[b] ) )
            {
                if ( found == capacity )
                {
                    capacity *= 2;
                    pairs = realloc( pairs, capacity * sizeof( clv_pair ) );
                }
                pairs[found++] = ( clv_pair ){ a, b };
            }
        }
    }
    *pair_count = found;
    return pairs;
}

void gpu_test_expect( clv_gpu* gpu, const clv_aabb* boxes, uint32_t count, const clv_pair* expected,
    uint64_t expected_count, const char* note )
{
    uint64_t found_count = 0;
    test_where.note = note;
    test_where.frame = count;
    CHECK_OK( clv_gpu_update( gpu, boxes, count ) );
    clv_pair* found = gpu_test_pairs( gpu, &found_count );
    CHECK_EQUAL( found_count, expected_count );
    for ( uint64_t i = 0; i < expected_count; ++i )
    {
        CHECK( found[i].a == expected[i].a && found[i].b == expected[i].b );
    }
    free( found );
}

void gpu_test_agree( clv_gpu* gpu, const clv_aabb* boxes, uint32_t count, const char* note )
{
    uint64_t expected_count = 0;
    clv_pair* expected = gpu_test_brute( boxes, count, &expected_count );
    gpu_test_expect( gpu, boxes, count, expected, expected_count, note );
    free( expected );
}

const char* gpu_test_way_name( clv_gpu_way way )
{
    static const char* const s_names[] = { "auto", "tiles", "grid", "sap", "lbvh" };
    return s_names[way];
}
