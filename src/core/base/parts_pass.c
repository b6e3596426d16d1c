// SPDX-License-Identifier: MIT
#include "base/parts_pass.h"

#include "base/assertion.h"

void clv_base_pass_begin( base_pass* pass, uint32_t tag, uint64_t length )
{
    if ( pass->reader == NULL )
    {
        clv_base_part_begin( pass->writer, tag, length );
    }
    else if ( base_pass_is_good( pass ) )
    {
        clv_base_part_expect( pass->reader, tag, length );
    }
}

void clv_base_pass_bytes( base_pass* pass, void* bytes, uint64_t size )
{
    if ( pass->reader == NULL )
    {
        clv_base_part_put( pass->writer, bytes, size );
    }
    else if ( !base_pass_is_good( pass ) || !clv_base_part_get( pass->reader, bytes, size ) )
    {
        memset( bytes, 0, (size_t)size );
    }
}

void clv_base_pass_end( base_pass* pass )
{
    if ( pass->reader == NULL )
    {
        clv_base_part_end( pass->writer );
    }
    else if ( base_pass_is_good( pass ) )
    {
        clv_base_part_close( pass->reader );
    }
}

void clv_base_pass_ordered( base_pass* pass, void* numbers, uint64_t count, uint32_t unit )
{
    if ( pass->reader == NULL )
    {
        clv_base_part_put_ordered( pass->writer, numbers, count, unit );
    }
    else if ( !base_pass_is_good( pass ) || !clv_base_part_get_ordered( pass->reader, numbers, count, unit ) )
    {
        memset( numbers, 0, (size_t)( count * unit ) );
    }
}

void clv_base_pass_numbers( base_pass* pass, uint32_t tag, void* numbers, uint64_t count, uint32_t unit )
{
    clv_base_pass_begin( pass, tag, count * unit );
    clv_base_pass_ordered( pass, numbers, count, unit );
    clv_base_pass_end( pass );
    if ( !base_pass_is_good( pass ) )
    {
        memset( numbers, 0, (size_t)( count * unit ) );
    }
}

// The payload of the part under way, `used` items in room for more.
static void read_items( base_pass* pass, void* items, uint64_t* capacity, uint64_t used, uint64_t room,
    size_t item_size, uint32_t unit )
{
    CLV_ASSERT( room >= used && item_size % unit == 0 );
    if ( !base_array_grow( pass->memory, items, capacity, 0, room, item_size, false ) )
    {
        pass->is_out_of_memory = true;
        return;
    }
    char* data = base_array_items( items );
    bool ok = clv_base_part_get_ordered( pass->reader, data, used * ( item_size / unit ), unit ) &&
        clv_base_part_close( pass->reader );
    uint64_t kept = ok ? used : 0;
    if ( *capacity > kept )
    {
        memset( data + kept * item_size, 0, (size_t)( *capacity - kept ) * item_size );
    }
}

void clv_base_pass_items( base_pass* pass, uint32_t tag, void* items, uint64_t* capacity, uint64_t* count,
    size_t item_size, uint32_t unit )
{
    if ( pass->reader == NULL )
    {
        clv_base_part_write(
            pass->writer, tag, base_array_items( items ), *count * ( item_size / unit ), unit );
        return;
    }
    *count = 0;
    base_parts_reader* reader = pass->reader;
    if ( !base_pass_is_good( pass ) || !clv_base_part_expect( reader, tag, UINT64_MAX ) )
    {
        return;
    }
    if ( reader->length % item_size != 0 )
    {
        clv_base_parts_fault(
            reader, reader->payload_offset - 16, "has a part with a piece of an item at its end" );
        return;
    }
    uint64_t used = reader->length / item_size;
    read_items( pass, items, capacity, used, used, item_size, unit );
    *count = base_pass_is_good( pass ) ? used : 0;
}

void clv_base_pass_table( base_pass* pass, uint32_t tag, void* items, uint64_t* capacity, uint64_t used,
    uint64_t room, size_t item_size, uint32_t unit )
{
    if ( pass->reader == NULL )
    {
        CLV_ASSERT( used <= *capacity );
        clv_base_part_write(
            pass->writer, tag, base_array_items( items ), used * ( item_size / unit ), unit );
        return;
    }
    // The length is checked before memory is asked for.
    if ( base_pass_is_good( pass ) && clv_base_part_expect( pass->reader, tag, used * item_size ) )
    {
        read_items( pass, items, capacity, used, room, item_size, unit );
    }
}
