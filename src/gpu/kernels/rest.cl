// SPDX-License-Identifier: MIT
// Worlds that mostly rest: pairs of two boxes that did not change are those of the frame before, and only
// boxes that changed are searched for, in the order of cells that the grid keeps (grid.cl). Compare, then
// find: two launches instead of five.
//
// Every box is compared with a copy of itself, bit by bit, so nothing is trusted. Those that changed are
// written into their records; a box that may not stay in its cell is flagged IS_MOVER, listed, and stays so
// until all is laid anew, even if it comes back: a flagged box asks by itself, the others are met by way of
// the cells, and a box that did not change is what it was. A box that changed asks all rows about it on every
// level for boxes in their cells, and all that fit no level. One that left its cell asks rows too, whether it
// changed or not, and all others that left theirs. So of a pair of which at least one changed, one that left
// its cell finds the other that did not; of two that did, and of two in their cells that changed, the one
// with the smaller index tells. Were it the ones that changed that asked all that left, as many tests would
// be made as the two numbers' product: with one box in a hundred going to and fro, one in seven of whom
// leaves its cell in time, 15 for each box of the world.
//
// Where that does not do, because too many changed, too many left their cells, a large box changed, which
// would ask very many rows, or because the list of the frame before was cut or is not there, the frame is
// marked WORK_UNDONE and no pair is told; so are the frames after it. The host then has the last of them laid
// out and searched whole, when it is waited for. Behind common.cl and cells.cl.

#define WIDE_ROWS 512u // of one box: beyond, its items would be longer at work than all others together

// Rows that a box asks; those of a bad box, or one across many cells, are very many.
inline uint rows_asked( __constant const gpu_grid_plan* plan, float4 lower, float4 upper )
{
    uint rows = 0;
    for ( uint level = 0; level < plan->level_count; ++level )
    {
        cell_place own = last_of( plan, level, lower );
        cell_place last = last_of( plan, level, upper );
        rows += min( last.y + 2 - max( own.y, 1u ), 4096u ) * min( last.z + 2 - max( own.z, 1u ), 4096u );
    }
    return rows;
}

// A box that changed into its record. What it asks for in sixteens of rows, or WORK_WIDE; *left: it is a
// mover since now.
inline uint renew_record( __constant const gpu_grid_plan* plan, __global float4* record, int is_placed, float4 lower, float4 upper, int* left )
{
    uint index = as_uint( record[0].w );
    uint cell = as_uint( record[1].w );
    uint work = WORK_WIDE;
    if ( is_placed )
    {
        uint rows = rows_asked( plan, lower, upper );
        work = rows > WIDE_ROWS ? WORK_WIDE : ( rows + 15 ) / 16;
        *left = ( index & IS_MOVER ) == 0 && !may_stay( plan, cell, lower, upper );
        index |= *left ? IS_MOVER : 0;
    }
    lower.w = as_float( index );
    upper.w = as_float( cell );
    record[0] = lower;
    record[1] = upper;
    return work;
}

// Who changed: into its record, into `before`, the copy; a bit in `bits`, and the place of its record in
// `changed`. `where` has the place of each box's record.
__kernel void rest_compare( __global const uint2* boxes, __global uint2* before, uint count, __constant const gpu_grid_plan* plan,
    __global const uint* where, __global float4* records, __global uint* movers, __global uint* changed, __global uint* bits,
    __global uint* slots, uint slot, uint last_slot, uint next_slot, uint moved_most, uint left_most, uint changed_most )
{
    __local uint words[GROUP / 32];
    __local uint sums[4]; // changed, left, work, and whether any is wide
    __local uint bases[2];
    uint item = (uint)get_local_id( 0 );
    uint i = (uint)get_global_id( 0 );
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    __global const uint* last = slots + last_slot * SLOT_WORDS;
    int was_anew = is_laid_anew( last, moved_most );
    uint side = last[SLOT_SIDE] ^ (uint)was_anew;
    uint placed = was_anew ? last[SLOT_PLACED] : last[SLOT_KEPT];
    uint carry = was_anew ? 0 : last[SLOT_MOVED] + last[SLOT_CARRY] + last[SLOT_LEFT];
    if ( item < GROUP / 32 )
    {
        words[item] = 0;
    }
    if ( item < 4 )
    {
        sums[item] = 0;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    uint k = 0;
    int is_changed = 0;
    int left = 0;
    uint at = 0;
    uint left_at = 0;
    if ( i < count )
    {
        size_t own = 3 * (size_t)i;
        uint2 a = boxes[own];
        uint2 b = boxes[own + 1];
        uint2 c = boxes[own + 2];
        uint2 differing = ( a ^ before[own] ) | ( b ^ before[own + 1] ) | ( c ^ before[own + 2] );
        is_changed = ( differing.x | differing.y ) != 0;
        if ( is_changed )
        {
            before[own] = a;
            before[own + 1] = b;
            before[own + 2] = c;
            k = where[i];
            float4 lower = (float4)( as_float( a.x ), as_float( a.y ), as_float( b.x ), 0 );
            float4 upper = (float4)( as_float( b.y ), as_float( c.x ), as_float( c.y ), 0 );
            uint work = renew_record( plan, records + 2 * ( (size_t)side * count + k ), k < placed, lower, upper, &left );
            atomic_or( (volatile __local uint*)words + item / 32, 1u << ( item % 32 ) );
            at = atomic_inc( (volatile __local uint*)sums );
            if ( left )
            {
                left_at = atomic_inc( (volatile __local uint*)sums + 1 );
            }
            atomic_add( (volatile __local uint*)sums + 2, work == WORK_WIDE ? 0 : work );
            atomic_or( (volatile __local uint*)sums + 3, work & WORK_WIDE );
        }
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    if ( item == 0 && sums[0] > 0 )
    {
        bases[0] = atomic_add( counters + SLOT_CHANGED, sums[0] );
        bases[1] = sums[1] > 0 ? carry + atomic_add( counters + SLOT_LEFT, sums[1] ) : 0;
        atomic_add( counters + SLOT_WORK, sums[2] );
        if ( sums[3] != 0 )
        {
            atomic_or( counters + SLOT_WORK, WORK_WIDE );
        }
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    if ( is_changed && bases[0] + at < changed_most )
    {
        changed[bases[0] + at] = k;
    }
    if ( left && bases[1] + left_at < left_most )
    {
        movers[bases[1] + left_at] = k;
    }
    if ( item < GROUP / 32 ) // there are bits for whole groups
    {
        bits[( i - item ) / 32 + item] = words[item];
    }
    if ( i == 0 )
    {
        counters[SLOT_SIDE] = side;
        counters[SLOT_KEPT] = placed;
        counters[SLOT_CARRY] = carry;
    }
    clear_slot( slots, next_slot );
}

inline int is_marked( __global const uint* bits, uint index )
{
    return ( bits[index / 32] >> ( index % 32 ) & 1 ) != 0;
}

// One record against a box that asks; `skipped` as in grid.cl, `tells`: whether it is the one to tell the
// pair.
#define MEET( j, skipped, tells )                                                                                   \
    {                                                                                                        \
        float4 l = records[2 * (size_t)( j )];                                                               \
        tests += 1;                                                                                          \
        if ( l.x <= upper.x && l.y <= upper.y && l.z <= upper.z && ( as_uint( l.w ) & ( skipped ) ) == 0 && ( j ) != own ) \
        {                                                                                                    \
            float4 u = records[2 * (size_t)( j ) + 1];                                                       \
            uint other = as_uint( l.w ) & ~IS_MOVER;                                                         \
            if ( lower.x <= u.x && lower.y <= u.y && lower.z <= u.z && ( tells ) )                           \
            {                                                                                                \
                put_pair( &queue, counters, pairs, capacity, index, other );                           \
            }                                                                                                \
        }                                                                                                    \
    }

// Pairs [first, …) of the list before of which none changed, REST_CARRIED for each item of the group: added
// up, not queued, since nearly all of them stay. All reads of an item are on their way before the first is
// looked at.
inline void carry_over( __global const uint2* source, uint first, uint source_count, __global const uint* bits, __local uint* sums,
    __local uint* base, volatile __global uint* counters, __global uint2* pairs, uint capacity )
{
    uint item = (uint)get_local_id( 0 );
    uint2 own[REST_CARRIED];
    uint stays = 0;
    for ( uint k = 0; k < REST_CARRIED; ++k )
    {
        uint at = first + k * GROUP + item;
        own[k] = at < source_count ? source[at] : (uint2)( 0, 0 );
        stays |= at < source_count ? 1u << k : 0;
    }
    for ( uint k = 0; k < REST_CARRIED; ++k )
    {
        uint changed_one = bits[own[k].x / 32] >> ( own[k].x % 32 ) & 1;
        uint changed_other = bits[own[k].y / 32] >> ( own[k].y % 32 ) & 1;
        stays &= ~( ( changed_one | changed_other ) << k );
    }
    uint total = 0;
    uint before = scan_group( sums, popcount( stays ), &total );
    if ( item == 0 )
    {
        *base = total > 0 ? add_wide( counters + SLOT_PAIRS, total ) : 0;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    uint to = *base;
    for ( uint k = 0; k < REST_CARRIED; ++k )
    {
        uint is_kept = stays >> k & 1;
        if ( is_kept != 0 && to < capacity && before < capacity - to )
        {
            pairs[to + before] = own[k];
        }
        before += is_kept;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
}

// Told by whom: see above.
#define BY_ASKER ( has_left ? is_new || is_marked( bits, other ) : index < other || !is_marked( bits, other ) )
#define BY_SMALLER ( index < other && ( is_new || is_marked( bits, other ) ) )

// The first `carry_groups` groups copy the pairs of the frame before of which none changed; the others search
// for those that did, and then for those that left their cells.
__kernel void rest_find( __global const float4* both_records, uint count, __global const uint* starts, __constant const gpu_grid_plan* plan,
    __global const uint* movers, __global const uint* changed, __global const uint* bits, __global const uint2* source, uint source_room,
    uint carry_groups, __global uint* slots, uint slot, uint last_slot, uint left_most, uint changed_most, uint work_most,
    __global uint2* pairs, uint capacity, uint counts_tests )
{
    __local pair_queue queue;
    __local uint sums[GROUP];
    uint item = (uint)get_local_id( 0 );
    uint group = (uint)get_group_id( 0 );
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    __global const uint* last = slots + last_slot * SLOT_WORDS;
    uint placed = slots[slot * SLOT_WORDS + SLOT_KEPT];
    uint changed_count = slots[slot * SLOT_WORDS + SLOT_CHANGED];
    uint left_count = slots[slot * SLOT_WORDS + SLOT_CARRY] + slots[slot * SLOT_WORDS + SLOT_LEFT];
    uint source_count = last[SLOT_PAIRS];
    __global const float4* records = both_records + 2 * (size_t)slots[slot * SLOT_WORDS + SLOT_SIDE] * count;
    // The mark itself counts as too much work: a thread that reads it already set decides the same.
    int is_undone = changed_count > changed_most || left_count > left_most || slots[slot * SLOT_WORDS + SLOT_WORK] > work_most ||
        ( last[SLOT_WORK] & WORK_UNDONE ) != 0 ||
        last[SLOT_PAIRS + 1] != 0 || source_count > source_room;
    uint tests = 0;
    open_queue( &queue );
    if ( is_undone )
    {
        source_count = 0;
        changed_count = 0;
        left_count = 0;
        if ( group == 0 && item == 0 )
        {
            atomic_or( counters + SLOT_WORK, WORK_UNDONE );
        }
    }
    // the same for the whole group: there are barriers inside
    uint carried = group < carry_groups ? source_count : 0;
    for ( uint first = group * REST_CARRIED * GROUP; first < carried; first += carry_groups * REST_CARRIED * GROUP )
    {
        carry_over( source, first, source_count, bits, sums, &queue.base, counters, pairs, capacity );
    }
    uint lane = item % REST_LANES;
    uint first_asker = ( ( group - carry_groups ) * GROUP + item ) / REST_LANES;
    uint stride = ( (uint)get_num_groups( 0 ) - carry_groups ) * ( GROUP / REST_LANES );
    uint slices = max( 1u, ( left_count + REST_SLICE - 1 ) / REST_SLICE ); // divided by
    for ( uint m = first_asker; group >= carry_groups && m < changed_count + left_count * slices; m += stride )
    {
        int has_left = m >= changed_count;
        uint slice = has_left ? ( m - changed_count ) % slices : 0; // all else is the first one's
        uint own = has_left ? movers[( m - changed_count ) / slices] : changed[m];
        float4 lower = records[2 * (size_t)own];
        float4 upper = records[2 * (size_t)own + 1];
        uint index = as_uint( lower.w ) & ~IS_MOVER;
        int is_new = !has_left || is_marked( bits, index );
        if ( !has_left && index != as_uint( lower.w ) )
        {
            continue; // among those that left its turn comes
        }
        // Rows of one that changed were counted; of one that did not there may be very many, and only those
        // that changed matter to it.
        int is_wide = slice == 0 && !is_new && rows_asked( plan, lower, upper ) > WIDE_ROWS;
        uint level_count = slice == 0 && !is_wide ? plan->level_count : 0;
        for ( uint at = lane; is_wide && at < changed_count; at += REST_LANES )
        {
            uint j = changed[at];
            MEET( j, IS_MOVER, 1 )
        }
        for ( uint level = 0; level < level_count; ++level )
        {
            cell_place low = last_of( plan, level, lower );
            cell_place high = last_of( plan, level, upper );
            uint from_x = max( low.x, plan->levels[level].reach_x ) - plan->levels[level].reach_x;
            uint from_y = max( low.y, 1u ) - 1;
            uint from_z = max( low.z, 1u ) - 1;
            uint rows_y = high.y + 1 - from_y;
            uint rows = rows_y * ( high.z + 1 - from_z );
            for ( uint r = lane; r < rows; r += REST_LANES )
            {
                uint z = r / rows_y;
                uint row = plan->levels[level].first_row + ( from_z + z ) * plan->levels[level].rows_y + from_y + r - z * rows_y;
                uint end = starts[row * plan->pitch + high.x + 1];
                for ( uint j = starts[row * plan->pitch + from_x]; j < end; ++j )
                {
                    MEET( j, IS_MOVER, BY_ASKER )
                }
            }
        }
        uint slice_end = has_left ? min( ( slice + 1 ) * REST_SLICE, left_count ) : 0;
        for ( uint at = slice * REST_SLICE + lane; at < slice_end; at += REST_LANES )
        {
            uint j = movers[at];
            MEET( j, 0u, BY_SMALLER )
        }
        for ( uint j = placed + lane; is_new && slice == 0 && j < count; j += REST_LANES )
        {
            MEET( j, 0u, BY_ASKER )
        }
    }
    write_queue( &queue, counts_tests != 0 ? tests : 0, counters, pairs, capacity );
}

// From a frame that was searched whole: where each box's record lies, and the copy to compare with.
__kernel void rest_enter( __global const uint2* boxes, __global uint2* before, uint count, __global const uint2* kept,
    __global uint* where, __global const uint* slots, uint slot, uint moved_most )
{
    __global const uint* counters = slots + slot * SLOT_WORDS;
    uint side = counters[SLOT_SIDE] ^ (uint)is_laid_anew( counters, moved_most );
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        size_t own = 3 * (size_t)i;
        where[kept[(size_t)side * count + i].x] = i;
        before[own] = boxes[own];
        before[own + 1] = boxes[own + 1];
        before[own + 2] = boxes[own + 2];
    }
}
