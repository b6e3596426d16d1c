// SPDX-License-Identifier: MIT
// Records to the cells their boxes reach: a copy, an OR and at most a mask each. First all boxes of a chunk
// of slots go to their first cells; then class by class and corner by corner to the others, so that how many
// entries a box makes is never guessed.
#include "engine/corner.h"

#include "base/assertion.h"
#include "base/bits.h"

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
    const cell_words at = cell_words_of( &job->boxes[cell_slot( record )], s );
    uint64_t before = (uint64_t)cell_before( record ) << 24;
    for ( uint32_t z = at.lower[2] / CELL_STEPS; z <= at.upper[2] / CELL_STEPS; ++z )
    {
        uint64_t code_z = before | code_axis( at.lower[2], at.upper[2], z, 2 );
        for ( uint32_t y = at.lower[1] / CELL_STEPS; y <= at.upper[1] / CELL_STEPS; ++y )
        {
            uint64_t code_yz = code_z | code_axis( at.lower[1], at.upper[1], y, 1 );
            for ( uint32_t x = at.lower[0] / CELL_STEPS; x <= at.upper[0] / CELL_STEPS; ++x )
            {
                uint32_t cell = cell_at( &job->grid, x, y, z );
                if ( is_in_share( share, cell ) )
                {
                    job->entries[next[cell]++] =
                        ( cell_entry ){ code_yz | code_axis( at.lower[0], at.upper[0], x, 0 ), record->name };
                }
            }
        }
    }
}

enum
{
    KINDS = CELL_WIDE + 1,
    SECOND = 19,     // further cells of all classes: one each of three, three of three, seven of one
    FEW_BOXES = 1024 // of a chunk, up to which short loops mispredict more than they save
};

// One corner of one class other than its first, and what makes an entry there of a record: in a second cell
// on some axis a box begins at 0, in a first cell of two it ends beyond 255.
typedef struct second_cell
{
    uint32_t kind, offset;
    uint64_t kept, ended;
} second_cell;

// What places the boxes of a share.
typedef struct placing
{
    const cell_job* job;
    const cell_share* share;
    uint32_t* next; // where the next entry of each cell goes
    uint32_t aside; // where an entry goes that is in none: behind all of them
    scaling scaling;
    uint64_t ended[8];           // by class: 255 for its uppers
    second_cell seconds[SECOND]; // class by class, corner by corner
    // Boxes of a chunk by class: a loop over the entries of each box would mispredict. Of those that have one
    // entry the list is not read.
    uint32_t counts[KINDS];
    uint16_t lists[KINDS][CELL_CHUNK];
} placing;

// Bytes of the axes that have a bit, in the lower half of a code.
static uint64_t axis_bytes( uint32_t axes )
{
    uint64_t mask = 0;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        mask |= ( axes >> axis & 1 ) != 0 ? UINT64_C( 0xFF ) << ( 8 * axis ) : 0;
    }
    return mask;
}

static void make_seconds( placing* p, const corner_cells* near )
{
    uint32_t made = 0;
    for ( uint32_t kind = 0; kind < CELL_WIDE; ++kind )
    {
        p->ended[kind] = axis_bytes( kind ) << 32;
        for ( uint32_t k = 1; k < near->count[kind]; ++k )
        {
            uint32_t corner = near->corner[kind][k];
            p->seconds[made++] = ( second_cell ){ kind, near->offset[corner], ~axis_bytes( corner ),
                (uint64_t)corner << 24 | axis_bytes( kind & ~corner ) << 32 };
        }
    }
    CLV_ASSERT( made == SECOND );
}

// In sums and bits: compilers make a branch of anything else, and that mispredicts at the border of a share.
static inline uint32_t place_or_aside( bool goes, uint32_t place, uint32_t aside )
{
    return aside ^ ( ( place ^ aside ) & ( 0 - (uint32_t)goes ) );
}

// The entry of each box in its first cell, and the lists. What does not go there is put aside without a
// branch.
static BASE_INLINE void place_first( placing* p, const cell_record* records, uint32_t count, bool is_whole )
{
    cell_entry* const entries = p->job->entries;
    uint32_t* const next = p->next;
    const uint32_t first = p->share->first_cell, width = p->share->last_cell - first, aside = p->aside;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t kind = cell_class( &records[i] ), cell = cell_first( &records[i] );
        bool goes = ( kind != CELL_WIDE ) & ( is_whole | ( cell - first < width ) );
        CLV_ASSERT( cell < cell_grid_count( &p->job->grid ) );
        uint32_t place = next[cell];
        next[cell] = place + goes;
        cell_entry* entry = &entries[place_or_aside( goes, place, aside )];
        entry->code = records[i].code | p->ended[kind & 7];
        entry->name = records[i].name;
        p->lists[kind][p->counts[kind]++] = (uint16_t)i;
    }
}

// The entries of boxes of one class at one corner. What a cell gets from one class and corner comes from one
// other cell. What does not go there is put aside without a branch.
static BASE_INLINE void place_second(
    placing* p, const cell_record* records, const second_cell* second, bool is_whole )
{
    cell_entry* const entries = p->job->entries;
    uint32_t* const next = p->next;
    const uint32_t first = p->share->first_cell, width = p->share->last_cell - first;
    const uint32_t kind = second->kind, offset = second->offset, count = p->counts[kind];
    const uint32_t aside = p->aside;
    const uint64_t kept = second->kept, ended = second->ended;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const cell_record* record = &records[p->lists[kind][i]];
        uint32_t cell = cell_first( record ) + offset, place = next[cell];
        bool goes = is_whole | ( cell - first < width );
        CLV_ASSERT( cell_class( record ) == kind );
        CLV_ASSERT( cell < cell_grid_count( &p->job->grid ) ); // no class reaches beyond the grid
        next[cell] = place + goes;
        entries[place_or_aside( goes, place, aside )] =
            ( cell_entry ){ ( record->code & kept ) | ended, record->name };
    }
}

static BASE_INLINE void place_chunk( placing* p, const cell_record* records, uint32_t count, bool is_whole )
{
    CLV_ASSERT( count <= CELL_CHUNK );
    memset( p->counts, 0, sizeof( p->counts ) );
    place_first( p, records, count, is_whole );
    for ( uint32_t k = 0; k < SECOND; ++k )
    {
        place_second( p, records, &p->seconds[k], is_whole );
    }
    for ( uint32_t i = 0; i < p->counts[CELL_WIDE]; ++i )
    {
        place_wide( p->job, p->share, &p->scaling, p->next, &records[p->lists[CELL_WIDE][i]] );
    }
}

// Numbers of chunks ascend, so it is found by halving.
uint32_t clv_engine_cell_end_of_chunk( const cell_record* records, uint32_t first, uint32_t end )
{
    CLV_ASSERT( first < end );
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
        end = p->share->by_slot ? clv_engine_cell_end_of_chunk( records, first, end ) : end;
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

void clv_engine_cell_place_entries(
    const cell_job* job, const cell_share* share, uint32_t* next, uint32_t entry_count )
{
    CLV_ASSERT( share->first_cell < share->last_cell );
    CLV_ASSERT( job->entries != NULL );
    const bool is_whole = share->last_cell - share->first_cell == cell_grid_count( &job->grid );
    placing p;
    p.job = job;
    p.share = share;
    p.next = next;
    p.aside = entry_count;
    p.scaling = scaling_of( &job->grid );
    const corner_cells near = corner_cells_of( &job->grid );
    make_seconds( &p, &near );
    for ( uint32_t i = 0; i < cell_segment_count( share ); ++i )
    {
        cell_segment segment = cell_segment_at( share, i );
        place_segment( &p, share->records + segment.first, segment.count, is_whole );
    }
}
