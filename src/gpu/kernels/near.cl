// SPDX-License-Identifier: MIT
// Points within a cutoff of each other (near.h). Points are sorted into cells as boxes are (grid.cl), with
// its scan, into a table that has two kinds of axes:
//
//   open      the number of a cell is floor( coordinate * scale ), of 64 bits, and its place in the table
//             that number modulo the table's size, a power of 2. So no world is too large, and a point far
//             out is none; cells that share a place are told apart by the distance.
//   periodic  cells fill the edge exactly. The one behind the last is the first, shifted by one edge.
//
// A point asks the cells from that of (coordinate - reach) to that of (coordinate + reach) on open axes: a
// cell's number never falls as a coordinate grows, rounding included, so no pair is lost whatever the scale.
// On periodic axes it asks as many cells on either side as the reach spans. A half list takes of these cells
// its own, from the point on, and those behind it in the order of z, y and x.
//
// A record is 16 bytes: the wrapped point and its index. Behind common.cl and cells.cl.

#define NEAR_WRAPS 4   // as src/core/near/near_points.c
#define NEAR_WORDS 14  // of 32 tests each, that a point keeps in local memory

typedef struct near_axis
{
    int own; // cell in the table
    int low, high; // cells asked on both sides
} near_axis;

inline long open_cell( float value, float scale )
{
    return (long)fmin( fmax( floor( value * scale ), -4.6e18f ), 4.6e18f );
}

inline near_axis axis_of( __constant const gpu_near_plan* plan, uint axis, float value )
{
    near_axis out;
    float scale = plan->scale[axis];
    uint size = plan->size[axis];
    if ( ( plan->periodic & ( 1u << axis ) ) != 0 )
    {
        out.own = (int)fmin( fmax( value * scale, 0.0f ), (float)( size - 1 ) );
        out.high = (int)plan->layers[axis];
        out.low = -out.high;
    }
    else
    {
        long own = open_cell( value, scale );
        long low = open_cell( value - plan->reach[axis], scale ) - own;
        long high = open_cell( value + plan->reach[axis], scale ) - own;
        out.own = (int)( own & (long)( size - 1 ) );
        out.low = (int)max( low, -(long)size );
        out.high = (int)min( high, (long)size );
    }
    return out;
}

// Would a cell of an open axis be asked twice? That is what the table's least size is for.
inline bool asks_twice( __constant const gpu_near_plan* plan, uint k, near_axis axis )
{
    return ( plan->periodic & ( 1u << k ) ) == 0 && axis.high - axis.low >= (int)plan->size[k];
}

// The point as it is given, and in the cell; false if it is not finite, or too far from the cell.
inline bool take_point( __global const float* points, uint i, __constant const gpu_near_plan* plan, float at[3] )
{
    size_t from = (size_t)i * plan->stride;
    at[0] = points[from];
    at[1] = points[from + 1];
    at[2] = plan->axes == 3 ? points[from + 2] : 0.0f;
    bool is_good = isfinite( at[0] ) && isfinite( at[1] ) && isfinite( at[2] );
#ifdef cl_khr_fp64
    for ( uint k = 0; k < 3 && is_good; ++k )
    {
        double wrap = 0;
        for ( uint round = 0; round < NEAR_WRAPS && ( plan->periodic & ( 1u << k ) ) != 0 && is_good; ++round )
        {
            double s = (double)at[k] * plan->inverse[k];
            double step = s >= 0 && s < 1 ? 0 : floor( s );
            wrap += step;
            is_good = fabs( wrap ) < 0x1p30;
            if ( step == 0 || !is_good )
            {
                break;
            }
            at[k] = (float)( (double)at[k] - step * plan->edge[k] );
        }
    }
#endif
    return is_good;
}

// Up to a few thousand points, six numbers each: where they lie.
__kernel void near_sample( __global const float* points, uint count, __constant const gpu_near_plan* plan,
    __global float* sample, uint sample_count )
{
    uint i = (uint)get_global_id( 0 );
    if ( i < sample_count )
    {
        size_t from = (size_t)( (ulong)i * count / sample_count ) * plan->stride;
        for ( uint k = 0; k < 6; ++k )
        {
            sample[6 * i + k] = k % 3 < plan->axes ? points[from + k % 3] : 0.0f;
        }
    }
}

// Where each point will lie: its entry of the table, and how many came there before.
__kernel void near_place( __global const float* points, uint count, __constant const gpu_near_plan* plan,
    volatile __global uint* counts, __global uint2* places, __global uint* slots, uint slot, uint next_slot )
{
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    clear_slot( slots, next_slot );
    uint i = (uint)get_global_id( 0 );
    if ( i == 0 )
    {
        counters[SLOT_MOVED] = ALL_MOVED; // for grid_scan: everything is laid anew
    }
    if ( i < count )
    {
        float at[3];
        bool is_good = take_point( points, i, plan, at );
        if ( !is_good )
        {
            atomic_max( counters + SLOT_BAD, 0xFFFFFFFFu - i );
            at[0] = at[1] = at[2] = 0;
        }
        near_axis x = axis_of( plan, 0, at[0] );
        near_axis y = axis_of( plan, 1, at[1] );
        near_axis z = axis_of( plan, 2, at[2] );
        if ( asks_twice( plan, 0, x ) || asks_twice( plan, 1, y ) || asks_twice( plan, 2, z ) )
        {
            atomic_inc( counters + SLOT_LARGE );
        }
        uint entry = ( (uint)z.own * plan->size[1] + (uint)y.own ) * plan->pitch + (uint)x.own;
        places[i] = (uint2)( entry, atomic_inc( counts + entry ) );
    }
}

__kernel void near_put( __global const float* points, uint count, __constant const gpu_near_plan* plan,
    __global const uint2* places, __global const uint* starts, __global float4* records )
{
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        float at[3];
        take_point( points, i, plan, at );
        uint2 place = places[i];
        records[starts[place.x] + place.y] = (float4)( at[0], at[1], at[2], as_float( i ) );
    }
}

// ---- the search

// Down to a cell of the table, and how many edges that is away.
inline int wrap_cell( int cell, int size, int* shift )
{
    *shift = 0;
    while ( cell < 0 )
    {
        cell += size;
        *shift -= 1;
    }
    while ( cell >= size )
    {
        cell -= size;
        *shift += 1;
    }
    return cell;
}

// Does a pair of this shift have its second point moved? Else it is the first, by the opposite.
inline bool is_forward( int x, int y, int z )
{
    return x != 0 ? x > 0 : y != 0 ? y > 0 : z >= 0;
}

// Every run of records [j, stop) that point i, at `own`, may have pairs in. With PERIODIC the run is seen
// moved by (bx, by, bz) from a point at (ax, ay, az), one of which is as it was. `is_own` tells the run that
// holds i itself; with HALF that begins behind it.
#define EACH_RUN( HALF, PERIODIC, BODY )                                                                     \
    for ( int over_z = HALF ? 0 : z.low; over_z <= z.high; ++over_z )                                                    \
    {                                                                                                        \
        int shift_z;                                                                                         \
        int cell_z = wrap_cell( z.own + over_z, size_z, &shift_z );                                              \
        for ( int over_y = HALF && over_z == 0 ? 0 : y.low; over_y <= y.high; ++over_y )                                     \
        {                                                                                                    \
            int shift_y;                                                                                     \
            uint row = ( (uint)cell_z * (uint)size_y + (uint)wrap_cell( y.own + over_y, size_y, &shift_y ) ) * pitch; \
            bool is_own_row = over_z == 0 && over_y == 0;                                                            \
            int from = x.own + ( HALF && is_own_row ? 0 : x.low );                                           \
            int last = x.own + x.high;                                                                       \
            bool is_first = HALF && is_own_row;                                                              \
            while ( from <= last )                                                                           \
            {                                                                                                \
                int shift_x;                                                                                 \
                int begin = wrap_cell( from, size_x, &shift_x );                                             \
                int end = min( begin + last - from, size_x - 1 );                                            \
                uint j = is_first ? i + 1 : starts[row + begin];                                             \
                uint stop = starts[row + end + 1];                                                           \
                from += end - begin + 1;                                                                     \
                is_first = false;                                                                            \
                float ax = own.x, ay = own.y, az = own.z, bx = 0, by = 0, bz = 0;                            \
                bool is_home = true;                                                                         \
                bool is_ahead = true;                                                                        \
                if ( PERIODIC )                                                                              \
                {                                                                                            \
                    int sx = ( periodic & 1u ) != 0 ? shift_x : 0;                                           \
                    int sy = ( periodic & 2u ) != 0 ? shift_y : 0;                                           \
                    int sz = ( periodic & 4u ) != 0 ? shift_z : 0;                                           \
                    is_ahead = is_forward( sx, sy, sz );                                                     \
                    is_home = sx == 0 && sy == 0 && sz == 0;                                                 \
                    int sign = is_ahead ? 1 : -1;                                                            \
                    float tx = plan->offsets[0][NEAR_SHIFTS + sign * sx];                                    \
                    float ty = plan->offsets[1][NEAR_SHIFTS + sign * sy];                                    \
                    float tz = plan->offsets[2][NEAR_SHIFTS + sign * sz];                                    \
                    bx = is_ahead ? tx : 0;                                                                  \
                    by = is_ahead ? ty : 0;                                                                  \
                    bz = is_ahead ? tz : 0;                                                                  \
                    ax = is_ahead || is_home ? ax : ax + tx;                                                 \
                    ay = is_ahead || is_home ? ay : ay + ty;                                                 \
                    az = is_ahead || is_home ? az : az + tz;                                                 \
                }                                                                                            \
                BODY                                                                                         \
            }                                                                                                \
        }                                                                                                    \
    }

// The squared distance in float, as near.h states it.
#define SQUARE_OF( r, PERIODIC, out )                                                                        \
    {                                                                                                        \
        float dx = ( PERIODIC ? r.x + bx : r.x ) - ax;                                                       \
        float dy = ( PERIODIC ? r.y + by : r.y ) - ay;                                                      \
        float dz = ( PERIODIC ? r.z + bz : r.z ) - az;                                                      \
        out = dx * dx + dy * dy + dz * dz;                                                               \
    }

// Is record `k` of four from `first` on a hit?
#define TEST_ONE( PERIODIC, k )                                                                              \
    {                                                                                                        \
        float4 r = records[first + k];                                                                       \
        float squared;                                                                                       \
        SQUARE_OF( r, PERIODIC, squared )                                                                    \
        bits |= squared <= square ? 1u << k : 0u;                                                            \
    }

// Is a hit an entry of this list? Itself is none, and where lesser points have their neighbours each once,
// greater ones have them not.
#define IS_ENTRY( record )                                                                                   \
    ( mode == NEAR_HALF ||                                                                                   \
        ( !( is_home && ( record ) == i ) &&                                                                 \
            ( mode == NEAR_FULL || as_uint( records[record].w ) > index ||                                   \
                ( as_uint( records[record].w ) == index && is_ahead ) ) ) )

// Tests of a run, four at a time so that their reads overlap; up to three behind it, for which there is
// room, do not count. Each 32 of them that have a hit are kept as a word, with the record of its first bit,
// as long as there is room.
#define TEST_RUN( PERIODIC )                                                                                 \
    for ( ; j < stop; j += 32 )                                                                              \
    {                                                                                                        \
        uint word = 0;                                                                                       \
        uint end_of_word = min( stop, j + 32 );                                                              \
        for ( uint first = j; first < end_of_word; first += 4 )                                              \
        {                                                                                                    \
            uint bits = 0;                                                                                   \
            TEST_ONE( PERIODIC, 0 )                                                                          \
            TEST_ONE( PERIODIC, 1 )                                                                          \
            TEST_ONE( PERIODIC, 2 )                                                                          \
            TEST_ONE( PERIODIC, 3 )                                                                          \
            word |= bits << ( first - j );                                                                   \
        }                                                                                                    \
        word &= end_of_word - j < 32 ? ( 1u << ( end_of_word - j ) ) - 1 : 0xFFFFFFFFu;                      \
        for ( uint rest = mode != NEAR_HALF ? word : 0; rest != 0; rest &= rest - 1 )                        \
        {                                                                                                    \
            uint lowest = rest & ( 0u - rest );                                                              \
            word &= IS_ENTRY( j + 31 - clz( lowest ) ) ? 0xFFFFFFFFu : ~lowest;                              \
        }                                                                                                    \
        if ( word != 0 )                                                                                     \
        {                                                                                                    \
            found += popcount( word );                                                                       \
            if ( words < NEAR_WORDS )                                                                        \
            {                                                                                                \
                hits[words * GROUP + item] = (uint2)( word, j );                                             \
            }                                                                                                \
            words += 1;                                                                                      \
        }                                                                                                    \
    }

// The same runs again, for a point whose words had no room.
#define WRITE_RUN( PERIODIC )                                                                                \
    for ( ; j < stop; ++j )                                                                                  \
    {                                                                                                        \
        uint bits = 0;                                                                                       \
        uint first = j;                                                                                      \
        TEST_ONE( PERIODIC, 0 )                                                                              \
        if ( bits != 0 && IS_ENTRY( j ) )                                                                    \
        {                                                                                                    \
            write_entry( mode, stage, pairs, indices, capacity, at, index, as_uint( records[j].w ) );        \
            at += 1;                                                                                         \
        }                                                                                                    \
    }

#define BY_CELLS( BODY )                                                                                     \
    {                                                                                                        \
        float4 own = records[i];                                                                             \
        uint index = as_uint( own.w );                                                                       \
        near_axis x = axis_of( plan, 0, own.x );                                                             \
        near_axis y = axis_of( plan, 1, own.y );                                                             \
        near_axis z = axis_of( plan, 2, own.z );                                                             \
        int size_x = (int)plan->size[0], size_y = (int)plan->size[1], size_z = (int)plan->size[2];           \
        uint pitch = plan->pitch, periodic = plan->periodic;                                                 \
        float square = plan->square;                                                                         \
        if ( periodic != 0 && mode != NEAR_HALF )                                                            \
        {                                                                                                    \
            EACH_RUN( 0, 1, BODY( 1 ) )                                                                      \
        }                                                                                                    \
        else if ( periodic != 0 )                                                                            \
        {                                                                                                    \
            EACH_RUN( 1, 1, BODY( 1 ) )                                                                      \
        }                                                                                                    \
        else if ( mode != NEAR_HALF )                                                                        \
        {                                                                                                    \
            EACH_RUN( 0, 0, BODY( 0 ) )                                                                      \
        }                                                                                                    \
        else                                                                                                 \
        {                                                                                                    \
            EACH_RUN( 1, 0, BODY( 0 ) )                                                                      \
        }                                                                                                    \
    }

inline void write_entry( uint mode, uint stage, __global uint2* pairs, __global uint* indices, uint capacity, uint at,
    uint index, uint other )
{
    if ( at >= capacity )
    {
        return;
    }
    if ( stage == NEAR_FILL )
    {
        indices[at] = other;
    }
    else
    {
        pairs[at] = mode == NEAR_FULL ? (uint2)( index, other ) : (uint2)( min( index, other ), max( index, other ) );
    }
}

// The first item whose entries, and those before it, are more than `at`: `ends` has their sums.
inline uint owner_of( __local const uint* ends, uint at )
{
    uint low = 0;
    for ( uint step = GROUP / 2; step > 0; step /= 2 )
    {
        low += ends[low + step - 1] <= at ? step : 0;
    }
    return low;
}

// Each point asks the cells about it. NEAR_PAIRS: a group takes the place of all its pairs with one atomic.
// What does not fit is counted all the same: the host sees that the list was cut and runs this again.
// NEAR_COUNT: numbers[point] is how many entries a point has. NEAR_FILL: it is where they begin.
//
// What the items of a group found is written by all of them, entry by entry, so that neighbours write side by
// side.
__kernel void near_find( __global const float4* records, uint count, __constant const gpu_near_plan* plan,
    __global const uint* starts, uint mode, uint stage, __global uint* slots, uint slot, __global uint2* pairs,
    uint capacity, __global uint* numbers, __global uint* indices )
{
    __local uint2 hits[NEAR_WORDS * GROUP];
    __local uint word_counts[GROUP];
    __local uint sums[GROUP];
    __local uint bases[1];
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    uint item = (uint)get_local_id( 0 );
    uint i = (uint)get_global_id( 0 );
    uint found = 0;
    uint words = 0;
    if ( i < count )
    {
        BY_CELLS( TEST_RUN )
        if ( stage == NEAR_COUNT )
        {
            numbers[as_uint( records[i].w )] = found;
        }
    }
    word_counts[item] = words;
    uint total = 0;
    uint before = scan_group( sums, found, &total ); // leaves the sums
    if ( item == 0 && total > 0 && stage != NEAR_FILL )
    {
        bases[0] = add_wide( counters + SLOT_PAIRS, total );
    }
    if ( i == 0 && stage == NEAR_COUNT )
    {
        numbers[count] = 0;
    }
    barrier( CLK_LOCAL_MEM_FENCE );
    // A base of 2^32 or more has lost its high word, but then the list is cut: the host sees the true number.
    uint base = total > 0 && stage == NEAR_PAIRS ? bases[0] : 0;
    uint first_item = i - item;
    for ( uint k = item; k < total && stage != NEAR_COUNT; k += GROUP )
    {
        uint owner = owner_of( sums, k );
        uint rank = k - ( owner > 0 ? sums[owner - 1] : 0 );
        if ( word_counts[owner] <= NEAR_WORDS )
        {
            uint index = as_uint( records[first_item + owner].w );
            uint at = stage == NEAR_FILL ? numbers[index] + rank : base + k;
            uint2 hit = hits[owner];
            for ( uint next = owner + GROUP; popcount( hit.x ) <= rank; next += GROUP )
            {
                rank -= popcount( hit.x );
                hit = hits[next];
            }
            for ( ; rank > 0; --rank )
            {
                hit.x &= hit.x - 1;
            }
            uint other = as_uint( records[hit.y + 31 - clz( hit.x & ( 0u - hit.x ) )].w );
            write_entry( mode, stage, pairs, indices, capacity, at, index, other );
        }
    }
    if ( words > NEAR_WORDS && stage != NEAR_COUNT )
    {
        uint at = stage == NEAR_FILL ? numbers[as_uint( records[i].w )] : base + before;
        BY_CELLS( WRITE_RUN )
    }
}
