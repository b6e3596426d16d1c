// SPDX-License-Identifier: MIT
// near_body.h for floats (near_f, NEAR_FLOATS lanes) and for doubles (near_d, half as many). The file that
// includes this defines the registers. No include guard: part of a template.

// Declared by name: what makes one file of the core looks for names here.
typedef struct near_block near_block;
typedef struct near_block64 near_block64;
static inline void bound_near( const float* rows, uint32_t count, float move, near_f bounds[2] );
static inline void bound_near64( const double* rows, uint32_t count, double move, near_d bounds[2] );
static inline near_f near_gap( near_f at, const near_f bounds[2] );
static inline near_d near_gap64( near_d at, const near_d bounds[2] );
static inline uint32_t copy_near( const simd_near_search* s, near_block* block );
static inline uint32_t copy_near64( const simd_near_search* s, near_block64* block );
static bool find_near( simd_near_search* s, clv_pair_sink* sink );
static bool find_near64( simd_near_search* s, clv_pair_sink* sink );

#define NEAR_FIND find_near
#define NEAR_COPY copy_near
#define NEAR_BOUND bound_near
#define NEAR_GAP near_gap
#define NEAR_MAX near_f_max
#define NEAR_PRESS near_f_press
#define NEAR_PRESS_IDS near_f_press_ids
#define NEAR_BLOCK near_block
#define NEAR_NUMBER float
#define NEAR_WIDTH NEAR_FLOATS
#define NEAR_REG near_f
#define NEAR_LOAD near_f_load
#define NEAR_STORE near_f_store
#define NEAR_SPLAT near_f_splat
#define NEAR_SUB near_f_sub
#define NEAR_MUL near_f_mul
#define NEAR_ADD near_f_add
#define NEAR_LE_BITS near_f_le_bits
#include "simd/near_body.h"

#define NEAR_FIND find_near64
#define NEAR_COPY copy_near64
#define NEAR_BOUND bound_near64
#define NEAR_GAP near_gap64
#define NEAR_MAX near_d_max
#define NEAR_PRESS near_d_press
#define NEAR_PRESS_IDS near_d_press_ids
#define NEAR_BLOCK near_block64
#define NEAR_NUMBER double
#define NEAR_WIDTH ( NEAR_FLOATS / 2 )
#define NEAR_REG near_d
#define NEAR_LOAD near_d_load
#define NEAR_STORE near_d_store
#define NEAR_SPLAT near_d_splat
#define NEAR_SUB near_d_sub
#define NEAR_MUL near_d_mul
#define NEAR_ADD near_d_add
#define NEAR_LE_BITS near_d_le_bits
#include "simd/near_body.h"

#undef NEAR_FLOATS
