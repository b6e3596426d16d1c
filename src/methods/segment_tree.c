// SPDX-License-Identifier: MIT
// Zomorodian and Edelsbrunner, Fast Software for Box Intersections (2002): a segment tree over intervals,
// streamed, so that no tree is ever stored; small sets are scanned instead. The principle of CGAL's
// box_self_intersection_d, and of match/, which does it here: boxes are its regions of three axes.
#include "method/method.h"

#include "base/assertion.h"
#include "match/match_search.h"

enum
{
    SEGMENTS_PARAM_CUTOFF,
    SEGMENTS_PARAM_COUNT
};

static const clv_method_param s_segments_params[SEGMENTS_PARAM_COUNT] = {
    { "segment-tree.cutoff", MATCH_FEW, 4, 1000000000, true, "sets up to this size are scanned" },
};

typedef struct segment_tree
{
    const method_context* context;
    BASE_ARRAY( double ) corners; // lower x, y, z, upper x, y, z by live box
    match_world world;
    const clv_method_input* input;
    clv_pair_sink* sink;
    clv_result result; // the sink's
    match_search search;
} segment_tree;

static bool begin_segments( void* state, int variant )
{
    (void)variant;
    segment_tree* self = state;
    self->search.world = &self->world;
    self->search.memory = self->context->memory;
    self->search.few = (uint32_t)self->context->params[SEGMENTS_PARAM_CUTOFF];
    self->search.user = self;
    return true;
}

static void shrink_segments( void* state )
{
    segment_tree* self = state;
    base_memory* memory = self->context->memory;
    base_array_free( &self->corners, memory );
    clv_match_free( &self->world, memory );
    clv_base_memory_give( memory, self->search.stack, self->search.stack_capacity, sizeof( uint32_t ) );
    self->search.stack = NULL;
    self->search.stack_capacity = 0;
}

METHOD_CREATE( create_segments, segment_tree, begin_segments, shrink_segments, 0 )
METHOD_DESTROY( destroy_segments, segment_tree, shrink_segments )

// Doubles hold floats as they are.
static bool rank_boxes( segment_tree* self, const clv_method_input* input )
{
    uint32_t count = input->live_count;
    if ( !base_array_reserve( &self->corners, self->context->memory, 6 * (uint64_t)count ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        const clv_aabb* box = &input->boxes[clv_method_live_slot( input, i )];
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            self->corners.items[6 * (size_t)i + axis] = (double)( &box->lower.x )[axis];
            self->corners.items[6 * (size_t)i + 3 + axis] = (double)( &box->upper.x )[axis];
        }
    }
    const double* corners = self->corners.items;
    const clv_regions sets[2] = { { corners, corners + 3, 6 * sizeof( double ), count },
        { NULL, NULL, 0, 0 } };
    return clv_match_rank( &self->world, sets, 3, self->context->memory );
}

static bool put_pairs( const clv_pair* pairs, size_t count, void* user )
{
    segment_tree* self = user;
    for ( size_t i = 0; i < count && self->result == CLV_OK; ++i )
    {
        self->result = clv_pair_sink_put( self->sink, clv_method_live_slot( self->input, pairs[i].a ),
            clv_method_live_slot( self->input, pairs[i].b ) );
    }
    return self->result == CLV_OK;
}

static clv_result update_segments(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    segment_tree* self = state;
    if ( input->live_count < 2 )
    {
        return CLV_OK;
    }
    method_stopwatch watch = method_stopwatch_start( self->context );
    if ( !rank_boxes( self, input ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    counters->update_ms = method_stopwatch_lap( &watch );

    self->input = input;
    self->sink = sink;
    self->result = CLV_OK;
    self->search.first_count = input->live_count;
    self->search.visitor = put_pairs;
    self->search.stack_count = self->search.waiting = 0;
    self->search.test_count = 0;
    clv_result result = clv_match_run( &self->search );
    CLV_ASSERT( ( result == CLV_STOPPED ) == ( self->result != CLV_OK ) );
    counters->search_ms = method_stopwatch_lap( &watch );
    counters->test_count = self->search.test_count;
    return self->result != CLV_OK ? self->result : result;
}

const clv_method clv_methods_segment_tree = {
    METHOD_OWN,
    .name = "segment-tree",
    .family = "segment tree and sweep",
    .source = "Zomorodian and Edelsbrunner 2002",
    .time_cost = "O(n log^3 n + k)",
    .space_cost = "O(n)",
    .remarks = "stateless",
    .params = s_segments_params,
    .param_count = SEGMENTS_PARAM_COUNT,
    .create = create_segments,
    .destroy = destroy_segments,
    .update = update_segments,
    .shrink = shrink_segments,
};
