// SPDX-License-Identifier: MIT
// The reference: plain loops, written apart from the templates of the others so that they can be held against
// each other.
#include "simd/method_kernels.h"

#include "simd/kernel_plain.h"

static bool overlap_axis_of_two( const simd_boxes* a, uint32_t i, const simd_boxes* b, uint32_t j, int axis )
{
    return a->lower[axis][i] <= b->upper[axis][j] && b->lower[axis][j] <= a->upper[axis][i];
}

// Row `row` of one list against the other from *column on; one at rest against the movers there alone.
// `begin` is where the row began. False, and *column where to go on, if the sink is full.
static bool cross_row_scalar( const simd_list* rows, uint32_t row, const simd_list* columns, uint32_t begin,
    uint32_t* column, clv_pair_sink* sink, uint64_t* test_count )
{
    const simd_boxes* boxes = columns->boxes;
    bool rests = rows->movers != NULL && !base_bits_has( rows->movers, row );
    float reach = rows->boxes->upper[0][row];
    *column = rests ? simd_next_mover( columns->movers, *column ) : *column;
    while ( boxes->lower[0][*column] <= reach ) // NaN ends the list
    {
        if ( overlap_axis_of_two( rows->boxes, row, boxes, *column, 1 ) &&
            overlap_axis_of_two( rows->boxes, row, boxes, *column, 2 ) )
        {
            if ( clv_pair_sink_is_full( sink ) )
            {
                return false;
            }
            put_pair( sink, rows->boxes->slots[row], boxes->slots[*column] );
        }
        *column = rests ? simd_next_mover( columns->movers, *column + 1 ) : *column + 1;
    }
    *test_count += rests ? simd_count_movers( columns->movers, begin, *column ) : *column - begin;
    return true;
}

static bool sweep_movers_scalar(
    const simd_list* list, simd_cursor* cursor, clv_pair_sink* sink, uint64_t* test_count )
{
    for ( ; cursor->row < list->boxes->count; cursor->row += 1 )
    {
        uint32_t row = cursor->row;
        uint32_t column = cursor->column > 0 ? cursor->column : row + 1;
        if ( !cross_row_scalar( list, row, list, row + 1, &column, sink, test_count ) )
        {
            cursor->column = column;
            return false;
        }
        cursor->column = 0;
    }
    return true;
}

static bool sweep_scalar(
    const simd_boxes* boxes, simd_cursor* cursor, clv_pair_sink* sink, uint64_t* test_count )
{
    const simd_list list = { boxes, NULL };
    return sweep_movers_scalar( &list, cursor, sink, test_count );
}

static bool sweep_cross_scalar( const simd_list* first, const simd_list* second, simd_cross_cursor* cursor,
    clv_pair_sink* sink, uint64_t* test_count )
{
    while ( cursor->heads[0] < first->boxes->count && cursor->heads[1] < second->boxes->count )
    {
        bool by_first = first->boxes->lower[0][cursor->heads[0]] <= second->boxes->lower[0][cursor->heads[1]];
        uint32_t begin = by_first ? cursor->heads[1] : cursor->heads[0];
        uint32_t column = cursor->column > begin ? cursor->column : begin;
        bool done = by_first
            ? cross_row_scalar( first, cursor->heads[0], second, begin, &column, sink, test_count )
            : cross_row_scalar( second, cursor->heads[1], first, begin, &column, sink, test_count );
        if ( !done )
        {
            cursor->column = column;
            return false;
        }
        cursor->column = 0;
        cursor->heads[0] += by_first;
        cursor->heads[1] += !by_first;
    }
    return true;
}

static uint32_t take_leavers_scalar( const clv_aabb* boxes, const float lower[3], const float upper[3],
    uint32_t* slots, uint32_t count, uint32_t* leavers )
{
    uint32_t left = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = slots[i];
        const clv_aabb* box = &boxes[slot];
        bool stays = ( box->lower.x >= lower[0] ) & ( box->upper.x < upper[0] ) &
            ( box->lower.y >= lower[1] ) & ( box->upper.y < upper[1] ) & ( box->lower.z >= lower[2] ) &
            ( box->upper.z < upper[2] );
        // Branch-free, both written and one kept: a branch on whether a box left mispredicts.
        slots[i - left] = slot;
        leavers[left] = slot;
        left += !stays;
    }
    return left;
}

static uint32_t pick_overlapping_scalar(
    const clv_aabb* boxes, const uint32_t* slots, uint32_t count, const clv_aabb* box, uint32_t* hits )
{
    uint32_t hit_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( clv_aabb_overlap( boxes[slots[i]], *box ) )
        {
            hits[hit_count++] = slots[i];
        }
    }
    return hit_count;
}

static uint32_t scan_overlapping_scalar(
    const clv_aabb* boxes, uint32_t count, const clv_aabb* box, uint32_t* hits )
{
    uint32_t hit_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( clv_aabb_overlap( boxes[i], *box ) )
        {
            hits[hit_count++] = i;
        }
    }
    return hit_count;
}

static uint32_t keep_overlapping_scalar(
    const clv_aabb* boxes, const clv_pair* pairs, uint32_t count, clv_pair* kept )
{
    uint32_t kept_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( clv_aabb_overlap( boxes[pairs[i].a], boxes[pairs[i].b] ) )
        {
            kept[kept_count++] = pairs[i];
        }
    }
    return kept_count;
}

// Within the grown interval, and no face deeper in it than twice epsilon.
static bool rests_along( float lower, float upper, float old_lower, float old_upper, float depth )
{
    return ( lower >= old_lower ) & ( lower <= old_lower + depth ) & ( upper <= old_upper ) &
        ( upper >= old_upper - depth );
}

static uint64_t regrow_scalar( const clv_aabb* boxes, clv_aabb* grown, uint32_t count, float epsilon )
{
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const clv_aabb* box = &boxes[i];
        const clv_aabb* old = &grown[i];
        bool rests = true;
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            rests = rests &&
                rests_along( ( &box->lower.x )[axis], ( &box->upper.x )[axis], ( &old->lower.x )[axis],
                    ( &old->upper.x )[axis], 2 * epsilon );
        }
        if ( !rests )
        {
            grown[i] = clv_aabb_grow( *box, epsilon );
            bits |= (uint64_t)1 << i;
        }
    }
    return bits;
}

static int16_t small_step( float bound, float origin, float scale )
{
    float step = ( bound - origin ) * scale;
    step = step > 0 ? step : 0;
    step = step < SMALL_MOST ? step : SMALL_MOST;
    return (int16_t)(int32_t)step;
}

static void make_small_scalar(
    const simd_item* items, uint32_t count, const simd_small_grid* grid, simd_small_item* small )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            small[i].lower[axis] = small_step( items[i].lower[axis], grid->origin[axis], grid->scale[axis] );
            small[i].upper[axis] = small_step( items[i].upper[axis], grid->origin[axis], grid->scale[axis] );
        }
        small[i].slot = items[i].slot;
    }
}

static void gather_small_scalar( const clv_aabb* boxes, const uint32_t* slots, uint32_t count,
    const simd_small_grid* grid, simd_small_item* small )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* lower = &boxes[slots[i]].lower.x;
        const float* upper = &boxes[slots[i]].upper.x;
        for ( int axis = 0; axis < 3; ++axis )
        {
            small[i].lower[axis] = small_step( lower[axis], grid->origin[axis], grid->scale[axis] );
            small[i].upper[axis] = small_step( upper[axis], grid->origin[axis], grid->scale[axis] );
        }
        small[i].slot = slots[i];
    }
}

static void spread_small_scalar( const simd_small_item* items, uint32_t begin, uint32_t end,
    const simd_small_turn* turn, const simd_small_boxes* boxes )
{
    for ( uint32_t at = begin; at < end; ++at )
    {
        simd_small_set( boxes, at, &items[at], turn );
    }
}

// Columns row->begin or *column .. row->end. False, and *column where to go on, if the sink is full.
static bool test_small_row(
    const simd_small_row* row, const simd_small_boxes* boxes, uint32_t* column, clv_pair_sink* sink )
{
    for ( ; *column < row->end; *column += 1 )
    {
        uint32_t at = *column;
        bool overlap = true;
        for ( int axis = 0; axis < 2; ++axis )
        {
            overlap &=
                boxes->lower[axis][at] <= row->upper[axis] && row->lower[axis] <= boxes->upper[axis][at];
        }
        overlap &= ( row->slot & boxes->slots[at] & SMALL_AGAIN ) == 0;
        uint32_t slot = row->slot & ~SMALL_AGAIN;
        uint32_t other = boxes->slots[at] & ~SMALL_AGAIN;
        if ( overlap && clv_aabb_overlap( boxes->exact[slot], boxes->exact[other] ) )
        {
            if ( clv_pair_sink_is_full( sink ) )
            {
                return false;
            }
            put_pair( sink, slot, other );
        }
    }
    return true;
}

static bool cross_small_scalar( const simd_small_row* rows, uint32_t row_count, const simd_small_boxes* boxes,
    simd_cursor* cursor, clv_pair_sink* sink, uint64_t* test_count )
{
    for ( ; cursor->row < row_count; cursor->row += 1 )
    {
        uint32_t at = cursor->row;
        simd_small_row own = {
            { boxes->lower[0][at], boxes->lower[1][at] },
            { boxes->upper[0][at], boxes->upper[1][at] },
            boxes->slots[at],
            at + 1,
            boxes->ends[at],
        };
        const simd_small_row* row = rows != NULL ? &rows[at] : &own;
        uint32_t column = cursor->column > 0 ? cursor->column : row->begin;
        if ( !test_small_row( row, boxes, &column, sink ) )
        {
            cursor->column = column;
            return false;
        }
        *test_count += row->end - row->begin;
        cursor->column = 0;
    }
    return true;
}

static bool sweep_small_scalar(
    const simd_small_boxes* boxes, simd_cursor* cursor, clv_pair_sink* sink, uint64_t* test_count )
{
    return cross_small_scalar( NULL, boxes->count, boxes, cursor, sink, test_count );
}

const simd_method_kernels clv_simd_method_kernels_scalar = { CLV_ISA_SCALAR, test_block, sweep_scalar,
    sweep_cross_scalar, sweep_movers_scalar, take_leavers_scalar, pick_overlapping_scalar,
    scan_overlapping_scalar, keep_overlapping_scalar, regrow_scalar, make_small_scalar, gather_small_scalar,
    spread_small_scalar, sweep_small_scalar, cross_small_scalar };
