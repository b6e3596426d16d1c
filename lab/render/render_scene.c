// SPDX-License-Identifier: MIT
#include "lab/render/render_scene.h"

#include "lab/measure/timed_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- solid

#define DOP_PLANES 18
#define POLYGON_MOST 32

static void place( const solid* self, const double local[3], double out[3] )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        out[axis] = self->middle[axis];
        for ( int k = 0; k < 3; ++k )
        {
            out[axis] += self->turn[axis][k] * self->half[k] * local[k];
        }
    }
}

// Corners of a box are (±1, ±1, ±1), those of a truncated octahedron the permutations of (0, ±1/2, ±1).
static void place_corners( solid* self )
{
    self->corner_count = self->shape == VIEW_BOXES ? 8 : SOLID_CORNERS;
    self->face_count = self->shape == VIEW_BOXES ? 6 : 14;
    for ( uint32_t i = 0; i < self->corner_count; ++i )
    {
        double local[3] = { i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1 };
        if ( self->shape == VIEW_OCTAHEDRA )
        {
            uint32_t zero = i / 8, swap = i / 4 % 2;
            local[zero] = 0;
            local[( zero + 1 + swap ) % 3] = i & 1 ? 0.5 : -0.5;
            local[( zero + 2 - swap ) % 3] = i & 2 ? 1 : -1;
        }
        place( self, local, self->corners[i] );
        double square = 0;
        for ( int axis = 0; axis < 3; ++axis )
        {
            double d = self->corners[i][axis] - self->middle[axis];
            square += d * d;
        }
        self->radius = fmax( self->radius, sqrt( square ) );
    }
}

solid solid_of_box( clv_aabb box )
{
    solid self = { .shape = VIEW_BOXES, .turn = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double lower = (double)( &box.lower.x )[axis], upper = (double)( &box.upper.x )[axis];
        self.middle[axis] = 0.5 * ( lower + upper );
        self.half[axis] = 0.5 * ( upper - lower );
    }
    place_corners( &self );
    return self;
}

solid solid_of_body( view_shape shape, const body_state* body )
{
    solid self = { .shape = shape };
    body_rotation_matrix( body->rotation, self.turn );
    for ( int axis = 0; axis < 3; ++axis )
    {
        self.middle[axis] = body->position[axis];
        self.half[axis] = (double)body->half_sides[axis];
    }
    place_corners( &self );
    return self;
}

// ---- faces

// Out of the body, before it is stretched and turned: the axes, then the diagonals.
static void local_normal( uint32_t face, double out[3] )
{
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        out[axis] = face < 6                    ? ( face / 2 == axis ? ( face % 2 == 0 ? 1 : -1 ) : 0 )
            : ( ( face - 6 ) >> axis & 1 ) != 0 ? 1
                                                : -1;
    }
}

static double dot( const double a[3], const double b[3] )
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Corner `i` of a face, going round: of a box, and of a truncated octahedron's squares and hexagons.
static void local_corner( view_shape shape, uint32_t face, uint32_t i, double out[3] )
{
    static const double squares[4][2] = { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 } };
    static const double turned[4][2] = { { 0.5, 0 }, { 0, 0.5 }, { -0.5, 0 }, { 0, -0.5 } };
    static const double hexagons[6][3] = { { 0, 0.5, 1 }, { 0.5, 0, 1 }, { 1, 0, 0.5 }, { 1, 0.5, 0 },
        { 0.5, 1, 0 }, { 0, 1, 0.5 } };
    local_normal( face, out );
    for ( int axis = 0; axis < 3 && face >= 6; ++axis )
    {
        out[axis] *= hexagons[i][axis];
    }
    for ( uint32_t side = 0; side < 2 && face < 6; ++side )
    {
        out[( face / 2 + 1 + side ) % 3] = shape == VIEW_BOXES ? squares[i][side] : turned[i][side];
    }
}

uint32_t solid_face( const solid* self, uint32_t face, double corners[PICTURE_CORNERS][3], double normal[3] )
{
    double local[3], length = 0;
    local_normal( face, local );
    for ( int axis = 0; axis < 3; ++axis )
    {
        normal[axis] = 0;
        for ( int k = 0; k < 3; ++k )
        {
            normal[axis] += self->turn[axis][k] * local[k] / fmax( self->half[k], 1e-30 );
        }
        length += normal[axis] * normal[axis];
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        normal[axis] /= sqrt( length );
    }
    uint32_t count = face < 6 ? 4 : 6;
    for ( uint32_t i = 0; i < count; ++i )
    {
        local_corner( self->shape, face, i, local );
        place( self, local, corners[i] );
    }
    return count;
}

// ---- volumes

typedef struct half_space
{
    double normal[3], reach;
} half_space;

static void dop_planes( const solid* self, half_space planes[DOP_PLANES] )
{
    for ( int i = 0; i < DOP_PLANES; ++i )
    {
        double sign = i % 2 == 0 ? 1 : -1;
        int which = i / 2, axis = which % 3;
        half_space* plane = &planes[i];
        *plane = ( half_space ){ { 0, 0, 0 }, -INFINITY };
        plane->normal[axis] = sign;
        plane->normal[( axis + 1 ) % 3] = which < 3 ? 0 : which < 6 ? sign : -sign;
        for ( uint32_t corner = 0; corner < self->corner_count; ++corner )
        {
            plane->reach = fmax( plane->reach, dot( plane->normal, self->corners[corner] ) );
        }
    }
}

// What of a polygon lies inside (Sutherland and Hodgman).
static uint32_t clip( double ( *polygon )[3], uint32_t count, const half_space* plane )
{
    double out[POLYGON_MOST][3];
    uint32_t out_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const double* a = polygon[i];
        const double* b = polygon[( i + 1 ) % count];
        double da = dot( plane->normal, a ) - plane->reach, db = dot( plane->normal, b ) - plane->reach;
        if ( da <= 0 && out_count < POLYGON_MOST )
        {
            memcpy( out[out_count++], a, sizeof( out[0] ) );
        }
        if ( da * db < 0 && out_count < POLYGON_MOST )
        {
            for ( int axis = 0; axis < 3; ++axis )
            {
                out[out_count][axis] = a[axis] + ( b[axis] - a[axis] ) * da / ( da - db );
            }
            out_count += 1;
        }
    }
    memcpy( polygon, out, out_count * sizeof( out[0] ) );
    return out_count;
}

void solid_draw_dop( const solid* self, picture* out, picture_ink ink )
{
    half_space planes[DOP_PLANES];
    dop_planes( self, planes );
    for ( int face = 0; face < DOP_PLANES; ++face )
    {
        // A square in the plane that is larger than the body, cut by all the others.
        const double* normal = planes[face].normal;
        double length = dot( normal, normal ),
               other[3] = { fabs( normal[0] ) < 0.5, fabs( normal[0] ) >= 0.5, 0 };
        double right[3], up[3], polygon[POLYGON_MOST][3];
        if ( fabs( normal[0] ) >= 0.5 && fabs( normal[1] ) >= 0.5 )
        {
            memcpy( other, ( double[3] ){ 0, 0, 1 }, sizeof( other ) );
        }
        picture_cross( normal, other, right );
        picture_cross( normal, right, up );
        double off = ( planes[face].reach - dot( normal, self->middle ) ) / length;
        for ( int i = 0; i < 4; ++i )
        {
            double a = i == 0 || i == 3 ? -4 : 4, b = i < 2 ? -4 : 4;
            for ( int axis = 0; axis < 3; ++axis )
            {
                polygon[i][axis] = self->middle[axis] + normal[axis] * off +
                    self->radius * ( a * right[axis] + b * up[axis] );
            }
        }
        uint32_t count = 4;
        for ( int i = 0; i < DOP_PLANES && count > 0; ++i )
        {
            half_space wider = planes[i];
            wider.reach += 1e-9 * ( 1 + fabs( wider.reach ) );
            count = i != face ? clip( polygon, count, &wider ) : count;
        }
        for ( uint32_t i = 0; count >= 3 && i < count; ++i )
        {
            picture_add_line( out, polygon[i], polygon[( i + 1 ) % count], ink, 0.8f, false );
        }
    }
}

// The outline of the sphere around its middle.
static void solid_draw_sphere( const solid* self, picture* out, picture_ink ink )
{
    enum
    {
        STEPS = 40
    };
    double last[3];
    for ( int i = 0; i <= STEPS; ++i )
    {
        double angle = 6.283185307179586 * i / STEPS, point[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            point[axis] = self->middle[axis] +
                self->radius *
                    ( cos( angle ) * out->camera.right[axis] + sin( angle ) * out->camera.up[axis] );
        }
        if ( i > 0 )
        {
            picture_add_line( out, last, point, ink, 0.8f, false );
        }
        memcpy( last, point, sizeof( last ) );
    }
}

// ---- render scene

typedef struct rgb
{
    double parts[3];
} rgb;

/// Everything while a picture is made.
typedef struct render_state
{
    picture* out;
    const render_source* source;
    const render_look* look;
    clv_aabb world;
    uint32_t* touching; ///< of each object
    view_planes tree;   ///< where the look asks for one
    double side;        ///< of a typical box
    double sizes[2];    ///< logarithms, least and most
} render_state;

// ---- colours, as view/src/shaders.js has them

static rgb mix( rgb a, rgb b, double t )
{
    rgb out;
    for ( int i = 0; i < 3; ++i )
    {
        out.parts[i] = a.parts[i] + ( b.parts[i] - a.parts[i] ) * t;
    }
    return out;
}

static double unit( double value )
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

static rgb ramp( double t )
{
    t = unit( t );
    return ( rgb ){ { unit( 0.25 + t * ( -0.35 + t * ( 0.15 + 0.92 * t ) ) ),
        unit( 0.22 + t * ( 1.02 - 0.32 * t ) ), unit( 0.50 + t * ( 0.62 - 0.98 * t ) ) } };
}

static rgb node_colour( uint32_t node )
{
    double turn = node * 0.61803399, shade = node * 0.38196601 + 0.3;
    turn -= floor( turn );
    shade = 0.75 + 0.25 * ( shade - floor( shade ) );
    rgb out;
    for ( int i = 0; i < 3; ++i )
    {
        out.parts[i] = shade * unit( 0.62 + 0.36 * cos( 6.2831853 * ( turn + 0.33333 * i ) ) );
    }
    return out;
}

static double moved( const clv_aabb* before, const clv_aabb* now )
{
    double most = 0;
    for ( int i = 0; i < 6; ++i )
    {
        double step = fabs( (double)( &now->lower.x )[i] - (double)( &before->lower.x )[i] );
        most = step > most ? step : most; // infinite faces that stay give NaN, which is not more
    }
    return most;
}

static double size_of( const clv_aabb* box )
{
    double volume = 1;
    for ( int axis = 0; axis < 3; ++axis )
    {
        volume *= (double)( &box->upper.x )[axis] - (double)( &box->lower.x )[axis];
    }
    return log( fmax( volume, 1e-30 ) ) / 3;
}

static rgb colour_of( const render_state* state, uint32_t object )
{
    const view_input* input = state->source->input;
    const clv_aabb* box = &input->boxes[object];
    const clv_aabb* before = &input->boxes_before[object];
    const rgb idle = state->look->is_dark ? ( rgb ){ { 0.43, 0.51, 0.60 } } : ( rgb ){ { 0.62, 0.69, 0.77 } };
    const rgb busy = { { 0.94, 0.63, 0.20 } }, crowded = { { 0.84, 0.24, 0.08 } },
              moving = { { 0.20, 0.62, 0.90 } };
    switch ( state->look->colour )
    {
    case RENDER_STATIC: return moved( before, box ) <= 0.01 * exp( size_of( before ) ) ? idle : moving;
    case RENDER_SPEED: return ramp( sqrt( moved( before, box ) / ( 0.3 * state->side ) ) );
    case RENDER_SIZE:
        return ramp( ( size_of( box ) - state->sizes[0] ) / fmax( state->sizes[1] - state->sizes[0], 1e-3 ) );
    case RENDER_NODE: return node_colour( view_planes_node( &state->tree, box ) );
    case RENDER_TOUCHING:
    default:
        return state->touching[object] == 0
            ? idle
            : mix( busy, crowded, unit( ( state->touching[object] - 1.0 ) / 9 ) );
    }
}

static picture_ink ink_of( rgb colour, double light, float alpha )
{
    uint8_t parts[3];
    for ( int i = 0; i < 3; ++i )
    {
        parts[i] = (uint8_t)( 255 * unit( colour.parts[i] * light ) + 0.5 );
    }
    return ( picture_ink ){ parts[0], parts[1], parts[2], alpha };
}

// ---- bodies

// As large as the world: it would hide everything else.
static bool is_huge( const render_state* state, const clv_aabb* box )
{
    bool huge = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double world = (double)( &state->world.upper.x )[axis] - (double)( &state->world.lower.x )[axis];
        huge = huge && (double)( &box->upper.x )[axis] - (double)( &box->lower.x )[axis] > 0.7 * world;
    }
    return huge;
}

// Infinite faces end a little outside of what is seen.
static clv_aabb finite( const render_state* state, clv_aabb box )
{
    const clv_aabb* seen = &state->source->seen;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float low = ( &seen->lower.x )[axis], high = ( &seen->upper.x )[axis], more = 0.1f * ( high - low );
        float* lower = &( &box.lower.x )[axis];
        float* upper = &( &box.upper.x )[axis];
        *lower = isinf( *lower ) ? low - more : *lower;
        *upper = isinf( *upper ) ? high + more : *upper;
    }
    return box;
}

static solid solid_of( const render_state* state, uint32_t object )
{
    const view_input* input = state->source->input;
    return input->has_poses ? solid_of_body( input->shape, &input->bodies[object] )
                            : solid_of_box( finite( state, input->boxes[object] ) );
}

static void draw_body( render_state* state, uint32_t object )
{
    const picture_camera* camera = &state->out->camera;
    solid body = solid_of( state, object );
    rgb tint = colour_of( state, object );
    for ( uint32_t i = 0; i < body.face_count; ++i )
    {
        double corners[PICTURE_CORNERS][3], normal[3], facing = 0;
        uint32_t count = solid_face( &body, i, corners, normal );
        for ( int axis = 0; axis < 3; ++axis )
        {
            facing += normal[axis] * ( camera->eye[axis] - corners[0][axis] );
        }
        if ( facing > 0 )
        {
            double light = 0.62 + 0.30 * normal[1] + 0.14 * normal[0] + 0.08 * normal[2];
            light = 0.82 * light + 0.18;
            double pixels = camera->scale * 2 * body.radius / camera->distance;
            picture_ink edge = ink_of( tint, light * 0.42, pixels > 7 ? 1.0f : 0.0f );
            picture_add_face(
                state->out, (const double( * )[3])corners, count, ink_of( tint, light, 1 ), edge );
        }
    }
}

// ---- lines

static void draw_wire( render_state* state, clv_aabb box, picture_ink ink, float width )
{
    for ( int edge = 0; edge < 12; ++edge )
    {
        int axis = edge / 4, one = ( axis + 1 ) % 3, two = ( axis + 2 ) % 3;
        double ends[2][3];
        for ( int end = 0; end < 2; ++end )
        {
            ends[end][axis] = (double)( end == 0 ? &box.lower.x : &box.upper.x )[axis];
            ends[end][one] = (double)( ( edge & 1 ) == 0 ? &box.lower.x : &box.upper.x )[one];
            ends[end][two] = (double)( ( edge & 2 ) == 0 ? &box.lower.x : &box.upper.x )[two];
        }
        picture_add_line( state->out, ends[0], ends[1], ink, width, false );
    }
}

static void draw_pairs( render_state* state )
{
    const picture_ink ink =
        state->look->is_dark ? ( picture_ink ){ 255, 210, 122, 0.6f } : ( picture_ink ){ 163, 52, 12, 0.6f };
    clv_pair_view pairs = view_search_pairs( state->source->search );
    for ( uint64_t i = 0; i < pairs.count; ++i )
    {
        double middles[2][3];
        for ( int end = 0; end < 2; ++end )
        {
            clv_aabb box =
                finite( state, state->source->input->boxes[end == 0 ? pairs.pairs[i].a : pairs.pairs[i].b] );
            for ( int axis = 0; axis < 3; ++axis )
            {
                middles[end][axis] =
                    0.5 * ( (double)( &box.lower.x )[axis] + (double)( &box.upper.x )[axis] );
            }
        }
        picture_add_line( state->out, middles[0], middles[1], ink, 1, true );
    }
}

static void draw_planes( render_state* state, uint32_t node, clv_aabb region, uint32_t depth )
{
    static const rgb tints[3] = { { { 0.86, 0.28, 0.30 } }, { { 0.22, 0.68, 0.42 } },
        { { 0.28, 0.48, 0.92 } } };
    const view_planes* tree = &state->tree;
    if ( node >= tree->count || tree->axes[node] == VIEW_TREE_LEAF )
    {
        return;
    }
    int axis = tree->axes[node], one = ( axis + 1 ) % 3, two = ( axis + 2 ) % 3;
    double low = (double)( &region.lower.x )[axis], high = (double)( &region.upper.x )[axis];
    double plane = fmin( fmax( tree->planes[node], low ), high ), corners[4][3];
    for ( int i = 0; i < 4; ++i )
    {
        corners[i][axis] = plane;
        corners[i][one] = (double)( i == 1 || i == 2 ? &region.upper.x : &region.lower.x )[one];
        corners[i][two] = (double)( i >= 2 ? &region.upper.x : &region.lower.x )[two];
    }
    float alpha = (float)fmax( 0.20 - 0.02 * depth, 0.05 );
    picture_add_face( state->out, (const double( * )[3])corners, 4, ink_of( tints[axis], 1, alpha ),
        ink_of( tints[axis], 1, 0.85f ) );
    clv_aabb left = region, right = region;
    ( &left.upper.x )[axis] = ( &right.lower.x )[axis] = (float)plane;
    draw_planes( state, node + 1, left, depth + 1 );
    draw_planes( state, tree->rights[node], right, depth + 1 );
}

static void draw_cells( render_state* state )
{
    const view_input* input = state->source->input;
    uint32_t count = input->source.header.object_count, grid_count = 0;
    const cell_grid* grids = view_cells_find( state->source->cells, input->boxes, count, &grid_count );
    const picture_ink ink = { 70, 120, 180, 0.7f };
    for ( uint32_t g = 0; g < grid_count; ++g )
    {
        const cell_grid* grid = &grids[g];
        uint32_t cell_count = grid->dims[0] * grid->dims[1] * grid->dims[2];
        for ( uint32_t cell = 0; cell < cell_count; ++cell )
        {
            const uint32_t at[3] = { cell % grid->dims[0], cell / grid->dims[0] % grid->dims[1],
                cell / grid->dims[0] / grid->dims[1] };
            clv_aabb box = { { 0, 0, 0 }, { 0, 0, 0 } };
            for ( int axis = 0; axis < 3; ++axis )
            {
                float side = 256 / grid->scale[axis];
                ( &box.lower.x )[axis] = grid->origin[axis] + side * (float)at[axis];
                ( &box.upper.x )[axis] = ( &box.lower.x )[axis] + side;
            }
            draw_wire( state, box, ink, 0.8f );
        }
    }
}

static void draw_overlays( render_state* state )
{
    const view_input* input = state->source->input;
    const picture_ink frame =
        state->look->is_dark ? ( picture_ink ){ 70, 82, 96, 1 } : ( picture_ink ){ 185, 195, 206, 1 };
    const picture_ink wire =
        state->look->is_dark ? ( picture_ink ){ 169, 188, 207, 0.8f } : ( picture_ink ){ 52, 70, 90, 0.8f };
    const picture_ink volume = { 0, 120, 160, 0.9f };
    draw_wire( state, state->source->seen, frame, 1 );
    for ( uint32_t i = 0; i < input->source.header.object_count; ++i )
    {
        if ( state->look->has_boxes )
        {
            draw_wire( state, finite( state, input->boxes[i] ), wire, 0.8f );
        }
        if ( state->look->has_dops || state->look->has_spheres )
        {
            solid body = solid_of( state, i );
            if ( state->look->has_dops )
            {
                solid_draw_dop( &body, state->out, volume );
            }
            if ( state->look->has_spheres )
            {
                solid_draw_sphere( &body, state->out, volume );
            }
        }
    }
    if ( state->look->has_cells )
    {
        draw_cells( state );
    }
    if ( state->look->has_tree )
    {
        draw_planes( state, 0, state->source->seen, 0 );
    }
    if ( state->look->has_pairs )
    {
        draw_pairs( state );
    }
}

// ---- what all of them need

clv_aabb render_scene_box( const view_input* input )
{
    clv_aabb box = input->source.header.world;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float low = INFINITY, high = -INFINITY;
        for ( uint32_t i = 0; i < input->source.header.object_count; ++i )
        {
            float l = ( &input->boxes[i].lower.x )[axis], u = ( &input->boxes[i].upper.x )[axis];
            low = isfinite( l ) && l < low ? l : low;
            high = isfinite( u ) && u > high ? u : high;
        }
        float* lower = &( &box.lower.x )[axis];
        float* upper = &( &box.upper.x )[axis];
        bool is_empty = !( low < high );
        if ( is_empty && !( isfinite( *upper - *lower ) && *upper > *lower ) )
        {
            low = isfinite( low ) ? low - 1 : -1;
            high = low + 2;
            is_empty = false;
        }
        bool takes_world =
            isfinite( *upper - *lower ) && ( is_empty || *upper - *lower < 4 * ( high - low ) );
        *lower = takes_world && !( low < *lower ) ? *lower : low;
        *upper = takes_world && !( high > *upper ) ? *upper : high;
    }
    return box;
}

static void measure( render_state* state )
{
    const view_input* input = state->source->input;
    uint32_t count = input->source.header.object_count;
    double* sizes = lab_take( count, sizeof( double ) );
    state->touching = lab_take( count, sizeof( uint32_t ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        sizes[i] = size_of( &input->boxes[i] );
    }
    qsort( sizes, count, sizeof( double ), run_compare_doubles );
    state->side = exp( fmin( sizes[count / 2], 60 ) );
    state->sizes[0] = sizes[count / 100] - 0.1;
    state->sizes[1] = fmin( sizes[count - 1 - count / 100], 60 ) + 0.1;
    free( sizes );
    clv_pair_view pairs = view_search_pairs( state->source->search );
    for ( uint64_t i = 0; i < pairs.count; ++i )
    {
        state->touching[pairs.pairs[i].a] += 1;
        state->touching[pairs.pairs[i].b] += 1;
    }
}

void render_scene( picture* out, const render_source* source, const render_look* look )
{
    render_state state = {
        .out = out, .source = source, .look = look, .world = render_scene_box( source->input )
    };
    const view_input* input = source->input;
    out->ground = look->is_dark ? ( picture_ink ){ 16, 20, 26, 1 } : ( picture_ink ){ 255, 255, 255, 1 };
    measure( &state );
    if ( look->has_tree || look->colour == RENDER_NODE )
    {
        view_planes_read( &state.tree, source->search->tree_space );
    }
    uint32_t count = input->source.header.object_count, huge_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        huge_count += is_huge( &state, &input->boxes[i] );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        // Where most are as large as the world, they are what there is to see.
        if ( 2 * huge_count >= count || !is_huge( &state, &input->boxes[i] ) )
        {
            draw_body( &state, i );
        }
    }
    draw_overlays( &state );
    free( state.touching );
    view_planes_free( &state.tree );
}
