// SPDX-License-Identifier: MIT
#include "grid/grid_lists.h"

#include "base/assertion.h"

#include <string.h>

static const grid_span s_nowhere = { { UINT16_MAX, 0, 0 }, { 0, 0, 0 } };

static bool reserve_all(
    grid_lists* lists, base_memory* memory, uint64_t cell_count, uint64_t end_count, uint64_t slot_count )
{
    lists->spans.count = 0;
    bool ok = base_array_reserve( &lists->starts, memory, cell_count + 1 ) &&
        base_array_reserve( &lists->spans, memory, slot_count );
    for ( int axis = 0; axis < 3 && ok; ++axis )
    {
        ok = base_array_reserve( &lists->ends[axis], memory, end_count );
    }
    lists->spans.count = ok ? slot_count : 0;
    return ok;
}

bool clv_grid_lists_lay_out(
    grid_lists* lists, base_memory* memory, const grid_cells* cells, const clv_method_input* input )
{
    uint32_t slot_count = input->slot_count;
    uint32_t cell_count = cells->lattice.cell_count;
    if ( !reserve_all( lists, memory, cell_count, cells->entries.count * 2, slot_count ) )
    {
        return false;
    }
    for ( uint32_t cell = 0; cell <= cell_count; ++cell )
    {
        lists->starts.items[cell] = cells->starts.items[(uint64_t)cell * GRID_GROUPS];
    }
    for ( uint32_t slot = 0; slot < slot_count && input->live_count < slot_count; ++slot )
    {
        lists->spans.items[slot] = s_nowhere;
    }
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        lists->spans.items[clv_method_live_slot( input, i )] = cells->spans.items[i];
    }
    return true;
}

bool clv_grid_lists_lay_out_empty( grid_lists* lists, base_memory* memory, const grid_cells* cells )
{
    uint32_t cell_count = cells->lattice.cell_count;
    if ( !reserve_all( lists, memory, cell_count, 0, 0 ) )
    {
        return false;
    }
    memset( lists->starts.items, 0, ( (size_t)cell_count + 1 ) * sizeof( uint32_t ) );
    return true;
}

void clv_grid_lists_release( grid_lists* lists, base_memory* memory )
{
    base_array_free( &lists->starts, memory );
    base_array_free( &lists->spans, memory );
    for ( int axis = 0; axis < 3; ++axis )
    {
        base_array_free( &lists->ends[axis], memory );
    }
}

// ---- a cell

typedef struct place
{
    uint16_t at[3];
} place;

static place cell_place( const grid_lattice* lattice, uint32_t cell )
{
    uint32_t row = cell / lattice->cells[0];
    return ( place ){ { (uint16_t)( cell % lattice->cells[0] ), (uint16_t)( row % lattice->cells[1] ),
        (uint16_t)( row / lattice->cells[1] ) } };
}

static bool is_in( const grid_lists* lists, uint32_t slot, const place* p )
{
    if ( slot >= lists->spans.count || grid_span_is_large( &lists->spans.items[slot] ) )
    {
        return false;
    }
    const grid_span* span = &lists->spans.items[slot];
    return p->at[0] >= span->low[0] && p->at[0] <= span->high[0] && p->at[1] >= span->low[1] &&
        p->at[1] <= span->high[1] && p->at[2] >= span->low[2] && p->at[2] <= span->high[2];
}

// The ends of boxes that stay in the cell, in their old order with their new keys. Returns how many ends.
static uint32_t copy_stayers(
    const grid_lists_job* job, uint32_t cell, const place* p, int axis, base_keyed* ends )
{
    const base_keyed* old = job->before->ends[axis].items;
    uint64_t end = (uint64_t)job->before->starts.items[cell + 1] * 2;
    uint32_t count = 0;
    for ( uint64_t i = (uint64_t)job->before->starts.items[cell] * 2; i < end; ++i )
    {
        uint32_t slot = sweep_owner( old[i] );
        if ( is_in( job->now, slot, p ) )
        {
            ends[count++] = sweep_end_of( &job->boxes[slot], axis, old[i].value );
        }
    }
    return count;
}

// The ends of boxes that came, or of all, sorted, into `ends`.
static uint32_t sort_comers(
    const grid_lists_job* job, uint32_t cell, const place* p, int axis, bool take_all, base_keyed* ends )
{
    const uint32_t* entries = job->cells->entries.items;
    uint32_t count = 0;
    for ( uint32_t upper = 0; upper < 2;
          ++upper ) // lower ends first: the sort keeps them first at equal places
    {
        for ( uint32_t i = job->now->starts.items[cell]; i < job->now->starts.items[cell + 1]; ++i )
        {
            if ( take_all || !is_in( job->before, entries[i], p ) )
            {
                uint32_t value = entries[i] | ( upper != 0 ? SWEEP_UPPER : 0 );
                ends[count++] = sweep_end_of( &job->boxes[entries[i]], axis, value );
            }
        }
    }
    base_keyed* other = ends + count;
    const base_keyed* sorted = clv_base_sort_keyed( ends, other, count );
    if ( sorted != ends && count > 0 )
    {
        memcpy( ends, sorted, count * sizeof( base_keyed ) );
    }
    return count;
}

// Two sorted lists into the first, from the back.
static void merge( base_keyed* ends, uint32_t count, const base_keyed* more, uint32_t more_count )
{
    while ( more_count > 0 )
    {
        bool takes_first = count > 0 && sweep_rank( ends[count - 1] ) > sweep_rank( more[more_count - 1] );
        base_keyed last = takes_first ? ends[count - 1] : more[more_count - 1];
        ends[count + more_count - 1] = last;
        count -= takes_first;
        more_count -= !takes_first;
    }
}

// Pairs of which at least one box came, along the first axis.
static clv_result sweep_comers( const grid_lists_job* job, uint32_t cell, const place* p, bool take_all,
    clv_pair_sink* sink, uint64_t* test_count )
{
    const base_keyed* ends = job->now->ends[0].items + (uint64_t)job->now->starts.items[cell] * 2;
    uint32_t count = ( job->now->starts.items[cell + 1] - job->now->starts.items[cell] ) * 2;
    clv_result result = CLV_OK;
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( ( ends[i].value & SWEEP_UPPER ) != 0 )
        {
            continue;
        }
        uint32_t slot = ends[i].value;
        clv_aabb box = job->boxes[slot];
        bool came = take_all || !is_in( job->before, slot, p );
        uint32_t reach = sweep_key( box.upper.x );
        for ( uint32_t j = i + 1; j < count && ends[j].key <= reach && result == CLV_OK; ++j )
        {
            uint32_t other = ends[j].value;
            if ( ( other & SWEEP_UPPER ) != 0 || ( !came && is_in( job->before, other, p ) ) )
            {
                continue;
            }
            *test_count += 1;
            if ( clv_aabb_overlap( box, job->boxes[other] ) )
            {
                result = clv_pair_sink_put( sink, slot, other );
            }
        }
    }
    return result;
}

// Insertion sort on three axes. False if it took too many swaps; *result is the sink's answer.
static bool sort_stayers( const grid_lists_job* job, uint32_t cell, const place* p, uint32_t* stayer_count,
    clv_pair_sink* sink, uint64_t* test_count, clv_result* result )
{
    uint64_t first = (uint64_t)job->now->starts.items[cell] * 2;
    sweep_effort effort = { 0, 0 };
    sweep_sort_outcome outcome = SWEEP_SORTED;
    for ( int axis = 0; axis < 3 && outcome == SWEEP_SORTED; ++axis )
    {
        base_keyed* ends = job->now->ends[axis].items + first;
        *stayer_count = copy_stayers( job, cell, p, axis, ends );
        if ( axis == 0 )
        {
            effort.swaps_left = (uint64_t)( job->swaps_per_end * 3 * *stayer_count );
        }
        outcome = clv_sweep_sort_ends( ends, *stayer_count, job->boxes, &effort, sink, result );
    }
    *test_count += effort.test_count;
    return outcome != SWEEP_GAVE_UP;
}

clv_result clv_grid_lists_make_cell(
    const grid_lists_job* job, uint32_t cell, clv_pair_sink* sink, uint64_t* test_count )
{
    uint64_t first = (uint64_t)job->now->starts.items[cell] * 2;
    uint32_t total = ( job->now->starts.items[cell + 1] - job->now->starts.items[cell] ) * 2;
    if ( total == 0 )
    {
        return CLV_OK; // and perhaps there are no lists at all
    }
    place p = cell_place( &job->cells->lattice, cell );
    uint32_t stayer_count = 0;
    clv_result result = CLV_OK;
    bool take_all = !sort_stayers( job, cell, &p, &stayer_count, sink, test_count, &result );
    if ( result != CLV_OK )
    {
        return result;
    }
    stayer_count = take_all ? 0 : stayer_count;
    if ( stayer_count == total )
    {
        return CLV_OK;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint32_t comer_count = sort_comers( job, cell, &p, axis, take_all, job->scratch );
        CLV_ASSERT( stayer_count + comer_count == total );
        merge( job->now->ends[axis].items + first, stayer_count, job->scratch, comer_count );
    }
    return sweep_comers( job, cell, &p, take_all, sink, test_count );
}
