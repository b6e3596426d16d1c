// SPDX-License-Identifier: MIT
// GJK for convex hulls: Gilbert, Johnson, Keerthi (1988). Step by step as src/physics/narrow has it, in the same order of operations, so
// that answers are the CPU's; every vertex is looked at for an extreme point, as the CPU does up to 32 of them.
// Behind common.cl and solid.cl.

#define GJK_ROUNDS 128

// The tolerances of src/physics/narrow.
#define TOUCH 1e-12
#define GJK_CLOSE_ENOUGH 1e-12
#define SIMPLEX_FLAT 1e-14

// A hull where it stands.
typedef struct solid_core
{
    pose3d pose;
    __global const float* vertices;
    uint first, count;
    double reach; // no vertex is farther from its own origin
} solid_core;

// A point of the difference of two hulls, and the two vertices it is the difference of: where these are is found again when it is
// asked for, since whatever is kept is copied in every round.
typedef struct gjk_vertex
{
    vec3d w;
    double reach; // the largest coordinate of the two
    uint index_a, index_b;
} gjk_vertex;

typedef struct gjk_simplex
{
    gjk_vertex vertices[4];
    double weights[4];
    int count;
} gjk_simplex;

typedef struct gjk_answer
{
    gjk_simplex simplex;
    vec3d nearest;
    bool touching;
    uint round_count;
} gjk_answer;

// Where the last search of a pair ended.
typedef struct gjk_cache
{
    uint count;
    uint a[4], b[4];
} gjk_cache;

typedef struct solid_contact
{
    bool touching, converged, undecided;
    vec3d normal;
    double depth;
    vec3d point_a, point_b;
    uint gjk_round_count, epa_round_count;
} solid_contact;

// ---- extreme points

SOLID vec3d core_point( const solid_core* core, uint index )
{
    return pose_apply( &core->pose, load_vertex( core->vertices, core->first + index ) );
}

// The first of equals. Four at a time: a GPU's item would wait for each vertex it reads.
SOLID uint core_support( const solid_core* core, vec3d direction )
{
    vec3d own = mat_apply_transposed( &core->pose.rotation, direction );
    uint best = 0;
    double best_height = vec_dot( load_vertex( core->vertices, core->first ), own );
    uint i = 1;
    for ( ; i + 4 <= core->count; i += 4 )
    {
        double h0 = vec_dot( load_vertex( core->vertices, core->first + i ), own );
        double h1 = vec_dot( load_vertex( core->vertices, core->first + i + 1 ), own );
        double h2 = vec_dot( load_vertex( core->vertices, core->first + i + 2 ), own );
        double h3 = vec_dot( load_vertex( core->vertices, core->first + i + 3 ), own );
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
        double height = vec_dot( load_vertex( core->vertices, core->first + i ), own );
        best = height > best_height ? i : best;
        best_height = height > best_height ? height : best_height;
    }
    return best;
}

SOLID gjk_vertex make_vertex( const solid_core* a, const solid_core* b, uint index_a, uint index_b )
{
    vec3d at_a = core_point( a, index_a ), at_b = core_point( b, index_b );
    gjk_vertex v;
    v.index_a = index_a;
    v.index_b = index_b;
    v.w = vec_sub( at_a, at_b );
    v.reach = most_of( vec_largest( at_a ), vec_largest( at_b ) );
    return v;
}

SOLID gjk_vertex difference_support( const solid_core* a, const solid_core* b, vec3d direction )
{
    return make_vertex( a, b, core_support( a, direction ), core_support( b, vec_neg( direction ) ) );
}

// ---- the simplex

typedef struct gjk_nearest
{
    double weights[4];
    vec3d point;
    double squared;
} gjk_nearest;

SOLID gjk_nearest nearest_make( vec3d point )
{
    gjk_nearest n;
    n.weights[0] = n.weights[1] = n.weights[2] = n.weights[3] = 0.0;
    n.point = point;
    n.squared = vec_dot( point, point );
    return n;
}

SOLID gjk_nearest at_vertex( vec3d p, int i )
{
    gjk_nearest n = nearest_make( p );
    n.weights[i] = 1.0;
    return n;
}

SOLID gjk_nearest on_segment( const vec3d* p, int i, int j )
{
    vec3d edge = vec_sub( p[j], p[i] );
    double length = vec_dot( edge, edge );
    double t = -vec_dot( p[i], edge );
    if ( !( t > 0.0 ) )
    {
        return at_vertex( p[i], i );
    }
    if ( t >= length )
    {
        return at_vertex( p[j], j );
    }
    t /= length;
    gjk_nearest n = nearest_make( vec_add_scaled( p[i], edge, t ) );
    n.weights[i] = 1.0 - t;
    n.weights[j] = t;
    return n;
}

SOLID gjk_nearest nearer( gjk_nearest a, gjk_nearest b )
{
    return b.squared < a.squared ? b : a;
}

SOLID gjk_nearest on_triangle( const vec3d* p, int i, int j, int k )
{
    vec3d ij = vec_sub( p[j], p[i] ), ik = vec_sub( p[k], p[i] ), jk = vec_sub( p[k], p[j] );
    vec3d normal = vec_cross( ij, ik );
    double area = vec_dot( normal, normal );
    double longest = most_of( most_of( vec_dot( ij, ij ), vec_dot( ik, ik ) ), vec_dot( jk, jk ) );
    double wi = vec_dot( normal, vec_cross( p[j], p[k] ) );
    double wj = vec_dot( normal, vec_cross( p[k], p[i] ) );
    double wk = vec_dot( normal, vec_cross( p[i], p[j] ) );
    if ( area > SIMPLEX_FLAT * SIMPLEX_FLAT * longest * longest && wi > 0.0 && wj > 0.0 && wk > 0.0 )
    {
        gjk_nearest n = nearest_make( vec_scale( normal, vec_dot( normal, p[i] ) / area ) );
        double sum = wi + wj + wk;
        n.weights[i] = wi / sum;
        n.weights[j] = wj / sum;
        n.weights[k] = wk / sum;
        return n;
    }
    return nearer( nearer( on_segment( p, i, j ), on_segment( p, i, k ) ), on_segment( p, j, k ) );
}

// Corner number c of face f of a tetrahedron, the one opposite last: 0123 0312 0231 1320.
SOLID int tetrahedron_corner( int f, int c )
{
    uint word = f == 0 ? 0x3210u : f == 1 ? 0x2130u : f == 2 ? 0x1320u : 0x0231u;
    return (int)( ( word >> ( 4 * c ) ) & 15 );
}

// The faces of a tetrahedron the origin is outside of; true with *n untouched if there is none.
SOLID bool on_tetrahedron( const vec3d* p, gjk_nearest* n )
{
    vec3d a = vec_sub( p[1], p[0] ), b = vec_sub( p[2], p[0] ), c = vec_sub( p[3], p[0] );
    double volume = vec_dot( vec_cross( a, b ), c );
    double size = sqrt( vec_dot( a, a ) * vec_dot( b, b ) * vec_dot( c, c ) );
    bool flat = size_of( volume ) <= SIMPLEX_FLAT * size;
    bool found = false;
    for ( int f = 0; f < 4; ++f )
    {
        int i = tetrahedron_corner( f, 0 ), j = tetrahedron_corner( f, 1 ), k = tetrahedron_corner( f, 2 );
        int top = tetrahedron_corner( f, 3 );
        vec3d normal = vec_cross( vec_sub( p[j], p[i] ), vec_sub( p[k], p[i] ) );
        double origin_side = -vec_dot( normal, p[i] );
        double top_side = vec_dot( normal, vec_sub( p[top], p[i] ) );
        if ( flat || origin_side * top_side < 0.0 )
        {
            gjk_nearest candidate = on_triangle( p, i, j, k );
            *n = found ? nearer( *n, candidate ) : candidate;
            found = true;
        }
    }
    return !found;
}

SOLID vec3d keep_needed( gjk_simplex* simplex, const gjk_nearest* n )
{
    int kept = 0;
    for ( int i = 0; i < simplex->count; ++i )
    {
        if ( n->weights[i] > 0.0 )
        {
            simplex->vertices[kept] = simplex->vertices[i];
            simplex->weights[kept++] = n->weights[i];
        }
    }
    simplex->count = kept;
    return n->point;
}

// The point nearest to the origin, and only the vertices it needs; four are left only around the origin, and then it is zero.
SOLID vec3d simplex_reduce( gjk_simplex* simplex )
{
    vec3d p[4];
    for ( int i = 0; i < simplex->count; ++i )
    {
        p[i] = simplex->vertices[i].w;
    }
    gjk_nearest n = at_vertex( p[0], 0 );
    if ( simplex->count == 2 )
    {
        n = on_segment( p, 0, 1 );
    }
    if ( simplex->count == 3 )
    {
        n = on_triangle( p, 0, 1, 2 );
    }
    if ( simplex->count == 4 && on_tetrahedron( p, &n ) )
    {
        return vec_make( 0, 0, 0 );
    }
    return keep_needed( simplex, &n );
}

// The points of both hulls that the weights tell.
SOLID void simplex_witness( const solid_core* core_a, const solid_core* core_b, const gjk_simplex* simplex, vec3d* a, vec3d* b )
{
    *a = vec_make( 0, 0, 0 );
    *b = vec_make( 0, 0, 0 );
    for ( int i = 0; i < simplex->count; ++i )
    {
        *a = vec_add_scaled( *a, core_point( core_a, simplex->vertices[i].index_a ), simplex->weights[i] );
        *b = vec_add_scaled( *b, core_point( core_b, simplex->vertices[i].index_b ), simplex->weights[i] );
    }
}

// ---- GJK

SOLID void gjk_start( const solid_core* a, const solid_core* b, const gjk_cache* cache, gjk_answer* g )
{
    g->simplex.count = 0;
    g->round_count = 0;
    for ( uint i = 0; i < cache->count && i < 4; ++i )
    {
        if ( cache->a[i] < a->count && cache->b[i] < b->count )
        {
            g->simplex.vertices[g->simplex.count++] = make_vertex( a, b, cache->a[i], cache->b[i] );
        }
    }
    if ( g->simplex.count == 0 )
    {
        vec3d towards = vec_sub( b->pose.position, a->pose.position );
        if ( vec_dot( towards, towards ) == 0.0 )
        {
            towards = vec_make( 1, 0, 0 );
        }
        g->simplex.vertices[0] = difference_support( a, b, towards );
        g->simplex.count = 1;
        g->round_count = 1;
    }
}

SOLID bool simplex_contains( const gjk_simplex* s, const gjk_vertex* v )
{
    for ( int i = 0; i < s->count; ++i )
    {
        if ( s->vertices[i].index_a == v->index_a && s->vertices[i].index_b == v->index_b )
        {
            return true;
        }
    }
    return false;
}

SOLID double simplex_reach( const gjk_simplex* s )
{
    double largest = 0.0;
    for ( int i = 0; i < s->count; ++i )
    {
        largest = most_of( largest, s->vertices[i].reach );
    }
    return largest;
}

// Do they touch? Ends at the first plane found between them.
SOLID void gjk_search( const solid_core* a, const solid_core* b, gjk_cache* cache, gjk_answer* g )
{
    gjk_start( a, b, cache, g );
    gjk_simplex before = g->simplex;
    double squared = (double)INFINITY, size = 0.0;
    g->touching = false;
    for ( ;; )
    {
        size = most_of( size, simplex_reach( &g->simplex ) );
        vec3d nearest = simplex_reduce( &g->simplex );
        double now = vec_dot( nearest, nearest );
        if ( g->simplex.count == 4 || now <= TOUCH * TOUCH * size * size )
        {
            g->nearest = vec_make( 0, 0, 0 );
            g->touching = true;
            break;
        }
        if ( now >= squared )
        {
            g->simplex = before; // rounding; the round before was as near as it gets
            break;
        }
        squared = now;
        g->nearest = nearest;
        if ( g->round_count >= GJK_ROUNDS )
        {
            break;
        }
        gjk_vertex v = difference_support( a, b, vec_neg( nearest ) );
        g->round_count += 1;
        double along = vec_dot( nearest, v.w );
        bool apart = along > 0.0 && along * along > 0.0;
        if ( apart || squared - along <= GJK_CLOSE_ENOUGH * squared || simplex_contains( &g->simplex, &v ) )
        {
            break;
        }
        before = g->simplex;
        g->simplex.vertices[g->simplex.count++] = v;
    }
    cache->count = (uint)g->simplex.count;
    for ( int i = 0; i < g->simplex.count; ++i )
    {
        cache->a[i] = g->simplex.vertices[i].index_a;
        cache->b[i] = g->simplex.vertices[i].index_b;
    }
}
