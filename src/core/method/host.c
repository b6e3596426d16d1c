// SPDX-License-Identifier: MIT
// What a method is given, behind the functions of cleave/method.h.
#include "method/method.h"

static void* allocate( size_t size, size_t alignment, void* user )
{
    return alignment <= BASE_ALIGNMENT ? clv_base_memory_take( user, size, 1 ) : NULL;
}

static void release( void* data, size_t size, size_t alignment, void* user )
{
    (void)alignment;
    clv_base_memory_give( user, data, size, 1 );
}

static void run( clv_task* piece, uint32_t count, void* data, void* user )
{
    clv_task_run( user, piece, count, data );
}

static void write_nowhere( clv_log_level level, const char* line, void* user )
{
    (void)level, (void)line, (void)user;
}

static uint64_t held( void* user )
{
    const base_memory* memory = user;
    return memory->bytes;
}

static void charge( int64_t bytes, void* user )
{
    clv_base_memory_charge( user, bytes );
}

static void watch( const void* block, void ( *gone )( void* data ), void* data, void* user )
{
    base_memory* memory = user;
    memory->watched = gone != NULL ? block : NULL;
    memory->gone = gone;
    memory->gone_data = data;
}

clv_method_context clv_method_host_context(
    base_memory* memory, task_runner* tasks, clv_isa isa, uint32_t* reasons )
{
    return ( clv_method_context ){
        .size = sizeof( clv_method_context ),
        .worker_count = task_worker_count( tasks ),
        .isa = isa,
        .memory = { allocate, release, memory },
        .tasks = { run, tasks },
        .logger = { write_nowhere, NULL },
        .account = { held, charge, memory },
        .watch = { watch, memory },
        .reasons = reasons,
    };
}
