// SPDX-License-Identifier: MIT
// New boxes of objects that are there: for ids in any order, or for a row of slots. Each goes to its
// place, and the bits of those that moved are set.
#include "object/store.h"

#include "base/assertion.h"
#include "base/bit_set.h"

#include <string.h>

// Slots that lie near each other have their bits in two words, of which the first is that of slot `base`.
static inline void mark_near( uint64_t* moved, uint32_t base, uint64_t bits )
{
    uint64_t above = UINT64_MAX << ( base & 63 ), wrapped = bits & ~above;
    moved[base >> 6] |= bits & above;
    moved[( base >> 6 ) + ( wrapped != 0 )] |= wrapped;
}

void clv_object_store_mark(
    object_store* store, const clv_id* ids, uint32_t count, bool ascend, uint64_t bits )
{
    CLV_ASSERT( count <= OBJECT_RUN );
    if ( !store->moved_is_known || bits == 0 )
    {
        return;
    }
    if ( ascend && ids[count - 1].index - ids[0].index < 64 )
    {
        mark_near( store->moved.items, ids[0].index, bits );
        return;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        base_bits_add( store->moved.items, ids[i].index );
    }
}

// Two boxes are three registers. Of all at once compilers would make a call, or one instruction that takes as
// long to begin as all of this. Returns the bits of the slots.
static inline uint64_t put_row( clv_aabb* own, const char* boxes, uint32_t slot )
{
    uint64_t low = base_bits_low( OBJECT_RUN );
    for ( uint32_t i = 0; i < OBJECT_RUN; i += 2, boxes += 2 * sizeof( clv_aabb ) )
    {
        memcpy( &own[slot + i], boxes, 2 * sizeof( clv_aabb ) );
    }
    return low << ( slot & 63 ) | low >> 1 >> ( ~slot & 63 );
}

// Records for a run of slots near each other. Returns their bits, each at its slot's number modulo 64.
static inline uint64_t put_near( clv_aabb* own, const clv_id* ids, const char* boxes )
{
    uint64_t bits = 0;
    BASE_UNROLL( 8 )
    for ( uint32_t i = 0; i < OBJECT_RUN; ++i, boxes += sizeof( clv_aabb ) )
    {
        uint32_t slot = ids[i].index; // once: a box stored might be an id
        memcpy( &own[slot], boxes, sizeof( clv_aabb ) );
        bits |= (uint64_t)1 << ( slot & 63 );
    }
    return bits;
}

// Records for slots wherever they are, each marked in its word, unless there are none.
static inline void put_anywhere(
    clv_aabb* own, const clv_id* ids, const char* boxes, uint32_t count, uint64_t* words )
{
    BASE_UNROLL( 2 )
    for ( uint32_t i = 0; i < count; ++i, boxes += sizeof( clv_aabb ) )
    {
        uint32_t slot = ids[i].index;
        memcpy( &own[slot], boxes, sizeof( clv_aabb ) );
        if ( words != NULL )
        {
            base_bits_add( words, slot );
        }
    }
}

static void scatter_records(
    object_store* store, const clv_id* ids, const char* boxes, uint32_t count, bool ascend, uint64_t* words )
{
    clv_aabb* own = object_boxes( store );
    for ( uint32_t some; count > 0; count -= some, ids += some, boxes += sizeof( clv_aabb ) * some )
    {
        some = !ascend || count < OBJECT_RUN ? count : OBJECT_RUN;
        uint32_t wide = ids[some - 1].index - ids[0].index;
        if ( words == NULL || some != OBJECT_RUN || !ascend || wide >= 64 )
        {
            put_anywhere( own, ids, boxes, some, words );
            continue;
        }
        bool is_row = wide == OBJECT_RUN - 1;
        uint64_t bits = is_row ? put_row( own, boxes, ids[0].index ) : put_near( own, ids, boxes );
        mark_near( words, ids[0].index, bits );
    }
}

void clv_object_store_scatter_boxes( object_store* store, const clv_id* ids, const void* lower,
    const void* upper, size_t stride, uint32_t count, bool ascend )
{
    CLV_ASSERT( store->columns[OBJECT_GIVEN_BOX] == NULL );
    uint64_t* words = store->moved_is_known ? store->moved.items : NULL;
    const char *low = lower, *high = upper;
    if ( stride == sizeof( clv_aabb ) && high == low + sizeof( clv_vec3 ) )
    {
        scatter_records( store, ids, low, count, ascend, words );
        return;
    }
    const simd_kernels* kernels = store->kernels;
    clv_aabb* own = object_boxes( store );
    for ( uint32_t some; count > 0; count -= some, ids += some, low += stride * some, high += stride * some )
    {
        some = !ascend || count < OBJECT_RUN ? count : OBJECT_RUN;
        if ( words == NULL || some != OBJECT_RUN || !ascend || ids[some - 1].index - ids[0].index >= 64 )
        {
            kernels->put_anywhere( own, ids, low, high, stride, some, words );
            continue;
        }
        mark_near( words, ids[0].index, kernels->put_near( own, ids, low, high, stride ) );
    }
}

// As clv_aabb_grow, without a branch: a margin of 0 becomes +0 to be taken off and -0 to be added, which
// leave every face bit by bit. Face by face from where they lie: copies of boxes would be stored and loaded
// again.
void clv_object_store_scatter_grown( object_store* store, const clv_id* ids, const void* lower,
    const void* upper, size_t stride, uint32_t count, bool ascend )
{
    CLV_ASSERT( object_store_grows_plainly( store ) && count <= OBJECT_RUN );
    clv_aabb *all = object_boxes( store ), *all_given = store->columns[OBJECT_GIVEN_BOX];
    const float* margins = store->columns[OBJECT_MARGIN];
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count;
          ++i, lower = (const char*)lower + stride, upper = (const char*)upper + stride )
    {
        clv_aabb *own = &all[ids[i].index], *given = &all_given[ids[i].index];
        float margin = margins[ids[i].index], off = margin + 0.0f, on = -( 0.0f - margin );
        for ( size_t axis = 0; axis < 3; ++axis )
        {
            float low, high;
            memcpy( &low, (const char*)lower + axis * sizeof( float ), sizeof( float ) );
            memcpy( &high, (const char*)upper + axis * sizeof( float ), sizeof( float ) );
            ( &given->lower.x )[axis] = low;
            ( &given->upper.x )[axis] = high;
            ( &own->lower.x )[axis] = low - off;
            ( &own->upper.x )[axis] = high + on;
        }
        bits |= (uint64_t)1 << ( ids[i].index & 63 );
    }
    clv_object_store_mark( store, ids, count, ascend, bits );
}

enum
{
    GROUP = 8,        // boxes that are compared in one go
    BLOCK = 128,      // and to see whether most move
    BLIND = 4 * BLOCK // noted then, the first time
};

static inline bool are_same( const clv_aabb* a, const clv_aabb* b, uint32_t count )
{
    uint64_t different = 0;
    for ( uint32_t i = 0; i < count * sizeof( clv_aabb ); i += sizeof( uint64_t ) )
    {
        uint64_t left, right;
        memcpy( &left, (const char*)a + i, sizeof( left ) );
        memcpy( &right, (const char*)b + i, sizeof( right ) );
        different |= left ^ right;
    }
    return different == 0;
}

static void mark_moved( object_store* store, uint32_t from, uint32_t to )
{
    for ( ; from < to && ( from & 63 ) != 0; ++from )
    {
        base_bits_add( store->moved.items, from );
    }
    for ( ; to - from >= 64; from += 64 )
    {
        store->moved.items[from >> 6] = UINT64_MAX;
    }
    for ( ; from < to; ++from )
    {
        base_bits_add( store->moved.items, from );
    }
}

// Most boxes are as before, or most are not: either way the common branch is known beforehand.
// Returns how many differ.
static uint32_t note_group( object_store* store, uint32_t slot, const clv_aabb* boxes, uint32_t count )
{
    uint32_t changed = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint64_t different = !are_same( &object_boxes( store )[slot + i], &boxes[i], 1 );
        store->moved.items[( slot + i ) >> 6] |= different << ( ( slot + i ) & 63 );
        changed += (uint32_t)different;
    }
    return changed;
}

// Marks the slots whose box differs. Returns how many do; the boxes of groups without one were checked
// before.
static uint32_t note_block( object_store* store, uint32_t slot, const clv_aabb* boxes, uint32_t count,
    bool ( *boxes_are_good )( const clv_aabb* boxes, uint32_t count ), bool* good )
{
    uint32_t changed = 0;
    for ( uint32_t done = 0; done < count; done += GROUP )
    {
        uint32_t some = count - done < GROUP ? count - done : GROUP;
        if ( !are_same( &object_boxes( store )[slot + done], &boxes[done], some ) )
        {
            changed += note_group( store, slot + done, &boxes[done], some );
            *good &= boxes_are_good( &boxes[done], some );
        }
    }
    return changed;
}

bool clv_object_store_check_boxes( object_store* store, uint32_t slot, const clv_aabb* boxes, uint32_t count,
    bool ( *boxes_are_good )( const clv_aabb* boxes, uint32_t count ) )
{
    CLV_ASSERT( store->columns[OBJECT_GIVEN_BOX] == NULL );
    if ( !store->moved_is_known )
    {
        return boxes_are_good( boxes, count );
    }
    bool good = true;
    uint32_t done = 0;
    uint32_t blind = BLIND; // boxes to note without a look after a block in which most moved
    while ( count - done >= BLOCK )
    {
        uint32_t changed = note_block( store, slot + done, &boxes[done], BLOCK, boxes_are_good, &good );
        done += BLOCK;
        if ( changed < BLOCK / 2 )
        {
            blind = BLIND;
            continue;
        }
        uint32_t noted = count - done < blind ? count - done : blind;
        mark_moved( store, slot + done, slot + done + noted );
        good &= boxes_are_good( &boxes[done], noted );
        done += noted;
        blind *= 4;
    }
    note_block( store, slot + done, &boxes[done], count - done, boxes_are_good, &good );
    return good;
}

// Boxes from `done` on up to the end of a word, or of all.
static uint32_t rest_of_word( uint32_t slot, uint32_t done, uint32_t count )
{
    uint32_t left = 64 - ( ( slot + done ) & 63 );
    return left < count - done ? left : count - done;
}

static uint64_t moved_from( const object_store* store, uint32_t slot )
{
    return store->moved.items[slot >> 6] >> ( slot & 63 );
}

// How many boxes from `done` on lie in words in which many moved: these are copied whole, since what has not
// moved is the same.
static uint32_t count_busy( const object_store* store, uint32_t slot, uint32_t done, uint32_t count )
{
    uint32_t end = done;
    while ( end < count && base_bit_count( moved_from( store, slot + end ) ) >= GROUP )
    {
        end += rest_of_word( slot, end, count );
    }
    return end - done;
}

void clv_object_store_take_boxes( object_store* store, uint32_t slot, const clv_aabb* boxes, uint32_t count )
{
    CLV_ASSERT( slot + (uint64_t)count <= store->slot_count );
    clv_aabb* own = &object_boxes( store )[slot];
    uint32_t done = 0;
    while ( done < count )
    {
        uint32_t busy = store->moved_is_known ? count_busy( store, slot, done, count ) : count;
        if ( busy > 0 )
        {
            memcpy( &own[done], &boxes[done], (size_t)busy * sizeof( clv_aabb ) );
            done += busy;
            continue;
        }
        uint32_t some = rest_of_word( slot, done, count );
        uint64_t moved = moved_from( store, slot + done ) & base_bits_low( some );
        for ( ; moved != 0; moved &= moved - 1 )
        {
            own[done + base_lowest_bit( moved )] = boxes[done + base_lowest_bit( moved )];
        }
        done += some;
    }
}

void clv_object_store_watch( object_store* store, uint32_t least )
{
    if ( store->live_count < least )
    {
        store->moved_is_known = false;
        return;
    }
    CLV_ASSERT( store->live_count <= store->slot_count );
    uint64_t words = base_bits_words( store->slot_count );
    store->moved_is_known = base_array_reserve( &store->moved, store->memory, words + 1 );
    if ( store->moved_is_known )
    {
        memset( store->moved.items, 0, (size_t)words * sizeof( uint64_t ) );
    }
}
