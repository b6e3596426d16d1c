// SPDX-License-Identifier: MIT
// The pairs of one node: its own objects against each other and against its externals.
#include "base/assertion.h"
#include "kd/kd_search.h"

#include <float.h>
#include <math.h>
#include <string.h>

// ---- kd batch

void clv_kd_batches_add( kd_batches* batches, uint32_t length )
{
    if ( length == 0 )
    {
        return;
    }
    uint32_t bin = 0;
    while ( bin + 1 < KD_BATCH_BINS && length > 1u << bin )
    {
        bin += 1;
    }
    batches->count += 1;
    batches->test_count += length;
    batches->bins[bin] += 1;
}

// Of one call of the kernel (the first from row `first` on) `sweep_small`, `cross_small`, `sweep`,
// `sweep_cross`, `test_block` each.
static void count_small( kd_batches* batches, const simd_small_boxes* boxes, uint32_t first )
{
    for ( uint32_t row = first; row < boxes->count; ++row )
    {
        clv_kd_batches_add( batches, boxes->ends[row] - ( row + 1 ) );
    }
}

static void count_rows( kd_batches* batches, const simd_small_row* rows, uint32_t row_count )
{
    for ( uint32_t row = 0; row < row_count; ++row )
    {
        clv_kd_batches_add( batches, rows[row].end - rows[row].begin );
    }
}

// How many columns from `begin` on a row is tested with: movers alone, if it is at rest.
static uint32_t in_reach( const simd_list* rows, uint32_t row, const simd_list* columns, uint32_t begin )
{
    bool all_count = rows->movers == NULL || base_bits_has( rows->movers, row );
    float upper = rows->boxes->upper[0][row];
    uint32_t tests = 0;
    for ( uint32_t at = begin; at < columns->boxes->count && columns->boxes->lower[0][at] <= upper; ++at )
    {
        tests += all_count || base_bits_has( columns->movers, at );
    }
    return tests;
}

static void count_sorted( kd_batches* batches, const simd_list* list )
{
    for ( uint32_t row = 0; row < list->boxes->count; ++row )
    {
        clv_kd_batches_add( batches, in_reach( list, row, list, row + 1 ) );
    }
}

static void count_crossed( kd_batches* batches, const simd_list* first, const simd_list* second )
{
    for ( uint32_t a = 0, b = 0; a < first->boxes->count && b < second->boxes->count; )
    {
        if ( first->boxes->lower[0][a] <= second->boxes->lower[0][b] )
        {
            clv_kd_batches_add( batches, in_reach( first, a++, second, b ) );
        }
        else
        {
            clv_kd_batches_add( batches, in_reach( second, b++, first, a ) );
        }
    }
}

static void count_block(
    kd_batches* batches, uint32_t row_begin, uint32_t row_end, uint32_t column_begin, uint32_t column_end )
{
    for ( uint32_t row = row_begin; row < row_end; ++row )
    {
        uint32_t begin = row + 1 > column_begin ? row + 1 : column_begin;
        clv_kd_batches_add( batches, column_end > begin ? column_end - begin : 0 );
    }
}

// ---- kd node search

enum
{
    REST = KD_MARK_REST,
    ACTIVE = KD_MARK_ACTIVE
};

enum
{
    EXTERNAL_TESTS = 12 // that take as long as to find the rows of an external object
};

static bool is_last_part( const kd_search_job* job )
{
    return job->part + 1 >= job->part_count;
}

static simd_list list_of( const sweep_sorted* sorted, bool movers_alone )
{
    return ( simd_list ){ &sorted->lanes.boxes, movers_alone ? sorted->movers.items : NULL };
}

clv_result clv_kd_sweep_sorted( kd_search* search, bool movers_alone, clv_pair_sink* sink )
{
    simd_list list = list_of( &search->own, movers_alone );
    if ( search->rules.count_batches )
    {
        count_sorted( &search->counters.batches, &list );
    }
    simd_cursor cursor = { 0, 0 };
    clv_result result = CLV_OK;
    uint64_t* test_count = &search->counters.test_count;
    PAIR_SINK_DRIVE( result, sink,
        movers_alone ? search->kernels->sweep_movers( &list, &cursor, sink, test_count )
                     : search->kernels->sweep( list.boxes, &cursor, sink, test_count ) )
    return result;
}

// Own objects against external ones.
static clv_result sweep_cross( const kd_search_job* job )
{
    kd_search* search = job->search;
    simd_list own = list_of( &search->own, job->active != NULL );
    simd_list external = list_of( &search->external, job->active != NULL );
    CLV_ASSERT( search->own.lanes.boxes.count > 0 );
    if ( search->rules.count_batches )
    {
        count_crossed( &search->counters.batches, &own, &external );
    }
    simd_cross_cursor cursor = { { 0, 0 }, 0 };
    clv_result result = CLV_OK;
    PAIR_SINK_DRIVE( result, job->sink,
        search->kernels->sweep_cross( &own, &external, &cursor, job->sink, &search->counters.test_count ) )
    return result;
}

// Items against the own objects of one kind.
static clv_result cross_items( const kd_search_job* job, const sweep_grid* grid, const simd_item* items,
    uint32_t count, uint32_t least_mark, uint32_t kind )
{
    kd_search* search = job->search;
    sweep_small* small = &search->small[kind];
    if ( count == 0 || small->boxes.count == 0 )
    {
        return CLV_OK;
    }
    uint32_t row_count;
    if ( !clv_sweep_small_find( small, grid, items, count, least_mark, &row_count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    kd_need_at_least( &search->needs, KD_NEED_ROWS, row_count );
    if ( search->rules.count_batches )
    {
        count_rows( &search->counters.batches, small->rows.items, row_count );
    }
    simd_cursor cursor = { 0, 0 };
    clv_result result = CLV_OK;
    PAIR_SINK_DRIVE( result, job->sink,
        search->kernels->cross_small(
            small->rows.items, row_count, &small->boxes, &cursor, job->sink, &search->counters.test_count ) )
    return result;
}

// Rows from `first` on.
static clv_result sweep_rows(
    kd_search* search, const simd_small_boxes* boxes, uint32_t first, clv_pair_sink* sink )
{
    if ( search->rules.count_batches )
    {
        count_small( &search->counters.batches, boxes, first );
    }
    simd_cursor cursor = { first, 0 };
    clv_result result = CLV_OK;
    PAIR_SINK_DRIVE(
        result, sink, search->kernels->sweep_small( boxes, &cursor, sink, &search->counters.test_count ) )
    return result;
}

clv_result clv_kd_sweep_small( kd_search* search, const simd_small_boxes* boxes, clv_pair_sink* sink )
{
    return sweep_rows( search, boxes, 0, sink );
}

// Where a part of the rows ends if all parts have as many tests to do, about.
static uint32_t part_end( const simd_small_boxes* boxes, uint64_t tests, uint32_t part, uint32_t part_count )
{
    uint64_t wanted = tests * ( part + 1 ) / part_count;
    uint32_t row = 0;
    for ( uint64_t sum = 0; row < boxes->count; ++row )
    {
        sum += boxes->ends[row] - ( row + 1 );
        if ( sum > wanted )
        {
            break;
        }
    }
    return part + 1 < part_count ? row : boxes->count;
}

// The part of the rows that is this worker's.
static clv_result sweep_part( const kd_search_job* job )
{
    simd_small_boxes boxes = job->search->small[ACTIVE].boxes;
    if ( job->part_count < 2 )
    {
        return sweep_rows( job->search, &boxes, 0, job->sink );
    }
    uint64_t tests = job->external_tests;
    for ( uint32_t row = 0; row < boxes.count; ++row )
    {
        tests += boxes.ends[row] - ( row + 1 );
    }
    uint32_t first = job->part > 0 ? part_end( &boxes, tests, job->part - 1, job->part_count ) : 0;
    CLV_ASSERT( job->part < job->part_count && first <= boxes.count );
    boxes.count = part_end( &boxes, tests, job->part, job->part_count );
    return sweep_rows( job->search, &boxes, first, job->sink );
}

static sweep_outcome fill_small( const kd_search_job* job, const sweep_grid* grid, const sweep_list* own )
{
    kd_search* search = job->search;
    search->small[REST].boxes.count = 0;
    sweep_outcome outcome = own->count <= KD_SMALL_MOST ? SWEEP_DONE : SWEEP_CROWDED;
    for ( uint32_t kind = job->active != NULL ? REST : ACTIVE; kind <= ACTIVE && outcome == SWEEP_DONE;
          ++kind )
    {
        outcome = clv_sweep_small_fill( &search->small[kind], grid, own, kind );
    }
    return outcome;
}

// The pairs of sort_and_sweep, from small boxes. *crowded, and nothing reported yet, if they are no good
// here.
static clv_result sweep_by_small( const kd_search_job* job, const kd_node_lists* lists, bool* crowded )
{
    const uint32_t* slots = job->tree->order.items + lists->node->begin;
    CLV_ASSERT( lists->own_count == lists->node->end - lists->node->begin );
    sweep_list own = { job->boxes, slots, lists->own_count, job->active };
    sweep_grid grid = clv_sweep_grid_find( &own );
    sweep_outcome outcome = fill_small( job, &grid, &own );
    *crowded = outcome == SWEEP_CROWDED;
    if ( outcome != SWEEP_DONE )
    {
        return *crowded ? CLV_OK : CLV_OUT_OF_MEMORY;
    }
    clv_result result = sweep_part( job );
    if ( !is_last_part( job ) )
    {
        return result;
    }
    uint64_t before = job->search->counters.test_count;
    if ( result == CLV_OK )
    {
        // Only if anything is at rest, and then the items are there.
        result = cross_items( job, &grid, lists->own, lists->own_count, ACTIVE, REST );
    }
    if ( result == CLV_OK )
    {
        result = cross_items( job, &grid, lists->externals, lists->external_count, REST, ACTIVE );
    }
    if ( result == CLV_OK )
    {
        result = cross_items( job, &grid, lists->externals, lists->external_count, ACTIVE, REST );
    }
    job->search->external_tests =
        job->search->counters.test_count - before + (uint64_t)lists->external_count * EXTERNAL_TESTS;
    return result;
}

uint32_t clv_kd_count_active( const simd_item* items, uint32_t count )
{
    uint32_t active = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        active += items[i].mark;
    }
    return active;
}

// Objects of the node in the order of the sweep, for the next one; clv_kd_search_end puts them there.
static void note_order( const kd_search_job* job, kd_node* node )
{
    const sweep_sorted* own = &job->search->own;
    if ( job->search->rules.keeps_order && !own->was_in_order )
    {
        uint32_t count = node->end - node->begin;
        CLV_ASSERT( own->lanes.boxes.count == count );
        memcpy( job->tree->spare.items + node->begin, own->lanes.boxes.slots, count * sizeof( uint32_t ) );
        node->has_new_order = true;
    }
}

// The hull of the active ones: lower above upper if there are none.
static simd_item hull_of_active( const simd_item* items, uint32_t count )
{
    simd_item hull = { .lower = { INFINITY, INFINITY, INFINITY },
        .upper = { -INFINITY, -INFINITY, -INFINITY } };
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( uint32_t axis = 0; axis < 3 && items[i].mark != 0; ++axis )
        {
            float lower = items[i].lower[axis], upper = items[i].upper[axis];
            hull.lower[axis] = lower < hull.lower[axis] ? lower : hull.lower[axis];
            hull.upper[axis] = upper > hull.upper[axis] ? upper : hull.upper[axis];
        }
    }
    return hull;
}

static clv_result sweep_externals( const kd_search_job* job, const kd_node_lists* lists, uint32_t axis )
{
    kd_search* search = job->search;
    float floor = search->rules.by_variance ? -INFINITY : lists->node->lower[axis];
    sweep_wanted wanted = { lists->externals, lists->external_count, axis, floor, NULL };
    simd_item hull;
    if ( job->active != NULL )
    {
        hull = hull_of_active( lists->own, lists->own_count );
        wanted.region = &hull; // externals at rest have only those to find
    }
    return clv_sweep_sort_items( &search->sorter, &wanted, &search->external ) ? sweep_cross( job )
                                                                               : CLV_OUT_OF_MEMORY;
}

// One sweep of the own list and one of both. Where all own objects rest, they are not swept, and externals
// that rest too have nothing to find.
static clv_result sort_and_sweep( const kd_search_job* job, const kd_node_lists* lists )
{
    kd_search* search = job->search;
    const simd_item* own = lists->own;
    uint32_t own_count = lists->own_count, external_count = lists->external_count;
    bool rests = job->active != NULL && clv_kd_count_active( own, own_count ) == 0;
    if ( rests && clv_kd_count_active( lists->externals, external_count ) == 0 )
    {
        return CLV_OK;
    }
    kd_need_at_least(
        &search->needs, KD_NEED_SORTED, own_count > external_count ? own_count : external_count );
    uint32_t axis = search->rules.by_variance ? clv_sweep_widest_item_axis( own, own_count )
                                              : clv_sweep_choose_item_axis( own, own_count );
    sweep_wanted wanted = { own, own_count, axis, -FLT_MAX, NULL };
    if ( !clv_sweep_sort_items( &search->sorter, &wanted, &search->own ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    note_order( job, lists->node );
    clv_result result = rests ? CLV_OK : clv_kd_sweep_sorted( search, job->active != NULL, job->sink );
    return result == CLV_OK && external_count > 0 ? sweep_externals( job, lists, axis ) : result;
}

static clv_result test_rows( const kd_search_job* job, const simd_boxes* boxes, uint32_t row_begin,
    uint32_t row_end, uint32_t column_begin, uint32_t column_end )
{
    kd_search* search = job->search;
    if ( search->rules.count_batches )
    {
        count_block( &search->counters.batches, row_begin, row_end, column_begin, column_end );
    }
    simd_cursor cursor = { row_begin, 0 };
    clv_result result = CLV_OK;
    PAIR_SINK_DRIVE( result, job->sink,
        search->kernels->test_block( boxes, row_end, column_begin, column_end, &cursor, job->sink ) )
    return result;
}

// Without a sweep: one list of own active, own rest, external active, external rest.
static clv_result brute_force( const kd_search_job* job, const kd_node_lists* lists )
{
    kd_search* search = job->search;
    const simd_item* externals = lists->externals;
    const simd_item* own = lists->own;
    uint32_t external_count = lists->external_count;
    uint32_t own_count = lists->own_count;
    kd_need_at_least( &search->needs, KD_NEED_SORTED, own_count + external_count );
    simd_box_lanes* lanes = &search->own.lanes;
    if ( !clv_simd_box_lanes_reserve( lanes, search->memory, own_count + external_count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    lanes->boxes.count = 0;
    clv_sweep_append_items( own, own_count, ACTIVE, lanes );
    uint32_t active_end = lanes->boxes.count;
    clv_sweep_append_items( own, own_count, REST, lanes );
    CLV_ASSERT( lanes->boxes.count == own_count );
    clv_sweep_append_items( externals, external_count, ACTIVE, lanes );
    uint32_t external_end = lanes->boxes.count;
    clv_sweep_append_items( externals, external_count, REST, lanes );
    clv_simd_box_lanes_finish( lanes, lanes->boxes.count );
    CLV_ASSERT( lanes->boxes.count == own_count + external_count );
    uint32_t end = lanes->boxes.count;
    search->counters.test_count += kd_pairs_of( active_end ) + (uint64_t)active_end * ( end - active_end ) +
        (uint64_t)( own_count - active_end ) * ( external_end - own_count );
    clv_result result = test_rows( job, &lanes->boxes, 0, active_end, 0, end );
    if ( result == CLV_OK && own_count > active_end )
    {
        result = test_rows( job, &lanes->boxes, active_end, own_count, own_count, external_end );
    }
    return result;
}

// How much the tree left, and how much of it is known because both are at rest.
static void count_pairs( const kd_search_job* job, const kd_node_lists* lists )
{
    kd_search_counters* counters = &job->search->counters;
    uint64_t own_count = lists->own_count;
    uint64_t external_count = lists->external_count;
    counters->node_count += 1;
    counters->external_count += external_count;
    counters->tree_pair_count += kd_pairs_of( own_count ) + own_count * external_count;
    if ( job->active != NULL )
    {
        uint64_t own_rest = own_count - clv_kd_count_active( lists->own, lists->own_count );
        uint64_t external_rest =
            external_count - clv_kd_count_active( lists->externals, lists->external_count );
        counters->static_pair_count += kd_pairs_of( own_rest ) + own_rest * external_rest;
    }
}

clv_result clv_kd_node_search( const kd_search_job* job, const kd_node_lists* lists )
{
    kd_search* search = job->search;
    search->external_tests = 0;
    if ( is_last_part( job ) )
    {
        count_pairs( job, lists );
    }
    if ( lists->own_count == 0 )
    {
        return CLV_OK;
    }
    if ( search->rules.sweep != KD_SWEEP_SMALL )
    {
        return search->rules.sweep == KD_SWEEP_SORTED ? sort_and_sweep( job, lists )
                                                      : brute_force( job, lists );
    }
    bool crowded;
    clv_result result = sweep_by_small( job, lists, &crowded );
    if ( !crowded || !is_last_part( job ) )
    {
        return result; // what cannot be cut is all the last part's, which has the externals
    }
    if ( !lists->is_gathered )
    {
        clv_kd_search_gather(
            job, job->tree->order.items + lists->node->begin, lists->own_count, lists->own );
    }
    return sort_and_sweep( job, lists );
}
