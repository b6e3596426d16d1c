// SPDX-License-Identifier: MIT
#include "lab/replay/player.h"

#include "lab/base/text.h"
#include "space/space_query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// More hits than this are a slip of the pen, or of a file.
#define HITS_MOST ( UINT64_C( 1 ) << 28 )

static replay_player* player_of( space_tap* tap )
{
    return (replay_player*)tap;
}

// ---- what the space says: the same functions as a recorder's make the answer

static void begin_call( space_tap* tap, const clv_space* space, const space_call* call )
{
    replay_player* player = player_of( tap );
    (void)space;
    player->open = *call;
    player->shown = ( record_hash ){ 0 };
}

static void end_call( space_tap* tap, const clv_space* space, clv_result result )
{
    replay_player* player = player_of( tap );
    player->answer = clv_record_answer( space, &player->open, result, &player->shown );
    player->has_answer = true;
}

static void decided( space_tap* tap, clv_pair pair, bool allowed )
{
    (void)tap;
    (void)pair;
    (void)allowed;
}

static void shown( space_tap* tap, const clv_pair* pairs, uint64_t count, bool wants_more )
{
    (void)wants_more;
    clv_record_hash_pairs( &player_of( tap )->shown, pairs, count );
}

static uint64_t ask( space_tap* tap, const clv_space* space, const space_call* call )
{
    (void)tap;
    (void)space;
    (void)call;
    return 0;
}

static void counted( space_tap* tap, uint64_t ticket, const space_counted* hit )
{
    (void)tap;
    (void)ticket;
    (void)hit;
}

static void seen(
    space_tap* tap, struct query_job* job, uint32_t query, const void* hits, uint64_t count, bool wants_more )
{
    (void)tap;
    (void)wants_more;
    clv_record_see( job, query, hits, count );
}

static void answer( space_tap* tap, const space_call* call, uint64_t ticket, clv_result result )
{
    replay_player* player = player_of( tap );
    (void)ticket;
    player->answer = clv_record_query_answer( call, result );
    player->has_answer = true;
}

static void leave( space_tap* tap )
{
    (void)tap;
}

static void keep_reason( clv_log_level level, const char* line, void* user )
{
    replay_player* player = user;
    if ( level == CLV_LOG_ERROR )
    {
        snprintf( player->reason, sizeof( player->reason ), "%s", line );
    }
}

// ---- callbacks: what the recording says that they answered

static uint32_t number_at( const replay_player* player, uint32_t slot )
{
    return !player->is_numbered ? slot : slot < player->slot_room ? player->numbers[slot] : UINT32_MAX;
}

// From `first` on, around the end.
static bool find_decision( const recorded_call* call, clv_pair pair, uint64_t* first, bool* allowed )
{
    uint64_t count = call->decided_count;
    for ( uint64_t i = 0, at = *first; i < count; ++i, ++at )
    {
        at = at < count ? at : 0;
        clv_pair known = call->decided[at];
        if ( ( known.a == pair.a && known.b == pair.b ) || ( known.a == pair.b && known.b == pair.a ) )
        {
            *allowed = call->decided_yes[at] != 0;
            *first = at + 1;
            return true;
        }
    }
    return false;
}

// As the recording has it for this call; else as it was answered last, else yes.
static bool filter_pair( const clv_space* space, clv_pair pair, void* user )
{
    replay_player* player = user;
    (void)space;
    clv_pair named = { number_at( player, pair.a ), number_at( player, pair.b ) };
    bool allowed = true;
    const recorded_call* call = player->under_way;
    if ( find_decision( call, named, &player->next_decision, &allowed ) )
    {
        return allowed;
    }
    player->asked_unknown = true;
    const recorded_call* first = player->source->calls;
    uint64_t any = 0;
    while ( call > first && !find_decision( --call, named, &any, &allowed ) )
    {
        any = 0;
    }
    return allowed;
}

static const space_counted* find_counted( replay_player* player, uint32_t query, uint32_t slot )
{
    const recorded_call* call = player->under_way;
    for ( uint64_t i = 0; i < call->counted_count; ++i )
    {
        if ( call->counted[i].query == query && call->counted[i].slot == number_at( player, slot ) )
        {
            return &call->counted[i];
        }
    }
    player->asked_unknown = true;
    return NULL;
}

// Visitors stop where the recorded one did.
static bool was_stopped( const replay_player* player )
{
    return player->under_way->has_answer && player->under_way->answer.result == CLV_STOPPED;
}

static bool visit_pairs( const clv_pair* pairs, size_t count, void* user )
{
    const replay_player* player = user;
    (void)pairs;
    return !was_stopped( player ) || player->shown.count + count < player->under_way->answer.words[0];
}

// What is asked about each hit, and the visitor of them.
#define HIT_CALLBACKS( ending, real )                                                                        \
    static bool count_hit##ending(                                                                           \
        const clv_space* space, uint32_t query, clv_hit##ending hit, real* reach, void* user )               \
    {                                                                                                        \
        const space_counted* found = find_counted( user, query, hit.index );                                 \
        (void)space;                                                                                         \
        *reach = found != NULL ? (real)found->reach : *reach;                                                \
        return found == NULL || found->counts;                                                               \
    }                                                                                                        \
                                                                                                             \
    static bool visit_hits##ending(                                                                          \
        uint32_t query, const clv_hit##ending* hits, uint64_t count, void* user )                            \
    {                                                                                                        \
        const replay_player* player = user;                                                                  \
        (void)hits, (void)count;                                                                             \
        return !was_stopped( player ) || query < player->under_way->answer.position;                         \
    }

HIT_CALLBACKS(, float )
HIT_CALLBACKS( 64, double )

// ---- birth and death

bool player_begin( replay_player* player, const recording* source, const clv_space_def* as, bool is_numbered,
    lab_error* why )
{
    memset( player, 0, sizeof( *player ) );
    player->tap = ( space_tap ){ begin_call, end_call, decided, shown, ask, counted, seen, answer, leave };
    player->source = source;
    player->is_numbered = is_numbered;
    clv_space_def def = source->def;
    def.method = as->method;
    def.settings = as->settings;
    def.isa = as->isa;
    def.worker_count = as->worker_count;
    def.logger = ( clv_logger ){ keep_reason, player };
    def.filter = source->has_filter ? filter_pair : NULL;
    def.filter_user = player;
    clv_result result = clv_space_create( &def, &player->space );
    if ( result != CLV_OK )
    {
        return lab_error_write( why, "replay: no such space can be made: %s",
            player->reason[0] != '\0' ? player->reason : clv_result_text( result ) );
    }
    player->space->tap = &player->tap;
    return true;
}

void player_end( replay_player* player )
{
    clv_space_destroy( player->space );
    free( player->objects );
    free( player->numbers );
    free( player->made );
    free( player->hits );
    free( player->offsets );
    memset( player, 0, sizeof( *player ) );
}

// ---- numbered objects

static clv_id* ids_here( const replay_player* player, const space_call* call )
{
    clv_id* ids = lab_take( call->count, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < call->count; ++i )
    {
        clv_id id = call->ids[i];
        bool is_object = id.generation == PLAYER_OBJECT;
        ids[i] = !is_object                   ? id
            : id.index < player->object_count ? player->objects[id.index]
                                              : clv_null_id();
    }
    return ids;
}

// The objects of a numbered add are those of its ids, which a plain add has not.
static void note_new( replay_player* player, const recorded_call* call )
{
    for ( uint32_t i = 0; i < call->call.count; ++i )
    {
        uint32_t number = call->call.ids[i].index;
        clv_id id = player->made[i];
        while ( player->object_count <= number )
        {
            *lab_list_next( player->objects, player->object_count ) = clv_null_id();
        }
        while ( player->slot_room <= id.index )
        {
            *lab_list_next( player->numbers, player->slot_room ) = UINT32_MAX;
        }
        player->objects[number] = id;
        player->numbers[id.index] = number;
    }
}

// ---- one call

static clv_result make_call( clv_space* space, space_call* call )
{
    switch ( call->kind )
    {
#define PLAY( kind, name, form, play )                                                                       \
    case SPACE_CALL_##kind: return play;
        SPACE_CALLS( PLAY )
#undef PLAY
    default: return CLV_BAD_ARGUMENT;
    }
}

static bool take_hits( replay_player* player, space_call* call, uint64_t count, lab_error* why )
{
    if ( count > HITS_MOST )
    {
        return lab_error_write( why, "replay: a call that asks for %" PRIu64 " hits", count );
    }
    free( player->hits );
    player->hits = lab_take( count, sizeof( clv_hit64 ) );
    call->lists.hits = player->hits;
    call->lists64.hits = player->hits;
    return true;
}

// Counted first, since the recording's capacity says nothing of how many there are.
static bool prepare_all( replay_player* player, space_call* call, uint32_t bits, lab_error* why )
{
    uint32_t count = call->queries.count;
    bool is_double = call->kind == SPACE_CALL_QUERY_ALL64;
    free( player->offsets );
    player->offsets = lab_take( (uint64_t)count + 1, sizeof( uint64_t ) );
    call->lists.offsets = call->lists64.offsets =
        ( bits & RECORD_OFFSETS ) != 0 || count != 1 ? player->offsets : NULL;
    call->lists.hits = NULL;
    call->lists64.hits = NULL;
    make_call( player->space, call );
    uint64_t found = is_double ? call->lists64.count : call->lists.count;
    uint64_t room = found < call->capacity ? found : call->capacity;
    call->lists.capacity = call->lists64.capacity = room;
    call->lists.count = call->lists64.count = 0;
    return take_hits( player, call, room, why );
}

static bool prepare_queries(
    replay_player* player, const recorded_call* from, space_call* call, lab_error* why )
{
    uint32_t count = call->queries.count;
    bool has_callback = ( from->bits & RECORD_CALLBACK ) != 0;
    call->queries.callback = has_callback ? count_hit : NULL;
    call->queries64.callback = has_callback ? count_hit64 : NULL;
    call->queries.user = call->queries64.user = player;
    switch ( call->kind )
    {
    case SPACE_CALL_QUERY_ALL:
    case SPACE_CALL_QUERY_ALL64: return prepare_all( player, call, from->bits, why );
    case SPACE_CALL_QUERY_NEAREST:
    case SPACE_CALL_QUERY_NEAREST64:
        return count == 0 || call->k <= HITS_MOST / count
            ? take_hits( player, call, (uint64_t)count * call->k, why )
            : lab_error_write(
                  why, "replay: %" PRIu32 " queries for %" PRIu32 " neighbours each", count, call->k );
    default: return take_hits( player, call, count, why );
    }
}

// Counted first, as above.
static bool prepare_pairs( replay_player* player, space_call* call, lab_error* why )
{
    uint64_t capacity = call->capacity;
    call->capacity = 0;
    make_call( player->space, call );
    call->capacity = call->pair_count < capacity ? call->pair_count : capacity;
    if ( !take_hits( player, call, call->capacity, why ) )
    {
        return false;
    }
    call->pairs = player->hits;
    return true;
}

static bool prepare( replay_player* player, const recorded_call* from, space_call* call, lab_error* why )
{
    space_call_form form = clv_record_kind( call->kind )->form;
    call->visitor = visit_pairs;
    call->hit_visitor = visit_hits;
    call->hit_visitor64 = visit_hits64;
    call->user = player;
    if ( form == SPACE_ABOUT_NEW )
    {
        if ( call->count > player->made_room )
        {
            player->made = lab_grow( player->made, call->count, sizeof( clv_id ) );
            player->made_room = call->count;
        }
        call->made = from->wants_ids || player->is_numbered ? player->made : NULL;
    }
    return form == SPACE_ABOUT_QUERIES ? prepare_queries( player, from, call, why )
        : form == SPACE_ABOUT_SPACES   ? prepare_pairs( player, call, why )
                                       : true;
}

clv_aabb player_box( const clv_space* space, clv_id id, clv_aabb none )
{
    clv_aabb box;
    clv_aabb2 flat;
    clv_aabb64 wide;
    if ( clv_space_get_box( space, id, &box ) == CLV_OK )
    {
        return box;
    }
    if ( clv_space_get_box2( space, id, &flat ) == CLV_OK )
    {
        return ( clv_aabb ){ { flat.lower.x, flat.lower.y, 0 }, { flat.upper.x, flat.upper.y, 0 } };
    }
    if ( clv_space_get_box64( space, id, &wide ) == CLV_OK )
    {
        return ( clv_aabb ){ { (float)wide.lower.x, (float)wide.lower.y, (float)wide.lower.z },
            { (float)wide.upper.x, (float)wide.upper.y, (float)wide.upper.z } };
    }
    return none;
}

bool player_can_play( const recorded_call* call )
{
    return !call->has_answer || call->answer.result != CLV_OUT_OF_MEMORY;
}

bool player_play( replay_player* player, const recorded_call* from, record_answer* out, lab_error* why )
{
    space_call call = from->call;
    player->under_way = from;
    player->asked_unknown = false;
    player->next_decision = 0;
    player->has_answer = false;
    if ( !prepare( player, from, &call, why ) )
    {
        return false;
    }
    clv_id* ids = player->is_numbered && clv_record_kind( call.kind )->form == SPACE_ABOUT_OBJECTS
        ? ids_here( player, &call )
        : NULL;
    call.ids = ids != NULL ? ids : call.ids;
    clv_result result = make_call( player->space, &call );
    if ( player->is_numbered && result == CLV_OK && call.made != NULL )
    {
        note_new( player, from );
    }
    free( ids );
    // A call that no tap is told of was refused at the door.
    *out =
        player->has_answer ? player->answer : ( record_answer ){ .result = result, .position = UINT32_MAX };
    return true;
}

bool answers_differ( const recorded_call* call, const record_answer* expected, const record_answer* found,
    bool with_order, char* what, size_t size )
{
    uint32_t kind = call->call.kind;
    space_call_form form = clv_record_kind( kind )->form;
    // A visitor that stops has seen the first pairs there were, and which these are depends on the method.
    bool is_part = expected->result == CLV_STOPPED && !with_order;
    if ( expected->result != found->result )
    {
        snprintf( what, size, "result: %s expected, %s found", clv_result_name( expected->result ),
            clv_result_name( found->result ) );
        return true;
    }
    if ( expected->position != found->position && expected->result != CLV_OK &&
        expected->result != CLV_STOPPED )
    {
        snprintf( what, size, "position of the first bad entry: %" PRIu32 " expected, %" PRIu32 " found",
            expected->position, found->position );
        return true;
    }
    uint32_t count = expected->word_count < found->word_count ? expected->word_count : found->word_count;
    for ( uint32_t i = 0; i < count && !is_part; ++i )
    {
        const char* word = clv_record_word( form, i );
        bool is_number = word != NULL && strncmp( word, "number", 6 ) == 0;
        if ( expected->words[i] == found->words[i] || ( !with_order && clv_record_word_is_order( kind, i ) ) )
        {
            continue;
        }
        if ( is_number )
        {
            snprintf( what, size, "%s: %" PRIu64 " expected, %" PRIu64 " found", word, expected->words[i],
                found->words[i] );
        }
        else
        {
            snprintf( what, size, "%s: not as expected", word != NULL ? word : "answer" );
        }
        return true;
    }
    return false;
}
