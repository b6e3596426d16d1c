// SPDX-License-Identifier: MIT
// Bounding volumes of bodies that stand somewhere, and sweep-and-prune over them: sections 3.2 to 3.5 of
// "Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU" (COPPE 2021). Extremes are taken in double
// and rounded outwards, as src/physics/volume does it, so that volumes are the CPU's to the last bit.

#define VOLUME_AABB 0
#define VOLUME_DOP18 1
#define VOLUME_SPHERE 2
#define DOP_AXES 9

// Square root of 2, rounded up: the length of a diagonal axis.
#define DIAGONAL 1.4142135623730952

// ---- bodies

// Every vertex of every body where it is: sources has (body, vertex of its hull).
__kernel void move_vertices( __global const double* poses, __global const uint2* sources, uint count,
    __global const float* vertices, __global double* moved )
{
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        uint2 source = sources[i];
        math_pose pose = load_pose( poses, source.x );
        math_vec3 p = math_pose_apply( &pose, math_load( vertices, source.y ) );
        moved[3 * (size_t)i] = p.x;
        moved[3 * (size_t)i + 1] = p.y;
        moved[3 * (size_t)i + 2] = p.z;
    }
}

// ---- volumes

// The nearest float that is not below the value.
static float round_up( double value )
{
    float rounded = (float)value;
    if ( (double)rounded < value )
    {
        uint bits = as_uint( rounded );
        rounded = rounded == 0.0f        ? as_float( 1u ) // the smallest denormal
            : rounded == (float)INFINITY ? rounded
            : rounded > 0.0f             ? as_float( bits + 1 )
                                         : as_float( bits - 1 );
    }
    return rounded;
}

static float round_down( double value )
{
    return -round_up( -value );
}

static math_vec3 load_moved( __global const double* moved, uint index )
{
    __global const double* from = moved + 3 * (size_t)index;
    return math_make( from[0], from[1], from[2] );
}

// Vertices of body i are starts[i] .. starts[i + 1] - 1.
__kernel void volume_aabbs( __global const double* moved, __global const uint* starts, uint count,
    __global float* volumes )
{
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        math_vec3 lower = load_moved( moved, starts[i] );
        math_vec3 upper = lower;
        uint end = starts[i + 1];
        for ( uint k = starts[i] + 1; k < end; ++k )
        {
            math_vec3 p = load_moved( moved, k );
            lower = math_make( math_min( lower.x, p.x ), math_min( lower.y, p.y ), math_min( lower.z, p.z ) );
            upper = math_make( math_max( upper.x, p.x ), math_max( upper.y, p.y ), math_max( upper.z, p.z ) );
        }
        __global float* to = volumes + 6 * (size_t)i;
        to[0] = round_down( lower.x );
        to[1] = round_down( lower.y );
        to[2] = round_down( lower.z );
        to[3] = round_up( upper.x );
        to[4] = round_up( upper.y );
        to[5] = round_up( upper.z );
    }
}

static double dop_height( math_vec3 p, uint axis )
{
    switch ( axis )
    {
    case 0: return p.x;
    case 1: return p.y;
    case 2: return p.z;
    case 3: return p.x + p.y;
    case 4: return p.x - p.y;
    case 5: return p.x + p.z;
    case 6: return p.x - p.z;
    case 7: return p.y + p.z;
    default: return p.y - p.z;
    }
}

// An item for each axis of each body, so that a body's vertices are read by nine neighbours at once.
__kernel void volume_dops( __global const double* moved, __global const uint* starts, uint count,
    __global float* volumes )
{
    uint item = (uint)get_global_id( 0 );
    uint i = item / DOP_AXES;
    uint axis = item % DOP_AXES;
    if ( i < count )
    {
        double lower = dop_height( load_moved( moved, starts[i] ), axis );
        double upper = lower;
        uint end = starts[i + 1];
        for ( uint k = starts[i] + 1; k < end; ++k )
        {
            double height = dop_height( load_moved( moved, k ), axis );
            lower = math_min( lower, height );
            upper = math_max( upper, height );
        }
        volumes[2 * DOP_AXES * (size_t)i + axis] = round_down( lower );
        volumes[2 * DOP_AXES * (size_t)i + DOP_AXES + axis] = round_up( upper );
    }
}

// No vertex is looked at. A position that is no float's loses a little when it becomes one.
__kernel void volume_spheres( __global const double* poses, __global const uint* hulls, __global const uint* rows,
    uint count, __global float* volumes )
{
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        math_pose pose = load_pose( poses, i );
        float x = (float)pose.position.x;
        float y = (float)pose.position.y;
        float z = (float)pose.position.z;
        math_vec3 off = math_sub( math_make( (double)x, (double)y, (double)z ), pose.position );
        double reach = (double)as_float( rows[4 * (size_t)hulls[i] + 2] );
        __global float* to = volumes + 4 * (size_t)i;
        to[0] = x;
        to[1] = y;
        to[2] = z;
        to[3] = round_up( ( reach + math_length( off ) ) * ( 1.0 + 0x1p-50 ) );
    }
}

// ---- the axis

static math_vec3 volume_center( __global const float* volumes, uint kind, uint i )
{
    if ( kind == VOLUME_SPHERE )
    {
        __global const float* at = volumes + 4 * (size_t)i;
        return math_make( (double)at[0], (double)at[1], (double)at[2] );
    }
    uint half_size = kind == VOLUME_AABB ? 3 : DOP_AXES;
    __global const float* at = volumes + 2 * half_size * (size_t)i;
    return math_make( ( (double)at[0] + (double)at[half_size] ) * 0.5, ( (double)at[1] + (double)at[half_size + 1] ) * 0.5,
        ( (double)at[2] + (double)at[half_size + 2] ) * 0.5 );
}

// Sums of centres about the first one and of their products, and how many, 10 doubles per group: what the
// principal axis needs.
__kernel void volume_moments( __global const float* volumes, uint kind, uint count, __global double* sums )
{
    __local double shared[GROUP];
    double own[10] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    math_vec3 origin = volume_center( volumes, kind, 0 );
    for ( uint i = (uint)get_global_id( 0 ); i < count; i += (uint)get_global_size( 0 ) )
    {
        math_vec3 p = math_sub( volume_center( volumes, kind, i ), origin );
        if ( math_largest( p ) < 1e30 )
        {
            own[0] += p.x;
            own[1] += p.y;
            own[2] += p.z;
            own[3] += p.x * p.x;
            own[4] += p.y * p.y;
            own[5] += p.z * p.z;
            own[6] += p.x * p.y;
            own[7] += p.x * p.z;
            own[8] += p.y * p.z;
            own[9] += 1.0;
        }
    }
    ADD_UP_MOMENTS( shared, own, sums )
}

// ---- sweep and prune

// Where a volume begins and ends along one of the axes; spheres outwards beyond every rounding on the way,
// for the axis must not part what the spheres' own test joins.
static float2 volume_interval( __global const float* volumes, uint kind, uint axis, uint i )
{
    if ( kind == VOLUME_SPHERE )
    {
        __global const float* at = volumes + 4 * (size_t)i;
        double middle = dop_height( math_make( (double)at[0], (double)at[1], (double)at[2] ), axis );
        double reach = (double)at[3] * ( axis < 3 ? 1.0 : DIAGONAL );
        double slack = ( math_abs( middle ) + reach ) * 0x1p-48;
        return (float2)( round_down( middle - reach - slack ), round_up( middle + reach + slack ) );
    }
    uint half_size = kind == VOLUME_AABB ? 3 : DOP_AXES;
    __global const float* at = volumes + 2 * half_size * (size_t)i;
    return (float2)( at[axis], at[half_size + axis] );
}

// Projection: keys to sort, and the intervals by body.
__kernel void volume_keys( __global const float* volumes, uint kind, uint axis, uint count, __global uint* keys,
    __global uint* values, __global float2* intervals, __global uint* slots, uint next_slot )
{
    clear_slot( slots, next_slot );
    uint i = (uint)get_global_id( 0 );
    if ( i < count )
    {
        float2 interval = volume_interval( volumes, kind, axis, i );
        keys[i] = float_key( interval.x );
        values[i] = i;
        intervals[i] = interval;
    }
}

__kernel void volume_gather( __global const float2* intervals, uint count, __global const uint* values,
    __global float2* sorted )
{
    uint at = (uint)get_global_id( 0 );
    if ( at < count )
    {
        sorted[at] = intervals[values[at]];
    }
}

static bool boxes_overlap( __global const float* a, __global const float* b, uint half_size )
{
    return a[0] <= b[half_size] && b[0] <= a[half_size] && a[1] <= b[half_size + 1] && b[1] <= a[half_size + 1] &&
        a[2] <= b[half_size + 2] && b[2] <= a[half_size + 2];
}

// The box first; the other slabs of an 18-DOP are read only where the boxes overlap.
static bool volumes_overlap( __global const float* volumes, uint kind, uint i, uint j )
{
    if ( kind == VOLUME_SPHERE )
    {
        __global const float* a = volumes + 4 * (size_t)i;
        __global const float* b = volumes + 4 * (size_t)j;
        double x = (double)a[0] - (double)b[0];
        double y = (double)a[1] - (double)b[1];
        double z = (double)a[2] - (double)b[2];
        double reach = (double)a[3] + (double)b[3];
        return x * x + y * y + z * z <= reach * reach;
    }
    uint half_size = kind == VOLUME_AABB ? 3 : DOP_AXES;
    __global const float* a = volumes + 2 * half_size * (size_t)i;
    __global const float* b = volumes + 2 * half_size * (size_t)j;
    bool is_hit = boxes_overlap( a, b, half_size );
    for ( uint axis = 3; axis < half_size && is_hit; ++axis )
    {
        is_hit = a[axis] <= b[half_size + axis] && b[axis] <= a[half_size + axis];
    }
    return is_hit;
}

// Places [first, end) of the order: each looks ahead as far as it reaches.
__kernel void volume_find( __global const float* volumes, uint kind, uint count, uint first, uint end,
    __global const uint* values, __global const float2* sorted, __global uint* slots, uint slot, __global uint2* pairs,
    uint capacity, uint counts_tests )
{
    __local pair_queue queue;
    uint at = first + (uint)get_global_id( 0 );
    volatile __global uint* counters = slots + slot * SLOT_WORDS;
    uint tests = 0;
    open_queue( &queue );
    if ( at < end )
    {
        uint own = values[at];
        float reach = sorted[at].y;
        for ( uint j = at + 1; j < count && sorted[j].x <= reach; ++j )
        {
            uint other = values[j];
            tests += 1;
            if ( volumes_overlap( volumes, kind, own, other ) )
            {
                put_pair( &queue, counters, pairs, capacity, own, other );
            }
        }
    }
    write_queue( &queue, counts_tests != 0 ? tests : 0, counters, pairs, capacity );
}
