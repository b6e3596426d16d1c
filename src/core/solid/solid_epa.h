// SPDX-License-Identifier: MIT
// The expanding polytope algorithm: van den Bergen, "Proximity queries and penetration depth computation on
// 3d game objects" (2001). Inside the difference of two shapes a polytope grows, from GJK's simplex on, where
// its surface is nearest to the origin, until that face is one of the difference's own. Every direction n
// that was asked for an extreme point w is an answer of its own: moving b by n * dot( n, w ) parts the
// shapes. So the best of them is kept, and whatever goes wrong later leaves an answer that holds.
//
// The polytope lies in the caller's own memory, of which a device's item has less: there it has EPA_VERTICES
// 64, and a contact that needs more is left undecided. With the room of the host none is.
#ifndef __OPENCL_C_VERSION__
#pragma once
#include "solid/solid_gjk.h"
#endif

/// Rounds, and so vertices, an expansion may take; each adds two faces.
#define NARROW_EPA_ROUNDS 256

#ifndef EPA_VERTICES
#define EPA_VERTICES ( NARROW_EPA_ROUNDS + 8 )
#endif
#define EPA_FACES ( 2 * EPA_VERTICES )
#define EPA_NONE 0xFFFFu

// Shares of the size of the difference: how near a face counts as its surface, and how far a point is above a
// plane.
#define EPA_CLOSE_ENOUGH 1e-9
#define EPA_ABOVE 1e-13
#define EPA_FLAT 1e-10

typedef struct narrow_epa
{
    math_vec3 normal; // unit, from a to b
    double depth;     // of the cores in each other
    math_vec3 point_a, point_b;
    bool converged;        // false: the cores are parted by depth * normal, but maybe by less elsewhere
    bool undecided;        // the polytope needs more room
    solid_u32 round_count; // points of the difference looked at
} narrow_epa;

// ---- the polytope

typedef struct epa_face
{
    math_vec3 normal; // out
    double distance;  // of its plane from the origin; never far below 0, for the origin is inside
    solid_u16 corners[3];
    solid_u16 across[3]; // over the edge corners[i] -> corners[i + 1]
    solid_u16 mark;      // the round in which it was found visible; 0 before
    solid_u16 alive;     // 1, or 0: its distance is infinite
} epa_face;

typedef struct epa_edge
{
    solid_u16 from, to;
    solid_u16 outside; // the face that stays, and its side
    solid_u16 side;
} epa_edge;

typedef struct epa_polytope
{
    narrow_core *a, *b;
    narrow_vertex vertices[EPA_VERTICES];
    epa_face faces[EPA_FACES];
    epa_edge edges[EPA_FACES]; // the rim of what a new vertex sees
    solid_u16 seen[EPA_FACES];
    solid_u16 made[EPA_FACES];
    solid_u16 next_edge[EPA_VERTICES];
    solid_u32 edge_count, seen_count;
    solid_u32 vertex_count, face_count, free_face; // faces are alive, dead or free, linked through across[0]
    solid_u32 room;                                // vertices, EPA_VERTICES at most
    double size;
    solid_u16 best_corners[3]; // the face the best direction so far belongs to
    narrow_epa* result;
} epa_polytope;

SOLID narrow_vertex epa_ask( epa_polytope* p, math_vec3 direction )
{
    p->result->round_count += 1;
    return narrow_difference_support( p->a, p->b, direction );
}

SOLID bool epa_add_if_off( epa_polytope* p, narrow_vertex v, double measure, double limit )
{
    if ( measure > limit )
    {
        CLV_ASSERT( p->vertex_count < 4 );
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
        math_vec3 direction =
            math_make( i / 2 == 0 ? sign : 0, i / 2 == 1 ? sign : 0, i / 2 == 2 ? sign : 0 );
        narrow_vertex v = epa_ask( p, direction );
        if ( epa_add_if_off( p, v, math_length( math_sub( v.w, p->vertices[0].w ) ), EPA_FLAT * p->size ) )
        {
            return true;
        }
    }
    return false;
}

SOLID bool epa_find_third( epa_polytope* p, math_vec3* line )
{
    math_vec3 edge = math_sub( p->vertices[1].w, p->vertices[0].w );
    *line = math_normalize( edge, math_make( 1, 0, 0 ) );
    math_vec3 side = math_perpendicular( *line ), other = math_cross( *line, side );
    for ( int i = 0; i < 4; ++i )
    {
        math_vec3 direction = i == 0 ? side : i == 1 ? other : i == 2 ? math_neg( side ) : math_neg( other );
        narrow_vertex v = epa_ask( p, direction );
        math_vec3 off = math_cross( *line, math_sub( v.w, p->vertices[0].w ) );
        if ( epa_add_if_off( p, v, math_length( off ), EPA_FLAT * p->size ) )
        {
            return true;
        }
    }
    return false;
}

SOLID bool epa_find_fourth( epa_polytope* p, math_vec3* normal )
{
    math_vec3 a = math_sub( p->vertices[1].w, p->vertices[0].w ),
              b = math_sub( p->vertices[2].w, p->vertices[0].w );
    *normal = math_normalize( math_cross( a, b ), math_make( 0, 1, 0 ) );
    narrow_vertex up = epa_ask( p, *normal );
    narrow_vertex down = epa_ask( p, math_neg( *normal ) );
    double above = math_dot( *normal, math_sub( up.w, p->vertices[0].w ) );
    double below = -math_dot( *normal, math_sub( down.w, p->vertices[0].w ) );
    return above >= below ? epa_add_if_off( p, up, above, EPA_FLAT * p->size )
                          : epa_add_if_off( p, down, below, EPA_FLAT * p->size );
}

// A difference without thickness: the shapes touch along it, and any move across it parts them.
SOLID void epa_answer_flat( epa_polytope* p, math_vec3 normal )
{
    math_vec3 towards = math_sub( p->b->pose.position, p->a->pose.position );
    p->result->normal = math_dot( normal, towards ) < 0.0 ? math_neg( normal ) : normal;
    p->result->depth = 0.0;
    p->result->converged = true;
}

SOLID bool epa_is_tetrahedron( const epa_polytope* p )
{
    math_vec3 a = math_sub( p->vertices[1].w, p->vertices[0].w ),
              b = math_sub( p->vertices[2].w, p->vertices[0].w );
    math_vec3 c = math_sub( p->vertices[3].w, p->vertices[0].w ), normal = math_cross( a, b );
    return math_abs( math_dot( normal, c ) ) > EPA_FLAT * p->size * math_length( normal );
}

// GJK ends with fewer than four vertices where the origin is on a face, an edge or a vertex of what it had;
// and with four without volume where they are on one plane with it. As paper 003 does: a vertex off the plane
// is looked for. It may be any, since the origin is on the surface already.
SOLID bool epa_make_tetrahedron( epa_polytope* p, const narrow_simplex* simplex )
{
    CLV_ASSERT( simplex->count >= 1 && simplex->count <= 4 );
    p->vertices[0] = simplex->vertices[0]; // there is always one
    for ( int i = 1; i < simplex->count; ++i )
    {
        p->vertices[i] = simplex->vertices[i];
    }
    p->vertex_count = (solid_u32)simplex->count;
    if ( p->vertex_count == 4 && !epa_is_tetrahedron( p ) )
    {
        p->vertex_count = 3;
        math_vec3 e = math_sub( p->vertices[1].w, p->vertices[0].w ),
                  f = math_sub( p->vertices[2].w, p->vertices[0].w );
        if ( math_length( math_cross( e, f ) ) <= EPA_FLAT * p->size * p->size )
        {
            p->vertices[2] = simplex->vertices[3];
        }
    }
    math_vec3 direction = math_make( 0, 1, 0 );
    if ( p->vertex_count == 1 && !epa_find_second( p ) )
    {
        direction = math_normalize( math_sub( p->b->pose.position, p->a->pose.position ), direction );
        epa_answer_flat( p, direction );
        return false;
    }
    if ( p->vertex_count == 2 && !epa_find_third( p, &direction ) )
    {
        epa_answer_flat( p, math_perpendicular( direction ) );
        return false;
    }
    if ( p->vertex_count == 3 && !epa_find_fourth( p, &direction ) )
    {
        epa_answer_flat( p, direction );
        return false;
    }
    return true;
}

// ---- faces

SOLID solid_u32 epa_take_face( epa_polytope* p )
{
    solid_u32 index = p->free_face;
    if ( index != EPA_NONE )
    {
        p->free_face = p->faces[index].across[0];
        return index;
    }
    return p->face_count < EPA_FACES ? p->face_count++ : EPA_NONE;
}

// `behind`: the face over its first edge. A triangle without area lies along that edge, so on that face's
// plane.
SOLID void epa_set_face(
    epa_polytope* p, solid_u32 index, solid_u32 i, solid_u32 j, solid_u32 k, solid_u32 behind )
{
    epa_face* f = &p->faces[index];
    math_vec3 o = p->vertices[i].w;
    CLV_ASSERT( index < p->face_count && i < p->vertex_count && j < p->vertex_count && k < p->vertex_count );
    math_vec3 e = math_sub( p->vertices[j].w, o ), g = math_sub( p->vertices[k].w, o );
    math_vec3 normal = math_cross( e, g );
    double area = math_length( normal ),
           longest = math_max( math_length_squared( e ), math_length_squared( g ) );
    f->corners[0] = (solid_u16)i;
    f->corners[1] = (solid_u16)j;
    f->corners[2] = (solid_u16)k;
    f->across[0] = f->across[1] = f->across[2] = (solid_u16)behind;
    f->mark = 0;
    f->alive = 1;
    if ( area <= 1e-14 * longest && behind != EPA_NONE )
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

SOLID void epa_make_first_faces( epa_polytope* p )
{
    CLV_ASSERT( p->vertex_count == 4 && p->face_count == 0 );
    math_vec3 o = p->vertices[0].w;
    math_vec3 normal = math_cross( math_sub( p->vertices[1].w, o ), math_sub( p->vertices[2].w, o ) );
    if ( math_dot( normal, math_sub( p->vertices[3].w, o ) ) > 0.0 )
    {
        narrow_vertex swapped = p->vertices[1];
        p->vertices[1] = p->vertices[2];
        p->vertices[2] = swapped;
    }
    for ( solid_u32 f = 0; f < 4; ++f )
    {
        // Corners 012 031 132 230, and the faces across their edges 123 320 130 210.
        solid_u32 corners = f == 0 ? 0x210u : f == 1 ? 0x130u : f == 2 ? 0x231u : 0x032u;
        solid_u32 across = f == 0 ? 0x321u : f == 1 ? 0x023u : f == 2 ? 0x031u : 0x012u;
        solid_u32 index = epa_take_face( p );
        epa_set_face( p, index, solid_digit( corners, 0 ), solid_digit( corners, 1 ),
            solid_digit( corners, 2 ), EPA_NONE );
        for ( solid_u32 i = 0; i < 3; ++i )
        {
            p->faces[index].across[i] = (solid_u16)solid_digit( across, i );
        }
    }
}

// The first of equals; some face is alive, and those that are not are infinitely far away.
SOLID solid_u32 epa_find_nearest( const epa_polytope* p )
{
    solid_u32 best = 0;
    double nearest = p->faces[0].distance;
    solid_u32 f = 1;
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
    CLV_ASSERT( p->faces[best].alive != 0 );
    return best;
}

// ---- one vertex more

SOLID bool epa_sees( const epa_polytope* p, solid_u32 f, math_vec3 w )
{
    return math_dot( p->faces[f].normal, w ) - p->faces[f].distance > EPA_ABOVE * p->size;
}

SOLID void epa_find_seen( epa_polytope* p, solid_u32 first, math_vec3 w, solid_u16 round )
{
    p->seen_count = 1;
    p->seen[0] = (solid_u16)first;
    p->faces[first].mark = round;
    for ( solid_u32 n = 0; n < p->seen_count; ++n )
    {
        for ( solid_u32 i = 0; i < 3; ++i )
        {
            solid_u32 other = p->faces[p->seen[n]].across[i];
            if ( p->faces[other].mark != round && epa_sees( p, other, w ) )
            {
                p->faces[other].mark = round;
                CLV_ASSERT( p->faces[other].alive != 0 && p->seen_count < EPA_FACES );
                p->seen[p->seen_count++] = (solid_u16)other;
            }
        }
    }
}

// The edges around all faces that are seen.
SOLID void epa_find_rim( epa_polytope* p, solid_u16 round )
{
    p->edge_count = 0;
    for ( solid_u32 n = 0; n < p->seen_count; ++n )
    {
        const epa_face* f = &p->faces[p->seen[n]];
        for ( solid_u32 i = 0; i < 3; ++i )
        {
            const epa_face* other = &p->faces[f->across[i]];
            if ( other->mark != round && p->edge_count < EPA_FACES )
            {
                solid_u16 end = f->corners[( i + 1 ) % 3];
                solid_u32 side = 0; // the side of `other` that starts where this edge ends
                while ( side < 2 && other->corners[side] != end )
                {
                    side += 1;
                }
                epa_edge* edge = &p->edges[p->edge_count++];
                edge->from = f->corners[i];
                edge->to = end;
                edge->outside = f->across[i];
                edge->side = (solid_u16)side;
            }
        }
    }
}

// Rounding can tear the rim into two loops or let it meet itself; then the polytope is left as it was.
SOLID bool epa_is_loop( epa_polytope* p )
{
    for ( solid_u32 i = 0; i < p->vertex_count; ++i )
    {
        p->next_edge[i] = (solid_u16)EPA_NONE;
    }
    for ( solid_u32 i = 0; i < p->edge_count; ++i )
    {
        if ( p->next_edge[p->edges[i].from] != EPA_NONE )
        {
            return false;
        }
        p->next_edge[p->edges[i].from] = (solid_u16)i;
    }
    solid_u32 length = 0, at = 0;
    do
    {
        at = p->next_edge[p->edges[at].to];
        length += 1;
    } while ( at != 0 && at < p->edge_count && length <= p->edge_count );
    return length == p->edge_count && at == 0;
}

SOLID bool epa_build_fan( epa_polytope* p, solid_u32 vertex )
{
    CLV_ASSERT( p->edge_count >= 3 && vertex + 1 == p->vertex_count );
    for ( solid_u32 n = 0; n < p->seen_count; ++n )
    {
        epa_face* f = &p->faces[p->seen[n]];
        f->alive = 0;
        f->distance = (double)INFINITY;
        f->across[0] = (solid_u16)p->free_face;
        p->free_face = p->seen[n];
    }
    for ( solid_u32 i = 0; i < p->edge_count; ++i )
    {
        solid_u32 made = epa_take_face( p );
        if ( made == EPA_NONE )
        {
            return false;
        }
        p->made[i] = (solid_u16)made;
        epa_set_face( p, made, p->edges[i].from, p->edges[i].to, vertex, p->edges[i].outside );
        p->faces[p->edges[i].outside].across[p->edges[i].side] = (solid_u16)made;
    }
    for ( solid_u32 i = 0; i < p->edge_count; ++i )
    {
        solid_u32 following = p->made[p->next_edge[p->edges[i].to]];
        p->faces[p->made[i]].across[1] = (solid_u16)following;
        p->faces[following].across[2] = p->made[i];
    }
    return true;
}

SOLID bool epa_expand( epa_polytope* p, solid_u32 nearest, narrow_vertex v )
{
    solid_u16 round = (solid_u16)p->result->round_count;
    epa_find_seen( p, nearest, v.w, round );
    epa_find_rim( p, round );
    if ( p->edge_count < 3 || !epa_is_loop( p ) )
    {
        return false;
    }
    if ( p->vertex_count >= p->room )
    {
        p->result->undecided = true;
        return false;
    }
    solid_u32 index = p->vertex_count++;
    p->vertices[index] = v;
    return epa_build_fan( p, index );
}

// ---- the search

SOLID void epa_keep_best( epa_polytope* p, const epa_face* f, double depth )
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

SOLID void epa_search( epa_polytope* p )
{
    p->result->depth = (double)INFINITY;
    while ( p->result->round_count < NARROW_EPA_ROUNDS )
    {
        solid_u32 nearest = epa_find_nearest( p );
        const epa_face* f = &p->faces[nearest];
        if ( f->distance >= p->result->depth - EPA_CLOSE_ENOUGH * p->size )
        {
            p->result->converged = true; // no face is nearer than the best answer
            return;
        }
        narrow_vertex v = epa_ask( p, f->normal );
        double depth = math_dot( f->normal, v.w );
        epa_keep_best( p, f, depth );
        if ( depth - f->distance <= EPA_CLOSE_ENOUGH * p->size )
        {
            p->result->converged = true;
            return;
        }
        if ( !epa_expand( p, nearest, v ) )
        {
            return;
        }
    }
}

// How far the point depth * normal is from a face, and the points of both shapes that make the face's nearest
// point.
SOLID double epa_points_on( const epa_polytope* p, const solid_u16* corners, math_vec3* a, math_vec3* b )
{
    narrow_simplex s;
    s.count = 3;
    math_vec3 target = math_scale( p->result->normal, p->result->depth );
    for ( int i = 0; i < 3; ++i )
    {
        s.vertices[i] = p->vertices[corners[i]];
        CLV_ASSERT( corners[i] < p->vertex_count );
        s.vertices[i].w = math_sub( s.vertices[i].w, target );
    }
    double off = math_length( narrow_simplex_reduce( &s ) );
    narrow_simplex_witness( p->a, p->b, &s, a, b );
    return off;
}

// The face of the difference may be several triangles, and the one that ended the search need not be the one
// the origin is opposite to; nor need it be alive, if a direction asked earlier was the best. Some face is.
SOLID void epa_find_points( const epa_polytope* p )
{
    narrow_epa* result = p->result;
    double off = epa_points_on( p, p->best_corners, &result->point_a, &result->point_b );
    for ( solid_u32 f = 0; f < p->face_count && off > EPA_CLOSE_ENOUGH * p->size; ++f )
    {
        const epa_face* face = &p->faces[f];
        if ( face->alive != 0 && face->distance <= result->depth + 2 * EPA_CLOSE_ENOUGH * p->size )
        {
            math_vec3 a, b;
            double now = epa_points_on( p, face->corners, &a, &b );
            if ( now < off )
            {
                off = now;
                result->point_a = a;
                result->point_b = b;
            }
        }
    }
}

/// How deep two cores that touch are in each other. `found` is what GJK ended with; the polytope has room for
/// `room` vertices.
SOLID void narrow_epa_expand(
    narrow_core* a, narrow_core* b, const narrow_gjk* found, solid_u32 room, narrow_epa* result )
{
    CLV_ASSERT( found->touching );
    epa_polytope p;
    p.a = a;
    p.b = b;
    p.vertex_count = p.face_count = 0;
    p.free_face = EPA_NONE;
    p.best_corners[0] = p.best_corners[1] = p.best_corners[2] = 0;
    p.room = room < EPA_VERTICES ? room : EPA_VERTICES;
    p.size = narrow_core_extent( a ) + narrow_core_extent( b );
    p.result = result;
    result->normal = math_make( 0, 1, 0 );
    result->depth = 0.0;
    result->point_a = result->point_b = math_make( 0, 0, 0 );
    result->converged = result->undecided = false;
    result->round_count = 0;
    if ( !epa_make_tetrahedron( &p, &found->simplex ) )
    {
        // Some point of the flat difference at the origin; three vertices of four on a plane are enough.
        narrow_simplex s = found->simplex;
        s.count = s.count == 4 ? 3 : s.count;
        narrow_simplex_reduce( &s );
        narrow_simplex_witness( a, b, &s, &result->point_a, &result->point_b );
        return;
    }
    epa_make_first_faces( &p );
    epa_search( &p );
    result->depth = math_max( result->depth, 0.0 );
    epa_find_points( &p );
}

// ---- contacts

/// Where they are apart everything but `touching` and gjk_round_count says nothing.
typedef struct narrow_contact
{
    bool touching, converged, undecided;
    math_vec3 normal; // unit, from a to b
    double depth;
    math_vec3 point_a, point_b;
    solid_u32 gjk_round_count, epa_round_count;
} narrow_contact;

/// How two cores with skins of these radii touch. `room` as narrow_epa_expand has it; `cache` may be 0.
SOLID void narrow_contact_find( narrow_core* a, double radius_a, narrow_core* b, double radius_b,
    solid_u32 room, clv_pair_cache* cache, narrow_contact* contact )
{
    double skins = radius_a + radius_b;
    narrow_gjk g;
    narrow_epa e;
    narrow_gjk_search( a, b, skins, true, cache, &g );
    contact->gjk_round_count = g.round_count;
    contact->epa_round_count = 0;
    contact->touching = g.touching || g.distance <= skins;
    contact->converged = g.converged;
    contact->undecided = false;
    contact->normal = math_make( 0, 1, 0 );
    contact->depth = 0.0;
    contact->point_a = contact->point_b = math_make( 0, 0, 0 );
    if ( !contact->touching )
    {
        return;
    }
    if ( g.touching )
    {
        narrow_epa_expand( a, b, &g, room, &e );
        contact->normal = e.normal;
        contact->depth = e.depth + skins;
        contact->converged = e.converged;
        contact->undecided = e.undecided;
        contact->epa_round_count = e.round_count;
    }
    else // cores apart, skins not: GJK's answer is the contact
    {
        narrow_simplex_witness( a, b, &g.simplex, &e.point_a, &e.point_b );
        contact->normal = math_scale( g.nearest, -1.0 / g.distance ); // nearest is a - b
        contact->depth = math_max( skins - g.distance, 0.0 );
    }
    contact->point_a = math_add_scaled( e.point_a, contact->normal, radius_a );
    contact->point_b = math_add_scaled( e.point_b, contact->normal, -radius_b );
}
