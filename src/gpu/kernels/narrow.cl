// SPDX-License-Identifier: MIT
// GJK and EPA for convex hulls, one pair an item: Gilbert, Johnson, Keerthi (1988), and van den Bergen, "Proximity queries and
// penetration depth computation on 3d game objects" (2001), which paper 003 ("Detecção de Colisão usando Sweep and Prune com
// k-DOPs em GPU", COPPE 2021) leaves on the CPU. Step by step as src/physics/narrow has them, in the same order of operations,
// so that contacts are the CPU's; every vertex is looked at for an extreme point, as the CPU does up to 32 of them.
//
// What differs is room: a polytope of EPA_VERTICES lies in an item's own memory. A pair that needs more is undecided, and the
// host, which compiles this very text with more room (gpu_solid_host.c), finishes it.

#ifndef EPA_VERTICES
#define EPA_VERTICES 64
#endif
#define EPA_FACES ( 2 * EPA_VERTICES )
#define NO_INDEX 0xFFFF

#define GJK_ROUNDS 128
#define EPA_ROUNDS 256

// The tolerances of src/physics/narrow.
#define TOUCH 1e-12
#define GJK_CLOSE_ENOUGH 1e-12
#define SIMPLEX_FLAT 1e-14
#define EPA_CLOSE_ENOUGH 1e-9
#define EPA_ABOVE 1e-13
#define EPA_FLAT 1e-10

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

// ---- EPA: the polytope

typedef struct epa_vertex
{
    vec3d w;
    uint index_a, index_b;
} epa_vertex;

typedef struct epa_face
{
    vec3d normal;
    double distance;
    ushort corners[3];
    ushort across[3]; // over the edge corners[i] -> corners[i + 1]
    ushort mark;      // the round in which it was found visible; 0 before
    ushort alive;
} epa_face;

typedef struct epa_edge
{
    ushort from, to;
    ushort outside; // the face that stays, and its side
    ushort side;
} epa_edge;

typedef struct epa_polytope
{
    const solid_core *a, *b;
    epa_vertex vertices[EPA_VERTICES];
    epa_face faces[EPA_FACES];
    epa_edge edges[EPA_FACES]; // the rim of what a new vertex sees
    ushort seen[EPA_FACES];
    ushort made[EPA_FACES];
    ushort next_edge[EPA_VERTICES];
    uint edge_count, seen_count;
    uint vertex_count, face_count, free_face;
    uint room; // vertices, EPA_VERTICES at most
    double size;
    uint best_corners[3];
    solid_contact* contact;
} epa_polytope;

SOLID epa_vertex epa_ask( epa_polytope* p, vec3d direction )
{
    p->contact->epa_round_count += 1;
    gjk_vertex v = difference_support( p->a, p->b, direction );
    epa_vertex kept;
    kept.w = v.w;
    kept.index_a = v.index_a;
    kept.index_b = v.index_b;
    return kept;
}

SOLID bool epa_add_if_off( epa_polytope* p, epa_vertex v, double measure, double limit )
{
    if ( measure > limit )
    {
        p->vertices[p->vertex_count++] = v;
        return true;
    }
    return false;
}

SOLID bool epa_find_second( epa_polytope* p )
{
    for ( int i = 0; i < 6; ++i )
    {
        double sign = ( i & 1 ) != 0 ? -1.0 : 1.0;
        vec3d direction = vec_make( i / 2 == 0 ? sign : 0, i / 2 == 1 ? sign : 0, i / 2 == 2 ? sign : 0 );
        epa_vertex v = epa_ask( p, direction );
        if ( epa_add_if_off( p, v, vec_length( vec_sub( v.w, p->vertices[0].w ) ), EPA_FLAT * p->size ) )
        {
            return true;
        }
    }
    return false;
}

SOLID bool epa_find_third( epa_polytope* p, vec3d* line )
{
    vec3d edge = vec_sub( p->vertices[1].w, p->vertices[0].w );
    *line = vec_normalize( edge, vec_make( 1, 0, 0 ) );
    vec3d side = vec_perpendicular( *line ), other = vec_cross( *line, side );
    for ( int i = 0; i < 4; ++i )
    {
        vec3d direction = i == 0 ? side : i == 1 ? other : i == 2 ? vec_neg( side ) : vec_neg( other );
        epa_vertex v = epa_ask( p, direction );
        vec3d off = vec_cross( *line, vec_sub( v.w, p->vertices[0].w ) );
        if ( epa_add_if_off( p, v, vec_length( off ), EPA_FLAT * p->size ) )
        {
            return true;
        }
    }
    return false;
}

SOLID bool epa_find_fourth( epa_polytope* p, vec3d* normal )
{
    vec3d a = vec_sub( p->vertices[1].w, p->vertices[0].w ), b = vec_sub( p->vertices[2].w, p->vertices[0].w );
    *normal = vec_normalize( vec_cross( a, b ), vec_make( 0, 1, 0 ) );
    epa_vertex up = epa_ask( p, *normal );
    epa_vertex down = epa_ask( p, vec_neg( *normal ) );
    double above = vec_dot( *normal, vec_sub( up.w, p->vertices[0].w ) );
    double below = -vec_dot( *normal, vec_sub( down.w, p->vertices[0].w ) );
    return above >= below ? epa_add_if_off( p, up, above, EPA_FLAT * p->size )
                          : epa_add_if_off( p, down, below, EPA_FLAT * p->size );
}

// A difference without thickness: the hulls touch along it, and any move across it parts them.
SOLID void epa_answer_flat( epa_polytope* p, vec3d normal )
{
    vec3d towards = vec_sub( p->b->pose.position, p->a->pose.position );
    p->contact->normal = vec_dot( normal, towards ) < 0.0 ? vec_neg( normal ) : normal;
    p->contact->depth = 0.0;
    p->contact->converged = true;
}

SOLID bool epa_is_tetrahedron( const epa_polytope* p )
{
    vec3d a = vec_sub( p->vertices[1].w, p->vertices[0].w ), b = vec_sub( p->vertices[2].w, p->vertices[0].w );
    vec3d c = vec_sub( p->vertices[3].w, p->vertices[0].w ), normal = vec_cross( a, b );
    return size_of( vec_dot( normal, c ) ) > EPA_FLAT * p->size * vec_length( normal );
}

SOLID void epa_copy( epa_polytope* p, uint to, const gjk_vertex* v )
{
    p->vertices[to].w = v->w;
    p->vertices[to].index_a = v->index_a;
    p->vertices[to].index_b = v->index_b;
}

// GJK ends with fewer than four vertices where the origin is on a face, an edge or a vertex of what it had; and with four
// without volume where they are on one plane with it. Then a vertex off the plane is looked for.
SOLID bool epa_make_tetrahedron( epa_polytope* p, const gjk_simplex* simplex )
{
    epa_copy( p, 0, &simplex->vertices[0] ); // there is always one
    for ( int i = 1; i < simplex->count; ++i )
    {
        epa_copy( p, (uint)i, &simplex->vertices[i] );
    }
    p->vertex_count = (uint)simplex->count;
    if ( p->vertex_count == 4 && !epa_is_tetrahedron( p ) )
    {
        p->vertex_count = 3;
        vec3d e = vec_sub( p->vertices[1].w, p->vertices[0].w ), f = vec_sub( p->vertices[2].w, p->vertices[0].w );
        if ( vec_length( vec_cross( e, f ) ) <= EPA_FLAT * p->size * p->size )
        {
            epa_copy( p, 2, &simplex->vertices[3] );
        }
    }
    vec3d direction = vec_make( 0, 1, 0 );
    if ( p->vertex_count == 1 && !epa_find_second( p ) )
    {
        direction = vec_normalize( vec_sub( p->b->pose.position, p->a->pose.position ), direction );
        epa_answer_flat( p, direction );
        return false;
    }
    if ( p->vertex_count == 2 && !epa_find_third( p, &direction ) )
    {
        epa_answer_flat( p, vec_perpendicular( direction ) );
        return false;
    }
    if ( p->vertex_count == 3 && !epa_find_fourth( p, &direction ) )
    {
        epa_answer_flat( p, direction );
        return false;
    }
    return true;
}

// ---- EPA: faces

SOLID uint epa_take_face( epa_polytope* p )
{
    uint index = p->free_face;
    if ( index != NO_INDEX )
    {
        p->free_face = p->faces[index].across[0];
        return index;
    }
    return p->face_count < EPA_FACES ? p->face_count++ : NO_INDEX;
}

// `behind`: the face over its first edge. A triangle without area lies along that edge, so on that face's plane.
SOLID void epa_set_face( epa_polytope* p, uint index, uint i, uint j, uint k, uint behind )
{
    epa_face* f = &p->faces[index];
    vec3d o = p->vertices[i].w;
    vec3d e = vec_sub( p->vertices[j].w, o ), g = vec_sub( p->vertices[k].w, o );
    vec3d normal = vec_cross( e, g );
    double area = vec_length( normal ), longest = most_of( vec_dot( e, e ), vec_dot( g, g ) );
    f->corners[0] = (ushort)i;
    f->corners[1] = (ushort)j;
    f->corners[2] = (ushort)k;
    f->across[0] = f->across[1] = f->across[2] = (ushort)behind;
    f->mark = 0;
    f->alive = 1;
    if ( area <= 1e-14 * longest && behind != NO_INDEX )
    {
        f->normal = p->faces[behind].normal;
        f->distance = p->faces[behind].distance;
    }
    else
    {
        f->normal = vec_normalize( normal, vec_make( 0, 1, 0 ) );
        f->distance = vec_dot( f->normal, o );
    }
}

// Corners and faces across, four bits each: 012 031 132 230, and 123 320 130 210.
SOLID uint epa_digit( uint word, uint place )
{
    return ( word >> ( 4 * place ) ) & 15;
}

SOLID void epa_make_first_faces( epa_polytope* p )
{
    vec3d o = p->vertices[0].w;
    vec3d normal = vec_cross( vec_sub( p->vertices[1].w, o ), vec_sub( p->vertices[2].w, o ) );
    if ( vec_dot( normal, vec_sub( p->vertices[3].w, o ) ) > 0.0 )
    {
        epa_vertex swapped = p->vertices[1];
        p->vertices[1] = p->vertices[2];
        p->vertices[2] = swapped;
    }
    for ( uint f = 0; f < 4; ++f )
    {
        uint corners = f == 0 ? 0x210u : f == 1 ? 0x130u : f == 2 ? 0x231u : 0x032u;
        uint across = f == 0 ? 0x321u : f == 1 ? 0x023u : f == 2 ? 0x031u : 0x012u;
        uint index = epa_take_face( p );
        epa_set_face( p, index, epa_digit( corners, 0 ), epa_digit( corners, 1 ), epa_digit( corners, 2 ), NO_INDEX );
        for ( uint i = 0; i < 3; ++i )
        {
            p->faces[index].across[i] = (ushort)epa_digit( across, i );
        }
    }
}

// The first of equals; some face is alive, and those that are not are infinitely far away.
SOLID uint epa_find_nearest( const epa_polytope* p )
{
    uint best = 0;
    double nearest = p->faces[0].distance;
    uint f = 1;
    for ( ; f + 4 <= p->face_count; f += 4 )
    {
        double d0 = p->faces[f].distance, d1 = p->faces[f + 1].distance;
        double d2 = p->faces[f + 2].distance, d3 = p->faces[f + 3].distance;
        best = d0 < nearest ? f : best;
        nearest = d0 < nearest ? d0 : nearest;
        best = d1 < nearest ? f + 1 : best;
        nearest = d1 < nearest ? d1 : nearest;
        best = d2 < nearest ? f + 2 : best;
        nearest = d2 < nearest ? d2 : nearest;
        best = d3 < nearest ? f + 3 : best;
        nearest = d3 < nearest ? d3 : nearest;
    }
    for ( ; f < p->face_count; ++f )
    {
        double distance = p->faces[f].distance;
        best = distance < nearest ? f : best;
        nearest = distance < nearest ? distance : nearest;
    }
    return best;
}

// ---- EPA: one vertex more

SOLID bool epa_sees( const epa_polytope* p, uint f, vec3d w )
{
    return vec_dot( p->faces[f].normal, w ) - p->faces[f].distance > EPA_ABOVE * p->size;
}

SOLID void epa_find_seen( epa_polytope* p, uint first, vec3d w, ushort round )
{
    p->seen_count = 1;
    p->seen[0] = (ushort)first;
    p->faces[first].mark = round;
    for ( uint n = 0; n < p->seen_count; ++n )
    {
        for ( uint i = 0; i < 3; ++i )
        {
            uint other = p->faces[p->seen[n]].across[i];
            if ( p->faces[other].mark != round && epa_sees( p, other, w ) )
            {
                p->faces[other].mark = round;
                p->seen[p->seen_count++] = (ushort)other;
            }
        }
    }
}

// The edges around all faces that are seen.
SOLID void epa_find_rim( epa_polytope* p, ushort round )
{
    p->edge_count = 0;
    for ( uint n = 0; n < p->seen_count; ++n )
    {
        const epa_face* f = &p->faces[p->seen[n]];
        for ( uint i = 0; i < 3; ++i )
        {
            const epa_face* other = &p->faces[f->across[i]];
            if ( other->mark != round && p->edge_count < EPA_FACES )
            {
                ushort end = f->corners[( i + 1 ) % 3];
                uint side = 0; // the side of `other` that starts where this edge ends
                while ( side < 2 && other->corners[side] != end )
                {
                    side += 1;
                }
                epa_edge* edge = &p->edges[p->edge_count++];
                edge->from = f->corners[i];
                edge->to = end;
                edge->outside = f->across[i];
                edge->side = (ushort)side;
            }
        }
    }
}

// Rounding can tear the rim into two loops or let it meet itself; then the polytope is left as it was.
SOLID bool epa_is_loop( epa_polytope* p )
{
    for ( uint i = 0; i < p->vertex_count; ++i )
    {
        p->next_edge[i] = NO_INDEX;
    }
    for ( uint i = 0; i < p->edge_count; ++i )
    {
        if ( p->next_edge[p->edges[i].from] != NO_INDEX )
        {
            return false;
        }
        p->next_edge[p->edges[i].from] = (ushort)i;
    }
    uint length = 0, at = 0;
    do
    {
        at = p->next_edge[p->edges[at].to];
        length += 1;
    } while ( at != 0 && at < p->edge_count && length <= p->edge_count );
    return length == p->edge_count && at == 0;
}

SOLID bool epa_build_fan( epa_polytope* p, uint vertex )
{
    for ( uint n = 0; n < p->seen_count; ++n )
    {
        epa_face* f = &p->faces[p->seen[n]];
        f->alive = 0;
        f->distance = (double)INFINITY;
        f->across[0] = (ushort)p->free_face;
        p->free_face = p->seen[n];
    }
    for ( uint i = 0; i < p->edge_count; ++i )
    {
        uint made = epa_take_face( p );
        if ( made == NO_INDEX )
        {
            return false;
        }
        p->made[i] = (ushort)made;
        epa_set_face( p, made, p->edges[i].from, p->edges[i].to, vertex, p->edges[i].outside );
        p->faces[p->edges[i].outside].across[p->edges[i].side] = (ushort)made;
    }
    for ( uint i = 0; i < p->edge_count; ++i )
    {
        uint following = p->made[p->next_edge[p->edges[i].to]];
        p->faces[p->made[i]].across[1] = (ushort)following;
        p->faces[following].across[2] = p->made[i];
    }
    return true;
}

SOLID bool epa_expand( epa_polytope* p, uint nearest, epa_vertex v )
{
    ushort round = (ushort)p->contact->epa_round_count;
    epa_find_seen( p, nearest, v.w, round );
    epa_find_rim( p, round );
    if ( p->edge_count < 3 || !epa_is_loop( p ) )
    {
        return false;
    }
    if ( p->vertex_count >= p->room )
    {
        p->contact->undecided = true;
        return false;
    }
    uint index = p->vertex_count++;
    p->vertices[index] = v;
    return epa_build_fan( p, index );
}

// ---- EPA: the search

SOLID void epa_keep_best( epa_polytope* p, const epa_face* f, double depth )
{
    if ( depth < p->contact->depth )
    {
        p->contact->depth = depth;
        p->contact->normal = f->normal;
        for ( int i = 0; i < 3; ++i )
        {
            p->best_corners[i] = f->corners[i];
        }
    }
}

SOLID void epa_search( epa_polytope* p )
{
    p->contact->depth = (double)INFINITY;
    while ( p->contact->epa_round_count < EPA_ROUNDS )
    {
        uint nearest = epa_find_nearest( p );
        const epa_face* f = &p->faces[nearest];
        if ( f->distance >= p->contact->depth - EPA_CLOSE_ENOUGH * p->size )
        {
            p->contact->converged = true; // no face is nearer than the best answer
            return;
        }
        epa_vertex v = epa_ask( p, f->normal );
        double depth = vec_dot( f->normal, v.w );
        epa_keep_best( p, f, depth );
        if ( depth - f->distance <= EPA_CLOSE_ENOUGH * p->size )
        {
            p->contact->converged = true;
            return;
        }
        if ( !epa_expand( p, nearest, v ) )
        {
            return;
        }
    }
}

// How far the point depth * normal is from a face, and the points of both hulls that make the face's nearest point.
SOLID double epa_points_on( const epa_polytope* p, uint i, uint j, uint k, vec3d* a, vec3d* b )
{
    gjk_simplex s;
    s.count = 3;
    vec3d target = vec_scale( p->contact->normal, p->contact->depth );
    for ( int n = 0; n < 3; ++n )
    {
        const epa_vertex* v = &p->vertices[n == 0 ? i : n == 1 ? j : k];
        s.vertices[n].index_a = v->index_a;
        s.vertices[n].index_b = v->index_b;
        s.vertices[n].reach = 0.0;
        s.vertices[n].w = vec_sub( v->w, target );
    }
    double off = vec_length( simplex_reduce( &s ) );
    simplex_witness( p->a, p->b, &s, a, b );
    return off;
}

// The face that ended the search need not be the one the origin is opposite to, nor be alive; some face is.
SOLID void epa_find_points( const epa_polytope* p )
{
    solid_contact* contact = p->contact;
    double off = epa_points_on( p, p->best_corners[0], p->best_corners[1], p->best_corners[2], &contact->point_a,
        &contact->point_b );
    for ( uint f = 0; f < p->face_count && off > EPA_CLOSE_ENOUGH * p->size; ++f )
    {
        const epa_face* face = &p->faces[f];
        if ( face->alive != 0 && face->distance <= contact->depth + 2 * EPA_CLOSE_ENOUGH * p->size )
        {
            vec3d a, b;
            double now = epa_points_on( p, face->corners[0], face->corners[1], face->corners[2], &a, &b );
            if ( now < off )
            {
                off = now;
                contact->point_a = a;
                contact->point_b = b;
            }
        }
    }
}

SOLID void epa_answer( const solid_core* a, const solid_core* b, const gjk_answer* found, uint room, solid_contact* contact )
{
    epa_polytope p;
    p.a = a;
    p.b = b;
    p.vertex_count = p.face_count = 0;
    p.free_face = NO_INDEX;
    p.best_corners[0] = p.best_corners[1] = p.best_corners[2] = 0;
    p.room = room < EPA_VERTICES ? room : EPA_VERTICES;
    p.size = a->reach + b->reach;
    p.contact = contact;
    if ( !epa_make_tetrahedron( &p, &found->simplex ) )
    {
        // Some point of the flat difference at the origin; three vertices of four on a plane are enough.
        gjk_simplex s = found->simplex;
        s.count = s.count == 4 ? 3 : s.count;
        simplex_reduce( &s );
        simplex_witness( a, b, &s, &contact->point_a, &contact->point_b );
        return;
    }
    epa_make_first_faces( &p );
    epa_search( &p );
    contact->depth = most_of( contact->depth, 0.0 );
    epa_find_points( &p );
}

// ---- contacts

// Everything but `touching` and the rounds of GJK is left at nothing where they are apart.
SOLID solid_contact find_contact( const solid_core* a, const solid_core* b, uint room, gjk_cache* cache )
{
    gjk_answer g;
    solid_contact contact;
    gjk_search( a, b, cache, &g );
    contact.touching = g.touching || vec_length( g.nearest ) <= 0.0;
    contact.converged = contact.undecided = false;
    contact.normal = vec_make( 0, 1, 0 );
    contact.depth = 0.0;
    contact.point_a = contact.point_b = vec_make( 0, 0, 0 );
    contact.gjk_round_count = g.round_count;
    contact.epa_round_count = 0;
    if ( g.touching )
    {
        epa_answer( a, b, &g, room, &contact );
    }
    return contact;
}

SOLID solid_core load_core( __global const double* poses, __global const uint* hulls, __global const uint* rows,
    __global const float* vertices, uint body )
{
    __global const uint* row = rows + 4 * (size_t)hulls[body];
    solid_core core;
    core.pose = load_pose( poses, body );
    core.vertices = vertices;
    core.first = row[0];
    core.count = row[1];
    core.reach = (double)as_float( row[2] );
    return core;
}

SOLID void store_contact( __global double* numbers, uint index, const solid_contact* contact )
{
    __global double* to = numbers + (size_t)index * CONTACT_DOUBLES;
    to[0] = contact->normal.x;
    to[1] = contact->normal.y;
    to[2] = contact->normal.z;
    to[3] = contact->depth;
    to[4] = contact->point_a.x;
    to[5] = contact->point_a.y;
    to[6] = contact->point_a.z;
    to[7] = contact->point_b.x;
    to[8] = contact->point_b.y;
    to[9] = contact->point_b.z;
}

#define CONTACT_TOUCHING 1
#define CONTACT_CONVERGED 2
#define CONTACT_UNDECIDED 4

SOLID uint contact_bits( const solid_contact* contact )
{
    return ( contact->touching ? CONTACT_TOUCHING : 0u ) | ( contact->converged ? CONTACT_CONVERGED : 0u ) |
        ( contact->undecided ? CONTACT_UNDECIDED : 0u );
}

// ---- pairs of a simulation's frame

SOLID void load_cache( __global const uint* record, gjk_cache* cache )
{
    cache->count = record[RECORD_CACHE];
    for ( int i = 0; i < 4; ++i )
    {
        cache->a[i] = record[RECORD_CACHE + 1 + i];
        cache->b[i] = record[RECORD_CACHE + 5 + i];
    }
}

SOLID void store_cache( __global uint* record, const gjk_cache* cache )
{
    record[RECORD_CACHE] = cache->count;
    for ( uint i = 0; i < cache->count; ++i )
    {
        record[RECORD_CACHE + 1 + i] = cache->a[i];
        record[RECORD_CACHE + 5 + i] = cache->b[i];
    }
}

#ifndef SOLID_ON_HOST

// Items `stride` apart work: neighbours that go different ways through a search wait for each other on a GPU.
// facts: bits, rounds of GJK, rounds of EPA, 0.
__kernel void find_contacts( __global const double* poses, __global const uint* hulls, __global const uint* rows,
    __global const float* vertices, __global const uint2* pairs, uint count, uint stride, uint room,
    __global uint4* facts, __global double* numbers )
{
    uint item = (uint)get_global_id( 0 );
    uint i = item / stride;
    if ( i < count && item % stride == 0 )
    {
        uint2 pair = pairs[i];
        solid_core a = load_core( poses, hulls, rows, vertices, pair.x );
        solid_core b = load_core( poses, hulls, rows, vertices, pair.y );
        gjk_cache cache;
        cache.count = 0;
        solid_contact contact = find_contact( &a, &b, room, &cache );
        store_contact( numbers, i, &contact );
        facts[i] = (uint4)( contact_bits( &contact ), contact.gjk_round_count, contact.epa_round_count, 0 );
    }
}

// One task of a level: pairs of a level have no body in common, so that each finds its bodies as the levels before left them.
inline void solve_pair( solid_core* a, solid_core* b, uint pair, __global uint* records, __global const uint* marks,
    uint room, __global uint* states, __global double* numbers, __global double* depths, bool is_last,
    volatile __global uint* counts, uint level )
{
    __global uint* record = records + (size_t)pair * RECORD_WORDS;
    uint moves_a = marks[(size_t)record[RECORD_A] * MARK_WORDS];
    uint moves_b = marks[(size_t)record[RECORD_B] * MARK_WORDS];
    states[pair] = STATE_DONE;
    if ( ( record[RECORD_BITS] & RECORD_APART ) != 0 && record[RECORD_MOVES_A] == moves_a &&
        record[RECORD_MOVES_B] == moves_b )
    {
        return; // nothing has changed since they were found apart
    }
    gjk_cache cache;
    load_cache( record, &cache );
    solid_contact contact = find_contact( a, b, room, &cache );
    if ( contact.undecided )
    {
        states[pair] = STATE_UNDECIDED; // the record stays: the host begins where this began
        atomic_max( counts + COUNT_HALT, level + 1 );
        return;
    }
    store_cache( record, &cache );
    record[RECORD_MOVES_A] = moves_a;
    record[RECORD_MOVES_B] = moves_b;
    uint bits = record[RECORD_BITS] & RECORD_HIT;
    if ( contact.touching && bits == 0 )
    {
        atomic_inc( counts + COUNT_HITS );
    }
    record[RECORD_BITS] = contact.touching ? RECORD_HIT : bits | RECORD_APART;
    if ( contact.touching && !contact.converged )
    {
        atomic_inc( counts + COUNT_UNCONVERGED );
    }
    else if ( contact.touching )
    {
        store_contact( numbers, pair, &contact );
        states[pair] = STATE_MATCH;
        if ( is_last )
        {
            depths[pair] = contact.depth;
        }
    }
}

// The lowest vertex against the plane y = 0.
inline void solve_floor( solid_core* core, uint body, uint task, __global uint* marks, __global uint* states,
    __global double* numbers, __global double* depths, bool is_last )
{
    vec3d up = vec_make( 0, 1, 0 );
    vec3d lowest = core_point( core, core_support( core, vec_neg( up ) ) );
    double depth = 0.0 - vec_dot( up, lowest );
    states[task] = STATE_DONE;
    if ( depth >= 0.0 )
    {
        marks[(size_t)body * MARK_WORDS + MARK_BITS] |= MARK_ON_FLOOR;
        states[task] = STATE_MATCH;
        numbers[(size_t)task * CONTACT_DOUBLES + 3] = depth;
        if ( is_last )
        {
            depths[task] = depth;
        }
    }
}

// Tasks [first, end) of one level.
__kernel void sim_narrow( __global const double* poses, __global const uint* hulls, __global const uint* rows,
    __global const float* vertices, __global const uint* tasks, uint first, uint end, uint stride, uint pair_count,
    __global uint* records, __global uint* marks, uint room_and_level, __global uint* states, __global double* numbers,
    __global double* depths, __global uint* counts )
{
    uint item = (uint)get_global_id( 0 );
    uint at = first + item / stride;
    uint level = room_and_level & 0xFFFFFF;
    uint halt = counts[COUNT_HALT];
    if ( at < end && item % stride == 0 && ( halt == 0 || halt > level ) )
    {
        uint task = tasks[at] & ~TASK_LAST;
        bool is_last = ( tasks[at] & TASK_LAST ) != 0;
        if ( task < pair_count )
        {
            __global const uint* record = records + (size_t)task * RECORD_WORDS;
            solid_core a = load_core( poses, hulls, rows, vertices, record[RECORD_A] );
            solid_core b = load_core( poses, hulls, rows, vertices, record[RECORD_B] );
            solve_pair( &a, &b, task, records, marks, room_and_level >> 24, states, numbers, depths, is_last, counts, level );
        }
        else
        {
            solid_core core = load_core( poses, hulls, rows, vertices, task - pair_count );
            solve_floor( &core, task - pair_count, task, marks, states, numbers, depths, is_last );
        }
    }
}

#endif
