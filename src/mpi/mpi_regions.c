// SPDX-License-Identifier: MIT
// Regions as a tree of cuts.
#include "mpi_regions.h"
#include "base/assertion.h"
#include "mpi_state.h"

#include <float.h>

static float* face_of( clv_vec3* corner, int32_t axis )
{
    return axis == 0 ? &corner->x : axis == 1 ? &corner->y : &corner->z;
}

// Until space is cut all of it belongs to the last process: the others get what lies before the first of the
// floats.
static void cut_nothing( mpi_regions* regions )
{
    int32_t count = regions->process_count;
    for ( int32_t i = 0; i + 1 < count; ++i )
    {
        int32_t right = i + 2 < count ? i + 1 : ~( i + 1 );
        regions->cuts.items[i] = ( mpi_cut ){ .at = -INFINITY, .axis = 0, .left = ~i, .right = right };
    }
    regions->cuts.count = (uint64_t)count - 1;
    clv_mpi_regions_finish( regions );
}

bool clv_mpi_regions_open( mpi_regions* regions, base_memory* memory, int32_t process_count )
{
    *regions = ( mpi_regions ){ .process_count = process_count };
    uint64_t count = (uint64_t)process_count;
    regions->stack = clv_base_memory_take( memory, count, sizeof( int32_t ) );
    regions->bounds = clv_base_memory_take( memory, count, sizeof( clv_mpi_region ) );
    regions->cut_bounds = clv_base_memory_take( memory, count, sizeof( clv_mpi_region ) );
    if ( regions->stack == NULL || regions->bounds == NULL || regions->cut_bounds == NULL ||
        !base_array_reserve( &regions->cuts, memory, count ) )
    {
        clv_mpi_regions_close( regions, memory );
        return false;
    }
    cut_nothing( regions );
    return true;
}

void clv_mpi_regions_close( mpi_regions* regions, base_memory* memory )
{
    uint64_t count = (uint64_t)regions->process_count;
    clv_base_memory_give( memory, regions->stack, count, sizeof( int32_t ) );
    clv_base_memory_give( memory, regions->bounds, count, sizeof( clv_mpi_region ) );
    clv_base_memory_give( memory, regions->cut_bounds, count, sizeof( clv_mpi_region ) );
    base_array_free( &regions->cuts, memory );
    *regions = ( mpi_regions ){ 0 };
}

void clv_mpi_regions_copy( mpi_regions* to, const mpi_regions* from )
{
    CLV_ASSERT( to->process_count == from->process_count );
    CLV_ASSERT( from->cuts.count <= to->cuts.capacity );
    memcpy( to->cuts.items, from->cuts.items, from->cuts.count * sizeof( mpi_cut ) );
    to->cuts.count = from->cuts.count;
    clv_mpi_regions_finish( to );
}

void clv_mpi_regions_finish( mpi_regions* regions )
{
    const clv_mpi_region all = { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
    CLV_ASSERT( regions->cuts.count + 1 == (uint64_t)regions->process_count );
    regions->root = regions->process_count > 1 ? 0 : ~0;
    *( regions->process_count > 1 ? &regions->cut_bounds[0] : &regions->bounds[0] ) = all;
    for ( uint64_t i = 0; i < regions->cuts.count; ++i )
    {
        const mpi_cut* cut = &regions->cuts.items[i];
        // Parents come before their children: what this cut has was written by then.
        CLV_ASSERT( cut->axis >= 0 && cut->axis < 3 && cut->at < INFINITY );
        CLV_ASSERT( cut->left < 0 ? ~cut->left < regions->process_count : (uint64_t)cut->left > i );
        CLV_ASSERT( cut->right < 0 ? ~cut->right < regions->process_count : (uint64_t)cut->right > i );
        clv_mpi_region left = regions->cut_bounds[i], right = regions->cut_bounds[i];
        // A cut beside its region leaves one side empty; that side must not get what belongs to another
        // region.
        float* upper = face_of( &left.upper, cut->axis );
        float* lower = face_of( &right.lower, cut->axis );
        *upper = cut->at < *upper ? cut->at : *upper;
        *lower = cut->at > *lower ? cut->at : *lower;
        *( cut->left < 0 ? &regions->bounds[~cut->left] : &regions->cut_bounds[cut->left] ) = left;
        *( cut->right < 0 ? &regions->bounds[~cut->right] : &regions->cut_bounds[cut->right] ) = right;
    }
    CLV_VALIDATE( clv_mpi_regions_check( regions ) == NULL );
}

int32_t clv_mpi_regions_home( const mpi_regions* regions, clv_vec3 point )
{
    int32_t at = regions->root;
    while ( at >= 0 )
    {
        CLV_ASSERT( (uint64_t)at < regions->cuts.count );
        const mpi_cut* cut = &regions->cuts.items[at];
        at = mpi_on_axis( point, cut->axis ) < cut->at ? cut->left : cut->right;
    }
    CLV_ASSERT( ~at < regions->process_count );
    return ~at;
}

uint32_t clv_mpi_regions_reach( const mpi_regions* regions, const clv_aabb* box, int32_t* ranks )
{
    uint32_t count = 0, depth = 0;
    regions->stack[depth++] = regions->root;
    while ( depth > 0 )
    {
        CLV_ASSERT( depth <= (uint32_t)regions->process_count );
        int32_t at = regions->stack[--depth];
        if ( at < 0 )
        {
            CLV_ASSERT( count < (uint32_t)regions->process_count );
            ranks[count++] = ~at;
            continue;
        }
        const mpi_cut* cut = &regions->cuts.items[at];
        // At most one more than was taken, and as many are left below as there are processes on the way: it
        // never overflows.
        if ( mpi_on_axis( box->upper, cut->axis ) >= cut->at )
        {
            regions->stack[depth++] = cut->right;
        }
        if ( mpi_on_axis( box->lower, cut->axis ) < cut->at )
        {
            regions->stack[depth++] = cut->left;
        }
    }
    return count;
}

// The last float before a face. Before the first of the floats there is none.
static bool end_before( float face, float* last )
{
    *last = face == INFINITY ? INFINITY : nextafterf( face, -INFINITY );
    return face != -INFINITY;
}

clv_aabb clv_mpi_region_inner( const clv_mpi_region* region )
{
    clv_aabb inner = { region->lower, region->upper };
    bool has_some = end_before( region->upper.x, &inner.upper.x ) &&
        end_before( region->upper.y, &inner.upper.y ) && end_before( region->upper.z, &inner.upper.z );
    const clv_aabb nothing = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    return has_some ? inner : nothing;
}

static float middle( float lower, float upper )
{
    double sum =
        (double)( lower < -FLT_MAX ? -FLT_MAX : lower ) + (double)( upper > FLT_MAX ? FLT_MAX : upper );
    double half = sum * 0.5;
    return half < -FLT_MAX ? -FLT_MAX : half > FLT_MAX ? FLT_MAX : (float)half;
}

clv_vec3 clv_mpi_box_middle( const clv_aabb* box )
{
    clv_vec3 point = { middle( box->lower.x, box->upper.x ), middle( box->lower.y, box->upper.y ),
        middle( box->lower.z, box->upper.z ) };
    return point;
}
