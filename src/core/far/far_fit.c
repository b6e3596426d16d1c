// SPDX-License-Identifier: MIT
#include "far/far_fit.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <float.h>
#include <string.h>

enum
{
    FIT_LEAST = 64,        // boxes up to which any map serves
    FIT_SAMPLE = 2048,     // boxes looked at, at most
    FIT_MOST_WAIT = 1024,  // judgements, or searches, before what failed is tried again
    FIT_FIRST_WAIT = 64,   // and at first
    FIT_PAIRS_IN_VAIN = 8, // in a sample of 2 sqrt( n ) boxes, which stand for 2 n in all
    FIT_WASTE = 8,         // pairs in vain for each box and each pair in earnest that are too many
};

// A few boxes, as they are and as the map shows them.
typedef struct far_sample
{
    clv_aabb64* boxes;
    clv_aabb* mapped;
    uint32_t count;
} far_sample;

static uint32_t integer_root( uint64_t value )
{
    uint64_t root = 0;
    for ( uint64_t bit = (uint64_t)1 << 31; bit != 0; bit >>= 1 )
    {
        root |= ( root | bit ) * ( root | bit ) <= value ? bit : 0;
    }
    return (uint32_t)root;
}

static bool take_sample( far_fit* fit, const far_crowd* crowd, base_memory* memory, far_sample* sample )
{
    uint32_t wanted = 2 * integer_root( crowd->count );
    wanted = wanted < FIT_SAMPLE ? wanted : FIT_SAMPLE;
    wanted = wanted < crowd->count ? wanted : crowd->count;
    CLV_ASSERT( wanted > 0 ); // few boxes are never judged
    if ( !clv_base_memory_renew( memory, &fit->sample, &fit->sample_bytes,
             (uint64_t)wanted * ( sizeof( clv_aabb64 ) + sizeof( clv_aabb ) ), 1 ) )
    {
        return false;
    }
    sample->count = wanted;
    sample->boxes = fit->sample;
    sample->mapped = (clv_aabb*)(void*)( sample->boxes + wanted );
    for ( uint32_t i = 0; i < wanted; ++i )
    {
        sample->boxes[i] = crowd->boxes[far_crowd_slot( crowd, base_sample( i, wanted, crowd->count ) )];
    }
    return true;
}

// How many pairs of the sample does the map show as touching that do not, beyond as many as do? A sample of 2
// sqrt( n ) boxes has 2 n of the n * n / 2 pairs.
static uint64_t count_in_vain( const far_map* map, const far_sample* sample )
{
    const clv_aabb nothing = { 0 };
    for ( uint32_t i = 0; i < sample->count; ++i )
    {
        sample->mapped[i] =
            clv_far_map_box( map, &sample->boxes[i], i > 0 ? &sample->mapped[i - 1] : &nothing );
    }
    uint64_t touching = 0, found = 0;
    for ( uint32_t i = 1; i < sample->count; ++i )
    {
        clv_aabb box = sample->mapped[i];
        for ( uint32_t j = 0; j < i; ++j )
        {
            if ( clv_aabb_overlap( box, sample->mapped[j] ) )
            {
                found += 1;
                touching += clv_aabb64_overlap( sample->boxes[i], sample->boxes[j] );
            }
        }
    }
    return found > 2 * touching ? found - 2 * touching : 0;
}

static bool tells_apart( const far_map* map, const far_sample* sample, uint64_t allowance )
{
    return count_in_vain( map, sample ) <= FIT_PAIRS_IN_VAIN + allowance;
}

// A coordinate that half of the sampled boxes begin below, about; infinite ones have no say. The k-th of so
// few is found by halving the range of values that it can have.
static double middle_of_sample( const far_sample* sample, int axis )
{
    double least = 0, most = 0;
    uint32_t count = 0;
    for ( uint32_t i = 0; i < sample->count; ++i )
    {
        double value = ( &sample->boxes[i].lower.x )[axis];
        if ( base_is_finite( value ) )
        {
            least = count == 0 || value < least ? value : least;
            most = count == 0 || value > most ? value : most;
            count += 1;
        }
    }
    for ( int round = 0; round < 40; ++round )
    {
        double middle = 0.5 * least + 0.5 * most;
        uint32_t below = 0;
        for ( uint32_t i = 0; i < sample->count; ++i )
        {
            double value = ( &sample->boxes[i].lower.x )[axis];
            below += base_is_finite( value ) && value < middle;
        }
        least = 2 * below < count ? middle : least;
        most = 2 * below < count ? most : middle;
    }
    CLV_ASSERT( least <= most && base_is_finite( least ) );
    return least;
}

static void judge_later( uint32_t* wait, uint32_t* penalty )
{
    *wait = *penalty > FIT_FIRST_WAIT ? *penalty : FIT_FIRST_WAIT;
    *penalty = 2 * *wait < FIT_MOST_WAIT ? 2 * *wait : FIT_MOST_WAIT;
    CLV_ASSERT( *wait <= *penalty && *penalty <= FIT_MOST_WAIT );
}

// To 40 bits: then most shifts move it without rounding, as they do boxes.
static double round_origin( double value )
{
    double split = 8193.0 * value;
    double rounded = split - ( split - value );
    return base_is_finite( rounded ) ? rounded : value;
}

// Distances from the middle, if these do.
static bool choose_plain( far_fit* fit, const far_sample* sample )
{
    far_map plain = { 0 };
    clv_far_map_set_origin( &plain,
        ( clv_vec64 ){ round_origin( middle_of_sample( sample, 0 ) ),
            round_origin( middle_of_sample( sample, 1 ) ), round_origin( middle_of_sample( sample, 2 ) ) } );
    if ( !tells_apart( &plain, sample, 0 ) )
    {
        return false;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        fit->map.axes[axis].origin = plain.axes[axis].origin;
        fit->map.axes[axis].cell_count = 0;
    }
    fit->has_cells = false;
    fit->allowance = 0;
    return true;
}

// What new cells do not tell apart, old ones need not either.
static far_verdict choose_cells(
    far_fit* fit, const far_crowd* crowd, const far_sample* sample, base_memory* memory )
{
    if ( !clv_far_map_set_cells( &fit->map, crowd, memory ) )
    {
        return FAR_NO_MEMORY;
    }
    fit->has_cells = true;
    fit->allowance = 2 * count_in_vain( &fit->map, sample );
    judge_later( &fit->plain_wait, &fit->plain_penalty );
    return FAR_NEW;
}

static far_verdict choose_anew( far_fit* fit, const far_crowd* crowd, const far_sample* sample,
    bool tries_plain, bool serves, base_memory* memory )
{
    if ( tries_plain && choose_plain( fit, sample ) )
    {
        return FAR_NEW;
    }
    if ( serves ) // distances would not, yet
    {
        judge_later( &fit->plain_wait, &fit->plain_penalty );
        return FAR_SAME;
    }
    return choose_cells( fit, crowd, sample, memory );
}

bool clv_far_fit_is_due( const far_fit* fit, uint32_t count )
{
    uint64_t few = 2 * (uint64_t)integer_root( count );
    return count > FIT_LEAST && ( !fit->is_made || fit->is_wasteful || fit->change_count >= few );
}

BASE_COLD far_verdict clv_far_fit_choose( far_fit* fit, const far_crowd* crowd, base_memory* memory )
{
    CLV_ASSERT( clv_far_fit_is_due( fit, crowd->count ) );
    far_sample sample = { 0 };
    if ( !take_sample( fit, crowd, memory, &sample ) )
    {
        return FAR_NO_MEMORY;
    }
    bool serves = fit->is_made && !fit->is_wasteful && tells_apart( &fit->map, &sample, fit->allowance );
    bool tries_plain = !fit->is_wasteful && ( !fit->has_cells || fit->plain_wait == 0 );
    fit->plain_wait -= fit->plain_wait > 0;
    far_verdict verdict = FAR_SAME;
    if ( !serves || ( fit->has_cells && tries_plain ) )
    {
        verdict = choose_anew( fit, crowd, &sample, tries_plain, serves, memory );
    }
    if ( verdict != FAR_NO_MEMORY )
    {
        fit->is_made = true;
        fit->is_wasteful = false;
        fit->change_count = 0;
    }
    return verdict;
}

void clv_far_fit_learn( far_fit* fit, uint32_t object_count, uint64_t touching, uint64_t in_vain )
{
    bool is_waste = in_vain > FIT_WASTE * ( object_count + touching );
    if ( fit->cells_wait > 0 )
    {
        fit->cells_wait -= 1; // cells were made anew, in vain
        return;
    }
    fit->is_wasteful = is_waste && object_count > FIT_LEAST;
    if ( fit->is_wasteful && fit->has_cells )
    {
        judge_later( &fit->cells_wait, &fit->cells_penalty );
    }
}

// Ends and origins stay finite, or differences of them would be no numbers.
static double shift_finite( double value, double offset )
{
    double moved = value - offset;
    moved = moved < -DBL_MAX ? -DBL_MAX : moved;
    return moved > DBL_MAX ? DBL_MAX : moved;
}

void clv_far_fit_shift( far_fit* fit, clv_vec64 offset )
{
    const double offsets[3] = { offset.x, offset.y, offset.z };
    for ( int i = 0; i < 3; ++i )
    {
        CLV_ASSERT( base_is_finite( offsets[i] ) );
        far_axis* axis = &fit->map.axes[i];
        axis->origin = shift_finite( axis->origin, offsets[i] );
        for ( uint32_t end = 0; axis->cell_count > 0 && end <= axis->cell_count; ++end )
        {
            axis->ends[end] = shift_finite( axis->ends[end], offsets[i] );
        }
    }
}

void clv_far_fit_shrink( far_fit* fit, base_memory* memory )
{
    clv_base_memory_give( memory, fit->sample, fit->sample_bytes, 1 );
    fit->sample = NULL;
    fit->sample_bytes = 0;
}

void clv_far_fit_free( far_fit* fit, base_memory* memory )
{
    clv_far_map_free( &fit->map, memory );
    clv_far_fit_shrink( fit, memory );
    memset( fit, 0, sizeof( *fit ) );
}
