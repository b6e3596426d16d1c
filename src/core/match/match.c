// SPDX-License-Identifier: MIT
// The door of cleave/match.h: everything is checked before anything is done.
#include "cleave/match.h"

#include "base/assertion.h"
#include "base/fp_mode.h"
#include "match/match_search.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MATCH_COOKIE 0xC1EA7Fu

clv_match_def clv_default_match_def( void )
{
    clv_match_def def;
    memset( &def, 0, sizeof( def ) );
    def.size = (uint32_t)sizeof( def );
    def.cookie = MATCH_COOKIE;
    def.axis_count = 3;
    return def;
}

// A call, and what it answers.
typedef struct match_call
{
    const clv_match_def* def;
    clv_regions sets[2];
    bool is_between; ///< one and the other; else the first alone
    clv_error error;
} match_call;

static clv_result fail_match( match_call* call, clv_result code, uint32_t position, const char* format, ... )
{
    char line[192];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( line, sizeof( line ), format, arguments );
    va_end( arguments );
    call->error.code = code;
    call->error.position = position;
    if ( call->def->logger.write != NULL )
    {
        call->def->logger.write( CLV_LOG_ERROR, line, call->def->logger.user );
    }
    return code;
}

static clv_result check_match_def( match_call* call )
{
    const clv_match_def* def = call->def;
    if ( def->axis_count < 1 || def->axis_count > CLV_MATCH_AXES )
    {
        return fail_match(
            call, CLV_BAD_DEF, UINT32_MAX, "def.axis_count must be from 1 to %d", CLV_MATCH_AXES );
    }
    if ( ( def->allocator.allocate == NULL ) != ( def->allocator.release == NULL ) )
    {
        return fail_match(
            call, CLV_BAD_DEF, UINT32_MAX, "def.allocator needs both allocate and release, or neither" );
    }
    return CLV_OK;
}

static clv_result check_sets( match_call* call )
{
    uint64_t count = (uint64_t)call->sets[0].count + call->sets[1].count;
    if ( count > CLV_MAX_OBJECTS )
    {
        return fail_match( call, CLV_BAD_ARGUMENT, UINT32_MAX, "%llu regions are more than CLV_MAX_OBJECTS",
            (unsigned long long)count );
    }
    size_t least = call->def->axis_count * sizeof( double );
    for ( int set = 0; set < 2; ++set )
    {
        size_t stride = call->sets[set].stride;
        if ( call->sets[set].count > 0 && ( stride < least || stride % sizeof( double ) != 0 ) )
        {
            return fail_match( call, CLV_BAD_ARGUMENT, UINT32_MAX,
                "a stride of %llu bytes is below the %llu of a corner, or no multiple of 8",
                (unsigned long long)stride, (unsigned long long)least );
        }
    }
    return CLV_OK;
}

static clv_result check_regions( match_call* call )
{
    for ( uint32_t i = 0; i < call->sets[0].count + call->sets[1].count; ++i )
    {
        for ( uint32_t axis = 0; axis < call->def->axis_count; ++axis )
        {
            double lower = match_coordinate( call->sets, i, axis, false );
            double upper = match_coordinate( call->sets, i, axis, true );
            if ( !( lower <= upper ) )
            {
                return fail_match( call, CLV_BAD_BOX, i,
                    "region %u: lower %.17g is not <= upper %.17g on axis %u", i, lower, upper, axis );
            }
        }
    }
    return CLV_OK;
}

static clv_result search_ranks(
    match_call* call, const match_world* world, base_memory* memory, clv_pair_visitor* visitor, void* user )
{
    match_search* search = clv_base_memory_take( memory, 1, sizeof( *search ) );
    clv_result result = CLV_OUT_OF_MEMORY;
    if ( search != NULL )
    {
        CLV_ASSERT( world->order.capacity >= world->count ); // the regions are ranked
        memset( search, 0, sizeof( *search ) - sizeof( search->pairs ) );
        search->world = world;
        search->memory = memory;
        search->is_between = call->is_between;
        search->first_count = call->sets[0].count;
        search->few = MATCH_FEW;
        search->visitor = visitor;
        search->user = user;
        result = clv_match_run( search );
        call->error.pair_count = search->visited;
        clv_base_memory_give( memory, search->stack, search->stack_capacity, sizeof( uint32_t ) );
        clv_base_memory_give( memory, search, 1, sizeof( *search ) );
    }
    return result;
}

// Coordinates are read here and nowhere else: behind it there are ranks, and the visitor has the caller's own
// modes.
static clv_result rank_regions( match_call* call, match_world* world, base_memory* memory )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = check_regions( call );
    if ( result == CLV_OK && world->count > 0 &&
        !clv_match_rank( world, call->sets, call->def->axis_count, memory ) )
    {
        result = CLV_OUT_OF_MEMORY;
    }
    base_fp_leave( mode );
    return result;
}

static clv_result match_sets( match_call* call, clv_pair_visitor* visitor, void* user )
{
    clv_result result = check_match_def( call );
    result = result == CLV_OK ? check_sets( call ) : result;
    if ( result != CLV_OK )
    {
        return result;
    }
    base_memory memory = clv_base_memory_make( call->def->allocator );
    match_world world = { .count = call->sets[0].count + call->sets[1].count };
    result = rank_regions( call, &world, &memory );
    if ( result == CLV_OK && world.count > 0 )
    {
        result = search_ranks( call, &world, &memory, visitor, user );
    }
    clv_match_free( &world, &memory );
    CLV_ASSERT( memory.bytes == 0 );
    if ( result == CLV_OUT_OF_MEMORY || result == CLV_STOPPED )
    {
        fail_match( call, result, UINT32_MAX, "matching %u regions ended after %llu pairs: %s", world.count,
            (unsigned long long)call->error.pair_count, clv_result_text( result ) );
    }
    return result;
}

static clv_result answer_match( const clv_match_def* def, const clv_regions sets[2], bool is_between,
    clv_pair_visitor* visitor, void* user, clv_error* error )
{
    CLV_ASSERT( def != NULL && visitor != NULL );
    match_call call = { def, { sets[0], sets[1] }, is_between, { CLV_OK, UINT32_MAX, { 0, 0 }, 0, NULL } };
    clv_result result = CLV_BAD_DEF;
    if ( def->cookie == MATCH_COOKIE && def->size == sizeof( clv_match_def ) )
    {
        result = match_sets( &call, visitor, user );
    }
    call.error.code = result; // of another def not even the logger can be trusted
    call.error.text = clv_result_text( result );
    if ( error != NULL )
    {
        *error = call.error;
    }
    return result;
}

clv_result clv_match_regions(
    const clv_match_def* def, clv_regions regions, clv_pair_visitor* visitor, void* user, clv_error* error )
{
    const clv_regions sets[2] = { regions, { NULL, NULL, 0, 0 } };
    return answer_match( def, sets, false, visitor, user, error );
}

clv_result clv_match_between( const clv_match_def* def, clv_regions a, clv_regions b,
    clv_pair_visitor* visitor, void* user, clv_error* error )
{
    const clv_regions sets[2] = { a, b };
    return answer_match( def, sets, true, visitor, user, error );
}
