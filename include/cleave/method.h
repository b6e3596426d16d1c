// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/geom.h"
#include "cleave/types.h"

// What an algorithm looks like, and how to add one of your own.
//
// A method sees boxes by slot and answers with pairs of slots. The space takes care of ids, margins,
// filters, events, order and limits. The default engine, brute force, the library cleave-methods, other
// people's libraries in peers/ and your own file all come in by clv_method_register; from then on
// clv_space_def.method takes the name.
//
//   static const clv_method s_mine = { .size = sizeof( clv_method ), .version =
//   CLV_METHOD_VERSION, .name = "mine", … };
//   clv_method_register( &s_mine );
//
// Or, without linking anything, as a shared object that the program loads (`cleave --plugin mine.so bench
// …`): see clv_plugin_register at the end. docs/adding-a-method.md has a whole one.
//
// Threads, for every function of a method: create, update, shrink, check, report, dump and destroy of one
// state are called on the thread that called the space, one at a time. States of different spaces may be at
// work at once on different threads, so what is not const and not in the state needs a lock of the method's
// own.

/// Changes when this interface changes incompatibly. A method carries the version it was compiled with, and
/// so does the library.
#define CLV_METHOD_VERSION 1u

/// Most parameters a method may have.
#define CLV_METHOD_PARAMS 16

/// Most methods a process may know.
#define CLV_METHODS_MOST 256

/// Longest name of a method, without the zero at its end.
#define CLV_METHOD_NAME_MOST 40

// ---- where pairs go

/// After make_room so many pairs fit, so that a search may write a batch before it asks again.
#define CLV_PAIR_SINK_ROOM 64

/// Where a method puts the pairs it finds; what happens to them there depends on the sink. Use the
/// functions below, or write into `pairs` yourself: pairs[count] is the next place while count < capacity.
/// Every pair has a < b. It lives during one call of update, and belongs to the calling thread: pieces that
/// run on others keep their pairs until they are done.
typedef struct clv_pair_sink
{
    clv_pair* pairs;
    uint64_t count;    ///< pairs waiting at the front of `pairs`
    uint64_t capacity; ///< count <= capacity

    /// After CLV_OK at least CLV_PAIR_SINK_ROOM more pairs fit; pairs, count and capacity may all have
    /// changed. Any other result (out of memory, too many pairs, a visitor that stops) ends the update, which
    /// returns it as it is. Costs an allocation now and then, and under a visitor the visitor.
    clv_result ( *make_room )( struct clv_pair_sink* sink );

    /// For methods whose own list outlives the update; NULL where that is of no use. True if the pairs of the
    /// last good update, in the same order, are still where they were put: then nothing needs to be put.
    bool ( *keep )( struct clv_pair_sink* sink );

    /// Likewise: true if these pairs, which stay as they are until the method is called again, may stay where
    /// they are.
    bool ( *borrow )( struct clv_pair_sink* sink, const clv_pair* pairs, uint64_t count );

    /// How many more pairs the method expects to put, as far as it knows; 0: it does not. A list that has to
    /// grow grows towards it, so that it need not be copied again and again. A wrong guess costs time or
    /// memory, never a pair.
    uint64_t expected;
} clv_pair_sink;

/// Do fewer than CLV_PAIR_SINK_ROOM pairs fit?
static inline bool clv_pair_sink_is_full( const clv_pair_sink* sink )
{
    return sink->capacity - sink->count < CLV_PAIR_SINK_ROOM;
}

/// One pair, its slots in any order. Stop at the first result that is not CLV_OK, and return it.
static inline clv_result clv_pair_sink_put( clv_pair_sink* sink, uint32_t slot_a, uint32_t slot_b )
{
    if ( clv_pair_sink_is_full( sink ) )
    {
        clv_result result = sink->make_room( sink );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    clv_pair pair = { slot_a < slot_b ? slot_a : slot_b, slot_a < slot_b ? slot_b : slot_a };
    sink->pairs[sink->count++] = pair;
    return CLV_OK;
}

/// Pairs that the method has in a list already, each with a < b. Results as above.
static inline clv_result clv_pair_sink_put_all( clv_pair_sink* sink, const clv_pair* pairs, uint64_t count )
{
    while ( count > 0 )
    {
        if ( sink->count == sink->capacity )
        {
            clv_result result = sink->make_room( sink );
            if ( result != CLV_OK )
            {
                return result;
            }
        }
        uint64_t room = sink->capacity - sink->count;
        uint64_t part = count < room ? count : room;
        for ( uint64_t i = 0; i < part; ++i )
        {
            sink->pairs[sink->count + i] = pairs[i];
        }
        sink->count += part;
        pairs += part;
        count -= part;
    }
    return CLV_OK;
}

/// The pairs of the last good update once more, in the same order. False: they are gone and must be put.
static inline bool clv_pair_sink_keep( clv_pair_sink* sink )
{
    return sink->keep != CLV_NULL && sink->keep( sink );
}

/// Pairs that stay where they are until the method is called again: lent where that helps, put otherwise.
static inline clv_result clv_pair_sink_lend( clv_pair_sink* sink, const clv_pair* pairs, uint64_t count )
{
    return sink->borrow != CLV_NULL && sink->borrow( sink, pairs, count )
        ? CLV_OK
        : clv_pair_sink_put_all( sink, pairs, count );
}

// ---- what a method is given

/// What a space's memory is charged with beside what came from clv_method_context.memory; for methods that
/// stand on a library with an allocator of its own.
typedef struct clv_method_account
{
    /// Bytes the space holds now, by clv_stats.memory_bytes.
    uint64_t ( *held )( void* user );

    /// So many bytes more, or fewer if negative. Never takes the total below what the hooks gave.
    void ( *charge )( int64_t bytes, void* user );

    void* user; ///< handed to both
} clv_method_account;

/// For methods whose device reads the boxes where they lie. Since 0.2.0.
typedef struct clv_method_watch
{
    /// Before the memory that begins at `block`, as clv_method_input.boxes told it, is given back or moved,
    /// `gone( data )` is called, once, on the thread that called the space; it calls nothing of the space.
    /// There is one watch: a second takes the place of the first, and NULL for `gone` ends it.
    void ( *set )( const void* block, void ( *gone )( void* data ), void* data, void* user );
    void* user; ///< handed to it
} clv_method_watch;

/// What a state has to work with, all of it the space's. It stays where it is, unchanged, until destroy
/// returns.
typedef struct clv_method_context
{
    uint32_t size;         ///< sizeof( clv_method_context ) in the library; later versions add at the end
    uint32_t worker_count; ///< 1 unless the row says has_threads and the def asked for more
    clv_isa isa;           ///< the widest set to use; supported here, never CLV_ISA_AUTO
    bool stage_times;      ///< fill the times of clv_method_counters; a clock read costs as much as ten boxes

    /// Values of the row's parameters, in their order.
    double params[CLV_METHOD_PARAMS];

    /// Take and give every byte here: the caller's allocator, counted. Both functions are set. Alignments to
    /// 64 are honoured; NULL when there is no memory. Only on the thread that called the method, never from a
    /// piece.
    clv_allocator memory;

    /// run( piece, count, data, tasks.user ) calls piece( index, worker, data ) once for every index below
    /// `count` and returns when all are done; worker is below worker_count and no two calls with one worker
    /// run at once. With one worker, or one piece, all happens on the calling thread, in order. Pieces take
    /// no memory and call no other function given here. Costs some microseconds where other threads take
    /// part.
    clv_task_hooks tasks;

    /// One line to the def's logger, or nowhere; `write` is always set. On the calling thread only.
    clv_logger logger;

    clv_method_account account;
    clv_method_watch watch; ///< Since 0.2.0.

    /// Set bits of clv_update_reason here in an update that does what they say; they are 0 when it begins. It
    /// is there if `size` reaches as far.
    uint32_t* reasons; ///< Since 0.2.0.
} clv_method_context;

/// The world as of this update. Lives during the call.
typedef struct clv_method_input
{
    uint32_t size; ///< sizeof( clv_method_input ) in the library; later versions add at the end
    /// by slot, margins applied, no NaN, infinities are legal; only live slots may be read
    const clv_aabb* boxes;
    const uint32_t* live; ///< live slots, ascending; NULL if these are 0 .. live_count - 1
    uint32_t live_count;
    uint32_t slot_count;  ///< every live slot is below
    bool members_changed; ///< objects came or went since this method's last good update

    /// By slot, a bit (slot & 63 of word slot / 64): the box may be another than at the last good update.
    /// NULL if that is not known; never known to a method that does not say wants_moved.
    const uint64_t* moved;

    /// The last update failed in the end: of its pairs, or by its visitor, or because what is made of pairs
    /// ran out of memory. Perhaps the method was told then, perhaps the last pairs were judged when it had
    /// returned; which of the two differs by instruction set and workers, and so must make no difference to
    /// what is done from now on.
    bool last_failed;

    /// Pairs that may be kept from this update to the next, to save a search: none for a visitor, no more
    /// than the caller's limit where there is one. These are pairs before filters. A structure that is made
    /// of pairs may hold them all the same.
    uint64_t keep_most;
} clv_method_input;

/// The slot of live object `index`, below live_count.
static inline uint32_t clv_method_live_slot( const clv_method_input* input, uint32_t index )
{
    return input->live != CLV_NULL ? input->live[index] : index;
}

/// What an update counts, zeroed before. Times only where the context asks for them.
typedef struct clv_method_counters
{
    uint64_t test_count; ///< box against box
    double update_ms;    ///< bringing the structure up to date
    double search_ms;    ///< finding pairs in it
    double clean_ms;     ///< dropping pairs kept from earlier updates that ended; in neither of the two
} clv_method_counters;

/// One number a method reports about its last update, for people.
typedef struct clv_method_figure
{
    const char* name; ///< lives as long as the program
    double value;
} clv_method_figure;

// ---- what a method is

/// One numeric parameter, set as "family.name=value" in clv_space_def.settings.
typedef struct clv_method_param
{
    const char* name;   ///< with its family, such as "kd.leaf"
    double value;       ///< default, from least to most
    double least, most; ///< anything else is refused before create is called
    bool whole;         ///< integers only
    const char* help;   ///< half a sentence for `cleave methods`
} clv_method_param;

/// A method: its name and facts, and its functions. Static and constant, as a rule; whatever it points to
/// lives as long as the program.
typedef struct clv_method
{
    uint32_t size;    ///< sizeof( clv_method )
    uint32_t version; ///< CLV_METHOD_VERSION

    const char* name;      ///< 1 to CLV_METHOD_NAME_MOST of a-z, 0-9, '-', '_' and '.'; unique in the process
    const char* family;    ///< "brute force", "sweep and prune", "kd-tree", …
    const char* source;    ///< paper or library it is from
    const char* licence;   ///< "MIT"
    const char* time_cost; ///< "O(n^2)"
    const char* space_cost; ///< "O(n)"
    const char* remarks;    ///< what sets it apart, in a few words: "insertion sort"; NULL: nothing to say

    bool has_isa;     ///< has variants by instruction set, and takes clv_method_context.isa
    bool has_threads; ///< makes use of clv_method_context.tasks
    bool is_temporal; ///< carries a structure from frame to frame
    bool is_opaque;   ///< from outside: its counters, if any, mean something else, so none are shown
    bool wants_moved; ///< fill clv_method_input.moved, which costs a comparison of every box
    /// tests check that its pairs are right: the space does not check them in release builds
    bool is_trusted;
    uint32_t moved_least; ///< from this many objects on; fewer are searched faster than they are compared

    const clv_method_param* params; ///< NULL where there are none
    uint32_t param_count;           ///< at most CLV_METHOD_PARAMS

    /// A state of the method's own, or NULL if there is no memory for one; then nothing is left taken. The
    /// context outlives it.
    void* ( *create )( const clv_method_context* context );

    /// Gives back everything, account included. Never called with NULL.
    void ( *destroy )( void* state );

    /// Every overlapping pair of live slots (closed boxes), once, into the sink; or the first result other
    /// than CLV_OK that the sink gave; or CLV_OUT_OF_MEMORY. After a failure the next update must still be
    /// right: what lasts from frame to frame is either unharmed or begun anew. The order of the pairs depends
    /// on the inputs so far alone: not on addresses, clocks, the instruction set or the number of workers.
    ///
    /// The space looks at what it is handed. A slot that is not below slot_count ends the update with
    /// CLV_BAD_ARGUMENT in every build, whatever this function returns, and clv_space_error names the method
    /// and the pair; not so for a method that is_trusted. Debug builds also assert of each pair, of any
    /// method, that a < b and both slots are live, and that no pair is in the list of an update twice.
    clv_result ( *update )(
        void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters );

    /// Give back memory beyond what the last update needed; failing to is no error. NULL if there is nothing
    /// to give.
    void ( *shrink )( void* state );

    /// Check every invariant; the first broken one as a sentence in `text`. True if all hold. For tests: it
    /// may cost as much as several updates. NULL if there are none.
    bool ( *check )( void* state, char* text, size_t text_size );

    /// Figures of the last update, always the same ones in the same order; the first `capacity` are written,
    /// the number there are is returned. May walk the structure, so it costs time. NULL if there are none.
    uint32_t ( *report )( void* state, clv_method_figure* figures, uint32_t capacity );

    /// The structure as JSON, for drawing. Returns the length without the terminating zero, which may exceed
    /// `text_size`, as snprintf does. NULL if there is nothing to draw.
    size_t ( *dump )( void* state, char* text, size_t text_size );

    /// Why it cannot run here, for rows that stand for something not installed: a space with it is then
    /// refused with this sentence, and no function is needed. NULL: it can.
    const char* missing;
} clv_method;

// ---- the list of methods

/// Makes a method known by its name, behind those that are known already. Nothing is copied: the row and what
/// it points to stay as they are until the program ends (a shared object they lie in stays loaded).
///
/// Failure: CLV_BAD_ARGUMENT, and nothing was added, for NULL, another size or version than this library's, a
/// name that is none or taken, texts that are NULL, create, destroy or update that are NULL in a row that is
/// not `missing`, parameters that are too many, unnamed or out of their own range, and for a row too many.
/// clv_method_error has the reason. Threads: not while another thread registers, lists or creates a space; as
/// a rule first thing in main. Rows are never removed. Cost: a comparison with every known name. No memory is
/// taken.
CLV_API clv_result clv_method_register( const clv_method* method );

/// Why the last clv_method_register failed, as a sentence without its full stop; "" if it did not.
/// Overwritten by the next one.
CLV_API const char* clv_method_error( void );

/// How many methods are known: the core's own two, "cleave" (the default) and "brute", and those registered
/// since. Any number of threads may call this and the next two while none registers.
CLV_API uint32_t clv_method_count( void );

/// The methods in the order they came. NULL from clv_method_count on. The row lives until the program ends.
/// Costs nothing.
CLV_API const clv_method* clv_method_at( uint32_t index );

/// NULL if there is no method of that name; NULL is no name. Costs a comparison with every known name.
CLV_API const clv_method* clv_method_find( const char* name );

// ---- methods in a shared object

/// What a plug-in is given. It needs no library of ours to link with: the functions it calls are here.
typedef struct clv_plugin_host
{
    uint32_t size;    ///< sizeof( clv_plugin_host ) in the program; later versions add at the end
    uint32_t version; ///< CLV_METHOD_VERSION of the program

    /// clv_method_register and clv_method_error of the program.
    clv_result ( *register_method )( const clv_method* method );
    const char* ( *error )( void );
} clv_plugin_host;

/// The entry of a plug-in, which exports it under the name clv_plugin_register with C linkage: register each
/// method and return CLV_OK, or the first other result. Called once, before any space exists, on the main
/// thread; the shared object is never unloaded. Methods that were registered before a failure stay: the
/// program that loads it ends then. CLV_UNSUPPORTED if host->version is not the one the plug-in was compiled
/// with.
typedef clv_result clv_plugin_entry( const clv_plugin_host* host );

/// That name, for programs that load plug-ins.
#define CLV_PLUGIN_ENTRY "clv_plugin_register"

// Before the definition of the entry: visible whatever flags the plug-in is compiled with.
#if defined( _WIN32 )
#define CLV_PLUGIN_EXPORT __declspec( dllexport )
#elif defined( __GNUC__ ) || defined( __clang__ )
#define CLV_PLUGIN_EXPORT __attribute__( ( visibility( "default" ) ) )
#else
#define CLV_PLUGIN_EXPORT
#endif

#ifdef __cplusplus
#define CLV_PLUGIN extern "C" CLV_PLUGIN_EXPORT
#else
#define CLV_PLUGIN CLV_PLUGIN_EXPORT
#endif

/// A plug-in defines this one: CLV_PLUGIN clv_result clv_plugin_register( const clv_plugin_host* host ) { … }
CLV_PLUGIN clv_result clv_plugin_register( const clv_plugin_host* host );

/// All the rows of a plug-in at once, which is what most entries do. Results as clv_plugin_entry says.
static inline clv_result clv_plugin_register_all(
    const clv_plugin_host* host, const clv_method* methods, uint32_t count )
{
    if ( host->version != CLV_METHOD_VERSION )
    {
        return CLV_UNSUPPORTED;
    }
    clv_result result = CLV_OK;
    for ( uint32_t i = 0; i < count && result == CLV_OK; ++i )
    {
        result = host->register_method( &methods[i] );
    }
    return result;
}
