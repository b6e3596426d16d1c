// SPDX-License-Identifier: MIT
// A byte string read as numbers, ids and boxes, the odd ones more often than chance would have them.
#pragma once

#include "cleave/geom.h"

#include <stddef.h>
#include <stdint.h>

/// What is left of an input. Past its end there are zeros.
typedef struct fuzz_bytes
{
    const uint8_t* at;
    size_t left;
} fuzz_bytes;

/// Says what broke, and stops the program: a fuzzer keeps the input that led here.
#define FUZZ_CHECK( condition, ... )                                                                         \
    ( ( condition ) ? (void)0 : fuzz_fail( __FILE__, __LINE__, #condition, __VA_ARGS__ ) )
_Noreturn void fuzz_fail( const char* file, int line, const char* condition, const char* format, ... );

uint8_t fuzz_take_byte( fuzz_bytes* bytes );
uint32_t fuzz_take_word( fuzz_bytes* bytes ); ///< four bytes, the lowest first
float fuzz_take_float(
    fuzz_bytes* bytes ); ///< NaN, infinities, denormals, huge ones, −0; small numbers mostly

/// Valid more often than not.
clv_aabb fuzz_take_box( fuzz_bytes* bytes );

/// Box `index` of a crowd of many: always valid, from a small lattice so that faces meet, some infinite.
clv_aabb fuzz_crowd_box( uint32_t seed, uint32_t index );

/// Steele's splitmix64.
uint64_t fuzz_mix( uint64_t value );
