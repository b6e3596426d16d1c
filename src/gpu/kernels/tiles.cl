// SPDX-License-Identifier: MIT
// Every box against every other: a row of GROUP boxes against a strip of others, few enough that a handful of
// boxes still keeps many groups busy. And what every method may need: a sample of the boxes, and boxes that
// changed.

#define STRIP ( GROUP / TILE_STRIPS )

// Group g takes strip g + first_unit of the triangle of tiles, a tile being GROUP boxes against GROUP others
// in TILE_STRIPS strips.
__kernel void find_tiles( __global const float2* boxes, uint count, uint first_unit, __global uint* slots, uint slot,
    uint next_slot, __global uint2* pairs, uint capacity )
{
    __local pair_queue queue;
    __local float4 lower[STRIP];
    __local float4 upper[STRIP];
    uint item = (uint)get_local_id( 0 );
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    clear_slot( slots, next_slot );
    // Row r of the triangle has tiles 0 .. r: tile t is in row floor( ( sqrt( 8 t + 1 ) - 1 ) / 2 ), but for
    // rounding.
    uint unit = (uint)get_group_id( 0 ) + first_unit;
    uint tile = unit / TILE_STRIPS;
    uint row = (uint)( ( sqrt( 8.0f * (float)tile + 1.0f ) - 1.0f ) * 0.5f );
    while ( row * ( row + 1 ) / 2 > tile )
    {
        row -= 1;
    }
    while ( ( row + 1 ) * ( row + 2 ) / 2 <= tile )
    {
        row += 1;
    }
    uint first = ( tile - row * ( row + 1 ) / 2 ) * GROUP + unit % TILE_STRIPS * STRIP;
    uint own = row * GROUP + item;
    if ( item < STRIP && first + item < count )
    {
        box6 other = load_box( boxes, first + item );
        lower[item] = (float4)( other.lower_x, other.lower_y, other.lower_z, 0 );
        upper[item] = (float4)( other.upper_x, other.upper_y, other.upper_z, 0 );
    }
    open_queue( &queue );
    if ( own < count && own > first )
    {
        box6 box = load_box( boxes, own );
        uint end = min( (uint)STRIP, own - first ); // pairs of a lower index with a higher one, once
        for ( uint k = 0; k < end; ++k )
        {
            float4 l = lower[k];
            float4 u = upper[k];
            int meets = ( box.lower_x <= u.x ) & ( l.x <= box.upper_x ) & ( box.lower_y <= u.y ) & ( l.y <= box.upper_y ) &
                ( box.lower_z <= u.z ) & ( l.z <= box.upper_z );
            if ( meets )
            {
                put_pair( &queue, counters, pairs, capacity, own, first + k );
            }
        }
    }
    write_queue( &queue, 0, counters, pairs, capacity ); // how many tests there are is known beforehand
}

// Box i * count / sample_count for each i: what a plan is made of.
__kernel void sample_boxes( __global const float2* boxes, uint count, __global float2* sample, uint sample_count )
{
    uint i = (uint)get_global_id( 0 );
    if ( i < sample_count )
    {
        uint from = (uint)( (ulong)i * count / sample_count );
        sample[3 * i] = boxes[3 * (size_t)from];
        sample[3 * i + 1] = boxes[3 * (size_t)from + 1];
        sample[3 * i + 2] = boxes[3 * (size_t)from + 2];
    }
}

// NaN, or lower above upper?
__kernel void check_boxes( __global const float2* boxes, uint count, __global uint* slots, uint slot )
{
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        box6 box = load_box( boxes, i );
        if ( !( box.lower_x <= box.upper_x && box.lower_y <= box.upper_y && box.lower_z <= box.upper_z ) )
        {
            atomic_max( (volatile __global uint*)slots + slot * SLOT_WORDS + SLOT_BAD, 0xFFFFFFFFu - i );
        }
    }
}

__kernel void fill_words( __global uint* words, ulong count, uint value )
{
    ulong i = get_global_id( 0 );
    if ( i < count )
    {
        words[i] = value;
    }
}

// Boxes [first, first + count) to places [to, …), a third of a box each.
__kernel void copy_boxes( __global const float2* boxes, __global float2* chunk, uint first, uint to, uint count )
{
    size_t i = get_global_id( 0 );
    if ( i < 3 * (size_t)count )
    {
        chunk[3 * (size_t)to + i] = boxes[3 * (size_t)first + i];
    }
}

// Boxes that changed to their places: 32 bytes each, the last 8 of which begin with the index.
__kernel void patch_boxes( __global const float2* changes, uint count, __global float2* boxes )
{
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        size_t to = 3 * (size_t)as_uint( changes[4 * (size_t)i + 3].x );
        for ( uint part = 0; part < 3; ++part )
        {
            boxes[to + part] = changes[4 * (size_t)i + part];
        }
    }
}
