// SPDX-License-Identifier: MIT
// What the C library answers, for the tests to hold the binding's answers against.
//   native FILE.aabbs METHOD    pairs of a scene: for each frame their number and a hash
//                               of the list in its order
//   native FILE.aabbs time      milliseconds of a frame, as ../bench.mjs measures them
//   native FILE questions       questions as questions.test.mjs writes them: for each list the
//                               number of hits and a hash
#include "cleave/cleave.h"
#include "cleave/methods.h"
#include "cleave/world_query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum
{
    HEADER_BYTES = 304,
    BOX_FLOATS = 8
};

static void stop( const char* what )
{
    fprintf( stderr, "native: %s\n", what );
    exit( 2 );
}

static uint32_t hash_list( clv_pair_view view )
{
    uint32_t hash = 2166136261u;
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        hash = ( hash ^ view.pairs[i].a ) * 16777619u;
        hash = ( hash ^ view.pairs[i].b ) * 16777619u;
    }
    return hash;
}

// ---- questions

// As questions.test.mjs writes them, each part padded to 8 bytes: a head, where the planes of regions begin,
// where regions in double are seen from, the items.
typedef struct query_head
{
    uint32_t question; // 0 all, 1 any, 2 closest, 3 nearest
    uint32_t kind;
    uint32_t count;
    uint32_t k;
    uint32_t item_bytes;
    uint32_t region_count;
} query_head;

typedef struct reader
{
    const char* bytes;
    size_t at, size;
} reader;

static const void* take( reader* from, size_t bytes )
{
    if ( bytes > from->size - from->at )
    {
        stop( "the file ends early" );
    }
    const void* part = from->bytes + from->at;
    from->at += ( bytes + 7 ) / 8 * 8;
    from->at = from->at < from->size ? from->at : from->size;
    return part;
}

static uint32_t hash_bytes( uint32_t hash, const void* bytes, size_t size )
{
    const unsigned char* from = bytes;
    for ( size_t i = 0; i < size; ++i )
    {
        hash = ( hash ^ from[i] ) * 16777619u;
    }
    return hash;
}

// The same for floats and doubles: all hits of all queries to `hits`, their number returned.
#define ASK( suffix, real )                                                                                  \
    static uint64_t ask##suffix( const clv_space* space, const query_head* head, const void* items,          \
        clv_hit##suffix* hits, uint64_t capacity )                                                           \
    {                                                                                                        \
        clv_queries##suffix queries = clv_query_list##suffix( (clv_query_kind)head->kind, head->count );     \
        queries.points = items;                                                                              \
        uint64_t count = head->count;                                                                        \
        clv_result result = CLV_OK;                                                                          \
        uint64_t* offsets = malloc( ( head->count + 1 ) * sizeof( uint64_t ) );                              \
        clv_query_lists##suffix lists = { offsets, hits, capacity, 0, 0 };                                   \
        switch ( head->question )                                                                            \
        {                                                                                                    \
        case 0:                                                                                              \
            result = clv_space_query_all##suffix( space, &queries, &lists );                                 \
            count = lists.count;                                                                             \
            break;                                                                                           \
        case 1: result = clv_space_query_any##suffix( space, &queries, hits, NULL ); break;                  \
        case 2: result = clv_space_query_closest##suffix( space, &queries, hits, NULL ); break;              \
        default:                                                                                             \
            result = clv_space_query_nearest##suffix( space, &queries, head->k, (real)2, hits, NULL );       \
            count *= head->k;                                                                                \
        }                                                                                                    \
        if ( result != CLV_OK )                                                                              \
        {                                                                                                    \
            stop( clv_result_text( result ) );                                                               \
        }                                                                                                    \
        free( offsets );                                                                                     \
        return count;                                                                                        \
    }
ASK(, float )
ASK( 64, double )
#undef ASK

static const void* make_regions(
    const query_head* head, const uint32_t* offsets, const clv_vec64* origins, const char* planes )
{
    char* regions = malloc( ( head->region_count + 1 ) * sizeof( clv_half_spaces64 ) );
    for ( uint32_t i = 0; i < head->region_count; ++i )
    {
        uint32_t count = offsets[i + 1] - offsets[i];
        clv_half_spaces solid = { (const clv_plane*)(const void*)planes + offsets[i], count };
        clv_half_planes flat = { (const clv_half_plane*)(const void*)planes + offsets[i], count };
        clv_half_spaces64 big = { origins[i], (const clv_plane64*)(const void*)planes + offsets[i], count };
        switch ( head->kind )
        {
        case CLV_QUERY_HALF_SPACES64: ( (clv_half_spaces64*)(void*)regions )[i] = big; break;
        case CLV_QUERY_HALF_PLANES: ( (clv_half_planes*)(void*)regions )[i] = flat; break;
        default: ( (clv_half_spaces*)(void*)regions )[i] = solid;
        }
    }
    return regions;
}

// One list: the number of hits, and a hash of their indices and times.
static void answer_list( const clv_space* space, reader* from )
{
    static clv_hit hits[1 << 20];
    static clv_hit64 hits64[1 << 20];
    const query_head* head = take( from, sizeof( query_head ) );
    const uint32_t* offsets = take( from, head->region_count > 0 ? 4 * ( head->region_count + 1 ) : 0 );
    const clv_vec64* origins = take( from, head->region_count * sizeof( clv_vec64 ) );
    const void* given = take( from, head->item_bytes );
    const void* items = head->region_count > 0 ? make_regions( head, offsets, origins, given ) : given;
    bool is_double = head->kind >= CLV_QUERY_POINT64;
    uint64_t count =
        is_double ? ask64( space, head, items, hits64, 1 << 20 ) : ask( space, head, items, hits, 1 << 20 );
    uint32_t hash = 2166136261u;
    for ( uint64_t i = 0; i < count; ++i )
    {
        hash = hash_bytes( hash, is_double ? &hits64[i].index : &hits[i].index, 4 );
        hash = is_double ? hash_bytes( hash, &hits64[i].t, 8 ) : hash_bytes( hash, &hits[i].t, 4 );
    }
    printf( "%" PRIu64 " %" PRIu32 "\n", count, hash );
    free( items != given ? (void*)items : NULL );
}

static int answer_questions( FILE* file )
{
    fseek( file, 0, SEEK_END );
    size_t size = (size_t)ftell( file );
    char* bytes = malloc( size + 8 );
    rewind( file );
    if ( bytes == NULL || fread( bytes, 1, size, file ) != size )
    {
        stop( "cannot read the questions" );
    }
    reader from = { bytes, 0, size };
    const uint32_t* sizes = take( &from, 2 * sizeof( uint32_t ) ); // world, boxes
    const size_t box_bytes[] = { sizeof( clv_aabb ), sizeof( clv_aabb2 ), sizeof( clv_aabb64 ) };
    const void* boxes = take( &from, box_bytes[sizes[0]] * sizes[1] );
    clv_space_def def = clv_default_space_def();
    def.flat = sizes[0] == 1;
    def.doubles = sizes[0] == 2;
    clv_space* space = NULL;
    clv_add_def add = clv_default_add_def();
    add.boxes = sizes[0] == 0 ? boxes : NULL;
    add.boxes2 = def.flat ? boxes : NULL;
    add.boxes64 = def.doubles ? boxes : NULL;
    if ( clv_space_create( &def, &space ) != CLV_OK ||
        clv_space_add_with( space, &add, sizes[1], NULL ) != CLV_OK || clv_space_update( space ) != CLV_OK )
    {
        stop( "no space" );
    }
    while ( from.at < from.size )
    {
        answer_list( space, &from );
    }
    clv_space_destroy( space );
    free( bytes );
    return 0;
}

// ---- time

static double now_ms( void )
{
    struct timespec now;
    timespec_get( &now, TIME_UTC );
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

// Every frame as packed boxes, and the least time of several passes of each: boxes in, update, list. The mean
// over frames.
static int time_frames( FILE* file )
{
    enum
    {
        PASSES = 7,
        MOST_FRAMES = 1000
    };
    unsigned char header[HEADER_BYTES];
    int32_t sizes[2];
    if ( fread( header, 1, HEADER_BYTES, file ) != HEADER_BYTES )
    {
        stop( "the file ends early" );
    }
    memcpy( sizes, header + 256, sizeof( sizes ) );
    uint32_t count = (uint32_t)sizes[0], frame_count = (uint32_t)sizes[1] + 1;
    clv_aabb* boxes = malloc( (size_t)count * frame_count * sizeof( clv_aabb ) );
    clv_id* ids = malloc( count * sizeof( clv_id ) );
    if ( boxes == NULL || ids == NULL || frame_count > MOST_FRAMES )
    {
        stop( "no memory, or too many frames" );
    }
    for ( size_t i = 0; i < (size_t)count * frame_count; ++i )
    {
        float corners[BOX_FLOATS];
        if ( fread( corners, sizeof( corners ), 1, file ) != 1 )
        {
            stop( "the file ends early" );
        }
        memcpy( &boxes[i].lower, corners, sizeof( clv_vec3 ) );
        memcpy( &boxes[i].upper, corners + 4, sizeof( clv_vec3 ) );
    }
    double least[MOST_FRAMES], sum = 0.0;
    for ( int pass = 0; pass < PASSES; ++pass )
    {
        clv_space_def def = clv_default_space_def();
        clv_space* space = NULL;
        if ( clv_space_create( &def, &space ) != CLV_OK ||
            clv_space_add( space, boxes, count, ids ) != CLV_OK || clv_space_update( space ) != CLV_OK )
        {
            stop( "no space" );
        }
        for ( uint32_t frame = 1; frame < frame_count; ++frame )
        {
            double start = now_ms();
            clv_space_move( space, ids, boxes + (size_t)count * frame, count );
            clv_space_update( space );
            bool is_good = clv_space_pairs( space ).valid;
            double took = is_good ? now_ms() - start : 0.0;
            least[frame] = pass == 0 || took < least[frame] ? took : least[frame];
        }
        clv_space_destroy( space );
    }
    for ( uint32_t frame = 1; frame < frame_count; ++frame )
    {
        sum += least[frame];
    }
    printf( "%.4f\n", sum / ( frame_count - 1 ) );
    free( ids );
    free( boxes );
    return 0;
}

int main( int argc, char** argv )
{
    FILE* file = argc == 3 ? fopen( argv[1], "rb" ) : NULL;
    if ( file != NULL && strcmp( argv[2], "questions" ) == 0 )
    {
        return answer_questions( file );
    }
    if ( file != NULL && strcmp( argv[2], "time" ) == 0 )
    {
        return time_frames( file );
    }
    unsigned char header[HEADER_BYTES];
    if ( file == NULL || fread( header, 1, HEADER_BYTES, file ) != HEADER_BYTES )
    {
        stop( "usage: native FILE.aabbs METHOD | FILE.aabbs time | FILE questions" );
    }
    // Little-endian like the machines that have emscripten.
    const int32_t* sizes = (const int32_t*)(const void*)( header + 256 );
    uint32_t count = (uint32_t)sizes[0];
    float* floats = malloc( count * BOX_FLOATS * sizeof( float ) );
    clv_id* ids = malloc( count * sizeof( clv_id ) );
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    def.method = argv[2];
    if ( floats == NULL || ids == NULL || clv_methods_register() != CLV_OK ||
        clv_space_create( &def, &space ) != CLV_OK )
    {
        stop( "no such method, or no memory" );
    }
    clv_box_stream boxes = { floats, floats + 4, BOX_FLOATS * sizeof( float ) };
    for ( int32_t frame = 0; frame <= sizes[1]; ++frame )
    {
        if ( fread( floats, BOX_FLOATS * sizeof( float ), count, file ) != count )
        {
            stop( "the file ends early" );
        }
        clv_result result = frame == 0 ? clv_space_add_strided( space, boxes, count, ids )
                                       : clv_space_move_strided( space, ids, boxes, count );
        if ( result != CLV_OK || clv_space_update( space ) != CLV_OK )
        {
            stop( clv_space_error( space ).text );
        }
        clv_pair_view view = clv_space_pairs( space );
        printf( "%" PRIu64 " %" PRIu32 "\n", view.count, hash_list( view ) );
    }
    clv_space_destroy( space );
    free( ids );
    free( floats );
    fclose( file );
    return 0;
}
