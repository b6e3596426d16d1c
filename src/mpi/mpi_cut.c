// SPDX-License-Identifier: MIT
// Space is cut anew for the objects there are: by our own bisection, or by Zoltan where the library was built
// with it.
#include "base/assertion.h"
#include "base/bits.h"
#include "mpi_state.h"

// ---- points

bool clv_mpi_points_open( mpi_points* points, base_memory* memory, uint64_t count )
{
    *points = ( mpi_points ){ .count = count };
    points->at = clv_base_memory_take( memory, count, sizeof( clv_vec3 ) );
    points->weights = clv_base_memory_take( memory, count, sizeof( uint64_t ) );
    return count == 0 || ( points->at != NULL && points->weights != NULL );
}

void clv_mpi_points_set( mpi_points* points, uint64_t index, const clv_aabb* box )
{
    CLV_ASSERT( index < points->count );
    points->at[index] = clv_mpi_box_middle( box );
    points->weights[index] = CLV_MPI_POINT_WEIGHT;
}

void clv_mpi_points_close( mpi_points* points, base_memory* memory )
{
    clv_base_memory_give( memory, points->at, points->count, sizeof( clv_vec3 ) );
    clv_base_memory_give( memory, points->weights, points->count, sizeof( uint64_t ) );
    *points = ( mpi_points ){ 0 };
}

// ---- bisection

// Recursive coordinate bisection (M. J. Berger, S. H. Bokhari, A partitioning strategy for nonuniform
// problems on multiprocessors, IEEE Transactions on Computers C-36, 1987) over points that lie on many
// processes. All groups of a level are cut at once. The place of a cut is found on the scale of the floats'
// bits, eight bits at a time, so that a few points far away cost nothing and four reductions per level are
// enough. Weights are whole numbers: every process gets the same sums, to the bit.

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
    const mpi_points* points;
    uint32_t* group_of; ///< by point; SLOT_NONE: its process is known
    group *groups, *next_groups;
    uint32_t group_count;
    uint64_t *bins, *all_bins;
} bisection;

static uint32_t key_of( clv_vec3 point, int axis )
{
    float value = mpi_on_axis( point, axis );
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
    for ( uint64_t i = 0; i < b->points->count; ++i )
    {
        uint32_t at = b->group_of[i];
        CLV_ASSERT( at == SLOT_NONE || at < b->group_count );
        for ( int axis = 0; at != SLOT_NONE && axis < 3; ++axis )
        {
            uint32_t key = key_of( b->points->at[i], axis );
            for ( int q = 0; q < QUANTILES; ++q )
            {
                bool is_near = round == 0 || key >> ( shift + 8 ) == b->groups[at].prefix[axis][q];
                bins_of( b->bins, at, axis, q )[key >> shift & 0xFF] += is_near ? b->points->weights[i] : 0;
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
        count_bins( b, round );
        if ( !clv_mpi_reduce( space, b->bins, b->all_bins, bin_count( b ), MPI_UINT64_T, MPI_SUM ) )
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

// The axis of the same cut in the regions as they are; -1: space was not cut yet. Its place in the tree
// depends on the number of processes alone.
static int axis_before( const bisection* b, int32_t cut )
{
    const mpi_regions* regions = &b->space->partition.regions;
    bool has_one = (uint64_t)cut < regions->cuts.count && regions->cuts.items[cut].at > -INFINITY;
    return has_one ? regions->cuts.items[cut].axis : -1;
}

// Along the axis on which most of the points are spread furthest; or along the one of the last time while
// that is nearly as long: another one gives most of the objects to other processes.
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
        return 0; // no points there: any finite place
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
    for ( uint64_t i = 0; i < b->points->count; ++i )
    {
        if ( b->group_of[i] != SLOT_NONE )
        {
            const mpi_cut* cut = &into->cuts.items[first_cut + b->group_of[i]];
            float value = mpi_on_axis( b->points->at[i], cut->axis );
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
    for ( uint64_t i = 0; i < b->points->count; ++i )
    {
        b->group_of[i] = b->group_of[i] != SLOT_NONE ? index[b->group_of[i]] : SLOT_NONE;
    }
}

static bool open_bisection( bisection* b )
{
    base_memory* memory = &b->space->memory;
    uint64_t groups = (uint64_t)b->space->process_count / 2 + 1;
    b->group_of = clv_base_memory_take( memory, b->points->count, sizeof( uint32_t ) );
    b->groups = clv_base_memory_take( memory, groups, sizeof( group ) );
    b->next_groups = clv_base_memory_take( memory, groups, sizeof( group ) );
    b->bins = clv_base_memory_take( memory, groups * 3 * QUANTILES * BINS, sizeof( uint64_t ) );
    b->all_bins = clv_base_memory_take( memory, groups * 3 * QUANTILES * BINS, sizeof( uint64_t ) );
    return ( b->group_of != NULL || b->points->count == 0 ) && b->groups != NULL && b->next_groups != NULL &&
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
    clv_base_memory_give( memory, b->group_of, b->points->count, sizeof( uint32_t ) );
    clv_base_memory_give( memory, b->groups, groups, sizeof( group ) );
    clv_base_memory_give( memory, b->next_groups, groups, sizeof( group ) );
    clv_base_memory_give( memory, b->bins, groups * 3 * QUANTILES * BINS, sizeof( uint64_t ) );
    clv_base_memory_give( memory, b->all_bins, groups * 3 * QUANTILES * BINS, sizeof( uint64_t ) );
}

clv_result clv_mpi_bisect( clv_mpi_space* space, const mpi_points* points, mpi_regions* into )
{
    bisection b = { .space = space, .points = points };
    clv_result result = clv_mpi_agree_reserved( space, open_bisection( &b ), "cutting space" );
    if ( result == CLV_OK && space->process_count > 1 )
    {
        if ( points->count > 0 )
        {
            memset( b.group_of, 0, points->count * sizeof( uint32_t ) );
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

// ---- Zoltan

// E. Boman and others, The Zoltan and Isorropia parallel toolkits for combinatorial scientific computing,
// Scientific Programming 20, 2012. Zoltan answers with a box per process; the tree of cuts is found again
// from the boxes, so that everything after it is the same for both cutters.

#ifdef CLV_HAS_ZOLTAN
#include <zoltan.h>

static int count_points( void* data, int* error )
{
    *error = ZOLTAN_OK;
    return (int)( (const mpi_points*)data )->count;
}

static void list_points( void* data, int global_words, int local_words, ZOLTAN_ID_PTR global_ids,
    ZOLTAN_ID_PTR local_ids, int weight_count, float* weights, int* error )
{
    const mpi_points* input = data;
    (void)global_words;
    (void)local_words;
    for ( uint64_t i = 0; i < input->count; ++i )
    {
        global_ids[i] = (ZOLTAN_ID_TYPE)i; // never asked for: nothing is moved by Zoltan
        local_ids[i] = (ZOLTAN_ID_TYPE)i;
        if ( weight_count > 0 )
        {
            weights[i] = (float)input->weights[i];
        }
    }
    *error = ZOLTAN_OK;
}

static int count_axes( void* data, int* error )
{
    (void)data;
    *error = ZOLTAN_OK;
    return 3;
}

static void tell_points( void* data, int global_words, int local_words, int count, ZOLTAN_ID_PTR global_ids,
    ZOLTAN_ID_PTR local_ids, int axis_count, double* coordinates, int* error )
{
    const mpi_points* input = data;
    (void)global_words;
    (void)local_words;
    (void)global_ids;
    (void)axis_count;
    for ( int i = 0; i < count; ++i )
    {
        clv_vec3 point = input->at[local_ids[i]];
        coordinates[3 * i] = (double)point.x;
        coordinates[3 * i + 1] = (double)point.y;
        coordinates[3 * i + 2] = (double)point.z;
    }
    *error = ZOLTAN_OK;
}

/// The box of one process, by axis.
typedef struct zoltan_box
{
    double lower[3], upper[3];
} zoltan_box;

// A cut that no box of the group crosses, with boxes on both sides. Boxes that bisection made always have
// one.
static bool find_cut( const zoltan_box* boxes, const int32_t* ranks, int32_t count, int* axis, double* at )
{
    for ( int32_t candidate = 0; candidate < count * 3; ++candidate )
    {
        *axis = candidate % 3;
        *at = boxes[ranks[candidate / 3]].upper[*axis];
        int32_t left = 0, right = 0;
        for ( int32_t i = 0; i < count; ++i )
        {
            const zoltan_box* box = &boxes[ranks[i]];
            left += box->upper[*axis] <= *at;
            right += box->lower[*axis] >= *at;
        }
        // A box without an extent may be on either side: left.
        if ( left > 0 && left < count && left + right >= count )
        {
            return true;
        }
    }
    return false;
}

static int32_t split_ranks( const zoltan_box* boxes, int32_t* ranks, int32_t count, int axis, double at )
{
    int32_t left = 0;
    for ( int32_t i = 0; i < count; ++i )
    {
        if ( boxes[ranks[i]].upper[axis] <= at )
        {
            int32_t other = ranks[left];
            ranks[left++] = ranks[i];
            ranks[i] = other;
        }
    }
    return left;
}

static float narrow_cut( double at )
{
    return at > 3.4028234e38 ? 3.4028234e38f : at < -3.4028234e38 ? -3.4028234e38f : (float)at;
}

// From boxes to cuts: groups of ranks, each cut in two, breadth first so that parents come before their
// children.
static bool boxes_to_cuts( clv_mpi_space* space, const zoltan_box* boxes, mpi_regions* into )
{
    int32_t* ranks = space->exchange.ranks;
    int32_t *firsts = space->exchange.send_words,
            *counts = space->exchange.send_starts; // scratch, one per process
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        ranks[r] = r;
    }
    uint64_t made = 1;
    firsts[0] = 0;
    counts[0] = space->process_count;
    for ( uint64_t i = 0; i < made; ++i )
    {
        int axis = 0;
        double at = 0;
        int32_t first = firsts[i], count = counts[i];
        if ( !find_cut( boxes, ranks + first, count, &axis, &at ) )
        {
            return false;
        }
        int32_t left = split_ranks( boxes, ranks + first, count, axis, at );
        CLV_ASSERT( left > 0 && left < count );
        mpi_cut* cut = &into->cuts.items[i];
        *cut = ( mpi_cut ){
            .at = narrow_cut( at ), .axis = axis, .left = ~ranks[first], .right = ~ranks[first + left]
        };
        const int32_t sides[2][2] = { { first, left }, { first + left, count - left } };
        for ( int side = 0; side < 2; ++side )
        {
            if ( sides[side][1] > 1 )
            {
                firsts[made] = sides[side][0];
                CLV_ASSERT( made + 1 < (uint64_t)space->process_count );
                counts[made] = sides[side][1];
                *( side == 0 ? &cut->left : &cut->right ) = (int32_t)made++;
            }
        }
    }
    into->cuts.count = made;
    CLV_ASSERT( made + 1 == (uint64_t)space->process_count );
    return true;
}

static bool ask_zoltan( struct Zoltan_Struct* zoltan, const mpi_points* input )
{
    Zoltan_Set_Param( zoltan, "DEBUG_LEVEL", "0" );
    Zoltan_Set_Param( zoltan, "LB_METHOD", "RCB" );
    Zoltan_Set_Param( zoltan, "KEEP_CUTS", "1" );
    Zoltan_Set_Param( zoltan, "RETURN_LISTS", "NONE" );
    Zoltan_Set_Param( zoltan, "NUM_GID_ENTRIES", "1" );
    Zoltan_Set_Param( zoltan, "NUM_LID_ENTRIES", "1" );
    Zoltan_Set_Param( zoltan, "OBJ_WEIGHT_DIM", "1" );
    void* data = (void*)(uintptr_t)input;
    Zoltan_Set_Num_Obj_Fn( zoltan, count_points, data );
    Zoltan_Set_Obj_List_Fn( zoltan, list_points, data );
    Zoltan_Set_Num_Geom_Fn( zoltan, count_axes, data );
    Zoltan_Set_Geom_Multi_Fn( zoltan, tell_points, data );
    int changes = 0, global_words = 0, local_words = 0, imports = 0, exports = 0;
    ZOLTAN_ID_PTR import_globals = NULL, import_locals = NULL, export_globals = NULL, export_locals = NULL;
    int *import_ranks = NULL, *import_parts = NULL, *export_ranks = NULL, *export_parts = NULL;
    int answer = Zoltan_LB_Partition( zoltan, &changes, &global_words, &local_words, &imports,
        &import_globals, &import_locals, &import_ranks, &import_parts, &exports, &export_globals,
        &export_locals, &export_ranks, &export_parts );
    return answer == ZOLTAN_OK || answer == ZOLTAN_WARN;
}

static bool read_boxes( struct Zoltan_Struct* zoltan, zoltan_box* boxes, int32_t count )
{
    for ( int32_t r = 0; r < count; ++r )
    {
        int axes = 0;
        zoltan_box* box = &boxes[r];
        if ( Zoltan_RCB_Box( zoltan, r, &axes, &box->lower[0], &box->lower[1], &box->lower[2], &box->upper[0],
                 &box->upper[1], &box->upper[2] ) != ZOLTAN_OK )
        {
            return false;
        }
    }
    return true;
}

bool clv_mpi_has_zoltan( void )
{
    return true;
}

static clv_result cut_by_zoltan( clv_mpi_space* space, const mpi_points* points, mpi_regions* into )
{
    float version;
    uint64_t processes = (uint64_t)space->process_count;
    struct Zoltan_Struct* zoltan = NULL;
    zoltan_box* boxes = clv_base_memory_take( &space->memory, processes, sizeof( zoltan_box ) );
    bool ok =
        boxes != NULL && points->count <= INT32_MAX && Zoltan_Initialize( 0, NULL, &version ) == ZOLTAN_OK;
    // Its calls are collective: all processes make each of them, or none does.
    clv_result result = clv_mpi_agree_reserved( space, ok, "Zoltan" );
    if ( result == CLV_OK )
    {
        zoltan = Zoltan_Create( space->net.all );
        result = clv_mpi_agree_reserved( space, zoltan != NULL, "Zoltan" );
    }
    if ( result == CLV_OK )
    {
        ok = ask_zoltan( zoltan, points ) && read_boxes( zoltan, boxes, space->process_count ) &&
            boxes_to_cuts( space, boxes, into );
        result = clv_mpi_agree(
            space, ok ? CLV_OK : clv_mpi_fail( space, CLV_UNSUPPORTED, "Zoltan could not cut space" ) );
    }
    if ( zoltan != NULL )
    {
        Zoltan_Destroy( &zoltan );
    }
    clv_base_memory_give( &space->memory, boxes, processes, sizeof( zoltan_box ) );
    return result;
}

#else

bool clv_mpi_has_zoltan( void )
{
    return false;
}

static clv_result cut_by_zoltan( clv_mpi_space* space, const mpi_points* points, mpi_regions* into )
{
    (void)points;
    (void)into;
    return clv_mpi_fail( space, CLV_UNSUPPORTED, "this library was built without Zoltan" );
}

#endif

// ---- a cut

clv_result clv_mpi_cut_points( clv_mpi_space* space, const mpi_points* points, mpi_regions* into )
{
    bool by_zoltan = space->def.cutter == CLV_MPI_CUT_ZOLTAN ||
        ( space->def.cutter == CLV_MPI_CUT_AUTO && clv_mpi_has_zoltan() );
    mpi_wire* wire = &space->net.wire;
    wire->own[0] = points->count;
    wire->sums[0] = 0;
    if ( by_zoltan && !clv_mpi_reduce( space, wire->own, wire->sums, 1, MPI_UINT64_T, MPI_SUM ) )
    {
        return CLV_LOST;
    }
    // Zoltan cannot cut without any points, nor where all points are equal; it reports the latter on all
    // processes.
    clv_result result =
        by_zoltan && wire->sums[0] > 0 ? cut_by_zoltan( space, points, into ) : CLV_UNSUPPORTED;
    return result == CLV_UNSUPPORTED ? clv_mpi_bisect( space, points, into ) : result;
}

clv_result clv_mpi_cut( clv_mpi_space* space )
{
    if ( space->process_count == 1 )
    {
        return CLV_OK;
    }
    CLV_ASSERT( !space->slots.own_is_stale );
    clv_mpi_boxes_fetch( space );
    base_memory* memory = &space->memory;
    mpi_points points;
    mpi_regions fresh;
    bool fits = clv_mpi_points_open( &points, memory, space->slots.own.count );
    fits &= clv_mpi_regions_open( &fresh, memory, space->process_count );
    for ( uint64_t i = 0; fits && i < points.count; ++i )
    {
        clv_mpi_points_set( &points, i, &space->columns.boxes.items[space->slots.own.items[i]] );
    }
    fits = fits && clv_mpi_weigh_objects( space, points.weights );
    clv_result result = clv_mpi_agree_reserved( space, fits, "cutting space" );
    result = result == CLV_OK ? clv_mpi_cut_points( space, &points, &fresh ) : result;
    if ( result == CLV_OK )
    {
        CLV_ASSERT( fresh.cuts.count + 1 == (uint64_t)space->process_count );
        clv_mpi_regions_copy( &space->partition.regions, &fresh );
        memset( space->net.sends_to, 0, (size_t)space->process_count );
        space->partition.updates_since_cut = 0;
        space->stats.was_cut = true;
        space->stats.cut_count += 1;
    }
    if ( space->is_lost )
    {
        return CLV_LOST; // messages under way may still be read and written
    }
    clv_mpi_regions_close( &fresh, memory );
    clv_mpi_points_close( &points, memory );
    return result;
}
