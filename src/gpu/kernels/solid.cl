// SPDX-License-Identifier: MIT
// Vectors, matrices and poses in double, behind common.cl in front of every program about bodies. Each line is that of
// src/physics/math, operation by operation, so that what is rounded here is rounded there the same way: FP_CONTRACT is off, and
// OpenCL's double division and square root are exact to the last bit. The host compiles this text too (gpu_solid_host.c).

// Not every program needs all of them.
#ifndef SOLID
#define SOLID static __attribute__( ( unused ) )
#endif

typedef struct vec3d
{
    double x, y, z;
} vec3d;

// Rows.
typedef struct mat3d
{
    double m[3][3];
} mat3d;

typedef struct pose3d
{
    mat3d rotation;
    vec3d position;
} pose3d;

// Of a pose in memory: the rotation's rows, then the position.
#define POSE_DOUBLES 12

SOLID vec3d vec_make( double x, double y, double z )
{
    vec3d v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}

SOLID vec3d vec_add( vec3d a, vec3d b )
{
    return vec_make( a.x + b.x, a.y + b.y, a.z + b.z );
}

SOLID vec3d vec_sub( vec3d a, vec3d b )
{
    return vec_make( a.x - b.x, a.y - b.y, a.z - b.z );
}

SOLID vec3d vec_neg( vec3d v )
{
    return vec_make( -v.x, -v.y, -v.z );
}

SOLID vec3d vec_scale( vec3d v, double factor )
{
    return vec_make( v.x * factor, v.y * factor, v.z * factor );
}

// a + b * factor
SOLID vec3d vec_add_scaled( vec3d a, vec3d b, double factor )
{
    return vec_make( a.x + b.x * factor, a.y + b.y * factor, a.z + b.z * factor );
}

SOLID double vec_dot( vec3d a, vec3d b )
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

SOLID vec3d vec_cross( vec3d a, vec3d b )
{
    return vec_make( a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x );
}

SOLID double vec_length( vec3d v )
{
    return sqrt( vec_dot( v, v ) );
}

SOLID double most_of( double a, double b )
{
    return a > b ? a : b;
}

SOLID double least_of( double a, double b )
{
    return a < b ? a : b;
}

SOLID double size_of( double value )
{
    return value < 0.0 ? -value : value;
}

SOLID double vec_largest( vec3d v )
{
    return most_of( most_of( size_of( v.x ), size_of( v.y ) ), size_of( v.z ) );
}

SOLID vec3d vec_normalize( vec3d v, vec3d otherwise )
{
    double largest = vec_largest( v );
    if ( !( largest > 0.0 ) || largest > 1e300 )
    {
        return otherwise;
    }
    vec3d scaled = vec_make( v.x / largest, v.y / largest, v.z / largest );
    return vec_scale( scaled, 1.0 / vec_length( scaled ) );
}

// Some unit vector at a right angle to the unit vector `v`.
SOLID vec3d vec_perpendicular( vec3d v )
{
    vec3d axis = size_of( v.x ) < 0.6 ? vec_make( 1, 0, 0 ) : vec_make( 0, 1, 0 );
    return vec_normalize( vec_cross( v, axis ), vec_make( 0, 0, 1 ) );
}

SOLID vec3d mat_apply( const mat3d* a, vec3d v )
{
    return vec_make( a->m[0][0] * v.x + a->m[0][1] * v.y + a->m[0][2] * v.z,
        a->m[1][0] * v.x + a->m[1][1] * v.y + a->m[1][2] * v.z,
        a->m[2][0] * v.x + a->m[2][1] * v.y + a->m[2][2] * v.z );
}

SOLID vec3d mat_apply_transposed( const mat3d* a, vec3d v )
{
    return vec_make( a->m[0][0] * v.x + a->m[1][0] * v.y + a->m[2][0] * v.z,
        a->m[0][1] * v.x + a->m[1][1] * v.y + a->m[2][1] * v.z,
        a->m[0][2] * v.x + a->m[1][2] * v.y + a->m[2][2] * v.z );
}

SOLID vec3d pose_apply( const pose3d* pose, vec3d point )
{
    return vec_add( mat_apply( &pose->rotation, point ), pose->position );
}

SOLID pose3d load_pose( __global const double* poses, uint body )
{
    __global const double* from = poses + (size_t)body * POSE_DOUBLES;
    pose3d pose;
    for ( int i = 0; i < 9; ++i )
    {
        pose.rotation.m[i / 3][i % 3] = from[i];
    }
    pose.position = vec_make( from[9], from[10], from[11] );
    return pose;
}

SOLID void store_pose( __global double* poses, uint body, const pose3d* pose )
{
    __global double* to = poses + (size_t)body * POSE_DOUBLES;
    for ( int i = 0; i < 9; ++i )
    {
        to[i] = pose->rotation.m[i / 3][i % 3];
    }
    to[9] = pose->position.x;
    to[10] = pose->position.y;
    to[11] = pose->position.z;
}

// The matrix of a quaternion of length 1.
SOLID mat3d unit_quat_matrix( double x, double y, double z, double w )
{
    double xx = x * x, yy = y * y, zz = z * z;
    double xy = x * y, xz = x * z, yz = y * z;
    double wx = w * x, wy = w * y, wz = w * z;
    mat3d m;
    m.m[0][0] = 1 - 2 * ( yy + zz );
    m.m[0][1] = 2 * ( xy - wz );
    m.m[0][2] = 2 * ( xz + wy );
    m.m[1][0] = 2 * ( xy + wz );
    m.m[1][1] = 1 - 2 * ( xx + zz );
    m.m[1][2] = 2 * ( yz - wx );
    m.m[2][0] = 2 * ( xz - wy );
    m.m[2][1] = 2 * ( yz + wx );
    m.m[2][2] = 1 - 2 * ( xx + yy );
    return m;
}

// The same for any, brought to length 1 first; no rotation for one without a length.
SOLID mat3d quat_matrix( double x, double y, double z, double w )
{
    double squared = x * x + y * y + z * z + w * w;
    if ( !( squared > 1e-200 && squared < 1e200 ) )
    {
        return unit_quat_matrix( 0, 0, 0, 1 );
    }
    double factor = 1.0 / sqrt( squared );
    return unit_quat_matrix( x * factor, y * factor, z * factor, w * factor );
}

// ---- hulls: rows of four words (first vertex, vertices, bits of the radius, 0), and three floats a vertex

SOLID vec3d load_vertex( __global const float* vertices, uint index )
{
    __global const float* from = vertices + 3 * (size_t)index;
    return vec_make( (double)from[0], (double)from[1], (double)from[2] );
}

// ---- pairs of a simulation's frame: what its rounds remember of one

// Contacts in memory: normal, depth, the point of a, the point of b.
#define CONTACT_DOUBLES 10

#define RECORD_WORDS 16
#define RECORD_A 0
#define RECORD_B 1
#define RECORD_BITS 2
#define RECORD_MOVES_A 3 // changes of pose the bodies had when they were last found apart
#define RECORD_MOVES_B 4
#define RECORD_CACHE 5 // how many, then four of a, four of b

#define RECORD_APART 1
#define RECORD_HIT 2

// What is to be done with a task's contact.
#define STATE_DONE 0
#define STATE_MATCH 1
#define STATE_UNDECIDED 2

// Counters of a frame.
#define COUNT_HALT 0 // 0, or one more than the level that waits for the host
#define COUNT_UNCONVERGED 1
#define COUNT_SINGULAR 2
#define COUNT_DIVERGED 3
#define COUNT_DRIFTED 4
#define COUNT_UNTURNED 5
#define COUNT_HITS 6
#define COUNT_LANDED 7
#define COUNT_FLOOR_HITS 8
#define COUNT_DEPTHS 9

// A task: a pair, or behind all pairs a body that reaches the floor; the last bit for a frame's last round.
#define TASK_LAST 0x80000000u

// Words of a body: changes of pose in this frame, and bits.
#define MARK_MOVES 0
#define MARK_BITS 1
#define MARK_WORDS 2
#define MARK_TOUCHED 1
#define MARK_MATCHED 2
#define MARK_LANDED 4
#define MARK_ON_FLOOR 8
