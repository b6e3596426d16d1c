// SPDX-License-Identifier: MIT
#include "random_worlds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    KNOTS_MOST = 24,
    SAMPLE = 1001,
    SPAN = 8 // updates in which a motion that turns back goes one way
};

typedef void box_maker( math_random* random, clv_aabb64* boxes, uint32_t count );

static double between( math_random* random, double low, double high )
{
    return math_random_between( random, low, high );
}

static double log_between( math_random* random, double low, double high )
{
    return exp( between( random, log( low ), log( high ) ) );
}

static bool chance( math_random* random, double share )
{
    return math_random_unit( random ) < share;
}

static uint32_t below( math_random* random, uint32_t count )
{
    return (uint32_t)( math_random_unit( random ) * count );
}

uint64_t random_world_hash( uint64_t seed, uint64_t a, uint64_t b )
{
    math_random mixed = math_random_seed( seed );
    mixed.state = math_random_bits( &mixed ) ^ ( a * UINT64_C( 0xD1342543DE82EF95 ) );
    mixed.state = math_random_bits( &mixed ) ^ ( b * UINT64_C( 0xAF251AF3B0F025B5 ) );
    return math_random_bits( &mixed );
}

static double hash_unit( uint64_t seed, uint64_t a, uint64_t b )
{
    return (double)( random_world_hash( seed, a, b ) >> 11 ) * 0x1p-53;
}

static void put( clv_aabb64* box, const double at[3], const double half[3] )
{
    double* lower = &box->lower.x;
    double* upper = &box->upper.x;
    for ( int axis = 0; axis < 3; ++axis )
    {
        lower[axis] = at[axis] - half[axis];
        upper[axis] = at[axis] + half[axis];
    }
}

static void put_cube( clv_aabb64* box, const double at[3], double side )
{
    double half[3] = { 0.5 * side, 0.5 * side, 0.5 * side };
    put( box, at, half );
}

// ---- kinds

// Unit cubes in a box of these proportions, with about `neighbours` in reach of each.
static void fill( math_random* random, clv_aabb64* boxes, uint32_t count, const double shape[3] )
{
    double neighbours = log_between( random, 0.05, 8 ), volume = count * 8 / neighbours;
    double scale = cbrt( volume / ( shape[0] * shape[1] * shape[2] ) );
    double wide[3];
    // An axis that is thinner than a box counts as one box thick.
    for ( int pass = 0; pass < 3; ++pass )
    {
        int thick = 0;
        double product = 1;
        for ( int axis = 0; axis < 3; ++axis )
        {
            bool is_thin = shape[axis] * scale < 2;
            thick += !is_thin;
            product *= is_thin ? 2 : shape[axis];
        }
        scale = thick > 0 ? pow( volume / product, 1.0 / thick ) : 1;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        wide[axis] = shape[axis] * scale;
    }
    double flatness = chance( random, 0.5 ) ? 1 : 0; // all on one floor, or each at its height
    for ( uint32_t i = 0; i < count; ++i )
    {
        double at[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = between( random, -0.5, 0.5 ) *
                ( wide[axis] < 1 ? wide[axis] * ( 1 - flatness ) : wide[axis] );
        }
        put_cube( &boxes[i], at, 1 );
    }
}

static void make_even( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double shape[3] = { 1, log_between( random, 0.1, 1 ), log_between( random, 0.1, 1 ) };
    fill( random, boxes, count, shape );
}

static void make_flat( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double shape[3] = { 1, log_between( random, 0.02, 1 ), 1e-9 };
    fill( random, boxes, count, shape );
}

static void make_slab( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double shape[3] = { log_between( random, 0.1, 1 ), 1, log_between( random, 1e-4, 0.05 ) };
    fill( random, boxes, count, shape );
}

static void make_line( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double shape[3] = { log_between( random, 1e-9, 1e-3 ), 1e-9, 1 };
    fill( random, boxes, count, shape );
}

// Along a straight line through space, of some thickness.
static void make_diagonal( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double length = count * log_between( random, 0.2, 4 ), thick = log_between( random, 0.01, 20 );
    double way[3] = { 1, between( random, -1, 1 ), between( random, -1, 1 ) };
    for ( uint32_t i = 0; i < count; ++i )
    {
        double along = between( random, 0, length ), at[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = along * way[axis] + between( random, -thick, thick );
        }
        put_cube( &boxes[i], at, 1 );
    }
}

static void make_floors( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    uint32_t floors = 2 + below( random, 6 );
    double apart = log_between( random, 3, 3000 ),
           side = sqrt( count * log_between( random, 0.5, 20 ) / floors );
    for ( uint32_t i = 0; i < count; ++i )
    {
        double at[3] = { between( random, 0, side ), i % floors * apart, between( random, 0, side ) };
        put_cube( &boxes[i], at, 1 );
    }
}

static void make_staircase( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    uint32_t steps = 3 + below( random, 200 );
    double width = sqrt( count * log_between( random, 0.5, 20 ) );
    double depth = width / steps, rise = log_between( random, 0.2, 20 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t step = i % steps;
        double at[3] = { ( step + between( random, 0, 1 ) ) * depth, between( random, 0, width ),
            step * rise };
        put_cube( &boxes[i], at, 1 );
    }
}

static void draw_direction( math_random* random, double way[3] )
{
    math_vec3 direction = math_random_direction( random );
    way[0] = direction.x;
    way[1] = direction.y;
    way[2] = direction.z;
}

static void make_shell( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double radius = sqrt( count * log_between( random, 0.05, 3 ) );
    double squash = log_between( random, 0.01, 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        double way[3];
        draw_direction( random, way );
        double at[3] = { radius * way[0], radius * way[1], radius * squash * way[2] };
        put_cube( &boxes[i], at, 1 );
    }
}

static void make_endless( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    make_flat( random, boxes, count );
    uint32_t axis = below( random, 3 );
    bool is_thin = axis == 2;
    double low_share = between( random, 0, 1 ), high_share = between( random, 0, 1 );
    bool is_all = chance( random, 0.4 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        // On a wide axis an endless box meets a row of others: only so many are.
        if ( !is_thin && !chance( random, 2.0 / sqrt( count ) ) )
        {
            continue;
        }
        double* lower = &boxes[i].lower.x;
        double* upper = &boxes[i].upper.x;
        lower[axis] = is_all || chance( random, low_share ) ? -HUGE_VAL : lower[axis];
        upper[axis] = is_all || chance( random, high_share ) ? HUGE_VAL : upper[axis];
    }
}

// Distances from the middle that are log-uniform, and sizes that go with them.
static void make_decades( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double decades = between( random, 2, 14 ), smallest = pow( 10, -between( random, 0, decades ) );
    double share = cbrt( log_between( random, 0.05, 5 ) * decades / count );
    bool is_sized = chance( random, 0.8 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        double distance = smallest * pow( 10, between( random, 0, decades ) ), at[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = distance * between( random, -1, 1 );
        }
        put_cube( &boxes[i], at, is_sized ? share * distance : 2e-3 * smallest / count );
    }
}

static void make_denormal( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double scale = log_between( random, 1e-44, 1e-30 );
    double shape[3] = { 1, log_between( random, 0.1, 1 ), log_between( random, 0.1, 1 ) };
    fill( random, boxes, count, shape );
    for ( uint32_t i = 0; i < count; ++i )
    {
        double* corner = &boxes[i].lower.x;
        for ( int k = 0; k < 6; ++k )
        {
            corner[k] *= scale;
        }
    }
}

// Thin boxes along the axes, as long as the world or a part of it.
static void make_needles( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double side = cbrt( count / 0.02 ), length = side * log_between( random, 0.02, 1 );
    double thick = log_between( random, 0.05, 2 ) * side * side / ( (double)count * length );
    uint32_t kinds = 1 + below( random, 3 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        double at[3], half[3];
        uint32_t along = below( random, kinds );
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            at[axis] = between( random, -0.5, 0.5 ) * ( axis == along ? side - length : side );
            half[axis] = 0.5 * ( axis == along ? length : thick );
        }
        put( &boxes[i], at, half );
    }
}

// Crowds of different widths, far apart or within each other.
static void make_crowds( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    uint32_t crowds = 1 + below( random, 20 );
    double centre[20][3], spread[20];
    double apart = log_between( random, 1, 1e5 );
    for ( uint32_t k = 0; k < crowds; ++k )
    {
        spread[k] = log_between( random, 0.02, 1 ) * cbrt( count / 0.02 );
        for ( int axis = 0; axis < 3; ++axis )
        {
            centre[k][axis] = between( random, -apart, apart );
        }
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t k = below( random, crowds );
        double at[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = centre[k][axis] + between( random, -spread[k], spread[k] );
        }
        put_cube( &boxes[i], at, fmin( 1, spread[k] / cbrt( count / crowds / 0.1 ) ) );
    }
}

// To a cube about the same middle; axes without an end stay.
static void resize( clv_aabb64* box, double side )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        double* lower = &( &box->lower.x )[axis];
        double* upper = &( &box->upper.x )[axis];
        if ( isfinite( *lower ) && isfinite( *upper ) )
        {
            double middle = 0.5 * ( *lower + *upper );
            *lower = middle - 0.5 * side;
            *upper = middle + 0.5 * side;
        }
    }
}

static void make_sizes( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double spread = between( random, 0.5, 3 );
    make_even( random, boxes, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        resize( &boxes[i], exp( spread * ( between( random, -1, 1 ) + between( random, -1, 1 ) - 1 ) ) );
    }
}

// Large boxes in a sparse cube, small ones in a part of it that is no wider than a few large ones.
static void make_two_sizes( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double side = log_between( random, 1.5, 12 ) * cbrt( count ), share = between( random, 0.05, 0.95 );
    double small = log_between( random, 1e-4, 0.3 );
    double apart = small * cbrt( share * count / log_between( random, 1e-4, 0.5 ) );
    double corner[3];
    bool is_corner = chance( random, 0.5 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        corner[axis] = is_corner ? 0 : between( random, 0, side );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        bool is_small = chance( random, share );
        double at[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = is_small ? corner[axis] + between( random, 0, fmin( apart, side ) )
                                : between( random, 0, side );
        }
        put_cube( &boxes[i], at, is_small ? small : 1 );
    }
}

// In order along an axis, at even or random distances.
static void make_row( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double apart = log_between( random, 0.3, 20 ), uneven = chance( random, 0.5 ) ? 0 : apart;
    double aside = chance( random, 0.5 ) ? 0 : log_between( random, 0.01, 3 );
    uint32_t along = below( random, 3 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        double at[3];
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            at[axis] = axis == along ? i * apart + between( random, 0, uneven ) : between( random, 0, aside );
        }
        put_cube( &boxes[i], at, 1 );
    }
}

// Rows side by side, one after the other.
static void make_sheet( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    uint32_t columns = 1 + (uint32_t)pow( count, between( random, 0.2, 0.8 ) ), up = below( random, 3 );
    double apart = log_between( random, 0.5, 10 ), uneven = chance( random, 0.5 ) ? 0 : apart;
    double aside = chance( random, 0.5 ) ? 0 : log_between( random, 0.01, 3 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        double at[3];
        at[up] = between( random, 0, aside );
        at[( up + 1 ) % 3] = i % columns * apart + between( random, 0, uneven );
        at[( up + 2 ) % 3] = i / columns * apart + between( random, 0, uneven );
        put_cube( &boxes[i], at, 1 );
    }
}

// The same picture at every scale about one point, which may lie away from the origin.
static void make_self_similar( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double octaves = between( random, 4, 40 ), largest = log_between( random, 1, 1e5 );
    double share = cbrt( log_between( random, 1e-3, 2 ) * octaves / count ), knot[3] = { 0 };
    bool is_aside = octaves < 16 && chance( random, 0.5 );
    for ( int axis = 0; is_aside && axis < 3; ++axis )
    {
        knot[axis] = between( random, -largest, largest );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        double way[3], at[3], distance = largest * exp2( -between( random, 0, octaves ) );
        draw_direction( random, way );
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = knot[axis] + distance * way[axis];
        }
        put_cube( &boxes[i], at, fmin( share, 0.7 ) * distance );
    }
}

// Sizes in proportion to the distance from the middle, which is some power of an even number: nearly all far
// out, or nearly all inside.
static void make_proportional( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double power = log_between( random, 0.33, 4 ), largest = log_between( random, 1, 1e5 );
    double share = cbrt( log_between( random, 1e-3, 4 ) * 12.566370614359172 * power / count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        double way[3], at[3], distance = largest * pow( math_random_unit( random ), power );
        draw_direction( random, way );
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = distance * way[axis];
        }
        put_cube( &boxes[i], at, fmin( share, 0.7 ) * distance );
    }
}

/// A crowd: a box of space, so many times as full as the others, with boxes of one size.
typedef struct knot
{
    double at[3], side[3];
    double weight, size;
} knot;

// Within its parent, which may be the world; of one, two or three axes.
static knot draw_knot( math_random* random, const knot* parent )
{
    knot self = { .weight = log_between( random, 0.02, 1 ) };
    double share = log_between( random, 1e-4, 0.5 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        self.side[axis] = parent->side[axis] * share * ( chance( random, 0.15 ) ? 1e-6 : 1 );
        self.at[axis] = parent->at[axis] + between( random, -0.5, 0.5 ) * parent->side[axis];
    }
    return self;
}

// Such that a box meets from one in a hundred to a few others of its knot, whatever the knot's shape.
static double knot_size( math_random* random, const knot* self, double count )
{
    double longest = fmax( self->side[0], fmax( self->side[1], self->side[2] ) ), volume = 1;
    int axes = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        bool is_wide = self->side[axis] > 1e-3 * longest;
        axes += is_wide;
        volume *= is_wide ? self->side[axis] : 1;
    }
    return 0.5 * pow( volume * log_between( random, 0.01, 3 ) / ( count + 1 ), 1.0 / axes );
}

static uint32_t draw_knots( math_random* random, uint32_t count, knot knots[KNOTS_MOST] )
{
    uint32_t knot_count = 1 + below( random, chance( random, 0.5 ) ? 4 : KNOTS_MOST );
    double world = log_between( random, 1e-3, 1e4 ), sum = 0;
    knots[0] = ( knot ){ .side = { world, world, world }, .weight = log_between( random, 0.001, 1 ) };
    for ( uint32_t k = 1; k < knot_count; ++k )
    {
        // Half of them within the last: nests as deep as there are knots.
        knots[k] = draw_knot( random, &knots[chance( random, 0.5 ) ? k - 1 : below( random, k )] );
    }
    for ( uint32_t k = 0; k < knot_count; ++k )
    {
        sum += knots[k].weight;
    }
    for ( uint32_t k = 0; k < knot_count; ++k )
    {
        knots[k].weight /= sum;
        knots[k].size = knot_size( random, &knots[k], knots[k].weight * count );
    }
    return knot_count;
}

// Crowds within crowds. The origin is in the last one, so that floats can tell its boxes apart.
static void make_knots( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    knot knots[KNOTS_MOST];
    uint32_t knot_count = draw_knots( random, count, knots );
    const double* origin = knots[knot_count - 1].at;
    for ( uint32_t i = 0; i < count; ++i )
    {
        double which = between( random, 0, 1 ), at[3];
        uint32_t k = 0;
        while ( k + 1 < knot_count && which > knots[k].weight )
        {
            which -= knots[k++].weight;
        }
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = knots[k].at[axis] - origin[axis] + between( random, -0.5, 0.5 ) * knots[k].side[axis];
        }
        put_cube( &boxes[i], at, knots[k].size );
    }
}

static const struct
{
    const char* name;
    box_maker* make;
} s_kinds[] = { { "even", make_even }, { "flat", make_flat }, { "slab", make_slab }, { "line", make_line },
    { "diagonal", make_diagonal }, { "floors", make_floors }, { "staircase", make_staircase },
    { "shell", make_shell }, { "endless", make_endless }, { "decades", make_decades },
    { "denormal", make_denormal }, { "needles", make_needles }, { "crowds", make_crowds },
    { "sizes", make_sizes }, { "two-sizes", make_two_sizes }, { "row", make_row }, { "sheet", make_sheet },
    { "self-similar", make_self_similar }, { "proportional", make_proportional }, { "knots", make_knots } };

enum
{
    KINDS = sizeof( s_kinds ) / sizeof( s_kinds[0] )
};

// ---- extras

static double side_of( const clv_aabb64* boxes, uint32_t count )
{
    double low = HUGE_VAL, high = -HUGE_VAL;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const double* corner = &boxes[i].lower.x;
        for ( int k = 0; k < 6; ++k )
        {
            low = isfinite( corner[k] ) ? fmin( low, corner[k] ) : low;
            high = isfinite( corner[k] ) ? fmax( high, corner[k] ) : high;
        }
    }
    return high > low ? high - low : 1;
}

static void add_nothing( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    (void)random;
    (void)boxes;
    (void)count;
}

// A few boxes as large as a part of the world, or the whole.
static void add_giants( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    uint32_t giants = (uint32_t)log_between( random, 1, 40 );
    double side = side_of( boxes, count ) * log_between( random, 0.01, 2 );
    for ( uint32_t k = 0; k < giants; ++k )
    {
        resize( &boxes[below( random, count )], side * between( random, 0.5, 1 ) );
    }
}

// A few boxes without an end on one to three axes.
static void add_infinite( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    uint32_t walls = (uint32_t)log_between( random, 1, 20 );
    for ( uint32_t k = 0; k < walls; ++k )
    {
        clv_aabb64* box = &boxes[below( random, count )];
        for ( int axis = 0; axis < 3; ++axis )
        {
            ( &box->lower.x )[axis] = chance( random, 0.4 ) ? -HUGE_VAL : ( &box->lower.x )[axis];
            ( &box->upper.x )[axis] = chance( random, 0.4 ) ? HUGE_VAL : ( &box->upper.x )[axis];
        }
    }
}

static void add_outliers( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    uint32_t outliers = (uint32_t)log_between( random, 1, 0.05 * count );
    double far = side_of( boxes, count ) * log_between( random, 2, 1e8 );
    for ( uint32_t k = 0; k < outliers; ++k )
    {
        clv_aabb64* box = &boxes[below( random, count )];
        for ( int axis = 0; axis < 3; ++axis )
        {
            double off = between( random, -far, far );
            ( &box->lower.x )[axis] += off;
            ( &box->upper.x )[axis] += off;
        }
    }
}

static int by_lower_x( const void* a, const void* b )
{
    double x = ( (const clv_aabb64*)a )->lower.x, y = ( (const clv_aabb64*)b )->lower.x;
    return ( x > y ) - ( x < y );
}

static void add_order( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    (void)random;
    qsort( boxes, count, sizeof( clv_aabb64 ), by_lower_x );
}

// Groups of boxes that are all the same.
static void add_equal( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    uint32_t group = 2 + below( random, 30 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        boxes[i] = boxes[i - i % group];
    }
}

// A share of boxes shrinks to points.
static void add_points( math_random* random, clv_aabb64* boxes, uint32_t count )
{
    double share = log_between( random, 0.01, 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        boxes[i].upper = chance( random, share ) ? boxes[i].lower : boxes[i].upper;
    }
}

static const struct
{
    const char* name;
    box_maker* add;
} s_extras[] = { { "-", add_nothing }, { "giants", add_giants }, { "infinite", add_infinite },
    { "outliers", add_outliers }, { "in-order", add_order }, { "equal", add_equal },
    { "points", add_points } };

enum
{
    EXTRAS = sizeof( s_extras ) / sizeof( s_extras[0] )
};

// ---- motions

/// Changes box `index` from what was made to what it is in an update; false while it is absent.
typedef bool box_mover( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box );

// 0 1 … SPAN … 1 0 1 …
static double to_and_fro( uint32_t update )
{
    uint32_t phase = update % ( 2 * SPAN );
    return phase <= SPAN ? phase : 2 * SPAN - phase;
}

// The world's amount as a number between these two, by its logarithm.
static double amount( const random_world* world, double low, double high )
{
    return exp( log( low ) + world->amount * ( log( high ) - log( low ) ) );
}

static void shift( clv_aabb64* box, const double off[3] )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        ( &box->lower.x )[axis] += off[axis];
        ( &box->upper.x )[axis] += off[axis];
    }
}

// Scales where it is, how large it is, or both. Infinite faces stay.
static void scale( clv_aabb64* box, const double centre[3], double place, double size )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        double* lower = &( &box->lower.x )[axis];
        double* upper = &( &box->upper.x )[axis];
        if ( isfinite( *lower ) && isfinite( *upper ) )
        {
            double middle = 0.5 * ( *lower + *upper ), half = 0.5 * ( *upper - *lower ) * size;
            middle = centre[axis] + ( middle - centre[axis] ) * place;
            *lower = middle - half;
            *upper = middle + half;
        }
    }
}

// To the next float and back, so that nothing rests; the same pairs but for a few.
static bool move_nudge( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box )
{
    (void)world;
    (void)index;
    double* corner = &box->lower.x;
    for ( int k = 0; update % 2 == 1 && k < 6; ++k )
    {
        corner[k] = (double)nextafterf( (float)corner[k], INFINITY );
    }
    return true;
}

static bool move_jitter( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box )
{
    double share = amount( world, 1e-4, 0.5 ), off[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        double side = ( &box->upper.x )[axis] - ( &box->lower.x )[axis];
        double draw = hash_unit( world->seed, index, 3 * (uint64_t)update + (uint64_t)axis ) - 0.5;
        off[axis] = isfinite( side ) ? share * side * draw : 0;
    }
    shift( box, off );
    return true;
}

static void drift( const random_world* world, double steps, clv_aabb64* box )
{
    double share = amount( world, 3e-3, 1 ) * steps;
    double off[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        off[axis] = share * world->way[axis] * world->extent[world->axes[0]];
    }
    shift( box, off );
}

// All the same way.
static bool move_drift( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box )
{
    (void)index;
    drift( world, update, box );
    return true;
}

// The same, with four updates of rest after every four.
static bool move_pause( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box )
{
    (void)index;
    uint32_t rest = update % 8 < 4 ? update % 8 : 4;
    drift( world, update / 8 * 4 + rest, box );
    return true;
}

// Each its own way, there and back.
static bool move_fly( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box )
{
    double share = amount( world, 1e-4, 0.1 ) * to_and_fro( update ), off[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        off[axis] = share * ( hash_unit( world->seed, index, (uint64_t)axis ) - 0.5 ) * world->extent[axis];
    }
    shift( box, off );
    return true;
}

// All at once to another place, every third update.
static bool move_jump( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box )
{
    (void)index;
    double off[3], far = amount( world, 0.1, 1e4 ) * world->extent[world->axes[0]];
    for ( int axis = 0; axis < 3; ++axis )
    {
        off[axis] = far * ( hash_unit( world->seed, update / 3, (uint64_t)axis ) - 0.5 );
    }
    if ( update >= 3 )
    {
        shift( box, off );
    }
    return true;
}

// Every box where another was: the same world, in another order.
static bool move_shuffle( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box )
{
    uint64_t from =
        index * UINT64_C( 2654435761 ) + random_world_hash( world->seed, update, 0 ) % world->count;
    *box = update == 0 ? *box : world->base[from % world->count];
    return true;
}

// Apart, and together again; sizes stay.
static bool move_stretch( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box )
{
    (void)index;
    scale( box, world->centre, pow( amount( world, 1.01, 2 ), to_and_fro( update ) ), 1 );
    return true;
}

static bool move_grow( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box )
{
    (void)index;
    scale( box, world->centre, 1, pow( amount( world, 1.01, 1.4 ), to_and_fro( update ) ) );
    return true;
}

// A part of the world becomes a knot, and opens again.
static bool move_shrink( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box )
{
    if ( hash_unit( world->seed, index, 0 ) < 0.1 + 0.9 * world->way[1] * world->way[1] )
    {
        double factor = pow( amount( world, 0.2, 0.95 ), to_and_fro( update ) );
        scale( box, world->centre, factor, factor );
    }
    return true;
}

// A share is gone in each update, others in the next.
static bool move_churn( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box )
{
    (void)box;
    return hash_unit( world->seed, index, update ) > amount( world, 0.005, 0.6 );
}

// A share more in each update, in order; when all are there it begins again.
static bool move_append( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box )
{
    (void)box;
    double first = 0.1 + 0.5 * world->way[1] * world->way[1], step = amount( world, 0.02, 0.3 );
    uint32_t steps = (uint32_t)( ( 1 - first ) / step ) + 1;
    return index < world->count * fmin( 1, first + step * ( update % steps ) );
}

// A share is there for four updates and gone for the next four: the last ones, so that a row ends elsewhere.
static bool move_burst( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box )
{
    (void)box;
    return index < world->count * ( 1 - amount( world, 0.02, 0.5 ) ) || update / 4 % 2 == 1;
}

// One box in a thousand goes away, ten times as far in every update, and comes back.
static bool move_leave( const random_world* world, uint32_t update, uint32_t index, clv_aabb64* box )
{
    double off[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        off[axis] = world->way[axis] * world->extent[world->axes[0]] * 0.1 *
            ( pow( amount( world, 2, 20 ), to_and_fro( update ) ) - 1 );
    }
    if ( index == world->count / 2 || random_world_hash( world->seed, index, 0 ) % 1000 == 0 )
    {
        shift( box, off );
    }
    return true;
}

static const struct
{
    const char* name;
    box_mover* move;
} s_motions[] = { { "nudge", move_nudge }, { "jitter", move_jitter }, { "drift", move_drift },
    { "pause", move_pause }, { "fly", move_fly }, { "jump", move_jump }, { "shuffle", move_shuffle },
    { "stretch", move_stretch }, { "grow", move_grow }, { "shrink", move_shrink }, { "churn", move_churn },
    { "append", move_append }, { "burst", move_burst }, { "leave", move_leave } };

enum
{
    MOTIONS = sizeof( s_motions ) / sizeof( s_motions[0] )
};

// ---- a world

static int by_value( const void* a, const void* b )
{
    double x = *(const double*)a, y = *(const double*)b;
    return ( x > y ) - ( x < y );
}

// Middle and width of all but the outermost twentieth, by a sample.
static void measure_axis( random_world* world, int axis )
{
    double sample[SAMPLE];
    uint32_t found = 0;
    for ( uint32_t k = 0; k < SAMPLE; ++k )
    {
        const clv_aabb64* box = &world->base[(uint64_t)k * world->count / SAMPLE];
        double middle = 0.5 * ( ( &box->lower.x )[axis] + ( &box->upper.x )[axis] );
        sample[found] = middle;
        found += isfinite( middle ) ? 1 : 0;
    }
    qsort( sample, found, sizeof( double ), by_value );
    world->middle[axis] = found > 0 ? sample[found / 2] : 0;
    world->extent[axis] = found > 0 ? sample[found - 1 - found / 40] - sample[found / 40] : 0;
}

static void measure( random_world* world )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        measure_axis( world, axis );
        world->axes[axis] = axis;
    }
    for ( int k = 0; k < 3; ++k )
    {
        int here = k % 2, axis = world->axes[here];
        if ( world->extent[axis] < world->extent[world->axes[here + 1]] )
        {
            world->axes[here] = world->axes[here + 1];
            world->axes[here + 1] = axis;
        }
    }
}

static void draw_motion( random_world* world, math_random* random )
{
    world->motion = (int)below( random, MOTIONS );
    world->amount = between( random, 0, 1 );
    draw_direction( random, world->way );
    bool is_along = chance( random, 0.5 ), is_middle = chance( random, 0.5 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        world->way[axis] = !is_along ? world->way[axis] : axis == world->axes[0] ? 1 : 0;
        double off = between( random, -0.5, 0.5 ) * world->extent[axis];
        world->centre[axis] = world->middle[axis] + ( is_middle ? 0 : off );
    }
}

bool random_world_make( random_world* world, const random_world_def* def )
{
    math_random random = math_random_seed( def->seed );
    *world = ( random_world ){ .seed = def->seed };
    world->count = (uint32_t)log_between( &random, def->count_least, def->count_most + 0.5 );
    world->base = calloc( world->count, sizeof( clv_aabb64 ) );
    world->boxes = calloc( world->count, sizeof( clv_aabb64 ) );
    world->alive = calloc( world->count, sizeof( bool ) );
    if ( world->base == NULL || world->boxes == NULL || world->alive == NULL )
    {
        return false;
    }
    world->kind = def->kind != RANDOM_WORLD_ANY ? def->kind : (int)( def->seed % KINDS );
    world->extra = chance( &random, 0.6 ) ? 0 : (int)below( &random, EXTRAS );
    s_kinds[world->kind].make( &random, world->base, world->count );
    s_extras[world->extra].add( &random, world->base, world->count );
    measure( world );
    draw_motion( world, &random );
    world->motion = def->motion != RANDOM_WORLD_ANY ? def->motion : world->motion;
    return true;
}

void random_world_free( random_world* world )
{
    free( world->base );
    free( world->boxes );
    free( world->alive );
    world->base = world->boxes = NULL;
    world->alive = NULL;
}

void random_world_show( random_world* world, uint32_t update )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        world->boxes[i] = world->base[i];
        world->alive[i] = s_motions[world->motion].move( world, update, i, &world->boxes[i] );
    }
}

int random_world_kind_count( void )
{
    return KINDS;
}

const char* random_world_kind( int kind )
{
    return kind >= 0 && kind < KINDS ? s_kinds[kind].name : NULL;
}

const char* random_world_extra( int extra )
{
    return extra >= 0 && extra < EXTRAS ? s_extras[extra].name : NULL;
}

const char* random_world_motion( int motion )
{
    return motion >= 0 && motion < MOTIONS ? s_motions[motion].name : NULL;
}
