// SPDX-License-Identifier: MIT
// Quickhull (Barber, Dobkin, Huhdanpaa, ACM TOMS 1996) on the exact orientation predicate. A point on a
// face's plane is not above it, so the faces a point sees are always one connected patch, its rim one loop,
// and no new triangle is degenerate: there are no cases to repair. Flat faces come out as several triangles;
// hull_face.c joins them.
#include "math/orient.h"
#include "narrow/hull.h"

#include "base/assertion.h"
#include "base/heap_sort.h"

#define NONE UINT32_MAX

typedef struct working
{
    hull_triangle shape;
    math_vec3 normal; // of any length; picks the farthest point, decides nothing
    uint32_t outside; // first of the points above this triangle, by `next`
    uint32_t mark;    // the round in which it was found visible
    bool alive;
} working;

typedef struct builder
{
    base_memory* memory;
    const clv_vec3* points;
    uint32_t count;
    uint32_t* next;
    BASE_ARRAY( working ) faces;
    base_u32_array stack; // triangles with points above them, not yet dealt with
    base_u32_array seen;  // the patch of one round
    uint32_t* rim_start;  // by point: the new triangle whose rim edge starts there
    uint32_t round;
} builder;

// ---- the first tetrahedron

static bool same_point( clv_vec3 a, clv_vec3 b )
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool lexicographically_less( clv_vec3 a, clv_vec3 b )
{
    return a.x != b.x ? a.x < b.x : a.y != b.y ? a.y < b.y : a.z < b.z;
}

static math_vec3 triangle_normal( const clv_vec3* p, uint32_t a, uint32_t b, uint32_t c )
{
    math_vec3 o = math_widen( p[a] );
    return math_cross( math_sub( math_widen( p[b] ), o ), math_sub( math_widen( p[c] ), o ) );
}

// Four points of a solid in first[0..3], as many as there are otherwise. Returns how many: the dimension plus
// one. Each is the farthest of those that are not, exactly, on the plane, line or spot of the ones before.
static uint32_t find_first( const clv_vec3* p, uint32_t count, uint32_t first[4] )
{
    first[0] = first[1] = 0;
    for ( uint32_t i = 1; i < count; ++i )
    {
        first[0] = lexicographically_less( p[i], p[first[0]] ) ? i : first[0];
        first[1] = lexicographically_less( p[first[1]], p[i] ) ? i : first[1];
    }
    if ( same_point( p[first[0]], p[first[1]] ) )
    {
        return 1;
    }

    first[2] = first[3] = NONE;
    double best = -1.0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        double size = math_length_squared( triangle_normal( p, first[0], first[1], i ) );
        if ( size > best && !clv_math_is_collinear( p[first[0]], p[first[1]], p[i] ) )
        {
            best = size, first[2] = i;
        }
    }
    if ( first[2] == NONE )
    {
        return 2;
    }

    math_vec3 normal = triangle_normal( p, first[0], first[1], first[2] );
    best = -1.0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        double height =
            math_abs( math_dot( normal, math_sub( math_widen( p[i] ), math_widen( p[first[0]] ) ) ) );
        if ( height > best && clv_math_orient3( p[first[0]], p[first[1]], p[first[2]], p[i] ) != 0 )
        {
            best = height, first[3] = i;
        }
    }
    return first[3] == NONE ? 3 : 4;
}

// ---- triangles

static uint32_t take_face( builder* b, uint32_t p0, uint32_t p1, uint32_t p2 )
{
    // Dead triangles are not used again: the stack may still name them, and a point makes six new ones on
    // average.
    if ( !base_array_reserve( &b->faces, b->memory, b->faces.count + 1 ) )
    {
        return NONE;
    }
    uint32_t index = (uint32_t)b->faces.count++;
    working* face = &b->faces.items[index];
    *face = ( working ){ { { p0, p1, p2 }, { NONE, NONE, NONE } }, { 0, 0, 0 }, NONE, 0, true };
    face->normal = triangle_normal( b->points, p0, p1, p2 );
    return index;
}

static bool is_above( const builder* b, uint32_t face, uint32_t point )
{
    const uint32_t* c = b->faces.items[face].shape.corners;
    return clv_math_orient3( b->points[c[0]], b->points[c[1]], b->points[c[2]], b->points[point] ) > 0;
}

static uint32_t edge_to( const working* face, uint32_t neighbour )
{
    for ( uint32_t i = 0; i < 3; ++i )
    {
        if ( face->shape.across[i] == neighbour )
        {
            return i;
        }
    }
    CLV_ASSERT( false );
    return 0;
}

static bool push_face( builder* b, uint32_t face )
{
    if ( !base_array_reserve( &b->stack, b->memory, b->stack.count + 1 ) )
    {
        return false;
    }
    b->stack.items[b->stack.count++] = face;
    return true;
}

// Hands each point of a list to the first of the new triangles it is above; the rest are inside for good.
static void share_points( builder* b, uint32_t list, const uint32_t* faces, uint64_t face_count )
{
    while ( list != NONE )
    {
        uint32_t point = list;
        list = b->next[point];
        for ( uint32_t i = 0; i < face_count; ++i )
        {
            if ( is_above( b, faces[i], point ) )
            {
                b->next[point] = b->faces.items[faces[i]].outside;
                b->faces.items[faces[i]].outside = point;
                break;
            }
        }
    }
}

static bool start( builder* b, const uint32_t first[4] )
{
    uint32_t p[4] = { first[0], first[1], first[2], first[3] };
    if ( clv_math_orient3( b->points[p[0]], b->points[p[1]], b->points[p[2]], b->points[p[3]] ) > 0 )
    {
        p[1] = first[2], p[2] = first[1]; // the fourth point is behind the first triangle
    }
    static const uint8_t corners[4][3] = { { 0, 1, 2 }, { 0, 3, 1 }, { 1, 3, 2 }, { 2, 3, 0 } };
    static const uint8_t across[4][3] = { { 1, 2, 3 }, { 3, 2, 0 }, { 1, 3, 0 }, { 2, 1, 0 } };
    uint32_t faces[4];
    for ( int f = 0; f < 4; ++f )
    {
        faces[f] = take_face( b, p[corners[f][0]], p[corners[f][1]], p[corners[f][2]] );
        if ( faces[f] == NONE )
        {
            return false;
        }
        for ( int i = 0; i < 3; ++i )
        {
            b->faces.items[faces[f]].shape.across[i] = across[f][i];
        }
    }

    uint32_t list = NONE;
    for ( uint32_t i = b->count; i-- > 0; )
    {
        b->next[i] = list;
        list = i;
    }
    share_points( b, list, faces, 4 );
    for ( int f = 0; f < 4; ++f )
    {
        if ( !push_face( b, faces[f] ) )
        {
            return false;
        }
    }
    return true;
}

// ---- one point more

static uint32_t take_farthest( builder* b, uint32_t face )
{
    working* f = &b->faces.items[face];
    math_vec3 origin = math_widen( b->points[f->shape.corners[0]] );
    uint32_t best_link = NONE, link = NONE;
    double best = 0.0;
    for ( uint32_t point = f->outside; point != NONE; link = point, point = b->next[point] )
    {
        double height = math_dot( f->normal, math_sub( math_widen( b->points[point] ), origin ) );
        if ( point == f->outside || height > best )
        {
            best = height, best_link = link;
        }
    }
    CLV_ASSERT( f->outside != NONE );
    uint32_t taken = best_link == NONE ? f->outside : b->next[best_link];
    *( best_link == NONE ? &f->outside : &b->next[best_link] ) = b->next[taken];
    return taken;
}

static bool see_face( builder* b, uint32_t face )
{
    if ( !base_array_reserve( &b->seen, b->memory, b->seen.count + 1 ) )
    {
        return false;
    }
    b->faces.items[face].mark = b->round;
    b->seen.items[b->seen.count++] = face;
    return true;
}

static bool find_patch( builder* b, uint32_t face, uint32_t point )
{
    b->round += 1;
    b->seen.count = 0;
    if ( !see_face( b, face ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < b->seen.count; ++i )
    {
        for ( int k = 0; k < 3; ++k )
        {
            uint32_t other = b->faces.items[b->seen.items[i]].shape.across[k];
            if ( b->faces.items[other].mark != b->round && is_above( b, other, point ) &&
                !see_face( b, other ) )
            {
                return false;
            }
        }
    }
    return true;
}

// One triangle from each edge of the patch's rim to the point; they are pushed on the stack.
static bool build_fan( builder* b, uint32_t point )
{
    uint64_t base = b->stack.count;
    for ( uint32_t i = 0; i < b->seen.count; ++i )
    {
        for ( uint32_t k = 0; k < 3; ++k )
        {
            hull_triangle old =
                b->faces.items[b->seen.items[i]].shape; // a copy: taking a face may move the array
            uint32_t other = old.across[k];
            if ( b->faces.items[other].mark == b->round )
            {
                continue;
            }
            uint32_t from = old.corners[k], to = old.corners[( k + 1 ) % 3];
            uint32_t made = take_face( b, from, to, point );
            if ( made == NONE || !push_face( b, made ) )
            {
                return false;
            }
            b->faces.items[made].shape.across[0] = other;
            b->faces.items[other].shape.across[edge_to( &b->faces.items[other], b->seen.items[i] )] = made;
            b->rim_start[from] = made;
        }
    }
    CLV_ASSERT( b->stack.count >= base + 3 );
    for ( uint64_t i = base; i < b->stack.count; ++i )
    {
        uint32_t made = b->stack.items[i];
        uint32_t following = b->rim_start[b->faces.items[made].shape.corners[1]];
        b->faces.items[made].shape.across[1] = following;
        b->faces.items[following].shape.across[2] = made;
    }
    return true;
}

static void retire_patch( builder* b, uint64_t fan_base )
{
    for ( uint32_t i = 0; i < b->seen.count; ++i )
    {
        working* old = &b->faces.items[b->seen.items[i]];
        share_points( b, old->outside, b->stack.items + fan_base, b->stack.count - fan_base );
        old->alive = false;
        old->outside = NONE;
    }
}

static bool add_points( builder* b )
{
    while ( b->stack.count > 0 )
    {
        uint32_t face = b->stack.items[--b->stack.count];
        if ( !b->faces.items[face].alive || b->faces.items[face].outside == NONE )
        {
            continue;
        }
        uint32_t point = take_farthest( b, face );
        CLV_ASSERT( is_above( b, face, point ) );
        uint64_t fan_base = b->stack.count;
        if ( !find_patch( b, face, point ) || !build_fan( b, point ) )
        {
            return false;
        }
        retire_patch( b, fan_base );
    }
    return true;
}

// ---- results

static bool copy_alive( builder* b, hull_mesh* mesh )
{
    uint32_t alive = 0;
    for ( uint32_t i = 0; i < b->faces.count; ++i )
    {
        // Dead triangles lie among the living: their numbers close up.
        b->faces.items[i].mark = b->faces.items[i].alive ? alive++ : NONE;
    }
    if ( !base_array_reserve( &mesh->triangles, b->memory, alive ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < b->faces.count; ++i )
    {
        if ( b->faces.items[i].alive )
        {
            hull_triangle triangle = b->faces.items[i].shape;
            for ( int k = 0; k < 3; ++k )
            {
                triangle.across[k] = b->faces.items[triangle.across[k]].mark;
                CLV_ASSERT( triangle.across[k] < alive );
            }
            mesh->triangles.items[mesh->triangle_count++] = triangle;
        }
    }
    mesh->dimension = 3;
    return true;
}

static bool build_solid(
    base_memory* memory, const clv_vec3* points, uint32_t count, const uint32_t first[4], hull_mesh* mesh )
{
    builder b = { .memory = memory, .points = points, .count = count };
    b.next = clv_base_memory_take( memory, count, sizeof( uint32_t ) );
    b.rim_start = clv_base_memory_take( memory, count, sizeof( uint32_t ) );
    bool ok = b.next != NULL && b.rim_start != NULL && start( &b, first ) && add_points( &b ) &&
        copy_alive( &b, mesh );
    clv_base_memory_give( memory, b.next, count, sizeof( uint32_t ) );
    clv_base_memory_give( memory, b.rim_start, count, sizeof( uint32_t ) );
    base_array_free( &b.faces, memory );
    base_array_free( &b.stack, memory );
    base_array_free( &b.seen, memory );
    return ok;
}

// ---- points on one plane

typedef struct flat_point
{
    clv_vec3 flat; // x and y are the coordinates that count
    uint32_t index;
} flat_point;

static int compare_flat( const void* a, const void* b )
{
    const flat_point *p = a, *q = b;
    if ( p->flat.x != q->flat.x )
    {
        return p->flat.x < q->flat.x ? -1 : 1;
    }
    if ( p->flat.y != q->flat.y )
    {
        return p->flat.y < q->flat.y ? -1 : 1;
    }
    return p->index < q->index ? -1 : p->index > q->index;
}

static clv_vec3 drop_axis( clv_vec3 p, int axis )
{
    clv_vec3 flat = { axis == 0 ? p.y
            : axis == 1         ? p.z
                                : p.x,
        axis == 0       ? p.z
            : axis == 1 ? p.x
                        : p.y,
        0.0f };
    return flat;
}

// Andrew's monotone chain (1979): collinear points are no corners.
static uint32_t chain( const flat_point* sorted, uint32_t count, uint32_t* ring )
{
    uint32_t size = 0; // `ring` holds positions in `sorted` until the end
    for ( uint32_t pass = 0, bottom = 1; pass < 2; ++pass, bottom = size )
    {
        for ( uint32_t step = pass; step < count; ++step )
        {
            uint32_t i = pass == 0 ? step : count - 1 - step;
            while ( size > bottom &&
                clv_math_orient2(
                    sorted[ring[size - 2]].flat, sorted[ring[size - 1]].flat, sorted[i].flat ) <= 0 )
            {
                size -= 1;
            }
            ring[size++] = i;
        }
    }
    return size - 1; // the first point closed the ring
}

static bool build_polygon(
    base_memory* memory, const clv_vec3* points, uint32_t count, const uint32_t first[3], hull_mesh* mesh )
{
    math_vec3 normal = clv_math_triangle_normal( points[first[0]], points[first[1]], points[first[2]] );
    int axis = 0; // the widest view that, exactly, has an area
    double widest = -1.0;
    const double views[3] = { normal.x, normal.y, normal.z };
    for ( int i = 0; i < 3; ++i )
    {
        clv_vec3 a = drop_axis( points[first[0]], i ), b = drop_axis( points[first[1]], i );
        if ( math_abs( views[i] ) > widest &&
            clv_math_orient2( a, b, drop_axis( points[first[2]], i ) ) != 0 )
        {
            widest = math_abs( views[i] ), axis = i;
        }
    }

    flat_point* sorted = clv_base_memory_take( memory, count, sizeof( flat_point ) );
    uint64_t wanted = 2 * (uint64_t)count + 1;
    bool ok = sorted != NULL && base_array_reserve( &mesh->ring, memory, wanted );
    if ( ok )
    {
        for ( uint32_t i = 0; i < count; ++i )
        {
            sorted[i] = ( flat_point ){ drop_axis( points[i], axis ), i };
        }
        clv_base_heap_sort( sorted, count, sizeof( flat_point ), compare_flat );
        mesh->ring_count = chain( sorted, count, mesh->ring.items );
        for ( uint32_t i = 0; i < mesh->ring_count; ++i )
        {
            mesh->ring.items[i] = sorted[mesh->ring.items[i]].index;
        }
        mesh->dimension = 2;
        mesh->ring_normal = views[axis] < 0.0 ? math_neg( normal ) : normal;
    }
    clv_base_memory_give( memory, sorted, count, sizeof( flat_point ) );
    return ok;
}

bool clv_narrow_hull_mesh_build(
    base_memory* memory, const clv_vec3* points, uint32_t count, hull_mesh* mesh )
{
    *mesh = ( hull_mesh ){ 0 };
    uint32_t first[4];
    uint32_t found = find_first( points, count, first );
    if ( found == 4 )
    {
        return build_solid( memory, points, count, first, mesh );
    }
    if ( found == 3 )
    {
        return build_polygon( memory, points, count, first, mesh );
    }
    if ( !base_array_reserve( &mesh->ring, memory, 2 ) )
    {
        return false;
    }
    mesh->ring.items[0] = first[0], mesh->ring.items[1] = first[1];
    mesh->ring_count = found;
    mesh->dimension = found - 1;
    return true;
}

void clv_narrow_hull_mesh_free( base_memory* memory, hull_mesh* mesh )
{
    base_array_free( &mesh->triangles, memory );
    base_array_free( &mesh->ring, memory );
    *mesh = ( hull_mesh ){ 0 };
}
