// SPDX-License-Identifier: MIT
// Closes target_avx2.h or target_avx512.h.
// No include guard, as there.
#if defined( __clang__ )
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
