// SPDX-License-Identifier: MIT
// The search of a block through a grid of cells (cell/cell.h), written once over a register of bytes and one of eight
// 16-bit words. Each cells_<isa>.c defines, before it includes this file:
//   BYTE_LANES                 bytes per register: a divisor of 64
//   bytes                      that many
//   bytes_load( p )            p aligned
//   bytes_splat( p )           a byte that stands four times at p
//   bytes_excess( a, b )       a - b, or 0 where that is negative
//   bytes_or( a, b ), bytes_and( a, b ), bytes_min( a, b )
//   bytes_zero_bits( a )       a bit per lane that is 0, lane 0 lowest
//   bytes_meet( a, b )         a bit per lane in which a[i] <= b[i] for all six i
//   words                      the coordinates of a cell_record, and its name in words 3 and 7
//   words_of( box, s )         for each coordinate ( value - origin ) * scale, held between 0 and most, without its fraction.
//                              Monotonous, so what touches stays touching. No name.
//   words_load( record ), words_store( record, w, name )
//   words_span( w )            the cells of both corners
//   words_key( w, weights )    the same as a cell_key
//   words_from_cell( w )       relative to where the first cell begins
//   words_put( entry, w, before, slot, corner )   relative to a neighbour of that cell, held between 0 and 254, as an entry
//   transpose_codes( entries, lanes, stride )   16 codes to 16 bytes in each of seven rows of lanes
//   spread_row( code, row )
//
// An entry's code is eight bytes: lower x y z in 256ths of the cell, before bits, upper x y z, 0. Two boxes may touch if on
// each axis the lower of one is at most the upper of the other, both ways. In lanes the upper bytes are complemented, and a
// row holds its upper x y z and complemented lower x y z: then every test is "lane at most row". Where every lane is less than
// its row, rounding cannot have made it so: the boxes touch. Only a tie has to be looked up in float.
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

// The records again, in the job's grid.
static void requantise( const cell_job* job )
{
    const scaling s = scaling_of( &job->grid );
    for ( uint32_t i = 0; i < job->count; ++i )
    {
        uint32_t name = cell_record_name( &job->records[i] );
        words_store( &job->records[i], words_of( &job->boxes[cell_name_slot( name )], &s ), name );
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

// A share's boxes by first cell and class; the wide ones go to `counts` at once. False if the grid makes too many entries.
static bool count_kinds( const cell_job* job, const cell_share* share, uint32_t* kinds, uint32_t* counts )
{
    const key_weights weights = key_weights_of( &job->grid );
    uint64_t room = (uint64_t)job->count * CELL_ENTRIES_PER_BOX;
    uint64_t sum = 0;
    for ( uint32_t i = 0; i < share->count; ++i )
    {
        words w = words_load( &share->records[i] );
        cell_key key = words_key( w, &weights );
        if ( !key.is_wide )
        {
            kinds[key.cell * 8 + key.kind] += 1;
        }
        else if ( !count_wide( &job->grid, words_span( w ), counts, room, &sum ) )
        {
            return false;
        }
    }
    return true;
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
        uint32_t* k = kinds + (size_t)cell * 8; // becomes, per corner, the boxes of all classes that have it
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
            counts[cell + offset] += kinds[(size_t)cell * 8 + corner];
        }
    }
}

// How many entries a share's boxes have in each of its cells; false if far too many. Both arrays have room for all cells;
// counts of other cells mean nothing.
static bool count_cells( const cell_job* job, const cell_share* share, uint32_t* kinds, uint32_t* counts )
{
    uint32_t cell_count = cell_grid_count( &job->grid );
    memset( kinds, 0, (size_t)cell_count * 8 * sizeof( uint32_t ) );
    memset( counts, 0, (size_t)cell_count * sizeof( uint32_t ) );
    if ( !count_kinds( job, share, kinds, counts ) )
    {
        return false;
    }
    uint32_t reach = corner_cells_of( &job->grid ).offset[7];
    uint32_t first = share->first_cell > reach ? share->first_cell - reach : 0;
    spread_kinds( &job->grid, first, share->last_cell, kinds, counts );
    return true;
}

static inline cell_share everything( const cell_job* job )
{
    return ( cell_share ){ job->records, job->count, false, 0, cell_grid_count( &job->grid ) };
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
        if ( job->is_settled || !cell_lay_again( &lay, job, fits, layout, fullest ) )
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
    return relative < 254 ? relative : 254;
}

static inline bool is_in_share( const cell_share* share, uint32_t cell )
{
    return cell - share->first_cell < share->last_cell - share->first_cell;
}

static void place_wide(
    const cell_job* job, const cell_share* share, uint32_t* next, const cell_record* record )
{
    cell_span span = words_span( words_load( record ) );
    uint32_t name = cell_record_name( record );
    uint32_t first[3], last[3], c[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        first[axis] = field_of( span.first, axis );
        last[axis] = field_of( span.last, axis );
    }
    for ( c[2] = first[2]; c[2] <= last[2]; ++c[2] )
    {
        for ( c[1] = first[1]; c[1] <= last[1]; ++c[1] )
        {
            for ( c[0] = first[0]; c[0] <= last[0]; ++c[0] )
            {
                uint32_t cell = cell_at( &job->grid, c[0], c[1], c[2] );
                if ( !is_in_share( share, cell ) )
                {
                    continue;
                }
                uint64_t code = 0;
                uint32_t before = cell_name_before( name );
                for ( int axis = 0; axis < 3; ++axis )
                {
                    code |= code_byte( record->lower[axis], c[axis] ) << ( 8 * axis );
                    code |= code_byte( record->upper[axis], c[axis] ) << ( 32 + 8 * axis );
                    before |= (uint32_t)( c[axis] > first[axis] ) << axis;
                }
                uint32_t place = next[cell]++;
                job->entries[place] =
                    ( cell_entry ){ code | (uint64_t)before << 24, cell_name_slot( name ), 0 };
            }
        }
    }
}

enum
{
    KIND_WIDE = 8,
    KINDS
};

// Some boxes of a share on their way to their cells, listed by class: how many entries a box makes is a coin toss otherwise.
typedef struct place_chunk
{
    const cell_record* records;
    uint32_t cells[CELL_CHUNK];
    uint16_t lists[KINDS][CELL_CHUNK];
    uint32_t counts[KINDS];
} place_chunk;

static inline void list_chunk( place_chunk* chunk, uint32_t count, const key_weights* weights )
{
    memset( chunk->counts, 0, sizeof( chunk->counts ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        cell_key key = words_key( words_load( &chunk->records[i] ), weights );
        uint32_t kind = key.is_wide ? KIND_WIDE : key.kind;
        chunk->cells[i] = key.cell;
        chunk->lists[kind][chunk->counts[kind]++] = (uint16_t)i;
    }
}

// Boxes of one class: each as often as the class has corners, so that nothing is left to guess.
static inline void place_kind( const cell_job* job, const cell_share* share, const place_chunk* chunk,
    const corner_cells* near, uint32_t kind, bool is_whole, uint32_t* next )
{
    uint32_t corner_count = near->count[kind];
    for ( uint32_t i = 0; i < chunk->counts[kind]; ++i )
    {
        uint32_t at = chunk->lists[kind][i];
        const cell_record* record = &chunk->records[at];
        words w = words_from_cell( words_load( record ) );
        uint32_t name = cell_record_name( record );
        uint32_t slot = cell_name_slot( name ), before = cell_name_before( name );
        for ( uint32_t k = 0; k < corner_count; ++k )
        {
            uint32_t corner = near->corner[kind][k];
            uint32_t cell = chunk->cells[at] + near->offset[corner];
            if ( is_whole || is_in_share( share, cell ) )
            {
                words_put( &job->entries[next[cell]++], w, before, slot, corner );
            }
        }
    }
}

// Where the chunk that begins at `first` ends.
static inline uint32_t end_of_chunk( const cell_share* share, uint32_t first )
{
    uint32_t most = share->count - first < CELL_CHUNK ? share->count : first + CELL_CHUNK;
    if ( !share->by_slot )
    {
        return most;
    }
    uint32_t number = cell_name_slot( cell_record_name( &share->records[first] ) ) / CELL_CHUNK;
    uint32_t end = first + 1;
    while ( end < most && cell_name_slot( cell_record_name( &share->records[end] ) ) / CELL_CHUNK == number )
    {
        end += 1;
    }
    return end;
}

// Entries of a share's boxes to its cells; next[cell] is where the next one goes. In a cell they lie by chunk, class and
// number of their boxes, whatever the share.
static void place_entries( const cell_job* job, const cell_share* share, uint32_t* next )
{
    const corner_cells near = corner_cells_of( &job->grid );
    const key_weights weights = key_weights_of( &job->grid );
    const bool is_whole = share->last_cell - share->first_cell == cell_grid_count( &job->grid );
    place_chunk chunk;
    for ( uint32_t first = 0, end; first < share->count; first = end )
    {
        end = end_of_chunk( share, first );
        chunk.records = share->records + first;
        list_chunk( &chunk, end - first, &weights );
        for ( uint32_t kind = 0; kind < KIND_WIDE; ++kind )
        {
            if ( is_whole ) // told apart out here, so that the loop within has one branch less
            {
                place_kind( job, share, &chunk, &near, kind, true, next );
            }
            else
            {
                place_kind( job, share, &chunk, &near, kind, false, next );
            }
        }
        for ( uint32_t i = 0; i < chunk.counts[KIND_WIDE]; ++i )
        {
            place_wide( job, share, next, &chunk.records[chunk.lists[KIND_WIDE][i]] );
        }
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

// A word of lanes: what BYTE_LANES entries hold against a row, and which of the 64 a row may meet by its before bits.
typedef struct lane_word
{
    bytes least[LANE_PARTS][6];
    uint64_t allowed[8];
} lane_word;

static void load_cell( const cell_view* view, const cell_scratch* scratch )
{
    // Codes behind the cell's last are the next cell's, or slack: no row may meet them.
    for ( uint32_t first = 0; first < view->count; first += 16 )
    {
        transpose_codes( view->entries + first, scratch->lanes + first, view->stride );
    }
    for ( uint32_t i = 0; i < view->count; ++i )
    {
        spread_row( view->entries[i].code, &scratch->rows[i] );
    }
}

static inline uint64_t lanes_without( const uint8_t* before, const uint32_t* splat_bit )
{
    uint64_t all = 0;
    for ( uint32_t part = 0; part < LANE_PARTS; ++part )
    {
        bytes b = bytes_and( bytes_load( before + (size_t)part * BYTE_LANES ), bytes_splat( splat_bit ) );
        all |= (uint64_t)bytes_zero_bits( b ) << ( part * BYTE_LANES % 64 );
    }
    return all;
}

// Two that both begin before this cell on some axis meet in another one.
static inline void load_allowed( const uint8_t* before, uint32_t lane_count, uint64_t allowed[8] )
{
    static const uint32_t bits[3] = { 0x01010101, 0x02020202, 0x04040404 };
    uint64_t valid = lane_count < 64 ? ( (uint64_t)1 << lane_count ) - 1 : ~(uint64_t)0;
    allowed[0] = valid;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        uint64_t without = lanes_without( before, &bits[axis] );
        uint32_t bit = 1u << axis;
        for ( uint32_t i = 0; i < bit; ++i )
        {
            allowed[bit + i] = allowed[i] & without;
        }
    }
}

static inline lane_word load_word( const cell_view* view, const uint8_t* lanes, uint32_t word )
{
    lane_word l;
    for ( uint32_t part = 0; part < LANE_PARTS; ++part )
    {
        const uint8_t* at = lanes + word + (size_t)part * BYTE_LANES;
        for ( int axis = 0; axis < 3; ++axis )
        {
            l.least[part][axis] = bytes_load( at + (size_t)axis * view->stride );
            l.least[part][axis + 3] = bytes_load( at + (size_t)( axis + 4 ) * view->stride );
        }
    }
    load_allowed( lanes + word + (size_t)3 * view->stride, view->count - word, l.allowed );
    return l;
}

typedef struct row_bytes
{
    bytes most[6];
} row_bytes;

static inline row_bytes load_row( const cell_row* row )
{
    row_bytes r;
    for ( int axis = 0; axis < 3; ++axis )
    {
        r.most[axis] = bytes_splat( &row->bytes[axis] );
        r.most[axis + 3] = bytes_splat( &row->bytes[axis + 4] );
    }
    return r;
}

// A bit for each lane that may touch the row.
static inline uint64_t lanes_that_meet( const lane_word* lanes, const cell_row* row )
{
    row_bytes r = load_row( row );
    uint64_t all = 0;
    for ( uint32_t part = 0; part < LANE_PARTS; ++part )
    {
        all |= (uint64_t)bytes_meet( lanes->least[part], r.most ) << ( part * BYTE_LANES % 64 );
    }
    return all;
}

// A bit for each lane that is as far from the row as it needs on some axis: a tie.
static inline uint64_t lanes_that_tie( const lane_word* lanes, const cell_row* row )
{
    row_bytes r = load_row( row );
    uint64_t all = 0;
    for ( uint32_t part = 0; part < LANE_PARTS; ++part )
    {
        bytes least = bytes_excess( r.most[0], lanes->least[part][0] );
        for ( int i = 1; i < 6; ++i )
        {
            least = bytes_min( least, bytes_excess( r.most[i], lanes->least[part][i] ) );
        }
        all |= (uint64_t)bytes_zero_bits( least ) << ( part * BYTE_LANES % 64 );
    }
    return all;
}

// All comparisons made, no branch taken: which of them fails is a coin toss.
static inline bool boxes_touch( const clv_aabb* a, const clv_aabb* b )
{
    return ( ( a->lower.x <= b->upper.x ) & ( b->lower.x <= a->upper.x ) & ( a->lower.y <= b->upper.y ) &
               ( b->lower.y <= a->upper.y ) & ( a->lower.z <= b->upper.z ) & ( b->lower.z <= a->upper.z ) ) !=
        0;
}

static inline clv_result have_room( pair_sink* sink )
{
    return pair_sink_is_full( sink ) ? sink->make_room( sink ) : CLV_OK;
}

static clv_result settle_ties( cell_search* search )
{
    const clv_aabb* boxes = search->job->boxes;
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
        for ( uint32_t i = first; i < end; ++i )
        {
            *out = ties[i];
            out += boxes_touch( &boxes[ties[i].a], &boxes[ties[i].b] );
        }
        sink->count = (uint64_t)( out - sink->pairs );
    }
    search->job->counters->tie_count += search->tie_count;
    search->tie_count = 0;
    return CLV_OK;
}

static inline clv_pair pair_of( uint32_t a, uint32_t b )
{
    return ( clv_pair ){ a < b ? a : b, a < b ? b : a };
}

// The pair of a row and each lane whose bit is set; where the next goes. Writes four at a time and counts afterwards: how many
// there are is a coin toss. Up to three more than there are bits are written, which the sink has room for.
static inline clv_pair* put_lanes( clv_pair* out, uint32_t slot, const cell_entry* entries, uint64_t bits )
{
    clv_pair* end = out + base_bit_count( bits );
    while ( bits != 0 )
    {
        for ( int i = 0; i < 4; ++i )
        {
            *out++ = pair_of( slot, entries[base_lowest_bit( bits | (uint64_t)1 << 63 )].slot );
            bits &= bits - 1;
        }
    }
    return end;
}

// Ties are rare, and looked up later, when their boxes have come from memory.
static inline void put_ties( cell_search* search, uint32_t slot, const cell_entry* entries, uint64_t bits )
{
    const clv_aabb* boxes = search->job->boxes;
    clv_pair* ties = search->job->scratch->ties + search->tie_count;
    for ( ; bits != 0; bits &= bits - 1 )
    {
        *ties = pair_of( slot, entries[base_lowest_bit( bits )].slot );
        base_prefetch( &boxes[ties->a] );
        base_prefetch( &boxes[ties->b] );
        ties += 1;
    }
    search->tie_count = (uint32_t)( ties - search->job->scratch->ties );
}

// One row's hits in one word of lanes: the pairs that are sure, and the ties.
static inline clv_result put_hits(
    cell_search* search, uint32_t slot, const cell_entry* entries, uint64_t hits, uint64_t tied )
{
    pair_sink* sink = search->sink;
    clv_result result = have_room( sink );
    if ( result != CLV_OK )
    {
        return result;
    }
    clv_pair* out = sink->pairs + sink->count;
    sink->count = (uint64_t)( put_lanes( out, slot, entries, hits & ~tied ) - sink->pairs );
    put_ties( search, slot, entries, hits & tied );
    return search->tie_count < CELL_TIES ? CLV_OK : settle_ties( search );
}

// Up to 64 rows, from `first` on, against one word of lanes, which stay in registers. Rows without a hit are passed over
// without a branch. Where the rows are these very lanes, each has only those behind it, one fewer than the row before; rows that
// lie before the word have them all.
static clv_result search_word( cell_search* search, const cell_view* view, const lane_word* lanes,
    uint32_t word, uint32_t first, uint32_t last )
{
    const cell_row* rows = search->job->scratch->rows;
    uint64_t hits[64];
    uint32_t hit_rows[64];
    uint32_t found = 0;
    uint32_t shift = first == word;
    uint64_t behind = ~(uint64_t)shift;
    for ( uint32_t row = first; row < last; ++row )
    {
        uint32_t before = (uint32_t)( view->entries[row].code >> 24 ) & 7;
        uint64_t all = lanes_that_meet( lanes, &rows[row] ) & behind & lanes->allowed[before];
        behind <<= shift;
        hits[found] = all;
        hit_rows[found] = row;
        found += all != 0;
    }
    clv_result result = CLV_OK;
    uint64_t candidate_count = 0;
    for ( uint32_t i = 0; i < found && result == CLV_OK; ++i )
    {
        uint32_t row = hit_rows[i];
        uint64_t tied = lanes_that_tie( lanes, &rows[row] );
        candidate_count += base_bit_count( hits[i] );
        result = put_hits( search, view->entries[row].slot, view->entries + word, hits[i], tied );
    }
    search->job->counters->candidate_count += candidate_count;
    return result;
}

// All rows against all lanes behind them, a word of lanes at a time.
static clv_result search_rows( cell_search* search, const cell_view* view )
{
    const uint8_t* at = search->job->scratch->lanes;
    clv_result result = CLV_OK;
    for ( uint32_t word = 0; word < view->count && result == CLV_OK; word += 64 )
    {
        lane_word lanes = load_word( view, at, word );
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
    job.is_settled = false;
    for ( uint32_t i = 0; i < view->count; ++i )
    {
        uint32_t name = cell_name( view->entries[i].slot, (uint32_t)( view->entries[i].code >> 24 ) & 7 );
        inner.records[i].name_low = (uint16_t)name;
        inner.records[i].name_high = (uint16_t)( name >> 16 );
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

static clv_result search_cell(
    cell_search* search, const cell_view* view, const uint32_t at_cell[3], nesting inner )
{
    const cell_job* job = search->job;
    if ( view->count > CELL_OVERFULL && view->count <= job->count / 2 && inner.depth < CELL_DEPTH )
    {
        return search_inner( search, view, at_cell, inner );
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
    job->is_settled = true;
    nesting inner = { 0, scratch->entries, scratch->starts, scratch->records };
    cell_search search = { job, sink, 0 };
    clv_result result = search_grid( &search, layout, inner );
    return result == CLV_OK ? settle_ties( &search ) : result;
}

static clv_result search_cells( const cell_job* job, uint32_t first, uint32_t last, pair_sink* sink )
{
    const cell_scratch* scratch = job->scratch;
    nesting inner = { 0, scratch->entries, scratch->starts, scratch->records };
    cell_search search = { job, sink, 0 };
    clv_result result = search_range( &search, first, last, inner );
    return result == CLV_OK ? settle_ties( &search ) : result;
}
