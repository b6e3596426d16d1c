// SPDX-License-Identifier: MIT
// Rows of cells: a box lies in the cell of its lower corner, and cells are numbered along x first, so that a
// row of cells is one range of records. A box belongs to the finest level in whose cells it crosses few
// boundaries; boxes that fit no level lie behind all others and are tested against everything.
//
// Two ways. Few boxes, or dense ones, are placed anew in every frame: place, scan, put, find. Of many the
// order is kept: refresh, count, scan, scatter, find, where a box may stay in its cell c as long as, on every
// axis,
//     c <= cell( lower + slack )   and   cell( upper + slack ) <= c + reach.
// Why no pair is lost: the number of a cell never falls as a coordinate grows (clamping and rounding
// included). If a and b overlap then lower of b <= upper of a, so b's c <= cell( lower of b + slack ) <=
// cell( upper of a + slack ) <= a's c + reach, and the other way round. So b is found between a's c - reach
// and cell( upper of a + slack ). Nothing depends on bounds; a bad plan is slow, not wrong. Boxes that may
// not stay are movers: they ask all cells about them, and each other. Are there more than `moved_most`, then
// all are counted, added up and scattered anew, from one half of the records to the other; the device decides
// that by itself, frame by frame: count, scan and scatter do nothing otherwise. As records are nearly in
// order then, they go to memory side by side.
//
// A record is 32 bytes, one memory transaction: lower corner and index, with IS_MOVER above it; upper corner
// and cell, with its level. Behind common.cl and cells.cl.

// The cell of the finest level that takes the box; NO_CELL if none does.
inline uint choose_cell( __constant const gpu_grid_plan* plan, float4 lower, float4 upper )
{
    uint cell = NO_CELL;
    for ( uint level = 0; level < plan->level_count && cell == NO_CELL; ++level )
    {
        cell_place own = place_of( plan, level, lower.x, lower.y, lower.z );
        if ( is_within( own, last_of( plan, level, upper ), plan->levels[level].reach_x ) )
        {
            uint row = plan->levels[level].first_row + own.z * plan->levels[level].rows_y + own.y;
            cell = ( row * plan->pitch + own.x ) | ( level << LEVEL_SHIFT );
        }
    }
    return cell;
}

// A cell, and how many came there before.
inline uint2 take_place( uint cell, volatile __global uint* counts, volatile __global uint* counters )
{
    volatile __global uint* counter = cell == NO_CELL ? counters + SLOT_LARGE : counts + ( cell & CELL_MASK );
    return (uint2)( cell, atomic_inc( counter ) );
}

inline uint target_of( uint2 place, __global const uint* starts, uint count )
{
    return place.x == NO_CELL ? count - 1 - place.y : starts[place.x & CELL_MASK] + place.y;
}

// ---- all anew

// One group in so many keeps its boxes and counts who changed, for the host, which may have only those
// searched from then on (rest.cl).
// By bits.
inline int is_other_box( __global const float2* box, __global const float2* sample )
{
    int2 differing = ( as_int2( box[0] ) ^ as_int2( sample[0] ) ) | ( as_int2( box[1] ) ^ as_int2( sample[1] ) ) |
        ( as_int2( box[2] ) ^ as_int2( sample[2] ) );
    return ( differing.x | differing.y ) != 0;
}

// Where each box will lie.
__kernel void grid_place( __global const float2* boxes, uint count, __constant const gpu_grid_plan* plan,
    volatile __global uint* counts, __global uint2* places, __global uint* slots, uint slot, uint next_slot,
    __global float2* sampled, uint has_sample )
{
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    clear_slot( slots, next_slot );
    uint i = (uint)get_global_id( 0 );
    if ( i == 0 )
    {
        counters[SLOT_MOVED] = ALL_MOVED;
        counters[SLOT_SIDE] = 1; // from the second half, as it were, to the first
    }
    if ( i < count )
    {
        box6 box = load_box( boxes, i );
        float4 lower = (float4)( box.lower_x, box.lower_y, box.lower_z, 0 );
        float4 upper = (float4)( box.upper_x, box.upper_y, box.upper_z, 0 );
        places[i] = take_place( choose_cell( plan, lower, upper ), counts, counters );
        if ( get_group_id( 0 ) % SAMPLED_OF_PLACED == 0 )
        {
            size_t own = 3 * ( get_group_id( 0 ) / SAMPLED_OF_PLACED * GROUP + get_local_id( 0 ) );
            if ( has_sample != 0 && is_other_box( boxes + 3 * (size_t)i, sampled + own ) )
            {
                atomic_inc( counters + SLOT_CHANGED );
            }
            for ( uint part = 0; part < 3; ++part )
            {
                sampled[own + part] = boxes[3 * (size_t)i + part];
            }
        }
    }
}

// Records are written by pairs of items, each a half, so that a record is one memory transaction.
__kernel void grid_put( __global const float2* boxes, uint count, __global const uint2* places,
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
        upper[item] = (float4)( box.upper_x, box.upper_y, box.upper_z, as_float( place.x ) );
        targets[item] = target_of( place, starts, count );
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

// ---- with the order kept

// One group in so many counts who changed, for the host, which then has only those searched (rest.cl); other
// ones in turn, since where the same boxes move all the time an unlucky sample would stay unlucky.
// By bits: -0 is another box than 0 here, and a NaN the same one.
inline int is_other( float4 old_lower, float4 old_upper, float4 lower, float4 upper )
{
    return any( as_int3( old_lower.xyz ) != as_int3( lower.xyz ) ) || any( as_int3( old_upper.xyz ) != as_int3( upper.xyz ) );
}

// Boxes into their records, in the order that is kept, and who left his cell. Without an order (last_slot is
// NO_SLOT) in their own, and all count as moved. `kept` has the index and the cell of each record.
__kernel void grid_refresh( __global const float2* boxes, uint count, __constant const gpu_grid_plan* plan,
    __global const uint2* kept, __global float4* records, __global uint* movers, __global uint* slots, uint slot,
    uint last_slot, uint next_slot, uint moved_most )
{
    __local uint moved, base, changed;
    uint item = (uint)get_local_id( 0 );
    uint k = (uint)get_global_id( 0 );
    int is_sampled = last_slot != NO_SLOT &&
        get_group_id( 0 ) % SAMPLED_GROUPS == slot % min( SAMPLED_GROUPS, (uint)get_num_groups( 0 ) );
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    __global const uint* last = slots + ( last_slot == NO_SLOT ? slot : last_slot ) * SLOT_WORDS;
    int has_order = last_slot != NO_SLOT;
    int was_anew = has_order && is_laid_anew( last, moved_most );
    uint side = has_order ? last[SLOT_SIDE] ^ (uint)was_anew : 0;
    uint placed = !has_order ? 0 : was_anew ? last[SLOT_PLACED] : last[SLOT_KEPT];
    uint at = 0;
    int left = 0;
    if ( item == 0 )
    {
        moved = 0;
        changed = 0;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    if ( k < count )
    {
        size_t record = (size_t)side * count + k;
        uint2 own_kept = has_order ? kept[record] : (uint2)( k, NO_CELL );
        box6 box = load_box( boxes, own_kept.x );
        float4 lower = (float4)( box.lower_x, box.lower_y, box.lower_z, as_float( own_kept.x ) );
        float4 upper = (float4)( box.upper_x, box.upper_y, box.upper_z, as_float( own_kept.y ) );
        if ( k < placed )
        {
            left = !may_stay( plan, own_kept.y, lower, upper );
        }
        if ( left )
        {
            at = atomic_inc( (volatile __local uint*)&moved );
            lower.w = as_float( own_kept.x | IS_MOVER );
        }
        if ( is_sampled && is_other( records[2 * record], records[2 * record + 1], lower, upper ) )
        {
            atomic_inc( (volatile __local uint*)&changed );
        }
        records[2 * record] = lower;
        records[2 * record + 1] = upper;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    if ( item == 0 && moved > 0 )
    {
        base = atomic_add( counters + SLOT_MOVED, moved );
    }
    if ( item == 0 && changed > 0 )
    {
        atomic_add( counters + SLOT_CHANGED, changed );
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    if ( left && base + at < moved_most )
    {
        movers[base + at] = k;
    }
    if ( k == 0 )
    {
        counters[SLOT_SIDE] = side;
        counters[SLOT_KEPT] = placed;
        // frames in a row before this one
        counters[SLOT_WORK] = was_anew ? min( last[SLOT_WORK], 255u ) + 1 : 0;
        if ( !has_order )
        {
            counters[SLOT_MOVED] = ALL_MOVED; // then none counts
        }
    }
    clear_slot( slots, next_slot );
}

// Where each record will lie. Launched with no more groups than the device can hold: as a rule there is
// nothing to do, and groups that do nothing take time too (40,000 of them 25 us on an H200).
__kernel void grid_count( uint count, __constant const gpu_grid_plan* plan, __global const float4* records,
    volatile __global uint* counts, __global uint2* places, __global uint* slots, uint slot, uint moved_most )
{
    __global uint* counters = slots + slot * SLOT_WORDS;
    uint end = is_laid_anew( counters, moved_most ) ? count : 0;
    for ( size_t k = get_global_id( 0 ); k < end; k += get_global_size( 0 ) )
    {
        size_t record = (size_t)counters[SLOT_SIDE] * count + k;
        places[k] = take_place( choose_cell( plan, records[2 * record], records[2 * record + 1] ), counts, counters );
    }
}

// The squares of what cells hold tell how many tests there will be; what exceeds the numbers themselves is
// added here.
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

// Numbers in, for each entry the sum of those before it in its stretch plus where the stretch begins; the
// numbers are cleared for the next frame. A stretch is `stretch` entries, one group's, and holds whole rows,
// so a row is never torn; stretches follow each other in any order. The entry behind a row's last cell counts
// nothing, so it gets the row's end. Rows are multiples of 8 entries, so an item's 8 are 32 aligned bytes.
// Here a stretch is at most 8 * GROUP.
__kernel void grid_scan( __global uint4* counts, __global uint4* starts, uint total, uint stretch, __global uint* slots,
    uint slot, uint moved_most )
{
    __local uint sums[2 * GROUP];
    __local uint shared[2]; // where the stretch begins, and what exceeds
    uint item = (uint)get_local_id( 0 );
    uint first = (uint)get_group_id( 0 ) * stretch;
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    int is_wanted = is_laid_anew( slots + slot * SLOT_WORDS, moved_most );
    uint group = is_wanted ? GROUP : 0; // the same for all: no return before a barrier
    uint at = ( first + 8 * item ) / 4;
    bool is_own = is_wanted && 8 * item < stretch && first + 8 * item < total;
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
    for ( uint step = 1; step < group; step *= 2 )
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
        uint sum = is_wanted ? sums[side + GROUP - 1] : 0;
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
    uint slot, uint moved_most )
{
    __local uint sums[GROUP];
    __local uint bases[1];
    uint item = (uint)get_local_id( 0 );
    uint first = (uint)get_group_id( 0 ) * stretch;
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    stretch = is_laid_anew( slots + slot * SLOT_WORDS, moved_most ) ? stretch : 0;
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

// From one half of the records to the other; there are no movers there.
__kernel void grid_scatter( uint count, __global const uint2* places, __global const uint* starts,
    __global float4* records, __global uint2* kept, __global const uint* slots, uint slot, uint moved_most )
{
    __global const uint* counters = slots + slot * SLOT_WORDS;
    uint end = is_laid_anew( counters, moved_most ) ? count : 0;
    uint side = counters[SLOT_SIDE];
    for ( size_t k = get_global_id( 0 ); k < end; k += get_global_size( 0 ) )
    {
        uint2 place = places[k];
        size_t from = (size_t)side * count + k;
        size_t to = (size_t)( 1 - side ) * count + target_of( place, starts, count );
        float4 lower = records[2 * from];
        float4 upper = records[2 * from + 1];
        uint index = as_uint( lower.w ) & ~IS_MOVER;
        lower.w = as_float( index );
        upper.w = as_float( place.x );
        records[2 * to] = lower;
        records[2 * to + 1] = upper;
        kept[to] = (uint2)( index, place.x );
    }
}

// ---- the search

// One record, whose lower corner is `l`, against another; the upper corner is read only where the lower one
// passes. Movers are found by asking, not by being asked: `ignored` is IS_MOVER but where movers meet each
// other.
#define TEST_RECORD( j, l, ignored )                                                                         \
    if ( l.x <= upper.x && l.y <= upper.y && l.z <= upper.z && ( as_uint( l.w ) & ( ignored ) ) == 0 )       \
    {                                                                                                        \
        float4 u = records[2 * (size_t)( j ) + 1];                                                           \
        if ( lower.x <= u.x && lower.y <= u.y && lower.z <= u.z )                                            \
        {                                                                                                    \
            put_pair( &queue, counters, pairs, capacity, as_uint( lower.w ) & ~IS_MOVER,               \
                as_uint( l.w ) & ~IS_MOVER );                                                                \
        }                                                                                                    \
    }

#define TEST_RANGE( begin, end )                                                                             \
    for ( uint j = ( begin ); j < ( end ); ++j )                                                             \
    {                                                                                                        \
        float4 l = records[2 * (size_t)j];                                                                   \
        TEST_RECORD( j, l, IS_MOVER )                                                                        \
    }

// The next record of five ranges one after the other: the first range goes on, or gives way to those behind
// it. False at the end.
#define NEXT_RECORD                                                                                          \
    while ( r0.x == r0.y && left > 0 )                                                                       \
    {                                                                                                        \
        r0 = r1;                                                                                             \
        r1 = r2;                                                                                             \
        r2 = r3;                                                                                             \
        r3 = r4;                                                                                             \
        left -= 1;                                                                                           \
    }                                                                                                        \
    has_next = r0.x < r0.y;                                                                                  \
    next = r0.x++;                                                                                           \
    if ( has_next )                                                                                          \
    {                                                                                                        \
        next_lower = records[2 * (size_t)next];                                                              \
    }

// Records [first, end) each against those that come after it by the half rule: its own row onwards, the rows
// above it in y and z, all rows about it in coarser levels, and the records that fit no level. A mover asks
// all rows of all levels. The first `mover_groups` groups test movers against each other.
__kernel void grid_find( __global const float4* both_records, uint count, uint first, uint end, __global const uint* starts,
    __constant const gpu_grid_plan* plan, __global const uint* movers, uint mover_groups, __global uint* slots, uint slot,
    uint moved_most, __global uint2* pairs, uint capacity, uint counts_tests )
{
    __local pair_queue queue;
    uint item = (uint)get_local_id( 0 );
    uint group = (uint)get_group_id( 0 );
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    int is_anew = is_laid_anew( slots + slot * SLOT_WORDS, moved_most );
    uint side = slots[slot * SLOT_WORDS + SLOT_SIDE] ^ (uint)is_anew;
    __global const float4* records = both_records + 2 * (size_t)side * count;
    uint placed = slots[slot * SLOT_WORDS + ( is_anew ? SLOT_PLACED : SLOT_KEPT )];
    uint mover_count = is_anew ? 0 : slots[slot * SLOT_WORDS + SLOT_MOVED];
    uint tests = 0;
    open_queue( &queue );
    if ( group < mover_groups )
    {
        uint stride = mover_groups * GROUP;
        for ( uint p = group * GROUP + item; p < mover_count * mover_count; p += stride )
        {
            uint a = p / mover_count;
            uint b = p - a * mover_count;
            if ( a < b )
            {
                float4 lower = records[2 * (size_t)movers[a]];
                float4 upper = records[2 * (size_t)movers[a] + 1];
                float4 l = records[2 * (size_t)movers[b]];
                tests += 1;
                TEST_RECORD( movers[b], l, 0u )
            }
        }
    }
    uint i = first + ( group - mover_groups ) * GROUP + item;
    if ( group >= mover_groups && i < end )
    {
        float4 lower = records[2 * (size_t)i];
        float4 upper = records[2 * (size_t)i + 1];
        uint pitch = plan->pitch;
        uint level = 0; // the first whose rows are asked as coarser ones are
        if ( i < placed && ( as_uint( lower.w ) & IS_MOVER ) == 0 )
        {
            uint cell = as_uint( upper.w );
            level = cell >> LEVEL_SHIFT;
            cell_place own = cell_place_of( plan, cell );
            cell_place last = last_of( plan, level, upper );
            uint rows_y = plan->levels[level].rows_y;
            uint reach = plan->levels[level].reach_x;
            uint row = plan->levels[level].first_row + own.z * rows_y + own.y;
            uint from_x = max( own.x, reach ) - reach;
            uint to_x = last.x + 1;
            bool goes_y = last.y > own.y;
            bool goes_z = last.z > own.z;
            bool has_below = goes_z && own.y > 0;
            // The ends of all ranges first, so that the reads overlap.
            uint above = row + rows_y;
            uint2 r0 = (uint2)( i + 1, starts[row * pitch + to_x] );
            uint2 r1 = (uint2)( goes_y ? starts[( row + 1 ) * pitch + from_x] : 0, goes_y ? starts[( row + 1 ) * pitch + to_x] : 0 );
            uint2 r2 = (uint2)(
                has_below ? starts[( above - 1 ) * pitch + from_x] : 0, has_below ? starts[( above - 1 ) * pitch + to_x] : 0 );
            uint2 r3 = (uint2)( goes_z ? starts[above * pitch + from_x] : 0, goes_z ? starts[above * pitch + to_x] : 0 );
            bool goes_both = goes_y && goes_z;
            uint2 r4 = (uint2)(
                goes_both ? starts[( above + 1 ) * pitch + from_x] : 0, goes_both ? starts[( above + 1 ) * pitch + to_x] : 0 );
            tests = r0.y - r0.x + r1.y - r1.x + r2.y - r2.x + r3.y - r3.x + r4.y - r4.x;
            // One loop over all five, so that items wait for the longest sum and not for the longest of each;
            // and while one record is tested the next is on its way.
            uint left = 4;
            uint next = 0;
            bool has_next = false;
            float4 next_lower = (float4)( 0 );
            NEXT_RECORD
            while ( has_next )
            {
                uint j = next;
                float4 l = next_lower;
                NEXT_RECORD
                TEST_RECORD( j, l, IS_MOVER )
            }
            level += 1;
        }
        for ( uint coarse = level; coarse < plan->level_count && i < placed; ++coarse )
        {
            cell_place own = last_of( plan, coarse, lower );
            cell_place last = last_of( plan, coarse, upper );
            uint rows_y = plan->levels[coarse].rows_y;
            uint reach = plan->levels[coarse].reach_x;
            uint from_x = max( own.x, reach ) - reach;
            for ( uint z = max( own.z, 1u ) - 1; z <= last.z; ++z )
            {
                for ( uint y = max( own.y, 1u ) - 1; y <= last.y; ++y )
                {
                    uint entry = ( plan->levels[coarse].first_row + z * rows_y + y ) * pitch;
                    uint range_begin = starts[entry + from_x];
                    uint range_end = starts[entry + last.x + 1];
                    tests += range_end - range_begin;
                    TEST_RANGE( range_begin, range_end )
                }
            }
        }
        uint large = max( placed, i + 1 );
        tests += count - large;
        TEST_RANGE( large, count )
    }
    write_queue( &queue, counts_tests != 0 ? tests : 0, counters, pairs, capacity );
}
