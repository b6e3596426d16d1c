// SPDX-License-Identifier: MIT
#include "lab/render/picture.h"

#include <math.h>
#include <stdlib.h>

#define FIELD 0.72 // radians from top to bottom

static void normalise( double v[3] )
{
    double length = sqrt( v[0] * v[0] + v[1] * v[1] + v[2] * v[2] );
    for ( int axis = 0; axis < 3; ++axis )
    {
        v[axis] /= length > 0 ? length : 1;
    }
}

static void cross( const double a[3], const double b[3], double out[3] )
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

picture_camera picture_camera_make(
    clv_aabb box, double yaw, double pitch, double zoom, uint32_t width, uint32_t height )
{
    picture_camera camera = { .width = width, .height = height };
    const double up[3] = { 0, 1, 0 };
    double target[3], square = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double lower = (double)( &box.lower.x )[axis], upper = (double)( &box.upper.x )[axis];
        target[axis] = 0.5 * ( lower + upper );
        square += 0.25 * ( upper - lower ) * ( upper - lower );
    }
    double aspect = (double)width / height;
    camera.radius = fmax( sqrt( square ), 1e-9 );
    camera.distance = 1.02 * camera.radius / sin( 0.5 * FIELD ) / fmin( 1, fmax( aspect, 0.55 ) ) / zoom;
    camera.back[0] = cos( pitch ) * sin( yaw );
    camera.back[1] = sin( pitch );
    camera.back[2] = cos( pitch ) * cos( yaw );
    for ( int axis = 0; axis < 3; ++axis )
    {
        camera.eye[axis] = target[axis] + camera.distance * camera.back[axis];
    }
    cross( up, camera.back, camera.right );
    normalise( camera.right );
    cross( camera.back, camera.right, camera.up );
    camera.far = camera.distance + 4 * camera.radius;
    camera.near = fmax( camera.distance - 3 * camera.radius, 0.02 * camera.distance );
    camera.scale = 0.5 * height / tan( 0.5 * FIELD );
    return camera;
}

// False behind the eye.
static bool project( const picture_camera* camera, const double p[3], picture_point* out )
{
    double seen[3] = { 0, 0, 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double d = p[axis] - camera->eye[axis];
        seen[0] += d * camera->right[axis];
        seen[1] += d * camera->up[axis];
        seen[2] -= d * camera->back[axis];
    }
    if ( seen[2] < camera->near )
    {
        return false;
    }
    // The inverse of the distance is linear on the screen; it is turned round, so that it grows away from the eye.
    *out = ( picture_point ){ (float)( 0.5 * camera->width + camera->scale * seen[0] / seen[2] ),
        (float)( 0.5 * camera->height - camera->scale * seen[1] / seen[2] ),
        (float)( 1 - camera->near / seen[2] ) };
    return true;
}

// Room for one more; false, and has_failed, if there is none.
static bool reserve_face( picture* self )
{
    if ( self->face_count == self->face_capacity )
    {
        size_t wanted = 2 * self->face_capacity + 64;
        picture_face* larger = realloc( self->faces, wanted * sizeof( picture_face ) );
        if ( larger == NULL )
        {
            self->has_failed = true;
            return false;
        }
        self->faces = larger;
        self->face_capacity = wanted;
    }
    return true;
}

static bool reserve_line( picture* self )
{
    if ( self->line_count == self->line_capacity )
    {
        size_t wanted = 2 * self->line_capacity + 64;
        picture_line* larger = realloc( self->lines, wanted * sizeof( picture_line ) );
        if ( larger == NULL )
        {
            self->has_failed = true;
            return false;
        }
        self->lines = larger;
        self->line_capacity = wanted;
    }
    return true;
}

void picture_add_face(
    picture* self, const double ( *corners )[3], uint32_t count, picture_ink fill, picture_ink edge )
{
    picture_face face = { .count = count, .fill = fill, .edge = edge };
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( !project( &self->camera, corners[i], &face.corners[i] ) )
        {
            return;
        }
        face.distance += face.corners[i].depth / (float)count;
    }
    if ( reserve_face( self ) )
    {
        self->faces[self->face_count++] = face;
    }
}

void picture_add_line(
    picture* self, const double from[3], const double to[3], picture_ink ink, float width, bool is_above )
{
    picture_line line = { .ink = ink, .width = width, .is_above = is_above };
    if ( !project( &self->camera, from, &line.ends[0] ) || !project( &self->camera, to, &line.ends[1] ) )
    {
        return;
    }
    if ( reserve_line( self ) )
    {
        self->lines[self->line_count++] = line;
    }
}

static int compare_faces( const void* a, const void* b )
{
    float one = ( (const picture_face*)a )->distance, two = ( (const picture_face*)b )->distance;
    return ( one < two ) - ( one > two );
}

void picture_sort( picture* self )
{
    if ( self->face_count > 1 )
    {
        qsort( self->faces, self->face_count, sizeof( picture_face ), compare_faces );
    }
}

void picture_free( picture* self )
{
    free( self->faces );
    free( self->lines );
    *self = ( picture ){ 0 };
}
