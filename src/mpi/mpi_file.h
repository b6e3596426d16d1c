// SPDX-License-Identifier: MIT
// Files of a checkpoint: written beside their place and renamed when they are whole, read at 64-bit offsets, little-endian, with
// checksums. What goes wrong is kept in `reason`, with the offset where there is one.
#pragma once

#include "cleave/base.h"
#include "cleave/geom.h"

#include <stdio.h>
#include <string.h>

enum
{
    FILE_PATH_ROOM = 4096 + 64,
    FILE_REASON_ROOM = 160,
};

typedef struct mpi_file
{
    FILE* stream;
    uint64_t at;                   ///< where the next byte goes
    char path[FILE_PATH_ROOM];     ///< its place
    char beside[FILE_PATH_ROOM];   ///< where it is written first; empty while it is only read
    char reason[FILE_REASON_ROOM]; ///< why the last call failed
} mpi_file;

/// Sums of 64-bit words, each mixed in by a bijection: one word that is another always gives another sum. `size` is a multiple of 8.
uint64_t clv_mpi_file_sum( uint64_t seed, const uint8_t* bytes, uint64_t size );

// Writing. False: it failed, `reason` says why, and what was beside is gone.

bool clv_mpi_file_create( mpi_file* file, const char* path );
bool clv_mpi_file_write( mpi_file* file, const uint8_t* bytes, uint64_t size );

/// On the disk, and renamed to its place.
bool clv_mpi_file_finish( mpi_file* file );

/// Nothing of it stays. Legal after a failure.
void clv_mpi_file_abandon( mpi_file* file );

// Reading.

bool clv_mpi_file_open( mpi_file* file, const char* path );
bool clv_mpi_file_size( mpi_file* file, uint64_t* size );
bool clv_mpi_file_read( mpi_file* file, uint64_t offset, uint8_t* bytes, uint64_t size );
void clv_mpi_file_close( mpi_file* file );

/// Is there no such file at all?
bool clv_mpi_file_is_missing( const char* path );

/// A number that another save does not have.
uint64_t clv_mpi_file_unique( void );

static inline uint8_t* mpi_put_u32( uint8_t* to, uint32_t value )
{
    for ( int i = 0; i < 4; ++i )
    {
        to[i] = (uint8_t)( value >> ( 8 * i ) );
    }
    return to + 4;
}

static inline uint8_t* mpi_put_u64( uint8_t* to, uint64_t value )
{
    return mpi_put_u32( mpi_put_u32( to, (uint32_t)value ), (uint32_t)( value >> 32 ) );
}

static inline uint8_t* mpi_put_float( uint8_t* to, float value )
{
    uint32_t bits;
    memcpy( &bits, &value, sizeof( bits ) );
    return mpi_put_u32( to, bits );
}

static inline uint8_t* mpi_put_point( uint8_t* to, clv_vec3 point )
{
    return mpi_put_float( mpi_put_float( mpi_put_float( to, point.x ), point.y ), point.z );
}

static inline uint32_t mpi_get_u32( const uint8_t* from )
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static inline uint64_t mpi_get_u64( const uint8_t* from )
{
    return (uint64_t)mpi_get_u32( from ) | (uint64_t)mpi_get_u32( from + 4 ) << 32;
}

static inline float mpi_get_float( const uint8_t* from )
{
    uint32_t bits = mpi_get_u32( from );
    float value;
    memcpy( &value, &bits, sizeof( value ) );
    return value;
}

static inline clv_vec3 mpi_get_point( const uint8_t* from )
{
    return ( clv_vec3 ){ mpi_get_float( from ), mpi_get_float( from + 4 ), mpi_get_float( from + 8 ) };
}

static inline clv_aabb mpi_get_box( const uint8_t* from )
{
    return ( clv_aabb ){ mpi_get_point( from ), mpi_get_point( from + 12 ) };
}
