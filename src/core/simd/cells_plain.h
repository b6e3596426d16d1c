// SPDX-License-Identifier: MIT
// Records and codes in plain C, for the instruction sets without a quicker way. No include guard: part of a template, see
// cell_body.h.

typedef cell_words words;

static inline cell_span words_span( words w )
{
    return cell_words_span( &w );
}

static inline cell_key words_key( words w, const scaling* s )
{
    return cell_words_key( &w, s );
}

static inline uint64_t words_code( words w )
{
    return cell_words_code( &w );
}

static inline void transpose_codes( const cell_entry* entries, uint8_t* lanes, size_t stride )
{
    for ( int i = 0; i < 16; ++i )
    {
        for ( int byte = 0; byte < 7; ++byte )
        {
            lanes[(size_t)byte * stride + (size_t)i] = (uint8_t)( entries[i].code >> ( 8 * byte ) );
        }
    }
}

// All comparisons made, no branch taken: which of them fails is a coin toss.
static inline bool boxes_touch( const clv_aabb* a, const clv_aabb* b )
{
    return ( ( a->lower.x <= b->upper.x ) & ( b->lower.x <= a->upper.x ) & ( a->lower.y <= b->upper.y ) &
               ( b->lower.y <= a->upper.y ) & ( a->lower.z <= b->upper.z ) & ( b->lower.z <= a->upper.z ) ) !=
        0;
}
