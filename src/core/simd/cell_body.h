// SPDX-License-Identifier: MIT
// Boxes to records and the pairs of one cell, as simd/cells.h says, written once over registers, which
// lanes_<isa>.h defines, and over what kernels_<isa>.c or kernels_x86.h defines.
//   BYTE_LANES                 bytes per register: a divisor of 64
//   bytes                      that many
//   bytes_load( p )            p aligned
//   bytes_splat( value )       a byte in every lane
//   bytes_and( a, b )
//   bytes_zero_bits( a )       a bit per lane that is 0, lane 0 lowest
//   bytes_or, bytes_excess     unless OWN_MEET: a - b, or 0 where that is less
//   words                      eight words of 16 bits, the coordinates of a box: lower x y z 0, upper x y z 0
//   words_of( box, s )         as cell_words_of in simd/cells.h,
//   words_key( w, s ), words_code( w )   and as the others there
//   transpose_codes( entries, lanes, stride )   16 codes to 16 bytes in each of seven rows of lanes
// Where an instruction set has a quicker way than the one here, kernels_<isa>.c defines the function and says
// so:
//   OWN_RECORDS whole_records and whole_tray, OWN_STREAM stream_record and finish_streams, OWN_MEET
//   bytes_meet and bytes_at_least, OWN_ROW load_row, OWN_FEW_HITS list_few,
//   OWN_HITS gather_slots, hit_walk_begin and split_hits. Otherwise it has SOME_HITS, a number, and
//   put_some_hits( rows, lanes, valid, sure, ties ): the pairs of so many hits, of which those before `valid`
//   count, each written to both and counted in one, for a branch on which it is mispredicts. Returns how many
//   are sure.
// LENDS_CELLS and BORROWS_CELLS: the functions that AVX-512 has of AVX2, simd/cells.h.
//
// An entry's code is eight bytes: lower x y z in 256ths of the cell, before bits, upper x y z, and its class,
// which means nothing here. Two boxes may touch if on each axis the lower of one is at most the upper of the
// other, both ways. Where every lower is less than the upper it is compared with, rounding cannot have made
// it so: the boxes touch. Only a tie has to be looked up in float. No include guard: this is a template.

#if defined( LENDS_CELLS ) || defined( BORROWS_CELLS )
#define settle_ties clv_simd_avx2_settle_ties
#define LENT
#else
#define LENT static
#endif

// ---- from boxes to records

#ifndef OWN_RECORDS
// From boxes to records several at a time: here none, they go one by one.
static inline uint32_t whole_records(
    const clv_aabb* boxes, uint32_t first, uint32_t count, const scaling* s, cell_record* out )
{
    (void)boxes, (void)first, (void)count, (void)s, (void)out;
    return 0;
}

static inline uint32_t whole_tray(
    const cell_tray* tray, uint32_t count, const scaling* s, cell_record* out, bool streams )
{
    (void)tray, (void)count, (void)s, (void)out, (void)streams;
    return 0;
}
#endif

#ifndef OWN_STREAM
static inline void stream_record( cell_record* out, cell_record record )
{
    *out = record;
}

static void finish_streams( void )
{
}
#endif

static inline cell_record record_of( words w, const scaling* s, uint32_t slot )
{
    cell_key key = words_key( w, s );
    return ( cell_record ){ words_code( w ) | (uint64_t)key.kind << 56, cell_name( slot, key.cell ) };
}

static void make_records( const cell_boxes* some, const scaling* given, cell_record* out )
{
    const scaling s = *given; // no record is written there: what it holds may stay in registers
    uint32_t done = some->slots == NULL ? whole_records( some->boxes, some->first, some->count, &s, out ) : 0;
    for ( uint32_t i = done; i < some->count; ++i )
    {
        uint32_t slot = cell_boxes_slot( some, i );
        out[i] = record_of( words_of( &some->boxes[slot], &s ), &s, slot );
    }
}

// Past the caches where whole lines are written, which are not fetched first then: half of the time to fill a
// million boxes into blocks.
static void empty_tray(
    const cell_tray* tray, uint32_t count, const scaling* given, cell_record* out, bool may_stream )
{
    const scaling s = *given;
    const bool streams = may_stream && count == CELL_TRAY && ( (uintptr_t)out & 63 ) == 0;
    uint32_t done = whole_tray( tray, count, &s, out, streams );
    for ( uint32_t i = done; i < count; ++i )
    {
        cell_record record = record_of( words_of( &tray->items[i].box, &s ), &s, tray->items[i].slot );
        record.code |= tray->items[i].before;
        if ( streams )
        {
            stream_record( &out[i], record );
        }
        else
        {
            out[i] = record;
        }
    }
}

// ---- which lanes a row meets

// Lower and upper x y z, of many entries or of one in every lane.
typedef struct byte_box
{
    bytes lower[3], upper[3];
} byte_box;

#ifndef OWN_MEET
// Six saturating subtractions, or-ed, are zero exactly where all comparisons hold.
static inline uint64_t bytes_meet( const bytes lane_lower[3], const bytes lane_upper[3],
    const bytes row_lower[3], const bytes row_upper[3], int axes )
{
    bytes by_axis[3];
    for ( int axis = 0; axis < axes; ++axis )
    {
        by_axis[axis] = bytes_or( bytes_excess( lane_lower[axis], row_upper[axis] ),
            bytes_excess( row_lower[axis], lane_upper[axis] ) );
    }
    bytes both = bytes_or( by_axis[0], by_axis[1] );
    return bytes_zero_bits( axes == 3 ? bytes_or( both, by_axis[2] ) : both );
}

// A bit for each lane that is at least `least` there.
static inline uint64_t bytes_at_least( bytes a, bytes least )
{
    return bytes_zero_bits( bytes_excess( least, a ) );
}
#endif

#ifndef OWN_ROW
// These instruction sets load a byte into every lane; they all count bytes from the low end.
static inline void load_row( const cell_entry* entry, bytes lower[3], bytes upper[3] )
{
    const uint8_t* code = (const uint8_t*)&entry->code;
    for ( int axis = 0; axis < 3; ++axis )
    {
        lower[axis] = bytes_splat( code[axis] );
        upper[axis] = bytes_splat( code[axis + 4] );
    }
}
#endif

// ---- from rows and lanes that may touch to pairs

#ifndef OWN_HITS
static inline void gather_slots( const cell_entry* entries, uint32_t* slots )
{
    (void)entries;
    (void)slots; // they are read from the entries
}

typedef hit_places hit_walk;

// Which lanes rows hit, from bits to places, in registers of sixteen bytes.
typedef uint16_t places __attribute__( ( vector_size( 16 ) ) );

static inline void put_places( uint16_t* out, places p )
{
    memcpy( out, &p, sizeof( p ) );
}

static inline places places_of( uint32_t bits )
{
    places p;
    memcpy( &p, clv_simd_lane_places[bits], sizeof( p ) );
    return p;
}

// Lists the hits of rows with lanes before `lane_count`, all lanes for each row: a branch on how many hits it
// has mispredicts. Not inline: quicker with registers of its own. Returns how many hits there are.
static BASE_NOINLINE uint32_t list_hits( hit_places* list, const row_hits* hits, uint32_t lane_count )
{
    uint16_t* lane = list->lanes;
    uint16_t* row = list->rows;
    for ( uint32_t i = 0; i < hits->count; ++i )
    {
        const places here = (uint16_t)( hits->rows[i] * sizeof( cell_entry ) ) + ( places ){ 0 };
        uint64_t bits = hits->lanes[i];
        places first = { 0 };
        for ( uint32_t k = 0; k < lane_count; k += 16, bits >>= 16 )
        {
            const uint32_t low = bits & 255, high = bits >> 8 & 255;
            uint16_t* middle = lane + clv_simd_lane_counts[low];
            put_places( lane, places_of( low ) + first );
            first += (uint16_t)( 8 * sizeof( cell_entry ) );
            put_places( middle, places_of( high ) + first );
            first += (uint16_t)( 8 * sizeof( cell_entry ) );
            lane = middle + clv_simd_lane_counts[high];
        }
        uint16_t* end = list->rows + ( lane - list->lanes );
        do
        {
            put_places( row, here );
            put_places( row + 8, here );
            row += 16;
        } while ( row < end ); // seldom
        row = end;
    }
    return (uint32_t)( row - list->rows );
}

static inline uint32_t hit_walk_begin(
    hit_walk* walk, const row_hits* hits, uint32_t lane_count, const cell_counters* so_far )
{
#ifdef OWN_FEW_HITS
    bool are_few = so_far->candidate_count < so_far->entry_count / 4 * 3;
    uint32_t count = are_few ? list_few( walk, hits ) : list_hits( walk, hits, lane_count );
#else
    (void)so_far;
    uint32_t count = list_hits( walk, hits, lane_count );
#endif
    memset( walk->rows + count, 0, SOME_HITS * sizeof( uint16_t ) ); // read with the last
    memset( walk->lanes + count, 0, SOME_HITS * sizeof( uint16_t ) );
    walk->at = 0;
    return count;
}

static inline const cell_entry* entry_at( const cell_entry* first, uint32_t bytes_on )
{
    return (const cell_entry*)(const void*)( (const uint8_t*)first + bytes_on );
}

// The next hits, of which those before `valid` count.
static inline uint32_t put_hits_at(
    const hit_walk* walk, size_t at, const hit_sides* sides, uint32_t valid, clv_pair* sure, clv_pair* ties )
{
    const cell_entry *rows[SOME_HITS], *lanes[SOME_HITS];
    for ( size_t i = 0; i < SOME_HITS; ++i )
    {
        rows[i] = entry_at( sides->rows.entries, walk->rows[at + i] );
        lanes[i] = entry_at( sides->lanes.entries, walk->lanes[at + i] );
    }
    return put_some_hits( rows, lanes, valid, sure, ties );
}

// The next `count` hits: pairs that are sure, how many is returned, and ties.
static inline uint32_t split_hits(
    hit_walk* walk, const hit_sides* sides, uint32_t count, clv_pair* sure, clv_pair* ties )
{
    uint32_t at = 0, sure_count = 0;
    for ( ; at + SOME_HITS <= count; at += SOME_HITS )
    {
        sure_count +=
            put_hits_at( walk, walk->at + at, sides, SOME_HITS, &sure[sure_count], &ties[at - sure_count] );
    }
    if ( at < count )
    {
        sure_count +=
            put_hits_at( walk, walk->at + at, sides, count - at, &sure[sure_count], &ties[at - sure_count] );
    }
    walk->at += count;
    return sure_count;
}
#endif

// ---- the pairs of a cell

enum
{
    LANE_PARTS = 64 / BYTE_LANES // registers in a word of 64 lanes
};

// A cell.
typedef struct cell_view
{
    const cell_entry* entries;
    uint32_t count;
    uint32_t stride; ///< from one row of lanes to the next
} cell_view;

// A word of lanes: what 64 entries hold against a row, and which of them a row may meet by its before bits.
typedef struct lane_word
{
    byte_box parts[LANE_PARTS];
    uint64_t allowed[8];
} lane_word;

// Codes behind the cell's last are the next cell's, or slack: no row may meet them.
static void load_cell( const cell_search* search, const cell_view* view )
{
    for ( uint32_t first = 0; first < view->count; first += 16 )
    {
        transpose_codes( view->entries + first, search->lanes + first, view->stride );
        gather_slots( view->entries + first, search->slots + first );
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

static inline clv_result have_room( clv_pair_sink* sink )
{
    return clv_pair_sink_is_full( sink ) ? sink->make_room( sink ) : CLV_OK;
}

#ifndef BORROWS_CELLS
LENT clv_result settle_ties( cell_search* search )
{
    const clv_aabb* boxes = search->exact;
    const clv_pair* ties = search->ties;
    clv_pair_sink* sink = search->sink;
    for ( uint32_t first = 0; first < search->tie_count; first += CLV_PAIR_SINK_ROOM )
    {
        clv_result result = have_room( sink );
        if ( result != CLV_OK )
        {
            return result;
        }
        uint32_t left = search->tie_count - first;
        uint32_t end = first + ( left < CLV_PAIR_SINK_ROOM ? left : CLV_PAIR_SINK_ROOM );
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
        search->counters->failed_count += end - first - touching;
        sink->count += touching;
    }
    search->counters->tie_count += search->tie_count;
    search->tie_count = 0;
    return CLV_OK;
}
#endif

// The pairs of hits: those that are sure to the sink, ties behind the ties, which are looked up when there
// are many. Not inline: one copy serves solid and flat cells, and the loops over rows keep more in registers.
static __attribute__( ( noinline ) ) clv_result put_hits(
    cell_search* search, const row_hits* hits, const hit_sides* sides, uint32_t lane_count )
{
    clv_pair_sink* sink = search->sink;
    hit_walk walk;
    uint32_t hit_count = hit_walk_begin( &walk, hits, lane_count, search->counters );
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
        uint32_t sure =
            split_hits( &walk, sides, count, sink->pairs + sink->count, search->ties + search->tie_count );
        sink->count += sure;
        search->tie_count += count - sure;
    }
    search->counters->candidate_count += hit_count;
    return CLV_OK;
}

// The registers of a word that hold lanes a row has to be tested against: [first, end).
typedef struct part_range
{
    uint32_t first, end;
} part_range;

// A bit for each lane of these registers that may touch the row.
static inline __attribute__( ( always_inline ) ) uint64_t lanes_that_meet(
    const lane_word* lanes, const cell_entry* entry, part_range parts, int axes )
{
    byte_box row;
    load_row( entry, row.lower, row.upper );
    uint64_t all = 0;
    for ( uint32_t part = parts.first; part < parts.end; ++part )
    {
        const byte_box* lane = &lanes->parts[part];
        all |= bytes_meet( lane->lower, lane->upper, row.lower, row.upper, axes )
            << ( part * BYTE_LANES % 64 );
    }
    return all;
}

// Rows [first, last) against these registers of a word. Those without a hit are passed over without a branch.
// `step` is 1 where the rows are the word's own lanes: each has only those behind it, one fewer than the row
// before.
static inline __attribute__( ( always_inline ) ) void search_parts( const cell_entry* rows, uint32_t first,
    uint32_t last, const lane_word* lanes, part_range parts, uint32_t step, int axes, row_hits* hits )
{
    uint64_t behind = ~(uint64_t)0 << step << ( step * first );
    uint32_t found = hits->count;
    for ( uint32_t row = first; row < last; ++row )
    {
        uint64_t all = lanes_that_meet( lanes, &rows[row], parts, axes ) & behind &
            lanes->allowed[cell_before( &rows[row] )];
        behind <<= step;
        hits->lanes[found] = all;
        hits->rows[found] = (uint8_t)row;
        found += all != 0;
    }
    hits->count = found;
}

// Rows of up to 64: from `first` to before `last`.
typedef struct row_range
{
    uint32_t first, last;
} row_range;

// These rows against the registers of a word before `end`. Rows that are the lanes themselves have none
// before them, and so need not look at registers before their own; they are all there.
static inline __attribute__( ( always_inline ) ) void search_registers( const cell_entry* rows,
    row_range range, const lane_word* lanes, uint32_t end, bool are_lanes, int axes, row_hits* hits )
{
    uint32_t row_count = range.last;
    uint32_t last = are_lanes && row_count > BYTE_LANES ? BYTE_LANES : row_count;
    search_parts( rows, range.first, last, lanes, ( part_range ){ 0, end }, are_lanes, axes, hits );
    for ( uint32_t part = 1; part < end && are_lanes; ++part )
    {
        uint32_t from = part * BYTE_LANES, to = from + BYTE_LANES;
        search_parts(
            rows, from, to < row_count ? to : row_count, lanes, ( part_range ){ part, end }, 1, axes, hits );
    }
}

// Up to 64 rows, from `first` on, against one word of lanes. A cell often fills but a part of it; how many
// registers that is, is told to the compiler where there are at most two. Always inline: compiled once for
// three axes and once for two.
static inline __attribute__( ( always_inline ) ) clv_result search_word( cell_search* search,
    const cell_view* view, const lane_word* lanes, uint32_t word, uint32_t first, row_range range, int axes )
{
    const cell_entry* rows = view->entries + first;
    const uint32_t lane_count = view->count - word;
    const bool are_lanes = first == word;
    row_hits hits;
    hits.count = 0;
    uint32_t end = lane_count < 64 ? ( lane_count + BYTE_LANES - 1 ) / BYTE_LANES : LANE_PARTS;
    if ( LANE_PARTS == 1 || ( LANE_PARTS == 2 && end == LANE_PARTS ) )
    {
        search_registers( rows, range, lanes, LANE_PARTS, are_lanes, axes, &hits );
    }
    else
    {
        search_registers( rows, range, lanes, LANE_PARTS == 2 ? 1 : end, are_lanes, axes, &hits );
    }
    hit_sides sides = { { rows, search->lanes + first, search->slots + first },
        { view->entries + word, search->lanes + word, search->slots + word }, view->stride };
    return put_hits( search, &hits, &sides, lane_count < 64 ? lane_count : 64 );
}

static clv_result search_word_solid( cell_search* search, const cell_view* view, const lane_word* lanes,
    uint32_t word, uint32_t first, row_range range )
{
    return search_word( search, view, lanes, word, first, range, 3 );
}

static clv_result search_word_flat( cell_search* search, const cell_view* view, const lane_word* lanes,
    uint32_t word, uint32_t first, row_range range )
{
    return search_word( search, view, lanes, word, first, range, 2 );
}

// Have all entries the same bytes on the third axis, as in a flat world? Then nothing is decided there. The
// last entry tells most cells of other worlds.
static bool is_flat_cell( const cell_view* view )
{
    const uint64_t third = UINT64_C( 0xFF ) << 16 | UINT64_C( 0xFF ) << 48;
    uint64_t first = view->entries[0].code, different = first ^ view->entries[view->count - 1].code;
    for ( uint32_t i = 1; ( different & third ) == 0 && i < view->count; ++i )
    {
        different |= first ^ view->entries[i].code;
    }
    return ( different & third ) == 0;
}

// Where entries are in order: the rows from `first` on that end behind where a word of lanes
// begins, from the first of them to the last.
static row_range rows_that_reach(
    const cell_search* search, const cell_view* view, uint32_t first, uint32_t word )
{
    uint32_t row_count = view->count - first < 64 ? view->count - first : 64;
    const uint8_t* uppers = search->lanes + (size_t)( search->axis + 4 ) * view->stride + first;
    bytes least = bytes_splat( search->lanes[(size_t)search->axis * view->stride + word] );
    uint64_t bits = 0;
    for ( uint32_t part = 0; part < LANE_PARTS; ++part )
    {
        bits |= bytes_at_least( bytes_load( uppers + (size_t)part * BYTE_LANES ), least )
            << ( part * BYTE_LANES % 64 );
    }
    bits &= row_count < 64 ? ( (uint64_t)1 << row_count ) - 1 : ~(uint64_t)0;
    return bits != 0 ? ( row_range ){ base_lowest_bit( bits ), base_bit_width( bits ) }
                     : ( row_range ){ 0, 0 };
}

// All rows against all lanes behind them, a word of lanes at a time.
static clv_result search_rows( cell_search* search, const cell_view* view )
{
    clv_result result = CLV_OK;
    bool is_flat = is_flat_cell( view );
    for ( uint32_t word = 0; word < view->count && result == CLV_OK; word += 64 )
    {
        lane_word lanes;
        load_word( &lanes, view, search->lanes, word );
        for ( uint32_t first = 0; first <= word && result == CLV_OK; first += 64 )
        {
            row_range range = { 0, view->count - first < 64 ? view->count - first : 64 };
            if ( search->axis >= 0 )
            {
                range = rows_that_reach( search, view, first, word );
                uint64_t rows = range.last - range.first;
                uint64_t lane_count = view->count - word < 64 ? view->count - word : 64;
                search->counters->test_count += first == word ? rows * ( rows - 1 ) / 2 : rows * lane_count;
                if ( rows == 0 )
                {
                    continue;
                }
            }
            result = is_flat ? search_word_flat( search, view, &lanes, word, first, range )
                             : search_word_solid( search, view, &lanes, word, first, range );
        }
    }
    return result;
}

static clv_result search_cell( cell_search* search, const cell_entry* entries, uint32_t count )
{
    cell_view view = { entries, count, ( count + 63 ) & ~63u };
    load_cell( search, &view );
    return search_rows( search, &view );
}
