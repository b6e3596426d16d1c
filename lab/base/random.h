// SPDX-License-Identifier: MIT
// Counter-based random numbers: each depends on the seed, the object, the purpose and how often that object
// drew for it, never on the order in which objects or threads draw. Only + - * / on doubles, so every
// compiler gives the same bytes.
#pragma once

#include <stdint.h>

/// SplitMix64's mixer. random_mix( 0 ) is 0xe220a8397b1dcdaf.
uint64_t random_mix( uint64_t value );

/// Numbers for one purpose of one object.
typedef struct random_stream
{
    uint64_t key;
    uint64_t draw_count;
} random_stream;

/// `index` is the object, `purpose` what is drawn for it: start, spin, or the number of a kick.
random_stream random_stream_make( uint64_t seed, uint64_t index, uint64_t purpose );

uint64_t random_bits( random_stream* stream );

/// [0, 1), a multiple of 2^-53.
double random_unit( random_stream* stream );

/// Uniform in a ball about the origin.
void random_ball( random_stream* stream, double radius, double point[3] );
