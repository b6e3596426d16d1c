// SPDX-License-Identifier: MIT
#include "lab/compare/bootstrap.h"

#include <stdlib.h>

#define DRAW_COUNT 1000
#define OUTSIDE_PERCENT 0.5 // on either side

// The passes of a run; older results have the least of each frame alone.
typedef struct sample
{
    const double* ms;
    uint32_t pass_count;
} sample;

static sample sample_of( const run_result* run )
{
    bool has_passes = run->pass_ms != NULL && run->pass_count > 0;
    sample made = { has_passes ? run->pass_ms : run->frame_ms, has_passes ? run->pass_count : 1 };
    return made;
}

// splitmix64, from a fixed seed: the same files give the same verdict.
static uint32_t draw( uint64_t* state, uint32_t below )
{
    uint64_t z = *state += UINT64_C( 0x9E3779B97F4A7C15 );
    z = ( z ^ z >> 30 ) * UINT64_C( 0xBF58476D1CE4E5B9 );
    z = ( z ^ z >> 27 ) * UINT64_C( 0x94D049BB133111EB );
    return (uint32_t)( ( z ^ z >> 31 ) % below );
}

typedef struct draws
{
    uint32_t frame_count;
    uint64_t random;
    uint32_t* frames; ///< drawn
    uint32_t* passes; ///< drawn, for one run at a time
    double* scratch;  ///< of one frame, over the passes
    double ratios[DRAW_COUNT];
} draws;

// Sum over the drawn frames of the median over the drawn passes.
static double sum_medians( const draws* all, const sample* run )
{
    double sum = 0;
    for ( uint32_t index = 0; index < all->frame_count; ++index )
    {
        for ( uint32_t pass = 0; pass < run->pass_count; ++pass )
        {
            all->scratch[pass] = run->ms[(size_t)all->passes[pass] * all->frame_count + all->frames[index]];
        }
        sum += run_median( all->scratch, run->pass_count );
    }
    return sum;
}

static double draw_sum( draws* all, const sample* run )
{
    for ( uint32_t pass = 0; pass < run->pass_count; ++pass )
    {
        all->passes[pass] = draw( &all->random, run->pass_count );
    }
    return sum_medians( all, run );
}

static double plain_sum( draws* all, const sample* run )
{
    for ( uint32_t pass = 0; pass < run->pass_count; ++pass )
    {
        all->passes[pass] = pass;
    }
    return sum_medians( all, run );
}

// A measured time of 0 must not be divided by.
static double ratio_of( double a, double b )
{
    return a > 0 ? b / a : b > 0 ? 1e9 : 1;
}

static void draw_all( draws* all, const sample* a, const sample* b )
{
    for ( uint32_t round = 0; round < DRAW_COUNT; ++round )
    {
        for ( uint32_t index = 0; index < all->frame_count; ++index )
        {
            all->frames[index] = draw( &all->random, all->frame_count );
        }
        double sum_a = draw_sum( all, a );
        all->ratios[round] = ratio_of( sum_a, draw_sum( all, b ) );
    }
}

bootstrap_ratio bootstrap_compare( const run_result* a, const run_result* b )
{
    sample sample_a = sample_of( a ), sample_b = sample_of( b );
    uint32_t most = sample_a.pass_count > sample_b.pass_count ? sample_a.pass_count : sample_b.pass_count;
    draws* all = lab_take( 1, sizeof( draws ) );
    uint32_t* indices = lab_take( (uint64_t)a->frame_count + most, sizeof( uint32_t ) );
    double* scratch = lab_take( most, sizeof( double ) );
    *all = ( draws ){ .frame_count = a->frame_count,
        .random = 1,
        .frames = indices,
        .passes = indices + a->frame_count,
        .scratch = scratch };
    for ( uint32_t index = 0; index < all->frame_count; ++index )
    {
        all->frames[index] = index;
    }
    double sum_a = plain_sum( all, &sample_a );
    bootstrap_ratio answer = { .ratio = ratio_of( sum_a, plain_sum( all, &sample_b ) ) };
    draw_all( all, &sample_a, &sample_b );
    answer.low = run_percentile( all->ratios, DRAW_COUNT, OUTSIDE_PERCENT );
    answer.high = run_percentile( all->ratios, DRAW_COUNT, 100 - OUTSIDE_PERCENT );
    free( scratch );
    free( indices );
    free( all );
    return answer;
}
