// SPDX-License-Identifier: MIT
#include "base/array.h"
#include "heap.h"

#include <string.h>

static void memory_is_aligned_and_counted( void )
{
    heap hooks = { 0 };
    base_memory memory = clv_base_memory_make( heap_hooks( &hooks ) );
    void* blocks[40];
    size_t total = 0;
    for ( uint32_t i = 0; i < 40; ++i )
    {
        blocks[i] = clv_base_memory_take( &memory, i + 1, 12 );
        CHECK( blocks[i] != NULL );
        CHECK_EQUAL( (uintptr_t)blocks[i] % BASE_ALIGNMENT, 0 );
        total += ( i + 1 ) * 12;
        CHECK_EQUAL( memory.bytes, total );
        CHECK_EQUAL( hooks.bytes, total );
    }
    for ( uint32_t i = 0; i < 40; ++i )
    {
        clv_base_memory_give( &memory, blocks[i], i + 1, 12 );
    }
    CHECK_EQUAL( memory.bytes, 0 );
    CHECK_EQUAL( memory.peak_bytes, total );
    CHECK_EQUAL( memory.allocation_count, 40 );
    CHECK_EQUAL( hooks.block_count, 0 );
}

static void zero_hooks_mean_the_c_library( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    for ( uint32_t size = 1; size < 300; ++size )
    {
        unsigned char* data = clv_base_memory_take( &memory, size, 1 );
        CHECK( data != NULL );
        CHECK_EQUAL( (uintptr_t)data % BASE_ALIGNMENT, 0 );
        memset( data, 0xA5, size );
        clv_base_memory_give( &memory, data, size, 1 );
    }
    // From 2 MiB on blocks begin with a large page, where there are such.
    for ( size_t size = ( (size_t)2 << 20 ) - 1; size < (size_t)8 << 20; size += ( (size_t)1 << 20 ) + 1 )
    {
        unsigned char* data = clv_base_memory_take( &memory, size, 1 );
        CHECK( data != NULL );
        CHECK_EQUAL( (uintptr_t)data % BASE_ALIGNMENT, 0 );
        memset( data, 0x5A, size );
        clv_base_memory_give( &memory, data, size, 1 );
    }
    CHECK_EQUAL( memory.bytes, 0 );
    CHECK( clv_base_memory_take( &memory, SIZE_MAX, 1 ) == NULL );
    CHECK_EQUAL( memory.bytes, 0 );
}

static void sizes_that_do_not_fit_are_refused_without_asking( void )
{
    heap hooks = { 0 };
    base_memory memory = clv_base_memory_make( heap_hooks( &hooks ) );
    CHECK( clv_base_memory_take( &memory, UINT64_MAX, 8 ) == NULL );
    CHECK( clv_base_memory_take( &memory, (uint64_t)SIZE_MAX / 8 + 1, 8 ) == NULL );
    CHECK( clv_base_memory_take( &memory, ( (uint64_t)SIZE_MAX / 24 ) + 1, 24 ) == NULL );
    CHECK( clv_base_memory_take( &memory, 0, 8 ) == NULL );
    CHECK_EQUAL( hooks.allocate_count, 0 );

    void* data = NULL;
    uint64_t capacity = 0;
    CHECK( !clv_base_memory_reserve( &memory, &data, &capacity, 0, UINT64_MAX, 8 ) );
    CHECK( data == NULL && capacity == 0 );
    CHECK_EQUAL( memory.bytes, 0 );
}

static void reserve_keeps_what_was_there_and_grows_by_half( void )
{
    heap hooks = { 0 };
    base_memory memory = clv_base_memory_make( heap_hooks( &hooks ) );
    void* data = NULL;
    uint64_t capacity = 0;
    for ( uint32_t i = 0; i < 5000; ++i )
    {
        CHECK( clv_base_memory_reserve( &memory, &data, &capacity, i, i + 1, sizeof( uint32_t ) ) );
        CHECK( capacity >= i + 1 );
        ( (uint32_t*)data )[i] = i * 7;
    }
    CHECK( hooks.allocate_count < 40 );
    for ( uint32_t i = 0; i < 5000; ++i )
    {
        CHECK_EQUAL( ( (uint32_t*)data )[i], i * 7 );
    }
    CHECK_EQUAL( hooks.bytes, capacity * sizeof( uint32_t ) );

    CHECK( clv_base_memory_resize( &memory, &data, &capacity, 10, 10, sizeof( uint32_t ) ) );
    CHECK_EQUAL( capacity, 10 );
    CHECK_EQUAL( ( (uint32_t*)data )[9], 63 );
    CHECK( clv_base_memory_resize( &memory, &data, &capacity, 0, 0, sizeof( uint32_t ) ) );
    CHECK( data == NULL && capacity == 0 );
    CHECK_EQUAL( hooks.bytes, 0 );
}

static void refused_growth_changes_nothing( void )
{
    heap hooks = { 0 };
    base_memory memory = clv_base_memory_make( heap_hooks( &hooks ) );
    void* data = NULL;
    uint64_t capacity = 0;
    CHECK( clv_base_memory_reserve( &memory, &data, &capacity, 0, 4, 4 ) );
    memcpy( data, "abcdefghijklmno", 16 );
    void* before = data;
    hooks.refuse_from = hooks.allocate_count + 1;
    hooks.refuse_count = UINT64_MAX;
    CHECK( !clv_base_memory_reserve( &memory, &data, &capacity, 4, 5, 4 ) );
    CHECK( data == before && capacity == 4 );
    CHECK( memcmp( data, "abcdefghijklmno", 16 ) == 0 );
    heap_heal( &hooks );
    clv_base_memory_give( &memory, data, capacity, 4 );
    CHECK_EQUAL( hooks.bytes, 0 );
}

static void growth_takes_the_exact_size_where_half_more_is_refused( void )
{
    heap hooks = { 0 };
    base_memory memory = clv_base_memory_make( heap_hooks( &hooks ) );
    void* data = NULL;
    uint64_t capacity = 0;
    CHECK( clv_base_memory_reserve( &memory, &data, &capacity, 0, 100, 4 ) );
    hooks.refuse_from = hooks.allocate_count + 1;
    hooks.refuse_count = 1;
    CHECK( clv_base_memory_reserve( &memory, &data, &capacity, 100, 101, 4 ) );
    CHECK_EQUAL( capacity, 101 );
    clv_base_memory_give( &memory, data, capacity, 4 );
    CHECK_EQUAL( hooks.bytes, 0 );
}

static void renewing_never_holds_twice_as_much( void )
{
    heap hooks = { 0 };
    base_memory memory = clv_base_memory_make( heap_hooks( &hooks ) );
    void* data = NULL;
    uint64_t capacity = 0;
    CHECK( clv_base_memory_renew( &memory, &data, &capacity, 800, 4 ) );
    CHECK_EQUAL( capacity, 900 );
    CHECK( clv_base_memory_renew( &memory, &data, &capacity, 900, 4 ) );
    CHECK_EQUAL( hooks.allocate_count, 1 );
    CHECK( clv_base_memory_renew( &memory, &data, &capacity, 1600, 4 ) );
    CHECK_EQUAL( capacity, 1800 );
    CHECK_EQUAL( hooks.peak_bytes, 1800 * 4 );
    CHECK_EQUAL( memory.peak_bytes, 1800 * 4 );
    hooks.refuse_from = hooks.allocate_count + 1; // an eighth more is refused, the exact size is not
    hooks.refuse_count = 1;
    CHECK( clv_base_memory_renew( &memory, &data, &capacity, 2000, 4 ) );
    CHECK_EQUAL( capacity, 2000 );
    hooks.refuse_from = hooks.allocate_count + 1;
    hooks.refuse_count = UINT64_MAX;
    CHECK( !clv_base_memory_renew( &memory, &data, &capacity, 2001, 4 ) );
    CHECK( data == NULL && capacity == 0 );
    heap_heal( &hooks );
    CHECK( !clv_base_memory_renew( &memory, &data, &capacity, UINT64_MAX, 4 ) );
    CHECK( data == NULL && capacity == 0 );
    CHECK_EQUAL( hooks.bytes, 0 );
    CHECK_EQUAL( memory.bytes, 0 );
}

static void arrays_keep_what_they_count( void )
{
    heap hooks = { 0 };
    base_memory memory = clv_base_memory_make( heap_hooks( &hooks ) );
    base_u32_array array = { 0 };
    CHECK( base_array_reserve( &array, &memory, array.count ) && array.items == NULL ); // nothing for nothing
    for ( uint32_t i = 0; i < 1000; ++i )
    {
        CHECK( base_array_reserve( &array, &memory, array.count + 1 ) );
        array.items[array.count++] = i * 7;
    }
    uint64_t capacity = array.capacity;
    hooks.refuse_from = hooks.allocate_count + 1;
    hooks.refuse_count = UINT64_MAX;
    CHECK( !base_array_reserve( &array, &memory, capacity + 1 ) );
    CHECK( !base_array_shrink( &array, &memory ) );
    CHECK( array.capacity == capacity && array.count == 1000 );
    heap_heal( &hooks );
    CHECK( base_array_shrink( &array, &memory ) );
    CHECK( array.capacity == 1000 );
    for ( uint32_t i = 0; i < 1000; ++i )
    {
        CHECK_EQUAL( array.items[i], i * 7 );
    }
    CHECK_EQUAL( hooks.bytes, 1000 * sizeof( uint32_t ) );
    CHECK( base_array_reserve( &array, &memory, array.capacity + 8 ) ); // what is asked for is looked at once
    CHECK( base_array_renew( &array, &memory, 2000 ) && array.capacity == 2250 );
    base_array_free( &array, &memory );
    CHECK( array.items == NULL && array.count == 0 && array.capacity == 0 );
    CHECK_EQUAL( hooks.bytes, 0 );
}

static void extended_arrays_keep_everything_and_are_zero_behind_it( void )
{
    heap hooks = { 0 };
    base_memory memory = clv_base_memory_make( heap_hooks( &hooks ) );
    base_u64_array array = { 0 };
    uint64_t known = 0;
    for ( uint64_t needed = 1; needed < 3000; needed += 1 + needed / 3 )
    {
        CHECK( base_array_extend( &array, &memory, needed ) && array.capacity >= needed );
        for ( uint64_t i = 0; i < array.capacity; ++i )
        {
            CHECK_EQUAL( array.items[i], i < known ? i + 1 : 0 );
            array.items[i] = i + 1;
        }
        known = array.capacity;
    }
    hooks.refuse_from = hooks.allocate_count + 1;
    hooks.refuse_count = UINT64_MAX;
    CHECK( !base_array_extend( &array, &memory, known + 1 ) );
    CHECK( array.capacity == known && array.items[known - 1] == known );
    heap_heal( &hooks );
    base_array_free( &array, &memory );
    CHECK_EQUAL( hooks.bytes, 0 );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( memory_is_aligned_and_counted ),
        TEST_CASE( zero_hooks_mean_the_c_library ),
        TEST_CASE( sizes_that_do_not_fit_are_refused_without_asking ),
        TEST_CASE( reserve_keeps_what_was_there_and_grows_by_half ),
        TEST_CASE( refused_growth_changes_nothing ),
        TEST_CASE( growth_takes_the_exact_size_where_half_more_is_refused ),
        TEST_CASE( renewing_never_holds_twice_as_much ),
        TEST_CASE( arrays_keep_what_they_count ),
        TEST_CASE( extended_arrays_keep_everything_and_are_zero_behind_it ),
    };
    return test_run( "memory", cases, TEST_COUNT( cases ), argc, argv );
}
