// SPDX-License-Identifier: MIT
// The ways to search on a device as methods of spaces: boxes go there in every update and pairs come back.
// The last three rows of Broadmark's Table I are gpu-grid, gpu-lbvh and gpu-sap (there from Bullet 3, here
// our own).
#include "base/assertion.h"
#include "base/bit_set.h"
#include "base/bits.h"
#include "gpu_state.h"
#include "method/method.h"

#include <stdio.h>
#include <string.h>

enum
{
    PATCHED_LEAST = 4096, // boxes of which only those that changed are sent,
    PATCHED_PART = 8,     // if these are one in so many at most
    DIRECT_LEAST = 4096,  // boxes that the device reads where they lie,
    DIRECT_AFTER = 8,     // once so many updates in a row had them there: telling the driver costs as much
};

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
    clv_gpu* gpu;           // opened by the first update
    bool is_current;        // the device has the list of the last update
    bool is_lent;           // and the caller sees it in the host's memory for the device
    gpu_host_block lent;    // which is kept here once the device was closed
    const clv_aabb* steady; // where boxes lay the last time that all were sent, in so many slots,
    uint32_t steady_count;
    uint32_t steady_updates; // and how many times in a row
    uint32_t direct_after;   // of which it takes so many
    uint64_t direct_count;   // updates for which boxes were sent from where they lie
    uint64_t patch_count;    // updates for which only boxes that changed were sent

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

static void end_loan( gpu_method* self )
{
    if ( self->gpu != NULL )
    {
        clv_gpu_host_release( self->gpu, &self->lent );
    }
    self->is_lent = false;
}

static void end( void* state )
{
    gpu_method* self = state;
    if ( self->fallback_state != NULL )
    {
        self->fallback->destroy( self->fallback_state );
    }
    end_loan( self );
    if ( self->context->host->watch.set != NULL )
    {
        self->context->host->watch.set( NULL, NULL, NULL, self->context->host->watch.user );
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

// Where all slots are live and the list came in one part it may stay where it is.
static clv_result hand_over( gpu_method* self, pair_copy* copy )
{
    const clv_pair* pairs = NULL;
    if ( copy->input->live != NULL || !clv_gpu_comes_whole( self->gpu ) )
    {
        clv_result result = clv_gpu_read_pairs( self->gpu, copy_pairs, copy );
        return copy->result != CLV_OK ? copy->result : result;
    }
    clv_result result = clv_gpu_download( self->gpu, &pairs );
    if ( result != CLV_OK )
    {
        return result;
    }
    copy->count = clv_gpu_pair_count( self->gpu );
    self->is_lent = copy->sink->borrow != NULL && copy->sink->borrow( copy->sink, pairs, copy->count );
    return self->is_lent ? CLV_OK : clv_pair_sink_put_all( copy->sink, pairs, copy->count );
}

// Boxes that may be others than in the last update; UINT32_MAX where that is not known or the device has not
// the others.
static uint32_t count_changes( const gpu_method* self, const clv_method_input* input )
{
    bool is_known = input->moved != NULL && !input->members_changed && self->gpu != NULL &&
        self->gpu->staged_count == input->live_count;
    uint64_t words = is_known ? base_bits_words( input->slot_count ) : 0;
    uint32_t count = 0;
    for ( uint64_t word = 0; word < words; ++word )
    {
        count += base_bit_count( input->moved[word] );
    }
    return is_known ? count : UINT32_MAX;
}

// Those to the device by themselves. Slots that are free have no place there.
static clv_result patch( gpu_method* self, const clv_method_input* input, uint32_t most )
{
    gpu_change* changes = NULL;
    uint32_t count = 0;
    clv_result result = clv_gpu_stage_changes( self->gpu, most, &changes );
    for ( uint32_t i = 0; result == CLV_OK && input->live != NULL && i < input->live_count; ++i )
    {
        if ( base_bits_has( input->moved, input->live[i] ) )
        {
            CLV_ASSERT( count < most );
            changes[count++] = ( gpu_change ){ .box = input->boxes[input->live[i]], .index = i };
        }
    }
    uint64_t words = result == CLV_OK && input->live == NULL ? base_bits_words( input->slot_count ) : 0;
    for ( uint64_t word = 0; word < words; ++word )
    {
        for ( uint64_t bits = input->moved[word]; bits != 0; bits &= bits - 1 )
        {
            uint32_t slot = (uint32_t)( 64 * word ) + base_lowest_bit( bits );
            CLV_ASSERT( count < most && slot < input->live_count );
            changes[count++] = ( gpu_change ){ .box = input->boxes[slot], .index = slot };
        }
    }
    self->patch_count += 1;
    return result == CLV_OK && count > 0 ? clv_gpu_send_changes( self->gpu, count ) : result;
}

static void leave_boxes( void* state )
{
    gpu_method* self = state;
    if ( self->gpu != NULL && self->gpu->direct.memory != NULL )
    {
        self->gpu->cl->clFinish( self->gpu->queue ); // they may be on their way
        clv_gpu_host_release( self->gpu, &self->gpu->direct );
    }
    self->steady_updates = 0;
}

// May the device read the boxes where they lie? Where that memory stays as it is the driver is told of it.
static bool is_direct( gpu_method* self, const clv_method_input* input )
{
    const clv_method_watch* watch = &self->context->host->watch;
    gpu_host_block* direct = &self->gpu->direct;
    bool is_same = self->steady == input->boxes && self->steady_count == input->slot_count;
    if ( !is_same || input->live != NULL || input->live_count < DIRECT_LEAST || watch->set == NULL )
    {
        leave_boxes( self );
        self->steady = input->boxes;
        self->steady_count = input->slot_count;
        self->direct_after = DIRECT_AFTER;
        return false;
    }
    self->steady_updates += 1;
    if ( direct->data == NULL && self->steady_updates >= self->direct_after && self->gpu->is_open )
    {
        void* boxes = (void*)(uintptr_t)input->boxes; // the driver does not write
        size_t bytes = (size_t)input->slot_count * sizeof( clv_aabb );
        self->direct_after *= 8; // if it is refused
        self->steady_updates = 0;
        if ( clv_gpu_host_register( self->gpu, direct, boxes, bytes ) )
        {
            watch->set( input->boxes, leave_boxes, self, watch->user );
        }
    }
    return direct->data == input->boxes;
}

static clv_result send( gpu_method* self, const clv_method_input* input )
{
    clv_aabb* boxes = NULL;
    if ( is_direct( self, input ) )
    {
        self->direct_count += 1;
        return clv_gpu_send_boxes( self->gpu, input->boxes, input->live_count );
    }
    clv_result result = clv_gpu_stage( self->gpu, input->live_count, &boxes );
    CLV_ASSERT( result != CLV_OK || boxes != NULL || input->live_count == 0 );
    if ( result == CLV_OK && input->live == NULL && input->live_count > 0 )
    {
        memcpy( boxes, input->boxes, (size_t)input->live_count * sizeof( clv_aabb ) );
    }
    for ( uint32_t i = 0; result == CLV_OK && input->live != NULL && i < input->live_count; ++i )
    {
        boxes[i] = input->boxes[input->live[i]];
    }
    return result == CLV_OK ? clv_gpu_send_staged( self->gpu, input->live_count ) : result;
}

static clv_result load( gpu_method* self, const clv_method_input* input )
{
    uint32_t change_count = count_changes( self, input );
    bool is_patched = input->live_count >= PATCHED_LEAST && change_count <= input->live_count / PATCHED_PART;
    clv_result result = open( self );
    return result != CLV_OK ? result : is_patched ? patch( self, input, change_count ) : send( self, input );
}

static clv_result search( gpu_method* self, pair_copy* copy, clv_method_counters* counters )
{
    method_stopwatch watch = method_stopwatch_start( self->context );
    end_loan( self );
    clv_result result = load( self, copy->input );
    counters->update_ms = method_stopwatch_lap( &watch );
    GPU_THEN( result, clv_gpu_search_staged( self->gpu, copy->input->live_count ) );
    if ( result == CLV_OK )
    {
        counters->test_count = clv_gpu_get_stats( self->gpu ).test_count;
        result = hand_over( self, copy );
    }
    counters->search_ms = method_stopwatch_lap( &watch );
    return result;
}

// The pairs are those of the last update: nothing is done where the caller's list stands, and where it is to
// be made anew, as after other filters, the device still has them.
static clv_result update_still( gpu_method* self, pair_copy* copy, clv_method_counters* counters )
{
    if ( clv_pair_sink_keep( copy->sink ) )
    {
        return CLV_OK;
    }
    return self->is_current && !copy->input->last_failed ? hand_over( self, copy )
                                                         : search( self, copy, counters );
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

static bool is_the_devices( clv_result result )
{
    return result == CLV_DEVICE_FAILED || result == CLV_OUT_OF_MEMORY || result == CLV_UNSUPPORTED ||
        result == CLV_TOO_MANY_OBJECTS; // for its tiles
}

static clv_result update_device( gpu_method* self, pair_copy* copy, clv_method_counters* counters )
{
    bool still = method_input_is_still( copy->input );
    clv_result result = still ? update_still( self, copy, counters ) : search( self, copy, counters );
    self->is_current = result == CLV_OK && self->gpu != NULL && self->gpu->has_list;
    return result;
}

static clv_result update(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    gpu_method* self = state;
    if ( self->fallback_state != NULL )
    {
        return self->fallback->update( self->fallback_state, input, sink, counters );
    }
    pair_copy copy = { input, sink, CLV_OK, 0 };
    clv_result result = update_device( self, &copy, counters );
    bool may_fall = self->context->params[PARAM_FALLBACK] != 0 && copy.count == 0 && is_the_devices( result );
    if ( !may_fall || !fall_back( self ) )
    {
        return result;
    }
    clv_method_input all = *input; // that it sees for the first time
    all.moved = NULL;
    all.members_changed = true;
    return self->fallback->update( self->fallback_state, &all, sink, counters );
}

static void shrink( void* state )
{
    gpu_method* self = state;
    if ( self->gpu != NULL )
    {
        if ( self->is_lent && self->lent.memory == NULL ) // the caller's until the next one
        {
            self->lent = self->gpu->download;
            self->gpu->download = ( gpu_host_block ){ 0 };
        }
        clv_gpu_close( self->gpu );
    }
    self->is_current = false;
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
    method_figure_add( &list, "gpu.direct", (double)self->direct_count );
    method_figure_add( &list, "gpu.patches", (double)self->patch_count );
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
        .space_cost = "O(n)", .is_temporal = false, .wants_moved = true, .params = ( row_params ),           \
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

clv_result clv_gpu_register( void )
{
    const clv_method* rows[ROW_COUNT];
    const char* why = NULL;
    clv_gpu_opencl( &why );
    for ( uint32_t i = 0; i < ROW_COUNT; ++i )
    {
        rows[i] = &s_rows[i];
        s_rows[i].missing = clv_method_find( s_rows[i].name ) == NULL ? why : s_rows[i].missing;
    }
    return method_register_rows( rows, ROW_COUNT );
}
