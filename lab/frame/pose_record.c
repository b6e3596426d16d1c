// SPDX-License-Identifier: MIT
#include "lab/frame/pose_record.h"

#include "lab/frame/scene_bytes.h"

#include <inttypes.h>
#include <math.h>

// How far the square of a rotation's length may be from 1: what floats lose is a millionth, garbage is further off.
#define LENGTH_SLACK 1e-3

static double square_length( const unsigned char* bytes )
{
    double sum = 0;
    for ( uint32_t index = 0; index < 4; ++index )
    {
        double value = (double)scene_decode_float( bytes + 16 + 4 * index );
        sum += value * value;
    }
    return sum;
}

bool pose_record_decode( const unsigned char* bytes, body_state* body )
{
    double square = square_length( bytes );
    bool is_good = fabs( square - 1 ) <= LENGTH_SLACK && scene_decode_u32( bytes + 12 ) == 0;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        float value = scene_decode_float( bytes + 4 * axis );
        is_good = is_good && value - value == 0;
    }
    if ( !is_good )
    {
        return false;
    }
    double length = sqrt( square );
    for ( uint32_t index = 0; index < 4; ++index )
    {
        body->rotation[index] = (double)scene_decode_float( bytes + 16 + 4 * index ) / length;
    }
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        body->position[axis] = (double)scene_decode_float( bytes + 4 * axis );
    }
    return true;
}

bool pose_record_fail( const unsigned char* bytes, uint64_t offset, const char* path, const char* what,
    const char* advice, lab_error* why )
{
    for ( uint32_t index = 0; index < 8; ++index )
    {
        float value = scene_decode_float( bytes + 4 * index );
        uint64_t at = offset + 4 * index;
        if ( index == 3 && scene_decode_u32( bytes + 12 ) != 0 )
        {
            return lab_error_write(
                why, "%s: at byte %" PRIu64 ": the pad of %s is not 0; %s", path, at, what, advice );
        }
        if ( value - value != 0 )
        {
            return lab_error_write( why, "%s: at byte %" PRIu64 ": the %s of %s is %s; %s", path, at,
                index < 3 ? "position" : "rotation", what, value != value ? "NaN" : "infinite", advice );
        }
    }
    return lab_error_write( why, "%s: at byte %" PRIu64 ": the rotation of %s has the length %.6g, not 1; %s",
        path, offset + 16, what, sqrt( square_length( bytes ) ), advice );
}

bool pose_body_of_box( clv_aabb box, body_state* body )
{
    body_state made = { .rotation = { 0, 0, 0, 1 } };
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        double lower = (double)( &box.lower.x )[axis];
        double upper = (double)( &box.upper.x )[axis];
        if ( !( upper - lower < INFINITY ) )
        {
            return false;
        }
        made.position[axis] = 0.5 * ( lower + upper );
        made.half_sides[axis] = (float)( 0.5 * ( upper - lower ) );
    }
    *body = made;
    return true;
}
