// SPDX-License-Identifier: MIT
// Hulls where they stand, as src/core/solid/solid_gjk.h asks for them: every vertex is looked at for an
// extreme point, as the CPU does up to 32 of them. Behind solid.cl.

// Vertices of a polytope that an item has room for.
#define EPA_VERTICES 64

typedef struct narrow_core
{
    math_pose pose;
    __global const float* vertices;
    uint count;
    uint last;    // no search begins anywhere
    double reach; // no vertex is farther from its own origin
} narrow_core;

// Where the last search of a pair ended.
typedef struct clv_pair_cache
{
    uint count;
    uint a[4], b[4];
} clv_pair_cache;

SOLID narrow_core load_core( __global const double* poses, __global const uint* hulls, __global const uint* rows,
    __global const float* vertices, uint body )
{
    __global const uint* row = rows + 4 * (size_t)hulls[body];
    narrow_core core;
    core.pose = load_pose( poses, body );
    core.vertices = vertices + 3 * (size_t)row[0];
    core.count = row[1];
    core.last = 0;
    core.reach = (double)as_float( row[2] );
    return core;
}

SOLID double narrow_core_extent( const narrow_core* core )
{
    return core->reach;
}

SOLID uint clv_narrow_core_point_count( const narrow_core* core )
{
    return core->count;
}

SOLID math_vec3 clv_narrow_core_point( const narrow_core* core, uint index )
{
    return math_pose_apply( &core->pose, math_load( core->vertices, index ) );
}

// The first of equals. Four at a time: a GPU's item would wait for each vertex it reads.
SOLID math_vec3 clv_narrow_core_support( narrow_core* core, math_vec3 direction, uint* index )
{
    math_vec3 own = math_apply_transposed( &core->pose.rotation, direction );
    uint best = 0;
    double best_height = math_dot( math_load( core->vertices, 0 ), own );
    uint i = 1;
    for ( ; i + 4 <= core->count; i += 4 )
    {
        double h0 = math_dot( math_load( core->vertices, i ), own );
        double h1 = math_dot( math_load( core->vertices, i + 1 ), own );
        double h2 = math_dot( math_load( core->vertices, i + 2 ), own );
        double h3 = math_dot( math_load( core->vertices, i + 3 ), own );
        best = h0 > best_height ? i : best;
        best_height = h0 > best_height ? h0 : best_height;
        best = h1 > best_height ? i + 1 : best;
        best_height = h1 > best_height ? h1 : best_height;
        best = h2 > best_height ? i + 2 : best;
        best_height = h2 > best_height ? h2 : best_height;
        best = h3 > best_height ? i + 3 : best;
        best_height = h3 > best_height ? h3 : best_height;
    }
    for ( ; i < core->count; ++i )
    {
        double height = math_dot( math_load( core->vertices, i ), own );
        best = height > best_height ? i : best;
        best_height = height > best_height ? height : best_height;
    }
    *index = best;
    return clv_narrow_core_point( core, best );
}
