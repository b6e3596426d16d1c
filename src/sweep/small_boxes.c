// SPDX-License-Identifier: MIT
#include "sweep/small_boxes.h"

#include "base/assertion.h"

#include <string.h>

enum
{
    SAMPLES = 48,
    BUCKET_BITS_LEAST = 5,
    BUCKET_BITS_MOST = 12,
    BUCKETS_MOST = 1 << BUCKET_BITS_MOST,
    STEP_BITS = 15,
};

// ---- memory

// Per box: four numbers of 16 bits, slot, end.
enum
{
    BOX_BYTES = 4 * 2 + 4 + 4
};

void sweep_small_release( sweep_small* small )
{
    base_memory* memory = small->memory;
    base_memory_give( memory, small->block, small->capacity, BOX_BYTES );
    base_memory_give( memory, small->items, small->item_capacity, sizeof( simd_small_item ) );
    base_memory_give( memory, small->rows, small->row_capacity, sizeof( simd_small_row ) );
    base_memory_give(
        memory, small->starts, small->starts != NULL ? 2 * ( BUCKETS_MOST + 1 ) : 0, sizeof( uint32_t ) );
    *small = ( sweep_small ){ .memory = memory, .kernels = small->kernels };
}

static void lay_out( sweep_small* small, char* block, uint64_t capacity )
{
    small->boxes.items = (uint32_t*)block;
    small->boxes.ends = small->boxes.items + capacity;
    int16_t* numbers = (int16_t*)( small->boxes.ends + capacity );
    for ( uint32_t axis = 0; axis < 2; ++axis )
    {
        small->boxes.lower[axis] = numbers + capacity * ( 2 * axis );
        small->boxes.upper[axis] = numbers + capacity * ( 2 * axis + 1 );
    }
}

static bool grow( sweep_small* small, uint32_t count )
{
    base_memory* memory = small->memory;
    // A multiple of the round, so that every array starts on a cache line.
    uint64_t capacity =
        ( (uint64_t)count + count / 2 + SMALL_ROUND ) / SMALL_ROUND * SMALL_ROUND + SMALL_ROUND;
    char* block = base_memory_take( memory, capacity, BOX_BYTES );
    if ( block == NULL )
    {
        return false;
    }
    base_memory_give( memory, small->block, small->capacity, BOX_BYTES );
    memset( block, 0, (size_t)capacity * BOX_BYTES );
    small->block = block;
    small->capacity = capacity;
    lay_out( small, block, capacity );
    return true;
}

static bool reserve_items( sweep_small* small, uint32_t count )
{
    void* items = small->items;
    bool ok = base_memory_reserve(
        small->memory, &items, &small->item_capacity, 0, (uint64_t)count + 1, sizeof( simd_small_item ) );
    small->items = items;
    return ok;
}

static bool reserve_rows( sweep_small* small, uint32_t count )
{
    void* rows = small->rows;
    bool ok = base_memory_reserve(
        small->memory, &rows, &small->row_capacity, 0, (uint64_t)count + 1, sizeof( simd_small_row ) );
    small->rows = rows;
    return ok;
}

static bool reserve_boxes( sweep_small* small, uint32_t count )
{
    if ( small->starts == NULL )
    {
        small->starts = base_memory_take( small->memory, 2 * ( BUCKETS_MOST + 1 ), sizeof( uint32_t ) );
    }
    return small->starts != NULL && reserve_items( small, count ) &&
        ( (uint64_t)count + SMALL_ROUND <= small->capacity || grow( small, count ) );
}

bool sweep_small_reserve( sweep_small* small, uint32_t count )
{
    return reserve_boxes( small, count ) && reserve_rows( small, count );
}

// ---- the grid

typedef struct grid_sample
{
    float least[3], most[3];
    double variance[3], length[3]; // up to a factor
} grid_sample;

static grid_sample take_sample( const simd_item* items, uint32_t count )
{
    grid_sample sample = { 0 };
    double sum[3] = { 0 }, square[3] = { 0 };
    double samples = 0;
    uint32_t stride = ( count + SAMPLES - 1 ) / SAMPLES;
    for ( int axis = 0; axis < 3; ++axis )
    {
        sample.least[axis] = items[0].lower[axis];
        sample.most[axis] = items[0].upper[axis];
    }
    for ( uint32_t i = 0; i < count; i += stride, samples += 1 )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            float lower = items[i].lower[axis];
            float upper = items[i].upper[axis];
            double offset = (double)lower - (double)items[0].lower[axis];
            sum[axis] += offset;
            square[axis] += offset * offset;
            sample.length[axis] += (double)upper - (double)lower;
            sample.least[axis] = lower < sample.least[axis] ? lower : sample.least[axis];
            sample.most[axis] = upper > sample.most[axis] ? upper : sample.most[axis];
        }
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        sample.variance[axis] = square[axis] * samples - sum[axis] * sum[axis];
    }
    return sample;
}

sweep_grid sweep_grid_find( const simd_item* items, uint32_t count )
{
    grid_sample sample = take_sample( items, count );
    sweep_grid grid = { .axis = 0 };
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        float width = sample.most[axis] - sample.least[axis];
        // A sample's bounds lie a little inside those of all.
        grid.small.origin[axis] = sample.least[axis] - width / 32;
        grid.small.scale[axis] =
            width > 1e-30f && width < 1e30f ? (float)SMALL_MOST / ( width * 1.0625f ) : 0;
        // variance / length^2 compared across, so that length 0 needs no case of its own; points fall back on variance.
        double mine = sample.variance[axis] * sample.length[grid.axis] * sample.length[grid.axis];
        double theirs = sample.variance[grid.axis] * sample.length[axis] * sample.length[axis];
        if ( mine > theirs || ( mine == theirs && sample.variance[axis] > sample.variance[grid.axis] ) )
        {
            grid.axis = axis;
        }
    }
    return grid;
}

// ---- filling

// How many to a bucket, and the longest.
static uint32_t count_items(
    sweep_small* small, uint32_t axis, const simd_item* items, uint32_t count, uint32_t mark )
{
    uint32_t* counts = small->starts;
    uint32_t kept = 0;
    int32_t reach = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        int32_t lower = small->items[i].lower[axis];
        int32_t length = small->items[i].upper[axis] - lower;
        uint32_t wanted = items[i].mark == mark;
        counts[(uint32_t)lower >> small->bucket_shift] += wanted;
        kept += wanted;
        reach = length > reach ? length : reach;
    }
    small->reach = reach;
    return kept;
}

// Counts to starts. The largest count.
static uint32_t sum_counts( sweep_small* small )
{
    uint32_t* starts = small->starts;
    uint32_t sum = 0;
    uint32_t largest = 0;
    for ( uint32_t i = 0; i < small->bucket_count; ++i )
    {
        uint32_t here = starts[i];
        starts[i] = sum;
        sum += here;
        largest = here > largest ? here : largest;
    }
    starts[small->bucket_count] = sum;
    return largest;
}

static void place_items(
    sweep_small* small, uint32_t axis, const simd_item* items, uint32_t count, uint32_t mark )
{
    const uint32_t* starts = small->starts;
    uint32_t* next = small->starts + small->bucket_count + 1;
    memcpy( next, starts, small->bucket_count * sizeof( uint32_t ) );
    const simd_small_boxes boxes = small->boxes;
    uint32_t second = ( axis + 1 ) % 3;
    uint32_t third = ( axis + 2 ) % 3;
    uint32_t shift = small->bucket_shift;
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( items[i].mark != mark )
        {
            continue;
        }
        const simd_small_item* item = &small->items[i];
        uint32_t at = next[(uint32_t)item->lower[axis] >> shift]++;
        boxes.lower[0][at] = item->lower[second];
        boxes.upper[0][at] = item->upper[second];
        boxes.lower[1][at] = item->lower[third];
        boxes.upper[1][at] = item->upper[third];
        boxes.items[at] = i;
        boxes.ends[at] = starts[( (uint32_t)item->upper[axis] >> shift ) + 1];
    }
}

sweep_outcome sweep_small_fill(
    sweep_small* small, const sweep_grid* grid, const simd_item* items, uint32_t count, uint32_t mark )
{
    if ( !reserve_boxes( small, count ) )
    {
        return SWEEP_OUT_OF_MEMORY;
    }
    uint32_t bits = BUCKET_BITS_LEAST;
    while ( bits < BUCKET_BITS_MOST && count >> bits > 1 )
    {
        bits += 1;
    }
    small->bucket_count = 1u << bits;
    small->bucket_shift = STEP_BITS - bits;
    memset( small->starts, 0, small->bucket_count * sizeof( uint32_t ) );
    small->kernels->make_small( items, count, &grid->small, small->items );
    uint32_t kept = count_items( small, grid->axis, items, count, mark );
    if ( sum_counts( small ) > 16 + kept / 8 )
    {
        return SWEEP_CROWDED;
    }
    place_items( small, grid->axis, items, count, mark );
    small->boxes.count = kept;
    small->boxes.exact = items;
    return SWEEP_DONE;
}

// ---- finding

bool sweep_small_find( sweep_small* small, const sweep_grid* grid, const simd_item* items, uint32_t count,
    uint32_t least_mark, uint32_t* row_count )
{
    if ( !reserve_rows( small, count ) || !reserve_items( small, count ) )
    {
        return false;
    }
    small->kernels->make_small( items, count, &grid->small, small->items );
    uint32_t axis = grid->axis;
    uint32_t second = ( axis + 1 ) % 3;
    uint32_t third = ( axis + 2 ) % 3;
    const uint32_t* starts = small->starts;
    uint32_t shift = small->bucket_shift;
    uint32_t found = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const simd_small_item* item = &small->items[i];
        // A box that reaches up to the item begins no further below it than the longest one.
        int32_t below = item->lower[axis] - small->reach;
        uint32_t first = (uint32_t)( below > 0 ? below : 0 ) >> shift;
        simd_small_row* row = &small->rows[found];
        *row = ( simd_small_row ){
            { item->lower[second], item->lower[third] },
            { item->upper[second], item->upper[third] },
            i,
            starts[first],
            starts[( (uint32_t)item->upper[axis] >> shift ) + 1],
        };
        found += ( items[i].mark >= least_mark ) & ( row->end > row->begin );
    }
    *row_count = found;
    return true;
}
