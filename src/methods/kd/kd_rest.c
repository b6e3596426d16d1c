// SPDX-License-Identifier: MIT
#include "kd/kd_rest.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "kd/kd_search.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum
{
    SAMPLE = 10,   // one word of members in so many: more than may move where rest is worth a look
    WORDS = 30,    // of a piece, 1,920 members; a multiple of SAMPLE
    DROP_STEP = 8, // pairs that are looked at together
    FEW_MOVE = 32  // one object in so many
};

void clv_kd_rest_init( kd_rest* rest, base_memory* memory, const simd_method_kernels* kernels )
{
    *rest = ( kd_rest ){ .memory = memory, .kernels = kernels };
}

void clv_kd_rest_release( kd_rest* rest )
{
    base_memory* memory = rest->memory;
    base_array_free( &rest->grown, memory );
    base_array_free( &rest->moving, memory );
    base_array_free( &rest->live, memory );
    base_array_free( &rest->changed, memory );
    base_array_free( &rest->known, memory );
    base_array_free( &rest->sure, memory );
    base_array_free( &rest->marginal, memory );
    base_array_free( &rest->fresh, memory );
    base_array_free( &rest->last, memory );
    float still = rest->still;
    task_runner* tasks = rest->tasks;
    clv_kd_rest_init( rest, memory, rest->kernels );
    rest->still = still;
    rest->tasks = tasks;
}

bool clv_kd_rest_reserve( kd_rest* rest, uint32_t slot_count, bool with_boxes )
{
    base_memory* memory = rest->memory;
    uint64_t words = base_bits_words( slot_count );
    rest->grown.count = rest->grown.capacity;
    rest->last.count = rest->last.capacity;
    bool ok = base_array_extend( &rest->moving, memory, words ) &&
        base_array_extend( &rest->live, memory, words ) &&
        base_array_extend( &rest->changed, memory, words ) &&
        base_array_extend( &rest->known, memory, words );
    if ( !ok )
    {
        return false;
    }
    rest->slot_end = rest->slot_end > slot_count ? rest->slot_end : slot_count;
    return !with_boxes ||
        ( base_array_reserve( &rest->grown, memory, slot_count ) &&
            base_array_reserve( &rest->fresh, memory, KD_CANDIDATES ) &&
            ( rest->still <= 0 || base_array_reserve( &rest->last, memory, slot_count ) ) );
}

// No box is inside this one.
static const clv_aabb s_no_box = { { NAN, NAN, NAN }, { NAN, NAN, NAN } };

void clv_kd_rest_enter( kd_rest* rest, uint32_t slot )
{
    CLV_ASSERT( slot < rest->slot_end && slot < rest->grown.capacity );
    rest->grown.items[slot] = s_no_box;
    if ( rest->still > 0 )
    {
        rest->last.items[slot] = s_no_box;
    }
}

static uint64_t keep_live( clv_pair* pairs, uint64_t count, const uint64_t* live )
{
    uint64_t kept = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        clv_pair pair = pairs[i];
        pairs[kept] = pair;
        kept += base_bits_has_both( live, pair.a, pair.b );
    }
    return kept;
}

void clv_kd_rest_purge( kd_rest* rest, const uint64_t* live )
{
    rest->sure_count = keep_live( rest->sure.items, rest->sure_count, live );
    rest->marginal.count = keep_live( rest->marginal.items, rest->marginal.count, live );
    rest->fresh.count = keep_live( rest->fresh.items, rest->fresh.count, live );
}

void clv_kd_rest_forget( kd_rest* rest )
{
    rest->is_filled = false;
    rest->sure_count = rest->marginal.count = rest->fresh.count = 0;
}

static bool is_fast( const clv_aabb* from, const clv_aabb* to, double still )
{
    if ( memcmp( from, to, sizeof( clv_aabb ) ) == 0 )
    {
        return false; // an endless box has no centre to tell by
    }
    double square = 0;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        double twice = (double)kd_lower( to, axis ) + (double)kd_upper( to, axis ) -
            ( (double)kd_lower( from, axis ) + (double)kd_upper( from, axis ) );
        square += twice * twice / 4;
    }
    return !( square < still * still );
}

// The rule of speed: fast ones lose their grown box, so that it does not hold them. Slow ones still must lie
// in theirs. Speed alone would lose pairs: a slow object reaches others in time, and would not be tested
// against them.
static void drop_fast( kd_rest* rest, const clv_aabb* boxes, uint32_t begin, uint32_t count )
{
    for ( uint32_t slot = begin; slot < begin + count; ++slot )
    {
        if ( is_fast( &rest->last.items[slot], &boxes[slot], (double)rest->still ) )
        {
            rest->grown.items[slot] = s_no_box;
        }
        rest->last.items[slot] = boxes[slot];
    }
}

// One run of members after the other; most words are one run of 64.
static uint64_t classify_word(
    kd_rest* rest, const clv_aabb* boxes, uint32_t first, uint64_t members, float epsilon )
{
    uint64_t moving = 0;
    while ( members != 0 )
    {
        uint32_t length, begin = base_bits_take_run( &members, &length );
        uint32_t slot = first + begin;
        CLV_ASSERT( length > 0 && (uint64_t)slot + length <= rest->grown.capacity );
        if ( rest->still > 0 )
        {
            drop_fast( rest, boxes, slot, length );
        }
        moving |= rest->kernels->regrow( boxes + slot, rest->grown.items + slot, length, epsilon ) << begin;
    }
    return moving;
}

// One classification.
typedef struct rest_classing
{
    kd_rest* rest;
    const clv_aabb* boxes;
    const uint64_t* moved;
    float epsilon;
    bool is_sample; // or all the others
    atomic_uint moving_count;
} rest_classing;

// Every SAMPLE-th word from `first` on. How many of them move.
static uint32_t classify_words( const rest_classing* job, uint64_t first, uint64_t end )
{
    kd_rest* rest = job->rest;
    uint32_t moving_count = 0;
    for ( uint64_t word = first; word < end; word += SAMPLE )
    {
        uint64_t members = rest->known.items[word] & ( job->moved != NULL ? job->moved[word] : UINT64_MAX );
        uint64_t bits = classify_word( rest, job->boxes, (uint32_t)( word * 64 ), members, job->epsilon );
        rest->moving.items[word] = bits;
        rest->changed.items[word] |= bits;
        moving_count += base_bit_count( bits );
    }
    return moving_count;
}

// The words of the sample, or all but those.
static void classify_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    rest_classing* job = context;
    uint64_t begin = (uint64_t)index * WORDS;
    uint64_t end = base_bits_words( job->rest->slot_end );
    end = end - begin > WORDS ? begin + WORDS : end;
    uint32_t moving_count = 0;
    for ( uint64_t first = job->is_sample ? 0 : 1; first < ( job->is_sample ? 1 : SAMPLE ); ++first )
    {
        moving_count += classify_words( job, begin + first, end );
    }
    atomic_fetch_add_explicit( &job->moving_count, moving_count, memory_order_relaxed );
}

static uint32_t classify( rest_classing* job, bool is_sample )
{
    kd_rest* rest = job->rest;
    task_runner alone = { 0 };
    job->is_sample = is_sample;
    atomic_init( &job->moving_count, 0 );
    clv_task_run( rest->tasks != NULL ? rest->tasks : &alone, classify_piece,
        (uint32_t)( ( base_bits_words( rest->slot_end ) + WORDS - 1 ) / WORDS ), job );
    return atomic_load_explicit( &job->moving_count, memory_order_relaxed );
}

void clv_kd_rest_classify(
    kd_rest* rest, const clv_aabb* boxes, const uint64_t* moved, float epsilon, uint32_t enough )
{
    if ( rest->epsilon != epsilon )
    {
        rest->epsilon = epsilon;
        clv_kd_rest_forget( rest ); // which pairs are sure depends on it
    }
    // Objects that were left out last time may have moved then.
    moved = rest->was_cut_short ? NULL : moved;
    rest_classing job = { .rest = rest, .boxes = boxes, .moved = moved, .epsilon = epsilon };
    rest->moving_count = classify( &job, true );
    rest->was_cut_short = rest->moving_count > enough;
    if ( !rest->was_cut_short )
    {
        rest->moving_count += classify( &job, false );
    }
}

void clv_kd_rest_choose_active( kd_rest* rest )
{
    CLV_ASSERT( !rest->is_filled || !rest->was_cut_short ); // or `moving` tells nothing
    rest->active = rest->is_filled ? rest->moving.items : rest->known.items;
    rest->active_count = rest->moving_count;
    if ( !rest->is_filled )
    {
        rest->active_count = 0;
        for ( uint64_t word = 0; word < base_bits_words( rest->slot_end ); ++word )
        {
            rest->active_count += base_bit_count( rest->known.items[word] );
        }
    }
}

// ---- what is kept

// Those of two static objects, in order.
static uint64_t keep_static( clv_pair* pairs, uint64_t count, const uint64_t* moving )
{
    uint64_t kept = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        clv_pair pair = pairs[i];
        pairs[kept] = pair;
        kept += !base_bits_has_either( moving, pair.a, pair.b );
    }
    return kept;
}

static bool has_moving( const clv_pair* pairs, const uint64_t* moving )
{
    bool any = false;
    for ( uint32_t i = 0; i < DROP_STEP; ++i )
    {
        any |= base_bits_has_either( moving, pairs[i].a, pairs[i].b );
    }
    return any;
}

// The same where few move, which is not worth writing all of them again: the last ones take the places of
// those that go.
static uint64_t drop_moving( clv_pair* pairs, uint64_t count, const uint64_t* moving )
{
    for ( uint64_t at = 0; at < count; )
    {
        if ( at + DROP_STEP <= count && !has_moving( pairs + at, moving ) )
        {
            at += DROP_STEP;
        }
        else if ( base_bits_has_either( moving, pairs[at].a, pairs[at].b ) )
        {
            pairs[at] = pairs[--count];
        }
        else
        {
            at += 1;
        }
    }
    return count;
}

static uint64_t drop( const kd_rest* rest, clv_pair* pairs, uint64_t count )
{
    const uint64_t* moving = rest->moving.items;
    bool are_few = (uint64_t)rest->moving_count * FEW_MOVE < rest->slot_end;
    return are_few ? drop_moving( pairs, count, moving ) : keep_static( pairs, count, moving );
}

static bool reserve_pairs( kd_rest* rest, kd_pair_array* array, uint64_t kept, uint64_t needed )
{
    array->count = kept;
    return base_array_reserve( array, rest->memory, needed );
}

// How far up the lower face of a static object may be, and how far down its upper one: the floats that tell
// whether it is static. Infinite where that is not known.
static float highest_lower( const kd_rest* rest, uint32_t slot, uint32_t axis )
{
    float lower = kd_lower( &rest->grown.items[slot], axis ) + 2 * rest->epsilon;
    return lower > -INFINITY ? lower : INFINITY;
}

static float lowest_upper( const kd_rest* rest, uint32_t slot, uint32_t axis )
{
    float upper = kd_upper( &rest->grown.items[slot], axis ) - 2 * rest->epsilon;
    return upper < INFINITY ? upper : -INFINITY;
}

// Do they overlap wherever in their grown boxes they are? Growing may overflow, so boxes with an infinite
// face are never sure.
static bool is_sure( const kd_rest* rest, clv_pair pair )
{
    bool sure = true;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        sure = sure && highest_lower( rest, pair.a, axis ) <= lowest_upper( rest, pair.b, axis ) &&
            highest_lower( rest, pair.b, axis ) <= lowest_upper( rest, pair.a, axis );
    }
    return sure;
}

// Those of the last search whose objects are static now join the others.
static bool sort_out_fresh( kd_rest* rest )
{
    uint64_t count = rest->fresh.count;
    uint64_t marginal_count = rest->marginal.count;
    if ( !reserve_pairs( rest, &rest->marginal, marginal_count, marginal_count + count ) ||
        !reserve_pairs( rest, &rest->sure, rest->sure_count, rest->sure_count + marginal_count + count ) )
    {
        return false;
    }
    count = keep_static( rest->fresh.items, count, rest->moving.items );
    for ( uint64_t i = 0; i < count; ++i )
    {
        clv_pair pair = rest->fresh.items[i];
        bool sure = is_sure( rest, pair );
        rest->sure.items[rest->sure_count] = pair;
        rest->sure_count += sure;
        rest->marginal.items[marginal_count] = pair;
        marginal_count += !sure;
    }
    CLV_ASSERT( marginal_count <= rest->marginal.capacity && rest->sure_count <= rest->sure.capacity );
    rest->marginal.count = marginal_count;
    rest->fresh.count = 0;
    return true;
}

// The marginal pairs whose boxes overlap now, behind the sure ones.
static void find_overlapping( kd_rest* rest, const clv_aabb* boxes )
{
    rest->sure.count = rest->sure_count;
    for ( uint64_t done = 0; done < rest->marginal.count; )
    {
        uint64_t left = rest->marginal.count - done;
        uint32_t chunk = (uint32_t)( left < UINT32_MAX ? left : UINT32_MAX );
        rest->sure.count += rest->kernels->keep_overlapping(
            boxes, rest->marginal.items + done, chunk, rest->sure.items + rest->sure.count );
        done += chunk;
    }
    CLV_ASSERT( rest->sure.count <= rest->sure.capacity );
    rest->cache_test_count = rest->marginal.count;
}

bool clv_kd_rest_replay( kd_rest* rest, const clv_aabb* boxes )
{
    if ( rest->moving_count > 0 )
    {
        rest->sure_count = drop( rest, rest->sure.items, rest->sure_count );
        rest->marginal.count = drop( rest, rest->marginal.items, rest->marginal.count );
    }
    if ( !sort_out_fresh( rest ) )
    {
        return false;
    }
    find_overlapping( rest, boxes );
    return true;
}

clv_result clv_kd_rest_hand_over( const kd_rest* rest, clv_pair_sink* sink )
{
    return clv_pair_sink_lend( sink, rest->sure.items, rest->sure.count );
}

void clv_kd_rest_shrink( kd_rest* rest )
{
    base_array_shrink( &rest->marginal, rest->memory );
    base_array_shrink( &rest->fresh, rest->memory );
}

void clv_kd_rest_expect( kd_rest* rest, uint64_t pair_count )
{
    uint64_t wanted = pair_count + pair_count / 8 + 64;
    (void)( reserve_pairs( rest, &rest->fresh, rest->fresh.count, wanted ) &&
        reserve_pairs( rest, &rest->sure, rest->sure.count, wanted ) &&
        reserve_pairs( rest, &rest->marginal, rest->marginal.count, wanted / 4 ) );
}

// ---- what a search finds

// Behind what is there already.
static clv_result pass_on( kd_rest_sink* self )
{
    kd_rest* rest = self->rest;
    CLV_ASSERT( self->passed <= self->sink.count && self->sink.count <= rest->fresh.capacity );
    uint64_t count = self->sink.count - self->passed;
    const clv_pair* found = self->sink.pairs + self->passed;
    self->passed = self->sink.count;
    rest->candidate_count += count;
    if ( !reserve_pairs( rest, &rest->sure, rest->sure.count, rest->sure.count + count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    if ( count > 0 ) // or there may be no room yet
    {
        rest->sure.count += rest->kernels->keep_overlapping(
            self->boxes, found, (uint32_t)count, rest->sure.items + rest->sure.count );
    }
    CLV_ASSERT( rest->sure.count <= rest->sure.capacity );
    if ( !self->is_overfull )
    {
        return CLV_OK;
    }
    // None of them stays, so none need wait.
    count = rest->sure.count;
    rest->sure.count = 0;
    return clv_pair_sink_put_all( self->out, rest->sure.items, count );
}

// Pairs are tested while they are in the first-level cache, and stay where they are; once they are too many
// to keep, the next take their place.
static clv_result take_candidates( clv_pair_sink* sink )
{
    kd_rest_sink* self = (kd_rest_sink*)sink;
    kd_rest* rest = self->rest;
    self->is_overfull |= sink->count + rest->sure_count + rest->marginal.count > self->most;
    clv_result result = pass_on( self );
    sink->count = self->passed = self->is_overfull ? 0 : sink->count;
    if ( result == CLV_OK && !reserve_pairs( rest, &rest->fresh, sink->count, sink->count + KD_CANDIDATES ) )
    {
        result = CLV_OUT_OF_MEMORY;
    }
    sink->pairs = rest->fresh.items;
    sink->capacity = sink->count + KD_CANDIDATES;
    CLV_ASSERT( result != CLV_OK || sink->capacity <= rest->fresh.capacity );
    return result;
}

kd_rest_sink clv_kd_rest_open( kd_rest* rest, const clv_aabb* boxes, clv_pair_sink* out, uint64_t most )
{
    return ( kd_rest_sink ){
        .sink = { .pairs = rest->fresh.items, .capacity = KD_CANDIDATES, .make_room = take_candidates },
        .rest = rest,
        .boxes = boxes,
        .out = out,
        .most = most,
    };
}

clv_result clv_kd_rest_close( kd_rest_sink* sink )
{
    kd_rest* rest = sink->rest;
    clv_result result = take_candidates( &sink->sink );
    rest->is_filled = true;
    if ( sink->is_overfull )
    {
        clv_kd_rest_forget( rest );
        return result;
    }
    return result == CLV_OK ? clv_kd_rest_hand_over( rest, sink->out ) : result;
}
