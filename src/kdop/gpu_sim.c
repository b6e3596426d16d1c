// SPDX-License-Identifier: MIT
// The frame of "Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU" (COPPE 2021) on the device:
// free flight, vertices, volumes, axis, projection, sort, sweep, GJK + EPA and shape matching;
// kernels/volume.cl, narrow.cl and match.cl. The host puts pairs in the CPU's order and tells which responses
// may come at once (gpu_schedule.h), so that bodies end where those of clv_shape_sim do, bit for bit. After a
// good frame the host has a copy of all bodies: a device that fails costs a frame, no more.
#include "gpu_bodies.h"
#include "gpu_schedule.h"
#include "solid/solid_match.h"

#include "base/assertion.h"
#include "base/fp_mode.h"
#include "base/radix_sort.h"

enum
{
    SUMS = 4,
    FIRST_AXIS = 1,
};

// Bodies as a frame leaves them.
typedef struct sim_bodies
{
    double* poses;
    double* motions;
    uint32_t* marks;
} sim_bodies;

struct clv_gpu_sim
{
    clv_gpu* gpu;
    clv_shape_sim_def def;
    uint32_t count;
    uint64_t bodies_number; ///< of the gpu's bodies when this was made

    uint32_t axis, until_axis; ///< of the sweep; other updates of the gpu have theirs
    sim_bodies now, next;      ///< `next` is what a frame brings back before it is believed
    uint32_t* reaches;

    BASE_ARRAY( clv_pair ) pairs; ///< two halves, for the sort
    const clv_pair* sorted;
    uint32_t pair_count;
    base_u32_array records, states;
    BASE_ARRAY( double ) depths;
    gpu_schedule schedule;

    clv_shape_sim_stats stats;
    uint64_t finished_count; ///< pairs the host finished, all frames
    gpu_spans spans;
};

// ---- defs

static const char* why_unsupported( const clv_shape_sim_def* def )
{
    return def->volume != CLV_VOLUME_AABB && def->volume != CLV_VOLUME_DOP18 &&
            def->volume != CLV_VOLUME_SPHERE
        ? "volumes on a device are boxes, 18-DOPs or spheres"
        : def->match != CLV_MATCH_RIGID     ? "bodies on a device are rigid"
        : def->support == CLV_SUPPORT_CLIMB ? "a device looks at every vertex, it does not climb"
                                            : NULL;
}

// ---- life

static bool take_copy( base_memory* memory, sim_bodies* bodies, uint64_t count )
{
    bodies->poses = clv_base_memory_take( memory, count, POSE_DOUBLES * sizeof( double ) );
    bodies->motions = clv_base_memory_take( memory, count, MOTION_DOUBLES * sizeof( double ) );
    bodies->marks = clv_base_memory_take( memory, count, MARK_WORDS * sizeof( uint32_t ) );
    return bodies->poses != NULL && bodies->motions != NULL && bodies->marks != NULL;
}

static void give_copy( base_memory* memory, sim_bodies* bodies, uint64_t count )
{
    clv_base_memory_give( memory, bodies->poses, count, POSE_DOUBLES * sizeof( double ) );
    clv_base_memory_give( memory, bodies->motions, count, MOTION_DOUBLES * sizeof( double ) );
    clv_base_memory_give( memory, bodies->marks, count, MARK_WORDS * sizeof( uint32_t ) );
}

static void place_at_rest( clv_gpu_sim* sim, const clv_transform* at )
{
    CLV_ASSERT( sim->count == gpu_bodies_of( sim->gpu )->body_count );
    memset( sim->now.motions, 0, sim->count * MOTION_DOUBLES * sizeof( double ) );
    memset( sim->now.marks, 0, sim->count * MARK_WORDS * sizeof( uint32_t ) );
    for ( uint32_t i = 0; i < sim->count; ++i )
    {
        math_pose pose = math_pose_widen( at[i] );
        double* to = sim->now.poses + (size_t)i * POSE_DOUBLES;
        memcpy( to, pose.rotation.m, sizeof( pose.rotation.m ) );
        memcpy( to + 9, &pose.position, sizeof( pose.position ) );
    }
}

static clv_result create(
    clv_gpu* gpu, const clv_shape_sim_def* def, const clv_transform* at, clv_gpu_sim** sim )
{
    const char* wrong = clv_shape_sim_why_bad( def );
    if ( wrong != NULL )
    {
        return clv_gpu_fail( gpu, CLV_BAD_DEF, "clv_gpu_sim_create: %s", wrong );
    }
    if ( why_unsupported( def ) != NULL )
    {
        return clv_gpu_fail( gpu, CLV_UNSUPPORTED, "clv_gpu_sim_create: %s", why_unsupported( def ) );
    }
    clv_result result = clv_gpu_check_transforms( gpu, at, "clv_gpu_sim_create" );
    if ( result != CLV_OK )
    {
        return result;
    }
    clv_gpu_sim* made = clv_base_memory_take( &gpu->memory, 1, sizeof( clv_gpu_sim ) );
    if ( made == NULL )
    {
        return clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "clv_gpu_sim_create: out of memory" );
    }
    memset( made, 0, sizeof( *made ) );
    made->gpu = gpu;
    made->def = *def;
    made->count = gpu_bodies_of( gpu )->body_count;
    made->bodies_number = gpu_bodies_of( gpu )->number;
    made->reaches = clv_base_memory_take( &gpu->memory, made->count, sizeof( uint32_t ) );
    bool has_room = take_copy( &gpu->memory, &made->now, made->count ) &&
        take_copy( &gpu->memory, &made->next, made->count ) && made->reaches != NULL;
    if ( !has_room && made->count > 0 )
    {
        clv_gpu_sim_destroy( made );
        return clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "clv_gpu_sim_create: no memory for %u bodies",
            gpu_bodies_of( gpu )->body_count );
    }
    place_at_rest( made, at );
    made->axis = FIRST_AXIS;
    *sim = made;
    return CLV_OK;
}

clv_result clv_gpu_sim_create(
    clv_gpu* gpu, const clv_shape_sim_def* def, const clv_transform* at, clv_gpu_sim** sim )
{
    CLV_ASSERT( gpu != NULL && def != NULL && sim != NULL );
    *sim = NULL;
    gpu->error[0] = '\0';
    if ( clv_gpu_bodies_open( gpu ) == NULL )
    {
        return CLV_OUT_OF_MEMORY;
    }
    CLV_ASSERT( at != NULL || gpu_bodies_of( gpu )->body_count == 0 );
    base_fp_mode mode = base_fp_enter();
    clv_result result = create( gpu, def, at, sim );
    base_fp_leave( mode );
    return result;
}

void clv_gpu_sim_destroy( clv_gpu_sim* sim )
{
    if ( sim == NULL )
    {
        return;
    }
    base_memory* memory = &sim->gpu->memory;
    if ( gpu_bodies_of( sim->gpu )->owner == sim )
    {
        gpu_bodies_of( sim->gpu )->owner = NULL;
    }
    give_copy( memory, &sim->now, sim->count );
    give_copy( memory, &sim->next, sim->count );
    clv_base_memory_give( memory, sim->reaches, sim->count, sizeof( uint32_t ) );
    base_array_free( &sim->pairs, memory );
    base_array_free( &sim->records, memory );
    base_array_free( &sim->states, memory );
    base_array_free( &sim->depths, memory );
    clv_gpu_schedule_free( &sim->schedule, memory );
    clv_gpu_spans_free( sim->gpu, &sim->spans );
    clv_base_memory_give( memory, sim, 1, sizeof( clv_gpu_sim ) );
}

// ---- bodies to the device and back

static clv_result send_rests( clv_gpu_sim* sim )
{
    clv_gpu* gpu = sim->gpu;
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    uint64_t bytes = (uint64_t)bodies->hull_count * REST_DOUBLES * sizeof( double );
    double* rests = clv_base_memory_take( &gpu->memory, bodies->hull_count, REST_DOUBLES * sizeof( double ) );
    if ( rests == NULL )
    {
        return clv_gpu_fail(
            gpu, CLV_OUT_OF_MEMORY, "no memory for the rest shapes of %u hulls", bodies->hull_count );
    }
    for ( uint32_t i = 0; i < bodies->hull_count; ++i )
    {
        const uint32_t* row = bodies->rows + 4 * (size_t)i;
        CLV_ASSERT( row[0] + row[1] <= bodies->vertex_count );
        sim_rest_shape rest = sim_rest_shape_make( bodies->vertices + 3 * (size_t)row[0], row[1] );
        double* to = rests + (size_t)i * REST_DOUBLES; // as kernels/match.cl has it
        memset( to, 0, REST_DOUBLES * sizeof( double ) );
        memcpy( to, &rest.mean, sizeof( rest.mean ) );
        memcpy( to + 3, rest.axes.m, sizeof( rest.axes.m ) );
        to[12] = rest.rank;
    }
    clv_result result = clv_gpu_send( gpu, &bodies->on.rests, rests, bytes );
    clv_base_memory_give( &gpu->memory, rests, bodies->hull_count, REST_DOUBLES * sizeof( double ) );
    return result;
}

// Everything, where the device was used otherwise or failed.
static clv_result send_bodies( clv_gpu_sim* sim )
{
    clv_gpu* gpu = sim->gpu;
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    uint64_t n = sim->count;
    CLV_ASSERT( n > 0 && sim->bodies_number == bodies->number );
    clv_result result = clv_gpu_bodies_send( gpu );
    if ( result != CLV_OK || bodies->owner == sim )
    {
        return result;
    }
    result = send_rests( sim );
    GPU_THEN(
        result, clv_gpu_send( gpu, &bodies->on.poses, sim->now.poses, n * POSE_DOUBLES * sizeof( double ) ) );
    GPU_THEN( result,
        clv_gpu_send( gpu, &bodies->on.motions, sim->now.motions, n * MOTION_DOUBLES * sizeof( double ) ) );
    GPU_THEN(
        result, clv_gpu_send( gpu, &bodies->on.marks, sim->now.marks, n * MARK_WORDS * sizeof( uint32_t ) ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &bodies->on.reaches, n * sizeof( uint32_t ) ) );
    bodies->owner = result == CLV_OK ? sim : NULL;
    return result;
}

static clv_result bring_bodies( clv_gpu_sim* sim )
{
    clv_gpu* gpu = sim->gpu;
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    size_t n = sim->count;
    CLV_ASSERT( bodies->owner == sim );
    CLV_ASSERT( gpu_holds( &bodies->on.poses, n, POSE_DOUBLES * sizeof( double ) ) );
    CLV_ASSERT( gpu_holds( &bodies->on.motions, n, MOTION_DOUBLES * sizeof( double ) ) );
    clv_result result =
        clv_gpu_read( gpu, bodies->on.poses.memory, 0, sim->next.poses, n * POSE_DOUBLES * sizeof( double ) );
    GPU_THEN( result,
        clv_gpu_read(
            gpu, bodies->on.motions.memory, 0, sim->next.motions, n * MOTION_DOUBLES * sizeof( double ) ) );
    GPU_THEN( result,
        clv_gpu_read(
            gpu, bodies->on.marks.memory, 0, sim->next.marks, n * MARK_WORDS * sizeof( uint32_t ) ) );
    return result;
}

// ---- candidates

static double gravity_of( const clv_gpu_sim* sim )
{
    return -(double)sim->def.gravity * (double)sim->def.speed;
}

static clv_result move_freely( clv_gpu_sim* sim )
{
    gpu_bodies* bodies = gpu_bodies_of( sim->gpu );
    uint32_t how = (uint32_t)sim->def.integrator;
    double gravity = gravity_of( sim );
    double damping = (double)sim->def.damping;
    CLV_ASSERT(
        bodies->owner == sim && gpu_holds( &bodies->on.marks, sim->count, MARK_WORDS * sizeof( uint32_t ) ) );
    return GPU_LAUNCH( sim->gpu, GPU_KERNEL_sim_integrate, sim->count, bodies->on.poses, bodies->on.motions,
        bodies->on.marks, sim->count, how, gravity, damping );
}

static clv_result find_floor( clv_gpu_sim* sim )
{
    gpu_bodies* bodies = gpu_bodies_of( sim->gpu );
    uint32_t kind = (uint32_t)sim->def.volume;
    return sim->def.has_floor ? GPU_LAUNCH( sim->gpu, GPU_KERNEL_sim_floor, sim->count, bodies->on.volumes,
                                    kind, sim->count, bodies->on.reaches )
                              : CLV_OK;
}

// The schedule and the host's contacts look bodies up by these numbers.
static clv_result check_found( clv_gpu_sim* sim, const clv_pair* found, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        if ( found[i].a >= sim->count || found[i].b >= sim->count )
        {
            return clv_gpu_fail( sim->gpu, CLV_DEVICE_FAILED,
                "%s found a pair of bodies %u and %u, and there are %u", sim->gpu->device->facts.name,
                found[i].a, found[i].b, sim->count );
        }
    }
    return CLV_OK;
}

static clv_result bring_pairs( clv_gpu_sim* sim )
{
    clv_gpu* gpu = sim->gpu;
    const clv_pair* found = NULL;
    uint64_t count = clv_gpu_pair_count( gpu );
    if ( count > UINT32_MAX / 64 - sim->count || ( count > 0 && clv_gpu_pair_buffer( gpu ) == NULL ) )
    {
        return clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "%llu pairs are more than a simulation's frame takes",
            (unsigned long long)count );
    }
    if ( !base_array_renew( &sim->pairs, &gpu->memory, 2 * count + 1 ) )
    {
        return clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "no memory for %llu pairs", (unsigned long long)count );
    }
    clv_result result = count > 0 ? clv_gpu_download( gpu, &found ) : CLV_OK;
    GPU_THEN( result, check_found( sim, found, count ) );
    sim->pair_count = (uint32_t)count;
    sim->sorted = sim->pairs.items;
    if ( result == CLV_OK && count > 0 )
    {
        memcpy( sim->pairs.items, found, (size_t)count * sizeof( clv_pair ) );
        sim->sorted = clv_base_sort_pairs( sim->pairs.items, sim->pairs.items + count, count, sim->count );
    }
    return result;
}

static clv_result find_candidates( clv_gpu_sim* sim )
{
    clv_gpu* gpu = sim->gpu;
    clv_result result = move_freely( sim );
    GPU_THEN( result, clv_gpu_volumes_build( gpu, sim->def.volume ) );
    GPU_THEN( result, clv_gpu_volumes_axis( gpu, sim->def.pca_period ) );
    GPU_THEN( result, find_floor( sim ) );
    GPU_THEN( result, clv_gpu_volumes_search( gpu ) );
    GPU_THEN( result, bring_pairs( sim ) );
    return result == CLV_OK && sim->def.has_floor
        ? clv_gpu_read(
              gpu, gpu_bodies_of( gpu )->on.reaches.memory, 0, sim->reaches, sim->count * sizeof( uint32_t ) )
        : result;
}

// ---- the frame's tasks

static void fill_records( clv_gpu_sim* sim )
{
    uint64_t task_end = (uint64_t)sim->pair_count + sim->count;
    CLV_ASSERT( (uint64_t)sim->pair_count * RECORD_WORDS <= sim->records.capacity );
    CLV_ASSERT( task_end <= sim->depths.capacity && task_end <= sim->states.capacity );
    memset( sim->records.items, 0, (size_t)sim->pair_count * RECORD_WORDS * sizeof( uint32_t ) );
    for ( uint32_t i = 0; i < sim->pair_count; ++i )
    {
        sim->records.items[(size_t)i * RECORD_WORDS] = sim->sorted[i].a;
        sim->records.items[(size_t)i * RECORD_WORDS + 1] = sim->sorted[i].b;
    }
    for ( uint64_t i = 0; i < task_end; ++i )
    {
        sim->depths.items[i] = -1.0;
    }
}

// Does not wait: what is at `data` stays as it is until the frame's end, which waits.
static clv_result hand_over( clv_gpu* gpu, gpu_buffer* buffer, const void* data, uint64_t bytes )
{
    clv_result result = clv_gpu_reserve( gpu, buffer, bytes );
    return result == CLV_OK && bytes > 0 ? clv_gpu_write( gpu, buffer->memory, 0, data, (size_t)bytes, false )
                                         : result;
}

static clv_result send_tasks( clv_gpu_sim* sim )
{
    static const uint32_t s_zeros[COUNT_WORDS];
    clv_gpu* gpu = sim->gpu;
    gpu_bodies* b = gpu_bodies_of( gpu );
    uint64_t ends = (uint64_t)sim->pair_count + sim->count;
    uint64_t record_bytes = (uint64_t)sim->pair_count * RECORD_WORDS * sizeof( uint32_t );
    clv_result result = hand_over( gpu, &b->on.records, sim->records.items, record_bytes );
    GPU_THEN( result, hand_over( gpu, &b->on.depths, sim->depths.items, ends * sizeof( double ) ) );
    GPU_THEN( result,
        hand_over(
            gpu, &b->on.tasks, sim->schedule.tasks.items, sim->schedule.tasks.count * sizeof( uint32_t ) ) );
    GPU_THEN( result, hand_over( gpu, &b->on.tallies, s_zeros, sizeof( s_zeros ) ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->on.states, ends * sizeof( uint32_t ) ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->on.sums, SUMS * sizeof( double ) ) );
    GPU_THEN(
        result, clv_gpu_reserve( gpu, &b->on.contact_numbers, ends * CONTACT_DOUBLES * sizeof( double ) ) );
    return result;
}

static clv_result make_tasks( clv_gpu_sim* sim )
{
    base_memory* memory = &sim->gpu->memory;
    uint64_t ends = (uint64_t)sim->pair_count + sim->count;
    const gpu_schedule_input input = { sim->sorted, sim->pair_count, sim->def.has_floor ? sim->reaches : NULL,
        sim->count, sim->def.round_count };
    if ( !base_array_renew( &sim->records, memory, (uint64_t)sim->pair_count * RECORD_WORDS + 1 ) ||
        !base_array_renew( &sim->states, memory, ends + 1 ) ||
        !base_array_renew( &sim->depths, memory, ends + 1 ) ||
        !clv_gpu_schedule_make( &sim->schedule, memory, &input ) )
    {
        return clv_gpu_fail(
            sim->gpu, CLV_OUT_OF_MEMORY, "no memory for the tasks of %u pairs", sim->pair_count );
    }
    CLV_VALIDATE( clv_gpu_schedule_check( &sim->schedule, &input ) == NULL );
    fill_records( sim );
    return send_tasks( sim );
}

// ---- levels

static clv_result narrow_level( clv_gpu_sim* sim, uint32_t level, uint32_t first, uint32_t end )
{
    clv_gpu* gpu = sim->gpu;
    gpu_bodies* b = gpu_bodies_of( gpu );
    uint32_t stride = clv_gpu_contact_stride( gpu, end - first );
    uint32_t room =
        gpu_bodies_of( gpu )->polytope_room > 0 ? gpu_bodies_of( gpu )->polytope_room : GPU_POLYTOPE_ROOM;
    uint32_t room_and_level = room << 24 | level;
    CLV_ASSERT( room < 256 && level < 1u << 24 ); // both in one word
    CLV_ASSERT( first <= end && gpu_holds( &b->on.tasks, end, sizeof( uint32_t ) ) );
    CLV_ASSERT( gpu_holds( &b->on.states, (uint64_t)sim->pair_count + sim->count, sizeof( uint32_t ) ) );
    CLV_ASSERT( gpu_holds( &b->on.contact_numbers, (uint64_t)sim->pair_count + sim->count,
        CONTACT_DOUBLES * sizeof( double ) ) );
    return GPU_LAUNCH( gpu, GPU_KERNEL_sim_narrow, (uint64_t)( end - first ) * stride, b->on.poses,
        b->on.hulls, b->on.rows, b->on.vertices, b->on.tasks, first, end, stride, sim->pair_count,
        b->on.records, b->on.marks, room_and_level, b->on.states, b->on.contact_numbers, b->on.depths,
        b->on.tallies );
}

static clv_result match_level( clv_gpu_sim* sim, uint32_t level, uint32_t first, uint32_t end )
{
    clv_gpu* gpu = sim->gpu;
    gpu_bodies* b = gpu_bodies_of( gpu );
    return GPU_LAUNCH( gpu, GPU_KERNEL_sim_match, 2 * (uint64_t)( end - first ), b->on.poses, b->on.hulls,
        b->on.rows, b->on.vertices, b->on.rests, b->on.tasks, first, end, sim->pair_count, b->on.records,
        b->on.marks, b->on.motions, b->on.states, b->on.contact_numbers, b->on.tallies, level );
}

static clv_result run_levels( clv_gpu_sim* sim, uint32_t first_level )
{
    const uint32_t* starts = sim->schedule.starts.items;
    CLV_ASSERT( starts[0] == 0 && starts[sim->schedule.level_count] == sim->schedule.tasks.count );
    clv_result result = CLV_OK;
    for ( uint32_t level = first_level; level < sim->schedule.level_count && result == CLV_OK; ++level )
    {
        result = narrow_level( sim, level, starts[level], starts[level + 1] );
        GPU_THEN( result, match_level( sim, level, starts[level], starts[level + 1] ) );
    }
    return result;
}

// ---- what the device left undecided

// As sim_narrow does it, with more room. `counts` are the frame's.
static void finish_pair( clv_gpu_sim* sim, uint32_t pair, bool is_last, double* numbers, uint32_t* counts )
{
    const gpu_bodies* bodies = gpu_bodies_of( sim->gpu );
    uint32_t* record = sim->records.items + (size_t)pair * RECORD_WORDS;
    clv_pair_cache cache;
    memcpy( &cache, record + RECORD_CACHE, sizeof( cache ) );
    narrow_contact found = clv_gpu_host_contact( bodies, sim->next.poses, record[0], record[1], &cache );
    memcpy( record + RECORD_CACHE, &cache, sizeof( cache ) );
    record[RECORD_MOVES_A] = sim->next.marks[(size_t)record[0] * MARK_WORDS];
    record[RECORD_MOVES_B] = sim->next.marks[(size_t)record[1] * MARK_WORDS];
    counts[COUNT_HITS] += ( record[RECORD_BITS] & RECORD_HIT ) == 0 ? 1 : 0;
    record[RECORD_BITS] = RECORD_HIT; // they touch, or EPA would not have been asked
    if ( !found.converged )
    {
        counts[COUNT_UNCONVERGED] += 1;
        return;
    }
    clv_gpu_host_numbers( &found, numbers );
    sim->states.items[pair] = STATE_MATCH;
    if ( is_last )
    {
        sim->depths.items[pair] = found.depth;
    }
}

// Those of one level, one by one: they are few. Each is told to the device; what others of the level left is
// not touched.
static clv_result finish_tasks( clv_gpu_sim* sim, uint32_t level, uint32_t* counts )
{
    clv_gpu* gpu = sim->gpu;
    gpu_bodies* b = gpu_bodies_of( gpu );
    clv_result result = CLV_OK;
    for ( uint32_t at = sim->schedule.starts.items[level];
          at < sim->schedule.starts.items[level + 1] && result == CLV_OK; ++at )
    {
        uint32_t task = sim->schedule.tasks.items[at] & ~TASK_LAST;
        bool is_last = ( sim->schedule.tasks.items[at] & TASK_LAST ) != 0;
        bool is_open = sim->states.items[task] == STATE_UNDECIDED;
        double numbers[CONTACT_DOUBLES] = { 0 };
        sim->states.items[task] = STATE_DONE;
        if ( is_open )
        {
            base_fp_mode mode = base_fp_enter();
            finish_pair( sim, task, is_last, numbers, counts );
            base_fp_leave( mode );
            sim->finished_count += 1;
            result = clv_gpu_write( gpu, b->on.contact_numbers.memory, (uint64_t)task * sizeof( numbers ),
                numbers, sizeof( numbers ), true );
            GPU_THEN( result,
                clv_gpu_write( gpu, b->on.records.memory, (uint64_t)task * RECORD_WORDS * sizeof( uint32_t ),
                    sim->records.items + (size_t)task * RECORD_WORDS, RECORD_WORDS * sizeof( uint32_t ),
                    true ) );
            result = result == CLV_OK && is_last
                ? clv_gpu_write( gpu, b->on.depths.memory, (uint64_t)task * sizeof( double ),
                      &sim->depths.items[task], sizeof( double ), true )
                : result;
        }
    }
    return result;
}

// The level that stopped the frame: its open pairs on the host, their responses on the device, and on.
static clv_result finish_level( clv_gpu_sim* sim, uint32_t* counts )
{
    clv_gpu* gpu = sim->gpu;
    gpu_bodies* b = gpu_bodies_of( gpu );
    uint32_t level = counts[COUNT_HALT] - 1;
    CLV_ASSERT( level < sim->schedule.level_count ); // separate_bodies refuses others
    uint32_t first = sim->schedule.starts.items[level];
    uint32_t end = sim->schedule.starts.items[level + 1];
    size_t ends = (size_t)sim->pair_count + sim->count;
    clv_result result = bring_bodies( sim );
    GPU_THEN(
        result, clv_gpu_read( gpu, b->on.states.memory, 0, sim->states.items, ends * sizeof( uint32_t ) ) );
    GPU_THEN( result,
        clv_gpu_read( gpu, b->on.records.memory, 0, sim->records.items,
            (size_t)sim->pair_count * RECORD_WORDS * sizeof( uint32_t ) ) );
    counts[COUNT_HALT] = 0;
    GPU_THEN( result, finish_tasks( sim, level, counts ) );
    GPU_THEN( result,
        clv_gpu_write( gpu, b->on.states.memory, 0, sim->states.items, ends * sizeof( uint32_t ), true ) );
    GPU_THEN( result,
        clv_gpu_write( gpu, b->on.tallies.memory, 0, counts, COUNT_WORDS * sizeof( uint32_t ), true ) );
    GPU_THEN( result, match_level( sim, level, first, end ) );
    return result == CLV_OK ? run_levels( sim, level + 1 ) : result;
}

static clv_result separate_bodies( clv_gpu_sim* sim )
{
    clv_gpu* gpu = sim->gpu;
    uint32_t counts[COUNT_WORDS] = { 0 };
    clv_result result = run_levels( sim, 0 );
    for ( ;; )
    {
        GPU_THEN( result,
            clv_gpu_read( gpu, gpu_bodies_of( gpu )->on.tallies.memory, 0, counts, sizeof( counts ) ) );
        if ( result != CLV_OK || counts[COUNT_HALT] == 0 )
        {
            return result;
        }
        if ( counts[COUNT_HALT] > sim->schedule.level_count )
        {
            return clv_gpu_fail( gpu, CLV_DEVICE_FAILED, "%s stopped at level %u of %u",
                gpu->device->facts.name, counts[COUNT_HALT], sim->schedule.level_count );
        }
        result = finish_level( sim, counts );
    }
}

// ---- a frame's end

static clv_result settle_bodies( clv_gpu_sim* sim )
{
    gpu_bodies* b = gpu_bodies_of( sim->gpu );
    uint32_t keeps_velocity = sim->def.after_contact == CLV_VELOCITY_KEPT ? 1 : 0;
    CLV_ASSERT( b->owner == sim );
    double share = (double)sim->def.damping * (double)sim->def.carry;
    double weight = -gravity_of( sim );
    clv_result result = GPU_LAUNCH( sim->gpu, GPU_KERNEL_sim_settle, sim->count, b->on.poses, b->on.motions,
        b->on.marks, sim->count, keeps_velocity, share, b->on.tallies );
    GPU_THEN( result,
        GPU_LAUNCH( sim->gpu, GPU_KERNEL_sim_count, 1, b->on.poses, b->on.motions, sim->count,
            sim->pair_count, b->on.depths, weight, b->on.tallies, b->on.sums ) );
    return result;
}

static void tell_counts( clv_gpu_sim* sim, const uint32_t* counts, const double* sums )
{
    clv_shape_sim_stats* stats = &sim->stats;
    uint64_t frame = stats->frame;
    *stats = ( clv_shape_sim_stats ){ .frame = frame + 1,
        .candidate_count = sim->pair_count,
        .hit_count = counts[COUNT_HITS],
        .floor_hit_count = counts[COUNT_FLOOR_HITS],
        .landed_count = counts[COUNT_LANDED],
        .unconverged_count = counts[COUNT_UNCONVERGED],
        .singular_count = counts[COUNT_SINGULAR],
        .diverged_count = counts[COUNT_DIVERGED],
        .drifted_count = counts[COUNT_DRIFTED],
        .unturned_count = counts[COUNT_UNTURNED],
        .kinetic_energy = sums[0],
        .potential_energy = sums[1],
        .deepest = sums[2],
        .mean_depth = counts[COUNT_DEPTHS] > 0 ? sums[3] / (double)counts[COUNT_DEPTHS] : 0.0,
        .axis = gpu_bodies_of( sim->gpu )->axis };
    for ( uint32_t i = 0; i < sim->count && sim->def.has_floor; ++i )
    {
        stats->floor_candidate_count += sim->reaches[i] != 0 ? 1 : 0;
    }
}

// The device's own times, by stage.
static void tell_times( clv_gpu_sim* sim )
{
    const double* ms = sim->spans.ms;
    clv_shape_sim_stats* s = &sim->stats;
    s->integrate_ms = ms[GPU_KERNEL_sim_integrate];
    s->volume_ms = ms[GPU_KERNEL_move_vertices] + ms[GPU_KERNEL_volume_aabbs] + ms[GPU_KERNEL_volume_dops] +
        ms[GPU_KERNEL_volume_spheres] + ms[GPU_KERNEL_sim_floor];
    s->axis_ms = ms[GPU_KERNEL_volume_moments];
    s->project_ms = ms[GPU_KERNEL_volume_keys];
    s->sort_ms = ms[GPU_KERNEL_sort_count] + ms[GPU_KERNEL_scan_sums] + ms[GPU_KERNEL_scan_add] +
        ms[GPU_KERNEL_sort_scatter];
    s->prune_ms = ms[GPU_KERNEL_volume_gather] + ms[GPU_KERNEL_volume_find];
    s->sweep_ms = s->axis_ms + s->project_ms + s->sort_ms + s->prune_ms;
    s->narrow_ms = ms[GPU_KERNEL_sim_narrow];
    s->match_ms = ms[GPU_KERNEL_sim_match] + ms[GPU_KERNEL_sim_settle];
}

static void swap_copies( clv_gpu_sim* sim )
{
    sim_bodies kept = sim->now;
    sim->now = sim->next;
    sim->next = kept;
}

static clv_result end_frame( clv_gpu_sim* sim )
{
    clv_gpu* gpu = sim->gpu;
    uint32_t counts[COUNT_WORDS] = { 0 };
    double sums[SUMS] = { 0 };
    clv_result result = settle_bodies( sim );
    GPU_THEN(
        result, clv_gpu_read( gpu, gpu_bodies_of( gpu )->on.tallies.memory, 0, counts, sizeof( counts ) ) );
    GPU_THEN( result, clv_gpu_read( gpu, gpu_bodies_of( gpu )->on.sums.memory, 0, sums, sizeof( sums ) ) );
    GPU_THEN( result, bring_bodies( sim ) );
    if ( result == CLV_OK )
    {
        swap_copies( sim );
        tell_counts( sim, counts, sums );
    }
    return result;
}

// ---- one frame

static clv_result run_frame( clv_gpu_sim* sim )
{
    clv_result result = send_bodies( sim );
    GPU_THEN( result, find_candidates( sim ) );
    GPU_THEN( result, make_tasks( sim ) );
    GPU_THEN( result, separate_bodies( sim ) );
    return result == CLV_OK ? end_frame( sim ) : result;
}

static clv_result step( clv_gpu_sim* sim )
{
    clv_gpu* gpu = sim->gpu;
    clv_result result = clv_gpu_open( gpu );
    if ( result != CLV_OK )
    {
        return result;
    }
    gpu->spans = sim->def.stage_times && gpu->def.times ? &sim->spans : NULL;
    gpu_bodies_of( gpu )->axis = sim->axis;
    gpu_bodies_of( gpu )->until_axis = sim->until_axis;
    result = run_frame( sim );
    clv_gpu_spans_take( gpu );
    gpu->spans = NULL;
    if ( result != CLV_OK )
    {
        gpu_bodies_of( gpu )->owner = NULL;
        return clv_gpu_end_failed( gpu, result );
    }
    sim->axis = gpu_bodies_of( gpu )->axis;
    sim->until_axis = gpu_bodies_of( gpu )->until_axis;
    if ( sim->def.stage_times && gpu->def.times )
    {
        tell_times( sim );
    }
    return result;
}

clv_result clv_gpu_sim_step( clv_gpu_sim* sim )
{
    CLV_ASSERT( sim != NULL );
    clv_gpu* gpu = sim->gpu;
    gpu->error[0] = '\0';
    if ( gpu_bodies_of( gpu )->number != sim->bodies_number )
    {
        return clv_gpu_fail(
            gpu, CLV_STALE, "clv_gpu_sim_step: the bodies were set anew since the simulation was made" );
    }
    if ( sim->count == 0 )
    {
        sim->stats.frame += 1;
        return CLV_OK;
    }
    return step( sim );
}

// ---- looking

clv_transform clv_gpu_sim_transform( const clv_gpu_sim* sim, uint32_t body )
{
    CLV_ASSERT( sim != NULL && body < sim->count );
    const double* from = sim->now.poses + (size_t)body * POSE_DOUBLES;
    math_mat3 rotation;
    memcpy( rotation.m, from, sizeof( rotation.m ) );
    base_fp_mode mode = base_fp_enter();
    clv_transform at = { math_narrow( math_make( from[9], from[10], from[11] ) ),
        math_quat_narrow( math_quat_from_matrix( &rotation ) ) };
    base_fp_settle( &at );
    base_fp_leave( mode );
    return at;
}

clv_shape_sim_stats clv_gpu_sim_get_stats( const clv_gpu_sim* sim )
{
    CLV_ASSERT( sim != NULL );
    return sim->stats;
}

uint64_t clv_gpu_sim_finished_count( const clv_gpu_sim* sim )
{
    CLV_ASSERT( sim != NULL );
    return sim->finished_count;
}
