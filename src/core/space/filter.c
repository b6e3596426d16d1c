// SPDX-License-Identifier: MIT
// Categories, masks and groups; pairs of two static objects; the caller's callback.
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <string.h>

enum
{
    FILTERS_AHEAD = 16
};

static bool skips_static( const clv_space* space )
{
    return space->def.skip_static_pairs && object_store_uses( &space->objects, OBJECT_STATIC );
}

static bool has_callback( const clv_space* space, space_filter_stage stage )
{
    bool sorted_stage = stage == SPACE_FILTER_SORTED;
    return space->def.filter != NULL && space->def.sorted == sorted_stage;
}

// Boxes in double were searched as floats, which touch in more places.
static bool decides_doubles( const clv_space* space, space_filter_stage stage )
{
    return stage == SPACE_FILTER_ARRIVING && space_has_doubles( space );
}

static bool has_columns( const clv_space* space, space_filter_stage stage )
{
    return stage == SPACE_FILTER_ARRIVING &&
        ( object_store_uses( &space->objects, OBJECT_FILTER ) || skips_static( space ) );
}

bool clv_space_has_filter( const clv_space* space, space_filter_stage stage )
{
    return has_columns( space, stage ) || has_callback( space, stage ) || decides_doubles( space, stage );
}

static filter_columns columns_of( const clv_space* space )
{
    const void* statics = space->objects.columns[OBJECT_STATIC];
    return (
        filter_columns ){ space->objects.columns[OBJECT_FILTER], skips_static( space ) ? statics : NULL };
}

// Where the columns alone decide: without a branch on the answer, and with the filters of later pairs on
// their way from memory.
static space_filtered filter_by_columns(
    filter_columns by, const clv_pair* from, uint64_t count, clv_pair* to, uint64_t most )
{
    uint64_t taken = 0, kept = 0;
    for ( ; taken < count && kept < most; ++taken )
    {
        clv_pair pair = from[taken],
                 later = from[taken + FILTERS_AHEAD < count ? taken + FILTERS_AHEAD : taken];
        base_prefetch( by.filters != NULL ? (const void*)&by.filters[later.a] : by.statics + later.a );
        base_prefetch( by.filters != NULL ? (const void*)&by.filters[later.b] : by.statics + later.b );
        to[kept] = pair;
        kept += filter_columns_allow( by, pair.a, pair.b );
    }
    CLV_ASSERT( kept <= taken && kept <= most );
    return ( space_filtered ){ taken, 0, kept };
}

// Where the objects' classes decide, without a branch on the answer. The loop is short enough for the
// processor to have several pairs on their way.
static space_filtered filter_by_classes(
    const filter_classes* classes, const clv_pair* from, uint64_t count, clv_pair* to, uint64_t most )
{
    uint64_t taken = 0, kept = 0;
    for ( ; taken < count && kept < most; ++taken )
    {
        clv_pair pair = from[taken];
        to[kept] = pair;
        kept += filter_classes_allow( classes, pair );
    }
    return ( space_filtered ){ taken, 0, kept };
}

// Are there classes to decide by? Making them is a look at every slot, so as many pairs wait for it, in
// this update or in several.
static bool use_classes( clv_space* space, filter_columns columns, uint64_t count )
{
    filter_classes* classes = &space->filter_classes;
    uint32_t slots = space->objects.slot_count;
    classes->waiting += count;
    if ( classes->count == 0 && !classes->are_many && classes->waiting >= slots )
    {
        clv_space_make_classes( classes, &space->memory, columns, slots );
    }
    return classes->count > 0;
}

// An answer given before stands, unless one of the two objects is new or asked to be asked again.
static clv_result ask_callback( clv_space* space, clv_pair pair, bool remember, bool* allowed )
{
    const uint8_t* ask = space->objects.columns[OBJECT_ASK];
    CLV_ASSERT( space->def.filter != NULL && ( !remember || ask != NULL ) );
    bool known = remember && ask[pair.a] == 0 && ask[pair.b] == 0 &&
        clv_pair_decisions_get( &space->decisions, pair, allowed );
    if ( !known )
    {
        *allowed = space->def.filter( space, pair, space->def.filter_user );
        if ( space->tap != NULL )
        {
            space->tap->decided( space->tap, pair, *allowed );
        }
    }
    if ( remember && !clv_pair_decisions_put( &space->next_decisions, &space->memory, pair, *allowed ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    return CLV_OK;
}

clv_result clv_space_filter( clv_space* space, space_filter_stage stage, bool remember, const clv_pair* from,
    uint64_t count, clv_pair* to, uint64_t most, space_filtered* done )
{
    bool by_columns = has_columns( space, stage );
    bool by_callback = has_callback( space, stage );
    const clv_aabb64* boxes64 = decides_doubles( space, stage ) ? object_boxes64( &space->objects ) : NULL;
    filter_columns columns = columns_of( space );
    if ( by_columns && !by_callback && boxes64 == NULL )
    {
        *done = use_classes( space, columns, count )
            ? filter_by_classes( &space->filter_classes, from, count, to, most )
            : filter_by_columns( columns, from, count, to, most );
        return CLV_OK;
    }
    uint64_t taken = 0, kept = 0, apart = 0;
    if ( !by_columns && !by_callback && boxes64 == NULL )
    {
        taken = kept = count < most ? count : most;
        if ( to != from && kept > 0 )
        {
            memmove( to, from, (size_t)kept * sizeof( clv_pair ) );
        }
    }
    clv_result result = CLV_OK;
    for ( ; taken < count && kept < most && result == CLV_OK; ++taken )
    {
        clv_pair pair = from[taken];
        if ( boxes64 != NULL && !clv_aabb64_overlap( boxes64[pair.a], boxes64[pair.b] ) )
        {
            apart += 1;
            continue;
        }
        bool allowed = !by_columns || filter_columns_allow( columns, pair.a, pair.b );
        if ( allowed && by_callback )
        {
            result = ask_callback( space, pair, remember, &allowed );
        }
        to[kept] = pair;
        kept += allowed && result == CLV_OK;
    }
    CLV_ASSERT( kept + apart <= taken && taken <= count && kept <= most );
    *done = ( space_filtered ){ taken, apart, kept };
    space->in_vain_count += apart;
    return result;
}

void clv_space_filter_commit( clv_space* space )
{
    if ( space->def.filter == NULL )
    {
        return;
    }
    CLV_ASSERT( space->objects.columns[OBJECT_ASK] != NULL );
    pair_keys swap = space->decisions;
    space->decisions = space->next_decisions;
    space->next_decisions = swap;
    memset( space->objects.columns[OBJECT_ASK], 0, space->objects.slot_count );
}
