// SPDX-License-Identifier: MIT
// Sums over a stretch of the array, for Partition and Translate: by several workers where it is long. Always
// chunk by chunk and the chunks' sums in order, so that the outcome is the same to the last bit for any
// number of workers.
#include "kd/kd_tree.h"

#include "base/assertion.h"

enum
{
    BLOCK_CHUNK = 1024, // objects
    BLOCK_ALONE = 4     // chunks that are one's own work
};

typedef void block_look( const kd_tree* tree, const kd_block* block, kd_block_sums* sums );

// One look at a stretch, for every chunk of it.
typedef struct block_job
{
    kd_tree* tree;
    const kd_block* block;
    block_look* look;
} block_job;

// Measured from an origin, so that a small crowd far from zero keeps its digits.
static void look_at_moments( const kd_tree* tree, const kd_block* block, kd_block_sums* sums )
{
    double sum[3] = { 0 }, square[3] = { 0 }, length[3] = { 0 };
    const double origin[3] = { block->origin[0], block->origin[1], block->origin[2] };
    for ( uint32_t i = block->begin; i < block->end; ++i )
    {
        const clv_aabb* box = &tree->boxes[tree->order.items[i]];
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            double lower = (double)kd_lower( box, axis );
            double upper = (double)kd_upper( box, axis );
            double twice = lower + upper - origin[axis];
            sum[axis] += twice;
            square[axis] += twice * twice;
            length[axis] += upper - lower;
        }
    }
    *sums = ( kd_block_sums ){
        .sum = { sum[0], sum[1], sum[2] },
        .square = { square[0], square[1], square[2] },
        .length = { length[0], length[1], length[2] },
    };
}

static void look_at_centres( const kd_tree* tree, const kd_block* block, kd_block_sums* sums )
{
    double sum = 0;
    for ( uint32_t i = block->begin; i < block->end; ++i )
    {
        const clv_aabb* box = &tree->boxes[tree->order.items[i]];
        sum += (double)kd_lower( box, block->axis ) + (double)kd_upper( box, block->axis );
    }
    *sums = ( kd_block_sums ){ 0 };
    sums->sum[block->axis] = sum;
}

static void look_at_sides( const kd_tree* tree, const kd_block* block, kd_block_sums* sums )
{
    uint32_t left = 0, right = 0;
    uint32_t axis = block->axis;
    float plane = block->plane;
    for ( uint32_t i = block->begin; i < block->end; ++i )
    {
        int side = kd_side( &tree->boxes[tree->order.items[i]], axis, plane );
        left += side < 0;
        right += side > 0;
    }
    *sums = ( kd_block_sums ){ .left = left, .right = right };
}

static void look_at_chunk( const block_job* job, uint32_t chunk, kd_block_sums* sums )
{
    kd_block part = *job->block;
    part.begin += chunk * BLOCK_CHUNK;
    part.end = part.end - part.begin > BLOCK_CHUNK ? part.begin + BLOCK_CHUNK : part.end;
    CLV_ASSERT( part.begin < part.end && part.end <= job->block->end );
    job->look( job->tree, &part, sums );
}

static void look_as_piece( uint32_t chunk, uint32_t worker, void* context )
{
    (void)worker;
    const block_job* job = context;
    look_at_chunk( job, chunk, &job->tree->block_sums.items[chunk] );
}

static void add_sums( kd_block_sums* all, const kd_block_sums* more )
{
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        all->sum[axis] += more->sum[axis];
        all->square[axis] += more->square[axis];
        all->length[axis] += more->length[axis];
    }
    all->left += more->left;
    all->right += more->right;
}

static kd_block_sums look_at_block( block_job job )
{
    kd_tree* tree = job.tree;
    CLV_ASSERT( job.block->begin <= job.block->end && job.block->end <= tree->count );
    uint32_t chunks = ( job.block->end - job.block->begin + BLOCK_CHUNK - 1 ) / BLOCK_CHUNK;
    bool are_several = chunks > BLOCK_ALONE && tree->tasks != NULL && task_worker_count( tree->tasks ) > 1 &&
        base_array_renew( &tree->block_sums, tree->memory, chunks );
    if ( are_several )
    {
        clv_task_run( tree->tasks, look_as_piece, chunks, &job );
    }
    kd_block_sums all = { 0 };
    for ( uint32_t chunk = 0; chunk < chunks; ++chunk )
    {
        kd_block_sums sums;
        if ( !are_several )
        {
            look_at_chunk( &job, chunk, &sums );
        }
        add_sums( &all, are_several ? &tree->block_sums.items[chunk] : &sums );
    }
    CLV_ASSERT( all.left + all.right <= job.block->end - job.block->begin );
    return all;
}

kd_block_sums clv_kd_block_moments( kd_tree* tree, const kd_block* block )
{
    return look_at_block( ( block_job ){ tree, block, look_at_moments } );
}

kd_block_sums clv_kd_block_centres( kd_tree* tree, const kd_block* block )
{
    return look_at_block( ( block_job ){ tree, block, look_at_centres } );
}

kd_block_sums clv_kd_block_sides( kd_tree* tree, const kd_block* block )
{
    return look_at_block( ( block_job ){ tree, block, look_at_sides } );
}
