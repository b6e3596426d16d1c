// SPDX-License-Identifier: MIT
// Spaces: cleave/space.h, world.h and save.h for ../space.js.
#include "binding.h"
#include "cleave/method.h"
#include "cleave/methods.h"
#include "cleave/save.h"
#include "cleave/world.h"

#include <stdio.h>
#include <string.h>

// Where ../space.js finds what; filters are written there as these 24 bytes.
_Static_assert(
    sizeof( clv_filter ) == 24 && offsetof( clv_filter, mask ) == 8 && offsetof( clv_filter, group ) == 16,
    "filterBytes in memory.js" );
_Static_assert(
    sizeof( clv_id ) == 8 && sizeof( clv_id_pair ) == 16 && sizeof( clv_pair ) == 8, "views in space.js" );

// ---- what went wrong

// The last error line of a call without an object to ask: a creation, a load, a match.
static char s_line[256];

// Of the first bad id of a call that reads: those leave clv_space_error alone.
static uint32_t s_read_position;

void js_keep_line( clv_log_level level, const char* line, void* user )
{
    (void)user;
    if ( level == CLV_LOG_ERROR )
    {
        snprintf( s_line, sizeof( s_line ), "%s", line );
    }
}

void js_forget_line( void )
{
    s_line[0] = 0;
}

EMSCRIPTEN_KEEPALIVE const char* js_line( void )
{
    return s_line;
}

EMSCRIPTEN_KEEPALIVE uint32_t js_read_position( void )
{
    return s_read_position;
}

void js_write_error( clv_error error, double* out )
{
    out[0] = error.code;
    out[1] = error.position == UINT32_MAX ? -1.0 : (double)error.position;
    out[2] = error.id.index;
    out[3] = error.id.generation;
    out[4] = (double)error.pair_count;
}

/// Its text; the numbers of js_write_error go to `out`.
EMSCRIPTEN_KEEPALIVE const char* js_error( const clv_space* space, double* out )
{
    clv_error error = clv_space_error( space );
    js_write_error( error, out );
    return error.text;
}

EMSCRIPTEN_KEEPALIVE const char* js_result_name( int result )
{
    return clv_result_name( (clv_result)result );
}

EMSCRIPTEN_KEEPALIVE const char* js_result_text( int result )
{
    return clv_result_text( (clv_result)result );
}

// ---- the library

/// The methods library's rows are known from here on. Called once, before anything else.
EMSCRIPTEN_KEEPALIVE int js_start( void )
{
    return clv_methods_register();
}

EMSCRIPTEN_KEEPALIVE const char* js_version( void )
{
    return clv_version_text();
}

EMSCRIPTEN_KEEPALIVE uint32_t js_method_count( void )
{
    return clv_method_count();
}

EMSCRIPTEN_KEEPALIVE const char* js_method_name( uint32_t index )
{
    return clv_method_at( index )->name;
}

EMSCRIPTEN_KEEPALIVE const char* js_method_family( uint32_t index )
{
    return clv_method_at( index )->family;
}

// ---- a space

static bool filter_pair( const clv_space* space, clv_pair pair, void* user )
{
    (void)space;
    return js_filter_pair( (uint32_t)(uintptr_t)user, pair.a, pair.b ) != 0;
}

// Numbers of a def, in the order of DEF in ../space.js.
enum
{
    DEF_CAPACITY,
    DEF_PAIR_CAPACITY,
    DEF_MAX_PAIRS,
    DEF_MARGIN,
    DEF_MARGIN_BY_SIZE,
    DEF_MARGIN_BY_SPEED,
    DEF_WORKERS,
    DEF_SORTED,
    DEF_EVENTS,
    DEF_SKIP_STATIC_PAIRS,
    DEF_PAIR_DATA,
    DEF_STAGE_TIMES,
    DEF_DOUBLES,
    DEF_FLAT,
    DEF_ISA,
    DEF_FILTER, // a number from 1 on, which js_filter_pair gets; 0: no filter
};

static clv_space_def make_def( const char* method, const char* settings, const double* numbers )
{
    clv_space_def def = clv_default_space_def();
    def.method = method;
    def.settings = settings;
    def.capacity = (uint32_t)numbers[DEF_CAPACITY];
    def.pair_capacity = (uint64_t)numbers[DEF_PAIR_CAPACITY];
    def.max_pairs = (uint64_t)numbers[DEF_MAX_PAIRS];
    def.margin = (float)numbers[DEF_MARGIN];
    def.margin_by_size = (float)numbers[DEF_MARGIN_BY_SIZE];
    def.margin_by_speed = (float)numbers[DEF_MARGIN_BY_SPEED];
    def.worker_count = (uint32_t)numbers[DEF_WORKERS];
    def.tasks = js_task_hooks( def.worker_count );
    def.sorted = numbers[DEF_SORTED] != 0.0;
    def.events = numbers[DEF_EVENTS] != 0.0;
    def.skip_static_pairs = numbers[DEF_SKIP_STATIC_PAIRS] != 0.0;
    def.pair_data = numbers[DEF_PAIR_DATA] != 0.0;
    def.stage_times = numbers[DEF_STAGE_TIMES] != 0.0;
    def.doubles = numbers[DEF_DOUBLES] != 0.0;
    def.flat = numbers[DEF_FLAT] != 0.0;
    def.isa = (clv_isa)numbers[DEF_ISA];
    if ( numbers[DEF_FILTER] != 0.0 )
    {
        def.filter = filter_pair;
        def.filter_user = (void*)(uintptr_t)(uint32_t)numbers[DEF_FILTER];
    }
    def.logger.write = js_keep_line;
    js_forget_line();
    return def;
}

/// NULL method: the default. NULL if it cannot be made; then out[0] is why, and js_line the sentence.
EMSCRIPTEN_KEEPALIVE clv_space* js_create(
    const char* method, const char* settings, const double* numbers, double* out )
{
    clv_space_def def = make_def( method, settings, numbers );
    clv_space* space = NULL;
    out[0] = clv_space_create( &def, &space );
    return space;
}

/// A space from the bytes of js_save. out[1] is where the bytes are wrong, or -1.
EMSCRIPTEN_KEEPALIVE clv_space* js_load( const double* numbers, const void* bytes, size_t size, double* out )
{
    clv_space_def def = make_def( NULL, NULL, numbers );
    clv_space* space = NULL;
    clv_load_error error = { UINT64_MAX, "" };
    out[0] = clv_space_load( &def, bytes, size, &space, &error );
    out[1] = error.offset == UINT64_MAX ? -1.0 : (double)error.offset;
    if ( out[0] != CLV_OK )
    {
        js_keep_line( CLV_LOG_ERROR, error.text, NULL );
    }
    return space;
}

/// Of a space that was loaded: reading a box of another world is refused before the id is looked at.
EMSCRIPTEN_KEEPALIVE int js_world( const clv_space* space )
{
    clv_aabb2 flat;
    clv_aabb64 big;
    if ( clv_space_get_box2( space, clv_null_id(), &flat ) != CLV_UNSUPPORTED )
    {
        return WORLD_FLAT;
    }
    return clv_space_get_box64( space, clv_null_id(), &big ) != CLV_UNSUPPORTED ? WORLD_DOUBLE : WORLD_SOLID;
}

EMSCRIPTEN_KEEPALIVE size_t js_save_size( const clv_space* space, int form )
{
    return clv_space_save_size( space, (clv_save_form)form );
}

EMSCRIPTEN_KEEPALIVE int js_save( const clv_space* space, int form, void* bytes, size_t capacity )
{
    size_t size = 0;
    return clv_space_save( space, (clv_save_form)form, bytes, capacity, &size );
}

EMSCRIPTEN_KEEPALIVE void js_destroy( clv_space* space )
{
    clv_space_destroy( space );
}

// ---- objects in

/// All but boxes and ids may be NULL.
EMSCRIPTEN_KEEPALIVE int js_add( clv_space* space, int world, const void* boxes, uint32_t count,
    const uint64_t* user_data, const clv_filter* filters, const float* margins, const bool* is_static,
    const clv_vec3* motions, clv_id* ids )
{
    clv_add_def def = clv_default_add_def();
    def.boxes = world == WORLD_SOLID ? boxes : NULL;
    def.boxes2 = world == WORLD_FLAT ? boxes : NULL;
    def.boxes64 = world == WORLD_DOUBLE ? boxes : NULL;
    def.user_data = user_data;
    def.filters = filters;
    def.margins = margins;
    def.is_static = is_static;
    def.motions = motions;
    return clv_space_add_with( space, &def, count, ids );
}

/// Of all objects in the order of their indices where ids is NULL.
EMSCRIPTEN_KEEPALIVE int js_move(
    clv_space* space, int world, const clv_id* ids, const void* boxes, uint32_t count )
{
    switch ( world )
    {
    case WORLD_FLAT:
        return ids == NULL ? clv_space_move_all2( space, boxes, count )
                           : clv_space_move2( space, ids, boxes, count );
    case WORLD_DOUBLE:
        return ids == NULL ? clv_space_move_all64( space, boxes, count )
                           : clv_space_move64( space, ids, boxes, count );
    default:
        return ids == NULL ? clv_space_move_all( space, boxes, count )
                           : clv_space_move( space, ids, boxes, count );
    }
}

EMSCRIPTEN_KEEPALIVE int js_remove( clv_space* space, const clv_id* ids, uint32_t count )
{
    return clv_space_remove( space, ids, count );
}

EMSCRIPTEN_KEEPALIVE int js_refilter( clv_space* space, const clv_id* ids, uint32_t count )
{
    return clv_space_refilter( space, ids, count );
}

EMSCRIPTEN_KEEPALIVE void js_clear( clv_space* space )
{
    clv_space_clear( space );
}

EMSCRIPTEN_KEEPALIVE int js_shift_origin( clv_space* space, double x, double y, double z )
{
    return clv_space_shift_origin( space, ( clv_vec64 ){ x, y, z } );
}

EMSCRIPTEN_KEEPALIVE int js_shrink( clv_space* space )
{
    return clv_space_shrink( space );
}

// ---- what objects carry

// As COLUMNS of ../space.js numbers them.
enum
{
    COLUMN_USER_DATA,
    COLUMN_FILTER,
    COLUMN_MARGIN,
    COLUMN_MARGIN_RULE,
    COLUMN_STATIC,
    COLUMN_MOTION,
    COLUMN_BOX,
    COLUMN_TEST_BOX,
};

EMSCRIPTEN_KEEPALIVE int js_set(
    clv_space* space, int column, const clv_id* ids, const void* values, uint32_t count )
{
    switch ( column )
    {
    case COLUMN_USER_DATA: return clv_space_set_user_data( space, ids, values, count );
    case COLUMN_FILTER: return clv_space_set_filter( space, ids, values, count );
    case COLUMN_MARGIN: return clv_space_set_margin( space, ids, values, count );
    case COLUMN_MARGIN_RULE: return clv_space_set_margin_rule( space, ids, values, count );
    case COLUMN_STATIC: return clv_space_set_static( space, ids, values, count );
    case COLUMN_MOTION: return clv_space_set_motion( space, ids, values, count );
    default: return CLV_BAD_ARGUMENT;
    }
}

static clv_result get_box( const clv_space* space, int world, clv_id id, void* boxes, uint32_t i )
{
    switch ( world )
    {
    case WORLD_FLAT: return clv_space_get_box2( space, id, (clv_aabb2*)boxes + i );
    case WORLD_DOUBLE: return clv_space_get_box64( space, id, (clv_aabb64*)boxes + i );
    default: return clv_space_get_box( space, id, (clv_aabb*)boxes + i );
    }
}

static clv_result get_test_box( const clv_space* space, int world, clv_id id, void* boxes, uint32_t i )
{
    switch ( world )
    {
    case WORLD_FLAT: return clv_space_get_test_box2( space, id, (clv_aabb2*)boxes + i );
    case WORLD_DOUBLE: return clv_space_get_test_box64( space, id, (clv_aabb64*)boxes + i );
    default: return clv_space_get_test_box( space, id, (clv_aabb*)boxes + i );
    }
}

static clv_result get_one(
    const clv_space* space, int world, int column, clv_id id, void* values, uint32_t i )
{
    switch ( column )
    {
    case COLUMN_USER_DATA: return clv_space_get_user_data( space, id, (uint64_t*)values + i );
    case COLUMN_FILTER: return clv_space_get_filter( space, id, (clv_filter*)values + i );
    case COLUMN_MARGIN: return clv_space_get_margin( space, id, (float*)values + i );
    case COLUMN_MARGIN_RULE: return clv_space_get_margin_rule( space, id, (clv_margin_rule*)values + i );
    case COLUMN_STATIC: return clv_space_get_static( space, id, (bool*)values + i );
    case COLUMN_MOTION: return clv_space_get_motion( space, id, (clv_vec3*)values + i );
    case COLUMN_BOX: return get_box( space, world, id, values, i );
    case COLUMN_TEST_BOX: return get_test_box( space, world, id, values, i );
    default: return CLV_BAD_ARGUMENT;
    }
}

/// The position of a bad id is js_read_position.
EMSCRIPTEN_KEEPALIVE int js_get(
    const clv_space* space, int world, int column, const clv_id* ids, void* values, uint32_t count )
{
    clv_result result = CLV_OK;
    for ( uint32_t i = 0; result == CLV_OK && i < count; ++i )
    {
        s_read_position = i;
        result = get_one( space, world, column, ids[i], values, i );
    }
    return result;
}

EMSCRIPTEN_KEEPALIVE void js_contains(
    const clv_space* space, const clv_id* ids, uint32_t count, uint8_t* answers )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        answers[i] = clv_space_contains( space, ids[i] );
    }
}

EMSCRIPTEN_KEEPALIVE void js_ids_at(
    const clv_space* space, const uint32_t* indices, uint32_t count, clv_id* ids )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        ids[i] = clv_space_id_at( space, indices[i] );
    }
}

/// Of all objects, in the order of their indices: room for js_object_count.
EMSCRIPTEN_KEEPALIVE void js_ids( const clv_space* space, clv_id* ids )
{
    uint32_t slot_count = clv_space_stats( space ).slot_count;
    uint32_t found = 0;
    for ( uint32_t i = 0; i < slot_count; ++i )
    {
        clv_id id = clv_space_id_at( space, i );
        if ( !clv_id_is_null( id ) )
        {
            ids[found++] = id;
        }
    }
}

EMSCRIPTEN_KEEPALIVE uint32_t js_object_count( const clv_space* space )
{
    return clv_space_object_count( space );
}

// ---- pairs out

bool js_pass_pairs( const clv_pair* pairs, size_t count, void* user )
{
    (void)user;
    return js_visit_pairs( pairs, count ) != 0;
}

EMSCRIPTEN_KEEPALIVE int js_update( clv_space* space )
{
    return clv_space_update( space );
}

EMSCRIPTEN_KEEPALIVE int js_visit( clv_space* space )
{
    return clv_space_visit( space, js_pass_pairs, NULL );
}

// As LISTS of ../space.js numbers them.
enum
{
    LIST_PAIRS,
    LIST_PAIR_DATA,
    LIST_BEGUN,
    LIST_ENDED,
    LIST_BEGUN_USER,
    LIST_ENDED_USER,
    LIST_ENDED_DATA,
};

/// Its address and the number of its entries to out; a number of -1 where there is no such list.
EMSCRIPTEN_KEEPALIVE void js_list( const clv_space* space, int which, double* out )
{
    clv_pair_view view = clv_space_pairs( space );
    clv_event_view events = clv_space_events( space );
    const void* lists[] = { view.pairs, view.data, events.begun, events.ended, events.begun_user,
        events.ended_user, events.ended_data };
    bool is_begun = which == LIST_BEGUN || which == LIST_BEGUN_USER;
    uint64_t count = which <= LIST_PAIR_DATA ? view.count
        : is_begun                           ? events.begun_count
                                             : events.ended_count;
    // Events are lists of 0 where there are none; pairs and columns may not be there at all.
    bool is_event = which == LIST_BEGUN || which == LIST_ENDED;
    bool is_there = is_event || ( view.valid && ( which == LIST_PAIRS || lists[which] != NULL ) );
    out[0] = (double)(uintptr_t)lists[which];
    out[1] = is_there ? (double)count : -1.0;
}

EMSCRIPTEN_KEEPALIVE int js_pair_ids( const clv_space* space, clv_id_pair* ids )
{
    clv_pair_view view = clv_space_pairs( space );
    return clv_space_pair_ids( space, view, 0, view.count, ids );
}

// ---- about the space

/// In the order of STATS in ../space.js.
EMSCRIPTEN_KEEPALIVE void js_stats( const clv_space* space, double* out )
{
    clv_stats stats = clv_space_stats( space );
    const double values[] = { stats.object_count, stats.slot_count, (double)stats.pair_count,
        (double)stats.candidate_count, (double)stats.test_count, (double)stats.begun_count,
        (double)stats.ended_count, (double)stats.update_count, stats.memory_bytes, stats.memory_peak_bytes,
        (double)stats.allocation_count, stats.update_ms, stats.search_ms, stats.clean_ms, stats.output_ms,
        stats.reasons };
    memcpy( out, values, sizeof( values ) );
}

EMSCRIPTEN_KEEPALIVE const char* js_method( const clv_space* space )
{
    return clv_space_method( space );
}

EMSCRIPTEN_KEEPALIVE const char* js_isa( const clv_space* space )
{
    return clv_isa_name( clv_space_isa( space ) );
}

EMSCRIPTEN_KEEPALIVE uint32_t js_worker_count( const clv_space* space )
{
    return clv_space_worker_count( space );
}
