// SPDX-License-Identifier: MIT
// What recording and playing share: the tables of calls and columns, and what an answer is as words.
#include "record/record.h"

#include "base/assertion.h"
#include "query/query_probe.h"
#include "space/space_query.h"

#include <stddef.h>

#define RECORD_COLUMN_ROW( member, type, unit, units )                                                       \
    { #member, #type, offsetof( clv_add_def, member ), unit, units },
const record_column clv_record_columns[SPACE_COLUMN_COUNT] = { SPACE_COLUMNS( RECORD_COLUMN_ROW ) };
#undef RECORD_COLUMN_ROW

#define RECORD_KIND_ROW( kind, name, form, play ) { name, #play, SPACE_ABOUT_##form },
static const record_kind RECORD_KINDS[SPACE_CALL_COUNT] = { { 0 }, SPACE_CALLS( RECORD_KIND_ROW ) };
#undef RECORD_KIND_ROW

const record_kind* clv_record_kind( uint32_t kind )
{
    return kind > SPACE_CALL_NONE && kind < SPACE_CALL_COUNT ? &RECORD_KINDS[kind] : NULL;
}

bool clv_record_items( uint32_t query_kind, record_items* items )
{
    const query_row* row = query_row_of( (clv_query_kind)query_kind );
    if ( row->form == QUERY_NO_FORM )
    {
        return false;
    }
    bool is_flat = query_is_flat( (clv_query_kind)query_kind ),
         is_double = query_is_double( (clv_query_kind)query_kind );
    items->unit = is_double ? sizeof( double ) : sizeof( float );
    items->has_planes = row->form == QUERY_PLANES;
    items->has_places = items->has_planes && is_double;
    items->units =
        items->has_planes ? ( is_flat ? 3 : 4 ) : (uint32_t)row->sizes[is_double ? 2 : is_flat] / items->unit;
    return true;
}

// As it lies in memory, on most machines.
static uint64_t row_word( clv_id id )
{
    return (uint64_t)id.generation << 32 | id.index;
}

// Some at a time, which a compiler turns into vectors. An index that wrapped around would
// count in the generation.
bool clv_record_is_row( const clv_id* ids, uint32_t count )
{
    enum
    {
        SOME = 64
    };
    if ( count < 2 || ids[0].index > UINT32_MAX - count )
    {
        return false;
    }
    uint64_t next = row_word( ids[0] ), differ = 0;
    const clv_id *id = ids, *end = ids + count;
    for ( ; end - id >= SOME && differ == 0; id += SOME, next += SOME )
    {
        for ( uint64_t k = 0; k < SOME; ++k )
        {
            differ |= row_word( id[k] ) ^ ( next + k );
        }
    }
    for ( ; id < end && differ == 0; ++id, ++next )
    {
        differ = row_word( *id ) ^ next;
    }
    return differ == 0;
}

// ---- answers

// What record_hash_add makes of each, from the last pair to the first: the sum of mixes times their places is
// then that of the sums so far, which saves one of three multiplications.
void clv_record_hash_pairs( record_hash* hash, const clv_pair* pairs, uint64_t count )
{
    uint64_t sum = 0, placed = 0;
    for ( uint64_t i = count; i-- > 0; )
    {
        placed += sum;
        sum += record_mix( ( (uint64_t)pairs[i].a << 32 | pairs[i].b ) + 1 );
    }
    hash->set += sum;
    hash->order += sum * ( 2 * hash->count + 1 ) + 2 * placed;
    hash->count += count;
}

static void hash_float_hits( record_hash* hash, const clv_hit* hits, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint32_t bits;
        memcpy( &bits, &hits[i].t, sizeof( bits ) );
        record_hash_add( hash, (uint64_t)hits[i].index << 32 | bits );
    }
}

static void hash_double_hits( record_hash* hash, const clv_hit64* hits, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint64_t bits;
        memcpy( &bits, &hits[i].t, sizeof( bits ) );
        record_hash_add( hash, record_mix( bits ) + hits[i].index );
    }
}

static uint64_t id_word( clv_id id )
{
    return (uint64_t)id.index << 32 | id.generation;
}

static uint64_t hash_events( const clv_id_pair* pairs, uint64_t count )
{
    record_hash hash = { 0 };
    for ( uint64_t i = 0; i < count; ++i )
    {
        record_hash_add( &hash, id_word( pairs[i].a ) );
        record_hash_add( &hash, id_word( pairs[i].b ) );
    }
    return hash.order + count;
}

static const char* const RECORD_WORDS[][RECORD_MOST_WORDS] = {
    [SPACE_ABOUT_NEW] = { "ids of the new objects" },
    [SPACE_ABOUT_PAIRS] = { "number of pairs", "set of pairs", "order of the pairs", "pairs that began",
        "pairs that ended" },
    [SPACE_ABOUT_QUERIES] = { "number of hits", "hits" },
    [SPACE_ABOUT_SPACES] = { "number of pairs", "pairs" },
};

const char* clv_record_word( space_call_form form, uint32_t word )
{
    return word < RECORD_MOST_WORDS ? RECORD_WORDS[form][word] : NULL;
}

bool clv_record_word_is_order( uint32_t kind, uint32_t word )
{
    CLV_ASSERT( clv_record_kind( kind ) != NULL );
    bool is_any = kind == SPACE_CALL_QUERY_ANY || kind == SPACE_CALL_QUERY_ANY64;
    return clv_record_kind( kind )->form == SPACE_ABOUT_PAIRS ? word == 2 : is_any && word == 1;
}

record_answer clv_record_answer(
    const clv_space* space, const space_call* call, clv_result result, const record_hash* shown )
{
    record_answer answer = { .result = result, .position = clv_space_error( space ).position };
    record_hash hash = { 0 };
    space_call_form form = clv_record_kind( call->kind )->form;
    if ( form == SPACE_ABOUT_NEW && result == CLV_OK && call->made != NULL )
    {
        for ( uint32_t i = 0; i < call->count; ++i )
        {
            record_hash_add( &hash, id_word( call->made[i] ) );
        }
        answer.words[answer.word_count++] = hash.order;
    }
    if ( form == SPACE_ABOUT_PAIRS && ( result == CLV_OK || result == CLV_STOPPED ) )
    {
        clv_pair_view pairs = clv_space_pairs( space );
        clv_event_view events = clv_space_events( space );
        bool is_visit = call->kind == SPACE_CALL_VISIT;
        hash = is_visit ? *shown : hash;
        clv_record_hash_pairs( &hash, pairs.pairs, is_visit ? 0 : pairs.count );
        const uint64_t words[RECORD_MOST_WORDS] = { hash.count, hash.set, hash.order,
            is_visit ? 0 : hash_events( events.begun, events.begun_count ),
            is_visit ? 0 : hash_events( events.ended, events.ended_count ) };
        answer.word_count = RECORD_MOST_WORDS;
        memcpy( answer.words, words, sizeof( words ) );
    }
    return answer;
}

static void hash_hits( record_hash* hash, bool is_double, const void* hits, uint64_t count )
{
    if ( is_double )
    {
        hash_double_hits( hash, hits, count );
    }
    else
    {
        hash_float_hits( hash, hits, count );
    }
}

void clv_record_see( query_job* job, uint32_t query, const void* hits, uint64_t count )
{
    CLV_ASSERT( query < job->list->count && ( count == 0 || hits != NULL ) );
    record_hash hash = { .count = job->seen[0], .order = job->seen[1] };
    hash_hits( &hash, job->list->is_double, hits, count );
    job->seen[0] = hash.count;
    job->seen[1] = hash.order + record_mix( query + count + 1 );
    job->seen[2] = query;
}

static uint64_t hit_count( const query_job* job, bool is_all )
{
    return is_all                    ? job->count
        : job->mode == QUERY_NEAREST ? (uint64_t)job->list->count * job->k
                                     : job->list->count;
}

// Hits as the caller has them: none of what was not filled in.
static record_hash hash_of_hits( const space_call* call, clv_result result )
{
    const query_job* job = call->job;
    record_hash hash = { .count = job->seen[0], .order = job->seen[1] };
    bool is_all = call->kind == SPACE_CALL_QUERY_ALL || call->kind == SPACE_CALL_QUERY_ALL64;
    bool is_visit = call->kind == SPACE_CALL_QUERY_VISIT || call->kind == SPACE_CALL_QUERY_VISIT64;
    if ( is_visit )
    {
        return hash;
    }
    uint64_t count = hit_count( job, is_all );
    CLV_ASSERT( result != CLV_OK || count == 0 || job->hits != NULL );
    hash_hits( &hash, job->list->is_double, job->hits, result == CLV_OK ? count : 0 );
    hash.count = count;
    for ( uint32_t i = 0; is_all && job->offsets != NULL && i <= job->list->count; ++i )
    {
        hash.order += record_mix( job->offsets[i] + i );
    }
    return hash;
}

record_answer clv_record_query_answer( const space_call* call, clv_result result )
{
    record_answer answer = { .result = result, .position = UINT32_MAX };
    CLV_ASSERT( call->kind == SPACE_CALL_QUERY_PAIRS || call->job != NULL );
    bool has_hits = result == CLV_OK || result == CLV_NO_ROOM || result == CLV_STOPPED;
    record_hash hash = { 0 };
    if ( call->kind == SPACE_CALL_QUERY_PAIRS )
    {
        clv_record_hash_pairs( &hash, call->pairs, result == CLV_OK ? call->pair_count : 0 );
        hash.count = call->pair_count;
    }
    else
    {
        answer.position = result == CLV_STOPPED ? (uint32_t)call->job->seen[2] : call->lists.position;
        hash = has_hits ? hash_of_hits( call, result ) : hash;
    }
    if ( has_hits )
    {
        answer.word_count = 2;
        answer.words[0] = hash.count;
        answer.words[1] = hash.order;
    }
    return answer;
}
