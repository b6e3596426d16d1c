// SPDX-License-Identifier: MIT
// Incremental sweep and prune: three lists of ends that stay sorted by insertion, and a set of pairs that lasts. Baraff
// (1992), Cohen et al. (I-COLLIDE, 1995); the principle of Bullet's AxisSweep. Swaps tell which pairs began; the set is
// tested for those that ended. A frame that would need too many swaps is sorted and swept afresh.
#include "method/method.h"

#include "base/assertion.h"
#include "pair/table.h"
#include "simd/box_lanes.h"
#include "simd/method_kernels.h"
#include "sweep/axis.h"
#include "sweep/endpoints.h"

#include <stdio.h>
#include <string.h>

enum
{
    ISAP_PARAM_SWAPS,
    ISAP_PARAM_COUNT
};

static const method_param s_isap_params[ISAP_PARAM_COUNT] = {
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
    base_keyed* ends[3];
    uint64_t end_capacity[3];
    base_keyed* scratch;
    uint64_t scratch_capacity;
    uint32_t count;   // boxes in the lists
    uint8_t* is_live; // by slot; the top bit of `is_listed` would do, but two bytes are plainer
    uint8_t* is_listed;
    uint64_t live_capacity, listed_capacity;
    uint32_t slot_count;
    pair_table table;
    simd_box_lanes lanes;
    uint32_t skips;      // frames to come that are sorted afresh without trying
    uint32_t last_skips; // what `skips` began with: doubles while trying is in vain
    bool is_sound;       // lists and table are those of the last update
} isap;

static void* create_isap( const clv_method_context* host )
{
    const method_context* context = NULL;
    isap* self = clv_method_state_take( host, sizeof( isap ), &context );
    if ( self != NULL )
    {
        *self = ( isap ){ .context = context, .kernels = clv_simd_method_kernels_for( context->isa ) };
    }
    return self;
}

// Everything: the next update sorts afresh.
static void shrink_isap( void* state )
{
    isap* self = state;
    base_memory* memory = self->context->memory;
    clv_simd_box_lanes_release( &self->lanes, memory );
    clv_base_memory_give( memory, self->scratch, self->scratch_capacity, sizeof( base_keyed ) );
    for ( int axis = 0; axis < 3; ++axis )
    {
        clv_base_memory_give( memory, self->ends[axis], self->end_capacity[axis], sizeof( base_keyed ) );
    }
    clv_base_memory_give( memory, self->is_live, self->live_capacity, 1 );
    clv_base_memory_give( memory, self->is_listed, self->listed_capacity, 1 );
    clv_pair_table_free( &self->table, memory );
    *self = ( isap ){ .context = self->context, .kernels = self->kernels };
}

static void destroy_isap( void* state )
{
    isap* self = state;
    shrink_isap( self );
    clv_method_state_give( self->context, sizeof( isap ) );
}

static bool reserve_ends(
    base_memory* memory, base_keyed** ends, uint64_t* capacity, uint64_t kept, uint64_t count )
{
    void* data = *ends;
    bool ok = clv_base_memory_reserve( memory, &data, capacity, kept, count, sizeof( base_keyed ) );
    *ends = data;
    return ok;
}

static bool reserve_flags(
    base_memory* memory, uint8_t** flags, uint64_t* capacity, uint64_t kept, uint64_t count )
{
    void* data = *flags;
    bool ok = clv_base_memory_reserve( memory, &data, capacity, kept, count, 1 );
    *flags = data;
    return ok;
}

static bool reserve_isap( isap* self, const method_input* input )
{
    base_memory* memory = self->context->memory;
    uint64_t kept = self->is_sound ? (uint64_t)self->count * 2 : 0;
    uint32_t listed = self->is_sound ? self->slot_count : 0;
    bool ok = reserve_flags( memory, &self->is_live, &self->live_capacity, 0, input->slot_count ) &&
        reserve_flags( memory, &self->is_listed, &self->listed_capacity, listed, input->slot_count );
    for ( int axis = 0; axis < 3 && ok; ++axis )
    {
        // Those that left are still in the lists when those that came are appended.
        uint64_t needed = kept + (uint64_t)input->live_count * 2;
        ok = reserve_ends( memory, &self->ends[axis], &self->end_capacity[axis], kept,
            input->members_changed ? needed : (uint64_t)input->live_count * 2 );
    }
    if ( ok && input->slot_count > listed )
    {
        memset( self->is_listed + listed, 0, input->slot_count - listed );
    }
    self->slot_count = input->slot_count;
    return ok;
}

// ---- afresh

static void sort_axis( isap* self, const method_input* input, int axis )
{
    uint32_t count = input->live_count;
    base_keyed* ends = self->ends[axis];
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = method_live_slot( input, i );
        // All lower ends first: the sort is stable, so at equal places they stay in front.
        ends[i] = sweep_end_of( &input->boxes[slot], axis, slot );
        ends[count + i] = sweep_end_of( &input->boxes[slot], axis, slot | SWEEP_UPPER );
    }
    const base_keyed* sorted = clv_base_sort_keyed( ends, self->scratch, (uint64_t)count * 2 );
    if ( sorted != ends && count > 0 )
    {
        memcpy( ends, sorted, (size_t)count * 2 * sizeof( base_keyed ) );
    }
}

static void load_sorted_ends( isap* self, const method_input* input, int axis )
{
    uint32_t index = 0;
    for ( uint32_t i = 0; i < input->live_count * 2; ++i )
    {
        base_keyed end = self->ends[axis][i];
        if ( ( end.value & SWEEP_UPPER ) == 0 )
        {
            simd_box_lanes_set( &self->lanes.boxes, index++, &input->boxes[end.value], end.value, axis );
        }
    }
    clv_simd_box_lanes_finish( &self->lanes, input->live_count );
}

// Pairs go on to the sink as they are found.
static clv_result rebuild( isap* self, const method_input* input, pair_sink* sink, method_counters* counters )
{
    base_memory* memory = self->context->memory;
    uint32_t count = input->live_count;
    if ( !reserve_ends( memory, &self->scratch, &self->scratch_capacity, 0, (uint64_t)count * 2 ) ||
        !clv_simd_box_lanes_reserve( &self->lanes, memory, count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        sort_axis( self, input, axis );
    }
    if ( self->slot_count > 0 )
    {
        memset( self->is_listed, 0, self->slot_count );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        self->is_listed[method_live_slot( input, i )] = 1;
    }
    self->count = count;
    load_sorted_ends( self, input, clv_sweep_choose_axis( input->boxes, input->live, count ) );
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

static uint32_t mark_live( isap* self, const method_input* input )
{
    uint32_t fresh = 0;
    if ( self->slot_count > 0 )
    {
        memset( self->is_live, 0, self->slot_count );
    }
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = method_live_slot( input, i );
        self->is_live[slot] = 1;
        fresh += self->is_listed[slot] == 0;
    }
    return fresh;
}

// New places for all ends; the ends of boxes that are gone drop out.
static uint32_t refresh_axis( isap* self, const method_input* input, int axis )
{
    base_keyed* ends = self->ends[axis];
    uint32_t kept = 0;
    for ( uint32_t i = 0; i < self->count * 2; ++i )
    {
        uint32_t slot = sweep_owner( ends[i] );
        if ( !input->members_changed || self->is_live[slot] != 0 )
        {
            ends[kept++] = sweep_end_of( &input->boxes[slot], axis, ends[i].value );
        }
    }
    return kept;
}

// Newcomers join at the upper end, where they overlap nobody, and sink to their places like everyone else.
static void append_fresh( isap* self, const method_input* input, uint32_t end_count )
{
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = method_live_slot( input, i );
        if ( self->is_listed[slot] == 0 )
        {
            for ( int axis = 0; axis < 3; ++axis )
            {
                base_keyed* ends = self->ends[axis] + end_count;
                ends[0] = sweep_end_of( &input->boxes[slot], axis, slot );
                ends[1] = sweep_end_of( &input->boxes[slot], axis, slot | SWEEP_UPPER );
            }
            end_count += 2;
        }
    }
    if ( self->slot_count > 0 )
    {
        memcpy( self->is_listed, self->is_live, self->slot_count );
    }
}

static void refresh( isap* self, const method_input* input, method_counters* counters )
{
    uint32_t end_count = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        end_count = refresh_axis( self, input, axis );
    }
    method_stopwatch watch = method_stopwatch_start( self->context );
    clv_pair_table_cull( &self->table, input->boxes, input->members_changed ? self->is_live : NULL );
    counters->clean_ms = method_stopwatch_lap( &watch );
    if ( input->members_changed )
    {
        append_fresh( self, input, end_count );
    }
    self->count = input->live_count;
}

static sweep_sort_outcome sort_all(
    isap* self, const method_input* input, method_counters* counters, clv_result* result )
{
    double swaps = self->context->params[ISAP_PARAM_SWAPS] * 6.0 * input->live_count;
    sweep_effort effort = { (uint64_t)swaps, 0 };
    pair_table_sink begun;
    clv_pair_table_sink_open( &begun, &self->table, self->context->memory, NULL );
    sweep_sort_outcome outcome = SWEEP_SORTED;
    for ( int axis = 0; axis < 3 && outcome == SWEEP_SORTED; ++axis )
    {
        outcome = clv_sweep_sort_ends(
            self->ends[axis], self->count * 2, input->boxes, &effort, &begun.sink, result );
    }
    if ( outcome == SWEEP_SORTED )
    {
        *result = clv_pair_table_sink_flush( &begun );
    }
    counters->test_count += effort.test_count;
    return outcome;
}

static clv_result search( isap* self, const method_input* input, pair_sink* sink, method_counters* counters )
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
        self->is_sound = true; // whatever the sink says
        result = clv_pair_sink_put_all( sink, self->table.list.items, self->table.list.count );
    }
    return result;
}

static clv_result update_isap(
    void* state, const method_input* input, pair_sink* sink, method_counters* counters )
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
        for ( uint32_t i = 1; i < self->count * 2; ++i )
        {
            if ( sweep_rank( self->ends[axis][i - 1] ) >= sweep_rank( self->ends[axis][i] ) )
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

const method clv_methods_isap = {
    .size = sizeof( method ),
    .version = CLV_METHOD_VERSION,
    .name = "isap",
    .family = "sweep and prune",
    .source = "Baraff 1992; Cohen et al. 1995",
    .licence = "MIT",
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
