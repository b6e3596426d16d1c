// SPDX-License-Identifier: MIT
#include "space_group.h"

#include <stdlib.h>
#include <string.h>

// The oracle's rule behind the library's callback; `user` is the rule's box, because functions fit no void*.
typedef struct accept_box
{
    oracle_accept* accept;
} accept_box;

static accept_box s_accept;

static bool ask_accept( const clv_space* space, clv_pair pair, void* user )
{
    const accept_box* box = user;
    uint64_t value_a = 0;
    uint64_t value_b = 0;
    CHECK( pair.a < pair.b );
    CHECK_OK( clv_space_get_user_data( space, clv_space_id_at( space, pair.a ), &value_a ) );
    CHECK_OK( clv_space_get_user_data( space, clv_space_id_at( space, pair.b ), &value_b ) );
    return box->accept( value_a, value_b );
}

void space_group_open( space_group* all, const clv_space_def* def, oracle_accept* accept )
{
    clv_space_def own = def != NULL ? *def : clv_default_space_def();
    if ( accept != NULL )
    {
        s_accept.accept = accept;
        own.filter = ask_accept;
        own.filter_user = &s_accept;
    }
    oracle_open( &all->world, &own, accept );
    all->count = test_variant_count();
    all->spaces = test_alloc( all->count, sizeof( *all->spaces ) );
    for ( uint32_t i = 0; i < all->count; ++i )
    {
        all->spaces[i] = test_space_make( test_variant_at( i ), &own );
    }
}

void space_group_close( space_group* all )
{
    for ( uint32_t i = 0; i < all->count; ++i )
    {
        test_variant_enter( test_variant_at( i ) );
        clv_space_destroy( all->spaces[i] );
    }
    free( all->spaces );
    oracle_close( &all->world );
    memset( all, 0, sizeof( *all ) );
}

// One call on every space, each of which must answer CLV_OK.
#define ON_ALL( all, call )                                                                                  \
    do                                                                                                       \
    {                                                                                                        \
        for ( uint32_t variant = 0; variant < ( all )->count; ++variant )                                    \
        {                                                                                                    \
            clv_space* space = ( all )->spaces[variant];                                                     \
            test_variant_enter( test_variant_at( variant ) );                                                \
            test_check_result( call, CLV_OK, #call, space, __FILE__, __LINE__ );                             \
        }                                                                                                    \
    } while ( 0 )

void space_group_add( space_group* all, const clv_aabb* boxes, uint32_t count, clv_id* ids )
{
    clv_id* first = test_alloc( count, sizeof( clv_id ) );
    clv_id* given = test_alloc( count, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < all->count; ++i )
    {
        test_variant_enter( test_variant_at( i ) );
        CHECK_OK( clv_space_add( all->spaces[i], boxes, count, i == 0 ? first : given ) );
        CHECK( i == 0 || count == 0 || memcmp( first, given, count * sizeof( clv_id ) ) == 0 );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        oracle_add( &all->world, first[i], boxes[i] );
    }
    if ( ids != NULL && count != 0 )
    {
        memcpy( ids, first, count * sizeof( clv_id ) );
    }
    free( first );
    free( given );
}

void space_group_move( space_group* all, const clv_id* ids, const clv_aabb* boxes, uint32_t count )
{
    ON_ALL( all, clv_space_move( space, ids, boxes, count ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        oracle_find( &all->world, ids[i] )->box = boxes[i];
    }
}

void space_group_remove( space_group* all, const clv_id* ids, uint32_t count )
{
    ON_ALL( all, clv_space_remove( space, ids, count ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        oracle_remove( &all->world, ids[i] );
    }
}

void space_group_clear( space_group* all )
{
    for ( uint32_t i = 0; i < all->count; ++i )
    {
        test_variant_enter( test_variant_at( i ) );
        clv_space_clear( all->spaces[i] );
        CHECK( !clv_space_pairs( all->spaces[i] ).valid );
        CHECK_EQUAL( clv_space_pairs( all->spaces[i] ).count, 0 );
        CHECK_EQUAL( clv_space_object_count( all->spaces[i] ), 0 );
    }
    oracle_clear( &all->world );
}

void space_group_set_margin( space_group* all, const clv_id* ids, const float* margins, uint32_t count )
{
    ON_ALL( all, clv_space_set_margin( space, ids, margins, count ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        oracle_object* object = oracle_find( &all->world, ids[i] );
        object->margin = margins[i];
        object->by_size = object->by_speed = 0;
    }
}

void space_group_set_margin_rule(
    space_group* all, const clv_id* ids, const clv_margin_rule* rules, uint32_t count )
{
    ON_ALL( all, clv_space_set_margin_rule( space, ids, rules, count ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        oracle_object* object = oracle_find( &all->world, ids[i] );
        object->margin = rules[i].fixed;
        object->by_size = rules[i].by_size;
        object->by_speed = rules[i].by_speed;
    }
}

void space_group_set_motion( space_group* all, const clv_id* ids, const clv_vec3* motions, uint32_t count )
{
    ON_ALL( all, clv_space_set_motion( space, ids, motions, count ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        oracle_find( &all->world, ids[i] )->motion = motions[i];
    }
}

void space_group_set_filter( space_group* all, const clv_id* ids, const clv_filter* filters, uint32_t count )
{
    ON_ALL( all, clv_space_set_filter( space, ids, filters, count ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        oracle_find( &all->world, ids[i] )->filter = filters[i];
    }
}

void space_group_set_static( space_group* all, const clv_id* ids, const bool* is_static, uint32_t count )
{
    ON_ALL( all, clv_space_set_static( space, ids, is_static, count ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        oracle_find( &all->world, ids[i] )->is_static = is_static[i];
    }
}

void space_group_refilter( space_group* all, const clv_id* ids, uint32_t count )
{
    ON_ALL( all, clv_space_refilter( space, ids, count ) );
}

void space_group_set_user_data( space_group* all, const clv_id* ids, const uint64_t* values, uint32_t count )
{
    ON_ALL( all, clv_space_set_user_data( space, ids, values, count ) );
    space_group_refilter( all, ids, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        oracle_find( &all->world, ids[i] )->user_data = values[i];
    }
}

void space_group_shrink( space_group* all )
{
    ON_ALL( all, clv_space_shrink( space ) );
}

static void check_order( const space_group* all )
{
    const clv_method* current = NULL;
    uint64_t expected = 0;
    for ( uint32_t i = 0; i < all->count; ++i )
    {
        test_variant variant = test_variant_at( i );
        test_variant_enter( variant );
        clv_pair_view view = clv_space_pairs( all->spaces[i] );
        uint64_t hash = test_order_hash( view.pairs, view.count );
        if ( variant.method != current )
        {
            current = variant.method;
            expected = hash;
        }
        CHECK_EQUAL( hash, expected );
    }
}

void space_group_update( space_group* all )
{
    oracle_update( &all->world );
    for ( uint32_t i = 0; i < all->count; ++i )
    {
        test_variant_enter( test_variant_at( i ) );
        test_check_result(
            clv_space_update( all->spaces[i] ), CLV_OK, "update", all->spaces[i], __FILE__, __LINE__ );
        CHECK_RESULT( clv_space_error( all->spaces[i] ).code, CLV_OK );
        oracle_check( &all->world, all->spaces[i] );
    }
    check_order( all );
}

void space_group_check_objects( space_group* all )
{
    for ( uint32_t i = 0; i < all->count; ++i )
    {
        test_variant_enter( test_variant_at( i ) );
        oracle_check_objects( &all->world, all->spaces[i] );
    }
}

void space_group_expect( space_group* all, const clv_pair* pairs, uint32_t count )
{
    space_group_update( all );
    // The oracle must know it too: a rule read wrong here would otherwise be read wrong everywhere.
    CHECK_EQUAL( all->world.pair_count, count );
    CHECK( count == 0 || memcmp( all->world.pairs, pairs, count * sizeof( clv_pair ) ) == 0 );
}
