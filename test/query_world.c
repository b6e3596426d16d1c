// SPDX-License-Identifier: MIT
#include "query_world.h"

#include "query/query_shape.h"
#include "query_lists.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MOST_K = 40, // more than the kernels do by themselves
};

// ---- the world

query_world* query_world_make( const clv_space_def* def, test_crowd crowd, uint32_t count, uint64_t seed )
{
    query_world* world = test_alloc( 1, sizeof( query_world ) );
    memset( world, 0, sizeof( *world ) );
    CHECK_OK( clv_space_create( def, &world->space ) );
    world->random = test_random_make( seed );
    world->crowd = crowd;
    world->count = count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        world->given[i] = test_crowd_box( crowd, count, &world->random );
        world->margins[i] = def->margin;
        world->filters[i] = clv_default_filter();
        world->is_there[i] = true;
    }
    world->has_margins = def->margin > 0;
    CHECK_OK( clv_space_add( world->space, world->given, count, world->ids ) );
    return world;
}

void query_world_free( query_world* world )
{
    clv_space_destroy( world->space );
    free( world );
}

void query_world_see( query_world* world )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        world->is_seen[i] = world->is_there[i];
        world->seen_given[i] = world->given[i];
        world->seen_box[i] = clv_aabb_grow( world->given[i], world->margins[i] );
    }
}

void query_world_set_margins( query_world* world )
{
    world->has_margins = true;
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        if ( world->is_there[i] && test_random_chance( &world->random, 60 ) )
        {
            world->margins[i] = test_random_between( &world->random, 0, 0.7f );
            CHECK_OK( clv_space_set_margin( world->space, &world->ids[i], &world->margins[i], 1 ) );
        }
    }
}

static clv_filter some_filter( test_random* random )
{
    clv_filter filter = { 1u << test_random_below( random, 3 ), 1 + test_random_below( random, 7 ), 0 };
    filter.group = test_random_chance( random, 30 ) ? (int32_t)test_random_below( random, 5 ) - 2 : 0;
    return filter;
}

void query_world_set_filters( query_world* world )
{
    world->has_filters = true;
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        if ( world->is_there[i] )
        {
            world->filters[i] = some_filter( &world->random );
            CHECK_OK( clv_space_set_filter( world->space, &world->ids[i], &world->filters[i], 1 ) );
        }
    }
}

static void add_some( query_world* world, uint32_t count )
{
    for ( uint32_t i = 0; i < count && world->count < QUERY_WORLD_MOST; ++i )
    {
        clv_aabb box = test_crowd_box( world->crowd, world->count + 1, &world->random );
        clv_id id;
        CHECK_OK( clv_space_add_one( world->space, box, &id ) );
        if ( id.index >= world->count )
        {
            CHECK_EQUAL( id.index, world->count );
            world->count += 1;
        }
        world->ids[id.index] = id;
        world->given[id.index] = box;
        world->margins[id.index] = 0;
        world->filters[id.index] = clv_default_filter();
        world->is_there[id.index] = true;
    }
}

void query_world_change( query_world* world )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        if ( !world->is_there[i] )
        {
            continue;
        }
        if ( test_random_chance( &world->random, 4 ) )
        {
            CHECK_OK( clv_space_remove_one( world->space, world->ids[i] ) );
            world->is_there[i] = world->is_seen[i] = false;
        }
        else if ( test_random_chance( &world->random, 40 ) )
        {
            world->given[i] = test_crowd_step( world->crowd, world->given[i], &world->random );
            CHECK_OK( clv_space_move_one( world->space, world->ids[i], world->given[i] ) );
        }
    }
    if ( test_random_chance( &world->random, 50 ) )
    {
        add_some( world, test_random_below( &world->random, 9 ) );
    }
}

static void move_to( query_world* world, uint32_t slot, clv_aabb box )
{
    world->given[slot] = box;
    CHECK_OK( clv_space_move_one( world->space, world->ids[slot], box ) );
}

void query_world_change_one( query_world* world )
{
    test_random* random = &world->random;
    uint32_t slot = test_random_below( random, world->count ), chance = test_random_below( random, 100 );
    if ( !world->is_there[slot] || chance < 20 )
    {
        add_some( world, 1 );
    }
    else if ( chance < 35 )
    {
        CHECK_OK( clv_space_remove_one( world->space, world->ids[slot] ) );
        world->is_there[slot] = world->is_seen[slot] = false;
    }
    else if ( chance < 45 && world->has_margins )
    {
        world->margins[slot] = test_random_between( random, 0, 0.7f );
        CHECK_OK( clv_space_set_margin( world->space, &world->ids[slot], &world->margins[slot], 1 ) );
    }
    else if ( chance < 65 )
    {
        move_to( world, slot, test_crowd_box( world->crowd, world->count, random ) );
    }
    else
    {
        move_to( world, slot, test_crowd_step( world->crowd, world->given[slot], random ) );
    }
}

// ---- items

static float real( float value )
{
    return value - value == 0 ? value : 0.0f;
}

static clv_vec3 real_vec( clv_vec3 v )
{
    clv_vec3 r = { real( v.x ), real( v.y ), real( v.z ) };
    return r;
}

static clv_aabb some_box( query_world* world )
{
    clv_aabb box = test_crowd_box( world->crowd, world->count + 1, &world->random );
    if ( world->count > 0 && test_random_chance( &world->random, 50 ) )
    {
        box = world->given[test_random_below( &world->random, world->count )];
    }
    return box;
}

static float some_size( query_world* world )
{
    clv_aabb box = some_box( world );
    float side = fabsf( real( box.upper.x - box.lower.x ) ) * test_random_between( &world->random, 0, 3 );
    return real( side );
}

// Along an axis, along none, or somewhere.
static clv_vec3 some_direction( query_world* world )
{
    test_random* random = &world->random;
    clv_vec3 d = { test_random_between( random, -1, 1 ), test_random_between( random, -1, 1 ),
        test_random_between( random, -1, 1 ) };
    for ( int axis = 0; axis < 3; ++axis )
    {
        float* at = &d.x + axis;
        *at = test_random_chance( random, 15 ) ? 0.0f : *at;
        *at = test_random_chance( random, 3 ) ? -0.0f : *at;
    }
    float length = some_size( world ) * 4;
    clv_vec3 scaled = { real( d.x * length ), real( d.y * length ), real( d.z * length ) };
    return test_random_chance( random, 50 ) ? d : scaled;
}

static float some_end( query_world* world )
{
    return test_random_chance( &world->random, 50 ) ? INFINITY : test_random_between( &world->random, 0, 20 );
}

static void some_planes( query_world* world, clv_plane* planes )
{
    clv_vec3 at = real_vec( some_box( world ).lower );
    for ( int i = 0; i < QUERY_ITEM_PLANES; ++i )
    {
        clv_vec3 n = real_vec( some_direction( world ) );
        planes[i].normal = n;
        planes[i].offset = real( n.x * at.x + n.y * at.y + n.z * at.z ) + some_size( world );
    }
}

query_item_any query_world_item( query_world* world, clv_query_kind kind, clv_plane* planes )
{
    query_item_any item;
    memset( &item, 0, sizeof( item ) );
    test_random* random = &world->random;
    clv_aabb box = some_box( world ), other = some_box( world );
    clv_vec3 at = real_vec( box.lower ), end = real_vec( other.upper );
    float radius = some_size( world );
    switch ( kind )
    {
    case CLV_QUERY_POINT: item.point = test_random_chance( random, 50 ) ? box.lower : box.upper; break;
    case CLV_QUERY_BOX: item.box = box; break;
    case CLV_QUERY_SPHERE: item.sphere = ( clv_sphere ){ at, radius }; break;
    case CLV_QUERY_NEIGHBOURHOOD: item.around = ( clv_neighbourhood ){ box, radius }; break;
    case CLV_QUERY_CAPSULE: item.capsule = ( clv_capsule ){ at, end, radius }; break;
    case CLV_QUERY_ORIENTED_BOX:
        item.turned = ( clv_oriented_box ){ at, { radius, some_size( world ), some_size( world ) },
            { test_random_between( random, -1, 1 ), test_random_between( random, -1, 1 ),
                test_random_between( random, -1, 1 ), test_random_between( random, -1, 1 ) } };
        if ( test_random_chance( random, 25 ) )
        {
            memset( &item.turned.rotation, 0, sizeof( item.turned.rotation ) );
        }
        break;
    case CLV_QUERY_HALF_SPACES:
        some_planes( world, planes );
        item.half_spaces = ( clv_half_spaces ){ planes, test_random_below( random, QUERY_ITEM_PLANES + 1 ) };
        break;
    case CLV_QUERY_RAY: item.ray = ( clv_ray ){ at, some_direction( world ), some_end( world ) }; break;
    case CLV_QUERY_BOX_CAST:
        item.box_cast = ( clv_box_cast ){ { at, { at.x + radius, at.y + radius, at.z + some_size( world ) } },
            some_direction( world ), some_end( world ) };
        item.box_cast.box.upper = real_vec( item.box_cast.box.upper );
        if ( !clv_aabb_is_valid( item.box_cast.box ) )
        {
            item.box_cast.box = ( clv_aabb ){ at, at };
        }
        break;
    case CLV_QUERY_SPHERE_CAST:
        item.sphere_cast = ( clv_sphere_cast ){ { at, radius }, some_direction( world ), some_end( world ) };
        break;
    default:
        item.capsule_cast =
            ( clv_capsule_cast ){ { at, end, radius }, some_direction( world ), some_end( world ) };
        break;
    }
    return item;
}

size_t query_item_size( clv_query_kind kind )
{
    static const size_t sizes[QUERY_KINDS + 1] = { 0, sizeof( clv_vec3 ), sizeof( clv_aabb ),
        sizeof( clv_sphere ), sizeof( clv_neighbourhood ), sizeof( clv_capsule ), sizeof( clv_oriented_box ),
        sizeof( clv_half_spaces ), sizeof( clv_ray ), sizeof( clv_box_cast ), sizeof( clv_sphere_cast ),
        sizeof( clv_capsule_cast ) };
    return sizes[kind];
}

// ---- brute force

// The slabs of query.h, written out once more.
static bool slabs_meet( clv_aabb mover, clv_vec3 motion, float max_t, clv_aabb box, float* t )
{
    float entry = 0, exit = max_t < FLT_MAX ? max_t : FLT_MAX;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float d = ( &motion.x )[axis];
        float low = ( &box.lower.x )[axis] - ( &mover.upper.x )[axis];
        float high = ( &box.upper.x )[axis] - ( &mover.lower.x )[axis];
        if ( d == 0 )
        {
            if ( !( ( &box.lower.x )[axis] <= ( &mover.upper.x )[axis] &&
                     ( &mover.lower.x )[axis] <= ( &box.upper.x )[axis] ) )
            {
                return false;
            }
            continue;
        }
        float inverse = 1.0f / d;
        float first = ( d > 0 ? low : high ) * inverse, last = ( d > 0 ? high : low ) * inverse;
        entry = first > entry ? first : entry;
        exit = last < exit ? last : exit;
    }
    *t = entry;
    return entry <= exit;
}

static double gap( double lower, double upper, double other_lower, double other_upper )
{
    double above = other_lower - upper, below = lower - other_upper;
    return above > 0 ? above : below > 0 ? below : 0;
}

static double square_of_gap( clv_aabb a, clv_aabb b )
{
    double x = gap( (double)a.lower.x, (double)a.upper.x, (double)b.lower.x, (double)b.upper.x );
    double y = gap( (double)a.lower.y, (double)a.upper.y, (double)b.lower.y, (double)b.upper.y );
    double z = gap( (double)a.lower.z, (double)a.upper.z, (double)b.lower.z, (double)b.upper.z );
    return x * x + y * y + z * z;
}

static bool near_enough( clv_aabb a, clv_aabb b, float distance, float* t )
{
    double square = square_of_gap( a, b );
    *t = (float)sqrt( square );
    return square <= (double)distance * (double)distance;
}

static bool planes_meet( const clv_half_spaces* h, clv_aabb box )
{
    for ( uint32_t i = 0; i < h->count; ++i )
    {
        clv_vec3 n = h->planes[i].normal;
        double least = 0;
        for ( int axis = 0; axis < 3; ++axis )
        {
            double m = (double)( &n.x )[axis];
            least += m == 0 ? 0 : m * (double)( m > 0 ? ( &box.lower.x )[axis] : ( &box.upper.x )[axis] );
        }
        if ( least > (double)h->planes[i].offset )
        {
            return false;
        }
    }
    return true;
}

static query_capsule doubles( clv_capsule c )
{
    query_capsule r = { { (double)c.a.x, (double)c.a.y, (double)c.a.z },
        { (double)c.b.x, (double)c.b.y, (double)c.b.z }, (double)c.radius };
    return r;
}

// By the library's own test of one shape and one box, which has tests of its own.
static bool capsule_hits( clv_capsule capsule, clv_vec3 motion, float max_t, clv_aabb box, float* t )
{
    query_capsule c = doubles( capsule );
    double way[3] = { (double)motion.x, (double)motion.y, (double)motion.z }, time = 0;
    double end = max_t < FLT_MAX ? (double)max_t : (double)FLT_MAX;
    const clv_aabb64 seen = query_widen( &box );
    bool is_met = clv_query_capsule_cast( &c, way, end, &seen, &time );
    *t = (float)time;
    return is_met;
}

static bool turned_meets( const clv_oriented_box* turned, clv_aabb box )
{
    const clv_quat* q = &turned->rotation;
    const double turn[4] = { (double)q->x, (double)q->y, (double)q->z, (double)q->w };
    const double half[3] = { (double)turned->half_size.x, (double)turned->half_size.y,
        (double)turned->half_size.z };
    const double center[3] = { (double)turned->center.x, (double)turned->center.y, (double)turned->center.z };
    const clv_aabb64 seen = query_widen( &box ), from = query_box_from( &seen, center );
    query_turned_box t = clv_query_turn( half, turn );
    return clv_query_turned_box_faces_meet( &t, &from ) && clv_query_turned_box_edges_meet( &t, &from );
}

static bool item_meets( clv_query_kind kind, const query_item_any* item, clv_aabb box, float* t )
{
    *t = 0;
    switch ( kind )
    {
    case CLV_QUERY_POINT: return clv_aabb_overlap( ( clv_aabb ){ item->point, item->point }, box );
    case CLV_QUERY_BOX: return clv_aabb_overlap( item->box, box );
    case CLV_QUERY_SPHERE:
        return near_enough(
            ( clv_aabb ){ item->sphere.center, item->sphere.center }, box, item->sphere.radius, t );
    case CLV_QUERY_NEIGHBOURHOOD: return near_enough( item->around.box, box, item->around.distance, t );
    case CLV_QUERY_CAPSULE:
    {
        query_capsule c = doubles( item->capsule );
        const clv_aabb64 seen = query_widen( &box );
        return clv_query_capsule_meets( &c, &seen );
    }
    case CLV_QUERY_ORIENTED_BOX: return turned_meets( &item->turned, box );
    case CLV_QUERY_HALF_SPACES: return planes_meet( &item->half_spaces, box );
    case CLV_QUERY_RAY:
        return slabs_meet( ( clv_aabb ){ item->ray.origin, item->ray.origin }, item->ray.direction,
            item->ray.max_t, box, t );
    case CLV_QUERY_BOX_CAST:
        return slabs_meet( item->box_cast.box, item->box_cast.motion, item->box_cast.max_t, box, t );
    case CLV_QUERY_SPHERE_CAST:
    {
        const clv_sphere_cast* cast = &item->sphere_cast;
        clv_capsule capsule = { cast->sphere.center, cast->sphere.center, cast->sphere.radius };
        return capsule_hits( capsule, cast->motion, cast->max_t, box, t );
    }
    default:
        return capsule_hits(
            item->capsule_cast.capsule, item->capsule_cast.motion, item->capsule_cast.max_t, box, t );
    }
}

static bool filters_agree( const clv_filter* a, const clv_filter* b )
{
    if ( a->group == b->group && a->group != 0 )
    {
        return a->group > 0;
    }
    return ( a->category & b->mask ) != 0 && ( b->category & a->mask ) != 0;
}

static bool is_candidate( const query_world* world, uint32_t slot, const clv_filter* filter )
{
    return world->is_seen[slot] && ( filter == NULL || filters_agree( filter, &world->filters[slot] ) );
}

uint32_t query_world_all( const query_world* world, clv_query_kind kind, const query_item_any* item,
    const clv_filter* filter, bool as_given, clv_hit* hits )
{
    uint32_t count = 0;
    for ( uint32_t slot = 0; slot < world->count; ++slot )
    {
        float t = 0;
        clv_aabb box = as_given ? world->seen_given[slot] : world->seen_box[slot];
        if ( is_candidate( world, slot, filter ) && item_meets( kind, item, box, &t ) )
        {
            hits[count++] = ( clv_hit ){ slot, t };
        }
    }
    return count;
}

void query_world_nearest( const query_world* world, clv_aabb box, uint32_t k, float most,
    const clv_filter* filter, bool as_given, clv_hit* hits )
{
    uint32_t count = 0;
    for ( uint32_t slot = 0; slot < world->count && k > 0; ++slot )
    {
        float t = 0;
        clv_aabb other = as_given ? world->seen_given[slot] : world->seen_box[slot];
        if ( !is_candidate( world, slot, filter ) || !near_enough( box, other, most, &t ) ||
            ( count == k && t >= hits[k - 1].t ) )
        {
            continue;
        }
        uint32_t at = count < k ? count++ : k - 1;
        for ( ; at > 0 && hits[at - 1].t > t; --at )
        {
            hits[at] = hits[at - 1];
        }
        hits[at] = ( clv_hit ){ slot, t };
    }
    for ( ; count < k; ++count )
    {
        hits[count] = ( clv_hit ){ CLV_NO_HIT, INFINITY };
    }
}

// ---- comparing

static const char* const s_kind_names[QUERY_KINDS + 1] = { "", "point", "box", "sphere", "neighbourhood",
    "capsule", "oriented box", "half-spaces", "ray", "box cast", "sphere cast", "capsule cast" };

static void check_same( const clv_hit* actual, const clv_hit* expected, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        CHECK_EQUAL( actual[i].index, expected[i].index );
        CHECK( actual[i].t == expected[i].t );
    }
}

typedef struct visit_record
{
    const clv_hit* hits;
    const uint64_t* offsets;
    uint32_t next;
} visit_record;

static bool compare_visit( uint32_t query, const clv_hit* hits, uint64_t count, void* user )
{
    visit_record* record = user;
    CHECK_EQUAL( query, record->next );
    CHECK_EQUAL( count, record->offsets[query + 1] - record->offsets[query] );
    check_same( hits, record->hits + record->offsets[query], count );
    record->next += 1;
    return true;
}

typedef struct kind_list
{
    clv_queries queries;
    query_item_any* items; // one by one
    unsigned char* packed; // as the library wants them
    clv_plane* planes;
    clv_filter* filters;
    uint64_t* offsets;
    clv_hit *expected, *hits;
    uint64_t total;
} kind_list;

static const clv_filter* filter_at( const kind_list* list, uint32_t i )
{
    const clv_queries* q = &list->queries;
    return q->filters == NULL ? NULL : &q->filters[q->filter_each ? i : 0];
}

static kind_list make_list( query_world* world, clv_query_kind kind, uint32_t count )
{
    kind_list list = { .total = 0 };
    list.items = test_alloc( count, sizeof( query_item_any ) );
    list.packed = test_alloc( count, sizeof( query_item_any ) );
    list.planes = test_alloc( (size_t)count * QUERY_ITEM_PLANES, sizeof( clv_plane ) );
    list.filters = test_alloc( count, sizeof( clv_filter ) );
    list.offsets = test_alloc( count + 1, sizeof( uint64_t ) );
    list.expected = test_alloc( (size_t)count * ( world->count + MOST_K ) + 1, sizeof( clv_hit ) );
    list.hits = test_alloc( (size_t)count * ( world->count + MOST_K ) + 1, sizeof( clv_hit ) );
    list.queries = query_list_of( kind, list.packed, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        list.items[i] = query_world_item( world, kind, list.planes + (size_t)i * QUERY_ITEM_PLANES );
        memcpy( list.packed + i * query_item_size( kind ), &list.items[i], query_item_size( kind ) );
        list.filters[i] = some_filter( &world->random );
    }
    list.queries.filters = test_random_chance( &world->random, 50 ) ? list.filters : NULL;
    list.queries.filter_each = test_random_chance( &world->random, 50 );
    list.queries.as_given = test_random_chance( &world->random, 50 );
    list.offsets[0] = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        list.total += query_world_all( world, kind, &list.items[i], filter_at( &list, i ),
            list.queries.as_given, list.expected + list.total );
        list.offsets[i + 1] = list.total;
    }
    return list;
}

static void free_list( kind_list* list )
{
    free( list->items );
    free( list->packed );
    free( list->planes );
    free( list->filters );
    free( list->offsets );
    free( list->expected );
    free( list->hits );
}

static void check_all( const query_world* world, const kind_list* list )
{
    uint32_t count = list->queries.count;
    uint64_t* offsets = test_alloc( count + 1, sizeof( uint64_t ) );
    clv_query_lists lists = { offsets, list->hits, list->total, 0, 0 };
    CHECK_OK( clv_space_query_all( world->space, &list->queries, &lists ) );
    CHECK_EQUAL( lists.count, list->total );
    CHECK( memcmp( offsets, list->offsets, ( count + 1 ) * sizeof( uint64_t ) ) == 0 );
    check_same( list->hits, list->expected, list->total );
    if ( list->total > 0 )
    {
        memset( offsets, 0xFF, ( count + 1 ) * sizeof( uint64_t ) );
        lists = ( clv_query_lists ){ offsets, list->hits, list->total - 1, 0, 0 };
        CHECK_RESULT( clv_space_query_all( world->space, &list->queries, &lists ), CLV_NO_ROOM );
        CHECK_EQUAL( lists.count, list->total );
        CHECK( memcmp( offsets, list->offsets, ( count + 1 ) * sizeof( uint64_t ) ) == 0 );
    }
    visit_record record = { list->expected, list->offsets, 0 };
    CHECK_OK( clv_space_query_visit( world->space, &list->queries, compare_visit, &record, NULL ) );
    CHECK_EQUAL( record.next, count );
    free( offsets );
}

static void check_any( const query_world* world, const kind_list* list )
{
    CHECK_OK( clv_space_query_any( world->space, &list->queries, list->hits, NULL ) );
    for ( uint32_t i = 0; i < list->queries.count; ++i )
    {
        bool is_among = false;
        for ( uint64_t j = list->offsets[i]; j < list->offsets[i + 1]; ++j )
        {
            is_among |=
                list->expected[j].index == list->hits[i].index && list->expected[j].t == list->hits[i].t;
        }
        bool is_none = list->hits[i].index == CLV_NO_HIT;
        CHECK( list->offsets[i] == list->offsets[i + 1] ? is_none : is_among );
    }
}

// Query `i` of a list as a list of its own: one that is alone goes another way than many.
static clv_queries list_of_one( const kind_list* list, uint32_t i )
{
    clv_queries one = list->queries;
    one.points = (const void*)( list->packed + i * query_item_size( one.kind ) );
    one.filters = filter_at( list, i );
    one.count = 1;
    return one;
}

static void check_closest( const query_world* world, const kind_list* list )
{
    clv_result wanted = list->queries.kind >= CLV_QUERY_RAY ? CLV_OK : CLV_BAD_ARGUMENT;
    CHECK_RESULT( clv_space_query_closest( world->space, &list->queries, list->hits, NULL ), wanted );
    for ( uint32_t i = 0; i < list->queries.count && wanted == CLV_OK; ++i )
    {
        clv_hit best = { CLV_NO_HIT, INFINITY };
        for ( uint64_t j = list->offsets[i]; j < list->offsets[i + 1]; ++j )
        {
            clv_hit hit = list->expected[j];
            best = best.index == CLV_NO_HIT || hit.t < best.t ? hit : best;
        }
        check_same( &list->hits[i], &best, 1 );
        clv_queries one = list_of_one( list, i );
        CHECK_OK( clv_space_query_closest( world->space, &one, &list->hits[i], NULL ) );
        check_same( &list->hits[i], &best, 1 );
    }
}

static void check_nearest( query_world* world, const kind_list* list )
{
    uint32_t k = test_random_below( &world->random, test_random_chance( &world->random, 75 ) ? 11 : MOST_K );
    float most = test_random_chance( &world->random, 50 ) ? INFINITY : some_size( world );
    clv_query_kind kind = list->queries.kind;
    bool fits = kind == CLV_QUERY_POINT || kind == CLV_QUERY_BOX;
    CHECK_RESULT( clv_space_query_nearest( world->space, &list->queries, k, most, list->hits, NULL ),
        fits ? CLV_OK : CLV_BAD_ARGUMENT );
    for ( uint32_t i = 0; i < list->queries.count && fits; ++i )
    {
        const query_item_any* item = &list->items[i];
        clv_aabb box = kind == CLV_QUERY_BOX ? item->box : ( clv_aabb ){ item->point, item->point };
        clv_hit expected[MOST_K];
        query_world_nearest( world, box, k, most, filter_at( list, i ), list->queries.as_given, expected );
        check_same( list->hits + (size_t)i * k, expected, k );
        clv_queries one = list_of_one( list, i );
        CHECK_OK( clv_space_query_nearest( world->space, &one, k, most, list->hits, NULL ) );
        check_same( list->hits, expected, k );
    }
}

void query_world_check( query_world* world, uint32_t count )
{
    for ( int kind = 1; kind <= QUERY_KINDS; ++kind )
    {
        test_where.note = s_kind_names[kind];
        kind_list list = make_list( world, (clv_query_kind)kind, count );
        check_all( world, &list );
        check_any( world, &list );
        check_closest( world, &list );
        check_nearest( world, &list );
        free_list( &list );
    }
    test_where.note = NULL;
}
