// SPDX-License-Identifier: MIT
#include "sweep/box_buckets.h"

#include "base/assertion.h"

#include <math.h>
#include <string.h>

enum
{
    SAMPLES = 48,
    BUCKETS_LEAST = 32,
    BUCKETS_MOST = 4096,
};

void sweep_buckets_release( sweep_buckets* buckets )
{
    base_memory* memory = buckets->memory;
    simd_box_lanes_release( &buckets->lanes, memory );
    base_memory_give( memory, buckets->ends, buckets->end_capacity, sizeof( uint32_t ) );
    base_memory_give( memory, buckets->starts, buckets->start_capacity, sizeof( uint32_t ) );
    base_memory_give( memory, buckets->places, buckets->place_capacity, sizeof( uint32_t ) );
    base_memory_give( memory, buckets->ranges, buckets->range_capacity, sizeof( simd_range ) );
    *buckets = ( sweep_buckets ){ .memory = memory };
}

static bool reserve_words( base_memory* memory, uint32_t** words, uint64_t* capacity, uint64_t needed )
{
    void* data = *words;
    bool ok = base_memory_reserve( memory, &data, capacity, 0, needed, sizeof( uint32_t ) );
    *words = data;
    return ok;
}

static bool reserve( sweep_buckets* buckets, uint32_t count )
{
    base_memory* memory = buckets->memory;
    return simd_box_lanes_reserve( &buckets->lanes, memory, count ) &&
        reserve_words( memory, &buckets->ends, &buckets->end_capacity, (uint64_t)count + 1 ) &&
        reserve_words( memory, &buckets->starts, &buckets->start_capacity, 2 * ( BUCKETS_MOST + 1 ) ) &&
        reserve_words( memory, &buckets->places, &buckets->place_capacity, (uint64_t)count + 1 );
}

sweep_span sweep_find_span( const simd_item* items, uint32_t count )
{
    float sum[3] = { 0 }, square[3] = { 0 }, length[3] = { 0 };
    float least[3], most[3];
    float samples = 0;
    uint32_t stride = ( count + SAMPLES - 1 ) / SAMPLES;
    for ( int axis = 0; axis < 3; ++axis )
    {
        least[axis] = most[axis] = items[0].lower[axis];
    }
    for ( uint32_t i = 0; i < count; i += stride, samples += 1 )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            float lower = items[i].lower[axis];
            float offset = lower - items[0].lower[axis];
            sum[axis] += offset;
            square[axis] += offset * offset;
            length[axis] += items[i].upper[axis] - lower;
            least[axis] = lower < least[axis] ? lower : least[axis];
            most[axis] = lower > most[axis] ? lower : most[axis];
        }
    }
    sweep_span span = { 0 };
    double best_variance = 0, best_length = 0;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        double variance = (double)square[axis] * (double)samples - (double)sum[axis] * (double)sum[axis];
        double extent = (double)length[axis];
        // variance / length^2 compared across, so that length 0 needs no case of its own; points fall back on variance.
        double mine = variance * best_length * best_length;
        double theirs = best_variance * extent * extent;
        if ( axis == 0 || mine > theirs || ( mine == theirs && variance > best_variance ) )
        {
            span = ( sweep_span ){ axis, least[axis], most[axis] };
            best_variance = variance;
            best_length = extent;
        }
    }
    return span;
}

// Monotonic in `bound`, so what begins later is never in an earlier bucket, whatever the rounding. Not a number: the first.
static uint32_t bucket_of( const sweep_buckets* buckets, float bound )
{
    float place = ( bound - buckets->origin ) * buckets->scale;
    float last = (float)( buckets->bucket_count - 1 );
    place = place > 0 ? place : 0;
    place = place < last ? place : last;
    return (uint32_t)(int32_t)place;
}

static void choose_buckets( sweep_buckets* buckets, uint32_t count, const sweep_span* span )
{
    uint32_t wanted = BUCKETS_LEAST;
    while ( wanted < count / 2 && wanted < BUCKETS_MOST )
    {
        wanted *= 2;
    }
    buckets->bucket_count = wanted;
    float width = span->most - span->least;
    // A sample's bounds lie a little inside.
    buckets->origin = span->least - width / 32;
    buckets->scale = width > 1e-30f && width < 1e30f ? (float)wanted / ( width * 1.0625f ) : 0;
}

// Sets starts and reach; false if a bucket is crowded.
static bool count_buckets(
    sweep_buckets* buckets, const simd_item* items, uint32_t count, uint32_t mark, uint32_t axis )
{
    uint32_t* starts = buckets->starts;
    memset( starts, 0, ( buckets->bucket_count + 1 ) * sizeof( uint32_t ) );
    float reach = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t place = bucket_of( buckets, items[i].lower[axis] );
        float length = items[i].upper[axis] - items[i].lower[axis];
        buckets->places[i] = place;
        starts[place] += items[i].mark == mark;
        reach = length > reach ? length : reach;
    }
    buckets->reach = reach;
    uint32_t sum = 0;
    uint32_t largest = 0;
    for ( uint32_t i = 0; i < buckets->bucket_count; ++i )
    {
        uint32_t here = starts[i];
        starts[i] = sum;
        sum += here;
        largest = here > largest ? here : largest;
    }
    starts[buckets->bucket_count] = sum;
    return largest <= 16 + sum / 8;
}

static void place_items(
    sweep_buckets* buckets, const simd_item* items, uint32_t count, uint32_t mark, uint32_t axis )
{
    const uint32_t* starts = buckets->starts;
    uint32_t* next = buckets->starts + buckets->bucket_count + 1;
    memcpy( next, starts, buckets->bucket_count * sizeof( uint32_t ) );
    simd_boxes boxes = buckets->lanes.boxes;
    uint32_t second = ( axis + 1 ) % 3;
    uint32_t third = ( axis + 2 ) % 3;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const simd_item* item = &items[i];
        if ( item->mark != mark )
        {
            continue;
        }
        uint32_t at = next[buckets->places[i]]++;
        boxes.lower[0][at] = item->lower[axis];
        boxes.upper[0][at] = item->upper[axis];
        boxes.lower[1][at] = item->lower[second];
        boxes.upper[1][at] = item->upper[second];
        boxes.lower[2][at] = item->lower[third];
        boxes.upper[2][at] = item->upper[third];
        boxes.slots[at] = item->slot;
        buckets->ends[at] = starts[bucket_of( buckets, item->upper[axis] ) + 1];
    }
    simd_box_lanes_finish( &buckets->lanes, starts[buckets->bucket_count] );
}

sweep_outcome sweep_buckets_fill(
    sweep_buckets* buckets, const simd_item* items, uint32_t count, uint32_t mark, const sweep_span* span )
{
    if ( !reserve( buckets, count ) )
    {
        return SWEEP_OUT_OF_MEMORY;
    }
    choose_buckets( buckets, count, span );
    if ( !count_buckets( buckets, items, count, mark, span->axis ) )
    {
        return SWEEP_CROWDED;
    }
    place_items( buckets, items, count, mark, span->axis );
    return SWEEP_DONE;
}

bool sweep_buckets_find( sweep_buckets* buckets, const simd_item* items, uint32_t count, uint32_t least_mark,
    uint32_t axis, uint32_t* range_count )
{
    void* ranges = buckets->ranges;
    bool ok = base_memory_reserve(
        buckets->memory, &ranges, &buckets->range_capacity, 0, (uint64_t)count + 1, sizeof( simd_range ) );
    buckets->ranges = ranges;
    if ( !ok )
    {
        return false;
    }
    const uint32_t* starts = buckets->starts;
    uint32_t found = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        // A box that reaches up to `lower` begins no further below it than the longest one; the slack is for rounding.
        float lower = items[i].lower[axis];
        float below = lower - buckets->reach - ( fabsf( lower ) + buckets->reach ) * 1e-6f;
        uint32_t begin = starts[bucket_of( buckets, below )];
        uint32_t end = starts[bucket_of( buckets, items[i].upper[axis] ) + 1];
        buckets->ranges[found] = ( simd_range ){ i, begin, end };
        found += ( items[i].mark >= least_mark ) & ( end > begin );
    }
    *range_count = found;
    return true;
}
