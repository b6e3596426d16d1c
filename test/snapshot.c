// SPDX-License-Identifier: MIT
// All a caller can see of a space, copied, so that a refused call can be shown to have changed nothing.
#include "support.h"

#include <stdlib.h>
#include <string.h>

static void take_columns( test_snapshot* snapshot, const clv_space* space )
{
    for ( uint32_t slot = 0; slot < snapshot->stats.slot_count; ++slot )
    {
        clv_id id = clv_space_id_at( space, slot );
        snapshot->ids[slot] = id;
        if ( clv_id_is_null( id ) )
        {
            continue;
        }
        CHECK( clv_space_contains( space, id ) );
        CHECK_OK( clv_space_get_box( space, id, &snapshot->boxes[slot] ) );
        CHECK_OK( clv_space_get_margin_rule( space, id, &snapshot->margins[slot] ) );
        CHECK_OK( clv_space_get_motion( space, id, &snapshot->motions[slot] ) );
        CHECK_OK( clv_space_get_filter( space, id, &snapshot->filters[slot] ) );
        CHECK_OK( clv_space_get_static( space, id, &snapshot->statics[slot] ) );
        CHECK_OK( clv_space_get_user_data( space, id, &snapshot->user_data[slot] ) );
    }
}

test_snapshot test_snapshot_take( const clv_space* space )
{
    test_snapshot snapshot = { .stats = clv_space_stats( space ) };
    size_t slots = snapshot.stats.slot_count;
    snapshot.ids = test_alloc( slots, sizeof( clv_id ) );
    snapshot.boxes = test_alloc( slots, sizeof( clv_aabb ) );
    snapshot.margins = test_alloc( slots, sizeof( clv_margin_rule ) );
    snapshot.motions = test_alloc( slots, sizeof( clv_vec3 ) );
    snapshot.filters = test_alloc( slots, sizeof( clv_filter ) );
    snapshot.statics = test_alloc( slots, sizeof( bool ) );
    snapshot.user_data = test_alloc( slots, sizeof( uint64_t ) );
    take_columns( &snapshot, space );

    snapshot.pairs = clv_space_pairs( space );
    snapshot.pairs.pairs =
        test_copy( snapshot.pairs.pairs, (size_t)snapshot.pairs.count, sizeof( clv_pair ) );
    snapshot.events = clv_space_events( space );
    snapshot.events.begun =
        test_copy( snapshot.events.begun, (size_t)snapshot.events.begun_count, sizeof( clv_id_pair ) );
    snapshot.events.ended =
        test_copy( snapshot.events.ended, (size_t)snapshot.events.ended_count, sizeof( clv_id_pair ) );
    return snapshot;
}

void test_snapshot_free( test_snapshot* snapshot )
{
    free( snapshot->ids );
    free( snapshot->boxes );
    free( snapshot->margins );
    free( snapshot->motions );
    free( snapshot->filters );
    free( snapshot->statics );
    free( snapshot->user_data );
    free( (void*)(uintptr_t)snapshot->pairs.pairs );
    free( (void*)(uintptr_t)snapshot->events.begun );
    free( (void*)(uintptr_t)snapshot->events.ended );
    memset( snapshot, 0, sizeof( *snapshot ) );
}

// Bit by bit: -0 in place of 0 would be a change too.
#define CHECK_SAME( a, b, count )                                                                            \
    CHECK( ( count ) == 0 || memcmp( a, b, (size_t)( count ) * sizeof( *( a ) ) ) == 0 )

static void check_filters( const test_snapshot* before, const test_snapshot* after )
{
    for ( uint32_t slot = 0; slot < before->stats.slot_count; ++slot )
    {
        CHECK_EQUAL( after->filters[slot].category, before->filters[slot].category );
        CHECK_EQUAL( after->filters[slot].mask, before->filters[slot].mask );
        CHECK_EQUAL( after->filters[slot].group, before->filters[slot].group );
    }
}

static void check_objects( const test_snapshot* before, const test_snapshot* after )
{
    CHECK_EQUAL( after->stats.object_count, before->stats.object_count );
    CHECK_EQUAL( after->stats.slot_count, before->stats.slot_count );
    uint32_t slots = before->stats.slot_count;
    CHECK_SAME( before->ids, after->ids, slots );
    CHECK_SAME( before->boxes, after->boxes, slots );
    CHECK_SAME( before->margins, after->margins, slots );
    CHECK_SAME( before->motions, after->motions, slots );
    CHECK_SAME( before->statics, after->statics, slots );
    CHECK_SAME( before->user_data, after->user_data, slots );
    check_filters( before, after );
}

void test_snapshot_check_objects( const test_snapshot* before, const clv_space* space )
{
    test_snapshot after = test_snapshot_take( space );
    check_objects( before, &after );
    CHECK_EQUAL( clv_space_object_count( space ), before->stats.object_count );
    test_snapshot_free( &after );
}

void test_snapshot_check( const test_snapshot* before, const clv_space* space )
{
    test_snapshot after = test_snapshot_take( space );
    check_objects( before, &after );
    CHECK_EQUAL( after.pairs.valid, before->pairs.valid );
    CHECK_EQUAL( after.pairs.count, before->pairs.count );
    CHECK_SAME( before->pairs.pairs, after.pairs.pairs, before->pairs.count );
    CHECK_EQUAL( after.events.begun_count, before->events.begun_count );
    CHECK_EQUAL( after.events.ended_count, before->events.ended_count );
    CHECK_SAME( before->events.begun, after.events.begun, before->events.begun_count );
    CHECK_SAME( before->events.ended, after.events.ended, before->events.ended_count );
    CHECK_EQUAL( after.stats.pair_count, before->stats.pair_count );
    CHECK_EQUAL( after.stats.candidate_count, before->stats.candidate_count );
    CHECK_EQUAL( after.stats.test_count, before->stats.test_count );
    CHECK_EQUAL( after.stats.begun_count, before->stats.begun_count );
    CHECK_EQUAL( after.stats.ended_count, before->stats.ended_count );
    CHECK_EQUAL( after.stats.update_count, before->stats.update_count );
    test_snapshot_free( &after );
}
