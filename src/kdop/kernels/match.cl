// SPDX-License-Identifier: MIT
// A frame of rigid bodies by shape matching, all but finding contacts: Müller, Heidelberger, Teschner, Gross,
// "Meshless deformations based on shape matching" (SIGGRAPH 2005), as "Detecção de Colisão usando Sweep and
// Prune com k-DOPs em GPU" (COPPE 2021) uses it. Behind solid.cl and src/core/solid/solid_match.h; step by
// step as src/physics/sim/shape_sim.c has it, so that bodies end where the CPU's do.

SOLID sim_rest_shape load_rest( __global const double* rests, __global const float* vertices, __global const uint* rows, uint hull )
{
    __global const double* from = rests + (size_t)hull * REST_DOUBLES;
    sim_rest_shape rest;
    rest.vertices = vertices + 3 * (size_t)rows[4 * (size_t)hull];
    rest.vertex_count = rows[4 * (size_t)hull + 1];
    rest.mean = math_make( from[0], from[1], from[2] );
    for ( int i = 0; i < 9; ++i )
    {
        rest.axes.m[i / 3][i % 3] = from[REST_AXES + i];
    }
    rest.rank = (int)from[REST_RANK];
    return rest;
}

inline math_vec3 load_vec( __global const double* from )
{
    return math_make( from[0], from[1], from[2] );
}

inline void store_vec( __global double* to, math_vec3 v )
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

// ---- a frame's beginning

// Free flight, as clv_integrator counts the ways.
__kernel void sim_integrate( __global double* poses, __global double* motions, __global uint* marks, uint count, uint how,
    double gravity, double damping )
{
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        __global double* motion = motions + (size_t)i * MOTION_DOUBLES;
        __global double* place = poses + (size_t)i * POSE_DOUBLES + 9;
        math_vec3 x = load_vec( place ), v = load_vec( motion + MOTION_VELOCITY );
        math_vec3 g = math_make( 0, gravity, 0 );
        store_vec( motion + MOTION_BEFORE, x );
        marks[i * MARK_WORDS + MARK_MOVES] = 0;
        marks[i * MARK_WORDS + MARK_BITS] &= MARK_LANDED;
        sim_fly( (int)how, g, damping, &x, &v );
        store_vec( place, x );
        store_vec( motion + MOTION_VELOCITY, v );
    }
}

// Which volumes reach the floor; kinds as volume.cl has them.
__kernel void sim_floor( __global const float* volumes, uint kind, uint count, __global uint* reaches )
{
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        float lowest = kind == 0 ? volumes[6 * (size_t)i + 1]
            : kind == 1          ? volumes[18 * (size_t)i + 1]
                                 : volumes[4 * (size_t)i + 1] - volumes[4 * (size_t)i + 3];
        reaches[i] = lowest <= 0.0f ? 1 : 0;
    }
}

// ---- a level's responses

// An item for each of a task's two bodies: each is put where its vertices fit that were pushed onto the plane
// through the other's extreme point. A body that reaches the floor has one item at work.
__kernel void sim_match( __global double* poses, __global const uint* hulls, __global const uint* rows,
    __global const float* vertices, __global const double* rests, __global const uint* tasks, uint first, uint end,
    uint pair_count, __global const uint* records, __global uint* marks, __global double* motions,
    __global const uint* states, __global const double* numbers, __global uint* counts, uint level )
{
    uint item = (uint)get_global_id( 0 );
    uint at = first + item / 2;
    uint side = item % 2;
    uint halt = counts[COUNT_HALT];
    uint task = at < end ? tasks[at] & ~TASK_LAST : 0;
    bool is_pair = task < pair_count;
    if ( at < end && ( halt == 0 || halt > level ) && states[task] == STATE_MATCH && ( is_pair || side == 0 ) )
    {
        uint body = is_pair ? records[(size_t)task * RECORD_WORDS + RECORD_A + side] : task - pair_count;
        __global const double* contact = numbers + (size_t)task * CONTACT_DOUBLES;
        sim_contact_plane plane;
        plane.normal = math_neg( math_make( 0, 1, 0 ) );
        plane.offset = 0.0;
        if ( is_pair )
        {
            math_vec3 normal = load_vec( contact );
            double end_a = math_dot( normal, load_vec( contact + 4 ) );
            double end_b = math_dot( normal, load_vec( contact + 7 ) );
            plane.offset = side == 0 ? end_b : -end_a;
            plane.normal = side == 0 ? normal : math_neg( normal );
        }
        sim_rest_shape rest = load_rest( rests, vertices, rows, hulls[body] );
        math_pose pose = load_pose( poses, body );
        math_pose fitted;
        math_polar_result result = sim_shape_match( &rest, &pose, plane, &fitted );
        uint bits = marks[body * MARK_WORDS + MARK_BITS] | MARK_TOUCHED | MARK_LANDED;
        if ( result == MATH_POLAR_OK )
        {
            store_pose( poses, body, &fitted );
            marks[body * MARK_WORDS + MARK_MOVES] += 1;
            bits |= MARK_MATCHED;
        }
        else
        {
            math_vec3 unturned = math_sub( fitted.position, pose.position );
            if ( !is_pair && sim_is_below_floor( &rest, &pose ) ) // shape_sim.c tells why it is lifted
            {
                pose.position = math_add( pose.position, unturned );
                unturned = math_make( 0, 0, 0 );
                store_pose( poses, body, &pose );
                marks[body * MARK_WORDS + MARK_MOVES] += 1;
            }
            store_vec( motions + (size_t)body * MOTION_DOUBLES + MOTION_UNTURNED, unturned );
            atomic_inc( (volatile __global uint*)counts +
                ( result == MATH_POLAR_DIVERGED       ? COUNT_DIVERGED
                        : result == MATH_POLAR_SINGULAR ? COUNT_SINGULAR
                                                   : COUNT_DRIFTED ) );
        }
        marks[body * MARK_WORDS + MARK_BITS] = bits;
    }
}

// ---- a frame's end

// `kept`: 0 for a velocity as if nothing had happened, else the share of what a body moved that becomes its
// velocity.
__kernel void sim_settle( __global double* poses, __global double* motions, __global const uint* marks, uint count,
    uint keeps_velocity, double share, __global uint* counts )
{
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        uint bits = marks[i * MARK_WORDS + MARK_BITS];
        __global double* motion = motions + (size_t)i * MOTION_DOUBLES;
        math_pose pose = load_pose( poses, i );
        if ( ( bits & MARK_TOUCHED ) != 0 && ( bits & MARK_MATCHED ) == 0 )
        {
            pose.position = math_add( pose.position, load_vec( motion + MOTION_UNTURNED ) );
            atomic_inc( (volatile __global uint*)counts + COUNT_UNTURNED );
        }
        if ( ( bits & MARK_MATCHED ) != 0 )
        {
            // The matrix of the nearest quaternion: it takes the rounding out of a rotation.
            pose.rotation = math_quat_matrix( math_quat_from_matrix( &pose.rotation ) );
        }
        store_pose( poses, i, &pose );
        if ( ( bits & MARK_LANDED ) != 0 )
        {
            atomic_inc( (volatile __global uint*)counts + COUNT_LANDED );
        }
        if ( ( bits & MARK_ON_FLOOR ) != 0 )
        {
            atomic_inc( (volatile __global uint*)counts + COUNT_FLOOR_HITS );
        }
        if ( ( bits & MARK_TOUCHED ) != 0 && keeps_velocity == 0 )
        {
            math_vec3 moved = math_sub( pose.position, load_vec( motion + MOTION_BEFORE ) );
            store_vec( motion + MOTION_VELOCITY, math_scale( moved, share ) );
        }
    }
}

// One item, so that sums are taken in the order the CPU takes them. sums: kinetic and potential energy,
// deepest contact of the last round, sum of their depths; depths below 0 are none.
__kernel void sim_count( __global const double* poses, __global const double* motions, uint count, uint pair_count,
    __global const double* depths, double weight, __global uint* counts, __global double* sums )
{
    if ( get_global_id( 0 ) == 0 )
    {
        double kinetic = 0.0, potential = 0.0, deepest = 0.0, depth_sum = 0.0;
        uint depth_count = 0;
        for ( uint i = 0; i < pair_count + count; ++i )
        {
            if ( depths[i] >= 0.0 )
            {
                deepest = math_max( deepest, depths[i] );
                depth_sum += depths[i];
                depth_count += 1;
            }
        }
        for ( uint i = 0; i < count; ++i )
        {
            math_vec3 v = load_vec( motions + (size_t)i * MOTION_DOUBLES + MOTION_VELOCITY );
            kinetic += 0.5 * math_dot( v, v );
            potential += weight * poses[(size_t)i * POSE_DOUBLES + 10];
        }
        counts[COUNT_DEPTHS] = depth_count;
        sums[0] = kinetic;
        sums[1] = potential;
        sums[2] = deepest;
        sums[3] = depth_sum;
    }
}
