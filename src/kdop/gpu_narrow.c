// SPDX-License-Identifier: MIT
// GJK and EPA on the device for pairs of bodies; kernels/narrow.cl tells how. The host finishes what a
// device's room leaves undecided.
#include "gpu_bodies.h"

#include "base/assertion.h"
#include "base/fp_mode.h"

#include <string.h>

enum
{
    PIECE = 1 << 18, // pairs at a time
    FACT_WORDS = 4,
    TOUCHING = 1, // bits of a fact, as kernels/narrow.cl has them
    CONVERGED = 2,
    UNDECIDED = 4,
};

uint32_t clv_gpu_contact_stride( const clv_gpu* gpu, uint64_t count )
{
    // An item's polytope takes a cache line for every word that its idle neighbours would have beside it:
    // where there are few, each gets a unit of its own.
    return gpu->device->facts.is_cpu ? 1
        : count <= 512               ? GPU_GROUP
        : count <= 8192              ? 32
        : count <= 65536             ? 8
                                     : 2;
}

static clv_result check_pairs( clv_gpu* gpu, const clv_pair* pairs, uint32_t count )
{
    uint32_t body_count = gpu->guest != NULL ? gpu_bodies_of( gpu )->body_count : 0;
    if ( count > 0 && ( gpu->guest == NULL || !gpu_bodies_of( gpu )->has_volumes ) )
    {
        return clv_gpu_fail(
            gpu, CLV_BAD_ARGUMENT, "clv_gpu_find_contacts: no clv_gpu_update_bodies has placed the bodies" );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( pairs[i].a >= body_count || pairs[i].b >= body_count || pairs[i].a == pairs[i].b )
        {
            return clv_gpu_fail( gpu, CLV_BAD_ARGUMENT,
                "clv_gpu_find_contacts: pair %u is of bodies %u and %u, and there are %u", i, pairs[i].a,
                pairs[i].b, body_count );
        }
    }
    return CLV_OK;
}

// ---- one piece

typedef struct contact_piece
{
    const clv_pair* pairs;
    uint32_t count;
    uint32_t* facts;
    double* numbers;
    double* poses; ///< of all bodies, read when the first undecided pair needs them
} contact_piece;

static clv_result search_piece( clv_gpu* gpu, const contact_piece* piece )
{
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    uint64_t n = piece->count;
    CLV_ASSERT( n > 0 && n <= PIECE && gpu_bodies_of( gpu )->has_volumes );
    CLV_ASSERT( gpu_holds( &bodies->on.poses, bodies->body_count, GPU_POSE_DOUBLES * sizeof( double ) ) );
    uint32_t stride = clv_gpu_contact_stride( gpu, n );
    uint32_t room = bodies->polytope_room > 0 ? bodies->polytope_room : GPU_POLYTOPE_ROOM;
    size_t fact_bytes = (size_t)n * FACT_WORDS * sizeof( uint32_t );
    size_t number_bytes = (size_t)n * GPU_CONTACT_DOUBLES * sizeof( double );
    clv_result result = clv_gpu_reserve( gpu, &bodies->on.contact_pairs, n * sizeof( clv_pair ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &bodies->on.contact_facts, fact_bytes ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &bodies->on.contact_numbers, number_bytes ) );
    GPU_THEN( result,
        clv_gpu_write(
            gpu, bodies->on.contact_pairs.memory, 0, piece->pairs, (size_t)n * sizeof( clv_pair ), true ) );
    if ( result != CLV_OK )
    {
        return result;
    }
    result = GPU_LAUNCH( gpu, GPU_KERNEL_find_contacts, n * stride, bodies->on.poses, bodies->on.hulls,
        bodies->on.rows, bodies->on.vertices, bodies->on.contact_pairs, piece->count, stride, room,
        bodies->on.contact_facts, bodies->on.contact_numbers );
    GPU_THEN( result, clv_gpu_read( gpu, bodies->on.contact_facts.memory, 0, piece->facts, fact_bytes ) );
    GPU_THEN(
        result, clv_gpu_read( gpu, bodies->on.contact_numbers.memory, 0, piece->numbers, number_bytes ) );
    return result;
}

static clv_result read_poses( clv_gpu* gpu, contact_piece* piece )
{
    size_t bytes = (size_t)gpu_bodies_of( gpu )->body_count * GPU_POSE_DOUBLES * sizeof( double );
    piece->poses = clv_base_memory_take(
        &gpu->memory, gpu_bodies_of( gpu )->body_count, GPU_POSE_DOUBLES * sizeof( double ) );
    if ( piece->poses == NULL )
    {
        return clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "no memory to finish contacts on the host" );
    }
    return clv_gpu_read( gpu, gpu_bodies_of( gpu )->on.poses.memory, 0, piece->poses, bytes );
}

// A hull of the caller's as the narrow phase takes it: all vertices are looked at, as on the device.
static narrow_core core_of( const clv_hull* hull, const double* poses, uint32_t body )
{
    const double* from = poses + (size_t)body * GPU_POSE_DOUBLES;
    math_pose pose;
    memcpy( pose.rotation.m, from, sizeof( pose.rotation.m ) );
    pose.position = math_make( from[9], from[10], from[11] );
    narrow_core core = narrow_core_make( clv_hull_shape( hull ), &pose );
    core.brute_limit = UINT32_MAX;
    return core;
}

static clv_hull hull_of( const gpu_bodies* bodies, uint32_t body )
{
    CLV_ASSERT( body < bodies->body_count && bodies->hulls[body] < bodies->hull_count );
    const uint32_t* row = bodies->rows + 4 * (size_t)bodies->hulls[body];
    clv_hull hull = { .vertex_count = row[1] };
    hull.vertices = (clv_vec3*)(void*)( bodies->vertices + 3 * (size_t)row[0] );
    memcpy( &hull.radius, &row[2], sizeof( hull.radius ) );
    return hull;
}

narrow_contact clv_gpu_host_contact(
    const gpu_bodies* bodies, const double* poses, uint32_t a, uint32_t b, clv_pair_cache* cache )
{
    clv_hull hull_a = hull_of( bodies, a ), hull_b = hull_of( bodies, b );
    narrow_core core_a = core_of( &hull_a, poses, a ), core_b = core_of( &hull_b, poses, b );
    narrow_contact contact;
    clv_narrow_find_contact( &core_a, 0.0, &core_b, 0.0, cache, &contact );
    return contact;
}

void clv_gpu_host_numbers( const narrow_contact* contact, double numbers[GPU_CONTACT_DOUBLES] )
{
    memcpy( numbers, &contact->normal, 3 * sizeof( double ) );
    numbers[3] = contact->depth;
    memcpy( numbers + 4, &contact->point_a, 3 * sizeof( double ) );
    memcpy( numbers + 7, &contact->point_b, 3 * sizeof( double ) );
}

static void finish_on_host( const clv_gpu* gpu, contact_piece* piece, uint32_t i )
{
    uint32_t* fact = piece->facts + (size_t)i * FACT_WORDS;
    CLV_ASSERT( piece->poses != NULL && i < piece->count );
    base_fp_mode mode = base_fp_enter();
    narrow_contact found = clv_gpu_host_contact(
        gpu_bodies_of( gpu ), piece->poses, piece->pairs[i].a, piece->pairs[i].b, NULL );
    clv_gpu_host_numbers( &found, piece->numbers + (size_t)i * GPU_CONTACT_DOUBLES );
    base_fp_leave( mode );
    fact[0] = ( found.touching ? TOUCHING : 0u ) | ( found.converged ? CONVERGED : 0u );
    fact[1] = found.gjk_round_count;
    fact[2] = found.epa_round_count;
}

static clv_vec3 narrow( const double* from )
{
    clv_vec3 v = { (float)from[0], (float)from[1], (float)from[2] };
    return v;
}

static void tell_contact( const contact_piece* piece, uint32_t i, clv_contact* contact )
{
    const uint32_t* fact = piece->facts + (size_t)i * FACT_WORDS;
    const double* numbers = piece->numbers + (size_t)i * GPU_CONTACT_DOUBLES;
    *contact = ( clv_contact ){ .touching = ( fact[0] & TOUCHING ) != 0, .gjk_round_count = fact[1] };
    if ( contact->touching )
    {
        contact->converged = ( fact[0] & CONVERGED ) != 0;
        contact->normal = narrow( numbers );
        contact->depth = (float)numbers[3];
        contact->point_a = narrow( numbers + 4 );
        contact->point_b = narrow( numbers + 7 );
        contact->epa_round_count = fact[2];
    }
}

static clv_result solve_piece( clv_gpu* gpu, contact_piece* piece, clv_contact* contacts )
{
    clv_result result = search_piece( gpu, piece );
    for ( uint32_t i = 0; i < piece->count && result == CLV_OK; ++i )
    {
        if ( ( piece->facts[(size_t)i * FACT_WORDS] & UNDECIDED ) != 0 )
        {
            result = piece->poses == NULL ? read_poses( gpu, piece ) : CLV_OK;
            if ( result == CLV_OK )
            {
                finish_on_host( gpu, piece, i );
                gpu_bodies_of( gpu )->finished_count += 1;
            }
        }
    }
    if ( result == CLV_OK )
    {
        base_fp_mode mode = base_fp_enter();
        for ( uint32_t i = 0; i < piece->count; ++i )
        {
            tell_contact( piece, i, &contacts[i] );
        }
        base_fp_settle( contacts );
        base_fp_leave( mode );
    }
    return result;
}

static clv_result find_contacts( clv_gpu* gpu, const clv_pair* pairs, uint32_t count, clv_contact* contacts )
{
    contact_piece piece = { 0 };
    uint64_t room = count < PIECE ? count : PIECE;
    uint32_t* facts = clv_base_memory_take( &gpu->memory, room, FACT_WORDS * sizeof( uint32_t ) );
    double* numbers = clv_base_memory_take( &gpu->memory, room, GPU_CONTACT_DOUBLES * sizeof( double ) );
    clv_result result = facts == NULL || numbers == NULL
        ? clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "no memory for %u contacts", count )
        : CLV_OK;
    for ( uint32_t first = 0; first < count && result == CLV_OK; first += piece.count )
    {
        piece.pairs = pairs + first;
        piece.count = count - first < PIECE ? count - first : PIECE;
        piece.facts = facts;
        piece.numbers = numbers;
        result = solve_piece( gpu, &piece, contacts + first );
    }
    clv_base_memory_give( &gpu->memory, facts, room, FACT_WORDS * sizeof( uint32_t ) );
    clv_base_memory_give( &gpu->memory, numbers, room, GPU_CONTACT_DOUBLES * sizeof( double ) );
    clv_base_memory_give(
        &gpu->memory, piece.poses, gpu_bodies_of( gpu )->body_count, GPU_POSE_DOUBLES * sizeof( double ) );
    return result;
}

clv_result clv_gpu_find_contacts( clv_gpu* gpu, const clv_pair* pairs, uint32_t count, clv_contact* contacts )
{
    CLV_ASSERT( gpu != NULL && ( ( pairs != NULL && contacts != NULL ) || count == 0 ) );
    gpu->error[0] = '\0';
    clv_result result = check_pairs( gpu, pairs, count );
    if ( result != CLV_OK || count == 0 )
    {
        return result;
    }
    result = find_contacts( gpu, pairs, count, contacts );
    return result == CLV_OK ? result : clv_gpu_end_failed( gpu, result );
}
