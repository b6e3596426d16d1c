// SPDX-License-Identifier: MIT
// Sweep and prune on the device: paper 003's broad phase for boxes; kernels/sap.cl tells how.
#include "base/assertion.h"
#include "gpu_state.h"
#include "solid/solid_polar.h"

#include <math.h>

enum
{
    PATIENCE = 8192,       // places that one item looks ahead
    PATIENT_GROUPS = 1024, // groups that share those that look further
    MOMENT_GROUPS = 128,
    PAIRS = 16384, // of the sample
};

// ---- the axis: paper 003 takes the principal axis of the centres, since boxes that are spread widely
// overlap little along it; counting overlaps in a sample asks the question itself, and sees sizes too

static bool overlap_on( const clv_aabb* a, const clv_aabb* b, uint32_t axis )
{
    return axis == 0 ? a->lower.x <= b->upper.x && b->lower.x <= a->upper.x
        : axis == 1  ? a->lower.y <= b->upper.y && b->lower.y <= a->upper.y
                     : a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

void clv_gpu_axes_by_sample( const clv_aabb* sample, uint32_t count, uint32_t axes[3] )
{
    uint32_t overlaps[3] = { 0, 0, 0 };
    uint32_t state = 1;
    for ( uint32_t k = 0; k < PAIRS && count > 1; ++k )
    {
        state = state * 1664525u + 1013904223u;
        uint32_t a = ( state >> 8 ) % count;
        state = state * 1664525u + 1013904223u;
        uint32_t b = ( state >> 8 ) % count;
        for ( uint32_t axis = 0; axis < 3 && a != b; ++axis )
        {
            overlaps[axis] += overlap_on( &sample[a], &sample[b], axis ) ? 1 : 0;
        }
    }
    axes[0] = 0;
    axes[1] = 1;
    axes[2] = 2;
    for ( int i = 0; i < 2; ++i ) // three numbers: two rounds of neighbours sort them
    {
        for ( int k = 0; k < 2; ++k )
        {
            if ( overlaps[axes[k + 1]] < overlaps[axes[k]] )
            {
                uint32_t kept = axes[k];
                axes[k] = axes[k + 1];
                axes[k + 1] = kept;
            }
        }
    }
}

// Eigenvalues and eigenvectors of the spread of centres, the largest first, from sums of 10 moments.
static math_eigen spread_of( const double sums[10] )
{
    double n = sums[9] > 0 ? sums[9] : 1;
    double mean[3] = { sums[0] / n, sums[1] / n, sums[2] / n };
    double xy = sums[6] / n - mean[0] * mean[1];
    double xz = sums[7] / n - mean[0] * mean[2];
    double yz = sums[8] / n - mean[1] * mean[2];
    math_mat3 spread = { { { sums[3] / n - mean[0] * mean[0], xy, xz },
        { xy, sums[4] / n - mean[1] * mean[1], yz }, { xz, yz, sums[5] / n - mean[2] * mean[2] } } };
    return math_eigen_symmetric( &spread );
}

bool clv_gpu_direction_by_moments( const double sums[10], double direction[3] )
{
    math_eigen eigen = spread_of( sums );
    for ( int i = 0; i < 3; ++i )
    {
        direction[i] = eigen.vectors.m[i][0];
    }
    return sums[9] >= 2 && eigen.converged && eigen.values[0] > 0;
}

uint32_t clv_gpu_axis_by_moments( const double sums[10], float direction[3] )
{
    double d[3];
    clv_gpu_direction_by_moments( sums, d );
    uint32_t axis = 0;
    for ( uint32_t i = 0; i < 3; ++i )
    {
        direction[i] = (float)d[i];
        axis = fabs( d[i] ) > fabs( d[axis] ) ? i : axis;
    }
    return axis;
}

static clv_result choose_by_sample( clv_gpu* gpu, const gpu_frame* frame )
{
    gpu_sample sample;
    clv_result result = clv_gpu_sample_open( gpu, frame, &sample );
    if ( result == CLV_OK )
    {
        clv_gpu_axes_by_sample( sample.boxes, sample.count, gpu->sap.axes );
        CLV_ASSERT( gpu->sap.axes[0] + gpu->sap.axes[1] + gpu->sap.axes[2] == 3 );
        clv_gpu_sample_close( gpu, &sample );
    }
    return result;
}

// Sums are taken about the mean of last time: far from the origin their squares would drown everything else.
static clv_result choose_by_moments( clv_gpu* gpu, const gpu_frame* frame )
{
    float partial[MOMENT_GROUPS * 10];
    double sums[10] = { 0 };
    gpu_sap_state* sap = &gpu->sap;
    gpu->stats.plan_count += 1;
    clv_result result = clv_gpu_reserve( gpu, &gpu->buffers.moments, sizeof( partial ) );
    GPU_THEN( result,
        GPU_LAUNCH( gpu, GPU_KERNEL_axis_moments, MOMENT_GROUPS * GPU_GROUP, frame->boxes, frame->count,
            sap->means[0], sap->means[1], sap->means[2], gpu->buffers.moments ) );
    GPU_THEN( result, clv_gpu_read( gpu, gpu->buffers.moments.memory, 0, partial, sizeof( partial ) ) );
    if ( result != CLV_OK )
    {
        return result;
    }
    for ( int i = 0; i < MOMENT_GROUPS * 10; ++i )
    {
        sums[i % 10] += (double)partial[i];
    }
    for ( int i = 0; i < 3 && sums[9] > 0; ++i )
    {
        sap->means[i] += (float)( sums[i] / sums[9] );
    }
    sap->axes[0] = clv_gpu_axis_by_moments( sums, sap->direction );
    CLV_ASSERT( sap->axes[0] < 3 );
    sap->axes[1] = ( sap->axes[0] + 1 ) % 3;
    sap->axes[2] = ( sap->axes[0] + 2 ) % 3;
    return CLV_OK;
}

static clv_result choose_axis( clv_gpu* gpu, const gpu_frame* frame )
{
    gpu_sap_state* sap = &gpu->sap;
    if ( sap->is_planned && gpu->stats.update_count < sap->asked_at + gpu->def.axis_frames )
    {
        return CLV_OK;
    }
    clv_result result =
        gpu->def.axis_by_pca ? choose_by_moments( gpu, frame ) : choose_by_sample( gpu, frame );
    sap->is_planned = result == CLV_OK;
    sap->sort_axis = gpu->def.axis_by_pca && gpu->def.axis_free ? AXIS_FREE : sap->axes[0];
    sap->asked_at = gpu->stats.update_count;
    gpu->stats.axis = sap->axes[0];
    return result;
}

// ---- one frame

static clv_result reserve( clv_gpu* gpu, uint32_t count )
{
    bool is_free = gpu->sap.sort_axis == AXIS_FREE;
    CLV_ASSERT( gpu->sap.is_planned && ( is_free || gpu->sap.sort_axis < 3 ) );
    gpu_buffers* b = &gpu->buffers;
    uint64_t n = count;
    clv_result result = clv_gpu_sort_reserve( gpu, count );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->begins, n * sizeof( float ) ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->ends, n * sizeof( float ) ) );
    result = result == CLV_OK ? clv_gpu_reserve( gpu, &b->firsts, is_free ? n * 2 * sizeof( float ) : 64 )
                              : result;
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->seconds, n * 2 * sizeof( float ) ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->thirds, n * 2 * sizeof( float ) ) );
    return result == CLV_OK ? clv_gpu_reserve( gpu, &b->patient, n * 2 * sizeof( uint32_t ) ) : result;
}

clv_result clv_gpu_sap_prepare( clv_gpu* gpu, gpu_frame* frame )
{
    gpu_buffers* b = &gpu->buffers;
    gpu_sap_state* sap = &gpu->sap;
    uint32_t next_slot = ( frame->slot + 1 ) % GPU_SLOTS;
    frame->unit_count = frame->count;
    gpu->stats.cell_count = 0;
    gpu->stats.level_count = 0;
    clv_result result = choose_axis( gpu, frame );
    GPU_THEN( result, reserve( gpu, frame->count ) );
    GPU_THEN( result,
        GPU_LAUNCH( gpu, GPU_KERNEL_sap_keys, frame->count, frame->boxes, frame->count, sap->sort_axis,
            sap->direction[0], sap->direction[1], sap->direction[2], b->keys, b->values, b->slots,
            next_slot ) );
    GPU_THEN( result, clv_gpu_sort( gpu, frame->count, 0, 32 ) );
    if ( result != CLV_OK )
    {
        return result;
    }
    CLV_ASSERT( gpu_holds( &b->begins, frame->count, sizeof( float ) ) &&
        gpu_holds( &b->ends, frame->count, sizeof( float ) ) );
    CLV_ASSERT( gpu_holds( &b->seconds, frame->count, 2 * sizeof( float ) ) &&
        gpu_holds( &b->thirds, frame->count, 2 * sizeof( float ) ) );
    return GPU_LAUNCH( gpu, GPU_KERNEL_sap_gather, frame->count, frame->boxes, frame->count, sap->sort_axis,
        sap->direction[0], sap->direction[1], sap->direction[2], sap->axes[0], sap->axes[1], sap->axes[2],
        b->values, b->begins, b->ends, b->firsts, b->seconds, b->thirds );
}

clv_result clv_gpu_sap_find( clv_gpu* gpu, const gpu_frame* frame, uint32_t first, uint32_t end )
{
    gpu_buffers* b = &gpu->buffers;
    uint32_t capacity = (uint32_t)gpu->pair_room;
    uint32_t flags = ( gpu->def.count_tests ? SAP_COUNTS_TESTS : 0 ) |
        ( gpu->sap.sort_axis == AXIS_FREE ? SAP_IS_FREE : 0 );
    uint32_t patience = PATIENCE;
    CLV_ASSERT( gpu_may_find( gpu, frame, first, end ) );
    CLV_ASSERT( gpu_holds( &b->values, frame->count, sizeof( uint32_t ) ) &&
        gpu_holds( &b->patient, frame->count, 2 * sizeof( uint32_t ) ) );
    clv_result result = GPU_LAUNCH( gpu, GPU_KERNEL_sap_find, end - first, frame->count, first, end,
        b->values, b->begins, b->ends, b->firsts, b->seconds, b->thirds, b->slots, frame->slot, b->pairs,
        capacity, patience, b->patient, flags );
    if ( result != CLV_OK || frame->count <= PATIENCE )
    {
        return result;
    }
    uint32_t groups = frame->count / 64 + 1; // of few boxes few can look far
    groups = groups < PATIENT_GROUPS ? groups : PATIENT_GROUPS;
    return GPU_LAUNCH( gpu, GPU_KERNEL_sap_find_patient, (uint64_t)groups * GPU_GROUP, b->values, b->firsts,
        b->seconds, b->thirds, b->slots, frame->slot, b->pairs, capacity, b->patient, flags );
}
