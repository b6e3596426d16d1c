// SPDX-License-Identifier: MIT
// What all kernels share; in front of every other file. OpenCL C 1.2 without extensions. GROUP and QUEUE come
// from the host.
//
// Rules that keep PoCL and NVIDIA alike: no return before a barrier, loops around barriers have bounds that
// are the same for the whole group, global sizes are padded to whole groups and every kernel is told its true
// count. The same pairs as on the CPU: a box is compared as it came, and nothing may be contracted.
#pragma OPENCL FP_CONTRACT OFF

typedef struct box6
{
    float lower_x, lower_y, lower_z, upper_x, upper_y, upper_z;
} box6;

// 24 bytes that begin on a multiple of 8.
inline box6 load_box( __global const float2* boxes, uint index )
{
    float2 a = boxes[3 * (size_t)index];
    float2 b = boxes[3 * (size_t)index + 1];
    float2 c = boxes[3 * (size_t)index + 2];
    box6 box = { a.x, a.y, b.x, b.y, c.x, c.y };
    return box;
}

// Adds to a 64-bit counter; the low word as it was.
inline uint add_wide( volatile __global uint* counter, uint amount )
{
    uint before = atomic_add( counter, amount );
    if ( before + amount < before )
    {
        atomic_inc( counter + 1 );
    }
    return before;
}

// A slot is cleared by the frame before its own.
inline void clear_slot( __global uint* slots, uint slot )
{
    uint item = (uint)get_global_id( 0 );
    if ( item < SLOT_WORDS )
    {
        slots[slot * SLOT_WORDS + item] = 0;
    }
}

// A key that sorts like the float: -0 becomes 0, negative ones are turned over.
inline uint float_key( float value )
{
    uint bits = as_uint( value + 0.0f );
    bits = bits == 0x80000000u ? 0u : bits;
    return ( bits & 0x80000000u ) != 0 ? ~bits : bits | 0x80000000u;
}

// ---- pairs: collected in local memory, written out by the whole group with one atomic

typedef struct pair_queue
{
    uint2 pairs[QUEUE];
    uint fill, base;
    uint test_sum; // of the items
} pair_queue;

// By the whole group.
inline void open_queue( __local pair_queue* queue )
{
    if ( get_local_id( 0 ) == 0 )
    {
        queue->fill = 0;
        queue->test_sum = 0;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
}

inline void put_pair( __local pair_queue* queue, volatile __global uint* counters, __global uint2* pairs, uint capacity,
    uint a, uint b )
{
    uint2 pair = (uint2)( min( a, b ), max( a, b ) );
    uint at = atomic_inc( (volatile __local uint*)&queue->fill );
    if ( at < QUEUE )
    {
        queue->pairs[at] = pair;
        return;
    }
    uint to = add_wide( counters + SLOT_PAIRS, 1 );
    if ( to < capacity )
    {
        pairs[to] = pair;
    }
}

// By the whole group, with the tests that each item made. What does not fit is counted all the same: the host
// sees that the list was cut and runs again.
inline void write_queue( __local pair_queue* queue, uint tests, volatile __global uint* counters, __global uint2* pairs,
    uint capacity )
{
    if ( tests > 0 )
    {
        atomic_add( (volatile __local uint*)&queue->test_sum, tests ); // no barrier here: PoCL takes it amiss inside a condition
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    uint item = (uint)get_local_id( 0 );
    if ( item == 0 && queue->test_sum > 0 )
    {
        add_wide( counters + SLOT_TESTS, queue->test_sum );
    }
    uint count = min( queue->fill, (uint)QUEUE );
    if ( item == 0 && count > 0 )
    {
        queue->base = add_wide( counters + SLOT_PAIRS, count );
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    uint first = count > 0 ? queue->base : 0;
    for ( uint at = item; at < count; at += GROUP )
    {
        if ( first < capacity && at < capacity - first )
        {
            pairs[first + at] = queue->pairs[at];
        }
    }
}

// Ten numbers of each item, own[10], added up over the group, whose sums go to sums[10 * group] and on: what
// a principal axis needs. `shared` has GROUP of the same type.
#define ADD_UP_MOMENTS( shared, own, sums )                                                                  \
    for ( uint k = 0; k < 10; ++k )                                                                          \
    {                                                                                                        \
        uint item = (uint)get_local_id( 0 );                                                                 \
        shared[item] = own[k];                                                                               \
        barrier( CLK_LOCAL_MEM_FENCE );                                                                      \
        for ( uint step = GROUP / 2; step > 0; step /= 2 )                                                   \
        {                                                                                                    \
            if ( item < step )                                                                               \
            {                                                                                                \
                shared[item] += shared[item + step];                                                         \
            }                                                                                                \
            barrier( CLK_LOCAL_MEM_FENCE );                                                                  \
        }                                                                                                    \
        if ( item == 0 )                                                                                     \
        {                                                                                                    \
            sums[10 * get_group_id( 0 ) + k] = shared[0];                                                    \
        }                                                                                                    \
        barrier( CLK_LOCAL_MEM_FENCE );                                                                      \
    }

// Sum of the values of the items before this one; the sum of all in *total. By the whole group.
inline uint scan_group( __local uint* sums, uint value, uint* total )
{
    uint item = (uint)get_local_id( 0 );
    sums[item] = value;
    barrier( CLK_LOCAL_MEM_FENCE );
    for ( uint step = 1; step < GROUP; step *= 2 )
    {
        uint before = item >= step ? sums[item - step] : 0;
        barrier( CLK_LOCAL_MEM_FENCE );
        sums[item] += before;
        barrier( CLK_LOCAL_MEM_FENCE );
    }
    uint inclusive = sums[item];
    *total = sums[GROUP - 1];
    barrier( CLK_LOCAL_MEM_FENCE );
    return inclusive - value;
}
