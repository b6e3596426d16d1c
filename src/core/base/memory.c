// SPDX-License-Identifier: MIT
#include "base/memory.h"

#include "base/assertion.h"

#include <stdlib.h>
#include <string.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

// Large blocks begin with a large page, where the system has them for the asking: touched for the first time
// they cost a fraction, and far fewer translations of addresses are needed. The part behind the last whole
// one stays as it is, so that nothing is taken that was not asked for.
static const size_t LARGE_PAGE = (size_t)1 << 21;

// Elsewhere the alignment would be paid for nothing.
static bool has_large_pages( size_t size, size_t alignment )
{
#ifdef MADV_HUGEPAGE
    return size >= LARGE_PAGE && alignment <= LARGE_PAGE;
#else
    (void)size;
    (void)alignment;
    return false;
#endif
}

static void use_large_pages( char* data, size_t size )
{
#ifdef MADV_HUGEPAGE
    (void)madvise( data, size / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE ); // a wish
#else
    (void)data;
    (void)size;
#endif
}

// malloc with any alignment: the block's true start is kept in the word before what the caller sees.
static void* default_allocate( size_t size, size_t alignment, void* user )
{
    (void)user;
    bool is_large = has_large_pages( size, alignment );
    alignment = is_large ? LARGE_PAGE : alignment;
    size_t extra = alignment + sizeof( void* );
    if ( size > SIZE_MAX - extra )
    {
        return NULL;
    }
    char* block = malloc( size + extra );
    if ( block == NULL )
    {
        return NULL;
    }
    uintptr_t start = ( (uintptr_t)block + extra - 1 ) & ~(uintptr_t)( alignment - 1 );
    char* data = block + ( start - (uintptr_t)block );
    memcpy( data - sizeof( void* ), &block, sizeof( void* ) );
    if ( is_large )
    {
        use_large_pages( data, size );
    }
    return data;
}

static void default_release( void* memory, size_t size, size_t alignment, void* user )
{
    (void)size;
    (void)alignment;
    (void)user;
    void* block;
    memcpy( &block, (char*)memory - sizeof( void* ), sizeof( void* ) );
    free( block );
}

base_memory clv_base_memory_make( clv_allocator hooks )
{
    if ( hooks.allocate == NULL )
    {
        hooks = ( clv_allocator ){ default_allocate, default_release, NULL };
    }
    return ( base_memory ){ .hooks = hooks };
}

void* clv_base_memory_take( base_memory* memory, uint64_t count, size_t item_size )
{
    if ( count == 0 || count > SIZE_MAX / item_size )
    {
        return NULL;
    }
    size_t size = (size_t)count * item_size;
    void* data = memory->hooks.allocate( size, BASE_ALIGNMENT, memory->hooks.user );
    memory->allocation_count += 1;
    if ( data != NULL )
    {
        CLV_ASSERT( ( (uintptr_t)data & ( BASE_ALIGNMENT - 1 ) ) == 0 );
        memory->bytes += size;
        memory->peak_bytes = memory->bytes > memory->peak_bytes ? memory->bytes : memory->peak_bytes;
    }
    return data;
}

void clv_base_memory_give( base_memory* memory, void* data, uint64_t count, size_t item_size )
{
    if ( data == NULL )
    {
        return;
    }
    if ( data == memory->watched )
    {
        memory->watched = NULL;
        memory->gone( memory->gone_data );
    }
    size_t size = (size_t)count * item_size;
    CLV_ASSERT( size <= memory->bytes );
    memory->bytes -= size;
    memory->hooks.release( data, size, BASE_ALIGNMENT, memory->hooks.user );
}

void clv_base_memory_charge( base_memory* memory, int64_t bytes )
{
    size_t fewer = bytes < 0 ? (size_t)( 0 - (uint64_t)bytes ) : 0;
    memory->bytes -= fewer < memory->charged_bytes ? fewer : memory->charged_bytes;
    memory->charged_bytes -= fewer < memory->charged_bytes ? fewer : memory->charged_bytes;
    size_t more = bytes > 0 ? (size_t)bytes : 0;
    memory->bytes += more;
    memory->charged_bytes += more;
    memory->peak_bytes = memory->bytes > memory->peak_bytes ? memory->bytes : memory->peak_bytes;
}

bool clv_base_memory_resize( base_memory* memory, void** data, uint64_t* capacity, uint64_t kept,
    uint64_t capacity_wanted, size_t item_size )
{
    CLV_ASSERT( kept <= capacity_wanted && kept <= *capacity );
    if ( capacity_wanted == *capacity )
    {
        return true;
    }
    void* fresh = clv_base_memory_take( memory, capacity_wanted, item_size );
    if ( fresh == NULL && capacity_wanted > 0 )
    {
        return false;
    }
    if ( kept > 0 )
    {
        memcpy( fresh, *data, (size_t)kept * item_size );
    }
    clv_base_memory_give( memory, *data, *capacity, item_size );
    *data = fresh;
    *capacity = capacity_wanted;
    return true;
}

bool clv_base_memory_reserve(
    base_memory* memory, void** data, uint64_t* capacity, uint64_t kept, uint64_t needed, size_t item_size )
{
    if ( needed <= *capacity )
    {
        return true;
    }
    uint64_t grown = *capacity + *capacity / 2;
    uint64_t wanted = grown > needed ? grown : needed;
    if ( clv_base_memory_resize( memory, data, capacity, kept, wanted, item_size ) )
    {
        return true;
    }
    // The comfortable size was refused; the exact one may still be there.
    return wanted > needed && clv_base_memory_resize( memory, data, capacity, kept, needed, item_size );
}

bool clv_base_memory_renew(
    base_memory* memory, void** data, uint64_t* capacity, uint64_t needed, size_t item_size )
{
    if ( needed <= *capacity )
    {
        return true;
    }
    clv_base_memory_give( memory, *data, *capacity, item_size );
    uint64_t wanted = needed < UINT64_MAX / 2 ? needed + needed / 8 : needed;
    *data = clv_base_memory_take( memory, wanted, item_size );
    if ( *data == NULL )
    {
        wanted = needed;
        *data = clv_base_memory_take( memory, wanted, item_size );
    }
    *capacity = *data != NULL ? wanted : 0;
    return *data != NULL;
}
