// SPDX-License-Identifier: MIT
// From here to target_end.h functions are compiled for AVX2, whatever the flags say: a file is the table it is, under
// -march=native as without any flag. After the other includes: what they define stays as it is everywhere else.
// No include guard: it opens, target_end.h closes.
#include <immintrin.h>

#if defined( __clang__ )
#pragma clang attribute push( __attribute__( ( target( "avx2,bmi,popcnt" ) ) ), apply_to = function )
#else
#pragma GCC push_options
#pragma GCC target( "avx2,bmi,popcnt" )
#endif
