// SPDX-License-Identifier: MIT
// The search of a block through a grid of cells (cell/cell.h), written once over a register of bytes. Each
// kernels_<isa>.c defines, before it includes this file:
//   BYTE_LANES                 bytes per register: a divisor of 64
//   bytes                      that many
//   bytes_load( p )            p aligned
//   bytes_splat( b )
//   bytes_excess( a, b )       a - b, or 0 where that is negative
//   bytes_or( a, b ), bytes_and( a, b )
//   bytes_zero_bits( a )       a bit per lane that is 0, lane 0 lowest
//   record                     a cell_box in registers; record_load, record_store, and record_from( clv_aabb, slot )
//   fixed_of( record, s, out ) for each coordinate of a record ( value - origin ) * scale, held between 0 and most, without
//                              its fraction. Monotonous, so what touches stays touching. Returns the cells of both corners.
//   code_of( fixed, base )     fixed - base, held between 0 and 254, as eight bytes
//   transpose_codes( codes, lanes, stride, rows )   16 codes to 16 bytes in each of eight rows of lanes, and to 16 rows
//
// An entry's code is eight bytes: lower x y z in 256ths of the cell, before bits, upper x y z, 0. Two boxes may touch if on
// each axis the lower of one is at most the upper of the other, both ways. In lanes the upper bytes are complemented, and a
// row holds its upper x y z, 0, complemented lower x y z, before bits: then every test is "lane at most row". 255 occurs in
// neither half of a code, so lanes past the end, filled with it, meet nothing.
//
// Everything else is plain C. Sums run in the order of the boxes and no operation is fused, so that every instruction set
// makes the same grid.
// No include guard: this is a template.

#include <math.h>
#include <string.h>

#define OWNER_BITS 0x1FFFFFFFu

static inline scaling scaling_of( const cell_grid* grid )
{
    scaling s;
    memset( &s, 0, sizeof( s ) );
    for ( int axis = 0; axis < 3; ++axis )
    {
        s.origin[axis] = s.origin[axis + 4] = grid->origin[axis];
        s.scale[axis] = s.scale[axis + 4] = grid->scale[axis];
        s.most[axis] = s.most[axis + 4] = (float)( grid->dims[axis] * CELL_STEPS - 1 );
    }
    return s;
}

// The sample once more, counted in 4 x 4 x 4 cells: of the others in its cell, a box sees as many as an even spread would
// give it, times this.
static float measure_crowding( const cell_job* job, const cell_extent* extent, uint32_t step )
{
    enum
    {
        SIDE = 4,
        CELLS = SIDE * SIDE * SIDE
    };
    uint32_t counts[CELLS] = { 0 };
    uint32_t samples = 0;
    for ( uint32_t i = 0; i < job->count; i += step, ++samples )
    {
        uint32_t cell = 0;
        for ( int axis = 0; axis < 3; ++axis )
        {
            float width = extent->high[axis] - extent->low[axis];
            float at = ( job->boxes[i].lower[axis] - extent->low[axis] ) / width * SIDE;
            at = at > 0 ? at : 0; // also where there is no width
            at = at < SIDE - 1 ? at : SIDE - 1;
            cell = cell * SIDE + (uint32_t)at;
        }
        counts[cell] += 1;
    }
    float seen = 0;
    for ( uint32_t cell = 0; cell < CELLS; ++cell )
    {
        seen += (float)counts[cell] * ( (float)counts[cell] - 1 );
    }
    float even = (float)samples * ( (float)samples - 1 ) / CELLS;
    return seen > even ? seen / even : 1;
}

// Corners and sizes of a sample of the boxes: those outside the region it spans are counted to its rim.
static cell_extent measure( const cell_job* job )
{
    cell_extent extent;
    uint32_t step = job->count / CELL_SAMPLES + 1;
    uint32_t samples = 0;
    float low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    for ( uint32_t i = 0; i < job->count; i += step, ++samples )
    {
        const cell_box* box = &job->boxes[i];
        for ( int axis = 0; axis < 3; ++axis )
        {
            low[axis] = box->lower[axis] < low[axis] ? box->lower[axis] : low[axis];
            high[axis] = box->upper[axis] > high[axis] ? box->upper[axis] : high[axis];
        }
    }
    float cap[3], sum[3] = { 0, 0, 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        extent.low[axis] = low[axis] > job->region_low[axis] ? low[axis] : job->region_low[axis];
        extent.high[axis] = high[axis] < job->region_high[axis] ? high[axis] : job->region_high[axis];
        // Boxes may all lie on one side of their region, or have no width; a grid needs none there either.
        extent.high[axis] = extent.high[axis] > extent.low[axis] ? extent.high[axis] : extent.low[axis];
        cap[axis] = extent.high[axis] - extent.low[axis];
    }
    for ( uint32_t i = 0; i < job->count; i += step )
    {
        const cell_box* box = &job->boxes[i];
        for ( int axis = 0; axis < 3; ++axis )
        {
            float size = box->upper[axis] - box->lower[axis];
            sum[axis] += size < cap[axis] ? size : cap[axis];
        }
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        extent.size[axis] = sum[axis] / (float)samples;
    }
    extent.crowding = measure_crowding( job, &extent, step );
    return extent;
}

// An entry while entries are listed: its cell, its box and on which axes it begins before the cell.
static inline uint64_t entry_of( uint32_t cell, uint32_t before, uint32_t owner )
{
    return (uint64_t)cell << 32 | before << 29 | owner;
}

// Which cells a box reaches that spans at most two on each axis: a class of three bits, one per axis.
typedef struct spans
{
    uint64_t
        cell[8]
            [8]; // from the first cell, as entry_of has it; what lies behind the class's cells is never kept
    uint64_t before[8][8]; // likewise
    uint32_t count[8];
} spans;

static spans spans_of( const cell_grid* grid )
{
    spans s;
    memset( &s, 0, sizeof( s ) );
    for ( uint32_t kind = 0; kind < 8; ++kind )
    {
        for ( uint32_t corner = 0; corner < 8; ++corner )
        {
            if ( ( corner & ~kind ) == 0 )
            {
                uint32_t at = s.count[kind]++;
                uint32_t offset = ( corner & 1 ) + ( corner >> 1 & 1 ) * grid->dims[0] +
                    ( corner >> 2 ) * grid->dims[0] * grid->dims[1];
                s.cell[kind][at] = entry_of( offset, 0, 0 );
                s.before[kind][at] = entry_of( 0, corner, 0 );
            }
        }
    }
    return s;
}

// Coordinate `axis` of a corner's cell, from four fields of 16 bits.
static inline uint32_t field_of( uint64_t fields, int axis )
{
    return (uint32_t)( fields >> ( 16 * axis ) ) & 0xFFFF;
}

// Entries of a box that spans more than two cells on some axis, from `out` on. NULL if more than `room`.
static uint64_t* list_wide(
    const cell_grid* grid, cell_span span, uint64_t owner, uint64_t* out, size_t room )
{
    uint32_t x0 = field_of( span.first, 0 ), y0 = field_of( span.first, 1 ), z0 = field_of( span.first, 2 );
    uint32_t x1 = field_of( span.last, 0 ), y1 = field_of( span.last, 1 ), z1 = field_of( span.last, 2 );
    if ( (uint64_t)( x1 - x0 + 1 ) * ( y1 - y0 + 1 ) * ( z1 - z0 + 1 ) > room )
    {
        return NULL;
    }
    for ( uint32_t z = z0; z <= z1; ++z )
    {
        for ( uint32_t y = y0; y <= y1; ++y )
        {
            for ( uint32_t x = x0; x <= x1; ++x )
            {
                uint32_t before =
                    (uint32_t)( x > x0 ) | (uint32_t)( y > y0 ) << 1 | (uint32_t)( z > z0 ) << 2;
                uint32_t cell = ( z * grid->dims[1] + y ) * grid->dims[0] + x;
                *out++ = entry_of( cell, before, 0 ) | owner;
            }
        }
    }
    return out;
}

// Boxes in 256ths of cells, and the list of their entries; how many, or UINT32_MAX if there are more than the grid is worth.
static uint32_t list_entries( const cell_job* job, const cell_grid* grid )
{
    const cell_box* boxes = job->boxes;
    int16_t* fixed = job->scratch->fixed;
    uint64_t* out = job->scratch->list;
    const uint64_t* limit = out + (size_t)job->count * CELL_ENTRIES_PER_BOX;
    const scaling s = scaling_of( grid );
    const spans near = spans_of( grid );
    const uint32_t row = grid->dims[0], layer = grid->dims[0] * grid->dims[1];
    for ( uint32_t i = 0; i < job->count; ++i )
    {
        cell_span span = fixed_of( record_load( &boxes[i] ), &s, fixed + (size_t)i * 8 );
        uint64_t owner = entry_of( 0, boxes[i].before, i );
        uint64_t size = span.last - span.first; // field by field: none is negative
        if ( ( size & 0xFFFEFFFEFFFEu ) == 0 )
        {
            uint32_t base = field_of( span.first, 0 ) + field_of( span.first, 1 ) * row +
                field_of( span.first, 2 ) * layer;
            uint32_t kind = (uint32_t)( size | size >> 15 | size >> 30 ) & 7;
            // Always eight, of which the class tells how many count.
            uint64_t first = entry_of( base, 0, 0 );
            for ( int k = 0; k < 8; ++k )
            {
                out[k] = ( first + near.cell[kind][k] ) | owner | near.before[kind][k];
            }
            out += near.count[kind];
        }
        else
        {
            out = list_wide( grid, span, owner, out, (size_t)( limit - out ) );
        }
        if ( out == NULL || out > limit )
        {
            return UINT32_MAX;
        }
    }
    return (uint32_t)( out - job->scratch->list );
}

// Where each cell begins, as code_of takes it.
static void lay_bases( const cell_grid* grid, int16_t* bases )
{
    for ( uint32_t z = 0; z < grid->dims[2]; ++z )
    {
        for ( uint32_t y = 0; y < grid->dims[1]; ++y )
        {
            for ( uint32_t x = 0; x < grid->dims[0]; ++x, bases += 8 )
            {
                bases[0] = bases[4] = (int16_t)( x * CELL_STEPS );
                bases[1] = bases[5] = (int16_t)( y * CELL_STEPS );
                bases[2] = bases[6] = (int16_t)( z * CELL_STEPS );
                bases[3] = bases[7] = 0;
            }
        }
    }
}

// How deep a grid lies in others, and where its share of the scratch begins.
typedef struct nesting
{
    uint32_t depth;
    uint64_t* codes;
    uint32_t* owners;
    uint32_t* starts;
    cell_box* boxes;
} nesting;

// Entries per cell, in starts[cell + 1]; the cell with most.
static uint32_t count_entries( const cell_job* job, const cell_grid* grid, uint32_t count, uint32_t* starts )
{
    const uint64_t* list = job->scratch->list;
    uint32_t cell_count = grid->dims[0] * grid->dims[1] * grid->dims[2];
    memset( starts, 0, ( cell_count + 1 ) * sizeof( uint32_t ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        starts[( list[i] >> 32 ) + 1] += 1;
    }
    uint32_t fullest = 0;
    for ( uint32_t cell = 1; cell < cell_count; ++cell )
    {
        fullest = starts[cell + 1] > starts[fullest + 1] ? cell : fullest;
    }
    return fullest;
}

// Entries to their cells. Afterwards starts[cell] is a cell's first entry; there is one more than there are cells.
static void place_entries( const cell_job* job, const cell_grid* grid, uint32_t count, nesting at )
{
    const uint64_t* list = job->scratch->list;
    const int16_t* fixed = job->scratch->fixed;
    int16_t* bases = job->scratch->bases;
    uint32_t* starts = at.starts;
    uint32_t cell_count = grid->dims[0] * grid->dims[1] * grid->dims[2];
    lay_bases( grid, bases );
    uint32_t sum = 0;
    for ( uint32_t cell = 0; cell < cell_count; ++cell )
    {
        uint32_t here = starts[cell + 1];
        starts[cell + 1] = sum;
        sum += here;
    }
    // While placing, starts[cell + 1] is the next place of `cell`; in the end it is where the next cell begins.
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t cell = (uint32_t)( list[i] >> 32 );
        uint32_t owner = (uint32_t)list[i] & OWNER_BITS;
        uint32_t place = starts[cell + 1]++;
        uint64_t code = code_of( fixed + (size_t)owner * 8, bases + (size_t)cell * 8 );
        at.codes[place] = code | ( list[i] >> 29 & 7 ) << 24;
        at.owners[place] = owner;
    }
}

// One cell while it is searched.
typedef struct cell_view
{
    const cell_job* job;
    uint64_t* codes;
    const uint32_t* owners;
    uint32_t count;
    uint32_t candidate_count;
} cell_view;

// Codes to lanes and rows, 16 at a time. The codes behind the cell's last are the next cell's: put aside while theirs are
// read as nothing.
static void load_cell( const cell_view* view, uint32_t stride )
{
    cell_scratch* scratch = view->job->scratch;
    uint64_t kept[16];
    uint64_t* end = view->codes + view->count;
    memcpy( kept, end, sizeof( kept ) );
    for ( int i = 0; i < 16; ++i )
    {
        end[i] = 0x0000000000FFFFFFu; // lower 255, upper 0: complemented 255 in every lane
    }
    uint32_t first = 0;
    for ( ; first < view->count; first += 16 )
    {
        transpose_codes( view->codes + first, scratch->lanes + first, stride, scratch->rows + first );
    }
    memcpy( end, kept, sizeof( kept ) );
    for ( int lane = 0; lane < 7 && first < stride; ++lane )
    {
        memset( scratch->lanes + (size_t)lane * stride + first, 255, stride - first );
    }
}

typedef struct row_bytes
{
    bytes most[6];
    bytes before;
} row_bytes;

static inline row_bytes row_of( uint64_t row )
{
    row_bytes r;
    for ( int axis = 0; axis < 3; ++axis )
    {
        r.most[axis] = bytes_splat( (uint8_t)( row >> ( 8 * axis ) ) );
        r.most[axis + 3] = bytes_splat( (uint8_t)( row >> ( 32 + 8 * axis ) ) );
    }
    r.before = bytes_splat( (uint8_t)( row >> 56 ) );
    return r;
}

enum
{
    LANE_PARTS = 64 / BYTE_LANES // registers in a word of 64 lanes
};

// The lanes of BYTE_LANES entries.
typedef struct lane_bytes
{
    bytes least[6];
    bytes before;
} lane_bytes;

static inline lane_bytes lanes_at( const uint8_t* lanes, uint32_t stride )
{
    lane_bytes l;
    for ( int axis = 0; axis < 3; ++axis )
    {
        l.least[axis] = bytes_load( lanes + (size_t)axis * stride );
        l.least[axis + 3] = bytes_load( lanes + (size_t)( axis + 4 ) * stride );
    }
    l.before = bytes_load( lanes + (size_t)3 * stride );
    return l;
}

// A bit for each lane that the row may touch, unless both begin before this cell on some axis.
static inline uint64_t lane_hits( const lane_bytes* l, const row_bytes* r )
{
    bytes excess = bytes_and( l->before, r->before );
    for ( int i = 0; i < 6; ++i )
    {
        excess = bytes_or( excess, bytes_excess( l->least[i], r->most[i] ) );
    }
    return bytes_zero_bits( excess );
}

// All comparisons made, no branch taken: which of them fails is a coin toss.
static inline bool boxes_touch( const cell_box* a, const cell_box* b )
{
    int touch = 1;
    for ( int axis = 0; axis < 3; ++axis )
    {
        touch &= ( a->lower[axis] <= b->upper[axis] ) & ( b->lower[axis] <= a->upper[axis] );
    }
    return touch != 0;
}

static clv_result test_candidates( cell_view* view, pair_sink* sink )
{
    const cell_job* job = view->job;
    const cell_candidate* candidates = job->scratch->candidates;
    for ( uint32_t first = 0; first < view->candidate_count; first += PAIR_SINK_ROOM )
    {
        clv_result result = pair_sink_is_full( sink ) ? sink->make_room( sink ) : CLV_OK;
        if ( result != CLV_OK )
        {
            return result;
        }
        uint32_t left = view->candidate_count - first;
        uint32_t end = first + ( left < PAIR_SINK_ROOM ? left : PAIR_SINK_ROOM );
        clv_pair* out = sink->pairs + sink->count;
        for ( uint32_t i = first; i < end; ++i )
        {
            const cell_box* a = &job->boxes[view->owners[candidates[i].row]];
            const cell_box* b = &job->boxes[view->owners[candidates[i].column]];
            uint32_t low = a->slot < b->slot ? a->slot : b->slot;
            uint32_t high = a->slot < b->slot ? b->slot : a->slot;
            *out = ( clv_pair ){ low, high };
            out += boxes_touch( a, b );
        }
        sink->count = (uint64_t)( out - sink->pairs );
    }
    job->counters->candidate_count += view->candidate_count;
    view->candidate_count = 0;
    return CLV_OK;
}

// Hits of one row in one word of lanes become candidates; tested when there are many.
static inline clv_result put_hits(
    cell_view* view, uint32_t row, uint32_t column, uint64_t hits, pair_sink* sink )
{
    cell_candidate* out = view->job->scratch->candidates + view->candidate_count;
    while ( hits != 0 )
    {
        *out++ = ( cell_candidate ){ row, column + base_lowest_bit( hits ) };
        hits &= hits - 1;
    }
    view->candidate_count = (uint32_t)( out - view->job->scratch->candidates );
    return view->candidate_count < CELL_CANDIDATES ? CLV_OK : test_candidates( view, sink );
}

// Up to 64 rows, from `first` on, against one word of lanes, which stay in registers. Rows without a hit are passed over
// without a branch. Where the rows are these very lanes, each has only those behind it, one fewer than the row before; rows that
// lie before the word have them all.
static clv_result search_word(
    cell_view* view, const lane_bytes* lanes, uint32_t word, uint32_t first, uint32_t last, pair_sink* sink )
{
    const uint64_t* rows = view->job->scratch->rows;
    uint64_t hits[64];
    uint32_t hit_rows[64];
    uint32_t found = 0;
    uint32_t shift = first == word;
    uint64_t behind = ~(uint64_t)shift;
    for ( uint32_t row = first; row < last; ++row )
    {
        row_bytes r = row_of( rows[row] );
        uint64_t all = 0;
        for ( uint32_t part = 0; part < LANE_PARTS; ++part )
        {
            all |= lane_hits( &lanes[part], &r ) << ( part * BYTE_LANES % 64 );
        }
        all &= behind;
        behind <<= shift;
        hits[found] = all;
        hit_rows[found] = row;
        found += all != 0;
    }
    clv_result result = CLV_OK;
    for ( uint32_t i = 0; i < found && result == CLV_OK; ++i )
    {
        result = put_hits( view, hit_rows[i], word, hits[i], sink );
    }
    return result;
}

// All rows against all lanes behind them, a word of lanes at a time.
static clv_result search_rows( cell_view* view, uint32_t stride, pair_sink* sink )
{
    const uint8_t* at = view->job->scratch->lanes;
    clv_result result = CLV_OK;
    for ( uint32_t word = 0; word < view->count && result == CLV_OK; word += 64 )
    {
        lane_bytes lanes[LANE_PARTS];
        for ( uint32_t part = 0; part < LANE_PARTS; ++part )
        {
            lanes[part] = lanes_at( at + word + (size_t)part * BYTE_LANES, stride );
        }
        for ( uint32_t first = 0; first <= word && result == CLV_OK; first += 64 )
        {
            uint32_t last = first + 64 < view->count ? first + 64 : view->count;
            result = search_word( view, lanes, word, first, last, sink );
        }
    }
    return result;
}

static clv_result search_grid( const cell_job* job, nesting at, pair_sink* sink );

// A crowded cell: its boxes are copied, told what they have begun before, and searched like a block.
static clv_result search_inner(
    const cell_view* view, const cell_grid* grid, const uint32_t at_cell[3], nesting inner, pair_sink* sink )
{
    cell_job job = *view->job;
    job.boxes = inner.boxes;
    job.count = view->count;
    for ( uint32_t i = 0; i < view->count; ++i )
    {
        inner.boxes[i] = view->job->boxes[view->owners[i]];
        inner.boxes[i].before = (uint32_t)( view->codes[i] >> 24 ) & 7;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        float side = CELL_STEPS / grid->scale[axis];
        float low = grid->origin[axis] + (float)at_cell[axis] * side;
        float high = grid->origin[axis] + (float)( at_cell[axis] + 1 ) * side;
        // The rim cells hold everything outside, too; the grid clips what the boxes do not reach.
        job.region_low[axis] = at_cell[axis] == 0 ? view->job->region_low[axis] : low;
        job.region_high[axis] = at_cell[axis] + 1 == grid->dims[axis] ? view->job->region_high[axis] : high;
    }
    inner.boxes += view->count;
    inner.depth += 1;
    return search_grid( &job, inner, sink );
}

static clv_result search_cell(
    cell_view* view, const cell_grid* grid, const uint32_t at_cell[3], nesting inner, pair_sink* sink )
{
    const cell_job* job = view->job;
    if ( view->count > CELL_OVERFULL && view->count <= job->count / 2 && inner.depth < CELL_DEPTH )
    {
        return search_inner( view, grid, at_cell, inner, sink );
    }
    uint32_t stride = ( view->count + 63 ) & ~63u;
    load_cell( view, stride );
    clv_result result = search_rows( view, stride, sink );
    result = result == CLV_OK ? test_candidates( view, sink ) : result;
    job->counters->cell_count += 1;
    job->counters->entry_count += view->count;
    job->counters->test_count += (uint64_t)view->count * ( view->count - 1 ) / 2;
    return result;
}

// Choose a grid and list the boxes' entries in it. Where most of them crowd into one cell, because the region is far too
// wide for them, the grid is laid over that cell alone and the others count to its rim.
static uint32_t lay_grid( const cell_job* job, nesting at, cell_grid* grid )
{
    enum
    {
        ZOOMS = 12
    };
    cell_extent extent = measure( job );
    for ( int zoom = 0;; ++zoom )
    {
        uint32_t total;
        *grid = cell_grid_choose( job->count, &extent );
        while ( ( total = list_entries( job, grid ) ) == UINT32_MAX )
        {
            cell_grid_coarsen( grid, &extent );
        }
        uint32_t fullest = count_entries( job, grid, total, at.starts );
        bool is_crowded = job->count > CELL_OVERFULL && at.starts[fullest + 1] > job->count / 2;
        if ( !is_crowded || zoom == ZOOMS || grid->dims[0] * grid->dims[1] * grid->dims[2] == 1 )
        {
            return total;
        }
        uint32_t cell[3] = { fullest % grid->dims[0], fullest / grid->dims[0] % grid->dims[1],
            fullest / grid->dims[0] / grid->dims[1] };
        for ( int axis = 0; axis < 3; ++axis )
        {
            float side = CELL_STEPS / grid->scale[axis];
            extent.low[axis] = grid->origin[axis] + (float)cell[axis] * side;
            extent.high[axis] = grid->origin[axis] + (float)( cell[axis] + 1 ) * side;
        }
    }
}

static clv_result search_grid( const cell_job* job, nesting at, pair_sink* sink )
{
    cell_grid grid;
    uint32_t total = lay_grid( job, at, &grid );
    place_entries( job, &grid, total, at );
    nesting inner = at;
    inner.codes += total + 16; // room for what load_cell puts behind the last cell
    inner.owners += total;
    inner.starts += grid.dims[0] * grid.dims[1] * grid.dims[2] + 1;
    uint32_t cell = 0;
    uint32_t c[3];
    for ( c[2] = 0; c[2] < grid.dims[2]; ++c[2] )
    {
        for ( c[1] = 0; c[1] < grid.dims[1]; ++c[1] )
        {
            for ( c[0] = 0; c[0] < grid.dims[0]; ++c[0], ++cell )
            {
                uint32_t first = at.starts[cell];
                uint32_t count = at.starts[cell + 1] - first;
                cell_view view = { job, at.codes + first, at.owners + first, count, 0 };
                if ( count > 1 )
                {
                    clv_result result = search_cell( &view, &grid, c, inner, sink );
                    if ( result != CLV_OK )
                    {
                        return result;
                    }
                }
            }
        }
    }
    return CLV_OK;
}

static clv_result search_block( const cell_job* job, pair_sink* sink )
{
    const cell_scratch* scratch = job->scratch;
    nesting outermost = { 0, scratch->codes, scratch->owners, scratch->starts, scratch->boxes };
    return job->count > 1 ? search_grid( job, outermost, sink ) : CLV_OK;
}
