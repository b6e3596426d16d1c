// SPDX-License-Identifier: MIT
// Which pairs of one list are not in another: each list goes into a table of places in it, by a hash of the
// pair, with open addressing. Places have 32 bits, so the atomics of OpenCL 1.2 do; the pair itself is read
// where the place points.

#define EMPTY 0xFFFFFFFFu

// All bits of both indices in all bits: neighbours in a list must not be neighbours in the table.
inline uint pair_hash( uint2 pair )
{
    uint hash = pair.x * 0x9E3779B1u ^ ( pair.y + 0x7F4A7C15u ) * 0x85EBCA77u;
    hash ^= hash >> 16;
    hash *= 0x7FEB352Du;
    hash ^= hash >> 15;
    hash *= 0x846CA68Bu;
    return hash ^ hash >> 16;
}

// The table has `mask` + 1 entries, a power of two and at least twice the number of pairs; all are EMPTY
// before.
__kernel void events_insert( __global const uint2* pairs, uint count, volatile __global uint* table, uint mask )
{
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        uint at = pair_hash( pairs[i] ) & mask;
        while ( atomic_cmpxchg( table + at, EMPTY, i ) != EMPTY )
        {
            at = ( at + 1 ) & mask;
        }
    }
}

// Those of `pairs` that are not among `others`, whose table it is; *found counts all of them, also those that
// had no room.
__kernel void events_missing( __global const uint2* pairs, uint count, __global const uint2* others,
    __global const uint* table, uint mask, __global uint2* missing, uint capacity, volatile __global uint* found, uint which )
{
    __local uint fill, base;
    uint item = (uint)get_local_id( 0 );
    uint i = (uint)get_global_id( 0 );
    uint2 pair = (uint2)( 0, 0 );
    int is_missing = 0;
    uint at = 0;
    if ( item == 0 )
    {
        fill = 0;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    if ( i < count )
    {
        pair = pairs[i];
        at = pair_hash( pair ) & mask;
        uint place = table[at];
        while ( place != EMPTY && ( others[place].x != pair.x || others[place].y != pair.y ) )
        {
            at = ( at + 1 ) & mask;
            place = table[at];
        }
        is_missing = place == EMPTY;
    }
    if ( is_missing )
    {
        at = atomic_inc( (volatile __local uint*)&fill );
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    if ( item == 0 && fill > 0 )
    {
        base = atomic_add( found + which, fill );
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    if ( is_missing && base + at < capacity )
    {
        missing[base + at] = pair;
    }
}
