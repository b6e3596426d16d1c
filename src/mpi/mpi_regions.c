// SPDX-License-Identifier: MIT
// Regions as a tree of cuts; and plans, which count what more processes than there are would send.
#include "mpi_regions.h"
#include "base/assertion.h"
#include "base/bit_set.h"
#include "mpi_state.h"

#include <float.h>

static float coordinate( clv_vec3 point, int32_t axis )
{
    return axis == 0 ? point.x : axis == 1 ? point.y : point.z;
}

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
        at = coordinate( point, cut->axis ) < cut->at ? cut->left : cut->right;
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
        if ( coordinate( box->upper, cut->axis ) >= cut->at )
        {
            regions->stack[depth++] = cut->right;
        }
        if ( coordinate( box->lower, cut->axis ) < cut->at )
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

// ---- plans

static uint64_t link_words( const mpi_plan* plan )
{
    uint64_t count = (uint64_t)plan->process_count;
    return count <= PLAN_LINKS_MOST ? base_bits_words( count * count ) : 0;
}

void clv_mpi_plan_close( mpi_plan* plan )
{
    base_memory* memory = &plan->memory;
    uint64_t count = (uint64_t)plan->process_count;
    clv_base_memory_give( memory, plan->processes, count, sizeof( mpi_plan_process ) );
    clv_base_memory_give( memory, plan->ranks, count, sizeof( int32_t ) );
    clv_base_memory_give( memory, plan->links, link_words( plan ), sizeof( uint64_t ) );
    clv_mpi_regions_close( &plan->regions, memory );
    *plan = ( mpi_plan ){ 0 };
}

static bool make_room( mpi_plan* plan )
{
    base_memory* memory = &plan->memory;
    uint64_t count = (uint64_t)plan->process_count, words = link_words( plan );
    plan->processes = clv_base_memory_take( memory, count, sizeof( mpi_plan_process ) );
    plan->ranks = clv_base_memory_take( memory, count, sizeof( int32_t ) );
    plan->links = clv_base_memory_take( memory, words, sizeof( uint64_t ) );
    bool ok = plan->processes != NULL && plan->ranks != NULL && ( plan->links != NULL || words == 0 ) &&
        clv_mpi_regions_open( &plan->regions, memory, plan->process_count );
    if ( ok )
    {
        memset( plan->processes, 0, count * sizeof( mpi_plan_process ) );
        if ( words > 0 ) // else there is no memory at all
        {
            memset( plan->links, 0, words * sizeof( uint64_t ) );
        }
    }
    return ok;
}

// The bisection of an update, for a space that has nothing but its number of processes.
static clv_result cut_plan( mpi_plan* plan, clv_mpi_space* space, const clv_aabb* boxes, uint64_t count )
{
    mpi_points points;
    bool fits = clv_mpi_points_open( &points, &plan->memory, count );
    for ( uint64_t i = 0; fits && i < count; ++i )
    {
        clv_mpi_points_set( &points, i, &boxes[i] );
    }
    clv_result result = clv_mpi_agree_reserved( space, fits, "planning" );
    if ( result == CLV_OK && plan->process_count > 1 )
    {
        result = clv_mpi_bisect( space, &points, &plan->regions );
        clv_mpi_regions_finish( &plan->regions );
    }
    clv_mpi_points_close( &points, &plan->memory );
    return result;
}

clv_result clv_mpi_plan_open(
    mpi_plan* plan, MPI_Comm comm, int32_t process_count, const clv_aabb* boxes, uint64_t count )
{
    *plan = ( mpi_plan ){ .memory = clv_base_memory_make( ( clv_allocator ){ 0 } ),
        .process_count = process_count,
        .wide = clv_default_mpi_def().wide };
    clv_mpi_space space = { .net = { .all = comm }, .process_count = process_count, .memory = plan->memory };
    int rank = 0;
    MPI_Comm_rank( comm, &rank );
    space.rank = rank;
    clv_result result = clv_mpi_agree_reserved( &space, make_room( plan ), "planning" );
    result = result == CLV_OK ? cut_plan( plan, &space, boxes, count ) : result;
    if ( result != CLV_OK )
    {
        clv_mpi_plan_close( plan );
    }
    return result;
}

// The owner of a box: the process whose region holds its middle, or the first that it reaches.
static int32_t owner_of( mpi_plan* plan, const clv_aabb* box, uint32_t* reached )
{
    int32_t owner = clv_mpi_regions_home( &plan->regions, clv_mpi_box_middle( box ) );
    *reached = clv_mpi_regions_reach( &plan->regions, box, plan->ranks );
    CLV_ASSERT( *reached > 0 ); // the first may become the owner
    return mpi_is_among( plan->ranks, *reached, owner ) ? owner : plan->ranks[0];
}

static void link( mpi_plan* plan, int32_t from, int32_t to )
{
    if ( plan->links != NULL )
    {
        CLV_ASSERT( from >= 0 && from < plan->process_count && to >= 0 && to < plan->process_count );
        base_bits_add( plan->links, (uint32_t)to * (uint32_t)plan->process_count + (uint32_t)from );
    }
}

// As address_one of mpi_send.c does it, where nothing is remembered.
static void count_one( mpi_plan* plan, const clv_aabb* before, const clv_aabb* now )
{
    uint32_t reached = 0;
    int32_t sender = owner_of( plan, before, &reached );
    int32_t owner = owner_of( plan, now, &reached );
    CLV_ASSERT( sender >= 0 && sender < plan->process_count && owner >= 0 && owner < plan->process_count );
    mpi_plan_process* from = &plan->processes[sender];
    const clv_mpi_space plain = { 0 };
    const uint64_t words = clv_mpi_record_words( &plain, 0 );
    bool is_wide = reached > plan->wide;
    plan->processes[owner].own += 1;
    from->going += owner != sender;
    from->wide += is_wide;
    from->bytes += is_wide ? words * sizeof( uint64_t ) * ( (uint64_t)plan->process_count - 1 ) : 0;
    for ( uint32_t i = 0; i < reached; ++i )
    {
        int32_t to = plan->ranks[i];
        bool is_owner = to == owner && owner != sender;
        plan->processes[to].ghosts += to != sender;
        if ( to != sender && ( !is_wide || is_owner ) )
        {
            from->records += 1;
            from->bytes += clv_mpi_record_words( &plain, is_owner ? RECORD_OWNED : 0 ) * sizeof( uint64_t );
            link( plan, sender, to );
        }
    }
}

void clv_mpi_plan_count( mpi_plan* plan, const clv_aabb* before, const clv_aabb* now, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        // Most boxes lie inside a region where they were: one walk down tells.
        int32_t home = clv_mpi_regions_home( &plan->regions, before[i].lower );
        const clv_mpi_region* region = &plan->regions.bounds[home];
        if ( mpi_region_holds( region, before[i].upper ) && mpi_region_holds( region, now[i].lower ) &&
            mpi_region_holds( region, now[i].upper ) )
        {
            plan->processes[home].own += 1;
            continue;
        }
        count_one( plan, &before[i], &now[i] );
    }
}

void clv_mpi_plan_sum( mpi_plan* plan, MPI_Comm comm )
{
    int words = (int)( sizeof( mpi_plan_process ) / sizeof( uint64_t ) ) * plan->process_count;
    MPI_Allreduce( MPI_IN_PLACE, plan->processes, words, MPI_UINT64_T, MPI_SUM, comm );
    if ( plan->links != NULL )
    {
        MPI_Allreduce( MPI_IN_PLACE, plan->links, (int)link_words( plan ), MPI_UINT64_T, MPI_BOR, comm );
    }
}

uint32_t clv_mpi_plan_neighbours( const mpi_plan* plan, int32_t process )
{
    CLV_ASSERT( process >= 0 && process < plan->process_count );
    uint32_t count = 0;
    uint64_t processes = (uint64_t)plan->process_count, first = (uint64_t)process * processes;
    for ( uint64_t bit = first; plan->links != NULL && bit < first + processes; ++bit )
    {
        count += base_bits_has( plan->links, (uint32_t)bit );
    }
    return count;
}
