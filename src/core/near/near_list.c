// SPDX-License-Identifier: MIT
// From pairs of ids to what the caller asked for: points and shifts, both sides, by point, distances; and
// whether the last list may stay.
#include "near/near_internal.h"

#include "base/assertion.h"

#include <float.h>
#include <math.h>

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

void clv_near_name( const clv_near* near, clv_pair* pairs, uint64_t count, int32_t* shifts )
{
    const int32_t* wraps = near->frame.is_periodic ? near->wraps.items : NULL;
    for ( uint64_t i = 0; i < count; ++i )
    {
        clv_pair pair = pairs[i];
        int32_t shift[3] = { 0, 0, 0 };
        if ( pair.b >= near->point_count )
        {
            near_image image = clv_near_image_of( near, pair.b );
            CLV_ASSERT( pair.a < near->point_count );
            bool is_turned = image.point < pair.a;
            for ( int k = 0; k < 3; ++k )
            {
                shift[k] = is_turned ? -image.shift[k] : image.shift[k];
            }
            pair = is_turned ? ( clv_pair ){ image.point, pair.a } : ( clv_pair ){ pair.a, image.point };
            pairs[i] = pair;
        }
        for ( uint64_t k = 0; shifts != NULL && k < 3; ++k )
        {
            int32_t wrapped =
                wraps != NULL ? wraps[3 * (size_t)pair.a + k] - wraps[3 * (size_t)pair.b + k] : 0;
            shifts[3 * i + k] = shift[k] + wrapped;
        }
    }
}

// ---- distances

// The vector of an entry, rounded as near.h says.
static void entry_vector( const clv_near* near, clv_pair pair, const int32_t* shift, double out[3] )
{
    double a[3], b[3], offset[3];
    int32_t inner[3] = { 0, 0, 0 };
    near_place( near, pair.a, a );
    near_place( near, pair.b, b );
    if ( shift != NULL && near->frame.is_periodic )
    {
        const int32_t* wraps = near->wraps.items;
        for ( int k = 0; k < 3; ++k )
        {
            inner[k] =
                shift[k] - wraps[3 * (size_t)pair.a + (size_t)k] + wraps[3 * (size_t)pair.b + (size_t)k];
        }
    }
    int32_t sign = inner[0] != 0 ? inner[0] : inner[1] != 0 ? inner[1] : inner[2];
    double* moved = sign < 0 ? a : b; // the image is of the one that goes up
    if ( sign != 0 )
    {
        for ( int k = 0; k < 3; ++k )
        {
            inner[k] = sign < 0 ? -inner[k] : inner[k];
        }
        near_offset( &near->frame, inner, offset );
        for ( int axis = 0; axis < 3; ++axis )
        {
            moved[axis] = near_round( near, moved[axis] + near_round( near, offset[axis] ) );
        }
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        out[axis] = near_round( near, b[axis] - a[axis] );
    }
}

void clv_near_measure_entries( const clv_near* near, const clv_pair* pairs, const int32_t* shifts,
    uint64_t count, void* squared, void* vectors )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        double d[3];
        entry_vector( near, pairs[i], shifts != NULL ? shifts + 3 * i : NULL, d );
        if ( near->def.doubles )
        {
            double sum = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            if ( squared != NULL )
            {
                ( (double*)squared )[i] = sum;
            }
            for ( uint64_t k = 0; vectors != NULL && k < 3; ++k )
            {
                ( (double*)vectors )[3 * i + k] = d[k];
            }
        }
        else
        {
            float f[3] = { (float)d[0], (float)d[1], (float)d[2] };
            float sum = f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
            if ( squared != NULL )
            {
                ( (float*)squared )[i] = sum;
            }
            for ( uint64_t k = 0; vectors != NULL && k < 3; ++k )
            {
                ( (float*)vectors )[3 * i + k] = f[k];
            }
        }
    }
}

static uint64_t entry_count( const clv_near* near )
{
    return near->pairs.count * ( near->def.full ? 2 : 1 );
}

typedef struct entry_job
{
    const clv_near* near;
    uint64_t count;
} entry_job;

enum
{
    ENTRY_PIECE = 1 << 14,
    ENTRY_CHUNK = 256
};

// Entries of a list by point, as pairs: those from `first` on, which begin at point *point or later.
static void read_entries(
    const clv_near* near, uint64_t first, uint64_t count, uint32_t* point, clv_pair* out )
{
    for ( uint64_t i = first; i < first + count; ++i )
    {
        while ( near->offsets.items[*point + 1] <= i )
        {
            *point += 1;
        }
        CLV_ASSERT( *point < near->point_count );
        out[i - first] = ( clv_pair ){ *point, near->indices.items[i] };
    }
}

static uint32_t point_of_entry( const clv_near* near, uint64_t entry )
{
    uint32_t begin = 0, end = near->point_count;
    while ( begin < end )
    {
        uint32_t middle = begin + ( end - begin ) / 2;
        bool is_before = near->offsets.items[middle + 1] <= entry;
        begin = is_before ? middle + 1 : begin;
        end = is_before ? end : middle;
    }
    return begin;
}

static const int32_t* shifts_of( const clv_near* near )
{
    const near_shift_array* shifts =
        near->def.full || near->def.by_point ? &near->entry_shifts : &near->shifts;
    return near->frame.is_periodic ? shifts->items : NULL;
}

static void measure_piece_entries( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const entry_job* job = context;
    const clv_near* near = job->near;
    uint64_t begin = (uint64_t)piece * ENTRY_PIECE;
    uint64_t end = job->count - begin < ENTRY_PIECE ? job->count : begin + ENTRY_PIECE;
    CLV_ASSERT( begin < end && end <= entry_count( near ) );
    size_t number = near_number( near );
    uint32_t point = near->def.by_point ? point_of_entry( near, begin ) : 0;
    for ( uint64_t i = begin; i < end; i += ENTRY_CHUNK )
    {
        uint64_t count = end - i < ENTRY_CHUNK ? end - i : ENTRY_CHUNK;
        clv_pair read[ENTRY_CHUNK];
        const clv_pair* pairs = read;
        if ( near->def.by_point )
        {
            read_entries( near, i, count, &point, read );
        }
        else
        {
            pairs = ( near->def.full ? near->sides.items : near->pairs.items ) + i;
        }
        const int32_t* shifts = shifts_of( near );
        clv_near_measure_entries( near, pairs, shifts != NULL ? shifts + 3 * i : NULL, count,
            near->def.squared ? near->squared.items + i * number : NULL,
            near->def.vectors ? near->vectors.items + 3 * i * number : NULL );
    }
}

static void measure_list( clv_near* near )
{
    entry_job job = { near, entry_count( near ) };
    if ( near->def.squared || near->def.vectors )
    {
        clv_task_run( &near->tasks, measure_piece_entries,
            (uint32_t)( ( job.count + ENTRY_PIECE - 1 ) / ENTRY_PIECE ), &job );
    }
}

// ---- forms

// Where each point's entries begin, and room to fill them: offsets[i + 1] is where the next entry of point i
// goes, which in the end is where those of i + 1 begin.
static void count_entries( clv_near* near )
{
    uint64_t* offsets = near->offsets.items;
    memset( offsets, 0, ( (size_t)near->point_count + 2 ) * sizeof( uint64_t ) );
    for ( uint64_t i = 0; i < near->pairs.count; ++i )
    {
        CLV_ASSERT(
            near->pairs.items[i].a < near->point_count && near->pairs.items[i].b < near->point_count );
        offsets[near->pairs.items[i].a + 2] += 1;
        offsets[near->pairs.items[i].b + 2] += near->def.full;
    }
    for ( size_t i = 2; i <= (size_t)near->point_count + 1; ++i )
    {
        offsets[i] += offsets[i - 1];
    }
    CLV_ASSERT( offsets[near->point_count + 1] == entry_count( near ) );
}

static void put_entry( clv_near* near, uint32_t point, uint32_t other, const int32_t* shift, int32_t sign )
{
    uint64_t place = near->offsets.items[point + 1]++;
    CLV_ASSERT( place < entry_count( near ) );
    if ( near->def.by_point )
    {
        near->indices.items[place] = other;
    }
    else
    {
        near->sides.items[place] = ( clv_pair ){ point, other };
    }
    for ( uint64_t k = 0; shift != NULL && k < 3; ++k )
    {
        near->entry_shifts.items[3 * place + k] = sign * shift[k];
    }
}

static void fill_entries( clv_near* near )
{
    bool has_shifts = near->shifts.count > 0;
    for ( uint64_t i = 0; i < near->pairs.count; ++i )
    {
        clv_pair pair = near->pairs.items[i];
        const int32_t* shift = has_shifts ? near->shifts.items + 3 * i : NULL;
        put_entry( near, pair.a, pair.b, shift, 1 );
        if ( near->def.full )
        {
            put_entry( near, pair.b, pair.a, shift, -1 );
        }
    }
    CLV_ASSERT( near->offsets.items[near->point_count] == entry_count( near ) );
}

bool clv_near_wants_shifts( const clv_near* near )
{
    return near->def.shifts || ( near->frame.is_periodic && ( near->def.squared || near->def.vectors ) );
}

static bool reserve_forms( clv_near* near )
{
    base_memory* memory = &near->memory;
    uint64_t entries = entry_count( near );
    const clv_near_def* def = &near->def;
    bool is_sorted = def->full || def->by_point;
    return ( !is_sorted ||
               ( base_array_reserve( &near->offsets, memory, (uint64_t)near->point_count + 2 ) &&
                   ( def->by_point ? base_array_reserve( &near->indices, memory, entries )
                                   : base_array_reserve( &near->sides, memory, entries ) ) &&
                   ( !clv_near_wants_shifts( near ) ||
                       base_array_reserve( &near->entry_shifts, memory, 3 * entries ) ) ) ) &&
        ( !def->squared || base_array_reserve( &near->squared, memory, entries * near_number( near ) ) ) &&
        ( !def->vectors || base_array_reserve( &near->vectors, memory, 3 * entries * near_number( near ) ) );
}

typedef struct name_job
{
    clv_near* near;
    int32_t* shifts;
} name_job;

static void name_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const name_job* job = context;
    uint64_t begin = (uint64_t)piece * ENTRY_PIECE, all = job->near->pairs.count;
    uint64_t count = all - begin < ENTRY_PIECE ? all - begin : ENTRY_PIECE;
    clv_near_name( job->near, job->near->pairs.items + begin, count,
        job->shifts != NULL ? job->shifts + 3 * begin : NULL );
}

clv_result clv_near_list_make( clv_near* near )
{
    bool with_shifts = clv_near_wants_shifts( near );
    uint64_t count = near->pairs.count;
    near->shifts.count = 0;
    if ( ( with_shifts && !base_array_reserve( &near->shifts, &near->memory, 3 * count ) ) ||
        !reserve_forms( near ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    if ( with_shifts || ( near->image_count > 0 && near->grid.cell_count == 0 ) ) // cells have named them
    {
        name_job job = { near, with_shifts ? near->shifts.items : NULL };
        clv_task_run(
            &near->tasks, name_piece, (uint32_t)( ( count + ENTRY_PIECE - 1 ) / ENTRY_PIECE ), &job );
    }
    near->shifts.count = with_shifts ? 3 * count : 0;
    if ( near->def.full || near->def.by_point )
    {
        count_entries( near );
        fill_entries( near );
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
    view.count = entry_count( near );
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

bool clv_near_list_remember( clv_near* near, const near_call* call )
{
    near->may_keep = false;
    if ( near->def.skin == 0 )
    {
        return true;
    }
    size_t point = near_number( near ) * near_axes( near ), count = near->point_count;
    const clv_near_points* points = call->points;
    if ( !base_array_reserve( &near->old_positions, &near->memory, count * point ) ||
        ( call->radii != NULL &&
            !base_array_reserve( &near->old_radii, &near->memory, count * near_number( near ) ) ) ||
        ( points->groups != NULL && !base_array_reserve( &near->old_groups, &near->memory, count ) ) )
    {
        return false;
    }
    for ( size_t i = 0; i < count; ++i )
    {
        memcpy(
            near->old_positions.items + i * point, (const char*)call->positions + i * points->stride, point );
    }
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

// Has any point moved more than half the skin? What rounding may do to a distance of the greatest limit is taken off it.
static bool has_moved( const clv_near* near, const near_call* call )
{
    CLV_ASSERT( near->may_keep && call->points->count == near->point_count );
    uint32_t axes = near_axes( near );
    double epsilon = near->def.doubles ? DBL_EPSILON : (double)FLT_EPSILON;
    double half = near_round( near, near->def.skin ) / 2 * ( 1 - 16 * epsilon ) -
        4 * epsilon * near->old_limit - near->frame.slack;
    half = half > 0 ? half : 0;
    for ( uint32_t i = 0; i < near->point_count; ++i )
    {
        double p[3], square = 0;
        near_read( near, call, i, p );
        for ( uint32_t axis = 0; axis < axes; ++axis )
        {
            size_t at = (size_t)i * axes + axis;
            double old = near->def.doubles
                ? ( (const double*)(const void*)near->old_positions.items )[at]
                : (double)( (const float*)(const void*)near->old_positions.items )[at];
            square += ( p[axis] - old ) * ( p[axis] - old );
        }
        if ( !( square <= half * half ) ) // NaN has moved too: it is to be refused
        {
            return true;
        }
    }
    return false;
}

bool clv_near_list_may_stay( const clv_near* near, const near_call* call )
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

void clv_near_list_refresh( clv_near* near, const near_call* call )
{
    CLV_ASSERT( near->is_valid && near->may_keep );
    if ( !near->def.squared && !near->def.vectors )
    {
        return;
    }
    for ( uint32_t i = 0; i < near->point_count; ++i )
    {
        double p[3], offset[3] = { 0, 0, 0 };
        near_read( near, call, i, p );
        const int32_t* wrap = near->frame.is_periodic ? near->wraps.items + 3 * (size_t)i : NULL;
        if ( wrap != NULL && ( wrap[0] != 0 || wrap[1] != 0 || wrap[2] != 0 ) )
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
    measure_list( near );
}
