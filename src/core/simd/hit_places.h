// SPDX-License-Identifier: MIT
// Which lanes rows hit, from bits to places, in registers of sixteen bytes: compiled for each instruction set
// that has no better way. No include guard: part of a template, see cell_body.h.

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
