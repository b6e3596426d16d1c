// SPDX-License-Identifier: MIT
// Lists of near points against brute force in the same arithmetic: all kinds of cells, types, forms, workers
// and instruction sets.
#include "heap.h"
#include "near/near_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MOST = 700
};

// A world of points, in both types: floats that are doubles too.
typedef struct near_world
{
    clv_near_def def;
    uint32_t count;
    float xyz[3 * MOST];
    double xyz64[3 * MOST];
    float radii[MOST];
    double radii64[MOST];
    uint32_t groups[MOST];
    clv_near_cell cell;
    bool has_cell, has_radii, has_groups;
    clv_pair excluded[MOST];
    uint32_t excluded_count;
    uint32_t stride; ///< numbers from point to point: those of a point, or one more
} near_world;

static clv_near_points points_of( const near_world* world )
{
    bool doubles = world->def.doubles;
    clv_near_points points = { .stride = world->stride * ( doubles ? 8 : 4 ),
        .count = world->count,
        .groups = world->has_groups ? world->groups : NULL,
        .cell = world->has_cell ? &world->cell : NULL };
    points.positions = doubles ? NULL : world->xyz;
    points.positions64 = doubles ? world->xyz64 : NULL;
    points.radii = doubles || !world->has_radii ? NULL : world->radii;
    points.radii64 = doubles && world->has_radii ? world->radii64 : NULL;
    return points;
}

static double unit( test_random* random )
{
    return (double)( test_random_next( random ) >> 11 ) * 0x1p-53;
}

static void set_point( near_world* world, uint32_t i, double x, double y, double z )
{
    const double at[3] = { x, y, z };
    for ( uint32_t axis = 0; axis < ( world->def.flat ? 2u : 3u ); ++axis )
    {
        world->xyz[i * world->stride + axis] = (float)at[axis];
        world->xyz64[i * world->stride + axis] = world->def.doubles ? at[axis] : (float)at[axis];
    }
}

static near_world* new_world( bool doubles, bool flat, double cutoff )
{
    near_world* world = calloc( 1, sizeof( near_world ) );
    world->def = clv_default_near_def();
    world->def.doubles = doubles;
    world->def.flat = flat;
    world->def.cutoff = cutoff;
    world->stride = flat ? 2 : 3;
    return world;
}

// ---- the judge

typedef struct near_entry
{
    uint32_t a, b;
    int32_t shift[3];
    double squared, vector[3];
} near_entry;

typedef struct entry_list
{
    near_entry* items;
    size_t count, capacity;
} entry_list;

static void add_entry( entry_list* list, near_entry entry )
{
    if ( list->count == list->capacity )
    {
        list->capacity = list->capacity * 2 + 64;
        list->items = realloc( list->items, list->capacity * sizeof( near_entry ) );
    }
    list->items[list->count++] = entry;
}

static int compare_entries( const void* a, const void* b )
{
    const near_entry *x = a, *y = b;
    if ( x->a != y->a || x->b != y->b )
    {
        return x->a != y->a ? ( x->a < y->a ? -1 : 1 ) : x->b < y->b ? -1 : 1;
    }
    for ( int k = 0; k < 3; ++k )
    {
        if ( x->shift[k] != y->shift[k] )
        {
            return x->shift[k] < y->shift[k] ? -1 : 1;
        }
    }
    return 0;
}

// One more or one less rounding would show: in T, step by step.
static double rounded( bool doubles, double value )
{
    return doubles ? value : (double)(float)value;
}

static bool judge_vector( const near_world* world, const double p[3], const double q[3],
    const int32_t shift[3], double limit, near_entry* out )
{
    bool doubles = world->def.doubles;
    double sum = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double image = q[axis];
        if ( shift[0] != 0 || shift[1] != 0 || shift[2] != 0 )
        {
            double offset = 0;
            for ( int k = 0; k < 3; ++k )
            {
                offset += shift[k] * ( world->cell.periodic[k] ? world->cell.edges[k][axis] : 0 );
            }
            image = rounded( doubles, image + rounded( doubles, offset ) );
        }
        out->vector[axis] = rounded( doubles, image - p[axis] );
        double square = rounded( doubles, out->vector[axis] * out->vector[axis] );
        sum = axis == 0 ? square : rounded( doubles, sum + square );
    }
    out->squared = sum;
    return sum <= rounded( doubles, limit * limit );
}

static double limit_of( const near_world* world, uint32_t a, uint32_t b )
{
    bool doubles = world->def.doubles;
    double limit =
        rounded( doubles, rounded( doubles, world->def.cutoff ) + rounded( doubles, world->def.skin ) );
    if ( world->has_radii )
    {
        double sum =
            doubles ? world->radii64[a] + world->radii64[b] : (double)( world->radii[a] + world->radii[b] );
        limit = rounded( doubles, sum + limit );
    }
    return limit;
}

static bool is_excluded( const near_world* world, uint32_t a, uint32_t b )
{
    for ( uint32_t i = 0; i < world->excluded_count; ++i )
    {
        clv_pair pair = world->excluded[i];
        if ( ( pair.a == a && pair.b == b ) || ( pair.a == b && pair.b == a ) )
        {
            return true;
        }
    }
    return world->has_groups && world->groups[a] == world->groups[b] && world->groups[a] != 0;
}

// The wrapped point lies in the cell, and is the point as given less its cells.
static void check_wrap(
    const clv_near* near, const near_world* world, uint32_t i, double q[3], int32_t wrap[3] )
{
    near_place( near, i, q );
    double scale = 0;
    wrap[0] = wrap[1] = wrap[2] = 0;
    double way[3] = { 0, 0, 0 }, cells[3];
    for ( uint32_t axis = 0; axis < ( world->def.flat ? 2u : 3u ); ++axis )
    {
        way[axis] = world->xyz64[i * world->stride + axis] - q[axis];
    }
    near_fractions( &near->frame, way, cells );
    for ( int k = 0; k < 3 && near->frame.is_periodic; ++k )
    {
        wrap[k] = near->frame.cell.periodic[k] ? (int32_t)lround( cells[k] ) : 0;
        CHECK( near->wraps.count == 0 || near->wraps.items[3 * i + (uint32_t)k] == wrap[k] );
        scale += near->frame.cell.periodic[k] ? hypot( near->frame.edges[k][0], near->frame.edges[k][1] ) : 0;
        scale += near->frame.cell.periodic[k] ? fabs( near->frame.edges[k][2] ) : 0;
    }
    double epsilon = 8 * ( world->def.doubles ? DBL_EPSILON : (double)FLT_EPSILON );
    for ( uint32_t axis = 0; axis < ( world->def.flat ? 2u : 3u ); ++axis )
    {
        double at = world->xyz64[i * world->stride + axis], back = q[axis];
        for ( int k = 0; k < 3; ++k )
        {
            back += wrap[k] * ( wrap[k] != 0 ? near->frame.edges[k][axis] : 0 );
        }
        CHECK( fabs( back - at ) <= epsilon * ( scale + fabs( at ) + fabs( q[axis] ) ) );
    }
    double s[3];
    near_fractions( &near->frame, q, s );
    for ( int k = 0; k < 3; ++k )
    {
        double far = fabs( q[0] ) + fabs( q[1] ) + fabs( q[2] ),
               room = epsilon * ( scale + far ) / near->frame.heights[k];
        CHECK( !near->frame.cell.periodic[k] || ( s[k] >= -room && s[k] <= 1 + room ) );
    }
}

// Every pair and image, by brute force over the points as the list wrapped them.
static entry_list judge( const clv_near* near, const near_world* world )
{
    entry_list list = { 0 };
    static double places[MOST][3];
    static int32_t wraps[MOST][3];
    double most = 0;
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        check_wrap( near, world, i, places[i], wraps[i] );
        most = fmax( most, limit_of( world, i, i ) );
    }
    int32_t range[3];
    for ( int k = 0; k < 3; ++k )
    {
        range[k] = near->frame.cell.periodic[k] ? (int32_t)( most / near->frame.heights[k] + 2 ) : 0;
    }
    for ( uint32_t a = 0; a < world->count; ++a )
    {
        for ( uint32_t b = a; b < world->count; ++b )
        {
            if ( is_excluded( world, a, b ) )
            {
                continue;
            }
            for ( int32_t x = -range[0]; x <= range[0]; ++x )
            {
                for ( int32_t y = -range[1]; y <= range[1]; ++y )
                {
                    for ( int32_t z = -range[2]; z <= range[2]; ++z )
                    {
                        int32_t first = x != 0 ? x : y != 0 ? y : z;
                        int32_t up[3] = { first < 0 ? -x : x, first < 0 ? -y : y, first < 0 ? -z : z };
                        near_entry entry = { a, b, { x, y, z }, 0, { 0, 0, 0 } };
                        bool is_near = first < 0
                            ? judge_vector( world, places[b], places[a], up, limit_of( world, a, b ), &entry )
                            : judge_vector(
                                  world, places[a], places[b], up, limit_of( world, a, b ), &entry );
                        if ( ( a == b && first <= 0 ) || !is_near )
                        {
                            continue;
                        }
                        for ( int k = 0; k < 3; ++k )
                        {
                            entry.vector[k] = first < 0 ? -entry.vector[k] : entry.vector[k];
                            entry.shift[k] += wraps[a][k] - wraps[b][k];
                        }
                        add_entry( &list, entry );
                    }
                }
            }
        }
    }
    return list;
}

static near_entry entry_at( const clv_near_view* view, uint64_t i, uint32_t point )
{
    near_entry entry = { point, 0, { 0, 0, 0 }, -1, { 0, 0, 0 } };
    if ( view->pairs != NULL )
    {
        entry.a = view->pairs[i].a, entry.b = view->pairs[i].b;
    }
    else
    {
        entry.b = view->indices[i];
    }
    for ( uint64_t k = 0; k < 3; ++k )
    {
        entry.shift[k] = view->shifts != NULL ? view->shifts[3 * i + k] : 0;
        entry.vector[k] = view->vectors != NULL ? (double)view->vectors[3 * i + k]
            : view->vectors64 != NULL           ? view->vectors64[3 * i + k]
                                                : 0;
    }
    entry.squared = view->squared != NULL ? (double)view->squared[i]
        : view->squared64 != NULL         ? view->squared64[i]
                                          : -1;
    return entry;
}

static entry_list entries_of( const clv_near_view* view )
{
    entry_list list = { 0 };
    uint32_t point = 0;
    for ( uint64_t i = 0; i < view->count; ++i )
    {
        while ( view->offsets != NULL && view->offsets[point + 1] <= i )
        {
            point += 1;
        }
        add_entry( &list, entry_at( view, i, point ) );
    }
    return list;
}

// The expected entries in the form of the list: both sides where it is full.
static void both_sides( entry_list* list )
{
    size_t count = list->count;
    for ( size_t i = 0; i < count; ++i )
    {
        near_entry other = list->items[i];
        other.a = list->items[i].b, other.b = list->items[i].a;
        for ( int k = 0; k < 3; ++k )
        {
            other.shift[k] = -other.shift[k];
            other.vector[k] = -other.vector[k];
        }
        add_entry( list, other );
    }
}

static void sort_entries( entry_list* list )
{
    if ( list->count > 1 ) // an empty list has no array
    {
        qsort( list->items, list->count, sizeof( near_entry ), compare_entries );
    }
}

static void check_entries( const near_world* world, entry_list* found, entry_list* expected )
{
    if ( world->def.full )
    {
        both_sides( expected );
    }
    sort_entries( found );
    sort_entries( expected );
    CHECK_EQUAL( found->count, expected->count );
    for ( size_t i = 0; i < found->count; ++i )
    {
        const near_entry *f = &found->items[i], *e = &expected->items[i];
        CHECK_EQUAL( f->a, e->a );
        CHECK_EQUAL( f->b, e->b );
        for ( int k = 0; k < 3; ++k )
        {
            CHECK( !world->def.shifts || f->shift[k] == e->shift[k] );
            CHECK( !world->def.vectors || !world->def.shifts || f->vector[k] == e->vector[k] );
        }
        CHECK( !world->def.squared || !world->def.shifts || f->squared == e->squared );
    }
}

static uint64_t mix_bytes( uint64_t hash, const void* data, size_t size )
{
    const unsigned char* bytes = data;
    for ( size_t i = 0; data != NULL && i < size; ++i )
    {
        hash = test_mix( hash ^ bytes[i] );
    }
    return hash;
}

// Of every array in its order.
static uint64_t hash_view( const clv_near_view* view )
{
    uint64_t hash = view->count;
    hash = mix_bytes( hash, view->pairs, view->count * sizeof( clv_pair ) );
    hash = mix_bytes( hash, view->offsets, ( view->point_count + 1u ) * sizeof( uint64_t ) );
    hash = mix_bytes( hash, view->indices, view->count * sizeof( uint32_t ) );
    hash = mix_bytes( hash, view->squared, view->count * sizeof( float ) );
    hash = mix_bytes( hash, view->squared64, view->count * sizeof( double ) );
    hash = mix_bytes( hash, view->vectors, 3 * view->count * sizeof( float ) );
    hash = mix_bytes( hash, view->vectors64, 3 * view->count * sizeof( double ) );
    return mix_bytes( hash, view->shifts, 3 * view->count * sizeof( int32_t ) );
}

typedef struct visit_notes
{
    uint64_t hash, count, chunks;
    clv_near* near;
} visit_notes;

static bool note_chunk( const clv_near_view* view, void* user )
{
    visit_notes* notes = user;
    notes->hash = mix_bytes( notes->hash, view->pairs, view->count * sizeof( clv_pair ) );
    notes->count += view->count;
    notes->chunks += 1;
    const clv_near_points none = { 0 };
    CHECK( notes->near == NULL || clv_near_update( notes->near, &none, NULL ) == CLV_BUSY );
    return true;
}

static clv_near* make_near( const near_world* world )
{
    clv_near* near = NULL;
    CHECK_OK( clv_near_create( &world->def, &near ) );
    CHECK_OK( clv_near_exclude( near, world->excluded, world->excluded_count ) );
    return near;
}

// The list equals brute force, is the same for every instruction set and 1 to 4 workers, and a visit sees it.
static void check_world( near_world* world )
{
    uint64_t hash = 0, visited = 0;
    clv_near_points points = points_of( world );
    for ( uint32_t isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
    {
        if ( !clv_isa_is_supported( (clv_isa)isa ) )
        {
            continue;
        }
        test_where.isa = world->def.isa = (clv_isa)isa;
        world->def.worker_count = test_where.worker_count = 1 + ( isa + world->count ) % 4;
        clv_near* near = make_near( world );
        bool is_new = false;
        CHECK_OK( clv_near_update( near, &points, &is_new ) );
        CHECK( is_new );
        clv_near_view view = clv_near_list( near );
        CHECK( view.valid );
        if ( isa == CLV_ISA_SCALAR )
        {
            entry_list expected = judge( near, world ), found = entries_of( &view );
            check_entries( world, &found, &expected );
            free( expected.items );
            free( found.items );
            hash = hash_view( &view );
        }
        CHECK_EQUAL( hash_view( &view ), hash );
        if ( !world->def.full && !world->def.by_point )
        {
            visit_notes notes = { 1, 0, 0, near };
            uint64_t count = view.count, list = mix_bytes( 1, view.pairs, view.count * sizeof( clv_pair ) );
            CHECK_OK( clv_near_visit( near, &points, note_chunk, &notes ) );
            CHECK_EQUAL( notes.count, count );
            CHECK_EQUAL( notes.hash, list );
            visited = isa == CLV_ISA_SCALAR ? notes.chunks : visited;
            CHECK_EQUAL( notes.chunks, visited );
            CHECK( !clv_near_list( near ).valid );
        }
        clv_near_destroy( near );
    }
}

// ---- worlds

typedef enum world_kind
{
    WORLD_LIQUID,
    WORLD_LATTICE, ///< distances equal to the cutoff all the time
    WORLD_SAME,
    WORLD_KNOTS, ///< far apart, each much smaller than the way to the next
    WORLD_LINE,
    WORLD_PLANE,
    WORLD_OUTLIER,
    WORLD_AWAY, ///< far outside the cell
    WORLD_KIND_COUNT
} world_kind;

static void fill_point( near_world* world, world_kind kind, uint32_t i, test_random* random )
{
    double x = 8 * unit( random ), y = 8 * unit( random ), z = 8 * unit( random );
    switch ( kind )
    {
    case WORLD_LIQUID: break;
    case WORLD_LATTICE: x = floor( x ), y = floor( y ), z = floor( z ); break;
    case WORLD_SAME: x = 1 + i % 3, y = 2, z = 3; break;
    case WORLD_KNOTS: x = x / 64 + 1e6 * ( i % 5 ), y = y / 64 - 3e5 * ( i % 3 ), z = z / 64; break;
    case WORLD_LINE: x = 0.3 * i, y = 0.1 * i, z = 0.2 * i; break;
    case WORLD_PLANE: x = y - z; break;
    case WORLD_OUTLIER: x = i == 7 ? 1e15 : x; break;
    default: x += 800 * floor( x - 4 ), y -= 80 * floor( y ), z += 8 * floor( z ); break;
    }
    set_point( world, i, x, y, z );
}

static void fill_cell( near_world* world, test_random* random )
{
    clv_near_cell* cell = &world->cell;
    memset( cell, 0, sizeof( *cell ) );
    double size = test_random_chance( random, 30 ) ? 1.5 : 8; // the smaller one is below twice the cutoff
    bool is_skewed = test_random_chance( random, 50 );
    for ( int k = 0; k < ( world->def.flat ? 2 : 3 ); ++k )
    {
        cell->periodic[k] = test_random_chance( random, 65 );
        for ( int axis = 0; axis < ( world->def.flat ? 2 : 3 ) && is_skewed; ++axis )
        {
            cell->edges[k][axis] = size * ( unit( random ) - 0.5 );
        }
        cell->edges[k][k] = size * ( 1 + unit( random ) / 4 );
    }
    world->has_cell = true;
}

static void random_world( uint64_t seed )
{
    test_random random = test_random_make( seed );
    near_world* world = new_world( seed % 2 == 0, seed % 5 == 0, 0.3 + 1.2 * unit( &random ) );
    test_where.seed = seed;
    world_kind kind = (world_kind)( seed % WORLD_KIND_COUNT );
    world->cell.edges[0][0] = 1;
    if ( test_random_chance( &random, 70 ) )
    {
        fill_cell( world, &random );
    }
    bool is_small = world->has_cell && fabs( world->cell.edges[0][0] ) < 4;
    world->count = is_small ? 1 + test_random_below( &random, 30 ) : 1 + test_random_below( &random, 400 );
    world->stride += test_random_below( &random, 2 );
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        fill_point( world, kind == WORLD_OUTLIER && world->has_cell ? WORLD_LIQUID : kind, i, &random );
        double radius = floor( 4 * unit( &random ) ) / 8;
        world->radii[i] = (float)radius;
        world->radii64[i] = radius;
        world->groups[i] = test_random_below( &random, 5 );
    }
    world->def.cutoff = kind == WORLD_LATTICE ? 1 + (double)( seed % 2 ) : world->def.cutoff;
    world->has_radii = test_random_chance( &random, 25 );
    world->has_groups = test_random_chance( &random, 25 );
    world->excluded_count =
        world->count > 1 && test_random_chance( &random, 30 ) ? 1 + test_random_below( &random, 50 ) : 0;
    for ( uint32_t i = 0; i < world->excluded_count; ++i )
    {
        uint32_t a = test_random_below( &random, world->count );
        world->excluded[i] =
            ( clv_pair ){ a, ( a + 1 + test_random_below( &random, world->count - 1 ) ) % world->count };
    }
    world->def.full = test_random_chance( &random, 40 );
    world->def.by_point = test_random_chance( &random, 40 );
    world->def.shifts = test_random_chance( &random, 75 );
    world->def.squared = test_random_chance( &random, 50 );
    world->def.vectors = test_random_chance( &random, 50 );
    world->def.skin = test_random_chance( &random, 20 ) ? 0.2 : 0;
    check_world( world );
    free( world );
}

static void random_worlds_match_brute_force( void )
{
    uint32_t seeds = test_scaled( 300 );
    for ( uint64_t seed = 1; seed <= seeds; ++seed )
    {
        random_world( seed );
    }
}

// ---- exact little cases

static uint64_t count_pairs( const near_world* world )
{
    clv_near* near = make_near( world );
    clv_near_points points = points_of( world );
    CHECK_OK( clv_near_update( near, &points, NULL ) );
    uint64_t count = clv_near_list( near ).count;
    clv_near_destroy( near );
    return count;
}

static void a_distance_equal_to_the_cutoff_counts( void )
{
    near_world* world = new_world( false, false, 5 );
    world->count = 2;
    set_point( world, 0, 1, 1, 1 );
    set_point( world, 1, 4, 5, 1 );
    CHECK_EQUAL( count_pairs( world ), 1 );
    world->def.cutoff = (double)nextafterf( 5, 0 );
    CHECK_EQUAL( count_pairs( world ), 0 );
    free( world );
}

static void cutoff_zero_lists_equal_points( void )
{
    near_world* world = new_world( true, false, 0 );
    world->count = 600;
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        set_point( world, i, i % 300, 1e9 * ( i % 300 ), 0 );
    }
    CHECK_EQUAL( count_pairs( world ), 300 );
    free( world );
}

static void equal_points_are_all_pairs( void )
{
    near_world* world = new_world( false, false, 0.5 );
    world->count = MOST;
    CHECK_EQUAL( count_pairs( world ), MOST * ( MOST - 1 ) / 2 );
    world->def.full = true;
    world->def.by_point = true;
    CHECK_EQUAL( count_pairs( world ), MOST * ( MOST - 1 ) );
    free( world );
}

static void no_point_and_one_point_have_no_pairs( void )
{
    near_world* world = new_world( false, true, 1 );
    CHECK_EQUAL( count_pairs( world ), 0 );
    world->def.by_point = true;
    world->def.full = true;
    CHECK_EQUAL( count_pairs( world ), 0 );
    world->count = 1;
    CHECK_EQUAL( count_pairs( world ), 0 );
    // No point in a cell so small that one would have more images than there can be.
    world->count = 0;
    world->has_cell = true;
    world->cell =
        ( clv_near_cell ){ { { 1e-12, 0, 0 }, { 0, 1e-12, 0 }, { 0, 0, 1 } }, { true, true, false } };
    CHECK_EQUAL( count_pairs( world ), 0 );
    free( world );
}

// A lattice of one atom: 6 neighbours at 1, 12 at sqrt 2, 8 at sqrt 3, half of each listed.
static void a_point_meets_its_own_images( void )
{
    near_world* world = new_world( true, false, 1 );
    world->count = 1;
    set_point( world, 0, 0.25, 0.5, 0.75 );
    world->has_cell = true;
    world->cell = ( clv_near_cell ){ { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, { true, true, true } };
    CHECK_EQUAL( count_pairs( world ), 3 );
    world->def.cutoff = 1.42;
    CHECK_EQUAL( count_pairs( world ), 9 );
    world->def.cutoff = 1.74;
    CHECK_EQUAL( count_pairs( world ), 13 );
    world->def.full = true;
    CHECK_EQUAL( count_pairs( world ), 26 );
    world->def.cutoff = 20;
    world->def.full = false;
    CHECK_EQUAL( count_pairs( world ), 33400 / 2 ); // lattice points within 20 of one, without itself
    free( world );
}

static void the_shift_tells_where_a_point_was_wrapped_from( void )
{
    near_world* world = new_world( true, false, 1 );
    world->def.shifts = world->def.vectors = true;
    world->has_cell = true;
    world->cell = ( clv_near_cell ){ { { 10, 0, 0 }, { 0, 10, 0 }, { 0, 0, 10 } }, { true, false, false } };
    world->count = 2;
    set_point( world, 0, 0.25, 5, 5 );
    set_point( world, 1, -30.5, 5, 5 ); // 9.5 in the cell: -0.5 for the first
    clv_near* near = make_near( world );
    clv_near_points points = points_of( world );
    CHECK_OK( clv_near_update( near, &points, NULL ) );
    clv_near_view view = clv_near_list( near );
    CHECK_EQUAL( view.count, 1 );
    CHECK( view.shifts[0] == 3 && view.shifts[1] == 0 && view.shifts[2] == 0 );
    CHECK( view.vectors64[0] == -0.75 && view.vectors64[1] == 0 );
    clv_near_destroy( near );
    free( world );
}

// The squares of such distances are all 0 in float, and so they are equal.
static void tiny_cutoffs_follow_the_arithmetic( void )
{
    near_world* world = new_world( false, false, 1e-30 );
    world->count = 300;
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        set_point( world, i, 1e-24 * ( i % 20 ), i / 20, 0 );
    }
    CHECK_EQUAL( count_pairs( world ), 15 * 190 );
    check_world( world );
    free( world );
}

static void one_giant_radius_is_no_cliff( void )
{
    enum
    {
        COUNT = 20000
    };
    float* xyz = malloc( 3 * COUNT * sizeof( float ) );
    float* radii = malloc( COUNT * sizeof( float ) );
    test_random random = test_random_make( 5 );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            xyz[3 * i + axis] = (float)( 100 * unit( &random ) );
        }
        radii[i] = i == 77 ? 400.0f : 0.01f;
    }
    clv_near_def def = clv_default_near_def();
    clv_near* near = NULL;
    CHECK_OK( clv_near_create( &def, &near ) );
    clv_near_points points = { .positions = xyz, .stride = 12, .count = COUNT, .radii = radii };
    CHECK_OK( clv_near_update( near, &points, NULL ) );
    CHECK( clv_near_list( near ).count >= COUNT - 1 );
    CHECK( clv_near_get_stats( near ).test_count < 2 * COUNT );
    clv_near_destroy( near );
    free( xyz );
    free( radii );
}

// Knots in a world 10^12 cutoffs wide: pairs that are tested stay of the order of the points.
static void knots_far_apart_are_not_quadratic( void )
{
    enum
    {
        COUNT = 20000
    };
    double* xyz = malloc( 3 * COUNT * sizeof( double ) );
    test_random random = test_random_make( 6 );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            xyz[3 * i + axis] = 1e9 * ( i % 4 * ( axis == 0 ) ) + unit( &random );
        }
    }
    clv_near_def def = clv_default_near_def();
    def.cutoff = 0.01;
    def.doubles = true;
    clv_near* near = NULL;
    CHECK_OK( clv_near_create( &def, &near ) );
    clv_near_points points = { .positions64 = xyz, .stride = 24, .count = COUNT };
    CHECK_OK( clv_near_update( near, &points, NULL ) );
    CHECK( clv_near_get_stats( near ).test_count < 20 * COUNT );
    clv_near_destroy( near );
    free( xyz );
}

// ---- a skin

static void a_skin_keeps_the_list_while_it_may( void )
{
    near_world* world = new_world( false, false, 1 );
    world->def.skin = 0.5;
    world->def.squared = true;
    world->count = 200;
    test_random random = test_random_make( 3 );
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        fill_point( world, WORLD_LIQUID, i, &random );
    }
    clv_near* near = make_near( world );
    clv_near_points points = points_of( world );
    bool is_new = false;
    CHECK_OK( clv_near_update( near, &points, &is_new ) );
    CHECK( is_new );
    world->xyz[0] += 0.24f;
    CHECK_OK( clv_near_update( near, &points, &is_new ) );
    CHECK( !is_new );
    clv_near_view view = clv_near_list( near );
    uint64_t within = 0, expected = 0;
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        const float *a = world->xyz + 3 * view.pairs[i].a, *b = world->xyz + 3 * view.pairs[i].b;
        float dx = b[0] - a[0], dy = b[1] - a[1], dz = b[2] - a[2];
        CHECK( view.squared[i] == dx * dx + dy * dy + dz * dz ); // of the points now
        within += view.squared[i] <= 1;
    }
    world->def.skin = 0;
    expected = count_pairs( world );
    CHECK_EQUAL( within, expected ); // none is missing
    world->xyz[0] += 0.02f;
    CHECK_OK( clv_near_update( near, &points, &is_new ) );
    CHECK( is_new );
    CHECK_OK( clv_near_update( near, &points, &is_new ) );
    CHECK( !is_new );
    CHECK_OK( clv_near_exclude( near, NULL, 0 ) );
    CHECK_OK( clv_near_update( near, &points, &is_new ) );
    CHECK( is_new );
    world->xyz[5] = NAN;
    CHECK_RESULT( clv_near_update( near, &points, &is_new ), CLV_BAD_ARGUMENT );
    CHECK_EQUAL( clv_near_error( near ).position, 1 );
    CHECK( clv_near_list( near ).valid );
    clv_near_destroy( near );
    free( world );
}

// ---- refused

static void check_refused( near_world* world, uint32_t position )
{
    clv_near* near = make_near( world );
    clv_near_points points = points_of( world );
    CHECK_RESULT( clv_near_update( near, &points, NULL ), CLV_BAD_ARGUMENT );
    CHECK_EQUAL( clv_near_error( near ).position, position );
    CHECK( clv_near_error( near ).text[0] != '\0' );
    clv_near_destroy( near );
}

static void bad_input_is_refused_with_its_position( void )
{
    near_world* world = new_world( true, false, 1 );
    world->count = 10;
    world->xyz64[3 * 4 + 1] = NAN;
    check_refused( world, 4 );
    world->xyz64[3 * 4 + 1] = -INFINITY;
    check_refused( world, 4 );
    world->xyz64[3 * 4 + 1] = 0;
    world->has_radii = true;
    world->radii64[6] = -1;
    check_refused( world, 6 );
    world->radii64[6] = NAN;
    check_refused( world, 6 );
    world->has_radii = false;
    world->has_cell = true;
    world->cell = ( clv_near_cell ){ { { 1, 0, 0 }, { 2, 0, 0 }, { 0, 0, 1 } }, { true, true, true } };
    check_refused( world, UINT32_MAX ); // singular
    world->cell.edges[1][1] = INFINITY;
    check_refused( world, UINT32_MAX );
    world->cell = ( clv_near_cell ){ { { 1, 0, 0 }, { 0, 0, 0 }, { 0, 0, 1 } }, { true, false, true } };
    CHECK_EQUAL( count_pairs( world ) > 0, 1 ); // an open axis needs no edge
    world->cell.periodic[1] = true;
    check_refused( world, UINT32_MAX );
    world->cell.edges[1][1] = 1;
    world->xyz64[3 * 2] = 1e12;
    check_refused( world, 2 ); // too far for a shift
    world->has_cell = false;
    world->stride = 2;
    check_refused( world, UINT32_MAX );
    free( world );
}

static void bad_defs_are_refused( void )
{
    clv_near* near = NULL;
    const double bad[] = { -1, NAN, INFINITY, 1e30 };
    for ( size_t i = 0; i < TEST_COUNT( bad ); ++i )
    {
        clv_near_def def = clv_default_near_def();
        def.cutoff = bad[i];
        CHECK_RESULT( clv_near_create( &def, &near ), CLV_BAD_DEF );
        def.cutoff = 1;
        def.skin = bad[i];
        CHECK_RESULT( clv_near_create( &def, &near ), CLV_BAD_DEF );
    }
    clv_near_def def = clv_default_near_def();
    def.worker_count = 0;
    CHECK_RESULT( clv_near_create( &def, &near ), CLV_BAD_DEF );
    memset( &def, 0, sizeof( def ) );
    CHECK_RESULT( clv_near_create( &def, &near ), CLV_BAD_DEF );
    CHECK( near == NULL );
    clv_near_destroy( NULL );
}

static bool stop_at_once( const clv_near_view* view, void* user )
{
    (void)view, (void)user;
    return false;
}

static void limits_and_stops_are_told( void )
{
    near_world* world = new_world( false, false, 1 );
    world->count = 100;
    world->def.max_pairs = 4949;
    clv_near* near = make_near( world );
    clv_near_points points = points_of( world );
    CHECK_RESULT( clv_near_update( near, &points, NULL ), CLV_TOO_MANY_PAIRS );
    CHECK( !clv_near_list( near ).valid );
    visit_notes notes = { 0 };
    CHECK_RESULT( clv_near_visit( near, &points, note_chunk, &notes ), CLV_TOO_MANY_PAIRS );
    world->def.max_pairs = 0;
    clv_near_destroy( near );
    near = make_near( world );
    CHECK_RESULT( clv_near_visit( near, &points, stop_at_once, NULL ), CLV_STOPPED );
    CHECK_OK( clv_near_update( near, &points, NULL ) );
    CHECK_EQUAL( clv_near_list( near ).count, 4950 );
    const clv_pair self = { 3, 3 };
    CHECK_RESULT( clv_near_exclude( near, &self, 1 ), CLV_BAD_ARGUMENT );
    clv_near_destroy( near );
    world->def.full = true;
    near = make_near( world );
    CHECK_RESULT( clv_near_visit( near, &points, note_chunk, &notes ), CLV_UNSUPPORTED );
    clv_near_destroy( near );
    free( world );
}

// Each allocation refused in turn: an answer that says so, nothing leaked, and the next call is good.
static void failed_allocations( bool with_radii, bool full )
{
    near_world* world = new_world( false, false, 1.5 );
    world->has_cell = true;
    world->cell = ( clv_near_cell ){ { { 8, 1, 0 }, { 0, 8, 0 }, { 0, 2, 8 } }, { true, true, false } };
    world->has_radii = with_radii;
    world->def.full = full;
    world->def.by_point = full;
    world->def.vectors = world->def.squared = world->def.shifts = true;
    world->def.skin = 0.25;
    world->def.worker_count = 2;
    world->excluded[0] = ( clv_pair ){ 1, 2 };
    world->excluded_count = 1;
    world->count = 150;
    test_random random = test_random_make( 9 );
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        fill_point( world, WORLD_LIQUID, i, &random );
        world->radii[i] = 0.1f * (float)( i % 4 );
    }
    heap memory = { 0 };
    world->def.allocator = heap_hooks( &memory );
    clv_near_points points = points_of( world );
    for ( uint64_t refused = 1, is_over = 0; !is_over; ++refused )
    {
        memory.allocate_count = 0;
        memory.refuse_from = refused;
        memory.refuse_count = 1;
        memory.refused_count = 0;
        clv_near* near = NULL;
        clv_result result = clv_near_create( &world->def, &near );
        result = result == CLV_OK ? clv_near_exclude( near, world->excluded, 1 ) : result;
        result = result == CLV_OK ? clv_near_update( near, &points, NULL ) : result;
        visit_notes notes = { 0 };
        result = result == CLV_OK && !full ? clv_near_visit( near, &points, note_chunk, &notes ) : result;
        CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
        CHECK( result == CLV_OK || memory.refused_count == 1 );
        is_over = memory.refused_count == 0;
        heap_heal( &memory );
        if ( near != NULL )
        {
            CHECK_OK( clv_near_update( near, &points, NULL ) );
            CHECK( clv_near_list( near ).count > 0 );
            clv_near_destroy( near );
        }
        CHECK_EQUAL( memory.bytes, 0 );
    }
    free( world );
}

static void failed_allocations_change_nothing( void )
{
    failed_allocations( false, false );
    failed_allocations( false, true );
    failed_allocations( true, false );
}

static void steady_updates_take_no_memory( void )
{
    near_world* world = new_world( false, false, 1 );
    world->count = 500;
    test_random random = test_random_make( 4 );
    heap memory = { 0 };
    world->def.allocator = heap_hooks( &memory );
    clv_near* near = make_near( world );
    clv_near_points points = points_of( world );
    uint64_t allocations = 0;
    for ( int step = 0; step < 4; ++step )
    {
        for ( uint32_t i = 0; i < world->count && step < 3; ++i )
        {
            fill_point( world, WORLD_LIQUID, i, &random );
        }
        allocations = memory.allocate_count;
        CHECK_OK( clv_near_update( near, &points, NULL ) );
    }
    CHECK_EQUAL( memory.allocate_count, allocations );
    clv_near_destroy( near );
    free( world );
}

// Enough points for every worker to place some, and for several pieces of a search.
static void many_points_are_the_same_for_all_workers( void )
{
    enum
    {
        COUNT = 40000
    };
    double* xyz = malloc( 3 * COUNT * sizeof( double ) );
    test_random random = test_random_make( 8 );
    for ( uint32_t i = 0; i < 3 * COUNT; ++i )
    {
        xyz[i] = 34 * unit( &random );
    }
    uint64_t hash = 0;
    for ( uint32_t workers = 1; workers <= 4; ++workers )
    {
        clv_near_def def = clv_default_near_def();
        def.cutoff = 1.4;
        def.doubles = true;
        def.worker_count = test_where.worker_count = workers;
        def.shifts = def.squared = true;
        clv_near_cell cell = { { { 34, 0, 0 }, { 0, 34, 0 }, { 3, 0, 34 } }, { true, true, true } };
        clv_near* near = NULL;
        CHECK_OK( clv_near_create( &def, &near ) );
        clv_near_points points = { .positions64 = xyz, .stride = 24, .count = COUNT, .cell = &cell };
        CHECK_OK( clv_near_update( near, &points, NULL ) );
        clv_near_view view = clv_near_list( near );
        hash = workers == 1 ? hash_view( &view ) : hash;
        CHECK_EQUAL( hash_view( &view ), hash );
        clv_near_destroy( near );
    }
    free( xyz );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_distance_equal_to_the_cutoff_counts ),
        TEST_CASE( cutoff_zero_lists_equal_points ),
        TEST_CASE( equal_points_are_all_pairs ),
        TEST_CASE( no_point_and_one_point_have_no_pairs ),
        TEST_CASE( a_point_meets_its_own_images ),
        TEST_CASE( the_shift_tells_where_a_point_was_wrapped_from ),
        TEST_CASE( tiny_cutoffs_follow_the_arithmetic ),
        TEST_CASE( one_giant_radius_is_no_cliff ),
        TEST_CASE( knots_far_apart_are_not_quadratic ),
        TEST_CASE( a_skin_keeps_the_list_while_it_may ),
        TEST_CASE( bad_input_is_refused_with_its_position ),
        TEST_CASE( bad_defs_are_refused ),
        TEST_CASE( limits_and_stops_are_told ),
        TEST_CASE( failed_allocations_change_nothing ),
        TEST_CASE( steady_updates_take_no_memory ),
        TEST_CASE( many_points_are_the_same_for_all_workers ),
        TEST_CASE( random_worlds_match_brute_force ),
    };
    return test_run( "near", cases, TEST_COUNT( cases ), argc, argv );
}
