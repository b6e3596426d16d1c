// SPDX-License-Identifier: MIT
// Levels and cells of a loose grid, from what the boxes look like now. Any plan is right; a bad one is only
// slow.
#include "base/assertion.h"
#include "base/bit_set.h"
#include "base/bits.h"
#include "base/finite.h"
#include "base/heap_sort.h"
#include "rest/loose_grid.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum
{
    SAMPLES = 256,
    BELOW = 6,            // halvings of the usual size that have a level
    LEVEL_SAMPLES = 4096, // boxes whose sizes are counted
    LEVEL_BOXES = 64,     // a level that would have fewer boxes is merged with the next coarser one
    SPARE_SHARE = 16,     // the level above the usual size is for boxes that move, as many as one in so many
    CELLS_PER_BOX = 1,    // at most
    CELLS_MORE = 64       // and so many
};

// A cell's width in limits, measured: of one, a question visits 27 cells and more with few boxes in each.
#define CELL_LIMITS 2.0f

enum
{
    CODES = 0x7FFF // a coordinate's highest
};

// Faces and lengths of a sample, each sorted.
typedef struct sample
{
    float corners[3][SAMPLES]; ///< lower ones
    float lengths[3][SAMPLES];
    uint32_t count;
} sample;

static int compare_floats( const void* a, const void* b )
{
    float x = *(const float*)a, y = *(const float*)b;
    return ( x > y ) - ( x < y );
}

static bool has_finite_sides( const clv_aabb* box )
{
    return base_is_finite_box( box ) && box->upper.x - box->lower.x <= FLT_MAX &&
        box->upper.y - box->lower.y <= FLT_MAX && box->upper.z - box->lower.z <= FLT_MAX;
}

static void sample_known(
    sample* out, const simd_rest_box* boxes, const uint64_t* known, uint32_t slot_count )
{
    uint32_t wanted = slot_count < SAMPLES ? slot_count : SAMPLES;
    out->count = 0;
    for ( uint32_t i = 0; i < wanted; ++i )
    {
        uint32_t slot = base_sample( i, wanted, slot_count );
        if ( !base_bits_has( known, slot ) )
        {
            continue;
        }
        clv_aabb box = rest_zone_of( &boxes[slot] ).fat;
        for ( int axis = 0; axis < 3 && has_finite_sides( &box ); ++axis )
        {
            float lower = ( &box.lower.x )[axis];
            CLV_ASSERT( out->count < SAMPLES );
            out->corners[axis][out->count] = lower;
            out->lengths[axis][out->count] = ( &box.upper.x )[axis] - lower;
            out->count += axis == 2;
        }
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        clv_base_heap_sort( out->corners[axis], out->count, sizeof( float ), compare_floats );
        clv_base_heap_sort( out->lengths[axis], out->count, sizeof( float ), compare_floats );
    }
}

// Limits double from level to level; the one that nine in ten boxes keep to has number BELOW.
static void set_limits( rest_level* levels, const sample* s )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        float usual = s->count > 0 ? s->lengths[axis][s->count * 9 / 10] : 1;
        CLV_ASSERT( s->count == 0 || usual >= s->lengths[axis][0] ); // they are sorted
        usual = usual * 1.02f; // slightly more, so that boxes of one size and their refits share a level
        usual = usual < 1e-30f ? 1e-30f : usual > 1e30f ? 1e30f : usual;
        float limit = usual;
        for ( int i = 0; i < BELOW; ++i )
        {
            limit *= 0.5f;
        }
        for ( int i = 0; i < REST_LEVELS; ++i )
        {
            levels[i].limit[axis] = limit;
            limit *= 2;
        }
    }
}

static uint32_t finest_level( const rest_level* levels, const clv_aabb* box )
{
    uint32_t i = 0;
    while ( i < REST_LEVELS &&
        !( box->upper.x - box->lower.x <= levels[i].limit[0] &&
            box->upper.y - box->lower.y <= levels[i].limit[1] &&
            box->upper.z - box->lower.z <= levels[i].limit[2] ) )
    {
        ++i;
    }
    return i;
}

// Cells somewhat wider than the limit, over where nearly all of the sample is, and then wider until they are
// not too many.
static uint64_t lay_cells( rest_level* level, const sample* s, uint64_t box_count )
{
    float width[3], extent[3];
    uint64_t cells = 1;
    CLV_ASSERT( s->count > 0 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        float low = s->corners[axis][s->count / 64];
        float high = s->corners[axis][s->count - 1 - s->count / 64];
        extent[axis] = ( high - low ) * 1.1f;
        CLV_ASSERT( low <= high );
        level->origin[axis] = low - ( high - low ) * 0.05f;
        width[axis] = level->limit[axis] * CELL_LIMITS;
        float dims = extent[axis] / width[axis];
        level->dims[axis] = dims < 1023 ? (uint32_t)dims + 1 : 1024;
        cells *= level->dims[axis];
    }
    while ( cells > CELLS_PER_BOX * box_count + CELLS_MORE )
    {
        int widest = level->dims[1] > level->dims[0] ? 1 : 0;
        widest = level->dims[2] > level->dims[widest] ? 2 : widest;
        level->dims[widest] -= ( level->dims[widest] + 7 ) / 8;
        CLV_ASSERT( level->dims[widest] > 0 );
        cells = (uint64_t)level->dims[0] * level->dims[1] * level->dims[2];
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        float scale = (float)CODES / extent[axis]; // NaN or infinite where all are in one place
        level->scale[axis] = scale > 1e-30f && scale < 1e30f ? scale : 1e-30f;
    }
    return cells;
}

// One cell for all that is longer than the others' limits, with codes as in the level before.
static void set_last_level( rest_grid* grid, uint64_t cells )
{
    rest_level* last = &grid->levels[grid->level_count];
    *last = ( rest_level ){ .scale = { 1e-30f, 1e-30f, 1e-30f } };
    if ( grid->level_count > 0 )
    {
        *last = last[-1];
    }
    last->first_cell = (uint32_t)cells;
    for ( int axis = 0; axis < 3; ++axis )
    {
        last->limit[axis] = INFINITY;
        last->dims[axis] = 1;
    }
    grid->level_count += 1;
}

BASE_COLD bool clv_rest_grid_plan(
    rest_grid* grid, const simd_rest_box* boxes, const uint64_t* known, uint32_t slot_count )
{
    sample s;
    rest_level all[REST_LEVELS];
    uint64_t counts[REST_LEVELS + 1] = { 0 };
    memset( all, 0, sizeof( all ) );
    sample_known( &s, boxes, known, slot_count );
    set_limits( all, &s );
    uint32_t step = slot_count / LEVEL_SAMPLES + 1;
    for ( uint32_t first = 0; first < slot_count && s.count > 0; first += step )
    {
        uint32_t slot = base_sample_step( first, step, slot_count );
        clv_aabb box = rest_zone_of( &boxes[slot] ).fat;
        counts[base_bits_has( known, slot ) ? finest_level( all, &box ) : REST_LEVELS] += step;
    }
    uint64_t cells = 0, waiting = 0;
    grid->level_count = 0;
    for ( int i = 0; i < REST_LEVELS && s.count > 0;
          ++i ) // otherwise nothing tells how large cells should be
    {
        waiting += counts[i];
        if ( i == BELOW + 1 &&
            waiting < slot_count / SPARE_SHARE ) // margins grow with speed, by up to two fifths of a box
        {
            waiting = slot_count / SPARE_SHARE;
        }
        if ( waiting >= LEVEL_BOXES )
        {
            CLV_ASSERT( grid->level_count < REST_LEVELS && cells <= UINT32_MAX );
            rest_level* level = &grid->levels[grid->level_count];
            *level = all[i];
            level->first_cell = (uint32_t)cells;
            cells += lay_cells( level, &s, waiting );
            CLV_ASSERT( grid->level_count == 0 || level[-1].limit[0] < level->limit[0] ); // finest first
            grid->level_count += 1;
            waiting = 0;
        }
    }
    set_last_level( grid, cells );
    grid->cells.count = 0;
    if ( !base_array_reserve( &grid->cells, grid->memory, cells + 1 ) )
    {
        return false;
    }
    grid->cells.count = cells + 1;
    grid->entries.count = 0;
    memset( grid->cells.items, 0, (size_t)grid->cells.count * sizeof( rest_cell ) );
    memset( grid->free_blocks, 0, sizeof( grid->free_blocks ) );
    return true;
}
