// SPDX-License-Identifier: MIT
#include "kd/kd_rest.h"

#include "base/bits.h"
#include "kd/kd_exact.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum
{
    BIT_SETS = 5,
    SAMPLE = 10, // one word of members in so many: more than may move where rest is worth a look
    WORDS = 30   // of a piece, 1,920 members; a multiple of SAMPLE
};

void clv_kd_rest_init( kd_rest* rest, base_memory* memory, const simd_method_kernels* kernels )
{
    *rest = ( kd_rest ){ .memory = memory, .kernels = kernels };
}

void clv_kd_rest_release( kd_rest* rest )
{
    base_memory* memory = rest->memory;
    clv_base_memory_give( memory, rest->grown, rest->grown_capacity, sizeof( clv_aabb ) );
    clv_base_memory_give( memory, rest->words, rest->word_capacity * BIT_SETS, sizeof( uint64_t ) );
    clv_base_memory_give( memory, rest->cache, rest->cache_capacity, sizeof( clv_pair ) );
    clv_base_memory_give( memory, rest->candidates, rest->candidate_capacity, sizeof( clv_pair ) );
    clv_base_memory_give( memory, rest->last, rest->last_capacity, sizeof( clv_aabb ) );
    float still = rest->still;
    task_runner* tasks = rest->tasks;
    clv_kd_rest_init( rest, memory, rest->kernels );
    rest->still = still;
    rest->tasks = tasks;
}

static uint64_t words_for( uint64_t slot_count )
{
    return ( slot_count + 63 ) / 64;
}

// The sets lie behind each other, so growing moves each of them.
static bool grow_words( kd_rest* rest, uint64_t needed )
{
    uint64_t capacity = needed + needed / 2 + 1;
    uint64_t* words = clv_base_memory_take( rest->memory, capacity * BIT_SETS, sizeof( uint64_t ) );
    if ( words == NULL )
    {
        return false;
    }
    memset( words, 0, (size_t)( capacity * BIT_SETS ) * sizeof( uint64_t ) );
    for ( uint64_t set = 0; set < BIT_SETS && rest->word_capacity > 0; ++set )
    {
        memcpy( words + set * capacity, rest->words + set * rest->word_capacity,
            (size_t)rest->word_capacity * sizeof( uint64_t ) );
    }
    clv_base_memory_give( rest->memory, rest->words, rest->word_capacity * BIT_SETS, sizeof( uint64_t ) );
    rest->words = words;
    rest->word_capacity = capacity;
    rest->moving = words;
    rest->settled = words + capacity;
    rest->active = words + capacity * 2;
    rest->changed = words + capacity * 3;
    rest->known = words + capacity * 4;
    return true;
}

static bool reserve_boxes( kd_rest* rest, uint32_t slot_count )
{
    void* grown = rest->grown;
    void* candidates = rest->candidates;
    bool ok = clv_base_memory_reserve( rest->memory, &grown, &rest->grown_capacity, rest->grown_capacity,
                  slot_count, sizeof( clv_aabb ) ) &&
        clv_base_memory_reserve(
            rest->memory, &candidates, &rest->candidate_capacity, 0, KD_CANDIDATES, sizeof( clv_pair ) );
    rest->grown = grown;
    rest->candidates = candidates;
    if ( ok && rest->still > 0 )
    {
        void* last = rest->last;
        ok = clv_base_memory_reserve(
            rest->memory, &last, &rest->last_capacity, rest->last_capacity, slot_count, sizeof( clv_aabb ) );
        rest->last = last;
    }
    return ok;
}

bool clv_kd_rest_reserve( kd_rest* rest, uint32_t slot_count, bool with_boxes )
{
    uint64_t words = words_for( slot_count );
    if ( words > rest->word_capacity && !grow_words( rest, words ) )
    {
        return false;
    }
    rest->slot_end = rest->slot_end > slot_count ? rest->slot_end : slot_count;
    return !with_boxes || reserve_boxes( rest, slot_count );
}

// No box is inside this one.
static const clv_aabb s_no_box = { { NAN, NAN, NAN }, { NAN, NAN, NAN } };

void clv_kd_rest_enter( kd_rest* rest, uint32_t slot )
{
    rest->grown[slot] = s_no_box;
    if ( rest->still > 0 )
    {
        rest->last[slot] = s_no_box;
    }
    kd_bit_clear( rest->settled, slot );
}

void clv_kd_rest_purge( kd_rest* rest, const uint64_t* live )
{
    uint64_t kept = 0;
    for ( uint64_t i = 0; i < rest->cache_count; ++i )
    {
        clv_pair pair = rest->cache[i];
        rest->cache[kept] = pair;
        kept += kd_bit( live, pair.a ) & kd_bit( live, pair.b );
    }
    rest->cache_count = kept;
}

void clv_kd_rest_forget( kd_rest* rest )
{
    memset( rest->settled, 0, (size_t)words_for( rest->slot_end ) * sizeof( uint64_t ) );
    rest->cache_count = 0;
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

// The rule of speed: fast ones lose their grown box, so that it does not hold them. Slow ones still must lie in theirs. Speed
// alone would lose pairs: who creeps for long enough comes to meet others, and nobody would look.
static void drop_fast( kd_rest* rest, const clv_aabb* boxes, uint32_t begin, uint32_t count )
{
    for ( uint32_t slot = begin; slot < begin + count; ++slot )
    {
        if ( is_fast( &rest->last[slot], &boxes[slot], (double)rest->still ) )
        {
            rest->grown[slot] = s_no_box;
        }
        rest->last[slot] = boxes[slot];
    }
}

// One run of members after the other; most words are one run of 64.
static uint64_t classify_word(
    kd_rest* rest, const clv_aabb* boxes, uint32_t first, uint64_t members, float epsilon )
{
    uint64_t moving = 0;
    while ( members != 0 )
    {
        uint32_t begin = base_lowest_bit( members );
        uint64_t holes = ~( members >> begin );
        uint32_t length = holes != 0 ? base_lowest_bit( holes ) : 64;
        length = length < 64 - begin ? length : 64 - begin;
        uint32_t slot = first + begin;
        if ( rest->still > 0 )
        {
            drop_fast( rest, boxes, slot, length );
        }
        moving |= rest->kernels->regrow( boxes + slot, rest->grown + slot, length, epsilon ) << begin;
        members &= length < 64 ? ~( ( ( (uint64_t)1 << length ) - 1 ) << begin ) : 0;
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
        uint64_t members = rest->known[word] & ( job->moved != NULL ? job->moved[word] : UINT64_MAX );
        uint64_t bits = classify_word( rest, job->boxes, (uint32_t)( word * 64 ), members, job->epsilon );
        rest->moving[word] = bits;
        rest->changed[word] |= bits;
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
    uint64_t end = words_for( job->rest->slot_end );
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
        (uint32_t)( ( words_for( rest->slot_end ) + WORDS - 1 ) / WORDS ), job );
    return atomic_load_explicit( &job->moving_count, memory_order_relaxed );
}

void clv_kd_rest_classify(
    kd_rest* rest, const clv_aabb* boxes, const uint64_t* moved, float epsilon, uint32_t enough )
{
    // Whoever was left out last time may have moved then.
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
    uint64_t words = words_for( rest->slot_end );
    rest->active_count = 0;
    rest->has_unsettled = false;
    for ( uint64_t word = 0; word < words; ++word )
    {
        uint64_t bits = rest->moving[word] | ( rest->known[word] & ~rest->settled[word] );
        rest->active[word] = bits;
        rest->has_unsettled |= ( bits & rest->settled[word] ) != 0;
        rest->active_count += base_bit_count( bits );
    }
}

static void drop_active_pairs( kd_rest* rest )
{
    if ( !rest->has_unsettled )
    {
        return; // the cache has pairs of settled objects alone
    }
    uint64_t kept = 0;
    for ( uint64_t i = 0; i < rest->cache_count; ++i )
    {
        clv_pair pair = rest->cache[i];
        rest->cache[kept] = pair;
        kept += !( kd_bit( rest->active, pair.a ) | kd_bit( rest->active, pair.b ) );
    }
    rest->cache_count = kept;
}

clv_result clv_kd_rest_replay( kd_rest* rest, const clv_aabb* boxes, pair_sink* sink )
{
    drop_active_pairs( rest );
    rest->cache_test_count = rest->cache_count;
    for ( uint64_t done = 0; done < rest->cache_count; )
    {
        if ( pair_sink_is_full( sink ) )
        {
            clv_result result = sink->make_room( sink );
            if ( result != CLV_OK )
            {
                return result; // the caller forgets the cache
            }
        }
        uint64_t room = sink->capacity - sink->count;
        uint64_t left = rest->cache_count - done;
        uint32_t chunk = (uint32_t)( left < room ? left : room < UINT32_MAX ? room : UINT32_MAX );
        sink->count +=
            rest->kernels->keep_overlapping( boxes, rest->cache + done, chunk, sink->pairs + sink->count );
        done += chunk;
    }
    return CLV_OK;
}

static bool reserve_cache( kd_rest* rest, uint64_t needed )
{
    void* cache = rest->cache;
    bool ok = clv_base_memory_reserve(
        rest->memory, &cache, &rest->cache_capacity, rest->cache_count, needed, sizeof( clv_pair ) );
    rest->cache = cache;
    return ok;
}

void clv_kd_rest_expect( kd_rest* rest, uint64_t pair_count )
{
    (void)reserve_cache( rest, pair_count + pair_count / 8 + 64 );
}

static bool cache_pair( kd_rest* rest, clv_pair pair )
{
    if ( rest->cache_count == rest->cache_capacity && !reserve_cache( rest, rest->cache_count + 64 ) )
    {
        return false;
    }
    rest->cache[rest->cache_count++] = pair;
    return true;
}

static clv_result take_candidates( pair_sink* sink )
{
    kd_rest_sink* self = (kd_rest_sink*)sink;
    kd_rest* rest = self->rest;
    rest->candidate_count += sink->count;
    for ( uint64_t i = 0; i < sink->count; ++i )
    {
        clv_pair pair = sink->pairs[i];
        if ( !( kd_bit( rest->active, pair.a ) | kd_bit( rest->active, pair.b ) ) )
        {
            continue;
        }
        bool both_static = !( kd_bit( rest->moving, pair.a ) | kd_bit( rest->moving, pair.b ) );
        bool is_room = rest->cache_count < self->most;
        self->is_overfull |= both_static && !is_room;
        if ( both_static && is_room && !cache_pair( rest, pair ) )
        {
            return CLV_OUT_OF_MEMORY;
        }
        if ( clv_aabb_overlap( self->boxes[pair.a], self->boxes[pair.b] ) )
        {
            clv_result result = clv_pair_sink_put( self->out, pair.a, pair.b );
            if ( result != CLV_OK )
            {
                return result;
            }
        }
    }
    sink->count = 0;
    return CLV_OK;
}

kd_rest_sink clv_kd_rest_open( kd_rest* rest, const clv_aabb* boxes, pair_sink* out, uint64_t most )
{
    rest->candidate_count = 0;
    return ( kd_rest_sink ){
        .sink = { .pairs = rest->candidates,
            .capacity = rest->candidate_capacity,
            .make_room = take_candidates },
        .rest = rest,
        .boxes = boxes,
        .out = out,
        .most = most,
    };
}

clv_result clv_kd_rest_close( kd_rest_sink* sink )
{
    clv_result result = take_candidates( &sink->sink );
    if ( result != CLV_OK )
    {
        return result;
    }
    kd_rest* rest = sink->rest;
    if ( sink->is_overfull )
    {
        clv_kd_rest_forget( rest ); // half a cache is none
        return CLV_OK;
    }
    uint64_t words = words_for( rest->slot_end );
    for ( uint64_t word = 0; word < words; ++word )
    {
        rest->settled[word] = rest->known[word] & ~rest->moving[word];
    }
    return CLV_OK;
}
