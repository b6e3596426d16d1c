// SPDX-License-Identifier: MIT
#include "kd/kd_rest.h"

#include "base/bits.h"
#include "kd/kd_exact.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum
{
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
    base_array_free( &rest->grown, memory );
    base_array_free( &rest->moving, memory );
    base_array_free( &rest->settled, memory );
    base_array_free( &rest->active, memory );
    base_array_free( &rest->changed, memory );
    base_array_free( &rest->known, memory );
    base_array_free( &rest->cache, memory );
    base_array_free( &rest->candidates, memory );
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
        base_array_extend( &rest->settled, memory, words ) &&
        base_array_extend( &rest->active, memory, words ) &&
        base_array_extend( &rest->changed, memory, words ) &&
        base_array_extend( &rest->known, memory, words );
    if ( !ok )
    {
        return false;
    }
    rest->slot_end = rest->slot_end > slot_count ? rest->slot_end : slot_count;
    return !with_boxes ||
        ( base_array_reserve( &rest->grown, memory, slot_count ) &&
            base_array_reserve( &rest->candidates, memory, KD_CANDIDATES ) &&
            ( rest->still <= 0 || base_array_reserve( &rest->last, memory, slot_count ) ) );
}

// No box is inside this one.
static const clv_aabb s_no_box = { { NAN, NAN, NAN }, { NAN, NAN, NAN } };

void clv_kd_rest_enter( kd_rest* rest, uint32_t slot )
{
    rest->grown.items[slot] = s_no_box;
    if ( rest->still > 0 )
    {
        rest->last.items[slot] = s_no_box;
    }
    base_bits_remove( rest->settled.items, slot );
}

void clv_kd_rest_purge( kd_rest* rest, const uint64_t* live )
{
    uint64_t kept = 0;
    for ( uint64_t i = 0; i < rest->cache.count; ++i )
    {
        clv_pair pair = rest->cache.items[i];
        rest->cache.items[kept] = pair;
        kept += base_bits_has_both( live, pair.a, pair.b );
    }
    rest->cache.count = kept;
}

void clv_kd_rest_forget( kd_rest* rest )
{
    memset( rest->settled.items, 0, (size_t)base_bits_words( rest->slot_end ) * sizeof( uint64_t ) );
    rest->cache.count = 0;
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
        uint32_t begin = base_lowest_bit( members );
        uint64_t holes = ~( members >> begin );
        uint32_t length = holes != 0 ? base_lowest_bit( holes ) : 64;
        length = length < 64 - begin ? length : 64 - begin;
        uint32_t slot = first + begin;
        if ( rest->still > 0 )
        {
            drop_fast( rest, boxes, slot, length );
        }
        moving |= rest->kernels->regrow( boxes + slot, rest->grown.items + slot, length, epsilon ) << begin;
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
    uint64_t words = base_bits_words( rest->slot_end );
    rest->active_count = 0;
    rest->has_unsettled = false;
    for ( uint64_t word = 0; word < words; ++word )
    {
        uint64_t bits = rest->moving.items[word] | ( rest->known.items[word] & ~rest->settled.items[word] );
        rest->active.items[word] = bits;
        rest->has_unsettled |= ( bits & rest->settled.items[word] ) != 0;
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
    for ( uint64_t i = 0; i < rest->cache.count; ++i )
    {
        clv_pair pair = rest->cache.items[i];
        rest->cache.items[kept] = pair;
        kept += !base_bits_has_either( rest->active.items, pair.a, pair.b );
    }
    rest->cache.count = kept;
}

clv_result clv_kd_rest_replay( kd_rest* rest, const clv_aabb* boxes, pair_sink* sink )
{
    drop_active_pairs( rest );
    rest->cache_test_count = rest->cache.count;
    for ( uint64_t done = 0; done < rest->cache.count; )
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
        uint64_t left = rest->cache.count - done;
        uint32_t chunk = (uint32_t)( left < room ? left : room < UINT32_MAX ? room : UINT32_MAX );
        sink->count += rest->kernels->keep_overlapping(
            boxes, rest->cache.items + done, chunk, sink->pairs + sink->count );
        done += chunk;
    }
    return CLV_OK;
}

void clv_kd_rest_expect( kd_rest* rest, uint64_t pair_count )
{
    (void)base_array_reserve( &rest->cache, rest->memory, pair_count + pair_count / 8 + 64 );
}

static bool cache_pair( kd_rest* rest, clv_pair pair )
{
    if ( rest->cache.count == rest->cache.capacity &&
        !base_array_reserve( &rest->cache, rest->memory, rest->cache.count + 64 ) )
    {
        return false;
    }
    rest->cache.items[rest->cache.count++] = pair;
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
        if ( !base_bits_has_either( rest->active.items, pair.a, pair.b ) )
        {
            continue;
        }
        bool both_static = !base_bits_has_either( rest->moving.items, pair.a, pair.b );
        bool is_room = rest->cache.count < self->most;
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
        .sink = { .pairs = rest->candidates.items,
            .capacity = rest->candidates.capacity,
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
    uint64_t words = base_bits_words( rest->slot_end );
    for ( uint64_t word = 0; word < words; ++word )
    {
        rest->settled.items[word] = rest->known.items[word] & ~rest->moving.items[word];
    }
    return CLV_OK;
}
