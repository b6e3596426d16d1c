// SPDX-License-Identifier: MIT
// The device's side of the k-DOP paper's experiment: bodies, their volumes, contacts and simulations, as a
// guest of libcleave-gpu.
#pragma once

#include "cleave/gpu.h"
#include "gpu_body_layout.h"
#include "gpu_state.h"
#include "narrow/contact.h"
#include "shape_sim.h"

// ---- bodies: volumes made on the device

// Convex bodies instead of boxes: their vertices are moved, their bounding volumes made and swept on the
// device, as in the k-DOP paper. Volumes are those of clv_shape_aabb, clv_shape_dop18 and clv_shape_sphere,
// bit for bit, and so the pairs are those of a clv_volume_sweep: always by sweep and prune along one axis, a
// box's three or an 18-DOP's nine to choose from, the one nearest to the principal axis of the volumes'
// centers. All of it is computed in double: CLV_UNSUPPORTED on a device that has none.

/// Corners of a convex body about its own origin: the vertices of a clv_hull_view, or any points with the
/// same hull.
typedef struct clv_gpu_hull
{
    const clv_vec3* vertices; ///< finite; copied
    uint32_t vertex_count;    ///< at least 1
} clv_gpu_hull;

/// Says which bodies there are: body i has the hull hull_of[i], and all have the first for NULL. Copied; they
/// stay until they are set again. CLV_BAD_ARGUMENT for a hull without vertices, a vertex that is not finite,
/// a hull that is not there (clv_gpu_error has its number); CLV_TOO_MANY_OBJECTS above CLV_MAX_OBJECTS bodies
/// or 2^30 vertices of all bodies; CLV_OUT_OF_MEMORY. Then the bodies are those from before. The device is
/// not asked yet.
clv_result clv_gpu_set_bodies( clv_gpu* gpu, const clv_gpu_hull* hulls, uint32_t hull_count,
    const uint32_t* hull_of, uint32_t body_count );

// ---- a simulation

// A clv_shape_sim whose frames run on the device: free flight, vertices, volumes, the axis, projection, sort,
// sweep, GJK + EPA and shape matching; the k-DOP paper's pipeline, the whole of it. The host does one thing:
// it puts the pairs in order and finds which responses may come at once. With the same def and bodies of up
// to 32 vertices each every frame ends with the bits of clv_shape_sim.
typedef struct clv_gpu_sim clv_gpu_sim;

/// For the bodies of the last clv_gpu_set_bodies, at rest at these places. The gpu must outlive it; other
/// calls on the gpu may come between its frames, and cost it a hand-over of all bodies. CLV_BAD_DEF;
/// CLV_UNSUPPORTED for other volumes than boxes, 18-DOPs and spheres, for soft bodies and for
/// CLV_SUPPORT_CLIMB; CLV_BAD_ARGUMENT for a transform that is not finite; CLV_OUT_OF_MEMORY. Then *sim is
/// NULL and clv_gpu_error has the reason. The def's allocator and logger are not used: the gpu's are.
clv_result clv_gpu_sim_create(
    clv_gpu* gpu, const clv_shape_sim_def* def, const clv_transform* at, clv_gpu_sim** sim );

/// NULL is legal. Before the gpu's.
void clv_gpu_sim_destroy( clv_gpu_sim* sim );

/// One frame; waits for it. After any failure (results as clv_gpu_update) nothing has moved,
/// clv_gpu_error has the reason, and the next call begins the same frame anew. CLV_STALE for ever after
/// clv_gpu_set_bodies.
clv_result clv_gpu_sim_step( clv_gpu_sim* sim );

/// As those of clv_shape_sim. Times, where the def has stage_times and the gpu's def has times, are the
/// device's own for the kernels of each stage; a frame takes longer by launches and by what the host does.
clv_transform clv_gpu_sim_transform( const clv_gpu_sim* sim, uint32_t body );
clv_shape_sim_stats clv_gpu_sim_get_stats( const clv_gpu_sim* sim );

/// Contacts so far that the device had no room for and the host finished.
uint64_t clv_gpu_sim_finished_count( const clv_gpu_sim* sim );

// ---- inside

// KERNEL( name, program )
#define GPU_BODY_KERNELS( KERNEL )                                                                           \
    KERNEL( move_vertices, volume )                                                                          \
    KERNEL( volume_aabbs, volume )                                                                           \
    KERNEL( volume_dops, volume )                                                                            \
    KERNEL( volume_spheres, volume )                                                                         \
    KERNEL( volume_moments, volume )                                                                         \
    KERNEL( volume_keys, volume )                                                                            \
    KERNEL( volume_gather, volume )                                                                          \
    KERNEL( volume_find, volume )                                                                            \
    KERNEL( sim_narrow, narrow )                                                                             \
    KERNEL( sim_integrate, match )                                                                           \
    KERNEL( sim_floor, match )                                                                               \
    KERNEL( sim_match, match )                                                                               \
    KERNEL( sim_settle, match )                                                                              \
    KERNEL( sim_count, match )

enum
{
    GPU_PROGRAM_volume = GPU_PROGRAM_COUNT,
    GPU_PROGRAM_narrow,
    GPU_PROGRAM_match
};

enum
{
    GPU_KERNEL_BEFORE_BODIES = GPU_KERNEL_COUNT - 1,
#define GPU_BODY_KERNEL_ID( name, program ) GPU_KERNEL_##name,
    GPU_BODY_KERNELS( GPU_BODY_KERNEL_ID )
#undef GPU_BODY_KERNEL_ID
};

/// Vertices of a polytope that a device's item has room for.
#define GPU_POLYTOPE_ROOM 64

// BUFFER( name, what it holds )
#define GPU_BODY_BUFFERS( BUFFER )                                                                           \
    BUFFER( vertices ) /* of hulls, three floats each */                                                     \
    BUFFER( rows )     /* hulls: first vertex, vertices, bits of the radius, 0 */                            \
    BUFFER( hulls )    /* by body */                                                                         \
    BUFFER( starts )   /* by body: its first vertex among those moved; one more behind */                    \
    BUFFER( sources )  /* by vertex moved: body and vertex of its hull */                                    \
    BUFFER( poses )    /* rotation and position, twelve doubles each */                                      \
    BUFFER( moved )    /* vertices where they are, three doubles each */                                     \
    BUFFER( volumes )                                                                                        \
    BUFFER( moments )                                                                                        \
    BUFFER( rests )   /* of hulls, for matching */                                                           \
    BUFFER( motions ) /* of bodies */                                                                        \
    BUFFER( marks )                                                                                          \
    BUFFER( reaches ) /* the floor */                                                                        \
    BUFFER( records ) /* of pairs */                                                                         \
    BUFFER( tasks )                                                                                          \
    BUFFER( states )                                                                                         \
    BUFFER( depths )                                                                                         \
    BUFFER( tallies )                                                                                        \
    BUFFER( sums )                                                                                           \
    BUFFER( contact_numbers )                                                                                \
    BUFFER( intervals )                                                                                      \
    BUFFER( sorted ) /* intervals in order */

/// Bodies made of hulls. What the caller told is kept on the host too, and goes to a device that failed once
/// more.
typedef struct gpu_bodies
{
    uint32_t hull_count, vertex_count, body_count, moved_count;
    float* vertices;
    uint32_t* rows;
    uint32_t* hulls;
    bool is_there; ///< on the device
    bool has_volumes;
    clv_volume_kind kind;            ///< of the volumes
    uint32_t axis;                   ///< of an 18-DOP's nine
    uint32_t until_axis;             ///< updates left before the axis is chosen again
    uint64_t number;                 ///< how often bodies were set
    const struct clv_gpu_sim* owner; ///< whose poses are on the device; NULL: none
    uint32_t polytope_room;          ///< 0: GPU_POLYTOPE_ROOM
#define GPU_BODY_BUFFER_MEMBER( name ) gpu_buffer name;
    struct
    {
        GPU_BODY_BUFFERS( GPU_BODY_BUFFER_MEMBER )
    } on; ///< the device
#undef GPU_BODY_BUFFER_MEMBER
} gpu_bodies;

/// Those of this gpu; NULL: none were set, and there was no memory to begin with.
static inline gpu_bodies* gpu_bodies_of( const clv_gpu* gpu )
{
    return gpu->guest_state;
}

/// The gpu's bodies, none at first. NULL, with the reason in clv_gpu_error, if out of memory.
gpu_bodies* clv_gpu_bodies_open( clv_gpu* gpu );

/// Hulls and bodies on the device, where they are not there yet. Needs doubles there: CLV_UNSUPPORTED where
/// it has none.
clv_result clv_gpu_bodies_send( clv_gpu* gpu );
/// What the device has of them; what the host has; how a search of volumes is a frame.
void clv_gpu_bodies_release( clv_gpu* gpu );
void clv_gpu_bodies_free( clv_gpu* gpu );
clv_result clv_gpu_volumes_prepare( clv_gpu* gpu, gpu_frame* frame );
clv_result clv_gpu_volumes_find( clv_gpu* gpu, const gpu_frame* frame, uint32_t first, uint32_t end );

/// Volumes around bodies whose poses are on the device.
clv_result clv_gpu_volumes_build( clv_gpu* gpu, clv_volume_kind kind );

/// Chooses the axis where it is time to, every `period` calls; 0: never.
clv_result clv_gpu_volumes_axis( clv_gpu* gpu, uint32_t period );

/// The search as a frame: pairs of volumes that overlap, by the axis chosen last.
clv_result clv_gpu_volumes_search( clv_gpu* gpu );

/// A buffer of exactly what is at `data`; waits. CLV_BAD_ARGUMENT by number for transforms that are not
/// finite.
clv_result clv_gpu_send( clv_gpu* gpu, gpu_buffer* buffer, const void* data, uint64_t bytes );
clv_result clv_gpu_check_transforms( clv_gpu* gpu, const clv_transform* at, const char* caller );

/// Items from one that searches for a contact to the next: on a GPU neighbours wait for each other, on a CPU
/// they do not.
uint32_t clv_gpu_contact_stride( const clv_gpu* gpu, uint64_t count );

/// The contact of two bodies whose poses these are, as the device's kernels find it but with room for every
/// polytope. `cache` may be NULL.
narrow_contact clv_gpu_host_contact(
    const gpu_bodies* bodies, const double* poses, uint32_t a, uint32_t b, clv_pair_cache* cache );

/// Normal, depth, point of a, point of b.
void clv_gpu_host_numbers( const narrow_contact* contact, double numbers[CONTACT_DOUBLES] );

/// The first sentence that is not true of hulls and bodies as the host keeps them, or NULL.
const char* clv_gpu_bodies_check( const gpu_bodies* bodies );
