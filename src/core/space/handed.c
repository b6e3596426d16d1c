// SPDX-License-Identifier: MIT
// What a method handed over, before anything is made of it. Pairs index columns from here on, so a slot that
// is not there would be read and written past their ends.
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/heap_sort.h"

enum
{
    DISTINCT_ROOM = 1024, // pairs that are compared with each other
};

#ifndef NDEBUG

static void assert_pairs( const clv_space* space, const clv_pair* pairs, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( pairs[i].a < pairs[i].b );
        CLV_ASSERT( pairs[i].b < space->objects.slot_count );
        CLV_ASSERT( object_is_live_at( &space->objects, pairs[i].a ) );
        CLV_ASSERT( object_is_live_at( &space->objects, pairs[i].b ) );
    }
}

#else

static void assert_pairs( const clv_space* space, const clv_pair* pairs, uint64_t count )
{
    (void)space;
    (void)pairs;
    (void)count;
}

#endif

// Without a branch, so that compilers make vectors of it.
static bool has_stray( const clv_pair* pairs, uint64_t count, uint32_t slot_count )
{
    uint32_t bad = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        bad |= (uint32_t)( pairs[i].a >= slot_count ) | (uint32_t)( pairs[i].b >= slot_count );
    }
    return bad != 0;
}

// The first pair with a slot that is not there; `count` if there is none.
static uint64_t find_stray( const clv_pair* pairs, uint64_t count, uint32_t slot_count )
{
    uint64_t i = has_stray( pairs, count, slot_count ) ? 0 : count;
    while ( i < count && pairs[i].a < slot_count && pairs[i].b < slot_count )
    {
        ++i;
    }
    return i;
}

clv_result clv_space_check_handed( clv_space* space, const clv_pair* pairs, uint64_t count )
{
    uint64_t good = space->method->is_trusted ? count : find_stray( pairs, count, space->objects.slot_count );
    CLV_ASSERT( good <= count );
    assert_pairs( space, pairs, good );
    if ( good < count && !space->has_stray )
    {
        space->has_stray = true;
        space->stray = pairs[good];
        space->stray_position = space->handed_count + good;
    }
    space->handed_count += count;
    // Once told it is told for the whole update: the method may not have listened.
    return space->has_stray ? CLV_BAD_ARGUMENT : CLV_OK;
}

static int compare_keys( const void* a, const void* b )
{
    uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
    return ( left > right ) - ( left < right );
}

// Without memory: what a space takes must not depend on the build. So of a long list a part is looked at,
// another one in each update.
bool clv_space_list_is_distinct( const clv_space* space )
{
    uint64_t keys[DISTINCT_ROOM], count = space_pair_count( space );
    const clv_pair* pairs = space->borrowed != NULL ? space->borrowed : space->list.items;
    uint64_t part_count = count <= DISTINCT_ROOM ? 1 : 2 * count / DISTINCT_ROOM + 1;
    size_t taken = 0;
    for ( uint64_t i = 0; i < count && taken < DISTINCT_ROOM; ++i )
    {
        uint64_t key = (uint64_t)pairs[i].a << 32 | pairs[i].b;
        uint64_t part = ( key * UINT64_C( 0x9E3779B97F4A7C15 ) >> 32 ) % part_count;
        if ( part == space->list_number % part_count )
        {
            keys[taken++] = key;
        }
    }
    clv_base_heap_sort( keys, taken, sizeof( keys[0] ), compare_keys );
    bool is_distinct = true;
    for ( size_t i = 1; i < taken; ++i )
    {
        is_distinct = is_distinct && keys[i] != keys[i - 1];
    }
    return is_distinct;
}
