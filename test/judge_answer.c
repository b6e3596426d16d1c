// SPDX-License-Identifier: MIT
// Lists of random questions are put to the space by every call there is, and each answer is compared.
#include "judge_answer.h"

#include "judge_force.h"
#include "query_lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MOST_NEAREST = 11,
};

typedef struct judge_list
{
    clv_queries queries;
    clv_queries64 wide; // the same list for the calls in double
    judge_question* questions;
    unsigned char* packed;
    clv_filter* filters;
    uint64_t* offsets;
    clv_hit64 *expected, *hits; // as the judge has them, and as the library
    clv_hit* narrow;            // the latter, flat
    uint64_t total;
} judge_list;

static const clv_filter* filter_at( const judge_list* list, uint32_t i )
{
    const clv_queries* q = &list->queries;
    return q->filters == NULL ? NULL : &q->filters[q->filter_each ? i : 0];
}

static judge_list make_list( judge_world* world, clv_query_kind kind, uint32_t count )
{
    judge_list list = { .total = 0 };
    uint32_t most = world->count + MOST_NEAREST;
    list.questions = test_alloc( count, sizeof( judge_question ) );
    list.packed = test_alloc( count, sizeof( judge_item ) );
    list.filters = test_alloc( count, sizeof( clv_filter ) );
    list.offsets = test_alloc( count + 1, sizeof( uint64_t ) );
    list.expected = test_alloc( (size_t)count * most + 1, sizeof( clv_hit64 ) );
    list.hits = test_alloc( (size_t)count * most + 1, sizeof( clv_hit64 ) );
    list.narrow = test_alloc( (size_t)count * most + 1, sizeof( clv_hit ) );
    size_t size = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        judge_item item;
        list.questions[i] = judge_question_make( world, kind );
        size = judge_question_pack( world, &list.questions[i], &item );
        memcpy( list.packed + i * size, &item, size );
        list.filters[i] = judge_some_mask( &world->random );
    }
    list.queries = query_list_of(
        (clv_query_kind)( (uint32_t)kind + ( world->is_flat ? 32u : 64u ) ), list.packed, count );
    list.queries.filters = test_random_chance( &world->random, 50 ) ? list.filters : NULL;
    list.queries.filter_each = test_random_chance( &world->random, 50 );
    list.queries.as_given = test_random_chance( &world->random, 50 );
    list.wide = query_list_as64( &list.queries );
    list.offsets[0] = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        list.total += judge_find_all( world, &list.questions[i], filter_at( &list, i ), list.queries.as_given,
            list.expected + list.total );
        list.offsets[i + 1] = list.total;
    }
    return list;
}

static void free_list( judge_list* list )
{
    free( list->questions );
    free( list->packed );
    free( list->filters );
    free( list->offsets );
    free( list->expected );
    free( list->hits );
    free( list->narrow );
}

// The library's hits as doubles, whichever they were.
static void widen_hits( const judge_world* world, judge_list* list, uint64_t count )
{
    for ( uint64_t i = 0; world->is_flat && i < count; ++i )
    {
        list->hits[i] = ( clv_hit64 ){ list->narrow[i].index, (double)list->narrow[i].t };
    }
}

static void check_hits( const clv_hit64* actual, const clv_hit64* expected, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        CHECK_EQUAL( actual[i].index, expected[i].index );
        CHECK( actual[i].t == expected[i].t );
    }
}

static void check_all( judge_world* world, judge_list* list )
{
    uint32_t count = list->queries.count;
    uint64_t* offsets = test_alloc( count + 1, sizeof( uint64_t ) );
    uint64_t found;
    if ( world->is_flat )
    {
        clv_query_lists lists = { offsets, list->narrow, list->total, 0, 0 };
        CHECK_OK( clv_space_query_all( world->space, &list->queries, &lists ) );
        found = lists.count;
    }
    else
    {
        clv_query_lists64 lists = { offsets, list->hits, list->total, 0, 0 };
        CHECK_OK( clv_space_query_all64( world->space, &list->wide, &lists ) );
        found = lists.count;
    }
    CHECK_EQUAL( found, list->total );
    CHECK( memcmp( offsets, list->offsets, ( count + 1 ) * sizeof( uint64_t ) ) == 0 );
    widen_hits( world, list, found );
    check_hits( list->hits, list->expected, found );
    free( offsets );
}

typedef struct visit_record
{
    judge_list* list;
    uint32_t next;
} visit_record;

static bool compare_visit64( uint32_t query, const clv_hit64* hits, uint64_t count, void* user )
{
    visit_record* record = user;
    const uint64_t* offsets = record->list->offsets;
    CHECK_EQUAL( query, record->next );
    CHECK_EQUAL( count, offsets[query + 1] - offsets[query] );
    check_hits( hits, record->list->expected + offsets[query], count );
    record->next += 1;
    return true;
}

static bool compare_visit( uint32_t query, const clv_hit* hits, uint64_t count, void* user )
{
    visit_record* record = user;
    for ( uint64_t i = 0; i < count; ++i )
    {
        record->list->hits[i] = ( clv_hit64 ){ hits[i].index, (double)hits[i].t };
    }
    return compare_visit64( query, record->list->hits, count, user );
}

static void check_visit( judge_world* world, judge_list* list )
{
    visit_record record = { list, 0 };
    CHECK_OK( world->is_flat
            ? clv_space_query_visit( world->space, &list->queries, compare_visit, &record, NULL )
            : clv_space_query_visit64( world->space, &list->wide, compare_visit64, &record, NULL ) );
    CHECK_EQUAL( record.next, list->queries.count );
}

static void check_any( judge_world* world, judge_list* list )
{
    uint32_t count = list->queries.count;
    CHECK_OK( world->is_flat ? clv_space_query_any( world->space, &list->queries, list->narrow, NULL )
                             : clv_space_query_any64( world->space, &list->wide, list->hits, NULL ) );
    widen_hits( world, list, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        bool is_one = list->offsets[i] == list->offsets[i + 1] && list->hits[i].index == CLV_NO_HIT;
        for ( uint64_t j = list->offsets[i]; j < list->offsets[i + 1]; ++j )
        {
            is_one |=
                list->hits[i].index == list->expected[j].index && list->hits[i].t == list->expected[j].t;
        }
        CHECK( is_one );
    }
}

static void check_closest( judge_world* world, judge_list* list )
{
    uint32_t count = list->queries.count;
    CHECK_OK( world->is_flat ? clv_space_query_closest( world->space, &list->queries, list->narrow, NULL )
                             : clv_space_query_closest64( world->space, &list->wide, list->hits, NULL ) );
    widen_hits( world, list, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_hit64 best = { CLV_NO_HIT, INFINITY };
        for ( uint64_t j = list->offsets[i]; j < list->offsets[i + 1]; ++j )
        {
            best = list->expected[j].t < best.t ? list->expected[j] : best;
        }
        check_hits( &list->hits[i], &best, 1 );
    }
}

static void nearest_by_force(
    const judge_world* world, const judge_list* list, uint32_t i, uint32_t k, double most, clv_hit64* hits )
{
    judge_question q = list->questions[i];
    q.kind = CLV_QUERY_NEIGHBOURHOOD;
    q.radius = most;
    clv_hit64 found[JUDGE_MOST];
    uint32_t count = judge_find_all( world, &q, filter_at( list, i ), list->queries.as_given, found );
    for ( uint32_t place = 0; place < k; ++place )
    {
        clv_hit64 best = { CLV_NO_HIT, INFINITY };
        uint32_t at = 0;
        for ( uint32_t j = 0; j < count; ++j )
        {
            bool is_better =
                found[j].index != CLV_NO_HIT && ( best.index == CLV_NO_HIT || found[j].t < best.t );
            best = is_better ? found[j] : best;
            at = is_better ? j : at;
        }
        hits[place] = best;
        if ( best.index != CLV_NO_HIT )
        {
            found[at].index = CLV_NO_HIT;
        }
    }
}

static void check_nearest( judge_world* world, judge_list* list )
{
    uint32_t count = list->queries.count, k = 1 + test_random_below( &world->random, MOST_NEAREST );
    double most = test_random_chance( &world->random, 50 )
        ? INFINITY
        : judge_rounded( world, judge_some_length( world ) );
    CHECK_OK( world->is_flat
            ? clv_space_query_nearest( world->space, &list->queries, k, (float)most, list->narrow, NULL )
            : clv_space_query_nearest64( world->space, &list->wide, k, most, list->hits, NULL ) );
    widen_hits( world, list, (uint64_t)count * k );
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_hit64 expected[MOST_NEAREST];
        nearest_by_force( world, list, i, k, most, expected );
        check_hits( list->hits + (size_t)i * k, expected, k );
    }
}

static const char* const s_kind_names[JUDGE_KINDS + 1] = { "", "point", "box", "sphere", "neighbourhood",
    "capsule", "oriented box", "half-spaces", "ray", "box cast", "sphere cast", "capsule cast" };

void judge_answer_check( judge_world* world, uint32_t count )
{
    for ( int kind = CLV_QUERY_POINT; kind <= JUDGE_KINDS; ++kind )
    {
        test_where.note = s_kind_names[kind];
        judge_list list = make_list( world, (clv_query_kind)kind, count );
        check_all( world, &list );
        check_any( world, &list );
        if ( kind >= CLV_QUERY_RAY )
        {
            check_closest( world, &list );
        }
        if ( kind == CLV_QUERY_POINT || kind == CLV_QUERY_BOX )
        {
            check_nearest( world, &list );
        }
        check_visit( world, &list );
        free_list( &list );
    }
    test_where.note = NULL;
}
