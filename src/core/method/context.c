// SPDX-License-Identifier: MIT
// Part of every library with rows in it: a shared one has its own copy.
#include "method/method.h"

#include "base/assertion.h"

#include <string.h>

// The state begins on a cache line, behind its context.
static const size_t STATE_OFFSET =
    ( sizeof( method_context ) + BASE_ALIGNMENT - 1 ) / BASE_ALIGNMENT * BASE_ALIGNMENT;

void* clv_method_create(
    const clv_method_context* host, size_t size, method_begin* begin, method_end* end, int variant )
{
    base_memory memory = clv_base_memory_make( host->memory );
    method_context* context = clv_base_memory_take( &memory, STATE_OFFSET + size, 1 );
    if ( context == NULL )
    {
        return NULL;
    }
    *context = ( method_context ){
        .memory = &context->own_memory,
        .isa = host->isa,
        .tasks = &context->own_tasks,
        .stage_times = host->stage_times,
        .host = host,
        .own_memory = memory,
        .own_tasks = { host->worker_count, host->tasks, NULL },
    };
    memcpy( context->params, host->params, sizeof( context->params ) );
    void* state = (char*)context + STATE_OFFSET;
    CLV_ASSERT( ( (uintptr_t)state & ( BASE_ALIGNMENT - 1 ) ) == 0 );
    memset( state, 0, size );
    *(const method_context**)state = context;
    if ( !begin( state, variant ) )
    {
        clv_method_destroy( state, size, end );
        return NULL;
    }
    return state;
}

void clv_method_destroy( void* state, size_t size, method_end* end )
{
    end( state );
    method_context* context = (method_context*)( (char*)state - STATE_OFFSET );
    base_memory memory = *context->memory; // it lies in what is given back
    clv_base_memory_give( &memory, context, STATE_OFFSET + size, 1 );
    CLV_ASSERT( memory.bytes == 0 ); // everything else was given back before
}
