// SPDX-License-Identifier: MIT
#include "method_driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- a method on its own

const kd_variant kd_variants[] = {
    { "ray-kd", "ray.leaf=4" },
    { "kd-rebuilt", "kd.leaf=8" },
    { "kd-complete", "kd.leaf=8" },
    { "kd-incremental", "kd.leaf=8" },
    { "kd-incremental", "kd.leaf=8,kd.query=0" },
    { "kd-incremental", "kd.leaf=1,kd.query=1,kd.epsilon=0" },
    { "kd-incremental", "kd.leaf=30,kd.sap=0,kd.epsilon=0.3" },
    { "kd", "kd.leaf=8" },
    { "kd", "kd.leaf=40,kd.static=0.1,kd.query=0" },
    { "kd-complete", "kd.tree=0" },
    { "kd-complete", "kd.sap=0,kd.leaf=16" },
    { "kd-complete", "kd.sap=0,kd.tree=0" },
    { "kd-paper-rebuilt", "kd.leaf=8" },
    { "kd-paper-complete", "kd.leaf=8" },
    { "kd-paper-incremental", "kd.leaf=8" },
    { "kd-paper-incremental", "kd.leaf=30,kd.epsilon=0.3,kd.speed=0.05" },
    { "kd-paper", "kd.leaf=8" },
    { "kd-paper", "kd.leaf=1,kd.static=0.1,kd.simd=0" },
};
const uint32_t kd_variant_count = (uint32_t)TEST_COUNT( kd_variants );

static clv_result list_make_room( clv_pair_sink* sink )
{
    driver_list* list = (driver_list*)sink;
    if ( sink->count > list->limit )
    {
        return CLV_TOO_MANY_PAIRS;
    }
    // As little as allowed where a refusal is to come, so that it comes early.
    sink->capacity = list->limit == UINT64_MAX ? sink->capacity * 2 + 256 : sink->count + CLV_PAIR_SINK_ROOM;
    sink->pairs = realloc( sink->pairs, sink->capacity * sizeof( clv_pair ) );
    CHECK( sink->pairs != NULL );
    return CLV_OK;
}

void driver_open( method_driver* r, const char* name, const char* settings, clv_isa isa )
{
    memset( r, 0, sizeof( *r ) );
    char text[256];
    r->row = clv_method_find( name );
    CHECK( r->row != NULL );
    r->isa = isa;
    r->memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    r->context = clv_method_host_context( &r->memory, &r->tasks, isa, &r->reasons );
    CHECK( clv_method_parse_settings( r->row, settings, r->context.params, text, sizeof( text ) ) );
    r->state = r->row->create( &r->context );
    CHECK( r->state != NULL );
    r->list.sink.make_room = list_make_room;
    r->list.limit = UINT64_MAX;
}

void driver_close( method_driver* r )
{
    r->row->destroy( r->state );
    CHECK_EQUAL( r->memory.bytes, 0 );
    free( r->list.sink.pairs );
}

double driver_figure( method_driver* r, const char* name )
{
    clv_method_figure figures[128];
    uint32_t count = r->row->report( r->state, figures, 128 );
    CHECK( count <= 128 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( strcmp( figures[i].name, name ) == 0 )
        {
            return figures[i].value;
        }
    }
    test_fail( __FILE__, __LINE__, "no figure '%s'", name );
    return 0;
}

// Which boxes moved since the last good update; now and then unknown, and now and then too many.
static const uint64_t* find_moved( method_driver* r, const crowd* s )
{
    memset( r->moved, 0, sizeof( r->moved ) );
    for ( uint32_t slot = 0; slot < CROWD_OBJECTS; ++slot )
    {
        bool same = memcmp( &r->last[slot], &s->boxes[slot], sizeof( clv_aabb ) ) == 0;
        bool hinted = !same || ( r->update_count % 4 == 1 && slot % 5 == 0 );
        r->moved[slot / 64] |= (uint64_t)hinted << ( slot % 64 );
    }
    bool known = r->row->wants_moved && r->update_count > 0 && r->update_count % 3 != 0 && !s->changed;
    return known ? r->moved : NULL;
}

clv_result driver_update( method_driver* r, const crowd* s )
{
    clv_method_counters counters = { 0 };
    bool whole = s->live_count == CROWD_OBJECTS;
    clv_method_input input = { sizeof( clv_method_input ), s->boxes, whole ? NULL : s->live, s->live_count,
        CROWD_OBJECTS, s->changed, find_moved( r, s ), false, UINT64_MAX };
    r->list.sink.count = 0;
    clv_result result = r->row->update( r->state, &input, &r->list.sink, &counters );
    if ( result == CLV_OK )
    {
        memcpy( r->last, s->boxes, sizeof( r->last ) );
        r->update_count += 1;
    }
    return result;
}

uint64_t driver_judge( method_driver* r, const crowd* s, uint64_t expected, uint64_t expected_count )
{
    test_where.method = r->row->name;
    test_where.isa = r->isa;
    CHECK_OK( driver_update( r, s ) );
    CHECK_EQUAL( r->list.sink.count, expected_count );
    CHECK_EQUAL( test_set_hash( r->list.sink.pairs, r->list.sink.count ), expected );
    char text[256] = "";
    if ( !r->row->check( r->state, text, sizeof( text ) ) )
    {
        test_fail( __FILE__, __LINE__, "%s", text );
    }
    return test_order_hash( r->list.sink.pairs, r->list.sink.count );
}

void driver_judge_next( method_driver* r, crowd* s, uint32_t frame )
{
    test_where.frame = frame;
    uint64_t count;
    uint64_t expected = crowd_hash( s, &count );
    driver_judge( r, s, expected, count );
    s->changed = false;
}

// ---- a crowd that moves

clv_aabb crowd_box( crowd* s )
{
    return test_cube( test_random_between( &s->random, -12, 12 ), test_random_between( &s->random, -12, 12 ),
        test_random_between( &s->random, -12, 12 ), test_random_between( &s->random, 0.3f, 1.2f ) );
}

clv_aabb crowd_moved( clv_aabb box, float x, float y, float z )
{
    return test_box( box.lower.x + x, box.lower.y + y, box.lower.z + z, box.upper.x + x, box.upper.y + y,
        box.upper.z + z );
}

void crowd_list( crowd* s )
{
    s->live_count = 0;
    for ( uint32_t slot = 0; slot < CROWD_OBJECTS; ++slot )
    {
        if ( s->alive[slot] )
        {
            s->live[s->live_count++] = slot;
        }
        else
        {
            s->boxes[slot] = test_box( NAN, NAN, NAN, NAN, NAN, NAN );
        }
    }
}

void crowd_open( crowd* s, uint64_t seed )
{
    s->random = test_random_make( seed );
    for ( uint32_t slot = 0; slot < CROWD_OBJECTS; ++slot )
    {
        s->alive[slot] = true;
        s->boxes[slot] = crowd_box( s );
    }
    s->changed = true;
    crowd_list( s );
}

void crowd_jitter( crowd* s, uint32_t percent, float by )
{
    for ( uint32_t i = 0; i < s->live_count; ++i )
    {
        if ( test_random_chance( &s->random, percent ) )
        {
            clv_aabb* box = &s->boxes[s->live[i]];
            *box = crowd_moved( *box, test_random_between( &s->random, -by, by ),
                test_random_between( &s->random, -by, by ), test_random_between( &s->random, -by, by ) );
        }
    }
}

void crowd_scatter( crowd* s )
{
    for ( uint32_t i = 0; i < s->live_count; ++i )
    {
        s->boxes[s->live[i]] = crowd_box( s );
    }
}

uint64_t crowd_hash( const crowd* s, uint64_t* count )
{
    uint64_t hash = 0;
    *count = 0;
    for ( uint32_t i = 0; i < s->live_count; ++i )
    {
        for ( uint32_t j = i + 1; j < s->live_count; ++j )
        {
            clv_pair pair = { s->live[i], s->live[j] };
            if ( clv_aabb_overlap( s->boxes[pair.a], s->boxes[pair.b] ) )
            {
                hash += test_set_hash( &pair, 1 );
                *count += 1;
            }
        }
    }
    return hash;
}
