// SPDX-License-Identifier: MIT
// The frame of "Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU" (COPPE 2021): section 3 with
// its algorithm 3 as the loop of responses. What the paper leaves open or misprints is decided in
// docs/physics.md.
#include "shape_sim.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/fp_mode.h"
#include "base/radix_sort.h"
#include "base/refusal.h"
#include "base/timer.h"
#include "dop.h"
#include "narrow/bound.h"
#include "narrow/contact.h"
#include "obb.h"
#include "soft_match.h"
#include <stdio.h>
#include <string.h>

#define SIM_COOKIE 0x4D53434Cu

typedef struct sim_body
{
    const clv_hull* hull;
    sim_rest_shape rest;
    math_pose pose;
    math_vec3 velocity;
    math_vec3 before;              // where the frame found it
    math_vec3 velocity_before;     // and how fast
    math_vec3 unturned;            // where the last match that failed would have moved it
    uint32_t move_count;           // changes of pose in this frame
    bool touched, matched, landed; // `landed` stays set for good
    bool on_floor;
    volume_own_box own_box; // only where volumes are turned boxes

    // Soft bodies alone.
    sim_soft_rest soft;
    sim_soft_shape shape;
    math_vec3* cloud; // vertices about the position
    double cloud_reach;
} sim_body;

// A candidate, and what the rounds of a frame remember of it.
typedef struct sim_pair
{
    uint32_t a, b;
    clv_pair_cache cache;
    uint32_t moves_a, moves_b; // the bodies' move_count when they were last found apart
    bool apart, hit;
} sim_pair;

struct clv_shape_sim
{
    base_memory memory;
    clv_shape_sim_def def;
    clv_volume_sweep* sweep;

    BASE_ARRAY( sim_body ) bodies;

    void* volumes; // of the def's kind
    uint64_t volume_capacity;
    BASE_ARRAY( sim_pair ) pairs;
    BASE_ARRAY( clv_pair ) sorting; // two halves, for the radix sort
    base_u32_array floor_bodies;    // candidates for the floor

    double depth_sum;
    uint64_t depth_count;
    clv_shape_sim_stats stats;
};

// ---- life

clv_shape_sim_def clv_default_shape_sim_def( void )
{
    clv_shape_sim_def def = { 0 };
    def.size = sizeof( clv_shape_sim_def );
    def.cookie = SIM_COOKIE;
    def.volume = CLV_VOLUME_AABB;
    def.integrator = CLV_VELOCITY_VERLET;
    def.carry = 0.8f;
    def.gravity = 9.8f;
    def.speed = 0.0049f;
    def.damping = 0.95f;
    def.round_count = 10;
    def.pca_period = 30;
    def.has_floor = true;
    def.softness = 0.5f;
    return def;
}

const char* clv_shape_sim_why_bad( const clv_shape_sim_def* def )
{
    return def->cookie != SIM_COOKIE || def->size < sizeof( clv_shape_sim_def )
        ? "the def was not made by clv_default_shape_sim_def"
        : (unsigned)def->volume > CLV_VOLUME_OBB || (unsigned)def->integrator > CLV_VERLET ||
            (unsigned)def->after_contact > CLV_VELOCITY_KEPT || (unsigned)def->support > CLV_SUPPORT_CLIMB ||
            (unsigned)def->match > CLV_MATCH_QUADRATIC
        ? "volume, integrator, after_contact, support or match is none of its enumeration"
        : !( def->softness >= 0.0f && def->softness <= 0.999f ) ? "softness must be 0 to 0.999"
        : !( def->gravity >= 0.0f ) || !( def->speed >= 0.0f ) || !isfinite( def->gravity * def->speed )
        ? "gravity and speed must be finite and not negative"
        : !( def->damping >= 0.0f && def->damping <= 1.0f && def->carry >= 0.0f && def->carry <= 1.0f )
        ? "damping and carry must be 0 to 1"
        : def->round_count == 0 || def->round_count > 1000 ? "round_count must be 1 to 1000"
        : ( def->allocator.allocate == NULL ) != ( def->allocator.release == NULL )
        ? "the allocator has one hook of two; set both, or none"
        : NULL;
}

static clv_result create_sim( const clv_shape_sim_def* def, clv_shape_sim** sim )
{
    const char* wrong = clv_shape_sim_why_bad( def );
    if ( wrong != NULL )
    {
        char line[160];
        snprintf( line, sizeof( line ), "clv_shape_sim_create: %s", wrong );
        return base_refuse( &def->logger, CLV_BAD_DEF, line );
    }
    base_memory memory = clv_base_memory_make( def->allocator );
    clv_shape_sim* made = clv_base_memory_take( &memory, 1, sizeof( clv_shape_sim ) );
    if ( made == NULL )
    {
        return base_refuse( &def->logger, CLV_OUT_OF_MEMORY, "clv_shape_sim_create: out of memory" );
    }
    memset( made, 0, sizeof( *made ) );
    made->memory = memory;
    made->def = *def;
    clv_volume_sweep_def sweep_def = clv_default_volume_sweep_def();
    sweep_def.pca_period = def->pca_period;
    sweep_def.allocator = def->allocator;
    sweep_def.logger = def->logger;
    clv_result result = clv_volume_sweep_create( &sweep_def, &made->sweep );
    if ( result != CLV_OK )
    {
        clv_shape_sim_destroy( made );
        return result;
    }
    *sim = made;
    return CLV_OK;
}

clv_result clv_shape_sim_create( const clv_shape_sim_def* def, clv_shape_sim** sim )
{
    CLV_ASSERT( def != NULL && sim != NULL );
    *sim = NULL;
    base_fp_mode mode = base_fp_enter();
    clv_result result = create_sim( def, sim );
    base_fp_leave( mode );
    return result;
}

static uint64_t cloud_count( const sim_body* body )
{
    return body->cloud != NULL ? body->hull->vertex_count : 0;
}

void clv_shape_sim_destroy( clv_shape_sim* sim )
{
    if ( sim == NULL )
    {
        return;
    }
    clv_volume_sweep_destroy( sim->sweep );
    for ( uint32_t i = 0; i < sim->bodies.count; ++i )
    {
        clv_base_memory_give( &sim->memory, sim->bodies.items[i].cloud, cloud_count( &sim->bodies.items[i] ),
            sizeof( math_vec3 ) );
    }
    base_array_free( &sim->bodies, &sim->memory );
    clv_base_memory_give(
        &sim->memory, sim->volumes, sim->volume_capacity, clv_volume_bytes( sim->def.volume ) );
    base_array_free( &sim->pairs, &sim->memory );
    base_array_free( &sim->sorting, &sim->memory );
    base_array_free( &sim->floor_bodies, &sim->memory );
    base_memory own = sim->memory;
    clv_base_memory_give( &own, sim, 1, sizeof( clv_shape_sim ) );
}

// ---- bodies

static bool is_soft( const clv_shape_sim* sim )
{
    return sim->def.match != CLV_MATCH_RIGID;
}

// A body as GJK, EPA and volumes see it.
static narrow_core core_of( const clv_shape_sim* sim, const sim_body* body )
{
    narrow_core core = narrow_core_make( clv_hull_shape( body->hull ), &body->pose );
    core.brute_limit = sim->def.support == CLV_SUPPORT_SCAN ? UINT32_MAX
        : sim->def.support == CLV_SUPPORT_CLIMB             ? 0
                                                            : NARROW_BRUTE_LIMIT;
    if ( is_soft( sim ) )
    {
        core.pose.rotation = math_identity(); // the cloud is turned already
        core.cloud = body->cloud;
        core.cloud_reach = body->cloud_reach;
    }
    return core;
}

static void place_cloud( sim_body* body )
{
    body->cloud_reach =
        clv_sim_soft_place( &body->rest, &body->soft, &body->shape, &body->pose.rotation, body->cloud );
}

static void start_body( clv_shape_sim* sim, const clv_hull* hull, clv_transform at, math_vec3* cloud )
{
    sim_body* body = &sim->bodies.items[sim->bodies.count++];
    memset( body, 0, sizeof( *body ) );
    base_fp_mode mode = base_fp_enter();
    body->hull = hull;
    body->rest = sim_rest_shape_of( hull );
    body->pose = math_pose_widen( at );
    body->cloud = cloud;
    if ( is_soft( sim ) )
    {
        body->soft = clv_sim_soft_rest_make( &body->rest, sim->def.match == CLV_MATCH_QUADRATIC );
        body->shape = clv_sim_soft_shape_rigid( &body->soft, &body->pose.rotation );
        place_cloud( body );
    }
    else if ( sim->def.volume == CLV_VOLUME_OBB )
    {
        narrow_core core = core_of( sim, body );
        body->own_box = clv_volume_own_box_make( &core );
    }
    base_fp_leave( mode );
}

clv_result clv_shape_sim_add( clv_shape_sim* sim, const clv_hull* hull, clv_transform at )
{
    CLV_ASSERT( sim != NULL );
    clv_vec3 ignored;
    clv_vec3 up = { 0, 1, 0 };
    if ( hull == NULL || clv_shape_support( clv_hull_shape( hull ), at, up, &ignored ) != CLV_OK )
    {
        return CLV_BAD_ARGUMENT;
    }
    uint64_t wanted = sim->bodies.count + 1;
    if ( !base_array_reserve( &sim->bodies, &sim->memory, wanted ) ||
        !clv_base_memory_reserve( &sim->memory, &sim->volumes, &sim->volume_capacity, 0, wanted,
            clv_volume_bytes( sim->def.volume ) ) ||
        !base_array_reserve( &sim->floor_bodies, &sim->memory, wanted ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    math_vec3* cloud = NULL;
    if ( is_soft( sim ) )
    {
        cloud = clv_base_memory_take( &sim->memory, hull->vertex_count, sizeof( math_vec3 ) );
        if ( cloud == NULL )
        {
            return CLV_OUT_OF_MEMORY;
        }
    }
    start_body( sim, hull, at, cloud );
    return CLV_OK;
}

// ---- candidates

static math_vec3 gravity_of( const clv_shape_sim* sim )
{
    return math_make( 0, -(double)sim->def.gravity * (double)sim->def.speed, 0 );
}

static void move_freely( clv_shape_sim* sim )
{
    math_vec3 gravity = gravity_of( sim );
    for ( uint32_t i = 0; i < sim->bodies.count; ++i )
    {
        sim_body* body = &sim->bodies.items[i];
        body->before = body->pose.position;
        body->velocity_before = body->velocity;
        body->touched = body->matched = body->on_floor = false;
        body->move_count = 0;
        sim_fly( (int)sim->def.integrator, gravity, (double)sim->def.damping, &body->pose.position,
            &body->velocity );
    }
}

// A frame that ran out of memory before its first response: nothing but the free motion has happened.
static void move_back( clv_shape_sim* sim )
{
    for ( uint32_t i = 0; i < sim->bodies.count; ++i )
    {
        sim->bodies.items[i].pose.position = sim->bodies.items[i].before;
        sim->bodies.items[i].velocity = sim->bodies.items[i].velocity_before;
    }
}

static clv_obb turned_box( const clv_shape_sim* sim, const sim_body* body, const narrow_core* core )
{
    if ( !is_soft( sim ) )
    {
        return clv_volume_core_obb( core, 0.0, &body->own_box );
    }
    volume_own_box own = clv_volume_own_box_along( core, &body->pose.rotation );
    return clv_volume_core_obb( core, 0.0, &own );
}

// The volume around body `i`, and its lowest point.
static float build_volume( clv_shape_sim* sim, uint32_t i )
{
    narrow_core core = core_of( sim, &sim->bodies.items[i] );
    if ( sim->def.volume == CLV_VOLUME_AABB )
    {
        clv_aabb* aabb = (clv_aabb*)sim->volumes + i;
        *aabb = clv_narrow_core_aabb( &core, 0.0 );
        return aabb->lower.y;
    }
    if ( sim->def.volume == CLV_VOLUME_SPHERE )
    {
        clv_sphere* sphere = (clv_sphere*)sim->volumes + i;
        *sphere = clv_volume_core_sphere( &core, 0.0 );
        return sphere->center.y - sphere->radius;
    }
    if ( sim->def.volume == CLV_VOLUME_OBB )
    {
        clv_obb* obb = (clv_obb*)sim->volumes + i;
        float lowest, highest;
        *obb = turned_box( sim, &sim->bodies.items[i], &core );
        clv_volume_obb_interval( obb, 1, &lowest, &highest );
        return lowest;
    }
    clv_dop_kind kind = clv_volume_axes_of( sim->def.volume );
    float* ends = (float*)sim->volumes + (size_t)kind * i;
    clv_volume_core_dop( &core, 0.0, kind, ends );
    return ends[1];
}

// Also notes who reaches the floor.
static void build_volumes( clv_shape_sim* sim )
{
    sim->floor_bodies.count = 0;
    for ( uint32_t i = 0; i < sim->bodies.count; ++i )
    {
        float lowest = build_volume( sim, i );
        if ( sim->def.has_floor && lowest <= 0.0f )
        {
            sim->floor_bodies.items[sim->floor_bodies.count++] = i;
        }
    }
    sim->stats.floor_candidate_count = sim->floor_bodies.count;
}

static void note_sweep( clv_shape_sim* sim )
{
    clv_volume_sweep_stats sweep = clv_volume_sweep_get_stats( sim->sweep );
    sim->stats.axis = sweep.axis;
    if ( sim->def.stage_times )
    {
        sim->stats.axis_ms = sweep.axis_ms;
        sim->stats.project_ms = sweep.project_ms;
        sim->stats.sort_ms = sweep.sort_ms;
        sim->stats.prune_ms = sweep.prune_ms;
    }
}

static clv_result find_candidates( clv_shape_sim* sim )
{
    uint32_t count = (uint32_t)sim->bodies.count;
    clv_result result = clv_volume_sweep_run( sim->sweep, sim->def.volume, sim->volumes, count );
    if ( result != CLV_OK )
    {
        return result;
    }
    clv_pair_view view = clv_volume_sweep_pairs( sim->sweep );
    if ( !base_array_reserve( &sim->pairs, &sim->memory, view.count ) ||
        !base_array_reserve( &sim->sorting, &sim->memory, 2 * view.count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    if ( view.count > 0 )
    {
        // Responses come one after the other, so their order matters. By number it does not depend on the
        // axis.
        memcpy( sim->sorting.items, view.pairs, (size_t)view.count * sizeof( clv_pair ) );
        const clv_pair* sorted =
            clv_base_sort_pairs( sim->sorting.items, sim->sorting.items + view.count, view.count, count );
        for ( uint64_t i = 0; i < view.count; ++i )
        {
            memset( &sim->pairs.items[i], 0, sizeof( sim_pair ) );
            sim->pairs.items[i].a = sorted[i].a;
            sim->pairs.items[i].b = sorted[i].b;
        }
    }
    sim->stats.candidate_count = view.count;
    note_sweep( sim );
    return CLV_OK;
}

// ---- responses

static uint64_t read_clock( const clv_shape_sim* sim )
{
    return sim->def.stage_times ? clv_base_clock_ns() : 0;
}

static void note_depth( clv_shape_sim* sim, double depth, bool is_last )
{
    if ( is_last )
    {
        sim->stats.deepest = math_max( sim->stats.deepest, depth );
        sim->depth_sum += depth;
        sim->depth_count += 1;
    }
}

// False where the pushed vertices tell no rotation; `unturned` is then where they would move the body.
static bool match_body( clv_shape_sim* sim, sim_body* body, math_vec3 normal, double offset )
{
    sim_contact_plane plane = { normal, offset };
    math_pose fitted;
    body->touched = body->landed = true;
    math_polar_result result = is_soft( sim )
        ? clv_sim_soft_match( &body->rest, &body->soft, (double)sim->def.softness, &body->pose, body->cloud,
              plane, &body->shape, &fitted )
        : sim_shape_match( &body->rest, &body->pose, plane, &fitted );
    switch ( result )
    {
    case MATH_POLAR_OK:
        body->pose = fitted;
        if ( is_soft( sim ) )
        {
            place_cloud( body );
        }
        body->matched = true;
        body->move_count += 1;
        return true;
    case MATH_POLAR_DIVERGED: sim->stats.diverged_count += 1; break;
    case MATH_POLAR_SINGULAR: sim->stats.singular_count += 1; break;
    case MATH_POLAR_DRIFTED: sim->stats.drifted_count += 1; break;
    }
    body->unturned = math_sub( fitted.position, body->pose.position );
    return false;
}

// Each body's vertices beyond the other's extreme point are put on the plane through it.
static void respond( clv_shape_sim* sim, sim_body* a, sim_body* b, const narrow_contact* contact )
{
    double end_a = math_dot( contact->normal, contact->point_a ),
           end_b = math_dot( contact->normal, contact->point_b );
    match_body( sim, a, contact->normal, end_b );
    match_body( sim, b, math_neg( contact->normal ), -end_a );
}

static void solve_pair( clv_shape_sim* sim, sim_pair* pair, bool is_last )
{
    sim_body *a = &sim->bodies.items[pair->a], *b = &sim->bodies.items[pair->b];
    if ( pair->apart && pair->moves_a == a->move_count && pair->moves_b == b->move_count )
    {
        return; // nothing has changed since they were found apart
    }
    uint64_t begin = read_clock( sim );
    narrow_core core_a = core_of( sim, a );
    narrow_core core_b = core_of( sim, b );
    narrow_contact contact;
    clv_narrow_find_contact( &core_a, 0.0, &core_b, 0.0, &pair->cache, &contact );
    uint64_t found = read_clock( sim );
    sim->stats.narrow_ms += base_clock_ms( begin, found );

    pair->apart = !contact.touching;
    pair->moves_a = a->move_count, pair->moves_b = b->move_count;
    if ( !contact.touching )
    {
        return;
    }
    pair->hit = true;
    if ( !contact.converged )
    {
        sim->stats.unconverged_count += 1;
        return;
    }
    note_depth( sim, contact.depth, is_last );
    respond( sim, a, b, &contact );
    sim->stats.match_ms += base_clock_ms( found, read_clock( sim ) );
}

// The vertices of a body that is wholly below the floor are pushed onto one plane and tell no rotation. It is
// lifted at once, unturned: its other contacts may well match it, so that it would not be moved at the end of
// the frame, and with a velocity that is kept it would sink for ever.
static void push_out_of_floor( clv_shape_sim* sim, sim_body* body, math_vec3 normal )
{
    // As it is undeformed: a soft one that is pressed flat comes back by itself.
    if ( !match_body( sim, body, normal, 0.0 ) && sim_is_below_floor( &body->rest, &body->pose ) )
    {
        body->pose.position = math_add( body->pose.position, body->unturned );
        body->unturned = math_make( 0, 0, 0 );
        body->move_count += 1;
    }
}

static void solve_floor( clv_shape_sim* sim, sim_body* body, bool is_last )
{
    static const clv_plane floor = { { 0, 1, 0 }, 0 };
    uint64_t begin = read_clock( sim );
    narrow_core core = core_of( sim, body );
    narrow_contact contact;
    clv_narrow_find_plane_contact( &core, 0.0, floor, &contact );
    uint64_t found = read_clock( sim );
    sim->stats.narrow_ms += base_clock_ms( begin, found );
    if ( contact.touching )
    {
        body->on_floor = true;
        note_depth( sim, contact.depth, is_last );
        push_out_of_floor( sim, body, contact.normal );
        sim->stats.match_ms += base_clock_ms( found, read_clock( sim ) );
    }
}

static void separate_bodies( clv_shape_sim* sim )
{
    sim->depth_sum = 0.0;
    sim->depth_count = 0;
    for ( uint32_t round = 0; round < sim->def.round_count; ++round )
    {
        bool is_last = round + 1 == sim->def.round_count;
        for ( uint64_t i = 0; i < sim->stats.candidate_count; ++i )
        {
            solve_pair( sim, &sim->pairs.items[i], is_last );
        }
        // The floor has the last word in a round: nothing gives way below it.
        for ( uint64_t i = 0; i < sim->floor_bodies.count; ++i )
        {
            solve_floor( sim, &sim->bodies.items[sim->floor_bodies.items[i]], is_last );
        }
    }
    sim->stats.mean_depth = sim->depth_count > 0 ? sim->depth_sum / (double)sim->depth_count : 0.0;
}

// ---- after the rounds

static void set_velocity( const clv_shape_sim* sim, sim_body* body )
{
    if ( sim->def.after_contact == CLV_VELOCITY_MOVED )
    {
        math_vec3 moved = math_sub( body->pose.position, body->before );
        body->velocity = math_scale( moved, (double)sim->def.damping * (double)sim->def.carry );
    }
}

static void update_bodies( clv_shape_sim* sim )
{
    for ( uint32_t i = 0; i < sim->bodies.count; ++i )
    {
        sim_body* body = &sim->bodies.items[i];
        if ( body->touched && !body->matched )
        {
            body->pose.position = math_add( body->pose.position, body->unturned );
            sim->stats.unturned_count += 1;
        }
        if ( body->matched )
        {
            // Through the quaternion, as the paper keeps orientations: it takes the rounding out of the
            // rotation.
            body->pose.rotation = math_quat_matrix( math_quat_from_matrix( &body->pose.rotation ) );
        }
        if ( is_soft( sim ) )
        {
            clv_sim_soft_relax( &body->soft, (double)sim->def.softness, &body->pose.rotation, &body->shape );
            place_cloud( body );
        }
        if ( body->touched )
        {
            set_velocity( sim, body );
        }
    }
}

// How far soft bodies are from the rigid ones that fit them best.
static void measure_deformation( clv_shape_sim* sim )
{
    double sum = 0.0;
    for ( uint32_t i = 0; i < sim->bodies.count; ++i )
    {
        const sim_body* body = &sim->bodies.items[i];
        double most = 0.0;
        for ( uint32_t v = 0; v < body->hull->vertex_count; ++v )
        {
            math_vec3 rigid = math_apply( &body->pose.rotation, math_widen( body->hull->vertices[v] ) );
            most = math_max( most, math_length( math_sub( body->cloud[v], rigid ) ) );
        }
        most /= body->soft.size;
        sum += most;
        sim->stats.deformation_most = math_max( sim->stats.deformation_most, most );
    }
    sim->stats.deformation_mean = sim->bodies.count > 0 ? sum / (double)sim->bodies.count : 0.0;
}

static void count_hits( clv_shape_sim* sim )
{
    clv_shape_sim_stats* stats = &sim->stats;
    double weight = -gravity_of( sim ).y;
    for ( uint64_t i = 0; i < stats->candidate_count; ++i )
    {
        stats->hit_count += sim->pairs.items[i].hit ? 1 : 0;
    }
    for ( uint32_t i = 0; i < sim->bodies.count; ++i )
    {
        const sim_body* body = &sim->bodies.items[i];
        stats->landed_count += body->landed ? 1 : 0;
        stats->floor_hit_count += body->on_floor ? 1 : 0;
        stats->kinetic_energy += 0.5 * math_length_squared( body->velocity );
        stats->potential_energy += weight * body->pose.position.y;
    }
}

clv_result clv_shape_sim_step( clv_shape_sim* sim )
{
    CLV_ASSERT( sim != NULL );
    base_fp_mode mode = base_fp_enter();
    clv_shape_sim_stats before = sim->stats;
    memset( &sim->stats, 0, sizeof( sim->stats ) );
    sim->stats.frame = before.frame + 1;
    uint64_t begin = read_clock( sim );
    move_freely( sim );
    uint64_t moved = read_clock( sim );
    build_volumes( sim );
    uint64_t built = read_clock( sim );
    clv_result result = find_candidates( sim );
    uint64_t swept = read_clock( sim );
    if ( result == CLV_OK )
    {
        separate_bodies( sim );
        update_bodies( sim );
        count_hits( sim );
        if ( is_soft( sim ) )
        {
            measure_deformation( sim );
        }
        sim->stats.integrate_ms = base_clock_ms( begin, moved );
        sim->stats.volume_ms = base_clock_ms( moved, built );
        sim->stats.sweep_ms = base_clock_ms( built, swept );
    }
    else
    {
        move_back( sim );
        sim->stats = before;
    }
    base_fp_leave( mode );
    return result;
}

// ---- looking

uint32_t clv_shape_sim_body_count( const clv_shape_sim* sim )
{
    CLV_ASSERT( sim != NULL );
    return (uint32_t)sim->bodies.count;
}

clv_transform clv_shape_sim_transform( const clv_shape_sim* sim, uint32_t body )
{
    CLV_ASSERT( sim != NULL && body < sim->bodies.count );
    const math_pose* pose = &sim->bodies.items[body].pose;
    base_fp_mode mode = base_fp_enter();
    clv_transform at = { math_narrow( pose->position ),
        math_quat_narrow( math_quat_from_matrix( &pose->rotation ) ) };
    base_fp_settle( &at );
    base_fp_leave( mode );
    return at;
}

clv_vec3 clv_shape_sim_velocity( const clv_shape_sim* sim, uint32_t body )
{
    CLV_ASSERT( sim != NULL && body < sim->bodies.count );
    base_fp_mode mode = base_fp_enter();
    clv_vec3 velocity = math_narrow( sim->bodies.items[body].velocity );
    base_fp_settle( &velocity );
    base_fp_leave( mode );
    return velocity;
}

uint32_t clv_shape_sim_vertices(
    const clv_shape_sim* sim, uint32_t body, clv_vec3* vertices, uint32_t capacity )
{
    CLV_ASSERT( sim != NULL && body < sim->bodies.count && ( vertices != NULL || capacity == 0 ) );
    base_fp_mode mode = base_fp_enter();
    narrow_core core = core_of( sim, &sim->bodies.items[body] );
    uint32_t count = clv_narrow_core_point_count( &core );
    for ( uint32_t i = 0; i < count && i < capacity; ++i )
    {
        vertices[i] = math_narrow( clv_narrow_core_point( &core, i ) );
    }
    base_fp_settle( vertices );
    base_fp_leave( mode );
    return count;
}

clv_shape_sim_stats clv_shape_sim_get_stats( const clv_shape_sim* sim )
{
    CLV_ASSERT( sim != NULL );
    return sim->stats;
}
