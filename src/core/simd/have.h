// SPDX-License-Identifier: MIT
// Which kernel tables this compiler can make for this target. It is asked here and nowhere else, so that
// CMake and a plain `cc` over the sources give the same library. CLV_SCALAR_ONLY leaves out every table but
// the scalar one.
#pragma once

#if !defined( CLV_SCALAR_ONLY )

#if defined( __SSE2__ )
#define CLV_HAVE_SSE2

// A wider table is compiled with instructions that the rest of the library may not use: target_avx2.h,
// target_avx512.h turn them on for one file, whatever flags it is compiled with. Older compilers do not know
// all of AVX-512. WebAssembly has SSE2's instructions under other names (SIMD128), and none that are wider.
#if defined( __wasm__ )
#elif ( defined( __clang__ ) && __clang_major__ >= 8 ) ||                                                    \
    ( !defined( __clang__ ) && defined( __GNUC__ ) && __GNUC__ >= 9 )
#define CLV_HAVE_AVX2
#define CLV_HAVE_AVX512
#endif
#endif

#if defined( __aarch64__ ) && defined( __ARM_NEON )
#define CLV_HAVE_NEON
#endif

#endif
