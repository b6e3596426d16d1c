// SPDX-License-Identifier: MIT
#include "mpi_support.h"

int g_mpi_rank, g_mpi_count;
char g_mpi_case[200];

void mpi_test_begin( int* argc, char*** argv )
{
    int given = 0;
    MPI_Init_thread( argc, argv, MPI_THREAD_FUNNELED, &given );
    MPI_Comm_rank( MPI_COMM_WORLD, &g_mpi_rank );
    MPI_Comm_size( MPI_COMM_WORLD, &g_mpi_count );
}

void mpi_test_case( const char* name )
{
    snprintf( g_mpi_case, sizeof( g_mpi_case ), "%s", name );
}

// ---- chance

uint64_t mpi_dice_next( mpi_dice* dice )
{
    uint64_t x = dice->state += 0x9E3779B97F4A7C15u;
    x = ( x ^ x >> 30 ) * 0xBF58476D1CE4E5B9u;
    x = ( x ^ x >> 27 ) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

uint32_t mpi_dice_below( mpi_dice* dice, uint32_t end )
{
    return (uint32_t)( mpi_dice_next( dice ) % end );
}

float mpi_dice_between( mpi_dice* dice, float low, float high )
{
    return low + ( high - low ) * (float)( mpi_dice_next( dice ) >> 40 ) * ( 1.0f / 16777216.0f );
}

clv_aabb mpi_cube( float x, float y, float z, float half )
{
    clv_aabb box = { { x - half, y - half, z - half }, { x + half, y + half, z + half } };
    return box;
}

// ---- memory

static void* take( size_t size, size_t alignment, void* user )
{
    mpi_purse* purse = user;
    purse->count += 1;
    if ( purse->refuse_at != 0 && purse->count >= purse->refuse_at )
    {
        purse->was_refused = true;
        return NULL;
    }
    purse->held += size;
    return aligned_alloc( alignment, ( size + alignment - 1 ) / alignment * alignment );
}

static void give( void* memory, size_t size, size_t alignment, void* user )
{
    mpi_purse* purse = user;
    (void)alignment;
    purse->held -= size;
    free( memory );
}

clv_allocator mpi_purse_allocator( mpi_purse* purse )
{
    return ( clv_allocator ){ take, give, purse };
}
