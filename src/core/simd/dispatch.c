// SPDX-License-Identifier: MIT
// Built for the baseline CPU: asks what this one can do and hands out the table for it.
#include "simd/kernels.h"

#include "base/assertion.h"
#include "simd/cells.h"
#include "simd/near_lanes.h"
#include "simd/query_lanes.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined( CLV_HAVE_AVX2 ) || defined( CLV_HAVE_AVX512 )
#include <cpuid.h>
#endif

extern const simd_kernels clv_simd_kernels_scalar;
extern const simd_kernels clv_simd_kernels_sse2;
extern const simd_kernels clv_simd_kernels_avx2;
extern const simd_kernels clv_simd_kernels_avx512;
extern const simd_kernels clv_simd_kernels_neon;

static const char* const s_names[CLV_ISA_COUNT] = { "auto", "scalar", "sse2", "avx2", "avx512", "neon" };

#if defined( CLV_HAVE_AVX2 ) || defined( CLV_HAVE_AVX512 )

// Which register files the operating system saves: bit 1 SSE, bit 2 AVX, bits 5-7 the AVX-512 ones.
static uint64_t saved_registers( void )
{
    uint32_t eax, ebx, ecx, edx;
    if ( !__get_cpuid( 1, &eax, &ebx, &ecx, &edx ) || ( ecx & ( 1u << 27 ) ) == 0 )
    {
        return 0;
    }
    uint32_t low, high;
    __asm__ volatile( "xgetbv" : "=a"( low ), "=d"( high ) : "c"( 0 ) );
    return ( (uint64_t)high << 32 ) | low;
}

// Both are in every processor with AVX2, but a virtual machine may hide them, and where there is no LZCNT its
// code means BSR, which counts from the other end.
static bool has_bit_counts( void )
{
    uint32_t eax, ebx, popcnt, lzcnt, edx;
    return __get_cpuid( 1, &eax, &ebx, &popcnt, &edx ) && ( popcnt & ( 1u << 23 ) ) != 0 &&
        __get_cpuid( 0x80000001u, &eax, &ebx, &lzcnt, &edx ) && ( lzcnt & ( 1u << 5 ) ) != 0;
}

// All of these bits in leaf 7's ebx and ecx, and all of `register_bits` saved on a task switch?
static bool cpu_has( uint32_t ebx_bits, uint32_t ecx_bits, uint64_t register_bits )
{
    uint32_t eax, ebx, ecx, edx;
    if ( !has_bit_counts() || !__get_cpuid_count( 7, 0, &eax, &ebx, &ecx, &edx ) )
    {
        return false;
    }
    return ( ebx & ebx_bits ) == ebx_bits && ( ecx & ecx_bits ) == ecx_bits &&
        ( saved_registers() & register_bits ) == register_bits;
}

// The same, asked once: under a hypervisor a cpuid instruction can take twenty microseconds. Threads that ask
// at the same time get the same answer, so it does not matter which of them stores it.
static bool cpu_has_once( atomic_int* answer, uint32_t ebx_bits, uint32_t ecx_bits, uint64_t register_bits )
{
    enum
    {
        NOT_ASKED,
        HAS_NOT,
        HAS
    };
    int known = atomic_load_explicit( answer, memory_order_relaxed );
    if ( known == NOT_ASKED )
    {
        known = cpu_has( ebx_bits, ecx_bits, register_bits ) ? HAS : HAS_NOT;
        atomic_store_explicit( answer, known, memory_order_relaxed );
    }
    return known == HAS;
}

#endif

uint16_t clv_simd_lane_places[256][8];
uint8_t clv_simd_lane_counts[256];

static void fill_places( void )
{
    for ( uint32_t bits = 0; bits < 256; ++bits )
    {
        uint8_t count = 0;
        for ( uint32_t lane = 0; lane < 8; ++lane )
        {
            if ( ( bits >> lane & 1 ) != 0 )
            {
                clv_simd_lane_places[bits][count++] = (uint16_t)( lane * sizeof( cell_entry ) );
            }
        }
        clv_simd_lane_counts[bits] = count;
    }
}

void clv_simd_fill_places( void )
{
    enum
    {
        EMPTY,
        AT_WORK,
        FULL
    };
    static atomic_int state;
    int expected = EMPTY;
    if ( atomic_compare_exchange_strong( &state, &expected, AT_WORK ) )
    {
        fill_places();
        atomic_store( &state, FULL );
    }
    while ( atomic_load( &state ) != FULL ) // another thread is at it: a few microseconds
    {
    }
}

const simd_kernels* clv_simd_kernels_for( clv_isa isa )
{
    clv_simd_fill_places();
#ifdef CLV_HAVE_AVX2
    static atomic_int has_avx2;
#endif
#ifdef CLV_HAVE_AVX512
    static atomic_int has_avx512;
#endif
    switch ( isa )
    {
    case CLV_ISA_SCALAR: return &clv_simd_kernels_scalar;
#ifdef CLV_HAVE_SSE2
    case CLV_ISA_SSE2: return &clv_simd_kernels_sse2;
#endif
#ifdef CLV_HAVE_AVX2
    case CLV_ISA_AVX2:
        return cpu_has_once( &has_avx2, 1u << 3 | 1u << 5, 0, 0x06 ) ? &clv_simd_kernels_avx2 : NULL;
#endif
#ifdef CLV_HAVE_AVX512
    case CLV_ISA_AVX512: // BMI 3, AVX2 5, F 16, DQ 17, BW 30, VL 31; VBMI 1, VBMI2 6
        return cpu_has_once( &has_avx512, 1u << 3 | 1u << 5 | 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31,
                   1u << 1 | 1u << 6, 0xE6 )
            ? &clv_simd_kernels_avx512
            : NULL;
#endif
#ifdef CLV_HAVE_NEON
    case CLV_ISA_NEON: return &clv_simd_kernels_neon;
#endif
    default: return NULL;
    }
}

// A table for each instruction set that is compiled in, by the name of its kind.
#ifdef CLV_HAVE_SSE2
#define SSE2_ROW( kind ) [CLV_ISA_SSE2] = &clv_simd_##kind##_sse2,
#else
#define SSE2_ROW( kind )
#endif
#ifdef CLV_HAVE_AVX2
#define AVX2_ROW( kind ) [CLV_ISA_AVX2] = &clv_simd_##kind##_avx2,
#else
#define AVX2_ROW( kind )
#endif
#ifdef CLV_HAVE_AVX512
#define AVX512_ROW( kind ) [CLV_ISA_AVX512] = &clv_simd_##kind##_avx512,
#else
#define AVX512_ROW( kind )
#endif
#ifdef CLV_HAVE_NEON
#define NEON_ROW( kind ) [CLV_ISA_NEON] = &clv_simd_##kind##_neon,
#else
#define NEON_ROW( kind )
#endif
#define TABLES( kind )                                                                                       \
    {                                                                                                        \
        [CLV_ISA_SCALAR] = &clv_simd_##kind##_scalar,                                                        \
        SSE2_ROW( kind ) AVX2_ROW( kind ) AVX512_ROW( kind ) NEON_ROW( kind )                                \
    }

const simd_queries* clv_simd_queries_for( clv_isa isa )
{
    static const simd_queries* const tables[CLV_ISA_COUNT] = TABLES( queries );
    CLV_ASSERT( (unsigned)isa < CLV_ISA_COUNT && tables[isa] != NULL );
    return tables[isa];
}

const simd_near* clv_simd_near_for( clv_isa isa )
{
    static const simd_near* const tables[CLV_ISA_COUNT] = TABLES( near );
    CLV_ASSERT( (unsigned)isa < CLV_ISA_COUNT && tables[isa] != NULL );
    return tables[isa];
}

const simd_kernels* clv_simd_kernels_choose( clv_isa isa, char* line, size_t line_size )
{
    if ( isa == CLV_ISA_AUTO )
    {
        const char* name = getenv( "CLEAVE_ISA" );
        if ( name != NULL && name[0] != '\0' && !clv_isa_from_name( name, &isa ) )
        {
            snprintf( line, line_size,
                "CLEAVE_ISA=%.40s: no such instruction set; use scalar, sse2, avx2, avx512 or neon", name );
            return NULL;
        }
    }
    isa = isa == CLV_ISA_AUTO ? clv_isa_best() : isa;
    const simd_kernels* kernels = clv_simd_kernels_for( isa );
    if ( kernels == NULL )
    {
        snprintf( line, line_size, "instruction set %s is not supported here", clv_isa_name( isa ) );
    }
    return kernels;
}

const char* clv_isa_name( clv_isa isa )
{
    return (unsigned)isa < CLV_ISA_COUNT ? s_names[isa] : "unknown";
}

bool clv_isa_from_name( const char* name, clv_isa* isa )
{
    for ( int i = 0; i < CLV_ISA_COUNT; ++i )
    {
        if ( strcmp( name, s_names[i] ) == 0 )
        {
            *isa = (clv_isa)i;
            return true;
        }
    }
    return false;
}

bool clv_isa_is_supported( clv_isa isa )
{
    return isa == CLV_ISA_AUTO || clv_simd_kernels_for( isa ) != NULL;
}

clv_isa clv_isa_best( void )
{
    static const clv_isa by_width[] = { CLV_ISA_AVX512, CLV_ISA_AVX2, CLV_ISA_NEON, CLV_ISA_SSE2 };
    for ( size_t i = 0; i < sizeof( by_width ) / sizeof( by_width[0] ); ++i )
    {
        if ( clv_isa_is_supported( by_width[i] ) )
        {
            return by_width[i];
        }
    }
    return CLV_ISA_SCALAR;
}
