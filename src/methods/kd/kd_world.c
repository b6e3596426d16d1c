// SPDX-License-Identifier: MIT
#include "kd/kd_world.h"

#include "base/assertion.h"

#include "base/bits.h"

#include <float.h>
#include <math.h>

enum
{
    SAMPLES = 255,
    REACH = 64, // spreads of the middle three quarters, to each side
};

static uint32_t far_limit( uint32_t live_count )
{
    return live_count / 64 + 16;
}

bool clv_kd_world_is_stale( const kd_world* world, uint32_t live_count, uint32_t far_count )
{
    uint64_t measured = world->measured_count;
    return measured == 0 || live_count > measured * 2 || (uint64_t)live_count * 2 < measured ||
        ( !world->is_endless && far_count > far_limit( live_count ) );
}

static bool is_finite( const clv_aabb* box )
{
    return isfinite( box->lower.x ) && isfinite( box->lower.y ) && isfinite( box->lower.z ) &&
        isfinite( box->upper.x ) && isfinite( box->upper.y ) && isfinite( box->upper.z );
}

static double mean_side( const clv_aabb* box )
{
    const float* lower = &box->lower.x;
    const float* upper = &box->upper.x;
    double side = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        side += ( (double)upper[axis] - (double)lower[axis] ) / 3;
    }
    return side;
}

static void insert_sorted( double* values, uint32_t count, double value )
{
    for ( ; count > 0 && values[count - 1] > value; --count )
    {
        values[count] = values[count - 1];
    }
    values[count] = value;
}

typedef struct world_sample
{
    double centre[3][SAMPLES]; // each ascending
    double side[SAMPLES];
    uint32_t count;
} world_sample;

static void take_sample( const clv_method_input* input, world_sample* sample )
{
    sample->count = 0;
    uint32_t stride = input->live_count / SAMPLES + 1;
    for ( uint32_t i = 0; i < input->live_count; i += stride )
    {
        uint32_t picked = base_sample_step( i, stride, input->live_count );
        const clv_aabb* box = &input->boxes[clv_method_live_slot( input, picked )];
        if ( !is_finite( box ) )
        {
            continue;
        }
        const float* lower = &box->lower.x;
        const float* upper = &box->upper.x;
        for ( int axis = 0; axis < 3; ++axis )
        {
            insert_sorted(
                sample->centre[axis], sample->count, ( (double)lower[axis] + (double)upper[axis] ) / 2 );
        }
        CLV_ASSERT( sample->count < SAMPLES );
        insert_sorted( sample->side, sample->count, mean_side( box ) );
        sample->count += 1;
    }
}

static float to_float( double value )
{
    return value > FLT_MAX ? FLT_MAX : value < -FLT_MAX ? -FLT_MAX : (float)value;
}

static uint32_t count_far_boxes( const clv_method_input* input, const kd_world* world )
{
    uint32_t count = 0;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        const clv_aabb* box = &input->boxes[clv_method_live_slot( input, i )];
        const float* lower = &box->lower.x;
        const float* upper = &box->upper.x;
        bool inside = true;
        for ( int axis = 0; axis < 3; ++axis )
        {
            inside &= lower[axis] >= world->lower[axis] && upper[axis] < world->upper[axis];
        }
        count += !inside && is_finite( box );
    }
    return count;
}

static void make_endless( kd_world* world )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        world->lower[axis] = -FLT_MAX;
        world->upper[axis] = FLT_MAX;
    }
    world->is_endless = true;
}

kd_world clv_kd_world_measure( const clv_method_input* input )
{
    kd_world world = { .measured_count = input->live_count };
    world_sample sample;
    take_sample( input, &sample );
    if ( sample.count == 0 )
    {
        make_endless( &world );
        return world;
    }
    uint32_t low = sample.count / 8;
    uint32_t high = sample.count - 1 - low;
    double side = sample.side[sample.count / 2];
    world.side = to_float( side );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double from = sample.centre[axis][low];
        double to = sample.centre[axis][high];
        CLV_ASSERT( low <= high && from <= to );
        double spread = to - from + side + fabs( from ) * 1e-3 + 1e-6;
        world.lower[axis] = to_float( from - REACH * spread );
        world.upper[axis] = to_float( to + REACH * spread );
        CLV_ASSERT( world.lower[axis] <= world.upper[axis] );
    }
    if ( count_far_boxes( input, &world ) > far_limit( input->live_count ) )
    {
        make_endless( &world );
    }
    return world;
}

kd_world clv_kd_world_measure_published( const clv_method_input* input )
{
    kd_world world = { .measured_count = input->live_count };
    double sum = 0, count = 0;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        const clv_aabb* box = &input->boxes[clv_method_live_slot( input, i )];
        if ( is_finite( box ) )
        {
            sum += mean_side( box );
            count += 1;
        }
    }
    world.side = count > 0 ? to_float( sum / count ) : 0;
    make_endless( &world );
    return world;
}
