// SPDX-License-Identifier: MIT
// Where a def has allocator hooks, every byte comes through them: the C library's malloc is counted, and so
// are the calls of the hooks, which take one malloc each.
#include "physics_script.h"

#include <stdlib.h>
#include <string.h>

#if defined( __has_feature )
#if __has_feature( address_sanitizer ) || __has_feature( thread_sanitizer ) ||                               \
    __has_feature( memory_sanitizer )
#define SANITIZED 1
#endif
#endif
#if defined( __SANITIZE_ADDRESS__ ) || defined( __SANITIZE_THREAD__ )
#define SANITIZED 1
#endif

// A program's own malloc stands before glibc's, for glibc's own calls too. Sanitizers bring their own.
#if defined( __GLIBC__ ) && !defined( SANITIZED )

static uint64_t s_malloc_count;

void* __libc_malloc( size_t size );
void* __libc_calloc( size_t count, size_t size );
void* __libc_realloc( void* memory, size_t size );
void* __libc_memalign( size_t alignment, size_t size );
int posix_memalign( void** memory, size_t alignment, size_t size ); // hidden by the strict standard

void* malloc( size_t size )
{
    s_malloc_count += 1;
    return __libc_malloc( size );
}

void* calloc( size_t count, size_t size )
{
    s_malloc_count += 1;
    return __libc_calloc( count, size );
}

void* realloc( void* memory, size_t size )
{
    s_malloc_count += 1;
    return __libc_realloc( memory, size );
}

void* aligned_alloc( size_t alignment, size_t size )
{
    s_malloc_count += 1;
    return __libc_memalign( alignment, size );
}

int posix_memalign( void** memory, size_t alignment, size_t size )
{
    s_malloc_count += 1;
    *memory = __libc_memalign( alignment, size );
    return *memory == NULL ? 12 : 0;
}

typedef struct count
{
    uint64_t malloc_count;
    uint64_t allocate_count;
} count;

static count count_now( const heap* hooks )
{
    return ( count ){ s_malloc_count, hooks->allocate_count };
}

static void check_count( const heap* hooks, count before, const char* call )
{
    uint64_t taken = s_malloc_count - before.malloc_count;
    uint64_t asked = hooks->allocate_count - before.allocate_count;
    if ( taken != asked )
    {
        test_fail( __FILE__, __LINE__, "%s took memory %u times, %u of them through the hooks", call,
            (unsigned)taken, (unsigned)asked );
    }
}

// ---- hulls: large enough for a sort that needs room

enum
{
    POINTS = 2000,
};

static void make_hull( const clv_vec3* points, const char* note )
{
    heap hooks = { 0 };
    clv_hull_def def = clv_default_hull_def();
    def.points = points;
    def.point_count = POINTS;
    def.allocator = heap_hooks( &hooks );
    clv_hull* hull = NULL;
    test_where.note = note;
    count before = count_now( &hooks );
    clv_result result = clv_hull_create( &def, &hull );
    check_count( &hooks, before, "clv_hull_create" );
    CHECK_OK( result );
    clv_hull_destroy( hull );
    CHECK_EQUAL( hooks.bytes, 0 );
}

static void hulls_take_memory_through_the_hooks_alone( void )
{
    static clv_vec3 points[POINTS];
    test_random random = test_random_make( 1 );
    for ( uint32_t flat = 0; flat < 3; ++flat )
    {
        for ( uint32_t i = 0; i < POINTS; ++i )
        {
            points[i].x = test_random_between( &random, -1, 1 );
            points[i].y = test_random_between( &random, -1, 1 );
            points[i].z = flat == 0 ? test_random_between( &random, -1, 1 ) : 0;
            points[i].y *= flat == 2 ? 0.0f : 1.0f;
        }
        // A vertex that all others are neighbours of: its list is sorted too.
        points[0] = ( clv_vec3 ){ 0, 0, flat == 0 ? 100.0f : 0.0f };
        make_hull( points, flat == 0 ? "solid" : flat == 1 ? "polygon" : "segment" );
    }
}

// ---- all else

static count s_before;

static void script_enters( script_run* l )
{
    s_before = count_now( &l->memory );
}

static void script_leaves( script_run* l, const char* call )
{
    if ( strstr( call, "clv_hull_create_" ) == NULL ) // the solids with names have no def, so no hooks
    {
        check_count( &l->memory, s_before, call );
    }
}

static void sweeps_and_simulations_take_memory_through_the_hooks_alone( void )
{
    for ( uint32_t i = 0; i < physics_script_count; ++i )
    {
        test_where.note = physics_scripts[i].name;
        script_run l = { .enter = script_enters, .leave = script_leaves };
        if ( strstr( physics_scripts[i].name, "three workers" ) == NULL ) // threads take memory of their own
        {
            physics_script_play( &l, &physics_scripts[i] );
        }
    }
}

enum
{
    OBJECTS = 3000,
    FRAMES = 16,
};

static void move_some( clv_aabb* boxes, test_random* random )
{
    for ( uint32_t i = 0; i < OBJECTS; i += 40 )
    {
        boxes[i] = test_crowd_step( TEST_CROWD_SPREAD, boxes[i], random ); // few: what rests is remembered
    }
}

static void spaces_take_memory_through_the_hooks_alone( void )
{
    static clv_aabb boxes[OBJECTS];
    static clv_id ids[OBJECTS];
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        test_variant variant = test_variant_at( i );
        if ( variant.worker_count != 1 || !test_variant_is_usual( variant ) )
        {
            continue; // threads take memory of their own
        }
        heap hooks = { 0 };
        clv_space_def def = clv_default_space_def();
        def.allocator = heap_hooks( &hooks );
        def.sorted = def.events = true;
        test_random random = test_random_make( 3 );
        for ( uint32_t k = 0; k < OBJECTS; ++k )
        {
            boxes[k] = test_crowd_box( TEST_CROWD_SPREAD, OBJECTS, &random );
        }
        count before = count_now( &hooks );
        clv_space* space = test_space_make( variant, &def );
        check_count( &hooks, before, "clv_space_create" );
        CHECK_OK( clv_space_add( space, boxes, OBJECTS, ids ) );
        check_count( &hooks, before, "clv_space_add" );
        for ( uint32_t frame = 0; frame < FRAMES; ++frame )
        {
            test_where.frame = frame;
            CHECK_OK( clv_space_move( space, ids, boxes, OBJECTS ) );
            CHECK_OK( clv_space_update( space ) );
            check_count( &hooks, before, "clv_space_update" );
            move_some( boxes, &random );
        }
        clv_space_destroy( space );
        check_count( &hooks, before, "clv_space_destroy" );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( hulls_take_memory_through_the_hooks_alone ),
        TEST_CASE( sweeps_and_simulations_take_memory_through_the_hooks_alone ),
        TEST_CASE( spaces_take_memory_through_the_hooks_alone ),
    };
    return test_run( "hook", cases, TEST_COUNT( cases ), argc, argv );
}

#else

int main( void )
{
    printf( "The C library's malloc cannot be counted here.\n" );
    return 77;
}

#endif
