// SPDX-License-Identifier: MIT
// Closes what lanes_avx2.h or lanes_avx512.h opened. No include guard, as there.
#if defined( __clang__ )
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
