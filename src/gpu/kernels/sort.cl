// SPDX-License-Identifier: MIT
// A stable radix sort of 32-bit keys with a 32-bit value each, 8 bits a pass: count the digits of each block,
// add up, scatter. Blocks never wait for each other: OpenCL has no fence between groups, so each step is a
// launch.

#define BLOCK ( 4 * GROUP )

// Digit counts of each block, digit by digit: counts[digit * block_count + block].
__kernel void sort_count( __global const uint* keys, uint count, uint shift, __global uint* counts, uint block_count )
{
    __local uint digits[256];
    uint item = (uint)get_local_id( 0 );
    uint block = (uint)get_group_id( 0 );
    for ( uint d = item; d < 256; d += GROUP )
    {
        digits[d] = 0;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    for ( uint k = 0; k < 4; ++k )
    {
        uint at = block * BLOCK + k * GROUP + item;
        if ( at < count )
        {
            atomic_inc( &digits[( keys[at] >> shift ) & 255] );
        }
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    for ( uint d = item; d < 256; d += GROUP )
    {
        counts[d * block_count + block] = digits[d];
    }
}

// Sum of each stretch of BLOCK numbers.
__kernel void scan_sums( __global const uint* numbers, uint count, __global uint* sums )
{
    __local uint shared[GROUP];
    uint first = (uint)get_group_id( 0 ) * BLOCK + (uint)get_local_id( 0 );
    uint own = 0;
    for ( uint k = 0; k < 4; ++k )
    {
        uint at = first + k * GROUP;
        own += at < count ? numbers[at] : 0;
    }
    uint total = 0;
    scan_group( shared, own, &total );
    if ( get_local_id( 0 ) == 0 )
    {
        sums[get_group_id( 0 )] = total;
    }
}

// Each number becomes the sum of those before it; a group adds up the sums of the stretches before its own by
// itself.
__kernel void scan_add( __global uint* numbers, uint count, __global const uint* sums )
{
    __local uint shared[GROUP];
    uint item = (uint)get_local_id( 0 );
    uint group = (uint)get_group_id( 0 );
    uint own = 0;
    for ( uint k = item; k < group; k += GROUP )
    {
        own += sums[k];
    }
    uint before = 0;
    scan_group( shared, own, &before );
    uint at = group * BLOCK + 4 * item;
    uint values[4];
    uint sum = 0;
    for ( uint k = 0; k < 4; ++k )
    {
        values[k] = at + k < count ? numbers[at + k] : 0;
        sum += values[k];
    }
    uint total = 0;
    uint start = before + scan_group( shared, sum, &total );
    for ( uint k = 0; k < 4; ++k )
    {
        if ( at + k < count )
        {
            numbers[at + k] = start;
        }
        start += values[k];
    }
}

// Sorts the block's keys by four bits in local memory, keeping the order of equal ones.
inline void split_block( __local uint* keys, __local uint* values, __local ushort* columns, __local uint* shared,
    uint shift )
{
    uint item = (uint)get_local_id( 0 );
    uint own_keys[4];
    uint own_values[4];
    for ( uint d = 0; d < 16; ++d )
    {
        columns[d * GROUP + item] = 0;
    }
    for ( uint k = 0; k < 4; ++k )
    {
        own_keys[k] = keys[4 * item + k];
        own_values[k] = values[4 * item + k];
        columns[( ( own_keys[k] >> shift ) & 15 ) * GROUP + item] += 1;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    uint sum = 0;
    for ( uint k = 0; k < 16; ++k )
    {
        sum += columns[16 * item + k];
    }
    uint total = 0;
    uint start = scan_group( shared, sum, &total );
    for ( uint k = 0; k < 16; ++k )
    {
        uint number = columns[16 * item + k];
        columns[16 * item + k] = (ushort)start;
        start += number;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    for ( uint k = 0; k < 4; ++k )
    {
        uint column = ( ( own_keys[k] >> shift ) & 15 ) * GROUP + item;
        uint to = columns[column];
        columns[column] = (ushort)( to + 1 );
        keys[to] = own_keys[k];
        values[to] = own_values[k];
    }
    barrier( CLK_LOCAL_MEM_FENCE );
}

__kernel void sort_scatter( __global const uint* keys_in, __global const uint* values_in, __global uint* keys_out,
    __global uint* values_out, uint count, uint shift, __global const uint* starts, uint block_count )
{
    __local uint keys[BLOCK];
    __local uint values[BLOCK];
    __local ushort columns[16 * GROUP];
    __local uint shared[GROUP];
    __local uint firsts[256];
    uint item = (uint)get_local_id( 0 );
    uint block = (uint)get_group_id( 0 );
    for ( uint k = 0; k < 4; ++k )
    {
        uint at = block * BLOCK + k * GROUP + item;
        keys[k * GROUP + item] = at < count ? keys_in[at] : 0xFFFFFFFFu; // behind all others, and not written
        values[k * GROUP + item] = at < count ? values_in[at] : 0;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    split_block( keys, values, columns, shared, shift );
    split_block( keys, values, columns, shared, shift + 4 );
    for ( uint k = 0; k < 4; ++k )
    {
        uint at = k * GROUP + item;
        uint digit = ( keys[at] >> shift ) & 255;
        if ( at == 0 || ( ( keys[at - 1] >> shift ) & 255 ) != digit )
        {
            firsts[digit] = at;
        }
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    uint valid = min( (uint)BLOCK, count - block * BLOCK );
    for ( uint k = 0; k < 4; ++k )
    {
        uint at = k * GROUP + item;
        if ( at < valid )
        {
            uint digit = ( keys[at] >> shift ) & 255;
            uint to = starts[digit * block_count + block] + at - firsts[digit];
            keys_out[to] = keys[at];
            values_out[to] = values[at];
        }
    }
}
