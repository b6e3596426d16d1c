// SPDX-License-Identifier: MIT
// Questions over processes: the answers of one space with all objects, whose slots are the ids. Every process
// asks a list of its own; started by mpirun with any number of processes.
#include "../query_lists.h"
#include "mpi_state.h"
#include "mpi_support.h"

#include <math.h>

enum
{
    N = 400,
    ASKED = 48,
    K = 5
};

static mpi_dice s_dice;

static float between( float low, float high )
{
    return mpi_dice_between( &s_dice, low, high );
}

static clv_vec3 somewhere( float low, float high )
{
    float x = between( low, high ), y = between( low, high ), z = between( low, high );
    return ( clv_vec3 ){ x, y, z };
}

// ---- worlds

typedef enum shape
{
    SPREAD,
    EQUAL,
    GIANTS,
    INFINITE,
    FAR_AWAY,
    LATTICE,
    SHAPES
} shape;

static const char* const s_shapes[SHAPES] = { "spread", "equal", "giants", "infinite", "far away",
    "lattice" };

static clv_aabb cube( clv_vec3 at, float half )
{
    return mpi_cube( at.x, at.y, at.z, half );
}

static clv_aabb new_box( shape kind, uint32_t i )
{
    clv_vec3 at = somewhere( 0, 20 );
    float half = between( 0.2f, 0.9f );
    clv_aabb box = cube( at, half );
    switch ( kind )
    {
    case EQUAL: return cube( ( clv_vec3 ){ (float)( i % 3 ) * 10, 0, 0 }, 0.5f );
    case GIANTS: return i % 40 == 0 ? cube( at, 12 ) : box;
    case INFINITE:
        box.lower.x = i % 31 == 0 ? -INFINITY : box.lower.x;
        box.upper.y = i % 37 == 0 ? INFINITY : box.upper.y;
        return box;
    case FAR_AWAY: return i % 20 == 0 ? cube( ( clv_vec3 ){ at.x * 1e30f, at.y * 1e30f, at.z }, 1e28f ) : box;
    case LATTICE: // touching faces, and many at one distance
        return cube(
            ( clv_vec3 ){ (float)( i % 8 ) * 2, (float)( i / 8 % 8 ) * 2, (float)( i / 64 ) * 2 }, 1 );
    default: return box;
    }
}

static mpi_purse s_purse;

typedef struct world
{
    clv_mpi_space* space;
    clv_space* judge;
    clv_id judge_ids[N];
    clv_aabb boxes[N];
    shape kind;
    float margin;
} world;

typedef struct way
{
    shape kind;
    bool borrowed, events;
    uint32_t wide;
    float margin;
} way;

static void open_world( world* w, way how )
{
    s_dice.state = 17 + (uint64_t)how.kind;
    clv_mpi_def def = clv_default_mpi_def();
    def.space.events = how.events;
    def.space.margin = how.margin;
    def.space.allocator = mpi_purse_allocator( &s_purse );
    def.borrowed = how.borrowed;
    def.wide = how.wide;
    def.time_limit = 100;
    def.cutter = CLV_MPI_CUT_BISECTION;
    clv_space_def judge = clv_default_space_def();
    judge.margin = how.margin;
    *w = ( world ){ .kind = how.kind, .margin = how.margin };
    CHECK( clv_mpi_space_create( MPI_COMM_WORLD, &def, &w->space ) == CLV_OK );
    CHECK( clv_space_create( &judge, &w->judge ) == CLV_OK );
    static uint64_t ids[N];
    static clv_aabb own[N];
    uint32_t count = 0;
    for ( uint32_t i = 0; i < N; ++i )
    {
        w->boxes[i] = new_box( how.kind, i );
        ids[count] = i;
        own[count] = w->boxes[i];
        count += i % (uint32_t)g_mpi_count == (uint32_t)g_mpi_rank;
    }
    CHECK( clv_mpi_space_add( w->space, ids, own, count ) == CLV_OK );
    CHECK( clv_space_add( w->judge, w->boxes, N, w->judge_ids ) == CLV_OK );
}

static void close_world( world* w )
{
    clv_mpi_space_destroy( w->space );
    clv_space_destroy( w->judge );
}

static void update( world* w )
{
    CHECK( clv_mpi_space_update( w->space ) == CLV_OK );
    CHECK( clv_space_update( w->judge ) == CLV_OK );
}

// Every box somewhere else, by 2 or so after a step of all of them, and filters for every third.
static void change_far( world* w, bool has_filters, float step )
{
    static uint64_t ids[N];
    static clv_aabb own[N];
    static clv_filter filters[N];
    static clv_filter own_filters[N];
    for ( uint32_t i = 0; i < N; ++i )
    {
        float x = step + between( -2, 2 );
        w->boxes[i].lower.x += x;
        w->boxes[i].upper.x += x;
        filters[i] = clv_default_filter();
        filters[i].category = has_filters && i % 3 == 0 ? 2 : 1;
    }
    uint32_t count = clv_mpi_space_object_count( w->space );
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_aabb box;
        CHECK( clv_mpi_space_object_at( w->space, i, &ids[i], &box ) == CLV_OK );
        own[i] = w->boxes[ids[i]];
        own_filters[i] = filters[ids[i]];
    }
    CHECK( clv_mpi_space_move( w->space, ids, own, count ) == CLV_OK );
    CHECK( clv_space_move( w->judge, w->judge_ids, w->boxes, N ) == CLV_OK );
    if ( has_filters )
    {
        CHECK( clv_mpi_space_set_filter( w->space, ids, own_filters, count ) == CLV_OK );
        CHECK( clv_space_set_filter( w->judge, w->judge_ids, filters, N ) == CLV_OK );
    }
}

static void change( world* w, bool has_filters )
{
    change_far( w, has_filters, 0 );
}

// ---- questions

typedef union items
{
    clv_vec3 points[ASKED];
    clv_aabb boxes[ASKED];
    clv_sphere spheres[ASKED];
    clv_neighbourhood around[ASKED];
    clv_capsule capsules[ASKED];
    clv_oriented_box turned[ASKED];
    clv_ray rays[ASKED];
    clv_box_cast box_casts[ASKED];
    clv_sphere_cast sphere_casts[ASKED];
    clv_capsule_cast capsule_casts[ASKED];
} items;

static const clv_query_kind s_kinds[] = { CLV_QUERY_POINT, CLV_QUERY_BOX, CLV_QUERY_SPHERE,
    CLV_QUERY_NEIGHBOURHOOD, CLV_QUERY_CAPSULE, CLV_QUERY_ORIENTED_BOX, CLV_QUERY_RAY, CLV_QUERY_BOX_CAST,
    CLV_QUERY_SPHERE_CAST, CLV_QUERY_CAPSULE_CAST };

static clv_vec3 some_way( uint32_t i )
{
    clv_vec3 along = somewhere( -4, 4 );
    // Along an axis, and with next to nothing along another.
    along.x = i % 5 == 0 ? 0 : along.x;
    along.y = i % 5 == 0 ? 0 : i % 7 == 0 ? 1e-41f : along.y;
    return along;
}

static clv_queries make_list( items* to, clv_query_kind kind, uint32_t count )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_vec3 at = somewhere( -2, 22 ), end = somewhere( -2, 22 ), motion = some_way( i );
        clv_capsule capsule = { at, i % 6 == 0 ? at : end, between( 0, 1 ) };
        float far = i % 4 == 0 ? INFINITY : between( 0, 6 ), radius = i % 11 == 0 ? 40 : between( 0, 3 );
        switch ( kind )
        {
        case CLV_QUERY_POINT:
            to->points[i] = i % 3 == 0 ? ( clv_vec3 ){ roundf( at.x ), roundf( at.y ), 1 } : at;
            break;
        case CLV_QUERY_BOX:
            to->boxes[i] = cube( at, radius );
            to->boxes[i].upper.z = i % 9 == 0 ? INFINITY : to->boxes[i].upper.z;
            break;
        case CLV_QUERY_SPHERE: to->spheres[i] = ( clv_sphere ){ at, i % 13 == 0 ? INFINITY : radius }; break;
        case CLV_QUERY_NEIGHBOURHOOD: to->around[i] = ( clv_neighbourhood ){ cube( at, 1 ), far }; break;
        case CLV_QUERY_CAPSULE: to->capsules[i] = capsule; break;
        case CLV_QUERY_ORIENTED_BOX:
            to->turned[i] =
                ( clv_oriented_box ){ at, { radius, 1, 0.5f }, { motion.x, motion.y, motion.z, 1 } };
            break;
        case CLV_QUERY_RAY: to->rays[i] = ( clv_ray ){ at, motion, far }; break;
        case CLV_QUERY_BOX_CAST: to->box_casts[i] = ( clv_box_cast ){ cube( at, 0.3f ), motion, far }; break;
        case CLV_QUERY_SPHERE_CAST:
            to->sphere_casts[i] = ( clv_sphere_cast ){ { at, 0.4f }, motion, far };
            break;
        default: to->capsule_casts[i] = ( clv_capsule_cast ){ capsule, motion, far }; break;
        }
    }
    return query_list_of( kind, to, count );
}

static uint64_t s_found;

static void check_all( world* w, const clv_queries* list )
{
    static clv_hit hits[ASKED * N];
    static uint64_t offsets[ASKED + 1];
    clv_query_lists wanted = { offsets, hits, ASKED * N, 0, 0 };
    CHECK( clv_space_query_all( w->judge, list, &wanted ) == CLV_OK );
    clv_mpi_hit_view view;
    clv_result result = clv_mpi_space_query_all( w->space, list, &view );
    CHECK( result == CLV_OK );
    CHECK( view.count == wanted.count );
    for ( uint32_t i = 0; i <= list->count; ++i )
    {
        CHECK( view.offsets[i] == offsets[i] );
    }
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        CHECK( view.hits[i].id == hits[i].index && view.hits[i].t == hits[i].t && view.hits[i].owner >= 0 );
    }
    s_found += view.count;
    // One of them, if there is any.
    clv_mpi_hit any[ASKED];
    static clv_mpi_hit copy[ASKED * N];
    memcpy( copy, view.hits, (size_t)view.count * sizeof( clv_mpi_hit ) );
    CHECK( clv_mpi_space_query_any( w->space, list, any ) == CLV_OK );
    for ( uint32_t i = 0; i < list->count; ++i )
    {
        bool is_there = any[i].owner < 0 && offsets[i] == offsets[i + 1];
        for ( uint64_t k = offsets[i]; k < offsets[i + 1]; ++k )
        {
            is_there |= copy[k].id == any[i].id && copy[k].owner == any[i].owner;
        }
        CHECK( is_there );
    }
}

static void check_same( const clv_mpi_hit* got, const clv_hit* wanted, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        bool is_hit = wanted[i].index != CLV_NO_HIT;
        CHECK( ( got[i].owner >= 0 ) == is_hit );
        CHECK( !is_hit || ( got[i].id == wanted[i].index && got[i].t == wanted[i].t ) );
        s_found += is_hit;
    }
}

static void check_closest( world* w, const clv_queries* list )
{
    clv_hit wanted[ASKED];
    clv_mpi_hit got[ASKED];
    CHECK( clv_space_query_closest( w->judge, list, wanted, NULL ) == CLV_OK );
    CHECK( clv_mpi_space_query_closest( w->space, list, got ) == CLV_OK );
    check_same( got, wanted, list->count );
}

static void check_nearest( world* w, const clv_queries* list, uint32_t k, float most )
{
    clv_hit wanted[ASKED * K];
    clv_mpi_hit got[ASKED * K];
    CHECK( clv_space_query_nearest( w->judge, list, k, most, wanted, NULL ) == CLV_OK );
    CHECK( clv_mpi_space_query_nearest( w->space, list, k, most, got ) == CLV_OK );
    check_same( got, wanted, (uint64_t)list->count * k );
}

// The boxes themselves.
static void check_by_hand( world* w )
{
    static items to;
    clv_queries list = make_list( &to, CLV_QUERY_BOX, ASKED );
    clv_mpi_hit_view view;
    CHECK( clv_mpi_space_query_all( w->space, &list, &view ) == CLV_OK );
    uint64_t at = 0;
    for ( uint32_t i = 0; i < ASKED && w->margin == 0; ++i )
    {
        for ( uint32_t k = 0; k < N; ++k )
        {
            if ( clv_aabb_overlap( to.boxes[i], w->boxes[k] ) )
            {
                CHECK( at < view.count && view.hits[at].id == k );
                at += 1;
            }
        }
        CHECK( view.offsets[i + 1] == at );
    }
}

// Every other kind: the rest is asked in the next frame.
static void ask_half( world* w, const clv_filter* filter, size_t first )
{
    static items to;
    for ( size_t kind = first; kind < sizeof( s_kinds ) / sizeof( s_kinds[0] ); kind += 2 )
    {
        // The last process asks nothing, and the others each their own.
        uint64_t common = s_dice.state;
        s_dice.state += 1000u * (uint64_t)g_mpi_rank;
        uint32_t count = g_mpi_rank > 0 && g_mpi_rank == g_mpi_count - 1 ? 0 : ASKED;
        clv_queries list = make_list( &to, s_kinds[kind], count );
        list.filters = filter;
        check_all( w, &list );
        if ( s_kinds[kind] >= CLV_QUERY_RAY )
        {
            check_closest( w, &list );
        }
        if ( s_kinds[kind] <= CLV_QUERY_BOX )
        {
            check_nearest( w, &list, K, INFINITY );
            check_nearest( w, &list, 1 + (uint32_t)g_mpi_rank % 2, 1.5f );
            check_nearest( w, &list, 0, 1 );
        }
        s_dice.state = common + 1;
    }
    check_by_hand( w );
}

static void one_answer( void )
{
    for ( int kind = 0; kind < SHAPES; ++kind )
    {
        static world w;
        mpi_test_case( s_shapes[kind] );
        way how = { (shape)kind, kind % 2 == 1, kind % 3 == 0, kind % 2 == 0 ? 16 : 1,
            kind == GIANTS ? 0.25f : 0 };
        open_world( &w, how );
        for ( int frame = 0; frame < 2; ++frame )
        {
            update( &w );
            clv_filter filter = { 1, 2, 0 };
            ask_half( &w, frame == 1 && kind <= GIANTS ? &filter : NULL, (size_t)( kind + frame ) % 2 );
            change( &w, frame == 0 && kind <= GIANTS );
        }
        close_world( &w );
    }
    CHECK( s_found > 0 || g_mpi_rank == g_mpi_count - 1 );
}

// Kinds may differ from process to process, and so k; no list at all is an empty one.
static void each_process_asks_its_own_questions( void )
{
    mpi_test_case( "own kinds" );
    static world w;
    open_world( &w, ( way ){ .kind = SPREAD, .wide = 16, .events = true } );
    update( &w );
    change( &w, false ); // the first question comes after ghosts have said good-bye
    update( &w );
    static items to;
    clv_queries list = make_list( &to, s_kinds[g_mpi_rank % 3], ASKED );
    check_all( &w, &list );
    clv_queries points = make_list( &to, CLV_QUERY_POINT, ASKED );
    check_nearest(
        &w, &points, 1 + (uint32_t)g_mpi_rank % K, g_mpi_rank == 0 ? INFINITY : (float)g_mpi_rank );
    clv_mpi_hit_view view;
    CHECK( clv_mpi_space_query_all( w.space, NULL, &view ) == CLV_OK && view.count == 0 );
    // More than there are: all of them.
    static clv_mpi_hit every[N + 7];
    points.count = 1;
    CHECK( clv_mpi_space_query_nearest( w.space, &points, N + 7, INFINITY, every ) == CLV_OK );
    CHECK( every[0].owner >= 0 && every[N - 1].owner >= 0 && every[N - 1].t >= every[0].t &&
        every[N].owner == -1 );
    close_world( &w );
}

// ---- what is refused

static void refuse( world* w, clv_result got, clv_result wanted, int rank, const char* word )
{
    clv_mpi_error error = clv_mpi_space_error( w->space );
    CHECK( got == wanted && error.code == wanted && error.rank == rank );
    CHECK( strstr( error.text, word ) != NULL );
}

static bool accept( const clv_space* space, uint32_t query, clv_hit hit, float* reach, void* user )
{
    (void)space;
    (void)query;
    (void)hit;
    (void)reach;
    (void)user;
    return true;
}

static void bad_questions_are_an_error_on_all( void )
{
    mpi_test_case( "bad questions" );
    static world w;
    open_world( &w, ( way ){ .kind = SPREAD, .wide = 16 } );
    int bad = g_mpi_count - 1;
    bool is_bad = g_mpi_rank == bad;
    clv_mpi_hit_view view;
    clv_mpi_hit hits[2];
    clv_ray rays[2] = { { { 0, 0, 0 }, { 1, 0, 0 }, 1 }, { { 0, 0, 0 }, { is_bad ? NAN : 1, 0, 0 }, 1 } };
    clv_queries list = clv_query_rays( rays, 2 );
    refuse( &w, clv_mpi_space_query_all( w.space, NULL, &view ), CLV_STALE, 0, "update" );
    update( &w );
    refuse( &w, clv_mpi_space_query_closest( w.space, &list, hits ), CLV_BAD_ARGUMENT, bad, "question 1" );
    CHECK( clv_mpi_space_error( w.space ).position == 1 );
    clv_aabb boxes[2] = { { { 0, 0, 0 }, { 1, 1, 1 } }, { { is_bad ? 2 : 0, 0, 0 }, { 1, 1, 1 } } };
    clv_queries in_boxes = clv_query_boxes( boxes, 2 );
    refuse( &w, clv_mpi_space_query_all( w.space, &in_boxes, &view ), CLV_BAD_BOX, bad, "question 1" );
    rays[1].direction.x = 1;
    refuse( &w, clv_mpi_space_query_nearest( w.space, is_bad ? &list : NULL, 1, 1, hits ), CLV_BAD_ARGUMENT,
        bad, "kind" );
    boxes[1].lower.x = 0;
    refuse( &w, clv_mpi_space_query_nearest( w.space, &in_boxes, 1, is_bad ? -1.0f : 1.0f, hits ),
        CLV_BAD_ARGUMENT, bad, "distance" );
    clv_half_spaces none = { NULL, 0 };
    clv_queries halves = clv_query_half_spaces( &none, 1 );
    refuse(
        &w, clv_mpi_space_query_any( w.space, is_bad ? &halves : NULL, hits ), CLV_UNSUPPORTED, bad, "kind" );
    list.callback = accept;
    refuse( &w, clv_mpi_space_query_any( w.space, is_bad ? &list : NULL, hits ), CLV_UNSUPPORTED, bad,
        "callback" );
    list.callback = NULL;
    check_all( &w, &list ); // as if nothing had been
    change( &w, false );
    refuse( &w, clv_mpi_space_query_any( w.space, &list, hits ), CLV_STALE, 0, "changed" );
    close_world( &w );
}

static void memory_that_one_lacks( void )
{
    mpi_test_case( "memory" );
    static world w;
    static items to;
    uint32_t failures = 0;
    for ( uint64_t refused = 1; refused < 34; refused += refused < 18 ? 1 : 5 )
    {
        open_world( &w, ( way ){ .kind = SPREAD, .wide = 16 } );
        update( &w );
        clv_queries list = make_list( &to, CLV_QUERY_RAY, ASKED ),
                    points = make_list( &to, CLV_QUERY_POINT, 0 );
        clv_mpi_hit hits[ASKED];
        clv_mpi_hit_view view;
        s_purse.was_refused = false;
        s_purse.refuse_at = g_mpi_rank == g_mpi_count - 1 ? s_purse.count + refused : 0;
        clv_result result = refused % 3 == 0 ? clv_mpi_space_query_closest( w.space, &list, hits )
            : refused % 3 == 1               ? clv_mpi_space_query_all( w.space, &list, &view )
                                             : clv_mpi_space_query_nearest( w.space, &points, 1, 1, hits );
        s_purse.refuse_at = 0;
        CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
        CHECK( result == CLV_OK || clv_mpi_space_error( w.space ).rank == g_mpi_count - 1 );
        CHECK( g_mpi_rank != g_mpi_count - 1 || s_purse.was_refused == ( result != CLV_OK ) );
        failures += result != CLV_OK;
        check_all( &w, &list );
        check_closest( &w, &list );
        close_world( &w );
    }
    CHECK( failures > 5 );
}

// ---- ways without an end

// From near and far, along axes and not, at every scale that floats have, and to and from what is there.
static clv_ray hostile_ray( uint32_t i )
{
    static const float far[] = { 0, 30, 1e6f, 1e20f, 3e38f }, fast[] = { 1, 1e-30f, 1e30f, 3e38f, 1e-37f };
    clv_vec3 at = somewhere( 0, 20 ), along = some_way( i );
    float distance = far[i % 5] * ( i % 2 == 0 ? 1.0f : -1.0f ), speed = fast[i / 5 % 5];
    uint32_t axis = i % 3;
    if ( i % 4 != 0 ) // along an axis, so that what is far away can be met
    {
        along = ( clv_vec3 ){ axis == 0, axis == 1, axis == 2 };
        speed = distance > 0 ? -speed : speed;
        speed = i % 7 == 0 ? -speed : i % 13 == 0 ? 0 : speed;
    }
    at.x += axis == 0 ? distance : 0;
    at.y += axis == 1 ? distance : 0;
    at.z += axis == 2 ? distance : 0;
    float scale = speed > 1e37f ? speed / 4 : speed;
    clv_ray ray = { at, { along.x * scale, along.y * scale, along.z * scale }, INFINITY };
    ray.direction.y = i % 11 == 0 ? 1e-41f : ray.direction.y;
    return ray;
}

static clv_queries make_hostile( items* to, clv_query_kind kind, uint32_t first )
{
    for ( uint32_t i = 0; i < ASKED; ++i )
    {
        clv_ray ray = hostile_ray( first + i );
        switch ( kind )
        {
        case CLV_QUERY_RAY: to->rays[i] = ray; break;
        case CLV_QUERY_BOX_CAST:
            to->box_casts[i] = ( clv_box_cast ){ cube( ray.origin, 0.3f ), ray.direction, INFINITY };
            break;
        default:
            to->sphere_casts[i] = ( clv_sphere_cast ){ { ray.origin, 0.4f }, ray.direction, INFINITY };
            break;
        }
    }
    return query_list_of( kind, to, ASKED );
}

static void hostile_ways_have_one_answer( void )
{
    static world w;
    static items to;
    for ( int kind = 0; kind < SHAPES; ++kind )
    {
        snprintf( g_mpi_case, sizeof( g_mpi_case ), "hostile ways, %s", s_shapes[kind] );
        open_world( &w, ( way ){ .kind = (shape)kind, .wide = kind % 2 == 0 ? 16 : 1 } );
        update( &w );
        for ( uint32_t n = 0; n < 3; ++n )
        {
            s_dice.state += 1000u * (uint64_t)g_mpi_rank;
            clv_query_kind which[] = { CLV_QUERY_RAY, CLV_QUERY_BOX_CAST, CLV_QUERY_SPHERE_CAST };
            clv_queries list = make_hostile( &to, which[n], n * ASKED + (uint32_t)g_mpi_rank );
            check_all( &w, &list );
            check_closest( &w, &list );
        }
        close_world( &w );
    }
}

// How many processes are asked: none for what points away, and not all for what stays in one row.
static void a_ray_asks_the_processes_along_its_path( void )
{
    mpi_test_case( "who is asked" );
    static world w;
    clv_ray rays[ASKED];
    clv_mpi_hit_view view;
    open_world( &w, ( way ){ .kind = SPREAD, .wide = 16 } );
    update( &w );
    update( &w );
    for ( uint32_t i = 0; i < ASKED; ++i ) // each from outside, and away
    {
        rays[i] =
            ( clv_ray ){ { 50, between( 0, 20 ), between( 0, 20 ) }, { 1, between( -1, 1 ), 0 }, INFINITY };
    }
    clv_queries list = clv_query_rays( rays, ASKED );
    CHECK( clv_mpi_space_query_all( w.space, &list, &view ) == CLV_OK && view.count == 0 );
    CHECK( w.space->questions.errands.count == 0 );
    for ( int axis = 0; axis < 4; ++axis ) // in rows along every axis, and across
    {
        for ( uint32_t i = 0; i < ASKED; ++i )
        {
            rays[i].origin = somewhere( 0, 20 );
            rays[i].direction =
                axis == 3 ? somewhere( -1, 1 ) : ( clv_vec3 ){ axis == 0, axis == 1, axis == 2 };
        }
        check_all( &w, &list );
        CHECK( clv_mpi_space_query_all( w.space, &list, &view ) == CLV_OK );
        // About 13 of 20 with two processes, 8 with four.
        uint64_t asked = w.space->questions.errands.count;
        CHECK( axis < 3 || g_mpi_count == 1 || asked < ASKED * (uint64_t)g_mpi_count * 3 / 4 );
    }
    // All of them elsewhere: what there was before is no measure.
    change_far( &w, false, 1000 );
    update( &w );
    for ( uint32_t i = 0; i < ASKED; ++i )
    {
        rays[i].origin.x = 990;
        rays[i].direction = ( clv_vec3 ){ 1, 0, 0 };
    }
    uint64_t found = s_found;
    check_all( &w, &list );
    CHECK( s_found > found );
    close_world( &w );
}

// ---- calls that fail

// More objects than there is memory for on the last process, while the others have taken theirs in already.
// True: it was there after all.
static bool add_in_vain( world* w, uint64_t refused )
{
    enum
    {
        MORE = 300 // arrays must grow, and slots of ghosts that are gone are filled first
    };
    static uint64_t ids[MORE];
    static clv_aabb boxes[MORE];
    for ( uint32_t i = 0; i < MORE; ++i )
    {
        ids[i] = N + (uint64_t)g_mpi_rank * MORE + i;
        boxes[i] = new_box( SPREAD, i );
    }
    s_purse.refuse_at = g_mpi_rank == g_mpi_count - 1 ? s_purse.count + refused : 0;
    clv_result result = clv_mpi_space_add( w->space, ids, boxes, MORE );
    s_purse.refuse_at = 0;
    CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
    return result == CLV_OK;
}

static void an_add_that_failed_changes_no_answer( void )
{
    mpi_test_case( "an add that failed" );
    static world w;
    static items to;
    uint32_t failures = 0;
    bool is_good = false;
    for ( uint64_t refused = 1; !is_good; ++refused )
    {
        open_world( &w, ( way ){ .kind = SPREAD, .wide = 16 } );
        update( &w );
        change( &w, false ); // ghosts leave slots behind
        update( &w );
        clv_queries list = make_list( &to, CLV_QUERY_RAY, ASKED );
        if ( refused % 2 == 0 ) // else it is the first query
        {
            check_all( &w, &list );
        }
        is_good = add_in_vain( &w, refused );
        failures += !is_good;
        if ( !is_good )
        {
            check_all( &w, &list );
            check_closest( &w, &list );
            update( &w );
            check_all( &w, &list );
        }
        close_world( &w );
    }
    CHECK( failures > 5 );
}

// Another process's id in a batch: what the others have made ready for it is gone again.
static void a_setting_that_failed_changes_nothing( void )
{
    mpi_test_case( "a setting that failed" );
    static world w;
    static items to;
    open_world( &w, ( way ){ .kind = SPREAD, .wide = 16 } );
    update( &w );
    update( &w );
    uint64_t bytes = clv_mpi_space_stats( w.space ).all_bytes_sent;
    uint64_t stranger = N + 1;
    uint32_t count = g_mpi_rank == g_mpi_count - 1;
    const clv_filter filter = { 1, 2, 0 };
    const clv_margin_rule rule = { 1, 0, 0 };
    const clv_vec3 motion = { 1, 0, 0 };
    const bool is_static = true;
    CHECK( clv_mpi_space_set_filter( w.space, &stranger, &filter, count ) == CLV_BAD_ID );
    CHECK( clv_mpi_space_set_static( w.space, &stranger, &is_static, count ) == CLV_BAD_ID );
    CHECK( clv_mpi_space_set_margin_rule( w.space, &stranger, &rule, count ) == CLV_BAD_ID );
    CHECK( clv_mpi_space_set_motion( w.space, &stranger, &motion, count ) == CLV_BAD_ID );
    clv_queries list = make_list( &to, CLV_QUERY_BOX, ASKED );
    check_all( &w, &list );
    list.as_given = true; // which is refused where there are margins
    check_all( &w, &list );
    update( &w );
    CHECK( clv_mpi_space_stats( w.space ).all_bytes_sent == bytes ); // no filters travel
    check_all( &w, &list );
    close_world( &w );
}

int main( int argc, char** argv )
{
    mpi_test_begin( &argc, &argv );
    one_answer();
    each_process_asks_its_own_questions();
    bad_questions_are_an_error_on_all();
    memory_that_one_lacks();
    hostile_ways_have_one_answer();
    a_ray_asks_the_processes_along_its_path();
    an_add_that_failed_changes_no_answer();
    a_setting_that_failed_changes_nothing();
    if ( g_mpi_rank == 0 )
    {
        printf( "mpi: one answer to questions on %d processes\n", g_mpi_count );
    }
    MPI_Finalize();
    return 0;
}
