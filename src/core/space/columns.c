// SPDX-License-Identifier: MIT
// What objects carry besides a box: user data, filters, static hints, margins, motions. Columns, made when
// first used. A clv_add_def names any of them, so that new objects and the setters below go one way.
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "object/test_box.h"

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

// ---- checked

// Margins come in two shapes; either way they are rules.
static clv_margin_rule rule_at( const clv_add_def* def, uint32_t i )
{
    CLV_ASSERT( def->margins != NULL || def->margin_rules != NULL );
    return def->margins != NULL ? ( clv_margin_rule ){ def->margins[i], 0, 0 } : def->margin_rules[i];
}

static bool has_margins( const clv_add_def* def )
{
    return def->margins != NULL || def->margin_rules != NULL;
}

static clv_result check_margin( clv_space* space, const clv_add_def* def, uint32_t position, clv_id id )
{
    clv_margin_rule rule = rule_at( def, position );
    const float parts[3] = { rule.fixed, rule.by_size, rule.by_speed };
    static const char* const names[3] = { " fixed", " by_size", " by_speed" };
    for ( int i = 0; i < 3; ++i )
    {
        if ( !object_is_margin( parts[i] ) )
        {
            bool is_rule = def->margin_rules != NULL;
            return clv_space_fail( space, CLV_BAD_ARGUMENT, position, id,
                "margin%s %u of the batch:%s %g is not finite and at least 0", is_rule ? " rule" : "",
                position, is_rule ? names[i] : "", (double)parts[i] );
        }
    }
    return CLV_OK;
}

static clv_result check_motion( clv_space* space, clv_vec3 motion, uint32_t position, clv_id id )
{
    float z = space->def.flat ? 0 : motion.z; // the third axis of a flat space is not read
    if ( base_is_finite( (double)motion.x ) && base_is_finite( (double)motion.y ) &&
        base_is_finite( (double)z ) )
    {
        return CLV_OK;
    }
    return clv_space_fail( space, CLV_BAD_ARGUMENT, position, id,
        "motion %u of the batch: (%g, %g, %g) is not finite", position, (double)motion.x, (double)motion.y,
        (double)motion.z );
}

clv_result clv_space_check_columns(
    clv_space* space, const clv_add_def* def, const clv_id* ids, uint32_t count )
{
    clv_result result = CLV_OK;
    bool is_free_of_rules = !has_margins( def ) && def->motions == NULL;
    for ( uint32_t i = 0; i < count && result == CLV_OK && !is_free_of_rules; ++i )
    {
        clv_id id = ids != NULL ? ids[i] : clv_null_id();
        result = has_margins( def ) ? check_margin( space, def, i, id ) : CLV_OK;
        if ( result == CLV_OK && def->motions != NULL )
        {
            result = check_motion( space, def->motions[i], i, id );
        }
    }
    return result;
}

// ---- given room, and filled

// Spaces with fixed margins alone keep their narrow column.
static bool use_rules( object_store* objects, const clv_margin_rule* rules, uint32_t count )
{
    bool is_fixed = true;
    for ( uint32_t i = 0; i < count; ++i )
    {
        is_fixed = is_fixed && rules[i].by_size == 0 && rules[i].by_speed == 0;
    }
    return is_fixed ? clv_object_store_use_margins( objects ) : clv_object_store_use_margins_by( objects );
}

bool clv_space_use_columns( clv_space* space, const clv_add_def* def, uint32_t count )
{
    object_store* objects = &space->objects;
    return ( def->user_data == NULL || clv_object_store_use_data( objects ) ) &&
        ( def->filters == NULL || clv_object_store_use( objects, OBJECT_FILTER ) ) &&
        ( def->is_static == NULL || clv_object_store_use( objects, OBJECT_STATIC ) ) &&
        ( def->margins == NULL || clv_object_store_use_margins( objects ) ) &&
        ( def->margin_rules == NULL || use_rules( objects, def->margin_rules, count ) ) &&
        ( def->motions == NULL || clv_object_store_use_motions( objects ) );
}

void clv_space_set_columns( clv_space* space, const clv_add_def* def, uint32_t i, uint32_t slot )
{
    object_store* objects = &space->objects;
    CLV_ASSERT( slot < objects->slot_count && ( object_generations( objects )[slot] & 1 ) != 0 );
    CLV_ASSERT( def->user_data == NULL || object_store_uses( objects, OBJECT_USER_DATA ) );
    CLV_ASSERT( def->filters == NULL || object_store_uses( objects, OBJECT_FILTER ) );
    CLV_ASSERT( def->motions == NULL || object_store_uses( objects, OBJECT_MOTION ) );
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

void clv_space_drop_motions( clv_space* space )
{
    object_store* objects = &space->objects;
    uint32_t slot = clv_object_store_drop_motion( objects, 0 );
    while ( slot < objects->slot_count )
    {
        clv_space_renew_box( space, slot );
        slot = clv_object_store_drop_motion( objects, slot + 1 );
    }
    CLV_ASSERT( !objects->motion_is_spent );
}

// ---- new objects

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
            "the add def has margins and margin_rules; set only one of them" );
    }
    int shapes = ( def->boxes != NULL ) + ( def->stream.lower != NULL ) + ( def->boxes2 != NULL ) +
        ( def->stream2.lower != NULL ) + ( def->boxes64 != NULL ) + ( def->stream64.lower != NULL );
    if ( shapes > 1 )
    {
        return clv_space_fail( space, CLV_BAD_DEF, UINT32_MAX, clv_null_id(),
            "the add def has boxes and a stream of them, or boxes of two kinds; set only one of them" );
    }
    return CLV_OK;
}

// Whichever it has; of none, what the space would take.
static space_stream boxes_of( const clv_space* space, const clv_add_def* def )
{
    return def->boxes != NULL         ? space_records( SPACE_FLOATS, def->boxes )
        : def->boxes2 != NULL         ? space_records( SPACE_FLAT, def->boxes2 )
        : def->boxes64 != NULL        ? space_records( SPACE_DOUBLES, def->boxes64 )
        : def->stream.lower != NULL   ? SPACE_STREAM( SPACE_FLOATS, def->stream )
        : def->stream2.lower != NULL  ? SPACE_STREAM( SPACE_FLAT, def->stream2 )
        : def->stream64.lower != NULL ? SPACE_STREAM( SPACE_DOUBLES, def->stream64 )
                                      : ( space_stream ){ .kind = space_kind_of( space ) };
}

clv_result clv_space_add_with( clv_space* space, const clv_add_def* def, uint32_t count, clv_id* ids )
{
    CLV_ASSERT( space != NULL && def != NULL );
    if ( !clv_space_enter( space, NULL ) )
    {
        return CLV_BUSY;
    }
    clv_result result = check_new_def( space, def );
    space_stream boxes = { 0 };
    if ( result == CLV_OK )
    {
        boxes = boxes_of( space, def );
        SPACE_TELL(
            space, .kind = SPACE_CALL_ADD_WITH, .count = count, .boxes = &boxes, .with = *def, .made = ids );
        CLV_ASSERT( count == 0 || ( boxes.lower != NULL && boxes.upper != NULL ) );
        result = clv_space_add_all( space, boxes, def, count, ids );
    }
    return clv_space_leave( space, result );
}

// ---- set

static void ask_again( clv_space* space, const clv_id* ids, uint32_t count )
{
    space->filters_changed |= count > 0;
    uint8_t* ask = space->objects.columns[OBJECT_ASK];
    for ( uint32_t i = 0; i < count && ask != NULL; ++i )
    {
        CLV_ASSERT( ids[i].index < space->objects.slot_count );
        ask[ids[i].index] = 1;
    }
}

// Ids and entries; the first bad one of either kind is the one named.
static clv_result check_set( clv_space* space, const clv_id* ids, const clv_add_def* def, uint32_t count )
{
    uint32_t position = 0;
    clv_result ids_result = clv_object_store_check_ids( &space->objects, ids, count, &position );
    CLV_ASSERT( ids_result == CLV_OK || position < count );
    clv_result result = clv_space_check_columns( space, def, ids, ids_result == CLV_OK ? count : position );
    return result != CLV_OK || ids_result == CLV_OK
        ? result
        : clv_space_refuse_id( space, ids_result, position, ids[position] );
}

static clv_result set_entered( clv_space* space, const clv_id* ids, const clv_add_def* def, uint32_t count )
{
    clv_result result = check_set( space, ids, def, count );
    if ( result != CLV_OK )
    {
        return result;
    }
    if ( count > 0 && !clv_space_use_columns( space, def, count ) ) // without entries no column is made
    {
        return clv_space_fail(
            space, CLV_OUT_OF_MEMORY, UINT32_MAX, clv_null_id(), "out of memory for what objects carry" );
    }
    bool grows = has_margins( def ) || def->motions != NULL;
    clv_space_will_change( space, def->motions != NULL && space->objects.motion_is_spent );
    clv_space_will_change_some( space, &( space_owners ){ .ids = ids }, grows ? count : 0 );
    if ( def->motions != NULL )
    {
        clv_space_drop_motions( space );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_space_set_columns( space, def, i, ids[i].index );
    }
    if ( def->filters != NULL )
    {
        ask_again( space, ids, count );
    }
    space->filters_changed |= def->is_static != NULL && count > 0;
    return clv_space_succeed( space );
}

// Values for objects that are there, in the def's columns: all, or none and the first bad entry is named.
static clv_result set(
    clv_space* space, space_call_kind kind, const clv_id* ids, clv_add_def def, uint32_t count )
{
    CLV_ASSERT( space != NULL && ( count == 0 || ids != NULL ) );
    if ( !SPACE_ENTER( space, .kind = kind, .count = count, .ids = ids, .with = def ) )
    {
        return CLV_BUSY;
    }
    return clv_space_leave( space, set_entered( space, ids, &def, count ) );
}

#define SET_DOOR( name, kind, type, column )                                                                 \
    clv_result clv_space_set_##name(                                                                         \
        clv_space* space, const clv_id* ids, const type* column, uint32_t count )                            \
    {                                                                                                        \
        return set( space, SPACE_CALL_SET_##kind, ids, ( clv_add_def ){ .column = column }, count );         \
    }

SET_DOOR( user_data, USER_DATA, uint64_t, user_data )
SET_DOOR( filter, FILTER, clv_filter, filters )
SET_DOOR( margin, MARGIN, float, margins )
SET_DOOR( margin_rule, MARGIN_RULE, clv_margin_rule, margin_rules )
SET_DOOR( static, STATIC, bool, is_static )
SET_DOOR( motion, MOTION, clv_vec3, motions )

clv_result clv_space_refilter( clv_space* space, const clv_id* ids, uint32_t count )
{
    CLV_ASSERT( space != NULL && ( count == 0 || ids != NULL ) );
    if ( !SPACE_ENTER( space, .kind = SPACE_CALL_REFILTER, .count = count, .ids = ids ) )
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

// ---- read

static clv_result check_reading( const clv_space* space, clv_id id )
{
    return object_is_live( &space->objects, id ) ? CLV_OK : CLV_BAD_ID;
}

// An object's entry in a column; while there is none, the value that all have.
static clv_result read_column(
    const clv_space* space, clv_id id, object_column column, const void* common, void* value, size_t size )
{
    const char* items = space->objects.columns[column];
    clv_result result = check_reading( space, id );
    if ( result == CLV_OK )
    {
        memcpy( value, items != NULL ? items + size * id.index : common, size );
    }
    return result;
}

clv_result clv_space_get_user_data( const clv_space* space, clv_id id, uint64_t* value )
{
    const uint64_t common = 0;
    return read_column( space, id, OBJECT_USER_DATA, &common, value, sizeof( common ) );
}

clv_result clv_space_get_filter( const clv_space* space, clv_id id, clv_filter* filter )
{
    const clv_filter common = clv_default_filter();
    return read_column( space, id, OBJECT_FILTER, &common, filter, sizeof( common ) );
}

clv_result clv_space_get_static( const clv_space* space, clv_id id, bool* is_static )
{
    const uint8_t common = 0;
    uint8_t value = 0;
    clv_result result = read_column( space, id, OBJECT_STATIC, &common, &value, sizeof( value ) );
    if ( result == CLV_OK )
    {
        *is_static = value != 0;
    }
    return result;
}

clv_result clv_space_get_margin_rule( const clv_space* space, clv_id id, clv_margin_rule* rule )
{
    clv_result result = check_reading( space, id );
    if ( result == CLV_OK )
    {
        *rule = clv_object_store_margin( &space->objects, id.index );
    }
    return result;
}

clv_result clv_space_get_margin( const clv_space* space, clv_id id, float* margin )
{
    clv_margin_rule rule = { 0 };
    clv_result result = clv_space_get_margin_rule( space, id, &rule );
    if ( result == CLV_OK )
    {
        *margin = rule.fixed;
    }
    return result;
}

clv_result clv_space_get_motion( const clv_space* space, clv_id id, clv_vec3* motion )
{
    clv_result result = check_reading( space, id );
    if ( result == CLV_OK )
    {
        *motion = clv_object_store_motion( &space->objects, id.index );
    }
    return result;
}

// ---- ids

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

// The object that was in the slot at the last good update, if it is still there.
static clv_id id_since( const object_store* objects, uint32_t slot )
{
    CLV_ASSERT( slot < objects->slot_count );
    const uint8_t* renewed = objects->columns[OBJECT_RENEWED];
    clv_id id = { slot, object_generations( objects )[slot] };
    bool is_gone = ( id.generation & 1 ) == 0 || ( renewed != NULL && renewed[slot] != 0 );
    return is_gone ? clv_null_id() : id;
}

clv_result clv_space_pair_ids(
    const clv_space* space, clv_pair_view view, uint64_t first, uint64_t count, clv_id_pair* ids )
{
    CLV_ASSERT( space != NULL && ( count == 0 || ids != NULL ) );
    // By its number, before a pair is read: what a dead view points to may be gone.
    clv_pair_view own = clv_space_pairs( space );
    if ( !own.valid || view.number != own.number || first > own.count || count > own.count - first )
    {
        return CLV_BAD_ARGUMENT;
    }
    for ( uint64_t i = 0; i < count; ++i )
    {
        clv_pair pair = own.pairs[first + i];
        ids[i] = ( clv_id_pair ){ id_since( &space->objects, pair.a ), id_since( &space->objects, pair.b ) };
    }
    return CLV_OK;
}

clv_user_data_view clv_space_user_data( const clv_space* space )
{
    const uint64_t* values = space->objects.columns[OBJECT_USER_DATA];
    return ( clv_user_data_view ){ values, values != NULL ? space->objects.slot_count : 0 };
}
