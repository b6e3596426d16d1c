// SPDX-License-Identifier: MIT
// All boxes moved at once. What moves without rounding touches as before, so the list may stay.
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Is a == b + c without rounding? The error of a sum is a double itself (Knuth, The Art of Computer
// Programming 4.2.2).
static bool is_exact_sum( double a, double b, double c )
{
    double sum = b + c;
    double part = sum - b;
    double error = ( b - ( sum - part ) ) + ( c - part );
    return sum == a && error == 0;
}

// A face that is infinite stays; one that is finite must stay so.
static double shift_face( double face, double by )
{
    return base_is_finite( face ) ? face - by : face;
}

static clv_aabb64 widen_box( clv_aabb box )
{
    return ( clv_aabb64 ){
        { (double)box.lower.x, (double)box.lower.y, (double)box.lower.z },
        { (double)box.upper.x, (double)box.upper.y, (double)box.upper.z },
    };
}

static clv_aabb64 given_as_double( const clv_space* space, uint32_t slot )
{
    const object_store* objects = &space->objects;
    return space_has_doubles( space ) ? clv_space_given_box64( space, slot )
                                      : widen_box( clv_object_store_given_box( objects, slot ) );
}

static clv_aabb64 shift_box( clv_aabb64 box, clv_vec64 by )
{
    box.lower = ( clv_vec64 ){ shift_face( box.lower.x, by.x ), shift_face( box.lower.y, by.y ),
        shift_face( box.lower.z, by.z ) };
    box.upper = ( clv_vec64 ){ shift_face( box.upper.x, by.x ), shift_face( box.upper.y, by.y ),
        shift_face( box.upper.z, by.z ) };
    return box;
}

// Did every face move by just as much?
static bool is_exact_shift( const clv_aabb64* before, const clv_aabb64* after, clv_vec64 by )
{
    bool exact = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double old_lower = ( &before->lower.x )[axis], old_upper = ( &before->upper.x )[axis];
        double way = ( &by.x )[axis];
        exact &= !base_is_finite( old_lower ) || is_exact_sum( ( &after->lower.x )[axis], old_lower, -way );
        exact &= !base_is_finite( old_upper ) || is_exact_sum( ( &after->upper.x )[axis], old_upper, -way );
    }
    return exact;
}

static bool stays_within( const clv_aabb64* before, const clv_aabb64* after, double most )
{
    bool stays = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        stays &= !base_is_finite( ( &before->lower.x )[axis] ) || fabs( ( &after->lower.x )[axis] ) <= most;
        stays &= !base_is_finite( ( &before->upper.x )[axis] ) || fabs( ( &after->upper.x )[axis] ) <= most;
    }
    return stays;
}

static clv_result check_shift( clv_space* space, clv_vec64 by )
{
    if ( !base_is_finite( by.x ) || !base_is_finite( by.y ) || !base_is_finite( by.z ) )
    {
        return clv_space_fail( space, CLV_BAD_ARGUMENT, UINT32_MAX, clv_null_id(),
            "the origin { %g, %g, %g } is not finite", by.x, by.y, by.z );
    }
    double most = space_has_doubles( space ) ? DBL_MAX : (double)FLT_MAX;
    for ( uint32_t slot = 0; slot < space->objects.slot_count; ++slot )
    {
        clv_id id = clv_space_id_at( space, slot );
        if ( clv_id_is_null( id ) )
        {
            continue;
        }
        clv_aabb64 before = given_as_double( space, slot ), after = shift_box( before, by );
        if ( !stays_within( &before, &after, most ) )
        {
            return clv_space_fail( space, CLV_BAD_ARGUMENT, UINT32_MAX, id,
                "the origin { %g, %g, %g } is too far from object { %u, %u }: its box would leave the %s",
                by.x, by.y, by.z, id.index, id.generation,
                space_has_doubles( space ) ? "doubles" : "floats" );
        }
    }
    return CLV_OK;
}

static clv_aabb narrow_box( const clv_aabb64* box )
{
    return ( clv_aabb ){
        { (float)box->lower.x, (float)box->lower.y, (float)box->lower.z },
        { (float)box->upper.x, (float)box->upper.y, (float)box->upper.z },
    };
}

static clv_aabb64 test_as_double( const object_store* objects, uint32_t slot )
{
    return object_boxes64( objects ) != NULL ? object_boxes64( objects )[slot]
                                             : widen_box( object_boxes( objects )[slot] );
}

static void set_given( clv_space* space, uint32_t slot, clv_aabb64 given )
{
    if ( space_has_doubles( space ) )
    {
        space->doubles->set( space, slot, given ); // some door gave it its box
        return;
    }
    clv_object_store_set_box( &space->objects, slot, narrow_box( &given ) );
}

// True if every test box moved without rounding. The map of doubles goes along first, so that most are mapped
// to what they were.
static bool shift_boxes( clv_space* space, clv_vec64 by )
{
    object_store* objects = &space->objects;
    bool exact = true, changed = space->doubles_changed;
    if ( space_has_doubles( space ) )
    {
        clv_far_fit_shift( &space->far, by );
    }
    for ( uint32_t slot = 0; slot < objects->slot_count; ++slot )
    {
        if ( !object_is_live_at( objects, slot ) )
        {
            continue;
        }
        clv_aabb64 before = test_as_double( objects, slot );
        set_given( space, slot, shift_box( given_as_double( space, slot ), by ) );
        clv_aabb64 after = test_as_double( objects, slot );
        exact &= is_exact_shift( &before, &after, by );
    }
    space->doubles_changed = changed || ( !exact && space_has_doubles( space ) );
    return exact;
}

// Nothing moved since the last good update, as far as that is known.
static bool nothing_moved( const object_store* objects )
{
    uint64_t moved = objects->moved_is_known ? 0 : 1;
    for ( uint32_t slot = 0; moved == 0 && slot < objects->slot_count; slot += 64 )
    {
        moved |= objects->moved.items[slot >> 6];
    }
    return moved == 0;
}

bool clv_space_list_holds( const clv_space* space )
{
    return space->is_shifted && space->list_is_valid && !space->filters_changed &&
        !space->objects.members_changed && !space->objects.motion_is_set && nothing_moved( &space->objects );
}

clv_result clv_space_shift_origin( clv_space* space, clv_vec64 origin )
{
    CLV_ASSERT( space != NULL );
    if ( !SPACE_ENTER( space, .kind = SPACE_CALL_SHIFT_ORIGIN, .origin = origin ) )
    {
        return CLV_BUSY;
    }
    base_fp_settle( &origin );
    origin.z = space->def.flat ? 0 : origin.z;
    clv_result result = check_shift( space, origin );
    clv_space_will_change( space, result == CLV_OK && space->objects.live_count > 0 );
    if ( result != CLV_OK )
    {
        return clv_space_leave( space, result );
    }
    object_store* objects = &space->objects;
    bool was_still = nothing_moved( objects );
    if ( shift_boxes( space, origin ) && was_still && !space_has_doubles( space ) )
    {
        CLV_ASSERT( objects->moved_is_known && objects->moved.capacity * 64 >= objects->slot_count );
        // Movers are noted from here on as before; only the method learns that all boxes moved.
        memset( objects->moved.items, 0, ( (size_t)objects->slot_count + 63 ) / 64 * sizeof( uint64_t ) );
        space->is_shifted = true;
    }
    return clv_space_leave( space, clv_space_succeed( space ) );
}
