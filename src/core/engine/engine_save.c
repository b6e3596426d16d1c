// SPDX-License-Identifier: MIT
// What an engine carries from update to update that its next choices depend on: scales, plan, grid. Records,
// scratch memory and room for them are made anew, and change no answer.
#include "engine/engine_internal.h"

#include "engine/engine_save.h"

#define ENGINE_VALUES( X )                                                                                   \
    X( axes.scales )                                                                                         \
    X( axes.age )                                                                                            \
    X( axes.count )                                                                                          \
    X( axes.sharp_left )                                                                                     \
    X( axes.is_new )                                                                                         \
    X( axes.count_now )                                                                                      \
    X( plan.grid )                                                                                           \
    X( plan.node_count )                                                                                     \
    X( plan.block_count )                                                                                    \
    X( plan_age )                                                                                            \
    X( plan_count )                                                                                          \
    X( plan_outside )                                                                                        \
    X( plan_largest )                                                                                        \
    X( largest_block )                                                                                       \
    X( in_blocks )                                                                                           \
    X( flat.region_low )                                                                                     \
    X( flat.region_high )                                                                                    \
    X( flat_extent )                                                                                         \
    X( chosen )                                                                                              \
    X( grid_age )                                                                                            \
    X( grid_count )                                                                                          \
    X( held_size )                                                                                           \
    X( held_outside )                                                                                        \
    X( next_slabs )                                                                                          \
    X( flat.count )                                                                                          \
    X( strip_axis )                                                                                          \
    X( strip_tests )

// The histogram and the samples are used only while a plan is made.
static void pass_plan( block_plan* plan, base_pass* pass )
{
    uint64_t cells = (uint64_t)plan->grid.dims[0] * plan->grid.dims[1] * plan->grid.dims[2];
    uint64_t blocks = plan->block_count;
    base_pass_table( pass, BASE_TAG( 'P', 'M', 'A', 'P' ), &plan->map, cells, cells, 1 );
    base_pass_table(
        pass, BASE_TAG( 'P', 'N', 'O', 'D' ), &plan->nodes, plan->node_count, plan->node_count, 1 );
    base_pass_table( pass, BASE_TAG( 'P', 'L', 'E', 'A' ), &plan->leaves, blocks, blocks, 1 );
    base_pass_table( pass, BASE_TAG( 'P', 'G', 'R', 'D' ), &plan->grids, blocks, blocks, 1 );
    if ( base_pass_reads( pass ) && base_pass_is_good( pass ) )
    {
        // Tallies are what the checker of debug builds counts in.
        pass->is_out_of_memory = !base_array_reserve( &plan->scalings, pass->memory, blocks ) ||
            !base_array_reserve( &plan->tallies, pass->memory, 2 * blocks );
        for ( uint64_t i = 0; i < blocks && !pass->is_out_of_memory; ++i )
        {
            plan->scalings.items[i] = scaling_of( &plan->grids.items[i] );
        }
    }
}

void clv_engine_pass( clv_engine* engine, base_pass* pass )
{
    clv_engine* s = engine;
    BASE_PASS_MEMBERS( pass, BASE_TAG( 'E', 'N', 'G', 'I' ), ENGINE_VALUES );
    if ( engine->plan.block_count > 0 )
    {
        pass_plan( &engine->plan, pass );
    }
}
