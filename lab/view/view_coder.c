// SPDX-License-Identifier: MIT
#include "lab/view/view_coder.h"

#include <stdlib.h>

enum
{
    ORDER_KEY,   // against the object before
    ORDER_FRAME, // against the frame before
    ORDER_SPEED, // against where it would be at the same speed
};

bool view_coder_open( view_coder* coder, uint32_t object_count, uint32_t channel_count )
{
    size_t count = (size_t)object_count * channel_count;
    *coder = ( view_coder ){ .object_count = object_count, .channel_count = channel_count };
    coder->now = calloc( count, sizeof( int32_t ) );
    coder->before = calloc( count, sizeof( int32_t ) );
    coder->earlier = calloc( count, sizeof( int32_t ) );
    if ( coder->now == NULL || coder->before == NULL || coder->earlier == NULL )
    {
        view_coder_close( coder );
        return false;
    }
    return true;
}

void view_coder_close( view_coder* coder )
{
    free( coder->now );
    free( coder->before );
    free( coder->earlier );
    *coder = ( view_coder ){ 0 };
}

void view_coder_begin( view_coder* coder )
{
    coder->depth = 0;
}

// Differences wrap, here and where they are read.
static int32_t difference( const view_coder* coder, size_t base, uint32_t index, int order )
{
    uint32_t now = (uint32_t)coder->now[base + index];
    uint32_t before = (uint32_t)coder->before[base + index];
    uint32_t expected = order == ORDER_KEY ? ( index > 0 ? (uint32_t)coder->now[base + index - 1] : 0 )
        : order == ORDER_FRAME             ? before
                                           : 2 * before - (uint32_t)coder->earlier[base + index];
    return (int32_t)( now - expected );
}

static uint64_t cost( const view_coder* coder, size_t base, int order )
{
    uint64_t sum = 0;
    for ( uint32_t index = 0; index < coder->object_count; ++index )
    {
        int64_t step = difference( coder, base, index, order );
        sum += (uint64_t)( step < 0 ? -step : step );
    }
    return sum;
}

static int choose_order( const view_coder* coder, size_t base )
{
    if ( coder->depth < 2 )
    {
        return coder->depth == 0 ? ORDER_KEY : ORDER_FRAME;
    }
    return cost( coder, base, ORDER_SPEED ) < cost( coder, base, ORDER_FRAME ) ? ORDER_SPEED : ORDER_FRAME;
}

void view_coder_put( view_coder* coder, byte_buffer* out )
{
    for ( uint32_t channel = 0; channel < coder->channel_count; ++channel )
    {
        size_t base = (size_t)channel * coder->object_count;
        int order = choose_order( coder, base );
        byte_buffer_put_byte( out, (uint8_t)order );
        for ( uint32_t index = 0; index < coder->object_count; ++index )
        {
            byte_buffer_put_difference( out, difference( coder, base, index, order ) );
        }
    }
    int32_t* oldest = coder->earlier;
    coder->earlier = coder->before;
    coder->before = coder->now;
    coder->now = oldest;
    coder->depth += 1;
}

void view_coder_put_pairs( byte_buffer* out, const clv_pair* pairs, uint64_t count )
{
    clv_pair last = { 0, 0 };
    byte_buffer_put_count( out, (uint32_t)count );
    for ( uint64_t i = 0; i < count; ++i )
    {
        bool same = i > 0 && pairs[i].a == last.a;
        byte_buffer_put_count( out, pairs[i].a - last.a );
        byte_buffer_put_count( out, pairs[i].b - ( same ? last.b : pairs[i].a ) );
        last = pairs[i];
    }
}

static uint64_t pair_key( clv_pair pair )
{
    return (uint64_t)pair.a << 32 | pair.b;
}

void view_coder_put_places( byte_buffer* out, const uint32_t* places, uint64_t count )
{
    byte_buffer_put_count( out, (uint32_t)count );
    for ( uint64_t i = 0; i < count; ++i )
    {
        byte_buffer_put_count( out, places[i] - ( i > 0 ? places[i - 1] : 0 ) );
    }
}

uint64_t view_coder_without( const clv_pair* first, uint64_t first_count, const clv_pair* second,
    uint64_t second_count, clv_pair* out, uint32_t* places )
{
    uint64_t count = 0, other = 0;
    for ( uint64_t i = 0; i < first_count; ++i )
    {
        while ( other < second_count && pair_key( second[other] ) < pair_key( first[i] ) )
        {
            other += 1;
        }
        if ( other < second_count && pair_key( second[other] ) == pair_key( first[i] ) )
        {
            continue;
        }
        if ( places != NULL )
        {
            places[count++] = (uint32_t)i;
        }
        else
        {
            out[count++] = first[i];
        }
    }
    return count;
}
