// SPDX-License-Identifier: MIT
// What the JavaScript side of the binding calls: the interface of cleave/space.h with numbers and addresses alone, since
// that is what crosses the border of a WebAssembly module. Views are read field by field, so that index.js need not know how
// the compiler lays out a struct.
#include "cleave/cleave.h"
#include "cleave/method.h"
#include "cleave/methods.h"

#include <emscripten.h>
#include <stdlib.h>
#include <string.h>

enum
{
    FLAG_SORTED = 1,
    FLAG_EVENTS = 2,
    FLAG_SKIP_STATIC_PAIRS = 4,
};

// The last creation that failed has no space to ask.
static char s_create_error[256];

static void keep_line( clv_log_level level, const char* line, void* user )
{
    (void)user;
    if ( level == CLV_LOG_ERROR )
    {
        strncpy( s_create_error, line, sizeof( s_create_error ) - 1 );
    }
}

/// The methods library's rows are known from here on. Called once, before anything else.
EMSCRIPTEN_KEEPALIVE int js_start( void )
{
    return clv_methods_register();
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

/// NULL method: the default. A limit of 0: none. NULL if it cannot be made; then *result says why, and js_create_error.
EMSCRIPTEN_KEEPALIVE clv_space* js_create( const char* method, const char* settings, float margin, int flags,
    double max_pairs, int isa, int* result )
{
    clv_space_def def = clv_default_space_def();
    def.method = method;
    def.settings = settings;
    def.margin = margin;
    def.sorted = ( flags & FLAG_SORTED ) != 0;
    def.events = ( flags & FLAG_EVENTS ) != 0;
    def.skip_static_pairs = ( flags & FLAG_SKIP_STATIC_PAIRS ) != 0;
    def.max_pairs = (uint64_t)max_pairs;
    def.isa = (clv_isa)isa;
    def.stage_times = true;
    def.logger.write = keep_line;
    clv_space* space = NULL;
    s_create_error[0] = 0;
    *result = clv_space_create( &def, &space );
    return space;
}

EMSCRIPTEN_KEEPALIVE const char* js_create_error( void )
{
    return s_create_error;
}

EMSCRIPTEN_KEEPALIVE void js_destroy( clv_space* space )
{
    clv_space_destroy( space );
}

EMSCRIPTEN_KEEPALIVE int js_add( clv_space* space, const clv_aabb* boxes, uint32_t count, clv_id* ids )
{
    return clv_space_add( space, boxes, count, ids );
}

EMSCRIPTEN_KEEPALIVE int js_move( clv_space* space, const clv_id* ids, const clv_aabb* boxes, uint32_t count )
{
    return clv_space_move( space, ids, boxes, count );
}

EMSCRIPTEN_KEEPALIVE int js_remove( clv_space* space, const clv_id* ids, uint32_t count )
{
    return clv_space_remove( space, ids, count );
}

EMSCRIPTEN_KEEPALIVE void js_clear( clv_space* space )
{
    clv_space_clear( space );
}

EMSCRIPTEN_KEEPALIVE int js_set_static(
    clv_space* space, const clv_id* ids, const bool* is_static, uint32_t count )
{
    return clv_space_set_static( space, ids, is_static, count );
}

/// Words of 32 bits: category, mask, group of each.
EMSCRIPTEN_KEEPALIVE int js_set_filter(
    clv_space* space, const clv_id* ids, const uint32_t* words, uint32_t count )
{
    clv_filter* filters = malloc( ( count > 0 ? count : 1 ) * sizeof( clv_filter ) );
    if ( filters == NULL )
    {
        return CLV_OUT_OF_MEMORY;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        filters[i] = ( clv_filter ){ words[3 * i], words[3 * i + 1], (int32_t)words[3 * i + 2] };
    }
    clv_result result = clv_space_set_filter( space, ids, filters, count );
    free( filters );
    return result;
}

EMSCRIPTEN_KEEPALIVE int js_update( clv_space* space )
{
    return clv_space_update( space );
}

EMSCRIPTEN_KEEPALIVE const clv_pair* js_pairs( const clv_space* space )
{
    return clv_space_pairs( space ).pairs;
}

/// -1 where there is no list: before the first update, and after one that failed.
EMSCRIPTEN_KEEPALIVE double js_pair_count( const clv_space* space )
{
    clv_pair_view view = clv_space_pairs( space );
    return view.valid ? (double)view.count : -1;
}

EMSCRIPTEN_KEEPALIVE const clv_id_pair* js_events( const clv_space* space, int ended )
{
    clv_event_view view = clv_space_events( space );
    return ended ? view.ended : view.begun;
}

EMSCRIPTEN_KEEPALIVE double js_event_count( const clv_space* space, int ended )
{
    clv_event_view view = clv_space_events( space );
    return (double)( ended ? view.ended_count : view.begun_count );
}

/// Ten numbers, in the order of `STATS` in index.js.
EMSCRIPTEN_KEEPALIVE void js_stats( const clv_space* space, double* out )
{
    clv_stats stats = clv_space_stats( space );
    const double values[] = { stats.object_count, stats.slot_count, (double)stats.pair_count,
        (double)stats.candidate_count, (double)stats.test_count, (double)stats.update_count,
        stats.memory_bytes, stats.update_ms, stats.search_ms, stats.output_ms };
    memcpy( out, values, sizeof( values ) );
}

EMSCRIPTEN_KEEPALIVE const char* js_error_text( const clv_space* space )
{
    return clv_space_error( space ).text;
}

EMSCRIPTEN_KEEPALIVE double js_error_position( const clv_space* space )
{
    uint32_t position = clv_space_error( space ).position;
    return position == UINT32_MAX ? -1.0 : (double)position;
}

EMSCRIPTEN_KEEPALIVE const char* js_result_name( int result )
{
    return clv_result_name( (clv_result)result );
}

EMSCRIPTEN_KEEPALIVE const char* js_isa( const clv_space* space )
{
    return clv_isa_name( clv_space_isa( space ) );
}

EMSCRIPTEN_KEEPALIVE const char* js_version( void )
{
    return clv_version_text();
}
