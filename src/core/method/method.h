// SPDX-License-Identifier: MIT
// What every algorithm looks like from above: a row in a table. A method sees boxes by slot and answers with pairs of
// slots; ids, margins, filters, events and order are the business of src/core/space. docs/adding-a-method.md tells how to
// write one.
#pragma once

#include "base/memory.h"
#include "pair/sink.h"
#include "simd/kernels.h"
#include "task/task.h"

/// One numeric parameter, set as "family.name=value" in clv_space_def.settings.
typedef struct method_param
{
    const char* name; ///< with its family, such as "kd.leaf"
    double value;     ///< default
    double least, most;
    bool whole; ///< integers only
    const char* help;
} method_param;

/// Most parameters a method may have.
#define METHOD_PARAMS 16

/// What a method keeps between updates begins with this; `create` fills in the rest.
typedef struct method_context
{
    base_memory* memory; ///< take and give everything here
    const simd_kernels* kernels;
    task_runner* tasks;           ///< one worker unless the row says has_threads and the def asked for more
    double params[METHOD_PARAMS]; ///< in the order of method.params
    bool stage_times;             ///< fill the times of method_counters
} method_context;

/// The world as of this update. Alive during the call.
typedef struct method_input
{
    const clv_aabb* boxes; ///< by slot, margins applied, no NaN; only live slots may be read
    const uint32_t* live;  ///< live slots, ascending; NULL if these are 0 .. live_count - 1
    uint32_t live_count;
    uint32_t slot_count;  ///< every live slot is below
    bool members_changed; ///< objects came or went since this method's last good update

    /// By slot, a bit: the box may be another than at the last good update. NULL if that is not known; never known to a method
    /// that does not say wants_moved.
    const uint64_t* moved;

    /// The last update failed in the end: of its pairs, or by its visitor, or because what is made of pairs ran out of memory.
    /// Perhaps the method was told then, perhaps the last pairs were judged when it had returned; which of the two differs by
    /// instruction set and workers, and so must make no difference to what is done from now on.
    bool last_failed;

    /// Pairs that may be kept from this update to the next, to save a search: none for a visitor, no more than the caller's limit
    /// where there is one. These are pairs before filters. A structure that is made of pairs may hold them all the same.
    uint64_t keep_most;
} method_input;

static inline uint32_t method_live_slot( const method_input* input, uint32_t index )
{
    return input->live != NULL ? input->live[index] : index;
}

typedef struct method_counters
{
    uint64_t test_count; ///< box against box
    double update_ms;
    double search_ms;
} method_counters;

/// One number a method can tell about its last update, for people.
typedef struct method_figure
{
    const char* name; ///< lives as long as the program
    double value;
} method_figure;

/// Figures being written: the first `capacity` are kept, all are counted.
typedef struct method_figure_list
{
    method_figure* items;
    uint32_t capacity;
    uint32_t count;
} method_figure_list;

static inline void method_figure_add( method_figure_list* list, const char* name, double value )
{
    if ( list->count < list->capacity )
    {
        list->items[list->count] = ( method_figure ){ name, value };
    }
    list->count += 1;
}

typedef struct method
{
    const char* name;
    const char* family;     ///< "brute force", "sweep and prune", "kd-tree", …
    const char* source;     ///< paper or library it is from
    const char* licence;    ///< "MIT" for our own
    const char* time_cost;  ///< "O(n^2)"
    const char* space_cost; ///< "O(n)"
    bool has_isa;           ///< has variants by instruction set
    bool has_threads;
    bool is_temporal; ///< carries a structure from frame to frame
    bool is_opaque;   ///< somebody else's: fills no method_counters that mean what ours do, so none are shown
    bool wants_moved; ///< fill method_input.moved, which costs a comparison of every box
    uint32_t moved_least; ///< from so many objects on; fewer are searched sooner than they are compared
    const method_param* params;
    uint32_t param_count;

    /// A state of the method's own, or NULL if out of memory. `context` stays where it is while the state lives.
    void* ( *create )( const method_context* context );
    void ( *destroy )( void* state );

    /// Every overlapping pair of live slots, once, into the sink, or the first result other than CLV_OK that the sink or
    /// the memory gave. After such a failure the next update must still be right.
    /// The order of the pairs depends on the inputs so far alone.
    clv_result ( *update )(
        void* state, const method_input* input, pair_sink* sink, method_counters* counters );

    /// Give back memory beyond what the last update needed; failing to is no error. NULL if there is nothing to give.
    void ( *shrink )( void* state );

    /// Check every invariant; the first broken one as a sentence in `text`. True if all hold. NULL if there are none.
    bool ( *check )( void* state, char* text, size_t text_size );

    /// Figures of the last update, always the same ones in the same order; the first `capacity` are written, the number
    /// there are is returned. May walk the structure, so it costs time. NULL if there are none.
    uint32_t ( *report )( void* state, method_figure* figures, uint32_t capacity );

    /// The structure as JSON, for drawing. Returns the length without the terminating zero, which may exceed `text_size`, as
    /// snprintf does. NULL if there is nothing to draw.
    size_t ( *dump )( void* state, char* text, size_t text_size );

    /// Why it cannot run here, for rows that stand for something not installed. NULL: it can.
    const char* missing;
} method;

/// The table, in the order `cleave methods` shows it.
uint32_t method_count( void );
const method* method_at( uint32_t index );

/// NULL if there is no such method.
const method* method_find( const char* name );

/// Name of the method behind a default space.
#define METHOD_DEFAULT "cleave"

/// Fill `values` with the method's defaults and then with what `settings` says ("kd.leaf=256,kd.static=0.5").
/// Settings of other methods' families are an error too. False, with a sentence in `text`, if anything is wrong.
bool method_parse_settings(
    const method* method, const char* settings, double values[METHOD_PARAMS], char* text, size_t text_size );
