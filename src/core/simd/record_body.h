// SPDX-License-Identifier: MIT
// From boxes to records, as simd/cells.h says, written once over a register of eight 16-bit words. Each cells_<isa>.c but the scalar one defines, before it
// includes this file:
//   words                      the coordinates of a box: lower x y z 0, upper x y z 0
//   words_of( box, s )         as cell_words_of in simd/cell_scaling.h,
//   words_span( w ), words_key( w, s ), words_code( w )   and as the others there
//   whole_records              as in simd/records_plain.h
// No include guard: this is a template.

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

static void make_records_by(
    const cell_boxes* some, const scaling* scales, const uint16_t* numbers, cell_record* out )
{
    for ( uint32_t i = 0; i < some->count; ++i )
    {
        const scaling* s = &scales[numbers[i]];
        uint32_t slot = cell_boxes_slot( some, i );
        out[i] = record_of( words_of( &some->boxes[slot], s ), s, slot );
    }
}

static void put_records_by( const cell_boxes* some, const scaling* scales, const uint16_t* numbers,
    const bool* goes, cell_segment* segments, cell_record* out )
{
    for ( uint32_t i = 0; i < some->count; ++i )
    {
        const scaling* s = &scales[numbers[i]];
        uint32_t slot = cell_boxes_slot( some, i );
        cell_record record = record_of( words_of( &some->boxes[slot], s ), s, slot );
        segment_put_if( &segments[numbers[i]], out, record, goes[i] );
    }
}

static void find_reaches( const cell_boxes* some, const scaling* s, cell_reach* out )
{
    for ( uint32_t i = 0; i < some->count; ++i )
    {
        words w = words_of( &some->boxes[cell_boxes_slot( some, i )], s );
        out[i] = ( cell_reach ){ words_span( w ), words_key( w, s ).cell };
    }
}
