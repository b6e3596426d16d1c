// SPDX-License-Identifier: MIT
// One device at work, and the calls everything else here is made of.
#pragma once

#include "base/memory.h"
#include "cleave/gpu.h"
#include "gpu_device.h"
#include "gpu_grid_plan.h"

#define GPU_TEXT_ROOM 4096

/// Slots of counters, taken in turn; each is cleared by the frame before its own.
#define GPU_SLOTS 64

/// Pairs that a group collects in local memory: 16 KB.
#define GPU_QUEUE 2048

/// Boxes of a sample that plans are made of.
#define GPU_SAMPLE 4096

// PROGRAM( id, file of kernels/ )
#define GPU_PROGRAMS( PROGRAM )                                                                              \
    PROGRAM( tiles )                                                                                         \
    PROGRAM( grid )                                                                                          \
    PROGRAM( rest )                                                                                          \
    PROGRAM( sort )                                                                                          \
    PROGRAM( sap )                                                                                           \
    PROGRAM( tree )                                                                                          \
    PROGRAM( events )                                                                                        \
    PROGRAM( near )

// KERNEL( name, program )
#define GPU_KERNELS( KERNEL )                                                                                \
    KERNEL( find_tiles, tiles )                                                                              \
    KERNEL( sample_boxes, tiles )                                                                            \
    KERNEL( check_boxes, tiles )                                                                             \
    KERNEL( fill_words, tiles )                                                                              \
    KERNEL( patch_boxes, tiles )                                                                             \
    KERNEL( copy_boxes, tiles )                                                                              \
    KERNEL( grid_place, grid )                                                                               \
    KERNEL( grid_put, grid )                                                                                 \
    KERNEL( grid_refresh, grid )                                                                             \
    KERNEL( grid_count, grid )                                                                               \
    KERNEL( grid_scan, grid )                                                                                \
    KERNEL( grid_scan_long, grid )                                                                           \
    KERNEL( grid_scatter, grid )                                                                             \
    KERNEL( grid_find, grid )                                                                                \
    KERNEL( rest_compare, rest )                                                                             \
    KERNEL( rest_find, rest )                                                                                \
    KERNEL( rest_enter, rest )                                                                               \
    KERNEL( sort_count, sort )                                                                               \
    KERNEL( scan_sums, sort )                                                                                \
    KERNEL( scan_add, sort )                                                                                 \
    KERNEL( sort_scatter, sort )                                                                             \
    KERNEL( sap_keys, sap )                                                                                  \
    KERNEL( sap_gather, sap )                                                                                \
    KERNEL( sap_find, sap )                                                                                  \
    KERNEL( sap_find_patient, sap )                                                                          \
    KERNEL( axis_moments, sap )                                                                              \
    KERNEL( tree_keys, tree )                                                                                \
    KERNEL( tree_gather, tree )                                                                              \
    KERNEL( tree_build, tree )                                                                               \
    KERNEL( tree_find, tree )                                                                                \
    KERNEL( events_insert, events )                                                                          \
    KERNEL( events_missing, events )                                                                         \
    KERNEL( near_sample, near )                                                                              \
    KERNEL( near_place, near )                                                                               \
    KERNEL( near_put, near )                                                                                 \
    KERNEL( near_find, near )

typedef enum gpu_program_id
{
#define GPU_PROGRAM_ID( name ) GPU_PROGRAM_##name,
    GPU_PROGRAMS( GPU_PROGRAM_ID )
#undef GPU_PROGRAM_ID
        GPU_PROGRAM_COUNT
} gpu_program_id;

enum
{
#define GPU_KERNEL_ID( name, program ) GPU_KERNEL_##name,
    GPU_KERNELS( GPU_KERNEL_ID )
#undef GPU_KERNEL_ID
        GPU_KERNEL_COUNT
};

/// One of these, or of a guest's.
typedef uint32_t gpu_kernel_id;

enum
{
    GPU_GUEST_PROGRAMS = 3,
    GPU_GUEST_KERNELS = 16,
    GPU_PROGRAM_ROOM = GPU_PROGRAM_COUNT + GPU_GUEST_PROGRAMS,
    GPU_KERNEL_ROOM = GPU_KERNEL_COUNT + GPU_GUEST_KERNELS
};

/// Memory of the device; what is in it is lost when it grows.
typedef struct gpu_buffer
{
    cl_mem memory;
    uint64_t bytes;
} gpu_buffer;

// BUFFER( name, what it holds )
#define GPU_BUFFERS( BUFFER )                                                                                \
    BUFFER( boxes )   /* that came from the host */                                                          \
    BUFFER( changes ) /* of these alone, where few are others than before */                                 \
    BUFFER( slots )   /* counters */                                                                         \
    BUFFER( pairs )                                                                                          \
    BUFFER( sample )                                                                                         \
    BUFFER( records ) /* boxes in order, 32 bytes each */                                                    \
    BUFFER( kept )    /* index and cell of each of the grid's records, which have two halves */              \
    BUFFER( movers )                                                                                         \
    BUFFER( grid_plan )                                                                                      \
    BUFFER( boxes_before ) /* to compare with, and below what that needs */                                  \
    BUFFER( where )                                                                                          \
    BUFFER( changed )                                                                                        \
    BUFFER( changed_bits )                                                                                   \
    BUFFER( sampled )    /* boxes of some groups, as they were in the frame before */                        \
    BUFFER( pairs_kept ) /* of the frame before */                                                           \
    BUFFER( counts )                                                                                         \
    BUFFER( starts )                                                                                         \
    BUFFER( places )                                                                                         \
    BUFFER( keys )                                                                                           \
    BUFFER( keys_twin )                                                                                      \
    BUFFER( values )                                                                                         \
    BUFFER( values_twin )                                                                                    \
    BUFFER( digits )                                                                                         \
    BUFFER( digit_sums )                                                                                     \
    BUFFER( begins )                                                                                         \
    BUFFER( ends )                                                                                           \
    BUFFER( firsts )                                                                                         \
    BUFFER( seconds )                                                                                        \
    BUFFER( thirds )                                                                                         \
    BUFFER( patient )                                                                                        \
    BUFFER( moments )                                                                                        \
    BUFFER( tree_plan )                                                                                      \
    BUFFER( nodes )                                                                                          \
    BUFFER( chunk )        /* boxes of one block, or two */                                                  \
    BUFFER( pairs_before ) /* of the update before, for events */                                            \
    BUFFER( pair_table )                                                                                     \
    BUFFER( pair_table_before )                                                                              \
    BUFFER( begun )                                                                                          \
    BUFFER( ended )                                                                                          \
    BUFFER( event_counts )                                                                                   \
    BUFFER( near_points ) /* that came from the host; the others as those of the grid */                     \
    BUFFER( near_plan )                                                                                      \
    BUFFER( near_slots ) /* two */                                                                           \
    BUFFER( near_counts )                                                                                    \
    BUFFER( near_starts )                                                                                    \
    BUFFER( near_places )                                                                                    \
    BUFFER( near_records ) /* 16 bytes each */                                                               \
    BUFFER( near_pairs )                                                                                     \
    BUFFER( near_offsets )                                                                                   \
    BUFFER( near_sums )                                                                                      \
    BUFFER( near_indices )

typedef struct gpu_buffers
{
#define GPU_BUFFER_MEMBER( name ) gpu_buffer name;
    GPU_BUFFERS( GPU_BUFFER_MEMBER )
#undef GPU_BUFFER_MEMBER
} gpu_buffers;

/// Memory of the host that the device reads and writes directly.
typedef struct gpu_host_block
{
    struct gpu_host_block* next;
    cl_command_queue queue; ///< that mapped it; kept, since the gpu's own may be another by then
    cl_mem memory;
    void* data;
    size_t bytes;
} gpu_host_block;

/// Words of a slot, as gpu_layout.h has them.
typedef struct gpu_counters
{
    uint64_t pair_count;
    uint64_t test_count;
    uint64_t cell_squares;
    uint32_t placed_count;
    uint32_t large_count;
    uint32_t bad;
    uint32_t moved_count; ///< boxes that left their cells; UINT32_MAX where no order was kept
    uint32_t side;
    uint32_t kept_count;  ///< placed_count of the order that is kept
    uint32_t carry_count; ///< boxes that had left their cells before a frame that searches only what changed,
    uint32_t left_count;  ///< and in it
    uint32_t changed_count;
    /// what it took, and WORK_UNDONE; of one that searches all: frames before it, in a row, that laid all
    /// anew
    uint32_t work;
} gpu_counters;

/// Boxes that may have left their cells while only what changed is searched, at most.
#define GPU_LEFT_MOST UINT32_C( 16384 )

/// The way of a guest's search.
#define GPU_WAY_GUEST ( (clv_gpu_way)( CLV_GPU_LBVH + 1 ) )

/// A search under way, or the last one.
typedef struct gpu_frame
{
    cl_mem boxes;
    uint32_t count;
    uint32_t slot;
    clv_gpu_way way;     ///< that was taken
    uint32_t unit_count; ///< what a search may be cut into
    bool rests;          ///< only what changed is searched, so far
    bool is_sampled;     ///< it has counted who changed, in a sample
} gpu_frame;

/// Launches whose times are asked for when the frame is done: the device's own time for each kernel, without
/// waiting in between.
typedef struct gpu_span
{
    cl_event event;
    uint32_t kernel;
} gpu_span;

typedef struct gpu_spans
{
    gpu_span* items;
    uint64_t count, capacity;
    double ms[GPU_KERNEL_ROOM]; ///< of the last frame
} gpu_spans;

/// The arguments that each kernel was given last: giving the same again costs microseconds per frame.
typedef struct gpu_arguments
{
    uint64_t values[GPU_KERNEL_ROOM][20];
    uint8_t sizes[GPU_KERNEL_ROOM][20];
} gpu_arguments;

/// What a grid was planned for, and what it held then.
typedef struct gpu_grid_state
{
    bool is_planned;
    bool is_refused; ///< the tree does better, until it is asked again
    uint32_t count;
    uint32_t row_count;
    uint32_t pitch;
    uint32_t level_count;
    uint32_t entry_count;
    uint64_t cell_squares;
    uint32_t large_count;
    uint64_t asked_at;   ///< update of the last plan
    uint32_t kept_count; ///< boxes whose order is kept
    uint32_t kept_slot;  ///< one more than the slot of the frame that kept it; 0: none
    uint32_t moved_most; ///< boxes that may leave their cells before the order is made anew
    bool keeps;          ///< the order, from frame to frame
    uint32_t anew_count; ///< frames in a row, as far as the host saw, that made it anew
    uint64_t calm_at;    ///< update from which on it is worth trying again
} gpu_grid_state;

/// Whether only what changed is searched, and what that goes on from.
static inline void gpu_swap( gpu_buffer* a, gpu_buffer* b )
{
    gpu_buffer kept = *a;
    *a = *b;
    *b = kept;
}

/// The slot of the frame before.
static inline uint32_t gpu_last_slot( const gpu_frame* frame )
{
    return ( frame->slot + GPU_SLOTS - 1 ) % GPU_SLOTS;
}

typedef struct gpu_rest_state
{
    bool tracks;          ///< frames compare their boxes with those before
    uint32_t slot;        ///< one more than the slot of the last frame that did; 0: none
    uint32_t count;       ///< its boxes
    uint32_t calm_count;  ///< waited frames in a row in which few boxes changed, while it does not track,
    uint32_t busy_count;  ///< and that had to be searched whole, while it does, or came to it soon,
    uint32_t frame_count; ///< of how many since the last of them
    bool lays_anew;       ///< many have left their cells: the next frame lays all anew
    bool wants_order;     ///< the grid keeps an order for this alone
    uint32_t sample_slot; ///< one more than the slot of the last frame that kept a sample, and its boxes
    uint32_t sample_count;
    uint64_t try_at;    ///< update from which on it is worth trying again
    uint32_t pause;     ///< updates that it was left alone for the last time,
    uint64_t began_at;  ///< and the update that it began at before
    uint64_t kept_room; ///< pairs that `pairs_kept` takes
    cl_mem source;      ///< the list of the frame before,
    uint64_t source_room;
    /// of the last waited one: pairs, changed boxes, boxes out of their cells
    uint64_t last_pairs;
    uint32_t last_changed, last_left;
} gpu_rest_state;

typedef struct gpu_tree_state
{
    bool is_planned;
    uint32_t count;
    uint32_t top;
    uint32_t node_count;
    uint64_t asked_at;
} gpu_tree_state;

/// Begun and ended pairs, in this order.
typedef struct gpu_events
{
    uint32_t counts[2];    ///< of the last update
    uint32_t rooms[2];     ///< pairs that the buffers take
    bool has_before;       ///< there is a list before; it outlives a lack of memory
    uint32_t mask;         ///< entries of the list's table, less 1
    uint32_t mask_before;  ///< of the list before
    uint32_t count_before; ///< its pairs
    uint64_t room_before;  ///< that its buffer takes
} gpu_events;

typedef struct gpu_sap_state
{
    bool is_planned;
    uint32_t axes[3];   ///< first to last
    uint32_t sort_axis; ///< axes[0], or AXIS_FREE
    float direction[3]; ///< to sort along then
    float means[3];     ///< of the last moments
    uint64_t asked_at;
} gpu_sap_state;

/// Points near each other: the plan that lies on the device, and the last list.
typedef struct gpu_near_state
{
    bool is_planned;
    bool is_ready;      ///< slots and counts are cleared
    clv_near_cell cell; ///< what it was planned for,
    bool flat;
    float limit;
    uint32_t stride;
    uint32_t planned_count;
    uint32_t row_count;
    uint32_t pitch;
    uint64_t cell_squares; ///< and what the cells held then; UINT64_MAX: not known yet
    uint32_t slot;         ///< of the next update
    cl_mem points;         ///< of the update under way
    uint64_t pair_room;
    uint64_t index_room;
    bool has_list;
    bool by_point;
    uint32_t point_count;
    uint64_t count;
    gpu_host_block host; ///< that clv_gpu_near_read copies to
} gpu_near_state;

// ---- guests

struct clv_gpu;

/// A kernel of a program by its number.
typedef struct gpu_kernel_row
{
    const char* name;
    uint32_t program;
} gpu_kernel_row;

#define GPU_TEXT_PARTS 9

/// A library that stands on this one and searches something else than boxes with kernels of its own, which
/// are numbered from GPU_KERNEL_COUNT and GPU_PROGRAM_COUNT on: src/kdop. It fits gpu->guest and
/// gpu->guest_state.
typedef struct gpu_guest
{
    const gpu_kernel_row* kernels; ///< GPU_GUEST_KERNELS at most
    const char* const* programs;   ///< names, GPU_GUEST_PROGRAMS at most
    /// Of a program of the guest's, by its number from 0 on: the parts behind the first two, gpu_layout.h and
    /// common.cl.
    void ( *text )( uint32_t program, const char* parts[GPU_TEXT_PARTS] );
    clv_result ( *prepare )( struct clv_gpu* gpu, gpu_frame* frame );
    clv_result ( *find )( struct clv_gpu* gpu, const gpu_frame* frame, uint32_t first, uint32_t end );
    void ( *release )( struct clv_gpu* gpu ); ///< all memory of the device
    void ( *leave )( struct clv_gpu* gpu );   ///< all memory of the host
    /// The first sentence that is not true, or NULL; its bytes on the device are added.
    const char* ( *check )( const struct clv_gpu* gpu, uint64_t* device_bytes );
} gpu_guest;

/// The list that is sent for before its number is known.
typedef struct gpu_ahead
{
    bool is_off;         ///< for measuring
    bool is_wanted;      ///< the last list was fetched,
    uint64_t last_count; ///< of so many pairs
    uint64_t count;      ///< the frame's first pairs that are in `download`; 0: none
} gpu_ahead;

struct clv_gpu
{
    base_memory memory;
    clv_gpu_def def;
    uint32_t device_index;
    const clv_gpu* beside; // the one whose device and queue these are; NULL as a rule
    gpu_device own_device; // of the caller's queue
    gpu_device_texts own_texts;
    char error[GPU_TEXT_ROOM];

    const gpu_opencl* cl;
    const gpu_device* device;
    bool is_open;
    cl_context context;
    cl_command_queue queue;
    cl_program programs[GPU_PROGRAM_ROOM];
    cl_kernel kernels[GPU_KERNEL_ROOM];
    gpu_arguments last_arguments;
    gpu_buffers buffers;
    uint64_t device_bytes;
    gpu_host_block upload;
    gpu_host_block download;
    gpu_host_block direct; ///< the caller's own memory, which the device reads where it lies
    gpu_ahead ahead;
    gpu_host_block* taken; ///< by the caller

    uint32_t staged_count; ///< boxes that were sent last, and are in `boxes`; 0: none
    uint64_t pair_room;    ///< pairs that `pairs` takes
    uint32_t next_slot;
    gpu_frame frame;
    gpu_counters counters; ///< of `frame`, when it is done
    bool is_pending;       ///< put into the queue, not waited for
    bool is_piecewise;     ///< the list does not fit the device
    bool is_chunked;       ///< nor do the boxes, in a search of all at once
    bool has_list;

    gpu_grid_state grid;
    gpu_rest_state rest;
    bool has_no_room_to_rest; ///< for as long as this lives, also when the device is opened anew
    gpu_tree_state tree;
    gpu_sap_state sap;
    gpu_events events;
    gpu_near_state near;
    clv_gpu* inner;         ///< that searches blocks of boxes, on the same queue
    const gpu_guest* guest; ///< NULL: none
    void* guest_state;
    bool is_guests; ///< the search that begins
    clv_gpu_stats stats;

    gpu_grid_wish grid_wish; ///< 0: as planned
    uint32_t queue_pairs;    ///< 0: GPU_QUEUE
    gpu_spans* spans;        ///< NULL: none are kept
};

/// Does a buffer take so many items of so many bytes?
static inline bool gpu_holds( const gpu_buffer* buffer, uint64_t count, uint64_t item_bytes )
{
    return buffer->memory != NULL && buffer->bytes / item_bytes >= count;
}

/// What a search of units [first, end) relies on: they are the frame's, and its slot and list have room.
static inline bool gpu_may_find( const clv_gpu* gpu, const gpu_frame* frame, uint32_t first, uint32_t end )
{
    return first < end && end <= frame->unit_count && frame->slot < GPU_SLOTS &&
        gpu->pair_room <= UINT32_MAX &&
        gpu_holds( &gpu->buffers.pairs, gpu->pair_room, sizeof( clv_pair ) ) &&
        gpu_holds( &gpu->buffers.slots, GPU_SLOTS, sizeof( uint32_t[SLOT_WORDS] ) );
}

/// What is true of the host's view between two calls, and while a frame is under way: buffers and their
/// sizes, the list and the one before, plans, and what resting goes on from. The first sentence that is not
/// true, or NULL; for debug builds and tests. Nothing is read from the device.
const char* clv_gpu_frame_check( const clv_gpu* gpu );

// ---- failing

/// Keeps the sentence and tells the logger. Returns `result`.
clv_result clv_gpu_fail( clv_gpu* gpu, clv_result result, const char* format, ... );

/// The same for a call of OpenCL: CLV_OK for CL_SUCCESS, CLV_OUT_OF_MEMORY where memory lacked, else
/// CLV_DEVICE_FAILED.
clv_result clv_gpu_check( clv_gpu* gpu, cl_int error, const char* call );

// ---- the device

/// A second gpu on the device and queue of the first, which must outlive it. The def is the first's, but for
/// its numbers.
clv_result clv_gpu_create_beside( const clv_gpu* other, const clv_gpu_def* def, clv_gpu** gpu );

/// Context, queue and counters, where they are not there yet.
clv_result clv_gpu_open( clv_gpu* gpu );

/// Waits and gives back all memory of the device but the list that events go on from. Context, queue and
/// programs stay.
void clv_gpu_empty( clv_gpu* gpu );

/// Waits and gives back all that the device has. Memory that the caller took stays valid for reading until
/// destroy where the device still answers.
void clv_gpu_close( clv_gpu* gpu );

/// At least `bytes`; contents are lost if it grows.
clv_result clv_gpu_reserve( clv_gpu* gpu, gpu_buffer* buffer, uint64_t bytes );
void clv_gpu_release( clv_gpu* gpu, gpu_buffer* buffer );

clv_result clv_gpu_read( clv_gpu* gpu, cl_mem from, uint64_t offset, void* to, size_t bytes );
/// Does not wait unless `waits`: then `from` must stay as it is.
clv_result clv_gpu_write(
    clv_gpu* gpu, cl_mem to, uint64_t offset, const void* from, size_t bytes, bool waits );

// ---- programs

/// Not of a guest's.
const char* clv_gpu_kernel_name( gpu_kernel_id id );

/// FNV-1a of texts, one behind the other; the second adds what names a device and its driver.
#define GPU_HASH_BEGIN UINT64_C( 0xCBF29CE484222325 )
uint64_t clv_gpu_hash_text( uint64_t hash, const char* text );
uint64_t clv_gpu_hash_device( uint64_t hash, const gpu_device* device );

/// Is the binary of a program in the cache? `data` is to be given back by clv_gpu_cache_free.
bool clv_gpu_cache_read( uint64_t key, unsigned char** data, size_t* size );
void clv_gpu_cache_write( uint64_t key, const unsigned char* data, size_t size );
void clv_gpu_cache_free( unsigned char* data );

typedef struct gpu_argument
{
    size_t size;
    const void* value;
} gpu_argument;

/// A variable of up to 8 bytes, or a buffer, which is longer: its memory, the first member, is the argument.
#define GPU_ARGUMENT( variable )                                                                             \
    {                                                                                                        \
        sizeof( variable ), &( variable )                                                                    \
    }
_Static_assert( sizeof( gpu_buffer ) > sizeof( uint64_t ), "told from a variable by its size" );

/// The times of all launches since gpu->spans was set, which are done by now or waited for. Nothing without
/// spans.
void clv_gpu_spans_take( clv_gpu* gpu );
void clv_gpu_spans_free( clv_gpu* gpu, gpu_spans* spans );

/// Puts a kernel into the queue, over at least `item_count` items in whole groups.
clv_result clv_gpu_launch(
    clv_gpu* gpu, gpu_kernel_id id, uint64_t item_count, const gpu_argument* arguments, uint32_t count );

/// The same with its arguments by name, in the kernel's order: variables and buffers, 20 at most.
#define GPU_LAUNCH( gpu, id, items, ... )                                                                    \
    clv_gpu_launch( gpu, id, items, GPU_ARGUMENTS( __VA_ARGS__ ),                                            \
        (uint32_t)( sizeof( GPU_ARGUMENTS( __VA_ARGS__ ) ) / sizeof( gpu_argument ) ) )

#define GPU_ARGUMENTS( ... )                                                                                 \
    ( const gpu_argument[] )                                                                                 \
    {                                                                                                        \
        GPU_PICK( __VA_ARGS__, GPU_EACH_20, GPU_EACH_19, GPU_EACH_18, GPU_EACH_17, GPU_EACH_16, GPU_EACH_15, \
            GPU_EACH_14, GPU_EACH_13, GPU_EACH_12, GPU_EACH_11, GPU_EACH_10, GPU_EACH_9, GPU_EACH_8,         \
            GPU_EACH_7, GPU_EACH_6, GPU_EACH_5, GPU_EACH_4, GPU_EACH_3, GPU_EACH_2, GPU_EACH_1, 0 )          \
        ( __VA_ARGS__ )                                                                                      \
    }
#define GPU_PICK(                                                                                            \
    _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, each, ... )   \
    each
#define GPU_EACH_1( a ) GPU_ARGUMENT( a )
#define GPU_EACH_2( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_1( __VA_ARGS__ )
#define GPU_EACH_3( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_2( __VA_ARGS__ )
#define GPU_EACH_4( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_3( __VA_ARGS__ )
#define GPU_EACH_5( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_4( __VA_ARGS__ )
#define GPU_EACH_6( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_5( __VA_ARGS__ )
#define GPU_EACH_7( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_6( __VA_ARGS__ )
#define GPU_EACH_8( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_7( __VA_ARGS__ )
#define GPU_EACH_9( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_8( __VA_ARGS__ )
#define GPU_EACH_10( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_9( __VA_ARGS__ )
#define GPU_EACH_11( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_10( __VA_ARGS__ )
#define GPU_EACH_12( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_11( __VA_ARGS__ )
#define GPU_EACH_13( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_12( __VA_ARGS__ )
#define GPU_EACH_14( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_13( __VA_ARGS__ )
#define GPU_EACH_15( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_14( __VA_ARGS__ )
#define GPU_EACH_16( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_15( __VA_ARGS__ )
#define GPU_EACH_17( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_16( __VA_ARGS__ )
#define GPU_EACH_18( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_17( __VA_ARGS__ )
#define GPU_EACH_19( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_18( __VA_ARGS__ )
#define GPU_EACH_20( a, ... ) GPU_ARGUMENT( a ), GPU_EACH_19( __VA_ARGS__ )

/// The next step, where all before it went well.
#define GPU_THEN( result, step ) ( result ) = ( result ) == CLV_OK ? ( step ) : ( result )

// ---- memory of the host

clv_result clv_gpu_host_reserve( clv_gpu* gpu, gpu_host_block* block, size_t bytes );
void clv_gpu_host_release( clv_gpu* gpu, gpu_host_block* block );

/// Memory of the caller's that the device reads where it lies from now on, until clv_gpu_host_release, which
/// must come before it is given back. False where the driver has none such; that is no failure.
bool clv_gpu_host_register( clv_gpu* gpu, gpu_host_block* block, void* data, size_t bytes );

/// Boxes of gpu->direct, or of clv_gpu_host_take, to the device. They stay as they are until the update is
/// done.
clv_result clv_gpu_send_boxes( clv_gpu* gpu, const clv_aabb* boxes, uint32_t count );

/// Room for `count` boxes, to be filled before clv_gpu_send_staged.
clv_result clv_gpu_stage( clv_gpu* gpu, uint32_t count, clv_aabb** boxes );
clv_result clv_gpu_send_staged( clv_gpu* gpu, uint32_t count );

/// A box that is another than it was when boxes were sent last.
typedef struct gpu_change
{
    clv_aabb box;
    uint32_t index;
    uint32_t unused;
} gpu_change;

/// The same for up to `count` of the gpu->staged_count boxes that were sent last.
clv_result clv_gpu_stage_changes( clv_gpu* gpu, uint32_t count, gpu_change** changes );
clv_result clv_gpu_send_changes( clv_gpu* gpu, uint32_t count );

/// An update of the boxes that were sent.
clv_result clv_gpu_search_staged( clv_gpu* gpu, uint32_t count );

/// Is there a list that clv_gpu_read_pairs hands over at once?
bool clv_gpu_comes_whole( const clv_gpu* gpu );

/// All pairs in memory of the host, alive until the next call; only where they are not piecewise.
clv_result clv_gpu_download( clv_gpu* gpu, const clv_pair** pairs );

/// Sends for the frame's list where the last one was fetched; it is there when the queue's next read is.
clv_result clv_gpu_fetch_ahead( clv_gpu* gpu );

/// The first `count` pairs of a buffer, in parts; results as clv_gpu_read_pairs.
clv_result clv_gpu_show_list(
    clv_gpu* gpu, cl_mem pairs, uint64_t count, clv_pair_visitor* visit, void* user );

/// Bytes that a list may take on the device.
uint64_t clv_gpu_list_most( const clv_gpu* gpu );

// ---- begun and ended pairs

/// Before an update writes its list. True: the last one's list is the one before from now on.
bool clv_gpu_events_begin( clv_gpu* gpu );

/// When the list is whole. CLV_TOO_MANY_PAIRS where it is not on the device.
clv_result clv_gpu_events_find( clv_gpu* gpu );

// ---- boxes in blocks

/// Boxes that may be searched at once.
uint32_t clv_gpu_chunk_most( const clv_gpu* gpu );

/// The frame's pairs counted, block by block.
clv_result clv_gpu_chunks_count( clv_gpu* gpu );

/// The same again, with the pairs.
clv_result clv_gpu_chunks_read( clv_gpu* gpu, clv_pair_visitor* visit, void* user );
void clv_gpu_chunks_close( clv_gpu* gpu );

// ---- what searches share

/// Up to GPU_SAMPLE of the frame's boxes, evenly by index, and room for two floats of each.
typedef struct gpu_sample
{
    clv_aabb* boxes;
    float* room;
    uint32_t count;
} gpu_sample;

/// After a failure there is nothing to close.
clv_result clv_gpu_sample_open( clv_gpu* gpu, const gpu_frame* frame, gpu_sample* sample );
void clv_gpu_sample_close( clv_gpu* gpu, gpu_sample* sample );

/// Counters from a buffer of slots; those of a frame. Both wait.
clv_result clv_gpu_read_slot( clv_gpu* gpu, const gpu_buffer* slots, uint32_t slot, gpu_counters* counters );
clv_result clv_gpu_read_counters( clv_gpu* gpu, const gpu_frame* frame, gpu_counters* counters );

/// What a preparation counted, into the frame's slot; the others become 0.
clv_result clv_gpu_write_counters( clv_gpu* gpu, const gpu_counters* counters );

clv_result clv_gpu_fill( clv_gpu* gpu, cl_mem words, uint64_t count, uint32_t value );

/// `count` numbers become the sums of those before them; `sums` has clv_gpu_scan_blocks( count ) of its own.
clv_result clv_gpu_scan( clv_gpu* gpu, const gpu_buffer* numbers, uint32_t count, const gpu_buffer* sums );
uint32_t clv_gpu_scan_blocks( uint64_t count );

/// Sorts buffers.keys with buffers.values, stable, by bits [first_bit, end_bit); bits above are 0.
clv_result clv_gpu_sort( clv_gpu* gpu, uint32_t count, uint32_t first_bit, uint32_t end_bit );
clv_result clv_gpu_sort_reserve( clv_gpu* gpu, uint32_t count );

/// The axes from most to least worth sorting by, by overlaps of pairs in the sample.
void clv_gpu_axes_by_sample( const clv_aabb* sample, uint32_t count, uint32_t axes[3] );

/// The coordinate axis next to the principal axis of the centres, which is `direction`: sums of 10 moments as
/// kernels/sap.cl has them.
uint32_t clv_gpu_axis_by_moments( const double sums[10], float direction[3] );

// ---- the ways: prepare does all but the search, find searches units [first, end)

clv_result clv_gpu_tiles_prepare( clv_gpu* gpu, gpu_frame* frame );
clv_result clv_gpu_tiles_find( clv_gpu* gpu, const gpu_frame* frame, uint32_t first, uint32_t end );
/// Rows of entries that are counted and added up.
typedef struct gpu_table
{
    gpu_buffer *counts, *starts, *slots;
    uint32_t row_count;
    uint32_t pitch; ///< a multiple of 8; an entry behind the row's last cell counts nothing
} gpu_table;

/// Where each entry's records begin; the counts are cleared. Done where more than `moved_most` moved.
clv_result clv_gpu_grid_add_up( clv_gpu* gpu, const gpu_table* table, uint32_t slot, uint32_t moved_most );
/// CLV_UNSUPPORTED, without a word: the tree does better.
clv_result clv_gpu_grid_prepare( clv_gpu* gpu, gpu_frame* frame );
clv_result clv_gpu_grid_find( clv_gpu* gpu, const gpu_frame* frame, uint32_t first, uint32_t end );
/// The frame is done: does the plan still serve?
void clv_gpu_grid_review( clv_gpu* gpu, gpu_counters* counters );
/// What a frame that searched only what changed leaves to do: the cells laid anew where that is needed, and
/// all searched.
clv_result clv_gpu_grid_finish( clv_gpu* gpu );

// ---- worlds that rest

/// Before the frame's list is written: the list of the frame before is put aside where it will be needed;
/// `is_before`: it is the one that events are compared with. Pairs that the new one should have room for.
uint64_t clv_gpu_rest_begin( clv_gpu* gpu, bool is_before );
/// Goes the frame on from one that compared its boxes too?
bool clv_gpu_rest_is_chained( const clv_gpu* gpu, const gpu_frame* frame );
/// Compares boxes, and searches for those that changed.
clv_result clv_gpu_rest_compare( clv_gpu* gpu, gpu_frame* frame );
clv_result clv_gpu_rest_find( clv_gpu* gpu, const gpu_frame* frame );
/// Behind cells that are laid out: what the next frame compares with.
clv_result clv_gpu_rest_enter( clv_gpu* gpu, const gpu_frame* frame );
/// The frame is done: shall the next one compare? `was_done`: only what changed was searched.
void clv_gpu_rest_review( clv_gpu* gpu, const gpu_counters* counters, bool was_compared, bool was_done );
/// The frame's list is lost, or never was whole on the device.
void clv_gpu_rest_forget( clv_gpu* gpu );
/// A new plan: nothing goes on from before. What to wish for where the order is kept for this alone.
gpu_grid_wish clv_gpu_rest_plan( clv_gpu* gpu );
/// Room for the sample of a frame that lays all anew; frame->is_sampled: the frame before had one too.
clv_result clv_gpu_rest_sample( clv_gpu* gpu, gpu_frame* frame );

// ---- points near each other

/// Forgets list and plan; what the host holds of them goes.
void clv_gpu_near_forget( clv_gpu* gpu );

// ---- the other ways
clv_result clv_gpu_sap_prepare( clv_gpu* gpu, gpu_frame* frame );
clv_result clv_gpu_sap_find( clv_gpu* gpu, const gpu_frame* frame, uint32_t first, uint32_t end );
clv_result clv_gpu_tree_prepare( clv_gpu* gpu, gpu_frame* frame );
clv_result clv_gpu_tree_find( clv_gpu* gpu, const gpu_frame* frame, uint32_t first, uint32_t end );

/// A guest's search as a frame of `count` items that lie at `memory`; waits.
clv_result clv_gpu_guest_search( clv_gpu* gpu, cl_mem memory, uint32_t count );

/// An update failed: no list is left. The device is closed where it failed, and emptied where memory lacked.
/// Returns `result`.
clv_result clv_gpu_end_failed( clv_gpu* gpu, clv_result result );

/// The direction of the largest spread, of length 1, from sums of 10 moments; false if there is none.
bool clv_gpu_direction_by_moments( const double sums[10], double direction[3] );
