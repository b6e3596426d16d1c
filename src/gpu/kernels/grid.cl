// SPDX-License-Identifier: MIT
// Rows of cells: a box lies in the cell of its lower corner, and cells are numbered along x first, so that a row of cells is one
// range of records. A box belongs to the finest level in whose cells it crosses few boundaries; boxes that fit no level lie
// behind all others and are tested against everything.
//
// Why no pair is lost: the number of a cell never falls as a coordinate grows (clamping included). If b begins where a does
// or above, on some axis, and they overlap, then b's cell is at least a's and at most that of a's upper corner, which is within
// `reach` by the choice of the level. Nothing depends on bounds or rounding; a bad plan is slow, not wrong.

#define LEVELS_MOST 8
#define LEVEL_SHIFT 29
#define CELL_MASK 0x1FFFFFFFu
#define NO_CELL 0xFFFFFFFFu

typedef struct grid_level
{
    float scale_x, scale_y, scale_z; // cells per unit
    float last_x, last_y, last_z;    // number of the last cell
    uint rows_y;                     // cells along y
    uint first_row;
    uint reach_x;
    uint unused;
} grid_level;

typedef struct grid_plan
{
    float origin_x, origin_y, origin_z;
    uint level_count;
    uint pitch; // entries of a row: its cells and its end, for the longest row
    uint unused[3];
    grid_level levels[LEVELS_MOST];
} grid_plan;

// Monotonic in `value`, infinities included.
inline uint cell_at( float value, float origin, float scale, float last )
{
    return (uint)fmin( fmax( ( value - origin ) * scale, 0.0f ), last );
}

typedef struct cell_span
{
    uint lower_x, lower_y, lower_z, upper_x, upper_y, upper_z;
} cell_span;

inline cell_span span_of( __constant const grid_plan* plan, uint level, box6 box )
{
    __constant const grid_level* l = &plan->levels[level];
    cell_span span = {
        cell_at( box.lower_x, plan->origin_x, l->scale_x, l->last_x ),
        cell_at( box.lower_y, plan->origin_y, l->scale_y, l->last_y ),
        cell_at( box.lower_z, plan->origin_z, l->scale_z, l->last_z ),
        cell_at( box.upper_x, plan->origin_x, l->scale_x, l->last_x ),
        cell_at( box.upper_y, plan->origin_y, l->scale_y, l->last_y ),
        cell_at( box.upper_z, plan->origin_z, l->scale_z, l->last_z ),
    };
    return span;
}

// Where each box will lie: its cell, and how many came there before it.
__kernel void grid_count( __global const float2* boxes, uint count, __constant const grid_plan* plan,
    volatile __global uint* counts, __global uint2* places, __global uint* slots, uint slot, uint next_slot )
{
    clear_slot( slots, next_slot );
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        box6 box = load_box( boxes, i );
        uint cell = NO_CELL;
        for ( uint level = 0; level < plan->level_count && cell == NO_CELL; ++level )
        {
            cell_span span = span_of( plan, level, box );
            if ( span.upper_x - span.lower_x <= plan->levels[level].reach_x && span.upper_y - span.lower_y <= 1 &&
                span.upper_z - span.lower_z <= 1 )
            {
                uint row = plan->levels[level].first_row + span.lower_z * plan->levels[level].rows_y + span.lower_y;
                cell = ( row * plan->pitch + span.lower_x ) | ( level << LEVEL_SHIFT );
            }
        }
        volatile __global uint* counter =
            cell == NO_CELL ? slots + slot * SLOT_WORDS + SLOT_LARGE : counts + ( cell & CELL_MASK );
        places[i] = (uint2)( cell, atomic_inc( counter ) );
    }
}

// The squares of what cells hold tell how many tests there will be; what exceeds the numbers themselves is added here.
inline uint excess_of( uint4 numbers, volatile __global uint* counters )
{
    uint most = max( max( numbers.x, numbers.y ), max( numbers.z, numbers.w ) );
    if ( most < 256 )
    {
        uint4 squares = numbers * numbers - numbers;
        return squares.x + squares.y + squares.z + squares.w;
    }
    // Few cells of a good plan, and their squares may not fit a word.
    uint each[4] = { numbers.x, numbers.y, numbers.z, numbers.w };
    for ( uint k = 0; k < 4; ++k )
    {
        ulong square = (ulong)each[k] * each[k] - each[k];
        add_wide( counters + SLOT_CELLS, (uint)square );
        atomic_add( counters + SLOT_CELLS + 1, (uint)( square >> 32 ) );
    }
    return 0;
}

// Numbers in, for each entry the sum of those before it in its stretch plus where the stretch begins; the numbers are cleared for
// the next frame. A stretch is `stretch` entries, one group's, and holds whole rows, so a row is never torn; stretches
// follow each other in any order. The entry behind a row's last cell counts nothing, so it gets the row's end.
// Rows are multiples of 8 entries, so an item's 8 are 32 aligned bytes. Here a stretch is at most 8 * GROUP.
__kernel void grid_scan( __global uint4* counts, __global uint4* starts, uint total, uint stretch, __global uint* slots, uint slot )
{
    __local uint sums[2 * GROUP];
    __local uint shared[2]; // where the stretch begins, and what exceeds
    uint item = (uint)get_local_id( 0 );
    uint first = (uint)get_group_id( 0 ) * stretch;
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    uint at = ( first + 8 * item ) / 4;
    bool is_own = 8 * item < stretch && first + 8 * item < total;
    uint4 a = (uint4)( 0 );
    uint4 b = (uint4)( 0 );
    if ( is_own )
    {
        a = counts[at];
        b = counts[at + 1];
    }
    if ( item == 0 )
    {
        shared[1] = 0;
    }
    uint own = a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w;
    // Two copies in turn: one barrier per step.
    uint side = 0;
    sums[item] = own;
    barrier( CLK_LOCAL_MEM_FENCE );
    for ( uint step = 1; step < GROUP; step *= 2 )
    {
        uint value = sums[side + item] + ( item >= step ? sums[side + item - step] : 0 );
        side = GROUP - side;
        sums[side + item] = value;
        barrier( CLK_LOCAL_MEM_FENCE );
    }
    uint before = sums[side + item] - own;
    if ( own > 1 )
    {
        uint excess = excess_of( a, counters ) + excess_of( b, counters );
        if ( excess > 0 )
        {
            atomic_add( (volatile __local uint*)shared + 1, excess );
        }
    }
    if ( item == 0 )
    {
        uint sum = sums[side + GROUP - 1];
        shared[0] = sum > 0 ? atomic_add( counters + SLOT_PLACED, sum ) : 0;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    if ( item == 0 && shared[1] > 0 )
    {
        add_wide( counters + SLOT_CELLS, shared[1] );
    }
    if ( is_own )
    {
        uint start = shared[0] + before;
        uint4 c = (uint4)( start, start + a.x, start + a.x + a.y, start + a.x + a.y + a.z );
        start = c.w + a.w;
        uint4 d = (uint4)( start, start + b.x, start + b.x + b.y, start + b.x + b.y + b.z );
        starts[at] = c;
        starts[at + 1] = d;
        counts[at] = (uint4)( 0 );
        counts[at + 1] = (uint4)( 0 );
    }
}

// The same for rows longer than that: added up first, then tile by tile.
__kernel void grid_scan_long( __global uint4* counts, __global uint4* starts, uint total, uint stretch, __global uint* slots,
    uint slot )
{
    __local uint sums[GROUP];
    __local uint bases[1];
    uint item = (uint)get_local_id( 0 );
    uint first = (uint)get_group_id( 0 ) * stretch;
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    uint tile_count = ( stretch + 4 * GROUP - 1 ) / ( 4 * GROUP );
    uint own = 0;
    uint excess = 0;
    for ( uint k = 4 * item; k < stretch; k += 4 * GROUP )
    {
        uint4 numbers = first + k < total ? counts[( first + k ) / 4] : (uint4)( 0 );
        own += numbers.x + numbers.y + numbers.z + numbers.w;
        excess += excess_of( numbers, counters );
    }
    uint sum = 0;
    uint excess_sum = 0;
    scan_group( sums, own, &sum );
    scan_group( sums, excess, &excess_sum );
    if ( item == 0 )
    {
        bases[0] = sum > 0 ? atomic_add( counters + SLOT_PLACED, sum ) : 0;
        add_wide( counters + SLOT_CELLS, excess_sum );
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    uint carry = bases[0];
    for ( uint tile = 0; tile < tile_count; ++tile )
    {
        uint k = tile * 4 * GROUP + 4 * item;
        bool is_own = k < stretch && first + k < total;
        uint4 numbers = is_own ? counts[( first + k ) / 4] : (uint4)( 0 );
        uint tile_sum = 0;
        uint start = carry + scan_group( sums, numbers.x + numbers.y + numbers.z + numbers.w, &tile_sum );
        if ( is_own )
        {
            starts[( first + k ) / 4] = (uint4)( start, start + numbers.x, start + numbers.x + numbers.y,
                start + numbers.x + numbers.y + numbers.z );
            counts[( first + k ) / 4] = (uint4)( 0 );
        }
        carry += tile_sum;
    }
}

// Records of 32 bytes: lower corner and index, upper corner and level. They are written by pairs of items, each a half, so
// that a record is one memory transaction.
__kernel void grid_scatter( __global const float2* boxes, uint count, __global const uint2* places,
    __global const uint* starts, __global float4* records )
{
    __local float4 lower[GROUP];
    __local float4 upper[GROUP];
    __local uint targets[GROUP];
    uint item = (uint)get_local_id( 0 );
    uint i = (uint)get_global_id( 0 );
    uint first = (uint)get_group_id( 0 ) * GROUP;
    if ( i < count )
    {
        box6 box = load_box( boxes, i );
        uint2 place = places[i];
        lower[item] = (float4)( box.lower_x, box.lower_y, box.lower_z, as_float( i ) );
        upper[item] = (float4)( box.upper_x, box.upper_y, box.upper_z, as_float( place.x >> LEVEL_SHIFT ) );
        targets[item] = place.x == NO_CELL ? count - 1 - place.y : starts[place.x & CELL_MASK] + place.y;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    for ( uint half_record = item; half_record < 2 * GROUP; half_record += GROUP )
    {
        uint from = half_record / 2;
        if ( first + from < count )
        {
            float4 value = ( half_record & 1 ) != 0 ? upper[from] : lower[from];
            records[2 * (size_t)targets[from] + ( half_record & 1 )] = value;
        }
    }
}

// Records [begin, end) against one box; the upper corner is read only where the lower one passes.
#define TEST_RANGE( begin, end )                                                                             \
    for ( uint j = ( begin ); j < ( end ); ++j )                                                             \
    {                                                                                                        \
        float4 l = records[2 * (size_t)j];                                                                   \
        if ( l.x <= upper.x && l.y <= upper.y && l.z <= upper.z )                                            \
        {                                                                                                    \
            float4 u = records[2 * (size_t)j + 1];                                                           \
            if ( lower.x <= u.x && lower.y <= u.y && lower.z <= u.z )                                        \
            {                                                                                                \
                put_pair( queue, &fill, counters, pairs, capacity, as_uint( lower.w ), as_uint( l.w ) );     \
            }                                                                                                \
        }                                                                                                    \
    }

// Records [first, end) each against those that come after it by the half rule: its own row onwards, the rows above it in y and z,
// all rows about it in coarser levels, and the records that fit no level.
__kernel void grid_find( __global const float4* records, uint count, uint first, uint end,
    __global const uint* starts, __constant const grid_plan* plan, __global uint* slots, uint slot,
    __global uint2* pairs, uint capacity, uint counts_tests )
{
    __local uint2 queue[QUEUE];
    __local uint fill, base, test_sum;
    uint item = (uint)get_local_id( 0 );
    uint i = first + (uint)get_global_id( 0 );
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    uint placed = slots[slot * SLOT_WORDS + SLOT_PLACED];
    uint tests = 0;
    if ( item == 0 )
    {
        fill = 0;
        test_sum = 0;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    if ( i < end )
    {
        float4 lower = records[2 * (size_t)i];
        float4 upper = records[2 * (size_t)i + 1];
        if ( i < placed )
        {
            box6 box = { lower.x, lower.y, lower.z, upper.x, upper.y, upper.z };
            uint level = as_uint( upper.w );
            uint pitch = plan->pitch;
            cell_span span = span_of( plan, level, box );
            uint rows_y = plan->levels[level].rows_y;
            uint reach = plan->levels[level].reach_x;
            uint row = plan->levels[level].first_row + span.lower_z * rows_y + span.lower_y;
            uint from_x = max( span.lower_x, reach ) - reach;
            uint to_x = span.upper_x + 1;
            bool goes_y = span.upper_y > span.lower_y;
            bool goes_z = span.upper_z > span.lower_z;
            bool has_below = goes_z && span.lower_y > 0;
            // The ends of all ranges first, so that the reads overlap.
            uint own_end = starts[row * pitch + to_x];
            uint y_begin = goes_y ? starts[( row + 1 ) * pitch + from_x] : 0;
            uint y_end = goes_y ? starts[( row + 1 ) * pitch + to_x] : 0;
            uint above = row + rows_y;
            uint b_begin = has_below ? starts[( above - 1 ) * pitch + from_x] : 0;
            uint b_end = has_below ? starts[( above - 1 ) * pitch + to_x] : 0;
            uint z_begin = goes_z ? starts[above * pitch + from_x] : 0;
            uint z_end = goes_z ? starts[above * pitch + to_x] : 0;
            uint c_begin = goes_z && goes_y ? starts[( above + 1 ) * pitch + from_x] : 0;
            uint c_end = goes_z && goes_y ? starts[( above + 1 ) * pitch + to_x] : 0;
            tests = own_end - i - 1 + y_end - y_begin + b_end - b_begin + z_end - z_begin + c_end - c_begin;
            TEST_RANGE( i + 1, own_end )
            TEST_RANGE( y_begin, y_end )
            TEST_RANGE( b_begin, b_end )
            TEST_RANGE( z_begin, z_end )
            TEST_RANGE( c_begin, c_end )
            for ( uint coarse = level + 1; coarse < plan->level_count; ++coarse )
            {
                span = span_of( plan, coarse, box );
                rows_y = plan->levels[coarse].rows_y;
                reach = plan->levels[coarse].reach_x;
                from_x = max( span.lower_x, reach ) - reach;
                for ( uint z = max( span.lower_z, 1u ) - 1; z <= span.upper_z; ++z )
                {
                    for ( uint y = max( span.lower_y, 1u ) - 1; y <= span.upper_y; ++y )
                    {
                        uint entry = ( plan->levels[coarse].first_row + z * rows_y + y ) * pitch;
                        uint range_begin = starts[entry + from_x];
                        uint range_end = starts[entry + span.upper_x + 1];
                        tests += range_end - range_begin;
                        TEST_RANGE( range_begin, range_end )
                    }
                }
            }
        }
        uint large = max( placed, i + 1 );
        tests += count - large;
        TEST_RANGE( large, count )
    }
    if ( counts_tests != 0 )
    {
        atomic_add( &test_sum, tests ); // no barrier here: PoCL takes it amiss inside a condition
    }
    write_queue( queue, &fill, &base, &test_sum, counters, pairs, capacity );
}
