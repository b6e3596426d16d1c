// SPDX-License-Identifier: MIT
#include "fuzz_twin.h"

#include "fuzz_bytes.h"
#include "fuzz_mode.h"
#include "method/method.h"
#include "recorded.h"

#include <stdlib.h>
#include <string.h>

#define PACKED_STRIDE 64

// ---- hooks

static bool filter_pair( const clv_space* space, clv_pair pair, void* user )
{
    fuzz_side* side = user;
    uint64_t a = 0, b = 0;
    FUZZ_CHECK( clv_space_get_user_data( space, clv_space_id_at( space, pair.a ), &a ) == CLV_OK &&
            clv_space_get_user_data( space, clv_space_id_at( space, pair.b ), &b ) == CLV_OK,
        "the callback is asked about slots %u and %u, of which one is empty", pair.a, pair.b );
    side->ask_count += 1;
    return fuzz_accepts( a, b, side->salt );
}

static bool visit_pairs( const clv_pair* pairs, size_t count, void* user )
{
    fuzz_side* side = user;
    FUZZ_CHECK( count > 0, "an empty chunk" );
    if ( side->visited_count + count > side->visited_capacity )
    {
        side->visited_capacity = ( side->visited_count + count ) * 2;
        side->visited = realloc( side->visited, (size_t)side->visited_capacity * sizeof( clv_pair ) );
        FUZZ_CHECK( side->visited != NULL, "no memory for what is visited" );
    }
    memcpy( side->visited + side->visited_count, pairs, count * sizeof( clv_pair ) );
    side->visited_count += count;
    return !side->stops;
}

// ---- life

static void open_side( fuzz_side* side, const clv_space_def* def, clv_isa isa )
{
    clv_space_def own = *def;
    own.isa = isa;
    own.filter = def->filter != NULL ? filter_pair : NULL;
    own.filter_user = side;
    own.allocator = fuzz_heap_hooks( &side->heap );
    clv_result result = clv_space_create( &own, &side->space );
    if ( result == CLV_OUT_OF_MEMORY && side->heap.refused > 0 )
    {
        FUZZ_CHECK( side->space == NULL && side->heap.block_count == 0,
            "%zu bytes are left of a failed create", side->heap.bytes );
        side->heap.refuse_count = 0;
        result = clv_space_create( &own, &side->space );
    }
    side->heap.refuse_count = 0;
    FUZZ_CHECK( result == CLV_OK, "create answered %s", clv_result_name( result ) );
}

void fuzz_twin_open( fuzz_twin* twin, const clv_space_def* def, clv_isa isa, uint32_t refuse_after )
{
    *twin = ( fuzz_twin ){ .model = fuzz_model_open( def ) };
    twin->packed = malloc( FUZZ_BATCH * PACKED_STRIDE + 1 );
    FUZZ_CHECK( twin->packed != NULL, "no memory for boxes" );
    twin->sides[0].heap.refuse_after = refuse_after;
    twin->sides[0].heap.refuse_count = 1;
    open_side( &twin->sides[0], def, isa );
    recorded_begin( twin->sides[0].space, 0 );
    clv_space_def plain = *def;
    plain.worker_count = 1;
    open_side( &twin->sides[1], &plain, CLV_ISA_SCALAR );
    recorded_begin( twin->sides[1].space, 1 );
}

void fuzz_twin_close( fuzz_twin* twin )
{
    for ( int i = 0; i < 2; ++i )
    {
        fuzz_side* side = &twin->sides[i];
        clv_space_destroy( side->space );
        FUZZ_CHECK(
            side->heap.bytes == 0 && side->heap.block_count == 0, "%zu bytes leaked", side->heap.bytes );
        free( side->visited );
    }
    free( twin->packed );
    fuzz_model_close( twin->model );
}

// ---- calls

// The boxes at another stride and at odd addresses.
static clv_box_stream pack( const fuzz_twin* twin, const fuzz_call* call )
{
    char* base = twin->packed + 1;
    uint32_t stride = call->stride < 24 ? 24 : call->stride;
    for ( uint32_t i = 0; i < call->count; ++i )
    {
        memcpy( base + (size_t)i * stride, &call->boxes[i], sizeof( clv_aabb ) );
    }
    // Through void: the header allows any alignment.
    return ( clv_box_stream ){ (const float*)(const void*)base, (const float*)(const void*)( base + 12 ),
        call->stride };
}

static clv_result add_or_move( fuzz_twin* twin, fuzz_side* side, const fuzz_call* call )
{
    clv_space* space = side->space;
    bool adds = call->kind == FUZZ_ADD;
    if ( call->one_by_one && call->count == 1 )
    {
        return adds ? clv_space_add_one( space, call->boxes[0], side->new_ids )
                    : clv_space_move_one( space, call->ids[0], call->boxes[0] );
    }
    if ( call->stride == 0 )
    {
        const clv_aabb* boxes =
            call->count > 0 ? call->boxes : NULL; // none at all is legal where none are wanted
        return adds ? clv_space_add( space, boxes, call->count, side->new_ids )
                    : clv_space_move( space, call->ids, boxes, call->count );
    }
    clv_box_stream stream = pack( twin, call );
    return adds ? clv_space_add_strided( space, stream, call->count, side->new_ids )
                : clv_space_move_strided( space, call->ids, stream, call->count );
}

static clv_result invoke( fuzz_twin* twin, fuzz_side* side, const fuzz_call* call )
{
    clv_space* space = side->space;
    switch ( call->kind )
    {
    case FUZZ_ADD:
    case FUZZ_MOVE: return add_or_move( twin, side, call );
    case FUZZ_REMOVE:
        return call->one_by_one && call->count == 1 ? clv_space_remove_one( space, call->ids[0] )
                                                    : clv_space_remove( space, call->ids, call->count );
    case FUZZ_USER_DATA: return clv_space_set_user_data( space, call->ids, call->values, call->count );
    case FUZZ_MARGIN: return clv_space_set_margin( space, call->ids, call->margins, call->count );
    case FUZZ_FILTER: return clv_space_set_filter( space, call->ids, call->filters, call->count );
    case FUZZ_STATIC: return clv_space_set_static( space, call->ids, call->statics, call->count );
    case FUZZ_REFILTER: return clv_space_refilter( space, call->ids, call->count );
    case FUZZ_UPDATE: side->ask_count = 0; return clv_space_update( space );
    case FUZZ_VISIT:
        side->ask_count = 0;
        side->visited_count = 0;
        side->stops = call->stops;
        return clv_space_visit( space, visit_pairs, side );
    case FUZZ_SHRINK: return clv_space_shrink( space );
    }
    return CLV_UNSUPPORTED;
}

static clv_result invoke_first( fuzz_twin* twin, const fuzz_call* call )
{
    if ( !twin->hostile_modes )
    {
        return invoke( twin, &twin->sides[0], call );
    }
    fuzz_mode before = fuzz_mode_enter_hostile();
    clv_result result = invoke( twin, &twin->sides[0], call );
    bool kept = fuzz_mode_is_hostile();
    fuzz_mode_leave( before );
    FUZZ_CHECK( kept, "the caller's floating-point modes were changed by call %d", (int)call->kind );
    return result;
}

static void check_error( const clv_space* space, const fuzz_call* call, fuzz_answer answer )
{
    clv_error error = clv_space_error( space );
    FUZZ_CHECK( error.code == answer.code, "call %d: the error says %s, the call %s", (int)call->kind,
        clv_result_name( error.code ), clv_result_name( answer.code ) );
    FUZZ_CHECK( error.position == answer.position && clv_id_equals( error.id, answer.id ),
        "call %d: %s at %u, not at %u", (int)call->kind, error.text, error.position, answer.position );
    FUZZ_CHECK( ( error.text[0] == '\0' ) == ( answer.code == CLV_OK ), "call %d: text '%s' with %s",
        (int)call->kind, error.text, clv_result_name( answer.code ) );
}

static void check_answer( const fuzz_side* side, const fuzz_call* call, clv_result got, fuzz_answer answer )
{
    FUZZ_CHECK( got == answer.code, "call %d answered %s (%s), not %s", (int)call->kind,
        clv_result_name( got ), clv_space_error( side->space ).text, clv_result_name( answer.code ) );
    check_error( side->space, call, answer );
}

// An update that failed leaves no list; every other call leaves what was there.
static void check_after_refusal( const fuzz_twin* twin, const fuzz_call* call )
{
    const clv_space* space = twin->sides[0].space;
    clv_pair_view view = clv_space_pairs( space );
    bool forgets = call->kind == FUZZ_UPDATE || call->kind == FUZZ_VISIT;
    FUZZ_CHECK( view.valid == ( twin->model->list_is_valid && !forgets ), "call %d: the list is %s",
        (int)call->kind, view.valid ? "valid" : "invalid" );
    FUZZ_CHECK( view.valid || view.count == 0, "an invalid list of %u pairs", (unsigned)view.count );
    check_error( space, call, ( fuzz_answer ){ CLV_OUT_OF_MEMORY, UINT32_MAX, { 0, 0 } } );
    fuzz_twin_check_objects( twin );
}

void fuzz_twin_call( fuzz_twin* twin, fuzz_call* call, fuzz_answer answer )
{
    fuzz_heap* heap = &twin->sides[0].heap;
    uint64_t refused = heap->refused;
    clv_result result = invoke_first( twin, call );
    twin->was_refused = heap->refused > refused;
    // A method may do without, and find the same pairs by another way.
    twin->lost_step |= twin->was_refused && ( call->kind == FUZZ_UPDATE || call->kind == FUZZ_VISIT );
    if ( result == CLV_OUT_OF_MEMORY && twin->was_refused )
    {
        check_after_refusal( twin, call );
        heap->refuse_count = 0;
        result = invoke_first( twin, call );
    }
    check_answer( &twin->sides[0], call, result, answer );
    check_answer( &twin->sides[1], call, invoke( twin, &twin->sides[1], call ), answer );
}

void fuzz_twin_clear( fuzz_twin* twin )
{
    clv_space_clear( twin->sides[0].space );
    clv_space_clear( twin->sides[1].space );
    fuzz_model_clear( twin->model );
}

void fuzz_twin_set_salt( fuzz_twin* twin, uint32_t salt )
{
    twin->model->salt = twin->sides[0].salt = twin->sides[1].salt = salt;
}

// ---- judging

static void check_object( const clv_space* space, const fuzz_object* object )
{
    clv_id id = object->id;
    FUZZ_CHECK( clv_space_contains( space, id ) == object->alive, "slot %u: alive or not?", id.index );
    FUZZ_CHECK( clv_id_equals( clv_space_id_at( space, id.index ), object->alive ? id : clv_null_id() ),
        "slot %u has another id", id.index );
    clv_aabb box;
    float margin;
    clv_filter filter;
    bool is_static;
    uint64_t user_data;
    clv_result expected = object->alive ? CLV_OK : CLV_BAD_ID;
    FUZZ_CHECK( clv_space_get_box( space, id, &box ) == expected &&
            clv_space_get_margin( space, id, &margin ) == expected &&
            clv_space_get_filter( space, id, &filter ) == expected &&
            clv_space_get_static( space, id, &is_static ) == expected &&
            clv_space_get_user_data( space, id, &user_data ) == expected,
        "slot %u does not answer %s", id.index, clv_result_name( expected ) );
    if ( object->alive )
    {
        FUZZ_CHECK( memcmp( &box, &object->box, sizeof( box ) ) == 0, "slot %u has another box", id.index );
        FUZZ_CHECK( margin == object->margin, "slot %u: margin %g, not %g", id.index, (double)margin,
            (double)object->margin );
        FUZZ_CHECK( filter.category == object->filter.category && filter.mask == object->filter.mask &&
                filter.group == object->filter.group,
            "slot %u has another filter", id.index );
        FUZZ_CHECK( is_static == object->is_static && user_data == object->user_data,
            "slot %u carries something else", id.index );
    }
}

void fuzz_twin_check_objects( const fuzz_twin* twin )
{
    for ( int i = 0; i < 2; ++i )
    {
        const clv_space* space = twin->sides[i].space;
        FUZZ_CHECK( clv_space_object_count( space ) == twin->model->object_count, "%u objects, not %u",
            clv_space_object_count( space ), twin->model->object_count );
        for ( uint32_t slot = 0; slot < twin->model->slot_count; ++slot )
        {
            check_object( space, &twin->model->objects[slot] );
        }
        FUZZ_CHECK( clv_id_is_null( clv_space_id_at( space, twin->model->slot_count ) ), "a slot too many" );
    }
}

static int compare_pairs( const void* a, const void* b )
{
    const clv_pair* p = a;
    const clv_pair* q = b;
    return p->a != q->a ? ( p->a < q->a ? -1 : 1 ) : p->b != q->b ? ( p->b < q->b ? -1 : 1 ) : 0;
}

static void check_set( const clv_pair* pairs, uint64_t count, const fuzz_list* expected, bool is_sorted )
{
    clv_pair* sorted = malloc( (size_t)count * sizeof( clv_pair ) + 1 );
    FUZZ_CHECK( sorted != NULL, "no memory to sort" );
    if ( count > 0 )
    {
        memcpy( sorted, pairs, (size_t)count * sizeof( clv_pair ) );
    }
    if ( !is_sorted && count > 0 )
    {
        qsort( sorted, (size_t)count, sizeof( clv_pair ), compare_pairs );
    }
    for ( uint64_t i = 0; i < count && i < expected->count; ++i )
    {
        clv_id_pair want = expected->pairs[i];
        FUZZ_CHECK( sorted[i].a == want.a.index && sorted[i].b == want.b.index,
            "pair %u in order is ( %u, %u ), not ( %u, %u )", (unsigned)i, sorted[i].a, sorted[i].b,
            want.a.index, want.b.index );
    }
    FUZZ_CHECK( count == expected->count, "%u pairs, not %u", (unsigned)count, (unsigned)expected->count );
    free( sorted );
}

// Each event must be one the model has too, in order; `rest` tells how many the model still expects.
static void check_next_event(
    const clv_id_pair* events, uint64_t count, uint64_t* at, clv_id_pair want, const char* what )
{
    FUZZ_CHECK( *at < count, "%s ( %u, %u ) is missing", what, want.a.index, want.b.index );
    clv_id_pair got = events[*at];
    FUZZ_CHECK( clv_id_equals( got.a, want.a ) && clv_id_equals( got.b, want.b ),
        "%s ( %u, %u ), not ( %u, %u )", what, got.a.index, got.b.index, want.a.index, want.b.index );
    *at += 1;
}

static int compare_slots( clv_id_pair p, clv_id_pair q )
{
    clv_pair a = { p.a.index, p.b.index }, b = { q.a.index, q.b.index };
    return compare_pairs( &a, &b );
}

static void check_events( const fuzz_model* model, const clv_space* space )
{
    const fuzz_list* before = &model->last_good;
    const fuzz_list* after = &model->now;
    clv_event_view view = clv_space_events( space );
    uint64_t i = 0, j = 0, begun = 0, ended = 0;
    while ( model->def.events && ( i < before->count || j < after->count ) )
    {
        int order = i == before->count ? 1
            : j == after->count        ? -1
                                       : compare_slots( before->pairs[i], after->pairs[j] );
        bool same = order == 0 && clv_id_equals( before->pairs[i].a, after->pairs[j].a ) &&
            clv_id_equals( before->pairs[i].b, after->pairs[j].b );
        if ( order <= 0 && !same )
        {
            check_next_event( view.ended, view.ended_count, &ended, before->pairs[i], "ended" );
        }
        if ( order >= 0 && !same )
        {
            check_next_event( view.begun, view.begun_count, &begun, after->pairs[j], "begun" );
        }
        i += order <= 0;
        j += order >= 0;
    }
    FUZZ_CHECK( begun == view.begun_count && ended == view.ended_count, "%u begun and %u ended are too many",
        (unsigned)( view.begun_count - begun ), (unsigned)( view.ended_count - ended ) );
}

static void check_stats( const fuzz_model* model, const fuzz_side* side )
{
    clv_stats stats = clv_space_stats( side->space );
    FUZZ_CHECK( stats.object_count == model->object_count && stats.pair_count == model->now.count &&
            stats.candidate_count == model->candidate_count && stats.update_count == model->update_count + 1,
        "statistics: %u objects, %u pairs of %u, update %u", stats.object_count, (unsigned)stats.pair_count,
        (unsigned)stats.candidate_count, (unsigned)stats.update_count );
    FUZZ_CHECK( stats.memory_bytes == side->heap.bytes, "memory" );
}

// A structure that is carried from frame to frame may have been given up half-way and grown anew.
static bool has_same_past( const fuzz_twin* twin )
{
    return !twin->lost_step || !clv_method_find( clv_space_method( twin->sides[0].space ) )->is_temporal;
}

void fuzz_twin_check_update( const fuzz_twin* twin )
{
    const fuzz_model* model = twin->model;
    clv_pair_view views[2];
    for ( int i = 0; i < 2; ++i )
    {
        const fuzz_side* side = &twin->sides[i];
        views[i] = clv_space_pairs( side->space );
        FUZZ_CHECK( views[i].valid, "a good update without a list" );
        check_set( views[i].pairs, views[i].count, &model->now, model->def.sorted );
        check_events( model, side->space );
        check_stats( model, side );
        FUZZ_CHECK( ( i == 0 && twin->was_refused ) || side->ask_count == model->ask_count,
            "the callback was asked %u times, not %u", (unsigned)side->ask_count,
            (unsigned)model->ask_count );
    }
    FUZZ_CHECK( !has_same_past( twin ) || views[0].count == 0 ||
            memcmp( views[0].pairs, views[1].pairs, (size_t)views[0].count * sizeof( clv_pair ) ) == 0,
        "the two have the same pairs in another order, by %s", clv_space_method( twin->sides[0].space ) );
}

void fuzz_twin_check_visit( const fuzz_twin* twin )
{
    const fuzz_side* sides = twin->sides;
    for ( int i = 0; i < 2; ++i )
    {
        check_set( sides[i].visited, sides[i].visited_count, &twin->model->now, false );
        FUZZ_CHECK( !clv_space_pairs( sides[i].space ).valid, "a visit leaves no list" );
        FUZZ_CHECK( ( i == 0 && twin->was_refused ) || sides[i].ask_count == twin->model->ask_count,
            "the callback was asked %u times, not %u", (unsigned)sides[i].ask_count,
            (unsigned)twin->model->ask_count );
    }
    FUZZ_CHECK( !has_same_past( twin ) || sides[0].visited_count == 0 ||
            memcmp( sides[0].visited, sides[1].visited,
                (size_t)sides[0].visited_count * sizeof( clv_pair ) ) == 0,
        "the two visited the same pairs in another order, by %s", clv_space_method( sides[0].space ) );
}
