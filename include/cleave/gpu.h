// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/near.h"
#include "cleave/types.h"

// The library cleave-gpu: the same search on a graphics card, by OpenCL 1.2, which is loaded at its first
// use. Link cleave::gpu (or -lcleave-gpu before -lcleave). Three ways in:
//
//   clv_gpu_register();                 a space with def.method = "gpu" (or gpu-grid, gpu-sap, gpu-lbvh,
//                                       gpu-tiles) then searches there; boxes and pairs travel between host
//                                       and device in every update
//   clv_gpu_create( &def, &gpu );       boxes that live on the device, and pairs that stay there:
//                                       no ids, filters or margins
//   clv_gpu_update_buffer( gpu, … );
//
//   clv_gpu_near_buffer( gpu, … );      points that live there, and lists of those within a cutoff (near.h)
//
// The set of pairs is the CPU's, bit for bit. Their order is not promised, not even from run to run; sort
// where it matters (clv_space_def.sorted does).
//
// Threads: calls about devices from any thread; one thread per clv_gpu, and per space that searches there;
// different ones may work at once.
//
// A driver that aborts, crashes, hangs or ends the program must not take the program with it. So drivers are
// asked in a child process before they are loaded into this one: by the first call that lists devices (all
// drivers together, and each alone where one died), and when a device is first chosen, which is then opened
// there and runs a small kernel. A driver that died when devices were listed is left out
// (clv_gpu_driver_left_out), and the others are used without it; a device that died when it was opened is
// unusable. What was seen is kept: in the process, and that a device could be opened also as a small file
// beside the compiled programs.
//
// The child is made by fork, without exec, and lives as long as the asking: milliseconds to a second, at most
// $CLEAVE_OPENCL_WAIT seconds (60), then it is killed. Nothing of it remains; what it prints is not shown.
// The program may see a SIGCHLD. It is best made before threads are started. There is none, and drivers are
// loaded unasked, on Windows and macOS, with CLEAVE_OPENCL_WAIT=0, where the program has loaded a driver
// before itself, and for the device of a caller's own queue.

// ---- devices

/// What is known about a device. Texts live as long as the program, or until a test exchanges the list.
typedef struct clv_gpu_device
{
    const char* name;
    const char* vendor;
    const char* driver;    ///< its version
    const char* platform;  ///< the OpenCL it belongs to
    uint32_t unit_count;   ///< compute units
    uint32_t clock_mhz;    ///< as the driver tells it
    uint64_t memory_bytes; ///< of the device
    bool is_cpu;           ///< the host's processor behind an OpenCL: right, but slower than without
    const char* unusable;  ///< NULL, or why it cannot be used here
} clv_gpu_device;

/// How many devices there are, usable or not; 0 with a sentence in clv_gpu_missing. The first call has a
/// child process load OpenCL's drivers, which takes from milliseconds to a second. They are loaded here when
/// a device is opened.
CLV_API uint32_t clv_gpu_device_count( void );

/// Device `index` in the order of the platforms. CLV_BAD_ARGUMENT, and *device untouched, for an index too
/// large.
CLV_API clv_result clv_gpu_device_at( uint32_t index, clv_gpu_device* device );

/// Why there is no device, as a sentence without its full stop; NULL if there is one.
CLV_API const char* clv_gpu_missing( void );

/// A driver that is left out, since it died or hung when it was asked for its devices: a sentence without its
/// full stop that says which driver, how it ended, in which call, and what it printed last. NULL from the
/// first index that is too large: for 0, if all are well.
CLV_API const char* clv_gpu_driver_left_out( uint32_t index );

/// The device a name or a number means: "1", or a part of one name alone, whatever its case; NULL or "": the
/// fastest usable one that is not a CPU, and a CPU where there is no other. One that was never opened on this
/// machine by this version of its driver is opened in a child process first. CLV_UNSUPPORTED if there is none
/// at all, or the one that is meant is unusable, CLV_BAD_ARGUMENT for a name that means none or several, both
/// with a sentence in `text` (of `text_size` bytes; NULL and 0 are legal).
CLV_API clv_result clv_gpu_device_find( const char* wish, uint32_t* index, char* text, size_t text_size );

// ---- methods for spaces

/// Makes gpu-tiles, gpu-grid, gpu-sap, gpu-lbvh and gpu known to the core (method.h), behind those that are
/// known already. Where OpenCL is not installed they are known as missing, with the reason. Calling it again
/// does nothing and is CLV_OK.
///
/// A space that fails for the device's reasons returns CLV_DEVICE_FAILED or CLV_OUT_OF_MEMORY from its update
/// and sends its logger the driver's message; the next update tries again. With the setting gpu.fallback=1
/// the CPU's default method goes on instead, and the logger is told once; but where it fails while a list of
/// more than eight million pairs, or one in pieces, is on its way, that update fails and the next one tries
/// again.
///
/// Failure: CLV_BAD_ARGUMENT if another method took one of the names before, or if there is no room for all
/// of them; then none is added. Threads: as clv_method_register.
CLV_API clv_result clv_gpu_register( void );

// ---- boxes that live on the device

/// One device at work: its queue, its programs, its buffers. They are kept from update to update, and grow.
typedef struct clv_gpu clv_gpu;

/// How pairs are found.
typedef enum clv_gpu_way
{
    CLV_GPU_AUTO = 0,  ///< by counts: tiles for few, else the grid, else the tree
    CLV_GPU_TILES = 1, ///< every box against every other
    CLV_GPU_GRID = 2,  ///< rows of cells, levels by size; the tree where cells would overflow
    CLV_GPU_SAP = 3,   ///< sorted along one axis: the k-DOP paper's
    CLV_GPU_LBVH = 4,  ///< a tree over the boxes in Morton order
} clv_gpu_way;

/// Settings, copied on create. Start from clv_default_gpu_def and change what you need.
typedef struct clv_gpu_def
{
    uint32_t size;           ///< sizeof( clv_gpu_def ), set by the default function
    uint32_t cookie;         ///< proof that the default function was called
    const char* device;      ///< as clv_gpu_device_find takes it; NULL: the fastest
    void* queue;             ///< the caller's cl_command_queue, in order, and so its context; NULL: our own
    clv_gpu_way way;         ///< how
    uint32_t few;            ///< up to so many boxes CLV_GPU_AUTO takes tiles
    uint64_t pair_capacity;  ///< pairs the first list has room for; more cost a second search, once
    uint64_t memory_most;    ///< bytes of pairs on the device, beyond in pieces; 0: a quarter of its memory
    uint32_t box_most;       ///< boxes searched at once, beyond in blocks; 0: as many as the memory takes
    bool events;             ///< begun and ended pairs of every update too
    uint64_t event_capacity; ///< of each, that the first lists have room for; more cost a second pass, once
    uint32_t axis_frames;    ///< CLV_GPU_SAP chooses its axis every so many updates
    bool axis_by_pca;        ///< by the principal axis; else by overlaps in a sample
    bool axis_free;          ///< then: along that axis (k-DOP paper); else along x, y or z next to it
    bool cache;              ///< keep compiled programs in $XDG_CACHE_HOME/cleave or ~/.cache/cleave
    bool count_tests;        ///< fill clv_gpu_stats.test_count, which costs a few percent
    bool times;              ///< a queue that keeps times, for the stages of clv_gpu_sim; a little slower
    clv_allocator allocator; ///< zero: the C library's
    clv_logger logger;       ///< zero: silence
} clv_gpu_def;

CLV_API clv_gpu_def clv_default_gpu_def( void );

/// Opens the device. CLV_BAD_DEF (a `device` that means none or several too), CLV_UNSUPPORTED (no device at
/// all, or one that cannot be used), CLV_OUT_OF_MEMORY or CLV_DEVICE_FAILED leave *gpu NULL, and the logger
/// has the reason. Programs are compiled when they are first needed, or read from the cache.
CLV_API clv_result clv_gpu_create( const clv_gpu_def* def, clv_gpu** gpu );

/// Waits for the device and gives everything back. NULL is legal.
CLV_API void clv_gpu_destroy( clv_gpu* gpu );

/// Every overlapping pair of these boxes, as indices into the array. Boxes are checked on the way:
/// CLV_BAD_BOX for NaN and for lower > upper. Memory of clv_gpu_host_take travels several times as fast as
/// any other. More boxes than box_most are searched in blocks, each alone and with each other: k blocks of
/// half as many take k * (k + 1) / 2 searches, and as many again in clv_gpu_read_pairs, until when the boxes
/// must stay as they are. CLV_TOO_MANY_OBJECTS above CLV_MAX_OBJECTS boxes, and above 7,680,000 at once for
/// CLV_GPU_TILES. CLV_OUT_OF_MEMORY if the host or the device has no more: all memory of the device is given
/// back, but for the list that events go on from. CLV_DEVICE_FAILED if the driver refused or erred: the
/// device is closed, and the next update opens it again. CLV_OK: the list is whole. Any other result: there
/// is no list, clv_gpu_error has the reason, and the next update begins anew.
CLV_API clv_result clv_gpu_update( clv_gpu* gpu, const clv_aabb* boxes, uint32_t count );

/// The same with boxes on the device: a cl_mem of 24-byte boxes of the same context. They
/// are not checked: a NaN overlaps nothing or anything, and breaks nothing else.
CLV_API clv_result clv_gpu_update_buffer( clv_gpu* gpu, void* buffer, uint32_t count );

/// The same without waiting: the search is put into the queue behind what is there. clv_gpu_wait ends it.
/// Only the last of several is promised to be whole.
CLV_API clv_result clv_gpu_enqueue( clv_gpu* gpu, void* buffer, uint32_t count );

/// Waits for what clv_gpu_enqueue began, and makes its list whole where it was cut; results as
/// clv_gpu_update. The boxes must still be in the buffer. CLV_OK at once if nothing was begun.
CLV_API clv_result clv_gpu_wait( clv_gpu* gpu );

/// Pairs found by the last update; 0 after a failed one.
CLV_API uint64_t clv_gpu_pair_count( const clv_gpu* gpu );

/// The last update's pairs where they lie: a cl_mem of clv_pair, alive until the next update, which reads it:
/// not to be written. NULL where they did not fit memory_most and so are nowhere on the device as a whole;
/// clv_gpu_read_pairs brings them in pieces.
CLV_API void* clv_gpu_pair_buffer( const clv_gpu* gpu );

/// Hands the last update's pairs to `visit`, in pieces, in no promised order; CLV_STOPPED if it returned
/// false. After a failed update there are none.
CLV_API clv_result clv_gpu_read_pairs( clv_gpu* gpu, clv_pair_visitor* visit, void* user );

/// With def.events: pairs that this update has and the good one before it had not, and those that it had and
/// this has not. Pairs are pairs of indices: a box that takes another place in the array is another box. The
/// first update has nothing before it: all of its pairs are begun. After a failed update the next good one is
/// compared with the last good one, with one exception: CLV_DEVICE_FAILED loses what lay on the device, so
/// all pairs of the next good update are begun and none has ended. After CLV_OUT_OF_MEMORY events go on.
/// Where several updates were put into the queue, the last one is compared with the last that was waited for.
/// The list must be whole on the device: an update whose list is beyond memory_most, or whose boxes are
/// beyond box_most, returns CLV_TOO_MANY_PAIRS.
CLV_API uint64_t clv_gpu_begun_count( const clv_gpu* gpu );
CLV_API uint64_t clv_gpu_ended_count( const clv_gpu* gpu );

/// Where they lie: a cl_mem of clv_pair each, alive until the next update. NULL without def.events.
CLV_API void* clv_gpu_begun_buffer( const clv_gpu* gpu );
CLV_API void* clv_gpu_ended_buffer( const clv_gpu* gpu );

/// Hands them to `visit`, as clv_gpu_read_pairs does.
CLV_API clv_result clv_gpu_read_begun( clv_gpu* gpu, clv_pair_visitor* visit, void* user );
CLV_API clv_result clv_gpu_read_ended( clv_gpu* gpu, clv_pair_visitor* visit, void* user );

// ---- points near each other

/// All pairs of points within def->cutoff, as near.h has them: the set of entries is that of clv_near_update,
/// bit for bit; their order is not promised. `full`, `by_point`, `flat` and `max_pairs` of the def are
/// followed; `isa`, threads and hooks are not read. It may be another one in each call. The list lies on the
/// device until the next of these calls; boxes and their pairs are left alone. It needs a device that
/// computes with denormals in float, and doubles for periodic cells. Since 0.2.0.
///
/// CLV_UNSUPPORTED, with the reason in clv_gpu_error: `doubles`, a `skin`, `squared`, `vectors`, `shifts`,
/// radii, groups, a periodic cell whose edges are not along the axes, one that a cutoff reaches over more
/// than 60 times, a device that lacks what is said above. CLV_BAD_DEF and CLV_BAD_ARGUMENT as in near.h: a
/// point that is not finite or too far from the cell is told by its number. CLV_TOO_MANY_PAIRS above
/// max_pairs, above 2^32 - 1 entries, and where a list does not fit memory_most: the text has the bytes it
/// needs. CLV_OUT_OF_MEMORY and CLV_DEVICE_FAILED as in clv_gpu_update, the last list of pairs of boxes goes
/// then too. After any of them there is no list of points.
CLV_API clv_result clv_gpu_near( clv_gpu* gpu, const clv_near_def* def, const clv_near_points* points );

/// The same of points on the device: a cl_mem of floats, of the same context; point i begins i * stride bytes
/// further, a multiple of 4. `cell` may be NULL. Since 0.2.0.
CLV_API clv_result clv_gpu_near_buffer( clv_gpu* gpu, const clv_near_def* def, void* buffer, size_t stride,
    uint32_t count, const clv_near_cell* cell );

/// A list where it lies; each is a cl_mem, not to be written, and NULL where there is nothing. Since 0.2.0.
typedef struct clv_gpu_near_view
{
    uint64_t count; ///< entries
    void* pairs;    ///< of clv_pair; without `by_point`. a < b, or a = b for a point and its image;
                    ///< with `full` both ways
    void* offsets;  ///< uint32_t: neighbours of point i are entries from offsets[i] up to offsets[i + 1]
    void* indices;  ///< uint32_t: the second point of each entry
    uint32_t point_count; ///< of which there is one more offset
    bool valid;           ///< false before the first good call and after a failed one
} clv_gpu_near_view;

CLV_API clv_gpu_near_view clv_gpu_near_list( const clv_gpu* gpu );

/// Copies the list to the host, in the form of near.h; the arrays live until the next call about points.
/// `valid` is false, and the result CLV_OK, where there is none. Since 0.2.0.
CLV_API clv_result clv_gpu_near_read( clv_gpu* gpu, clv_near_view* view );

// ---- memory and what is known

/// Memory of the host that the device reads and writes directly. NULL, with clv_gpu_error, if there is none.
/// It dies with the gpu.
CLV_API void* clv_gpu_host_take( clv_gpu* gpu, size_t bytes );
CLV_API void clv_gpu_host_give( clv_gpu* gpu, void* memory );

/// What a gpu did last.
typedef struct clv_gpu_stats
{
    clv_gpu_way way;       ///< that was taken; never CLV_GPU_AUTO
    uint64_t pair_count;   ///< of the last update
    uint64_t test_count;   ///< box against box, nodes too; 0 unless the def asks or it is known anyway
    uint64_t update_count; ///< good updates so far
    uint64_t search_count; ///< searches so far; more than updates where lists were cut or plans failed
    uint64_t plan_count;   ///< times a grid was planned, a tree measured or an axis chosen
    uint64_t order_count;  ///< times the grid made its order anew, as far as the host saw
    uint64_t rest_count;   ///< good updates that searched only for boxes that changed, as far as the host saw
    uint64_t piece_count;  ///< pieces the last list came in; 1 as a rule
    uint32_t cell_count;   ///< entries of the grid's table, 0 without
    uint32_t level_count;  ///< of the grid or the tree
    uint32_t large_count;  ///< boxes that fit no level, or that look far ahead
    uint32_t axis;         ///< of CLV_GPU_SAP
    uint64_t device_bytes; ///< held on the device
} clv_gpu_stats;

CLV_API clv_gpu_stats clv_gpu_get_stats( const clv_gpu* gpu );

/// Why the last call on this gpu failed, the driver's log included; "" if it did not. Lives until the next
/// call.
CLV_API const char* clv_gpu_error( const clv_gpu* gpu );

/// The device it runs on, as clv_gpu_device_at tells it.
CLV_API clv_gpu_device clv_gpu_device_of( const clv_gpu* gpu );

/// The OpenCL objects behind it, for callers with kernels of their own: a cl_context and a cl_command_queue.
CLV_API void* clv_gpu_context( const clv_gpu* gpu );
CLV_API void* clv_gpu_queue( const clv_gpu* gpu );
