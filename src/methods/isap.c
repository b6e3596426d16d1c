// SPDX-License-Identifier: MIT
// Incremental sweep and prune: three lists of ends that stay sorted by insertion, and a set of pairs that
// lasts. Baraff (1992), Cohen et al. (I-COLLIDE, 1995); the principle of Bullet's AxisSweep. Swaps tell which
// pairs began; the set is tested for those that ended. A frame that would need too many swaps is sorted and
// swept afresh.
#include "method/method.h"

#include "base/assertion.h"
#include "base/bit_set.h"
#include "pair/table.h"
#include "simd/box_lanes.h"
#include "simd/method_kernels.h"
#include "sweep/axis.h"
#include "sweep/box_items.h"

#include <stdio.h>
#include <string.h>

enum
{
    ISAP_PARAM_SWAPS,
    ISAP_PARAM_COUNT
};

static const clv_method_param s_isap_params[ISAP_PARAM_COUNT] = {
    { "isap.swaps", 8, 0, 1000000000, false,
        "swaps per end and frame above which everything is sorted afresh" },
};

enum
{
    SKIPS_MOST = 15,
    FRESH_SHARE = 64, // when more than one in so many is new, begin afresh: each new one passes half a list
};

typedef struct isap
{
    const method_context* context;
    const simd_method_kernels* kernels;
    base_keyed_array ends[3]; // each counts two for every box in the lists
    base_keyed_array scratch;
    base_u64_array live, listed; // sets of slots, of as many words each
    pair_table table;
    simd_box_lanes lanes;
    uint32_t skips;      // frames still to be sorted afresh without an attempt to keep the order
    uint32_t last_skips; // what `skips` began with: doubles with every attempt that gave up
    bool is_sound;       // lists and table are those of the last update
} isap;

static bool begin_isap( void* state, int variant )
{
    (void)variant;
    isap* self = state;
    self->kernels = clv_simd_method_kernels_for( self->context->isa );
    return true;
}

// Everything: the next update sorts afresh.
static void shrink_isap( void* state )
{
    isap* self = state;
    base_memory* memory = self->context->memory;
    clv_simd_box_lanes_release( &self->lanes, memory );
    base_array_free( &self->scratch, memory );
    for ( int axis = 0; axis < 3; ++axis )
    {
        base_array_free( &self->ends[axis], memory );
    }
    base_array_free( &self->live, memory );
    base_array_free( &self->listed, memory );
    clv_pair_table_free( &self->table, memory );
    *self = ( isap ){ .context = self->context, .kernels = self->kernels };
}

METHOD_CREATE( create_isap, isap, begin_isap, shrink_isap, 0 )
METHOD_DESTROY( destroy_isap, isap, shrink_isap )

static void clear_slots( base_u64_array* set, uint64_t from )
{
    if ( set->count > from )
    {
        memset( set->items + from, 0, (size_t)( set->count - from ) * sizeof( uint64_t ) );
    }
}

static bool reserve_isap( isap* self, const clv_method_input* input )
{
    base_memory* memory = self->context->memory;
    uint64_t words = base_bits_words( input->slot_count );
    bool ok = base_array_reserve( &self->live, memory, words ) &&
        base_array_reserve( &self->listed, memory, words );
    for ( int axis = 0; axis < 3 && ok; ++axis )
    {
        // Those that left are still in the lists when those that came are appended.
        self->ends[axis].count = self->is_sound ? self->ends[axis].count : 0;
        uint64_t kept = input->members_changed ? self->ends[axis].count : 0;
        ok = base_array_reserve( &self->ends[axis], memory, kept + (uint64_t)input->live_count * 2 );
    }
    if ( ok )
    {
        uint64_t known = self->listed.count;
        self->live.count = self->listed.count = words;
        clear_slots( &self->listed, known );
    }
    return ok;
}

// ---- afresh

static void sort_axis( isap* self, const clv_method_input* input, int axis )
{
    uint32_t count = input->live_count;
    base_keyed* ends = self->ends[axis].items;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        // All lower ends first: the sort is stable, so at equal places they stay in front.
        ends[i] = sweep_end_of( &input->boxes[slot], axis, slot );
        ends[count + i] = sweep_end_of( &input->boxes[slot], axis, slot | SWEEP_UPPER );
    }
    const base_keyed* sorted = clv_base_sort_keyed( ends, self->scratch.items, (uint64_t)count * 2 );
    if ( sorted != ends && count > 0 )
    {
        memcpy( ends, sorted, (size_t)count * 2 * sizeof( base_keyed ) );
    }
    self->ends[axis].count = (uint64_t)count * 2;
}

static void load_sorted_ends( isap* self, const clv_method_input* input, int axis )
{
    uint32_t index = 0;
    for ( uint64_t i = 0; i < self->ends[axis].count; ++i )
    {
        base_keyed end = self->ends[axis].items[i];
        if ( ( end.value & SWEEP_UPPER ) == 0 )
        {
            simd_box_lanes_set( &self->lanes.boxes, index++, &input->boxes[end.value], end.value, axis );
        }
    }
    clv_simd_box_lanes_finish( &self->lanes, input->live_count );
}

// Pairs go on to the sink as they are found.
static clv_result rebuild(
    isap* self, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    base_memory* memory = self->context->memory;
    uint32_t count = input->live_count;
    if ( !base_array_reserve( &self->scratch, memory, (uint64_t)count * 2 ) ||
        !clv_simd_box_lanes_reserve( &self->lanes, memory, count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        sort_axis( self, input, axis );
    }
    clear_slots( &self->listed, 0 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        base_bits_add( self->listed.items, clv_method_live_slot( input, i ) );
    }
    load_sorted_ends( self, input, clv_sweep_choose_axis( input ) );
    clv_pair_table_clear( &self->table );
    pair_table_sink found;
    clv_pair_table_sink_open( &found, &self->table, memory, sink );
    simd_cursor cursor = { 0, 0 };
    bool done = false;
    clv_result result = CLV_OK;
    while ( !done && result == CLV_OK )
    {
        done = self->kernels->sweep( &self->lanes.boxes, &cursor, &found.sink, &counters->test_count );
        result = clv_pair_table_sink_flush( &found );
    }
    return result;
}

// ---- from the last frame

static uint32_t mark_live( isap* self, const clv_method_input* input )
{
    uint32_t fresh = 0;
    clear_slots( &self->live, 0 );
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        base_bits_add( self->live.items, slot );
        fresh += !base_bits_has( self->listed.items, slot );
    }
    return fresh;
}

// New places for all ends; the ends of boxes that are gone drop out.
static void refresh_axis( isap* self, const clv_method_input* input, int axis )
{
    base_keyed* ends = self->ends[axis].items;
    uint64_t count = self->ends[axis].count;
    uint64_t kept = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint32_t slot = sweep_owner( ends[i] );
        if ( !input->members_changed || base_bits_has( self->live.items, slot ) )
        {
            ends[kept++] = sweep_end_of( &input->boxes[slot], axis, ends[i].value );
        }
    }
    self->ends[axis].count = kept;
}

// New boxes are appended at the upper end, where they overlap none, and are sorted into place like the
// others.
static void append_fresh( isap* self, const clv_method_input* input )
{
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        if ( base_bits_has( self->listed.items, slot ) )
        {
            continue;
        }
        for ( int axis = 0; axis < 3; ++axis )
        {
            base_keyed* ends = self->ends[axis].items + self->ends[axis].count;
            ends[0] = sweep_end_of( &input->boxes[slot], axis, slot );
            ends[1] = sweep_end_of( &input->boxes[slot], axis, slot | SWEEP_UPPER );
            self->ends[axis].count += 2;
        }
    }
    if ( self->listed.count > 0 )
    {
        memcpy( self->listed.items, self->live.items, (size_t)self->listed.count * sizeof( uint64_t ) );
    }
}

static void refresh( isap* self, const clv_method_input* input, clv_method_counters* counters )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        refresh_axis( self, input, axis );
    }
    method_stopwatch watch = method_stopwatch_start( self->context );
    clv_pair_table_cull( &self->table, input->boxes, input->members_changed ? self->live.items : NULL );
    counters->clean_ms = method_stopwatch_lap( &watch );
    if ( input->members_changed )
    {
        append_fresh( self, input );
    }
    CLV_ASSERT( self->ends[0].count == (uint64_t)input->live_count * 2 );
}

static sweep_sort_outcome sort_all(
    isap* self, const clv_method_input* input, clv_method_counters* counters, clv_result* result )
{
    double swaps = self->context->params[ISAP_PARAM_SWAPS] * 6.0 * input->live_count;
    sweep_effort effort = { (uint64_t)swaps, 0 };
    pair_table_sink begun;
    clv_pair_table_sink_open( &begun, &self->table, self->context->memory, NULL );
    sweep_sort_outcome outcome = SWEEP_SORTED;
    for ( int axis = 0; axis < 3 && outcome == SWEEP_SORTED; ++axis )
    {
        base_keyed_array* ends = &self->ends[axis];
        outcome = clv_sweep_sort_ends(
            ends->items, (uint32_t)ends->count, input->boxes, &effort, &begun.sink, result );
    }
    if ( outcome == SWEEP_SORTED )
    {
        *result = clv_pair_table_sink_flush( &begun );
    }
    counters->test_count += effort.test_count;
    return outcome;
}

static clv_result search(
    isap* self, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    bool was_sound = self->is_sound && !input->last_failed;
    bool ready = reserve_isap( self, input );
    self->is_sound = false;
    if ( !ready )
    {
        return CLV_OUT_OF_MEMORY;
    }
    uint32_t fresh = input->members_changed || !was_sound ? mark_live( self, input ) : 0;
    if ( !was_sound || self->skips > 0 || fresh > input->live_count / FRESH_SHARE )
    {
        self->skips -= self->skips > 0;
        return rebuild( self, input, sink, counters );
    }
    refresh( self, input, counters );
    clv_result result = CLV_OK;
    sweep_sort_outcome outcome = sort_all( self, input, counters, &result );
    bool gave_up = outcome == SWEEP_GAVE_UP;
    self->last_skips = gave_up ? self->last_skips * 2 + 1 : 0;
    self->last_skips = self->last_skips < SKIPS_MOST ? self->last_skips : SKIPS_MOST;
    self->skips = self->last_skips;
    if ( gave_up )
    {
        return rebuild( self, input, sink, counters );
    }
    if ( result == CLV_OK )
    {
        self->is_sound = true; // even if the sink fails
        result = clv_pair_sink_put_all( sink, self->table.list.items, self->table.list.count );
    }
    return result;
}

static clv_result update_isap(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    isap* self = state;
    method_stopwatch watch = method_stopwatch_start( self->context );
    clv_result result = search( self, input, sink, counters );
    counters->update_ms = method_stopwatch_lap( &watch ) - counters->clean_ms;
    self->is_sound = self->is_sound || result == CLV_OK;
    CLV_VALIDATE( clv_pair_table_check( &self->table ) == NULL );
    return result;
}

static bool check_isap( void* state, char* text, size_t text_size )
{
    const isap* self = state;
    if ( !self->is_sound )
    {
        return true;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        const base_keyed* ends = self->ends[axis].items;
        for ( uint32_t i = 1; i < self->ends[axis].count; ++i )
        {
            if ( sweep_rank( ends[i - 1] ) >= sweep_rank( ends[i] ) )
            {
                snprintf( text, text_size, "isap: axis %d is out of order at %u", axis, i );
                return false;
            }
        }
    }
    const char* broken = clv_pair_table_check( &self->table );
    snprintf( text, text_size, "isap: %s", broken != NULL ? broken : "" );
    return broken == NULL;
}

const clv_method clv_methods_isap = {
    METHOD_OWN,
    .name = "isap",
    .family = "sweep and prune",
    .source = "Baraff 1992; Cohen et al. 1995",
    .time_cost = "O(n + s)",
    .space_cost = "O(n + k)",
    .remarks = "insertion sort, three axes",
    .has_isa = true,
    .is_temporal = true,
    .params = s_isap_params,
    .param_count = ISAP_PARAM_COUNT,
    .create = create_isap,
    .destroy = destroy_isap,
    .update = update_isap,
    .shrink = shrink_isap,
    .check = check_isap,
};
