// SPDX-License-Identifier: MIT
// Objects with all they carry in one call: checked, given room and dressed around the plain add.
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/fp_mode.h"

#include <string.h>

#define ADD_COOKIE 0xADDC1EAu

clv_add_def clv_default_add_def( void )
{
    clv_add_def def;
    memset( &def, 0, sizeof( def ) );
    def.size = (uint32_t)sizeof( def );
    def.cookie = ADD_COOKIE;
    return def;
}

// Margins come in two shapes; either way they are rules.
static clv_margin_rule rule_at( const clv_add_def* def, uint32_t i )
{
    return def->margins != NULL ? ( clv_margin_rule ){ def->margins[i], 0, 0 } : def->margin_rules[i];
}

static bool has_margins( const clv_add_def* def )
{
    return def->margins != NULL || def->margin_rules != NULL;
}

clv_result clv_space_check_add_def( clv_space* space, const clv_add_def* def, uint32_t count )
{
    clv_result result = CLV_OK;
    for ( uint32_t i = 0; i < count && result == CLV_OK; ++i )
    {
        if ( has_margins( def ) )
        {
            result = clv_space_check_margin_rule( space, rule_at( def, i ), i, clv_null_id() );
        }
        if ( result == CLV_OK && def->motions != NULL )
        {
            result = clv_space_check_motion( space, def->motions[i], i, clv_null_id() );
        }
    }
    return result;
}

bool clv_space_use_add_def( clv_space* space, const clv_add_def* def, uint32_t count )
{
    object_store* objects = &space->objects;
    return ( def->user_data == NULL || clv_object_store_use_data( objects ) ) &&
        ( def->filters == NULL || clv_object_store_use( objects, OBJECT_FILTER ) ) &&
        ( def->is_static == NULL || clv_object_store_use( objects, OBJECT_STATIC ) ) &&
        ( def->margins == NULL || clv_object_store_use_margins( objects ) ) &&
        ( def->margin_rules == NULL || clv_space_use_margins( space, def->margin_rules, count ) ) &&
        ( def->motions == NULL || clv_object_store_use_motions( objects ) );
}

void clv_space_dress( clv_space* space, const clv_add_def* def, uint32_t i, uint32_t slot )
{
    object_store* objects = &space->objects;
    if ( def->user_data != NULL )
    {
        ( (uint64_t*)objects->columns[OBJECT_USER_DATA] )[slot] = def->user_data[i];
    }
    if ( def->filters != NULL )
    {
        ( (clv_filter*)objects->columns[OBJECT_FILTER] )[slot] = def->filters[i];
    }
    if ( def->is_static != NULL )
    {
        ( (uint8_t*)objects->columns[OBJECT_STATIC] )[slot] = def->is_static[i];
    }
    if ( has_margins( def ) )
    {
        clv_object_store_note_margin( objects, slot, rule_at( def, i ) );
    }
    if ( def->motions != NULL )
    {
        clv_object_store_note_motion( objects, slot, def->motions[i] );
    }
    if ( has_margins( def ) || def->motions != NULL )
    {
        clv_space_renew_box( space, slot );
    }
}

static clv_result check_new_def( clv_space* space, const clv_add_def* def )
{
    if ( def->cookie != ADD_COOKIE || def->size != sizeof( clv_add_def ) )
    {
        return clv_space_fail( space, CLV_BAD_DEF, UINT32_MAX, clv_null_id(),
            "the add def was not made by clv_default_add_def" );
    }
    if ( def->margins != NULL && def->margin_rules != NULL )
    {
        return clv_space_fail( space, CLV_BAD_DEF, UINT32_MAX, clv_null_id(),
            "the add def has margins and margin_rules; one of them says it all" );
    }
    int shapes = ( def->boxes != NULL ) + ( def->stream.lower != NULL ) + ( def->boxes2 != NULL ) +
        ( def->stream2.lower != NULL ) + ( def->boxes64 != NULL ) + ( def->stream64.lower != NULL );
    if ( shapes > 1 )
    {
        return clv_space_fail( space, CLV_BAD_DEF, UINT32_MAX, clv_null_id(),
            "the add def has boxes and a stream of them, or boxes of two kinds; one of them says it all" );
    }
    return CLV_OK;
}

// Whichever it has; of none, what the space would take.
static space_stream boxes_of( const clv_space* space, const clv_add_def* def )
{
    if ( def->boxes != NULL || def->stream.lower != NULL )
    {
        return def->boxes != NULL ? clv_space_records( def->boxes ) : clv_space_stream( def->stream );
    }
    if ( def->boxes2 != NULL || def->stream2.lower != NULL )
    {
        return def->boxes2 != NULL ? clv_space_records2( def->boxes2 ) : clv_space_stream2( def->stream2 );
    }
    if ( def->boxes64 != NULL || def->stream64.lower != NULL )
    {
        return def->boxes64 != NULL ? clv_space_records64( def->boxes64 )
                                    : clv_space_stream64( def->stream64 );
    }
    return ( space_stream ){ space_kind_of( space ), NULL, NULL, 0 };
}

clv_result clv_space_add_with( clv_space* space, const clv_add_def* def, uint32_t count, clv_id* ids )
{
    CLV_ASSERT( space != NULL && def != NULL );
    if ( !clv_space_enter( space ) )
    {
        return CLV_BUSY;
    }
    base_fp_mode mode = base_fp_enter();
    clv_result result = check_new_def( space, def );
    if ( result == CLV_OK )
    {
        space_stream boxes = boxes_of( space, def );
        CLV_ASSERT( count == 0 || ( boxes.lower != NULL && boxes.upper != NULL ) );
        result = clv_space_add_all( space, boxes, def, count, ids );
    }
    base_fp_leave( mode );
    return clv_space_leave( space, result );
}
