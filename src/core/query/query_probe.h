// SPDX-License-Identifier: MIT
// Every question as one probe: whatever its kind, in three axes and in double. There are eleven shapes in
// floats, flat and in double, which is a table of eleven rows: all but turned boxes and half-spaces are a row
// of numbers, in the same order. What follows the door knows seven forms: what the walk is like, and what
// decides.
#pragma once

#include "cleave/world_query.h"
#include "query/query_shape.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum
{
    QUERY_FLAT = 32,   ///< bit of the kinds of two axes; the rest is the kind of three
    QUERY_DOUBLE = 64, ///< bit of the kinds in double, likewise
};

typedef enum query_form
{
    QUERY_NO_FORM,    ///< no kind of question
    QUERY_OVERLAP,    ///< a box
    QUERY_DISTANCE,   ///< what is as near to a box as `radius`
    QUERY_CAPSULE,    ///< what is as near to a line
    QUERY_TURNED,     ///< a turned box
    QUERY_PLANES,     ///< half-spaces
    QUERY_CAST,       ///< a box that moves
    QUERY_ROUND_CAST, ///< a capsule that moves
} query_form;

/// One question. Only a motion has `motion` and `max_t`, only a turned box its half sides and turn.
typedef struct query_probe
{
    query_form form;
    bool is_flat, is_double; ///< as it was asked
    bool is_box;             ///< a and b are its corners; otherwise a line's ends, or one place
    union
    {
        struct
        {
            double a[3], b[3]; ///< a turned box's middle; where half-spaces are looked at from
            double radius;     ///< of a distance
        };
        clv_aabb64 box;      ///< a and b of those that are boxes
        query_capsule round; ///< a, b and radius of those that are lines
    };
    double max_t; ///< of a time
    double motion[3];
    double half[3], turn[4]; ///< a turned box: half its sides, and a quaternion of any length
    const void* planes;      ///< clv_plane, clv_half_plane or clv_plane64
    uint32_t plane_count;
} query_probe;

/// What a kind is made of: places, then a radius, then a motion and its end.
typedef struct query_row
{
    query_form form;
    uint8_t place_count, has_radius, moves;
    bool is_box;      ///< two places are corners; otherwise the ends of a line
    uint8_t sizes[3]; ///< bytes of an item: of floats, flat, of doubles
} query_row;

#define QUERY_SIZES( floats, flat, doubles )                                                                 \
    {                                                                                                        \
        sizeof( floats ), sizeof( flat ), sizeof( doubles )                                                  \
    }

static const query_row QUERY_ROWS[CLV_QUERY_CAPSULE_CAST + 1] = {
    [CLV_QUERY_POINT] = { QUERY_OVERLAP, 1, 0, 0, false, QUERY_SIZES( clv_vec3, clv_vec2, clv_vec64 ) },
    [CLV_QUERY_BOX] = { QUERY_OVERLAP, 2, 0, 0, true, QUERY_SIZES( clv_aabb, clv_aabb2, clv_aabb64 ) },
    [CLV_QUERY_SPHERE] = { QUERY_DISTANCE, 1, 1, 0, false,
        QUERY_SIZES( clv_sphere, clv_circle, clv_sphere64 ) },
    [CLV_QUERY_NEIGHBOURHOOD] = { QUERY_DISTANCE, 2, 1, 0, true,
        QUERY_SIZES( clv_neighbourhood, clv_neighbourhood2, clv_neighbourhood64 ) },
    [CLV_QUERY_CAPSULE] = { QUERY_CAPSULE, 2, 1, 0, false,
        QUERY_SIZES( clv_capsule, clv_capsule2, clv_capsule64 ) },
    [CLV_QUERY_ORIENTED_BOX] = { QUERY_TURNED, 1, 0, 0, false,
        QUERY_SIZES( clv_oriented_box, clv_oriented_box2, clv_oriented_box64 ) },
    [CLV_QUERY_HALF_SPACES] = { QUERY_PLANES, 0, 0, 0, false,
        QUERY_SIZES( clv_half_spaces, clv_half_planes, clv_half_spaces64 ) },
    [CLV_QUERY_RAY] = { QUERY_CAST, 1, 0, 1, false, QUERY_SIZES( clv_ray, clv_ray2, clv_ray64 ) },
    [CLV_QUERY_BOX_CAST] = { QUERY_CAST, 2, 0, 1, true,
        QUERY_SIZES( clv_box_cast, clv_box_cast2, clv_box_cast64 ) },
    [CLV_QUERY_SPHERE_CAST] = { QUERY_ROUND_CAST, 1, 1, 1, false,
        QUERY_SIZES( clv_sphere_cast, clv_circle_cast, clv_sphere_cast64 ) },
    [CLV_QUERY_CAPSULE_CAST] = { QUERY_ROUND_CAST, 2, 1, 1, false,
        QUERY_SIZES( clv_capsule_cast, clv_capsule_cast2, clv_capsule_cast64 ) },
};

static_assert( sizeof( clv_capsule_cast ) == 11 * sizeof( float ), "a row of numbers" );
static_assert( sizeof( clv_capsule_cast2 ) == 8 * sizeof( float ), "a row of numbers" );
static_assert( sizeof( clv_half_planes ) == sizeof( clv_half_spaces ), "read as one" );
static_assert( sizeof( clv_capsule_cast64 ) == 11 * sizeof( double ), "a row of numbers" );

static inline bool query_is_flat( clv_query_kind kind )
{
    return ( (uint32_t)kind & ~31u ) == QUERY_FLAT;
}

static inline bool query_is_double( clv_query_kind kind )
{
    return ( (uint32_t)kind & ~31u ) == QUERY_DOUBLE;
}

/// QUERY_ROWS[0], which has no form, for what is no kind.
static inline const query_row* query_row_of( clv_query_kind kind )
{
    uint32_t shape = (uint32_t)kind & 31u, arithmetic = (uint32_t)kind & ~31u;
    bool is_kind = shape <= CLV_QUERY_CAPSULE_CAST &&
        ( arithmetic == 0 || arithmetic == QUERY_FLAT || arithmetic == QUERY_DOUBLE );
    return &QUERY_ROWS[is_kind ? shape : 0];
}

/// Bytes of an item; 0: not a kind.
static inline size_t query_kind_size( clv_query_kind kind )
{
    return query_row_of( kind )->sizes[( (uint32_t)kind >> 5 ) % 3];
}

/// The next place of an item; of a flat one `third` is the third number. Where the next number is.
static inline const char* query_take_place( const query_probe* p, const char* at, float third, double to[3] )
{
    if ( p->is_double )
    {
        memcpy( to, at, 3 * sizeof( double ) );
        return at + 3 * sizeof( double );
    }
    float place[3];
    if ( p->is_flat )
    {
        memcpy( place, at, 2 * sizeof( float ) );
        place[2] = third;
        at += 2 * sizeof( float );
    }
    else
    {
        memcpy( place, at, sizeof( place ) );
        at += sizeof( place );
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        to[axis] = (double)place[axis];
    }
    return at;
}

static inline const char* query_take_number( const query_probe* p, const char* at, double* to )
{
    float number;
    if ( p->is_double )
    {
        memcpy( to, at, sizeof( double ) );
        return at + sizeof( double );
    }
    memcpy( &number, at, sizeof( number ) );
    *to = (double)number;
    return at + sizeof( number );
}

/// Where questions of two axes lie: half way between 0 and 1, where all flat boxes are (space/take.c), still
/// and without a thickness. So the third axis adds nothing to any sum, not even rounding.
#define QUERY_HALF_WAY 0.5f

/// Half the sides of a turned box and its turn, which is of floats in double too.
static inline void query_take_turned( query_probe* p, const char* at )
{
    float turn[4];
    at = query_take_place( p, at, 0, p->half );
    if ( !p->is_flat )
    {
        memcpy( turn, at, sizeof( turn ) );
        for ( int i = 0; i < 4; ++i )
        {
            p->turn[i] = (double)turn[i];
        }
        return;
    }
    // The quaternion of half the angle: tan( a / 2 ) = sin / ( 1 + cos ) = ( 1 - cos ) / sin, whichever does
    // not cancel.
    memcpy( turn, at, 2 * sizeof( float ) );
    double c = (double)turn[0], s = (double)turn[1], length = sqrt( c * c + s * s );
    p->turn[0] = p->turn[1] = 0;
    p->turn[2] = c < 0 ? length - c : s;
    p->turn[3] = c < 0 ? s : length + c;
}

/// What lies between planes, and in double the place that it is looked at from.
static inline void query_take_planes( query_probe* p, const char* at )
{
    clv_half_spaces64 spaces = { .count = 0 };
    if ( p->is_double )
    {
        memcpy( &spaces, at, sizeof( spaces ) );
        p->planes = spaces.planes;
    }
    else
    {
        clv_half_spaces floats; // of flat ones too, whose planes are of another type
        memcpy( &floats, at, sizeof( floats ) );
        p->planes = floats.planes;
        spaces.count = floats.count;
    }
    p->plane_count = spaces.count;
    memcpy( p->a, &spaces.origin, sizeof( p->a ) );
    memcpy( p->b, p->a, sizeof( p->b ) );
}

/// An item; `arithmetic` is a constant where this is called, so that one kind of number is left.
static inline void query_take_item(
    query_probe* p, const query_row* row, const char* at, uint32_t arithmetic )
{
    p->form = row->form;
    p->is_flat = arithmetic == QUERY_FLAT;
    p->is_double = arithmetic == QUERY_DOUBLE;
    p->is_box = row->is_box;
    p->radius = 0;
    if ( row->form == QUERY_PLANES )
    {
        query_take_planes( p, at );
        return;
    }
    at = query_take_place( p, at, QUERY_HALF_WAY, p->a );
    if ( row->place_count == 2 )
    {
        at = query_take_place( p, at, QUERY_HALF_WAY, p->b );
    }
    else
    {
        memcpy( p->b, p->a, sizeof( p->b ) );
    }
    if ( row->form == QUERY_TURNED )
    {
        query_take_turned( p, at );
        return;
    }
    at = row->has_radius ? query_take_number( p, at, &p->radius ) : at;
    if ( row->moves )
    {
        at = query_take_place( p, at, 0, p->motion );
        query_take_number( p, at, &p->max_t );
    }
}

/// Item `index` of a list of that kind, which is one.
static inline void query_probe_read( query_probe* p, clv_query_kind kind, const void* items, uint32_t index )
{
    const uint32_t arithmetic = (uint32_t)kind / QUERY_FLAT;
    const query_row* row = &QUERY_ROWS[(uint32_t)kind % QUERY_FLAT];
    const char* at = (const char*)items + (size_t)row->sizes[arithmetic] * index;
    if ( arithmetic == 0 )
    {
        query_take_item( p, row, at, 0 );
    }
    else if ( arithmetic == QUERY_DOUBLE / QUERY_FLAT )
    {
        query_take_item( p, row, at, QUERY_DOUBLE );
    }
    else
    {
        query_take_item( p, row, at, QUERY_FLAT );
    }
}

/// Plane `index` of half-spaces.
static inline query_plane query_plane_at( const query_probe* p, uint32_t index )
{
    if ( p->is_double )
    {
        const clv_plane64* plane = &( (const clv_plane64*)p->planes )[index];
        return ( query_plane ){ { plane->normal.x, plane->normal.y, plane->normal.z }, plane->offset };
    }
    if ( p->is_flat )
    {
        const clv_half_plane* plane = &( (const clv_half_plane*)p->planes )[index];
        return (
            query_plane ){ { (double)plane->normal.x, (double)plane->normal.y, 0 }, (double)plane->offset };
    }
    const clv_plane* plane = &( (const clv_plane*)p->planes )[index];
    return ( query_plane ){ { (double)plane->normal.x, (double)plane->normal.y, (double)plane->normal.z },
        (double)plane->offset };
}
