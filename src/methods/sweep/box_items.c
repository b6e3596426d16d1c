// SPDX-License-Identifier: MIT
#include "sweep/box_items.h"

#include "base/assertion.h"
#include "base/bit_set.h"
#include "base/heap_sort.h"

#include <string.h>

// ---- endpoints

// Moves an upper end down: boxes it passes can only end to overlap.
static uint32_t sink_upper( base_keyed* ends, uint32_t at )
{
    base_keyed end = ends[at];
    uint64_t rank = sweep_rank( end );
    for ( ; at > 0 && sweep_rank( ends[at - 1] ) > rank; --at )
    {
        ends[at] = ends[at - 1];
    }
    ends[at] = end;
    return at;
}

// Moves a lower end down; every upper end it passes may belong to a new pair.
static uint32_t sink_lower( base_keyed* ends, uint32_t at, const clv_aabb* boxes, sweep_effort* effort,
    clv_pair_sink* sink, clv_result* result )
{
    base_keyed end = ends[at];
    uint64_t rank = sweep_rank( end );
    clv_aabb box = boxes[sweep_owner( end )];
    for ( ; at > 0 && sweep_rank( ends[at - 1] ) > rank; --at )
    {
        base_keyed passed = ends[at - 1];
        ends[at] = passed;
        if ( ( passed.value & SWEEP_UPPER ) != 0 )
        {
            effort->test_count += 1;
            if ( clv_aabb_overlap( box, boxes[sweep_owner( passed )] ) && *result == CLV_OK )
            {
                *result = clv_pair_sink_put( sink, end.value, sweep_owner( passed ) );
            }
        }
    }
    ends[at] = end;
    return at;
}

sweep_sort_outcome clv_sweep_sort_ends( base_keyed* ends, uint32_t count, const clv_aabb* boxes,
    sweep_effort* effort, clv_pair_sink* sink, clv_result* result )
{
    *result = CLV_OK;
    for ( uint32_t i = 1; i < count; ++i )
    {
        if ( sweep_rank( ends[i - 1] ) <= sweep_rank( ends[i] ) )
        {
            continue;
        }
        uint32_t place = ( ends[i].value & SWEEP_UPPER ) != 0
            ? sink_upper( ends, i )
            : sink_lower( ends, i, boxes, effort, sink, result );
        uint64_t swaps = i - place;
        if ( *result != CLV_OK )
        {
            return SWEEP_FAILED;
        }
        if ( swaps > effort->swaps_left )
        {
            return SWEEP_GAVE_UP;
        }
        effort->swaps_left -= swaps;
    }
    return SWEEP_SORTED;
}

// ---- quick sort

enum
{
    QUICK_LEAST = 16,     // insertion sort up to here
    QUICK_PARTS_MOST = 64 // lists put aside: each is larger than the one sorted next, so 32 would be enough
};

typedef struct quick_part
{
    uint32_t begin, end;
    uint32_t cuts_left; // before the list counts as one that is cut badly
} quick_part;

static int compare_ranks( const void* a, const void* b )
{
    uint64_t first = sweep_rank( *(const base_keyed*)a );
    uint64_t second = sweep_rank( *(const base_keyed*)b );
    return ( first > second ) - ( first < second );
}

static void insertion_sort_list( base_keyed* keys, uint32_t begin, uint32_t end )
{
    for ( uint32_t i = begin + 1; i < end; ++i )
    {
        base_keyed key = keys[i];
        uint64_t rank = sweep_rank( key );
        uint32_t hole = i;
        for ( ; hole > begin && sweep_rank( keys[hole - 1] ) > rank; --hole )
        {
            keys[hole] = keys[hole - 1];
        }
        keys[hole] = key;
    }
}

// Of the quarters, not of the ends: lists are often sorted ones one behind the other, or sorted up to what
// joined at their ends.
static uint64_t median_of_three( const base_keyed* keys, const quick_part* list )
{
    uint32_t quarter = ( list->end - list->begin ) / 4;
    uint64_t a = sweep_rank( keys[list->begin + quarter] );
    uint64_t b = sweep_rank( keys[list->begin + 2 * quarter] );
    uint64_t c = sweep_rank( keys[list->begin + 3 * quarter] );
    uint64_t low = a < b ? a : b;
    uint64_t high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

// Hoare's two hands: [begin, cut) is not above the pivot, [cut, end) not below. The pivot is one of three
// different ranks, so both hands stop inside the list and neither side is empty.
static uint32_t cut_list( base_keyed* keys, const quick_part* list )
{
    uint64_t pivot = median_of_three( keys, list );
    uint32_t left = list->begin;
    uint32_t right = list->end - 1;
    for ( ;; )
    {
        while ( sweep_rank( keys[left] ) < pivot )
        {
            left += 1;
        }
        while ( sweep_rank( keys[right] ) > pivot )
        {
            right -= 1;
        }
        if ( left >= right )
        {
            return left > list->begin ? left : left + 1;
        }
        base_keyed key = keys[left];
        keys[left++] = keys[right];
        keys[right--] = key;
    }
}

void clv_sweep_quick_sort( base_keyed* keys, uint32_t count )
{
    quick_part aside[QUICK_PARTS_MOST];
    uint32_t aside_count = 0;
    quick_part list = { 0, count, 2 * base_bit_width( count ) };
    for ( ;; )
    {
        uint32_t length = list.end - list.begin;
        if ( length > QUICK_LEAST && list.cuts_left > 0 )
        {
            uint32_t middle = cut_list( keys, &list );
            CLV_ASSERT( list.begin < middle && middle < list.end && aside_count < QUICK_PARTS_MOST );
            quick_part left = { list.begin, middle, list.cuts_left - 1 };
            quick_part right = { middle, list.end, list.cuts_left - 1 };
            bool goes_left = middle - list.begin < list.end - middle;
            aside[aside_count++] = goes_left ? right : left;
            list = goes_left ? left : right;
            continue;
        }
        if ( length > QUICK_LEAST )
        {
            clv_base_heap_sort( keys + list.begin, length, sizeof( base_keyed ), compare_ranks );
        }
        else if ( length > 1 )
        {
            insertion_sort_list( keys, list.begin, list.end );
        }
        if ( aside_count == 0 )
        {
            return;
        }
        list = aside[--aside_count];
    }
}

// ---- box items

enum
{
    INSERTION_KEYS_MOST = 24, // insertion sort up to here
    SMALL = 16384,            // two passes of 8 bits up to here, whose counts stay in the first-level cache
    NUMBERED = 1 << 16,       // items that half a word numbers; of a longer list few may be wanted
    NEAR_SORTED = 4,          // descents of a list that is nearly sorted: fewer than one in so many
    PATIENCE = 4,             // moves for each key, before an insertion sort gives way to quick-sort
    ITEM_SAMPLES = 64,
};

void clv_sweep_sorter_release( sweep_sorter* sorter )
{
    base_array_free( &sorter->keys, sorter->memory );
}

bool clv_sweep_sorter_reserve( sweep_sorter* sorter, uint32_t count )
{
    return base_array_reserve( &sorter->keys, sorter->memory, (uint64_t)count * 2 );
}

// Stable. False, with the items in some order, after `patience` moves: the list was not nearly sorted.
static bool insertion_sort_keys( base_keyed* keys, uint32_t count, uint64_t patience )
{
    for ( uint32_t i = 1; i < count; ++i )
    {
        if ( keys[i].key >= keys[i - 1].key )
        {
            continue;
        }
        base_keyed key = keys[i];
        uint32_t hole = i;
        for ( ; hole > 0 && keys[hole - 1].key > key.key; --hole )
        {
            keys[hole] = keys[hole - 1];
        }
        keys[hole] = key;
        uint64_t moves = i - hole;
        if ( moves > patience )
        {
            return false;
        }
        patience -= moves;
    }
    return true;
}

// One stable pass by eight bits of `value`.
static void pass_by_byte(
    const base_keyed* from, base_keyed* to, uint32_t count, uint32_t* offsets, uint32_t shift )
{
    uint32_t sum = 0;
    for ( uint32_t digit = 0; digit < 256; ++digit )
    {
        uint32_t here = offsets[digit];
        offsets[digit] = sum;
        sum += here;
    }
    CLV_ASSERT( sum == count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        base_keyed key = from[i];
        to[offsets[key.value >> shift & 255]++] = key;
    }
}

static float lower_of( const simd_item* item, uint32_t axis, float floor )
{
    float lower = item->lower[axis];
    return lower > floor ? lower : floor;
}

// Keys by exact lower bound; the values number the items. One that ends below the floor would be laid out
// upside down, its lower bound lifted over its upper, and so touch whatever begins on the floor; it meets
// nothing above and is left out.
static uint32_t make_keys( base_keyed* keys, const sweep_wanted* wanted, float* least, float* most )
{
    const simd_item* items = wanted->items;
    uint32_t axis = wanted->axis;
    float floor = wanted->floor;
    uint32_t kept = 0;
    float low = lower_of( &items[0], axis, floor ), high = low;
    for ( uint32_t i = 0; i < wanted->count; ++i )
    {
        float lower = lower_of( &items[i], axis, floor );
        keys[kept] = ( base_keyed ){ base_float_order( lower ), i };
        kept += items[i].upper[axis] >= floor;
        low = lower < low ? lower : low;
        high = lower > high ? lower : high;
    }
    *least = low;
    *most = high;
    return kept;
}

static bool reaches( const simd_item* item, const simd_item* region )
{
    return ( item->lower[0] <= region->upper[0] ) & ( item->lower[1] <= region->upper[1] ) &
        ( item->lower[2] <= region->upper[2] ) & ( item->upper[0] >= region->lower[0] ) &
        ( item->upper[1] >= region->lower[1] ) & ( item->upper[2] >= region->lower[2] );
}

static uint32_t keep_reaching( base_keyed* keys, uint32_t count, const sweep_wanted* wanted )
{
    uint32_t kept = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        base_keyed key = keys[i];
        const simd_item* item = &wanted->items[key.value];
        keys[kept] = key;
        kept += ( item->mark != 0 ) | reaches( item, wanted->region );
    }
    return kept;
}

// How many keys are less than the one before: none in a sorted list, half of them in a random one.
static uint32_t count_descents( const base_keyed* keys, uint32_t count )
{
    uint32_t descents = 0;
    for ( uint32_t i = 1; i < count; ++i )
    {
        descents += keys[i].key < keys[i - 1].key;
    }
    return descents;
}

// Two passes by the place of the lower bound in 65,536 equal steps between least and most, then insertion for
// what shares a step. The steps are monotonic in the bound, so the outcome is that of any stable sort by the
// exact key.
static base_keyed* sort_by_steps( base_keyed* keys, base_keyed* scratch, uint32_t count,
    const sweep_wanted* wanted, float least, float scale )
{
    uint32_t low[256] = { 0 }, high[256] = { 0 };
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t item = keys[i].value;
        CLV_ASSERT( item < NUMBERED );
        float place = ( lower_of( &wanted->items[item], wanted->axis, wanted->floor ) - least ) * scale;
        uint32_t step = (uint32_t)(int32_t)( place < 65535.0f ? place : 65535.0f );
        keys[i].value = step << 16 | item;
        low[step & 255] += 1;
        high[step >> 8] += 1;
    }
    pass_by_byte( keys, scratch, count, low, 16 );
    pass_by_byte( scratch, keys, count, high, 24 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        keys[i].value &= 0xFFFF;
    }
    if ( insertion_sort_keys( keys, count, (uint64_t)count * 8 ) )
    {
        return keys;
    }
    // Too many share a step. Equal keys are still in the order given, which a stable sort keeps.
    return clv_base_sort_keyed( keys, scratch, count );
}

static base_keyed* sort_keys( sweep_sorter* sorter, uint32_t count, uint32_t descents,
    const sweep_wanted* wanted, float least, float most )
{
    base_keyed* keys = sorter->keys.items;
    base_keyed* scratch = keys + count;
    if ( sorter->is_quick )
    {
        // A list that was sorted in the last update and has changed little needs few moves.
        bool is_near = descents < count / NEAR_SORTED;
        if ( !is_near || !insertion_sort_keys( keys, count, (uint64_t)count * PATIENCE ) )
        {
            clv_sweep_quick_sort( keys, count );
        }
        return keys;
    }
    if ( count <= INSERTION_KEYS_MOST )
    {
        insertion_sort_keys( keys, count, UINT64_MAX );
        return keys;
    }
    float range = most - least;
    if ( count <= SMALL && wanted->count <= NUMBERED && range > 1e-30f && range < 1e30f )
    {
        return sort_by_steps( keys, scratch, count, wanted, least, 65535.0f / range );
    }
    return clv_base_sort_keyed( keys, scratch, count );
}

static void set_item( simd_boxes* boxes, uint32_t index, const simd_item* item, const uint32_t turn[3] )
{
    for ( uint32_t i = 0; i < 3; ++i )
    {
        boxes->lower[i][index] = item->lower[turn[i]];
        boxes->upper[i][index] = item->upper[turn[i]];
    }
    boxes->slots[index] = item->slot;
}

bool clv_sweep_sorted_reserve( sweep_sorted* sorted, base_memory* memory, uint32_t count )
{
    return clv_simd_box_lanes_reserve( &sorted->lanes, memory, count ) &&
        base_array_reserve( &sorted->movers, memory, base_bits_words( count ) + 3 );
}

void clv_sweep_sorted_release( sweep_sorted* sorted, base_memory* memory )
{
    clv_simd_box_lanes_release( &sorted->lanes, memory );
    base_array_free( &sorted->movers, memory );
}

// The values of the keys number the items.
static void lay_out(
    const sweep_wanted* wanted, const base_keyed* keys, uint32_t count, sweep_sorted* sorted )
{
    uint32_t axis = wanted->axis;
    const uint32_t turn[3] = { axis, ( axis + 1 ) % 3, ( axis + 2 ) % 3 };
    simd_boxes* boxes = &sorted->lanes.boxes;
    uint64_t* movers = sorted->movers.items;
    CLV_ASSERT( count / 64 + 2 < sorted->movers.capacity && count <= wanted->count );
    uint64_t word = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const simd_item* item = &wanted->items[keys[i].value];
        set_item( boxes, i, item, turn );
        boxes->lower[0][i] = lower_of( item, axis, wanted->floor );
        word |= (uint64_t)item->mark << i % 64;
        if ( i % 64 == 63 )
        {
            movers[i / 64] = word;
            word = 0;
        }
    }
    // All bits from the end on, since a kernel may step past it by a register.
    movers[count / 64] = word | UINT64_MAX << count % 64;
    movers[count / 64 + 1] = movers[count / 64 + 2] = UINT64_MAX;
    clv_simd_box_lanes_finish( &sorted->lanes, count );
}

bool clv_sweep_sort_items( sweep_sorter* sorter, const sweep_wanted* wanted, sweep_sorted* sorted )
{
    if ( !clv_sweep_sorter_reserve( sorter, wanted->count + 1 ) ||
        !clv_sweep_sorted_reserve( sorted, sorter->memory, wanted->count ) )
    {
        return false;
    }
    const base_keyed* keys = sorter->keys.items;
    uint32_t kept = 0;
    float least, most;
    if ( wanted->count > 0 )
    {
        kept = make_keys( sorter->keys.items, wanted, &least, &most );
        kept = wanted->region != NULL ? keep_reaching( sorter->keys.items, kept, wanted ) : kept;
    }
    uint32_t descents = count_descents( keys, kept );
    sorted->was_in_order = descents == 0;
    if ( descents > 0 )
    {
        keys = sort_keys( sorter, kept, descents, wanted, least, most );
    }
    lay_out( wanted, keys, kept, sorted );
    return true;
}

void clv_sweep_append_items( const simd_item* items, uint32_t count, uint32_t mark, simd_box_lanes* lanes )
{
    static const uint32_t straight[3] = { 0, 1, 2 };
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( items[i].mark == mark )
        {
            set_item( &lanes->boxes, lanes->boxes.count++, &items[i], straight );
        }
    }
}

// Sums over one in `stride` items.
typedef struct item_moments
{
    double sum[3], square[3]; // of twice the centres, measured from the first
    double length[3];
    double count;
} item_moments;

static item_moments measure_items( const simd_item* items, uint32_t count, uint32_t stride )
{
    item_moments m = { .count = 0 };
    for ( uint32_t i = 0; i < count; i += stride )
    {
        const simd_item* item = &items[stride > 1 ? base_sample_step( i, stride, count ) : i];
        m.count += 1;
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            // From the first item, so that digits are not lost far from the origin.
            double lower = (double)item->lower[axis];
            double upper = (double)item->upper[axis];
            double twice = lower + upper - ( (double)items[0].lower[axis] + (double)items[0].upper[axis] );
            m.sum[axis] += twice;
            m.square[axis] += twice * twice;
            m.length[axis] += upper - lower;
        }
    }
    return m;
}

static double variance_of( const item_moments* m, uint32_t axis )
{
    return m->square[axis] * m->count - m->sum[axis] * m->sum[axis];
}

uint32_t clv_sweep_widest_item_axis( const simd_item* items, uint32_t count )
{
    item_moments m = measure_items( items, count, 1 );
    uint32_t best = 0;
    for ( uint32_t axis = 1; axis < 3; ++axis )
    {
        best = variance_of( &m, axis ) > variance_of( &m, best ) ? axis : best;
    }
    return best;
}

uint32_t clv_sweep_choose_item_axis( const simd_item* items, uint32_t count )
{
    item_moments m = measure_items( items, count, ( count + ITEM_SAMPLES - 1 ) / ITEM_SAMPLES );
    CLV_ASSERT( m.count <= ITEM_SAMPLES );
    uint32_t best = 0;
    double best_variance = 0, best_length = 0;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        double variance = variance_of( &m, axis );
        double length = m.length[axis];
        // variance / length^2, cross-multiplied so that length 0 needs no case of its own; points are
        // compared by variance.
        double mine = variance * best_length * best_length;
        double theirs = best_variance * length * length;
        bool better = mine > theirs || ( mine == theirs && variance > best_variance );
        if ( axis == 0 || better )
        {
            best = axis;
            best_variance = variance;
            best_length = length;
        }
    }
    return best;
}
