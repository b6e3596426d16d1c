// SPDX-License-Identifier: MIT
// Built for the baseline CPU. The core has found out which instruction sets this one has.
#include "simd/method_kernels.h"

extern const simd_method_kernels clv_simd_method_kernels_scalar;
extern const simd_method_kernels clv_simd_method_kernels_sse2;
extern const simd_method_kernels clv_simd_method_kernels_avx2;
extern const simd_method_kernels clv_simd_method_kernels_avx512;
extern const simd_method_kernels clv_simd_method_kernels_neon;

const simd_method_kernels* clv_simd_method_kernels_for( clv_isa isa )
{
    if ( !clv_isa_is_supported( isa ) )
    {
        return NULL;
    }
    switch ( isa )
    {
    case CLV_ISA_SCALAR: return &clv_simd_method_kernels_scalar;
#ifdef CLV_HAVE_SSE2
    case CLV_ISA_SSE2: return &clv_simd_method_kernels_sse2;
#endif
#ifdef CLV_HAVE_AVX2
    case CLV_ISA_AVX2: return &clv_simd_method_kernels_avx2;
#endif
#ifdef CLV_HAVE_AVX512
    case CLV_ISA_AVX512: return &clv_simd_method_kernels_avx512;
#endif
#ifdef CLV_HAVE_NEON
    case CLV_ISA_NEON: return &clv_simd_method_kernels_neon;
#endif
    default: return NULL;
    }
}
