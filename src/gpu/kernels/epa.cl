// SPDX-License-Identifier: MIT
// EPA: van den Bergen, "Proximity queries and penetration depth computation on 3d game objects" (2001). Step by step as src/physics/narrow
// has it. What differs is room: a polytope of EPA_VERTICES lies in an item's own memory. A pair that needs more is undecided, and
// the host, which compiles this very text with more room (gpu_solid_host.c), finishes it. Behind gjk.cl.

#ifndef EPA_VERTICES
#define EPA_VERTICES 64
#endif
#define EPA_FACES ( 2 * EPA_VERTICES )
#define NO_INDEX 0xFFFF

#define EPA_ROUNDS 256

// The tolerances of src/physics/narrow.
#define EPA_CLOSE_ENOUGH 1e-9
#define EPA_ABOVE 1e-13
#define EPA_FLAT 1e-10

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
