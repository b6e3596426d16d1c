// SPDX-License-Identifier: MIT
#include "fuzz_parts.h"

#include "base/parts.h"

#include <string.h>

void fuzz_mend_parts( uint8_t* bytes, size_t size, const char kind[4] )
{
    if ( size < BASE_PARTS_HEADER_BYTES )
    {
        return;
    }
    memcpy( bytes + 8, kind, 4 );
    base_put_u64( bytes + 32, clv_base_sum_of( 0, 0, bytes, 32 ) );
    uint64_t stamp = base_get_u64( bytes + 24 ), at = BASE_PARTS_HEADER_BYTES;
    for ( uint32_t number = 0; size - at >= base_part_bytes( 0 ); ++number )
    {
        uint64_t length = base_get_u64( bytes + at + 8 ), all = base_part_bytes( length );
        base_put_u32( bytes + at + 4, number );
        base_put_u64( bytes + at + 16, clv_base_sum_of( stamp, number, bytes + at, 16 ) );
        if ( length > size || all > size - at )
        {
            return;
        }
        uint64_t padded = all - BASE_PART_HEAD_BYTES - BASE_PART_SUM_BYTES;
        base_put_u64( bytes + at + all - 8,
            clv_base_sum_of( stamp, number, bytes + at + BASE_PART_HEAD_BYTES, padded ) );
        at += all;
    }
}
