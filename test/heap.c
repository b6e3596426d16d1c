// SPDX-License-Identifier: MIT
#include "heap.h"

#include <stdlib.h>
#include <string.h>

enum
{
    ALLOCATED_BYTE = 0xCD, // what fresh memory holds: it is not zeroed
};

// In front of each block; found again through the pointer stored right below the data.
typedef struct block_head
{
    void* block;
    size_t size;
    size_t alignment;
} block_head;

static bool must_refuse( const heap* self )
{
    return self->refuse_from != 0 && self->allocate_count >= self->refuse_from &&
        self->allocate_count - self->refuse_from < self->refuse_count;
}

static void* allocate( size_t size, size_t alignment, void* user )
{
    heap* self = user;
    self->allocate_count += 1;
    CHECK( size > 0 );
    CHECK( alignment > 0 && ( alignment & ( alignment - 1 ) ) == 0 );
    if ( must_refuse( self ) )
    {
        self->refused_count += 1;
        return NULL;
    }
    size_t extra = alignment + sizeof( block_head );
    char* block = size <= SIZE_MAX - extra ? malloc( size + extra ) : NULL;
    if ( block == NULL )
    {
        return NULL;
    }
    uintptr_t start = ( (uintptr_t)block + extra - 1 ) & ~(uintptr_t)( alignment - 1 );
    char* data = block + ( start - (uintptr_t)block );
    block_head head = { block, size, alignment };
    memcpy( data - sizeof( head ), &head, sizeof( head ) );
    memset( data, ALLOCATED_BYTE, size );
    self->bytes += size;
    self->peak_bytes = self->bytes > self->peak_bytes ? self->bytes : self->peak_bytes;
    self->block_count += 1;
    return data;
}

static void release( void* memory, size_t size, size_t alignment, void* user )
{
    heap* self = user;
    CHECK( memory != NULL );
    block_head head;
    memcpy( &head, (char*)memory - sizeof( head ), sizeof( head ) );
    CHECK_EQUAL( size, head.size );
    CHECK_EQUAL( alignment, head.alignment );
    self->bytes -= size;
    self->block_count -= 1;
    self->release_count += 1;
    memset( memory, ~ALLOCATED_BYTE & 0xFF, size );
    free( head.block );
}

clv_allocator heap_hooks( heap* self )
{
    return ( clv_allocator ){ allocate, release, self };
}

void heap_heal( heap* self )
{
    self->refuse_from = 0;
}
