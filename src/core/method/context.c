// SPDX-License-Identifier: MIT
// Part of every library with rows in it: a shared one has its own copy.
#include "method/method.h"

#include "base/assertion.h"

#include <string.h>

// The state begins on a cache line, behind its context.
static const size_t STATE_OFFSET =
    ( sizeof( method_context ) + BASE_ALIGNMENT - 1 ) / BASE_ALIGNMENT * BASE_ALIGNMENT;

void* clv_method_state_take( const clv_method_context* host, size_t size, const method_context** context )
{
    base_memory memory = clv_base_memory_make( host->memory );
    method_context* self = clv_base_memory_take( &memory, STATE_OFFSET + size, 1 );
    *context = self;
    if ( self == NULL )
    {
        return NULL;
    }
    *self = ( method_context ){
        .memory = &self->own_memory,
        .isa = host->isa,
        .tasks = &self->own_tasks,
        .stage_times = host->stage_times,
        .host = host,
        .own_memory = memory,
        .own_tasks = { host->worker_count, host->tasks, NULL },
    };
    memcpy( self->params, host->params, sizeof( self->params ) );
    return (char*)self + STATE_OFFSET;
}

void clv_method_state_give( const method_context* context, size_t size )
{
    base_memory memory = *context->memory; // it lies in what is given back
    clv_base_memory_give( &memory, (void*)(uintptr_t)context, STATE_OFFSET + size, 1 );
    CLV_ASSERT( memory.bytes == 0 ); // everything else was given back before
}
