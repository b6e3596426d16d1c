// SPDX-License-Identifier: MIT
// A bounding volume hierarchy without pointers: boxes in Morton order, each node over four neighbours of the
// level below. The order is Lauterbach et al.'s (2009); the shape is a packed tree's, which needs neither
// hand-offs between groups nor a stack. Large boxes sort behind small ones, so that one of them does not
// swell the nodes of its small neighbours.

// Two zeros between the bits of a number below 512.
inline uint spread_bits( uint value )
{
    value = ( value | ( value << 16 ) ) & 0x030000FFu;
    value = ( value | ( value << 8 ) ) & 0x0300F00Fu;
    value = ( value | ( value << 4 ) ) & 0x030C30C3u;
    value = ( value | ( value << 2 ) ) & 0x09249249u;
    return value;
}

inline uint tree_cell( float value )
{
    return (uint)fmin( fmax( value, 0.0f ), 511.0f );
}

// 3 bits of size, 27 of Morton order by the centre.
__kernel void tree_keys( __global const float2* boxes, uint count, __constant const gpu_tree_plan* plan,
    __global uint* keys, __global uint* values, __global uint* slots, uint next_slot )
{
    clear_slot( slots, next_slot );
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        box6 box = load_box( boxes, i );
        float x0 = ( box.lower_x - plan->origin[0] ) * plan->scale[0];
        float y0 = ( box.lower_y - plan->origin[1] ) * plan->scale[1];
        float z0 = ( box.lower_z - plan->origin[2] ) * plan->scale[2];
        float x1 = ( box.upper_x - plan->origin[0] ) * plan->scale[0];
        float y1 = ( box.upper_y - plan->origin[1] ) * plan->scale[1];
        float z1 = ( box.upper_z - plan->origin[2] ) * plan->scale[2];
        float size = fmax( x1 - x0, fmax( y1 - y0, z1 - z0 ) );
        uint kind = size < 4.0f ? 0 : size < 16.0f ? 1 : size < 64.0f ? 2 : size < 256.0f ? 3 : 4;
        // A half of each, since their sum may be infinite; of opposite infinities the middle is anywhere.
        uint x = tree_cell( 0.5f * x0 + 0.5f * x1 );
        uint y = tree_cell( 0.5f * y0 + 0.5f * y1 );
        uint z = tree_cell( 0.5f * z0 + 0.5f * z1 );
        keys[i] = ( kind << 27 ) | ( spread_bits( x ) << 2 ) | ( spread_bits( y ) << 1 ) | spread_bits( z );
        values[i] = i;
    }
}

// Records in order: lower corner and index, upper corner.
__kernel void tree_gather( __global const float2* boxes, uint count, __global const uint* values,
    __global float4* records )
{
    uint at = (uint)get_global_id( 0 );
    if ( at < count )
    {
        uint i = values[at];
        box6 box = load_box( boxes, i );
        records[2 * (size_t)at] = (float4)( box.lower_x, box.lower_y, box.lower_z, as_float( i ) );
        records[2 * (size_t)at + 1] = (float4)( box.upper_x, box.upper_y, box.upper_z, 0 );
    }
}

// Four levels at once: a group's 256 boxes of level `below` become 64, 16, 4 and 1 nodes of the levels above.
__kernel void tree_build( __global const float4* records, __global float4* nodes, uint count, uint below,
    __constant const gpu_tree_plan* plan )
{
    __local float4 lower[GROUP];
    __local float4 upper[GROUP];
    uint item = (uint)get_local_id( 0 );
    uint at = (uint)get_global_id( 0 );
    uint level_count = below == 0 ? count : ( count - 1 ) / ( 1u << ( 2 * below ) ) + 1;
    __global const float4* source = below == 0 ? records : (__global const float4*)( nodes + 2 * (size_t)plan->first[below] );
    float4 l = (float4)( INFINITY, INFINITY, INFINITY, 0 );
    float4 u = (float4)( -INFINITY, -INFINITY, -INFINITY, 0 );
    if ( at < level_count )
    {
        l = source[2 * (size_t)at];
        u = source[2 * (size_t)at + 1];
    }
    lower[item] = l;
    upper[item] = u;
    barrier( CLK_LOCAL_MEM_FENCE );
    for ( uint step = 1; step <= 4; ++step )
    {
        uint width = GROUP >> ( 2 * step );
        if ( item < width )
        {
            l = fmin( fmin( lower[4 * item], lower[4 * item + 1] ), fmin( lower[4 * item + 2], lower[4 * item + 3] ) );
            u = fmax( fmax( upper[4 * item], upper[4 * item + 1] ), fmax( upper[4 * item + 2], upper[4 * item + 3] ) );
        }
        barrier( CLK_LOCAL_MEM_FENCE );
        if ( item < width )
        {
            lower[item] = l;
            upper[item] = u;
            uint level = below + step;
            uint node = (uint)get_group_id( 0 ) * width + item;
            uint node_count = ( count - 1 ) / ( 1u << ( 2 * level ) ) + 1;
            if ( level <= plan->top && node < node_count )
            {
                nodes[2 * ( (size_t)plan->first[level] + node )] = l;
                nodes[2 * ( (size_t)plan->first[level] + node ) + 1] = u;
            }
        }
        barrier( CLK_LOCAL_MEM_FENCE );
    }
}

// Each box goes through those behind it: at a place that begins a node of some level, the whole node is asked
// first.
__kernel void tree_find( __global const float4* records, __global const float4* nodes, uint count, uint first, uint end,
    __constant const gpu_tree_plan* plan, __global uint* slots, uint slot, __global uint2* pairs, uint capacity,
    uint counts_tests )
{
    __local pair_queue queue;
    uint i = first + (uint)get_global_id( 0 );
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    uint tests = 0;
    open_queue( &queue );
    if ( i < end )
    {
        float4 lower = records[2 * (size_t)i];
        float4 upper = records[2 * (size_t)i + 1];
        uint top = plan->top;
        uint place = i + 1;
        uint level = min( top, popcount( ( place & ( 0u - place ) ) - 1u ) / 2 );
        while ( place < count )
        {
            __global const float4* node = level == 0
                ? records + 2 * (size_t)place
                : nodes + 2 * ( (size_t)plan->first[level] + ( place >> ( 2 * level ) ) );
            float4 l = node[0];
            float4 u = node[1];
            bool meets = l.x <= upper.x && l.y <= upper.y && l.z <= upper.z && lower.x <= u.x && lower.y <= u.y &&
                lower.z <= u.z;
            tests += 1;
            if ( meets && level > 0 )
            {
                level -= 1;
                continue;
            }
            if ( meets )
            {
                put_pair( &queue, counters, pairs, capacity, as_uint( lower.w ), as_uint( l.w ) );
            }
            place += 1u << ( 2 * level );
            level = min( top, popcount( ( place & ( 0u - place ) ) - 1u ) / 2 );
        }
    }
    write_queue( &queue, counts_tests != 0 ? tests : 0, counters, pairs, capacity );
}
