// SPDX-License-Identifier: MIT
// The search of a block through a grid of cells (engine/cell.h), written once over a register of bytes and one of eight
// 16-bit words. Each cells_<isa>.c defines, before it includes this file:
//   BYTE_LANES                 bytes per register: a divisor of 64
//   bytes                      that many
//   bytes_load( p )            p aligned
//   bytes_splat( value )       a byte in every lane
//   bytes_excess( a, b )       a - b, or 0 where that is negative
//   bytes_or( a, b ), bytes_and( a, b )
//   bytes_zero_bits( a )       a bit per lane that is 0, lane 0 lowest
//   bytes_meet( lanes, row )   a bit per lane in which lanes.lower <= row.upper and row.lower <= lanes.upper on three axes
//   byte_box                   lower and upper x y z in registers
//   boxes_touch( a, b )
//   row_of( entry )            of one entry, in every lane
//   hit_walk, split_hits, gather_slots   as in simd/hits_plain.h
//   words                      the coordinates of a box: lower x y z 0, upper x y z 0
//   words_of( box, s )         for each coordinate ( value - origin ) * scale, held between 0 and most, without its fraction.
//                              Monotonous, so what touches stays touching.
//   words_store( out, w )
//   words_span( w )            the cells of both corners
//   words_key( w, s )          the same as a cell_key
//   words_code( w )            their low bytes, as a record's code without bits
//   transpose_codes( entries, lanes, stride )   16 codes to 16 bytes in each of seven rows of lanes
//   whole_records              as in simd/records_plain.h; after this file, for block_body.h
//
// An entry's code is eight bytes: lower x y z in 256ths of the cell, before bits, upper x y z, 0. Two boxes may touch if on
// each axis the lower of one is at most the upper of the other, both ways. Where every lower is less than the upper it is
// compared with, rounding cannot have made it so: the boxes touch. Only a tie has to be looked up in float.
//
// Everything else is plain C. Sums run in the order of the boxes and no operation is fused, so that every instruction set
// makes the same grid.
// No include guard: this is a template.

#include <math.h>
#include <string.h>

// Which cells a box reaches that spans at most two on each axis: a class of three bits, one per axis.
typedef struct corner_cells
{
    uint32_t offset[8]; // from the first cell, by corner: a bit per axis
    uint32_t count[8];  // corners of each class
    uint8_t corner[8][8];
} corner_cells;

static corner_cells corner_cells_of( const cell_grid* grid )
{
    corner_cells c;
    memset( &c, 0, sizeof( c ) );
    for ( uint32_t corner = 0; corner < 8; ++corner )
    {
        c.offset[corner] = ( corner & 1 ) + ( corner >> 1 & 1 ) * grid->dims[0] +
            ( corner >> 2 ) * grid->dims[0] * grid->dims[1];
        for ( uint32_t kind = 0; kind < 8; ++kind )
        {
            if ( ( corner & ~kind ) == 0 )
            {
                c.corner[kind][c.count[kind]++] = (uint8_t)corner;
            }
        }
    }
    return c;
}

// Coordinate `axis` of a corner's cell, from four fields of 16 bits.
static inline uint32_t field_of( uint64_t fields, int axis )
{
    return (uint32_t)( fields >> ( 16 * axis ) ) & 0xFFFF;
}

static inline uint32_t cell_at( const cell_grid* grid, uint32_t x, uint32_t y, uint32_t z )
{
    return ( z * grid->dims[1] + y ) * grid->dims[0] + x;
}

// ---- from boxes to entries ---------------------------------------------------------------------------------------

// How deep the next grid would lie in others, and where its share of the scratch begins.
typedef struct nesting
{
    uint32_t depth;
    cell_entry* entries;
    uint32_t* starts;
    cell_record* records;
} nesting;

static inline cell_record record_of( words w, const scaling* s, uint32_t slot, uint32_t before )
{
    cell_key key = words_key( w, s );
    return ( cell_record ){ words_code( w ) | (uint64_t)before << 24 | (uint64_t)key.kind << 56,
        cell_name( slot, key.cell ) };
}

// The records again, in the job's grid.
static void requantise( const cell_job* job )
{
    const scaling s = scaling_of( &job->grid );
    for ( uint32_t i = 0; i < job->count; ++i )
    {
        cell_record* record = &job->records[i];
        uint32_t slot = cell_slot( record );
        *record = record_of( words_of( &job->boxes[slot], &s ), &s, slot, cell_before( record ) );
    }
}

// One entry in each cell of a box that spans more than two on some axis; false if that would be more than `room`.
static bool count_wide(
    const cell_grid* grid, cell_span span, uint32_t* counts, uint64_t room, uint64_t* sum )
{
    uint32_t x0 = field_of( span.first, 0 ), y0 = field_of( span.first, 1 ), z0 = field_of( span.first, 2 );
    uint32_t x1 = field_of( span.last, 0 ), y1 = field_of( span.last, 1 ), z1 = field_of( span.last, 2 );
    *sum += (uint64_t)( x1 - x0 + 1 ) * ( y1 - y0 + 1 ) * ( z1 - z0 + 1 );
    if ( *sum > room )
    {
        return false;
    }
    for ( uint32_t z = z0; z <= z1; ++z )
    {
        for ( uint32_t y = y0; y <= y1; ++y )
        {
            for ( uint32_t x = x0; x <= x1; ++x )
            {
                counts[cell_at( grid, x, y, z )] += 1;
            }
        }
    }
    return true;
}

// Some boxes by first cell, from `first` on, and class; the wide ones go to `counts` at once, and to `sum`. False if the grid makes more entries
// than there is room for.
static bool count_records( const cell_job* job, const scaling* s, const cell_record* records, uint32_t count,
    uint32_t first, uint32_t* kinds, uint32_t* counts, uint64_t* sum )
{
    const uint64_t room = (uint64_t)job->count * CELL_ENTRIES_PER_BOX;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const cell_record* record = &records[i];
        uint32_t kind = cell_class( record );
        if ( kind != CELL_WIDE )
        {
            kinds[( cell_first( record ) - first ) * 8 + kind] += 1;
            continue;
        }
        cell_span span = words_span( words_of( &job->boxes[cell_slot( record )], s ) );
        if ( !count_wide( &job->grid, span, counts, room, sum ) )
        {
            return false;
        }
    }
    return true;
}

static bool count_kinds(
    const cell_job* job, const cell_share* share, uint32_t first, uint32_t* kinds, uint32_t* counts )
{
    const scaling s = scaling_of( &job->grid );
    uint64_t sum = 0;
    bool fits = true;
    for ( uint32_t i = 0; i < cell_segment_count( share ) && fits; ++i )
    {
        cell_segment segment = cell_segment_at( share, i );
        fits = count_records(
            job, &s, share->records + segment.first, segment.count, first, kinds, counts, &sum );
    }
    return fits;
}

// A cell has an entry of every box whose class reaches it from one of the eight cells around its lower corner: of these the
// cells from `first` to `last`.
static void spread_kinds(
    const cell_grid* grid, uint32_t first, uint32_t last, uint32_t* kinds, uint32_t* counts )
{
    const corner_cells near = corner_cells_of( grid );
    uint32_t cell_count = cell_grid_count( grid );
    for ( uint32_t cell = first; cell < last; ++cell )
    {
        uint32_t* k = kinds +
            (size_t)( cell - first ) * 8; // becomes, per corner, the boxes of all classes that have it
        for ( uint32_t bit = 1; bit < 8; bit *= 2 )
        {
            for ( uint32_t corner = 0; corner < 8; ++corner )
            {
                k[corner] += ( corner & bit ) == 0 ? k[corner | bit] : 0;
            }
        }
    }
    for ( uint32_t corner = 0; corner < 8; ++corner )
    {
        uint32_t offset =
            near.offset[corner]; // no class reaches beyond the grid, so what is cut off here is 0
        uint32_t end = cell_count > offset && last < cell_count - offset ? last : cell_count - offset;
        for ( uint32_t cell = first; cell < end && offset < cell_count; ++cell )
        {
            counts[cell + offset] += kinds[(size_t)( cell - first ) * 8 + corner];
        }
    }
}

// How many entries a share's boxes have in each of its cells; false if far too many. `kinds` has room for them and those they are
// reached from; `counts` for all cells, and those of others mean nothing.
static bool count_cells( const cell_job* job, const cell_share* share, uint32_t* kinds, uint32_t* counts )
{
    uint32_t reach = corner_cells_of( &job->grid ).offset[7];
    uint32_t first = share->first_cell > reach ? share->first_cell - reach : 0;
    memset( kinds, 0, (size_t)( share->last_cell - first ) * 8 * sizeof( uint32_t ) );
    memset( counts + share->first_cell, 0, ( share->last_cell - share->first_cell ) * sizeof( uint32_t ) );
    if ( !count_kinds( job, share, first, kinds, counts ) )
    {
        return false;
    }
    spread_kinds( &job->grid, first, share->last_cell, kinds, counts );
    return true;
}

static inline cell_share everything( const cell_job* job )
{
    return ( cell_share ){ job->records, NULL, 0, job->count, false, 0, cell_grid_count( &job->grid ) };
}

// Entries per cell, in starts[cell + 1]. False if there are more than the grid is worth.
static bool count_entries( const cell_job* job, uint32_t* starts, cell_layout* layout, uint32_t* fullest )
{
    uint32_t cell_count = cell_grid_count( &job->grid );
    uint64_t sum = 0;
    uint32_t most = 0;
    *layout = ( cell_layout ){ 0, 0 };
    *fullest = 0;
    starts[0] = 0;
    cell_share all = everything( job );
    if ( !count_cells( job, &all, job->scratch->kinds, starts + 1 ) )
    {
        return false;
    }
    for ( uint32_t cell = 0; cell < cell_count; ++cell )
    {
        uint32_t here = starts[cell + 1];
        sum += here;
        most = here > starts[most + 1] ? cell : most;
    }
    *layout = ( cell_layout ){ (uint32_t)sum, starts[most + 1] };
    *fullest = most;
    return sum <= (uint64_t)job->count * CELL_ENTRIES_PER_BOX;
}

// Choose a grid, if none was given, and count the entries it makes, until one will do.
static cell_layout lay_grid( cell_job* job, uint32_t* starts )
{
    cell_lay lay = { .zoom_count = 0 };
    if ( job->grid.dims[0] == 0 )
    {
        cell_lay_choose( &lay, job );
        requantise( job );
    }
    for ( ;; )
    {
        cell_layout layout;
        uint32_t fullest;
        bool fits = count_entries( job, starts, &layout, &fullest );
        if ( !cell_lay_again( &lay, job, fits, layout, fullest ) )
        {
            return layout;
        }
        requantise( job );
    }
}

// One coordinate relative to a cell's beginning.
static inline uint64_t code_byte( uint32_t coordinate, uint32_t cell )
{
    uint32_t base = cell * CELL_STEPS;
    uint32_t relative = coordinate > base ? coordinate - base : 0;
    return relative < 255 ? relative : 255;
}

// What a code says of one axis, in a cell of a box that lies from `lower` to `upper` there.
static inline uint64_t code_axis( uint32_t lower, uint32_t upper, uint32_t cell, int axis )
{
    uint64_t before = cell > lower / CELL_STEPS;
    return ( code_byte( lower, cell ) | code_byte( upper, cell ) << 32 ) << ( 8 * axis ) |
        before << ( 24 + axis );
}

static inline bool is_in_share( const cell_share* share, uint32_t cell )
{
    return cell - share->first_cell < share->last_cell - share->first_cell;
}

static void place_wide( const cell_job* job, const cell_share* share, const scaling* s, uint32_t* next,
    const cell_record* record )
{
    words w = words_of( &job->boxes[cell_slot( record )], s );
    uint16_t at[8]; // lower x y z, nothing, upper x y z, nothing
    words_store( at, w );
    uint64_t before = (uint64_t)cell_before( record ) << 24;
    for ( uint32_t z = at[2] / CELL_STEPS; z <= at[6] / CELL_STEPS; ++z )
    {
        uint64_t code_z = before | code_axis( at[2], at[6], z, 2 );
        for ( uint32_t y = at[1] / CELL_STEPS; y <= at[5] / CELL_STEPS; ++y )
        {
            uint64_t code_yz = code_z | code_axis( at[1], at[5], y, 1 );
            for ( uint32_t x = at[0] / CELL_STEPS; x <= at[4] / CELL_STEPS; ++x )
            {
                uint32_t cell = cell_at( &job->grid, x, y, z );
                if ( is_in_share( share, cell ) )
                {
                    job->entries[next[cell]++] =
                        ( cell_entry ){ code_yz | code_axis( at[0], at[4], x, 0 ), record->name };
                }
            }
        }
    }
}

enum
{
    KINDS = CELL_WIDE + 1
};

// From a record to an entry: in a second cell on some axis a box begins at 0, in a first cell of two it ends beyond 255.
typedef struct corner_codes
{
    uint64_t kept[8];  // by corner: all but the lowers of its axes
    uint64_t added[8]; // by corner: its axes as before bits
    uint64_t ended[8]; // by axes: 255 for their uppers
} corner_codes;

static corner_codes corner_codes_make( void )
{
    corner_codes c;
    for ( uint32_t axes = 0; axes < 8; ++axes )
    {
        uint64_t mask = 0;
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            mask |= ( axes >> axis & 1 ) != 0 ? UINT64_C( 0xFF ) << ( 8 * axis ) : 0;
        }
        c.kept[axes] = ~mask;
        c.added[axes] = (uint64_t)axes << 24;
        c.ended[axes] = mask << 32;
    }
    return c;
}

// What places the boxes of a share.
typedef struct placing
{
    const cell_job* job;
    const cell_share* share;
    uint32_t* next; // where the next entry of each cell goes
    scaling scaling;
    corner_cells near;
    corner_codes codes;
    // Boxes of a chunk with more than one cell, by class: how many entries a box makes is a coin toss otherwise.
    uint32_t counts[KINDS];
    uint16_t lists[KINDS][CELL_CHUNK];
} placing;

// The entry of each box in its first cell. What does not go there is put aside without a branch. Returns how many boxes have
// more, and lists them.
static inline uint32_t place_first(
    const placing* p, const cell_record* records, uint32_t count, bool is_whole, uint16_t* more )
{
    cell_entry* const entries = p->job->entries;
    uint32_t* const next = p->next;
    const uint32_t first = p->share->first_cell, width = p->share->last_cell - first;
    cell_entry aside = { 0, 0 };
    uint32_t more_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t kind = cell_class( &records[i] ), cell = cell_first( &records[i] );
        bool goes = ( kind != CELL_WIDE ) & ( is_whole | ( cell - first < width ) );
        uint32_t place = next[cell];
        next[cell] = place + goes;
        cell_entry* entry = goes ? &entries[place] : &aside;
        entry->code = records[i].code | p->codes.ended[kind & 7];
        entry->name = records[i].name;
        more[more_count] = (uint16_t)i;
        more_count += kind != 0;
    }
    return more_count;
}

// Records [first, first + count) of the chunk, few enough to stay near while they are looked at twice.
static inline void place_part(
    placing* p, const cell_record* records, uint32_t first, uint32_t count, bool is_whole )
{
    uint16_t more[CELL_PART];
    uint32_t more_count = place_first( p, records + first, count, is_whole, more );
    for ( uint32_t i = 0; i < more_count; ++i )
    {
        uint16_t at = (uint16_t)( first + more[i] );
        uint32_t kind = cell_class( &records[at] );
        p->lists[kind][p->counts[kind]++] = at;
    }
}

// The other entries of boxes of one class, corner by corner, so that nothing is left to guess. What a cell gets from one class
// and corner comes from one other cell.
static inline void place_kind( placing* p, const cell_record* records, uint32_t kind, bool is_whole )
{
    for ( uint32_t k = 1; k < p->near.count[kind]; ++k ) // the first is placed
    {
        uint32_t corner = p->near.corner[kind][k];
        uint64_t kept = p->codes.kept[corner],
                 ended = p->codes.added[corner] | p->codes.ended[kind & ~corner];
        for ( uint32_t i = 0; i < p->counts[kind]; ++i )
        {
            const cell_record* record = &records[p->lists[kind][i]];
            uint32_t cell = cell_first( record ) + p->near.offset[corner];
            if ( is_whole || is_in_share( p->share, cell ) )
            {
                p->job->entries[p->next[cell]++] =
                    ( cell_entry ){ ( record->code & kept ) | ended, record->name };
            }
        }
    }
}

static inline void place_chunk( placing* p, const cell_record* records, uint32_t count, bool is_whole )
{
    memset( p->counts, 0, sizeof( p->counts ) );
    for ( uint32_t first = 0; first < count; first += CELL_PART )
    {
        place_part( p, records, first, count - first < CELL_PART ? count - first : CELL_PART, is_whole );
    }
    for ( uint32_t kind = 1; kind < CELL_WIDE; ++kind )
    {
        place_kind( p, records, kind, is_whole );
    }
    for ( uint32_t i = 0; i < p->counts[CELL_WIDE]; ++i )
    {
        place_wide( p->job, p->share, &p->scaling, p->next, &records[p->lists[CELL_WIDE][i]] );
    }
}

// Where the chunk that begins at `first` ends, before `end` or there: its number ascends, so that is found by halving.
static inline uint32_t end_of_chunk( const cell_record* records, uint32_t first, uint32_t end )
{
    uint32_t number = cell_slot( &records[first] ) / CELL_CHUNK;
    if ( cell_slot( &records[end - 1] ) / CELL_CHUNK == number )
    {
        return end;
    }
    uint32_t low = first; // of this chunk, and `end` beyond
    while ( end - low > 1 )
    {
        uint32_t middle = low + ( end - low ) / 2;
        bool is_here = cell_slot( &records[middle] ) / CELL_CHUNK == number;
        low = is_here ? middle : low;
        end = is_here ? end : middle;
    }
    return end;
}

static void place_segment( placing* p, const cell_record* records, uint32_t count, bool is_whole )
{
    for ( uint32_t first = 0, end; first < count; first = end )
    {
        end = count - first < CELL_CHUNK ? count : first + CELL_CHUNK;
        end = p->share->by_slot ? end_of_chunk( records, first, end ) : end;
        if ( is_whole ) // told apart out here, so that the loops within have one branch less
        {
            place_chunk( p, records + first, end - first, true );
        }
        else
        {
            place_chunk( p, records + first, end - first, false );
        }
    }
}

// Entries of a share's boxes to its cells; next[cell] is where the next one goes. In a cell they lie by chunk, class, corner and
// number of their boxes, whatever the share.
static void place_entries( const cell_job* job, const cell_share* share, uint32_t* next )
{
    const bool is_whole = share->last_cell - share->first_cell == cell_grid_count( &job->grid );
    placing p;
    p.job = job;
    p.share = share;
    p.next = next;
    p.scaling = scaling_of( &job->grid );
    p.near = corner_cells_of( &job->grid );
    p.codes = corner_codes_make();
    for ( uint32_t i = 0; i < cell_segment_count( share ); ++i )
    {
        cell_segment segment = cell_segment_at( share, i );
        place_segment( &p, share->records + segment.first, segment.count, is_whole );
    }
}

// All entries to their cells. Before, starts[cell + 1] is how many a cell has; afterwards, where the next cell begins.
static void place_all( const cell_job* job, uint32_t entry_count )
{
    uint32_t* starts = job->starts;
    uint32_t cell_count = cell_grid_count( &job->grid );
    uint32_t sum = 0;
    for ( uint32_t cell = 0; cell < cell_count; ++cell )
    {
        uint32_t here = starts[cell + 1];
        starts[cell + 1] = sum; // while placing: the next place of `cell`
        sum += here;
    }
    cell_share all = everything( job );
    place_entries( job, &all, starts + 1 );
    memset( job->entries + entry_count, 0, CELL_SLACK * sizeof( cell_entry ) );
}

// ---- from entries to pairs ---------------------------------------------------------------------------------------

// A block while it is searched.
typedef struct cell_search
{
    const cell_job* job;
    pair_sink* sink;
    uint32_t tie_count;
} cell_search;

// One of its cells.
typedef struct cell_view
{
    const cell_entry* entries;
    uint32_t count;
    uint32_t stride; ///< from one row of lanes to the next
} cell_view;

enum
{
    LANE_PARTS = 64 / BYTE_LANES // registers in a word of 64 lanes
};

// A word of lanes: what 64 entries hold against a row, and which of them a row may meet by its before bits.
typedef struct lane_word
{
    byte_box parts[LANE_PARTS];
    uint64_t allowed[8];
} lane_word;

// Codes behind the cell's last are the next cell's, or slack: no row may meet them.
static void load_cell( const cell_view* view, const cell_scratch* scratch )
{
    for ( uint32_t first = 0; first < view->count; first += 16 )
    {
        transpose_codes( view->entries + first, scratch->lanes + first, view->stride );
        gather_slots( view->entries + first, scratch->slots + first );
    }
}

static inline uint64_t lanes_without( const uint8_t* before, uint8_t bit )
{
    uint64_t all = 0;
    for ( uint32_t part = 0; part < LANE_PARTS; ++part )
    {
        bytes b = bytes_and( bytes_load( before + (size_t)part * BYTE_LANES ), bytes_splat( bit ) );
        all |= (uint64_t)bytes_zero_bits( b ) << ( part * BYTE_LANES % 64 );
    }
    return all;
}

// Two that both begin before this cell on some axis meet in another one.
static inline void load_allowed( const uint8_t* before, uint32_t lane_count, uint64_t allowed[8] )
{
    uint64_t valid = lane_count < 64 ? ( (uint64_t)1 << lane_count ) - 1 : ~(uint64_t)0;
    allowed[0] = valid;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        uint32_t bit = 1u << axis;
        uint64_t without = lanes_without( before, (uint8_t)bit );
        for ( uint32_t i = 0; i < bit; ++i )
        {
            allowed[bit + i] = allowed[i] & without;
        }
    }
}

// In place: returned by value, 64 bytes written in parts would be read at once.
static inline void load_word( lane_word* l, const cell_view* view, const uint8_t* lanes, uint32_t word )
{
    for ( uint32_t part = 0; part < LANE_PARTS; ++part )
    {
        const uint8_t* at = lanes + word + (size_t)part * BYTE_LANES;
        for ( int axis = 0; axis < 3; ++axis )
        {
            l->parts[part].lower[axis] = bytes_load( at + (size_t)axis * view->stride );
            l->parts[part].upper[axis] = bytes_load( at + (size_t)( axis + 4 ) * view->stride );
        }
    }
    load_allowed( lanes + word + (size_t)3 * view->stride, view->count - word, l->allowed );
}

// A bit for each lane that may touch the row.
static inline uint64_t lanes_that_meet( const lane_word* lanes, const cell_entry* entry )
{
    byte_box row = row_of( entry );
    uint64_t all = 0;
    for ( uint32_t part = 0; part < LANE_PARTS; ++part )
    {
        all |= (uint64_t)bytes_meet( &lanes->parts[part], &row ) << ( part * BYTE_LANES % 64 );
    }
    return all;
}

static inline clv_result have_room( pair_sink* sink )
{
    return pair_sink_is_full( sink ) ? sink->make_room( sink ) : CLV_OK;
}

static clv_result settle_ties( cell_search* search )
{
    const clv_aabb* boxes = search->job->exact;
    const clv_pair* ties = search->job->scratch->ties;
    pair_sink* sink = search->sink;
    for ( uint32_t first = 0; first < search->tie_count; first += PAIR_SINK_ROOM )
    {
        clv_result result = have_room( sink );
        if ( result != CLV_OK )
        {
            return result;
        }
        uint32_t left = search->tie_count - first;
        uint32_t end = first + ( left < PAIR_SINK_ROOM ? left : PAIR_SINK_ROOM );
        clv_pair* out = sink->pairs + sink->count;
        for ( uint32_t i = first; i < end; ++i ) // many trips to memory at once, where there are many boxes
        {
            base_prefetch( &boxes[ties[i].a] );
            base_prefetch( &boxes[ties[i].b] );
        }
        for ( uint32_t i = first; i < end; ++i )
        {
            *out = ties[i];
            out += boxes_touch( &boxes[ties[i].a], &boxes[ties[i].b] );
        }
        uint64_t touching = (uint64_t)( out - sink->pairs ) - sink->count;
        search->job->counters->failed_count += end - first - touching;
        sink->count += touching;
    }
    search->job->counters->tie_count += search->tie_count;
    search->tie_count = 0;
    return CLV_OK;
}

// The pairs of hits: those that are sure to the sink, ties behind the ties, which are looked up when there are many.
static inline clv_result put_hits( cell_search* search, const row_hits* hits, const hit_sides* sides )
{
    pair_sink* sink = search->sink;
    hit_walk walk;
    uint32_t hit_count = hit_walk_begin( &walk, hits );
    for ( uint32_t first = 0; first < hit_count; first += HITS_AT_ONCE )
    {
        clv_result result = have_room( sink );
        if ( result == CLV_OK && search->tie_count >= CELL_TIES )
        {
            result = settle_ties( search );
            result = result == CLV_OK ? have_room( sink ) : result;
        }
        if ( result != CLV_OK )
        {
            return result;
        }
        uint32_t left = hit_count - first, count = left < HITS_AT_ONCE ? left : HITS_AT_ONCE;
        uint32_t sure = split_hits(
            &walk, sides, count, sink->pairs + sink->count, search->job->scratch->ties + search->tie_count );
        sink->count += sure;
        search->tie_count += count - sure;
    }
    search->job->counters->candidate_count += hit_count;
    return CLV_OK;
}

// Up to 64 rows, from `first` on, against one word of lanes, which stay in registers. Rows without a hit are passed over
// without a branch. Where the rows are these very lanes, each has only those behind it, one fewer than the row before; rows that
// lie before the word have them all.
static clv_result search_word( cell_search* search, const cell_view* view, const lane_word* lanes,
    uint32_t word, uint32_t first, uint32_t last )
{
    const cell_entry* rows = view->entries + first;
    row_hits hits;
    uint32_t found = 0;
    uint32_t shift = first == word;
    uint64_t behind = ~(uint64_t)shift;
    for ( uint32_t row = 0; row < last - first; ++row )
    {
        uint64_t all =
            lanes_that_meet( lanes, &rows[row] ) & behind & lanes->allowed[cell_before( &rows[row] )];
        behind <<= shift;
        hits.lanes[found] = all;
        hits.rows[found] = (uint8_t)row;
        found += all != 0;
    }
    hits.count = found;
    const cell_scratch* scratch = search->job->scratch;
    hit_sides sides = { { rows, scratch->lanes + first, scratch->slots + first },
        { view->entries + word, scratch->lanes + word, scratch->slots + word }, view->stride };
    return put_hits( search, &hits, &sides );
}

// All rows against all lanes behind them, a word of lanes at a time.
static clv_result search_rows( cell_search* search, const cell_view* view )
{
    const uint8_t* at = search->job->scratch->lanes;
    clv_result result = CLV_OK;
    for ( uint32_t word = 0; word < view->count && result == CLV_OK; word += 64 )
    {
        lane_word lanes;
        load_word( &lanes, view, at, word );
        for ( uint32_t first = 0; first <= word && result == CLV_OK; first += 64 )
        {
            uint32_t last = first + 64 < view->count ? first + 64 : view->count;
            result = search_word( search, view, &lanes, word, first, last );
        }
    }
    return result;
}

static clv_result search_grid( cell_search* search, cell_layout layout, nesting inner );

// A crowded cell: its boxes get a grid of their own and are told what they have begun before.
static clv_result search_inner(
    cell_search* search, const cell_view* view, const uint32_t at_cell[3], nesting inner )
{
    const cell_job* outer = search->job;
    const cell_grid* grid = &outer->grid;
    cell_job job = *outer;
    job.records = inner.records;
    job.count = view->count;
    job.grid = ( cell_grid ){ .dims = { 0, 0, 0 } };
    for ( uint32_t i = 0; i < view->count; ++i )
    {
        inner.records[i] = view->entries[i];
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        float side = CELL_STEPS / grid->scale[axis];
        float low = grid->origin[axis] + (float)at_cell[axis] * side;
        float high = grid->origin[axis] + (float)( at_cell[axis] + 1 ) * side;
        // The rim cells hold everything outside, too; the grid clips what the boxes do not reach.
        job.region_low[axis] = at_cell[axis] == 0 ? outer->region_low[axis] : low;
        job.region_high[axis] = at_cell[axis] + 1 == grid->dims[axis] ? outer->region_high[axis] : high;
    }
    job.entries = inner.entries;
    job.starts = inner.starts;
    cell_layout layout = lay_grid( &job, inner.starts );
    inner.records += view->count;
    inner.depth += 1;
    search->job = &job;
    clv_result result = search_grid( search, layout, inner );
    search->job = outer;
    return result;
}

// The least and the most of a cell's bytes along an axis.
static void byte_bounds( const cell_view* view, int axis, uint32_t* least, uint32_t* most )
{
    uint32_t low = 255, high = 0;
    for ( uint32_t i = 0; i < view->count; ++i )
    {
        uint32_t lower = (uint32_t)( view->entries[i].code >> ( 8 * axis ) ) & 255;
        uint32_t upper = (uint32_t)( view->entries[i].code >> ( 8 * axis + 32 ) ) & 255;
        low = lower < low ? lower : low;
        high = upper > high ? upper : high;
    }
    *least = low;
    *most = high;
}

// Codes again, in 256ths of the part of the cell in which its boxes are, if that is small: in a few steps of it they would all be ties.
static void sharpen( const cell_search* search, const cell_view* view, const uint32_t at_cell[3] )
{
    const cell_job* job = search->job;
    cell_grid part = { .dims = { 1, 1, 1 } };
    double gain = 1;
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint32_t least, most;
        byte_bounds( view, axis, &least, &most );
        float step = 1 / job->grid.scale[axis], steps = (float)( most + 1 - least );
        part.origin[axis] = job->grid.origin[axis] + (float)( at_cell[axis] * CELL_STEPS + least ) * step;
        float scale = job->grid.scale[axis] * ( CELL_STEPS / steps );
        part.scale[axis] = scale < 1e30f ? scale : job->grid.scale[axis];
        gain *= CELL_STEPS / (double)steps;
    }
    if ( gain < 8 )
    {
        return;
    }
    const scaling s = scaling_of( &part );
    cell_entry* entries = job->entries + ( view->entries - job->entries );
    for ( uint32_t i = 0; i < view->count; ++i )
    {
        uint64_t code = words_code( words_of( &job->boxes[cell_slot( &entries[i] )], &s ) );
        entries[i].code = code | (uint64_t)cell_before( &entries[i] ) << 24;
    }
}

static clv_result search_cell(
    cell_search* search, const cell_view* view, const uint32_t at_cell[3], nesting inner )
{
    const cell_job* job = search->job;
    if ( view->count > CELL_OVERFULL && view->count <= job->count / 2 && inner.depth < CELL_DEPTH )
    {
        return search_inner( search, view, at_cell, inner );
    }
    if ( job->is_sharpened && view->count >= CELL_SHARPEN )
    {
        sharpen( search, view, at_cell );
    }
    load_cell( view, job->scratch );
    job->counters->cell_count += 1;
    job->counters->entry_count += view->count;
    job->counters->test_count += (uint64_t)view->count * ( view->count - 1 ) / 2;
    return search_rows( search, view );
}

// The cells [first, last), where all entries are placed.
static clv_result search_range( cell_search* search, uint32_t first, uint32_t last, nesting inner )
{
    const cell_job* job = search->job;
    const cell_grid* grid = &job->grid;
    for ( uint32_t cell = first; cell < last; ++cell )
    {
        uint32_t start = job->starts[cell];
        uint32_t count = job->starts[cell + 1] - start;
        if ( count > 1 )
        {
            uint32_t at[3] = { cell % grid->dims[0], cell / grid->dims[0] % grid->dims[1],
                cell / grid->dims[0] / grid->dims[1] };
            cell_view view = { job->entries + start, count, ( count + 63 ) & ~63u };
            clv_result result = search_cell( search, &view, at, inner );
            if ( result != CLV_OK )
            {
                return result;
            }
        }
    }
    return CLV_OK;
}

static clv_result search_grid( cell_search* search, cell_layout layout, nesting inner )
{
    uint32_t cell_count = cell_grid_count( &search->job->grid );
    place_all( search->job, layout.entry_count );
    inner.entries += layout.entry_count + CELL_SLACK;
    inner.starts += cell_count + 1;
    return search_range( search, 0, cell_count, inner );
}

static clv_result search_block( cell_job* job, pair_sink* sink )
{
    const cell_scratch* scratch = job->scratch;
    job->entries = scratch->entries;
    job->starts = scratch->starts;
    if ( job->count < 2 )
    {
        return CLV_OK;
    }
    if ( cell_grid_count( &job->grid ) > cell_count_most( job->count ) )
    {
        job->grid.dims[0] = 0; // it was chosen for more boxes than came
    }
    cell_layout layout = lay_grid( job, job->starts );
    nesting inner = { 0, scratch->entries, scratch->starts, scratch->records };
    cell_search search = { job, sink, 0 };
    clv_result result = search_grid( &search, layout, inner );
    return result == CLV_OK ? settle_ties( &search ) : result;
}

// Ties are settled row by row of cells, so that the order of pairs does not depend on which rows are asked for.
static clv_result search_cells( const cell_job* job, uint32_t first, uint32_t last, pair_sink* sink )
{
    const cell_scratch* scratch = job->scratch;
    nesting inner = { 0, scratch->entries, scratch->starts, scratch->records };
    if ( job->entries == scratch->entries ) // inner grids lie behind
    {
        inner.entries += job->starts[last] + CELL_SLACK;
        inner.starts += last + 1;
    }
    cell_search search = { job, sink, 0 };
    clv_result result = CLV_OK;
    for ( uint32_t cell = first; cell < last && result == CLV_OK; cell += job->grid.dims[0] )
    {
        result = search_range( &search, cell, cell + job->grid.dims[0], inner );
        result = result == CLV_OK ? settle_ties( &search ) : result;
    }
    return result;
}
