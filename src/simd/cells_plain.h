// SPDX-License-Identifier: MIT
// Codes in plain C, for the instruction sets without a quicker way. No include guard: part of a template, see cell_body.h.

static inline uint64_t code_of( const int16_t* fixed, const int16_t* base )
{
    uint64_t code = 0;
    for ( int i = 0; i < 8; ++i )
    {
        int32_t relative = fixed[i] - base[i];
        relative = relative < 0 ? 0 : relative > 254 ? 254 : relative;
        code |= (uint64_t)relative << ( 8 * i );
    }
    return code;
}

static inline void transpose_codes( const uint64_t* codes, uint8_t* lanes, size_t stride, uint64_t* rows )
{
    for ( int i = 0; i < 16; ++i )
    {
        // Upper first, then the complemented lower; the before bits come last.
        rows[i] = ( codes[i] >> 32 | codes[i] << 32 ) ^ 0x00FFFFFF00000000u;
        for ( int byte = 0; byte < 7; ++byte )
        {
            uint8_t value = (uint8_t)( codes[i] >> ( 8 * byte ) );
            lanes[(size_t)byte * stride + (size_t)i] = byte >= 4 ? (uint8_t)~value : value;
        }
    }
}
