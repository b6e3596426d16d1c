// SPDX-License-Identifier: MIT
// Recursive coordinate bisection (M. J. Berger, S. H. Bokhari, A partitioning strategy for nonuniform problems on multiprocessors,
// IEEE Transactions on Computers C-36, 1987) over points that lie on many processes. All groups of a level are cut at once. The
// place of a cut is found on the scale of the floats' bits, eight bits at a time, so that a few points far away cost nothing and
// four reductions per level are enough. Weights are whole numbers: every process gets the same sums, to the bit.
#include "base/assertion.h"
#include "base/bits.h"
#include "mpi_state.h"

enum
{
    BINS = 256,
    ROUNDS = 4,   ///< of eight bits
    QUANTILES = 3 ///< a tenth, the place of the cut, nine tenths
};

/// Points whose processes are not told apart yet.
typedef struct group
{
    int32_t first_rank, rank_count;
    int32_t parent;  ///< the cut above, -1: none
    bool is_right;   ///< of it
    uint64_t weight; ///< in all
    uint32_t prefix[3][QUANTILES];
    uint64_t below[3][QUANTILES]; ///< weight of points below the prefix
    uint64_t at[3][QUANTILES];    ///< and at it
} group;

/// Of one cutting.
typedef struct bisection
{
    clv_mpi_space* space;
    const clv_vec3* points;
    const uint64_t* weights;
    uint64_t count;
    uint32_t* group_of; ///< by point; SLOT_NONE: its process is known
    group *groups, *next_groups;
    uint32_t group_count;
    uint64_t *bins, *all_bins;
} bisection;

static uint32_t key_of( clv_vec3 point, int axis )
{
    float value = axis == 0 ? point.x : axis == 1 ? point.y : point.z;
    return base_float_order( value == 0 ? 0.0f : value ); // one zero
}

static float float_of( uint32_t key )
{
    uint32_t bits = ( key & 0x80000000u ) != 0 ? key ^ 0x80000000u : ~key;
    float value;
    memcpy( &value, &bits, sizeof( value ) );
    return value;
}

static uint64_t target_of( const group* g, int quantile )
{
    uint64_t left = (uint64_t)( g->rank_count / 2 ), ranks = (uint64_t)g->rank_count;
    const uint64_t parts[QUANTILES][2] = { { 1, 10 }, { left, ranks }, { 9, 10 } };
    return (uint64_t)( (double)g->weight * (double)parts[quantile][0] / (double)parts[quantile][1] );
}

static uint64_t bin_count( const bisection* b )
{
    return (uint64_t)b->group_count * 3 * QUANTILES * BINS;
}

static uint64_t* bins_of( uint64_t* bins, uint32_t group_index, int axis, int quantile )
{
    return bins + ( ( (uint64_t)group_index * 3 + (uint64_t)axis ) * QUANTILES + (uint64_t)quantile ) * BINS;
}

static void count_bins( const bisection* b, int round )
{
    uint32_t shift = 24 - 8 * (uint32_t)round;
    memset( b->bins, 0, bin_count( b ) * sizeof( uint64_t ) );
    for ( uint64_t i = 0; i < b->count; ++i )
    {
        uint32_t at = b->group_of[i];
        CLV_ASSERT( at == SLOT_NONE || at < b->group_count );
        for ( int axis = 0; at != SLOT_NONE && axis < 3; ++axis )
        {
            uint32_t key = key_of( b->points[i], axis );
            for ( int q = 0; q < QUANTILES; ++q )
            {
                bool is_near = round == 0 || key >> ( shift + 8 ) == b->groups[at].prefix[axis][q];
                bins_of( b->bins, at, axis, q )[key >> shift & 0xFF] += is_near ? b->weights[i] : 0;
            }
        }
    }
}

static void narrow( group* g, const uint64_t* bins, int axis, int q )
{
    uint64_t target = target_of( g, q ), below = g->below[axis][q];
    uint32_t bin = 0;
    while ( bin + 1 < BINS && below + bins[bin] <= target )
    {
        below += bins[bin++];
    }
    // Past all points only where the rest is empty: back to the last that has some.
    while ( bin > 0 && bins[bin] == 0 )
    {
        below -= bins[--bin];
    }
    g->prefix[axis][q] = g->prefix[axis][q] << 8 | bin;
    g->below[axis][q] = below;
    g->at[axis][q] = bins[bin];
    CLV_ASSERT( g->below[axis][q] + g->at[axis][q] <= g->weight );
}

static clv_result find_quantiles( bisection* b )
{
    clv_mpi_space* space = b->space;
    for ( int round = 0; round < ROUNDS; ++round )
    {
        CLV_ASSERT( bin_count( b ) <= INT32_MAX ); // MPI counts in int
        count_bins( b, round );
        MPI_Request request;
        if ( !clv_mpi_succeeded( space,
                 MPI_Iallreduce( b->bins, b->all_bins, (int)bin_count( b ), MPI_UINT64_T, MPI_SUM,
                     space->net.all, &request ),
                 "a reduction" ) ||
            !clv_mpi_wait( space, &request, 1 ) )
        {
            return CLV_LOST;
        }
        for ( uint32_t i = 0; i < b->group_count; ++i )
        {
            for ( int bin = 0; round == 0 && bin < BINS; ++bin )
            {
                b->groups[i].weight += bins_of( b->all_bins, i, 0, 0 )[bin];
            }
            for ( int at = 0; at < 3 * QUANTILES; ++at )
            {
                narrow( &b->groups[i], bins_of( b->all_bins, i, at / QUANTILES, at % QUANTILES ),
                    at / QUANTILES, at % QUANTILES );
            }
        }
    }
    return CLV_OK;
}

// The axis of the same cut in the regions as they are; -1: space was not cut yet. Its place in the tree depends on the number of
// processes alone.
static int axis_before( const bisection* b, int32_t cut )
{
    const mpi_regions* regions = &b->space->partition.regions;
    bool has_one = (uint64_t)cut < regions->cuts.count && regions->cuts.items[cut].at > -INFINITY;
    return has_one ? regions->cuts.items[cut].axis : -1;
}

// Along the axis on which most of the points are spread furthest; or along the one of the last time while that is nearly as long: another
// one gives most of the objects to other processes.
static int axis_of( const bisection* b, const group* g, int32_t cut )
{
    const double nearly = 0.75;
    double lengths[3], longest = -1;
    int best = 0, before = axis_before( b, cut );
    if ( g->weight == 0 )
    {
        return 0;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        lengths[axis] = (double)float_of( g->prefix[axis][2] ) - (double)float_of( g->prefix[axis][0] );
        best = lengths[axis] > longest ? axis : best;
        longest = lengths[axis] > longest ? lengths[axis] : longest;
    }
    return before >= 0 && lengths[before] >= longest * nearly ? before : best;
}

// Left of the points at the quantile or right of them, whichever shares out better.
static float place_of( const group* g, int axis )
{
    if ( g->weight == 0 )
    {
        return 0; // nobody there: anywhere, but at a number
    }
    uint32_t key = g->prefix[axis][1];
    uint64_t target = target_of( g, 1 ), below = g->below[axis][1], with = below + g->at[axis][1];
    uint64_t lacks = target - ( below < target ? below : target );
    uint64_t exceeds = with - ( with > target ? target : with );
    return float_of( exceeds < lacks ? key + 1 : key );
}

static void add_group( bisection* b, uint32_t* count, int32_t first, int32_t ranks, int32_t parent,
    bool is_right, mpi_regions* into )
{
    CLV_ASSERT( ranks >= 1 && first >= 0 && first + ranks <= b->space->process_count );
    int32_t* child = is_right ? &into->cuts.items[parent].right : &into->cuts.items[parent].left;
    if ( ranks == 1 )
    {
        *child = ~first;
        return;
    }
    CLV_ASSERT( *count < (uint32_t)b->space->process_count / 2 + 1 ); // the room of open_bisection
    b->next_groups[( *count )++] =
        ( group ){ .first_rank = first, .rank_count = ranks, .parent = parent, .is_right = is_right };
}

// A cut per group; the groups below it are the next level.
static void cut_groups( bisection* b, mpi_regions* into )
{
    uint32_t count = 0;
    uint64_t first_cut = into->cuts.count;
    for ( uint32_t i = 0; i < b->group_count; ++i )
    {
        const group* g = &b->groups[i];
        int32_t cut = (int32_t)into->cuts.count++, left = g->rank_count / 2;
        CLV_ASSERT( into->cuts.count < (uint64_t)b->space->process_count );
        int axis = axis_of( b, g, cut );
        into->cuts.items[cut] = ( mpi_cut ){ .at = place_of( g, axis ), .axis = axis };
        CLV_ASSERT( isfinite( into->cuts.items[cut].at ) );
        if ( g->parent >= 0 )
        {
            *( g->is_right ? &into->cuts.items[g->parent].right : &into->cuts.items[g->parent].left ) = cut;
        }
        add_group( b, &count, g->first_rank, left, cut, false, into );
        add_group( b, &count, g->first_rank + left, g->rank_count - left, cut, true, into );
    }
    for ( uint64_t i = 0; i < b->count; ++i )
    {
        if ( b->group_of[i] != SLOT_NONE )
        {
            const mpi_cut* cut = &into->cuts.items[first_cut + b->group_of[i]];
            const clv_vec3* p = &b->points[i];
            float value = cut->axis == 0 ? p->x : cut->axis == 1 ? p->y : p->z;
            // Which of the next groups that is: found below by parent and side.
            b->group_of[i] = ( b->group_of[i] << 1 ) | ( value < cut->at ? 0u : 1u );
        }
    }
    group* done = b->groups;
    b->groups = b->next_groups;
    b->next_groups = done;
    uint32_t cut_count = b->group_count;
    b->group_count = count;
    // From (cut of the last level, side) to the group of the next one.
    uint32_t* index = (uint32_t*)b->bins;
    memset( index, 0xFF, 2 * (size_t)cut_count * sizeof( uint32_t ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( (uint64_t)b->groups[i].parent >= first_cut &&
            (uint64_t)b->groups[i].parent < first_cut + cut_count );
        index[( (uint64_t)b->groups[i].parent - first_cut ) * 2 + b->groups[i].is_right] = i;
    }
    for ( uint64_t i = 0; i < b->count; ++i )
    {
        b->group_of[i] = b->group_of[i] != SLOT_NONE ? index[b->group_of[i]] : SLOT_NONE;
    }
}

static bool open_bisection( bisection* b )
{
    base_memory* memory = &b->space->memory;
    uint64_t groups = (uint64_t)b->space->process_count / 2 + 1;
    b->group_of = clv_base_memory_take( memory, b->count, sizeof( uint32_t ) );
    b->groups = clv_base_memory_take( memory, groups, sizeof( group ) );
    b->next_groups = clv_base_memory_take( memory, groups, sizeof( group ) );
    b->bins = clv_base_memory_take( memory, groups * 3 * QUANTILES * BINS, sizeof( uint64_t ) );
    b->all_bins = clv_base_memory_take( memory, groups * 3 * QUANTILES * BINS, sizeof( uint64_t ) );
    return ( b->group_of != NULL || b->count == 0 ) && b->groups != NULL && b->next_groups != NULL &&
        b->bins != NULL && b->all_bins != NULL;
}

static void close_bisection( bisection* b )
{
    if ( b->space->is_lost )
    {
        return; // a reduction may still be at work on it
    }
    base_memory* memory = &b->space->memory;
    uint64_t groups = (uint64_t)b->space->process_count / 2 + 1;
    clv_base_memory_give( memory, b->group_of, b->count, sizeof( uint32_t ) );
    clv_base_memory_give( memory, b->groups, groups, sizeof( group ) );
    clv_base_memory_give( memory, b->next_groups, groups, sizeof( group ) );
    clv_base_memory_give( memory, b->bins, groups * 3 * QUANTILES * BINS, sizeof( uint64_t ) );
    clv_base_memory_give( memory, b->all_bins, groups * 3 * QUANTILES * BINS, sizeof( uint64_t ) );
}

clv_result clv_mpi_bisect(
    clv_mpi_space* space, const clv_vec3* points, const uint64_t* weights, uint64_t count, mpi_regions* into )
{
    bisection b = { .space = space, .points = points, .weights = weights, .count = count };
    clv_result mine = open_bisection( &b )
        ? CLV_OK
        : clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory to cut space" );
    clv_result result = clv_mpi_agree( space, mine );
    if ( result == CLV_OK && space->process_count > 1 )
    {
        if ( count > 0 )
        {
            memset( b.group_of, 0, count * sizeof( uint32_t ) );
        }
        b.groups[0] = ( group ){ .rank_count = space->process_count, .parent = -1 };
        b.group_count = 1;
        into->cuts.count = 0;
        while ( result == CLV_OK && b.group_count > 0 )
        {
            result = find_quantiles( &b );
            if ( result == CLV_OK )
            {
                cut_groups( &b, into );
            }
        }
    }
    CLV_ASSERT( result != CLV_OK || into->cuts.count + 1 == (uint64_t)space->process_count );
    close_bisection( &b );
    return result;
}
