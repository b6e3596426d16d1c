// SPDX-License-Identifier: MIT
// What objects carry besides a box: user data, margins, filters, static hints. Columns, made when first used.
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/fp_mode.h"

#include <math.h>
#include <string.h>

static clv_result use_column( clv_space* space, object_column column, uint32_t count )
{
    if ( count == 0 )
    {
        return clv_space_succeed( space ); // nothing to keep, so no column for it either
    }
    object_store* objects = &space->objects;
    bool ok = column == OBJECT_MARGIN ? clv_object_store_use_margins( objects )
        : column == OBJECT_USER_DATA  ? clv_object_store_use_data( objects )
                                      : clv_object_store_use( objects, column );
    return ok ? clv_space_succeed( space )
              : clv_space_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, clv_null_id(),
                    "out of memory for what objects carry" );
}

// Ids checked, column there: what most setters begin with, once they have entered.
static clv_result begin_set( clv_space* space, object_column column, const clv_id* ids, uint32_t count )
{
    CLV_ASSERT( space != NULL && ( count == 0 || ids != NULL ) );
    clv_result result = clv_space_check_ids( space, ids, count );
    return result == CLV_OK ? use_column( space, column, count ) : result;
}

clv_result clv_space_set_user_data(
    clv_space* space, const clv_id* ids, const uint64_t* values, uint32_t count )
{
    if ( !clv_space_enter( space ) )
    {
        return CLV_BUSY;
    }
    clv_result result = begin_set( space, OBJECT_USER_DATA, ids, count );
    uint64_t* column = space->objects.columns[OBJECT_USER_DATA];
    for ( uint32_t i = 0; i < count && result == CLV_OK; ++i )
    {
        column[ids[i].index] = values[i];
    }
    return clv_space_leave( space, result );
}

// Ids and margins; the first bad entry of either kind is the one named.
static clv_result check_margins( clv_space* space, const clv_id* ids, const float* margins, uint32_t count )
{
    uint32_t position = 0;
    clv_result result = clv_object_store_check_ids( &space->objects, ids, count, &position );
    uint32_t good = result == CLV_OK ? count : position;
    for ( uint32_t i = 0; i < good; ++i )
    {
        if ( !( margins[i] >= 0 ) || isinf( margins[i] ) )
        {
            return clv_space_fail( space, CLV_BAD_ARGUMENT, i, ids[i],
                "margin %u of the batch: %g is not finite and at least 0", i, (double)margins[i] );
        }
    }
    return result == CLV_OK ? CLV_OK : clv_space_refuse_id( space, result, position, ids[position] );
}

clv_result clv_space_set_margin( clv_space* space, const clv_id* ids, const float* margins, uint32_t count )
{
    CLV_ASSERT( space != NULL && ( count == 0 || ( ids != NULL && margins != NULL ) ) );
    if ( !clv_space_enter( space ) )
    {
        return CLV_BUSY;
    }
    base_fp_mode mode = base_fp_enter();
    clv_result result = check_margins( space, ids, margins, count );
    result = result == CLV_OK ? use_column( space, OBJECT_MARGIN, count ) : result;
    clv_space_will_change( space, result == CLV_OK && count > 0 );
    for ( uint32_t i = 0; i < count && result == CLV_OK; ++i )
    {
        clv_object_store_note_margin(
            &space->objects, ids[i].index, ( clv_margin_rule ){ margins[i], 0, 0 } );
        clv_space_renew_box( space, ids[i].index );
    }
    base_fp_leave( mode );
    return clv_space_leave( space, result );
}

static void ask_again( clv_space* space, const clv_id* ids, uint32_t count )
{
    space->filters_changed |= count > 0;
    uint8_t* ask = space->objects.columns[OBJECT_ASK];
    for ( uint32_t i = 0; i < count && ask != NULL; ++i )
    {
        ask[ids[i].index] = 1;
    }
}

clv_result clv_space_set_filter(
    clv_space* space, const clv_id* ids, const clv_filter* filters, uint32_t count )
{
    if ( !clv_space_enter( space ) )
    {
        return CLV_BUSY;
    }
    clv_result result = begin_set( space, OBJECT_FILTER, ids, count );
    if ( result == CLV_OK )
    {
        clv_filter* column = space->objects.columns[OBJECT_FILTER];
        for ( uint32_t i = 0; i < count; ++i )
        {
            column[ids[i].index] = filters[i];
        }
        ask_again( space, ids, count );
    }
    return clv_space_leave( space, result );
}

clv_result clv_space_refilter( clv_space* space, const clv_id* ids, uint32_t count )
{
    CLV_ASSERT( space != NULL && ( count == 0 || ids != NULL ) );
    if ( !clv_space_enter( space ) )
    {
        return CLV_BUSY;
    }
    clv_result result = clv_space_check_ids( space, ids, count );
    if ( result == CLV_OK )
    {
        ask_again( space, ids, count );
        clv_space_succeed( space );
    }
    return clv_space_leave( space, result );
}

clv_result clv_space_set_static( clv_space* space, const clv_id* ids, const bool* is_static, uint32_t count )
{
    if ( !clv_space_enter( space ) )
    {
        return CLV_BUSY;
    }
    clv_result result = begin_set( space, OBJECT_STATIC, ids, count );
    space->filters_changed |= result == CLV_OK && count > 0;
    uint8_t* column = space->objects.columns[OBJECT_STATIC];
    for ( uint32_t i = 0; i < count && result == CLV_OK; ++i )
    {
        column[ids[i].index] = is_static[i];
    }
    return clv_space_leave( space, result );
}

clv_result clv_space_get_box( const clv_space* space, clv_id id, clv_aabb* box )
{
    if ( space_kind_of( space ) != SPACE_FLOATS )
    {
        return CLV_UNSUPPORTED;
    }
    if ( !object_is_live( &space->objects, id ) )
    {
        return CLV_BAD_ID;
    }
    *box = clv_object_store_given_box( &space->objects, id.index );
    return CLV_OK;
}

clv_result clv_space_get_box64( const clv_space* space, clv_id id, clv_aabb64* box )
{
    if ( !space_has_doubles( space ) )
    {
        return CLV_UNSUPPORTED;
    }
    if ( !object_is_live( &space->objects, id ) )
    {
        return CLV_BAD_ID;
    }
    const clv_aabb64* given = space->objects.columns[OBJECT_GIVEN_BOX64];
    *box = given != NULL ? given[id.index] : object_boxes64( &space->objects )[id.index];
    return CLV_OK;
}

clv_result clv_space_get_user_data( const clv_space* space, clv_id id, uint64_t* value )
{
    if ( !object_is_live( &space->objects, id ) )
    {
        return CLV_BAD_ID;
    }
    const uint64_t* column = space->objects.columns[OBJECT_USER_DATA];
    *value = column != NULL ? column[id.index] : 0;
    return CLV_OK;
}

clv_result clv_space_get_margin( const clv_space* space, clv_id id, float* margin )
{
    if ( !object_is_live( &space->objects, id ) )
    {
        return CLV_BAD_ID;
    }
    *margin = clv_object_store_margin( &space->objects, id.index ).fixed;
    return CLV_OK;
}

clv_result clv_space_get_filter( const clv_space* space, clv_id id, clv_filter* filter )
{
    if ( !object_is_live( &space->objects, id ) )
    {
        return CLV_BAD_ID;
    }
    const clv_filter* column = space->objects.columns[OBJECT_FILTER];
    *filter = column != NULL ? column[id.index] : clv_default_filter();
    return CLV_OK;
}

clv_result clv_space_get_static( const clv_space* space, clv_id id, bool* is_static )
{
    if ( !object_is_live( &space->objects, id ) )
    {
        return CLV_BAD_ID;
    }
    const uint8_t* column = space->objects.columns[OBJECT_STATIC];
    *is_static = column != NULL && column[id.index] != 0;
    return CLV_OK;
}

bool clv_space_contains( const clv_space* space, clv_id id )
{
    return object_is_live( &space->objects, id );
}

clv_id clv_space_id_at( const clv_space* space, uint32_t index )
{
    clv_id id = { index,
        index < space->objects.slot_count ? object_generations( &space->objects )[index] : 0 };
    return object_is_live( &space->objects, id ) ? id : clv_null_id();
}

uint32_t clv_space_object_count( const clv_space* space )
{
    return space->objects.live_count;
}
