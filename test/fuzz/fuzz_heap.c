// SPDX-License-Identifier: MIT
#include "fuzz_heap.h"

#include "fuzz_bytes.h"

#include <stdlib.h>
#include <string.h>

// Right below the data.
typedef struct block_head
{
    void* block;
    size_t size;
} block_head;

static bool must_refuse( fuzz_heap* heap, size_t size )
{
    if ( heap->most_size > 0 && size > heap->most_size )
    {
        return true;
    }
    if ( heap->refuse_count == 0 )
    {
        return false;
    }
    if ( heap->refuse_after > 0 )
    {
        heap->refuse_after -= 1;
        return false;
    }
    heap->refuse_count -= 1;
    heap->refused += 1;
    return true;
}

static void* allocate( size_t size, size_t alignment, void* user )
{
    fuzz_heap* heap = user;
    FUZZ_CHECK( size > 0 && alignment > 0 && ( alignment & ( alignment - 1 ) ) == 0, "%zu bytes at %zu", size,
        alignment );
    size_t extra = alignment + sizeof( block_head );
    char* block = must_refuse( heap, size ) || size > SIZE_MAX - extra ? NULL : malloc( size + extra );
    if ( block == NULL )
    {
        return NULL;
    }
    uintptr_t start = ( (uintptr_t)block + extra - 1 ) & ~(uintptr_t)( alignment - 1 );
    char* data = block + ( start - (uintptr_t)block );
    block_head head = { block, size };
    memcpy( data - sizeof( head ), &head, sizeof( head ) );
    memset( data, 0xCD, size ); // fresh memory is not zeroed
    heap->bytes += size;
    heap->block_count += 1;
    return data;
}

static void release( void* memory, size_t size, size_t alignment, void* user )
{
    (void)alignment;
    fuzz_heap* heap = user;
    block_head head;
    memcpy( &head, (char*)memory - sizeof( head ), sizeof( head ) );
    FUZZ_CHECK( head.size == size, "%zu bytes were taken, %zu came back", head.size, size );
    heap->bytes -= size;
    heap->block_count -= 1;
    free( head.block );
}

clv_allocator fuzz_heap_hooks( fuzz_heap* heap )
{
    return ( clv_allocator ){ allocate, release, heap };
}
