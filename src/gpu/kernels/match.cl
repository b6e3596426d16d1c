// SPDX-License-Identifier: MIT
// A frame of rigid bodies by shape matching, all but finding contacts: Müller, Heidelberger, Teschner, Gross, "Meshless
// deformations based on shape matching" (SIGGRAPH 2005), as "Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU"
// (COPPE 2021) uses it, and its appendix B (polar decomposition by Jacobi's rotations). Step by step as src/physics/sim and
// src/physics/math have it, so that bodies end where the CPU's do.

#define JACOBI_ROUNDS 32
#define SINGULAR 1e-12
#define SCALE_DRIFT 0.01

#define POLAR_OK 0
#define POLAR_DIVERGED 1
#define POLAR_SINGULAR 2
#define POLAR_DRIFTED 3

SOLID mat3d mat_zero( void )
{
    mat3d m;
    for ( int i = 0; i < 9; ++i )
    {
        m.m[i / 3][i % 3] = 0.0;
    }
    return m;
}

SOLID mat3d mat_identity( void )
{
    mat3d m = mat_zero();
    m.m[0][0] = m.m[1][1] = m.m[2][2] = 1.0;
    return m;
}

SOLID mat3d mat_multiply( const mat3d* a, const mat3d* b )
{
    mat3d product;
    for ( int row = 0; row < 3; ++row )
    {
        for ( int column = 0; column < 3; ++column )
        {
            product.m[row][column] =
                a->m[row][0] * b->m[0][column] + a->m[row][1] * b->m[1][column] + a->m[row][2] * b->m[2][column];
        }
    }
    return product;
}

SOLID mat3d mat_transpose( const mat3d* a )
{
    mat3d t;
    for ( int i = 0; i < 9; ++i )
    {
        t.m[i / 3][i % 3] = a->m[i % 3][i / 3];
    }
    return t;
}

SOLID vec3d mat_column( const mat3d* a, int index )
{
    return vec_make( a->m[0][index], a->m[1][index], a->m[2][index] );
}

// a += p q^T
SOLID void mat_add_outer( mat3d* a, vec3d p, vec3d q )
{
    a->m[0][0] += p.x * q.x;
    a->m[0][1] += p.x * q.y;
    a->m[0][2] += p.x * q.z;
    a->m[1][0] += p.y * q.x;
    a->m[1][1] += p.y * q.y;
    a->m[1][2] += p.y * q.z;
    a->m[2][0] += p.z * q.x;
    a->m[2][1] += p.z * q.y;
    a->m[2][2] += p.z * q.z;
}

SOLID double mat_determinant( const mat3d* a )
{
    return a->m[0][0] * ( a->m[1][1] * a->m[2][2] - a->m[1][2] * a->m[2][1] ) -
        a->m[0][1] * ( a->m[1][0] * a->m[2][2] - a->m[1][2] * a->m[2][0] ) +
        a->m[0][2] * ( a->m[1][0] * a->m[2][1] - a->m[1][1] * a->m[2][0] );
}

// ---- eigenvalues

typedef struct jacobi_eigen
{
    double values[3]; // descending
    mat3d vectors;    // column i belongs to values[i]
    bool converged;
} jacobi_eigen;

SOLID void jacobi_round( mat3d* a, mat3d* vectors )
{
    int p = 0, q = 1;
    if ( size_of( a->m[0][2] ) > size_of( a->m[p][q] ) )
    {
        q = 2;
    }
    if ( size_of( a->m[1][2] ) > size_of( a->m[p][q] ) )
    {
        p = 1;
        q = 2;
    }
    double off = a->m[p][q];
    double theta = ( a->m[q][q] - a->m[p][p] ) / ( 2.0 * off );
    double t = 1.0 / ( size_of( theta ) + sqrt( theta * theta + 1.0 ) );
    t = theta < 0.0 ? -t : t;
    double c = 1.0 / sqrt( t * t + 1.0 );
    double s = t * c;
    for ( int row = 0; row < 3; ++row )
    {
        double x = a->m[row][p], y = a->m[row][q];
        a->m[row][p] = c * x - s * y;
        a->m[row][q] = s * x + c * y;
    }
    for ( int column = 0; column < 3; ++column )
    {
        double x = a->m[p][column], y = a->m[q][column];
        a->m[p][column] = c * x - s * y;
        a->m[q][column] = s * x + c * y;
    }
    a->m[p][q] = a->m[q][p] = 0.0;
    for ( int row = 0; row < 3; ++row )
    {
        double x = vectors->m[row][p], y = vectors->m[row][q];
        vectors->m[row][p] = c * x - s * y;
        vectors->m[row][q] = s * x + c * y;
    }
}

SOLID void jacobi_swap( jacobi_eigen* eigen, int i, int j )
{
    if ( eigen->values[i] < eigen->values[j] )
    {
        double value = eigen->values[i];
        eigen->values[i] = eigen->values[j];
        eigen->values[j] = value;
        for ( int row = 0; row < 3; ++row )
        {
            double element = eigen->vectors.m[row][i];
            eigen->vectors.m[row][i] = eigen->vectors.m[row][j];
            eigen->vectors.m[row][j] = -element;
        }
    }
}

SOLID double off_diagonal( const mat3d* a )
{
    return most_of( most_of( size_of( a->m[0][1] ), size_of( a->m[0][2] ) ), size_of( a->m[1][2] ) );
}

SOLID bool is_not_a_number( const mat3d* a )
{
    bool is = false;
    for ( int i = 0; i < 9; ++i )
    {
        is = is || a->m[i / 3][i % 3] != a->m[i / 3][i % 3];
    }
    return is;
}

SOLID jacobi_eigen eigen_symmetric( const mat3d* symmetric )
{
    jacobi_eigen eigen;
    mat3d a = *symmetric;
    eigen.values[0] = eigen.values[1] = eigen.values[2] = 0.0;
    eigen.vectors = mat_identity();
    eigen.converged = false;
    a.m[1][0] = a.m[0][1];
    a.m[2][0] = a.m[0][2];
    a.m[2][1] = a.m[1][2];
    double size = most_of( off_diagonal( &a ), vec_largest( vec_make( a.m[0][0], a.m[1][1], a.m[2][2] ) ) );
    if ( !( size <= 1e150 ) || is_not_a_number( &a ) )
    {
        return eigen;
    }
    for ( int round = 0; round < JACOBI_ROUNDS && off_diagonal( &a ) > size * 0x1p-52; ++round )
    {
        jacobi_round( &a, &eigen.vectors );
    }
    eigen.converged = off_diagonal( &a ) <= size * 0x1p-52;
    eigen.values[0] = a.m[0][0];
    eigen.values[1] = a.m[1][1];
    eigen.values[2] = a.m[2][2];
    jacobi_swap( &eigen, 0, 1 );
    jacobi_swap( &eigen, 1, 2 );
    jacobi_swap( &eigen, 0, 1 );
    return eigen;
}

// ---- the rotation nearest to a matrix

// *rotation changes only with POLAR_OK.
SOLID int polar_rotation( const mat3d* a, mat3d* rotation )
{
    mat3d transposed = mat_transpose( a );
    mat3d squared = mat_multiply( &transposed, a );
    jacobi_eigen eigen = eigen_symmetric( &squared );
    if ( !eigen.converged )
    {
        return POLAR_DIVERGED;
    }
    if ( !( eigen.values[0] > 0.0 ) || eigen.values[2] <= SINGULAR * eigen.values[0] )
    {
        return POLAR_SINGULAR;
    }
    mat3d inverse = mat_zero();
    for ( int i = 0; i < 3; ++i )
    {
        vec3d column = mat_column( &eigen.vectors, i );
        mat_add_outer( &inverse, vec_scale( column, 1.0 / sqrt( eigen.values[i] ) ), column );
    }
    mat3d r = mat_multiply( a, &inverse );
    for ( int i = 0; i < 3; ++i )
    {
        double length = vec_length( mat_column( &r, i ) );
        if ( !( length <= 1.0 + SCALE_DRIFT && length >= 1.0 - SCALE_DRIFT ) )
        {
            return POLAR_DRIFTED;
        }
    }
    *rotation = r;
    return POLAR_OK;
}

// ---- matching

// Of a hull: its vertices' mean, the axes of their spread as columns, how many of them count.
#define REST_DOUBLES 16
#define REST_AXES 3
#define REST_RANK 12

typedef struct match_rest
{
    vec3d mean;
    mat3d axes;
    int rank;
} match_rest;

SOLID match_rest load_rest( __global const double* rests, uint hull )
{
    __global const double* from = rests + (size_t)hull * REST_DOUBLES;
    match_rest rest;
    rest.mean = vec_make( from[0], from[1], from[2] );
    for ( int i = 0; i < 9; ++i )
    {
        rest.axes.m[i / 3][i % 3] = from[REST_AXES + i];
    }
    rest.rank = (int)from[REST_RANK];
    return rest;
}

// An axis along which vertices have no spread is given the place that a rigid body's would have.
SOLID void complete_products( const match_rest* rest, const pose3d* pose, mat3d* products )
{
    vec3d own[3], to[3];
    for ( int i = 0; i < 3; ++i )
    {
        own[i] = mat_column( &rest->axes, i );
        to[i] = i < rest->rank ? mat_apply( products, own[i] ) : mat_apply( &pose->rotation, own[i] );
    }
    double size = vec_length( to[0] );
    if ( rest->rank == 1 )
    {
        vec3d along = vec_normalize( to[0], mat_apply( &pose->rotation, own[0] ) );
        to[1] = vec_add_scaled( to[1], along, -vec_dot( to[1], along ) );
        to[1] = vec_normalize( to[1], vec_perpendicular( along ) );
        to[2] = vec_cross( along, to[1] );
    }
    if ( rest->rank == 2 )
    {
        to[2] = vec_normalize( vec_cross( to[0], to[1] ), vec_make( 0, 0, 0 ) );
    }
    for ( int i = rest->rank; i < 3; ++i )
    {
        mat_add_outer( products, vec_scale( to[i], size ), own[i] );
    }
}

// Where a body goes whose vertices beyond the plane dot( normal, p ) = offset are put onto it. Without POLAR_OK only the position
// is set, to where the vertices' mean moves the body.
SOLID int match_pose( const match_rest* rest, __global const float* vertices, uint first, uint count, const pose3d* pose,
    vec3d normal, double offset, pose3d* fitted )
{
    vec3d sum = vec_make( 0, 0, 0 );
    mat3d products = mat_zero();
    offset = offset - vec_dot( normal, pose->position );
    for ( uint i = 0; i < count; ++i )
    {
        vec3d vertex = load_vertex( vertices, first + i );
        vec3d p = mat_apply( &pose->rotation, vertex );
        double beyond = vec_dot( normal, p ) - offset;
        if ( beyond > 0.0 )
        {
            p = vec_add_scaled( p, normal, -beyond );
        }
        sum = vec_add( sum, p );
        mat_add_outer( &products, p, vec_sub( vertex, rest->mean ) );
    }
    vec3d mean = vec_scale( sum, 1.0 / (double)count );
    if ( rest->rank < 3 )
    {
        complete_products( rest, pose, &products );
    }
    fitted->rotation = pose->rotation;
    int result = polar_rotation( &products, &fitted->rotation );
    if ( result == POLAR_OK && mat_determinant( &fitted->rotation ) < 0.0 )
    {
        fitted->rotation = pose->rotation;
        result = POLAR_DRIFTED;
    }
    vec3d center = mat_apply( &fitted->rotation, rest->mean );
    fitted->position = vec_add( pose->position, vec_sub( mean, center ) );
    return result;
}

// The quaternion x, y, z, w of a rotation, w >= 0. Divides by the largest of the four, so that half turns are as exact as any other.
SOLID void rotation_quat( const mat3d* a, double q[4] )
{
    double xx = a->m[0][0], yy = a->m[1][1], zz = a->m[2][2];
    double zy = a->m[2][1], yz = a->m[1][2], xz = a->m[0][2], zx = a->m[2][0], yx = a->m[1][0], xy = a->m[0][1];
    bool by_w = xx + yy + zz > 0.0;
    bool by_x = !by_w && xx >= yy && xx >= zz;
    bool by_y = !by_w && !by_x && yy >= zz;
    double x = by_w ? zy - yz : by_x ? 1 + xx - yy - zz : by_y ? xy + yx : xz + zx;
    double y = by_w ? xz - zx : by_x ? xy + yx : by_y ? 1 + yy - xx - zz : yz + zy;
    double z = by_w ? yx - xy : by_x ? xz + zx : by_y ? yz + zy : 1 + zz - xx - yy;
    double w = by_w ? 1 + xx + yy + zz : by_x ? zy - yz : by_y ? xz - zx : yx - xy;
    double squared = x * x + y * y + z * z + w * w;
    bool is_good = squared > 1e-200 && squared < 1e200;
    double factor = is_good ? 1.0 / sqrt( squared ) : 0.0;
    factor = w * factor < 0.0 ? -factor : factor;
    q[0] = x * factor;
    q[1] = y * factor;
    q[2] = z * factor;
    q[3] = is_good ? w * factor : 1.0;
}

// The matrix of that quaternion: it takes the rounding out of a rotation.
SOLID mat3d settle_rotation( const mat3d* a )
{
    double q[4];
    rotation_quat( a, q );
    return unit_quat_matrix( q[0], q[1], q[2], q[3] );
}

#ifndef SOLID_ON_HOST

// Of a body: velocity, where the frame found it, where the last match that failed would have moved it.
#define MOTION_DOUBLES 9
#define MOTION_VELOCITY 0
#define MOTION_BEFORE 3
#define MOTION_UNTURNED 6

inline vec3d load_vec( __global const double* from )
{
    return vec_make( from[0], from[1], from[2] );
}

inline void store_vec( __global double* to, vec3d v )
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
        vec3d x = load_vec( place ), v = load_vec( motion + MOTION_VELOCITY );
        vec3d g = vec_make( 0, gravity, 0 );
        store_vec( motion + MOTION_BEFORE, x );
        marks[i * MARK_WORDS + MARK_MOVES] = 0;
        marks[i * MARK_WORDS + MARK_BITS] &= MARK_LANDED;
        if ( how == 3 ) // Verlet: the velocity is the last move, and damping shortens it
        {
            v = vec_add( vec_scale( v, damping ), g );
            x = vec_add( x, v );
        }
        else
        {
            x = vec_add( x, how == 1 ? v : vec_add_scaled( v, g, 0.5 ) );
            v = vec_scale( vec_add( v, g ), damping );
        }
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

// Of such a body the pushed vertices tell no rotation; it is lifted at once, unturned, as src/physics/sim/shape_sim.c tells.
inline bool is_below_floor( __global const float* vertices, uint first, uint count, const pose3d* pose )
{
    uint below = 0;
    while ( below < count && pose_apply( pose, load_vertex( vertices, first + below ) ).y < 0.0 )
    {
        ++below;
    }
    return below == count;
}

// An item for each of a task's two bodies: each is put where its vertices fit that were pushed onto the plane through the other's
// extreme point. A body that reaches the floor has one item at work.
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
        vec3d normal = vec_make( 0, 0, 0 );
        double offset = 0.0;
        if ( is_pair )
        {
            normal = load_vec( contact );
            double end_a = vec_dot( normal, load_vec( contact + 4 ) );
            double end_b = vec_dot( normal, load_vec( contact + 7 ) );
            offset = side == 0 ? end_b : -end_a;
            normal = side == 0 ? normal : vec_neg( normal );
        }
        else
        {
            normal = vec_neg( vec_make( 0, 1, 0 ) );
        }
        __global const uint* row = rows + 4 * (size_t)hulls[body];
        match_rest rest = load_rest( rests, hulls[body] );
        pose3d pose = load_pose( poses, body );
        pose3d fitted;
        int result = match_pose( &rest, vertices, row[0], row[1], &pose, normal, offset, &fitted );
        uint bits = marks[body * MARK_WORDS + MARK_BITS] | MARK_TOUCHED | MARK_LANDED;
        if ( result == POLAR_OK )
        {
            store_pose( poses, body, &fitted );
            marks[body * MARK_WORDS + MARK_MOVES] += 1;
            bits |= MARK_MATCHED;
        }
        else
        {
            vec3d unturned = vec_sub( fitted.position, pose.position );
            if ( !is_pair && is_below_floor( vertices, row[0], row[1], &pose ) )
            {
                pose.position = vec_add( pose.position, unturned );
                unturned = vec_make( 0, 0, 0 );
                store_pose( poses, body, &pose );
                marks[body * MARK_WORDS + MARK_MOVES] += 1;
            }
            store_vec( motions + (size_t)body * MOTION_DOUBLES + MOTION_UNTURNED, unturned );
            atomic_inc( (volatile __global uint*)counts +
                ( result == POLAR_DIVERGED       ? COUNT_DIVERGED
                        : result == POLAR_SINGULAR ? COUNT_SINGULAR
                                                   : COUNT_DRIFTED ) );
        }
        marks[body * MARK_WORDS + MARK_BITS] = bits;
    }
}

// ---- a frame's end

// `kept`: 0 for a velocity as if nothing had happened, else the share of what a body moved that becomes its velocity.
__kernel void sim_settle( __global double* poses, __global double* motions, __global const uint* marks, uint count,
    uint keeps_velocity, double share, __global uint* counts )
{
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        uint bits = marks[i * MARK_WORDS + MARK_BITS];
        __global double* motion = motions + (size_t)i * MOTION_DOUBLES;
        pose3d pose = load_pose( poses, i );
        if ( ( bits & MARK_TOUCHED ) != 0 && ( bits & MARK_MATCHED ) == 0 )
        {
            pose.position = vec_add( pose.position, load_vec( motion + MOTION_UNTURNED ) );
            atomic_inc( (volatile __global uint*)counts + COUNT_UNTURNED );
        }
        if ( ( bits & MARK_MATCHED ) != 0 )
        {
            pose.rotation = settle_rotation( &pose.rotation );
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
            vec3d moved = vec_sub( pose.position, load_vec( motion + MOTION_BEFORE ) );
            store_vec( motion + MOTION_VELOCITY, vec_scale( moved, share ) );
        }
    }
}

// One item, so that sums are taken in the order the CPU takes them. sums: kinetic and potential energy, deepest contact of the
// last round, sum of their depths; depths below 0 are none.
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
                deepest = most_of( deepest, depths[i] );
                depth_sum += depths[i];
                depth_count += 1;
            }
        }
        for ( uint i = 0; i < count; ++i )
        {
            vec3d v = load_vec( motions + (size_t)i * MOTION_DOUBLES + MOTION_VELOCITY );
            kinetic += 0.5 * vec_dot( v, v );
            potential += weight * poses[(size_t)i * POSE_DOUBLES + 10];
        }
        counts[COUNT_DEPTHS] = depth_count;
        sums[0] = kinetic;
        sums[1] = potential;
        sums[2] = deepest;
        sums[3] = depth_sum;
    }
}

#endif
