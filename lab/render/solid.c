// SPDX-License-Identifier: MIT
#include "lab/render/solid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    double x = body->rotation[0], y = body->rotation[1], z = body->rotation[2], w = body->rotation[3];
    solid self = { .shape = shape,
        .turn = { { 1 - 2 * ( y * y + z * z ), 2 * ( x * y - z * w ), 2 * ( x * z + y * w ) },
            { 2 * ( x * y + z * w ), 1 - 2 * ( x * x + z * z ), 2 * ( y * z - x * w ) },
            { 2 * ( x * z - y * w ), 2 * ( y * z + x * w ), 1 - 2 * ( x * x + y * y ) } } };
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

typedef struct turned_corner
{
    double angle, place[3];
} turned_corner;

static int compare_corners( const void* a, const void* b )
{
    double one = ( (const turned_corner*)a )->angle, two = ( (const turned_corner*)b )->angle;
    return ( one > two ) - ( one < two );
}

static void cross( const double a[3], const double b[3], double out[3] )
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot( const double a[3], const double b[3] )
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void subtract( const double a[3], const double b[3], double out[3] )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        out[axis] = a[axis] - b[axis];
    }
}

// Round the middle of a face, as seen along its normal.
static void order( turned_corner* corners, uint32_t count, const double normal[3] )
{
    double middle[3] = { 0, 0, 0 }, right[3], up[3], way[3];
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            middle[axis] += corners[i].place[axis] / count;
        }
    }
    subtract( corners[0].place, middle, right );
    cross( normal, right, up );
    for ( uint32_t i = 0; i < count; ++i )
    {
        subtract( corners[i].place, middle, way );
        corners[i].angle = atan2( dot( way, up ), dot( way, right ) );
    }
    qsort( corners, count, sizeof( turned_corner ), compare_corners );
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
    turned_corner found[SOLID_CORNERS];
    uint32_t count = 0;
    for ( uint32_t i = 0; i < self->corner_count && count < PICTURE_CORNERS; ++i )
    {
        // In units of the half sides a corner reaches 1 along its face's axis, or 3/2 along a diagonal.
        double reach = 0;
        for ( int k = 0; k < 3; ++k )
        {
            double along = 0;
            for ( int axis = 0; axis < 3; ++axis )
            {
                along += self->turn[axis][k] * ( self->corners[i][axis] - self->middle[axis] );
            }
            reach += local[k] * along / fmax( self->half[k], 1e-30 );
        }
        if ( reach > ( face < 6 ? 1 : 1.5 ) - 1e-6 )
        {
            memcpy( found[count++].place, self->corners[i], sizeof( found[0].place ) );
        }
    }
    if ( count < 3 )
    {
        return 0; // a side of length 0
    }
    order( found, count, normal );
    for ( uint32_t i = 0; i < count; ++i )
    {
        memcpy( corners[i], found[i].place, sizeof( found[i].place ) );
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
        cross( normal, other, right );
        cross( normal, right, up );
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

void solid_draw_sphere( const solid* self, picture* out, picture_ink ink )
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
