// SPDX-License-Identifier: MIT
// From triangles to faces: neighbouring triangles that are flat within the tolerance become one polygon.
#include "narrow/hull.h"

#include "base/assertion.h"
#include "base/heap_sort.h"
#include "math/orient.h"
#include <string.h>

#define NONE UINT32_MAX
#define ROOT_OF_3 1.7320508075688774

typedef struct joiner
{
    base_memory* memory;
    const clv_vec3* points;
    uint32_t point_count;
    const hull_triangle* triangles;
    uint32_t triangle_count;
    uint32_t* group;    // by triangle
    uint32_t* order;    // triangles by falling area
    uint32_t* next;     // by point: the next corner of the group being walked
    uint32_t* degree;   // by point: faces around it
    uint32_t* renumber; // by point: its vertex
    uint32_t* links;    // by point, two each: where border edges lead
    uint32_t* path;     // room for clv_narrow_hull_outline_thin
    uint32_t group_count;
    double flatness; // no corner of a group is farther from the group's plane
} joiner;

static math_vec3 normal_of_triangle( const joiner* j, uint32_t triangle )
{
    const uint32_t* c = j->triangles[triangle].corners;
    return clv_math_triangle_normal( j->points[c[0]], j->points[c[1]], j->points[c[2]] );
}

// ---- grouping

// A comparison has no room for context; the area and the index travel together.
typedef struct ranked
{
    double area;
    uint32_t triangle;
} ranked;

static int compare_ranked( const void* a, const void* b )
{
    const ranked *p = a, *q = b;
    if ( p->area != q->area )
    {
        return p->area > q->area ? -1 : 1;
    }
    return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

static bool sort_by_area( joiner* j )
{
    ranked* list = clv_base_memory_take( j->memory, j->triangle_count, sizeof( ranked ) );
    if ( list == NULL )
    {
        return false;
    }
    for ( uint32_t i = 0; i < j->triangle_count; ++i )
    {
        list[i] = ( ranked ){ math_length( normal_of_triangle( j, i ) ), i };
    }
    clv_base_heap_sort( list, j->triangle_count, sizeof( ranked ), compare_ranked );
    for ( uint32_t i = 0; i < j->triangle_count; ++i )
    {
        j->order[i] = list[i].triangle;
    }
    clv_base_memory_give( j->memory, list, j->triangle_count, sizeof( ranked ) );
    return true;
}

// The plane of a group's first triangle, and the axis that is nearest to its normal.
typedef struct seed_plane
{
    math_vec3 normal, origin;
    int axis;
    int side;
} seed_plane;

static seed_plane plane_of( const joiner* j, uint32_t seed )
{
    math_vec3 n = math_normalize( normal_of_triangle( j, seed ), math_make( 0, 0, 0 ) );
    double x = math_abs( n.x ), y = math_abs( n.y ), z = math_abs( n.z );
    int axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
    double along = axis == 0 ? n.x : axis == 1 ? n.y : n.z;
    seed_plane plane = { n, math_widen( j->points[j->triangles[seed].corners[0]] ), axis,
        along < 0.0 ? -1 : 1 };
    return plane;
}

// Within the tolerance of the plane, and on the same side of the body. Normals of slivers are mostly
// rounding, so the side is asked for exactly: seen along the axis, no two triangles of a group are one above
// the other. So the shadow of a point within the group lies within that of its outline, and the point itself,
// since both are as near to the plane, within 2 * sqrt( 3 ) tolerances of the outline's hull. (The root is
// the slope of the axis, at worst.)
static bool lies_flat( joiner* j, uint32_t triangle, const seed_plane* plane, double tolerance )
{
    const uint32_t* c = j->triangles[triangle].corners;
    double most = 0.0;
    for ( int k = 0; k < 3; ++k )
    {
        math_vec3 p = math_widen( j->points[c[k]] );
        most = math_max( most, math_abs( math_dot( plane->normal, math_sub( p, plane->origin ) ) ) );
    }
    if ( most > tolerance || !( math_dot( normal_of_triangle( j, triangle ), plane->normal ) > 0.0 ) ||
        clv_math_orient2_along( plane->axis, j->points[c[0]], j->points[c[1]], j->points[c[2]] ) !=
            plane->side )
    {
        return false;
    }
    j->flatness = math_max( j->flatness, most );
    return true;
}

// From the largest triangle down, each that has no group yet starts one and takes in its flat surroundings.
// Large triangles know their plane best.
static void group_triangles( joiner* j, double tolerance, bool join, uint32_t* queue )
{
    memset( j->group, 0xFF, j->triangle_count * sizeof( uint32_t ) );
    for ( uint32_t rank = 0; rank < j->triangle_count; ++rank )
    {
        uint32_t seed = j->order[rank];
        if ( j->group[seed] != NONE )
        {
            continue;
        }
        uint32_t group = j->group_count++, queued = 1;
        j->group[seed] = group;
        queue[0] = seed;
        seed_plane plane = plane_of( j, seed );
        for ( uint32_t i = 0; join && i < queued; ++i )
        {
            for ( int k = 0; k < 3; ++k )
            {
                uint32_t other = j->triangles[queue[i]].across[k];
                if ( j->group[other] == NONE && lies_flat( j, other, &plane, tolerance ) )
                {
                    j->group[other] = group;
                    queue[queued++] = other;
                }
            }
        }
    }
}

static bool is_border( const joiner* j, uint32_t triangle, int edge )
{
    return j->group[j->triangles[triangle].across[edge]] != j->group[triangle];
}

// Every point with an outgoing border edge has exactly one, and following them from any comes round to all: a
// polygon. The group's triangles are those of `members`.
static bool is_polygon( joiner* j, const uint32_t* members, uint32_t count )
{
    uint32_t border = 0, first = NONE;
    bool once = true;
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( int k = 0; k < 3; ++k )
        {
            if ( is_border( j, members[i], k ) )
            {
                uint32_t from = j->triangles[members[i]].corners[k];
                once = once && j->next[from] == NONE;
                j->next[from] = j->triangles[members[i]].corners[( k + 1 ) % 3];
                first = from;
                border += 1;
            }
        }
    }
    uint32_t length = 0;
    for ( uint32_t at = first; once && at != NONE && length <= border; ++length )
    {
        at = j->next[at];
        if ( at == first )
        {
            length += 1;
            break;
        }
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( int k = 0; k < 3; ++k )
        {
            j->next[j->triangles[members[i]].corners[k]] = NONE;
        }
    }
    return once && length == border && border >= 3;
}

// Sorts triangles by group into `members`; starts[g] .. starts[g + 1].
static void list_members( const joiner* j, uint32_t* starts, uint32_t* members )
{
    memset( starts, 0, ( j->group_count + 1 ) * sizeof( uint32_t ) );
    for ( uint32_t i = 0; i < j->triangle_count; ++i )
    {
        starts[j->group[i] + 1] += 1;
    }
    for ( uint32_t g = 0; g < j->group_count; ++g )
    {
        starts[g + 1] += starts[g];
    }
    for ( uint32_t i = j->triangle_count; i-- > 0; )
    {
        members[--starts[j->group[i] + 1]] = i;
    }
    // Each start was walked down to its own group's first member, one place too far right: shift.
    memmove( starts, starts + 1, j->group_count * sizeof( uint32_t ) );
    CLV_ASSERT( starts[0] == 0 && j->group_count <= j->triangle_count );
    starts[j->group_count] = j->triangle_count;
}

// A group that is no polygon (a ring around a thin body) falls apart into its triangles. There are never more
// groups than triangles, so the arrays suffice.
static void split_bad_groups( joiner* j, uint32_t* starts, uint32_t* members )
{
    list_members( j, starts, members );
    uint32_t group_count = j->group_count;
    for ( uint32_t g = 0; g < group_count; ++g )
    {
        uint32_t count = starts[g + 1] - starts[g];
        if ( count > 1 && !is_polygon( j, members + starts[g], count ) )
        {
            for ( uint32_t i = 1; i < count; ++i )
            {
                j->group[members[starts[g] + i]] = j->group_count++;
            }
        }
    }
    list_members( j, starts, members );
}

// ---- needless points

// How many border edges start at each point, and where up to two of them lead. `renumber` is 1 for corners of
// triangles.
static void count_degrees( joiner* j )
{
    memset( j->degree, 0, j->point_count * sizeof( uint32_t ) );
    memset( j->renumber, 0, j->point_count * sizeof( uint32_t ) );
    for ( uint32_t i = 0; i < j->triangle_count; ++i )
    {
        for ( int k = 0; k < 3; ++k )
        {
            uint32_t from = j->triangles[i].corners[k];
            j->renumber[from] = 1;
            if ( is_border( j, i, k ) )
            {
                uint32_t* degree = &j->degree[from];
                j->links[2 * (size_t)from + *degree % 2] = j->triangles[i].corners[( k + 1 ) % 3];
                *degree += 1;
            }
        }
    }
}

// Corners so near to each other that rounding hides the way from one to the next from a climb: one of them
// stays. `degree` is 1 for those that stay because others go. Sets `redundant`; returns how many.
static uint32_t find_twins( joiner* j, double tolerance, bool* redundant, double* loss )
{
    memset( redundant, 0, j->point_count * sizeof( bool ) );
    memset( j->degree, 0, j->point_count * sizeof( uint32_t ) );
    uint32_t count = 0;
    *loss = 0.0;
    for ( uint32_t i = 0; i < 3 * j->triangle_count; ++i )
    {
        const uint32_t* c = j->triangles[i / 3].corners;
        uint32_t a = c[i % 3], b = c[( i + 1 ) % 3];
        uint32_t goes = j->degree[b] == 0 ? b : a, stays = goes == b ? a : b;
        double length = math_length( math_sub( math_widen( j->points[a] ), math_widen( j->points[b] ) ) );
        if ( length <= tolerance && !redundant[a] && !redundant[b] && j->degree[goes] == 0 )
        {
            redundant[goes] = true;
            j->degree[stays] = 1;
            *loss = math_max( *loss, length );
            count += 1;
        }
    }
    return count;
}

// Sets `redundant`; returns how many. `stuck`: how many corners of two faces are needed all the same. `loss`:
// those within a face are near its outline, some of whose points go too.
static uint32_t find_redundant( joiner* j, double tolerance, bool* redundant, uint32_t* stuck, double* loss )
{
    count_degrees( j );
    for ( uint32_t p = 0; p < j->point_count; ++p )
    {
        redundant[p] = j->renumber[p] == 1 && j->degree[p] < 2;
    }
    hull_outline outline = { j->points, j->point_count, j->degree, j->links, j->next, j->path, redundant };
    *loss = clv_narrow_hull_outline_thin( &outline, tolerance ) + 2.0 * ROOT_OF_3 * j->flatness;
    uint32_t count = 0;
    *stuck = 0;
    for ( uint32_t p = 0; p < j->point_count; ++p )
    {
        count += redundant[p] ? 1 : 0;
        *stuck += j->degree[p] == 2 && !redundant[p] ? 1 : 0;
    }
    return count;
}

// A needed corner of two faces: both are flat to the tolerance, and so is the body between them there. The
// faces around such corners fall apart into triangles, of which every corner has three.
static void split_at_stuck( joiner* j, uint32_t* starts, uint32_t* members )
{
    uint32_t group_count = j->group_count;
    for ( uint32_t g = 0; g < group_count; ++g )
    {
        bool split = false;
        for ( uint32_t i = 3 * starts[g]; i < 3 * starts[g + 1]; ++i )
        {
            split = split || j->degree[j->triangles[members[i / 3]].corners[i % 3]] == 2;
        }
        for ( uint32_t i = starts[g] + 1; split && i < starts[g + 1]; ++i )
        {
            j->group[members[i]] = j->group_count++;
        }
    }
    list_members( j, starts, members );
}

// ---- filling in

static bool take_arrays( clv_hull* hull )
{
    bool ok = true;
#define TAKE( member, count )                                                                                \
    hull->member = clv_base_memory_take( &hull->memory, count, sizeof( *hull->member ) );                    \
    ok = ok && ( hull->member != NULL || ( count ) == 0 );
    HULL_ARRAYS( TAKE )
#undef TAKE
    return ok;
}

static void number_vertices( joiner* j, clv_hull* hull )
{
    uint32_t count = 0;
    for ( uint32_t p = 0; p < j->point_count; ++p )
    {
        if ( j->renumber[p] == 1 )
        {
            hull->vertices[count] = j->points[p];
            j->renumber[p] = count++;
        }
    }
    CLV_ASSERT( count == hull->vertex_count );
}

// The plane that has the whole face on or behind it.
static clv_plane face_plane( const clv_hull* hull, const uint32_t* corners, uint32_t count )
{
    math_vec3 origin = math_widen( hull->vertices[corners[0]] ), sum = { 0, 0, 0 };
    for ( uint32_t i = 1; i + 1 < count; ++i )
    {
        clv_vec3 p = hull->vertices[corners[i]], q = hull->vertices[corners[i + 1]];
        sum = math_add( sum, clv_math_triangle_normal( hull->vertices[corners[0]], p, q ) );
    }
    math_vec3 normal = math_normalize( sum, math_make( 0, 1, 0 ) );
    double offset = math_dot( normal, origin );
    for ( uint32_t i = 1; i < count; ++i )
    {
        offset = math_max( offset, math_dot( normal, math_widen( hull->vertices[corners[i]] ) ) );
    }
    return ( clv_plane ){ math_narrow( normal ), (float)offset };
}

static void walk_faces( joiner* j, clv_hull* hull, const uint32_t* starts, const uint32_t* members )
{
    uint32_t filled = 0;
    for ( uint32_t g = 0; g < j->group_count; ++g )
    {
        uint32_t first = NONE;
        for ( uint32_t i = starts[g]; i < starts[g + 1]; ++i )
        {
            for ( int k = 0; k < 3; ++k )
            {
                if ( is_border( j, members[i], k ) )
                {
                    uint32_t from = j->triangles[members[i]].corners[k];
                    j->next[from] = j->triangles[members[i]].corners[( k + 1 ) % 3];
                    first = from < first ? from : first; // faces start at their lowest vertex
                }
            }
        }
        hull->face_starts[g] = filled;
        CLV_ASSERT( first != NONE );
        uint32_t at = first;
        do
        {
            hull->face_corners[filled++] = j->renumber[at];
            uint32_t following = j->next[at];
            j->next[at] = NONE;
            at = following;
        } while ( at != first );
        hull->face_planes[g] =
            face_plane( hull, hull->face_corners + hull->face_starts[g], filled - hull->face_starts[g] );
    }
    hull->face_starts[j->group_count] = filled;
    CLV_ASSERT( filled == hull->corner_count );
}

static int compare_indices( const void* a, const void* b )
{
    const uint32_t *p = a, *q = b;
    return *p < *q ? -1 : *p > *q;
}

// Who is joined to whom by an edge; by border edges alone, or by all of them.
static void link_vertices(
    const joiner* j, uint32_t vertex_count, bool border_only, uint32_t* starts, uint32_t* links )
{
    memset( starts, 0, ( vertex_count + 1 ) * sizeof( uint32_t ) );
    for ( int pass = 0; pass < 2; ++pass )
    {
        for ( uint32_t i = 0; i < j->triangle_count; ++i )
        {
            for ( int k = 0; k < 3; ++k )
            {
                if ( border_only && !is_border( j, i, k ) )
                {
                    continue;
                }
                // The triangle on the other side has the same edge backwards and links the other way.
                uint32_t from = j->renumber[j->triangles[i].corners[k]];
                uint32_t to = j->renumber[j->triangles[i].corners[( k + 1 ) % 3]];
                if ( pass == 0 )
                {
                    starts[from] += 1;
                }
                else
                {
                    links[--starts[from]] = to;
                }
            }
        }
        for ( uint32_t v = 0, sum = 0; pass == 0 && v <= vertex_count; ++v )
        {
            sum += starts[v];
            starts[v] = sum; // the end of each; the second pass walks it down to the start
        }
    }
    for ( uint32_t v = 0; v < vertex_count; ++v )
    {
        clv_base_heap_sort(
            links + starts[v], starts[v + 1] - starts[v], sizeof( uint32_t ), compare_indices );
    }
}

float clv_narrow_radius( const clv_vec3* vertices, uint32_t count )
{
    double largest = 0.0;
    for ( uint32_t v = 0; v < count; ++v )
    {
        largest = math_max( largest, math_length( math_widen( vertices[v] ) ) );
    }
    float radius = (float)( largest * ( 1.0 + 0x1p-23 ) ); // never below, also after rounding to float
    return (double)radius < largest ? nextafterf( radius, HUGE_VALF ) : radius; // denormals have fewer digits
}

static bool fill_from_groups( joiner* j, clv_hull* hull, const uint32_t* starts, const uint32_t* members )
{
    uint32_t vertices = 0, corners = 0;
    for ( uint32_t p = 0; p < j->point_count; ++p )
    {
        vertices += j->renumber[p];
        corners += j->degree[p];
    }
    hull->dimension = 3;
    hull->vertex_count = vertices;
    hull->face_count = j->group_count;
    hull->corner_count = corners;
    hull->edge_count = corners / 2; // each edge is a border of two faces
    hull->climb_count = 3 * j->triangle_count;
    if ( !take_arrays( hull ) )
    {
        return false;
    }
    for ( uint32_t p = 0; p < j->point_count; ++p )
    {
        j->renumber[p] = j->renumber[p] == 1 ? 1 : NONE;
    }
    number_vertices( j, hull );
    walk_faces( j, hull, starts, members );
    link_vertices( j, vertices, true, hull->neighbour_starts, hull->neighbours );
    link_vertices( j, vertices, false, hull->climb_starts, hull->climbs );
    hull->radius = clv_narrow_radius( hull->vertices, hull->vertex_count );
    return true;
}

// ---- polygons, segments and points

static void fill_faces_flat( clv_hull* hull, const hull_mesh* mesh )
{
    uint32_t n = hull->vertex_count;
    for ( uint32_t i = 0; i < n; ++i )
    {
        hull->face_corners[i] = i;
        hull->face_corners[n + i] = n - 1 - i;
    }
    hull->face_starts[1] = n, hull->face_starts[2] = 2 * n;
    math_vec3 normal = math_normalize( mesh->ring_normal, math_make( 0, 1, 0 ) );
    double least = math_dot( normal, math_widen( hull->vertices[0] ) ), most = least;
    for ( uint32_t i = 1; i < n; ++i )
    {
        double height = math_dot( normal, math_widen( hull->vertices[i] ) );
        least = math_min( least, height ), most = math_max( most, height );
    }
    hull->face_planes[0] = ( clv_plane ){ math_narrow( normal ), (float)most };
    hull->face_planes[1] = ( clv_plane ){ math_narrow( math_neg( normal ) ), (float)-least };
}

// Everything but what the climb walks.
static bool fill_ring( clv_hull* hull, const clv_vec3* points, const hull_mesh* mesh, uint32_t climb_count )
{
    uint32_t n = mesh->ring_count;
    hull->dimension = mesh->dimension;
    hull->vertex_count = n;
    hull->edge_count = mesh->dimension == 2 ? n : n - 1;
    hull->climb_count = climb_count;
    hull->face_count = mesh->dimension == 2 ? 2 : 0;
    hull->corner_count = hull->face_count * n;
    if ( !take_arrays( hull ) )
    {
        return false;
    }

    hull->face_starts[0] = 0;
    uint32_t filled = 0;
    for ( uint32_t i = 0; i < n; ++i )
    {
        hull->vertices[i] = points[mesh->ring.items[i]];
        hull->neighbour_starts[i] = filled;
        // Both ways round the ring; the two ends of a segment have one neighbour each.
        uint32_t before = i > 0 ? i - 1 : n - 1, after = i + 1 < n ? i + 1 : 0;
        if ( n > 1 )
        {
            hull->neighbours[filled++] = before < after ? before : after;
        }
        if ( n > 2 )
        {
            hull->neighbours[filled++] = before < after ? after : before;
        }
    }
    hull->neighbour_starts[n] = filled;
    if ( hull->face_count > 0 )
    {
        fill_faces_flat( hull, mesh );
    }
    hull->radius = clv_narrow_radius( hull->vertices, hull->vertex_count );
    return true;
}

bool clv_narrow_hull_fill_flat( clv_hull* hull, const clv_vec3* points, const hull_mesh* mesh )
{
    uint32_t n = mesh->ring_count, edge_count = mesh->dimension == 2 ? n : n - 1;
    if ( !fill_ring( hull, points, mesh, 2 * edge_count ) )
    {
        return false;
    }
    memcpy( hull->climb_starts, hull->neighbour_starts, ( n + 1 ) * sizeof( uint32_t ) );
    if ( edge_count > 0 )
    {
        memcpy( hull->climbs, hull->neighbours, 2 * (size_t)edge_count * sizeof( uint32_t ) );
    }
    return true;
}

// Two faces back to back: a polygon, flat to the tolerance. All corners of triangles are on its outline.
static bool fill_polygon( joiner* j, clv_hull* hull )
{
    hull_mesh ring = { .dimension = 2, .ring = { .items = j->path } };
    uint32_t first = NONE;
    for ( uint32_t i = 0; i < j->triangle_count; ++i )
    {
        for ( int k = 0; k < 3 && j->group[i] == 0; ++k )
        {
            if ( is_border( j, i, k ) )
            {
                uint32_t from = j->triangles[i].corners[k];
                j->next[from] = j->triangles[i].corners[( k + 1 ) % 3];
                first = from < first ? from : first;
            }
        }
        if ( j->group[i] == 0 )
        {
            ring.ring_normal = math_add( ring.ring_normal, normal_of_triangle( j, i ) );
        }
    }
    uint32_t at = first;
    do
    {
        j->renumber[at] = ring.ring_count;
        ring.ring.items[ring.ring_count++] = at;
        at = j->next[at];
    } while ( at != first );
    if ( !fill_ring( hull, j->points, &ring, 3 * j->triangle_count ) )
    {
        return false;
    }
    link_vertices( j, ring.ring_count, false, hull->climb_starts, hull->climbs );
    return true;
}

// ---- solids

bool clv_narrow_hull_fill_solid( clv_hull* hull, const clv_vec3* points, uint32_t point_count,
    const hull_mesh* mesh, double tolerance, bool join, bool* redundant, uint32_t* redundant_count,
    double* loss )
{
    base_memory* memory = &hull->memory;
    uint64_t triangle_words = 4 * (uint64_t)mesh->triangle_count + 1;
    uint64_t point_words = 6 * (uint64_t)point_count + 1;
    uint32_t* words = clv_base_memory_take( memory, triangle_words + point_words, sizeof( uint32_t ) );
    if ( words == NULL )
    {
        return false;
    }
    uint32_t n = mesh->triangle_count;
    joiner j = { .memory = memory,
        .points = points,
        .point_count = point_count,
        .triangles = mesh->triangles.items,
        .triangle_count = n };
    j.group = words;
    j.order = words + n;
    uint32_t* members = words + 2 * (size_t)n;
    uint32_t* starts = words + 3 * (size_t)n; // one more than n
    j.next = words + triangle_words;
    j.degree = j.next + point_count;
    j.renumber = j.degree + point_count;
    j.links = j.renumber + point_count;
    j.path = j.links + 2 * (size_t)point_count; // one more than points
    memset( j.next, 0xFF, point_count * sizeof( uint32_t ) );

    *redundant_count = join ? find_twins( &j, tolerance, redundant, loss ) : 0;
    bool ok = *redundant_count > 0 || sort_by_area( &j );
    if ( ok && *redundant_count == 0 )
    {
        group_triangles( &j, tolerance, join, members );
        split_bad_groups( &j, starts, members );
        uint32_t stuck = 0;
        *redundant_count = find_redundant( &j, tolerance, redundant, &stuck, loss );
        while ( *redundant_count == 0 && stuck > 0 && j.group_count > 2 )
        {
            split_at_stuck( &j, starts, members );
            *redundant_count = find_redundant( &j, tolerance, redundant, &stuck, loss );
        }
        ok = *redundant_count > 0 ||
            ( stuck > 0 ? fill_polygon( &j, hull ) : fill_from_groups( &j, hull, starts, members ) );
    }
    clv_base_memory_give( memory, words, triangle_words + point_words, sizeof( uint32_t ) );
    return ok;
}
