// SPDX-License-Identifier: MIT
// Sweep and prune along one axis (paper 003, and Liu, Harada, Lee and Kim 2010): sorted by where boxes begin,
// each looks ahead as far as it reaches. Neighbours in the order are neighbouring items, so what they read
// lies side by side.

inline float part_of( __global const float* boxes, uint index, uint part )
{
    return boxes[6 * (size_t)index + part];
}

// The interval of a box along any direction, a little longer than it is: boxes that overlap must overlap here
// too, whatever is rounded. Seven roundings of half an ulp each are far below 2e-6 of what they are taken of.
inline float2 project( __global const float* boxes, uint index, float x, float y, float z )
{
    float d[3] = { x, y, z };
    float middle = 0;
    float half_length = 0;
    float size = 0;
    for ( uint axis = 0; axis < 3; ++axis )
    {
        float lower = 0.5f * part_of( boxes, index, axis );
        float upper = 0.5f * part_of( boxes, index, axis + 3 );
        middle += ( lower + upper ) * d[axis];
        half_length += ( upper - lower ) * fabs( d[axis] );
        size += fabs( lower + upper ) * fabs( d[axis] );
    }
    float slack = ( size + half_length ) * 2e-6f + 1e-37f;
    float2 interval = (float2)( middle - half_length - slack, middle + half_length + slack );
    // Infinite ones, and those beyond the range of floats, meet all boxes here.
    bool is_finite = fabs( interval.x ) < INFINITY && fabs( interval.y ) < INFINITY;
    return is_finite ? interval : (float2)( -INFINITY, INFINITY );
}

__kernel void sap_keys( __global const float* boxes, uint count, uint axis, float x, float y, float z, __global uint* keys,
    __global uint* values, __global uint* slots, uint next_slot )
{
    clear_slot( slots, next_slot );
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        keys[i] = float_key( axis == AXIS_FREE ? project( boxes, i, x, y, z ).x : part_of( boxes, i, axis ) );
        values[i] = i;
    }
}

// In order: where each begins and its index; its end, and by binary search how far it looks ahead; its
// interval on the second axis, which is what most tests read; and the third. Along a free direction the first
// axis says nothing yet, and is kept too.
__kernel void sap_gather( __global const float* boxes, uint count, uint axis, float x, float y, float z, uint first,
    uint second, uint third, __global const uint* values, __global float* begins, __global float* ends,
    __global float2* firsts, __global float2* seconds, __global float2* thirds )
{
    uint at = (uint)get_global_id( 0 );
    if ( at < count )
    {
        uint i = values[at];
        if ( axis == AXIS_FREE )
        {
            float2 interval = project( boxes, i, x, y, z );
            begins[at] = interval.x;
            ends[at] = interval.y;
            firsts[at] = (float2)( part_of( boxes, i, first ), part_of( boxes, i, first + 3 ) );
        }
        else
        {
            begins[at] = part_of( boxes, i, axis );
            ends[at] = part_of( boxes, i, axis + 3 );
        }
        seconds[at] = (float2)( part_of( boxes, i, second ), part_of( boxes, i, second + 3 ) );
        thirds[at] = (float2)( part_of( boxes, i, third ), part_of( boxes, i, third + 3 ) );
    }
}

// The first place behind `at` that begins after `reach`.
inline uint look_ahead( __global const float* begins, uint at, uint count, float reach )
{
    uint low = at + 1;
    uint high = count;
    while ( low < high )
    {
        uint middle = low + ( high - low ) / 2;
        if ( begins[middle] <= reach )
        {
            low = middle + 1;
        }
        else
        {
            high = middle;
        }
    }
    return low;
}

// Sorted along an axis, who is looked at overlaps on it.
#define IS_MET_FIRST( j )                                                                                    \
    ( ( flags & SAP_IS_FREE ) == 0 || ( firsts[j].x <= first_interval.y && first_interval.x <= firsts[j].y ) )

#define SAP_TEST( j )                                                                                        \
    {                                                                                                        \
        float2 other = seconds[j];                                                                           \
        if ( other.x <= second.y && second.x <= other.y )                                                    \
        {                                                                                                    \
            float2 last = thirds[j];                                                                         \
            if ( last.x <= third.y && third.x <= last.y && IS_MET_FIRST( j ) )                               \
            {                                                                                                \
                put_pair( &queue, counters, pairs, capacity, own, values[j] );                         \
            }                                                                                                \
        }                                                                                                    \
    }

// Places [first, end). One that looks ahead further than `patience` goes to a list, for whole groups to work
// on.
__kernel void sap_find( uint count, uint first, uint end, __global const uint* values, __global const float* begins,
    __global const float* ends, __global const float2* firsts, __global const float2* seconds, __global const float2* thirds,
    __global uint* slots, uint slot, __global uint2* pairs, uint capacity, uint patience, __global uint2* patient, uint flags )
{
    __local pair_queue queue;
    uint at = first + (uint)get_global_id( 0 );
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    uint tests = 0;
    open_queue( &queue );
    if ( at < end )
    {
        uint own = values[at];
        float2 second = seconds[at];
        float2 third = thirds[at];
        float2 first_interval = ( flags & SAP_IS_FREE ) != 0 ? firsts[at] : (float2)( 0 );
        uint stop = look_ahead( begins, at, count, ends[at] );
        if ( stop - at > patience )
        {
            patient[atomic_inc( counters + SLOT_LARGE )] = (uint2)( at, stop );
            stop = at;
        }
        tests = stop > at ? stop - at - 1 : 0;
        for ( uint j = at + 1; j < stop; ++j )
        {
            SAP_TEST( j )
        }
    }
    write_queue( &queue, ( flags & SAP_COUNTS_TESTS ) != 0 ? tests : 0, counters, pairs, capacity );
}

// The list: group after group takes one, its items every GROUP-th place.
__kernel void sap_find_patient( __global const uint* values, __global const float2* firsts, __global const float2* seconds,
    __global const float2* thirds, __global uint* slots, uint slot, __global uint2* pairs, uint capacity,
    __global const uint2* patient, uint flags )
{
    __local pair_queue queue;
    uint item = (uint)get_local_id( 0 );
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    uint patient_count = slots[slot * SLOT_WORDS + SLOT_LARGE];
    uint tests = 0;
    open_queue( &queue );
    for ( uint k = (uint)get_group_id( 0 ); k < patient_count; k += (uint)get_num_groups( 0 ) )
    {
        uint2 range = patient[k];
        uint own = values[range.x];
        float2 second = seconds[range.x];
        float2 third = thirds[range.x];
        float2 first_interval = ( flags & SAP_IS_FREE ) != 0 ? firsts[range.x] : (float2)( 0 );
        for ( uint j = range.x + 1 + item; j < range.y; j += GROUP )
        {
            tests += 1;
            SAP_TEST( j )
        }
    }
    write_queue( &queue, ( flags & SAP_COUNTS_TESTS ) != 0 ? tests : 0, counters, pairs, capacity );
}

// Sums of centres and of their products about `shift`, 10 floats per group, for the principal axis: the
// paper's choice.
__kernel void axis_moments( __global const float* boxes, uint count, float shift_x, float shift_y, float shift_z,
    __global float* sums )
{
    __local float shared[GROUP];
    float own[10] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    for ( uint i = (uint)get_global_id( 0 ); i < count; i += (uint)get_global_size( 0 ) )
    {
        float x = 0.5f * part_of( boxes, i, 0 ) + 0.5f * part_of( boxes, i, 3 ) - shift_x;
        float y = 0.5f * part_of( boxes, i, 1 ) + 0.5f * part_of( boxes, i, 4 ) - shift_y;
        float z = 0.5f * part_of( boxes, i, 2 ) + 0.5f * part_of( boxes, i, 5 ) - shift_z;
        if ( fabs( x ) < 1e15f && fabs( y ) < 1e15f && fabs( z ) < 1e15f ) // neither infinite nor far beyond
        {
            own[0] += x;
            own[1] += y;
            own[2] += z;
            own[3] += x * x;
            own[4] += y * y;
            own[5] += z * z;
            own[6] += x * y;
            own[7] += x * z;
            own[8] += y * z;
            own[9] += 1.0f;
        }
    }
    ADD_UP_MOMENTS( shared, own, sums )
}
