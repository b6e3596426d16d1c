// SPDX-License-Identifier: MIT
// The expanding polytope algorithm: van den Bergen, "Proximity queries and penetration depth computation on
// 3d game objects" (2001). Inside the difference of two shapes a polytope grows, from GJK's simplex on, where
// its surface is nearest to the origin, until that face is one of the difference's own. Every direction n
// that was asked for an extreme point w is an answer of its own: moving b by n * dot( n, w ) parts the
// shapes. So the best of them is kept, and whatever goes wrong later leaves an answer that holds.
#include "narrow/epa.h"

#include "base/assertion.h"

#define MAX_VERTICES ( NARROW_EPA_ROUNDS + 8 )
#define MAX_FACES ( 2 * MAX_VERTICES )
#define NO_INDEX UINT16_MAX

// Shares of the size of the difference: how near a face counts as its surface, and how far a point is above a
// plane.
#define EPA_CLOSE_ENOUGH 1e-9
#define ABOVE 1e-13
#define EPA_FLAT 1e-10

typedef struct polytope_face
{
    math_vec3 normal; // out
    double distance;  // of its plane from the origin; never far below 0, for the origin is inside
    uint16_t corners[3];
    uint16_t across[3]; // over the edge corners[i] -> corners[i + 1]
    uint32_t mark;      // the round in which it was found visible; 0 before
    bool alive;
} polytope_face;

typedef struct polytope
{
    narrow_core *a, *b;
    narrow_vertex vertices[MAX_VERTICES];
    polytope_face faces[MAX_FACES];
    uint16_t vertex_count;
    uint16_t face_count; // alive, dead or free
    uint16_t free_face;  // linked through across[0]
    double size;
    narrow_epa* result;
    uint16_t best_corners[3]; // the face the best direction so far belongs to
} polytope;

static narrow_vertex ask( polytope* p, math_vec3 direction )
{
    p->result->round_count += 1;
    return clv_narrow_difference_support( p->a, p->b, direction );
}

// ---- the first tetrahedron

static bool add_if_off( polytope* p, narrow_vertex v, double measure, double limit )
{
    if ( measure > limit )
    {
        p->vertices[p->vertex_count++] = v;
        return true;
    }
    return false;
}

static bool find_second( polytope* p )
{
    for ( int i = 0; i < 6; ++i )
    {
        double sign = i & 1 ? -1.0 : 1.0;
        math_vec3 direction =
            math_make( i / 2 == 0 ? sign : 0, i / 2 == 1 ? sign : 0, i / 2 == 2 ? sign : 0 );
        narrow_vertex v = ask( p, direction );
        if ( add_if_off( p, v, math_length( math_sub( v.w, p->vertices[0].w ) ), EPA_FLAT * p->size ) )
        {
            return true;
        }
    }
    return false;
}

static bool find_third( polytope* p, math_vec3* line )
{
    math_vec3 edge = math_sub( p->vertices[1].w, p->vertices[0].w );
    *line = math_normalize( edge, math_make( 1, 0, 0 ) );
    math_vec3 side = math_perpendicular( *line ), other = math_cross( *line, side );
    math_vec3 directions[4] = { side, other, math_neg( side ), math_neg( other ) };
    for ( int i = 0; i < 4; ++i )
    {
        narrow_vertex v = ask( p, directions[i] );
        math_vec3 off = math_cross( *line, math_sub( v.w, p->vertices[0].w ) );
        if ( add_if_off( p, v, math_length( off ), EPA_FLAT * p->size ) )
        {
            return true;
        }
    }
    return false;
}

static bool find_fourth( polytope* p, math_vec3* normal )
{
    math_vec3 a = math_sub( p->vertices[1].w, p->vertices[0].w ),
              b = math_sub( p->vertices[2].w, p->vertices[0].w );
    *normal = math_normalize( math_cross( a, b ), math_make( 0, 1, 0 ) );
    narrow_vertex up = ask( p, *normal ), down = ask( p, math_neg( *normal ) );
    double above = math_dot( *normal, math_sub( up.w, p->vertices[0].w ) );
    double below = -math_dot( *normal, math_sub( down.w, p->vertices[0].w ) );
    return above >= below ? add_if_off( p, up, above, EPA_FLAT * p->size )
                          : add_if_off( p, down, below, EPA_FLAT * p->size );
}

// A difference without thickness: the shapes touch along it, and any move across it parts them.
static void answer_flat( polytope* p, math_vec3 normal )
{
    math_vec3 towards = math_sub( p->b->pose.position, p->a->pose.position );
    p->result->normal = math_dot( normal, towards ) < 0.0 ? math_neg( normal ) : normal;
    p->result->depth = 0.0;
    p->result->converged = true;
}

static bool is_tetrahedron( const polytope* p )
{
    math_vec3 a = math_sub( p->vertices[1].w, p->vertices[0].w ),
              b = math_sub( p->vertices[2].w, p->vertices[0].w );
    math_vec3 c = math_sub( p->vertices[3].w, p->vertices[0].w ), normal = math_cross( a, b );
    return math_abs( math_dot( normal, c ) ) > EPA_FLAT * p->size * math_length( normal );
}

// GJK ends with fewer than four vertices where the origin is on a face, an edge or a vertex of what it had;
// and with four that have no volume if they are on one plane with it. As paper 003 does: look for a vertex
// off the plane. It may be any, the origin is on the surface already.
static bool make_tetrahedron( polytope* p, const narrow_simplex* simplex )
{
    for ( int i = 0; i < simplex->count; ++i )
    {
        p->vertices[i] = simplex->vertices[i];
    }
    p->vertex_count = (uint16_t)simplex->count;
    if ( p->vertex_count == 4 && !is_tetrahedron( p ) )
    {
        p->vertex_count = 3;
        math_vec3 e = math_sub( p->vertices[1].w, p->vertices[0].w ),
                  f = math_sub( p->vertices[2].w, p->vertices[0].w );
        if ( math_length( math_cross( e, f ) ) <= EPA_FLAT * p->size * p->size )
        {
            p->vertices[2] = simplex->vertices[3];
        }
    }

    math_vec3 direction = { 0, 1, 0 };
    if ( p->vertex_count == 1 && !find_second( p ) )
    {
        direction = math_normalize( math_sub( p->b->pose.position, p->a->pose.position ), direction );
        answer_flat( p, direction );
        return false;
    }
    if ( p->vertex_count == 2 && !find_third( p, &direction ) )
    {
        answer_flat( p, math_perpendicular( direction ) );
        return false;
    }
    if ( p->vertex_count == 3 && !find_fourth( p, &direction ) )
    {
        answer_flat( p, direction );
        return false;
    }
    return true;
}

// ---- faces

static uint16_t take_polytope_face( polytope* p )
{
    uint16_t index = p->free_face;
    if ( index != NO_INDEX )
    {
        p->free_face = p->faces[index].across[0];
        return index;
    }
    return p->face_count < MAX_FACES ? p->face_count++ : NO_INDEX;
}

// `behind`: the face over its first edge. A triangle without area lies along that edge, so on that face's
// plane.
static void set_face( polytope* p, uint16_t index, uint16_t i, uint16_t j, uint16_t k, uint16_t behind )
{
    polytope_face* f = &p->faces[index];
    math_vec3 o = p->vertices[i].w;
    math_vec3 e = math_sub( p->vertices[j].w, o ), g = math_sub( p->vertices[k].w, o );
    math_vec3 normal = math_cross( e, g );
    double area = math_length( normal ),
           longest = math_max( math_length_squared( e ), math_length_squared( g ) );
    f->corners[0] = i, f->corners[1] = j, f->corners[2] = k;
    f->across[0] = f->across[1] = f->across[2] = behind;
    f->mark = 0;
    f->alive = true;
    if ( area <= 1e-14 * longest && behind != NO_INDEX )
    {
        f->normal = p->faces[behind].normal;
        f->distance = p->faces[behind].distance;
    }
    else
    {
        f->normal = math_normalize( normal, math_make( 0, 1, 0 ) );
        f->distance = math_dot( f->normal, o );
    }
}

static void make_first_faces( polytope* p )
{
    math_vec3 o = p->vertices[0].w;
    math_vec3 normal = math_cross( math_sub( p->vertices[1].w, o ), math_sub( p->vertices[2].w, o ) );
    if ( math_dot( normal, math_sub( p->vertices[3].w, o ) ) > 0.0 )
    {
        narrow_vertex swapped = p->vertices[1];
        p->vertices[1] = p->vertices[2];
        p->vertices[2] = swapped;
    }
    static const uint8_t corners[4][3] = { { 0, 1, 2 }, { 0, 3, 1 }, { 1, 3, 2 }, { 2, 3, 0 } };
    static const uint8_t across[4][3] = { { 1, 2, 3 }, { 3, 2, 0 }, { 1, 3, 0 }, { 2, 1, 0 } };
    for ( int f = 0; f < 4; ++f )
    {
        uint16_t index = take_polytope_face( p );
        set_face( p, index, corners[f][0], corners[f][1], corners[f][2], NO_INDEX );
        for ( int i = 0; i < 3; ++i )
        {
            p->faces[index].across[i] = across[f][i];
        }
    }
}

static uint16_t find_nearest( const polytope* p )
{
    uint16_t best = NO_INDEX;
    for ( uint16_t f = 0; f < p->face_count; ++f )
    {
        if ( p->faces[f].alive && ( best == NO_INDEX || p->faces[f].distance < p->faces[best].distance ) )
        {
            best = f;
        }
    }
    return best;
}

// ---- one vertex more

typedef struct rim_edge
{
    uint16_t from, to;
    uint16_t outside; // the face that stays, and its side
    uint16_t side;
} rim_edge;

typedef struct rim
{
    rim_edge edges[MAX_FACES];
    uint16_t seen[MAX_FACES];
    uint16_t edge_count, seen_count;
} rim;

static bool sees( const polytope* p, uint16_t f, math_vec3 w )
{
    return math_dot( p->faces[f].normal, w ) - p->faces[f].distance > ABOVE * p->size;
}

// Every face the vertex is above, reached from the first over edges, and the edges around them all.
static void find_rim( polytope* p, uint16_t first, math_vec3 w, uint32_t round, rim* r )
{
    r->edge_count = 0;
    r->seen_count = 1;
    r->seen[0] = first;
    p->faces[first].mark = round;
    for ( uint16_t n = 0; n < r->seen_count; ++n )
    {
        for ( uint16_t i = 0; i < 3; ++i )
        {
            uint16_t other = p->faces[r->seen[n]].across[i];
            if ( p->faces[other].mark != round && sees( p, other, w ) )
            {
                p->faces[other].mark = round;
                r->seen[r->seen_count++] = other;
            }
        }
    }
    for ( uint16_t n = 0; n < r->seen_count; ++n )
    {
        const polytope_face* f = &p->faces[r->seen[n]];
        for ( uint16_t i = 0; i < 3; ++i )
        {
            const polytope_face* other = &p->faces[f->across[i]];
            if ( other->mark != round )
            {
                uint16_t side = 0; // the side of `other` that starts where this edge ends
                while ( side < 2 && other->corners[side] != f->corners[( i + 1 ) % 3] )
                {
                    side += 1;
                }
                r->edges[r->edge_count++] =
                    ( rim_edge ){ f->corners[i], f->corners[( i + 1 ) % 3], f->across[i], side };
            }
        }
    }
}

// Rounding can tear the rim into two loops or let it meet itself; then the polytope is left as it was.
static bool is_loop( const rim* r, uint16_t* next_edge )
{
    for ( uint16_t i = 0; i < r->edge_count; ++i )
    {
        next_edge[r->edges[i].from] = NO_INDEX;
    }
    for ( uint16_t i = 0; i < r->edge_count; ++i )
    {
        if ( next_edge[r->edges[i].from] != NO_INDEX )
        {
            return false;
        }
        next_edge[r->edges[i].from] = i;
    }
    uint16_t length = 0, at = 0;
    do
    {
        at = next_edge[r->edges[at].to];
        length += 1;
    } while ( at != 0 && at < r->edge_count && length <= r->edge_count );
    return length == r->edge_count && at == 0;
}

static bool build_polytope_fan( polytope* p, const rim* r, const uint16_t* next_edge, uint16_t vertex )
{
    uint16_t made[MAX_FACES];
    for ( uint16_t n = 0; n < r->seen_count; ++n )
    {
        polytope_face* f = &p->faces[r->seen[n]];
        f->alive = false;
        f->across[0] = p->free_face;
        p->free_face = r->seen[n];
    }
    for ( uint16_t i = 0; i < r->edge_count; ++i )
    {
        made[i] = take_polytope_face( p );
        if ( made[i] == NO_INDEX )
        {
            return false;
        }
        set_face( p, made[i], r->edges[i].from, r->edges[i].to, vertex, r->edges[i].outside );
        p->faces[r->edges[i].outside].across[r->edges[i].side] = made[i];
    }
    for ( uint16_t i = 0; i < r->edge_count; ++i )
    {
        uint16_t following = made[next_edge[r->edges[i].to]];
        p->faces[made[i]].across[1] = following;
        p->faces[following].across[2] = made[i];
    }
    return true;
}

static bool expand( polytope* p, uint16_t nearest, const narrow_vertex* v )
{
    rim r;
    uint16_t next_edge[MAX_VERTICES];
    for ( uint16_t i = 0; i < p->vertex_count; ++i )
    {
        next_edge[i] = NO_INDEX;
    }
    find_rim( p, nearest, v->w, p->result->round_count, &r );
    if ( r.edge_count < 3 || !is_loop( &r, next_edge ) || p->vertex_count >= MAX_VERTICES )
    {
        return false;
    }
    uint16_t index = p->vertex_count++;
    p->vertices[index] = *v;
    return build_polytope_fan( p, &r, next_edge, index );
}

// ---- the search

static void keep_best( polytope* p, const polytope_face* f, double depth )
{
    if ( depth < p->result->depth )
    {
        p->result->depth = depth;
        p->result->normal = f->normal;
        for ( int i = 0; i < 3; ++i )
        {
            p->best_corners[i] = f->corners[i];
        }
    }
}

static void expand_polytope( polytope* p )
{
    p->result->depth = HUGE_VAL;
    while ( p->result->round_count < NARROW_EPA_ROUNDS )
    {
        uint16_t nearest = find_nearest( p );
        const polytope_face* f = &p->faces[nearest];
        if ( f->distance >= p->result->depth - EPA_CLOSE_ENOUGH * p->size )
        {
            p->result->converged = true; // no face is nearer than the best answer
            return;
        }
        narrow_vertex v = ask( p, f->normal );
        double depth = math_dot( f->normal, v.w );
        keep_best( p, f, depth );
        if ( depth - f->distance <= EPA_CLOSE_ENOUGH * p->size )
        {
            p->result->converged = true;
            return;
        }
        if ( !expand( p, nearest, &v ) )
        {
            return;
        }
    }
}

// How far the point depth * normal is from a face, and the points of both shapes that make the face's nearest
// point.
static double find_points_on( const polytope* p, const uint16_t corners[3], math_vec3* a, math_vec3* b )
{
    narrow_simplex s;
    s.count = 3;
    math_vec3 target = math_scale( p->result->normal, p->result->depth );
    for ( int i = 0; i < 3; ++i )
    {
        s.vertices[i] = p->vertices[corners[i]];
        s.vertices[i].w = math_sub( s.vertices[i].w, target );
    }
    double off = math_length( clv_narrow_simplex_reduce( &s ) );
    clv_narrow_simplex_witness( &s, a, b );
    return off;
}

// The face of the difference may be several triangles, and the one that ended the search need not be the one
// the origin is opposite to; nor need it be alive, if a direction asked earlier was the best. Some face is.
static void find_points( const polytope* p )
{
    narrow_epa* result = p->result;
    double off = find_points_on( p, p->best_corners, &result->point_a, &result->point_b );
    for ( uint16_t f = 0; f < p->face_count && off > EPA_CLOSE_ENOUGH * p->size; ++f )
    {
        if ( p->faces[f].alive && p->faces[f].distance <= result->depth + 2 * EPA_CLOSE_ENOUGH * p->size )
        {
            math_vec3 a, b;
            double now = find_points_on( p, p->faces[f].corners, &a, &b );
            if ( now < off )
            {
                off = now, result->point_a = a, result->point_b = b;
            }
        }
    }
}

void clv_narrow_epa_expand( narrow_core* a, narrow_core* b, const narrow_gjk* found, narrow_epa* result )
{
    CLV_ASSERT( found->touching );
    polytope p;
    p.a = a, p.b = b;
    p.vertex_count = p.face_count = 0;
    p.free_face = NO_INDEX;
    p.size = narrow_core_extent( a ) + narrow_core_extent( b );
    p.result = result;
    *result = ( narrow_epa ){ { 0, 1, 0 }, 0.0, { 0, 0, 0 }, { 0, 0, 0 }, false, 0 };
    if ( !make_tetrahedron( &p, &found->simplex ) )
    {
        // Some point of the flat difference at the origin; three vertices of four on a plane are enough.
        narrow_simplex s = found->simplex;
        s.count = s.count == 4 ? 3 : s.count;
        clv_narrow_simplex_reduce( &s );
        clv_narrow_simplex_witness( &s, &result->point_a, &result->point_b );
        return;
    }
    make_first_faces( &p );
    expand_polytope( &p );
    result->depth = math_max( result->depth, 0.0 );
    find_points( &p );
}
