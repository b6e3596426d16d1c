// SPDX-License-Identifier: MIT
// Where several workers share one grid: boxes become records, and go to the slabs, rows of cells, that they
// reach.
#include "engine/corner.h"
#include "engine/engine.h"

#include "base/assertion.h"

// Where a slab's next record goes, and where its room ends: side by side, and all else of a segment is left
// alone while a piece is put.
typedef struct slab_place
{
    uint32_t next, end;
} slab_place;

// A record to a slab: counted if it goes there, and written where there is room in any case, since the next
// that does overwrites it. So only the room is a branch, which hardly ever mispredicts.
static inline void put_in_slab( slab_place* place, cell_record* out, cell_record record, bool goes )
{
    if ( place->next < place->end )
    {
        out[place->next] = record;
    }
    place->next += goes;
}

// Records to the slabs of their first cells. Those that reach others too are listed, and those that are wide,
// which go to none yet, so that the wide ones of a slab stay in order. Branch-free.
static inline uint32_t scatter_first( const slab_work* work, const corner_cells* near, slab_place* places,
    const cell_record* records, uint32_t count, uint16_t* more )
{
    cell_record* const out = work->out;
    const uint8_t* const slab_of_cell = work->slab_of_cell;
    uint32_t more_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t kind = cell_class( &records[i] ), cell = cell_first( &records[i] );
        uint32_t slab = slab_of_cell[cell], last = slab_of_cell[cell + near->offset[kind & 7]];
        bool is_wide = kind == CELL_WIDE;
        put_in_slab( &places[slab], out, records[i], !is_wide );
        more[more_count] = (uint16_t)i;
        more_count += is_wide | ( slab != last );
    }
    return more_count;
}

// A box to its other slabs. Later rows never lie in earlier slabs, so comparing with the last slab shows
// which are new; branch-free.
static inline void scatter_more(
    const slab_work* work, const corner_cells* near, slab_place* places, cell_record record )
{
    uint32_t kind = cell_class( &record ), cell = cell_first( &record );
    uint32_t last = work->slab_of_cell[cell];
    for ( uint32_t corner = 2; corner < 8; corner += 2 ) // cells that differ in x alone are in one slab
    {
        CLV_ASSERT( cell + near->offset[corner & kind] < cell_grid_count( work->grid ) );
        uint32_t slab = work->slab_of_cell[cell + near->offset[corner & kind]];
        bool is_new = slab > last;
        last = is_new ? slab : last;
        put_in_slab( &places[last], work->out, record, is_new );
    }
}

// A wide one to all of its slabs.
static void scatter_wide( const slab_work* work, const scaling* s, slab_place* places, cell_record record )
{
    cell_words words = cell_words_of( &work->input->boxes[cell_slot( &record )], s );
    cell_span span = cell_words_span( &words );
    uint32_t x = cell_field( span.first, 0 );
    uint32_t last = UINT32_MAX;
    for ( uint32_t z = cell_field( span.first, 2 ); z <= cell_field( span.last, 2 ); ++z )
    {
        for ( uint32_t y = cell_field( span.first, 1 ); y <= cell_field( span.last, 1 ); ++y )
        {
            uint32_t slab = work->slab_of_cell[cell_at( work->grid, x, y, z )];
            CLV_ASSERT( last == UINT32_MAX || slab >= last ); // rows ascend, and so do slabs
            if ( slab != last )
            {
                put_in_slab( &places[slab], work->out, record, true );
            }
            last = slab;
        }
    }
}

static void open_places( const slab_work* work, slab_place* places )
{
    for ( uint32_t slab = 0; slab < work->slab_count; ++slab )
    {
        const cell_segment* segment = &work->segments[slab];
        places[slab] = ( slab_place ){ segment->first, segment->first + segment->capacity };
    }
}

static void close_places( const slab_work* work, const slab_place* places )
{
    for ( uint32_t slab = 0; slab < work->slab_count; ++slab )
    {
        work->segments[slab].count = places[slab].next - work->segments[slab].first;
    }
}

// A part ends where a chunk of slots does, or records of the next would lie before the last of this one, and
// what is placed together would depend on the slabs.
void clv_engine_slab_scatter( const slab_work* work )
{
    CLV_ASSERT( work->first <= work->last && work->last <= work->input->live_count );
    const scaling s = scaling_of( work->grid );
    const corner_cells near = corner_cells_of( work->grid );
    slab_place places[ENGINE_SLABS];
    open_places( work, places );
    for ( uint32_t first = work->first, count; first < work->last; first += count )
    {
        cell_record records[CELL_PART];
        uint16_t more[CELL_PART];
        count = work->last - first < CELL_PART ? work->last - first : CELL_PART;
        cell_boxes part = cell_boxes_part( work->input, first, count );
        work->kernels->make_records( &part, &s, records );
        count = clv_engine_cell_end_of_chunk( records, 0, count );
        CLV_ASSERT( count > 0 );
        uint32_t more_count = scatter_first( work, &near, places, records, count, more );
        for ( uint32_t i = 0; i < more_count; ++i )
        {
            if ( cell_class( &records[more[i]] ) == CELL_WIDE )
            {
                scatter_wide( work, &s, places, records[more[i]] );
            }
            else
            {
                scatter_more( work, &near, places, records[more[i]] );
            }
        }
    }
    close_places( work, places );
}
