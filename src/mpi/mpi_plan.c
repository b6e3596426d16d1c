// SPDX-License-Identifier: MIT
#include "mpi_plan.h"
#include "base/assertion.h"
#include "mpi_state.h"

#include "base/bit_set.h"

static uint64_t link_words( const mpi_plan* plan )
{
    uint64_t count = (uint64_t)plan->process_count;
    return count <= PLAN_LINKS_MOST ? base_bits_words( count * count ) : 0;
}

void clv_mpi_plan_close( mpi_plan* plan )
{
    base_memory* memory = &plan->memory;
    uint64_t count = (uint64_t)plan->process_count;
    clv_base_memory_give( memory, plan->shares, count, sizeof( mpi_plan_process ) );
    clv_base_memory_give( memory, plan->ranks, count, sizeof( int32_t ) );
    clv_base_memory_give( memory, plan->links, link_words( plan ), sizeof( uint64_t ) );
    if ( plan->regions.process_count > 0 )
    {
        clv_mpi_regions_close( &plan->regions, memory );
    }
    *plan = ( mpi_plan ){ 0 };
}

static bool make_room( mpi_plan* plan )
{
    base_memory* memory = &plan->memory;
    uint64_t count = (uint64_t)plan->process_count, words = link_words( plan );
    plan->shares = clv_base_memory_take( memory, count, sizeof( mpi_plan_process ) );
    plan->ranks = clv_base_memory_take( memory, count, sizeof( int32_t ) );
    plan->links = clv_base_memory_take( memory, words, sizeof( uint64_t ) );
    bool ok = plan->shares != NULL && plan->ranks != NULL && ( plan->links != NULL || words == 0 ) &&
        clv_mpi_regions_open( &plan->regions, memory, plan->process_count );
    if ( ok )
    {
        memset( plan->shares, 0, count * sizeof( mpi_plan_process ) );
        if ( words > 0 ) // else there is no memory at all
        {
            memset( plan->links, 0, words * sizeof( uint64_t ) );
        }
    }
    return ok;
}

// The bisection of an update, for a space that has nothing but its number of processes.
static clv_result cut( mpi_plan* plan, clv_mpi_space* space, const clv_aabb* boxes, uint64_t count )
{
    base_memory* memory = &plan->memory;
    clv_vec3* points = clv_base_memory_take( memory, count, sizeof( clv_vec3 ) );
    uint64_t* weights = clv_base_memory_take( memory, count, sizeof( uint64_t ) );
    bool fits = count == 0 || ( points != NULL && weights != NULL );
    for ( uint64_t i = 0; fits && i < count; ++i )
    {
        points[i] = clv_mpi_box_middle( &boxes[i] );
        weights[i] = 256;
    }
    clv_result result = clv_mpi_agree(
        space, fits ? CLV_OK : clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory to plan" ) );
    if ( result == CLV_OK && plan->process_count > 1 )
    {
        result = clv_mpi_bisect( space, points, weights, count, &plan->regions );
        clv_mpi_regions_finish( &plan->regions );
    }
    clv_base_memory_give( memory, points, count, sizeof( clv_vec3 ) );
    clv_base_memory_give( memory, weights, count, sizeof( uint64_t ) );
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
    clv_result mine = make_room( plan )
        ? CLV_OK
        : clv_mpi_fail( &space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory to plan" );
    clv_result result = clv_mpi_agree( &space, mine );
    result = result == CLV_OK ? cut( plan, &space, boxes, count ) : result;
    if ( result != CLV_OK )
    {
        clv_mpi_plan_close( plan );
    }
    return result;
}

// Who owns a box: whose region holds its middle, or whoever it reaches first.
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

// As address_one of mpi_letters.c does it, where nothing is remembered.
static void count_one( mpi_plan* plan, const clv_aabb* before, const clv_aabb* now )
{
    uint32_t reached = 0;
    int32_t sender = owner_of( plan, before, &reached );
    int32_t owner = owner_of( plan, now, &reached );
    CLV_ASSERT( sender >= 0 && sender < plan->process_count && owner >= 0 && owner < plan->process_count );
    mpi_plan_process* share = &plan->shares[sender];
    const clv_mpi_space plain = { 0 };
    const uint64_t words = clv_mpi_record_words( &plain, 0 );
    bool is_wide = reached > plan->wide;
    plan->shares[owner].own += 1;
    share->going += owner != sender;
    share->wide += is_wide;
    share->bytes += is_wide ? words * sizeof( uint64_t ) * ( (uint64_t)plan->process_count - 1 ) : 0;
    for ( uint32_t i = 0; i < reached; ++i )
    {
        int32_t to = plan->ranks[i];
        bool is_owner = to == owner && owner != sender;
        plan->shares[to].ghosts += to != sender;
        if ( to != sender && ( !is_wide || is_owner ) )
        {
            share->letters += 1;
            share->bytes += clv_mpi_record_words( &plain, is_owner ? RECORD_OWNED : 0 ) * sizeof( uint64_t );
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
            plan->shares[home].own += 1;
            continue;
        }
        count_one( plan, &before[i], &now[i] );
    }
}

void clv_mpi_plan_sum( mpi_plan* plan, MPI_Comm comm )
{
    int words = (int)( sizeof( mpi_plan_process ) / sizeof( uint64_t ) ) * plan->process_count;
    MPI_Allreduce( MPI_IN_PLACE, plan->shares, words, MPI_UINT64_T, MPI_SUM, comm );
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
