// SPDX-License-Identifier: MIT
// More boxes than the device has room to search at once: in blocks, every block alone and with every other,
// by a second gpu on the same queue. A pair lies in one block or in two, so none is lost however the boxes
// lie, and with n(i) and n(i, j) pairs in a block and in two together there are sum of n(i) + sum of n(i,
// j) - n(i) - n(j) in all. The boxes are on the device whole; the list never is.
#include "base/assertion.h"
#include "gpu_state.h"

#include <string.h>

// Bytes that a search takes per box, whatever the way: records twice, places, cells, tables, and boxes to
// compare with.
#define BYTES_PER_BOX 176

uint32_t clv_gpu_chunk_most( const clv_gpu* gpu )
{
    const gpu_device* device = gpu->device;
    uint64_t most = device->facts.memory_bytes / 2 / BYTES_PER_BOX;
    uint64_t records = device->allocation_most / 32;
    most = most < records ? most : records;
    most = gpu->def.box_most > 0 ? gpu->def.box_most : most;
    most = most < 2 ? 2 : most;
    return most < CLV_MAX_OBJECTS ? (uint32_t)most : CLV_MAX_OBJECTS;
}

void clv_gpu_chunks_close( clv_gpu* gpu )
{
    clv_gpu_destroy( gpu->inner );
    gpu->inner = NULL;
}

static clv_result open_inner( clv_gpu* gpu )
{
    if ( gpu->inner != NULL )
    {
        return CLV_OK;
    }
    clv_gpu_def def = gpu->def;
    def.queue = gpu->queue;
    def.events = false;
    def.box_most = CLV_MAX_OBJECTS;
    def.logger = ( clv_logger ){ 0 }; // what it says is said again here
    clv_result result = clv_gpu_create_beside( gpu, &def, &gpu->inner );
    return result == CLV_OK
        ? result
        : clv_gpu_fail( gpu, result, "%s: no second search for boxes in blocks", gpu->device->facts.name );
}

// ---- blocks

static uint32_t block_count( const clv_gpu* gpu )
{
    uint32_t block = clv_gpu_chunk_most( gpu ) / 2;
    return ( gpu->frame.count + block - 1 ) / block;
}

typedef struct block_range
{
    uint32_t first, count;
} block_range;

static block_range range_of( const clv_gpu* gpu, uint32_t index )
{
    uint32_t block = clv_gpu_chunk_most( gpu ) / 2;
    CLV_ASSERT( block > 0 && (uint64_t)index * block < gpu->frame.count );
    uint32_t first = index * block;
    uint32_t left = gpu->frame.count - first;
    return ( block_range ){ first, left < block ? left : block };
}

static clv_result copy_block( clv_gpu* gpu, block_range from, uint32_t to )
{
    uint64_t words = 3 * (uint64_t)from.count; // of 8 bytes, as boxes are aligned
    CLV_ASSERT( from.first + from.count <= gpu->frame.count );
    CLV_ASSERT( gpu_holds( &gpu->buffers.chunk, (uint64_t)to + from.count, sizeof( clv_aabb ) ) );
    return GPU_LAUNCH(
        gpu, GPU_KERNEL_copy_boxes, words, gpu->frame.boxes, gpu->buffers.chunk, from.first, to, from.count );
}

// Pairs of block a, and with b other than a of both together, in the second gpu.
static clv_result search_blocks( clv_gpu* gpu, uint32_t a, uint32_t b )
{
    block_range own = range_of( gpu, a );
    block_range other = range_of( gpu, b );
    uint32_t count = a == b ? own.count : own.count + other.count;
    CLV_ASSERT( gpu->inner != NULL && count <= clv_gpu_chunk_most( gpu ) );
    clv_result result = copy_block( gpu, own, 0 );
    result = result == CLV_OK && a != b ? copy_block( gpu, other, own.count ) : result;
    if ( result != CLV_OK )
    {
        return result;
    }
    gpu->stats.search_count += 1;
    result = clv_gpu_update_buffer( gpu->inner, gpu->buffers.chunk.memory, count );
    return result == CLV_OK ? result : clv_gpu_fail( gpu, result, "%s", clv_gpu_error( gpu->inner ) );
}

// ---- counting

clv_result clv_gpu_chunks_count( clv_gpu* gpu )
{
    CLV_ASSERT( gpu->is_chunked );
    uint32_t blocks = block_count( gpu );
    uint64_t total = 0;
    uint64_t tests = 0;
    clv_result result = open_inner( gpu );
    GPU_THEN( result,
        clv_gpu_reserve(
            gpu, &gpu->buffers.chunk, (uint64_t)clv_gpu_chunk_most( gpu ) * sizeof( clv_aabb ) ) );
    for ( uint32_t a = 0; a < blocks && result == CLV_OK; ++a )
    {
        result = search_blocks( gpu, a, a );
        uint64_t alone = clv_gpu_pair_count( gpu->inner );
        tests += clv_gpu_get_stats( gpu->inner ).test_count;
        total +=
            alone; // and once too often with each other block, which the counts of two together have again
        for ( uint32_t b = 0; b < blocks && result == CLV_OK; ++b )
        {
            if ( b > a )
            {
                result = search_blocks( gpu, a, b );
                total += clv_gpu_pair_count( gpu->inner );
                tests += clv_gpu_get_stats( gpu->inner ).test_count;
            }
            total -= b != a ? alone : 0; // may pass below 0 on the way: numbers go around
        }
    }
    gpu->counters.pair_count = total;
    gpu->counters.test_count = tests;
    gpu->is_piecewise = true;
    if ( result == CLV_OK )
    {
        clv_gpu_stats stats = clv_gpu_get_stats( gpu->inner );
        gpu->frame.way = stats.way;
        gpu->stats.cell_count = stats.cell_count;
        gpu->stats.level_count = stats.level_count;
        gpu->stats.axis = stats.axis;
    }
    return result;
}

// ---- reading

typedef struct chunk_visit
{
    block_range own, other;
    clv_pair_visitor* visit;
    void* user;
    uint64_t seen;
    bool is_stopped;
} chunk_visit;

// Indices of the two blocks become indices of all; pairs within one block have been told already.
static bool pass_on( const clv_pair* pairs, size_t count, void* user )
{
    enum
    {
        ROOM = 1024
    };
    chunk_visit* chunk = user;
    bool is_alone = chunk->own.first == chunk->other.first;
    uint32_t border = chunk->own.count;
    clv_pair kept[ROOM];
    size_t fill = 0;
    for ( size_t i = 0; i < count && !chunk->is_stopped; ++i )
    {
        clv_pair pair = pairs[i]; // a < b, so b is in the second block if any is
        bool is_across = pair.a < border && pair.b >= border;
        if ( is_alone || is_across )
        {
            uint32_t b = is_across ? chunk->other.first + pair.b - border : chunk->own.first + pair.b;
            CLV_ASSERT( fill < ROOM );
            kept[fill++] = ( clv_pair ){ chunk->own.first + pair.a, b };
        }
        if ( fill == ROOM || ( i + 1 == count && fill > 0 ) )
        {
            chunk->is_stopped = !chunk->visit( kept, fill, chunk->user );
            chunk->seen += fill;
            fill = 0;
        }
    }
    return !chunk->is_stopped;
}

clv_result clv_gpu_chunks_read( clv_gpu* gpu, clv_pair_visitor* visit, void* user )
{
    CLV_ASSERT( gpu->is_chunked && gpu->is_piecewise && gpu->inner != NULL );
    uint32_t blocks = block_count( gpu );
    chunk_visit chunk = { .visit = visit, .user = user };
    clv_result result = CLV_OK;
    gpu->stats.piece_count = 0;
    for ( uint32_t a = 0; a < blocks && result == CLV_OK; ++a )
    {
        for ( uint32_t b = a; b < blocks && result == CLV_OK; ++b )
        {
            chunk.own = range_of( gpu, a );
            chunk.other = range_of( gpu, b );
            result = search_blocks( gpu, a, b );
            GPU_THEN( result, clv_gpu_read_pairs( gpu->inner, pass_on, &chunk ) );
            gpu->stats.piece_count += 1;
        }
    }
    if ( result == CLV_OK && chunk.seen != gpu->counters.pair_count )
    {
        result = clv_gpu_fail( gpu, CLV_DEVICE_FAILED, "%llu pairs came in blocks of what were %llu",
            (unsigned long long)chunk.seen, (unsigned long long)gpu->counters.pair_count );
    }
    return result;
}
