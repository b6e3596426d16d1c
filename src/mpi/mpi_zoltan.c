// SPDX-License-Identifier: MIT
// Cuts by Zoltan (E. Boman and others, The Zoltan and Isorropia parallel toolkits for combinatorial scientific computing, Scientific
// Programming 20, 2012), where the library was built with it. Zoltan answers with a box per part; the tree of cuts is found again
// from the boxes, so that everything after it is the same for both cutters.
#include "base/assertion.h"
#include "mpi_state.h"

#ifdef CLV_HAS_ZOLTAN
#include <zoltan.h>

typedef struct zoltan_input
{
    const clv_vec3* points;
    const uint64_t* weights;
    uint64_t count;
} zoltan_input;

static int count_points( void* data, int* error )
{
    *error = ZOLTAN_OK;
    return (int)( (const zoltan_input*)data )->count;
}

static void list_points( void* data, int global_words, int local_words, ZOLTAN_ID_PTR global_ids,
    ZOLTAN_ID_PTR local_ids, int weight_count, float* weights, int* error )
{
    const zoltan_input* input = data;
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
    const zoltan_input* input = data;
    (void)global_words;
    (void)local_words;
    (void)global_ids;
    (void)axis_count;
    for ( int i = 0; i < count; ++i )
    {
        clv_vec3 point = input->points[local_ids[i]];
        coordinates[3 * i] = (double)point.x;
        coordinates[3 * i + 1] = (double)point.y;
        coordinates[3 * i + 2] = (double)point.z;
    }
    *error = ZOLTAN_OK;
}

/// A part's box, by axis.
typedef struct part_box
{
    double lower[3], upper[3];
} part_box;

// A cut that no box of the group crosses, with boxes on both sides. Boxes that bisection made always have one.
static bool find_cut( const part_box* boxes, const int32_t* ranks, int32_t count, int* axis, double* at )
{
    for ( int32_t candidate = 0; candidate < count * 3; ++candidate )
    {
        *axis = candidate % 3;
        *at = boxes[ranks[candidate / 3]].upper[*axis];
        int32_t left = 0, right = 0;
        for ( int32_t i = 0; i < count; ++i )
        {
            const part_box* box = &boxes[ranks[i]];
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

static int32_t split_ranks( const part_box* boxes, int32_t* ranks, int32_t count, int axis, double at )
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

// From boxes to cuts: groups of ranks, each cut in two, breadth first so that parents come before their children.
static bool boxes_to_cuts( clv_mpi_space* space, const part_box* boxes, mpi_regions* into )
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

static bool ask_zoltan( struct Zoltan_Struct* zoltan, const zoltan_input* input )
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

static bool read_boxes( struct Zoltan_Struct* zoltan, part_box* boxes, int32_t count )
{
    for ( int32_t r = 0; r < count; ++r )
    {
        int axes = 0;
        part_box* box = &boxes[r];
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

clv_result clv_mpi_zoltan(
    clv_mpi_space* space, const clv_vec3* points, const uint64_t* weights, uint64_t count, mpi_regions* into )
{
    float version;
    part_box* boxes =
        clv_base_memory_take( &space->memory, (uint64_t)space->process_count, sizeof( part_box ) );
    zoltan_input input = { points, weights, count };
    bool ok = boxes != NULL && count <= INT32_MAX && Zoltan_Initialize( 0, NULL, &version ) == ZOLTAN_OK;
    // All or nobody asks it: its calls are collective, the first as the last.
    clv_result early = clv_mpi_agree( space,
        ok ? CLV_OK : clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for Zoltan" ) );
    if ( early != CLV_OK )
    {
        clv_base_memory_give( &space->memory, boxes, (uint64_t)space->process_count, sizeof( part_box ) );
        return early;
    }
    struct Zoltan_Struct* zoltan = Zoltan_Create( space->net.all );
    clv_result result = clv_mpi_agree( space,
        zoltan != NULL ? CLV_OK
                       : clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for Zoltan" ) );
    if ( result == CLV_OK )
    {
        ok = ask_zoltan( zoltan, &input ) && read_boxes( zoltan, boxes, space->process_count ) &&
            boxes_to_cuts( space, boxes, into );
        result = clv_mpi_agree( space,
            ok ? CLV_OK : clv_mpi_fail( space, CLV_UNSUPPORTED, UINT32_MAX, 0, "Zoltan could not cut" ) );
    }
    if ( zoltan != NULL )
    {
        Zoltan_Destroy( &zoltan );
    }
    clv_base_memory_give( &space->memory, boxes, (uint64_t)space->process_count, sizeof( part_box ) );
    return result;
}

#else

bool clv_mpi_has_zoltan( void )
{
    return false;
}

clv_result clv_mpi_zoltan(
    clv_mpi_space* space, const clv_vec3* points, const uint64_t* weights, uint64_t count, mpi_regions* into )
{
    (void)points;
    (void)weights;
    (void)count;
    (void)into;
    return clv_mpi_fail( space, CLV_UNSUPPORTED, UINT32_MAX, 0, "this library was built without Zoltan" );
}

#endif
