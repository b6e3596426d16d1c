// SPDX-License-Identifier: MIT
// Sweep-and-prune along one axis over boxes, k-DOPs, spheres or turned boxes: sections 3.3 to 3.5 of
// "Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU" (COPPE 2021), on the CPU. The paper sorts
// fixed-point decimals, which can lose pairs, and its algorithm 2 reports pairs of equal minima twice; here
// whole floats are sorted, and only what comes later in the order is looked at.
#include "base/array.h"
#include "base/assertion.h"
#include "base/bits.h"
#include "base/finite.h"
#include "base/fp_mode.h"
#include "base/radix_sort.h"
#include "base/refusal.h"
#include "base/timer.h"
#include "dop.h"
#include "narrow/bound.h"
#include "obb.h"
#include "principal_axis.h"
#include <string.h>

#define SWEEP_COOKIE 0x5753434Cu

typedef struct volume_array
{
    clv_volume_kind kind;
    clv_dop_kind dop_kind; // whose axes are swept along; of k-DOPs their own
    const void* volumes;
    uint32_t count;
} volume_array;

// Of a k-DOP; a box is laid out as one of six.
static const float* ends_of( const volume_array* v, uint32_t i )
{
    return (const float*)v->volumes + (size_t)v->dop_kind * i;
}

static const clv_sphere* sphere_of( const volume_array* v, uint32_t i )
{
    return (const clv_sphere*)v->volumes + i;
}

static const clv_obb* obb_of( const volume_array* v, uint32_t i )
{
    return (const clv_obb*)v->volumes + i;
}

struct clv_volume_sweep
{
    base_memory memory;
    uint32_t pca_period, first_axis;
    uint32_t until_pca; // updates left before the axis is chosen again
    uint32_t axis;

    base_keyed *items, *scratch; // of `item_capacity` each
    float *lower, *upper;        // along the axis, by position in the array
    uint64_t item_capacity;

    BASE_ARRAY( clv_pair ) pairs;
    bool valid;
    clv_volume_sweep_stats stats;
};

clv_volume_sweep_def clv_default_volume_sweep_def( void )
{
    clv_volume_sweep_def def = { 0 };
    def.size = sizeof( clv_volume_sweep_def );
    def.cookie = SWEEP_COOKIE;
    def.pca_period = 30;
    def.first_axis = 1;
    return def;
}

clv_result clv_volume_sweep_create( const clv_volume_sweep_def* def, clv_volume_sweep** sweep )
{
    CLV_ASSERT( def != NULL && sweep != NULL );
    *sweep = NULL;
    if ( def->cookie != SWEEP_COOKIE || def->size < sizeof( clv_volume_sweep_def ) )
    {
        return base_refuse( &def->logger, CLV_BAD_DEF,
            "clv_volume_sweep_create: the def was not made by clv_default_volume_sweep_def" );
    }
    if ( def->first_axis >= CLV_DOP_AXIS_COUNT )
    {
        return base_refuse( &def->logger, CLV_BAD_DEF, "clv_volume_sweep_create: first_axis must be 0 to 8" );
    }
    if ( ( def->allocator.allocate == NULL ) != ( def->allocator.release == NULL ) )
    {
        return base_refuse( &def->logger, CLV_BAD_DEF,
            "clv_volume_sweep_create: the allocator has one hook of two; set both, or none" );
    }
    base_memory memory = clv_base_memory_make( def->allocator );
    clv_volume_sweep* made = clv_base_memory_take( &memory, 1, sizeof( clv_volume_sweep ) );
    if ( made == NULL )
    {
        return base_refuse( &def->logger, CLV_OUT_OF_MEMORY, "clv_volume_sweep_create: out of memory" );
    }
    memset( made, 0, sizeof( *made ) );
    made->memory = memory;
    made->pca_period = def->pca_period;
    made->first_axis = made->axis = def->first_axis;
    *sweep = made;
    return CLV_OK;
}

static void give_items( clv_volume_sweep* s )
{
    clv_base_memory_give( &s->memory, s->items, s->item_capacity, sizeof( base_keyed ) );
    clv_base_memory_give( &s->memory, s->scratch, s->item_capacity, sizeof( base_keyed ) );
    clv_base_memory_give( &s->memory, s->lower, s->item_capacity, sizeof( float ) );
    clv_base_memory_give( &s->memory, s->upper, s->item_capacity, sizeof( float ) );
    s->items = s->scratch = NULL;
    s->lower = s->upper = NULL;
    s->item_capacity = 0;
}

void clv_volume_sweep_destroy( clv_volume_sweep* sweep )
{
    if ( sweep == NULL )
    {
        return;
    }
    give_items( sweep );
    base_array_free( &sweep->pairs, &sweep->memory );
    base_memory own = sweep->memory;
    clv_base_memory_give( &own, sweep, 1, sizeof( clv_volume_sweep ) );
}

static bool reserve_items( clv_volume_sweep* s, uint32_t count )
{
    if ( count <= s->item_capacity )
    {
        return true;
    }
    give_items( s );
    s->item_capacity = (uint64_t)count + count / 2;
    s->items = clv_base_memory_take( &s->memory, s->item_capacity, sizeof( base_keyed ) );
    s->scratch = clv_base_memory_take( &s->memory, s->item_capacity, sizeof( base_keyed ) );
    s->lower = clv_base_memory_take( &s->memory, s->item_capacity, sizeof( float ) );
    s->upper = clv_base_memory_take( &s->memory, s->item_capacity, sizeof( float ) );
    bool ok = s->items != NULL && s->scratch != NULL && s->lower != NULL && s->upper != NULL;
    if ( !ok )
    {
        give_items( s );
    }
    return ok;
}

// ---- checking

static bool is_dop( const volume_array* v, uint32_t i )
{
    const float* ends = ends_of( v, i );
    for ( uint32_t axis = 0; axis < (uint32_t)v->dop_kind / 2; ++axis )
    {
        if ( !( ends[axis] <= ends[(uint32_t)v->dop_kind / 2 + axis] ) )
        {
            return false;
        }
    }
    return true;
}

static bool is_good( const volume_array* v, uint32_t i )
{
    if ( v->kind == CLV_VOLUME_SPHERE )
    {
        return sphere_of( v, i )->radius >= 0.0f && base_is_finite_point( sphere_of( v, i )->center );
    }
    return v->kind == CLV_VOLUME_OBB ? clv_volume_obb_is_good( obb_of( v, i ) ) : is_dop( v, i );
}

// ---- the axis

static math_vec3 center_of( const volume_array* v, uint32_t i )
{
    if ( v->kind == CLV_VOLUME_SPHERE || v->kind == CLV_VOLUME_OBB )
    {
        return math_widen(
            v->kind == CLV_VOLUME_SPHERE ? sphere_of( v, i )->center : obb_of( v, i )->center );
    }
    const float* lower = ends_of( v, i );
    const float* upper = lower + (uint32_t)v->dop_kind / 2;
    return math_make( ( (double)lower[0] + (double)upper[0] ) * 0.5,
        ( (double)lower[1] + (double)upper[1] ) * 0.5, ( (double)lower[2] + (double)upper[2] ) * 0.5 );
}

static void choose_axis( clv_volume_sweep* s, const volume_array* v )
{
    uint32_t axis_count = (uint32_t)v->dop_kind / 2;
    s->axis = s->axis < axis_count ? s->axis : s->first_axis % 3; // the kind of volume may have changed
    if ( s->pca_period == 0 || s->until_pca > 0 )
    {
        s->until_pca -= s->until_pca > 0 ? 1 : 0;
        return;
    }
    s->until_pca = s->pca_period - 1;
    volume_spread spread = { 0 };
    for ( uint32_t i = 0; i < v->count; ++i )
    {
        math_vec3 center = center_of( v, i );
        if ( math_largest( center ) < 1e30 ) // half-spaces have no center; false for NaN too
        {
            clv_volume_spread_add( &spread, center );
        }
    }
    math_vec3 direction = clv_volume_spread_direction( &spread );
    if ( math_largest( direction ) > 0.0 )
    {
        s->axis = clv_volume_nearest_axis( direction, v->dop_kind );
    }
}

// ---- sweeping

static void project( clv_volume_sweep* s, const volume_array* v )
{
    math_vec3 axis = math_widen( clv_dop_axis( v->dop_kind, s->axis ) );
    double length = clv_volume_dop_axis_length( v->dop_kind, s->axis );
    for ( uint32_t i = 0; i < v->count; ++i )
    {
        if ( v->kind == CLV_VOLUME_SPHERE )
        {
            // Outwards beyond every rounding on the way: the axis must not part what the spheres' own test
            // joins.
            double at = math_dot( axis, math_widen( sphere_of( v, i )->center ) );
            double reach = (double)sphere_of( v, i )->radius * length;
            double slack = ( math_abs( at ) + reach ) * 0x1p-48;
            s->lower[i] = clv_narrow_round_down( at - reach - slack );
            s->upper[i] = clv_narrow_round_up( at + reach + slack );
        }
        else if ( v->kind == CLV_VOLUME_OBB )
        {
            clv_volume_obb_interval( obb_of( v, i ), s->axis, &s->lower[i], &s->upper[i] );
        }
        else
        {
            s->lower[i] = ends_of( v, i )[s->axis];
            s->upper[i] = ends_of( v, i )[(uint32_t)v->dop_kind / 2 + s->axis];
        }
        s->items[i] = ( base_keyed ){ base_float_order( s->lower[i] ), i };
    }
}

static bool overlap( const volume_array* v, uint32_t i, uint32_t j )
{
    const clv_aabb* aabbs = v->volumes;
    return v->kind == CLV_VOLUME_AABB  ? clv_aabb_overlap( aabbs[i], aabbs[j] )
        : v->kind == CLV_VOLUME_SPHERE ? clv_sphere_overlap( *sphere_of( v, i ), *sphere_of( v, j ) )
        : v->kind == CLV_VOLUME_OBB    ? clv_volume_obb_overlap( obb_of( v, i ), obb_of( v, j ) )
                                       : clv_dop_overlap( v->dop_kind, ends_of( v, i ), ends_of( v, j ) );
}

static clv_result sweep_sorted( clv_volume_sweep* s, const volume_array* v, const base_keyed* sorted )
{
    for ( uint32_t i = 0; i < v->count; ++i )
    {
        uint32_t first = sorted[i].value;
        float end = s->upper[first];
        for ( uint32_t j = i + 1; j < v->count && s->lower[sorted[j].value] <= end; ++j )
        {
            uint32_t second = sorted[j].value;
            s->stats.test_count += 1;
            if ( !overlap( v, first, second ) )
            {
                continue;
            }
            if ( !base_array_reserve( &s->pairs, &s->memory, s->pairs.count + 1 ) )
            {
                return CLV_OUT_OF_MEMORY;
            }
            s->pairs.items[s->pairs.count++] =
                first < second ? ( clv_pair ){ first, second } : ( clv_pair ){ second, first };
        }
    }
    return CLV_OK;
}

static clv_result check( clv_volume_sweep* s, const volume_array* v )
{
    bool are_good = v->dop_kind != 0;
    for ( uint32_t i = 0; i < v->count && are_good; ++i )
    {
        are_good = is_good( v, i );
    }
    if ( !are_good )
    {
        return CLV_BAD_BOX;
    }
    return reserve_items( s, v->count ) ? CLV_OK : CLV_OUT_OF_MEMORY;
}

static clv_result sweep_volumes( clv_volume_sweep* s, const volume_array* v )
{
    uint32_t axis = s->axis, until_pca = s->until_pca;
    uint64_t begin = clv_base_clock_ns();
    choose_axis( s, v );
    uint64_t chosen = clv_base_clock_ns();
    project( s, v );
    uint64_t projected = clv_base_clock_ns();
    const base_keyed* sorted = clv_base_sort_keyed( s->items, s->scratch, v->count );
    uint64_t sorted_at = clv_base_clock_ns();
    clv_result result = sweep_sorted( s, v, sorted );
    uint64_t end = clv_base_clock_ns();
    if ( result != CLV_OK )
    {
        s->axis = axis, s->until_pca = until_pca; // the same update again is to sweep as this one did
        return result;
    }
    s->stats.axis = s->axis;
    s->stats.axis_ms = base_clock_ms( begin, chosen );
    s->stats.project_ms = base_clock_ms( chosen, projected );
    s->stats.sort_ms = base_clock_ms( projected, sorted_at );
    s->stats.prune_ms = base_clock_ms( sorted_at, end );
    return CLV_OK;
}

clv_result clv_volume_sweep_run(
    clv_volume_sweep* sweep, clv_volume_kind kind, const void* volumes, uint32_t count )
{
    CLV_ASSERT( sweep != NULL && ( volumes != NULL || count == 0 ) );
    const volume_array v = { kind, clv_volume_axes_of( kind ), volumes, count };
    base_fp_mode mode = base_fp_enter();
    sweep->pairs.count = 0;
    sweep->stats = ( clv_volume_sweep_stats ){ 0 };
    clv_result result = check( sweep, &v );
    result = result == CLV_OK ? sweep_volumes( sweep, &v ) : result;
    sweep->valid = result == CLV_OK;
    sweep->pairs.count = sweep->valid ? sweep->pairs.count : 0;
    base_fp_leave( mode );
    return result;
}

clv_pair_view clv_volume_sweep_pairs( const clv_volume_sweep* sweep )
{
    CLV_ASSERT( sweep != NULL );
    clv_pair_view view = { .pairs = sweep->pairs.items, .count = sweep->pairs.count, .valid = sweep->valid };
    return view;
}

clv_volume_sweep_stats clv_volume_sweep_get_stats( const clv_volume_sweep* sweep )
{
    CLV_ASSERT( sweep != NULL );
    return sweep->stats;
}
