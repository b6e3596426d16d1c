// SPDX-License-Identifier: MIT
// The door of cleave/near.h: what is asked is checked, the last list kept or a new one made.
#include "near/near_internal.h"

#include "base/assertion.h"
#include "base/fp_mode.h"
#include "base/radix_sort.h"
#include "base/refusal.h"
#include "simd/kernels.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define NEAR_COOKIE 0xC1EA7Du

enum
{
    NEAR_VISIT_CHUNK = 4096,                     // entries a visitor sees at once, at most
    NEAR_VISIT_BUFFER = NEAR_VISIT_CHUNK + 1024, // and room for a search to write on
};

// ---- life

clv_near_def clv_default_near_def( void )
{
    clv_near_def def;
    memset( &def, 0, sizeof( def ) );
    def.size = (uint32_t)sizeof( def );
    def.cookie = NEAR_COOKIE;
    def.worker_count = 1;
    return def;
}

static clv_result check_near_def( const clv_near_def* def )
{
    const clv_logger* logger = &def->logger;
    if ( !( def->cutoff >= 0 ) || !base_is_finite( def->cutoff ) || !( def->skin >= 0 ) ||
        !base_is_finite( def->skin ) )
    {
        return base_refuse( logger, CLV_BAD_DEF, "def.cutoff and def.skin must be finite and at least 0" );
    }
    double sum = def->cutoff + def->skin;
    if ( !base_is_finite( def->doubles ? sum * sum : (double)( (float)sum * (float)sum ) ) )
    {
        return base_refuse(
            logger, CLV_BAD_DEF, "def.cutoff + def.skin is too large: its square is not finite" );
    }
    if ( ( def->allocator.allocate == NULL ) != ( def->allocator.release == NULL ) )
    {
        return base_refuse(
            logger, CLV_BAD_DEF, "def.allocator needs both allocate and release, or neither" );
    }
    if ( def->worker_count < 1 || def->worker_count > CLV_MAX_WORKERS )
    {
        return base_refuse( logger, CLV_BAD_DEF, "def.worker_count must be from 1 to CLV_MAX_WORKERS" );
    }
    return CLV_OK;
}

static clv_result build_near( const clv_near_def* def, clv_near** out )
{
    char line[160];
    const simd_kernels* kernels = clv_simd_kernels_choose( def->isa, line, sizeof( line ) );
    if ( kernels == NULL )
    {
        return base_refuse( &def->logger, CLV_UNSUPPORTED, line );
    }
    base_memory memory = clv_base_memory_make( def->allocator );
    clv_near* near = clv_base_memory_take( &memory, 1, sizeof( clv_near ) );
    if ( near == NULL )
    {
        return base_refuse( &def->logger, CLV_OUT_OF_MEMORY, "out of memory for a list of near points" );
    }
    memset( near, 0, sizeof( *near ) );
    near->memory = memory;
    near->def = *def;
    near->isa = kernels->isa;
    near->kernels = clv_simd_near_for( kernels->isa );
    near->error.position = UINT32_MAX;
    near->error.text = "";
    if ( !clv_task_runner_start( &near->tasks, def->worker_count, 0, def->tasks, &near->memory ) )
    {
        clv_near_destroy( near );
        return base_refuse(
            &def->logger, CLV_OUT_OF_MEMORY, "the threads that def.worker_count asks for could not be had" );
    }
    *out = near;
    return CLV_OK;
}

clv_result clv_near_create( const clv_near_def* def, clv_near** near )
{
    CLV_ASSERT( def != NULL && near != NULL );
    *near = NULL;
    if ( def->cookie != NEAR_COOKIE || def->size != sizeof( clv_near_def ) )
    {
        return CLV_BAD_DEF; // not even its logger can be trusted
    }
    base_fp_mode mode = base_fp_enter();
    clv_result result = check_near_def( def );
    result = result == CLV_OK ? build_near( def, near ) : result;
    base_fp_leave( mode );
    return result;
}

void clv_near_destroy( clv_near* near )
{
    if ( near == NULL || near->is_busy )
    {
        return;
    }
    base_memory* memory = &near->memory;
    clv_task_runner_stop( &near->tasks, memory );
    clv_task_gather_release( &near->gather, memory );
    base_array_free( &near->records, memory );
    base_array_free( &near->placed, memory );
    base_array_free( &near->cells, memory );
    base_array_free( &near->starts, memory );
    base_array_free( &near->counts, memory );
    base_array_free( &near->lanes, memory );
    base_array_free( &near->ids, memory );
    base_array_free( &near->wraps, memory );
    base_array_free( &near->images, memory );
    base_array_free( &near->piece_images, memory );
    base_array_free( &near->piece_bounds, memory );
    base_array_free( &near->piece_bad, memory );
    base_array_free( &near->boxes, memory );
    base_array_free( &near->excluded, memory );
    base_array_free( &near->excluded_starts, memory );
    base_array_free( &near->pairs, memory );
    base_array_free( &near->shifts, memory );
    base_array_free( &near->sides, memory );
    base_array_free( &near->offsets, memory );
    base_array_free( &near->indices, memory );
    base_array_free( &near->entry_shifts, memory );
    base_array_free( &near->squared, memory );
    base_array_free( &near->vectors, memory );
    base_array_free( &near->old_positions, memory );
    base_array_free( &near->old_radii, memory );
    base_array_free( &near->old_groups, memory );
    CLV_ASSERT( memory->bytes == sizeof( clv_near ) );
    base_memory own = *memory; // it lies in what it is about to give back
    clv_base_memory_give( &own, near, 1, sizeof( clv_near ) );
}

// ---- answers

clv_result clv_near_fail( clv_near* near, clv_result code, uint32_t position, const char* format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( near->text, sizeof( near->text ), format, arguments );
    va_end( arguments );
    near->error = ( clv_error ){ code, position, { 0, 0 }, near_pair_count( near ), near->text };
    return base_refuse( &near->def.logger, code, near->text );
}

static clv_result succeed( clv_near* near )
{
    near->error = ( clv_error ){ CLV_OK, UINT32_MAX, { 0, 0 }, 0, "" };
    return CLV_OK;
}

clv_error clv_near_error( const clv_near* near )
{
    return near->error;
}

clv_near_view clv_near_list( const clv_near* near )
{
    return clv_near_list_view( near );
}

clv_near_stats clv_near_get_stats( const clv_near* near )
{
    return ( clv_near_stats ){ near->is_valid ? near_pair_count( near ) : 0, near->test_count,
        near->point_count, near->image_count, near->grid.cell_count, near->made_count, near->memory.bytes,
        near->memory.allocation_count };
}

// ---- exclusions

clv_result clv_near_exclude( clv_near* near, const clv_pair* pairs, uint64_t count )
{
    CLV_ASSERT( near != NULL && ( pairs != NULL || count == 0 ) );
    if ( near->is_busy )
    {
        return CLV_BUSY;
    }
    for ( uint64_t i = 0; i < count; ++i )
    {
        if ( pairs[i].a == pairs[i].b || count > CLV_MAX_OBJECTS )
        {
            return clv_near_fail( near, CLV_BAD_ARGUMENT, (uint32_t)i,
                "excluded pair %llu is of point %u with itself, or there are too many", (unsigned long long)i,
                pairs[i].a );
        }
    }
    pair_list list = { 0 }, scratch = { 0 };
    bool ok = base_array_reserve( &list, &near->memory, count );
    for ( uint64_t i = 0; ok && i < count; ++i )
    {
        clv_pair pair = pairs[i];
        list.items[i] = pair.a < pair.b ? pair : ( clv_pair ){ pair.b, pair.a };
    }
    list.count = count;
    ok = ok && clv_pair_list_sort( &list, &scratch, &near->memory, UINT32_MAX );
    base_array_free( &scratch, &near->memory );
    if ( !ok )
    {
        base_array_free( &list, &near->memory );
        return clv_near_fail( near, CLV_OUT_OF_MEMORY, UINT32_MAX, "out of memory for %llu excluded pairs",
            (unsigned long long)count );
    }
    base_array_free( &near->excluded, &near->memory );
    near->excluded = list;
    near->excluded_count = UINT32_MAX;
    near->may_keep = false;
    return succeed( near );
}

// Where the excluded pairs of each point begin.
static bool index_excluded( clv_near* near )
{
    if ( near->excluded.count == 0 || near->excluded_count == near->point_count )
    {
        return true;
    }
    if ( !base_array_reserve( &near->excluded_starts, &near->memory, (uint64_t)near->point_count + 1 ) )
    {
        return false;
    }
    uint32_t next = 0;
    for ( uint32_t i = 0; i <= near->point_count; ++i )
    {
        while ( next < near->excluded.count && near->excluded.items[next].a < i )
        {
            next += 1;
        }
        near->excluded_starts.items[i] = next;
    }
    near->excluded_count = near->point_count;
    return true;
}

// ---- a call

static clv_result check_points( clv_near* near, const clv_near_points* points, near_call* call )
{
    memset( call, 0, sizeof( *call ) );
    call->points = points;
    bool doubles = near->def.doubles;
    call->positions = doubles ? (const void*)points->positions64 : (const void*)points->positions;
    call->radii = doubles ? (const void*)points->radii64 : (const void*)points->radii;
    bool has_others = doubles ? points->positions != NULL || points->radii != NULL
                              : points->positions64 != NULL || points->radii64 != NULL;
    if ( has_others || ( call->positions == NULL && points->count > 0 ) )
    {
        return clv_near_fail( near, CLV_BAD_ARGUMENT, UINT32_MAX, "points of a list %s are given by %s alone",
            doubles ? "in double" : "in float", doubles ? "positions64 and radii64" : "positions and radii" );
    }
    size_t least = near_number( near ) * near_axes( near );
    if ( points->count > 1 && points->stride < least )
    {
        return clv_near_fail( near, CLV_BAD_ARGUMENT, UINT32_MAX,
            "a stride of %llu bytes is below the %llu of a point", (unsigned long long)points->stride,
            (unsigned long long)least );
    }
    if ( points->count > CLV_MAX_OBJECTS )
    {
        return clv_near_fail(
            near, CLV_BAD_ARGUMENT, UINT32_MAX, "%u points are more than CLV_MAX_OBJECTS", points->count );
    }
    return CLV_OK;
}

static bool is_same_cell( const near_frame* a, const near_frame* b )
{
    for ( int k = 0; k < 3; ++k )
    {
        bool is_same = a->cell.periodic[k] == b->cell.periodic[k] &&
            ( !a->cell.periodic[k] ||
                memcmp( a->cell.edges[k], b->cell.edges[k], sizeof( a->cell.edges[k] ) ) == 0 );
        if ( !is_same )
        {
            return false;
        }
    }
    return true;
}

// All pairs of ids into the sink, and what the sink said.
static clv_result near_find_pairs( clv_near* near, near_call* call, clv_pair_sink* sink )
{
    CLV_ASSERT( sink->count == 0 );
    near->test_count = 0;
    near->pieces = 1;
    uint64_t offsets = near_is_directed( near ) ? (uint64_t)near->point_count + 2 : 0;
    if ( !index_excluded( near ) || !base_array_reserve( &near->offsets, &near->memory, offsets ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    if ( offsets > 0 )
    {
        memset( near->offsets.items, 0, (size_t)offsets * sizeof( uint64_t ) );
    }
    if ( near->point_count == 0 )
    {
        return CLV_OK;
    }
    return near->grid.cell_count > 0 ? clv_near_search( near, call, sink )
                                     : clv_near_search_boxes( near, call, sink );
}

// The grid, or none where boxes are to be searched.
static void plan_cells( clv_near* near, const near_call* call )
{
    memset( &near->grid, 0, sizeof( near->grid ) );
    bool has_cells =
        near->point_count > 0 && call->is_uniform && clv_near_grid_plan( near, call, &near->grid );
    near->grid.cell_count = has_cells ? near->grid.cell_count : 0;
    CLV_ASSERT( !has_cells || near->grid.cell_count > 0 );
}

// Checked and wrapped; whatever fails here leaves the last list as it was.
static clv_result take_points( clv_near* near, const near_frame* frame, near_call* call )
{
    near_frame old_frame = near->frame;
    near_grid old_grid = near->grid;
    uint32_t old_count = near->point_count, old_images = near->image_count;
    near->frame = *frame;
    near->point_count = call->points->count;
    clv_result result = clv_near_points_measure( near, call );
    if ( result == CLV_OK )
    {
        near->may_keep = false; // what a kept list is measured by is overwritten from here on
        near->wants_ids = clv_near_wants_shifts( near );
        // A grid along the coordinate axes needs the extent alone; others may need the wrapped points.
        bool is_early = near->frame.is_diagonal;
        memset( &near->grid, 0, sizeof( near->grid ) );
        if ( is_early )
        {
            plan_cells( near, call );
        }
        result = clv_near_points_wrap( near, call );
        if ( !is_early && result == CLV_OK )
        {
            plan_cells( near, call );
        }
    }
    if ( result != CLV_OK )
    {
        near->frame = old_frame;
        near->grid = old_grid;
        near->point_count = old_count;
        near->image_count = old_images;
    }
    return result;
}

// ---- a list

typedef struct near_list_sink
{
    clv_pair_sink sink;
    clv_near* near;
} near_list_sink;

static bool near_has_too_many( const clv_near* near, uint64_t pairs )
{
    return near->def.max_pairs > 0 && pairs > near->def.max_pairs;
}

static clv_result near_make_list_room( clv_pair_sink* sink )
{
    clv_near* near = ( (near_list_sink*)sink )->near;
    CLV_ASSERT( sink->count <= sink->capacity );
    near->pairs.count = sink->count;
    near->entry_count = near_is_directed( near ) ? sink->count / 2 : sink->count;
    if ( near_has_too_many( near, near_pair_count( near ) ) )
    {
        return CLV_TOO_MANY_PAIRS;
    }
    uint64_t more = sink->expected > 4 * CLV_PAIR_SINK_ROOM ? sink->expected : 4 * CLV_PAIR_SINK_ROOM;
    if ( !base_array_reserve( &near->pairs, &near->memory, sink->count + more ) &&
        !base_array_reserve( &near->pairs, &near->memory, sink->count + 4 * CLV_PAIR_SINK_ROOM ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    sink->pairs = near->pairs.items;
    sink->capacity = near->pairs.capacity;
    return CLV_OK;
}

static clv_result near_make_list( clv_near* near, near_call* call )
{
    near->is_valid = false;
    near->may_keep = false;
    near->pairs.count = near->entry_count = 0;
    near_list_sink list = {
        { .pairs = near->pairs.items, .capacity = near->pairs.capacity, .make_room = near_make_list_room },
        near
    };
    clv_result result = near_find_pairs( near, call, &list.sink );
    near->pairs.count = list.sink.count;
    if ( result == CLV_OK )
    {
        clv_near_list_count( near );
    }
    if ( result == CLV_OK && near_has_too_many( near, near_pair_count( near ) ) )
    {
        result = CLV_TOO_MANY_PAIRS;
    }
    result = result == CLV_OK ? clv_near_list_make( near ) : result;
    if ( result == CLV_OK && !clv_near_list_remember( near, call ) )
    {
        result = CLV_OUT_OF_MEMORY;
    }
    if ( result != CLV_OK )
    {
        return clv_near_fail( near, result, UINT32_MAX, "the list ended after %llu pairs: %s",
            (unsigned long long)near_pair_count( near ), clv_result_text( result ) );
    }
    CLV_VALIDATE( clv_near_list_check( near, call->square ) == NULL );
    near->is_valid = true;
    near->made_count += 1;
    return succeed( near );
}

static clv_result update_near( clv_near* near, const clv_near_points* points, bool* is_new )
{
    near_call call;
    near_frame frame;
    clv_result result = check_points( near, points, &call );
    result = result == CLV_OK ? clv_near_frame_make( near, points->cell, &frame ) : result;
    if ( result != CLV_OK )
    {
        return result;
    }
    if ( points->count == near->point_count && is_same_cell( &frame, &near->frame ) &&
        clv_near_list_may_stay( near, &call ) )
    {
        *is_new = false;
        clv_near_list_refresh( near, &call );
        return succeed( near );
    }
    result = take_points( near, &frame, &call );
    return result == CLV_OK ? near_make_list( near, &call ) : result;
}

clv_result clv_near_update( clv_near* near, const clv_near_points* points, bool* is_new )
{
    CLV_ASSERT( near != NULL && points != NULL );
    bool made = true;
    is_new = is_new != NULL ? is_new : &made;
    *is_new = true;
    if ( near->is_busy )
    {
        return CLV_BUSY;
    }
    base_fp_mode mode = base_fp_enter();
    clv_result result = update_near( near, points, is_new );
    base_fp_leave( mode );
    return result;
}

// ---- a visit

typedef struct near_visit_sink
{
    clv_pair_sink sink;
    clv_near* near;
    clv_near_visitor* visitor;
    void* user;
    uint64_t visited;
    base_fp_mode mode; ///< the caller's, for the visitor
    int32_t* shifts;
    char* squared;
    char* vectors;
} near_visit_sink;

// The first `count` pairs to the visitor, the others to the front.
static clv_result near_show( near_visit_sink* visit, uint64_t count )
{
    clv_near* near = visit->near;
    clv_pair* pairs = visit->sink.pairs;
    CLV_ASSERT( count > 0 && count <= NEAR_VISIT_CHUNK && count <= visit->sink.count );
    clv_near_name( near, pairs, count, visit->shifts );
    clv_near_measure_entries(
        near, near_pair_entries( pairs, visit->shifts, count ), visit->squared, visit->vectors );
    const clv_near_def* def = &near->def;
    clv_near_view view;
    memset( &view, 0, sizeof( view ) );
    view.count = count;
    view.pairs = pairs;
    view.point_count = near->point_count;
    view.valid = true;
    view.shifts = def->shifts ? visit->shifts : NULL;
    view.squared = def->doubles ? NULL : (const float*)(const void*)visit->squared;
    view.squared64 = def->doubles ? (const double*)(const void*)visit->squared : NULL;
    view.vectors = def->doubles ? NULL : (const float*)(const void*)visit->vectors;
    view.vectors64 = def->doubles ? (const double*)(const void*)visit->vectors : NULL;
    base_fp_leave( visit->mode );
    bool goes_on = visit->visitor( &view, visit->user );
    visit->mode = base_fp_enter();
    visit->visited += count;
    visit->sink.count -= count;
    memmove( pairs, pairs + count, (size_t)visit->sink.count * sizeof( clv_pair ) );
    return goes_on ? CLV_OK : CLV_STOPPED;
}

static clv_result near_make_visit_room( clv_pair_sink* sink )
{
    near_visit_sink* visit = (near_visit_sink*)sink;
    CLV_ASSERT( sink->count <= sink->capacity );
    if ( near_has_too_many( visit->near, visit->visited + sink->count ) )
    {
        return CLV_TOO_MANY_PAIRS;
    }
    return sink->count >= NEAR_VISIT_CHUNK ? near_show( visit, NEAR_VISIT_CHUNK ) : CLV_OK;
}

static clv_result visit_pairs( clv_near* near, near_call* call, near_visit_sink* visit )
{
    clv_result result = near_find_pairs( near, call, &visit->sink );
    while ( result == CLV_OK && visit->sink.count > 0 )
    {
        uint64_t count = visit->sink.count < NEAR_VISIT_CHUNK ? visit->sink.count : NEAR_VISIT_CHUNK;
        result = near_has_too_many( near, visit->visited + visit->sink.count ) ? CLV_TOO_MANY_PAIRS
                                                                               : near_show( visit, count );
    }
    if ( result != CLV_OK )
    {
        clv_near_fail( near, result, UINT32_MAX, "the visit ended after %llu pairs: %s",
            (unsigned long long)visit->visited, clv_result_text( result ) );
        near->error.pair_count = visit->visited;
        return result;
    }
    near->pairs.count = near->entry_count = 0;
    return succeed( near );
}

static clv_result visit_near( clv_near* near, near_call* call, near_visit_sink* visit )
{
    const clv_near_def* def = &near->def;
    size_t number = near_number( near );
    bool with_shifts = clv_near_wants_shifts( near );
    near_shift_array shifts = { 0 };
    near_byte_array squared = { 0 }, vectors = { 0 };
    pair_list chunk = { 0 };
    base_memory* memory = &near->memory;
    bool ok = base_array_reserve( &chunk, memory, NEAR_VISIT_BUFFER ) &&
        ( !with_shifts || base_array_reserve( &shifts, memory, 3 * NEAR_VISIT_CHUNK ) ) &&
        ( !def->squared || base_array_reserve( &squared, memory, NEAR_VISIT_CHUNK * number ) ) &&
        ( !def->vectors || base_array_reserve( &vectors, memory, 3 * NEAR_VISIT_CHUNK * number ) );
    clv_result result = CLV_OUT_OF_MEMORY;
    if ( ok )
    {
        visit->sink = ( clv_pair_sink ){
            .pairs = chunk.items, .capacity = NEAR_VISIT_BUFFER, .make_room = near_make_visit_room
        };
        visit->shifts = shifts.items;
        visit->squared = squared.items;
        visit->vectors = vectors.items;
        near->is_busy = true;
        result = visit_pairs( near, call, visit );
        near->is_busy = false;
    }
    else
    {
        clv_near_fail( near, result, UINT32_MAX, "out of memory for the visitor's chunk" );
    }
    base_array_free( &chunk, memory );
    base_array_free( &shifts, memory );
    base_array_free( &squared, memory );
    base_array_free( &vectors, memory );
    return result;
}

clv_result clv_near_visit(
    clv_near* near, const clv_near_points* points, clv_near_visitor* visitor, void* user )
{
    CLV_ASSERT( near != NULL && points != NULL && visitor != NULL );
    if ( near->is_busy )
    {
        return CLV_BUSY;
    }
    if ( near->def.full || near->def.by_point )
    {
        return clv_near_fail(
            near, CLV_UNSUPPORTED, UINT32_MAX, "a visit has no full list, and none by point" );
    }
    near_call call;
    near_frame frame;
    near_visit_sink visit = { .near = near, .visitor = visitor, .user = user, .mode = base_fp_enter() };
    clv_result result = check_points( near, points, &call );
    result = result == CLV_OK ? clv_near_frame_make( near, points->cell, &frame ) : result;
    result = result == CLV_OK ? take_points( near, &frame, &call ) : result;
    if ( result == CLV_OK )
    {
        near->is_valid = false;
        near->pairs.count = near->entry_count = 0;
        result = visit_near( near, &call, &visit );
    }
    base_fp_leave( visit.mode );
    return result;
}
