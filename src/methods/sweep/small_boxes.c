// SPDX-License-Identifier: MIT
#include "sweep/small_boxes.h"

#include "base/assertion.h"
#include "base/bit_set.h"

#include <math.h>
#include <string.h>

enum
{
    SMALL_SAMPLES = 48,
    BINS = 16,         // to tell how evenly the sample is spread
    CROWD_LEAST = 256, // fewer are swept in less time than it takes to measure their spread
    FAR_SHARE = 16,    // one in so many, at each end, may be far from the others
    BUCKET_BITS_LEAST = 5,
    BUCKET_BITS_MOST = 12,
    BUCKETS_MOST = 1 << BUCKET_BITS_MOST,
    SMALL_STEP_BITS = 15,
    STRIP_BITS_MOST = 4,
    ROWS_AT_ONCE = 64,
    COLUMNS = 24,      // in reach of a row: fewer need no more strips
    STRIP_LENGTHS = 4, // a strip is at least so many boxes wide
};

#define UNEVEN 1.5 // evenly spread samples reach this so seldom that it is taken as a sign of a crowd

// ---- memory

// Per box: four numbers of 16 bits, slot, end.
enum
{
    BOX_BYTES = 4 * 2 + 4 + 4
};

void clv_sweep_small_release( sweep_small* small )
{
    base_memory* memory = small->memory;
    clv_base_memory_give( memory, small->block, small->capacity, BOX_BYTES );
    base_array_free( &small->items, memory );
    base_array_free( &small->placed, memory );
    base_array_free( &small->wide, memory );
    base_array_free( &small->rows, memory );
    clv_base_memory_give(
        memory, small->starts, small->starts != NULL ? 2 * ( BUCKETS_MOST + 1 ) : 0, sizeof( uint32_t ) );
    *small = ( sweep_small ){ .memory = memory, .kernels = small->kernels };
}

static void lay_out_small( sweep_small* small, char* block, uint64_t capacity )
{
    small->boxes.slots = (uint32_t*)block;
    small->boxes.ends = small->boxes.slots + capacity;
    int16_t* numbers = (int16_t*)( small->boxes.ends + capacity );
    for ( uint32_t axis = 0; axis < 2; ++axis )
    {
        small->boxes.lower[axis] = numbers + capacity * ( 2 * axis );
        small->boxes.upper[axis] = numbers + capacity * ( 2 * axis + 1 );
    }
}

static bool grow_small( sweep_small* small, uint64_t count )
{
    base_memory* memory = small->memory;
    // A multiple of the round, so that every array starts on a cache line.
    uint64_t capacity = ( count + count / 2 + SMALL_ROUND ) / SMALL_ROUND * SMALL_ROUND + SMALL_ROUND;
    char* block = clv_base_memory_take( memory, capacity, BOX_BYTES );
    if ( block == NULL )
    {
        return false;
    }
    clv_base_memory_give( memory, small->block, small->capacity, BOX_BYTES );
    memset( block, 0, (size_t)capacity * BOX_BYTES );
    small->block = block;
    small->capacity = capacity;
    lay_out_small( small, block, capacity );
    return true;
}

static bool reserve_small_items( sweep_small* small, uint32_t count )
{
    return base_array_reserve( &small->items, small->memory, (uint64_t)count + 1 );
}

static bool reserve_rows( sweep_small* small, uint64_t count )
{
    return base_array_reserve( &small->rows, small->memory, count + 1 );
}

static bool reserve_small( sweep_small* small, uint32_t count )
{
    small->wide.count = 0;
    if ( small->starts == NULL )
    {
        small->starts = clv_base_memory_take( small->memory, 2 * ( BUCKETS_MOST + 1 ), sizeof( uint32_t ) );
    }
    return small->starts != NULL && reserve_small_items( small, count ) &&
        base_array_reserve( &small->placed, small->memory, (uint64_t)count * 2 + 1 ) &&
        base_array_reserve( &small->wide, small->memory, (uint64_t)count + 1 ) &&
        ( (uint64_t)count * 2 + SMALL_ROUND <= small->capacity || grow_small( small, (uint64_t)count * 2 ) );
}

bool clv_sweep_small_reserve_rows( sweep_small* small, uint32_t count )
{
    return reserve_rows( small, (uint64_t)count + ( ROWS_AT_ONCE << STRIP_BITS_MOST ) );
}

bool clv_sweep_small_reserve( sweep_small* small, uint32_t count )
{
    return reserve_small( small, count ) &&
        reserve_rows( small, (uint64_t)count * 2 + ( ROWS_AT_ONCE << STRIP_BITS_MOST ) );
}

// ---- the grid

typedef struct grid_sample
{
    float least[3], most[3]; // of the crowd, see below
    double crowding[3]; // of two of them taken at random, how often both begin in the same bin, times count^2
    double length[3];   // of all of them
    double count;
} grid_sample;

// The same along one axis, as they come.
typedef struct axis_sample
{
    float lower[SMALL_SAMPLES];
} axis_sample;

// How many boxes overlap a box along an axis grows with its length over the crowd's width, and with how
// unevenly the crowd is spread: bodies that lie on the ground under a few that still fall vary most along the
// height, and all overlap there. Cross-multiplied, so that a width of 0 needs no case of its own; points have
// no length and are compared by the rest.
static bool is_better( const grid_sample* sample, uint32_t axis, uint32_t than )
{
    double mine = sample->crowding[axis] * ( (double)sample->most[than] - (double)sample->least[than] );
    double theirs = sample->crowding[than] * ( (double)sample->most[axis] - (double)sample->least[axis] );
    double my_cost = mine * sample->length[axis];
    double their_cost = theirs * sample->length[than];
    return my_cost < their_cost || ( my_cost == their_cost && mine < theirs );
}

typedef struct axis_bins
{
    uint32_t counts[BINS];
} axis_bins;

// By where they begin; those beyond are in the first or last bin.
static axis_bins count_bins( const axis_sample* values, uint32_t count, float least, float most )
{
    axis_bins bins = { { 0 } };
    float width = most - least;
    float scale = width > 1e-30f && width < 1e30f ? BINS / width : 0;
    int32_t places[SMALL_SAMPLES]; // a loop of its own, which compilers vectorise
    for ( uint32_t i = 0; i < count; ++i )
    {
        float place = ( values->lower[i] - least ) * scale;
        place = place > 0 ? place : 0; // NaN too, where boxes have no end
        places[i] = (int32_t)( place < BINS - 1 ? place : BINS - 1 );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        bins.counts[places[i]] += 1;
    }
    return bins;
}

// Where the crowd lies, if that is at most half of what the sample covers: all but the last few at each end.
// A body that still falls would stretch the grid of a pile, and what the grid saves lies in the pile. True if
// the ends moved.
static bool find_crowd( const axis_bins* bins, uint32_t count, float* least, float* most )
{
    uint32_t few = count / FAR_SHARE;
    uint32_t first = 0, last = BINS - 1;
    for ( uint32_t sum = bins->counts[first]; sum <= few; sum += bins->counts[first] )
    {
        first += 1;
    }
    for ( uint32_t sum = bins->counts[last]; sum <= few; sum += bins->counts[last] )
    {
        last -= 1;
    }
    CLV_ASSERT( first <= last && last < BINS );
    if ( last - first + 1 > BINS / 2 )
    {
        return false;
    }
    // A bin more at the upper end: boxes are counted by where they begin.
    float bin = ( *most - *least ) / BINS;
    *most = last + 2 < BINS ? *least + bin * (float)( last + 2 ) : *most;
    *least += bin * (float)first;
    return true;
}

static void measure_axis( const axis_sample* values, uint32_t count, uint32_t axis, grid_sample* sample )
{
    float* least = &sample->least[axis];
    float* most = &sample->most[axis];
    axis_bins bins = count_bins( values, count, *least, *most );
    if ( find_crowd( &bins, count, least, most ) )
    {
        bins = count_bins( values, count, *least, *most );
    }
    uint32_t sum = 0;
    for ( uint32_t bin = 0; bin < BINS; ++bin )
    {
        sum += bins.counts[bin] * bins.counts[bin];
    }
    sample->crowding[axis] = sum;
}

static grid_sample sample_list( const sweep_list* list )
{
    axis_sample values[3];
    grid_sample sample = { .least = { INFINITY, INFINITY, INFINITY },
        .most = { -INFINITY, -INFINITY, -INFINITY } };
    uint32_t stride = ( list->count + SMALL_SAMPLES - 1 ) / SMALL_SAMPLES;
    uint32_t count = 0;
    for ( uint32_t i = 0; i < list->count; i += stride, ++count )
    {
        const clv_aabb* box = &list->boxes[list->slots[base_sample_step( i, stride, list->count )]];
        for ( int axis = 0; axis < 3; ++axis )
        {
            float lower = ( &box->lower.x )[axis];
            float upper = ( &box->upper.x )[axis];
            values[axis].lower[count] = lower;
            sample.length[axis] += (double)upper - (double)lower;
            sample.least[axis] = lower < sample.least[axis] ? lower : sample.least[axis];
            sample.most[axis] = upper > sample.most[axis] ? upper : sample.most[axis];
        }
    }
    sample.count = count;
    CLV_ASSERT( count <= SMALL_SAMPLES );
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        sample.crowding[axis] = 1;
        if ( list->count >= CROWD_LEAST )
        {
            measure_axis( &values[axis], count, axis, &sample );
        }
    }
    return sample;
}

// How many times as many meet in a bin as of evenly spread ones; 1 where chance alone may do that to so few.
static double unevenness( const grid_sample* sample, uint32_t axis )
{
    double count = sample->count;
    double met = sample->crowding[axis] - count; // all but each with itself
    double even = count * ( count - 1 ) / BINS;
    return met > UNEVEN * even ? met / even : 1;
}

// Enough strips for short rows of columns, each wide enough that few boxes stand in two of them.
static uint32_t choose_strip_bits( const grid_sample* sample, const uint32_t axis[3], uint32_t count )
{
    double width = (double)sample->most[axis[0]] - (double)sample->least[axis[0]];
    double columns = count * sample->length[axis[0]] * unevenness( sample, axis[0] );
    double strip = (double)sample->most[axis[1]] - (double)sample->least[axis[1]];
    uint32_t bits = 0;
    // Lengths are sums over the sample.
    while ( bits < STRIP_BITS_MOST && columns > COLUMNS * width * sample->count &&
        strip * sample->count > 2 * STRIP_LENGTHS * sample->length[axis[1]] )
    {
        bits += 1;
        columns /= 2;
        strip /= 2;
    }
    return bits;
}

sweep_grid clv_sweep_grid_find( const sweep_list* list )
{
    grid_sample sample = sample_list( list );
    sweep_grid grid = { .axis = { 0, 0, 0 } };
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        float width = sample.most[axis] - sample.least[axis];
        // A sample's bounds lie a little inside those of all.
        grid.small.origin[axis] = sample.least[axis] - width / 32;
        grid.small.scale[axis] =
            width > 1e-30f && width < 1e30f ? (float)SMALL_MOST / ( width * 1.0625f ) : 0;
        uint32_t place = axis;
        for ( ; place > 0 && is_better( &sample, axis, grid.axis[place - 1] ); --place )
        {
            grid.axis[place] = grid.axis[place - 1];
        }
        grid.axis[place] = axis;
    }
    CLV_ASSERT( grid.axis[0] + grid.axis[1] + grid.axis[2] == 3 && grid.axis[0] != grid.axis[1] );
    grid.strip_bits = choose_strip_bits( &sample, grid.axis, list->count );
    return grid;
}

// ---- filling

// Where an item belongs.
typedef struct small_place
{
    uint32_t strip;  // first that it reaches into
    uint32_t beyond; // and how many more
    uint32_t cell;   // bucket of the first strip
} small_place;

// By value: the compiler need not reload these after every write to the items.
typedef struct small_shape
{
    uint32_t sweep, cut, other; // axes
    uint32_t strip_shift, bucket_shift, bucket_bits;
} small_shape;

static small_shape shape_of( const sweep_small* small, const sweep_grid* grid )
{
    return ( small_shape ){ grid->axis[0], grid->axis[1], grid->axis[2], small->strip_shift,
        small->bucket_shift, small->bucket_bits };
}

static inline small_place small_place_of( small_shape shape, const simd_small_item* item )
{
    uint32_t strip = (uint32_t)item->lower[shape.cut] >> shape.strip_shift;
    uint32_t last = (uint32_t)item->upper[shape.cut] >> shape.strip_shift;
    uint32_t bucket = (uint32_t)item->lower[shape.sweep] >> shape.bucket_shift;
    return ( small_place ){ strip, last - strip, ( strip << shape.bucket_bits ) + bucket };
}

// Keeps the items with that mark, in order.
static uint32_t drop_others( sweep_small* small, const sweep_list* list, uint32_t mark )
{
    simd_small_item* items = small->items.items;
    uint32_t kept = 0;
    for ( uint32_t i = 0; i < list->count; ++i )
    {
        items[kept] = items[i];
        kept += (uint32_t)base_bits_has( list->marks, items[i].slot ) == mark;
    }
    return kept;
}

// How many to a cell. Those that reach beyond their first strip are listed in small->wide and counted in a
// second loop: a branch on that in the first one mispredicts. Returns how many entries there will be.
static uint64_t count_items( sweep_small* small, small_shape shape, uint32_t count )
{
    const simd_small_item* items = small->items.items;
    uint32_t* counts = small->starts;
    uint32_t* wide = small->wide.items;
    uint32_t wide_count = 0;
    int32_t reach = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        int32_t length = items[i].upper[shape.sweep] - items[i].lower[shape.sweep];
        small_place place = small_place_of( shape, &items[i] );
        CLV_ASSERT( place.cell < small->start_count );
        counts[place.cell] += 1;
        wide[wide_count] = i;
        wide_count += place.beyond > 0;
        reach = length > reach ? length : reach;
    }
    uint64_t kept = count;
    for ( uint32_t i = 0; i < wide_count; ++i )
    {
        small_place place = small_place_of( shape, &items[wide[i]] );
        kept += place.beyond;
        for ( ; place.beyond > 0; --place.beyond )
        {
            place.cell += 1u << shape.bucket_bits;
            counts[place.cell] += 1;
        }
    }
    small->wide.count = wide_count;
    small->reach = reach;
    return kept;
}

// Counts to starts. The largest count.
static uint32_t sum_counts( sweep_small* small )
{
    uint32_t* starts = small->starts;
    uint32_t sum = 0;
    uint32_t largest = 0;
    for ( uint32_t i = 0; i < small->start_count; ++i )
    {
        uint32_t here = starts[i];
        starts[i] = sum;
        sum += here;
        largest = here > largest ? here : largest;
    }
    starts[small->start_count] = sum;
    CLV_ASSERT( small->start_count <= BUCKETS_MOST && sum + SMALL_ROUND <= small->capacity );
    return largest;
}

// Into the order of their cells, as records: one write per item, where six arrays would take six.
static void place_items( const sweep_small* small, small_shape shape, uint32_t count )
{
    uint32_t* next = small->starts + small->start_count + 1;
    memcpy( next, small->starts, small->start_count * sizeof( uint32_t ) );
    const simd_small_item* items = small->items.items;
    const uint32_t* wide = small->wide.items;
    simd_small_item* placed = small->placed.items;
    for ( uint32_t i = 0; i < count; ++i )
    {
        placed[next[small_place_of( shape, &items[i] ).cell]++] = items[i];
    }
    for ( uint64_t i = 0, wide_count = small->wide.count; i < wide_count; ++i )
    {
        simd_small_item item = items[wide[i]];
        small_place place = small_place_of( shape, &item );
        item.slot |= SMALL_AGAIN;
        for ( ; place.beyond > 0; --place.beyond )
        {
            place.cell += 1u << shape.bucket_bits;
            placed[next[place.cell]++] = item;
        }
    }
}

// Records to arrays.
static void spread_items( const sweep_small* small, small_shape shape, uint32_t strip_count )
{
    simd_small_turn turn = { shape.sweep, shape.cut, shape.other, small->starts, shape.bucket_shift };
    for ( uint32_t strip = 0; strip < strip_count; ++strip )
    {
        uint32_t end = turn.starts[1u << shape.bucket_bits];
        small->kernels->spread_small( small->placed.items, turn.starts[0], end, &turn, &small->boxes );
        turn.starts += 1u << shape.bucket_bits;
    }
}

// As many buckets as boxes, about, over all strips.
static void set_shifts( sweep_small* small, uint32_t count, uint32_t strip_bits )
{
    uint32_t bits = BUCKET_BITS_LEAST;
    while ( bits + strip_bits < BUCKET_BITS_MOST && count >> ( bits + strip_bits ) > 1 )
    {
        bits += 1;
    }
    small->bucket_bits = bits;
    small->start_count = 1u << ( bits + strip_bits );
    small->bucket_shift = SMALL_STEP_BITS - bits;
    small->strip_shift = SMALL_STEP_BITS - strip_bits;
    memset( small->starts, 0, small->start_count * sizeof( uint32_t ) );
}

sweep_outcome clv_sweep_small_fill(
    sweep_small* small, const sweep_grid* grid, const sweep_list* list, uint32_t mark )
{
    uint32_t count = list->count;
    if ( !reserve_small( small, count ) )
    {
        return SWEEP_OUT_OF_MEMORY;
    }
    small->kernels->gather_small( list->boxes, list->slots, count, &grid->small, small->items.items );
    count = list->marks != NULL ? drop_others( small, list, mark ) : count;
    uint32_t strip_bits = grid->strip_bits;
    set_shifts( small, count, strip_bits );
    uint64_t kept = count_items( small, shape_of( small, grid ), count );
    if ( kept > (uint64_t)count * 2 )
    {
        // Boxes are longer than the sample showed: one strip for all.
        strip_bits = 0;
        set_shifts( small, count, strip_bits );
        kept = count_items( small, shape_of( small, grid ), count );
    }
    if ( sum_counts( small ) > 16 + kept / 8 )
    {
        return SWEEP_CROWDED;
    }
    place_items( small, shape_of( small, grid ), count );
    spread_items( small, shape_of( small, grid ), 1u << strip_bits );
    small->boxes.count = (uint32_t)kept;
    small->boxes.exact = list->boxes;
    return SWEEP_DONE;
}

// ---- finding

// A row for each strip that the item reaches into and that has columns for it. Returns how many rows there
// are then.
static inline uint32_t add_rows( simd_small_row* rows, const uint32_t* starts, int32_t reach,
    small_shape shape, const simd_small_item* item, uint32_t found )
{
    small_place place = small_place_of( shape, item );
    // A box that reaches up to the item begins no further below it than the longest one.
    int32_t below = item->lower[shape.sweep] - reach;
    uint32_t first = (uint32_t)( below > 0 ? below : 0 ) >> shape.bucket_shift;
    uint32_t end = ( (uint32_t)item->upper[shape.sweep] >> shape.bucket_shift ) + 1;
    CLV_ASSERT( first < end && end <= 1u << shape.bucket_bits );
    simd_small_row row = {
        { item->lower[shape.cut], item->lower[shape.other] },
        { item->upper[shape.cut], item->upper[shape.other] },
        item->slot,
        0,
        0,
    };
    starts += place.strip << shape.bucket_bits;
    for ( uint32_t more = 0; more <= place.beyond; ++more )
    {
        row.begin = starts[first];
        row.end = starts[end];
        rows[found] = row;
        found += row.end > row.begin;
        row.slot |= SMALL_AGAIN;
        starts += 1u << shape.bucket_bits;
    }
    return found;
}

bool clv_sweep_small_find( sweep_small* small, const sweep_grid* grid, const simd_item* items, uint32_t count,
    uint32_t least_mark, uint32_t* row_count )
{
    small->rows.count = 0;
    // One row for most, but each may need one for every strip.
    uint64_t strips = (uint64_t)1 << ( SMALL_STEP_BITS - small->strip_shift );
    if ( !reserve_small_items( small, count ) || !reserve_rows( small, count + ROWS_AT_ONCE * strips ) )
    {
        return false;
    }
    small->kernels->make_small( items, count, &grid->small, small->items.items );
    small_shape shape = shape_of( small, grid );
    uint32_t found = 0;
    for ( uint32_t from = 0; from < count; from += ROWS_AT_ONCE )
    {
        uint32_t to = count - from < ROWS_AT_ONCE ? count : from + ROWS_AT_ONCE;
        small->rows.count = found;
        if ( !reserve_rows( small, found + ROWS_AT_ONCE * strips ) )
        {
            return false;
        }
        for ( uint32_t i = from; i < to; ++i )
        {
            found = items[i].mark >= least_mark ? add_rows( small->rows.items, small->starts, small->reach,
                                                      shape, &small->items.items[i], found )
                                                : found;
        }
    }
    *row_count = found;
    return true;
}
