// SPDX-License-Identifier: MIT
// Partition (figure 6b): a leaf above the limit gets a plane at the mean of its objects' centres. The papers
// take the axis of largest variance and stop there; we weigh variance against extent, since bars lie across
// every plane along them, and keep a plane only if Evaluate accepts it: otherwise it would be erased and made
// again every frame. The rows that follow the papers do as they say.
#include "base/assertion.h"
#include "base/bits.h"
#include "kd/kd_tree.h"

#include <string.h>

// ---- Sums over a stretch of the array, for Partition and Translate: by several workers where it is long.
// Always chunk by chunk and the chunks' sums in order, so that the outcome is the same to the last bit for
// any number of workers.

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

kd_block_sums clv_kd_block_centres( kd_tree* tree, const kd_block* block )
{
    return look_at_block( ( block_job ){ tree, block, look_at_centres } );
}

// ---- Filter (figure 6a): objects wholly on one side of the plane go down to the child there. The child's
// own block lies beyond the subtree of its inner child, which moves aside with a delayed offset, as in the
// refit.

enum
{
    FILTER_CHUNK = 1024,    // objects of a piece, at least
    FILTER_CHUNKS = 256,    // at most
    FILTER_ALONE = 1 << 12, // objects up to which one thread does it
    FILTER_AHEAD = 24       // boxes asked for before they are needed
};

typedef struct filter_pass
{
    uint32_t write; // next place for an object that stays
    uint32_t left;  // in spare, from the front
    uint32_t right; // in spare, from the back
} filter_pass;

// One Filter by several workers, for every chunk of it.
typedef struct filter_split
{
    const kd_tree* tree;
    uint32_t begin, end; // of the node's block
    uint32_t chunk;      // objects
    uint32_t axis;
    float plane;
    filter_pass* passes; // by chunk: how many
    filter_pass* places; // and where
} filter_split;

static void pass_part( kd_tree* tree, const kd_node* node, uint32_t from, uint32_t to, filter_pass* pass )
{
    uint32_t* order = tree->order.items;
    uint32_t* left = tree->spare.items;
    uint32_t* right = tree->spare.items + tree->spare.capacity - 1;
    filter_pass p = *pass;
    for ( uint32_t i = from; i < to; ++i )
    {
        uint32_t slot = order[i];
        int side = kd_side( &tree->boxes[slot], node->axis, node->plane );
        // Written to all three places, kept in one.
        left[p.left] = slot;
        right[-(ptrdiff_t)p.right] = slot;
        order[p.write] = slot;
        p.left += side < 0;
        p.right += side > 0;
        p.write += side == 0;
    }
    CLV_ASSERT( p.write <= to && p.left + p.right <= tree->spare.capacity );
    *pass = p;
}

// A chunk of a long block, each kind where the chunk stands: left-goers in spare, right-goers in the goals
// from the front and those that stay from the back. The array is as it was.
static void split_piece( uint32_t chunk, uint32_t worker, void* context )
{
    (void)worker;
    const filter_split* job = context;
    const kd_tree* tree = job->tree;
    uint32_t from = job->begin + chunk * job->chunk;
    uint32_t to = job->end - from > job->chunk ? from + job->chunk : job->end;
    CLV_ASSERT( from < to && to <= job->end );
    const uint32_t* order = tree->order.items;
    uint32_t* left = tree->spare.items + from;
    uint32_t* right = tree->sides.items + from;
    uint32_t* stay = tree->sides.items + to - 1;
    filter_pass p = { 0 };
    for ( uint32_t i = from; i < to; ++i )
    {
        uint32_t slot = order[i];
        base_prefetch( &tree->boxes[order[i + FILTER_AHEAD < to ? i + FILTER_AHEAD : i]] );
        int side = kd_side( &tree->boxes[slot], job->axis, job->plane );
        left[p.left] = slot;
        right[p.right] = slot;
        stay[-(ptrdiff_t)p.write] = slot;
        p.left += side < 0;
        p.right += side > 0;
        p.write += side == 0;
    }
    CLV_ASSERT( p.left + p.right + p.write == to - from );
    job->passes[chunk] = p;
}

// The three kinds of a chunk to their places in the array.
static void place_piece( uint32_t chunk, uint32_t worker, void* context )
{
    (void)worker;
    const filter_split* job = context;
    const kd_tree* tree = job->tree;
    uint32_t from = job->begin + chunk * job->chunk;
    uint32_t to = job->end - from > job->chunk ? from + job->chunk : job->end;
    const filter_pass* p = &job->passes[chunk];
    const filter_pass* place = &job->places[chunk];
    CLV_ASSERT( place->left + p->left <= tree->count && place->right + p->right <= tree->count );
    CLV_ASSERT( place->write + p->write <= tree->count );
    uint32_t* order = tree->order.items;
    memcpy( order + place->left, tree->spare.items + from, p->left * sizeof( uint32_t ) );
    memcpy( order + place->right, tree->sides.items + from, p->right * sizeof( uint32_t ) );
    const uint32_t* stay = tree->sides.items + to - 1;
    for ( uint32_t i = 0; i < p->write; ++i )
    {
        order[place->write + i] = stay[-(ptrdiff_t)i];
    }
}

// Room for left-goers at the end of the left child's block: what lies between moves up. Returns where.
static uint32_t make_room_left( kd_tree* tree, const kd_node* node, uint32_t count )
{
    kd_node* left = &tree->nodes.items[node->left];
    CLV_ASSERT( left->offset == 0 && left->end <= node->begin );
    uint32_t place = left->end;
    uint32_t inner_count = node->begin - left->end;
    if ( count == 0 )
    {
        return place;
    }
    clv_kd_move_slots( tree, left->end + count, left->end, inner_count );
    tree->counters.shift_count += inner_count;
    left->end += count;
    left->population += count;
    left->touched = true;
    if ( !kd_node_is_leaf( left ) )
    {
        tree->nodes.items[left->right].offset += (int32_t)count;
    }
    return place;
}

// The same for right-goers, before the start of the right child's block.
static uint32_t make_room_right( kd_tree* tree, const kd_node* node, uint32_t count )
{
    kd_node* right = &tree->nodes.items[node->right];
    CLV_ASSERT( right->offset == 0 && node->end <= right->begin );
    uint32_t inner_count = right->begin - node->end;
    if ( count == 0 )
    {
        return right->begin;
    }
    clv_kd_move_slots( tree, node->end - count, node->end, inner_count );
    tree->counters.shift_count += inner_count;
    right->begin -= count;
    right->population += count;
    right->touched = true;
    if ( !kd_node_is_leaf( right ) )
    {
        tree->nodes.items[right->left].offset -= (int32_t)count;
    }
    return right->begin;
}

// What is left of the node's block.
static void take_block( kd_tree* tree, kd_node* node, uint32_t left_count, uint32_t stay_count )
{
    CLV_ASSERT( left_count + stay_count <= node->end - node->begin );
    node->touched = true;
    tree->counters.filter_count += node->end - node->begin - stay_count;
    node->begin += left_count;
    node->end = node->begin + stay_count;
    node->rest_begin += left_count;
    node->rest_end += left_count;
    kd_node_tidy_rest( node );
}

// Where each chunk's go. Returns the sums.
static filter_pass sum_passes( const filter_pass* passes, filter_pass* places, uint32_t chunks )
{
    filter_pass sum = { 0 };
    for ( uint32_t chunk = 0; chunk < chunks; ++chunk )
    {
        places[chunk] = sum;
        sum.left += passes[chunk].left;
        sum.right += passes[chunk].right;
        sum.write += passes[chunk].write;
    }
    return sum;
}

// A long block without objects at rest, by several workers: the chunks' objects are told apart, then put
// where they go, in order. False, and nothing done, if there are no others or there is no memory for it.
static bool filter_together( kd_tree* tree, kd_node* node )
{
    filter_pass passes[FILTER_CHUNKS], places[FILTER_CHUNKS];
    uint32_t count = node->end - node->begin;
    uint32_t chunk_size = count / FILTER_CHUNKS >= FILTER_CHUNK ? count / FILTER_CHUNKS + 1 : FILTER_CHUNK;
    uint32_t chunks = ( count + chunk_size - 1 ) / chunk_size;
    if ( tree->tasks == NULL || task_worker_count( tree->tasks ) < 2 ||
        !base_array_renew( &tree->sides, tree->memory, tree->spare.capacity ) )
    {
        return false;
    }
    CLV_ASSERT( chunks <= FILTER_CHUNKS );
    filter_split job = { tree, node->begin, node->end, chunk_size, node->axis, node->plane, passes, places };
    clv_task_run( tree->tasks, split_piece, chunks, &job );
    filter_pass sum = sum_passes( passes, places, chunks );
    CLV_ASSERT( sum.left + sum.right + sum.write == count ); // each object goes one way
    if ( sum.left + sum.right == 0 )
    {
        kd_node_tidy_rest( node );
        return true;
    }
    uint32_t left_place = make_room_left( tree, node, sum.left );
    uint32_t right_place = make_room_right( tree, node, sum.right );
    for ( uint32_t chunk = 0; chunk < chunks; ++chunk )
    {
        places[chunk].left += left_place;
        places[chunk].right += right_place;
        places[chunk].write += node->begin + sum.left;
    }
    clv_task_run( tree->tasks, place_piece, chunks, &job );
    node->rest_begin = node->rest_end = node->begin + sum.write;
    take_block( tree, node, sum.left, sum.write );
    return true;
}

// Left-goers and right-goers from spare into the children's blocks, in the order they were met.
static void hand_down( kd_tree* tree, const kd_node* node, const filter_pass* pass )
{
    uint32_t left_place = make_room_left( tree, node, pass->left );
    memcpy( tree->order.items + left_place, tree->spare.items, (size_t)pass->left * sizeof( uint32_t ) );
    uint32_t right_place = make_room_right( tree, node, pass->right );
    const uint32_t* from = tree->spare.items + tree->spare.capacity - 1;
    for ( uint32_t i = 0; i < pass->right; ++i )
    {
        tree->order.items[right_place + i] = from[-(ptrdiff_t)i];
    }
}

// A child whose delayed work is done, with the region that the plane gives it now.
static void prepare_child( kd_tree* tree, uint32_t index )
{
    clv_kd_node_settle( tree, index );
    clv_kd_node_inherit( tree, index );
}

void clv_kd_filter( kd_tree* tree, uint32_t index )
{
    kd_node* node = &tree->nodes.items[index];
    CLV_ASSERT( !kd_node_is_leaf( node ) && node->offset == 0 && !node->lifted );
    prepare_child( tree, node->left );
    prepare_child( tree, node->right );

    if ( node->rest_end == node->rest_begin && node->end - node->begin > FILTER_ALONE &&
        filter_together( tree, node ) )
    {
        return;
    }
    // Objects at rest have a box and a plane as before, so they are where they belong.
    CLV_ASSERT( node->rest_begin == node->rest_end ||
        ( node->begin <= node->rest_begin && node->rest_end <= node->end ) );
    filter_pass pass = { .write = node->begin };
    uint32_t rest_begin = node->rest_begin;
    uint32_t rest_count = node->rest_end - node->rest_begin;
    pass_part( tree, node, node->begin, rest_count > 0 ? rest_begin : node->end, &pass );
    node->rest_begin = pass.write;
    if ( rest_count > 0 )
    {
        clv_kd_move_slots( tree, pass.write, rest_begin, rest_count );
        pass.write += rest_count;
        pass_part( tree, node, rest_begin + rest_count, node->end, &pass );
    }
    node->rest_end = node->rest_begin + rest_count;
    if ( pass.left + pass.right == 0 )
    {
        kd_node_tidy_rest( node );
        return;
    }
    CLV_ASSERT( pass.write + pass.left + pass.right == node->end );
    uint32_t stay_count = pass.write - node->begin;
    clv_kd_move_slots( tree, node->begin + pass.left, node->begin, stay_count );
    hand_down( tree, node, &pass );
    take_block( tree, node, pass.left, stay_count );
}

// ---- kd partition

typedef struct leaf_moments
{
    double mean[3];
    double variance[3];
    double extent[3]; // mean
} leaf_moments;

// Measured from the first box, so that a small crowd far from the origin keeps its digits.
static leaf_moments measure( kd_tree* tree, uint32_t begin, uint32_t end )
{
    CLV_ASSERT( begin < end );
    kd_block block = { .begin = begin, .end = end };
    const clv_aabb* first = &tree->boxes[tree->order.items[begin]];
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        block.origin[axis] = (double)kd_lower( first, axis ) + (double)kd_upper( first, axis );
    }
    kd_block_sums sums = look_at_block( ( block_job ){ tree, &block, look_at_moments } );
    leaf_moments moments;
    double count = end - begin;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        double mean = sums.sum[axis] / count;
        moments.mean[axis] = ( mean + block.origin[axis] ) / 2;
        moments.variance[axis] = ( sums.square[axis] / count - mean * mean ) / 4;
        moments.extent[axis] = sums.length[axis] / count;
    }
    return moments;
}

// Boxes small against their spread: the variance decides, as in the papers. Otherwise the share of straddlers
// does, which grows with extent over spread.
static void rank_axes( const leaf_moments* moments, uint32_t ranked[3] )
{
    double widest = 0;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        widest = moments->variance[axis] > widest ? moments->variance[axis] : widest;
    }
    double score[3];
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        double extent = moments->extent[axis];
        double divisor = extent * extent + widest / 256;
        score[axis] = divisor > 0 ? moments->variance[axis] / divisor : 0;
        uint32_t place = axis;
        for ( ; place > 0 && score[ranked[place - 1]] < score[axis]; --place )
        {
            ranked[place] = ranked[place - 1];
        }
        ranked[place] = axis;
    }
}

static kd_block_sums count_sides( kd_tree* tree, const kd_node* leaf, uint32_t axis, float plane )
{
    kd_block block = { .begin = leaf->begin, .end = leaf->end, .axis = axis, .plane = plane };
    return look_at_block( ( block_job ){ tree, &block, look_at_sides } );
}

// Would Evaluate accept this plane?
static bool try_plane( kd_tree* tree, const kd_node* leaf, uint32_t axis, float plane )
{
    kd_block_sums sides = count_sides( tree, leaf, axis, plane );
    uint32_t own_count = leaf->end - leaf->begin - sides.left - sides.right;
    CLV_ASSERT( own_count <= leaf->end - leaf->begin );
    return clv_kd_evaluate( tree->balance, own_count, sides.left, sides.right );
}

// A stable sample's median: where a few far objects pull the mean out of the crowd, this still finds it.
static float sample_median( const kd_tree* tree, const kd_node* leaf, uint32_t axis )
{
    enum
    {
        SAMPLES = 63
    };
    double samples[SAMPLES] = { 0 };
    uint32_t count = 0;
    uint32_t all = leaf->end - leaf->begin;
    uint32_t stride = all / SAMPLES + 1;
    for ( uint32_t i = leaf->begin; i < leaf->end; i += stride )
    {
        const clv_aabb* box = &tree->boxes[tree->order.items[base_sample_step( i, stride, leaf->end )]];
        double centre = ( (double)kd_lower( box, axis ) + (double)kd_upper( box, axis ) ) / 2;
        CLV_ASSERT( count < SAMPLES );
        uint32_t place = count++;
        for ( ; place > 0 && samples[place - 1] > centre; --place )
        {
            samples[place] = samples[place - 1];
        }
        samples[place] = centre;
    }
    CLV_ASSERT( count > 0 && samples[0] <= samples[count - 1] );
    return (float)samples[count / 2];
}

// Serpa and Rodrigues 2015 and 2019: the mean on the axis of greatest variance, whatever it cuts. The one
// plane that is no use is that with every object on the same side: boxes of no size on one spot would go down
// for ever.
static bool take_published_plane( kd_tree* tree, const kd_node* leaf, uint32_t* axis, float* plane )
{
    leaf_moments moments = measure( tree, leaf->begin, leaf->end );
    *axis = 0;
    for ( uint32_t other = 1; other < 3; ++other )
    {
        *axis = moments.variance[other] > moments.variance[*axis] ? other : *axis;
    }
    *plane = (float)moments.mean[*axis];
    kd_block_sums sides = count_sides( tree, leaf, *axis, *plane );
    uint32_t all = leaf->end - leaf->begin;
    return sides.left < all && sides.right < all;
}

static bool choose_plane( kd_tree* tree, const kd_node* leaf, uint32_t* axis, float* plane )
{
    leaf_moments moments = measure( tree, leaf->begin, leaf->end );
    uint32_t ranked[3] = { 0, 0, 0 };
    rank_axes( &moments, ranked );
    for ( uint32_t i = 0; i < 6; ++i ) // at the mean of each, then at the median
    {
        *axis = ranked[i % 3];
        *plane = i < 3 ? (float)moments.mean[*axis] : sample_median( tree, leaf, *axis );
        if ( try_plane( tree, leaf, *axis, *plane ) )
        {
            return true;
        }
    }
    return false;
}

static uint32_t make_child( kd_tree* tree, uint32_t parent, uint32_t place )
{
    uint32_t index = clv_kd_node_take( tree );
    if ( index != KD_NONE )
    {
        kd_node* child = &tree->nodes.items[index];
        CLV_ASSERT( place <= tree->count );
        child->parent = parent;
        child->begin = child->end = place;
        child->rest_begin = child->rest_end = place;
        child->touched = true;
    }
    return index;
}

bool clv_kd_partition( kd_tree* tree, uint32_t index )
{
    kd_node* leaf = &tree->nodes.items[index];
    CLV_ASSERT( kd_node_is_leaf( leaf ) && leaf->offset == 0 && !leaf->lifted );
    uint32_t axis;
    float plane;
    bool is_cut = tree->flow == KD_FLOW_OURS ? choose_plane( tree, leaf, &axis, &plane )
                                             : take_published_plane( tree, leaf, &axis, &plane );
    if ( !is_cut )
    {
        tree->counters.refusal_count += 1;
        leaf->refused = true;
        return true;
    }
    uint32_t left = make_child( tree, index, leaf->begin );
    uint32_t right = left != KD_NONE ? make_child( tree, index, tree->nodes.items[index].end ) : KD_NONE;
    if ( right == KD_NONE )
    {
        if ( left != KD_NONE )
        {
            tree->nodes.items[left].parent = KD_NONE;
            clv_kd_subtree_free( tree, left );
        }
        return false;
    }
    leaf = &tree->nodes.items[index]; // the pool may have moved
    CLV_ASSERT( left != right && left != index && right != index );
    leaf->left = left;
    leaf->right = right;
    leaf->axis = axis;
    leaf->plane = plane;
    leaf->refused = false;
    leaf->rest_begin = leaf->rest_end = leaf->begin;
    tree->counters.partition_count += 1;
    clv_kd_filter( tree, index );
    return true;
}
