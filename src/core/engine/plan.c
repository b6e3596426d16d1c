// SPDX-License-Identifier: MIT
#include "engine/block.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <float.h>
#include <string.h>

// Hoare's selection.
float clv_engine_block_select( float* values, uint32_t count, uint32_t rank )
{
    CLV_ASSERT( rank < count );
    uint32_t low = 0, high = count - 1;
    while ( low < high )
    {
        float pivot = values[rank];
        uint32_t i = low, j = high;
        while ( i <= j )
        {
            while ( values[i] < pivot )
            {
                i += 1;
            }
            while ( pivot < values[j] )
            {
                j -= 1;
            }
            if ( i <= j )
            {
                float value = values[i];
                values[i++] = values[j];
                values[j] = value;
                if ( j == 0 )
                {
                    break;
                }
                j -= 1;
            }
        }
        low = j < rank ? i : low;
        high = rank < i ? j : high;
    }
    return values[rank];
}

// One axis of the sample: the inner 15 of 16ths, widened by several times as much as that cuts off a uniform
// crowd, since many a crowd thins out slowly. The sample excludes empty space; what lies farther out than
// this is ignored.
void clv_engine_block_window( float* centres, uint32_t count, float* low, float* high )
{
    if ( count == 0 )
    {
        *low = *high = 0;
        return;
    }
    uint32_t cut = count / 32;
    double first = clv_engine_block_select( centres, count, cut );
    double last = clv_engine_block_select( centres, count, count - 1 - cut );
    double slack = ( last - first ) * 0.3;
    *low = (float)( first - slack > -FLT_MAX ? first - slack : -FLT_MAX );
    *high = (float)( last + slack < FLT_MAX ? last + slack : FLT_MAX );
}

// Centre and size of a box along an axis; where one face is at infinity the other tells where it is, and its
// size is not known. False if both are.
static bool measure_box( const clv_aabb* box, int axis, float* centre, float* size )
{
    float lower = ( &box->lower.x )[axis], upper = ( &box->upper.x )[axis];
    bool has_lower = base_is_finite( lower ), has_upper = base_is_finite( upper );
    *centre = !has_lower ? upper : !has_upper ? lower : 0.5f * lower + 0.5f * upper;
    *size = upper - lower;
    return has_lower || has_upper;
}

// The mean, without what is many times as large as most.
static float mean_size( float* sizes, uint32_t count )
{
    float most = count > 0 ? 8 * clv_engine_block_select( sizes, count, count / 2 ) : 0;
    most = most < FLT_MAX ? most : FLT_MAX;
    float sum = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        sum += ( sizes[i] < most ? sizes[i] : most ) / (float)count;
    }
    return sum;
}

BASE_COLD cell_extent clv_engine_block_measure( const clv_method_input* input )
{
    cell_extent extent = { .joint = { 1, 1, 1 } };
    const clv_aabb* boxes[BLOCK_SAMPLES];
    uint32_t wanted = input->live_count <= CELL_ALONE ? BLOCK_SAMPLES / 2 : BLOCK_SAMPLES;
    wanted = wanted < input->live_count ? wanted : input->live_count;
    for ( uint32_t i = 0; i < wanted; ++i )
    {
        boxes[i] = &input->boxes[clv_method_live_slot( input, base_sample( i, wanted, input->live_count ) )];
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        float centres[BLOCK_SAMPLES], sizes[BLOCK_SAMPLES];
        uint32_t count = 0;
        for ( uint32_t i = 0; i < wanted; ++i )
        {
            count += measure_box( boxes[i], axis, &centres[count], &sizes[count] );
        }
        clv_engine_block_window( centres, count, &extent.low[axis], &extent.high[axis] );
        extent.size[axis] = mean_size( sizes, count );
    }
    return extent;
}

enum
{
    CELLS_PER_BLOCK = 128 // so a cut can come close to the middle
};

// Half as many cells again, or a third: 1, 2, 3, 4, 6, 8, 12, ...
static uint32_t next_dims( uint32_t dims )
{
    bool is_power = ( dims & ( dims - 1 ) ) == 0;
    return dims == 1 ? 2 : is_power ? dims / 2 * 3 : dims / 3 * 4;
}

// Cells about as wide as high, none narrower than four boxes: the widest are cut until there are enough. So a
// flat world is cut along its floor alone.
static void place_grid( cell_grid* grid, const cell_extent* extent, uint32_t count, uint32_t block_boxes )
{
    double width[3];
    uint32_t most[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        width[axis] = (double)extent->high[axis] - (double)extent->low[axis];
        double cells = width[axis] / ( 4 * (double)extent->size[axis] );
        most[axis] = !( cells > 1 ) ? 1 : cells > BLOCK_SIDE ? BLOCK_SIDE : (uint32_t)cells;
        grid->dims[axis] = 1;
    }
    double wanted = (double)CELLS_PER_BLOCK * count / block_boxes;
    for ( int widest = 0; widest >= 0; )
    {
        double side = 0;
        widest = -1;
        for ( int axis = 0; axis < 3; ++axis )
        {
            if ( next_dims( grid->dims[axis] ) <= most[axis] && width[axis] / grid->dims[axis] > side )
            {
                side = width[axis] / grid->dims[axis];
                widest = axis;
            }
        }
        if ( widest >= 0 )
        {
            grid->dims[widest] = next_dims( grid->dims[widest] );
        }
        widest = (double)grid->dims[0] * grid->dims[1] * grid->dims[2] < wanted ? widest : -1;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        grid->origin[axis] = extent->low[axis];
        double scale = width[axis] > 0 ? CELL_STEPS * grid->dims[axis] / width[axis] : 1;
        grid->scale[axis] = (float)( scale < 1e30 ? scale : 1e30 );
    }
}

BASE_COLD bool clv_engine_plan_place(
    block_plan* plan, base_memory* memory, const clv_method_input* input, uint32_t block_boxes )
{
    cell_extent extent = clv_engine_block_measure( input );
    cell_grid grid;
    place_grid( &grid, &extent, input->live_count, block_boxes );
    uint64_t cells = (uint64_t)grid.dims[0] * grid.dims[1] * grid.dims[2];
    if ( !base_array_reserve( &plan->map, memory, cells ) ||
        !base_array_reserve( &plan->histogram, memory, cells ) )
    {
        return false;
    }
    plan->grid = grid;
    plan->block_count = 0;
    memset( plan->histogram.items, 0, (size_t)cells * sizeof( uint32_t ) );
    CLV_ASSERT( plan->grid.scale[0] > 0 && plan->grid.scale[1] > 0 && plan->grid.scale[2] > 0 );
    return true;
}

BASE_COLD void clv_engine_plan_release( block_plan* plan, base_memory* memory )
{
    base_array_free( &plan->map, memory );
    base_array_free( &plan->histogram, memory );
    base_array_free( &plan->nodes, memory );
    base_array_free( &plan->leaves, memory );
    base_array_free( &plan->grids, memory );
    base_array_free( &plan->scalings, memory );
    base_array_free( &plan->samples, memory );
    base_array_free( &plan->tallies, memory );
    *plan = ( block_plan ){ 0 };
}

void clv_engine_plan_count( block_plan* plan, const clv_method_input* input, uint32_t step )
{
    const scaling s = scaling_of( &plan->grid );
    for ( uint32_t first = 0; first < input->live_count; first += step )
    {
        uint32_t slot = clv_method_live_slot( input, base_sample_step( first, step, input->live_count ) );
        cell_words words = cell_words_of( &input->boxes[slot], &s );
        plan->histogram.items[cell_words_key( &words, &s ).cell] += step;
    }
}

// ---- cutting

// Boxes that begin in each layer of a node's cells, along one axis.
static uint64_t count_layers(
    const block_plan* plan, const block_node* node, int along, uint64_t layers[BLOCK_SIDE] )
{
    const cell_grid* grid = &plan->grid;
    uint64_t total = 0;
    memset( layers, 0, BLOCK_SIDE * sizeof( uint64_t ) );
    for ( uint32_t z = node->first[2]; z <= node->last[2]; ++z )
    {
        for ( uint32_t y = node->first[1]; y <= node->last[1]; ++y )
        {
            const uint32_t* row = plan->histogram.items + ( (size_t)z * grid->dims[1] + y ) * grid->dims[0];
            for ( uint32_t x = node->first[0]; x <= node->last[0]; ++x )
            {
                uint32_t at[3] = { x, y, z };
                layers[at[along] - node->first[along]] += row[x];
                total += row[x];
            }
        }
    }
    return total;
}

// The widest axis in metres, among those that can be cut.
static int axis_to_cut( const block_plan* plan, const block_node* node )
{
    int best = -1;
    float widest = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float width = (float)( node->last[axis] - node->first[axis] + 1 ) / plan->grid.scale[axis];
        if ( node->last[axis] > node->first[axis] && width > widest )
        {
            widest = width;
            best = axis;
        }
    }
    return best;
}

static void map_leaf( block_plan* plan, uint32_t node_index )
{
    block_node* node = &plan->nodes.items[node_index];
    CLV_ASSERT( plan->block_count < BLOCK_LIMIT );
    node->left = 0;
    node->block = plan->block_count;
    plan->leaves.items[plan->block_count++] =
        ( block_leaf ){ block_fields( node->first ), block_fields( node->last ) };
    const cell_grid* grid = &plan->grid;
    for ( uint32_t z = node->first[2]; z <= node->last[2]; ++z )
    {
        for ( uint32_t y = node->first[1]; y <= node->last[1]; ++y )
        {
            uint16_t* row = plan->map.items + ( (size_t)z * grid->dims[1] + y ) * grid->dims[0];
            for ( uint32_t x = node->first[0]; x <= node->last[0]; ++x )
            {
                row[x] = (uint16_t)node->block;
            }
        }
    }
}

// Two children where the boxes are halved best, or none if the node is small, or cannot be cut.
static bool cut_node( block_plan* plan, uint32_t node_index, uint32_t most )
{
    block_node* node = &plan->nodes.items[node_index];
    uint64_t layers[BLOCK_SIDE];
    int axis = axis_to_cut( plan, node );
    if ( axis < 0 || count_layers( plan, node, axis, layers ) <= most )
    {
        return false;
    }
    uint32_t width = (uint32_t)( node->last[axis] - node->first[axis] + 1 );
    uint64_t total = 0, below = 0;
    for ( uint32_t i = 0; i < width; ++i )
    {
        total += layers[i];
    }
    uint32_t cut = 1;
    for ( below = layers[0]; cut + 1 < width && below + layers[cut] / 2 < total / 2; ++cut )
    {
        below += layers[cut];
    }
    CLV_ASSERT( cut >= 1 && cut < width ); // neither side is empty
    CLV_ASSERT( plan->node_count + 2 <= plan->nodes.capacity );
    block_node* left = &plan->nodes.items[plan->node_count];
    node->left = plan->node_count;
    plan->node_count += 2;
    left[0] = left[1] = *node;
    left[0].last[axis] = (uint16_t)( node->first[axis] + cut - 1 );
    left[1].first[axis] = (uint16_t)( node->first[axis] + cut );
    return true;
}

BASE_COLD bool clv_engine_plan_cut( block_plan* plan, base_memory* memory, uint32_t most )
{
    const cell_grid* grid = &plan->grid;
    uint64_t cells = (uint64_t)grid->dims[0] * grid->dims[1] * grid->dims[2];
    uint64_t leaf_limit = cells < BLOCK_LIMIT ? cells : BLOCK_LIMIT;
    plan->block_count = 0;
    if ( !base_array_reserve( &plan->nodes, memory, 2 * leaf_limit ) ||
        !base_array_reserve( &plan->leaves, memory, leaf_limit ) )
    {
        return false;
    }
    plan->nodes.items[0] = ( block_node ){ { 0 }, { 0 }, 0, 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        plan->nodes.items[0].last[axis] = (uint16_t)( grid->dims[axis] - 1 );
    }
    plan->node_count = 1;
    // Breadth first: nodes behind the one looked at are its descendants or its peers', so no stack is needed.
    for ( uint32_t i = 0; i < plan->node_count; ++i )
    {
        bool may_cut = ( plan->node_count + 3 ) / 2 < leaf_limit;
        if ( !may_cut || !cut_node( plan, i, most ) )
        {
            map_leaf( plan, i );
        }
    }
    CLV_ASSERT( plan->block_count <= leaf_limit );
    return true;
}
