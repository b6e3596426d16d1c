// SPDX-License-Identifier: MIT
#include "lab/scene/body.h"

#include "lab/base/random.h"

#include <math.h>

const choice body_types[] = { { "cubes", BODY_CUBES }, { "assorted", BODY_ASSORTED }, { NULL, 0 } };

const char* body_type_name( body_type type )
{
    return body_types[type].word;
}

bool body_type_from_name( const char* name, body_type* type )
{
    int value = 0;
    bool found = choice_find( body_types, name, &value );
    *type = found ? (body_type)value : *type;
    return found;
}

// Broadmark's table, by index mod 80; the others are random.
#define ASSORTED_PERIOD 80
#define ASSORTED_FIXED 19

static const double assorted_sides[ASSORTED_FIXED][3] = {
    { 0.5, 0.5, 0.5 }, { 0.5, 0.5, 0.5 }, { 0.5, 0.5, 0.5 }, { 0.5, 0.5, 0.5 }, // small cubes
    { 1.9, 1.9, 1.9 }, { 1.9, 1.9, 1.9 }, { 1.9, 1.9, 1.9 }, { 1.9, 1.9, 1.9 }, // large cubes
    { 15.2, 0.4, 0.4 }, { 15.2, 0.4, 0.4 }, { 15.2, 0.4, 0.4 }, { 0.4, 15.2, 0.4 },
    { 0.4, 0.4, 15.2 },                                      // bars
    { 1.9, 5.7, 0.1 }, { 1.9, 0.1, 5.7 }, { 0.1, 1.9, 5.7 }, // planks
    { 0.1, 3.8, 3.8 }, { 3.8, 0.1, 3.8 }, { 3.8, 3.8, 0.1 }, // squares
};

// Numbers drawn for a body's shape are apart from all that scenes draw for its motion.
#define SHAPE_PURPOSE ( UINT64_C( 1 ) << 63 )

void body_half_sides( body_type type, uint64_t seed, uint64_t index, float half_sides[3] )
{
    uint64_t kind = index % ASSORTED_PERIOD;
    random_stream stream = random_stream_make( seed, index, SHAPE_PURPOSE );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double side = 1;
        if ( type == BODY_ASSORTED && kind < ASSORTED_FIXED )
        {
            side = assorted_sides[kind][axis];
        }
        else if ( type == BODY_ASSORTED )
        {
            side = 0.803 * ( 0.1 + 1.8 * random_unit( &stream ) );
        }
        half_sides[axis] = (float)( 0.5 * side );
    }
}

void body_turn( body_state* body, double seconds )
{
    const double* q = body->rotation;
    double x = 0.5 * seconds * (double)body->spin[0];
    double y = 0.5 * seconds * (double)body->spin[1];
    double z = 0.5 * seconds * (double)body->spin[2];
    // ( x y z 1 ) times q: the turn's tangent form, made a unit again below.
    double turned[4] = {
        q[0] + ( x * q[3] + y * q[2] - z * q[1] ),
        q[1] + ( y * q[3] + z * q[0] - x * q[2] ),
        q[2] + ( z * q[3] + x * q[1] - y * q[0] ),
        q[3] - ( x * q[0] + y * q[1] + z * q[2] ),
    };
    double length =
        sqrt( turned[0] * turned[0] + turned[1] * turned[1] + turned[2] * turned[2] + turned[3] * turned[3] );
    for ( int index = 0; index < 4; ++index )
    {
        body->rotation[index] = turned[index] / length;
    }
}

void body_rotation_matrix( const double q[4], double matrix[3][3] )
{
    double xx = q[0] * q[0], yy = q[1] * q[1], zz = q[2] * q[2];
    double xy = q[0] * q[1], xz = q[0] * q[2], yz = q[1] * q[2];
    double xw = q[0] * q[3], yw = q[1] * q[3], zw = q[2] * q[3];
    matrix[0][0] = 1 - 2 * ( yy + zz ), matrix[0][1] = 2 * ( xy - zw ), matrix[0][2] = 2 * ( xz + yw );
    matrix[1][0] = 2 * ( xy + zw ), matrix[1][1] = 1 - 2 * ( xx + zz ), matrix[1][2] = 2 * ( yz - xw );
    matrix[2][0] = 2 * ( xz - yw ), matrix[2][1] = 2 * ( yz + xw ), matrix[2][2] = 1 - 2 * ( xx + yy );
}

// Half the extent, along each of the world's axes, of a turned box.
static void turned_extent( double matrix[3][3], const double half_sides[3], double extent[3] )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        extent[axis] = fabs( matrix[axis][0] ) * half_sides[0] + fabs( matrix[axis][1] ) * half_sides[1] +
            fabs( matrix[axis][2] ) * half_sides[2];
    }
}

static clv_aabb rounded_box( const double centre[3], const double extent[3] )
{
    clv_aabb box = {
        { (float)( centre[0] - extent[0] ), (float)( centre[1] - extent[1] ),
            (float)( centre[2] - extent[2] ) },
        { (float)( centre[0] + extent[0] ), (float)( centre[1] + extent[1] ),
            (float)( centre[2] + extent[2] ) },
    };
    return box;
}

clv_aabb body_box( const body_state* body )
{
    double matrix[3][3];
    double half_sides[3] = { (double)body->half_sides[0], (double)body->half_sides[1],
        (double)body->half_sides[2] };
    double extent[3];
    body_rotation_matrix( body->rotation, matrix );
    turned_extent( matrix, half_sides, extent );
    return rounded_box( body->position, extent );
}

void body_split_boxes( const body_state* body, clv_aabb boxes[BODY_SPLIT] )
{
    double matrix[3][3];
    double quarter[3] = { 0.5 * (double)body->half_sides[0], 0.5 * (double)body->half_sides[1],
        0.5 * (double)body->half_sides[2] };
    double extent[3];
    body_rotation_matrix( body->rotation, matrix );
    turned_extent( matrix, quarter, extent );
    for ( int piece = 0; piece < BODY_SPLIT; ++piece )
    {
        double x = piece & 1 ? quarter[0] : -quarter[0];
        double y = piece & 2 ? quarter[1] : -quarter[1];
        double z = piece & 4 ? quarter[2] : -quarter[2];
        double centre[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            centre[axis] =
                body->position[axis] + ( matrix[axis][0] * x + matrix[axis][1] * y + matrix[axis][2] * z );
        }
        boxes[piece] = rounded_box( centre, extent );
    }
}

// Where an axis is cut in two: in the middle, or at the face that is not at infinity.
static float cut_at( float lower, float upper )
{
    double middle = 0.5 * ( (double)lower + (double)upper );
    bool has_lower = lower > -INFINITY, has_upper = upper < INFINITY;
    return has_lower && has_upper ? (float)middle : has_lower ? lower : has_upper ? upper : 0;
}

void body_split_box( clv_aabb box, clv_aabb pieces[BODY_SPLIT] )
{
    for ( uint32_t piece = 0; piece < BODY_SPLIT; ++piece )
    {
        pieces[piece] = box;
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            float cut = cut_at( ( &box.lower.x )[axis], ( &box.upper.x )[axis] );
            bool is_upper = ( piece >> axis & 1 ) != 0;
            *( is_upper ? &pieces[piece].lower.x + axis : &pieces[piece].upper.x + axis ) = cut;
        }
    }
}

void body_write( const body_state* body, bool split, uint64_t index, clv_aabb* boxes )
{
    if ( split )
    {
        body_split_boxes( body, boxes + BODY_SPLIT * index );
    }
    else
    {
        boxes[index] = body_box( body );
    }
}

void body_write_box( clv_aabb box, bool split, uint64_t index, clv_aabb* boxes )
{
    if ( split )
    {
        body_split_box( box, boxes + BODY_SPLIT * index );
    }
    else
    {
        boxes[index] = box;
    }
}

double body_cube_root( double value )
{
    // From above, each step comes closer until rounding stops it.
    double root = value > 1 ? value : 1;
    while ( true )
    {
        double next = ( 2 * root + value / ( root * root ) ) / 3;
        if ( !( next < root ) )
        {
            return root;
        }
        root = next;
    }
}

double body_exponential( double x )
{
    double small = x / 1024, power = 1 + small * ( 1 + small * ( 0.5 + small / 6 ) );
    for ( int round = 0; round < 10; ++round )
    {
        power *= power;
    }
    return power;
}

double body_bounce( double way, double wall )
{
    double turn = way / ( 4 * wall ) + 0.25;
    turn -= (double)(int64_t)turn - ( turn < 0 ? 1 : 0 );
    return turn < 0.5 ? 4 * wall * turn - wall : 3 * wall - 4 * wall * turn;
}
