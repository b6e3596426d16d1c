// SPDX-License-Identifier: MIT
// From pairs of ids to what the caller asked for: points and shifts, both sides, by point, distances; and
// whether the last list may stay.
#include "near/near_internal.h"

#include "base/assertion.h"

#include <float.h>
#include <math.h>

enum
{
    ENTRY_PIECE = 1 << 14,
    ROW_PIECE = 1024,
    ENTRIES_AHEAD = 24, // how many entries ahead the neighbour's place is prefetched
    ROWS_AT_ONCE = 16   // whose places are prefetched together
};

// ---- names

near_image clv_near_image_of( const clv_near* near, uint32_t id )
{
    const near_grid* grid = &near->grid;
    CLV_ASSERT(
        id < near->point_count || grid->cell_count > 0 || id - near->point_count < near->image_count );
    if ( id < near->point_count || grid->cell_count == 0 )
    {
        return id < near->point_count ? ( near_image ){ id, { 0, 0, 0 } }
                                      : near->images.items[id - near->point_count];
    }
    // near_shift_code backwards; the second and third numbers may be negative.
    int64_t code = id / near->point_count;
    int64_t wide = 2 * (int64_t)grid->shifts[1] + 1, deep = 2 * (int64_t)grid->shifts[2] + 1;
    int64_t lines = ( code + grid->shifts[2] ) / deep, planes = ( lines + grid->shifts[1] ) / wide;
    near_image image = { id % near->point_count,
        { (int32_t)planes, (int32_t)( lines - planes * wide ), (int32_t)( code - lines * deep ) } };
    CLV_ASSERT( near_shift_code( grid, image.shift ) == code );
    return image;
}

// The points of a pair of ids; `shift` (NULL: not wanted) is that of the second.
static inline clv_pair name_pair( const clv_near* near, const int32_t* wraps, clv_pair pair, int32_t* shift )
{
    near_image a = { pair.a, { 0, 0, 0 } }, b = { pair.b, { 0, 0, 0 } };
    a = pair.a < near->point_count ? a : clv_near_image_of( near, pair.a );
    b = pair.b < near->point_count ? b : clv_near_image_of( near, pair.b );
    for ( size_t k = 0; shift != NULL && k < 3; ++k )
    {
        int32_t wrapped = wraps != NULL ? wraps[3 * (size_t)a.point + k] - wraps[3 * (size_t)b.point + k] : 0;
        shift[k] = b.shift[k] - a.shift[k] + wrapped;
    }
    return ( clv_pair ){ a.point, b.point };
}

void clv_near_name( const clv_near* near, clv_pair* pairs, uint64_t count, int32_t* shifts )
{
    if ( shifts == NULL && ( near->image_count == 0 || near->grid.cell_count > 0 ) )
    {
        return; // cells have named them
    }
    const int32_t* wraps = near->frame.is_periodic ? near->wraps.items : NULL;
    for ( uint64_t i = 0; i < count; ++i )
    {
        int32_t* shift = shifts != NULL ? shifts + 3 * i : NULL;
        clv_pair pair = name_pair( near, wraps, pairs[i], shift );
        bool is_turned = pair.b < pair.a;
        pairs[i] = is_turned ? ( clv_pair ){ pair.b, pair.a } : pair;
        for ( int k = 0; is_turned && shift != NULL && k < 3; ++k )
        {
            shift[k] = -shift[k];
        }
    }
}

// ---- distances

// The shift of an entry between the places where its points were wrapped to; false if it is 0.
static inline bool inner_shift(
    const int32_t* wraps, uint32_t a, uint32_t b, const int32_t* shift, int32_t out[3] )
{
    const int32_t *from = wraps + 3 * (size_t)a, *to = wraps + 3 * (size_t)b;
    out[0] = shift[0] - from[0] + to[0];
    out[1] = shift[1] - from[1] + to[1];
    out[2] = shift[2] - from[2] + to[2];
    return ( out[0] | out[1] | out[2] ) != 0;
}

// What a shift adds to the second point, or to the first where that is the one that goes up.
static bool shift_way( const clv_near* near, int32_t shift[3], double way[3] )
{
    bool is_down = ( shift[0] != 0 ? shift[0] : shift[1] != 0 ? shift[1] : shift[2] ) < 0;
    for ( int k = 0; k < 3; ++k )
    {
        shift[k] = is_down ? -shift[k] : shift[k];
    }
    near_offset( &near->frame, shift, way );
    return is_down;
}

// In the points' type, so that every operation is rounded as near.h says.
#define MEASURE( name, number, record, records )                                                             \
    static void name( const clv_near* near, near_entries entries, number* squared, number* vectors )         \
    {                                                                                                        \
        const record* places = records( near );                                                              \
        const int32_t *shifts = near->frame.is_periodic ? entries.shifts : NULL, *wraps = near->wraps.items; \
        for ( uint64_t i = 0; i < entries.count; ++i )                                                       \
        {                                                                                                    \
            uint64_t later = i + ENTRIES_AHEAD < entries.left ? i + ENTRIES_AHEAD : i;                       \
            base_prefetch( &places[entries.b[later * entries.step_b]] );                                     \
            uint32_t a = entries.a[i * entries.step_a], b = entries.b[i * entries.step_b];                   \
            const number *p = places[a].at, *q = places[b].at;                                               \
            number x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];                                        \
            int32_t shift[3];                                                                                \
            if ( shifts != NULL && inner_shift( wraps, a, b, shifts + 3 * i, shift ) )                       \
            {                                                                                                \
                double way[3];                                                                               \
                bool is_down = shift_way( near, shift, way );                                                \
                number u = (number)way[0], v = (number)way[1], w = (number)way[2];                           \
                x = is_down ? q[0] - ( p[0] + u ) : q[0] + u - p[0];                                         \
                y = is_down ? q[1] - ( p[1] + v ) : q[1] + v - p[1];                                         \
                z = is_down ? q[2] - ( p[2] + w ) : q[2] + w - p[2];                                         \
            }                                                                                                \
            if ( squared != NULL )                                                                           \
            {                                                                                                \
                squared[i] = x * x + y * y + z * z;                                                          \
            }                                                                                                \
            if ( vectors != NULL )                                                                           \
            {                                                                                                \
                vectors[3 * i] = x;                                                                          \
                vectors[3 * i + 1] = y;                                                                      \
                vectors[3 * i + 2] = z;                                                                      \
            }                                                                                                \
        }                                                                                                    \
    }

MEASURE( measure_floats, float, near_record, near_records )
MEASURE( measure_doubles, double, near_record64, near_records64 )
#undef MEASURE

void clv_near_measure_entries( const clv_near* near, near_entries entries, void* squared, void* vectors )
{
    if ( squared == NULL && vectors == NULL )
    {
        return;
    }
    if ( near->def.doubles )
    {
        measure_doubles( near, entries, squared, vectors );
    }
    else
    {
        measure_floats( near, entries, squared, vectors );
    }
}

static void measure_span( const clv_near* near, near_entries entries, uint64_t first )
{
    size_t number = near_number( near );
    clv_near_measure_entries( near, entries, near->def.squared ? near->squared.items + first * number : NULL,
        near->def.vectors ? near->vectors.items + 3 * first * number : NULL );
}

static void measure_piece_entries( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const clv_near* near = context;
    uint64_t begin = (uint64_t)piece * ENTRY_PIECE, left = near->pairs.count - begin;
    const int32_t* shifts = near->shifts.count > 0 ? near->shifts.items + 3 * begin : NULL;
    uint64_t count = left < ENTRY_PIECE ? left : ENTRY_PIECE;
    measure_span( near, near_pair_entries( near->pairs.items + begin, shifts, count ), begin );
}

static void measure_rows( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const clv_near* near = context;
    const int32_t* shifts = clv_near_wants_shifts( near ) ? near->entry_shifts.items : NULL;
    uint32_t begin = piece * ROW_PIECE, left = near->point_count - begin;
    for ( uint32_t point = begin; point < begin + ( left < ROW_PIECE ? left : ROW_PIECE ); ++point )
    {
        uint64_t first = near->offsets.items[point], count = near->offsets.items[point + 1] - first;
        CLV_ASSERT( first + count <= near->entry_count );
        const uint32_t* others =
            near->def.by_point ? near->indices.items + first : &near->sides.items[first].b;
        near_entries row = { .a = &point,
            .b = others,
            .step_b = near->def.by_point ? 1 : 2,
            .shifts = shifts != NULL ? shifts + 3 * first : NULL,
            .count = count,
            .left = near->entry_count - first };
        measure_span( near, row, first );
    }
}

static void measure_list( clv_near* near )
{
    if ( ( near->def.squared || near->def.vectors ) && near->entry_count > 0 )
    {
        bool has_rows = near_is_directed( near );
        uint64_t pieces = has_rows ? ( near->point_count + ROW_PIECE - 1 ) / ROW_PIECE
                                   : ( near->pairs.count + ENTRY_PIECE - 1 ) / ENTRY_PIECE;
        clv_task_run( &near->tasks, has_rows ? measure_rows : measure_piece_entries, (uint32_t)pieces, near );
    }
}

// ---- forms

void clv_near_list_count( clv_near* near )
{
    near->entry_count = near->pairs.count;
    if ( near_is_directed( near ) )
    {
        // Counts become places: offsets[i + 1] is where the next entry of point i goes, which in the end is
        // where those of i + 1 begin.
        uint64_t* offsets = near->offsets.items;
        for ( size_t i = 2; i <= (size_t)near->point_count + 1; ++i )
        {
            offsets[i] += offsets[i - 1];
        }
        near->entry_count = offsets[near->point_count + 1];
    }
}

// A row's entries to their point, from place `place` on.
static void fill_row( clv_near* near, uint64_t row, uint64_t place )
{
    const clv_pair head = near->pairs.items[row];
    const uint32_t* restrict from = near_row_entries( near->pairs.items, row );
    bool by_point = near->def.by_point; // one of the two arrays is there
    uint32_t* restrict to = by_point ? near->indices.items + place : NULL;
    clv_pair* restrict sides = by_point ? NULL : near->sides.items + place;
    const int32_t* wraps = near->frame.is_periodic ? near->wraps.items : NULL;
    int32_t* shifts = clv_near_wants_shifts( near ) ? near->entry_shifts.items + 3 * place : NULL;
    bool is_plain = shifts == NULL && near->grid.cell_count > 0;
    CLV_ASSERT( head.b > 0 && place + head.b <= near->entry_count );
    for ( uint32_t n = 0; n < head.b && is_plain && by_point; ++n )
    {
        to[n] = from[n];
    }
    for ( uint32_t n = 0; n < head.b && is_plain && !by_point; ++n )
    {
        sides[n] = ( clv_pair ){ head.a, from[n] };
    }
    for ( uint32_t n = 0; n < head.b && !is_plain; ++n )
    {
        clv_pair pair = { head.a, from[n] };
        pair = name_pair( near, wraps, pair, shifts != NULL ? shifts + 3 * (size_t)n : NULL );
        if ( by_point )
        {
            to[n] = pair.b;
        }
        else
        {
            sides[n] = pair;
        }
    }
}

// All rows that a piece has found; no other piece has rows of the same points. Several at once, so that one
// waits for memory while the others do.
static void fill_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    clv_near* near = context;
    const task_gather_piece* found = near->pieces > 1 ? &near->gather.pieces.items[piece] : NULL;
    uint64_t i = found != NULL ? found->first_pair : 0;
    uint64_t end = found != NULL ? i + found->pair_count : near->pairs.count;
    size_t size = near->def.by_point ? sizeof( uint32_t ) : sizeof( clv_pair );
    const char* entries =
        near->def.by_point ? (const char*)near->indices.items : (const char*)near->sides.items;
    while ( i < end )
    {
        uint64_t rows[ROWS_AT_ONCE], places[ROWS_AT_ONCE];
        uint32_t points[ROWS_AT_ONCE], count = 0;
        for ( ; i < end && count < ROWS_AT_ONCE; ++count, i = near_row_end( near->pairs.items, i ) )
        {
            rows[count] = i;
            points[count] = near_point_of( near, near->pairs.items[i].a );
            base_prefetch( &near->offsets.items[points[count] + 1] );
        }
        for ( uint32_t n = 0; n < count; ++n )
        {
            places[n] = near->offsets.items[points[n] + 1];
            near->offsets.items[points[n] + 1] += near->pairs.items[rows[n]].b;
            for ( size_t byte = 0; byte < near->pairs.items[rows[n]].b * size; byte += 64 )
            {
                base_prefetch( entries + places[n] * size + byte );
            }
        }
        for ( uint32_t n = 0; n < count; ++n )
        {
            fill_row( near, rows[n], places[n] );
        }
    }
}

bool clv_near_wants_shifts( const clv_near* near )
{
    return near->def.shifts || ( near->frame.is_periodic && ( near->def.squared || near->def.vectors ) );
}

static bool reserve_forms( clv_near* near )
{
    base_memory* memory = &near->memory;
    uint64_t entries = near->entry_count, shifts = clv_near_wants_shifts( near ) ? 3 * entries : 0;
    size_t number = near_number( near );
    const clv_near_def* def = &near->def;
    bool is_directed = near_is_directed( near );
    return base_array_reserve( is_directed ? &near->entry_shifts : &near->shifts, memory, shifts ) &&
        base_array_reserve( &near->indices, memory, def->by_point ? entries : 0 ) &&
        base_array_reserve( &near->sides, memory, is_directed && !def->by_point ? entries : 0 ) &&
        base_array_reserve( &near->squared, memory, def->squared ? entries * number : 0 ) &&
        base_array_reserve( &near->vectors, memory, def->vectors ? 3 * entries * number : 0 );
}

static void name_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    clv_near* near = context;
    uint64_t begin = (uint64_t)piece * ENTRY_PIECE, left = near->pairs.count - begin;
    clv_near_name( near, near->pairs.items + begin, left < ENTRY_PIECE ? left : ENTRY_PIECE,
        near->shifts.count > 0 ? near->shifts.items + 3 * begin : NULL );
}

clv_result clv_near_list_make( clv_near* near )
{
    bool with_shifts = clv_near_wants_shifts( near ), has_cells = near->grid.cell_count > 0;
    uint64_t count = near->entry_count, places = 0;
    near->shifts.count = 0;
    if ( !reserve_forms( near ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    if ( near_is_directed( near ) )
    {
        for ( uint32_t i = 0; i < near->pieces && near->pieces > 1; ++i )
        {
            near->gather.pieces.items[i].first_pair = places;
            places += near->gather.pieces.items[i].pair_count;
        }
        CLV_ASSERT( near->pieces == 1 || places == near->pairs.count );
        clv_task_run( &near->tasks, fill_piece, near->pieces, near );
    }
    else if ( with_shifts || ( near->image_count > 0 && !has_cells ) ) // cells have named them
    {
        near->shifts.count = with_shifts ? 3 * count : 0;
        clv_task_run(
            &near->tasks, name_piece, (uint32_t)( ( count + ENTRY_PIECE - 1 ) / ENTRY_PIECE ), near );
    }
    measure_list( near );
    return CLV_OK;
}

clv_near_view clv_near_list_view( const clv_near* near )
{
    clv_near_view view;
    memset( &view, 0, sizeof( view ) );
    if ( !near->is_valid )
    {
        return view;
    }
    const clv_near_def* def = &near->def;
    view.valid = true;
    view.point_count = near->point_count;
    view.count = near->entry_count;
    view.pairs = def->by_point ? NULL : def->full ? near->sides.items : near->pairs.items;
    view.offsets = def->by_point ? near->offsets.items : NULL;
    view.indices = def->by_point ? near->indices.items : NULL;
    view.shifts = !def->shifts       ? NULL
        : def->full || def->by_point ? near->entry_shifts.items
                                     : near->shifts.items;
    view.squared = def->squared && !def->doubles ? (const float*)(const void*)near->squared.items : NULL;
    view.squared64 = def->squared && def->doubles ? (const double*)(const void*)near->squared.items : NULL;
    view.vectors = def->vectors && !def->doubles ? (const float*)(const void*)near->vectors.items : NULL;
    view.vectors64 = def->vectors && def->doubles ? (const double*)(const void*)near->vectors.items : NULL;
    return view;
}

// ---- kept

// One call over pieces of NEAR_PIECE points.
typedef struct kept_job
{
    clv_near* near;
    const near_call* call;
    double most; ///< squared way that a point may have moved
} kept_job;

static uint32_t kept_piece_end( const clv_near* near, uint32_t piece )
{
    uint32_t begin = piece * NEAR_PIECE, count = near->point_count;
    return count - begin < NEAR_PIECE ? count : begin + NEAR_PIECE;
}

static void remember_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const kept_job* job = context;
    size_t point = near_number( job->near ) * near_axes( job->near ), stride = job->call->points->stride;
    for ( size_t i = piece * (size_t)NEAR_PIECE; i < kept_piece_end( job->near, piece ); ++i )
    {
        memcpy( job->near->old_positions.items + i * point, (const char*)job->call->positions + i * stride,
            point );
    }
}

bool clv_near_list_remember( clv_near* near, const near_call* call )
{
    near->may_keep = false;
    if ( near->def.skin == 0 )
    {
        return true;
    }
    CLV_ASSERT( call->points->count == near->point_count );
    size_t point = near_number( near ) * near_axes( near ), count = near->point_count;
    const clv_near_points* points = call->points;
    if ( !base_array_reserve( &near->old_positions, &near->memory, count * point ) ||
        ( call->radii != NULL &&
            !base_array_reserve( &near->old_radii, &near->memory, count * near_number( near ) ) ) ||
        ( points->groups != NULL && !base_array_reserve( &near->old_groups, &near->memory, count ) ) )
    {
        return false;
    }
    kept_job job = { near, call, 0 };
    clv_task_run( &near->tasks, remember_piece, ( near->point_count + NEAR_PIECE - 1 ) / NEAR_PIECE, &job );
    if ( call->radii != NULL && count > 0 )
    {
        memcpy( near->old_radii.items, call->radii, count * near_number( near ) );
    }
    if ( points->groups != NULL && count > 0 )
    {
        memcpy( near->old_groups.items, points->groups, count * sizeof( uint32_t ) );
    }
    near->old_limit = sqrt( call->square );
    near->had_radii = call->radii != NULL;
    near->had_groups = points->groups != NULL;
    near->may_keep = true;
    return true;
}

// Whether a point of the piece has moved further than it may.
static void compare_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const kept_job* job = context;
    const clv_near* near = job->near;
    uint32_t axes = near_axes( near ), has_moved = false;
    for ( uint32_t i = piece * NEAR_PIECE; i < kept_piece_end( near, piece ); ++i )
    {
        double p[3], square = 0;
        near_read( near, job->call, i, p );
        for ( uint32_t axis = 0; axis < axes; ++axis )
        {
            size_t at = (size_t)i * axes + axis;
            double old = near->def.doubles
                ? ( (const double*)(const void*)near->old_positions.items )[at]
                : (double)( (const float*)(const void*)near->old_positions.items )[at];
            square += ( p[axis] - old ) * ( p[axis] - old );
        }
        has_moved |= !( square <= job->most ); // NaN has moved too: it is to be refused
    }
    near->piece_bad.items[piece] = has_moved;
}

// Has any point moved more than half the skin? What rounding may do to a distance of the
// greatest limit is taken off it.
static bool has_moved( clv_near* near, const near_call* call )
{
    double epsilon = near->def.doubles ? DBL_EPSILON : (double)FLT_EPSILON;
    double half = near_round( near, near->def.skin ) / 2 * ( 1 - 16 * epsilon ) -
        4 * epsilon * near->old_limit - near->frame.slack;
    half = half > 0 ? half : 0;
    kept_job job = { near, call, half * half };
    uint32_t pieces = ( near->point_count + NEAR_PIECE - 1 ) / NEAR_PIECE, moved = 0;
    CLV_ASSERT( near->piece_bad.capacity >= pieces ); // the list was made of as many points
    clv_task_run( &near->tasks, compare_piece, pieces, &job );
    for ( uint32_t i = 0; i < pieces; ++i )
    {
        moved |= near->piece_bad.items[i];
    }
    return moved != 0;
}

bool clv_near_list_may_stay( clv_near* near, const near_call* call )
{
    const clv_near_points* points = call->points;
    size_t count = near->point_count;
    if ( !near->may_keep || !near->is_valid || near->had_radii != ( call->radii != NULL ) ||
        near->had_groups != ( points->groups != NULL ) )
    {
        return false;
    }
    return ( call->radii == NULL || count == 0 ||
               memcmp( near->old_radii.items, call->radii, count * near_number( near ) ) == 0 ) &&
        ( points->groups == NULL || count == 0 ||
            memcmp( near->old_groups.items, points->groups, count * sizeof( uint32_t ) ) == 0 ) &&
        !has_moved( near, call );
}

static void refresh_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const kept_job* job = context;
    const clv_near* near = job->near;
    for ( uint32_t i = piece * NEAR_PIECE; i < kept_piece_end( near, piece ); ++i )
    {
        double p[3], offset[3] = { 0, 0, 0 };
        near_read( near, job->call, i, p );
        const int32_t* wrap = near->frame.is_periodic ? near->wraps.items + 3 * (size_t)i : NULL;
        if ( wrap != NULL && ( wrap[0] | wrap[1] | wrap[2] ) != 0 )
        {
            near_offset( &near->frame, wrap, offset );
        }
        for ( int axis = 0; axis < 3; ++axis )
        {
            double at = near_round( near, p[axis] - offset[axis] );
            if ( near->def.doubles )
            {
                near_records64( near )[i].at[axis] = at;
            }
            else
            {
                near_records( near )[i].at[axis] = (float)at;
            }
        }
    }
}

void clv_near_list_refresh( clv_near* near, const near_call* call )
{
    if ( near->def.squared || near->def.vectors )
    {
        CLV_ASSERT( near->is_valid && near->may_keep );
        kept_job job = { near, call, 0 };
        clv_task_run(
            &near->tasks, refresh_piece, ( near->point_count + NEAR_PIECE - 1 ) / NEAR_PIECE, &job );
        measure_list( near );
    }
}
