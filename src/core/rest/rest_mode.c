// SPDX-License-Identifier: MIT
#include "rest/rest_mode.h"

#include "base/assertion.h"

#include "base/bit_set.h"

#include <math.h>
#include <string.h>

// Costs in nanoseconds as measured on one core, docs/engine.md; only their ratios matter.
enum
{
    SEARCH_BOX = 8,         // a complete search, per box
    SEARCH_PAIR = 2,        // and per pair
    COMPARE = 1,            // following, per box
    TEST = 2,               // per marginal pair
    REFIT = 120,            // per refit
    NEIGHBOUR = 1,          // per object looked at around it
    CHANGE = 150,           // per pair that changes its class
    NEAR_USUAL = 32,        // objects around a box that are looked at where it touches none
    NEAR_TOUCHED = 20,      // and for each that it touches
    TOUCHED_PER_CHANGE = 8, // of so many that touch one changes its class when an object is refitted
    STEP = 2,               // per step along a chain of pairs
};

enum
{
    SAMPLE_AGE = 6, // updates after which a sample is judged: jitter has gone nowhere, drift has
    FIRST_WAIT = 4, // updates after rest ended without having been worth it; twice as many each time
    LONGEST_WAIT = 4096,
    DEAF_WAIT = 64,     // so many of those without a thought of rest; in the others much must be promised
    ENTER_SEARCHES = 4, // entering costs as much as so many searches; rest that saved that was worth it
    REST_HOLD = 5,      // updates between a sample that promises rest and entering, to learn speeds
};

void clv_rest_mode_init( rest_mode* mode, rest_choice choice, uint32_t least )
{
    memset( mode, 0, sizeof( *mode ) );
    mode->choice = choice;
    mode->least = least;
    mode->next_wait = FIRST_WAIT;
    mode->is_first = true;
}

void clv_rest_mode_note_pairs( rest_mode* mode, uint64_t pair_count )
{
    mode->pair_count = pair_count;
}

void clv_rest_mode_note_failure( rest_mode* mode )
{
    mode->pair_count = 0;
    mode->age = 0;
    mode->hold = 0;
    mode->remembered = 0;
    mode->wait = mode->wait > FIRST_WAIT ? mode->wait : FIRST_WAIT;
}

static uint64_t search_cost( const rest_mode* mode, uint32_t object_count )
{
    return (uint64_t)object_count * SEARCH_BOX + mode->pair_count * SEARCH_PAIR;
}

static uint64_t mean_degree( const rest_mode* mode, uint32_t object_count )
{
    return 2 * mode->pair_count / ( (uint64_t)object_count + 1 );
}

// What a refit may cost where an object touches `degree` others: all of them looked at, some of them sought
// in chains as long as that.
static uint64_t refit_cost( const rest_mode* mode, uint32_t object_count )
{
    uint64_t degree = mean_degree( mode, object_count );
    return REFIT + NEIGHBOUR * ( NEAR_USUAL + NEAR_TOUCHED * degree ) + CHANGE * degree / TOUCHED_PER_CHANGE +
        STEP * degree * degree / 4;
}

// ---- the sample

static bool is_live( const clv_method_input* input, uint32_t slot )
{
    if ( input->live == NULL )
    {
        return slot < input->slot_count;
    }
    uint32_t low = 0, high = input->live_count;
    while ( low < high )
    {
        uint32_t middle = low + ( high - low ) / 2;
        low = input->live[middle] < slot ? middle + 1 : low;
        high = input->live[middle] < slot ? high : middle;
    }
    CLV_ASSERT( low == 0 || input->live[low - 1] < slot ); // live slots ascend
    return low < input->live_count && input->live[low] == slot;
}

static void sample_boxes( rest_mode* mode, const clv_method_input* input )
{
    uint32_t wanted = input->live_count / 16;
    mode->sample_count = wanted < REST_SAMPLES ? wanted : REST_SAMPLES;
    for ( uint32_t i = 0; i < mode->sample_count; ++i )
    {
        mode->slots[i] =
            clv_method_live_slot( input, base_sample( i, mode->sample_count, input->live_count ) );
        mode->boxes[i] = input->boxes[mode->slots[i]];
    }
}

// How far a sampled object moved; infinite if it was removed.
static float sample_shift( const rest_mode* mode, const clv_method_input* input, uint32_t i )
{
    uint32_t slot = mode->slots[i];
    CLV_ASSERT( i < mode->sample_count );
    return is_live( input, slot ) ? clv_rest_shift( &mode->boxes[i], &input->boxes[slot] ) : INFINITY;
}

// Marginal pairs to be expected for each pair that touches, in 1024ths, with the margins that these shifts
// make. Boxes of one size whose margins are a part e of it are marginal in a room of (1 + 2e)^3 - (1 - 2e)^3
// of that in which they touch.
static uint64_t expected_marginal( const rest_mode* mode, const clv_method_input* input )
{
    float sum = 0, count = (float)mode->sample_count;
    for ( uint32_t i = 0; i < mode->sample_count; ++i )
    {
        float speed = sample_shift( mode, input, i ) / (float)mode->age;
        sum += clv_rest_margin_part( &mode->boxes[i], clv_rest_margin( &mode->boxes[i], speed, i ) );
    }
    float e = mode->sample_count > 0 ? sum / count : 0;
    return (uint64_t)( 1024 * ( 12 * e + 16 * e * e * e ) );
}

static void give_sample_margins( rest_mode* mode, const clv_method_input* input )
{
    for ( uint32_t i = 0; i < mode->sample_count; ++i )
    {
        mode->margins[i] = clv_rest_margin( &mode->boxes[i], sample_shift( mode, input, i ), i );
    }
}

// Are most of the sample so fast that their margins would be the widest there are?
static bool is_fast( const rest_mode* mode, const clv_method_input* input )
{
    uint32_t fast = 0;
    for ( uint32_t i = 0; i < mode->sample_count; ++i )
    {
        float shift = sample_shift( mode, input, i );
        fast += !(
            clv_rest_margin( &mode->boxes[i], shift, i ) < clv_rest_margin( &mode->boxes[i], INFINITY, i ) );
    }
    return fast > mode->sample_count / 2;
}

static void note_shifts( rest_mode* mode, const clv_method_input* input )
{
    for ( uint32_t i = 0; i < mode->sample_count; ++i )
    {
        mode->shifts[i] = sample_shift( mode, input, i );
    }
    mode->shift_age = mode->age;
}

// Refits per update in 1024ths of the objects, if these move on as they did. Jitter is as far when its shifts
// are noted as it is at the end, so over many it adds up to nothing; drift goes on.
static uint64_t expected_refits( const rest_mode* mode, const clv_method_input* input )
{
    float sum = 0, age = (float)mode->age, since = (float)( mode->age - mode->shift_age );
    for ( uint32_t i = 0; i < mode->sample_count; ++i )
    {
        float margin = mode->margins[i];
        float shift = sample_shift( mode, input, i );
        float share = shift > 0 ? 1.0f : 0.0f;
        if ( shift < margin )
        {
            share = ( shift - mode->shifts[i] ) / ( margin * since );
        }
        else if ( shift < margin * age )
        {
            share = shift / ( margin * age );
        }
        sum += share > -1 ? share : -1;
    }
    return mode->sample_count > 0 && sum > 0 ? (uint64_t)( sum * 1024 / (float)mode->sample_count ) : 0;
}

// Objects, in 1024ths, that leave the widest margin in every update: their pairs change as often.
static uint64_t expected_jumps( const rest_mode* mode, const clv_method_input* input )
{
    uint64_t jumps = 0;
    for ( uint32_t i = 0; i < mode->sample_count; ++i )
    {
        jumps += sample_shift( mode, input, i ) >=
            clv_rest_margin( &mode->boxes[i], INFINITY, i ) * (float)mode->age;
    }
    return mode->sample_count > 0 ? jumps * 1024 / mode->sample_count : 0;
}

// Have at most so many moved? Where many have, a few words tell, and the others are in other workers' caches.
static bool moved_at_most( const clv_method_input* input, uint64_t most )
{
    uint64_t count = 0;
    for ( uint64_t word = 0; word < base_bits_words( input->slot_count ) && count <= most; ++word )
    {
        count += base_bit_count( input->moved[word] );
    }
    return count <= most;
}

// ---- advice

// Does following promise to cost enough less than searching? Entering has its price, too, and where it was
// paid in vain not long ago a fourth is asked for.
static bool promises_enough( const rest_mode* mode, uint64_t cost, uint32_t object_count )
{
    uint64_t search = search_cost( mode, object_count );
    return mode->wait > 0 ? 4 * cost <= search : 3 * cost <= 2 * search;
}

static bool promises_rest( const rest_mode* mode, const clv_method_input* input )
{
    uint32_t count = input->live_count;
    uint64_t refits = expected_refits( mode, input ) * count / 1024;
    uint64_t marginal = expected_marginal( mode, input ) * mode->pair_count / 1024;
    CLV_ASSERT( refits <= count );
    uint64_t jumps = expected_jumps( mode, input ) * count / 1024;
    uint64_t cost = (uint64_t)count * COMPARE + marginal * TEST + refits * refit_cost( mode, count ) +
        jumps * CHANGE * mean_degree( mode, count );
    uint64_t sure = mode->pair_count > marginal / 2 ? mode->pair_count - marginal / 2 : 0;
    return !rest_is_too_marginal( count, sure, marginal ) && promises_enough( mode, cost, count );
}

// What the sample, an update older, says. While a space's first sample ages all boxes are remembered, unless
// it is clear at once that there is no rest; it is judged early and once more, and the world can then be
// entered at once. Later samples promise less, so boxes are remembered only once they do.
static rest_advice advise_by_sample( rest_mode* mode, const clv_method_input* input )
{
    rest_advice advice = REST_SEARCH;
    CLV_ASSERT( mode->age <= SAMPLE_AGE );
    if ( mode->age == 0 )
    {
        sample_boxes( mode, input );
    }
    else if ( mode->age == 1 )
    {
        give_sample_margins( mode, input );
        note_shifts( mode, input );
        advice = mode->is_first && !is_fast( mode, input ) ? REST_REMEMBER : REST_SEARCH;
    }
    else if ( mode->age == SAMPLE_AGE / 2 )
    {
        if ( mode->remembered > 0 && promises_rest( mode, input ) )
        {
            mode->is_first = false;
            return REST_ENTER;
        }
        note_shifts( mode, input );
    }
    else if ( mode->age == SAMPLE_AGE )
    {
        bool is_promising = promises_rest( mode, input ), is_known = mode->remembered > 0;
        mode->age = 0;
        mode->is_first = false;
        mode->hold = is_promising && !is_known;
        return !is_promising ? REST_SEARCH : is_known ? REST_ENTER : REST_REMEMBER;
    }
    mode->age += 1;
    return advice;
}

static rest_advice advise( rest_mode* mode, const clv_method_input* input )
{
    if ( mode->choice != REST_BY_COST || input->live_count < mode->least )
    {
        mode->age = 0;
        mode->hold = 0;
        return mode->choice == REST_ALWAYS ? REST_ENTER : REST_SEARCH;
    }
    if ( mode->hold > 0 )
    {
        mode->hold = mode->hold < REST_HOLD ? mode->hold + 1 : 0;
        return mode->hold > 0 ? REST_SEARCH : REST_ENTER;
    }
    mode->waited = mode->wait > 0 ? mode->waited + 1 : 0;
    mode->wait -= mode->wait > 0;
    if ( mode->wait > 0 && mode->waited <= DEAF_WAIT )
    {
        return REST_SEARCH;
    }
    uint64_t few = clv_rest_mode_limit( mode, input ) / ( mode->wait > 0 ? 8 : 2 );
    if ( input->moved != NULL && moved_at_most( input, few ) )
    {
        mode->age = 0;
        return REST_ENTER;
    }
    return advise_by_sample( mode, input );
}

rest_advice clv_rest_mode_advise( rest_mode* mode, const clv_method_input* input )
{
    rest_advice advice = advise( mode, input );
    if ( advice == REST_REMEMBER )
    {
        mode->remembered = 1;
    }
    else if ( mode->remembered > 0 && advice == REST_SEARCH )
    {
        mode->remembered = mode->age > 0 || mode->hold > 0 ? mode->remembered + 1 : 0;
    }
    return advice;
}

uint64_t clv_rest_mode_limit( const rest_mode* mode, const clv_method_input* input )
{
    if ( mode->choice == REST_ALWAYS )
    {
        return UINT64_MAX;
    }
    return search_cost( mode, input->live_count ) / refit_cost( mode, input->live_count );
}

bool clv_rest_mode_review( rest_mode* mode, const rest_world* world, uint32_t object_count )
{
    const rest_counters* c = &world->counters;
    uint64_t steps = (uint64_t)c->refit_count + c->come_count + c->gone_count;
    uint64_t cost = (uint64_t)object_count * COMPARE + c->test_count * TEST + steps * REFIT +
        c->near_count * NEIGHBOUR + c->step_count * STEP + ( c->change_count + c->turn_count ) * CHANGE;
    mode->stay += 1;
    mode->pair_count = world->pairs.list.count;
    mode->cost = mode->stay == 1 ? cost : ( 3 * mode->cost + cost ) / 4;
    uint64_t search = search_cost( mode, object_count );
    mode->saved += search > cost ? search - cost : 0;
    return mode->choice == REST_ALWAYS || mode->cost <= search;
}

void clv_rest_mode_note_end( rest_mode* mode, uint32_t object_count )
{
    bool was_worth_it = mode->saved >= ENTER_SEARCHES * search_cost( mode, object_count );
    mode->wait = was_worth_it ? FIRST_WAIT : mode->next_wait;
    mode->next_wait = 2 * mode->wait < LONGEST_WAIT ? 2 * mode->wait : LONGEST_WAIT;
    CLV_ASSERT( mode->wait > 0 && mode->next_wait <= LONGEST_WAIT );
    mode->waited = 0;
    mode->saved = 0;
    mode->stay = 0;
    mode->age = 0;
    mode->hold = 0;
    mode->remembered = 0;
}
