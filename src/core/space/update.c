// SPDX-License-Identifier: MIT
// Pairs out: the method finds them, filters thin them, the list keeps them (or a visitor sees them), events
// compare them.
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/timer.h"

#include <string.h>

enum
{
    VISIT_CHUNK = 4096,                              // pairs a visitor sees at once, at most
    GUESS_FACTOR = 4,                                // by which a list grows at once, at most
    USUAL_PAIRS = 8,                                 // of an object, in a crowded world
    VISIT_BUFFER = VISIT_CHUNK + CLV_PAIR_SINK_ROOM, // and room for those that wait for the next time
};

// A sink over the space's list. Pairs below `settled` have passed the filters.
typedef struct list_sink
{
    clv_pair_sink sink;
    clv_space* space;
    uint64_t settled;
    uint64_t candidate_count;
    bool is_kept; ///< nothing changed, the list and what was made of it stand
} list_sink;

// The same over one chunk that goes to a visitor again and again. Pairs below `settled` have passed the
// filters.
typedef struct visit_sink
{
    clv_pair_sink sink;
    clv_space* space;
    clv_pair_visitor* visitor;
    void* user;
    uint64_t settled;
    uint64_t visited;
    uint64_t candidate_count;
} visit_sink;

static bool is_over_limit( const clv_space* space, uint64_t count )
{
    return space->def.max_pairs > 0 && count > space->def.max_pairs;
}

// Pairs that tell as much as more of them would: where there is a limit, one beyond it. Searches hand over as
// many at once as suits them, which differs by instruction set and workers; what is asked and counted stops
// at the same pair for all.
static uint64_t most_pairs( const clv_space* space )
{
    return is_over_limit( space, UINT64_MAX ) ? space->def.max_pairs + 1 : UINT64_MAX;
}

// Filter what arrived since the last time.
static clv_result filter_arrived( list_sink* arriving )
{
    clv_space* space = arriving->space;
    clv_pair_sink* sink = &arriving->sink;
    clv_pair* fresh =
        arriving->settled > 0 ? sink->pairs + arriving->settled : sink->pairs; // there may be no list yet
    CLV_ASSERT( arriving->settled <= sink->count && sink->count <= sink->capacity );
    clv_result checked = clv_space_check_handed( space, fresh, sink->count - arriving->settled );
    if ( checked != CLV_OK )
    {
        sink->count = arriving->settled;
        return checked;
    }
    bool is_final = !clv_space_has_filter( space, SPACE_FILTER_SORTED );
    uint64_t most = is_final ? most_pairs( space ) - arriving->settled : UINT64_MAX;
    space_filtered done = { 0 };
    clv_result result = clv_space_filter(
        space, SPACE_FILTER_ARRIVING, true, fresh, sink->count - arriving->settled, fresh, most, &done );
    CLV_ASSERT( done.kept + done.apart <= done.taken );
    arriving->candidate_count += done.taken - done.apart;
    arriving->settled += done.kept;
    sink->count = arriving->settled;
    if ( result != CLV_OK )
    {
        return result;
    }
    return is_final && is_over_limit( space, sink->count ) ? CLV_TOO_MANY_PAIRS : CLV_OK;
}

// Room for what the method expects, and an eighth more; while it expects nothing yet, for as many as many
// worlds have. The first pairs may come from a crowd in an empty world, so a list grows fourfold at most.
static uint64_t likely_capacity( const list_sink* arriving )
{
    const pair_list* list = &arriving->space->list;
    uint64_t limit = most_pairs( arriving->space ), expected = arriving->sink.expected;
    uint64_t least = list->capacity + CLV_PAIR_SINK_ROOM, most = GUESS_FACTOR * least;
    most = limit < most - CLV_PAIR_SINK_ROOM ? limit + CLV_PAIR_SINK_ROOM : most;
    uint64_t likely = expected == 0 ? USUAL_PAIRS * (uint64_t)arriving->space->objects.live_count
        : expected < most           ? list->count + expected + expected / 8 + CLV_PAIR_SINK_ROOM
                                    : most;
    uint64_t wanted = likely < most ? likely : most;
    return wanted > least ? wanted : least;
}

static clv_result make_list_room( clv_pair_sink* sink )
{
    list_sink* arriving = (list_sink*)sink;
    clv_result result = filter_arrived( arriving );
    if ( result != CLV_OK )
    {
        return result;
    }
    pair_list* list = &arriving->space->list;
    list->count = sink->count;
    // Grow well before the last place is taken, or filters would be run over ever smaller pieces; but not
    // beyond a limit.
    uint64_t free_count = list->capacity - list->count;
    bool is_tight = free_count < list->capacity / 4 || free_count < sink->expected;
    if ( free_count < CLV_PAIR_SINK_ROOM || ( is_tight && list->capacity <= most_pairs( arriving->space ) ) )
    {
        base_memory* memory = &arriving->space->memory;
        bool grown = base_array_reserve( list, memory, likely_capacity( arriving ) ) ||
            base_array_reserve( list, memory, list->capacity + CLV_PAIR_SINK_ROOM );
        if ( !grown && free_count < CLV_PAIR_SINK_ROOM )
        {
            return CLV_OUT_OF_MEMORY;
        }
    }
    sink->pairs = list->items;
    sink->capacity = list->capacity;
    CLV_ASSERT( sink->count + CLV_PAIR_SINK_ROOM <= sink->capacity );
    return CLV_OK;
}

// What has settled goes to the visitor.
static clv_result show( visit_sink* visiting )
{
    CLV_ASSERT( visiting->settled <= VISIT_CHUNK );
    uint64_t count = visiting->settled;
    visiting->settled = 0;
    visiting->visited += count;
    bool wants_more = count == 0 || visiting->visitor( visiting->sink.pairs, (size_t)count, visiting->user );
    space_tap* tap = visiting->space->tap;
    if ( tap != NULL && count > 0 )
    {
        tap->shown( tap, visiting->sink.pairs, count, wants_more );
    }
    return wants_more ? CLV_OK : CLV_STOPPED;
}

// Chunks are full ones but for the last, however few or many pairs arrive at once.
static clv_result make_visit_room( clv_pair_sink* sink )
{
    visit_sink* visiting = (visit_sink*)sink;
    clv_space* space = visiting->space;
    CLV_ASSERT( visiting->settled < VISIT_CHUNK && visiting->settled <= sink->count );
    uint64_t next = visiting->settled;
    clv_result result = clv_space_check_handed( space, sink->pairs + next, sink->count - next );
    while ( next < sink->count && result == CLV_OK )
    {
        uint64_t found = visiting->visited + visiting->settled;
        uint64_t room = VISIT_CHUNK - visiting->settled, most = most_pairs( space ) - found;
        space_filtered done = { 0 };
        // Without memory of answers nothing can fail.
        clv_space_filter( space, SPACE_FILTER_ARRIVING, false, sink->pairs + next, sink->count - next,
            sink->pairs + visiting->settled, room < most ? room : most, &done );
        next += done.taken;
        visiting->candidate_count += done.taken - done.apart;
        visiting->settled += done.kept;
        if ( is_over_limit( space, found + done.kept ) )
        {
            return CLV_TOO_MANY_PAIRS;
        }
        result = visiting->settled == VISIT_CHUNK ? show( visiting ) : CLV_OK;
    }
    sink->count = visiting->settled;
    return result;
}

// Is the list as the last good update left it, and would be made the same way again?
static bool keep_list( clv_pair_sink* sink )
{
    list_sink* arriving = (list_sink*)sink;
    clv_space* space = arriving->space;
    // Boxes in double may have moved by less than the method sees.
    arriving->is_kept = space->list_is_valid && !space->filters_changed && !space->doubles_changed;
    return arriving->is_kept;
}

// Where nothing has to be done with the pairs, the caller may see the method's own list.
static bool borrow_list( clv_pair_sink* sink, const clv_pair* pairs, uint64_t count )
{
    list_sink* arriving = (list_sink*)sink;
    clv_space* space = arriving->space;
    bool is_plain = !space->def.sorted && !space->def.events && !space->def.pair_data &&
        !clv_space_has_filter( space, SPACE_FILTER_ARRIVING ) &&
        !clv_space_has_filter( space, SPACE_FILTER_SORTED );
    is_plain = is_plain && clv_space_check_handed( space, pairs, count ) == CLV_OK;
    if ( is_plain )
    {
        uint64_t most = most_pairs( space );
        space->borrowed = pairs;
        space->borrowed_count = count < most ? count : most;
        arriving->candidate_count = space->borrowed_count;
    }
    return is_plain;
}

// Have the method search. Its counters land in the statistics.
static clv_result run_method( clv_space* space, clv_pair_sink* sink, uint64_t keep_most )
{
    object_store* objects = &space->objects;
    space->stats.reasons |= ( objects->members_changed ? CLV_REASON_MEMBERS : 0 ) |
        ( space->last_failed ? CLV_REASON_FAILURE : 0 );
    clv_space_will_change( space, objects->motion_is_spent );
    clv_space_drop_motions( space );
    if ( !clv_object_store_list_live( objects ) || !space_fit( space ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    CLV_ASSERT( !objects->motion_is_spent && objects->live_count <= objects->slot_count );
    CLV_ASSERT( objects->live_count == objects->slot_count || objects->live.count == objects->live_count );
    clv_method_input input = {
        .size = sizeof( clv_method_input ),
        .boxes = object_boxes( objects ),
        .live = objects->live_count == objects->slot_count ? NULL : objects->live.items,
        .live_count = objects->live_count,
        .slot_count = objects->slot_count,
        .members_changed = objects->members_changed,
        .moved = objects->moved_is_known && !space->is_shifted ? objects->moved.items : NULL,
        .last_failed = space->last_failed,
        .keep_most = keep_most,
    };
    clv_method_counters counters = { 0 };
    space->handed_count = 0;
    space->has_stray = false;
    if ( space->filters_changed || objects->members_changed )
    {
        filter_classes_forget( &space->filter_classes );
    }
    clv_result result = space->method->update( space->method_state, &input, sink, &counters );
    space->stats.test_count = counters.test_count;
    space->stats.update_ms = counters.update_ms;
    space->stats.search_ms = counters.search_ms;
    space->stats.clean_ms = counters.clean_ms;
    return result;
}

// The update was good in the end: what changes from now on is new to the method.
static void accept_search( clv_space* space )
{
    CLV_ASSERT( !space->has_stray );
    space->last_failed = false;
    space->is_shifted = false;
    space->objects.members_changed = false;
    clv_object_store_spend_motions( &space->objects );
    clv_object_store_settle( &space->objects );
    clv_query_state_renew( &space->query );
    clv_far_fit_learn(
        &space->far, space->objects.live_count, space->stats.candidate_count, space->in_vain_count );
    if ( space->method->wants_moved )
    {
        clv_object_store_watch( &space->objects, space->method->moved_least );
    }
}

// The sorted stage: order, then the callback if it had to wait for the order.
static clv_result finish_list( clv_space* space )
{
    CLV_ASSERT(
        space->borrowed == NULL || ( !space->def.sorted && !space->def.events && !space->def.pair_data ) );
    pair_list* list = &space->list;
    if ( space->def.sorted &&
        !clv_pair_list_sort( list, &space->scratch, &space->memory, space->objects.slot_count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    if ( clv_space_has_filter( space, SPACE_FILTER_SORTED ) )
    {
        space_filtered done = { 0 };
        clv_result result = clv_space_filter( space, SPACE_FILTER_SORTED, true, list->items, list->count,
            list->items, most_pairs( space ), &done );
        list->count = done.kept;
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    return is_over_limit( space, space_pair_count( space ) ) ? CLV_TOO_MANY_PAIRS : CLV_OK;
}

static bool copy_sorted( clv_space* space )
{
    pair_list* now = &space->now_sorted;
    now->count = 0;
    if ( !base_array_reserve( now, &space->memory, space->list.count ) )
    {
        return false;
    }
    if ( space->list.count > 0 )
    {
        memcpy( now->items, space->list.items, (size_t)space->list.count * sizeof( clv_pair ) );
    }
    now->count = space->list.count;
    return space->def.sorted ||
        clv_pair_list_sort( now, &space->scratch, &space->memory, space->objects.slot_count );
}

// What an object of an event carries, or carried when it went.
static uint64_t event_data_of( const object_store* objects, clv_id id )
{
    const uint64_t* values = objects->columns[OBJECT_USER_DATA];
    const uint64_t* last = objects->columns[OBJECT_LAST_DATA];
    CLV_ASSERT( id.index < objects->slot_count && last != NULL );
    return object_is_live( objects, id ) ? values[id.index] : last[id.index];
}

static bool list_event_data( clv_space* space, const pair_id_list* events, pair_user_list* data )
{
    data->count = 0;
    if ( !base_array_reserve( data, &space->memory, events->count ) )
    {
        return false;
    }
    for ( ; data->count < events->count; ++data->count )
    {
        clv_id_pair pair = events->items[data->count];
        data->items[data->count] = ( clv_user_pair ){ event_data_of( &space->objects, pair.a ),
            event_data_of( &space->objects, pair.b ) };
    }
    return true;
}

static bool list_all_event_data( clv_space* space )
{
    return !object_store_uses( &space->objects, OBJECT_USER_DATA ) ||
        ( list_event_data( space, &space->begun, &space->begun_user ) &&
            list_event_data( space, &space->ended, &space->ended_user ) );
}

// Begun and ended against the last good list, which this one then becomes.
static clv_result find_events( clv_space* space )
{
    uint32_t* reported = space->objects.columns[OBJECT_REPORTED];
    const uint32_t* generations = object_generations( &space->objects );
    CLV_ASSERT( space->borrowed == NULL && reported != NULL );
    pair_snapshot before = { &space->last_sorted, reported };
    pair_snapshot after = { &space->now_sorted, generations };
    if ( !copy_sorted( space ) ||
        !clv_pair_difference( before, after, &space->begun, &space->ended, &space->memory ) ||
        !list_all_event_data( space ) || !clv_space_words_end( space ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    pair_list swap = space->last_sorted;
    space->last_sorted = space->now_sorted;
    space->now_sorted = swap;
    if ( space->objects.slot_count > 0 )
    {
        memcpy( reported, generations, space->objects.slot_count * sizeof( uint32_t ) );
    }
    return CLV_OK;
}

// The last update's list is this one's too, so nothing began or ended, and answers of the callback stand.
static clv_result keep_all( clv_space* space )
{
    space->begun.count = 0;
    space->ended.count = 0;
    space->stats.output_ms = 0;
    return CLV_OK;
}

static clv_result keep_unsearched( clv_space* space )
{
    CLV_ASSERT( space->list_is_valid && !space->last_failed );
    space->stats.test_count = 0;
    space->stats.update_ms = space->stats.search_ms = 0;
    clv_query_state_renew( &space->query ); // the boxes are others, though the pairs are not
    return keep_all( space );
}

static clv_result make_list( clv_space* space )
{
    clv_pair_keys_clear( &space->next_decisions );
    uint64_t count = space->list.count;
    clv_space_words_begin( space );
    list_sink arriving = {
        .sink = {
            .pairs = space->list.items,
            .capacity = space->list.capacity,
            .make_room = make_list_room,
            .keep = keep_list,
            .borrow = borrow_list,
        },
        .space = space,
    };
    const clv_pair* borrowed = space->borrowed;
    space->borrowed = NULL;
    space->list.count = 0;
    uint64_t limit = space->def.max_pairs;
    clv_result result = run_method( space, &arriving.sink, limit > 0 ? limit : UINT64_MAX );
    if ( arriving.is_kept && result == CLV_OK )
    {
        clv_space_words_keep( space );
        space->borrowed = borrowed;
        space->list.count = count;
        return keep_all( space );
    }
    result = result == CLV_OK ? filter_arrived( &arriving ) : result;
    space->list.count = arriving.sink.count;
    space->stats.candidate_count = arriving.candidate_count;
    if ( result != CLV_OK )
    {
        return result;
    }
    uint64_t start = space->def.stage_times ? clv_base_clock_ns() : 0;
    result = finish_list( space );
    if ( result == CLV_OK && !clv_space_words_carry( space ) )
    {
        result = CLV_OUT_OF_MEMORY;
    }
    if ( result == CLV_OK && space->def.events )
    {
        result = find_events( space );
    }
    if ( result == CLV_OK )
    {
        clv_space_filter_commit( space );
    }
    space->stats.output_ms = space->def.stage_times ? base_clock_ms( start, clv_base_clock_ns() ) : 0;
    return result;
}

void clv_space_forget_list( clv_space* space )
{
    space->list.count = 0;
    space->borrowed = NULL;
    space->list_is_valid = false;
    space->begun.count = 0;
    space->ended.count = 0;
    space->stats.pair_count = 0;
    space->stats.begun_count = 0;
    space->stats.ended_count = 0;
}

static clv_result fail_stray( clv_space* space, uint64_t pair_count )
{
    uint32_t position = space->stray_position < UINT32_MAX ? (uint32_t)space->stray_position : UINT32_MAX;
    clv_space_fail( space, CLV_BAD_ARGUMENT, position, clv_null_id(),
        "method %s handed over a pair of slots %u and %u, number %llu of this update, and slots end at %u",
        space->method->name, space->stray.a, space->stray.b, (unsigned long long)space->stray_position,
        space->objects.slot_count );
    space->error.pair_count = pair_count;
    return CLV_BAD_ARGUMENT;
}

static clv_result fail_update( clv_space* space, clv_result code, uint64_t pair_count )
{
    space->last_failed = true;
    space->stats.test_count = 0; // how far the search had come is a matter of instruction set and workers
    if ( code == CLV_BAD_ARGUMENT && space->has_stray )
    {
        return fail_stray( space, pair_count );
    }
    clv_space_fail( space, code, UINT32_MAX, clv_null_id(),
        "update with %u objects ended after %llu pairs: %s", space->objects.live_count,
        (unsigned long long)pair_count, clv_result_text( code ) );
    space->error.pair_count = pair_count;
    return code;
}

// Reasons are collected between these two; the caller's allocator is asked only where something grows.
static uint64_t begin_reasons( clv_space* space )
{
    space->stats.reasons = 0;
    return space->memory.allocation_count;
}

static void end_reasons( clv_space* space, uint64_t allocation_count )
{
    space->stats.reasons |= space->memory.allocation_count != allocation_count ? CLV_REASON_MEMORY : 0;
}

clv_result clv_space_update( clv_space* space )
{
    CLV_ASSERT( space != NULL );
    if ( !SPACE_ENTER( space, .kind = SPACE_CALL_UPDATE ) )
    {
        return CLV_BUSY;
    }
    space->lists_are_busy = true;
    space->list_number += 1;
    CLV_VALIDATE( clv_object_store_check( &space->objects ) == NULL );
    uint64_t allocation_count = begin_reasons( space );
    bool holds = clv_space_list_holds( space );
    clv_result result = holds ? keep_unsearched( space ) : make_list( space );
    if ( result == CLV_OK && !holds )
    {
        accept_search( space );
        CLV_VALIDATE( clv_space_list_is_distinct( space ) );
    }
    if ( result == CLV_OK )
    {
        space->list_is_valid = true;
        space->filters_changed = false;
        space->doubles_changed = false;
        space->stats.pair_count = space_pair_count( space );
        space->stats.begun_count = space->begun.count;
        space->stats.ended_count = space->ended.count;
        space->stats.update_count += 1;
        clv_space_succeed( space );
    }
    else
    {
        uint64_t pair_count = space_pair_count( space );
        clv_space_forget_list( space );
        fail_update( space, result, pair_count );
    }
    end_reasons( space, allocation_count );
    return clv_space_leave( space, result );
}

clv_result clv_space_visit( clv_space* space, clv_pair_visitor* visitor, void* user )
{
    CLV_ASSERT( space != NULL && visitor != NULL );
    if ( !SPACE_ENTER( space, .kind = SPACE_CALL_VISIT ) )
    {
        return CLV_BUSY;
    }
    if ( space->def.sorted || space->def.events || space->def.pair_data )
    {
        return clv_space_leave( space,
            clv_space_fail( space, CLV_UNSUPPORTED, UINT32_MAX, clv_null_id(),
                "a space that sorts, keeps events or pair data needs the list: use clv_space_update" ) );
    }
    space->lists_are_busy = true;
    space->list_number += 1;
    uint64_t allocation_count = begin_reasons( space );
    clv_space_forget_list( space );
    clv_pair chunk[VISIT_BUFFER];
    visit_sink visiting = {
        .sink = { .pairs = chunk, .capacity = VISIT_BUFFER, .make_room = make_visit_room },
        .space = space,
        .visitor = visitor,
        .user = user,
    };
    clv_result result = run_method( space, &visiting.sink, 0 );
    result = result == CLV_OK ? make_visit_room( &visiting.sink ) : result;
    result = result == CLV_OK ? show( &visiting ) : result;
    space->stats.candidate_count = visiting.candidate_count;
    if ( result == CLV_OK )
    {
        accept_search( space );
        space->stats.pair_count = visiting.visited;
        space->stats.update_count += 1;
        clv_space_succeed( space );
    }
    else
    {
        fail_update( space, result, visiting.visited + visiting.settled );
    }
    end_reasons( space, allocation_count );
    return clv_space_leave( space, result );
}

clv_pair_view clv_space_pairs( const clv_space* space )
{
    clv_pair_view view = {
        .valid = space->list_is_valid && !space->lists_are_busy,
        .number = space->list_number,
    };
    if ( view.valid && space_pair_count( space ) > 0 )
    {
        view.pairs = space->borrowed != NULL ? space->borrowed : space->list.items;
        view.count = space_pair_count( space );
        view.data = space->words.items;
    }
    return view;
}

clv_event_view clv_space_events( const clv_space* space )
{
    clv_event_view view = { 0 };
    if ( !space->lists_are_busy )
    {
        view.begun = space->begun.items;
        view.begun_count = space->begun.count;
        view.ended = space->ended.items;
        view.ended_count = space->ended.count;
        view.begun_user = space->begun_user.items;
        view.ended_user = space->ended_user.items;
        view.ended_data = space->ended_words.items;
    }
    return view;
}
