// SPDX-License-Identifier: MIT
// The public cleave/method.h as the rows of this tree see it: its context in the tree's own types. A row is
// given the public context, and opens it in create.
#pragma once

#include "base/bit_set.h"
#include "base/memory.h"
#include "base/timer.h"
#include "cleave/method.h"
#include "pair/sink.h"
#include "task/task.h"

/// Name of the method behind a default space.
#define METHOD_DEFAULT "cleave"

// ---- the context

/// What a state keeps of the public context. Memory and tasks go on to the space by the hooks it gave,
/// whichever library the row is in.
typedef struct method_context
{
    base_memory* memory; ///< take and give everything here
    clv_isa isa;         ///< each library has kernels of its own for it
    task_runner* tasks;
    double params[CLV_METHOD_PARAMS]; ///< in the order of method.params
    bool stage_times;                 ///< fill the times of clv_method_counters
    const clv_method_context* host;
    base_memory own_memory; ///< what `memory` and `tasks` point to
    task_runner own_tasks;
} method_context;

/// A state is a struct whose first member is its `const method_context* context`. `begin` fills in the rest,
/// which is 0; false if out of memory. `end` gives back what it took, and is called after a `begin` that
/// failed too. Rows that differ in one number have it as `variant`.
typedef bool method_begin( void* state, int variant );
typedef void method_end( void* state );

/// State and context in one block; NULL if out of memory.
void* clv_method_create(
    const clv_method_context* host, size_t size, method_begin* begin, method_end* end, int variant );
void clv_method_destroy( void* state, size_t size, method_end* end );

/// These two as a row has them.
#define METHOD_CREATE( name, type, begin, end, variant )                                                     \
    static void* name( const clv_method_context* host )                                                      \
    {                                                                                                        \
        return clv_method_create( host, sizeof( type ), begin, end, variant );                               \
    }
#define METHOD_DESTROY( name, type, end )                                                                    \
    static void name( void* state )                                                                          \
    {                                                                                                        \
        clv_method_destroy( state, sizeof( type ), end );                                                    \
    }

/// What all rows of this tree have in common.
#define METHOD_OWN                                                                                           \
    .size = sizeof( clv_method ), .version = CLV_METHOD_VERSION, .licence = "MIT", .is_trusted = true

/// Registers all rows of a library that are not registered yet, or none: where one would be refused nothing
/// is added.
static inline clv_result method_register_rows( const clv_method* const* rows, uint32_t count )
{
    uint32_t unknown = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const clv_method* known = clv_method_find( rows[i]->name );
        if ( known != NULL && known != rows[i] )
        {
            return clv_method_register( rows[i] ); // another has the name: this fails and says why
        }
        unknown += known == NULL;
    }
    clv_result result = unknown > CLV_METHODS_MOST - clv_method_count() ? CLV_BAD_ARGUMENT : CLV_OK;
    for ( uint32_t i = 0; i < count && result == CLV_OK; ++i )
    {
        result = clv_method_find( rows[i]->name ) != NULL ? CLV_OK : clv_method_register( rows[i] );
    }
    return result;
}

/// The other side: a context of this memory and these workers, both of which outlive it. Parameters are 0,
/// there is no logger, and times are not measured; the caller fills these in.
clv_method_context clv_method_host_context(
    base_memory* memory, task_runner* tasks, clv_isa isa, uint32_t* reasons );

// ---- input

/// Has no box moved, and was no object added or removed?
static inline bool method_input_is_still( const clv_method_input* input )
{
    uint64_t words = base_bits_words( input->slot_count );
    bool still = input->moved != NULL && !input->members_changed;
    for ( uint64_t word = 0; word < words && still; ++word )
    {
        still = input->moved[word] == 0;
    }
    return still;
}

// ---- settings

/// Fill `values` with the method's defaults and then with what `settings` says ("kd.leaf=256,kd.static=0.5").
/// Settings of other methods' families are an error too. False, with a sentence in `text`, if anything is
/// wrong.
bool clv_method_parse_settings( const clv_method* method, const char* settings,
    double values[CLV_METHOD_PARAMS], char* text, size_t text_size );

// ---- figures and times

/// Figures being written: the first `capacity` are kept, all are counted.
typedef struct method_figure_list
{
    clv_method_figure* items;
    uint32_t capacity;
    uint32_t count;
} method_figure_list;

static inline void method_figure_add( method_figure_list* list, const char* name, double value )
{
    if ( list->count < list->capacity )
    {
        list->items[list->count] = ( clv_method_figure ){ name, value };
    }
    list->count += 1;
}

/// Reads the clock only where the def asked for stage times; otherwise every lap is 0.
typedef struct method_stopwatch
{
    bool runs;
    uint64_t start_ns;
} method_stopwatch;

static inline method_stopwatch method_stopwatch_start( const method_context* context )
{
    method_stopwatch watch = { context->stage_times, context->stage_times ? clv_base_clock_ns() : 0 };
    return watch;
}

/// Milliseconds since the start or the last lap.
static inline double method_stopwatch_lap( method_stopwatch* watch )
{
    if ( !watch->runs )
    {
        return 0;
    }
    uint64_t now = clv_base_clock_ns();
    double ms = base_clock_ms( watch->start_ns, now );
    watch->start_ns = now;
    return ms;
}

// ---- the core's own rows, registry.c

extern const clv_method clv_method_cleave;
extern const clv_method clv_method_brute;

/// The first one without check and report, which only the lab and tests call, so that other programs are
/// linked without them.
extern const clv_method clv_method_cleave_bare;

/// The row that a space runs: as clv_method_find, but for the bare one. What else the row of that name can do
/// is found by its name.
const clv_method* clv_method_find_bare( const char* name );
