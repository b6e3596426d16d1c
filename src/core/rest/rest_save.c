// SPDX-License-Identifier: MIT
// A world at rest as parts: all of it, since the order of its list is a matter of everything that happened to
// it.
#include "rest/rest_save.h"

#include "base/bit_set.h"

#define REST_VALUES( X )                                                                                     \
    X( slot_count )                                                                                          \
    X( now )                                                                                                 \
    X( is_on )                                                                                               \
    X( reference_age )                                                                                       \
    X( tightened )                                                                                           \
    X( counters )                                                                                            \
    X( grid_is_made )                                                                                        \
    X( grid.level_count )                                                                                    \
    X( grid.free_blocks )                                                                                    \
    X( pairs.sure_count )                                                                                    \
    X( pairs.most )                                                                                          \
    X( pairs.change_count )                                                                                  \
    X( pairs.is_chained )                                                                                    \
    X( pairs.marginal.is_linked )                                                                            \
    X( pairs.marginal.count )

#define REST_MODE_VALUES( X )                                                                                \
    X( wait )                                                                                                \
    X( waited )                                                                                              \
    X( next_wait )                                                                                           \
    X( saved )                                                                                               \
    X( stay )                                                                                                \
    X( pair_count )                                                                                          \
    X( cost )                                                                                                \
    X( hold )                                                                                                \
    X( remembered )                                                                                          \
    X( age )                                                                                                 \
    X( shift_age )                                                                                           \
    X( is_first )                                                                                            \
    X( sample_count )                                                                                        \
    X( slots )                                                                                               \
    X( boxes )                                                                                               \
    X( margins )                                                                                             \
    X( shifts )

void clv_rest_mode_pass( rest_mode* mode, base_pass* pass )
{
    rest_mode* s = mode;
    BASE_PASS_MEMBERS( pass, BASE_TAG( 'M', 'O', 'D', 'E' ), REST_MODE_VALUES );
}

static void pass_marginal( rest_marginal* set, uint32_t slot_count, base_pass* pass )
{
    uint64_t count = set->count, words = base_bits_words( count ), heads = 2 * (uint64_t)slot_count;
    base_pass_table( pass, BASE_TAG( 'M', 'P', 'L', 'A' ), &set->places, count, count, 1 );
    base_pass_table( pass, BASE_TAG( 'M', 'T', 'O', 'U' ), &set->touching, words, words + 1, 1 );
    base_pass_table( pass, BASE_TAG( 'M', 'P', 'A', 'I' ), &set->pairs, count, count, 1 );
    if ( set->is_linked )
    {
        base_pass_table( pass, BASE_TAG( 'M', 'L', 'I', 'N' ), &set->links, 4 * count, 4 * count, 1 );
        base_pass_table( pass, BASE_TAG( 'M', 'H', 'E', 'A' ), &set->heads, heads, heads, 1 );
    }
    if ( base_pass_reads( pass ) && base_pass_is_good( pass ) )
    {
        pass->is_out_of_memory = !base_array_extend( &set->tested, set->memory, words + 1 );
    }
}

static void pass_rest_pairs( rest_pairs* pairs, uint32_t slot_count, base_pass* pass )
{
    base_pass_array( pass, BASE_TAG( 'R', 'L', 'I', 'S' ), &pairs->list, 1 );
    pass_marginal( &pairs->marginal, slot_count, pass );
    if ( pairs->is_chained )
    {
        base_pass_table( pass, BASE_TAG( 'C', 'H', 'E', 'A' ), &pairs->heads, slot_count, slot_count, 1 );
        base_pass_table( pass, BASE_TAG( 'C', 'N', 'E', 'X' ), &pairs->nexts, pairs->sure_count,
            pairs->sure_count + 1, 1 );
    }
    if ( base_pass_reads( pass ) && base_pass_is_good( pass ) )
    {
        pass->is_out_of_memory = !clv_rest_pairs_restore( pairs, slot_count );
    }
}

static void pass_grid( rest_grid* grid, uint32_t slot_count, base_pass* pass )
{
    clv_base_pass_numbers(
        pass, BASE_TAG( 'G', 'L', 'E', 'V' ), grid->levels, grid->level_count * sizeof( rest_level ), 1 );
    base_pass_array( pass, BASE_TAG( 'G', 'C', 'E', 'L' ), &grid->cells, 1 );
    base_pass_array( pass, BASE_TAG( 'G', 'E', 'N', 'T' ), &grid->entries, 1 );
    base_pass_table( pass, BASE_TAG( 'G', 'P', 'L', 'A' ), &grid->places, slot_count, slot_count, 1 );
}

void clv_rest_world_pass( rest_world* world, base_pass* pass )
{
    rest_world* s = world;
    BASE_PASS_MEMBERS( pass, BASE_TAG( 'R', 'E', 'S', 'T' ), REST_VALUES );
    uint32_t slots = world->slot_count;
    if ( !world->is_on && world->reference_age == 0 )
    {
        return;
    }
    if ( base_pass_reads( pass ) && base_pass_is_good( pass ) )
    {
        pass->is_out_of_memory = !clv_rest_world_reserve( world, slots );
    }
    base_pass_table( pass, BASE_TAG( 'R', 'B', 'O', 'X' ), &world->boxes, slots, slots, 1 );
    if ( base_pass_is_good( pass ) )
    {
        clv_base_pass_numbers( pass, BASE_TAG( 'R', 'K', 'N', 'O' ), world->known,
            base_bits_words( slots ) * sizeof( uint64_t ), 1 );
    }
    if ( !world->is_on )
    {
        return;
    }
    base_pass_table( pass, BASE_TAG( 'R', 'T', 'I', 'M' ), &world->times, slots, slots, 1 );
    pass_rest_pairs( &world->pairs, slots, pass );
    if ( world->grid_is_made && base_pass_is_good( pass ) )
    {
        pass_grid( &world->grid, slots, pass );
    }
}
