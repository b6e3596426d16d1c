// SPDX-License-Identifier: MIT
// How far beyond its box an object counts: margins by rule, and the way it goes until the next update.
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "base/fp_mode.h"

static bool is_finite_vector( clv_vec3 v )
{
    return base_is_finite( (double)v.x ) && base_is_finite( (double)v.y ) && base_is_finite( (double)v.z );
}

static bool is_good_part( float part )
{
    return part >= 0 && base_is_finite( (double)part );
}

clv_result clv_space_check_motion( clv_space* space, clv_vec3 motion, uint32_t position, clv_id id )
{
    clv_vec3 looked_at = { motion.x, motion.y, space->def.flat ? 0 : motion.z };
    if ( is_finite_vector( looked_at ) )
    {
        return CLV_OK;
    }
    return clv_space_fail( space, CLV_BAD_ARGUMENT, position, id,
        "motion %u of the batch: (%g, %g, %g) is not finite", position, (double)motion.x, (double)motion.y,
        (double)motion.z );
}

clv_result clv_space_check_margin_rule( clv_space* space, clv_margin_rule rule, uint32_t position, clv_id id )
{
    const float parts[3] = { rule.fixed, rule.by_size, rule.by_speed };
    static const char* const names[3] = { "fixed", "by_size", "by_speed" };
    for ( int i = 0; i < 3; ++i )
    {
        if ( !is_good_part( parts[i] ) )
        {
            return clv_space_fail( space, CLV_BAD_ARGUMENT, position, id,
                "margin rule %u of the batch: %s %g is not finite and at least 0", position, names[i],
                (double)parts[i] );
        }
    }
    return CLV_OK;
}

static clv_aabb64 given_box64( const object_store* objects, uint32_t slot )
{
    const clv_aabb64* given = objects->columns[OBJECT_GIVEN_BOX64];
    return given != NULL ? given[slot] : object_boxes64( objects )[slot];
}

void clv_space_renew_box( clv_space* space, uint32_t slot )
{
    object_store* objects = &space->objects;
    if ( space_has_doubles( space ) )
    {
        clv_space_take_box64( space, slot, given_box64( objects, slot ) );
        return;
    }
    clv_object_store_set_box( objects, slot, clv_object_store_given_box( objects, slot ) );
}

void clv_space_drop_motions( clv_space* space )
{
    object_store* objects = &space->objects;
    uint32_t slot = clv_object_store_drop_motion( objects, 0 );
    while ( slot < objects->slot_count )
    {
        clv_space_renew_box( space, slot );
        slot = clv_object_store_drop_motion( objects, slot + 1 );
    }
}

static clv_result refuse_memory( clv_space* space, const char* what )
{
    return clv_space_fail(
        space, CLV_OUT_OF_MEMORY, UINT32_MAX, clv_null_id(), "out of memory for %s", what );
}

// The first bad entry is the one named, whatever is bad about it. Ids from `good` on have been found bad already.
static clv_result check_motions( clv_space* space, const clv_id* ids, const clv_vec3* motions, uint32_t good )
{
    clv_result result = CLV_OK;
    for ( uint32_t i = 0; i < good && result == CLV_OK; ++i )
    {
        result = clv_space_check_motion( space, motions[i], i, ids[i] );
    }
    return result;
}

static clv_result check_rules(
    clv_space* space, const clv_id* ids, const clv_margin_rule* rules, uint32_t good )
{
    clv_result result = CLV_OK;
    for ( uint32_t i = 0; i < good && result == CLV_OK; ++i )
    {
        result = clv_space_check_margin_rule( space, rules[i], i, ids[i] );
    }
    return result;
}

static clv_result set_motions( clv_space* space, const clv_id* ids, const clv_vec3* motions, uint32_t count )
{
    object_store* objects = &space->objects;
    uint32_t position = 0;
    clv_result ids_result = clv_object_store_check_ids( objects, ids, count, &position );
    uint32_t good = ids_result == CLV_OK ? count : position;
    clv_result result = check_motions( space, ids, motions, good );
    if ( result != CLV_OK || ids_result != CLV_OK )
    {
        return result != CLV_OK ? result : clv_space_refuse_id( space, ids_result, position, ids[position] );
    }
    if ( count > 0 && !clv_object_store_use_motions( objects ) )
    {
        return refuse_memory( space, "motions" );
    }
    clv_space_will_change( space, count > 0 || objects->motion_is_spent );
    clv_space_drop_motions( space );
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_object_store_note_motion( objects, ids[i].index, motions[i] );
        clv_space_renew_box( space, ids[i].index );
    }
    return clv_space_succeed( space );
}

clv_result clv_space_set_motion(
    clv_space* space, const clv_id* ids, const clv_vec3* motions, uint32_t count )
{
    CLV_ASSERT( space != NULL && ( count == 0 || ( ids != NULL && motions != NULL ) ) );
    if ( !clv_space_enter( space ) )
    {
        return CLV_BUSY;
    }
    base_fp_mode mode = base_fp_enter();
    clv_result result = set_motions( space, ids, motions, count );
    base_fp_leave( mode );
    return clv_space_leave( space, result );
}

// Spaces with fixed margins alone keep their narrow column.
bool clv_space_use_margins( clv_space* space, const clv_margin_rule* rules, uint32_t count )
{
    bool is_fixed = true;
    for ( uint32_t i = 0; i < count; ++i )
    {
        is_fixed = is_fixed && rules[i].by_size == 0 && rules[i].by_speed == 0;
    }
    return is_fixed ? clv_object_store_use_margins( &space->objects )
                    : clv_object_store_use_margins_by( &space->objects );
}

static clv_result set_rules(
    clv_space* space, const clv_id* ids, const clv_margin_rule* rules, uint32_t count )
{
    object_store* objects = &space->objects;
    uint32_t position = 0;
    clv_result ids_result = clv_object_store_check_ids( objects, ids, count, &position );
    clv_result result = check_rules( space, ids, rules, ids_result == CLV_OK ? count : position );
    if ( result != CLV_OK || ids_result != CLV_OK )
    {
        return result != CLV_OK ? result : clv_space_refuse_id( space, ids_result, position, ids[position] );
    }
    if ( count > 0 && !clv_space_use_margins( space, rules, count ) )
    {
        return refuse_memory( space, "margins" );
    }
    clv_space_will_change( space, count > 0 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_object_store_note_margin( objects, ids[i].index, rules[i] );
        clv_space_renew_box( space, ids[i].index );
    }
    return clv_space_succeed( space );
}

clv_result clv_space_set_margin_rule(
    clv_space* space, const clv_id* ids, const clv_margin_rule* rules, uint32_t count )
{
    CLV_ASSERT( space != NULL && ( count == 0 || ( ids != NULL && rules != NULL ) ) );
    if ( !clv_space_enter( space ) )
    {
        return CLV_BUSY;
    }
    base_fp_mode mode = base_fp_enter();
    clv_result result = set_rules( space, ids, rules, count );
    base_fp_leave( mode );
    return clv_space_leave( space, result );
}

clv_result clv_space_get_motion( const clv_space* space, clv_id id, clv_vec3* motion )
{
    if ( !object_is_live( &space->objects, id ) )
    {
        return CLV_BAD_ID;
    }
    *motion = clv_object_store_motion( &space->objects, id.index );
    return CLV_OK;
}

clv_result clv_space_get_margin_rule( const clv_space* space, clv_id id, clv_margin_rule* rule )
{
    if ( !object_is_live( &space->objects, id ) )
    {
        return CLV_BAD_ID;
    }
    *rule = clv_object_store_margin( &space->objects, id.index );
    return CLV_OK;
}

static clv_result check_reading( const clv_space* space, space_kind kind, clv_id id )
{
    return space_kind_of( space ) != kind        ? CLV_UNSUPPORTED
        : !object_is_live( &space->objects, id ) ? CLV_BAD_ID
                                                 : CLV_OK;
}

clv_result clv_space_get_test_box2( const clv_space* space, clv_id id, clv_aabb2* box )
{
    clv_result result = check_reading( space, SPACE_FLAT, id );
    if ( result == CLV_OK )
    {
        base_fp_mode mode = base_fp_enter();
        clv_aabb test = clv_object_store_test_box( &space->objects, id.index );
        *box = ( clv_aabb2 ){ { test.lower.x, test.lower.y }, { test.upper.x, test.upper.y } };
        base_fp_settle( box );
        base_fp_leave( mode );
    }
    return result;
}

clv_result clv_space_get_test_box64( const clv_space* space, clv_id id, clv_aabb64* box )
{
    clv_result result = check_reading( space, SPACE_DOUBLES, id );
    if ( result == CLV_OK )
    {
        base_fp_mode mode = base_fp_enter();
        const object_store* objects = &space->objects;
        *box = clv_object_store_test_box64( objects, id.index, given_box64( objects, id.index ) );
        base_fp_settle( box );
        base_fp_leave( mode );
    }
    return result;
}

clv_result clv_space_get_test_box( const clv_space* space, clv_id id, clv_aabb* box )
{
    clv_result result = check_reading( space, SPACE_FLOATS, id );
    if ( result == CLV_OK )
    {
        base_fp_mode mode = base_fp_enter();
        *box = clv_object_store_test_box( &space->objects, id.index );
        base_fp_settle( box );
        base_fp_leave( mode );
    }
    return result;
}
