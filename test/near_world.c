// SPDX-License-Identifier: MIT
#include "near_world.h"

#include "near/near_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHECK( condition )                                                                                   \
    ( ( condition ) ? (void)0 : near_world_fail( __FILE__, __LINE__, #condition, world ) )

clv_near_points near_world_points( const near_world* world )
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

void near_world_set( near_world* world, uint32_t i, double x, double y, double z )
{
    const double at[3] = { x, y, z };
    for ( uint32_t axis = 0; axis < ( world->def.flat ? 2u : 3u ); ++axis )
    {
        world->xyz[i * world->stride + axis] = (float)at[axis];
        world->xyz64[i * world->stride + axis] = world->def.doubles ? at[axis] : (float)at[axis];
    }
}

near_world* near_world_new( bool doubles, bool flat, double cutoff )
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

// The wrapped point lies in the cell, and is the point as given less its cells. So far out that rounding
// moves a point by a cell or more, the list alone knows how many those were.
static void check_wrap(
    const clv_near* near, const near_world* world, uint32_t i, double q[3], int32_t wrap[3] )
{
    near_place( near, i, q );
    const near_frame* frame = &near->frame;
    double scale = 0, far = 0, way[3] = { 0, 0, 0 }, cells[3];
    for ( uint32_t axis = 0; axis < ( world->def.flat ? 2u : 3u ); ++axis )
    {
        double at = world->xyz64[i * world->stride + axis];
        way[axis] = at - q[axis];
        far += fabs( at ) + fabs( q[axis] );
    }
    for ( int k = 0; k < 3; ++k )
    {
        bool is_periodic = frame->cell.periodic[k];
        scale += is_periodic ? hypot( frame->edges[k][0], frame->edges[k][1] ) : 0;
        scale += is_periodic ? fabs( frame->edges[k][2] ) : 0;
    }
    near_fractions( frame, way, cells );
    double epsilon = 8 * ( world->def.doubles ? DBL_EPSILON : (double)FLT_EPSILON );
    double s[3], moved[3] = { 0, 0, 0 };
    near_fractions( frame, q, s );
    wrap[0] = wrap[1] = wrap[2] = 0;
    for ( int k = 0; k < 3 && frame->is_periodic; ++k )
    {
        double room = epsilon * ( scale + far ) / frame->heights[k];
        bool is_told = near->wraps.count > 0 && frame->cell.periodic[k];
        int32_t told = is_told ? near->wraps.items[3 * i + (uint32_t)k] : 0;
        wrap[k] = is_told && room > 0.25 ? told : frame->cell.periodic[k] ? (int32_t)lround( cells[k] ) : 0;
        CHECK( !is_told || told == wrap[k] );
        CHECK( !frame->cell.periodic[k] || ( s[k] >= -room && s[k] <= 1 + room ) );
        for ( int axis = 0; axis < 3; ++axis )
        {
            moved[axis] += fabs( wrap[k] != 0 ? wrap[k] * frame->edges[k][axis] : 0 );
        }
    }
    for ( uint32_t axis = 0; axis < ( world->def.flat ? 2u : 3u ); ++axis )
    {
        double at = world->xyz64[i * world->stride + axis], back = q[axis];
        for ( int k = 0; k < 3; ++k )
        {
            back += wrap[k] * ( wrap[k] != 0 ? frame->edges[k][axis] : 0 );
        }
        bool is_judged = near->wraps.count > 0 || !frame->is_periodic;
        CHECK( !is_judged || fabs( back - at ) <= epsilon * ( scale + far + moved[axis] ) );
    }
}

// Every pair and image, by brute force over the points as the list wrapped them.
static entry_list judge( const clv_near* near, const near_world* world )
{
    entry_list list = { 0 };
    static double places[NEAR_WORLD_MOST][3];
    static int32_t wraps[NEAR_WORLD_MOST][3];
    double most = 0;
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        check_wrap( near, world, i, places[i], wraps[i] );
        most = fmax( most, limit_of( world, i, i ) );
    }
    int32_t range[3];
    for ( int k = 0; k < 3; ++k )
    {
        range[k] = near->frame.cell.periodic[k]
            ? (int32_t)( ( most + near->frame.slack ) / near->frame.heights[k] + 2 )
            : 0;
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
    CHECK( found->count == expected->count );
    for ( size_t i = 0; i < found->count; ++i )
    {
        const near_entry *f = &found->items[i], *e = &expected->items[i];
        CHECK( f->a == e->a );
        CHECK( f->b == e->b );
        for ( int k = 0; k < 3; ++k )
        {
            CHECK( !world->def.shifts || f->shift[k] == e->shift[k] );
            CHECK( !world->def.vectors || !world->def.shifts || f->vector[k] == e->vector[k] );
        }
        CHECK( !world->def.squared || !world->def.shifts || f->squared == e->squared );
    }
}

static uint64_t mix_bytes( uint64_t hash, const void* data, uint64_t size )
{
    const unsigned char* bytes = data;
    for ( uint64_t i = 0; data != NULL && i < size; ++i )
    {
        hash = ( hash ^ bytes[i] ) * 0x100000001B3u;
    }
    return hash;
}

// Of every array in its order.
uint64_t near_view_hash( const clv_near_view* view )
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

bool near_note_chunk( const clv_near_view* view, void* user )
{
    near_visit_notes* notes = user;
    notes->hash = mix_bytes( notes->hash, view->pairs, view->count * sizeof( clv_pair ) );
    notes->count += view->count;
    notes->chunks += 1;
    const clv_near_points none = { 0 };
    notes->was_refused = notes->near == NULL || clv_near_update( notes->near, &none, NULL ) == CLV_BUSY;
    return notes->was_refused;
}

clv_near* near_world_make( const near_world* world )
{
    clv_near* near = NULL;
    CHECK( clv_near_create( &world->def, &near ) == CLV_OK );
    CHECK( clv_near_exclude( near, world->excluded, world->excluded_count ) == CLV_OK );
    return near;
}

// Places that the judge would look at.
static double work_of( const clv_near* near, const near_world* world )
{
    double most = 0, work = (double)world->count * ( world->count + 1.0 ) / 2;
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        most = fmax( most, limit_of( world, i, i ) );
    }
    for ( int k = 0; k < 3; ++k )
    {
        work *= near->frame.cell.periodic[k]
            ? 2 * ( ( most + near->frame.slack ) / near->frame.heights[k] + 2 ) + 1
            : 1;
    }
    return work;
}

static void check_against_judge( near_world* world, const clv_near* near, const clv_near_view* view )
{
    if ( world->most_work > 0 && work_of( near, world ) > world->most_work )
    {
        return;
    }
    entry_list expected = judge( near, world ), found = entries_of( view );
    check_entries( world, &found, &expected );
    free( expected.items );
    free( found.items );
}

// The chunks of a visit are the list.
static uint64_t check_visit( const near_world* world, clv_near* near, const clv_near_points* points )
{
    clv_near_view view = clv_near_list( near );
    near_visit_notes notes = { .hash = 1, .near = near, .was_refused = true };
    uint64_t count = view.count, list = mix_bytes( 1, view.pairs, view.count * sizeof( clv_pair ) );
    clv_result result = clv_near_visit( near, points, near_note_chunk, &notes );
    CHECK( result == CLV_OK );
    CHECK( notes.was_refused );
    CHECK( notes.count == count );
    CHECK( notes.hash == list );
    CHECK( !clv_near_list( near ).valid );
    return notes.chunks;
}

clv_result near_world_check( near_world* world )
{
    uint64_t hash = 0, visited = 0;
    clv_result first = CLV_OK;
    clv_near_points points = near_world_points( world );
    for ( uint32_t isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
    {
        if ( !clv_isa_is_supported( (clv_isa)isa ) )
        {
            continue;
        }
        bool is_first = isa == CLV_ISA_SCALAR;
        world->def.isa = (clv_isa)isa;
        world->def.worker_count = 1 + ( isa + world->count ) % 4;
        clv_near* near = near_world_make( world );
        bool is_new = false;
        clv_result result = clv_near_update( near, &points, &is_new );
        first = is_first ? result : first;
        if ( result == CLV_OUT_OF_MEMORY )
        {
            clv_near_destroy( near );
            return result;
        }
        CHECK( result == first );
        clv_near_view view = clv_near_list( near );
        CHECK( view.valid == ( result == CLV_OK ) );
        CHECK( result == CLV_OK || clv_near_error( near ).text[0] != '\0' );
        if ( result == CLV_OK )
        {
            CHECK( is_new );
            if ( is_first )
            {
                check_against_judge( world, near, &view );
            }
            hash = is_first ? near_view_hash( &view ) : hash;
            CHECK( near_view_hash( &view ) == hash );
            if ( !world->def.full && !world->def.by_point )
            {
                uint64_t chunks = check_visit( world, near, &points );
                visited = is_first ? chunks : visited;
                CHECK( chunks == visited );
            }
        }
        clv_near_destroy( near );
    }
    return first;
}
