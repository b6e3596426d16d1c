// SPDX-License-Identifier: MIT
// Bytes into calls. The first ones choose the def; then each step is an operation and its arguments. Expected
// answers come from the public rules: the first bad entry of a batch decides, and an id is looked at before
// what goes with it.
#include "cleave/methods.h"
#include "fuzz_bytes.h"
#include "fuzz_target.h"
#include "fuzz_twin.h"
#include "method/method.h"
#include "method_settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
    MOST_STEPS = 200,
    MOST_TESTS = 3000000, // of the model, over all searches: a bound on the time an input takes
    SMALL_BATCH = 24,
    HISTORY = 64,
};

typedef struct fuzz_game
{
    fuzz_bytes bytes;
    fuzz_twin twin;
    fuzz_call call;
    clv_id history[HISTORY]; ///< ids given out lately, dead or alive
    uint32_t history_count;
    clv_pair* kept_view; ///< where the list was, to see that it stays
    uint64_t kept_hash;
    uint64_t kept_count;
    bool keeps_view;
} fuzz_game;

static const fuzz_answer s_fine = { CLV_OK, UINT32_MAX, { 0, 0 } };

// ---- arguments

static clv_id live_id( const fuzz_model* model, uint32_t choice )
{
    for ( uint32_t i = 0; i < model->slot_count; ++i )
    {
        const fuzz_object* object = &model->objects[( choice + i ) % model->slot_count];
        if ( object->alive )
        {
            return object->id;
        }
    }
    return clv_null_id();
}

static clv_id take_id( fuzz_game* game )
{
    uint8_t kind = fuzz_take_byte( &game->bytes );
    if ( kind < 224 )
    {
        return live_id( game->twin.model, kind * 7u + fuzz_take_byte( &game->bytes ) );
    }
    if ( kind < 240 && game->history_count > 0 )
    {
        return game->history[kind % game->history_count];
    }
    if ( kind < 248 )
    {
        return ( clv_id ){ kind & 3u, fuzz_take_byte( &game->bytes ) }; // forged
    }
    return ( clv_id ){ fuzz_take_word( &game->bytes ), fuzz_take_byte( &game->bytes ) };
}

// Some ids as the bytes have them, or a run of living ones in order, or the same backwards.
static void take_ids( fuzz_game* game )
{
    fuzz_call* call = &game->call;
    const fuzz_model* model = game->twin.model;
    uint8_t shape = fuzz_take_byte( &game->bytes );
    if ( shape < 128 )
    {
        call->count = shape % SMALL_BATCH;
        for ( uint32_t i = 0; i < call->count; ++i )
        {
            call->ids[i] = take_id( game );
        }
        return;
    }
    uint32_t wanted = 1u + fuzz_take_byte( &game->bytes ) * 2u;
    uint32_t step = 1u + ( shape & 3u );
    call->count = 0;
    for ( uint32_t slot = shape & 31u; slot < model->slot_count && call->count < wanted; slot += step )
    {
        if ( model->objects[slot].alive && call->count < FUZZ_BATCH )
        {
            call->ids[call->count++] = model->objects[slot].id;
        }
    }
    for ( uint32_t i = 0; ( shape & 64 ) != 0 && i < call->count / 2; ++i )
    {
        clv_id swap = call->ids[i];
        call->ids[i] = call->ids[call->count - 1 - i];
        call->ids[call->count - 1 - i] = swap;
    }
}

// One box per entry: from the bytes while they are few, from a seed otherwise.
static void take_boxes( fuzz_game* game )
{
    fuzz_call* call = &game->call;
    uint32_t seed = call->count > SMALL_BATCH ? fuzz_take_word( &game->bytes ) : 0;
    for ( uint32_t i = 0; i < call->count; ++i )
    {
        call->boxes[i] =
            call->count > SMALL_BATCH ? fuzz_crowd_box( seed, i ) : fuzz_take_box( &game->bytes );
    }
    if ( call->count > SMALL_BATCH &&
        ( seed & 0xF0000000u ) == 0xF0000000u ) // one bad box somewhere in the crowd
    {
        call->boxes[( seed >> 8 ) % call->count].lower.y = NAN;
    }
    uint8_t layout = fuzz_take_byte( &game->bytes );
    call->one_by_one = ( layout & 1 ) != 0;
    call->stride = layout < 128 ? 0 : layout < 136 ? layout & 15u : 24u + ( layout & 31u );
}

static float take_margin( fuzz_bytes* bytes )
{
    uint8_t kind = fuzz_take_byte( bytes );
    return kind < 200 ? (float)( kind & 7 ) * 0.25f : fuzz_take_float( bytes );
}

static clv_filter take_filter( fuzz_bytes* bytes )
{
    uint8_t category = fuzz_take_byte( bytes );
    uint8_t mask = fuzz_take_byte( bytes );
    uint8_t group = fuzz_take_byte( bytes );
    return ( clv_filter ){ (uint64_t)category << ( category & 56 ), ( (uint64_t)mask << 56 ) | mask | 1,
        (int32_t)( group % 5 ) - 2 };
}

// ---- what must come out

static bool is_good_margin( float margin )
{
    return margin >= 0 && margin < INFINITY;
}

static bool is_named_before( const fuzz_call* call, uint32_t position )
{
    for ( uint32_t i = 0; i < position; ++i )
    {
        if ( call->ids[i].index == call->ids[position].index )
        {
            return true;
        }
    }
    return false;
}

// The first bad entry of a batch of ids.
static fuzz_answer judge_ids( const fuzz_game* game )
{
    const fuzz_call* call = &game->call;
    for ( uint32_t i = 0; i < call->count; ++i )
    {
        if ( !fuzz_model_is_live( game->twin.model, call->ids[i] ) )
        {
            return ( fuzz_answer ){ CLV_BAD_ID, i, call->ids[i] };
        }
        if ( is_named_before( call, i ) )
        {
            return ( fuzz_answer ){ CLV_DUPLICATE_ID, i, call->ids[i] };
        }
        if ( call->kind == FUZZ_MOVE && !fuzz_box_is_valid( &call->boxes[i] ) )
        {
            return ( fuzz_answer ){ CLV_BAD_BOX, i, call->ids[i] };
        }
        if ( call->kind == FUZZ_MARGIN && !is_good_margin( call->margins[i] ) )
        {
            return ( fuzz_answer ){ CLV_BAD_ARGUMENT, i, call->ids[i] };
        }
    }
    return s_fine;
}

static bool has_bad_stride( const fuzz_call* call )
{
    return call->count > 0 && call->stride > 0 && call->stride < 12 &&
        !( call->one_by_one && call->count == 1 );
}

static fuzz_answer judge_add( const fuzz_call* call )
{
    if ( has_bad_stride( call ) )
    {
        return ( fuzz_answer ){ CLV_BAD_ARGUMENT, UINT32_MAX, { 0, 0 } };
    }
    for ( uint32_t i = 0; i < call->count; ++i )
    {
        if ( !fuzz_box_is_valid( &call->boxes[i] ) )
        {
            return ( fuzz_answer ){ CLV_BAD_BOX, i, { 0, 0 } };
        }
    }
    return s_fine;
}

// A stride of 12 .. 23 is legal, and makes corners overlap: the boxes the library sees are what memory then
// holds.
static void avoid_overlap( fuzz_call* call )
{
    call->stride = call->stride >= 12 && call->stride < 24 ? 24 : call->stride;
}

// ---- steps

static void step_add( fuzz_game* game )
{
    fuzz_call* call = &game->call;
    const fuzz_model* model = game->twin.model;
    call->kind = FUZZ_ADD;
    uint8_t size = fuzz_take_byte( &game->bytes );
    call->count = size < 192 ? size % SMALL_BATCH : ( size - 190u ) * 8u;
    uint32_t room = FUZZ_SLOTS - model->slot_count; // free slots are reused, so this is enough
    call->count = call->count > room ? room : call->count;
    call->count = call->count > FUZZ_BATCH ? FUZZ_BATCH : call->count;
    take_boxes( game );
    avoid_overlap( call );
    fuzz_answer answer = judge_add( call );
    fuzz_twin_call( &game->twin, call, answer );
    if ( answer.code != CLV_OK )
    {
        return;
    }
    const fuzz_side* sides = game->twin.sides;
    for ( uint32_t i = 0; i < call->count; ++i )
    {
        clv_id id = sides[0].new_ids[i];
        FUZZ_CHECK( clv_id_equals( id, sides[1].new_ids[i] ), "the twins give out different ids" );
        fuzz_model_add( game->twin.model, id, call->boxes[i] );
        game->history[game->history_count % HISTORY] = id;
        game->history_count += game->history_count < HISTORY;
    }
}

static void step_move( fuzz_game* game )
{
    fuzz_call* call = &game->call;
    call->kind = FUZZ_MOVE;
    take_ids( game );
    take_boxes( game );
    avoid_overlap( call );
    fuzz_answer answer = judge_ids( game );
    if ( has_bad_stride( call ) )
    {
        answer = ( fuzz_answer ){ CLV_BAD_ARGUMENT, UINT32_MAX, { 0, 0 } };
    }
    fuzz_twin_call( &game->twin, call, answer );
    for ( uint32_t i = 0; i < call->count && answer.code == CLV_OK; ++i )
    {
        game->twin.model->objects[call->ids[i].index].box = call->boxes[i];
    }
}

static void step_remove( fuzz_game* game )
{
    fuzz_call* call = &game->call;
    call->kind = FUZZ_REMOVE;
    take_ids( game );
    call->one_by_one = true;
    fuzz_answer answer = judge_ids( game );
    fuzz_twin_call( &game->twin, call, answer );
    for ( uint32_t i = 0; i < call->count && answer.code == CLV_OK; ++i )
    {
        fuzz_model_remove( game->twin.model, call->ids[i] );
    }
}

static void take_carried( fuzz_game* game, uint32_t i )
{
    fuzz_call* call = &game->call;
    switch ( call->kind )
    {
    case FUZZ_MARGIN: call->margins[i] = take_margin( &game->bytes ); break;
    case FUZZ_FILTER: call->filters[i] = take_filter( &game->bytes ); break;
    case FUZZ_STATIC: call->statics[i] = ( fuzz_take_byte( &game->bytes ) & 1 ) != 0; break;
    default: call->values[i] = fuzz_take_byte( &game->bytes ); break;
    }
}

static void carry( fuzz_object* object, const fuzz_call* call, uint32_t i )
{
    switch ( call->kind )
    {
    case FUZZ_MARGIN: object->margin = call->margins[i]; break;
    case FUZZ_FILTER:
        object->filter = call->filters[i];
        object->ask = true;
        break;
    case FUZZ_STATIC: object->is_static = call->statics[i]; break;
    case FUZZ_USER_DATA: object->user_data = call->values[i]; break;
    default: object->ask = true; break;
    }
}

static void step_carry( fuzz_game* game, fuzz_kind kind )
{
    fuzz_call* call = &game->call;
    call->kind = kind;
    take_ids( game );
    for ( uint32_t i = 0; i < call->count; ++i )
    {
        take_carried( game, i );
    }
    fuzz_answer answer = judge_ids( game );
    fuzz_twin_call( &game->twin, call, answer );
    for ( uint32_t i = 0; i < call->count && answer.code == CLV_OK; ++i )
    {
        carry( &game->twin.model->objects[call->ids[i].index], call, i );
    }
}

static bool is_over( const fuzz_model* model )
{
    return model->def.max_pairs > 0 && model->now.count > model->def.max_pairs;
}

static void step_update( fuzz_game* game )
{
    fuzz_model* model = game->twin.model;
    fuzz_model_search( model, true );
    bool over = is_over( model );
    game->call.kind = FUZZ_UPDATE;
    fuzz_twin_call( &game->twin, &game->call,
        over ? ( fuzz_answer ){ CLV_TOO_MANY_PAIRS, UINT32_MAX, { 0, 0 } } : s_fine );
    game->keeps_view = false;
    if ( over )
    {
        model->list_is_valid = false;
        uint64_t count = clv_space_error( game->twin.sides[0].space ).pair_count;
        FUZZ_CHECK( count == model->def.max_pairs + 1, "%u pairs were too many", (unsigned)count );
        FUZZ_CHECK( !clv_space_pairs( game->twin.sides[0].space ).valid, "a list after a failed update" );
        return;
    }
    fuzz_twin_check_update( &game->twin );
    fuzz_model_commit( model );
    if ( model->update_count % 8 == 1 ) // as dear as the search itself
    {
        fuzz_twin_check_objects( &game->twin );
    }
}

static void step_visit( fuzz_game* game )
{
    fuzz_model* model = game->twin.model;
    fuzz_call* call = &game->call;
    call->kind = FUZZ_VISIT;
    call->stops = ( fuzz_take_byte( &game->bytes ) & 7 ) == 0;
    fuzz_answer answer = s_fine;
    if ( model->def.sorted || model->def.events )
    {
        answer.code = CLV_UNSUPPORTED;
        fuzz_twin_call( &game->twin, call, answer );
        return;
    }
    fuzz_model_search( model, false );
    bool over = is_over( model );
    if ( over && model->now.count > 4000 )
    {
        call->stops = false; // more than a chunk: which of the two comes first is the library's affair
    }
    answer.code = over ? CLV_TOO_MANY_PAIRS : call->stops && model->now.count > 0 ? CLV_STOPPED : CLV_OK;
    fuzz_twin_call( &game->twin, call, answer );
    game->keeps_view = false;
    model->list_is_valid = false;
    if ( answer.code == CLV_OK )
    {
        fuzz_twin_check_visit( &game->twin );
        model->update_count += 1;
    }
}

// ---- the list stays until something may end it

static uint64_t hash_view( clv_pair_view view )
{
    uint64_t hash = view.count;
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        hash = fuzz_mix( hash ^ ( ( (uint64_t)view.pairs[i].a << 32 ) | view.pairs[i].b ) );
    }
    return hash;
}

static void step_snapshot( fuzz_game* game )
{
    clv_pair_view view = clv_space_pairs( game->twin.sides[0].space );
    FUZZ_CHECK(
        view.valid == game->twin.model->list_is_valid, "the list is %svalid", view.valid ? "" : "in" );
    game->keeps_view = true;
    game->kept_view = (clv_pair*)(uintptr_t)view.pairs;
    game->kept_count = view.count;
    game->kept_hash = hash_view( view );
}

static void check_kept_view( const fuzz_game* game )
{
    if ( game->keeps_view )
    {
        clv_pair_view kept = { .pairs = game->kept_view, .count = game->kept_count, .valid = true };
        FUZZ_CHECK( hash_view( kept ) == game->kept_hash, "a list changed under its reader" );
    }
}

// ---- a game

static void take_step( fuzz_game* game )
{
    fuzz_twin* twin = &game->twin;
    uint8_t step = fuzz_take_byte( &game->bytes ) % 40;
    uint8_t argument;
    switch ( step )
    {
    default: step_update( game ); break;
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5: step_add( game ); break;
    case 6:
    case 7:
    case 8:
    case 9:
    case 10: step_move( game ); break;
    case 11:
    case 12:
    case 13: step_remove( game ); break;
    case 14:
    case 15: step_carry( game, FUZZ_MARGIN ); break;
    case 16:
    case 17: step_carry( game, FUZZ_FILTER ); break;
    case 18: step_carry( game, FUZZ_STATIC ); break;
    case 19: step_carry( game, FUZZ_USER_DATA ); break;
    case 20: step_carry( game, FUZZ_REFILTER ); break;
    case 21:
    case 22: step_visit( game ); break;
    case 23:
        fuzz_twin_clear( twin );
        game->keeps_view = false;
        break;
    case 24:
        game->keeps_view = false;
        game->call.kind = FUZZ_SHRINK;
        fuzz_twin_call( twin, &game->call, s_fine );
        break;
    case 25: fuzz_twin_set_salt( twin, fuzz_take_byte( &game->bytes ) ); break;
    case 26: step_snapshot( game ); break;
    case 27: twin->hostile_modes = !twin->hostile_modes; break;
    case 28:
    case 29: // the next allocations but the first few are refused
        argument = fuzz_take_byte( &game->bytes );
        twin->sides[0].heap.refuse_after = argument & 7u;
        twin->sides[0].heap.refuse_count = argument < 128 ? 1 : 1000;
        break;
    }
}

static clv_isa take_isa( uint8_t choice )
{
    for ( uint32_t i = 0; i < CLV_ISA_COUNT; ++i )
    {
        clv_isa isa = (clv_isa)( ( choice + i ) % CLV_ISA_COUNT );
        if ( clv_isa_is_supported( isa ) )
        {
            return isa;
        }
    }
    return CLV_ISA_SCALAR;
}

static bool placeholder_filter( const clv_space* space, clv_pair pair, void* user )
{
    (void)space;
    (void)pair;
    (void)user;
    return true; // the twins put their own in its place
}

static clv_space_def take_def( fuzz_bytes* bytes )
{
    clv_space_def def = clv_default_space_def();
    def.method = clv_method_at( fuzz_take_byte( bytes ) % clv_method_count() )->name;
    uint8_t flags = fuzz_take_byte( bytes );
    def.sorted = ( flags & 1 ) != 0;
    def.events = ( flags & 2 ) != 0;
    def.skip_static_pairs = ( flags & 4 ) != 0;
    def.stage_times = ( flags & 8 ) != 0;
    def.filter = ( flags & 16 ) != 0 ? placeholder_filter : NULL;
    def.margin = ( flags & 32 ) != 0 ? 0.5f : 0.0f;
    def.worker_count = ( flags & 64 ) != 0 ? 2 : 1;
    def.pair_capacity = ( flags & 128 ) != 0 ? 300 : 0;
    uint8_t limit = fuzz_take_byte( bytes );
    def.max_pairs = limit < 64 ? (uint64_t)limit * 16 : 0;
    def.capacity = limit & 127u;
    return def;
}

// Limits so small that a few hundred boxes split trees and overflow blocks, and one of the method's choices
// perhaps made otherwise.
static void take_settings( clv_space_def* def, uint32_t choice )
{
    static char text[512];
    const clv_method* row = clv_method_find( def->method );
    method_settings_write( row, 1 + choice % ( method_settings_count( row ) - 1 ), text, sizeof( text ) );
    def->settings = text;
}

void fuzz_space( const uint8_t* data, size_t size )
{
    static fuzz_game game; // half a megabyte of arguments
    clv_methods_register();
    memset( &game, 0, sizeof( game ) );
    game.bytes = ( fuzz_bytes ){ data, size };
    clv_space_def def = take_def( &game.bytes );
    clv_isa isa = take_isa( fuzz_take_byte( &game.bytes ) );
    uint8_t salt = fuzz_take_byte( &game.bytes );
    if ( ( salt & 128 ) != 0 )
    {
        take_settings( &def, salt >> 5 & 3u );
    }
    fuzz_twin_open( &game.twin, &def, isa, salt & 31u );
    for ( int step = 0; step < MOST_STEPS && game.bytes.left > 0 && game.twin.model->test_count < MOST_TESTS;
          ++step )
    {
        take_step( &game );
        check_kept_view( &game );
    }
    game.keeps_view = false;
    step_update( &game );
    fuzz_twin_check_objects( &game.twin );
    fuzz_twin_close( &game.twin );
}
