# SPDX-License-Identifier: MIT
# Which kernel tables this compiler and target can have. Each is compiled with its own flags in its own file; which one
# runs is asked at run time.
include( CheckCCompilerFlag )
include( CheckCSourceCompiles )

set( CLEAVE_KERNEL_DEFINITIONS "" )

if( NOT CLEAVE_SCALAR_ONLY )
    check_c_source_compiles( "
        #if !defined( __SSE2__ )
        #error no
        #endif
        int main( void ) { return 0; }" CLEAVE_TARGET_HAS_SSE2 )
    check_c_source_compiles( "
        #if !defined( __aarch64__ ) || !defined( __ARM_NEON )
        #error no
        #endif
        int main( void ) { return 0; }" CLEAVE_TARGET_HAS_NEON )

    if( CLEAVE_TARGET_HAS_SSE2 )
        list( APPEND CLEAVE_KERNEL_DEFINITIONS CLV_HAVE_SSE2 )
        check_c_compiler_flag( -mavx2 CLEAVE_COMPILER_HAS_AVX2 )
        check_c_compiler_flag( "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512vbmi2" CLEAVE_COMPILER_HAS_AVX512 )
        if( CLEAVE_COMPILER_HAS_AVX2 )
            list( APPEND CLEAVE_KERNEL_DEFINITIONS CLV_HAVE_AVX2 )
            set_source_files_properties( src/simd/kernels_avx2.c src/simd/cells_avx2.c PROPERTIES
                COMPILE_OPTIONS "-mavx2;-mbmi;-mpopcnt" )
        endif()
        if( CLEAVE_COMPILER_HAS_AVX512 )
            list( APPEND CLEAVE_KERNEL_DEFINITIONS CLV_HAVE_AVX512 )
            set_source_files_properties( src/simd/kernels_avx512.c src/simd/cells_avx512.c PROPERTIES
                COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vbmi;-mavx512vbmi2;-mbmi;-mpopcnt" )
        endif()
    endif()
    if( CLEAVE_TARGET_HAS_NEON )
        list( APPEND CLEAVE_KERNEL_DEFINITIONS CLV_HAVE_NEON )
    endif()
endif()
