// SPDX-License-Identifier: MIT
// Ranks in place of coordinates: the last resort. Where the last search made far more tests than its boxes and pairs are worth, every face is
// replaced by its place among all faces of its axis, equal faces by equal places. That takes three sorts, as long as searching an ordinary
// world several times, but then boxes are spread evenly along every axis, whatever the world is like, and the set of pairs is the same.
#include "engine/engine_internal.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "base/radix_sort.h"

enum
{
    STAY = 64,        // updates by rank before the plain boxes are tried again
    STAY_MOST = 1024, // twice as long each time they turn out to be no better
    WORTH_BOX = 256,  // what a box is worth in tests of bytes,
    WORTH_PAIR = 64,  // a pair,
    COST_FLOAT = 32,  // and what a test in float costs
    WASTE = 8,        // times what it is worth: then ranks are quicker
    WASTE_OLD = 4,    // and here a grid or plan of an earlier update is to blame, as far as one knows
    SHARP_STAY = 64,  // updates
    SHARP_TIES = 2,   // in vain for every box
};

typedef struct rank_job
{
    const clv_method_input* input;
    engine_axes* axes;
    uint64_t buffer; ///< keys of one of the two buffers of each axis
} rank_job;

static float* face_of( clv_aabb* box, int axis, bool is_upper )
{
    return is_upper ? &box->upper.x + axis : &box->lower.x + axis;
}

// -0 and +0 are equal.
static uint32_t face_key( float face )
{
    return base_float_order( face == 0 ? 0 : face );
}

static void rank_axis( uint32_t axis, uint32_t worker, void* context )
{
    (void)worker;
    const rank_job* job = context;
    const clv_method_input* input = job->input;
    base_keyed* keys = job->axes->keys.items + 2 * job->buffer * axis;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        const clv_aabb* box = &input->boxes[clv_method_live_slot( input, i )];
        keys[2 * (size_t)i] = ( base_keyed ){ face_key( ( &box->lower.x )[axis] ), 2 * i };
        keys[2 * (size_t)i + 1] = ( base_keyed ){ face_key( ( &box->upper.x )[axis] ), 2 * i + 1 };
    }
    uint64_t count = 2 * (uint64_t)input->live_count;
    const base_keyed* sorted = clv_base_sort_keyed( keys, keys + job->buffer, count );
    uint64_t rank = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( i == 0 || sorted[i].key >= sorted[i - 1].key );
        rank += i > 0 && sorted[i].key != sorted[i - 1].key;
        uint32_t slot = clv_method_live_slot( input, sorted[i].value / 2 );
        *face_of( &job->axes->boxes.items[slot], (int)axis, sorted[i].value % 2 != 0 ) = (float)rank;
    }
}

bool clv_engine_ranks_make( clv_engine* engine, const clv_method_input* input )
{
    engine_axes* axes = &engine->axes;
    rank_job job = { input, axes, 2 * (uint64_t)input->live_count };
    bool ok = job.buffer <= UINT32_MAX && base_array_renew( &axes->keys, engine->memory, 6 * job.buffer );
    if ( ok )
    {
        clv_task_run( clv_engine_tasks_for( engine, input->live_count ), rank_axis, 3, &job );
    }
    return ok;
}

// Tests, each in float as so many in bytes, against what boxes and pairs are worth.
static double waste_of( const cell_counters* done, uint32_t count )
{
    double tests = (double)done->test_count + COST_FLOAT * (double)done->failed_count;
    double pairs = (double)( done->candidate_count - done->failed_count );
    return tests / ( WORTH_BOX * (double)count + WORTH_PAIR * pairs );
}

// Under a grid or plan that was made for an earlier world waste says nothing of this one: that is made anew first, once. A quarter of the
// boxes may have left it, and ranks, or a finer scale, would then be kept for 64 updates for the sake of one.
static bool is_old_waste( clv_engine* engine, double waste )
{
    engine_axes* axes = &engine->axes;
    bool is_wasteful = waste > WASTE_OLD;
    bool is_old = ( engine->plan.block_count > 0 ? engine->plan_age : engine->grid_age ) > 1;
    bool is_to_blame = is_wasteful && is_old && !axes->was_wasteful && !axes->is_ranked;
    axes->was_wasteful = is_wasteful;
    axes->is_new = axes->is_new || is_to_blame;
    return is_to_blame;
}

void clv_engine_axes_note( clv_engine* engine, const cell_counters* done )
{
    engine_axes* axes = &engine->axes;
    double waste = waste_of( done, axes->count_now );
    if ( is_old_waste( engine, waste ) )
    {
        return;
    }
    bool was_ranked = axes->is_ranked;
    // A finer scale in crowded cells costs little, so that is tried first.
    bool is_blurred = axes->sharp_left == 0 && done->failed_count > SHARP_TIES * (uint64_t)axes->count_now;
    axes->sharp_left = is_blurred ? SHARP_STAY : axes->sharp_left - ( axes->sharp_left > 0 );
    axes->rank_wait -= axes->rank_wait > 0;
    if ( !was_ranked && waste > WASTE && axes->rank_wait == 0 && !is_blurred )
    {
        axes->is_ranked = true;
        axes->waste_before = waste;
        uint32_t longer = 2 * axes->rank_stay < STAY_MOST ? 2 * axes->rank_stay : STAY_MOST;
        axes->rank_stay = longer > STAY ? longer : STAY;
        axes->rank_wait = axes->rank_stay;
    }
    else if ( was_ranked && ( axes->rank_wait == 0 || waste > axes->waste_before / 2 ) )
    {
        axes->is_ranked = false; // the time is up, or it is no better by rank
    }
    else if ( !was_ranked && waste <= WASTE )
    {
        axes->rank_stay = 0;
    }
    axes->is_new = axes->is_new || was_ranked != axes->is_ranked;
}
