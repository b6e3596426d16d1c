// SPDX-License-Identifier: MIT
// How the container is written: into memory, to a function, or only counted.
#include "base/assertion.h"
#include "base/parts.h"

#include <string.h>

enum
{
    SWAP_ROOM = 512,     // bytes that are turned around at once where the machine's order is not the file's
    COPY_ROOM = 1 << 14, // bytes that are copied and summed in turn, while they are in the nearest cache
    PUT_ROOM = 1
        << 20 // the same for a function: a system takes less time for one large piece than for many small ones
};

static void put_bytes( base_parts_writer* writer, const void* bytes, uint64_t size )
{
    uint64_t offset = writer->offset;
    writer->offset += size;
    if ( writer->failed || size == 0 )
    {
        return;
    }
    if ( writer->put != NULL )
    {
        writer->failed = !writer->put( bytes, size, writer->user );
    }
    else if ( writer->memory != NULL )
    {
        writer->failed = offset > writer->capacity || size > writer->capacity - offset;
        if ( !writer->failed )
        {
            memcpy( writer->memory + offset, bytes, (size_t)size );
        }
    }
}

static bool has_place( const base_parts_writer* writer )
{
    return writer->memory != NULL || writer->put != NULL;
}

void clv_base_parts_begin(
    base_parts_writer* writer, uint32_t kind, uint32_t version, uint32_t flags, uint64_t stamp )
{
    CLV_ASSERT( writer->offset == 0 && version > 0 );
    uint8_t header[BASE_PARTS_HEADER_BYTES];
    memcpy( header, clv_base_parts_magic, 8 );
    base_put_u32( header + 8, kind );
    base_put_u32( header + 12, version );
    base_put_u32( header + 16, flags );
    base_put_u32( header + 20, 0 );
    base_put_u64( header + 24, stamp );
    base_put_u64( header + 32, clv_base_sum_of( 0, 0, header, 32 ) );
    writer->flags = flags;
    writer->stamp = stamp;
    put_bytes( writer, header, sizeof( header ) );
}

void clv_base_part_begin( base_parts_writer* writer, uint32_t tag, uint64_t length )
{
    CLV_ASSERT( !writer->is_open && writer->offset % 8 == 0 );
    uint8_t head[BASE_PART_HEAD_BYTES];
    uint32_t number = writer->part_count++;
    base_put_u32( head, tag );
    base_put_u32( head + 4, number );
    base_put_u64( head + 8, length );
    base_put_u64( head + 16, clv_base_sum_of( writer->stamp, number, head, 16 ) );
    put_bytes( writer, head, sizeof( head ) );
    clv_base_sum_begin( &writer->sum, writer->stamp, number );
    writer->length = writer->left = length;
    writer->is_open = true;
}

// In turn, so that each piece is summed while it is still in the cache.
static void put_summed( base_parts_writer* writer, const uint8_t* bytes, uint64_t size )
{
    if ( ( writer->flags & BASE_PARTS_UNSUMMED ) != 0 || writer->failed || !has_place( writer ) )
    {
        put_bytes( writer, bytes, size );
        return;
    }
    uint64_t most = writer->put != NULL ? PUT_ROOM : COPY_ROOM;
    for ( uint64_t done = 0; done < size; )
    {
        uint64_t piece = size - done < most ? size - done : most;
        clv_base_sum_add( &writer->sum, bytes + done, piece );
        put_bytes( writer, bytes + done, piece );
        done += piece;
    }
}

void clv_base_part_put( base_parts_writer* writer, const void* bytes, uint64_t size )
{
    CLV_ASSERT( writer->is_open && size <= writer->left );
    writer->left -= size;
    put_summed( writer, bytes, size );
}

void clv_base_part_put_ordered(
    base_parts_writer* writer, const void* numbers, uint64_t count, uint32_t unit )
{
    if ( base_is_little_endian() || unit == 1 || !has_place( writer ) )
    {
        clv_base_part_put( writer, numbers, count * unit );
        return;
    }
    uint8_t turned[SWAP_ROOM];
    const uint8_t* from = numbers;
    for ( uint64_t most = SWAP_ROOM / unit; count > 0; )
    {
        uint64_t piece = count < most ? count : most;
        clv_base_copy_ordered( turned, from, piece, unit );
        clv_base_part_put( writer, turned, piece * unit );
        from += piece * unit;
        count -= piece;
    }
}

void clv_base_part_end( base_parts_writer* writer )
{
    static const uint8_t zeros[8] = { 0 };
    CLV_ASSERT( writer->is_open && writer->left == 0 );
    put_summed( writer, zeros, ( 8 - writer->length % 8 ) % 8 );
    uint8_t sum[BASE_PART_SUM_BYTES] = { 0 };
    if ( ( writer->flags & BASE_PARTS_UNSUMMED ) == 0 )
    {
        base_put_u64( sum, clv_base_sum_end( &writer->sum ) );
    }
    put_bytes( writer, sum, sizeof( sum ) );
    writer->is_open = false;
}

void clv_base_part_write(
    base_parts_writer* writer, uint32_t tag, const void* numbers, uint64_t count, uint32_t unit )
{
    clv_base_part_begin( writer, tag, count * unit );
    clv_base_part_put_ordered( writer, numbers, count, unit );
    clv_base_part_end( writer );
}

bool clv_base_parts_end( base_parts_writer* writer )
{
    clv_base_part_begin( writer, BASE_PART_END, 0 );
    clv_base_part_end( writer );
    return !writer->failed;
}
