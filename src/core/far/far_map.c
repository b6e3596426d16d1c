// SPDX-License-Identifier: MIT
#include "far/far_map.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "base/radix_sort.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Finite doubles stay finite floats, and infinite ones infinite.
static float narrow_to_float( double value, double given )
{
    if ( !base_is_finite( given ) )
    {
        return given > 0 ? INFINITY : -INFINITY;
    }
    value = value < -(double)FLT_MAX ? -(double)FLT_MAX : value;
    value = value > (double)FLT_MAX ? (double)FLT_MAX : value;
    return (float)value;
}

// The last cell that begins at or below the value; the first one if none does.
static uint32_t find_far_cell( const far_axis* axis, double value )
{
    uint32_t first = 0, count = axis->cell_count;
    while ( count > 1 )
    {
        uint32_t half = count / 2;
        first = axis->ends[first + half] <= value ? first + half : first;
        count -= half;
    }
    CLV_ASSERT( first < axis->cell_count );
    return first;
}

// Which part of the cell lies below the value: 0 to 1, and beyond that outside the first and the last cell.
// Each operation rounds, and none of them turns an order round.
static double part_of_cell( const far_axis* axis, uint32_t cell, double value )
{
    double lower = axis->ends[cell], upper = axis->ends[cell + 1];
    CLV_ASSERT( cell < axis->cell_count && lower <= upper );
    double width = upper - lower;
    if ( width > DBL_MAX ) // from one end of the doubles to the other
    {
        return ( 0.5 * value - 0.5 * lower ) / ( 0.5 * upper - 0.5 * lower );
    }
    return width > 0 ? ( value - lower ) / width
                     : 0; // a shift may close a cell: nothing lies between its ends
}

// Beyond the last cells the scale goes on, to the last float.
static double place_outside( const far_axis* axis, double value )
{
    bool is_below = value < axis->ends[0];
    uint32_t cell = is_below ? 0 : axis->cell_count - 1;
    double at = FAR_FACES * ( ( cell + part_of_cell( axis, cell, value ) ) - 0.5 * axis->cell_count );
    double most = (double)FLT_MAX;
    return at < -most ? -most : at > most ? most : at;
}

// Cells are equally wide in the map, so the hint names one at once, and most values are there. Which way it
// was found makes no difference to the answer.
static float place_in_cell( const far_axis* axis, double value, float hint )
{
    double middle = 0.5 * axis->cell_count;
    double guess = (double)hint * ( 1.0 / FAR_FACES ) + middle;
    uint32_t cell = guess >= 0 && guess < axis->cell_count ? (uint32_t)guess : 0;
    if ( !( axis->ends[cell] <= value && value < axis->ends[cell + 1] ) )
    {
        if ( value < axis->ends[0] || value >= axis->ends[axis->cell_count] )
        {
            return (float)place_outside( axis, value );
        }
        cell = find_far_cell( axis, value );
    }
    return (float)( FAR_FACES * ( ( cell + part_of_cell( axis, cell, value ) ) - middle ) );
}

float clv_far_axis_at( const far_axis* axis, double value, float hint )
{
    return axis->cell_count > 0 && base_is_finite( value ) ? place_in_cell( axis, value, hint )
                                                           : narrow_to_float( value - axis->origin, value );
}

// Distances from the origin. True if all are finite: then they are what the general way would say, which has
// to look at faces that are infinite or become so.
static bool map_plainly( const far_map* map, const clv_aabb64* boxes, clv_aabb* mapped, uint32_t count )
{
    double origins[6];
    uint32_t infinite = 0;
    for ( int i = 0; i < 6; ++i )
    {
        origins[i] = map->axes[i % 3].origin;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( int k = 0; k < 6; ++k )
        {
            ( &mapped[i].lower.x )[k] = (float)( ( &boxes[i].lower.x )[k] - origins[k] );
        }
    }
    for ( uint32_t i = 0; i < 6 * count; ++i )
    {
        uint32_t bits;
        memcpy( &bits, (const char*)mapped + i * sizeof( bits ), sizeof( bits ) );
        infinite |= ( bits & 0x7FFFFFFF ) + 0x00800000; // up to the highest bit
    }
    return infinite >> 31 == 0;
}

static clv_aabb map_by_axis( const far_map* map, const clv_aabb64* box, const clv_aabb* hint )
{
    const far_axis *x = &map->axes[0], *y = &map->axes[1], *z = &map->axes[2];
    return ( clv_aabb ){
        .lower = { clv_far_axis_at( x, box->lower.x, hint->lower.x ),
            clv_far_axis_at( y, box->lower.y, hint->lower.y ),
            clv_far_axis_at( z, box->lower.z, hint->lower.z ) },
        .upper = { clv_far_axis_at( x, box->upper.x, hint->upper.x ),
            clv_far_axis_at( y, box->upper.y, hint->upper.y ),
            clv_far_axis_at( z, box->upper.z, hint->upper.z ) },
    };
}

void clv_far_map_boxes( const far_map* map, const clv_aabb64* boxes, clv_aabb* mapped, uint32_t count )
{
    if ( far_map_is_plain( map ) && map_plainly( map, boxes, mapped, count ) )
    {
        return;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        mapped[i] = map_by_axis( map, &boxes[i], &mapped[i] );
    }
}

clv_aabb clv_far_map_box( const far_map* map, const clv_aabb64* box, const clv_aabb* hint )
{
    clv_aabb mapped = *hint;
    clv_far_map_boxes( map, box, &mapped, 1 );
    return mapped;
}

void clv_far_map_set_origin( far_map* map, clv_vec64 origin )
{
    const double origins[3] = { origin.x, origin.y, origin.z };
    for ( int axis = 0; axis < 3; ++axis )
    {
        CLV_ASSERT( base_is_finite( origins[axis] ) );
        map->axes[axis].origin = origins[axis];
        map->axes[axis].cell_count = 0;
    }
}

void clv_far_map_free( far_map* map, base_memory* memory )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        clv_base_memory_give( memory, map->axes[axis].ends, map->axes[axis].end_capacity, sizeof( double ) );
    }
    memset( map, 0, sizeof( *map ) );
}

// ---- cells

// Doubles as pairs of integers that sort like them: negatives have all bits flipped, the others the sign.
static clv_pair key_of_double( double value )
{
    uint64_t bits;
    memcpy( &bits, &value, sizeof( bits ) );
    bits ^= ( bits >> 63 ) != 0 ? UINT64_MAX : (uint64_t)1 << 63;
    return ( clv_pair ){ (uint32_t)( bits >> 32 ), (uint32_t)bits };
}

static double double_of_key( clv_pair key )
{
    uint64_t bits = (uint64_t)key.a << 32 | key.b;
    bits ^= ( bits >> 63 ) != 0 ? (uint64_t)1 << 63 : UINT64_MAX;
    double value;
    memcpy( &value, &bits, sizeof( value ) );
    return value;
}

// Every finite face of the boxes on an axis.
static uint64_t list_faces( const far_crowd* crowd, int axis, clv_pair* keys )
{
    uint64_t count = 0;
    for ( uint32_t i = 0; i < crowd->count; ++i )
    {
        const clv_aabb64* box = &crowd->boxes[far_crowd_slot( crowd, i )];
        double lower = ( &box->lower.x )[axis], upper = ( &box->upper.x )[axis];
        keys[count] = key_of_double( lower );
        count += base_is_finite( lower );
        keys[count] = key_of_double( upper );
        count += base_is_finite( upper );
    }
    return count;
}

// Each value once.
static void add_end( far_axis* axis, uint32_t* end_count, clv_pair key )
{
    double face = double_of_key( key );
    if ( *end_count == 0 || face > axis->ends[*end_count - 1] )
    {
        CLV_ASSERT( *end_count < axis->end_capacity );
        axis->ends[( *end_count )++] = face;
    }
}

// Every FAR_FACES-th face and the last one.
static void choose_ends( far_axis* axis, const clv_pair* keys, uint64_t count )
{
    uint32_t end_count = 0;
    for ( uint64_t i = 0; i < count; i += FAR_FACES )
    {
        add_end( axis, &end_count, keys[i] );
    }
    if ( count > 0 )
    {
        add_end( axis, &end_count, keys[count - 1] );
    }
    axis->origin = end_count > 0 ? axis->ends[0] : 0;
    axis->cell_count = end_count > 1 ? end_count - 1 : 0;
}

BASE_COLD bool clv_far_map_set_cells( far_map* map, const far_crowd* crowd, base_memory* memory )
{
    uint64_t most = 2 * (uint64_t)crowd->count;
    clv_pair* keys = clv_base_memory_take( memory, 2 * most + 2, sizeof( clv_pair ) );
    bool ok = keys != NULL;
    for ( int axis = 0; axis < 3 && ok; ++axis ) // all memory first, so that no map is half another
    {
        void* ends = map->axes[axis].ends;
        uint64_t kept = map->axes[axis].cell_count > 0 ? map->axes[axis].cell_count + 1 : 0;
        ok = clv_base_memory_reserve(
            memory, &ends, &map->axes[axis].end_capacity, kept, most / FAR_FACES + 2, sizeof( double ) );
        map->axes[axis].ends = ends;
    }
    for ( int axis = 0; axis < 3 && ok; ++axis )
    {
        uint64_t count = list_faces( crowd, axis, keys );
        clv_pair* sorted = clv_base_sort_pairs( keys, keys + most + 1, count, UINT32_MAX );
        choose_ends( &map->axes[axis], sorted, count );
    }
    clv_base_memory_give( memory, keys, 2 * most + 2, sizeof( clv_pair ) );
    return ok;
}
