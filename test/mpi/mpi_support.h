// SPDX-License-Identifier: MIT
// What the tests over processes share: checks that name the process, chance that is the same on all of them,
// memory that may be refused.
#pragma once

#include "cleave/cleave.h"
#include "cleave/mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int g_mpi_rank, g_mpi_count;
extern char g_mpi_case[200]; ///< what a failed check names

/// Starts MPI, and learns who this is.
void mpi_test_begin( int* argc, char*** argv );
void mpi_test_case( const char* name );

#define CHECK( condition )                                                                                   \
    do                                                                                                       \
    {                                                                                                        \
        if ( !( condition ) )                                                                                \
        {                                                                                                    \
            fprintf( stderr, "%s:%d: process %d of %d: %s: %s\n", __FILE__, __LINE__, g_mpi_rank,            \
                g_mpi_count, g_mpi_case, #condition );                                                       \
            fflush( NULL );                                                                                  \
            MPI_Abort( MPI_COMM_WORLD, 1 );                                                                  \
        }                                                                                                    \
    } while ( 0 )

#define CHECK_OK( space, call )                                                                              \
    do                                                                                                       \
    {                                                                                                        \
        clv_result check_result = ( call );                                                                  \
        if ( check_result != CLV_OK )                                                                        \
        {                                                                                                    \
            fprintf( stderr, "%s:%d: process %d of %d: %s: %s: %s\n", __FILE__, __LINE__, g_mpi_rank,        \
                g_mpi_count, g_mpi_case, clv_result_name( check_result ),                                    \
                ( space ) != NULL ? clv_mpi_space_error( space ).text : "" );                                \
            fflush( NULL );                                                                                  \
            MPI_Abort( MPI_COMM_WORLD, 1 );                                                                  \
        }                                                                                                    \
    } while ( 0 )

typedef struct mpi_dice
{
    uint64_t state;
} mpi_dice;

uint64_t mpi_dice_next( mpi_dice* dice );
uint32_t mpi_dice_below( mpi_dice* dice, uint32_t end );
float mpi_dice_between( mpi_dice* dice, float low, float high );

clv_aabb mpi_cube( float x, float y, float z, float half );

/// Memory that may be refused: from the refuse_at-th allocation on, 0 never.
typedef struct mpi_purse
{
    uint64_t count, refuse_at, held;
    bool was_refused;
} mpi_purse;

/// An allocator that asks the purse.
clv_allocator mpi_purse_allocator( mpi_purse* purse );
