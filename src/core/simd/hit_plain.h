// SPDX-License-Identifier: MIT
// put_hit for the instruction sets without a quicker way. No include guard: part of a template, see hits_plain.h.

static inline clv_pair pair_of( uint32_t a, uint32_t b )
{
    uint32_t lower = a < b ? a : b;
    return ( clv_pair ){ lower, a ^ b ^ lower };
}

// Is some lower byte equal to the upper one it is compared with? Turned by half, a code's uppers lie over the other's lowers;
// then the question is whether one of six bytes of the difference is 0.
static inline bool codes_tie( uint64_t a, uint64_t b )
{
    const uint64_t ones = UINT64_C( 0x0101010101010101 );
    uint64_t difference = ( a ^ ( b << 32 | b >> 32 ) ) | UINT64_C( 0xFF000000FF000000 );
    return ( ( difference - ones ) & ~difference & ones << 7 ) != 0;
}

static inline bool put_hit( const cell_entry* row, const cell_entry* lane, clv_pair* sure, clv_pair* tie )
{
    clv_pair pair = pair_of( cell_slot( row ), cell_slot( lane ) );
    *sure = pair;
    *tie = pair;
    return codes_tie( row->code, lane->code );
}
