// SPDX-License-Identifier: MIT
#include "gpu_body_calls.h"

#include "base/fp_mode.h"
#include "dop.h"

#include <string.h>

uint64_t gpu_test_finished_count;

// ---- volumes

static double* take_poses( clv_gpu* gpu )
{
    return clv_base_memory_take(
        &gpu->memory, gpu_bodies_of( gpu )->body_count, POSE_DOUBLES * sizeof( double ) );
}

static void give_poses( clv_gpu* gpu, double* poses )
{
    clv_base_memory_give(
        &gpu->memory, poses, gpu_bodies_of( gpu )->body_count, POSE_DOUBLES * sizeof( double ) );
}

static clv_result send_poses( clv_gpu* gpu, const clv_transform* at )
{
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    double* poses = take_poses( gpu );
    if ( poses == NULL )
    {
        return clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "no memory for poses" );
    }
    base_fp_mode mode = base_fp_enter();
    for ( uint32_t i = 0; i < bodies->body_count; ++i )
    {
        math_pose pose = math_pose_widen( at[i] );
        memcpy( poses + (size_t)i * POSE_DOUBLES, pose.rotation.m, sizeof( pose.rotation.m ) );
        memcpy( poses + (size_t)i * POSE_DOUBLES + 9, &pose.position, sizeof( pose.position ) );
    }
    base_fp_leave( mode );
    bodies->owner = NULL;
    clv_result result = clv_gpu_send(
        gpu, &bodies->on.poses, poses, (uint64_t)bodies->body_count * POSE_DOUBLES * sizeof( double ) );
    give_poses( gpu, poses );
    return result;
}

clv_result gpu_test_update_bodies( clv_gpu* gpu, clv_volume_kind volume, const clv_transform* at )
{
    gpu->error[0] = '\0';
    if ( clv_gpu_bodies_open( gpu ) == NULL )
    {
        return CLV_OUT_OF_MEMORY;
    }
    clv_result result = clv_gpu_check_transforms( gpu, at, "gpu_test_update_bodies" );
    if ( result != CLV_OK )
    {
        return result;
    }
    result = clv_gpu_open( gpu );
    if ( result != CLV_OK )
    {
        return result;
    }
    result = clv_gpu_bodies_send( gpu );
    if ( result == CLV_OK && gpu_bodies_of( gpu )->body_count > 0 )
    {
        result = send_poses( gpu, at );
        GPU_THEN( result, clv_gpu_volumes_build( gpu, volume ) );
        GPU_THEN( result, clv_gpu_volumes_axis( gpu, gpu->def.axis_frames ) );
    }
    return result == CLV_OK ? clv_gpu_volumes_search( gpu ) : clv_gpu_end_failed( gpu, result );
}

clv_result gpu_test_read_volumes( clv_gpu* gpu, void* volumes )
{
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    if ( bodies == NULL || bodies->body_count == 0 )
    {
        return CLV_OK;
    }
    if ( !bodies->has_volumes )
    {
        return CLV_BAD_ARGUMENT;
    }
    size_t bytes = bodies->body_count * clv_volume_bytes( bodies->kind );
    clv_result result = clv_gpu_read( gpu, bodies->on.volumes.memory, 0, volumes, bytes );
    return result == CLV_OK ? result : clv_gpu_end_failed( gpu, result );
}

// ---- contacts

// One level of a frame, which has these pairs: words of the host, in one block.
typedef struct contact_words
{
    uint32_t *records, *tasks, *states, *marks;
    double *numbers, *depths;
    uint32_t counts[COUNT_WORDS];
} contact_words;

static clv_result search( clv_gpu* gpu, const contact_words* w, uint32_t count )
{
    gpu_bodies* b = gpu_bodies_of( gpu );
    uint64_t n = count;
    uint32_t first = 0;
    uint32_t stride = clv_gpu_contact_stride( gpu, n );
    uint32_t room = ( b->polytope_room > 0 ? b->polytope_room : GPU_POLYTOPE_ROOM ) << 24;
    uint64_t number_bytes = n * CONTACT_DOUBLES * sizeof( double );
    clv_result result =
        clv_gpu_send( gpu, &b->on.records, w->records, n * RECORD_WORDS * sizeof( uint32_t ) );
    GPU_THEN( result, clv_gpu_send( gpu, &b->on.tasks, w->tasks, n * sizeof( uint32_t ) ) );
    GPU_THEN( result, clv_gpu_send( gpu, &b->on.states, w->states, n * sizeof( uint32_t ) ) );
    GPU_THEN( result, clv_gpu_send( gpu, &b->on.depths, w->depths, n * sizeof( double ) ) );
    GPU_THEN( result, clv_gpu_send( gpu, &b->on.contact_numbers, w->numbers, number_bytes ) );
    GPU_THEN( result, clv_gpu_send( gpu, &b->on.tallies, w->counts, sizeof( w->counts ) ) );
    GPU_THEN( result,
        clv_gpu_send(
            gpu, &b->on.marks, w->marks, (uint64_t)b->body_count * MARK_WORDS * sizeof( uint32_t ) ) );
    GPU_THEN( result,
        GPU_LAUNCH( gpu, GPU_KERNEL_sim_narrow, n * stride, b->on.poses, b->on.hulls, b->on.rows,
            b->on.vertices, b->on.tasks, first, count, stride, count, b->on.records, b->on.marks, room,
            b->on.states, b->on.contact_numbers, b->on.depths, b->on.tallies ) );
    GPU_THEN(
        result, clv_gpu_read( gpu, b->on.states.memory, 0, w->states, (size_t)n * sizeof( uint32_t ) ) );
    GPU_THEN( result,
        clv_gpu_read(
            gpu, b->on.records.memory, 0, w->records, (size_t)n * RECORD_WORDS * sizeof( uint32_t ) ) );
    GPU_THEN(
        result, clv_gpu_read( gpu, b->on.contact_numbers.memory, 0, w->numbers, (size_t)number_bytes ) );
    return result;
}

static void finish_on_host(
    const gpu_bodies* bodies, const double* poses, const contact_words* w, uint32_t pair )
{
    uint32_t* record = w->records + (size_t)pair * RECORD_WORDS;
    narrow_contact found = clv_gpu_host_contact( bodies, poses, record[0], record[1], NULL );
    clv_gpu_host_numbers( &found, w->numbers + (size_t)pair * CONTACT_DOUBLES );
    record[RECORD_BITS] = found.touching ? RECORD_HIT : 0;
    w->states[pair] = found.touching && found.converged ? STATE_MATCH : STATE_DONE;
    gpu_test_finished_count += 1;
}

static clv_contact contact_of( const contact_words* w, uint32_t pair )
{
    const double* from = w->numbers + (size_t)pair * CONTACT_DOUBLES;
    uint32_t bits = w->records[(size_t)pair * RECORD_WORDS + RECORD_BITS];
    clv_contact contact = { .touching = ( bits & RECORD_HIT ) != 0,
        .converged = w->states[pair] == STATE_MATCH };
    if ( contact.converged )
    {
        contact.normal = ( clv_vec3 ){ (float)from[0], (float)from[1], (float)from[2] };
        contact.depth = (float)from[3];
        contact.point_a = ( clv_vec3 ){ (float)from[4], (float)from[5], (float)from[6] };
        contact.point_b = ( clv_vec3 ){ (float)from[7], (float)from[8], (float)from[9] };
    }
    return contact;
}

static clv_result tell( clv_gpu* gpu, const contact_words* w, uint32_t count, clv_contact* contacts )
{
    const gpu_bodies* bodies = gpu_bodies_of( gpu );
    double* poses = take_poses( gpu );
    if ( poses == NULL )
    {
        return clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "no memory for poses" );
    }
    clv_result result = clv_gpu_read(
        gpu, bodies->on.poses.memory, 0, poses, bodies->body_count * POSE_DOUBLES * sizeof( double ) );
    base_fp_mode mode = base_fp_enter();
    for ( uint32_t i = 0; i < count && result == CLV_OK; ++i )
    {
        if ( w->states[i] == STATE_UNDECIDED )
        {
            finish_on_host( bodies, poses, w, i );
        }
        contacts[i] = contact_of( w, i );
    }
    base_fp_leave( mode );
    give_poses( gpu, poses );
    return result;
}

clv_result gpu_test_find_contacts(
    clv_gpu* gpu, const clv_pair* pairs, uint32_t count, clv_contact* contacts )
{
    uint64_t body_count = gpu_bodies_of( gpu )->body_count;
    uint64_t double_count = ( CONTACT_DOUBLES + 1 ) * (uint64_t)count;
    uint64_t word_count = ( RECORD_WORDS + 2 ) * (uint64_t)count + MARK_WORDS * body_count;
    uint64_t bytes = double_count * sizeof( double ) + word_count * sizeof( uint32_t );
    double* block = clv_base_memory_take( &gpu->memory, bytes, 1 );
    if ( block == NULL )
    {
        return clv_gpu_end_failed( gpu, clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "no memory for contacts" ) );
    }
    memset( block, 0, (size_t)bytes );
    contact_words w = { .numbers = block, .depths = block + CONTACT_DOUBLES * (size_t)count };
    w.records = (uint32_t*)( block + double_count );
    w.tasks = w.records + RECORD_WORDS * (size_t)count;
    w.states = w.tasks + count;
    w.marks = w.states + count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        w.records[(size_t)i * RECORD_WORDS] = pairs[i].a;
        w.records[(size_t)i * RECORD_WORDS + 1] = pairs[i].b;
        w.tasks[i] = i;
    }
    clv_result result = search( gpu, &w, count );
    GPU_THEN( result, tell( gpu, &w, count, contacts ) );
    clv_base_memory_give( &gpu->memory, block, bytes, 1 );
    return result == CLV_OK ? result : clv_gpu_end_failed( gpu, result );
}
