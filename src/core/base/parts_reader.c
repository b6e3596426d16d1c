// SPDX-License-Identifier: MIT
// How the container is read. Whatever the bytes are, no length is believed before it is checked, and the
// first fault is told with its offset.
#include "base/assertion.h"
#include "base/parts.h"

#include <stdarg.h>
#include <stdio.h>

enum
{
    SKIP_ROOM = 512
};

bool clv_base_parts_fault( base_parts_reader* reader, uint64_t offset, const char* format, ... )
{
    if ( !reader->failed )
    {
        reader->failed = true;
        reader->fault_offset = offset;
        va_list arguments;
        va_start( arguments, format );
        vsnprintf( reader->fault, sizeof( reader->fault ), format, arguments );
        va_end( arguments );
    }
    return false;
}

// The next bytes, if the file has them.
static bool get_bytes( base_parts_reader* reader, void* bytes, uint64_t size )
{
    CLV_ASSERT( reader->offset <= reader->size );
    if ( reader->failed )
    {
        return false;
    }
    if ( size > reader->size - reader->offset )
    {
        return clv_base_parts_fault( reader, reader->size, "ends too early" );
    }
    if ( size == 0 )
    {
        return true;
    }
    if ( reader->memory != NULL )
    {
        memcpy( bytes, reader->memory + reader->offset, (size_t)size );
    }
    else if ( !reader->get( reader->offset, bytes, size, reader->user ) )
    {
        return clv_base_parts_fault( reader, reader->offset, "cannot be read" );
    }
    reader->offset += size;
    return true;
}

bool clv_base_parts_open( base_parts_reader* reader, uint32_t kind, uint32_t version_most )
{
    uint8_t header[BASE_PARTS_HEADER_BYTES];
    CLV_ASSERT(
        reader->offset == 0 && ( reader->memory != NULL || reader->get != NULL || reader->size == 0 ) );
    if ( !get_bytes( reader, header, sizeof( header ) ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < 8; ++i )
    {
        if ( header[i] != clv_base_parts_magic[i] )
        {
            return clv_base_parts_fault( reader, i, "was not written by Cleave" );
        }
    }
    if ( base_get_u64( header + 32 ) != clv_base_sum_of( 0, 0, header, 32 ) )
    {
        return clv_base_parts_fault( reader, 32, "checksum mismatch of the header" );
    }
    reader->kind = base_get_u32( header + 8 );
    reader->version = base_get_u32( header + 12 );
    reader->flags = base_get_u32( header + 16 );
    reader->stamp = base_get_u64( header + 24 );
    if ( reader->kind != kind )
    {
        return clv_base_parts_fault( reader, 8, "is a file of another kind" );
    }
    if ( reader->version == 0 || reader->version > version_most )
    {
        return clv_base_parts_fault( reader, 12, "has version %lu of its kind; this library reads 1 to %lu",
            (unsigned long)reader->version, (unsigned long)version_most );
    }
    return ( reader->flags & ~(uint32_t)BASE_PARTS_UNSUMMED ) == 0 && base_get_u32( header + 20 ) == 0
        ? true
        : clv_base_parts_fault( reader, 16, "has unknown flags" );
}

bool clv_base_part_next( base_parts_reader* reader )
{
    uint8_t head[BASE_PART_HEAD_BYTES];
    uint64_t begin = reader->offset;
    CLV_ASSERT( reader->failed || reader->left == 0 );
    if ( !get_bytes( reader, head, sizeof( head ) ) )
    {
        return false;
    }
    uint32_t number = reader->part_count;
    if ( base_get_u64( head + 16 ) != clv_base_sum_of( reader->stamp, number, head, 16 ) ||
        base_get_u32( head + 4 ) != number )
    {
        return clv_base_parts_fault( reader, begin, "checksum mismatch of a part's head" );
    }
    uint64_t length = base_get_u64( head + 8 ), room = reader->size - reader->offset;
    if ( length > room || base_part_bytes( length ) - BASE_PART_HEAD_BYTES > room )
    {
        return clv_base_parts_fault(
            reader, begin + 8, "ends within a part of %llu bytes", (unsigned long long)length );
    }
    reader->part_count = number + 1;
    reader->tag = base_get_u32( head );
    reader->length = reader->left = length;
    reader->payload_offset = reader->offset;
    clv_base_sum_begin( &reader->sum, reader->stamp, number );
    if ( reader->tag != BASE_PART_END )
    {
        return true;
    }
    if ( length != 0 )
    {
        return clv_base_parts_fault( reader, begin + 8, "has a last part that is not empty" );
    }
    if ( !clv_base_part_close( reader ) )
    {
        return false;
    }
    return reader->offset == reader->size
        ? true
        : clv_base_parts_fault( reader, reader->offset, "goes on behind its end" );
}

bool clv_base_part_expect( base_parts_reader* reader, uint32_t tag, uint64_t length )
{
    uint64_t begin = reader->offset;
    if ( !clv_base_part_next( reader ) )
    {
        return false;
    }
    char name[5] = { (char)tag, (char)( tag >> 8 ), (char)( tag >> 16 ), (char)( tag >> 24 ), '\0' };
    if ( reader->tag != tag )
    {
        return clv_base_parts_fault( reader, begin, "has another part where %s is expected", name );
    }
    return length == UINT64_MAX || reader->length == length
        ? true
        : clv_base_parts_fault( reader, begin + 8, "has %llu bytes in part %s where %llu are expected",
              (unsigned long long)reader->length, name, (unsigned long long)length );
}

static bool take_payload( base_parts_reader* reader, uint64_t size )
{
    if ( reader->failed )
    {
        return false;
    }
    if ( size > reader->left )
    {
        return clv_base_parts_fault( reader, reader->payload_offset + reader->length,
            "has a part that is shorter than what is in it" );
    }
    reader->left -= size;
    return true;
}

static bool has_sums( const base_parts_reader* reader )
{
    return ( reader->flags & BASE_PARTS_UNSUMMED ) == 0;
}

bool clv_base_part_get( base_parts_reader* reader, void* bytes, uint64_t size )
{
    if ( !take_payload( reader, size ) || !get_bytes( reader, bytes, size ) )
    {
        return false;
    }
    if ( has_sums( reader ) )
    {
        clv_base_sum_add( &reader->sum, bytes, size );
    }
    return true;
}

const uint8_t* clv_base_part_view( base_parts_reader* reader, uint64_t size )
{
    CLV_ASSERT( reader->memory != NULL );
    if ( !take_payload( reader, size ) )
    {
        return NULL;
    }
    CLV_ASSERT( size <= reader->size - reader->offset ); // clv_base_part_next saw to it
    const uint8_t* bytes = reader->memory + reader->offset;
    reader->offset += size;
    if ( has_sums( reader ) )
    {
        clv_base_sum_add( &reader->sum, bytes, size );
    }
    return bytes;
}

bool clv_base_part_get_ordered( base_parts_reader* reader, void* numbers, uint64_t count, uint32_t unit )
{
    CLV_ASSERT( count <= UINT64_MAX / unit );
    if ( !clv_base_part_get( reader, numbers, count * unit ) )
    {
        return false;
    }
    uint8_t* bytes = numbers;
    for ( uint64_t i = 0; !base_is_little_endian() && unit > 1 && i < count; ++i, bytes += unit )
    {
        uint8_t turned[8];
        clv_base_copy_ordered( turned, bytes, 1, unit );
        memcpy( bytes, turned, unit );
    }
    return true;
}

bool clv_base_part_close( base_parts_reader* reader )
{
    uint8_t end[7 + BASE_PART_SUM_BYTES];
    uint64_t padding = ( 8 - reader->length % 8 ) % 8, at = reader->offset;
    if ( reader->failed )
    {
        return false;
    }
    if ( reader->left > 0 )
    {
        return clv_base_parts_fault(
            reader, at, "has a part with %llu bytes too many", (unsigned long long)reader->left );
    }
    if ( !get_bytes( reader, end, padding + BASE_PART_SUM_BYTES ) )
    {
        return false;
    }
    for ( uint64_t i = 0; i < padding; ++i )
    {
        if ( end[i] != 0 )
        {
            return clv_base_parts_fault( reader, at + i, "has bytes between its parts that are not 0" );
        }
    }
    uint64_t sum = 0;
    if ( has_sums( reader ) )
    {
        clv_base_sum_add( &reader->sum, end, padding );
        sum = clv_base_sum_end( &reader->sum );
    }
    return base_get_u64( end + padding ) == sum
        ? true
        : clv_base_parts_fault( reader, at + padding, "checksum mismatch of the part from byte %llu",
              (unsigned long long)reader->payload_offset );
}

bool clv_base_part_skip( base_parts_reader* reader, uint64_t size )
{
    uint8_t bytes[SKIP_ROOM];
    for ( uint64_t piece = 0; size > 0 && !reader->failed; size -= piece )
    {
        piece = size < SKIP_ROOM ? size : SKIP_ROOM;
        clv_base_part_get( reader, bytes, piece );
    }
    return !reader->failed;
}

void clv_base_part_seek( base_parts_reader* reader, uint64_t offset, uint32_t number )
{
    if ( offset > reader->size )
    {
        clv_base_parts_fault( reader, reader->size, "ends too early" );
        return;
    }
    reader->offset = offset;
    reader->part_count = number;
    reader->left = 0;
}
