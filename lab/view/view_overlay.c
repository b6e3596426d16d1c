// SPDX-License-Identifier: MIT
#include "lab/view/view_overlay.h"

#include "lab/measure/timed_run.h"
#include "space/instrument.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    STEPS_PER_SIDE = 64,
    STEPS_MOST = 1 << 26, // from the origin
    SAMPLES = 4096,
};

// The middle one of the sides of some boxes, those without length left out; 0 if there are none.
static double middle_side( const clv_aabb* boxes, uint32_t count )
{
    static double sides[3 * SAMPLES]; // much for a stack
    uint32_t side_count = 0, samples = count < SAMPLES ? count : SAMPLES;
    for ( uint32_t i = 0; i < samples; ++i )
    {
        const clv_aabb* box = &boxes[(uint64_t)i * count / samples];
        for ( int axis = 0; axis < 3; ++axis )
        {
            double side = (double)( &box->upper.x )[axis] - (double)( &box->lower.x )[axis];
            if ( side > 0 && isfinite( side ) )
            {
                sides[side_count++] = side;
            }
        }
    }
    qsort( sides, side_count, sizeof( double ), run_compare_doubles );
    return side_count > 0 ? sides[side_count / 2] : 0;
}

static void widen( double value, double range[2] )
{
    if ( isfinite( value ) )
    {
        range[0] = value < range[0] ? value : range[0];
        range[1] = value > range[1] ? value : range[1];
    }
}

view_scale view_scale_choose( const clv_aabb* boxes, uint32_t count )
{
    view_scale scale = { { 0, 0, 0 }, 0 };
    double widest = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double range[2] = { INFINITY, -INFINITY };
        for ( uint32_t i = 0; i < count; ++i )
        {
            widen( (double)( &boxes[i].lower.x )[axis], range );
            widen( (double)( &boxes[i].upper.x )[axis], range );
        }
        scale.origin[axis] = range[0] <= range[1] ? range[0] / 2 + range[1] / 2 : 0;
        widest = fmax( widest, range[0] <= range[1] ? range[1] - range[0] : 0 );
    }
    double side = middle_side( boxes, count );
    side = side > 0 ? side : widest > 0 ? widest / 256 : 1;
    scale.step = fmax( side / STEPS_PER_SIDE, widest / STEPS_MOST );
    return scale;
}

int32_t view_scale_place( const view_scale* scale, double value, int axis )
{
    if ( isinf( value ) )
    {
        return value > 0 ? VIEW_INFINITE : -VIEW_INFINITE;
    }
    double steps = ( value - scale->origin[axis] ) / scale->step;
    steps = fmin( fmax( steps, -STEPS_MOST ), STEPS_MOST );
    return (int32_t)floor( steps + 0.5 );
}

// ---- view cells

enum
{
    BLOCK_BOXES = 1 << 14, // boxes in a block, about
    FEW = 128,             // boxes for which there are no cells
    GRIDS_MOST = 256,      // more could not be told apart
};

void view_cells_open( view_cells* cells )
{
    *cells = ( view_cells ){ .is_open = true };
    cells->memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    clv_engine_init( &cells->engine, &cells->memory, clv_simd_kernels_for( clv_isa_best() ), &cells->tasks,
        BLOCK_BOXES, UINT32_MAX, 0 );
}

void view_cells_close( view_cells* cells )
{
    if ( cells->is_open )
    {
        clv_engine_release( &cells->engine );
    }
    *cells = ( view_cells ){ 0 };
}

static void put_grid( byte_buffer* out, const cell_grid* grid )
{
    double sides[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        sides[axis] = 256 / (double)grid->scale[axis];
        if ( !isfinite( sides[axis] ) || !isfinite( grid->origin[axis] ) )
        {
            return;
        }
    }
    byte_buffer_print( out, "%s[%.7g,%.7g,%.7g,%.7g,%.7g,%.7g,%u,%u,%u]", out->count > 1 ? "," : "",
        (double)grid->origin[0], (double)grid->origin[1], (double)grid->origin[2], sides[0], sides[1],
        sides[2], (unsigned)grid->dims[0], (unsigned)grid->dims[1], (unsigned)grid->dims[2] );
}

const cell_grid* view_cells_find(
    view_cells* cells, const clv_aabb* boxes, uint32_t box_count, uint32_t* count )
{
    const clv_engine* engine = &cells->engine;
    clv_method_input input = {
        .size = sizeof( input ), .boxes = boxes, .live_count = box_count, .slot_count = box_count
    };
    *count = 0;
    if ( box_count <= FEW || !clv_engine_fill( &cells->engine, &input ) )
    {
        return NULL;
    }
    bool is_plain = clv_engine_scaled_axes( engine ) == 0;
    bool is_flat = engine->plan.block_count == 0;
    uint32_t grid_count = is_flat ? 1 : engine->plan.block_count;
    *count = is_plain && grid_count <= GRIDS_MOST ? grid_count : 0;
    return is_flat ? &engine->flat.grid : engine->plan.grids.items;
}

char* view_cells_text( view_cells* cells, const clv_aabb* boxes, uint32_t count )
{
    byte_buffer out = { 0 };
    uint32_t grid_count = 0;
    const cell_grid* grids = view_cells_find( cells, boxes, count, &grid_count );
    byte_buffer_put_byte( &out, '[' );
    for ( uint32_t i = 0; i < grid_count; ++i )
    {
        put_grid( &out, &grids[i] );
    }
    byte_buffer_put( &out, "]", 2 );
    return (char*)out.bytes;
}

// ---- view tree

// kd_check.c writes one line per node, and the axis of those that have one before their objects.
static int find_plane( const char* line, const char* end, double* plane )
{
    static const char axis_word[] = "\"axis\": ", plane_word[] = "\"plane\": ";
    const char* axis_at = strstr( line, axis_word );
    const char* plane_at = axis_at != NULL && axis_at < end ? strstr( axis_at, plane_word ) : NULL;
    if ( plane_at == NULL || plane_at >= end )
    {
        return VIEW_TREE_LEAF;
    }
    *plane = strtod( plane_at + strlen( plane_word ), NULL );
    return atoi( axis_at + strlen( axis_word ) ) % 3;
}

static const char s_node_word[] = "{ \"node\": ";

static uint32_t count_nodes( const char* text )
{
    uint32_t count = 0;
    for ( const char* at = strstr( text, s_node_word ); at != NULL; at = strstr( at + 1, s_node_word ) )
    {
        count += 1;
    }
    return count;
}

void view_tree_put( clv_space* space, const view_scale* scale, byte_buffer* out )
{
    view_planes planes;
    view_planes_read( &planes, space );
    byte_buffer_put_count( out, planes.count );
    for ( uint32_t node = 0; node < planes.count; ++node )
    {
        byte_buffer_put_byte( out, planes.axes[node] );
        if ( planes.axes[node] != VIEW_TREE_LEAF )
        {
            byte_buffer_put_difference(
                out, view_scale_place( scale, planes.planes[node], planes.axes[node] ) );
        }
    }
    view_planes_free( &planes );
}

// ---- as arrays

// The right child of an inner node stands behind everything below its left one.
static uint32_t link_rights( view_planes* planes, uint32_t node )
{
    if ( node >= planes->count )
    {
        return planes->count;
    }
    if ( planes->axes[node] == VIEW_TREE_LEAF )
    {
        return node + 1;
    }
    planes->rights[node] = link_rights( planes, node + 1 );
    return link_rights( planes, planes->rights[node] );
}

void view_planes_read( view_planes* planes, clv_space* space )
{
    size_t length = clv_space_dump( space, NULL, 0 );
    char* text = lab_take( length + 1, 1 );
    clv_space_dump( space, text, length + 1 );
    uint32_t count = count_nodes( text ), at = 0;
    *planes = ( view_planes ){ .count = count,
        .axes = lab_take( count + 1, 1 ),
        .planes = lab_take( count + 1, sizeof( double ) ),
        .rights = lab_take( count + 1, sizeof( uint32_t ) ) };
    for ( const char* line = strstr( text, s_node_word ); line != NULL; ++at )
    {
        const char* next = strstr( line + 1, s_node_word );
        planes->axes[at] =
            (uint8_t)find_plane( line, next != NULL ? next : text + length, &planes->planes[at] );
        line = next;
    }
    link_rights( planes, 0 );
    free( text );
}

void view_planes_free( view_planes* planes )
{
    free( planes->axes );
    free( planes->planes );
    free( planes->rights );
    *planes = ( view_planes ){ 0 };
}

uint32_t view_planes_node( const view_planes* planes, const clv_aabb* box )
{
    uint32_t node = 0;
    while ( node < planes->count && planes->axes[node] != VIEW_TREE_LEAF )
    {
        int axis = planes->axes[node];
        if ( (double)( &box->upper.x )[axis] < planes->planes[node] )
        {
            node += 1;
        }
        else if ( (double)( &box->lower.x )[axis] >= planes->planes[node] )
        {
            node = planes->rights[node];
        }
        else
        {
            break;
        }
    }
    return node;
}

// ---- Boxes, 18-DOPs and spheres are compared by the pairs they report of bodies that do not touch, as in
// "Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU" (COPPE 2021).

enum
{
    HULLS_MOST = 4096, // kinds of sides; more would be searched one by one for too long
};

void view_volumes_open( view_volumes* volumes, uint32_t count )
{
    *volumes = ( view_volumes ){ .count = count, .bodies = lab_take( count, sizeof( view_body ) ) };
}

void view_volumes_close( view_volumes* volumes )
{
    for ( uint32_t i = 0; i < volumes->hull_count; ++i )
    {
        clv_hull_destroy( volumes->hulls[i].hull );
    }
    free( volumes->hulls );
    free( volumes->bodies );
    free( volumes->bits );
    *volumes = ( view_volumes ){ 0 };
}

static clv_result add_hull( view_volumes* volumes, clv_vec3 half )
{
    if ( volumes->hull_count == HULLS_MOST )
    {
        return CLV_OUT_OF_MEMORY;
    }
    view_hull* hull = lab_list_next( volumes->hulls, volumes->hull_count );
    *hull = ( view_hull ){ .half = half };
    clv_result result = clv_hull_create_truncated_octahedron( half, &hull->hull );
    volumes->hull_count -= result != CLV_OK;
    return result;
}

// Most bodies have the sides of the one before: the search begins at the last hull.
static clv_result find_hull( view_volumes* volumes, clv_vec3 half, clv_shape* shape )
{
    for ( uint32_t i = volumes->hull_count; i > 0; --i )
    {
        clv_vec3 known = volumes->hulls[i - 1].half;
        if ( known.x == half.x && known.y == half.y && known.z == half.z )
        {
            *shape = clv_hull_shape( volumes->hulls[i - 1].hull );
            return CLV_OK;
        }
    }
    clv_result result = add_hull( volumes, half );
    if ( result == CLV_OK )
    {
        *shape = clv_hull_shape( volumes->hulls[volumes->hull_count - 1].hull );
    }
    return result;
}

clv_result view_volumes_place(
    view_volumes* volumes, view_shape shape, uint32_t index, const float half_sides[3], clv_transform at )
{
    view_body* body = &volumes->bodies[index];
    clv_vec3 half = { half_sides[0], half_sides[1], half_sides[2] };
    clv_result result = CLV_OK;
    body->shape = clv_box_shape( half );
    body->at = at;
    if ( shape == VIEW_OCTAHEDRA )
    {
        result = find_hull( volumes, half, &body->shape );
    }
    result = result == CLV_OK ? clv_shape_dop18( body->shape, at, &body->dop ) : result;
    return result == CLV_OK ? clv_shape_sphere( body->shape, at, &body->sphere ) : result;
}

// Volumes hold their bodies to the last bit: where they are apart so are the bodies, and need not be asked.
static uint8_t compare( const view_body* a, const view_body* b )
{
    uint32_t bits = 0;
    bits |= clv_dop18_overlap( &a->dop, &b->dop ) ? 0 : VIEW_DOPS_APART | VIEW_BODIES_APART;
    bits |= clv_sphere_overlap( a->sphere, b->sphere ) ? 0 : VIEW_SPHERES_APART | VIEW_BODIES_APART;
    bool touching = true;
    if ( bits == 0 && clv_shape_overlap( a->shape, a->at, b->shape, b->at, NULL, &touching ) == CLV_OK )
    {
        bits = touching ? 0 : VIEW_BODIES_APART;
    }
    return (uint8_t)bits;
}

const uint8_t* view_volumes_find( view_volumes* volumes, const clv_pair* pairs, uint64_t count )
{
    if ( count >= volumes->bit_capacity )
    {
        volumes->bit_capacity = count + count / 4 + 1;
        volumes->bits = lab_grow( volumes->bits, volumes->bit_capacity, 1 );
    }
    for ( uint64_t i = 0; i < count; ++i )
    {
        volumes->bits[i] = compare( &volumes->bodies[pairs[i].a], &volumes->bodies[pairs[i].b] );
    }
    return volumes->bits;
}
