// SPDX-License-Identifier: MIT
// Lists of points near each other: a plan of cells, points into them, and the search;
// kernels/near.cl tells how.
#include "gpu_state.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "base/fp_mode.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum
{
    SHIFTS_MOST = 60, // edges that a cutoff may span
    LEAST_LONG = 32,  // entries of an open axis, at least: x, whose cells are half as thick as a reach,
    LEAST_SHORT = 16, // and the others; no point asks as many, whatever rounding does
    ENTRIES_LEAST = 32768,
    ENTRIES_PER_POINT = 4,
    CELLS_MOST = 1 << 20, // along a periodic axis
};

// One call.
typedef struct near_job
{
    const clv_near_def* def;
    clv_near_cell cell; // all zero where it is open
    cl_mem points;
    uint32_t stride; // in floats
    uint32_t count;
    float limit;
    float square;
    double reach;
} near_job;

void clv_gpu_near_forget( clv_gpu* gpu )
{
    clv_gpu_host_release( gpu, &gpu->near.host );
    gpu->near = ( gpu_near_state ){ 0 };
}

// ---- refused

static const char* why_unsupported( const clv_gpu* gpu, const clv_near_def* def, const near_job* job )
{
    bool is_periodic = job->cell.periodic[0] || job->cell.periodic[1] || job->cell.periodic[2];
    for ( int k = 0; k < 3 && is_periodic; ++k )
    {
        const double* edge = job->cell.edges[k];
        if ( job->cell.periodic[k] && ( edge[( k + 1 ) % 3] != 0 || edge[( k + 2 ) % 3] != 0 ) )
        {
            return "a cell whose edges are not along the axes";
        }
    }
    return def->doubles                               ? "points in double"
        : def->skin > 0                               ? "a skin"
        : def->squared || def->vectors || def->shifts ? "squared distances, vectors and shifts"
        : !gpu->device->has_denormals                 ? "a device without denormals in float"
        : is_periodic && !gpu->device->has_doubles    ? "periodic cells on a device without doubles"
                                                      : NULL;
}

static clv_result check_def( clv_gpu* gpu, const clv_near_def* def )
{
    clv_near_def usual = clv_default_near_def();
    if ( def->cookie != usual.cookie || def->size != usual.size )
    {
        return clv_gpu_fail( gpu, CLV_BAD_DEF, "start from clv_default_near_def()" );
    }
    float cutoff = (float)def->cutoff;
    if ( !( def->cutoff >= 0 ) || !( def->skin >= 0 ) || !base_is_finite( (double)( cutoff * cutoff ) ) ||
        !base_is_finite( def->skin ) )
    {
        return clv_gpu_fail( gpu, CLV_BAD_DEF,
            "def.cutoff and def.skin must be at least 0, and the square of the cutoff finite" );
    }
    return CLV_OK;
}

static clv_result check_cell( clv_gpu* gpu, const near_job* job )
{
    if ( job->def->flat && job->cell.periodic[2] )
    {
        return clv_gpu_fail( gpu, CLV_BAD_ARGUMENT, "flat points have no third periodic axis" );
    }
    for ( int k = 0; k < 3; ++k )
    {
        double edge = fabs( job->cell.edges[k][k] );
        if ( !job->cell.periodic[k] )
        {
            continue;
        }
        if ( !( edge >= (double)FLT_MIN ) || !( edge <= (double)FLT_MAX / 16 ) )
        {
            return clv_gpu_fail( gpu, CLV_BAD_ARGUMENT, "the cell is singular, not finite, or too large" );
        }
        if ( job->reach > SHIFTS_MOST * edge )
        {
            return clv_gpu_fail( gpu, CLV_UNSUPPORTED,
                "a cutoff of %g reaches over an edge of %g more than %d times", job->def->cutoff, edge,
                SHIFTS_MOST );
        }
    }
    return CLV_OK;
}

// The limit, and the greatest difference on one axis whose square, in float, is not above the limit's.
static clv_result begin_job( clv_gpu* gpu, const clv_near_def* def, const clv_near_cell* cell, near_job* job )
{
    clv_result result = check_def( gpu, def );
    if ( result != CLV_OK )
    {
        return result;
    }
    job->def = def;
    if ( cell != NULL )
    {
        job->cell = *cell;
    }
    const char* why = why_unsupported( gpu, def, job );
    if ( why != NULL )
    {
        return clv_gpu_fail( gpu, CLV_UNSUPPORTED, "lists of near points on a device do without %s", why );
    }
    job->limit = (float)def->cutoff;
    job->square = job->limit * job->limit;
    float above = nextafterf( job->square, INFINITY );
    job->reach = sqrt( (double)( above < INFINITY ? above : job->square ) ) * ( 1 + 1e-6 );
    return check_cell( gpu, job );
}

// ---- planned

// Where most of the points lie along the open axes.
static clv_result measure( clv_gpu* gpu, const near_job* job, gpu_spread spreads[3] )
{
    const uint64_t sample_bytes = GPU_SAMPLE * sizeof( clv_aabb );
    const uint64_t bytes = sample_bytes + 2 * GPU_SAMPLE * sizeof( float );
    uint32_t count = job->count < GPU_SAMPLE ? job->count : GPU_SAMPLE;
    gpu_buffers* b = &gpu->buffers;
    clv_aabb* sample = clv_base_memory_take( &gpu->memory, bytes, 1 );
    if ( sample == NULL )
    {
        return clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "no memory for a sample" );
    }
    clv_result result = clv_gpu_reserve( gpu, &b->sample, sample_bytes );
    GPU_THEN( result,
        GPU_LAUNCH(
            gpu, GPU_KERNEL_near_sample, count, job->points, job->count, b->near_plan, b->sample, count ) );
    GPU_THEN( result, clv_gpu_read( gpu, b->sample.memory, 0, sample, (size_t)count * sizeof( clv_aabb ) ) );
    for ( int k = 0; k < 3 && result == CLV_OK; ++k )
    {
        spreads[k] = clv_gpu_spread_of( sample, count, k, (float*)( sample + GPU_SAMPLE ) );
    }
    clv_base_memory_give( &gpu->memory, sample, bytes, 1 );
    return result;
}

// An open axis: cells as thick as the reach, half as thick along rows, unless floats are too coarse for such
// small ones; as many as the points extend over.
static void plan_open_axis( const near_job* job, gpu_near_plan* plan, int k, const gpu_spread* spread )
{
    double extent = (double)spread->most - (double)spread->least;
    double far = fmax( fabs( (double)spread->most ), fabs( (double)spread->least ) );
    double thick = fmax( job->reach * ( k == 0 ? 0.5 : 1.001 ), fmax( far, extent ) * 0x1p-21 );
    uint32_t size = k == 0 ? LEAST_LONG : LEAST_SHORT;
    while ( size < extent / thick + 2 && size < ( UINT32_C( 1 ) << 24 ) )
    {
        size *= 2;
    }
    plan->size[k] = size;
    plan->scale[k] = (float)( 1 / thick );
    plan->reach[k] = nextafterf( (float)job->reach, INFINITY );
    if ( k == 2 && job->def->flat )
    {
        plan->size[k] = 1;
        plan->scale[k] = 0;
    }
}

// A periodic axis: cells that fill the edge, at least `part` of the reach thick.
static void plan_periodic_axis( const near_job* job, gpu_near_plan* plan, int k, double part )
{
    double edge = fabs( job->cell.edges[k][k] );
    double reach = job->reach + ( job->reach + edge ) * 4e-6; // with what rounding to float may move
    double most = floor( edge / ( reach * part ) );
    most = most < 1 ? 1 : most > CELLS_MOST ? CELLS_MOST : most;
    plan->periodic |= 1u << k;
    plan->size[k] = (uint32_t)most;
    plan->scale[k] = (float)( most / job->cell.edges[k][k] );
    plan->layers[k] = (uint32_t)ceil( reach / edge * most * ( 1 + 1e-9 ) );
    plan->edge[k] = job->cell.edges[k][k];
    for ( int shift = -NEAR_SHIFTS; shift <= NEAR_SHIFTS; ++shift )
    {
        plan->offsets[k][NEAR_SHIFTS + shift] = (float)( shift * plan->edge[k] );
    }
}

// The inverse of the cell as near.h's floats have it: from cross products.
static void invert( const near_job* job, gpu_near_plan* plan )
{
    double e[3];
    for ( int k = 0; k < 3; ++k )
    {
        e[k] = job->cell.periodic[k] ? job->cell.edges[k][k] : 1;
    }
    double volume = e[0] * ( e[1] * e[2] );
    for ( int k = 0; k < 3; ++k )
    {
        plan->inverse[k] = e[( k + 1 ) % 3] * e[( k + 2 ) % 3] / volume;
    }
}

static uint64_t entries_of( const gpu_near_plan* plan, uint32_t* pitch )
{
    *pitch = ( plan->size[0] + 8 ) / 8 * 8; // one more than the cells, in eights
    return (uint64_t)*pitch * plan->size[1] * plan->size[2];
}

// Half as many along the open axis that has most, as long as it has more than it must. False if none has.
static bool fold_axis( gpu_near_plan* plan )
{
    int widest = -1;
    for ( int k = 0; k < 3; ++k )
    {
        bool may = ( plan->periodic & 1u << k ) == 0 &&
            plan->size[k] > ( k == 0 ? (uint32_t)LEAST_LONG : (uint32_t)LEAST_SHORT );
        widest = may && ( widest < 0 || plan->size[k] > plan->size[widest] ) ? k : widest;
    }
    if ( widest >= 0 )
    {
        plan->size[widest] /= 2;
    }
    return widest >= 0;
}

static void choose_cells( const near_job* job, const gpu_spread spreads[3], gpu_near_plan* plan )
{
    uint64_t most = (uint64_t)ENTRIES_PER_POINT * job->count + ENTRIES_LEAST;
    for ( int k = 0; k < 3; ++k )
    {
        if ( job->cell.periodic[k] )
        {
            plan_periodic_axis( job, plan, k, k == 0 ? 0.5 : 1 );
        }
        else
        {
            plan_open_axis( job, plan, k, &spreads[k] );
        }
    }
    invert( job, plan );
    double part = 1;
    while ( entries_of( plan, &plan->pitch ) > most )
    {
        if ( fold_axis( plan ) )
        {
            continue;
        }
        part *= 1.25;
        CLV_ASSERT( plan->periodic != 0 ); // open axes alone have fewer at the least
        for ( int k = 0; k < 3; ++k )
        {
            if ( job->cell.periodic[k] )
            {
                plan_periodic_axis( job, plan, k, part );
            }
        }
    }
}

static bool is_same_cell( const clv_near_cell* a, const clv_near_cell* b )
{
    bool is_same = true;
    for ( int k = 0; k < 3; ++k )
    {
        is_same = is_same && a->periodic[k] == b->periodic[k] &&
            ( !a->periodic[k] || memcmp( a->edges[k], b->edges[k], sizeof( a->edges[k] ) ) == 0 );
    }
    return is_same;
}

static bool still_serves( const gpu_near_state* near, const near_job* job )
{
    return near->is_planned && near->flat == job->def->flat && near->limit == job->limit &&
        near->stride == job->stride && is_same_cell( &near->cell, &job->cell ) &&
        job->count <= near->planned_count + near->planned_count / 2 && job->count >= near->planned_count / 2;
}

static clv_result make_plan( clv_gpu* gpu, const near_job* job )
{
    gpu_near_state* near = &gpu->near;
    gpu_buffers* b = &gpu->buffers;
    gpu_near_plan plan = {
        .axes = job->def->flat ? 2 : 3,
        .stride = job->stride,
        .square = job->square,
    };
    gpu_spread spreads[3] = { 0 };
    bool is_open = !( job->cell.periodic[0] && job->cell.periodic[1] && job->cell.periodic[2] );
    near->is_planned = false;
    clv_result result = clv_gpu_reserve( gpu, &b->near_plan, sizeof( plan ) );
    GPU_THEN( result, clv_gpu_write( gpu, b->near_plan.memory, 0, &plan, sizeof( plan ), true ) );
    result = result == CLV_OK && is_open ? measure( gpu, job, spreads ) : result;
    if ( result != CLV_OK )
    {
        return result;
    }
    choose_cells( job, spreads, &plan );
    uint64_t entries = entries_of( &plan, &plan.pitch );
    near->row_count = plan.size[1] * plan.size[2];
    near->pitch = plan.pitch;
    near->is_ready = false; // counts are to be cleared
    result = clv_gpu_write( gpu, b->near_plan.memory, 0, &plan, sizeof( plan ), true );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->near_counts, entries * sizeof( uint32_t ) ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->near_starts, entries * sizeof( uint32_t ) ) );
    near->is_planned = result == CLV_OK;
    near->cell = job->cell;
    near->flat = job->def->flat;
    near->limit = job->limit;
    near->stride = job->stride;
    near->planned_count = job->count;
    near->cell_squares = UINT64_MAX;
    return result;
}

// ---- a list

static clv_result reserve( clv_gpu* gpu, const near_job* job )
{
    gpu_buffers* b = &gpu->buffers;
    clv_result result = clv_gpu_reserve( gpu, &b->near_slots, 2 * SLOT_WORDS * sizeof( uint32_t ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->near_places, (uint64_t)job->count * 8 ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->near_records, ( (uint64_t)job->count + 3 ) * 16 ) );
    if ( result == CLV_OK && job->def->by_point )
    {
        uint64_t numbers = (uint64_t)job->count + 1;
        result = clv_gpu_reserve( gpu, &b->near_offsets, numbers * sizeof( uint32_t ) );
        GPU_THEN( result,
            clv_gpu_reserve( gpu, &b->near_sums, clv_gpu_scan_blocks( numbers ) * sizeof( uint32_t ) ) );
        GPU_THEN( result, clv_gpu_reserve( gpu, &b->near_indices, sizeof( uint32_t ) ) );
    }
    return result;
}

// Points into cells.
static clv_result lay_out( clv_gpu* gpu, const near_job* job )
{
    gpu_near_state* near = &gpu->near;
    gpu_buffers* b = &gpu->buffers;
    uint32_t next_slot = 1 - near->slot;
    gpu_table table = { &b->near_counts, &b->near_starts, &b->near_slots, near->row_count, near->pitch };
    clv_result result = CLV_OK;
    if ( !near->is_ready )
    {
        result = clv_gpu_fill( gpu, b->near_counts.memory, (uint64_t)near->row_count * near->pitch, 0 );
        GPU_THEN( result, clv_gpu_fill( gpu, b->near_slots.memory, 2 * SLOT_WORDS, 0 ) );
    }
    near->is_ready = false; // until this ends well
    GPU_THEN( result,
        GPU_LAUNCH( gpu, GPU_KERNEL_near_place, job->count, job->points, job->count, b->near_plan,
            b->near_counts, b->near_places, b->near_slots, near->slot, next_slot ) );
    GPU_THEN( result, clv_gpu_grid_add_up( gpu, &table, near->slot, 0 ) );
    GPU_THEN( result,
        GPU_LAUNCH( gpu, GPU_KERNEL_near_put, job->count, job->points, job->count, b->near_plan,
            b->near_places, b->near_starts, b->near_records ) );
    return result;
}

static clv_result read_counters( clv_gpu* gpu, gpu_counters* counters )
{
    return clv_gpu_read_slot( gpu, &gpu->buffers.near_slots, gpu->near.slot, counters );
}

static clv_result find( clv_gpu* gpu, const near_job* job, uint32_t stage )
{
    gpu_near_state* near = &gpu->near;
    gpu_buffers* b = &gpu->buffers;
    bool is_pairs = stage == NEAR_PAIRS;
    uint32_t mode = job->def->full ? NEAR_FULL : is_pairs ? NEAR_HALF : NEAR_LESSER;
    uint32_t capacity = (uint32_t)( is_pairs ? near->pair_room : near->index_room );
    CLV_ASSERT( near->pair_room <= UINT32_MAX && near->index_room <= UINT32_MAX );
    // Buffers that a stage does not touch are the plan's: a kernel is told none that is not there.
    cl_mem pairs = is_pairs ? b->near_pairs.memory : b->near_plan.memory;
    cl_mem numbers = is_pairs ? b->near_plan.memory : b->near_offsets.memory;
    cl_mem indices = is_pairs ? b->near_plan.memory : b->near_indices.memory;
    return GPU_LAUNCH( gpu, GPU_KERNEL_near_find, job->count, b->near_records, job->count, b->near_plan,
        b->near_starts, mode, stage, b->near_slots, near->slot, pairs, capacity, numbers, indices );
}

static clv_result refuse_pairs( clv_gpu* gpu, const near_job* job, uint64_t count )
{
    uint64_t bytes = job->def->by_point ? sizeof( uint32_t ) : sizeof( clv_pair );
    uint64_t pairs = job->def->full ? count / 2 : count;
    if ( job->def->max_pairs > 0 && pairs > job->def->max_pairs )
    {
        return clv_gpu_fail(
            gpu, CLV_TOO_MANY_PAIRS, "%llu pairs are more than def.max_pairs", (unsigned long long)pairs );
    }
    if ( count > UINT32_MAX || count * bytes > clv_gpu_list_most( gpu ) )
    {
        return clv_gpu_fail( gpu, CLV_TOO_MANY_PAIRS,
            "a list of %llu entries needs %llu bytes; it may take %llu, and at most 2^32 - 1 entries",
            (unsigned long long)count, (unsigned long long)( count * bytes ),
            (unsigned long long)clv_gpu_list_most( gpu ) );
    }
    return CLV_OK;
}

static uint64_t with_room( const clv_gpu* gpu, uint64_t count, uint64_t bytes )
{
    uint64_t most = clv_gpu_list_most( gpu ) / bytes, roomy = count + count / 4;
    most = most < UINT32_MAX ? most : UINT32_MAX;
    return roomy < most ? roomy : most > count ? most : count;
}

static clv_result reserve_list(
    clv_gpu* gpu, gpu_buffer* buffer, uint64_t* room, uint64_t count, uint64_t bytes )
{
    if ( buffer->memory != NULL && *room >= count )
    {
        return CLV_OK;
    }
    count = with_room( gpu, count, bytes );
    *room = 0;
    clv_result result = clv_gpu_reserve( gpu, buffer, count * bytes );
    *room = result == CLV_OK ? count : 0;
    return result;
}

// Room for all and searched again where the first search had none; by point always in two.
static clv_result complete( clv_gpu* gpu, const near_job* job )
{
    gpu_near_state* near = &gpu->near;
    gpu_buffers* b = &gpu->buffers;
    if ( job->def->by_point )
    {
        clv_result result =
            reserve_list( gpu, &b->near_indices, &near->index_room, near->count, sizeof( uint32_t ) );
        GPU_THEN( result, clv_gpu_scan( gpu, &b->near_offsets, job->count + 1, &b->near_sums ) );
        return result == CLV_OK ? find( gpu, job, NEAR_FILL ) : result;
    }
    if ( near->count <= near->pair_room )
    {
        return CLV_OK;
    }
    gpu_counters again = { 0 };
    clv_result result =
        reserve_list( gpu, &b->near_pairs, &near->pair_room, near->count, sizeof( clv_pair ) );
    GPU_THEN( result, clv_gpu_fill( gpu, b->near_slots.memory, 2 * SLOT_WORDS, 0 ) );
    GPU_THEN( result, find( gpu, job, NEAR_PAIRS ) );
    GPU_THEN( result, read_counters( gpu, &again ) );
    if ( result == CLV_OK && again.pair_count != near->count )
    {
        result = clv_gpu_fail( gpu, CLV_DEVICE_FAILED, "%s found %llu pairs of points, and then %llu",
            gpu->device->facts.name, (unsigned long long)near->count, (unsigned long long)again.pair_count );
    }
    return result;
}

static clv_result review( clv_gpu* gpu, const near_job* job )
{
    gpu_near_state* near = &gpu->near;
    gpu_counters found;
    clv_result result = read_counters( gpu, &found );
    if ( result != CLV_OK )
    {
        return result;
    }
    near->is_ready = true;
    near->count = found.pair_count;
    uint64_t squares = found.cell_squares;
    bool has_grown = near->cell_squares != UINT64_MAX && squares > 2 * near->cell_squares + job->count;
    near->cell_squares = near->cell_squares == UINT64_MAX ? squares : near->cell_squares;
    near->is_planned = !has_grown; // the next one plans anew
    if ( found.bad != 0 )
    {
        return clv_gpu_fail( gpu, CLV_BAD_ARGUMENT,
            "point %u is not finite, or more than 2^30 cells away from the first", UINT32_MAX - found.bad );
    }
    if ( found.large_count != 0 )
    {
        return clv_gpu_fail(
            gpu, CLV_DEVICE_FAILED, "%u points reach over more cells than there are", found.large_count );
    }
    return refuse_pairs( gpu, job, near->count );
}

static clv_result make_list( clv_gpu* gpu, const near_job* job )
{
    gpu_near_state* near = &gpu->near;
    clv_result result = still_serves( near, job ) ? CLV_OK : make_plan( gpu, job );
    GPU_THEN( result, reserve( gpu, job ) );
    if ( !job->def->by_point )
    {
        uint64_t most = clv_gpu_list_most( gpu ) / sizeof( clv_pair );
        uint64_t first = gpu->def.pair_capacity < most ? gpu->def.pair_capacity : most;
        GPU_THEN( result,
            reserve_list( gpu, &gpu->buffers.near_pairs, &near->pair_room, first, sizeof( clv_pair ) ) );
    }
    GPU_THEN( result, lay_out( gpu, job ) );
    GPU_THEN( result, find( gpu, job, job->def->by_point ? NEAR_COUNT : NEAR_PAIRS ) );
    GPU_THEN( result, review( gpu, job ) );
    GPU_THEN( result, complete( gpu, job ) );
    near->slot = 1 - near->slot;
    return result;
}

static clv_result list_points( clv_gpu* gpu, const near_job* job )
{
    gpu_near_state* near = &gpu->near;
    near->points = job->points;
    near->count = 0;
    clv_result result = CLV_OK;
    if ( job->count > 0 )
    {
        base_fp_mode mode = base_fp_enter();
        result = make_list( gpu, job );
        base_fp_leave( mode );
    }
    near->points = NULL;
    if ( result == CLV_DEVICE_FAILED || result == CLV_OUT_OF_MEMORY )
    {
        return clv_gpu_end_failed( gpu, result );
    }
    near->has_list = result == CLV_OK;
    near->by_point = job->def->by_point;
    near->point_count = job->count;
    gpu->stats.device_bytes = gpu->device_bytes;
    return result;
}

// ---- the calls

static clv_result refuse_stride( clv_gpu* gpu, const clv_near_def* def, size_t stride, uint32_t count )
{
    size_t least = ( def->flat ? 2 : 3 ) * sizeof( float );
    if ( count > CLV_MAX_OBJECTS )
    {
        return clv_gpu_fail( gpu, CLV_BAD_ARGUMENT, "%u points are more than CLV_MAX_OBJECTS", count );
    }
    return count > 1 && stride < least
        ? clv_gpu_fail( gpu, CLV_BAD_ARGUMENT, "a stride of %llu bytes is below the %llu of a point",
              (unsigned long long)stride, (unsigned long long)least )
        : CLV_OK;
}

clv_result clv_gpu_near_buffer( clv_gpu* gpu, const clv_near_def* def, void* buffer, size_t stride,
    uint32_t count, const clv_near_cell* cell )
{
    CLV_ASSERT( gpu != NULL && def != NULL && ( buffer != NULL || count == 0 ) );
    gpu->error[0] = '\0';
    gpu->near.has_list = false;
    near_job job = { .points = buffer, .stride = (uint32_t)( stride / sizeof( float ) ), .count = count };
    clv_result result = clv_gpu_open( gpu );
    GPU_THEN( result, begin_job( gpu, def, cell, &job ) );
    GPU_THEN( result, refuse_stride( gpu, def, stride, count ) );
    if ( result == CLV_OK && ( stride % sizeof( float ) != 0 || stride / sizeof( float ) > UINT32_MAX ) )
    {
        result = clv_gpu_fail(
            gpu, CLV_BAD_ARGUMENT, "a stride of %llu bytes is no multiple of 4", (unsigned long long)stride );
    }
    return result == CLV_OK ? list_points( gpu, &job ) : result;
}

// Packed on the way.
static clv_result upload( clv_gpu* gpu, const clv_near_def* def, const clv_near_points* points )
{
    size_t size = ( def->flat ? 2 : 3 ) * sizeof( float ), bytes = size * points->count;
    clv_result result = clv_gpu_host_reserve( gpu, &gpu->upload, bytes );
    GPU_THEN( result, clv_gpu_reserve( gpu, &gpu->buffers.near_points, bytes ) );
    if ( result != CLV_OK || bytes == 0 )
    {
        return result;
    }
    char* to = gpu->upload.data;
    const char* from = (const char*)points->positions;
    if ( points->stride == size )
    {
        memcpy( to, from, bytes );
    }
    for ( uint32_t i = 0; points->stride != size && i < points->count; ++i )
    {
        memcpy( to + i * size, from + i * points->stride, size );
    }
    return clv_gpu_write( gpu, gpu->buffers.near_points.memory, 0, to, bytes, true );
}

clv_result clv_gpu_near( clv_gpu* gpu, const clv_near_def* def, const clv_near_points* points )
{
    CLV_ASSERT( gpu != NULL && def != NULL && points != NULL );
    gpu->error[0] = '\0';
    gpu->near.has_list = false;
    near_job job = { .stride = def->flat ? 2 : 3, .count = points->count };
    clv_result result = clv_gpu_open( gpu );
    GPU_THEN( result, begin_job( gpu, def, points->cell, &job ) );
    GPU_THEN( result, refuse_stride( gpu, def, points->stride, points->count ) );
    if ( result == CLV_OK && ( points->radii != NULL || points->radii64 != NULL || points->groups != NULL ) )
    {
        return clv_gpu_fail(
            gpu, CLV_UNSUPPORTED, "lists of near points on a device do without radii and groups" );
    }
    if ( result == CLV_OK &&
        ( points->positions64 != NULL || ( points->positions == NULL && points->count > 0 ) ) )
    {
        return clv_gpu_fail(
            gpu, CLV_BAD_ARGUMENT, "points of a list in float are given by positions alone" );
    }
    if ( result != CLV_OK )
    {
        return result;
    }
    result = upload( gpu, def, points );
    if ( result != CLV_OK )
    {
        return clv_gpu_end_failed( gpu, result );
    }
    job.points = gpu->buffers.near_points.memory;
    return list_points( gpu, &job );
}

clv_gpu_near_view clv_gpu_near_list( const clv_gpu* gpu )
{
    const gpu_near_state* near = &gpu->near;
    const gpu_buffers* b = &gpu->buffers;
    clv_gpu_near_view view = { 0 };
    if ( near->has_list )
    {
        bool has_offsets = near->by_point && near->point_count > 0;
        view.count = near->count;
        view.pairs = !near->by_point && near->count > 0 ? b->near_pairs.memory : NULL;
        view.offsets = has_offsets ? b->near_offsets.memory : NULL;
        view.indices = has_offsets && near->count > 0 ? b->near_indices.memory : NULL;
        view.point_count = near->point_count;
        view.valid = true;
    }
    return view;
}

// Offsets of 32 bits at the end of their room become 64 bits wide, from the first on.
static void widen( uint64_t* to, uint64_t count )
{
    const char* from = (const char*)to + count * sizeof( uint32_t );
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint32_t value = 0;
        memcpy( &value, from + i * sizeof( value ), sizeof( value ) );
        to[i] = value;
    }
}

static clv_result read_list( clv_gpu* gpu, clv_near_view* view )
{
    gpu_near_state* near = &gpu->near;
    gpu_buffers* b = &gpu->buffers;
    uint64_t offsets = near->by_point ? (uint64_t)near->point_count + 1 : 0;
    uint64_t entry = near->by_point ? sizeof( uint32_t ) : sizeof( clv_pair );
    clv_result result =
        clv_gpu_host_reserve( gpu, &near->host, offsets * sizeof( uint64_t ) + near->count * entry );
    if ( result != CLV_OK )
    {
        return result;
    }
    char* at = near->host.data;
    char* entries = at + offsets * sizeof( uint64_t );
    view->count = near->count;
    view->point_count = near->point_count;
    view->valid = true;
    if ( near->by_point )
    {
        memset( at, 0, offsets * sizeof( uint64_t ) );
        if ( near->point_count > 0 )
        {
            result = clv_gpu_read( gpu, b->near_offsets.memory, 0, at + offsets * sizeof( uint32_t ),
                offsets * sizeof( uint32_t ) );
        }
        widen( (uint64_t*)(void*)at, offsets );
        view->offsets = (const uint64_t*)(const void*)at;
        view->indices = (const uint32_t*)(const void*)entries;
    }
    else
    {
        view->pairs = (const clv_pair*)(const void*)entries;
    }
    cl_mem list = near->by_point ? b->near_indices.memory : b->near_pairs.memory;
    return result == CLV_OK && near->count > 0 ? clv_gpu_read( gpu, list, 0, entries, near->count * entry )
                                               : result;
}

clv_result clv_gpu_near_read( clv_gpu* gpu, clv_near_view* view )
{
    CLV_ASSERT( gpu != NULL && view != NULL );
    gpu->error[0] = '\0';
    memset( view, 0, sizeof( *view ) );
    if ( !gpu->near.has_list )
    {
        return CLV_OK;
    }
    clv_result result = read_list( gpu, view );
    if ( result != CLV_OK )
    {
        memset( view, 0, sizeof( *view ) );
        return clv_gpu_end_failed( gpu, result );
    }
    return result;
}
