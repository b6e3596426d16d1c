// SPDX-License-Identifier: MIT
// The ways to search on a device as methods of spaces: boxes go there in every update and pairs come back.
// The last three rows of Broadmark's Table I are gpu-grid, gpu-lbvh and gpu-sap (there from Bullet 3, here
// our own).
#include "base/assertion.h"
#include "gpu_state.h"
#include "method/method.h"

#include <stdio.h>
#include <string.h>

enum
{
    PARAM_DEVICE,
    PARAM_FALLBACK,
    PARAM_FEW,
    PARAM_AXIS = PARAM_FEW,
    PARAM_PCA,
};

typedef struct gpu_method
{
    const method_context* context;
    clv_gpu_way way;
    clv_gpu* gpu; // opened by the first update

    // Where the device failed and gpu.fallback is on: the default method.
    const clv_method* fallback;
    void* fallback_state;
    clv_method_context fallback_context;
} gpu_method;

// ---- life

static bool begin( void* state, int way )
{
    gpu_method* self = state;
    self->way = (clv_gpu_way)way;
    return true;
}

static void end( void* state )
{
    gpu_method* self = state;
    if ( self->fallback_state != NULL )
    {
        self->fallback->destroy( self->fallback_state );
    }
    clv_gpu_destroy( self->gpu );
}

METHOD_CREATE( create_auto, gpu_method, begin, end, CLV_GPU_AUTO )
METHOD_CREATE( create_tiles, gpu_method, begin, end, CLV_GPU_TILES )
METHOD_CREATE( create_grid, gpu_method, begin, end, CLV_GPU_GRID )
METHOD_CREATE( create_sap, gpu_method, begin, end, CLV_GPU_SAP )
METHOD_CREATE( create_lbvh, gpu_method, begin, end, CLV_GPU_LBVH )
METHOD_DESTROY( destroy, gpu_method, end )

static clv_result open( gpu_method* self )
{
    if ( self->gpu != NULL )
    {
        return CLV_OK;
    }
    const double* params = self->context->params;
    char device[16] = "";
    clv_gpu_def def = clv_default_gpu_def();
    if ( params[PARAM_DEVICE] >= 0 )
    {
        snprintf( device, sizeof( device ), "%d", (int)params[PARAM_DEVICE] );
    }
    def.device = device;
    def.way = self->way;
    def.count_tests = true;
    def.allocator = self->context->host->memory;
    def.logger = self->context->host->logger;
    if ( self->way == CLV_GPU_AUTO )
    {
        def.few = (uint32_t)params[PARAM_FEW];
    }
    if ( self->way == CLV_GPU_SAP )
    {
        def.axis_frames = (uint32_t)params[PARAM_AXIS];
        def.axis_by_pca = params[PARAM_PCA] > 0;
        def.axis_free = params[PARAM_PCA] > 1;
    }
    clv_result result = clv_gpu_create( &def, &self->gpu );
    return result == CLV_BAD_DEF ? CLV_UNSUPPORTED : result; // there is no device of that number
}

// ---- one update

typedef struct pair_copy
{
    const clv_method_input* input;
    clv_pair_sink* sink;
    clv_result result;
    uint64_t count;
} pair_copy;

// Live objects ascend, so the smaller slot stays the first.
static bool copy_pairs( const clv_pair* pairs, size_t count, void* user )
{
    pair_copy* copy = user;
    for ( size_t i = 0; i < count && copy->result == CLV_OK && copy->input->live != NULL; ++i )
    {
        copy->result =
            clv_pair_sink_put( copy->sink, copy->input->live[pairs[i].a], copy->input->live[pairs[i].b] );
    }
    if ( copy->input->live == NULL )
    {
        copy->result = clv_pair_sink_put_all( copy->sink, pairs, count );
    }
    copy->count += count;
    return copy->result == CLV_OK;
}

static clv_result load( gpu_method* self, const clv_method_input* input )
{
    clv_aabb* boxes = NULL;
    clv_result result = open( self );
    GPU_THEN( result, clv_gpu_stage( self->gpu, input->live_count, &boxes ) );
    CLV_ASSERT( result != CLV_OK || boxes != NULL || input->live_count == 0 );
    if ( result == CLV_OK && input->live == NULL && input->live_count > 0 )
    {
        memcpy( boxes, input->boxes, (size_t)input->live_count * sizeof( clv_aabb ) );
    }
    for ( uint32_t i = 0; result == CLV_OK && input->live != NULL && i < input->live_count; ++i )
    {
        boxes[i] = input->boxes[input->live[i]];
    }
    return result;
}

static clv_result search( gpu_method* self, pair_copy* copy, clv_method_counters* counters )
{
    method_stopwatch watch = method_stopwatch_start( self->context );
    clv_result result = load( self, copy->input );
    counters->update_ms = method_stopwatch_lap( &watch );
    GPU_THEN( result, clv_gpu_update_staged( self->gpu, copy->input->live_count ) );
    if ( result == CLV_OK )
    {
        counters->test_count = clv_gpu_get_stats( self->gpu ).test_count;
        result = clv_gpu_read_pairs( self->gpu, copy_pairs, copy );
        result = copy->result != CLV_OK ? copy->result : result;
    }
    counters->search_ms = method_stopwatch_lap( &watch );
    return result;
}

// ---- without the device

static bool fall_back( gpu_method* self )
{
    const clv_method_context* host = self->context->host;
    const clv_method* row = clv_method_find( METHOD_DEFAULT );
    if ( row == NULL )
    {
        return false;
    }
    self->fallback_context = *host;
    for ( uint32_t i = 0; i < row->param_count; ++i )
    {
        self->fallback_context.params[i] = row->params[i].value;
    }
    self->fallback = row;
    CLV_ASSERT( self->fallback_state == NULL );
    self->fallback_state = row->create( &self->fallback_context );
    if ( self->fallback_state != NULL )
    {
        host->logger.write(
            CLV_LOG_WARNING, "the device failed: the CPU goes on from here", host->logger.user );
    }
    return self->fallback_state != NULL;
}

static clv_result update_without(
    gpu_method* self, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    clv_method_input plain = *input;
    plain.moved = NULL;
    plain.members_changed = true;
    return self->fallback->update( self->fallback_state, &plain, sink, counters );
}

static bool is_the_devices( clv_result result )
{
    return result == CLV_DEVICE_FAILED || result == CLV_OUT_OF_MEMORY || result == CLV_UNSUPPORTED ||
        result == CLV_TOO_MANY_OBJECTS; // for its tiles
}

static clv_result update(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    gpu_method* self = state;
    if ( self->fallback_state != NULL )
    {
        return update_without( self, input, sink, counters );
    }
    pair_copy copy = { input, sink, CLV_OK, 0 };
    clv_result result = search( self, &copy, counters );
    bool may_fall = self->context->params[PARAM_FALLBACK] != 0 && copy.count == 0 && is_the_devices( result );
    return may_fall && fall_back( self ) ? update_without( self, input, sink, counters ) : result;
}

static void shrink( void* state )
{
    gpu_method* self = state;
    if ( self->gpu != NULL )
    {
        clv_gpu_close( self->gpu );
    }
    if ( self->fallback_state != NULL && self->fallback->shrink != NULL )
    {
        self->fallback->shrink( self->fallback_state );
    }
}

static uint32_t report( void* state, clv_method_figure* figures, uint32_t capacity )
{
    gpu_method* self = state;
    clv_gpu_stats stats = { 0 };
    method_figure_list list = { figures, capacity, 0 };
    if ( self->gpu != NULL )
    {
        stats = clv_gpu_get_stats( self->gpu );
    }
    method_figure_add( &list, "gpu.fallback", self->fallback_state != NULL ? 1 : 0 );
    method_figure_add( &list, "gpu.way", (double)stats.way );
    method_figure_add( &list, "gpu.searches", (double)stats.search_count );
    method_figure_add( &list, "gpu.plans", (double)stats.plan_count );
    method_figure_add( &list, "gpu.orders", (double)stats.order_count );
    method_figure_add( &list, "gpu.rests", (double)stats.rest_count );
    method_figure_add( &list, "gpu.pieces", (double)stats.piece_count );
    method_figure_add( &list, "gpu.cells", (double)stats.cell_count );
    method_figure_add( &list, "gpu.levels", (double)stats.level_count );
    method_figure_add( &list, "gpu.large", (double)stats.large_count );
    method_figure_add( &list, "gpu.device_bytes", (double)stats.device_bytes );
    return list.count;
}

// ---- rows

#define DEVICE_PARAM                                                                                         \
    {                                                                                                        \
        "gpu.device", -1, -1, 63, true, "number of the device, -1: the fastest"                              \
    }
#define FALLBACK_PARAM                                                                                       \
    {                                                                                                        \
        "gpu.fallback", 0, 0, 1, true, "1: the CPU goes on where the device fails"                           \
    }

static const clv_method_param s_params[] = { DEVICE_PARAM, FALLBACK_PARAM };
static const clv_method_param s_auto_params[] = { DEVICE_PARAM, FALLBACK_PARAM,
    { "gpu.few", 4096, 0, 1000000, true, "objects up to which every pair is tested" } };
static const clv_method_param s_sap_params[] = {
    DEVICE_PARAM, FALLBACK_PARAM,
    { "gpu.axis", 32, 1, 1000000, true, "updates between two choices of the axis" },
    { "gpu.pca", 0, 0, 2, true,
        "2: along the principal axis, as in the k-DOP paper; 1: the coordinate axis next to it; 0: fewest overlaps in a sample" }
};

#define GPU_ROW( row_name, row_family, row_source, cost, row_params, make )                                  \
    {                                                                                                        \
        .size = sizeof( clv_method ), .version = CLV_METHOD_VERSION, .name = ( row_name ),                   \
        .family = ( row_family ), .source = ( row_source ), .licence = "MIT", .time_cost = ( cost ),         \
        .space_cost = "O(n)", .is_temporal = false, .params = ( row_params ),                                \
        .param_count = sizeof( row_params ) / sizeof( ( row_params )[0] ), .create = ( make ),               \
        .destroy = destroy, .update = update, .shrink = shrink, .report = report,                            \
    }

// Not constant: whether OpenCL is here shows when they are registered.
static clv_method s_rows[] = {
    GPU_ROW( "gpu-tiles", "brute force", "own", "O(n^2)", s_params, create_tiles ),
    GPU_ROW( "gpu-grid", "grid", "Broadmark (Serpa and Rodrigues 2019), Table I", "O(n t)", s_params,
        create_grid ),
    GPU_ROW( "gpu-lbvh", "bounding volume hierarchy", "Broadmark (Serpa and Rodrigues 2019), Table I",
        "O(n log n)", s_params, create_lbvh ),
    GPU_ROW( "gpu-sap", "sweep and prune",
        "the k-DOP paper (Amaral 2021); Broadmark (Serpa and Rodrigues 2019), Table I", "O(n^(5/3))",
        s_sap_params, create_sap ),
    GPU_ROW( "gpu", "grid", "own: tiles, grid or tree by counts", "O(n t)", s_auto_params, create_auto ),
};

enum
{
    ROW_COUNT = sizeof( s_rows ) / sizeof( s_rows[0] )
};

// A name that another method has; NULL if there is none.
static const clv_method* find_taken( uint32_t* unknown )
{
    const clv_method* taken = NULL;
    *unknown = 0;
    for ( uint32_t i = 0; i < ROW_COUNT; ++i )
    {
        const clv_method* known = clv_method_find( s_rows[i].name );
        taken = known != NULL && known != &s_rows[i] ? &s_rows[i] : taken;
        *unknown += known == NULL ? 1 : 0;
    }
    return taken;
}

clv_result clv_gpu_register( void )
{
    uint32_t unknown = 0;
    const clv_method* taken = find_taken( &unknown );
    if ( taken != NULL )
    {
        return clv_method_register( taken ); // which says why not
    }
    if ( unknown > CLV_METHODS_MOST - clv_method_count() )
    {
        return CLV_BAD_ARGUMENT;
    }
    const char* why = NULL;
    clv_result result = CLV_OK;
    clv_gpu_opencl( &why );
    for ( uint32_t i = 0; i < ROW_COUNT && result == CLV_OK && unknown > 0; ++i )
    {
        s_rows[i].missing = why;
        result = clv_method_register( &s_rows[i] );
    }
    return result;
}
