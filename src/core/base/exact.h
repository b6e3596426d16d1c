// SPDX-License-Identifier: MIT
// Which float is the greater one, whether it is a number, and how a sum rounds: everything here rests on the
// compiler taking that as written. CMake sees to it with flags of its own behind the user's
// (cmake/compiler.cmake); a compiler run by hand is stopped here. Included by whatever computes.
#pragma once

#include "base/features.h"

// gcc tells every relaxation by a macro of its own, clang the two that make answers wrong.
#if defined( __FAST_MATH__ ) || ( defined( __FINITE_MATH_ONLY__ ) && __FINITE_MATH_ONLY__ ) ||               \
    defined( __ASSOCIATIVE_MATH__ ) || defined( __RECIPROCAL_MATH__ ) || defined( __NO_SIGNED_ZEROS__ )
#error                                                                                                       \
    "Cleave needs floats as IEEE 754 has them: compile its files without -ffast-math, -Ofast and parts of them"
#endif

// a * b + c must round twice, or the exact orientation test is none and the same calls give other bits
// elsewhere. The standard's word for it is not known to gcc, which fuses unless it is told to keep to a
// standard (-std=c17) and has the instruction, as every file with kernels for AVX-512 has.
#if defined( __clang__ )
#pragma STDC FP_CONTRACT OFF
#elif defined( __GNUC__ ) && !defined( __STRICT_ANSI__ ) &&                                                  \
    ( defined( __FP_FAST_FMA ) || defined( __FP_FAST_FMAF ) || defined( __SSE2__ ) )
#pragma GCC optimize( "fp-contract=off" )
#endif
